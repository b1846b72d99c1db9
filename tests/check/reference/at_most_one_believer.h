/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_AT_MOST_ONE_BELIEVER_H
#define TESTS_CHECK_REFERENCE_AT_MOST_ONE_BELIEVER_H

#include "check/reference/questions.h"

static bool waits_or_holds(const struct trace_list *list, int i, int process)
{
    return count_claims(list, i, 0, process, true, true) > 0;
}

/* Returns whether the operator deleted the node by which the owner holds, while its process waited or held.
 * After that the process must not have ended, nor asked at a moment when it neither waited nor held. */
static bool is_belief_void(const struct trace_list *list, int i, int process, int owner)
{
    int grant = holding(list, i, 0, process, owner);
    for (int k = i - 1; k >= 0 && grant >= 0; k--) {
        const struct event *event = &list->event[k];
        bool anew = event->kind == EVENT_ASKED && event->process == process;
        if (ends_process(event, process) || (anew && !waits_or_holds(list, k, process)))
            return false;
        if (event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner == EVENT_BY_OPERATOR &&
            event->process == process && event->zxid == node_of(list, grant) &&
            waits_or_holds(list, k, process))
            return true;
    }
    return false;
}

static bool believes_at(const struct trace_list *list, int i, int process, int owner)
{
    bool believes = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process) || (event->kind == EVENT_DOUBTS && is_of(event, 0, process, owner)))
            believes = false;
        if (event->kind == EVENT_BELIEVES && is_of(event, 0, process, owner))
            believes = true;
    }
    return believes;
}

static bool believes_beside_another(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind != EVENT_BELIEVES || believes_at(list, i, event->process, event->owner) ||
        is_belief_void(list, i, event->process, event->owner))
        return false;
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++)
            if ((process != event->process || owner != event->owner) &&
                believes_at(list, i, process, owner) && !is_belief_void(list, i, process, owner))
                return true;
    return false;
}

#endif
