/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An enumerator that shares nothing with the search: no snapshots, no fingerprints, no reductions. It does
 * each list of choices from the start, and distinguishes states by all their bytes. It must find the same
 * states as the breadth-first search, each at the same depth.
 *
 * The test hears of the search's steps and of its look-ups of states through wrapped functions. */
#include "base/arena.h"
#include "explore/expansion.h"
#include "scenario/recipes.h"
#include "sim/world.h"
#include "state/visited.h"

#include <lockstep/error.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEPTH_MAX 64

/* ---- a set of states: two independent sums over all live bytes, 128 bits, and the depth at which it was
 * found ---- */

struct known {
    uint64_t a, b;
    int depth;
};

static struct known *table;
static size_t places, known_states;

static struct known present_state(int depth)
{
    struct known state = {.a = 14695981039346656037u, .b = 88172645463325252u, .depth = depth};
    const struct arena *arena = &the_world.arena;
    for (int block = 0; block < arena->blocks; block++) {
        const unsigned char *bytes = arena_at(arena, block);
        uint32_t used = ((const struct arena_block *)bytes)->used;
        for (uint32_t i = 0; i < used; i++) {
            state.a = (state.a ^ bytes[i]) * 1099511628211u;
            state.b = (state.b + bytes[i] + 1) * 6364136223846793005u;
            state.b ^= state.b >> 29;
        }
    }
    return state;
}

/* Returns the slot of a state in the table, or the free slot that is to have it. */
static struct known *find(const struct known *state)
{
    size_t at = (size_t)(state->a % places);
    while (table[at].depth >= 0 && (table[at].a != state->a || table[at].b != state->b)) {
        at = at + 1 < places ? at + 1 : 0;
    }
    return &table[at];
}

static void open_set(void)
{
    places = 1u << 22;
    known_states = 0;
    table = malloc(places * sizeof *table);
    assert_non_null(table);
    for (size_t i = 0; i < places; i++) {
        table[i].depth = -1;
    }
}

/* ---- the enumerator ---- */

struct enumeration {
    struct run run;
    int depth_max;
    bool all_lists; /* go on also from a state that was seen with as many choices left */
    uint64_t lists;
    int choice[DEPTH_MAX];
};

/* Does the list of choices from the start. Returns how many choices there are at its end. */
static int do_again(struct enumeration *e, int depth)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    run_begin(&e->run, SCHEDULE_SEARCH, e->run.setup.seed);
    for (int i = 0; i < depth; i++) {
        int count = world_actions(e->run.world, enabled);
        assert_true(e->choice[i] < count);
        assert_int_equal(run_apply(&e->run, &enabled[e->choice[i]]), 0);
    }
    return world_actions(e->run.world, enabled);
}

static void enumerate(struct enumeration *e, int depth)
{
    int count = do_again(e, depth);
    struct known state = present_state(depth), *place = find(&state);
    bool later = place->depth >= 0 && place->depth <= depth;
    e->lists++;
    known_states += place->depth < 0;
    assert_true(known_states < places / 2);
    if (!later) {
        *place = state;
    }
    if (depth == e->depth_max || (later && !e->all_lists)) {
        return;
    }
    for (int i = 0; i < count; i++) {
        e->choice[depth] = i;
        enumerate(e, depth + 1);
    }
}

/* ---- states that the search finds ---- */

static struct {
    bool listening;
    int depth_max;
    uint64_t found[DEPTH_MAX + 1]; /* number of states, by depth */
    uint64_t strange;              /* states that the enumerator lacks, or has at another depth */
    volatile int stop;
} heard;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth);
int __wrap_expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth);
int __wrap_expansion_of(struct expansion *x, const uint32_t *state, uint64_t depth)
{
    heard.stop = (int)depth > heard.depth_max;
    if (!heard.stop) {
        expansion_load(x, state);
        struct known known = present_state((int)depth);
        heard.found[depth]++;
        heard.strange += find(&known)->depth != (int)depth;
    }
    return __real_expansion_of(x, state, depth);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- the comparison ---- */

static void compare(const struct run_setup *setup, int depth_max, bool all_lists)
{
    static struct enumeration e;
    static struct outcome outcome;
    uint64_t enumerated[DEPTH_MAX + 1] = {0};
    int faults = 0;
    struct explore_options options = {
        .order = EXPLORE_BREADTH_FIRST, .stop = &heard.stop, .out = "/nonexistent"};
    e = (struct enumeration){.depth_max = depth_max, .all_lists = all_lists};
    assert_int_equal(run_init(&e.run, setup), 0);
    for (int i = 0; i < WORLD_FAULTS; i++) {
        faults += setup->scenario->options.budget[i];
    }
    e.run.faults_max = faults; /* the rest of the budget is a part of each state */
    open_set();
    enumerate(&e, 0);
    assert_null(run_trouble(&e.run));
    run_close(&e.run);
    for (size_t i = 0; i < places; i++) {
        enumerated[table[i].depth >= 0 ? table[i].depth : DEPTH_MAX] += table[i].depth >= 0;
    }
    memset(&heard, 0, sizeof heard);
    memset(&outcome, 0, sizeof outcome);
    heard.depth_max = depth_max;
    explore_run(setup, &options, &outcome);
    assert_true(outcome.verdict == VERDICT_HOLDS || outcome.verdict == VERDICT_LIMIT);
    assert_true(heard.stop || outcome.exhausted);
    print_message("%llu lists, %zu states to depth %d\n", (unsigned long long)e.lists, known_states,
                  depth_max);
    for (int depth = 0; depth <= depth_max; depth++) {
        assert_true(enumerated[depth] > 0);
        assert_int_equal(heard.found[depth], enumerated[depth]);
    }
    assert_int_equal(heard.strange, 0);
    free(table);
}

static void enumerate_text(const char *explore, int depth_max, bool all_lists)
{
    char text[256];
    struct scenario scenario;
    struct input_error error;
    snprintf(text, sizeof text, "%s\n----\n", explore);
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    struct run_setup setup = {
        .scenario = &scenario, .recipe = recipe_find(RECIPE_DEFAULT), .schedule = SCHEDULE_SEARCH};
    compare(&setup, depth_max, all_lists);
    scenario_close(&scenario);
}

#define PAIR "world used\nmutex /l/x\nprocess a b: acquire release\n"

/* Returns by how many steps the full tier goes deeper: see slow_enumerate_deeper.sh. */
static int deeper_by(void)
{
    const char *text = getenv("ENUMERATE_DEEPER");
    return text != NULL ? atoi(text) : 0;
}

static void test_all_lists_without_faults(void **state)
{
    (void)state;
    enumerate_text(PAIR, 10 + deeper_by(), true);
}

static void test_all_lists_with_faults(void **state)
{
    (void)state;
    enumerate_text(PAIR "explore loss<=1 expire<=1", 6 + deeper_by(), true);
}

/* Does not continue a list if its state was seen with as many choices left. */
static void test_all_states_with_faults(void **state)
{
    (void)state;
    enumerate_text(PAIR "explore loss<=1 expire<=1", 11 + deeper_by(), false);
}

static void test_all_states_with_a_follower(void **state)
{
    (void)state;
    enumerate_text("world servers=2 used\nmutex /l/x\nprocess a b: acquire release\nexplore lag<=1 cancel<=1",
                   9 + deeper_by(), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_lists_without_faults),
        cmocka_unit_test(test_all_lists_with_faults),
        cmocka_unit_test(test_all_states_with_faults),
        cmocka_unit_test(test_all_states_with_a_follower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
