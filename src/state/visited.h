/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The states that a search has seen, each as a 64-bit fingerprint.
 *
 * One open-addressed table of 8 bytes a place, between a half and three quarters full once it has grown. Places follow
 * the order of fingerprints, so that it grows where it lies, and reads and writes memory in order then. What is lost: of n states, n^2 / 2^65 are
 * to be expected to have the fingerprint of another one and to be left out with all that only they lead to. */
#ifndef STATE_VISITED_H
#define STATE_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct visited;

enum visited_answer {
    VISITED_NEW,   /* it was not there, and is now */
    VISITED_KNOWN, /* it was there */
    VISITED_FULL,  /* it was not there, and there is no room for it */
};

/* A table that takes at most three quarters of `bytes_max` bytes, also while it grows, for one worker; less if there are not so
 * many addresses. NULL if even the smallest does not fit or memory is refused. */
struct visited *visited_open(size_t bytes_max);

/* The same in memory that processes forked from now on share, for `workers` of them (1 to 64). */
struct visited *visited_open_shared(size_t bytes_max, int workers);

/* In their place, `bytes` bytes of bits, for searches that do not fit: see bitstate.h. It is never full, and is neither copied nor
 * filled. */
struct visited *visited_open_bits(size_t bytes, int workers);

void visited_close(struct visited *visited);

/* Of a shared table: this process, or thread, is one of its workers, 0 to workers - 1. It takes part from here on, and has
 * to add something now and then, or to rest, for the table to grow. */
void visited_join(struct visited *visited, int worker);

/* The worker adds nothing for a while; and is back. */
void visited_rest(struct visited *visited);
void visited_resume(struct visited *visited);

/* Asks for the memory that visited_add() will read. */
void visited_prefetch(const struct visited *visited, uint64_t fingerprint);

enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint);

/* True if it was added. */
bool visited_has(const struct visited *visited, uint64_t fingerprint);

/* Makes room in an empty table for so many at once, within its bound; false if that is too narrow. */
bool visited_reserve(struct visited *visited, uint64_t count);

/* Copies at most `max` fingerprints, from the place *at on, which is 0 in the beginning and moves on; returns how many, 0 when
 * that was all. Nobody may add anything meanwhile. They come in an order in which adding them is fast. */
size_t visited_copy(const struct visited *visited, uint64_t *at, uint64_t *out, size_t max);

/* Of all workers. */
uint64_t visited_count(const struct visited *visited);

/* Bytes that the table takes now. */
size_t visited_bytes(const struct visited *visited);

/* How many of `states` states are to be expected to share another one's fingerprint. */
double visited_expected_omissions(uint64_t states);

#endif
