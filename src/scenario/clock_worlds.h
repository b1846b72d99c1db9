/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Small worlds with a clock: a few clients, and an outage of client `a` at each moment, of each length.
 *
 * Searches have no clock, so these worlds are directed runs. Each is one cast (what the clients do), one kind of outage, the
 * moment at which it begins, its length, and what `a` does. Moments are multiples of the 10 ms that a message takes; lengths lie
 * around the session timeout of 4 s and its parts. */
#ifndef SCENARIO_CLOCK_WORLDS_H
#define SCENARIO_CLOCK_WORLDS_H

#include <stddef.h>

enum clock_cast {
    CLOCK_FIRST, /* `a` asks for the free lock, the outage begins, and `b` asks */
    CLOCK_BEHIND, /* `b` holds, `a` asks, the outage begins, and `c` asks; `b` releases during the outage, after it, or late */
    CLOCK_HOLDER, /* `a` holds, `b` waits, and `a` does something before the outage begins */
    CLOCK_DURING, /* the same, but `a` does it in the middle of the outage */
    CLOCK_AGAIN,  /* `a` holds, `b` waits, and a second outage follows the first */
    CLOCK_LIFE, /* `a` takes and gives back the lock eight times, with an outage each time; `b` may wait behind it */
    CLOCK_LINE, /* `b` holds, `a` waits, `c` asks behind it; then `a` gives up, or ends, or its session does */
    CLOCK_LESS, /* as CLOCK_HOLDER; the servers grant a shorter session timeout than is asked for */
    CLOCK_FRESH, /* `a` holds and keeps its belief fresh, `b` waits, and the outage begins when a sync is under way */
    CLOCK_TIMERS, /* as CLOCK_FRESH; timers that are due fire before messages are delivered */
    CLOCK_WOKEN,  /* `b` holds, `a` waits, `b` gives back, and the outage begins while `a` is being woken */
    CLOCK_OWNERS, /* `b` holds, two owners of `a` wait, and `b` gives back in the middle of the outage */
    CLOCK_AWAKE, /* `a` holds, `b` waits, and `a` does something when the outage ends, before it hears of anything */
    CLOCK_RESTART, /* `a` holds, `b` waits, and the server restarts in the middle of the outage */
    CLOCK_FROZEN, /* the follower of `a` hears nothing from the leader; `a` has asked before, and `b` asks behind */
    CLOCK_LONG, /* one thing 300 times, see long_runs.h; without any choice */
    CLOCK_CASTS
};

/* How many worlds a cast has. */
int clock_worlds_count(enum clock_cast cast);

/* Writes what follows `worlds/` in the name of the index-th world: `clock-first/pause-at-20ms-for-4300ms/acquire`. The name must
 * be shorter than `size` bytes, its end included. */
void clock_worlds_name(enum clock_cast cast, int index, char *name, size_t size);

/* Writes its scenario, which must be shorter than `size` bytes. */
void clock_worlds_text(enum clock_cast cast, int index, char *text, size_t size);

/* `clock-first`. */
const char *clock_cast_name(enum clock_cast cast);

#endif
