/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the operations on a world cost: bytes and nanoseconds of snapshot, restore, fingerprint and step, and how many
 * random runs a core makes in a second. Absolute times are for the reader; ratios are printed against a plain copy of the
 * same number of bytes in the same run. */
#include "base/rng.h"
#include "trace/event_names.h"

#include <lockstep/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const struct ls_recipe ls_recipe_mutex;

#define ROUNDS 20000
#define RUNS 20000
#define RUN_STEPS_MAX 400

static uint64_t grants;

static void count_grants(void *ctx, const struct event *event)
{
    (void)ctx;
    grants += event->kind == EVENT_GRANTED;
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void make_options(struct world_options *options, uint64_t seed)
{
    world_options_default(options);
    options->recipe = &ls_recipe_mutex;
    options->processes = 3;
    options->seed = seed;
    for (int p = 0; p < 3; p++) {
        options->name[p][0] = (char)('a' + p);
        options->autostart[p] = true;
        options->program[p].ops[0] = (struct action){.kind = ACTION_ACQUIRE, .timeout_ms = -1};
        options->program[p].ops[1] = (struct action){.kind = ACTION_RELEASE};
        options->program[p].count = 2;
    }
    options->budget[WORLD_FAULT_LOSS] = 1;
    options->budget[WORLD_FAULT_EXPIRE] = 1;
}

static uint64_t random_steps(struct world *world, struct rng *rng, int limit)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (int i = 0; i < limit; i++) {
        int count = world_actions(world, actions);
        if (count == 0) {
            return (uint64_t)i;
        }
        world_do(world, &actions[rng_below(rng, (uint32_t)count)]);
    }
    return (uint64_t)limit;
}

static void bench_value(struct world *world)
{
    struct world_image *image = world_save(world);
    size_t bytes = world_image_bytes(image);
    char *copy = malloc(bytes);
    double t0 = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        world_image_free(world_save(world));
    }
    double t1 = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        world_restore(world, image);
    }
    double t2 = now_s();
    uint64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        world_restore(world, image);
        sum ^= world_fingerprint(world);
    }
    double t3 = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(copy, image, bytes);
        sum += (unsigned char)copy[(size_t)i % bytes];
    }
    double t4 = now_s();
    double unit = 1e9 / ROUNDS;
    double plain = (t4 - t3) * unit;
    printf("world of 3 clients: %zu bytes live\n", bytes);
    printf("snapshot     %8.0f ns  %6.1f plain copies\n", (t1 - t0) * unit, (t1 - t0) * unit / plain);
    printf("restore      %8.0f ns  %6.1f plain copies\n", (t2 - t1) * unit, (t2 - t1) * unit / plain);
    printf("fingerprint  %8.0f ns  %6.1f plain copies (all blocks; %016llx)\n",
           ((t3 - t2) - (t2 - t1)) * unit, ((t3 - t2) - (t2 - t1)) * unit / plain, (unsigned long long)sum);
    free(copy);
    world_image_free(image);
}

/* Random runs; with `fingerprints` each step is followed by the fingerprint of what it changed. */
static double run_all(struct world *world, bool fingerprints, uint64_t *steps)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    struct world_options options;
    struct rng rng;
    volatile uint64_t sum = 0;
    rng_seed(&rng, 1);
    *steps = 0;
    double t0 = now_s();
    for (int run = 0; run < RUNS; run++) {
        make_options(&options, (uint64_t)run);
        world_reset(world, &options);
        world_begin(world);
        for (int i = 0; i < RUN_STEPS_MAX; i++) {
            int count = world_actions(world, actions);
            if (count == 0) {
                break;
            }
            world_do(world, &actions[rng_below(&rng, (uint32_t)count)]);
            ++*steps;
            if (fingerprints) {
                sum = sum ^ world_fingerprint(world);
            }
        }
    }
    return now_s() - t0;
}

static void bench_runs(struct world *world)
{
    uint64_t steps;
    grants = 0;
    double bare = run_all(world, false, &steps);
    double per_run = (double)grants / RUNS;
    double marked = run_all(world, true, &steps);
    printf("step         %8.0f ns  list what is enabled, choose, do it\n", bare * 1e9 / (double)steps);
    printf("fingerprint  %8.0f ns  of the blocks that one step marked\n",
           (marked - bare) * 1e9 / (double)steps);
    printf("random runs  %8.0f runs/s, %.2f million steps/s, %.1f steps and %.2f grants a run\n", RUNS / bare,
           (double)steps / bare * 1e-6, (double)steps / RUNS, per_run);
}

int main(void)
{
    struct world_options options;
    struct rng rng;
    make_options(&options, 1);
    struct world *world = world_open(&options, count_grants, NULL);
    if (world == NULL) {
        perror("bench world: the arena cannot be mapped");
        return 4;
    }
    world_begin(world);
    rng_seed(&rng, 1);
    random_steps(world, &rng, 40);
    bench_value(world);
    bench_runs(world);
    world_close(world);
    return 0;
}
