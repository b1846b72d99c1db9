/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The successors of a state: what all orders of search do with each state that they have found.
 *
 * A state is a list of numbers, one for the content of each block of the world (state/intern.h). What steps do is
 * remembered (memo.h), so that most successors are put together from known contents; the world itself does a step only the
 * first time, or when the search does not believe what it remembers. */
#ifndef EXPLORE_EXPANSION_H
#define EXPLORE_EXPANSION_H

#include "explore/search.h"

struct expansion;

/* `search->run->world` is in its first state. NULL if memory is short. */
struct expansion *expansion_open(struct search *search);
void expansion_close(struct expansion *x);

/* How many numbers make a state. */
int expansion_blocks(const struct expansion *x);

/* The world's present state and its fingerprint. False if memory is short. */
bool expansion_present(struct expansion *x, uint32_t *state, uint64_t *fingerprint);

/* Puts the world into a state. */
void expansion_load(struct expansion *x, const uint32_t *state);

/* Does all steps of a state that is `depth` steps from the first one, and judges it if it is at rest. Returns how many
 * successors there are; -1 if the search is over: then, if something is violated, expansion_action(x, 0) is the step
 * that did it, unless search->path_rests. */
int expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth);

/* Of the last expansion. A state is good until the next one is asked for. The world may be put into other states
 * meanwhile: successors are lists of numbers. */
const struct action *expansion_action(const struct expansion *x, int successor);
const uint32_t *expansion_state(struct expansion *x, int successor);
uint64_t expansion_fingerprint(const struct expansion *x, int successor);

/* True if a state that was seen can do all that this one can, see subsume.h. */
bool expansion_is_subsumed(struct expansion *x, int successor);

/* ---- memory ---- */

size_t expansion_bytes(const struct expansion *x);

/* True when it is time to forget what is remembered, and all contents but those of states that are still needed: begin, keep
 * each of these once (they get other numbers), end. Keeping and beginning fail if memory is short. */
bool expansion_is_full(const struct expansion *x);
bool expansion_sweep(struct expansion *x);
bool expansion_keep(struct expansion *x, uint32_t *state);
void expansion_swept(struct expansion *x);

#endif
