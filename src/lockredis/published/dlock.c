/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Baidu's DLock, as its Java classes DistributedReentrantLock and RedisLockProcessor work. The lock is a key
 * with a lease. Threads of a process wait in a queue. A retry thread polls for them, and a lease thread
 * renews the lease.
 *
 * A thread of the program is an owner here. It first tries to take the key, also while another thread of the
 * process holds it. If that fails, it enters the queue. The first thread in the queue tries again at once,
 * and whenever it is unparked. Between its tries it parks, as the other threads of the queue do.
 *
 * The retry thread starts when a thread parks and no thread of the process holds. A grant interrupts it, and
 * it ends if it finds that no thread waits. It unparks the first thread of the queue when the key is gone, or
 * when the answer is lost or an error. The lease thread starts at a grant. It ends when it is interrupted, as
 * by a release, or finds the lease lost. Both are state machines with a timer. All retry threads of a process
 * share a connection, and so do all lease threads.
 *
 * DLock does not report a lost lease, and has no fencing token.
 *
 * Each bit of `mended` mends one flaw. dlock and dlock_one_host have no bit, dlock_mended all, and each other
 * recipe lacks the bit of its flaw. MENDED_BELIEF hides some flaws: their recipes lack it, too. */
#include "lockredis/published/parts.h"
#include "scenario/recipes.h"

#include <hiredis/async.h>
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <string.h>

#define LOCKS_MAX 2
#define OWNERS_MAX 3
#define LEASE_MS 60000
#define BELIEF_MS (INT64_C(9) * LEASE_MS / 10)

#define NOBODY 255
#define LIFE_BYTES 16

#define RENEW                                                                                                \
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return "   \
    "nil end"
#define GIVE "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return nil end"

enum {
    MENDED_LEASE = 1,    /* each owner has a lease thread of its own */
    MENDED_RETRY = 2,    /* a retry thread that was interrupted goes on if a waiting thread needs it */
    MENDED_THIRD = 4,    /* the lease is renewed at a third of its length */
    MENDED_LOSS = 8,     /* a renewal that finds the lease lost reports the loss */
    MENDED_ID = 16,      /* ids of owners are unique */
    MENDED_RELEASE = 32, /* a release whose reply is lost is sent again */
    MENDED_BELIEF = 64,  /* a loss is reported before a lease that was not renewed can end */
    MENDED_ERROR = 128,  /* an error is no answer: a release is sent again, and a try fails by LS_EREFUSED */
    MENDED_ALL = 255,
};

enum link { LINK_OWNER, LINK_RETRY = OWNERS_MAX, LINK_LEASE, LINKS };

enum phase { PHASE_NONE, PHASE_TRYING, PHASE_PARKED, PHASE_RELEASING };

enum actor_state { ACTOR_NONE, ACTOR_SLEEPS, ACTOR_ASKS };

struct thread {
    struct lock *lock;
    uint8_t owner;
    uint8_t phase; /* enum phase */
    bool pending;  /* an acquire has no answer */
    bool is_try;
    bool queued;
    bool permit; /* it was unparked while it was not parked, so its next park ends at once */
    uint8_t reserved[2];
    struct ls_timer again; /* repeats the release */
    struct ls_stamp sent;  /* when its last request for the key was sent */
};

/* The retry thread, or a lease thread. */
struct actor {
    struct lock *lock;
    uint8_t state; /* enum actor_state */
    bool interrupted;
    uint8_t owner; /* of a lease thread: owner whose hold it renews */
    bool outdated; /* of a lease thread: its request is about a former hold, and the next hold has begun */
    uint8_t reserved[4];
    struct ls_timer timer;
    struct ls_stamp sent; /* of a lease thread: when its last renewal was sent */
};

struct lock {
    struct state *state;
    uint8_t index;
    uint8_t owner; /* thread that holds; NOBODY = none does */
    uint8_t queue[OWNERS_MAX];
    uint8_t queued;
    uint8_t reserved[2];
    int hold;
    struct ls_timer belief; /* with MENDED_BELIEF: ends the hold before its lease can end */
    struct ls_stamp leased; /* with MENDED_BELIEF: when the request was sent that began the present lease */
    struct thread thread[OWNERS_MAX];
    struct actor retry, lease[OWNERS_MAX];
};

struct state {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    redisAsyncContext *context[LINKS];
    unsigned mended;
    bool stopping, one_host;
    uint8_t reserved[2];
    uint8_t life[LIFE_BYTES]; /* random id of this run of the program */
    struct lock lock[LOCKS_MAX];
    struct reports reports;
};

static void loop(struct thread *thread);

static void say(struct thread *thread, int kind, int rc)
{
    struct lock *lock = thread->lock;
    struct state *state = lock->state;
    reports_add(&state->reports, &(struct ls_report){.kind = kind,
                                                     .lock = lock->index,
                                                     .owner = thread->owner,
                                                     .rc = rc,
                                                     .depth = lock->owner == thread->owner ? lock->hold : 0});
}

/* Drops the mutex. */
static void tell(struct state *state)
{
    reports_tell(&state->reports, state->env);
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    struct state *state = context->data;
    (void)status;
    ls_env_lock(state->env);
    for (int i = 0; i < LINKS; i++) {
        if (state->context[i] == context) {
            state->context[i] = NULL;
        }
    }
    ls_env_unlock(state->env);
}

/* Returns the context of a connection, opened if need be; NULL = memory is short. */
static redisAsyncContext *open_link(struct state *state, int link)
{
    if (state->context[link] == NULL) {
        redisAsyncContext *context = redisAsyncConnect("127.0.0.1", parts_port(state->config->hosts));
        if (context != NULL) {
            context->data = state;
            redisAsyncSetDisconnectCallback(context, on_disconnect);
        }
        state->context[link] = context;
    }
    return state->context[link];
}

static const char *key_of(const struct lock *lock)
{
    return lock->state->config->lock_paths[lock->index];
}

#define ID_MAX 60

/* Writes the id of an owner: an address of the machine, as in DLock, and the number of the thread. With
 * `one_host` all processes have one address, also after a new start. Otherwise the address is random. With
 * MENDED_ID, random bytes of this start take the place of the address. */
static void id_of(const struct lock *lock, int owner, char id[ID_MAX])
{
    const struct state *state = lock->state;
    if ((state->mended & MENDED_ID) == 0) {
        snprintf(id, ID_MAX, "172.17.0.%d-%d", state->one_host ? 1 : state->life[3] + 1, owner + 1);
        return;
    }
    char life[2 * LIFE_BYTES + 1];
    parts_hex(state->life, LIFE_BYTES, life);
    snprintf(id, ID_MAX, "%s-%d", life, owner + 1);
}

static struct actor *lease_of(struct lock *lock, int owner)
{
    return &lock->lease[(lock->state->mended & MENDED_LEASE) != 0 ? owner : 0];
}

static void renew(void *ctx);

static void sleep_until_renewal(struct actor *lease, uint32_t delay_ms)
{
    lease->state = ACTOR_SLEEPS;
    ls_env_timer_start(lease->lock->state->env, &lease->timer, "lease", delay_ms, renew, lease);
}

static void start_lease(struct lock *lock, int owner)
{
    struct actor *lease = lease_of(lock, owner);
    if (lease->state == ACTOR_NONE) {
        lease->owner = (uint8_t)owner;
        lease->interrupted = false;
        sleep_until_renewal(lease, 1);
    } else if ((lock->state->mended & MENDED_LEASE) != 0) {
        lease->outdated = lease->interrupted;
    }
}

static void interrupt(struct actor *actor)
{
    if (actor->state == ACTOR_SLEEPS) {
        ls_env_timer_stop(actor->lock->state->env, &actor->timer);
        actor->state = ACTOR_NONE;
    } else if (actor->state == ACTOR_ASKS) {
        actor->interrupted = true;
    }
}

static void unpark_first(struct lock *lock)
{
    if (lock->queued > 0) {
        struct thread *first = &lock->thread[lock->queue[0]];
        if (first->phase == PHASE_PARKED) {
            loop(first);
        } else {
            first->permit = true;
        }
    }
}

static void lose(struct lock *lock, int owner)
{
    if (lock->owner == owner && lock->hold > 0) {
        ls_env_timer_stop(lock->state->env, &lock->belief);
        lock->owner = NOBODY;
        lock->hold = 0;
        say(&lock->thread[owner], LS_REPORT_HOLD_LOST, 0);
        unpark_first(lock);
    }
}

static void belief_over(void *ctx)
{
    struct lock *lock = ctx;
    interrupt(lease_of(lock, lock->owner));
    lose(lock, lock->owner);
    tell(lock->state);
    ls_env_lock(lock->state->env);
}

/* With MENDED_BELIEF, counts the holder's belief from `sent` on, when the request was sent that began the
 * lease. */
static void believe(struct lock *lock, const struct ls_stamp *sent)
{
    struct ls_env *env = lock->state->env;
    if ((lock->state->mended & MENDED_BELIEF) != 0) {
        int64_t left = BELIEF_MS - ls_env_elapsed_ms(env, sent);
        lock->leased = *sent;
        ls_env_timer_start(env, &lock->belief, "belief", left > 0 ? (uint32_t)left : 0, belief_over, lock);
    }
}

static void renewed(struct actor *lease, const redisReply *reply)
{
    bool lost = reply != NULL && reply->type == REDIS_REPLY_NIL;
    lease->state = ACTOR_NONE;
    if (lease->outdated) {
        lease->outdated = false;
        start_lease(lease->lock, lease->owner);
        return;
    }
    if (reply != NULL && !lost && lease->lock->owner == lease->owner && lease->lock->hold > 0) {
        believe(lease->lock, &lease->sent);
    }
    if (lost && (lease->lock->state->mended & MENDED_LOSS) != 0) {
        lose(lease->lock, lease->owner);
    } else if (!lost && !lease->interrupted) {
        bool third = (lease->lock->state->mended & MENDED_THIRD) != 0;
        sleep_until_renewal(lease, third ? LEASE_MS / 3 : LEASE_MS * 3 / 4);
    }
    lease->interrupted = false;
}

static void on_renewed(redisAsyncContext *context, void *reply, void *ctx)
{
    struct actor *lease = ctx;
    struct state *state = lease->lock->state;
    (void)context;
    ls_env_lock(state->env);
    if (!state->stopping) {
        renewed(lease, parts_is_error(reply) ? NULL : reply);
    }
    tell(state);
}

static void renew(void *ctx)
{
    struct actor *lease = ctx;
    struct lock *lock = lease->lock;
    char id[ID_MAX];
    redisAsyncContext *context = open_link(lock->state, LINK_LEASE);
    id_of(lock, lease->owner, id);
    lease->state = ACTOR_ASKS;
    ls_env_stamp(lock->state->env, &lease->sent);
    if (context == NULL || redisAsyncCommand(context, on_renewed, lease, "EVAL %s 1 %s %s %d", RENEW,
                                             key_of(lock), id, LEASE_MS) != REDIS_OK) {
        renewed(lease, NULL);
    }
}

static void look(void *ctx);

static void sleep_until_look(struct actor *retry, uint32_t delay_ms)
{
    retry->state = ACTOR_SLEEPS;
    ls_env_timer_start(retry->lock->state->env, &retry->timer, "retry", delay_ms, look, retry);
}

static void start_retry(struct lock *lock)
{
    struct actor *retry = &lock->retry;
    if (retry->state == ACTOR_NONE) {
        retry->interrupted = false;
        sleep_until_look(retry, LEASE_MS / 10);
    } else if ((lock->state->mended & MENDED_RETRY) != 0) {
        retry->interrupted = false;
    }
}

static void looked(struct actor *retry, const redisReply *reply)
{
    struct lock *lock = retry->lock;
    bool is_free = reply == NULL || reply->type != REDIS_REPLY_STRING;
    if (is_free) {
        unpark_first(lock);
    }
    if (retry->interrupted) {
        retry->state = ACTOR_NONE;
        retry->interrupted = false;
    } else {
        sleep_until_look(retry, LEASE_MS / 6);
    }
}

static void on_looked(redisAsyncContext *context, void *reply, void *ctx)
{
    struct actor *retry = ctx;
    struct state *state = retry->lock->state;
    (void)context;
    ls_env_lock(state->env);
    if (!state->stopping) {
        looked(retry, reply);
    }
    tell(state);
}

static void look(void *ctx)
{
    struct actor *retry = ctx;
    struct lock *lock = retry->lock;
    if (lock->owner != NOBODY || lock->queued == 0) {
        retry->state = ACTOR_NONE;
        return;
    }
    redisAsyncContext *context = open_link(lock->state, LINK_RETRY);
    retry->state = ACTOR_ASKS;
    if (context == NULL || redisAsyncCommand(context, on_looked, retry, "GET %s", key_of(lock)) != REDIS_OK) {
        looked(retry, NULL);
    }
}

static void on_tried(redisAsyncContext *context, void *reply, void *ctx);

static void enqueue(struct thread *thread)
{
    thread->lock->queue[thread->lock->queued++] = thread->owner;
    thread->queued = true;
}

static void dequeue(struct thread *thread)
{
    struct lock *lock = thread->lock;
    if (thread->queued) { /* a queued thread that asked for the key is the first */
        memmove(&lock->queue[0], &lock->queue[1], OWNERS_MAX - 1);
        lock->queue[OWNERS_MAX - 1] = 0;
        lock->queued--;
        thread->queued = false;
    }
}

static void park(struct thread *thread)
{
    if (thread->lock->owner == NOBODY) {
        start_retry(thread->lock);
    }
    thread->phase = PHASE_PARKED;
    if (thread->permit) {
        thread->permit = false;
        loop(thread);
    }
}

static void tried(struct thread *thread, const redisReply *reply)
{
    struct lock *lock = thread->lock;
    bool has = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (has) {
        lock->owner = thread->owner;
        lock->hold = 1;
        interrupt(&lock->retry);
        start_lease(lock, thread->owner);
        believe(lock, &thread->sent);
        dequeue(thread);
        thread->phase = PHASE_NONE;
        thread->pending = false;
        thread->permit = false;
        say(thread, LS_REPORT_GRANTED, 0);
    } else if (thread->is_try) {
        bool refused = parts_is_error(reply) && (lock->state->mended & MENDED_ERROR) != 0;
        thread->phase = PHASE_NONE;
        thread->pending = false;
        say(thread, LS_REPORT_FAILED, refused ? LS_EREFUSED : LS_EBUSY);
    } else if (!thread->queued) {
        enqueue(thread);
        loop(thread);
    } else {
        park(thread);
    }
}

static void try(struct thread *thread)
{
    struct lock *lock = thread->lock;
    char id[ID_MAX];
    redisAsyncContext *context = open_link(lock->state, LINK_OWNER + thread->owner);
    id_of(lock, thread->owner, id);
    thread->phase = PHASE_TRYING;
    ls_env_stamp(lock->state->env, &thread->sent);
    if (context == NULL || redisAsyncCommand(context, on_tried, thread, "SET %s %s NX PX %d", key_of(lock),
                                             id, LEASE_MS) != REDIS_OK) {
        tried(thread, NULL);
    }
}

static void loop(struct thread *thread)
{
    if (thread->lock->queue[0] == thread->owner) {
        try(thread);
    } else {
        park(thread);
    }
}

static void on_tried(redisAsyncContext *context, void *reply, void *ctx)
{
    struct thread *thread = ctx;
    struct state *state = thread->lock->state;
    (void)context;
    ls_env_lock(state->env);
    if (!state->stopping) {
        tried(thread, reply);
    }
    tell(state);
}

/* Ends a release, in DLock's order. Another thread may have taken the lock since the key was deleted. */
static void released(struct thread *thread)
{
    struct lock *lock = thread->lock;
    if (lock->owner == thread->owner) {
        lock->owner = NOBODY;
    }
    interrupt(lease_of(lock, thread->owner));
    thread->phase = PHASE_NONE;
    say(thread, LS_REPORT_FREED, 0);
    unpark_first(lock);
    if (thread->pending) {
        try(thread);
    }
}

static void answered(struct thread *thread, const redisReply *reply);
static void give(struct thread *thread);

static void on_released(redisAsyncContext *context, void *reply, void *ctx)
{
    struct thread *thread = ctx;
    struct state *state = thread->lock->state;
    (void)context;
    ls_env_lock(state->env);
    if (!state->stopping) {
        answered(thread, reply);
    }
    tell(state);
}

static void ask_again(void *ctx)
{
    struct thread *thread = ctx;
    give(thread);
    tell(thread->lock->state);
    ls_env_lock(thread->lock->state->env);
}

/* Handles the reply to a release. For DLock any reply, and a lost one, ends the release. */
static void answered(struct thread *thread, const redisReply *reply)
{
    struct state *state = thread->lock->state;
    unsigned mend = reply == NULL ? MENDED_RELEASE : MENDED_ERROR;
    if ((reply == NULL || parts_is_error(reply)) && (state->mended & mend) != 0) {
        ls_env_timer_start(state->env, &thread->again, "again", 100, ask_again, thread);
    } else {
        released(thread);
    }
}

static void give(struct thread *thread)
{
    struct lock *lock = thread->lock;
    char id[ID_MAX];
    redisAsyncContext *context = open_link(lock->state, LINK_OWNER + thread->owner);
    id_of(lock, thread->owner, id);
    if (context == NULL || redisAsyncCommand(context, on_released, thread, "EVAL %s 1 %s %s", GIVE,
                                             key_of(lock), id) != REDIS_OK) {
        answered(thread, NULL);
    }
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config, unsigned mended,
                 bool one_host)
{
    struct state *state = memory;
    ls_env_lock(env);
    ls_env_unique_id(env, state->life);
    state->env = env;
    state->config = config;
    state->mended = mended;
    state->one_host = one_host;
    for (int l = 0; l < LOCKS_MAX; l++) {
        struct lock *lock = &state->lock[l];
        lock->state = state;
        lock->index = (uint8_t)l;
        lock->owner = NOBODY;
        lock->retry.lock = lock;
        for (int o = 0; o < OWNERS_MAX; o++) {
            lock->thread[o].lock = lock;
            lock->thread[o].owner = (uint8_t)o;
            lock->lease[o].lock = lock;
        }
    }
    ls_env_unlock(env);
    return LS_OK;
}

static void stop(void *memory)
{
    struct state *state = memory;
    redisAsyncContext *context[LINKS];
    ls_env_lock(state->env);
    state->stopping = true;
    memcpy(context, state->context, sizeof context);
    for (int l = 0; l < LOCKS_MAX; l++) {
        struct lock *lock = &state->lock[l];
        ls_env_timer_stop(state->env, &lock->retry.timer);
        ls_env_timer_stop(state->env, &lock->belief);
        for (int o = 0; o < OWNERS_MAX; o++) {
            struct thread *thread = &lock->thread[o];
            ls_env_timer_stop(state->env, &lock->lease[o].timer);
            ls_env_timer_stop(state->env, &thread->again);
            if (thread->phase == PHASE_RELEASING) {
                say(thread, LS_REPORT_FREED, 0);
            }
            if (thread->pending) {
                say(thread, LS_REPORT_FAILED, LS_ECLOSED);
            }
        }
    }
    tell(state);
    for (int i = 0; i < LINKS; i++) {
        if (context[i] != NULL) {
            redisAsyncFree(context[i]);
        }
    }
}

static struct thread *thread_of(void *memory, int lock, int owner)
{
    struct state *state = memory;
    bool known =
        lock >= 0 && lock < LOCKS_MAX && lock < state->config->lock_count && owner >= 0 && owner < OWNERS_MAX;
    return known ? &state->lock[lock].thread[owner] : NULL;
}

/* DLock has no tryLock() with a time. */
static int acquire(void *memory, int lock_index, int owner, int timeout_ms)
{
    struct state *state = memory;
    struct thread *thread = thread_of(memory, lock_index, owner);
    if (thread == NULL || thread->pending || timeout_ms > 0) {
        return LS_EINVAL;
    }
    struct lock *lock = thread->lock;
    ls_env_lock(state->env);
    if (lock->owner == owner && thread->phase != PHASE_RELEASING) {
        lock->hold++;
        say(thread, LS_REPORT_GRANTED, 0);
    } else {
        thread->pending = true;
        thread->is_try = timeout_ms == 0;
        if (thread->phase == PHASE_NONE) {
            try(thread);
        }
    }
    tell(state);
    return LS_OK;
}

/* A thread in DLock's lock() cannot be interrupted. */
static int cancel(void *memory, int lock, int owner)
{
    const struct thread *thread = thread_of(memory, lock, owner);
    return thread != NULL && thread->pending ? LS_EINVAL : LS_ENOENT;
}

static int release(void *memory, int lock_index, int owner)
{
    struct state *state = memory;
    struct thread *thread = thread_of(memory, lock_index, owner);
    if (thread == NULL || thread->lock->owner != owner || thread->phase == PHASE_RELEASING) {
        return LS_ENOTOWNER;
    }
    struct lock *lock = thread->lock;
    ls_env_lock(state->env);
    if (--lock->hold == 0) {
        ls_env_timer_stop(state->env, &lock->belief);
        thread->phase = PHASE_RELEASING;
        give(thread);
    }
    tell(state);
    return LS_OK;
}

static enum ls_belief query(const void *memory, int lock_index, int owner)
{
    const struct state *state = memory;
    if (lock_index >= LOCKS_MAX || owner >= OWNERS_MAX) {
        return LS_NOT_HELD;
    }
    const struct lock *lock = &state->lock[lock_index];
    bool holds = lock->owner == owner && lock->hold > 0;
    bool in_time = (state->mended & MENDED_BELIEF) == 0 ||
                   ls_env_elapsed_ms(state->env, &lock->leased) < BELIEF_MS; /* its timer may be late */
    return !holds ? LS_NOT_HELD : in_time ? LS_HELD : LS_UNKNOWN;
}

#define START(NAME, MENDED, ONE_HOST)                                                                        \
    static int NAME(void *memory, struct ls_env *env, const struct ls_recipe_config *config)                 \
    {                                                                                                        \
        return start(memory, env, config, MENDED, ONE_HOST);                                                 \
    }

START(start_dlock, 0, false)
START(start_one_host, 0, true)
START(start_mended, MENDED_ALL, true)
START(start_shared_thread, MENDED_ALL & ~(MENDED_LEASE | MENDED_BELIEF), true)
START(start_forgotten, MENDED_ALL & ~MENDED_RETRY, true)
START(start_late, MENDED_ALL & ~(MENDED_THIRD | MENDED_BELIEF), true)
START(start_untold, MENDED_ALL & ~(MENDED_LOSS | MENDED_BELIEF), true)
START(start_address, MENDED_ALL & ~MENDED_ID, true)
START(start_one_release, MENDED_ALL & ~MENDED_RELEASE, true)
START(start_unbounded, MENDED_ALL & ~MENDED_BELIEF, true)
START(start_error, MENDED_ALL & ~MENDED_ERROR, true)

static const struct ls_timer_row TIMERS[] = {
    {"retry", LS_TIMER_POLL}, {"lease", LS_TIMER_RENEWAL}, {"belief", LS_TIMER_LEASE}, {NULL, LS_TIMER_WORK}};

#define RECIPE(NAME, SUMMARY, BREAKS, START_FN, MISSES)                                                      \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .breaks = (BREAKS), .state_size = sizeof(struct state),        \
        .start = (START_FN), .stop = stop, .acquire = acquire, .cancel = cancel, .release = release,         \
        .query = query, .reentrant = true, .timers = TIMERS, .coordinator = "redis",                         \
        .lease_misses = (MISSES)                                                                             \
    }

static const struct ls_recipe RECIPES[] = {
    RECIPE("dlock", "Baidu's DLock: a lease, a queue of threads, a thread that polls and one that renews",
           "held_lease_is_renewed", start_dlock, 0),
    RECIPE("dlock_one_host", "DLock where all processes find the same address", "hold_keeps_its_node",
           start_one_host, 0),
    RECIPE("dlock_mended", "DLock without eight of its flaws, which the next recipes have one by one", NULL,
           start_mended, 1),
    RECIPE("dlock_shared_lease_thread", "a grant takes over a lease thread that is about to end",
           "held_lease_is_renewed", start_shared_thread, 1),
    RECIPE("dlock_forgotten_thread", "a thread relies on a retry thread that is about to end",
           "no_lost_wakeup", start_forgotten, 1),
    RECIPE("dlock_late_renewal", "the lease is renewed so late that one lost renewal ends it",
           "held_lease_is_renewed", start_late, 0),
    RECIPE("dlock_untold_loss", "a renewal that finds the key gone tells nobody", "every_loss_is_told",
           start_untold, 1),
    RECIPE("dlock_address_as_id", "owners are known by an address and a thread number", "hold_keeps_its_node",
           start_address, 1),
    RECIPE("dlock_unanswered_release", "a release without an answer counts as done",
           "release_matches_acquire", start_one_release, 1),
    RECIPE("dlock_unbounded_belief", "a holder that is cut off believes longer than its lease",
           "held_lease_is_renewed", start_unbounded, 1),
    RECIPE("dlock_error_as_answer", "an error of a server counts as the answer to a request",
           "release_matches_acquire", start_error, 1),
};

__attribute__((constructor)) static void add_recipes(void)
{
    for (int i = 0; i < (int)(sizeof RECIPES / sizeof RECIPES[0]); i++) {
        recipe_add(&RECIPES[i]);
    }
}
