/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The base of liveness checks: which process waits, a world without further faults, and the channel of an
 * action, for weak fairness. */
#include "scenario/recipes.h"
#include "sim/waiters.h"

#include <lockstep/sim.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STEPS_MAX 1000

static struct world *world;

static void begin(const struct world_options *options)
{
    world = world_open(options, NULL, NULL);
    assert_non_null(world);
    world_begin(world);
    assert_true(world_settle(world, STEPS_MAX, NULL, NULL) >= 0);
}

static struct world_options two_clients(void)
{
    static struct world_options options;
    world_options_default(&options);
    options.recipe = recipe_find("mutex");
    options.processes = 2;
    options.used_directory = true;
    for (int p = 0; p < 2; p++) {
        options.name[p][0] = (char)('a' + p);
        options.autostart[p] = true;
        options.program[p].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .c = -1};
        options.program[p].ops[1] = (struct action){.kind = ACTION_RELEASE};
        options.program[p].count = 2;
    }
    return options;
}

static void apply(const char *label)
{
    struct action action;
    const char *why;
    if (world_find(world, label, &action, &why) != 0 || world_apply(world, &action) != 0) {
        fail_msg("%s: %s", label, why);
    }
}

/* Returns the channels of all enabled actions, in their order, between bars; "-" = not fair. */
static const char *channels(void)
{
    static struct action action[WORLD_ACTIONS_MAX];
    static char all[4096];
    char text[WORLD_LABEL_MAX];
    int count = world_actions(world, action);
    strcpy(all, "|");
    for (int i = 0; i < count; i++) {
        strcat(all, world_channel(world, &action[i], text) ? text : "-");
        strcat(all, "|");
    }
    return all;
}

static void test_who_waits_from_the_acquire_to_the_answer(void **state)
{
    struct world_options options = two_clients();
    (void)state;
    begin(&options);
    assert_false(world_waits(world, 0) || world_waits(world, 1));
    apply("a acquire");
    assert_true(world_waits(world, 0) && !world_waits(world, 1));
    world_settle(world, STEPS_MAX, NULL, NULL);
    apply("b acquire");
    world_settle(world, STEPS_MAX, NULL, NULL);
    assert_true(!world_waits(world, 0) && world_waits(world, 1));
    apply("b cancel");
    assert_false(world_waits(world, 1));
    world_close(world);
}

/* A program that acquires for two owners makes two waiters of its process. */
static void test_owners_wait_one_by_one(void **state)
{
    struct world_options options = two_clients();
    struct waiter list[WAITERS_MAX];
    char name[WORLD_LABEL_MAX];
    (void)state;
    assert_int_equal(waiters_list(&options, list), 2);
    options.program[0].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .c = -1};
    options.program[0].ops[1] = (struct action){.kind = ACTION_ACQUIRE, .owner = 1, .c = -1};
    options.program[0].count = 2;
    begin(&options);
    assert_int_equal(waiters_list(&options, list), 3);
    waiter_name(&options, &list[0], name);
    assert_string_equal(name, "a");
    waiter_name(&options, &list[1], name);
    assert_string_equal(name, "a owner=1");
    apply("a acquire owner=1");
    assert_int_equal(waiters_waiting(list, 3), 2);
    world_settle(world, STEPS_MAX, NULL, NULL);
    assert_int_equal(waiters_waiting(list, 3), 0);
    apply("b acquire");
    assert_int_equal(waiters_waiting(list, 3), 4);
    world_close(world);
}

/* With more pairs than there is room for, each process is one waiter. */
static void test_many_owners_wait_together(void **state)
{
    struct world_options options = two_clients();
    struct waiter list[WAITERS_MAX];
    (void)state;
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < WORLD_PROGRAM_MAX; i++) {
            options.program[p].ops[i] = (struct action){.kind = ACTION_ACQUIRE, .owner = (uint8_t)i, .c = -1};
        }
        options.program[p].count = WORLD_PROGRAM_MAX;
    }
    assert_int_equal(waiters_list(&options, list), WAITERS_MAX);
    assert_false(list[0].all);
    options.processes = 3;
    assert_int_equal(waiters_list(&options, list), 3);
    assert_true(list[0].all && list[1].all && list[2].all);
}

static void test_a_channel_is_whose_turn_it_is_and_not_what_is_said(void **state)
{
    struct world_options options = two_clients();
    (void)state;
    begin(&options);
    assert_string_equal(channels(), "|-|-|"); /* no process has to ask for a lock */
    apply("a acquire");
    assert_string_equal(channels(), "|apply a|-|");
    apply("apply s1 a create");
    assert_string_equal(channels(), "|deliver a|apply a|-|");
    world_settle(world, STEPS_MAX, NULL, NULL);
    assert_string_equal(channels(), "|program a|-|"); /* a process that holds a lock gives it back */
    apply("crash a");
    assert_string_equal(channels(), "|expire a|-|-|"); /* a process that has crashed may stay away */
    apply("expire a");
    assert_string_equal(channels(), "|bury a|-|-|");
    apply("cut b keep=0 apply=0");
    assert_string_equal(channels(), "|deliver b|connect b|bury a|-|-|");
    world_close(world);
}

static void test_nothing_fails_any_more(void **state)
{
    struct world_options options = two_clients();
    (void)state;
    options.budget[WORLD_FAULT_LOSS] = 2;
    options.budget[WORLD_FAULT_EXPIRE] = 1;
    options.budget_total = 2;
    begin(&options);
    assert_int_equal(world_faults_left(world), 2);
    assert_string_equal(channels(), "|-|-|-|-|-|-|"); /* an acquire and two faults of each process */
    apply("expire a");
    assert_int_equal(world_faults_left(world), 1);
    world_end_faults(world);
    assert_int_equal(world_faults_left(world), 0);
    assert_null(strstr(channels(), "cut"));
    world_settle(world, STEPS_MAX, NULL, NULL);
    assert_string_equal(channels(), "|-|-|");
    world_close(world);
}

/* A session that was closed without a link stays until it expires. Its expiry costs no fault, and must
 * happen some time in a world without faults. */
static void test_a_session_without_a_handle_ends(void **state)
{
    struct world_options options = two_clients();
    (void)state;
    options.budget[WORLD_FAULT_EXPIRE] = 1;
    begin(&options);
    apply("cut a keep=0 apply=0");
    apply("a stop");
    assert_null(strstr(channels(), "expire"));
    struct world_image *image = world_save(world);
    world_end_faults(world);
    assert_non_null(strstr(channels(), "|expire a|"));
    world_restore(world, image);
    world_image_free(image);
    apply("expire a");
    assert_int_equal(world_faults_left(world), 1);
    assert_non_null(strstr(channels(), "|bury a|"));
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits_from_the_acquire_to_the_answer),
        cmocka_unit_test(test_owners_wait_one_by_one),
        cmocka_unit_test(test_many_owners_wait_together),
        cmocka_unit_test(test_a_channel_is_whose_turn_it_is_and_not_what_is_said),
        cmocka_unit_test(test_nothing_fails_any_more),
        cmocka_unit_test(test_a_session_without_a_handle_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
