/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The delivery of answers and events to users: their order, and the thread that calls the callbacks.
 *
 * No delivery needs memory. Session events are four bits each in one word. Answers of claims are bits in the
 * claims, and the claims with such bits form a queue. */
#include "lock/claim.h"
#include "lock/telemetry.h"

/* A thread that sleeps on a session; lies on its stack. */
struct lock_drain {
    struct lock_drain *next;
    struct ls_waiter waiter;
    bool waits_for_others; /* sleeps in lock_queue_wait_alone() */
    bool watches;          /* each entry into the session wakes the thread */
};

/* ---- references that do not depend on the load address ---- */

static const char anchor = 0;

struct ls_ref lock_queue_ref(const void *constant)
{
    struct ls_ref ref = {constant ? (intptr_t)((uintptr_t)constant - (uintptr_t)&anchor) : 0};
    return ref;
}

const void *lock_queue_deref(struct ls_ref ref)
{
    return ref.distance ? (const void *)((uintptr_t)&anchor + (uintptr_t)ref.distance) : NULL;
}

/* ---- session events ---- */

enum { EVENT_BITS = 4, EVENTS_MAX = 8 };

static int count_events(const struct ls_session *session)
{
    int count = 0;
    for (uint32_t events = session->events; events; events >>= EVENT_BITS)
        count++;
    return count;
}

static uint32_t last_event(const struct ls_session *session, int count)
{
    return count ? session->events >> ((count - 1) * EVENT_BITS) & 15u : 0;
}

static void drop_last_event(struct ls_session *session, int count)
{
    session->events &= ~(15u << ((count - 1) * EVENT_BITS));
}

static enum lock_link link_after(enum ls_session_event event)
{
    switch (event) {
    case LS_SESSION_CONNECTED:
    case LS_SESSION_RECONNECTED:
        return LOCK_LINK_UP;
    case LS_SESSION_SUSPENDED:
        return LOCK_LINK_DOWN;
    case LS_SESSION_READ_ONLY:
        return LOCK_LINK_READ_ONLY;
    default:
        return LOCK_LINK_NONE;
    }
}

/* Returns whether an event changes the link within a session. */
static bool is_of_link(uint32_t event)
{
    return event == LS_SESSION_SUSPENDED || event == LS_SESSION_RECONNECTED || event == LS_SESSION_READ_ONLY;
}

/* Returns whether an event undoes the last one, which is undelivered: then neither is delivered. The link
 * changes by way of LOCK_LINK_DOWN, so at most six events remain, and one that ends the session. Example:
 * SUSPENDED READ_ONLY LOST CONNECTED SUSPENDED READ_ONLY. */
static bool cancels(const struct ls_session *session, int count, enum ls_session_event event)
{
    uint32_t last = last_event(session, count), before = last_event(session, count - 1);
    enum lock_link link =
        count > 1 ? link_after((enum ls_session_event)before) : (enum lock_link)session->told_link;
    return (last == LS_SESSION_CONNECTED && event == LS_SESSION_LOST) ||
           (is_of_link(last) && is_of_link(event) && link_after(event) == link);
}

void lock_queue_event(struct ls_session *session, enum ls_session_event event)
{
    lock_telemetry_event(session, event);
    if (event == LS_SESSION_IDLE) {
        /* a closed session has no leftovers to be idle after */
        session->idle_note = session->state != LS_STATE_CLOSED;
        return;
    }
    int count = count_events(session);
    uint32_t last = last_event(session, count);
    if (event == LS_SESSION_LOST && session->told_id != session->id) {
        /* CONNECTED of this session is undelivered. Neither it nor the events behind it are told. */
        while (count && is_of_link(last)) {
            drop_last_event(session, count--);
            last = last_event(session, count);
        }
    }
    if (count && cancels(session, count, event)) {
        drop_last_event(session, count);
        return;
    }
    if (count < EVENTS_MAX && last != (uint32_t)event)
        session->events |= (uint32_t)event << (count * EVENT_BITS);
}

static void tell_listeners(struct ls_session *session, enum ls_session_event event, int64_t id)
{
    session->cursor = session->listeners;
    while (session->cursor) {
        struct ls_session_listener *listener = session->cursor;
        const struct ls_session_ops *ops = lock_queue_deref(listener->ops);
        session->cursor = listener->next;
        ls_env_unlock(session->env);
        if (ops->on_event)
            ops->on_event(session, listener, event, id);
        ls_env_lock(session->env);
    }
}

static void deliver_event(struct ls_session *session)
{
    enum ls_session_event event = (enum ls_session_event)(session->events & 15u);
    session->events >>= EVENT_BITS;
    session->told_link = (uint8_t)link_after(event) & 3u;
    if (event == LS_SESSION_CONNECTED)
        session->told_id = session->id;
    int64_t id = session->told_id;
    if (event == LS_SESSION_LOST)
        session->told_id = 0;
    tell_listeners(session, event, id);
}

/* ---- answers of claims ---- */

void lock_queue_note(struct lock_claim *claim, uint16_t note)
{
    struct ls_session *session = claim->place->session;
    if (!claim->mutex)
        return;
    if (!claim->notes) {
        if (session->notes)
            session->last_note->note_next = claim;
        else
            session->notes = claim;
        session->last_note = claim;
    }
    claim->notes |= note;
}

static void take_first(struct ls_session *session)
{
    struct lock_claim *claim = session->notes;
    session->notes = claim->note_next;
    if (!session->notes)
        session->last_note = NULL;
    claim->note_next = NULL;
    claim->notes = 0;
}

static void tell_owner(const struct ls_mutex_ops *ops, struct ls_mutex *mutex, uint64_t owner, uint16_t notes,
                       const struct ls_outcome *outcome)
{
    if (notes & LOCK_NOTE_GONE && ops->on_warning)
        ops->on_warning(mutex, owner, LS_WARN_NODE_GONE);
    if (notes & LOCK_NOTE_FOREIGN && ops->on_warning)
        ops->on_warning(mutex, owner, LS_WARN_FOREIGN_CHILD);
    if (notes & LOCK_NOTE_CAPACITY && ops->on_warning)
        ops->on_warning(mutex, owner, LS_WARN_CAPACITY);
    if (notes & LOCK_NOTE_DONE && ops->on_done)
        ops->on_done(mutex, owner, outcome);
    if (notes & LOCK_NOTE_LEFT && ops->on_warning)
        ops->on_warning(mutex, owner, LS_WARN_LEFT_BEHIND);
    if (notes & LOCK_NOTE_FREED && ops->on_freed)
        ops->on_freed(mutex, owner, outcome->rc);
    if (notes & LOCK_NOTE_LOST)
        ops->on_lost(mutex, owner, outcome->token); /* lock_mutex_note_loss() has checked on_lost */
}

/* Delivers LOCK_NOTE_REVOKE alone, after all other notes of its claim. If the lock is no longer held, for
 * example because the owner released it in the callback of its grant, the owner is not asked. */
static void deliver_revoke(struct ls_session *session)
{
    struct lock_claim *claim = session->notes;
    struct ls_mutex *mutex = claim->mutex;
    const struct ls_mutex_options *options = lock_queue_deref(mutex->options);
    uint64_t owner = claim->owner;
    int64_t token = claim->czxid;
    bool held = claim->state == LOCK_HELD;
    take_first(session);
    lock_janitor_reap(claim);
    if (!held)
        return;
    lock_telemetry_revoked(claim);
    ls_env_unlock(session->env);
    /* on_revoke is set: a revocable mutex has it */
    options->ops->on_revoke(mutex, owner, token);
    ls_env_lock(session->env);
}

/* Lets a claim go on, which may free it: no caller uses its address here. */
static void deliver_go(struct ls_session *session)
{
    struct lock_claim *claim = session->notes;
    claim->notes &= (uint16_t)~LOCK_NOTE_GO;
    if (!claim->notes)
        take_first(session);
    lock_mutex_go(claim);
    lock_session_unclaimed(session); /* its requests may have stamped a belief that no claim needs */
}

static void deliver_note(struct ls_session *session)
{
    struct lock_claim *claim = session->notes;
    if (claim->notes & LOCK_NOTE_GO) {
        deliver_go(session);
        return;
    }
    if (claim->notes == LOCK_NOTE_REVOKE) {
        deliver_revoke(session);
        return;
    }
    struct ls_mutex *mutex = lock_semaphore_face(claim);
    const struct ls_mutex_options *options = lock_queue_deref(mutex->options);
    uint64_t owner = claim->owner;
    uint16_t notes = claim->notes;
    struct ls_outcome outcome = {.rc = claim->rc, .zk_rc = claim->rc ? claim->zk_rc : 0};
    if (notes & LOCK_NOTE_DONE && !claim->rc) {
        outcome.depth = claim->depth;
        outcome.token = claim->czxid;
        claim->told = 1;
        lock_semaphore_told(claim);
    } else if (notes & LOCK_NOTE_LOST) {
        outcome.token = claim->czxid;
        claim->czxid = 0;
    }
    claim->rc = 0;
    claim->zk_rc = 0;
    take_first(session);
    if (notes & LOCK_NOTE_REVOKE)
        lock_queue_note(claim, LOCK_NOTE_REVOKE);
    lock_janitor_reap(claim);
    if (!options || !options->ops)
        return;
    ls_env_unlock(session->env);
    tell_owner(options->ops, mutex, owner, notes, &outcome);
    ls_env_lock(session->env);
}

/* ---- delivery ---- */

/* Delivers the first of these that waits. Returns false if none does.
 * - a line of the log
 * - a session event other than IDLE, because an answer may be its consequence
 * - a new capacity, because a grant may be its consequence
 * - a note of a claim, then a survey or an answered request to give a lock back
 * - the event IDLE */
static bool deliver_one(struct ls_session *session)
{
    if (lock_telemetry_deliver(session))
        return true;
    if (session->events) {
        deliver_event(session);
        return true;
    }
    if (lock_count_deliver(session))
        return true;
    if (session->notes) {
        deliver_note(session);
        return true;
    }
    if (lock_participants_deliver(session) || lock_revoke_deliver(session))
        return true;
    if (session->idle_note) {
        session->idle_note = 0;
        tell_listeners(session, LS_SESSION_IDLE, session->id);
        return true;
    }
    return false;
}

static bool anything(const struct ls_session *session)
{
    return session->events || session->notes || session->surveys || session->asks || session->idle_note ||
           lock_count_waiting(session) || lock_telemetry_waiting(session);
}

static void wake_watching(struct ls_session *session)
{
    for (struct lock_drain *drain = session->drains; drain; drain = drain->next)
        if (drain->watches)
            ls_env_wake(session->env, &drain->waiter);
}

/* Ends an entry into the session. Returns whether there may be something to deliver, and no thread
 * delivers. */
static bool leave(struct ls_session *session)
{
    lock_janitor_arm(session);
    lock_session_unclaimed(session);
    if (session->ending)
        lock_queue_wake(session);
    else
        wake_watching(session);
    return !session->delivering && anything(session);
}

void lock_queue_deliver(struct ls_session *session)
{
    struct ls_env *env = session->env;
    bool to_do = leave(session);
    if (!session->delivering)
        /* this call delivers all that was left to the timer */
        ls_env_timer_stop(env, &session->delivery_timer);
    if (!to_do)
        return;
    /* Callbacks are marked as such: a blocking call from one would wait for a delivery by its own thread. */
    bool bracket = !ls_env_in_callback(env);
    if (bracket)
        ls_env_callback_enter(env);
    session->delivering = 1;
    session->busy++;
    while (deliver_one(session)) {
    }
    session->busy--;
    session->delivering = 0;
    if (bracket)
        ls_env_callback_leave(env);
    lock_queue_wake(session);
}

static void on_delivery_timer(void *context)
{
    lock_queue_deliver(context);
}

void lock_queue_hand_over(struct ls_session *session)
{
    if (!leave(session) || session->delivery_timer.armed)
        return;
    bool closed = session->state == LS_STATE_CLOSED; /* its memory may be freed before a timer fires */
    if (closed || ls_env_timer_start(session->env, &session->delivery_timer, "delivery-timer", 0,
                                     on_delivery_timer, session))
        lock_queue_deliver(session);
}

void lock_queue_wake(struct ls_session *session)
{
    for (struct lock_drain *drain = session->drains; drain; drain = drain->next)
        ls_env_wake(session->env, &drain->waiter);
}

static void sleep_while(struct ls_session *session, struct lock_drain *drain,
                        bool (*holds)(const void *about), const void *about)
{
    if (!holds(about))
        return;
    ls_env_waiter_init(session->env, &drain->waiter);
    drain->next = session->drains;
    session->drains = drain;
    while (holds(about))
        ls_env_wait(session->env, &drain->waiter);
    struct lock_drain **link = &session->drains;
    while (*link != drain)
        link = &(*link)->next;
    *link = drain->next;
    ls_env_waiter_close(session->env, &drain->waiter);
    lock_queue_wake(session); /* for a thread in lock_queue_wait_alone() */
}

void lock_queue_wait(struct ls_session *session, bool (*holds)(const void *about), const void *about)
{
    struct lock_drain drain = {.waits_for_others = false};
    sleep_while(session, &drain, holds, about);
}

void lock_queue_wait_watching(struct ls_session *session, bool (*holds)(const void *about), const void *about)
{
    struct lock_drain drain = {.watches = true};
    sleep_while(session, &drain, holds, about);
}

static bool is_telling(const void *about)
{
    const struct ls_session *session = about;
    return session->delivering;
}

static bool is_busy(const void *about)
{
    const struct ls_session *session = about;
    return session->busy;
}

static bool has_sleepers(const void *about)
{
    const struct ls_session *session = about;
    const struct lock_drain *drain = session->drains;
    while (drain && drain->waits_for_others)
        drain = drain->next;
    return drain;
}

void lock_queue_wait_told(struct ls_session *session)
{
    lock_queue_wait(session, is_telling, session);
}

void lock_queue_wait_quiet(struct ls_session *session)
{
    lock_queue_wait(session, is_busy, session);
}

void lock_queue_wait_alone(struct ls_session *session)
{
    struct lock_drain drain = {.waits_for_others = true};
    sleep_while(session, &drain, has_sleepers, session);
}
