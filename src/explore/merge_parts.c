/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/merge_parts.h"

#include "base/assert.h"
#include "explore/search.h"
#include "scenario/expected_counts.h"
#include "state/visited.h"

#include <string.h>

struct parts {
    const struct run_setup *setup;
    const struct explore_options *options;
    const struct outcome *const *part;
    int sets, layers, first; /* first: budget of the first layer */
    int last; /* index of the part that decides, see find_last(); of the last part if all are complete */
    bool whole;
    int shown; /* index of the part whose counts are shown, unless `whole` */
};

int explore_first_layer(const struct scenario *scenario, const struct explore_options *options)
{
    return options->layers ? 0 : explore_faults(scenario);
}

int explore_layers(const struct scenario *scenario, const struct explore_options *options)
{
    return explore_faults(scenario) - explore_first_layer(scenario, options) + 1;
}

static bool is_complete(const struct outcome *part)
{
    return part != NULL && part->verdict == VERDICT_HOLDS && part->exhausted;
}

static int find(const struct parts *p, enum verdict verdict)
{
    int count = p->sets * p->layers, at = 0;
    while (at < count && !(p->part[at] != NULL && p->part[at]->verdict == verdict)) {
        at++;
    }
    return at < count ? at : -1;
}

/* The first part with a violation decides, else the first with an error, else the first that is not complete.
 * So a limit of an earlier part hides no violation. */
static void find_last(struct parts *p)
{
    int count = p->sets * p->layers;
    p->last = find(p, VERDICT_VIOLATED);
    p->last = p->last < 0 ? find(p, VERDICT_ERROR) : p->last;
    for (int i = 0; p->last < 0 && i < count; i++) {
        p->last = is_complete(p->part[i]) ? -1 : i;
    }
    p->whole = p->last < 0;
    p->last = p->whole ? count - 1 : p->last;
    LS_ASSERT(p->last >= 0 && p->last < count);
}

/* Returns the fault budget up to which the layers of all sets are complete; -1 if a first layer is not. */
static int complete_faults(const struct parts *p)
{
    int layers = p->layers;
    LS_ASSERT(layers >= 1);
    for (int i = 0; i < p->sets * p->layers; i++) {
        int layer = i % p->layers;
        layers = !is_complete(p->part[i]) && layer < layers ? layer : layers;
    }
    return layers > 0 ? p->first + layers - 1 : -1;
}

static void add_live(struct search_counts *counts, const struct search_counts *part)
{
    counts->live_states += part->live_states;
    counts->live_transitions += part->live_transitions;
    counts->live_bytes += part->live_bytes;
}

/* Adds up counts. `states`, `transitions` and `depth` are those of the part `shown`, or of the last layers of
 * all sets if all parts are complete. Other parts up to the later of `last` and `shown` count as earlier
 * ones. */
static void add_counts(const struct parts *p, struct outcome *outcome)
{
    struct search_counts *counts = &outcome->search;
    uint64_t states = 0, transitions = 0, all_states = 0, all_transitions = 0, depth = 0;
    int end = p->last > p->shown ? p->last : p->shown;
    LS_ASSERT(end >= 0 && end < p->sets * p->layers);
    for (int i = 0; i <= end; i++) {
        const struct outcome *part = p->part[i];
        bool shown = p->whole ? (i + 1) % p->layers == 0 : i == p->shown;
        if (part != NULL) {
            all_states += part->search.states;
            all_transitions += part->search.transitions;
            states += shown ? part->search.states : 0;
            transitions += shown ? part->search.transitions : 0;
            depth = shown && part->search.depth > depth ? part->search.depth : depth;
            counts->unrenamed += part->search.unrenamed;
            add_live(counts, &part->search);
        }
    }
    counts->states = states;
    counts->transitions = transitions;
    counts->depth = depth;
    counts->earlier_states = all_states - states;
    counts->earlier_transitions = all_transitions - transitions;
}

/* Adds up the findings of the parts up to `last`. If `stopped` has a violation, takes all but the premises
 * from it. */
static void add_stats(const struct parts *p, const struct outcome *stopped, struct outcome *outcome)
{
    struct check_stats *stats = &outcome->stats;
    for (int i = 0; i <= p->last; i++) {
        if (p->part[i] != NULL) {
            search_merge_stats(stats, &p->part[i]->stats);
        }
    }
    if (stopped != NULL && stopped->verdict == VERDICT_VIOLATED) {
        struct check_stats all = *stats;
        *stats = stopped->stats;
        for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
            stats->finding[i].premises = all.finding[i].premises;
        }
    }
}

/* Begins with the outcome of the part `last`, but without its findings, its text and the counts that
 * add_counts() adds up. If that part was not searched, takes the nearest part before it that was, or else the
 * nearest behind it. */
static void begin(struct parts *p, struct outcome *outcome)
{
    p->shown = p->last;
    while (p->shown > 0 && p->part[p->shown] == NULL) {
        p->shown--;
    }
    while (p->part[p->shown] == NULL) {
        LS_ASSERT(p->shown < p->sets * p->layers);
        p->shown++;
    }
    *outcome = *p->part[p->shown];
    memset(&outcome->stats, 0, sizeof outcome->stats);
    struct search_counts *counts = &outcome->search;
    counts->live_states = counts->live_transitions = counts->live_bytes = counts->unrenamed = 0;
    outcome_clear_text(outcome);
}

static void add_tried(const struct parts *p, struct outcome *outcome)
{
    for (int i = 0; i < p->sets * p->layers; i++) {
        if (p->part[i] != NULL) {
            tried_merge(&outcome->tried, &p->part[i]->tried);
        }
    }
}

static int stands(const struct parts *p, const struct outcome *stopped)
{
    LS_ASSERT(p->last >= 0 && p->last < p->sets * p->layers);
    bool before = true;
    for (int i = 0; i < p->last; i++) {
        before = before && is_complete(p->part[i]);
    }
    /* one process would not have searched the sets behind the violation */
    bool as_one = before && stopped != NULL && stopped->verdict == VERDICT_VIOLATED;
    bool fewer = as_one && p->last / p->layers + 1 < p->sets;
    /* what ends the search for liveness may need no fault (judge_live() in explore.c) */
    bool live = stopped != NULL && stopped->search.live_states > 0;
    return fewer || live ? -1 : complete_faults(p);
}

static void say_missing(const struct parts *p, struct outcome *outcome)
{
    int faults = p->first + p->last % p->layers;
    outcome_say(outcome, "  the layer with at most %d fault%s", faults, faults == 1 ? "" : "s");
    if (p->sets > 1) {
        outcome_say(outcome, " and set %d of run constants", p->last / p->layers);
    }
    outcome_say(outcome, " was not searched\n");
}

static void judge(const struct parts *p, const struct outcome *stopped, struct outcome *outcome)
{
    bool compared = p->whole && p->options->compare;
    bool same = !compared || counts_are_expected(outcome, p->setup->scenario);
    if (compared) {
        same = outcome_tried_is_expected(outcome, p->setup->scenario) &&
               same; /* both run: each tells its differences */
    }
    outcome_judge_again(outcome, p->setup, same);
    if (p->whole) {
        return;
    }
    if (stopped == NULL) {
        say_missing(p, outcome);
    } else {
        outcome_say(outcome, "%s", stopped->text);
    }
    if (stopped != NULL && stopped->verdict == VERDICT_ERROR) {
        outcome->verdict = VERDICT_ERROR;
    } else if (outcome->verdict == VERDICT_HOLDS) {
        outcome->verdict = VERDICT_LIMIT;
    }
}

void explore_put_together(const struct run_setup *setup, const struct explore_options *options,
                          const struct outcome *const *part, struct outcome *outcome)
{
    struct parts p = {.setup = setup,
                      .options = options,
                      .part = part,
                      .sets = explore_sets(setup),
                      .layers = explore_layers(setup->scenario, options),
                      .first = explore_first_layer(setup->scenario, options)};
    find_last(&p);
    const struct outcome *stopped = p.whole ? NULL : part[p.last];
    begin(&p, outcome);
    add_counts(&p, outcome);
    add_stats(&p, stopped, outcome);
    add_tried(&p, outcome);
    outcome->exhausted = p.whole;
    outcome->schedule = SCHEDULE_SEARCH;
    outcome->steps = outcome->search.transitions;
    outcome->depth = outcome->search.depth;
    outcome->search.complete_faults = stands(&p, stopped);
    outcome->search.expected_omissions =
        options->exact ? 0 : visited_expected_omissions(outcome->search.states);
    judge(&p, stopped, outcome);
}
