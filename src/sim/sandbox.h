/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The guard that watches the steps of recipes that are not trusted (D3b). src/plugin sets it. */
#ifndef SIM_SANDBOX_H
#define SIM_SANDBOX_H

#include "trace/event_names.h"

#include <stdbool.h>
#include <stddef.h>

struct world_guard {
    /* Calls fn(ctx). Returns false if it did not come back. Then writes the reason to *offence. Writes to
     * *where a text such as "SIGSEGV in on_created()", or NULL; the text is valid until the next call. */
    bool (*call)(void (*fn)(void *ctx), void *ctx, enum event_offence *offence, const char **where);

    /* Puts back variables that no recipe may change. Returns whether the call changed some. Then writes to
     * *where the name of one, or NULL. */
    bool (*changed)(const char **where);
};

/* Sets the guard of this process and its forks; NULL = recipes are trusted. *guard is used for ever. */
void world_set_guard(const struct world_guard *guard);

bool world_guard_is_set(void);

/* Returns whether a recipe is being called or asked right now, and no judge looks at an event.
 * Async-signal-safe. */
bool world_in_recipe(void);

/* Receives `size` bytes, without a zero behind them, that a recipe has written for people to read. */
typedef void (*world_output_fn)(void *ctx, int process, const char *text, size_t size);

/* Sets the receiver in this process and its forks; NULL = none, as at first. */
void world_set_output(world_output_fn output, void *ctx);

/* Hands output of the called recipe to the receiver. Drops it if no recipe is called or asked, or if the step
 * will be undone. */
void world_put_output(const char *text, size_t size);

/* Returns the number of guarded calls so far; each run of a step counts. Async-signal-safe. */
unsigned long world_calls(void);

#define WORLD_HEAP_BYTES 32768 /* bytes of a process: its state, its blocks, and what lies around them */

/* Returns memory of the process that is being called, aligned to 16, with unspecified contents. NULL = no
 * process is being called, or its heap is full or damaged. */
void *world_alloc(size_t size);
void world_free(void *memory);

/* Returns the size that a block of the called process was asked for with; 0 also if there is none. */
size_t world_alloc_size(const void *memory);

#endif
