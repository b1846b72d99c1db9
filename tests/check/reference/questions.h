/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the references ask of a list of events. Nothing is remembered: each question reads the list anew. `i` is the number of
 * an event; a question is about the moment before it. */
#ifndef TESTS_CHECK_REFERENCE_QUESTIONS_H
#define TESTS_CHECK_REFERENCE_QUESTIONS_H

#include <check/state.h>

#define PROCESSES 3
#define OWNERS 2
#define EVENTS_MAX 4096 /* of a list */
#define TOLERANCE_MS 10

struct trace_list {
    const struct event *event;
    bool timed, reentrant;
};

static bool ends_process(const struct event *event, int process)
{
    return (event->kind == EVENT_CRASHED || event->kind == EVENT_STOPPED) && event->process == process;
}

static bool is_of(const struct event *event, int lock, int process, int owner)
{
    return event->lock == lock && event->process == process && event->owner == owner;
}

static bool is_answer(const struct event *event)
{
    return event->kind == EVENT_GRANTED || event->kind == EVENT_FAILED;
}

/* The acquire that the owner waits for before event i, -1 if there is none. */
static int pending(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int asked = -1;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process) || (is_answer(event) && is_of(event, lock, process, owner)))
            asked = -1;
        else if (event->kind == EVENT_ASKED && is_of(event, lock, process, owner) && asked < 0)
            asked = k;
    }
    return asked;
}

/* The grant by which the owner holds before event i, -1 if it does not. A grant at depth 1 begins a hold; a release that is
 * refused with LS_ELOST ends one, and so do HOLD_LOST and the close of the lock. */
static int holding(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int granted = -1;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool lost = event->kind == EVENT_LOST && event->process == process;
        bool released =
            event->kind == EVENT_RELEASED && event->code <= 0 && is_of(event, lock, process, owner);
        bool told =
            event->kind == EVENT_REFUSED && event->code == CODE_LOST && is_of(event, lock, process, owner);
        bool closed = event->kind == EVENT_LOCK_CLOSED && event->code == 0 && event->lock == lock &&
                      event->process == process;
        bool over = closed || (event->kind == EVENT_HOLD_LOST && is_of(event, lock, process, owner));
        bool anew = granted < 0 || event->code <= 1;
        if (ends_process(event, process) || lost || released || told || over)
            granted = -1;
        else if (event->kind == EVENT_GRANTED && is_of(event, lock, process, owner) && anew)
            granted = k;
    }
    return granted;
}

/* Whether a hold of the owner was lost, and it has neither released it nor been granted the lock since. */
static bool has_lost_hold(const struct trace_list *list, int i, int lock, int process, int owner)
{
    bool lost = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool mine = is_of(event, lock, process, owner);
        bool tells = (event->kind == EVENT_LOST && event->process == process) ||
                     (event->kind == EVENT_HOLD_LOST && mine);
        bool closes = event->kind == EVENT_LOCK_CLOSED && event->code == 0 && event->process == process &&
                      event->lock == lock;
        bool ends = (event->kind == EVENT_RELEASED && event->code <= 0) || event->kind == EVENT_GRANTED ||
                    (event->kind == EVENT_REFUSED && event->code != CODE_NOTHING_PENDING);
        if (tells && holding(list, k, lock, process, owner) >= 0)
            lost = true;
        else if ((mine && ends) || closes || ends_process(event, process))
            lost = false;
    }
    return lost;
}

static bool stands(const struct trace_list *list, int i, int lock, int64_t czxid)
{
    bool result = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->lock == lock && event->code == 1 && event->zxid == czxid &&
            (event->kind == EVENT_NODE_CREATED || event->kind == EVENT_NODE_DELETED))
            result = event->kind == EVENT_NODE_CREATED;
    }
    return result;
}

/* The operator's deletion of a lock's directory counts as a fault. */
static bool was_faulted(const struct trace_list *list, int i)
{
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->kind == EVENT_FAULT || (event->kind == EVENT_NODE_DELETED && event->code != 1 &&
                                           event->owner == 0 && event->lock != EVENT_LOCK_NONE))
            return true;
    }
    return false;
}

/* Whether a fault before event i can lead to this code of an acquire that failed. */
static bool was_explained(const struct trace_list *list, int i, int32_t code)
{
    if (code == CODE_GAVE_UP)
        return was_faulted(list, i);
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool nodes = event->kind == EVENT_FAULT ? event->owner == EVENT_FAULT_NODES
                                                : event->kind == EVENT_NODE_DELETED && event->code != 1 &&
                                                      event->owner == 0 && event->lock != EVENT_LOCK_NONE;
        bool memory = event->kind == EVENT_FAULT && event->owner == EVENT_FAULT_MEMORY;
        if (memory || (nodes && code != CODE_NO_MEMORY))
            return true;
    }
    return false;
}

/* ---- nodes of holds ---- */

static int64_t node_of(const struct trace_list *list, int grant);

static bool is_taken(const struct trace_list *list, int grant, int64_t czxid)
{
    const struct event *event = &list->event[grant];
    for (int owner = 0; owner < OWNERS; owner++) {
        int other = holding(list, grant, event->lock, event->process, owner);
        if (owner != event->owner && other >= 0 && node_of(list, other) == czxid)
            return true;
    }
    return false;
}

static bool has_waited(const struct trace_list *list, int from, int to, int lock, int process);

/* Whether the operator deleted the node that the token of a grant names, while the process waited as it did since. */
static bool is_evicted(const struct trace_list *list, int grant)
{
    const struct event *event = &list->event[grant];
    for (int k = 0; k < grant; k++)
        if (list->event[k].kind == EVENT_NODE_DELETED && list->event[k].code == 1 &&
            list->event[k].owner == EVENT_BY_OPERATOR && list->event[k].zxid == event->zxid &&
            list->event[k].lock == event->lock && list->event[k].process == event->process &&
            has_waited(list, k, grant, event->lock, event->process))
            return true;
    return false;
}

/* The node of a hold: that of the token, or else the oldest free one of the process, unless the operator deleted that of the
 * token. */
static int64_t node_of(const struct trace_list *list, int grant)
{
    const struct event *event = &list->event[grant];
    int64_t oldest = 0;
    for (int k = 0; k < grant; k++) {
        const struct event *node = &list->event[k];
        if (node->kind != EVENT_NODE_CREATED || node->code != 1 || node->lock != event->lock ||
            node->process != event->process || !stands(list, grant, node->lock, node->zxid))
            continue;
        if (node->zxid == event->zxid)
            return node->zxid;
        if (oldest == 0 && !is_taken(list, grant, node->zxid))
            oldest = node->zxid;
    }
    return oldest != 0 && !is_evicted(list, grant) ? oldest : event->zxid;
}

static bool waits(const struct trace_list *list, int i, int lock, int process)
{
    bool result = false;
    for (int owner = 0; owner < OWNERS; owner++)
        result |= pending(list, i, lock, process, owner) >= 0;
    return result;
}

/* Whether an owner of the process has waited at each moment from event `from` to event `to`, in the same session. */
static bool has_waited(const struct trace_list *list, int from, int to, int lock, int process)
{
    for (int k = from; k <= to; k++)
        if (!waits(list, k, lock, process) ||
            (list->event[k].kind == EVENT_EXPIRED && list->event[k].process == process))
            return false;
    return true;
}

static bool is_deleted_by_a_process(const struct event *event)
{
    return event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner != 0 &&
           event->owner != EVENT_BY_OPERATOR;
}

/* ---- links and listeners ---- */

struct link {
    bool up, apart, paused;
};

static struct link link_of(const struct trace_list *list, int i, int process)
{
    struct link link = {0};
    bool up[OWNERS] = {false};
    int64_t session[OWNERS] = {0};
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_LOST)
            link.apart = true;
        if (event->kind == EVENT_CONNECTED)
            link.apart = false;
        if (event->kind == EVENT_LINK_UP) {
            up[event->owner] = true;
            link.paused = false;
            session[event->owner] = event->session;
        }
        if (event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
            event->kind == EVENT_AUTH_FAILED)
            up[event->owner] = false;
        for (int handle = 0; handle < OWNERS; handle++)
            if (event->kind == EVENT_RESTARTED || ends_process(event, process) ||
                (event->kind == EVENT_SESSION_CLOSED && event->session == session[handle]))
                up[handle] = false;
        if (event->kind == EVENT_PAUSED || event->kind == EVENT_RESUMED)
            link.paused = event->kind == EVENT_PAUSED;
        if (ends_process(event, process))
            link = (struct link){0};
    }
    for (int handle = 0; handle < OWNERS; handle++)
        link.up |= up[handle];
    return link;
}

static bool listens(const struct trace_list *list, int i, int lock, int process)
{
    bool result = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool own = event->process == process && event->lock == lock && event->code == 0;
        result = (result || (own && event->kind == EVENT_LISTENS)) &&
                 !(own && event->kind == EVENT_LOCK_CLOSED) && !ends_process(event, process);
    }
    return result;
}

/* Whether the node was set behind the last request that was told of it. */

/* Whether the link of some handle of the process is up with that session. */
static bool is_up_with(const struct trace_list *list, int i, int process, int64_t session)
{
    int64_t up[OWNERS] = {0};
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool down = event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
                    event->kind == EVENT_AUTH_FAILED;
        if (event->process != process)
            continue;
        if (event->kind == EVENT_LINK_UP)
            up[event->owner] = event->session;
        for (int handle = 0; handle < OWNERS; handle++)
            if (event->kind == EVENT_RESTARTED || ends_process(event, process) ||
                (event->kind == EVENT_SESSION_CLOSED && event->session == up[handle]) ||
                (down && event->owner == handle))
                up[handle] = 0;
    }
    for (int handle = 0; handle < OWNERS; handle++)
        if (session != 0 && up[handle] == session)
            return true;
    return false;
}

/* Whether the process runs and is connected. */
static bool acts(const struct trace_list *list, int i, int process)
{
    struct link link = link_of(list, i, process);
    return link.up && !link.paused;
}

/* ---- the line ---- */

/* Whether event k creates a contender that still stands. */
static bool creates_one_that_stands(const struct trace_list *list, int k, int i)
{
    const struct event *event = &list->event[k];
    return event->kind == EVENT_NODE_CREATED && event->code == 1 && stands(list, i, event->lock, event->zxid);
}

/* The event that created the oldest contender that stands, -1 if there is none. */
static int first_in_line_of(const struct trace_list *list, int i, int lock)
{
    int first = -1;
    for (int k = 0; k < i; k++)
        if (list->event[k].lock == lock && creates_one_that_stands(list, k, i) &&
            (first < 0 || list->event[k].zxid < list->event[first].zxid))
            first = k;
    return first;
}

static int count_claims(const struct trace_list *list, int i, int lock, int process, bool waiting, bool held)
{
    int count = 0;
    for (int owner = 0; owner < OWNERS; owner++)
        count += (waiting && pending(list, i, lock, process, owner) >= 0) ||
                 (held && holding(list, i, lock, process, owner) >= 0);
    return count;
}

#endif
