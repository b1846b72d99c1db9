/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that differ only in numbers that grow count as one (D3c).
 *
 * Whoever keeps such numbers in a block shows them, always in the same order. A block then is worth two things: a hash of
 * its bytes with these numbers blanked out, and the list of the numbers. Of all blocks together, each number is replaced by
 * its rank among those of its space; the ranks are part of the fingerprint. Two states have equal ones if an
 * order-preserving renaming in each space makes one of the other.
 *
 * A *bound* is a number that is only ever compared with others of its space, such as the last transaction that a client has
 * seen: what counts is how many of the others are at most as large, and it does not push these apart.
 *
 * Sessions have owners who take turns: the number n is one of the owner (n - 1) mod `owners`. A number is ranked among
 * those of its owner, whom a renaming keeps. There are no bounds among them. */
#ifndef BASE_CANON_H
#define BASE_CANON_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum canon_space {
    CANON_ZXID,
    CANON_SESSION, /* whose it is follows from the number, and nothing but that from the order of two owners' numbers */
    CANON_SEQUENCE,
    CANON_ATTEMPT, /* the counters in attempt ids; whose they are is no number that grows */
    CANON_SPACES,
};

struct canon;

/* Shows a block's numbers by the functions below. */
typedef void (*canon_show_fn)(void *ctx, int block, struct canon *canon);

/* `owners` of sessions: at least one, CANON_OWNERS_MAX at most. NULL if memory is short. */
#define CANON_OWNERS_MAX 32
struct canon *canon_open(struct arena *arena, int owners, canon_show_fn show, void *ctx);
void canon_close(struct canon *canon);

/* The fingerprint up to renaming. */
uint64_t canon_fingerprint(struct canon *canon);

/* What a block's content is worth: `size` bytes that may be copied, and are good until the next call. Its hash is valid. */
struct canon_part;
const struct canon_part *canon_part(struct canon *canon, int block, size_t *size);

/* What a part adds to fingerprints besides its numbers. */
uint64_t canon_skeleton(const struct canon_part *part);

/* The same fingerprint from the parts of all blocks and the fingerprint without renaming. The parts are kept for
 * canon_neighbour() and stay where they are until then. */
uint64_t canon_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain);

/* That of a state which differs from the one of the last canon_sum() in the blocks of these parts. */
uint64_t canon_neighbour(struct canon *canon, const struct canon_part *const *changed, int count,
                         uint64_t plain);

/* True if the last fingerprint is that of the state as it is. Then a part of the state was refused: its table of numbers was
 * full, or one of its numbers cannot be shown. */
bool canon_is_refused(const struct canon *canon);

/* What the fingerprint stands for: bytes that two states have in common if and only if one is the other renamed. Writes at
 * most `size` of them; returns how many there are. */
size_t canon_bytes(struct canon *canon, unsigned char *out, size_t size);

/* ---- for those who show: the place of a number in the block; 0 is no number ---- */

void canon_number(struct canon *canon, enum canon_space space, const int32_t *where);
void canon_bound(struct canon *canon, enum canon_space space, const int32_t *where);

/* The 64 bits follow from `number`. */
void canon_wide(struct canon *canon, enum canon_space space, const int64_t *where, int32_t number);

/* A sequence: zero is one, -1 is none. */
void canon_sequence(struct canon *canon, const int32_t *where);

/* An attempt id: its last 4 bytes are a counter, the highest first; byte 3 says whose counter it is. */
void canon_attempt(struct canon *canon, const uint8_t id[16]);

/* How many attempt ids that owner has handed out. */
void canon_attempts(struct canon *canon, int owner, const uint32_t *where);

/* Bytes that make no difference to what can happen. */
void canon_blank(struct canon *canon, const void *where, size_t size);

/* Bytes that count as if they were not there: the block then is worth what one without them is. Later ones lie behind earlier
 * ones, and numbers, records and blanks elsewhere. */
void canon_cut(struct canon *canon, const void *where, size_t size);

/* A size that counts as this one, because of what was cut. */
void canon_size(struct canon *canon, const uint16_t *where, uint16_t counts);

/* There are numbers that cannot be shown: the state is compared as it is. */
void canon_refuse(struct canon *canon);

/* ---- where processes are named, see symmetry.h: nothing happens unless they may change their names ---- */

/* `size` bytes name this process. */
void canon_role(struct canon *canon, const void *where, size_t size, int process);

/* What is shown until canon_record_end() belongs to a record that has no place among others, because processes' names have
 * put it there. Records with different salts stay apart. Of no bytes, it has only what is shown. */
void canon_record(struct canon *canon, const void *where, size_t size, uint32_t salt);
void canon_record_end(struct canon *canon);

/* These bytes, in everybody's block, hold pointers to what belongs to this process. */
void canon_owned(struct canon *canon, const void *where, size_t size, int process);

/* A path or a name: in each part of it, the sequence at the end and the counter in "_c_" and a UUID at the front. */
void canon_text(struct canon *canon, const char *text);

#endif
