/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search that checks itself (explore/self_check.h) finds out when its result cannot be trusted. Faults
 * planted here: a recipe with state outside the world, a write to an unmarked block, a state that no path
 * leads to, and more. */
#include "base/arena.h"
#include "explore/explore.h"
#include "scenario/recipes.h"
#include "sim/world.h"
#include "state/intern.h"

#include <lockstep/session.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include <cmocka.h>

static const char TEXT[] =
    "world used untimed\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n"
    "holds at_most_one_holder\n";

static struct scenario scenario;
static struct ls_recipe recipe;
static struct outcome outcome;
static unsigned calls;
static bool moody, forgetful, armed, haunted, rash, careless;

/* ---- planted faults ---- */

/* A query with state outside the world: every third call takes an unused id, by a static counter. */
static enum ls_belief moody_query(const void *state, int lock, int owner)
{
    uint8_t id[16];
    if (moody && calls++ % 3 == 2) {
        ls_env_unique_id(((const struct ls_session *)state)->env, id);
    }
    return recipe_find("mutex")->query(state, lock, owner);
}

/* An unread() that is wrong: it says that the recipe looks at no name but its own. */
static void careless_unread(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                            bool *unread)
{
    recipe_find("mutex")->unread(completion, names, id, unread);
    for (int i = 0; i < names->count; i++) {
        char owner[3] = {names->data[i][9], names->data[i][10]}; /* byte 3 of the id in "_c_" and a UUID */
        unread[i] = strtoul(owner, NULL, 16) != id[3];
    }
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
struct world_image *__wrap_world_save(struct world *world);
struct world_image *__real_world_save(struct world *world);

/* Arms a fault: the step that follows writes to a block that it has not marked. */
struct world_image *__wrap_world_save(struct world *world)
{
    armed = forgetful;
    return __real_world_save(world);
}

bool __wrap_arena_resize(struct arena *arena, int block, size_t used);
bool __real_arena_resize(struct arena *arena, int block, size_t used);

bool __wrap_arena_resize(struct arena *arena, int block, size_t used)
{
    if (armed && !arena->stale[the_world.state_block]) {
        the_state()->newest[WORLD_LOCKS_MAX - 1] ^= 1;
        armed = false;
    }
    return __real_arena_resize(arena, block, used);
}

uint32_t __wrap_intern_take(struct intern *intern, int block);
uint32_t __real_intern_take(struct intern *intern, int block);

/* Plants, soon after the beginning, a value in the world that no step writes. */
uint32_t __wrap_intern_take(struct intern *intern, int block)
{
    if (haunted && block == the_world.state_block && ++calls > 3) {
        state_mark()->newest[WORLD_LOCKS_MAX - 1] = 1;
        world_fingerprint(&the_world);
    }
    return __real_intern_take(intern, block);
}

enum world_alone __wrap_world_alone(struct world *world, int process, const struct action *actions, int count,
                                    int *which);
enum world_alone __real_world_alone(struct world *world, int process, const struct action *actions, int count,
                                    int *which);

/* A wrong world_alone(): any delivery of a message may be the only successor. */
enum world_alone __wrap_world_alone(struct world *world, int process, const struct action *actions, int count,
                                    int *which)
{
    for (int i = 0; rash && i < count; i++) {
        if (actions[i].kind == ACTION_DELIVER) {
            *which = i;
            return WORLD_ALONE;
        }
    }
    return __real_world_alone(world, process, actions, count, which);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- tests ---- */

static void search(bool distrust)
{
    struct input_error error;
    struct run_setup setup = {.scenario = &scenario, .recipe = &recipe};
    struct explore_options options = {
        .distrust = distrust, .partial_order = rash, .workers = 1, .out = "build/reports"};
    assert_int_equal(scenario_read_bytes(&scenario, "s", TEXT, strlen(TEXT), &error), 0);
    recipe = *recipe_find("mutex");
    recipe.query = moody_query;
    if (careless) {
        recipe.unread = careless_unread;
    }
    memset(&outcome, 0, sizeof outcome);
    calls = 0;
    explore_run(&setup, &options, &outcome);
    scenario_close(&scenario);
}

static void nothing_is_wrong(void **state)
{
    (void)state;
    search(true);
    assert_int_equal(outcome.verdict, VERDICT_HOLDS);
}

static void a_recipe_that_remembers(void **state)
{
    (void)state;
    moody = true;
    search(true);
    moody = false;
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(
        strstr(outcome.text, "' ends in another state ")); /* when repeated, or than the memo has */
}

static void a_recipe_that_reads_what_it_says_it_does_not(void **state)
{
    (void)state;
    careless = true;
    search(true);
    careless = false;
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(strstr(outcome.text, "if its list lacks names that the recipe does not look at"));
}

/* A search ends as soon as it has found such a step. */
static void a_step_that_should_not_go_first(void **state)
{
    (void)state;
    search(false);
    uint64_t all = outcome.steps;
    rash = true;
    search(true);
    rash = false;
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(strstr(outcome.text, "it makes a difference whether 'deliver "));
    assert_true(outcome.steps < all / 6); /* `all`: steps of a whole search */
}

static void a_block_that_nobody_marked(void **state)
{
    (void)state;
    forgetful = true;
    search(true);
    forgetful = false;
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(strstr(outcome.text, "wrote to the block of the world, which nobody had marked"));
}

static void a_state_that_no_path_leads_to(void **state)
{
    (void)state;
    haunted = true;
    search(true);
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(strstr(outcome.text, "is another one when it is reached from the start"));
    search(false); /* without distrust the fault stays unnoticed */
    haunted = false;
    assert_int_equal(outcome.verdict, VERDICT_HOLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_wrong),
        cmocka_unit_test(a_recipe_that_remembers),
        cmocka_unit_test(a_recipe_that_reads_what_it_says_it_does_not),
        cmocka_unit_test(a_step_that_should_not_go_first),
        cmocka_unit_test(a_block_that_nobody_marked),
        cmocka_unit_test(a_state_that_no_path_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
