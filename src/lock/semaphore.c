/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semaphore: two mutexes below one path, as in Curator's InterProcessSemaphoreV2.
 *
 *   PATH/locks    the line: each acquire has a mutex contender there, its taker.
 *   PATH/leases   a node for each lease that is held, or that a taker in LOCK_TAKING asks for.
 *
 * A taker that is first in the line creates the nodes of its leases. It keeps its place until all of them are
 * granted (LOCK_TAKING), or its acquire fails. So one taker at a time waits for room and watches the list of
 * leases.
 *
 * Admission. A lease is granted by a list that contains its own node, if fewer children than the capacity
 *   stand before that node.
 *   Claim. If all clients have one capacity that does not change, no more leases than that are held at once.
 *   Why. Take the held lease with the largest sequence. Each other held lease was created before it and still
 *   exists, so the list that granted it contained and counted the others. Curator counts the children behind
 *   the own node too, so it grants no lease that this rule does not grant.
 *   Checked by. scenarios/explore/semaphore_*.scn.
 * The proof does not use the line. The line gives fairness, and a lease that is given back wakes one taker.
 * The line also prevents that two acquires, each with some of its leases, wait for each other.
 *
 * If an operator deletes the node of a taker in the line, the next taker takes leases as well. Therefore a
 * taker of several leases watches that node while it waits for room (revoke.c). If the node is gone, the
 * taker gives its leases back and queues again.
 *   Claim. If each taker may read its own node in the line, no two takers wait for each other for ever.
 *   Why. All takers in LOCK_TAKING but one have lost their node in the line, and learn of that by the watch.
 *   Checked by. scenarios/explore/semaphore_several_evicted_2.scn.
 *
 * If an acquire fails, or its session is lost before the grant, its leases go to the janitor. Until all
 * leases of an acquire are granted, claim->taker of each is set. claim->told is set when the owner is
 * told. */
#include "lock/claim.h"
#include "lock/telemetry.h"

#include <lockstep/semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool lock_semaphore_is_taker(const struct lock_claim *claim)
{
    return claim->units && claim->place->role != LOCK_ROLE_LEASE;
}

static struct ls_mutex *leases_of(const struct ls_mutex *line)
{
    char *at = (char *)(uintptr_t)line;
    return &((struct ls_semaphore *)(void *)(at - offsetof(struct ls_semaphore, line)))->leases;
}

struct ls_mutex *lock_semaphore_face(const struct lock_claim *claim)
{
    return claim->mutex && lock_semaphore_is_taker(claim) ? leases_of(claim->mutex) : claim->mutex;
}

bool lock_semaphore_is_closing(const struct ls_mutex *mutex)
{
    if (mutex->place->role != LOCK_ROLE_LEASE)
        return false;
    const struct ls_mutex *line = &((const struct ls_semaphore *)(const void *)mutex)->line;
    return line->closing || !line->session;
}

bool lock_semaphore_admits(const struct lock_claim *lease, const struct lock_view *view)
{
    return (uint32_t)view->before < lease->place->capacity;
}

bool lock_semaphore_is_exceeded(const struct lock_claim *lease, const struct lock_view *view)
{
    uint32_t own = lease->taker ? lease->taker->units - 1 : 0;
    return (uint32_t)view->before > lease->place->largest + own;
}

/* Returns whether no lease with this number is asked for or held. A tomb does not count. */
static bool is_free(const struct ls_mutex *leases, uint64_t number)
{
    const struct lock_claim *claim = lock_index_find(leases, number);
    return !claim || claim->state == LOCK_TOMB;
}

static int take_one(struct lock_claim *taker, struct ls_mutex *leases, uint64_t number)
{
    if (leases->closing || !leases->session)
        return LS_ECLOSED;
    if (!is_free(leases, number))
        return LS_EALREADY;
    if (!lock_packets_watch_fits(leases->place) || !lock_index_free_watch(leases->session))
        return LS_EOVERFLOW;
    struct lock_claim *lease = lock_mutex_new_claim(leases, number, taker->try_only ? 0 : -1);
    if (!lease)
        return LS_ENOMEM;
    lease->taker = taker;
    lock_mutex_go(lease);
    return LS_OK;
}

void lock_semaphore_take(struct lock_claim *claim)
{
    struct ls_mutex *leases = leases_of(claim->mutex);
    claim->state = LOCK_TAKING;
    claim->granted = 0;
    lock_session_progress(claim->place->session);
    for (uint32_t i = 0; i < claim->units && claim->state == LOCK_TAKING; i++) {
        int rc = take_one(claim, leases, claim->owner + i);
        if (rc)
            lock_mutex_fail(claim, rc, 0);
    }
}

/* Returns the taker's lease number `place`, from 0; NULL if it is not asked for yet, or has ended. */
static struct lock_claim *lease_at(const struct lock_claim *taker, uint32_t place)
{
    struct lock_claim *lease = lock_index_find(leases_of(taker->mutex), taker->owner + place);
    return lease && lease->taker == taker ? lease : NULL;
}

/* Ends an acquire whose leases are all granted. The first lease answers for all, and the taker leaves the
 * line. */
static void complete(struct lock_claim *taker)
{
    struct lock_claim *first = lease_at(taker, 0);
    first->call = taker->call;
    first->units = taker->units;
    taker->call = NULL;
    ls_env_timer_stop(taker->place->session->env, &taker->deadline);
    first->taker = NULL;
    for (uint32_t i = 1; i < taker->units; i++) {
        struct lock_claim *lease = lease_at(taker, i);
        lease->taker = NULL;
        lock_telemetry_answered(lease, LS_OK, 0);
    }
    lock_mutex_answer(first);
    lock_index_disown(taker);
    taker->state = LOCK_RELEASING;
    taker->czxid = 0;
    lock_mutex_go(taker);
}

/* If the list lacks a granted lease, the lease's node is gone or the list is older than the node. */
void lock_semaphore_look(struct lock_claim *lease, const struct String_vector *list)
{
    for (uint32_t i = 0; lease->taker && i < lease->taker->units; i++) {
        struct lock_claim *other = lease_at(lease->taker, i);
        char prefix[LOCK_PREFIX_SIZE_MAX + 1];
        if (!other || other->state != LOCK_HELD)
            continue;
        lock_names_prefix(LOCK_ROLE_LEASE, prefix, other->attempt);
        if (lock_names_find(list, prefix))
            continue;
        LS_SOMETIMES("granted-lease-is-missing");
        lease->taker->granted--;
        other->depth = 0;
        other->state = LOCK_SEARCHING;
        lock_packets_reserve(other);
        lock_mutex_go(other);
    }
}

void lock_semaphore_answered(struct lock_claim *lease, int rc, int zk_rc)
{
    struct lock_claim *taker = lease->taker;
    if (rc) {
        lease->taker = NULL;
        lock_mutex_fail(taker, rc, zk_rc);
    } else if (++taker->granted == taker->units) {
        complete(taker);
    }
}

void lock_semaphore_told(struct lock_claim *first)
{
    if (first->place->role != LOCK_ROLE_LEASE)
        return;
    for (uint32_t i = 1; i < first->units; i++) {
        struct lock_claim *lease = lock_index_find(first->mutex, first->owner + i);
        if (lease && lease->state == LOCK_HELD)
            lease->told = 1;
    }
    first->units = 0;
}

bool lock_semaphore_may_lack_some(const struct lock_claim *claim)
{
    return claim->state == LOCK_TAKING && claim->units > 1;
}

void lock_semaphore_begin_again(struct lock_claim *taker)
{
    LS_SOMETIMES("place-of-a-taker-is-deleted");
    lock_semaphore_give_up(taker);
    taker->ear = LOCK_EAR_DEAF;
    lock_mutex_begin_again(taker);
}

void lock_semaphore_lose(struct lock_claim *lease)
{
    lease->taker = NULL;
    lock_mutex_leave_over(lease);
    lock_mutex_go(lease);
}

void lock_semaphore_give_up(struct lock_claim *taker)
{
    for (uint32_t i = 0; i < taker->units; i++) {
        struct lock_claim *lease = lease_at(taker, i);
        if (!lease)
            continue;
        LS_SOMETIMES("some-of-several-leases-are-given-back");
        lease->taker = NULL;
        lock_mutex_leave_over(lease);
        lock_queue_note(lease, LOCK_NOTE_GO);
    }
}

static bool capacity_is_valid(uint32_t capacity)
{
    return capacity && capacity <= LS_SEMAPHORE_CAPACITY_MAX;
}

static int init_part(struct ls_mutex *part, struct ls_session *session, const char *path, const char *name,
                     enum lock_role role, const struct ls_mutex_options *options)
{
    char whole[LS_MUTEX_PATH_SIZE_MAX + 1];
    snprintf(whole, sizeof whole, "%s/%s", path[1] ? path : "", name);
    return lock_mutex_init(part, session, whole, role, options);
}

int ls_semaphore_init(struct ls_semaphore *semaphore, struct ls_session *session, const char *path,
                      uint32_t capacity, const struct ls_mutex_options *options)
{
    if (!semaphore || !session || !path || !capacity_is_valid(capacity))
        return LS_EINVAL;
    size_t size = strnlen(path, LS_SEMAPHORE_PATH_SIZE_MAX + 1);
    if (size > LS_SEMAPHORE_PATH_SIZE_MAX || path[0] != '/' || (size > 1 && path[size - 1] == '/'))
        return LS_EINVAL;
    int rc = init_part(&semaphore->leases, session, path, "leases", LOCK_ROLE_LEASE, options);
    if (rc)
        return rc;
    semaphore->leases.place->capacity = capacity;
    semaphore->leases.place->largest = capacity;
    rc = init_part(&semaphore->line, session, path, "locks", LOCK_ROLE_MUTEX, options);
    if (rc)
        lock_mutex_undo_init(&semaphore->leases);
    return rc;
}

static void look_again(struct ls_mutex *leases)
{
    struct lock_claim *next;
    for (struct lock_claim *claim = leases->session->claims; claim; claim = next) {
        next = claim->next;
        if (claim->mutex != leases || claim->state != LOCK_WAITING)
            continue;
        claim->state = LOCK_LISTING; /* its watch stays set */
        lock_mutex_go(claim);
    }
}

uint32_t lock_semaphore_capacity(const struct ls_semaphore *semaphore)
{
    return semaphore->leases.place->capacity;
}

void lock_semaphore_resize(struct ls_semaphore *semaphore, uint32_t capacity)
{
    struct lock_place *place = semaphore->leases.place;
    place->capacity = capacity;
    if (capacity > place->largest)
        place->largest = capacity;
    look_again(&semaphore->leases);
}

int ls_semaphore_set_capacity(struct ls_semaphore *semaphore, uint32_t capacity)
{
    if (!capacity_is_valid(capacity))
        return LS_EINVAL;
    struct ls_session *session = lock_mutex_lock(&semaphore->leases);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    lock_semaphore_resize(semaphore, capacity);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return LS_OK;
}

int ls_semaphore_close(struct ls_semaphore *semaphore)
{
    int rc = ls_mutex_close(&semaphore->line);
    if (rc)
        return rc;
    struct ls_session *session = lock_mutex_lock(&semaphore->leases);
    if (session) {
        lock_count_end(semaphore);
        lock_queue_deliver(session);
        ls_env_unlock(session->env);
    }
    return ls_mutex_close(&semaphore->leases);
}

int lock_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms,
                           struct lock_call *call)
{
    struct ls_mutex *leases = &semaphore->leases;
    if (!leases->session)
        return LS_ECLOSED;
    if (!count || count > leases->place->capacity || !first || first > LS_ENV_THREAD - count)
        return LS_EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (!is_free(leases, first + i))
            return LS_EALREADY;
    return lock_mutex_acquire_units(&semaphore->line, first, count, timeout_ms, call);
}

int ls_semaphore_acquire_start(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms)
{
    struct ls_session *session = lock_mutex_lock(&semaphore->line);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = lock_semaphore_acquire(semaphore, first, count, timeout_ms, NULL);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

int ls_semaphore_cancel(struct ls_semaphore *semaphore, uint64_t first)
{
    return ls_mutex_cancel(&semaphore->line, first);
}

int ls_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms)
{
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    struct ls_session *session = lock_blocking_begin(&semaphore->line, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &call.waiter);
    rc = lock_blocking_finish(session, &call,
                              lock_semaphore_acquire(semaphore, first, count, timeout_ms, &call));
    ls_env_unlock(env);
    return rc;
}

int ls_semaphore_release(struct ls_semaphore *semaphore, uint64_t lease)
{
    return lock_blocking_release(&semaphore->leases, lease);
}
