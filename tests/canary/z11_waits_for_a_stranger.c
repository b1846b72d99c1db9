/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z11: a stranger in the lock's directory is taken for a contender, and comes first.
 *
 * Source: CURATOR-43 (issue 281 of Netflix/curator), where the directory held a child called "content";
 * kazoo issue 309, mended by pull request 385 with a strict pattern for contenders (commit cc8ce89).
 *
 * The recipe takes each child for a contender. A child without a number sorts before the children that have
 * one, and no client ever deletes it. All clients wait, the first of them for the stranger.
 *
 * One client, no fault, and one child that another program has put there are enough. FIXED counts only names
 * with the prefix and ten digits.
 *
 * Caught by no_lost_wakeup. */
#include "skeleton/known_by_name.h"

static bool counts(const char *name)
{
#ifdef FIXED
    return number_of(name) >= 0;
#else
    (void)name;
    return true;
#endif
}

static const struct variation variation = {.is_contender = counts};

CANARY(.name = "z11-waits-for-a-stranger", .summary = "takes every child of the directory for a contender",
       .breaks = "no_lost_wakeup");
