/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory that is taken bit by bit, does not move, and is given back all at once. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool {
    unsigned char **piece;
    size_t pieces, pieces_max;
    unsigned char *next; /* what is left of the last piece */
    size_t left;
    size_t bytes; /* of all pieces */
};

/* Zero-initialise before first use. Aligned to 8, not cleared; NULL if memory is short. Owned by the pool. */
void *pool_take(struct pool *pool, size_t size);

/* Gives everything back. */
void pool_clear(struct pool *pool);

#endif
