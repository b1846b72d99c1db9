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
#include "trace/event.h"

struct narrator;

/* `show` is a mask SHOW_…; `indent` blanks stand before each line; times are printed if `timed`. The scenario
 * must outlive the narrator. NULL if memory is short. */
struct narrator *narrator_open(const struct scenario *scenario, unsigned show, bool timed, int indent);
void narrator_close(struct narrator *narrator);

/* Adds the line of an event, if it is to be shown. */
void narrator_event(struct narrator *narrator, const struct event *event);

/* Adds a line that is no event: `verb` and the words behind it. */
void narrator_note(struct narrator *narrator, int64_t now_ms, const char *verb, const char *words);

/* Adds what a process has written for a look inside, as lines `a prints   TEXT`. A line that is not ended yet goes on
 * with what the same process writes next, unless an event comes between. Control characters become blanks. */
void narrator_output(struct narrator *narrator, int process, const char *text, size_t size);

/* What was narrated since the last narrator_clear(); ends with a line end unless empty. */
const char *narrator_text(struct narrator *narrator);
void narrator_clear(struct narrator *narrator);

/* Forgets all it knows of the run: the next event is the first of another. */
void narrator_reset(struct narrator *narrator);

/* "timeout", "busy"…: the short name of an enum ls_err in traces. */
const char *narrator_rc_name(int rc);

#endif
