/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The expansion of a state: its successors. Both orders of search and liveness_states.c use it.
 *
 * A state is a list of numbers, one for the content of each block of the world (state/intern.h). If the
 * options permit a cache, successors are put together from cached effects of steps (step_cache.h). The world
 * itself does a step whose effect is not cached, and does it again when the search checks an effect
 * (self_check.h). */
#ifndef EXPLORE_EXPANSION_H
#define EXPLORE_EXPANSION_H

#include "explore/search.h"

struct expansion;

/* `search->run->world` must be in its first state. Returns NULL if memory is short. */
struct expansion *expansion_open(struct search *search);
void expansion_close(struct expansion *x);

/* Returns the number of blocks: so many numbers make a state. */
int expansion_blocks(const struct expansion *x);

/* Writes the world's present state and its fingerprint. Returns false if memory is short. */
bool expansion_present(struct expansion *x, uint32_t *state, uint64_t *fingerprint);

void expansion_load(struct expansion *x, const uint32_t *state);

/* Does all steps of a state that is `depth` steps from the first one (with --partial-order perhaps one), and
 * judges the state if it is at rest. `state` must stay in place while expansion_state() and
 * expansion_is_subsumed() are called for its successors.
 *
 * Returns the number of successors, or -1 if a violation, a limit or a failed check ends the search. After a
 * violation, expansion_action(x, 0) is the step that violates; if search->path_rests, the state at rest
 * violates. */
int expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth);

/* Return the action, the state and the fingerprint of a successor of the last expansion, even if the world
 * was put into other states since. The list of expansion_state() is valid until the next call of
 * expansion_state(), expansion_is_subsumed() or expansion_of(). */
const struct action *expansion_action(const struct expansion *x, int successor);
const uint32_t *expansion_state(struct expansion *x, int successor);
uint64_t expansion_fingerprint(const struct expansion *x, int successor);

bool expansion_is_subsumed(struct expansion *x, int successor);

size_t expansion_bytes(const struct expansion *x);

/* A sweep drops the cache and all contents but those of states that are still needed. It is due when
 * expansion_is_full(). First comes expansion_sweep(); then expansion_keep(), once for each needed state,
 * which writes its new numbers; then expansion_swept(). If memory is short, expansion_sweep() and
 * expansion_keep() return false. */
bool expansion_is_full(const struct expansion *x);
bool expansion_sweep(struct expansion *x);
bool expansion_keep(struct expansion *x, uint32_t *state);
void expansion_swept(struct expansion *x);

#endif
