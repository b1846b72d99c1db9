/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Error and warning codes of the public interface. The errors are one list, the warnings another. An entry
 * has the name, the number and the text of a code.
 *
 * Functions that return a code return 0 or a negative `enum ls_err`; a few return a positive answer and say
 * so. The functions of this header may be called anywhere: in any thread, in callbacks, after a fork, in
 * signal handlers. */
#ifndef LOCKSTEP_ERROR_H
#define LOCKSTEP_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* Each code: name, number, text. Numbers are part of the interface: a new code gets a new number. */
#define LS_ERR_LIST(X)                                                                                       \
    X(LS_ENOMEM, -1, "out of memory")                                                                        \
    X(LS_EINVAL, -2, "invalid argument")                                                                     \
    X(LS_EBUSY, -3, "the lock is not free")                                                                  \
    X(LS_ETIMEDOUT, -4, "the deadline has passed")                                                           \
    X(LS_ECANCELED, -5, "the acquire was cancelled")                                                         \
    X(LS_ENOENT, -6, "nothing is pending")                                                                   \
    X(LS_ENOTOWNER, -7, "the caller does not hold the lock")                                                 \
    X(LS_ELOST, -8, "the session was lost, and the lock with it")                                            \
    X(LS_ESEQUENCE, -9, "the sequence numbers of the lock's parent are used up; re-create the parent")       \
    X(LS_ENOAUTH, -10, "no permission on a node")                                                            \
    X(LS_EAUTHFAILED, -11, "the session's credentials were refused")                                         \
    X(LS_EZK, -12, "ZooKeeper refused the request")                                                          \
    X(LS_ECLOSED, -13, "the object is closed or not started")                                                \
    X(LS_EDEADLK, -14, "a blocking call from a callback would wait for itself")                              \
    X(LS_EALREADY, -15, "an acquire of this owner is pending already")                                       \
    X(LS_EUNSURE, -16, "the answer was lost: what was asked may be done or not")                             \
    X(LS_EGAVEUP, -17, "the retry policy is exhausted")                                                      \
    X(LS_EOVERFLOW, -18, "a counter or buffer is too small")                                                 \
    X(LS_EUNSUPPORTED, -19, "the client library lacks what was asked for")                                   \
    X(LS_EREFUSED, -20, "the server refused the request")

#define LS_ERR_ENUM(name, number, text) name = (number),
enum ls_err { LS_OK = 0, LS_ERR_LIST(LS_ERR_ENUM) };
#undef LS_ERR_ENUM

/* Each warning likewise. Callbacks tell warnings; no function returns one. */
#define LS_WARN_LIST(X)                                                                                      \
    X(LS_WARN_FOREIGN_CHILD, 1,                                                                              \
      "the lock's parent has a child that is no contender: Curator would wait for it, or it is of another "  \
      "kind of lock")                                                                                        \
    X(LS_WARN_LEFT_BEHIND, 2, "a contender node could not be removed; it stays until the session ends")      \
    X(LS_WARN_NODE_GONE, 3, "somebody deleted the node of a hold; the lock is lost")                         \
    X(LS_WARN_CAPACITY, 4,                                                                                   \
      "more leases of the semaphore are held than its capacity: another client knows a larger one")

#define LS_WARN_ENUM(name, number, text) name = (number),
enum ls_warning { LS_WARN_NONE = 0, LS_WARN_LIST(LS_WARN_ENUM) };
#undef LS_WARN_ENUM

/* Returns the text of an error code; a fixed text for 0, and for a number that is no code. The text is
 * never NULL and is not to be freed. */
const char *ls_strerror(int err);

/* Returns the text of a warning, likewise. */
const char *ls_strwarning(int warning);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
