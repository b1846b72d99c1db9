/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/pool.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES ((size_t)1 << 18)

static bool add_piece(struct pool *pool, size_t size)
{
    if (!array_room(&pool->piece, pool->pieces, &pool->pieces_max, sizeof(void *), 16)) {
        return false;
    }
    size = size > PIECE_BYTES ? size : PIECE_BYTES;
    unsigned char *piece = malloc(size);
    if (piece == NULL) {
        return false;
    }
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
