/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The formula at the head of a judge, written down once more over a whole list of events, without any memory: slow, and short
 * enough to be read. On random lists, and on what random runs of correct and broken recipes emit, both find the first
 * violation at the same event. */
#include <base/rng.h>
#include <broken/stage.h>
#include <check/state.h>

#define LISTS 60000
#define EVENTS 60
#define RUNS 400
#define STEPS 300
#define RECORDED 4096
#define PROCESSES 3
#define OWNERS 2

/* ---- what the formulas have in common ---- */

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
 * refused with LS_ELOST ends one. */
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
        bool anew = granted < 0 || event->code <= 1;
        if (ends_process(event, process) || lost || released || told)
            granted = -1;
        else if (event->kind == EVENT_GRANTED && is_of(event, lock, process, owner) && anew)
            granted = k;
    }
    return granted;
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

/* ---- hold_keeps_its_node ---- */

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

/* Whether the process could know at event `to` that the operator had deleted the node at event `from`. */
static bool is_deleted_and_shown(const struct trace_list *list, int from, int to)
{
    const struct event *event = &list->event[from];
    if (event->kind != EVENT_NODE_DELETED || event->code != 1 || event->owner != EVENT_BY_OPERATOR)
        return false;
    for (int k = from + 1; k < to; k++)
        if (list->event[k].kind == EVENT_LISTED && list->event[k].lock == event->lock &&
            list->event[k].process == event->process)
            return true;
    return false;
}

struct link {
    bool up, apart, paused;
};

static struct link link_of(const struct trace_list *list, int i, int process);

static bool is_held_by_a_lower_owner(const struct trace_list *list, int i, const struct event *hold,
                                     int64_t czxid)
{
    for (int owner = 0; owner < hold->owner; owner++) {
        int grant = holding(list, i, hold->lock, hold->process, owner);
        if (grant >= 0 && node_of(list, grant) == czxid)
            return true;
    }
    return false;
}

static bool listens(const struct trace_list *list, int i, int lock, int process);

static bool is_live(const struct trace_list *list, int i, const struct event *hold, int owner)
{
    return pending(list, i, hold->lock, hold->process, owner) >= 0 ||
           holding(list, i, hold->lock, hold->process, owner) >= 0;
}

/* Whether another owner of the process waited or held before event i, and since the owner of this hold waits or holds. */
static bool had_company(const struct trace_list *list, int i, const struct event *hold)
{
    for (int k = i; k > 0 && is_live(list, k, hold, hold->owner); k--)
        for (int owner = 0; owner < OWNERS; owner++)
            if (owner != hold->owner && is_live(list, k, hold, owner))
                return true;
    return false;
}

/* Whether the process heard between a grant and event i that this node is deleted, or listened when the operator deleted it, and the
 * owner has not denied its hold since. */
static bool has_heard(const struct trace_list *list, int grant, int i, int64_t czxid)
{
    const struct event *hold = &list->event[grant];
    bool heard = is_evicted(list, grant) && listens(list, grant, hold->lock, hold->process);
    for (int k = grant + 1; k < i; k++) {
        const struct event *event = &list->event[k];
        bool of_it = event->lock == hold->lock && event->process == hold->process && event->zxid == czxid;
        bool told = event->kind == EVENT_WOKEN && event->code == 2 && !had_company(list, k, hold);
        bool evicted = event->kind == EVENT_NODE_DELETED && event->code == 1 &&
                       event->owner == EVENT_BY_OPERATOR && listens(list, k, hold->lock, hold->process);
        bool denied = event->kind == EVENT_DOUBTS && event->code == 0 &&
                      is_of(event, hold->lock, hold->process, hold->owner);
        bool over = event->kind == EVENT_EXPIRED && event->process == hold->process;
        if (of_it && (told || evicted) && !is_held_by_a_lower_owner(list, k, hold, czxid))
            heard = true;
        heard &= !denied && !over;
    }
    return heard;
}

static bool holds_on_a_node_that_is_gone(const struct trace_list *list, int i)
{
    for (int process = 0; process < PROCESSES; process++) {
        struct link link = link_of(list, i, process);
        for (int owner = 0; owner < OWNERS && link.up && !link.paused; owner++) {
            int grant = holding(list, i, 0, process, owner);
            if (grant >= 0 && has_heard(list, grant, i, node_of(list, grant)))
                return true;
        }
    }
    return false;
}

static bool loses_its_node(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (event->kind == EVENT_REST)
        return holds_on_a_node_that_is_gone(list, i);
    for (int process = 0; process < PROCESSES && is_deleted_by_a_process(event); process++)
        for (int owner = 0; owner < OWNERS; owner++) {
            int grant = holding(list, i, event->lock, process, owner);
            if (grant >= 0 && node_of(list, grant) == event->zxid)
                return true;
        }
    if (event->kind != EVENT_GRANTED ||
        (holding(list, i, event->lock, event->process, event->owner) >= 0 && event->code > 1))
        return false;
    for (int k = 0; k < i; k++)
        if ((is_deleted_by_a_process(&list->event[k]) || is_deleted_and_shown(list, k, i)) &&
            list->event[k].zxid == event->zxid && list->event[k].lock == event->lock &&
            list->event[k].process == event->process && has_waited(list, k, i, event->lock, event->process))
            return true;
    return false;
}

/* ---- answers_have_reasons ---- */

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

static bool any_node_stands(const struct trace_list *list, int i, int lock)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_NODE_CREATED && list->event[k].lock == lock &&
            list->event[k].code == 1 && stands(list, i, lock, list->event[k].zxid))
            return true;
    return false;
}

static bool own_node_stands(const struct trace_list *list, int i, int lock, int process)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_NODE_CREATED && list->event[k].lock == lock &&
            list->event[k].process == process && list->event[k].code == 1 &&
            stands(list, i, lock, list->event[k].zxid))
            return true;
    return false;
}

static int owed(const struct trace_list *list, int i, int lock, int process, int owner)
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            count = 0;
        else if (event->kind == EVENT_RELEASED && event->code == 0 && is_of(event, lock, process, owner))
            count++;
        else if (event->kind == EVENT_FREED && is_of(event, lock, process, owner) && count > 0)
            count--;
    }
    return count;
}

/* Whether requests of an acquire that failed, or of a release, may be under way before event i. */
static bool is_undoing(const struct trace_list *list, int i, int lock, int process)
{
    bool undoes = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_FAILED && event->lock == lock)
            undoes = true;
        if (event->kind == EVENT_SETTLED || event->kind == EVENT_EXPIRED || event->kind == EVENT_LOST ||
            ends_process(event, process))
            undoes = false;
    }
    for (int owner = 0; owner < OWNERS; owner++)
        undoes |= owed(list, i, lock, process, owner) > 0;
    return undoes;
}

/* Whether the owner has not given back what it held when it was told of a loss. */
static bool has_lost_levels(const struct trace_list *list, int i, int lock, int process, int owner)
{
    bool lost = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool answered =
            is_of(event, lock, process, owner) &&
            (event->kind == EVENT_GRANTED || (event->kind == EVENT_RELEASED && event->code <= 0) ||
             (event->kind == EVENT_REFUSED && event->code != CODE_NOTHING_PENDING));
        if (event->kind == EVENT_LOST && event->process == process)
            lost |= holding(list, k, lock, process, owner) >= 0;
        else if (ends_process(event, process) || answered)
            lost = false;
    }
    return lost;
}

/* Whether the lock was not free, for the process that asked at event `asked`, at some moment until event i. */
static bool was_not_free(const struct trace_list *list, int asked, int i)
{
    const struct event *ask = &list->event[asked];
    struct link link = link_of(list, asked, ask->process);
    if (!link.up || link.apart || any_node_stands(list, asked, ask->lock))
        return true;
    if (is_undoing(list, asked, ask->lock, ask->process))
        return true;
    for (int k = asked; k < i; k++) {
        const struct event *event = &list->event[k];
        bool own = event->process == ask->process;
        if (own && (event->kind == EVENT_LINK_DOWN || event->kind == EVENT_EXPIRED ||
                    event->kind == EVENT_AUTH_FAILED || event->kind == EVENT_SESSION_CLOSING ||
                    event->kind == EVENT_LOST))
            return true;
        bool created = event->kind == EVENT_NODE_CREATED && event->lock == ask->lock && event->code == 1;
        if (created &&
            (own ? any_node_stands(list, k, ask->lock) : !own_node_stands(list, k, ask->lock, ask->process)))
            return true;
    }
    return false;
}

static bool was_canceled(const struct trace_list *list, int asked, int i)
{
    const struct event *ask = &list->event[asked];
    for (int k = asked; k < i; k++)
        if (list->event[k].kind == EVENT_CANCELED &&
            is_of(&list->event[k], ask->lock, ask->process, ask->owner))
            return true;
    return false;
}

static bool is_left_without(const struct trace_list *list, int i, int lock, int process, int owner)
{
    struct link link = link_of(list, i, process);
    int asked = pending(list, i, lock, process, owner);
    if (!link.up || link.paused)
        return false;
    return owed(list, i, lock, process, owner) > 0 ||
           (asked >= 0 && (list->event[asked].code == 0 || was_canceled(list, asked, i)));
}

static bool another_owner_has_claim(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    for (int owner = 0; owner < OWNERS; owner++)
        if (owner != event->owner && (pending(list, i, event->lock, event->process, owner) >= 0 ||
                                      holding(list, i, event->lock, event->process, owner) >= 0))
            return true;
    return false;
}

/* "pending already": no acquire of the owner was. */
static bool is_none_pending(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    bool holds = holding(list, i, event->lock, event->process, event->owner) >= 0;
    return !(holds && !list->reentrant) && !is_undoing(list, i, event->lock, event->process) &&
           !has_lost_levels(list, i, event->lock, event->process, event->owner);
}

/* query() says that the owner does not hold, but it was granted the lock and the node stands. */
static bool denies_a_hold(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    int grant = holding(list, i, event->lock, event->process, event->owner);
    return event->cause == EVENT_DOUBT_DENIED && grant >= 0 &&
           stands(list, i, event->lock, node_of(list, grant));
}

/* Whether the owner of event i holds on the node with this czxid, which stands. */
static bool is_held_with(const struct trace_list *list, int i, int64_t czxid)
{
    const struct event *event = &list->event[i];
    int grant = holding(list, i, event->lock, event->process, event->owner);
    return grant >= 0 && node_of(list, grant) == czxid && stands(list, i, event->lock, czxid);
}

static bool is_unsure_of_a_hold(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    return !list->timed && event->code == CODE_UNKNOWN && event->cause != EVENT_DOUBT_TIMER &&
           !was_faulted(list, i) && holding(list, i, event->lock, event->process, event->owner) >= 0;
}

static bool is_no_code(const struct event *event)
{
    return (event->kind == EVENT_FAILED && (event->code >= 0 || event->code < CODE_LEAST)) ||
           (event->kind == EVENT_FREED && (event->code > 0 || event->code < CODE_LEAST));
}

static bool answers_without_reason(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    if (is_no_code(event))
        return true;
    for (int n = 0; n < PROCESSES * OWNERS && event->kind == EVENT_REST; n++)
        if (is_left_without(list, i, 0, n / OWNERS, n % OWNERS))
            return true;
    if (event->kind == EVENT_FREED && owed(list, i, event->lock, event->process, event->owner) == 0)
        return true;
    if (event->kind == EVENT_FREED)
        return event->code != 0 && event->cause == 0 && !was_faulted(list, i);
    int asked = pending(list, i, event->lock, event->process, event->owner);
    if (is_answer(event) && asked < 0)
        return true;
    if (event->kind == EVENT_WRITTEN && (event->code == CODE_LOST || event->code == CODE_NOT_OWNER))
        return is_held_with(list, i, event->zxid);
    if (event->kind == EVENT_WRITTEN)
        return event->code != 0 && !was_faulted(list, i);
    if (event->kind == EVENT_DOUBTS)
        return denies_a_hold(list, i) || is_unsure_of_a_hold(list, i);
    if (event->kind != EVENT_FAILED)
        return false;
    const struct event *ask = &list->event[asked];
    switch (event->code) {
    case CODE_TIMED_OUT:
        return ask->code <= 0 || (list->timed && event->now_ms < ask->now_ms + ask->code);
    case CODE_CANCELED:
        return !was_canceled(list, asked, i);
    case CODE_BUSY:
        return ask->code != 0 || !was_not_free(list, asked, i);
    case CODE_CLOSED:
        return event->cause == 0;
    case CODE_ALREADY:
        return is_none_pending(list, i);
    default:
        if (was_explained(list, i, event->code))
            return false;
        return event->code != CODE_NO_MEMORY || !another_owner_has_claim(list, i);
    }
}

/* ---- belief_ends_in_time ---- */

/* The last grant of the term that the owner is in before event i, -1 if it is in none. */
static int term_of(const struct trace_list *list, int i, int lock, int process, int owner, bool *believes)
{
    int term = -1;
    bool ended = false;
    *believes = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (is_of(event, lock, process, owner) && event->kind == EVENT_GRANTED) {
            term = k;
            ended = false;
        }
        if (is_of(event, lock, process, owner) && event->kind == EVENT_BELIEVES)
            *believes = term >= 0;
        if (is_of(event, lock, process, owner) && event->kind == EVENT_DOUBTS)
            *believes = false;
        ended |= (event->kind == EVENT_RELEASED && event->code == 0 && is_of(event, lock, process, owner)) ||
                 (event->kind == EVENT_LOST && event->process == process);
        if (ends_process(event, process) || (ended && !*believes)) {
            term = -1;
            ended = *believes = false;
        }
    }
    return term;
}

static bool is_over(const struct trace_list *list, int i, int process, int64_t session)
{
    bool over = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        if (event->kind == EVENT_SESSION_CLOSING && event->code == 1 && event->session == session)
            over = true;
        if (event->kind == EVENT_EXPIRED || ends_process(event, process) ||
            (event->kind == EVENT_LINK_UP && event->session != session))
            over = false;
    }
    return over;
}

static bool believes_too_long(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    bool believes;
    if (!list->timed || (event->kind != EVENT_BELIEVES && event->kind != EVENT_SESSION_CLOSING))
        return false;
    if (event->kind == EVENT_BELIEVES) {
        int term = term_of(list, i, event->lock, event->process, event->owner, &believes);
        return term >= 0 && is_over(list, i, event->process, list->event[term].session);
    }
    for (int owner = 0; owner < OWNERS && event->code == 1; owner++) {
        int term = term_of(list, i, 0, event->process, owner, &believes);
        if (term >= 0 && believes && list->event[term].session == event->session)
            return true;
    }
    return false;
}

/* ---- every_revocation_is_told ---- */

static int count_before(const struct trace_list *list, int i, int kind, int lock, int64_t zxid)
{
    int count = 0;
    for (int k = 0; k < i; k++)
        count += list->event[k].kind == kind && list->event[k].lock == lock && list->event[k].zxid == zxid &&
                 (kind != EVENT_NODE_SET ||
                  (list->event[k].code == 1 && list->event[k].owner != EVENT_BY_OPERATOR));
    return count;
}

/* Questions without an answer before event i. `*since`: the first event from which on there was always one. */
static int questions(const struct trace_list *list, int i, int lock, int process, int *since)
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            count = 0;
        if (event->process != process || event->lock != lock)
            continue;
        if (event->kind == EVENT_REVOKES && count++ == 0)
            *since = k;
        if (event->kind == EVENT_REVOKE_SENT && count > 0)
            count--;
    }
    return count;
}

static bool has_reason_to_fail(const struct trace_list *list, int since, int i)
{
    const struct event *answer = &list->event[i];
    for (int k = since; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != answer->process)
            continue;
        bool closed = answer->code == CODE_CLOSED, unsure = answer->code == CODE_UNSURE;
        bool unlinked = event->kind == EVENT_REVOKES && !link_of(list, k, event->process).up;
        if ((closed || unsure) && event->kind == EVENT_SESSION_CLOSING)
            return true;
        if (closed && event->lock == answer->lock && (unlinked || event->kind == EVENT_CLOSES))
            return true;
    }
    return false;
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
static bool is_untold(const struct trace_list *list, int i, int64_t czxid)
{
    bool result = false;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->zxid == czxid && event->kind == EVENT_NODE_SET && event->code == 1)
            result = event->owner != EVENT_BY_OPERATOR;
        if (event->zxid == czxid && event->kind == EVENT_REVOKE_ASKED)
            result = false;
    }
    return result;
}

static bool is_own(const struct trace_list *list, int i, int process, int64_t czxid)
{
    for (int k = 0; k < i; k++)
        if (list->event[k].kind == EVENT_NODE_CREATED && list->event[k].zxid == czxid)
            return list->event[k].process == process;
    return false;
}

static bool leaves_requests(const struct trace_list *list, int i, int process)
{
    int since;
    struct link link = link_of(list, i, process);
    if (!link.up || link.paused)
        return false;
    if (questions(list, i, 0, process, &since) > 0)
        return true;
    for (int owner = 0; owner < OWNERS; owner++) {
        int grant = holding(list, i, 0, process, owner);
        int64_t node = grant >= 0 ? node_of(list, grant) : 0;
        if (grant >= 0 && listens(list, i, 0, process) && is_own(list, i, process, node) &&
            stands(list, i, 0, node) && is_untold(list, i, node))
            return true;
    }
    return false;
}

static bool hides_a_revocation(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    int since = 0;
    switch (event->kind) {
    case EVENT_REVOKE_SENT:
        if (questions(list, i, event->lock, event->process, &since) == 0)
            return true;
        return event->code != 0 && event->code != CODE_NOTHING_PENDING && event->code != CODE_ALREADY &&
               !has_reason_to_fail(list, since, i) && !was_faulted(list, i);
    case EVENT_LISTENS:
        return event->code != 0 && event->code != CODE_UNSUPPORTED && !was_faulted(list, i);
    case EVENT_REVOKE_ASKED:
        return stands(list, i, event->lock, event->zxid) &&
               count_before(list, i, EVENT_NODE_SET, event->lock, event->zxid) <=
                   count_before(list, i, EVENT_REVOKE_ASKED, event->lock, event->zxid);
    case EVENT_REST:
        for (int process = 0; process < PROCESSES; process++)
            if (leaves_requests(list, i, process))
                return true;
        return false;
    default:
        return false;
    }
}

/* ---- all ---- */

static const struct reference {
    const char *property;
    bool (*violates)(const struct trace_list *list, int i);
} references[] = {{"hold_keeps_its_node", loses_its_node},
                  {"answers_have_reasons", answers_without_reason},
                  {"belief_ends_in_time", believes_too_long},
                  {"every_revocation_is_told", hides_a_revocation}};
enum { REFERENCES = sizeof references / sizeof references[0] };

static int violated[REFERENCES], judged[REFERENCES];

/* The first event at which the judge finds a violation, `*count` if none. Some broken recipes need more records than there are:
 * then `*count` becomes the number of events that were judged. */
static int judge(const struct reference *reference, const struct trace_list *list, int *count)
{
    struct check_context context = {.processes = PROCESSES,
                                    .locks = 1,
                                    .owners = 16,
                                    .timed = list->timed,
                                    .reentrant = list->reentrant,
                                    .tolerance_ms = 10};
    struct check_set set;
    struct check_stats stats = {0};
    int i = 0;
    check_set_init(&set, CHECK_BIT(check_position(reference->property)), &context);
    void *block = calloc(1, check_set_state_size(&set));
    assert_non_null(block);
    while (i < *count && stats.violated == 0 && !stats.limit)
        check_set_observe(&set, block, &stats, &list->event[i++]);
    free(block);
    *count = stats.limit ? i - 1 : *count;
    judged[reference - references] += stats.finding[check_position(reference->property)].premises > 0;
    return stats.violated && !stats.limit ? i - 1 : *count;
}

static void compare(const struct trace_list *list, int events, uint64_t seed)
{
    for (int r = 0; r < REFERENCES; r++) {
        int count = events, found = judge(&references[r], list, &count);
        for (int i = 0; i <= found && i < count; i++)
            if (references[r].violates(list, i) != (i == found))
                fail_msg("%s, seed %llu: event %d (%s) of %d: the judge says %d", references[r].property,
                         (unsigned long long)seed, i, event_name((enum event_kind)list->event[i].kind), count,
                         found);
        violated[r] += found < count;
    }
}

static void tell(void)
{
    for (int r = 0; r < REFERENCES; r++) {
        print_message("%s: %d judged, %d violated\n", references[r].property, judged[r], violated[r]);
        assert_true(judged[r] > 0);
        violated[r] = judged[r] = 0;
    }
}

/* ---- random lists ---- */

static int32_t code_of(struct rng *rng, int kind)
{
    static const int32_t failures[] = {CODE_BUSY,    CODE_TIMED_OUT, CODE_CANCELED, CODE_NO_MEMORY,
                                       CODE_GAVE_UP, CODE_CLOSED,    CODE_ALREADY,  -11,
                                       -102};
    static const int32_t written[] = {0, CODE_LOST, CODE_NOT_OWNER, -12};
    static const int32_t refusals[] = {0, CODE_NOTHING_PENDING, CODE_ALREADY, CODE_CLOSED, -12};
    switch (kind) {
    case EVENT_ASKED:
        return (int32_t)rng_below(rng, 3) * 20 - 20 + (rng_below(rng, 3) == 0 ? 20 : 0);
    case EVENT_FAILED:
        return failures[rng_below(rng, 9)];
    case EVENT_FREED:
        return rng_below(rng, 4) == 0 ? failures[rng_below(rng, 9)] : rng_below(rng, 16) == 0;
    case EVENT_WRITTEN:
        return written[rng_below(rng, 4)];
    case EVENT_REVOKE_SENT:
        return refusals[rng_below(rng, 5)];
    case EVENT_GRANTED:
        return 1 + (rng_below(rng, 4) == 0);
    case EVENT_NODE_CREATED:
    case EVENT_NODE_SET:
    case EVENT_NODE_DELETED:
        return rng_below(rng, 8) != 0;
    case EVENT_WOKEN:
        return 2 + (rng_below(rng, 4) == 0);
    default:
        return rng_below(rng, 5) == 0;
    }
}

static int draw_kind(struct rng *rng, bool revokes)
{
    static const uint8_t often[] = {EVENT_ASKED,    EVENT_GRANTED, EVENT_FAILED,       EVENT_NODE_CREATED,
                                    EVENT_RELEASED, EVENT_FREED,   EVENT_NODE_DELETED, EVENT_LINK_UP,
                                    EVENT_BELIEVES, EVENT_DOUBTS,  EVENT_WOKEN};
    static const uint8_t seldom[] = {
        EVENT_CANCELED,       EVENT_LOST,   EVENT_CONNECTED, EVENT_LINK_DOWN, EVENT_EXPIRED,
        EVENT_AUTH_FAILED,    EVENT_REST,   EVENT_CRASHED,   EVENT_STOPPED,   EVENT_SESSION_CLOSING,
        EVENT_SESSION_CLOSED, EVENT_PAUSED, EVENT_RESUMED,   EVENT_RESTARTED, EVENT_REFUSED,
        EVENT_SETTLED,        EVENT_FAULT,  EVENT_LISTED,    EVENT_WRITTEN};
    static const uint8_t revocation[] = {EVENT_REVOKES,  EVENT_REVOKE_SENT,  EVENT_LISTENS,
                                         EVENT_NODE_SET, EVENT_REVOKE_ASKED, EVENT_CLOSES};
    if (revokes && rng_below(rng, 2) == 0)
        return revocation[rng_below(rng, sizeof revocation)];
    return rng_below(rng, 3) != 0 ? often[rng_below(rng, sizeof often)]
                                  : seldom[rng_below(rng, sizeof seldom)];
}

/* An answer to somebody who did not ask: most lists are without, or nothing else would ever come first. */
static bool is_unasked(const struct event *events, int i)
{
    const struct trace_list list = {.event = events};
    const struct event *event = &events[i];
    int since;
    if (event->kind == EVENT_FREED)
        return owed(&list, i, event->lock, event->process, event->owner) == 0;
    if (event->kind == EVENT_REVOKE_SENT)
        return questions(&list, i, event->lock, event->process, &since) == 0;
    return is_answer(event) && pending(&list, i, event->lock, event->process, event->owner) < 0;
}

static bool is_of_node(int kind)
{
    return kind == EVENT_NODE_DELETED || kind == EVENT_NODE_SET || kind == EVENT_REVOKE_ASKED;
}

/* A czxid is given out once, and a node is deleted once: so it is in every log. */
static void draw_list(struct rng *rng, struct event *events, bool timed)
{
    bool unasked = rng_below(rng, 8) == 0;
    bool revokes = rng_below(rng, 4) == 0;
    struct event node[EVENTS];
    int nodes = 0;
    int64_t zxid = 0, now_ms = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct event *event = &events[i];
        int kind = draw_kind(rng, revokes);
        *event = (struct event){.kind = (uint8_t)(is_of_node(kind) && nodes == 0 ? EVENT_ASKED : kind),
                                .process = (uint8_t)rng_below(rng, PROCESSES),
                                .owner = (uint8_t)rng_below(rng, OWNERS)};
        if (!unasked && is_unasked(events, i))
            event->kind = EVENT_ASKED;
        event->code = code_of(rng, event->kind);
        event->session = 100 + event->process + 10 * (rng_below(rng, 4) == 0);
        event->zxid = 1 + rng_below(rng, (uint32_t)zxid + 1);
        event->now_ms = timed ? now_ms += rng_below(rng, 12) : 0;
        if (event->kind == EVENT_FAILED || event->kind == EVENT_FREED || event->kind == EVENT_DOUBTS)
            event->cause = rng_below(rng, event->kind == EVENT_DOUBTS ? 3 : 2);
        if (event->kind == EVENT_FAULT)
            event->owner = (uint8_t)rng_below(rng, 3);
        if (event->kind == EVENT_NODE_CREATED) {
            event->zxid = ++zxid;
            event->owner = 0;
            node[nodes++] = *event;
        } else if (event->kind == EVENT_NODE_SET || event->kind == EVENT_REVOKE_ASKED) {
            const struct event *of = &node[rng_below(rng, (uint32_t)nodes)];
            event->zxid = of->zxid;
            event->process = of->process;
            event->code = event->kind == EVENT_NODE_SET ? of->code : 0;
            bool by_operator = event->kind == EVENT_NODE_SET && rng_below(rng, 4) == 0;
            event->owner = by_operator ? EVENT_BY_OPERATOR : event->owner % 2;
        } else if (event->kind == EVENT_NODE_DELETED) {
            int which = (int)rng_below(rng, (uint32_t)nodes);
            *event = node[which];
            event->kind = EVENT_NODE_DELETED;
            event->now_ms = now_ms;
            event->owner = (uint8_t)rng_below(rng, PROCESSES + 1);
            event->owner = rng_below(rng, 4) == 0 ? EVENT_BY_OPERATOR : event->owner;
            node[which] = node[--nodes];
        }
    }
}

static void on_random_lists(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 1);
    for (int i = 0; i < LISTS; i++) {
        struct event events[EVENTS];
        bool timed = i % 2 == 1;
        draw_list(&rng, events, timed);
        compare(&(struct trace_list){events, timed, i % 4 < 2}, EVENTS, (uint64_t)i);
    }
    tell();
}

/* ---- random runs ---- */

static struct event recorded[RECORDED];
static int recorded_count;

static void record(void *ctx, const struct event *event)
{
    (void)ctx;
    if (recorded_count < RECORDED) {
        recorded[recorded_count] = *event;
        recorded[recorded_count++].path = NULL;
    }
}

static void write_program(struct world_program *program, uint64_t turn)
{
    static const int timeouts[] = {-1, 300, 0, -1};
    if (turn % 4 == 3)
        program->ops[program->count++] = (struct action){.kind = ACTION_REVOKE, .c = 1 + (int)(turn % 3)};
    for (int i = 0; i < 3; i++) {
        program->ops[program->count++] =
            (struct action){.kind = ACTION_ACQUIRE, .c = timeouts[(turn + (uint64_t)i) % 4]};
        if (i < 2 || turn % 3 != 0)
            program->ops[program->count++] = (struct action){.kind = ACTION_RELEASE};
    }
}

static void prepare(struct world_options *options, const struct ls_recipe *recipe, bool timed, uint64_t seed)
{
    stage_options(options, recipe, PROCESSES, seed % 3 == 0 ? 2 : 1, timed, seed);
    options->loss_rc = seed % 2 ? -4 : -7;
    options->used_directory = seed % 5 == 0;
    for (int p = 0; p < PROCESSES; p++)
        write_program(&options->program[p], seed + (uint64_t)p);
    for (int fault = 0; fault < WORLD_FAULTS; fault++)
        options->budget[fault] = 1;
    options->budget[WORLD_FAULT_ALLOC] = options->budget[WORLD_FAULT_CALL] = 0;
    options->budget_total = (uint8_t)(seed % 4);
}

static void on_random_runs_of(const struct ls_recipe *recipe, int runs)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (uint64_t seed = 1; seed <= (uint64_t)runs; seed++) {
        struct world_options options;
        struct rng rng;
        bool timed = seed % 2 == 0;
        rng_seed(&rng, seed);
        prepare(&options, recipe, timed, seed);
        int first_fault = (int)rng_below(&rng, STEPS);
        recorded_count = 0;
        struct world *world = world_open(&options, record, NULL);
        assert_non_null(world);
        world_begin(world);
        for (int step = 0; step < STEPS && !world_trouble(world); step++) {
            int count = world_actions(world, actions);
            if (count == 0)
                break;
            const struct action *action = &actions[rng_below(&rng, (uint32_t)count)];
            bool pauses = action->kind == ACTION_PAUSE;
            if (world_is_fault(action) && (step < first_fault || rng_below(&rng, 8) != 0))
                continue;
            world_apply(world, action);
            if (timed && pauses) /* for longer than its session lives */
                world_pass_time(world, 7000, STAGE_STEPS_MAX, NULL, NULL);
        }
        world_settle(world, STAGE_STEPS_MAX, NULL, NULL);
        world_rest(world);
        world_close(world);
        compare(&(struct trace_list){recorded, timed, recipe->reentrant}, recorded_count, seed);
    }
}

static void on_random_runs(void **state)
{
    (void)state;
    on_random_runs_of(&textbook_recipe, RUNS);
    tell();
    for (int i = 0; i < broken_recipes_count; i++) {
        bool breaks = false;
        for (int r = 0; r < REFERENCES; r++)
            breaks |= strcmp(broken_recipes[i]->breaks, references[r].property) == 0;
        on_random_runs_of(broken_recipes[i], breaks ? 4 * RUNS : RUNS / 20);
    }
    for (int r = 0; r < REFERENCES; r++)
        if (violated[r] == 0)
            fail_msg("no random run violates %s", references[r].property);
    tell();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_random_lists),
        cmocka_unit_test(on_random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
