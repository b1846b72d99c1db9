/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Acquire, release and cancel: they begin claims, count the levels of holds, and end claims. mutex.c drives a
 * claim in between. */
#include "lock/claim.h"
#include "lock/telemetry.h"

static void on_deadline(void *context)
{
    struct lock_claim *claim = context;
    struct ls_session *session = claim->place->session;
    if (lock_mutex_pending(claim))
        lock_mutex_fail(claim, LS_ETIMEDOUT, 0);
    lock_queue_deliver(session);
}

struct lock_claim *lock_mutex_new_claim(struct ls_mutex *mutex, uint64_t owner, int timeout_ms)
{
    struct ls_session *session = mutex->session;
    struct lock_claim *claim = ls_env_alloc(session->env, sizeof *claim);
    if (!claim)
        return NULL;
    if (timeout_ms > 0 && ls_env_timer_start(session->env, &claim->deadline, "deadline-timer",
                                             (uint32_t)timeout_ms, on_deadline, claim)) {
        ls_env_free(session->env, claim);
        return NULL;
    }
    claim->place = mutex->place;
    claim->place->users++;
    claim->mutex = mutex;
    claim->owner = owner;
    claim->watch_id = lock_index_free_watch(session);
    claim->try_only = timeout_ms == 0;
    claim->state = LOCK_CLAIMING;
    ls_env_unique_id(session->env, claim->attempt);
    lock_index_add(claim);
    lock_packets_reserve(claim);
    return claim;
}

void lock_mutex_drop_tomb(struct lock_claim *claim)
{
    lock_index_disown(claim);
    claim->state = LOCK_DONE;
    lock_janitor_reap(claim);
}

static int reenter(struct lock_claim *claim)
{
    if (claim->state != LOCK_HELD || !claim->told)
        return LS_EALREADY;
    if (claim->depth == UINT32_MAX)
        return LS_EOVERFLOW;
    claim->depth++;
    return 1;
}

int lock_mutex_acquire_units(struct ls_mutex *mutex, uint64_t owner, uint32_t units, int timeout_ms,
                             struct lock_call *call)
{
    struct ls_session *session = mutex->session;
    if (mutex->closing || session->ending || session->state == LS_STATE_CLOSED ||
        session->state == LS_STATE_NEW)
        return LS_ECLOSED;
    if (session->state == LS_STATE_FAILED)
        return session->failure;
    if (!owner)
        return LS_EINVAL;
    struct lock_claim *former = lock_index_find(mutex, owner);
    if (former && former->state != LOCK_TOMB)
        return reenter(former);
    int refusal = lock_rwlock_refuses(mutex, owner);
    if (refusal)
        return refusal;
    if (timeout_ms == 0 && session->state != LS_STATE_CONNECTED)
        return LS_EBUSY;
    if (!lock_packets_watch_fits(mutex->place) || !lock_index_free_watch(session))
        return LS_EOVERFLOW;
    struct lock_claim *claim = lock_mutex_new_claim(mutex, owner, timeout_ms);
    if (!claim)
        return LS_ENOMEM;
    if (former)
        LS_SOMETIMES("acquire-after-an-unheard-loss");
    claim->call = call;
    claim->units = units;
    lock_telemetry_acquires(claim);
    lock_mutex_go(claim);
    return LS_OK;
}

int lock_mutex_acquire(struct ls_mutex *mutex, uint64_t owner, int timeout_ms, struct lock_call *call)
{
    if (mutex->place->role == LOCK_ROLE_LEASE)
        return LS_EINVAL; /* a lease is acquired by its taker alone */
    return lock_mutex_acquire_units(mutex, owner, 0, timeout_ms, call);
}

static int release_tomb(struct lock_claim *claim)
{
    if (!--claim->depth)
        lock_mutex_drop_tomb(claim);
    return LS_ELOST;
}

int lock_mutex_release(struct ls_mutex *mutex, uint64_t owner, struct lock_call *call)
{
    if (mutex->closing || lock_semaphore_is_closing(mutex))
        return LS_ECLOSED;
    struct lock_claim *claim = lock_index_find(mutex, owner);
    if (!claim || lock_mutex_pending(claim) || !claim->told)
        return LS_ENOTOWNER;
    if (claim->state == LOCK_TOMB)
        return release_tomb(claim);
    if (claim->depth == 1 && lock_rwlock_is_needed(claim))
        return LS_EALREADY;
    if (--claim->depth) {
        if (call)
            call->done = true;
        return LS_OK;
    }
    lock_index_disown(claim);
    claim->call = call;
    claim->retry = 0;
    claim->state = LOCK_RELEASING;
    claim->czxid = 0;
    LOCK_COUNT(claim, releases);
    lock_telemetry_log(claim->place->session, LS_LOG_DEBUG, "%s: %s %llu gives the lock back",
                       claim->place->path, LOCK_WHO(claim));
    lock_mutex_go(claim);
    return LS_OK;
}

void lock_mutex_end(struct lock_claim *claim)
{
    if (lock_mutex_pending(claim)) {
        lock_mutex_fail(claim, LS_ECLOSED, 0);
    } else if (claim->state == LOCK_HELD) {
        int64_t token = claim->czxid;
        lock_janitor_inherit(claim);
        if (claim->told)
            lock_mutex_note_loss(claim, token);
        else
            claim->rc = LS_ECLOSED; /* on_done reports the undelivered grant as this failure */
        lock_mutex_go(claim);
    } else if (claim->state == LOCK_TOMB) {
        lock_mutex_drop_tomb(claim);
    }
}

bool lock_mutex_is_of_another_thread(struct ls_env *env, uint64_t owner)
{
    return owner & LS_ENV_THREAD && owner != ls_env_self(env);
}

int ls_mutex_acquire_start(struct ls_mutex *mutex, uint64_t owner, int timeout_ms)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = lock_mutex_is_of_another_thread(env, owner) ? LS_EINVAL
                                                         : lock_mutex_acquire(mutex, owner, timeout_ms, NULL);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

int ls_mutex_cancel(struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    struct lock_claim *claim = lock_index_find(mutex, owner);
    bool pending = claim && lock_mutex_pending(claim);
    if (pending)
        lock_mutex_fail(claim, LS_ECANCELED, 0);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return pending ? LS_OK : LS_ENOENT;
}

int ls_mutex_release_start(struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = lock_mutex_release(mutex, owner, NULL);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}
