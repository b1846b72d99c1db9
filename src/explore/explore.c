/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search from its options to its verdict: layers of fault budgets, and the run that shows a violation. */
#include "explore/explore.h"

#include "explore/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory that a search may take if nobody says: three quarters of the machine's. */
static size_t default_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages / 4 * 3 * (size_t)page : (size_t)1 << 30;
}

static int faults_of(const struct world_options *options)
{
    int sum = 0;
    for (int f = 0; f < WORLD_FAULTS; f++) {
        sum += options->budget[f];
    }
    return sum < options->budget_total ? sum : options->budget_total;
}

/* One layer: all runs with at most so many faults. False if memory is refused. */
static bool search_layer(struct search *search, int faults)
{
    struct run *run = search->run;
    search->visited = visited_open(search->bytes_max);
    if (search->visited == NULL) {
        return false;
    }
    search->counts->states = 0;
    search->counts->depth = 0;
    search->counts->faults = faults;
    search->look = 0;
    run->faults_max = faults;
    run_begin(run, SCHEDULE_SEARCH, run->setup.seed);
    if (run_violated(run)) {
        search->violated = true;
    } else if (search->options->order == EXPLORE_BREADTH_FIRST) {
        search_breadth_first(search);
    } else {
        search_depth_first(search);
    }
    search->counts->memory_bytes = visited_bytes(search->visited) + search->waiting_bytes;
    visited_close(search->visited);
    return true;
}

/* Does the run again that violates something, so that its choices are recorded. What is found must be found again. */
static bool show_again(struct search *search)
{
    struct run *run = search->run;
    run_forget(run);
    run->recording = true;
    run_begin(run, SCHEDULE_SEARCH, run->setup.seed);
    bool same = search->path != NULL || search->path_length == 0;
    for (uint64_t i = 0; same && i < search->path_length && !run_violated(run); i++) {
        same = run_apply(run, &search->path[i]) == 0;
    }
    if (same && search->path_rests && !run_violated(run)) {
        run_rest(run);
    }
    run->recording = false;
    return same && run_violated(run);
}

static void search_all(struct search *search)
{
    const struct world_options *options = &search->run->setup.scenario->options;
    int faults = faults_of(options);
    search->counts->complete_faults = -1;
    for (int layer = search->options->layers ? 0 : faults; layer <= faults; layer++) {
        if (!search_layer(search, layer)) {
            search->limit = "no memory for states";
        }
        if (search->violated || search->limit != NULL) {
            return;
        }
        search->counts->complete_faults = layer;
    }
}

static void say_what_stands(const struct search *search, struct outcome *outcome)
{
    if (search->limit == NULL || search->counts->complete_faults < 0) {
        return;
    }
    outcome_say(outcome, "  no run with at most %d faults violates anything\n",
                search->counts->complete_faults);
}

/* What the judges have seen in all runs is the result; of the violation, what the run shows that is written. */
static void conclude(struct search *search, struct outcome *outcome)
{
    struct run *run = search->run;
    struct check_stats all = run->stats;
    outcome->schedule = SCHEDULE_SEARCH;
    outcome->exhausted = !search->violated && search->limit == NULL;
    outcome->steps = search->counts->transitions;
    outcome->depth = search->counts->depth;
    if (search->violated && !show_again(search)) {
        outcome->verdict = VERDICT_ERROR;
        outcome_say(outcome,
                    "  a violation was found that its own run does not show again: the search is wrong\n");
        return;
    }
    for (int i = 0; search->violated && i < CHECK_PROPERTIES_MAX; i++) {
        run->stats.finding[i].premises = all.finding[i].premises;
    }
    outcome_judge(outcome, run, search->limit, true);
    say_what_stands(search, outcome);
    if (search->violated) {
        outcome_write_trace(outcome, run, search->options->out, "difference");
    }
}

void explore_run(const struct run_setup *setup, const struct explore_options *options,
                 struct outcome *outcome)
{
    static struct run run;
    struct run_setup searching = *setup;
    searching.schedule = SCHEDULE_SEARCH;
    outcome->verdict = VERDICT_ERROR;
    if (setup->scenario->options.timed) {
        outcome->verdict = VERDICT_LIMIT;
        outcome_say(outcome, "  a search needs an untimed world: write 'world untimed'\n");
        return;
    }
    if (run_init(&run, &searching) != 0) {
        outcome_say(outcome, "  no world can be made: %s\n", strerror(errno));
        return;
    }
    struct search search = {.run = &run, .options = options, .counts = &outcome->search};
    search.bytes_max = options->bytes_max > 0 ? options->bytes_max : default_bytes();
    clock_gettime(CLOCK_MONOTONIC, &search.since);
    search_all(&search);
    conclude(&search, outcome);
    free(search.path);
    run_close(&run);
}
