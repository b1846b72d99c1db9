/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Renaming: two states are one if they differ only in numbers that grow, or in the names of processes.
 *
 * An example, with two clients and one server (tests/state/test_canon.c runs it). The server's block has
 * the number of its last transaction, and the holder of a lock. A client's block has the number of the last
 * transaction that the client has seen.
 *
 *     server                       client 0   client 1
 *     last 7, holder client 0      seen 7     seen 3       state A
 *     last 9, holder client 0      seen 9     seen 4       state B
 *     last 9, holder client 1      seen 4     seen 9       state C
 *     last 9, holder client 0      seen 4     seen 9       state D
 *
 * Numbers. Transaction numbers grow, and programs only compare them. So a number counts by its rank among
 * the numbers of its space. In A the ranks of 7, 7 and 3 are 2, 2 and 1. In B the ranks of 9, 9 and 4 are
 * the same. A and B are one state.
 *
 * Processes. Both clients have the same program. C is B with the names of the clients exchanged: the holder
 * has seen all transactions, and the other client has not. So A, B and C are one state up to names. D is
 * another one: there the holder has not seen all.
 *
 * How fingerprints are made. The owner of a block shows each number by the functions below, always in the
 * same order. The value of a block has two parts: the hash of its bytes with these places set to zero, and
 * the list of its numbers. The fingerprint of a state has the hashes of all blocks, and the rank of each
 * number. If processes may change their names, the places of processes are replaced too, see below.
 *
 * Two states with one fingerprint are one up to renaming, unless hashes collide. A number of which no copy is
 * shown counts as it is: a search visits more states than it has to. A search overlooks runs, because two
 * states become one, in two cases: some copies of a number are shown and others not, or programs look at the
 * value of a number that is shown.
 *
 * Bounds. A bound is only ever compared with other numbers of its space. An example is the last transaction
 * that a client has seen. A bound counts by how many of the others are at most as large, and changes no
 * rank.
 *
 * Sessions. The number n belongs to the owner (n - 1) mod `owners`. A session is ranked among those of its
 * owner. No bounds are sessions. */
#ifndef STATE_CANON_H
#define STATE_CANON_H

#include "base/arena.h"

#include <stdbool.h>
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

/* ---- processes that may change their names ---- */

/* Processes with equal programs may change their names. A state's fingerprint is that of the state after
 * its processes have been sorted, so that two states that differ in names alone have one.
 *
 * Each process gets a colour: a hash of its own blocks, and of the records that name it in the blocks of
 * all. In the hash the process is "me", and each other one is "another". Processes are sorted by colour.
 * Then the owner of a session, of an attempt id or of a watch is replaced by its place in that order.
 * Numbers are ranked before, and do not tell who is who. A record that names one process alone counts as a
 * part of that process.
 *
 * Two processes may have one colour. Then each of them is put first once, the colours of the others are
 * computed again, and the least fingerprint counts.
 *
 * Two states with one fingerprint have the same future up to names if neither the coordinator nor the
 * recipe makes a difference between names. A recipe says so with `symmetric` (lockstep/recipe.h).
 * tests/explore/test_symmetry.c compares the result with all orders of the processes. */

#define CANON_PROCESSES_MAX 6 /* all alike, they have 720 orders */

/* Who owns which block. All arrays are copied. */
struct canon_layout {
    int owner[ARENA_BLOCKS_MAX];           /* process, -1 = everybody's */
    uint8_t alike[ARENA_BLOCKS_MAX];       /* the block of process 0 that is of the same kind */
    const void *self[CANON_PROCESSES_MAX]; /* an address outside of all blocks that stands for the process */
};

/* From now on fingerprints are up to the names of the `owners` that the canon was opened with. Returns false
 * if memory is short. */
bool canon_processes_open(struct canon *canon, const struct canon_layout *layout);

/* For tests: the present state's fingerprint if process p had the place to[p]. */
uint64_t canon_processes_under(struct canon *canon, const uint8_t *to);

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

/* ---- where processes are named: nothing happens unless they may change their names ---- */

/* `size` bytes name this process. */
void canon_role(struct canon *canon, const void *where, size_t size, int process);

/* What is shown until canon_record_end() belongs to a record that has no place among others, because processes' names have
 * put it there. Records with different salts stay apart. Of no bytes, it has only what is shown. */
void canon_record(struct canon *canon, const void *where, size_t size, uint32_t salt);
void canon_record_end(struct canon *canon);

/* These bytes, in everybody's block, hold pointers to what belongs to this process. */
void canon_owned(struct canon *canon, const void *where, size_t size, int process);

/* A path or a name: in each part of it, an attempt id as a UUID, and the sequence at the end. */
void canon_text(struct canon *canon, const char *text);

#endif
