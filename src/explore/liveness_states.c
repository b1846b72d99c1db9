/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/liveness_states.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/hash_table.h"
#include "explore/expansion.h"
#include "sim/waiters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY 4096u
#define TIMERS_NOTED 6
#define ROLES_NOTED 8     /* servers, directories, or handles and owners, of which labels are cached */
#define NOTED_UNFAIR 255u /* in place of label + 1: GRAPH_UNFAIR */

/* Cached answers about one content of a block: that of a process, or that of the budgets. */
struct noted {
    bool known;                  /* the answers are valid */
    uint32_t waits;              /* of a process: set of the waiters (sim/waiters.h) that wait */
    uint8_t left;                /* of budgets: number of faults that can still be bought */
    uint8_t timer[TIMERS_NOTED]; /* of a process, by timer: label + 1; 0 = not known */
    uint32_t ended;              /* of budgets: number of the content with nothing left */
};

struct collect {
    struct after *after;
    struct search *search;
    struct world *world;
    struct expansion *expansion;
    size_t blocks;
    int budgets;
    int process_block[WORLD_PROCESSES_MAX];
    struct hash_table nodes; /* by fingerprint: node + 1 */
    uint32_t *waits;         /* block numbers of the nodes from `first` on */
    size_t first, waits_max;
    size_t next;
    struct waiter waiter[WAITERS_MAX];
    int waiters;
    struct noted *noted; /* by number of a content */
    size_t noted_max;
    uint8_t label[ACTION_KINDS][WORLD_PROCESSES_MAX + 1][ROLES_NOTED]; /* label + 1, or 0; see label_of() */
};

void after_close(struct after *after)
{
    graph_close(&after->graph);
    free(after->fingerprint);
    free(after->parent);
    free(after->is_after);
    memset(after, 0, sizeof *after);
}

static bool end_for_memory(struct collect *c)
{
    if (c->search->limit == NULL) {
        c->search->limit = "memory is short";
    }
    return false;
}

static bool grow_lists(struct after *after)
{
    size_t more = array_more(after->nodes_max, 1024);
    bool grown = array_resize(&after->fingerprint, more, sizeof *after->fingerprint) &&
                 array_resize(&after->parent, more, sizeof *after->parent) &&
                 array_resize(&after->is_after, more, sizeof *after->is_after);
    after->nodes_max = grown ? more : after->nodes_max;
    return grown;
}

static bool make_room_to_wait(struct collect *c)
{
    size_t nodes = c->after->graph.nodes;
    LS_ASSERT(c->first <= c->next && c->next <= nodes);
    if (nodes - c->first < c->waits_max) {
        return true;
    }
    if (c->next - c->first > c->waits_max / 2) {
        memmove(c->waits, c->waits + (c->next - c->first) * c->blocks,
                (nodes - c->next) * c->blocks * sizeof *c->waits);
        c->first = c->next;
        return true;
    }
    return array_room(&c->waits, nodes - c->first, &c->waits_max, c->blocks * sizeof *c->waits, 1024);
}

static bool is_full(struct collect *c, uint32_t nodes)
{
    uint64_t most = c->search->options->states_max;
    if (most > 0 && nodes >= most) {
        c->search->limit = "the number of states reached its limit (see --max-states)";
    }
    return c->search->limit != NULL;
}

/* Returns the node with this fingerprint, added if it is new; GRAPH_NONE at a limit or if memory is short. */
static uint32_t node_of(struct collect *c, uint64_t fingerprint, const uint32_t *state, uint32_t parent,
                        bool is_after)
{
    struct after *after = c->after;
    uint32_t n = after->graph.nodes;
    for (uint32_t at = 0, number; (number = hash_table_next(&c->nodes, fingerprint, &at)) != 0;) {
        if (after->fingerprint[number - 1] == fingerprint) {
            return number - 1;
        }
    }
    if (is_full(c, n) || (n == after->nodes_max && !grow_lists(after)) || !make_room_to_wait(c) ||
        !hash_table_add(&c->nodes, fingerprint, n + 1) || !graph_add_node(&after->graph)) {
        return GRAPH_NONE;
    }
    LS_ASSERT(after->graph.nodes == n + 1 && (parent == GRAPH_NONE || parent < n));
    after->fingerprint[n] = fingerprint;
    after->parent[n] = parent;
    after->is_after[n] = is_after;
    after->after_nodes += is_after;
    memcpy(c->waits + (n - c->first) * c->blocks, state, c->blocks * sizeof *state);
    c->search->counts->states = n + 1u;
    return n;
}

static struct noted *note_of(struct collect *c, uint32_t number)
{
    if (number >= c->noted_max) {
        size_t more = (size_t)number * 2 + 1024;
        if (!array_resize(&c->noted, more, sizeof *c->noted)) {
            return NULL;
        }
        memset(c->noted + c->noted_max, 0, (more - c->noted_max) * sizeof *c->noted);
        c->noted_max = more;
    }
    return &c->noted[number];
}

/* Returns the waiters of one process that wait in the loaded state. */
static uint32_t waits_of(const struct collect *c, int p)
{
    uint32_t waits = 0;
    for (int i = 0; i < c->waiters; i++) {
        waits |= (uint32_t)(c->waiter[i].process == p && waiter_waits(&c->waiter[i])) << i;
    }
    return waits;
}

static bool mark_waiters(struct collect *c, const uint32_t *state, uint32_t *mark)
{
    int processes = world_get_options(c->world)->processes;
    *mark = 0;
    for (int p = 0; p < processes; p++) {
        struct noted *noted = note_of(c, state[c->process_block[p]]);
        if (noted == NULL) {
            return false;
        }
        if (!noted->known) {
            expansion_load(c->expansion, state);
            noted->known = true;
            noted->waits = waits_of(c, p);
        }
        *mark |= noted->waits;
    }
    return true;
}

/* Writes the state with nothing left of the budgets to *ended. Returns false if memory is short. */
static bool end_faults(struct collect *c, const uint32_t *state, uint32_t *ended, uint64_t *fingerprint)
{
    expansion_load(c->expansion, state);
    world_end_faults(c->world);
    LS_ASSERT(world_faults_left(c->world) == 0);
    return expansion_present(c->expansion, ended, fingerprint);
}

static struct noted *note_budgets(struct collect *c, const uint32_t *state)
{
    uint32_t number = state[c->budgets];
    struct noted *noted = note_of(c, number);
    if (noted != NULL && !noted->known) {
        uint32_t ended[ARENA_BLOCKS_MAX];
        uint64_t fingerprint;
        expansion_load(c->expansion, state);
        int left = world_faults_left(c->world);
        if (!end_faults(c, state, ended, &fingerprint)) {
            return NULL;
        }
        noted->known = true;
        noted->left = (uint8_t)left;
        noted->ended = ended[c->budgets];
    }
    return noted;
}

static unsigned channel_of(struct collect *c, const char *text)
{
    struct after *after = c->after;
    int i = 0;
    LS_ASSERT(after->channels >= 0 && after->channels <= AFTER_CHANNELS_MAX);
    while (i < after->channels && strcmp(after->channel[i], text) != 0) {
        i++;
    }
    if (i == AFTER_CHANNELS_MAX) {
        c->search->limit = "more kinds of steps than can be told apart";
        return GRAPH_UNFAIR;
    }
    if (i == after->channels) {
        snprintf(after->channel[after->channels++], WORLD_LABEL_MAX, "%s", text);
    }
    return (unsigned)i;
}

static unsigned look_at_label(struct collect *c, const uint32_t *state, const struct action *action)
{
    char text[WORLD_LABEL_MAX];
    expansion_load(c->expansion, state);
    return world_channel(c->world, action, text) ? channel_of(c, text) : GRAPH_UNFAIR;
}

/* Returns the number of an action's channel (world_channel()); GRAPH_UNFAIR if it has none, or there are too
 * many. Caches the channel of a timer by the action and the block of its process. Caches the channel of
 * another action by its kind, process, and server, directory or handle: in an after node, no other data
 * decides it. */
static unsigned label_of(struct collect *c, const uint32_t *state, const struct action *action)
{
    static uint8_t none;
    uint8_t *known = &none;
    none = 0;
    if (action->kind == ACTION_FIRE && action->timer < TIMERS_NOTED) {
        struct noted *noted = note_of(c, state[c->process_block[action->process]]);
        known = noted != NULL ? &noted->timer[action->timer] : &none;
    } else if (action->kind != ACTION_FIRE) {
        int p = action->process <= WORLD_PROCESSES_MAX ? action->process : WORLD_PROCESSES_MAX;
        unsigned role = action_has(action, TRAIT_SERVER)      ? action->server
                        : action_has(action, TRAIT_DIRECTORY) ? action->lock
                                                              : action->handle;
        known = role < ROLES_NOTED ? &c->label[action->kind][p][role] : &none;
    }
    if (*known == 0) {
        unsigned label = look_at_label(c, state, action);
        *known = label == GRAPH_UNFAIR ? NOTED_UNFAIR : (uint8_t)(label + 1);
    }
    return *known == NOTED_UNFAIR ? GRAPH_UNFAIR : *known - 1u;
}

/* Adds the nodes behind a fault. If more faults can follow, there is a before node. As this fault may be the
 * last one, there is an after node too. If the before node is known already, adds nothing: then the state
 * with nothing left of the budgets is an after node already, or becomes one later. */
static bool add_fault(struct collect *c, uint32_t from, int successor, const struct noted *noted)
{
    LS_ASSERT(from < c->after->graph.nodes && !c->after->is_after[from]);
    const uint32_t *state = expansion_state(c->expansion, successor);
    uint64_t fingerprint = expansion_fingerprint(c->expansion, successor);
    uint32_t ended[ARENA_BLOCKS_MAX];
    bool is_last = noted->left == 0, same = noted->ended == state[c->budgets];
    uint32_t before = c->after->graph.nodes;
    if (!is_last) {
        uint32_t n = node_of(c, fingerprint, state, from, false);
        if (n != before) {
            return n != GRAPH_NONE || end_for_memory(c);
        }
    }
    if (is_last && same) {
        return node_of(c, fingerprint, state, from, true) != GRAPH_NONE || end_for_memory(c);
    }
    return end_faults(c, state, ended, &fingerprint) &&
           (node_of(c, fingerprint, ended, from, true) != GRAPH_NONE || end_for_memory(c));
}

static bool add_before(struct collect *c, uint32_t n, const uint32_t *state, int count)
{
    const struct noted *here = note_budgets(c, state);
    if (here == NULL) {
        return end_for_memory(c);
    }
    int left = here->left;
    for (int i = 0; i < count; i++) {
        const uint32_t *to = expansion_state(c->expansion, i);
        const struct noted *noted = note_budgets(c, to);
        if (noted == NULL) {
            return end_for_memory(c);
        }
        if (noted->left != left
                ? !add_fault(c, n, i, noted)
                : node_of(c, expansion_fingerprint(c->expansion, i), to, n, false) == GRAPH_NONE) {
            return end_for_memory(c);
        }
    }
    return true;
}

static bool add_after(struct collect *c, uint32_t n, const uint32_t *state, int count)
{
    LS_ASSERT(c->after->is_after[n] && c->after->graph.closed == n);
    for (int i = 0; i < count; i++) {
        struct action action = *expansion_action(c->expansion, i);
        uint32_t to =
            node_of(c, expansion_fingerprint(c->expansion, i), expansion_state(c->expansion, i), n, true);
        unsigned label = label_of(c, state, &action);
        if (to == GRAPH_NONE || !graph_add_edge(&c->after->graph, to, label)) {
            return end_for_memory(c);
        }
    }
    return mark_waiters(c, state, &c->after->graph.mark[n]) || end_for_memory(c);
}

static bool expand(struct collect *c, uint32_t n)
{
    uint32_t state[ARENA_BLOCKS_MAX]; /* a copy: the list moves while it grows */
    LS_ASSERT(c->waits != NULL);
    LS_ASSERT(n >= c->first && n < c->after->graph.nodes);
    memcpy(state, c->waits + (n - c->first) * c->blocks, c->blocks * sizeof *state);
    int count = expansion_of(c->expansion, state, 0);
    bool goes_on = count >= 0 && (c->after->is_after[n] ? add_after : add_before)(c, n, state, count) &&
                   c->search->limit == NULL;
    graph_close_node(&c->after->graph);
    return goes_on;
}

static bool sweep(struct collect *c)
{
    bool swept = expansion_sweep(c->expansion);
    for (size_t i = c->next; swept && i < c->after->graph.nodes; i++) {
        swept = expansion_keep(c->expansion, c->waits + (i - c->first) * c->blocks);
    }
    expansion_swept(c->expansion);
    if (c->noted != NULL) {
        memset(c->noted, 0, c->noted_max * sizeof *c->noted); /* contents have new numbers now */
    }
    return swept || end_for_memory(c);
}

static void note_bytes(struct collect *c)
{
    const struct after *after = c->after;
    c->search->counts->waiting_bytes =
        graph_bytes(&after->graph) + expansion_bytes(c->expansion) +
        after->nodes_max * (sizeof *after->fingerprint + sizeof *after->parent + sizeof *after->is_after) +
        hash_table_bytes(&c->nodes) + c->waits_max * c->blocks * sizeof *c->waits +
        c->noted_max * sizeof *c->noted;
}

/* Adds the roots: the first state if it has faults left, and the first state with nothing left of the
 * budgets. */
static bool begin(struct collect *c)
{
    uint32_t state[ARENA_BLOCKS_MAX], ended[ARENA_BLOCKS_MAX];
    uint64_t fingerprint;
    int scope[ARENA_BLOCKS_MAX];
    c->expansion = expansion_open(c->search);
    if (c->expansion == NULL || !hash_table_open(&c->nodes)) {
        return end_for_memory(c);
    }
    c->blocks = (size_t)expansion_blocks(c->expansion);
    c->budgets = world_budget_block(c->world);
    LS_ASSERT(c->after->graph.nodes == 0);
    c->waiters = waiters_list(world_get_options(c->world), c->waiter);
    for (int p = 0; p < world_get_options(c->world)->processes; p++) {
        world_scope(c->world, p, scope);
        c->process_block[p] = scope[1];
    }
    if (!expansion_present(c->expansion, state, &fingerprint)) {
        return false;
    }
    if (world_faults_left(c->world) > 0 && node_of(c, fingerprint, state, GRAPH_NONE, false) == GRAPH_NONE) {
        return end_for_memory(c);
    }
    return end_faults(c, state, ended, &fingerprint) &&
           (node_of(c, fingerprint, ended, GRAPH_NONE, true) != GRAPH_NONE || end_for_memory(c));
}

bool after_open(struct after *after, struct search *search)
{
    memset(after, 0, sizeof *after);
    struct collect *c = calloc(1, sizeof *c);
    if (c == NULL) {
        search->limit = "memory is short";
        return false;
    }
    *c = (struct collect){.after = after, .search = search, .world = search->run->world};
    bool goes_on = begin(c);
    while (goes_on && c->next < after->graph.nodes) {
        if (c->next % LOOK_EVERY == 0) {
            note_bytes(c);
            search->look = 0;
            goes_on = !search_limited(search) && (!expansion_is_full(c->expansion) || sweep(c));
        }
        goes_on = goes_on && expand(c, (uint32_t)c->next++);
    }
    note_bytes(c);
    expansion_close(c->expansion);
    hash_table_close(&c->nodes);
    free(c->waits);
    free(c->noted);
    free(c);
    return goes_on;
}
