/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A run that follows a list of labels for as long as it fits, and as well as it can from there on: for a recipe that is not
 * the one with which the list was recorded.
 *
 * Labels are looked up among what is possible, as in a replay (D4). One that is not possible may become so by what the
 * system does by itself within some steps; otherwise it is left out. Where the list goes round, the circle has to close as it
 * stands. Behind the list the programs go on, all faults end,
 * and what holds at rest is judged. In an exploring scenario programs and budgets stay what they are. */
#ifndef REPLAY_FOLLOW_H
#define REPLAY_FOLLOW_H

#include "scenario/run.h"

#define FOLLOW_DRIFT_MAX 512

struct followed {
    int fits;                     /* so many labels, from the first on, were done as they stand */
    int left_out;                 /* of the others */
    char drift[FOLLOW_DRIFT_MAX]; /* the first that did not fit, and why; empty if all do */
};

/* Begins the run that its setup stands for and does it to its end, or until the end of the list if a property of the mask
 * is violated by then. What the judges have found is in run->stats. Labels end with a NULL. */
void follow(struct run *run, const char *const *labels, check_mask mask, struct followed *followed);

#endif
