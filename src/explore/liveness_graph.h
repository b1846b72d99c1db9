/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A graph of states, and its answers about infinite runs.
 *
 * Nodes are numbers from 0. A node has a set of marks, a bit for each waiter (sim/waiters.h) that waits, and
 * a list of edges. The label of an edge is the number of its action's channel, see world_channel(), or
 * GRAPH_UNFAIR. A node *offers* the labels of its edges but GRAPH_UNFAIR. An infinite run *takes* the labels
 * of its edges. No function is recursive, because a graph may have millions of nodes. */
#ifndef EXPLORE_LIVENESS_GRAPH_H
#define EXPLORE_LIVENESS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_LABELS_MAX 255
#define GRAPH_UNFAIR 255u /* the label of an edge that a fair run need not take */
#define GRAPH_NONE UINT32_MAX

struct graph {
    uint32_t nodes;
    uint32_t closed; /* number of nodes that have all their edges; these are the first ones */
    size_t edges;
    size_t nodes_max, edges_max;
    size_t *first;  /* by closed node: index of its first edge; one more at the end */
    uint32_t *mark; /* by node: set of waiters */
    uint32_t *target;
    uint8_t *label; /* by edge */
};

void graph_close(struct graph *graph);

/* Adds a node without marks, with the old graph->nodes as its number. Returns false if memory is short. */
bool graph_add_node(struct graph *graph);

/* Adds an edge of node graph->closed, to a node that may be added later. Returns false if memory is short. */
bool graph_add_edge(struct graph *graph, uint32_t target, unsigned label);

void graph_close_node(struct graph *graph);

/* Returns the bytes of the graph, plus those of the lists that the functions below need at most, results
 * included. */
size_t graph_bytes(const struct graph *graph);

/* ---- questions: all nodes must be closed; a bool is false if memory is short ---- */

/* Writes for each node its marks that all nodes reachable from it have. */
bool graph_kept(const struct graph *graph, uint32_t *kept);

/* Finds the strongly connected components of the nodes that have this mark, by edges between such nodes.
 * Writes the number of each node's component, or GRAPH_NONE, and whether the component is fair.
 *
 *   Definition. A component is fair if each label that all its nodes offer is on one of its inner edges. So a
 *   component of one node without an edge to itself is fair if the node offers no label: a run may end there.
 *   Claim. If a fair run can stay in a part of a component for ever, the component is fair.
 *   Why. Inside the part the run takes each label that all nodes of the part offer. Among these are the
 *   labels that all nodes of the component offer.
 *   Checked by. tests/explore/test_graph.c: a check by definition answers alike on thousands of small
 *   graphs. */
bool graph_components(const struct graph *graph, uint32_t mark, uint32_t *component, bool *fair);

/* Finds a cycle that is fair by itself: from a node of a fair component back to it, with each label that all
 * nodes of the cycle offer. The cycle consists of shortest ways, chosen greedily. Writes the indices of its
 * edges, and returns their number. Returns 0 if the node offers no label: a run may end there. Returns -1 if
 * the cycle has more than `max` edges, or memory is short. */
int graph_fair_cycle(const struct graph *graph, const uint32_t *component, uint32_t from, size_t *edge,
                     int max);

#endif
