/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Worlds that are drawn at random: larger than small worlds, and with features that no file combines.
 *
 * A number stands for one world, the same in every run and on every machine. RANDOM_ORDERS are exploring scenarios; each is tried
 * with random schedules (random.h) and never searched. RANDOM_TIMES are directed scenarios with a clock; each is one run. What a
 * recipe may lack (reentrancy, guarded writes, revocation, closing) is in some of the worlds alone. */
#ifndef SCENARIO_RANDOM_WORLDS_H
#define SCENARIO_RANDOM_WORLDS_H

#include <stddef.h>

#define RANDOM_WORLDS_SCHEDULES 60 /* of a world of RANDOM_ORDERS */

enum random_worlds {
    RANDOM_ORDERS, /* clients with programs, and budgets over the kinds of fault */
    RANDOM_TIMES,  /* commands, faults and stretches of time in a row */
    RANDOM_WORLDS
};

/* `random-orders`. */
const char *random_worlds_name(enum random_worlds kind);

/* Writes the scenario of the world with this number, which must be shorter than `size` bytes. */
void random_worlds_text(enum random_worlds kind, int number, char *text, size_t size);

#endif
