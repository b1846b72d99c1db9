/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Lists of records of different sizes, packed behind the fixed part of an arena block. The bytes follow from
 * the records and their order alone, not from former inserts and removals. If a record is inserted or
 * removed, the records behind it move, and pointers to them become invalid. */
#ifndef BASE_PACKED_RECORDS_H
#define BASE_PACKED_RECORDS_H

#include "base/arena.h"

#include <stdint.h>

struct rec {
    uint16_t size; /* bytes, this head included; a multiple of 8 */
    uint8_t list;  /* the list's number; the lists of a pack lie in ascending order */
    uint8_t tag;   /* free for the owner, as `word` is */
    uint32_t word;
};

#define PACK_LISTS_MAX 8

/* The last member of a block's fixed part: the end of each list, in bytes from the first record. */
struct pack_table {
    uint16_t end[PACK_LISTS_MAX];
};

/* The records lie from `records` to the end of the block's live bytes. The table lies right before them. */
struct pack {
    struct arena *arena;
    int block;
    unsigned char *records; /* in the block, aligned to 8 */
};

static inline struct pack_table *pack_table(const struct pack *pack)
{
    return (struct pack_table *)(void *)pack->records - 1;
}

/* Returns the first record of a list, or NULL. */
static inline struct rec *pack_first(const struct pack *pack, int list)
{
    const struct pack_table *table = pack_table(pack);
    uint32_t at = list > 0 ? table->end[list - 1] : 0;
    return at < table->end[list] ? (struct rec *)(void *)(pack->records + at) : NULL;
}

/* Returns the next record of the same list, or NULL. */
static inline struct rec *pack_next(const struct pack *pack, const struct rec *rec)
{
    unsigned char *at = (unsigned char *)(uintptr_t)rec + rec->size;
    return at < pack->records + pack_table(pack)->end[rec->list] ? (struct rec *)(void *)at : NULL;
}

/* Adds a record at the end of a list, and zeroes its bytes other than `size` and `list`. Rounds `size` up to
 * a multiple of 8 bytes. Marks the block. Returns NULL if the record does not fit into the block, or if the
 * block would have more than 65,535 live bytes. */
struct rec *pack_append(const struct pack *pack, int list, size_t size);

/* Does pack_append(), but adds the record before `before`; NULL = at the end of the list. */
struct rec *pack_insert(const struct pack *pack, int list, struct rec *before, size_t size);

/* Copies the tag and all bytes behind the head, but not `word`. Both records must have the same size. */
void pack_fill(struct rec *to, const struct rec *from);

/* pack_remove() removes a record, pack_clear() all records of a list. Both mark the block if they remove a
 * record. */
void pack_remove(const struct pack *pack, struct rec *rec);
void pack_clear(const struct pack *pack, int list);

int pack_count(const struct pack *pack, int list);

#endif
