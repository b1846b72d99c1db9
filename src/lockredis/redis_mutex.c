/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The public functions of a mutex: the asynchronous core, and the blocking shell over it. */
#include "lockredis/internal.h"
#include "lockredis/loop.h"

#include <stddef.h>
#include <string.h>

#define WAITS (1u << CLAIM_WAITS)
#define HOLDS (1u << CLAIM_HOLDS)
#define LOST (1u << CLAIM_LOST)

/* NULL = the mutex is closed. Atomic, because another thread may be closing it. */
static struct ls_redis *redis_of(const struct ls_redis_mutex *mutex)
{
    return __atomic_load_n(&mutex->redis, __ATOMIC_ACQUIRE);
}

/* Returns the client with the environment's mutex taken; NULL = `mutex` is closed, and nothing is taken. */
static struct ls_redis *lock_client(const struct ls_redis_mutex *mutex)
{
    struct ls_redis *redis = redis_of(mutex);
    if (redis == NULL) {
        return NULL;
    }
    ls_env_lock(redis->env);
    if (redis_of(mutex) != NULL) {
        return redis;
    }
    ls_env_unlock(redis->env);
    return NULL;
}

/* Does lock_client(), but returns NULL also while a close runs: a request would never be answered. */
static struct ls_redis *begin(const struct ls_redis_mutex *mutex)
{
    struct ls_redis *redis = lock_client(mutex);
    if (redis != NULL && mutex->lock->closing) {
        ls_env_unlock(redis->env);
        return NULL;
    }
    return redis;
}

static int finish(struct ls_redis *redis, int rc)
{
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
    return rc;
}

int ls_redis_mutex_init(struct ls_redis_mutex *mutex, struct ls_redis *redis, const char *name,
                        const struct ls_redis_mutex_ops *ops)
{
    if (mutex == NULL || redis == NULL || name == NULL || name[0] == 0 ||
        strlen(name) > LS_REDIS_NAME_SIZE_MAX) {
        return LS_EINVAL;
    }
    memset(mutex, 0, sizeof *mutex);
    ls_env_lock(redis->env);
    int rc = LS_ECLOSED;
    if (redis->state != LS_REDIS_CLOSED && !redis->closing) {
        mutex->lock = lockredis_lock_open(redis, name);
        rc = mutex->lock != NULL ? LS_OK : LS_ENOMEM;
    }
    if (rc == LS_OK) {
        mutex->lock->mutex = mutex;
        mutex->ops = lockredis_client_distance(ops);
        __atomic_store_n(&mutex->redis, redis, __ATOMIC_RELEASE);
    }
    ls_env_unlock(redis->env);
    return rc;
}

int ls_redis_mutex_close(struct ls_redis_mutex *mutex)
{
    struct ls_redis *redis = lock_client(mutex);
    if (redis == NULL) {
        return LS_OK;
    }
    if (ls_env_in_callback(redis->env)) {
        return finish(redis, LS_EDEADLK);
    }
    struct redis_lock *lock = mutex->lock;
    lockredis_lock_close(lock);
    lockredis_client_settle(redis);
    lockredis_client_drain(redis);
    if (mutex->redis != NULL) { /* no other thread has closed it meanwhile */
        __atomic_store_n(&mutex->redis, NULL, __ATOMIC_RELEASE);
        lock->mutex = NULL;
        lockredis_lock_forget_if_done(lock);
    }
    return finish(redis, LS_OK);
}

static void time_over(void *ctx)
{
    struct redis_claim *claim = ctx;
    struct redis_lock *lock = claim->lock;
    lockredis_claim_answer(claim, LS_ETIMEDOUT, 0);
    lockredis_lock_go_on(lock);
    lockredis_client_settle(lock->redis);
}

static int refusal(const struct ls_redis *redis, const struct redis_lock *lock, uint64_t owner,
                   int timeout_ms)
{
    bool foreign = (owner & LS_ENV_THREAD) != 0 && owner != ls_env_self(redis->env);
    if (owner == 0 || foreign) {
        return LS_EINVAL;
    }
    if (redis->state == LS_REDIS_NEW || redis->state == LS_REDIS_CLOSED) {
        return LS_ECLOSED;
    }
    if (redis->state == LS_REDIS_FAILED) {
        return redis->failure;
    }
    if (lockredis_claim_find(lock, owner, WAITS) != NULL) {
        return LS_EALREADY;
    }
    bool taken = lockredis_claim_first(lock, WAITS | HOLDS) != NULL;
    return timeout_ms == 0 && (taken || redis->state != LS_REDIS_CONNECTED) ? LS_EBUSY : LS_OK;
}

/* Returns 1 if the owner held already, and now holds one level more. */
static int acquire(struct redis_lock *lock, uint64_t owner, int timeout_ms, struct redis_call *call)
{
    struct ls_redis *redis = lock->redis;
    struct redis_claim *claim = lockredis_claim_find(lock, owner, HOLDS);
    if (claim != NULL) {
        if (claim->depth == UINT32_MAX) {
            return LS_EOVERFLOW;
        }
        claim->depth++;
        return 1;
    }
    int rc = refusal(redis, lock, owner, timeout_ms);
    if (rc != LS_OK) {
        return rc;
    }
    claim = lockredis_claim_add(lock, owner);
    if (claim == NULL) {
        return LS_ENOMEM;
    }
    if (timeout_ms > 0) {
        rc = ls_env_timer_start(redis->env, &claim->deadline_timer, "deadline", (uint32_t)timeout_ms,
                                time_over, claim);
    }
    if (rc != LS_OK) {
        lockredis_claim_end(claim);
        return rc;
    }
    claim->call = call;
    claim->is_try = timeout_ms == 0;
    lockredis_lock_go_on(lock);
    return LS_OK;
}

int ls_redis_mutex_acquire_start(struct ls_redis_mutex *mutex, uint64_t owner, int timeout_ms)
{
    struct ls_redis *redis = begin(mutex);
    return redis != NULL ? finish(redis, acquire(mutex->lock, owner, timeout_ms, NULL)) : LS_ECLOSED;
}

int ls_redis_mutex_cancel(struct ls_redis_mutex *mutex, uint64_t owner)
{
    struct ls_redis *redis = begin(mutex);
    if (redis == NULL) {
        return LS_ECLOSED;
    }
    struct redis_claim *claim = lockredis_claim_find(mutex->lock, owner, WAITS);
    if (claim != NULL) {
        lockredis_claim_answer(claim, LS_ECANCELED, 0);
        lockredis_lock_go_on(mutex->lock);
    }
    return finish(redis, claim != NULL ? LS_OK : LS_ENOENT);
}

static int release(struct redis_lock *lock, uint64_t owner, struct redis_call *call, bool *waits)
{
    struct redis_claim *claim = lockredis_claim_find(lock, owner, HOLDS);
    *waits = false;
    if (claim != NULL && claim->depth > 1) {
        claim->depth--;
        return LS_OK;
    }
    if (claim != NULL) {
        claim->call = call;
        *waits = true;
        lockredis_lock_leave(lock, claim);
        return LS_OK;
    }
    claim = lockredis_claim_find(lock, owner, LOST);
    if (claim == NULL) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth == 0) {
        lockredis_claim_end(claim);
    }
    return LS_ELOST;
}

int ls_redis_mutex_release_start(struct ls_redis_mutex *mutex, uint64_t owner)
{
    bool waits;
    struct ls_redis *redis = begin(mutex);
    return redis != NULL ? finish(redis, release(mutex->lock, owner, NULL, &waits)) : LS_ECLOSED;
}

static enum ls_belief query(const struct redis_lock *lock, uint64_t owner)
{
    if (lockredis_claim_find(lock, owner, HOLDS) == NULL) {
        return LS_NOT_HELD;
    }
    return lockredis_lock_belief_left_ms(lock) > 0 ? LS_HELD : LS_UNKNOWN;
}

enum ls_belief ls_redis_mutex_query(const struct ls_redis_mutex *mutex, uint64_t owner)
{
    struct ls_redis *redis = begin(mutex);
    enum ls_belief belief = redis != NULL ? query(mutex->lock, owner) : LS_NOT_HELD;
    if (redis != NULL) {
        ls_env_unlock(redis->env);
    }
    return belief;
}

int ls_redis_mutex_belief_left_ms(const struct ls_redis_mutex *mutex, uint64_t owner)
{
    struct ls_redis *redis = begin(mutex);
    int left = 0;
    if (redis != NULL) {
        left = query(mutex->lock, owner) == LS_HELD ? (int)lockredis_lock_belief_left_ms(mutex->lock) : 0;
        ls_env_unlock(redis->env);
    }
    return left;
}

/* Copies the owner's hold to *hold. False = it has none. */
static bool find_hold(const struct ls_redis_mutex *mutex, uint64_t owner, struct redis_claim *hold)
{
    struct ls_redis *redis = begin(mutex);
    if (redis == NULL) {
        return false;
    }
    const struct redis_claim *claim = lockredis_claim_find(mutex->lock, owner, HOLDS);
    if (claim != NULL) {
        *hold = *claim;
    }
    ls_env_unlock(redis->env);
    return claim != NULL;
}

uint32_t ls_redis_mutex_depth(const struct ls_redis_mutex *mutex, uint64_t owner)
{
    struct redis_claim hold;
    return find_hold(mutex, owner, &hold) ? hold.depth : 0;
}

int64_t ls_redis_mutex_token(const struct ls_redis_mutex *mutex, uint64_t owner)
{
    struct redis_claim hold;
    return find_hold(mutex, owner, &hold) ? hold.token : 0;
}

/* Does not use `redis` after the wait: the client may be gone when the call is answered. */
static int finish_call(struct ls_redis *redis, struct redis_call *call, int rc, bool waits)
{
    struct ls_env *env = redis->env;
    if (waits) {
        lockredis_loop_await(redis, call);
    } else {
        lockredis_client_settle(redis);
    }
    ls_env_unlock(env);
    ls_env_waiter_close(env, &call->waiter);
    return waits ? call->rc : rc;
}

/* Returns the client with the environment's mutex taken, and readies a blocking call. NULL = nothing is
 * taken, for the reason *rc. */
static struct ls_redis *begin_call(const struct ls_redis_mutex *mutex, struct redis_call *call, int *rc)
{
    *call = (struct redis_call){.rc = LS_OK};
    struct ls_redis *redis = begin(mutex);
    *rc = LS_ECLOSED;
    if (redis != NULL && ls_env_in_callback(redis->env)) {
        ls_env_unlock(redis->env);
        *rc = LS_EDEADLK;
        redis = NULL;
    }
    if (redis != NULL) {
        ls_env_waiter_init(redis->env, &call->waiter);
    }
    return redis;
}

int ls_redis_mutex_acquire(struct ls_redis_mutex *mutex, int timeout_ms)
{
    struct redis_call call;
    int rc;
    struct ls_redis *redis = begin_call(mutex, &call, &rc);
    if (redis == NULL) {
        return rc;
    }
    rc = acquire(mutex->lock, ls_env_self(redis->env), timeout_ms, &call);
    return finish_call(redis, &call, rc == 1 ? LS_OK : rc, rc == LS_OK);
}

int ls_redis_mutex_try(struct ls_redis_mutex *mutex)
{
    return ls_redis_mutex_acquire(mutex, 0);
}

int ls_redis_mutex_release(struct ls_redis_mutex *mutex)
{
    struct redis_call call;
    int rc;
    bool waits;
    struct ls_redis *redis = begin_call(mutex, &call, &rc);
    if (redis == NULL) {
        return rc;
    }
    rc = release(mutex->lock, ls_env_self(redis->env), &call, &waits);
    return finish_call(redis, &call, rc, waits);
}

enum ls_belief ls_redis_mutex_query_by_me(const struct ls_redis_mutex *mutex)
{
    const struct ls_redis *redis = redis_of(mutex);
    return redis != NULL ? ls_redis_mutex_query(mutex, ls_env_self(redis->env)) : LS_NOT_HELD;
}

int64_t ls_redis_mutex_token_by_me(const struct ls_redis_mutex *mutex)
{
    const struct ls_redis *redis = redis_of(mutex);
    return redis != NULL ? ls_redis_mutex_token(mutex, ls_env_self(redis->env)) : 0;
}
