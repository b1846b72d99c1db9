/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The arena: one mapping at a fixed address, divided into blocks; all that can change in a run is in it.
 *
 * Equal bytes mean equal futures, so pointers into the arena are legal inside it. Each block begins with the
 * number of its live bytes; the bytes behind them are always zero. A function that writes to a block marks it
 * first, so that arena_fingerprint() hashes only the marked blocks again. Beside the blocks there is a
 * constant region for data that never changes during a run (options, names, paths). It is neither saved nor
 * fingerprinted. */
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
    uint32_t offset[ARENA_BLOCKS_MAX];   /* of each block, in bytes from `base` */
    uint32_t capacity[ARENA_BLOCKS_MAX]; /* of each block, in bytes */
    uint64_t hash[ARENA_BLOCKS_MAX];     /* of each block, valid unless stale */
    uint64_t sum;                        /* the sum of `hash` over all blocks that are not stale */
    bool stale[ARENA_BLOCKS_MAX];        /* the block was marked after its hash was taken */
    unsigned char stale_list[ARENA_BLOCKS_MAX];
    int stale_count;
    uint64_t read[2];     /* a bit for each block read or marked after a caller last cleared them */
    size_t constant_used; /* bytes taken of the constant region */

    /* Gaps, by rising offsets. The gaps behind the first `gaps` are of an earlier layout; they stay
     * unreadable until a new block or gap needs their place. */
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

/* Removes all blocks and zeroes the bytes that they used. Earlier gaps stay protected; see `gap`. */
void arena_clear(struct arena *arena);

/* Adds a zeroed block of `capacity` bytes, `used` of them live; returns its number. Asserts that it fits. */
int arena_add(struct arena *arena, size_t capacity, size_t used);

/* Leaves a gap of at least `bytes` before the next block, which then begins at a page. An access there raises
 * SIGSEGV. */
void arena_gap(struct arena *arena, size_t bytes);

/* Returns the start of a block. The address is stable for the arena's life. */
static inline void *arena_at(const struct arena *arena, int block)
{
    return arena->base + arena->offset[block];
}

/* Returns zeroed memory in the constant region, aligned to 8; NULL if the region is full. */
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

/* Notes that a block is about to be written to, which counts as reading it too. */
static inline void arena_mark(struct arena *arena, int block)
{
    arena_read(arena, block);
    if (!arena->stale[block]) {
        arena->stale[block] = true;
        arena->stale_list[arena->stale_count++] = (unsigned char)block;
        arena->sum -= arena->hash[block];
    }
}

/* Resizes the live bytes of a marked block; zeroes the bytes given up. Returns false beyond the capacity. */
bool arena_resize(struct arena *arena, int block, size_t used);

/* Returns the number of live bytes of all blocks. */
size_t arena_live(const struct arena *arena);

/* Returns the sum of the hashes of all blocks, each seeded by the block's number. Leaves no block stale. */
uint64_t arena_fingerprint(struct arena *arena);

/* Replaces a block's live bytes by bytes whose hash is known. No block is stale before or afterwards. */
void arena_put(struct arena *arena, int block, const void *bytes, size_t used, uint64_t hash);

/* Copies the live bytes of all blocks, one behind the other. Copies no block that does not fit into `size`.
 * Returns the number of live bytes. */
size_t arena_bytes(const struct arena *arena, unsigned char *out, size_t size);

/* arena_save() returns NULL if memory is short; the caller frees the image. arena_restore() needs an arena
 * with the same blocks, and marks all of them. */
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

/* Returns whether an aligned word of a block is an address within these `size` bytes. */
bool arena_points_at(const struct arena *arena, const void *from, size_t size);

/* For debugging: returns a block that differs from the image although it is not stale, or -1. */
int arena_unmarked_write(const struct arena *arena, const struct arena_image *image);

#endif
