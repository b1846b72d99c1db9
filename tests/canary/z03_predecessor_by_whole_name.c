/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z03: the line is in the order of numbers, but the next lower node is looked for by whole names.
 *
 * Source: ZOOKEEPER-3162, part 1, mended by pull request 662 of apache/zookeeper (commit 477fa0724).
 * ZooKeeper's own C recipe had it for nine years.
 *
 * A node is called x-SESSION-NUMBER. The recipe sorts the children by number, and the first of them holds.
 * But the node to watch is the last one in that line whose whole name is less, and the session's id is at
 * the front of a name. A client with the smallest id finds no node before it though it is not first. It
 * neither holds nor watches, and no event ever wakes it. A client with a larger id watches a node behind its
 * own though it is first.
 *
 * Two clients and no fault are enough. FIXED compares numbers in both places.
 *
 * Caught by no_lost_wakeup. */
#ifndef FIXED
#define CANON NULL
#endif
#include "skeleton/known_by_name.h"

/* Whether a node is a candidate for the watch. */
static bool is_less(const char *name, const char *other)
{
#ifdef FIXED
    return number_of(name) < number_of(other);
#else
    return strcmp(name, other) < 0;
#endif
}

static bool is_later(const char *name, const char *other)
{
    return number_of(name) > number_of(other);
}

static bool no_number_is_lower(const struct claim *claim, const struct String_vector *names)
{
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        if (number >= 0 && number < number_of(claim->name)) {
            return false;
        }
    }
    return claim->ahead[0] == 0;
}

static const struct variation variation = {
    .names_session = true, .before = is_less, .is_better = is_later, .is_first = no_number_is_lower};

CANARY(.name = "z03-predecessor-by-whole-name",
       .summary = "the line is by number, but the one before is looked for by whole names",
       .breaks = "no_lost_wakeup");
