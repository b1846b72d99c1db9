/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Worlds drawn at random, with more features at once than small worlds.
 *
 * A number identifies one world, the same in every run and on every machine. RANDOM_ORDERS are exploring
 * scenarios; each is run with random schedules (random.h) in place of a search. RANDOM_TIMES are directed
 * scenarios with a clock; each is one run. Abilities that a recipe may lack (reentrancy, guarded writes,
 * revocation, closing) occur only in some of the worlds. */
#ifndef SCENARIO_RANDOM_WORLDS_H
#define SCENARIO_RANDOM_WORLDS_H

#include <stddef.h>

#define RANDOM_WORLDS_SCHEDULES 60 /* random schedules for each world of RANDOM_ORDERS */

enum random_worlds {
    RANDOM_ORDERS, /* clients with programs, and budgets over the kinds of fault */
    RANDOM_TIMES,  /* a sequence of commands, faults and pauses */
    RANDOM_WORLDS
};

const char *random_worlds_name(enum random_worlds kind);

/* Writes the scenario of the world with this number, which must be shorter than `size` bytes. */
void random_worlds_text(enum random_worlds kind, int number, char *text, size_t size);

#endif
