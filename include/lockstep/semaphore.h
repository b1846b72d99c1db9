/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_semaphore is a distributed semaphore: at most as many leases as its capacity says are held at the
 * same time. Its nodes are named and placed as those of Curator's InterProcessSemaphoreV2, so that clients of
 * both libraries share the leases of one path. A semaphore of capacity 1 is Curator's
 * InterProcessSemaphoreMutex.
 *
 * A lease has a number, which the program chooses. The number is the lease's owner in `leases`, which is a
 * struct ls_mutex for the functions of mutex.h. A lease is bound to no thread: any thread may release it.
 *
 * An acquire asks for one lease or for several, and gets all of them or none. Afterwards each lease is
 * released, and may be lost, by itself. Acquires are served in the order of their nodes in the line, whatever
 * the number of leases that they ask for.
 *
 * All clients of a path must know the same capacity. It is fixed in the programs, or it stands in a shared
 * count, which ls_semaphore_follow() reads. docs/which-lock.md describes the effect of different
 * capacities. */
#ifndef LOCKSTEP_SEMAPHORE_H
#define LOCKSTEP_SEMAPHORE_H

#include <lockstep/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* Longest path of a semaphore, in bytes. Its nodes stand below the children "leases" and "locks" of it. */
#define LS_SEMAPHORE_PATH_SIZE_MAX (LS_MUTEX_PATH_SIZE_MAX - 7)

/* Largest capacity, and most leases of one acquire. */
#define LS_SEMAPHORE_CAPACITY_MAX 10000

/* The functions of mutex.h take the address of `leases`, which must stay a part of this struct. They do for a
 * lease what mutex.h says, with these differences:
 * - ls_mutex_acquire_start(), ls_mutex_acquire(), ls_mutex_try() and ls_mutex_acquire_outcome() return
 *   LS_EINVAL.
 * - ls_mutex_make_revocable() returns LS_EINVAL.
 * - Tokens of leases that are held at the same time have no order.
 * - ls_mutex_participants() lists the leases that are held, and those of the first acquire in line. */
struct ls_semaphore {
    struct ls_mutex leases;
    struct ls_mutex line; /* private: the acquires that wait for their leases */
};

/* Initialises a semaphore, as ls_mutex_init() does. Callbacks get the address of `leases` as their mutex, and
 * the number of a lease as their owner. `capacity` is the number of leases that may be held at the same
 * time, by all clients together. Returns 0 or a code of ls_mutex_init(), or one of these:
 * - LS_EINVAL: the capacity is 0 or above LS_SEMAPHORE_CAPACITY_MAX.
 * - LS_EINVAL: the path is longer than LS_SEMAPHORE_PATH_SIZE_MAX. */
int ls_semaphore_init(struct ls_semaphore *semaphore, struct ls_session *session, const char *path,
                      uint32_t capacity, const struct ls_mutex_options *options);

/* Sets the capacity from now on, for instance when a number changes that all clients read. Acquires that wait
 * go on if there is room now. Leases that are held stay held, also if they are more than the capacity. An
 * acquire that waits for more leases than the capacity is not granted, nor is any behind it, before the
 * capacity grows or the acquire ends. Returns 0 or one of these:
 * - LS_EINVAL: the new capacity is 0 or above LS_SEMAPHORE_CAPACITY_MAX.
 * - LS_ECLOSED: the semaphore is closed. */
int ls_semaphore_set_capacity(struct ls_semaphore *semaphore, uint32_t capacity);

/* Tells a program that its semaphore has another capacity from now on. `user` is the argument of
 * ls_semaphore_follow(). The function may call any function of this library that does not wait. */
typedef void (*ls_capacity_fn)(struct ls_semaphore *semaphore, void *user, uint32_t capacity);

/* Follows a shared count from now on: the node `path` holds the capacity, as Curator's SharedCount writes it.
 * The node's contents are four bytes, the highest first. The function only begins to read. The capacity stays
 * as it is until the node has been read.
 *
 * - `changed` is called after the count has changed the capacity. Changes that follow fast may be told as
 *   one. `changed` may be NULL.
 * - The semaphore follows the count until it is closed, in later ZooKeeper sessions too.
 * - While the node is missing, may not be read, or contains no number from 1 to LS_SEMAPHORE_CAPACITY_MAX,
 *   the capacity stays as it is.
 * - The library never writes the node, and never creates it.
 * - If the count is read later and is a capacity, it replaces the capacity of ls_semaphore_set_capacity().
 *
 * Returns 0 or one of these:
 * - LS_EINVAL: the path is NULL or malformed, or longer or deeper than the constants of mutex.h allow.
 * - LS_EALREADY: the semaphore follows a count already.
 * - LS_EOVERFLOW: with one more watch, the session's watches would exceed options.maxbuffer.
 * - LS_ENOMEM: there is no memory for the count.
 * - LS_ECLOSED: the semaphore is closed or is being closed, or its session on loan is being closed. */
int ls_semaphore_follow(struct ls_semaphore *semaphore, const char *path, ls_capacity_fn changed, void *user);

/* Closes a semaphore, as ls_mutex_close() closes a mutex, and returns what ls_mutex_close() returns. */
int ls_semaphore_close(struct ls_semaphore *semaphore);

/* Asks for `count` leases with the numbers from `first` on. on_done then follows once, with `first` as its
 * owner and the token of that lease. All numbers lie between 1 and LS_ENV_THREAD - 1. `timeout_ms` and the
 * results are those of ls_mutex_acquire_start(), with these differences:
 * - The function never returns 1.
 * - LS_EINVAL: `count` is 0 or above the capacity, or a number is out of bounds.
 * - LS_EALREADY: a lease with one of the numbers is held, or is asked for by the first acquire in line.
 * - LS_EALREADY: an acquire with this first number is pending.
 *
 * With a `timeout_ms` of 0 the acquire also ends with LS_EBUSY if another acquire is ahead in line. The
 * outcome that on_done gets may also be LS_EALREADY: an earlier acquire of this struct has a lease with one
 * of the numbers. */
int ls_semaphore_acquire_start(struct ls_semaphore *semaphore, uint64_t first, uint32_t count,
                               int timeout_ms);

/* Ends the pending acquire with this first number, as ls_mutex_cancel() does. */
int ls_semaphore_cancel(struct ls_semaphore *semaphore, uint64_t first);

/* Asks for `count` leases with the numbers from `first` on, and waits for the answer. Returns the outcome of
 * ls_semaphore_acquire_start() or its negative result. Inside a callback the function returns LS_EDEADLK and
 * asks for nothing. */
int ls_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms);

/* Gives one lease back, and waits for the server's answer, as ls_mutex_release() does for the calling
 * thread. */
int ls_semaphore_release(struct ls_semaphore *semaphore, uint64_t lease);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
