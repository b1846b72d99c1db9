/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Subsumption (--subsume): a state counts as known if a known one differs only in having more faults left.
 *
 *   Definition. A state subsumes another one if they are equal but for the budgets, and it has bought no
 *   fault more often.
 *   Claim. If a known state subsumes this one, each violation behind this state is also found without it.
 *   Premise. Steps: the budgets decide only which faults are enabled. More left disables no step, and changes
 *   the effect of none.
 *   Premise. Judges do not see the budgets: neither events nor struct check_context tell how much is left.
 *   Premise. Rest: no action that a budget pays for has TRAIT_MOVES, so both states are at rest or neither
 *   is.
 *   Why. docs/design/subsumption.md.
 *   Checked by. test_subsumed_states_hide_nothing in tests/explore/test_orders.c.
 *
 * A fingerprint is a sum over the blocks, so the budgets' block alone makes the difference. With --symmetry
 * it is no such sum, and the two exclude each other. How many states a search with --subsume finds depends on
 * its order. */
#ifndef EXPLORE_SUBSUME_H
#define EXPLORE_SUBSUME_H

#include "explore/search.h"

struct subsume;

/* Returns NULL if memory is short. */
struct subsume *subsume_open(struct search *search);
void subsume_close(struct subsume *subsume);

/* Returns true if a known state with fewer faults bought subsumes this one; false too if memory is short.
 * `budgets` is the hash of the block of the budgets. `plain` is the state's fingerprint without renaming,
 * `fingerprint` the one by which states are compared. `show` puts the block of the budgets into the world. It
 * is called if `budgets` is a hash that was not met before. */
bool subsume_is_seen(struct subsume *subsume, uint64_t budgets, uint64_t plain, uint64_t fingerprint,
                     void (*show)(void *ctx), void *ctx);

#endif
