/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z38: each client that waits watches the first node in line, not the next one before its own.
 *
 * Source: kazoo commit 7dd4c4c. When its lock learned to distinguish readers from writers, the node to watch
 * became the first of the nodes that block the client. Before, it was the last of them.
 *
 * All clients wait for the same node. When it goes, all of them wake and list the children, and all but one
 * watch the new first node. With n clients in line, n releases cost some n*n/2 wake-ups and listings.
 *
 * Three clients and no fault are enough. FIXED watches the next lower node again.
 *
 * Caught by at_most_one_wakeup_per_release. */
#include "skeleton/known_by_name.h"

static bool is_better(const char *name, const char *watched)
{
#ifdef FIXED
    return number_of(watched) < number_of(name);
#else
    return number_of(name) < number_of(watched);
#endif
}

static const struct variation variation = {.is_better = is_better};

CANARY(.name = "z38-everybody-watches-the-first", .summary = "everybody who waits watches the first in line",
       .breaks = "at_most_one_wakeup_per_release");
