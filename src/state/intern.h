/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Interning: each content of a block that intern_take() meets is kept once, and has a number.
 *
 * A state of the world is then the list of its blocks' numbers. Two lists are equal if and only if the states
 * are. A step changes few blocks, so many states share a content. */
#ifndef STATE_INTERN_H
#define STATE_INTERN_H

#include "base/arena.h"

struct intern;

#define INTERN_NONE UINT32_MAX /* no number */

struct intern *intern_open(struct arena *arena);
void intern_close(struct intern *intern);

/* Returns the number of the block's present content, which is added if it is new. The block's hash in the
 * arena must be valid. INTERN_NONE if memory is short. Contents of different blocks have different
 * numbers. */
uint32_t intern_take(struct intern *intern, int block);

/* Writes a content of this block into it. No block of the arena is marked before, and none afterwards. */
void intern_put(const struct intern *intern, int block, uint32_t number);

uint64_t intern_hash(const struct intern *intern, uint32_t number);

/* Attaches a copy of `size` bytes to a content. False if memory is short, or they are more than 65535. */
bool intern_attach(struct intern *intern, uint32_t number, const void *bytes, size_t size);

/* Returns the bytes attached to a content, owned by the intern; NULL if there are none. */
const void *intern_attached(const struct intern *intern, uint32_t number);

/* Copies a content, and the bytes attached to it, from another intern that will be closed. Returns its number
 * in `to`, the same at each call for this content; INTERN_NONE if memory is short. After the first call, only
 * intern_move() and intern_close() may be called for `from`. The first intern_take() of `to` comes after the
 * last call. */
uint32_t intern_move(struct intern *to, struct intern *from, uint32_t number);

uint32_t intern_count(const struct intern *intern);
size_t intern_bytes(const struct intern *intern);

#endif
