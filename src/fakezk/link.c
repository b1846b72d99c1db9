/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Links between a handle and a server. Without `fine`, a connect is one step, its handshake and SetWatches
 * included, and so is a loss (D8b). */
#include "base/assert.h"
#include "fakezk/enabled.h"

#include <string.h>

void link_window(int32_t *lo_ms, int32_t *hi_ms)
{
    if (fakezk.options.timed) {
        *lo_ms = clock_ms() + fakezk.options.latency_min_ms;
        *hi_ms = clock_ms() + fakezk.options.latency_max_ms;
    } else {
        *lo_ms = *hi_ms = 0;
    }
    LS_ASSERT(*lo_ms <= *hi_ms);
}

/* Returns the number of node events in the queue that are received and not delivered. */
static uint32_t node_events(int client, int slot)
{
    uint32_t count = 0;
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        count += rec->tag == MESSAGE_NODE && rec->word != 0;
    }
    return count;
}

/* Receives a message, unless it is received already. A reply raises `last_zxid` (F44), and may set (F38) or
 * remove watches. The watchers of a node event leave the tables (F70). */
void link_receive(int client, int slot, struct zk_message *message)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->open);
    if (message->rec.word != 0) {
        return;
    }
    message->rec.word = 1;
    zh->received_ms = clock_ms();
    if (message->rec.tag == MESSAGE_NODE) {
        uint32_t number = node_events(client, slot);
        watch_fire(client, slot, message, number > 0 ? number : 1); /* 0: the event has left the queue */
    }
    if (message->rec.tag != MESSAGE_REPLY) {
        return;
    }
    if (message->zxid > zh->last_zxid) {
        zh->last_zxid = message->zxid;
    }
    if (message->op == OP_UNWATCH && message->rc == ZOK) {
        for (int table = WATCH_DATA; table <= WATCH_CHILD; table++) {
            bool asked = message->out_size == ZWATCHTYPE_ANY ||
                         (message->out_size == ZWATCHTYPE_CHILD) == (table == WATCH_CHILD);
            if (asked) {
                watch_remove(client, slot, table, message->bytes, message->watcher, message->watch_context,
                             message->watcher == 0);
            }
        }
    } else if (message->table != WATCH_NONE) {
        char path[FAKEZK_PATH_MAX];
        memcpy(path, message->bytes, message->path_size + 1u);
        code_ref watcher = message->watcher;
        watch_add(client, slot, message->table, path, watcher, message->watch_context, &message->stat);
    }
}

/* Returns whether a request may fail with this code while its handle is in this state. An expired handle and
 * one whose credentials were refused have a code of their own. ZCLOSING is possible in each state. */
static bool is_failure_in(int state, int rc)
{
    return rc == ZCLOSING || (state == ZOO_EXPIRED_SESSION_STATE ? rc == ZSESSIONEXPIRED
                              : state == ZOO_AUTH_FAILED_STATE   ? rc == ZAUTHFAILED
                                                                 : rc != ZOK);
}

static void queue_failure(int client, int slot, int op, code_ref completion, const void *data, void *out,
                          int out_size, int rc)
{
    LS_ASSERT(is_failure_in(handle_at(client, slot)->state, rc));
    struct zk_message message = {.rec = {.tag = MESSAGE_REPLY, .size = sizeof message + 8, .word = 1}};
    _Alignas(8) unsigned char space[sizeof message + 8] = {0};
    message.op = (uint8_t)op;
    message.table = WATCH_NONE;
    message.rc = rc;
    message.completion = completion;
    message.data = data;
    message.out = out;
    message.out_size = out_size;
    message.data_size = -1;
    memcpy(space, &message, sizeof message);
    deliver_queue(client, slot, (struct zk_message *)space);
}

/* Fails all unanswered requests, in order of issue (F10). */
void link_fail_requests(int client, int slot, int rc)
{
    struct pack pack = client_pack(client);
    struct rec *rec;
    while ((rec = pack_first(&pack, LIST_REQUEST + slot)) != NULL) {
        struct zk_request r = *(struct zk_request *)rec;
        pack_remove(&pack, rec);
        queue_failure(client, slot, r.rec.tag, r.completion, r.data, r.out, r.out_size, rc);
    }
}

/* A request whose answer is lost. The array `lost` has such requests in order of issue. */
struct lost_reply {
    uint8_t op;
    code_ref completion;
    const void *data;
    void *out;
    int32_t out_size;
};

#define LOST_MAX 512

static struct lost_reply lost[LOST_MAX];
static int lost_count;

static void lose(struct lost_reply reply)
{
    LS_ASSERT(lost_count >= 0 && lost_count <= LOST_MAX);
    if (lost_count == LOST_MAX) {
        fakezk_note_trouble("limit: more than %d answers are lost at once", LOST_MAX);
        return;
    }
    lost[lost_count++] = reply;
}

/* Removes the messages that the client has not received. Adds to `lost` the requests that they answer. */
static void take_lost(int client, int slot)
{
    struct pack pack = client_pack(client);
    struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot);
    while (rec != NULL) {
        const struct zk_message *m = (struct zk_message *)rec;
        if (m->rec.word != 0) {
            rec = pack_next(&pack, rec);
            continue;
        }
        if (m->rec.tag == MESSAGE_REPLY) {
            lose((struct lost_reply){m->op, m->completion, m->data, m->out, m->out_size});
        }
        bool last = pack_next(&pack, rec) == NULL;
        pack_remove(&pack, rec);
        if (last) {
            break;
        }
        /* The next record has moved to the place of the removed one. */
    }
}

static void fail_lost(int client, int slot, int rc)
{
    for (int i = 0; i < lost_count; i++) {
        queue_failure(client, slot, lost[i].op, lost[i].completion, lost[i].data, lost[i].out,
                      lost[i].out_size, rc);
    }
    lost_count = 0;
    link_fail_requests(client, slot, rc);
    LS_ASSERT(lost_count == 0 && head_request(client, slot) == NULL);
}

static void receive_all(int client, int slot, int keep)
{
    LS_ASSERT(keep >= 0);
    struct pack pack = client_pack(client);
    int index = 0;
    int received = 0;
    for (;;) {
        struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot);
        for (int i = 0; i < index && rec != NULL; i++) {
            rec = pack_next(&pack, rec);
        }
        if (rec == NULL || received == keep) {
            return;
        }
        if (rec->word == 0) {
            /* link_receive() gets a copy, because it adds and removes records of this block. */
            static _Alignas(8) unsigned char copy[1 << 16];
            memcpy(copy, rec, rec->size);
            rec->word = 1;
            link_receive(client, slot, (struct zk_message *)copy);
            received++;
        }
        index++;
    }
}

void link_receive_next(int client, int slot)
{
    receive_all(client, slot, 1);
}

static int32_t reconnect_pause_ms(const struct _zhandle *zh)
{
    bool wrapped = zh->next_server == 0;
    return (wrapped ? zh->timeout_ms / 60 : 0) + 4 * fakezk.options.latency_min_ms;
}

/* Ends the handshake, if one is under way. If it has opened a session, the handle has no session again, and
 * the session becomes `gone`, because its client has not heard of it. */
static void forget_new_session(struct _zhandle *zh)
{
    struct zk_session *session = zh->half == HALF_NEW ? session_find(zh->session) : NULL;
    if (session != NULL) {
        log_mark();
        session->gone = 1;
    }
    if (zh->half == HALF_NEW) {
        zh->session = 0;
    }
    zh->half = HALF_NOT;
    LS_ASSERT(zh->half == HALF_NOT);
}

static void unlink_handle(int client, int slot)
{
    LS_ASSERT(handle_at(client, slot)->open);
    session_settle_pings(client);
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    forget_new_session(zh);
    zh->link = 0;
    zh->severed = 0;
    zh->state = 0;
    zh->next_server = (uint8_t)((zh->next_server + 1) % fakezk.options.servers);
    zh->connect_ms = fakezk.options.timed ? clock_ms() + reconnect_pause_ms(zh) : 0;
    server_watch_drop(client, slot);
}

/* Returns whether callbacks still see the old state after a loss: a constant of the run. The thread of the
 * real client queues the session event and the failures first. It sets the state later, at the latest when
 * the next attempt ends (F1). */
static bool state_lags(void)
{
    return (fakezk.options.seed & 16) != 0 && !fakezk.options.fixed_orders;
}

/* Loses a link. Behind the messages that are received, queues the session event and then the failed
 * completions (F10, F43). If the handle was still in its handshake, queues no session event. */
static void lose_link(int client, int slot, int rc)
{
    LS_ASSERT(fakezk_unreceived_messages(client, slot) == 0);
    int state = handle_at(client, slot)->state;
    bool connected = state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE;
    unlink_handle(client, slot);
    if (connected) {
        handle_at(client, slot)->lags = state_lags();
        deliver_session_event(client, slot, ZOO_CONNECTING_STATE);
    }
    fail_lost(client, slot, rc);
}

void link_drop(int client, int slot, int rc, bool keep_all)
{
    receive_all(client, slot, keep_all ? INT32_MAX : 0);
    take_lost(client, slot);
    lose_link(client, slot, rc);
}

void link_reject(int client, int slot)
{
    take_lost(client, slot);
    unlink_handle(client, slot);
    handle_at(client, slot)->state = ZOO_AUTH_FAILED_STATE;
    deliver_session_event(client, slot, ZOO_AUTH_FAILED_STATE);
    fail_lost(client, slot, ZAUTHFAILED);
}

int fakezk_unread_requests(int client, int handle)
{
    int count = 0;
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + handle); rec != NULL;
         rec = pack_next(&pack, rec)) {
        count += rec->word != 0 && ((struct zk_request *)rec)->forwarded == 0;
    }
    return count;
}

int fakezk_unreceived_messages(int client, int handle)
{
    int count = 0;
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + handle); rec != NULL;
         rec = pack_next(&pack, rec)) {
        count += rec->word == 0;
    }
    return count;
}

static const struct zk_request *request_number(int client, int slot, int n)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_request *request = (struct zk_request *)rec;
        if (request->rec.word != 0 && request->forwarded == 0 && --n == 0) {
            return request;
        }
    }
    return NULL;
}

bool fakezk_can_cut(int client, int handle, int keep, int apply, bool late)
{
    const struct _zhandle *zh = handle_at(client, handle);
    if (!zh->open || !zh->link || keep < 0 || apply < 0 ||
        keep > fakezk_unreceived_messages(client, handle) || apply > fakezk_unread_requests(client, handle)) {
        return false;
    }
    if (!late) {
        return !fakezk.options.fine || (keep == 0 && apply == 0);
    }
    const struct zk_request *last = apply > 0 ? request_number(client, handle, apply) : NULL;
    return last != NULL && op_is_write(last->rec.tag) && fakezk.options.servers > 1 && zh->server != 0;
}

/* Lets the server read the oldest request. With `late`, parks the request instead, and leaves it in the
 * handle's list. False: the server does not read it. */
static bool read_ahead(int client, int slot, bool late)
{
    struct pack pack = client_pack(client);
    const struct _zhandle *zh = handle_at(client, slot);
    const struct zk_request *head = (struct zk_request *)pack_first(&pack, LIST_REQUEST + slot);
    LS_ASSERT(head != NULL);
    const struct zk_session *session = session_find(zh->session);
    if (late) {
        aside_park(client, zh->session, head);
        return true;
    }
    bool leader = op_needs_leader(head->rec.tag);
    if (zh->severed || session == NULL || session->rec.tag != SESSION_LIVE ||
        is_set(FAKEZK_SETTING_REQUIRES_SASL) || (leader && server_at(zh->server)->frozen)) {
        return false;
    }
    server_apply(client, slot, false);
    return true;
}

/* Lets the server read up to `apply` requests, and loses their answers; with `late`, parks the last of them
 * instead. First, all messages are lost that the client has not received. Requests that stay in the handle's
 * list are newer than those in `lost`. */
static void read_on(int client, int slot, int apply, bool late)
{
    struct pack pack = client_pack(client);
    take_lost(client, slot);
    for (int i = 1; i <= apply; i++) {
        /* Requests that wait for the follower move to `lost`, so that the first unread one is the head. */
        struct zk_request *head;
        while ((head = (struct zk_request *)pack_first(&pack, LIST_REQUEST + slot)) != NULL &&
               head->forwarded != 0) {
            lose((struct lost_reply){head->rec.tag, head->completion, head->data, head->out, head->out_size});
            pack_remove(&pack, &head->rec);
        }
        if (head == NULL || !read_ahead(client, slot, late && i == apply)) {
            break;
        }
        take_lost(client, slot);
    }
}

bool fakezk_hides_write(int client, int handle, int keep, int apply)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_MESSAGE + handle); rec != NULL;
         rec = pack_next(&pack, rec)) {
        const struct zk_message *message = (struct zk_message *)rec;
        if (rec->word == 0 && --keep < 0 && rec->tag == MESSAGE_REPLY && op_is_write(message->op)) {
            return true;
        }
    }
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + handle); rec != NULL;
         rec = pack_next(&pack, rec)) {
        bool applied = ((struct zk_request *)rec)->forwarded != 0 || (rec->word != 0 && --apply >= 0);
        if (applied && op_is_write(rec->tag)) {
            return true;
        }
    }
    return false;
}

/* Keeps the unread writes as lingering ones: the server may read them before it notices that the link is
 * gone. If `parked`, leaves out the first request, which is parked. Keeps none if the server would not read
 * them. */
static void leave_unread(int client, int slot, bool parked)
{
    struct pack pack = client_pack(client);
    const struct _zhandle *zh = handle_at(client, slot);
    if (zh->half > HALF_REARM || zh->severed || !fakezk_session_live(zh->session)) {
        return;
    }
    struct rec *rec = pack_first(&pack, LIST_REQUEST + slot);
    for (rec = parked ? pack_next(&pack, rec) : rec; rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_request *request = (struct zk_request *)rec;
        if (rec->word != 0 && request->forwarded == 0 && op_is_write(rec->tag)) {
            aside_linger(client, zh->session, zh->server, request);
        }
    }
}

bool fakezk_cut(int client, int handle, int keep, int apply, int rc, bool late)
{
    if (!fakezk_can_cut(client, handle, keep, apply, late)) {
        return false;
    }
    receive_all(client, handle, keep);
    read_on(client, handle, apply, late);
    if (fakezk.options.fine) {
        leave_unread(client, handle, late);
    }
    lose_link(client, handle, rc);
    return true;
}

void link_close(int client, int slot, bool flush)
{
    read_on(client, slot, flush ? INT32_MAX : 0, false);
    session_settle_pings(client);
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    zh->link = 0;
    forget_new_session(zh);
    server_watch_drop(client, slot);
    if (flush && fakezk_expire(zh->session)) {
        commit_close_session(zh->session);
    }
    fail_lost(client, slot, ZCLOSING);
    LS_ASSERT(!zh->link && head_request(client, slot) == NULL);
}

bool fakezk_can_refuse(int client, int handle)
{
    const struct _zhandle *zh = handle_at(client, handle);
    return zh->open && !zh->link && zh->state >= 0;
}

/* Fails an attempt to connect, and moves `next_server` by one server. FAKEZK_DEFECT_CURSOR (ZOOKEEPER-2466)
 * moves it by two. Then half of an even list is not tried until the handle is connected (F91). */
static void fail_attempt(int client, int slot, int rc)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->open && !zh->link);
    bool twice = (fakezk.options.defects & FAKEZK_DEFECT_CURSOR) != 0;
    zh->halved = twice && fakezk.options.servers % 2 == 0;
    zh->lags = 0;
    zh->state = 0;
    zh->next_server = (uint8_t)((zh->next_server + (twice ? 2 : 1)) % fakezk.options.servers);
    zh->connect_ms = fakezk.options.timed ? clock_ms() + reconnect_pause_ms(zh) : 0;
    link_fail_requests(client, slot, rc);
}

bool fakezk_refuse(int client, int handle)
{
    if (!fakezk_can_refuse(client, handle)) {
        return false;
    }
    fail_attempt(client, handle, is_set(FAKEZK_SETTING_TLS) ? ZSSLCONNECTIONERROR : ZCONNECTIONLOSS);
    return true;
}

/* Returns the time in ms at which a mute handle gives up: two thirds of the timeout after the last byte
 * from its server (F7). Without a link, `connect_ms` takes the place of the last byte. A frozen server
 * answers pings until a request waits, so the time then begins at the earliest with the oldest request's
 * sending (F94). */
int32_t link_give_up_ms(const struct _zhandle *zh)
{
    int32_t since = zh->link ? zh->received_ms : zh->connect_ms;
    const struct zk_request *head = head_request(zh->client, zh->slot);
    if (zh->link && head != NULL && server_at(zh->server)->frozen) {
        int32_t asked = head->lo_ms - fakezk.options.latency_min_ms;
        since = asked > since ? asked : since;
    }
    return since + zh->timeout_ms * 2 / 3;
}

void link_give_up(int client, int slot)
{
    if (handle_at(client, slot)->link) {
        link_drop(client, slot, ZOPERATIONTIMEOUT, false);
    } else {
        fail_attempt(client, slot, ZOPERATIONTIMEOUT);
    }
}

/* ---- connecting ---- */

static void expire_handle(int client, int slot)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->open && !zh->link);
    zh->state = ZOO_EXPIRED_SESSION_STATE;
    deliver_session_event(client, slot, ZOO_EXPIRED_SESSION_STATE);
    link_fail_requests(client, slot, ZSESSIONEXPIRED);
}

/* A client that is partitioned or paused does not hear that the link is closed: it still takes the link for
 * one that is up. Any other client loses the link now. */
void link_sever(int client, int slot)
{
    LS_ASSERT(handle_at(client, slot)->link);
    const struct zk_client *c = client_at(client);
    if (!c->partitioned && !c->paused) {
        link_drop(client, slot, ZCONNECTIONLOSS, true);
        return;
    }
    session_settle_pings(client);
    client_mark(client)->handle[slot].severed = 1;
    server_watch_drop(client, slot);
}

/* Closes the session's links of other handles, because a newer one begins (F32). */
static void close_older(int client, int slot, int32_t session)
{
    struct session_users users = session_users(session);
    for (int c = users.first; c < users.end; c++) {
        for (int other = 0; other < FAKEZK_HANDLES_MAX; other++) {
            const struct _zhandle *zh = handle_at(c, other);
            if ((c != client || other != slot) && zh->open && zh->link && zh->session == session) {
                link_sever(c, other);
            }
        }
    }
}

static int32_t clamp_timeout(int32_t wanted)
{
    int32_t low = 2 * fakezk.options.tick_ms;
    int32_t high = 20 * fakezk.options.tick_ms;
    LS_ASSERT(low <= high);
    return wanted < low ? low : (wanted > high ? high : wanted);
}

/* Returns the type of the server's event for one watch of SetWatches (F72, F73); 0 = no event: the watch is
 * armed again. *czxid becomes the czxid of the node; 0 = there is no node. */
static int answer_watch(int server, int table, const char *path, int32_t last_zxid, int32_t *czxid)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    const struct zk_node *node = tree_find(server, path);
    *czxid = node != NULL ? node->stat.czxid : 0;
    if (table == WATCH_EXIST) {
        return node != NULL ? ZOO_CREATED_EVENT : 0;
    }
    if (node == NULL) {
        return ZOO_DELETED_EVENT;
    }
    if (!fakezk_seen_matters()) {
        return 0; /* such a world has no change of watched data or children */
    }
    if (table == WATCH_DATA) {
        return node->stat.mzxid > last_zxid ? ZOO_CHANGED_EVENT : 0;
    }
    return node->stat.pzxid > last_zxid ? ZOO_CHILD_EVENT : 0;
}

static void queue_node_event(int client, int slot, int type, const char *path, int32_t czxid)
{
    _Alignas(8) unsigned char space[sizeof(struct zk_message) + FAKEZK_PATH_MAX + 8] = {0};
    struct zk_message *message = (struct zk_message *)space;
    message->rec.tag = MESSAGE_NODE;
    message->path_size = (uint16_t)strlen(path);
    message->rec.size = (uint16_t)((sizeof *message + message->path_size + 1u + 7u) & ~7u);
    message->rc = type;
    message->zxid = czxid;
    memcpy(message->bytes, path, message->path_size);
    server_send(client, slot, message);
}

static bool is_older(const struct zk_watch *watch, int32_t czxid, const char *path)
{
    return watch->czxid != czxid ? watch->czxid < czxid : strcmp(watch->path, path) < 0;
}

/* Returns the first watch behind the place (`czxid`, `path`) in a table, or NULL. Watches go by czxid, and by
 * path where the czxid is equal. ZooKeeper's order is unspecified. */
static const struct zk_watch *next_watch(const struct pack *pack, int list, int table, int32_t czxid,
                                         const char *path)
{
    const struct zk_watch *next = NULL;
    for (const struct rec *rec = pack_first(pack, list); rec != NULL; rec = pack_next(pack, rec)) {
        const struct zk_watch *watch = (const struct zk_watch *)rec;
        bool behind =
            !is_older(watch, czxid, path) && (watch->czxid != czxid || strcmp(watch->path, path) != 0);
        if (watch->fired == 0 && watch->rec.tag == table && behind &&
            (next == NULL || is_older(watch, next->czxid, next->path))) {
            next = watch;
        }
    }
    return next;
}

/* Returns whether no watch of the same path and table has a smaller czxid. For the server, all watches of one
 * path and table are one watch. */
static bool is_first_of_path(const struct pack *pack, const struct zk_watch *watch)
{
    for (const struct rec *rec = pack_first(pack, watch->rec.list); rec != NULL; rec = pack_next(pack, rec)) {
        const struct zk_watch *other = (const struct zk_watch *)rec;
        if (other->fired == 0 && other->rec.tag == watch->rec.tag && other->czxid < watch->czxid &&
            strcmp(other->path, watch->path) == 0) {
            return false;
        }
    }
    return true;
}

static void set_watch(int client, int slot, int server, int table, const char *path, int32_t set_on)
{
    LS_ASSERT(table >= WATCH_DATA && table < WATCH_NONE);
    int32_t czxid = 0;
    int type = answer_watch(server, table, path, handle_at(client, slot)->last_zxid, &czxid);
    if (type == 0) {
        server_watch_add(server, client, slot, table, path);
    } else {
        queue_node_event(client, slot, type, path, czxid != 0 ? czxid : set_on);
    }
}

static void set_watches(int client, int slot, int server)
{
    LS_ASSERT(handle_at(client, slot)->link && handle_at(client, slot)->half == HALF_NOT);
    struct pack pack = client_pack(client);
    for (int table = WATCH_DATA; table <= WATCH_CHILD; table++) {
        char path[FAKEZK_PATH_MAX] = "";
        int32_t czxid = -1;
        const struct zk_watch *watch;
        while ((watch = next_watch(&pack, LIST_WATCH + slot, table, czxid, path)) != NULL) {
            bool first = is_first_of_path(&pack, watch);
            czxid = watch->czxid;
            memcpy(path, watch->path, watch->path_size + 1u);
            if (first) {
                set_watch(client, slot, server, table, path, czxid);
            }
        }
    }
}

static void send_queued(int client, int slot)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, LIST_REQUEST + slot); rec != NULL; rec = pack_next(&pack, rec)) {
        struct zk_request *request = (struct zk_request *)rec;
        request->rec.word = 1;
        auth_sign(request, handle_at(client, slot)->who);
        link_window(&request->lo_ms, &request->hi_ms);
    }
}

static int32_t hand_out_session(struct _zhandle *zh, int client)
{
    int32_t number = commit_open_session(client, zh->timeout_ms);
    zh->session = number;
    LS_ASSERT(session_client(number) == client || number == 0);
    return number;
}

/* Applies a server's whole backlog. A server knows a new session only after all transactions before it
 * (F88). */
static void catch_up_all(int server)
{
    struct pack pack = server_pack(server);
    while (server != 0 && pack_first(&pack, LIST_BACKLOG) != NULL) {
        commit_catch_up(server);
    }
    LS_ASSERT(server == 0 || pack_first(&pack, LIST_BACKLOG) == NULL);
}

/* Takes a session over: closes the session's other links, and gives the session this handle's timeout (F18,
 * F28). */
static void take_over_session(int client, int slot)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    close_older(client, slot, zh->session);
    struct zk_session *session = session_find(zh->session);
    LS_ASSERT(session != NULL && session->rec.tag == SESSION_LIVE);
    if (session->timeout_ms != zh->timeout_ms || session->gone) {
        log_mark();
        session->timeout_ms = zh->timeout_ms;
        session->gone = 0;
    }
}

/* Does the server's part of a handshake: a session goes on, or a new one begins. False: no room for a new
 * one. */
static bool admit(int client, int slot, int server, bool resumes)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(!zh->link && !zh->stranger);
    if (resumes) {
        take_over_session(client, slot);
    } else {
        if (hand_out_session(zh, client) == 0) {
            return false;
        }
        catch_up_all(server);
    }
    aside_forget(zh->session);
    zh->server = (uint8_t)server;
    zh->halved = 0;
    zh->half = resumes ? HALF_RESUMED : HALF_NEW;
    session_touch(zh->session, clock_ms());
    return true;
}

/* Does the part of a frozen, read-only server in a handshake (F105). This server knows a session until it has
 * applied the session's end. The leader does not hear of the handshake. */
static void admit_read_only(struct _zhandle *zh, int server)
{
    LS_ASSERT(server_at(server)->frozen);
    zh->server = (uint8_t)server;
    zh->halved = 0;
    bool known = session_find(zh->session) != NULL || server_awaits_end(server, zh->session);
    zh->half = known ? HALF_READ_ONLY : HALF_REFUSED;
}

/* Answers a connect request by `half`, which link_handshake() reads. False: no room for a session. */
static bool answer(int client, int slot, int server)
{
    LS_ASSERT(server >= 0 && server < fakezk.options.servers);
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    if (zh->stranger) {
        close_older(client, slot, zh->session); /* F32: the password is checked second */
        zh->half = HALF_REFUSED;
        return true;
    }
    zh->timeout_ms = clamp_timeout(zh->timeout_ms);
    if (server_at(server)->frozen) {
        admit_read_only(zh, server);
        return true;
    }
    const struct zk_session *session = zh->session != 0 ? session_find(zh->session) : NULL;
    bool dead = zh->session != 0 && (session == NULL || session->rec.tag != SESSION_LIVE);
    if (dead && (fakezk.options.defects & FAKEZK_DEFECT_SILENT_SESSION) == 0) {
        zh->half = HALF_REFUSED;
        return true;
    }
    return admit(client, slot, server, zh->session != 0 && !dead);
}

void link_connect(int client, int slot, int server)
{
    LS_ASSERT(handle_at(client, slot)->open && !handle_at(client, slot)->link);
    if (!answer(client, slot, server)) {
        return;
    }
    client_mark(client)->handle[slot].link = 1;
    client_mark(client)->handle[slot].lags = 0;
    if (!fakezk.options.fine) {
        link_handshake(client, slot);
    }
}

void link_handshake(int client, int slot)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    int32_t now = clock_ms();
    LS_ASSERT(zh->link && zh->half > HALF_REARM);
    if (zh->half == HALF_REFUSED) {
        zh->half = HALF_NOT;
        zh->link = 0;
        expire_handle(client, slot);
        return;
    }
    zh->state = zh->half == HALF_READ_ONLY ? ZOO_READONLY_STATE : ZOO_CONNECTED_STATE;
    zh->half = HALF_REARM;
    zh->id.client_id = fakezk_session_id(zh->session);
    memcpy(zh->id.passwd, "lockstep-passwd", sizeof zh->id.passwd);
    zh->sent_ms = now;
    zh->received_ms = now;
    deliver_session_event(client, slot, zh->state);
    send_queued(client, slot);
    if (!fakezk.options.fine) {
        link_rearm(client, slot);
    }
}

void link_rearm(int client, int slot)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(zh->link && zh->half == HALF_REARM);
    zh->half = HALF_NOT;
    set_watches(client, slot, zh->server);
}

void fakezk_partition(int client, bool on)
{
    session_settle_pings(client);
    struct zk_client *c = client_mark(client);
    c->partitioned = on;
    if (!on) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            const struct _zhandle *zh = &c->handle[slot];
            bool heard = zh->link && !zh->severed && !server_at(zh->server)->frozen;
            session_touch(heard ? zh->session : 0, clock_ms());
            c->handle[slot].received_ms = zh->open ? clock_ms() : 0;
        }
    }
}

bool fakezk_is_partitioned(int client)
{
    return client_at(client)->partitioned != 0;
}

/* Resumes a handle in a timed world: an overdue ping goes out. If messages are in the socket, they count as
 * heard now. Otherwise, a link that was silent for two thirds of the timeout is dropped (F7). */
static void wake_up(int client, int slot)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    int32_t now = clock_ms();
    struct zk_seen seen = see(client, slot);
    if (!zh->open || !zh->link || !fakezk.options.timed || zh->severed || !is_known(&seen)) {
        return;
    }
    if (now - zh->sent_ms >= zh->timeout_ms / 3) {
        zh->sent_ms = now;
    }
    if (fakezk_unreceived_messages(client, slot) > 0) {
        zh->received_ms = now;
    } else if (now - zh->received_ms >= zh->timeout_ms * 2 / 3) {
        link_drop(client, slot, ZOPERATIONTIMEOUT, false);
    }
}

void fakezk_pause(int client, bool on)
{
    session_settle_pings(client);
    client_mark(client)->paused = on;
    for (int slot = 0; !on && slot < FAKEZK_HANDLES_MAX; slot++) {
        wake_up(client, slot);
    }
}

bool fakezk_is_paused(int client)
{
    return client_at(client)->paused != 0;
}

void fakezk_crash(int client)
{
    deliver_abandon();
    session_settle_pings(client);
    struct zk_client *c = client_mark(client);
    struct pack sessions = log_pack();
    for (struct rec *rec = pack_first(&sessions, LIST_SESSION); rec != NULL;
         rec = pack_next(&sessions, rec)) {
        if (((struct zk_session *)rec)->client == client) {
            log_mark();
            ((struct zk_session *)rec)->gone = 1;
        }
    }
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (c->handle[slot].open) {
            handle_finish_close(client, slot);
        }
    }
    c->paused = 0;
    c->partitioned = 0;
}

/* Closes the read-only links of a server that was thawed (F105). */
static void end_read_only(int server)
{
    for (int c = 0; c < fakezk.options.clients; c++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            const struct _zhandle *zh = handle_at(c, slot);
            bool read_only = zh->state == ZOO_READONLY_STATE || zh->half == HALF_READ_ONLY;
            if (zh->open && zh->link && zh->server == server && read_only) {
                link_sever(c, slot);
            }
        }
    }
}

void fakezk_freeze(int server, bool on)
{
    for (int c = 0; c < fakezk.options.clients; c++) {
        session_settle_pings(c);
    }
    server_mark(server)->frozen = on;
    if (!on) {
        end_read_only(server);
    }
}

bool fakezk_is_frozen(int server)
{
    return server_at(server)->frozen != 0;
}

void fakezk_lag(int server, bool on)
{
    server_mark(server)->lagging = on;
}

bool fakezk_is_lagging(int server)
{
    return server_at(server)->lagging != 0;
}

void fakezk_restart_server(int server)
{
    for (int c = 0; c < fakezk.options.clients; c++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            const struct _zhandle *zh = handle_at(c, slot);
            if (zh->open && zh->link && zh->server == server) {
                link_sever(c, slot);
            }
        }
    }
    if (server == 0 && fakezk.options.epochs) {
        commit_begin_epoch();
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); server == 0 && rec != NULL;
         rec = pack_next(&pack, rec)) {
        session_touch((int32_t)rec->word, clock_ms());
    }
}
