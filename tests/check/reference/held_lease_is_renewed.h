/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_HELD_LEASE_IS_RENEWED_H
#define TESTS_CHECK_REFERENCE_HELD_LEASE_IS_RENEWED_H

#include "check/reference/questions.h"

static bool lets_a_lease_run_out(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    for (int n = 0; n < PROCESSES * OWNERS && event->kind == EVENT_REST; n++) {
        int grant = holding(list, i, 0, n / OWNERS, n % OWNERS);
        if (grant >= 0 && acts(list, i, n / OWNERS) && !stands(list, i, 0, node_of(list, grant)))
            return true;
    }
    return event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner == EVENT_BY_TIME &&
           is_held_by(list, i, event->zxid, -1, -1);
}

#endif
