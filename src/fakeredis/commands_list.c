/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands for lists of texts. */
#include "fakeredis/command.h"

#include "base/assert.h"

static struct sequence changed;

static struct bytes value_of(const struct key *key)
{
    return key != NULL ? key_value(key) : (struct bytes){NULL, 0};
}

static void keep(struct bytes list, int first, int count)
{
    struct bytes text;
    int index = 0;
    LS_ASSERT(first >= 0 && count >= 0);
    for (size_t at = 0; sequence_next(list, &at, &text); index++) {
        if (index >= first && index < first + count) {
            sequence_add(&changed, text);
        }
    }
}

static bool element(struct bytes list, int64_t index, struct bytes *text)
{
    int64_t i = 0;
    for (size_t at = 0; sequence_next(list, &at, text); i++) {
        if (i == index) {
            return true;
        }
    }
    return false;
}

static void start_change(void)
{
    changed.used = 0;
    changed.full = false;
}

static void push(struct call *call, bool in_front)
{
    struct key *key;
    if (!call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        return;
    }
    struct bytes list = value_of(key);
    int count = sequence_count(list);
    start_change();
    for (int i = call->argc - 1; in_front && i >= 2; i--) {
        sequence_add(&changed, call->argv[i]);
    }
    keep(list, 0, count);
    for (int i = 2; !in_front && i < call->argc; i++) {
        sequence_add(&changed, call->argv[i]);
    }
    call_set_sequence(call, call->argv[1], KEY_LIST, &changed);
    reply_integer(call->reply, count + call->argc - 2);
}

static void list_lpush(struct call *call)
{
    push(call, true);
}

static void list_rpush(struct call *call)
{
    push(call, false);
}

static void pop(struct call *call, bool in_front)
{
    struct key *key;
    struct bytes text;
    int64_t wanted = 1;
    if (call->argc > 3) {
        call_arity_error(call);
        return;
    }
    if (call->argc == 3 && (!bytes_integer(call->argv[2], &wanted) || wanted < 0)) {
        reply_error(call->reply, "ERR value is out of range, must be positive");
        return;
    }
    if (!call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        return;
    }
    if (key == NULL) {
        (call->argc == 3 ? reply_nil_array : reply_nil)(call->reply);
        return;
    }
    struct bytes list = key_value(key);
    int count = sequence_count(list);
    int taken = wanted < count ? (int)wanted : count;
    if (call->argc == 3) {
        reply_array(call->reply, (uint32_t)taken);
    }
    for (int i = 0; i < taken; i++) {
        if (element(list, in_front ? i : count - 1 - i, &text)) {
            reply_bytes(call->reply, REPLY_BULK, text);
        }
    }
    start_change();
    keep(list, in_front ? taken : 0, count - taken);
    if (taken > 0) {
        call_set_sequence(call, call->argv[1], KEY_LIST, &changed);
    }
}

static void list_lpop(struct call *call)
{
    pop(call, true);
}

static void list_rpop(struct call *call)
{
    pop(call, false);
}

static void list_llen(struct call *call)
{
    struct key *key;
    if (call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        reply_integer(call->reply, sequence_count(value_of(key)));
    }
}

static void list_lindex(struct call *call)
{
    struct key *key;
    struct bytes text;
    int64_t index;
    if (!call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        return;
    }
    if (key == NULL) {
        reply_nil(call->reply);
        return;
    }
    if (!call_integer(call, call->argv[2], &index)) {
        return;
    }
    struct bytes list = key_value(key);
    if (element(list, index < 0 ? index + sequence_count(list) : index, &text)) {
        reply_bytes(call->reply, REPLY_BULK, text);
    } else {
        reply_nil(call->reply);
    }
}

static void list_lrange(struct call *call)
{
    struct key *key;
    struct bytes text;
    int64_t first, last;
    if (!call_integer(call, call->argv[2], &first) || !call_integer(call, call->argv[3], &last) ||
        !call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        return;
    }
    struct bytes list = value_of(key);
    int64_t count = sequence_count(list);
    first = first < 0 ? first + count : first;
    last = last < 0 ? last + count : last;
    first = first < 0 ? 0 : first;
    last = last >= count ? count - 1 : last;
    if (first > last) {
        reply_array(call->reply, 0);
        return;
    }
    LS_ASSERT(first >= 0 && last < count);
    reply_array(call->reply, (uint32_t)(last - first + 1));
    for (int64_t i = first; i <= last; i++) {
        if (element(list, i, &text)) {
            reply_bytes(call->reply, REPLY_BULK, text);
        }
    }
}

/* The number N removes the first N elements that equal the text, -N the last N of them, and 0 all of them. */
static void list_lrem(struct call *call)
{
    struct key *key;
    struct bytes text;
    int64_t wanted;
    if (!call_integer(call, call->argv[2], &wanted) ||
        !call_typed_key(call, call->argv[1], TYPES_LIST, &key)) {
        return;
    }
    struct bytes list = value_of(key);
    int equal = 0, removed = 0, seen = 0;
    for (size_t at = 0; sequence_next(list, &at, &text);) {
        equal += bytes_equal(text, call->argv[3]);
    }
    uint64_t size = wanted < 0 ? 0 - (uint64_t)wanted : (uint64_t)wanted;
    int most = wanted == 0 || size > (uint64_t)equal ? equal : (int)size;
    int first = wanted < 0 ? equal - most : 0;
    start_change();
    for (size_t at = 0; sequence_next(list, &at, &text);) {
        bool is = bytes_equal(text, call->argv[3]);
        bool goes = is && seen >= first && removed < most;
        seen += is;
        removed += goes;
        if (!goes) {
            sequence_add(&changed, text);
        }
    }
    LS_ASSERT(seen == equal && removed == most);
    if (removed > 0) {
        call_set_sequence(call, call->argv[1], KEY_LIST, &changed);
    }
    reply_integer(call->reply, removed);
}

const struct command commands_list[] = {
    {"lpush", -3, COMMAND_WRITES, list_lpush},
    {"rpush", -3, COMMAND_WRITES, list_rpush},
    {"lpop", -2, COMMAND_WRITES, list_lpop},
    {"rpop", -2, COMMAND_WRITES, list_rpop},
    {"llen", 2, 0, list_llen},
    {"lindex", 3, 0, list_lindex},
    {"lrange", 4, 0, list_lrange},
    {"lrem", 4, COMMAND_WRITES, list_lrem},
    {NULL, 0, 0, NULL},
};
