/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Every content that a block of the arena has had, once, with a number.
 *
 * A world is then the list of its blocks' numbers: a few words in place of kilobytes, and two of them are equal when their
 * worlds are. Steps leave most blocks as they are, so that millions of worlds share some thousands of contents. */
#ifndef STATE_INTERN_H
#define STATE_INTERN_H

#include "base/arena.h"

struct intern;

#define INTERN_NONE UINT32_MAX /* no number */

/* NULL if memory is short. */
struct intern *intern_open(struct arena *arena);
void intern_close(struct intern *intern);

/* The number of what the block holds now; its hash is valid. Contents of different blocks have different numbers.
 * INTERN_NONE if memory is short. */
uint32_t intern_take(struct intern *intern, int block);

/* Gives the block the content with this number, which was one of its own. No block is marked, before or after. */
void intern_put(const struct intern *intern, int block, uint32_t number);

/* The content's hash, as the arena has it. */
uint64_t intern_hash(const struct intern *intern, uint32_t number);

/* Something that belongs to the content and is kept with it: `size` bytes, copied. False if memory is short. */
bool intern_attach(struct intern *intern, uint32_t number, const void *bytes, size_t size);

/* NULL if there is nothing. */
const void *intern_attached(const struct intern *intern, uint32_t number);

/* Copies a content of another one, with what is attached to it, for leaving the rest behind; returns its number here, the
 * same for the same. INTERN_NONE if memory is short. `from` is only good for further copies and for being closed then. */
uint32_t intern_move(struct intern *to, struct intern *from, uint32_t number);

uint32_t intern_count(const struct intern *intern);
size_t intern_bytes(const struct intern *intern);

#endif
