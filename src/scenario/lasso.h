/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A run that ends in a circle: what has to be seen of it to say that somebody waits for ever.
 *
 * The circle closes if the world ends where it began, up to the renaming of numbers that grow; it is fair if everything that
 * a fair system does some time (world_channel()), and that is possible all the way round, is done in it. */
#ifndef SCENARIO_LASSO_H
#define SCENARIO_LASSO_H

#include "scenario/run.h"

struct canon;

/* The properties that such a run violates. */
#define LASSO_ALWAYS "can_always_be_served"
#define LASSO_FAIR "served_under_weak_fairness"

#define LASSO_CHANNELS_MAX 256

struct lasso {
    struct canon *canon;
    uint64_t fingerprint; /* where the circle begins */
    uint64_t begin;       /* steps before it */
    uint64_t steps;       /* of the circle, so far */
    uint32_t waiting;     /* processes that have waited all the time */
    int channels;         /* possible all the time, so far */
    char channel[LASSO_CHANNELS_MAX][WORLD_LABEL_MAX];
    bool taken[LASSO_CHANNELS_MAX];
    int hopeless;      /* a process that is never served any more, as the search has found; -1 = nobody */
    uint64_t stuck_at; /* after so many steps */
};

void lasso_init(struct lasso *lasso);
void lasso_close(struct lasso *lasso);

/* Both, as a mask of positions. */
check_mask lasso_properties(void);

/* The processes that wait now, a bit each. */
uint32_t lasso_waiting(const struct run *run);

/* The circle begins here, and nothing fails any more (world_end_faults()). Returns false if states cannot be renamed, or memory is short. */
bool lasso_begin(struct lasso *lasso, struct run *run);

/* Before an action of the circle, and at its end: notes what is possible. `action` is NULL at the end. */
void lasso_note(struct lasso *lasso, struct run *run, const struct action *action);

/* After the last action: NULL if somebody waits for ever, otherwise why not, half a sentence. */
const char *lasso_flaw(struct lasso *lasso, struct run *run, char *text, size_t size);

/* Notes in the run's findings what is violated. */
void lasso_conclude(const struct lasso *lasso, struct run *run);

/* The choice that says from where on a process cannot be served, and back: its index or -1. */
void lasso_mark(const struct run *run, int process, char text[WORLD_LABEL_MAX]);
int lasso_read_mark(const struct run *run, const char *label);

#endif
