/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fuzz/drive.h"
#include "fuzz/mutate.h"
#include "scenario/recipes.h"

#include <lockstep/fakezk.h>
#include <lockstep/sometimes.h>

#include <string.h>

#define INPUTS 400
#define BYTES 200

static struct fuzz_driver driver;

static void fill(struct rng *rng, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)rng_next(rng);
    }
}

static void every_header_is_a_scenario(void **state)
{
    static struct scenario scenario;
    struct input_error error;
    struct rng rng;
    char text[FUZZ_TEXT_MAX];
    (void)state;
    rng_seed(&rng, 7);
    for (int i = 0; i < 5000; i++) {
        uint8_t header[FUZZ_HEADER];
        fill(&rng, header, sizeof header);
        size_t size = fuzz_scenario_text(NULL, header, rng_below(&rng, FUZZ_HEADER + 1), text);
        if (scenario_read_bytes(&scenario, "header", text, size, &error) != 0) {
            fail_msg("%s\n%s", error.text, text);
        }
        assert_true(scenario.exploring && !scenario.options.timed);
        scenario_close(&scenario);
    }
}

/* Each program is one that the language knows: one header for each. */
static void every_program_is_one(void **state)
{
    static struct scenario scenario;
    struct input_error error;
    char text[FUZZ_TEXT_MAX];
    (void)state;
    for (int i = 0; i < fuzz_programs(); i++) {
        uint8_t header[FUZZ_HEADER] = {[2] = FUZZ_TWO_LOCKS, [9] = (uint8_t)i};
        size_t size = fuzz_scenario_text(NULL, header, sizeof header, text);
        assert_int_equal(scenario_read_bytes(&scenario, "program", text, size, &error), 0);
        assert_true(scenario.options.program[0].count > 0);
        scenario_close(&scenario);
    }
}

static enum fuzz_end run(const uint8_t *bytes, size_t size)
{
    driver.recipe = recipe_find(RECIPE_DEFAULT);
    return fuzz_run(&driver, bytes, size);
}

/* No bytes are a run in which everybody is served, and so is one byte. */
static void no_bytes_are_a_run(void **state)
{
    (void)state;
    const uint8_t zero = 0;
    assert_int_equal(run(&zero, 0), FUZZ_HOLDS);
    assert_int_equal(driver.stats.grants, 2);
    assert_int_equal(driver.stats.faults, 0);
    assert_int_equal(run(&zero, 1), FUZZ_HOLDS);
    fuzz_close(&driver);
}

/* What lies in the lock's directory and is no contender keeps nobody from being served, whether or not it was used before. */
static void a_stranger_keeps_nobody(void **state)
{
    const uint8_t bits[] = {FUZZ_STRANGER, FUZZ_STRANGER | FUZZ_USED};
    (void)state;
    for (size_t i = 0; i < sizeof bits; i++) {
        uint8_t header[FUZZ_HEADER] = {[2] = bits[i]};
        assert_int_equal(run(header, sizeof header), FUZZ_HOLDS);
        assert_int_equal(driver.stats.grants, 2);
        assert_true(fakezk_exists("/locks/x/content"));
    }
    uint8_t alone[FUZZ_HEADER] = {0};
    assert_int_equal(run(alone, sizeof alone), FUZZ_HOLDS);
    assert_false(fakezk_exists("/locks/x/content"));
    fuzz_close(&driver);
}

/* The same bytes are the same run, whatever was run before, in the same world or another. */
static void bytes_are_one_run(void **state)
{
    struct rng rng;
    uint8_t bytes[BYTES], other[BYTES];
    (void)state;
    rng_seed(&rng, 3);
    for (int i = 0; i < INPUTS; i++) {
        fill(&rng, bytes, sizeof bytes);
        fill(&rng, other, sizeof other);
        memcpy(other, bytes, i % 2 == 0 ? FUZZ_HEADER : 0);
        assert_int_equal(run(bytes, sizeof bytes), FUZZ_HOLDS);
        struct fuzz_stats stats = driver.stats;
        uint64_t fingerprint = world_fingerprint(driver.run.world);
        assert_int_equal(run(other, sizeof other), FUZZ_HOLDS);
        assert_int_equal(run(bytes, sizeof bytes), FUZZ_HOLDS);
        assert_memory_equal(&stats, &driver.stats, sizeof stats);
        assert_int_equal(fingerprint, world_fingerprint(driver.run.world));
    }
    fuzz_close(&driver);
}

/* Of all that is possible, what a decision with this first byte is about; in driver.enabled. */
static int choices_of_all(uint8_t first)
{
    static struct action all[WORLD_ACTIONS_MAX];
    enum fuzz_what what = fuzz_what(first);
    int clients = driver.scenario.options.processes, kept = 0;
    bool with_nobody =
        what == FUZZ_CATCH_UP || what == FUZZ_SERVER || what == FUZZ_HEAL || what == FUZZ_CONNECT;
    int count = world_actions(driver.run.world, all);
    for (int i = 0; i < count; i++) {
        bool nobody = all[i].process == EVENT_PROCESS_NONE || all[i].kind == ACTION_COMMIT;
        bool mine = nobody ? with_nobody : all[i].process == (first & 15) % clients;
        if (mine && fuzz_is_about(what, &all[i])) {
            driver.enabled[kept++] = all[i];
        }
    }
    return kept;
}

/* A decision chooses from all that it can be about, in the order of the list, though only a part of the list is made. */
static void a_decision_chooses_from_all(void **state)
{
    static struct action chosen[WORLD_ACTIONS_MAX];
    struct rng rng;
    uint8_t header[FUZZ_HEADER];
    unsigned met = 0;
    (void)state;
    rng_seed(&rng, 11);
    driver.recipe = recipe_find(RECIPE_DEFAULT);
    for (int i = 0; i < 60; i++) {
        fill(&rng, header, sizeof header);
        assert_true(fuzz_begin(&driver, header, sizeof header));
        for (int step = 0; step < 60 && fuzz_may_go_on(&driver); step++) {
            for (unsigned first = FUZZ_DELIVER << 4; first < 256; first++) {
                int count = fuzz_choices(&driver, (uint8_t)first);
                memcpy(chosen, driver.enabled, (size_t)count * sizeof *chosen);
                assert_int_equal(count, choices_of_all((uint8_t)first));
                for (int k = 0; k < count; k++) {
                    assert_true(world_same_action(&chosen[k], &driver.enabled[k]));
                }
                met |= (unsigned)(count > 0) << (first >> 4);
            }
            int count = world_actions(driver.run.world, chosen);
            if (count == 0) {
                break;
            }
            assert_true(fuzz_apply(&driver, &chosen[rng_below(&rng, (uint32_t)count)]));
        }
    }
    assert_int_equal(met, 0xfffe); /* all but the default schedule */
    fuzz_close(&driver);
}

/* A decision that is not possible changes nothing: without it the run is the same. */
static void what_is_not_possible_is_passed_over(void **state)
{
    (void)state;
    /* No faults in all, so that no loss is possible. */
    const uint8_t with[FUZZ_HEADER + 5] = {[7] = 7,
                                           [FUZZ_HEADER] = FUZZ_DEFAULT << 4 | 3,
                                           FUZZ_LOSS << 4,
                                           77,
                                           FUZZ_PROGRAM << 4 | 1,
                                           FUZZ_DEFAULT << 4 | 5};
    uint8_t without[sizeof with];
    size_t size = fuzz_without(with, sizeof with, 1, 1, without);
    assert_int_equal(size, sizeof with - 2);
    assert_int_equal(run(with, sizeof with), FUZZ_HOLDS);
    assert_int_equal(driver.stats.passed, 1);
    uint64_t fingerprint = world_fingerprint(driver.run.world), steps = driver.stats.steps;
    assert_int_equal(run(without, size), FUZZ_HOLDS);
    assert_int_equal(driver.stats.passed, 0);
    assert_int_equal(driver.stats.steps, steps);
    assert_int_equal(world_fingerprint(driver.run.world), fingerprint);
    fuzz_close(&driver);
}

/* Mutants stay within their bounds, keep a header, and are runs. */
static void mutants_are_inputs(void **state)
{
    struct rng rng;
    uint8_t bytes[BYTES], other[BYTES], mutant[BYTES + 20];
    (void)state;
    rng_seed(&rng, 5);
    for (int i = 0; i < 20 * INPUTS; i++) {
        size_t size = rng_below(&rng, BYTES), other_size = rng_below(&rng, BYTES);
        size_t max = FUZZ_HEADER + 2 + rng_below(&rng, (uint32_t)(sizeof mutant - FUZZ_HEADER - 1));
        fill(&rng, bytes, size);
        fill(&rng, other, other_size);
        size_t result = fuzz_mutate(&rng, bytes, size, other, other_size, mutant, max);
        assert_in_range(result, FUZZ_HEADER, max);
        if (i % 20 == 0) {
            assert_int_equal(run(mutant, result), FUZZ_HOLDS);
        }
    }
    fuzz_close(&driver);
}

/* Leaving decisions out one by one ends with the header. */
static void decisions_can_be_left_out(void **state)
{
    struct rng rng;
    uint8_t bytes[BYTES], out[BYTES];
    (void)state;
    rng_seed(&rng, 9);
    fill(&rng, bytes, sizeof bytes);
    size_t size = sizeof bytes;
    for (size_t count = fuzz_decisions(bytes, size); count > 0; count--) {
        size = fuzz_without(bytes, size, rng_below(&rng, (uint32_t)count), 1, out);
        memcpy(bytes, out, size);
        assert_int_equal(fuzz_decisions(bytes, size), count - 1);
    }
    assert_int_equal(size, FUZZ_HEADER);
    assert_int_equal(fuzz_without(bytes, size, 0, 1, out), FUZZ_HEADER);
}

/* Abstract situations are counted where somebody wants them, and a run with a loss has others than one without. */
static void situations_are_counted(void **state)
{
    static uint8_t slots[SITUATION_SLOTS];
    unsigned plain = 0, more = 0;
    (void)state;
    const uint8_t calm[FUZZ_HEADER] = {0};
    const uint8_t stormy[FUZZ_HEADER + 4] = {
        [FUZZ_HEADER] = FUZZ_PROGRAM << 4, FUZZ_DEFAULT << 4 | 2, FUZZ_LOSS << 4, 1};
    driver.situations.slot = slots;
    run(calm, sizeof calm);
    for (size_t i = 0; i < sizeof slots; i++) {
        plain += slots[i] != 0;
    }
    run(stormy, sizeof stormy);
    assert_int_equal(driver.stats.faults, 1);
    for (size_t i = 0; i < sizeof slots; i++) {
        more += slots[i] != 0;
    }
    assert_true(plain > 5);
    assert_true(more > plain);
    driver.situations.slot = NULL;
    fuzz_close(&driver);
}

static bool marks_are_reached;

static void reach_a_mark(void)
{
    LS_SOMETIMES("reached-by-a-test");
}

static uint32_t states_and_a_mark(const void *state)
{
    (void)state;
    if (marks_are_reached) {
        reach_a_mark();
    }
    return 1;
}

/* How many slots of marks an input takes, and of all others. */
struct taken {
    unsigned marks, others;
};

static struct taken slots_of(uint8_t *slots, const uint8_t *bytes, size_t size)
{
    struct taken taken = {0};
    memset(slots, 0, SITUATION_SLOTS);
    (void)fuzz_run(&driver, bytes, size);
    for (size_t i = 0; i < SITUATION_SLOTS; i++) {
        unsigned *kind = i < SITUATION_SLOTS - SITUATION_MARKS ? &taken.others : &taken.marks;
        *kind += slots[i] != 0;
    }
    return taken;
}

/* A mark is a situation of each run that reaches it, and of no other; and what it says nothing else does. */
static void marks_are_counted(void **state)
{
    static uint8_t slots[SITUATION_SLOTS];
    const uint8_t input[FUZZ_HEADER] = {0};
    struct ls_recipe marked = *recipe_find(RECIPE_DEFAULT);
    (void)state;
    marked.states_now = states_and_a_mark;
    fuzz_close(&driver);
    driver.situations.slot = slots;
    driver.recipe = &marked;
    struct taken without = slots_of(slots, input, sizeof input);
    for (int run = 0; run < 5; run++) {
        marks_are_reached = run == 1 || run == 2;
        if (run == 4) {
            reach_a_mark();
        }
        struct taken taken = slots_of(slots, input, sizeof input);
        assert_int_equal(taken.marks, without.marks + marks_are_reached);
        assert_int_equal(taken.others, without.others);
    }
    driver.recipe = recipe_find(RECIPE_DEFAULT);
    driver.situations.slot = NULL;
    fuzz_close(&driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_header_is_a_scenario),
        cmocka_unit_test(every_program_is_one),
        cmocka_unit_test(no_bytes_are_a_run),
        cmocka_unit_test(a_stranger_keeps_nobody),
        cmocka_unit_test(bytes_are_one_run),
        cmocka_unit_test(a_decision_chooses_from_all),
        cmocka_unit_test(what_is_not_possible_is_passed_over),
        cmocka_unit_test(mutants_are_inputs),
        cmocka_unit_test(decisions_can_be_left_out),
        cmocka_unit_test(situations_are_counted),
        cmocka_unit_test(marks_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
