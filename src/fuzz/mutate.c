/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fuzz/mutate.h"

#include "base/assert.h"

#include <string.h>

#define STACK_LOG2 3    /* log2 of the limit of mutations of one input */
#define HEADER_ONE_IN 5 /* one mutation in so many is of the header */
#define BLOCK_MAX 16    /* limit of decisions that are repeated or copied at once */
#define MOVE_MAX 8      /* limit of decisions that a fault is moved over */

struct list {
    uint8_t *bytes; /* header, then decisions */
    size_t size, max;
};

/* ---- places ---- */

static size_t end_of(const uint8_t *bytes, size_t size, size_t at)
{
    LS_ASSERT(at < size);
    size_t end = at + fuzz_decision_size(bytes[at]);
    return end < size ? end : size;
}

size_t fuzz_decisions(const uint8_t *in, size_t size)
{
    size_t count = 0;
    for (size_t at = FUZZ_HEADER; at < size; at = end_of(in, size, at)) {
        count++;
    }
    return count;
}

/* Returns the offset of the index-th decision; `size` behind the last. */
static size_t place(const uint8_t *bytes, size_t size, size_t index)
{
    size_t at = FUZZ_HEADER;
    while (index-- > 0 && at < size) {
        at = end_of(bytes, size, at);
    }
    return at < size ? at : size;
}

static size_t any(struct rng *rng, size_t below)
{
    return below > 0 ? rng_below(rng, (uint32_t)below) : 0;
}

/* ---- on lists ---- */

static void cut_out(struct list *list, size_t from, size_t to)
{
    LS_ASSERT(from <= to && to <= list->size);
    memmove(list->bytes + from, list->bytes + to, list->size - to);
    list->size -= to - from;
}

static void put_in(struct list *list, size_t at, const uint8_t *bytes, size_t size)
{
    LS_ASSERT(at <= list->size && list->size <= list->max);
    if (size <= list->max - list->size) {
        memmove(list->bytes + at + size, list->bytes + at, list->size - at);
        memcpy(list->bytes + at, bytes, size);
        list->size += size;
    }
}

static size_t draw_decision(struct rng *rng, uint8_t out[2])
{
    unsigned what = rng_below(rng, 3) > 0 ? rng_below(rng, FUZZ_LOSS) : rng_below(rng, FUZZ_WHATS);
    out[0] = (uint8_t)(what << 4 | rng_below(rng, 16));
    out[1] = (uint8_t)rng_below(rng, 256);
    return fuzz_decision_size(out[0]);
}

static void insert(struct list *list, struct rng *rng)
{
    uint8_t decision[2];
    size_t size = draw_decision(rng, decision), count = fuzz_decisions(list->bytes, list->size);
    put_in(list, place(list->bytes, list->size, any(rng, count + 1)), decision, size);
}

static void leave_out(struct list *list, struct rng *rng)
{
    size_t count = fuzz_decisions(list->bytes, list->size), first = any(rng, count);
    size_t much = 1 + any(rng, BLOCK_MAX / 4);
    cut_out(list, place(list->bytes, list->size, first), place(list->bytes, list->size, first + much));
}

static void repeat(struct list *list, struct rng *rng)
{
    uint8_t block[BLOCK_MAX * 2];
    size_t count = fuzz_decisions(list->bytes, list->size), first = any(rng, count);
    size_t from = place(list->bytes, list->size, first);
    size_t to = place(list->bytes, list->size, first + 1 + any(rng, BLOCK_MAX - 1));
    LS_ASSERT(from <= to && to - from <= sizeof block);
    memcpy(block, list->bytes + from, to - from);
    put_in(list, place(list->bytes, list->size, any(rng, count + 1)), block, to - from);
}

static void move(struct list *list, size_t index, size_t to)
{
    uint8_t decision[2];
    size_t from = place(list->bytes, list->size, index), end = place(list->bytes, list->size, index + 1);
    LS_ASSERT(end >= from && end - from <= sizeof decision);
    memcpy(decision, list->bytes + from, end - from);
    cut_out(list, from, end);
    put_in(list, place(list->bytes, list->size, to), decision, end - from);
}

static void swap(struct list *list, struct rng *rng)
{
    size_t count = fuzz_decisions(list->bytes, list->size);
    if (count >= 2) {
        size_t index = any(rng, count - 1);
        move(list, index, index + 1);
    }
}

/* Returns the index of a random fault, or `count` if there is none. */
static size_t any_fault(const struct list *list, struct rng *rng, size_t count)
{
    size_t chosen = count, seen = 0, index = 0;
    for (size_t at = FUZZ_HEADER; at < list->size; at = end_of(list->bytes, list->size, at), index++) {
        if (fuzz_what(list->bytes[at]) >= FUZZ_LOSS && rng_below(rng, (uint32_t)++seen) == 0) {
            chosen = index;
        }
    }
    LS_ASSERT(chosen <= count && index == count);
    return chosen;
}

static void move_fault(struct list *list, struct rng *rng)
{
    size_t count = fuzz_decisions(list->bytes, list->size), index = any_fault(list, rng, count);
    size_t far = 1 + any(rng, MOVE_MAX);
    if (index == count) {
        insert(list, rng);
    } else if (rng_below(rng, 2) == 0) {
        move(list, index, index > far ? index - far : 0);
    } else {
        move(list, index, index + far);
    }
}

/* Changes the low four bits of a decision, or its second byte. */
static void change(struct list *list, struct rng *rng)
{
    size_t count = fuzz_decisions(list->bytes, list->size);
    size_t at = place(list->bytes, list->size, any(rng, count));
    if (at < list->size) {
        bool parameters =
            at + 1 < list->size && fuzz_decision_size(list->bytes[at]) == 2 && rng_below(rng, 2) == 0;
        if (parameters) {
            list->bytes[at + 1] = (uint8_t)rng_below(rng, 256);
        } else {
            list->bytes[at] = (uint8_t)((list->bytes[at] & 0xf0) | rng_below(rng, 16));
        }
    }
}

/* At a random index, inserts decisions that the other input has from that index on, BLOCK_MAX at most. Or
 * replaces all further decisions by those of the other input. */
static void take_from(struct list *list, struct rng *rng, const uint8_t *other, size_t other_size)
{
    size_t count = fuzz_decisions(list->bytes, list->size), index = any(rng, count + 1);
    size_t from = place(other, other_size, index), at = place(list->bytes, list->size, index);
    if (rng_below(rng, 2) == 0) {
        size_t to = place(other, other_size, index + 1 + any(rng, BLOCK_MAX));
        put_in(list, at, other + from, to - from);
    } else {
        size_t much = other_size - from;
        list->size = at;
        put_in(list, at, other + from, much < list->max - at ? much : list->max - at);
    }
}

static void change_header(struct list *list, struct rng *rng)
{
    uint8_t *byte = &list->bytes[rng_below(rng, FUZZ_HEADER)];
    switch (rng_below(rng, 3)) {
    case 0:
        *byte = (uint8_t)rng_below(rng, 256);
        break;
    case 1:
        *byte = (uint8_t)(*byte + 1);
        break;
    default:
        *byte ^= (uint8_t)(1u << rng_below(rng, 8));
        break;
    }
}

static void mutate_once(struct list *list, struct rng *rng, const uint8_t *other, size_t other_size)
{
    static void (*const kinds[])(struct list * list, struct rng * rng) = {
        insert, insert, leave_out, repeat, swap, move_fault, change, change};
    uint32_t count = sizeof kinds / sizeof kinds[0];
    if (rng_below(rng, HEADER_ONE_IN) == 0) {
        change_header(list, rng);
        return;
    }
    uint32_t kind = rng_below(rng, count + 1);
    if (kind < count) {
        kinds[kind](list, rng);
    } else if (other_size > FUZZ_HEADER) {
        take_from(list, rng, other, other_size);
    }
}

size_t fuzz_mutate(struct rng *rng, const uint8_t *in, size_t size, const uint8_t *other, size_t other_size,
                   uint8_t *out, size_t max)
{
    struct list list = {.bytes = out, .size = size < max ? size : max, .max = max};
    memcpy(out, in, list.size);
    if (list.size < FUZZ_HEADER) {
        memset(out + list.size, 0, FUZZ_HEADER - list.size);
        list.size = FUZZ_HEADER;
    }
    for (uint32_t i = 1u << rng_below(rng, STACK_LOG2 + 1); i > 0; i--) {
        mutate_once(&list, rng, other, other_size);
    }
    return list.size;
}

size_t fuzz_without(const uint8_t *in, size_t size, size_t first, size_t count, uint8_t *out)
{
    struct list list = {.bytes = out, .size = size, .max = size};
    memcpy(out, in, size);
    if (size > FUZZ_HEADER) {
        cut_out(&list, place(in, size, first), place(in, size, first + count));
    }
    return list.size;
}
