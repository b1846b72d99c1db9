/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Reentrant mutex.
 *
 *   (no claim) --> CLAIMING <--> PREPARING
 *                  |   ^ ^
 *                  |   | '-----------------.
 *                  |   v                   |
 *                  |   SEARCHING <--> IDENTIFYING
 *                  |   ^                   |
 *                  v   |                   |
 *                  LISTING <---------------'
 *                  |   ^ ^
 *                  |   | '----------.
 *                  |   v            |
 *                  |   ARMING --> WAITING
 *                  |   |
 *                  v   v
 *                  HELD, TAKING --> RELEASING --> (no claim)
 *                  |
 *                  '--> TOMB --> (no claim)                  every pending state --> LEFTOVER --> (no claim)
 *
 *   CLAIMING    -> LISTING        first_done: the node was created; the list of the same flight ranks it
 *   CLAIMING    -> PREPARING      claimed: the parent is missing; parents.c creates it and comes back
 *   CLAIMING    -> SEARCHING      claimed: the create's outcome is unknown, its answer has no sequence, or it
 *                                 says that the node exists
 *   SEARCHING   -> CLAIMING       searched: after a sync, no node of the parent carries the attempt id
 *   SEARCHING   -> IDENTIFYING    searched: one node does
 *   IDENTIFYING -> LISTING        first_done: the node is of this session, its czxid came with the same read
 *   IDENTIFYING -> SEARCHING      identified: the node is gone again
 *   IDENTIFYING -> CLAIMING       identified: the node is another session's (F81); with a new attempt id
 *   LISTING     -> HELD, ARMING   rank_by_list: the claim need not wait, or has to
 *   LISTING     -> SEARCHING      rank_by_list: the claim's node, or the parent, is missing
 *   ARMING      -> WAITING        on_watched: the watch stands on the nearest predecessor; on_room_watched:
 *                                 of a lease, on the list
 *   ARMING      -> LISTING        on_watched: the predecessor is gone, and the get left no watch (F66)
 *   ARMING      -> HELD           on_room_watched: of a lease, whose list says that there is room now
 *   ARMING      -> SEARCHING      on_room_watched: of a lease, whose node is not in that list
 *   WAITING     -> LISTING        lock_mutex_hear: a wake-up is a hint, not a grant; or a new capacity
 *   any -> HELD is any -> TAKING for a contender in the line of a semaphore; see semaphore.c
 *   HELD        -> RELEASING      lock_mutex_release: the last level; janitor.c deletes the node and answers
 *   HELD        -> TOMB           bury: the session or the node is lost
 *   HELD        -> LEFTOVER       bury: likewise, before the grant was delivered; lock_mutex_end: a close;
 *                                 semaphore.c: of a lease whose taker lacks others, and fails
 *   HELD        -> SEARCHING      lock_semaphore_look: of a lease whose taker still lacks others
 *   RELEASING   -> LEFTOVER       janitor.c: the release is answered before its end
 *   pending     -> LEFTOVER       lock_mutex_fail: deadline, cancel, error; janitor.c removes node and watch
 *   pending     -> CLAIMING       lock_mutex_session_lost, lock_mutex_begin_again: with a new attempt id
 *
 * Invariants:
 * - LISTING .. HELD: the claim knows its node's sequence and czxid. WAITING: exactly one watch is set.
 * - HELD: depth >= 1. A list contained the node. In that list no contender that it waits for was before it,
 *   except its writer at a downgrade (rwlock.c). Of a lease, the list had room. The only watch is on the own
 *   node if the lock is revocable (revoke.c), and that of a lease until it is removed.
 * - If the requests of a state are lost with the link, lock_mutex_go() sends the requests of the claim's
 *   state at the next CONNECTED.
 *
 * The first flight, by the outcomes of its create and its list:
 *
 *   create              list                 next
 *   ok                  ok                   as rank() decides: HELD, TAKING, ARMING, SEARCHING or a failure
 *   ok                  lost (F9, F79)       LISTING
 *   ok                  no node (-101)       SEARCHING: the parent was deleted (F53)
 *   ok                  later, or refused    LISTING, by the retry timer
 *                       by the client
 *   ok                  refused by a server  ENOAUTH, EAUTHFAILED, EINVAL or EZK; the janitor deletes
 *   ok, no sequence     any                  SEARCHING
 *   ok, sequence < 0    any                  ESEQUENCE; the janitor deletes the node (F49)
 *   or 2147483647
 *   lost                any                  SEARCHING: an answered sync and list behind it prove absence
 *   no node (-101)      any                  PREPARING; after a refused ancestor, a failure by its code
 *   exists (-110)       any                  SEARCHING: an earlier create of the claim had its attempt id
 *   later               any                  CLAIMING, by the retry timer
 *   no permission       any                  ENOAUTH
 *   other refusal       any                  EZK (bad path: EINVAL; credentials refused: EAUTHFAILED)
 *   session dying       any                  CLAIMING; the event of the session's end is about to come
 *   refused at once     not sent             session dying and other refusals as above; else CLAIMING, by the
 *                                            retry timer
 *
 * "Later" is a code of LOCK_AGAIN. If the claim ends before both answers, its owner is answered at once, and
 * the flight is awaited. Then the janitor deletes the node by its name, or searches for it if the create's
 * outcome is unknown. */
#include "lock/claim.h"
#include "lock/telemetry.h"

#include <string.h>

static struct ls_session *session_of(const struct lock_claim *claim)
{
    return claim->place->session;
}

bool lock_mutex_pending(const struct lock_claim *claim)
{
    return claim->state < LOCK_HELD;
}

/* ---- completions: how each begins and ends ---- */

struct lock_claim *lock_mutex_enter(const void *data)
{
    struct lock_claim *claim = (struct lock_claim *)(uintptr_t)data;
    /* A claim with a request in flight is not freed, nor is its session. */
    struct ls_env *env = session_of(claim)->env;
    ls_env_callback_enter(env);
    ls_env_lock(env);
    return claim;
}

void lock_mutex_leave(struct ls_session *session)
{
    struct ls_env *env = session->env;
    lock_queue_deliver(session);
    ls_env_unlock(env);
    ls_env_callback_leave(env);
}

static bool session_is_over(const struct lock_claim *claim)
{
    return !session_of(claim)->id;
}

static void forget_node(struct lock_claim *claim)
{
    claim->named = 0;
    claim->maybe = 0;
    claim->under = 0;
    if (!(claim->notes & LOCK_NOTE_LOST))
        claim->czxid = 0;
    claim->sequence = 0;
}

static void answer(struct lock_claim *claim, int rc, int zk_rc)
{
    if (claim->taker) {
        lock_semaphore_answered(claim, rc, zk_rc);
        return;
    }
    lock_telemetry_answered(claim, rc, zk_rc);
    ls_env_timer_stop(session_of(claim)->env, &claim->deadline);
    claim->zk_rc = 0;
    if (claim->call) {
        claim->call->rc = rc;
        claim->call->zk_rc = zk_rc;
        claim->call->depth = rc ? 0 : claim->depth;
        claim->call->token = rc ? 0 : claim->czxid;
        claim->call->done = true;
        claim->told = 1;
        lock_semaphore_told(claim);
        ls_env_wake(session_of(claim)->env, &claim->call->waiter);
        claim->call = NULL;
        return;
    }
    claim->rc = rc;
    claim->zk_rc = zk_rc;
    lock_queue_note(claim, LOCK_NOTE_DONE);
}

void lock_mutex_leave_over(struct lock_claim *claim)
{
    lock_janitor_inherit(claim);
    claim->retry = 0;
    claim->lost = 0;
    claim->aside = 0;
    claim->dirty = claim->in_flight || claim->ancestors;
}

void lock_mutex_fail(struct lock_claim *claim, int rc, int zk_rc)
{
    if (claim->state == LOCK_TAKING)
        lock_semaphore_give_up(claim);
    lock_mutex_leave_over(claim);
    answer(claim, rc, zk_rc);
    lock_mutex_go(claim);
}

static void fail_by_server(struct lock_claim *claim, int zk_rc)
{
    int rc = zk_rc == ZNOAUTH         ? LS_ENOAUTH
             : zk_rc == ZAUTHFAILED   ? LS_EAUTHFAILED
             : zk_rc == ZBADARGUMENTS ? LS_EINVAL
                                      : LS_EZK;
    lock_mutex_fail(claim, rc, zk_rc);
}

void lock_mutex_retry(struct lock_claim *claim, int zk_rc)
{
    int err;
    LOCK_COUNT(claim, retries);
    claim->retry = 1;
    if (!lock_session_retry(session_of(claim), &err))
        lock_mutex_fail(claim, err, zk_rc);
}

static void drop_ahead(struct lock_claim *claim)
{
    ls_env_free(session_of(claim)->env, claim->ahead);
    claim->ahead = NULL;
    lock_packets_reserve(claim);
}

static void enter(struct lock_claim *claim, enum lock_state state)
{
    claim->state = (uint8_t)state;
    lock_mutex_go(claim);
}

void lock_mutex_answer(struct lock_claim *claim)
{
    answer(claim, LS_OK, 0);
}

static void grant(struct lock_claim *claim)
{
    if (lock_semaphore_is_taker(claim)) {
        lock_semaphore_take(claim);
        return;
    }
    claim->state = LOCK_HELD;
    claim->depth = 1;
    lock_packets_reserve(claim);
    lock_session_progress(session_of(claim));
    lock_session_granted(session_of(claim));
    answer(claim, LS_OK, 0);
    lock_revoke_go(claim);
    if (claim->watching)
        lock_mutex_go(claim);
}

/* ---- rank in the line ---- */

static void wait_behind(struct lock_claim *claim, const char *ahead)
{
    size_t size = strlen(ahead) + 1;
    if (claim->try_only) {
        lock_mutex_fail(claim, LS_EBUSY, 0);
        return;
    }
    claim->ahead =
        ls_env_alloc(session_of(claim)->env, size); /* `ahead` is NULL: drop_ahead() has freed it */
    if (!claim->ahead) {
        lock_mutex_retry(claim, 0);
        return;
    }
    memcpy(claim->ahead, ahead, size);
    if (!lock_packets_ahead_fits(claim)) {
        drop_ahead(claim);
        lock_mutex_fail(claim, LS_EOVERFLOW, 0);
        return;
    }
    lock_packets_reserve(claim);
    enter(claim, LOCK_ARMING);
}

void lock_mutex_view(const struct lock_claim *claim, const struct String_vector *list, struct lock_view *view)
{
    char prefix[LOCK_PREFIX_SIZE_MAX + 1];
    enum lock_role role = (enum lock_role)claim->place->role;
    lock_names_prefix(role, prefix, claim->attempt);
    lock_names_view(role, list, prefix, view);
}

/* Ranks a reader that was queued in the place of its owner's write lock. If the write lock is not held any
 * more, or the list lacks its node, the acquire fails with LS_ELOST: another owner may hold already. The
 * reader's token is the writer's, because the node of a writer that is granted later may be older than the
 * reader's. */
static void rank_under(struct lock_claim *claim, const struct String_vector *list)
{
    const struct lock_claim *writer = lock_rwlock_writer(claim);
    if (writer && lock_rwlock_stands(writer, list)) {
        LS_SOMETIMES("reader-takes-its-writers-place");
        claim->czxid = writer->czxid;
        grant(claim);
    } else {
        LS_SOMETIMES("writer-goes-before-its-reader");
        lock_mutex_fail(claim, LS_ELOST, 0);
    }
}

static void warn(struct lock_claim *claim, enum ls_warning warning, uint16_t note)
{
    uint32_t bit = 1u << warning;
    if (!claim->mutex || claim->mutex->warned & bit)
        return;
    claim->mutex->warned |= bit;
    lock_telemetry_log(session_of(claim), LS_LOG_WARNING, "%s: %s", claim->place->path,
                       ls_strwarning(warning));
    lock_queue_note(claim, note);
}

static bool take_room(struct lock_claim *claim, const struct lock_view *view,
                      const struct String_vector *list)
{
    if (!lock_semaphore_admits(claim, view))
        return false;
    lock_semaphore_look(claim, list);
    grant(claim);
    return true;
}

/* Lets a lease wait for any change of the list, or fail with LS_EBUSY if it must not wait. */
static void wait_for_room(struct lock_claim *claim)
{
    if (claim->try_only) {
        lock_mutex_fail(claim, LS_EBUSY, 0);
        return;
    }
    enter(claim, LOCK_ARMING);
    if (claim->taker)
        lock_revoke_go(claim->taker);
}

/* Ranks a claim whose node is known. A counter that has wrapped or is exhausted gives no order that all
 * clients agree on (F49): then the claim fails. */
static void rank(struct lock_claim *claim, const struct String_vector *list)
{
    struct lock_view view;
    lock_mutex_view(claim, list, &view);
    if (view.foreign)
        warn(claim, LS_WARN_FOREIGN_CHILD, LOCK_NOTE_FOREIGN);
    if (!view.own) {
        LS_SOMETIMES("own-node-missing-in-list");
        enter(claim, LOCK_SEARCHING);
    } else if (claim->sequence < 0 || claim->sequence == INT32_MAX || view.negative ||
               (view.ahead && view.last)) {
        LS_SOMETIMES("line-without-an-order");
        lock_mutex_fail(claim, LS_ESEQUENCE, 0);
    } else if (claim->under) {
        rank_under(claim, list);
    } else if (claim->place->role == LOCK_ROLE_LEASE) {
        if (lock_semaphore_is_exceeded(claim, &view))
            warn(claim, LS_WARN_CAPACITY, LOCK_NOTE_CAPACITY);
        if (!take_room(claim, &view, list))
            wait_for_room(claim);
    } else if (view.ahead) {
        wait_behind(claim, view.ahead);
    } else {
        grant(claim);
    }
}

static void rank_by_list(struct lock_claim *claim, int list_rc, const struct String_vector *list)
{
    switch (lock_session_verdict(list_rc)) {
    case LOCK_OK:
        rank(claim, list);
        break;
    case LOCK_ABSENT:
        LS_SOMETIMES("parent-deleted-under-own-node");
        enter(claim, LOCK_SEARCHING);
        break;
    case LOCK_REFUSED:
        fail_by_server(claim, list_rc);
        break;
    case LOCK_AGAIN:
        claim->state = LOCK_LISTING;
        lock_mutex_retry(claim, list_rc);
        break;
    case LOCK_UNKNOWN:
    case LOCK_DYING:
        claim->state = LOCK_LISTING;
        break;
    }
}

/* ---- the end of a flight, one function per state ---- */

static void parent_missing(struct lock_claim *claim, int zk_rc)
{
    if (claim->zk_rc)
        fail_by_server(claim, claim->zk_rc == ZNONODE ? zk_rc : claim->zk_rc);
    else
        enter(claim, LOCK_PREPARING);
}

static void claimed(struct lock_claim *claim, int create_rc, int list_rc, const struct String_vector *list)
{
    switch (lock_session_verdict(create_rc)) {
    case LOCK_OK:
        /* If the answer has no sequence, believe only a node in a list. */
        if (!claim->named)
            enter(claim, LOCK_SEARCHING);
        else if (claim->sequence < 0 || claim->sequence == INT32_MAX)
            lock_mutex_fail(claim, LS_ESEQUENCE, 0);
        else
            rank_by_list(claim, list_rc, list);
        break;
    case LOCK_UNKNOWN:
        enter(claim, LOCK_SEARCHING);
        break;
    case LOCK_DYING:
        break;
    case LOCK_AGAIN:
        lock_mutex_retry(claim, create_rc);
        break;
    case LOCK_ABSENT:
        parent_missing(claim, create_rc);
        break;
    case LOCK_REFUSED:
        if (create_rc == ZNODEEXISTS) {
            LS_SOMETIMES("create-meets-own-node");
            enter(claim, LOCK_SEARCHING);
        } else {
            fail_by_server(claim, create_rc);
        }
        break;
    }
}

/* Handles the absence of the node, which is certain: the sync and the list after it were both answered. */
static void not_there(struct lock_claim *claim)
{
    int err;
    LS_SOMETIMES("lost-create-never-applied");
    forget_node(claim);
    claim->state = LOCK_CLAIMING;
    lock_session_count_lost(claim);
    if (claim->lost >= LOCK_LOST_SUSPECT && !lock_session_set_aside(claim, &err))
        lock_mutex_fail(claim, err, 0);
    else
        lock_mutex_go(claim);
}

static void take_new_attempt(struct lock_claim *claim)
{
    forget_node(claim);
    ls_env_unique_id(session_of(claim)->env, claim->attempt);
}

void lock_mutex_begin_again(struct lock_claim *claim)
{
    claim->granted = 0;
    take_new_attempt(claim);
    enter(claim, LOCK_CLAIMING);
}

static void there(struct lock_claim *claim, const struct String_vector *list)
{
    struct lock_view view;
    lock_mutex_view(claim, list, &view);
    if (!view.own) {
        not_there(claim);
        return;
    }
    LS_SOMETIMES("lost-create-found");
    lock_session_acquit(claim);
    claim->zk_rc = 0;
    claim->named = 1;
    claim->maybe = 0;
    claim->sequence = view.sequence;
    if (view.sequence < 0 || view.sequence == INT32_MAX)
        lock_mutex_fail(claim, LS_ESEQUENCE, 0);
    else
        enter(claim, LOCK_IDENTIFYING);
}

static void again_if_needed(struct lock_claim *claim, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    /* If a request was lost without a session event, no CONNECTED may follow. */
    bool silent = verdict == LOCK_UNKNOWN && lock_session_ready(session_of(claim));
    if (verdict == LOCK_REFUSED) {
        fail_by_server(claim, zk_rc);
    } else if (verdict == LOCK_AGAIN || silent) {
        LS_SOMETIMES("request-fails-on-a-live-link");
        lock_mutex_retry(claim, zk_rc);
    }
}

static void searched(struct lock_claim *claim, int sync_rc, int list_rc, const struct String_vector *list)
{
    if (sync_rc != ZOK)
        again_if_needed(claim, sync_rc);
    else if (list_rc == ZOK)
        there(claim, list);
    else if (list_rc == ZNONODE)
        not_there(claim);
    else
        again_if_needed(claim, list_rc);
}

/* If exists_rc is ZOK, on_exists() has set claim->czxid: to 0 if the node is another session's. */
static void identified(struct lock_claim *claim, int exists_rc, int list_rc, const struct String_vector *list)
{
    if (exists_rc == ZNONODE) {
        LS_SOMETIMES("found-node-is-gone-again");
        enter(claim, LOCK_SEARCHING);
    } else if (exists_rc != ZOK) {
        again_if_needed(claim, exists_rc);
    } else if (!claim->czxid) {
        LS_SOMETIMES("found-node-is-of-another-session");
        take_new_attempt(claim);
        enter(claim, LOCK_CLAIMING);
    } else {
        rank_by_list(claim, list_rc, list);
    }
}

static void settle(struct lock_claim *claim, int list_rc, const struct String_vector *list)
{
    int first_rc = claim->first_rc;
    bool searching = claim->searching;
    claim->searching = 0;
    claim->first_rc = 0;
    if (session_is_over(claim)) {
        lock_mutex_go(claim);
        return;
    }
    switch (claim->state) {
    case LOCK_CLAIMING:
        claimed(claim, first_rc, list_rc, list);
        break;
    case LOCK_SEARCHING:
        searched(claim, first_rc, list_rc, list);
        break;
    case LOCK_IDENTIFYING:
        identified(claim, first_rc, list_rc, list);
        break;
    case LOCK_LISTING:
        rank_by_list(claim, list_rc, list);
        break;
    default: /* the claim ended while the flight was under way */
        LS_SOMETIMES("flight-outlives-its-acquire");
        if (searching)
            lock_janitor_searched(claim, first_rc, list_rc, list);
        lock_mutex_go(claim);
        break;
    }
}

/* ---- completions ---- */

/* Returns whether a list is all that the claim still needs, as in LOCK_LISTING. */
static bool only_lists(const struct lock_claim *claim)
{
    bool placed =
        claim->state == LOCK_CLAIMING && claim->named && claim->sequence >= 0 && claim->sequence != INT32_MAX;
    return placed || (claim->state == LOCK_IDENTIFYING && claim->czxid) || claim->state == LOCK_LISTING;
}

/* Notes the answer to the first request of a flight. If the client has refused the list behind it, the flight
 * is over: for the list, settle() then gets ZSYSTEMERROR, a code of LOCK_AGAIN. */
static void first_done(struct lock_claim *claim, int rc)
{
    claim->in_flight &= (uint8_t)~LOCK_FIRST;
    claim->first_rc = rc;
    if (!(claim->in_flight & LOCK_LIST)) {
        settle(claim, ZSYSTEMERROR, NULL);
    } else if (rc == ZOK && only_lists(claim)) {
        claim->state = LOCK_LISTING;
        claim->first_rc = 0;
    }
}

/* Notes what the answer to a create says about the claim's node, also for a claim that has ended. If the
 * session is over, notes nothing about the node. */
static void note_creation(struct lock_claim *claim, int rc, const char *path, const struct Stat *stat)
{
    enum lock_verdict verdict = lock_session_verdict(rc);
    if (verdict == LOCK_UNKNOWN)
        lock_telemetry_ambiguous(claim, "create", rc);
    else if (verdict != LOCK_DYING)
        lock_session_acquit(claim);
    if (session_is_over(claim))
        return;
    claim->named = verdict == LOCK_OK && path && stat &&
                   lock_names_parse((enum lock_role)claim->place->role, path, &claim->sequence);
    claim->maybe = verdict == LOCK_UNKNOWN || rc == ZNODEEXISTS || (verdict == LOCK_OK && !claim->named);
    claim->czxid = claim->named && lock_mutex_pending(claim) ? stat->czxid : 0;
    if (claim->named) {
        claim->zk_rc = 0; /* the ancestors exist: an earlier refusal has no meaning any more */
        lock_session_progress(session_of(claim));
    }
}

static void on_created(int rc, const char *path, const struct Stat *stat, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    lock_session_answered(session, rc);
    note_creation(claim, rc, path, stat);
    first_done(claim, rc);
    lock_mutex_leave(session);
}

void lock_mutex_on_sync(int rc, const char *value, const void *data)
{
    (void)value;
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    lock_session_answered(session, rc);
    first_done(claim, rc);
    lock_mutex_leave(session);
}

static void on_exists(int rc, const struct Stat *stat, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    if (rc == ZOK && !session_is_over(claim) && lock_mutex_pending(claim))
        claim->czxid = stat->ephemeralOwner == session->id ? stat->czxid : 0;
    first_done(claim, rc);
    lock_mutex_leave(session);
}

void lock_mutex_on_list(int rc, const struct String_vector *list, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    claim->in_flight &= (uint8_t)~LOCK_LIST;
    /* Answers come in the order of requests (F36), so first_rc is known here. */
    if (!(claim->in_flight & LOCK_FIRST))
        settle(claim, rc, list);
    lock_mutex_leave(session);
}

static void watched(struct lock_claim *claim, int rc)
{
    switch (lock_session_verdict(rc)) {
    case LOCK_OK:
        claim->state = LOCK_WAITING;
        lock_telemetry_waits(claim);
        lock_session_progress(session_of(claim));
        break;
    case LOCK_ABSENT:
        LS_SOMETIMES("predecessor-gone-before-the-watch");
        drop_ahead(claim);
        enter(claim, LOCK_LISTING);
        break;
    case LOCK_UNKNOWN:
    case LOCK_DYING:
    case LOCK_AGAIN:
    case LOCK_REFUSED:
        again_if_needed(claim, rc);
        break;
    }
}

/* Notes the answer to the request that sets the watch. Returns true if the claim still waits for it.
 * Otherwise the claim goes on here. */
static bool note_watch(struct lock_claim *claim, int rc)
{
    bool alive = !session_is_over(claim);
    claim->in_flight &= (uint8_t)~LOCK_GET;
    if (alive && rc == ZOK)
        claim->watching = 1;
    if (alive && claim->state == LOCK_ARMING)
        return true;
    LS_SOMETIMES("watch-set-for-an-ended-wait");
    lock_mutex_go(claim);
    return false;
}

static void on_watched(int rc, const char *value, int value_size, const struct Stat *stat, const void *data)
{
    (void)value;
    (void)value_size;
    (void)stat;
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    if (note_watch(claim, rc))
        watched(claim, rc);
    lock_mutex_leave(session);
}

/* Ranks a lease by the list that has set its watch, because room may have come since the list before. */
static void room_watched(struct lock_claim *claim, int rc, const struct String_vector *list)
{
    struct lock_view view;
    if (rc != ZOK) {
        watched(claim, rc);
        return;
    }
    lock_mutex_view(claim, list, &view);
    if (!view.own) {
        LS_SOMETIMES("own-lease-missing-behind-the-watch");
        enter(claim, LOCK_SEARCHING);
    } else if (take_room(claim, &view, list)) {
        LS_SOMETIMES("room-before-the-watch");
    } else {
        watched(claim, rc);
    }
}

static void on_room_watched(int rc, const struct String_vector *list, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    if (note_watch(claim, rc))
        room_watched(claim, rc, list);
    lock_mutex_leave(session);
}

/* ---- the watch ---- */

static void wake(struct lock_claim *claim)
{
    if (claim->state == LOCK_HELD)
        lock_janitor_unwatched(claim); /* the watch of a lease that is held */
    claim->watching = 0;
    if (claim->state == LOCK_WAITING) {
        lock_telemetry_woken(claim);
        drop_ahead(claim);
        claim->state = LOCK_LISTING;
    }
    lock_mutex_go(claim);
}

void lock_mutex_hear(struct lock_claim *claim, int type, const char *path)
{
    if (!session_of(claim)->id)
        return;
    if (claim->watching && lock_request_is_ahead(claim, path))
        wake(claim);
    else if (lock_revoke_listens(claim, path))
        lock_revoke_heard(claim, type);
}

/* Finds the claim by its watch_id, the context. Session events leave the watch in place (F4). If the event is
 * late, another claim may have the watch_id, so lock_mutex_hear() compares the path. CHANGED wakes too: after
 * a reconnect it may stand for a node that was deleted and created again (F73). */
void lock_mutex_on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)state;
    struct ls_session *session = lock_session_of(zh);
    if (type == ZOO_SESSION_EVENT)
        return;
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    struct lock_claim *claim = lock_index_watcher(session, (uint16_t)(uintptr_t)context);
    if (claim)
        lock_mutex_hear(claim, type, path);
    else
        LS_SOMETIMES("event-finds-nobody");
    lock_mutex_leave(session);
}

/* ---- going ---- */

/* Sends the list behind a first request. If the client refuses the list, first_done() sees it. */
static void send_list(struct lock_claim *claim)
{
    (void)lock_request_list(claim, lock_mutex_on_list);
}

static void refused_at_once(struct lock_claim *claim, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    LS_SOMETIMES("client-refuses-a-request");
    if (verdict == LOCK_AGAIN || verdict == LOCK_UNKNOWN)
        lock_mutex_retry(claim, zk_rc);
    else if (verdict != LOCK_DYING)
        fail_by_server(claim, zk_rc);
}

static void send_flight(struct lock_claim *claim)
{
    int rc;
    if (claim->state == LOCK_CLAIMING)
        rc = lock_request_create(claim, on_created);
    else if (claim->state == LOCK_IDENTIFYING)
        rc = lock_request_exists(claim, on_exists);
    else
        rc = lock_request_sync(claim, lock_mutex_on_sync);
    if (rc != ZOK) {
        refused_at_once(claim, rc);
        return;
    }
    claim->searching = claim->state == LOCK_SEARCHING;
    send_list(claim);
}

/* Sends the list of LOCK_LISTING. If the belief is stale, a sync goes before the list to renew the belief for
 * the grant. The sync costs no round trip of its own. */
static void send_relist(struct lock_claim *claim)
{
    if (lock_session_stale(session_of(claim))) {
        LS_SOMETIMES("wake-up-with-a-stale-belief");
        send_flight(claim);
        return;
    }
    int rc = lock_request_list(claim, lock_mutex_on_list);
    if (rc != ZOK)
        refused_at_once(claim, rc);
}

static void send_get(struct lock_claim *claim)
{
    int rc = claim->place->role == LOCK_ROLE_LEASE ? lock_request_watch_list(claim, on_room_watched)
                                                   : lock_request_get(claim, on_watched);
    if (rc != ZOK)
        refused_at_once(claim, rc);
}

void lock_mutex_go(struct lock_claim *claim)
{
    if (claim->in_flight || claim->ancestors)
        return;
    if (claim->state == LOCK_RELEASING || claim->state == LOCK_LEFTOVER) {
        lock_janitor_go(claim);
        return;
    }
    if (claim->state == LOCK_DONE) {
        lock_janitor_reap(claim);
        return;
    }
    if ((claim->retry && lock_mutex_pending(claim)) || claim->aside || !lock_session_ready(session_of(claim)))
        return;
    switch (claim->state) {
    case LOCK_CLAIMING:
    case LOCK_SEARCHING:
    case LOCK_IDENTIFYING:
        send_flight(claim);
        break;
    case LOCK_PREPARING:
        lock_parents_go(claim);
        break;
    case LOCK_LISTING:
        send_relist(claim);
        break;
    case LOCK_ARMING:
        send_get(claim);
        break;
    case LOCK_HELD:
        if (claim->watching && !claim->retry)
            lock_janitor_unwatch(claim);
        lock_revoke_go(claim);
        break;
    case LOCK_TAKING:
        lock_revoke_go(claim);
        break;
    default: /* WAITING and TOMB need nothing */
        break;
    }
}

/* ---- the session is lost ---- */

/* Adds the levels of the owner's tomb, if it has one, and drops that tomb. */
static void inherit_levels(struct lock_claim *claim)
{
    struct lock_claim *former = lock_index_tomb(claim->mutex, claim->owner);
    if (!former)
        return;
    claim->depth = claim->depth > UINT32_MAX - former->depth ? UINT32_MAX : claim->depth + former->depth;
    lock_mutex_drop_tomb(former);
}

void lock_mutex_note_loss(struct lock_claim *claim, int64_t token)
{
    const struct ls_mutex_options *options = claim->mutex ? lock_queue_deref(claim->mutex->options) : NULL;
    if (!options || !options->ops || !options->ops->on_lost)
        return;
    claim->czxid = token;
    lock_queue_note(claim, LOCK_NOTE_LOST);
}

/* Makes a tomb of a lost hold. If its grant was not delivered yet, ends the claim: on_done tells LS_ELOST.
 * The claim's node is forgotten already; `token` was the fencing token. */
static void bury(struct lock_claim *claim, int64_t token, const char *how)
{
    lock_telemetry_lost(claim, how);
    if (claim->told) {
        inherit_levels(claim);
        claim->state = LOCK_TOMB;
        lock_packets_reserve(claim);
        lock_mutex_note_loss(claim, token);
        return;
    }
    LS_SOMETIMES("grant-goes-before-it-is-told");
    lock_janitor_inherit(claim);
    claim->rc = LS_ELOST;
    lock_mutex_go(claim);
}

void lock_mutex_node_gone(struct lock_claim *claim)
{
    int64_t token = claim->czxid;
    LS_SOMETIMES("node-of-a-hold-is-deleted");
    forget_node(claim);
    lock_queue_note(claim, LOCK_NOTE_GONE);
    bury(claim, token, "its node");
}

void lock_mutex_session_lost(struct lock_claim *claim)
{
    int64_t token = claim->czxid;
    /* A session that the server has ended took the node along, so a release may succeed. A close by this
     * process may not have reached the server (F22). */
    if (session_of(claim)->state != LS_STATE_LOST)
        lock_janitor_unsure(claim);
    drop_ahead(claim);
    forget_node(claim);
    claim->watching = 0;
    claim->retry = 0;
    claim->aside = 0;
    lock_revoke_lost(claim);
    if (claim->taker) {
        lock_semaphore_lose(claim);
    } else if (claim->state == LOCK_HELD) {
        if (claim->told)
            LS_SOMETIMES("held-lock-goes-with-its-session");
        bury(claim, token, "its session");
    } else if (!lock_mutex_pending(claim)) {
        lock_mutex_go(claim);
    } else if (claim->try_only) {
        lock_mutex_fail(claim, LS_EBUSY, 0);
    } else {
        LS_SOMETIMES("acquire-goes-on-in-the-next-session");
        claim->state = LOCK_CLAIMING;
        claim->zk_rc = 0;
        claim->granted = 0;
        take_new_attempt(claim);
    }
}
