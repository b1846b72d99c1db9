/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_redis_mutex is a reentrant distributed mutex on a Redis server: a key with a lease.
 *
 * There are two sets of functions, as in mutex.h. The functions of the asynchronous core do not wait for a
 * server. Answers come through `struct ls_redis_mutex_ops`. The functions of the blocking shell wait for the
 * answer. The owner of a blocking call is the calling thread. Owners are numbers as in mutex.h.
 *
 * Keys: a mutex with the name `jobs` uses the key `jobs`, the counter `jobs:token` and the channel
 * `jobs:free`. The value of the key is an id that no other attempt has ever had. With a name in braces,
 * `{jobs}`, both keys and the channel have one hash slot of a Redis Cluster.
 *
 * Order: owners of one mutex object stand in a queue, first come, first served. A release hands the key over
 * to the next of them. After LS_REDIS_HANDOVERS_MAX hand-overs in a row the key is given up, so that other
 * processes get their turn. Processes have no order among each other. Clients that wait hear of a release by
 * a message. If a message is lost, they ask again when the lease of the holder would end.
 *
 * Belief: an owner may believe in its hold until nine tenths of the lease have passed since the last answered
 * request for it was sent. A client renews the lease when a third of it has passed. If no answer comes in
 * time, on_lost tells the owner after nine tenths of the lease. A process that was stopped then is told
 * later, but ls_redis_mutex_query() looks at the clock.
 *
 * Losses of a server: a server may lose a key that is held, by a failover, a restart, an eviction, or a jump
 * of its clock. Then two owners may hold. A resource that compares fencing tokens refuses the first of them
 * once it has seen the token of the second, unless the counter was lost too. The page docs/operating-redis.md
 * tells how a deployment avoids that.
 *
 * The caller allocates the struct and does not move it until it is closed. The fields of the struct are
 * private. `ops` must stay valid until ls_redis_mutex_close() has returned. The arguments of a callback are
 * valid until the callback returns. */
#ifndef LOCKSTEP_REDIS_MUTEX_H
#define LOCKSTEP_REDIS_MUTEX_H

#include <lockstep/recipe.h>
#include <lockstep/redis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports the functions of its public headers, and nothing else. */
#pragma GCC visibility push(default)

struct ls_redis_mutex;

/* Longest name of a mutex, in bytes. */
#define LS_REDIS_NAME_SIZE_MAX 400

/* Most hand-overs in a row within one mutex object. */
#define LS_REDIS_HANDOVERS_MAX 16

/* The callbacks of a mutex. Each of them may be NULL. */
struct ls_redis_mutex_ops {
    /* Answers one ls_redis_mutex_acquire_start() that returned 0. `token` is the fencing token of the new
     * hold, or 0 if the lock was not granted. */
    void (*on_done)(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token);

    /* Tells how the release of an owner's last level ended. `rc` is one of these:
     * - 0: the key is given up, or handed over.
     * - LS_EUNSURE: no answer came before the lease ended, or the mutex was closed.
     * - LS_ELOST: the hold had ended before its release.
     * - LS_EREFUSED: the server refused the request; the lease ends the hold. */
    void (*on_freed)(struct ls_redis_mutex *mutex, uint64_t owner, int rc);

    /* Tells that the hold with this fencing token has ended without its release. A hold ends so in these
     * cases:
     * - Its lease was not renewed in time.
     * - The key is gone, or is another owner's.
     * - The mutex was closed.
     *
     * When on_lost begins, ls_redis_mutex_query() does not return LS_HELD for that hold any more. */
    void (*on_lost)(struct ls_redis_mutex *mutex, uint64_t owner, int64_t token);
};

struct ls_redis_mutex {
    struct ls_redis *redis; /* NULL after close */
    struct redis_lock *lock;
    intptr_t ops; /* distance of the callbacks from a constant of the library; 0 = none */
};

/* Initialises a mutex. `name` is copied. `ops` may be NULL. A mutex may be initialised from the return of
 * ls_redis_init() on, with or without a connection.
 *
 * LS_EINVAL: the name is missing, empty or too long. LS_ECLOSED: the client is closed, or is being closed.
 * LS_ENOMEM: there is no memory. */
int ls_redis_mutex_init(struct ls_redis_mutex *mutex, struct ls_redis *redis, const char *name,
                        const struct ls_redis_mutex_ops *ops);

/* Closes a mutex:
 * - Pending acquires are answered with LS_ECLOSED.
 * - on_lost tells of holds, which are given back.
 * - Releases that are under way are answered with LS_EUNSURE.
 *
 * The callbacks of these answers run during the close. After ls_redis_mutex_close() has returned, no callback
 * of this mutex runs. The close waits for a callback that is running, but not for a server. It returns 0,
 * also if the mutex was closed before. If two threads close a mutex at once, both return when it is closed.
 * While a thread closes the mutex, the functions below answer as if it were closed. Inside a callback
 * ls_redis_mutex_close() of an open mutex returns LS_EDEADLK and closes nothing. */
int ls_redis_mutex_close(struct ls_redis_mutex *mutex);

/* ---- asynchronous core ---- */

/* Asks for the lock in the name of `owner`. `timeout_ms` says how long the acquire may wait:
 * - Negative: for ever.
 * - 0: the lock is granted only if it is free now. Otherwise the outcome is LS_EBUSY.
 * - Positive: so many ms. Then the outcome is LS_ETIMEDOUT.
 *
 * If the owner holds the lock already, its depth grows by 1 and the function returns 1. No callback follows a
 * result of 1. If the function returns 0, on_done follows once, possibly before the return. A negative result
 * means that nothing was begun:
 * - LS_EINVAL: `owner` is 0, or the number of another thread.
 * - LS_EALREADY: an acquire of this owner is pending.
 * - LS_EBUSY: `timeout_ms` is 0, and there is no connection, or another owner of this mutex holds or waits.
 * - LS_ECLOSED: the mutex or its client is not open, or is being closed.
 * - LS_EAUTHFAILED, LS_EREFUSED: the client has failed for this reason.
 * - LS_EOVERFLOW: the depth is UINT32_MAX already.
 * - LS_ENOMEM: there is no memory for the acquire.
 *
 * The outcome that on_done gets is 0, LS_EBUSY, LS_ETIMEDOUT, or one of these:
 * - LS_ECANCELED: ls_redis_mutex_cancel() ended the acquire.
 * - LS_EREFUSED: the server refused the database, or the request, as for a key of another type. Or the
 *   acquire was a try, and the server could not do the request now, or too few replicas had the grant.
 * - LS_EAUTHFAILED: the server refused the credentials.
 * - LS_ECLOSED: the mutex or its client was closed. */
int ls_redis_mutex_acquire_start(struct ls_redis_mutex *mutex, uint64_t owner, int timeout_ms);

/* Ends the pending acquire of `owner`, which may be a thread that waits in a blocking call. on_done with
 * LS_ECANCELED follows, or that call returns it. LS_ENOENT: no acquire of this owner is pending. LS_ECLOSED:
 * the mutex is closed. */
int ls_redis_mutex_cancel(struct ls_redis_mutex *mutex, uint64_t owner);

/* Gives one level of the owner's hold back. If it was the last level, the lock is not held any more when the
 * function returns 0. on_freed then follows once. If it was an inner level, no callback follows. Other
 * results:
 * - LS_ENOTOWNER: this owner does not hold the lock.
 * - LS_ELOST: this owner held the lock, and lost it. That is told once for each level.
 * - LS_ECLOSED: the mutex is closed, and has given back what was held. */
int ls_redis_mutex_release_start(struct ls_redis_mutex *mutex, uint64_t owner);

/* Returns what this owner may believe:
 * - LS_HELD: a request that was sent within nine tenths of the lease has confirmed the hold.
 * - LS_UNKNOWN: that time is over, and on_lost is about to tell it.
 * - LS_NOT_HELD: the owner does not hold the lock. */
enum ls_belief ls_redis_mutex_query(const struct ls_redis_mutex *mutex, uint64_t owner);

/* Returns for how many ms at most ls_redis_mutex_query() will go on returning LS_HELD for this owner if no
 * answer of a server comes. The result is 0 if ls_redis_mutex_query() does not return LS_HELD now. */
int ls_redis_mutex_belief_left_ms(const struct ls_redis_mutex *mutex, uint64_t owner);

/* Returns how many levels the owner holds, 0 if it does not hold the lock. */
uint32_t ls_redis_mutex_depth(const struct ls_redis_mutex *mutex, uint64_t owner);

/* Returns the fencing token of the owner's hold: the value of the counter when the lock was granted. Every
 * later grant has a larger token, as long as the server keeps the counter. The token is 0 if the owner does
 * not hold the lock. */
int64_t ls_redis_mutex_token(const struct ls_redis_mutex *mutex, uint64_t owner);

/* ---- blocking shell ---- */

/* Asks for the lock as ls_redis_mutex_acquire_start() does, and waits for the outcome, which it returns. 0
 * means that the calling thread holds the lock. LS_EDEADLK: the function was called inside a callback. */
int ls_redis_mutex_acquire(struct ls_redis_mutex *mutex, int timeout_ms);

/* Is ls_redis_mutex_acquire() with `timeout_ms` 0. */
int ls_redis_mutex_try(struct ls_redis_mutex *mutex);

/* Gives one level back, and waits for the server's answer if it is the last one. Returns a code of
 * ls_redis_mutex_release_start() or of on_freed, or LS_EDEADLK as ls_redis_mutex_acquire() does. */
int ls_redis_mutex_release(struct ls_redis_mutex *mutex);

/* ---- questions in the name of the calling thread ---- */

/* Returns ls_redis_mutex_query() for the calling thread. */
enum ls_belief ls_redis_mutex_query_by_me(const struct ls_redis_mutex *mutex);

/* Returns ls_redis_mutex_token() for the calling thread. */
int64_t ls_redis_mutex_token_by_me(const struct ls_redis_mutex *mutex);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
