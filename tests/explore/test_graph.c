/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Questions of liveness about graphs (explore/liveness_graph.h): which nodes can reach a mark, and which strongly
 * connected components are fair. Some small graphs are made by hand; many are drawn, and their answers
 * compared with those of a naive algorithm. */
#include "explore/liveness_graph.h"

#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NODES 9
#define GRAPHS 20000
#define EDGES_MAX 40

/* A drawn graph: a list of edges, sorted by their sources. */
struct drawn {
    int nodes, edges;
    int from[EDGES_MAX], to[EDGES_MAX];
    unsigned label[EDGES_MAX];
    uint32_t mark[NODES];
};

static void build(struct graph *graph, const struct drawn *drawn)
{
    memset(graph, 0, sizeof *graph);
    for (int n = 0; n < drawn->nodes; n++) {
        assert_true(graph_add_node(graph));
        graph->mark[n] = drawn->mark[n];
    }
    int e = 0;
    for (int n = 0; n < drawn->nodes; n++) {
        for (; e < drawn->edges && drawn->from[e] == n; e++) {
            assert_true(graph_add_edge(graph, (uint32_t)drawn->to[e], drawn->label[e]));
        }
        graph_close_node(graph);
    }
    assert_int_equal(graph->edges, (size_t)drawn->edges);
}

/* ---- the naive algorithm ---- */

/* Computes which nodes can be reached from which, by nodes with the mark alone. A node reaches itself. */
static void reach(const struct drawn *drawn, uint32_t mark, bool reached[NODES][NODES])
{
    memset(reached, 0, sizeof(bool[NODES][NODES]));
    for (int n = 0; n < drawn->nodes; n++) {
        reached[n][n] = (drawn->mark[n] & mark) == mark;
    }
    for (int turn = 0; turn < drawn->nodes; turn++) {
        for (int e = 0; e < drawn->edges; e++) {
            for (int n = 0; n < drawn->nodes; n++) {
                bool inside = (drawn->mark[drawn->to[e]] & mark) == mark;
                reached[n][drawn->to[e]] |= inside && reached[n][drawn->from[e]];
            }
        }
    }
}

static bool is_offered(const struct drawn *drawn, int n, unsigned label)
{
    for (int e = 0; e < drawn->edges; e++) {
        if (drawn->from[e] == n && drawn->label[e] == label) {
            return true;
        }
    }
    return false;
}

static bool is_offered_by_all(const struct drawn *drawn, const bool *member, unsigned label)
{
    for (int n = 0; n < drawn->nodes; n++) {
        if (member[n] && !is_offered(drawn, n, label)) {
            return false;
        }
    }
    return true;
}

/* Returns whether a run that stays in this set of nodes, and takes all of its edges, is fair. */
static bool can_stay(const struct drawn *drawn, const bool *member)
{
    for (unsigned label = 0; label < 8; label++) {
        bool taken = false;
        for (int e = 0; e < drawn->edges; e++) {
            taken |= drawn->label[e] == label && member[drawn->from[e]] && member[drawn->to[e]];
        }
        if (is_offered_by_all(drawn, member, label) && !taken) {
            return false;
        }
    }
    return true;
}

static void compare_kept(const struct graph *graph, const struct drawn *drawn)
{
    uint32_t kept[NODES];
    bool reached[NODES][NODES];
    assert_true(graph_kept(graph, kept));
    reach(drawn, 0, reached);
    for (int n = 0; n < drawn->nodes; n++) {
        uint32_t wanted = drawn->mark[n];
        for (int m = 0; m < drawn->nodes; m++) {
            wanted &= reached[n][m] ? drawn->mark[m] : ~0u;
        }
        assert_int_equal(kept[n], wanted);
    }
}

/* Checks the cycle of a component: its edges connect, it stays in the component, and it is fair. */
static void check_cycle(const struct graph *graph, const struct drawn *drawn, const uint32_t *component,
                        int n)
{
    size_t edge[1000];
    bool member[NODES] = {false};
    int count = graph_fair_cycle(graph, component, (uint32_t)n, edge, 1000);
    int here = n;
    assert_true(count >= 0);
    member[n] = true;
    for (int i = 0; i < count; i++) {
        assert_int_equal(drawn->from[edge[i]], here);
        here = drawn->to[edge[i]];
        assert_int_equal(component[here], component[n]);
        member[here] = true;
    }
    assert_int_equal(here, n);
    for (unsigned label = 0; label < 8; label++) {
        bool taken = false;
        for (int i = 0; i < count; i++) {
            taken |= drawn->label[edge[i]] == label;
        }
        assert_true(taken || !is_offered_by_all(drawn, member, label));
    }
}

static int compare_components(const struct graph *graph, const struct drawn *drawn, uint32_t mark)
{
    uint32_t component[NODES];
    bool fair[NODES], reached[NODES][NODES];
    int found = 0;
    assert_true(graph_components(graph, mark, component, fair));
    reach(drawn, mark, reached);
    for (int n = 0; n < drawn->nodes; n++) {
        bool member[NODES] = {false}, marked = (drawn->mark[n] & mark) != 0;
        assert_int_equal(component[n] != GRAPH_NONE, marked);
        for (int m = 0; m < drawn->nodes; m++) {
            member[m] = reached[n][m] && reached[m][n];
            assert_int_equal(marked && component[n] == component[m], member[m]);
        }
        assert_int_equal(fair[n], marked && can_stay(drawn, member));
        if (fair[n]) {
            check_cycle(graph, drawn, component, n);
            found++;
        }
    }
    return found;
}

static void test_drawn_graphs_are_answered_as_the_plain_way_does(void **state)
{
    uint64_t bits = 1;
    int fair = 0, unfair = 0;
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        struct drawn drawn = {.nodes = 1 + (int)((bits = hash_mix(bits + 1)) % NODES)};
        struct graph graph;
        for (int n = 0; n < drawn.nodes; n++) {
            bits = hash_mix(bits + 1);
            drawn.mark[n] = (uint32_t)(bits >> 7) & (bits & 1 ? 3u : 1u);
            for (unsigned k = (unsigned)(bits >> 20) & 3; k > 0; k--) {
                bits = hash_mix(bits + 1);
                drawn.from[drawn.edges] = n;
                drawn.to[drawn.edges] = (int)((bits >> 9) % (uint64_t)drawn.nodes);
                drawn.label[drawn.edges++] = bits & 8 ? GRAPH_UNFAIR : (unsigned)(bits & 7) % 5;
            }
        }
        build(&graph, &drawn);
        compare_kept(&graph, &drawn);
        int found = compare_components(&graph, &drawn, 1) + compare_components(&graph, &drawn, 2);
        fair += found > 0;
        unfair += found == 0;
        graph_close(&graph);
    }
    assert_in_range(fair, GRAPHS / 10, GRAPHS);
    assert_in_range(unfair, GRAPHS / 10, GRAPHS);
}

/* ---- by hand ---- */

static bool first_is_fair(const struct drawn *drawn)
{
    struct graph graph;
    uint32_t component[NODES];
    bool fair[NODES];
    build(&graph, drawn);
    assert_true(graph_components(&graph, 1, component, fair));
    graph_close(&graph);
    return fair[0];
}

static void test_who_never_does_what_is_always_possible_is_unfair(void **state)
{
    (void)state;
    /* The cycle takes label 0, while label 1 leads out of it and is enabled all the time. */
    struct drawn drawn = {.nodes = 3,
                          .edges = 4,
                          .from = {0, 0, 1, 1},
                          .to = {1, 2, 0, 2},
                          .label = {0, 1, 0, 1},
                          .mark = {1, 1, 0}};
    assert_false(first_is_fair(&drawn));
    drawn.label[3] = 2; /* label 1 is not enabled all the time */
    assert_true(first_is_fair(&drawn));
    drawn.label[3] = 1;
    drawn.label[2] = 1; /* label 1 is taken in the cycle */
    assert_true(first_is_fair(&drawn));
}

static void test_a_state_where_nothing_has_to_happen_is_fair(void **state)
{
    (void)state;
    struct drawn drawn = {.nodes = 2, .edges = 1, .to = {1}, .label = {GRAPH_UNFAIR}, .mark = {1, 0}};
    assert_true(first_is_fair(&drawn));
    drawn.label[0] = 3;
    assert_false(first_is_fair(&drawn));
    drawn.edges = 0;
    assert_true(first_is_fair(&drawn));
}

/* A cycle of a million nodes: an algorithm by recursion would exhaust the stack. */
static void test_a_long_way_round_needs_no_stack(void **state)
{
    enum { LONG = 1000000 };
    static uint32_t component[LONG], kept[LONG];
    static bool fair[LONG];
    struct graph graph = {0};
    (void)state;
    for (uint32_t n = 0; n < LONG; n++) {
        assert_true(graph_add_node(&graph));
        graph.mark[n] = 1;
        assert_true(graph_add_edge(&graph, (n + 1) % LONG, 0));
        graph_close_node(&graph);
    }
    assert_true(graph_components(&graph, 1, component, fair));
    assert_true(graph_kept(&graph, kept));
    assert_true(fair[0] && component[0] == component[LONG - 1] && kept[LONG / 2] == 1);
    size_t edge[2];
    assert_int_equal(graph_fair_cycle(&graph, component, 0, edge, 2), -1);
    assert_true(graph_bytes(&graph) > LONG * (size_t)20);
    graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn_graphs_are_answered_as_the_plain_way_does),
        cmocka_unit_test(test_who_never_does_what_is_always_possible_is_unfair),
        cmocka_unit_test(test_a_state_where_nothing_has_to_happen_is_fair),
        cmocka_unit_test(test_a_long_way_round_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
