/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Partial-order reduction (explore/persistent_set.h), on all states of small worlds. A persistent step, which may
 * be the only successor of its state, stays enabled while other steps go first. It commutes with each of
 * them: both orders lead to one state, judges included. The reduced search still reaches each state in
 * which nothing moves. */
#include "base/arena.h"
#include "base/hash.h"
#include "explore/persistent_set.h"
#include "state/canon.h"
#include "support/all_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATES_MAX (1u << 17)
#define PROCESSES 3

struct edge {
    uint64_t label;
    uint32_t to;
};

struct node {
    uint32_t first, count; /* its edges: index of the first, and number */
    bool moves;
    bool kept;                  /* the reduced search reaches it */
    uint64_t alone[PROCESSES];  /* label of the process's persistent step; 0 = none */
    uint64_t before[PROCESSES]; /* label of a persistent step of this state or an earlier one; 0 = none */
};

static struct all_states all;
static struct canon *canon;
static struct partial partial;
static struct node node[STATES_MAX];
static struct edge *edge;
static size_t edges, edges_max;
static uint32_t put_off; /* number of states to which a persistent step of an earlier state was put off */

/* ---- the graph ---- */

static void add_edge(void *context, const struct action *action, uint64_t label)
{
    struct node *from = context;
    if (edges == edges_max) {
        edges_max = edges_max * 2 + 4096;
        edge = realloc(edge, edges_max * sizeof *edge);
        assert_non_null(edge);
    }
    uint64_t fingerprint = canon != NULL ? canon_fingerprint(canon) : world_fingerprint(all.run.world);
    edge[edges++] = (struct edge){.label = label, .to = all_states_meet(&all, fingerprint)};
    from->moves |= search_moves(action, 1);
    from->count++;
}

static const struct edge *edge_of(uint32_t state, uint64_t label)
{
    for (uint32_t i = 0; i < node[state].count; i++) {
        if (edge[node[state].first + i].label == label) {
            return &edge[node[state].first + i];
        }
    }
    return NULL;
}

/* ---- persistent steps ---- */

/* Does the step. Returns whether it has kept to its process. */
static bool is_alone(const struct action *action, bool unused)
{
    struct world *world = all.run.world;
    struct arena *arena = world_arena(world);
    struct memo_change change[ARENA_BLOCKS_MAX];
    struct run_events events = {0};
    uint64_t hash[ARENA_BLOCKS_MAX];
    int changes = 0;
    arena_fingerprint(arena);
    memcpy(hash, arena->hash, sizeof hash);
    uint64_t uses = world_uses(world, action->process);
    arena->read[0] = arena->read[1] = 0;
    run_do_held(&all.run, action, 1, &events);
    uint64_t read[2] = {arena->read[0], arena->read[1]};
    bool stays = world_uses(world, action->process) == uses;
    arena_fingerprint(arena);
    for (int block = 0; block < arena->blocks; block++) {
        if (arena->hash[block] != hash[block]) {
            change[changes++].block = (uint32_t)block;
        }
    }
    bool alone = partial_is_alone(&partial, action->process, read, change, changes, &events);
    free(events.event);
    return alone && (!unused || stays);
}

/* Returns the label of the persistent step of a process, or 0. The edge with this label leads where it
 * leads. */
static uint64_t label_of_alone(uint32_t state, int process)
{
    struct action actions[WORLD_ACTIONS_MAX];
    struct world *world = all.run.world;
    int which;
    world_restore(world, all.image[state]);
    int count = world_actions_of(world, process, actions);
    enum world_alone alone = world_alone(world, process, actions, count, &which);
    if (alone == WORLD_ALONE_NEVER) {
        return 0;
    }
    uint64_t label = all_states_label(&all, &actions[which]);
    return is_alone(&actions[which], alone == WORLD_ALONE_IF_UNUSED) ? label : 0;
}

/* ---- independence ---- */

static const char *text_of(uint32_t state, uint64_t label)
{
    static char text[2][WORLD_LABEL_MAX];
    static int next;
    struct action actions[WORLD_ACTIONS_MAX];
    world_restore(all.run.world, all.image[state]);
    int count = world_actions(all.run.world, actions);
    for (int i = 0; i < count; i++) {
        if (all_states_label(&all, &actions[i]) == label) {
            next = 1 - next;
            world_label(all.run.world, &actions[i], text[next]);
            return text[next];
        }
    }
    return "?";
}

/* Checks that the persistent step of a process commutes with each other step of the state. The step is
 * still to come after these, so it is noted at their states. */
static void go_on_without(uint32_t state, int process)
{
    uint64_t label = node[state].before[process];
    const struct edge *first = edge_of(state, label);
    assert_non_null(first);
    for (uint32_t i = 0; i < node[state].count; i++) {
        const struct edge *other = &edge[node[state].first + i];
        if (other->label == label) {
            continue;
        }
        const struct edge *behind = edge_of(other->to, label), *before = edge_of(first->to, other->label);
        if (behind == NULL || before == NULL || behind->to != before->to) {
            fail_msg("it makes a difference whether '%s' goes before '%s'", text_of(state, label),
                     text_of(state, other->label));
        }
        assert_true(node[other->to].before[process] == 0 || node[other->to].before[process] == label);
        if (node[other->to].before[process] == 0) {
            node[other->to].before[process] = label;
            put_off++;
        }
    }
}

static void check_independence(void)
{
    uint32_t done;
    for (int p = 0; p < PROCESSES; p++) {
        for (uint32_t i = 0; i < all.count; i++) {
            node[i].before[p] = node[i].alone[p];
        }
        do {
            done = put_off;
            for (uint32_t i = 0; i < all.count; i++) {
                if (node[i].before[p] != 0) {
                    go_on_without(i, p);
                }
            }
        } while (put_off != done);
    }
}

/* Marks the states that the reduced search reaches. Returns their number. */
static uint32_t keep_reachable(void)
{
    static uint32_t waits[STATES_MAX];
    uint32_t count = 0;
    node[0].kept = true;
    waits[count++] = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct node *from = &node[waits[i]];
        uint64_t alone = 0;
        for (int p = 0; p < PROCESSES && alone == 0; p++) {
            alone = from->alone[p];
        }
        for (uint32_t k = 0; k < from->count; k++) {
            const struct edge *next = &edge[from->first + k];
            if ((alone == 0 || next->label == alone) && !node[next->to].kept) {
                node[next->to].kept = true;
                waits[count++] = next->to;
            }
        }
    }
    return count;
}

static void check(const char *text, bool renamed)
{
    struct explore_options options = {.partial_order = true};
    all_states_open(&all, text, STATES_MAX);
    struct search search = {.run = &all.run, .options = &options};
    assert_true(partial_open(&partial, &search));
    canon = renamed ? world_canon(all.run.world) : NULL;
    assert_true(!renamed || canon != NULL);
    memset(node, 0, sizeof node);
    edges = put_off = 0;
    all_states_meet(&all, renamed ? canon_fingerprint(canon) : world_fingerprint(all.run.world));
    for (uint32_t i = 0; i < all.count; i++) {
        node[i].first = (uint32_t)edges;
        all_states_steps(&all, i, add_edge, &node[i]);
    }
    uint32_t alone = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        for (int p = 0; p < partial.processes; p++) {
            node[i].alone[p] = label_of_alone(i, p);
            alone += node[i].alone[p] != 0;
        }
    }
    check_independence();
    uint32_t kept = keep_reachable();
    for (uint32_t i = 0; i < all.count; i++) {
        assert_true(node[i].moves || node[i].kept);
    }
    print_message("%u states, %u kept, %u steps alone\n", all.count, kept, alone);
    assert_true(alone > all.count / 20 && kept < all.count); /* the test would be empty otherwise */
    canon_close(canon);
    all_states_close(&all);
}

#define HEAD "world used untimed\nmutex /locks/x\n"
#define TAIL                                                                                                 \
    "----\nholds at_most_one_holder no_orphan_node granted_in_order bounded_work no_watch_left_behind\n"

static void as_they_are(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\n" TAIL, false);
    check(HEAD "process a b: acquire release\nexplore loss<=1\n" TAIL, false);
}

static void after_a_loss(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore loss<=1\n" TAIL, true);
    check(HEAD "process a b: acquire release\nexplore loss<=2\n" TAIL, true);
}

static void after_an_expiry(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore expire<=1\n" TAIL, true);
}

static void in_the_second_round(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release acquire release\n" TAIL, true);
}

static void among_three(void **state)
{
    (void)state;
    check(HEAD "process a b c: acquire release\n" TAIL, true);
}

static void with_a_follower(void **state)
{
    (void)state;
    check("world used untimed servers=2\nmutex /locks/x\nprocess a b: acquire release\n" TAIL, true);
}

static void with_a_follower_behind(void **state)
{
    (void)state;
    check("world used untimed servers=2\nmutex /locks/x\nprocess a: acquire\nprocess b: try\nexplore "
          "lag<=1\n" TAIL,
          true);
    check("world used untimed servers=2\nmutex /locks/x\nprocess a b: try\nexplore late<=1\n" TAIL, true);
}

static void with_other_faults(void **state)
{
    static const char *const budgets[] = {"pause<=1", "server<=1", "alloc<=1", "refuse<=1 loss<=1 total<=1"};
    (void)state;
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        char text[400];
        snprintf(text, sizeof text, HEAD "process a b: acquire release\nexplore %s\n" TAIL, budgets[i]);
        check(text, true);
    }
}

static void with_other_programs(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release stop\n" TAIL, true);
    check(HEAD "process a: acquire revocable release\nprocess b: revoke\n" TAIL, true);
    check(HEAD "process a: acquire nowait acquire owner=1 release\nprocess b: acquire release\n" TAIL, true);
    check("world untimed\nmutex /locks/x\nmutex /locks/y\nprocess a b: acquire x acquire y release y release "
          "x\n" TAIL,
          true);
}

static void with_a_cancel(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore cancel<=1 loss<=1 total<=1\n" TAIL, true);
}

static void with_a_deadline(void **state)
{
    (void)state;
    check(HEAD "process a: acquire release\nprocess b: acquire timeout=1s release\n" TAIL, true);
}

static void with_a_crash(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore crash<=1\n" TAIL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_they_are),
        cmocka_unit_test(after_a_loss),
        cmocka_unit_test(after_an_expiry),
        cmocka_unit_test(in_the_second_round),
        cmocka_unit_test(among_three),
        cmocka_unit_test(with_a_follower),
        cmocka_unit_test(with_a_follower_behind),
        cmocka_unit_test(with_a_cancel),
        cmocka_unit_test(with_a_deadline),
        cmocka_unit_test(with_a_crash),
        cmocka_unit_test(with_other_faults),
        cmocka_unit_test(with_other_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
