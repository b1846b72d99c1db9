/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Interning: a world is stored as a list of numbers, one for each block's content. States that are put
 * back, in any order and also after a move to another store, equal their saved images, fingerprints
 * included. Equal worlds have equal numbers.
 *
 * A step depends only on the blocks that it is said to read: with other contents in the other blocks it
 * does the same. */
#include "base/rng.h"
#include "sim/world.h"
#include "state/intern.h"

#include <lockstep/fakezk.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

#define STATES 200

struct state {
    uint32_t number[ARENA_BLOCKS_MAX];
    struct arena_image *image;
    uint64_t fingerprint;
};

static struct world *open_world(uint64_t seed)
{
    static struct world_options options;
    world_options_default(&options);
    options.recipe = &ls_recipe_mutex;
    options.processes = 3;
    options.seed = seed;
    for (int p = 0; p < 3; p++) {
        options.name[p][0] = (char)('a' + p);
        options.autostart[p] = true;
        options.program[p].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .c = -1};
        options.program[p].ops[1] = (struct action){.kind = ACTION_RELEASE};
        options.program[p].count = 2;
    }
    options.budget[WORLD_FAULT_LOSS] = 2;
    options.budget[WORLD_FAULT_EXPIRE] = 1;
    options.budget[WORLD_FAULT_CRASH] = 1;
    struct world *world = world_open(&options, NULL, NULL);
    assert_non_null(world);
    world_begin(world);
    return world;
}

static void take_state(struct world *world, struct intern *intern, struct state *state)
{
    state->fingerprint = world_fingerprint(world);
    state->image = arena_save(&the_world.arena);
    for (int block = 0; block < the_world.arena.blocks; block++) {
        state->number[block] = intern_take(intern, block);
        assert_int_not_equal(state->number[block], INTERN_NONE);
    }
}

static void put_state(const struct intern *intern, const struct state *state)
{
    for (int block = 0; block < the_world.arena.blocks; block++) {
        intern_put(intern, block, state->number[block]);
    }
}

static void assert_world_is(struct world *world, const struct state *state)
{
    struct arena_image *now = arena_save(&the_world.arena);
    assert_int_equal(arena_image_difference(now, state->image), -1);
    assert_true(world_fingerprint(world) == state->fingerprint);
    arena_restore(&the_world.arena, now);
    assert_true(world_fingerprint(world) == state->fingerprint); /* all hashes are computed anew */
    free(now);
}

/* Takes the states of a run of random steps, which now and then goes back to a random earlier state.
 * Returns how many states there are. */
static int collect(struct world *world, struct intern *intern, struct rng *rng, struct state *states)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    take_state(world, intern, &states[0]);
    for (int i = 1; i < STATES; i++) {
        int count = world_actions(world, actions);
        if (count == 0 || rng_below(rng, 10) == 0) {
            put_state(intern, &states[rng_below(rng, (uint32_t)i)]);
            count = world_actions(world, actions);
        }
        if (count > 0) {
            world_do(world, &actions[rng_below(rng, (uint32_t)count)]);
        }
        take_state(world, intern, &states[i]);
    }
    return STATES;
}

static void test_numbers_stand_for_worlds(void **unused)
{
    (void)unused;
    static struct state states[STATES];
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world *world = open_world(seed);
        struct intern *intern = intern_open(&the_world.arena);
        struct rng rng;
        rng_seed(&rng, seed);
        assert_non_null(intern);
        int count = collect(world, intern, &rng, states);
        assert_true(intern_count(intern) < (uint32_t)count * (uint32_t)the_world.arena.blocks / 2);
        for (int i = 0; i < count; i++) {
            const struct state *a = &states[rng_below(&rng, (uint32_t)count)], *b = &states[i];
            put_state(intern, a);
            assert_world_is(world, a);
            size_t bytes = (size_t)the_world.arena.blocks * sizeof a->number[0];
            assert_int_equal(memcmp(a->number, b->number, bytes) == 0, arena_image_equal(a->image, b->image));
        }
        struct intern *fresh = intern_open(&the_world.arena);
        assert_non_null(fresh);
        for (int i = 0; i < count; i += 3) {
            for (int block = 0; block < the_world.arena.blocks; block++) {
                uint32_t number = states[i].number[block];
                if (block == 0) {
                    assert_true(intern_attach(intern, number, &number, sizeof number));
                }
                states[i].number[block] = intern_move(fresh, intern, number);
                assert_true(intern_hash(fresh, states[i].number[block]) == intern_hash(intern, number));
                assert_int_equal(intern_move(fresh, intern, number), states[i].number[block]);
            }
            assert_non_null(intern_attached(fresh, states[i].number[0]));
        }
        assert_true(intern_count(fresh) < intern_count(intern));
        intern_close(intern);
        for (int i = 0; i < count; i += 3) {
            put_state(fresh, &states[i]);
            assert_world_is(world, &states[i]);
        }
        intern_close(fresh);
        for (int i = 0; i < count; i++) {
            free(states[i].image);
        }
        world_close(world);
    }
}

static void remove_action(struct action *list, int *count, const struct action *action)
{
    for (int i = 0; i < *count; i++) {
        if (world_same_action(&list[i], action)) {
            list[i] = list[--*count];
            return;
        }
    }
    fail_msg("an action of a group is not in the whole list");
}

#define STEPS_MAX 512

/* Checks that the steps of the clients and then of the ensemble are the whole list, in its order. */
static void assert_turns_are_the_list(int clients)
{
    static struct fakezk_step all[STEPS_MAX], turn[STEPS_MAX];
    int count = fakezk_steps(all, STEPS_MAX), at = 0;
    for (int client = 0; client <= clients; client++) {
        int part = fakezk_steps_in_turn(client < clients ? client : (int)FAKEZK_NONE, turn, STEPS_MAX);
        assert_true(at + part <= count);
        for (int i = 0; i < part; i++, at++) {
            assert_int_equal(turn[i].kind, all[at].kind);
            assert_int_equal(turn[i].client, all[at].client);
            assert_int_equal(turn[i].handle, all[at].handle);
            assert_int_equal(turn[i].server, all[at].server);
            assert_int_equal(turn[i].session, all[at].session);
        }
    }
    assert_int_equal(at, count);
}

/* The lists of all groups together are the whole list. */
static void test_groups_have_all_actions(void **unused)
{
    (void)unused;
    static struct state states[STATES];
    static struct action all[WORLD_ACTIONS_MAX], some[WORLD_ACTIONS_MAX];
    struct world *world = open_world(3);
    struct intern *intern = intern_open(&the_world.arena);
    struct rng rng;
    rng_seed(&rng, 3);
    assert_non_null(intern);
    int count = collect(world, intern, &rng, states);
    for (int i = 0; i < count; i++) {
        put_state(intern, &states[i]);
        assert_turns_are_the_list(3);
        int left = world_actions(world, all);
        for (int group = 0; group <= 3; group++) {
            int part = world_actions_of(world, group, some);
            for (int k = 0; k < part; k++) {
                remove_action(all, &left, &some[k]);
            }
        }
        assert_int_equal(left, 0);
        free(states[i].image);
    }
    intern_close(intern);
    world_close(world);
}

static bool is_read(const uint64_t read[2], int block)
{
    return (read[block >> 6] >> (block & 63) & 1u) != 0;
}

/* Replaces the blocks that a step has not read by those of another state. The step does the same. */
static void test_a_step_depends_on_what_it_reads(void **unused)
{
    (void)unused;
    static struct state states[STATES];
    static struct action actions[WORLD_ACTIONS_MAX];
    struct world *world = open_world(5);
    struct intern *intern = intern_open(&the_world.arena);
    struct rng rng;
    int unread = 0;
    rng_seed(&rng, 5);
    assert_non_null(intern);
    int count = collect(world, intern, &rng, states);
    for (int i = 0; i < 4000; i++) {
        const struct state *a = &states[rng_below(&rng, (uint32_t)count)];
        const struct state *b = &states[rng_below(&rng, (uint32_t)count)];
        struct state after, mixed;
        put_state(intern, a);
        int enabled = world_actions(world, actions);
        if (enabled == 0) {
            continue;
        }
        struct action action = actions[rng_below(&rng, (uint32_t)enabled)];
        the_world.arena.read[0] = the_world.arena.read[1] = 0;
        world_do(world, &action);
        uint64_t read[2] = {the_world.arena.read[0], the_world.arena.read[1]};
        take_state(world, intern, &after);
        for (int block = 0; block < the_world.arena.blocks; block++) {
            intern_put(intern, block, (is_read(read, block) ? a : b)->number[block]);
            unread += !is_read(read, block) && a->number[block] != b->number[block];
        }
        world_do(world, &action);
        take_state(world, intern, &mixed);
        for (int block = 0; block < the_world.arena.blocks; block++) {
            assert_int_equal(mixed.number[block],
                             is_read(read, block) ? after.number[block] : b->number[block]);
        }
        free(after.image);
        free(mixed.image);
    }
    assert_true(unread > 4000);
    for (int i = 0; i < count; i++) {
        free(states[i].image);
    }
    intern_close(intern);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_stand_for_worlds),
        cmocka_unit_test(test_groups_have_all_actions),
        cmocka_unit_test(test_a_step_depends_on_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
