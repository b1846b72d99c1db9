/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_NO_WATCH_LEFT_BEHIND_H
#define TESTS_CHECK_REFERENCE_NO_WATCH_LEFT_BEHIND_H

#include "check/reference/questions.h"

static void count_watches(const struct trace_list *list, int i, int process, int count[EVENT_WATCH_OTHER + 1])
{
    struct event watch[EVENTS_MAX];
    int watches = watches_of(list, i, process, watch);
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
