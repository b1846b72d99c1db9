/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A run that follows a list of labels as far as it fits, and from there on as well as it can. It is for
 * another recipe than the one with which the list was recorded.
 *
 * Labels are looked up among the enabled actions, as in a replay (D4). If a label is not possible, default
 * steps may make it so; otherwise it is left out. If the list goes round, the circle has to close as it
 * stands. Behind the list the programs go on, all faults end, and properties of rest are judged. An exploring
 * scenario keeps its programs and budgets. */
#ifndef REPLAY_REPLAY_LENIENT_H
#define REPLAY_REPLAY_LENIENT_H

#include "scenario/run.h"

#define FOLLOW_DRIFT_MAX 512

struct followed {
    int fits;                     /* number of labels, from the first on, that were done as they stand */
    int left_out;                 /* number of other labels that could not be done */
    char drift[FOLLOW_DRIFT_MAX]; /* first label that did not fit, and why; empty if all fit */
};

/* Begins the run of its setup, and does it to its end. If the list itself violates a property of the mask,
 * the run ends with the list. Labels end with NULL. Findings of the judges are in run->stats. */
void follow(struct run *run, const char *const *labels, check_mask mask, struct followed *followed);

#endif
