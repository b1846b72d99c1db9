/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands for keys of any type: existence, deletion, leases. */
#include "fakeredis/command.h"

#include "base/assert.h"

static void keys_exists(struct call *call)
{
    int count = 0;
    for (int i = 1; i < call->argc; i++) {
        count += call_key(call, call->argv[i]) != NULL;
    }
    reply_integer(call->reply, count);
}

static void keys_del(struct call *call)
{
    int count = 0;
    for (int i = 1; i < call->argc; i++) {
        struct key *key = call_key(call, call->argv[i]);
        if (key != NULL) {
            call_remove(call, key, KEY_DELETED);
            count++;
        }
    }
    reply_integer(call->reply, count);
}

static void keys_type(struct call *call)
{
    static const char *const names[] = {
        [KEY_TEXT] = "string", [KEY_NUMBER] = "string", [KEY_HASH] = "hash", [KEY_LIST] = "list"};
    const struct key *key = call_key(call, call->argv[1]);
    LS_ASSERT(key == NULL || (key->rec.tag >= KEY_TEXT && key->rec.tag <= KEY_LIST));
    reply_status(call->reply, key != NULL ? names[key->rec.tag] : "none");
}

enum { IF_NONE = 1, IF_SOME = 2, IF_LATER = 4, IF_EARLIER = 8 };

static bool read_conditions(struct call *call, unsigned *conditions)
{
    static const struct {
        const char *word;
        unsigned bit;
    } words[] = {{"nx", IF_NONE}, {"xx", IF_SOME}, {"gt", IF_LATER}, {"lt", IF_EARLIER}};
    *conditions = 0;
    for (int i = 3; i < call->argc; i++) {
        unsigned bit = 0;
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            bit = call_is(call->argv[i], words[w].word) ? words[w].bit : bit;
        }
        if (bit == 0) {
            reply_error(call->reply, "ERR Unsupported option %.*s", (int)call->argv[i].size,
                        call->argv[i].at);
            return false;
        }
        *conditions |= bit;
    }
    if ((*conditions & IF_NONE) != 0 && *conditions != IF_NONE) {
        reply_error(call->reply, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if ((*conditions & IF_LATER) != 0 && (*conditions & IF_EARLIER) != 0) {
        reply_error(call->reply, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

static bool condition_holds(const struct key *key, unsigned conditions, int64_t ends_ms)
{
    bool none = key->ends_ms == KEY_NEVER;
    if ((conditions & IF_NONE) != 0 && !none) {
        return false;
    }
    if ((conditions & IF_SOME) != 0 && none) {
        return false;
    }
    if ((conditions & IF_LATER) != 0 && (none || ends_ms <= key->ends_ms)) {
        return false;
    }
    return (conditions & IF_EARLIER) == 0 || none || ends_ms < key->ends_ms;
}

/* EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT. Unlike SET they accept a number that is not positive. If the end
 * has passed already, they delete the key. */
static void expire(struct call *call, int64_t unit_ms, bool absolute)
{
    unsigned conditions;
    int64_t number;
    LS_ASSERT(unit_ms == 1 || unit_ms == 1000);
    if (!read_conditions(call, &conditions) || !call_integer(call, call->argv[2], &number)) {
        return;
    }
    int64_t from = absolute || !call->server->timed ? 0 : call->now_ms;
    if (number > INT64_MAX / unit_ms || number < INT64_MIN / unit_ms || number * unit_ms > INT64_MAX - from) {
        reply_error(call->reply, "ERR invalid expire time in '%s' command",
                    unit_ms == 1 ? (absolute ? "pexpireat" : "pexpire") : (absolute ? "expireat" : "expire"));
        return;
    }
    int64_t ends_ms = number * unit_ms + from;
    struct key *key = call_key(call, call->argv[1]);
    if (key == NULL || !condition_holds(key, conditions, ends_ms)) {
        reply_integer(call->reply, 0);
        return;
    }
    if (ends_ms <= (call->server->timed ? call->now_ms : 0)) {
        call_remove(call, key, KEY_DELETED);
    } else {
        call_set_lease(call, key, ends_ms);
    }
    reply_integer(call->reply, 1);
}

static void keys_expire(struct call *call)
{
    expire(call, 1000, false);
}

static void keys_pexpire(struct call *call)
{
    expire(call, 1, false);
}

static void keys_expireat(struct call *call)
{
    expire(call, 1000, true);
}

static void keys_pexpireat(struct call *call)
{
    expire(call, 1, true);
}

static void keys_persist(struct call *call)
{
    struct key *key = call_key(call, call->argv[1]);
    bool had = key != NULL && key->ends_ms != KEY_NEVER;
    if (had) {
        call_set_lease(call, key, KEY_NEVER);
    }
    reply_integer(call->reply, had ? 1 : 0);
}

/* Replies with the rest of a lease, or with its end if `absolute`, rounded to units; -1 = no lease, -2 = no
 * key. */
static void left(struct call *call, int64_t unit_ms, bool absolute)
{
    const struct key *key = call_key(call, call->argv[1]);
    if (key == NULL || key->ends_ms == KEY_NEVER) {
        reply_integer(call->reply, key == NULL ? -2 : -1);
        return;
    }
    int64_t from = absolute || !call->server->timed ? 0 : call->now_ms;
    int64_t ms = key->ends_ms > from ? key->ends_ms - from : 0;
    reply_integer(call->reply, unit_ms == 1 ? ms : (int64_t)(((uint64_t)ms + 500) / (uint64_t)unit_ms));
}

static void keys_ttl(struct call *call)
{
    left(call, 1000, false);
}

static void keys_pttl(struct call *call)
{
    left(call, 1, false);
}

static void keys_expiretime(struct call *call)
{
    left(call, 1000, true);
}

static void keys_pexpiretime(struct call *call)
{
    left(call, 1, true);
}

static void keys_dbsize(struct call *call)
{
    reply_integer(call->reply, keys_count(&call->server->pack, call->database));
}

static void remove_all(struct call *call, int database)
{
    if (call->argc > 2 ||
        (call->argc == 2 && !call_is(call->argv[1], "async") && !call_is(call->argv[1], "sync"))) {
        call_syntax_error(call);
        return;
    }
    struct rec *rec = pack_first(&call->server->pack, SERVER_KEYS);
    while (rec != NULL) {
        struct key *key = (struct key *)(void *)rec;
        if (database < 0 || key->database == database) {
            call_remove(call, key, KEY_DELETED);
            rec = pack_first(&call->server->pack, SERVER_KEYS);
        } else {
            rec = pack_next(&call->server->pack, rec);
        }
    }
    reply_status(call->reply, "OK");
}

static void keys_flushdb(struct call *call)
{
    remove_all(call, call->database);
}

static void keys_flushall(struct call *call)
{
    remove_all(call, -1);
}

const struct command commands_keys[] = {
    {"exists", -2, 0, keys_exists},
    {"del", -2, COMMAND_WRITES, keys_del},
    {"unlink", -2, COMMAND_WRITES, keys_del},
    {"type", 2, 0, keys_type},
    {"expire", -3, COMMAND_WRITES, keys_expire},
    {"pexpire", -3, COMMAND_WRITES, keys_pexpire},
    {"expireat", -3, COMMAND_WRITES, keys_expireat},
    {"pexpireat", -3, COMMAND_WRITES, keys_pexpireat},
    {"persist", 2, COMMAND_WRITES, keys_persist},
    {"ttl", 2, 0, keys_ttl},
    {"pttl", 2, 0, keys_pttl},
    {"expiretime", 2, 0, keys_expiretime},
    {"pexpiretime", 2, 0, keys_pexpiretime},
    {"dbsize", 1, 0, keys_dbsize},
    {"flushdb", -1, COMMAND_WRITES, keys_flushdb},
    {"flushall", -1, COMMAND_WRITES, keys_flushall},
    {NULL, 0, 0, NULL},
};
