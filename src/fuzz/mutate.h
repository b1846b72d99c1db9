/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Mutations of a fuzzer's input (input.h) that keep it a list of decisions: insert, delete, swap, repeat, move a fault earlier or
 * later, give it another victim, go on as another input does from the same place, change a byte of the header. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "base/rng.h"
#include "fuzz/input.h"

/* Writes a mutant of `in` to `out` (`max` bytes, at least FUZZ_HEADER + 2) and returns its size. `other` is another input, which
 * some mutations take from; it may be empty. The same generator makes the same mutant. */
size_t fuzz_mutate(struct rng *rng, const uint8_t *in, size_t size, const uint8_t *other, size_t other_size,
                   uint8_t *out, size_t max);

/* `in` without `count` of its decisions from the first-th on. Returns its size; equal to `size` if there are none. */
size_t fuzz_without(const uint8_t *in, size_t size, size_t first, size_t count, uint8_t *out);

/* How many decisions there are. */
size_t fuzz_decisions(const uint8_t *in, size_t size);

#endif
