/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A set of states that keeps three bits of one large table for each state, for searches whose fingerprints do
 * not fit into memory. The fingerprint chooses the bits. A state whose bits are all set counts as known. If
 * other states have set them, the search omits the state, and all states that only it leads to. So such a
 * search can find a violation, but cannot show that there is none. */
#ifndef STATE_BITSTATE_H
#define STATE_BITSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitstate;

/* Returns an empty table of `bytes` bytes, rounded up to a multiple of 8; NULL if memory is refused. With
 * `shared`, processes forked later share it. */
struct bitstate *bitstate_open(size_t bytes, bool shared);
void bitstate_close(struct bitstate *bits);

/* Prefetches the memory that bitstate_add() will read. */
void bitstate_prefetch(const struct bitstate *bits, uint64_t fingerprint);

/* Sets the bits of a state. Returns true if one of them was not set: then the state is new. If two workers
 * add one new state at once, both may get true. */
bool bitstate_add(struct bitstate *bits, uint64_t fingerprint);
bool bitstate_has(const struct bitstate *bits, uint64_t fingerprint);

size_t bitstate_bytes(const struct bitstate *bits);

/* Returns how many new states are expected to have been taken for known ones, while `states` states were
 * added. The chance is f^3 while the fraction f of the bits is set. States that only omitted states lead to
 * are not included: the search never met them. */
double bitstate_expected_omissions(size_t bytes, uint64_t states);

#endif
