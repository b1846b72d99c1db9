/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The janitor removes the node and the watch of a claim that has ended or is being released. It also removes
 * the watch of a lease that is held.
 *
 *   named     the claim's node exists under a known name   -> delete it
 *   maybe     a create was sent, its outcome is unknown    -> sync and list in one flight, then delete, or
 *                                                             believe the absence
 *   neither   no node to delete
 *
 * A watch on the predecessor is removed too. A watch on the own node goes with the node; if the server
 * refuses to delete the node, the janitor removes that watch. The death of the session ends all of this. If
 * the owner of an ended claim asks again, that is another claim with another attempt id.
 *
 * A node that stays may block the contenders behind it. So while the session lives, the janitor gives a node
 * up only if the server refuses to delete it, or to list its parent. A request whose answer was lost with the
 * link is repeated at the next CONNECTED. A request that failed otherwise, and was not refused, is repeated
 * by one timer for all claims of the session. If there is no memory for the timer, the next entry into the
 * session starts it. Without any entry, a node can stay as long as the session. */
#include "lock/claim.h"
#include "lock/telemetry.h"

static void release_place(struct ls_env *env, struct lock_place *place)
{
    if (!--place->users)
        ls_env_free(env, place);
}

void lock_janitor_reap(struct lock_claim *claim)
{
    struct ls_env *env = claim->place->session->env;
    if (claim->state != LOCK_DONE || claim->in_flight || claim->ancestors || claim->notes ||
        claim->ear == LOCK_EAR_READING)
        return;
    lock_index_remove(claim);
    lock_packets_free(claim);
    ls_env_timer_stop(env, &claim->deadline);
    ls_env_free(env, claim->ahead);
    release_place(env, claim->place);
    ls_env_free(env, claim);
}

static void answer_release(struct lock_claim *claim, int rc, int zk_rc)
{
    if (lock_semaphore_is_taker(claim))
        return; /* the leases have answered the taker's owner */
    if (claim->call) {
        claim->call->rc = rc;
        claim->call->done = true;
        ls_env_wake(claim->place->session->env, &claim->call->waiter);
        claim->call = NULL;
        return;
    }
    claim->rc = rc;
    claim->zk_rc = zk_rc;
    lock_queue_note(claim, LOCK_NOTE_FREED);
}

void lock_janitor_inherit(struct lock_claim *claim)
{
    if (claim->state != LOCK_RELEASING)
        lock_index_disown(claim);
    claim->state = LOCK_LEFTOVER;
    claim->czxid = 0;
    claim->place->session->leftovers++;
}

/* Counts a leftover of the session off. Returns whether it was the last one. */
static bool disinherit(struct ls_session *session)
{
    session->leftovers--;
    return !session->leftovers;
}

/* Answers a release before its end, and makes the claim a leftover. */
static void take_over(struct lock_claim *claim, int rc, int zk_rc)
{
    answer_release(claim, rc, zk_rc);
    lock_janitor_inherit(claim);
}

void lock_janitor_unsure(struct lock_claim *claim)
{
    if (claim->state == LOCK_RELEASING && claim->named)
        take_over(claim, LS_EUNSURE, 0);
}

void lock_janitor_hurry(struct lock_claim *claim)
{
    if (!claim->call)
        take_over(claim, claim->named || claim->maybe ? LS_EUNSURE : LS_OK, 0);
}

static void finish(struct lock_claim *claim)
{
    bool releasing = claim->state == LOCK_RELEASING;
    claim->state = LOCK_DONE;
    claim->place->session->sweeps = 0;
    if (releasing)
        answer_release(claim, claim->rc, 0);
    else if (disinherit(claim->place->session) && claim->dirty)
        lock_queue_event(claim->place->session, LS_SESSION_IDLE);
    lock_janitor_reap(claim);
}

/* At so many failures in a row the count stops: the default delay grows no more. */
enum { SWEEPS_MAX = 16 };

static void go_again(struct lock_claim *claim)
{
    if (!claim->retry || lock_mutex_pending(claim))
        return;
    LS_SOMETIMES("janitor-tries-again");
    claim->retry = 0;
    lock_mutex_go(claim);
}

static void on_timer(void *context)
{
    struct ls_session *session = context;
    lock_session_each(session, go_again);
    lock_queue_deliver(session);
}

static void start_timer(struct ls_session *session)
{
    if (session->janitor_timer.armed)
        return;
    uint32_t delay_ms = lock_session_sweep_delay_ms(session);
    lock_telemetry_log(session, LS_LOG_INFO, "what is left over is tried again in %u ms", delay_ms);
    session->unarmed = ls_env_timer_start(session->env, &session->janitor_timer, "janitor-timer", delay_ms,
                                          on_timer, session) != 0;
    if (!session->unarmed && session->sweeps < SWEEPS_MAX)
        session->sweeps++;
}

static void got_on(const struct lock_claim *claim)
{
    claim->place->session->sweeps = 0;
}

void lock_janitor_again(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    if (!session->id)
        return;
    claim->retry = 1;
    start_timer(session);
}

void lock_janitor_arm(struct ls_session *session)
{
    if (session->unarmed)
        start_timer(session);
}

void lock_janitor_calm(struct ls_session *session)
{
    ls_env_timer_stop(session->env, &session->janitor_timer);
    session->unarmed = 0;
    session->sweeps = 0;
}

static void forget_node(struct lock_claim *claim)
{
    claim->named = 0; /* `sequence` stays: the path of a watch on the own node needs it */
    claim->maybe = 0;
}

/* Leaves a node to the session's end, with a warning. The server refuses to delete the node, or to list its
 * parent for a search. */
static void give_up(struct lock_claim *claim, int zk_rc)
{
    LS_SOMETIMES("node-is-left-to-its-session");
    forget_node(claim);
    claim->place->session->stuck = claim->place->session->loan != NULL;
    if (claim->state == LOCK_RELEASING)
        take_over(claim, zk_rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK, zk_rc);
    lock_queue_note(claim, LOCK_NOTE_LEFT);
    lock_telemetry_log(claim->place->session, LS_LOG_WARNING, "%s: %s (%d)", claim->place->path,
                       ls_strwarning(LS_WARN_LEFT_BEHIND), zk_rc);
}

static void deleted(struct lock_claim *claim, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    if (verdict == LOCK_ABSENT)
        LS_SOMETIMES("delete-finds-nothing");
    if (verdict == LOCK_ABSENT && claim->state == LOCK_RELEASING) {
        LS_SOMETIMES("release-finds-that-the-hold-was-lost");
        claim->rc = LS_ELOST; /* first delete of this release: another client has removed the node before */
    }
    if (verdict == LOCK_OK || verdict == LOCK_ABSENT) {
        forget_node(claim); /* in LOCK_LEFTOVER, -101 may answer a delete that is done already (F82) */
        got_on(claim);
        return;
    }
    if (verdict == LOCK_REFUSED) {
        give_up(claim, zk_rc);
        return;
    }
    if (claim->state == LOCK_RELEASING) {
        LS_SOMETIMES("release-loses-its-answer");
        take_over(claim, LS_EUNSURE, zk_rc);
    }
    if (verdict == LOCK_AGAIN || lock_session_ready(claim->place->session))
        lock_janitor_again(claim);
}

static void on_deleted(int rc, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = claim->place->session;
    claim->in_flight &= (uint8_t)~LOCK_DELETE;
    lock_session_answered(session, rc);
    if (lock_session_verdict(rc) == LOCK_UNKNOWN)
        lock_telemetry_ambiguous(claim, "delete", rc);
    deleted(claim, rc);
    lock_mutex_go(claim);
    lock_mutex_leave(session);
}

void lock_janitor_unwatched(struct lock_claim *claim)
{
    claim->watching = 0;
    if (claim->state == LOCK_HELD) {
        claim->retry = 0;
        lock_packets_reserve(claim);
    }
    got_on(claim);
}

static void on_unwatched(int rc, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = claim->place->session;
    enum lock_verdict verdict = lock_session_verdict(rc);
    claim->in_flight &= (uint8_t)~LOCK_UNWATCH;
    bool unsure = lock_is_unsure(verdict);
    bool gone = !claim->watching; /* the watch has fired meanwhile */
    if (!gone && (verdict == LOCK_AGAIN || (unsure && lock_session_ready(session)))) {
        lock_janitor_again(claim);
    } else if (!unsure) {
        LS_SOMETIMES("watch-is-taken-back");
        lock_janitor_unwatched(claim);
    }
    lock_mutex_go(claim);
    lock_mutex_leave(session);
}

static void refused_at_once(struct lock_claim *claim, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    if (verdict == LOCK_OK || verdict == LOCK_DYING)
        return;
    lock_janitor_again(claim);
}

void lock_janitor_unwatch(struct lock_claim *claim)
{
    int rc = lock_request_unwatch(claim, on_unwatched);
    if (rc == ZNOWATCHER) {
        LS_SOMETIMES("watch-fires-before-its-removal");
        /* on a pair of function and context (requests.c): it has fired, or another claim needs it */
        claim->watching = 0;
        if (claim->state == LOCK_HELD)
            lock_packets_reserve(claim);
    } else {
        refused_at_once(claim, rc);
    }
}

static void remove_node(struct lock_claim *claim)
{
    if (claim->named) {
        refused_at_once(claim, lock_request_delete(claim, on_deleted));
        return;
    }
    int rc = lock_request_sync(claim, lock_mutex_on_sync);
    claim->searching = rc == ZOK;
    refused_at_once(claim, rc);
    if (rc == ZOK)
        (void)lock_request_list(claim, lock_mutex_on_list); /* if it is refused, first_done() sees that */
}

void lock_janitor_go(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    if (!lock_session_ready(session) && claim->state == LOCK_RELEASING && (claim->named || claim->maybe))
        take_over(claim, LS_EUNSURE, 0);
    if (!claim->retry && lock_session_ready(session)) {
        if (claim->watching)
            lock_janitor_unwatch(claim);
        if (claim->named || claim->maybe)
            remove_node(claim);
        else
            lock_revoke_unlisten(claim);
    }
    if (claim->in_flight || claim->watching || claim->named || claim->maybe ||
        claim->ear == LOCK_EAR_LISTENING)
        claim->dirty = 1;
    else
        finish(claim);
}

void lock_janitor_searched(struct lock_claim *claim, int sync_rc, int list_rc,
                           const struct String_vector *list)
{
    struct lock_view view;
    enum lock_verdict verdict = lock_session_verdict(list_rc);
    if (sync_rc != ZOK) {
        if (lock_session_ready(claim->place->session))
            lock_janitor_again(claim);
        return;
    }
    if (verdict == LOCK_ABSENT) {
        LS_SOMETIMES("leftover-went-with-its-parent");
        forget_node(claim);
        got_on(claim);
    } else if (verdict == LOCK_OK) {
        lock_mutex_view(claim, list, &view);
        claim->maybe = 0;
        claim->named = view.own;
        claim->sequence = view.sequence;
        if (view.own)
            LS_SOMETIMES("leftover-is-found");
    } else if (verdict == LOCK_REFUSED) {
        give_up(claim, list_rc);
    } else if (lock_session_ready(claim->place->session)) {
        lock_janitor_again(claim);
    }
}
