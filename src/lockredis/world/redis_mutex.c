/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex on Redis as a recipe for drivers. Owner n of the driver is owner n + 1 of the library.
 *
 * It has no idle(): a request that is done late may leave a key, which goes when its lease ends. */
#include "lockredis/internal.h"
#include "scenario/recipes.h"

#include <lockstep/recipe.h>
#include <lockstep/redis_mutex.h>

#define LOCKS_MAX 8

struct state {
    struct ls_redis redis; /* first: state_of() relies on that */
    const struct ls_recipe_config *config;
    struct ls_redis_mutex mutex[LOCKS_MAX];
    bool closes; /* a close is running, which reports no lost hold */
    uint8_t reserved[7];
};

static struct state *state_of(const struct ls_redis_mutex *mutex)
{
    return (struct state *)(void *)mutex->redis;
}

static void report(struct ls_redis_mutex *mutex, uint64_t owner, struct ls_report what)
{
    struct state *state = state_of(mutex);
    what.lock = (int)(mutex - state->mutex);
    what.owner = (int)owner - 1;
    ls_report(state->redis.env, &what);
}

static void on_done(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    if (rc == LS_OK) {
        report(mutex, owner, (struct ls_report){.kind = LS_REPORT_GRANTED, .depth = 1, .token = token});
    } else {
        report(mutex, owner, (struct ls_report){.kind = LS_REPORT_FAILED, .rc = rc});
    }
}

static void on_freed(struct ls_redis_mutex *mutex, uint64_t owner, int rc)
{
    report(mutex, owner, (struct ls_report){.kind = LS_REPORT_FREED, .rc = rc});
}

static void on_lost(struct ls_redis_mutex *mutex, uint64_t owner, int64_t token)
{
    if (!state_of(mutex)->closes) {
        report(mutex, owner, (struct ls_report){.kind = LS_REPORT_HOLD_LOST, .token = token});
    }
}

static const struct ls_redis_mutex_ops OPS = {.on_done = on_done, .on_freed = on_freed, .on_lost = on_lost};

static int start_with(void *memory, struct ls_env *env, const struct ls_recipe_config *config,
                      const struct ls_redis_options *options)
{
    struct state *state = memory;
    state->config = config;
    int rc = config->lock_count <= LOCKS_MAX ? ls_redis_init(&state->redis, env, config->hosts, options)
                                             : LS_EINVAL;
    for (int i = 0; i < config->lock_count && rc == LS_OK; i++) {
        rc = ls_redis_mutex_init(&state->mutex[i], &state->redis, config->lock_paths[i], &OPS);
    }
    return rc == LS_OK ? ls_redis_start(&state->redis) : rc;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, NULL);
}

static int start_confirmed(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    static const struct ls_redis_options options = {.replicas = 1};
    return start_with(memory, env, config, &options);
}

static void stop(void *memory)
{
    struct state *state = memory;
    state->closes = true;
    ls_redis_close(&state->redis);
}

static struct ls_redis_mutex *mutex_of(const void *memory, int lock)
{
    const struct state *state = memory;
    return lock >= 0 && lock < state->config->lock_count ? (struct ls_redis_mutex *)&state->mutex[lock]
                                                         : NULL;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct ls_redis_mutex *mutex = mutex_of(memory, lock);
    uint64_t number = (uint64_t)owner + 1;
    int rc = mutex != NULL ? ls_redis_mutex_acquire_start(mutex, number, timeout_ms) : LS_EINVAL;
    if (rc == 1) {
        report(mutex, number,
               (struct ls_report){.kind = LS_REPORT_GRANTED,
                                  .depth = (int)ls_redis_mutex_depth(mutex, number),
                                  .token = ls_redis_mutex_token(mutex, number)});
        rc = LS_OK;
    }
    return rc;
}

static int cancel(void *memory, int lock, int owner)
{
    struct ls_redis_mutex *mutex = mutex_of(memory, lock);
    return mutex != NULL ? ls_redis_mutex_cancel(mutex, (uint64_t)owner + 1) : LS_EINVAL;
}

static int release(void *memory, int lock, int owner)
{
    struct ls_redis_mutex *mutex = mutex_of(memory, lock);
    return mutex != NULL ? ls_redis_mutex_release_start(mutex, (uint64_t)owner + 1) : LS_EINVAL;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct ls_redis_mutex *mutex = mutex_of(memory, lock);
    return mutex != NULL ? ls_redis_mutex_query(mutex, (uint64_t)owner + 1) : LS_NOT_HELD;
}

static int close_lock(void *memory, int lock)
{
    struct state *state = memory;
    state->closes = true;
    int rc = ls_redis_mutex_close(mutex_of(memory, lock));
    state->closes = false;
    return rc;
}

static int open_lock(void *memory, int lock)
{
    struct state *state = memory;
    return ls_redis_mutex_init(&state->mutex[lock], &state->redis, state->config->lock_paths[lock], &OPS);
}

static int count_in(const struct redis_lock *lock, unsigned phases)
{
    int count = 0;
    for (const struct redis_claim *claim = lock->first; claim != NULL; claim = claim->next) {
        count += (phases >> claim->phase & 1u) != 0;
    }
    return count;
}

static const char *wrong(const void *memory)
{
    const struct state *state = memory;
    for (const struct redis_lock *lock = state->redis.locks; lock != NULL; lock = lock->next) {
        int holders = count_in(lock, 1u << CLAIM_HOLDS), leavers = count_in(lock, 1u << CLAIM_LEAVES);
        if (holders + leavers > 1) {
            return "two owners of a process hold or leave";
        }
        if ((holders == 1) != (lock->stage == STAGE_HELD)) {
            return "a lock is held without an owner, or an owner holds without the lock";
        }
        if (holders + leavers == 1 && lock->lease_timer.armed == 0) {
            return "nothing ends the belief in a lease";
        }
        if (lock->stage == STAGE_WAITING && lock->poll_timer.armed == 0) {
            return "a lock waits without a poll";
        }
        if (lock->stage == STAGE_NONE && count_in(lock, 1u << CLAIM_WAITS) > 0) {
            return "an owner waits for nothing";
        }
    }
    return NULL;
}

static const struct ls_timer_row TIMERS[] = {{"deadline", LS_TIMER_DEADLINE}, {"renewal", LS_TIMER_RENEWAL},
                                             {"lease", LS_TIMER_LEASE},       {"poll", LS_TIMER_POLL},
                                             {"patience", LS_TIMER_PATIENCE}, {NULL, LS_TIMER_WORK}};

#define MUTEX(NAME, SUMMARY, START)                                                                          \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .state_size = sizeof(struct state), .start = (START),          \
        .stop = stop, .acquire = acquire, .cancel = cancel, .release = release, .query = query,              \
        .reentrant = true, .close = close_lock, .open = open_lock, .in_reports = true, .wrong = wrong,       \
        .timers = TIMERS, .coordinator = "redis", .lease_misses = 2                                          \
    }

static const struct ls_recipe RECIPE = MUTEX(
    "redis_mutex",
    "the mutex of liblockstep_redis: a key with a lease, renewed, with fencing tokens and messages", start);

static const struct ls_recipe CONFIRMED = MUTEX(
    "redis_mutex_confirmed", "the same, and a replica has each grant before it is told", start_confirmed);

__attribute__((constructor)) static void add_recipes(void)
{
    recipe_add(&RECIPE);
    recipe_add(&CONFIRMED);
}
