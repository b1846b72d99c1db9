/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replays of runs that go round. Marks in the list of choices say from where on a process is never served,
 * and where the circle begins. The last choice leads back to its beginning. */
#ifndef REPLAY_LIVENESS_CIRCLE_H
#define REPLAY_LIVENESS_CIRCLE_H

#include "replay/liveness_hopeless.h"
#include "scenario/lasso.h"

struct round {
    struct lasso lasso;
    bool goes; /* the choices of the circle are being done */
    char flaw[WORLD_LABEL_MAX + 80];
};

/* Begin a run; free what it holds. The struct is zero at first. */
void round_start(struct round *round);
void round_close(struct round *round);

/* Return whether the label of a choice without index is a mark; and whether it is the mark of a circle. */
bool round_is_mark(const char *label);
bool round_is_circle(const char *label);

/* Passes the mark from which on a process is never served. With `asks` searches all that can follow, *states
 * states; otherwise the answer is HOPELESS_UNKNOWN. HOPELESS_NO = it can be served, or the run has no such
 * process. */
enum hopeless_answer round_hopeless(struct round *round, struct run *run, const char *label, bool asks,
                                    int *states);

/* Does the same with `asks`, and returns whether the answer is HOPELESS_YES; otherwise marks nothing. */
bool round_is_hopeless(struct round *round, struct run *run, const char *label);

/* Begins the circle. Returns false if states cannot be renamed or memory is short. */
bool round_begin(struct round *round, struct run *run);

/* Notes what is possible before an action; without effect outside of the circle. */
void round_step(struct round *round, struct run *run, const struct action *action);

/* Ends the circle behind its last action. Returns NULL, with violations in the run's findings; or, as half a
 * sentence, why the circle shows nothing. */
const char *round_end(struct round *round, struct run *run);

#endif
