/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Telemetry: the log and the counters of a session. Each is off unless the options name an object of the
 * caller's for it. All that it remembers lies in that object. The library never writes to standard output
 * or standard error. The client library has a log of its own, which zoo_set_debug_level() governs.
 *
 * The caller allocates the objects, zeroed. They must outlive the session and its mutexes, and must not
 * move. They are written under the environment's mutex. So sessions and mutexes of one environment may
 * share an object, and then log and count together. Those of different environments must not. */
#ifndef LOCKSTEP_TELEMETRY_H
#define LOCKSTEP_TELEMETRY_H

#include <lockstep/env.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ls_log;

/* ---- the log ---- */

enum ls_log_level {
    LS_LOG_OFF = 0, /* nothing is logged */
    LS_LOG_ERROR,   /* an operator has to act, for instance: credentials or permissions were refused */
    LS_LOG_WARNING, /* for instance: a lock was lost, a node is left behind, a queue has a foreign child */
    LS_LOG_INFO,    /* connections; repetitions and their delays; answers that were lost */
    LS_LOG_DEBUG,   /* waits, grants, failed acquires, releases, and requests to give a lock back */
};

/* Most lines that wait for their delivery, and most bytes of a line with its final 0. A longer line is cut.
 * Further lines are dropped, and their number is told instead. */
#define LS_LOG_LINES 32
#define LS_LOG_LINE_SIZE 240

struct ls_log_line {
    uint8_t level;
    char text[LS_LOG_LINE_SIZE];
};

/* Set `write` and `level`, leave the rest zero. */
struct ls_log {
    /* Takes one line without a line feed. `text` is valid during the call. The function is called like every
     * callback of the session (session.h): without any lock of the library held, and one call at a time per
     * session. Calls come in the order of events, on the thread that caused the event or on another that
     * delivers. The function may call each function of the library that does not wait. */
    void (*write)(struct ls_log *log, enum ls_log_level level, const char *text);
    enum ls_log_level level; /* least severe level that is logged */
    void *user;              /* the caller's; the library does not look at it */
    uint32_t count;          /* private: number of lines that wait */
    uint32_t first;          /* private: index of the oldest of them */
    uint32_t dropped;        /* private: number of lines that were dropped and not told */
    struct ls_log_line lines[LS_LOG_LINES];
};

/* ---- counters ---- */

/* The caller zeroes this struct before it names it in `options.counters`. No count becomes smaller.
 * Re-entries by an owner that holds the lock are not counted.
 *
 * acquires = grants + failures + pending acquires. If a hold is lost before its owner is told of the grant,
 * the acquire counts as a grant and as a loss. */
struct ls_mutex_counters {
    uint64_t acquires; /* acquires that were begun, not refused at once; of a semaphore, one for each lease */
    uint64_t grants;   /* acquires that ended with the lock */
    uint64_t failures; /* acquires that ended without it, whatever the reason */
    uint64_t waits;    /* times that an acquire began to wait behind another contender */
    uint64_t wakeups;  /* events that ended such a wait */
    uint64_t retries;  /* back-offs in acquires, without those of the janitor */
    uint64_t ambiguous; /* creates and deletes of contender nodes that may have been done or not */
    uint64_t releases;  /* last levels that were given back */
    uint64_t losses;    /* held locks that were lost with their session or their node */

    /* Requests to give the lock back. Two requests that follow fast may be told as one. While a holder
     * cannot read its node, it is told of no request. The read is repeated, unless it was refused. */
    uint64_t revocations;   /* requests that a holder's on_revoke was told */
    uint64_t revoke_misses; /* reads by a holder of its node that failed */

    /* A handover lasts from the wake-up of a waiter to its grant. It begins when the event reaches this
     * process: the delete at the server and the way of the event are not in it. Of waiters that are awake
     * at one time, only the last one is measured. */
    uint64_t handovers;       /* handovers that were measured */
    uint64_t handover_ms;     /* sum of their durations in ms, each rounded up */
    uint64_t handover_ms_max; /* the longest of them in ms */

    const void *awake;      /* private: the waiter that is measured */
    struct ls_stamp awoken; /* private: the moment of its wake-up */
};

struct ls_session_counters {
    uint64_t connections;           /* first connections of ZooKeeper sessions */
    uint64_t suspensions;           /* links that broke */
    uint64_t reconnections;         /* links that came back with the same session */
    uint64_t losses;                /* ZooKeeper sessions that died */
    uint64_t revoke_requests;       /* requests of this session to contenders to give their lock back */
    uint64_t revoke_failures;       /* such requests that were answered with another code than LS_OK */
    struct ls_mutex_counters locks; /* counts of all mutexes of the session together */
};

#ifdef __cplusplus
}
#endif

#endif
