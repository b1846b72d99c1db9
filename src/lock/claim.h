/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A claim: one attempt of one owner to hold one mutex, from the acquire until its node and watch are gone.
 * What the files of this folder share. Everything here expects the environment's mutex to be held.
 *
 * A claim lies in its session's list. While it is in a state up to LOCK_HELD, or LOCK_TOMB, it is its
 * owner's; from LOCK_RELEASING on nobody can reach it but its own completions, the session and the janitor.
 * It is freed when it is LOCK_DONE, no request of it is in flight (the read of its own node included) and no
 * answer waits for delivery: a completion may carry its address. */
#ifndef LOCK_CLAIM_H
#define LOCK_CLAIM_H

#include "names.h"

#include <lockstep/mutex.h>
#include <lockstep/semaphore.h>
#include <lockstep/sometimes.h>

/* ---- types ---- */

enum lock_state {
    LOCK_CLAIMING = 1, /* create and list */
    LOCK_PREPARING,    /* create the missing ancestors */
    LOCK_SEARCHING,    /* sync and list: has our lost create been applied? */
    LOCK_IDENTIFYING, /* exists and list: is the node that was found this session's, and what is its czxid? */
    LOCK_LISTING,     /* list, with a sync where the belief needs one */
    LOCK_ARMING,      /* get with a watch on the nearest predecessor; of a lease, a list with a watch */
    LOCK_WAITING,     /* the watch stands */
    LOCK_TAKING,      /* first in the line of a semaphore; leases are on the way; see semaphore.c */
    LOCK_HELD,        /* granted */
    LOCK_TOMB,        /* was held and went with its session; its owner has not heard of it by a release */
    LOCK_RELEASING,   /* the delete of a release is in flight */
    LOCK_LEFTOVER,    /* ended without the lock: the janitor's */
    LOCK_DONE,        /* nothing left */
};

/* Requests in flight, one bit each. */
enum {
    LOCK_FIRST = 1,   /* create, sync or exists: the first request of a flight */
    LOCK_LIST = 2,    /* the list behind it */
    LOCK_GET = 4,     /* the get, or the list, that sets the watch */
    LOCK_DELETE = 8,  /* */
    LOCK_UNWATCH = 16 /* the removal of the watch */
};

/* Answers that wait for delivery. */
enum {
    LOCK_NOTE_DONE = 1,
    LOCK_NOTE_FREED = 2,
    LOCK_NOTE_FOREIGN = 4,
    LOCK_NOTE_LEFT = 8,
    LOCK_NOTE_REVOKE = 16,
    LOCK_NOTE_GONE = 32,
    LOCK_NOTE_LOST = 64,
    LOCK_NOTE_GO = 128, /* nothing to tell: lock_mutex_go() is to be called, which may free the claim */
    LOCK_NOTE_CAPACITY = 256,
};

/* How a holder hears of requests to give the lock back; see revoke.c. */
enum lock_ear {
    LOCK_EAR_DEAF = 0,  /* no watch on our node, and no read under way */
    LOCK_EAR_READING,   /* the read that sets the watch is in flight */
    LOCK_EAR_LISTENING, /* the watch stands */
    LOCK_EAR_LATER,     /* the read failed and waits for the retry timer or the next connection */
    LOCK_EAR_OFF,       /* our node is gone or may not be read: there is nothing to hear */
};

/* So many lost creates in a row may have been chance; the next ones wait, and longer after each, up to so many. */
enum { LOCK_LOST_SUSPECT = 8, LOCK_LOST_MAX = 20 };

/* A blocking caller, on its stack. */
struct lock_call {
    struct ls_waiter waiter;
    int rc;
    int zk_rc;
    uint32_t depth; /* of an acquire that was granted, likewise its token */
    int64_t token;
    bool done;
};

/* A claim's place in a tree of its session; see index.c. */
struct lock_branch {
    struct lock_claim *left;
    struct lock_claim *right;
};

/* The path of a mutex, and what its contenders are there. Shared by the mutex and its claims; the last one
 * frees it. */
struct lock_place {
    struct ls_session *session;
    uint32_t users;
    uint32_t capacity; /* leases of a semaphore; 0 of other roles */
    uint32_t largest;  /* the largest capacity so far; 0 of other roles */
    uint16_t size;     /* bytes in path without the final 0 */
    uint16_t role;     /* enum lock_role */
    char path[];
};

struct lock_claim {
    struct lock_claim *next;      /* in the session's list */
    struct lock_claim *previous;  /* likewise */
    struct lock_claim *note_next; /* in the session's queue of notes */
    struct lock_place *place;
    struct ls_mutex *mutex;     /* NULL once the mutex is closed */
    struct lock_call *call;     /* the blocking caller that waits for the answer */
    struct lock_claim *taker;   /* of a lease that its owner has not got yet: who takes it; see semaphore.c */
    char *ahead;                /* name of the predecessor, from LOCK_ARMING until its watch is gone */
    struct lock_branch tree[2]; /* in the session's trees, by watch_id and by owner */
    uint64_t owner;
    int64_t czxid;       /* of our node, once known; of a lost hold until LOCK_NOTE_LOST is told */
    uint8_t attempt[16]; /* in the node's name; new for each acquire and each session */
    struct ls_timer deadline;
    int32_t sequence; /* of our node, if named */
    int32_t rc;       /* the answer */
    int32_t zk_rc; /* ZooKeeper's code behind it; until our node is known, the first refusal of an ancestor */
    int32_t first_rc; /* how the first request of the flight ended */
    uint32_t depth;
    uint32_t
        units; /* of a taker: leases that it takes; of the first of several leases, how many, until told */
    uint32_t granted; /* of a taker: how many of them are granted */
    uint32_t
        reserved;   /* bytes of SetWatches, for the longest watch that this claim may have; see packets.c */
    uint32_t below; /* claims below this one in the tree by watch_id */
    uint16_t watch_id; /* the watcher's context: lowest number that no other claim of the session has */
    uint16_t notes;    /* LOCK_NOTE_... */
    uint8_t state;     /* enum lock_state */
    uint8_t in_flight; /* requests, LOCK_FIRST ... */
    uint8_t ancestors; /* creates of ancestors in flight */
    uint8_t lost; /* creates in a row that were lost with the link and never applied; at most LOCK_LOST_MAX */
    uint8_t named : 1;      /* our node exists as far as we know, and this is its sequence */
    uint8_t maybe : 1;      /* a create was sent and its outcome is unknown */
    uint8_t watching : 1;   /* our watch stands on `ahead`; of a lease, on the list of its place */
    uint8_t searching : 1;  /* the flight is a sync and a list after it: its list can prove absence */
    uint8_t retry : 1;      /* waits for the retry timer, or for the janitor's */
    uint8_t try_only : 1;   /* do not wait */
    uint8_t told : 1;       /* the owner has its grant */
    uint8_t dirty : 1;      /* ended, and could not be finished at once */
    uint8_t ear : 3;        /* enum lock_ear */
    uint8_t containers : 1; /* LOCK_PREPARING: the ancestors that are on their way are containers */
    uint8_t aside : 1;      /* LOCK_CLAIMING: waits for the create timer */
    uint8_t under : 1;      /* our node was created in the place of the owner's write lock; see rwlock.c */
};

/* What a code from ZooKeeper means for what we asked. */
enum lock_verdict {
    LOCK_OK,      /* done */
    LOCK_UNKNOWN, /* done or not: -4, -7, -116, -2 (F9, F79) */
    LOCK_DYING,   /* not done, and the session is about to be told dead: -112, -9 (F16, F30) */
    LOCK_AGAIN,   /* not done, may work later */
    LOCK_ABSENT,  /* -101 */
    LOCK_REFUSED, /* anything else */
};

/* ---- session.c ---- */

/* True if a request ended without a reply, or with the news that the session is over. */
static inline bool lock_is_unsure(enum lock_verdict verdict)
{
    return verdict == LOCK_UNKNOWN || verdict == LOCK_DYING;
}

/* The verdict of a code, and whether the link is up so that requests may be sent. */
enum lock_verdict lock_session_verdict(int zk_rc);
bool lock_session_ready(const struct ls_session *session);

/* Accounts for a write or sync, which carry the belief (D12): before it is handed to the client, when the
 * client has taken or refused it (`stamped` is what the first returned, `zk_rc` what the client said), and when it is
 * answered. The mutex stays held from the first to the second. */
bool lock_session_stamp(struct ls_session *session);
void lock_session_sent(struct ls_session *session, bool stamped, int zk_rc);
void lock_session_answered(struct ls_session *session, int zk_rc);

/* Where nobody holds or waits nothing rests on the belief, and the create of the next claim renews it: forgets it. */
void lock_session_unclaimed(struct ls_session *session);

/* Ms for which the belief is still good enough, 0 if it is not; whether it should be renewed soon. */
int lock_session_belief_left_ms(const struct ls_session *session);
bool lock_session_stale(const struct ls_session *session);

/* Asks for a sign of life, if none is asked for already and the session is connected. */
void lock_session_prove(struct ls_session *session);

/* A lock was granted: keeps the session fresh if asked to. */
void lock_session_granted(struct ls_session *session);

/* Starts the retry timer if it is not running. False when the policy is exhausted or no timer can be had;
 * *err says which. */
bool lock_session_retry(struct ls_session *session, int *err);

/* A claim has got on: the next failure is the first in a row. A sync that was answered is no progress, or a
 * failure behind it would be repeated for ever and without back-off. */
void lock_session_progress(struct ls_session *session);

/* A create that was lost with the link many times in a row may be what breaks it: its claim is set aside, and such claims go
 * on one by one, by a timer of their own. The delay is the retry policy's. False: it is exhausted, or there is no timer;
 * *err says which. The second: the server has answered to one of them. */
bool lock_session_set_aside(struct lock_claim *claim, int *err);
void lock_session_acquit(struct lock_claim *claim);

/* How long the janitor waits after session->sweeps failures in a row: as the policy says, but for ever. */
uint32_t lock_session_sweep_delay_ms(struct ls_session *session);

/* Does something for each claim, oldest first. A step may free its claim, but no other one. */
void lock_session_each(struct ls_session *session, void (*step)(struct lock_claim *claim));

/* A handle is open, or on loan, and not known to be dead. */
bool lock_session_is_open(const struct ls_session *session);

/* A session event of the present handle. */
void lock_session_event(struct ls_session *session, zhandle_t *zh, int state);

/* The handle is closed: what it has not answered until now it never will (F21). */
void lock_session_drained(struct ls_session *session);

/* The session that a watcher's handle belongs to, or NULL. */
struct ls_session *lock_session_of(zhandle_t *zh);

/* The listener is called for no further event. A call may be under way. */
void lock_session_forget_listener(struct ls_session *session, struct ls_session_listener *listener);

/* ---- loan.c ---- */

/* The watcher of all nodes on a handle on loan; the context is the loan. */
void lock_loan_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* Ends all claims, and waits until nothing is in flight and, if connected, nothing is left over. LS_OK;
 * LS_EUNSURE: nodes are left to the handle's end; LS_ELOST: the handle died meanwhile and may not have
 * answered all. */
int lock_loan_end(struct ls_session *session);

/* Forgets the handle, which will not answer any more, and what was in flight. */
void lock_loan_give_back(struct ls_session *session);

/* ---- access.c ---- */

/* Whether the options of access make sense, and the client library can do what they ask for. */
int lock_access_check(const struct ls_session_options *options);

/* Whether the client library finds nothing wrong with the form of a connect string. */
bool lock_access_hosts_are_valid(const char *hosts);

/* zookeeper_init(), or the same over TLS. Expects the mutex to be dropped. */
zhandle_t *lock_access_open(struct ls_session *session, watcher_fn watcher, int flags);

/* Gives the handle the credentials that it does not have yet. Returns ZooKeeper's immediate code. */
int lock_access_add_auths(struct ls_session *session, zhandle_t *zh);

/* ---- index.c ---- */

/* The lowest number that no claim of the session has; 0: all are taken. */
uint16_t lock_index_free_watch(const struct ls_session *session);

/* The claim with this number, or NULL. */
struct lock_claim *lock_index_watcher(const struct ls_session *session, uint16_t watch_id);

/* The owner's claim on the mutex: the one that is pending or held, else its tomb, else NULL. A tomb is older than what its
 * owner has asked for since. */
struct lock_claim *lock_index_find(const struct ls_mutex *mutex, uint64_t owner);

/* The owner's tomb, or NULL. */
struct lock_claim *lock_index_tomb(const struct ls_mutex *mutex, uint64_t owner);

/* Whether any claim of the session is in a state up to LOCK_HELD. */
bool lock_index_any_alive(const struct ls_session *session);

/* A new claim with place, mutex, owner and watch_id; one that is its owner's no more, and still has its mutex; one that
 * is about to be freed and was disowned before. */
void lock_index_add(struct lock_claim *claim);
void lock_index_disown(struct lock_claim *claim);
void lock_index_remove(struct lock_claim *claim);

/* ---- packets.c: what servers take in one request ---- */

/* Whether the watch of one more claim fits. */
bool lock_packets_watch_fits(const struct lock_place *place);

/* Whether the claim, which is pending, can watch the predecessor that it has now; whether the holders of a mutex can
 * watch their own nodes. */
bool lock_packets_ahead_fits(const struct lock_claim *claim);
bool lock_packets_ears_fit(const struct ls_mutex *mutex);

/* Reserves what a claim needs in its present state; gives it all back. */
void lock_packets_reserve(struct lock_claim *claim);
void lock_packets_free(struct lock_claim *claim);

/* Bytes of SetWatches for a watch on a path of this size; whether so many more fit. */
uint32_t lock_packets_watch_size(const struct ls_session *session, size_t path_size);
bool lock_packets_fits(const struct ls_session *session, uint64_t more);

/* Whether the contender node with contents of this size can be created. */
bool lock_packets_create_fits(const struct ls_mutex *mutex, size_t contents_size);

/* ---- blocking.c ---- */

/* Takes the environment's mutex for a call that may wait. NULL, and nothing is taken: *err says why. */
struct ls_session *lock_blocking_begin(const struct ls_mutex *mutex, int *err);

/* Does what ls_mutex_release() does for any owner. */
int lock_blocking_release(struct ls_mutex *mutex, uint64_t owner);

/* Ends a blocking call, which is under way if rc is LS_OK: waits for its answer and closes its waiter. Returns the answer, or
 * the other rc. The session may be gone afterwards, if another thread has closed it. */
int lock_blocking_finish(struct ls_session *session, struct lock_call *call, int rc);

/* The handle is closed: guarded writes that were never answered end now. */
void lock_blocking_drained(struct ls_session *session);

/* ---- multi.c ---- */

/* Whether the client library takes these operations, however it is connected. */
bool lock_multi_is_valid(int count, const zoo_op_t *ops, const zoo_op_result_t *results);

/* Sends operations that are valid. LS_OK, and the completion follows; LS_ECLOSED or LS_EZK, and none does. */
int lock_multi_send(const struct ls_session *session, int count, const zoo_op_t *ops,
                    zoo_op_result_t *results, void_completion_t completion, const void *data);

/* ---- queue.c: what users are told ---- */

struct ls_ref lock_queue_ref(const void *constant);
const void *lock_queue_deref(struct ls_ref ref);

void lock_queue_event(struct ls_session *session, enum ls_session_event event);
void lock_queue_note(struct lock_claim *claim, uint16_t note);

/* Ends an entry into the session. Calls callbacks until nothing is queued, dropping the mutex around each; does
 * nothing if a thread is already at it. Claims may be freed meanwhile. */
void lock_queue_deliver(struct ls_session *session);

/* The same for a blocking call. Its thread calls nobody back, or it would go on with others' callbacks when its own answer
 * is there: a timer's thread does. Without memory for the timer it delivers after all. */
void lock_queue_hand_over(struct ls_session *session);

/* Sleeps while holds(about) is true. */
void lock_queue_wait(struct ls_session *session, bool (*holds)(const void *about), const void *about);

/* Sleeps likewise. Each entry into the session wakes the thread, to ask holds(about) again. */
void lock_queue_wait_watching(struct ls_session *session, bool (*holds)(const void *about),
                              const void *about);

/* Sleeps until no thread calls callbacks; or until, besides, no thread opens or closes a handle. */
void lock_queue_wait_told(struct ls_session *session);
void lock_queue_wait_quiet(struct ls_session *session);

/* Sleeps until no other thread sleeps on this session: its memory may go then. */
void lock_queue_wait_alone(struct ls_session *session);

/* Wakes all who sleep so, to look again. */
void lock_queue_wake(struct ls_session *session);

/* ---- requests.c: sending ---- */

/* The ACL of the nodes that a mutex creates; `mutex` may be NULL. */
const struct ACL_vector *lock_request_acl(const struct ls_session *session, const struct ls_mutex *mutex);

/* Each sends one request and marks it in claim->in_flight; returns ZooKeeper's immediate code. */
int lock_request_create(struct lock_claim *claim, string_stat_completion_t completion);
int lock_request_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_sync(struct lock_claim *claim, string_completion_t completion);
int lock_request_exists(struct lock_claim *claim, stat_completion_t completion);
int lock_request_get(struct lock_claim *claim, data_completion_t completion);

/* Sends a list of the claim's place that leaves a watch; it is marked as a get is. */
int lock_request_watch_list(struct lock_claim *claim, strings_completion_t completion);
int lock_request_delete(struct lock_claim *claim, void_completion_t completion);
int lock_request_unwatch(struct lock_claim *claim, void_completion_t completion);

/* Takes back the watch on a node's data that the session alone has on this path, and one path has once. */
int lock_request_remove_watch(const struct ls_session *session, const char *path,
                              void_completion_t completion, const void *data);

/* The same for our own node; the read is marked in claim->ear. */
int lock_request_listen(struct lock_claim *claim, data_completion_t completion);
int lock_request_unlisten(struct lock_claim *claim, void_completion_t completion);

/* Creates one ancestor, the first `size` bytes of the place's path; counts it in claim->ancestors. */
int lock_request_ancestor(struct lock_claim *claim, size_t size, string_completion_t completion);

/* Writes place/<our name>. False if it does not fit. */
bool lock_request_path(const struct lock_claim *claim, char *out, size_t size);

/* True if `path` is what the claim watches while it waits: our predecessor's, or the place of a lease. The
 * second: if it is our own node's. */
bool lock_request_is_ahead(const struct lock_claim *claim, const char *path);
bool lock_request_is_own(const struct lock_claim *claim, const char *path);

/* ---- mutex.c ---- */

/* Does what the claim's state asks for, as far as possible now. Any call may free the claim. */
void lock_mutex_go(struct lock_claim *claim);

/* The session died, or failed for good: the claim queues again, ends, or becomes a tomb. */
void lock_mutex_session_lost(struct lock_claim *claim);

/* A hold with this token has ended without its release: its owner is told, if the mutex has on_lost. */
void lock_mutex_note_loss(struct lock_claim *claim, int64_t token);

/* Somebody else has deleted the node of a held claim: the hold is lost, and the claim becomes a tomb. */
void lock_mutex_node_gone(struct lock_claim *claim);

/* A pending claim whose node is gone queues again, under another attempt id. */
void lock_mutex_begin_again(struct lock_claim *claim);

/* An event on a contender's node: wakes the claim if it waits for that node, or hears of its own. It may be freed. */
void lock_mutex_hear(struct lock_claim *claim, int type, const char *path);

/* Ends a pending claim without the lock: answers its owner, leaves the rest to the janitor. */
void lock_mutex_fail(struct lock_claim *claim, int rc, int zk_rc);

/* Leaves what a claim may have left behind to the janitor, without an answer and without a request yet. */
void lock_mutex_leave_over(struct lock_claim *claim);

/* Answers a grant. */
void lock_mutex_answer(struct lock_claim *claim);

/* Asks again by the retry timer; fails the claim, which must be pending, when the policy is exhausted. */
void lock_mutex_retry(struct lock_claim *claim, int zk_rc);

/* True between the acquire and its outcome. */
bool lock_mutex_pending(const struct lock_claim *claim);

/* What the claim sees in a list of its place. */
void lock_mutex_view(const struct lock_claim *claim, const struct String_vector *list,
                     struct lock_view *view);

/* Completions that the janitor shares; the watcher of all contenders' nodes on a handle of ours. */
void lock_mutex_on_sync(int rc, const char *value, const void *data);
void lock_mutex_on_list(int rc, const struct String_vector *list, const void *data);
void lock_mutex_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);

/* A completion starts and ends with these. */
struct lock_claim *lock_mutex_enter(const void *data);
void lock_mutex_leave(struct ls_session *session);

/* ---- acquire.c ---- */

/* A claim of this owner in LOCK_CLAIMING, which has asked for nothing yet. NULL: out of memory. The caller has
 * made sure of a free number for its watch. */
struct lock_claim *lock_mutex_new_claim(struct ls_mutex *mutex, uint64_t owner, int timeout_ms);

/* The two asynchronous calls, with the mutex held and with an optional blocking caller. */
int lock_mutex_acquire(struct ls_mutex *mutex, uint64_t owner, int timeout_ms, struct lock_call *call);
int lock_mutex_release(struct ls_mutex *mutex, uint64_t owner, struct lock_call *call);

/* The same acquire for a taker: it ends when `units` leases with the numbers from `owner` on are granted. */
int lock_mutex_acquire_units(struct ls_mutex *line, uint64_t owner, uint32_t units, int timeout_ms,
                             struct lock_call *call);

/* Whether an owner is another thread: only that thread may ask in its own name. */
bool lock_mutex_is_of_another_thread(struct ls_env *env, uint64_t owner);

/* Its mutex, or a session on loan, is being closed: a pending claim is answered with LS_ECLOSED, a held one is
 * given back by the janitor. */
void lock_mutex_end(struct lock_claim *claim);

/* Frees a claim that is LOCK_TOMB. */
void lock_mutex_drop_tomb(struct lock_claim *claim);

/* ---- mutex_query.c ---- */

/* What the client or the server would refuse as a path, and a bound of our own. */
bool lock_mutex_path_is_valid(const char *path);

/* Does what ls_mutex_init() does, for contenders of this role. */
int lock_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path, enum lock_role role,
                    const struct ls_mutex_options *options);

/* Makes a mutex that has just been initialised a closed one, inside a callback too. */
void lock_mutex_undo_init(struct ls_mutex *mutex);

/* Takes the environment's mutex and returns the session. NULL, and nothing is taken: the mutex is closed. */
struct ls_session *lock_mutex_lock(const struct ls_mutex *mutex);

/* The calling thread's number as an owner. 0, the number of no owner: the mutex is closed. */
uint64_t lock_mutex_me(const struct ls_mutex *mutex);

/* The owner's claim if it holds the mutex and was told so, else NULL. */
const struct lock_claim *lock_mutex_holder(const struct ls_mutex *mutex, uint64_t owner);

/* Does what ls_mutex_guard() does. The environment's mutex is held. */
int lock_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size);

/* ---- rwlock.c ---- */

/* Why an owner may not ask for this half of a read-write lock now, or LS_OK: LS_EDEADLK for an upgrade,
 * LS_EALREADY. */
int lock_rwlock_refuses(const struct ls_mutex *mutex, uint64_t owner);

/* Whether a read lock of the owner is on its way to the place of this hold, which is a write lock. */
bool lock_rwlock_is_needed(const struct lock_claim *claim);

/* The write lock that the owner of a reader's claim holds, or NULL. */
const struct lock_claim *lock_rwlock_writer(const struct lock_claim *claim);

/* Whether the node of such a write lock stands in the list. */
bool lock_rwlock_stands(const struct lock_claim *writer, const struct String_vector *list);

/* ---- semaphore.c ---- */

/* Does what ls_semaphore_acquire_start() does, of a semaphore that is open, with an optional blocking caller. */
int lock_semaphore_acquire(struct ls_semaphore *semaphore, uint64_t first, uint32_t count, int timeout_ms,
                           struct lock_call *call);

/* Whether the claim stands in a semaphore's line for leases. */
bool lock_semaphore_is_taker(const struct lock_claim *claim);

/* The mutex that the owner of a claim knows. */
struct ls_mutex *lock_semaphore_face(const struct lock_claim *claim);

/* Whether the mutex has the leases of a semaphore whose line is being closed, or is closed. */
bool lock_semaphore_is_closing(const struct ls_mutex *mutex);

/* The claim, a taker, is first in line. */
void lock_semaphore_take(struct lock_claim *claim);

/* A lease that has a taker is granted, or has failed. */
void lock_semaphore_answered(struct lock_claim *lease, int rc, int zk_rc);

/* Looks for the leases of the same taker that are granted in a list that is about to grant another one. */
void lock_semaphore_look(struct lock_claim *lease, const struct String_vector *list);

/* The owner of the first of several leases has heard of them. */
void lock_semaphore_told(struct lock_claim *first);

/* A taker fails: its leases go to the janitor. They are not freed before the session is left. */
void lock_semaphore_give_up(struct lock_claim *taker);

/* Whether the claim is a taker that may come to have a part of several leases, and wait with it. */
bool lock_semaphore_may_lack_some(const struct lock_claim *claim);

/* The place in line of such a taker is gone: it gives its leases back, and queues again. */
void lock_semaphore_begin_again(struct lock_claim *taker);

/* The session of a lease that has a taker is lost: it ends without an answer. */
void lock_semaphore_lose(struct lock_claim *lease);

/* The capacity; sets one that is valid, of a semaphore that is open. */
uint32_t lock_semaphore_capacity(const struct ls_semaphore *semaphore);
void lock_semaphore_resize(struct ls_semaphore *semaphore, uint32_t capacity);

/* Whether more leases stand before this one than any capacity that its semaphore has had. */
bool lock_semaphore_is_exceeded(const struct lock_claim *lease, const struct lock_view *view);

/* Whether a lease is admitted where so many children of its place do not stand behind it. */
bool lock_semaphore_admits(const struct lock_claim *lease, const struct lock_view *view);

/* ---- count.c ---- */

/* Does what the session's counts ask for, as far as possible now; the same after a retry timer or at a new connection. */
void lock_count_go(struct ls_session *session);
void lock_count_again(struct ls_session *session);

/* The watcher of count nodes on a handle of ours; an event of any node's data or existence. */
void lock_count_on_event(zhandle_t *zh, int type, int state, const char *path, void *context);
void lock_count_hear(struct ls_session *session, const char *path);

/* The session is lost; its handle is closed and answers nothing any more. */
void lock_count_session_lost(struct ls_session *session);
void lock_count_drained(struct ls_session *session);

/* A semaphore is being closed; the session is, which is on loan. */
void lock_count_end(struct ls_semaphore *semaphore);
void lock_count_end_all(struct ls_session *session);

/* Bytes of SetWatches that all counts reserve. */
uint64_t lock_count_reserved(const struct ls_session *session);

/* Whether a request of a count is in flight. */
bool lock_count_in_flight(const struct ls_session *session);

/* Whether a change waits to be told; tells one, dropping the mutex meanwhile. False if there is none. */
bool lock_count_waiting(const struct ls_session *session);
bool lock_count_deliver(struct ls_session *session);

/* ---- parents.c ---- */

void lock_parents_go(struct lock_claim *claim);

/* ---- janitor.c ---- */

/* The claim has ended without a release: what it leaves is the janitor's. */
void lock_janitor_inherit(struct lock_claim *claim);

/* Removes what an ended claim left: its watch, its node. Finishes it if nothing is left. */
void lock_janitor_go(struct lock_claim *claim);

/* The watch has fired, or is taken back. */
void lock_janitor_unwatched(struct lock_claim *claim);

/* Takes back the watch that stands. */
void lock_janitor_unwatch(struct lock_claim *claim);

/* What an ended claim waits for is tried again later. */
void lock_janitor_again(struct lock_claim *claim);

/* Answers a release whose delete is in flight: nobody will hear whether the node is gone. */
void lock_janitor_unsure(struct lock_claim *claim);

/* Answers an asynchronous release at once, because its mutex is being closed; the janitor completes it. */
void lock_janitor_hurry(struct lock_claim *claim);

/* A new connection, or the session's end: there is nothing to wait for. */
void lock_janitor_calm(struct ls_session *session);

/* A chance to start the janitor's timer if that has failed. */
void lock_janitor_arm(struct ls_session *session);

/* A search flight of an ended claim has ended. */
void lock_janitor_searched(struct lock_claim *claim, int sync_rc, int list_rc,
                           const struct String_vector *list);

/* Frees a finished claim when nothing refers to it any more. */
void lock_janitor_reap(struct lock_claim *claim);

/* ---- revoke.c ---- */

/* Reads our own node with a watch if this is a holder that can be asked to give the lock back and does not
 * listen yet. */
void lock_revoke_go(struct lock_claim *claim);

/* Whether the claim's watch on its own node stands, and is on this path; an event has consumed it. */
bool lock_revoke_listens(const struct lock_claim *claim, const char *path);
void lock_revoke_heard(struct lock_claim *claim, int type);

/* The retry timer has gone off, or there is a new connection. */
void lock_revoke_again(struct lock_claim *claim);

/* The session is gone, and with it the watch; or its handle is closed, and no answer comes any more. */
void lock_revoke_lost(struct lock_claim *claim);
void lock_revoke_forget(struct lock_claim *claim);

/* The node of an ended claim could not be removed: takes the watch away from it. */
void lock_revoke_unlisten(struct lock_claim *claim);

/* The handle is closed: requests to others that were never answered end now. */
void lock_revoke_drained(struct ls_session *session);

/* Takes one answered request and calls its callback with the mutex dropped. False if there is none. */
bool lock_revoke_deliver(struct ls_session *session);

/* ---- participants.c ---- */

/* The handle is closed: surveys that were never answered end now. */
void lock_participants_drained(struct ls_session *session);

/* Starts a survey. If `call` is NULL, the answer goes to on_participants with `user`, otherwise the code goes
 * to `call` and the list to `out`. */
int lock_participants_start(struct ls_mutex *mutex, void *user, struct lock_call *call,
                            struct ls_participants *out);

/* The mutex is being closed: answers its surveys with LS_ECLOSED. */
void lock_participants_end(struct ls_mutex *mutex);

/* A list on its way to this completion is looked at name by name. */
bool lock_participants_read(void (*completion)(void));

/* Shows the names that surveys hold. */
void lock_participants_canon(const struct ls_session *session, struct ls_rename *rename);

/* Takes one finished survey and calls its callback with the mutex dropped. False if there is none. */
bool lock_participants_deliver(struct ls_session *session);

#endif
