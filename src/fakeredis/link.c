/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Requests, replies, messages of channels, and notices that a connection is up, refused or down: their steps
 * between clients and servers. */
#include "base/assert.h"
#include "fakeredis/internal.h"

#include <string.h>

static const struct bytes NOTHING = {NULL, 0};

static struct call_record *call_of(struct rec *rec)
{
    return (struct call_record *)(void *)rec;
}

/* Returns the first record that is of this connection, or is sorted behind it; NULL = none. */
static struct call_record *first_from(const struct pack *pack, int connection)
{
    struct rec *rec = pack_first(pack, CLIENT_CALLS);
    while (rec != NULL && call_of(rec)->connection < connection) {
        rec = pack_next(pack, rec);
    }
    return call_of(rec);
}

struct call_record *link_first(int client, int connection)
{
    struct pack pack = client_pack(client);
    struct call_record *record = first_from(&pack, connection);
    return record != NULL && record->connection == connection ? record : NULL;
}

static struct call_record *next_of(int client, struct call_record *record)
{
    struct pack pack = client_pack(client);
    struct call_record *next = call_of(pack_next(&pack, &record->rec));
    return next != NULL && next->connection == record->connection ? next : NULL;
}

static struct call_record *find(int client, int connection, enum call_state state)
{
    struct call_record *record = link_first(client, connection);
    while (record != NULL && record->rec.tag != state) {
        record = next_of(client, record);
    }
    return record;
}

struct call_record *link_first_sent(int client, int connection)
{
    return find(client, connection, CALL_SENT);
}

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

struct bytes link_args(const struct call_record *record)
{
    LS_ASSERT(record->args <= record->rec.word);
    return (struct bytes){(const char *)(record + 1), record->args};
}

struct bytes link_reply(const struct call_record *record)
{
    size_t from = padded(record->args);
    LS_ASSERT(record->rec.word >= from);
    return (struct bytes){(const char *)(record + 1) + from, record->rec.word - from};
}

void link_remove(int client, struct call_record *record)
{
    LS_ASSERT(record->rec.list == CLIENT_CALLS);
    struct pack pack = client_pack(client);
    pack_remove(&pack, &record->rec);
}

/* Inserts a record before `before`, or as the last one if that is NULL. The record has room for `args`
 * bytes of arguments, and has the reply `items`. NULL = no room, which is a trouble. */
static struct call_record *insert(int client, struct call_record *before, int connection,
                                  enum call_state state, size_t args, struct bytes items)
{
    LS_ASSERT(before == NULL || (before->rec.list == CLIENT_CALLS && before->connection >= connection));
    LS_ASSERT(connection >= 0 && connection < FAKEREDIS_CONNECTIONS_MAX);
    struct pack pack = client_pack(client);
    size_t size = padded(args) + items.size;
    struct rec *rec = pack_insert(&pack, CLIENT_CALLS, before != NULL ? &before->rec : NULL,
                                  sizeof(struct call_record) + size);
    if (rec == NULL) {
        fake_trouble("limit: the block of a client is full");
        return NULL;
    }
    struct call_record *record = call_of(rec);
    rec->tag = (uint8_t)state;
    rec->word = (uint32_t)size;
    record->connection = (uint8_t)connection;
    record->args = (uint32_t)args;
    if (items.size > 0) {
        memcpy((unsigned char *)(record + 1) + padded(args), items.at, items.size);
    }
    return record;
}

/* Inserts a record behind the connection's other records, but before a CALL_DOWN. */
static struct call_record *append(int client, int connection, enum call_state state, size_t args,
                                  struct bytes items)
{
    struct pack pack = client_pack(client);
    struct call_record *before = find(client, connection, CALL_DOWN);
    if (before == NULL) {
        before = first_from(&pack, connection + 1);
    }
    return insert(client, before, connection, state, args, items);
}

void link_note(int client, int connection, enum call_state state, int32_t due_ms)
{
    LS_ASSERT(state != CALL_SENT && state != CALL_ANSWERED);
    struct call_record *record = append(client, connection, state, 0, NOTHING);
    if (record != NULL) {
        record->due_ms = due_ms;
    }
}

void link_replace(int client, struct call_record *record, enum call_state state, struct bytes items)
{
    struct call_record old = *record;
    LS_ASSERT(old.rec.tag == CALL_SENT && state == CALL_ANSWERED);
    struct call_record *new = insert(client, record, old.connection, state, old.args, items);
    if (new != NULL) {
        struct pack pack = client_pack(client);
        record = call_of(pack_next(&pack, &new->rec));
        new->flags = old.flags;
        new->fn = old.fn;
        new->privdata = old.privdata;
        new->due_ms = clock_arrival_ms(1);
        memcpy(new + 1, record + 1, old.args);
        pack_remove(&pack, &record->rec);
    }
}

/* Turns a request into a CALL_LOST, which keeps the position, arguments and callback. Needs no more room. */
static void lose(int client, struct call_record *record)
{
    static struct sequence args;
    struct pack pack = client_pack(client);
    struct call_record old = *record;
    LS_ASSERT(old.args <= sizeof args.bytes && old.rec.tag != CALL_DOWN);
    bool is_last = pack_next(&pack, &record->rec) == NULL;
    memcpy(args.bytes, record + 1, old.args);
    pack_remove(&pack, &record->rec); /* the next record moves to its place */
    record = insert(client, is_last ? NULL : record, old.connection, CALL_LOST, old.args, NOTHING);
    LS_ASSERT(record != NULL);
    record->flags = old.flags;
    record->fn = old.fn;
    record->privdata = old.privdata;
    memcpy(record + 1, args.bytes, old.args);
}

static struct connection *connection_of(int client, int connection)
{
    LS_ASSERT(connection >= 0 && connection < FAKEREDIS_CONNECTIONS_MAX);
    return &client_mark(client)->connection[connection];
}

bool link_send(int client, int connection, const struct sequence *args, code_ref fn, void *privdata,
               unsigned flags)
{
    bool broken = connection_of(client, connection)->state == CONNECTION_BROKEN;
    LS_ASSERT(connection_of(client, connection)->state != CONNECTION_FREE);
    if (args->full) {
        fake_trouble("limit: a command of more than %d bytes", KEY_VALUE_MAX);
        return false;
    }
    the_options.observe(&(struct fakeredis_event){.kind = FAKEREDIS_REQUEST,
                                                  .client = client,
                                                  .connection = connection,
                                                  .args = {(const char *)args->bytes, args->used}});
    struct call_record *record =
        append(client, connection, broken ? CALL_LOST : CALL_SENT, args->used, NOTHING);
    if (record != NULL) {
        record->due_ms = clock_arrival_ms(1);
        record->fn = fn;
        record->privdata = privdata;
        record->flags = (uint8_t)flags;
        memcpy(record + 1, args->bytes, args->used);
    }
    return record != NULL;
}

bool fakeredis_names(struct bytes args, struct bytes key)
{
    struct bytes text;
    for (size_t at = 0; sequence_next(args, &at, &text);) {
        if (bytes_equal(text, key)) {
            return true;
        }
    }
    return false;
}

bool fakeredis_asks_about(int client, int server, struct bytes key)
{
    const struct client *state = client_read(client);
    for (int connection = 0; connection < FAKEREDIS_CONNECTIONS_MAX; connection++) {
        bool to_it = state->connection[connection].server == server;
        struct call_record *record = to_it ? link_first(client, connection) : NULL;
        for (; record != NULL; record = next_of(client, record)) {
            if (fakeredis_names(link_args(record), key)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the first late request of this client, or else the first one of a later client; NULL = none. */
static struct peer_part *first_late(int server, int client)
{
    const struct pack *pack = &the_servers[server].pack;
    arena_read(pack->arena, pack->block);
    struct rec *rec = pack_first(pack, SERVER_LATE);
    while (rec != NULL && ((struct peer_part *)(void *)rec)->client < client) {
        rec = pack_next(pack, rec);
    }
    return (struct peer_part *)(void *)rec;
}

static struct peer_part *oldest_late(int server, int client)
{
    struct peer_part *part = first_late(server, client);
    return part != NULL && part->client == client ? part : NULL;
}

static int database_of(int server, int client, int connection)
{
    struct call call = {
        .server = &the_servers[server], .client = (uint8_t)client, .connection = (uint8_t)connection};
    const struct peer *peer = peer_of(&call);
    return peer != NULL ? peer->database : 0;
}

static void make_late(int client, int connection, struct bytes args)
{
    static struct sequence copy;
    int server = connection_of(client, connection)->server;
    LS_ASSERT(args.size <= sizeof copy.bytes && server < fakeredis_servers());
    int database = database_of(server, client, connection);
    memcpy(copy.bytes, args.at, args.size);
    const struct peer_part *next = first_late(server, client + 1);
    struct rec *rec = pack_insert(&the_servers[server].pack, SERVER_LATE,
                                  next != NULL ? (struct rec *)(uintptr_t)&next->rec : NULL,
                                  sizeof(struct peer_part) + args.size);
    if (rec == NULL) {
        fake_trouble("limit: the block of a server is full");
        return;
    }
    struct peer_part *part = (struct peer_part *)(void *)rec;
    rec->word = (uint32_t)args.size;
    part->client = (uint8_t)client;
    part->connection = CONNECTION_NONE;
    part->database = (uint8_t)database;
    part->life = client_read(client)->lives;
    memcpy(part + 1, copy.bytes, args.size);
}

static struct sequence running;
static struct reply reply;
/* The command that runs has set a value, removed a key, or sent a message to a channel. A new lease does not
 * count. */
static bool changed;

static void key_changed(struct server *server, int client, const struct key *key, enum key_change change)
{
    struct fakeredis_event event = {.kind = FAKEREDIS_KEY, .client = client, .key = key, .change = change};
    event.life = server->life;
    event.server = (int)(server - the_servers);
    LS_ASSERT(event.server >= 0 && event.server < fakeredis_servers());
    changed = changed || change != KEY_LEASED;
    the_options.observe(&event);
}

static void write_lost(struct server *server, const struct lost_write *write)
{
    LS_ASSERT(server >= the_servers && server < the_servers + fakeredis_servers());
    the_options.observe(&(struct fakeredis_event){.kind = FAKEREDIS_UNDONE,
                                                  .server = (int)(server - the_servers),
                                                  .client = -1,
                                                  .key = write->key,
                                                  .lost = write});
}

/* Inserts a message behind the connection's replies under way, and before its first request that is not
 * done. */
static void send_message(int client, int connection, struct bytes items)
{
    LS_ASSERT(connection_of(client, connection)->state == CONNECTION_UP);
    struct call_record *unread = link_first_sent(client, connection);
    struct call_record *message = unread != NULL ? insert(client, unread, connection, CALL_MESSAGE, 0, items)
                                                 : append(client, connection, CALL_MESSAGE, 0, items);
    if (message != NULL) {
        message->due_ms = clock_arrival_ms(1);
    }
}

static int publish(struct server *server, struct bytes channel, struct bytes message)
{
    static struct reply text;
    int count = 0;
    struct rec *rec = pack_first(&server->pack, SERVER_CHANNELS);
    reply_clear(&text);
    reply_array(&text, 3);
    reply_bytes(&text, REPLY_BULK, (struct bytes){"message", 7});
    reply_bytes(&text, REPLY_BULK, channel);
    reply_bytes(&text, REPLY_BULK, message);
    for (; rec != NULL; rec = pack_next(&server->pack, rec)) {
        const struct peer_part *part = (struct peer_part *)(void *)rec;
        struct bytes name = {(const char *)(part + 1), rec->word};
        if (part->connection == CONNECTION_NONE) {
            continue; /* a late SUBSCRIBE has made it, which has no connection to send to */
        }
        if (bytes_equal(name, channel)) {
            send_message(part->client, part->connection, reply_all(&text));
            count++;
        }
    }
    changed = changed || count > 0;
    return count;
}

/* Unpacks a copy of the arguments: their record may move while the command runs. Returns their number. */
static int take(struct bytes args, struct bytes argv[COMMAND_ARGS_MAX])
{
    LS_ASSERT(args.at != NULL);
    LS_ASSERT(args.size <= sizeof running.bytes);
    memcpy(running.bytes, args.at, args.size);
    running.used = args.size;
    changed = false;
    return command_unpack((struct bytes){running.bytes, running.used}, argv);
}

static void note_limits(bool had_room)
{
    if (!had_room) {
        fake_trouble("limit: the block of a server, or a reply, is full");
    }
    if (script_was_stopped()) {
        fake_trouble("limit: a script runs for too long, or takes too much memory");
    }
}

bool fakeredis_apply(int client, int connection)
{
    struct bytes argv[COMMAND_ARGS_MAX];
    struct call_record *record = link_first_sent(client, connection);
    LS_ASSERT(record != NULL && record->rec.tag == CALL_SENT);
    int server = connection_of(client, connection)->server;
    int argc = take(link_args(record), argv);
    the_servers[server].life = client_read(client)->lives;
    note_limits(
        command_run(&the_servers[server], client, connection, server_now_ms(server), argc, argv, &reply));
    record = link_first_sent(client, connection); /* PUBLISH may have moved it */
    link_replace(client, record, CALL_ANSWERED, reply_all(&reply));
    return changed;
}

static int server_of_late(int client)
{
    for (int server = 0; server < fakeredis_servers(); server++) {
        if (oldest_late(server, client) != NULL) {
            return server;
        }
    }
    return -1;
}

struct bytes link_first_late(int client)
{
    int server = server_of_late(client);
    const struct peer_part *part = server >= 0 ? oldest_late(server, client) : NULL;
    return part != NULL ? (struct bytes){(const char *)(part + 1), part->rec.word} : (struct bytes){NULL, 0};
}

bool fakeredis_can_arrive(int client)
{
    return server_of_late(client) >= 0;
}

bool fakeredis_arrive(int client)
{
    struct bytes argv[COMMAND_ARGS_MAX];
    int server = server_of_late(client);
    struct peer_part *part = oldest_late(server, client);
    LS_ASSERT(part != NULL && part->client == client);
    int argc = take(link_first_late(client), argv), database = part->database;
    the_servers[server].life = (uint8_t)part->life;
    pack_remove(&the_servers[server].pack, &part->rec);
    note_limits(
        command_run_late(&the_servers[server], client, database, server_now_ms(server), argc, argv, &reply));
    return changed;
}

bool fakeredis_is_open(int client, int connection)
{
    return client_read(client)->connection[connection].state != CONNECTION_FREE;
}

bool fakeredis_is_up(int client, int connection)
{
    return client_read(client)->connection[connection].state == CONNECTION_UP;
}

bool fakeredis_is_linked(int client, int server)
{
    const struct client *state = client_read(client);
    bool linked = false;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        const struct connection *connection = &state->connection[i];
        linked = linked || (connection->state == CONNECTION_UP && connection->server == server);
    }
    return linked;
}

bool link_will_connect(int client, int connection)
{
    const struct client *state = client_read(client);
    const struct connection *opened = &state->connection[connection];
    return opened->state == CONNECTION_OPENING && !client_is_apart(state, opened->server) && !state->paused;
}

bool fakeredis_can_connect(int client, int connection)
{
    return link_will_connect(client, connection) &&
           clock_has_come(client_read(client)->connection[connection].opens_ms);
}

/* Requests that were made before the connection was up leave now. */
static void send_all(int client, int connection)
{
    struct call_record *record = link_first(client, connection);
    for (; record != NULL; record = next_of(client, record)) {
        record->due_ms = clock_arrival_ms(1);
    }
}

void fakeredis_connect(int client, int connection)
{
    struct connection *opened = connection_of(client, connection);
    LS_ASSERT(opened->state == CONNECTION_OPENING);
    opened->state = CONNECTION_UP;
    send_all(client, connection);
    if (opened->on_connect == 0) { /* without a callback, CALL_UP would be no step of its own */
        client_note_up(client, connection);
        return;
    }
    struct pack pack = client_pack(client);
    insert(client, first_from(&pack, connection), connection, CALL_UP, 0, NOTHING);
}

bool link_will_apply(int client, int connection)
{
    const struct client *state = client_read(client);
    return state->connection[connection].state == CONNECTION_UP &&
           !client_is_apart(state, state->connection[connection].server) &&
           link_first_sent(client, connection) != NULL;
}

bool fakeredis_can_apply(int client, int connection)
{
    return link_will_apply(client, connection) && clock_has_come(link_first_sent(client, connection)->due_ms);
}

bool link_will_deliver(int client, int connection)
{
    const struct client *state = client_read(client);
    const struct call_record *first = link_first(client, connection);
    if (state->paused || first == NULL || first->rec.tag == CALL_SENT) {
        return false;
    }
    bool from_server = first->rec.tag == CALL_ANSWERED || first->rec.tag == CALL_MESSAGE;
    const struct connection *from = &state->connection[connection];
    return !from_server || from->state == CONNECTION_BROKEN || !client_is_apart(state, from->server);
}

bool fakeredis_can_deliver(int client, int connection)
{
    return link_will_deliver(client, connection) && clock_has_come(link_first(client, connection)->due_ms);
}

bool fakeredis_goes_on(int client, int connection)
{
    return link_will_connect(client, connection) || link_will_apply(client, connection) ||
           link_will_deliver(client, connection);
}

static int count(int client, int connection, unsigned states)
{
    LS_ASSERT(states != 0);
    int sum = 0;
    struct call_record *record = link_first(client, connection);
    for (; record != NULL; record = next_of(client, record)) {
        sum += (states >> record->rec.tag & 1u) != 0;
    }
    return sum;
}

int fakeredis_replies(int client, int connection)
{
    return count(client, connection, 1u << CALL_ANSWERED | 1u << CALL_MESSAGE);
}

int fakeredis_requests(int client, int connection)
{
    return count(client, connection, 1u << CALL_SENT);
}

bool fakeredis_awaits(int client, int connection)
{
    return count(client, connection, 1u << CALL_SENT | 1u << CALL_ANSWERED | 1u << CALL_LOST) > 0;
}

bool fakeredis_is_stalled(int client, int connection)
{
    const struct client *state = client_read(client);
    const struct connection *open = &state->connection[connection];
    bool waits = open->state == CONNECTION_OPENING ||
                 (open->state == CONNECTION_UP && fakeredis_awaits(client, connection));
    return waits && client_is_apart(state, open->server);
}

bool fakeredis_is_idle(int client, int connection)
{
    return link_first(client, connection) == NULL && !link_will_connect(client, connection);
}

static void hang_up(int client, int connection)
{
    struct connection *ended = connection_of(client, connection);
    if (ended->state == CONNECTION_UP) {
        struct server *server = &the_servers[ended->server];
        command_hang_up(server, client, connection);
    }
    LS_ASSERT(ended->state != CONNECTION_FREE);
    ended->state = CONNECTION_BROKEN;
}

/* Returns the n-th record, from 0 on, in one of these states (bits 1 << enum call_state); NULL = none. */
static struct call_record *nth(int client, int connection, unsigned states, int n)
{
    LS_ASSERT(n >= 0 && states != 0);
    struct call_record *record = link_first(client, connection);
    for (; record != NULL; record = next_of(client, record)) {
        if ((states >> record->rec.tag & 1u) != 0 && n-- == 0) {
            return record;
        }
    }
    return NULL;
}

void fakeredis_cut(int client, int connection, int keep, int apply, bool late)
{
    LS_ASSERT(keep >= 0 && apply >= 0 && (!late || apply > 0));
    LS_ASSERT(fakeredis_is_up(client, connection));
    const unsigned replies = 1u << CALL_ANSWERED | 1u << CALL_MESSAGE;
    struct call_record *record;
    while ((record = nth(client, connection, replies, keep)) != NULL) {
        if (record->rec.tag == CALL_MESSAGE) {
            link_remove(client, record);
        } else {
            lose(client, record);
        }
    }
    for (int i = 0; i < apply; i++) {
        record = link_first_sent(client, connection);
        LS_ASSERT(record != NULL);
        if (late && i == apply - 1) {
            make_late(client, connection, link_args(record));
        } else {
            fakeredis_apply(client, connection);
            record = nth(client, connection, replies, keep);
        }
        if (record == NULL) {
            return; /* the reply had no room: the world has ended */
        }
        lose(client, record);
    }
    while ((record = link_first_sent(client, connection)) != NULL) {
        lose(client, record);
    }
    hang_up(client, connection);
    link_note(client, connection, CALL_DOWN, 0);
}

void link_abandon(int client, int connection)
{
    struct call_record *record;
    while ((record = link_first_sent(client, connection)) != NULL) {
        if (connection_of(client, connection)->state == CONNECTION_UP) {
            make_late(client, connection, link_args(record));
        }
        lose(client, record);
    }
    hang_up(client, connection);
}

void link_open_servers(struct arena *arena)
{
    for (int s = 0; s < fakeredis_servers(); s++) {
        struct server *server = &the_servers[s];
        *server = (struct server){.timed = the_options.timed,
                                  .password = the_options.password,
                                  .lag = s < the_options.servers ? the_options.lag : 0,
                                  .log_lags = the_options.log_lags,
                                  .replicas = the_options.replicas,
                                  .changed = key_changed,
                                  .lost = write_lost,
                                  .publish = publish};
        keys_open(&server->pack, arena, SERVER_BYTES);
    }
}
