/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* fakezk: an in-memory ZooKeeper ensemble behind the symbols of <zookeeper/zookeeper.h>, for one address
 * space.
 *
 * The caller names the client that runs (fakezk_enter), asks for the steps that can happen next
 * (fakezk_steps) and does one of them (fakezk_step). Nothing happens by itself: the fake has no thread, no
 * clock of the machine and no file. Its behaviour follows the F-rules of docs/fidelity.md. All state on
 * which later steps depend lies in the caller's arena; see src/base/arena.h.
 *
 * A step is possible if it can happen now. A client is a process; a slot is the index of an open handle in
 * it. */
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

/* Epoch 1 in a zxid of the API. Zxids of later epochs are larger, see fakezk_zxid(). */
#define FAKEZK_EPOCH 0x100000000ll
#define FAKEZK_EPOCHS_MAX 16 /* epochs in one run; after the last no new one begins */

struct arena;

/* Defects; a bit set switches the defect on. */
#define FAKEZK_DEFECT_WRAP 0x01u           /* the counter before ZOOKEEPER-3249 wraps (F49) */
#define FAKEZK_DEFECT_IMMORTAL 0x02u       /* closeSession leaves the ephemerals of the session */
#define FAKEZK_DEFECT_SILENT_SESSION 0x04u /* a reconnect replaces a dead session, and no event says so */
#define FAKEZK_DEFECT_DROP_AT_CLOSE 0x08u  /* completions are not called at close (F21) */
#define FAKEZK_DEFECT_MISSED_WATCH 0x10u   /* servers send no DELETED event */
#define FAKEZK_DEFECT_CURSOR 0x20u         /* a failed attempt skips half of an even server list (F91) */

/* Settings of the servers; a bit set switches the setting on. */
#define FAKEZK_SETTING_THROTTLED 0x01u /* each third request that a server reads gets -127, undone (F102) */
#define FAKEZK_SETTING_LOCAL_SESSIONS 0x02u /* no session can have an ephemeral node (F103) */
#define FAKEZK_SETTING_REQUIRES_SASL 0x04u  /* each request gets -124, and the link is closed (F104) */
#define FAKEZK_SETTING_READ_ONLY 0x08u /* frozen followers serve handles opened with ZOO_READONLY (F105) */
#define FAKEZK_SETTING_TLS 0x10u       /* a refused attempt fails in its handshake, with -15 (F106) */

struct String_vector; /* of zookeeper.h */

struct fakezk_options {
    int clients;        /* number of clients, 1 to FAKEZK_CLIENTS_MAX */
    int servers;        /* number of servers, 1 to FAKEZK_SERVERS_MAX; server 0 leads */
    bool timed;         /* messages and sessions have times */
    int latency_min_ms; /* shortest time of a message one way, in ms */
    int latency_max_ms; /* longest such time */
    int tick_ms;        /* tickTime of the servers in ms; above 0 if `timed` */
    /* Constants of a run. All bits: the session ids. Bits 0, 1 and 5: the order of lists. Bit 2: the order
     * in which the nodes of a session go (F85). Bit 3: the order of receivers. Bit 4: zoo_state() lags behind
     * the link (F1). */
    uint64_t seed;
    unsigned defects;       /* FAKEZK_DEFECT_… bits */
    unsigned settings;      /* FAKEZK_SETTING_… bits */
    bool epochs;            /* a restart of the leader begins a new epoch; only with followers (F107) */
    bool no_containers;     /* creation of a container is answered with -6 */
    bool callbacks_in_init; /* the first callbacks run inside zookeeper_init() (F19) */
    bool fine;              /* smaller steps, see enum fakezk_step_kind; only without `timed` */
    bool ignores_children;  /* no client sets watches on children or looks at a pzxid */
    bool sets_no_data;      /* no client sets the data of a node */
    bool directories_go;    /* faults remove directories, so that sequences may begin again */
    bool fixed_orders;      /* lists from the oldest child on, the other orders as of seed 0 (F4, F57, F85) */
    /* Sets unread[] for each name of a list that makes no difference to the client. The list is on its way to
     * `completion`. NULL = each name may make a difference. */
    void (*unread)(int client, void (*completion)(void), const struct String_vector *names, bool *unread);
    void (*before_callback)(void); /* called right before each callback of a client; NULL = no call */
    size_t client_bytes_max;       /* capacity of one client's block in bytes; 0 = default */
    size_t server_bytes_max;       /* capacity of one server's block in bytes; 0 = default */
    int32_t (*now_ms)(void); /* with `timed`: the clock of the caller, in ms; NULL = a clock of the fake */
};

enum fakezk_step_kind {
    FAKEZK_APPLY,    /* the server reads the client's next request */
    FAKEZK_COMMIT,   /* the oldest late write commits */
    FAKEZK_CATCH_UP, /* a follower applies the next transaction */
    FAKEZK_DELIVER,  /* the client's thread runs the next callback */
    FAKEZK_CONNECT,  /* the client connects, shakes hands and sends SetWatches */
    FAKEZK_BURY,     /* the closeSession transaction of a closing session commits */
    /* the client hears that a server has closed its link; for instance, the session is over there, or the
     * server has restarted */
    FAKEZK_HANG_UP,
    FAKEZK_GIVE_UP, /* the client drops a mute link (F7), or a connection attempt times out */
    FAKEZK_EXPIRE,  /* the session becomes "closing" */

    /* With `fine` only. CONNECT then ends where the server has answered. DELIVER runs only messages that were
     * received. A cut that is not late loses each message that was not received. The server may still read
     * the writes that it has not read, until the client is back. */
    FAKEZK_RECEIVE,   /* the client takes the next message out of its socket */
    FAKEZK_HANDSHAKE, /* the client receives the answer to its connect request, and sends SetWatches */
    FAKEZK_REARM,     /* the server reads SetWatches */
    FAKEZK_LINGER,    /* the server reads the oldest write of a link that is broken already */
};

struct fakezk_step {
    uint8_t kind;    /* enum fakezk_step_kind */
    uint8_t client;  /* index of the client; FAKEZK_NONE for CATCH_UP */
    uint8_t handle;  /* slot of the handle in its client */
    uint8_t server;  /* server of APPLY, CATCH_UP and CONNECT */
    int32_t session; /* session number of BURY and EXPIRE */
    bool refused;    /* APPLY: the session is closing, and the answer will be -112 (F30) */
    bool lagging;    /* CATCH_UP: the follower was told to lag */
    bool due;        /* EXPIRE: timed, its time has come; untimed, no client will come back to the session */
};

enum fakezk_event_kind {
    FAKEZK_NODE_CREATED,
    FAKEZK_NODE_DELETED,
    FAKEZK_SESSION_OPENED,
    FAKEZK_SESSION_CLOSING, /* code = 1 if its time was up by the clock */
    FAKEZK_SESSION_CLOSED,
    FAKEZK_REQUESTED, /* code = op, see fakezk_op_name() */
    FAKEZK_WATCH_SET, /* zxid = czxid of the node or 0; code = table: 0 data, 1 exist, 2 child */
    FAKEZK_WATCH_GONE,
    /* A node event reaches watchers. code = event type, cause = zxid of the change, zxid as of EVENT_WOKEN
     * (event.h). */
    FAKEZK_WOKEN,
    FAKEZK_SESSION_EVENT, /* a session event reaches watchers; code = its state argument, handle = the slot */
    /* One check of a node in a multi that committed or failed.
     * - zxid = czxid of the checked node, 0 = there is none; code = 1 committed, 0 failed.
     * - cause = 1 if this check failed the multi, and not because a permission was missing; else 0.
     * - data = data that the first set of the multi writes. */
    FAKEZK_EFFECT,
    FAKEZK_ABORTED, /* the real client library would have ended the process inside the call `path` */
    /* One server only: a list is delivered, or the answer that its node is missing. The server made the
     * answer after the operator's last deletion of an ephemeral of this client. */
    FAKEZK_LISTED,
    /* The data of a node was set. zxid = its czxid, cause = zxid of the write, actor = FAKEZK_BY_OPERATOR
     * or 0. */
    FAKEZK_NODE_SET,
    /* The handle that the call `path` was given is no open handle of this client. The behaviour of the
     * real library is undefined. The fake acts as if the handle were NULL. */
    FAKEZK_MISUSED,
    FAKEZK_CALL_FAILED, /* the client library found no memory for a call, see fakezk_fail_call() */
};

#define FAKEZK_BY_OPERATOR 255u

struct fakezk_event {
    uint8_t kind;      /* enum fakezk_event_kind */
    uint8_t client;    /* node events: of an ephemeral's session, else of the request; FAKEZK_NONE = none */
    uint8_t ephemeral; /* node events: 1 = the node is ephemeral */
    uint8_t own;       /* watch events: 1 = the node was the client's own when the watch was set */
    uint8_t handle;    /* session events: slot of the handle */
    int32_t code;      /* by kind */
    int32_t zxid;      /* number of a transaction, by kind */
    int32_t cause;     /* by kind */
    int32_t session;   /* session number, 0 = none */
    const char *path;  /* path of a node, or name of a call; NULL = none */
    const char *data;  /* EFFECT, NODE_CREATED, NODE_SET: data that is written; NULL = none */
    int32_t data_size; /* bytes in data */
    /* NODE_DELETED: 1 + the client whose request deleted a persistent node, or an ephemeral of a live
     * session. FAKEZK_BY_OPERATOR = the operator deleted an ephemeral of a live session. 0 = other deletions.
     * NODE_SET: FAKEZK_BY_OPERATOR, or 0 for a request. */
    uint8_t actor;
};

typedef void (*fakezk_observer)(void *ctx, const struct fakezk_event *event);

/* Lays the ensemble out: adds its blocks to the arena. One ensemble exists per address space. `options` is
 * copied. The observer may be NULL. */
void fakezk_open(struct arena *arena, const struct fakezk_options *options, fakezk_observer observer,
                 void *ctx);

/* Removes the names that `unread` of the options marks from the list that is the next message of the handle.
 * Returns false if that message is no list, or no name was removed. */
bool fakezk_drop_unread(int client, int slot);

/* Transactions have numbers, which grow. In epoch 1 they are 1, 2, 3. Where a new epoch begins, some
 * numbers are left out.
 *
 * fakezk_zxid() returns the API's zxid of a number, less FAKEZK_EPOCH. In epoch 1 this is the number itself.
 * fakezk_number() returns the number of such a difference, or 0 if the argument is 0 or negative. The result
 * of fakezk_number() depends on its argument alone. */
int64_t fakezk_zxid(int32_t number);
int32_t fakezk_number(int64_t zxid);

/* Returns a bit for each result code, event type and session state that clients were given since the last
 * call.
 *
 * - Codes are those of calls, completions and results of a multi.
 * - States are those of events and zoo_state().
 *
 * fakezk_told_name() returns the name of a bit in <zookeeper/zookeeper.h>, or NULL behind the last. */
uint64_t fakezk_take_told(void);
const char *fakezk_told_name(int index);

/* Sets the client to which the following calls of zookeeper.h belong, until fakezk_leave(). A call of
 * zookeeper.h while no client is entered is a trouble. A call with a handle of another client is a
 * FAKEZK_MISUSED event. */
void fakezk_enter(int client);
void fakezk_leave(void);
int fakezk_entered(void); /* returns the entered client, -1 = none */

/* Lists the possible steps in canonical order. Returns their number; more than `capacity` are a trouble. */
int fakezk_steps(struct fakezk_step *out, int capacity);

/* Lists the possible steps that belong to a client, BURY and EXPIRE of its sessions included. With
 * FAKEZK_NONE, lists CATCH_UP and COMMIT. All these lists together have all steps, in another order than
 * fakezk_steps(). */
int fakezk_steps_of(int client, struct fakezk_step *out, int capacity);

/* Lists one part of fakezk_steps(): the part of a client, without BURY, EXPIRE and COMMIT. With FAKEZK_NONE,
 * lists the rest, which follows the parts of all clients. The parts of clients 0, 1, ... and then the rest
 * are the whole list. */
int fakezk_steps_in_turn(int client, struct fakezk_step *out, int capacity);

/* Writes the indices of the arena blocks that most steps of a client read, ascending; with FAKEZK_NONE, those
 * of the steps that belong to no client. Returns their number. */
int fakezk_scope(int client, int *blocks);

/* Returns the index of the arena block of a client. */
int fakezk_client_block(int client);

/* Returns whether a step is possible. Cheaper than the list. */
bool fakezk_can_step(const struct fakezk_step *step);

/* Does a step, which must be possible. */
void fakezk_step(const struct fakezk_step *step);

/* Writes the op of the request, reply or transaction, or the kind of event, of a possible step:
 * "create-reply", "deleted"; "" for a step without one. *owner becomes 1 + the client of the ephemeral node
 * that the event is about; 0 = no such node. */
void fakezk_describe_step(const struct fakezk_step *step, char *text, size_t size, int32_t *owner);

/* Returns the name of an op, as labels have it. */
const char *fakezk_op_name(int op);

/* The next three functions are about the next callback of a handle. The handle must have a message.
 *
 * fakezk_delivery_rc() returns the code of a reply, 0 of another callback. */
int fakezk_delivery_rc(int client, int handle);

/* Writes the names of children that the callback brings, in their order, at most `max` of them. `owner[i]`
 * becomes the client of an ephemeral node; -1 = the node is not ephemeral, or is gone. The names are valid
 * until the next call that changes the fake. Returns the number of all names; -1 if the callback is no
 * successful list. */
int fakezk_delivery_names(int client, int handle, int max, const char **name, int *owner);

/* Returns whether the callback is the event of a watch. */
bool fakezk_delivery_is_watch(int client, int handle);

/* ---- faults and the operator ---- */

/* Breaks a link. The server still reads the first `apply` requests, as far as it serves the session; with
 * `late` the last of these commits later. The client still receives the first `keep` messages. Each request
 * without an answer, and each whose answer is lost, is answered with rc. Returns false, and changes nothing,
 * in these cases:
 *
 * - The handle has no link.
 * - There are fewer unread requests, or unreceived messages.
 * - With `fine` and without `late`: a number is not 0.
 * - With `late`: `apply` is 0, the last of these requests is no write, or the server is the leader. */
bool fakezk_cut(int client, int handle, int keep, int apply, int rc, bool late);
bool fakezk_can_cut(int client, int handle, int keep, int apply, bool late);

/* Returns the number of sent requests that the server has not read. */
int fakezk_unread_requests(int client, int handle);

/* Returns whether fakezk_cut() with these arguments hides the answer to a write from the client. The write is
 * applied already, or is one of the `apply` requests. */
bool fakezk_hides_write(int client, int handle, int keep, int apply);

/* Returns the number of messages that the client has not received. */
int fakezk_unreceived_messages(int client, int handle);

/* Lets a connection attempt fail: queued requests get -4, or -15 with FAKEZK_SETTING_TLS. Returns false, and
 * changes nothing, if the handle is not open, is connected, or is dead. */
bool fakezk_refuse(int client, int handle);
bool fakezk_can_refuse(int client, int handle);

/* Begins or ends a partition: nothing passes between client and servers. */
void fakezk_partition(int client, bool on);
bool fakezk_is_partitioned(int client);

/* Pauses a client, or lets it go on. While it is paused, nothing is delivered and no ping is sent, and it
 * does not notice that a server has hung up. With a clock, a client that resumes after two thirds of the
 * timeout without a byte drops its link first (F7). */
void fakezk_pause(int client, bool on);
bool fakezk_is_paused(int client);

/* Makes the client library find no memory for the n-th next call of this client that opens a handle, sends
 * a request or adds credentials (F108). The handle is NULL, with ENOMEM. The request returns -5, is not
 * sent and has no completion. The credentials return -1. `n` is 0 to 255, and 0 takes the fault back. */
void fakezk_fail_call(int client, int n);
/* Returns n of the call that will fail, counted down; 0 = none will fail. */
int fakezk_failing_call(int client);

/* Ends a client without closing its sessions: its handles are gone, and its sessions live on until they
 * expire. Ends its pause and its partition. */
void fakezk_crash(int client);

/* Marks a session as closing, at the server. Returns false if there is no such live session. */
bool fakezk_expire(int32_t session);

/* Returns the session number of a handle; 0 = none. */
int32_t fakezk_session(int client, int handle);

/* Returns the id that the API has for a session number. */
int64_t fakezk_session_id(int32_t session);
bool fakezk_session_live(int32_t session);

/* Freezes a server, or thaws it: a frozen one hears nothing from the leader. */
void fakezk_freeze(int server, bool on);
bool fakezk_is_frozen(int server);

/* Makes a server lag, or ends that. The default schedule does not let a lagging server catch up. */
void fakezk_lag(int server, bool on);
bool fakezk_is_lagging(int server);

/* Breaks the server's links. If the server is the leader, all session timers start again (F97). With `epochs`
 * a new epoch begins then, if the present one has a transaction and is not the last. A client that is cut off
 * or paused does not hear of the restart: to it, its link stays up and is mute. */
void fakezk_restart_server(int server);

/* Deletes an empty container that once had a child. Returns false if there is none at this path. */
bool fakezk_sweep(const char *path);
bool fakezk_can_sweep(const char *path);

/* Returns whether there is such a node, and it is a container. */
bool fakezk_is_container(const char *path);

/* Creates a node as an operator does: a persistent one or, with `container`, a container. Creates missing
 * ancestors as persistent nodes. `perms`: permission bits for all users, 0 = all bits. The path is absolute,
 * and includes any chroot. Returns false if the path is malformed, the node exists, or it would lie below an
 * ephemeral. */
bool fakezk_operator_create(const char *path, int perms, bool container);

/* Deletes a node and all nodes below it, as an operator does. Returns false if there is no such node. */
bool fakezk_operator_remove(const char *path);

/* Sets the data of a node to a text, whatever its permissions. Returns false if there is no such node, or
 * no room. */
bool fakezk_operator_set(const char *path, const char *text);

/* Replaces the ACL of a node: all users get these permission bits, and no others. No watch fires. Returns
 * false if there is no such node, or no room. */
bool fakezk_operator_set_perms(const char *path, int perms);

/* Deletes a node of any kind that has no children, as an operator does. Returns false if there is none. */
bool fakezk_operator_rmdir(const char *path);
bool fakezk_can_rmdir(const char *path);

/* Returns whether there is such a node. */
bool fakezk_exists(const char *path);

/* Returns the session that owns the child of this node with that czxid. 0 = there is no such child, or the
 * child is persistent. */
int32_t fakezk_owner(const char *path, int32_t czxid);

/* Returns the path of the client's oldest ephemeral child of this node, or NULL. The path is valid until the
 * tree changes. */
const char *fakezk_ephemeral_child(const char *path, int client);

/* Sets the next sequence number of a node's children on all servers. The node then counts as one that had
 * a child. */
void fakezk_operator_preset(const char *path, int32_t next_sequence);

/* ---- steps that are done twice ---- */

/* Save the state of the fake that is outside of the arena in place 0 or 1, and restore it. */
void fakezk_keep(int place);
void fakezk_put_back(int place);

/* Chooses the area of memory that is lent to callbacks from now on: 0, as in ordinary steps, or 1. With 1,
 * area 0 cannot be accessed if an aligned word of the arena points into it. A recipe that uses memory lent to
 * a callback that is over gets a SIGSEGV there. No callback may be running. */
#define FAKEZK_POISON 0xa5 /* byte that overwrites lent memory when its callback is over */
void fakezk_lend(int area);

/* Returns whether memory that area 0 lent to callbacks that are over is unchanged. If not, overwrites it
 * again. */
bool fakezk_lent_is_whole(void);

/* Returns whether the first pointer lies in area 0, and the second one at the same offset in area 1. */
bool fakezk_same_lent(uint64_t from_0, uint64_t from_1);

/* Returns the kind of the next callback of this handle: equal numbers for equal kinds; 0 = no callback. */
uint32_t fakezk_next_kind(int client, int handle);

/* ---- time ---- */

/* Returns the time in ms, 0 without a clock. */
int32_t fakezk_now_ms(void);

/* Moves the fake's own clock forward. The fake has one if `timed` of the options is set, and `now_ms` is
 * NULL. */
void fakezk_advance(int32_t to_ms);

/* Returns the next moment after now at which something of the ensemble becomes possible or due, or
 * INT32_MAX. *limit becomes the latest moment to which time may move: each message arrives within its
 * window. */
int32_t fakezk_next_ms(int32_t *limit);

/* ---- questions ---- */

int fakezk_handles(int client);                 /* returns a bit for each open slot */
bool fakezk_connected(int client, int handle);  /* the link is up */
int fakezk_linked(int client, int nth);         /* returns the nth slot, from 0, whose link is up, or -1 */
int fakezk_refusable(int client, int nth);      /* returns the nth slot whose attempt may be refused, or -1 */
bool fakezk_terminal(int client, int handle);   /* the session has expired, or credentials were refused */
int fakezk_outstanding(int client, int handle); /* returns the number of unanswered requests */
int fakezk_queued(int client, int handle);      /* returns the number of undelivered messages */
int fakezk_notices(int client); /* returns the number of undelivered events of watches, of all handles */

/* Returns whether the client has one open handle, whose link is up and whose session is live. The client is
 * neither paused nor partitioned, and its server is not frozen. So only a fault, or a call of the client
 * itself, ends the link or the session. */
bool fakezk_stands(int client);

/* Returns whether no other step removes or changes the next delivery of a handle. The handle is the client's
 * only one, and is not being closed. Its next message has been received, and is one of these:
 *
 * - A reply.
 * - A session event, while no reply is to come that could set or remove a watch: a session event calls the
 *   functions of all watches (F4). */
bool fakezk_is_sure(int client, int handle);

/* Returns a number that changes when the client calls the library, or when the library changes for it in
 * another way than by messages that wait. The number is no part of a world. */
uint64_t fakezk_uses(int client);

bool fakezk_awaits(int client);  /* the completion of some request has not run yet */
bool fakezk_creates(int client); /* a create or a multi has not been answered yet */
int fakezk_watches(int client);  /* returns the number of watches in the client's tables */

/* Returns whether the handle has a next message, and it is anything but a reply that a request has failed. */
bool fakezk_brings_news(int client, int handle);

struct canon;
/* Shows the numbers that grow in a block of the fake (src/state/canon.h); none in another block. */
void fakezk_canon(int block, struct canon *canon);

bool fakezk_quiet(void); /* no message, request, transaction or closing session is under way */
/* Returns whether some step will happen without a timeout, an expiry or the end of a fault. */
bool fakezk_busy(void);
bool fakezk_orphans(void); /* there is a session to which no client will come back, as after a crash */

/* Writes the live sessions of a client in ascending order; with `closing` those that are closing instead.
 * Returns their number, at most `capacity`. */
int fakezk_sessions(int client, bool closing, int32_t *out, int capacity);
int32_t fakezk_czxid(const char *path); /* returns the czxid in the committed log; 0 = no such node */
int32_t fakezk_last_zxid(void);         /* returns the number of the last transaction */

/* Writes the state of servers, nodes, handles and watches in readable form. */
void fakezk_dump(char *text, size_t size);

/* Returns a text about the first limit or unsupported call that the fake met, or NULL. fakezk_open()
 * clears it. */
const char *fakezk_trouble(void);

#ifdef __cplusplus
}
#endif

#endif
