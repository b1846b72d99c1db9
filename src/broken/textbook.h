/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The textbook mutex, and the defects that can be planted into it.
 *
 * Without a defect it is a correct reentrant mutex in the plainest form:
 * - an ephemeral sequential node for each acquire, with a new id in its name
 * - a search by that id after a lost answer
 * - a watch on the nearest predecessor
 *
 * It differs from the library's mutex on purpose: one request at a time, a clean-up that is part of the
 * attempt, no back-off.
 *
 * Nothing in its memory points to code or constants: the defects are named by an index, and watches carry
 * the state itself as their context. */
#ifndef BROKEN_TEXTBOOK_H
#define BROKEN_TEXTBOOK_H

#include <lockstep/recipe.h>
#include <zookeeper/zookeeper.h>

struct textbook_defects {
    /* The line. */
    bool trusts_first_child;  /* takes the first of the unsorted list for the head of the line (F57) */
    bool orders_by_full_name; /* compares whole names, and so ids before sequence numbers (Z05) */
    bool wakeup_is_grant;     /* takes the end of the predecessor for the lock (F45) */
    bool any_event_is_grant;  /* the same, and session events for the end of the predecessor (F4) */
    bool trusts_name;         /* accepts a node by its name, whichever session it belongs to (Z02) */
    /* Tokens. */
    bool token_is_session;  /* hands the session id out as fencing token */
    bool token_is_sequence; /* hands the sequence number out, which starts again with the directory */
    bool token_is_narrow;   /* keeps 32 bits of its czxid, which start again with each leader (F107) */
    bool guards_directory;  /* guards writes by the lock's directory instead of its own node */
    /* Waiting. */
    bool waits_for_absent; /* "exists" with a watch, and sleeps if the predecessor is gone already (Z06) */
    bool mixes_orders;     /* looks for a predecessor by whole name, but for the head by number (Z03) */
    bool watches_parent;   /* watches the list of children */
    bool watches_first;    /* watches the head of the line instead of the nearest (Z38) */
    bool exists_watch;     /* "exists" with a watch; lists again if the predecessor is gone (Z29) */
    bool leaves_watch;     /* does not remove the watch of an acquire that ended */
    bool requeues_if_gone; /* creates a new node if the predecessor went before it could be watched (C07) */
    bool locks_twice;      /* takes the mutex again, which it holds, if the predecessor went */
    bool requeues_when_woken; /* the same at each wake-up (Z16) */
    bool polls;               /* lists again and again instead of watching */
    bool resets;              /* queues again after each reconnection, and if the predecessor went (Z16) */
    bool tries_again;         /* takes its node back if it is not the first, and tries again */
    bool steps_aside;         /* lets others go first if there are any */
    /* Lost answers and ended acquires. */
    bool forgets_lost_create; /* creates again after a lost answer (Z01) */
    bool minus_seven_is_no;   /* takes -7 for "not executed" (F9) */
    bool skips_sync;          /* concludes absence from a list that may be behind (C09) */
    bool expects_create;      /* looks for the node of a lost create until it finds it */
    bool cancel_leaves_node;  /* an ended acquire leaves its node (Z21) */
    bool gives_up_cleanup;    /* tries once to remove the node of an ended acquire (Z25) */
    bool times_out_early;     /* tells waiters that their time is up as soon as the link is down */
    bool busy_if_new;         /* tells a try that the lock is busy if it had to make the directory */
    bool waits_out_outage;    /* answers at the deadline only if it is connected */
    /* Releasing. */
    bool gives_up_release; /* tries once to delete its node on release (CURATOR-45) */
    bool keeps_for_itself; /* deletes its node some time later, and takes the lock again until then */
    bool never_deletes;    /* reports a release complete without deleting the node */
    bool frees_at_first;   /* the first release frees, however deep the lock is held */
    bool frees_for_anyone; /* frees the lock, whichever owner holds it and whichever asks */
    bool drops_node;       /* deletes the node of a hold when the link is back, and goes on holding */
    bool
        frees_silently; /* does not answer a release when the session is lost before the delete is answered */
    bool revokes_by_force; /* deletes the node of a holder, instead of asking it to give the lock back */
    /* Losses. */
    bool keeps_belief;     /* believes to hold whatever happens to link and session (Z35) */
    bool knows_no_margin;  /* believes to hold while it heard of no broken link, however long ago that was */
    bool hides_loss;       /* tells the next session as reconnected instead of the loss (Z34) */
    bool hides_suspension; /* does not tell that the link is down */
    bool misses_early_events; /* takes events before init has returned for those of a former handle (F19) */
    bool waits_for_answers;   /* after a lost session, waits for answers that a close may drop (F21) */
    /* the same, and also for the answer to a call that was refused because the session is dead (F16, F45) */
    bool trusts_calls;
    bool asks_nobody; /* a revoke() for a place without a contender gets no answer */
    /* every acquire is answered as if the lock was closed, without a request to ZooKeeper */
    bool fails_at_once;
};

/* Indexed by textbook.variant; 0 = no defect. */
extern const struct textbook_defects textbook_variants[];

#define TEXTBOOK_AHEAD_MAX 96
#define TEXTBOOK_PATH_MAX 320
#define TEXTBOOK_ATTEMPTS_MAX 48

enum attempt_state {
    ATTEMPT_CREATING = 1,  /* the contender node is being created */
    ATTEMPT_MAKING_PARENT, /* the lock's directory was missing */
    ATTEMPT_SYNCING,       /* before a list or a search that must not be behind */
    ATTEMPT_SEARCHING,     /* the answer to the create was lost: which node carries the attempt's id? */
    ATTEMPT_CHECKING,      /* a node does: is it of this session, and what is its czxid? */
    ATTEMPT_LISTING,       /* the attempt's node is known: which contenders are before it? */
    ATTEMPT_WATCHING,      /* the watch on the nearest predecessor is being set */
    ATTEMPT_WAITING,       /* the watch is set */
    ATTEMPT_HELD,          /* granted */
    ATTEMPT_UNWATCHING,    /* ended: the watch is being removed */
    ATTEMPT_DELETING,      /* ended or released: the node is being deleted */
    ATTEMPT_DONE,          /* nothing left but callbacks to come */
};

/* One owner's way to one lock and back, and the clean-up if it does not get the lock. Lies in the
 * environment's heap. */
struct attempt {
    struct textbook *book;
    struct attempt *next;     /* next attempt, in the order in which they were asked for */
    struct ls_timer deadline; /* runs until the acquire is answered */
    struct ls_timer retry;    /* runs after a request that could not be issued */
    struct ls_stamp fresh;    /* time of sending the last write or sync of this attempt */
    int64_t czxid;            /* czxid of the contender node */
    int32_t sequence;         /* sequence of the contender node, if it is known */
    uint16_t depth;           /* while HELD */
    uint8_t state;            /* enum attempt_state */
    uint8_t lock, owner;
    uint8_t busy;       /* callbacks still to come from the present session: 0 or 1 */
    uint8_t stale;      /* callbacks still to come from a lost session, whose answers are not used */
    bool named;         /* `sequence` is known: there is, or was, a node */
    bool stalled;       /* waits for a connection to do what `state` says */
    bool maybe;         /* the answer to a create was lost */
    bool trying;        /* fails instead of waiting */
    bool abandoned;     /* the caller has its answer: clean up */
    bool releasing;     /* the last release was taken; FREED is still to be reported */
    bool watching;      /* a watch stands on `ahead` */
    bool dropped;       /* its node was deleted while it is held (a defect) */
    bool overdue;       /* its deadline passed during an outage (a defect) */
    uint8_t parent_end; /* MAKING_PARENT: length of the ancestor being created */
    uint8_t id[16];     /* in the node's name; new for each session */
    char ahead[TEXTBOOK_AHEAD_MAX]; /* name of the predecessor that is watched */
};

struct outbox; /* the reports of the present call, made when the mutex is dropped */

struct textbook {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct outbox *out; /* on the stack of the present call, else NULL */
    struct attempt *first;
    struct ls_timer reopen;
    int64_t session;    /* 0 = none */
    int32_t timeout_ms; /* negotiated */
    uint16_t variant;   /* index into textbook_variants */
    bool connected;     /* between CONNECTED and CONNECTING as delivered */
    bool suspended;     /* reported as suspended */
    bool no_containers; /* the servers have refused a container */
    bool was_connected; /* hides_loss: a session was reported before */
    bool stopping;
    uint8_t asked_lock;  /* revoke.c: the lock that the present request is about */
    uint8_t asked_place; /* revoke.c: the place that it is about; 0 = no request */
};

/* ---- textbook.c: the recipe's functions ---- */

int textbook_start(struct textbook *book, struct ls_env *env, const struct ls_recipe_config *config,
                   int variant);
void textbook_stop(void *state);
int textbook_acquire(void *state, int lock, int owner, int timeout_ms);
int textbook_cancel(void *state, int lock, int owner);
int textbook_release(void *state, int lock, int owner);
enum ls_belief textbook_query(const void *state, int lock, int owner);
bool textbook_idle(const void *state);
int textbook_guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size);
zhandle_t *textbook_handle(const void *state);
void textbook_canon(const void *state, struct ls_rename *rename);

/* ---- revoke.c: asks others; its own holders never listen ---- */

int textbook_revocable(void *state, int lock);
int textbook_revoke(void *state, int lock, int place);
extern const char *const textbook_states[];
uint32_t textbook_states_now(const void *state);

#define OUTBOX_MAX (TEXTBOOK_ATTEMPTS_MAX + 8)
struct outbox {
    int count;
    struct ls_report report[OUTBOX_MAX];
};

/* Collects the reports of a call in `out`; the mutex is held. */
void textbook_begin(struct textbook *book, struct outbox *out);

/* Takes the mutex and begins. */
void textbook_enter(struct textbook *book, struct outbox *out);

/* Frees attempts that are done, drops the mutex and makes the reports. */
void textbook_leave(struct textbook *book);
void textbook_report(struct textbook *book, const struct ls_report *report);

const struct textbook_defects *textbook_defects_of(const struct textbook *book);

/* Returns the part of a contender's path before its last slash: the path of the lock, empty if that is
 * "/". */
const char *textbook_folder(const struct textbook *book, int lock);

/* Grants the lock: the attempt's node is the head of the line. */
void textbook_grant(struct attempt *attempt);

/* ---- attempt.c: the state machine; the mutex is held ---- */

/* Does what a new state asks for, or waits for a connection to do it. */
void attempt_go(struct attempt *attempt, enum attempt_state state);

/* Leaves an attempt whose caller has its answer (the caller of this function gives it). The rest is
 * cleaned up in the background. */
void attempt_abandon(struct attempt *attempt);

/* Ends without the lock: reports `rc` and cleans up. */
void attempt_fail(struct attempt *attempt, int rc);

/* Handles the end of the session, and of all nodes and watches of the attempt. */
void attempt_session_lost(struct attempt *attempt);

/* Handles a new connection of the same session: the attempt goes on, or begins again (a defect). */
void attempt_reconnected(struct attempt *attempt);

/* Deletes the node of a release that waits, after some time (a defect). */
void attempt_release_late(struct attempt *attempt);

/* Handles the loss of the link: nothing, or the wrong answer (a defect). */
void attempt_suspended(struct attempt *attempt);

/* Handles a wake-up of a waiting attempt. */
void attempt_woken(struct attempt *attempt, bool by_session);

/* Writes the check that the attempt's node exists, for a multi. Returns LS_EOVERFLOW if its path does not
 * fit. */
int attempt_guard(const struct attempt *attempt, zoo_op_t *op, char *path, size_t size);

/* Returns the number in a contender's name; negative if it is none, or the counter is used up (F49). */
int64_t attempt_sequence_of(const char *name);

/* Stops the attempt's timers and forgets it. */
void attempt_finish(struct attempt *attempt);

#endif
