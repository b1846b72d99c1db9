/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_mutex is a reentrant distributed mutex. Its contender nodes are named as those of Curator's
 * InterProcessMutex, so that clients of both libraries exclude each other on one path.
 *
 * There are two sets of functions:
 * - The asynchronous core: its functions do not wait for a server. Answers come through callbacks.
 * - The blocking shell: its functions wait for the answer. The owner of a blocking call is the calling
 *   thread.
 *
 * An owner is a number from 1 to LS_ENV_THREAD - 1 that the program chooses, for instance for a task. A
 * thread is an owner too, under the number that ls_env_self() returns for it. A thread's number has the
 * bit LS_ENV_THREAD, so that the two kinds of numbers never meet. Each owner has a contender node of its
 * own, so that owners of one process exclude each other too.
 *
 * The caller allocates the struct and does not move it until it is closed. The fields of the struct are
 * private. The options stay the caller's and must stay valid until ls_mutex_close() has returned. Every
 * function may be called from any thread, but only one thread may initialise a struct. session.h describes
 * callbacks, fork and signals. The arguments of a callback are valid until the callback returns. */
#ifndef LOCKSTEP_MUTEX_H
#define LOCKSTEP_MUTEX_H

#include <lockstep/recipe.h>
#include <lockstep/session.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

struct ls_mutex;
struct lock_place; /* private: the path of a mutex, shared with the claims that the janitor has */

/* Longest path of a mutex, in bytes. */
#define LS_MUTEX_PATH_SIZE_MAX 900

/* Most nodes in the path of a mutex, the last one included. */
#define LS_MUTEX_PATH_NODES_MAX 254

/* The result of an acquire. */
struct ls_outcome {
    int rc;         /* result code: 0 if the lock was granted, otherwise a negative enum ls_err */
    int zk_rc;      /* ZooKeeper's code behind a negative `rc`; 0 if there is none */
    uint32_t depth; /* depth of the hold: 1 if it is new; 0 if the lock was not granted */
    int64_t token;  /* fencing token of the hold; 0 if the lock was not granted */
};

/* One contender of a mutex. */
struct ls_participant {
    const char *name;     /* name of the contender node, without its parent's path */
    const char *contents; /* contents of the node, never NULL, with a zero byte behind them */
    int size;             /* bytes in `contents`, without that zero byte; 0 for null contents */
};

/* The contenders of a mutex at one moment, as ls_mutex_participants() gives them. */
struct ls_participants {
    struct ls_env *env;          /* private: environment whose memory the list is */
    struct ls_participant *list; /* contenders in the order of the queue; may be NULL if `count` is 0 */
    int count;
};

/* The callbacks of a mutex. Each of them may be NULL. */
struct ls_mutex_ops {
    /* Answers one ls_mutex_acquire_start() that returned 0. */
    void (*on_done)(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome);

    /* Tells how the asynchronous release of an owner's last level ended. `rc` is one of these:
     * - 0: the node is gone, or its ZooKeeper session has ended.
     * - LS_EUNSURE: there was no connection, the server's answer was lost, or the server refused for now. Or
     *   the mutex or the session was closed, or the session has failed.
     * - LS_ENOAUTH, LS_EZK: the server refused for good to delete the node.
     * - LS_ELOST: another client had deleted the node before, so the hold had been lost.
     *
     * After LS_EUNSURE the janitor removes the node while its ZooKeeper session lives. After LS_ENOAUTH and
     * LS_EZK the node stays until the session ends. */
    void (*on_freed)(struct ls_mutex *mutex, uint64_t owner, int rc);

    /* Warns an owner with a code of LS_WARN_LIST (error.h). LS_WARN_NODE_GONE means that another client
     * deleted the node of this owner's hold. The hold is lost then. A revocable holder is warned when its
     * watch, or a read of its node, tells of the deletion. Another holder is not warned; its release tells
     * LS_ELOST, unless the server's answer is lost. */
    void (*on_warning)(struct ls_mutex *mutex, uint64_t owner, enum ls_warning warning);

    /* Answers one ls_mutex_participants_start() that returned 0. `list` is in the order of the queue. If
     * `rc` is not 0, `list` is NULL and `count` is 0. */
    void (*on_participants)(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count);

    /* Tells that a client asks `owner` to give back the hold with this fencing token. */
    void (*on_revoke)(struct ls_mutex *mutex, uint64_t owner, int64_t token);

    /* Tells that the hold with this fencing token has ended without its release. on_lost is called once
     * for such a hold, whatever its depth. A hold ends so in these cases:
     * - The ZooKeeper session of the hold has ended, or the session was closed or has failed.
     * - ls_mutex_close() has given the lock back.
     * - LS_WARN_NODE_GONE was told of the hold.
     *
     * When on_lost begins, ls_mutex_query() does not return LS_HELD for that hold any more. The callback
     * may begin before a blocking acquire has returned the hold. The callback may begin when the owner
     * already holds the lock anew; the token says which hold was lost. */
    void (*on_lost)(struct ls_mutex *mutex, uint64_t owner, int64_t token);
};

/* A struct of zeros is a valid default. The struct must stay valid until ls_mutex_close() has returned. */
struct ls_mutex_options {
    const struct ls_mutex_ops *ops;
    /* ACL of the nodes that the mutex creates, contender nodes and missing ancestors alike. Curator does the
     * same with an ACLProvider that returns one ACL for every path. If the field is NULL, the ACL of the
     * session's options is used. If that is NULL too, the nodes are open to all users. Nodes that exist keep
     * their ACL. A session needs READ, CREATE and DELETE on the parent of the contender nodes, and READ on
     * contenders. */
    const struct ACL_vector *acl;

    struct ls_mutex_counters *counters; /* counters of this mutex alone; NULL if nothing is to be counted */
};

struct ls_mutex {
    struct ls_session *session; /* NULL after close */
    struct lock_place *place;
    struct ls_ref options;
    const char *contents; /* caller-owned */
    int32_t contents_size;
    uint32_t warned; /* a bit for each enum ls_warning that has been told */
    bool revocable;  /* holders listen to requests to give the lock back */
    bool closing;    /* a thread is in ls_mutex_close() */
};

/* Initialises a mutex at the absolute path `path`, which lies below the session's chroot. The path is copied.
 * ls_mutex_init() sends nothing to a server. An acquire creates the nodes of the path that are missing, as
 * containers if the servers have them (F53 in docs/fidelity.md). `options` may be NULL. A mutex may be
 * initialised from the return of ls_session_init() on, with or without a connection.
 *
 * Returns 0, or one of these, and the mutex is not initialised:
 * - LS_EINVAL: an argument is NULL, or the path is malformed, or longer or deeper than the constants above
 *   allow.
 * - LS_EOVERFLOW: with this ACL a create is longer than options.maxbuffer of the session.
 * - LS_ENOMEM: there is no memory for the path. */
int ls_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path,
                  const struct ls_mutex_options *options);

/* Sets the contents of contender nodes that are created from now on, for instance a host name. `contents` is
 * not copied and must stay valid until it is replaced or the mutex is closed. If `contents` is NULL, nodes
 * are created with null data.
 *
 * Returns 0, or one of these, and the contents stay what they were:
 * - LS_EINVAL: `size` is negative, or the mutex is closed.
 * - LS_EOVERFLOW: with these contents a create is longer than options.maxbuffer of the session. */
int ls_mutex_set_contents(struct ls_mutex *mutex, const char *contents, int size);

/* Closes a mutex:
 * - Pending acquires are answered with LS_ECLOSED.
 * - Surveys of participants that are under way are answered with LS_ECLOSED.
 * - Locks that are held are given back by the janitor.
 * - Asynchronous releases that are under way are answered with LS_EUNSURE, or with 0 if the node is known to
 *   be gone.
 * - Blocking releases that are under way still return the server's answer.
 *
 * The callbacks of these answers run during the close. During the close every acquire, release and survey of
 * participants is refused with LS_ECLOSED. After ls_mutex_close() has returned, no callback of this mutex
 * runs. If two threads close a mutex at once, both return when it is closed. Other threads may be in any
 * function of the mutex during its close. A mutex may be closed after its session, as long as the memory of
 * the session is valid. The close waits for callbacks of the session that are running. It waits neither for
 * an answer of a server nor for a look-up of host names.
 *
 * ls_mutex_close() returns 0, also if the mutex was closed before. Inside a callback it returns LS_EDEADLK
 * and closes nothing, unless the mutex was closed before. */
int ls_mutex_close(struct ls_mutex *mutex);

/* ---- asynchronous core ---- */

/* Asks for the lock in the name of `owner`. `timeout_ms` says how long the acquire may wait:
 * - Below 0: without a bound.
 * - 0: not at all; LS_EBUSY if another contender is ahead.
 * - Above 0: so many milliseconds; LS_ETIMEDOUT at the deadline, even during an outage.
 *
 * If the acquire begins, the function returns 0. on_done then follows exactly once, possibly before the
 * function returns. If the owner holds the lock already, its depth grows by 1 and the function returns 1. No
 * callback follows a result of 1. A negative result means that nothing was begun, and no callback follows:
 * - LS_EINVAL: `owner` is 0.
 * - LS_EINVAL: `owner` is the number of another thread.
 * - LS_EALREADY: an acquire of this owner is pending, or its outcome is not told yet.
 * - LS_EALREADY, LS_EDEADLK: a half of a read-write lock refuses the acquire (rwlock.h).
 * - LS_EBUSY: `timeout_ms` is 0, and there is no connection.
 * - LS_ECLOSED: the mutex or its session is not open, or is being closed.
 * - LS_EAUTHFAILED, LS_EGAVEUP, LS_ENOMEM: the session has failed for this reason.
 * - LS_EOVERFLOW: the depth is UINT32_MAX already.
 * - LS_EOVERFLOW: with one more watch, the session's watches would exceed options.maxbuffer.
 * - LS_EOVERFLOW: the session has 65,535 acquires, holds and leftovers already.
 * - LS_ENOMEM: there is no memory for the acquire.
 *
 * The outcome that on_done gets is 0, LS_EBUSY, LS_ETIMEDOUT, or one of these:
 * - LS_ECANCELED: ls_mutex_cancel() ended the acquire.
 * - LS_ESEQUENCE: the sequence numbers of the parent have come to their end or have wrapped (F49).
 * - LS_EINVAL: the client library or the server does not accept the path.
 * - LS_ENOAUTH: the ACL of a node does not let the session create or read what the acquire needs.
 * - LS_EZK: the server refused a request for another reason.
 * - LS_ELOST: after the grant and before on_done, the ZooKeeper session ended or the node was deleted. For a
 *   half of a read-write lock see rwlock.h.
 * - LS_ECLOSED: the mutex or its session was closed.
 * - LS_EAUTHFAILED: the server rejected the credentials of the session.
 * - LS_EGAVEUP: the retry policy of the session is exhausted.
 * - LS_EOVERFLOW: with the watch on the predecessor, the session's watches would exceed options.maxbuffer.
 * - LS_ENOMEM: there was no memory for a timer.
 * - A code of ls_session_start(), if the session could not be started.
 *
 * A ZooKeeper session that expires while the acquire waits does not end the acquire. The acquire then queues
 * again under the next ZooKeeper session, behind all contenders. With `timeout_ms` 0 the end of the
 * connection ends the acquire, with LS_EBUSY. */
int ls_mutex_acquire_start(struct ls_mutex *mutex, uint64_t owner, int timeout_ms);

/* Ends the pending acquire of `owner`, which may be a thread in a blocking call. on_done with LS_ECANCELED
 * follows, or that call returns LS_ECANCELED. The janitor removes the node of the acquire. The result
 * LS_ENOENT means that no acquire of this owner is pending. The result LS_ECLOSED means that the mutex is
 * closed, so that there is nothing to cancel. */
int ls_mutex_cancel(struct ls_mutex *mutex, uint64_t owner);

/* Gives one level of the owner's hold back. If it was the last level, the lock is not held any more when the
 * function returns 0. on_freed then follows once. If it was an inner level, no callback follows. Other
 * results:
 * - LS_ENOTOWNER: this owner does not hold the lock.
 * - LS_ELOST: this owner held the lock, and lost it with its session or its node.
 * - LS_ECLOSED: the mutex is closed or is being closed, and gives back what was held.
 * - LS_EALREADY: a half of a read-write lock refuses the release (rwlock.h).
 *
 * LS_ELOST is told once for each level that was lost. An owner that acquires the lock anew after a loss
 * first gives back the new levels. It then gets LS_ELOST for each level that it had before. */
int ls_mutex_release_start(struct ls_mutex *mutex, uint64_t owner);

/* Returns what this owner may believe:
 * - LS_HELD: the owner holds the lock, the link is up, and a write or sync that was sent within the margin
 *   has confirmed the session (F29, F35).
 * - LS_UNKNOWN: the lock was held when last heard of. Since then the margin was used up, or the link was
 *   lost, or a server has answered that the session is over.
 * - LS_NOT_HELD: the owner does not hold the lock. */
enum ls_belief ls_mutex_query(const struct ls_mutex *mutex, uint64_t owner);

/* Returns for how many ms at most ls_mutex_query() will go on returning LS_HELD for this owner if no
 * answer of a server comes. The result is 0 if ls_mutex_query() does not return LS_HELD now. A link that
 * breaks ends the belief before that time. The result may be the timeout of a timer or of poll(). */
int ls_mutex_belief_left_ms(const struct ls_mutex *mutex, uint64_t owner);

/* Returns how many levels the owner holds, 0 if it does not hold the lock. */
uint32_t ls_mutex_depth(const struct ls_mutex *mutex, uint64_t owner);

/* Returns whether the owner holds the lock, that is, whether ls_mutex_query() returns LS_HELD or
 * LS_UNKNOWN. */
bool ls_mutex_held_by(const struct ls_mutex *mutex, uint64_t owner);

/* Returns whether any owner holds the lock through this struct. */
bool ls_mutex_held_here(const struct ls_mutex *mutex);

/* Returns the fencing token, which is the czxid of the owner's contender node. Every later grant of a mutex
 * has a larger token, even if the parent was deleted and created again (F47). For a read-write lock see
 * rwlock.h. The token is 0 if the owner does not hold the lock. */
int64_t ls_mutex_token(const struct ls_mutex *mutex, uint64_t owner);

/* Makes `op` a check that the owner's contender node exists. A multi with this check does not commit once
 * that node is gone. Such a multi is sent with ls_session_multi(). The node's path is written into the
 * caller's buffer `path`. The buffer must stay valid as long as `op` is used. LS_MUTEX_PATH_SIZE_MAX + 64
 * bytes always suffice for it.
 *
 * Returns 0, or one of these, and `op` stays as it was:
 * - LS_ENOTOWNER: this owner does not hold the lock, or the mutex is closed.
 * - LS_ELOST: this owner has lost the lock, and no release has told it LS_ELOST yet.
 * - LS_EOVERFLOW: the buffer is too small for the path. */
int ls_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size);

/* Asks for the contenders of the mutex. on_participants follows once, with `user`. A contender that leaves
 * before its contents are read is left out. If the question could be sent, the function returns 0. Otherwise
 * no callback follows:
 * - LS_ECLOSED: there is no connection, or the mutex is closed or is being closed.
 * - LS_ENOMEM: there is no memory for the question.
 * - LS_EZK: the client library refused the request.
 *
 * on_participants gets 0 or one of these:
 * - LS_EZK: the connection was lost, or the server or the client library refused a read.
 * - LS_ENOAUTH: the session may not read the parent or a contender.
 * - LS_ECLOSED: the mutex or its session was closed before the answer came.
 * - LS_ENOMEM: there was no memory for the answer. */
int ls_mutex_participants_start(struct ls_mutex *mutex, void *user);

/* Copies the counters that the mutex's options name. The result LS_EINVAL means that they name none, or
 * that the mutex is closed. */
int ls_mutex_counters(const struct ls_mutex *mutex, struct ls_mutex_counters *out);

/* ---- revocation ----
 *
 * Revocation is cooperative, as in Curator. A client may ask a holder to give its lock back. The contents of
 * the holder's contender node then become `__REVOKE__`. No hold is taken away by a request. A holder that is
 * not revocable is not told of a request. A revocable holder decides itself what it does. A request after the
 * deletion of the node has no effect. A request never reaches a later hold, which has another node. */

/* Makes the mutex revocable, for all its owners and for good. Holds that stand now become revocable. Each
 * hold that is granted later is revocable too. Each revocable hold keeps one watch on its own contender node,
 * unless the server refuses to let the node be read. The watch costs one read after the grant, and one after
 * each change of the node's data. An owner that waits has no such watch.
 *
 * Each request that is read calls on_revoke once, if the lock is held just before the call. The callback does
 * not begin before on_done of the hold has returned, nor after listeners were told LS_SESSION_LOST. Inside
 * on_revoke the lock may be released, with ls_mutex_release_start() and this owner. Meanwhile another thread
 * may release the lock and acquire it again. The argument `token` of on_revoke says which hold was meant.
 *
 * A request that came while the owner waited is told after the grant. Two requests that follow each other
 * faster than the node can be read are told as one. Requests that came during an outage are told as one,
 * after the reconnect. Contents with which a node was created are no request.
 *
 * ls_mutex_make_revocable() returns 0 or one of these:
 * - LS_EINVAL: the mutex has no on_revoke, or is the leases of a semaphore.
 * - LS_EOVERFLOW: with the watches of the owners that hold the lock, the session's watches would exceed
 *   options.maxbuffer.
 * - LS_ECLOSED: the mutex is closed or is being closed, and nothing becomes revocable. */
int ls_mutex_make_revocable(struct ls_mutex *mutex);

/* Writes the path of a contender's node; `name` is as on_participants gave it. LS_MUTEX_PATH_SIZE_MAX + 64
 * bytes suffice for contenders that are named as Curator names them. Returns 0 or one of these:
 * - LS_EINVAL: `name` is not the name of a contender.
 * - LS_EOVERFLOW: the path does not fit into `size` bytes.
 * - LS_ECLOSED: the mutex is closed, so that its path is not known. */
int ls_mutex_contender_path(const struct ls_mutex *mutex, const char *name, char *path, size_t size);

/* Answers one ls_mutex_request_revoke_start() that returned 0. `user` is the argument of that call. `rc`
 * is 0 or one of the codes that ls_mutex_request_revoke() returns for an answer. */
typedef void (*ls_revoke_fn)(struct ls_session *session, void *user, int rc);

/* Asks the contender whose node is at `path`, below the session's chroot, to give its lock back. The session
 * may be another one than the contender's. If the function returns 0, `done` follows once, possibly before
 * the return. A `done` of NULL is allowed. The session's rules for callbacks hold for `done`. The argument
 * `path` need not be valid after the return. If the result is negative, `done` does not follow:
 * - LS_EINVAL: `path` is not the path of a contender of a mutex, a read-write lock or an election.
 * - LS_ECLOSED: there is no connection, and nothing was sent.
 * - LS_ENOMEM: there is no memory for the request.
 * - LS_EZK: the client library refused to send the request. */
int ls_mutex_request_revoke_start(struct ls_session *session, const char *path, ls_revoke_fn done,
                                  void *user);

/* ---- blocking shell ---- */

/* Asks for the lock as ls_mutex_acquire_start() does, and waits for the outcome, which it returns. A result
 * of 0 means that the calling thread holds the lock, also if it held the lock before. Inside a callback the
 * function returns LS_EDEADLK and does not wait. */
int ls_mutex_acquire(struct ls_mutex *mutex, int timeout_ms);

/* Does what ls_mutex_acquire() does, and fills in `*outcome`, which on_done would get. The function returns
 * outcome->rc. If the calling thread held the lock already, outcome->depth is the depth with the new
 * level. */
int ls_mutex_acquire_outcome(struct ls_mutex *mutex, int timeout_ms, struct ls_outcome *outcome);

/* Is ls_mutex_acquire() with `timeout_ms` 0. */
int ls_mutex_try(struct ls_mutex *mutex);

/* Gives one level back, and waits for the server's answer if it is the last one. Returns a code of
 * ls_mutex_release_start() or of on_freed. After 0 and each code of on_freed for the last level, the calling
 * thread does not hold the lock any more. Inside a callback the function returns LS_EDEADLK and releases
 * nothing. */
int ls_mutex_release(struct ls_mutex *mutex);

/* Does what ls_mutex_request_revoke_start() does, and waits for the answer:
 * - 0: the request was written into the contender's node. The contender need not be revocable.
 * - LS_ENOENT: there is no such contender any more.
 * - LS_EUNSURE: the answer was lost, so that the request may stand or not.
 * - LS_ECLOSED: the session ended, and the request was not made.
 * - LS_ENOAUTH: the session may not write to the contender's node.
 * - LS_EZK: the server refused the request for another reason.
 *
 * After LS_EUNSURE the request may be made again. Without an answer, the function returns what
 * ls_mutex_request_revoke_start() returns. Inside a callback the function returns LS_EDEADLK and sends no
 * request. */
int ls_mutex_request_revoke(struct ls_session *session, const char *path);

/* Sends `count` operations in one multi on the session's handle, and waits for the answer. The library puts
 * the check of ls_mutex_guard() before them, for the calling thread. `results` has `count` elements, which
 * are filled in if an answer has come. The answer to that check is not among them. `zk_rc` may be NULL. If it
 * is not, `*zk_rc` becomes the code of ZooKeeper that led to the result, or 0. The result is one of these:
 * - 0: the operations were committed while the calling thread held the lock.
 * - LS_ELOST: the calling thread has lost the lock, or its ZooKeeper session has ended, and nothing was
 *   written.
 * - LS_ENOTOWNER: the calling thread does not hold the lock, or the mutex is closed.
 * - LS_EUNSURE: the answer was lost, so that the operations may be committed now, later or never (F79). A
 *   second try may write them twice.
 * - LS_ENOAUTH: the session may not do one of the operations, and nothing was written.
 * - LS_EZK: the server or the client library refused the operations for another reason, and nothing was
 *   written.
 * - LS_ECLOSED: the session is not connected, and nothing was sent.
 * - LS_EINVAL: ls_session_multi() would return LS_EINVAL for these operations.
 * - LS_ENOMEM: there is no memory for the copy of the operations.
 * - LS_EDEADLK: the function was called inside a callback. */
int ls_mutex_multi(struct ls_mutex *mutex, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                   int *zk_rc);

/* Asks for the contenders as ls_mutex_participants_start() does, and waits for the list. If the result is 0,
 * `*out` has the list, and ls_participants_free() frees it. If the result is negative, `*out` is zero. The
 * result is a code of ls_mutex_participants_start() or of on_participants. Inside a callback the result is
 * LS_EDEADLK. */
int ls_mutex_participants(struct ls_mutex *mutex, struct ls_participants *out);

/* Frees the list, also after the close of the mutex and the session, and sets `*participants` to zero. The
 * environment must be open. */
void ls_participants_free(struct ls_participants *participants);

/* ---- questions in the name of the calling thread ----
 *
 * These functions do not wait. They may be called inside callbacks. If the mutex is closed, they answer that
 * the calling thread does not hold the lock. */

/* Returns whether the calling thread holds the lock. */
bool ls_mutex_held_by_me(const struct ls_mutex *mutex);

/* Returns ls_mutex_query() for the calling thread. */
enum ls_belief ls_mutex_query_by_me(const struct ls_mutex *mutex);

/* Returns ls_mutex_belief_left_ms() for the calling thread. */
int ls_mutex_belief_left_by_me(const struct ls_mutex *mutex);

/* Returns ls_mutex_token() for the calling thread. */
int64_t ls_mutex_token_by_me(const struct ls_mutex *mutex);

/* Does what ls_mutex_guard() does, for the calling thread. */
int ls_mutex_guard_by_me(const struct ls_mutex *mutex, zoo_op_t *op, char *path, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
