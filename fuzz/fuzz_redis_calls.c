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

#include "base/arena.h"
#include "fakeredis/fakeredis.h"
#include "redis_calls.h"
#include "redis_words.h"

#include <hiredis/async.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (2u << 20)
#define CLIENTS 3
#define OPERATIONS_MAX 400
#define REQUESTS_MAX 512
#define STEPS_MAX (CLIENTS * (FAKEREDIS_CONNECTIONS_MAX * 3 + 1))
#define REST_MAX 20000 /* steps until the world is at rest */
#define LIVES_MAX 100
#define NUMBER_NONE 0
#define DEPTH_MAX 9 /* arrays in arrays: more than hiredis takes */

#define CONTEXTS_MAX 12 /* of a client, at once */
#define CONTEXT_BYTES 512
#define FREED 0xdb /* each byte of a context that is not there */

_Static_assert(sizeof(redisAsyncContext) <= CONTEXT_BYTES, "a context has room");

/* ---- what a world has besides the fake; in blocks of the arena, too ---- */

/* The memory of a client. */
struct heap {
    struct arena_block head;
    unsigned char context[CONTEXTS_MAX][CONTEXT_BYTES];
};

/* What is known of a context that is there. */
struct known {
    uint8_t there, ended; /* ended: the callback of its end has run */
    uint16_t pending;     /* commands whose callback has not run */
    uint32_t sent;        /* commands up to now */
    uint32_t answered;    /* number of the last command that was answered */
    uint32_t connected;   /* how often the callback of its beginning has run */
};

struct request {
    uint8_t client, context, what; /* what: what its callback does */
    uint8_t any_turn;              /* sent while listening: it may be answered at the end alone */
    uint32_t number;               /* among those of its context, from 1; NUMBER_NONE = it was answered */
};

struct model {
    struct arena_block head;
    struct known known[CLIENTS][CONTEXTS_MAX];
    struct request request[REQUESTS_MAX];
    uint32_t requests;
    int32_t now_ms;
    uint64_t log; /* hash of all that was called back and observed */
    uint8_t stopping, zero[7];
};

static struct arena arena;
static struct model *model;
static int model_block;
static struct heap *heap[CLIENTS];
static int heap_block[CLIENTS];
static unsigned char before[CLIENTS][CONTEXTS_MAX][CONTEXT_BYTES]; /* the operation that is done */
static bool was_there[CLIENTS][CONTEXTS_MAX];
static int inside = -1; /* client whose calls or callbacks run; -1 = none */
static bool checks;     /* what is called back is checked: not after a limit was met */
static int servers;

static unsigned long inputs, calls, limits, replies[REDIS_REPLY_ERROR + 1];

/* ---- what must hold ---- */

__attribute__((noreturn)) static void wrong(const char *what)
{
    static char dump[1 << 16];
    fakeredis_dump(dump, sizeof dump);
    fprintf(stderr, "%s\n%s", what, target_verbose ? dump : "");
    abort();
}

static void expect(bool holds, const char *what)
{
    if (!holds) {
        wrong(what);
    }
}

static void note(uint64_t what)
{
    model->log = (model->log ^ what) * 0x100000001b3ull;
}

/* In which order replies come is what a fuzzer is to vary. */
static void reach(unsigned what)
{
    static unsigned last;
    if (target_counters != NULL) {
        target_counters[(last * 31 + what) & (TARGET_COUNTERS - 1)] |= 1;
    }
    last = what;
}

static void note_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        model->log = (model->log ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    }
}

/* ---- the host: memory and time of clients ---- */

static int context_index(int client, const void *memory)
{
    const unsigned char *at = memory;
    size_t offset = (size_t)(at - heap[client]->context[0]);
    expect(at >= heap[client]->context[0] && offset < sizeof heap[client]->context &&
               offset % CONTEXT_BYTES == 0,
           "a context of another client");
    return (int)(offset / CONTEXT_BYTES);
}

static void expect_freed(const unsigned char *context)
{
    static unsigned char freed[CONTEXT_BYTES];
    memset(freed, FREED, sizeof freed);
    expect(memcmp(context, freed, sizeof freed) == 0, "memory is written to after it was freed");
}

static void *host_alloc(int client, size_t size)
{
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        if (!model->known[client][i].there) {
            expect(size <= CONTEXT_BYTES, "more memory than a context takes");
            expect_freed(heap[client]->context[i]);
            memset(heap[client]->context[i], 0, size);
            model->known[client][i] = (struct known){.there = 1};
            return heap[client]->context[i];
        }
    }
    return NULL;
}

static void forget_context(int client, int i)
{
    memset(heap[client]->context[i], FREED, CONTEXT_BYTES);
    memset(&model->known[client][i], 0, sizeof model->known[client][i]);
}

static void host_free(int client, void *memory)
{
    int i = context_index(client, memory);
    expect(model->known[client][i].there, "memory is freed twice");
    expect(!checks || fakeredis_trouble() != NULL || model->known[client][i].pending == 0,
           "a connection ends, and a command has neither a reply nor word of its loss");
    forget_context(client, i);
}

static int32_t host_now_ms(void)
{
    return model->now_ms;
}

static bool host_stopping(void)
{
    return model->stopping;
}

static void host_observe(const struct fakeredis_event *event)
{
    note((uint64_t)event->kind << 32 | (uint64_t)(unsigned)event->client << 8 | (unsigned)event->connection);
    if (event->kind == FAKEREDIS_KEY) {
        struct bytes name = key_name(event->key);
        note_bytes(name.at, name.size);
        note(event->change);
    }
}

/* ---- what is called back ---- */

static void act(int client, redisAsyncContext *context, uint8_t what);

static void look_at_text(const redisReply *reply)
{
    if (reply->str == NULL || reply->str[reply->len] != 0) {
        wrong("a text does not end with a zero");
    }
    for (size_t i = 0; reply->type != REDIS_REPLY_STRING && i < reply->len; i++) {
        expect(reply->str[i] != '\r' && reply->str[i] != '\n', "a line has a line break");
    }
    note_bytes(reply->str, reply->len);
}

/* A reply of scripts may be seven arrays deep. */
static void look_at(const redisReply *reply, int depth)
{
    if (reply == NULL || depth > DEPTH_MAX) {
        wrong("a reply has a place without an element");
    }
    expect(reply->type >= REDIS_REPLY_STRING && reply->type <= REDIS_REPLY_ERROR, "a reply without a type");
    note((unsigned)reply->type);
    replies[reply->type]++;
    if (reply->type == REDIS_REPLY_ARRAY) {
        for (size_t i = 0; i < reply->elements; i++) {
            look_at(reply->element[i], depth + 1);
        }
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        note((uint64_t)reply->integer);
    } else if (reply->type != REDIS_REPLY_NIL) {
        look_at_text(reply);
    }
}

/* The type of a reply; of an error also its words. */
static unsigned kind_of(const redisReply *reply)
{
    unsigned kind = reply != NULL ? (unsigned)reply->type : 0;
    for (size_t i = 0; kind == REDIS_REPLY_ERROR && i < reply->len && i < 40; i++) {
        kind += (unsigned char)reply->str[i] * 8u;
    }
    return kind;
}

/* What holds in each callback. */
static struct known *enter_callback(int client, const redisAsyncContext *context)
{
    struct known *known = &model->known[client][context_index(client, context)];
    if (checks && fakeredis_trouble() == NULL) {
        expect(client == inside, "a callback of a client that does nothing");
        expect(!fakeredis_is_paused(client), "a callback of a paused client");
        expect(known->there && !known->ended, "a callback of a connection that has ended");
    }
    return known;
}

static bool ends(const redisAsyncContext *context)
{
    return (context->c.flags & (REDIS_DISCONNECTING | REDIS_FREEING)) != 0;
}

static void on_reply(redisAsyncContext *context, void *reply, void *privdata)
{
    struct request *request = privdata;
    struct known *known = enter_callback(request->client, context);
    note(request->number);
    if (reply != NULL) {
        look_at(reply, 0);
    }
    reach(kind_of(reply));
    if (checks && fakeredis_trouble() == NULL) {
        expect(request->number != NUMBER_NONE, "a command is answered twice");
        expect(request->any_turn || request->number > known->answered,
               "commands are answered in another order");
        expect(reply != NULL || ends(context), "no reply, though the connection goes on");
    }
    known->answered = request->any_turn ? known->answered : request->number;
    known->pending--;
    request->number = NUMBER_NONE;
    act(request->client, context, request->what);
}

static void on_message(redisAsyncContext *context, void *reply, void *privdata)
{
    const struct request *request = privdata;
    enter_callback(request->client, context);
    note(0x4d);
    if (reply != NULL) {
        look_at(reply, 0);
        act(request->client, context, request->what);
    }
}

static int client_of(const void *memory)
{
    for (int client = 0; client < CLIENTS; client++) {
        const unsigned char *at = memory, *first = heap[client]->context[0];
        if (at >= first && at < first + sizeof heap[client]->context) {
            return client;
        }
    }
    expect(false, "a context that is nobody's");
    return 0;
}

static void on_connect(const redisAsyncContext *context, int status)
{
    int client = client_of(context);
    struct known *known = enter_callback(client, context);
    expect(known->connected++ == 0, "a connection begins twice");
    note(0x100u + (unsigned)status);
    if ((model->log & 15) == 0) {
        act(client, (redisAsyncContext *)(uintptr_t)context, (uint8_t)(model->log >> 8));
    }
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    int client = client_of(context);
    struct known *known = enter_callback(client, context);
    note(0x200u + (unsigned)status);
    expect(!checks || known->pending == 0, "a connection has ended before its commands");
    act(client, (redisAsyncContext *)(uintptr_t)context, (uint8_t)(model->log >> 8));
    known->ended = 1;
}

/* ---- calls ---- */

static struct request *new_request(int client, const redisAsyncContext *context, uint8_t what)
{
    if (model->requests == REQUESTS_MAX) {
        return NULL;
    }
    struct request *request = &model->request[model->requests++];
    int i = context_index(client, context);
    *request = (struct request){.client = (uint8_t)client, .context = (uint8_t)i, .what = what};
    request->any_turn = (context->c.flags & REDIS_SUBSCRIBED) != 0;
    request->number = ++model->known[client][i].sent;
    model->known[client][i].pending++;
    calls++;
    return request;
}

/* A call was refused: nothing comes. */
static void take_back(struct request *request, int rc)
{
    note(0x300u + (unsigned)rc);
    if (rc != REDIS_OK) {
        model->known[request->client][request->context].pending--;
        request->number = NUMBER_NONE;
    }
}

static bool is(const struct words *words, const char *name)
{
    return call_is((struct bytes){words->at[0], words->size[0]}, name);
}

static void send_words(int client, redisAsyncContext *context, uint8_t what, struct words *words)
{
    bool listens = is(words, "subscribe") || is(words, "unsubscribe");
    struct request *request = new_request(client, context, what);
    if (request == NULL) {
        return;
    }
    int rc = redisAsyncCommandArgv(context, listens ? on_message : on_reply, request, words->count, words->at,
                                   words->size);
    take_back(request, listens ? REDIS_ERR : rc);
}

/* Bytes are taken as they are, or refused whole. */
static void send_bytes(int client, redisAsyncContext *context, uint8_t what)
{
    struct words words = {.count = 0};
    struct request *request = new_request(client, context, what);
    words_add_bytes(&words, words_take());
    if (request != NULL) {
        take_back(request,
                  redisAsyncFormattedCommand(context, on_reply, request, words.at[0], words.size[0]));
    }
}

static void send_format(int client, redisAsyncContext *context, uint8_t what)
{
    static const char *const formats[] = {
        "SET %s %b", "GET %s", "  EVALSHA %s 0  ", "SET %s%%x %b", "%s", "HSET %s%s v", "DEL %s", "PING",
        "",          " "};
    struct request *request = new_request(client, context, what);
    const char *format = formats[words_take() % (sizeof formats / sizeof formats[0])];
    const char *word = words_one();
    if (request != NULL) {
        take_back(request, redisAsyncCommand(context, on_reply, request, format, word, word, strlen(word)));
    }
}

static void send_again(int client, redisAsyncContext *context, int times)
{
    for (struct request *request; times > 0; times--) {
        request = new_request(client, context, 0);
        if (request != NULL) {
            take_back(request, redisAsyncCommand(context, on_reply, request, "INCR k"));
        }
    }
}

static void connect_to(uint8_t how)
{
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", FAKEREDIS_PORT + how % (servers + 1));
    if (context != NULL) {
        if ((how & 64) == 0) {
            expect(redisAsyncSetConnectCallback(context, on_connect) == REDIS_OK, "no callback is taken");
        }
        if ((how & 128) == 0) {
            expect(redisAsyncSetDisconnectCallback(context, on_disconnect) == REDIS_OK, "none is taken");
        }
    }
}

/* The open connection with this number, modulo how many there are; NULL = there is none. */
static redisAsyncContext *context_of(int client, uint8_t which)
{
    redisAsyncContext *open[FAKEREDIS_CONNECTIONS_MAX];
    int count = 0;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        open[count] = fakeredis_context(client, i);
        count += open[count] != NULL;
    }
    return count > 0 ? open[which % count] : NULL;
}

static void end_connection(redisAsyncContext *context, bool at_once)
{
    if (at_once) {
        redisAsyncFree(context);
    } else {
        redisAsyncDisconnect(context);
    }
}

static bool has_ended(int client, const redisAsyncContext *context)
{
    return model->known[client][context_index(client, context)].pending == 0 && ends(context) &&
           (context->c.flags & REDIS_IN_CALLBACK) == 0;
}

/* What a callback does: mostly nothing. */
static void act(int client, redisAsyncContext *context, uint8_t what)
{
    static const char *const names[] = {"subscribe", "unsubscribe", "INCR", "EXEC"};
    struct words words = {.count = 0};
    redisAsyncContext *other = context_of(client, what >> 4);
    switch (what & 15) {
    case 8:
    case 9:
    case 10:
        words_add(&words, names[what >> 4 & 3], strlen(names[what >> 4 & 3]));
        words_add(&words, "c", 1);
        send_words(client, (what & 15) == 8 ? context : other, 0, &words);
        break;
    case 11:
        connect_to(what >> 4);
        break;
    case 12:
    case 13:
        if (!has_ended(client, context)) {
            end_connection(context, (what & 15) == 12);
        }
        break;
    case 14:
    case 15:
        if (other != context && !has_ended(client, other)) {
            end_connection(other, (what & 15) == 14);
        }
        break;
    default:
        break;
    }
}

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

static void enter(int client)
{
    arena_mark(&arena, heap_block[client]);
    fakeredis_enter(client);
    inside = client;
}

static void leave(void)
{
    fakeredis_leave();
    inside = -1;
}

static void do_step(const struct step *step)
{
    switch (step->kind) {
    case STEP_APPLY:
        fakeredis_apply(step->client, step->connection);
        break;
    case STEP_DELIVER:
        enter(step->client);
        note(fakeredis_deliver(step->client, step->connection));
        leave();
        break;
    case STEP_CONNECT:
        fakeredis_connect(step->client, step->connection);
        break;
    case STEP_ARRIVE:
        fakeredis_arrive(step->client);
        break;
    }
}

/* Whose memory an operation may write to; -1 = nobody's. */
static void expect_memory(int writer)
{
    for (int client = 0; client < CLIENTS; client++) {
        for (int i = 0; i < CONTEXTS_MAX && client != writer; i++) {
            expect(!was_there[client][i] ||
                       memcmp(before[client][i], heap[client]->context[i], CONTEXT_BYTES) == 0,
                   "a step writes to the memory of a client that it does not call back");
        }
    }
}

/* Memory that is free has a check of its own when it is taken, and at the end. */
static void keep_memory(void)
{
    for (int client = 0; client < CLIENTS; client++) {
        for (int i = 0; i < CONTEXTS_MAX; i++) {
            was_there[client][i] = model->known[client][i].there != 0;
            if (was_there[client][i]) {
                memcpy(before[client][i], heap[client]->context[i], CONTEXT_BYTES);
            }
        }
    }
}

static bool step(uint8_t which)
{
    struct step steps[STEPS_MAX];
    int count = list_steps(steps);
    if (count > 0) {
        struct step chosen = steps[which % count];
        keep_memory();
        do_step(&chosen);
        expect_memory(chosen.kind == STEP_DELIVER ? chosen.client : -1);
    }
    return count > 0;
}

/* ---- faults ---- */

/* The nth connection that is up, modulo how many there are; -1 = none. */
static int linked(int client, uint8_t which)
{
    int up[FAKEREDIS_CONNECTIONS_MAX], count = 0;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        up[count] = i;
        count += fakeredis_is_up(client, i);
    }
    return count > 0 ? up[which % count] : -1;
}

static void cut(int client)
{
    int connection = linked(client, words_take());
    uint8_t how = words_take();
    if (connection >= 0) {
        int keep = (how & 7) % (fakeredis_replies(client, connection) + 1);
        int apply = (how >> 3 & 7) % (fakeredis_requests(client, connection) + 1);
        fakeredis_cut(client, connection, keep, apply, (how & 64) != 0 && apply > 0);
    }
}

static void crash(int client)
{
    if (fakeredis_lives(client) >= LIVES_MAX) {
        return;
    }
    fakeredis_crash(client);
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        if (model->known[client][i].there) {
            forget_context(client, i);
        }
    }
    for (uint32_t i = 0; i < model->requests; i++) {
        if (model->request[i].client == client) {
            model->request[i].number = NUMBER_NONE;
        }
    }
}

static void expire(uint8_t where)
{
    int server = where % servers;
    const struct key *key = fakeredis_key(server, where >> 2);
    if (key != NULL && key->ends_ms != KEY_NEVER) {
        fakeredis_expire(server, where >> 2);
    }
}

static void hold(int client, uint8_t how)
{
    if ((how & 1) != 0) {
        fakeredis_set_cut_off(client, (how & 2) != 0);
    } else {
        fakeredis_pause(client, (how & 2) != 0);
    }
}

/* ---- operations ---- */

/* A process ends all its connections; the last one ends its life. */
static void stop(int client)
{
    redisAsyncContext *context;
    model->stopping = 1;
    while ((context = context_of(client, 0)) != NULL && fakeredis_trouble() == NULL) {
        redisAsyncFree(context);
    }
    model->stopping = 0;
}

static void end(int client, redisAsyncContext *context, uint8_t how)
{
    if (how % 8 == 0 && fakeredis_lives(client) < LIVES_MAX) {
        stop(client);
    } else {
        end_connection(context, (how & 1) != 0);
    }
}

static void call(int client, enum redis_operation kind)
{
    struct words words = {.count = 0};
    redisAsyncContext *context = context_of(client, words_take());
    uint8_t what = words_take();
    if (context == NULL) {
        connect_to(what);
    } else if (kind == REDIS_END) {
        end(client, context, what);
    } else if (kind == REDIS_FORMAT) {
        send_format(client, context, what);
    } else if (kind == REDIS_BYTES) {
        send_bytes(client, context, what);
    } else if (kind == REDIS_AGAIN) {
        send_again(client, context, what % 32);
    } else {
        if (kind == REDIS_SCRIPT) {
            words_script(&words);
        } else if (kind == REDIS_QUEUE) {
            words_of_connection(&words);
        } else {
            words_command(&words);
        }
        if (kind == REDIS_BIG) {
            words_add_big(&words, (size_t)words_take() * 128);
        }
        send_words(client, context, what, &words);
    }
}

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
        cut(client);
        break;
    case REDIS_HOLD:
        hold(client, words_take());
        break;
    case REDIS_CRASH:
        arena_mark(&arena, heap_block[client]);
        crash(client);
        break;
    case REDIS_EXPIRE:
        expire(words_take());
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
    arena_mark(&arena, model_block);
    if (first < REDIS_CALL) {
        step(first);
        return;
    }
    keep_memory();
    if (kind >= REDIS_CUT && kind <= REDIS_RUN) {
        happen(client, kind);
        if (kind != REDIS_RUN) {
            expect_memory(kind == REDIS_CRASH ? client : -1);
        }
    } else if (!fakeredis_is_paused(client)) {
        enter(client);
        if (kind == REDIS_CONNECT) {
            connect_to(words_take());
        } else {
            call(client, kind);
        }
        leave();
        expect_memory(client);
    }
}

/* ---- an input ---- */

static void add_blocks(void)
{
    model_block = arena_add(&arena, sizeof *model, sizeof *model);
    model = arena_at(&arena, model_block);
    for (int client = 0; client < CLIENTS; client++) {
        heap_block[client] = arena_add(&arena, sizeof *heap[client], sizeof *heap[client]);
        heap[client] = arena_at(&arena, heap_block[client]);
        memset(heap[client]->context, FREED, sizeof heap[client]->context);
    }
}

static void open_world(const uint8_t *header)
{
    servers = 1 + header[0] % 3;
    struct fakeredis_options options = {.clients = CLIENTS,
                                        .servers = servers,
                                        .timed = (header[1] & 1) != 0,
                                        .password = (header[1] & 2) != 0 ? "pass" : NULL,
                                        .now_ms = host_now_ms,
                                        .alloc = host_alloc,
                                        .free = host_free,
                                        .stopping = host_stopping,
                                        .observe = host_observe};
    if (arena.base == NULL && arena_open(&arena, ARENA_BYTES) != 0) {
        abort();
    }
    arena_clear(&arena);
    add_blocks();
    inside = -1;
    checks = true;
    fakeredis_open(&arena, &options);
}

static void operate_up_to(int from, int to)
{
    for (int i = from; i < to && words_input.at < words_input.end && fakeredis_trouble() == NULL; i++) {
        operate();
    }
}

static struct arena_image *save(void)
{
    struct arena_image *image = arena_save(&arena);
    if (image == NULL) {
        abort();
    }
    return image;
}

/* Does an operation twice, and the rest of them twice, each time from the same saved world. */
static void operate_twice(int from, int to)
{
    const struct words_input at = words_input;
    arena_fingerprint(&arena);
    struct arena_image *begin = save();
    operate_up_to(from, to);
    expect(arena_unmarked_write(&arena, begin) < 0, "a block is written to before it is marked");
    if (fakeredis_trouble() == NULL) {
        struct arena_image *once = save();
        arena_restore(&arena, begin);
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
    arena_mark(&arena, model_block);
    for (int client = 0; client < CLIENTS; client++) {
        fakeredis_set_cut_off(client, false);
        fakeredis_pause(client, false);
        fakeredis_fail_call(client, 0);
    }
}

/* Faults end, everything that can happen does, and all connections end. Callbacks open others now and then.
 */
static void come_to_rest(void)
{
    heal();
    run_all(REST_MAX);
    for (int client = 0; client < CLIENTS; client++) {
        redisAsyncContext *context;
        enter(client);
        for (int left = REST_MAX; (context = context_of(client, 0)) != NULL && fakeredis_trouble() == NULL;
             left--) {
            expect(left > 0, "there is always one more connection");
            redisAsyncFree(context);
        }
        leave();
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
            expect_freed(heap[client]->context[i]);
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
    open_world(header);
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
        fprintf(stderr, "%lu %s%s", replies[type], types[type], type < REDIS_REPLY_ERROR ? ", " : "\n");
    }
    fprintf(stderr, "%lu inputs, %.1f calls each, %lu ended by a limit\n", inputs,
            inputs > 0 ? (double)calls / (double)inputs : 0, limits);
}
