/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_NO_WATCH_LEFT_BEHIND_H
#define TESTS_CHECK_REFERENCE_NO_WATCH_LEFT_BEHIND_H

#include <check/reference/questions.h>

/* The watches of a process that stand: for each kind how many. */
static void count_watches(const struct trace_list *list, int i, int process, int count[EVENT_WATCH_OTHER + 1])
{
    struct event watch[EVENTS_MAX];
    int watches = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            watches = 0;
        if (event->process != process)
            continue;
        if (event->kind == EVENT_WATCH_SET)
            watch[watches++] = *event;
        if (event->kind != EVENT_WATCH_GONE)
            continue;
        /* Of the same node: one of the same kind, or else of the first kind that there is. */
        int gone = -1;
        for (int w = 0; w < watches; w++) {
            bool better = gone < 0 || (watch[w].code == event->code && watch[gone].code != event->code) ||
                          (watch[gone].code != event->code && watch[w].code < watch[gone].code);
            if (watch[w].zxid == event->zxid && better)
                gone = w;
        }
        if (gone >= 0)
            watch[gone] = watch[--watches];
    }
    for (int w = 0; w < watches; w++)
        count[watch[w].code]++;
}

static bool leaves_a_watch(const struct trace_list *list, int i)
{
    for (int process = 0; process < PROCESSES && list->event[i].kind == EVENT_REST; process++) {
        int count[EVENT_WATCH_OTHER + 1] = {0};
        count_watches(list, i, process, count);
        int waiting = count_claims(list, i, 0, process, true, false);
        int held = count_claims(list, i, 0, process, false, true);
        int forward = count[EVENT_WATCH_PREDECESSOR] + count[EVENT_WATCH_PARENT];
        if (acts(list, i, process) && (forward > waiting || count[EVENT_WATCH_OWN] > 2 * waiting + held ||
                                       count[EVENT_WATCH_OTHER] > 0))
            return true;
    }
    return false;
}

#endif
