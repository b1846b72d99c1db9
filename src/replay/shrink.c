/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/shrink.h"

#include "base/assert.h"
#include "replay/drop_process.h"
#include "replay/replay.h"
#include "replay/shrink_bfs.h"
#include "scenario/outcome.h"

#include <stdlib.h>
#include <string.h>

#define BRIDGE 8         /* limit of default steps before a choice, in place of choices that were left out */
#define BRIDGE_FAR 200   /* this limit if all steps of the system were left out */
#define PARTS 4          /* parts of a run: another_way() begins at the start of each part */
#define PAIRS_CHOICES 64 /* pairs are tried only in runs with at most so many choices */

/* Ways to follow a list. A run is a minimum if no choice can be left out with PLAIN. */
static const struct attempt_how PLAIN = {0};
static const struct attempt_how BRIDGED = {.bridge = BRIDGE, .finish = true};
static const struct attempt_how FAR = {.bridge = BRIDGE_FAR, .finish = true};
static const struct attempt_how SETTLED = {.bridge = BRIDGE_FAR, .settle = true, .finish = true};

struct shrink {
    const struct shrink_options *options;
    struct attempt attempt;
    struct attempt_list best, trial, candidate;
    int declared; /* number of processes in the scenario of `best` */
    bool rounds;  /* the run goes round, so it has no end */
    uint64_t runs;
    bool ended; /* a limit has ended the search */
};

/* ---- one candidate ---- */

static struct shrink_size size_of(const struct attempt_list *list)
{
    return (struct shrink_size){list->steps, list->faults, list->processes};
}

/* Returns whether the trial has no more faults, processes and choices than the best run, and is better.
 * Better is less of one of them, fewer declared processes, or cuts that let less through. Faults, processes,
 * choices and declared processes never grow, and while they stay, the loss of cuts falls. So shrinking
 * ends. */
static bool is_better(const struct shrink *s)
{
    const struct attempt_list *now = &s->trial, *before = &s->best;
    int declared = s->attempt.scenario.options.processes;
    if (now->faults > before->faults || now->processes > before->processes || now->count > before->count) {
        return false;
    }
    return now->faults < before->faults || now->processes < before->processes || now->count < before->count ||
           now->loss < before->loss || declared < s->declared;
}

static bool may_go_on(struct shrink *s)
{
    const struct shrink_options *options = s->options;
    bool enough = (options->max_steps > 0 && s->attempt.steps >= options->max_steps) ||
                  (options->stop && options->stop(options->ctx));
    s->ended = s->ended || enough;
    return !s->ended;
}

static void swap_in(struct shrink *s)
{
    struct attempt_list list = s->best;
    s->best = s->trial;
    s->trial = list;
    LS_ASSERT(s->best.choice != s->trial.choice && s->best.choice != s->candidate.choice);
    s->declared = s->attempt.scenario.options.processes;
    LS_ASSERT(s->best.count <= s->trial.count && s->best.faults <= s->trial.faults);
}

/* Follows the candidate. A better run becomes the best one. */
static bool try(struct shrink *s, struct attempt_how how)
{
    if (!may_go_on(s) || (s->rounds && how.finish)) {
        return false;
    }
    s->runs++;
    bool kept = attempt_follow(&s->attempt, &s->candidate, how, s->best.count, &s->trial) && is_better(s);
    if (kept) {
        swap_in(s);
    }
    if (s->options->progress) {
        struct shrink_size size = size_of(&s->best);
        s->options->progress(s->options->ctx, &size, s->runs);
    }
    return kept;
}

static bool try_both(struct shrink *s)
{
    return try(s, PLAIN) || try(s, BRIDGED);
}

/* For leave_out(), which sets the candidate to the best run without choices for which `leave` is true, and
 * returns their number. */
typedef bool (*leave_fn)(const struct attempt_choice *choice, int argument);

static int leave_out(struct shrink *s, leave_fn leave, int argument)
{
    s->candidate.count = 0;
    for (int i = 0; i < s->best.count; i++) {
        if (!leave(&s->best.choice[i], argument)) {
            attempt_list_add(&s->candidate, &s->best.choice[i]);
        }
    }
    LS_ASSERT(s->candidate.count <= s->best.count);
    return s->best.count - s->candidate.count;
}

static void leave_range(struct shrink *s, int from, int count)
{
    LS_ASSERT(from >= 0 && count >= 0);
    s->candidate.count = 0;
    for (int i = 0; i < s->best.count; i++) {
        if (i < from || i >= from + count) {
            attempt_list_add(&s->candidate, &s->best.choice[i]);
        }
    }
    LS_ASSERT(s->candidate.count <= s->best.count);
}

/* ---- what the system does by itself ---- */

static bool is_of_the_system(const struct attempt_choice *choice, int unused)
{
    (void)unused;
    return action_has(&choice->action, TRAIT_SYSTEM) || choice->action.kind == ATTEMPT_REST;
}

/* Tries faults and verbs alone, with default steps between. */
static bool by_default(struct shrink *s)
{
    leave_out(s, is_of_the_system, 0);
    bool better = try(s, SETTLED);
    leave_out(s, is_of_the_system, 0);
    return try(s, FAR) || better;
}

/* Tries beginnings of the run, each with the default schedule behind it. */
static bool starts(struct shrink *s)
{
    bool better = false;
    for (int part = 0; part < 16; part++) {
        int kept = (int)((int64_t)s->best.count * part / 16);
        leave_range(s, kept, s->best.count - kept);
        better |= try(s, BRIDGED);
    }
    return better;
}

/* ---- processes ---- */

static bool is_of_process(const struct attempt_choice *choice, int process)
{
    return choice->action.kind < ATTEMPT_REST && choice->action.process == process;
}

/* Tries the candidate in an exploring scenario without this process, which then need not come to rest. If no
 * run is better, restores the scenario. */
static bool undeclare(struct shrink *s, int process)
{
    struct scenario *scenario = &s->attempt.scenario;
    LS_ASSERT(process >= 0 && process < scenario->options.processes);
    size_t old_size = scenario->input.size, size = 0;
    char *old = strdup(scenario->input.text);
    char *text =
        old ? without_process(scenario->input.text, old_size, scenario->options.name[process], &size) : NULL;
    bool better = false;
    if (text && may_go_on(s) && attempt_change_text(&s->attempt, text, size) == 0) {
        better = try_both(s);
        if (!better && attempt_change_text(&s->attempt, old, old_size) != 0) {
            s->ended = true; /* memory is short: the best can no longer be followed */
        }
    }
    free(text);
    free(old);
    return better;
}

static bool fewer_processes(struct shrink *s)
{
    bool better = false;
    for (int p = s->attempt.scenario.options.processes - 1; p >= 0; p--) {
        int left = leave_out(s, is_of_process, p);
        if (s->attempt.scenario.exploring && s->declared > 1 && undeclare(s, p)) {
            better = true;
        } else if (left > 0) {
            leave_out(s, is_of_process, p);
            better |= try_both(s);
        }
    }
    return better;
}

/* ---- faults ---- */

static bool without_fault(struct shrink *s, int index)
{
    LS_ASSERT(index >= 0 && index < s->best.count && s->best.choice[index].fault);
    leave_range(s, index, 1);
    return try_both(s) || try(s, FAR);
}

/* Tries this cut with less that it lets through: fewer replies, fewer requests, or no late one. */
static bool smaller_cut(struct shrink *s, int index)
{
    LS_ASSERT(index >= 0 && index < s->best.count && s->best.choice[index].action.kind == ACTION_CUT);
    struct attempt_choice cut = s->best.choice[index];
    int all = cut.action.keep + cut.action.apply + action_cut_is_late(&cut.action);
    for (int loss = 0; loss < all; loss++) {
        for (int keep = 0; keep <= loss && keep <= cut.action.keep; keep++) {
            char label[WORLD_LABEL_MAX];
            struct attempt_choice smaller = cut;
            smaller.action.keep = (uint8_t)keep;
            smaller.action.apply = (uint8_t)(loss - keep < cut.action.apply ? loss - keep : cut.action.apply);
            smaller.action.modes =
                loss - keep > cut.action.apply ? cut.action.modes : cut.action.modes & ~ACTION_CUT_LATE;
            world_label(s->attempt.run.world, &smaller.action, label);
            smaller.label = attempt_intern(&s->attempt, label);
            leave_range(s, 0, 0);
            LS_ASSERT(s->candidate.count == s->best.count);
            s->candidate.choice[index] = smaller;
            if (smaller.label && try_both(s)) {
                return true;
            }
        }
    }
    return false;
}

static bool fewer_faults(struct shrink *s)
{
    bool better = false;
    for (int i = s->best.count - 1; i >= 0; i--) {
        if (i >= s->best.count || !s->best.choice[i].fault) {
            continue; /* a change may have shortened the run by more than this choice */
        }
        if (without_fault(s, i) || (s->best.choice[i].action.kind == ACTION_CUT && smaller_cut(s, i))) {
            better = true;
        }
    }
    return better;
}

/* ---- steps ---- */

static bool fewer_choices(struct shrink *s)
{
    bool better = false;
    for (int size = s->best.count / 2; size > 0; size /= 2) {
        for (int from = 0; from < s->best.count && !s->ended;) {
            leave_range(s, from, size);
            if (try_both(s)) {
                better = true; /* the next choices have moved to this place */
            } else {
                from += size;
            }
        }
    }
    return better;
}

/* Tries the run without two choices at once: one may be the consequence of the other. */
static bool fewer_pairs(struct shrink *s)
{
    bool better = false;
    for (int i = 0; i < s->best.count && s->best.count <= PAIRS_CHOICES; i++) {
        for (int k = i + 1; k < s->best.count && !s->ended; k++) {
            s->candidate.count = 0;
            for (int at = 0; at < s->best.count; at++) {
                if (at != i && at != k) {
                    attempt_list_add(&s->candidate, &s->best.choice[at]);
                }
            }
            better |= try_both(s);
        }
    }
    return better;
}

/* ---- other runs nearby ---- */

static bool keep(struct shrink *s, enum around_result result)
{
    s->runs++;
    if (result != AROUND_FOUND || !is_better(s)) {
        return false;
    }
    swap_in(s);
    return true;
}

/* In an exploring scenario, looks for a shortest run of all that the scenario allows, with few faults first.
 * Sets *all to whether that found a better run, or has searched all runs that could be better. */
static bool anything_else(struct shrink *s, bool *all)
{
    bool better = false;
    *all = s->attempt.scenario.exploring;
    for (int faults = 0; *all && !better && faults <= s->best.faults && may_go_on(s); faults++) {
        int limit = s->best.count - (faults == s->best.faults);
        struct around how = {.free = true, .faults = faults};
        enum around_result result = around_search(&s->attempt, &s->best, how, limit, &s->trial);
        better = keep(s, result);
        *all = better || result == AROUND_NONE;
    }
    *all = *all && !s->ended;
    return better;
}

/* If anything_else() has not searched all runs: keeps the first 0/4 to 3/4 of the run, in turn, and searches
 * for another continuation, until a run is better. */
static bool another_way(struct shrink *s)
{
    bool better = false;
    for (int part = 0; part < PARTS && !better && may_go_on(s); part++) {
        struct around how = {.from = s->best.count * part / PARTS, .faults = s->best.faults};
        better = keep(s, around_search(&s->attempt, &s->best, how, s->best.count - 1, &s->trial));
        how.free = s->attempt.scenario.exploring && part > 0;
        if (!better && how.free) {
            better = keep(s, around_search(&s->attempt, &s->best, how, s->best.count - 1, &s->trial));
        }
    }
    return better;
}

static bool nearby(struct shrink *s)
{
    bool all;
    if (s->rounds) {
        return false; /* around_search() finds runs with an end */
    }
    return anything_else(s, &all) || (!all && another_way(s));
}

/* Repeats all attempts until none helps, or a limit ends the search. */
static void shrink(struct shrink *s)
{
    bool better = true;
    while (better && !s->ended) {
        better = by_default(s);
        better |= starts(s);
        better |= fewer_processes(s);
        better |= fewer_faults(s);
        better |= fewer_choices(s);
        better = better || fewer_pairs(s);
        better = better || nearby(s);
    }
}

/* ---- the whole ---- */

/* Complains of a trace that cannot be followed. If its replay drifts, the complaint of the replay counts. */
static enum shrink_result unfit(const struct trace *trace, const char *found, const char *expected,
                                struct input_error *error)
{
    char *told = NULL;
    size_t size;
    FILE *out = open_memstream(&told, &size);
    input_complain_words(error, trace->input.name, 1, 1, found, expected);
    if (out) {
        replay_trace(trace, out, error);
        fclose(out);
    }
    free(told);
    return SHRINK_UNFIT;
}

/* Chooses the property: the user's; or else that in the trace's line `found`, if violated; or else `first`.
 * Returns whether the chosen property is violated. */
static bool choose_property(struct shrink *s, int first)
{
    const char *name = s->options->property;
    check_mask violated = s->attempt.run.stats.violated;
    int found = replay_found(s->attempt.trace, violated);
    if (name) {
        first = check_position(name);
    } else if (found >= 0) {
        first = found;
    }
    s->attempt.position = first;
    return first >= 0 && (violated >> first & 1);
}

static int write_best(struct shrink *s, struct shrunk *shrunk)
{
    LS_ASSERT(s->attempt.position >= 0);
    struct trace trace;
    int first;
    struct run *run = &s->attempt.run;
    if (!attempt_record(&s->attempt, &s->best, &first)) {
        return -1;
    }
    outcome_trace_of(run, shrunk->property->name, &trace);
    trace.name = s->attempt.trace->name;
    trace.choices = run->choices;
    trace.seed = s->attempt.trace->seed;
    memcpy(shrunk->why, run->stats.finding[s->attempt.position].why, sizeof shrunk->why);
    FILE *file = open_memstream(&shrunk->bytes, &shrunk->size);
    int result = file ? trace_write(file, &trace) : -1;
    return file && fclose(file) == 0 ? result : -1;
}

/* Reads and replays the written bytes, independently of the state of this search. */
static bool is_confirmed(const struct shrunk *shrunk, const char *name)
{
    struct trace trace;
    struct attempt attempt;
    struct attempt_list list;
    struct input_error error;
    int first, position = check_position(shrunk->property->name);
    bool confirmed = false;
    if (trace_read_bytes(&trace, name, shrunk->bytes, shrunk->size, &error) != 0) {
        return false;
    }
    if (attempt_open(&attempt, &trace, &error) == 0) {
        attempt.asks = true;
        confirmed = attempt_list_init(&attempt, &list) == 0 && attempt_list_trace(&attempt, &list) == 0 &&
                    attempt_record(&attempt, &list, &first) && (attempt.run.stats.violated >> position & 1);
        attempt_list_close(&list);
        attempt_close(&attempt);
    }
    trace_close(&trace);
    return confirmed;
}

/* Keeps only the marks that the property needs: for LASSO_ALWAYS all, for LASSO_FAIR that of the circle, for
 * others none. */
static void keep_marks(struct shrink *s)
{
    struct attempt_list *list = &s->candidate;
    bool always = s->attempt.position == check_position(LASSO_ALWAYS);
    int kept = 0;
    s->rounds = always || s->attempt.position == check_position(LASSO_FAIR);
    for (int i = 0; i < list->count; i++) {
        bool mark = list->choice[i].action.kind == ATTEMPT_MARK;
        if (!mark || (s->rounds && (always || round_is_circle(list->choice[i].label)))) {
            list->choice[kept++] = list->choice[i];
        }
    }
    list->count = kept;
}

/* Complains of a trace that a replay accepts, though an attempt cannot follow it. */
static enum shrink_result unfollowed(const struct attempt *attempt, struct input_error *error)
{
    const char *expected = "a state of which all that follows can be seen";
    char found[WORLD_LABEL_MAX + 2] = "one that too many can follow";
    if (attempt->refused) {
        expected = "a choice that the scenario allows";
        snprintf(found, sizeof found, "'%s'", attempt->refused);
    }
    return unfit(attempt->trace, found, expected, error);
}

static enum shrink_result run_shrink(struct shrink *s, struct shrunk *shrunk, struct input_error *error)
{
    const struct trace *trace = s->attempt.trace;
    int first, count;
    if (attempt_list_trace(&s->attempt, &s->candidate) != 0 ||
        !attempt_record(&s->attempt, &s->candidate, &first)) {
        return unfit(trace, "'out of memory'", "memory", error);
    }
    if (!choose_property(s, first)) {
        return SHRINK_HOLDS;
    }
    keep_marks(s);
    if (!attempt_follow(&s->attempt, &s->candidate, PLAIN, s->attempt.room, &s->best)) {
        return unfollowed(&s->attempt, error);
    }
    s->declared = s->attempt.scenario.options.processes;
    *shrunk =
        (struct shrunk){.property = check_all(&count)[s->attempt.position], .before = size_of(&s->best)};
    shrink(s);
    shrunk->after = size_of(&s->best);
    shrunk->runs = s->runs;
    LS_ASSERT(shrunk->after.faults <= shrunk->before.faults &&
              shrunk->after.processes <= shrunk->before.processes);
    shrunk->steps = s->attempt.steps;
    if (write_best(s, shrunk) != 0 || !is_confirmed(shrunk, trace->input.name)) {
        free(shrunk->bytes);
        input_complain_words(error, trace->input.name, 1, 1, "another run or no memory",
                             "a shorter trace that replays");
        return SHRINK_UNFIT;
    }
    return s->ended ? SHRINK_LIMIT : SHRINK_DONE;
}

enum shrink_result shrink_trace(const struct trace *trace, const struct shrink_options *options,
                                struct shrunk *shrunk, struct input_error *error)
{
    struct shrink s = {.options = options};
    enum shrink_result result = SHRINK_UNFIT;
    memset(shrunk, 0, sizeof *shrunk);
    if (attempt_open(&s.attempt, trace, error) != 0) {
        return SHRINK_UNFIT;
    }
    if (attempt_list_init(&s.attempt, &s.best) == 0 && attempt_list_init(&s.attempt, &s.trial) == 0 &&
        attempt_list_init(&s.attempt, &s.candidate) == 0) {
        result = run_shrink(&s, shrunk, error);
    } else {
        input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
    }
    attempt_list_close(&s.best);
    attempt_list_close(&s.trial);
    attempt_list_close(&s.candidate);
    attempt_close(&s.attempt);
    return result;
}
