/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Fibres: threads of which one runs at a time. A fibre runs until it pauses, waits or returns.
 *
 * Each fibre has a stack of its own and goes on where it paused. The caller of fibre_resume() chooses the
 * fibre that runs next, so a list of choices repeats a run. */
#ifndef TESTS_SUPPORT_FIBRE_H
#define TESTS_SUPPORT_FIBRE_H

#include <stdbool.h>

#define FIBRES_MAX 8

/* Forgets all fibres, also those that have not returned. Their stacks are used again. */
void fibres_reset(void);

/* Makes a fibre that calls fn(ctx) when it is resumed first. Returns its number, 0 for the first one. */
int fibre_start(void (*fn)(void *ctx), void *ctx);

int fibre_count(void);

/* Returns the number of the fibre that runs; -1 = none. */
int fibre_self(void);

/* Runs a fibre until it pauses, waits or returns. Precondition: fibre_can_run(). */
void fibre_resume(int fibre);

/* Returns whether the fibre has not returned, and the condition for which it waits is true. */
bool fibre_can_run(int fibre);
bool fibre_is_done(int fibre);

/* ---- within a fibre ---- */

/* Pauses the fibre that runs, and returns to the caller of fibre_resume(). */
void fibre_pause(void);

/* Pauses the fibre. It cannot run again until ready(ctx) is true. */
void fibre_wait(bool (*ready)(void *ctx), void *ctx);

/* Pauses the fibre for ever. */
void fibre_give_up(void);

#endif
