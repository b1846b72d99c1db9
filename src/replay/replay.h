/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replays a trace: the same run again (D4). Labels are looked up among the enabled actions; the numbers
 * beside them in the trace are not used for that. A label that is not enabled ends the replay. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "scenario/run.h"

#define REPLAY_INDENT 7 /* columns of blanks before a line of a step's text */

enum replay_result {
    REPLAY_HOLDS,    /* the run came to its end, and violates nothing */
    REPLAY_VIOLATED, /* the run violates a property */
    REPLAY_UNFIT,    /* the run cannot be replayed here; *error says where and why */
};

/* Reads the scenario of a trace, which the caller closes, and fills in the setup, which points to the
 * scenario. Returns 0; or -1 with the complaint in *error and nothing to close. */
int replay_setup(const struct trace *trace, struct scenario *scenario, struct run_setup *setup,
                 struct input_error *error);

/* A choice of a replay, and all that followed from it. Pointers are valid during the call. */
struct replay_step {
    const char *label;           /* label of the choice; empty = the beginning of the run */
    const char *remark;          /* what the choice brings, see world_remark(); empty = nothing to say */
    uint64_t number;             /* of the action in its run, from 1; 0 = the choice is no action */
    const struct action *action; /* NULL = the choice is no action */
    const char *note;            /* line about a mark, for people; empty = none */
    const char *text;            /* the narrator's lines of the events, each ends with a line end */
    const struct event *event;   /* events that followed, `events` of them, in their order */
    int events;
    check_mask violated; /* properties that were not violated before this step, and are now */
};

/* Calls of a replay to its listener, with its `ctx`. Each function may be NULL. */
struct replay_listener {
    void *ctx;
    void (*begin)(void *ctx, const struct trace *trace, struct run *run); /* before the first step */
    /* Before a choice is made: `label`, `remark`, `number` and `action` are set. The process may end in the
     * choice, if the recipe is linked in and crashes. */
    void (*choice)(void *ctx, const struct replay_step *step);
    void (*step)(void *ctx, const struct replay_step *step); /* after the choice, and after the beginning */
    void (*end)(void *ctx); /* after the last step, unless the trace is unfit */
};

/* Returns the position, as of check_position(), of the first property in the trace's line `found` that is in
 * the mask; -1 = none is. */
int replay_found(const struct trace *trace, check_mask violated);

/* Replays a trace and tells the listener each step. */
enum replay_result replay_run(const struct trace *trace, const struct replay_listener *listener,
                              struct input_error *error);

/* Replays a trace and prints it on `out`: lines about the trace, a line for each choice, and the verdict at
 * the end. Events and violations are indented below their choice. */
enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error);

/* ---- choice by choice ---- */

struct replay;

/* Opens a replay, of which there is one at a time. The trace, and *error for all complaints, must outlive it.
 * While the replay is open, choices of the trace may be replaced that were not done since replay_begin().
 * Returns NULL with the complaint in *error. */
struct replay *replay_open(const struct trace *trace, struct input_error *error);
void replay_close(struct replay *replay);

/* Begins the run, or begins it anew. The listener hears of it until the next replay_begin(). */
void replay_begin(struct replay *replay, const struct replay_listener *listener);

/* Returns whether all choices were done, and the circle of a lasso is closed. */
bool replay_ended(const struct replay *replay);

/* Does the next choice, or closes the circle. Must not be called if replay_ended(), or before replay_begin().
 * Returns REPLAY_HOLDS; or REPLAY_UNFIT with the complaint in *error, after which only replay_begin() and
 * replay_close() may follow. */
enum replay_result replay_next(struct replay *replay);

/* Returns whether the choice with this index is an action, and no mark and no question for rest. */
bool replay_is_action(const struct replay *replay, int index);

/* ---- the text of a replay ---- */

/* Print the parts of replay_trace():
 *
 * - the lines about the trace,
 * - the line of a choice,
 * - the events and violations that followed,
 * - the verdict at the end of the run. */
void replay_print_head(FILE *out, const struct trace *trace);
void replay_print_choice(FILE *out, const struct replay_step *step);
void replay_print_step(FILE *out, const struct replay_step *step, const struct run *run);
void replay_print_end(FILE *out, const struct run *run);

#endif
