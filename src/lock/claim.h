/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A claim: one attempt of one owner to hold one mutex, from the acquire until its node and its watch are
 * gone.
 *
 * This header declares what the files of this folder share. Unless a comment says otherwise, a function
 * expects the environment's mutex to be held. Completions and watchers take it themselves.
 *
 * A claim lies in its session's list:
 * - Up to LOCK_HELD, and in LOCK_TOMB, it belongs to its owner.
 * - From LOCK_RELEASING on, only its own completions, the session and the janitor can reach it.
 * - It is freed in LOCK_DONE, once no request of it is in flight and no answer waits for delivery. The
 *   read of its own node counts as a request, because a completion may carry the claim's address. */
#ifndef LOCK_CLAIM_H
#define LOCK_CLAIM_H

#include "lock/names.h"

#include <lockstep/mutex.h>
#include <lockstep/semaphore.h>
#include <lockstep/sometimes.h>

/* ---- types ---- */

enum lock_state {
    LOCK_CLAIMING = 1, /* create and list */
    LOCK_PREPARING,    /* create the missing ancestors */
    LOCK_SEARCHING,    /* sync and list: has the lost create been applied? */
    LOCK_IDENTIFYING,  /* exists and list: is the found node this session's, and what is its czxid? */
    LOCK_LISTING,      /* list, with a sync before it if the belief needs one */
    LOCK_ARMING,       /* get with a watch on the nearest predecessor; of a lease, a list with a watch */
    LOCK_WAITING,      /* the watch stands */
    LOCK_TAKING,       /* first in the line of a semaphore, its leases are being asked for; see semaphore.c */
    LOCK_HELD,         /* granted */
    LOCK_TOMB, /* a hold that was lost, with its session or its node; its owner has not released it yet */
    LOCK_RELEASING, /* the delete of a release is in flight */
    LOCK_LEFTOVER,  /* ended without the lock; belongs to the janitor */
    LOCK_DONE,      /* nothing left */
};

/* Requests in flight, one bit each. */
enum {
    LOCK_FIRST = 1,   /* create, sync or exists: the first request of a flight */
    LOCK_LIST = 2,    /* the list that follows the first request */
    LOCK_GET = 4,     /* the get, or the list, that sets the watch */
    LOCK_DELETE = 8,  /* the delete of the claim's own node */
    LOCK_UNWATCH = 16 /* the removal of the watch */
};

/* Notes: answers and warnings that wait for delivery, one bit each. lock_queue_deliver() calls the
 * callbacks. */
enum {
    LOCK_NOTE_DONE = 1,
    LOCK_NOTE_FREED = 2,
    LOCK_NOTE_FOREIGN = 4,
    LOCK_NOTE_LEFT = 8,
    LOCK_NOTE_REVOKE = 16,
    LOCK_NOTE_GONE = 32,
    LOCK_NOTE_LOST = 64,
    LOCK_NOTE_GO = 128, /* calls no callback: lock_mutex_go() is to be called, which may free the claim */
    LOCK_NOTE_CAPACITY = 256,
};

/* The "ear" of a claim: the state of the watch on its own node. By this watch a holder learns that another
 * client asks it to give the lock back. See revoke.c. */
enum lock_ear {
    LOCK_EAR_DEAF = 0,  /* no watch on the own node, and no read in flight */
    LOCK_EAR_READING,   /* the read that sets the watch is in flight */
    LOCK_EAR_LISTENING, /* the watch stands */
    LOCK_EAR_LATER,     /* the read failed and waits for the retry timer or the next connection */
    LOCK_EAR_OFF,       /* the own node is gone or may not be read: no read will follow */
};

/* Up to LOCK_LOST_SUSPECT creates lost in a row may be chance. From there on each next create waits, and
 * longer each time, until LOCK_LOST_MAX losses. */
enum { LOCK_LOST_SUSPECT = 8, LOCK_LOST_MAX = 20 };

/* A blocking caller, on its stack. */
struct lock_call {
    struct ls_waiter waiter;
    int rc;
    int zk_rc;
    uint32_t depth; /* depth and token are set if an acquire was granted */
    int64_t token;
    bool done;
};

/* A claim's place in a tree of its session; see claim_index.c. */
struct lock_branch {
    struct lock_claim *left;
    struct lock_claim *right;
};

/* The path of a mutex, and the role of its contenders. The mutex and its claims share it; the last user
 * frees it. */
struct lock_place {
    struct ls_session *session;
    uint32_t users;
    uint32_t capacity; /* leases of a semaphore; 0 for other roles */
    uint32_t largest;  /* the largest capacity so far; 0 for other roles */
    uint16_t size;     /* bytes in path without the final 0 */
    uint16_t role;     /* enum lock_role */
    char path[];
};

struct lock_claim {
    struct lock_claim *next;      /* in the session's list */
    struct lock_claim *previous;  /* likewise */
    struct lock_claim *note_next; /* in the session's queue of notes */
    struct lock_place *place;
    struct ls_mutex *mutex; /* NULL once the mutex is closed */
    struct lock_call *call; /* the blocking caller that waits for the answer */
    /* the taker that asks for this lease; NULL once the lease's owner has it; see semaphore.c */
    struct lock_claim *taker;
    char *ahead;                /* name of the predecessor, from LOCK_ARMING until its watch is gone */
    struct lock_branch tree[2]; /* in the session's trees, by watch_id and by owner */
    uint64_t owner;
    int64_t czxid; /* of the claim's node, once known; of a lost hold until LOCK_NOTE_LOST is delivered */
    uint8_t attempt[16]; /* id in the node's name; new for each acquire and each session */
    struct ls_timer deadline;
    int32_t sequence; /* of the claim's node, if `named` */
    int32_t rc;       /* code of the answer */
    /* ZooKeeper's code behind rc; until the claim's node is known, the first refusal of an ancestor */
    int32_t zk_rc;
    int32_t first_rc; /* ZooKeeper's code of the first request of the flight */
    uint32_t depth;
    /* of a taker: leases that it asks for; of its first lease: the same number until the owner is told */
    uint32_t units;
    uint32_t granted; /* of a taker: leases that are granted */
    /* bytes of SetWatches for the longest watch that this claim may have; see request_limit.c */
    uint32_t reserved;
    uint32_t below;         /* claims below this one in the tree by watch_id */
    uint16_t watch_id;      /* context of the watcher: lowest number that no other claim of the session has */
    uint16_t notes;         /* LOCK_NOTE_... */
    uint8_t state;          /* enum lock_state */
    uint8_t in_flight;      /* requests, LOCK_FIRST ... */
    uint8_t ancestors;      /* creates of ancestors in flight */
    uint8_t lost;           /* creates lost with the link in a row and never applied, 0 to LOCK_LOST_MAX */
    uint8_t named : 1;      /* the claim's node exists as far as is known, under `sequence` */
    uint8_t maybe : 1;      /* a create was sent and its outcome is unknown */
    uint8_t watching : 1;   /* a watch is set on `ahead`; for a lease, on the list of its place */
    uint8_t searching : 1;  /* the flight is a sync and a list after it, so its list can prove absence */
    uint8_t retry : 1;      /* waits for the retry timer, or for the janitor's */
    uint8_t try_only : 1;   /* the acquire must not wait */
    uint8_t told : 1;       /* the owner has been told of its grant */
    uint8_t dirty : 1;      /* the claim has ended, and could not be finished at once */
    uint8_t ear : 3;        /* enum lock_ear */
    uint8_t containers : 1; /* LOCK_PREPARING: the ancestors that are in flight are created as containers */
    uint8_t aside : 1;      /* LOCK_CLAIMING: waits for the create timer */
    uint8_t under : 1;      /* the claim's node takes the place of the owner's write lock; see rwlock.c */
};

/* The meaning of a code from ZooKeeper for the request that it answers. */
enum lock_verdict {
    LOCK_OK,      /* done */
    LOCK_UNKNOWN, /* done or not done: -4, -7, -15, -116, -2 (F9, F79, F106) */
    LOCK_DYING,   /* not done, and an event of the session's end is about to come: -112, -9 (F16, F30) */
    LOCK_AGAIN,   /* not done, may succeed later */
    LOCK_ABSENT,  /* -101 */
    LOCK_REFUSED, /* anything else */
};

/* ---- session.c ---- */

/* Returns whether a request ended without a reply, or with the news that the session is over. */
static inline bool lock_is_unsure(enum lock_verdict verdict)
{
    return verdict == LOCK_UNKNOWN || verdict == LOCK_DYING;
}

/* Returns the verdict on a code; returns whether the link is up and requests may be sent. */
enum lock_verdict lock_session_verdict(int zk_rc);
bool lock_session_ready(const struct ls_session *session);

/* Account for a write or a sync, whose answer proves that the session lives (D12):
 * - lock_session_stamp() before the request is handed to the client. Returns whether it has stamped the
 *   moment.
 * - lock_session_sent() when the client has taken or refused it. `stamped` is the result of
 *   lock_session_stamp(), `zk_rc` the client's immediate code. The mutex stays held from the stamp to
 *   here.
 * - lock_session_answered() when the answer is there. */
bool lock_session_stamp(struct ls_session *session);
void lock_session_sent(struct ls_session *session, bool stamped, int zk_rc);
void lock_session_answered(struct ls_session *session, int zk_rc);

/* Forgets the belief if no claim of the session is pending or held. Nothing rests on the belief then, and
 * the create of the next claim renews it. */
void lock_session_unclaimed(struct ls_session *session);

/* Returns the ms for which the belief is still good enough, 0 if it is not; returns whether it should be
 * renewed. */
int lock_session_belief_left_ms(const struct ls_session *session);
bool lock_session_stale(const struct ls_session *session);

/* Sends a sync as a sign of life, if none is in flight and the session is connected. */
void lock_session_prove(struct ls_session *session);

/* Starts the timer that keeps the belief of a holder fresh, unless the options forbid it. Called at each
 * grant. */
void lock_session_granted(struct ls_session *session);

/* Starts the retry timer if it is not running. Returns false if the policy is exhausted or no timer can be
 * had; *err says which. */
bool lock_session_retry(struct ls_session *session, int *err);

/* Notes that a claim has made progress: the next failure counts as the first in a row. An answered sync is
 * no progress: otherwise a failure behind it would be repeated for ever and without back-off. */
void lock_session_progress(struct ls_session *session);

/* Sets a claim aside whose creates were lost with the link many times in a row: its create may break the
 * link. Such claims go on one by one, by a timer of their own, with the delay of the retry policy. Returns
 * false if the policy is exhausted or no timer can be had; *err says which.
 *
 * lock_session_acquit() notes that the server has answered a create of the claim. */
bool lock_session_set_aside(struct lock_claim *claim, int *err);
void lock_session_acquit(struct lock_claim *claim);

/* Returns the delay of the janitor after session->sweeps failures in a row: the policy's, without its end. */
uint32_t lock_session_sweep_delay_ms(struct ls_session *session);

/* Calls step() for each claim, oldest first. A step may free its own claim, but no other one. */
void lock_session_each(struct ls_session *session, void (*step)(struct lock_claim *claim));

/* Returns whether a handle is open, or on loan, and not known to be dead. */
bool lock_session_is_open(const struct ls_session *session);

/* Handles a session event of the present handle. */
void lock_session_event(struct ls_session *session, zhandle_t *zh, int state);

/* Notes that the handle is closed: requests that it has not answered until now will never be answered
 * (F21). */
void lock_session_drained(struct ls_session *session);

/* Returns the session that a watcher's handle belongs to, or NULL. */
struct ls_session *lock_session_of(zhandle_t *zh);

/* Removes a listener: it is called for no further event. A call may be under way. */
void lock_session_forget_listener(struct ls_session *session, struct ls_session_listener *listener);

/* ---- lent_handle.c ---- */

/* The watcher of all nodes on a handle on loan; its context is the loan. */
void lock_loan_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* Ends all claims, and waits until nothing is in flight and, if connected, nothing is left over. Returns
 * LS_OK; LS_EUNSURE if nodes are left to the end of the handle; LS_ELOST if the handle died and may not
 * have answered all. */
int lock_loan_end(struct ls_session *session);

/* Forgets the handle, which will not answer any more, and the requests that were in flight. */
void lock_loan_give_back(struct ls_session *session);

/* ---- credentials.c ---- */

/* Returns LS_OK if the options of access are valid and the client library supports them, else the error. */
int lock_access_check(const struct ls_session_options *options);

/* Returns whether the client library accepts the form of a connect string. */
bool lock_access_hosts_are_valid(const char *hosts);

/* Calls zookeeper_init(), or its variant over TLS. Expects the mutex to be dropped. */
zhandle_t *lock_access_open(struct ls_session *session, watcher_fn watcher, int flags);

/* Adds the credentials that the handle does not have yet. Returns ZooKeeper's immediate code. */
int lock_access_add_auths(struct ls_session *session, zhandle_t *zh);

/* ---- claim_index.c ---- */

/* Returns the lowest number that no claim of the session has; 0 if all are taken. */
uint16_t lock_index_free_watch(const struct ls_session *session);

/* Returns the claim with this number, or NULL. */
struct lock_claim *lock_index_watcher(const struct ls_session *session, uint16_t watch_id);

/* Returns the owner's claim on the mutex: the pending or held one, else its tomb, else NULL. An owner can
 * have both: it may ask for the lock again before it has released the lost hold. */
struct lock_claim *lock_index_find(const struct ls_mutex *mutex, uint64_t owner);

/* Returns the owner's tomb, or NULL. */
struct lock_claim *lock_index_tomb(const struct ls_mutex *mutex, uint64_t owner);

/* Returns whether any claim of the session is in a state up to LOCK_HELD. */
bool lock_index_any_alive(const struct ls_session *session);

/* Add a claim, disown it, remove it:
 * - add: a new claim, whose place, mutex, owner and watch_id are set.
 * - disown: the claim leaves its owner. Its mutex must still be set.
 * - remove: the claim is about to be freed, and was disowned before. */
void lock_index_add(struct lock_claim *claim);
void lock_index_disown(struct lock_claim *claim);
void lock_index_remove(struct lock_claim *claim);

/* ---- request_limit.c: what servers take in one request ---- */

/* Returns whether the watch of one more claim fits. */
bool lock_packets_watch_fits(const struct lock_place *place);

/* Returns whether a pending claim can watch its present predecessor; returns whether the holders of a
 * mutex can watch their own nodes. */
bool lock_packets_ahead_fits(const struct lock_claim *claim);
bool lock_packets_ears_fit(const struct ls_mutex *mutex);

/* Reserves what a claim needs in its present state; gives all of it back. */
void lock_packets_reserve(struct lock_claim *claim);
void lock_packets_free(struct lock_claim *claim);

/* Returns the bytes of SetWatches for a watch on a path of this size; returns whether `more` bytes fit. */
uint32_t lock_packets_watch_size(const struct ls_session *session, size_t path_size);
bool lock_packets_fits(const struct ls_session *session, uint64_t more);

/* Returns whether a contender node with contents of this size can be created. */
bool lock_packets_create_fits(const struct ls_mutex *mutex, size_t contents_size);

/* ---- blocking.c ---- */

/* Takes the environment's mutex for a call that may wait. Returns NULL and takes nothing on an error,
 * which is *err. */
struct ls_session *lock_blocking_begin(const struct ls_mutex *mutex, int *err);

/* Does what ls_mutex_release() does, for any owner. Takes the environment's mutex itself. */
int lock_blocking_release(struct ls_mutex *mutex, uint64_t owner);

/* Ends a blocking call, which is under way if rc is LS_OK: waits for its answer and closes its waiter.
 * Returns the answer, or the other rc. Another thread may have closed the session meanwhile, so the caller
 * must not use it. */
int lock_blocking_finish(struct ls_session *session, struct lock_call *call, int rc);

/* Ends the guarded writes that were never answered. Called when the handle is closed. */
void lock_blocking_drained(struct ls_session *session);

/* ---- multi.c ---- */

/* Returns whether the client library accepts these operations, however it is connected. */
bool lock_multi_is_valid(int count, const zoo_op_t *ops, const zoo_op_result_t *results);

/* Sends valid operations. Returns LS_OK, and the completion follows; or LS_ECLOSED or LS_EZK, and none
 * follows. */
int lock_multi_send(const struct ls_session *session, int count, const zoo_op_t *ops,
                    zoo_op_result_t *results, void_completion_t completion, const void *data);

/* ---- delivery.c: what users are told ---- */

struct ls_ref lock_queue_ref(const void *constant);
const void *lock_queue_deref(struct ls_ref ref);

void lock_queue_event(struct ls_session *session, enum ls_session_event event);
void lock_queue_note(struct lock_claim *claim, uint16_t note);

/* Ends an entry into the session. Calls callbacks until the queue is empty, dropping the mutex around
 * each; does nothing if a thread is already at it. Claims may be freed meanwhile. */
void lock_queue_deliver(struct ls_session *session);

/* Ends an entry of a blocking call. A timer's thread calls the callbacks: otherwise this thread would
 * still be busy with callbacks of other owners when its own answer is there. If no timer can be had, or
 * the session is closed, this thread calls them. */
void lock_queue_hand_over(struct ls_session *session);

/* Sleeps while holds(about) is true. */
void lock_queue_wait(struct ls_session *session, bool (*holds)(const void *about), const void *about);

/* Sleeps while holds(about) is true. Each entry into the session wakes the thread, which asks again. */
void lock_queue_wait_watching(struct ls_session *session, bool (*holds)(const void *about),
                              const void *about);

/* Sleeps until no thread calls callbacks; sleeps until, besides, no thread opens or closes a handle. */
void lock_queue_wait_told(struct ls_session *session);
void lock_queue_wait_quiet(struct ls_session *session);

/* Sleeps until no other thread sleeps on this session. The session's memory may be freed then. */
void lock_queue_wait_alone(struct ls_session *session);

/* Wakes all threads that sleep in lock_queue_wait...(), so that they ask again. */
void lock_queue_wake(struct ls_session *session);

/* ---- requests.c: sending ---- */

/* Returns the ACL of the nodes that a mutex creates; `mutex` may be NULL. */
const struct ACL_vector *lock_request_acl(const struct ls_session *session, const struct ls_mutex *mutex);

/* Each sends one request and marks it in claim->in_flight. Returns ZooKeeper's immediate code. */
int lock_request_create(struct lock_claim *claim, string_stat_completion_t completion);
int lock_request_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_sync(struct lock_claim *claim, string_completion_t completion);
int lock_request_exists(struct lock_claim *claim, stat_completion_t completion);
int lock_request_get(struct lock_claim *claim, data_completion_t completion);

/* Sends a list of the claim's place that leaves a watch. It is marked with LOCK_GET. */
int lock_request_watch_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_delete(struct lock_claim *claim, void_completion_t completion);
int lock_request_unwatch(struct lock_claim *claim, void_completion_t completion);

/* Removes the session's watch on a node's data. The caller makes sure that nothing else of the session
 * needs a watch on this path. */
int lock_request_remove_watch(const struct ls_session *session, const char *path,
                              void_completion_t completion, const void *data);

/* Read the claim's own node with a watch; remove that watch. The read is marked in claim->ear. */
int lock_request_listen(struct lock_claim *claim, data_completion_t completion);
int lock_request_unlisten(struct lock_claim *claim, void_completion_t completion);

/* Creates one ancestor, the first `size` bytes of the place's path, and counts it in claim->ancestors. */
int lock_request_ancestor(struct lock_claim *claim, size_t size, string_completion_t completion);

/* Writes the path of the claim's own node. Returns false if it does not fit. */
bool lock_request_path(const struct lock_claim *claim, char *out, size_t size);

/* Returns whether the claim waits for an event on `path`: its predecessor's path, or the place of a lease.
 * The second function returns whether `path` is that of the claim's own node. */
bool lock_request_is_ahead(const struct lock_claim *claim, const char *path);
bool lock_request_is_own(const struct lock_claim *claim, const char *path);

/* ---- mutex.c ---- */

/* Does what the claim's state asks for, as far as possible now. Each call may free the claim. */
void lock_mutex_go(struct lock_claim *claim);

/* Handles the loss of the session, or its failure for good: the claim queues again, ends, or becomes a
 * tomb. */
void lock_mutex_session_lost(struct lock_claim *claim);

/* Notes for on_lost, if the mutex has it, that the hold with this token has ended without its release. */
void lock_mutex_note_loss(struct lock_claim *claim, int64_t token);

/* Handles the deletion of a held claim's node by another client: the hold is lost, and the claim becomes a
 * tomb. */
void lock_mutex_node_gone(struct lock_claim *claim);

/* Lets a pending claim whose node is gone queue again, under a new attempt id. */
void lock_mutex_begin_again(struct lock_claim *claim);

/* Handles an event on a contender's node. It wakes the claim if the claim waits for that node; an event on
 * the claim's own node goes to revoke.c. May free the claim. */
void lock_mutex_hear(struct lock_claim *claim, int type, const char *path);

/* Ends a pending claim without the lock: answers its owner, leaves node and watch to the janitor. */
void lock_mutex_fail(struct lock_claim *claim, int rc, int zk_rc);

/* Leaves what the claim may have created to the janitor, without an answer and without a request yet. */
void lock_mutex_leave_over(struct lock_claim *claim);

/* Answers the owner of a granted claim. */
void lock_mutex_answer(struct lock_claim *claim);

/* Lets the retry timer repeat the request. Fails the claim, which must be pending, if the policy is
 * exhausted. */
void lock_mutex_retry(struct lock_claim *claim, int zk_rc);

/* Returns whether the claim is between its acquire and the outcome. */
bool lock_mutex_pending(const struct lock_claim *claim);

/* Sets *view to a list of the claim's place as the claim sees it. */
void lock_mutex_view(const struct lock_claim *claim, const struct String_vector *list,
                     struct lock_view *view);

/* Completions that the janitor uses too; the watcher of all contender nodes on a handle that the session
 * opened. */
void lock_mutex_on_sync(int rc, const char *value, const void *data);
void lock_mutex_on_list(int rc, const struct String_vector *list, const void *data);
void lock_mutex_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* Begin and end a completion: enter takes the environment's mutex, leave delivers the notes and drops it. */
struct lock_claim *lock_mutex_enter(const void *data);
void lock_mutex_leave(struct ls_session *session);

/* ---- acquire.c ---- */

/* Returns a new claim of this owner in LOCK_CLAIMING, without a request yet; NULL if memory is short. The
 * caller has made sure of a free number for its watch. */
struct lock_claim *lock_mutex_new_claim(struct ls_mutex *mutex, uint64_t owner, int timeout_ms);

/* Do the two asynchronous calls, with an optional blocking caller. */
int lock_mutex_acquire(struct ls_mutex *mutex, uint64_t owner, int timeout_ms, struct lock_call *call);
int lock_mutex_release(struct ls_mutex *mutex, uint64_t owner, struct lock_call *call);

/* Acquires for a taker: the acquire ends when `units` leases with the numbers from `owner` on are granted. */
int lock_mutex_acquire_units(struct ls_mutex *line, uint64_t owner, uint32_t units, int timeout_ms,
                             struct lock_call *call);

/* Returns whether an owner is another thread. Only that thread may ask in its own name. */
bool lock_mutex_is_of_another_thread(struct ls_env *env, uint64_t owner);

/* Ends a claim whose mutex, or session on loan, is being closed. A pending claim is answered with
 * LS_ECLOSED, the janitor gives a held one back. */
void lock_mutex_end(struct lock_claim *claim);

/* Frees a claim in LOCK_TOMB. */
void lock_mutex_drop_tomb(struct lock_claim *claim);

/* ---- mutex_query.c ---- */

/* Returns whether client and server accept a path, and it keeps the bounds of mutex.h. */
bool lock_mutex_path_is_valid(const char *path);

/* Does what ls_mutex_init() does, for contenders of this role. Takes the environment's mutex itself. */
int lock_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path, enum lock_role role,
                    const struct ls_mutex_options *options);

/* Undoes lock_mutex_init() of a mutex that was never used, inside a callback too. Takes the environment's
 * mutex. */
void lock_mutex_undo_init(struct ls_mutex *mutex);

/* Takes the environment's mutex and returns the session. Returns NULL and takes nothing if the mutex is
 * closed. */
struct ls_session *lock_mutex_lock(const struct ls_mutex *mutex);

/* Returns the calling thread's number as an owner; 0, the number of no owner, if the mutex is closed. */
uint64_t lock_mutex_me(const struct ls_mutex *mutex);

/* Returns the owner's claim if it holds the mutex and was told so, else NULL. */
const struct lock_claim *lock_mutex_holder(const struct ls_mutex *mutex, uint64_t owner);

/* Does what ls_mutex_guard() does. */
int lock_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size);

/* ---- rwlock.c ---- */

/* Returns LS_OK if an owner may ask for this half of a read-write lock now; LS_EDEADLK for an upgrade, or
 * LS_EALREADY. */
int lock_rwlock_refuses(const struct ls_mutex *mutex, uint64_t owner);

/* Returns whether the owner of this hold, a write lock, has a pending read lock, whose node takes its
 * place in line. */
bool lock_rwlock_is_needed(const struct lock_claim *claim);

/* Returns the write lock that the owner of a reader's claim holds, or NULL. */
const struct lock_claim *lock_rwlock_writer(const struct lock_claim *claim);

/* Returns whether the node of that write lock is in the list. */
bool lock_rwlock_stands(const struct lock_claim *writer, const struct String_vector *list);

/* ---- semaphore.c ---- */

/* Does what ls_semaphore_acquire_start() does for an open semaphore, with an optional blocking caller. */
int lock_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms,
                           struct lock_call *call);

/* Returns whether the claim stands in a semaphore's line for leases. */
bool lock_semaphore_is_taker(const struct lock_claim *claim);

/* Returns the mutex that the owner of a claim knows: for a taker, the one of the leases. */
struct ls_mutex *lock_semaphore_face(const struct lock_claim *claim);

/* Returns whether the mutex is that of a semaphore's leases, and the semaphore's line is closed or being
 * closed. */
bool lock_semaphore_is_closing(const struct ls_mutex *mutex);

/* Asks for the leases of a taker that is first in line. */
void lock_semaphore_take(struct lock_claim *claim);

/* Handles the grant, or the failure, of a lease that has a taker. */
void lock_semaphore_answered(struct lock_claim *lease, int rc, int zk_rc);

/* Checks a list that is about to grant `lease` for the granted leases of the same taker. One that is
 * missing is searched for again. */
void lock_semaphore_look(struct lock_claim *lease, const struct String_vector *list);

/* Notes that the owner of the first of several leases has been told of them. */
void lock_semaphore_told(struct lock_claim *first);

/* Leaves the leases of a failing taker to the janitor. They are not freed before the session is left. */
void lock_semaphore_give_up(struct lock_claim *taker);

/* Returns whether the claim is a taker that may hold some of its leases and wait for the others. */
bool lock_semaphore_may_lack_some(const struct lock_claim *claim);

/* Handles the deletion of such a taker's node in the line: it gives its leases back, and queues again. */
void lock_semaphore_begin_again(struct lock_claim *taker);

/* Ends a lease that has a taker without an answer. Called when its session is lost. */
void lock_semaphore_lose(struct lock_claim *lease);

/* Returns the capacity; sets a valid one. The semaphore must be open. */
uint32_t lock_semaphore_capacity(const struct ls_semaphore *semaphore);
void lock_semaphore_resize(struct ls_semaphore *semaphore, uint32_t capacity);

/* Returns whether more leases stand before this one than the largest capacity so far allows. */
bool lock_semaphore_is_exceeded(const struct lock_claim *lease, const struct lock_view *view);

/* Returns whether a list admits a lease: fewer children than the capacity stand before its node. */
bool lock_semaphore_admits(const struct lock_claim *lease, const struct lock_view *view);

/* ---- count.c ---- */

/* Does what the session's counts ask for, as far as possible now. The second function is for the retry
 * timer and for a new connection: it also repeats what has failed. */
void lock_count_go(struct ls_session *session);
void lock_count_again(struct ls_session *session);

/* The watcher of count nodes on a handle that the session opened; handles an event of a node's data or
 * existence. */
void lock_count_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);
void lock_count_hear(struct ls_session *session, const char *path);

/* Handles the loss of the session; handles the close of its handle, which answers nothing any more. */
void lock_count_session_lost(struct ls_session *session);
void lock_count_drained(struct ls_session *session);

/* Ends the count of a semaphore that is being closed; ends all counts of a session on loan that is being
 * closed. */
void lock_count_end(struct ls_semaphore *semaphore);
void lock_count_end_all(struct ls_session *session);

/* Returns the bytes of SetWatches that all counts reserve. */
uint64_t lock_count_reserved(const struct ls_session *session);

/* Returns whether a request of a count is in flight. */
bool lock_count_in_flight(const struct ls_session *session);

/* Returns whether a change waits for its callback; calls one, dropping the mutex meanwhile, or returns
 * false. */
bool lock_count_waiting(const struct ls_session *session);
bool lock_count_deliver(struct ls_session *session);

/* ---- parents.c ---- */

void lock_parents_go(struct lock_claim *claim);

/* ---- janitor.c ---- */

/* Makes a claim that has ended without a release the janitor's. */
void lock_janitor_inherit(struct lock_claim *claim);

/* Removes the watch and the node that an ended claim left. Finishes the claim if nothing is left. */
void lock_janitor_go(struct lock_claim *claim);

/* Notes that the watch has fired, or is removed. */
void lock_janitor_unwatched(struct lock_claim *claim);

/* Removes the watch that is set. */
void lock_janitor_unwatch(struct lock_claim *claim);

/* Lets the janitor's timer repeat a request of an ended claim. */
void lock_janitor_again(struct lock_claim *claim);

/* Answers a release whose delete is in flight with LS_EUNSURE: the fate of the node will not be known. */
void lock_janitor_unsure(struct lock_claim *claim);

/* Answers an asynchronous release at once, because its mutex is being closed. The janitor completes it. */
void lock_janitor_hurry(struct lock_claim *claim);

/* Stops the janitor's timer and its back-off, at a new connection or at the end of the session. */
void lock_janitor_calm(struct ls_session *session);

/* Starts the janitor's timer if that failed before. */
void lock_janitor_arm(struct ls_session *session);

/* Handles the end of a search flight of an ended claim. */
void lock_janitor_searched(struct lock_claim *claim, int sync_rc, int list_rc,
                           const struct String_vector *list);

/* Frees a finished claim once nothing refers to it any more. */
void lock_janitor_reap(struct lock_claim *claim);

/* ---- revoke.c ---- */

/* Reads the claim's own node with a watch, if the claim has none yet and is a holder that can be asked to
 * give the lock back. */
void lock_revoke_go(struct lock_claim *claim);

/* Returns whether the claim's watch on its own node is set, and on this path; handles the event that
 * consumed it. */
bool lock_revoke_listens(const struct lock_claim *claim, const char *path);
void lock_revoke_heard(struct lock_claim *claim, int type);

/* Repeats a read that has failed. Called by the retry timer and at a new connection. */
void lock_revoke_again(struct lock_claim *claim);

/* Handles the loss of the session and of the watch with it; handles the close of the handle, after which
 * no answer comes any more. */
void lock_revoke_lost(struct lock_claim *claim);
void lock_revoke_forget(struct lock_claim *claim);

/* Removes the watch on the node of an ended claim that could not be deleted. */
void lock_revoke_unlisten(struct lock_claim *claim);

/* Ends the requests to other holders that were never answered. Called when the handle is closed. */
void lock_revoke_drained(struct ls_session *session);

/* Takes one answered request and calls its callback with the mutex dropped. Returns false if there is
 * none. */
bool lock_revoke_deliver(struct ls_session *session);

/* ---- participants.c ---- */

/* Ends the surveys that were never answered. Called when the handle is closed. */
void lock_participants_drained(struct ls_session *session);

/* Starts a survey. If `call` is NULL, the answer goes to on_participants with `user`, otherwise the code goes
 * to `call` and the list to `out`. */
int lock_participants_start(struct ls_mutex *mutex, void *user, struct lock_call *call,
                            struct ls_participants *out);

/* Answers the surveys of a mutex that is being closed with LS_ECLOSED. */
void lock_participants_end(struct ls_mutex *mutex);

/* Returns whether a list for this completion is read name by name. */
bool lock_participants_read(void (*completion)(void));

/* Shows the names that surveys hold to a renaming. */
void lock_participants_canon(const struct ls_session *session, struct ls_rename *rename);

/* Takes one finished survey and calls its callback with the mutex dropped. Returns false if there is none. */
bool lock_participants_deliver(struct ls_session *session);

#endif
