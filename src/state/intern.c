/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/intern.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/hash_table.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* The data of a content that is read most, apart from its bytes. */
struct quick {
    uint64_t hash;
    const unsigned char *attached;
};

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
    uint32_t *moved; /* by number: the number in the other intern; NULL before the first move */
    uint32_t count, max;
    struct hash_table numbers; /* by hash: number + 1 */
};

struct intern *intern_open(struct arena *arena)
{
    struct intern *intern = calloc(1, sizeof *intern);
    if (intern == NULL) {
        return NULL;
    }
    intern->arena = arena;
    if (!hash_table_open(&intern->numbers)) {
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
    hash_table_close(&intern->numbers);
    free(intern);
}

static bool grow_lists(struct intern *intern)
{
    size_t more = array_more(intern->max, 1024);
    LS_ASSERT(more > intern->count && more <= UINT32_MAX);
    if (!array_resize(&intern->quick, more, sizeof *intern->quick) ||
        !array_resize(&intern->content, more, sizeof(void *))) {
        return false;
    }
    intern->max = (uint32_t)more;
    return true;
}

static bool make_room(struct intern *intern)
{
    if (intern->count == UINT32_MAX - 1) {
        return false;
    }
    LS_ASSERT(intern->count <= intern->max);
    return intern->count < intern->max || grow_lists(intern);
}

static bool is_it(const struct intern *intern, uint32_t number, int block, const struct arena_block *head)
{
    const struct content *content = intern->content[number];
    return content->block == block && content->used == head->used &&
           memcmp(content->bytes, head, head->used) == 0;
}

/* Adds a content without its bytes, which the caller fills in. Returns NULL if memory is short. */
static struct content *add(struct intern *intern, int block, uint32_t used, uint64_t hash)
{
    LS_ASSERT(used >= sizeof(struct arena_block) && used <= intern->arena->capacity[block]);
    LS_ASSERT(block >= 0 && block < intern->arena->blocks);
    struct content *content = make_room(intern) ? pool_take(&intern->pool, sizeof *content + used) : NULL;
    if (content == NULL || !hash_table_add(&intern->numbers, hash, intern->count + 1)) {
        return NULL;
    }
    content->used = used;
    content->block = (uint16_t)block;
    content->attached = 0;
    intern->quick[intern->count] = (struct quick){hash, NULL};
    intern->content[intern->count++] = content;
    return content;
}

static inline uint32_t find(const struct intern *intern, int block, const struct arena_block *head,
                            uint64_t hash)
{
    for (uint32_t at = 0, next; (next = hash_table_next(&intern->numbers, hash, &at)) != 0;) {
        if (is_it(intern, next - 1, block, head)) {
            return next - 1;
        }
    }
    return INTERN_NONE;
}

uint32_t intern_take(struct intern *intern, int block)
{
    const struct arena_block *head = arena_at(intern->arena, block);
    uint64_t hash = intern->arena->hash[block];
    LS_ASSERT(!intern->arena->stale[block]);
    LS_ASSERT(intern->moved == NULL);
    uint32_t known = find(intern, block, head, hash);
    if (known != INTERN_NONE) {
        return known;
    }
    struct content *content = add(intern, block, head->used, hash);
    if (content == NULL) {
        return INTERN_NONE;
    }
    memcpy(content->bytes, head, head->used);
    return intern->count - 1;
}

void intern_put(const struct intern *intern, int block, uint32_t number)
{
    LS_ASSERT(number < intern->count);
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
    LS_ASSERT(number < intern->count);
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
    LS_ASSERT(to != from && number < from->count);
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
    const struct arena_block *head = (const void *)old->bytes;
    LS_ASSERT(find(to, old->block, head, from->quick[number].hash) == INTERN_NONE);
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
           hash_table_bytes(&intern->numbers);
}
