/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The set of states that a search has seen, each as a 64-bit fingerprint.
 *
 * It is one open-addressed table of 8 bytes a place (or a table of bits, see visited_open_bits()). Once it
 * has grown, it is about half to three quarters full; up to 15/16 if it cannot grow. The larger a
 * fingerprint, the further behind is its first place, so the table grows in place. Of n states, about n^2 /
 * 2^65 are expected to have the fingerprint of another one. The search omits these, and all states that only
 * they lead to. */
#ifndef STATE_VISITED_H
#define STATE_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct visited;

enum visited_answer {
    VISITED_NEW,   /* the state was not in the set, and is now */
    VISITED_KNOWN, /* the state was in the set */
    VISITED_FULL,  /* the state was not in the set, and there is no room for it */
};

/* Returns an empty table for one worker. The table takes at most three quarters of `bytes_max` bytes; less if
 * the address space is too small. NULL if the smallest table does not fit, or memory is refused. */
struct visited *visited_open(size_t bytes_max);

/* Returns such a table in memory that processes forked later share, for `workers` of them (1 to 64). */
struct visited *visited_open_shared(size_t bytes_max, int workers);

/* Returns a set of `bytes` bytes of bits (bitstate.h), which is never full; NULL if memory is refused. Not
 * for visited_copy() and _reserve(). */
struct visited *visited_open_bits(size_t bytes, int workers);

void visited_close(struct visited *visited);

/* Makes this process, or thread, the worker of that number, 0 to workers - 1, of a shared table. The table
 * can grow only while all other workers rest or call visited_add(). So a worker that adds nothing for a while
 * has to rest. */
void visited_join(struct visited *visited, int worker);

void visited_rest(struct visited *visited);
void visited_resume(struct visited *visited);

void visited_prefetch(const struct visited *visited, uint64_t fingerprint);

enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint);

bool visited_has(const struct visited *visited, uint64_t fingerprint);

/* Makes room for `count` states in an empty table. Returns false if its largest size has no room for them. */
bool visited_reserve(struct visited *visited, uint64_t count);

/* Copies at most `max` fingerprints, in the order of their places. Returns their number, 0 after the last.
 * *at is 0 for the first call, and is then kept by this function. No worker may add a state between these
 * calls. */
size_t visited_copy(const struct visited *visited, uint64_t *at, uint64_t *out, size_t max);

uint64_t visited_count(const struct visited *visited);

size_t visited_bytes(const struct visited *visited);

/* Returns how many of `states` states are expected to have the fingerprint of another one. */
double visited_expected_omissions(uint64_t states);

#endif
