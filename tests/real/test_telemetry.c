/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The log and the counters on a real server, with threads that lock at once: lines come one at a time, and the counters
 * add up. */
#include "stage.h"

enum { THREADS = 4, ROUNDS = 15 };

/* Plain numbers: that no two calls overlap is what the thread sanitizer is asked about. */
struct seen {
    int lines;
    int inside;
    int overlaps;
    int grants;
    int severe;
};

static void on_line(struct ls_log *log, enum ls_log_level level, const char *text)
{
    struct seen *seen = log->user;
    seen->overlaps += seen->inside++ > 0;
    seen->lines++;
    seen->grants += strstr(text, "has got the lock") != NULL;
    seen->severe += level <= LS_LOG_WARNING;
    seen->inside--;
}

static void *lock_and_unlock(void *context)
{
    struct client *client = context;
    for (int round = 0; round < ROUNDS; round++) {
        if (ls_mutex_acquire(&client->mutex, -1) || ls_mutex_release(&client->mutex))
            return client;
    }
    return NULL;
}

static void test_threads_of_one_session(void **state)
{
    (void)state;
    struct seen seen = {.lines = 0};
    struct ls_log log = {.write = on_line, .level = LS_LOG_DEBUG, .user = &seen};
    struct ls_session_counters of_session = {.losses = 0};
    struct ls_mutex_counters of_mutex = {.losses = 0};
    struct ls_session_options options = {.log = &log, .counters = &of_session};
    struct ls_mutex_options mutex_options = {.counters = &of_mutex};
    struct ls_session_counters session;
    struct ls_mutex_counters mutex;
    struct client client;
    pthread_t threads[THREADS];
    assert_int_equal(ls_env_pthread_open(&client.env), LS_OK);
    assert_int_equal(ls_session_init(&client.session, client.env, server(), TIMEOUT_MS, &options), LS_OK);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/telemetry", &mutex_options), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, lock_and_unlock, &client), 0);
    assert_int_equal(ls_mutex_counters(&client.mutex, &mutex), LS_OK); /* in the midst of it */
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(ls_session_counters(&client.session, &session), LS_OK);
    assert_int_equal(ls_mutex_counters(&client.mutex, &mutex), LS_OK);
    client_close(&client);
    assert_int_equal(mutex.acquires, THREADS * ROUNDS);
    assert_int_equal(mutex.grants, THREADS * ROUNDS);
    assert_int_equal(mutex.releases, THREADS * ROUNDS);
    assert_int_equal(mutex.failures + mutex.losses + mutex.ambiguous, 0);
    assert_true(mutex.waits > 0 && mutex.wakeups > 0);
    assert_in_range(mutex.handovers, 1, mutex.wakeups);
    assert_in_range(mutex.handover_ms, mutex.handover_ms_max, mutex.handovers * mutex.handover_ms_max);
    assert_int_equal(session.connections, 1);
    assert_int_equal(session.locks.grants, mutex.grants);
    assert_int_equal(seen.overlaps + seen.severe, 0);
    assert_int_equal(seen.grants, THREADS * ROUNDS);
    assert_true(seen.lines > 2 * THREADS * ROUNDS);
}

int main(void)
{
    zoo_set_debug_level(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_of_one_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
