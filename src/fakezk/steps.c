/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What can happen next in the ensemble, in canonical order, and when. */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <stdio.h>
#include <string.h>

struct list {
    struct fakezk_step *out;
    int count;
    int capacity;
};

static void add(struct list *list, struct fakezk_step step)
{
    if (list->count < list->capacity) {
        list->out[list->count] = step;
    }
    list->count++;
}

static struct zk_request *head_request(int client, int slot)
{
    struct pack pack = client_pack(client);
    return (struct zk_request *)pack_first(&pack, LIST_REQUEST + slot);
}

static struct zk_message *head_message(int client, int slot)
{
    struct pack pack = client_pack(client);
    return (struct zk_message *)pack_first(&pack, LIST_MESSAGE + slot);
}

static bool gives_up(int client, int slot)
{
    const struct zk_client *c = client_at(client);
    const struct _zhandle *zh = &c->handle[slot];
    bool served = !c->partitioned && zh->link && !server_at(zh->server)->frozen;
    if (served || !link_mute(client, slot)) {
        return false;
    }
    return !fakezk.options.timed || link_give_up_ms(zh) <= the_log()->now_ms;
}

static bool hung_up(const struct _zhandle *zh)
{
    const struct zk_client *c = client_at(zh->client);
    return zh->link && !c->partitioned && !c->paused &&
           (zh->severed || !server_knows_session(zh->server, zh->session));
}

static void handle_steps(struct list *list, int client, int slot)
{
    const struct _zhandle *zh = handle_at(client, slot);
    struct fakezk_step step = {.client = (uint8_t)client, .handle = (uint8_t)slot, .server = zh->server};
    if (deliver_possible(client, slot)) {
        step.kind = FAKEZK_DELIVER;
        add(list, step);
    }
    if (server_can_apply(client, slot, &step.refused)) {
        step.kind = FAKEZK_APPLY;
        add(list, step);
        step.refused = false;
    }
    for (int i = 0; !zh->link && i < fakezk.options.servers; i++) {
        int server = (zh->next_server + i) % fakezk.options.servers;
        if (link_can_connect(client, slot, server)) {
            step.kind = FAKEZK_CONNECT;
            step.server = (uint8_t)server;
            add(list, step);
        }
    }
    step.server = zh->server;
    if (gives_up(client, slot)) {
        step.kind = FAKEZK_GIVE_UP;
        add(list, step);
    }
    if (hung_up(zh)) {
        step.kind = FAKEZK_HANG_UP;
        add(list, step);
    }
}

static void server_steps(struct list *list)
{
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && pack_first(&pack, LIST_BACKLOG) != NULL) {
            add(list, (struct fakezk_step){.kind = FAKEZK_CATCH_UP,
                                           .client = FAKEZK_NONE,
                                           .server = (uint8_t)s,
                                           .lagging = server_at(s)->lagging});
        }
    }
}

static bool expires_by_itself(const struct zk_session *session)
{
    if (!fakezk.options.timed) {
        return session->gone;
    }
    return !session_healthy(session) && session_deadline_ms(session) <= the_log()->now_ms;
}

static void session_steps(struct list *list)
{
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_session *session = (struct zk_session *)rec;
        struct fakezk_step step = {.client = session->client, .session = (int32_t)rec->word};
        if (rec->tag == SESSION_CLOSING) {
            step.kind = FAKEZK_BURY;
            add(list, step);
        } else if (expires_by_itself(session)) {
            step.kind = FAKEZK_EXPIRE;
            step.due = true;
            add(list, step);
        }
    }
    if (pack_first(&pack, LIST_LATE) != NULL) {
        const struct zk_request *late = (struct zk_request *)pack_first(&pack, LIST_LATE);
        add(list, (struct fakezk_step){.kind = FAKEZK_COMMIT, .client = (uint8_t)late->lo_ms});
    }
}

int fakezk_steps(struct fakezk_step *out, int capacity)
{
    struct list list = {out, 0, capacity};
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open) {
                handle_steps(&list, client, slot);
            }
        }
    }
    server_steps(&list);
    session_steps(&list);
    if (list.count > capacity) {
        fakezk_note_trouble("limit: more than %d steps are possible at once", capacity);
        list.count = capacity;
    }
    return list.count;
}

static bool can_handle_step(const struct fakezk_step *step)
{
    int client = step->client;
    int slot = step->handle;
    if (client >= fakezk.options.clients || slot >= FAKEZK_HANDLES_MAX || !handle_at(client, slot)->open) {
        return false;
    }
    bool refused;
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_DELIVER:
        return deliver_possible(client, slot);
    case FAKEZK_APPLY:
        return server_can_apply(client, slot, &refused) && refused == step->refused &&
               step->server == handle_at(client, slot)->server;
    case FAKEZK_CONNECT:
        return step->server < fakezk.options.servers && link_can_connect(client, slot, step->server);
    case FAKEZK_GIVE_UP:
        return gives_up(client, slot);
    default:
        return hung_up(handle_at(client, slot));
    }
}

bool fakezk_can_step(const struct fakezk_step *step)
{
    const struct zk_session *session;
    struct pack pack;
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_BURY:
        session = session_find(step->session);
        return session != NULL && session->client == step->client && session->rec.tag == SESSION_CLOSING;
    case FAKEZK_EXPIRE:
        session = session_find(step->session);
        return session != NULL && session->client == step->client && session->rec.tag == SESSION_LIVE &&
               expires_by_itself(session);
    case FAKEZK_CATCH_UP:
        if (step->server == 0 || step->server >= fakezk.options.servers || server_at(step->server)->frozen) {
            return false;
        }
        pack = server_pack(step->server);
        return pack_first(&pack, LIST_BACKLOG) != NULL;
    case FAKEZK_COMMIT:
        pack = log_pack();
        return pack_first(&pack, LIST_LATE) != NULL;
    default:
        return can_handle_step(step);
    }
}

void fakezk_step(const struct fakezk_step *step)
{
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_APPLY:
        server_apply(step->client, step->handle, step->refused);
        break;
    case FAKEZK_COMMIT:
        commit_late_first();
        break;
    case FAKEZK_CATCH_UP:
        commit_catch_up(step->server);
        break;
    case FAKEZK_DELIVER:
        deliver_next(step->client, step->handle);
        break;
    case FAKEZK_CONNECT:
        link_connect(step->client, step->handle, step->server);
        break;
    case FAKEZK_BURY:
        commit_close_session(step->session);
        break;
    case FAKEZK_HANG_UP:
        link_drop(step->client, step->handle, ZCONNECTIONLOSS, true);
        break;
    case FAKEZK_GIVE_UP:
        link_give_up(step->client, step->handle);
        break;
    case FAKEZK_EXPIRE:
        fakezk_expire(step->session);
        break;
    }
}

/* ---- names for labels ---- */

const char *fakezk_op_name(int op)
{
    static const char *const names[] = {"create", "create", "delete", "exists", "get",    "set",     "list",
                                        "list",   "sync",   "multi",  "getacl", "setacl", "unwatch", "check"};
    _Static_assert(sizeof names / sizeof *names == OP_KINDS, "one name per op");
    LS_ASSERT(op >= 0 && op < OP_KINDS);
    return names[op];
}

static const char *state_name(int state)
{
    if (state == ZOO_CONNECTED_STATE) {
        return "connected";
    }
    if (state == ZOO_CONNECTING_STATE) {
        return "connecting";
    }
    return state == ZOO_EXPIRED_SESSION_STATE ? "expired" : "auth-failed";
}

static const char *event_name_of(int type)
{
    if (type == ZOO_DELETED_EVENT) {
        return "deleted";
    }
    if (type == ZOO_CREATED_EVENT) {
        return "created";
    }
    return type == ZOO_CHANGED_EVENT ? "changed" : "child";
}

static void describe_message(const struct zk_message *m, char *text, size_t size, int32_t *owner)
{
    switch (m->rec.tag) {
    case MESSAGE_SESSION:
        snprintf(text, size, "session-%s", state_name(m->rc));
        break;
    case MESSAGE_NODE:
        snprintf(text, size, "%s", event_name_of(m->rc));
        *owner = m->out_size;
        break;
    default:
        snprintf(text, size, "%s-reply", fakezk_op_name(m->op));
        break;
    }
}

static const char *txn_name(const struct zk_txn *txn)
{
    static const char *const names[] = {"create", "delete", "set", "setacl", "close", "nothing", "reply"};
    return names[txn->rec.tag];
}

void fakezk_describe_step(const struct fakezk_step *step, char *text, size_t size, int32_t *owner)
{
    text[0] = 0;
    *owner = 0;
    if (step->kind == FAKEZK_DELIVER) {
        describe_message(head_message(step->client, step->handle), text, size, owner);
    } else if (step->kind == FAKEZK_APPLY) {
        snprintf(text, size, "%s%s", fakezk_op_name(head_request(step->client, step->handle)->rec.tag),
                 step->refused ? " refused" : "");
    } else if (step->kind == FAKEZK_CATCH_UP) {
        struct pack pack = server_pack(step->server);
        snprintf(text, size, "%s", txn_name((struct zk_txn *)pack_first(&pack, LIST_BACKLOG)));
    } else if (step->kind == FAKEZK_COMMIT) {
        struct pack pack = log_pack();
        snprintf(text, size, "%s", fakezk_op_name(pack_first(&pack, LIST_LATE)->tag));
    }
}

/* ---- time ---- */

int32_t fakezk_now_ms(void)
{
    return the_log()->now_ms;
}

void fakezk_advance(int32_t to_ms)
{
    LS_ASSERT(to_ms >= the_log()->now_ms);
    log_mark()->now_ms = to_ms;
}

struct horizon {
    int32_t now;
    int32_t next;  /* the earliest moment after now */
    int32_t limit; /* time may not pass this */
};

static void may(struct horizon *h, int32_t at)
{
    if (at > h->now && at < h->next) {
        h->next = at;
    }
}

static void must(struct horizon *h, int32_t at)
{
    int32_t latest = at > h->now ? at : h->now;
    may(h, at);
    if (latest < h->limit) {
        h->limit = latest;
    }
}

static void handle_horizon(struct horizon *h, int client, int slot)
{
    const struct zk_client *c = client_at(client);
    const struct _zhandle *zh = &c->handle[slot];
    const struct zk_request *request = head_request(client, slot);
    const struct zk_message *message = head_message(client, slot);
    bool open_link = zh->link && !c->partitioned;
    if (message != NULL && !c->paused && (message->rec.word != 0 || open_link)) {
        may(h, message->lo_ms);
        must(h, message->rec.word != 0 ? h->now : message->hi_ms);
    }
    bool refused;
    if (server_will_apply(client, slot, &refused)) {
        may(h, request->lo_ms);
        if (!refused) {
            must(h, request->hi_ms);
        }
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if (link_will_connect(client, slot, s)) {
            must(h, zh->connect_ms);
        }
    }
    if (link_mute(client, slot)) {
        must(h, link_give_up_ms(zh));
    }
    if (hung_up(zh)) {
        must(h, h->now);
    }
}

int32_t fakezk_next_ms(int32_t *limit)
{
    struct horizon h = {the_log()->now_ms, INT32_MAX, INT32_MAX};
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open) {
                handle_horizon(&h, client, slot);
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && !server_at(s)->lagging && pack_first(&pack, LIST_BACKLOG) != NULL) {
            must(&h, h.now);
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_session *session = (struct zk_session *)rec;
        if (rec->tag == SESSION_CLOSING) {
            must(&h, h.now);
        } else if (!session_healthy(session)) {
            must(&h, session_deadline_ms(session));
        }
    }
    *limit = h.limit;
    return h.next;
}

/* ---- questions ---- */

int fakezk_handles(int client)
{
    int mask = 0;
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        mask |= handle_at(client, slot)->open ? 1 << slot : 0;
    }
    return mask;
}

bool fakezk_connected(int client, int handle)
{
    return handle_at(client, handle)->link != 0;
}

int fakezk_linked(int client)
{
    const struct zk_client *c = client_at(client);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (c->handle[slot].open && c->handle[slot].link) {
            return slot;
        }
    }
    return -1;
}

bool fakezk_terminal(int client, int handle)
{
    return handle_at(client, handle)->state < 0;
}

int fakezk_outstanding(int client, int handle)
{
    struct pack pack = client_pack(client);
    return pack_count(&pack, LIST_REQUEST + handle);
}

int fakezk_queued(int client, int handle)
{
    struct pack pack = client_pack(client);
    return pack_count(&pack, LIST_MESSAGE + handle);
}

int fakezk_watches(int client)
{
    struct pack pack = client_pack(client);
    int count = 0;
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        count += pack_count(&pack, LIST_WATCH + slot);
    }
    return count;
}

bool fakezk_quiet(void)
{
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open &&
                (fakezk_outstanding(client, slot) > 0 || fakezk_queued(client, slot) > 0 ||
                 hung_up(handle_at(client, slot)))) {
                return false;
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (pack_first(&pack, LIST_BACKLOG) != NULL) {
            return false;
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == SESSION_CLOSING) {
            return false;
        }
    }
    return pack_first(&pack, LIST_LATE) == NULL;
}

int32_t fakezk_czxid(const char *path)
{
    const struct zk_node *node = tree_find(0, path);
    return node != NULL ? node->stat.czxid : 0;
}

int32_t fakezk_last_zxid(void)
{
    return the_log()->zxid;
}

int fakezk_sessions(int client, bool closing, int32_t *out, int capacity)
{
    int count = 0;
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        bool wanted = (rec->tag == SESSION_CLOSING) == closing;
        if (wanted && ((struct zk_session *)rec)->client == client && count < capacity) {
            out[count++] = (int32_t)rec->word;
        }
    }
    return count;
}

bool fakezk_orphans(void)
{
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct zk_session *)rec)->gone) {
            return true;
        }
    }
    return false;
}

static bool handle_busy(int client, int slot)
{
    const struct zk_client *c = client_at(client);
    const struct _zhandle *zh = &c->handle[slot];
    const struct zk_message *message = head_message(client, slot);
    const struct zk_request *request = head_request(client, slot);
    if (message != NULL && !c->paused && (message->rec.word != 0 || !c->partitioned)) {
        return true;
    }
    if (c->partitioned) {
        return false;
    }
    if (request != NULL && zh->link && !zh->severed && !server_at(zh->server)->frozen &&
        server_knows_session(zh->server, zh->session)) {
        const struct zk_session *session = session_find(zh->session);
        return session == NULL || session->rec.tag == SESSION_LIVE;
    }
    if (hung_up(zh)) {
        return true;
    }
    if (zh->link || zh->state < 0 || c->paused) {
        return false;
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if (!server_at(s)->frozen && server_at(s)->zxid >= zh->last_zxid) {
            return true;
        }
    }
    return false;
}

bool fakezk_busy(void)
{
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open && handle_busy(client, slot)) {
                return true;
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && !server_at(s)->lagging && pack_first(&pack, LIST_BACKLOG) != NULL) {
            return true;
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == SESSION_CLOSING) {
            return true;
        }
    }
    return false; /* a late write commits when nothing else is under way */
}
