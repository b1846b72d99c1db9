/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* All states of a small world of the recipe "mutex", numbered in the order in which the test met them, with
 * their images. Two states with one fingerprint count as one; the test chooses the fingerprint. If a
 * function cannot do its work, it fails the test that calls it. */
#ifndef TESTS_SUPPORT_ALL_STATES_H
#define TESTS_SUPPORT_ALL_STATES_H

#include "scenario/run.h"

#include <stddef.h>
#include <stdint.h>

struct all_states {
    struct run run; /* its world is in the present state */
    struct scenario scenario;
    struct run_setup setup;
    struct world_image **image; /* image of each state, by its number */
    uint32_t count;             /* number of states */
    uint32_t most;              /* number of states that have room */
    uint64_t *key;              /* hash table of 2 * most fingerprints; 0 = free */
    uint32_t *place;            /* number of the state of each key */
};

/* Begins a run of the scenario's first set of run constants, for at most `most` states, a power of two. */
void all_states_open(struct all_states *all, const char *text, uint32_t most);
void all_states_close(struct all_states *all);

/* Returns the number of the present state. If all->count has grown, the state is new. */
uint32_t all_states_meet(struct all_states *all, uint64_t fingerprint);

/* Returns the number of the state with this fingerprint, or UINT32_MAX. */
uint32_t all_states_find(const struct all_states *all, uint64_t fingerprint);

/* Returns a hash of the label of an action. The action must be enabled. */
uint64_t all_states_label(struct all_states *all, const struct action *action);

/* Does each step of a state once, and calls `after` after each step with a hash of its label. */
void all_states_steps(struct all_states *all, uint32_t state,
                      void (*after)(void *context, const struct action *action, uint64_t label),
                      void *context);

#endif
