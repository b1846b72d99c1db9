/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Records of different sizes, packed behind the fixed part of an arena block and grouped by list. The bytes
 * depend on the contents of the lists alone, not on the history that led to them. Inserting and removing move
 * all bytes behind the record: pointers to records are invalid afterwards. */
#ifndef BASE_PACKED_RECORDS_H
#define BASE_PACKED_RECORDS_H

#include "base/arena.h"

#include <stdint.h>

/* The head of every record. */
struct rec {
    uint16_t size; /* bytes, this head included; a multiple of 8 */
    uint8_t list;  /* the list's number; the lists of a pack lie in ascending order */
    uint8_t tag;   /* free for the owner */
    uint32_t word; /* free for the owner */
};

#define PACK_LISTS_MAX 8

/* The last member of a block's fixed part: the end of each list, in bytes from the first record. It follows
 * from the records alone. */
struct pack_table {
    uint16_t end[PACK_LISTS_MAX];
};

/* The place of the records: from `records` to the end of the live bytes. The table lies right before. */
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

/* Returns the record after this one in the same list, or NULL. */
static inline struct rec *pack_next(const struct pack *pack, const struct rec *rec)
{
    unsigned char *at = (unsigned char *)(uintptr_t)rec + rec->size;
    return at < pack->records + pack_table(pack)->end[rec->list] ? (struct rec *)(void *)at : NULL;
}

/* Adds a zeroed record of `size` bytes at the end of its list; NULL if the block is full. Marks the block. */
struct rec *pack_append(const struct pack *pack, int list, size_t size);

/* Adds a record before `before`, or at the end of the list if that is NULL. Else as pack_append(). */
struct rec *pack_insert(const struct pack *pack, int list, struct rec *before, size_t size);

/* Copies to a record the contents of another record of its size: the tag and all bytes behind the head. */
void pack_fill(struct rec *to, const struct rec *from);

/* Removes a record. Marks the block. */
void pack_remove(const struct pack *pack, struct rec *rec);

/* Removes all records of a list. */
void pack_clear(const struct pack *pack, int list);

/* Returns the number of records in a list. */
int pack_count(const struct pack *pack, int list);

#endif
