/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Owners: their claims, and the answers that they get. An answer goes to the thread that waits for it, or
 * into the queue of notes, from which lockredis_claim_deliver() makes callbacks. */
#include "lockredis/internal.h"
#include "lockredis/loop.h"

#include <stddef.h>

struct redis_claim *lockredis_claim_add(struct redis_lock *lock, uint64_t owner)
{
    struct redis_claim *claim = ls_env_alloc(lock->redis->env, sizeof *claim);
    if (claim == NULL) {
        return NULL;
    }
    struct redis_claim **end = &lock->first;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = claim;
    claim->lock = lock;
    claim->owner = owner;
    claim->phase = CLAIM_WAITS;
    return claim;
}

static bool is_in(const struct redis_claim *claim, unsigned phases)
{
    return (phases >> claim->phase & 1u) != 0;
}

struct redis_claim *lockredis_claim_find(const struct redis_lock *lock, uint64_t owner, unsigned phases)
{
    struct redis_claim *claim = lock->first;
    while (claim != NULL && (claim->owner != owner || !is_in(claim, phases))) {
        claim = claim->next;
    }
    return claim;
}

struct redis_claim *lockredis_claim_first(const struct redis_lock *lock, unsigned phases)
{
    struct redis_claim *claim = lock->first;
    while (claim != NULL && !is_in(claim, phases)) {
        claim = claim->next;
    }
    return claim;
}

struct redis_call *lockredis_claim_next_call(const struct ls_redis *redis)
{
    for (const struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
        for (const struct redis_claim *claim = lock->first; claim != NULL; claim = claim->next) {
            if (claim->call != NULL) {
                return claim->call;
            }
        }
    }
    return NULL;
}

bool lockredis_claim_awaits_callback(const struct ls_redis *redis)
{
    const unsigned asks = 1u << CLAIM_WAITS | 1u << CLAIM_LEAVES;
    for (const struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
        for (const struct redis_claim *claim = lock->first; claim != NULL; claim = claim->next) {
            if (claim->call == NULL && is_in(claim, asks)) {
                return true;
            }
        }
    }
    return false;
}

static void note(struct redis_claim *claim, uint8_t what)
{
    struct ls_redis *redis = claim->lock->redis;
    claim->tells |= what;
    if (claim->noted) {
        return;
    }
    claim->noted = true;
    claim->next_note = NULL;
    if (redis->notes == NULL) {
        redis->notes = claim;
    } else {
        redis->last_note->next_note = claim;
    }
    redis->last_note = claim;
}

static bool tell_thread(struct redis_claim *claim, int rc)
{
    struct redis_call *call = claim->call;
    if (call == NULL) {
        return false;
    }
    call->rc = rc;
    call->done = true;
    claim->call = NULL;
    lockredis_loop_answered(claim->lock->redis, call);
    return true;
}

void lockredis_claim_answer(struct redis_claim *claim, int rc, int64_t token)
{
    ls_env_timer_stop(claim->lock->redis->env, &claim->deadline_timer);
    claim->done_rc = (int8_t)rc;
    if (rc == LS_OK) {
        claim->phase = CLAIM_HOLDS;
        claim->depth = 1;
        claim->token = token;
    }
    if (!tell_thread(claim, rc)) {
        note(claim, TELL_DONE);
    }
    if (rc != LS_OK) {
        lockredis_claim_end(claim);
    }
}

void lockredis_claim_answer_all(struct redis_lock *lock, bool tries_only, int rc)
{
    struct redis_claim *next;
    for (struct redis_claim *claim = lock->first; claim != NULL; claim = next) {
        next = claim->next;
        if (claim->phase == CLAIM_WAITS && (claim->is_try || !tries_only)) {
            lockredis_claim_answer(claim, rc, 0);
        }
    }
}

void lockredis_claim_lose(struct redis_claim *claim)
{
    claim->phase = CLAIM_LOST;
    note(claim, TELL_LOST);
}

void lockredis_claim_freed(struct redis_claim *claim, int rc)
{
    claim->freed_rc = (int8_t)rc;
    if (!tell_thread(claim, rc)) {
        note(claim, TELL_FREED);
    }
    lockredis_claim_end(claim);
}

void lockredis_claim_end(struct redis_claim *claim)
{
    claim->phase = CLAIM_OVER;
    if (claim->noted) {
        return; /* deliver() ends it */
    }
    struct redis_lock *lock = claim->lock;
    struct redis_claim **link = &lock->first;
    while (*link != claim) {
        link = &(*link)->next;
    }
    *link = claim->next;
    ls_env_free(lock->redis->env, claim);
}

static void call_back(struct ls_redis_mutex *mutex, const struct redis_claim *claim)
{
    const struct ls_redis_mutex_ops *ops = lockredis_client_constant(mutex->ops);
    if (ops == NULL) {
        return;
    }
    if ((claim->tells & TELL_DONE) != 0 && ops->on_done != NULL) {
        int64_t token = claim->done_rc == LS_OK ? claim->token : 0;
        ops->on_done(mutex, claim->owner, claim->done_rc, token);
    }
    if ((claim->tells & TELL_LOST) != 0 && ops->on_lost != NULL) {
        ops->on_lost(mutex, claim->owner, claim->token);
    }
    if ((claim->tells & TELL_FREED) != 0 && ops->on_freed != NULL) {
        ops->on_freed(mutex, claim->owner, claim->freed_rc);
    }
}

static void deliver(struct ls_redis *redis, struct redis_claim *claim)
{
    struct redis_claim told = *claim;
    struct ls_redis_mutex *mutex = claim->lock->mutex;
    claim->noted = false;
    claim->tells = 0;
    if (claim->phase == CLAIM_OVER) {
        lockredis_claim_end(claim);
    }
    if (mutex != NULL) {
        ls_env_unlock(redis->env);
        ls_env_callback_enter(redis->env);
        call_back(mutex, &told);
        ls_env_callback_leave(redis->env);
        ls_env_lock(redis->env);
    }
}

void lockredis_claim_deliver(struct ls_redis *redis)
{
    if (redis->delivering || redis->notes == NULL || lockredis_loop_defers(redis)) {
        return;
    }
    redis->delivering = true;
    struct redis_claim *claim;
    while ((claim = redis->notes) != NULL) {
        redis->notes = claim->next_note;
        redis->last_note = redis->notes != NULL ? redis->last_note : NULL;
        claim->next_note = NULL;
        deliver(redis, claim);
    }
    redis->delivering = false;
    lockredis_client_changed(redis);
}
