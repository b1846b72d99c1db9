/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/packed_records.h"

#include "base/assert.h"

#include <string.h>

static uint32_t used(const struct pack *pack)
{
    return ((struct arena_block *)arena_at(pack->arena, pack->block))->used;
}

/* Moves the ends of a list and of the lists behind it by `by` bytes. The loop has a constant number of
 * rounds, for speed. */
static void shift(const struct pack *pack, int list, int by)
{
    struct pack_table *table = pack_table(pack);
    for (int i = 0; i < PACK_LISTS_MAX; i++) {
        table->end[i] = (uint16_t)(table->end[i] + (i >= list ? by : 0));
    }
}

struct rec *pack_insert(const struct pack *pack, int list, struct rec *before, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    LS_ASSERT(size >= sizeof(struct rec) && size <= UINT16_MAX && list < PACK_LISTS_MAX);
    LS_ASSERT(before == NULL || before->list == list);
    unsigned char *at =
        before != NULL ? (unsigned char *)before : pack->records + pack_table(pack)->end[list];
    uint32_t live = used(pack);
    size_t behind = (size_t)((unsigned char *)arena_at(pack->arena, pack->block) + live - at);
    arena_mark(pack->arena, pack->block);
    if (live + size > UINT16_MAX || !arena_resize(pack->arena, pack->block, live + size)) {
        return NULL;
    }
    memmove(at + size, at, behind);
    memset(at, 0, size);
    shift(pack, list, (int)size);
    LS_ASSERT(pack->records + pack_table(pack)->end[PACK_LISTS_MAX - 1] == at + size + behind);
    struct rec *rec = (struct rec *)(void *)at;
    rec->size = (uint16_t)size;
    rec->list = (uint8_t)list;
    return rec;
}

struct rec *pack_append(const struct pack *pack, int list, size_t size)
{
    return pack_insert(pack, list, NULL, size);
}

void pack_fill(struct rec *to, const struct rec *from)
{
    LS_ASSERT(to->size == from->size);
    memcpy(to + 1, from + 1, from->size - sizeof *from);
    to->tag = from->tag;
}

void pack_remove(const struct pack *pack, struct rec *rec)
{
    size_t size = rec->size;
    int list = rec->list;
    unsigned char *at = (unsigned char *)rec;
    uint32_t live = used(pack);
    size_t behind = (size_t)((unsigned char *)arena_at(pack->arena, pack->block) + live - at) - size;
    LS_ASSERT(at + size <= pack->records + pack_table(pack)->end[list]);
    LS_ASSERT(list < PACK_LISTS_MAX && size >= sizeof *rec && size % 8 == 0);
    arena_mark(pack->arena, pack->block);
    memmove(at, at + size, behind);
    shift(pack, list, -(int)size);
    LS_ASSERT(pack->records + pack_table(pack)->end[PACK_LISTS_MAX - 1] == at + behind);
    arena_resize(pack->arena, pack->block, live - size);
}

void pack_clear(const struct pack *pack, int list)
{
    struct rec *rec;
    while ((rec = pack_first(pack, list)) != NULL) {
        pack_remove(pack, rec);
    }
}

int pack_count(const struct pack *pack, int list)
{
    int n = 0;
    for (struct rec *rec = pack_first(pack, list); rec != NULL; rec = pack_next(pack, rec)) {
        n++;
    }
    return n;
}
