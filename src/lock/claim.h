/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The declarations that the files of this folder share. Unless a comment says otherwise, a function that uses
 * data which other threads may change expects the environment's mutex to be held. Completions and watchers
 * take that mutex themselves.
 *
 * A claim (struct lock_claim) is one attempt of one owner to hold one mutex. It lies in its session's list
 * until it is freed:
 * - Up to LOCK_HELD, and in LOCK_TOMB, it belongs to its owner: lock_index_find() or lock_index_tomb() finds
 *   it.
 * - From LOCK_RELEASING on, its owner cannot reach it. It is reached by the list, by its watch_id, by its
 *   completions, and by the queue of notes.
 * - In LOCK_DONE it is freed once it has no request in flight and no undelivered note. The read of its own
 *   node (revoke.c) counts as a request: the completion carries the claim's address. */
#ifndef LOCK_CLAIM_H
#define LOCK_CLAIM_H

#include "lock/names.h"

#include <lockstep/mutex.h>
#include <lockstep/semaphore.h>
#include <lockstep/sometimes.h>

enum lock_state {
    LOCK_CLAIMING = 1, /* create and list */
    LOCK_PREPARING,    /* create the missing ancestors */
    LOCK_SEARCHING,    /* sync and list: has the lost create been applied? */
    LOCK_IDENTIFYING,  /* exists and list: is the found node this session's, and what is its czxid? */
    LOCK_LISTING,      /* list, with a sync before it if the belief needs one */
    LOCK_ARMING,       /* get with a watch on the nearest predecessor; of a lease, a list with a watch */
    LOCK_WAITING,      /* the watch stands */
    LOCK_TAKING,       /* first in the line of a semaphore, waits for its leases (semaphore.c) */
    LOCK_HELD,
    LOCK_TOMB,      /* the hold was lost with its session or its node; its owner has not released it yet */
    LOCK_RELEASING, /* the owner has released the last level; the node is to be deleted */
    LOCK_LEFTOVER,  /* ended without a release, or its release was answered early; the janitor's */
    LOCK_DONE,      /* no node and no watch is left */
};

/* Requests of a claim in flight, one bit each. A flight is a first request and the list sent behind it. The
 * creates of ancestors (`ancestors`) and the read of the own node (`ear`) have no bit. */
enum {
    LOCK_FIRST = 1,   /* create, sync or exists */
    LOCK_LIST = 2,    /* the list of a flight; in LOCK_LISTING it may be alone */
    LOCK_GET = 4,     /* the get, or the list of a lease, that sets the watch */
    LOCK_DELETE = 8,  /* the delete of the claim's own node */
    LOCK_UNWATCH = 16 /* the removal of a watch */
};

/* Notes of a claim that lock_queue_deliver() has not delivered yet, one bit each. DONE, FREED, REVOKE and
 * LOST are the on_... functions of struct ls_mutex_ops. FOREIGN, LEFT, GONE and CAPACITY are warnings of
 * on_warning. GO is no callback. */
enum {
    LOCK_NOTE_DONE = 1,
    LOCK_NOTE_FREED = 2,
    LOCK_NOTE_FOREIGN = 4,
    LOCK_NOTE_LEFT = 8,
    LOCK_NOTE_REVOKE = 16,
    LOCK_NOTE_GONE = 32,
    LOCK_NOTE_LOST = 64,
    LOCK_NOTE_GO = 128, /* no callback: lock_mutex_go() is to be called, which may free the claim */
    LOCK_NOTE_CAPACITY = 256,
};

/* The "ear" of a claim: the state of the watch on its own node. Its transitions are in revoke.c. By this
 * watch a holder learns that another client asks for the lock, or has deleted the node. */
enum lock_ear {
    LOCK_EAR_DEAF = 0,  /* no watch, and no read in flight */
    LOCK_EAR_READING,   /* the read that sets the watch is in flight */
    LOCK_EAR_LISTENING, /* the watch stands */
    LOCK_EAR_LATER,     /* the read failed and waits for the retry timer or the next connection */
    LOCK_EAR_OFF,       /* the read was refused, the own node is gone, or the watch was removed */
};

/* From LOCK_LOST_SUSPECT lost creates in a row on (`lost`), not_there() sets a claim aside, or lets it fail.
 * Unless the retry policy is LS_RETRY_TIMES, `lost` stops at LOCK_LOST_MAX. */
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

/* The children of a claim in a tree of its session; see claim_index.c. */
struct lock_branch {
    struct lock_claim *left;
    struct lock_claim *right;
};

/* The path of a mutex, and the role of its contenders. The mutex, its claims and its surveys
 * (participants.c) share it. The last of these users frees it. */
struct lock_place {
    struct ls_session *session;
    uint32_t users;
    uint32_t capacity; /* leases that may be held at once; 0 for other roles */
    uint32_t largest;  /* the largest capacity so far; 0 for other roles */
    uint16_t size;     /* bytes in path without the final 0 */
    uint16_t role;     /* enum lock_role */
    char path[];
};

struct lock_claim {
    struct lock_claim *next; /* next and previous: in the session's list, oldest first */
    struct lock_claim *previous;
    struct lock_claim *note_next; /* in the session's queue of claims with notes */
    struct lock_place *place;
    struct ls_mutex *mutex; /* NULL once the mutex is closed */
    struct lock_call *call; /* the blocking caller that waits for the answer; NULL: a callback answers */
    /* the taker that asks for this lease; NULL once all leases of the taker are granted, or this one has
     * ended; NULL for other roles */
    struct lock_claim *taker;
    /* name of the predecessor, from LOCK_ARMING until the claim lists again, loses its session or is freed;
     * NULL for a lease */
    char *ahead;
    struct lock_branch tree[2]; /* in the session's trees, by watch_id and by owner */
    uint64_t owner;
    /* fencing token: czxid of the claim's node; of a hold `under` a write lock, the writer's; with
     * LOCK_NOTE_LOST, the token of the lost hold; 0 = none */
    int64_t czxid;
    uint8_t attempt[16]; /* attempt id; new for each acquire and each session */
    struct ls_timer deadline;
    int32_t sequence; /* of the claim's node, if `named` */
    int32_t rc;       /* code of the undelivered answer, else 0 */
    /* ZooKeeper's code behind rc; before the claim's node is known, the code of a refused create of an
     * ancestor; 0 = none */
    int32_t zk_rc;
    int32_t first_rc; /* ZooKeeper's code of the flight's first request; of ancestors, see parents.c */
    uint32_t depth;   /* levels of the hold; of a tomb, the levels that are still to be released */
    /* of a taker: leases that it asks for; of its first lease, that number from the grant until the owner is
     * told; else 0 */
    uint32_t units;
    uint32_t granted; /* of a taker: leases that are granted */
    /* bytes reserved in SetWatches for the claim's watches; see packet_size.c */
    uint32_t reserved;
    uint32_t below;        /* claims below this one in the tree by watch_id */
    uint16_t watch_id;     /* context of its watches, except on a loan; from 1, unique in the session */
    uint16_t notes;        /* LOCK_NOTE_... */
    uint16_t lost;         /* creates in a row that were lost and not applied, saturated (session.c) */
    uint8_t state;         /* enum lock_state */
    uint8_t in_flight;     /* requests, LOCK_FIRST ... */
    uint8_t ancestors;     /* creates of ancestors in flight */
    uint8_t named : 1;     /* the claim's node exists as far as is known, under `sequence` */
    uint8_t maybe : 1;     /* a create was sent and its outcome is unknown */
    uint8_t watching : 1;  /* a watch is set on `ahead`; for a lease, on the list of its place */
    uint8_t searching : 1; /* the flight searches: a sync, and a list behind it that can prove absence */
    /* waits for the retry timer or the next connection; if ended, or held with a watch to remove, for the
     * janitor's timer or the next connection */
    uint8_t retry : 1;
    uint8_t try_only : 1;   /* the acquire must not wait */
    uint8_t told : 1;       /* the grant was delivered to the owner */
    uint8_t dirty : 1;      /* its clean-up outlasts its end; after the last leftover's, IDLE is told */
    uint8_t ear : 3;        /* enum lock_ear */
    uint8_t containers : 1; /* the ancestors that are in flight are created as containers */
    uint8_t aside : 1;      /* LOCK_CLAIMING: waits for the create timer */
    uint8_t under : 1;      /* the claim's node takes the place of the owner's write lock; see rwlock.c */
};

/* The meaning of a code from ZooKeeper for the request that it answers. */
enum lock_verdict {
    LOCK_OK,
    LOCK_UNKNOWN, /* done or not done: -4, -7, -15, -116, -2 (F9, F79, F106) */
    LOCK_DYING,  /* not done; the event of the session's end is there or about to come: -112, -9 (F16, F30) */
    LOCK_AGAIN,  /* not done, may succeed later */
    LOCK_ABSENT, /* -101 */
    LOCK_REFUSED, /* anything else */
};

/* ---- session.c ---- */

static inline bool lock_is_unsure(enum lock_verdict verdict)
{
    return verdict == LOCK_UNKNOWN || verdict == LOCK_DYING;
}

enum lock_verdict lock_session_verdict(int zk_rc);

/* Returns whether the link is up and requests may be sent. */
bool lock_session_ready(const struct ls_session *session);

/* Measure the session's belief: how long ago the last write or sync was sent whose answer proves that the
 * session lived (D12).
 * - lock_session_stamp(): call it before a write or sync is handed to the client. Returns whether it has
 *   stamped the moment. It does not while another stamped request is unanswered, nor if a proven belief has
 *   the age 0.
 * - lock_session_sent(): call it after the client took or refused the request with `zk_rc`. `stamped` is the
 *   result of lock_session_stamp(). The mutex stays held between the two calls.
 * - lock_session_answered(): call it with the answer's code. */
bool lock_session_stamp(struct ls_session *session);
void lock_session_sent(struct ls_session *session, bool stamped, int zk_rc);
void lock_session_answered(struct ls_session *session, int zk_rc);

/* Forgets the belief if no claim of the session is pending or held. No answer rests on the belief then, and
 * the create of the next claim renews it. */
void lock_session_unclaimed(struct ls_session *session);

/* Returns the ms for which the session's holders may still believe; 0 = they may not. */
int lock_session_belief_left_ms(const struct ls_session *session);

/* Returns whether the belief needs a new proof: there is none, the link broke after the last one, or at least
 * half of the margin has passed since. */
bool lock_session_stale(const struct ls_session *session);

/* Sends a sync to renew the belief, unless such a sync is in flight or lock_session_ready() is false. */
void lock_session_prove(struct ls_session *session);

/* Starts the timer that renews the belief while a lock is held, unless the options forbid it. */
void lock_session_granted(struct ls_session *session);

/* Starts the retry timer if it is not running. Returns false with *err = LS_EGAVEUP if the policy is
 * exhausted, and with LS_ENOMEM if no timer can be had. */
bool lock_session_retry(struct ls_session *session, int *err);

/* Sets the number of failures in a row to 0. Call it for an answer that is progress. An answered sync does
 * not count as progress. Otherwise a request behind it that always fails would never exhaust the policy. */
void lock_session_progress(struct ls_session *session);

/* Sets a claim aside: its next create waits for a timer (session.c). Returns false with *err as
 * lock_session_retry() does. */
bool lock_session_set_aside(struct lock_claim *claim, int *err);

/* Counts a create that was lost and not applied, up to a bound. */
void lock_session_count_lost(struct lock_claim *claim);

/* Notes that the server has answered or applied a create of the claim. */
void lock_session_acquit(struct lock_claim *claim);

/* Returns the janitor's delay in ms after session->sweeps failures in a row: that of the retry policy, as if
 * it never gave up. */
uint32_t lock_session_sweep_delay_ms(struct ls_session *session);

/* Calls step() for each claim, oldest first. A step may free its own claim and older ones, no newer one. */
void lock_session_each(struct ls_session *session, void (*step)(struct lock_claim *claim));

/* Returns whether the state is one from LS_STATE_CONNECTING to LS_STATE_SUSPENDED. */
bool lock_session_is_open(const struct ls_session *session);

/* Handles a session event of the handle. If the session is not open, the event is late and ignored. */
void lock_session_event(struct ls_session *session, zhandle_t *zh, int state);

/* Ends the requests in flight after the handle was closed or given back: no answer to them will come (F21).
 * The other ..._drained() functions do so for requests of one kind. */
void lock_session_drained(struct ls_session *session);

/* Returns the session that has opened this handle. */
struct ls_session *lock_session_of(zhandle_t *zh);

/* Removes a listener: it is called for no further event. A call may be under way. */
void lock_session_forget_listener(struct ls_session *session, struct ls_session_listener *listener);

/* ---- lent_handle.c ---- */

/* The watcher of all nodes on a handle on loan; its context is the loan. */
void lock_loan_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* If the handle is dead, returns LS_OK and does nothing. Otherwise ends all claims and counts. Then sleeps
 * until the handle dies, or no request is in flight and no claim or count is left. Without a connection, or
 * without a timer for the janitor, it does not await claims and counts. Returns LS_OK; LS_EUNSURE if a node
 * or a watch may stay until the end of the handle; LS_ELOST if the handle died with requests in flight. */
int lock_loan_end(struct ls_session *session);

/* Forgets the handle, and the requests in flight, which will never be answered. */
void lock_loan_give_back(struct ls_session *session);

/* ---- credentials.c ---- */

/* Returns LS_OK if the credentials of the options are valid, and the client library supports TLS or the
 * options do not ask for it. Otherwise returns LS_EINVAL or LS_EUNSUPPORTED. */
int lock_access_check(const struct ls_session_options *options);

/* Returns whether the client library accepts the form of a connect string. */
bool lock_access_hosts_are_valid(const char *hosts);

/* Calls zookeeper_init(), or its variant over TLS. Expects the mutex to be dropped. */
zhandle_t *lock_access_open(struct ls_session *session, watcher_fn watcher, int flags);

/* Adds the credentials that the handle does not have yet. Returns ZooKeeper's immediate code. */
int lock_access_add_auths(struct ls_session *session, zhandle_t *zh);

/* ---- claim_index.c ---- */

/* Returns the lowest watch_id that no claim of the session has; 0 if all 65,535 are taken. */
uint16_t lock_index_free_watch(const struct ls_session *session);

struct lock_claim *lock_index_watcher(const struct ls_session *session, uint16_t watch_id);

/* Return a claim of the owner on the mutex. An owner can have a tomb and a pending or held claim: it may ask
 * for the lock again before it has released the lost hold.
 * - lock_index_find(): the pending or held claim, else the tomb, else NULL.
 * - lock_index_tomb(): the tomb, or NULL. */
struct lock_claim *lock_index_find(const struct ls_mutex *mutex, uint64_t owner);
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

/* ---- packet_size.c: what servers take in one request ---- */

/* Return whether SetWatches has room for another claim; for a pending claim's watch on its predecessor; for
 * watches of all holders of a mutex on their own nodes. */
bool lock_packets_watch_fits(const struct lock_place *place);
bool lock_packets_ahead_fits(const struct lock_claim *claim);
bool lock_packets_ears_fit(const struct ls_mutex *mutex);

/* - lock_packets_reserve(): reserves what a claim needs in its present state.
 * - lock_packets_free(): gives all of it back. */
void lock_packets_reserve(struct lock_claim *claim);
void lock_packets_free(struct lock_claim *claim);

/* - lock_packets_watch_size(): returns the bytes of SetWatches for a watch on a path of `path_size` bytes, to
 *   which it adds the chroot.
 * - lock_packets_fits(): returns whether `more` bytes fit beside the reserved ones. */
uint32_t lock_packets_watch_size(const struct ls_session *session, size_t path_size);
bool lock_packets_fits(const struct ls_session *session, uint64_t more);

/* Returns whether a contender node with contents of this size can be created. */
bool lock_packets_create_fits(const struct ls_mutex *mutex, size_t contents_size);

/* ---- blocking.c ---- */

/* Takes the environment's mutex for a call that may wait. Returns NULL and takes nothing if `mutex` is closed
 * (*err = LS_ECLOSED) or a callback makes the call (LS_EDEADLK). */
struct ls_session *lock_blocking_begin(const struct ls_mutex *mutex, int *err);

/* Does what ls_mutex_release() does, for any owner. Takes the environment's mutex itself. */
int lock_blocking_release(struct ls_mutex *mutex, uint64_t owner);

/* Ends a blocking call that was started with the result `rc`, and closes its waiter. Sleeps until the answer
 * if rc is LS_OK. Returns the answer's code, or `rc` if it is not LS_OK. The caller must not use the session
 * after it, which another thread may have closed. */
int lock_blocking_finish(struct ls_session *session, struct lock_call *call, int rc);

void lock_blocking_drained(struct ls_session *session);

/* ---- multi.c ---- */

/* Returns whether `ops` and `results` are not NULL, `count` is at least 1, and the client library accepts the
 * type and path of each operation. */
bool lock_multi_is_valid(int count, const zoo_op_t *ops, const zoo_op_result_t *results);

/* Sends valid operations. Returns LS_OK, or LS_ECLOSED or LS_EZK, after which no completion comes. */
int lock_multi_send(const struct ls_session *session, int count, const zoo_op_t *ops,
                    zoo_op_result_t *results, void_completion_t completion, const void *data);

/* ---- delivery.c ---- */

/* The link of a session, as its events tell it to listeners. */
enum lock_link {
    LOCK_LINK_NONE, /* no ZooKeeper session */
    LOCK_LINK_UP,
    LOCK_LINK_DOWN,
    LOCK_LINK_READ_ONLY,
};

/* - lock_queue_ref(): converts a pointer to constant data, or NULL, to a distance that does not depend on the
 *   load address.
 * - lock_queue_deref(): converts the distance to the pointer. */
struct ls_ref lock_queue_ref(const void *constant);
const void *lock_queue_deref(struct ls_ref ref);

void lock_queue_event(struct ls_session *session, enum ls_session_event event);

/* Adds a note to a claim, and puts the claim into the queue. Does nothing after the close of its mutex. */
void lock_queue_note(struct lock_claim *claim, uint16_t note);

/* Ends an entry into the session: a call, a completion, an event or a timer. Unless a thread does so already,
 * makes all deliveries that are due, and drops the mutex around each callback. Claims may be freed meanwhile.
 * Each other ..._deliver() delivers one entry of its kind, and returns false if none was due. */
void lock_queue_deliver(struct ls_session *session);

/* Ends an entry of a blocking call. A timer's thread calls the callbacks, so that callbacks of other owners
 * do not delay this thread. If no timer can be had, or the session is closed, this thread calls them. */
void lock_queue_hand_over(struct ls_session *session);

/* Sleeps while holds(about) is true. The thread asks again after lock_queue_wake(). */
void lock_queue_wait(struct ls_session *session, bool (*holds)(const void *about), const void *about);

/* Sleeps as lock_queue_wait() does, and asks again after each entry into the session too. */
void lock_queue_wait_watching(struct ls_session *session, bool (*holds)(const void *about),
                              const void *about);

/* - lock_queue_wait_told(): sleeps until no thread calls callbacks of the session.
 * - lock_queue_wait_quiet(): sleeps until, besides, no thread opens or closes a handle. */
void lock_queue_wait_told(struct ls_session *session);
void lock_queue_wait_quiet(struct ls_session *session);

/* Sleeps until no other thread sleeps in lock_queue_wait...(), except in this function. */
void lock_queue_wait_alone(struct ls_session *session);

/* Wakes all threads that sleep in lock_queue_wait...(). */
void lock_queue_wake(struct ls_session *session);

/* ---- requests.c ---- */

/* Returns the ACL for nodes that a mutex creates: of the mutex's options, else of the session's options, else
 * the open one. `mutex` may be NULL. */
const struct ACL_vector *lock_request_acl(const struct ls_session *session, const struct ls_mutex *mutex);

/* Each sends one request, and marks it in claim->in_flight if the client takes it. Returns ZooKeeper's
 * immediate code, or ZMARSHALLINGERROR if memory is short. */
int lock_request_create(struct lock_claim *claim, string_stat_completion_t completion);
int lock_request_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_sync(struct lock_claim *claim, string_completion_t completion);
int lock_request_exists(struct lock_claim *claim, stat_completion_t completion);
int lock_request_get(struct lock_claim *claim, data_completion_t completion);

/* Sends a list of the claim's place that leaves a watch, marked with LOCK_GET. */
int lock_request_watch_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_delete(struct lock_claim *claim, void_completion_t completion);
int lock_request_unwatch(struct lock_claim *claim, void_completion_t completion);

/* Removes the session's watches on a node's data. Expects that no other claim or count of the session needs
 * one on it. */
int lock_request_remove_watch(const struct ls_session *session, const char *path,
                              void_completion_t completion, const void *data);

/* Read the claim's own node with a watch; remove that watch. The read is marked in claim->ear alone. */
int lock_request_listen(struct lock_claim *claim, data_completion_t completion);
int lock_request_unlisten(struct lock_claim *claim, void_completion_t completion);

/* Creates one ancestor, the first `size` bytes of the place's path, and counts it in claim->ancestors. */
int lock_request_ancestor(struct lock_claim *claim, size_t size, string_completion_t completion);

/* Writes the path of the claim's own node. Returns false if it does not fit. */
bool lock_request_path(const struct lock_claim *claim, char *out, size_t size);

/* - lock_request_is_ahead(): returns whether `path` is that of the claim's predecessor (`ahead`). For a
 *   lease, returns whether `path` is that of the list, and its watch on the list is set or to be set.
 * - lock_request_is_own(): returns whether `path` is that of the claim's own node. */
bool lock_request_is_ahead(const struct lock_claim *claim, const char *path);
bool lock_request_is_own(const struct lock_claim *claim, const char *path);

/* ---- mutex.c ---- */

/* Sends the requests that the claim's state asks for, as far as the session allows. May free the claim. */
void lock_mutex_go(struct lock_claim *claim);

/* Handles the loss of the session, its failure for good, or its close. A pending claim queues again, or ends
 * if it must not wait. A hold becomes a tomb, or ends if its owner was not told of it. A lease that has a
 * taker goes to the janitor. */
void lock_mutex_session_lost(struct lock_claim *claim);

/* Notes for on_lost, if the mutex has it, that the hold with this token has ended without its release. */
void lock_mutex_note_loss(struct lock_claim *claim, int64_t token);

/* Handles the deletion of a held claim's node by another client: the hold is lost. */
void lock_mutex_node_gone(struct lock_claim *claim);

/* Lets a pending claim whose node is gone queue again, under a new attempt id. */
void lock_mutex_begin_again(struct lock_claim *claim);

/* Handles an event on `path`. If the claim's watch on its predecessor, or of a lease on the list, is set
 * there, the claim goes on. An event of the watch on its own node goes to revoke.c. Other events are ignored.
 * May free the claim. */
void lock_mutex_hear(struct lock_claim *claim, int type, const char *path);

/* Ends a pending claim without the lock: answers its owner, or its taker, and leaves node and watch to the
 * janitor. */
void lock_mutex_fail(struct lock_claim *claim, int rc, int zk_rc);

/* Leaves the node and watch of a claim to the janitor, without an answer and without a request yet. */
void lock_mutex_leave_over(struct lock_claim *claim);

/* Tells the owner of a held claim that it was granted. */
void lock_mutex_answer(struct lock_claim *claim);

/* Lets the retry timer repeat the request of a pending claim. Fails the claim if that cannot be. */
void lock_mutex_retry(struct lock_claim *claim, int zk_rc);

bool lock_mutex_pending(const struct lock_claim *claim);

/* Sets *view to a list of the claim's place as the claim sees it. */
void lock_mutex_view(const struct lock_claim *claim, const struct String_vector *list,
                     struct lock_view *view);

/* Completions that the janitor uses too. */
void lock_mutex_on_sync(int rc, const char *value, const void *data);
void lock_mutex_on_list(int rc, const struct String_vector *list, const void *data);

/* The watcher of all contender nodes on a handle that the session opened. */
void lock_mutex_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* - lock_mutex_enter(): begins a completion, and takes the environment's mutex.
 * - lock_mutex_leave(): ends a completion or watcher. Calls lock_queue_deliver(), and drops the mutex. */
struct lock_claim *lock_mutex_enter(const void *data);
void lock_mutex_leave(struct ls_session *session);

/* ---- acquire.c ---- */

/* Returns a new claim in LOCK_CLAIMING, without a request yet; NULL if memory is short. Expects that the
 * owner has no other claim on the mutex but a tomb, and that a watch_id is free. */
struct lock_claim *lock_mutex_new_claim(struct ls_mutex *mutex, uint64_t owner, int timeout_ms);

/* Begin an acquire or a release, with an optional blocking caller. An acquire returns 1 if the owner held the
 * mutex already, and has one more level now. */
int lock_mutex_acquire(struct ls_mutex *mutex, uint64_t owner, int timeout_ms, struct lock_call *call);
int lock_mutex_release(struct ls_mutex *mutex, uint64_t owner, struct lock_call *call);

/* Begins an acquire. If `units` is not 0, the claim is a taker's: it is granted when `units` leases with the
 * numbers from `owner` on are granted. */
int lock_mutex_acquire_units(struct ls_mutex *line, uint64_t owner, uint32_t units, int timeout_ms,
                             struct lock_call *call);

/* Returns whether an owner is the number of a thread other than the calling one. */
bool lock_mutex_is_of_another_thread(struct ls_env *env, uint64_t owner);

/* Ends a claim whose mutex, or session on loan, is being closed. A pending claim is answered with LS_ECLOSED.
 * The janitor gives a held one back, and a tomb is dropped. */
void lock_mutex_end(struct lock_claim *claim);

/* Ends a claim in LOCK_TOMB. Frees it, unless a note or the answer to a request is still to come. */
void lock_mutex_drop_tomb(struct lock_claim *claim);

/* ---- mutex_query.c ---- */

/* Returns whether a path has a form that the client accepts (F55), and no control character of ASCII. Its
 * size and its number of nodes must be within the bounds of mutex.h. */
bool lock_mutex_path_is_valid(const char *path);

/* Does what ls_mutex_init() does, for contenders of this role. Takes the environment's mutex itself. */
int lock_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path, enum lock_role role,
                    const struct ls_mutex_options *options);

/* Undoes lock_mutex_init() of a mutex that was never used. A callback may call it. Takes the environment's
 * mutex. */
void lock_mutex_undo_init(struct ls_mutex *mutex);

/* Takes the environment's mutex and returns the session. Returns NULL and takes nothing if `mutex` is
 * closed. */
struct ls_session *lock_mutex_lock(const struct ls_mutex *mutex);

/* Returns the calling thread's number as an owner; 0, the number of no owner, if `mutex` is closed. Needs no
 * mutex of the environment. */
uint64_t lock_mutex_me(const struct ls_mutex *mutex);

/* Returns the owner's claim if the owner holds the mutex and was told of the grant, else NULL. */
const struct lock_claim *lock_mutex_holder(const struct ls_mutex *mutex, uint64_t owner);

int lock_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size);

/* ---- rwlock.c ---- */

/* Returns LS_OK if an owner may ask for this half of a read-write lock now, or the mutex is no half. Returns
 * LS_EDEADLK for the write lock if the owner has or awaits the read lock. Returns LS_EALREADY for the read
 * lock if the owner awaits the write lock. */
int lock_rwlock_refuses(const struct ls_mutex *mutex, uint64_t owner);

/* Returns whether a held claim is one of a write lock whose owner has a pending claim of the read lock. */
bool lock_rwlock_is_needed(const struct lock_claim *claim);

/* Returns the claim by which the owner of a reader's claim holds the write lock, or NULL. */
const struct lock_claim *lock_rwlock_writer(const struct lock_claim *claim);

bool lock_rwlock_stands(const struct lock_claim *writer, const struct String_vector *list);

/* ---- semaphore.c ---- */

/* Does what ls_semaphore_acquire_start() does for an open semaphore, with an optional blocking caller. */
int lock_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms,
                           struct lock_call *call);

bool lock_semaphore_is_taker(const struct lock_claim *claim);

/* Returns the mutex that the owner of a claim knows: for a taker, the one of the leases; else the claim's. */
struct ls_mutex *lock_semaphore_face(const struct lock_claim *claim);

/* Returns whether the mutex is that of a semaphore's leases, and the semaphore's line is closed or being
 * closed. */
bool lock_semaphore_is_closing(const struct ls_mutex *mutex);

void lock_semaphore_take(struct lock_claim *claim);

/* Handles the grant, or the failure, of a lease that has a taker. */
void lock_semaphore_answered(struct lock_claim *lease, int rc, int zk_rc);

/* Checks a list that is about to grant `lease` for the granted leases of the same taker. A lease whose node
 * is missing in the list goes back to LOCK_SEARCHING. */
void lock_semaphore_look(struct lock_claim *lease, const struct String_vector *list);

/* Notes that the owner of the first of several leases has been told of all of them. */
void lock_semaphore_told(struct lock_claim *first);

/* Leaves the leases of a taker that fails, or queues again, to the janitor. None is freed before
 * lock_queue_deliver(). */
void lock_semaphore_give_up(struct lock_claim *taker);

/* Returns whether the claim is a taker that may hold some of its leases and wait for the others. */
bool lock_semaphore_may_lack_some(const struct lock_claim *claim);

/* Handles the deletion of a taker's node in the line: the taker gives its leases back, and queues again. */
void lock_semaphore_begin_again(struct lock_claim *taker);

/* Ends a lease that has a taker, without an answer. Called when the session is lost. */
void lock_semaphore_lose(struct lock_claim *lease);

/* Returns the capacity; sets a valid one. The semaphore must be open. */
uint32_t lock_semaphore_capacity(const struct ls_semaphore *semaphore);
void lock_semaphore_resize(struct ls_semaphore *semaphore, uint32_t capacity);

/* Returns whether more children stand before the lease than the largest capacity so far and the other leases
 * of its taker account for. */
bool lock_semaphore_is_exceeded(const struct lock_claim *lease, const struct lock_view *view);

/* Returns whether a list admits a lease: fewer children than the capacity stand before its node. */
bool lock_semaphore_admits(const struct lock_claim *lease, const struct lock_view *view);

/* ---- count.c ---- */

/* - lock_count_go(): sends the requests that the session's counts ask for.
 * - lock_count_again(): sends the failed ones too, for the retry timer and for a new connection. */
void lock_count_go(struct ls_session *session);
void lock_count_again(struct ls_session *session);

/* - lock_count_on_event(): the watcher of count nodes on a handle that the session opened.
 * - lock_count_hear(): handles an event of a node's data or existence on any handle. */
void lock_count_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);
void lock_count_hear(struct ls_session *session, const char *path);

void lock_count_session_lost(struct ls_session *session);
void lock_count_drained(struct ls_session *session);

/* - lock_count_end(): ends the count of a semaphore that is being closed.
 * - lock_count_end_all(): ends all counts of a loan that is being ended. */
void lock_count_end(struct ls_semaphore *semaphore);
void lock_count_end_all(struct ls_session *session);

uint64_t lock_count_reserved(const struct ls_session *session);
bool lock_count_in_flight(const struct ls_session *session);

/* Returns whether a change of a capacity waits for its callback. */
bool lock_count_waiting(const struct ls_session *session);
bool lock_count_deliver(struct ls_session *session);

/* ---- parents.c ---- */

void lock_parents_go(struct lock_claim *claim);

/* ---- janitor.c ---- */

/* Gives a claim that has ended, or whose release is answered early, to the janitor. */
void lock_janitor_inherit(struct lock_claim *claim);

/* If the session is ready, sends the removals of the watch and the node that an ended or releasing claim has
 * left. If it is not ready, answers such a release with LS_EUNSURE. If nothing is left, finishes the claim,
 * which may free it. */
void lock_janitor_go(struct lock_claim *claim);

/* Notes that the watch has fired, or is removed. */
void lock_janitor_unwatched(struct lock_claim *claim);

void lock_janitor_unwatch(struct lock_claim *claim);

void lock_janitor_again(struct lock_claim *claim);

/* Answers a release with LS_EUNSURE if the delete of its node has no answer yet. */
void lock_janitor_unsure(struct lock_claim *claim);

/* Answers an asynchronous release at once, because its mutex is being closed. The janitor completes it. */
void lock_janitor_hurry(struct lock_claim *claim);

/* Stops the janitor's timer and its back-off, at a new connection or at the end of the session. */
void lock_janitor_calm(struct ls_session *session);

/* Starts the janitor's timer if there was no memory for it before. */
void lock_janitor_arm(struct ls_session *session);

/* Handles the end of a search flight of an ended claim. */
void lock_janitor_searched(struct lock_claim *claim, int sync_rc, int list_rc,
                           const struct String_vector *list);

/* Frees a claim if it is in LOCK_DONE, and has no request in flight and no undelivered note. */
void lock_janitor_reap(struct lock_claim *claim);

/* ---- revoke.c ---- */

/* Reads the claim's own node with a watch, if the claim needs that watch and is deaf, and the session is
 * ready. */
void lock_revoke_go(struct lock_claim *claim);

/* - lock_revoke_listens(): returns whether the claim's watch on its own node is set, and on this path.
 * - lock_revoke_heard(): handles the event that consumed it. */
bool lock_revoke_listens(const struct lock_claim *claim, const char *path);
void lock_revoke_heard(struct lock_claim *claim, int type);

/* Repeats a read that has failed. Called by the retry timer and at a new connection. */
void lock_revoke_again(struct lock_claim *claim);

/* - lock_revoke_lost(): handles the loss of the session, and of the watch with it.
 * - lock_revoke_forget(): handles the close of the handle, which ends a read. */
void lock_revoke_lost(struct lock_claim *claim);
void lock_revoke_forget(struct lock_claim *claim);

/* Removes the watch on the own node of an ended claim whose node could not be deleted. */
void lock_revoke_unlisten(struct lock_claim *claim);

void lock_revoke_drained(struct ls_session *session);
bool lock_revoke_deliver(struct ls_session *session);

/* ---- participants.c ---- */

void lock_participants_drained(struct ls_session *session);

/* Starts a survey. If `call` is NULL, the answer goes to on_participants with `user`. Otherwise the code goes
 * to `call` and the list to `out`. */
int lock_participants_start(struct ls_mutex *mutex, void *user, struct lock_call *call,
                            struct ls_participants *out);

void lock_participants_end(struct ls_mutex *mutex);

/* Returns whether `completion` is that of the list of a survey. A survey reads every name. */
bool lock_participants_read(void (*completion)(void));

void lock_participants_canon(const struct ls_session *session, struct ls_rename *rename);
bool lock_participants_deliver(struct ls_session *session);

#endif
