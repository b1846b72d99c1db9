/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What steps do, remembered: a step that has been done once in some surroundings is not done again in the same.
 *
 * A state is a list of numbers, one for the content of each block (state/intern.h). Whose turn it is can mostly be told from
 * a few blocks, the *scope* of a process: its own, the log and the servers. For each scope that was met there is an
 * *entry*: the actions that are enabled, and of each the *effect*: which blocks it changes to what, and the events that the
 * judges see. A step that has read blocks beyond its scope has an effect for each content of these. What the judges make
 * of events is remembered as well, by their block and the events.
 *
 * Most steps read less than their scope: a delivery looks at no server. An effect is therefore also found by the action
 * and the contents of the blocks that the step has read, in whatever entry. An action with such a set of blocks is a
 * *deed*.
 *
 * Everything is a list of 32-bit words in one array, found by the place where it begins. */
#ifndef EXPLORE_MEMO_H
#define EXPLORE_MEMO_H

#include "base/arena.h"
#include "trace/event.h"

#include <lockstep/sim.h>

struct memo;

#define MEMO_NONE 0u /* no place */

/* NULL if memory is short. */
struct memo *memo_open(struct world *world);
void memo_close(struct memo *memo);

/* Forgets everything. */
void memo_clear(struct memo *memo);

size_t memo_bytes(const struct memo *memo);

/* A state: of each block the number of its content, and that content's hash. */
struct memo_state {
    const uint32_t *number;
    const uint64_t *hash;
};

/* ---- entries: `group` is a process, or the number of processes for what is nobody's ---- */

/* What a group's entry for this state is looked up by. Asks for the memory that memo_entry() will read. */
uint64_t memo_ask(const struct memo *memo, int group, const struct memo_state *state);

/* The entry that was found or added last for this group, if none of these blocks, which have changed since, makes a difference to
 * it; MEMO_NONE otherwise. */
uint32_t memo_same(const struct memo *memo, int group, const uint64_t changed[2]);

/* The entry for this state, given what memo_ask() said of it; MEMO_NONE if there is none. */
uint32_t memo_entry(struct memo *memo, int group, const struct memo_state *state, uint64_t key);

/* Adds one, of `count` actions that were listed by reading the blocks `read`, whether something among them moves by itself, and a
 * note of the caller's, a number up to 254, -1 = none. MEMO_NONE if memory is short. If the blocks go beyond the scope, it grows, and
 * everything is forgotten. */
uint32_t memo_add_entry(struct memo *memo, int group, const struct memo_state *state,
                        const struct action *actions, int count, bool moves, int note,
                        const uint64_t read[2]);

int memo_actions(const struct memo *memo, uint32_t entry);
void memo_action(const struct memo *memo, uint32_t entry, int index, struct action *out);

/* As it was said when the entry was added; a note that did not fit is none. */
bool memo_moves(const struct memo *memo, uint32_t entry);
int memo_note(const struct memo *memo, uint32_t entry);

/* ---- effects ---- */

/* Whether a step may go before all others, see partial_is_alone(). */
enum memo_alone {
    MEMO_ALONE_NEVER,
    MEMO_ALONE_USED,   /* unless it had to leave something unused */
    MEMO_ALONE_UNUSED, /* in any case */
};

struct memo_change {
    uint32_t block;
    uint32_t number; /* of the content */
};

/* What the entry's action does in this state; MEMO_NONE if that is not known of this entry. */
uint32_t memo_effect(const struct memo *memo, uint32_t entry, int index, const uint32_t *state);

/* The effect that the same action had in another entry, with the same contents of the blocks that it read. From now on
 * memo_effect() knows it. MEMO_NONE if there is no such effect; `*short_of_memory` is set if memory is short. */
uint32_t memo_effect_elsewhere(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                               bool *short_of_memory);

/* Adds an effect that was seen, having read the blocks `read`; MEMO_NONE if memory is short. `events` is a place of
 * memo_events(), or MEMO_NONE for none. */
uint32_t memo_add_effect(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                         const uint64_t read[2], const struct memo_change *changes, int count,
                         uint32_t events, enum memo_alone alone);

int memo_changes(const struct memo *memo, uint32_t effect, const struct memo_change **changes);
enum memo_alone memo_effect_alone(const struct memo *memo, uint32_t effect);
uint32_t memo_effect_events(const struct memo *memo, uint32_t effect);

/* ---- events and what the judges make of them ---- */

/* The place of a list of events, which is added if it is new; MEMO_NONE if memory is short. */
uint32_t memo_events(struct memo *memo, const struct event *events, int count);
int memo_event_list(const struct memo *memo, uint32_t place, const struct event **events);

/* The judges' content after these events; `premises` then is a list of `*count` pairs: a property and how often its premise
 * was met. INTERN_NONE if it is not known. */
uint32_t memo_verdict(const struct memo *memo, uint32_t judges, uint32_t events, const uint32_t **premises,
                      int *count);
bool memo_add_verdict(struct memo *memo, uint32_t judges, uint32_t events, uint32_t after,
                      const uint32_t *premises, int count);

#endif
