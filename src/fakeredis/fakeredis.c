/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Opening the fake, the state of its clients, access to keys, and texts about the state. */
#include "fakeredis/fakeredis.h"

#include "base/assert.h"
#include "fakeredis/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLIENT_BYTES 32768

struct fakeredis_options the_options;
struct arena *the_arena;
struct server the_servers[FAKEREDIS_SERVERS_MAX];
int the_entered = -1;

static int client_block[FAKEREDIS_CLIENTS_MAX];
static char trouble[160];

_Static_assert(sizeof(struct client) % 8 == 0, "records are aligned to 8");

void fake_trouble(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (trouble[0] == 0) {
        vsnprintf(trouble, sizeof trouble, format, args);
    }
    va_end(args);
}

const char *fakeredis_trouble(void)
{
    return trouble[0] != 0 ? trouble : NULL;
}

struct client *client_read(int client)
{
    LS_ASSERT(client >= 0 && client < the_options.clients);
    arena_read(the_arena, client_block[client]);
    return arena_at(the_arena, client_block[client]);
}

struct client *client_mark(int client)
{
    LS_ASSERT(client >= 0 && client < the_options.clients);
    arena_mark(the_arena, client_block[client]);
    return arena_at(the_arena, client_block[client]);
}

struct pack client_pack(int client)
{
    unsigned char *at = (unsigned char *)client_read(client);
    return (struct pack){
        .arena = the_arena, .block = client_block[client], .records = at + sizeof(struct client)};
}

void fakeredis_open(struct arena *arena, const struct fakeredis_options *options)
{
    LS_ASSERT(options->clients <= FAKEREDIS_CLIENTS_MAX);
    LS_ASSERT(options->servers * (options->splits ? 2 : 1) <= FAKEREDIS_SERVERS_MAX);
    the_options = *options;
    the_arena = arena;
    the_entered = -1;
    trouble[0] = 0;
    link_open_servers(arena);
    for (int client = 0; client < options->clients; client++) {
        client_block[client] = arena_add(arena, CLIENT_BYTES, sizeof(struct client));
    }
}

int fakeredis_servers(void)
{
    return the_options.servers * (the_options.splits ? 2 : 1);
}

int fakeredis_server_block(int server)
{
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    return the_servers[server].pack.block;
}

int fakeredis_client_block(int client)
{
    return client_block[client];
}

redisAsyncContext *fakeredis_context(int client, int connection)
{
    return client_read(client)->connection[connection].context;
}

void fakeredis_enter(int client)
{
    LS_ASSERT(the_entered < 0);
    client_mark(client);
    the_entered = client;
}

void fakeredis_leave(void)
{
    the_entered = -1;
}

void fakeredis_pause(int client, bool on)
{
    client_mark(client)->paused = on;
}

/* Runs no callback and frees no context: the world drops the memory of the process. */
void fakeredis_crash(int client)
{
    struct client *state = client_mark(client);
    struct pack pack = client_pack(client);
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (state->connection[i].state != CONNECTION_FREE) {
            link_abandon(client, i);
            memset(&state->connection[i], 0, sizeof state->connection[i]);
        }
    }
    pack_clear(&pack, CLIENT_CALLS);
    pack_clear(&pack, CLIENT_CHANNELS);
    state->paused = 0;
    state->failing_call = 0;
    state->apart = 0;
    state->lives++;
    LS_ASSERT(!fakeredis_has_open(client));
}

void fakeredis_fail_call(int client, int n)
{
    LS_ASSERT(n >= 0 && n <= UINT8_MAX);
    client_mark(client)->failing_call = (uint8_t)n;
}

int fakeredis_failing_call(int client)
{
    return client_read(client)->failing_call;
}

void fakeredis_set_cut_off(int client, bool on)
{
    client_mark(client)->cut_off = on;
}

bool fakeredis_is_cut_off(int client)
{
    return client_read(client)->cut_off;
}

void fakeredis_set_apart(int client, int server, bool on)
{
    LS_ASSERT(server >= 0 && server < the_options.servers);
    struct client *state = client_mark(client);
    state->apart = (uint8_t)((state->apart & ~(1u << server)) | (unsigned)on << server);
}

bool client_is_apart(const struct client *client, int server)
{
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    return client->cut_off || (client->apart >> server % the_options.servers & 1) != 0;
}

bool fakeredis_is_apart(int client, int server)
{
    LS_ASSERT(server >= 0 && server < the_options.servers); /* a place: former servers have no bit */
    return (client_read(client)->apart >> server & 1) != 0;
}

bool fakeredis_is_paused(int client)
{
    return client_read(client)->paused;
}

int fakeredis_lives(int client)
{
    return client_read(client)->lives;
}

struct key *fakeredis_key(int server, int index)
{
    LS_ASSERT(index >= 0 && server >= 0 && server < fakeredis_servers());
    const struct pack *pack = &the_servers[server].pack;
    arena_read(pack->arena, pack->block);
    struct rec *rec = pack_first(pack, SERVER_KEYS);
    while (rec != NULL && index-- > 0) {
        rec = pack_next(pack, rec);
    }
    return (struct key *)(void *)rec;
}

void fakeredis_expire(int server, int index)
{
    LS_ASSERT(fakeredis_key(server, index) != NULL);
    command_expire(&the_servers[server], fakeredis_key(server, index));
}

void fakeredis_evict(int server, int index)
{
    LS_ASSERT(fakeredis_key(server, index) != NULL);
    command_lose(&the_servers[server], fakeredis_key(server, index));
}

static void name_command(struct bytes args, char *text, size_t size)
{
    size_t at = 0;
    struct bytes name = {"", 0};
    sequence_next(args, &at, &name);
    bytes_lower(name, text, size);
}

void fakeredis_describe_apply(int client, int connection, char *text, size_t size)
{
    const struct call_record *record = link_first_sent(client, connection);
    text[0] = 0;
    if (record != NULL) {
        name_command(link_args(record), text, size);
    }
}

void fakeredis_describe_deliver(int client, int connection, char *text, size_t size)
{
    static const char *const words[] = {
        [CALL_UP] = "up",     [CALL_REFUSED] = "refused", [CALL_SENT] = "",    [CALL_ANSWERED] = "reply",
        [CALL_LOST] = "down", [CALL_MESSAGE] = "message", [CALL_DOWN] = "down"};
    const struct call_record *record = link_first(client, connection);
    LS_ASSERT(record == NULL || (record->rec.tag >= CALL_UP && record->rec.tag <= CALL_DOWN));
    snprintf(text, size, "%s", record != NULL ? words[record->rec.tag] : "");
}

void fakeredis_describe_arrive(int client, char *text, size_t size)
{
    struct bytes args = link_first_late(client);
    text[0] = 0;
    if (args.at != NULL) {
        name_command(args, text, size);
    }
}

static void dump_key(const struct key *key, char *text, size_t size)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS && key->rec.tag <= KEY_LIST);
    static const char *const types[] = {
        [KEY_TEXT] = "text", [KEY_NUMBER] = "number", [KEY_HASH] = "hash", [KEY_LIST] = "list"};
    struct bytes name = key_name(key);
    char digits[KEY_DIGITS_MAX];
    bool plain = key->rec.tag == KEY_TEXT || key->rec.tag == KEY_NUMBER;
    struct bytes value = plain ? key_text(key, digits) : (struct bytes){"...", 3};
    int used = snprintf(text, size, "%.*s: %s %.*s", (int)name.size, name.at, types[key->rec.tag],
                        (int)value.size, value.at);
    if (used > 0 && (size_t)used < size) {
        if (key->ends_ms != KEY_NEVER) {
            snprintf(text + used, size - (size_t)used, ", lease %s %" PRId64 " ms\n",
                     the_options.timed ? "until" : "of", key->ends_ms);
        } else {
            snprintf(text + used, size - (size_t)used, "\n");
        }
    }
}

void fakeredis_dump(char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int server = 0; server < fakeredis_servers(); server++) {
        const struct key *key;
        for (int i = 0; (key = fakeredis_key(server, i)) != NULL && used + 1 < size; i++) {
            used += (size_t)snprintf(text + used, size - used, "%ss%d ",
                                     server < the_options.servers ? "" : "former ",
                                     server % the_options.servers + 1);
            if (used + 1 < size) {
                dump_key(key, text + used, size - used);
                used += strlen(text + used);
            }
        }
    }
}
