/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_NO_ORPHAN_NODE_H
#define TESTS_CHECK_REFERENCE_NO_ORPHAN_NODE_H

#include "check/reference/questions.h"

/* Returns how many nodes of connected sessions of the process stand. */
static int count_nodes(const struct trace_list *list, int i, int process)
{
    int count = 0;
    for (int k = 0; k < i; k++)
        count += list->event[k].process == process && creates_one_that_stands(list, k, i) &&
                 is_up_with(list, i, process, list->event[k].session);
    return count;
}

/* Returns how many releases of the process ended a hold and have no FREED. */
static int count_owed(const struct trace_list *list, int i, int process)
{
    int owed = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_RELEASED && event->code == 0)
            owed++;
        if (event->kind == EVENT_FREED && owed > 0)
            owed--;
        if (ends_process(event, process))
            owed = 0;
    }
    return owed;
}

/* Returns whether the process must have no node if it says that it is idle. */
static bool must_have_no_node(const struct trace_list *list, int i, int process)
{
    return acts(list, i, process) && !link_of(list, i, process).apart &&
           !had_fault_of_more_than_a_loss(list, i) && count_owed(list, i, process) == 0 &&
           count_claims(list, i, 0, process, true, true) == 0;
}

static bool leaves_an_orphan(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind == EVENT_NODE_CREATED)
        return event->code == 1 && event->cause == 1 && must_have_no_node(list, i, event->process) &&
               is_up_with(list, i, event->process, event->session);
    if (event->kind == EVENT_SETTLED)
        return event->code == 1 && must_have_no_node(list, i, event->process) &&
               count_nodes(list, i, event->process) > 0;
    for (int process = 0; process < PROCESSES && event->kind == EVENT_REST; process++)
        if (acts(list, i, process) &&
            count_nodes(list, i, process) > count_claims(list, i, 0, process, true, true))
            return true;
    return false;
}

#endif
