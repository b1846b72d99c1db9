/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Mutations of a fuzzer's input (input_format.h) by whole decisions. They insert, delete, swap, repeat or
 * change decisions, move a fault, copy from another input, or change a byte of the header. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "base/rng.h"
#include "fuzz/input_format.h"

/* Writes a mutant of `in` to `out`, and returns its size. `max` is the room in `out`, FUZZ_HEADER + 2 at
 * least. Some mutations copy from another input, `other`, which may be empty. Equal generators make equal
 * mutants of equal inputs. */
size_t fuzz_mutate(struct rng *rng, const uint8_t *in, size_t size, const uint8_t *other, size_t other_size,
                   uint8_t *out, size_t max);

/* Writes `in` without `count` decisions from index `first` on. Returns the new size; `size` = there are
 * none. */
size_t fuzz_without(const uint8_t *in, size_t size, size_t first, size_t count, uint8_t *out);

size_t fuzz_decisions(const uint8_t *in, size_t size);

#endif
