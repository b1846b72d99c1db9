/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A seeded generator of random numbers, for code outside of worlds. One seed gives the same numbers on every
 * machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);

uint64_t rng_next(struct rng *rng);

/* Returns a number in 0 .. n-1; n > 0. */
uint32_t rng_below(struct rng *rng, uint32_t n);

#endif
