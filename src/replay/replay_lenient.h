/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A run that follows a list of labels, also with another recipe than that with which the list was recorded.
 *
 * Labels are looked up among the enabled actions, as in a replay (D4). If a label is not enabled, default
 * steps are tried to enable it; if they do not, it is left out. Behind the first label that is not enabled,
 * no mark is passed, and no circle closes. Behind the list the programs of an exploring scenario go on, all
 * faults end, and properties of rest are judged. An exploring scenario keeps its programs and budgets. */
#ifndef REPLAY_REPLAY_LENIENT_H
#define REPLAY_REPLAY_LENIENT_H

#include "scenario/run.h"

#define FOLLOW_DRIFT_MAX 512

struct followed {
    int fits;                     /* number of labels before the first that was not enabled */
    int left_out;                 /* number of labels that were not done */
    char drift[FOLLOW_DRIFT_MAX]; /* that first label, with the reason; empty = none */
};

/* Begins the run anew, and does it to its end. If a property of the mask is violated within the list, or the
 * world is in trouble, does nothing behind the list. `labels` ends with NULL. Findings of the judges are in
 * run->stats. */
void follow(struct run *run, const char *const *labels, check_mask mask, struct followed *followed);

#endif
