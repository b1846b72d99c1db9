/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The textbook mutex under random schedules and faults violates nothing, and everything is judged. */
#include "base/rng.h"
#include "broken/stage.h"

#define RUNS 200
#define STEPS 500
#define PROCESSES 3

static void add(struct world_program *program, uint8_t kind, int timeout_ms)
{
    program->ops[program->count++] = (struct action){.kind = kind, .c = timeout_ms};
}

/* Plain, nested, with a deadline, and a try: by turns. */
static void write_program(struct world_program *program, uint64_t turn)
{
    add(program, ACTION_ACQUIRE, -1);
    add(program, ACTION_WRITE, 0);
    if (turn % 3 == 1) {
        add(program, ACTION_ACQUIRE, -1);
        add(program, ACTION_RELEASE, 0);
    }
    add(program, ACTION_RELEASE, 0);
    add(program, ACTION_ACQUIRE, turn % 3 == 2 ? 300 : -1);
    add(program, ACTION_WRITE, 0);
    add(program, ACTION_RELEASE, 0);
    if (turn % 4 == 3)
        add(program, ACTION_REVOKE, 1);
    if (turn % 3 == 0) {
        add(program, ACTION_ACQUIRE, 0);
        add(program, ACTION_RELEASE, 0);
    }
}

static void prepare(struct world_options *options, int servers, bool timed, uint64_t seed)
{
    stage_options(options, &textbook_recipe, PROCESSES, servers, timed, seed);
    options->loss_rc = seed % 2 ? -4 : -7;
    options->used_directory = seed % 3 == 0;
    for (int p = 0; p < PROCESSES; p++)
        write_program(&options->program[p], seed + (uint64_t)p);
    for (int fault = 0; fault < WORLD_FAULTS; fault++)
        options->budget[fault] = 1;
    options->budget[WORLD_FAULT_ALLOC] = 0;
    options->budget_total = (uint8_t)(seed % 4);
}

/* Uniform over what can happen, but faults come late as often as early. */
static void wander(struct stage *stage, struct rng *rng)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (int step = 0; step < STEPS && !stage->stats.violated; step++) {
        int count = world_actions(stage->world, actions);
        if (count == 0)
            return;
        const struct action *action = &actions[rng_below(rng, (uint32_t)count)];
        if (world_is_fault(action) && rng_below(rng, 8) != 0)
            continue;
        stage->stats.step++;
        assert_int_equal(world_apply(stage->world, action), 0);
    }
}

static void run(int servers, bool timed, uint64_t premises[CHECK_PROPERTIES_MAX])
{
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct world_options options;
        struct stage stage;
        struct rng rng;
        char what[64];
        prepare(&options, servers, timed, seed);
        rng_seed(&rng, seed);
        stage_open(&stage, &options);
        wander(&stage, &rng);
        world_heal(stage.world, true, NULL, NULL);
        world_settle(stage.world, STAGE_STEPS_MAX, NULL, NULL);
        assert_true(world_rest(stage.world));
        snprintf(what, sizeof what, "%d servers, %s, seed %d", servers, timed ? "timed" : "untimed",
                 (int)seed);
        stage_assert_clean(&stage, what);
        for (int i = 0; i < CHECK_PROPERTIES_MAX; i++)
            premises[i] += stage.stats.finding[i].premises;
        stage_close(&stage);
    }
}

static void assert_judged(const uint64_t premises[CHECK_PROPERTIES_MAX], bool timed)
{
    int count;
    const struct property *const *all = check_all(&count);
    for (int i = 0; i < count; i++)
        if (check_default_mask(timed) & CHECK_BIT(i) && premises[i] == 0)
            fail_msg("%s was never judged", all[i]->name);
}

static void untimed_runs_hold(void **state)
{
    uint64_t premises[CHECK_PROPERTIES_MAX] = {0};
    (void)state;
    run(1, false, premises);
    run(3, false, premises);
    assert_judged(premises, false);
}

static void timed_runs_hold(void **state)
{
    uint64_t premises[CHECK_PROPERTIES_MAX] = {0};
    (void)state;
    run(1, true, premises);
    assert_judged(premises, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untimed_runs_hold),
        cmocka_unit_test(timed_runs_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
