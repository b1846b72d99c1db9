/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Calls that mutex.h and session.h refuse, for example with bad arguments, without a connection, by an owner
 * that holds nothing, or on a closed mutex. A refused call changes nothing, so these calls may be made
 * between any two steps. The library does not contain this file. */
#ifndef RECIPES_RECIPE_REFUSALS_H
#define RECIPES_RECIPE_REFUSALS_H

#include <lockstep/mutex.h>

/* Returns NULL, or the text of a call that accepted a malformed argument or refused a valid one. `mutex` is
 * an open mutex of `session`. Such arguments are malformed in each state, so one call for each session is
 * enough. */
const char *lock_arguments_taken(struct ls_session *session, struct ls_mutex *mutex);

/* Returns NULL, or the text of a call that was not refused with the right code. `mutexes` are `count`
 * mutexes of `session`, open or closed. Legal whenever no call, callback or timer is inside of the
 * library. Open mutexes are passed over while the session has a claim, a survey or a request to a holder. */
const char *lock_refusals_broken(struct ls_session *session, struct ls_mutex *mutexes, int count);

#endif
