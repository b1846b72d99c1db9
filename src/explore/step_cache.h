/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The cache of steps: a step need not be done again in a state with equal contents of the blocks that it
 * reads.
 *
 * A state is a list of numbers, one for the content of each block (state/intern.h). The *scope* of a process
 * is a set of blocks from which its enabled actions follow. At first these are that of the world, its own,
 * and some of the coordinator's; memo_add_entry() adds others that are read. For the contents of a scope
 * there is an *entry*: the enabled actions, and the *effect* of each that was done. An effect is the changed
 * blocks with their new contents, and the events for the judges. A step that reads blocks beyond its scope
 * has an effect for each content of these. Verdicts are cached too: the judges' new content, by their old one
 * and the events.
 *
 * A step may read less than its scope. So an effect is also found by the action and the contents of the
 * blocks that it has read, in any entry. An action with such a set of blocks is a *deed*.
 *
 *   Claim. In a state with equal contents of the blocks that a step has read, the step has the same effect.
 *   Premise. A step depends on blocks alone, and the world notes each block before it is read (arena_read()).
 *   Why. In the other state the step reads equal contents, so it goes on alike, and writes the same.
 *   Checked by. test_a_step_depends_on_what_it_reads (tests/sim/test_intern.c), whole searches in
 *   tests/explore/test_enumerate.c, and samples by distrust_step().
 *
 * Entries, effects, deeds, lists of events and verdicts are lists of 32-bit words in one array. A *place* is
 * the index where one begins. */
#ifndef EXPLORE_STEP_CACHE_H
#define EXPLORE_STEP_CACHE_H

#include "base/arena.h"
#include "trace/event_names.h"

#include <lockstep/sim.h>

struct memo;

#define MEMO_NONE 0u /* no place */

/* Returns NULL if memory is short. */
struct memo *memo_open(struct world *world);
void memo_close(struct memo *memo);

void memo_clear(struct memo *memo);

size_t memo_bytes(const struct memo *memo);

/* A state: by block, the number and the hash of its content. */
struct memo_state {
    const uint32_t *number;
    const uint64_t *hash;
};

/* ---- entries: `group` is a process, or the number of processes for actions of no process ---- */

/* Returns the key of a group's entry for this state, and prefetches what memo_entry() reads first. */
uint64_t memo_ask(const struct memo *memo, int group, const struct memo_state *state);

/* Returns the entry found or added last for this group. MEMO_NONE if there is none, or if the group's scope
 * has a block of `changed`, the set of blocks that have changed since. */
uint32_t memo_same(const struct memo *memo, int group, const uint64_t changed[2]);

/* Returns the entry for this state, by its key of memo_ask(); MEMO_NONE if there is none. */
uint32_t memo_entry(struct memo *memo, int group, const struct memo_state *state, uint64_t key);

/* Adds an entry of `count` actions, which were listed by reading the blocks `read`, and returns it. `moves`:
 * one of them has TRAIT_MOVES. `note` is a number of the caller, below 2 * `count`, or -1 for none; it is
 * dropped if it is above 254. If `read` goes beyond the scope, the scope grows and the cache is cleared
 * first. Returns MEMO_NONE if memory is short. */
uint32_t memo_add_entry(struct memo *memo, int group, const struct memo_state *state,
                        const struct action *actions, int count, bool moves, int note,
                        const uint64_t read[2]);

int memo_actions(const struct memo *memo, uint32_t entry);
void memo_action(const struct memo *memo, uint32_t entry, int index, struct action *out);

/* Return `moves` and `note` of the entry. memo_note() returns -1 if there is no note, or it was dropped. */
bool memo_moves(const struct memo *memo, uint32_t entry);
int memo_note(const struct memo *memo, uint32_t entry);

/* Whether a step may go before all others, see persistent_set.h. */
enum memo_alone {
    MEMO_ALONE_NEVER,
    MEMO_ALONE_USED,   /* it changes world_uses(): only if world_alone() has answered WORLD_ALONE */
    MEMO_ALONE_UNUSED, /* it does not: also if the answer was WORLD_ALONE_IF_UNUSED */
};

struct memo_change {
    uint32_t block;
    uint32_t number; /* number of the new content */
};

/* Returns the effect of the entry's action in this state; MEMO_NONE if none is cached. */
uint32_t memo_effect(const struct memo *memo, uint32_t entry, int index, const uint32_t *state);

/* Returns the effect of the same action in any entry, where the blocks that the step read had the same
 * contents, and adds it to this entry. MEMO_NONE if there is none. If memory is short, or there are too many
 * sets of blocks, returns MEMO_NONE and sets *short_of_memory. */
uint32_t memo_effect_elsewhere(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                               bool *short_of_memory);

/* Adds the effect of a step that has read the blocks `read`, and returns it. `events` is a place of
 * memo_events(), or MEMO_NONE for no events. Returns MEMO_NONE if memory is short, or if there are too many
 * sets of blocks. */
uint32_t memo_add_effect(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                         const uint64_t read[2], const struct memo_change *changes, int count,
                         uint32_t events, enum memo_alone alone);

int memo_changes(const struct memo *memo, uint32_t effect, const struct memo_change **changes);
enum memo_alone memo_effect_alone(const struct memo *memo, uint32_t effect);
uint32_t memo_effect_events(const struct memo *memo, uint32_t effect);

/* Returns the place of a list of events, and adds the list if it is new. MEMO_NONE: memory is short. */
uint32_t memo_events(struct memo *memo, const struct event *events, int count);
int memo_event_list(const struct memo *memo, uint32_t place, const struct event **events);

/* Returns the number of the judges' content after these events. Sets *premises to a list of *count pairs: the
 * position of a property, and how often its premise was met. INTERN_NONE if the verdict is not cached. */
uint32_t memo_verdict(const struct memo *memo, uint32_t judges, uint32_t events, const uint32_t **premises,
                      int *count);
bool memo_add_verdict(struct memo *memo, uint32_t judges, uint32_t events, uint32_t after,
                      const uint32_t *premises, int count);

#endif
