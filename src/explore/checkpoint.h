/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search is kept in a file now and then, and goes on from it later: what waits as actions (stack.h), the fingerprints of
 * what was seen, counts and premises; never images of worlds. It goes on in the same build of the program, with the same
 * scenario and the options that make a search what it is; limits and the number of workers may differ.
 *
 * What is kept is a moment between two states, at which each state that was found is either expanded or waits: nothing is
 * counted twice or left out. All functions do nothing, and say no, if search->checkpoint is NULL. */
#ifndef EXPLORE_CHECKPOINT_H
#define EXPLORE_CHECKPOINT_H

#include "explore/search.h"
#include "explore/stack.h"

#define CHECKPOINT_TEXT_MAX 1400

/* Whether the file is whole and one of this build, of these options and this scenario. Returns 0; or -1 and says what was
 * expected and what was found. */
int checkpoint_check(const char *path, const char *identity, const struct scenario *scenario,
                     char expected[CHECKPOINT_TEXT_MAX], char found[CHECKPOINT_TEXT_MAX]);

/* Makes search->checkpoint, if the options say so, and reads what it goes on from up to the fingerprints. False if that fails;
 * search->wrong says why. */
bool checkpoint_open(struct search *search);
void checkpoint_close(struct search *search);

/* ---- going on ---- */

/* True until checkpoint_enter() if the search goes on from a file. */
bool checkpoint_resumes(const struct search *search);

/* Where it goes on: all is done, or the layers of a set of run constants are and who waits for ever is not known, or the set
 * and the budget of the layer. */
bool checkpoint_is_done(const struct search *search);
bool checkpoint_layers_done(const struct search *search);
int checkpoint_set(const struct search *search);
int checkpoint_layer(const struct search *search);

/* Sets counts and premises, and fills search->visited if there is one. False if that fails; search->wrong or ->limit
 * says why. */
bool checkpoint_enter(struct search *search);

/* One of the stacks to go on with, each to one worker; NULL if there are no more. It stays the checkpoint's. */
const struct stack *checkpoint_take(const struct search *search);

/* The file cannot be gone on with, because it is not what it seems. */
void checkpoint_is_wrong(struct search *search, const char *why);

/* ---- keeping ---- */

/* True if the search is kept at all; if it is time to. */
bool checkpoint_is_wanted(const struct search *search);
bool checkpoint_is_due(const struct search *search);

/* Keeps the search, whose stacks these are, besides those that nobody has taken; `stats` are those of all workers. Nothing may be
 * added to the set of states meanwhile. If it cannot be written, that is remembered and the search goes on. */
void checkpoint_save(struct search *search, const struct check_stats *stats, const struct stack *stacks,
                     int count);

/* Keeps that the layers of this set are complete; that all is done. */
void checkpoint_save_layers(struct search *search);
void checkpoint_save_end(struct search *search);

/* errno of the last time that it was kept; 0 = well. */
int checkpoint_error(const struct search *search);

#endif
