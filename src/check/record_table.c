/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "check/state.h"
#include <string.h>

static uint32_t key_of(enum record_kind kind, int lock, int process, int owner)
{
    LS_ASSERT(kind > RECORD_NONE && kind < RECORD_KINDS);
    LS_ASSERT((unsigned)(lock | process | owner) <= UINT8_MAX);
    return (uint32_t)kind << 24 | (uint32_t)(lock & 255) << 16 | (uint32_t)(process & 255) << 8 |
           (uint32_t)(owner & 255);
}

/* Returns key_of() of a record: its first four bytes, the first of them highest. */
static uint32_t key(const struct check_record *record)
{
    uint32_t bytes;
    memcpy(&bytes, record, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bytes = __builtin_bswap32(bytes);
#endif
    return bytes;
}
_Static_assert(offsetof(struct check_record, kind) == 0 && offsetof(struct check_record, lock) == 1 &&
                   offsetof(struct check_record, process) == 2 && offsetof(struct check_record, owner) == 3,
               "the first four bytes of a record are its key");

static bool has_kind(const struct check_table *table, enum record_kind kind)
{
    return (table->kinds >> kind & 1) != 0;
}

static bool is_before(const struct check_record *record, uint32_t wanted, int64_t a)
{
    uint32_t found = key(record);
    return (found < wanted) | ((found == wanted) & (record->a < a));
}

/* Returns the index of the first record that is not before (wanted, a); `used` if there is none. */
static uint32_t lower_bound(const struct check_table *table, uint32_t wanted, int64_t a)
{
    uint32_t low = 0;
    for (uint32_t left = table->used; left > 0;) {
        uint32_t half = (left + 1) / 2;
        low += is_before(&table->record[low + half - 1], wanted, a) ? half : 0;
        left -= half;
    }
    return low;
}

struct check_record *table_get(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner)
{
    uint32_t wanted = key_of(kind, lock, process, owner);
    if (!has_kind(table, kind))
        return NULL;
    uint32_t index = lower_bound(table, wanted, INT64_MIN);
    return index < table->used && key(&table->record[index]) == wanted ? &table->record[index] : NULL;
}

struct check_record *table_get_exact(struct check_table *table, enum record_kind kind, int lock, int process,
                                     int owner, int64_t a)
{
    uint32_t wanted = key_of(kind, lock, process, owner);
    if (!has_kind(table, kind))
        return NULL;
    uint32_t index = lower_bound(table, wanted, a);
    if (index == table->used || key(&table->record[index]) != wanted || table->record[index].a != a)
        return NULL;
    return &table->record[index];
}

struct check_record *table_put(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner, int64_t a, int64_t b)
{
    static _Thread_local struct check_record scratch;
    struct check_record *record = table_get_exact(table, kind, lock, process, owner, a);
    if (record)
        return record;
    if (table->used == table->capacity) {
        table->full = 1;
        memset(&scratch, 0, sizeof scratch);
        return &scratch;
    }
    uint32_t index = lower_bound(table, key_of(kind, lock, process, owner), a);
    record = &table->record[index];
    memmove(record + 1, record, (table->used - index) * sizeof *record);
    memset(record, 0, sizeof *record);
    record->kind = (uint8_t)kind;
    record->lock = (uint8_t)lock;
    record->process = (uint8_t)process;
    record->owner = (uint8_t)owner;
    record->a = a;
    record->b = b;
    table->kinds |= UINT64_C(1) << kind;
    table->used++;
    LS_ASSERT(table->used <= table->capacity);
    LS_ASSERT(record == table->record || is_before(record - 1, key(record), a));
    LS_ASSERT(record + 1 == table->record + table->used || !is_before(record + 1, key(record), a));
    return record;
}

static bool is_only_one(const struct check_table *table, const struct check_record *record)
{
    LS_ASSERT(table->used > 0 && record->kind > RECORD_NONE);
    const struct check_record *first = table->record, *last = first + table->used - 1;
    return (record == first || record[-1].kind != record->kind) &&
           (record == last || record[1].kind != record->kind);
}

bool table_is_alone(const struct check_table *table, const struct check_record *record)
{
    const struct check_record *first = table->record, *end = first + table->used;
    if (record < first || record >= end)
        return true;
    return (record == first || key(record - 1) != key(record)) &&
           (record + 1 == end || key(record + 1) != key(record));
}

void table_drop(struct check_table *table, struct check_record *record)
{
    if (!record || record < table->record || record >= table->record + table->used)
        return; /* NULL, or the scratch record of a full table */
    struct check_record *end = table->record + table->used;
    LS_ASSERT(has_kind(table, record->kind));
    LS_ASSERT((size_t)((char *)end - (char *)record) % sizeof *record == 0);
    if (is_only_one(table, record))
        table->kinds &= ~(UINT64_C(1) << record->kind);
    memmove(record, record + 1, (size_t)((char *)end - (char *)(record + 1)));
    memset(end - 1, 0, sizeof *record); /* dead bytes are zero */
    table->used--;
    LS_ASSERT((table->used == 0) == (table->kinds == 0));
}

static void drop_matching(struct check_table *table, enum record_kind kind, int lock, int process)
{
    if (!has_kind(table, kind))
        return;
    uint32_t index = lower_bound(table, key_of(kind, lock < 0 ? 0 : lock, 0, 0), INT64_MIN);
    uint32_t first = index, used = table->used;
    for (uint32_t seen = 0; index < table->used && table->record[index].kind == kind; seen++) {
        struct check_record *record = &table->record[index];
        LS_ASSERT(index - first + used - table->used == seen);
        if (record->process == process && (lock < 0 || record->lock == lock))
            table_drop(table, record);
        else
            index++;
    }
}

void table_drop_all(struct check_table *table, enum record_kind kind)
{
    struct check_record *record;
    while ((record = table_first(table, kind)) != NULL)
        table_drop(table, record);
    LS_ASSERT(!has_kind(table, kind));
}

void table_drop_process(struct check_table *table, enum record_kind kind, int process)
{
    drop_matching(table, kind, -1, process);
}

void table_drop_lock(struct check_table *table, enum record_kind kind, int lock, int process)
{
    drop_matching(table, kind, lock, process);
}

struct check_record *table_first(struct check_table *table, enum record_kind kind)
{
    if (!has_kind(table, kind))
        return NULL;
    uint32_t index = lower_bound(table, key_of(kind, 0, 0, 0), INT64_MIN);
    LS_ASSERT(index < table->used && table->record[index].kind == kind);
    return index < table->used && table->record[index].kind == kind ? &table->record[index] : NULL;
}

struct check_record *table_next(struct check_table *table, struct check_record *record)
{
    struct check_record *next = record + 1;
    return next < table->record + table->used && next->kind == record->kind ? next : NULL;
}

struct check_record *table_first_lock(struct check_table *table, enum record_kind kind, int lock)
{
    if (!has_kind(table, kind))
        return NULL;
    uint32_t index = lower_bound(table, key_of(kind, lock, 0, 0), INT64_MIN);
    if (index == table->used || table->record[index].kind != kind || table->record[index].lock != lock)
        return NULL;
    return &table->record[index];
}

struct check_record *table_next_lock(struct check_table *table, struct check_record *record)
{
    struct check_record *next = table_next(table, record);
    LS_ASSERT(!next || next->lock >= record->lock);
    return next && next->lock == record->lock ? next : NULL;
}
