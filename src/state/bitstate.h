/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that are remembered as a few bits each, for searches that do not fit: three bits of one large table, chosen by the
 * fingerprint. A state whose bits are all set is taken for known, and that can be wrong: it is then left out, with all that
 * only it leads to. So such a search can find what is violated, and never that nothing is. */
#ifndef STATE_BITSTATE_H
#define STATE_BITSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitstate;

/* A table of so many bytes, shared with processes that are forked from now on if `shared`. NULL if memory is refused. */
struct bitstate *bitstate_open(size_t bytes, bool shared);
void bitstate_close(struct bitstate *bits);

/* Asks for the memory that bitstate_add() will read. */
void bitstate_prefetch(const struct bitstate *bits, uint64_t fingerprint);

/* Sets the bits of a state; true if one of them was not set. Two workers that come to one new state at the same moment may both
 * be told that it is new. */
bool bitstate_add(struct bitstate *bits, uint64_t fingerprint);
bool bitstate_has(const struct bitstate *bits, uint64_t fingerprint);

size_t bitstate_bytes(const struct bitstate *bits);

/* How many states are to be expected to have been taken for known ones, when so many were told to be new: while the table
 * fills, the chance of that is the part of it that is set, to the power of the bits of a state. What only they lead to
 * is not among them: nobody has seen it. */
double bitstate_expected_omissions(size_t bytes, uint64_t states);

#endif
