/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Lists the possible steps of the ensemble, in an order that follows from its state, and does a step. */
#include "fakezk/enabled.h"

struct list {
    struct fakezk_step *out;
    int count;
    int capacity;
};

/* Returns the place for the next step. If the list is full, returns a place outside of it. */
static struct fakezk_step *next_place(struct list *list)
{
    static struct fakezk_step beyond;
    return list->count < list->capacity ? &list->out[list->count] : &beyond;
}

static struct fakezk_step *add(struct list *list, enum fakezk_step_kind kind, int client)
{
    struct fakezk_step *step = next_place(list);
    list->count++;
    *step = (struct fakezk_step){.kind = (uint8_t)kind, .client = (uint8_t)client};
    return step;
}

/* Writes a step, and counts it if it is possible. An uncounted step is overwritten by the next one. */
static void offer(struct list *list, bool possible, enum fakezk_step_kind kind, const struct _zhandle *zh,
                  int server, bool refused)
{
    *next_place(list) = (struct fakezk_step){.kind = (uint8_t)kind,
                                             .client = zh->client,
                                             .handle = zh->slot,
                                             .server = (uint8_t)server,
                                             .refused = refused};
    list->count += possible;
}

static void connect_steps(struct list *list, const struct zk_seen *seen)
{
    for (int i = 0; i < fakezk.options.servers; i++) {
        int server = seen->zh->next_server + i;
        server = server < fakezk.options.servers ? server : server - fakezk.options.servers;
        offer(list, can_connect(seen, server), FAKEZK_CONNECT, seen->zh, server, false);
    }
}

static void fine_steps(struct list *list, const struct zk_seen *seen)
{
    offer(list, can_receive(seen), FAKEZK_RECEIVE, seen->zh, seen->zh->server, false);
    offer(list, can_handshake(seen), FAKEZK_HANDSHAKE, seen->zh, seen->zh->server, false);
    offer(list, can_rearm(seen), FAKEZK_REARM, seen->zh, seen->zh->server, false);
}

static bool is_idle(const struct zk_seen *seen)
{
    return (seen->request == NULL) & (seen->message == NULL) & (seen->zh->link != 0) &
           (seen->zh->severed == 0) & (seen->session != NULL) & !seen->client->partitioned &
           !fakezk.options.fine;
}

static void handle_steps(struct list *list, int client, int slot)
{
    struct zk_seen seen = see(client, slot);
    int server = seen.zh->server;
    if (is_idle(&seen)) {
        return;
    }
    bool refused;
    bool apply = can_apply(&seen, &refused);
    offer(list, can_deliver(&seen), FAKEZK_DELIVER, seen.zh, server, false);
    offer(list, apply, FAKEZK_APPLY, seen.zh, server, refused);
    if (!seen.zh->link) {
        connect_steps(list, &seen);
    }
    offer(list, can_give_up(&seen), FAKEZK_GIVE_UP, seen.zh, server, false);
    offer(list, is_hung_up(&seen), FAKEZK_HANG_UP, seen.zh, server, false);
    if (fakezk.options.fine) {
        fine_steps(list, &seen);
    }
}

static void server_steps(struct list *list)
{
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && pack_first(&pack, LIST_BACKLOG) != NULL) {
            struct fakezk_step *step = add(list, FAKEZK_CATCH_UP, FAKEZK_NONE);
            step->server = (uint8_t)s;
            step->lagging = server_at(s)->lagging;
        }
    }
}

static bool expires_by_itself(const struct zk_session *session)
{
    if (!fakezk.options.timed) {
        return session->gone;
    }
    return !session_healthy(session) && session_deadline_ms(session) <= clock_ms();
}

static void client_steps(struct list *list, int client)
{
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (handle_at(client, slot)->open) {
            handle_steps(list, client, slot);
        }
    }
    if (fakezk.options.fine && can_linger(client)) {
        add(list, FAKEZK_LINGER, client);
    }
}

/* Lists the steps of a client's sessions; FAKEZK_NONE: of the sessions of all clients. */
static void session_steps(struct list *list, int client)
{
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_session *session = (struct zk_session *)rec;
        if (client != (int)FAKEZK_NONE && session->client != client) {
            continue;
        }
        if (rec->tag == SESSION_CLOSING) {
            add(list, FAKEZK_BURY, session->client)->session = (int32_t)rec->word;
        } else if (expires_by_itself(session)) {
            struct fakezk_step *step = add(list, FAKEZK_EXPIRE, session->client);
            step->session = (int32_t)rec->word;
            step->due = true;
        }
    }
}

static void late_steps(struct list *list)
{
    struct pack pack = log_pack();
    const struct zk_request *late = (struct zk_request *)pack_first(&pack, LIST_LATE);
    if (late != NULL) {
        add(list, FAKEZK_COMMIT, late->lo_ms);
    }
}

static int finish(const struct list *list)
{
    if (list->count > list->capacity) {
        fakezk_note_trouble("limit: more than %d steps are possible at once", list->capacity);
        return list->capacity;
    }
    return list->count;
}

/* Lists the steps that follow those of all clients. */
static void other_steps(struct list *list)
{
    server_steps(list);
    session_steps(list, (int)FAKEZK_NONE);
    late_steps(list);
}

int fakezk_steps(struct fakezk_step *out, int capacity)
{
    struct list list = {out, 0, capacity};
    for (int client = 0; client < fakezk.options.clients; client++) {
        client_steps(&list, client);
    }
    other_steps(&list);
    return finish(&list);
}

int fakezk_steps_in_turn(int client, struct fakezk_step *out, int capacity)
{
    struct list list = {out, 0, capacity};
    if (client != (int)FAKEZK_NONE) {
        client_steps(&list, client);
    } else {
        other_steps(&list);
    }
    return finish(&list);
}

int fakezk_steps_of(int client, struct fakezk_step *out, int capacity)
{
    struct list list = {out, 0, capacity};
    if (client == (int)FAKEZK_NONE) {
        server_steps(&list);
        late_steps(&list);
    } else {
        client_steps(&list, client);
        session_steps(&list, client);
    }
    return finish(&list);
}

int fakezk_scope(int client, int *blocks)
{
    int count = 0;
    blocks[count++] = fakezk.log_block;
    for (int s = 0; s < fakezk.options.servers; s++) {
        blocks[count++] = fakezk.server_block[s];
    }
    if (client != (int)FAKEZK_NONE) {
        blocks[count++] = fakezk.client_block[client];
    }
    return count;
}

int fakezk_client_block(int client)
{
    return fakezk.client_block[client];
}

static bool can_handle_step(const struct fakezk_step *step)
{
    if (step->client >= fakezk.options.clients || step->handle >= FAKEZK_HANDLES_MAX ||
        !handle_at(step->client, step->handle)->open) {
        return false;
    }
    struct zk_seen seen = see(step->client, step->handle);
    bool refused;
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_DELIVER:
        return can_deliver(&seen);
    case FAKEZK_APPLY:
        return can_apply(&seen, &refused) && refused == step->refused && step->server == seen.zh->server;
    case FAKEZK_CONNECT:
        return step->server < fakezk.options.servers && can_connect(&seen, step->server);
    case FAKEZK_GIVE_UP:
        return can_give_up(&seen);
    case FAKEZK_RECEIVE:
        return fakezk.options.fine && can_receive(&seen);
    case FAKEZK_HANDSHAKE:
        return fakezk.options.fine && can_handshake(&seen);
    case FAKEZK_REARM:
        return fakezk.options.fine && can_rearm(&seen);
    default:
        return is_hung_up(&seen);
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
    case FAKEZK_LINGER:
        return fakezk.options.fine && step->client < fakezk.options.clients && can_linger(step->client);
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
        aside_late_first();
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
    case FAKEZK_RECEIVE:
        link_receive_next(step->client, step->handle);
        break;
    case FAKEZK_HANDSHAKE:
        link_handshake(step->client, step->handle);
        break;
    case FAKEZK_REARM:
        link_rearm(step->client, step->handle);
        break;
    case FAKEZK_LINGER:
        aside_lingering_first(step->client);
        break;
    }
}
