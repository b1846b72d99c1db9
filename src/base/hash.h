/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A 64-bit hash for fingerprints, by multiply-and-fold. It does not resist hostile input. It is equal on all
 * machines of one byte order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* `size` is a multiple of 8. */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* `text` may have any size. */
uint64_t hash_text(const void *text, size_t size, uint64_t seed);

/* Mixes one number, for seeds and permutations. */
uint64_t hash_mix(uint64_t x);

#endif
