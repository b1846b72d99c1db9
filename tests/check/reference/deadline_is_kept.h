/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_DEADLINE_IS_KEPT_H
#define TESTS_CHECK_REFERENCE_DEADLINE_IS_KEPT_H

#include "check/reference/questions.h"

/* Returns whether the judge compares the time at this kind of event. */
static bool shows_the_time(const struct event *event)
{
    static const uint8_t kinds[] = {EVENT_ASKED,   EVENT_GRANTED,      EVENT_FAILED,       EVENT_RELEASED,
                                    EVENT_FREED,   EVENT_LINK_UP,      EVENT_LINK_DOWN,    EVENT_EXPIRED,
                                    EVENT_FAULT,   EVENT_NODE_CREATED, EVENT_NODE_DELETED, EVENT_PAUSED,
                                    EVENT_RESUMED, EVENT_REST,         EVENT_CRASHED,      EVENT_STOPPED};
    return memchr(kinds, event->kind, sizeof kinds) != NULL;
}

/* Returns the last ASKED of an owner that has no answer before event i, or -1. */
static int last_asked(const struct trace_list *list, int i, int process, int owner)
{
    int asked = -1;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->kind == EVENT_ASKED && is_of(event, 0, process, owner))
            asked = k;
        if (ends_process(event, process) || (is_answer(event) && is_of(event, 0, process, owner)))
            asked = -1;
    }
    return asked;
}

/* Returns whether the acquire of event `asked` is late at event i. During a pause of its process it is
 * not. */
static bool is_late_at(const struct trace_list *list, int asked, int i)
{
    const struct event *question = &list->event[asked];
    int64_t due = question->now_ms + question->code;
    bool paused = false;
    for (int k = asked + 1; k <= i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != question->process)
            continue;
        if (event->kind == EVENT_RESUMED && due < event->now_ms)
            due = event->now_ms;
        if (event->kind == EVENT_RESUMED || (event->kind == EVENT_PAUSED && k < i))
            paused = event->kind == EVENT_PAUSED;
    }
    return !paused && list->event[i].now_ms > due + TOLERANCE_MS;
}

static bool misses_a_deadline(const struct trace_list *list, int i)
{
    if (!list->timed || !shows_the_time(&list->event[i]))
        return false;
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++) {
            int asked = last_asked(list, i, process, owner);
            bool counts = asked >= 0 && timeout_of(list, asked) > 0;
            if (counts && !ends_process(&list->event[i], process) && is_late_at(list, asked, i))
                return true;
        }
    return false;
}

#endif
