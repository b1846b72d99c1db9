/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The states on the path from a search's first state to its present one, for going back.
 *
 * A state holds a copy of the blocks that have changed since the state before it, and shares the others; with each
 * block goes its hash, so that going back leaves nothing to hash again. Pushing and going back cost what the changed
 * blocks cost. */
#ifndef BASE_TRAIL_H
#define BASE_TRAIL_H

#include "base/arena.h"

struct trail;

/* Makes the arena's present state the first one. NULL if memory is short. */
struct trail *trail_open(struct arena *arena);
void trail_close(struct trail *trail);

/* Adds the arena's present state, whose fingerprint has just been taken. False if memory is short. */
bool trail_push(struct trail *trail);

/* Goes back to the newest state. */
void trail_back(struct trail *trail);

/* Forgets the newest state and goes back to the one before it. There is one. */
void trail_pop(struct trail *trail);

/* Number of states, and bytes that they take. */
int trail_depth(const struct trail *trail);
size_t trail_bytes(const struct trail *trail);

#endif
