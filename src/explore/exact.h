/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The set of states of a search with `--exact`: it compares whole states in place of fingerprints, and counts
 * the states that fingerprints would leave out. States are stored compressed, and found by fingerprint. */
#ifndef EXPLORE_EXACT_H
#define EXPLORE_EXACT_H

#include "state/visited.h"

struct exact;

/* Returns an empty set; NULL if memory is refused or `bytes_max` is too small for the first chunk. */
struct exact *exact_open(size_t bytes_max);
void exact_close(struct exact *exact);

/* Looks up a state of `size` bytes, and adds a new one. VISITED_FULL: there is no room or no memory, or the
 * state has more than 1 MiB. */
enum visited_answer exact_add(struct exact *exact, uint64_t fingerprint, const unsigned char *state,
                              size_t size);

/* Returns the number of stored states that have the fingerprint of a state stored before. */
uint64_t exact_omissions(const struct exact *exact);

size_t exact_bytes(const struct exact *exact);

#endif
