/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands for hashes: maps from fields to texts, in the order in which the fields came. */
#include "fakeredis/command.h"

#include <inttypes.h>
#include <stdio.h>

static struct sequence changed;

static struct bytes value_of(const struct key *key)
{
    return key != NULL ? key_value(key) : (struct bytes){NULL, 0};
}

static bool find_field(struct bytes hash, struct bytes field, struct bytes *value)
{
    struct bytes name;
    for (size_t at = 0; sequence_next(hash, &at, &name) && sequence_next(hash, &at, value);) {
        if (bytes_equal(name, field)) {
            return true;
        }
    }
    return false;
}

/* Writes the hash to `changed`, with the field set to *value; NULL = without the field. Returns whether the
 * hash had the field. */
static bool change(struct bytes hash, struct bytes field, const struct bytes *value)
{
    struct bytes name, old;
    bool had = false;
    changed.used = 0;
    changed.full = false;
    for (size_t at = 0; sequence_next(hash, &at, &name) && sequence_next(hash, &at, &old);) {
        bool is = bytes_equal(name, field);
        had = had || is;
        if (!is || value != NULL) {
            sequence_add(&changed, name);
            sequence_add(&changed, is ? *value : old);
        }
    }
    if (!had && value != NULL) {
        sequence_add(&changed, field);
        sequence_add(&changed, *value);
    }
    return had;
}

/* Returns whether the field is a new one. */
static bool set_field(struct call *call, struct bytes field, struct bytes value)
{
    struct key *key = keys_find(&call->server->pack, call->database, call->argv[1]);
    bool had = change(value_of(key), field, &value);
    call_set_sequence(call, call->argv[1], KEY_HASH, &changed);
    return !had;
}

/* Returns the number of new fields, or -1 after an error. */
static int set_fields(struct call *call)
{
    struct key *key;
    int count = 0;
    if (call->argc % 2 != 0) {
        call_arity_error(call);
        return -1;
    }
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return -1;
    }
    for (int i = 2; i < call->argc; i += 2) {
        count += set_field(call, call->argv[i], call->argv[i + 1]);
    }
    return count;
}

static void hash_hset(struct call *call)
{
    int count = set_fields(call);
    if (count >= 0) {
        reply_integer(call->reply, count);
    }
}

static void hash_hmset(struct call *call)
{
    if (set_fields(call) >= 0) {
        reply_status(call->reply, "OK");
    }
}

static void hash_hsetnx(struct call *call)
{
    struct key *key;
    struct bytes value;
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    bool had = find_field(value_of(key), call->argv[2], &value);
    if (!had) {
        set_field(call, call->argv[2], call->argv[3]);
    }
    reply_integer(call->reply, had ? 0 : 1);
}

static void hash_hdel(struct call *call)
{
    struct key *key;
    int count = 0;
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    for (int i = 2; i < call->argc && key != NULL; i++) {
        if (change(key_value(key), call->argv[i], NULL)) {
            call_set_sequence(call, call->argv[1], KEY_HASH, &changed);
            key = keys_find(&call->server->pack, call->database, call->argv[1]);
            count++;
        }
    }
    reply_integer(call->reply, count);
}

static void hash_hincrby(struct call *call)
{
    struct key *key;
    struct bytes old;
    int64_t by, number = 0;
    if (!call_integer(call, call->argv[3], &by) || !call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    if (find_field(value_of(key), call->argv[2], &old) && !bytes_integer(old, &number)) {
        reply_error(call->reply, "ERR hash value is not an integer");
        return;
    }
    if (__builtin_add_overflow(number, by, &number)) {
        reply_error(call->reply, "ERR increment or decrement would overflow");
        return;
    }
    char digits[KEY_DIGITS_MAX];
    int size = snprintf(digits, sizeof digits, "%" PRId64, number);
    set_field(call, call->argv[2], (struct bytes){digits, (size_t)size});
    reply_integer(call->reply, number);
}

static void hash_hget(struct call *call)
{
    struct key *key;
    struct bytes value;
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    if (find_field(value_of(key), call->argv[2], &value)) {
        reply_bytes(call->reply, REPLY_BULK, value);
    } else {
        reply_nil(call->reply);
    }
}

static void hash_hmget(struct call *call)
{
    struct key *key;
    struct bytes value;
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    reply_array(call->reply, (uint32_t)call->argc - 2);
    for (int i = 2; i < call->argc; i++) {
        if (find_field(value_of(key), call->argv[i], &value)) {
            reply_bytes(call->reply, REPLY_BULK, value);
        } else {
            reply_nil(call->reply);
        }
    }
}

static void hash_hexists(struct call *call)
{
    struct key *key;
    struct bytes value;
    if (call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        reply_integer(call->reply, find_field(value_of(key), call->argv[2], &value) ? 1 : 0);
    }
}

static void hash_hlen(struct call *call)
{
    struct key *key;
    if (call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        reply_integer(call->reply, sequence_count(value_of(key)) / 2);
    }
}

static void show(struct call *call, bool fields, bool values)
{
    struct key *key;
    struct bytes field, value;
    if (!call_typed_key(call, call->argv[1], TYPES_HASH, &key)) {
        return;
    }
    struct bytes hash = value_of(key);
    reply_array(call->reply, (uint32_t)sequence_count(hash) / (fields && values ? 1 : 2));
    for (size_t at = 0; sequence_next(hash, &at, &field) && sequence_next(hash, &at, &value);) {
        if (fields) {
            reply_bytes(call->reply, REPLY_BULK, field);
        }
        if (values) {
            reply_bytes(call->reply, REPLY_BULK, value);
        }
    }
}

static void hash_hgetall(struct call *call)
{
    show(call, true, true);
}

static void hash_hkeys(struct call *call)
{
    show(call, true, false);
}

static void hash_hvals(struct call *call)
{
    show(call, false, true);
}

const struct command commands_hash[] = {
    {"hset", -4, COMMAND_WRITES, hash_hset},
    {"hmset", -4, COMMAND_WRITES, hash_hmset},
    {"hsetnx", 4, COMMAND_WRITES, hash_hsetnx},
    {"hdel", -3, COMMAND_WRITES, hash_hdel},
    {"hincrby", 4, COMMAND_WRITES, hash_hincrby},
    {"hget", 3, 0, hash_hget},
    {"hmget", -3, 0, hash_hmget},
    {"hexists", 3, 0, hash_hexists},
    {"hlen", 2, 0, hash_hlen},
    {"hgetall", 2, 0, hash_hgetall},
    {"hkeys", 2, 0, hash_hkeys},
    {"hvals", 2, 0, hash_hvals},
    {NULL, 0, 0, NULL},
};
