/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How seeds choose: what a swarm draws, and how many runs the depth of PCT opens. */
#include "base/hash.h"
#include "scenario/random.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scenario scenario;

static void open_scenario(const char *text)
{
    struct input_error error;
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
}

#define ALL_FAULTS                                                                                           \
    "world servers=2 used\nmutex /locks/x\nprocess a b: acquire release\n"                                   \
    "explore loss<=2 expire<=1 lag<=3\n----\n"

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < STRATEGIES; i++) {
        assert_int_equal(strategy_find(strategy_name((enum strategy)i)), i);
    }
    assert_int_equal(strategy_find("depth-first"), -1);
    for (int i = 0; i <= SCHEDULE_SWARM; i++) {
        assert_int_equal(schedule_find(schedule_name((enum schedule)i)), i);
    }
    assert_true(schedule_is_random(SCHEDULE_SWARM));
    assert_false(schedule_is_random(SCHEDULE_SEARCH));
}

static void a_plan_says_which_schedule_a_seed_is(void **state)
{
    (void)state;
    static const enum schedule EXPECTED[STRATEGIES][2] = {
        [STRATEGY_MIXED] = {SCHEDULE_PCT, SCHEDULE_UNIFORM},
        [STRATEGY_UNIFORM] = {SCHEDULE_UNIFORM, SCHEDULE_UNIFORM},
        [STRATEGY_PCT] = {SCHEDULE_PCT, SCHEDULE_PCT},
        [STRATEGY_SWARM] = {SCHEDULE_SWARM, SCHEDULE_SWARM},
    };
    for (int i = 0; i < STRATEGIES; i++) {
        struct strategy_plan plan = {.strategy = (enum strategy)i};
        assert_int_equal(random_schedule(&plan, 4), EXPECTED[i][0]);
        assert_int_equal(random_schedule(&plan, 5), EXPECTED[i][1]);
    }
}

/* Within the budgets, all mixes, all counts; and the same numbers from every compiler. */
static void a_swarm_draws_from_the_budgets(void **state)
{
    (void)state;
    bool mix[8] = {false}, count[4] = {false}, rate[65] = {false};
    uint64_t hash = 0;
    open_scenario(ALL_FAULTS);
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct swarm swarm, again;
        swarm_draw(&scenario, seed, &swarm);
        swarm_draw(&scenario, seed, &again);
        assert_memory_equal(swarm.budget, again.budget, sizeof swarm.budget);
        for (int i = 0; i < WORLD_FAULTS; i++) {
            assert_true(swarm.budget[i] <= scenario.options.budget[i]);
            hash =
                i <= WORLD_FAULT_SERVER ? hash_mix(hash + swarm.budget[i]) : hash; /* kinds that came later */
        }
        hash = hash_mix(hash + swarm.fault_one_in);
        assert_in_range(swarm.fault_one_in, 4, 64);
        rate[swarm.fault_one_in] = true;
        count[swarm.budget[WORLD_FAULT_LAG]] = true;
        mix[(swarm.budget[WORLD_FAULT_LOSS] > 0) | (swarm.budget[WORLD_FAULT_EXPIRE] > 0) << 1 |
            (swarm.budget[WORLD_FAULT_LAG] > 0) << 2] = true;
    }
    for (int i = 0; i < 8; i++) {
        assert_true(mix[i]);
    }
    assert_true(count[0] && count[1] && count[2] && count[3]);
    assert_true(rate[4] && rate[8] && rate[16] && rate[32] && rate[64]);
    assert_int_equal(hash, 0x4a0d4946b998c44cull);
    scenario_close(&scenario);
}

static int drawn_over_seeds(const char *text)
{
    int drawn = 0;
    open_scenario(text);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct swarm swarm;
        swarm_draw(&scenario, seed, &swarm);
        for (int i = 0; i < WORLD_FAULTS; i++) {
            assert_true(swarm.budget[i] <= 2);
            drawn += swarm.budget[i];
        }
        assert_int_equal(swarm.budget[WORLD_FAULT_LAG], 0); /* one server */
        assert_int_equal(swarm.budget[WORLD_FAULT_ALLOC], 0);
        assert_int_equal(swarm.budget[WORLD_FAULT_CALL], 0);
    }
    scenario_close(&scenario);
    return drawn;
}

static void a_swarm_adds_faults_to_a_script(void **state)
{
    (void)state;
    assert_true(drawn_over_seeds("mutex /locks/x\nprocess a\na acquire\nsettle\n----\n") > 100);
    /* Not where the promises are not for every fault. */
    assert_int_equal(drawn_over_seeds("mutex /locks/x\nprocess a\na acquire\na stop\n----\n"), 0);
    assert_int_equal(
        drawn_over_seeds("mutex /locks/x\nprocess a\ncreate /locks/x perms=5\na acquire\n----\n"), 0);
    assert_int_equal(drawn_over_seeds("world defects=immortal\nmutex /locks/x\nprocess a\na acquire\n----\n"),
                     0);
}

static void what_a_swarm_draws_is_told(void **state)
{
    (void)state;
    char text[160];
    struct swarm swarm = {.fault_one_in = 16};
    assert_string_equal(swarm_text(&swarm, text, sizeof text), "no faults");
    swarm.budget[WORLD_FAULT_LOSS] = 2;
    swarm.budget[WORLD_FAULT_SWEEP] = 1;
    assert_string_equal(swarm_text(&swarm, text, sizeof text), "loss<=2 sweep<=1, one fault in 16 steps");
    assert_int_equal(strlen(swarm_text(&swarm, text, 12)), 11);
}

/* ---- runs ---- */

static struct {
    int fault[WORLD_FAULTS];
} seen;

static void note(void *ctx, const struct run *run, const struct action *action)
{
    (void)ctx;
    (void)run;
    int fault = world_fault_of(action);
    if (fault >= 0 && !world_is_healing(action)) {
        seen.fault[fault]++;
    }
}

static void a_swarm_run_has_the_faults_that_were_drawn(void **state)
{
    (void)state;
    struct run run;
    int losses = 0, without = 0;
    open_scenario(ALL_FAULTS);
    struct run_setup setup = {.scenario = &scenario,
                              .recipe = recipe_find("mutex"),
                              .schedule = SCHEDULE_SWARM,
                              .plan = {.strategy = STRATEGY_SWARM}};
    assert_int_equal(run_init(&run, &setup), 0);
    run.watch = note;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct swarm swarm;
        memset(&seen, 0, sizeof seen);
        swarm_draw(&scenario, seed, &swarm);
        random_one(&run, seed);
        assert_false(run_violated(&run));
        for (int i = 0; i < WORLD_FAULTS; i++) {
            assert_true(seen.fault[i] <= swarm.budget[i]);
        }
        losses += seen.fault[WORLD_FAULT_LOSS];
        without += swarm.budget[WORLD_FAULT_LOSS] == 0;
    }
    assert_true(losses > 50 && without > 50);
    run_close(&run);
    scenario_close(&scenario);
}

static uint64_t hash_of_run(struct run *run, uint64_t seed)
{
    uint64_t hash = 0;
    run->recording = true;
    random_one(run, seed);
    for (int i = 0; i < run->choices; i++) {
        for (const char *at = run->choice[i].label; *at; at++) {
            hash = hash_mix(hash ^ (unsigned char)*at);
        }
    }
    return hash;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int different_runs(const struct strategy_plan *plan)
{
    enum { SEEDS = 400 };
    static uint64_t hash[SEEDS];
    struct run run;
    int different = 0;
    struct run_setup setup = {
        .scenario = &scenario, .recipe = recipe_find("mutex"), .schedule = SCHEDULE_PCT, .plan = *plan};
    assert_int_equal(run_init(&run, &setup), 0);
    for (int i = 0; i < SEEDS; i++) {
        hash[i] = hash_of_run(&run, (uint64_t)i);
    }
    run_close(&run);
    qsort(hash, SEEDS, sizeof hash[0], compare);
    for (int i = 0; i < SEEDS; i++) {
        different += i == 0 || hash[i] != hash[i - 1];
    }
    return different;
}

/* Without faults and with nothing to choose within a thread, priorities alone decide: six threads have 720 orders, and most
 * of them are the same run. */
static void depth_opens_runs(void **state)
{
    (void)state;
    open_scenario("world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=0\n----\n");
    int runs[4];
    for (int depth = 1; depth <= 3; depth++) {
        struct strategy_plan plan = {.strategy = STRATEGY_PCT, .depth = depth, .steps = 30};
        runs[depth] = different_runs(&plan);
    }
    struct strategy_plan plain = {.strategy = STRATEGY_PCT, .steps = 30};
    struct strategy_plan late = {.strategy = STRATEGY_PCT, .steps = 1000000};
    assert_true(runs[1] < 100);
    assert_true(runs[2] > runs[1] + 50);
    assert_true(runs[3] > runs[2] + 25);
    assert_int_equal(different_runs(&plain), runs[3]);  /* three is the default */
    assert_true(different_runs(&late) <= runs[1] + 10); /* changes that lie behind the end are none */
    scenario_close(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(a_plan_says_which_schedule_a_seed_is),
        cmocka_unit_test(a_swarm_draws_from_the_budgets),
        cmocka_unit_test(a_swarm_adds_faults_to_a_script),
        cmocka_unit_test(what_a_swarm_draws_is_told),
        cmocka_unit_test(a_swarm_run_has_the_faults_that_were_drawn),
        cmocka_unit_test(depth_opens_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
