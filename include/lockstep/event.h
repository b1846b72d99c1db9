/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semantic events: what happens in a run, and the only thing that judges see (<lockstep/property.h>). A world, or the runner
 * on a real server, emits them in the order in which they happened; within one step in the order of their causes. */
#ifndef LOCKSTEP_EVENT_H
#define LOCKSTEP_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_PROCESS_NONE 255u /* done by the operator or by nobody in particular */
#define EVENT_LOCK_NONE 255u    /* not about one lock */
#define EVENT_BY_OPERATOR 255u  /* of NODE_DELETED and NODE_SET: the operator has done it to a contender */
#define EVENT_BY_LOSS 253u      /* of NODE_DELETED: a server has lost the node, though it had told of it */
#define EVENT_BY_TIME 254u      /* of NODE_DELETED: the lease ran out */

enum event_kind {
    /* The client's side: what a caller of the recipe asks and is told. */
    EVENT_ASKED,    /* process, lock, owner; code = timeout in ms (-1 = for ever, 0 = try);
                       cause = the locks of a call for several, a bit for each, else 0 */
    EVENT_GRANTED,  /* process, lock, owner; zxid = fencing token, session = handle's session, code = depth */
    EVENT_FAILED,   /* process, lock, owner; code = rc: the acquire ended without the lock;
                       cause = 1 if this is told within stop(), or within close() of this lock */
    EVENT_CANCELED, /* process, lock, owner: the caller gives the pending acquire up (FAILED follows) */
    EVENT_RELEASED, /* process, lock, owner; code = depth left, 0 = given back: the caller stops using it now */
    EVENT_REFUSED, /* process, lock, owner; code = rc: a release was refused */
    EVENT_FREED,   /* process, lock, owner; code = rc: the release is complete; cause as of FAILED */
    EVENT_WARNED,  /* process, lock; code = warning */
    EVENT_IDLE,    /* process: nothing left to do in the background */

    /* The session as the recipe tells it to its listeners. */
    EVENT_CONNECTED,   /* process, session */
    EVENT_SUSPENDED,   /* process, session */
    EVENT_RECONNECTED, /* process, session */
    EVENT_LOST,        /* process, session */
    EVENT_READ_ONLY,   /* process, session */

    /* The session as the client library tells it to the recipe (delivered session events).
       owner = index of the handle in its process; each handle has a link and a session of its own. */
    EVENT_LINK_UP,     /* process, session: CONNECTED was delivered */
    EVENT_LINK_DOWN,   /* process, session: CONNECTING was delivered */
    EVENT_EXPIRED,     /* process, session: EXPIRED was delivered */
    EVENT_AUTH_FAILED, /* process, session */

    /* Belief: the answer of the recipe's query, on a change (D5). */
    EVENT_BELIEVES, /* process, lock, owner: the answer became "held" */
    EVENT_DOUBTS,   /* process, lock, owner; code = enum ls_belief (recipe.h): it became something else.
                     cause = enum event_doubt */

    /* The coordinator: the committed log and its sessions. */
    EVENT_NODE_CREATED, /* process (creator), lock, zxid = czxid, session = ephemeral owner, path;
                           code = 1 if it is a contender: an ephemeral child of the lock's directory;
                           code = 2 if it is a node that queues (LS_NODE_QUEUED in recipe.h);
                           owner = number of its directory among those of the recipe, 0 if it has none;
                           cause = 1 if it is one, and idle() of its process says that no clean-up is left over */
    EVENT_NODE_DELETED, /* process, lock, session, path, code likewise; zxid = the node's czxid; cause = zxid of the deletion;
                           owner = 1 + the process whose request deleted it while the session of the node lived,
                           EVENT_BY_OPERATOR = the operator, while the session of a contender lived, EVENT_BY_TIME = nobody:
                           its lease ran out, in a world without a clock with no fault and of a process that was not
                           paused, EVENT_BY_LOSS = a server, which forgot it, 0 = a server, the session was over already, or
                           unknown (a real server) */
    EVENT_SESSION_OPENED, /* process, session: committed */
    EVENT_SESSION_CLOSING, /* process, session: expired or closed at the server; its nodes still stand; code = 1 if, by the
                              clock, its time was up */
    EVENT_SESSION_CLOSED, /* process, session: its nodes are gone from the committed log */

    /* Requests and watches. */
    EVENT_REQUEST,    /* process, lock; code = enum event_request: a request was issued */
    EVENT_WATCH_SET,  /* process, lock; zxid = czxid of the watched node, 0 = absent; code = enum event_watch;
                        session = that of the handle; 0 if it is over, which the process may not have been told;
                        owner = of EVENT_WATCH_PARENT the number of the directory, as of NODE_CREATED */
    EVENT_WATCH_GONE, /* the same: it fired (cause = zxid of what it fired for, 0 = told at reconnect), was removed, or its handle is
                         gone */
    EVENT_WOKEN, /* process, lock: a node event was delivered to a watcher; code = ZooKeeper's event type,
                    zxid = czxid of the created or deleted node; with a changed child list, of the deleted child,
                    0 if no child was deleted; cause = zxid of the change (0 = told at reconnect),
                    owner = 1 if it was a node of the same process */
    EVENT_EFFECT, /* process, lock, owner; zxid = fencing token sent, code = 1 taken by the resource, 0 refused,
                         cause = czxid of the contender node (the token) when a guarded multi wrote, else 0 */
    EVENT_WRITTEN, /* process, lock, owner; code = rc: the writer is told what became of its guarded write;
                      zxid = fencing token of the hold under which it was written */

    /* Revocation. */
    EVENT_REVOKE_ASKED, /* process, lock, owner; zxid = fencing token of the hold: it is asked to give it back */
    EVENT_REVOKE_SENT, /* process, lock; code = rc: the asker is told what became of its request */

    /* What happens to processes and links. */
    EVENT_CRASHED,   /* process */
    EVENT_RESTARTED, /* process */
    EVENT_STOPPED,   /* process: it closed its session in an orderly way and forgot everything */
    EVENT_PAUSED,    /* process */
    EVENT_RESUMED,   /* process */
    EVENT_FAULT, /* process or none; code = enum action_kind (sim.h), owner = enum event_fault: any fault, before
                       its consequences */

    /* The recipe itself. */
    EVENT_MISBEHAVED, /* process; code = enum event_offence; path = where, NULL if nobody knows */

    /* The run. */
    EVENT_REST,    /* quiet: connected, no message under way, no timer of work armed, no fault pending */
    EVENT_SETTLED, /* process: a callback was run, and no request of the process is under way; code = 1 if
                      idle() of the recipe says that no clean-up is left over, else 0 */
    EVENT_LOCK_CLOSED, /* process, lock; code = rc: 0 = all its owners' acquires, holds and releases of the lock are over;
                          negative = refused, nothing has changed */
    EVENT_NODE_SET, /* as NODE_DELETED; cause = zxid of the write: the data of a contender node was set; owner =
                       EVENT_BY_OPERATOR = by the operator, 0 = by a client, which asks to give the lock back */
    EVENT_LISTENS, /* process, lock; code = rc of revocable(): 0 = requests to give the lock back are told from now
                       on */
    EVENT_REVOKES,   /* process, lock: it asks for the lock to be given back; one REVOKE_SENT follows */
    EVENT_CLOSES,    /* process, lock: it closes the lock; a LOCK_CLOSED follows behind all answers */
    EVENT_LISTED,    /* process, lock: a list of the lock's directory, or the answer that it is missing, was
                     delivered. The server read it behind the last deletion of a contender of this process by
                     the operator. Worlds with one server only */
    EVENT_HOLD_LOST, /* process, lock, owner; zxid = fencing token: the hold is over, its session goes on;
                     cause = 1 if a timer of LS_TIMER_LEASE (recipe.h) fired in this step, else 0 */
    EVENT_CAPACITY,  /* process, lock; code = the capacity of the lock's group that the process knows from now
                        on. It is the declared one again once the lock is closed, or the process is gone */
    EVENT_COUNT_SET, /* lock; code = the capacity that stands in the lock's node from now on, 0 = none */
    EVENT_OUTAGE,    /* code = 1: an outage of the servers begins, and lasts until a fault ends it.
                        Meanwhile servers answer that they cannot do what clients need.
                        0 = the outage is over */
    EVENT_KINDS
};

/* What no recipe may do, whatever it promises (recipe.h, env.h). */
enum event_offence {
    EVENT_OFFENCE_CRASH,  /* a signal ended it */
    EVENT_OFFENCE_LOOP,   /* it did not come back */
    EVENT_OFFENCE_GLOBAL, /* it changed memory that is no part of its state: a variable of the program */
    EVENT_OFFENCE_FREE,   /* it freed what it does not own */
    EVENT_OFFENCE_LOCK,   /* it took the mutex twice, or dropped what it did not hold */
    EVENT_OFFENCE_KEEP,   /* it came back, or reported, with the mutex held */
    EVENT_OFFENCE_RETURN, /* a timer's function came back without the mutex, or a callback was left half */
    EVENT_OFFENCE_BLOCK,  /* it went to sleep, where nobody can wake it */
    EVENT_OFFENCE_CLEAN,  /* at rest it said that clean-up is left over, which nothing will ever do */
    EVENT_OFFENCE_STATE,  /* it wrote before or behind its state */
    EVENT_OFFENCE_BLOCK_BOUNDS, /* it wrote before or behind a block of memory */
    EVENT_OFFENCE_FREED,        /* it wrote to memory that it had freed */
    EVENT_OFFENCE_STALE,        /* it read memory that it had freed, or outside of a block */
    EVENT_OFFENCE_LENT,         /* it used what the client library had lent to a callback that is over */
    EVENT_OFFENCE_UNSET,        /* two runs of one step differ, as what they read had not been set */
    EVENT_OFFENCE_LEAK,         /* its stop left memory behind, or would at rest */
    EVENT_OFFENCE_UNLOCKED,     /* it called its environment without the mutex; path = the function */
    EVENT_OFFENCE_WRONG,        /* its wrong() named an invariant that does not hold; path = that text */
    EVENT_OFFENCE_OPEN,         /* its stop left a handle open */
    EVENT_OFFENCE_CONTENTS,     /* it created a contender with other data than its configuration names */
    EVENT_OFFENCE_GUARD,        /* its guard() made a check for an owner that does not hold */
    EVENT_OFFENCE_HANDLE,       /* it used a handle that is not open, or not its own; path = the call */
    EVENT_OFFENCE_REFUSAL, /* it did not refuse a call, or by another code; path = the call and both codes */
    EVENT_OFFENCES
};

/* What a fault may do to requests and calls besides losing or delaying them. */
enum event_fault {
    EVENT_FAULT_LOSSES, /* nothing else: a link, a session, a process or a server is gone for a while */
    EVENT_FAULT_NODES,  /* the operator changes nodes or their ACL: servers may refuse requests */
    EVENT_FAULT_MEMORY, /* an allocation of the process, or of its client library, fails */
};

/* When a recipe's belief ended. */
enum event_doubt {
    EVENT_DOUBT_OTHER,  /* none of these */
    EVENT_DOUBT_DENIED, /* it says LS_NOT_HELD of a hold that was neither given back nor told to be lost */
    EVENT_DOUBT_TIMER,  /* a timer of the recipe fired that is no deadline of an acquire */
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
    EVENT_WATCH_OWN,         /* on a contender node of the same process */
    EVENT_WATCH_PREDECESSOR, /* on a contender node of another */
    EVENT_WATCH_PARENT,      /* on the child list of the lock's directory */
    EVENT_WATCH_OTHER,       /* on anything else below or at the lock's directory, also on absent nodes */
    EVENT_WATCH_COUNT,       /* on the node of the lock's capacity, also while it is absent */
};

struct event {
    uint8_t kind;     /* enum event_kind */
    uint8_t process;  /* index, or EVENT_PROCESS_NONE */
    uint8_t lock;     /* index, or EVENT_LOCK_NONE */
    uint8_t owner;    /* thread of the process; see NODE_DELETED and WOKEN */
    int32_t code;     /* see kind */
    int64_t zxid;     /* see kind */
    int64_t cause;    /* see kind */
    int64_t session;  /* see kind; 0 = none */
    int64_t now_ms;   /* virtual (or real, since the start) milliseconds; 0 in untimed runs */
    const char *path; /* see kind; for printing, NULL if none; lives for the call only */
};

/* A set of event kinds is a mask. */
#define EVENT_BIT(kind) (1ull << (kind))

#ifdef __cplusplus
}
#endif

#endif
