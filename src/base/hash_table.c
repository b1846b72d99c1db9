/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/hash_table.h"

#include "base/assert.h"
#include "base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096u

bool hash_table_open(struct hash_table *table)
{
    *table = (struct hash_table){.slots = SLOTS_FIRST};
    table->slot = calloc(table->slots, sizeof *table->slot);
    return table->slot != NULL;
}

void hash_table_close(struct hash_table *table)
{
    free(table->slot);
    *table = (struct hash_table){0};
}

static void put(struct hash_table *table, uint64_t hash, uint32_t number)
{
    uint32_t at = hash_table_home(table, hash);
    while (table->slot[at] != 0) {
        at = (at + 1) & (table->slots - 1);
    }
    table->slot[at] = (hash & 0xffffffff00000000u) | number;
    table->count++;
}

static bool grow(struct hash_table *table)
{
    struct hash_table more = {.slots = table->slots * 2};
    if (table->slots > UINT32_MAX / 2) {
        return false;
    }
    more.slot = calloc(more.slots, sizeof *more.slot);
    if (more.slot == NULL) {
        return false;
    }
    huge_pages(more.slot, hash_table_bytes(&more));
    for (uint32_t i = 0; i < table->slots; i++) {
        if (table->slot[i] != 0) {
            put(&more, table->slot[i], (uint32_t)table->slot[i]);
        }
    }
    LS_ASSERT(more.count == table->count);
    free(table->slot);
    *table = more;
    return true;
}

bool hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number)
{
    LS_ASSERT(number != 0);
    if (hash_table_is_full(table) && !grow(table)) {
        return false;
    }
    put(table, hash, number);
    return true;
}

void hash_table_clear(struct hash_table *table)
{
    struct hash_table first;
    if (hash_table_open(&first)) {
        free(table->slot);
        *table = first;
        return;
    }
    memset(table->slot, 0, table->slots * sizeof *table->slot);
    table->count = 0;
}
