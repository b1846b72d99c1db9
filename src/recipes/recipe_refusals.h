/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Calls that mutex.h and session.h refuse:
 * - an argument is out of range, or an owner gives back what it does not hold,
 * - a blocking call is made in a callback,
 * - the mutex is closed.
 * A refused call changes nothing, so these calls may be made between any two steps. They belong to the
 * harness: the library does not contain this file. */
#ifndef RECIPES_RECIPE_REFUSALS_H
#define RECIPES_RECIPE_REFUSALS_H

#include <lockstep/mutex.h>

/* Returns NULL, or the text of a call that accepted a malformed argument. `mutex` is an open mutex of
 * `session`. A malformed argument is malformed in each state, so one call for each session is enough. */
const char *lock_arguments_taken(struct ls_session *session, struct ls_mutex *mutex);

/* Returns NULL, or the text of a call that was not refused with the right code. `mutexes` are `count`
 * mutexes of `session`, open or closed. Legal whenever no call, callback or timer is inside of the
 * library. The function makes no call while a lock of the session is asked for or held, or an answer about
 * contenders is awaited. */
const char *lock_refusals_broken(struct ls_session *session, struct ls_mutex *mutexes, int count);

#endif
