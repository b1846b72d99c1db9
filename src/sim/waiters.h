/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Waiters: the waits that are judged one by one, for promises about waiting for ever.
 *
 * If the program of a process acquires for several owners, or several locks, each pair of an owner and a lock
 * that it acquires is a waiter. Otherwise the process is one waiter for all its waits. If a world would have
 * more than WAITERS_MAX waiters, each of its processes is one waiter. */
#ifndef SIM_WAITERS_H
#define SIM_WAITERS_H

#include <lockstep/sim.h>

#define WAITERS_MAX 32

struct waiter {
    uint8_t process;
    bool all; /* the waiter stands for all waits of its process; `lock` and `owner` do not count then */
    uint8_t lock, owner;
};

/* Lists the waiters of a world with these options, sorted by process. Returns their number, at least that of
 * the processes. */
int waiters_list(const struct world_options *options, struct waiter list[WAITERS_MAX]);

/* Returns whether the waiter waits: an acquire has no answer yet, or its owner waits again after a loss. */
bool waiter_waits(const struct waiter *waiter);

/* Returns the waiters of a list that wait now, a bit each. */
uint32_t waiters_waiting(const struct waiter *list, int count);

/* Writes the waiter's name: that of its process. For a pair, the lock's name follows if the world has several
 * locks, and `owner=N` unless N is 0. Names of the waiters of one list differ. */
void waiter_name(const struct world_options *options, const struct waiter *waiter,
                 char text[WORLD_LABEL_MAX]);

#endif
