/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Telemetry: what a session tells a log, and what it counts. Both are off unless the options name an object of
 * the caller's for them, and then all that they remember lies in that object. The library never writes to
 * standard output or standard error. (The client library has a log of its own, which zoo_set_debug_level()
 * governs.)
 *
 * The caller allocates the objects, zeroed; they must outlive the session and its mutexes, and stay where they
 * are. They are written under the environment's mutex: one may be shared by the sessions and mutexes of one
 * environment, which then log and count together, but not between environments. */
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
    LS_LOG_ERROR,   /* somebody has to act: credentials or permissions refused, a session that gave up */
    LS_LOG_WARNING, /* a lock was or may be lost; a node is left behind; a foreign child stands in a queue */
    LS_LOG_INFO,    /* connections; what is tried again, and when; answers that are unknown */
    LS_LOG_DEBUG,   /* each acquire, wait, grant and release */
};

/* Lines that wait for their delivery, at most, and bytes in one with its final 0. A longer one is cut; lines
 * beyond are dropped, and their number is told instead. */
#define LS_LOG_LINES 32
#define LS_LOG_LINE_SIZE 240

struct ls_log_line {
    uint8_t level;
    char text[LS_LOG_LINE_SIZE];
};

/* Set `write` and `level`, leave the rest zero. */
struct ls_log {
    /* Takes one line without a line feed; `text` lives as long as the call. Called like every callback of the
     * session: without any lock of the library held, one call at a time per session, in the order of events,
     * on the thread that caused the event or on another that is just delivering. It may call what is not
     * blocking. */
    void (*write)(struct ls_log *log, enum ls_log_level level, const char *text);
    enum ls_log_level level; /* this and what is more severe is logged */
    void *user;              /* not looked at */
    uint32_t count;          /* private: lines that wait ... */
    uint32_t first;          /* ... from this one on */
    uint32_t dropped;
    struct ls_log_line lines[LS_LOG_LINES];
};

/* ---- counters ---- */

/* All since the object was zeroed. Re-entries by an owner that holds the lock are not counted. acquires =
 * grants + failures + those that are pending, and what an end of the session takes between a grant and its
 * telling counts as grant and as loss. */
struct ls_mutex_counters {
    /* Begun: calls that were not refused at once. An acquire of a semaphore counts for each lease. */
    uint64_t acquires;
    uint64_t grants;    /* that ended with the lock */
    uint64_t failures;  /* that ended without it, whatever the reason */
    uint64_t waits;     /* how often one began to wait behind another contender */
    uint64_t wakeups;   /* events that ended such a wait */
    uint64_t retries;   /* back-offs in an acquire; the janitor's are not among them */
    uint64_t ambiguous; /* creates and deletes of contender nodes that may have been done or not */
    uint64_t releases;  /* last levels that were given back */
    uint64_t losses;    /* held locks that went with their session */

    /* Asked to give the lock back; two requests that follow fast may be one telling. A holder that cannot read
     * its node hears of no request meanwhile: the read is repeated, unless it was refused. */
    uint64_t revocations;   /* requests that a holder's on_revoke was told of */
    uint64_t revoke_misses; /* a holder's reads of its node that failed */

    /* From the wake-up of a waiter to its grant, in ms, each rounded up to whole ones: the sum of those that
     * were measured, how many were, and the longest. It begins when the event reaches this process: what came
     * before, the delete at the server and its way here, is not in it. Of waiters that are awake at the same
     * moment only the last one is timed. */
    uint64_t handovers;
    uint64_t handover_ms;
    uint64_t handover_ms_max;

    const void *awake;      /* private: who is timed ... */
    struct ls_stamp awoken; /* ... and since when */
};

struct ls_session_counters {
    uint64_t connections;           /* first connections: sessions that began */
    uint64_t suspensions;           /* links that broke */
    uint64_t reconnections;         /* links that came back to the same session */
    uint64_t losses;                /* sessions that died */
    uint64_t revoke_requests;       /* to holders, to give a lock back: those that were sent */
    uint64_t revoke_failures;       /* of these, answered with something else than LS_OK */
    struct ls_mutex_counters locks; /* of all its mutexes together */
};

#ifdef __cplusplus
}
#endif

#endif
