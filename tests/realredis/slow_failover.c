/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A failover between real servers. The replica's link is cut, a client takes the lock, the primary dies,
 * and the replica is promoted. Clients know both servers. */
#include "client.h"

#define LEASE_MS 6000
#define ATTEMPT_MS 1800 /* the renewal after a third of the lease comes later */

struct pair {
    struct server primary, replica;
    char hosts[160];
};

static const struct ls_redis_options PLAIN = {.lease_ms = LEASE_MS};
static const struct ls_redis_options CONFIRMED = {.lease_ms = LEASE_MS, .replicas = 1, .replicas_ms = 100};

/* Waits until the replica has all that was written before. It gets the writes in their order, but a new replica may wait
 * for its first ones for a second. Each call needs a key of its own. */
static void wait_in_step(const struct pair *pair, const char *key)
{
    assert_int_equal(server_command(&pair->primary, "SET %s 1", key), 1);
    WAIT_UNTIL(server_command(&pair->replica, "EXISTS %s", key) == 1);
}

static void join(const struct pair *pair)
{
    assert_int_equal(server_command(&pair->replica, "REPLICAOF 127.0.0.1 %d", pair->primary.port), 1);
    wait_in_step(pair, "joined");
}

/* The replica keeps what it has, and looks for a primary where there is none. */
static void cut(const struct pair *pair)
{
    assert_int_equal(server_command(&pair->replica, "REPLICAOF 127.0.0.1 1"), 1);
}

static void fail_over(struct pair *pair)
{
    server_kill(&pair->primary);
    assert_int_equal(server_command(&pair->replica, "REPLICAOF NO ONE"), 1);
}

static int64_t take_and_give(struct client *client)
{
    assert_int_equal(ls_redis_mutex_acquire(&client->mutex, PATIENCE_MS), LS_OK);
    int64_t token = ls_redis_mutex_token_by_me(&client->mutex);
    assert_int_equal(ls_redis_mutex_release(&client->mutex), LS_OK);
    return token;
}

static void wait_in_vain(struct client *waiter, struct client *holder)
{
    assert_int_equal(ls_redis_mutex_acquire(&holder->mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire(&waiter->mutex, 200), LS_ETIMEDOUT);
    assert_int_equal(ls_redis_mutex_release(&holder->mutex), LS_OK);
}

/* Two clients of a pair that is in step, after one grant. Both have waited, so that both have a connection
 * for messages. */
static void open_pair(struct pair *pair, struct client *a, struct client *b,
                      const struct ls_redis_options *options)
{
    server_name(&pair->primary, free_port());
    server_start_on(&pair->primary, NULL);
    server_name(&pair->replica, free_port());
    server_start_on(&pair->replica, NULL);
    snprintf(pair->hosts, sizeof pair->hosts, "%s,%s", pair->primary.hosts, pair->replica.hosts);
    open_with(b, pair->hosts, &PLAIN);
    (void)take_and_give(b);
    join(pair);
    open_with(a, pair->hosts, options);
    wait_in_vain(a, b);
    wait_in_vain(b, a);
    wait_in_step(pair, "waited");
}

static void close_pair(struct pair *pair, struct client *a, struct client *b)
{
    close_client(a);
    close_client(b);
    server_kill(&pair->replica);
}

/* Without `replicas`: the grant is lost with the primary, and so is its token. Both hold, with tokens that
 * are equal. */
static void unconfirmed_grant_is_lost(void **state)
{
    struct pair pair;
    struct client a, b;
    (void)state;
    open_pair(&pair, &a, &b, &PLAIN);
    cut(&pair);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    int64_t first = ls_redis_mutex_token_by_me(&a.mutex);
    long granted = now_ms();
    fail_over(&pair);
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, ATTEMPT_MS), LS_OK);
    enum ls_belief belief = ls_redis_mutex_query_by_me(&a.mutex);
    int64_t second = ls_redis_mutex_token_by_me(&b.mutex);
    print_message("the second holder has token %lld, the first one %lld; %ld ms after the first grant the "
                  "first holder %s\n",
                  (long long)second, (long long)first, now_ms() - granted,
                  belief == LS_HELD ? "believes" : "does not believe");
    assert_int_equal(belief, LS_HELD);
    assert_true(first > 1 && second == first);
    WAIT_UNTIL(count(&a.told.lost) == 1);
    assert_in_range(now_ms() - granted, 0, LEASE_MS);
    assert_int_equal(ls_redis_mutex_query_by_me(&b.mutex), LS_HELD);
    assert_int_equal(ls_redis_mutex_release(&b.mutex), LS_OK);
    close_pair(&pair, &a, &b);
}

/* With `replicas`: the same story, but the grant is not told, so that there is one holder. */
static void grant_waits_for_replica(void **state)
{
    struct pair pair;
    struct client a, b;
    (void)state;
    open_pair(&pair, &a, &b, &CONFIRMED);
    cut(&pair);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, ATTEMPT_MS), LS_ETIMEDOUT);
    fail_over(&pair);
    assert_int_equal(ls_redis_mutex_acquire(&b.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_release(&b.mutex), LS_OK);
    close_pair(&pair, &a, &b);
}

/* A grant that the replica has outlives the failover: the holder renews it there, and the next token is
 * larger. */
static void confirmed_grant_is_kept(void **state)
{
    struct pair pair;
    struct client a, b;
    (void)state;
    open_pair(&pair, &a, &b, &CONFIRMED);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    int64_t first = ls_redis_mutex_token_by_me(&a.mutex);
    fail_over(&pair);
    for (long until = now_ms() + LEASE_MS * 3L / 2; now_ms() < until;) {
        assert_int_equal(ls_redis_mutex_acquire(&b.mutex, 300), LS_ETIMEDOUT);
        assert_int_equal(ls_redis_mutex_query_by_me(&a.mutex), LS_HELD);
    }
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(count(&a.told.lost), 0);
    assert_true(take_and_give(&b) > first);
    close_pair(&pair, &a, &b);
}

/* A client meets the replica first, and asks it for two keys at once. Each of the two refusals sends it to the next
 * server of its list; both together must not bring it back. */
static void two_refusals_lead_to_one_other_server(void **state)
{
    (void)state;
    struct pair pair;
    struct client a, b;
    struct ls_redis_mutex other;
    char hosts[2 * sizeof pair.primary.hosts];
    open_pair(&pair, &a, &b, &PLAIN);
    close_client(&a);
    snprintf(hosts, sizeof hosts, "%s,%s", pair.replica.hosts, pair.primary.hosts);
    open_with(&a, hosts, &PLAIN);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_init(&other, &a.redis, "other", NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&other, 1, PATIENCE_MS), 0);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    WAIT_UNTIL(ls_redis_mutex_query(&other, 1) == LS_HELD);
    assert_int_equal(ls_redis_mutex_close(&other), LS_OK);
    close_pair(&pair, &a, &b);
    server_kill(&pair.primary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unconfirmed_grant_is_lost),
        cmocka_unit_test(grant_waits_for_replica),
        cmocka_unit_test(confirmed_grant_is_kept),
        cmocka_unit_test(two_refusals_lead_to_one_other_server),
    };
    if (access(SERVER_BINARY, X_OK) != 0) {
        printf("no %s (Debian: redis-tools)\n", SERVER_BINARY);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
