/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_NO_STALE_EFFECT_H
#define TESTS_CHECK_REFERENCE_NO_STALE_EFFECT_H

#include "check/reference/questions.h"

/* Returns the newest token before event i that was granted, or accepted by the resource; 0 = none. */
static int64_t newest_token(const struct trace_list *list, int i, int kind)
{
    int64_t newest = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->kind != kind || (kind == EVENT_EFFECT && event->code != 1))
            continue;
        if (!is_deeper(list, k) && event->zxid > newest)
            newest = event->zxid;
    }
    return newest;
}

/* Returns whether another owner holds by the node that the token of event i names. */
static bool is_token_of_another(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++) {
            int grant = holding(list, i, 0, process, owner);
            if (grant >= 0 && (process != event->process || owner != event->owner) &&
                node_of(list, grant) == event->zxid)
                return true;
        }
    return false;
}

static bool acts_under_an_outlived_grant(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind != EVENT_GRANTED && event->kind != EVENT_EFFECT)
        return false;
    int64_t granted = newest_token(list, i, EVENT_GRANTED);
    if (event->kind == EVENT_GRANTED) {
        bool stale = standing_node_of(list, i) != 0 && event->zxid < granted;
        return event->zxid != 0 && !is_deeper(list, i) &&
               (event->zxid == granted || is_token_of_another(list, i) || stale);
    }
    if (event->code == 1)
        return event->zxid < newest_token(list, i, EVENT_EFFECT) ||
               (event->cause != 0 && !stands(list, i, 0, event->cause));
    for (int owner = 0; owner < OWNERS && event->zxid == granted; owner++)
        if (holds_standing(list, i, event->process, owner))
            return true;
    return false;
}

#endif
