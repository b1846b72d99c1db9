/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A replayed run as a list: its choices, and the events behind each. */
#ifndef EXPLAIN_STORY_H
#define EXPLAIN_STORY_H

#include "replay/replay.h"

struct story_choice {
    char label[WORLD_LABEL_MAX];
    char remark[WORLD_LABEL_MAX]; /* the answer that a delivery brings, see world_remark() */
    uint64_t step;                /* number of the action; 0 = the beginning, or no action */
    struct action action;         /* valid if `step` is not 0 */
    bool fault;          /* it breaks something; neither the end of a fault, nor an expiry that is due */
    int first, events;   /* in the list of events */
    check_mask violated; /* properties that are violated from here on */
};

struct story {
    struct story_choice *choice; /* owned; choice[0] is the beginning, choice[i] the i-th of the trace */
    struct event *event;         /* owned; without paths */
    int choices, events;
    size_t choices_max, events_max;
    check_mask violated, declared; /* by the run, and by its scenario */
    struct check_stats stats;      /* at the end */
    uint64_t steps;
    bool refused;    /* memory was short */
    struct run *run; /* only while it is replayed */
};

/* Replays a trace into a story, which the caller closes always. Returns the result of the replay;
 * REPLAY_UNFIT also if memory is short. */
enum replay_result story_read(struct story *story, const struct trace *trace, struct input_error *error);
void story_close(struct story *story);

#endif
