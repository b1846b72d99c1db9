/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A session: the object by which locks use a ZooKeeper ensemble.
 *
 * Handles: a session opens its own handles, or uses a handle on loan (below). If the ZooKeeper session of an
 * own handle expires, the session closes the handle, and then opens the next one (F32, F87). Without a loan,
 * only a session event makes the state LS_STATE_CONNECTED, never zoo_state() (F3).
 *
 * Memory: the caller allocates the struct, keeps it at its address, and treats its fields as private.
 *
 * Threads: any thread may call any function of this header, but ls_loan_on_event() is for the handle's
 * completion thread. A thread that may be inside a call must not be cancelled.
 *
 * Callbacks are the functions of listeners, logs and locks, and those of type ls_revoke_fn and
 * ls_capacity_fn. The completion of ls_session_multi() is no callback in this sense. Callbacks run with no
 * lock of this library held. The callbacks of one session run one at a time. A callback runs on the client's
 * completion thread, a timer's thread, or a thread inside a call of this library. A thread that delivers
 * callbacks goes on until none is queued. A thread that waits for an answer leaves callbacks to a timer's
 * thread. If there is no memory for a timer, or if the session is closed, the thread runs them itself.
 *
 * In a callback, a function that may wait returns LS_EDEADLK, unless its object is closed or an argument is
 * invalid. The comments of these functions name LS_EDEADLK. A callback may call all other functions.
 *
 * Fork: a child must neither use nor close an object that it has inherited (env_pthread.h).
 *
 * Signals: no function of this header may be called in a signal handler. A signal ends no blocking call.
 *
 * The page docs/operating.md tells a service how to react to events. */
#ifndef LOCKSTEP_SESSION_H
#define LOCKSTEP_SESSION_H

#include <lockstep/env.h>
#include <lockstep/error.h>
#include <lockstep/telemetry.h>
#include <stdbool.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports the functions of its public headers, and nothing else. */
#pragma GCC visibility push(default)

struct ls_session;
struct ls_session_listener;
struct lock_claim;  /* private: one attempt of one owner to hold one mutex */
struct lock_survey; /* private: one running question for a mutex's participants */
struct lock_ask;    /* private: one running request to a contender to release its lock */
struct lock_count;  /* private: one shared count that a semaphore follows */
struct lock_write;  /* private: one guarded write that a thread waits for */
struct lock_drain;  /* private: one thread that waits until no callback is running */
struct ls_loan;

/* ---- retry policies ---- */

enum ls_retry_kind {
    LS_RETRY_FOREVER = 0, /* the policy never gives up */
    LS_RETRY_TIMES,       /* the policy gives up after `times` repetitions in a row */
    LS_RETRY_ELAPSED,     /* the policy gives up `elapsed_ms_max` after the first failure in a row */
};

/* A retry policy: exponential back-off.
 *
 * The delay before repetition n, counted from 0, is base_ms * 2^n, but at most delay_ms_max. A random part of
 * up to jitter_percent is taken off each delay. With LS_RETRY_ELAPSED no delay ends later than elapsed_ms_max
 * after the first failure. A session may stop counting n at 12 or above, where the default delay does not
 * grow.
 *
 * The policy governs how often, and after which delays, a session tries to open its next handle. The policy
 * governs likewise the repetition of an acquire's requests that have failed on a live link and may succeed
 * later. Requests of an acquire that were lost with the link are repeated when it is back, and use up no
 * attempt. There is one exception: after eight creates in a row that were lost with the link and not applied,
 * the policy governs each further create of that acquire. LS_RETRY_ELAPSED then counts as LS_RETRY_FOREVER.
 *
 * The janitor removes the nodes and watches that ended acquires and releases leave behind. The janitor
 * repeats its attempts after the delays of the policy. While the ZooKeeper session lives, the janitor gives
 * up only if the server refuses a request for good, whatever the kind of the policy. Failures of the janitor
 * use up no attempt of an acquire. */
struct ls_retry_policy {
    enum ls_retry_kind kind;
    uint32_t base_ms;        /* first delay in ms; 0 = 100 */
    uint32_t delay_ms_max;   /* longest delay in ms; 0 = 10000 */
    uint32_t jitter_percent; /* share of a delay; more than 100 counts as 100 */
    uint32_t times;          /* number of repetitions, for LS_RETRY_TIMES */
    uint32_t elapsed_ms_max; /* longest time of failing in ms, for LS_RETRY_ELAPSED */
};

/* Returns the delay in ms before repetition `attempt`, counted from 0, or -1 to give up. The result depends
 * on the arguments alone. `elapsed_ms` is the time since the first failure, and `random` are any 32 random
 * bits. If `policy` is NULL, it is LS_RETRY_FOREVER with the default delays. With LS_RETRY_ELAPSED,
 * `elapsed_ms` plus the delay is at most `elapsed_ms_max`. */
int64_t ls_retry_delay_ms(const struct ls_retry_policy *policy, uint32_t attempt, int64_t elapsed_ms,
                          uint32_t random);

/* ---- events ---- */

/* The end of a ZooKeeper session is told by LS_SESSION_LOST once, if its LS_SESSION_CONNECTED was told. */
enum ls_session_event {
    LS_SESSION_CONNECTED = 1, /* the first connection of a ZooKeeper session */
    LS_SESSION_SUSPENDED,     /* the link broke; the ZooKeeper session may live on (F14) */
    LS_SESSION_RECONNECTED,   /* the link is back, with the same ZooKeeper session */
    LS_SESSION_LOST,          /* the ZooKeeper session is dead, and all held locks are lost */
    LS_SESSION_READ_ONLY,     /* connected to a server without a quorum, to which no requests are sent */
    LS_SESSION_AUTH_FAILED, /* terminal: credentials refused (F25); held locks are lost; only close is left */
    LS_SESSION_GAVE_UP,     /* terminal: the retry policy is exhausted, or memory is short */
    LS_SESSION_IDLE,        /* the janitor has nothing left to remove */
};

struct ls_session_ops {
    /* `session_id` is the id of the ZooKeeper session that the event is about, 0 if there is none or it is
     * not known. The listener may remove itself. */
    void (*on_event)(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id);
};

/* Private: an object of the caller, as its distance from a constant of this library. If one executable
 * contains both, the distance does not depend on the load address. */
struct ls_ref {
    intptr_t distance; /* distance in bytes; 0 = no constant */
};

/* A listener: caller-owned, must live until it is removed or the session is closed. */
struct ls_session_listener {
    struct ls_session_listener *next;
    struct ls_ref ops;
};

/* ---- options ---- */

/* One credential for zoo_add_auth(), for instance scheme "digest" with certificate "user:password". */
struct ls_auth {
    const char *scheme;
    const char *certificate; /* caller-owned bytes; may be NULL if size is 0 */
    int size;                /* number of bytes in certificate */
};

/* The options of a session: all zero is valid. The struct, and all that it points to, must outlive the
 * session. */
struct ls_session_options {
    const struct ls_retry_policy *retry; /* NULL: delays from 100 ms to 10 s, for ever */

    /* Longest belief of a holder, counted from the send of a write or sync whose answer has proved the
     * session. For so long ls_mutex_query() may return LS_HELD. The margin is a percentage of the negotiated
     * timeout. A margin of 0 stands for 50. If the margin is above 100, ls_session_init() returns
     * LS_EINVAL. */
    uint32_t margin_percent;

    /* False: while a lock is held and the link is up, the session sends a sync about each sixth of the
     * timeout, which renews the belief. True: the session sends no such sync. The belief ends if no create,
     * delete or sync of its locks is sent within the margin and answered. */
    bool no_refresh;

    bool read_only; /* read-only servers are accepted (ZOO_READONLY) */

    /* Credentials, added to each new handle in this order before its first request. The session adds the
     * credentials once to a handle: the client library repeats them at each later connection. If the server
     * refuses one, the session ends with LS_SESSION_AUTH_FAILED (F25). Pending and later acquires then end
     * with LS_EAUTHFAILED. With the scheme "digest", a server accepts a wrong password as that of another
     * user. An acquire for which this user lacks a permission ends with LS_ENOAUTH. */
    const struct ls_auth *auth;
    int auth_count; /* number of credentials, at most 255 */

    /* ACL of the nodes that locks create, unless the mutex has its own. NULL: these nodes are open to all
     * users. */
    const struct ACL_vector *acl;

    /* Certificates as zookeeper_init_ssl() takes them, "ca.crt,client.crt,client.pem,password". NULL: no TLS.
     * If `tls` is set, and the client library was built without TLS, ls_session_init() returns
     * LS_EUNSUPPORTED. */
    const char *tls;

    struct ls_log *log;                   /* NULL: no line is logged */
    struct ls_session_counters *counters; /* NULL: no event is counted */

    /* Longest request in bytes that the servers take, their jute.maxbuffer. A maximum of 0 stands for
     * 1048575, their default. All watches of a handle must fit into one request, or each reconnect breaks the
     * link again (F78). An acquire whose watch does not fit ends with LS_EOVERFLOW.
     *
     * - A pending acquire counts with its chroot, its path and 61 to 64 bytes. If the predecessor's name is
     *   longer than its own, it counts with the longer name.
     * - A revocable hold counts like a pending acquire. Other holds of a mutex count nothing.
     * - An ended acquire counts until its node and its watch are gone.
     * - A shared count of a semaphore counts with its chroot, its path and 4 bytes.
     * - Watches that an application sets itself, on a handle on loan, are not counted.
     *
     * For contents or an ACL that do not fit, ls_mutex_set_contents() or ls_mutex_init() returns
     * LS_EOVERFLOW. */
    uint32_t maxbuffer;
};

/* ---- the object ---- */

/* Longest session timeout in ms that can be asked for. The client library computes twice the timeout in an
 * int. */
#define LS_SESSION_TIMEOUT_MS_MAX 1073741823

enum ls_session_state {
    LS_STATE_NEW = 0,    /* the session is initialised and not started */
    LS_STATE_CONNECTING, /* a handle is open and has not connected yet */
    LS_STATE_CONNECTED,  /* the handle is connected */
    LS_STATE_READ_ONLY,  /* the handle is connected to a read-only server */
    LS_STATE_SUSPENDED,  /* the link of the handle is broken */
    LS_STATE_LOST,       /* there is no live handle, and the next one is not open yet */
    LS_STATE_FAILED,     /* LS_SESSION_AUTH_FAILED or LS_SESSION_GAVE_UP has ended the session */
    LS_STATE_CLOSED,     /* the session is closed */
};

struct ls_session {
    struct ls_env *env;
    const char *hosts; /* connect string, caller-owned */
    struct ls_ref options;
    struct ls_loan *loan;      /* NULL: the handle is the session's own */
    zhandle_t *zh;             /* NULL while there is no handle */
    struct lock_claim *claims; /* list of all claims, oldest first */
    struct lock_claim *last_claim;
    struct lock_claim *watchers; /* tree of all claims by watch number */
    struct lock_claim *owners; /* tree of the claims that their owners can reach, by mutex and owner number */
    struct lock_claim *notes;  /* queue of claims with an answer to deliver */
    struct lock_claim *last_note;
    struct lock_survey *surveys;           /* list of running questions for participants */
    struct lock_ask *asks;                 /* list of running requests to contenders */
    struct lock_write *writes;             /* list of guarded writes that threads wait for */
    struct lock_count *counts;             /* list of shared counts that semaphores follow */
    struct ls_session_listener *listeners; /* list of listeners, in the order of their adding */
    struct ls_session_listener *cursor;    /* the listener behind the one that is being called */
    struct lock_drain *drains;             /* list of threads that wait until no callback runs */
    int64_t id;                            /* ZooKeeper session id, 0 while there is none */
    int64_t told_id;                       /* session id that listeners were told last, 0 after its loss */
    uint64_t reserved;                     /* bytes of all watches that claims have or may need */
    /* send times: [slot] of the write or sync that proved the session last, [!slot] of the one that
     * `measured` counts to */
    struct ls_stamp stamps[2];
    struct ls_stamp failing; /* time of the first failure in a row */
    struct ls_timer reopen_timer;
    struct ls_timer retry_timer;
    struct ls_timer create_timer;   /* for claims that were set aside */
    struct ls_timer delivery_timer; /* for callbacks that blocking calls leave to it */
    struct ls_timer janitor_timer;
    struct ls_timer fresh_timer;
    int32_t requested_ms;      /* timeout in ms that each handle asks for */
    int32_t negotiated_ms;     /* timeout in ms that the server granted; 0 while there is no session */
    uint32_t events;           /* queue of events to deliver, four bits each, the lowest first */
    uint32_t unanswered;       /* number of writes and syncs in flight */
    uint32_t measured;         /* number of answers to come up to that of the stamped request; 0 = none */
    uint16_t leftovers;        /* number of claims that the janitor has */
    uint16_t retries;          /* number of failed attempts in a row, saturated */
    uint8_t sweeps;            /* number of failed attempts of the janitor in a row, saturated */
    uint8_t auths;             /* number of credentials that the present handle was given */
    uint8_t state;             /* an enum ls_session_state */
    int8_t failure;            /* error behind LS_STATE_FAILED */
    uint8_t busy;              /* number of threads in the core with the mutex dropped */
    uint8_t slot : 1;          /* index of the confirmed stamp */
    uint8_t confirmed : 1;     /* stamps[slot] is of this ZooKeeper session */
    uint8_t unproven : 1;      /* the link broke after the last confirmation */
    uint8_t delivering : 1;    /* a thread is calling callbacks */
    uint8_t opening : 1;       /* a thread is in zookeeper_init() or zookeeper_close() */
    uint8_t proving : 1;       /* a sync of the session itself is in flight */
    uint8_t no_containers : 1; /* the server knows no container nodes */
    uint8_t idle_note : 1;     /* LS_SESSION_IDLE is to be delivered */
    uint8_t ending : 1;        /* a session on loan is being closed */
    uint8_t unarmed : 1;       /* there was no memory for the janitor's timer */
    uint8_t stuck : 1;         /* on loan: the server refused to remove a node of this session */
    uint8_t closing : 1;       /* a thread is in ls_session_close() */
    uint8_t dying : 1;         /* a server has answered that the ZooKeeper session is over */
    uint8_t told_link : 2;     /* an enum lock_link: what listeners were told of the link last */
    uint8_t assumed : 1;       /* on loan: zoo_state() said connected, and no event has said so yet */
};

/* Initialises a session. `hosts` is a connect string with its chroot, if any. `timeout_ms` is the session
 * timeout that each handle asks for, 1 to LS_SESSION_TIMEOUT_MS_MAX. The server clamps the timeout (F26).
 * `options` may be NULL. `hosts`, `options` and `env` must outlive the session.
 *
 * LS_EINVAL: an argument is missing or out of range, or a credential is malformed. LS_EUNSUPPORTED: the
 * options ask for TLS, and the client library has none. */
int ls_session_init(struct ls_session *session, struct ls_env *env, const char *hosts, int timeout_ms,
                    const struct ls_session_options *options);

/* Opens the first handle. Blocking, while the client library looks up the servers' names. The session
 * connects in the background. Locks may be asked for at once. Returns 0 or one of these:
 * - LS_EINVAL: the session is not new, or the connect string is malformed.
 * - LS_EZK: the client library refused, for instance because a name cannot be looked up now.
 * - LS_ENOMEM: there is no memory for the handle, or for the timer that opens the next one.
 * - LS_EDEADLK: the function was called in a callback.
 *
 * After an error a new session is still new, and may be started again, unless it was closed meanwhile. After
 * LS_ENOMEM for the timer it has failed, and only close is left. Acquires that other threads began meanwhile
 * end with the error of the start. */
int ls_session_start(struct ls_session *session);

/* Closes a session in any state. Pending acquires are answered with LS_ECLOSED before the handle is closed. A
 * connected session frees held locks at once. Without a connection the server frees them at the end of the
 * session's timeout (F22). No callback runs after the close has returned. Blocking, up to some seconds (F20).
 * If two threads close a session at once, the second one waits for the first one. The mutexes of a session
 * must be closed before its memory goes.
 *
 * Returns 0, also if the session is closed already; or LS_EDEADLK in a callback, and closes nothing.
 *
 * With a handle on loan, the close removes the nodes of the session's locks while the handle is connected.
 * The close waits until all requests of the session's locks are answered, or the handle is dead. If the link
 * is dead, the client library answers them within two thirds of the timeout. LS_EUNSURE: the session is
 * closed, and nodes may stay until the handle's ZooKeeper session ends. Nodes may stay if the link is broken,
 * if the server refuses to remove them, or if memory is short. LS_ELOST: the session is not closed, because
 * its handle died with requests in flight. Close that handle, then call ls_session_close() again. */
int ls_session_close(struct ls_session *session);

/* ---- a handle of the application's ----
 *
 * A session can use a handle on loan: one that the application opens and closes, and may use for other
 * things. The library never closes a handle on loan. The library leaves the watcher and the context of a
 * handle on loan as they are. The application tells the session what that watcher hears: it calls
 * ls_loan_on_event() for each event of type ZOO_SESSION_EVENT, in their order. If a broken link is not told,
 * a holder believes too long.
 *
 * ls_session_init() gets the connect string of the handle, of which the chroot alone is used. The timeout of
 * the session is the handle's, whatever ls_session_init() was given. Call ls_loan_init() before the handle is
 * opened, so that its watcher has a loan to tell. Call ls_session_lend() in place of ls_session_start(). When
 * the handle's ZooKeeper session expires, the session stays LS_STATE_LOST until the next handle is lent.
 * Pending acquires wait for that handle and queue again, unless their `timeout_ms` is 0. Close the dead
 * handle with zookeeper_close(), outside its callbacks, before the next one is lent. Close the session before
 * a handle that lives, and after a handle that is dead.
 *
 * Blocking calls of this library wait for answers that come on the handle's completion thread. The
 * application's watchers and completions on that handle must make no blocking call of this library. The
 * library may not notice such a call. */

/* One loan of a handle: caller-owned, with private fields. The loan and the environment must outlive the
 * handle, because an event may still be under way when the session is closed. The next handle may have the
 * same loan. */
struct ls_loan {
    struct ls_env *env;
    struct ls_session *session; /* NULL while no handle is lent */
};

/* Readies a loan: it has no session yet. The loan is for sessions of this environment. */
void ls_loan_init(struct ls_loan *loan, struct ls_env *env);

/* Lends the session a handle that is not dead. A handle that is connected already is of use at once.
 *
 * Returns 0 or one of these:
 * - LS_EINVAL: an argument is NULL, or the loan is of another environment.
 * - LS_EINVAL: the session is neither new nor on loan and lost, or it is being closed.
 * - LS_EINVAL: the options name credentials or TLS, which are the application's to give.
 * - LS_ELOST: the handle's ZooKeeper session has expired.
 * - LS_EAUTHFAILED: the server has refused the handle's credentials. */
int ls_session_lend(struct ls_session *session, struct ls_loan *loan, zhandle_t *zh);

/* Tells the session an event that the watcher of its handle has heard. Events of a type other than
 * ZOO_SESSION_EVENT are passed over, and so are events of handles that are not lent now. The handle's
 * completion thread makes the call. The call is legal as long as the loan lives, also before a handle is lent
 * and after the session was closed. */
void ls_loan_on_event(struct ls_loan *loan, zhandle_t *zh, int type, int state);

/* ---- guarded writes ---- */

/* Sends `count` operations in one multi on the session's handle, as zoo_amulti() does. The function is
 * made for writes with the check of ls_mutex_guard(). The function is legal in callbacks.
 *
 * zoo_amulti() itself may end the process with SIGABRT if the handle is dead or a path is malformed. A
 * question before it, such as is_unrecoverable(), leaves time for the handle to die. ls_session_multi() sends
 * nothing unless the handle is connected. The process may still end if the link breaks, is made again and is
 * refused, all during this call. The process may still end, too, if the server refuses credentials during
 * this call.
 *
 * `completion` is called once if the result was 0. The client library calls `completion` on the handle's
 * completion thread, or on the thread that closes the handle. The session closes its own handle in
 * ls_session_close(), or on a timer's thread after the end of the ZooKeeper session. `completion` must not
 * wait for anything. `results` and the buffers of the operations must live until then. `ops` and their paths
 * are copied.
 *
 * After another result than 0 nothing was sent:
 * - LS_ECLOSED: the session is not connected, or the handle is dead.
 * - LS_EINVAL: an argument is missing, `count` is below 1, a path is malformed, or an operation is of no
 *   known kind.
 * - LS_EZK: the client library refused the operations. */
int ls_session_multi(struct ls_session *session, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                     void_completion_t completion, const void *data);

/* Readies a listener with these functions. `ops` must outlive the listener. */
void ls_session_listener_init(struct ls_session_listener *listener, const struct ls_session_ops *ops);

/* Adds a listener, which hears of all events that are delivered from now on. Listeners hear of an event in
 * the order in which they were added. Adding a listener twice is an error of the caller. */
void ls_session_listener_add(struct ls_session *session, struct ls_session_listener *listener);

/* Removes a listener, which hears of no event from now on. Outside callbacks the call waits until no callback
 * of the session runs, so that the listener's memory may be freed then. */
void ls_session_listener_remove(struct ls_session *session, struct ls_session_listener *listener);

/* Returns the state of the session at this moment. */
enum ls_session_state ls_session_state(const struct ls_session *session);

/* Waits until the session is connected. `timeout_ms` says how long: below 0 without a bound, 0 not at all.
 * The result is one of these:
 * - 0: the session was connected when the function looked.
 * - LS_ETIMEDOUT: the time is over.
 * - LS_ECLOSED: the session is new or closed, or is on loan and being closed.
 * - LS_EAUTHFAILED, LS_EGAVEUP: the session has failed for this reason.
 * - LS_ENOMEM: there is no memory for a timer, or the session has failed for want of memory.
 * - LS_EDEADLK: the function was called inside a callback. */
int ls_session_wait_connected(struct ls_session *session, int timeout_ms);

/* Returns the id of the present ZooKeeper session, 0 while there is none. */
int64_t ls_session_id(const struct ls_session *session);

/* Returns the timeout in ms that the server granted to the present ZooKeeper session (F26). Without a
 * ZooKeeper session, returns the timeout that ls_session_init() was given. */
int ls_session_timeout_ms(const struct ls_session *session);

/* Returns whether the janitor has nothing to remove. A release that is not answered yet is not the
 * janitor's. */
bool ls_session_idle(const struct ls_session *session);

/* Copies the counters that the options name. LS_EINVAL: the options name no counters. */
int ls_session_counters(const struct ls_session *session, struct ls_session_counters *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
