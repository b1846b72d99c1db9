/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The log and the counters: what is told at which level, what is counted, and that neither is there unasked. */
#include "lock/claim.h"
#include "lock/telemetry.h"
#include "stage.h"
#include "support/handles.h"

#include <ctype.h>

/* ---- a log that writes beside what the callbacks tell, its numbers in hexadecimal left out ---- */

static void write_line(struct ls_log *log, enum ls_log_level level, const char *text)
{
    char line[LS_LOG_LINE_SIZE];
    size_t size = 0;
    assert_non_null(log->user);
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "0x", 2) == 0)
            for (at++; isxdigit((unsigned char)at[1]); at++) {
            }
        else
            line[size++] = *at;
    }
    line[size] = 0;
    stage_add(stage.told, "%c %s", "-EWID"[level], line);
}

static struct ls_log the_log;
static struct ls_session_counters of_session;
static struct ls_mutex_counters of_mutex;

static void watched(int processes, enum ls_log_level level)
{
    stage_set(processes);
    stage.options.used_directory = true;
    the_log = (struct ls_log){.write = write_line, .level = level, .user = &the_log};
    of_session = (struct ls_session_counters){0};
    of_mutex = (struct ls_mutex_counters){0};
    stage.session.log = &the_log;
    stage.session.counters = &of_session;
    stage.mutex.counters = &of_mutex;
}

/* ---- the log ---- */

static void listen_now(struct probe *probe)
{
    assert_int_equal(ls_mutex_make_revocable(&probe->mutex[0]), LS_OK);
    told("I /locks/x: owner 1 cannot hear whether it is asked to give the lock back (-9)");
}

static void a_call_writes_the_lines_that_it_gives_rise_to(void **state)
{
    (void)state;
    watched(1, LS_LOG_INFO);
    stage_ready();
    play("a acquire", "settle", "cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1");
    stage_forget();
    stage_job(0, listen_now);
    stage_end();
}

static void a_handle_that_cannot_be_opened_is_logged(void **state)
{
    (void)state;
    watched(1, LS_LOG_WARNING);
    stage_ready();
    handles_unopened = 1;
    play("expire a", "settle");
    assert_non_null(strstr(stage.told, "W no handle could be opened: ZooKeeper refused"));
    stage_end();
}

static void a_life_is_logged_before_it_is_told(void **state)
{
    (void)state;
    watched(2, LS_LOG_DEBUG);
    stage_open();
    play("connect a s1", "settle");
    told("I session  connected; a connected; I session  connected; b connected");
    play("a acquire", "settle", "b acquire", "settle");
    told("D /locks/x: owner 1 has got the lock, token ; a granted; D /locks/x: owner 1 waits");
    play("a release", "settle");
    told("D /locks/x: owner 1 gives the lock back; a freed; D /locks/x: owner 1 has got the lock, token ; b "
         "granted");
    play("expire b", "settle");
    told("W session  suspended: the link is gone; b suspended; W session  lost: the session is dead; W "
         "/locks/x: owner "
         "1 has lost the lock with its session; b lost; I session  connected; b connected");
    play("b release");
    told("b refused ELOST");
    stage_end();
}

static void what_is_less_severe_than_the_level_is_not_logged(void **state)
{
    (void)state;
    watched(1, LS_LOG_WARNING);
    stage_open();
    play("settle", "cut a keep=0 apply=0 rc=-4", "settle");
    told("a connected; W session  suspended: the link is gone; a suspended; a reconnected");
    stage_end();
    watched(1, LS_LOG_OFF);
    stage_open();
    play("settle", "cut a keep=0 apply=0 rc=-4", "settle");
    told("a connected; a suspended; a reconnected");
    assert_int_equal(of_session.suspensions, 1); /* it is counted all the same */
    stage_end();
}

static void lost_answers_and_refusals_are_logged(void **state)
{
    (void)state;
    watched(1, LS_LOG_INFO);
    stage_ready();
    play("a acquire", "apply s1 a create", "cut a keep=0 apply=1 rc=-4", "settle");
    told("W session  suspended: the link is gone; a suspended; I /locks/x: the answer to a create was lost "
         "(-4); I "
         "session  reconnected; a reconnected; a granted");
    assert_int_equal(of_mutex.ambiguous, 1);
    play("a release", "apply s1 a delete", "cut a keep=0 apply=0 rc=-4", "settle");
    assert_non_null(strstr(stage.told, "I /locks/x: the answer to a delete was lost (-4)"));
    assert_int_equal(of_mutex.ambiguous, 2);
    stage_end();
    watched(1, LS_LOG_INFO);
    stage.options.used_directory = false;
    stage_ready();
    play("create /locks/x perms=4", "create /locks/x/other", "a acquire",
         "settle"); /* create only: no list, no delete */
    told("E /locks/x: owner 1 has not got the lock: no permission on a node (-102); a failed "
         "ENOAUTH; W "
         "/locks/x: a contender node could not be removed; it stays until the session ends (-102); a warned "
         "left-behind; a idle");
    play("remove /locks/x/other");
    stage.nodes = 0;
    stage_end();
}

static void a_foreign_child_is_logged_once(void **state)
{
    (void)state;
    watched(1, LS_LOG_WARNING);
    stage.options.used_directory = false;
    stage_ready();
    play("create /locks/x", "create /locks/x/!", "a acquire", "settle", "a release", "settle");
    told("W /locks/x: the lock's parent has a child that is no contender: Curator would wait for it, or it "
         "is of "
         "another kind of lock; a warned foreign-child; a granted; a freed");
    play("a acquire", "settle", "a release", "settle");
    told("a granted; a freed");
    stage_end();
}

/* ---- the bounds of a log ---- */

static void put_down_too_much(struct probe *probe)
{
    struct ls_session *session = &probe->session;
    ls_env_lock(session->env);
    for (int i = 0; i < LS_LOG_LINES + 3; i++)
        lock_telemetry_log(session, LS_LOG_INFO, "line %d", i);
    ls_env_unlock(session->env);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 9), LS_ENOENT); /* ends like every entry */
}

static void lines_beyond_the_bound_are_counted(void **state)
{
    (void)state;
    watched(1, LS_LOG_INFO);
    stage_ready();
    for (int round = 0; round < 2; round++) {
        stage_job(0, put_down_too_much);
        assert_non_null(strstr(stage.told, "I line 0; I line 1; "));
        assert_non_null(strstr(stage.told, "I line 31; E 3 lines of this log were dropped"));
        assert_null(strstr(stage.told, "line 32"));
        stage_forget();
    }
    stage_end();
}

static void put_down_a_long_line(struct probe *probe)
{
    char text[2 * LS_LOG_LINE_SIZE];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    ls_env_lock(probe->session.env);
    lock_telemetry_log(&probe->session, LS_LOG_INFO, "%s", text);
    ls_env_unlock(probe->session.env);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 9), LS_ENOENT);
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    watched(1, LS_LOG_INFO);
    stage_ready();
    stage_job(0, put_down_a_long_line);
    assert_int_equal(strlen(stage.told), LS_LOG_LINE_SIZE - 1 + 2);
    stage_forget();
    stage_end();
}

/* ---- what a log may call ---- */

static int calls;

static void call_back_in(struct ls_log *log, enum ls_log_level level, const char *text)
{
    struct probe *probe = stage_probe(0);
    (void)log;
    (void)text;
    assert_int_equal(level, LS_LOG_WARNING);
    calls++;
    assert_int_equal(ls_session_state(&probe->session), LS_STATE_SUSPENDED); /* takes the mutex */
    assert_int_equal(ls_mutex_try(&probe->mutex[0]), LS_EDEADLK);
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 1, -1), LS_OK);
}

static void a_log_may_call_what_does_not_block(void **state)
{
    (void)state;
    watched(1, LS_LOG_WARNING);
    the_log.write = call_back_in;
    calls = 0;
    stage_ready();
    play("cut a keep=0 apply=0 rc=-4", "settle");
    assert_int_equal(calls, 1);
    told("a suspended; a reconnected; a granted");
    play("a release");
    stage_end();
}

/* ---- counters ---- */

static void expect_counters(uint64_t acquires, uint64_t grants, uint64_t failures, uint64_t waits,
                            uint64_t wakeups, uint64_t releases, uint64_t losses)
{
    assert_int_equal(of_mutex.acquires, acquires);
    assert_int_equal(of_mutex.grants, grants);
    assert_int_equal(of_mutex.failures, failures);
    assert_int_equal(of_mutex.waits, waits);
    assert_int_equal(of_mutex.wakeups, wakeups);
    assert_int_equal(of_mutex.releases, releases);
    assert_int_equal(of_mutex.losses, losses);
    /* There is one mutex per session, so both have counted the same, who is timed included. */
    assert_memory_equal(&of_session.locks, &of_mutex, sizeof of_mutex);
}

static void locks_are_counted(void **state)
{
    (void)state;
    watched(2, LS_LOG_OFF);
    stage_ready();
    play("a acquire", "settle", "a acquire", "settle"); /* the second one is a re-entry */
    expect_counters(1, 1, 0, 0, 0, 0, 0);
    play("b acquire timeout=0", "settle");
    expect_counters(2, 1, 1, 0, 0, 0, 0);
    play("b acquire", "settle");
    expect_counters(3, 1, 1, 1, 0, 0, 0);
    play("a release", "settle");
    expect_counters(3, 1, 1, 1, 0, 0, 0);
    play("a release", "settle");
    expect_counters(3, 2, 1, 1, 1, 1, 0);
    play("expire b", "settle");
    expect_counters(3, 2, 1, 1, 1, 1, 1);
    assert_int_equal(of_session.connections, 3);
    assert_int_equal(of_session.suspensions, 1);
    assert_int_equal(of_session.reconnections, 0);
    assert_int_equal(of_session.losses, 1);
    play("b release", "a acquire", "cut a keep=0 apply=0 rc=-4", "settle", "a release", "settle");
    assert_int_equal(of_session.reconnections, 1);
    assert_int_equal(of_session.locks.ambiguous, 1);
    assert_int_equal(of_mutex.ambiguous, 1);
    stage_end();
}

/* In a timed world each way takes 5 to 10 ms: the new list goes there and back. */
static void hand_overs_are_timed_from_wake_up_to_grant(void **state)
{
    (void)state;
    watched(3, LS_LOG_OFF);
    stage.options.timed = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "c acquire", "settle");
    assert_int_equal(of_mutex.handovers, 0);
    play("a release", "settle");
    assert_int_equal(of_mutex.handovers, 1);
    assert_int_equal(of_mutex.handover_ms, of_mutex.handover_ms_max);
    uint64_t once_ms = of_mutex.handover_ms;
    assert_in_range(once_ms, 2, 100);
    play("b release", "settle");
    assert_int_equal(of_mutex.handovers, 2);
    assert_int_equal(of_mutex.handover_ms, 2 * once_ms);
    assert_int_equal(of_mutex.handover_ms_max, once_ms);
    assert_int_equal(of_session.locks.handovers, 2);
    assert_null(of_mutex.awake);
    play("c release", "settle");
    stage_end();
}

/* c is woken because b, which it waited for, has given up; now it waits behind a. */
static void a_wake_up_without_a_grant_is_no_hand_over(void **state)
{
    (void)state;
    watched(3, LS_LOG_OFF);
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "c acquire", "settle", "b cancel", "settle");
    assert_int_equal(of_mutex.wakeups, 1);
    assert_int_equal(of_mutex.waits, 3); /* c again, behind a */
    assert_int_equal(of_mutex.handovers, 0);
    assert_null(of_mutex.awake);
    play("a release", "settle");
    assert_int_equal(of_mutex.handovers, 1);
    play("c release", "settle");
    stage_end();
}

/* There is no memory for the name of the predecessor. */
static void back_offs_are_counted_and_logged(void **state)
{
    (void)state;
    watched(2, LS_LOG_INFO);
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "fail-alloc b n=1",
         "deliver b create-reply", "deliver b list-reply");
    told("a granted; I tried again in 100 ms, failed 1 times in a row");
    assert_int_equal(of_mutex.retries, 1);
    assert_int_equal(of_session.locks.retries, 1);
    play("settle", "b cancel", "a release");
    stage_end();
}

/* ---- revocation ---- */

static void make_revocable(struct probe *probe)
{
    assert_int_equal(ls_mutex_make_revocable(&probe->mutex[0]), LS_OK);
}

static void on_answer(struct ls_session *session, void *user, int rc)
{
    (void)user;
    stage_add(stage.told, "%s got %s", stage.options.name[session->env->process], stage_err(rc));
}

static void request(struct probe *probe)
{
    assert_int_equal(
        ls_mutex_request_revoke_start(&probe->session, "/locks/x/lock-0000000001", on_answer, NULL), LS_OK);
}

static void request_first(struct probe *probe)
{
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, NULL), LS_OK);
}

static void expect_revocations(uint64_t requests, uint64_t failures, uint64_t revocations, uint64_t misses)
{
    assert_int_equal(of_session.revoke_requests, requests);
    assert_int_equal(of_session.revoke_failures, failures);
    assert_int_equal(of_mutex.revocations, revocations);
    assert_int_equal(of_mutex.revoke_misses, misses);
    assert_memory_equal(&of_session.locks, &of_mutex, sizeof of_mutex);
}

static void release_and_forget(struct probe *probe)
{
    ls_env_lock(probe->session.env); /* as when another thread is calling callbacks */
    lock_queue_note(probe->session.claims, LOCK_NOTE_REVOKE);
    ls_env_unlock(probe->session.env);
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 1), LS_OK);
}

/* The path of the contender's node has a random id in it, which is cut out. */
static void told_without_ids(const char *expected)
{
    char text[STAGE_TEXT];
    size_t size = 0;
    for (const char *at = stage.told; *at;) {
        const char *id = strncmp(at, "/_c_", 4) == 0 ? strchr(at, ':') : NULL;
        if (id)
            at = id;
        else
            text[size++] = *at++;
    }
    text[size] = 0;
    stage_expect(__FILE__, __LINE__, text, expected);
    stage_forget();
}

static void requests_are_counted_and_logged(void **state)
{
    (void)state;
    watched(2, LS_LOG_DEBUG);
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    stage_forget();
    stage_job(1, request_first);
    play("settle");
    told_without_ids(
        "D /locks/x: asked to give the lock back; D /locks/x: owner 1 is asked to give the lock back; "
        "a asked; b got ok");
    expect_revocations(1, 0, 1, 0);
    stage_job(0, release_and_forget); /* nobody was told of this one */
    play("settle");
    expect_revocations(1, 0, 1, 0);
    stage_end();
}

static void requests_that_fail_are_counted_and_logged(void **state)
{
    (void)state;
    watched(2, LS_LOG_INFO);
    stage_ready();
    play("a acquire", "settle");
    stage_forget();
    stage_job(1, request);
    play("settle");
    told("b got ENOENT"); /* too late is no news */
    expect_revocations(1, 1, 0, 0);
    stage_job(1, request_first);
    play("cut b keep=0 apply=0 rc=-4", "settle");
    told("W session  suspended: the link is gone; b suspended; I a request to give a lock back failed: "
         "its answer was lost (-4); b got EUNSURE; I session  reconnected; b reconnected");
    expect_revocations(2, 2, 0, 0);
    stage_job(1, request_first);
    play("b stop"); /* answered by the close */
    told("I a request to give a lock back failed: its answer was lost (-116); b got EUNSURE");
    expect_revocations(3, 3, 0, 0);
    stage_end();
}

/* The lock is held, and the read of its node is under way. */
static void begin_to_listen(void)
{
    watched(1, LS_LOG_INFO);
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply");
    told("a granted");
}

static void reads_that_fail_are_counted_and_logged(void **state)
{
    (void)state;
    char line[FAKEZK_PATH_MAX + 8];
    begin_to_listen();
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("W session  suspended: the link is gone; a suspended; I /locks/x: owner 1 cannot hear whether it is "
         "asked to give the lock back (-4); I session  reconnected; a reconnected");
    expect_revocations(0, 0, 0, 1);
    stage_end();
    begin_to_listen();
    snprintf(line, sizeof line, "remove %s", stage.node[0]);
    play(line, "settle");
    told("W /locks/x: owner 1 cannot hear whether it is asked to give the lock back (-101); W /locks/x: "
         "owner 1 has "
         "lost the lock with its node; a warned node-gone");
    expect_revocations(0, 0, 0, 1);
    stage_end();
}

static void a_node_that_may_not_be_read_is_an_error(void **state)
{
    (void)state;
    struct ACL acl = {.perms = ZOO_PERM_DELETE, .id = ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector delete_only = {.count = 1, .data = &acl};
    watched(1, LS_LOG_ERROR);
    stage.mutex.acl = &delete_only;
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    told("a granted; E /locks/x: owner 1 cannot hear whether it is asked to give the lock back (-102)");
    expect_revocations(0, 0, 0, 1);
    stage_end();
}

static void a_read_under_a_release_is_no_miss(void **state)
{
    (void)state;
    watched(1, LS_LOG_INFO);
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply", "a release", "cut a keep=0 apply=0 rc=-4", "settle");
    assert_null(strstr(stage.told, "hear"));
    expect_revocations(0, 0, 0, 0);
    stage_end();
}

/* ---- asked for, or not ---- */

static void read_counters(struct probe *probe)
{
    struct ls_session_counters session;
    struct ls_mutex_counters mutex;
    bool asked_for = stage.session.counters;
    assert_int_equal(ls_session_counters(&probe->session, &session), asked_for ? LS_OK : LS_EINVAL);
    assert_int_equal(ls_mutex_counters(&probe->mutex[0], &mutex), asked_for ? LS_OK : LS_EINVAL);
    if (!asked_for)
        return;
    assert_int_equal(session.connections, 2);
    assert_int_equal(session.locks.wakeups, 1);
    assert_int_equal(mutex.wakeups, 1);
    /* What is private stays where it is. */
    assert_non_null(of_mutex.awake);
    assert_null(mutex.awake);
    assert_null(session.locks.awake);
    assert_true(of_mutex.awoken.opaque && of_session.locks.awoken.opaque);
    assert_false(mutex.awoken.opaque || session.locks.awoken.opaque);
}

static void counters_are_copied(void **state)
{
    (void)state;
    watched(2, LS_LOG_OFF);
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "a release", "apply s1 a delete",
         "deliver b deleted(node of a)");
    stage_job(1, read_counters);
    play("settle", "b release");
    stage_end();
}

static void nothing_is_counted_unasked(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage_job(0, read_counters);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_writes_the_lines_that_it_gives_rise_to),
        cmocka_unit_test(a_handle_that_cannot_be_opened_is_logged),
        cmocka_unit_test(a_life_is_logged_before_it_is_told),
        cmocka_unit_test(what_is_less_severe_than_the_level_is_not_logged),
        cmocka_unit_test(lost_answers_and_refusals_are_logged),
        cmocka_unit_test(a_foreign_child_is_logged_once),
        cmocka_unit_test(lines_beyond_the_bound_are_counted),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(a_log_may_call_what_does_not_block),
        cmocka_unit_test(locks_are_counted),
        cmocka_unit_test(hand_overs_are_timed_from_wake_up_to_grant),
        cmocka_unit_test(a_wake_up_without_a_grant_is_no_hand_over),
        cmocka_unit_test(back_offs_are_counted_and_logged),
        cmocka_unit_test(requests_are_counted_and_logged),
        cmocka_unit_test(requests_that_fail_are_counted_and_logged),
        cmocka_unit_test(reads_that_fail_are_counted_and_logged),
        cmocka_unit_test(a_node_that_may_not_be_read_is_an_error),
        cmocka_unit_test(a_read_under_a_release_is_no_miss),
        cmocka_unit_test(counters_are_copied),
        cmocka_unit_test(nothing_is_counted_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
