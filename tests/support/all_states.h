/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* All states of a small world of our mutex, as numbers with their images, in the order in which they were met. Which states
 * are one is said by the fingerprint that the test takes. Each function fails the test that calls it if it cannot. */
#ifndef TESTS_SUPPORT_ALL_STATES_H
#define TESTS_SUPPORT_ALL_STATES_H

#include "scenario/run.h"

#include <stddef.h>
#include <stdint.h>

struct all_states {
    struct run run; /* its world is in the state that was restored or met last */
    struct scenario scenario;
    struct run_setup setup;
    struct world_image **image; /* of each state */
    uint32_t count;
    uint32_t most;
    uint64_t *key; /* fingerprints, and beside them the states */
    uint32_t *place;
};

/* Begins a run of the scenario's first set of run constants, for at most `most` states, a power of two. */
void all_states_open(struct all_states *all, const char *text, uint32_t most);
void all_states_close(struct all_states *all);

/* The number of the present state, whose fingerprint this is; if it is all->count - 1 it may be a new one. */
uint32_t all_states_meet(struct all_states *all, uint64_t fingerprint);

/* The number that a fingerprint has, or UINT32_MAX. */
uint32_t all_states_find(const struct all_states *all, uint64_t fingerprint);

/* A hash of the label of an action that is enabled. */
uint64_t all_states_label(struct all_states *all, const struct action *action);

/* Takes each step of a state once, and calls `after` behind it with a hash of its label. */
void all_states_steps(struct all_states *all, uint32_t state,
                      void (*after)(void *context, const struct action *action, uint64_t label),
                      void *context);

#endif
