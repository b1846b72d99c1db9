/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A search from its options to its verdict: layers of fault budgets, and the run that shows a violation. */
#include "explore/explore.h"

#include "explore/checkpoint.h"
#include "explore/liveness.h"
#include "explore/self_check.h"
#include "explore/work_sharing.h"
#include "scenario/expected_counts.h"
#include "state/bitstate.h"
#include "state/canon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t default_bytes(int searches)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page > 0 ? (size_t)pages / 4 * 3 * (size_t)page : (size_t)1 << 30;
    return bytes / (size_t)(searches > 0 ? searches : 1);
}

int explore_faults(const struct scenario *scenario)
{
    const struct world_options *options = &scenario->options;
    int sum = 0;
    for (int f = 0; f < WORLD_FAULTS; f++) {
        sum += options->budget[f];
    }
    return sum < options->budget_total ? sum : options->budget_total;
}

int explore_sets(const struct run_setup *setup)
{
    return setup->seeded == TRACE_SEED_NONE && setup->scenario->constants > 1 ? setup->scenario->constants
                                                                              : 1;
}

static void begin_layer(struct search *search, int faults)
{
    struct search_counts *counts = search->counts;
    counts->earlier_states += counts->states;
    counts->earlier_transitions += counts->transitions;
    counts->states = counts->transitions = counts->depth = 0;
    counts->faults = faults;
    search->look = search->next_twice = search->next_order = 0;
    search->next_again = DISTRUST_PATH_EVERY;
}

static struct canon *open_canon(struct search *search)
{
    struct world *world = search->run->world;
    if (!search->options->renaming) {
        return NULL;
    }
    /* canon.h requires judges that treat all processes alike; loaded judges may not */
    bool alike = search->options->symmetry && (search->run->set.mask & check_loaded_mask()) == 0;
    struct canon *canon = alike ? world_symmetric_canon(world) : NULL;
    search->symmetric = canon != NULL;
    return canon != NULL ? canon : world_canon(world);
}

static struct visited *open_visited(const struct search *search)
{
    int workers = search->options->workers;
    size_t bits = search->options->bitstate_bytes;
    if (bits > 0) {
        return bits <= search->bytes_max ? visited_open_bits(bits, workers) : NULL;
    }
    return workers > 1 ? visited_open_shared(search->bytes_max, workers) : visited_open(search->bytes_max);
}

static bool open_layer(struct search *search)
{
    size_t bytes = search->bytes_max;
    search->start = world_save(search->run->world);
    search->visited = open_visited(search);
    search->exact = search->options->exact ? exact_open(bytes) : NULL;
    search->canon = open_canon(search);
    return search->start != NULL && search->visited != NULL &&
           (search->exact != NULL || !search->options->exact);
}

static void close_layer(struct search *search)
{
    world_image_free(search->start);
    exact_close(search->exact);
    canon_close(search->canon);
    visited_close(search->visited);
}

static void search_on(struct search *search)
{
    const struct stack *stack;
    while (search->limit == NULL && !search->violated && search->wrong[0] == 0 &&
           (stack = checkpoint_take(search)) != NULL) {
        world_restore(search->run->world, search->start);
        search_depth_first_again(search, stack);
    }
}

static bool has_endless_programs(const struct world_options *options)
{
    for (int p = 0; p < options->processes; p++) {
        if (options->program[p].endless) {
            return true;
        }
    }
    return false;
}

/* Without a chosen order, endless programs are searched breadth first, unless several workers, checkpoints or
 * a table of bits need depth first. Depth first, the path of such a program grows until its numbers are too
 * large to be renamed (canon.h), and no state comes back. Breadth first, each state is reached by a shortest
 * path, and so with small numbers. */
static bool goes_breadth_first(const struct search *search)
{
    const struct explore_options *options = search->options;
    bool endless = has_endless_programs(&search->run->setup.scenario->options);
    bool depth_only = options->checkpoint != NULL || options->bitstate_bytes > 0;
    return options->workers <= 1 &&
           (options->order == EXPLORE_BREADTH_FIRST || (options->any_order && endless && !depth_only));
}

static void search_in_order(struct search *search)
{
    search->counts->breadth_first = goes_breadth_first(search);
    if (search->options->workers > 1) {
        share_search(search);
    } else if (search->continues) {
        search_on(search);
    } else if (search->counts->breadth_first) {
        search_breadth_first(search);
    } else {
        search_depth_first(search, NULL);
    }
}

static void search_layer(struct search *search, int faults)
{
    struct run *run = search->run;
    begin_layer(search, faults);
    run->faults_max = faults;
    run_begin(run, SCHEDULE_SEARCH, run->setup.seed);
    if (run_violated(run)) {
        search->violated = true;
    } else if (!open_layer(search)) {
        search->limit = "no memory for states (see --max-memory)";
        close_layer(search);
    } else {
        search->continues = checkpoint_resumes(search);
        if (!search->continues || checkpoint_enter(search)) {
            search_in_order(search);
        }
        search->counts->memory_bytes = search_states_bytes(search) + search->counts->waiting_bytes;
        search->counts->omissions = search->exact != NULL ? exact_omissions(search->exact) : 0;
        close_layer(search);
    }
}

/* Does the run of a violation again, recorded. Returns false if it violates nothing this time, or its path
 * cannot be done again. */
static bool show_again(struct search *search)
{
    struct run *run = search->run;
    run_forget(run);
    run->recording = true;
    run->setup.careful = true;
    run_begin(run, SCHEDULE_SEARCH, run->setup.seed);
    run->setup.careful = false;
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
    const struct explore_part *part = &search->options->part;
    int faults = explore_faults(search->run->setup.scenario);
    search->counts->complete_faults = -1;
    search->counts->faults_last = faults;
    search->counts->exact = search->options->exact;
    int first = search->options->layers ? 0 : faults;
    if (checkpoint_resumes(search)) {
        int layer = checkpoint_layer(search);
        if (layer < first || layer > faults) {
            checkpoint_is_wrong(search, "it has no such layer");
            return;
        }
        search->counts->complete_faults = layer > first ? layer - 1 : -1;
        first = layer;
    }
    for (int layer = first; layer <= faults; layer++) {
        if (part->only && layer != part->faults) {
            continue;
        }
        search_layer(search, layer);
        if (search->violated || search->limit != NULL || search->wrong[0] != 0) {
            return;
        }
        search->counts->complete_faults = layer;
    }
}

static bool is_over(const struct search *search)
{
    return search->violated || search->limit != NULL || search->wrong[0] != 0;
}

static bool is_last_layer(const struct search *search)
{
    const struct explore_part *part = &search->options->part;
    return !part->only || part->faults == explore_faults(search->run->setup.scenario);
}

/* Takes the counts of a checkpoint that was written behind the last layer of a set, or of all sets. */
static void take_layers(struct search *search)
{
    struct search_counts *counts = search->counts;
    run_begin(search->run, SCHEDULE_SEARCH, search->run->setup.seed);
    checkpoint_enter(search);
    counts->faults = counts->faults_last = counts->complete_faults =
        explore_faults(search->run->setup.scenario);
}

/* Judges liveness for all layers together. If it is violated, or has no verdict, no layer counts as complete:
 * a run in which a process waits for ever may need no fault. */
static void judge_live(struct search *search)
{
    checkpoint_save_layers(search);
    live_judge(search);
    if (is_over(search)) {
        search->counts->complete_faults = -1;
    }
}

static void search_set(struct search *search)
{
    if (checkpoint_layers_done(search)) {
        take_layers(search);
    } else {
        search_all(search);
    }
    if (!is_over(search) && live_is_wanted(search) && is_last_layer(search)) {
        judge_live(search);
    }
}

/* Searches all sets of run constants that the file sweeps (with `part`, its set alone). If all are complete,
 * adds up the counts of their last layers. A number of faults counts as complete if it is complete in all
 * these sets. */
static void search_sets(struct search *search)
{
    struct run_setup *setup = &search->run->setup;
    struct search_counts *counts = search->counts;
    const struct explore_part *part = &search->options->part;
    struct search_sums *sums = &search->sums;
    int sets = explore_sets(setup);
    for (int set = checkpoint_resumes(search) ? checkpoint_set(search) : 0; set < sets; set++) {
        if (part->only && set != part->set) {
            continue;
        }
        search->set = set;
        if (sets > 1) {
            setup->seeded = TRACE_SEED_SWEPT;
            setup->seed = (uint64_t)set;
        }
        search_set(search);
        if (is_over(search)) {
            counts->complete_faults = set + 1 < sets ? -1 : counts->complete_faults;
            return;
        }
        sums->states += counts->states;
        sums->transitions += counts->transitions;
        sums->depth = counts->depth > sums->depth ? counts->depth : sums->depth;
    }
    if (checkpoint_resumes(search)) {
        checkpoint_is_wrong(search, "it has no such set of run constants");
        return;
    }
    counts->earlier_states -= sums->states - counts->states;
    counts->earlier_transitions -= sums->transitions - counts->transitions;
    counts->states = sums->states;
    counts->transitions = sums->transitions;
    counts->depth = sums->depth;
}

static void search_whole(struct search *search)
{
    if (!checkpoint_open(search)) {
        return;
    }
    if (checkpoint_is_done(search)) {
        take_layers(search);
        return;
    }
    search_sets(search);
    if (!search->violated && search->limit == NULL && search->wrong[0] == 0) {
        checkpoint_save_end(search);
    }
}

/* If the verdict is a limit, says where the checkpoint is, if one was written. If its last write failed, the
 * verdict becomes an error. */
static void tell_checkpoint(const struct search *search, struct outcome *outcome)
{
    const char *path = search->options->checkpoint;
    int error = checkpoint_error(search);
    if (path == NULL || outcome->verdict != VERDICT_LIMIT) {
        return;
    }
    if (error != 0) {
        outcome_say(outcome, "  not kept in %.600s: %s\n", path, strerror(error));
        outcome->verdict = VERDICT_ERROR;
    } else if (search->counts->saved_ms > 0) {
        outcome_say(outcome, "  kept in %.600s, --resume goes on with it\n", path);
    }
}

/* Writes the counts into the scenario's file, if the options ask for it, `whole` is true, and the file has
 * other counts. Returns false if the write fails; sets *same if it succeeds. */
static bool rewrite_counts(const struct search *search, struct outcome *outcome, bool whole, bool *same)
{
    const struct scenario *scenario = search->run->setup.scenario;
    if (!search->options->rewrite || (whole && counts_stand_there(scenario, search->counts))) {
        return true;
    }
    if (!whole) {
        outcome_say(outcome, "  not rewritten\n");
        return true;
    }
    if (counts_rewrite(scenario, search->counts) != 0) {
        outcome_say(outcome, "  cannot be rewritten: %s\n", strerror(errno));
        return false;
    }
    outcome_say(outcome, "  rewritten\n");
    *same = true;
    return true;
}

/* Judges the outcome. Only a complete search is compared with the counts of the file, if the options say
 * so. */
static void judge(const struct search *search, struct outcome *outcome)
{
    bool whole = outcome->exhausted && search->options->compare;
    const struct scenario *scenario = search->run->setup.scenario;
    bool same = !whole || counts_are_expected(outcome, scenario);
    bool written = rewrite_counts(search, outcome, whole, &same);
    outcome->tried = search->run->tried;
    same = (!whole || outcome_tried_is_expected(outcome, scenario)) && same;
    outcome_judge(outcome, search->run, search->limit, same);
    outcome->verdict = written ? outcome->verdict : VERDICT_ERROR;
}

static double expected_omissions(const struct search *search)
{
    const struct explore_options *options = search->options;
    uint64_t states = search->counts->states;
    if (options->bitstate_bytes > 0) {
        return bitstate_expected_omissions(options->bitstate_bytes, states);
    }
    return options->exact ? 0 : visited_expected_omissions(states);
}

/* A search with --bitstate may have left out states. So no layer counts as complete, and a search that
 * nothing else ended has a limit. */
static void doubt_bits(struct search *search)
{
    if (search->options->bitstate_bytes == 0) {
        return;
    }
    search->counts->bitstate = true;
    search->counts->complete_faults = -1;
    if (search->limit == NULL && !search->violated && search->wrong[0] == 0) {
        search->limit = "some states may have been left out (see --bitstate)";
    }
}

static void say_wrong(const struct search *search, struct outcome *outcome)
{
    if (search->wrong_step == 0 || !world_is_guarded(search->run->world)) {
        outcome_say(outcome, "  the search is wrong: %s\n", search->wrong);
        return;
    }
    outcome_say(
        outcome,
        "  the recipe is not deterministic: two runs of the same steps differ at step %llu (%s); a read of "
        "uninitialised memory? try valgrind (docs/your-own-recipe.md)\n",
        (unsigned long long)search->wrong_step, search->wrong);
}

/* Completes the run of a violation (run_go_on()), and adds the properties that it violates only then, marked
 * as `later`. The trace, if any, was written before, and does not have these steps. */
static void go_on(struct run *run, struct outcome *outcome)
{
    check_mask before = run->stats.violated;
    run_go_on(run);
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        if (((run->stats.violated & ~before) >> i & 1) != 0) {
            outcome->stats.finding[i] = run->stats.finding[i];
            outcome->stats.finding[i].later = true;
        }
    }
}

static bool begin(struct search *search, const struct run_setup *setup)
{
    const struct explore_options *options = search->options;
    search->bytes_max = options->bytes_max > 0 ? options->bytes_max : default_bytes(options->searches);
    clock_gettime(CLOCK_MONOTONIC, &search->since);
    return run_init(search->run, setup) == 0;
}

#define OTHERS_STATES_MAX 100000

static bool find_other(struct run *run, const struct run_setup *setup, const struct explore_options *options,
                       struct outcome *outcome)
{
    struct search_counts counts = {0};
    struct search search = {.run = run, .options = options, .counts = &counts};
    if (!begin(&search, setup)) {
        return false;
    }
    search_whole(&search);
    bool found = search.violated && !search.circles && show_again(&search);
    if (found) {
        outcome_add_elsewhere(outcome, &run->stats);
    }
    free(search.path);
    run_close(run);
    return found;
}

/* A search ends at its first violation, and other runs may violate other properties. Further searches spare
 * the properties that are known to be violated. Each has at most OTHERS_STATES_MAX states in a layer. */
static void find_others(struct run *run, const struct run_setup *setup, const struct explore_options *options,
                        struct outcome *outcome)
{
    struct run_setup others = *setup;
    struct explore_options bounded = *options;
    bounded.states_max = OTHERS_STATES_MAX;
    bounded.distrust = false;
    bool more = !outcome_is_broken_off(outcome);
    while (more) {
        others.spared = outcome_known_violations(outcome);
        more = find_other(run, &others, &bounded, outcome) && !outcome_is_broken_off(outcome);
    }
}

/* Makes the outcome. After a violation, premises are those of the whole search. The rest of a finding is of
 * the recorded run. */
static void conclude(struct search *search, struct outcome *outcome)
{
    struct run *run = search->run;
    struct check_stats all = run->stats;
    outcome->schedule = SCHEDULE_SEARCH;
    outcome->seed = run->setup.seeded == TRACE_SEED_SWEPT ? run->setup.seed : 0;
    if (search->options->symmetry && !search->symmetric) {
        outcome_say(outcome, "  no symmetry: processes, their order or their numbers matter in this world, "
                             "recipe or property\n");
    }
    if (search->options->partial_order && !world_knows_alone(run->world)) {
        outcome_say(outcome, "  no partial order: a world with small steps, or that lacks choice points\n");
    }
    if (search->symmetric) {
        tried_share(&run->tried, run->setup.scenario->options.processes);
    }
    outcome->exhausted = !search->violated && search->limit == NULL && search->wrong[0] == 0;
    outcome->steps = search->counts->transitions;
    outcome->depth = search->counts->depth;
    search->counts->expected_omissions = expected_omissions(search);
    if (search->wrong[0] != 0) {
        outcome->verdict = VERDICT_ERROR;
        say_wrong(search, outcome);
        return;
    }
    if (search->violated && search->path == NULL && search->path_length > 0) {
        outcome->verdict = VERDICT_ERROR;
        outcome_say(outcome, "  a violation was found, and memory is short for the run that shows it\n");
        return;
    }
    if (search->violated && !search->circles && !show_again(search)) {
        outcome->verdict = VERDICT_ERROR;
        snprintf(search->wrong, sizeof search->wrong,
                 "a violation was found that its own run does not show again");
        search->wrong_step = world_is_guarded(run->world) ? run->steps + 1 : 0;
        say_wrong(search, outcome);
        return;
    }
    for (int i = 0; search->violated && !search->circles && i < CHECK_PROPERTIES_MAX; i++) {
        run->stats.finding[i].premises = all.finding[i].premises;
    }
    judge(search, outcome);
    tell_checkpoint(search, outcome);
    if (search->violated && search->options->out != NULL) {
        outcome_write_trace(outcome, run, search->options->out, "difference");
    }
    if (search->violated && !search->circles) {
        go_on(run, outcome);
    }
}

void explore_run(const struct run_setup *setup, const struct explore_options *options,
                 struct outcome *outcome)
{
    static struct run run;
    struct run_setup searching = *setup;
    searching.schedule = SCHEDULE_SEARCH;
    searching.without = options->without;
    outcome->verdict = VERDICT_ERROR;
    if (setup->scenario->options.timed) {
        outcome->verdict = VERDICT_LIMIT;
        outcome_say(outcome, "  a search needs an untimed world: write 'world untimed'\n");
        return;
    }
    struct search search = {.run = &run, .options = options, .counts = &outcome->search};
    if (!begin(&search, &searching)) {
        outcome_say(outcome, "  no world can be made: %s\n", strerror(errno));
        return;
    }
    search_whole(&search);
    doubt_bits(&search);
    conclude(&search, outcome);
    bool wanted = options->checkpoint == NULL && options->resume == NULL && options->bitstate_bytes == 0 &&
                  !options->first_only;
    bool others = search.violated && !search.circles && outcome->verdict == VERDICT_VIOLATED && wanted;
    checkpoint_close(&search);
    free(search.path);
    run_close(&run);
    if (others) {
        find_others(&run, &searching, options, outcome);
    }
}
