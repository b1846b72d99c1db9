/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Small worlds with a clock: a few clients, and an outage of client `a` or a server. The moments and lengths
 * of the outages come from short lists.
 *
 * Searches have no clock, so these worlds are directed runs. A world is one cast (the commands of the
 * clients), one kind of outage, its moment and length, a verb, and a variant of the cast. The verb is one of
 * `a`, in CLOCK_LINE one of `c`. Moments are multiples of the 10 ms that a message takes. Lengths lie around
 * the session timeout of 4 s and its fractions. */
#ifndef SCENARIO_OUTAGE_WORLDS_H
#define SCENARIO_OUTAGE_WORLDS_H

#include <stddef.h>

enum clock_cast {
    CLOCK_FIRST,  /* `a` asks for the free lock, `b` asks too, and the outage begins */
    CLOCK_BEHIND, /* `b` holds, `a` and `c` ask, the outage begins; `b` releases in it, after it or late */
    CLOCK_HOLDER, /* `a` holds, `b` waits, `a` runs a verb, and the outage begins */
    CLOCK_DURING, /* as CLOCK_HOLDER, but `a` runs the verb in the middle of the outage */
    CLOCK_AGAIN,  /* `a` holds, `b` waits, and a second outage follows the first */
    CLOCK_LIFE, /* `a` takes and releases the lock eight times, each with an outage; `b` may wait behind it */
    CLOCK_LINE, /* `b` holds, `a` waits, `c` asks behind it; then `a` cancels, ends, or loses its session */
    CLOCK_LESS, /* as CLOCK_HOLDER; the servers grant a shorter session timeout than requested */
    CLOCK_FRESH,   /* `a` holds and renews its belief, `b` waits; the outage begins around a renewal */
    CLOCK_TIMERS,  /* as CLOCK_FRESH; due timers fire before messages are delivered */
    CLOCK_WOKEN,   /* `b` holds, `a` waits, `b` releases; the outage begins while `a` is being woken */
    CLOCK_OWNERS,  /* `b` holds, two owners of `a` ask; `b` releases in the middle of the outage */
    CLOCK_AWAKE,   /* `a` holds, `b` waits; `a` runs a verb after the outage, before it receives anything */
    CLOCK_RESTART, /* `a` holds, `b` waits; the server restarts 2.5 s after the outage began */
    CLOCK_FROZEN,  /* `a` has asked; its follower receives nothing from the leader; `b` asks behind it */
    CLOCK_LONG,    /* one thing up to 300 times (repetition_worlds.h); no choices */
    CLOCK_CASTS
};

int clock_worlds_count(enum clock_cast cast);

/* Writes the part of the index-th world's name behind `worlds/`:
 * `clock-first/pause-at-20ms-for-4300ms/acquire`. The name with its final 0 must fit into `size` bytes. */
void clock_worlds_name(enum clock_cast cast, int index, char *name, size_t size);

/* Writes the scenario of the index-th world, which must be shorter than `size` bytes. */
void clock_worlds_text(enum clock_cast cast, int index, char *text, size_t size);

const char *clock_cast_name(enum clock_cast cast);

#endif
