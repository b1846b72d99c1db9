/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Closing a session and its mutexes in every state, on a real server: it returns, everybody who waits has an
 * answer, and no node is left that a connected client could have removed. */
#include "stage.h"

static const struct ls_mutex_ops count_ops = {.on_participants = on_participants};
static const struct ls_mutex_options count_options = {.ops = &count_ops};

/* Closes, and is not needed twice. Afterwards every call is refused. */
static void close_for_good(struct client *client)
{
    uint64_t self = client_self(client);
    assert_int_equal(ls_session_close(&client->session), LS_OK);
    assert_int_equal(ls_session_state(&client->session), LS_STATE_CLOSED);
    assert_int_equal(ls_session_close(&client->session), LS_OK);
    assert_int_equal(ls_session_start(&client->session), LS_EINVAL);
    assert_int_equal(ls_mutex_acquire(&client->mutex, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_query(&client->mutex, self), LS_NOT_HELD);
    assert_int_equal(ls_mutex_close(&client->mutex), LS_OK);
    assert_int_equal(ls_mutex_close(&client->mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&client->mutex, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_release(&client->mutex), LS_ECLOSED);
    assert_false(ls_mutex_held_by_me(&client->mutex));
    ls_env_pthread_close(client->env);
}

static void test_new(void **state)
{
    (void)state;
    struct client client;
    client_init(&client, server(), "/real/close/new", NULL);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_ECLOSED);
    close_for_good(&client);
}

/* Nobody listens on port 1 of the loopback. */
static void test_connecting(void **state)
{
    (void)state;
    struct client client;
    struct caller waiter;
    client_init(&client, "127.0.0.1:1", "/real/close/connecting", NULL);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_EINVAL);
    assert_int_equal(ls_mutex_try(&client.mutex), LS_EBUSY);
    assert_int_equal(ls_mutex_acquire(&client.mutex, 50), LS_ETIMEDOUT);
    caller_start(&waiter, &client, -1, caller_acquire);
    pause_ms(20); /* whether it waits already or comes too late, the answer is the same */
    assert_int_equal(ls_session_close(&client.session), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_ECLOSED);
    close_for_good(&client);
}

static void test_connected(void **state)
{
    (void)state;
    struct client client;
    client_open(&client, "/real/close/connected", NULL);
    client_wait_state(&client, LS_STATE_CONNECTED);
    close_for_good(&client);
}

/* Closing the session frees what is held: the next one need not wait for an expiry. */
static void test_session_of_a_holder(void **state)
{
    (void)state;
    struct client client, other;
    struct caller waiter;
    client_open(&client, "/real/close/holder", NULL);
    client_open(&other, "/real/close/holder", &count_options);
    client_wait_state(&other, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    caller_start(&waiter, &client, -1, caller_acquire);
    WAIT_UNTIL(count_participants(&other) == 2);
    assert_int_equal(ls_session_close(&client.session), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_ECLOSED);
    assert_int_equal(ls_mutex_acquire(&other.mutex, TIMEOUT_MS / 2), LS_OK);
    close_for_good(&client);
    client_close(&other);
}

/* Closing the mutex gives back what is held while the session goes on. */
static void test_mutex_of_a_holder(void **state)
{
    (void)state;
    struct client client, other;
    struct caller waiter;
    client_open(&client, "/real/close/mutex", NULL);
    client_open(&other, "/real/close/mutex", &count_options);
    client_wait_state(&other, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    caller_start(&waiter, &client, -1, caller_acquire);
    WAIT_UNTIL(count_participants(&other) == 2);
    assert_int_equal(ls_mutex_close(&client.mutex), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_ECLOSED);
    WAIT_UNTIL(ls_session_idle(&client.session));
    assert_int_equal(count_participants(&other), 0);
    assert_int_equal(ls_session_state(&client.session), LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/real/close/mutex", NULL), LS_OK);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
    client_close(&other);
}

/* The server stands still: nothing can be removed, and nobody waits for that. */
static void test_suspended(void **state)
{
    (void)state;
    struct client client;
    struct caller waiter;
    client_open(&client, "/real/close/suspended", NULL);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    signal_server(SIGSTOP);
    caller_start(&waiter, &client, -1, caller_acquire);
    bool suspended = false;
    for (int i = 0; i < 3000 && !suspended; i++, pause_ms(2))
        suspended = ls_session_state(&client.session) == LS_STATE_SUSPENDED;
    int64_t start_ms = now_ms();
    int rc = ls_session_close(&client.session);
    int64_t took_ms = now_ms() - start_ms;
    signal_server(SIGCONT);
    assert_true(suspended);
    assert_int_equal(rc, LS_OK);
    assert_in_range(took_ms, 0, 6000);
    assert_int_equal(caller_join(&waiter), LS_ECLOSED);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ELOST);
    close_for_good(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_connecting),
        cmocka_unit_test(test_connected),
        cmocka_unit_test(test_session_of_a_holder),
        cmocka_unit_test(test_mutex_of_a_holder),
        cmocka_unit_test(test_suspended),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
