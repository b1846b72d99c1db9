/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that differ only in which process is which count as one.
 *
 * Processes with equal programs are told apart by what they have gone through, not by their names. A state is worth what it
 * is after its processes have been put into an order that follows from what they are: each gets a colour, a hash of its own
 * blocks and of what the others hold of it, in which everybody is "me" or "another"; they are sorted by colour, and all that
 * names a process (the owner of a session, of an attempt, of a watch) names its place in that order. Numbers have been
 * renamed before, so that neither tells who is who. A record in everybody's block that names one process only counts as its own:
 * its worth does not depend on the order, and mostly is known. Where colours leave a tie, each of the tied is taken for the first of
 * them once, and the others are looked at again; the least fingerprint counts.
 *
 * What is sound about it: if two states have the same fingerprint, one is the other with processes renamed, unless hashes
 * collide. The future is then the same up to names, if neither the coordinator nor the recipe makes a difference between
 * names: that is what a recipe says with `symmetric` (lockstep/recipe.h), and what tests/explore/test_symmetry.c checks. */
#ifndef BASE_SYMMETRY_H
#define BASE_SYMMETRY_H

#include "state/canon.h"

#include <stdbool.h>

#define SYMMETRY_PROCESSES_MAX 6 /* all alike, they have 720 orders */

/* Who owns which block. All arrays are copied. */
struct symmetry_layout {
    int owner[ARENA_BLOCKS_MAX];     /* process, -1 = everybody's */
    uint8_t alike[ARENA_BLOCKS_MAX]; /* the block of process 0 that is of the same kind */
    const void
        *self[SYMMETRY_PROCESSES_MAX]; /* an address outside of all blocks that stands for the process */
};

/* From now on fingerprints are up to the names of the `owners` that the canon was opened with. False if memory is short. */
bool symmetry_open(struct canon *canon, const struct symmetry_layout *layout);

/* For tests: the present state's fingerprint if process p had the place to[p]. */
uint64_t symmetry_under(struct canon *canon, const uint8_t *to);

#endif
