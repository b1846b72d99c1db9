/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A lock that is one key with a lease: docs/your-own-redis-recipe.md makes it, step by step.
 *
 *   FREE --> TAKING --> HELD --> GIVING --> FREE
 *             |  ^
 *             v  | (poll)
 *            WAITING
 *
 * Each claim of an owner on a lock has at most one request under way. A request whose reply was lost is sent
 * again over the next connection. */
#include <hiredis/async.h>
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIMS_MAX 8
#define LEASE_MS 30000
#define POLL_MS 200
#define RECONNECT_MS 100
#define RENEW_MS (LEASE_MS / 3)
#define TRUST_MS 22500 /* a hold ends so long after the request that began its lease */
#define ID_SIZE 33

/* Takes the key if it is free, or has this id already: then the reply to an earlier request was lost. */
#define TAKE                                                                                                 \
    "if redis.call('get', KEYS[1]) == ARGV[1] then return 1 end "                                            \
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0"
#define RENEW                                                                                                \
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end "      \
    "return 0"
#define GIVE "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

enum phase { FREE, TAKING, WAITING, HELD, GIVING };

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer poll, deadline, renewal, lease;
    struct ls_stamp sent; /* when the request under way was sent */
    uint8_t phase, asked; /* enum phase; asked: that of the request that is under way */
    uint8_t lock, owner;
    bool busy;        /* a request is under way */
    bool trying;      /* does not wait */
    bool ended;       /* the caller has its answer: what is left is ours to clean up */
    int depth;        /* while HELD */
    char id[ID_SIZE]; /* of this claim alone */
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    redisAsyncContext *context; /* NULL = there is no connection */
    bool up, stopping;
    struct ls_timer reconnect;
    struct claim claim[CLAIMS_MAX];
};

/* ---- telling ---- */

static void tell(const struct claim *claim, enum ls_report_kind kind, int rc)
{
    ls_report(claim->recipe->env,
              &(struct ls_report){
                  .kind = kind, .lock = claim->lock, .owner = claim->owner, .rc = rc, .depth = claim->depth});
}

/* ---- requests ---- */

static void on_reply(redisAsyncContext *context, void *reply, void *ctx);
static void on_poll(void *ctx);
static void on_renewal(void *ctx);
static void on_lease_end(void *ctx);

static int send_request(struct claim *claim)
{
    redisAsyncContext *context = claim->recipe->context;
    const char *key = claim->recipe->config->lock_paths[claim->lock];
    if (claim->phase == TAKING) {
        return redisAsyncCommand(context, on_reply, claim, "EVAL %s 1 %s %s %d", TAKE, key, claim->id,
                                 LEASE_MS);
    }
    if (claim->phase == HELD) {
        return redisAsyncCommand(context, on_reply, claim, "EVAL %s 1 %s %s %d", RENEW, key, claim->id,
                                 LEASE_MS);
    }
    return redisAsyncCommand(context, on_reply, claim, "EVAL %s 1 %s %s", GIVE, key, claim->id);
}

static void make_id(struct claim *claim)
{
    uint8_t id[16];
    ls_env_unique_id(claim->recipe->env, id);
    for (size_t i = 0; i < sizeof id; i++) {
        snprintf(claim->id + 2 * i, 3, "%02x", id[i]);
    }
}

/* Sends what the phase needs. Without a connection the next one does. */
static void go(struct claim *claim, enum phase phase)
{
    claim->phase = (uint8_t)phase;
    ls_env_timer_stop(claim->recipe->env, &claim->poll);
    if (claim->recipe->up && !claim->busy) {
        claim->asked = claim->phase;
        ls_env_stamp(claim->recipe->env, &claim->sent);
        claim->busy = send_request(claim) == REDIS_OK;
    }
}

/* ---- the ends of a claim ---- */

static void clear(struct claim *claim)
{
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->poll);
    ls_env_timer_stop(r->env, &claim->deadline);
    ls_env_timer_stop(r->env, &claim->renewal);
    ls_env_timer_stop(r->env, &claim->lease);
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
}

/* The caller has its answer. A key that may be ours is given back. */
static void fail(struct claim *claim, int rc)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    tell(claim, LS_REPORT_FAILED, rc);
    if (claim->phase == WAITING) {
        clear(claim);
        return;
    }
    claim->ended = true;
    if (!claim->busy) {
        go(claim, GIVING);
    }
}

/* The key is ours for another lease, which has begun when the request was sent, or later. */
static void keep(struct claim *claim)
{
    int64_t gone_ms = ls_env_elapsed_ms(claim->recipe->env, &claim->sent);
    uint32_t left_ms = gone_ms < TRUST_MS ? (uint32_t)(TRUST_MS - gone_ms) : 0;
    ls_env_timer_start(claim->recipe->env, &claim->lease, "lease", left_ms, on_lease_end, claim);
    ls_env_timer_start(claim->recipe->env, &claim->renewal, "renewal", RENEW_MS, on_renewal, claim);
}

static void give(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->renewal);
    ls_env_timer_stop(claim->recipe->env, &claim->lease);
    claim->depth = 0;
    go(claim, GIVING);
}

/* The hold is over, though nobody has released it. */
static void lose(struct claim *claim)
{
    claim->depth = 0;
    tell(claim, LS_REPORT_HOLD_LOST, 0);
    claim->ended = true;
    give(claim);
}

static void grant(struct claim *claim)
{
    ls_env_timer_stop(claim->recipe->env, &claim->deadline);
    claim->phase = HELD;
    claim->depth = 1;
    keep(claim);
    tell(claim, LS_REPORT_GRANTED, 0);
}

/* ---- replies ---- */

static bool is_yes(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
}

static void taken(struct claim *claim, bool yes)
{
    if (claim->ended) {
        go(claim, GIVING);
    } else if (yes) {
        grant(claim);
    } else if (claim->trying) {
        tell(claim, LS_REPORT_FAILED, LS_EBUSY);
        clear(claim);
    } else {
        claim->phase = WAITING;
        ls_env_timer_start(claim->recipe->env, &claim->poll, "poll", POLL_MS, on_poll, claim);
    }
}

static void given(struct claim *claim)
{
    if (!claim->ended) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    clear(claim);
}

/* The server has not done the request. It is sent again, but a try has its answer. */
static void refused(struct claim *claim)
{
    struct ls_env *env = claim->recipe->env;
    if (claim->phase == HELD) {
        ls_env_timer_start(env, &claim->renewal, "renewal", RENEW_MS, on_renewal, claim);
    } else if (claim->phase == TAKING && claim->trying && !claim->ended) {
        fail(claim, LS_EREFUSED);
    } else {
        claim->phase = claim->ended ? GIVING : claim->phase;
        ls_env_timer_start(env, &claim->poll, "poll", POLL_MS, on_poll, claim);
    }
}

static void on_reply(redisAsyncContext *context, void *reply, void *ctx)
{
    struct claim *claim = ctx;
    (void)context;
    claim->busy = false;
    if (claim->recipe->stopping || reply == NULL) {
        return; /* the next connection asks again */
    }
    if (claim->asked != claim->phase) {
        go(claim, (enum phase)claim->phase);
    } else if (((const redisReply *)reply)->type == REDIS_REPLY_ERROR) {
        refused(claim);
    } else if (claim->phase == TAKING) {
        taken(claim, is_yes(reply));
    } else if (claim->phase == HELD) {
        is_yes(reply) ? keep(claim) : lose(claim);
    } else {
        given(claim);
    }
}

/* ---- timers, which come with the mutex ---- */

static void on_poll(void *ctx)
{
    struct claim *claim = ctx;
    go(claim, claim->phase == WAITING ? TAKING : (enum phase)claim->phase);
}

static void on_renewal(void *ctx)
{
    go(ctx, HELD);
}

static void on_lease_end(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env);
    lose(claim);
    ls_env_lock(env);
}

static void on_deadline(void *ctx)
{
    struct claim *claim = ctx;
    struct ls_env *env = claim->recipe->env;
    ls_env_unlock(env); /* no report is told with it */
    fail(claim, LS_ETIMEDOUT);
    ls_env_lock(env);
}

/* ---- the connection ---- */

static void open_connection(void *ctx);

static void connection_ended(struct recipe *r)
{
    r->up = false;
    r->context = NULL;
    if (!r->stopping) {
        ls_env_timer_start(r->env, &r->reconnect, "reconnect", RECONNECT_MS, open_connection, r);
    }
}

static void on_connect(const redisAsyncContext *context, int status)
{
    struct recipe *r = context->data;
    r->up = status == REDIS_OK;
    if (!r->up) {
        connection_ended(r);
    }
    for (int i = 0; i < CLAIMS_MAX && r->up; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && claim->phase != WAITING) {
            go(claim, (enum phase)claim->phase);
        }
    }
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    (void)status;
    connection_ended(context->data);
}

static void open_connection(void *ctx)
{
    struct recipe *r = ctx;
    int port = (int)strtol(strrchr(r->config->hosts, ':') + 1, NULL, 10);
    r->context = redisAsyncConnect("127.0.0.1", port);
    if (r->context == NULL) {
        connection_ended(r);
        return;
    }
    r->context->data = r;
    redisAsyncSetConnectCallback(r->context, on_connect);
    redisAsyncSetDisconnectCallback(r->context, on_disconnect);
}

/* ---- what the driver calls ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct recipe *r = state;
    r->env = env;
    r->config = config;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        r->claim[i].recipe = r;
    }
    open_connection(r);
    return 0;
}

static void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reconnect);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase == GIVING && !claim->ended) {
            tell(claim, LS_REPORT_FREED, 0);
        } else if ((claim->phase == TAKING || claim->phase == WAITING) && !claim->ended) {
            tell(claim, LS_REPORT_FAILED, LS_ECLOSED);
        }
        clear(claim);
    }
    if (r->context != NULL) {
        redisAsyncFree(r->context);
    }
}

/* The claim that the owner has now. One that is given back is over for its owner. */
static struct claim *find(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        bool active = claim->phase != FREE && claim->phase != GIVING && !claim->ended;
        if (active && claim->lock == lock && claim->owner == owner) {
            return claim;
        }
    }
    return NULL;
}

static struct claim *find_free(struct recipe *r)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        if (r->claim[i].phase == FREE) {
            return &r->claim[i];
        }
    }
    return NULL;
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    claim = claim == NULL ? find_free(r) : NULL;
    if (claim == NULL) {
        return LS_EINVAL;
    }
    claim->lock = (uint8_t)lock;
    claim->owner = (uint8_t)owner;
    claim->trying = timeout_ms == 0;
    if (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline", (uint32_t)timeout_ms,
                                             on_deadline, claim) != 0) {
        clear(claim);
        return LS_ENOMEM;
    }
    make_id(claim);
    go(claim, TAKING);
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || (claim->phase != TAKING && claim->phase != WAITING)) {
        return LS_ENOENT;
    }
    fail(claim, LS_ECANCELED);
    return 0;
}

static int release(void *state, int lock, int owner)
{
    struct claim *claim = find(state, lock, owner);
    if (claim == NULL || claim->phase != HELD) {
        return LS_ENOTOWNER;
    }
    if (--claim->depth == 0) {
        give(claim);
    }
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct claim *claim = find((struct recipe *)(uintptr_t)state, lock, owner);
    return claim != NULL && claim->phase == HELD ? LS_HELD : LS_NOT_HELD;
}

static const struct ls_timer_row timers[] = {
    {"poll", LS_TIMER_POLL},   {"deadline", LS_TIMER_DEADLINE}, {"renewal", LS_TIMER_RENEWAL},
    {"lease", LS_TIMER_LEASE}, {"reconnect", LS_TIMER_WORK},    {NULL, LS_TIMER_WORK},
};

static const struct ls_recipe leased = {
    .name = "leased",
    .summary = "one key with a lease, of its owner alone",
    .coordinator = "redis",
    .state_size = sizeof(struct recipe),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .reentrant = true,
    .timers = timers,
};

LS_RECIPE_MODULE(leased);
