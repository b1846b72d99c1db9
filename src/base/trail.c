/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/trail.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* What one block was in a state. */
struct version {
    uint64_t hash;
    uint32_t used;
    uint32_t reserved;
    unsigned char bytes[];
};

struct state {
    uint64_t sum;
    uint64_t own[2]; /* blocks whose version is this state's own: they differ from the state before */
    size_t taken;    /* bytes of the store in use before this state */
    struct version *version[ARENA_BLOCKS_MAX];
};

/* Versions stand one behind the other in pieces that do not move. */
#define PIECE_BYTES (1u << 20)

struct trail {
    struct arena *arena;
    struct state *state;
    int states, states_max;
    unsigned char **piece;
    int pieces, pieces_max;
    size_t taken;
};

static bool grow_pieces(struct trail *trail)
{
    if (trail->pieces == trail->pieces_max) {
        int more = trail->pieces_max * 2 + 16;
        unsigned char **list = realloc(trail->piece, (size_t)more * sizeof *list);
        if (list == NULL) {
            return false;
        }
        trail->piece = list;
        trail->pieces_max = more;
    }
    trail->piece[trail->pieces] = malloc(PIECE_BYTES);
    return trail->piece[trail->pieces] != NULL && ++trail->pieces > 0;
}

static struct version *take(struct trail *trail, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    LS_ASSERT(size <= PIECE_BYTES);
    if (trail->taken % PIECE_BYTES + size > PIECE_BYTES || trail->taken % PIECE_BYTES == 0) {
        trail->taken = (trail->taken + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
    }
    size_t number = trail->taken / PIECE_BYTES;
    if (number >= (size_t)trail->pieces && !grow_pieces(trail)) {
        return NULL;
    }
    struct version *version = (void *)(trail->piece[number] + trail->taken % PIECE_BYTES);
    trail->taken += size;
    return version;
}

static bool keep_block(struct trail *trail, struct state *state, int block)
{
    struct arena *arena = trail->arena;
    const struct arena_block *head = arena_at(arena, block);
    struct version *version = take(trail, sizeof *version + head->used);
    if (version == NULL) {
        return false;
    }
    version->hash = arena->hash[block];
    version->used = head->used;
    memcpy(version->bytes, head, head->used);
    state->version[block] = version;
    return true;
}

static bool keep_changed(struct trail *trail, struct state *state)
{
    for (int word = 0; word < 2; word++) {
        for (uint64_t bits = trail->arena->changed[word]; bits != 0; bits &= bits - 1) {
            if (!keep_block(trail, state, word * 64 + __builtin_ctzll(bits))) {
                return false;
            }
        }
    }
    return true;
}

bool trail_push(struct trail *trail)
{
    struct arena *arena = trail->arena;
    LS_ASSERT(arena->stale_count == 0);
    if (trail->states == trail->states_max) {
        int more = trail->states_max * 2;
        struct state *list = realloc(trail->state, (size_t)more * sizeof *list);
        if (list == NULL) {
            return false;
        }
        trail->state = list;
        trail->states_max = more;
    }
    struct state *state = &trail->state[trail->states];
    for (int i = 0; i < arena->blocks && trail->states > 0; i++) {
        state->version[i] = state[-1].version[i];
    }
    state->taken = trail->taken;
    state->sum = arena->sum;
    memcpy(state->own, arena->changed, sizeof state->own);
    if (!keep_changed(trail, state)) {
        trail->taken = state->taken;
        return false;
    }
    trail->states++;
    memset(arena->changed, 0, sizeof arena->changed);
    return true;
}

static void put_back(struct arena *arena, int block, const struct version *version)
{
    struct arena_block *head = arena_at(arena, block);
    uint32_t used = head->used;
    memcpy(head, version->bytes, version->used);
    if (used > version->used) {
        memset((unsigned char *)head + version->used, 0, used - version->used);
    }
    arena->hash[block] = version->hash;
    arena->stale[block] = false;
}

void trail_back(struct trail *trail)
{
    struct arena *arena = trail->arena;
    const struct state *state = &trail->state[trail->states - 1];
    for (int word = 0; word < 2; word++) {
        for (uint64_t bits = arena->changed[word]; bits != 0; bits &= bits - 1) {
            int block = word * 64 + __builtin_ctzll(bits);
            put_back(arena, block, state->version[block]);
        }
    }
    memset(arena->changed, 0, sizeof arena->changed);
    arena->stale_count = 0;
    arena->sum = state->sum;
}

void trail_pop(struct trail *trail)
{
    LS_ASSERT(trail->states > 1);
    const struct state *gone = &trail->state[--trail->states];
    trail->taken = gone->taken;
    trail->arena->changed[0] |= gone->own[0];
    trail->arena->changed[1] |= gone->own[1];
    trail_back(trail);
}

struct trail *trail_open(struct arena *arena)
{
    struct trail *trail = calloc(1, sizeof *trail);
    if (trail == NULL) {
        return NULL;
    }
    trail->arena = arena;
    trail->states_max = 64;
    trail->state = calloc((size_t)trail->states_max, sizeof *trail->state);
    arena_fingerprint(arena);
    for (int i = 0; i < arena->blocks; i++) {
        arena->changed[i >> 6] |= 1ull << (i & 63);
    }
    if (trail->state == NULL || !trail_push(trail)) {
        trail_close(trail);
        return NULL;
    }
    return trail;
}

void trail_close(struct trail *trail)
{
    for (int i = 0; i < trail->pieces; i++) {
        free(trail->piece[i]);
    }
    free(trail->piece);
    free(trail->state);
    free(trail);
}

int trail_depth(const struct trail *trail)
{
    return trail->states;
}

size_t trail_bytes(const struct trail *trail)
{
    return (size_t)trail->pieces * PIECE_BYTES + (size_t)trail->states_max * sizeof *trail->state;
}
