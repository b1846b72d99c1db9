/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Doing a run again that goes round: its list of choices holds marks, from where on somebody can no longer be served and where
 * the circle begins; the last choice leads back there. */
#ifndef REPLAY_ROUND_H
#define REPLAY_ROUND_H

#include "replay/hopeless.h"
#include "scenario/lasso.h"

struct round {
    struct lasso lasso;
    bool goes; /* the choices are those of the circle now */
    char flaw[WORLD_LABEL_MAX + 80];
};

/* Zero-initialise before. round_start(): a run begins. */
void round_start(struct round *round);
void round_close(struct round *round);

/* Whether the text of a choice that has no index is such a mark, and which. */
bool round_is_mark(const char *label);
bool round_is_circle(const char *label);

/* Passes the mark from which on a process cannot be served. With `asks` all that can follow is looked through for it, *states
 * states; without it the answer is HOPELESS_UNKNOWN. It is HOPELESS_NO if the run has no such process. */
enum hopeless_answer round_hopeless(struct round *round, struct run *run, const char *label, bool asks,
                                    int *states);

/* The same, if that can be seen in all that can follow; otherwise nothing is marked. */
bool round_is_hopeless(struct round *round, struct run *run, const char *label);

/* The circle begins. False if states cannot be renamed, or memory is short. */
bool round_begin(struct round *round, struct run *run);

/* Before each action; matters in the circle alone. */
void round_step(struct round *round, struct run *run, const struct action *action);

/* After the last: NULL, and what is violated stands in the run's findings; otherwise why it shows nothing, half a sentence. */
const char *round_end(struct round *round, struct run *run);

#endif
