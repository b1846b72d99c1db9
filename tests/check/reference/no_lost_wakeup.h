/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_NO_LOST_WAKEUP_H
#define TESTS_CHECK_REFERENCE_NO_LOST_WAKEUP_H

#include "check/reference/questions.h"

/* Returns whether some owner holds, and the node of its hold stands. */
static bool is_held_at(const struct trace_list *list, int i)
{
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++)
            if (holds_standing(list, i, process, owner))
                return true;
    return false;
}

/* Returns whether a contender of a former life of its process stands, by which no owner holds. */
static bool is_left_behind(const struct trace_list *list, int i)
{
    for (int k = 0; k < i && list->leases && !list->timed; k++)
        if (creates_one_that_stands(list, k, i) &&
            is_of_ended_life(list, i, list->event[k].process, list->event[k].session) &&
            !is_held_by(list, i, list->event[k].zxid, -1, -1))
            return true;
    return false;
}

static bool sleeps_beside_a_free_lock(const struct trace_list *list, int i)
{
    bool waiter = false;
    for (int process = 0; process < PROCESSES; process++)
        waiter |= waits(list, i, 0, process) && acts(list, i, process);
    if (list->event[i].kind == EVENT_REST && waiter && is_left_behind(list, i))
        return true;
    if (list->event[i].kind != EVENT_REST || !waiter || is_held_at(list, i))
        return false;
    int first = first_in_line_of(list, i, 0);
    int process = first >= 0 ? list->event[first].process : 0;
    return first < 0 || (acts(list, i, process) && is_up_with(list, i, process, list->event[first].session));
}

#endif
