/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The graph of states after the last fault: all states of runs in which nothing fails from some moment on.
 *
 * A node is a state up to renaming. A *before* node has faults left in its budgets. It has no edges and no
 * marks, and is only there to reach after nodes. An *after* node has no faults left. All its steps are edges,
 * and its marks are the waiters (sim/waiters.h) that wait for a lock. No judge takes part.
 *
 * An after node is made beside the first state and behind each fault; all other after nodes are successors of
 * after nodes. That is enough: a step without a fault from one before node to another also leads from the
 * after node of the first to that of the second. */
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

/* Builds the graph from `search->run->world`, which is in its first state; search->canon is not NULL. Nodes
 * are numbered in breadth-first order, so a node's parents are a shortest path to it. Returns false if the
 * graph is not complete; search->limit says why, or search->wrong if a check of the search failed. The caller
 * calls after_close() in both cases. */
bool after_open(struct after *after, struct search *search);
void after_close(struct after *after);

#endif
