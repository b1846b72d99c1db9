/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/rng.h"
#include "base/assert.h"

#include "base/hash.h"

void rng_seed(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        rng->s[i] = hash_mix(seed * 4 + (uint64_t)i + 1) | 1u;
    }
}

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

/* xoshiro256** by Blackman and Vigna. */
uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    LS_ASSERT((s[0] | s[1] | s[2] | s[3]) != 0);
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
    LS_ASSERT(n > 0);
    return (uint32_t)(((rng_next(rng) >> 32) * n) >> 32);
}
