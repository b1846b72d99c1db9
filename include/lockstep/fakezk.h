/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* fakezk: an in-memory ZooKeeper ensemble behind the symbols of <zookeeper/zookeeper.h>, for one address space.
 *
 * The caller says which client runs (fakezk_enter), asks what can happen next (fakezk_steps) and lets one thing happen
 * (fakezk_step). Nothing happens by itself: no thread, no clock, no file. The behaviour follows the F-rules of
 * docs/fidelity.md. All state lies in the caller's arena; see src/base/arena.h. */
#ifndef LOCKSTEP_FAKEZK_H
#define LOCKSTEP_FAKEZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKEZK_CLIENTS_MAX 32
#define FAKEZK_HANDLES_MAX 2 /* open at a time in one client */
#define FAKEZK_SERVERS_MAX 5
#define FAKEZK_PATH_MAX 256
#define FAKEZK_NONE 255u

/* The zxids and session ids of the API carry this on top of a small number. Zxids may be of later epochs. */
#define FAKEZK_EPOCH 0x100000000ll
#define FAKEZK_EPOCHS_MAX 16 /* of one run; behind the last no new one begins */

struct arena;

/* Defects; a bit set switches the defect on. */
#define FAKEZK_DEFECT_WRAP 0x01u           /* the counter before ZOOKEEPER-3249 wraps (F49) */
#define FAKEZK_DEFECT_IMMORTAL 0x02u       /* closeSession forgets the ephemerals */
#define FAKEZK_DEFECT_SILENT_SESSION 0x04u /* a dead session is replaced at reconnect without a word */
#define FAKEZK_DEFECT_DROP_AT_CLOSE 0x08u  /* completions are not called at close (F21) */
#define FAKEZK_DEFECT_MISSED_WATCH 0x10u   /* DELETED is not sent */
#define FAKEZK_DEFECT_CURSOR 0x20u /* after a failed attempt half of an even server list is tried (F91) */

/* Settings of the servers; a bit set switches the setting on. */
#define FAKEZK_SETTING_THROTTLED 0x01u /* each third request that a server reads gets -127, undone (F102) */
#define FAKEZK_SETTING_LOCAL_SESSIONS 0x02u /* no session can have an ephemeral node (F103) */
#define FAKEZK_SETTING_REQUIRES_SASL 0x04u  /* each request gets -124, and the link is closed (F104) */
#define FAKEZK_SETTING_READ_ONLY 0x08u /* frozen followers serve clients that asked for ZOO_READONLY (F105) */
#define FAKEZK_SETTING_TLS 0x10u       /* a refused attempt fails in its handshake, with -15 (F106) */

struct String_vector; /* of zookeeper.h */

struct fakezk_options {
    int clients;        /* processes, 1 .. FAKEZK_CLIENTS_MAX */
    int servers;        /* 1 .. FAKEZK_SERVERS_MAX; server 0 leads */
    bool timed;         /* messages and sessions have times */
    int latency_min_ms; /* one way */
    int latency_max_ms;
    int tick_ms;
    /* Run constants: the order of lists (bits 0, 1 and 5), of session ids and of receivers; bit 4: the state lags (F1). */
    uint64_t seed;
    unsigned defects;       /* FAKEZK_DEFECT_… bits */
    unsigned settings;      /* FAKEZK_SETTING_… bits */
    bool epochs;            /* a restart of the leader begins a new epoch; only with followers (F107) */
    bool no_containers;     /* container creation answers -6 */
    bool callbacks_in_init; /* F19: the first callbacks run inside zookeeper_init */
    bool fine;              /* smaller steps, see enum fakezk_step_kind; only without `timed` */
    bool ignores_children;  /* no client sets watches on children or looks at a pzxid */
    bool sets_no_data;      /* no client sets the data of a node */
    bool fixed_orders;      /* lists from the oldest child on, the other orders as of seed 0 (F4, F57, F85) */
    /* NULL = every name of a list is looked at; otherwise sets unread[] for those that make no difference to the client that
     * the list is on its way to. */
    void (*unread)(int client, void (*completion)(void), const struct String_vector *names, bool *unread);
    void (*before_callback)(void); /* called right before each callback of a client; NULL = not */
    size_t client_bytes_max;       /* capacity of one client's block; 0 = default */
    size_t server_bytes_max;       /* capacity of one server's block; 0 = default */
    int32_t (*now_ms)(void); /* with `timed`: the clock of the world around it; NULL = a clock of its own */
};

enum fakezk_step_kind {
    FAKEZK_APPLY,    /* the server reads the client's next request */
    FAKEZK_COMMIT,   /* the oldest late write commits */
    FAKEZK_CATCH_UP, /* a follower applies the next transaction */
    FAKEZK_DELIVER,  /* the client's thread runs the next callback */
    FAKEZK_CONNECT,  /* connect, handshake, SetWatches */
    FAKEZK_BURY,     /* closeSession commits */
    FAKEZK_HANG_UP,  /* the server closes the link of a session it does not know any more */
    FAKEZK_GIVE_UP,  /* the client drops a mute link (F7), or a connection attempt times out */
    FAKEZK_EXPIRE,   /* the session becomes "closing" */
    /* With `fine` only. Then CONNECT ends where the server has answered, DELIVER runs what was received, a cut loses
     * everything unreceived, and what the server has not read it may still read until the client is back. */
    FAKEZK_RECEIVE,   /* the client takes the next message out of its socket */
    FAKEZK_HANDSHAKE, /* the client receives the answer to its connect request, and sends SetWatches */
    FAKEZK_REARM,     /* the server reads SetWatches */
    FAKEZK_LINGER,    /* the server reads the oldest write of a link that is broken already */
};

struct fakezk_step {
    uint8_t kind;    /* enum fakezk_step_kind */
    uint8_t client;  /* FAKEZK_NONE for CATCH_UP */
    uint8_t handle;  /* slot */
    uint8_t server;  /* APPLY, CATCH_UP, CONNECT */
    int32_t session; /* BURY, EXPIRE: session number */
    bool refused;    /* APPLY: the session is closing, the answer would be -112 (F30) */
    bool lagging;    /* CATCH_UP: the follower was told to lag */
    bool due;        /* EXPIRE: its time has come (timed), or its owner is gone for good */
};

enum fakezk_event_kind {
    FAKEZK_NODE_CREATED,
    FAKEZK_NODE_DELETED,
    FAKEZK_SESSION_OPENED,
    FAKEZK_SESSION_CLOSING, /* code = 1 if, by the clock, its time was up */
    FAKEZK_SESSION_CLOSED,
    FAKEZK_REQUESTED, /* code = op, see fakezk_op_name */
    FAKEZK_WATCH_SET, /* zxid = czxid of the node or 0; code = table: 0 data, 1 exist, 2 child */
    FAKEZK_WATCH_GONE,
    FAKEZK_WOKEN,         /* a node event reaches watchers; code = event type, cause = zxid of the change,
                              zxid as of EVENT_WOKEN (event.h) */
    FAKEZK_SESSION_EVENT, /* a session event reaches watchers; code = its state argument, handle = the slot */
    FAKEZK_EFFECT,        /* a multi that checks a node committed or failed: zxid = czxid of the checked node,
                              code = 1 committed, 0 failed, cause = 1 if this check failed it and not for want of
                              a permission, data = what its first set writes */
    FAKEZK_ABORTED,       /* the real client library would have ended the process inside the call `path` */
    FAKEZK_LISTED, /* one server only: a list, or the answer that its node is missing, is delivered. The server
                      read it behind the last deletion of an ephemeral of this client by the operator */
    FAKEZK_NODE_SET, /* the data of a node was set: zxid = its czxid, cause = zxid of the write, actor =
                        FAKEZK_BY_OPERATOR or 0 */
    FAKEZK_MISUSED, /* the call `path` was given what is no open handle of this client: undefined with the real
                       library, here as if it were NULL */
    FAKEZK_CALL_FAILED, /* the client library found no memory for a call, see fakezk_fail_call() */
};

#define FAKEZK_BY_OPERATOR 255u

struct fakezk_event {
    uint8_t kind;
    uint8_t client;    /* FAKEZK_NONE if nobody's; node events: of an ephemeral's session, else who did it */
    uint8_t ephemeral; /* node events */
    uint8_t own;       /* watch events: 1 if the node was the client's own when the watch was set */
    uint8_t handle;    /* session events */
    int32_t code;
    int32_t zxid;
    int32_t cause;
    int32_t session;  /* session number, 0 = none */
    const char *path; /* NULL if none */
    const char *data; /* effects, NODE_CREATED and NODE_SET: NULL if it sets nothing */
    int32_t data_size;
    uint8_t actor; /* NODE_DELETED: 1 + the client whose request deleted the node while its session lived.
                  FAKEZK_BY_OPERATOR = the operator deleted an ephemeral of a live session. 0 = a server did,
                  or the session was over already */
};

typedef void (*fakezk_observer)(void *ctx, const struct fakezk_event *event);

/* Lays the ensemble out in the arena (adds its blocks). One per address space. */
void fakezk_open(struct arena *arena, const struct fakezk_options *options, fakezk_observer observer,
                 void *ctx);

/* Takes the names that make no difference out of the list that the handle is told next. False if it is no list, or there are
 * none. */
bool fakezk_drop_unread(int client, int slot);

/* Transactions have numbers, which grow. In epoch 1 they are 1, 2, 3. Where a new epoch begins, some numbers
 * are left out.
 *
 * fakezk_zxid() makes the API's zxid of a number: epoch << 32 | counter, less FAKEZK_EPOCH. In epoch 1 this
 * is the number itself. fakezk_number() makes the number of such a zxid again, and 0 of what is none. Its
 * result depends on its argument alone. */
int64_t fakezk_zxid(int32_t number);
int32_t fakezk_number(int64_t zxid);

/* Returns a bit for each result code, event type and session state that clients were given since the last call.
 *
 * - Codes are those of calls, completions and results of a multi.
 * - States are those of session events and zoo_state().
 *
 * fakezk_told_name() returns the name of a bit in <zookeeper/zookeeper.h>, or NULL behind the last. */
uint64_t fakezk_take_told(void);
const char *fakezk_told_name(int index);

/* Says which client the following calls of zookeeper.h belong to; leave with fakezk_leave(). A call outside, or with
 * another client's handle, is trouble. */
void fakezk_enter(int client);
void fakezk_leave(void);
int fakezk_entered(void); /* -1 if nobody */

/* The steps that can happen, in canonical order; returns how many. */
int fakezk_steps(struct fakezk_step *out, int capacity);

/* Those of them that are one client's, or, with FAKEZK_NONE, nobody's: together they are all. */
int fakezk_steps_of(int client, struct fakezk_step *out, int capacity);

/* The part of fakezk_steps() that begins with this client's, or, with FAKEZK_NONE, what stands behind those of all clients: in
 * turn they are the whole list. */
int fakezk_steps_in_turn(int client, struct fakezk_step *out, int capacity);

/* The blocks that a client's steps (with FAKEZK_NONE nobody's) mostly depend on, ascending; returns how many. */
int fakezk_scope(int client, int *blocks);

/* The block of a client. */
int fakezk_client_block(int client);

/* True if it is one of fakezk_steps(); cheaper than the list. */
bool fakezk_can_step(const struct fakezk_step *step);

/* Lets one happen; it must be one of fakezk_steps(). */
void fakezk_step(const struct fakezk_step *step);

/* What the step is about: the op of a request or reply, the kind of event, the path. Writes readable text such as
 * "create-reply" or "deleted /locks/x/…"; *owner is the client of the node that it is about plus one, or 0. */
void fakezk_describe_step(const struct fakezk_step *step, char *text, size_t size, int32_t *owner);

const char *fakezk_op_name(int op);

/* The code that the next callback of a handle brings if it is a reply, otherwise 0. Legal while FAKEZK_DELIVER is. */
int fakezk_delivery_rc(int client, int handle);

/* The names of children that the next callback of a handle brings, in their order: `name` and `owner` have room for
 * `max`, and get the first of them with the client of an ephemeral node, -1 = of none, or of a node that is gone. The
 * names are valid until the next call that changes anything. Returns how many there are, -1 if the callback is no
 * successful list. Legal likewise. */
int fakezk_delivery_names(int client, int handle, int max, const char **name, int *owner);

/* True if it is the event of a watch. Legal likewise. */
bool fakezk_delivery_is_watch(int client, int handle);

/* ---- faults and the operator ---- */

/* Breaks a link: the server still reads the first `apply` requests (with `late` the last of these commits later), the
 * client still receives the first `keep` messages; rc goes to everything unanswered. False if the handle has no link, or
 * there are fewer requests or messages. With `fine`, and without `late`, both numbers are 0. */
bool fakezk_cut(int client, int handle, int keep, int apply, int rc, bool late);
bool fakezk_can_cut(int client, int handle, int keep, int apply, bool late);
int fakezk_unread_requests(int client, int handle);
/* True if such a loss keeps the answer of a write from the client that has been applied, or that is with `apply`. */
bool fakezk_hides_write(int client, int handle, int keep, int apply);
int fakezk_unreceived_messages(int client, int handle);

/* A connection attempt fails: what is queued gets -4. False if the handle is connected or dead. */
bool fakezk_refuse(int client, int handle);
bool fakezk_can_refuse(int client, int handle);

/* Nothing passes between client and servers until healed. */
void fakezk_partition(int client, bool on);
bool fakezk_is_partitioned(int client);

/* The process does not run: nothing is delivered, no ping is sent, and that a server has hung up is noticed after it.
 * With a clock, a process that resumes after two thirds of the timeout without a byte drops its link first (F7). */
void fakezk_pause(int client, bool on);
bool fakezk_is_paused(int client);

/* Makes the client library find no memory for the n-th next call of this client that opens a handle, sends a
 * request or adds credentials (F108). The handle is NULL, with ENOMEM. The request returns -5, is not sent and
 * has no completion. The credentials return -1. `n` is 0 to 255, and 0 takes the fault back. */
void fakezk_fail_call(int client, int n);
/* How many calls there are until that one, with itself; 0 = none will fail. */
int fakezk_failing_call(int client);

/* The process is gone: its handles vanish; its sessions live on until they expire. */
void fakezk_crash(int client);

/* The server marks a session closing. False if there is no such live session. */
bool fakezk_expire(int32_t session);

/* The session number of a handle; 0 = none. */
int32_t fakezk_session(int client, int handle);
int64_t fakezk_session_id(int32_t session);
bool fakezk_session_live(int32_t session);

void fakezk_freeze(int server, bool on);
bool fakezk_is_frozen(int server);
void fakezk_lag(int server, bool on);
bool fakezk_is_lagging(int server);

/* Breaks the server's links; of the leader, all session timers start again (F97). Who is cut off or stopped does not
 * hear of it: its link stays up, and mute. */
void fakezk_restart_server(int server);

/* Deletes an empty container that once had a child. False if there is none. */
bool fakezk_sweep(const char *path);
bool fakezk_can_sweep(const char *path);

/* True if there is such a node, and it is a container. */
bool fakezk_is_container(const char *path);

/* The operator's hand: creates a persistent node and missing ancestors (perms 0 = all), deletes one and all below it.
 * Paths are absolute, above any chroot. */
bool fakezk_operator_create(const char *path, int perms, bool container);
bool fakezk_operator_remove(const char *path);

/* Sets the data of a node, whatever its permissions, to a text. False if there is no such node, or no room. */
bool fakezk_operator_set(const char *path, const char *text);

/* Replaces the ACL of a node: everybody has these permission bits, and nobody has others. No watch fires. False if there
 * is no such node, or no room. */
bool fakezk_operator_set_perms(const char *path, int perms);

/* Deletes a node of any kind that has no children, as an operator does. False if there is none. */
bool fakezk_operator_rmdir(const char *path);
bool fakezk_can_rmdir(const char *path);
bool fakezk_exists(const char *path);

/* Returns the session that owns the child of this node with that czxid. 0 = there is no such child, or the child is
 * persistent. */
int32_t fakezk_owner(const char *path, int32_t czxid);

/* Returns the path of the client's oldest ephemeral child of this node, or NULL. The path is valid until the
 * tree changes. */
const char *fakezk_ephemeral_child(const char *path, int client);
void fakezk_operator_preset(const char *path, int32_t next_sequence);

/* ---- steps that are done twice ---- */

/* Keeps what is no part of the arena, and puts it back: in place 0 or 1. */
void fakezk_keep(int place);
void fakezk_put_back(int place);

/* From now on this area holds the values that callbacks are given: 0, as in ordinary steps, or 1. With 1, area 0 cannot be
 * accessed if an aligned word of the arena points into it. A recipe that uses a value of a callback that is over gets a
 * SIGSEGV there. To be called while no callback is running. */
#define FAKEZK_POISON 0xa5 /* what is lent is overwritten with this afterwards */
void fakezk_lend(int area);

/* True if nothing has been written to what area 0 has lent to callbacks that are over. Otherwise it is overwritten again. */
bool fakezk_lent_is_whole(void);

/* Whether these are pointers to one thing that is lent from area 0, and from area 1. */
bool fakezk_same_lent(uint64_t from_0, uint64_t from_1);

/* What the next callback of this handle is: equal for equal kinds. */
uint32_t fakezk_next_kind(int client, int handle);

/* ---- time ---- */

int32_t fakezk_now_ms(void);

/* Moves the fake's own clock. */
void fakezk_advance(int32_t to_ms);

/* The next moment after now at which something of the ensemble becomes possible or due, or INT32_MAX; *limit is the
 * latest moment to which time may move (a message may not outlive its window). */
int32_t fakezk_next_ms(int32_t *limit);

/* ---- questions ---- */

int fakezk_handles(int client);                /* bit mask of open slots */
bool fakezk_connected(int client, int handle); /* link up */
int fakezk_linked(int client, int nth);        /* of the slots whose link is up the nth, from 0, or -1 */
int fakezk_refusable(int client, int nth); /* of the slots whose attempt may be refused the nth, likewise */
bool fakezk_terminal(int client, int handle);   /* expired or auth failed */
int fakezk_outstanding(int client, int handle); /* requests not answered */
int fakezk_queued(int client, int handle);      /* messages not delivered */

/* It has one handle, whose link and session nobody is about to end but itself. */
bool fakezk_stands(int client);

/* It is the client's only handle, and the next message is a reply that has come, or tells of the link or the session while no reply is to come that would set or
 * remove a watch (F4: whose functions are called too): it is no part of the link any more, and says the same whenever it is
 * delivered. */
bool fakezk_is_sure(int client, int handle);

/* Another number whenever its process calls the client library, or that changes but for the messages that wait. Not part of a
 * world. */
uint64_t fakezk_uses(int client);

bool fakezk_awaits(int client);  /* the completion of some request has not run yet */
bool fakezk_creates(int client); /* so is that of a create or a multi, and no reply has come */
int fakezk_watches(int client);  /* registered in the client's tables */
/* What the handle is told next is more than that a request failed. */
bool fakezk_brings_news(int client, int handle);
struct canon;
/* Shows the numbers that grow of one of the fake's blocks (state/canon.h); of others none. */
void fakezk_canon(int block, struct canon *canon);
bool fakezk_quiet(void); /* no message, request, transaction or closing session is under way */
bool fakezk_busy(
    void); /* something will happen by itself, without a timeout, an expiry or the end of a fault */
bool fakezk_orphans(void); /* a session without a process waits for its expiry */
/* Live sessions of a client in ascending order; with `closing` those being closed instead. Returns how many. */
int fakezk_sessions(int client, bool closing, int32_t *out, int capacity);
int32_t fakezk_czxid(const char *path); /* in the committed log; 0 = absent */
int32_t fakezk_last_zxid(void);
void fakezk_dump(char *text, size_t size);

/* The first capacity reached or unsupported call, or NULL. Sticky until fakezk_open(). */
const char *fakezk_trouble(void);

#ifdef __cplusplus
}
#endif

#endif
