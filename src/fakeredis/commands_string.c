/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands for texts and numbers: SET with its options, GET, and counters. */
#include "fakeredis/backlog.h"
#include "fakeredis/command.h"

#include <string.h>

enum { SET_NX = 1, SET_XX = 2, SET_GET = 4, SET_KEEP = 8, SET_LEASE = 16 };

struct set {
    unsigned options;
    struct bytes lease; /* with SET_LEASE */
    int64_t unit_ms;
    bool absolute;
};

static bool read_unit(struct bytes word, struct set *set)
{
    static const struct {
        const char *word;
        int64_t unit_ms;
        bool absolute;
    } units[] = {{"ex", 1000, false}, {"px", 1, false}, {"exat", 1000, true}, {"pxat", 1, true}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (call_is(word, units[i].word)) {
            set->unit_ms = units[i].unit_ms;
            set->absolute = units[i].absolute;
            return true;
        }
    }
    return false;
}

static bool read_set(struct call *call, struct set *set)
{
    *set = (struct set){.options = 0};
    for (int i = 3; i < call->argc; i++) {
        struct bytes word = call->argv[i];
        if (call_is(word, "nx") && (set->options & SET_XX) == 0) {
            set->options |= SET_NX;
        } else if (call_is(word, "xx") && (set->options & SET_NX) == 0) {
            set->options |= SET_XX;
        } else if (call_is(word, "get")) {
            set->options |= SET_GET;
        } else if (call_is(word, "keepttl") && (set->options & SET_LEASE) == 0) {
            set->options |= SET_KEEP;
        } else if ((set->options & (SET_KEEP | SET_LEASE)) == 0 && i + 1 < call->argc &&
                   read_unit(word, set)) {
            set->options |= SET_LEASE;
            set->lease = call->argv[++i];
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    return true;
}

static void reply_value(struct call *call, const struct key *key)
{
    char digits[KEY_DIGITS_MAX];
    if (key == NULL) {
        reply_nil(call->reply);
    } else {
        reply_bytes(call->reply, REPLY_BULK, key_text(key, digits));
    }
}

/* Sets a text and its lease; `ends_ms` KEY_NEVER = no lease, or the key's old lease if `keep`. */
static void set_with_lease(struct call *call, struct bytes name, struct bytes text, int64_t ends_ms,
                           bool keep)
{
    struct key *key = keys_find(&call->server->pack, call->database, name);
    if (key != NULL && !keep) {
        backlog_note(call, call->database, name);
        keys_set_lease(&call->server->pack, key, KEY_NEVER);
    }
    call_set_text(call, name, text);
    key = keys_find(&call->server->pack, call->database, name);
    if (key != NULL && ends_ms != KEY_NEVER) {
        call_set_lease(call, key, ends_ms);
    }
}

static void text_set(struct call *call)
{
    struct set set;
    struct key *key;
    int64_t ends_ms = KEY_NEVER;
    if (!read_set(call, &set) || ((set.options & SET_LEASE) != 0 &&
                                  !call_lease(call, set.lease, set.unit_ms, set.absolute, &ends_ms))) {
        return;
    }
    bool get = (set.options & SET_GET) != 0;
    if (get && !call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        return;
    }
    key = call_key(call, call->argv[1]);
    if (get) {
        reply_value(call, key);
    }
    if ((set.options & (key != NULL ? SET_NX : SET_XX)) != 0) {
        if (!get) {
            reply_nil(call->reply);
        }
        return;
    }
    set_with_lease(call, call->argv[1], call->argv[2], ends_ms, (set.options & SET_KEEP) != 0);
    if (!get) {
        reply_status(call->reply, "OK");
    }
}

static void text_setnx(struct call *call)
{
    bool free = call_key(call, call->argv[1]) == NULL;
    if (free) {
        set_with_lease(call, call->argv[1], call->argv[2], KEY_NEVER, false);
    }
    reply_integer(call->reply, free ? 1 : 0);
}

static void set_for(struct call *call, int64_t unit_ms)
{
    int64_t ends_ms;
    if (call_lease(call, call->argv[2], unit_ms, false, &ends_ms)) {
        call_key(call, call->argv[1]);
        set_with_lease(call, call->argv[1], call->argv[3], ends_ms, false);
        reply_status(call->reply, "OK");
    }
}

static void text_setex(struct call *call)
{
    set_for(call, 1000);
}

static void text_psetex(struct call *call)
{
    set_for(call, 1);
}

static void text_get(struct call *call)
{
    struct key *key;
    if (call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        reply_value(call, key);
    }
}

static void text_getset(struct call *call)
{
    struct key *key;
    if (call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        reply_value(call, key);
        set_with_lease(call, call->argv[1], call->argv[2], KEY_NEVER, false);
    }
}

static void text_getdel(struct call *call)
{
    struct key *key;
    if (call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        reply_value(call, key);
        if (key != NULL) {
            call_remove(call, key, KEY_DELETED);
        }
    }
}

static void text_strlen(struct call *call)
{
    struct key *key;
    char digits[KEY_DIGITS_MAX];
    if (call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        reply_integer(call->reply, key != NULL ? (int64_t)key_text(key, digits).size : 0);
    }
}

static void text_append(struct call *call)
{
    static char joined[KEY_VALUE_MAX];
    struct key *key;
    char digits[KEY_DIGITS_MAX];
    if (!call_typed_key(call, call->argv[1], TYPES_TEXT, &key)) {
        return;
    }
    struct bytes old = key != NULL ? key_text(key, digits) : (struct bytes){NULL, 0};
    struct bytes more = call->argv[2];
    if (old.size + more.size > sizeof joined) {
        call->no_room = true;
        return;
    }
    if (old.size > 0) {
        memcpy(joined, old.at, old.size);
    }
    if (more.size > 0) {
        memcpy(joined + old.size, more.at, more.size);
    }
    struct bytes all = {joined, old.size + more.size};
    call_set_text(call, call->argv[1], all);
    reply_integer(call->reply, (int64_t)all.size);
}

static void add(struct call *call, int64_t by)
{
    struct key *key;
    char digits[KEY_DIGITS_MAX];
    int64_t number = 0;
    if (!call_typed_key(call, call->argv[1], TYPES_TEXT, &key) ||
        (key != NULL && !call_integer(call, key_text(key, digits), &number))) {
        return;
    }
    if (__builtin_add_overflow(number, by, &number)) {
        reply_error(call->reply, "ERR increment or decrement would overflow");
        return;
    }
    call_set_number(call, call->argv[1], number);
    reply_integer(call->reply, number);
}

static void text_incr(struct call *call)
{
    add(call, 1);
}

static void text_decr(struct call *call)
{
    add(call, -1);
}

static void text_incrby(struct call *call)
{
    int64_t by;
    if (call_integer(call, call->argv[2], &by)) {
        add(call, by);
    }
}

static void text_decrby(struct call *call)
{
    int64_t by;
    if (!call_integer(call, call->argv[2], &by)) {
        return;
    }
    if (by == INT64_MIN) {
        reply_error(call->reply, "ERR decrement would overflow");
        return;
    }
    add(call, -by);
}

const struct command commands_text[] = {
    {"set", -3, COMMAND_WRITES, text_set},
    {"setnx", 3, COMMAND_WRITES, text_setnx},
    {"setex", 4, COMMAND_WRITES, text_setex},
    {"psetex", 4, COMMAND_WRITES, text_psetex},
    {"get", 2, 0, text_get},
    {"getset", 3, COMMAND_WRITES, text_getset},
    {"getdel", 2, COMMAND_WRITES, text_getdel},
    {"strlen", 2, 0, text_strlen},
    {"append", 3, COMMAND_WRITES, text_append},
    {"incr", 2, COMMAND_WRITES, text_incr},
    {"decr", 2, COMMAND_WRITES, text_decr},
    {"incrby", 3, COMMAND_WRITES, text_incrby},
    {"decrby", 3, COMMAND_WRITES, text_decrby},
    {NULL, 0, 0, NULL},
};
