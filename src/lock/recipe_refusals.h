/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The calls that mutex.h and session.h refuse. A refused call changes nothing, so that it may be tried between any two steps.
 * Each is one that its comment in the header names: an argument is out of range, the owner has nothing to give back, a blocking
 * call is made in a callback, the mutex is closed.
 * They belong to the harness: the library does not contain this file. */
#ifndef LOCK_RECIPE_REFUSALS_H
#define LOCK_RECIPE_REFUSALS_H

#include <lockstep/mutex.h>

/* Returns NULL, or the text of a call that was not refused with the right code. `mutex` is a mutex of the session, or a closed
 * one. Legal whenever no call, callback or timer is inside of the library. Tries nothing while anybody asks for a lock of the
 * session, holds one, or waits for an answer about contenders. */
const char *lock_refusals_broken(struct ls_session *session, struct ls_mutex *mutex);

#endif
