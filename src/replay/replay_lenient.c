/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/replay_lenient.h"

#include "base/assert.h"
#include "replay/liveness_circle.h"

#include <string.h>

#define BRIDGE_STEPS_MAX 100 /* limit of default steps before a choice becomes possible */
#define PROGRAM_STEPS_MAX 64 /* limit of steps of programs behind the list: some programs are endless */

struct following {
    struct run *run;
    check_mask mask;
    struct followed *followed;
    struct round round;
    uint64_t waits; /* number of steps after which some process waits */
};

static bool is_violated(const struct following *f)
{
    return (f->run->stats.violated & f->mask) != 0;
}

/* ---- one choice ---- */

static bool take(struct following *f, const char *label, const char **why)
{
    struct run *run = f->run;
    struct action action;
    if (strcmp(label, TRACE_REST) == 0) {
        *why = "the world is not at rest";
        return run_rest(run);
    }
    if (world_find(run->world, label, &action, why) != 0) {
        return false;
    }
    *why = "the scenario does not allow it here";
    if (!run_allows(run, &action)) {
        return false;
    }
    round_step(&f->round, run, &action);
    bool done = run_apply(run, &action) == 0;
    f->waits += lasso_waiting(run) != 0;
    return done;
}

static bool take_default(struct run *run)
{
    struct action action;
    return world_default_action(run->world, &action) && run_apply(run, &action) == 0;
}

/* Does default steps, BRIDGE_STEPS_MAX at most, then the choice as soon as it is possible. Returns false,
 * with nothing done, if the choice does not become possible. Returns true early if a property of the mask is
 * violated. */
static bool bridge(struct following *f, const char *label)
{
    static struct run before;
    struct run *run = f->run;
    const char *why;
    struct world_image *image = world_save(run->world);
    bool done = false;
    before = *run;
    LS_ASSERT(!run->recording);
    for (int i = 0; image && !done && i < BRIDGE_STEPS_MAX && take_default(run); i++) {
        done = is_violated(f) || take(f, label, &why);
    }
    if (image && !done) {
        world_restore(run->world, image);
        *run = before;
    }
    world_image_free(image);
    return done;
}

static void note_drift(struct followed *followed, int index, const char *label, const char *why)
{
    LS_ASSERT(index >= 0);
    if (followed->drift[0] == 0) {
        snprintf(followed->drift, sizeof followed->drift, "choice %d, '%s', does not fit: %s", index + 1,
                 label, why);
        followed->fits = index;
    }
}

static bool pass_mark(struct following *f, const char *label, const char **why)
{
    int states;
    if (f->followed->drift[0] != 0) {
        *why = "the run is another one";
        return false;
    }
    if (!round_is_circle(label)) {
        *why = "it can still be served";
        return round_hopeless(&f->round, f->run, label, true, &states) != HOPELESS_NO;
    }
    *why = "numbers that grow cannot be renamed, so that nothing comes back";
    return round_begin(&f->round, f->run);
}

static void choose(struct following *f, int index, const char *label)
{
    const char *why = "";
    bool mark = round_is_mark(label);
    if (mark ? pass_mark(f, label, &why) : take(f, label, &why)) {
        return;
    }
    f->round.goes = false;
    note_drift(f->followed, index, label, why);
    f->followed->left_out += mark || !bridge(f, label);
    LS_ASSERT(f->followed->left_out <= index + 1);
}

/* Ends the circle, if the run is in one, and notes its flaw. */
static void end_circle(struct following *f, int choices)
{
    const char *flaw = f->round.goes ? round_end(&f->round, f->run) : NULL;
    if (flaw != NULL) {
        note_drift(f->followed, choices, TRACE_CYCLE, flaw);
    }
    f->round.goes = false;
    LS_ASSERT(!f->round.goes);
}

/* ---- behind the list ---- */

static bool take_program_step(struct run *run)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    int count = world_actions(run->world, enabled);
    for (int i = 0; i < count; i++) {
        if (world_is_verb(&enabled[i]) && !world_is_fault(&enabled[i])) {
            return run_apply(run, &enabled[i]) == 0;
        }
    }
    return false;
}

/* Runs the default schedule. In an exploring scenario, also does steps of programs, so that holders release,
 * each with the default schedule behind it. */
static void run_programs(struct following *f)
{
    bool exploring = f->run->setup.scenario->exploring;
    run_settle(f->run);
    for (int i = 0; exploring && i < PROGRAM_STEPS_MAX && !is_violated(f) && take_program_step(f->run); i++) {
        run_settle(f->run);
    }
}

static void finish(struct following *f)
{
    run_programs(f);
    if (!is_violated(f)) {
        run_heal(f->run);
        run_programs(f);
    }
    if (!is_violated(f)) {
        run_rest(f->run);
    }
}

/* Judges the end of the run as a circle without steps. A waiter that waits there does so for ever, unless a
 * channel is possible. */
static void judge_waiting(struct following *f)
{
    static const char *const NAMES[] = {LASSO_ALWAYS, LASSO_FAIR};
    char mark[WORLD_LABEL_MAX];
    uint32_t left = lasso_waiting(f->run);
    for (int i = 0; i < 2; i++) {
        f->run->stats.finding[check_position(NAMES[i])].premises += f->waits;
    }
    if (left == 0 || is_violated(f)) {
        return;
    }
    lasso_mark(f->run, __builtin_ctz(left), mark);
    (void)round_is_hopeless(&f->round, f->run, mark);
    if (round_begin(&f->round, f->run)) {
        (void)round_end(&f->round, f->run);
    }
}

/* ---- the whole ---- */

void follow(struct run *run, const char *const *labels, check_mask mask, struct followed *followed)
{
    struct following f = {.run = run, .mask = mask, .followed = followed};
    memset(followed, 0, sizeof *followed);
    run_forget(run);
    round_start(&f.round);
    run->setup.careful = true;
    run_begin(run, run->setup.schedule, run->setup.seed);
    int i = 0;
    for (; labels[i] && !(followed->drift[0] != 0 && is_violated(&f)) && !world_trouble(run->world); i++) {
        choose(&f, i, labels[i]);
    }
    end_circle(&f, i);
    followed->fits = followed->drift[0] != 0 ? followed->fits : i;
    if (!is_violated(&f) && !world_trouble(run->world)) {
        finish(&f);
    }
    if ((mask & lasso_properties()) != 0 && !world_trouble(run->world)) {
        judge_waiting(&f);
    }
    LS_ASSERT(followed->fits <= i && followed->left_out <= i);
    round_close(&f.round);
}
