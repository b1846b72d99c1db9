/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Functions that the recipes of src/lock share: some of struct ls_recipe that concern the session alone, and
 * helpers. `memory` is the state of a recipe, which begins with its struct ls_session. */
#ifndef RECIPES_RECIPE_SESSION_H
#define RECIPES_RECIPE_SESSION_H

#include <lockstep/recipe.h>
#include <lockstep/session.h>

/* Returns the options that the configuration asks for, at a constant address. */
const struct ls_session_options *recipe_session_options(const struct ls_recipe_config *config);

/* Writes the report of a session event to *what. Returns false if it would be a LOST without a session: its
 * loss was reported before, or it never began. */
bool recipe_event(enum ls_session_event event, int64_t session_id, struct ls_report *what);

/* Initialises the session with its listener. Returns a code of ls_session_init(). */
int recipe_init_session(struct ls_session *session, struct ls_session_listener *listener,
                        const struct ls_session_ops *ops, struct ls_env *env,
                        const struct ls_recipe_config *config, const struct ls_session_options *options);

/* - recipe_alloc_locks(): returns zeroed memory for `count` locks of `size` bytes, or NULL if memory is
 *   short.
 * - recipe_free_locks(): frees it.
 * Both take the environment's mutex. */
void *recipe_alloc_locks(struct ls_env *env, int count, size_t size);
void recipe_free_locks(struct ls_env *env, void *locks);

extern const struct ls_timer_row recipe_timers[];

bool recipe_idle(const void *memory);
zhandle_t *recipe_handle(const void *memory);
int recipe_multi(void *memory, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                 void_completion_t completion, const void *data);
void recipe_canon(const void *memory, struct ls_rename *rename);

/* The names of the states of an attempt, and a bit for each state that a claim of the session is in now.
 * Without a claim, bit 0 is set. Only semaphores have LOCK_TAKING, which the first two leave out. */
extern const char *const recipe_states[];
uint32_t recipe_states_now(const void *memory);
extern const char *const recipe_states_with_taking[];
uint32_t recipe_states_now_with_taking(const void *memory);

#endif
