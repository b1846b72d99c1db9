/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The same run again. The labels of a trace are looked up among what is enabled; the integers beside them are
 * never trusted, and a label that does not fit ends the replay: a similar run would be another run (D4). */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "scenario/run.h"

enum replay_result {
    REPLAY_HOLDS,    /* the run came to its end and violates nothing */
    REPLAY_VIOLATED, /* it violates a property */
    REPLAY_UNFIT,    /* it cannot be replayed here; *error says where it drifted and why */
};

/* What the trace stands for: reads its scenario, which is the caller's to close, and fills in the setup, which
 * points to it. Returns 0, or -1 with the complaint in *error and nothing to close. */
int replay_setup(const struct trace *trace, struct scenario *scenario, struct run_setup *setup,
                 struct input_error *error);

/* Replays a trace and tells it on `out`, one line per choice, its events indented below it, at the end what
 * is violated. The same trace gives the same bytes whatever compiled the program. */
enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error);

#endif
