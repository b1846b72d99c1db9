/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The design of Redisson's RLock. The key is a hash with one field: the owner, by the random id of the client
 * and the number of the thread. Its value is the number of levels.
 *
 * - The script TAKE adds a level if the key is free or the owner's. Otherwise its reply is the rest of the
 *   lease.
 * - If the process of an owner that waits is not subscribed to the key's channel, it subscribes. Then the
 *   owner asks once more. A subscribed owner waits for a message, or for the rest of the lease. Each message
 *   wakes one owner of a process, and all of them in the fair lock.
 * - A watchdog renews the lease at a third of it, while an owner of the process holds.
 * - The script GIVE removes a level. After the last level it deletes the key, and publishes a message.
 * - A TAKE or GIVE whose reply is lost is repeated.
 *
 * redisson_like works so. It does not report a lost lease, and has no fencing token. A process stays
 * subscribed, while Redisson unsubscribes when no owner waits.
 *
 * redisson_like has the first three bits of `flaws`, redisson_mended none. Each other recipe is
 * redisson_mended with the bit of a flaw, of the fair lock, or of both. */
#include "lockredis/published/attempts.h"
#include "scenario/recipes.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <string.h>

#define LEASE_MS 30000
#define PLACE_MS 5000
#define AGAIN_MS 100
#define LIFE_BYTES 16
#define NAME_MAX_BYTES 320

enum {
    /* A renewal that finds the key gone does not report the loss. */
    FLAW_UNTOLD = 1,

    /* If a request is done and then repeated, a level counts twice. Newer versions remember the answer to a
     * release. */
    FLAW_COUNTS_TWICE = 2,

    /* The watchdog takes a reply about a former hold for one about the present hold, and stops. */
    FLAW_OUTDATED = 4,

    /* redisson/redisson#2515: after a renewal that fails, the watchdog of the key sends no more. If the lease
     * ends before the release, the watchdog counts as running all the same. Then no later hold of the key is
     * renewed in this process. */
    FLAW_ERROR_ENDS = 8,

    /* redisson/redisson#3712: after a renewal that finds the key gone, the watchdog sends no more. It counts
     * as running all the same. */
    FLAW_STAYS_ON = 16,

    /* redisson/redisson#5761: an owner asks before it is subscribed, and not again after that. It sleeps on
     * if the message of the release came in between. */
    FLAW_MISSES = 32,

    /* No defect: the fair lock. Owners stand in a list, and the first one gets the key. Each has a place: a
     * key with a lease that each of its requests renews. A first owner whose place has ended is passed over.
     * In place of these keys, Redisson has a sorted set of times. The fake of Redis has no sorted sets. */
    FAIR = 64,

    /* redisson/redisson#2278, #2883, #3730: places outlive their owners, and a first owner that is gone
     * blocks the others. Here the places have no lease. In Redisson each place adds its time to those before
     * it, and an owner leaves the list by a request that may fail. */
    FLAW_PLACE_STAYS = 128,
};

#define TAKE                                                                                                 \
    "if redis.call('exists',KEYS[1])==0 or redis.call('hexists',KEYS[1],ARGV[1])==1 then "                   \
    "redis.call(ARGV[3],KEYS[1],ARGV[1],ARGV[4]) redis.call('pexpire',KEYS[1],ARGV[2]) return nil end "      \
    "return redis.call('pttl',KEYS[1])"
#define GIVE                                                                                                 \
    "if redis.call('hexists',KEYS[1],ARGV[1])==0 then return nil end "                                       \
    "redis.call(ARGV[3],KEYS[1],ARGV[1],ARGV[4]) "                                                           \
    "if tonumber(redis.call('hget',KEYS[1],ARGV[1]))>0 then "                                                \
    "redis.call('pexpire',KEYS[1],ARGV[2]) return 0 end "                                                    \
    "redis.call('del',KEYS[1]) redis.call('publish',KEYS[2],0) return 1"
#define RENEW                                                                                                \
    "if redis.call('hexists',KEYS[1],ARGV[1])==1 then return redis.call('pexpire',KEYS[1],ARGV[2]) end "     \
    "return 0"

/* The fair lock. KEYS[2] = the list, KEYS[3] = the owner's place, KEYS[4] = prefix of the names of places. */
#define PASS_OVER                                                                                            \
    "local first=redis.call('lindex',KEYS[2],0) "                                                            \
    "while first and first~=ARGV[1] and redis.call('exists',KEYS[4]..first)==0 do "                          \
    "redis.call('lpop',KEYS[2]) first=redis.call('lindex',KEYS[2],0) end "
#define TAKE_FAIR(LEASE_OF_PLACE)                                                                            \
    PASS_OVER                                                                                                \
    "local free=redis.call('exists',KEYS[1])==0 "                                                            \
    "if redis.call('hexists',KEYS[1],ARGV[1])==1 or (free and (not first or first==ARGV[1])) then "          \
    "redis.call('lrem',KEYS[2],0,ARGV[1]) redis.call('del',KEYS[3]) "                                        \
    "redis.call(ARGV[3],KEYS[1],ARGV[1],ARGV[4]) redis.call('pexpire',KEYS[1],ARGV[2]) return nil end "      \
    "if redis.call('exists',KEYS[3])==0 then redis.call('lrem',KEYS[2],0,ARGV[1]) "                          \
    "redis.call('rpush',KEYS[2],ARGV[1]) redis.call('set',KEYS[3],1) end " LEASE_OF_PLACE                    \
    "return redis.call('pttl',KEYS[3])"

enum subscription { SUBSCRIPTION_NONE, SUBSCRIPTION_ASKED, SUBSCRIPTION_MADE };

struct channel {
    struct attempts *all;
    uint8_t lock;
    uint8_t subscription; /* enum subscription */
    uint8_t permits;      /* number of messages that came while no owner slept, up to ATTEMPTS_OWNERS_MAX */
    uint8_t reserved[5];
    struct ls_timer again; /* repeats the subscription */
};

struct state {
    struct attempts all;      /* first: channel_of() relies on that */
    uint8_t life[LIFE_BYTES]; /* random id of the client */
    struct channel channel[ATTEMPTS_LOCKS_MAX];
};

static bool has(const struct attempts *all, unsigned flaw)
{
    return (all->flaws & flaw) != 0;
}

static struct channel *channel_of(const struct attempt *attempt)
{
    return &((struct state *)(void *)attempt->all)->channel[attempt->lock];
}

static const char *name_of(const char *what, const char *key)
{
    static char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "redisson_lock_%s:{%s}", what, key);
    return name;
}

static struct attempt *find(const struct channel *channel, enum phase phase)
{
    for (int owner = 0; owner < ATTEMPTS_OWNERS_MAX; owner++) {
        struct attempt *attempt = &channel->all->attempt[channel->lock][owner];
        if (attempt->phase == phase && attempt->pending) {
            return attempt;
        }
    }
    return NULL;
}

static void heard(struct channel *channel)
{
    struct attempt *sleeper = find(channel, PHASE_WAITING);
    bool fair = has(channel->all, FAIR);
    if (sleeper == NULL && find(channel, PHASE_TAKING) != NULL && channel->permits < ATTEMPTS_OWNERS_MAX) {
        channel->permits++;
    }
    for (; sleeper != NULL; sleeper = fair ? find(channel, PHASE_WAITING) : NULL) {
        attempts_wake(sleeper);
    }
}

/* Notes that the process is subscribed. Unless FLAW_MISSES is set, owners that waited for this, with `step`
 * 1, ask again. */
static void subscribed(struct channel *channel)
{
    channel->subscription = SUBSCRIPTION_MADE;
    for (int owner = 0; owner < ATTEMPTS_OWNERS_MAX; owner++) {
        struct attempt *attempt = &channel->all->attempt[channel->lock][owner];
        if (attempt->step == 1 && !has(channel->all, FLAW_MISSES)) {
            attempts_wake(attempt);
        }
    }
}

static void subscribe(void *ctx);

static void subscribe_later(struct channel *channel)
{
    channel->subscription = SUBSCRIPTION_ASKED;
    ls_env_timer_start(channel->all->env, &channel->again, "again", AGAIN_MS, subscribe, channel);
}

static void unsubscribed(struct channel *channel)
{
    channel->subscription = SUBSCRIPTION_NONE;
    if (find(channel, PHASE_WAITING) != NULL || find(channel, PHASE_TAKING) != NULL) {
        subscribe_later(channel);
    }
}

static void on_message(redisAsyncContext *context, void *answered, void *ctx)
{
    struct channel *channel = ctx;
    struct attempts *all = channel->all;
    const redisReply *reply = answered;
    (void)context;
    ls_env_lock(all->env);
    if (!all->stopping) {
        if (reply == NULL) {
            unsubscribed(channel);
        } else if (strcmp(reply->element[0]->str, "subscribe") == 0) {
            subscribed(channel);
        } else {
            heard(channel);
        }
    }
    reports_tell(&all->reports, all->env);
}

static void subscribe(void *ctx)
{
    struct channel *channel = ctx;
    redisAsyncContext *context = attempts_link(channel->all, LINK_MESSAGES);
    const char *name = name_of("_channel", attempts_key(channel->all, channel->lock));
    channel->subscription = SUBSCRIPTION_ASKED;
    if (context == NULL ||
        redisAsyncCommand(context, on_message, channel, "SUBSCRIBE %s", name) != REDIS_OK) {
        subscribe_later(channel);
    }
}

static void identify(struct attempt *attempt)
{
    const struct state *state = (const struct state *)(const void *)attempt->all;
    char life[2 * LIFE_BYTES + 1];
    parts_hex(state->life, LIFE_BYTES, life);
    snprintf(attempt->id, sizeof attempt->id, "%s:%d", life, attempt->owner + 1);
    channel_of(attempt)->permits = 0;
}

/* Returns the number of levels of the hold after the request of the phase. */
static int levels(const struct attempt *attempt)
{
    return attempt->phase == PHASE_TAKING ? attempt->depth + 1 : attempt->depth + attempt->gives - 1;
}

static int take_fair(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    char queue[NAME_MAX_BYTES];
    snprintf(queue, sizeof queue, "%s", name_of("queue", key));
    const char *place = name_of("timeout", key), *id = attempt->id;
    const char *take = has(attempt->all, FLAW_PLACE_STAYS)
                           ? TAKE_FAIR("")
                           : TAKE_FAIR("redis.call('pexpire',KEYS[3],ARGV[5]) ");
    return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 4 %s %s %s:%s %s: %s %d hset %d %d",
                             take, key, queue, place, id, place, id, LEASE_MS, levels(attempt), PLACE_MS);
}

static int send(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    bool takes = attempt->phase == PHASE_TAKING, twice = has(attempt->all, FLAW_COUNTS_TWICE);
    const char *command = twice ? "hincrby" : "hset";
    int number = !twice ? levels(attempt) : takes ? 1 : -1;
    if (takes && has(attempt->all, FAIR)) {
        return take_fair(attempt, context, key);
    }
    return redisAsyncCommand(context, attempts_replied, attempt, "EVAL %s 2 %s %s %s %d %s %d",
                             takes ? TAKE : GIVE, key, name_of("_channel", key), attempt->id, LEASE_MS,
                             command, number);
}

static int renew(struct watchdog *watchdog, const struct attempt *attempt, redisAsyncContext *context,
                 const char *key)
{
    return redisAsyncCommand(context, attempts_renewed, watchdog, "EVAL %s 1 %s %s %d", RENEW, key,
                             attempt->id, LEASE_MS);
}

static enum verdict took(struct attempt *attempt, const redisReply *reply)
{
    (void)attempt;
    return reply->type == REDIS_REPLY_NIL ? VERDICT_YES : VERDICT_NO;
}

/* Without a subscription, the owner waits for it, with `step` 1. With one, the owner asks again at once if a
 * message came before (`permits`). Otherwise it waits for a message or a timer. The timer takes the rest of
 * the lease, or in the fair lock a third of the rest of the owner's place. With FLAW_MISSES there is no
 * timer. */
static void wait(struct attempt *attempt, const redisReply *reply)
{
    struct channel *channel = channel_of(attempt);
    if (channel->subscription == SUBSCRIPTION_NONE) {
        subscribe(channel);
    }
    if (channel->subscription != SUBSCRIPTION_MADE) {
        attempt->step = 1;
    } else if (channel->permits > 0) {
        channel->permits--;
        attempts_wake(attempt);
    } else if (reply->integer >= 0 && !has(attempt->all, FLAW_MISSES)) {
        bool fair = has(attempt->all, FAIR);
        attempts_poll(attempt, fair ? "place" : "poll", (uint32_t)reply->integer / (fair ? 3 : 1));
    }
}

static int gave(struct attempt *attempt, const redisReply *reply)
{
    struct attempts *all = attempt->all;
    struct watchdog *watchdog = &all->watchdog[attempt->lock];
    bool not_ours = reply->type == REDIS_REPLY_NIL;
    bool stays_on = not_ours && has(all, FLAW_ERROR_ENDS | FLAW_STAYS_ON) && watchdog_sleeps(watchdog);
    if (!attempt->gone && !stays_on) {
        watchdog_remove(watchdog, attempt->owner);
    }
    return not_ours && (!attempt->repeated || has(all, FLAW_COUNTS_TWICE)) ? LS_ELOST : LS_OK;
}

static void key_is_gone(struct watchdog *watchdog, struct attempt *attempt)
{
    const struct attempts *all = watchdog->all;
    if (watchdog->outdated && !has(all, FLAW_OUTDATED)) {
        watchdog_arm(watchdog);
        return;
    }
    if (!has(all, FLAW_STAYS_ON)) {
        watchdog_forget(watchdog, attempt->owner);
        watchdog_arm(watchdog);
    }
    if (!has(all, FLAW_UNTOLD)) {
        attempts_lose(attempt);
    }
}

static void renewed(struct watchdog *watchdog, struct attempt *attempt, const redisReply *reply)
{
    if (reply == NULL && has(watchdog->all, FLAW_ERROR_ENDS)) {
        return;
    }
    if (reply != NULL && reply->integer == 0) {
        key_is_gone(watchdog, attempt);
    } else {
        watchdog_arm(watchdog);
    }
}

static const struct design DESIGN = {.lease_ms = LEASE_MS,
                                     .counts = true,
                                     .identify = identify,
                                     .send = send,
                                     .took = took,
                                     .wait = wait,
                                     .gave = gave,
                                     .renew = renew,
                                     .renewed = renewed};

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config, unsigned flaws)
{
    struct state *state = memory;
    ls_env_lock(env);
    ls_env_unique_id(env, state->life);
    ls_env_unlock(env);
    for (int lock = 0; lock < ATTEMPTS_LOCKS_MAX; lock++) {
        state->channel[lock].all = &state->all;
        state->channel[lock].lock = (uint8_t)lock;
    }
    return attempts_start(memory, env, config, &DESIGN, flaws);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_env_lock(state->all.env);
    for (int lock = 0; lock < ATTEMPTS_LOCKS_MAX; lock++) {
        ls_env_timer_stop(state->all.env, &state->channel[lock].again);
    }
    ls_env_unlock(state->all.env);
    attempts_stop(memory);
}

#define START(NAME, FLAWS)                                                                                   \
    static int NAME(void *memory, struct ls_env *env, const struct ls_recipe_config *config)                 \
    {                                                                                                        \
        return start(memory, env, config, FLAWS);                                                            \
    }

START(start_like, FLAW_UNTOLD | FLAW_COUNTS_TWICE | FLAW_OUTDATED)
START(start_mended, 0)
START(start_error_ends, FLAW_ERROR_ENDS)
START(start_stays_on, FLAW_STAYS_ON)
START(start_misses, FLAW_MISSES)
START(start_fair, FAIR)
START(start_place_stays, FAIR | FLAW_PLACE_STAYS)

#define RECIPE(NAME, SUMMARY, BREAKS, START_FN)                                                              \
    ATTEMPTS_RECIPE(NAME, SUMMARY, BREAKS, struct state, START_FN, stop)

static const struct ls_recipe RECIPES[] = {
    RECIPE("redisson_like", "Redisson's RLock: a hash with levels, a watchdog, and messages that wake",
           "held_lease_is_renewed", start_like),
    RECIPE("redisson_mended", "redisson_like that tells of a loss and counts no level twice", NULL,
           start_mended),
    RECIPE("redisson_error_ends_renewal", "a renewal that fails ends the watchdog of the key (redisson 2515)",
           "held_lease_is_renewed", start_error_ends),
    RECIPE("redisson_taken_again_not_renewed",
           "the watchdog of a key that was lost counts as running (redisson 3712)", "held_lease_is_renewed",
           start_stays_on),
    RECIPE("redisson_missed_message", "an owner misses the message of a release (redisson 5761)",
           "no_lost_wakeup", start_misses),
    RECIPE("redisson_fair", "Redisson's fair lock: owners in a list, with places that end", NULL, start_fair),
    RECIPE("redisson_fair_place_stays", "places of owners that are gone block everybody (redisson 2278)",
           "no_lost_wakeup", start_place_stays),
};

__attribute__((constructor)) static void add_recipes(void)
{
    for (int i = 0; i < (int)(sizeof RECIPES / sizeof RECIPES[0]); i++) {
        recipe_add(&RECIPES[i]);
    }
}
