/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/arena.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct arena_image {
    size_t bytes;
    int blocks;
    uint32_t used[ARENA_BLOCKS_MAX];
    unsigned char data[];
};

int arena_open(struct arena *arena, size_t size)
{
    LS_ASSERT(size > ARENA_CONSTANT_BYTES && size <= UINT32_MAX);
    memset(arena, 0, sizeof *arena);
    void *want = (void *)ARENA_ADDRESS;
    void *got = mmap(want, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
        return -1;
    }
    LS_ASSERT(got == want);
    arena->base = got;
    arena->size = size;
    arena->taken = ARENA_CONSTANT_BYTES;
    return 0;
}

void arena_close(struct arena *arena)
{
    munmap(arena->base, arena->size);
    memset(arena, 0, sizeof *arena);
}

static struct arena_block *head(const struct arena *arena, int block)
{
    return arena_at(arena, block);
}

void arena_clear(struct arena *arena)
{
    LS_ASSERT(arena->constant_used <= ARENA_CONSTANT_BYTES);
    for (int i = 0; i < arena->blocks; i++) {
        LS_ASSERT(head(arena, i)->used <= arena->capacity[i]);
        memset(arena_at(arena, i), 0, head(arena, i)->used);
    }
    memset(arena->base, 0, arena->constant_used);
    unsigned char *base = arena->base;
    size_t size = arena->size;
    int standing = arena->gaps_standing;
    memset(arena, 0, offsetof(struct arena, gap));
    arena->base = base;
    arena->size = size;
    arena->taken = ARENA_CONSTANT_BYTES;
    arena->gaps = 0;
    arena->gaps_standing = standing;
}

static void protect(struct arena *arena, const struct arena_gap *gap, int access)
{
    int rc = mprotect(arena->base + gap->from, gap->size, access);
    LS_ASSERT(rc == 0);
}

/* Unprotects all gaps of an earlier layout if the first of them begins before this offset. */
static void close_gaps(struct arena *arena, size_t end)
{
    while (arena->gaps_standing > arena->gaps && arena->gap[arena->gaps].from < end) {
        protect(arena, &arena->gap[--arena->gaps_standing], PROT_READ | PROT_WRITE);
    }
}

int arena_add(struct arena *arena, size_t capacity, size_t used)
{
    capacity = (capacity + 63) & ~(size_t)63;
    LS_ASSERT(arena->blocks < ARENA_BLOCKS_MAX);
    LS_ASSERT(used >= sizeof(struct arena_block) && used <= capacity);
    LS_ASSERT(arena->taken + capacity <= arena->size);
    if (arena->gaps_standing > arena->gaps) {
        close_gaps(arena, arena->taken + capacity);
    }
    int block = arena->blocks++;
    arena->offset[block] = (uint32_t)arena->taken;
    arena->capacity[block] = (uint32_t)capacity;
    arena->taken += capacity;
    head(arena, block)->used = (uint32_t)((used + 7) & ~(size_t)7);
    arena_mark(arena, block);
    return block;
}

void arena_gap(struct arena *arena, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (arena->taken + page - 1) / page * page;
    struct arena_gap gap = {from, (bytes + page - 1) / page * page};
    struct arena_gap *place = &arena->gap[arena->gaps];
    LS_ASSERT(gap.from + gap.size <= arena->size && arena->gaps < ARENA_GAPS_MAX);
    bool stands = arena->gaps < arena->gaps_standing && place->from == gap.from && place->size == gap.size;
    if (!stands) {
        close_gaps(arena, SIZE_MAX);
        protect(arena, &gap, PROT_NONE);
        *place = gap;
        arena->gaps_standing = arena->gaps + 1;
    }
    arena->gaps++;
    arena->taken = gap.from + gap.size;
}

void *arena_constant(struct arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (arena->constant_used + size > ARENA_CONSTANT_BYTES) {
        return NULL;
    }
    void *at = arena->base + arena->constant_used;
    arena->constant_used += size;
    return at;
}

bool arena_resize(struct arena *arena, int block, size_t used)
{
    LS_ASSERT(arena->stale[block]);
    LS_ASSERT(block >= 0 && block < arena->blocks);
    struct arena_block *b = head(arena, block);
    used = (used + 7) & ~(size_t)7;
    if (used > arena->capacity[block]) {
        return false;
    }
    if (used < b->used) {
        memset((unsigned char *)b + used, 0, b->used - used);
    }
    b->used = (uint32_t)used;
    return true;
}

size_t arena_live(const struct arena *arena)
{
    size_t sum = 0;
    for (int i = 0; i < arena->blocks; i++) {
        sum += head(arena, i)->used;
    }
    return sum;
}

uint64_t arena_fingerprint(struct arena *arena)
{
    LS_ASSERT(arena->stale_count <= arena->blocks);
    uint64_t sum = arena->sum; /* a local copy, for speed */
    for (int i = 0; i < arena->stale_count; i++) {
        int block = arena->stale_list[i];
        LS_ASSERT(arena->stale[block]);
        uint64_t hash = hash_bytes(arena_at(arena, block), head(arena, block)->used, (uint64_t)block + 1);
        arena->hash[block] = hash;
        arena->stale[block] = false;
        sum += hash;
    }
    arena->stale_count = 0;
    arena->sum = sum;
    return sum;
}

void arena_put(struct arena *arena, int block, const void *bytes, size_t used, uint64_t hash)
{
    struct arena_block *b = head(arena, block);
    uint32_t before = b->used;
    LS_ASSERT(arena->stale_count == 0);
    LS_ASSERT(used % 8 == 0 && used <= arena->capacity[block]);
    memcpy(b, bytes, used);
    if (before > used) {
        memset((unsigned char *)b + used, 0, before - used);
    }
    arena->sum += hash - arena->hash[block];
    arena->hash[block] = hash;
}

size_t arena_bytes(const struct arena *arena, unsigned char *out, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < arena->blocks; i++) {
        uint32_t used = head(arena, i)->used;
        if (at + used <= size) {
            memcpy(out + at, arena_at(arena, i), used);
        }
        at += used;
    }
    return at;
}

struct arena_image *arena_save(const struct arena *arena)
{
    size_t bytes = arena_live(arena);
    struct arena_image *image = malloc(sizeof *image + bytes);
    if (image == NULL) {
        return NULL;
    }
    image->bytes = bytes;
    image->blocks = arena->blocks;
    unsigned char *to = image->data;
    for (int i = 0; i < arena->blocks; i++) {
        image->used[i] = head(arena, i)->used;
        memcpy(to, arena_at(arena, i), image->used[i]);
        to += image->used[i];
    }
    LS_ASSERT(to == image->data + bytes);
    return image;
}

void arena_restore(struct arena *arena, const struct arena_image *image)
{
    LS_ASSERT(arena->blocks == image->blocks);
    const unsigned char *from = image->data;
    for (int i = 0; i < arena->blocks; i++) {
        arena_mark(arena, i);
        LS_ASSERT(image->used[i] <= arena->capacity[i]);
        uint32_t before = head(arena, i)->used;
        memcpy(arena_at(arena, i), from, image->used[i]);
        if (before > image->used[i]) {
            memset((unsigned char *)arena_at(arena, i) + image->used[i], 0, before - image->used[i]);
        }
        from += image->used[i];
    }
    LS_ASSERT(from == image->data + image->bytes);
}

int arena_image_difference(const struct arena_image *a, const struct arena_image *b)
{
    const unsigned char *x = a->data;
    const unsigned char *y = b->data;
    for (int i = 0; i < a->blocks && i < b->blocks; i++) {
        if (a->used[i] != b->used[i] || memcmp(x, y, a->used[i]) != 0) {
            return i;
        }
        x += a->used[i];
        y += b->used[i];
    }
    return a->blocks == b->blocks ? -1 : (a->blocks < b->blocks ? a->blocks : b->blocks);
}

bool arena_image_equal(const struct arena_image *a, const struct arena_image *b)
{
    return arena_image_difference(a, b) < 0;
}

int arena_first_other(const struct arena *arena, const struct arena_image *image, arena_same_fn same)
{
    LS_ASSERT(arena->blocks == image->blocks);
    const unsigned char *then = image->data;
    for (int i = 0; i < arena->blocks; i++) {
        const unsigned char *now = arena_at(arena, i);
        size_t used = head(arena, i)->used;
        bool equal = used == image->used[i] && memcmp(now, then, used) == 0;
        if (!equal && !same(i, now, used, then, image->used[i])) {
            return i;
        }
        then += image->used[i];
    }
    return -1;
}

size_t arena_image_bytes(const struct arena_image *image)
{
    return image->bytes;
}

bool arena_points_at(const struct arena *arena, const void *from, size_t size)
{
    uint64_t begin = (uintptr_t)from;
    for (int i = 0; i < arena->blocks; i++) {
        const uint64_t *word = arena_at(arena, i);
        size_t words = head(arena, i)->used / sizeof *word;
        bool points = false;
        for (size_t w = 0; w < words; w++) {
            points |= word[w] - begin < size;
        }
        if (points) {
            return true;
        }
    }
    return false;
}

int arena_unmarked_write(const struct arena *arena, const struct arena_image *image)
{
    LS_ASSERT(arena->blocks == image->blocks);
    const unsigned char *from = image->data;
    for (int i = 0; i < arena->blocks; i++) {
        bool same =
            head(arena, i)->used == image->used[i] && memcmp(arena_at(arena, i), from, image->used[i]) == 0;
        if (!same && !arena->stale[i]) {
            return i;
        }
        from += image->used[i];
    }
    return -1;
}
