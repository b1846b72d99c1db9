/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_AT_MOST_ONE_WAKEUP_PER_RELEASE_H
#define TESTS_CHECK_REFERENCE_AT_MOST_ONE_WAKEUP_PER_RELEASE_H

#include "check/reference/questions.h"

static bool watches_others(const struct trace_list *list, int i, int process)
{
    struct event watch[EVENTS_MAX];
    int count = watches_of(list, i, process, watch);
    for (int w = 0; w < count; w++)
        if (watch[w].code == EVENT_WATCH_PREDECESSOR || watch[w].code == EVENT_WATCH_PARENT)
            return true;
    return false;
}

/* Returns the number of the directory in which the contender of event i was created. */
static int directory_of(const struct trace_list *list, int i)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_NODE_CREATED && list->event[k].code == 1 &&
            list->event[k].zxid == list->event[i].zxid)
            return list->event[k].owner;
    return 0;
}

/* Returns whether the deletion of event i fires a watch of the process. Nodes of a directory fire the watches
 * on its list. A watch of the node's own session counts only if it is on a list, and if a request deleted the
 * node. */
static bool is_woken_by(const struct trace_list *list, int i, int process)
{
    const struct event *gone = &list->event[i];
    struct event watch[EVENTS_MAX];
    int count = watches_of(list, i, process, watch);
    for (int w = 0; w < count; w++) {
        bool on_list = watch[w].code == EVENT_WATCH_PARENT && watch[w].owner == directory_of(list, i);
        bool on_node = watch[w].code == EVENT_WATCH_PREDECESSOR || watch[w].code == EVENT_WATCH_OWN;
        bool of_another = watch[w].zxid == gone->zxid && watch[w].session != gone->session;
        bool over = watch[w].session == gone->session && gone->owner == 0;
        if (watch[w].session != 0 && !over && (on_list || (on_node && of_another)))
            return true;
    }
    return false;
}

/* Returns whether the operator deleted a contender of the process, and the process has waited ever since. */
static bool has_lost_a_contender(const struct trace_list *list, int i, int process)
{
    bool lost = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool evicts = event->kind == EVENT_NODE_DELETED && event->code == 1 &&
                      event->owner == EVENT_BY_OPERATOR && event->process == process;
        lost = (lost || evicts) && waits(list, k, 0, process) && waits(list, k + 1, 0, process);
    }
    return lost;
}

/* Returns whether the process has left the line, until it has no request and no watch on others left. */
static bool has_left(const struct trace_list *list, int i, int process)
{
    bool left = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        bool deleted = event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner == 1 + process;
        if (event->kind == EVENT_FAILED || (deleted && waits(list, k, 0, process)))
            left = true;
        if (ends_process(event, process) ||
            (event->kind == EVENT_SETTLED && !watches_others(list, k, process)))
            left = false;
    }
    return left;
}

static bool wakes_more_than_one(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    int count = 0;
    for (int process = 0; process < PROCESSES && event->kind == EVENT_NODE_DELETED && event->code == 1;
         process++)
        count += is_woken_by(list, i, process) && waits(list, i, 0, process) && !has_left(list, i, process) &&
                 !has_lost_a_contender(list, i, process);
    return count > 1;
}

#endif
