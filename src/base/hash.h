/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A hash of bytes for fingerprints: two independent 64-bit lanes of multiply-and-fold over 16 bytes a round. Not for
 * hostile input; equal on all machines of one byte order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t low, high;
};

/* `bytes` is aligned to 8 and `size` a multiple of 8. */
struct hash128 hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* Mixes one number: for seeds and permutations. */
uint64_t hash_mix(uint64_t x);

#endif
