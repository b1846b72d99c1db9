/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "lockredis/published/attempts.h"

#include "lockredis/internal.h"

#include <lockstep/error.h>
#include <string.h>

#define AGAIN_MS 100

static void begin(struct attempt *attempt);

const struct design *attempts_design(const struct attempts *all)
{
    return lockredis_client_constant(all->design);
}

const char *attempts_key(const struct attempts *all, int lock)
{
    return all->config->lock_paths[lock];
}

static void say(struct attempt *attempt, int kind, int rc)
{
    reports_say(&attempt->all->reports, kind, attempt->lock, attempt->owner, rc, attempt->depth);
}

/* Drops the mutex. */
static void tell(struct attempts *all)
{
    reports_tell(&all->reports, all->env);
}

static void answer(struct attempt *attempt, int kind, int rc)
{
    attempt->pending = false;
    attempt->is_try = false;
    ls_env_timer_stop(attempt->all->env, &attempt->deadline);
    say(attempt, kind, rc);
}

redisAsyncContext *attempts_link(struct attempts *all, int link)
{
    return connections_get(&all->link[link], parts_port(all->config->hosts));
}

static void send_again(void *ctx);

/* Repeats the request of the phase later, from its first step. */
static void send_later(struct attempt *attempt)
{
    attempt->step = 0;
    ls_env_timer_start(attempt->all->env, &attempt->again, "again", AGAIN_MS, send_again, attempt);
}

static void send(struct attempt *attempt)
{
    struct attempts *all = attempt->all;
    redisAsyncContext *context = attempts_link(all, attempt->owner);
    attempt->sent = context != NULL && attempts_design(all)->send(
                                           attempt, context, attempts_key(all, attempt->lock)) == REDIS_OK;
    if (!attempt->sent) {
        ls_env_timer_start(all->env, &attempt->again, "again", AGAIN_MS, send_again, attempt);
    }
}

static void send_again(void *ctx)
{
    struct attempt *attempt = ctx;
    send(attempt);
}

static void enter(struct attempt *attempt, enum phase phase)
{
    attempt->phase = (uint8_t)phase;
    attempt->repeated = false;
    attempt->step = 0;
}

static void end(struct attempt *attempt)
{
    enter(attempt, attempt->depth > 0 ? PHASE_HOLDING : PHASE_NONE);
    attempt->gone = false;
    if (attempt->depth == 0) {
        memset(attempt->id, 0, sizeof attempt->id);
    }
    if (attempt->pending) {
        begin(attempt);
    }
}

static void give(struct attempt *attempt)
{
    enter(attempt, PHASE_GIVING);
    send(attempt);
}

static void give_or_end(struct attempt *attempt)
{
    if (attempt->gives > 0) {
        give(attempt);
    } else {
        end(attempt);
    }
}

static void granted(struct attempt *attempt)
{
    attempt->depth++;
    enter(attempt, PHASE_HOLDING);
    watchdog_add(&attempt->all->watchdog[attempt->lock], attempt->owner);
    answer(attempt, LS_REPORT_GRANTED, 0);
}

static void not_granted(struct attempt *attempt, const redisReply *reply)
{
    if (attempt->gone) {
        give_or_end(attempt);
    } else if (attempt->is_try) {
        answer(attempt, LS_REPORT_FAILED, LS_EBUSY);
        end(attempt);
    } else {
        enter(attempt, PHASE_WAITING);
        attempts_design(attempt->all)->wait(attempt, reply);
    }
}

static void took(struct attempt *attempt, const redisReply *reply)
{
    enum verdict verdict = attempts_design(attempt->all)->took(attempt, reply);
    if (verdict == VERDICT_MORE) {
        send(attempt);
    } else if (verdict == VERDICT_NO) {
        not_granted(attempt, reply);
    } else if (attempt->gone) {
        attempt->gives++;
        give(attempt);
    } else {
        granted(attempt);
    }
}

/* Ends the release of one level, with its reply or given up. */
static void gave(struct attempt *attempt, int rc)
{
    attempt->gives--;
    attempt->gone = false;
    if (attempt->gives == 0 && attempt->releasing) {
        attempt->releasing = false;
        say(attempt, LS_REPORT_FREED, rc);
    }
    give_or_end(attempt);
}

/* Ends a release that the library does not repeat. False = the request is no such release. */
static bool gives_up(struct attempt *attempt)
{
    const struct design *design = attempts_design(attempt->all);
    bool over = attempt->phase == PHASE_GIVING && design->gives_up != NULL && design->gives_up(attempt);
    if (over) {
        gave(attempt, design->gave(attempt, NULL));
    }
    return over;
}

/* The server may have done a request whose reply is lost. */
static void lost(struct attempt *attempt)
{
    if (gives_up(attempt)) {
        return;
    }
    if (attempt->phase == PHASE_TAKING && attempt->gone) {
        attempt->gives++;
        enter(attempt, PHASE_GIVING);
    }
    attempt->repeated = true;
    send_later(attempt);
}

/* A request that is answered with an error counts as not done, but an earlier copy of it may have been
 * done. */
static void refused(struct attempt *attempt)
{
    bool nothing_taken = attempt->phase == PHASE_TAKING && !attempt->repeated;
    if (gives_up(attempt)) {
        return;
    }
    if (nothing_taken && attempt->gone) {
        give_or_end(attempt);
    } else if (nothing_taken && attempt->is_try) {
        answer(attempt, LS_REPORT_FAILED, LS_EREFUSED);
        end(attempt);
    } else {
        send_later(attempt);
    }
}

void attempts_replied(redisAsyncContext *context, void *reply, void *ctx)
{
    struct attempt *attempt = ctx;
    struct attempts *all = attempt->all;
    (void)context;
    ls_env_lock(all->env);
    attempt->sent = false;
    if (all->stopping) {
        ls_env_unlock(all->env);
        return;
    }
    if (reply == NULL) {
        lost(attempt);
    } else if (parts_is_error(reply)) {
        refused(attempt);
    } else if (attempt->phase == PHASE_TAKING) {
        took(attempt, reply);
    } else {
        gave(attempt, attempts_design(all)->gave(attempt, reply));
    }
    tell(all);
}

static void begin(struct attempt *attempt)
{
    enter(attempt, PHASE_TAKING);
    if (attempt->id[0] == 0) {
        attempts_design(attempt->all)->identify(attempt);
    }
    send(attempt);
}

static void poll(void *ctx)
{
    begin(ctx);
}

void attempts_poll(struct attempt *attempt, const char *timer, uint32_t delay_ms)
{
    ls_env_timer_start(attempt->all->env, &attempt->poll, timer, delay_ms, poll, attempt);
}

void attempts_wake(struct attempt *attempt)
{
    if (attempt->phase == PHASE_WAITING) {
        ls_env_timer_stop(attempt->all->env, &attempt->poll);
        begin(attempt);
    }
}

/* Answers the acquire with `rc`, and gives back the level that it may have on the server. */
static void abandon(struct attempt *attempt, int rc)
{
    struct attempts *all = attempt->all;
    bool begun = !attempt->gone && (attempt->phase == PHASE_TAKING || attempt->phase == PHASE_WAITING);
    answer(attempt, LS_REPORT_FAILED, rc);
    ls_env_timer_stop(all->env, &attempt->poll);
    if (!begun) {
        return; /* it still waits for the end of an earlier request of its owner */
    }
    attempt->gone = true;
    if (attempt->phase == PHASE_TAKING && attempt->sent) {
        return;
    }
    ls_env_timer_stop(all->env, &attempt->again);
    if (attempt->phase == PHASE_TAKING) {
        attempt->gives++;
    }
    give_or_end(attempt);
}

static void give_up(void *ctx)
{
    struct attempt *attempt = ctx;
    if (attempt->pending) {
        abandon(attempt, LS_ETIMEDOUT);
    }
    tell(attempt->all);
    ls_env_lock(attempt->all->env);
}

void attempts_lose(struct attempt *attempt)
{
    if (attempt->depth > 0) {
        attempt->depth = 0;
        say(attempt, LS_REPORT_HOLD_LOST, 0);
        if (attempt->phase == PHASE_HOLDING) {
            end(attempt);
        }
    }
}

static int place_of(const struct watchdog *watchdog, int owner)
{
    int place = 0;
    while (place < watchdog->count && watchdog->owner[place] != owner) {
        place++;
    }
    return place;
}

void watchdog_add(struct watchdog *watchdog, int owner)
{
    int place = place_of(watchdog, owner);
    watchdog->owner[place] = (uint8_t)owner;
    watchdog->levels[place]++;
    if (place == watchdog->count && watchdog->count++ == 0) {
        watchdog_arm(watchdog);
    }
}

void watchdog_forget(struct watchdog *watchdog, int owner)
{
    int place = place_of(watchdog, owner);
    if (place == watchdog->count) {
        return;
    }
    for (int i = place; i + 1 < watchdog->count; i++) {
        watchdog->owner[i] = watchdog->owner[i + 1];
        watchdog->levels[i] = watchdog->levels[i + 1];
    }
    watchdog->outdated |= watchdog->asks && watchdog->asked_for == owner;
    watchdog->count--;
    watchdog->owner[watchdog->count] = 0;
    watchdog->levels[watchdog->count] = 0;
    if (watchdog->count == 0) {
        ls_env_timer_stop(watchdog->all->env, &watchdog->timer);
    }
}

void watchdog_remove(struct watchdog *watchdog, int owner)
{
    int place = place_of(watchdog, owner);
    if (place < watchdog->count && --watchdog->levels[place] == 0) {
        watchdog_forget(watchdog, owner);
    }
}

static void renew(void *ctx)
{
    struct watchdog *watchdog = ctx;
    struct attempts *all = watchdog->all;
    redisAsyncContext *context = attempts_link(all, LINK_WATCHDOG);
    const struct attempt *attempt = &all->attempt[watchdog->lock][watchdog->owner[0]];
    watchdog->asks =
        context != NULL && attempts_design(all)->renew(watchdog, attempt, context,
                                                       attempts_key(all, watchdog->lock)) == REDIS_OK;
    watchdog->asked_for = watchdog->asks ? watchdog->owner[0] : 0;
    if (!watchdog->asks) {
        watchdog_arm(watchdog);
    }
}

bool watchdog_sleeps(const struct watchdog *watchdog)
{
    return !watchdog->asks && watchdog->timer.armed == 0;
}

void watchdog_arm(struct watchdog *watchdog)
{
    const struct design *design = attempts_design(watchdog->all);
    if (watchdog->count > 0 && !watchdog->asks && design->lease_ms > 0) {
        ls_env_timer_start(watchdog->all->env, &watchdog->timer, "renewal", design->lease_ms / 3, renew,
                           watchdog);
    }
}

void attempts_renewed(redisAsyncContext *context, void *reply, void *ctx)
{
    struct watchdog *watchdog = ctx;
    struct attempts *all = watchdog->all;
    int owner = watchdog->asked_for;
    (void)context;
    ls_env_lock(all->env);
    watchdog->asks = false;
    watchdog->asked_for = 0;
    if (!all->stopping && watchdog->count > 0) {
        attempts_design(all)->renewed(watchdog, &all->attempt[watchdog->lock][owner],
                                      parts_is_error(reply) ? NULL : reply);
    }
    watchdog->outdated = false;
    tell(all);
}

int attempts_start(void *memory, struct ls_env *env, const struct ls_recipe_config *config,
                   const struct design *design, unsigned flaws)
{
    struct attempts *all = memory;
    if (config->lock_count > ATTEMPTS_LOCKS_MAX) {
        return LS_EINVAL;
    }
    all->env = env;
    all->config = config;
    all->design = lockredis_client_distance(design);
    all->flaws = flaws;
    connections_start(all->link, LINKS, env);
    for (int lock = 0; lock < ATTEMPTS_LOCKS_MAX; lock++) {
        all->watchdog[lock].all = all;
        all->watchdog[lock].lock = (uint8_t)lock;
        for (int owner = 0; owner < ATTEMPTS_OWNERS_MAX; owner++) {
            struct attempt *attempt = &all->attempt[lock][owner];
            attempt->all = all;
            attempt->lock = (uint8_t)lock;
            attempt->owner = (uint8_t)owner;
        }
    }
    return LS_OK;
}

static void stop_one(struct attempt *attempt)
{
    struct ls_env *env = attempt->all->env;
    ls_env_timer_stop(env, &attempt->poll);
    ls_env_timer_stop(env, &attempt->again);
    if (attempt->releasing) {
        say(attempt, LS_REPORT_FREED, 0);
    }
    if (attempt->pending) {
        answer(attempt, LS_REPORT_FAILED, LS_ECLOSED);
    }
}

void attempts_stop(void *memory)
{
    struct attempts *all = memory;
    ls_env_lock(all->env);
    all->stopping = true;
    for (int i = 0; i < ATTEMPTS_LOCKS_MAX * ATTEMPTS_OWNERS_MAX; i++) {
        stop_one(&all->attempt[i / ATTEMPTS_OWNERS_MAX][i % ATTEMPTS_OWNERS_MAX]);
    }
    for (int lock = 0; lock < ATTEMPTS_LOCKS_MAX; lock++) {
        ls_env_timer_stop(all->env, &all->watchdog[lock].timer);
    }
    tell(all);
    connections_close(all->link, LINKS);
}

static struct attempt *attempt_of(void *memory, int lock, int owner)
{
    struct attempts *all = memory;
    bool known = lock >= 0 && lock < all->config->lock_count && owner >= 0 && owner < ATTEMPTS_OWNERS_MAX;
    return known ? &all->attempt[lock][owner] : NULL;
}

static int ask(struct attempt *attempt, int timeout_ms)
{
    int rc = LS_OK;
    if (timeout_ms > 0) {
        rc = ls_env_timer_start(attempt->all->env, &attempt->deadline, "deadline", (uint32_t)timeout_ms,
                                give_up, attempt);
    }
    if (rc == LS_OK) {
        attempt->pending = true;
        attempt->is_try = timeout_ms == 0;
        if (attempt->phase == PHASE_NONE || attempt->phase == PHASE_HOLDING) {
            begin(attempt);
        }
    }
    return rc;
}

int attempts_acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct attempts *all = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    int rc = LS_OK;
    if (attempt == NULL || attempt->pending) {
        return LS_EINVAL;
    }
    ls_env_lock(all->env);
    if (attempt->depth > 0 && !attempts_design(all)->counts) {
        attempt->depth++;
        say(attempt, LS_REPORT_GRANTED, 0);
    } else {
        rc = ask(attempt, timeout_ms);
    }
    tell(all);
    return rc;
}

int attempts_cancel(void *memory, int lock, int owner)
{
    struct attempts *all = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || !attempt->pending) {
        return LS_ENOENT;
    }
    ls_env_lock(all->env);
    abandon(attempt, LS_ECANCELED);
    tell(all);
    return LS_OK;
}

int attempts_release(void *memory, int lock, int owner)
{
    struct attempts *all = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || attempt->depth == 0) {
        return LS_ENOTOWNER;
    }
    ls_env_lock(all->env);
    attempt->depth--;
    attempt->releasing = attempt->depth == 0;
    if (attempt->releasing || attempts_design(all)->counts) {
        attempt->gives++;
        if (attempt->phase == PHASE_HOLDING) {
            give(attempt);
        }
    }
    tell(all);
    return LS_OK;
}

enum ls_belief attempts_query(const void *memory, int lock, int owner)
{
    const struct attempts *all = memory;
    bool known = lock < ATTEMPTS_LOCKS_MAX && owner < ATTEMPTS_OWNERS_MAX;
    return known && all->attempt[lock][owner].depth > 0 ? LS_HELD : LS_NOT_HELD;
}

const struct ls_timer_row ATTEMPTS_TIMERS[] = {{"poll", LS_TIMER_POLL},       {"place", LS_TIMER_RENEWAL},
                                               {"renewal", LS_TIMER_RENEWAL}, {"deadline", LS_TIMER_DEADLINE},
                                               {"again", LS_TIMER_WORK},      {NULL, LS_TIMER_WORK}};
