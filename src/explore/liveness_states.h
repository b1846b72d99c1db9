/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The graph of states after the last fault: those in which runs go on without further faults.
 *
 * A node is a state up to renaming. A *before* node has faults left in its budgets. It has no edges and no
 * marks, and is only there to reach after nodes. An *after* node has no faults left. All its steps are edges,
 * and its marks are the waiters (sim/waiters.h) that wait for a lock. No judge takes part.
 *
 * The *end* of a state is the same state with nothing left of the budgets. The end of the first state is an
 * after node, and so is the end of each state behind a fault. All other after nodes are successors of after
 * nodes. That is enough. If a step without a fault leads from a before node to another, it also leads from
 * the end of the first to the end of the second. */
#ifndef EXPLORE_LIVENESS_STATES_H
#define EXPLORE_LIVENESS_STATES_H

#include "explore/liveness_graph.h"
#include "explore/search.h"

#define AFTER_CHANNELS_MAX 254

struct after {
    struct graph graph;
    uint64_t *fingerprint;
    uint32_t *parent;  /* by node: the node by which it was found first; GRAPH_NONE for roots */
    uint8_t *is_after; /* by node: 1 = after, 0 = before */
    size_t nodes_max;
    char channel[AFTER_CHANNELS_MAX][WORLD_LABEL_MAX]; /* by label: text of world_channel() */
    int channels;
    uint64_t after_nodes;
};

/* Builds the graph from `search->run->world`, which must be in its first state; search->canon must not be
 * NULL. Nodes are numbered in breadth-first order, so the parents of a node are a shortest path from a root
 * to it. Returns false if the graph is not complete; search->limit says why, or search->wrong if a check of
 * the search failed. The caller calls after_close() in both cases. */
bool after_open(struct after *after, struct search *search);
void after_close(struct after *after);

#endif
