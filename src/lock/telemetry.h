/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The log and the counters, as the core calls them. Every function expects the mutex to be held. It writes
 * into the log and the counters of the options, not into the session or its claims. Without a log and
 * counters it does nothing. */
#ifndef LOCK_TELEMETRY_H
#define LOCK_TELEMETRY_H

#include <lockstep/mutex.h>
#include <stddef.h>

struct lock_claim;

/* Stores a line for lock_queue_deliver(). If no log takes lines of this level, nothing is formatted. */
__attribute__((format(printf, 3, 4))) void
lock_telemetry_log(struct ls_session *session, enum ls_log_level level, const char *format, ...);

/* - lock_telemetry_waiting(): returns whether lines wait.
 * - lock_telemetry_deliver(): writes one with the mutex dropped, and returns false if there was none. */
bool lock_telemetry_waiting(const struct ls_session *session);
bool lock_telemetry_deliver(struct ls_session *session);

/* Counts and logs a session event, whether it will be delivered or not. */
void lock_telemetry_event(struct ls_session *session, enum ls_session_event event);

/* Adds to the counter at offset `field` of struct ls_mutex_counters, of the claim's mutex and its session. */
void lock_telemetry_add(const struct lock_claim *claim, size_t field, uint32_t amount);
#define LOCK_ADD(claim, field, amount)                                                                       \
    lock_telemetry_add((claim), offsetof(struct ls_mutex_counters, field), (amount))
#define LOCK_COUNT(claim, field) LOCK_ADD(claim, field, 1)

/* The owner of a claim, for "%s %llu" in a format. */
#define LOCK_WHO(claim)                                                                                      \
    ((claim)->owner & LS_ENV_THREAD ? "thread" : "owner"),                                                   \
        (unsigned long long)((claim)->owner & ~LS_ENV_THREAD)

/* Count and log the turns in a claim's life. */
void lock_telemetry_acquires(const struct lock_claim *claim);
void lock_telemetry_waits(const struct lock_claim *claim);
void lock_telemetry_woken(const struct lock_claim *claim);
void lock_telemetry_answered(const struct lock_claim *claim, int rc, int zk_rc);
void lock_telemetry_ambiguous(const struct lock_claim *claim, const char *what, int zk_rc);
void lock_telemetry_lost(const struct lock_claim *claim, const char *how); /* "its session" */

/* Count or log revocation.
 * - Of a holder: a request was found (asked), was told to the owner (revoked), a read of the own node failed
 *   (missed).
 * - Of an asker: a request was sent to the node at `path` (asks), has failed with `rc` (ask_answered). */
void lock_telemetry_asked(const struct lock_claim *claim);
void lock_telemetry_revoked(const struct lock_claim *claim);
void lock_telemetry_missed(const struct lock_claim *claim, int zk_rc);
void lock_telemetry_asks(struct ls_session *session, const char *path);
void lock_telemetry_ask_answered(struct ls_session *session, int rc, int zk_rc);

#endif
