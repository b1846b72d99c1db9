/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A hash of bytes for fingerprints: 64 bits, multiply-and-fold, four chains over 64 bytes a round. It does
 * not resist hostile input. It is equal on all machines of one byte order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of `size` bytes. `bytes` is aligned to 8 and `size` is a multiple of 8. */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* Returns the hash of a text of any size and alignment. */
uint64_t hash_text(const void *text, size_t size, uint64_t seed);

/* Mixes one number, for seeds and permutations. */
uint64_t hash_mix(uint64_t x);

#endif
