/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Any calls of the asynchronous hiredis API on the fake of Redis, in any order and from within callbacks,
 * among steps and faults of its world. The form of an input is in redis_calls.h. What must hold in each:
 *
 *   - the callback of a command runs once, in the order of the commands of its connection, with a reply, or
 *     with none if the connection ends
 *   - all callbacks of a connection have run when its memory is freed
 *   - a reply is one that hiredis could have read
 *   - nothing is called back for a connection that has ended, or for a process that is paused or has crashed
 *   - a step of the world writes to the memory of the client that it calls back, and to no other client's
 *   - blocks are marked before they are written to
 *   - a world that is restored from its saved copy does the same again
 *   - nothing is left of a client's memory when all of its connections are gone
 *
 * A limit of the fake (fakeredis_trouble()) ends the input. */
#include "target.h"

#include "redis_client.h"
#include "redis_faults.h"
#include "redis_model.h"
#include "redis_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS_MAX 400
#define STEPS_MAX (CLIENTS * (FAKEREDIS_CONNECTIONS_MAX * 3 + 1))
#define REST_MAX 20000 /* steps until the world is at rest */

static unsigned long inputs, limits, faults;

/* ---- steps of the world ---- */

struct step {
    enum { STEP_APPLY, STEP_DELIVER, STEP_CONNECT, STEP_ARRIVE } kind;
    int client, connection;
};

static void add_step(struct step *steps, int *count, bool can, struct step step)
{
    if (can) {
        steps[(*count)++] = step;
    }
}

static int list_steps(struct step steps[STEPS_MAX])
{
    int count = 0;
    for (int c = 0; c < CLIENTS; c++) {
        for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
            if (fakeredis_is_open(c, i)) {
                add_step(steps, &count, fakeredis_can_apply(c, i), (struct step){STEP_APPLY, c, i});
                add_step(steps, &count, fakeredis_can_deliver(c, i), (struct step){STEP_DELIVER, c, i});
                add_step(steps, &count, fakeredis_can_connect(c, i), (struct step){STEP_CONNECT, c, i});
            }
        }
        add_step(steps, &count, fakeredis_can_arrive(c), (struct step){STEP_ARRIVE, c, 0});
    }
    return count;
}

static void do_step(const struct step *step)
{
    switch (step->kind) {
    case STEP_APPLY:
        fakeredis_apply(step->client, step->connection);
        break;
    case STEP_DELIVER:
        model_enter(step->client);
        model_note(fakeredis_deliver(step->client, step->connection));
        model_leave();
        break;
    case STEP_CONNECT:
        fakeredis_connect(step->client, step->connection);
        break;
    case STEP_ARRIVE:
        fakeredis_arrive(step->client);
        break;
    }
}

static bool step(uint8_t which)
{
    struct step steps[STEPS_MAX];
    int count = list_steps(steps);
    if (count > 0) {
        struct step chosen = steps[which % count];
        model_keep_memory();
        do_step(&chosen);
        model_expect_memory(chosen.kind == STEP_DELIVER ? chosen.client : -1);
    }
    return count > 0;
}

/* ---- operations ---- */

static void run_all(int most)
{
    while (most-- > 0 && fakeredis_trouble() == NULL && step(0)) {
    }
}

/* What happens to a client, or to all. */
static void happen(int client, enum redis_operation kind)
{
    switch (kind) {
    case REDIS_CUT:
        fault_cut(client);
        break;
    case REDIS_HOLD:
        fault_hold(client, words_take());
        break;
    case REDIS_CRASH:
        arena_mark(&model_arena, model_heap_block[client]);
        fault_crash(client);
        break;
    case REDIS_EXPIRE:
        fault_expire(words_take());
        break;
    case REDIS_TIME:
        model->now_ms += words_take() * 10;
        break;
    case REDIS_FAIL_CALL:
        fakeredis_fail_call(client, words_take() % 4);
        break;
    default:
        run_all(words_take());
        break;
    }
}

static void operate(void)
{
    uint8_t first = words_take();
    int client = (first & 7) % CLIENTS;
    enum redis_operation kind = (enum redis_operation)(first >> 3 & 15);
    words_clear();
    arena_mark(&model_arena, model_block);
    if (first < REDIS_CALL) {
        step(first);
        return;
    }
    model_keep_memory();
    if ((first & 7) == REDIS_SERVER) {
        faults++;
        fault_of_server((enum redis_fault)(kind % REDIS_FAULTS));
        model_expect_memory(-1);
    } else if (kind >= REDIS_CUT && kind <= REDIS_RUN) {
        happen(client, kind);
        if (kind != REDIS_RUN) {
            model_expect_memory(kind == REDIS_CRASH ? client : -1);
        }
    } else if (!fakeredis_is_paused(client)) {
        model_enter(client);
        if (kind == REDIS_CONNECT) {
            client_connect_to(words_take());
        } else {
            client_call(client, kind);
        }
        model_leave();
        model_expect_memory(client);
    }
}

/* ---- an input ---- */

static void operate_up_to(int from, int to)
{
    for (int i = from; i < to && words_input.at < words_input.end && fakeredis_trouble() == NULL; i++) {
        operate();
    }
}

static struct arena_image *save(void)
{
    struct arena_image *image = arena_save(&model_arena);
    if (image == NULL) {
        abort();
    }
    return image;
}

/* Does an operation twice, and the rest of them twice, each time from the same saved world. */
static void operate_twice(int from, int to)
{
    const struct words_input at = words_input;
    arena_fingerprint(&model_arena);
    struct arena_image *begin = save();
    operate_up_to(from, to);
    expect(arena_unmarked_write(&model_arena, begin) < 0, "a block is written to before it is marked");
    if (fakeredis_trouble() == NULL) {
        struct arena_image *once = save();
        arena_restore(&model_arena, begin);
        words_input = at;
        operate_up_to(from, to);
        expect(fakeredis_trouble() == NULL, "a limit is met the second time alone");
        struct arena_image *twice = save();
        expect(arena_image_equal(once, twice), "the same again from a saved world ends in another");
        free(once);
        free(twice);
    }
    free(begin);
}

static void heal(void)
{
    arena_mark(&model_arena, model_block);
    fault_heal_all();
}

/* Faults end, everything that can happen does, and all connections end. Callbacks open others now and then.
 */
static void come_to_rest(void)
{
    heal();
    run_all(REST_MAX);
    for (int client = 0; client < CLIENTS; client++) {
        redisAsyncContext *context;
        model_enter(client);
        for (int left = REST_MAX;
             (context = client_context(client, 0)) != NULL && fakeredis_trouble() == NULL; left--) {
            expect(left > 0, "there is always one more connection");
            redisAsyncFree(context);
        }
        model_leave();
    }
    run_all(REST_MAX);
}

static void expect_nothing_left(void)
{
    struct step steps[STEPS_MAX];
    expect(list_steps(steps) == 0, "the world does not come to rest");
    for (uint32_t i = 0; i < model->requests; i++) {
        const struct request *request = &model->request[i];
        expect(request->number == NUMBER_NONE,
               "a command has neither a reply nor word of its loss at the end");
    }
    for (int client = 0; client < CLIENTS; client++) {
        for (int i = 0; i < CONTEXTS_MAX; i++) {
            expect(!model->known[client][i].there, "memory of a client is left at the end");
            model_expect_freed(client, i);
        }
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t header[REDIS_HEADER] = {0};
    memcpy(header, data, size < REDIS_HEADER ? size : REDIS_HEADER);
    words_input = (struct words_input){data + (size < REDIS_HEADER ? size : REDIS_HEADER), data + size};
    model_open(header);
    operate_up_to(0, header[2]);
    operate_twice(header[2], header[2] + 1);
    operate_twice(header[2] + 1, OPERATIONS_MAX);
    if (fakeredis_trouble() == NULL) {
        come_to_rest();
    }
    if (fakeredis_trouble() == NULL) {
        expect_nothing_left();
    } else {
        limits++;
    }
    inputs++;
    return 0;
}

void target_tell(void)
{
    static const char *const types[] = {[REDIS_REPLY_STRING] = "strings",   [REDIS_REPLY_ARRAY] = "arrays",
                                        [REDIS_REPLY_INTEGER] = "integers", [REDIS_REPLY_NIL] = "nils",
                                        [REDIS_REPLY_STATUS] = "statuses",  [REDIS_REPLY_ERROR] = "errors"};
    for (int type = REDIS_REPLY_STRING; type <= REDIS_REPLY_ERROR; type++) {
        fprintf(stderr, "%lu %s%s", client_replies[type], types[type],
                type < REDIS_REPLY_ERROR ? ", " : "\n");
    }
    fprintf(stderr, "%lu faults of servers\n", faults);
    fprintf(stderr, "%lu inputs, %.1f calls each, %lu ended by a limit\n", inputs,
            inputs > 0 ? (double)client_calls / (double)inputs : 0, limits);
}
