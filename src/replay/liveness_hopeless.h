/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The question whether a waiting process can still be served, by a search of all that can follow. */
#ifndef REPLAY_LIVENESS_HOPELESS_H
#define REPLAY_LIVENESS_HOPELESS_H

#include "scenario/run.h"

#define HOPELESS_STATES_MAX 20000

enum hopeless_answer {
    HOPELESS_YES,     /* the process waits in all states that can be reached without further faults */
    HOPELESS_NO,      /* it does not wait in one of them */
    HOPELESS_UNKNOWN, /* too many states, too little memory, or states that cannot be renamed */
};

/* Searches all that can follow, and puts the run's world back; judges see nothing. Sets *states to the number
 * of different states, up to renaming. */
enum hopeless_answer hopeless_judge(struct run *run, int process, int *states);

#endif
