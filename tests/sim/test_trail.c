/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Going forth and back on a trail leaves the world as a saved image has it, fingerprint included. */
#include "base/rng.h"
#include "base/trail.h"
#include "sim/world.h"

#include <lockstep/sim.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

#define DEPTH_MAX 60

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

static void assert_world_is(struct world *world, const struct arena_image *image, uint64_t fingerprint)
{
    struct arena_image *now = arena_save(&the_world.arena);
    assert_int_equal(arena_image_difference(now, image), -1);
    assert_true(world_fingerprint(world) == fingerprint);
    free(now);
    /* What the hashes say without being taken anew is what they say when they are. */
    struct world_image *whole = world_save(world);
    struct arena before = the_world.arena;
    world_restore(world, whole);
    assert_true(world_fingerprint(world) == fingerprint);
    the_world.arena = before;
    world_image_free(whole);
}

static void test_a_trail_goes_back(void **state)
{
    (void)state;
    static struct action actions[WORLD_ACTIONS_MAX];
    static struct arena_image *image[DEPTH_MAX];
    static uint64_t fingerprint[DEPTH_MAX];
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct world *world = open_world(seed);
        struct trail *trail = trail_open(&the_world.arena);
        struct rng rng;
        int depth = 0;
        rng_seed(&rng, seed);
        assert_non_null(trail);
        image[0] = arena_save(&the_world.arena);
        fingerprint[0] = world_fingerprint(world);
        for (int i = 0; i < 600; i++) {
            int count = world_actions(world, actions);
            uint32_t what = rng_below(&rng, 4);
            if (count > 0 && what > 0) {
                world_do(world, &actions[rng_below(&rng, (uint32_t)count)]);
                world_fingerprint(world);
            }
            if (count > 0 && what > 1 && depth + 1 < DEPTH_MAX) {
                assert_true(trail_push(trail));
                image[++depth] = arena_save(&the_world.arena);
                fingerprint[depth] = world_fingerprint(world);
            } else if (depth > 0 && (what == 0 || count == 0)) {
                trail_pop(trail);
                free(image[depth--]);
            } else {
                trail_back(trail);
            }
            assert_int_equal(trail_depth(trail), depth + 1);
            assert_world_is(world, image[depth], fingerprint[depth]);
        }
        while (depth >= 0) {
            free(image[depth--]);
        }
        trail_close(trail);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_trail_goes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
