/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The timeout that is asked for and the one that is granted: each new handle asks for what the user wanted, and not for
 * what the last server made of it. */
#include "stage.h"

enum { HANDLES_MAX = 8, GRANTED_MAX_MS = 4000 }; /* the servers grant at most 20 ticks of 200 ms */

static int asked_ms[HANDLES_MAX];
static int handles;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
zhandle_t *__real_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags);
zhandle_t *__wrap_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags);
int __real_zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms);
int __wrap_zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms);
/* NOLINTEND(bugprone-reserved-identifier) */

zhandle_t *__wrap_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags)
{
    assert_true(handles < HANDLES_MAX);
    asked_ms[handles++] = recv_timeout;
    return __real_zookeeper_init(host, fn, recv_timeout, clientid, context, flags);
}

static int
    resolved; /* handles that look their servers' names up whenever they connect, and at no other time */

int __wrap_zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms)
{
    resolved += delay_ms == -1;
    return __real_zoo_set_servers_resolution_delay(zh, delay_ms);
}

static int timeout_ms;

static void read_timeout(struct probe *probe)
{
    timeout_ms = ls_session_timeout_ms(&probe->session);
}

static void assert_timeout(int expected_ms)
{
    stage_job(0, read_timeout);
    assert_int_equal(timeout_ms, expected_ms);
}

static void each_handle_asks_for_what_the_user_wanted(void **state)
{
    (void)state;
    handles = 0;
    resolved = 0;
    stage_set(1);
    stage.options.session_timeout_ms = 60000;
    stage_open();
    assert_timeout(60000);
    play("settle");
    assert_timeout(GRANTED_MAX_MS);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    assert_timeout(GRANTED_MAX_MS); /* the session may live */
    play("settle");
    for (int i = 1; i <= 3; i++) {
        play("cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1",
             "deliver a session-connecting", "deliver a session-expired");
        assert_timeout(60000);
        play("settle");
        assert_timeout(GRANTED_MAX_MS);
        assert_int_equal(handles, i + 1);
        assert_int_equal(asked_ms[i], 60000);
    }
    assert_int_equal(asked_ms[0], 60000);
    assert_int_equal(resolved, handles);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_handle_asks_for_what_the_user_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
