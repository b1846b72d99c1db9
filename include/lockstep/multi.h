/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_multi holds several locks at once: all of its members, or none. It does what Curator's
 * InterProcessMultiLock does. A member is a mutex, a half of a read-write lock, or leases of a semaphore. The
 * members may be of several sessions, also with different ensembles. All sessions have one environment.
 *
 * An acquire asks for the members one after the other, in the order of the bytes of their paths. A semaphore
 * is ordered by the path of its line, PATH/locks. So two programs whose sessions have one chroot, and that
 * add the same locks in different orders, do not deadlock. Members with equal paths are asked for in the
 * order in which they were added. Such members must be of different ensembles, or under different chroots.
 * Two programs that add such members in different orders may deadlock, until a deadline ends one of the
 * acquires.
 *
 * If one member is refused, the members that were granted before are given back in reverse order. If one is
 * lost before all are granted, the others are given back, and the acquire asks for all of them again. Once
 * all are granted, the loss of one member is told as the loss of all, if it is noticed (on_lost).
 *
 * Owners, callbacks and the validity of arguments are those of mutex.h. The caller allocates the struct and
 * the array of its members, and does not move either until the multi is closed. The fields of both structs
 * are private. Every function may be called from any thread, once the functions that add members have
 * returned.
 *
 * A multi of this header is no transaction of ZooKeeper, as ls_session_multi() sends one. */
#ifndef LOCKSTEP_MULTI_H
#define LOCKSTEP_MULTI_H

#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

struct ls_multi;
struct lock_bundle; /* private: the members that one owner holds or asks for */

/* The result of an acquire. */
struct ls_multi_outcome {
    int rc;         /* result code: 0 if all members were granted, otherwise a negative enum ls_err */
    int zk_rc;      /* code of ZooKeeper that led to a negative `rc`, or 0 if no code did */
    int member;     /* number of the member that was refused, or that was awaited at the deadline; else -1 */
    uint32_t depth; /* depth of the new hold: 1, or 0 if the members were not granted */
};

/* The callbacks of a multi. Each of them may be NULL. Numbers of members count from 0, in the order in which
 * the members were added. */
struct ls_multi_ops {
    /* Answers one ls_multi_acquire_start() that returned 0. */
    void (*on_done)(struct ls_multi *multi, uint64_t owner, const struct ls_multi_outcome *outcome);

    /* Tells how the release of an owner's last level ended, once all members have answered. `rc` is 0, or the
     * first code other than 0 of a member's release (ls_mutex_release_start() and on_freed in mutex.h). */
    void (*on_freed)(struct ls_multi *multi, uint64_t owner, int rc);

    /* Tells that this member of the owner's hold is lost, and with it the hold. The releases of the other
     * members have begun when on_lost begins. This callback is called at most once for a hold: a release, or
     * its on_freed, may tell LS_ELOST instead. It does not begin before on_done of that hold has returned. A
     * hold is lost in these cases:
     * - The ZooKeeper session of a member has ended, or the session was closed or has failed.
     * - ls_multi_close() has given the members back.
     * - Another client has deleted the node of a mutex or of a half of a read-write lock.
     *
     * The deletion of a lease's node is not noticed. The release then tells LS_ELOST, unless the server's
     * answer is lost. */
    void (*on_lost)(struct ls_multi *multi, uint64_t owner, int member);

    /* Warns an owner with a code of LS_WARN_LIST (error.h) other than LS_WARN_NODE_GONE, which on_lost
     * tells. */
    void (*on_warning)(struct ls_multi *multi, uint64_t owner, int member, enum ls_warning warning);

    /* Tells that a client asks `owner` to give this member back. Leases are not asked for. A request that
     * comes while other members are awaited is told once all are granted. */
    void (*on_revoke)(struct ls_multi *multi, uint64_t owner, int member);
};

/* A struct of zeros is a valid default. The struct must stay valid until ls_multi_close() has returned. */
struct ls_multi_options {
    const struct ls_multi_ops *ops;
    const struct ACL_vector *acl; /* ACL of the nodes of all members, as in struct ls_mutex_options */
    struct ls_mutex_counters
        *counters; /* counters of all members together; NULL if nothing is to be counted */
};

/* One member. The fields are private. */
struct ls_multi_member {
    union {
        struct ls_mutex mutex;
        struct ls_rwlock rwlock;
        struct ls_semaphore semaphore;
    } lock;
    struct ls_multi *multi;
    struct ls_multi_member *next; /* next member to ask for; NULL = the last one */
    struct ls_mutex *face;        /* the part of `lock` that is asked for */
    uint32_t leases;              /* number of leases, or 0 if the member is no semaphore */
    uint32_t kind;
};

struct ls_multi {
    struct ls_env *env; /* environment of all members; NULL = there is no member yet, or closed */
    struct ls_multi_member *members;
    struct ls_multi_member *first; /* member that is asked for first; NULL = there is none */
    struct lock_bundle *bundles;
    struct ls_session *session; /* session of the member that was added first; threads sleep on it */
    struct ls_ref options;
    struct ls_mutex_options inner; /* options that each member is initialised with */
    uint32_t capacity;
    uint32_t count;
    uint32_t busy; /* number of threads in functions of the multi that may drop the mutex */
    bool asked;    /* members have been asked for: no member can be added */
    bool closing;
};

/* Initialises a multi without members. `members` is the caller's array of `capacity` elements. `options` may
 * be NULL. Returns 0, or LS_EINVAL if `multi` or `members` is NULL or `capacity` is 0. */
int ls_multi_init(struct ls_multi *multi, struct ls_multi_member *members, uint32_t capacity,
                  const struct ls_multi_options *options);

/* Each of these adds one member, which is a lock at `path` in this session. The member is a mutex, the
 * read half or the write half of a read-write lock, or `count` leases of a semaphore with this capacity.
 * Returns the number of the member, which is 0 or above, or a negative code:
 * - LS_EOVERFLOW: the array of members is full.
 * - LS_EINVAL: the session has another environment than that of the other members.
 * - LS_EINVAL: a member with this session and this path exists. For a semaphore the path of its line counts.
 * - LS_EINVAL: the members have been asked for before, or the multi is closed.
 * - LS_EINVAL: the number of leases is 0 or above the capacity.
 * - LS_EINVAL, LS_EOVERFLOW, LS_ENOMEM: a code of ls_mutex_init(), ls_rwlock_init() or
 *   ls_semaphore_init(). */
int ls_multi_add_mutex(struct ls_multi *multi, struct ls_session *session, const char *path);
int ls_multi_add_reader(struct ls_multi *multi, struct ls_session *session, const char *path);
int ls_multi_add_writer(struct ls_multi *multi, struct ls_session *session, const char *path);
int ls_multi_add_leases(struct ls_multi *multi, struct ls_session *session, const char *path,
                        uint32_t capacity, uint32_t count);

/* Closes a multi and all its members, as ls_mutex_close() closes a mutex. A release that is under way is
 * answered by the close, a blocking one too, as a rule with LS_EUNSURE. Returns 0, also if the multi was
 * closed before or has no members. Otherwise, inside a callback, the result is LS_EDEADLK, and nothing is
 * closed. */
int ls_multi_close(struct ls_multi *multi);

/* ---- asynchronous core ---- */

/* Asks for all members in the name of `owner`. `timeout_ms` is that of ls_mutex_acquire_start(), and bounds
 * the whole acquire. If the acquire begins, the function returns 0, and on_done follows exactly once. If the
 * owner holds the members already, its depth grows by 1, the function returns 1, and no callback follows. If
 * the multi has no members, the result is LS_EINVAL. The other results are those of ls_mutex_acquire_start()
 * and ls_semaphore_acquire_start().
 *
 * The outcome that on_done gets is 0, LS_EBUSY, LS_ETIMEDOUT, LS_ECANCELED, LS_ENOMEM, or the code with
 * which a member was refused. In all cases but 0 the owner holds no member when on_done begins, and the
 * nodes of the members that were granted are being deleted. */
int ls_multi_acquire_start(struct ls_multi *multi, uint64_t owner, int timeout_ms);

/* Ends the pending acquire of `owner`. on_done with LS_ECANCELED follows, or the blocking call returns
 * LS_ECANCELED. LS_ENOENT means that no acquire of this owner is pending. LS_ECLOSED means that the multi is
 * closed. */
int ls_multi_cancel(struct ls_multi *multi, uint64_t owner);

/* Gives one level of the owner's hold back. With the last level all members are given back, in the reverse of
 * the order in which they were asked for, whatever becomes of each. If the result is 0 for the last level,
 * on_freed follows once. Other results:
 * - LS_ENOTOWNER: this owner does not hold the members.
 * - LS_ELOST: this owner held the members and has lost them. This is told once for each level that was lost.
 * - LS_ECLOSED: the multi is closed or is being closed, and gives back what was held. */
int ls_multi_release_start(struct ls_multi *multi, uint64_t owner);

/* Returns what this owner may believe of all members. The result is LS_HELD if ls_mutex_query() returns
 * LS_HELD for each member. The result is LS_NOT_HELD if the owner lacks a member or the multi is closed.
 * Otherwise the result is LS_UNKNOWN. */
enum ls_belief ls_multi_query(const struct ls_multi *multi, uint64_t owner);

/* Returns the smallest ls_mutex_belief_left_ms() of the members, 0 if the owner does not hold them. */
int ls_multi_belief_left_ms(const struct ls_multi *multi, uint64_t owner);

/* Returns how many levels the owner holds, 0 if it does not hold the members. */
uint32_t ls_multi_depth(const struct ls_multi *multi, uint64_t owner);

/* Returns the fencing token of one member, that of the first lease if the member has several. Returns 0 if
 * the owner does not hold the members, or if there is no such member. */
int64_t ls_multi_token(const struct ls_multi *multi, uint64_t owner, int member);

/* Copies the counters that the multi's options name. The result LS_EINVAL means that they name none, that the
 * multi has no members, or that it is closed. */
int ls_multi_counters(const struct ls_multi *multi, struct ls_mutex_counters *out);

/* Does what ls_mutex_guard() does, for one member, for its first lease if the member has several. A
 * transaction with such checks does not commit once one of the checked nodes is gone. If there is no such
 * member, the result is LS_EINVAL. */
int ls_multi_guard(const struct ls_multi *multi, uint64_t owner, int member, zoo_op_t *op, char *path,
                   size_t size);

/* ---- blocking shell: the owner is the calling thread ---- */

/* Asks for all members and waits for the outcome, as ls_mutex_acquire() does. Inside a callback the function
 * returns LS_EDEADLK and does not wait. */
int ls_multi_acquire(struct ls_multi *multi, int timeout_ms);

/* Does what ls_multi_acquire() does, and fills in `*outcome`. If the calling thread held the members already,
 * outcome->depth is the depth with the new level. */
int ls_multi_acquire_outcome(struct ls_multi *multi, int timeout_ms, struct ls_multi_outcome *outcome);

/* Is ls_multi_acquire() with `timeout_ms` 0. */
int ls_multi_try(struct ls_multi *multi);

/* Gives one level back. If it is the last one, the function waits until all members have answered. Returns a
 * code of ls_multi_release_start() or of on_freed. Inside a callback the function returns LS_EDEADLK and
 * releases nothing. */
int ls_multi_release(struct ls_multi *multi);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
