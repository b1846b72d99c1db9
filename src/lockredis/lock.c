/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Attempts to get one key, and holds (internal.h). One request of a lock is under way at a time, so
 * redis_lock.asked is the request of each reply.
 *
 * stage       event: next stage
 * TAKING      YES: GIVING if no owner waits any more. Else TAKING if the belief is over, CONFIRMING with
 *             options.replicas, or HELD. LOST: TAKING again, or GIVING. NO: WAITING, TAKING if a message
 *             came meanwhile, or NONE. REFUSED: GIVING. LATER: TAKING after RETRY_MS, or GIVING.
 * CONFIRMING  enough replicas: HELD, or GIVING if no owner waits any more. Too few, or an error: GIVING, then
 *             WAITING if an owner waits. LOST, or the belief is over: TAKING.
 * WAITING     a message, or the poll: TAKING. No owner waits any more: GIVING, or NONE.
 * HELD        release: GIVING, or TAKING for the next owner. A loss: TAKING, GIVING or NONE.
 * GIVING      LOST: GIVING again. LATER: GIVING again while an owner leaves, or while no owner waits and the
 *             lease may stand. Another reply: NONE; from there TAKING or WAITING, if an owner waits.
 * If the lease of a hold that is being released ends, its release ends with LS_EUNSURE. If no request was
 * lost or is under way then, GIVING becomes TAKING or WAITING if an owner waits. UNKNOWN leaves the stage,
 * and the request is sent again. */
#include "lockredis/internal.h"

#include <stddef.h>
#include <string.h>

#define WAITS (1u << CLAIM_WAITS)
#define HOLDS (1u << CLAIM_HOLDS)
#define LEAVES (1u << CLAIM_LEAVES)

#define RETRY_MS 100 /* wait after ANSWER_LATER */
#define TURN_MS 10   /* time for other clients to take a key that is given back */

static struct ls_env *env_of(const struct redis_lock *lock)
{
    return lock->redis->env;
}

static bool is_waited_for(const struct redis_lock *lock)
{
    return lockredis_claim_first(lock, WAITS) != NULL;
}

static uint32_t belief_ms(const struct redis_lock *lock)
{
    return lockredis_client_lease_ms(lock->redis) / 10 * 9;
}

int64_t lockredis_lock_belief_left_ms(const struct redis_lock *lock)
{
    int64_t elapsed = ls_env_elapsed_ms(env_of(lock), &lock->confirmed);
    return elapsed < belief_ms(lock) ? belief_ms(lock) - elapsed : 0;
}

static void lease_over(void *ctx);
static void renewal_due(void *ctx);
static void poll_due(void *ctx);

static void watch_lease(struct redis_lock *lock)
{
    ls_env_timer_start(env_of(lock), &lock->lease_timer, "lease",
                       (uint32_t)lockredis_lock_belief_left_ms(lock), lease_over, lock);
}

/* Counts the belief from `sent` on: the lease began then, or later. */
static void confirm(struct redis_lock *lock)
{
    struct ls_env *env = env_of(lock);
    uint32_t third = lockredis_client_lease_ms(lock->redis) / 3;
    lock->confirmed = lock->sent;
    int64_t elapsed = ls_env_elapsed_ms(env, &lock->confirmed);
    uint32_t until = elapsed < third ? third - (uint32_t)elapsed : 0;
    ls_env_timer_start(env, &lock->renewal_timer, "renewal", until, renewal_due, lock);
    watch_lease(lock);
}

static void poll_in(struct redis_lock *lock, int64_t delay_ms)
{
    uint32_t lease = lockredis_client_lease_ms(lock->redis);
    uint32_t delay = delay_ms < lease ? (uint32_t)delay_ms : lease;
    ls_env_timer_start(env_of(lock), &lock->poll_timer, "poll", delay, poll_due, lock);
}

static void new_id(struct redis_lock *lock)
{
    ls_env_unique_id(env_of(lock), lock->id);
    lock->granted = false;
}

static void forget_ids(struct redis_lock *lock)
{
    memset(lock->id, 0, ID_SIZE);
    memset(lock->old, 0, ID_SIZE);
    lock->has = false;
    lock->granted = false;
}

bool lockredis_lock_has_id(const uint8_t id[ID_SIZE])
{
    static const uint8_t none[ID_SIZE];
    return memcmp(id, none, ID_SIZE) != 0;
}

static void enter(struct redis_lock *lock, enum lock_stage stage)
{
    ls_env_timer_stop(env_of(lock), &lock->poll_timer);
    lock->stage = (uint8_t)stage;
    lock->repeated = false;
    lock->pauses = false;
}

/* Begins to ask for the key. An attempt goes on with its id. After a hold the attempt needs a new one: with
 * the old id, the script would return the token of that hold. */
static void take(struct redis_lock *lock)
{
    if (lock->granted) {
        memcpy(lock->old, lock->id, ID_SIZE);
    }
    if (lock->granted || !lockredis_lock_has_id(lock->id)) {
        new_id(lock);
    }
    lock->woken = false;
    lock->stands_back = false;
    enter(lock, STAGE_TAKING);
}

static void wait_for_key(struct redis_lock *lock, int64_t poll_ms)
{
    enter(lock, STAGE_WAITING);
    lock->redis->hears = true;
    poll_in(lock, poll_ms);
}

/* Has the request of the stage sent again after RETRY_MS. */
static void pause(struct redis_lock *lock)
{
    lock->pauses = true;
    poll_in(lock, RETRY_MS);
}

/* Enters the stage that the waiting owners need. Precondition: no owner holds or leaves, and no grant is
 * being confirmed. If a GIVE was lost, GIVING goes on until one is answered: a late copy of it would delete
 * the key of a hold with the same id. */
static void choose(struct redis_lock *lock)
{
    if (lock->stage == STAGE_GIVING && lock->repeated) {
        return;
    }
    if (!is_waited_for(lock)) {
        lock->stands_back = false;
        if (lock->has && lock->stage != STAGE_GIVING) {
            enter(lock, STAGE_GIVING);
        } else if (!lock->has) {
            forget_ids(lock);
            enter(lock, STAGE_NONE);
        }
    } else if (lock->stands_back) {
        if (lock->stage != STAGE_WAITING) {
            wait_for_key(lock, TURN_MS);
        }
    } else if (lock->stage != STAGE_WAITING && lock->stage != STAGE_TAKING) {
        take(lock);
    }
}

void lockredis_lock_go_on(struct redis_lock *lock)
{
    bool answer_comes = lock->asked != REQUEST_NONE && lock->asked != REQUEST_RENEW;
    bool holds = lock->stage == STAGE_HELD || lock->stage == STAGE_CONFIRMING;
    if (!holds && !answer_comes && lockredis_claim_first(lock, LEAVES) == NULL) {
        choose(lock);
    }
}

static void grant(struct redis_lock *lock, int64_t token)
{
    lock->granted = true;
    enter(lock, STAGE_HELD);
    confirm(lock);
    lockredis_claim_answer(lockredis_claim_first(lock, WAITS), LS_OK, token);
}

static void end_lease(struct redis_lock *lock)
{
    ls_env_timer_stop(env_of(lock), &lock->renewal_timer);
    ls_env_timer_stop(env_of(lock), &lock->lease_timer);
    lock->renews = false;
}

static void freed(struct redis_lock *lock, int rc)
{
    struct redis_claim *leaving = lockredis_claim_first(lock, LEAVES);
    if (leaving != NULL) {
        ls_env_timer_stop(env_of(lock), &lock->lease_timer);
        lockredis_claim_freed(leaving, rc);
    }
}

int64_t lockredis_lock_token(const struct redis_lock *lock)
{
    const struct redis_claim *holder = lockredis_claim_first(lock, HOLDS);
    return holder != NULL ? holder->token : 0;
}

void lockredis_lock_leave(struct redis_lock *lock, struct redis_claim *claim)
{
    ls_env_timer_stop(env_of(lock), &lock->renewal_timer);
    lock->renews = false;
    claim->phase = CLAIM_LEAVES;
    claim->depth = 0;
    if (is_waited_for(lock) && lock->handovers < LS_REDIS_HANDOVERS_MAX) {
        lock->handovers++;
        take(lock);
    } else {
        lock->stands_back = is_waited_for(lock);
        enter(lock, STAGE_GIVING);
    }
}

/* Ends the hold by a loss. `has`: the key may still have its id. */
static void lose(struct redis_lock *lock, bool has)
{
    end_lease(lock);
    lockredis_claim_lose(lockredis_claim_first(lock, HOLDS));
    lock->has = has;
    if (!has) {
        forget_ids(lock);
    }
    enter(lock, STAGE_NONE);
    lockredis_lock_go_on(lock);
}

static void lease_over(void *ctx)
{
    struct redis_lock *lock = ctx;
    if (lock->stage == STAGE_HELD) {
        lose(lock, true);
    } else if (lock->stage == STAGE_CONFIRMING) {
        enter(lock, STAGE_TAKING);
    } else {
        freed(lock, LS_EUNSURE);
        lockredis_lock_go_on(lock);
    }
    lockredis_client_settle(lock->redis);
}

static void renewal_due(void *ctx)
{
    struct redis_lock *lock = ctx;
    lock->renews = true;
    lockredis_client_settle(lock->redis);
}

static void poll_due(void *ctx)
{
    struct redis_lock *lock = ctx;
    if (lock->pauses) {
        lock->pauses = false;
    } else {
        take(lock);
    }
    lockredis_client_settle(lock->redis);
}

/* A client that stands back asks when poll_timer fires, not at the message of its own release. */
void lockredis_lock_heard(struct redis_lock *lock)
{
    if (lock->stage == STAGE_WAITING && !lock->stands_back) {
        take(lock);
    } else if (lock->stage == STAGE_TAKING) {
        lock->woken = true;
    }
}

enum lock_request lockredis_lock_wants(const struct redis_lock *lock)
{
    if (lock->asked != REQUEST_NONE || lock->pauses) {
        return REQUEST_NONE;
    }
    switch ((enum lock_stage)lock->stage) {
    case STAGE_TAKING:
        return REQUEST_TAKE;
    case STAGE_CONFIRMING:
        return REQUEST_CONFIRM;
    case STAGE_GIVING:
        return REQUEST_GIVE;
    case STAGE_HELD:
        return lock->renews ? REQUEST_RENEW : REQUEST_NONE;
    default:
        return REQUEST_NONE;
    }
}

void lockredis_lock_sent(struct redis_lock *lock, enum lock_request request)
{
    lock->asked = (uint8_t)request;
    if (request == REQUEST_TAKE || request == REQUEST_RENEW) {
        ls_env_stamp(env_of(lock), &lock->sent);
    }
    if (request == REQUEST_TAKE) {
        lock->has = true;
        lock->woken = false;
    }
    lock->renews = false;
}

static void took(struct redis_lock *lock, int64_t token)
{
    memset(lock->old, 0, ID_SIZE);
    freed(lock, LS_OK);
    lock->confirmed = lock->sent;
    if (!is_waited_for(lock)) {
        enter(lock, STAGE_GIVING);
    } else if (lockredis_lock_belief_left_ms(lock) == 0) {
        enter(lock, STAGE_TAKING); /* the belief was over before the answer came */
    } else if (lockredis_client_options(lock->redis)->replicas > 0) {
        lock->token = token;
        enter(lock, STAGE_CONFIRMING);
        watch_lease(lock);
    } else {
        grant(lock, token);
    }
}

/* Another client has the key, whose lease ends in `left_ms`; negative = never. */
static void not_taken(struct redis_lock *lock, int64_t left_ms)
{
    freed(lock, lock->repeated ? LS_OK : LS_ELOST);
    memset(lock->old, 0, ID_SIZE);
    lock->has = false;
    lock->handovers = 0;
    lockredis_claim_answer_all(lock, true, LS_EBUSY);
    if (!is_waited_for(lock)) {
        choose(lock);
    } else if (lock->woken) {
        take(lock);
    } else {
        wait_for_key(lock, left_ms < 0 ? INT64_MAX : left_ms + 1);
    }
}

static void take_answered(struct redis_lock *lock, const struct lock_answer *answer)
{
    switch (answer->kind) {
    case ANSWER_YES:
        took(lock, answer->number);
        return;
    case ANSWER_NO:
        not_taken(lock, answer->number);
        return;
    case ANSWER_LATER:
        lockredis_claim_answer_all(lock, true, LS_EREFUSED);
        pause(lock);
        break;
    case ANSWER_REFUSED:
        freed(lock, LS_EREFUSED);
        lockredis_claim_answer_all(lock, false, LS_EREFUSED);
        break;
    default: /* ANSWER_LOST: the client may have the key */
        lock->repeated = true;
        lockredis_claim_answer_all(lock, true, LS_EBUSY);
        break;
    }
    lockredis_lock_go_on(lock);
}

static void confirm_answered(struct redis_lock *lock, const struct lock_answer *answer)
{
    bool enough =
        answer->kind == ANSWER_YES && answer->number >= lockredis_client_options(lock->redis)->replicas;
    ls_env_timer_stop(env_of(lock), &lock->lease_timer);
    if (lock->stage != STAGE_CONFIRMING) { /* lease_over() has left it */
        lockredis_lock_go_on(lock);
    } else if (answer->kind == ANSWER_LOST) {
        enter(lock, STAGE_TAKING); /* WAIT on another connection does not count this write */
        lock->repeated = true;
        lockredis_lock_go_on(lock);
    } else if (enough && is_waited_for(lock) && lockredis_lock_belief_left_ms(lock) > 0) {
        grant(lock, lock->token);
    } else {
        lockredis_claim_answer_all(lock, true, enough ? LS_EBUSY : LS_EREFUSED);
        lock->stands_back = is_waited_for(lock);
        enter(lock, STAGE_GIVING);
    }
    lock->token = 0;
}

static void renew_answered(struct redis_lock *lock, const struct lock_answer *answer)
{
    if (lock->stage != STAGE_HELD) {
        return;
    }
    switch (answer->kind) {
    case ANSWER_YES:
        confirm(lock);
        break;
    case ANSWER_NO:
        lose(lock, answer->number < 0);
        break;
    case ANSWER_LOST:
        lock->renews = true; /* over the next connection */
        break;
    default: /* tried again until the lease is over */
        ls_env_timer_start(env_of(lock), &lock->renewal_timer, "renewal",
                           lockredis_client_lease_ms(lock->redis) / 10, renewal_due, lock);
        break;
    }
}

/* Returns whether the lease of the last take or renewal may not have ended yet. */
static bool may_stand(const struct redis_lock *lock)
{
    return ls_env_elapsed_ms(env_of(lock), &lock->sent) < lockredis_client_lease_ms(lock->redis);
}

static void give_answered(struct redis_lock *lock, const struct lock_answer *answer)
{
    if (answer->kind == ANSWER_LOST) {
        lock->repeated = true;
        lockredis_claim_answer_all(lock, true, LS_EBUSY);
        return;
    }
    bool repeats = lockredis_claim_first(lock, LEAVES) != NULL || (!is_waited_for(lock) && may_stand(lock));
    if (answer->kind == ANSWER_LATER && repeats) {
        pause(lock); /* until the lease is over */
        return;
    }
    bool gone = answer->kind == ANSWER_YES || (answer->kind == ANSWER_NO && lock->repeated);
    freed(lock, gone ? LS_OK : answer->kind == ANSWER_NO ? LS_ELOST : LS_EREFUSED);
    forget_ids(lock);
    lock->handovers = 0;
    enter(lock, STAGE_NONE);
    lockredis_lock_go_on(lock);
}

void lockredis_lock_answered(struct redis_lock *lock, const struct lock_answer *answer)
{
    enum lock_request asked = lock->asked;
    lock->asked = REQUEST_NONE;
    if (answer->kind == ANSWER_UNKNOWN) {
        lock->renews = asked == REQUEST_RENEW;
        return;
    }
    switch (asked) {
    case REQUEST_TAKE:
        take_answered(lock, answer);
        break;
    case REQUEST_CONFIRM:
        confirm_answered(lock, answer);
        break;
    case REQUEST_RENEW:
        renew_answered(lock, answer);
        break;
    default:
        give_answered(lock, answer);
        break;
    }
}

struct redis_lock *lockredis_lock_open(struct ls_redis *redis, const char *name)
{
    size_t size = strlen(name) + 1;
    struct redis_lock *lock = ls_env_alloc(redis->env, sizeof *lock + size);
    if (lock == NULL) {
        return NULL;
    }
    memcpy(lock->name, name, size);
    lock->redis = redis;
    lock->next = redis->locks;
    redis->locks = lock;
    return lock;
}

void lockredis_lock_close(struct redis_lock *lock)
{
    struct redis_claim *claim;
    lock->closing = true;
    lockredis_claim_answer_all(lock, false, LS_ECLOSED);
    freed(lock, LS_EUNSURE);
    if (lock->stage == STAGE_HELD) {
        lose(lock, true);
    } else {
        lockredis_lock_go_on(lock);
    }
    while ((claim = lockredis_claim_first(lock, 1u << CLAIM_LOST)) != NULL) {
        lockredis_claim_end(claim);
    }
}

void lockredis_lock_forget_if_done(struct redis_lock *lock)
{
    struct ls_redis *redis = lock->redis;
    if (lock->mutex != NULL || lock->first != NULL || lock->stage != STAGE_NONE ||
        lock->asked != REQUEST_NONE) {
        return;
    }
    struct redis_lock **link = &redis->locks;
    while (*link != lock) {
        link = &(*link)->next;
    }
    *link = lock->next;
    ls_env_free(redis->env, lock);
}

void lockredis_lock_free_all(struct ls_redis *redis)
{
    struct redis_lock *lock;
    while ((lock = redis->locks) != NULL) {
        end_lease(lock);
        ls_env_timer_stop(redis->env, &lock->poll_timer);
        redis->locks = lock->next;
        ls_env_free(redis->env, lock);
    }
}
