/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_BELIEF_ENDS_IN_TIME_H
#define TESTS_CHECK_REFERENCE_BELIEF_ENDS_IN_TIME_H

#include "check/reference/questions.h"

/* Returns the last grant of the owner's term before event i; -1 = it has no term. */
static int term_of(const struct trace_list *list, int i, int lock, int process, int owner, bool *believes)
{
    int term = -1;
    bool ended = false;
    *believes = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (is_of(event, lock, process, owner) && event->kind == EVENT_GRANTED) {
            term = k;
            ended = false;
        }
        if (is_of(event, lock, process, owner) && event->kind == EVENT_BELIEVES)
            *believes = term >= 0;
        if (is_of(event, lock, process, owner) && event->kind == EVENT_DOUBTS)
            *believes = false;
        ended |= (event->kind == EVENT_RELEASED && event->code == 0 && is_of(event, lock, process, owner)) ||
                 (event->kind == EVENT_LOST && event->process == process);
        if (ends_process(event, process) || (ended && !*believes)) {
            term = -1;
            ended = *believes = false;
        }
    }
    return term;
}

static bool is_over(const struct trace_list *list, int i, int process, int64_t session)
{
    bool over = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_SESSION_CLOSING && event->code == 1 && event->session == session)
            over = true;
        if (event->kind == EVENT_EXPIRED || ends_process(event, process) ||
            (event->kind == EVENT_LINK_UP && event->session != session))
            over = false;
    }
    return over;
}

/* Returns whether the process's lease has run out before event i, and it has had no other node after that. */
static bool has_run_out(const struct trace_list *list, int i, int lock, int process)
{
    bool over = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool node =
            (event->kind == EVENT_NODE_CREATED || event->kind == EVENT_NODE_DELETED) && event->code == 1;
        if (node && event->lock == lock && event->process == process)
            over = event->kind == EVENT_NODE_DELETED && event->owner == EVENT_BY_TIME;
        if (ends_process(event, process))
            over = false;
    }
    return over;
}

static bool believes_too_long(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    bool believes;
    bool runs_out = event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner == EVENT_BY_TIME;
    if (!list->timed || (event->kind != EVENT_BELIEVES && event->kind != EVENT_SESSION_CLOSING && !runs_out))
        return false;
    if (event->kind == EVENT_BELIEVES) {
        int term = term_of(list, i, event->lock, event->process, event->owner, &believes);
        return term >= 0 && (is_over(list, i, event->process, list->event[term].session) ||
                             has_run_out(list, i, event->lock, event->process));
    }
    for (int owner = 0; owner < OWNERS && event->code == 1; owner++) {
        int term = term_of(list, i, runs_out ? event->lock : 0, event->process, owner, &believes);
        if (term >= 0 && believes && (runs_out || list->event[term].session == event->session))
            return true;
    }
    return false;
}

#endif
