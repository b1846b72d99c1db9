/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semantic events: the record of a run, which judges are shown (<lockstep/property.h>). A world, or the
 * runner on a real server, emits them in the order in which they happened. Within one step, a cause comes
 * before its effects. The comment of a kind lists in brackets the fields of struct event that it fills in, by
 * their names for that kind. */
#ifndef LOCKSTEP_EVENT_H
#define LOCKSTEP_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_PROCESS_NONE 255u /* `process` of an event that the operator or no single process has caused */
#define EVENT_LOCK_NONE 255u    /* `lock` of an event that is not about one lock */

/* `owner` of NODE_DELETED and NODE_SET: what changed the node. */
#define EVENT_BY_OPERATOR 255u /* the operator */
#define EVENT_BY_LOSS 253u     /* a server that has lost the node after it had confirmed it */
#define EVENT_BY_TIME 254u     /* the end of the node's lease */

enum event_kind {
    /* ---- The client's side: calls to the recipe, and its answers. ---- */

    EVENT_ASKED, /* the owner asks for the lock [process, lock, owner, timeout_ms, call_locks] */
    /* The owner was granted the lock, or one more level of it [process, lock, owner, token, session of the
     * hold, depth]. */
    EVENT_GRANTED,
    EVENT_FAILED,   /* the acquire ended without the lock [process, lock, owner, rc, within_stop] */
    EVENT_CANCELED, /* the caller gives the pending acquire up; FAILED follows [process, lock, owner] */
    /* One level was given back [process, lock, owner, depth that is left]. With depth 0 the caller stops
     * using the lock now. */
    EVENT_RELEASED,
    EVENT_REFUSED, /* a release was refused, or a cancel within a report [process, lock, owner, rc] */
    EVENT_FREED,   /* the release is complete [process, lock, owner, rc, within_stop] */
    EVENT_WARNED,  /* the recipe warns [process, lock, warning] */
    EVENT_IDLE,    /* the recipe has no work left in the background [process] */

    /* ---- The session as the recipe tells it to its listeners. ---- */

    EVENT_CONNECTED,   /* [process, session] */
    EVENT_SUSPENDED,   /* [process, session] */
    EVENT_RECONNECTED, /* [process, session] */
    EVENT_LOST,        /* [process, session] */
    EVENT_READ_ONLY,   /* [process, session] */

    /* ---- The session as the client library tells it to the recipe: session events that were delivered. ----
     * `owner` is the index of the handle in its process, and `session` that of the handle. */

    EVENT_LINK_UP,     /* CONNECTED was delivered [process, session, owner] */
    EVENT_LINK_DOWN,   /* CONNECTING was delivered [process, session, owner] */
    EVENT_EXPIRED,     /* EXPIRED was delivered [process, session, owner] */
    EVENT_AUTH_FAILED, /* AUTH_FAILED was delivered [process, session, owner] */

    /* ---- Belief: the answer of the recipe's query(), asked after each step (D5). ---- */

    EVENT_BELIEVES, /* the answer became LS_HELD [process, lock, owner] */
    /* The answer is LS_UNKNOWN or LS_NOT_HELD [process, lock, owner, belief, doubt]. Cases:
     * - The answer was LS_HELD before. The end of the process is such a case, too.
     * - The answer denies a hold that was neither given back nor told to be lost.
     * - Without a clock: LS_UNKNOWN is the first answer after a grant. */
    EVENT_DOUBTS,

    /* ---- The coordinator: the committed log and its sessions. ---- */

    /* A node was created [process (creator), lock, czxid, session = ephemeral owner, path]. Further:
     * - node_role = 1 for an ephemeral node that is a contender (LS_NODE_CONTENDER in recipe.h); 2 for one
     *   that queues (LS_NODE_QUEUED); else 0.
     * - owner = number of its directory among those of the recipe, 0 if that names none.
     * - creator_idle; 0 also if node_role is 0. */
    EVENT_NODE_CREATED,
    /* A node was deleted [process (creator), lock, session, path, node_role, czxid, change_zxid = zxid of
     * the deletion]. If the node was persistent, the process is the one that deleted it. The owner is one
     * of these:
     * - 1 + the process whose request deleted a persistent node, or an ephemeral of a live session.
     * - EVENT_BY_OPERATOR: the operator deleted an ephemeral of a live session.
     * - EVENT_BY_TIME: its lease ran out. Without a clock, owner is 0 instead if a fault ended the lease,
     *   or the process was paused.
     * - EVENT_BY_LOSS: a server has lost it.
     * - 0: all other deletions, such as those at the end of a session; or the reason is unknown (a real
     *   server). */
    EVENT_NODE_DELETED,
    EVENT_SESSION_OPENED, /* the opening of the session is committed [process, session] */
    /* The session has expired or was closed at the server, and its nodes still stand [process, session,
     * time_is_up]. */
    EVENT_SESSION_CLOSING,
    EVENT_SESSION_CLOSED, /* the nodes of the session are gone from the committed log [process, session] */

    /* ---- Requests and watches. ---- */

    EVENT_REQUEST, /* a request was issued [process, lock, request, path = its node, or the whole request] */
    /* A watch was set [process, lock, czxid of the watched node, 0 = absent; watch]. Further:
     * - session = that of the handle; 0 if it is over, even if the process was not told yet.
     * - owner = with EVENT_WATCH_PARENT the number of the directory, as of NODE_CREATED. */
    EVENT_WATCH_SET,
    /* The watch fired, was removed, or its handle is gone [fields as of WATCH_SET, and change_zxid]. If it
     * did not fire, or was told at reconnect, change_zxid is 0. */
    EVENT_WATCH_GONE,
    /* A node event was delivered to a watcher [process, lock, zk_type]. Further:
     * - czxid of the created or deleted node. With a changed child list: of the deleted child, 0 if no
     *   child was deleted.
     * - change_zxid = zxid of the change, 0 = told at reconnect.
     * - owner = 1 if it was a node of this process; else 0. */
    EVENT_WOKEN,
    /* A write reached the resource [process, lock, owner, token that was sent, taken, guard_czxid]. */
    EVENT_EFFECT,
    /* A guarded write was answered [process, lock, owner, rc, token of the hold under which it was
     * written]. */
    EVENT_WRITTEN,

    /* ---- Revocation. ---- */

    /* a holder is asked to give back the hold with this token [process, lock, owner, token] */
    EVENT_REVOKE_ASKED,
    EVENT_REVOKE_SENT, /* the answer to a request that the lock be given back [process (asker), lock, rc] */

    /* ---- Processes and links. ---- */

    EVENT_CRASHED,   /* [process] */
    EVENT_RESTARTED, /* [process] */
    EVENT_STOPPED,   /* the process closed its session in an orderly way, and its memory is empty [process] */
    EVENT_PAUSED,    /* [process] */
    EVENT_RESUMED,   /* [process] */
    /* A fault, or the end of one, is about to happen [process or none, action, owner = enum event_fault]. An
     * expiry that is due, and a cancel, are no faults here. */
    EVENT_FAULT,

    /* ---- The recipe itself. ---- */

    EVENT_MISBEHAVED, /* the recipe did a forbidden act [process, offence, path = where, NULL if unknown] */

    /* ---- The run, and further kinds. A new kind goes to the end: numbers of kinds never change. ---- */

    /* The world is at rest: no message is under way, and no session waits for its end. No server is frozen,
     * and no process is paused or cut off. Each open handle is connected, and no timer is armed that counts
     * (enum ls_timer_role in recipe.h). */
    EVENT_REST,
    EVENT_SETTLED, /* a callback was run, and the process awaits no answer [process, idle] */
    /* The process has closed the lock [process, lock, rc]. With rc 0, all its acquires, holds and releases of
     * the lock are over. With a negative rc, the close was refused and has changed nothing. */
    EVENT_LOCK_CLOSED,
    /* The data of an ephemeral node was set [fields as of NODE_DELETED; change_zxid = zxid of the write]. The
     * owner is EVENT_BY_OPERATOR; or 0 for a client, which asks to give the lock back. */
    EVENT_NODE_SET,
    /* The recipe has answered revocable() [process, lock, rc]. With rc 0, the process is told of requests to
     * give the lock back from now on. */
    EVENT_LISTENS,
    /* the process asks for the lock to be given back; one REVOKE_SENT follows [process, lock] */
    EVENT_REVOKES,
    /* the process closes the lock; one LOCK_CLOSED follows behind all answers [process, lock] */
    EVENT_CLOSES,
    /* A list of the lock's directory was delivered, or the answer that the directory is missing [process,
     * lock]. The server made the answer after the operator's last deletion of a contender of this process.
     * Worlds with one server only. */
    EVENT_LISTED,
    EVENT_HOLD_LOST, /* the hold is over, its session not [process, lock, owner, token, lease_timer] */
    /* The process knows another capacity of the lock's group from now on [process, lock, capacity]. A
     * close of the lock, and the end of the process, restore the declared capacity, without an event. */
    EVENT_CAPACITY,
    /* the node of the lock's capacity was created, set or deleted [lock, capacity that it has from now on,
     * 0 = none] */
    EVENT_COUNT_SET,
    /* An outage of the servers begins or ends [outage]. Until it ends, the servers answer that they cannot do
     * what clients need. */
    EVENT_OUTAGE,
    EVENT_KINDS
};

/* Offences: acts that are forbidden to every recipe, whatever it promises (recipe.h, env.h). "It" is the
 * recipe. */
enum event_offence {
    EVENT_OFFENCE_CRASH,  /* a signal, or the client library, ended it */
    EVENT_OFFENCE_LOOP,   /* it did not return */
    EVENT_OFFENCE_GLOBAL, /* it changed a variable of the program, which is no part of its state */
    EVENT_OFFENCE_FREE,   /* it freed memory that it does not own */
    EVENT_OFFENCE_LOCK,   /* it took the mutex twice, or dropped the mutex without holding it */
    EVENT_OFFENCE_KEEP,   /* it returned, or reported, with the mutex held */
    /* its timer function returned without the mutex, or it called ls_env_callback_enter() and
     * ls_env_callback_leave() not equally often */
    EVENT_OFFENCE_RETURN,
    EVENT_OFFENCE_BLOCK,        /* it went to sleep, where no thread can wake it */
    EVENT_OFFENCE_CLEAN,        /* at rest it said that clean-up is left over, which nothing will ever do */
    EVENT_OFFENCE_STATE,        /* it wrote before or behind its state */
    EVENT_OFFENCE_BLOCK_BOUNDS, /* it wrote before or behind a block of memory */
    EVENT_OFFENCE_FREED,        /* it wrote to memory that it had freed */
    EVENT_OFFENCE_STALE,        /* it read memory that it had freed, or outside of a block */
    EVENT_OFFENCE_LENT,     /* it used memory that the client library had lent to a callback that is over */
    EVENT_OFFENCE_UNSET,    /* two runs of one step differ, because they read memory that was not set */
    EVENT_OFFENCE_LEAK,     /* its stop() left memory behind, or would do so at rest */
    EVENT_OFFENCE_UNLOCKED, /* it called its environment without the mutex; path = the function */
    EVENT_OFFENCE_WRONG,    /* its wrong() named an invariant that does not hold; path = that text */
    EVENT_OFFENCE_OPEN,     /* its stop() left a handle open */
    EVENT_OFFENCE_CONTENTS, /* it created a contender with other data than its configuration names */
    EVENT_OFFENCE_GUARD,    /* its guard() made a check for an owner that does not hold */
    EVENT_OFFENCE_HANDLE,   /* it used a handle that is not open, or not its own; path = the call */
    /* it accepted a call that it must refuse, or refused it with another code; path = the call and both
     * codes */
    EVENT_OFFENCE_REFUSAL,
    EVENT_OFFENCES
};

/* The effect of a fault on requests and calls, besides losing or delaying them. */
enum event_fault {
    EVENT_FAULT_LOSSES, /* none: for instance, a link, a session, a process or a server is gone */
    EVENT_FAULT_NODES,  /* servers may refuse requests: nodes or their ACL are changed, by no process */
    EVENT_FAULT_MEMORY, /* an allocation of the process, or of its client library, fails */
};

/* The circumstance in which a recipe's belief ended. */
enum event_doubt {
    EVENT_DOUBT_OTHER,  /* none of the others */
    EVENT_DOUBT_DENIED, /* query() denies a hold that was neither given back nor told to be lost */
    EVENT_DOUBT_TIMER, /* a timer of the recipe, of another role than LS_TIMER_DEADLINE, fired in this step */
};

enum event_request {
    EVENT_REQUEST_CREATE,
    EVENT_REQUEST_DELETE,
    EVENT_REQUEST_EXISTS,
    EVENT_REQUEST_GET,
    EVENT_REQUEST_SET,
    EVENT_REQUEST_CHILDREN,
    EVENT_REQUEST_SYNC,
    EVENT_REQUEST_MULTI,
    EVENT_REQUEST_UNWATCH,
    EVENT_REQUEST_OTHER,
};

enum event_watch {
    EVENT_WATCH_OWN,         /* on a node below the lock's directory that this process owns */
    EVENT_WATCH_PREDECESSOR, /* on another node that stands there, such as a contender of another process */
    EVENT_WATCH_PARENT,      /* on the child list of the lock's directory */
    EVENT_WATCH_OTHER,       /* on an absent node, on the directory itself, or on another child list */
    EVENT_WATCH_COUNT,       /* on the node of the lock's capacity, also while it is absent */
};

/* One event. Its kind decides the meaning of `code`, `zxid`, `cause`, `session` and `path`. The members of a
 * union are names of the same bytes: `code`, `zxid` and `cause` for every kind, the others for the kinds that
 * their comments list. */
struct event {
    uint8_t kind;    /* enum event_kind */
    uint8_t process; /* index, or EVENT_PROCESS_NONE */
    uint8_t lock;    /* index, or EVENT_LOCK_NONE */
    uint8_t owner;   /* number of the owner in its process, unless the kind has another meaning */
    union {
        int32_t code;       /* by kind */
        int32_t rc;         /* FAILED, REFUSED, FREED, WRITTEN, REVOKE_SENT, LOCK_CLOSED, LISTENS: 0, or an
                               error of enum ls_err, which is negative */
        int32_t timeout_ms; /* ASKED: time in ms; 0 = try, -1 = for ever */
        int32_t depth;      /* GRANTED, RELEASED: levels of the hold from now on, 0 or more */
        int32_t warning;    /* WARNED: enum ls_warning */
        int32_t belief;     /* DOUBTS: enum ls_belief, not LS_HELD */
        int32_t node_role;  /* NODE_CREATED, NODE_DELETED, NODE_SET: 1 = contender, 2 = node that queues, 0 =
                               other node */
        int32_t time_is_up; /* SESSION_CLOSING: 1 = expired by the clock, else 0 */
        int32_t request;    /* REQUEST: enum event_request */
        int32_t watch;      /* WATCH_SET, WATCH_GONE: enum event_watch */
        int32_t zk_type;    /* WOKEN: ZooKeeper's event type: a ZOO_…_EVENT of zookeeper.h */
        int32_t taken;      /* EFFECT: 1 = the resource took the write, 0 = refused */
        int32_t action;     /* FAULT: enum action_kind */
        int32_t offence;    /* MISBEHAVED: enum event_offence */
        int32_t idle;       /* SETTLED: 1 = the recipe's idle() says that no clean-up is left over, else 0 */
        int32_t capacity;   /* CAPACITY, COUNT_SET: number of units; with COUNT_SET, 0 = none */
        int32_t outage;     /* OUTAGE: 1 = begins, 0 = over */
    };
    union {
        int64_t zxid;  /* by kind */
        int64_t czxid; /* NODE_…, WATCH_…, WOKEN: zxid that created the node; 0 = no node */
        int64_t token; /* GRANTED, EFFECT, WRITTEN, REVOKE_ASKED, HOLD_LOST: fencing token; 0 = unknown */
    };
    union {
        int64_t cause;        /* by kind */
        int64_t call_locks;   /* ASKED: locks of a call for several, a bit for each; 0 = one lock */
        int64_t within_stop;  /* FAILED, FREED: 1 = answer within stop(), or within close() of the lock; else
                                 0 */
        int64_t doubt;        /* DOUBTS: enum event_doubt */
        int64_t creator_idle; /* NODE_CREATED: 1 = the creator's idle() says that no clean-up is left over */
        int64_t change_zxid;  /* NODE_DELETED, NODE_SET, WATCH_GONE, WOKEN: zxid of the change; 0 = told at
                                 reconnect */
        int64_t guard_czxid;  /* EFFECT: czxid of the contender that a guarded multi checked; 0 = no guard */
        int64_t lease_timer;  /* HOLD_LOST: 1 = a timer of LS_TIMER_LEASE fired in this step, else 0 */
    };
    int64_t session;  /* by kind; 0 = none */
    int64_t now_ms;   /* time in ms: virtual, or real since the start; 0 in untimed runs */
    const char *path; /* text for people, by kind; NULL = none; valid during the call only */
};

/* The bit of a kind in a mask of event kinds. */
#define EVENT_BIT(kind) (1ull << (kind))

#ifdef __cplusplus
}
#endif

#endif
