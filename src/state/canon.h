/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Renaming: two states are one if they differ only by a renaming of numbers that grow, or (with
 * canon_processes_open()) in the names of processes. The argument, with an example, is
 * docs/design/renaming.md; tests/state/test_canon.c runs the example.
 *
 * Fingerprints. The owner of a block shows each number by the functions below, always in the same order. A
 * number counts by its rank among the numbers of its space that are present in the state. The fingerprint of
 * a state is a sum of the hash of each block with these places blanked, and of hashes of the ranks. If
 * processes may change their names, these are replaced too, see below.
 *
 * Two states with one fingerprint are one up to renaming, unless hashes collide. A number of which no copy is
 * shown counts as it is: a search visits more states than it has to. If some copies of a number are shown and
 * others are not, states with different futures may count as one, and the search overlooks runs. The same
 * holds if code depends on more than the order of shown numbers, and their equality.
 *
 * Bounds. A bound is only ever compared with numbers of its space, such as the last transaction that a client
 * has seen. It counts by how many of them are at most as large, and changes no rank.
 *
 * Sessions. The number n belongs to the owner (n - 1) mod `owners`. A session is ranked among the sessions of
 * its owner. No bound is a session. */
#ifndef STATE_CANON_H
#define STATE_CANON_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum canon_space {
    CANON_ZXID,
    CANON_SESSION, /* the number tells its owner; the order of two owners' numbers tells nothing */
    CANON_SEQUENCE,
    CANON_ATTEMPT, /* counters in attempt ids; each is ranked among those of its owner */
    CANON_SPACES,
};

struct canon;

/* Shows a block's numbers by the functions below. */
typedef void (*canon_show_fn)(void *ctx, int block, struct canon *canon);

/* Returns NULL if memory is short. Sessions have `owners` owners, 1 to CANON_OWNERS_MAX. */
#define CANON_OWNERS_MAX 32
struct canon *canon_open(struct arena *arena, int owners, canon_show_fn show, void *ctx);
void canon_close(struct canon *canon);

uint64_t canon_fingerprint(struct canon *canon);

/* The value of a block's content: a hash of its bytes without numbers, names and records, and lists of
 * these. */
struct canon_part;

/* Returns the part of a block whose hash in the arena is valid. Its `size` bytes may be copied. It is valid
 * until a function of this canon looks at another content of the block. */
const struct canon_part *canon_part(struct canon *canon, int block, size_t *size);

/* Returns the summand of fingerprints that does not depend on the part's numbers. */
uint64_t canon_skeleton(const struct canon_part *part);

/* Returns what canon_fingerprint() does, from the part of each block. The parts must stay in place while
 * canon_neighbour() is called. `plain` is the state's fingerprint without renaming. */
uint64_t canon_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain);

/* Returns the fingerprint of a state that differs from that of the last canon_sum() in the blocks of these
 * parts alone. `plain` is its fingerprint without renaming. */
uint64_t canon_neighbour(struct canon *canon, const struct canon_part *const *changed, int count,
                         uint64_t plain);

/* Returns true if the last fingerprint is the one without renaming, because a part was refused. The reason is
 * a full list, a block or a number that is too large, a negative number, or canon_refuse(). */
bool canon_is_refused(const struct canon *canon);

/* Writes at most `size` of the bytes that stand for the state up to renaming of numbers; returns how many
 * there are. Two states that are not refused have equal bytes if and only if one is the other renamed. Not
 * with canon_processes_open(). */
size_t canon_bytes(struct canon *canon, unsigned char *out, size_t size);

/* Processes with equal programs may change their names. A fingerprint is that of the state after its
 * processes are sorted, so two states that differ in names alone have one fingerprint. If a block has a
 * pointer into another process's block, names are not exchanged.
 *
 * A process is sorted by its colour: a hash of its own blocks, and of the records that name it in the blocks
 * of all. There the process is "me", and each other one is "another". Then the owner of a session, of an
 * attempt id or of a watch is replaced by its place in that order. Numbers are ranked before, and the rank of
 * a session does not tell its owner. A record that names one process alone counts as a part of that process.
 * If processes have one colour, each of them is put first once, all colours are computed again, and the least
 * fingerprint counts.
 *
 *   Definition. Two states are one up to names if exchanging names of processes, and renaming numbers, makes
 *   one the other.
 *   Claim. Two states with one fingerprint have the same future up to names, unless hashes collide.
 *   Premises. The world has one server and equal programs: world_is_symmetric() checks this. Neither
 *   coordinator nor recipe makes a difference between names; a recipe says so with `symmetric`
 *   (lockstep/recipe.h). Judges treat names alike: if the names in a run are exchanged, each verdict stays.
 *   Built-in judges are written so. For loaded ones open_canon() of explore.c uses no symmetry.
 *   Why. docs/design/symmetry.md.
 *   Checked by. tests/explore/test_symmetry.c: colours merge what trying all orders merges, and merged states
 *   have steps of the same kinds, which lead to merged states. */

#define CANON_PROCESSES_MAX 6 /* all alike, they have 720 orders */

struct canon_layout {
    int owner[ARENA_BLOCKS_MAX];           /* by block: process; -1 = a block of all processes */
    uint8_t alike[ARENA_BLOCKS_MAX];       /* by block: the block of process 0 of the same kind */
    const void *self[CANON_PROCESSES_MAX]; /* by process: the address, in no block, that stands for it */
};

/* Makes fingerprints up to the names of the canon's `owners`. Copies the layout. False if memory is short. */
bool canon_processes_open(struct canon *canon, const struct canon_layout *layout);

/* For tests: returns the present state's fingerprint if process p had the place to[p]. */
uint64_t canon_processes_under(struct canon *canon, const uint8_t *to);

/* ---- for canon_show_fn: the address of a number in the block that is shown; 0 is no number ---- */

void canon_number(struct canon *canon, enum canon_space space, const int32_t *where);
void canon_bound(struct canon *canon, enum canon_space space, const int32_t *where);

/* Shows a counter that may begin again: a bound, and the `ahead` numbers above it as bounds too. So the
 * fingerprint depends on which of these numbers are present, and on their distances from the counter. */
void canon_counter(struct canon *canon, enum canon_space space, const int32_t *where, int ahead);

/* Shows `number`, kept as 64 bits that follow from it. */
void canon_wide(struct canon *canon, enum canon_space space, const int64_t *where, int32_t number);

/* Shows a sequence. 0 is a number here, and -1 is none. */
void canon_sequence(struct canon *canon, const int32_t *where);

/* Shows an attempt id. Its last 4 bytes are a counter, the highest first; byte 3 is the counter's owner:
 * process + 1, or 0 = none. */
void canon_attempt(struct canon *canon, const uint8_t id[16]);

/* Shows the number of attempt ids that this owner (process + 1; 0 = none) has handed out. */
void canon_attempts(struct canon *canon, int owner, const uint32_t *where);

/* Leaves out bytes that no future depends on: they count as zeros. */
void canon_blank(struct canon *canon, const void *where, size_t size);

/* Cuts bytes out: the block counts as one without them. Cuts of a block come in ascending order. Numbers,
 * records and blanks lie outside of them. */
void canon_cut(struct canon *canon, const void *where, size_t size);

/* Shows a size as `counts`: the size that is left after a cut. */
void canon_size(struct canon *canon, const uint16_t *where, uint16_t counts);

/* Refuses a block with numbers that cannot be shown: the state is compared without renaming. */
void canon_refuse(struct canon *canon);

/* ---- names of processes: without canon_processes_open() these functions but canon_text() do nothing ---- */

void canon_role(struct canon *canon, const void *where, size_t size, int process);

/* Begins a record of `size` bytes; 0 = it has only numbers and names. A record is an element of a list whose
 * order follows from the names of processes, so its position does not count. Numbers and names shown until
 * canon_record_end() belong to it. Records with different salts count as different. */
void canon_record(struct canon *canon, const void *where, size_t size, uint32_t salt);
void canon_record_end(struct canon *canon);

/* Shows bytes in a block of all processes that hold pointers into the blocks of this process. */
void canon_owned(struct canon *canon, const void *where, size_t size, int process);

/* Shows the numbers in a path or a name: in each component the attempt id, written as a UUID, and the
 * sequence at its end. Works without canon_processes_open() too. */
void canon_text(struct canon *canon, const char *text);

#endif
