/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/liveness_graph.h"

#include "base/array.h"
#include "base/assert.h"
#include "scenario/run.h"

#include <stdlib.h>
#include <string.h>

#define BEAT_EVERY (1u << 20) /* steps between two calls of run_beat() */

struct labels {
    uint64_t word[(GRAPH_LABELS_MAX + 1) / 64];
};

#define LABEL_WORDS (sizeof(struct labels) / sizeof(uint64_t))

void graph_close(struct graph *graph)
{
    free(graph->first);
    free(graph->mark);
    free(graph->target);
    free(graph->label);
    memset(graph, 0, sizeof *graph);
}

static bool grow_nodes(struct graph *graph)
{
    size_t more = array_more(graph->nodes_max, 1024);
    LS_ASSERT(more > graph->nodes);
    if (!array_resize(&graph->first, more + 1, sizeof *graph->first) ||
        !array_resize(&graph->mark, more, sizeof *graph->mark)) {
        return false;
    }
    graph->first[graph->closed] = graph->closed > 0 ? graph->first[graph->closed] : 0;
    graph->nodes_max = more;
    return true;
}

bool graph_add_node(struct graph *graph)
{
    LS_ASSERT(graph->closed <= graph->nodes);
    if (graph->nodes == GRAPH_NONE || (graph->nodes == graph->nodes_max && !grow_nodes(graph))) {
        return false;
    }
    graph->mark[graph->nodes++] = 0;
    return true;
}

static bool grow_edges(struct graph *graph)
{
    size_t more = graph->edges_max + graph->edges_max / 2 + 4096;
    if (!array_resize(&graph->target, more, sizeof *graph->target) ||
        !array_resize(&graph->label, more, sizeof *graph->label)) {
        return false;
    }
    graph->edges_max = more;
    return true;
}

bool graph_add_edge(struct graph *graph, uint32_t target, unsigned label)
{
    LS_ASSERT(graph->closed < graph->nodes && label <= GRAPH_UNFAIR);
    if (graph->edges == graph->edges_max && !grow_edges(graph)) {
        return false;
    }
    graph->target[graph->edges] = target;
    graph->label[graph->edges++] = (uint8_t)label;
    return true;
}

void graph_close_node(struct graph *graph)
{
    LS_ASSERT(graph->closed < graph->nodes && graph->first[graph->closed] <= graph->edges);
    graph->first[++graph->closed] = graph->edges;
}

size_t graph_bytes(const struct graph *graph)
{
    size_t node = sizeof *graph->first + sizeof *graph->mark;
    size_t asked = 6 * sizeof(uint32_t) + sizeof(size_t) + 2 * sizeof(bool);
    return graph->nodes_max * node + graph->edges_max * (sizeof *graph->target + sizeof *graph->label) +
           (size_t)graph->nodes * asked + graph->edges * sizeof(uint32_t);
}

struct reverse {
    size_t *first; /* by node: index of its first source; one more at the end */
    uint32_t *source;
};

static void close_reverse(struct reverse *reverse)
{
    free(reverse->first);
    free(reverse->source);
}

static bool open_reverse(struct reverse *reverse, const struct graph *graph)
{
    reverse->first = calloc((size_t)graph->nodes + 2, sizeof *reverse->first);
    reverse->source = malloc((graph->edges + 1) * sizeof *reverse->source);
    if (reverse->first == NULL || reverse->source == NULL) {
        close_reverse(reverse);
        return false;
    }
    size_t *next = reverse->first + 1; /* by node: the end of its sources, while these are filled in */
    for (size_t e = 0; e < graph->edges; e++) {
        LS_ASSERT(graph->target[e] < graph->nodes);
        next[graph->target[e] + 1]++;
    }
    for (uint32_t n = 0; n < graph->nodes; n++) {
        next[n + 1] += next[n];
    }
    for (uint32_t n = 0; n < graph->nodes; n++) {
        for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
            reverse->source[next[graph->target[e]]++] = n;
        }
    }
    LS_ASSERT(reverse->first[graph->nodes] == graph->edges);
    return true;
}

/* Takes the mark from each node that can reach a node without it. */
static void spread_back(const struct graph *graph, const struct reverse *reverse, uint32_t mark,
                        uint32_t *kept, uint32_t *waits)
{
    size_t count = 0;
    run_beat();
    for (uint32_t n = 0; n < graph->nodes; n++) {
        if ((graph->mark[n] & mark) == 0) {
            waits[count++] = n;
        }
    }
    while (count > 0) {
        uint32_t n = waits[--count];
        for (size_t e = reverse->first[n]; e < reverse->first[n + 1]; e++) {
            uint32_t from = reverse->source[e];
            if (kept[from] & mark) {
                LS_ASSERT(count < graph->nodes);
                kept[from] &= ~mark;
                waits[count++] = from;
            }
        }
    }
}

bool graph_kept(const struct graph *graph, uint32_t *kept)
{
    LS_ASSERT(graph->closed == graph->nodes);
    struct reverse reverse;
    uint32_t *waits = malloc(((size_t)graph->nodes + 1) * sizeof *waits);
    uint32_t all = 0;
    if (waits == NULL || !open_reverse(&reverse, graph)) {
        free(waits);
        return false;
    }
    for (uint32_t n = 0; n < graph->nodes; n++) {
        kept[n] = graph->mark[n];
        all |= graph->mark[n];
    }
    for (; all != 0; all &= all - 1) {
        spread_back(graph, &reverse, all & (0u - all), kept, waits);
    }
    close_reverse(&reverse);
    free(waits);
    return true;
}

static void add_label(struct labels *labels, unsigned label)
{
    if (label != GRAPH_UNFAIR) {
        LS_ASSERT(label < GRAPH_LABELS_MAX);
        labels->word[label / 64] |= 1ull << (label % 64);
    }
}

static struct labels offered(const struct graph *graph, uint32_t n)
{
    LS_ASSERT(n < graph->closed);
    struct labels labels = {{0}};
    for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
        add_label(&labels, graph->label[e]);
    }
    return labels;
}

static void keep_common(struct labels *labels, const struct labels *other)
{
    for (size_t i = 0; i < LABEL_WORDS; i++) {
        labels->word[i] &= other->word[i];
    }
}

/* Returns the first label of `labels` that is not in `taken`; GRAPH_UNFAIR if there is none. */
static unsigned first_missing(const struct labels *labels, const struct labels *taken)
{
    for (size_t i = 0; i < LABEL_WORDS; i++) {
        uint64_t missing = labels->word[i] & ~taken->word[i];
        if (missing != 0) {
            return (unsigned)(i * 64) + (unsigned)__builtin_ctzll(missing);
        }
    }
    return GRAPH_UNFAIR;
}

static bool has_label(const struct labels *labels, unsigned label)
{
    LS_ASSERT(label < GRAPH_LABELS_MAX);
    return (labels->word[label / 64] >> (label % 64) & 1) != 0;
}

/* ---- components ---- */

/* Tarjan's algorithm for strongly connected components, with a stack in place of recursion. */
struct tarjan {
    const struct graph *graph;
    uint32_t mark;
    uint32_t *number, *low; /* by node: number by discovery, from 1 (0 = none); least number it reaches */
    uint32_t *open;         /* stack of nodes whose component is not complete */
    uint32_t *path;         /* path from the root of the search to the present node */
    size_t *edge;           /* by index in `path`: the next edge of that node */
    uint32_t opened, depth, found, components, steps;
    uint32_t *component;
    bool *fair;
};

static bool is_member(const struct tarjan *t, uint32_t n)
{
    return (t->graph->mark[n] & t->mark) != 0;
}

static void go_down(struct tarjan *t, uint32_t n)
{
    LS_ASSERT(t->number[n] == 0 && t->depth < t->graph->nodes && t->opened < t->graph->nodes);
    t->number[n] = t->low[n] = ++t->found;
    t->open[t->opened++] = n;
    t->path[t->depth] = n;
    t->edge[t->depth++] = t->graph->first[n];
}

static bool can_stay(const struct tarjan *t, const uint32_t *nodes, uint32_t count, uint32_t component)
{
    LS_ASSERT(count > 0);
    const struct graph *graph = t->graph;
    struct labels common, taken = {{0}};
    memset(&common, 0xff, sizeof common);
    for (uint32_t i = 0; i < count; i++) {
        struct labels here = offered(graph, nodes[i]);
        keep_common(&common, &here);
        for (size_t e = graph->first[nodes[i]]; e < graph->first[nodes[i] + 1]; e++) {
            if (t->component[graph->target[e]] == component) {
                add_label(&taken, graph->label[e]);
            }
        }
    }
    return first_missing(&common, &taken) == GRAPH_UNFAIR;
}

static void complete(struct tarjan *t, uint32_t n)
{
    uint32_t component = t->components++, first = t->opened;
    do {
        LS_ASSERT(first > 0);
        first--;
        t->component[t->open[first]] = component;
    } while (t->open[first] != n);
    LS_ASSERT(t->low[n] == t->number[n]);
    bool fair = can_stay(t, t->open + first, t->opened - first, component);
    for (uint32_t i = first; i < t->opened; i++) {
        t->fair[t->open[i]] = fair;
    }
    t->opened = first;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void step(struct tarjan *t)
{
    LS_ASSERT(t->depth > 0 && t->depth <= t->opened);
    uint32_t n = t->path[t->depth - 1];
    size_t e = t->edge[t->depth - 1]++;
    if (++t->steps % BEAT_EVERY == 0) {
        run_beat();
    }
    if (e < t->graph->first[n + 1]) {
        uint32_t to = t->graph->target[e];
        if (is_member(t, to) && t->number[to] == 0) {
            go_down(t, to);
        } else if (is_member(t, to) && t->component[to] == GRAPH_NONE) {
            t->low[n] = smaller(t->low[n], t->number[to]);
        }
        return;
    }
    t->depth--;
    if (t->low[n] == t->number[n]) {
        complete(t, n);
    }
    if (t->depth > 0) {
        uint32_t parent = t->path[t->depth - 1];
        t->low[parent] = smaller(t->low[parent], t->low[n]);
    }
}

static void search_from(struct tarjan *t, uint32_t n)
{
    go_down(t, n);
    while (t->depth > 0) {
        step(t);
    }
    LS_ASSERT(t->opened == 0 && t->depth == 0);
}

bool graph_components(const struct graph *graph, uint32_t mark, uint32_t *component, bool *fair)
{
    LS_ASSERT(graph->closed == graph->nodes);
    size_t nodes = (size_t)graph->nodes + 1;
    struct tarjan t = {.graph = graph, .mark = mark, .component = component, .fair = fair};
    t.number = calloc(nodes, sizeof *t.number);
    t.low = malloc(nodes * sizeof *t.low);
    t.open = malloc(nodes * sizeof *t.open);
    t.path = malloc(nodes * sizeof *t.path);
    t.edge = malloc(nodes * sizeof *t.edge);
    bool possible = t.number != NULL && t.low != NULL && t.open != NULL && t.path != NULL && t.edge != NULL;
    memset(component, 0xff, (size_t)graph->nodes * sizeof *component);
    memset(fair, 0, (size_t)graph->nodes * sizeof *fair);
    for (uint32_t n = 0; possible && n < graph->nodes; n++) {
        if (is_member(&t, n) && t.number[n] == 0) {
            search_from(&t, n);
        }
    }
    free(t.number);
    free(t.low);
    free(t.open);
    free(t.path);
    free(t.edge);
    return possible;
}

/* ---- a fair cycle ---- */

struct walk {
    const struct graph *graph;
    const uint32_t *component;
    uint32_t here;
    struct labels common, taken; /* labels that all nodes of the walk offer; labels of its edges */
    size_t *edge;
    int count, max;
    /* State of walk_to(), by node: the edge and the node by which it was reached, and in which turn. */
    size_t *reached_by;
    uint32_t *from;
    uint32_t *turn_of;
    uint32_t turn;
    uint32_t *queue;
};

/* The goal of walk_to(): to reach `node`. If that is GRAPH_NONE, to settle `label`: to take an edge that has
 * it, or to reach a node that does not offer it. */
struct goal {
    uint32_t node;
    unsigned label;
};

static bool is_reached(const struct walk *w, const struct goal *goal, size_t edge)
{
    uint32_t to = w->graph->target[edge];
    if (goal->node != GRAPH_NONE) {
        return to == goal->node;
    }
    struct labels here = offered(w->graph, to);
    return w->graph->label[edge] == goal->label || !has_label(&here, goal->label);
}

static void take_edge(struct walk *w, size_t edge)
{
    LS_ASSERT(w->component[w->graph->target[edge]] == w->component[w->here]);
    w->here = w->graph->target[edge];
    struct labels here = offered(w->graph, w->here);
    keep_common(&w->common, &here);
    add_label(&w->taken, w->graph->label[edge]);
    if (w->count < w->max) {
        w->edge[w->count] = edge;
    }
    w->count++;
}

/* Adds to the walk the edges from here to `from`, and then `last`. If that makes more than `max`, only sets
 * the count to `max` + 1. */
static void take_way(struct walk *w, uint32_t from, size_t last)
{
    int start = w->count, length = 1;
    for (uint32_t n = from; n != w->here; n = w->from[n]) {
        length++;
    }
    if (start + length > w->max) {
        w->count = w->max + 1;
        return;
    }
    w->edge[start + length - 1] = last;
    for (int i = length - 2; i >= 0; i--) {
        w->edge[start + i] = w->reached_by[from];
        from = w->from[from];
    }
    for (int i = 0; i < length; i++) {
        take_edge(w, w->edge[start + i]);
    }
}

/* Walks a shortest way of at least one edge to the goal. Returns false if the component has none. */
static bool walk_to(struct walk *w, const struct goal *goal)
{
    const struct graph *graph = w->graph;
    uint32_t component = w->component[w->here], next = 0, last = 0;
    w->turn++;
    w->queue[last++] = w->here;
    w->turn_of[w->here] = w->turn;
    while (next < last) {
        uint32_t n = w->queue[next++];
        for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
            uint32_t to = graph->target[e];
            if (w->component[to] != component) {
                continue;
            }
            if (is_reached(w, goal, e)) {
                take_way(w, n, e);
                return true;
            }
            if (w->turn_of[to] != w->turn) {
                w->turn_of[to] = w->turn;
                w->reached_by[to] = e;
                w->from[to] = n;
                w->queue[last++] = to;
                LS_ASSERT(last <= graph->nodes);
            }
        }
    }
    return false;
}

static int walk_round(struct walk *w, uint32_t from)
{
    LS_ASSERT(w->component[from] != GRAPH_NONE && w->here == from);
    struct goal goal = {.node = GRAPH_NONE};
    while (w->count <= w->max && (goal.label = first_missing(&w->common, &w->taken)) != GRAPH_UNFAIR) {
        if (!walk_to(w, &goal)) {
            return -1;
        }
    }
    struct goal back = {.node = from};
    if (w->count <= w->max && w->here != from && !walk_to(w, &back)) {
        return -1;
    }
    return w->count <= w->max ? w->count : -1;
}

int graph_fair_cycle(const struct graph *graph, const uint32_t *component, uint32_t from, size_t *edge,
                     int max)
{
    size_t nodes = (size_t)graph->nodes + 1;
    struct walk w = {.graph = graph, .component = component, .here = from, .edge = edge, .max = max};
    w.common = offered(graph, from);
    w.reached_by = malloc(nodes * sizeof *w.reached_by);
    w.from = malloc(nodes * sizeof *w.from);
    w.turn_of = calloc(nodes, sizeof *w.turn_of);
    w.queue = malloc(nodes * sizeof *w.queue);
    bool possible = w.reached_by != NULL && w.from != NULL && w.turn_of != NULL && w.queue != NULL;
    int count = possible ? walk_round(&w, from) : -1;
    LS_ASSERT(count <= 0 || graph->target[edge[count - 1]] == from);
    free(w.reached_by);
    free(w.from);
    free(w.turn_of);
    free(w.queue);
    return count;
}
