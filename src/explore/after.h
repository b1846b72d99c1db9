/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The states after the last fault, as a graph: all that can be reached when at any moment of any run nothing fails any more.
 *
 * A node is a state up to renaming. *Before* nodes still have faults in their budgets; they have no edges and no marks, and
 * are there because something leads from them to the others. An *after* node has none left, and all its steps as edges; its
 * marks say which processes wait for a lock. The judges have no part in it. */
#ifndef EXPLORE_AFTER_H
#define EXPLORE_AFTER_H

#include "explore/graph.h"
#include "explore/search.h"

#define AFTER_CHANNELS_MAX 254

struct after {
    struct graph graph;
    uint64_t *fingerprint; /* of each node */
    uint32_t *parent;      /* of each node, the one by which it was found first; GRAPH_NONE for roots */
    uint8_t *is_after;     /* of each node */
    size_t nodes_max;
    char channel[AFTER_CHANNELS_MAX][WORLD_LABEL_MAX]; /* the labels of the graph */
    int channels;
    uint64_t after_nodes;
};

/* `search->run->world` is in its first state, search->canon is not NULL. Nodes are numbered in the order of a breadth-first
 * search, so that parents lead to a node in as few steps as possible. False if it did not come to its end: search->limit
 * says why. after_close() in any case. */
bool after_open(struct after *after, struct search *search);
void after_close(struct after *after);

#endif
