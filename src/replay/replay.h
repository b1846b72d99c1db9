/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replays a trace: the same run again (D4). Labels are looked up among the enabled actions; the numbers
 * beside them in the trace are not used. A label that is not enabled ends the replay. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "scenario/run.h"

enum replay_result {
    REPLAY_HOLDS,    /* the run came to its end, and violates nothing */
    REPLAY_VIOLATED, /* the run violates a property */
    REPLAY_UNFIT,    /* the run cannot be replayed here; *error says where and why it drifted */
};

/* Reads the scenario of a trace, which the caller closes, and fills in the setup, which points to the
 * scenario. Returns 0; or -1 with the complaint in *error and nothing to close. */
int replay_setup(const struct trace *trace, struct scenario *scenario, struct run_setup *setup,
                 struct input_error *error);

/* Replays a trace and prints it on `out`: a line for each choice, with its events indented below, and the
 * violations at the end. One trace gives the same bytes with every compiler. */
enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error);

#endif
