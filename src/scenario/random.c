/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/random.h"

#include "base/assert.h"
#include "base/rng.h"
#include "scenario/coverage.h"

#include <errno.h>
#include <string.h>

#define STEPS_MAX 3000  /* random actions in a run; the default schedule then finishes the run */
#define WANDER_LOG2 6   /* at most 2^6 - 1 random actions between two commands */
#define FAULT_ONE_IN 12 /* one in so many steps at which a fault is possible is a fault */
#define PLAIN_RUNS 8    /* number of runs measured for PCT */
#define THREADS_MAX (3 * WORLD_PROCESSES_MAX + WORLD_SERVERS_MAX + 1)

struct chooser {
    struct run *run;
    struct rng rng;
    bool pct;
    bool exploring;
    bool swarm;
    bool faults; /* faults may still happen: the scenario explores, or a swarm runs */
    uint32_t fault_one_in;
    uint8_t drawn[WORLD_FAULTS]; /* of a swarm: number of drawn faults of each kind */
    int changes;
    uint64_t priority[THREADS_MAX];
    uint64_t change[STRATEGY_DEPTH_MAX];
    struct action enabled[WORLD_ACTIONS_MAX];
};

static bool is_odd(uint64_t seed)
{
    return seed % 2 == 1;
}

enum schedule random_schedule(const struct strategy_plan *plan, uint64_t seed)
{
    switch (plan->strategy) {
    case STRATEGY_UNIFORM:
        return SCHEDULE_UNIFORM;
    case STRATEGY_PCT:
        return SCHEDULE_PCT;
    case STRATEGY_SWARM:
        return SCHEDULE_SWARM;
    default:
        return is_odd(seed) ? SCHEDULE_UNIFORM : SCHEDULE_PCT;
    }
}

/* Draws a priority for each thread (thread_of()), and the steps, from 1 on, at which one changes. A changed
 * priority is below all that have not changed. */
static void draw_priorities(struct chooser *chooser)
{
    const struct strategy_plan *plan = &chooser->run->setup.plan;
    uint32_t steps = plan->steps > 0 ? plan->steps : STRATEGY_STEPS_DEFAULT;
    chooser->changes = (plan->depth > 0 ? plan->depth : STRATEGY_DEPTH_DEFAULT) - 1;
    LS_ASSERT(chooser->changes >= 0 && chooser->changes < STRATEGY_DEPTH_MAX);
    for (int i = 0; i < THREADS_MAX; i++) {
        chooser->priority[i] = rng_next(&chooser->rng) | 1ull << 32;
    }
    for (int i = 0; i < chooser->changes; i++) {
        chooser->change[i] = 1 + rng_below(&chooser->rng, steps);
    }
}

static void chooser_init(struct chooser *chooser, struct run *run, uint64_t seed)
{
    enum schedule schedule = random_schedule(&run->setup.plan, seed);
    const struct scenario *scenario = run->setup.scenario;
    struct swarm swarm;
    chooser->run = run;
    rng_seed(&chooser->rng, seed);
    chooser->swarm = schedule == SCHEDULE_SWARM;
    chooser->pct = schedule == SCHEDULE_PCT || (chooser->swarm && !is_odd(seed));
    chooser->exploring = scenario->exploring;
    chooser->faults = chooser->exploring || chooser->swarm;
    chooser->fault_one_in = FAULT_ONE_IN;
    if (chooser->swarm) {
        swarm_draw(scenario, seed, &swarm);
        chooser->fault_one_in = swarm.fault_one_in;
        memcpy(chooser->drawn, swarm.budget, sizeof chooser->drawn);
    }
    if (chooser->pct) {
        draw_priorities(chooser);
    }
}

/* Returns the thread of an action: a process, its timers, the servers' work for it, a server, or an operator.
 * Timers are a thread of their own, so that deadlines may come late although the process has the highest
 * priority. */
static int thread_of(const struct action *action)
{
    if (action_has(action, TRAIT_SERVER)) {
        return 3 * WORLD_PROCESSES_MAX + action->server % WORLD_SERVERS_MAX;
    }
    if (action->kind == ACTION_DELIVER) {
        return action->process % WORLD_PROCESSES_MAX;
    }
    if (action->kind == ACTION_FIRE) {
        return 2 * WORLD_PROCESSES_MAX + action->process % WORLD_PROCESSES_MAX;
    }
    if (action->process >= WORLD_PROCESSES_MAX) {
        return THREADS_MAX - 1;
    }
    return action->process + (world_is_verb(action) ? 0 : WORLD_PROCESSES_MAX);
}

/* Returns whether an action is one of the system, or an expiry. In a script without a swarm an expiry is
 * listed only if it needs no budget. */
static bool of_the_system(const struct action *action)
{
    return action_has(action, TRAIT_SYSTEM) || action->kind == ACTION_EXPIRE;
}

/* Returns whether an action may join a script: one of the system, and in a swarm a fault or its end. */
static bool may_join_script(const struct chooser *c, const struct action *action)
{
    return of_the_system(action) || (c->swarm && (world_is_fault(action) || world_is_healing(action)));
}

static int select_for_script(struct chooser *c, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (may_join_script(c, &c->enabled[i])) {
            c->enabled[kept++] = c->enabled[i];
        }
    }
    return kept;
}

/* Draws a kind of action and keeps the actions of that kind: kinds are equally likely, although there are
 * many cuts. */
static int select_kind(struct chooser *c, int count)
{
    bool there[ACTION_KINDS] = {false};
    int kinds = 0, kept = 0, kind = 0;
    for (int i = 0; i < count; i++) {
        kinds += !there[c->enabled[i].kind];
        there[c->enabled[i].kind] = true;
    }
    LS_ASSERT(kinds > 0 && kinds <= count);
    for (int skip = (int)rng_below(&c->rng, (uint32_t)kinds); !there[kind] || skip > 0; kind++) {
        skip -= there[kind];
    }
    for (int i = 0; i < count; i++) {
        if (c->enabled[i].kind == kind) {
            c->enabled[kept++] = c->enabled[i];
        }
    }
    return kept;
}

/* Removes the faults that this swarm has not drawn or has used up. Other actions and ends of faults stay. */
static int select_drawn(struct chooser *c, int count)
{
    uint8_t bought[WORLD_FAULTS];
    int kept = 0;
    world_bought(c->run->world, bought);
    for (int i = 0; i < count; i++) {
        int fault = world_fault_of(&c->enabled[i]);
        if (fault < 0 || bought[fault] < c->drawn[fault] || world_is_healing(&c->enabled[i])) {
            c->enabled[kept++] = c->enabled[i];
        }
    }
    return kept;
}

/* Moves the candidates to the front and returns their number. */
static int select_candidates(struct chooser *c, int count)
{
    int kept = 0, faults = 0;
    if (c->swarm) {
        count = select_drawn(c, count);
    }
    if (!c->exploring) {
        count = select_for_script(c, count);
        if (!c->swarm) {
            return count;
        }
    }
    for (int i = 0; i < count; i++) {
        faults += world_is_fault(&c->enabled[i]);
    }
    bool fault = c->faults && faults > 0 && (faults == count || rng_below(&c->rng, c->fault_one_in) == 0);
    for (int i = 0; i < count; i++) {
        if (world_is_fault(&c->enabled[i]) == fault) {
            c->enabled[kept++] = c->enabled[i];
        }
    }
    return fault && c->swarm ? select_kind(c, kept) : kept;
}

static int choose_by_priority(struct chooser *c, int count)
{
    LS_ASSERT(count > 0);
    int best = 0, equals = 1;
    for (int i = 1; i < count; i++) {
        uint64_t here = c->priority[thread_of(&c->enabled[i])],
                 top = c->priority[thread_of(&c->enabled[best])];
        if (here > top) {
            best = i;
            equals = 1;
        } else if (here == top && rng_below(&c->rng, (uint32_t)++equals) == 0) {
            best = i;
        }
    }
    for (int i = 0; i < c->changes; i++) {
        if (c->change[i] == c->run->steps + 1) {
            c->priority[thread_of(&c->enabled[best])] = (uint64_t)i; /* below all unchanged ones */
        }
    }
    return best;
}

/* Does one random action; returns false if none is possible. */
static bool step(struct chooser *c)
{
    int count = select_candidates(c, world_actions(c->run->world, c->enabled));
    if (count == 0) {
        return false;
    }
    int chosen = c->pct ? choose_by_priority(c, count) : (int)rng_below(&c->rng, (uint32_t)count);
    return run_apply(c->run, &c->enabled[chosen]) == 0;
}

static bool may_go_on(const struct chooser *c)
{
    return c->run->steps < STEPS_MAX && !run_violated(c->run) && !world_trouble(c->run->world);
}

/* Does some random steps: often none, seldom many. */
static void wander(struct chooser *c)
{
    uint32_t steps = rng_below(&c->rng, 1u << rng_below(&c->rng, WANDER_LOG2 + 1));
    while (steps-- > 0 && may_go_on(c) && step(c)) {
    }
}

static void wander_to_rest(struct chooser *c)
{
    while (may_go_on(c) && !world_at_rest(c->run->world) && step(c)) {
    }
    run_settle(c->run);
}

/* Tries a command for at most 200 default actions: one that is not possible yet may become possible. A cut
 * that stays impossible is tried once more with keep=0 and apply=0. */
static bool try_command(struct chooser *c, const struct scenario_command *command)
{
    struct action action, next;
    for (int i = 0; i < 200; i++) {
        if (run_resolve(c->run, command, &action) == 0 && run_apply(c->run, &action) == 0) {
            return true;
        }
        if (!may_go_on(c) || !world_default_action(c->run->world, &next) || run_apply(c->run, &next) != 0) {
            break;
        }
    }
    if (action.kind == ACTION_CUT) { /* the same fault with no message under way */
        action.keep = action.apply = 0;
        action.modes &= ~ACTION_CUT_LATE;
        return run_apply(c->run, &action) == 0;
    }
    return false;
}

static int do_command(struct chooser *c, const struct scenario_command *command)
{
    switch ((enum scenario_step)command->step) {
    case STEP_ACTION:
        return !try_command(c, command);
    case STEP_SETTLE:
        wander_to_rest(c);
        break;
    case STEP_ADVANCE:
        /* There is no clock: an advance by a session timeout or more lets sessions expire and timers fire. */
        if (command->ms >= c->run->setup.scenario->options.session_timeout_ms) {
            wander_to_rest(c);
            run_pass_time(c->run, command->ms);
        }
        break;
    case STEP_REST:
        wander_to_rest(c);
        run_rest(c->run);
        break;
    case STEP_HEAL_ALL:
        run_heal(c->run);
        break;
    case STEP_BEFORE:
    case STEP_AFTER:
    case STEP_DO:
        break; /* these commands steer the schedule, which is random here */
    }
    return 0;
}

static int run_script(struct chooser *c)
{
    const struct scenario *scenario = c->run->setup.scenario;
    int skipped = 0;
    for (int i = 0; i < scenario->commands && may_go_on(c); i++) {
        wander(c);
        skipped += do_command(c, &scenario->command[i]);
    }
    return skipped;
}

static void run_programs(struct chooser *c)
{
    while (may_go_on(c) && step(c)) {
    }
    run_heal(c->run);
    c->faults = false;
    while (may_go_on(c) && step(c)) {
    }
}

int random_one(struct run *run, uint64_t seed)
{
    static struct chooser chooser;
    int skipped = 0;
    run_begin(run, random_schedule(&run->setup.plan, seed), seed);
    chooser_init(&chooser, run, seed);
    if (chooser.exploring) {
        run_programs(&chooser);
    } else {
        skipped = run_script(&chooser);
    }
    if (!run_violated(run) && !world_trouble(run->world)) {
        wander(&chooser);
        run_heal(run);
        run_settle(run);
        run_rest(run);
    }
    return skipped;
}

/* Returns the steps of the longest of PLAIN_RUNS runs, at least 1. The seeds of these runs are fixed, so that
 * a seed of the caller determines its run. */
static uint32_t measure_steps(struct run *run)
{
    struct strategy_plan plan = run->setup.plan;
    uint64_t longest = 1;
    run->setup.plan = (struct strategy_plan){.strategy = STRATEGY_UNIFORM};
    for (uint64_t seed = 1; seed <= PLAIN_RUNS; seed++) {
        random_one(run, seed);
        longest = run->steps > longest ? run->steps : longest;
        run_forget(run);
    }
    LS_ASSERT(longest <= UINT32_MAX && run->told == 0);
    run->setup.plan = plan;
    return (uint32_t)longest;
}

/* Opens a run for the seeds from `first` on. Returns false with errno set if no world can be made. */
static bool prepare(struct run *run, const struct run_setup *setup, uint64_t first)
{
    struct run_setup random = *setup;
    random.schedule = random_schedule(&setup->plan, first);
    if (run_init(run, &random) != 0) {
        return false;
    }
    run->setup.plan.steps = measure_steps(run);
    return true;
}

static void tell_swarm(const struct run *run, uint64_t seed, struct outcome *outcome)
{
    char text[160];
    struct swarm swarm;
    swarm_draw(run->setup.scenario, seed, &swarm);
    outcome_say(outcome, "  seed %llu draws %s, %s\n", (unsigned long long)seed,
                swarm_text(&swarm, text, sizeof text), is_odd(seed) ? "uniform" : "by priorities");
}

static void record_failure(struct run *run, uint64_t seed, const char *out, struct outcome *outcome)
{
    if (outcome->schedule == SCHEDULE_SWARM) {
        tell_swarm(run, seed, outcome);
    }
    LS_ASSERT(!run->recording);
    run_forget(run);
    run->recording = true;
    random_one(run, seed);
    outcome_write_trace(outcome, run, out, outcome->verdict == VERDICT_LIMIT ? "limit" : "difference");
    run->recording = false;
}

int random_record(const struct run_setup *setup, uint64_t seed,
                  void (*ended)(void *ctx, const struct run *run), void *ctx)
{
    struct run run;
    if (!prepare(&run, setup, seed)) {
        return -1;
    }
    LS_ASSERT(!run.recording && run.told == 0);
    run.recording = true;
    random_one(&run, seed);
    ended(ctx, &run);
    run_close(&run);
    return 0;
}

void random_judge_exploring(const struct scenario *scenario, struct outcome *outcome)
{
    bool shown = scenario->violates && (outcome->stats.violated & scenario->violates) == scenario->violates;
    if (outcome->verdict == VERDICT_HOLDS && !(shown && !scenario->holds)) {
        outcome->verdict = VERDICT_LIMIT;
        outcome_say(outcome, "  %llu random schedules, which is no proof\n",
                    (unsigned long long)outcome->runs);
    }
}

void random_run(const struct run_setup *setup, uint64_t first, uint64_t count, const char *out,
                struct outcome *outcome)
{
    struct run run;
    uint64_t seed = first;
    const char *trouble = NULL;
    outcome->verdict = VERDICT_ERROR;
    if (!prepare(&run, setup, first)) {
        outcome_say(outcome, "  no world can be made: %s\n", strerror(errno));
        return;
    }
    coverage_begin_growth(&run);
    for (uint64_t i = 0; i < count && !run_violated(&run) && !trouble; i++) {
        seed = first + i;
        outcome->skipped += (uint64_t)random_one(&run, seed);
        outcome->runs++;
        outcome->steps += run.steps;
        outcome->depth = run.steps > outcome->depth ? run.steps : outcome->depth;
        trouble = run_trouble(&run);
        coverage_grow(&run, outcome->runs, outcome->steps,
                      outcome->runs == count || run_violated(&run) || trouble);
    }
    coverage_end_growth();
    outcome_judge(outcome, &run, trouble, true);
    outcome->schedule = random_schedule(&setup->plan, seed);
    outcome->seed = seed;
    if (outcome->verdict == VERDICT_VIOLATED || outcome->verdict == VERDICT_DIFFERS || trouble) {
        record_failure(&run, seed, out, outcome);
    } else if (setup->scenario->exploring && !setup->part) {
        random_judge_exploring(setup->scenario, outcome);
    }
    run_close(&run);
}

/* Runs the seeds without the spared properties. Returns whether another property is violated. */
static bool find_other(const struct run_setup *setup, uint64_t first, uint64_t count, struct outcome *outcome)
{
    struct run run;
    if (!prepare(&run, setup, first)) {
        return false;
    }
    for (uint64_t i = 0; i < count && !run_violated(&run) && run_trouble(&run) == NULL; i++) {
        random_one(&run, first + i);
    }
    bool found = run_violated(&run);
    if (found) {
        outcome_add_elsewhere(outcome, &run.stats);
    }
    run_close(&run);
    return found;
}

void random_find_others(const struct run_setup *setup, uint64_t first, uint64_t count,
                        struct outcome *outcome)
{
    struct run_setup others = *setup;
    bool more = outcome->verdict == VERDICT_VIOLATED && !outcome_is_broken_off(outcome);
    while (more) {
        others.spared = outcome_known_violations(outcome);
        more = find_other(&others, first, count, outcome) && !outcome_is_broken_off(outcome);
        LS_ASSERT(!more || outcome_known_violations(outcome) != others.spared);
    }
}
