/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_AT_MOST_ONE_HOLDER_H
#define TESTS_CHECK_REFERENCE_AT_MOST_ONE_HOLDER_H

#include "check/reference/questions.h"

/* Returns the event before i that deleted the node of event k; -1 = the node stands. */
static int deletion_of(const struct trace_list *list, int k, int i)
{
    for (int d = k + 1; d < i; d++)
        if (list->event[d].kind == EVENT_NODE_DELETED && list->event[d].code == 1 &&
            list->event[d].zxid == list->event[k].zxid)
            return d;
    return -1;
}

/* Returns whether another owner than this one holds by another node than this one, and its node stands. -1
 * = any owner counts as another one. */
static bool another_holds(const struct trace_list *list, int i, int but_process, int but_owner, int64_t czxid)
{
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++) {
            int grant = holding(list, i, 0, process, owner);
            bool own = process == but_process && owner == but_owner;
            if (!own && holds_standing(list, i, process, owner) && node_of(list, grant) != czxid)
                return true;
        }
    return false;
}

/* Returns whether the contender of event k is admitted before event i: it is first, and no other owner
 * holds. */
static bool is_admitted_at(const struct trace_list *list, int k, int i, int but_process, int but_owner)
{
    return first_in_line_of(list, i, 0) == k &&
           !another_holds(list, i, but_process, but_owner, list->event[k].zxid);
}

/* Meaning that a deleted node still has for its process. */
enum remains {
    REMAINS_NOTHING,
    REMAINS_AWAITED, /* it was admitted when it was deleted, and the process waited then and ever after */
    REMAINS_HELD,    /* a process or a server's loss took it away, and an owner holds by it */
};

static enum remains remains_of(const struct trace_list *list, int k, int i)
{
    const struct event *node = &list->event[k];
    int gone = deletion_of(list, k, i);
    if (gone < 0)
        return REMAINS_NOTHING;
    bool taken = is_taken_away(&list->event[gone]);
    bool awaited = is_admitted_at(list, k, gone, -1, -1) && waits(list, gone, 0, node->process);
    bool held = taken && is_held_by(list, gone, node->zxid, -1, -1);
    enum remains remains = held ? REMAINS_HELD : awaited ? REMAINS_AWAITED : REMAINS_NOTHING;
    for (int m = gone + 1; m < i && remains != REMAINS_NOTHING; m++) {
        const struct event *event = &list->event[m];
        bool closing = event->kind == EVENT_SESSION_CLOSING && event->session == node->session;
        if (closing && remains == REMAINS_HELD)
            remains = REMAINS_NOTHING;
        if (event->process != node->process)
            continue;
        bool over = event->kind == EVENT_EXPIRED || ends_process(event, node->process);
        bool given_back =
            ((event->kind == EVENT_RELEASED || event->kind == EVENT_HOLD_LOST) && event->code == 0) ||
            (event->kind == EVENT_REFUSED && event->code == CODE_LOST);
        bool closed = event->kind == EVENT_LOCK_CLOSED && event->code == 0;
        int grant = given_back ? holding(list, m, 0, event->process, event->owner) : -1;
        bool ends = event->kind == EVENT_LOST || closed || (grant >= 0 && node_of(list, grant) == node->zxid);
        if (taken && event->kind == EVENT_GRANTED && !is_deeper(list, m) && event->zxid == node->zxid)
            remains = REMAINS_HELD;
        bool unawaited = is_answer(event) && !waits(list, m + 1, 0, node->process);
        if (over || (remains == REMAINS_HELD && ends) || (remains == REMAINS_AWAITED && unawaited))
            remains = REMAINS_NOTHING;
    }
    return remains;
}

/* Returns the event that created the node on which the grant is based; -1 = none. It is, in this order:
 * - the node of the token, if it stands or has a meaning;
 * - none, if the operator deleted the token's node or its lease has ended;
 * - the oldest standing node of the process by which no other owner of it holds;
 * - the oldest such node that was deleted and has a meaning. */
static int node_of_grant(const struct trace_list *list, int i)
{
    const struct event *grant = &list->event[i];
    int standing = -1, gone = -1;
    for (int k = 0; k < i; k++) {
        const struct event *node = &list->event[k];
        if (node->kind != EVENT_NODE_CREATED || node->code != 1 || node->process != grant->process)
            continue;
        bool stands_now = creates_one_that_stands(list, k, i);
        if (!stands_now && remains_of(list, k, i) == REMAINS_NOTHING)
            continue;
        if (node->zxid == grant->zxid)
            return k;
        int *oldest = stands_now ? &standing : &gone;
        bool free = !is_held_by(list, i, node->zxid, grant->process, grant->owner);
        if (free && (*oldest < 0 || node->zxid < list->event[*oldest].zxid))
            *oldest = k;
    }
    return is_evicted(list, i) ? -1 : standing >= 0 ? standing : gone;
}

/* Returns whether an owner holds by another node than this one. The node was taken away, or may also
 * stand. */
static bool is_held_beside(const struct trace_list *list, int i, int64_t czxid, bool also_standing)
{
    for (int k = 0; k < i; k++) {
        const struct event *node = &list->event[k];
        if (node->kind != EVENT_NODE_CREATED || node->code != 1 || node->zxid == czxid)
            continue;
        if (remains_of(list, k, i) == REMAINS_HELD)
            return true;
        if (also_standing && creates_one_that_stands(list, k, i) && is_held_by(list, i, node->zxid, -1, -1))
            return true;
    }
    return false;
}

static bool holds_beside_another(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind != EVENT_GRANTED || is_deeper(list, i))
        return false;
    int k = node_of_grant(list, i);
    if (k < 0 || list->event[k].session != event->session)
        return true;
    int64_t czxid = list->event[k].zxid;
    bool stands_now = creates_one_that_stands(list, k, i);
    int gone = deletion_of(list, k, i);
    bool taken = gone >= 0 && is_taken_away(&list->event[gone]) && czxid == event->zxid;
    if (stands_now && !is_admitted_at(list, k, i, event->process, event->owner))
        return true;
    return is_held_by(list, i, czxid, event->process, event->owner) || is_held_beside(list, i, czxid, taken);
}

#endif
