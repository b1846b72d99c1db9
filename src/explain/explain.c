/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/explain.h"

#include "base/assert.h"
#include "explain/parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHRINK_STEPS_MAX 2000000 /* actions of all runs of the shrinking: some seconds */
#define SHRINK_SHARE 0.3         /* of the time that the user gives */
#define FAULTS_SHARE 0.7         /* of the time that is left then */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double explain_seconds_left(struct futures_bounds bounds)
{
    double left = bounds.until_s > 0 ? bounds.until_s - now_s() : 0;
    return bounds.until_s > 0 && left < 0.01 ? 0.01 : left;
}

/* Returns the bounds with this share of the time that is left. */
static struct futures_bounds share(struct futures_bounds bounds, double part)
{
    LS_ASSERT(part > 0 && part < 1);
    bounds.until_s -= explain_seconds_left(bounds) * (1 - part);
    return bounds;
}

static bool is_late(void *ctx)
{
    const struct futures_bounds *bounds = ctx;
    return bounds->until_s > 0 && now_s() > bounds->until_s;
}

/* ---- the shorter run ---- */

/* Shrinks a trace into *shorter, and sets *is_shorter; leaves both as they are if the trace cannot be shrunk.
 * Returns EXPLAIN_HOLDS if the trace violates nothing, else EXPLAIN_DONE. */
static enum explain_result shrink(const struct trace *trace, const char *property,
                                  struct futures_bounds bounds, struct trace *shorter, bool *is_shorter,
                                  struct explanation *e, struct input_error *error)
{
    struct shrunk shrunk;
    bounds = share(bounds, SHRINK_SHARE);
    struct shrink_options how = {
        .property = property, .max_steps = SHRINK_STEPS_MAX, .stop = is_late, .ctx = &bounds};
    enum shrink_result result = shrink_trace(trace, &how, &shrunk, error);
    LS_ASSERT(!*is_shorter);
    if (result == SHRINK_HOLDS) {
        return EXPLAIN_HOLDS;
    }
    if (result == SHRINK_UNFIT) {
        return EXPLAIN_DONE;
    }
    *is_shorter = trace_read_bytes(shorter, trace->input.name, shrunk.bytes, shrunk.size, error) == 0;
    if (*is_shorter) {
        e->shrunk = shrunk.after.steps < shrunk.before.steps;
        e->shrink_ended = result == SHRINK_LIMIT;
        e->minimal = result == SHRINK_DONE;
        e->steps_before = shrunk.before.steps;
    }
    free(shrunk.bytes);
    return EXPLAIN_DONE;
}

/* ---- the whole ---- */

static bool is_decided(const struct explanation *e)
{
    return e->cause != EXPLAIN_UNKNOWN && e->last.is != EXPLAIN_MOMENT_UNKNOWN;
}

static void fill(struct explain_case *c, struct futures_bounds bounds, struct explanation *e)
{
    const struct check_finding *finding = &c->story.stats.finding[c->position];
    int count;
    LS_ASSERT(c->position >= 0);
    e->property = check_all(&count)[c->position];
    memcpy(e->why, finding->why, sizeof e->why);
    e->step = finding->step;
    e->steps = c->story.steps;
    bounds.until_ms = case_end_ms(c);
    explain_faults(c, e, share(bounds, FAULTS_SHARE));
    explain_last_moment(c, e, bounds);
}

static enum explain_result explain(const struct trace *trace, const char *property,
                                   struct futures_bounds bounds, struct explanation *e,
                                   struct input_error *error)
{
    static struct explain_case c; /* too large for a stack that recipes share */
    enum explain_result result = case_open(&c, trace, property, error);
    if (result == EXPLAIN_DONE && !explain_stale(&c, e)) {
        input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
        result = EXPLAIN_UNFIT;
    }
    if (result == EXPLAIN_DONE) {
        fill(&c, bounds, e);
        result = is_decided(e) ? EXPLAIN_DONE : EXPLAIN_LIMIT;
    }
    case_close(&c);
    return result;
}

enum explain_result explain_trace(const struct trace *trace, const struct explain_options *options,
                                  struct explanation *e, struct input_error *error)
{
    struct trace shorter;
    bool is_shorter = false;
    enum explain_result result = EXPLAIN_DONE;
    struct futures_bounds bounds = {.states_max = FUTURES_STATES_MAX};
    bounds.until_s = options->seconds_max > 0 ? now_s() + options->seconds_max : 0;
    memset(e, 0, sizeof *e);
    bounds.runs_states_max = EXPLAIN_RUNS_STATES_MAX;
    if (options->states_max > 0) {
        bounds.states_max = bounds.runs_states_max = options->states_max;
    }
    if (!options->no_shrink) {
        result = shrink(trace, options->property, bounds, &shorter, &is_shorter, e, error);
    }
    if (result == EXPLAIN_DONE) {
        result = explain(is_shorter ? &shorter : trace, options->property, bounds, e, error);
    }
    if (is_shorter) {
        trace_close(&shorter);
    }
    return result;
}
