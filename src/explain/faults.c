/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The faults that mattered. Each check is a search for a run that breaks the promise without some faults. */
#include "explain/parts.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_BYTES_MAX ((size_t)512 << 20)

/* ---- texts ---- */

void explain_name_faults(const struct explain_case *c, const uint8_t budget[WORLD_FAULTS], int without,
                         char text[128])
{
    size_t used = 0;
    text[0] = 0;
    for (int f = 0; f < WORLD_FAULTS && used < 128; f++) {
        if (budget[f] > 0) {
            used += (size_t)snprintf(text + used, 128 - used, "%s%s<=%d", used > 0 ? " " : "",
                                     world_fault_name((enum world_fault)f), budget[f]);
        }
    }
    for (int i = 0; i < c->acts && used < 128; i++) {
        const struct story_choice *choice = &c->story.choice[c->act_choice[i]];
        if (choice->fault && c->act_choice[i] != without) {
            used += (size_t)snprintf(text + used, 128 - used, "%s%s", used > 0 ? ", " : "", choice->label);
        }
    }
    if (used == 0) {
        snprintf(text, 128, "no fault");
    }
}

/* ---- all runs of a scenario ---- */

static bool is_enumerable(const struct explain_case *c)
{
    return !c->scripted && !c->model.options.timed;
}

static enum futures_answer answer_of(const struct outcome *outcome, bool violated)
{
    return violated                              ? FUTURES_SOME
           : outcome->verdict == VERDICT_HOLDS   ? FUTURES_NONE
           : outcome->verdict == VERDICT_DIFFERS ? FUTURES_NONE
                                                 : FUTURES_UNDECIDED;
}

/* Searches all runs of the scenario with these faults. */
static void search_scenario(const struct explain_case *c, const uint8_t budget[WORLD_FAULTS],
                            struct futures_bounds bounds, struct explain_check *check)
{
    static struct outcome outcome; /* too large for the stack */
    static struct scenario scenario;
    LS_ASSERT(c->run.world == NULL && !c->scripted);
    struct run_setup setup = c->setup;
    struct explore_options options = {.order = EXPLORE_DEPTH_FIRST,
                                      .any_order = true,
                                      .first_only = true,
                                      .partial_order = !c->waits,
                                      .symmetry = true,
                                      .renaming = true,
                                      .workers = 1,
                                      .bytes_max = SEARCH_BYTES_MAX,
                                      .states_max = bounds.runs_states_max,
                                      .seconds_max = explain_seconds_left(bounds)};
    memset(&outcome, 0, sizeof outcome);
    scenario = c->model;
    scenario.exploring = true;
    memcpy(scenario.options.budget, budget, WORLD_FAULTS);
    setup.scenario = &scenario;
    explore_run(&setup, &options, &outcome);
    check->scope = EXPLAIN_SCENARIO;
    check->states = outcome.search.states + outcome.search.earlier_states;
    check->answer = answer_of(&outcome, (outcome.stats.violated >> c->position & 1) != 0);
    bool full = check->states >= bounds.runs_states_max;
    check->limit = outcome.verdict != VERDICT_LIMIT ? "an error" : full ? "states" : "time or memory";
}

/* ---- all orders of a script, or of a timed world ---- */

static void take(const struct futures_found *found, int64_t until_ms, struct explain_check *check)
{
    check->until_ms = found->timed_out ? until_ms : 0;
    check->answer = found->answer;
    check->states = found->states;
    check->limit = found->limit;
}

/* Searches all continuations of the first `choices` choices, with the faults of `budget`. `without`: index of
 * a choice whose act is left out of the script. -1 = none; -2 = all faults of the script. */
static void search_behind(struct explain_case *c, int choices, int without,
                          const uint8_t budget[WORLD_FAULTS], struct futures_bounds bounds,
                          struct explain_check *check)
{
    struct futures_found found = {.answer = FUTURES_UNDECIDED, .limit = "memory is short"};
    struct action *list = calloc((size_t)c->acts + 1, sizeof *list);
    LS_ASSERT(choices >= 0 && choices < c->last);
    check->scope = choices > 0 ? EXPLAIN_PREFIX : EXPLAIN_SCRIPT;
    check->behind = case_step_of(c, choices);
    if (c->waits) {
        found.limit = "the promise is about runs without an end";
    } else if (list != NULL && case_follow(c, choices)) {
        struct script script = case_script(c, choices, without, without != -2, list);
        case_allow(c, budget);
        futures_break(c->futures, &script, bounds, &found);
    } else if (list != NULL) {
        found.limit = "the run cannot be followed";
    }
    take(&found, bounds.until_ms, check);
    free(list);
}

/* ---- the checks ---- */

static void check_none(struct explain_case *c, struct futures_bounds bounds, struct explain_check *check)
{
    static const uint8_t none[WORLD_FAULTS];
    snprintf(check->faults, sizeof check->faults, "no fault");
    if (is_enumerable(c)) {
        search_scenario(c, none, bounds, check);
    } else {
        search_behind(c, 0, -2, none, bounds, check);
    }
}

/* Returns whether two faults of the run have one budget, so that a check about all runs has one answer. */
static bool is_alike(const struct explain_case *c, int a, int b)
{
    int fault = world_fault_of(&c->story.choice[a].action);
    return fault >= 0 && fault == world_fault_of(&c->story.choice[b].action);
}

static void check_whole(struct explain_case *c, int choice, struct futures_bounds bounds,
                        struct explain_check *check)
{
    uint8_t budget[WORLD_FAULTS];
    LS_ASSERT(c->story.choice[choice].fault);
    case_budget(c, 1, choice, budget);
    explain_name_faults(c, budget, choice, check->faults);
    if (is_enumerable(c)) {
        search_scenario(c, budget, bounds, check);
    } else {
        search_behind(c, 0, choice, budget, bounds, check);
    }
}

static void check_here(struct explain_case *c, int choice, struct futures_bounds bounds,
                       struct explain_check *check)
{
    uint8_t budget[WORLD_FAULTS];
    LS_ASSERT(c->story.choice[choice].fault && c->futures != NULL);
    case_budget(c, choice, choice, budget);
    explain_name_faults(c, budget, choice, check->faults);
    search_behind(c, choice - 1, choice, budget, bounds, check);
    check->scope = EXPLAIN_PREFIX;
}

static void describe(const struct explain_case *c, int choice, struct explain_fault *fault)
{
    const struct story_choice *of = &c->story.choice[choice];
    const struct world_options *options = &c->model.options;
    LS_ASSERT(of->fault && of->step > 0);
    fault->step = of->step;
    fault->process = of->action.process;
    fault->verb = world_action_verb(of->action.kind);
    snprintf(fault->label, sizeof fault->label, "%s", of->label);
    if (of->action.process < options->processes) {
        snprintf(fault->name, sizeof fault->name, "%s", options->name[of->action.process]);
    }
}

static void list_faults(const struct explain_case *c, struct explanation *e, int choice[EXPLAIN_FAULTS_MAX])
{
    for (int i = 1; i <= c->last && e->faults < EXPLAIN_FAULTS_MAX; i++) {
        if (c->story.choice[i].fault) {
            choice[e->faults] = i;
            e->fault[e->faults].matter = EXPLAIN_MATTERS_UNKNOWN;
            describe(c, i, &e->fault[e->faults++]);
        }
    }
}

static bool is_decided(const struct explain_check *check)
{
    return check->scope != EXPLAIN_NOTHING && check->answer != FUTURES_UNDECIDED;
}

static enum explain_matter matter_of(const struct explain_fault *fault)
{
    const struct explain_check *whole = &fault->whole, *here = &fault->here;
    if (is_decided(whole) && whole->answer == FUTURES_NONE) {
        return EXPLAIN_MATTERS;
    }
    if (is_decided(here) && here->answer == FUTURES_NONE) {
        return EXPLAIN_MATTERS_HERE;
    }
    return is_decided(whole) || is_decided(here) ? EXPLAIN_MATTERS_NOT : EXPLAIN_MATTERS_UNKNOWN;
}

static void check_each(struct explain_case *c, struct explanation *e, const int choice[EXPLAIN_FAULTS_MAX],
                       struct futures_bounds bounds)
{
    for (int i = 0; i < e->faults; i++) {
        int same = 0;
        while (same < i && !is_alike(c, choice[same], choice[i])) {
            same++;
        }
        if (e->faults == 1) {
            e->fault[i].whole = e->none;
        } else if (same < i) {
            e->fault[i].whole = e->fault[same].whole;
        } else {
            check_whole(c, choice[i], bounds, &e->fault[i].whole);
        }
    }
}

static enum explain_cause cause_of(const struct explanation *e)
{
    int matter = 0, unknown = 0;
    LS_ASSERT(e->faults > 0 && e->faults <= EXPLAIN_FAULTS_MAX);
    for (int i = 0; i < e->faults; i++) {
        matter += e->fault[i].matter == EXPLAIN_MATTERS || e->fault[i].matter == EXPLAIN_MATTERS_HERE;
        unknown += e->fault[i].matter == EXPLAIN_MATTERS_UNKNOWN;
    }
    return matter > 0 ? EXPLAIN_SOME : unknown > 0 ? EXPLAIN_UNKNOWN : EXPLAIN_ANY;
}

/* Decides which faults matter. Asks about this run if a search of all runs met its bound, or with `all`. */
static void decide(struct explain_case *c, struct explanation *e, const int choice[EXPLAIN_FAULTS_MAX],
                   struct futures_bounds bounds, bool all)
{
    for (int i = 0; i < e->faults; i++) {
        struct explain_fault *fault = &e->fault[i];
        bool asked = fault->here.scope != EXPLAIN_NOTHING;
        if (!asked && (all || fault->whole.answer == FUTURES_UNDECIDED)) {
            check_here(c, choice[i], bounds, &fault->here);
        }
        fault->matter = matter_of(fault);
    }
    e->cause = cause_of(e);
}

static void postpone(struct explain_case *c, struct explanation *e, const int choice[EXPLAIN_FAULTS_MAX],
                     struct futures_bounds bounds)
{
    for (int i = 0; i < e->faults; i++) {
        enum explain_matter matter = e->fault[i].matter;
        if (matter == EXPLAIN_MATTERS || matter == EXPLAIN_MATTERS_HERE) {
            explain_postponed(c, &e->fault[i], choice[i], bounds);
        }
    }
}

static void say_none_is_needed(struct explanation *e)
{
    e->cause = EXPLAIN_NONE_NEEDED;
    for (int i = 0; i < e->faults; i++) {
        e->fault[i].matter = EXPLAIN_MATTERS_NOT;
    }
}

void explain_faults(struct explain_case *c, struct explanation *e, struct futures_bounds bounds)
{
    int choice[EXPLAIN_FAULTS_MAX] = {0};
    list_faults(c, e, choice);
    e->cause = EXPLAIN_NO_FAULT;
    if (e->faults == 0) {
        return;
    }
    if (!is_enumerable(c) && !case_begin(c)) {
        e->cause = EXPLAIN_UNKNOWN;
        return;
    }
    check_none(c, bounds, &e->none);
    if (e->none.answer == FUTURES_SOME) {
        say_none_is_needed(e);
        return;
    }
    check_each(c, e, choice, bounds);
    if (c->futures == NULL && !case_begin(c)) {
        e->cause = EXPLAIN_UNKNOWN;
        return;
    }
    decide(c, e, choice, bounds, false);
    if (e->cause == EXPLAIN_ANY) {
        decide(c, e, choice, bounds, true);
    }
    if (e->cause == EXPLAIN_ANY && e->none.answer != FUTURES_NONE) {
        e->cause = EXPLAIN_UNKNOWN; /* no fault at all may be needed */
    }
    postpone(c, e, choice, bounds);
}
