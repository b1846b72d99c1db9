/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The layout of the public structs and the numbers of the public enums, on machines whose int has 32 bits, and long
 * and pointers 64. Linked programs have them built in: a change here needs a new SOVERSION, but for numbers that are
 * appended (docs/stability.md). Of structs whose fields are private only the size counts. */
#include <lockstep/election.h>
#include <lockstep/env.h>
#include <lockstep/error.h>
#include <lockstep/multi.h>
#include <lockstep/mutex.h>
#include <lockstep/property.h>
#include <lockstep/recipe.h>
#include <lockstep/redis_mutex.h>
#include <lockstep/replay.h>
#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>
#include <lockstep/session.h>
#include <lockstep/sometimes.h>
#include <lockstep/telemetry.h>
#include <lockstep/version.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what is pinned ---- */

struct pin {
    const char *owner; /* a struct, or "" */
    const char *name;  /* of a field; NULL: the whole of the struct */
    long found;
    long pinned;
};

/* clang-format off */
#define SIZE(type, pinned) {#type, NULL, (long)sizeof(struct type), pinned}
#define FIELD(type, field, pinned) {#type, #field, (long)offsetof(struct type, field), pinned}
#define NUMBER(name, pinned) {"", #name, name, pinned}

static const struct pin layout[] = {
    SIZE(event, 48),
    FIELD(event, kind, 0),
    FIELD(event, process, 1),
    FIELD(event, lock, 2),
    FIELD(event, owner, 3),
    FIELD(event, code, 4),
    FIELD(event, rc, 4),
    FIELD(event, timeout_ms, 4),
    FIELD(event, depth, 4),
    FIELD(event, warning, 4),
    FIELD(event, belief, 4),
    FIELD(event, node_role, 4),
    FIELD(event, time_is_up, 4),
    FIELD(event, request, 4),
    FIELD(event, watch, 4),
    FIELD(event, zk_type, 4),
    FIELD(event, taken, 4),
    FIELD(event, action, 4),
    FIELD(event, offence, 4),
    FIELD(event, idle, 4),
    FIELD(event, capacity, 4),
    FIELD(event, outage, 4),
    FIELD(event, zxid, 8),
    FIELD(event, czxid, 8),
    FIELD(event, token, 8),
    FIELD(event, cause, 16),
    FIELD(event, call_locks, 16),
    FIELD(event, within_stop, 16),
    FIELD(event, doubt, 16),
    FIELD(event, creator_idle, 16),
    FIELD(event, change_zxid, 16),
    FIELD(event, guard_czxid, 16),
    FIELD(event, lease_timer, 16),
    FIELD(event, session, 24),
    FIELD(event, now_ms, 32),
    FIELD(event, path, 40),
    SIZE(ls_judge, 56),
    FIELD(ls_judge, processes, 0),
    FIELD(ls_judge, locks, 4),
    FIELD(ls_judge, owners, 8),
    FIELD(ls_judge, timed, 12),
    FIELD(ls_judge, tolerance_ms, 16),
    FIELD(ls_judge, premise, 24),
    FIELD(ls_judge, violate, 32),
    FIELD(ls_judge, process_name, 40),
    FIELD(ls_judge, lock_name, 48),
    SIZE(ls_property_rename, 16),
    FIELD(ls_property_rename, zxid, 0),
    FIELD(ls_property_rename, session, 8),
    SIZE(ls_property, 72),
    FIELD(ls_property, name, 0),
    FIELD(ls_property, sentence, 8),
    FIELD(ls_property, premise, 16),
    FIELD(ls_property, blind_to, 24),
    FIELD(ls_property, modes, 32),
    FIELD(ls_property, needs_clock, 36),
    FIELD(ls_property, wants, 40),
    FIELD(ls_property, state_size, 48),
    FIELD(ls_property, observe, 56),
    FIELD(ls_property, canon, 64),
    SIZE(ls_property_module, 16),
    FIELD(ls_property_module, interface, 0),
    FIELD(ls_property_module, property_size, 4),
    FIELD(ls_property_module, property, 8),
    SIZE(ls_waiter, 64),
    SIZE(ls_stamp, 8),
    SIZE(ls_timer, 4),
    SIZE(ls_log_line, 241),
    SIZE(ls_log, 7752),
    FIELD(ls_log, write, 0),
    FIELD(ls_log, level, 8),
    FIELD(ls_log, user, 16),
    SIZE(ls_mutex_counters, 128),
    FIELD(ls_mutex_counters, acquires, 0),
    FIELD(ls_mutex_counters, grants, 8),
    FIELD(ls_mutex_counters, failures, 16),
    FIELD(ls_mutex_counters, waits, 24),
    FIELD(ls_mutex_counters, wakeups, 32),
    FIELD(ls_mutex_counters, retries, 40),
    FIELD(ls_mutex_counters, ambiguous, 48),
    FIELD(ls_mutex_counters, releases, 56),
    FIELD(ls_mutex_counters, losses, 64),
    FIELD(ls_mutex_counters, revocations, 72),
    FIELD(ls_mutex_counters, revoke_misses, 80),
    FIELD(ls_mutex_counters, handovers, 88),
    FIELD(ls_mutex_counters, handover_ms, 96),
    FIELD(ls_mutex_counters, handover_ms_max, 104),
    SIZE(ls_session_counters, 176),
    FIELD(ls_session_counters, connections, 0),
    FIELD(ls_session_counters, suspensions, 8),
    FIELD(ls_session_counters, reconnections, 16),
    FIELD(ls_session_counters, losses, 24),
    FIELD(ls_session_counters, revoke_requests, 32),
    FIELD(ls_session_counters, revoke_failures, 40),
    FIELD(ls_session_counters, locks, 48),
    SIZE(ls_retry_policy, 24),
    FIELD(ls_retry_policy, kind, 0),
    FIELD(ls_retry_policy, base_ms, 4),
    FIELD(ls_retry_policy, delay_ms_max, 8),
    FIELD(ls_retry_policy, jitter_percent, 12),
    FIELD(ls_retry_policy, times, 16),
    FIELD(ls_retry_policy, elapsed_ms_max, 20),
    SIZE(ls_session_ops, 8),
    FIELD(ls_session_ops, on_event, 0),
    SIZE(ls_redis, 120),
    SIZE(ls_redis_mutex, 24),
    SIZE(ls_redis_mutex_ops, 24),
    FIELD(ls_redis_mutex_ops, on_done, 0),
    FIELD(ls_redis_mutex_ops, on_freed, 8),
    FIELD(ls_redis_mutex_ops, on_lost, 16),
    SIZE(ls_redis_options, 48),
    FIELD(ls_redis_options, lease_ms, 0),
    FIELD(ls_redis_options, database, 4),
    FIELD(ls_redis_options, user, 8),
    FIELD(ls_redis_options, password, 16),
    FIELD(ls_redis_options, replicas, 24),
    FIELD(ls_redis_options, replicas_ms, 28),
    FIELD(ls_redis_options, attach, 32),
    FIELD(ls_redis_options, loop, 40),
    SIZE(redis_connection, 16),
    SIZE(ls_ref, 8),
    SIZE(ls_session_listener, 16),
    SIZE(ls_auth, 24),
    FIELD(ls_auth, scheme, 0),
    FIELD(ls_auth, certificate, 8),
    FIELD(ls_auth, size, 16),
    SIZE(ls_session_options, 72),
    FIELD(ls_session_options, retry, 0),
    FIELD(ls_session_options, margin_percent, 8),
    FIELD(ls_session_options, no_refresh, 12),
    FIELD(ls_session_options, read_only, 13),
    FIELD(ls_session_options, auth, 16),
    FIELD(ls_session_options, auth_count, 24),
    FIELD(ls_session_options, acl, 32),
    FIELD(ls_session_options, tls, 40),
    FIELD(ls_session_options, log, 48),
    FIELD(ls_session_options, counters, 56),
    FIELD(ls_session_options, maxbuffer, 64),
    SIZE(ls_session, 248),
    SIZE(ls_loan, 16),
    SIZE(ls_outcome, 24),
    FIELD(ls_outcome, rc, 0),
    FIELD(ls_outcome, zk_rc, 4),
    FIELD(ls_outcome, depth, 8),
    FIELD(ls_outcome, token, 16),
    SIZE(ls_participant, 24),
    FIELD(ls_participant, name, 0),
    FIELD(ls_participant, contents, 8),
    FIELD(ls_participant, size, 16),
    SIZE(ls_participants, 24),
    FIELD(ls_participants, list, 8),
    FIELD(ls_participants, count, 16),
    SIZE(ls_mutex_ops, 48),
    FIELD(ls_mutex_ops, on_done, 0),
    FIELD(ls_mutex_ops, on_freed, 8),
    FIELD(ls_mutex_ops, on_warning, 16),
    FIELD(ls_mutex_ops, on_participants, 24),
    FIELD(ls_mutex_ops, on_revoke, 32),
    FIELD(ls_mutex_ops, on_lost, 40),
    SIZE(ls_mutex_options, 24),
    FIELD(ls_mutex_options, ops, 0),
    FIELD(ls_mutex_options, acl, 8),
    FIELD(ls_mutex_options, counters, 16),
    SIZE(ls_mutex, 48),
    SIZE(ls_election, 112),
    FIELD(ls_election, mutex, 0),
    FIELD(ls_election, listener, 48),
    FIELD(ls_election, options, 64),
    FIELD(ls_election, inner, 72),
    FIELD(ls_election, waits, 96),
    FIELD(ls_election, candidate, 104),
    FIELD(ls_election, suspended, 105),
    FIELD(ls_election, gone, 106),
    FIELD(ls_election, leading, 107),
    SIZE(ls_election_options, 32),
    FIELD(ls_election_options, ops, 0),
    FIELD(ls_election_options, style, 8),
    FIELD(ls_election_options, acl, 16),
    FIELD(ls_election_options, counters, 24),
    SIZE(ls_election_ops, 64),
    FIELD(ls_election_ops, on_elected, 0),
    FIELD(ls_election_ops, on_suspended, 8),
    FIELD(ls_election_ops, on_restored, 16),
    FIELD(ls_election_ops, on_deposed, 24),
    FIELD(ls_election_ops, on_resigned, 32),
    FIELD(ls_election_ops, on_failed, 40),
    FIELD(ls_election_ops, on_warning, 48),
    FIELD(ls_election_ops, on_candidates, 56),
    SIZE(ls_rwlock, 96),
    FIELD(ls_rwlock, read, 0),
    FIELD(ls_rwlock, write, 48),
    SIZE(ls_semaphore, 96),
    FIELD(ls_semaphore, leases, 0),
    FIELD(ls_semaphore, line, 48),
    SIZE(ls_multi_outcome, 16),
    FIELD(ls_multi_outcome, rc, 0),
    FIELD(ls_multi_outcome, zk_rc, 4),
    FIELD(ls_multi_outcome, member, 8),
    FIELD(ls_multi_outcome, depth, 12),
    SIZE(ls_multi_ops, 40),
    FIELD(ls_multi_ops, on_done, 0),
    FIELD(ls_multi_ops, on_freed, 8),
    FIELD(ls_multi_ops, on_lost, 16),
    FIELD(ls_multi_ops, on_warning, 24),
    FIELD(ls_multi_ops, on_revoke, 32),
    SIZE(ls_multi_options, 24),
    FIELD(ls_multi_options, ops, 0),
    FIELD(ls_multi_options, acl, 8),
    FIELD(ls_multi_options, counters, 16),
    SIZE(ls_multi_member, 128),
    FIELD(ls_multi_member, lock, 0),
    FIELD(ls_multi_member, multi, 96),
    FIELD(ls_multi_member, next, 104),
    FIELD(ls_multi_member, face, 112),
    FIELD(ls_multi_member, leases, 120),
    FIELD(ls_multi_member, kind, 124),
    SIZE(ls_multi, 88),
    FIELD(ls_multi, env, 0),
    FIELD(ls_multi, members, 8),
    FIELD(ls_multi, first, 16),
    FIELD(ls_multi, bundles, 24),
    FIELD(ls_multi, session, 32),
    FIELD(ls_multi, options, 40),
    FIELD(ls_multi, inner, 48),
    FIELD(ls_multi, capacity, 72),
    FIELD(ls_multi, count, 76),
    FIELD(ls_multi, busy, 80),
    FIELD(ls_multi, asked, 84),
    FIELD(ls_multi, closing, 85),
    SIZE(ls_report, 40),
    FIELD(ls_report, kind, 0),
    FIELD(ls_report, lock, 4),
    FIELD(ls_report, owner, 8),
    FIELD(ls_report, rc, 12),
    FIELD(ls_report, depth, 16),
    FIELD(ls_report, token, 24),
    FIELD(ls_report, session, 32),
    SIZE(ls_lock_spec, 24),
    FIELD(ls_lock_spec, name, 0),
    FIELD(ls_lock_spec, capacity, 8),
    FIELD(ls_lock_spec, count, 10),
    FIELD(ls_lock_spec, kind, 12),
    FIELD(ls_lock_spec, group, 13),
    FIELD(ls_lock_spec, mode, 14),
    FIELD(ls_lock_spec, quorum, 15),
    FIELD(ls_lock_spec, members, 16),
    FIELD(ls_lock_spec, loss, 20),
    SIZE(ls_recipe_config, 48),
    FIELD(ls_recipe_config, hosts, 0),
    FIELD(ls_recipe_config, lock_paths, 8),
    FIELD(ls_recipe_config, lock_count, 16),
    FIELD(ls_recipe_config, session_timeout_ms, 20),
    FIELD(ls_recipe_config, contents, 24),
    FIELD(ls_recipe_config, contents_size, 32),
    FIELD(ls_recipe_config, keep_fresh, 36),
    FIELD(ls_recipe_config, locks, 40),
    SIZE(ls_rename, 56),
    FIELD(ls_rename, zxid, 0),
    FIELD(ls_rename, session, 8),
    FIELD(ls_rename, sequence, 16),
    FIELD(ls_rename, attempt, 24),
    FIELD(ls_rename, text, 32),
    FIELD(ls_rename, delay, 40),
    FIELD(ls_rename, faults_max, 48),
    SIZE(ls_replay, 64),
    FIELD(ls_replay, recipe, 0),
    FIELD(ls_replay, property, 8),
    FIELD(ls_replay, scenario, 16),
    FIELD(ls_replay, choices, 24),
    FIELD(ls_replay, schedule, 32),
    FIELD(ls_replay, seed, 40),
    FIELD(ls_replay, seeded, 48),
    FIELD(ls_replay, without, 56),
    SIZE(ls_replay_result, 2104),
    FIELD(ls_replay_result, verdict, 0),
    FIELD(ls_replay_result, property, 8),
    FIELD(ls_replay_result, promise, 16),
    FIELD(ls_replay_result, step, 24),
    FIELD(ls_replay_result, steps, 32),
    FIELD(ls_replay_result, choices, 40),
    FIELD(ls_replay_result, fits, 44),
    FIELD(ls_replay_result, left_out, 48),
    FIELD(ls_replay_result, text, 52),
    SIZE(ls_mark, 32),
    FIELD(ls_mark, name, 0),
    FIELD(ls_mark, file, 8),
    FIELD(ls_mark, line, 16),
    FIELD(ls_mark, reached, 20),
    SIZE(ls_recipe, 312),
    FIELD(ls_recipe, name, 0),
    FIELD(ls_recipe, summary, 8),
    FIELD(ls_recipe, breaks, 16),
    FIELD(ls_recipe, state_size, 24),
    FIELD(ls_recipe, start, 32),
    FIELD(ls_recipe, stop, 40),
    FIELD(ls_recipe, acquire, 48),
    FIELD(ls_recipe, cancel, 56),
    FIELD(ls_recipe, release, 64),
    FIELD(ls_recipe, query, 72),
    FIELD(ls_recipe, idle, 80),
    FIELD(ls_recipe, guard, 88),
    FIELD(ls_recipe, handle, 96),
    FIELD(ls_recipe, revocable, 104),
    FIELD(ls_recipe, revoke, 112),
    FIELD(ls_recipe, canon, 120),
    FIELD(ls_recipe, symmetric, 128),
    FIELD(ls_recipe, reentrant, 129),
    FIELD(ls_recipe, states, 136),
    FIELD(ls_recipe, states_now, 144),
    FIELD(ls_recipe, marks, 152),
    FIELD(ls_recipe, ignores_children, 160),
    FIELD(ls_recipe, unread, 168),
    FIELD(ls_recipe, sets_no_data, 176),
    FIELD(ls_recipe, close, 184),
    FIELD(ls_recipe, open, 192),
    FIELD(ls_recipe, in_reports, 200),
    FIELD(ls_recipe, wrong, 208),
    FIELD(ls_recipe, multi, 216),
    FIELD(ls_recipe, kinds, 224),
    FIELD(ls_recipe, classify, 232),
    FIELD(ls_recipe, timers, 240),
    FIELD(ls_recipe, coordinator, 248),
    FIELD(ls_recipe, directories, 256),
    FIELD(ls_recipe, contender_per_unit, 264),
    FIELD(ls_recipe, queues, 265),
    FIELD(ls_recipe, acquire_all, 272),
    FIELD(ls_recipe, release_all, 280),
    FIELD(ls_recipe, set_capacity, 288),
    FIELD(ls_recipe, count, 296),
    FIELD(ls_recipe, lease_misses, 304),
    SIZE(ls_timer_row, 16),
    FIELD(ls_timer_row, name, 0),
    FIELD(ls_timer_row, role, 8),
    SIZE(ls_recipe_module, 16),
    FIELD(ls_recipe_module, interface, 0),
    FIELD(ls_recipe_module, recipe_size, 4),
    FIELD(ls_recipe_module, recipe, 8),
};

static const struct pin numbers[] = {
    NUMBER(EVENT_ASKED, 0),
    NUMBER(EVENT_GRANTED, 1),
    NUMBER(EVENT_FAILED, 2),
    NUMBER(EVENT_CANCELED, 3),
    NUMBER(EVENT_RELEASED, 4),
    NUMBER(EVENT_REFUSED, 5),
    NUMBER(EVENT_FREED, 6),
    NUMBER(EVENT_WARNED, 7),
    NUMBER(EVENT_IDLE, 8),
    NUMBER(EVENT_CONNECTED, 9),
    NUMBER(EVENT_SUSPENDED, 10),
    NUMBER(EVENT_RECONNECTED, 11),
    NUMBER(EVENT_LOST, 12),
    NUMBER(EVENT_READ_ONLY, 13),
    NUMBER(EVENT_LINK_UP, 14),
    NUMBER(EVENT_LINK_DOWN, 15),
    NUMBER(EVENT_EXPIRED, 16),
    NUMBER(EVENT_AUTH_FAILED, 17),
    NUMBER(EVENT_BELIEVES, 18),
    NUMBER(EVENT_DOUBTS, 19),
    NUMBER(EVENT_NODE_CREATED, 20),
    NUMBER(EVENT_NODE_DELETED, 21),
    NUMBER(EVENT_SESSION_OPENED, 22),
    NUMBER(EVENT_SESSION_CLOSING, 23),
    NUMBER(EVENT_SESSION_CLOSED, 24),
    NUMBER(EVENT_REQUEST, 25),
    NUMBER(EVENT_WATCH_SET, 26),
    NUMBER(EVENT_WATCH_GONE, 27),
    NUMBER(EVENT_WOKEN, 28),
    NUMBER(EVENT_EFFECT, 29),
    NUMBER(EVENT_WRITTEN, 30),
    NUMBER(EVENT_REVOKE_ASKED, 31),
    NUMBER(EVENT_REVOKE_SENT, 32),
    NUMBER(EVENT_CRASHED, 33),
    NUMBER(EVENT_RESTARTED, 34),
    NUMBER(EVENT_STOPPED, 35),
    NUMBER(EVENT_PAUSED, 36),
    NUMBER(EVENT_RESUMED, 37),
    NUMBER(EVENT_FAULT, 38),
    NUMBER(EVENT_MISBEHAVED, 39),
    NUMBER(EVENT_REST, 40),
    NUMBER(EVENT_SETTLED, 41),
    NUMBER(EVENT_LOCK_CLOSED, 42),
    NUMBER(EVENT_NODE_SET, 43),
    NUMBER(EVENT_LISTENS, 44),
    NUMBER(EVENT_REVOKES, 45),
    NUMBER(EVENT_CLOSES, 46),
    NUMBER(EVENT_LISTED, 47),
    NUMBER(EVENT_HOLD_LOST, 48),
    NUMBER(EVENT_CAPACITY, 49),
    NUMBER(EVENT_COUNT_SET, 50),
    NUMBER(EVENT_OUTAGE, 51),
    NUMBER(EVENT_OFFENCE_CRASH, 0),
    NUMBER(EVENT_OFFENCE_LOOP, 1),
    NUMBER(EVENT_OFFENCE_GLOBAL, 2),
    NUMBER(EVENT_OFFENCE_FREE, 3),
    NUMBER(EVENT_OFFENCE_LOCK, 4),
    NUMBER(EVENT_OFFENCE_KEEP, 5),
    NUMBER(EVENT_OFFENCE_RETURN, 6),
    NUMBER(EVENT_OFFENCE_BLOCK, 7),
    NUMBER(EVENT_OFFENCE_CLEAN, 8),
    NUMBER(EVENT_OFFENCE_STATE, 9),
    NUMBER(EVENT_OFFENCE_BLOCK_BOUNDS, 10),
    NUMBER(EVENT_OFFENCE_FREED, 11),
    NUMBER(EVENT_OFFENCE_STALE, 12),
    NUMBER(EVENT_OFFENCE_LENT, 13),
    NUMBER(EVENT_OFFENCE_UNSET, 14),
    NUMBER(EVENT_OFFENCE_LEAK, 15),
    NUMBER(EVENT_OFFENCE_UNLOCKED, 16),
    NUMBER(EVENT_OFFENCE_WRONG, 17),
    NUMBER(EVENT_OFFENCE_OPEN, 18),
    NUMBER(EVENT_OFFENCE_CONTENTS, 19),
    NUMBER(EVENT_OFFENCE_GUARD, 20),
    NUMBER(EVENT_OFFENCE_HANDLE, 21),
    NUMBER(EVENT_OFFENCE_REFUSAL, 22),
    NUMBER(EVENT_OFFENCES, 23),
    NUMBER(EVENT_REQUEST_CREATE, 0),
    NUMBER(EVENT_REQUEST_DELETE, 1),
    NUMBER(EVENT_REQUEST_EXISTS, 2),
    NUMBER(EVENT_REQUEST_GET, 3),
    NUMBER(EVENT_REQUEST_SET, 4),
    NUMBER(EVENT_REQUEST_CHILDREN, 5),
    NUMBER(EVENT_REQUEST_SYNC, 6),
    NUMBER(EVENT_REQUEST_MULTI, 7),
    NUMBER(EVENT_REQUEST_UNWATCH, 8),
    NUMBER(EVENT_REQUEST_OTHER, 9),
    NUMBER(EVENT_WATCH_OWN, 0),
    NUMBER(EVENT_WATCH_PREDECESSOR, 1),
    NUMBER(EVENT_WATCH_PARENT, 2),
    NUMBER(EVENT_WATCH_OTHER, 3),
    NUMBER(EVENT_WATCH_COUNT, 4),
    NUMBER(LS_PROPERTY_INTERFACE, 1),
    NUMBER(LS_PROPERTY_STATE_MAX, 4096),
    NUMBER(LS_PROPERTY_PROCESSES_MAX, 32),
    NUMBER(LS_PROPERTY_LOCKS_MAX, 4),
    NUMBER(LS_ENOMEM, -1),
    NUMBER(LS_EINVAL, -2),
    NUMBER(LS_EBUSY, -3),
    NUMBER(LS_ETIMEDOUT, -4),
    NUMBER(LS_ECANCELED, -5),
    NUMBER(LS_ENOENT, -6),
    NUMBER(LS_ENOTOWNER, -7),
    NUMBER(LS_ELOST, -8),
    NUMBER(LS_ESEQUENCE, -9),
    NUMBER(LS_ENOAUTH, -10),
    NUMBER(LS_EAUTHFAILED, -11),
    NUMBER(LS_EZK, -12),
    NUMBER(LS_ECLOSED, -13),
    NUMBER(LS_EDEADLK, -14),
    NUMBER(LS_EALREADY, -15),
    NUMBER(LS_EUNSURE, -16),
    NUMBER(LS_EGAVEUP, -17),
    NUMBER(LS_EOVERFLOW, -18),
    NUMBER(LS_EUNSUPPORTED, -19),
    NUMBER(LS_EREFUSED, -20),
    NUMBER(LS_WARN_FOREIGN_CHILD, 1),
    NUMBER(LS_WARN_LEFT_BEHIND, 2),
    NUMBER(LS_WARN_CAPACITY, 4),
    NUMBER(LS_LOG_OFF, 0),
    NUMBER(LS_LOG_ERROR, 1),
    NUMBER(LS_LOG_WARNING, 2),
    NUMBER(LS_LOG_INFO, 3),
    NUMBER(LS_LOG_DEBUG, 4),
    NUMBER(LS_RETRY_FOREVER, 0),
    NUMBER(LS_RETRY_TIMES, 1),
    NUMBER(LS_RETRY_ELAPSED, 2),
    NUMBER(LS_SESSION_CONNECTED, 1),
    NUMBER(LS_SESSION_SUSPENDED, 2),
    NUMBER(LS_SESSION_RECONNECTED, 3),
    NUMBER(LS_SESSION_LOST, 4),
    NUMBER(LS_SESSION_READ_ONLY, 5),
    NUMBER(LS_SESSION_AUTH_FAILED, 6),
    NUMBER(LS_SESSION_GAVE_UP, 7),
    NUMBER(LS_SESSION_IDLE, 8),
    NUMBER(LS_STATE_NEW, 0),
    NUMBER(LS_STATE_CONNECTING, 1),
    NUMBER(LS_STATE_CONNECTED, 2),
    NUMBER(LS_STATE_READ_ONLY, 3),
    NUMBER(LS_STATE_SUSPENDED, 4),
    NUMBER(LS_STATE_LOST, 5),
    NUMBER(LS_STATE_FAILED, 6),
    NUMBER(LS_STATE_CLOSED, 7),
    NUMBER(LS_NOT_HELD, 0),
    NUMBER(LS_HELD, 1),
    NUMBER(LS_UNKNOWN, 2),
    NUMBER(LS_REPORT_GRANTED, 0),
    NUMBER(LS_REPORT_FAILED, 1),
    NUMBER(LS_REPORT_FREED, 2),
    NUMBER(LS_REPORT_CONNECTED, 3),
    NUMBER(LS_REPORT_SUSPENDED, 4),
    NUMBER(LS_REPORT_RECONNECTED, 5),
    NUMBER(LS_REPORT_LOST, 6),
    NUMBER(LS_REPORT_READ_ONLY, 7),
    NUMBER(LS_REPORT_WARNING, 8),
    NUMBER(LS_REPORT_IDLE, 9),
    NUMBER(LS_REPORT_REVOKE, 10),
    NUMBER(LS_REPORT_ASKED, 11),
    NUMBER(LS_REPORT_HOLD_LOST, 12),
    NUMBER(LS_REPORT_CAPACITY, 13),
    NUMBER(LS_REDIS_NEW, 0),
    NUMBER(LS_REDIS_CONNECTING, 1),
    NUMBER(LS_REDIS_CONNECTED, 2),
    NUMBER(LS_REDIS_FAILED, 3),
    NUMBER(LS_REDIS_CLOSED, 4),
    NUMBER(LS_TIMER_WORK, 0),
    NUMBER(LS_TIMER_DEADLINE, 1),
    NUMBER(LS_TIMER_UPKEEP, 2),
    NUMBER(LS_TIMER_POLL, 3),
    NUMBER(LS_TIMER_RENEWAL, 4),
    NUMBER(LS_TIMER_STEP, 5),
    NUMBER(LS_TIMER_LEASE, 6),
    NUMBER(LS_TIMER_PATIENCE, 7),
    NUMBER(LS_NODE_OTHER, 0),
    NUMBER(LS_NODE_CONTENDER, 1),
    NUMBER(LS_NODE_QUEUED, 2),
    NUMBER(LS_LOCK_MUTEX, 0),
    NUMBER(LS_LOCK_SEMAPHORE, 1),
    NUMBER(LS_LOCK_READ_WRITE, 2),
    NUMBER(LS_LOCK_ELECTION, 3),
    NUMBER(LS_LOSS_ENDS, 0),
    NUMBER(LS_LOSS_WAITS, 1),
    NUMBER(LS_ELECTION_LATCH, 0),
    NUMBER(LS_ELECTION_SELECTOR, 1),
    NUMBER(LS_MODE_EXCLUSIVE, 0),
    NUMBER(LS_MODE_SHARED, 1),
};
/* clang-format on */

/* ---- comparing ---- */

static int count_differences(const struct pin *pins, size_t count)
{
    int differences = 0;
    for (size_t i = 0; i < count; i++) {
        if (pins[i].found == pins[i].pinned)
            continue;
        differences++;
        print_error("%s%s%s: %ld, pinned is %ld; see docs/stability.md\n", pins[i].owner,
                    *pins[i].owner ? "." : "", pins[i].name ? pins[i].name : "size", pins[i].found,
                    pins[i].pinned);
    }
    return differences;
}

static void structs_keep_their_layout(void **state)
{
    (void)state;
    if (sizeof(int) != 4 || sizeof(long) != 8 || sizeof(void *) != 8)
        skip();
    assert_int_equal(count_differences(layout, sizeof layout / sizeof *layout), 0);
}

static void enums_keep_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(count_differences(numbers, sizeof numbers / sizeof *numbers), 0);
}

/* ---- nothing is forgotten ---- */

static bool is_pinned(const char *type)
{
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        if (!layout[i].name && strcmp(layout[i].owner, type) == 0)
            return true;
    return false;
}

/* Counts the structs that a header defines, and asserts that each is pinned. */
static int look_into(const char *path)
{
    char line[512];
    char type[64];
    char brace;
    int structs = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "struct %63s %c", type, &brace) != 2 || brace != '{')
            continue;
        structs++;
        if (!is_pinned(type))
            fail_msg("the size of struct %s (%s) is not pinned", type, path);
    }
    fclose(file);
    return structs;
}

/* These two may change with each version. */
static bool is_of_the_simulator(const char *header)
{
    return strcmp(header, "sim.h") == 0 || strcmp(header, "fakezk.h") == 0;
}

static void every_public_struct_is_pinned(void **state)
{
    (void)state;
    char path[4096];
    const char *source = getenv("LOCKSTEP_SOURCE_DIR");
    int structs = 0;
    assert_non_null(source);
    snprintf(path, sizeof path, "%s/include/lockstep", source);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || is_of_the_simulator(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/include/lockstep/%s", source, entry->d_name);
        structs += look_into(path);
    }
    closedir(folder);
    int pinned = 0;
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++)
        pinned += !layout[i].name;
    assert_int_equal(structs, pinned);
}

static void the_version_is_the_projects(void **state)
{
    (void)state;
    assert_string_equal(ls_version(), LOCKSTEP_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_keep_their_layout),
        cmocka_unit_test(enums_keep_their_numbers),
        cmocka_unit_test(every_public_struct_is_pinned),
        cmocka_unit_test(the_version_is_the_projects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
