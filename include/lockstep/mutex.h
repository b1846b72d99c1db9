/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A reentrant distributed mutex, compatible on the wire with Curator's InterProcessMutex.
 *
 * Asynchronous core: a call starts something and returns, the answer comes through `struct ls_mutex_ops`.
 * Blocking shell: the calls of the last section wait for the answer; their owner is the calling thread.
 *
 * A lock is held by an *owner*: a number from 1 to LS_ENV_THREAD - 1 that the program chooses, for instance a task's;
 * or a thread, by the number that ls_env_self() gives it. The two kinds of number never meet. Each owner has a
 * contender node of its own, so that owners of one process exclude each other too.
 *
 * The caller allocates the struct, keeps it where it is, and treats its fields as private. Functions may be
 * called from any thread; callbacks, fork and signals are described in session.h. What the options and
 * ls_mutex_set_contents() point to stays the caller's and must outlive the mutex and its session; what a
 * callback is given lives as long as the call. */
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
struct lock_place; /* private: the path, shared with what the janitor has left to do */

/* Longest path of a mutex, in bytes. */
#define LS_MUTEX_PATH_SIZE_MAX 900

/* And most of its nodes, the last included: all that are missing are created in one flight. */
#define LS_MUTEX_PATH_NODES_MAX 254

/* How an acquire ended. */
struct ls_outcome {
    int rc;         /* 0: granted; otherwise a negative enum ls_err */
    int zk_rc;      /* the code from ZooKeeper behind LS_EZK and LS_ENOAUTH, else 0 */
    uint32_t depth; /* granted: 1 */
    int64_t token;  /* granted: the fencing token */
};

/* One participant, for as long as the callback runs. */
struct ls_participant {
    const char *name;     /* name of the contender node */
    const char *contents; /* its contents, never NULL; null contents are shown as empty */
    int size;             /* bytes in contents */
};

/* Any of them may be NULL. */
struct ls_mutex_ops {
    /* The answer to one ls_mutex_acquire_start() that returned 0. */
    void (*on_done)(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome);

    /* The last level of a release is complete: 0, the node is gone; LS_EUNSURE, the answer was lost, or the mutex is
     * being closed, and the janitor removes the node; LS_ENOAUTH, LS_EZK: the server refused, the node stays until the
     * session ends; LS_ELOST: somebody else had deleted the node before, and the hold was lost then. */
    void (*on_freed)(struct ls_mutex *mutex, uint64_t owner, int rc);

    /* LS_WARN_NODE_GONE: the node of this owner's hold was deleted by somebody else, so the hold is lost. A holder that is
     * revocable hears of that at once; any other one by its release, which says LS_ELOST. */
    void (*on_warning)(struct ls_mutex *mutex, uint64_t owner, enum ls_warning warning);

    /* The answer to one ls_mutex_participants_start() that returned 0; `list` is in order of the queue. */
    void (*on_participants)(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count);

    /* Somebody asks `owner` to give the lock back that it holds with this fencing token; see
     * ls_mutex_make_revocable(). */
    void (*on_revoke)(struct ls_mutex *mutex, uint64_t owner, int64_t token);
};

/* All zero is a good default. The struct must outlive the mutex and the session. */
struct ls_mutex_options {
    const struct ls_mutex_ops *ops;
    /* Of the nodes that are created, contenders and missing ancestors alike, as Curator does with an
     * ACLProvider that gives one ACL for every path. NULL: that of the session's options, else open to
     * everybody. Nodes that exist keep theirs. A lock needs, on its parent, READ and CREATE and DELETE, and
     * READ on others' contenders. */
    const struct ACL_vector *acl;

    struct ls_mutex_counters *counters; /* NULL: nothing is counted for this mutex alone */
};

struct ls_mutex {
    struct ls_session *session; /* NULL after close */
    struct lock_place *place;
    struct ls_ref options;
    const char *contents; /* caller-owned */
    int32_t contents_size;
    uint32_t warned; /* bit per enum ls_warning that has been told */
    bool revocable;  /* holders listen to requests to give the lock back */
    bool closing;    /* a thread is in ls_mutex_close() */
};

/* Readies a mutex at the absolute path `path` (below the session's chroot), which is copied. Contacts no
 * server; the path's nodes are created when they are missing (as containers, F53). `options` may be NULL.
 * Legal as long as the session is initialised. LS_EINVAL: malformed, too long or too deep a path; LS_EOVERFLOW: no
 * server takes so long an ACL; LS_ENOMEM. */
int ls_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path,
                  const struct ls_mutex_options *options);

/* Contents for contender nodes created from now on, for instance a host name; caller-owned, kept until
 * replaced or closed. NULL: none (then the node's data are null, shown as empty). LS_EINVAL: a negative size, or the
 * mutex is closed; LS_EOVERFLOW: no server takes a request with so much (options.maxbuffer of the session), and the
 * contents stay what they were. */
int ls_mutex_set_contents(struct ls_mutex *mutex, const char *contents, int size);

/* Ends it. Pending acquires and running questions for participants are answered with LS_ECLOSED. Held locks are given
 * back by the janitor; releases that are under way are answered with LS_EUNSURE at the latest. While it runs, the
 * callbacks of these answers run, and every acquire, release and question for participants is refused with LS_ECLOSED.
 * No callback of this mutex runs after it returns. Two threads may close a mutex at once: both return when it is closed.
 * Other threads may be in any function of the mutex meanwhile. Legal before the session's memory goes. It waits for no
 * server and for no look-up of names. Returns 0, also if the mutex is closed already; LS_EDEADLK in callbacks. */
int ls_mutex_close(struct ls_mutex *mutex);

/* ---- asynchronous core ---- */

/* Asks for the lock. timeout_ms < 0: wait for ever; 0: only if it is free now, else LS_EBUSY (also while
 * there is no connection); > 0: LS_ETIMEDOUT at the deadline, also during an outage. Returns 0: on_done
 * follows once, possibly before this returns; 1: this owner held it already, the depth has been increased
 * and no callback follows; negative, nothing follows: LS_EINVAL (owner 0, or another thread's number), LS_EALREADY,
 * LS_EBUSY, LS_ECLOSED, LS_EAUTHFAILED, LS_EGAVEUP, LS_EOVERFLOW (the depth, or the session's watches:
 * options.maxbuffer), LS_ENOMEM. Outcomes besides: LS_ECANCELED, LS_ESEQUENCE (F49), LS_ENOAUTH, LS_EZK, LS_ELOST (the
 * session died between grant and callback), LS_ECLOSED, LS_EAUTHFAILED, LS_EGAVEUP, LS_EOVERFLOW (the predecessor's
 * name is too long), LS_ENOMEM. A session that dies while the acquire waits does not
 * end it: it queues again, at the end, under the next session. */
int ls_mutex_acquire_start(struct ls_mutex *mutex, uint64_t owner, int timeout_ms);

/* Gives a pending acquire up; on_done with LS_ECANCELED follows at once, the janitor removes the node.
 * LS_ENOENT: none is pending. */
int ls_mutex_cancel(struct ls_mutex *mutex, uint64_t owner);

/* Gives one level back. 0: for the last level the lock is no longer held from here on and on_freed follows,
 * for inner ones nothing follows. LS_ENOTOWNER: not held by this owner; LS_ELOST: it was, and went with its
 * session or its node; LS_ECLOSED. Each level that was lost is told once: an owner that acquires anew after a loss gives
 * back what it has acquired since, and then hears LS_ELOST for each level that it had before. */
int ls_mutex_release_start(struct ls_mutex *mutex, uint64_t owner);

/* What this owner may believe. LS_HELD: the session was confirmed, by a write or sync sent within the
 * margin (F29, F35); LS_UNKNOWN: held when last heard, but the margin is used up or the link is, or was,
 * gone; LS_NOT_HELD. */
enum ls_belief ls_mutex_query(const struct ls_mutex *mutex, uint64_t owner);

/* How often the owner holds it, 0 if not; whether this owner, or any owner of this process, holds it
 * (LS_HELD or LS_UNKNOWN). */
uint32_t ls_mutex_depth(const struct ls_mutex *mutex, uint64_t owner);
bool ls_mutex_held_by(const struct ls_mutex *mutex, uint64_t owner);
bool ls_mutex_held_here(const struct ls_mutex *mutex);

/* The fencing token: the czxid of the owner's contender node, larger for each later grant even if the
 * parent was re-created (F47); 0 if the owner does not hold the lock. */
int64_t ls_mutex_token(const struct ls_mutex *mutex, uint64_t owner);

/* Makes `op` the check that the owner's contender node exists, for a multi that must not commit after the lock
 * is lost; ls_session_multi() sends it. `path` is the caller's buffer, filled here, and must live as long as `op`:
 * LS_MUTEX_PATH_SIZE_MAX + 64 bytes always suffice. LS_ENOTOWNER, LS_ELOST, LS_EOVERFLOW (buffer too
 * small). */
int ls_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size);

/* Asks who takes part, first in the queue first. on_participants follows, with `user`. A participant that
 * leaves meanwhile is left out. LS_EZK (with a lost connection too), LS_ENOAUTH and LS_ECLOSED come through
 * the callback. Returns 0, LS_ECLOSED (no connection), LS_ENOMEM, LS_EZK. */
int ls_mutex_participants_start(struct ls_mutex *mutex, void *user);

/* Copies the counters of the mutex's options. LS_EINVAL: they name none, or the mutex is closed. */
int ls_mutex_counters(const struct ls_mutex *mutex, struct ls_mutex_counters *out);

/* ---- revocation: cooperative, as Curator has it ----
 *
 * Whoever wants a lock may ask its holder to give it back: the contents of the holder's contender node become
 * `__REVOKE__`. Nothing is forced. A holder that is not revocable never hears of it, and one that is decides
 * itself. A request that meets a release or the end of a session finds no node and harms nobody; it never
 * reaches a later hold, which has another node. */

/* Makes the locks of this mutex revocable, for all its owners and for good: the one that is held now, and each
 * that is granted later. Each hold keeps one watch on its own contender node, which costs a read after the grant
 * and is gone with the node; who waits does not listen.
 *
 * on_revoke is then called once for each request that is seen, as all callbacks are (session.h), so not on the
 * owner's thread as a rule. It is not begun before on_done is over, nor after the release of the last level, nor
 * after LS_SESSION_LOST. It may release the lock (ls_mutex_release_start() with this owner), tell the owner's
 * thread, or do nothing. Another thread may release, and acquire again, while it runs: `token` tells which hold
 * was meant.
 *
 * A request that came while the owner still waited is told after the grant. Two requests that follow each other
 * faster than the node can be read are told as one, and so are those of an outage, after the reconnect. Contents
 * that the owner gave its node itself are no request.
 *
 * 0; LS_EINVAL: ops have no on_revoke; LS_EOVERFLOW: the watches of those who hold it would not fit
 * (options.maxbuffer of the session); LS_ECLOSED. */
int ls_mutex_make_revocable(struct ls_mutex *mutex);

/* Writes the path of a contender's node from a name that on_participants gave. LS_EINVAL: not a contender's name;
 * LS_EOVERFLOW: `size` is too small, LS_MUTEX_PATH_SIZE_MAX + 64 bytes suffice for contenders that are named as
 * Curator names them; LS_ECLOSED. */
int ls_mutex_contender_path(const struct ls_mutex *mutex, const char *name, char *path, size_t size);

/* The answer to one ls_mutex_request_revoke_start() that returned 0; `user` is the caller's. The code is one of
 * ls_mutex_request_revoke(). */
typedef void (*ls_revoke_fn)(struct ls_session *session, void *user, int rc);

/* Asks the contender whose node is at `path` (below the session's chroot) to give its lock back; the session may
 * be anybody's. `done` (may be NULL) follows once, possibly before this returns. It is called as all callbacks of
 * the session are. The path is copied. Returns 0, or negative and nothing follows: LS_EINVAL: no path of a
 * contender; LS_ECLOSED: there is no connection, nothing was sent; LS_ENOMEM; LS_EZK. */
int ls_mutex_request_revoke_start(struct ls_session *session, const char *path, ls_revoke_fn done,
                                  void *user);

/* ---- blocking shell: LS_EDEADLK in callbacks; the owner is the calling thread ---- */

/* Like ls_mutex_acquire_start(), but waits and returns the outcome: 0 when held. */
int ls_mutex_acquire(struct ls_mutex *mutex, int timeout_ms);

/* ls_mutex_acquire() with timeout 0. */
int ls_mutex_try(struct ls_mutex *mutex);

/* Gives one level back and waits for the server's answer to the last one. Errors as in
 * ls_mutex_release_start() and on_freed. After 0 and LS_EUNSURE the lock is not held any more. */
int ls_mutex_release(struct ls_mutex *mutex);

/* Like ls_mutex_request_revoke_start(), but waits for the answer. 0: the request stands in the contender's node,
 * which does not say that anybody listens; LS_ENOENT: there is no such contender any more; LS_EUNSURE: the answer
 * was lost, the request may stand or not, and may be repeated; LS_ECLOSED: the session ended, nothing was done;
 * LS_ENOAUTH; LS_EZK; besides the errors of the other. */
int ls_mutex_request_revoke(struct ls_session *session, const char *path);

/* Whether the calling thread holds it. Not blocking. */
bool ls_mutex_held_by_me(const struct ls_mutex *mutex);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
