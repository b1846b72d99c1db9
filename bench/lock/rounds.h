/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The frame of the contenders of `./dev bench lock` and `./dev bench redis` that are written in C. The
 * program is started once, and opens its contenders. They take and give back a lock for a fixed time in each
 * round. The peers (bench/peers) speak the same protocol:
 *
 *   standard input    CONTENDERS MILLISECONDS FILE    one round; or: quit
 *   standard output   LOCKS NANOSECONDS               what it was; the first line, `ready`: all are connected
 *
 * In a round the first CONTENDERS of them loop over take and give, each on its own thread and in its own
 * session, and start together. All that they took counts, and the time is from the start until the last has
 * given back. FILE gets a line `GRANTED RELEASED` for each lock: nanoseconds of the monotonic clock, after
 * take has returned and before give is called. This program also writes the number of the contender, from 0
 * on, behind them. */
#ifndef BENCH_LOCK_ROUNDS_H
#define BENCH_LOCK_ROUNDS_H

/* One side of the comparison. */
struct rounds_side {
    /* Opens one contender with its own session; NULL: no connection, a line on standard error says why. */
    void *(*open)(const char *hosts);
    int (*take)(void *contender); /* returns when held: 0, or an error that ends the program */
    int (*give)(void *contender); /* returns when the server has answered */
    void (*close)(void *contender);
};

/* Opens `count` contenders (a text, 1 to 16) and serves standard input until its end. Returns an exit status: 0, 1 for
 * a round that failed, 2 for a wrong argument, 4 if there is no server. */
int rounds_serve(const char *hosts, const char *count, const struct rounds_side *side);

#endif
