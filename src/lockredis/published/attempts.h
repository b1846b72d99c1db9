/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The common part of simple recipes on Redis: connections, deadlines, repeated requests, renewals and
 * reports. The requests of a library are its design: the functions of struct design.
 *
 * An attempt is one owner's way to one key and back:
 *
 *   NONE -----> TAKING -----> HOLDING -----> GIVING -----> NONE
 *                |   ^
 *                v   |
 *               WAITING
 *
 *   TAKING, GIVING: a request is under way, or is sent again by the timer "again" because its reply was lost,
 *   or was an error.
 *   WAITING: another owner has the key. The design has armed a timer or a subscription that ends the wait.
 *
 * A watchdog renews the lease of one key for the owners of the process that hold it.
 *
 * Each owner has a connection of its own. The watchdogs share one, and so do the messages. A connection is
 * opened when it is needed. Requests of two connections have no order.
 *
 * All functions expect the environment's mutex, unless they say otherwise. */
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
    uint8_t step;   /* of a request with several commands: number of those that are done */
    uint8_t gives;  /* number of levels to give back */
    bool pending;   /* an acquire has no answer */
    bool is_try;    /* that acquire does not wait */
    bool gone;      /* that acquire was given up while its request was under way */
    bool sent;      /* the request of the phase is sent, and has no reply yet */
    bool repeated;  /* a request of this phase was sent before, and its reply was lost */
    bool releasing; /* a release of the last level has no answer */
    uint8_t reserved;
    int32_t depth;
    char id[ATTEMPTS_ID_MAX]; /* id of the attempt and its hold, from the design */
    struct ls_timer poll, again, deadline;
};

struct watchdog {
    struct attempts *all;
    uint8_t lock;
    uint8_t count;                      /* number of owners whose holds it renews; 0 = the watchdog is off */
    uint8_t owner[ATTEMPTS_OWNERS_MAX]; /* these owners; a renewal is for the first of them */
    uint8_t levels[ATTEMPTS_OWNERS_MAX];
    bool asks;         /* a renewal is sent, and has no reply yet */
    bool outdated;     /* the hold of that renewal has ended, so its reply is about a former hold */
    uint8_t asked_for; /* owner of that renewal */
    uint8_t reserved[5];
    struct ls_timer timer;
};

enum verdict {
    VERDICT_NO,
    VERDICT_YES,
    VERDICT_MORE, /* `step` of the attempt has changed, and a next command is to be sent */
};

/* The functions that differ between libraries. `flaws` of struct attempts differs between recipes of one. */
struct design {
    uint32_t lease_ms;
    bool
        counts; /* the server counts the levels of a hold, so that each level is taken and given back there */

    /* Makes the id of a new attempt. */
    void (*identify)(struct attempt *attempt);

    /* Sends the request of the phase, TAKING or GIVING, with attempts_replied() as its callback. */
    int (*send)(struct attempt *attempt, redisAsyncContext *context, const char *key);

    /* Judges from the reply to a take whether the owner has the key. */
    enum verdict (*took)(struct attempt *attempt, const redisReply *reply);

    /* Arms a timer or a subscription that ends the wait for a key that another owner has. */
    void (*wait)(struct attempt *attempt, const redisReply *reply);

    /* Returns the result code of a release from its reply; NULL = the reply was lost or an error, and
     * gives_up() was true. */
    int (*gave)(struct attempt *attempt, const redisReply *reply);

    /* Sends the renewal for an owner, with attempts_renewed() as its callback. */
    int (*renew)(struct watchdog *watchdog, const struct attempt *attempt, redisAsyncContext *context,
                 const char *key);

    /* Reacts to the reply to a renewal; NULL = it was lost, or an error. If `outdated` of the watchdog is
     * set, the reply is about a former hold. */
    void (*renewed)(struct watchdog *watchdog, struct attempt *attempt, const redisReply *reply);

    /* Returns whether a release ends if its reply is lost, or an error. NULL = the release is repeated. */
    bool (*gives_up)(const struct attempt *attempt);
};

struct attempts {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    intptr_t design; /* a constant, see attempts_design() */
    struct connection link[LINKS];
    unsigned flaws; /* bits of the library's file */
    bool stopping;
    uint8_t reserved[3];
    struct attempt attempt[ATTEMPTS_LOCKS_MAX][ATTEMPTS_OWNERS_MAX];
    struct watchdog watchdog[ATTEMPTS_LOCKS_MAX];
    struct reports reports;
};

const struct design *attempts_design(const struct attempts *all);

const char *attempts_key(const struct attempts *all, int lock);

/* Returns the context of a connection, which it opens if need be. NULL = memory is short. */
redisAsyncContext *attempts_link(struct attempts *all, int link);

/* ---- for designs ---- */

/* The callback of takes and releases, whose privdata is the attempt. Called without the mutex. */
void attempts_replied(redisAsyncContext *context, void *reply, void *attempt);

/* The callback of renewals, whose privdata is the watchdog. Called without the mutex. */
void attempts_renewed(redisAsyncContext *context, void *reply, void *watchdog);

/* Asks for the key again in so many ms, if the attempt still waits then. The timer is a "poll", or a "place"
 * if each request renews a lease of the waiting owner. */
void attempts_poll(struct attempt *attempt, const char *timer, uint32_t delay_ms);

/* Lets an attempt that waits ask for the key now. */
void attempts_wake(struct attempt *attempt);

/* Ends a hold by a loss, and reports the loss to its owner. */
void attempts_lose(struct attempt *attempt);

/* Add one level to the owner's hold, which is renewed from then on, or remove one level from it. */
void watchdog_add(struct watchdog *watchdog, int owner);
void watchdog_remove(struct watchdog *watchdog, int owner);

/* Removes all levels of the owner's hold, which is not renewed any more. */
void watchdog_forget(struct watchdog *watchdog, int owner);

/* Returns whether no renewal is armed or under way. */
bool watchdog_sleeps(const struct watchdog *watchdog);

/* Arms the next renewal, a third of the lease from now, if an owner holds and no renewal is under way. */
void watchdog_arm(struct watchdog *watchdog);

/* ---- for drivers: functions of struct ls_recipe. They are called without the mutex ---- */

/* Starts the attempts of a recipe whose state begins with struct attempts. */
int attempts_start(void *memory, struct ls_env *env, const struct ls_recipe_config *config,
                   const struct design *design, unsigned flaws);
void attempts_stop(void *memory);
int attempts_acquire(void *memory, int lock, int owner, int timeout_ms);
int attempts_cancel(void *memory, int lock, int owner);
int attempts_release(void *memory, int lock, int owner);
enum ls_belief attempts_query(const void *memory, int lock, int owner);

extern const struct ls_timer_row ATTEMPTS_TIMERS[];

/* A recipe with these functions. */
#define ATTEMPTS_RECIPE(NAME, SUMMARY, BREAKS, STATE, START, STOP)                                           \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .breaks = (BREAKS), .state_size = sizeof(STATE),               \
        .start = (START), .stop = (STOP), .acquire = attempts_acquire, .cancel = attempts_cancel,            \
        .release = attempts_release, .query = attempts_query, .reentrant = true, .timers = ATTEMPTS_TIMERS,  \
        .coordinator = "redis", .lease_misses = 1                                                            \
    }

#endif
