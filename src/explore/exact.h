/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The states that a search has seen, whole: what `--exact` compares in place of fingerprints, to show that fingerprints
 * leave nothing out. States are stored compressed, one behind the other, and found by their fingerprint. */
#ifndef EXPLORE_EXACT_H
#define EXPLORE_EXACT_H

#include "state/visited.h"

struct exact;

/* NULL if memory is refused or `bytes_max` is too small for a beginning. */
struct exact *exact_open(size_t bytes_max);
void exact_close(struct exact *exact);

/* Adds a state of `size` bytes. */
enum visited_answer exact_add(struct exact *exact, uint64_t fingerprint, const unsigned char *state,
                              size_t size);

/* Different states with the fingerprint of another one, found so far: so many would have been left out. */
uint64_t exact_omissions(const struct exact *exact);

/* Bytes that everything takes now. */
size_t exact_bytes(const struct exact *exact);

#endif
