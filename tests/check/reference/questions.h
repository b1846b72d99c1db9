/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Questions that references ask about a list of events. They have no memory: each question reads the list
 * anew. `i` is the index of an event; a question is about the moment before it. */
#ifndef TESTS_CHECK_REFERENCE_QUESTIONS_H
#define TESTS_CHECK_REFERENCE_QUESTIONS_H

#include "check/state.h"

#define PROCESSES 3
#define OWNERS 2
#define EVENTS_MAX 4096 /* number of events of a list, at most */
#define TOLERANCE_MS 10

struct trace_list {
    const struct event *event;
    bool timed, reentrant;
    bool waits_again; /* owners that lose a hold wait again without asking */
    int locks;        /* 0 counts as 1 */
    bool leases;      /* contenders have leases, and their sessions are lives of processes */
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

/* Returns the grant by which the owner holds before event i, or -1. A grant at depth 1 begins a hold. These
 * end one: a release, also one that is refused with LS_ELOST; LOST, HOLD_LOST; the close of the lock; the
 * end of the process. */
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

/* Returns whether event k tells the owner that its hold is lost, after which it waits again. */
static bool waits_again_by(const struct trace_list *list, int k, int lock, int process, int owner)
{
    const struct event *event = &list->event[k];
    bool tells = (event->kind == EVENT_LOST && event->process == process) ||
                 (event->kind == EVENT_HOLD_LOST && is_of(event, lock, process, owner));
    return list->waits_again && tells && holding(list, k, lock, process, owner) >= 0;
}

/* Returns the event that began the owner's wait that lasts before event i, an ASKED or a loss; -1 = none. */
static int pending(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int asked = -1;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool begins = (event->kind == EVENT_ASKED && is_of(event, lock, process, owner)) ||
                      waits_again_by(list, k, lock, process, owner);
        if (ends_process(event, process) || (is_answer(event) && is_of(event, lock, process, owner)))
            asked = -1;
        else if (begins && asked < 0)
            asked = k;
    }
    return asked;
}

/* Returns for how many ms a wait that began with this event may last; -1 = without a bound. */
static int32_t timeout_of(const struct trace_list *list, int asked)
{
    return list->event[asked].kind == EVENT_ASKED ? list->event[asked].code : -1;
}

/* Returns whether a hold of the owner was lost, and the owner has not released it or been granted the
 * lock. */
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
        if (tells && !list->waits_again && holding(list, k, lock, process, owner) >= 0)
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

/* Returns whether a fault of this class came before event i. A deletion of a lock's directory is one of
 * nodes. */
static bool had_fault(const struct trace_list *list, int i, enum event_fault fault)
{
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool directory = event->kind == EVENT_NODE_DELETED && event->code != 1 && event->owner == 0 &&
                         event->lock != EVENT_LOCK_NONE;
        if ((event->kind == EVENT_FAULT && event->owner == fault) ||
            (directory && fault == EVENT_FAULT_NODES))
            return true;
    }
    return false;
}

static bool had_fault_of_more_than_a_loss(const struct trace_list *list, int i)
{
    return had_fault(list, i, EVENT_FAULT_NODES) || had_fault(list, i, EVENT_FAULT_MEMORY);
}

static bool was_faulted(const struct trace_list *list, int i)
{
    return had_fault(list, i, EVENT_FAULT_LOSSES) || had_fault_of_more_than_a_loss(list, i);
}

/* ---- nodes of holds ---- */

static int64_t node_of(const struct trace_list *list, int grant);

/* Returns whether an owner of the process (-1 = of any) holds by this node; owner number `but` is left
 * out. */
static bool is_held_by(const struct trace_list *list, int i, int64_t czxid, int process, int but)
{
    for (int p = 0; p < PROCESSES; p++)
        for (int owner = 0; owner < OWNERS; owner++) {
            int grant = holding(list, i, 0, p, owner);
            if ((process < 0 || p == process) && owner != but && grant >= 0 && node_of(list, grant) == czxid)
                return true;
        }
    return false;
}

static bool has_waited(const struct trace_list *list, int from, int to, int lock, int process);

/* Returns whether the operator deleted the node, or its lease has ended. */
static bool is_gone_unasked(const struct trace_list *list, const struct event *deleted)
{
    bool by_lease = deleted->owner == 0 || deleted->owner == EVENT_BY_TIME;
    return deleted->owner == EVENT_BY_OPERATOR || (list->leases && by_lease);
}

/* Returns whether the node of the grant's token went so while the process waited, as it did until the
 * grant. */
static bool is_evicted(const struct trace_list *list, int grant)
{
    const struct event *event = &list->event[grant];
    for (int k = 0; k < grant; k++)
        if (list->event[k].kind == EVENT_NODE_DELETED && list->event[k].code == 1 &&
            is_gone_unasked(list, &list->event[k]) && list->event[k].zxid == event->zxid &&
            list->event[k].lock == event->lock && list->event[k].process == event->process &&
            has_waited(list, k, grant, event->lock, event->process))
            return true;
    return false;
}

/* Returns the node of a hold: that of the token if it stands or is_evicted(). Otherwise it is the oldest
 * node of the process by which no other owner holds, or the token's if there is none. */
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
        if (oldest == 0 && !is_held_by(list, grant, node->zxid, event->process, event->owner))
            oldest = node->zxid;
    }
    return oldest != 0 && !is_evicted(list, grant) ? oldest : event->zxid;
}

/* Returns whether the owner holds, and the node of its hold stands. */
static bool holds_standing(const struct trace_list *list, int i, int process, int owner)
{
    int grant = holding(list, i, 0, process, owner);
    return grant >= 0 && stands(list, i, 0, node_of(list, grant));
}

/* Returns whether the grant of event i only adds a level to a hold. */
static bool is_deeper(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    return event->kind == EVENT_GRANTED && event->code > 1 &&
           holding(list, i, 0, event->process, event->owner) >= 0;
}

static bool waits(const struct trace_list *list, int i, int lock, int process)
{
    bool result = false;
    for (int owner = 0; owner < OWNERS; owner++)
        result |= pending(list, i, lock, process, owner) >= 0;
    return result;
}

/* Returns whether an owner of the process has waited from event `from` to event `to`, in one session. */
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
           event->owner != EVENT_BY_OPERATOR && event->owner != EVENT_BY_TIME &&
           event->owner != EVENT_BY_LOSS;
}

static bool is_taken_away(const struct event *event)
{
    bool lost = event->kind == EVENT_NODE_DELETED && event->code == 1 && event->owner == EVENT_BY_LOSS;
    return lost || is_deleted_by_a_process(event);
}

/* ---- links and listeners ---- */

struct link {
    bool up, apart, paused, ended;
    int64_t session[OWNERS]; /* session of each handle while its link is up; otherwise 0 */
};

static struct link link_of(const struct trace_list *list, int i, int process)
{
    struct link link = {0};
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_LOST || event->kind == EVENT_CONNECTED)
            link.apart = event->kind == EVENT_LOST;
        if (event->kind == EVENT_LINK_UP) {
            link.session[event->owner] = event->session;
            link.paused = false;
            link.ended = false;
        }
        if (event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
            event->kind == EVENT_AUTH_FAILED)
            link.session[event->owner] = 0;
        for (int handle = 0; handle < OWNERS; handle++)
            if (event->kind == EVENT_RESTARTED ||
                (event->kind == EVENT_SESSION_CLOSED && event->session == link.session[handle]))
                link.session[handle] = 0;
        if (event->kind == EVENT_PAUSED || event->kind == EVENT_RESUMED)
            link.paused = event->kind == EVENT_PAUSED;
        if (event->kind == EVENT_RESTARTED)
            link.ended = false;
        if (ends_process(event, process))
            link = (struct link){.ended = true};
    }
    for (int handle = 0; handle < OWNERS; handle++)
        link.up |= link.session[handle] != 0;
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

/* Returns whether a handle of the process has a link with that session. */
static bool is_up_with(const struct trace_list *list, int i, int process, int64_t session)
{
    struct link link = link_of(list, i, process);
    for (int handle = 0; handle < OWNERS; handle++)
        if (session != 0 && link.session[handle] == session)
            return true;
    return false;
}

/* Returns whether the process runs and is connected. */
static bool acts(const struct trace_list *list, int i, int process)
{
    struct link link = link_of(list, i, process);
    return link.up && !link.paused;
}

/* Returns whether this session of the process, which stands for one of its lives, is over. */
static bool is_of_ended_life(const struct trace_list *list, int i, int process, int64_t session)
{
    struct link link = link_of(list, i, process);
    bool other = false;
    for (int handle = 0; handle < OWNERS; handle++)
        other |= link.session[handle] != 0 && link.session[handle] != session;
    return other || link.ended;
}

/* ---- watches ---- */

/* Returns a watch on the same node: one of the same kind, or else of the lowest kind that there is; -1 =
 * none. */
static int find_watch(const struct event *watch, int count, const struct event *gone)
{
    int found = -1;
    for (int w = 0; w < count; w++) {
        bool better = found < 0 || (watch[w].code == gone->code && watch[found].code != gone->code) ||
                      (watch[found].code != gone->code && watch[w].code < watch[found].code);
        if (watch[w].zxid == gone->zxid && better)
            found = w;
    }
    return found;
}

/* Gives all watches of one kind on one node the session and the directory of the last one. */
static void join_session(struct event *watch, int count, const struct event *last)
{
    for (int w = 0; w < count; w++)
        if (watch[w].zxid == last->zxid && watch[w].code == last->code) {
            watch[w].session = last->session;
            watch[w].owner = last->owner;
        }
}

/* Writes the watches of a process. A watch whose session is closed has the session 0. Returns their
 * number. */
static int watches_of(const struct trace_list *list, int i, int process, struct event *watch)
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (ends_process(event, process))
            count = 0;
        if (event->kind == EVENT_WATCH_SET) {
            watch[count++] = *event;
            join_session(watch, count, event);
        }
        int gone = event->kind == EVENT_WATCH_GONE ? find_watch(watch, count, event) : -1;
        if (gone >= 0)
            watch[gone] = watch[--count];
        for (int w = 0; w < count; w++)
            if (event->kind == EVENT_SESSION_CLOSED && watch[w].session == event->session)
                watch[w].session = 0;
    }
    return count;
}

/* ---- the line ---- */

/* Returns whether event k creates a contender that still stands before event i. */
static bool creates_one_that_stands(const struct trace_list *list, int k, int i)
{
    const struct event *event = &list->event[k];
    return event->kind == EVENT_NODE_CREATED && event->code == 1 && stands(list, i, event->lock, event->zxid);
}

/* Returns the event that created the oldest contender that stands, or -1. */
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

/* Returns the czxid of the node of the grant of event i, if it is its process's own and stands; otherwise
 * 0. */
static int64_t standing_node_of(const struct trace_list *list, int i)
{
    const struct event *grant = &list->event[i];
    for (int k = 0; k < i; k++)
        if (list->event[k].process == grant->process && creates_one_that_stands(list, k, i) &&
            list->event[k].zxid == node_of(list, i))
            return list->event[k].zxid;
    return 0;
}

#endif
