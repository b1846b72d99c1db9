/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The heap of one process: first fit. Freed memory is zeroed, and merged with its free neighbours. */
#include "base/assert.h"
#include "sim/world.h"

#include <string.h>

struct chunk {
    uint32_t size;  /* bytes, with this head; a multiple of 8 */
    uint32_t owner; /* enum heap_owner */
};

struct heap {
    struct arena_block head;
    uint32_t start; /* offset of the first chunk, behind the recipe's state */
    uint32_t reserved;
};

static struct heap *heap_at(int p)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    arena_read(&the_world.arena, the_world.heap_block[p]);
    return arena_at(&the_world.arena, the_world.heap_block[p]);
}

void *process_state(int p)
{
    struct heap *heap = heap_at(p);
    return the_world.zoned ? (unsigned char *)heap + zones_state() : (unsigned char *)(heap + 1);
}

bool heap_clear(int p, size_t state_size)
{
    if (the_world.zoned) {
        return zones_clear(p, state_size);
    }
    arena_mark(&the_world.arena, the_world.heap_block[p]);
    arena_resize(&the_world.arena, the_world.heap_block[p], sizeof(struct heap));
    bool fits = arena_resize(&the_world.arena, the_world.heap_block[p], sizeof(struct heap) + state_size);
    if (!fits) {
        world_note_trouble("limit: the state of a recipe has %zu bytes", state_size);
        return false;
    }
    heap_at(p)->start = heap_at(p)->head.used;
    LS_ASSERT(heap_at(p)->start % 8 == 0);
    return true;
}

static struct chunk *chunk_at(struct heap *heap, uint32_t offset)
{
    LS_ASSERT(offset >= sizeof(struct heap) && offset % 8 == 0);
    return (struct chunk *)((unsigned char *)heap + offset);
}

void *heap_alloc(int p, size_t size, enum heap_owner owner)
{
    if (the_world.zoned) {
        return zones_alloc(p, size, owner);
    }
    struct heap *heap = heap_at(p);
    if (size >= HEAP_BYTES) {
        world_note_trouble("limit: the heap of a process is full");
        return NULL;
    }
    uint32_t need = (uint32_t)((size + 7) & ~(size_t)7) + (uint32_t)sizeof(struct chunk);
    arena_mark(&the_world.arena, the_world.heap_block[p]);
    for (uint32_t at = heap->start; at < heap->head.used; at += chunk_at(heap, at)->size) {
        struct chunk *chunk = chunk_at(heap, at);
        LS_ASSERT(chunk->size >= sizeof *chunk && at + chunk->size <= heap->head.used);
        if (chunk->owner != HEAP_FREE || chunk->size < need) {
            continue;
        }
        uint32_t end = at + chunk->size;
        if (chunk->size > need) {
            LS_ASSERT(chunk->size - need >= sizeof *chunk);
            chunk_at(heap, at + need)->size = chunk->size - need;
        }
        chunk->size = need;
        LS_ASSERT(at + need == end || at + need + chunk_at(heap, at + need)->size == end);
        chunk->owner = owner;
        return chunk + 1;
    }
    LS_ASSERT(need % 8 == 0 && owner != HEAP_FREE && owner != HEAP_LATE);
    uint32_t at = heap->head.used;
    if (!arena_resize(&the_world.arena, the_world.heap_block[p], at + need)) {
        world_note_trouble("limit: the heap of a process is full");
        return NULL;
    }
    chunk_at(heap, at)->size = need;
    chunk_at(heap, at)->owner = owner;
    return chunk_at(heap, at) + 1;
}

/* Joins free neighbours, and gives up a free end. */
static void merge(int p)
{
    struct heap *heap = heap_at(p);
    uint32_t at = heap->start;
    while (at < heap->head.used) {
        struct chunk *chunk = chunk_at(heap, at);
        uint32_t next = at + chunk->size;
        LS_ASSERT(chunk->size >= sizeof *chunk && next <= heap->head.used);
        if (chunk->owner == HEAP_FREE && next == heap->head.used) {
            arena_resize(&the_world.arena, the_world.heap_block[p], at);
            return;
        }
        if (chunk->owner != HEAP_FREE || chunk_at(heap, next)->owner != HEAP_FREE) {
            at = next;
        } else {
            uint32_t more = chunk_at(heap, next)->size;
            memset(chunk_at(heap, next), 0, sizeof(struct chunk));
            chunk->size += more;
        }
    }
}

void heap_free(int p, void *memory, enum heap_owner owner)
{
    if (the_world.zoned) {
        zones_free(p, memory, owner);
        return;
    }
    struct heap *heap = heap_at(p);
    struct chunk *chunk = (struct chunk *)memory - 1;
    unsigned char *low = (unsigned char *)heap + heap->start;
    unsigned char *high = (unsigned char *)heap + heap->head.used;
    bool inside = (unsigned char *)memory > low && (unsigned char *)memory < high;
    if (!inside || chunk->owner != (uint32_t)owner) {
        LS_NEVER(owner == HEAP_WORLD);
        world_note_offence(EVENT_OFFENCE_FREE, NULL);
        return;
    }
    arena_mark(&the_world.arena, the_world.heap_block[p]);
    chunk->owner = HEAP_FREE;
    memset(memory, 0, chunk->size - sizeof *chunk);
    merge(p);
}

bool heap_contains(int p, const void *memory, size_t size)
{
    const struct heap *heap = heap_at(p);
    uintptr_t low = (uintptr_t)process_state(p), high = (uintptr_t)heap + heap->head.used;
    uintptr_t at = (uintptr_t)memory;
    LS_ASSERT(low <= high);
    return at >= low && at <= high && size <= high - at;
}

struct heap_use heap_use(int p)
{
    if (the_world.zoned) {
        return zones_use(p);
    }
    struct heap *heap = heap_at(p);
    struct heap_use use = {0};
    for (uint32_t at = heap->start; at < heap->head.used; at += chunk_at(heap, at)->size) {
        if (chunk_at(heap, at)->owner == HEAP_ENV) {
            use.blocks++;
            use.bytes += chunk_at(heap, at)->size - (uint32_t)sizeof(struct chunk);
        }
    }
    return use;
}
