/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Faults of servers: restarts, lost writes, splits, detached replicas, clock jumps, rejected requests. */
#include "base/assert.h"
#include "fakeredis/backlog.h"
#include "fakeredis/internal.h"

static struct server *marked(int server)
{
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    const struct pack *pack = &the_servers[server].pack;
    arena_mark(pack->arena, pack->block);
    return &the_servers[server];
}

static struct server *looked_at(int server)
{
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    const struct pack *pack = &the_servers[server].pack;
    arena_read(pack->arena, pack->block);
    return &the_servers[server];
}

static void break_connections(int server)
{
    for (int client = 0; client < the_options.clients; client++) {
        for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
            if (fakeredis_is_up(client, i) && client_read(client)->connection[i].server == server) {
                fakeredis_cut(client, i, 0, 0, false);
            }
        }
    }
    pack_clear(&looked_at(server)->pack, SERVER_LATE);
}

static void lose_keys(int server)
{
    struct key *key;
    while ((key = fakeredis_key(server, 0)) != NULL) {
        command_lose(&the_servers[server], key);
    }
    backlog_clear(&the_servers[server]);
    LS_ASSERT(fakeredis_key(server, 0) == NULL);
}

void fakeredis_restart(int server, enum fakeredis_kept kept)
{
    break_connections(server);
    if (kept == FAKEREDIS_KEEPS_REPLICATED || kept == FAKEREDIS_KEEPS_LOGGED) {
        backlog_lose(looked_at(server), kept == FAKEREDIS_KEEPS_LOGGED);
    } else if (kept == FAKEREDIS_KEEPS_NONE) {
        lose_keys(server);
    }
    fakeredis_flush(server);
}

/* ---- two servers in one place ---- */

static void copy_list(const struct pack *from, const struct pack *to, int list)
{
    LS_ASSERT(from != to && pack_first(to, list) == NULL);
    for (struct rec *rec = pack_first(from, list); rec != NULL; rec = pack_next(from, rec)) {
        struct rec *copy = pack_append(to, list, rec->size);
        LS_ALWAYS(copy != NULL); /* both blocks have one size, and `to` has no other records */
        pack_fill(copy, rec);
        copy->word = rec->word;
    }
    LS_ASSERT(pack_count(from, list) == pack_count(to, list));
}

static void move_connections(int server, int former)
{
    LS_ASSERT(server != former && former < fakeredis_servers());
    for (int client = 0; client < the_options.clients; client++) {
        for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
            if (fakeredis_is_up(client, i) && client_read(client)->connection[i].server == server) {
                client_mark(client)->connection[i].server = (uint8_t)former;
            }
        }
    }
}

/* Lists that move to the former server. A copy of the keys goes with them. */
static const uint8_t OF_CONNECTIONS[] = {SERVER_SCRIPTS, SERVER_PEERS,    SERVER_WATCHED,
                                         SERVER_QUEUED,  SERVER_CHANNELS, SERVER_LATE};

bool fakeredis_is_split(int server)
{
    return the_options.splits && server_facts(&looked_at(the_options.servers + server)->pack)->is_former;
}

void fakeredis_split(int server)
{
    LS_ASSERT(!fakeredis_is_split(server));
    const struct pack *now = &marked(server)->pack, *former = &marked(the_options.servers + server)->pack;
    *server_facts(former) =
        (struct server_facts){.clock_ms = server_facts(now)->clock_ms, .detached = 1, .is_former = 1};
    copy_list(now, former, SERVER_KEYS);
    for (size_t i = 0; i < sizeof OF_CONNECTIONS; i++) {
        copy_list(now, former, OF_CONNECTIONS[i]);
        pack_clear(now, OF_CONNECTIONS[i]);
    }
    move_connections(server, the_options.servers + server);
    LS_ASSERT(pack_first(former, SERVER_BACKLOG) == NULL);
    backlog_lose(&the_servers[server], false);
}

void fakeredis_rejoin(int server)
{
    int former = the_options.servers + server;
    LS_ASSERT(fakeredis_is_split(server));
    break_connections(former);
    const struct pack *pack = &marked(former)->pack;
    pack_clear(pack, SERVER_KEYS);
    for (size_t i = 0; i < sizeof OF_CONNECTIONS; i++) {
        pack_clear(pack, OF_CONNECTIONS[i]);
    }
    *server_facts(pack) = (struct server_facts){0};
}

bool fakeredis_has_scripts(int server)
{
    return pack_first(&looked_at(server)->pack, SERVER_SCRIPTS) != NULL;
}

void fakeredis_flush(int server)
{
    scripts_clear(&looked_at(server)->pack);
}

void fakeredis_detach(int server, bool on)
{
    server_facts(&marked(server)->pack)->detached = on;
    if (!on) {
        backlog_attach(&the_servers[server]);
    }
}

bool fakeredis_is_detached(int server)
{
    return server_facts(&looked_at(server)->pack)->detached;
}

static void end_leases(int server)
{
    struct key *key;
    LS_ASSERT(!the_options.timed);
    for (int i = 0; (key = fakeredis_key(server, i)) != NULL;) {
        if (key->ends_ms == KEY_NEVER) {
            i++;
        } else {
            command_lose(&the_servers[server], key);
        }
    }
}

static void shorten_leases(int server)
{
    struct key *key;
    for (int i = 0; (key = fakeredis_key(server, i)) != NULL; i++) {
        key->shortened = key->ends_ms != KEY_NEVER;
    }
}

void fakeredis_jump(int server, int32_t ms)
{
    LS_ASSERT(ms >= 0);
    if (the_options.timed) {
        server_facts(&marked(server)->pack)->clock_ms += ms;
        shorten_leases(server);
    } else {
        end_leases(server);
    }
}

void fakeredis_reject(int client, int connection, const char *error)
{
    static struct reply reply;
    LS_ASSERT(link_first_sent(client, connection) != NULL);
    reply_clear(&reply);
    reply_error(&reply, "%s", error);
    link_replace(client, link_first_sent(client, connection), CALL_ANSWERED, reply_all(&reply));
}
