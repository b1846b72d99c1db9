/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "redis_faults.h"

#include "redis_model.h"
#include "redis_words.h"

#include <string.h>

#define DUMP_BYTES (1 << 16)

/* ---- of a client ---- */

/* The nth connection that is up, modulo how many there are; -1 = none. */
static int linked(int client, uint8_t which)
{
    int up[FAKEREDIS_CONNECTIONS_MAX], count = 0;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        up[count] = i;
        count += fakeredis_is_up(client, i);
    }
    return count > 0 ? up[which % count] : -1;
}

void fault_cut(int client)
{
    int connection = linked(client, words_take());
    uint8_t how = words_take();
    if (connection >= 0) {
        int keep = (how & 7) % (fakeredis_replies(client, connection) + 1);
        int apply = (how >> 3 & 7) % (fakeredis_requests(client, connection) + 1);
        fakeredis_cut(client, connection, keep, apply, (how & 64) != 0 && apply > 0);
    }
}

void fault_crash(int client)
{
    if (fakeredis_lives(client) >= LIVES_MAX) {
        return;
    }
    fakeredis_crash(client);
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        if (model->known[client][i].there) {
            model_forget_context(client, i);
        }
    }
    for (uint32_t i = 0; i < model->requests; i++) {
        if (model->request[i].client == client) {
            model->request[i].number = NUMBER_NONE;
        }
    }
}

void fault_hold(int client, uint8_t how)
{
    if ((how & 1) != 0) {
        fakeredis_set_cut_off(client, (how & 2) != 0);
    } else {
        fakeredis_pause(client, (how & 2) != 0);
    }
}

/* ---- of a key ---- */

void fault_expire(uint8_t where)
{
    int server = where % fakeredis_servers();
    const struct key *key = fakeredis_key(server, where >> 2);
    if (key != NULL && key->ends_ms != KEY_NEVER) {
        fakeredis_expire(server, where >> 2);
    }
}

static void evict(int server, int index)
{
    if (fakeredis_key(server, index) != NULL) {
        fakeredis_evict(server, index);
    }
}

/* ---- of a request ---- */

static void reject(uint8_t which)
{
    int client = which % CLIENTS, connection = which / CLIENTS % FAKEREDIS_CONNECTIONS_MAX;
    if (!fakeredis_can_apply(client, connection)) {
        return;
    }
    int requests = fakeredis_requests(client, connection), replies = fakeredis_replies(client, connection);
    fakeredis_reject(client, connection, "READONLY You can't write against a read only replica.");
    expect(fakeredis_trouble() != NULL || (fakeredis_requests(client, connection) == requests - 1 &&
                                           fakeredis_replies(client, connection) == replies + 1),
           "a request that is rejected has no reply");
}

/* ---- of a server ---- */

/* All keys of all servers as a text. */
static const char *keys(void)
{
    static char text[DUMP_BYTES];
    fakeredis_dump(text, sizeof text);
    return text;
}

static void expect_keys(const char *were, const char *what)
{
    expect(fakeredis_trouble() != NULL || strcmp(were, keys()) == 0, what);
}

static void restart(int server, enum fakeredis_kept kept)
{
    static char before[DUMP_BYTES];
    memcpy(before, keys(), sizeof before);
    fakeredis_restart(server, kept);
    expect(!fakeredis_has_scripts(server), "a server that starts again knows scripts");
    if (kept == FAKEREDIS_KEEPS_ALL) {
        expect_keys(before, "a server that keeps all starts again with other keys");
    } else if (kept == FAKEREDIS_KEEPS_NONE) {
        expect(fakeredis_key(server, 0) == NULL, "a server that keeps nothing has a key");
    } else {
        memcpy(before, keys(), sizeof before);
        fakeredis_restart(server, kept);
        expect_keys(before, "a server loses writes twice");
    }
}

static void jump(int server, uint8_t seconds)
{
    fakeredis_jump(server, seconds * 1000);
    const struct key *key;
    for (int i = 0; !model_is_timed() && (key = fakeredis_key(server, i)) != NULL; i++) {
        expect(key->ends_ms == KEY_NEVER, "a lease stays when a clock jumps");
    }
}

static void flush(int server)
{
    fakeredis_flush(server);
    expect(!fakeredis_has_scripts(server), "a server knows scripts that it has forgotten");
}

static void part(int server, int client, bool on)
{
    fakeredis_set_apart(client, server, on);
    expect(fakeredis_is_apart(client, server) == on, "a client and a server are apart, or are not");
}

static int count_keys(int server)
{
    int count = 0;
    while (fakeredis_key(server, count) != NULL) {
        count++;
    }
    return count;
}

/* A former server has the keys that its successor had, and nothing of it is left when it rejoins. */
static void split(int server)
{
    int former = model_servers + server, keys = count_keys(server);
    bool scripts = fakeredis_has_scripts(server);
    fakeredis_split(server);
    expect(fakeredis_trouble() != NULL || count_keys(former) == keys, "a former server has other keys");
    expect(fakeredis_has_scripts(former) == scripts && !fakeredis_has_scripts(server),
           "scripts are not where they were");
}

static void rejoin(int server)
{
    static char before[DUMP_BYTES];
    int former = model_servers + server;
    while (fakeredis_key(former, 0) != NULL) {
        fakeredis_evict(former, 0);
    }
    memcpy(before, keys(), sizeof before);
    fakeredis_rejoin(server);
    expect_keys(before, "a former server that rejoins changes a key of another one");
    expect(!fakeredis_has_scripts(former), "a former server that has rejoined knows scripts");
    for (int client = 0; client < CLIENTS; client++) {
        expect(!fakeredis_is_linked(client, former), "a connection to a former server is up");
    }
}

static void split_or_rejoin(int server, bool rejoins)
{
    if (rejoins && fakeredis_is_split(server)) {
        rejoin(server);
    } else if (!rejoins && fakeredis_servers() > model_servers && !fakeredis_is_split(server)) {
        split(server);
    }
}

static void detach(int server, bool on)
{
    fakeredis_detach(server, on);
    expect(fakeredis_is_detached(server) == on, "replicas hear, or do not");
}

void fault_of_server(enum redis_fault fault)
{
    uint8_t how = words_take();
    int server = how % model_servers, more = how / 4;
    switch (fault) {
    case REDIS_RESTART:
        restart(server, (enum fakeredis_kept)(more % 3));
        break;
    case REDIS_DETACH:
        detach(server, more % 2 != 0);
        break;
    case REDIS_FLUSH:
        flush(server);
        break;
    case REDIS_JUMP:
        jump(server, words_take());
        break;
    case REDIS_EVICT:
        evict(server, more);
        break;
    case REDIS_PART:
        part(server, more % CLIENTS, more / CLIENTS % 2 != 0);
        break;
    case REDIS_SPLIT:
        split_or_rejoin(server, more % 2 != 0);
        break;
    default:
        reject(how);
        break;
    }
}

void fault_heal_all(void)
{
    for (int client = 0; client < CLIENTS; client++) {
        fakeredis_set_cut_off(client, false);
        fakeredis_pause(client, false);
        fakeredis_fail_call(client, 0);
    }
    for (int server = 0; server < model_servers; server++) {
        for (int client = 0; client < CLIENTS; client++) {
            fakeredis_set_apart(client, server, false);
        }
        split_or_rejoin(server, true);
        fakeredis_detach(server, false);
    }
}
