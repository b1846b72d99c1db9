/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Redlock: one key on each of several independent servers. The owner that has the key on more than half of
 * them holds the lock.
 *
 * An attempt asks all servers at once: a round. The round ends when each request has its reply or is lost.
 * The timer "round" ends the connections to servers that do not answer in time. If a take gets too few keys,
 * the attempt deletes them. Unless it is a try, it begins again after RETRY_MS. A holder renews all its keys
 * at a third of the lease. The hold ends when it is released, when too few servers can still have the key, or
 * when the validity of the keys ends. The validity counts from the start of the last round that confirmed the
 * hold. If too few servers answer a release, the keys may remain, and its result is LS_EUNSURE. There is no
 * fencing token.
 *
 * `redlock` renews a key only where it still exists, as redsync did (issue 186). If a holder loses two of
 * three keys, one after the other, another owner can hold beside it. `redlock_topped_up` makes the missing
 * keys again with each renewal.
 *
 * Both recipes have no idle(): a request that is done late may leave a key, which goes when its lease
 * ends. */
#include "lockredis/published/connections.h"
#include "lockredis/published/parts.h"
#include "scenario/recipes.h"

#include <hiredis/async.h>
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS_MAX 2
#define OWNERS_MAX 2
#define SERVERS_MAX 5
#define LEASE_MS 30000
#define DRIFT_MS 302 /* allowance of the algorithm for clocks: a hundredth of the lease, and 2 ms */
#define RETRY_MS 200
#define ROUND_MS 50

enum phase {
    PHASE_NONE,
    PHASE_TAKING,  /* ROUND_TAKE is under way */
    PHASE_WAITING, /* the retry is armed */
    PHASE_HOLDING,
    PHASE_GIVING, /* ROUND_GIVE is under way, or follows the present round */
};

enum round { ROUND_NONE, ROUND_TAKE, ROUND_RENEW, ROUND_GIVE };

struct attempt {
    struct state *state;
    uint8_t phase; /* enum phase */
    uint8_t round; /* enum round: the one under way */
    uint8_t lock, owner;
    uint8_t open; /* bit s = the round waits for the reply of server s */
    uint8_t yes;  /* of the last round: number of servers that have replied with yes */
    uint8_t told; /* of the last round: number of servers that have replied */
    bool pending; /* an acquire has no answer */
    bool is_try;
    bool gone;  /* the acquire was given up while its round was under way */
    bool freed; /* a release has no answer */
    bool late;  /* the validity of the keys ended before the round that takes them */
    uint8_t reserved[4];
    char id[40];
    struct ls_stamp begun; /* when the last round began */
    struct ls_timer retry, renewal, validity, deadline, round_end;
};

struct state {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    struct connection connection[SERVERS_MAX];
    bool tops_up, stopping;
    uint8_t servers;
    uint8_t reserved[5];
    struct attempt attempt[LOCKS_MAX][OWNERS_MAX];
    struct reports reports;
};

static redisAsyncContext *connection_to(struct state *state, int server)
{
    return connections_get(&state->connection[server], parts_port(state->config->hosts) + server);
}

static void on_reply(redisAsyncContext *context, void *reply, void *attempt);

static int send(struct attempt *attempt, redisAsyncContext *context, enum round round)
{
    const char *key = attempt->state->config->lock_paths[attempt->lock];
    if (round == ROUND_TAKE) {
        return redisAsyncCommand(context, on_reply, attempt, "SET %s %s NX PX %d", key, attempt->id,
                                 LEASE_MS);
    }
    if (round == ROUND_RENEW) {
        return redisAsyncCommand(context, on_reply, attempt, "EVAL %s 1 %s %s %d",
                                 attempt->state->tops_up ? PARTS_TAKE : PARTS_RENEW, key, attempt->id,
                                 LEASE_MS);
    }
    return redisAsyncCommand(context, on_reply, attempt, "EVAL %s 1 %s %s", PARTS_GIVE, key, attempt->id);
}

static void end_round(struct attempt *attempt);

/* Ends the connections to servers that have not replied. on_reply() then ends the round. */
static void round_over(void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    redisAsyncContext *slow[SERVERS_MAX] = {NULL};
    for (int i = 0; i < state->servers; i++) {
        if ((attempt->open >> i & 1) != 0) {
            slow[i] = connections_take(&state->connection[i]);
        }
    }
    ls_env_unlock(state->env);
    for (int i = 0; i < state->servers; i++) {
        if (slow[i] != NULL) {
            redisAsyncFree(slow[i]);
        }
    }
    ls_env_lock(state->env);
}

/* Asks all servers, unless another round is under way. */
static void ask(struct attempt *attempt, enum round round)
{
    struct state *state = attempt->state;
    if (attempt->open != 0) {
        return;
    }
    attempt->round = (uint8_t)round;
    attempt->yes = 0;
    attempt->told = 0;
    ls_env_stamp(state->env, &attempt->begun);
    for (int i = 0; i < state->servers; i++) {
        redisAsyncContext *context = connection_to(state, i);
        if (context != NULL && send(attempt, context, round) == REDIS_OK) {
            attempt->open |= (uint8_t)(1u << i);
        }
    }
    if (attempt->open == 0) {
        end_round(attempt);
    } else {
        ls_env_timer_start(state->env, &attempt->round_end, "round", ROUND_MS, round_over, attempt);
    }
}

static bool has_enough(const struct attempt *attempt)
{
    return 2 * attempt->yes > attempt->state->servers;
}

/* Returns whether more than half of the servers have not replied to the release: they may have the key. */
static bool may_hold(const struct attempt *attempt)
{
    return 2 * (attempt->state->servers - attempt->told) > attempt->state->servers;
}

static bool is_yes(const redisReply *reply)
{
    return reply != NULL &&
           (reply->type == REDIS_REPLY_STATUS || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1));
}

static void on_reply(redisAsyncContext *context, void *reply, void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    const struct connection *connection = context->data;
    ls_env_lock(state->env);
    attempt->open &= (uint8_t) ~(1u << (connection - state->connection));
    attempt->yes = (uint8_t)(attempt->yes + is_yes(reply));
    attempt->told = (uint8_t)(attempt->told + (reply != NULL));
    if (attempt->open == 0 && !state->stopping) {
        end_round(attempt);
    }
    reports_tell(&state->reports, state->env);
}

static void say(struct attempt *attempt, int kind, int rc)
{
    reports_say(&attempt->state->reports, kind, attempt->lock, attempt->owner, rc,
                attempt->phase == PHASE_HOLDING);
}

static void answer(struct attempt *attempt, int kind, int rc)
{
    attempt->pending = false;
    ls_env_timer_stop(attempt->state->env, &attempt->deadline);
    say(attempt, kind, rc);
}

static void stop_timers(struct attempt *attempt)
{
    ls_env_timer_stop(attempt->state->env, &attempt->retry);
    ls_env_timer_stop(attempt->state->env, &attempt->renewal);
    ls_env_timer_stop(attempt->state->env, &attempt->validity);
}

static void enter(struct attempt *attempt, enum phase phase)
{
    stop_timers(attempt);
    attempt->phase = (uint8_t)phase;
}

static void validity_over(void *ctx);

static void begin(struct attempt *attempt)
{
    uint8_t id[16];
    ls_env_unique_id(attempt->state->env, id);
    parts_hex(id, sizeof id, attempt->id);
    attempt->gone = false;
    attempt->late = false;
    enter(attempt, PHASE_TAKING);
    ls_env_timer_start(attempt->state->env, &attempt->validity, "validity", LEASE_MS - DRIFT_MS,
                       validity_over, attempt);
    ask(attempt, ROUND_TAKE);
}

static void give(struct attempt *attempt)
{
    enter(attempt, PHASE_GIVING);
    ask(attempt, ROUND_GIVE);
}

static void retry_due(void *ctx)
{
    begin(ctx);
}

static void renewal_due(void *ctx)
{
    ask(ctx, ROUND_RENEW);
}

static void lose(struct attempt *attempt)
{
    enter(attempt, PHASE_NONE);
    say(attempt, LS_REPORT_HOLD_LOST, 0);
    give(attempt);
}

static void validity_over(void *ctx)
{
    struct attempt *attempt = ctx;
    if (attempt->phase == PHASE_HOLDING) {
        lose(attempt);
    } else {
        attempt->late = true;
    }
    reports_tell(&attempt->state->reports, attempt->state->env);
    ls_env_lock(attempt->state->env);
}

/* Returns for how many ms, at least, the keys of the last round remain; 0 or less = they may be gone. */
static int64_t valid_ms(struct attempt *attempt)
{
    return LEASE_MS - DRIFT_MS - ls_env_elapsed_ms(attempt->state->env, &attempt->begun);
}

static void hold(struct attempt *attempt)
{
    struct state *state = attempt->state;
    enter(attempt, PHASE_HOLDING);
    ls_env_timer_start(state->env, &attempt->renewal, "renewal", LEASE_MS / 3, renewal_due, attempt);
    ls_env_timer_start(state->env, &attempt->validity, "validity", (uint32_t)valid_ms(attempt), validity_over,
                       attempt);
}

static void taken(struct attempt *attempt)
{
    if (!attempt->gone && !attempt->late && has_enough(attempt) && valid_ms(attempt) > 0) {
        hold(attempt);
        answer(attempt, LS_REPORT_GRANTED, 0);
        return;
    }
    if (attempt->is_try && !attempt->gone) {
        answer(attempt, LS_REPORT_FAILED, LS_EBUSY);
    }
    give(attempt);
}

/* Handles the end of a renewal. Servers that did not reply may have the key. If they and the servers that
 * said yes are more than half, the hold lasts for its former validity. */
static void renewed(struct attempt *attempt)
{
    struct ls_env *env = attempt->state->env;
    int missing = attempt->state->servers - attempt->told;
    if (has_enough(attempt) && valid_ms(attempt) > 0) {
        hold(attempt);
    } else if (2 * (attempt->yes + missing) > attempt->state->servers) {
        ls_env_timer_start(env, &attempt->renewal, "renewal", LEASE_MS / 3, renewal_due, attempt);
    } else {
        lose(attempt);
    }
}

static void given(struct attempt *attempt)
{
    if (attempt->freed) {
        attempt->freed = false;
        say(attempt, LS_REPORT_FREED, may_hold(attempt) ? LS_EUNSURE : 0);
    }
    enter(attempt, PHASE_NONE);
    memset(attempt->id, 0, sizeof attempt->id);
    attempt->gone = false;
    if (attempt->pending) {
        enter(attempt, PHASE_WAITING);
        ls_env_timer_start(attempt->state->env, &attempt->retry, "retry", RETRY_MS, retry_due, attempt);
    }
}

static void end_round(struct attempt *attempt)
{
    enum round round = attempt->round;
    ls_env_timer_stop(attempt->state->env, &attempt->round_end);
    attempt->round = ROUND_NONE;
    if (attempt->phase == PHASE_GIVING && round != ROUND_GIVE) {
        ask(attempt, ROUND_GIVE);
    } else if (round == ROUND_TAKE) {
        taken(attempt);
    } else if (round == ROUND_RENEW) {
        renewed(attempt);
    } else {
        given(attempt);
    }
    memset(&attempt->begun, 0, attempt->phase == PHASE_NONE ? sizeof attempt->begun : 0);
}

static int count_servers(const char *hosts)
{
    int count = 1;
    for (const char *at = hosts; (at = strchr(at, ',')) != NULL; at++) {
        count++;
    }
    return count;
}

static int start_with(void *memory, struct ls_env *env, const struct ls_recipe_config *config, bool tops_up)
{
    struct state *state = memory;
    int servers = count_servers(config->hosts);
    if (servers > SERVERS_MAX || config->lock_count > LOCKS_MAX) {
        return LS_EINVAL;
    }
    state->env = env;
    state->config = config;
    state->servers = (uint8_t)servers;
    state->tops_up = tops_up;
    connections_start(state->connection, servers, env);
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        attempt->state = state;
        attempt->lock = (uint8_t)(i / OWNERS_MAX);
        attempt->owner = (uint8_t)(i % OWNERS_MAX);
    }
    return LS_OK;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, false);
}

static int start_topped_up(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, true);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_env_lock(state->env);
    state->stopping = true;
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        stop_timers(attempt);
        ls_env_timer_stop(state->env, &attempt->round_end);
        if (attempt->pending) {
            answer(attempt, LS_REPORT_FAILED, LS_ECLOSED);
        }
        if (attempt->freed) {
            say(attempt, LS_REPORT_FREED, 0);
        }
    }
    reports_tell(&state->reports, state->env);
    connections_close(state->connection, state->servers);
}

static struct attempt *attempt_of(const void *memory, int lock, int owner)
{
    const struct state *state = memory;
    bool known = lock >= 0 && lock < LOCKS_MAX && owner >= 0 && owner < OWNERS_MAX;
    return known ? (struct attempt *)&state->attempt[lock][owner] : NULL;
}

/* Answers the acquire with `rc`. If its round is under way, taken() gives the keys back. */
static void abandon(struct attempt *attempt, int rc)
{
    answer(attempt, LS_REPORT_FAILED, rc);
    if (attempt->phase == PHASE_TAKING) {
        attempt->gone = true;
    } else if (attempt->phase == PHASE_WAITING) {
        enter(attempt, PHASE_NONE);
    }
}

static void deadline_due(void *ctx)
{
    struct attempt *attempt = ctx;
    abandon(attempt, LS_ETIMEDOUT);
    reports_tell(&attempt->state->reports, attempt->state->env);
    ls_env_lock(attempt->state->env);
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL) {
        return LS_EINVAL;
    }
    if (attempt->pending || attempt->phase == PHASE_HOLDING) {
        return LS_EALREADY;
    }
    ls_env_lock(state->env);
    attempt->pending = true;
    attempt->is_try = timeout_ms == 0;
    if (timeout_ms > 0) {
        ls_env_timer_start(state->env, &attempt->deadline, "deadline", (uint32_t)timeout_ms, deadline_due,
                           attempt);
    }
    if (attempt->phase == PHASE_NONE) {
        begin(attempt);
    }
    reports_tell(&state->reports, state->env);
    return LS_OK;
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
    reports_tell(&state->reports, state->env);
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
    attempt->freed = true;
    give(attempt);
    reports_tell(&state->reports, state->env);
    return LS_OK;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct attempt *attempt = attempt_of(memory, lock, owner);
    return attempt != NULL && attempt->phase == PHASE_HOLDING ? LS_HELD : LS_NOT_HELD;
}

static const struct ls_timer_row TIMERS[] = {{"deadline", LS_TIMER_DEADLINE}, {"renewal", LS_TIMER_RENEWAL},
                                             {"validity", LS_TIMER_LEASE},    {"retry", LS_TIMER_POLL},
                                             {"round", LS_TIMER_PATIENCE},    {NULL, LS_TIMER_WORK}};

#define REDLOCK(NAME, SUMMARY, START)                                                                        \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .state_size = sizeof(struct state), .start = (START),          \
        .stop = stop, .acquire = acquire, .cancel = cancel, .release = release, .query = query,              \
        .timers = TIMERS, .coordinator = "redis", .lease_misses = 1                                          \
    }

static const struct ls_recipe RECIPES[] = {
    REDLOCK("redlock", "Redlock: a key on more than half of several servers (not in the library)", start),
    REDLOCK("redlock_topped_up", "the same; each renewal makes keys that are missing again", start_topped_up),
};

__attribute__((constructor)) static void add_recipes(void)
{
    recipe_add(&RECIPES[0]);
    recipe_add(&RECIPES[1]);
}
