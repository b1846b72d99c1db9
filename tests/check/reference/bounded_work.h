/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_BOUNDED_WORK_H
#define TESTS_CHECK_REFERENCE_BOUNDED_WORK_H

#include "check/reference/questions.h"

#define REQUESTS_MAX 64
#define CONTENDERS_MAX 3
#define WINDOW_MS 4000

/* Returns whether the event happens to a process or, without one, to the servers. */
static bool happens(const struct event *event)
{
    return event->kind == EVENT_LINK_UP || event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
           event->kind == EVENT_RESUMED || event->kind == EVENT_CRASHED || event->kind == EVENT_STOPPED ||
           event->kind == EVENT_FAULT;
}

static bool meets(const struct event *event, int process)
{
    return event->process == process || event->process == EVENT_PROCESS_NONE;
}

static bool is_reason(const struct event *event, int process, bool timed)
{
    switch (event->kind) {
    case EVENT_REST:
        return true;
    case EVENT_ASKED:
    case EVENT_GRANTED:
    case EVENT_FAILED:
    case EVENT_CANCELED:
    case EVENT_RELEASED:
    case EVENT_FREED:
    case EVENT_LOCK_CLOSED:
    case EVENT_WOKEN:
        return event->process == process;
    case EVENT_SETTLED:
        return event->process == process && !timed;
    case EVENT_FAULT:
        return event->process == EVENT_PROCESS_NONE || (event->process == process && timed);
    default:
        return happens(event) && meets(event, process);
    }
}

static bool is_counted(const struct event *event, int process)
{
    return event->kind == EVENT_REQUEST && event->code != EVENT_REQUEST_SYNC && event->process == process;
}

/* Returns how many owners wait again by event k. */
static int count_begun_again(const struct trace_list *list, int k, int process)
{
    int count = 0;
    for (int owner = 0; owner < OWNERS; owner++)
        count += waits_again_by(list, k, 0, process, owner);
    return count;
}

/* Returns how many requests the process has sent after its last reason, event i included. With a clock only
 * those of the present window count. */
static int requests_without_reason(const struct trace_list *list, int i, int process)
{
    int count = 0;
    int64_t since = 0;
    for (int k = 0; k <= i; k++) {
        const struct event *event = &list->event[k];
        if (is_reason(event, process, list->timed) || count_begun_again(list, k, process) > 0)
            count = event->kind == EVENT_WOKEN && !list->timed ? 1 : 0;
        if (!is_counted(event, process))
            continue;
        if (count == 0 || (list->timed && event->now_ms - since > WINDOW_MS)) {
            count = 0;
            since = event->now_ms;
        }
        count++;
    }
    return count;
}

/* Returns how many contenders of the process stand, without those of its holds. */
static int count_standing(const struct trace_list *list, int i, int process)
{
    int count = 0;
    for (int k = 0; k < i; k++)
        count += list->event[k].process == process && creates_one_that_stands(list, k, i) &&
                 !is_held_by(list, i, list->event[k].zxid, process, -1);
    return count;
}

static bool renews(const struct trace_list *list, int k, int process)
{
    const struct event *event = &list->event[k];
    bool of_link = (event->kind == EVENT_LINK_UP || event->kind == EVENT_LINK_DOWN) &&
                   event->process == process && !list->timed;
    return happens(event) && meets(event, process) && !of_link;
}

static bool is_in_outage(const struct trace_list *list, int i)
{
    bool lasts = false;
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_OUTAGE)
            lasts = list->event[k].code != 0;
    return lasts;
}

/* Returns how many contenders the process may create at event i; -1 = it is not known what it was asked. */
static int allowed(const struct trace_list *list, int i, int process)
{
    int result = -1;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        int waiting = count_claims(list, k, 0, process, true, false);
        int after = count_claims(list, k + 1, 0, process, true, false);
        bool own = event->process == process;
        if (own && event->kind == EVENT_ASKED)
            result = (result < 0 ? 0 : result) + CONTENDERS_MAX;
        else if (count_begun_again(list, k, process) > 0)
            result = (result < 0 ? 0 : result) + CONTENDERS_MAX * count_begun_again(list, k, process);
        else if (result < 0)
            continue;
        else if (own && event->kind == EVENT_NODE_CREATED && event->code == 1)
            result -= result > 0 && !is_in_outage(list, k);
        else if (own && ((event->kind == EVENT_GRANTED && after == 0) || ends_process(event, process) ||
                         (event->kind == EVENT_SETTLED && waiting == 0)))
            result = -1;
        else if (own && event->kind == EVENT_GRANTED)
            result = result < CONTENDERS_MAX * after ? result : CONTENDERS_MAX * after;
        else if (renews(list, k, process)) {
            int standing = count_standing(list, k, process);
            int least = CONTENDERS_MAX * waiting - (standing < waiting ? standing : waiting);
            result = result < least ? least : result;
        }
    }
    return result;
}

static bool works_without_bound(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind == EVENT_REQUEST)
        return is_counted(event, event->process) &&
               requests_without_reason(list, i, event->process) > REQUESTS_MAX;
    return event->kind == EVENT_NODE_CREATED && event->code == 1 && !is_in_outage(list, i) &&
           allowed(list, i, event->process) == 0;
}

#endif
