/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Locks that are one key with a lease, taken by SET NX PX, as tutorials write them.
 *
 * naive_setnx deletes the key without comparing its value, and never renews the lease. setnx_owned has the
 * known repairs:
 * - an id for each attempt, which scripts compare at a release and a renewal,
 * - a renewal at a third of the lease, and a report when it finds the key gone or another owner's.
 * setnx_owned has no fencing token. A holder that sleeps through its lease still believes that it holds.
 *
 * Both poll while they wait, and connect again after the end of a connection. They have no idle(): a request
 * that is done late may leave a key, which goes when its lease ends. */
#include "lockredis/published/parts.h"
#include "scenario/recipes.h"

#include <hiredis/async.h>
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <string.h>

#define LOCKS_MAX 4
#define OWNERS_MAX 4
#define LEASE_MS 30000
#define POLL_MS 200
#define RECONNECT_MS 100

enum phase {
    PHASE_NONE,
    PHASE_TAKING,  /* the request that takes the key is under way, or waits for the connection */
    PHASE_WAITING, /* the poll is armed */
    PHASE_HOLDING,
    PHASE_GIVING, /* as TAKING, for the request that deletes the key */
};

struct attempt {
    struct state *state;
    uint8_t phase; /* enum phase */
    uint8_t lock, owner;
    bool pending; /* an acquire has no answer */
    bool is_try;
    bool sent;     /* the request of the phase has no reply yet */
    bool gone;     /* the acquire was given up, and its request or its release has not ended */
    bool renewing; /* a renewal has no reply yet */
    int depth;
    char id[40];
    struct ls_timer poll, renewal, deadline;
};

struct state {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    redisAsyncContext *context; /* NULL = none: the timer `reconnect` opens the next one */
    bool up, naive, stopping;
    uint8_t reserved[5];
    struct ls_timer reconnect;
    struct attempt attempt[LOCKS_MAX][OWNERS_MAX];
    struct reports reports;
};

static void proceed(struct attempt *attempt);

static void say(struct attempt *attempt, int kind, int rc)
{
    reports_say(&attempt->state->reports, kind, attempt->lock, attempt->owner, rc, attempt->depth);
}

/* Drops the mutex. */
static void tell(struct state *state)
{
    reports_tell(&state->reports, state->env);
}

static void new_id(struct attempt *attempt)
{
    uint8_t id[16];
    if (attempt->state->naive) {
        snprintf(attempt->id, sizeof attempt->id, "locked");
        return;
    }
    ls_env_unique_id(attempt->state->env, id);
    parts_hex(id, sizeof id, attempt->id);
}

static void begin(struct attempt *attempt)
{
    attempt->phase = PHASE_TAKING;
    proceed(attempt);
}

static void end(struct attempt *attempt)
{
    attempt->phase = PHASE_NONE;
    attempt->gone = false;
    if (attempt->pending) {
        new_id(attempt);
        begin(attempt);
    }
}

static void answer(struct attempt *attempt, int kind, int rc)
{
    attempt->pending = false;
    ls_env_timer_stop(attempt->state->env, &attempt->deadline);
    say(attempt, kind, rc);
}

static void renew(void *ctx);
static void poll(void *ctx);

static void arm_renewal(struct attempt *attempt)
{
    if (!attempt->state->naive) {
        ls_env_timer_start(attempt->state->env, &attempt->renewal, "renewal", LEASE_MS / 3, renew, attempt);
    }
}

static void give(struct attempt *attempt)
{
    attempt->phase = PHASE_GIVING;
    proceed(attempt);
}

/* A yes is a status in naive_setnx, and the integer 1 in setnx_owned. */
static bool is_yes(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STATUS || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
}

static void taken(struct attempt *attempt, const redisReply *reply)
{
    if (reply == NULL) {
        return; /* on_connect() sends the request again */
    }
    bool has = is_yes(reply);
    if (attempt->gone) {
        if (has) {
            give(attempt);
        } else {
            end(attempt);
        }
    } else if (has) {
        attempt->phase = PHASE_HOLDING;
        attempt->depth = 1;
        answer(attempt, LS_REPORT_GRANTED, 0);
        arm_renewal(attempt);
    } else if (attempt->is_try) {
        attempt->phase = PHASE_NONE;
        answer(attempt, LS_REPORT_FAILED, LS_EBUSY);
    } else {
        attempt->phase = PHASE_WAITING;
        ls_env_timer_start(attempt->state->env, &attempt->poll, "poll", POLL_MS, poll, attempt);
    }
}

static void given(struct attempt *attempt, const redisReply *reply)
{
    if (reply == NULL && !attempt->state->naive) {
        return; /* on_connect() sends the request again */
    }
    if (!attempt->gone) {
        say(attempt, LS_REPORT_FREED, 0);
    }
    end(attempt);
}

static void on_reply(redisAsyncContext *context, void *reply, void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    (void)context;
    ls_env_lock(state->env);
    attempt->sent = false;
    if (state->stopping) {
        ls_env_unlock(state->env);
        return;
    }
    if (attempt->phase == PHASE_TAKING) {
        taken(attempt, reply);
    } else if (attempt->phase == PHASE_GIVING) {
        given(attempt, reply);
    }
    tell(state);
}

static void on_renewed(redisAsyncContext *context, void *answered, void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    const redisReply *reply = answered;
    (void)context;
    ls_env_lock(state->env);
    attempt->renewing = false;
    if (attempt->phase == PHASE_HOLDING && !state->stopping) {
        if (reply != NULL && !is_yes(reply)) {
            attempt->depth = 0;
            say(attempt, LS_REPORT_HOLD_LOST, 0);
            end(attempt);
        } else {
            arm_renewal(attempt);
        }
    }
    tell(state);
}

static int send_take(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    if (attempt->state->naive) {
        return redisAsyncCommand(context, on_reply, attempt, "SET %s %s NX PX %d", key, attempt->id,
                                 LEASE_MS);
    }
    return redisAsyncCommand(context, on_reply, attempt, "EVAL %s 1 %s %s %d", PARTS_TAKE, key, attempt->id,
                             LEASE_MS);
}

static int send_give(struct attempt *attempt, redisAsyncContext *context, const char *key)
{
    if (attempt->state->naive) {
        return redisAsyncCommand(context, on_reply, attempt, "DEL %s", key);
    }
    return redisAsyncCommand(context, on_reply, attempt, "EVAL %s 1 %s %s", PARTS_GIVE, key, attempt->id);
}

/* Sends the request of the phase, if the connection is up. */
static void proceed(struct attempt *attempt)
{
    struct state *state = attempt->state;
    const char *key = state->config->lock_paths[attempt->lock];
    if (attempt->sent || !state->up) {
        return;
    }
    int rc = attempt->phase == PHASE_TAKING ? send_take(attempt, state->context, key)
                                            : send_give(attempt, state->context, key);
    attempt->sent = rc == REDIS_OK;
}

static void poll(void *ctx)
{
    begin(ctx);
}

static void renew(void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    if (state->up && !attempt->renewing) {
        const char *key = state->config->lock_paths[attempt->lock];
        attempt->renewing = redisAsyncCommand(state->context, on_renewed, attempt, "EVAL %s 1 %s %s %d",
                                              PARTS_RENEW, key, attempt->id, LEASE_MS) == REDIS_OK;
    }
}

/* Answers the acquire with `rc`. If a request that takes the key is under way, its reply decides whether the
 * key is given back. If the request waits for the connection, a reply may have been lost: setnx_owned gives
 * the key back, and naive_setnx leaves it to its lease. */
static void abandon(struct attempt *attempt, int rc)
{
    struct state *state = attempt->state;
    answer(attempt, LS_REPORT_FAILED, rc);
    ls_env_timer_stop(state->env, &attempt->poll);
    if (attempt->phase == PHASE_GIVING || attempt->gone) {
        return; /* the acquire has not begun: an earlier hold or attempt of its owner has not ended */
    }
    if (attempt->phase == PHASE_TAKING && (attempt->sent || !state->naive)) {
        attempt->gone = true;
        if (!attempt->sent) {
            give(attempt);
        }
    } else {
        attempt->phase = PHASE_NONE;
    }
}

static void give_up(void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    if (attempt->pending) {
        abandon(attempt, LS_ETIMEDOUT);
    }
    tell(state);
    ls_env_lock(state->env);
}

static void open_connection(struct state *state);

static void reconnect(void *ctx)
{
    open_connection(ctx);
}

static void ended(struct state *state)
{
    state->context = NULL;
    state->up = false;
    if (!state->stopping) {
        ls_env_timer_start(state->env, &state->reconnect, "reconnect", RECONNECT_MS, reconnect, state);
    }
}

static void on_connect(const redisAsyncContext *context, int status)
{
    struct state *state = context->data;
    ls_env_lock(state->env);
    if (status != REDIS_OK) {
        ended(state);
        tell(state);
        return;
    }
    state->up = true;
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        if (attempt->phase == PHASE_TAKING || attempt->phase == PHASE_GIVING) {
            proceed(attempt);
        } else if (attempt->phase == PHASE_HOLDING && !attempt->renewing && attempt->renewal.armed == 0) {
            arm_renewal(attempt);
        }
    }
    tell(state);
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    struct state *state = context->data;
    (void)status;
    ls_env_lock(state->env);
    ended(state);
    tell(state);
}

static void open_connection(struct state *state)
{
    state->context = redisAsyncConnect("127.0.0.1", parts_port(state->config->hosts));
    if (state->context == NULL) {
        ended(state);
        return;
    }
    state->context->data = state;
    redisAsyncSetConnectCallback(state->context, on_connect);
    redisAsyncSetDisconnectCallback(state->context, on_disconnect);
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config, bool naive)
{
    struct state *state = memory;
    ls_env_lock(env);
    state->env = env;
    state->config = config;
    state->naive = naive;
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        attempt->state = state;
        attempt->lock = (uint8_t)(i / OWNERS_MAX);
        attempt->owner = (uint8_t)(i % OWNERS_MAX);
    }
    open_connection(state);
    ls_env_unlock(env);
    return LS_OK;
}

static int start_naive(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start(memory, env, config, true);
}

static int start_owned(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start(memory, env, config, false);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_env_lock(state->env);
    state->stopping = true;
    redisAsyncContext *context = state->context;
    ls_env_timer_stop(state->env, &state->reconnect);
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        ls_env_timer_stop(state->env, &attempt->poll);
        ls_env_timer_stop(state->env, &attempt->renewal);
        bool gives = attempt->phase == PHASE_GIVING && !attempt->gone;
        if (attempt->pending) {
            answer(attempt, LS_REPORT_FAILED, LS_ECLOSED);
        }
        if (gives) {
            say(attempt, LS_REPORT_FREED, 0);
        }
    }
    tell(state);
    if (context != NULL) {
        redisAsyncFree(context);
    }
}

static struct attempt *attempt_of(void *memory, int lock, int owner)
{
    struct state *state = memory;
    bool known =
        lock >= 0 && lock < LOCKS_MAX && lock < state->config->lock_count && owner >= 0 && owner < OWNERS_MAX;
    return known ? &state->attempt[lock][owner] : NULL;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || attempt->pending) {
        return LS_EINVAL;
    }
    ls_env_lock(state->env);
    if (attempt->phase == PHASE_HOLDING) {
        attempt->depth++;
        say(attempt, LS_REPORT_GRANTED, 0);
        tell(state);
        return LS_OK;
    }
    int rc = LS_OK;
    if (timeout_ms > 0) {
        rc = ls_env_timer_start(state->env, &attempt->deadline, "deadline", (uint32_t)timeout_ms, give_up,
                                attempt);
    }
    if (rc == LS_OK) {
        attempt->pending = true;
        attempt->is_try = timeout_ms == 0;
        if (attempt->phase == PHASE_NONE) {
            new_id(attempt);
            begin(attempt);
        }
    }
    tell(state);
    return rc;
}

static int cancel(void *memory, int lock, int owner)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || !attempt->pending) {
        return LS_ENOENT;
    }
    ls_env_lock(state->env);
    abandon(attempt, LS_ECANCELED);
    tell(state);
    return LS_OK;
}

static int release(void *memory, int lock, int owner)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || attempt->phase != PHASE_HOLDING) {
        return LS_ENOTOWNER;
    }
    ls_env_lock(state->env);
    if (--attempt->depth == 0) {
        ls_env_timer_stop(state->env, &attempt->renewal);
        give(attempt);
    }
    tell(state);
    return LS_OK;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct state *state = memory;
    if (lock >= LOCKS_MAX || owner >= OWNERS_MAX || state->attempt[lock][owner].phase != PHASE_HOLDING) {
        return LS_NOT_HELD;
    }
    return state->up || state->naive ? LS_HELD : LS_UNKNOWN;
}

static const struct ls_timer_row TIMERS[] = {{"poll", LS_TIMER_POLL},
                                             {"renewal", LS_TIMER_RENEWAL},
                                             {"deadline", LS_TIMER_DEADLINE},
                                             {"reconnect", LS_TIMER_WORK},
                                             {NULL, LS_TIMER_WORK}};

#define RECIPE(NAME, SUMMARY, BREAKS, START)                                                                 \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .breaks = (BREAKS), .state_size = sizeof(struct state),        \
        .start = (START), .stop = stop, .acquire = acquire, .cancel = cancel, .release = release,            \
        .query = query, .reentrant = true, .timers = TIMERS, .coordinator = "redis", .lease_misses = 1       \
    }

static const struct ls_recipe RECIPES[] = {
    RECIPE("setnx_owned",
           "SET NX PX with an id, renewed and released by scripts; believes on while it is cut off",
           "held_lease_is_renewed", start_owned),
    RECIPE("naive_setnx", "SET NX PX, released by DEL, never renewed", "at_most_one_holder", start_naive),
};

__attribute__((constructor)) static void add_recipes(void)
{
    for (int i = 0; i < (int)(sizeof RECIPES / sizeof RECIPES[0]); i++) {
        recipe_add(&RECIPES[i]);
    }
}
