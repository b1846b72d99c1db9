/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Recipes that are not to be trusted (D3b): whoever has loaded one says how its steps are watched. */
#ifndef SIM_GUARD_H
#define SIM_GUARD_H

#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>

struct world_guard {
    /* Calls fn(ctx). False if it did not come back: `offence` and `where` say why and in which function; `where` may
     * be NULL, and lives until the next call. */
    bool (*call)(void (*fn)(void *ctx), void *ctx, enum event_offence *offence, const char **where);

    /* Between two calls: true if memory has changed that no recipe may change. It is then as it was before. */
    bool (*changed)(const char **where);
};

/* From now on, in this process and those that it forks; NULL = recipes are trusted. It lives for ever. */
void world_set_guard(const struct world_guard *guard);

/* Whether one is set. */
bool world_guard_is_set(void);

/* Whether a recipe is being called right now, and no judge looks at what it did. Async-signal-safe. */
bool world_in_recipe(void);

/* Takes what the recipe of a process has written for a look inside: `size` bytes, which nothing ends. */
typedef void (*world_output_fn)(void *ctx, int process, const char *text, size_t size);

/* Who takes it from now on, in this process and those that it forks; NULL, as at first, is nobody. */
void world_set_output(world_output_fn output, void *ctx);

/* Hands on what the recipe that is being called writes; not in a step that will be done again. */
void world_put_output(const char *text, size_t size);

/* How many times recipes have been called so far. Async-signal-safe. */
unsigned long world_calls(void);

#define WORLD_HEAP_BYTES 32768 /* of a process: its state, what it allocates, and what lies around these */

/* Memory of the process that runs, aligned to 16, as from malloc(): what it holds is not set. NULL if none runs, or there is no
 * more. */
void *world_alloc(size_t size);
void world_free(void *memory);

/* How many bytes such memory was asked for with; 0 if it is none of the process that runs. */
size_t world_alloc_size(const void *memory);

#endif
