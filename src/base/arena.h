/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The arena: one mapping at a fixed address, divided into a constant region, blocks and gaps. All data on
 * which later steps of a run depend lies in the blocks, or is constant in the run.
 *
 * Equal bytes mean equal futures. The address is fixed, so pointers into the arena may lie in blocks. Each
 * block begins with the number of its live bytes; the bytes behind them are zero. Code outside of arena.c
 * must call arena_mark() before it writes to a block, because arena_fingerprint() hashes only marked blocks
 * again. The constant region is for data that does not change in a run (options, names, paths). It is neither
 * saved nor fingerprinted. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_ADDRESS 0x7e8000000000ull
#define ARENA_BLOCKS_MAX 128
#define ARENA_CONSTANT_BYTES 65536u
#define ARENA_GAPS_MAX 64

struct arena_block {
    uint32_t used;     /* live bytes, this head included; a multiple of 8 */
    uint32_t reserved; /* 0 */
};

struct arena {
    unsigned char *base; /* ARENA_ADDRESS */
    size_t size;         /* mapped bytes */
    size_t taken;        /* offset of the first free byte, behind the constant region, blocks and gaps */
    int blocks;
    uint32_t offset[ARENA_BLOCKS_MAX];   /* of each block, in bytes from `base` */
    uint32_t capacity[ARENA_BLOCKS_MAX]; /* of each block, in bytes */
    uint64_t hash[ARENA_BLOCKS_MAX];     /* of each block, valid unless stale */
    uint64_t sum;                        /* the sum of `hash` over all blocks that are not stale */
    bool stale[ARENA_BLOCKS_MAX];        /* the block was marked after its hash was taken */
    unsigned char stale_list[ARENA_BLOCKS_MAX];
    int stale_count;
    uint64_t read[2];     /* set of blocks that were read or marked; callers clear it */
    size_t constant_used; /* bytes taken of the constant region */

    /* Gaps, by rising offsets. The first `gaps` belong to the present layout. The others, up to
     * `gaps_standing`, are of an earlier layout, and still protected. If a block reaches the first of them,
     * or a new gap differs from it, all of them become accessible. */
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

/* Removes all blocks and constants, and zeroes the bytes that they used. Gaps stay protected; see `gap`. */
void arena_clear(struct arena *arena);

/* Adds a block that is zero behind its head; returns its number. Rounds `capacity` up to a multiple of 64
 * bytes, and `used`, the number of live bytes with the head, to one of 8. Asserts that the block fits. */
int arena_add(struct arena *arena, size_t capacity, size_t used);

/* Leaves a gap of at least `bytes` before the next block, which then begins at a page boundary. An access to
 * the gap raises SIGSEGV. */
void arena_gap(struct arena *arena, size_t bytes);

/* Returns the start of a block. It stays valid until arena_clear() or arena_close(). */
static inline void *arena_at(const struct arena *arena, int block)
{
    return arena->base + arena->offset[block];
}

/* Returns zeroed memory in the constant region, aligned to 8; NULL if too little of the region is left. */
void *arena_constant(struct arena *arena, size_t size);

/* A set of blocks is two words with a bit for each block. */
static inline void arena_set_add(uint64_t set[2], int block)
{
    set[block >> 6] |= 1ull << (block & 63);
}

static inline bool arena_set_has(const uint64_t set[2], int block)
{
    return (set[block >> 6] >> (block & 63) & 1u) != 0;
}

/* Notes that a block is about to be read: a step's effect depends on the blocks that it has read. */
static inline void arena_read(struct arena *arena, int block)
{
    arena_set_add(arena->read, block);
}

/* Notes that a block is about to be written to. A marked block counts as read too. */
static inline void arena_mark(struct arena *arena, int block)
{
    arena_read(arena, block);
    if (!arena->stale[block]) {
        arena->stale[block] = true;
        arena->stale_list[arena->stale_count++] = (unsigned char)block;
        arena->sum -= arena->hash[block];
    }
}

/* Changes the number of live bytes of a marked block to `used`, rounded up to a multiple of 8. Zeroes the
 * bytes that the block gives up. Returns false if `used` exceeds the capacity; the block is unchanged
 * then. */
bool arena_resize(struct arena *arena, int block, size_t used);

size_t arena_live(const struct arena *arena);

/* Returns the sum of the hashes of all blocks, each seeded with the block's number plus 1. Leaves no block
 * stale. */
uint64_t arena_fingerprint(struct arena *arena);

/* Replaces a block's live bytes by bytes whose hash is known. No block may be stale before the call, and none
 * is afterwards. */
void arena_put(struct arena *arena, int block, const void *bytes, size_t used, uint64_t hash);

/* Copies the live bytes of all blocks to `out`, one behind the other. A block that does not fit into `size`
 * is not copied. Returns the number of live bytes of all blocks. */
size_t arena_bytes(const struct arena *arena, unsigned char *out, size_t size);

/* arena_save() copies the live bytes of all blocks to an image, which the caller frees with free(); NULL =
 * memory is short. arena_restore() needs an arena with the same blocks, and marks all of them. */
struct arena_image *arena_save(const struct arena *arena);
void arena_restore(struct arena *arena, const struct arena_image *image);
bool arena_image_equal(const struct arena_image *a, const struct arena_image *b);
size_t arena_image_bytes(const struct arena_image *image);

/* Returns the number of the first block that differs, or -1. */
int arena_image_difference(const struct arena_image *a, const struct arena_image *b);

/* Returns whether a block's bytes `now` mean the same as the bytes `then`. */
typedef bool (*arena_same_fn)(int block, const unsigned char *now, size_t now_size, const unsigned char *then,
                              size_t then_size);

/* Returns the first block whose bytes differ from the image and for which `same` is false, or -1. */
int arena_first_other(const struct arena *arena, const struct arena_image *image, arena_same_fn same);

/* Returns whether the live bytes of any block have an aligned 8-byte word that is an address within the
 * `size` bytes at `from`. */
bool arena_points_at(const struct arena *arena, const void *from, size_t size);

/* For debugging: returns the number of the first block that differs from the image although it is not stale,
 * or -1. */
int arena_unmarked_write(const struct arena *arena, const struct arena_image *image);

#endif
