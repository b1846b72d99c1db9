/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory that is taken in small amounts, does not move, and is freed all at once. A pool that is all zeros is
 * empty. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool {
    unsigned char **piece;
    size_t pieces, pieces_max;
    unsigned char *next; /* the free bytes of the last piece */
    size_t left;
    size_t bytes; /* the size of all pieces */
};

/* Returns `size` bytes, aligned to 8, not cleared, owned by the pool; NULL if memory is short. */
void *pool_take(struct pool *pool, size_t size);

void pool_clear(struct pool *pool);

#endif
