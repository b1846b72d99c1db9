/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Fingerprints do not depend on the address at which the program is loaded (D3b). This program starts
 * itself twice, with address randomisation on. Both starts do the same runs, and must print the same
 * fingerprints. */
#include "base/rng.h"
#include "check/check.h"
#include "trace/event_names.h"

#include <lockstep/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

static const char *self;
static struct world *world;
static struct check_set judges;
static struct check_stats stats;

static void observe(void *ctx, const struct event *event)
{
    (void)ctx;
    void *block = world_judges(world);
    if (check_set_observe(&judges, block, &stats, event)) {
        world_judges_changed(world, check_set_live_bytes(block));
    }
}

static void options_for(struct world_options *options, uint64_t seed)
{
    world_options_default(options);
    options->recipe = &ls_recipe_mutex;
    options->processes = 3;
    options->servers = 1 + (int)(seed % 3);
    options->seed = seed;
    for (int p = 0; p < 3; p++) {
        options->name[p][0] = (char)('a' + p);
        options->autostart[p] = true;
        options->program[p].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .c = -1};
        options->program[p].ops[1] = (struct action){.kind = ACTION_RELEASE};
        options->program[p].count = 2;
    }
    options->budget[WORLD_FAULT_LOSS] = 2;
    options->budget[WORLD_FAULT_EXPIRE] = 1;
    options->budget[WORLD_FAULT_CRASH] = 1;
    options->judge_bytes = check_set_state_size(&judges);
}

/* Prints a fingerprint from the middle of each of some runs, and an address that randomisation changes. */
static int print_fingerprints(void)
{
    static struct world_options options;
    static struct action actions[WORLD_ACTIONS_MAX];
    struct check_context context = {.processes = 3, .locks = 1};
    check_set_init(&judges, check_default_mask(false), &context);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        options_for(&options, seed);
        if (world == NULL) {
            world = world_open(&options, observe, NULL);
        } else {
            world_reset(world, &options);
        }
        if (world == NULL) {
            return 4;
        }
        world_begin(world);
        for (int i = 0; i < 30 + (int)seed * 2; i++) {
            int count = world_actions(world, actions);
            if (count == 0) {
                break;
            }
            world_apply(world, &actions[rng_below(&rng, (uint32_t)count)]);
        }
        printf("%016llx\n", (unsigned long long)world_fingerprint(world));
    }
    fprintf(stderr, "%p\n", (void *)&world);
    return 0;
}

static void run_self(char *output, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "%s print 2>/dev/null", self);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t read = fread(output, 1, size - 1, pipe);
    output[read] = 0;
    assert_int_equal(pclose(pipe), 0);
}

static void test_two_starts_have_the_same_fingerprints(void **state)
{
    (void)state;
    static char first[4096];
    static char second[4096];
    run_self(first, sizeof first);
    run_self(second, sizeof second);
    assert_int_equal(strlen(first), 17 * 40);
    assert_string_equal(first, second);
    assert_int_not_equal(strncmp(first, first + 17, 16), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        return print_fingerprints();
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_starts_have_the_same_fingerprints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
