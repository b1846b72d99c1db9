/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A worker: one process that does rounds until they are done or it is killed. In a round it takes the
 * lock, reads the counter, dawdles, writes the counter back, and gives the lock away. */
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

/* The belief of a worker after the last sign of life, in percent of the session timeout. The rest is for
 * its writes and the stops within them. */
enum { REAL_MARGIN_PERCENT = 50 };

/* The end of a worker's process. */
enum real_end {
    REAL_END_DONE = 0,
    REAL_END_FAILED = 1,    /* it has said why on standard error */
    REAL_END_NO_SERVER = 4, /* as the exit status of the commands */
};

/* The place where a worker is told to stop itself: no signal from outside would hit so exactly. */
enum real_halt {
    REAL_HALT_NOWHERE,
    REAL_HALT_BEFORE_WRITE, /* after its last check: from there on only the fence can help */
    REAL_HALT_AFTER_WRITE,  /* the write is made and not acknowledged yet */
};

/* Memory that the parent shares with a worker. */
struct real_board {
    atomic_int halt;       /* parent: enum real_halt, obeyed once */
    atomic_int timeout_ms; /* worker: the negotiated session timeout in ms, once connected */
};

struct real_job {
    const char *hosts;
    const char *path; /* of the mutex */
    const char *dir;  /* of the resource and the journal */
    int session_timeout_ms;
    enum real_mode mode;
    int slot;
    int incarnation;
    int rounds; /* number of rounds to do */
    uint64_t seed;
    struct real_board *board;
};

/* Does the job in the calling process, which has no other threads. */
enum real_end real_worker_run(const struct real_job *job);

/* Connects, notes the session timeout on the board and leaves again. Returns REAL_END_NO_SERVER after
 * `wait_ms`. */
enum real_end real_worker_probe(const struct real_job *job, int wait_ms);

#endif
