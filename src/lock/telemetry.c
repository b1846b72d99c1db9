/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The log and the counters, which lie in objects of the caller. Lines are stored under the environment's
 * mutex. lock_queue_deliver() writes them with the mutex dropped, before the answers and events that they are
 * about. */
#include "lock/telemetry.h"
#include "lock/claim.h"

#include <stdarg.h>
#include <stdio.h>

static const struct ls_session_options *options_of(const struct ls_session *session)
{
    return lock_queue_deref(session->options);
}

static struct ls_log *log_of(const struct ls_session *session)
{
    const struct ls_session_options *options = options_of(session);
    return options && options->log && options->log->write ? options->log : NULL;
}

static struct ls_session_counters *session_counters(const struct ls_session *session)
{
    const struct ls_session_options *options = options_of(session);
    return options ? options->counters : NULL;
}

static struct ls_mutex_counters *mutex_counters(const struct ls_mutex *mutex)
{
    const struct ls_mutex_options *options = mutex ? lock_queue_deref(mutex->options) : NULL;
    return options ? options->counters : NULL;
}

void lock_telemetry_log(struct ls_session *session, enum ls_log_level level, const char *format, ...)
{
    struct ls_log *log = log_of(session);
    if (!log || level > log->level)
        return;
    if (log->count == LS_LOG_LINES) {
        log->dropped++;
        return;
    }
    struct ls_log_line *line = &log->lines[(log->first + log->count++) % LS_LOG_LINES];
    line->level = (uint8_t)level;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line->text, sizeof line->text, format, args);
    va_end(args);
}

bool lock_telemetry_waiting(const struct ls_session *session)
{
    const struct ls_log *log = log_of(session);
    return log && log->count;
}

static void take_line(struct ls_log *log, struct ls_log_line *line)
{
    *line = log->lines[log->first];
    log->first = (log->first + 1) % LS_LOG_LINES;
    log->count--;
}

/* Logs how many lines were dropped. A line has just been taken, so there is room. */
static void tell_dropped(struct ls_session *session, struct ls_log *log)
{
    uint32_t dropped = log->dropped;
    log->dropped = 0;
    if (dropped)
        lock_telemetry_log(session, LS_LOG_ERROR, "%u lines of this log were dropped", dropped);
}

bool lock_telemetry_deliver(struct ls_session *session)
{
    struct ls_log *log = log_of(session);
    struct ls_log_line line;
    if (!log || !log->count)
        return false;
    take_line(log, &line);
    tell_dropped(session, log);
    ls_env_unlock(session->env);
    log->write(log, (enum ls_log_level)line.level, line.text);
    ls_env_lock(session->env);
    return true;
}

static const char *text_of(enum ls_session_event event)
{
    switch (event) {
    case LS_SESSION_CONNECTED:
        return "connected";
    case LS_SESSION_SUSPENDED:
        return "suspended: the link is gone";
    case LS_SESSION_RECONNECTED:
        return "reconnected";
    case LS_SESSION_LOST:
        return "lost: the session is dead";
    case LS_SESSION_READ_ONLY:
        return "connected to a read-only server";
    case LS_SESSION_AUTH_FAILED:
        return "failed: credentials refused";
    case LS_SESSION_GAVE_UP:
        return "failed: gave up";
    case LS_SESSION_IDLE:
    default:
        return NULL;
    }
}

static enum ls_log_level level_of(enum ls_session_event event)
{
    switch (event) {
    case LS_SESSION_AUTH_FAILED:
    case LS_SESSION_GAVE_UP:
        return LS_LOG_ERROR;
    case LS_SESSION_SUSPENDED:
    case LS_SESSION_LOST:
    case LS_SESSION_READ_ONLY:
        return LS_LOG_WARNING;
    default:
        return LS_LOG_INFO;
    }
}

static void count_event(struct ls_session_counters *counters, enum ls_session_event event)
{
    counters->connections += event == LS_SESSION_CONNECTED;
    counters->suspensions += event == LS_SESSION_SUSPENDED;
    counters->reconnections += event == LS_SESSION_RECONNECTED;
    counters->losses += event == LS_SESSION_LOST;
}

void lock_telemetry_event(struct ls_session *session, enum ls_session_event event)
{
    struct ls_session_counters *counters = session_counters(session);
    if (counters)
        count_event(counters, event);
    if (text_of(event))
        lock_telemetry_log(session, level_of(event), "session 0x%llx %s", (unsigned long long)session->id,
                           text_of(event));
}

static void add(struct ls_mutex_counters *counters, size_t field, uint32_t amount)
{
    if (counters)
        *(uint64_t *)(void *)((char *)counters + field) += amount;
}

/* The counters of a claim's mutex and of its session; either may be NULL. */
struct both {
    struct ls_mutex_counters *of[2];
};

static struct both counters_of(const struct lock_claim *claim)
{
    struct ls_session_counters *session = session_counters(claim->place->session);
    return (struct both){{mutex_counters(claim->mutex), session ? &session->locks : NULL}};
}

void lock_telemetry_add(const struct lock_claim *claim, size_t field, uint32_t amount)
{
    struct both both = counters_of(claim);
    add(both.of[0], field, amount);
    add(both.of[1], field, amount);
}

void lock_telemetry_woken(const struct lock_claim *claim)
{
    struct both both = counters_of(claim);
    LOCK_COUNT(claim, wakeups);
    for (int i = 0; i < 2; i++) {
        if (!both.of[i])
            continue;
        both.of[i]->awake = claim;
        ls_env_stamp(claim->place->session->env, &both.of[i]->awoken);
    }
}

static void time_handover(const struct lock_claim *claim, struct ls_mutex_counters *counters)
{
    uint64_t elapsed_ms = (uint64_t)ls_env_elapsed_ms(claim->place->session->env, &counters->awoken);
    counters->handovers++;
    counters->handover_ms += elapsed_ms;
    if (elapsed_ms > counters->handover_ms_max)
        counters->handover_ms_max = elapsed_ms;
}

/* Stops timing the way of a claim from a wake-up to its grant. Without a grant, no time is counted. `awake`
 * is cleared also then, because the claim's memory may be reused. */
static void end_handover(const struct lock_claim *claim, bool granted)
{
    struct both both = counters_of(claim);
    for (int i = 0; i < 2; i++) {
        if (!both.of[i] || both.of[i]->awake != claim)
            continue;
        if (granted)
            time_handover(claim, both.of[i]);
        both.of[i]->awake = NULL;
    }
}

void lock_telemetry_waits(const struct lock_claim *claim)
{
    LOCK_COUNT(claim, waits);
    end_handover(claim, false);
    lock_telemetry_log(claim->place->session, LS_LOG_DEBUG, "%s: %s %llu waits", claim->place->path,
                       LOCK_WHO(claim));
}

/* Returns as how many acquires a claim counts: a taker as many as the leases that it asks for. */
static uint32_t leases_of(const struct lock_claim *claim)
{
    return lock_semaphore_is_taker(claim) ? claim->units : 1;
}

void lock_telemetry_acquires(const struct lock_claim *claim)
{
    LOCK_ADD(claim, acquires, leases_of(claim));
}

static enum ls_log_level level_of_failure(int rc)
{
    return rc == LS_ENOAUTH || rc == LS_EZK || rc == LS_ESEQUENCE ? LS_LOG_ERROR : LS_LOG_DEBUG;
}

void lock_telemetry_answered(const struct lock_claim *claim, int rc, int zk_rc)
{
    struct ls_session *session = claim->place->session;
    end_handover(claim, !rc);
    if (rc) {
        LOCK_ADD(claim, failures, leases_of(claim));
        lock_telemetry_log(session, level_of_failure(rc), "%s: %s %llu has not got the lock: %s (%d)",
                           claim->place->path, LOCK_WHO(claim), ls_strerror(rc), zk_rc);
        return;
    }
    LOCK_COUNT(claim, grants);
    lock_telemetry_log(session, LS_LOG_DEBUG, "%s: %s %llu has got the lock, token 0x%llx",
                       claim->place->path, LOCK_WHO(claim), (unsigned long long)claim->czxid);
}

void lock_telemetry_ambiguous(const struct lock_claim *claim, const char *what, int zk_rc)
{
    LOCK_COUNT(claim, ambiguous);
    lock_telemetry_log(claim->place->session, LS_LOG_INFO, "%s: the answer to a %s was lost (%d)",
                       claim->place->path, what, zk_rc);
}

void lock_telemetry_lost(const struct lock_claim *claim, const char *how)
{
    LOCK_COUNT(claim, losses);
    lock_telemetry_log(claim->place->session, LS_LOG_WARNING, "%s: %s %llu has lost the lock with %s",
                       claim->place->path, LOCK_WHO(claim), how);
}

void lock_telemetry_asked(const struct lock_claim *claim)
{
    lock_telemetry_log(claim->place->session, LS_LOG_DEBUG, "%s: %s %llu is asked to give the lock back",
                       claim->place->path, LOCK_WHO(claim));
}

void lock_telemetry_revoked(const struct lock_claim *claim)
{
    LOCK_COUNT(claim, revocations);
}

/* Returns the level of a failed read of a holder's own node. If the node is gone, the hold is lost. */
static enum ls_log_level level_of_miss(int zk_rc)
{
    switch (lock_session_verdict(zk_rc)) {
    case LOCK_REFUSED:
        return LS_LOG_ERROR;
    case LOCK_ABSENT:
        return LS_LOG_WARNING;
    default:
        return LS_LOG_INFO;
    }
}

void lock_telemetry_missed(const struct lock_claim *claim, int zk_rc)
{
    LOCK_COUNT(claim, revoke_misses);
    lock_telemetry_log(claim->place->session, level_of_miss(zk_rc),
                       "%s: %s %llu cannot hear whether it is asked to give the lock back (%d)",
                       claim->place->path, LOCK_WHO(claim), zk_rc);
}

void lock_telemetry_asks(struct ls_session *session, const char *path)
{
    struct ls_session_counters *counters = session_counters(session);
    if (counters)
        counters->revoke_requests++;
    lock_telemetry_log(session, LS_LOG_DEBUG, "%s: asked to give the lock back", path);
}

/* Counts and logs a failed request. A lost answer has the level LS_LOG_INFO. A request that came too late, or
 * met the session's end, is no error (LS_LOG_DEBUG). */
void lock_telemetry_ask_answered(struct ls_session *session, int rc, int zk_rc)
{
    struct ls_session_counters *counters = session_counters(session);
    if (!rc)
        return;
    if (counters)
        counters->revoke_failures++;
    lock_telemetry_log(session, rc == LS_EUNSURE ? LS_LOG_INFO : level_of_failure(rc),
                       "a request to give a lock back failed: %s (%d)",
                       rc == LS_EUNSURE ? "its answer was lost" : ls_strerror(rc), zk_rc);
}

int ls_session_counters(const struct ls_session *session, struct ls_session_counters *out)
{
    const struct ls_session_counters *counters = session_counters(session);
    if (!counters)
        return LS_EINVAL;
    ls_env_lock(session->env);
    *out = *counters;
    ls_env_unlock(session->env);
    out->locks.awake = NULL;
    out->locks.awoken = (struct ls_stamp){0};
    return LS_OK;
}

int ls_mutex_counters(const struct ls_mutex *mutex, struct ls_mutex_counters *out)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    const struct ls_mutex_counters *counters = session ? mutex_counters(mutex) : NULL;
    if (counters)
        *out = *counters;
    if (session)
        ls_env_unlock(session->env);
    if (!counters)
        return LS_EINVAL;
    out->awake = NULL;
    out->awoken = (struct ls_stamp){0};
    return LS_OK;
}
