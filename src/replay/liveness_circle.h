/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replays of runs that go round: of a lasso. Choices that are marks say from where on a waiter is hopeless
 * (never served again), and where the circle begins. The last choice leads back to the circle's beginning. */
#ifndef REPLAY_LIVENESS_CIRCLE_H
#define REPLAY_LIVENESS_CIRCLE_H

#include "replay/hopeless_check.h"
#include "scenario/lasso.h"

struct round {
    struct lasso lasso;
    bool goes; /* the run is in the circle */
    char flaw[WORLD_LABEL_MAX + 80];
};

/* Begins a run. The struct is zero before the first run. */
void round_start(struct round *round);
void round_close(struct round *round);

/* Return whether the label of a choice without an index is a mark, and whether it is the mark of a circle. */
bool round_is_mark(const char *label);
bool round_is_circle(const char *label);

/* Passes a mark that says that a waiter is never served again. With `asks`, searches all states that can
 * follow, and sets *states to their number. Otherwise returns HOPELESS_UNKNOWN. Returns HOPELESS_NO also if
 * the run has no such waiter. Unless the answer is HOPELESS_NO, the lasso gets the waiter and this moment. */
enum hopeless_answer round_hopeless(struct round *round, struct run *run, const char *label, bool asks,
                                    int *states);

/* As round_hopeless() with `asks`. Returns whether the answer is HOPELESS_YES; forgets the mark if not. */
bool round_is_hopeless(struct round *round, struct run *run, const char *label);

/* Begins the circle in the present state. Returns false if states cannot be renamed or memory is short. */
bool round_begin(struct round *round, struct run *run);

/* Notes the possible channels and the waiters that wait before this action is done. Has no effect outside of
 * the circle. */
void round_step(struct round *round, struct run *run, const struct action *action);

/* Ends the circle behind its last action. Returns NULL, with violations in the run's findings. If the circle
 * shows nothing, returns a clause with the reason. */
const char *round_end(struct round *round, struct run *run);

#endif
