/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex of liblockstep_redis on a real server: what its header says. */
#include "one_server.h"

#include <pthread.h>

/* ---- what a caller sees ---- */

static void takes_and_gives(void **state)
{
    (void)state;
    struct client a, b;
    open_client(&a, &the_server);
    open_client(&b, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    int64_t first = ls_redis_mutex_token_by_me(&a.mutex);
    assert_true(first > 0);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_HELD);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, 0), LS_OK);
    assert_int_equal(ls_redis_mutex_depth(&a.mutex, ls_env_self(a.env)), 2);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_EBUSY);
    long before = now_ms();
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, 100), LS_ETIMEDOUT);
    assert_in_range(now_ms() - before, 100, 1000);
    assert_int_equal(ls_redis_mutex_release(&b.mutex), LS_ENOTOWNER);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_EBUSY);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_try(&b.mutex), LS_OK);
    assert_true(ls_redis_mutex_token_by_me(&b.mutex) > first);
    assert_int_equal(ls_redis_mutex_release(&b.mutex), LS_OK);
    assert_int_equal(server_command(&the_server, "EXISTS job"), 0);
    close_client(&a);
    close_client(&b);
}

/* A hold outlives many leases, and ends with its release. */
static void is_renewed(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    for (int i = 0; i < 20; i++) {
        sleep_ms(LEASE_MS / 4);
        assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_HELD);
        assert_in_range(ls_redis_mutex_belief_left_ms(&a.mutex, ls_env_self(a.env)), 1, LEASE_MS);
        assert_in_range(server_command(&the_server, "PTTL job"), 1, LEASE_MS);
    }
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(a.told.lost, 0);
    close_client(&a);
}

/* A message wakes who waits: long before the lease or a poll. */
static void is_woken(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a, b;
    open_with(&a, the_server.hosts, &usual);
    open_with(&b, the_server.hosts, &usual);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 7, -1), LS_OK);
    WAIT_UNTIL(server_command(&the_server, "PUBLISH job:free x") == 1);
    sleep_ms(50);
    assert_int_equal(count(&b.told.done), 0);
    long before = now_ms();
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 1);
    assert_in_range(now_ms() - before, 0, 1000);
    assert_int_equal(b.told.done_rc, LS_OK);
    assert_int_equal(ls_redis_mutex_query(&b.mutex, 7), LS_HELD);
    assert_int_equal(ls_redis_mutex_release_start(&b.mutex, 7), LS_OK);
    WAIT_UNTIL(count(&b.told.freed) == 1);
    assert_int_equal(b.told.freed_rc, LS_OK);
    close_client(&a);
    close_client(&b);
}

/* A key that somebody deletes is told as lost, once, and each level of the hold is answered so. */
static void loss_is_told(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    int64_t token = ls_redis_mutex_token_by_me(&a.mutex);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    WAIT_UNTIL(count(&a.told.lost) == 1);
    assert_int_equal(a.told.lost_token, token);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ENOTOWNER);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    close_client(&a);
}

/* Without a server the belief ends before the lease, and the hold is told as lost. */
static void server_is_silent(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    kill(the_server.pid, SIGSTOP);
    long before = now_ms();
    while (count(&a.told.lost) == 0 && now_ms() < before + 4L * LEASE_MS) {
        sleep_ms(2);
    }
    long told_after = now_ms() - before;
    enum ls_belief belief = ls_redis_mutex_query_by_me(&a.mutex);
    int asked_meanwhile = ls_redis_mutex_acquire(&a.mutex, 100);
    kill(the_server.pid, SIGCONT); /* before anything is judged: the next tests need the server */
    assert_in_range(told_after, LEASE_MS / 2, LEASE_MS);
    assert_int_equal(belief, LS_NOT_HELD);
    assert_int_equal(asked_meanwhile, LS_ETIMEDOUT);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    close_client(&a);
}

/* A server that starts anew has no key and no script. */
static void server_starts_anew(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    server_kill(&the_server);
    server_start_on(&the_server, NULL);
    WAIT_UNTIL(count(&a.told.lost) == 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ELOST);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "SCRIPT FLUSH"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "SCRIPT FLUSH"), 1);
    sleep_ms(2L * LEASE_MS);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_HELD);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    close_client(&a);
}

/* ---- servers that refuse ---- */

static void key_of_another_type(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(server_command(&the_server, "LPUSH job x"), 1);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_EREFUSED);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(server_command(&the_server, "SET job:token letters"), 1);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_EREFUSED);
    assert_int_equal(server_command(&the_server, "EXISTS job"), 0);
    assert_int_equal(server_command(&the_server, "DEL job:token"), 1);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    close_client(&a);
    assert_int_equal(server_command(&the_server, "EXISTS job"), 0); /* the close has given it back */
}

static void credentials(void **state)
{
    (void)state;
    static const struct ls_redis_options right = {.password = "secret", .database = 3, .lease_ms = LEASE_MS};
    static const struct ls_redis_options wrong = {.password = "other"}, none = {0};
    static const struct ls_redis_options far = {.password = "secret", .database = 99};
    struct server server;
    struct client a;
    server_name(&server, free_port());
    server_start_on(&server, "--requirepass", "secret", NULL);
    open_with(&a, server.hosts, &right);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    close_client(&a);
    open_with(&a, server.hosts, &wrong);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_EAUTHFAILED);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_EAUTHFAILED);
    assert_int_equal(ls_redis_state(&a.redis), LS_REDIS_FAILED);
    close_client(&a);
    open_with(&a, server.hosts, &far);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_EREFUSED);
    close_client(&a);
    open_with(&a, server.hosts, &none);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_EREFUSED);
    close_client(&a);
    server_kill(&server);
}

/* A replica refuses writes: the client goes to the next server. */
static void replica_is_passed_over(void **state)
{
    (void)state;
    struct server replica;
    struct client a;
    char hosts[160], port[16];
    server_name(&replica, free_port());
    snprintf(port, sizeof port, "%d", the_server.port);
    server_start_on(&replica, "--replicaof", "127.0.0.1", port, NULL);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d,127.0.0.1:1,%s", replica.port, the_server.hosts);
    open_with(&a, hosts, &SHORT);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "EXISTS job"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    close_client(&a);
    server_kill(&replica);
}

/* A grant that too few replicas have is no grant. */
static void replicas_confirm(void **state)
{
    (void)state;
    static const struct ls_redis_options one = {.lease_ms = LEASE_MS, .replicas = 1, .replicas_ms = 50};
    struct server replica;
    struct client a;
    char port[16];
    server_name(&replica, free_port());
    snprintf(port, sizeof port, "%d", the_server.port);
    open_with(&a, the_server.hosts, &one);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, 500), LS_ETIMEDOUT);
    server_start_on(&replica, "--replicaof", "127.0.0.1", port, NULL);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&replica, "EXISTS job"), 1);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    close_client(&a);
    server_kill(&replica);
}

/* ---- threads ---- */

#define THREADS 6
#define ROUNDS 60

struct counter {
    struct client *client;
    int *value;
    int64_t *newest;
    int wrong;
};

static void *count_up(void *ctx)
{
    struct counter *counter = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        counter->wrong += ls_redis_mutex_acquire(&counter->client->mutex, -1) != LS_OK;
        int64_t token = ls_redis_mutex_token_by_me(&counter->client->mutex);
        counter->wrong += token <= *counter->newest;
        *counter->newest = token;
        int value = *counter->value;
        sched_yield();
        *counter->value = value + 1;
        counter->wrong += ls_redis_mutex_release(&counter->client->mutex) != LS_OK;
    }
    return NULL;
}

/* Threads of two clients count one variable up. Each client lets the other one have its turn. */
static void threads_count(void **state)
{
    (void)state;
    struct client client[2];
    struct counter counter[THREADS];
    pthread_t thread[THREADS];
    int value = 0;
    int64_t newest = 0;
    open_client(&client[0], &the_server);
    open_client(&client[1], &the_server);
    for (int i = 0; i < THREADS; i++) {
        counter[i] = (struct counter){.client = &client[i % 2], .value = &value, .newest = &newest};
        assert_int_equal(pthread_create(&thread[i], NULL, count_up, &counter[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(counter[i].wrong, 0);
    }
    assert_int_equal(value, THREADS * ROUNDS);
    close_client(&client[0]);
    close_client(&client[1]);
}

/* A close answers who waits and who holds. */
static void close_answers(void **state)
{
    (void)state;
    struct client a;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 2, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 2, -1), LS_EALREADY);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 3, 0), LS_EBUSY);
    assert_int_equal(ls_redis_mutex_cancel(&a.mutex, 3), LS_ENOENT);
    assert_int_equal(ls_redis_mutex_close(&a.mutex), LS_OK);
    assert_int_equal(count(&a.told.done), 2);
    assert_int_equal(a.told.done_rc, LS_ECLOSED);
    assert_int_equal(count(&a.told.lost), 1);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_ECLOSED);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_ECLOSED);
    WAIT_UNTIL(server_command(&the_server, "EXISTS job") == 0);
    close_client(&a);
}

static void *take_for_ever(void *ctx)
{
    return ls_redis_mutex_acquire(ctx, -1) == LS_ECLOSED ? ctx : NULL;
}

static void *close_redis(void *ctx)
{
    return ls_redis_close(ctx) == LS_OK ? ctx : NULL;
}

/* Two threads close the client, while another one waits for the lock. */
static void closed_by_two_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct client a, b;
        pthread_t waiter, closer[2];
        void *returned;
        open_client(&a, &the_server);
        open_client(&b, &the_server);
        assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
        assert_int_equal(pthread_create(&waiter, NULL, take_for_ever, &b.mutex), 0);
        sleep_ms(round);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&closer[i], NULL, close_redis, &b.redis), 0);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(closer[i], &returned);
            assert_ptr_equal(returned, &b.redis);
        }
        pthread_join(waiter, &returned);
        assert_ptr_equal(returned, &b.mutex);
        assert_int_equal(ls_env_pthread_close(b.env), LS_OK);
        close_client(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_and_gives),
        cmocka_unit_test(is_renewed),
        cmocka_unit_test(is_woken),
        cmocka_unit_test(loss_is_told),
        cmocka_unit_test(server_is_silent),
        cmocka_unit_test(server_starts_anew),
        cmocka_unit_test(key_of_another_type),
        cmocka_unit_test(credentials),
        cmocka_unit_test(replica_is_passed_over),
        cmocka_unit_test(replicas_confirm),
        cmocka_unit_test(threads_count),
        cmocka_unit_test(close_answers),
        cmocka_unit_test(closed_by_two_threads),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
