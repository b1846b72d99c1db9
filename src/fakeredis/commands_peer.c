/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands about the connection: ping, name, password, database, transaction, channels. Also WAIT and
 * TIME. */
#include "base/assert.h"
#include "fakeredis/backlog.h"
#include "fakeredis/command.h"

#include <stdio.h>
#include <string.h>

static int order(int client, int connection, int other_client, int other_connection)
{
    return client != other_client ? client - other_client : connection - other_connection;
}

/* Returns the first record of a list that is of this connection, or is sorted behind it; NULL = none. */
static struct peer_part *first_from(const struct server *server, int list, int client, int connection)
{
    struct rec *rec = pack_first(&server->pack, list);
    for (; rec != NULL; rec = pack_next(&server->pack, rec)) {
        struct peer_part *part = (struct peer_part *)(void *)rec;
        if (order(part->client, part->connection, client, connection) >= 0) {
            return part;
        }
    }
    return NULL;
}

static struct peer_part *first_of(const struct server *server, int list, int client, int connection)
{
    struct peer_part *part = first_from(server, list, client, connection);
    return part != NULL && part->client == client && part->connection == connection ? part : NULL;
}

static struct peer_part *next_of(const struct server *server, struct peer_part *part)
{
    LS_ASSERT(part->rec.list >= SERVER_PEERS && part->rec.list <= SERVER_LATE);
    struct peer_part *next = (struct peer_part *)(void *)pack_next(&server->pack, &part->rec);
    return next != NULL && next->client == part->client && next->connection == part->connection ? next : NULL;
}

static struct bytes text_of(const struct peer_part *part)
{
    return (struct bytes){(const char *)(part + 1), part->rec.word};
}

static void remove_parts(const struct server *server, int list, int client, int connection)
{
    struct peer_part *part;
    while ((part = first_of(server, list, client, connection)) != NULL) {
        pack_remove(&server->pack, &part->rec);
    }
}

/* Adds a record behind those of the call's connection. NULL = no room. */
static struct peer_part *add_part(struct call *call, int list, struct bytes text)
{
    struct server *server = call->server;
    LS_ASSERT(list >= SERVER_PEERS && list <= SERVER_CHANNELS);
    struct peer_part *next = first_from(server, list, call->client, call->connection + 1);
    struct rec *rec = pack_insert(&server->pack, list, next != NULL ? &next->rec : NULL,
                                  sizeof(struct peer_part) + text.size);
    if (rec == NULL) {
        call->no_room = true;
        return NULL;
    }
    struct peer_part *part = (struct peer_part *)(void *)rec;
    rec->word = (uint32_t)text.size;
    part->client = call->client;
    part->connection = call->connection;
    memcpy(part + 1, text.at, text.size);
    LS_ASSERT(next_of(server, part) == NULL); /* it is the last one of its connection */
    return part;
}

_Static_assert(sizeof(struct peer) == sizeof(struct peer_part), "both begin with whose they are");

struct peer *peer_of(struct call *call)
{
    return (struct peer *)(void *)first_of(call->server, SERVER_PEERS, call->client, call->connection);
}

struct peer *peer_make(struct call *call)
{
    struct peer *peer = peer_of(call);
    if (peer == NULL) {
        peer = (struct peer *)(void *)add_part(call, SERVER_PEERS, (struct bytes){"", 0});
    }
    arena_mark(call->server->pack.arena, call->server->pack.block);
    return peer;
}

static void forget_if_new(struct call *call)
{
    struct peer *peer = peer_of(call);
    bool watching = first_of(call->server, SERVER_WATCHED, call->client, call->connection) != NULL;
    if (peer != NULL && !watching && peer->flags == 0 && peer->database == 0 && peer->rec.word == 0) {
        pack_remove(&call->server->pack, &peer->rec);
    }
}

static unsigned flags_of(struct call *call)
{
    const struct peer *peer = peer_of(call);
    return peer != NULL ? peer->flags : 0;
}

static void set_flags(struct call *call, unsigned set, unsigned clear)
{
    struct peer *peer = peer_make(call);
    if (peer != NULL) {
        peer->flags = (uint8_t)((peer->flags & ~clear) | set);
        forget_if_new(call);
    }
}

bool peer_is_known(struct call *call)
{
    return call->connection == CONNECTION_NONE || call->server->password == NULL ||
           (flags_of(call) & PEER_KNOWN) != 0;
}

void command_hang_up(struct server *server, int client, int connection)
{
    for (int list = SERVER_PEERS; list <= SERVER_CHANNELS; list++) {
        remove_parts(server, list, client, connection);
    }
}

bool peer_listens(struct call *call)
{
    return first_of(call->server, SERVER_CHANNELS, call->client, call->connection) != NULL;
}

static void peer_ping(struct call *call)
{
    struct bytes text = call->argc > 1 ? call->argv[1] : (struct bytes){"", 0};
    if (call->argc > 2) {
        call_arity_error(call);
    } else if (peer_listens(call)) {
        reply_array(call->reply, 2);
        reply_bytes(call->reply, REPLY_BULK, (struct bytes){"pong", 4});
        reply_bytes(call->reply, REPLY_BULK, text);
    } else if (call->argc == 2) {
        reply_bytes(call->reply, REPLY_BULK, text);
    } else {
        reply_status(call->reply, "PONG");
    }
}

static void peer_echo(struct call *call)
{
    reply_bytes(call->reply, REPLY_BULK, call->argv[1]);
}

static void peer_time(struct call *call)
{
    char text[KEY_DIGITS_MAX];
    reply_array(call->reply, 2);
    int size = snprintf(text, sizeof text, "%lld", (long long)(call->now_ms / 1000));
    reply_bytes(call->reply, REPLY_BULK, (struct bytes){text, (size_t)size});
    size = snprintf(text, sizeof text, "%lld", (long long)(call->now_ms % 1000 * 1000));
    reply_bytes(call->reply, REPLY_BULK, (struct bytes){text, (size_t)size});
}

static void peer_auth(struct call *call)
{
    const char *password = call->server->password;
    if (call->argc > 3) {
        call_syntax_error(call);
        return;
    }
    if (call->argc == 2 && password == NULL) {
        reply_error(call->reply, "ERR AUTH <password> called without any password configured for the default "
                                 "user. Are you sure your configuration is correct?");
        return;
    }
    struct bytes given = call->argv[call->argc - 1];
    bool user = call->argc == 2 || (call->argv[1].size == 7 && memcmp(call->argv[1].at, "default", 7) == 0);
    if (!user || (password != NULL && !bytes_equal(given, (struct bytes){password, strlen(password)}))) {
        reply_error(call->reply, "WRONGPASS invalid username-password pair or user is disabled.");
        return;
    }
    if (password != NULL) {
        set_flags(call, PEER_KNOWN, 0);
    }
    reply_status(call->reply, "OK");
}

static bool read_database(struct call *call, int *database)
{
    int64_t number;
    if (!call_integer(call, call->argv[1], &number)) {
        return false;
    }
    if (number > INT32_MAX || number < INT32_MIN) {
        reply_error(call->reply, "ERR value is out of range, value must between -2147483648 and 2147483647");
        return false;
    }
    if (number < 0 || number >= DATABASES) {
        reply_error(call->reply, "ERR DB index is out of range");
        return false;
    }
    *database = (int)number;
    return true;
}

/* In a script the selection lasts until the script ends. */
static void peer_select(struct call *call)
{
    if (!read_database(call, &call->database)) {
        return;
    }
    struct peer *peer = call->in_script ? NULL : peer_make(call);
    if (peer != NULL) {
        peer->database = (uint8_t)call->database;
        forget_if_new(call);
    }
    reply_status(call->reply, "OK");
}

static void peer_setname(struct call *call)
{
    struct bytes name = call->argv[2];
    for (size_t i = 0; i < name.size; i++) {
        if (name.at[i] < '!' || name.at[i] > '~') {
            reply_error(call->reply,
                        "ERR Client names cannot contain spaces, newlines or special characters.");
            return;
        }
    }
    struct peer old = {.flags = 0};
    struct peer *peer = peer_of(call);
    if (peer != NULL) {
        old = *peer;
        pack_remove(&call->server->pack, &peer->rec);
    }
    peer = (struct peer *)(void *)add_part(call, SERVER_PEERS, name);
    if (peer != NULL) {
        peer->database = old.database;
        peer->flags = old.flags;
        forget_if_new(call);
    }
    reply_status(call->reply, "OK");
}

static void peer_getname(struct call *call)
{
    const struct peer *peer = peer_of(call);
    if (peer == NULL || peer->rec.word == 0) {
        reply_nil(call->reply);
    } else {
        reply_bytes(call->reply, REPLY_BULK, (struct bytes){(const char *)(peer + 1), peer->rec.word});
    }
}

/* Answers at once. While the replicas are detached, the answer is 0, as after the timeout. Otherwise it is
 * the number of all replicas, and all writes up to this connection's last one are safe (backlog.h). */
static void peer_wait(struct call *call)
{
    int64_t wanted, timeout_ms;
    struct server *server = call->server;
    if (server->read_only) {
        reply_error(call->reply,
                    "ERR WAIT cannot be used with replica instances. Please also note that since "
                    "Redis 4.0 if a replica is configured to be writable (which is not the default) "
                    "writes to replicas are just local and are not propagated.");
        return;
    }
    if (!call_integer(call, call->argv[1], &wanted)) {
        return;
    }
    if (!bytes_integer(call->argv[2], &timeout_ms)) {
        reply_error(call->reply, "ERR timeout is not an integer or out of range");
        return;
    }
    if (timeout_ms < 0) {
        reply_error(call->reply, "ERR timeout is negative");
        return;
    }
    if (server_facts(&server->pack)->detached || server->replicas == 0) {
        reply_integer(call->reply, 0);
    } else {
        backlog_confirm(server, call->client, call->connection);
        reply_integer(call->reply, server->replicas);
    }
}

void peer_touch(struct server *server, int database, struct bytes name)
{
    struct rec *rec = pack_first(&server->pack, SERVER_WATCHED);
    for (; rec != NULL; rec = pack_next(&server->pack, rec)) {
        const struct peer_part *watched = (const struct peer_part *)(const void *)rec;
        if (watched->database == database && bytes_equal(text_of(watched), name)) {
            struct peer_part *peer = first_of(server, SERVER_PEERS, watched->client, watched->connection);
            LS_ASSERT(peer != NULL);
            arena_mark(server->pack.arena, server->pack.block);
            ((struct peer *)(void *)peer)->flags |= PEER_CHANGED;
        }
    }
}

static bool has_ended(const struct call *call, const struct key *key)
{
    return key != NULL && call->server->timed && key->ends_ms != KEY_NEVER && call->now_ms > key->ends_ms;
}

static bool watches(struct call *call, struct bytes name)
{
    struct peer_part *part = first_of(call->server, SERVER_WATCHED, call->client, call->connection);
    for (; part != NULL; part = next_of(call->server, part)) {
        if (part->database == call->database && bytes_equal(text_of(part), name)) {
            return true;
        }
    }
    return false;
}

static void peer_watch(struct call *call)
{
    if ((flags_of(call) & PEER_MULTI) != 0) {
        reply_error(call->reply, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    for (int i = 1; i < call->argc; i++) {
        bool ended = has_ended(call, keys_find(&call->server->pack, call->database, call->argv[i]));
        if (watches(call, call->argv[i]) || peer_make(call) == NULL) { /* for PEER_CHANGED */
            continue;
        }
        struct peer_part *part = add_part(call, SERVER_WATCHED, call->argv[i]);
        if (part != NULL) {
            part->database = (uint8_t)call->database;
            part->expired = ended;
        }
    }
    reply_status(call->reply, "OK");
}

static void unwatch(struct call *call)
{
    remove_parts(call->server, SERVER_WATCHED, call->client, call->connection);
    if (peer_of(call) != NULL) {
        set_flags(call, 0, PEER_CHANGED);
    }
}

static void peer_unwatch(struct call *call)
{
    unwatch(call);
    reply_status(call->reply, "OK");
}

void peer_queue(struct call *call)
{
    static struct sequence args;
    LS_ASSERT((flags_of(call) & PEER_MULTI) != 0);
    command_pack(call->argc, call->argv, &args);
    call->no_room = call->no_room || args.full;
    add_part(call, SERVER_QUEUED, (struct bytes){args.bytes, args.used});
    reply_status(call->reply, "QUEUED");
}

static void peer_multi(struct call *call)
{
    if ((flags_of(call) & PEER_MULTI) != 0) {
        reply_error(call->reply, "ERR MULTI calls can not be nested");
        return;
    }
    set_flags(call, PEER_MULTI, 0);
    reply_status(call->reply, "OK");
}

void peer_end_multi(struct call *call)
{
    remove_parts(call->server, SERVER_QUEUED, call->client, call->connection);
    unwatch(call);
    set_flags(call, 0, PEER_MULTI | PEER_BROKEN);
    LS_ASSERT((flags_of(call) & (PEER_MULTI | PEER_BROKEN | PEER_CHANGED)) == 0);
}

static void peer_discard(struct call *call)
{
    if ((flags_of(call) & PEER_MULTI) == 0) {
        reply_error(call->reply, "ERR DISCARD without MULTI");
        return;
    }
    peer_end_multi(call);
    reply_status(call->reply, "OK");
}

/* Returns whether a watched key is still there, but its lease has ended since the WATCH. */
static bool watched_has_expired(struct call *call)
{
    struct peer_part *part = first_of(call->server, SERVER_WATCHED, call->client, call->connection);
    for (; part != NULL; part = next_of(call->server, part)) {
        if (!part->expired &&
            has_ended(call, keys_find(&call->server->pack, part->database, text_of(part)))) {
            return true;
        }
    }
    return false;
}

static void run_first(struct call *exec)
{
    static struct sequence args;
    struct bytes argv[COMMAND_ARGS_MAX];
    struct peer_part *part = first_of(exec->server, SERVER_QUEUED, exec->client, exec->connection);
    struct bytes text = text_of(part);
    struct call call = *exec;
    LS_ASSERT(text.size <= sizeof args.bytes);
    memcpy(args.bytes, text.at, text.size);
    args.used = text.size;
    pack_remove(&exec->server->pack, &part->rec);
    call.argc = command_unpack((struct bytes){args.bytes, args.used}, argv);
    call.argv = argv;
    const struct command *command = command_find(&call);
    LS_ASSERT(command != NULL && (command->flags & COMMAND_AT_ONCE) == 0);
    command->run(&call);
    exec->database = call.database;
    exec->no_room = exec->no_room || call.no_room;
}

static void peer_exec(struct call *call)
{
    unsigned flags = flags_of(call);
    if ((flags & PEER_MULTI) == 0) {
        reply_error(call->reply, "ERR EXEC without MULTI");
        return;
    }
    if ((flags & PEER_BROKEN) != 0) {
        reply_error(call->reply, "EXECABORT Transaction discarded because of previous errors.");
        peer_end_multi(call);
        return;
    }
    if ((flags & PEER_CHANGED) != 0 || watched_has_expired(call)) {
        reply_nil_array(call->reply);
        peer_end_multi(call);
        return;
    }
    unwatch(call);
    set_flags(call, 0, PEER_MULTI);
    int count = 0;
    struct peer_part *part = first_of(call->server, SERVER_QUEUED, call->client, call->connection);
    for (; part != NULL; part = next_of(call->server, part)) {
        count++;
    }
    reply_array(call->reply, (uint32_t)count);
    while (count-- > 0) {
        run_first(call);
    }
    LS_ASSERT(first_of(call->server, SERVER_QUEUED, call->client, call->connection) == NULL);
}

static int channels(struct call *call)
{
    int count = 0;
    struct peer_part *part = first_of(call->server, SERVER_CHANNELS, call->client, call->connection);
    for (; part != NULL; part = next_of(call->server, part)) {
        count++;
    }
    return count;
}

static struct peer_part *find_channel(struct call *call, struct bytes name)
{
    struct peer_part *part = first_of(call->server, SERVER_CHANNELS, call->client, call->connection);
    for (; part != NULL && !bytes_equal(text_of(part), name);) {
        part = next_of(call->server, part);
    }
    return part;
}

static void reply_channel(struct call *call, const char *what, const struct bytes *name)
{
    reply_array(call->reply, 3);
    reply_bytes(call->reply, REPLY_BULK, (struct bytes){what, strlen(what)});
    if (name != NULL) {
        reply_bytes(call->reply, REPLY_BULK, *name);
    } else {
        reply_nil(call->reply);
    }
    reply_integer(call->reply, channels(call));
}

static void peer_subscribe(struct call *call)
{
    for (int i = 1; i < call->argc; i++) {
        if (find_channel(call, call->argv[i]) == NULL) {
            add_part(call, SERVER_CHANNELS, call->argv[i]);
        }
        reply_channel(call, "subscribe", &call->argv[i]);
    }
}

static void peer_unsubscribe(struct call *call)
{
    for (int i = 1; i < call->argc; i++) {
        struct peer_part *part = find_channel(call, call->argv[i]);
        if (part != NULL) {
            pack_remove(&call->server->pack, &part->rec);
        }
        reply_channel(call, "unsubscribe", &call->argv[i]);
    }
    if (call->argc == 1 && !peer_listens(call)) {
        reply_channel(call, "unsubscribe", NULL);
    }
    while (call->argc == 1 && peer_listens(call)) {
        static char name[KEY_VALUE_MAX];
        struct peer_part *part = first_of(call->server, SERVER_CHANNELS, call->client, call->connection);
        struct bytes text = {name, part->rec.word};
        LS_ASSERT(text.size <= sizeof name);
        memcpy(name, text_of(part).at, text.size);
        pack_remove(&call->server->pack, &part->rec);
        reply_channel(call, "unsubscribe", &text);
    }
}

static void peer_publish(struct call *call)
{
    struct server *server = call->server;
    int count = server->publish != NULL ? server->publish(server, call->argv[1], call->argv[2]) : 0;
    reply_integer(call->reply, count);
}

const struct command commands_peer[] = {
    {"ping", -1, COMMAND_LISTENING, peer_ping},
    {"echo", 2, 0, peer_echo},
    {"time", 1, 0, peer_time},
    {"auth", -2, COMMAND_NO_SCRIPT | COMMAND_UNAUTHORIZED, peer_auth},
    {"select", 2, 0, peer_select},
    {"client", -2, COMMAND_NO_SCRIPT, NULL},
    {"client|setname", 3, COMMAND_NO_SCRIPT, peer_setname},
    {"client|getname", 2, COMMAND_NO_SCRIPT, peer_getname},
    {"wait", 3, COMMAND_NO_SCRIPT, peer_wait},
    {"multi", 1, COMMAND_NO_SCRIPT | COMMAND_AT_ONCE, peer_multi},
    {"exec", 1, COMMAND_NO_SCRIPT | COMMAND_AT_ONCE, peer_exec},
    {"discard", 1, COMMAND_NO_SCRIPT | COMMAND_AT_ONCE, peer_discard},
    {"watch", -2, COMMAND_NO_SCRIPT | COMMAND_AT_ONCE, peer_watch},
    {"unwatch", 1, COMMAND_NO_SCRIPT, peer_unwatch},
    {"subscribe", -2, COMMAND_NO_SCRIPT | COMMAND_LISTENING, peer_subscribe},
    {"unsubscribe", -1, COMMAND_NO_SCRIPT | COMMAND_LISTENING, peer_unsubscribe},
    {"publish", 3, 0, peer_publish},
    {NULL, 0, 0, NULL},
};
