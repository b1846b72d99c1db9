/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "recipes/recipe_invariants.h"
#include "lock/claim.h"

#include <stddef.h>

#define NORMAL(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return #condition;                                                                               \
    } while (0)

static bool claim_waits_for_answers(const struct lock_claim *claim)
{
    return claim->in_flight || claim->ancestors || claim->ear == LOCK_EAR_READING;
}

/* Returns the requests that the claim may have in flight in its state, LOCK_FIRST ... */
static unsigned claim_may_have(const struct lock_claim *claim)
{
    unsigned unwatch = claim->place->role == LOCK_ROLE_LEASE ? LOCK_UNWATCH : 0;
    switch (claim->state) {
    case LOCK_SEARCHING: /* a lease may come here from LOCK_HELD */
        return LOCK_FIRST | LOCK_LIST | unwatch;
    case LOCK_CLAIMING:
    case LOCK_IDENTIFYING:
    case LOCK_LISTING:
        return LOCK_FIRST | LOCK_LIST;
    case LOCK_ARMING:
        return LOCK_GET;
    case LOCK_HELD:
        return unwatch;
    case LOCK_RELEASING:
        return LOCK_DELETE | unwatch;
    case LOCK_LEFTOVER:
    case LOCK_DONE:
        return LOCK_FIRST | LOCK_LIST | LOCK_GET | LOCK_DELETE | LOCK_UNWATCH;
    default:
        return 0;
    }
}

static const char *node_not_normal(const struct lock_claim *claim)
{
    bool knows = claim->state >= LOCK_LISTING && claim->state <= LOCK_HELD;
    NORMAL(!(claim->named && claim->maybe));
    NORMAL(!knows || (claim->named && claim->czxid && claim->sequence >= 0));
    NORMAL(!claim->czxid || lock_mutex_pending(claim) || claim->state == LOCK_HELD ||
           claim->notes & LOCK_NOTE_LOST);
    NORMAL(claim->state != LOCK_PREPARING || (!claim->named && !claim->maybe));
    NORMAL(claim->state != LOCK_TOMB || (!claim->named && !claim->maybe && !claim->sequence));
    NORMAL(!lock_mutex_pending(claim) || claim->named || !claim->sequence);
    return NULL;
}

/* Checks the watch of a lease. Unlike that of a predecessor, it may be set in any pending state, and in a
 * hold until it is removed. */
static const char *watch_of_lease_not_normal(const struct lock_claim *claim)
{
    NORMAL(!claim->ahead);
    NORMAL(claim->state != LOCK_WAITING || claim->watching);
    NORMAL(!claim->watching || claim->state != LOCK_TOMB);
    NORMAL(claim->ear == LOCK_EAR_DEAF);
    return NULL;
}

/* Checks a lease that has a taker, and a taker. */
static const char *lease_not_normal(const struct lock_claim *claim)
{
    const struct lock_claim *taker = claim->taker;
    NORMAL(!taker || (claim->place->role == LOCK_ROLE_LEASE && claim->state <= LOCK_HELD));
    NORMAL(!taker || (taker->state == LOCK_TAKING && taker->granted < taker->units));
    NORMAL(!taker || !claim->call);
    NORMAL(claim->state != LOCK_TAKING || claim->units);
    NORMAL(claim->place->role != LOCK_ROLE_LEASE || !claim->units);
    return NULL;
}

static const char *watch_not_normal(const struct lock_claim *claim)
{
    if (claim->place->role == LOCK_ROLE_LEASE)
        return watch_of_lease_not_normal(claim);
    NORMAL(!claim->watching || claim->ahead);
    NORMAL(!claim->ahead || claim->watching || claim->state == LOCK_ARMING || claim->state >= LOCK_LEFTOVER);
    NORMAL(claim->state != LOCK_WAITING || claim->watching);
    NORMAL(!claim->watching || claim->state == LOCK_WAITING || claim->state == LOCK_LEFTOVER);
    bool may_listen = claim->state >= LOCK_HELD || lock_semaphore_may_lack_some(claim);
    NORMAL(claim->ear == LOCK_EAR_DEAF || may_listen || !claim->place->session->id);
    NORMAL(claim->place->session->id || claim->ear <= LOCK_EAR_READING);
    return NULL;
}

/* Checks the requests in flight, unless the session is gone: then they fit no state. */
static const char *flight_not_normal(const struct lock_claim *claim)
{
    if (!claim->place->session->id)
        return NULL;
    NORMAL(!(claim->in_flight & ~claim_may_have(claim)));
    NORMAL(!claim->ancestors || claim->state == LOCK_PREPARING || claim->state >= LOCK_LEFTOVER);
    NORMAL(!claim->containers || claim->ancestors);
    NORMAL(!claim->searching || claim->in_flight & (LOCK_FIRST | LOCK_LIST));
    NORMAL(!claim->first_rc || claim->in_flight & LOCK_LIST || claim->ancestors);
    return NULL;
}

/* Checks that all answers are delivered, and then cleared. */
static const char *answer_not_normal(const struct lock_claim *claim)
{
    NORMAL(!claim->notes && !claim->rc);
    NORMAL(!claim->zk_rc || claim->state <= LOCK_SEARCHING); /* of a refused ancestor */
    NORMAL(!claim->told == (claim->state < LOCK_HELD || claim->taker) || claim->state >= LOCK_LEFTOVER ||
           claim->units);
    NORMAL(claim->depth > 0 || (claim->state != LOCK_HELD && claim->state != LOCK_TOMB));
    NORMAL(!claim->deadline.armed || lock_mutex_pending(claim));
    NORMAL(claim->state != LOCK_DONE || claim_waits_for_answers(claim));
    NORMAL(claim->place->session && claim->place->users);
    return NULL;
}

static const char *timer_not_normal(const struct lock_claim *claim)
{
    const struct ls_session *session = claim->place->session;
    bool janitor = session->janitor_timer.armed || session->unarmed;
    NORMAL(!claim->retry || (lock_mutex_pending(claim) ? session->retry_timer.armed : janitor));
    NORMAL(!claim->aside || (claim->state == LOCK_CLAIMING && session->create_timer.armed));
    NORMAL(!claim->lost || lock_mutex_pending(claim));
    NORMAL(claim->ear != LOCK_EAR_LATER || session->retry_timer.armed || claim->state > LOCK_HELD);
    return NULL;
}

/* Checks that room is reserved for each watch that is set, or will be. */
static const char *room_not_normal(const struct lock_claim *claim)
{
    bool revocable = claim->mutex && claim->mutex->revocable;
    bool listens = claim->ear == LOCK_EAR_READING || claim->ear == LOCK_EAR_LISTENING;
    NORMAL(claim->reserved || !(lock_mutex_pending(claim) || claim->watching));
    NORMAL(claim->reserved || claim->state == LOCK_DONE || !claim->place->session->id || !listens);
    NORMAL(claim->state != LOCK_HELD || (claim->reserved != 0) == (revocable || claim->watching));
    NORMAL(claim->state != LOCK_TOMB || !claim->reserved);
    return NULL;
}

static bool is_held(const struct lock_claim *claim)
{
    return claim->state == LOCK_HELD && claim->told;
}

static bool any_held(const struct ls_mutex *mutex)
{
    const struct lock_claim *claim = mutex->session->claims;
    while (claim && (claim->mutex != mutex || !is_held(claim)))
        claim = claim->next;
    return claim;
}

static const char *questions_not_normal(const struct lock_claim *claim)
{
    const struct ls_mutex *mutex = claim->mutex;
    if (!mutex || claim->state > LOCK_HELD)
        return NULL;
    bool held = is_held(claim);
    NORMAL((ls_mutex_query(mutex, claim->owner) != LS_NOT_HELD) == held);
    NORMAL((ls_mutex_belief_left_ms(mutex, claim->owner) > 0) ==
           (ls_mutex_query(mutex, claim->owner) == LS_HELD));
    NORMAL(ls_mutex_depth(mutex, claim->owner) == (held ? claim->depth : 0));
    NORMAL(ls_mutex_token(mutex, claim->owner) == (held ? claim->czxid : 0));
    NORMAL(ls_mutex_held_by(mutex, claim->owner) == held);
    NORMAL(ls_mutex_held_here(mutex) == any_held(mutex));
    return NULL;
}

static const char *claim_not_normal(const struct lock_claim *claim)
{
    const char *(*const questions[])(const struct lock_claim *) = {
        node_not_normal,  watch_not_normal, flight_not_normal,    answer_not_normal,
        timer_not_normal, room_not_normal,  questions_not_normal, lease_not_normal};
    NORMAL(claim->state >= LOCK_CLAIMING && claim->state <= LOCK_DONE);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const char *wrong = questions[i](claim);
        if (wrong)
            return wrong;
    }
    for (const struct lock_claim *other = claim->next; other; other = other->next)
        NORMAL(claim->watch_id != other->watch_id);
    NORMAL(lock_index_watcher(claim->place->session, claim->watch_id) == claim);
    NORMAL(claim->state >= LOCK_TOMB || lock_index_find(claim->mutex, claim->owner) == claim);
    NORMAL(claim->state != LOCK_TOMB || lock_index_tomb(claim->mutex, claim->owner) == claim);
    NORMAL((claim->previous ? claim->previous->next : claim->place->session->claims) == claim);
    return NULL;
}

/* Counts the writes and syncs in flight of the session and its claims. LOCK_FIRST may also be a read, hence
 * the bounds *least and *most. */
static void count_unanswered(const struct ls_session *session, int *least, int *most)
{
    *least = *most = session->proving;
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next) {
        int sure = claim->ancestors + !!(claim->in_flight & LOCK_DELETE);
        *least += sure;
        *most += sure + (claim->in_flight & LOCK_FIRST);
    }
}

static const char *belief_not_normal(const struct ls_session *session)
{
    int least, most;
    const struct lock_claim *claim = session->claims;
    count_unanswered(session, &least, &most);
    NORMAL((int)session->unanswered >= least && (int)session->unanswered <= most);
    NORMAL(session->measured <= session->unanswered);
    NORMAL(session->measured || !session->stamps[!session->slot].opaque);
    NORMAL(session->confirmed || !session->stamps[session->slot].opaque);
    while (claim && claim->state > LOCK_HELD)
        claim = claim->next;
    NORMAL(claim || (!session->confirmed && !session->unproven && !session->measured));
    return NULL;
}

/* Returns what listeners know of the link of a session if no event is undelivered. */
static enum lock_link link_of(const struct ls_session *session)
{
    switch ((enum ls_session_state)session->state) {
    case LS_STATE_CONNECTED:
        return LOCK_LINK_UP;
    case LS_STATE_SUSPENDED:
        return session->id ? LOCK_LINK_DOWN : (enum lock_link)session->told_link;
    case LS_STATE_READ_ONLY:
        return LOCK_LINK_READ_ONLY;
    default:
        return LOCK_LINK_NONE;
    }
}

static const char *ended_not_normal(const struct ls_session *session)
{
    NORMAL(lock_session_is_open(session) || !session->id);
    NORMAL(session->id || (!session->negotiated_ms && !session->stuck && !session->dying));
    NORMAL(session->id ||
           (!session->confirmed && !session->unproven && !session->measured && !session->slot));
    NORMAL(session->state != LS_STATE_CONNECTED || (session->id && session->zh));
    NORMAL(session->told_id == session->id || session->state > LS_STATE_SUSPENDED);
    NORMAL(session->state != LS_STATE_LOST || !session->told_id);
    NORMAL(session->told_link == link_of(session));
    NORMAL(session->state == LS_STATE_LOST || !session->reopen_timer.armed);
    NORMAL(session->state != LS_STATE_LOST || session->reopen_timer.armed || session->retry_timer.armed ||
           session->loan);
    return NULL;
}

const char *lock_invariants_broken(const struct ls_session *session)
{
    int leftovers = 0, cleans = 0;
    uint64_t reserved = 0;
    NORMAL(!session->busy && !session->delivering && !session->opening && !session->cursor &&
           !session->drains);
    NORMAL(!session->events && !session->notes && !session->last_note && !session->idle_note);
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next) {
        const char *wrong = claim_not_normal(claim);
        if (wrong)
            return wrong;
        leftovers += claim->state == LOCK_LEFTOVER;
        cleans += claim->state >= LOCK_RELEASING || (claim->state == LOCK_HELD && claim->watching);
        reserved += claim->reserved;
    }
    NORMAL(session->reserved == reserved + lock_count_reserved(session));
    NORMAL(session->leftovers == leftovers);
    NORMAL(session->retries <= 16 && session->sweeps <= 16); /* recipes have no policy that counts */
    NORMAL(cleans || !session->sweeps);
    const char *wrong = belief_not_normal(session);
    return wrong ? wrong : ended_not_normal(session);
}

static const char *claim_stands_still(const struct lock_claim *claim)
{
    bool revocable = claim->mutex && claim->mutex->revocable;
    if (claim->retry || claim->aside || claim_waits_for_answers(claim))
        return NULL;
    NORMAL(!lock_mutex_pending(claim) || claim->state == LOCK_WAITING || claim->state == LOCK_TAKING);
    NORMAL(claim->state != LOCK_RELEASING && claim->state != LOCK_LEFTOVER);
    NORMAL(claim->state != LOCK_HELD || !revocable || claim->ear != LOCK_EAR_DEAF);
    return NULL;
}

const char *lock_invariants_stuck(const struct ls_session *session)
{
    NORMAL(session->state == LS_STATE_CONNECTED);
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next) {
        const char *wrong = claim_stands_still(claim);
        if (wrong)
            return wrong;
    }
    return NULL;
}
