/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The textbook mutex, and the defects that can be planted into it.
 *
 * Without a defect it is a correct reentrant mutex in the plainest form. An acquire of an owner without a
 * hold creates an ephemeral sequential node with a new id in its name. If the answer to the create is lost,
 * the node is searched by that id. A watch stands on the nearest predecessor. The textbook differs from the
 * library's mutex on purpose: an attempt has one request at a time, cleans up itself, and repeats refused
 * calls at a fixed interval.
 *
 * Its fields point to no code, and to no constant but the configuration: an index names the defect, and the
 * context of all watches is the state itself. */
#ifndef BROKEN_TEXTBOOK_H
#define BROKEN_TEXTBOOK_H

#include <lockstep/recipe.h>
#include <zookeeper/zookeeper.h>

/* Each flag has its summary in BROKEN_LIST (broken.c). A comment here says more, or cites a rule or bug. */
struct textbook_defects {
    /* The line. */
    bool trusts_first_child;  /* F57 */
    bool orders_by_full_name; /* Z05 */
    bool wakeup_is_grant;     /* takes the end of the predecessor for the lock (F45) */
    bool any_event_is_grant;  /* takes each call of the watcher for the lock, session events too (F4) */
    bool trusts_name;         /* accepts a node by its name, whichever session it belongs to (Z02) */
    /* Tokens. */
    bool token_is_session;
    bool token_is_sequence;
    bool token_is_narrow;  /* keeps 32 bits of the czxid (F107) */
    bool guards_directory; /* guards writes by the lock's directory instead of its own node */
    /* Waiting. */
    bool waits_for_absent; /* "exists" with a watch, and sleeps if the predecessor is gone already (Z06) */
    bool mixes_orders;     /* finds the head by number, a predecessor by number and whole name (Z03) */
    bool watches_parent;
    bool watches_first; /* Z38 */
    bool exists_watch;  /* "exists" with a watch; lists again if the predecessor is gone (Z29) */
    bool leaves_watch;
    bool requeues_if_gone; /* creates a new node if the predecessor went before it could be watched (C07) */
    bool locks_twice;      /* takes the held mutex again if the predecessor went before the watch */
    bool requeues_when_woken; /* creates a new node at each wake-up, and as requeues_if_gone (Z16) */
    bool polls;
    bool resets;      /* creates a new node after each reconnection, and as requeues_if_gone (Z16) */
    bool tries_again; /* deletes its node if it is not the first, and creates a new one */
    bool steps_aside; /* deletes its node if there are other contenders, and creates a new one */
    /* Lost answers and ended acquires. */
    bool forgets_lost_create; /* Z01 */
    bool minus_seven_is_no;   /* F9 */
    bool skips_sync;          /* concludes absence from a list that may be behind (C09) */
    bool expects_create;
    bool cancel_leaves_node; /* Z21 */
    bool gives_up_cleanup;   /* Z25 */
    bool times_out_early;
    bool busy_if_new;
    bool waits_out_outage;
    /* Releasing. */
    bool gives_up_release; /* CURATOR-45 */
    bool keeps_for_itself;
    bool never_deletes;
    bool frees_at_first;
    bool frees_for_anyone; /* a release by an owner without a hold frees another owner's hold */
    bool drops_node;
    bool
        frees_silently; /* does not answer a release when the session is lost before the delete is answered */
    bool revokes_by_force;
    /* Losses. */
    bool keeps_belief; /* believes to hold whatever happens to link and session (Z35) */
    bool knows_no_margin;
    bool hides_loss; /* Z34 */
    bool hides_suspension;
    bool misses_early_events; /* ignores events before zookeeper_init() has returned (F19) */
    bool waits_for_answers;   /* after a lost session, waits for answers that a close may drop (F21) */
    /* as waits_for_answers; also waits for the answer to a call refused with ZINVALIDSTATE (F16, F45) */
    bool trusts_calls;
    bool asks_nobody;
    bool fails_at_once; /* answers LS_ECLOSED */
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
    ATTEMPT_CHECKING,      /* one node does: is it of this session, and what is its czxid? */
    ATTEMPT_LISTING,       /* the attempt's node is known: which contenders are before it? */
    ATTEMPT_WATCHING,      /* the watch on the nearest predecessor is being set */
    ATTEMPT_WAITING,       /* the watch is set */
    ATTEMPT_HELD,
    ATTEMPT_UNWATCHING, /* ended: the watch is being removed */
    ATTEMPT_DELETING,   /* ended or released: the node is being deleted */
    ATTEMPT_DONE,       /* freed once `busy` and `stale` are 0 */
};

/* One acquire of one owner, the hold after it, and the clean-up. Lies in the environment's heap. */
struct attempt {
    struct textbook *book;
    struct attempt *next;     /* in the order of their acquires */
    struct ls_timer deadline; /* runs until the acquire is answered */
    struct ls_timer retry;    /* runs after a request that could not be issued; or until a late release */
    struct ls_stamp fresh;    /* time of sending the last create or sync of this attempt */
    int64_t czxid;            /* of the contender node; 0 = not known */
    int32_t sequence;         /* of the contender node, if `named` */
    uint16_t depth;           /* levels while HELD, else 0 */
    uint8_t state;            /* enum attempt_state */
    uint8_t lock, owner;
    uint8_t busy;       /* callbacks still to come from the present session: 0 or 1 */
    uint8_t stale;      /* callbacks still to come from lost sessions; their answers are not used */
    bool named;         /* `sequence` is known: there is, or was, a node */
    bool stalled;       /* waits for a connection or the timer `retry` to do what `state` says */
    bool maybe;         /* the answer to a create was lost */
    bool trying;        /* fails instead of waiting */
    bool abandoned;     /* the acquire was answered without the lock: clean up */
    bool releasing;     /* the last level was released; FREED is still to be reported */
    bool watching;      /* a watch stands on `ahead` */
    bool dropped;       /* drops_node: the node was deleted while the lock is held */
    bool overdue;       /* waits_out_outage: the deadline passed during an outage */
    uint8_t parent_end; /* MAKING_PARENT: length of the ancestor being created; 0 and 1 see attempt.c */
    uint8_t id[16];     /* attempt id */
    char ahead[TEXTBOOK_AHEAD_MAX]; /* name of the predecessor that was watched last, or "" */
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
    bool connected;     /* the last delivered event was CONNECTED, not CONNECTING or the session's end */
    bool suspended;     /* SUSPENDED was reported, and no RECONNECTED since */
    bool no_containers; /* the servers have refused a container */
    bool was_connected; /* hides_loss: a session was reported before */
    bool stopping;
    uint8_t asked_lock;  /* textbook_revoke.c: the lock of the present request */
    uint8_t asked_place; /* textbook_revoke.c: the place in line of the present request; 0 = no request */
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

/* ---- textbook_revoke.c: asks others; its own holders never listen ---- */

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

/* Takes the mutex, and then does as textbook_begin(). */
void textbook_enter(struct textbook *book, struct outbox *out);

/* Frees attempts that are done, drops the mutex and makes the reports. */
void textbook_leave(struct textbook *book);
void textbook_report(struct textbook *book, const struct ls_report *report);

const struct textbook_defects *textbook_defects_of(const struct textbook *book);

/* Returns the lock's path; "" if that is "/". A contender's path is this, a slash and the contender's
 * name. */
const char *textbook_folder(const struct textbook *book, int lock);

void textbook_grant(struct attempt *attempt);

/* ---- attempt.c: the state machine; the mutex is held ---- */

/* Enters a state that has a request, and sends the request; without a connection, the request waits for
 * one. */
void attempt_go(struct attempt *attempt, enum attempt_state state);

/* Cleans an attempt up whose acquire was answered without the lock. */
void attempt_abandon(struct attempt *attempt);

/* Reports FAILED with `rc`, and cleans up. */
void attempt_fail(struct attempt *attempt, int rc);

/* Handles the end of the session: the attempt begins again if a caller waits for it, else it ends. */
void attempt_session_lost(struct attempt *attempt);

/* Handles a new connection: a stalled attempt goes on. */
void attempt_reconnected(struct attempt *attempt);

/* Deletes the node of a released hold after some time (keeps_for_itself). */
void attempt_release_late(struct attempt *attempt);

/* Handles the loss of the link (times_out_early). */
void attempt_suspended(struct attempt *attempt);

/* Handles a call of the watcher for a waiting attempt, `by_session` for a session event. */
void attempt_woken(struct attempt *attempt, bool by_session);

/* Makes *op a check that the attempt's node exists (guards_directory: the lock's directory). Writes its path
 * to `path`. Returns LS_OK, or LS_EOVERFLOW if the path does not fit. */
int attempt_guard(const struct attempt *attempt, zoo_op_t *op, char *path, size_t size);

/* Returns the number in a contender's name; -1 if it is no contender's; -2 if the counter is used up
 * (F49). */
int64_t attempt_sequence_of(const char *name);

/* Stops the attempt's timers, and makes it ATTEMPT_DONE. */
void attempt_finish(struct attempt *attempt);

#endif
