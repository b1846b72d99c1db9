/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/intern.h"

#include "base/assert.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096u

/* What is asked for most stands together, by number. */
struct quick {
    uint64_t hash;
    const unsigned char *attached;
};

/* A content: its bytes stand behind it. */
struct content {
    uint32_t used;
    uint16_t block;
    uint16_t attached; /* bytes */
    unsigned char bytes[];
};

struct intern {
    struct arena *arena;
    struct pool pool;
    struct quick *quick; /* by number */
    struct content **content;
    uint32_t *moved; /* where each has gone, or NULL */
    uint32_t count, max;
    uint64_t *slot; /* the upper half of the hash, and the number plus one; 0 = free */
    uint32_t slots; /* a power of two */
};

struct intern *intern_open(struct arena *arena)
{
    struct intern *intern = calloc(1, sizeof *intern);
    if (intern == NULL) {
        return NULL;
    }
    intern->arena = arena;
    intern->slots = SLOTS_FIRST;
    intern->slot = calloc(intern->slots, sizeof *intern->slot);
    if (intern->slot == NULL) {
        free(intern);
        return NULL;
    }
    return intern;
}

void intern_close(struct intern *intern)
{
    if (intern == NULL) {
        return;
    }
    pool_clear(&intern->pool);
    free(intern->quick);
    free(intern->content);
    free(intern->moved);
    free(intern->slot);
    free(intern);
}

/* ---- the table ---- */

static uint64_t *place_of(uint64_t *slot, uint32_t slots, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (slots - 1);
    while (slot[at] != 0) {
        at = (at + 1) & (slots - 1);
    }
    return &slot[at];
}

static uint64_t entry_of(uint64_t hash, uint32_t number)
{
    return (hash & 0xffffffff00000000u) | (number + 1);
}

static bool grow_slots(struct intern *intern)
{
    uint32_t slots = intern->slots * 2;
    uint64_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    for (uint32_t number = 0; number < intern->count; number++) {
        *place_of(slot, slots, intern->quick[number].hash) = entry_of(intern->quick[number].hash, number);
    }
    free(intern->slot);
    intern->slot = slot;
    intern->slots = slots;
    return true;
}

static bool grow_lists(struct intern *intern)
{
    uint32_t more = intern->max * 2 + 1024;
    struct quick *quick = realloc(intern->quick, more * sizeof *quick);
    if (quick == NULL) {
        return false;
    }
    intern->quick = quick;
    struct content **content = realloc(intern->content, more * sizeof(void *));
    if (content == NULL) {
        return false;
    }
    intern->content = content;
    intern->max = more;
    return true;
}

static bool make_room(struct intern *intern)
{
    if (intern->count == UINT32_MAX - 1) {
        return false;
    }
    if (intern->count == intern->max && !grow_lists(intern)) {
        return false;
    }
    return intern->count < intern->slots / 4 * 3 || grow_slots(intern);
}

static bool is_it(const struct intern *intern, uint32_t number, int block, const struct arena_block *head)
{
    const struct content *content = intern->content[number];
    return content->block == block && content->used == head->used &&
           memcmp(content->bytes, head, head->used) == 0;
}

/* Room for one more. NULL if memory is short. */
static struct content *add(struct intern *intern, int block, uint32_t used, uint64_t hash)
{
    struct content *content = make_room(intern) ? pool_take(&intern->pool, sizeof *content + used) : NULL;
    if (content == NULL) {
        return NULL;
    }
    content->used = used;
    content->block = (uint16_t)block;
    content->attached = 0;
    *place_of(intern->slot, intern->slots, hash) = entry_of(hash, intern->count);
    intern->quick[intern->count] = (struct quick){hash, NULL};
    intern->content[intern->count++] = content;
    return content;
}

uint32_t intern_take(struct intern *intern, int block)
{
    const struct arena_block *head = arena_at(intern->arena, block);
    uint64_t hash = intern->arena->hash[block];
    LS_ASSERT(!intern->arena->stale[block]);
    uint32_t at = (uint32_t)hash & (intern->slots - 1);
    for (; intern->slot[at] != 0; at = (at + 1) & (intern->slots - 1)) {
        uint32_t number = (uint32_t)intern->slot[at] - 1;
        if ((intern->slot[at] ^ hash) >> 32 == 0 && is_it(intern, number, block, head)) {
            return number;
        }
    }
    struct content *content = add(intern, block, head->used, hash);
    if (content == NULL) {
        return INTERN_NONE;
    }
    memcpy(content->bytes, head, head->used);
    return intern->count - 1;
}

/* ---- contents by number ---- */

void intern_put(const struct intern *intern, int block, uint32_t number)
{
    const struct content *content = intern->content[number];
    LS_ASSERT(content->block == block);
    arena_put(intern->arena, block, content->bytes, content->used, intern->quick[number].hash);
}

uint64_t intern_hash(const struct intern *intern, uint32_t number)
{
    return intern->quick[number].hash;
}

bool intern_attach(struct intern *intern, uint32_t number, const void *bytes, size_t size)
{
    void *copy = size <= UINT16_MAX ? pool_take(&intern->pool, size) : NULL;
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, bytes, size);
    intern->quick[number].attached = copy;
    intern->content[number]->attached = (uint16_t)size;
    return true;
}

const void *intern_attached(const struct intern *intern, uint32_t number)
{
    return intern->quick[number].attached;
}

uint32_t intern_move(struct intern *to, struct intern *from, uint32_t number)
{
    if (from->moved == NULL) {
        from->moved = malloc((size_t)from->max * sizeof *from->moved);
        if (from->moved == NULL) {
            return INTERN_NONE;
        }
        memset(from->moved, 0xff, (size_t)from->max * sizeof *from->moved);
    }
    if (from->moved[number] != INTERN_NONE) {
        return from->moved[number];
    }
    const struct content *old = from->content[number];
    struct content *content = add(to, (int)old->block, old->used, from->quick[number].hash);
    if (content == NULL) {
        return INTERN_NONE;
    }
    memcpy(content->bytes, old->bytes, old->used);
    uint32_t here = to->count - 1;
    if (old->attached != 0 && !intern_attach(to, here, from->quick[number].attached, old->attached)) {
        return INTERN_NONE;
    }
    return from->moved[number] = here;
}

uint32_t intern_count(const struct intern *intern)
{
    return intern->count;
}

size_t intern_bytes(const struct intern *intern)
{
    return intern->pool.bytes + intern->max * (sizeof *intern->quick + sizeof(void *)) +
           intern->slots * sizeof *intern->slot;
}
