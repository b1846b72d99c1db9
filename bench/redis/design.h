/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Designs of a lock on Redis with one set of functions, for a real server. `./dev bench redis` measures
 * their speed, and tests/realredis/slow_belief.c measures their beliefs. */
#ifndef BENCH_REDIS_DESIGN_H
#define BENCH_REDIS_DESIGN_H

#include <stdbool.h>

struct design {
    const char *name;

    /* Opens a client of the key `design`, with a connection of its own. The result NULL means that there is
     * no server. */
    void *(*open)(const char *hosts, int lease_ms);

    /* Takes the lock within `timeout_ms`; negative = for ever. The result 0 means that this client holds
     * it. */
    int (*take)(void *client, int timeout_ms);

    /* Tells whether the design lets a holder go on. */
    bool (*believes)(void *client);

    /* Gives the lock back, and returns when the server has answered. The result is 0, or another number if
     * the hold had ended. */
    int (*give)(void *client);

    void (*close)(void *client);
};

/* The mutex of liblockstep_redis: belief is the answer of ls_redis_mutex_query(). */
extern const struct design design_ours;

/* The same mutex, whose holder believes until its release. */
extern const struct design design_unasked;

/* The commands of Baidu's DLock. SET NX PX takes the key. A script renews it after 1 ms, and then at each
 * 3/4 of the lease. Another one compares and deletes. A client that waits looks after 1/10 of the lease,
 * and then at each 1/6. No owner is told of a loss. */
extern const struct design design_dlock;

/* The renewals of Redisson, by its watchdog at each third of the lease. Nobody is told of a loss. Its way
 * of waiting is that of design_dlock, because it has no influence on beliefs. */
extern const struct design design_redisson;

/* Two commands on one connection, SET NX PX and DEL: what a lock on Redis costs at least. */
extern const struct design design_floor;

/* Returns the design of this name, or NULL. */
const struct design *design_find(const char *name);

#endif
