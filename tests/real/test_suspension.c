/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The machine is suspended while a lock is held. The monotonic clock stands still meanwhile and the server's does not:
 * afterwards nobody believes in the lock until the server has been heard. */
#include "stage.h"

static int64_t suspended_ns; /* what the two clocks differ by */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = __real_clock_gettime(clock, now);
    if (clock == CLOCK_BOOTTIME) {
        int64_t nsec = now->tv_nsec + __atomic_load_n(&suspended_ns, __ATOMIC_SEQ_CST);
        now->tv_sec += nsec / 1000000000;
        now->tv_nsec = nsec % 1000000000;
    }
    return rc;
}

static void suspend(int ms)
{
    __atomic_fetch_add(&suspended_ns, (int64_t)ms * 1000000, __ATOMIC_SEQ_CST);
}

static void a_lock_held_over_a_suspension_is_not_believed_in(void **state)
{
    (void)state;
    struct client client;
    client_open(&client, "/real/suspension", NULL);
    client_wait_state(&client, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_query(&client.mutex, client_self(&client)), LS_HELD);
    suspend(TIMEOUT_MS);
    assert_int_equal(ls_mutex_query(&client.mutex, client_self(&client)), LS_UNKNOWN);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK); /* the session has lived on, by luck */
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_query(&client.mutex, client_self(&client)), LS_HELD);
    client_close(&client);
}

/* Timers go by the time that the machine was awake. */
static void a_deadline_does_not_come_early(void **state)
{
    (void)state;
    enum { DEADLINE_MS = 200 };
    struct client client, holder;
    struct caller caller;
    client_open(&holder, "/real/suspension/deadline", NULL);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, PATIENCE_MS), LS_OK);
    client_open(&client, "/real/suspension/deadline", NULL);
    client_wait_state(&client, LS_STATE_CONNECTED);
    int64_t start_ms = now_ms();
    caller_start(&caller, &client, DEADLINE_MS, caller_acquire);
    pause_ms(DEADLINE_MS / 4);
    suspend(3600000);
    assert_int_equal(caller_join(&caller), LS_ETIMEDOUT);
    assert_in_range(now_ms() - start_ms, DEADLINE_MS, PATIENCE_MS);
    client_close(&client);
    client_close(&holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_held_over_a_suspension_is_not_believed_in),
        cmocka_unit_test(a_deadline_does_not_come_early),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
