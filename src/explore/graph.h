/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A graph of states, and what can be asked of it about "for ever".
 *
 * Nodes are numbers from 0; each has a set of marks (a bit for each waiter, 32 at most) and its edges, one behind the
 * other in one list. An edge has a label, the channel of its action (see world_channel()), or GRAPH_UNFAIR. A node offers
 * the labels of its edges. Nothing here is recursive: a graph has millions of nodes. */
#ifndef EXPLORE_GRAPH_H
#define EXPLORE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_LABELS_MAX 255
#define GRAPH_UNFAIR 255u /* the label of an edge that nobody has to take */
#define GRAPH_NONE UINT32_MAX

struct graph {
    uint32_t nodes; /* of which the edges of the first `closed` are known */
    uint32_t closed;
    size_t edges;
    size_t nodes_max, edges_max;
    size_t *first;    /* of each closed node, and one more: where its edges begin */
    uint32_t *mark;   /* of each node */
    uint32_t *target; /* of each edge */
    uint8_t *label;   /* likewise */
};

void graph_close(struct graph *graph);

/* Adds a node without marks, whose number is graph->nodes before. False if memory is short. */
bool graph_add_node(struct graph *graph);

/* Adds an edge of node graph->closed, to a node that may come later. False if memory is short. */
bool graph_add_edge(struct graph *graph, uint32_t target, unsigned label);

/* The edges of node graph->closed are all there: the next ones are the next node's. */
void graph_close_node(struct graph *graph);

/* What it takes; and what the questions below take besides at most. */
size_t graph_bytes(const struct graph *graph);

/* ---- questions: all nodes are closed; each returns false if memory is short ---- */

/* For each node, which of its marks every path from it keeps for ever: no node without them can be reached. */
bool graph_kept(const struct graph *graph, uint32_t *kept);

/* The strongly connected components of the nodes that have this mark, by edges between these. component[n] is the same
 * for nodes of one component, and GRAPH_NONE for those without the mark. fair[n] is set for nodes of a component in
 * which a fair run can stay for ever: each label that all its nodes offer is taken by one of its edges. A node without
 * edges to itself is one if it offers nothing that is fair. */
bool graph_components(const struct graph *graph, uint32_t mark, uint32_t *component, bool *fair);

/* A shortest way round, as far as a greedy choice finds it, that is fair by itself: from a node of a fair component back to
 * it, taking each label that all nodes on it offer. Writes the numbers of at most `max` edges; returns how many, 0 if the
 * node stays alone with nothing fair to do, -1 if there are more or memory is short. */
int graph_fair_cycle(const struct graph *graph, const uint32_t *component, uint32_t from, size_t *edge,
                     int max);

#endif
