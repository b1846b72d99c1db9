/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Finding and running the command of a list of arguments, and functions that the files of commands share. */
#include "fakeredis/command.h"

#include "base/assert.h"
#include "fakeredis/backlog.h"
#include "fakeredis/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool call_is(struct bytes text, const char *word)
{
    return text.size == strlen(word) && strncasecmp(text.at, word, text.size) == 0;
}

void call_syntax_error(struct call *call)
{
    reply_error(call->reply, "ERR syntax error");
}

void call_arity_error(struct call *call)
{
    char name[COMMAND_NAME_MAX];
    bytes_lower(call->argv[0], name, sizeof name);
    reply_error(call->reply, "ERR wrong number of arguments for '%s' command", name);
}

bool call_integer(struct call *call, struct bytes text, int64_t *number)
{
    if (!bytes_integer(text, number)) {
        reply_error(call->reply, "ERR value is not an integer or out of range");
        return false;
    }
    return true;
}

bool call_lease(struct call *call, struct bytes text, int64_t unit_ms, bool absolute, int64_t *ends_ms)
{
    int64_t number;
    LS_ASSERT(unit_ms == 1 || unit_ms == 1000);
    if (!call_integer(call, text, &number)) {
        return false;
    }
    int64_t from = absolute || !call->server->timed ? 0 : call->now_ms;
    if (number <= 0 || number > INT64_MAX / unit_ms || number * unit_ms > INT64_MAX - from) {
        char name[COMMAND_NAME_MAX];
        bytes_lower(call->argv[0], name, sizeof name);
        reply_error(call->reply, "ERR invalid expire time in '%s' command", name);
        return false;
    }
    *ends_ms = number * unit_ms + from;
    return true;
}

static void tell(struct call *call, const struct key *key, enum key_change change)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS);
    LS_ASSERT(!call->server->read_only || change == KEY_EXPIRED || change == KEY_LOST);
    peer_touch(call->server, key->database, key_name(key));
    if (call->server->changed != NULL) {
        call->server->changed(call->server, call->client, key, change);
    }
}

void call_remove(struct call *call, struct key *key, enum key_change change)
{
    LS_ASSERT(change != KEY_WRITTEN && change != KEY_LEASED);
    if (change == KEY_DELETED) {
        backlog_note(call, key->database, key_name(key));
    } else {
        backlog_forget(call->server, key);
    }
    tell(call, key, change);
    keys_remove(&call->server->pack, key);
}

struct key *call_key(struct call *call, struct bytes name)
{
    struct key *key = keys_find(&call->server->pack, call->database, name);
    if (key == NULL || !call->server->timed || key->ends_ms == KEY_NEVER || call->now_ms <= key->ends_ms) {
        return key;
    }
    if (!call->server->read_only) {
        call_remove(call, key, KEY_EXPIRED);
    }
    return NULL;
}

bool call_typed_key(struct call *call, struct bytes name, unsigned types, struct key **key)
{
    *key = call_key(call, name);
    if (*key != NULL && (types >> (*key)->rec.tag & 1u) == 0) {
        reply_error(call->reply, "WRONGTYPE Operation against a key holding the wrong kind of value");
        return false;
    }
    return true;
}

/* Notes the writer of the key, and the writer's life. The life matters only for a key with a lease, or at a
 * server with a backlog, which may put keys back. Otherwise it is 0, so that states do not differ by it. */
static void sign(struct call *call, struct key *key)
{
    bool matters = call->server->lag > 0 || key->ends_ms != KEY_NEVER;
    key->writer = (uint8_t)(call->client + 1);
    key->life = matters ? call->server->life : 0;
}

static void written(struct call *call, struct key *key)
{
    if (key == NULL) {
        call->no_room = true;
        return;
    }
    LS_ASSERT(key->database == call->database);
    sign(call, key);
    tell(call, key, KEY_WRITTEN);
}

void call_set_text(struct call *call, struct bytes name, struct bytes text)
{
    backlog_note(call, call->database, name);
    written(call, keys_set_text(&call->server->pack, call->database, name, text));
}

void call_set_number(struct call *call, struct bytes name, int64_t number)
{
    backlog_note(call, call->database, name);
    written(call, keys_set_number(&call->server->pack, call->database, name, number));
}

void call_set_sequence(struct call *call, struct bytes name, enum key_type type, const struct sequence *value)
{
    struct bytes bytes = {value->bytes, value->used};
    LS_ASSERT(type == KEY_HASH || type == KEY_LIST);
    if (value->full) {
        call->no_room = true;
    } else if (value->used == 0) {
        struct key *key = keys_find(&call->server->pack, call->database, name);
        if (key != NULL) {
            call_remove(call, key, KEY_DELETED);
        }
    } else {
        backlog_note(call, call->database, name);
        written(call, keys_set(&call->server->pack, call->database, name, type, bytes));
    }
}

void call_set_lease(struct call *call, struct key *key, int64_t ends_ms)
{
    backlog_note(call, key->database, key_name(key));
    keys_set_lease(&call->server->pack, key, ends_ms);
    sign(call, key);
    tell(call, key, KEY_LEASED);
}

/* Writes an error for a command that does not run: ERR and the text, or the text alone if it begins with two
 * capitals, as a code does. For EXEC outside of a script, writes EXECABORT and the text, and ends the
 * transaction. */
__attribute__((format(printf, 3, 4))) static void refuse(struct call *call, const struct command *command,
                                                         const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    bool coded = text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z';
    if (!call->in_script && command->name != NULL && strcmp(command->name, "exec") == 0) {
        reply_error(call->reply, "EXECABORT Transaction discarded because of: %s", text);
        peer_end_multi(call);
    } else {
        reply_error(call->reply, "%s%s", coded ? "" : "ERR ", text);
    }
}

static const struct command *const tables[] = {commands_keys, commands_text,   commands_hash, commands_list,
                                               commands_peer, commands_script, NULL};

static const struct command *find_name(struct bytes name)
{
    for (const struct command *const *table = tables; *table != NULL; table++) {
        for (const struct command *command = *table; command->name != NULL; command++) {
            if (call_is(name, command->name)) {
                return command;
            }
        }
    }
    return NULL;
}

static void unknown_command(struct call *call)
{
    char shown[512];
    size_t used = 0;
    struct bytes name = call->argv[0];
    if (call->in_script) {
        reply_error(call->reply, "ERR Unknown Redis command called from script");
        return;
    }
    shown[0] = 0;
    for (int i = 1; i < call->argc && used < 128; i++) {
        size_t left = 128 - used;
        int size = (int)(call->argv[i].size < left ? call->argv[i].size : left);
        used += (size_t)snprintf(shown + used, sizeof shown - used, "'%.*s' ", size, call->argv[i].at);
    }
    int size = (int)(name.size < 128 ? name.size : 128);
    reply_error(call->reply, "ERR unknown command '%.*s', with args beginning with: %s", size, name.at,
                shown);
}

static bool has_parts(const struct command *command)
{
    return command->run == NULL;
}

static const struct command *find_part(struct call *call, const struct command *whole)
{
    char name[2 * COMMAND_NAME_MAX];
    struct bytes part = call->argv[1];
    LS_ASSERT(has_parts(whole) && call->argc > 1);
    int size = (int)(part.size < COMMAND_NAME_MAX ? part.size : COMMAND_NAME_MAX);
    int length = snprintf(name, sizeof name, "%s|%.*s", whole->name, size, part.at);
    const struct command *found = find_name((struct bytes){name, (size_t)length});
    if (found == NULL && call->in_script) {
        reply_error(call->reply, "ERR Unknown Redis command called from script");
    } else if (found == NULL) {
        char upper[COMMAND_NAME_MAX];
        int letters = snprintf(upper, sizeof upper, "%s", whole->name);
        for (int i = 0; i < letters; i++) {
            upper[i] = (char)(upper[i] - 'a' + 'A');
        }
        reply_error(call->reply, "ERR unknown subcommand '%.*s'. Try %s HELP.",
                    (int)(part.size < 128 ? part.size : 128), part.at, upper);
    }
    return found;
}

const struct command *command_find(struct call *call)
{
    const struct command *command = find_name(call->argv[0]);
    if (command == NULL || strchr(command->name, '|') != NULL) {
        unknown_command(call);
        return NULL;
    }
    if (has_parts(command) && call->argc > 1) {
        command = find_part(call, command);
    }
    if (command == NULL) {
        return NULL;
    }
    if (command->arity > 0 ? call->argc != command->arity : call->argc < -command->arity) {
        if (call->in_script) {
            reply_error(call->reply, "ERR Wrong number of args calling Redis command from script");
        } else {
            refuse(call, command, "wrong number of arguments for '%s' command", command->name);
        }
        return NULL;
    }
    LS_ASSERT(!has_parts(command)); /* a command with subcommands has an arity of at least 2 */
    return command;
}

/* If this connection may not run the command on this server, writes the error and returns false. */
static bool is_allowed(struct call *call, const struct command *command)
{
    if (!peer_is_known(call) && (command->flags & COMMAND_UNAUTHORIZED) == 0) {
        refuse(call, command, "NOAUTH Authentication required.");
        return false;
    }
    if (call->server->read_only && (command->flags & COMMAND_WRITES) != 0) {
        refuse(call, command, "READONLY You can't write against a read only replica.");
        return false;
    }
    if (peer_listens(call) && (command->flags & COMMAND_LISTENING) == 0) {
        refuse(call, command,
               "Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed "
               "in this "
               "context",
               command->name);
        return false;
    }
    return true;
}

static void run_or_queue(struct call *call)
{
    const struct peer *peer = peer_of(call);
    bool multi = peer != NULL && (peer->flags & PEER_MULTI) != 0;
    const struct command *command = command_find(call);
    if (command == NULL || !is_allowed(call, command)) {
        struct peer *now = peer_of(call);
        if (now != NULL && (now->flags & PEER_MULTI) != 0) {
            arena_mark(call->server->pack.arena, call->server->pack.block);
            now->flags |= PEER_BROKEN;
        }
        return;
    }
    if (multi && (command->flags & COMMAND_AT_ONCE) == 0) {
        peer_queue(call);
    } else {
        command->run(call);
    }
}

static bool run(struct call *call)
{
    LS_ASSERT(call->argc > 0 && call->argc <= COMMAND_ARGS_MAX);
    reply_clear(call->reply);
    backlog_begin();
    run_or_queue(call);
    LS_ASSERT(call->reply->used > 0 || call->reply->full || call->no_room);
    return !call->no_room && !call->reply->full;
}

static struct call new_call(struct server *server, int client, int connection, int64_t now_ms, int argc,
                            const struct bytes *argv, struct reply *reply)
{
    arena_read(server->pack.arena, server->pack.block);
    return (struct call){.server = server,
                         .client = (uint8_t)client,
                         .connection = (uint8_t)connection,
                         .now_ms = now_ms,
                         .argc = argc,
                         .argv = argv,
                         .reply = reply};
}

bool command_run(struct server *server, int client, int connection, int64_t now_ms, int argc,
                 const struct bytes *argv, struct reply *reply)
{
    LS_ASSERT(connection >= 0 && connection < CONNECTION_NONE);
    struct call call = new_call(server, client, connection, now_ms, argc, argv, reply);
    const struct peer *peer = peer_of(&call);
    call.database = peer != NULL ? peer->database : 0;
    return run(&call);
}

bool command_run_late(struct server *server, int client, int database, int64_t now_ms, int argc,
                      const struct bytes *argv, struct reply *reply)
{
    LS_ASSERT(database >= 0 && database < DATABASES);
    struct call call = new_call(server, client, CONNECTION_NONE, now_ms, argc, argv, reply);
    call.database = database;
    return run(&call);
}

void command_expire(struct server *server, struct key *key)
{
    struct call call = {.server = server};
    call_remove(&call, key, KEY_EXPIRED);
}

void command_lose(struct server *server, struct key *key)
{
    struct call call = {.server = server};
    call_remove(&call, key, KEY_LOST);
}

#define MARK "\1script"
#define MARK_SIZE 7

/* Returns the index of the argument that is a script's text; -1 = none is. */
static int script_index(int argc, const struct bytes *argv)
{
    if (argc > 2 && call_is(argv[0], "eval")) {
        return 1;
    }
    return argc > 2 && call_is(argv[0], "script") && call_is(argv[1], "load") ? 2 : -1;
}

void command_pack(int argc, const struct bytes *argv, struct sequence *sequence)
{
    int script = script_index(argc, argv);
    LS_ASSERT(argc > 0 && argc <= COMMAND_ARGS_MAX && script < argc);
    sequence->used = 0;
    sequence->full = false;
    for (int i = 0; i < argc; i++) {
        char marked[MARK_SIZE + DIGEST_BYTES] = MARK;
        unsigned char digest[DIGEST_BYTES];
        if (i == script && script_learn(argv[i], digest)) {
            memcpy(marked + MARK_SIZE, digest, sizeof digest);
            sequence_add(sequence, (struct bytes){marked, sizeof marked});
        } else {
            sequence_add(sequence, argv[i]);
        }
    }
}

int command_unpack(struct bytes sequence, struct bytes argv[COMMAND_ARGS_MAX])
{
    int argc = 0;
    for (size_t at = 0; argc < COMMAND_ARGS_MAX && sequence_next(sequence, &at, &argv[argc]); argc++) {
        struct bytes text = argv[argc];
        if (text.size == MARK_SIZE + DIGEST_BYTES && memcmp(text.at, MARK, MARK_SIZE) == 0) {
            unsigned char digest[DIGEST_BYTES];
            memcpy(digest, text.at + MARK_SIZE, sizeof digest);
            struct bytes script = script_text(digest);
            argv[argc] = script.at != NULL ? script : text;
        }
    }
    return argc;
}
