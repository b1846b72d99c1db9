/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A lasso: a run that ends in a circle, as evidence that a waiter (sim/waiters.h) waits for ever.
 *
 * Definition: the circle closes if its last state is its first state, up to renaming of growing numbers. It
 * is weakly fair if each channel (world_channel()) that is possible in all its states is served in it. Claim:
 * if the circle is closed and fair, some weakly fair run never serves a waiter that waits in all its states.
 * Why: that run repeats the circle without end. A channel that the circle does not serve is impossible in
 * some state of the circle, so again and again. Checked by: tests/prove/lasso.sh. */
#ifndef SCENARIO_LASSO_H
#define SCENARIO_LASSO_H

#include "scenario/run.h"

struct canon;

/* The properties that a lasso violates. */
#define LASSO_ALWAYS "can_always_be_served"
#define LASSO_FAIR "served_under_weak_fairness"

#define LASSO_CHANNELS_MAX WORLD_ACTIONS_MAX

struct lasso {
    struct canon *canon;
    uint64_t fingerprint; /* of the state in which the circle begins */
    uint64_t begin;       /* number of steps before the circle */
    uint64_t steps;       /* number of steps of the circle so far */
    uint32_t waiting;     /* the waiters that wait in each state of the circle so far, a bit each */
    int channels;         /* number of channels possible in each state of the circle so far */
    char channel[LASSO_CHANNELS_MAX][WORLD_LABEL_MAX];
    bool taken[LASSO_CHANNELS_MAX]; /* whether the circle serves the channel */
    int hopeless;      /* place in waiters_list() of a waiter that can never be served; -1 = none */
    uint64_t stuck_at; /* number of steps after which `hopeless` can never be served */
};

void lasso_init(struct lasso *lasso);
void lasso_close(struct lasso *lasso);

check_mask lasso_properties(void);

/* Returns the waiters that wait now, a bit each by their place in waiters_list(). */
uint32_t lasso_waiting(const struct run *run);

/* Calls world_end_faults() and begins the circle. Returns false, without a circle, if world_canon() returns
 * NULL. */
bool lasso_begin(struct lasso *lasso, struct run *run);

/* Notes the possible channels and the waiters that wait. Must be called before each action of the circle.
 * lasso_flaw() calls it at the circle's end, with `action` NULL. */
void lasso_note(struct lasso *lasso, struct run *run, const struct action *action);

/* Must be called after the last action. Returns NULL if the circle is closed and fair and a waiter waits all
 * the time, else a clause that says which of these fails. */
const char *lasso_flaw(struct lasso *lasso, struct run *run, char *text, size_t size);

/* Adds the violations to the run's findings. */
void lasso_conclude(const struct lasso *lasso, struct run *run);

/* - lasso_mark(): writes the choice of a trace behind which a waiter is hopeless.
 * - lasso_read_mark(): returns the waiter's place in waiters_list(), or -1 for another choice. */
void lasso_mark(const struct run *run, int waiter, char text[WORLD_LABEL_MAX]);
int lasso_read_mark(const struct run *run, const char *label);

#endif
