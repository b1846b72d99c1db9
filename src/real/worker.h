/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A worker: a process that does rounds until all are done, one fails, or the process is killed. In a round it
 * acquires the lock, reads the counter, pauses, writes the counter plus one, and releases the lock. */
#ifndef REAL_WORKER_H
#define REAL_WORKER_H

#include <stdatomic.h>
#include <stdint.h>

enum real_mode {
    REAL_STRICT,     /* a plain resource; stops are shorter than the margin */
    REAL_LONG_STOPS, /* a fenced resource; stops are longer than the session timeout */
    REAL_NO_LOCK,    /* a plain resource, without a lock */
    REAL_MODES
};

/* Time for which a worker believes, from the send of the last write or sync with an answer, in percent of the
 * session timeout. The rest is for its writes, and for stops within them. */
enum { REAL_MARGIN_PERCENT = 50 };

/* The exit status of a worker. */
enum real_end {
    REAL_END_DONE = 0,
    REAL_END_FAILED = 1,    /* it has said why on standard error */
    REAL_END_NO_SERVER = 4, /* as the exit status of the commands */
};

/* The place in a section where a worker stops itself: a signal from outside would not hit so exactly. */
enum real_halt {
    REAL_HALT_NOWHERE,
    REAL_HALT_BEFORE_WRITE, /* after the last check: from there on only the fence can prevent a wrong write */
    REAL_HALT_AFTER_WRITE,  /* after the write, before the journal has it as acknowledged */
};

/* Memory that the parent shares with a worker. */
struct real_board {
    atomic_int halt;       /* set by the parent: enum real_halt; the worker clears it when it halts */
    atomic_int timeout_ms; /* set by the worker: negotiated session timeout; 0 = not connected yet */
};

struct real_job {
    const char *hosts;
    const char *path; /* of the mutex */
    const char *dir;  /* of the resource and the journal */
    int session_timeout_ms;
    enum real_mode mode;
    int slot;
    int incarnation;
    int rounds;
    uint64_t seed;
    struct real_board *board;
};

/* Does the job in the calling process, which must have no other threads. */
enum real_end real_worker_run(const struct real_job *job);

/* Connects, notes the session timeout on the board, and disconnects. Returns REAL_END_NO_SERVER if there is
 * no connection within `wait_ms`, or the session cannot be opened. */
enum real_end real_worker_probe(const struct real_job *job, int wait_ms);

#endif
