/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Published defects of locks that are one key with an owner's id. redis_py_mended has none of them. It takes
 * the key by a script that recognizes its id, renews the lease, and reports a loss. It repeats a release
 * until it is answered without an error. Owners poll while they wait.
 *
 * redis_py_mended works like redis-py's Lock, but renews the lease itself, which redis-py leaves to the
 * caller. A holder that is cut off still believes that it holds.
 *
 * Each bit FLAW_… of `flaws` is one defect. Without the bit, the code does as redis_py_mended. */
#include "lockredis/published/attempts.h"
#include "scenario/recipes.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <string.h>

#define LEASE_MS 30000
#define POLL_MS 100

enum {
    /* redis/redis-py#415: the value of the key is a time. A release deletes the key if that time is not older
     * than the owner's: so it also deletes a successor's. Times are a counter here: there is no clock. */
    FLAW_TIMES = 1,

    /* redis/redis-py#818: SETNX takes the key, and PEXPIRE gives it a lease. If no PEXPIRE follows, the key
     * stays. */
    FLAW_LEASE_LATER = 2,

    /* redis/redis-py#4258: in redis-py, a release forgets the id before it is sent, so it cannot be repeated.
     * Here a release without a reply is not repeated. */
    FLAW_TOKEN_DROPPED = 4,

    /* No defect: the key has no lease, as in redis-py unless the user asks for one. */
    WITHOUT_LEASE = 8,

    /* linagora/cozy-stack#4911: a renewal that finds the key gone, or another owner's, is repeated, and tells
     * of no loss. */
    FLAW_RENEWS_FOR_EVER = 16,
};

#define TAKE_TIME                                                                                            \
    "if redis.call('exists',KEYS[1])==1 then return 0 end local now=redis.call('incr',KEYS[2]) "             \
    "redis.call('set',KEYS[1],now,'PX',ARGV[1]) return now"
#define TAKE_WITHOUT_LEASE                                                                                   \
    "if redis.call('get',KEYS[1])==ARGV[1] or redis.call('set',KEYS[1],ARGV[1],'NX') then return 1 end "     \
    "return 0"
#define GIVE_BY_TIME                                                                                         \
    "if tonumber(redis.call('get',KEYS[1]) or 0)>=(tonumber(ARGV[1]) or math.huge) then "                    \
    "return redis.call('del',KEYS[1]) end return 0"

static bool has(const struct attempt *attempt, unsigned flaw)
{
    return (attempt->all->flaws & flaw) != 0;
}

static void identify(struct attempt *attempt)
{
    uint8_t id[16];
    if (has(attempt, FLAW_TIMES)) {
        snprintf(attempt->id, sizeof attempt->id, "none"); /* took() sets it to the time */
        return;
    }
    ls_env_unique_id(attempt->all->env, id);
    parts_hex(id, sizeof id, attempt->id);
}

static int send_take(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    const char *id = attempt->id;
    if (has(attempt, FLAW_TIMES)) {
        return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 2 %s %s:now %d", TAKE_TIME, key,
                                 key, LEASE_MS);
    }
    if (has(attempt, FLAW_LEASE_LATER)) {
        return attempt->step == 0
                   ? redisAsyncCommand(context, attempts_replied, attempt, "SETNX %s %s", key, id)
                   : redisAsyncCommand(context, attempts_replied, attempt, "PEXPIRE %s %d", key, LEASE_MS);
    }
    if (has(attempt, WITHOUT_LEASE)) {
        return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 1 %s %s", TAKE_WITHOUT_LEASE,
                                 key, id);
    }
    return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 1 %s %s %d", PARTS_TAKE, key, id,
                             LEASE_MS);
}

static int send(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    if (attempt->phase == PHASE_TAKING) {
        return send_take(attempt, context, key);
    }
    return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 1 %s %s",
                             has(attempt, FLAW_TIMES) ? GIVE_BY_TIME : PARTS_GIVE, key, attempt->id);
}

static int renew(struct watchdog *watchdog, const struct attempt *attempt, redisAsyncContext *context,
                 const char *key)
{
    return redisAsyncCommand(context, attempts_renewed, watchdog, "EVAL %s 1 %s %s %d", PARTS_RENEW, key,
                             attempt->id, LEASE_MS);
}

static enum verdict took(struct attempt *attempt, const redisReply *reply)
{
    if (reply->integer == 0) {
        return VERDICT_NO;
    }
    if (has(attempt, FLAW_TIMES)) {
        memset(attempt->id, 0, sizeof attempt->id);
        snprintf(attempt->id, sizeof attempt->id, "%lld", reply->integer);
    }
    if (has(attempt, FLAW_LEASE_LATER) && attempt->step == 0) {
        attempt->step = 1;
        return VERDICT_MORE;
    }
    return VERDICT_YES;
}

static void wait(struct attempt *attempt, const redisReply *reply)
{
    (void)reply;
    attempts_poll(attempt, "poll", POLL_MS);
}

static int gave(struct attempt *attempt, const redisReply *reply)
{
    watchdog_forget(&attempt->all->watchdog[attempt->lock], attempt->owner);
    if (reply == NULL) {
        return LS_EUNSURE;
    }
    return reply->integer == 1 || attempt->repeated ? LS_OK : LS_ELOST;
}

static bool gives_up(const struct attempt *attempt)
{
    return has(attempt, FLAW_TOKEN_DROPPED);
}

static void renewed(struct watchdog *watchdog, struct attempt *attempt, const redisReply *reply)
{
    bool lost = reply != NULL && reply->integer == 0 && !watchdog->outdated;
    if (lost && !has(attempt, FLAW_RENEWS_FOR_EVER)) {
        watchdog_forget(watchdog, attempt->owner);
        attempts_lose(attempt);
    }
    watchdog_arm(watchdog);
}

static const struct design DESIGN = {.lease_ms = LEASE_MS,
                                     .identify = identify,
                                     .send = send,
                                     .took = took,
                                     .wait = wait,
                                     .gave = gave,
                                     .renew = renew,
                                     .renewed = renewed,
                                     .gives_up = gives_up};

static const struct design WITHOUT = {
    .identify = identify, .send = send, .took = took, .wait = wait, .gave = gave, .gives_up = gives_up};

#define START(NAME, WHICH, FLAWS)                                                                            \
    static int NAME(void *memory, struct ls_env *env, const struct ls_recipe_config *config)                 \
    {                                                                                                        \
        return attempts_start(memory, env, config, &(WHICH), FLAWS);                                         \
    }

START(start_mended, DESIGN, 0)
START(start_times, DESIGN, FLAW_TIMES)
START(start_lease_later, DESIGN, FLAW_LEASE_LATER)
START(start_without_lease, WITHOUT, WITHOUT_LEASE)
START(start_token_dropped, WITHOUT, WITHOUT_LEASE | FLAW_TOKEN_DROPPED)
START(start_renews_for_ever, DESIGN, FLAW_RENEWS_FOR_EVER)

#define RECIPE(NAME, SUMMARY, BREAKS, START_FN)                                                              \
    ATTEMPTS_RECIPE(NAME, SUMMARY, BREAKS, struct attempts, START_FN, attempts_stop)

static const struct ls_recipe RECIPES[] = {
    RECIPE("redis_py_mended", "a key with an owner's id and a lease; the next recipes have a flaw each", NULL,
           start_mended),
    RECIPE("redis_py_release_by_time", "a release compares times instead of owners (redis-py 415)",
           "hold_keeps_its_node", start_times),
    RECIPE("redis_py_lease_later",
           "the key gets its lease by a second command, which may never come (redis-py 818)",
           "no_lost_wakeup", start_lease_later),
    RECIPE("redis_py_without_lease", "redis_py_mended without a lease, redis-py's default", NULL,
           start_without_lease),
    RECIPE("redis_py_token_dropped",
           "redis_py_without_lease whose release forgets its token first (redis-py 4258)", "no_lost_wakeup",
           start_token_dropped),
    RECIPE("cozy_renews_for_ever",
           "a renewal that finds the lease lost is tried again for ever (cozy-stack 4911)",
           "held_lease_is_renewed", start_renews_for_ever),
};

__attribute__((constructor)) static void add_recipes(void)
{
    for (int i = 0; i < (int)(sizeof RECIPES / sizeof RECIPES[0]); i++) {
        recipe_add(&RECIPES[i]);
    }
}
