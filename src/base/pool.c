/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/pool.h"
#include "base/assert.h"

#include "base/array.h"
#include "base/huge_pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* least size of the first SMALL_PIECES; of later ones HUGE_PAGE_BYTES */
#define PIECE_BYTES ((size_t)1 << 18)
#define SMALL_PIECES 4

static bool add_piece(struct pool *pool, size_t size)
{
    if (!array_room(&pool->piece, pool->pieces, &pool->pieces_max, sizeof(void *), 16)) {
        return false;
    }
    size_t least = pool->pieces < SMALL_PIECES ? PIECE_BYTES : HUGE_PAGE_BYTES;
    size = size > least ? size : least;
    unsigned char *piece = size == HUGE_PAGE_BYTES ? aligned_alloc(size, size) : malloc(size);
    if (piece == NULL) {
        return false;
    }
    huge_pages(piece, size);
    LS_ASSERT(pool->pieces < pool->pieces_max);
    pool->piece[pool->pieces++] = pool->next = piece;
    pool->left = size;
    pool->bytes += size;
    return true;
}

void *pool_take(struct pool *pool, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (pool->left < size && !add_piece(pool, size)) {
        return NULL;
    }
    LS_ASSERT(size <= pool->left);
    unsigned char *at = pool->next;
    pool->next += size;
    pool->left -= size;
    return at;
}

void pool_clear(struct pool *pool)
{
    for (size_t i = 0; i < pool->pieces; i++) {
        free(pool->piece[i]);
    }
    free(pool->piece);
    memset(pool, 0, sizeof *pool);
}
