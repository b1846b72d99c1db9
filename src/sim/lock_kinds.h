/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The kinds of lock, as a table for scenario files, lists and messages. Judges know only the specs of locks
 * (lockstep/lock_spec.h). The page docs/adding-a-lock-kind.md shows how to add a kind. */
#ifndef SIM_LOCK_KINDS_H
#define SIM_LOCK_KINDS_H

#include <lockstep/lock_spec.h>
#include <stdbool.h>

#define LOCKS_OF_A_KIND_MAX 2

/* A lock that a line of this kind declares. */
struct lock_of_kind {
    const char *suffix; /* what the lock's name has behind the line's name; NULL = no further lock */
    uint8_t mode;       /* enum ls_lock_mode */
};

struct lock_kind {
    const char *word;         /* first word of its line in scenario files */
    const char *usage, *help; /* the line, and half a sentence, for `lockstep list verbs` */
    bool has_units;           /* the line takes capacity=N and count=N */
    uint8_t loss;             /* enum ls_lock_loss, of each lock */
    struct lock_of_kind lock[LOCKS_OF_A_KIND_MAX];
};

/* Returns the row of a kind; NULL for a number that no kind has. */
const struct lock_kind *lock_kind_at(unsigned kind);

#endif
