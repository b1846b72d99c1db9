/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The world as a value (D3). A copy that is restored, or steps that are repeated, give equal bytes. The
 * order of independent steps leaves no trace. Each write is to a marked block. Labels name actions one to
 * one (D4). */
#include "base/rng.h"
#include "sim/world.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

#define SEEDS 60
#define STEPS 50

static void options_for(struct world_options *options, uint64_t seed, int processes)
{
    world_options_default(options);
    options->recipe = &ls_recipe_mutex;
    options->processes = processes;
    options->seed = seed;
    options->servers = 1 + (int)(seed % 3);
    options->timed = seed % 5 == 0;
    for (int p = 0; p < processes; p++) {
        options->name[p][0] = (char)('a' + p);
        options->autostart[p] = true;
        options->program[p].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .c = -1};
        options->program[p].ops[1] = (struct action){.kind = ACTION_RELEASE};
        options->program[p].count = 2;
        options->program[p].endless = true;
    }
    for (int f = 0; f < WORLD_FAULTS; f++) {
        options->budget[f] = f == WORLD_FAULT_ALLOC ? 0 : 2;
    }
    options->budget_total = 6;
}

static int take_random(struct world *world, struct rng *rng, int steps, struct action *taken)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (int i = 0; i < steps; i++) {
        int count = world_actions(world, actions);
        if (count == 0) {
            return i;
        }
        struct action action = actions[rng_below(rng, (uint32_t)count)];
        assert_int_equal(world_apply(world, &action), 0);
        if (taken != NULL) {
            taken[i] = action;
        }
    }
    return steps;
}

static struct world *open_world(uint64_t seed, int processes)
{
    struct world_options options;
    options_for(&options, seed, processes);
    struct world *world = world_open(&options, NULL, NULL);
    assert_non_null(world);
    world_begin(world);
    return world;
}

static void test_a_restored_world_repeats_itself(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world *world = open_world(seed, 3);
        struct rng rng;
        struct action taken[STEPS];
        rng_seed(&rng, seed);
        take_random(world, &rng, 40, NULL);
        struct world_image *before = world_save(world);
        int count = take_random(world, &rng, STEPS, taken);
        struct world_image *after = world_save(world);
        uint64_t first = world_fingerprint(world);
        world_restore(world, before);
        for (int i = 0; i < count; i++) {
            assert_int_equal(world_apply(world, &taken[i]), 0);
        }
        struct world_image *again = world_save(world);
        uint64_t second = world_fingerprint(world);
        assert_true(world_image_equal(after, again));
        assert_true(first == second);
        assert_null(world_trouble(world));
        world_image_free(before);
        world_image_free(after);
        world_image_free(again);
        world_close(world);
    }
}

/* Each listed action is enabled, so world_do(), which does not check that, does the same as world_apply(). */
static void test_what_is_listed_can_be_done_unasked(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world *world = open_world(seed, 3);
        struct rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 60; i++) {
            static struct action actions[WORLD_ACTIONS_MAX];
            int count = world_actions(world, actions);
            struct world_image *before = world_save(world);
            for (int k = 0; k < count; k++) {
                assert_true(world_enabled(world, &actions[k]));
                assert_int_equal(world_apply(world, &actions[k]), 0);
                struct world_image *asked = world_save(world);
                world_restore(world, before);
                world_do(world, &actions[k]);
                struct world_image *unasked = world_save(world);
                assert_true(world_image_equal(asked, unasked));
                world_image_free(asked);
                world_image_free(unasked);
                world_restore(world, before);
            }
            world_image_free(before);
            if (count == 0) {
                break;
            }
            world_do(world, &actions[rng_below(&rng, (uint32_t)count)]);
        }
        world_close(world);
    }
}

/* Callbacks of two processes touch different blocks, so their order makes no difference. */
static void swap_deliveries(struct world *world, const struct action *x, const struct action *y)
{
    struct world_image *before = world_save(world);
    assert_int_equal(world_apply(world, x), 0);
    assert_int_equal(world_apply(world, y), 0);
    struct world_image *one = world_save(world);
    world_restore(world, before);
    assert_int_equal(world_apply(world, y), 0);
    assert_int_equal(world_apply(world, x), 0);
    struct world_image *other = world_save(world);
    assert_true(world_image_equal(one, other));
    world_restore(world, before);
    world_image_free(before);
    world_image_free(one);
    world_image_free(other);
}

static bool independent(const struct action *x, const struct action *y)
{
    bool timer_or_delivery = (x->kind == ACTION_DELIVER || x->kind == ACTION_FIRE) &&
                             (y->kind == ACTION_DELIVER || y->kind == ACTION_FIRE);
    return timer_or_delivery && x->process != y->process;
}

static void test_the_order_of_independent_steps_leaves_no_trace(void **state)
{
    (void)state;
    int swapped = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world *world = open_world(seed, 3);
        struct rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 200; i++) {
            struct action actions[WORLD_ACTIONS_MAX];
            int count = world_actions(world, actions);
            for (int x = 0; x < count; x++) {
                for (int y = x + 1; y < count; y++) {
                    if (independent(&actions[x], &actions[y])) {
                        swap_deliveries(world, &actions[x], &actions[y]);
                        swapped++;
                    }
                }
            }
            if (take_random(world, &rng, 1, NULL) == 0) {
                break;
            }
        }
        world_close(world);
    }
    assert_true(swapped > 500);
}

static void test_nothing_is_written_without_a_mark(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world *world = open_world(seed, 3);
        struct rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 150; i++) {
            struct arena_image *before = arena_save(&the_world.arena);
            world_fingerprint(world);
            int taken = take_random(world, &rng, 1, NULL);
            assert_int_equal(arena_unmarked_write(&the_world.arena, before), -1);
            free(before);
            if (taken == 0) {
                break;
            }
        }
        world_close(world);
    }
}

static void test_labels_and_actions_are_one_to_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world *world = open_world(seed, 3);
        struct rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 60; i++) {
            static struct action actions[WORLD_ACTIONS_MAX];
            static char labels[WORLD_ACTIONS_MAX][WORLD_LABEL_MAX];
            int count = world_actions(world, actions);
            for (int x = 0; x < count; x++) {
                struct action found;
                const char *why;
                world_label(world, &actions[x], labels[x]);
                if (world_find(world, labels[x], &found, &why) != 0) {
                    fail_msg("%s: %s", labels[x], why);
                }
                assert_memory_equal(&found, &actions[x], sizeof found);
                for (int y = 0; y < x; y++) {
                    assert_string_not_equal(labels[x], labels[y]);
                }
            }
            if (take_random(world, &rng, 1, NULL) == 0) {
                break;
            }
        }
        world_close(world);
    }
}

static void test_a_reset_world_is_a_new_world(void **state)
{
    (void)state;
    struct world *world = open_world(7, 3);
    struct world_image *fresh = world_save(world);
    struct rng rng;
    rng_seed(&rng, 1);
    take_random(world, &rng, 300, NULL);
    struct world_options options;
    options_for(&options, 7, 3);
    world_reset(world, &options);
    world_begin(world);
    struct world_image *again = world_save(world);
    assert_true(world_image_equal(fresh, again));
    world_image_free(fresh);
    world_image_free(again);
    world_close(world);
}

/* Paths of the operator's nodes are constants of a run, and there is room for a few of them. */
static void test_a_path_has_one_slot_until_there_is_no_room(void **state)
{
    (void)state;
    struct world *world = open_world(7, 1);
    char path[32];
    int slot = 0;
    for (int i = 0; i < 1000 && slot >= 0; i++) {
        snprintf(path, sizeof path, "/path/%d", i);
        slot = world_text(world, path);
        assert_true(slot == LS_ENOMEM || slot == i);
        assert_int_equal(world_text(world, path), slot);
    }
    assert_int_equal(slot, LS_ENOMEM);
    assert_int_equal(world_text(world, "/path/1"), 1);
    world_close(world);
}

/* The blocks on which a process's actions depend contain its own blocks, and none of another process. */
static void test_a_scope_has_the_blocks_of_its_process(void **state)
{
    (void)state;
    struct world *world = open_world(7, 2);
    for (int p = 0; p <= 2; p++) {
        int blocks[64];
        int fake[64];
        bool own = false, others = false;
        int count = world_scope(world, p, blocks);
        int fakes = fakezk_scope(p < 2 ? p : (int)FAKEZK_NONE, fake);
        assert_true(fakes > 0 && fakes < count && count <= 64);
        assert_memory_equal(blocks + count - fakes, fake, (size_t)fakes * sizeof fake[0]);
        for (int i = 0; i < count; i++) {
            assert_true(i == 0 || blocks[i - 1] < blocks[i]);
            own |= p < 2 && blocks[i] == fakezk_client_block(p);
            others |=
                blocks[i] == fakezk_client_block(p == 0 ? 1 : 0) || blocks[i] == world_judge_block(world);
        }
        assert_true(own == (p < 2) && !others);
    }
    world_close(world);
}

static void test_what_was_saved_before_a_reset_fits_no_more(void **state)
{
    (void)state;
    struct world_options options;
    struct world *world = open_world(7, 2);
    uint64_t layout = world_layout(world);
    options_for(&options, 7, 2);
    world_reset(world, &options);
    assert_true(world_layout(world) != layout);
    world_close(world);
}

/* The rest of the fault budgets lies in one block, which is no process's own. */
static void test_budgets_have_a_block(void **state)
{
    (void)state;
    uint8_t bought[WORLD_FAULTS];
    uint8_t after[WORLD_FAULTS];
    uint64_t own[2];
    struct world *world = open_world(7, 1);
    int block = world_budget_block(world);
    world_bought(world, bought);
    assert_int_equal(bought[WORLD_FAULT_CRASH], 0);
    bought[WORLD_FAULT_CRASH] = 1;
    world_fingerprint(world);
    uint64_t before = world_arena(world)->hash[block];
    world_buy(world, bought);
    world_fingerprint(world);
    assert_true(world_arena(world)->hash[block] != before);
    world_bought(world, after);
    assert_memory_equal(bought, after, sizeof bought);
    world_own_blocks(world, 0, own);
    assert_int_equal(own[block / 64] >> (block % 64) & 1, 0);
    world_close(world);
}

static void test_a_world_that_does_not_settle_says_so(void **state)
{
    (void)state;
    struct world *world = open_world(7, 2);
    assert_int_equal(world_settle(world, 1, NULL, NULL), LS_EOVERFLOW);
    assert_true(world_settle(world, 10000, NULL, NULL) > 0);
    world_close(world);
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void __real_free(void *memory);
void __wrap_free(void *memory);
/* NOLINTEND(bugprone-reserved-identifier) */

static void *last_freed;

void __wrap_free(void *memory)
{
    last_freed = memory;
    __real_free(memory);
}

static void test_an_image_has_a_size_and_is_given_back(void **state)
{
    (void)state;
    struct world *world = open_world(7, 2);
    struct world_image *image = world_save(world);
    void *memory = image;
    assert_true(world_image_bytes(image) > 1000);
    world_image_free(image);
    assert_ptr_equal(last_freed, memory);
    world_close(world);
}

static void test_the_bytes_of_a_world_are_cut_to_the_room(void **state)
{
    (void)state;
    static unsigned char bytes[2][1 << 20];
    struct world *world = open_world(7, 2);
    size_t size = world_bytes(world, bytes[0], sizeof bytes[0]);
    assert_true(size > 1000 && size <= sizeof bytes[0]);
    memset(bytes[1], 0xa5, sizeof bytes[1]);
    assert_int_equal(world_bytes(world, bytes[1], 100), size);
    assert_int_equal(bytes[1][100], 0xa5);
    struct rng rng;
    rng_seed(&rng, 1);
    take_random(world, &rng, 20, NULL);
    size_t then = world_bytes(world, bytes[1], sizeof bytes[1]);
    assert_true(then != size || memcmp(bytes[0], bytes[1], size) != 0);
    world_close(world);
}

static void test_letters_of_choice_points_are_a_mask(void **state)
{
    (void)state;
    uint32_t mask = 0;
    char text[WORLD_WITHOUT_MAX];
    assert_true(world_without("lca", &mask));
    assert_int_equal(mask, WORLD_CHOICE_POINT('a') | WORLD_CHOICE_POINT('c') | WORLD_CHOICE_POINT('l'));
    world_without_text(mask, text);
    assert_string_equal(text, "acl");
    world_without_text(0, text);
    assert_string_equal(text, "");
    assert_false(world_without("", &mask));
    assert_false(world_without("ah", &mask)); /* a world has no choice point h */
    assert_false(world_without("A", &mask));
}

static void test_a_used_directory_is_a_container(void **state)
{
    (void)state;
    struct world_options options;
    struct world *world = open_world(7, 1);
    for (int lacks = 0; lacks < 2; lacks++) {
        options_for(&options, 7, 1);
        options.used_directory = true;
        options.no_containers = lacks;
        options.lock_path[0] = "/locks/x";
        options.locks = 1;
        world_reset(world, &options);
        world_begin(world);
        assert_true(fakezk_exists("/locks/x"));
        assert_int_equal(world_has_container(world), !lacks);
        assert_int_equal(fakezk_is_container("/locks/x"), !lacks);
        assert_false(fakezk_is_container("/"));
        assert_false(fakezk_is_container("/no"));
    }
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_restored_world_repeats_itself),
        cmocka_unit_test(test_what_is_listed_can_be_done_unasked),
        cmocka_unit_test(test_the_order_of_independent_steps_leaves_no_trace),
        cmocka_unit_test(test_nothing_is_written_without_a_mark),
        cmocka_unit_test(test_labels_and_actions_are_one_to_one),
        cmocka_unit_test(test_a_reset_world_is_a_new_world),
        cmocka_unit_test(test_a_path_has_one_slot_until_there_is_no_room),
        cmocka_unit_test(test_a_scope_has_the_blocks_of_its_process),
        cmocka_unit_test(test_what_was_saved_before_a_reset_fits_no_more),
        cmocka_unit_test(test_budgets_have_a_block),
        cmocka_unit_test(test_a_world_that_does_not_settle_says_so),
        cmocka_unit_test(test_an_image_has_a_size_and_is_given_back),
        cmocka_unit_test(test_the_bytes_of_a_world_are_cut_to_the_room),
        cmocka_unit_test(test_letters_of_choice_points_are_a_mask),
        cmocka_unit_test(test_a_used_directory_is_a_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
