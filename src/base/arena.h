/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The arena: one mapping at a fixed address, divided into blocks, that holds everything that can change in a run.
 *
 * Equal bytes mean equal futures. Pointers into the arena are therefore legal inside it. Each block begins with the
 * number of its live bytes; what lies behind them is always zero. Who writes to a block marks it first; saving, restoring and
 * fingerprinting cost what the marked blocks cost. Beside the blocks there is a constant region for what never changes
 * during a run (options, names, paths): it is neither saved nor fingerprinted. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_ADDRESS 0x7e8000000000ull
#define ARENA_BLOCKS_MAX 128
#define ARENA_CONSTANT_BYTES 65536u
#define ARENA_GAPS_MAX 64

/* The head of every block. */
struct arena_block {
    uint32_t used;     /* live bytes, this head included; a multiple of 8 */
    uint32_t reserved; /* 0 */
};

struct arena {
    unsigned char *base;                 /* ARENA_ADDRESS */
    size_t size;                         /* mapped bytes */
    size_t taken;                        /* bytes given to blocks and the constant region */
    int blocks;                          /* number of blocks */
    uint32_t offset[ARENA_BLOCKS_MAX];   /* of each block */
    uint32_t capacity[ARENA_BLOCKS_MAX]; /* of each block */
    uint64_t hash[ARENA_BLOCKS_MAX];     /* of each block, valid unless stale */
    uint64_t sum;                        /* of the hashes of all blocks that are not stale */
    bool stale[ARENA_BLOCKS_MAX];        /* marked since its hash was taken */
    unsigned char stale_list[ARENA_BLOCKS_MAX];
    int stale_count;
    uint64_t read[2];     /* a bit for each block looked at or marked since somebody last cleared them */
    size_t constant_used; /* bytes taken of the constant region */

    /* Gaps, by rising offsets. Those behind the first `gaps` are of an earlier layout, and stand until they are in the way. */
    struct arena_gap {
        size_t from, size;
    } gap[ARENA_GAPS_MAX];
    int gaps, gaps_standing;
};

/* A saved arena, in the ordinary heap. */
struct arena_image;

/* Maps `size` bytes at ARENA_ADDRESS. Returns 0 or -1 with errno set. */
int arena_open(struct arena *arena, size_t size);
void arena_close(struct arena *arena);

/* Forgets all blocks and zeroes what they used. */
void arena_clear(struct arena *arena);

/* Adds a zeroed block of `capacity` bytes with `used` of them live; returns its number. Asserts that it fits. */
int arena_add(struct arena *arena, size_t capacity, size_t used);

/* Leaves a gap of at least `bytes` before the next block, which then begins at a page: whoever reads or writes there gets a
 * SIGSEGV. */
void arena_gap(struct arena *arena, size_t bytes);

/* The start of a block. Address is stable for the arena's life. */
static inline void *arena_at(const struct arena *arena, int block)
{
    return arena->base + arena->offset[block];
}

/* Memory in the constant region, aligned to 8; NULL when it is full. */
void *arena_constant(struct arena *arena, size_t size);

/* A set of blocks is two words, a bit for each. */
static inline void arena_set_add(uint64_t set[2], int block)
{
    set[block >> 6] |= 1ull << (block & 63);
}

static inline bool arena_set_has(const uint64_t set[2], int block)
{
    return (set[block >> 6] >> (block & 63) & 1u) != 0;
}

/* To be called before a block is looked at: what a step does follows from the blocks that it has read. */
static inline void arena_read(struct arena *arena, int block)
{
    arena_set_add(arena->read, block);
}

/* To be called before a block is written to. */
static inline void arena_mark(struct arena *arena, int block)
{
    arena_read(arena, block);
    if (!arena->stale[block]) {
        arena->stale[block] = true;
        arena->stale_list[arena->stale_count++] = (unsigned char)block;
        arena->sum -= arena->hash[block];
    }
}

/* Changes the number of live bytes of a marked block: what is given up is zeroed. False if it exceeds the capacity. */
bool arena_resize(struct arena *arena, int block, size_t used);

/* Live bytes of all blocks. */
size_t arena_live(const struct arena *arena);

/* Sum over the blocks of a hash seeded by the block's number. */
uint64_t arena_fingerprint(struct arena *arena);

/* Gives a block other live bytes, whose hash is known. Nothing is marked before, and nothing is afterwards. */
void arena_put(struct arena *arena, int block, const void *bytes, size_t used, uint64_t hash);

/* The live bytes of all blocks, one behind the other: at most `size` of them; returns how many there are. */
size_t arena_bytes(const struct arena *arena, unsigned char *out, size_t size);

/* NULL if memory is short. The caller frees it. */
struct arena_image *arena_save(const struct arena *arena);
void arena_restore(struct arena *arena, const struct arena_image *image);
bool arena_image_equal(const struct arena_image *a, const struct arena_image *b);
size_t arena_image_bytes(const struct arena_image *image);

/* The number of the first block that differs, or -1. */
int arena_image_difference(const struct arena_image *a, const struct arena_image *b);

/* Whether a block's bytes `now` stand for the same as others. */
typedef bool (*arena_same_fn)(int block, const unsigned char *now, size_t now_size, const unsigned char *then,
                              size_t then_size);

/* The first block whose bytes are neither those of the image nor the same by this function, or -1. */
int arena_first_other(const struct arena *arena, const struct arena_image *image, arena_same_fn same);

/* True if an aligned word of a block is an address within these bytes. */
bool arena_points_at(const struct arena *arena, const void *from, size_t size);

/* Debug: the number of a block that differs from the image though it is not marked since, or -1. */
int arena_unmarked_write(const struct arena *arena, const struct arena_image *image);

#endif
