/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that can do no more than one that was seen: the same but for less of a fault budget (--subsume).
 *
 * Whatever happens in such a state can happen in the other one too, to states that differ in the same way, so what is not
 * violated behind that one is not violated behind it. It is counted as known. How many states a search finds then depends on
 * the order in which it meets them. */
#ifndef EXPLORE_SUBSUME_H
#define EXPLORE_SUBSUME_H

#include "explore/search.h"

struct subsume;

/* NULL if memory is short. */
struct subsume *subsume_open(struct search *search);
void subsume_close(struct subsume *subsume);

/* True if a state with more left was seen. `budgets` is the hash of the block that holds what is left, `plain` the state's
 * fingerprint without renaming, `fingerprint` the one that states are compared by. `show` makes that block's content the
 * world's present one; it is called when this one is new. */
bool subsume_is_seen(struct subsume *subsume, uint64_t budgets, uint64_t plain, uint64_t fingerprint,
                     void (*show)(void *ctx), void *ctx);

#endif
