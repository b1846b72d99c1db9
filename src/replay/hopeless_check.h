/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef REPLAY_HOPELESS_CHECK_H
#define REPLAY_HOPELESS_CHECK_H

#include "scenario/run.h"

#define HOPELESS_STATES_MAX 20000

enum hopeless_answer {
    HOPELESS_YES,     /* the waiter waits in all states that can be reached without further faults */
    HOPELESS_NO,      /* in one of these states it does not wait */
    HOPELESS_UNKNOWN, /* too many states, too little memory, or states that cannot be renamed */
};

/* Answers whether a waiter, named by its place in waiters_list(), can never be served again. Searches all
 * states that can follow the present one without further faults. Sets *states to the number of different
 * states, up to renaming, that the search has kept. Judges see none of this, and the run's world is
 * restored. */
enum hopeless_answer hopeless_judge(struct run *run, int waiter, int *states);

#endif
