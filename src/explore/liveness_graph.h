/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A graph of states, and its answers about infinite runs.
 *
 * Nodes are numbers from 0. A node has a set of marks (a bit for each process that waits, 32 at most) and
 * its edges, one after the other in one list. An edge has a label: the channel of its action, see
 * world_channel(), or GRAPH_UNFAIR. A node *offers* the labels of its edges but GRAPH_UNFAIR; an infinite
 * run *takes* the labels of its edges. No function is recursive, because a graph has millions of nodes. */
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
    uint32_t closed; /* the first so many nodes have all their edges */
    size_t edges;
    size_t nodes_max, edges_max;
    size_t *first;    /* of each closed node, index of its first edge; one more at the end */
    uint32_t *mark;   /* of each node */
    uint32_t *target; /* of each edge */
    uint8_t *label;   /* likewise */
};

void graph_close(struct graph *graph);

/* Adds a node without marks; its number is the old graph->nodes. Returns false if memory is short. */
bool graph_add_node(struct graph *graph);

/* Adds an edge of node graph->closed, to a node that may be added later. Returns false if memory is short. */
bool graph_add_edge(struct graph *graph, uint32_t target, unsigned label);

/* Closes node graph->closed: the next edges are those of the next node. */
void graph_close_node(struct graph *graph);

/* Returns the bytes of the graph, with those that the questions below need at most. */
size_t graph_bytes(const struct graph *graph);

/* ---- questions: all nodes are closed; each returns false if memory is short ---- */

/* Writes for each node the marks that every path from it keeps: no node without the mark can be reached. */
bool graph_kept(const struct graph *graph, uint32_t *kept);

/* Finds the strongly connected components of the nodes that have this mark, by edges between these nodes.
 * Nodes of one component get one number in `component`, others GRAPH_NONE. fair[n] is set in fair components.
 *
 *   Definition. A component is fair if each label that all its nodes offer is on one of its inner edges. A
 *   node without an edge to itself is a fair component if it offers no label: a run may end there.
 *   Claim. If a fair run can stay in a part of a component for ever, the component is fair.
 *   Why. The run takes each label that all nodes of the part offer, by an inner edge. Among these labels are
 *   all that all nodes of the component offer.
 *   Checked by. tests/explore/test_graph.c: the plainest way answers alike on thousands of small graphs. */
bool graph_components(const struct graph *graph, uint32_t mark, uint32_t *component, bool *fair);

/* Finds a cycle that is fair by itself: from a node of a fair component back to it, taking each label that
 * all its nodes offer. Its parts are shortest ways, chosen greedily. Writes the numbers of its edges; returns
 * how many. 0: the node offers no label, and a run may end there. -1: more than `max`, or memory is short. */
int graph_fair_cycle(const struct graph *graph, const uint32_t *component, uint32_t from, size_t *edge,
                     int max);

#endif
