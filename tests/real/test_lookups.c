/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When the client looks up its servers' names: whenever it connects, and not while a connection stands. A slow name server
 * then delays neither a request nor a ping. */
#include "stage.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>

static atomic_int lookups;
static atomic_int failures; /* that many fail as when no name server answers */

/* Stands before the C library's, for the client library too. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    union {
        void *symbol;
        int (*call)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    } next = {.symbol = dlsym(RTLD_NEXT, "getaddrinfo")};
    atomic_fetch_add(&lookups, 1);
    if (atomic_load(&failures) > 0) {
        atomic_fetch_sub(&failures, 1);
        return EAI_AGAIN;
    }
    return next.call(name, service, hints, list);
}

static void take_locks(struct client *client, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(ls_mutex_acquire(&client->mutex, PATIENCE_MS), LS_OK);
        assert_int_equal(ls_mutex_release(&client->mutex), LS_OK);
    }
}

static void test_names_are_looked_up_to_connect_only(void **state)
{
    (void)state;
    struct client client;
    client_open(&client, "/real/lookups", NULL);
    take_locks(&client, 1);
    int to_connect = atomic_load(&lookups);
    assert_true(to_connect > 0);
    take_locks(&client, 50);
    assert_int_equal(atomic_load(&lookups), to_connect);
    client_close(&client);
}

static void test_names_are_looked_up_to_connect_again(void **state)
{
    (void)state;
    struct client client;
    client_open(&client, "/real/lookups", NULL);
    take_locks(&client, 1);
    int before = atomic_load(&lookups);
    signal_server(SIGSTOP);
    bool suspended = false;
    for (int i = 0; i < PATIENCE_MS / 2 && !suspended; i++, pause_ms(2))
        suspended = ls_session_state(&client.session) != LS_STATE_CONNECTED;
    signal_server(SIGCONT);
    assert_true(suspended);
    client_wait_state(&client, LS_STATE_CONNECTED);
    assert_true(atomic_load(&lookups) > before);
    client_close(&client);
}

static void test_a_name_server_that_does_not_answer_is_no_mistake_of_the_caller(void **state)
{
    (void)state;
    struct client client;
    client_init(&client, server(), "/real/lookups", NULL);
    atomic_store(&failures, 1);
    assert_int_equal(ls_session_start(&client.session), LS_EZK);
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    take_locks(&client, 1);
    client_close(&client);
}

static void test_the_longest_timeout_connects(void **state)
{
    (void)state;
    struct client client;
    assert_int_equal(ls_env_pthread_open(&client.env), LS_OK);
    assert_int_equal(ls_session_init(&client.session, client.env, server(), LS_SESSION_TIMEOUT_MS_MAX, NULL),
                     LS_OK);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/real/lookups", NULL), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    take_locks(&client, 1);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_looked_up_to_connect_only),
        cmocka_unit_test(test_names_are_looked_up_to_connect_again),
        cmocka_unit_test(test_a_name_server_that_does_not_answer_is_no_mistake_of_the_caller),
        cmocka_unit_test(test_the_longest_timeout_connects),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
