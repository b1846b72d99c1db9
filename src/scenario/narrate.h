/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semantic events as lines of text with stable columns: the expected part of a scenario, the story of a
 * replay.
 *
 *     [   40ms] b waiting  behind=a
 *
 * A narrator never allocates after it was opened: it is called from inside a world's steps. */
#ifndef SCENARIO_NARRATE_H
#define SCENARIO_NARRATE_H

#include "scenario/scenario.h"
#include "trace/event_names.h"

struct narrator;

/* Opens a narrator. `show` is a mask of SHOW_…; each line begins with `indent` blanks; times are printed if
 * `timed`. The scenario must outlive the narrator. Returns NULL if memory is short. */
struct narrator *narrator_open(const struct scenario *scenario, unsigned show, bool timed, int indent);
void narrator_close(struct narrator *narrator);

void narrator_event(struct narrator *narrator, const struct event *event);

/* Adds a line that is no event: `verb`, then `words`. */
void narrator_note(struct narrator *narrator, int64_t now_ms, const char *verb, const char *words);

/* Adds output of a process as lines `a prints TEXT`, with blanks for characters below 0x20. An unfinished
 * line continues with the next output of this process, unless another line comes between. */
void narrator_output(struct narrator *narrator, int process, const char *text, size_t size);

/* Returns the text since the last narrator_clear(); it ends with a line end unless it is empty or was cut
 * off. */
const char *narrator_text(struct narrator *narrator);
void narrator_clear(struct narrator *narrator);

/* Forgets all data of the run, so that the next event is the first of another run. */
void narrator_reset(struct narrator *narrator);

/* Returns the name of an enum event_request in traces: "create", "list". A number that is none is "other". */
const char *narrator_request_name(int request);

/* Returns the short name of an enum ls_err in traces: "timeout", "busy"… */
const char *narrator_rc_name(int rc);

#endif
