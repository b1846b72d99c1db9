/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/work_plan.h"

#include "base/array.h"
#include "base/assert.h"
#include "explore/merge_parts.h"

#include <stdlib.h>
#include <string.h>

void parts_setup(const struct cli_options *options, const struct scenario *scenario, struct run_setup *setup)
{
    *setup = (struct run_setup){.scenario = scenario,
                                .recipe = cli_recipe(options, scenario),
                                .seed = options->seed,
                                .plan = options->plan,
                                .seeded = options->seed_given ? TRACE_SEED_GIVEN : TRACE_SEED_NONE};
}

static int add(struct parts_list *list, struct cli_part part)
{
    if (!array_room(&list->part, (size_t)list->count, &list->max, sizeof *list->part, 16)) {
        return -1;
    }
    LS_ASSERT((size_t)list->count < list->max && part.kind != CLI_PART_WHOLE);
    list->part[list->count++] = part;
    return 0;
}

static int add_layers(const struct cli_options *options, const struct cli_job *job, int scenario,
                      struct parts_list *list)
{
    struct run_setup setup;
    parts_setup(options, &job->scenario, &setup);
    int sets = explore_sets(&setup), layers = explore_layers(&job->scenario, &options->search);
    int first = explore_first_layer(&job->scenario, &options->search), result = 0;
    LS_ASSERT(sets >= 1 && layers >= 1);
    for (int i = 0; result == 0 && i < sets * layers; i++) {
        result = add(list, (struct cli_part){.kind = CLI_PART_LAYER,
                                             .scenario = scenario,
                                             .set = i / layers,
                                             .faults = first + i % layers});
    }
    return result;
}

/* Adds the seeds as one range for each shard, in order. A single process would stop at the first violation.
 * So it would do the ranges before the violating one, and the beginning of that one. */
static int add_seeds(const struct cli_options *options, int scenario, int shards, struct parts_list *list)
{
    uint64_t done = 0;
    int result = 0;
    for (int i = 0; result == 0 && i < shards; i++) {
        uint64_t seeds =
            options->seeds / (uint64_t)shards + ((uint64_t)i < options->seeds % (uint64_t)shards);
        if (seeds > 0) {
            result = add(list, (struct cli_part){.kind = CLI_PART_SEEDS,
                                                 .scenario = scenario,
                                                 .first_seed = options->seed + done,
                                                 .seeds = seeds,
                                                 .shard = i + 1});
        }
        done += seeds;
    }
    LS_ASSERT(result != 0 || done == options->seeds);
    return result;
}

/* Deals parts to shards. The last layer of a search is the largest, because it has all runs of the others. So
 * the last layers of all searches are dealt first, then the layers with one fault less, and so on. */
static void deal(struct parts_list *list, const struct cli_job *jobs, int shards)
{
    int next = 0, left = 0;
    for (int i = 0; i < list->count; i++) {
        left += list->part[i].kind != CLI_PART_SEEDS;
    }
    for (int below = 0; left > 0; below++) {
        for (int i = 0; i < list->count; i++) {
            struct cli_part *part = &list->part[i];
            int last = explore_faults(&jobs[part->scenario].scenario);
            bool turn = part->kind == CLI_PART_LAYER ? last - part->faults == below : below == 0;
            if (part->kind != CLI_PART_SEEDS && turn) {
                part->shard = next++ % shards + 1;
                left--;
            }
        }
    }
    LS_ASSERT(left == 0);
}

int parts_list(const struct cli_options *options, const struct cli_job *jobs, int count, int shards,
               struct parts_list *list)
{
    int result = 0;
    LS_ASSERT(shards >= 1 && (!options->check || options->seeds == 0));
    *list = (struct parts_list){0};
    for (int i = 0; result == 0 && i < count; i++) {
        if (options->check) {
            result = add_layers(options, &jobs[i], i, list);
            continue;
        }
        result = add(list, (struct cli_part){.kind = CLI_PART_FIRST, .scenario = i});
        if (result == 0 && options->seeds > 0) {
            result = add_seeds(options, i, shards, list);
        }
    }
    deal(list, jobs, shards);
    return result;
}

void parts_close(struct parts_list *list)
{
    free(list->part);
    *list = (struct parts_list){0};
}
