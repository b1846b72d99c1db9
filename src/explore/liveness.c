/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/liveness.h"

#include "base/assert.h"
#include "explore/liveness_states.h"
#include "scenario/lasso.h"
#include "sim/waiters.h"
#include "state/canon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLE_MAX 4096
#define TRIES_MAX 16 /* most nodes from which a short cycle is looked for */

/* A violation: a fair cycle in which `waiter` waits all the time. */
struct ring {
    int waiter;    /* its place in waiters_list() */
    uint32_t node; /* the node at which the cycle begins; GRAPH_NONE = there is no cycle */
    bool hopeless; /* no run from `node` serves the waiter */
    size_t *edge;
    int edges;
};

struct live {
    struct search *outer;
    struct search search; /* builds the graph of states after the last fault */
    struct scenario scenario;
    struct run run;
    struct search_counts counts;
    struct after after;
    uint32_t *kept, *component;
    bool *fair;
    struct ring ring;
    struct lasso lasso;
    char why[160];
};

bool live_is_wanted(const struct search *search)
{
    return (search->run->set.mask & lasso_properties()) != 0;
}

static void give_up(struct live *live, const char *why)
{
    snprintf(live->why, sizeof live->why, "who waits for ever is not judged: %s", why);
    snprintf(live->outer->limit_text, sizeof live->outer->limit_text, "%s", live->why);
    live->outer->limit = live->outer->limit_text;
}

static bool build(struct live *live, const struct explore_options *options)
{
    struct search *search = &live->search;
    search->canon = options->renaming ? world_canon(live->run.world) : NULL;
    if (search->canon == NULL) {
        give_up(live, options->renaming
                          ? "numbers that grow cannot be renamed in this world or recipe, so that "
                            "nothing comes back"
                          : "without renaming nothing comes back (see --no-renaming)");
        return false;
    }
    search->visited = visited_open(1u << 20);
    search->start = world_save(live->run.world);
    if (search->visited == NULL || search->start == NULL) {
        give_up(live, "memory is short");
        return false;
    }
    bool built = after_open(&live->after, search);
    live->outer->counts->live_states += live->after.after_nodes;
    live->outer->counts->live_transitions += live->after.graph.edges;
    live->outer->counts->live_bytes += live->counts.waiting_bytes;
    if (!built && search->wrong[0] != 0) {
        memcpy(live->outer->wrong, search->wrong, sizeof search->wrong);
        live->outer->wrong_step = search->wrong_step;
    } else if (!built) {
        give_up(live, search->limit != NULL ? search->limit : "the search ended early");
    }
    return built;
}

static uint64_t count_waiting(const struct graph *graph)
{
    uint64_t waiting = 0;
    for (uint32_t n = 0; n < graph->nodes; n++) {
        waiting += graph->mark[n] != 0;
    }
    return waiting;
}

static bool is_any_kept(const struct live *live)
{
    for (uint32_t n = 0; n < live->after.graph.nodes; n++) {
        if (live->kept[n] != 0) {
            return true;
        }
    }
    return false;
}

/* Returns the first node of a fair component; with `hopeless`, the first of these nodes from which only nodes
 * with the mark are reachable. GRAPH_NONE if there is none. */
static uint32_t first_fair(const struct live *live, uint32_t mark, bool hopeless)
{
    LS_ASSERT(mark != 0 && (mark & (mark - 1)) == 0);
    for (uint32_t n = 0; n < live->after.graph.nodes; n++) {
        if (live->fair[n] && (!hopeless || (live->kept[n] & mark) != 0)) {
            return n;
        }
    }
    return GRAPH_NONE;
}

/* Finds the first node that lies, for some waiter, in a fair component. If some node keeps a mark for ever
 * (graph_kept()), only nodes that keep the waiter's mark count. Returns false if memory is short. */
static bool find_ring(struct live *live)
{
    const struct graph *graph = &live->after.graph;
    struct waiter list[WAITERS_MAX];
    int waiters = waiters_list(&live->scenario.options, list);
    struct ring *ring = &live->ring;
    LS_ASSERT(waiters > 0 && waiters <= WAITERS_MAX);
    ring->node = GRAPH_NONE;
    ring->hopeless = is_any_kept(live);
    for (int i = 0; i < waiters; i++) {
        run_beat();
        if (!graph_components(graph, 1u << i, live->component, live->fair)) {
            return false;
        }
        uint32_t n = first_fair(live, 1u << i, ring->hopeless);
        if (n < ring->node) {
            ring->node = n;
            ring->waiter = i;
        }
    }
    return true;
}

static int depth_of(const struct live *live, uint32_t n)
{
    int depth = 0;
    for (; live->after.parent[n] != GRAPH_NONE; n = live->after.parent[n]) {
        LS_ASSERT(live->after.parent[n] < n);
        depth++;
    }
    return depth;
}

/* Keeps a fair cycle through this node if it makes the whole run shorter. */
static void try_ring(struct live *live, uint32_t n, size_t *edge, int *best)
{
    int edges = graph_fair_cycle(&live->after.graph, live->component, n, edge, CYCLE_MAX);
    if (edges < 0 || (*best >= 0 && depth_of(live, n) + edges >= *best)) {
        LS_ASSERT(edges <= CYCLE_MAX);
        return;
    }
    LS_ASSERT(edges >= 0 && edges <= CYCLE_MAX);
    *best = depth_of(live, n) + edges;
    live->ring.node = n;
    live->ring.edges = edges;
    memcpy(live->ring.edge, edge, (size_t)edges * sizeof *edge);
}

static bool shorten_ring(struct live *live)
{
    const struct graph *graph = &live->after.graph;
    struct ring *ring = &live->ring;
    uint32_t component, first = ring->node;
    size_t *edge = malloc(CYCLE_MAX * sizeof *edge);
    int best = -1, tries = 0;
    LS_ASSERT(ring->node < graph->nodes);
    ring->edge = malloc(CYCLE_MAX * sizeof *ring->edge);
    bool possible = edge != NULL && ring->edge != NULL &&
                    graph_components(graph, 1u << ring->waiter, live->component, live->fair);
    component = possible ? live->component[first] : 0;
    for (uint32_t n = first; possible && n < graph->nodes && tries < TRIES_MAX; n++) {
        if (live->component[n] == component) {
            try_ring(live, n, edge, &best);
            tries++;
            run_beat();
        }
    }
    free(edge);
    return possible && best >= 0;
}

struct wanted {
    uint32_t from, to;
    const char *channel; /* channel of the step; NULL = any step, "" = a step without a channel */
};

static bool is_wanted(struct live *live, const struct action *action, const struct wanted *wanted)
{
    char channel[WORLD_LABEL_MAX];
    if (wanted->channel == NULL) {
        return true;
    }
    if (!world_channel(live->run.world, action, channel)) {
        return wanted->channel[0] == 0;
    }
    return strcmp(channel, wanted->channel) == 0;
}

/* Returns true if this action leads the world to the wanted node; from an after node, only if it is no fault.
 * Restores the world. Returns false if memory is short, too. */
static bool leads_there(struct live *live, const struct action *action, const struct wanted *wanted)
{
    struct world *world = live->run.world;
    struct world_image *image = world_save(world);
    LS_ASSERT(wanted->to < live->after.graph.nodes && wanted->from < live->after.graph.nodes);
    if (image == NULL) {
        return false;
    }
    int left = world_faults_left(world);
    world_do(world, action);
    bool failed = world_faults_left(world) != left;
    if (live->after.is_after[wanted->to]) {
        world_end_faults(world);
    }
    bool there = !(failed && live->after.is_after[wanted->from]) &&
                 canon_fingerprint(live->search.canon) == live->after.fingerprint[wanted->to];
    world_restore(world, image);
    world_image_free(image);
    return there;
}

static int list_actions(struct live *live, bool is_after, struct action *action)
{
    struct world *world = live->run.world;
    struct world_image *image = world_save(world);
    if (image == NULL || action == NULL) {
        world_image_free(image);
        return 0;
    }
    if (is_after) {
        world_end_faults(world);
    }
    int count = world_actions(world, action);
    world_restore(world, image);
    world_image_free(image);
    return count;
}

static bool follow(struct live *live, const struct wanted *wanted, bool in_circle)
{
    struct action *action = malloc(WORLD_ACTIONS_MAX * sizeof *action);
    bool followed = false;
    int count = list_actions(live, live->after.is_after[wanted->from], action);
    for (int i = 0; i < count && !followed; i++) {
        if (is_wanted(live, &action[i], wanted) && leads_there(live, &action[i], wanted)) {
            if (in_circle) {
                lasso_note(&live->lasso, &live->run, &action[i]);
            }
            followed = run_apply(&live->run, &action[i]) == 0;
        }
    }
    free(action);
    return followed;
}

static void mark_hopeless(struct live *live, uint32_t n)
{
    struct lasso *lasso = &live->lasso;
    if (lasso->hopeless < 0 && (live->kept[n] >> live->ring.waiter & 1) != 0) {
        char mark[WORLD_LABEL_MAX];
        lasso->hopeless = live->ring.waiter;
        lasso->stuck_at = live->run.steps;
        lasso_mark(&live->run, live->ring.waiter, mark);
        run_mark(&live->run, mark);
    }
}

static bool show_stem(struct live *live)
{
    int depth = depth_of(live, live->ring.node);
    uint32_t *path = malloc(((size_t)depth + 1) * sizeof *path);
    bool shown = path != NULL;
    uint32_t n = live->ring.node;
    for (int i = depth; shown && i >= 0; i--) {
        path[i] = n;
        n = live->after.parent[n];
        LS_ASSERT(i == 0 || n != GRAPH_NONE);
    }
    for (int i = 0; shown && i <= depth; i++) {
        struct wanted wanted = {.from = path[i > 0 ? i - 1 : 0], .to = path[i]};
        shown = i == 0 || follow(live, &wanted, false);
        if (shown) {
            mark_hopeless(live, path[i]);
        }
    }
    free(path);
    return shown;
}

static bool show_circle(struct live *live)
{
    const struct after *after = &live->after;
    uint32_t from = live->ring.node;
    run_mark(&live->run, TRACE_CYCLE);
    if (!lasso_begin(&live->lasso, &live->run)) {
        return false;
    }
    for (int i = 0; i < live->ring.edges; i++) {
        size_t edge = live->ring.edge[i];
        unsigned label = after->graph.label[edge];
        struct wanted wanted = {.from = from,
                                .to = after->graph.target[edge],
                                .channel = label == GRAPH_UNFAIR ? "" : after->channel[label]};
        if (!follow(live, &wanted, true)) {
            return false;
        }
        from = after->graph.target[edge];
    }
    LS_ASSERT(from == live->ring.node);
    return true;
}

static void hand_over(struct live *live)
{
    struct run *to = live->outer->run, *from = &live->run;
    struct trace_choice *list = to->choice;
    int count = to->choices;
    size_t max = to->choices_max;
    to->choice = from->choice;
    to->choices = from->choices;
    to->choices_max = from->choices_max;
    from->choice = list;
    from->choices = count;
    from->choices_max = max;
    to->steps = from->steps;
    to->failing_steps = from->steps;
    to->failing_choices = to->choices;
    to->told = to->stats.violated & ~to->setup.scenario->violates;
    live->outer->violated = live->outer->circles = true;
}

static void take_findings(struct live *live)
{
    struct run *to = live->outer->run;
    for (check_mask left = lasso_properties() & to->set.mask & live->run.stats.violated; left != 0;
         left &= left - 1) {
        int position = __builtin_ctzll(left);
        uint64_t premises = to->stats.finding[position].premises;
        to->stats.finding[position] = live->run.stats.finding[position];
        to->stats.finding[position].premises = premises;
        to->stats.violated |= CHECK_BIT(position);
    }
    if ((lasso_properties() & to->stats.violated & ~to->setup.scenario->violates) != 0) {
        hand_over(live);
    }
}

static void show(struct live *live)
{
    char text[WORLD_LABEL_MAX + 80];
    struct run *run = &live->run;
    const char *flaw = "the world goes another way";
    lasso_init(&live->lasso);
    run->recording = true;
    run_begin(run, SCHEDULE_SEARCH, run->setup.seed);
    if (show_stem(live) && show_circle(live)) {
        flaw = lasso_flaw(&live->lasso, run, text, sizeof text);
    }
    run->recording = false;
    if (flaw != NULL) {
        snprintf(live->outer->wrong, sizeof live->outer->wrong,
                 "somebody was found to wait for ever, and the run does not show it: %s", flaw);
    } else {
        lasso_conclude(&live->lasso, run);
        take_findings(live);
    }
    lasso_close(&live->lasso);
}

static void judge_graph(struct live *live)
{
    const struct graph *graph = &live->after.graph;
    struct check_stats *stats = &live->outer->run->stats;
    size_t nodes = (size_t)graph->nodes + 1;
    live->kept = malloc(nodes * sizeof *live->kept);
    live->component = malloc(nodes * sizeof *live->component);
    live->fair = malloc(nodes * sizeof *live->fair);
    run_beat();
    if (live->kept == NULL || live->component == NULL || live->fair == NULL ||
        !graph_kept(graph, live->kept) || !find_ring(live)) {
        give_up(live, "memory is short");
        return;
    }
    uint64_t waiting = count_waiting(graph);
    stats->finding[check_position(LASSO_ALWAYS)].premises += waiting;
    stats->finding[check_position(LASSO_FAIR)].premises += waiting;
    if (live->ring.node == GRAPH_NONE) {
        return;
    }
    if (!shorten_ring(live)) {
        give_up(live, "memory is short for the circle that was found");
        return;
    }
    show(live);
}

/* Reductions are off, because they could leave out the only cycle. */
static struct explore_options options_of(const struct explore_options *options)
{
    return (struct explore_options){.distrust = options->distrust,
                                    .every_step = options->every_step,
                                    .without = options->without,
                                    .renaming = options->renaming,
                                    .workers = 1,
                                    .states_max = options->states_max,
                                    .seconds_max = options->seconds_max,
                                    .stop = options->stop};
}

static void close_live(struct live *live)
{
    after_close(&live->after);
    canon_close(live->search.canon);
    visited_close(live->search.visited);
    world_image_free(live->search.start);
    free(live->kept);
    free(live->component);
    free(live->fair);
    free(live->ring.edge);
    run_close(&live->run);
}

void live_judge(struct search *search)
{
    static struct live live;
    struct explore_options options = options_of(search->options);
    struct run_setup setup = search->run->setup;
    memset(&live, 0, sizeof live);
    live.outer = search;
    live.scenario = *setup.scenario;
    live.scenario.properties = lasso_properties();
    live.scenario.built_in_only = true;
    live.scenario.holds = live.scenario.violates = 0;
    setup.scenario = &live.scenario;
    setup.spared |=
        ~lasso_properties(); /* their violations would end the graph, and `search` has judged them */
    if (run_init(&live.run, &setup) != 0) {
        give_up(&live, "no world can be made");
        return;
    }
    run_begin(&live.run, SCHEDULE_SEARCH, setup.seed);
    live.search = (struct search){.run = &live.run,
                                  .options = &options,
                                  .counts = &live.counts,
                                  .since = search->since,
                                  .bytes_max = search->bytes_max};
    if (build(&live, &options)) {
        judge_graph(&live);
    }
    close_live(&live);
}
