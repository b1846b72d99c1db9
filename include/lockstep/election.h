/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_election elects one leader among the processes that stand for election at one path. Its contender
 * nodes are named as those of Curator's LeaderLatch or LeaderSelector, so that clients of both libraries
 * elect one leader at one path.
 *
 * A process that stands for election is a candidate. Candidates lead in the order of their contender nodes. A
 * candidate stays one until it resigns, until its candidacy fails, until ls_election_lead() ends it, or until
 * the election is closed. If a leader loses its ZooKeeper session or its node, it is deposed. Outside
 * ls_election_lead() it then stands again by itself, behind all others.
 *
 * A leader may act while ls_election_query() returns LS_HELD. If their clocks run equally fast, and no client
 * deletes a contender node, no two processes get LS_HELD at the same time. A leader that writes to ZooKeeper
 * guards its writes with ls_election_guard(). A leader that writes elsewhere sends ls_election_token() with
 * each write.
 *
 * The caller allocates the struct and does not move it until it is closed. The fields of the struct are
 * private. Every function may be called from any thread. session.h describes callbacks, fork and signals. An
 * election may be closed after its session, as long as the memory of the session is valid. */
#ifndef LOCKSTEP_ELECTION_H
#define LOCKSTEP_ELECTION_H

#include <lockstep/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

struct ls_election;
struct lock_term_wait; /* private: a thread in ls_election_await() or ls_election_lead() */

/* How contender nodes are named. All candidates of one path must have the same style. Numbers of styles never
 * change. */
enum ls_election_style {
    LS_ELECTION_LATCH = 0,    /* as those of LeaderLatch */
    LS_ELECTION_SELECTOR = 1, /* as those of LeaderSelector, which are those of InterProcessMutex */
};

/* The callbacks of an election. Each of them may be NULL. */
struct ls_election_ops {
    /* Tells that this process leads. `token` is the fencing token of the term. Every later term has a larger
     * one. */
    void (*on_elected)(struct ls_election *election, int64_t token);

    /* Tells that the link of the leader is broken. The leader must stop acting until on_restored. */
    void (*on_suspended)(struct ls_election *election, int64_t token);

    /* Tells that the link is back, with the same ZooKeeper session. The leader may act when
     * ls_election_query() returns LS_HELD again. */
    void (*on_restored)(struct ls_election *election, int64_t token);

    /* Tells that a term has ended without a resignation. This callback is called once for such a term. When
     * on_deposed begins, ls_election_query() does not return LS_HELD for that term any more. `rc` is one of
     * these:
     * - LS_ELOST: the ZooKeeper session of the term has ended, or the session has failed.
     * - LS_ENOENT: the node of the term was deleted, by another client or with a session whose end was not
     *   told yet.
     * - LS_ECLOSED: the election or its session was closed, and the process is no candidate any more.
     *
     * After LS_ELOST and LS_ENOENT the candidate stands again when on_deposed has returned, unless a callback
     * of ls_election_lead() runs. If that is refused, on_failed follows. */
    void (*on_deposed)(struct ls_election *election, int64_t token, int rc);

    /* Answers one ls_election_resign() that returned 0. `rc` is LS_ECANCELED if the candidate's acquire of
     * the mutex had not been granted. Otherwise on_freed of mutex.h lists the values of `rc`. */
    void (*on_resigned)(struct ls_election *election, int rc);

    /* Tells that a candidate that does not lead is none any more, without a resignation. `rc` is a negative
     * result or an outcome of ls_mutex_acquire_start(), other than LS_ECANCELED and LS_ELOST. */
    void (*on_failed)(struct ls_election *election, int rc);

    /* Warns of LS_WARN_FOREIGN_CHILD and LS_WARN_LEFT_BEHIND, as on_warning of mutex.h does. */
    void (*on_warning)(struct ls_election *election, enum ls_warning warning);

    /* Answers one ls_election_candidates_start() that returned 0. `list` is in the order in which the
     * candidates will lead, so that the first one leads or is about to. The contents of a candidate's node
     * are its id. If `rc` is not 0, `list` is NULL and `count` is 0. */
    void (*on_candidates)(struct ls_election *election, void *user, int rc, const struct ls_participant *list,
                          int count);
};

/* A struct of zeros is a valid default. The struct must stay valid until ls_election_close() has returned. */
struct ls_election_options {
    const struct ls_election_ops *ops;
    enum ls_election_style style;
    const struct ACL_vector *acl; /* ACL of the nodes of this election, as in struct ls_mutex_options */
    struct ls_mutex_counters
        *counters; /* counters of this election alone; NULL if nothing is to be counted */
};

struct ls_election {
    struct ls_mutex mutex; /* the candidate is an owner of this mutex */
    struct ls_session_listener listener;
    struct ls_ref options;
    struct ls_mutex_options inner; /* options of the mutex, if the election has an ACL or counters */
    struct lock_term_wait *waits;  /* list of threads that wait for a term */
    bool candidate;                /* the process stands or leads */
    bool suspended;                /* of this term on_suspended was called, and on_restored was not since */
    bool gone;                     /* the node of the term was deleted, and on_deposed is to be told */
    bool leading;                  /* a callback of ls_election_lead() runs: no other term may begin */
};

/* Initialises an election at the absolute path `path`, as ls_mutex_init() initialises a mutex, and returns
 * what ls_mutex_init() returns. `options` may be NULL. LS_EINVAL also: `style` is no enum ls_election_style.
 * LS_ENOMEM: there is no memory for the path. */
int ls_election_init(struct ls_election *election, struct ls_session *session, const char *path,
                     const struct ls_election_options *options);

/* Sets the id of the candidate, which is the data of contender nodes that are created from now on. Does what
 * ls_mutex_set_contents() does, and returns what that returns. */
int ls_election_set_id(struct ls_election *election, const char *id, int size);

/* Closes an election, as ls_mutex_close() closes a mutex, and returns what ls_mutex_close() returns. A
 * candidate that waits is told on_failed. A leader is told on_deposed. */
int ls_election_close(struct ls_election *election);

/* ---- asynchronous core ---- */

/* Stands for election. If the result is 0, the process is a candidate. Otherwise nothing was begun, and no
 * callback follows:
 * - LS_EALREADY: the process is a candidate already, or a resignation has not taken effect.
 * - Another code: one of those with which ls_mutex_acquire_start() begins nothing, such as LS_ECLOSED or
 *   LS_ENOMEM. */
int ls_election_start(struct ls_election *election);

/* Ends the candidacy. If the candidate leads, ls_election_query() does not return LS_HELD any more when the
 * function returns 0. on_resigned follows once. Other results:
 * - 1: a callback of ls_election_lead() runs. The term ends when it returns, and on_resigned is not told.
 * - LS_ENOENT: the process is no candidate.
 * - LS_ELOST: the candidate was deposed, and stands no more. on_resigned is not told.
 * - LS_ECLOSED: the election is closed or is being closed. */
int ls_election_resign(struct ls_election *election);

/* Returns whether the process is a candidate: it stands or leads, or is about to stand again. */
bool ls_election_is_candidate(const struct ls_election *election);

/* Returns what the process may believe of its own leadership, as ls_mutex_query() does:
 * - LS_HELD: it leads.
 * - LS_UNKNOWN: it led when last heard of. It must not act.
 * - LS_NOT_HELD: it does not lead. */
enum ls_belief ls_election_query(const struct ls_election *election);

/* Returns for how many ms at most ls_election_query() will return LS_HELD if no answer of a server comes. See
 * ls_mutex_belief_left_ms(). */
int ls_election_belief_left_ms(const struct ls_election *election);

/* Returns the fencing token of the present term, 0 if the process does not lead. */
int64_t ls_election_token(const struct ls_election *election);

/* Copies the counters that the election's options name, as ls_mutex_counters() does, and returns what that
 * returns. A term is a grant, a resignation of a leader is a release. */
int ls_election_counters(const struct ls_election *election, struct ls_mutex_counters *out);

/* Makes `op` a check that the present term stands, as ls_mutex_guard() does for a hold, and returns what that
 * returns. A multi with this check is sent with ls_session_multi(). */
int ls_election_guard(const struct ls_election *election, zoo_op_t *op, char *path, size_t size);

/* Asks for the candidates, also if the process is none. on_candidates follows once, with `user`. Returns what
 * ls_mutex_participants_start() returns. */
int ls_election_candidates_start(struct ls_election *election, void *user);

/* ---- blocking shell ---- */

/* Waits until the process leads. `timeout_ms` says how long, as for ls_mutex_acquire_start(). The result is
 * one of these:
 * - 0: the process leads, or has been granted a term since the call.
 * - LS_ETIMEDOUT: the time is over. The process is still a candidate.
 * - LS_ENOENT: the process does not stand for election.
 * - LS_ECANCELED: the process has resigned meanwhile.
 * - LS_ECLOSED: the election is closed, also if that happens meanwhile.
 * - LS_ENOMEM: there is no memory for a timer.
 * - LS_EDEADLK: the function was called inside a callback.
 * - Another code: the candidacy has failed meanwhile, as on_failed tells. */
int ls_election_await(struct ls_election *election, int timeout_ms);

/* Does the work of a leader. `token` is the fencing token of the term, `user` the argument of
 * ls_election_lead(). The function should return as soon as ls_election_token() is not `token` any more, or
 * ls_election_is_candidate() returns false. */
typedef int (*ls_lead_fn)(struct ls_election *election, int64_t token, void *user);

/* Flags of ls_election_lead(). */
#define LS_ELECTION_REQUEUE 1u /* after a term with the result 0, the process stands again */

/* Stands for election, waits until the process leads, and calls `lead` on the calling thread. When `lead`
 * returns, the term ends. A term that is lost earlier is told by on_deposed. No other term begins before
 * `lead` has returned. The election must not be closed while a thread is in ls_election_lead(), which
 * ls_election_resign() ends.
 *
 * With LS_ELECTION_REQUEUE the function goes on so until `lead` returns another value than 0, or until the
 * candidacy ends. A value of `lead` above 0 cannot be mistaken for a code of this function.
 *
 * Returns the last value of `lead`, or one of these:
 * - A code of ls_election_start(): nothing was begun.
 * - A code of ls_election_await(), such as LS_ECLOSED or LS_EDEADLK: the candidacy has ended before a term.
 *   LS_ECANCELED is also the result if the process resigned while `lead` ran, `lead` returned 0, and
 *   LS_ELECTION_REQUEUE is set. */
int ls_election_lead(struct ls_election *election, ls_lead_fn lead, void *user, unsigned flags);

/* Asks for the candidates as ls_election_candidates_start() does, and waits for the list. Does what
 * ls_mutex_participants() does, and returns what that returns. ls_participants_free() frees the list. */
int ls_election_candidates(struct ls_election *election, struct ls_participants *out);

/* Copies the id of the leader, with a zero byte behind it, and returns its size in bytes. The leader is the
 * first of the candidates, which may not know yet that it leads. Any process may ask. Other results are
 * these:
 * - LS_ENOENT: there is no candidate.
 * - LS_EOVERFLOW: the id and the zero byte do not fit into `size` bytes.
 * - Another code: one of ls_election_candidates(), such as LS_ECLOSED, LS_EZK or LS_EDEADLK. */
int ls_election_leader(struct ls_election *election, char *id, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
