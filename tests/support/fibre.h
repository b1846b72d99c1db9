/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Threads of which one runs at a time, and which change only where they say so: what a schedule of threads is made of.
 *
 * Each has a stack of its own and goes on where it left. Who runs next is for the caller of fibre_resume() to say, which is
 * what makes a run repeatable: a list of choices. */
#ifndef TESTS_SUPPORT_FIBRE_H
#define TESTS_SUPPORT_FIBRE_H

#include <stdbool.h>

#define FIBRES_MAX 8

/* Forgets all fibres, wherever they stand; their stacks are used again. */
void fibres_reset(void);

/* Makes one that calls fn(ctx) when it is resumed first. Returns its number, 0 for the first. */
int fibre_start(void (*fn)(void *ctx), void *ctx);

int fibre_count(void);

/* The one that runs; -1 outside. */
int fibre_self(void);

/* Runs it until it pauses, waits or returns. It must be able to run. */
void fibre_resume(int fibre);

/* True if it has not returned, and what it waits for is true. */
bool fibre_can_run(int fibre);
bool fibre_is_done(int fibre);

/* ---- within a fibre ---- */

/* Back to fibre_resume(). */
void fibre_pause(void);

/* Likewise, and it cannot run until ready(ctx) is true. */
void fibre_wait(bool (*ready)(void *ctx), void *ctx);

/* Never goes on. */
void fibre_give_up(void);

#endif
