/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_rwlock is a reentrant distributed read-write lock. Its contender nodes are named as those of
 * Curator's InterProcessReadWriteLock, so that clients of both libraries exclude each other on one path.
 *
 * The lock has two halves, `read` and `write`. Each half is a struct ls_mutex, for the functions of mutex.h.
 * Any number of owners may hold the read half at the same time. While one owner holds the write half, no
 * other owner holds either half. Contender nodes stand in one line, in the order of their creation, and a
 * reader does not overtake a writer that is ahead.
 *
 * An owner that holds the write half may acquire the read half, and release the write half then. No other
 * writer gets the lock in between. An owner that holds the read half alone cannot acquire the write half.
 *
 * Beside clients of Curator 5.4 the library cannot prevent one overlap. A client of 5.4 that goes from the
 * write lock to the read lock gets a place at the end of the line. A writer that waits may then be granted
 * the lock beside that reader. docs/which-lock.md says more. */
#ifndef LOCKSTEP_RWLOCK_H
#define LOCKSTEP_RWLOCK_H

#include <lockstep/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* The functions of mutex.h take the address of a half, which must stay a part of this struct. They do for a
 * half what mutex.h says, with these differences:
 * - ls_mutex_acquire_start() on `write` returns LS_EDEADLK if the owner holds the read half and does not hold
 *   the write half.
 * - ls_mutex_acquire_start() on `write` returns LS_EDEADLK also if the owner waits for the read half and does
 *   not hold the write half.
 * - ls_mutex_acquire_start() on `read` returns LS_EALREADY if an acquire of the write half by the owner is
 *   pending.
 * - ls_mutex_release_start() on `write` returns LS_EALREADY for the last level while an acquire of the read
 *   half by the owner is pending.
 * - An acquire of `read` by an owner that holds the write half ends with LS_ELOST if another client deletes
 *   the node of that hold before the grant.
 * - ls_mutex_token() on `read` returns the token of the owner's write hold, also after its release, if the
 *   read hold has taken its place.
 * - ls_mutex_participants() on either half lists the contenders of both. */
struct ls_rwlock {
    struct ls_mutex read;
    struct ls_mutex write;
};

/* Initialises both halves, as ls_mutex_init() does, with the same options. Callbacks tell the halves apart by
 * the address of the mutex. Returns 0 or a code of ls_mutex_init(). If the result is not 0, neither half is
 * initialised. */
int ls_rwlock_init(struct ls_rwlock *lock, struct ls_session *session, const char *path,
                   const struct ls_mutex_options *options);

/* Closes both halves, as ls_mutex_close() does, and returns what ls_mutex_close() returns. */
int ls_rwlock_close(struct ls_rwlock *lock);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
