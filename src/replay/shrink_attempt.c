/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/shrink_attempt.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/hash.h"
#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

const char *attempt_intern(struct attempt *attempt, const char *label)
{
    uint64_t hash = hash_text(label, strlen(label), 0);
    if (attempt->label_numbers.slot == NULL && !hash_table_open(&attempt->label_numbers)) {
        return NULL;
    }
    for (uint32_t at = 0, number; (number = hash_table_next(&attempt->label_numbers, hash, &at)) != 0;) {
        if (strcmp(attempt->label[number - 1], label) == 0) {
            return attempt->label[number - 1];
        }
    }
    char *copy = strdup(label);
    if (!copy || !array_room(&attempt->label, attempt->labels, &attempt->labels_max, sizeof(char *), 64) ||
        !hash_table_add(&attempt->label_numbers, hash, (uint32_t)attempt->labels + 1)) {
        free(copy);
        return NULL;
    }
    return attempt->label[attempt->labels++] = copy;
}

/* ---- lists ---- */

int attempt_list_init(const struct attempt *attempt, struct attempt_list *list)
{
    *list = (struct attempt_list){.choice = calloc((size_t)attempt->room, sizeof *list->choice)};
    return list->choice ? 0 : -1;
}

void attempt_list_close(struct attempt_list *list)
{
    free(list->choice);
    list->choice = NULL;
}

void attempt_list_add(struct attempt_list *list, const struct attempt_choice *choice)
{
    list->choice[list->count++] = *choice;
}

/* Returns ATTEMPT_REST or ATTEMPT_MARK; 0 = the choice is an action. */
static uint8_t kind_of(const struct trace_choice *choice)
{
    if (choice->index >= 0) {
        return 0;
    }
    return strcmp(choice->label, TRACE_REST) == 0 ? ATTEMPT_REST
           : round_is_mark(choice->label)         ? ATTEMPT_MARK
                                                  : 0;
}

int attempt_list_trace(struct attempt *attempt, struct attempt_list *list)
{
    list->count = 0;
    for (int i = 0; i < attempt->trace->choices; i++) {
        struct attempt_choice choice = {.label = attempt_intern(attempt, attempt->trace->choice[i].label)};
        if (!choice.label) {
            return -1;
        }
        choice.action.kind = kind_of(&attempt->trace->choice[i]);
        attempt_list_add(list, &choice);
    }
    LS_ASSERT(list->count == attempt->trace->choices);
    return 0;
}

static void measure(struct attempt_list *list)
{
    uint32_t seen = 0;
    list->steps = list->faults = list->processes = list->loss = 0;
    for (int i = 0; i < list->count; i++) {
        const struct action *action = &list->choice[i].action;
        if (action->kind >= ATTEMPT_REST) {
            continue;
        }
        list->steps++;
        list->faults += list->choice[i].fault;
        list->loss +=
            action->kind == ACTION_CUT ? action->keep + action->apply + action_cut_is_late(action) : 0;
        if (action->process < WORLD_PROCESSES_MAX && !(seen >> action->process & 1)) {
            seen |= 1u << action->process;
            list->processes++;
        }
    }
    LS_ASSERT(list->faults <= list->steps && list->steps <= list->count);
}

/* ---- life ---- */

static int start(struct attempt *attempt, const struct run_setup *setup)
{
    round_close(&attempt->round);
    run_close(&attempt->run);
    int rc = run_init(&attempt->run, setup);
    attempt->run.setup.careful = true;
    return rc;
}

int attempt_open(struct attempt *attempt, const struct trace *trace, struct input_error *error)
{
    struct run_setup setup;
    *attempt = (struct attempt){.trace = trace, .room = trace->choices + 1};
    if (replay_setup(trace, &attempt->scenario, &setup, error) != 0) {
        return -1;
    }
    if (start(attempt, &setup) != 0) {
        scenario_close(&attempt->scenario);
        return input_complain_words(error, trace->input.name, 1, 1, strerror(errno), "room for a world");
    }
    return 0;
}

void attempt_close(struct attempt *attempt)
{
    round_close(&attempt->round);
    run_close(&attempt->run);
    scenario_close(&attempt->scenario);
    for (size_t i = 0; i < attempt->labels; i++) {
        free(attempt->label[i]);
    }
    free(attempt->label);
    attempt->label = NULL;
    hash_table_close(&attempt->label_numbers);
}

int attempt_change_text(struct attempt *attempt, const char *text, size_t size)
{
    struct scenario scenario;
    struct input_error error;
    struct run_setup setup = attempt->run.setup;
    if (scenario_read_bytes(&scenario, attempt->trace->name, text, size, &error) != 0) {
        return -1;
    }
    scenario.built_in_only = attempt->scenario.built_in_only;
    scenario_close(&attempt->scenario);
    attempt->scenario = scenario;
    return start(attempt, &setup);
}

/* ---- an attempt ---- */

bool attempt_violated(const struct attempt *attempt)
{
    LS_ASSERT(attempt->position >= 0 && attempt->position < CHECK_PROPERTIES_MAX);
    return (attempt->run.stats.violated >> attempt->position & 1) != 0;
}

bool attempt_is_fault(const struct action *action)
{
    return action_has(action, TRAIT_BREAKS) && !world_is_healing(action);
}

bool attempt_is_allowed(const struct attempt *attempt, const struct action *action)
{
    return run_allows(&attempt->run, action);
}

static bool take(struct attempt *attempt, const struct action *action, const char *label)
{
    LS_ASSERT(attempt->limit <= attempt->room);
    if (!label || attempt->out->count >= attempt->limit) {
        return false;
    }
    struct attempt_choice choice = {.label = label, .action = *action, .fault = attempt_is_fault(action)};
    round_step(&attempt->round, &attempt->run, action);
    if (run_apply(&attempt->run, action) != 0) {
        return false;
    }
    attempt->steps++;
    attempt_list_add(attempt->out, &choice);
    return true;
}

static bool take_rest(struct attempt *attempt)
{
    LS_ASSERT(attempt->limit <= attempt->room);
    if (attempt->out->count >= attempt->limit || !run_rest(&attempt->run)) {
        return false;
    }
    struct attempt_choice choice = {.label = attempt_intern(attempt, TRACE_REST),
                                    .action = {.kind = ATTEMPT_REST}};
    attempt_list_add(attempt->out, &choice);
    return true;
}

/* Passes a mark. If the attempt asks (attempt.asks), HOPELESS_UNKNOWN counts as no. */
static bool pass_mark(struct attempt *attempt, const char *label)
{
    int states;
    if (round_is_circle(label)) {
        return round_begin(&attempt->round, &attempt->run);
    }
    if (attempt->asks) {
        return round_is_hopeless(&attempt->round, &attempt->run, label);
    }
    return round_hopeless(&attempt->round, &attempt->run, label, false, &states) != HOPELESS_NO;
}

static bool take_mark(struct attempt *attempt, const struct attempt_choice *choice)
{
    if (attempt->out->count >= attempt->limit || !pass_mark(attempt, choice->label)) {
        return false;
    }
    attempt_list_add(attempt->out, choice);
    return true;
}

bool attempt_take(struct attempt *attempt, const struct attempt_choice *choice)
{
    struct action action;
    const char *why;
    if (choice->action.kind == ATTEMPT_REST) {
        return take_rest(attempt);
    }
    if (choice->action.kind == ATTEMPT_MARK) {
        return take_mark(attempt, choice);
    }
    if (world_find(attempt->run.world, choice->label, &action, &why) != 0) {
        return false;
    }
    if (!attempt_is_allowed(attempt, &action)) {
        if (!attempt->refused) {
            attempt->refused = choice->label;
        }
        return false;
    }
    return take(attempt, &action, choice->label);
}

bool attempt_take_action(struct attempt *attempt, const struct action *action)
{
    char label[WORLD_LABEL_MAX];
    if (action->kind == ATTEMPT_REST) {
        return take_rest(attempt);
    }
    world_label(attempt->run.world, action, label);
    return take(attempt, action, attempt_intern(attempt, label));
}

static bool take_default(struct attempt *attempt)
{
    struct action action;
    return world_default_action(attempt->run.world, &action) && attempt_take_action(attempt, &action);
}

/* Does at most `steps` default steps, until the property is violated, or the choice is possible and done. If
 * neither happens, undoes the steps. */
static void bridge(struct attempt *attempt, const struct attempt_choice *choice, int steps)
{
    static struct check_stats before;
    struct run *run = &attempt->run;
    struct world_image *image = world_save(run->world);
    uint64_t run_steps = run->steps;
    check_mask told = run->told;
    int count = attempt->out->count;
    before = run->stats;
    for (int i = 0; image && i < steps && take_default(attempt); i++) {
        if (attempt_violated(attempt) || attempt_take(attempt, choice)) {
            world_image_free(image);
            return;
        }
    }
    if (image) {
        LS_ASSERT(attempt->out->count >= count && run->steps >= run_steps);
        world_restore(run->world, image);
        run->stats = before;
        run->steps = run_steps;
        run->told = told;
        attempt->out->count = count;
    }
    world_image_free(image);
}

static void heal_one(void *ctx, const struct action *action)
{
    struct attempt *attempt = ctx;
    char label[WORLD_LABEL_MAX];
    world_label(attempt->run.world, action, label);
    attempt->run.stats.step = ++attempt->run.steps;
    attempt->steps++;
    struct attempt_choice choice = {.label = attempt_intern(attempt, label), .action = *action};
    if (choice.label && attempt->out->count < attempt->limit) {
        attempt_list_add(attempt->out, &choice);
    } else {
        attempt->limit = -1; /* a list that is cut off cannot be replayed */
    }
}

/* Leads the run to rest, by ends of faults if needed, and judges it there. Does not restart crashed
 * processes. */
static void finish(struct attempt *attempt)
{
    while (!attempt_violated(attempt) && take_default(attempt)) {
    }
    if (!attempt_violated(attempt) && !take_rest(attempt)) {
        world_heal(attempt->run.world, false, heal_one, attempt);
        while (!attempt_violated(attempt) && take_default(attempt)) {
        }
        take_rest(attempt);
    }
}

void attempt_begin(struct attempt *attempt, int limit, struct attempt_list *out)
{
    struct run *run = &attempt->run;
    out->count = 0;
    attempt->out = out;
    attempt->refused = NULL;
    attempt->limit = limit < attempt->room ? limit : attempt->room;
    run_forget(run);
    round_start(&attempt->round);
    run_begin(run, run->setup.schedule, run->setup.seed);
    LS_ASSERT(out->count == 0 && attempt->limit <= attempt->room);
}

bool attempt_ends(struct attempt *attempt)
{
    measure(attempt->out);
    if (attempt->round.goes) {
        (void)round_end(&attempt->round, &attempt->run);
    }
    return attempt_violated(attempt) && attempt->limit >= 0 && !run_trouble(&attempt->run);
}

static bool follow(struct attempt *attempt, const struct attempt_list *in, struct attempt_how how, int limit,
                   struct attempt_list *out)
{
    attempt_begin(attempt, limit, out);
    for (int i = 0; i < in->count && !attempt_violated(attempt) && out->count < attempt->limit; i++) {
        while (how.settle && !attempt_violated(attempt) && take_default(attempt)) {
        }
        if (!attempt_violated(attempt) && !attempt_take(attempt, &in->choice[i]) && how.bridge > 0) {
            bridge(attempt, &in->choice[i], how.bridge);
        }
    }
    if (how.finish && !attempt_violated(attempt)) {
        finish(attempt);
    }
    bool shown = attempt_ends(attempt);
    LS_ASSERT(attempt->limit < 0 || (uint64_t)out->steps == attempt->run.steps);
    return shown;
}

/* The mark of a hopeless waiter needs a search of all states that can follow, which is slow. So the list is
 * followed without such searches first, and again with them if that run shows the violation. */
bool attempt_follow(struct attempt *attempt, const struct attempt_list *in, struct attempt_how how, int limit,
                    struct attempt_list *out)
{
    LS_ASSERT(!attempt->asks);
    bool found = follow(attempt, in, how, limit, out);
    if (found && attempt->round.lasso.hopeless >= 0) {
        attempt->asks = true;
        found = follow(attempt, in, how, limit, out);
        attempt->asks = false;
    }
    return found;
}

/* ---- exactly ---- */

static int first_of(check_mask mask)
{
    int position = -1;
    for (int i = 0; i < CHECK_PROPERTIES_MAX && position < 0; i++) {
        position = mask >> i & 1 ? i : -1;
    }
    return position;
}

static bool record_mark(struct attempt *attempt, const char *label)
{
    run_mark(&attempt->run, label);
    return pass_mark(attempt, label);
}

static bool record(struct attempt *attempt, const struct attempt_choice *choice)
{
    struct run *run = &attempt->run;
    struct action action;
    const char *why;
    LS_ASSERT(run->recording);
    if (choice->action.kind == ATTEMPT_REST) {
        return run_rest(run);
    }
    if (choice->action.kind == ATTEMPT_MARK) {
        return record_mark(attempt, choice->label);
    }
    if (world_find(run->world, choice->label, &action, &why) != 0) {
        return false;
    }
    round_step(&attempt->round, run, &action);
    return run_apply(run, &action) == 0;
}

static void note_first(const struct attempt *attempt, int *first)
{
    if (*first < 0) {
        *first = first_of(attempt->run.stats.violated & ~attempt->scenario.violates);
    }
}

bool attempt_record(struct attempt *attempt, const struct attempt_list *in, int *first)
{
    struct run *run = &attempt->run;
    bool fits = true;
    LS_ASSERT(!run->recording);
    *first = -1;
    run_forget(run);
    round_start(&attempt->round);
    run->recording = true;
    run_begin(run, run->setup.schedule, run->setup.seed);
    for (int i = 0; i < in->count && fits; i++) {
        fits = record(attempt, &in->choice[i]);
        note_first(attempt, first);
    }
    if (fits && attempt->round.goes) {
        fits = round_end(&attempt->round, run) == NULL;
        note_first(attempt, first);
    }
    run->recording = false;
    attempt->steps += run->steps;
    return fits;
}
