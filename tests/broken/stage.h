/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A world with all judges watching it, for tests of the recipes in src/broken. */
#ifndef TESTS_BROKEN_STAGE_H
#define TESTS_BROKEN_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "broken/broken.h"
#include "check/check.h"
#include "trace/event_names.h"
#include <cmocka.h>
#include <lockstep/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGE_STEPS_MAX 3000
#define STAGE_TOLERANCE_MS 10

struct stage {
    struct world *world;
    struct check_set set;
    struct check_stats stats;
    void *block;
};

static inline void stage_observe(void *ctx, const struct event *event)
{
    struct stage *stage = ctx;
    check_set_observe(&stage->set, stage->block, &stage->stats, event);
}

/* Processes a, b, c… that start by themselves, one lock. */
static inline void stage_options(struct world_options *options, const struct ls_recipe *recipe, int processes,
                                 int servers, bool timed, uint64_t seed)
{
    world_options_default(options);
    options->recipe = recipe;
    options->processes = processes;
    options->servers = servers;
    options->timed = timed;
    options->seed = seed;
    options->locks = 1;
    options->lock_path[0] = "/locks/x";
    for (int p = 0; p < processes; p++) {
        snprintf(options->name[p], sizeof options->name[p], "%c", 'a' + p);
        options->autostart[p] = true;
    }
}

static inline void stage_open(struct stage *stage, const struct world_options *options)
{
    struct check_context context = {.processes = options->processes,
                                    .locks = options->locks,
                                    .timed = options->timed,
                                    .tolerance_ms = STAGE_TOLERANCE_MS};
    memset(stage, 0, sizeof *stage);
    check_set_init(&stage->set, check_default_mask(options->timed), &context);
    stage->block = calloc(1, check_set_state_size(&stage->set));
    stage->world = world_open(options, stage_observe, stage);
    assert_non_null(stage->block);
    assert_non_null(stage->world);
    world_begin(stage->world);
}

static inline void stage_close(struct stage *stage)
{
    world_close(stage->world);
    free(stage->block);
}

static inline bool stage_violates(const struct stage *stage, const char *property)
{
    return (stage->stats.violated & CHECK_BIT(check_position(property))) != 0;
}

static inline enum check_verdict stage_verdict(const struct stage *stage, const char *property)
{
    return check_verdict(&stage->set, &stage->stats, check_position(property));
}

/* Fails the test with the sentence of the first violation, if there is one. */
static inline void stage_assert_clean(const struct stage *stage, const char *what)
{
    int count;
    const struct property *const *all = check_all(&count);
    if (world_trouble(stage->world))
        fail_msg("%s: %s", what, world_trouble(stage->world));
    assert_false(stage->stats.limit);
    for (int i = 0; i < count; i++)
        if (stage->stats.violated & CHECK_BIT(i))
            fail_msg("%s: %s: %s", what, all[i]->name, stage->stats.finding[i].why);
}

#endif
