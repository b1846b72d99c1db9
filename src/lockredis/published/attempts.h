/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The common part of simple recipes on Redis: connections, deadlines, repeated requests, renewals and
 * reports. The parts that differ between libraries are functions of struct design.
 *
 * An attempt is the state of one owner at one key:
 *
 *   NONE -----> TAKING -----> HOLDING -----> GIVING -----> NONE
 *                |   ^
 *                v   |
 *               WAITING
 *
 *   TAKING, GIVING: a request is under way. If it cannot be sent, or its reply is lost or an error, the timer
 *   "again" repeats it.
 *   A try, an acquire that was given up, and gives_up() of the design may end the phase instead.
 *   WAITING: another owner has the key. A timer or a subscription of the design ends the wait, or the acquire
 *   is given up.
 *   If the owner has levels left, a phase that would end in NONE ends in HOLDING. A loss ends HOLDING.
 *
 * A watchdog renews the lease of one key for the owners of the process that hold it.
 *
 * Each owner has a connection of its own. All watchdogs share one, and all subscriptions share one. A
 * connection is opened when it is needed. Requests of two connections have no order.
 *
 * All functions expect the environment's mutex to be held, unless they say otherwise. */
#ifndef LOCKREDIS_PUBLISHED_ATTEMPTS_H
#define LOCKREDIS_PUBLISHED_ATTEMPTS_H

#include "lockredis/published/connections.h"
#include "lockredis/published/parts.h"

#include <hiredis/async.h>
#include <lockstep/recipe.h>

#define ATTEMPTS_LOCKS_MAX 2
#define ATTEMPTS_OWNERS_MAX 3
#define ATTEMPTS_ID_MAX 48

enum phase { PHASE_NONE, PHASE_TAKING, PHASE_WAITING, PHASE_HOLDING, PHASE_GIVING };

enum link { LINK_WATCHDOG = ATTEMPTS_OWNERS_MAX, LINK_MESSAGES, LINKS };

struct attempt {
    struct attempts *all;
    uint8_t phase; /* enum phase */
    uint8_t lock, owner;
    uint8_t step;   /* of the design: its progress in the phase, from 0 on */
    uint8_t gives;  /* number of levels to give back */
    bool pending;   /* an acquire has no answer */
    bool is_try;    /* this acquire does not wait */
    bool gone;      /* the acquire was given up, and its request or its release has not ended */
    bool sent;      /* the request of the phase has no reply yet */
    bool repeated;  /* a request of this phase was sent before, and its reply was lost */
    bool releasing; /* a release of the last level has no answer */
    uint8_t reserved;
    int32_t depth;            /* number of levels of the hold */
    char id[ATTEMPTS_ID_MAX]; /* id of the attempt and its hold, from the design; "" = none */
    struct ls_timer poll, again, deadline;
};

struct watchdog {
    struct attempts *all;
    uint8_t lock;
    uint8_t count;                       /* number of owners whose holds it renews; 0 = it is off */
    uint8_t owner[ATTEMPTS_OWNERS_MAX];  /* these owners; a renewal is for the first of them */
    uint8_t levels[ATTEMPTS_OWNERS_MAX]; /* of each of these owners */
    bool asks;                           /* a renewal has no reply yet */
    bool outdated;                       /* the hold of this renewal has ended */
    uint8_t asked_for;                   /* owner of this renewal; 0 without one */
    uint8_t reserved[5];
    struct ls_timer timer;
};

enum verdict {
    VERDICT_NO,
    VERDICT_YES,
    VERDICT_MORE, /* `step` has grown: another command is to be sent */
};

struct design {
    uint32_t lease_ms; /* 0 = nothing is renewed */
    bool counts;       /* the server counts the levels of a hold: each level is taken and given back there */

    void (*identify)(struct attempt *attempt);

    /* Sends the request of the phase, TAKING or GIVING, with attempts_replied() as its callback. */
    int (*send)(struct attempt *attempt, redisAsyncContext *context, const char *key);

    /* Returns whether the owner has the key, by the reply to a take. */
    enum verdict (*took)(struct attempt *attempt, const redisReply *reply);

    /* Has PHASE_WAITING ended by a timer or a subscription, or at once. `reply` is that of the take. */
    void (*wait)(struct attempt *attempt, const redisReply *reply);

    /* Returns the result code of a release. `reply` NULL = gives_up() was true. */
    int (*gave)(struct attempt *attempt, const redisReply *reply);

    /* Sends the renewal for an owner, with attempts_renewed() as its callback. */
    int (*renew)(struct watchdog *watchdog, const struct attempt *attempt, redisAsyncContext *context,
                 const char *key);

    /* Reacts to the reply to a renewal; NULL = it was lost, or an error. See watchdog->outdated. */
    void (*renewed)(struct watchdog *watchdog, struct attempt *attempt, const redisReply *reply);

    /* Returns whether a release ends if its reply is lost, or an error. False or NULL = it is repeated. */
    bool (*gives_up)(const struct attempt *attempt);
};

struct attempts {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    intptr_t design; /* see attempts_design() */
    struct connection link[LINKS];
    unsigned flaws; /* bits of an enum in the library's file, by which its recipes differ */
    bool stopping;
    uint8_t reserved[3];
    struct attempt attempt[ATTEMPTS_LOCKS_MAX][ATTEMPTS_OWNERS_MAX];
    struct watchdog watchdog[ATTEMPTS_LOCKS_MAX];
    struct reports reports;
};

const struct design *attempts_design(const struct attempts *all);

const char *attempts_key(const struct attempts *all, int lock);

redisAsyncContext *attempts_link(struct attempts *all, int link); /* as connections_get() */

/* Callbacks of hiredis for takes and releases, and for renewals. Called without the mutex. */
void attempts_replied(redisAsyncContext *context, void *reply, void *attempt);
void attempts_renewed(redisAsyncContext *context, void *reply, void *watchdog);

/* Lets an attempt in PHASE_WAITING ask for the key again in `delay_ms`. The timer is "poll", or "place" if
 * each request renews a lease of the waiting owner. */
void attempts_poll(struct attempt *attempt, const char *timer, uint32_t delay_ms);

/* Lets an attempt in PHASE_WAITING ask for the key now. */
void attempts_wake(struct attempt *attempt);

/* Ends a hold by a loss, and reports it to the owner. */
void attempts_lose(struct attempt *attempt);

/* Add a level to the owner's hold, remove one, or remove all. Of the owners that have a level here, the hold
 * of the first one is renewed. */
void watchdog_add(struct watchdog *watchdog, int owner);
void watchdog_remove(struct watchdog *watchdog, int owner);
void watchdog_forget(struct watchdog *watchdog, int owner);

bool watchdog_sleeps(const struct watchdog *watchdog); /* no renewal is armed or under way */

/* Arms the next renewal, a third of the lease from now, if an owner holds and no renewal is under way. */
void watchdog_arm(struct watchdog *watchdog);

/* ---- functions of struct ls_recipe, called without the mutex ---- */

/* The state of the recipe, `memory`, begins with struct attempts. */
int attempts_start(void *memory, struct ls_env *env, const struct ls_recipe_config *config,
                   const struct design *design, unsigned flaws);
void attempts_stop(void *memory);
int attempts_acquire(void *memory, int lock, int owner, int timeout_ms);
int attempts_cancel(void *memory, int lock, int owner);
int attempts_release(void *memory, int lock, int owner);
enum ls_belief attempts_query(const void *memory, int lock, int owner);

extern const struct ls_timer_row ATTEMPTS_TIMERS[];

#define ATTEMPTS_RECIPE(NAME, SUMMARY, BREAKS, STATE, START, STOP)                                           \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .breaks = (BREAKS), .state_size = sizeof(STATE),               \
        .start = (START), .stop = (STOP), .acquire = attempts_acquire, .cancel = attempts_cancel,            \
        .release = attempts_release, .query = attempts_query, .reentrant = true, .timers = ATTEMPTS_TIMERS,  \
        .coordinator = "redis", .lease_misses = 1                                                            \
    }

#endif
