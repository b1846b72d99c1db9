/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Which random strategy finds which broken recipe in how many runs, and what each covers of the right one: all by equal numbers
 * of runs on the files of scenarios/explore, and on bench/many.scn, which has all kinds of fault.
 *
 *     random [--runs N] [--bases N]
 *
 * A number is the median over so many seed bases (20) of the runs until a property is violated; ">N" says that more than half of the bases needed more than the runs that were given (3000). The result depends on the
 * version of lockstep alone, not on the machine. */
#include "scenario/random.h"
#include "scenario/coverage.h"
#include "scenario/recipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASES_MAX 100
#define BASE_STEP 1000000

static const struct {
    const char *recipe, *file;
} CASES[] = {
    {"broken-full-name-order", "mutex_2"},
    {"broken-event-is-grant", "mutex_3"},
    {"broken-any-event-is-grant", "mutex_2"},
    {"broken-by-name-only", "mutex_2"},
    {"broken-sequence-token", "sweep_2"},
    {"broken-waits-for-absent", "mutex_2"},
    {"broken-early-events", "early_2"},
    {"broken-trusts-calls", "mutex_2"},
    {"broken-no-protection", "mutex_2"},
    {"broken-minus-seven", "mutex_2"},
    {"broken-no-sync", "lag_2"},
    {"broken-no-sync", "late_2"},
    {"broken-cancel-leaks", "given_up_2"},
    {"broken-cleanup-once", "leftover_2"},
    {"broken-release-once", "mutex_2"},
    {"broken-release-once", "mutex_4"},
    {"broken-herd", "mutex_4"},
    {"broken-keeps-watch", "given_up_2"},
    {"broken-gives-up-place", "mutex_2"},
    {"broken-gives-up-place", "mutex_3"},
    {"broken-depth", "reentrant_2"},
    {"broken-busy-wait", "mutex_2"},
    {"broken-retry-loop", "mutex_2"},
    {"broken-retry-loop", "mutex_4"},
    {"broken-any-event-is-grant", "many"},
    {"broken-by-name-only", "many"},
    {"broken-busy-wait", "many"},
    {"broken-cleanup-once", "many"},
    {"broken-gives-up-place", "many"},
    {"broken-keeps-watch", "many"},
    {"broken-minus-seven", "many"},
    {"broken-no-protection", "many"},
    {"broken-no-sync", "many"},
};

static const char *const COVERED[] = {"mutex_2",    "mutex_3",  "crash_2", "late_2",
                                      "given_up_2", "revoke_2", "many"};

static const enum strategy STRATEGIES_COMPARED[] = {STRATEGY_UNIFORM, STRATEGY_PCT, STRATEGY_SWARM,
                                                    STRATEGY_MIXED};
#define COMPARED ((int)(sizeof STRATEGIES_COMPARED / sizeof STRATEGIES_COMPARED[0]))

static struct scenario scenario;
static struct outcome outcome;
static struct coverage coverage;
static uint64_t runs_max = 3000, bases = 20;

static void open_scenario(const char *file)
{
    char path[128];
    struct input_mistakes mistakes;
    bool of_bench = strcmp(file, "many") == 0;
    snprintf(path, sizeof path, "%s/%s.scn", of_bench ? "bench" : "scenarios/explore", file);
    if (scenario_read(&scenario, path, &mistakes) != 0) {
        fprintf(stderr, "%s\n", mistakes.mistake[0].text);
        exit(4);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t *numbers)
{
    qsort(numbers, bases, sizeof *numbers, ascending);
    return numbers[(bases - 1) / 2];
}

static void random_runs(const struct ls_recipe *recipe, enum strategy strategy, uint64_t base)
{
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe, .plan = {.strategy = strategy}};
    memset(&outcome, 0, sizeof outcome);
    random_run(&setup, 1 + base * BASE_STEP, runs_max, "build/bench-random", &outcome);
}

/* ---- broken recipes ---- */

static void compare_case(const char *name, const char *file)
{
    const struct ls_recipe *recipe = recipe_find(name);
    open_scenario(file);
    printf("%-28s %-11s", name, file);
    for (int s = 0; s < COMPARED; s++) {
        uint64_t needed[BASES_MAX];
        for (uint64_t base = 0; base < bases; base++) {
            random_runs(recipe, STRATEGIES_COMPARED[s], base);
            needed[base] = outcome.verdict == VERDICT_VIOLATED ? outcome.runs : UINT64_MAX;
        }
        uint64_t middle = median(needed);
        char text[32];
        snprintf(text, sizeof text, middle == UINT64_MAX ? ">%llu" : "%llu",
                 (unsigned long long)(middle == UINT64_MAX ? runs_max : middle));
        printf(" %9s", text);
    }
    putchar('\n');
    fflush(stdout);
    scenario_close(&scenario);
}

static void print_head(const char *first, const char *second)
{
    printf("%-28s %-11s", first, second);
    for (int s = 0; s < COMPARED; s++) {
        printf(" %9s", strategy_name(STRATEGIES_COMPARED[s]));
    }
    putchar('\n');
}

/* ---- coverage ---- */

static void print_covered(const char *what, const char *file, const uint64_t *numbers)
{
    printf("%-28s %-11s", what, file);
    for (int s = 0; s < COMPARED; s++) {
        printf(" %9llu", (unsigned long long)numbers[s]);
    }
    putchar('\n');
}

static void compare_coverage(const char *file)
{
    const struct ls_recipe *recipe = recipe_find("mutex");
    uint64_t states[COMPARED], marks[COMPARED], pairs[COMPARED];
    open_scenario(file);
    for (int s = 0; s < COMPARED; s++) {
        memset(&coverage, 0, sizeof coverage);
        coverage_into(&coverage, recipe);
        random_runs(recipe, STRATEGIES_COMPARED[s], 0);
        coverage_into(NULL, NULL);
        const struct coverage_row *last = &coverage.row[coverage.rows - 1];
        states[s] = last->states;
        marks[s] = last->marks;
        pairs[s] = last->pairs;
    }
    print_covered("different states", file, states);
    print_covered("marks", file, marks);
    print_covered("(state, event) pairs", file, pairs);
    fflush(stdout);
    scenario_close(&scenario);
}

/* ---- the whole ---- */

static int read_option(const char *name, const char *text)
{
    char *end = NULL;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    bool is_runs = strcmp(name, "--runs") == 0;
    if ((!is_runs && strcmp(name, "--bases") != 0) || !end || *end || value == 0 ||
        value > (is_runs ? BASE_STEP : BASES_MAX)) {
        fprintf(stderr, "bench random: expected --runs N (1 to %d) or --bases N (1 to %d), found '%s'\n",
                BASE_STEP, BASES_MAX, name);
        return 2;
    }
    *(is_runs ? &runs_max : &bases) = value;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        if (read_option(argv[i], argv[i + 1]) != 0) {
            return 2;
        }
    }
    print_head("runs until it is found", "file");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        compare_case(CASES[i].recipe, CASES[i].file);
    }
    printf("\nwhat %llu runs of the right recipe cover\n", (unsigned long long)runs_max);
    print_head("", "file");
    for (size_t i = 0; i < sizeof COVERED / sizeof COVERED[0]; i++) {
        compare_coverage(COVERED[i]);
    }
    return 0;
}
