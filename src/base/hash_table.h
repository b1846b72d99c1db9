/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Hash tables of 32-bit numbers other than 0. A number stands for a thing of the caller, such as an element
 * of an array. The caller computes the hash of a thing, and compares the thing with those whose numbers
 * hash_table_next() returns for that hash.
 *
 *     for (uint32_t at = 0, number; (number = hash_table_next(&table, hash, &at)) != 0;) {
 *         if (is_it(&thing[number])) {
 *             return number;
 *         }
 *     } */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing. The upper 32 bits of a slot are those of the hash, the lower 32 the number; 0 = free. */
struct hash_table {
    uint64_t *slot;
    uint32_t slots; /* a power of two */
    uint32_t count;
};

/* Returns false if memory is short; the table need not be closed then. */
bool hash_table_open(struct hash_table *table);

/* Frees a table, which may be all zeros. */
void hash_table_close(struct hash_table *table);

/* Adds a number that is not 0. Returns false if the table is full and cannot grow; it is unchanged then. */
bool hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number);

/* Removes all numbers. Makes the table as small as a new one if there is memory for that. */
void hash_table_clear(struct hash_table *table);

/* Returns the index of the first slot to look at, from the upper half of the hash. */
static inline uint32_t hash_table_home(const struct hash_table *table, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & (table->slots - 1);
}

/* Returns, call by call, the numbers whose hash has the same upper half, then 0. *at must be 0 at the first
 * call. */
static inline uint32_t hash_table_next(const struct hash_table *table, uint64_t hash, uint32_t *at)
{
    for (;;) {
        uint64_t slot = table->slot[(hash_table_home(table, hash) + *at) & (table->slots - 1)];
        if (slot == 0) {
            return 0;
        }
        ++*at;
        if ((slot ^ hash) >> 32 == 0) {
            return (uint32_t)slot;
        }
    }
}

/* Returns whether the next hash_table_add() has to make the table twice as large. */
static inline bool hash_table_is_full(const struct hash_table *table)
{
    return table->count >= table->slots / 4 * 3;
}

static inline void hash_table_prefetch(const struct hash_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slot[hash_table_home(table, hash)]);
}

static inline size_t hash_table_bytes(const struct hash_table *table)
{
    return table->slots * sizeof *table->slot;
}

#endif
