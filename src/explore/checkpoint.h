/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Checkpoints: a search is written to a file from time to time, and can be continued from it later.
 *
 * In the middle of a layer, the file has the frontier as actions (stack.h) and the fingerprints of the known
 * states. It always has counts and findings, and never a world. Only the same build of the program continues
 * it, with the same scenario and the same `identity` (explore.h). Limits and the number of workers may
 * differ.
 *
 * A checkpoint is taken between the expansions of two states. Each known state is then either expanded or in
 * the frontier, so no state is counted twice or left out. If a limit ends an expansion, the successors that
 * were not looked up are in the frontier too (STACK_UNSEEN).
 *
 * search->checkpoint is NULL if no checkpoint is written or continued. Then
 *
 * - checkpoint_resumes(), _is_done(), _layers_done(), _is_wanted() and _is_due() return false;
 * - checkpoint_take() returns NULL, and checkpoint_error() returns 0;
 * - checkpoint_save_layers() and checkpoint_save_end() do nothing;
 * - checkpoint_set(), _layer(), _enter(), _is_wrong() and _save() must not be called. */
#ifndef EXPLORE_CHECKPOINT_H
#define EXPLORE_CHECKPOINT_H

#include "explore/search.h"
#include "explore/stack.h"

#define CHECKPOINT_TEXT_MAX 1400

/* Checks that the file is complete, and of this build, these options and this scenario. Returns 0; or -1 with
 * texts for a complaint in `expected` and `found`. */
int checkpoint_check(const char *path, const char *identity, const struct scenario *scenario,
                     char expected[CHECKPOINT_TEXT_MAX], char found[CHECKPOINT_TEXT_MAX]);

/* Makes search->checkpoint if the options name a checkpoint to write or to continue. Reads the file to
 * continue from, up to the fingerprints. Returns false if that fails; search->wrong says why. */
bool checkpoint_open(struct search *search);
void checkpoint_close(struct search *search);

/* Returns true until checkpoint_enter() if the search is continued from a file. */
bool checkpoint_resumes(const struct search *search);

/* Tell, until checkpoint_enter(), where the search continues:
 * - checkpoint_is_done(): nothing is left to do.
 * - checkpoint_layers_done(): of the current set of run constants only the liveness (liveness.h) is left.
 * - checkpoint_set(), checkpoint_layer(): return the current set, and the fault budget of its layer. */
bool checkpoint_is_done(const struct search *search);
bool checkpoint_layers_done(const struct search *search);
int checkpoint_set(const struct search *search);
int checkpoint_layer(const struct search *search);

/* Sets counts and findings from the file, and fills search->visited if the file has states. Returns false if
 * that fails; search->wrong or search->limit says why. */
bool checkpoint_enter(struct search *search);

/* Takes and returns a stack that no worker has taken yet, owned by the checkpoint; NULL if there is none. */
const struct stack *checkpoint_take(const struct search *search);

void checkpoint_is_wrong(struct search *search, const char *why);

/* Returns true if checkpoints are to be written. */
bool checkpoint_is_wanted(const struct search *search);

bool checkpoint_is_due(const struct search *search);

/* Writes a checkpoint with these `count` stacks and those that no worker has taken. `stats` are the findings
 * of all workers. No worker may add states meanwhile. checkpoint_error() tells of a failure. */
void checkpoint_save(struct search *search, const struct check_stats *stats, const struct stack *stacks,
                     int count);

/* Write a checkpoint without states:
 * - checkpoint_save_layers(): all layers of this set of run constants are complete.
 * - checkpoint_save_end(): nothing is left to do. */
void checkpoint_save_layers(struct search *search);
void checkpoint_save_end(struct search *search);

/* Returns the errno of the last write; 0 = it succeeded, or there was none. */
int checkpoint_error(const struct search *search);

#endif
