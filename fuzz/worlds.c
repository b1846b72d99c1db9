/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "worlds.h"

#include "fuzz/drive.h"
#include "fuzz/mutate.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TARGET_COUNTERS == SITUATION_SLOTS, "each situation has a counter");

#define WARM_UP_INPUTS 300
#define WARM_UP_BYTES 300

static struct fuzz_driver driver;
static bool states_count;

static struct {
    uint64_t inputs, granted, faulted, limited, steps, decisions, passed, situations;
    bool reached[SITUATION_SLOTS];
    uint64_t *length; /* steps of each */
    size_t room;
} sum;

/* What a program does once, such as looking up a name, it does before the first input: then the same input takes the same way,
 * whichever came before it. */
static void warm_up(void)
{
    uint8_t input[WARM_UP_BYTES];
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < WARM_UP_INPUTS; i++) {
        for (size_t at = 0; at < sizeof input; at++) {
            input[at] = (uint8_t)rng_next(&rng);
        }
        (void)fuzz_run(&driver, input, sizeof input);
    }
}

void worlds_open(const struct ls_recipe *recipe)
{
    const char *states = getenv("LOCKSTEP_STATES");
    driver.recipe = recipe;
    states_count = states == NULL || strcmp(states, "0") != 0;
    warm_up();
}

/* Few counters of many are not 0, so that eight are looked at together. */
static void count_situations(void)
{
    for (size_t at = 0; at < SITUATION_SLOTS; at += 8) {
        uint64_t eight;
        memcpy(&eight, driver.situations.slot + at, sizeof eight);
        for (size_t i = at; eight != 0 && i < at + 8; i++) {
            sum.situations += driver.situations.slot[i] != 0 && !sum.reached[i];
            sum.reached[i] |= driver.situations.slot[i] != 0;
        }
    }
}

static void count(enum fuzz_end end)
{
    if (sum.inputs == sum.room) {
        size_t more = sum.room * 2 + 1024;
        uint64_t *length = realloc(sum.length, more * sizeof *length);
        if (length == NULL) {
            return;
        }
        sum.length = length;
        sum.room = more;
    }
    if (driver.situations.slot != NULL) {
        count_situations();
    }
    sum.length[sum.inputs++] = driver.stats.steps;
    sum.granted += driver.stats.grants > 0;
    sum.faulted += driver.stats.faults > 0;
    sum.limited += end == FUZZ_LIMIT;
    sum.steps += driver.stats.steps;
    sum.decisions += driver.stats.decisions;
    sum.passed += driver.stats.passed;
}

/* The same run with its choices recorded. */
static void tell_finding(const uint8_t *data, size_t size)
{
    static struct outcome outcome;
    int properties, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *property = check_all(&properties);
    fuzz_record(&driver, data, size, "build/reports", &outcome);
    int count = check_violated(&outcome.stats, CHECK_ALL, violated);
    for (int i = 0; i < count; i++) {
        fprintf(stderr, "%s: %s\n", property[violated[i]]->name, outcome.stats.finding[violated[i]].why);
    }
    fprintf(stderr, "replay: lockstep replay %s\n", outcome.trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    driver.situations.slot = states_count ? target_counters : NULL;
    target_count_edges(false);
    (void)fuzz_enter(&driver, data, size);
    target_count_edges(true);
    enum fuzz_end end = fuzz_run(&driver, data, size);
    if (end == FUZZ_VIOLATED || end == FUZZ_FAILED) {
        if (target_verbose) {
            tell_finding(data, size);
        }
        abort();
    }
    if (target_verbose) {
        count(end);
    }
    return 0;
}

/* libFuzzer and drive_file.c find it by its name. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static uint8_t out[FUZZ_HEADER + FUZZ_DECISIONS_MAX];
    struct rng rng;
    size_t room = max < sizeof out ? max : sizeof out;
    if (room < FUZZ_HEADER + 2) {
        return size;
    }
    rng_seed(&rng, seed);
    size = fuzz_mutate(&rng, data, size, NULL, 0, out, room);
    memcpy(data, out, size);
    return size;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double percent(uint64_t part)
{
    return 100.0 * (double)part / (double)sum.inputs;
}

void target_tell(void)
{
    if (sum.inputs == 0) {
        return;
    }
    qsort(sum.length, sum.inputs, sizeof *sum.length, ascending);
    fprintf(stderr,
            "%llu inputs, %llu steps, %llu in the median; a grant in %.0f %%, a fault in %.0f %%, a limit in "
            "%.1f %%\n",
            (unsigned long long)sum.inputs, (unsigned long long)sum.steps,
            (unsigned long long)sum.length[sum.inputs / 2], percent(sum.granted), percent(sum.faulted),
            percent(sum.limited));
    fprintf(stderr, "%.1f decisions each, %.1f more were not possible; %llu situations\n",
            (double)sum.decisions / (double)sum.inputs, (double)sum.passed / (double)sum.inputs,
            (unsigned long long)sum.situations);
}
