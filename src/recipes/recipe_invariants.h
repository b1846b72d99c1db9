/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The invariants of a session and its claims. They hold whenever no call, callback or timer is inside of
 * the library:
 * - a claim has only watches, requests and timers that fit its state,
 * - session->leftovers is the number of leftovers, and ->reserved the sum over claims and shared counts,
 * - the questions of mutex.h agree with each other and with the claims,
 * - data that no step will read is cleared, so that states that behave alike have equal bytes.
 * The library does not contain this file. */
#ifndef RECIPES_RECIPE_INVARIANTS_H
#define RECIPES_RECIPE_INVARIANTS_H

#include <lockstep/session.h>

/* Returns NULL, or the text of a condition that does not hold. Pure. */
const char *lock_invariants_broken(const struct ls_session *session);

/* Returns NULL, or the text of a condition that does not hold for a session whose link is up and for which no
 * message is under way. Then each claim waits for another client, for its owner, or for a timer. Pure. */
const char *lock_invariants_stuck(const struct ls_session *session);

#endif
