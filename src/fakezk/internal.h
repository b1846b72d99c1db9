/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of the fake: the records in its blocks, and the functions that its files share. Outside of
 * src/fakezk, only tests include this. */
#ifndef FAKEZK_INTERNAL_H
#define FAKEZK_INTERNAL_H

#include "base/arena.h"
#include "base/assert.h"
#include "base/code_ref.h"
#include "base/packed_records.h"

#include <lockstep/fakezk.h>
#include <zookeeper/zookeeper.h>

struct zk_stat {
    int32_t czxid, mzxid, pzxid;
    int32_t version, cversion, aversion;
    int32_t owner; /* number of the owner's session; 0 = none */
    int32_t data_size;
    int32_t children;
};

/* ---- server blocks: lists behind struct zk_server ---- */

enum { LIST_NODE, LIST_SERVER_WATCH, LIST_BACKLOG };

struct zk_server {
    struct arena_block head;
    int32_t zxid;      /* number of the last transaction applied; 0 = none */
    uint8_t frozen;    /* 1: receives nothing from the leader */
    uint8_t lagging;   /* 1: the default schedule does not let the server catch up */
    uint16_t throttle; /* requests counted since the last throttled one (F102), see refusal() */
    struct pack_table table;
};

enum node_kind { NODE_PERSISTENT, NODE_EPHEMERAL, NODE_CONTAINER };

/* A node of the tree, in a list sorted by path. `bytes` is the path, its zero, the data. */
struct zk_node {
    struct rec rec;      /* tag = enum node_kind; word = rights of one identity, see auth_owner() */
    struct zk_stat stat; /* cversion unused: tree_stat() computes it (F48) */
    int32_t created;     /* children ever created, the suffix of the next one (F47, F49) */
    uint16_t path_size;  /* bytes without the zero */
    uint8_t perms;       /* permissions of world:anyone */
    uint8_t had_child;
    char bytes[];
};

/* A server's watch for a connection, in a list sorted by path, client, handle, table. */
struct zk_server_watch {
    struct rec rec; /* tag = enum watch_table */
    uint8_t client, handle;
    uint16_t path_size;
    uint32_t reserved;
    char path[];
};

enum txn_kind { TXN_CREATE, TXN_DELETE, TXN_SET, TXN_SET_ACL, TXN_CLOSE, TXN_NOTHING, TXN_REPLY };

/* A transaction of the leader's batch, or one that a follower has yet to apply. In TXN_REPLY `bytes` is a
 * whole message record. */
struct zk_txn {
    struct rec rec; /* tag = enum txn_kind */
    int32_t zxid;
    int32_t session;   /* CREATE: of the creator; DELETE: of the node's owner; CLOSE: closed one; 0 = none */
    int32_t data_size; /* bytes; -1 = null */
    int32_t version;   /* SET: resulting version; SET_ACL: resulting aversion */
    uint16_t path_size;
    uint8_t node_kind;
    uint8_t perms;
    uint8_t more; /* 1: the next record belongs to the same step */
    /* REPLY: the receiver; CREATE, DELETE: client = 1 + client of `session`, 0 = no session in the log */
    uint8_t client, handle;
    uint8_t reserved;
    int32_t counter; /* CREATE: `created` of the parent afterwards; DELETE: czxid of the node */
    uint32_t owner;  /* CREATE, SET_ACL: rights of one identity, see auth_owner() */
    char bytes[];    /* path, zero, data */
};

/* ---- the log block: lists behind struct zk_log ---- */

enum { LIST_SESSION, LIST_LATE, LIST_LINGER };

struct zk_log {
    struct arena_block head;
    int32_t zxid;
    int32_t now_ms;   /* the clock in ms, if the world supplies none */
    uint32_t adopted; /* 1: a handle was opened with an id that names another client's session (F18) */
    uint32_t epochs;  /* number of epochs begun after the first */
    int32_t begin[FAKEZK_EPOCHS_MAX];      /* by epoch after the first: its first number, less 1 */
    uint16_t sessions[FAKEZK_CLIENTS_MAX]; /* sessions opened so far, by client */
    struct pack_table table;
};

enum session_state { SESSION_LIVE, SESSION_CLOSING };

/* A session whose end is not committed, in a list sorted by client, then number. */
struct zk_session {
    struct rec rec; /* tag = enum session_state, word = session number */
    int32_t timeout_ms;
    int32_t touched_ms;
    uint8_t client;
    uint8_t gone; /* 1: its process crashed or never heard of it, and no handle has resumed it since */
    uint16_t reserved;
    uint32_t reserved2;
};

/* ---- client blocks: lists behind struct zk_client; one of each per handle ---- */

enum { LIST_REQUEST, LIST_MESSAGE = FAKEZK_HANDLES_MAX, LIST_WATCH = 2 * FAKEZK_HANDLES_MAX };

/* The progress of a link. With `fine` these are states; otherwise link_connect() passes them in one step. */
enum half {
    HALF_NOT,       /* established, or there is no link */
    HALF_REARM,     /* the server has yet to read SetWatches ("rearm") */
    HALF_RESUMED,   /* the client has yet to hear that its session goes on */
    HALF_READ_ONLY, /* as HALF_RESUMED, on a server that is cut off (F105) */
    HALF_NEW,       /* the client has yet to hear that it has a new session */
    HALF_REFUSED,   /* the client has yet to hear that its session is over */
};

enum { OPEN_NOT, OPEN_WRITABLE, OPEN_READ_ONLY /* also accepts a read-only server */ };

struct _zhandle {
    uint8_t open; /* OPEN_... */
    uint8_t client, slot;
    uint8_t link; /* 1: connected to `server`, or in the handshake with it */
    uint8_t server;
    uint8_t next_server;
    uint8_t busy; /* 1: a callback of this handle is running */
    /* 1: the last completions are being called; 2: zookeeper_close() was called inside a callback */
    uint8_t closing;
    int32_t state;      /* state of zoo_state(), except while `lags` is 1 or `half` is beyond HALF_REARM */
    int32_t session;    /* session number; 0 = none yet */
    int32_t last_zxid;  /* largest number in replies received (F44); 0 = none, or not noted */
    int32_t timeout_ms; /* in ms: as requested, then as negotiated */
    uint8_t chroot;     /* index of the chroot text; 0 = none */
    uint8_t stranger;   /* 1: opened with the id of a session and a wrong password */
    uint8_t halved;     /* 1: until a connect, each second server is not tried (F91) */
    uint8_t severed;    /* 1: the server has closed its end, and the client does not know */
    code_ref watcher;
    const void *context;
    clientid_t id;
    int32_t connect_ms; /* earliest time of the next attempt; 0 without a clock */
    int32_t sent_ms;
    int32_t received_ms; /* time from which the client counts the silence of its server (F7), in ms */
    uint8_t half;        /* enum half */
    uint8_t lags;        /* 1: the link is gone, and zoo_state() still shows CONNECTED (F1) */
    uint16_t who;        /* identity of its credentials; 0 = none */
};

struct zk_client {
    struct arena_block head;
    uint8_t paused;
    uint8_t partitioned;
    uint8_t fail_call; /* n: the n-th next call that needs memory finds none; 0 = no call fails (F108) */
    uint8_t reserved[5];
    struct _zhandle handle[FAKEZK_HANDLES_MAX];
    struct pack_table table;
};

enum zk_op {
    OP_CREATE,
    OP_CREATE2,
    OP_DELETE,
    OP_EXISTS,
    OP_GET,
    OP_SET,
    OP_CHILDREN,
    OP_CHILDREN2,
    OP_SYNC,
    OP_MULTI,
    OP_GET_ACL,
    OP_SET_ACL,
    OP_UNWATCH,
    OP_CHECK, /* only inside a multi */
    OP_AUTH,  /* never a request: the answer of zoo_add_auth() */
    OP_KINDS
};

static inline bool op_is_write(int op)
{
    LS_ASSERT(op >= 0 && op < OP_KINDS);
    return ((1u << OP_CREATE | 1u << OP_CREATE2 | 1u << OP_DELETE | 1u << OP_SET | 1u << OP_SET_ACL |
             1u << OP_MULTI) >>
                op &
            1u) != 0;
}

static inline bool op_is_list(int op)
{
    return op == OP_CHILDREN || op == OP_CHILDREN2;
}

static inline bool op_needs_leader(int op)
{
    return op_is_write(op) || op == OP_SYNC;
}

enum watch_table { WATCH_DATA, WATCH_EXIST, WATCH_CHILD, WATCH_NONE };

struct zk_request {
    struct rec rec;       /* tag = enum zk_op; word = 1 once sent */
    int32_t lo_ms, hi_ms; /* bounds of the arrival at the server */
    int32_t forwarded;    /* number that its follower waits for, -1 in place of 0; 0 = not read yet */
    int32_t version;      /* DELETE, SET, SET_ACL, CHECK: -1 = any; UNWATCH: ZWATCHTYPE_… */
    int32_t data_size;    /* bytes, -1 = null; MULTI: bytes of its sub-requests */
    uint16_t path_size;
    uint8_t mode;
    uint8_t perms; /* CREATE, SET_ACL: permissions of the world; 0 with own_perms 0 = malformed */
    code_ref completion;
    code_ref watcher; /* of a read, 0 = none; UNWATCH: the one to remove, 0 = all */
    void *watch_context;
    const void *data;  /* argument of the completion */
    void *out;         /* MULTI: results; sub-requests: buffer or Stat */
    int32_t out_size;  /* MULTI: number of results; sub-requests: bytes of the buffer */
    uint8_t odd_path;  /* 1: a server may refuse a byte of the path (F55) */
    uint8_t own_perms; /* CREATE, SET_ACL: permissions of the sender (scheme "auth") */
    uint16_t who;      /* identity of the sender; 0 = none */
    char bytes[];      /* path, zero, data */
};

/* The most bytes of a request record, and the most operations of a multi. */
#define REQUEST_BYTES_MAX 16384
#define MULTI_MAX 16

enum message_kind { MESSAGE_REPLY, MESSAGE_SESSION, MESSAGE_NODE };

struct zk_message {
    struct rec rec; /* tag = enum message_kind; word = 1 once the client has received it */
    uint8_t op;     /* REPLY: enum zk_op */
    uint8_t table;  /* REPLY: enum watch_table of the watch that it sets; WATCH_NONE = none */
    uint16_t path_size;
    int32_t rc;    /* REPLY: code; SESSION: state; NODE: event type */
    int32_t zxid;  /* REPLY: zxid for `last_zxid`, 0 = none; NODE: czxid, as of EVENT_WOKEN (event.h) */
    int32_t cause; /* NODE: number of the change, 0 = found at a reconnect */
    int32_t lo_ms, hi_ms;
    code_ref completion;
    code_ref watcher;
    void *watch_context;
    const void *data;
    void *out;
    /* NODE: `owner` of server_fire(); SESSION: session; UNWATCH: ZWATCHTYPE_…; MULTI: number of results */
    int32_t out_size;
    int32_t data_size; /* bytes, -1 = null; list: names; MULTI: results, -1 = none; GET_ACL: permissions */
    struct zk_stat stat;
    /* REPLY to a list: 1 = made before the operator deleted an ephemeral node of the receiving client */
    uint32_t outdated;
    char bytes[]; /* path, zero, data; list: names, each with its zero; MULTI: aligned struct zk_result */
};

struct zk_result {
    int32_t err;
    int32_t out_size;
    void *out; /* the caller's buffer (create) or Stat (set) */
    uint8_t op;
    uint8_t has_stat;
    uint16_t path_size;
    uint32_t reserved;
    struct zk_stat stat;
    char path[];
};

/* A watcher of a client. The records of a handle are sorted by path; those of one path are in the order in
 * which they were set (F69).
 *
 * When the client receives a node event, its watchers leave the tables; the event's delivery calls them
 * (F70). In between their records stay, with `fired` set. Meanwhile the same watcher and context may be set
 * again. A session event that is delivered meanwhile still calls them. */
struct zk_watch {
    struct rec rec; /* tag = enum watch_table */
    code_ref watcher;
    int32_t czxid; /* czxid of the node when the watch was set; 0 = absent */
    void *context;
    uint16_t path_size;
    uint16_t own; /* 1: the client owned the node when the watch was set */
    /* index, from 1, of the event that has taken this watcher, among the node events that are received and
     * not delivered; 0 = none */
    uint32_t fired;
    char path[];
};

/* ---- data outside of the arena ---- */

#define CHROOTS_MAX 8

struct fakezk {
    struct arena *arena;
    struct fakezk_options options;
    fakezk_observer observer;
    void *observer_ctx;
    int entered;        /* client whose process is running; -1 = none */
    uint64_t calls;     /* number of handle_check() calls; not part of the world */
    uint64_t told;      /* see told_codes.c; not part of the world */
    struct zk_log *log; /* addresses of the blocks, which do not move */
    struct zk_server *server[FAKEZK_SERVERS_MAX];
    struct zk_client *client[FAKEZK_CLIENTS_MAX];
    int log_block;
    int server_block[FAKEZK_SERVERS_MAX];
    int client_block[FAKEZK_CLIENTS_MAX];
    char chroot[CHROOTS_MAX][FAKEZK_PATH_MAX];
    int chroots;
    char trouble[256];
};

extern struct fakezk fakezk;

void fakezk_note_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fakezk_emit(const struct fakezk_event *event);

static inline struct zk_log *the_log(void)
{
    arena_read(fakezk.arena, fakezk.log_block);
    return fakezk.log;
}

static inline struct zk_server *server_at(int s)
{
    arena_read(fakezk.arena, fakezk.server_block[s]);
    return fakezk.server[s];
}

static inline struct zk_client *client_at(int c)
{
    arena_read(fakezk.arena, fakezk.client_block[c]);
    return fakezk.client[c];
}

static inline struct zk_log *log_mark(void)
{
    arena_mark(fakezk.arena, fakezk.log_block);
    return the_log();
}

static inline struct zk_server *server_mark(int s)
{
    LS_ASSERT(s >= 0 && s < fakezk.options.servers);
    arena_mark(fakezk.arena, fakezk.server_block[s]);
    return server_at(s);
}

static inline struct zk_client *client_mark(int c)
{
    LS_ASSERT(c >= 0 && c < fakezk.options.clients);
    arena_mark(fakezk.arena, fakezk.client_block[c]);
    return client_at(c);
}

/* Returns the time in ms; 0 in an untimed world. Reads the log only for its `now_ms`: a step depends on each
 * block that it reads. */
static inline int32_t clock_ms(void)
{
    if (!fakezk.options.timed) {
        return 0;
    }
    return fakezk.options.now_ms != NULL ? fakezk.options.now_ms() : the_log()->now_ms;
}

static inline struct pack log_pack(void)
{
    return (struct pack){fakezk.arena, fakezk.log_block, (unsigned char *)(the_log() + 1)};
}

static inline struct pack server_pack(int s)
{
    return (struct pack){fakezk.arena, fakezk.server_block[s], (unsigned char *)(server_at(s) + 1)};
}

static inline struct pack client_pack(int c)
{
    return (struct pack){fakezk.arena, fakezk.client_block[c], (unsigned char *)(client_at(c) + 1)};
}

static inline struct _zhandle *handle_at(int c, int slot)
{
    return &client_at(c)->handle[slot];
}

/* Return the oldest unanswered request, and the next message to deliver; NULL = none. */
static inline struct zk_request *head_request(int client, int slot)
{
    struct pack pack = client_pack(client);
    return (struct zk_request *)pack_first(&pack, LIST_REQUEST + slot);
}

static inline struct zk_message *head_message(int client, int slot)
{
    struct pack pack = client_pack(client);
    return (struct zk_message *)pack_first(&pack, LIST_MESSAGE + slot);
}

static inline bool is_set(unsigned setting)
{
    return (fakezk.options.settings & setting) != 0;
}

/* Returns whether handles note the last reply's zxid in `last_zxid`. A client uses it only to find a server
 * that is not behind it, and to ask which of its watches have missed a change. */
static inline bool fakezk_seen_matters(void)
{
    return fakezk.options.servers > 1 || !fakezk.options.ignores_children || !fakezk.options.sets_no_data;
}

static inline int64_t api_zxid(int32_t zxid)
{
    LS_ASSERT(zxid >= 0);
    return zxid == 0 ? 0 : FAKEZK_EPOCH + fakezk_zxid(zxid);
}

/* ---- told_codes.c: what clients were given ---- */

/* Note a code, event type or state that a client is given. tell_code() and tell_state() return it. */
int tell_code(int rc);
void tell_event(int type);
int tell_state(int state);

/* ---- tree.c: one server's nodes ---- */

struct zk_node *tree_find(int server, const char *path);
struct zk_node *tree_first_child(int server, const char *path);
struct zk_node *tree_next_child(int server, struct zk_node *node, const char *path);
/* Writes the parent's path; false for "/". */
bool tree_parent(const char *path, char parent[FAKEZK_PATH_MAX]);
/* Apply a transaction to one tree. False: the server's block is full. */
bool tree_create(int server, const struct zk_txn *txn);
void tree_delete(int server, const char *path, int32_t zxid);
bool tree_set(int server, const struct zk_txn *txn);
void tree_set_acl(int server, const struct zk_txn *txn);
struct zk_stat tree_stat(const struct zk_node *node);
const char *node_path(const struct zk_node *node);
const char *node_data(const struct zk_node *node);

/* ---- auth.c: identities and ACLs ---- */

int auth_add(zhandle_t *zh, const char *scheme, const char *cert, int size, void_completion_t completion,
             const void *data);

/* Marks a request, and its sub-requests, as sent by the identity `who`. */
void auth_sign(struct zk_request *request, uint16_t who);

/* Returns whether a server accepts a request's ACL. */
bool auth_acl_is_valid(const struct zk_request *request);
/* Returns the rights that a request's ACL gives to its sender by the scheme "auth": identity << 8 |
 * permissions; 0 = none. */
uint32_t auth_owner(const struct zk_request *request);

bool auth_allows(const struct zk_node *node, const struct zk_request *request, int perm);

/* ---- txn_batch.c: the transactions of the write that is under way ---- */

#define BATCH_BYTES 32768

void batch_clear(void);
/* Returns whether `at` lies behind the last transaction; for 0: whether the batch is empty. */
bool batch_ends(size_t at);
/* Returns the transaction at offset *at, and moves *at to the next one; NULL behind the last. */
struct zk_txn *batch_at(size_t *at);
/* Adds a transaction, whose session, client, counter and rights are 0. Copies `data_size` bytes of `data`,
 * none if that is negative. If the batch is full, returns NULL, and notes a trouble. The result is valid
 * until batch_clear(). */
struct zk_txn *batch_add(int kind, int32_t zxid, const char *path, const void *data, int32_t data_size);

/* ---- write_operation.c: single operations on the leader's tree ---- */

struct operation_result {
    char path[FAKEZK_PATH_MAX]; /* CREATE: path of the new node */
    struct zk_stat stat;
    bool has_stat;
};

/* Carries out a check, or a write other than a multi. Returns a result code of zookeeper.h. Writes *result
 * for each code. */
int operation_do(const struct zk_request *request, int32_t session, int32_t zxid,
                 struct operation_result *result);
/* Set the data or the ACL of the leader's node, whatever its permissions and its version. False: the batch is
 * full or, for data, the server's block. */
bool operation_set_data(const struct zk_node *node, int32_t zxid, const char *path, const char *data,
                        int32_t size);
bool operation_set_acl(const struct zk_node *node, int32_t zxid, const char *path, int perms, uint32_t owner);
/* Returns the field `created` of a node after one more create of a child. At INT32_MAX it stays; with
 * FAKEZK_DEFECT_WRAP it wraps (F49). */
int32_t operation_count_up(int32_t created);

/* ---- commit.c: writes ---- */

/* Commits a write at the leader, and returns its zxid. If `server` is the leader, the reply goes to the
 * client at once. If it is a follower, the reply goes into its backlog. FAKEZK_NONE as `slot`: there is no
 * reply. */
int32_t commit_request(int client, int slot, int32_t session, int server, const struct zk_request *request);
/* Commits the late writes and answers a sync: the leader at once, a follower by a reply at the end of its
 * backlog. Returns the log's last zxid. */
int32_t commit_sync(int client, int slot, int server, const struct zk_request *request);
int32_t commit_open_session(int client, int32_t timeout_ms);
void commit_close_session(int32_t session);
void commit_operator_create(const char *path, int perms, int node_kind);
void commit_operator_delete(const char *path);
bool commit_operator_set(const char *path, const char *text);
bool commit_operator_set_perms(const char *path, int perms);
/* Makes the next transaction the first one of a new epoch. Has no effect if the present epoch has no
 * transaction, or is number FAKEZK_EPOCHS_MAX of the run. */
void commit_begin_epoch(void);
/* Applies the next backlog step of a follower. */
void commit_catch_up(int server);

/* ---- late_writes.c: writes whose link is gone ---- */

/* Keeps a write that a cut left in the pipeline (F79). */
void aside_park(int client, int32_t session, const struct zk_request *request);
/* Commit the oldest parked write, or all of them. Drop a write whose session is not live. */
void aside_late_first(void);
void aside_late_all(void);

/* Keeps a write that lies in a server's socket behind a broken link ("linger"). The server may read it until
 * admit() gives the write's session another link, or the end of that session commits. */
void aside_linger(int client, int32_t session, int server, const struct zk_request *request);
/* Returns the client's oldest lingering write; NULL = none. */
const struct zk_request *aside_lingering(int client);
/* Commits that write, or drops it if its session is not live. */
void aside_lingering_first(int client);
/* Drops all lingering writes of a session. */
void aside_forget(int32_t session);

/* ---- server_requests.c: reading requests ---- */

void server_apply(int client, int slot, bool refused);
void server_send(int client, int slot, const struct zk_message *message);
/* Returns whether a follower has yet to apply the session's end. */
bool server_awaits_end(int server, int32_t session);
/* Fires a server's watches on `path` that an event of this type concerns. Each connection gets at most one
 * message, see struct zk_message. Its `zxid` is `czxid`. Its `out_size` is `owner`: the `client` of the
 * create or delete transaction, 0 = none. */
void server_fire(int server, int type, const char *path, int32_t czxid, int32_t cause, int owner);
void server_watch_add(int server, int client, int slot, int table, const char *path);
void server_watch_drop(int client, int slot);
bool server_watch_remove(int server, int client, int slot, int table, const char *path);
/* Ends a session at a server that has applied the session's end. The session's links to this server lose
 * their watches, and the replies that wait in backlogs (F30, F74). */
void server_end_session(int server, int32_t session);

/* ---- session.c ---- */

static inline int session_client(int32_t number)
{
    return (number - 1) % fakezk.options.clients;
}

/* The clients that may have opened a handle for a session: from `first` to before `end`. */
struct session_users {
    int first, end;
};

static inline struct session_users session_users(int32_t number)
{
    int client = number > 0 ? session_client(number) : 0;
    return the_log()->adopted != 0 || number <= 0 ? (struct session_users){0, fakezk.options.clients}
                                                  : (struct session_users){client, client + 1};
}

/* Returns a session; NULL = there is none, or its end is committed. Looks first at the place that the session
 * has while each client has one session. */
static inline struct zk_session *session_find(int32_t number)
{
    struct pack pack = log_pack();
    struct zk_session *first = (struct zk_session *)(void *)pack.records;
    uint32_t count = the_log()->table.end[LIST_SESSION] / (uint32_t)sizeof *first;
    uint32_t at = (uint32_t)session_client(number);
    if (at < count && first[at].rec.word == (uint32_t)number) {
        return &first[at];
    }
    for (at = 0; at < count; at++) {
        if (first[at].rec.word == (uint32_t)number) {
            return &first[at];
        }
    }
    return NULL;
}

/* Returns 1 + the client of a session; 0 = `number` is 0, or the session's end is committed. */
static inline uint8_t owner_client(int32_t number)
{
    const struct zk_session *session = number != 0 ? session_find(number) : NULL;
    return session != NULL ? (uint8_t)(session->client + 1) : 0;
}

bool session_healthy(const struct zk_session *session);
int32_t session_deadline_ms(const struct zk_session *session);
void session_touch(int32_t session, int32_t now_ms);
/* In a timed world, moves the times of the last packets forward by the pings that the client's links have
 * sent so far (F6). Call it before a change that may end session_healthy() of one of its sessions. */
void session_settle_pings(int client);

/* ---- link.c: connecting and losing links ---- */

void link_connect(int client, int slot, int server);
void link_handshake(int client, int slot);
/* Closes the server's end of the link. */
void link_sever(int client, int slot);
/* Refuses the credentials: ends the handle, but not its session (F25). */
void link_reject(int client, int slot);
void link_rearm(int client, int slot);
void link_drop(int client, int slot, int rc, bool keep_all);
void link_fail_requests(int client, int slot, int rc);
/* Ends the link, if there is one, for zookeeper_close(). With `flush` the server first reads the handle's
 * requests, unless it requires SASL, and closes the session (F20). Each request whose answer was not received
 * gets ZCLOSING. */
void link_close(int client, int slot, bool flush);
void link_give_up(int client, int slot);
int32_t link_give_up_ms(const struct _zhandle *zh);
void link_receive(int client, int slot, struct zk_message *message);
void link_receive_next(int client, int slot);
void link_window(int32_t *lo_ms, int32_t *hi_ms);

/* ---- unread_names.c: lists on their way to a client ---- */

#define FAKEZK_NAMES_MAX 512 /* most names of one list */

bool message_is_list(const struct zk_message *message);

/* Returns the names of a list, and no names of another message. They lie in `message`. `name` has room for
 * FAKEZK_NAMES_MAX pointers, and stays in use by the result. */
struct String_vector message_names(const struct zk_message *message, char **name);

/* Sets unread[i] to whether the client will not look at name i. */
void message_unread(int client, const struct zk_message *message, const struct String_vector *names,
                    bool *unread);

/* ---- watch.c: the client's tables ---- */

/* Registers a watcher. `stat` is that of the node; czxid 0 = absent. */
void watch_add(int client, int slot, int table, const char *path, code_ref watcher, void *context,
               const struct zk_stat *stat);
bool watch_remove(int client, int slot, int table, const char *path, code_ref watcher, const void *context,
                  bool all);
void watch_close(int client, int slot);

struct watch_target {
    void *context;
    code_ref watcher;
    bool own; /* the client owned the node when the watch was set */
};

#define WATCH_TARGETS_MAX 64

/* Takes the watchers of a received node event out of the tables; `number` becomes their `fired`. */
void watch_fire(int client, int slot, const struct zk_message *event, uint32_t number);
/* Moves the watchers whose `fired` is 1 from the records to `out`; their event is being delivered. A pair of
 * watcher and context that occurs twice is written once (F69). Returns the number of pairs. Decreases the
 * other watchers' `fired` by 1, unless it is 0. */
int watch_collect(int client, int slot, const struct zk_message *event, struct watch_target *out);
/* Writes all watchers of the handle to `out` for a session event, the default watcher last (F4). A pair of
 * watcher and context that occurs twice is written once. Returns the number of pairs. */
int watch_collect_session(int client, int slot, struct watch_target *out);

/* ---- deliver.c ---- */

/* Maps the memory of callbacks' arguments. Call it before anything is delivered. */
void deliver_open(void);
void deliver_next(int client, int slot);

/* Forgets and poisons the arguments of the running callbacks, if there are any: their process ends. */
void deliver_abandon(void);
void deliver_queue(int client, int slot, const struct zk_message *message);
void deliver_session_event(int client, int slot, int state);

/* ---- path.c ---- */

/* A path from the root of the server's tree. */
struct whole_path {
    size_t size; /* bytes without the zero */
    bool valid;
    bool odd; /* contains a byte that a server may object to (F55) */
    char text[FAKEZK_PATH_MAX];
};

/* Returns whether the client library accepts a path (F55). With `sequence` the last component may also be
 * empty, "." or "..". */
bool path_valid(const char *path, bool sequence);
void path_make_whole(const struct _zhandle *zh, const char *path, bool sequence, struct whole_path *out);

/* ---- handle.c ---- */

struct _zhandle *handle_check(zhandle_t *zh, const char *call);
/* Counts the client's fakezk_fail_call() down, and returns whether the present call finds no memory. Use it
 * once in a call. */
bool handle_lacks_memory(int client);
/* Destroys a handle; calls no callback. */
void handle_finish_close(int client, int slot);
/* Calls the callbacks that are still due, unless FAKEZK_DEFECT_DROP_AT_CLOSE is set. Then destroys the handle
 * (F20, F23). */
void handle_drain(int client, int slot);

#endif
