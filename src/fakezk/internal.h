/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of the fake: what lies in which block. Only src/fakezk includes this. */
#ifndef FAKEZK_INTERNAL_H
#define FAKEZK_INTERNAL_H

#include "base/arena.h"
#include "base/code.h"
#include "base/pack.h"

#include <lockstep/fakezk.h>
#include <zookeeper/zookeeper.h>

/* ---- stat ---- */

struct zk_stat {
    int32_t czxid, mzxid, pzxid;
    int32_t version, cversion, aversion;
    int32_t owner; /* session number */
    int32_t data_size;
    int32_t children;
};

/* ---- server blocks: lists behind struct zk_server ---- */

enum { LIST_NODE, LIST_SERVER_WATCH, LIST_BACKLOG };

struct zk_server {
    struct arena_block head;
    int32_t zxid;      /* last applied */
    uint8_t frozen;    /* hears nothing from the leader */
    uint8_t lagging;   /* catches up only when told */
    uint16_t throttle; /* requests read since the last that was throttled; see F102 */
    struct pack_table table;
};

enum node_kind { NODE_PERSISTENT, NODE_EPHEMERAL, NODE_CONTAINER };

/* Sorted by path. `bytes` is the path, its zero, the data. */
struct zk_node {
    struct rec rec; /* tag = enum node_kind; word = what else than to the world its ACL allows, see auth.c */
    struct zk_stat stat; /* cversion unused: derived from `created` (F48) */
    int32_t created;     /* children ever created: the next suffix (F47) */
    uint16_t path_size;  /* without the zero */
    uint8_t perms;       /* of world:anyone */
    uint8_t had_child;
    char bytes[];
};

/* Sorted by path, client, handle, table. */
struct zk_server_watch {
    struct rec rec; /* tag = table */
    uint8_t client, handle;
    uint16_t path_size;
    uint32_t reserved;
    char path[];
};

enum txn_kind { TXN_CREATE, TXN_DELETE, TXN_SET, TXN_SET_ACL, TXN_CLOSE, TXN_NOTHING, TXN_REPLY };

/* What a follower has yet to apply. TXN_REPLY carries a whole message record in `bytes`. */
struct zk_txn {
    struct rec rec; /* tag = enum txn_kind */
    int32_t zxid;
    int32_t session;   /* CREATE: owner; CLOSE: which */
    int32_t data_size; /* -1 = null */
    int32_t version;   /* SET: resulting version; SET_ACL: resulting aversion */
    uint16_t path_size;
    uint8_t node_kind;
    uint8_t perms;
    uint8_t more;           /* the next record belongs to the same step */
    uint8_t client, handle; /* REPLY; CREATE, DELETE: the node's client plus one */
    uint8_t reserved;
    int32_t counter; /* CREATE: the parent's `created` afterwards; DELETE: czxid of the node */
    uint32_t owner;  /* CREATE, SET_ACL: of the node's ACL, see auth.c */
    char bytes[];    /* path, zero, data */
};

/* ---- the log block: lists behind struct zk_log ---- */

enum { LIST_SESSION, LIST_LATE, LIST_LINGER };

struct zk_log {
    struct arena_block head;
    int32_t zxid;
    int32_t now_ms;                   /* by a clock of its own */
    uint32_t adopted;                 /* 1: a client has come with the id of a session of another (F18) */
    uint32_t epochs;                  /* begun behind the first */
    int32_t begin[FAKEZK_EPOCHS_MAX]; /* of these: the number below that of the first transaction */
    uint16_t sessions[FAKEZK_CLIENTS_MAX]; /* opened so far, of each client */
    struct pack_table table;
};

enum session_state { SESSION_LIVE, SESSION_CLOSING };

/* Sorted by client, then number. */
struct zk_session {
    struct rec rec; /* tag = enum session_state, word = session number */
    int32_t timeout_ms;
    int32_t touched_ms;
    uint8_t client;
    uint8_t gone; /* its process has crashed: nobody will come back for it */
    uint16_t reserved;
    uint32_t reserved2;
};

/* ---- client blocks: lists behind struct zk_client; one of each per handle ---- */

enum { LIST_REQUEST, LIST_MESSAGE = FAKEZK_HANDLES_MAX, LIST_WATCH = 2 * FAKEZK_HANDLES_MAX };

/* How far a link is established; with `fine` these are states, otherwise they pass in one step. */
enum half {
    HALF_NOT,       /* all the way, or there is no link */
    HALF_REARM,     /* the server has yet to read SetWatches */
    HALF_RESUMED,   /* the client has yet to hear that the session goes on */
    HALF_READ_ONLY, /*   ... that it goes on, on a server that is cut off (F105) */
    HALF_NEW,       /*   ... that it has a new session */
    HALF_REFUSED,   /*   ... that its session is over */
};

enum { OPEN_NOT, OPEN_WRITABLE, OPEN_READ_ONLY /* takes a read-only server too */ };

struct _zhandle {
    uint8_t open; /* OPEN_… */
    uint8_t client, slot;
    uint8_t link; /* connected to `server` */
    uint8_t server;
    uint8_t next_server; /* where to try next */
    uint8_t busy;        /* a callback of it is running */
    uint8_t closing;     /* zookeeper_close was called inside a callback */
    int32_t state;       /* as zoo_state() shows it, unless it lags */
    int32_t session;     /* number; 0 = none yet */
    int32_t last_zxid;   /* of the last reply received (F44) */
    int32_t timeout_ms;  /* requested, then negotiated */
    uint8_t chroot;      /* number of the chroot text; 0 = none */
    uint8_t stranger;    /* came with the id of a session and a wrong password */
    uint8_t halved;      /* F91: only every other server is tried */
    uint8_t severed;     /* the server has closed its end, which the client has not heard */
    code_ref watcher;
    const void *context;
    clientid_t id;
    int32_t connect_ms;  /* the earliest next attempt */
    int32_t sent_ms;     /* last send */
    int32_t received_ms; /* last receipt */
    uint8_t half;        /* enum half */
    uint8_t lags;        /* 1: the link is gone, and zoo_state() still shows CONNECTED (F1) */
    uint16_t who;        /* its credentials; 0 = none */
};

struct zk_client {
    struct arena_block head;
    uint8_t paused;
    uint8_t partitioned;
    uint8_t fail_call; /* the n-th next call that needs memory finds none; 0 = none (F108) */
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
    OP_CHECK, /* inside a multi only */
    OP_AUTH,  /* never a request: the answer of zoo_add_auth */
    OP_KINDS
};

static inline bool op_is_write(int op)
{
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
    int32_t lo_ms, hi_ms; /* window of arrival at the server */
    int32_t forwarded;    /* the follower waits for this transaction; 0 = not read yet */
    int32_t version;      /* DELETE, SET, SET_ACL, CHECK; UNWATCH: table or -1 */
    int32_t data_size;    /* -1 = null; MULTI: bytes of packed sub-requests */
    uint16_t path_size;
    uint8_t mode;  /* CREATE */
    uint8_t perms; /* CREATE, SET_ACL; 0 = malformed */
    code_ref completion;
    code_ref watcher; /* reads; 0 = none */
    void *watch_context;
    const void *data;  /* of the completion */
    void *out;         /* MULTI: results; sub-requests: buffer or Stat */
    int32_t out_size;  /* MULTI: count; sub-requests: buffer size */
    uint8_t odd_path;  /* holds a byte that a server may object to (F55) */
    uint8_t own_perms; /* CREATE, SET_ACL: of who sends it, by the scheme "auth" */
    uint16_t who;      /* sends it; 0 = nobody in particular */
    char bytes[];      /* path, zero, data */
};

/* A request record of more bytes is a limit reached, and so is a multi of more operations. */
#define REQUEST_BYTES_MAX 16384
#define MULTI_MAX 16

enum message_kind { MESSAGE_REPLY, MESSAGE_SESSION, MESSAGE_NODE };

struct zk_message {
    struct rec rec; /* tag = enum message_kind; word = 1 once received by the client */
    uint8_t op;     /* REPLY */
    uint8_t table;  /* REPLY to a read with a watcher */
    uint16_t path_size;
    int32_t rc;    /* REPLY; SESSION: state argument; NODE: event type */
    int32_t zxid;  /* REPLY: of the server; NODE: czxid of the node */
    int32_t cause; /* NODE: zxid of the change, 0 = found at reconnect */
    int32_t lo_ms, hi_ms;
    code_ref completion;
    code_ref watcher;
    void *watch_context;
    const void *data;
    void *out;
    int32_t out_size;  /* NODE: the node's client plus one; UNWATCH: type */
    int32_t data_size; /* value: bytes or -1; lists: number of strings; MULTI: number of results */
    struct zk_stat stat;
    uint32_t outdated; /* REPLY to a list: 1 = read before the operator deleted an ephemeral of this client */
    char bytes[];      /* path, zero, then data or strings, each with its zero, or struct zk_result records */
};

/* One result of a multi, in a reply. */
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

/* A watcher in the client's tables; per path and table the oldest first (F69).
 *
 * An event takes its watchers out of the tables when it is received, and tells them later (F70). Until then their records stay,
 * marked with `fired`. A record with a mark is in no table: another one of the same pair may be set, and only the event, session
 * events that were queued before it, and the close of the handle look at it. */
struct zk_watch {
    struct rec rec; /* tag = table */
    code_ref watcher;
    int32_t czxid; /* of the node when it was set; 0 = absent */
    void *context;
    uint16_t path_size;
    uint16_t own; /* 1: the node was this client's when it was set */
    uint32_t
        fired; /* 0 = no; else which of the node events that are received and not told has taken it, from 1 */
    char path[];
};

/* ---- what does not change during a run, and scratch ---- */

#define CHROOTS_MAX 8

struct fakezk {
    struct arena *arena;
    struct fakezk_options options;
    fakezk_observer observer;
    void *observer_ctx;
    int entered;        /* -1 = nobody */
    uint64_t calls;     /* of recipes, with a handle; not part of the world */
    uint64_t told;      /* see told.c; not part of the world */
    struct zk_log *log; /* where the blocks lie; they do not move */
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
    arena_mark(fakezk.arena, fakezk.server_block[s]);
    return server_at(s);
}

static inline struct zk_client *client_mark(int c)
{
    arena_mark(fakezk.arena, fakezk.client_block[c]);
    return client_at(c);
}

/* Without a clock it is no part of the log: nobody depends on the log for it. */
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

/* What a handle asked first of what is unanswered; what it is told next. NULL if there is none. */
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

/* A setting of the servers (FAKEZK_SETTING_…) is on. */
static inline bool is_set(unsigned setting)
{
    return (fakezk.options.settings & setting) != 0;
}

/* What a client has seen last is only asked for when it looks for a server that is not behind that, and when it asks which of
 * its watches have missed a change. Otherwise it is never noted. */
static inline bool fakezk_seen_matters(void)
{
    return fakezk.options.servers > 1 || !fakezk.options.ignores_children || !fakezk.options.sets_no_data;
}

static inline int64_t api_zxid(int32_t zxid)
{
    return zxid == 0 ? 0 : FAKEZK_EPOCH + fakezk_zxid(zxid);
}

/* ---- told.c: what clients were given ---- */

/* Notes a result code, an event type, a session state; the first and the last return it. */
int tell_code(int rc);
void tell_event(int type);
int tell_state(int state);

/* ---- tree.c: one server's nodes ---- */

struct zk_node *tree_find(int server, const char *path);
struct zk_node *tree_first_child(int server, const char *path);
struct zk_node *tree_next_child(int server, struct zk_node *node, const char *path);
/* Writes the parent's path; false for "/". */
bool tree_parent(const char *path, char parent[FAKEZK_PATH_MAX]);
/* Apply a transaction's effect to one tree; false if the server's block is full. */
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

/* A request, with those inside it, is sent by `who`. */
void auth_sign(struct zk_request *request, uint16_t who);

/* Of a request with an ACL: whether a server takes that; what is kept of it, besides what it allows to the world. */
bool auth_acl_is_valid(const struct zk_request *request);
uint32_t auth_owner(const struct zk_request *request);

bool auth_allows(const struct zk_node *node, const struct zk_request *request, int perm);

/* ---- batch.c: the transactions of the write that is under way ---- */

#define BATCH_BYTES 32768

void batch_clear(void);
/* The place `at` lies behind the last transaction; batch_ends(0): there is none. */
bool batch_ends(size_t at);
/* The transaction at the place `at`, which moves on to the next; NULL behind the last. */
struct zk_txn *batch_at(size_t *at);
/* Of no session, client or node kind yet. Copies `data_size` bytes, none if that is negative. NULL, and trouble is noted,
 * if the batch is full. Valid until batch_clear(). */
struct zk_txn *batch_add(int kind, int32_t zxid, const char *path, const void *data, int32_t data_size);

/* ---- operation.c: single operations on the leader's tree ---- */

struct operation_result {
    char path[FAKEZK_PATH_MAX]; /* CREATE */
    struct zk_stat stat;
    bool has_stat;
};

/* Carries out a create, delete, set, set of an ACL, or check. Returns a code of ZooKeeper; `*result` is written always. */
int operation_do(const struct zk_request *request, int32_t session, int32_t zxid,
                 struct operation_result *result);
/* Sets the data of the leader's node without a check; false if the batch or the block is full. */
bool operation_set_data(const struct zk_node *node, int32_t zxid, const char *path, const char *data,
                        int32_t size);
/* Sets the ACL of the leader's node without a check; false if the batch is full. `owner`: see auth_owner(). */
bool operation_set_acl(const struct zk_node *node, int32_t zxid, const char *path, int perms, uint32_t owner);
/* The directory's counter after a create: it sticks at the top since ZOOKEEPER-3249, and wrapped before (F49). */
int32_t operation_count_up(int32_t created);

/* ---- commit.c: writes ---- */

/* Commits a write at the leader. The reply goes to the client at once, or with the backlog of the follower
 * that it is connected to (then the transaction's zxid is returned); nowhere if `slot` is FAKEZK_NONE. */
int32_t commit_request(int client, int slot, int32_t session, int server, const struct zk_request *request);
/* A sync read by a follower: answered when the follower has caught up. */
int32_t commit_sync(int client, int slot, int server, const struct zk_request *request);
int32_t commit_open_session(int client, int32_t timeout_ms);
void commit_close_session(int32_t session);
void commit_operator_create(const char *path, int perms, int node_kind);
void commit_operator_delete(const char *path);
bool commit_operator_set(const char *path, const char *text);
bool commit_operator_set_perms(const char *path, int perms);
/* The next transaction is the first of a new epoch. */
void commit_begin_epoch(void);
/* Applies the next backlog step of a follower. */
void commit_catch_up(int server);

/* ---- aside.c: writes whose link is gone ---- */

/* Those that a cut left in the pipeline: the oldest commits, or all of them do before anything else (F79). */
void aside_park(int client, int32_t session, const struct zk_request *request);
void aside_late_first(void);
void aside_late_all(void);

/* Those that lie in the socket of a server behind a broken link: they may be read until the client has another
 * link, or the session is over. */
void aside_linger(int client, int32_t session, int server, const struct zk_request *request);
const struct zk_request *aside_lingering(int client);
void aside_lingering_first(int client);
void aside_forget(int32_t session);

/* ---- server.c: reading requests ---- */

void server_apply(int client, int slot, bool refused);
void server_send(int client, int slot, const struct zk_message *message);
/* A follower has yet to apply the session's end. */
bool server_awaits_end(int server, int32_t session);
/* Fires the watches of a change at one server; `owner` is the client of the node plus one, 0 = nobody's. */
void server_fire(int server, int type, const char *path, int32_t czxid, int32_t cause, int owner);
void server_watch_add(int server, int client, int slot, int table, const char *path);
void server_watch_drop(int client, int slot);
bool server_watch_remove(int server, int client, int slot, int table, const char *path);
/* The server has applied the end of a session: its connections there hear nothing more (F30, F74). */
void server_end_session(int server, int32_t session);

/* ---- session.c ---- */

/* Whose session it is follows from its number. */
static inline int session_client(int32_t number)
{
    return (number - 1) % fakezk.options.clients;
}

/* Who may have a session: the clients from `first` to before `end`. */
struct session_users {
    int first, end;
};

static inline struct session_users session_users(int32_t number)
{
    int client = number > 0 ? session_client(number) : 0;
    return the_log()->adopted != 0 || number <= 0 ? (struct session_users){0, fakezk.options.clients}
                                                  : (struct session_users){client, client + 1};
}

/* NULL if its end is committed. While each client has one session, its place follows from the number: asked about every
 * handle in every step, the answer is mostly found at once. */
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

/* The number of the client whose session a node is of, plus one: labels name roles. 0 = nobody's, or of a session whose end is
 * committed. */
static inline uint8_t owner_client(int32_t number)
{
    const struct zk_session *session = number != 0 ? session_find(number) : NULL;
    return session != NULL ? (uint8_t)(session->client + 1) : 0;
}

bool session_healthy(const struct zk_session *session);
int32_t session_deadline_ms(const struct zk_session *session);
void session_touch(int32_t session, int32_t now_ms);
/* To be called before a client's link stops being healthy: takes the pings sent so far into account (F6). */
void session_settle_pings(int client);

/* ---- link.c: connecting and losing links ---- */

void link_connect(int client, int slot, int server);
void link_handshake(int client, int slot);
/* The server closes its end of the link. */
void link_sever(int client, int slot);
/* The server refuses the credentials: the end of the handle, not of its session (F25). */
void link_reject(int client, int slot);
void link_rearm(int client, int slot);
void link_drop(int client, int slot, int rc, bool keep_all);
void link_fail_requests(int client, int slot, int rc);
/* Ends a link for zookeeper_close: all that is unanswered gets ZCLOSING; with `flush` the server still reads
 * what was issued, and the session is closed behind it (F20). */
void link_close(int client, int slot, bool flush);
void link_give_up(int client, int slot);
int32_t link_give_up_ms(const struct _zhandle *zh);
void link_receive(int client, int slot, struct zk_message *message);
void link_receive_next(int client, int slot);
void link_window(int32_t *lo_ms, int32_t *hi_ms);

/* ---- unread.c: lists on their way to a client ---- */

#define FAKEZK_NAMES_MAX 512 /* of one list */

bool message_is_list(const struct zk_message *message);

/* The names of a list, which `name` has room for; none of another message. They lie in the message. */
struct String_vector message_names(const struct zk_message *message, char **name);

/* Which of them the client will not look at. */
void message_unread(int client, const struct zk_message *message, const struct String_vector *names,
                    bool *unread);

/* ---- watch.c: the client's tables ---- */

/* A watcher to be registered; `stat` is the node's, czxid 0 if it is absent. */
void watch_add(int client, int slot, int table, const char *path, code_ref watcher, void *context,
               const struct zk_stat *stat);
bool watch_remove(int client, int slot, int table, const char *path, code_ref watcher, const void *context,
                  bool all);
void watch_close(int client, int slot);

struct watch_target {
    void *context;
    code_ref watcher;
    bool own; /* the node was this client's when the watch was set */
};

#define WATCH_TARGETS_MAX 64

/* A node event is received: takes those whom it will reach out of the tables. `number` says which of the node events that are
 * received and not told it is, from 1. */
void watch_fire(int client, int slot, const struct zk_message *event, uint32_t number);
/* Whom the first of these events reaches (F69); it is told, and those behind it move up. */
int watch_collect(int client, int slot, const struct zk_message *event, struct watch_target *out);
/* Whom a session event reaches; the default watcher last (F4). */
int watch_collect_session(int client, int slot, struct watch_target *out);

/* ---- deliver.c ---- */

/* To be called before anything is delivered. */
void deliver_open(void);
void deliver_next(int client, int slot);

/* Callbacks that have begun never come back: the process is gone in the middle of one. */
void deliver_abandon(void);
void deliver_queue(int client, int slot, const struct zk_message *message);
void deliver_session_event(int client, int slot, int state);

/* ---- path.c ---- */

/* A path from the root of the server's tree. */
struct whole_path {
    size_t size; /* bytes before the zero */
    bool valid;
    bool odd; /* holds a byte that a server may object to (F55) */
    char text[FAKEZK_PATH_MAX];
};

/* What the client library lets pass (F55); what is created with a sequence may end with a slash or a dot. */
bool path_valid(const char *path, bool sequence);
/* Puts a path behind the handle's chroot and checks it. */
void path_make_whole(const struct _zhandle *zh, const char *path, bool sequence, struct whole_path *out);

/* ---- handle.c ---- */

struct _zhandle *handle_check(zhandle_t *zh, const char *call);
/* True if this call finds no memory. Each call that needs some asks once. */
bool handle_lacks_memory(int client);
/* Destroys a handle without a word. */
void handle_finish_close(int client, int slot);
/* Calls what is still owed, then destroys the handle (F20, F23). */
void handle_drain(int client, int slot);

/* ---- async.c ---- */

/* F55, the client's part. */

#endif
