/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A test of a program that uses the lock, without a server: two copies run in a simulated world, in virtual time, and the
 * test decides when something breaks. <lockstep/sim.h> describes the world and its actions. */
#include "leader.h"

#include <lockstep/fakezk.h>
#include <lockstep/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { A, B, STEPS_MAX = 20000, STEP_MS = 100 };

/* ---- the program as the world sees it: something that is started and stopped ---- */

/* Lies in the world's memory; the world forgets it when it is opened anew. */
static struct leader *copy[2];

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    copy[copy[A] == NULL || copy[A] == state ? A : B] = state;
    return leader_open(state, env, config->hosts, config->lock_paths[0]);
}

static void stop(void *state)
{
    leader_close(state);
}

/* Our program asks for the lock by itself, so that there is nothing for a script to ask for or to give back. */
static int not_asked(void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_EINVAL;
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    (void)timeout_ms;
    return not_asked(state, lock, owner);
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    (void)lock;
    (void)owner;
    return ls_mutex_query(&((const struct leader *)state)->mutex, 1);
}

static const struct ls_recipe program = {
    .name = "leader",
    .summary = "of all copies one leads",
    .state_size = sizeof(struct leader),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = not_asked,
    .release = not_asked,
    .query = query,
};

/* ---- the world ---- */

static struct world *world;

static int open_world(void **state)
{
    struct world_options options;
    (void)state;
    world_options_default(&options);
    options.recipe = &program;
    options.timed = true;
    options.processes = 2;
    options.lock_path[0] = "/jobs/leader";
    strcpy(options.name[A], "a");
    strcpy(options.name[B], "b");
    options.autostart[A] = true; /* b starts when the test says so */
    copy[A] = copy[B] = NULL;
    world = world_open(&options, NULL, NULL);
    if (world == NULL)
        return -1;
    world_begin(world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(world);
    return 0;
}

/* Does one action by its label, such as "cut a keep=0 apply=1 rc=-4". */
static void play(const char *label)
{
    struct action action;
    const char *why = "";
    if (world_find(world, label, &action, &why))
        fail_msg("'%s' cannot happen now: %s", label, why);
    assert_int_equal(world_apply(world, &action), 0);
}

/* Whatever is under way comes to its end. */
static void settle(void)
{
    assert_true(world_settle(world, STEPS_MAX, NULL, NULL) >= 0);
    assert_null(world_trouble(world));
}

static void both_start(void)
{
    settle();
    play("b start");
    settle();
    assert_true(copy[A]->terms == 1 && copy[B]->terms == 0);
}

/* Time passes, and both copies try to work all the while. However the test breaks the world, never do both work at one
 * time. Returns for how many ms nobody did. */
static int pass_ms(int ms)
{
    int idle_ms = 0;
    for (; ms > 0; ms -= STEP_MS) {
        assert_true(world_pass_time(world, STEP_MS, STEPS_MAX, NULL, NULL) >= 0);
        bool a = leader_tick(copy[A]);
        bool b = leader_tick(copy[B]);
        assert_false(a && b);
        idle_ms += !a && !b ? STEP_MS : 0;
    }
    assert_null(world_trouble(world));
    return idle_ms;
}

/* ---- tests ---- */

static void one_of_two_leads(void **state)
{
    (void)state;
    both_start();
    assert_int_equal(pass_ms(60000), 0);
    assert_int_equal(copy[A]->work, 60000 / STEP_MS);
    assert_int_equal(copy[B]->work, 0);
}

/* The connection breaks on the way back of the answer to a's create: its node is there, and a does not know. */
static void a_lost_answer_is_no_second_node(void **state)
{
    struct action action;
    char label[WORLD_LABEL_MAX] = "";
    (void)state;
    while (strcmp(label, "deliver a create-reply") != 0) {
        assert_true(world_default_action(world, &action));
        world_label(world, &action, label);
        if (strcmp(label, "deliver a create-reply") != 0)
            assert_int_equal(world_apply(world, &action), 0);
    }
    play("cut a keep=0 apply=0 rc=-4");
    settle();
    assert_true(copy[A]->terms == 1);
    play("b start");
    settle();
    play("a stop");
    settle();
    assert_true(copy[B]->terms == 1);
}

/* A short outage: a keeps its session, and goes on. */
static void a_short_outage_changes_nobody(void **state)
{
    (void)state;
    both_start();
    play("partition a");
    pass_ms(1000);
    play("heal a");
    pass_ms(10000);
    assert_true(copy[A]->terms == 1 && copy[B]->terms == 0);
    assert_true(leader_tick(copy[A]));
}

/* A long one: a stops working before its session ends, b takes over, and a stands in line behind b when it is back. */
static void a_long_outage_moves_the_lead(void **state)
{
    (void)state;
    both_start();
    play("partition a");
    int idle_ms = pass_ms(10000);
    assert_in_range(idle_ms, STEP_MS, 4000);
    assert_true(copy[B]->terms == 1 && leader_tick(copy[B]) && !leader_tick(copy[A]));
    play("heal a");
    pass_ms(10000);
    assert_true(copy[A]->terms == 1 && leader_tick(copy[B]));
    play("b stop");
    settle();
    assert_true(copy[A]->terms == 2 && leader_tick(copy[A]));
}

/* The leader dies without a word: its session ends after its timeout. */
static void a_crash_moves_the_lead(void **state)
{
    (void)state;
    both_start();
    play("crash a");
    assert_true(world_pass_time(world, 6000, STEPS_MAX, NULL, NULL) >= 0);
    assert_true(copy[B]->terms == 1 && leader_tick(copy[B]));
    assert_true(fakezk_now_ms() >= 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_of_two_leads, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_lost_answer_is_no_second_node, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_short_outage_changes_nobody, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_long_outage_moves_the_lead, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_crash_moves_the_lead, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
