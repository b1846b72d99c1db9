/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A session with a ZooKeeper ensemble that outlives its handles: what the locks stand on.
 *
 * The object owns one handle at a time. When the session expires it says so once, closes the handle, and
 * opens a new one; two handles of one object never overlap (F32, F87). It knows the connection by its
 * session events only, never by zoo_state() (F3).
 *
 * The caller allocates the struct, keeps it where it is, and treats its fields as private. All functions may
 * be called from any thread. Callbacks run with no lock held, one at a time per session, on the thread that
 * caused them (the client's completion thread, a timer's, or one that is inside a call of this library) or on
 * another that is just delivering. A thread that is delivering goes on until nothing is queued; one inside a blocking
 * acquire, release or request to revoke leaves that to a timer's thread, and comes back when its own answer is
 * there. Callbacks may call everything but the functions that are marked as blocking, which return LS_EDEADLK there.
 *
 * Fork: a child must use and close none of the objects that it has inherited; it opens its own. Signals:
 * nothing here may be called in a signal handler; a signal ends no blocking call. Threads that may be inside a
 * call must not be cancelled. docs/operating.md has the whole of it, and what a service does about the events. */
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

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

struct ls_session;
struct ls_session_listener;
struct lock_claim;  /* private: one attempt of one owner to hold one mutex */
struct lock_survey; /* private: one running question for a mutex's participants */
struct lock_ask;    /* private: one running request to a contender to give its lock back */
struct lock_drain;  /* private: a thread that waits until no callback is running */
struct ls_loan;

/* ---- retry policies ---- */

enum ls_retry_kind {
    LS_RETRY_FOREVER = 0, /* never gives up */
    LS_RETRY_TIMES,       /* gives up after `times` attempts in a row */
    LS_RETRY_ELAPSED,     /* gives up when `elapsed_ms_max` have passed since the first failure in a row */
};

/* Exponential back-off: the nth delay is base_ms * 2^n, at most delay_ms_max, less a random part of up to
 * jitter_percent of it. It governs opening handles and requests that a connected server did not take; a lost
 * connection is repaired by the client library itself, and requests are repeated when it is back.
 *
 * The janitor, which removes what ended acquires and releases leave behind, goes by the same delays, but
 * never gives up while the session lives, whatever the kind, and counts its failures apart: it neither
 * delays a fresh acquire nor uses up its attempts. */
struct ls_retry_policy {
    enum ls_retry_kind kind;
    uint32_t base_ms;        /* 0 = 100 */
    uint32_t delay_ms_max;   /* 0 = 10000 */
    uint32_t jitter_percent; /* 0 .. 100 */
    uint32_t times;          /* LS_RETRY_TIMES */
    uint32_t elapsed_ms_max; /* LS_RETRY_ELAPSED */
};

/* The delay before attempt number `attempt` (0 = the first repetition), or -1 to give up. Pure:
 * `elapsed_ms` is the time since the first failure, `random` any 32 random bits. NULL stands for the
 * default, LS_RETRY_FOREVER. */
int64_t ls_retry_delay_ms(const struct ls_retry_policy *policy, uint32_t attempt, int64_t elapsed_ms,
                          uint32_t random);

/* ---- events ---- */

enum ls_session_event {
    LS_SESSION_CONNECTED = 1, /* the first connection of a session */
    LS_SESSION_SUSPENDED,     /* the link is gone, the session may live; holders should doubt (F14) */
    LS_SESSION_RECONNECTED,   /* the link is back, same session */
    LS_SESSION_LOST,          /* the session is dead, all held locks are lost; once between two session ids */
    LS_SESSION_READ_ONLY,   /* connected to a server that is cut off from its quorum; nothing is written there
                             */
    LS_SESSION_AUTH_FAILED, /* terminal: credentials refused (F25); held locks are lost; only close is left */
    LS_SESSION_GAVE_UP,     /* terminal: no handle could be opened and the retry policy is exhausted */
    LS_SESSION_IDLE,        /* nothing is left over for the janitor to remove */
};

struct ls_session_ops {
    /* `session_id` is the id that the event is about; 0 if none. The listener may remove itself. */
    void (*on_event)(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id);
};

/* Where a constant of the caller lies, as a distance from a constant of this library: unlike a pointer to
 * it, it does not change with the address at which a program is loaded. Private. */
struct ls_ref {
    intptr_t distance; /* 0 = none */
};

/* Caller-owned; must live until it is removed or the session is closed. */
struct ls_session_listener {
    struct ls_session_listener *next;
    struct ls_ref ops;
};

/* ---- options ---- */

/* One credential for zoo_add_auth(), for instance "digest" with "user:password". */
struct ls_auth {
    const char *scheme;
    const char *certificate; /* caller-owned; may be NULL if size is 0 */
    int size;                /* bytes in certificate */
};

/* All zero is a good default. The struct, and all that it points to, must outlive the session. */
struct ls_session_options {
    const struct ls_retry_policy *retry; /* NULL: back-off from 100 ms to 10 s, for ever */
    uint32_t margin_percent; /* how long a holder believes after the send of the last answered write or
                                sync, in percent of the negotiated timeout; 0 = 50; at most 100 */
    bool no_refresh;         /* send no sync each sixth of the timeout while a lock is held: the belief of a
                                quiet holder then ends after the margin */
    bool read_only;          /* accept read-only servers */

    /* Added to each new handle before anything is asked of it, in this order; the client repeats them at each
     * later connection. One that the server refuses ends the session for good: LS_SESSION_AUTH_FAILED, and
     * LS_EAUTHFAILED for all who wait and ask (F25). A server may take a wrong password for a new user
     * ("digest" does): that shows as LS_ENOAUTH at the first node that this user may not touch. */
    const struct ls_auth *auth;
    int auth_count; /* at most 255 */

    /* Of the nodes that locks create, unless a lock has its own; NULL: open to everybody. */
    const struct ACL_vector *acl;

    /* The certificates as zookeeper_init_ssl() takes them, "ca.crt,client.crt,client.pem,password"; NULL: in
     * the clear. ls_session_init() answers LS_EUNSUPPORTED where the client library was built without TLS. */
    const char *tls;

    struct ls_log *log;                   /* NULL: nothing is logged */
    struct ls_session_counters *counters; /* NULL: nothing is counted */

    /* The longest request that the servers take, their jute.maxbuffer, in bytes; 0 = 1048575, their default. All watches
     * of the session's handle must fit into one request, or the link breaks for ever (F78): an acquire whose watch would
     * not fit is answered LS_EOVERFLOW. Each pending acquire counts with its chroot, its path, and 61 bytes or as many
     * more as its predecessor's name has; each revocable hold likewise. Contents and ACLs must fit too. Watches that an
     * application sets itself, on a handle on loan, are not counted. */
    uint32_t maxbuffer;
};

/* ---- the object ---- */

/* Longest session timeout that can be asked for, in ms: the client library computes with twice as many in an int, and
 * never connects with more. */
#define LS_SESSION_TIMEOUT_MS_MAX 1073741823

enum ls_session_state {
    LS_STATE_NEW = 0,    /* initialised, not started */
    LS_STATE_CONNECTING, /* a handle is open, no connection yet */
    LS_STATE_CONNECTED,  /* */
    LS_STATE_READ_ONLY,  /* connected to a read-only server */
    LS_STATE_SUSPENDED,  /* the link is gone */
    LS_STATE_LOST,       /* expired; the next handle is about to be opened */
    LS_STATE_FAILED,     /* terminal */
    LS_STATE_CLOSED,     /* */
};

struct ls_session {
    struct ls_env *env;
    const char *hosts; /* caller-owned */
    struct ls_ref options;
    struct ls_loan *loan;      /* the handle is the application's; NULL: our own */
    zhandle_t *zh;             /* NULL while there is none */
    struct lock_claim *claims; /* all claims, oldest first */
    struct lock_claim *last_claim;
    struct lock_claim *watchers; /* tree of all claims by watch number */
    struct lock_claim *owners;   /* tree of the claims that their owners can reach, by mutex and owner */
    struct lock_claim *notes;    /* claims with an answer that is to be delivered, first one first */
    struct lock_claim *last_note;
    struct lock_survey *surveys;           /* running questions for participants */
    struct lock_ask *asks;                 /* running requests to contenders */
    struct ls_session_listener *listeners; /* in order of adding */
    struct ls_session_listener *cursor;    /* the listener after the one that is being called */
    struct lock_drain *drains;             /* threads that wait for quiet */
    int64_t id;                            /* session id, 0 while there is none */
    int64_t told_id;                       /* the id that listeners have been told */
    uint64_t reserved;                     /* bytes of all watches that claims have or may come to have */
    struct ls_stamp stamps[2]; /* send times: of the last answered and of the measured write or sync */
    struct ls_stamp failing;   /* since when attempts fail */
    struct ls_timer reopen_timer;
    struct ls_timer retry_timer;
    struct ls_timer create_timer;   /* claims that were set aside */
    struct ls_timer delivery_timer; /* what blocking calls leave to be delivered */
    struct ls_timer janitor_timer;
    struct ls_timer fresh_timer;
    int32_t requested_ms;      /* the timeout that every handle asks for */
    int32_t negotiated_ms;     /* what the server made of it; 0 while there is no session */
    uint32_t events;           /* events to deliver, four bits each, the lowest first */
    uint32_t unanswered;       /* writes and syncs in flight */
    uint32_t measured;         /* that many answers from now comes the one whose send was stamped; 0 = none */
    uint16_t leftovers;        /* claims in the janitor's hands */
    uint16_t retries;          /* failed attempts in a row, saturated */
    uint8_t sweeps;            /* the same of the janitor */
    uint8_t auths;             /* credentials that the present handle has been given */
    uint8_t state;             /* enum ls_session_state */
    int8_t failure;            /* LS_STATE_FAILED: why */
    uint8_t busy;              /* threads that are in the core with the mutex dropped */
    uint8_t slot : 1;          /* which stamp is the confirmed one */
    uint8_t confirmed : 1;     /* stamps[slot] is valid for this session */
    uint8_t unproven : 1;      /* the link has been gone since the last confirmation */
    uint8_t delivering : 1;    /* a thread is calling callbacks */
    uint8_t opening : 1;       /* a thread is in zookeeper_init() or zookeeper_close() */
    uint8_t proving : 1;       /* a sync of the session's own is in flight */
    uint8_t no_containers : 1; /* the server has no container nodes */
    uint8_t idle_note : 1;     /* LS_SESSION_IDLE is to be delivered */
    uint8_t ending : 1;        /* a session on loan is being closed */
    uint8_t unarmed : 1;       /* the janitor could not have its timer and waits for the next chance */
    uint8_t stuck : 1;         /* on loan: the server refuses to remove a node of this session */
    uint8_t closing : 1;       /* a thread is in ls_session_close() */
    uint8_t assumed : 1;       /* on loan: the handle showed that it is connected, and no event has said so yet */
};

/* Initialises a session. `hosts` is a connect string with chroot if any, `timeout_ms` the session timeout
 * to ask for, 1 .. LS_SESSION_TIMEOUT_MS_MAX (the server clamps it, F26). `hosts`, `options` (may be NULL) and `env`
 * must outlive the session. LS_EINVAL; LS_EUNSUPPORTED: the options ask for TLS, and the client library has none. */
int ls_session_init(struct ls_session *session, struct ls_env *env, const char *hosts, int timeout_ms,
                    const struct ls_session_options *options);

/* Opens the first handle, which takes as long as looking up the servers' names. Legal once, after
 * ls_session_init(). Connecting goes on in the background; locks may be asked for at once. LS_EINVAL: not new,
 * or the connect string is malformed; LS_EZK: the client library refused, for instance because a name cannot be looked
 * up now; LS_EDEADLK in callbacks. After an error the session is still new, and may be started again; if there is no
 * memory for the timer that opens the next handle (LS_ENOMEM), only close is left. Acquires that other threads began
 * meanwhile are answered with the same error. */
int ls_session_start(struct ls_session *session);

/* Ends it in any state: pending acquires are answered with LS_ECLOSED, then the handle is closed, which
 * frees held locks if connected (else the server does so at the end of its timeout, F22). No callback runs
 * after it returns. Blocking, up to some seconds (F20). Mutexes must be closed before the session's memory
 * goes. Two threads may close a session at once: both return when it is closed. LS_EDEADLK in callbacks; 0 also if closed
 * already.
 *
 * With a handle on loan the locks are given back while it is connected, and all answers are waited for: up to
 * two thirds of the timeout if the link is dead. LS_EUNSURE: closed, but nodes are left behind until the
 * handle's session ends, because the link is gone, the server refuses to remove them, or memory is short;
 * LS_ELOST: not closed, for the handle died meanwhile: close it, then call this again. */
int ls_session_close(struct ls_session *session);

/* ---- a handle of the application's ----
 *
 * A session can stand on a handle that the application has opened, uses for other things, and closes itself.
 * The library never closes it and does not touch its watcher and context. Instead the application tells what
 * its watcher hears: it calls ls_loan_on_event() for every event of type ZOO_SESSION_EVENT, in their order.
 * A broken link that is not told makes a holder believe too long.
 *
 *   ls_session_init()      with the connect string of the handle, of which only the chroot matters, and a
 *                          timeout that is not asked for: the handle's own counts. No credentials and no TLS.
 *   ls_loan_init()         before the handle is opened, so that its watcher has something to tell
 *   ls_session_lend()      instead of ls_session_start()
 *   ... expired:           the session is LS_STATE_LOST and stays so. The application closes the handle with
 *                          zookeeper_close(), not inside a callback of that handle, and lends the next one, or
 *                          closes the session. Pending acquires wait for that and then queue again.
 *   ls_session_close()     before the handle is closed, if it lives; after that, if it is dead
 *
 * Blocking calls of this library wait for answers that come on the handle's completion thread: they are as
 * forbidden to the application's own watchers and completions as to callbacks of this library, but there
 * nobody notices. */

/* One loan: caller-owned, and its fields are private. It and the environment must outlive the *handle*, for an
 * event may still be under way when the session is closed. The next handle may have the same one. */
struct ls_loan {
    struct ls_env *env;
    struct ls_session *session; /* NULL while nothing is lent */
};

/* Readies a loan to a session of this environment. */
void ls_loan_init(struct ls_loan *loan, struct ls_env *env);

/* Lends a handle to the session, in any state of the handle that is not final. Legal after ls_session_init(),
 * and when the session is lost and its former handle has been closed. LS_EINVAL: not so, or the options have
 * credentials or TLS, or the loan is of another environment; LS_ELOST, LS_EAUTHFAILED: the handle is dead. */
int ls_session_lend(struct ls_session *session, struct ls_loan *loan, zhandle_t *zh);

/* Tells the session, if any, what the watcher of its handle has heard; other types of events and other handles
 * are passed over. Called on the handle's completion thread. Legal as long as the loan lives, also before
 * something is lent and after the session was closed and is gone. */
void ls_loan_on_event(struct ls_loan *loan, zhandle_t *zh, int type, int state);

/* ---- guarded writes ---- */

/* Sends `count` operations in one multi on the session's handle, as zoo_amulti() does. Use it for writes with the check of
 * ls_mutex_guard(). zoo_amulti() itself ends the process (SIGABRT) if the handle is dead or a path is malformed, and a
 * question before it, such as is_unrecoverable(), leaves time for the handle to die.
 *
 * Nothing is sent unless the handle is connected. What could still end the process is a link that breaks, is made again and is
 * refused, all while this call is at work, or credentials that the server refuses at this moment.
 *
 * `completion` is called once after 0, by the client library, on the thread that calls all callbacks of the handle, or inside
 * ls_session_close(): it must not wait for anything. `results` and the buffers of the operations must live until then; `ops` and
 * their paths are copied. Legal in callbacks.
 *
 * LS_ECLOSED: there is no connection, or the handle is dead; nothing was sent. LS_EINVAL: a path is malformed, an operation is
 * of no known kind, or an argument is missing; nothing was sent. LS_EZK: the client library refused it. */
int ls_session_multi(struct ls_session *session, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                     void_completion_t completion, const void *data);

/* Readies a listener; `ops` must outlive it. */
void ls_session_listener_init(struct ls_session_listener *listener, const struct ls_session_ops *ops);

/* Adds a listener at the end; it hears of events from now on. Adding it twice is an error of the caller. */
void ls_session_listener_add(struct ls_session *session, struct ls_session_listener *listener);

/* Removes it. Outside callbacks it waits until a running callback has returned, so that the memory may be
 * freed then. */
void ls_session_listener_remove(struct ls_session *session, struct ls_session_listener *listener);

/* The state at this moment. */
enum ls_session_state ls_session_state(const struct ls_session *session);

/* The id of the present session; 0 before its first connection and after its end. */
int64_t ls_session_id(const struct ls_session *session);

/* The timeout of the present session in ms, as its server granted it (F26); while there is no session the one that
 * ls_session_init() was given, which each new handle asks for again. */
int ls_session_timeout_ms(const struct ls_session *session);

/* True when nothing is left over in the background: the janitor has removed every node and watch of ended
 * attempts. */
bool ls_session_idle(const struct ls_session *session);

/* Copies the counters of the session's options. LS_EINVAL: they name none. */
int ls_session_counters(const struct ls_session *session, struct ls_session_counters *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
