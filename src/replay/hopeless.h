/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whether a process that waits can still be served: all that can happen from here on, looked through. */
#ifndef REPLAY_HOPELESS_H
#define REPLAY_HOPELESS_H

#include "scenario/run.h"

#define HOPELESS_STATES_MAX 20000

enum hopeless_answer {
    HOPELESS_YES,     /* in no state that can be reached without further faults it has its answer */
    HOPELESS_NO,      /* in some it has */
    HOPELESS_UNKNOWN, /* there are too many, or memory is short, or states cannot be renamed */
};

/* The run's world is afterwards as it was, and nothing is told or judged. *states gets the number of different states, up to
 * renaming, that were looked at. */
enum hopeless_answer hopeless_judge(struct run *run, int process, int *states);

#endif
