/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Description of a lock: its kind, its group, and who may hold it at the same time.
 *
 * Locks of one group share a path. Their contenders stand in one line, ordered by creation. A group has
 * several locks if its contenders differ: a read-write lock is a group of two locks, one for readers and one
 * for writers.
 *
 * Admission. Holds of a group may stand beside each other if all of them are shared, and the sum of their
 * counts is at most the capacity. A capacity of 0 is no limit. Holds of one owner never exclude each other.
 *
 * A struct of zeros describes a mutex. */
#ifndef LOCKSTEP_LOCK_SPEC_H
#define LOCKSTEP_LOCK_SPEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of kinds never change. */
enum ls_lock_kind {
    LS_LOCK_MUTEX,      /* one holder */
    LS_LOCK_SEMAPHORE,  /* holders whose counts sum up to the capacity at most */
    LS_LOCK_READ_WRITE, /* one writer, or any number of readers */
    LS_LOCK_ELECTION,   /* one leader; a candidate stands again after a loss */
    LS_LOCK_KINDS
};

/* The bit of a kind in a mask of kinds. */
#define LS_LOCK_BIT(kind) (1u << (kind))

enum ls_lock_mode {
    LS_MODE_EXCLUSIVE, /* its hold stands alone in the group */
    LS_MODE_SHARED,    /* its hold stands beside other shared ones, as far as the capacity goes */
};

/* The state of an owner after the loss of its hold with the session or the node. */
enum ls_lock_loss {
    LS_LOSS_ENDS,  /* the owner has no claim, and asks anew */
    LS_LOSS_WAITS, /* the owner waits again without asking, until its grant or its failure is told */
};

struct ls_lock_spec {
    const char *name;  /* name in labels; NULL = the last part of its path */
    uint16_t capacity; /* units of the group; 0 = no limit. All locks of a group have the same */
    uint16_t count;    /* units that one hold takes; 0 counts as 1 */
    uint8_t kind;      /* enum ls_lock_kind; all locks of a group have the same */
    uint8_t group;     /* index of the first lock of the group; locks of a group are neighbours */
    uint8_t mode;      /* enum ls_lock_mode */
    uint8_t quorum;    /* coordinators that must grant it; always 0, as no world has several */
    uint32_t members;  /* locks that are taken with it, a bit for each index; always 0 yet */
    uint8_t loss;      /* enum ls_lock_loss */
};

#ifdef __cplusplus
}
#endif

#endif
