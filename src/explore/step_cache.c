/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/step_cache.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/hash_table.h"
#include "state/intern.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX UINT32_MAX
#define MASKS_MAX 65536

struct scope {
    int count;
    int block[ARENA_BLOCKS_MAX];
    uint64_t bits[2];
};

struct mask {
    uint64_t bits[2];
};

/* The things at places. Each is followed by its lists. */
struct entry {
    uint32_t group;
    uint16_t count;
    uint8_t moves;
    uint8_t note; /* + 1; 0 = none */
    /* here: a number for each block of the scope, then a choice for each action */
};

struct choice {
    struct action action;
    uint32_t effect; /* valid only if `mask` is 0 */
    uint32_t
        mask; /* index of the set of blocks beyond the scope that its effects depend on; 0 = the empty set */
};

/* The effect of a choice or a deed for certain contents of the blocks in its mask. */
struct effect {
    uint32_t events;
    uint8_t changes;
    uint8_t alone;
    uint16_t contents;
    uint32_t owner; /* place of the choice or the deed */
    /* here: the numbers of these contents, then the changes */
};

/* An action and a set of blocks that it has read, in any entry. */
struct deed {
    struct action action;
    uint32_t mask;
};

struct events {
    uint32_t count;
    uint32_t reserved;
    struct event event[];
};

struct verdict {
    uint32_t judges, events, after;
    uint32_t count; /* number of pairs that follow */
};

struct memo {
    int groups;
    struct scope scope[WORLD_PROCESSES_MAX + 1];
    uint32_t *word;
    size_t words, words_max;
    struct hash_table entries, deeds, effects, events, verdicts; /* by hash: places */
    struct mask *mask;
    uint32_t masks;
    uint32_t last[WORLD_PROCESSES_MAX + 1]; /* by group: the entry found or added last; 0 = none */
};

_Static_assert(ARENA_BLOCKS_MAX <= UINT8_MAX, "changes are counted in a byte");
_Static_assert(sizeof(struct entry) % 4 == 0 && sizeof(struct choice) % 4 == 0 &&
                   sizeof(struct effect) % 4 == 0 && sizeof(struct deed) % 4 == 0,
               "what stands at places is made of words");

_Static_assert(sizeof(struct action) == 12, "an action has no padding, so its bytes may be compared");

static void *at_place(const struct memo *memo, uint32_t place)
{
    return memo->word + place;
}

static bool open_tables(struct memo *memo)
{
    memo->words = 2; /* MEMO_NONE, 0, is no place */
    memo->masks = 1;
    memo->mask = calloc(MASKS_MAX, sizeof *memo->mask);
    return memo->mask != NULL && hash_table_open(&memo->entries) && hash_table_open(&memo->deeds) &&
           hash_table_open(&memo->effects) && hash_table_open(&memo->events) &&
           hash_table_open(&memo->verdicts);
}

static void close_tables(struct memo *memo)
{
    free(memo->word);
    free(memo->mask);
    hash_table_close(&memo->entries);
    hash_table_close(&memo->deeds);
    hash_table_close(&memo->effects);
    hash_table_close(&memo->events);
    hash_table_close(&memo->verdicts);
}

struct memo *memo_open(struct world *world)
{
    struct memo *memo = calloc(1, sizeof *memo);
    if (memo == NULL) {
        return NULL;
    }
    memo->groups = world_get_options(world)->processes + 1;
    for (int group = 0; group < memo->groups; group++) {
        struct scope *scope = &memo->scope[group];
        scope->count = world_scope(world, group, scope->block);
        LS_ASSERT(scope->count > 0 && scope->count <= ARENA_BLOCKS_MAX);
        for (int i = 0; i < scope->count; i++) {
            arena_set_add(scope->bits, scope->block[i]);
        }
    }
    if (!open_tables(memo)) {
        memo_close(memo);
        return NULL;
    }
    return memo;
}

void memo_close(struct memo *memo)
{
    if (memo != NULL) {
        close_tables(memo);
        free(memo);
    }
}

void memo_clear(struct memo *memo)
{
    free(memo->word);
    memo->word = NULL;
    memo->words = 2;
    memo->words_max = 0;
    memo->masks = 1;
    memset(memo->last, 0, sizeof memo->last);
    hash_table_clear(&memo->entries);
    hash_table_clear(&memo->deeds);
    hash_table_clear(&memo->effects);
    hash_table_clear(&memo->events);
    hash_table_clear(&memo->verdicts);
}

size_t memo_bytes(const struct memo *memo)
{
    return memo->words_max * sizeof *memo->word + hash_table_bytes(&memo->entries) +
           hash_table_bytes(&memo->deeds) + hash_table_bytes(&memo->effects) +
           hash_table_bytes(&memo->events) + hash_table_bytes(&memo->verdicts);
}

/* Returns whether no table, mask or group has a place. */
static bool is_empty(const struct memo *memo)
{
    uint32_t last = 0;
    for (int group = 0; group < memo->groups; group++) {
        last |= memo->last[group];
    }
    return last == 0 && memo->masks == 1 && memo->entries.count == 0 && memo->deeds.count == 0 &&
           memo->effects.count == 0 && memo->events.count == 0 && memo->verdicts.count == 0;
}

static uint32_t take(struct memo *memo, size_t words)
{
    LS_ASSERT(words > 0);
    memo->words += memo->words & 1; /* events hold 64-bit numbers */
    if (memo->words + words > memo->words_max) {
        LS_ASSERT(memo->words_max > 0 || is_empty(memo));
        size_t more = memo->words_max + memo->words_max / 2 + words + 65536;
        if (more >= WORDS_MAX || !array_resize(&memo->word, more, sizeof *memo->word)) {
            return MEMO_NONE;
        }
        memo->words_max = more;
    }
    uint32_t place = (uint32_t)memo->words;
    memo->words += words;
    LS_ASSERT(memo->words <= memo->words_max);
    return place;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t finish(uint64_t hash)
{
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash << 32;
}

static uint32_t *key_of(struct entry *entry)
{
    return (uint32_t *)(entry + 1);
}

static struct choice *choice_at(const struct memo *memo, uint32_t entry, int index)
{
    struct entry *at = at_place(memo, entry);
    return (struct choice *)(void *)(key_of(at) + memo->scope[at->group].count) + index;
}

/* Adds up hashes: the hash of a content depends on its block too, so the order of blocks need not count. */
static uint64_t hash_scope(const struct scope *scope, int group, const uint64_t *hash)
{
    uint64_t sum = ((uint64_t)group + 1) * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < scope->count; i++) {
        sum += hash[scope->block[i]];
    }
    return sum;
}

static bool is_entry(const struct memo *memo, uint32_t place, int group, const uint32_t *number)
{
    struct entry *entry = at_place(memo, place);
    const struct scope *scope = &memo->scope[group];
    const uint32_t *key = key_of(entry);
    if (entry->group != (uint32_t)group) {
        return false;
    }
    for (int i = 0; i < scope->count; i++) {
        if (key[i] != number[scope->block[i]]) {
            return false;
        }
    }
    return true;
}

uint64_t memo_ask(const struct memo *memo, int group, const struct memo_state *state)
{
    uint64_t key = hash_scope(&memo->scope[group], group, state->hash);
    hash_table_prefetch(&memo->entries, key);
    return key;
}

static bool is_entry_of(const struct memo *memo, uint32_t place, int group)
{
    return place < memo->words && ((struct entry *)at_place(memo, place))->group == (uint32_t)group;
}

uint32_t memo_same(const struct memo *memo, int group, const uint64_t changed[2])
{
    const struct scope *scope = &memo->scope[group];
    bool same = ((scope->bits[0] & changed[0]) | (scope->bits[1] & changed[1])) == 0;
    uint32_t place = same ? memo->last[group] : MEMO_NONE;
    LS_ASSERT(place == MEMO_NONE || is_entry_of(memo, place, group));
    return place;
}

uint32_t memo_entry(struct memo *memo, int group, const struct memo_state *state, uint64_t key)
{
    uint32_t at = 0, place;
    do {
        place = hash_table_next(&memo->entries, key, &at);
    } while (place != MEMO_NONE && !is_entry(memo, place, group, state->number));
    memo->last[group] = place != MEMO_NONE ? place : 0;
    return place;
}

static void widen(struct memo *memo, struct scope *scope, const uint64_t read[2])
{
    if (((read[0] & ~scope->bits[0]) | (read[1] & ~scope->bits[1])) == 0) {
        return;
    }
    scope->count = 0;
    for (int block = 0; block < ARENA_BLOCKS_MAX; block++) {
        if (arena_set_has(scope->bits, block) || arena_set_has(read, block)) {
            arena_set_add(scope->bits, block);
            scope->block[scope->count++] = block;
        }
    }
    LS_ASSERT(scope->count == __builtin_popcountll(scope->bits[0]) + __builtin_popcountll(scope->bits[1]));
    memo_clear(memo);
}

uint32_t memo_add_entry(struct memo *memo, int group, const struct memo_state *state,
                        const struct action *actions, int count, bool moves, int note, const uint64_t read[2])
{
    LS_ASSERT(count >= 0 && count <= UINT16_MAX && note < 2 * count);
    struct scope *scope = &memo->scope[group];
    widen(memo, scope, read);
    size_t bytes = sizeof(struct entry) + (size_t)scope->count * sizeof(uint32_t) +
                   (size_t)count * sizeof(struct choice);
    uint32_t place = take(memo, bytes / sizeof(uint32_t));
    if (place == MEMO_NONE) {
        return MEMO_NONE;
    }
    struct entry *entry = at_place(memo, place);
    *entry = (struct entry){.group = (uint32_t)group,
                            .count = (uint16_t)count,
                            .moves = moves,
                            .note = (uint8_t)(note < UINT8_MAX ? note + 1 : 0)};
    for (int i = 0; i < scope->count; i++) {
        key_of(entry)[i] = state->number[scope->block[i]];
    }
    for (int i = 0; i < count; i++) {
        *choice_at(memo, place, i) = (struct choice){.action = actions[i]};
    }
    memo->last[group] = place;
    return hash_table_add(&memo->entries, hash_scope(scope, group, state->hash), place) ? place : MEMO_NONE;
}

int memo_actions(const struct memo *memo, uint32_t entry)
{
    return ((struct entry *)at_place(memo, entry))->count;
}

void memo_action(const struct memo *memo, uint32_t entry, int index, struct action *out)
{
    *out = choice_at(memo, entry, index)->action;
}

bool memo_moves(const struct memo *memo, uint32_t entry)
{
    return ((struct entry *)at_place(memo, entry))->moves != 0;
}

int memo_note(const struct memo *memo, uint32_t entry)
{
    return ((struct entry *)at_place(memo, entry))->note - 1;
}

static uint64_t hash_contents(uint32_t owner, const struct mask *mask, const uint32_t *state)
{
    uint64_t hash = owner;
    for (int word = 0; word < 2; word++) {
        for (uint64_t bits = mask->bits[word]; bits != 0; bits &= bits - 1) {
            hash = mix(hash, state[word * 64 + __builtin_ctzll(bits)]);
        }
    }
    return finish(hash);
}

static uint32_t *contents_of(struct effect *effect)
{
    return (uint32_t *)(effect + 1);
}

static int blocks_of(const struct mask *mask)
{
    return __builtin_popcountll(mask->bits[0]) + __builtin_popcountll(mask->bits[1]);
}

static bool is_effect(const struct memo *memo, uint32_t place, uint32_t owner, const struct mask *mask,
                      const uint32_t *state)
{
    struct effect *effect = at_place(memo, place);
    const uint32_t *number = contents_of(effect);
    if (effect->owner != owner || effect->contents != blocks_of(mask)) {
        return false;
    }
    for (int word = 0; word < 2; word++) {
        for (uint64_t bits = mask->bits[word]; bits != 0; bits &= bits - 1) {
            if (*number++ != state[word * 64 + __builtin_ctzll(bits)]) {
                return false;
            }
        }
    }
    return true;
}

/* Returns the effect of a choice or a deed in a state; MEMO_NONE if none is cached. */
static uint32_t effect_with(const struct memo *memo, uint32_t owner, uint32_t mask, const uint32_t *state)
{
    const struct mask *blocks = &memo->mask[mask];
    uint64_t hash = hash_contents(owner, blocks, state);
    uint32_t at = 0, place;
    do {
        place = hash_table_next(&memo->effects, hash, &at);
    } while (place != MEMO_NONE && !is_effect(memo, place, owner, blocks, state));
    return place;
}

/* Adds an effect; MEMO_NONE if memory is short. `changes` must not point into the cache, which may move. */
static uint32_t add_effect(struct memo *memo, uint32_t owner, uint32_t mask, const uint32_t *state,
                           struct effect what, const struct memo_change *changes)
{
    LS_ASSERT(what.changes <= ARENA_BLOCKS_MAX);
    const struct mask *blocks = &memo->mask[mask];
    int contents = blocks_of(blocks);
    uint32_t place = take(memo, sizeof what / 4 + (size_t)contents + 2 * (size_t)what.changes);
    if (place == MEMO_NONE) {
        return MEMO_NONE;
    }
    struct effect *effect = at_place(memo, place);
    *effect = what;
    effect->owner = owner;
    effect->contents = (uint16_t)contents;
    uint32_t *number = contents_of(effect);
    for (int word = 0; word < 2; word++) {
        for (uint64_t bits = blocks->bits[word]; bits != 0; bits &= bits - 1) {
            *number++ = state[word * 64 + __builtin_ctzll(bits)];
        }
    }
    memcpy(number, changes, what.changes * sizeof *changes);
    return hash_table_add(&memo->effects, hash_contents(owner, blocks, state), place) ? place : MEMO_NONE;
}

static uint32_t place_of(const struct memo *memo, const void *at)
{
    LS_ASSERT((const uint32_t *)at >= memo->word && (const uint32_t *)at < memo->word + memo->words);
    return (uint32_t)((const uint32_t *)at - memo->word);
}

uint32_t memo_effect(const struct memo *memo, uint32_t entry, int index, const uint32_t *state)
{
    const struct choice *choice = choice_at(memo, entry, index);
    return choice->mask == 0 ? choice->effect
                             : effect_with(memo, place_of(memo, choice), choice->mask, state);
}

/* Returns the index of a mask, which is added if it is new; 0 if there are too many. */
static uint32_t number_of(struct memo *memo, const struct mask *mask)
{
    for (uint32_t i = 1; i < memo->masks; i++) {
        if (memcmp(&memo->mask[i], mask, sizeof *mask) == 0) {
            return i;
        }
    }
    if (memo->masks == MASKS_MAX) {
        return 0;
    }
    memo->mask[memo->masks] = *mask;
    LS_ASSERT(memo->masks < MASKS_MAX);
    return memo->masks++;
}

/* Adds the blocks that were read beyond the scope to the mask of a choice. If the mask grows, effects under
 * the old one are not found any more. Returns false if there are too many masks. */
static bool widen_choice(struct memo *memo, uint32_t entry, int index, const uint64_t read[2])
{
    const struct scope *scope = &memo->scope[((struct entry *)at_place(memo, entry))->group];
    struct choice *choice = choice_at(memo, entry, index);
    struct mask mask = memo->mask[choice->mask];
    mask.bits[0] |= read[0] & ~scope->bits[0];
    mask.bits[1] |= read[1] & ~scope->bits[1];
    LS_ASSERT(((mask.bits[0] & scope->bits[0]) | (mask.bits[1] & scope->bits[1])) == 0);
    if ((mask.bits[0] | mask.bits[1]) != 0) {
        choice->mask = number_of(memo, &mask);
        return choice->mask != 0;
    }
    return true;
}

/* Gives the choice the effect at `place`, of a deed that read these blocks. Returns the choice's effect;
 * MEMO_NONE if memory is short, or there are too many masks. */
static uint32_t give_effect(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                            const uint64_t read[2], uint32_t place)
{
    struct memo_change changes[ARENA_BLOCKS_MAX];
    const struct memo_change *of_deed;
    if (!widen_choice(memo, entry, index, read)) {
        return MEMO_NONE;
    }
    struct choice *choice = choice_at(memo, entry, index);
    if (choice->mask == 0) {
        return choice->effect = place;
    }
    const struct effect effect = *(struct effect *)at_place(memo, place);
    memo_changes(memo, place, &of_deed);
    memcpy(changes, of_deed, effect.changes * sizeof *changes);
    return add_effect(memo, place_of(memo, choice), choice->mask, state, effect, changes);
}

static uint64_t hash_action(const struct action *action)
{
    uint32_t words[sizeof *action / sizeof(uint32_t)];
    uint64_t hash = 0;
    memcpy(words, action, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hash = mix(hash, words[i]);
    }
    return finish(hash);
}

/* Returns the place of the next deed of this action: the action with the blocks that it read. *at is used as
 * by hash_table_next(). Returns MEMO_NONE behind the last deed. */
static uint32_t next_deed(const struct memo *memo, const struct action *action, uint64_t hash, uint32_t *at)
{
    uint32_t place;
    do {
        place = hash_table_next(&memo->deeds, hash, at);
    } while (place != MEMO_NONE && memcmp(at_place(memo, place), action, sizeof *action) != 0);
    return place;
}

/* Returns the deed of this action with these blocks, added if it is new. MEMO_NONE if memory is short, or
 * there are too many masks. */
static uint32_t deed_of(struct memo *memo, const struct action *action, const uint64_t read[2])
{
    uint32_t mask = number_of(memo, &(struct mask){{read[0], read[1]}});
    uint64_t hash = hash_action(action);
    for (uint32_t at = 0, place; (place = next_deed(memo, action, hash, &at)) != MEMO_NONE;) {
        if (((struct deed *)at_place(memo, place))->mask == mask) {
            return place;
        }
    }
    uint32_t place = mask != 0 ? take(memo, sizeof(struct deed) / 4) : MEMO_NONE;
    if (place == MEMO_NONE) {
        return MEMO_NONE;
    }
    *(struct deed *)at_place(memo, place) = (struct deed){*action, mask};
    return hash_table_add(&memo->deeds, hash, place) ? place : MEMO_NONE;
}

uint32_t memo_effect_elsewhere(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                               bool *short_of_memory)
{
    const struct action action = choice_at(memo, entry, index)->action;
    uint64_t hash = hash_action(&action);
    for (uint32_t at = 0, deed; (deed = next_deed(memo, &action, hash, &at)) != MEMO_NONE;) {
        uint32_t mask = ((struct deed *)at_place(memo, deed))->mask;
        uint32_t effect = effect_with(memo, deed, mask, state);
        if (effect != MEMO_NONE) {
            effect = give_effect(memo, entry, index, state, memo->mask[mask].bits, effect);
            *short_of_memory |= effect == MEMO_NONE;
            return effect;
        }
    }
    return MEMO_NONE;
}

uint32_t memo_add_effect(struct memo *memo, uint32_t entry, int index, const uint32_t *state,
                         const uint64_t read[2], const struct memo_change *changes, int count,
                         uint32_t events, enum memo_alone alone)
{
    LS_ASSERT(count >= 0 && count <= ARENA_BLOCKS_MAX);
    const struct action action = choice_at(memo, entry, index)->action;
    uint32_t deed = deed_of(memo, &action, read);
    if (deed == MEMO_NONE) {
        return MEMO_NONE;
    }
    const struct effect effect = {.events = events, .changes = (uint8_t)count, .alone = (uint8_t)alone};
    uint32_t mask = ((struct deed *)at_place(memo, deed))->mask;
    uint32_t place = add_effect(memo, deed, mask, state, effect, changes);
    return place != MEMO_NONE ? give_effect(memo, entry, index, state, read, place) : MEMO_NONE;
}

int memo_changes(const struct memo *memo, uint32_t place, const struct memo_change **changes)
{
    struct effect *effect = at_place(memo, place);
    *changes = (const struct memo_change *)(void *)(contents_of(effect) + effect->contents);
    return effect->changes;
}

enum memo_alone memo_effect_alone(const struct memo *memo, uint32_t place)
{
    return (enum memo_alone)((struct effect *)at_place(memo, place))->alone;
}

uint32_t memo_effect_events(const struct memo *memo, uint32_t place)
{
    return ((struct effect *)at_place(memo, place))->events;
}

static uint64_t hash_events(const struct event *events, int count)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        const struct event *event = &events[i];
        hash = mix(hash, (uint64_t)event->kind | (uint64_t)event->process << 8 | (uint64_t)event->lock << 16 |
                             (uint64_t)event->owner << 24 | (uint64_t)(uint32_t)event->code << 32);
        hash = mix(hash, (uint64_t)event->zxid);
        hash = mix(hash, (uint64_t)event->cause);
        hash = mix(hash, (uint64_t)event->session);
    }
    return finish(hash);
}

static bool same_event(const struct event *a, const struct event *b)
{
    return a->kind == b->kind && a->process == b->process && a->lock == b->lock && a->owner == b->owner &&
           a->code == b->code && a->zxid == b->zxid && a->cause == b->cause && a->session == b->session;
}

static bool is_list(const struct memo *memo, uint32_t place, const struct event *events, int count)
{
    const struct events *list = at_place(memo, place);
    if (list->count != (uint32_t)count) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!same_event(&list->event[i], &events[i])) {
            return false;
        }
    }
    return true;
}

uint32_t memo_events(struct memo *memo, const struct event *events, int count)
{
    LS_ASSERT(count > 0);
    uint64_t hash = hash_events(events, count);
    uint32_t at = 0, place;
    while ((place = hash_table_next(&memo->events, hash, &at)) != MEMO_NONE) {
        if (is_list(memo, place, events, count)) {
            return place;
        }
    }
    place = take(memo, (sizeof(struct events) + (size_t)count * sizeof *events) / 4);
    if (place == MEMO_NONE) {
        return MEMO_NONE;
    }
    struct events *list = at_place(memo, place);
    *list = (struct events){.count = (uint32_t)count};
    for (int i = 0; i < count; i++) {
        list->event[i] = events[i];
        list->event[i].path = NULL; /* no judge reads it, and it is not valid for long */
    }
    return hash_table_add(&memo->events, hash, place) ? place : MEMO_NONE;
}

int memo_event_list(const struct memo *memo, uint32_t place, const struct event **events)
{
    const struct events *list = at_place(memo, place);
    *events = list->event;
    return (int)list->count;
}

static uint64_t hash_verdict(uint32_t judges, uint32_t events)
{
    return finish(mix(judges, events));
}

uint32_t memo_verdict(const struct memo *memo, uint32_t judges, uint32_t events, const uint32_t **premises,
                      int *count)
{
    uint64_t hash = hash_verdict(judges, events);
    uint32_t at = 0, place;
    while ((place = hash_table_next(&memo->verdicts, hash, &at)) != MEMO_NONE) {
        const struct verdict *verdict = at_place(memo, place);
        if (verdict->judges == judges && verdict->events == events) {
            *premises = (const uint32_t *)(verdict + 1);
            *count = (int)verdict->count;
            return verdict->after;
        }
    }
    return INTERN_NONE;
}

bool memo_add_verdict(struct memo *memo, uint32_t judges, uint32_t events, uint32_t after,
                      const uint32_t *premises, int count)
{
    LS_ASSERT(count >= 0 && after != INTERN_NONE);
    uint32_t place = take(memo, sizeof(struct verdict) / 4 + 2 * (size_t)count);
    if (place == MEMO_NONE) {
        return false;
    }
    struct verdict *verdict = at_place(memo, place);
    *verdict = (struct verdict){judges, events, after, (uint32_t)count};
    for (int i = 0; i < 2 * count; i++) {
        ((uint32_t *)(verdict + 1))[i] = premises[i];
    }
    return hash_table_add(&memo->verdicts, hash_verdict(judges, events), place);
}
