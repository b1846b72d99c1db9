/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What redis.h and redis_mutex.h promise beside the answers of their functions: connections, leases, the order of
 * owners, callbacks and closes. */
#include "lockredis/internal.h"
#include "one_server.h"

#include <hiredis/async.h>
#include <pthread.h>

#define SOON_MS 1000
#define DEAD_HOSTS "127.0.0.1:1" /* nobody listens there */

/* ---- what is noted ---- */

#define NOTES_MAX 8

static uint32_t delays[NOTES_MAX]; /* of the timer `noted_timer`, in ms */
static int delay_count;
static const char *noted_timer;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (noted_timer != NULL && strcmp(name, noted_timer) == 0 && delay_count < NOTES_MAX) {
        delays[delay_count] = delay_ms;
        __atomic_add_fetch(&delay_count, 1, __ATOMIC_SEQ_CST);
    }
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

static void note_timer(const char *name)
{
    noted_timer = name;
    __atomic_store_n(&delay_count, 0, __ATOMIC_SEQ_CST);
}

static char places[256]; /* what connections were made to */
static int place_count;
static bool notes_places;

redisAsyncContext *__real_redisAsyncConnect(const char *ip, int port);
redisAsyncContext *__wrap_redisAsyncConnect(const char *ip, int port);
redisAsyncContext *__wrap_redisAsyncConnect(const char *ip, int port)
{
    if (!notes_places) {
        return __real_redisAsyncConnect(ip, port);
        /* NOLINTEND(bugprone-reserved-identifier) */
    }
    size_t used = strlen(places);
    if (place_count < 5) {
        snprintf(places + used, sizeof places - used, "%s %d, ", ip, port);
    }
    __atomic_add_fetch(&place_count, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* ---- connections ---- */

static void hosts_are_tried_in_turn(void **state)
{
    (void)state;
    struct client a;
    places[0] = 0;
    place_count = 0;
    notes_places = true;
    note_timer("reconnect");
    open_with(&a, "one:7,two,[::1]:8,[::2]", &SHORT);
    WAIT_UNTIL(count(&place_count) >= 5);
    close_client(&a);
    notes_places = false;
    noted_timer = NULL;
    assert_string_equal(places, "one 7, two 6379, ::1 8, ::2 6379, one 7, ");
    static const uint32_t growing[] = {50, 100, 200, 400};
    assert_memory_equal(delays, growing, sizeof growing);
}

static void a_connection_is_made_again(void **state)
{
    (void)state;
    struct server server;
    struct client a;
    server_start(&server);
    open_client(&a, &server);
    for (int i = 0; i < 2; i++) {
        server_kill(&server);
        WAIT_UNTIL(ls_redis_state(&a.redis) == LS_REDIS_CONNECTING);
        assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_EBUSY);
        server_start_on(&server, NULL);
        assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    }
    close_client(&a);
    server_kill(&server);
}

/* Clients of the server that are no tests' commands: the reply of CLIENT LIST has a line for each. */
static int connections(void)
{
    redisContext *context = redisConnect("127.0.0.1", the_server.port);
    redisReply *reply = redisCommand(context, "CLIENT LIST");
    int lines = 0;
    for (size_t i = 0; i < reply->len; i++) {
        lines += reply->str[i] == '\n';
    }
    freeReplyObject(reply);
    redisFree(context);
    return lines - 1;
}

static void messages_have_a_connection_of_their_own(void **state)
{
    (void)state;
    struct client a;
    WAIT_UNTIL(connections() == 0);
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    assert_int_equal(connections(), 1);
    assert_int_equal(server_command(&the_server, "SET job foreign"), 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(connections() == 2);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    close_client(&a);
    WAIT_UNTIL(connections() == 0);
}

/* ---- options ---- */

static void options_name_a_database(void **state)
{
    (void)state;
    static const struct ls_redis_options third = {.database = 3};
    struct client a;
    open_with(&a, the_server.hosts, &third);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "EXISTS job"), 0);
    const char *script = "redis.call('select', 3) return redis.call('exists', 'job')";
    assert_int_equal(server_command(&the_server, "EVAL %s 0", script), 1);
    close_client(&a);
}

static void options_name_a_user(void **state)
{
    (void)state;
    static const struct ls_redis_options worker = {.user = "worker", .password = "word"};
    struct client a;
    assert_int_equal(server_command(&the_server, "ACL SETUSER worker on >word ~* &* +@all"), 1);
    open_with(&a, the_server.hosts, &worker);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_OK);
    close_client(&a);
    assert_int_equal(server_command(&the_server, "ACL DELUSER worker"), 1);
}

/* Also when it is renewed first. */
static void leases_are_as_long_as_the_options_say(void **state)
{
    (void)state;
    static const struct ls_redis_options none = {0}, nine = {.lease_ms = 9000};
    static const struct ls_redis_options *const all[] = {NULL, &none, &nine};
    static const uint32_t lengths[] = {LS_REDIS_LEASE_MS, LS_REDIS_LEASE_MS, 9000};
    assert_int_equal(LS_REDIS_LEASE_MS, 30000);
    for (int i = 0; i < 3; i++) {
        struct client a;
        open_with(&a, the_server.hosts, all[i]);
        note_timer("renewal");
        assert_int_equal(ls_redis_mutex_acquire(&a.mutex, PATIENCE_MS), LS_OK);
        noted_timer = NULL;
        assert_in_range(server_command(&the_server, "PTTL job"), lengths[i] - SOON_MS, lengths[i]);
        assert_int_equal(delay_count, 1);
        assert_in_range(delays[0], lengths[i] / 3 - SOON_MS, lengths[i] / 3);
        close_client(&a);
    }
}

static void a_grant_without_replicas_is_given_back(void **state)
{
    (void)state;
    static const struct ls_redis_options one = {.replicas = 1, .replicas_ms = 20};
    struct client a;
    open_with(&a, the_server.hosts, &one);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_EREFUSED);
    long before = now_ms();
    WAIT_UNTIL(server_command(&the_server, "EXISTS job") == 0);
    assert_in_range(now_ms() - before, 0, SOON_MS);
    int64_t token = server_command(&the_server, "INCR job:token");
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, 500), LS_ETIMEDOUT);
    assert_true(server_command(&the_server, "INCR job:token") > token + 2); /* it was tried again */
    close_client(&a);
}

/* Until the time of a WAIT is over the server does not answer. That is no reason to give up the connection, however long
 * the wait is beside the lease. */
static void a_wait_for_replicas_may_be_long(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {.lease_ms = 1200, .replicas = 1},
                                         longer = {.lease_ms = 1200, .replicas = 1, .replicas_ms = 800};
    static const struct ls_redis_options *const all[] = {&usual, &longer};
    for (int i = 0; i < 2; i++) {
        struct client a;
        open_with(&a, the_server.hosts, all[i]);
        assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
        assert_int_equal(ls_redis_mutex_try(&a.mutex), LS_EREFUSED);
        close_client(&a);
    }
}

/* ---- owners ---- */

#define OWNERS 20

static struct {
    uint64_t owner[2 * OWNERS];
    int granted;
} line;

static void note_grant(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    (void)mutex;
    if (rc == LS_OK && token > 0) {
        line.owner[line.granted] = owner;
        __atomic_add_fetch(&line.granted, 1, __ATOMIC_SEQ_CST);
    }
}

static const struct ls_redis_mutex_ops LINE_OPS = {.on_done = note_grant};

/* Owners of one process stand in line, and another process waits. */
static void owners_stand_in_a_queue(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a, b;
    struct ls_redis_mutex mutex;
    memset(&line, 0, sizeof line);
    open_with(&a, the_server.hosts, &usual);
    open_with(&b, the_server.hosts, &usual);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "job", &LINE_OPS), LS_OK);
    for (uint64_t owner = 1; owner <= OWNERS; owner++) {
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, owner, -1), LS_OK);
    }
    WAIT_UNTIL(count(&line.granted) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(server_command(&the_server, "PUBLISH job:free x") == 1);
    sleep_ms(50); /* b has asked again, because of that message */
    int owner = 1;
    for (; count(&b.told.done) == 0 && owner < OWNERS; owner++) {
        assert_int_equal(ls_redis_mutex_release_start(&mutex, (uint64_t)owner), LS_OK);
        WAIT_UNTIL(count(&line.granted) == owner + 1 || count(&b.told.done) == 1);
    }
    assert_int_equal(owner, LS_REDIS_HANDOVERS_MAX + 2); /* of the release that was no hand-over, too */
    assert_int_equal(LS_REDIS_HANDOVERS_MAX, 16);
    for (int i = 0; i < line.granted; i++) {
        assert_int_equal(line.owner[i], i + 1);
    }
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&b);
    close_client(&a);
}

/* The client hears its own message about the key: it must not make use of it, for others wait for that message, too. */
static void a_key_that_is_given_up_is_not_taken_back_at_once(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a;
    struct ls_redis_mutex mutex;
    memset(&line, 0, sizeof line);
    open_with(&a, the_server.hosts, &usual);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "SET job foreign"), 1);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "job", &LINE_OPS), LS_OK);
    for (uint64_t owner = 1; owner <= LS_REDIS_HANDOVERS_MAX + 2; owner++) {
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, owner, -1), LS_OK);
    }
    WAIT_UNTIL(server_command(&the_server, "PUBLISH job:free x") == 1); /* it hears messages from now on */
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(server_command(&the_server, "PUBLISH job:free x"), 1);
    int owner = 1;
    for (; owner <= LS_REDIS_HANDOVERS_MAX; owner++) {
        WAIT_UNTIL(count(&line.granted) == owner);
        assert_int_equal(ls_redis_mutex_release_start(&mutex, (uint64_t)owner), LS_OK);
    }
    WAIT_UNTIL(count(&line.granted) == owner);
    note_timer("poll");
    long before = now_ms();
    assert_int_equal(ls_redis_mutex_release_start(&mutex, (uint64_t)owner), LS_OK);
    WAIT_UNTIL(count(&line.granted) == owner + 1);
    long took = now_ms() - before;
    noted_timer = NULL;
    assert_int_equal(delay_count, 1);
    assert_in_range(took, delays[0] - 1, PATIENCE_MS);
    assert_int_equal(ls_redis_mutex_release_start(&mutex, (uint64_t)owner + 1), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* The server does the request once the acquire is over. The reply has the key given back. */
static void an_acquire_that_is_given_up_leaves_no_key(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a;
    open_with(&a, the_server.hosts, &usual);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    for (int canceled = 0; canceled < 2; canceled++) {
        stop_process(&the_server);
        int rc = ls_redis_mutex_acquire_start(&a.mutex, 1, canceled ? -1 : 50);
        sleep_ms(20); /* it is sent */
        rc |= canceled ? ls_redis_mutex_cancel(&a.mutex, 1) : 0;
        sleep_ms(100);
        int told = count(&a.told.done);
        continue_process(&the_server);
        assert_int_equal(rc, LS_OK);
        assert_int_equal(told, canceled + 1);
        assert_int_equal(a.told.done_rc, canceled ? LS_ECANCELED : LS_ETIMEDOUT);
        WAIT_UNTIL(server_command(&the_server, "GETEX job:token") == 1); /* it was done */
        long before = now_ms();
        WAIT_UNTIL(server_command(&the_server, "EXISTS job") == 0);
        assert_in_range(now_ms() - before, 0, SOON_MS);
        assert_int_equal(server_command(&the_server, "DEL job:token"), 1);
    }
    close_client(&a);
}

/* The key has a lease of another client, whose end nobody tells. */
static void the_end_of_a_lease_is_noticed(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a;
    open_with(&a, the_server.hosts, &usual);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "SET job foreign PX 300"), 1);
    long before = now_ms();
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_in_range(now_ms() - before, 250, 300 + SOON_MS);
    close_client(&a);
}

/* Two mutexes have the same key, so that one learns of the other by messages alone. */
static void a_message_tells_of_a_release(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a, b;
    open_with(&a, the_server.hosts, &usual);
    open_with(&b, the_server.hosts, &usual);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&b.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(server_command(&the_server, "PUBLISH job:free x") == 1);
    sleep_ms(50);
    assert_int_equal(count(&b.told.done), 0);
    long before = now_ms();
    assert_int_equal(ls_redis_mutex_release(&a.mutex), LS_OK);
    WAIT_UNTIL(count(&b.told.done) == 1);
    assert_in_range(now_ms() - before, 0, SOON_MS);
    assert_true(b.told.token > 0);
    assert_int_equal(
        server_command(&the_server, "EVAL %s 0", "return tonumber(redis.call('get', 'job:token'))"),
        b.told.token);
    close_client(&a);
    close_client(&b);
}

/* ---- belief ---- */

static void belief_counts_from_the_request(void **state)
{
    (void)state;
    static const struct ls_redis_options two = {.lease_ms = 2000};
    struct client a;
    open_client(&a, &the_server);
    close_client(&a);
    open_with(&a, the_server.hosts, &two);
    assert_int_equal(ls_redis_wait_connected(&a.redis, PATIENCE_MS), LS_OK);
    stop_process(&the_server);
    long before = now_ms();
    int rc = ls_redis_mutex_acquire_start(&a.mutex, 1, -1);
    long returned = now_ms();
    sleep_ms(300);
    continue_process(&the_server);
    assert_int_equal(rc, LS_OK);
    assert_in_range(returned - before, 0, 500); /* it waits for no server */
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(a.told.done_rc, LS_OK);
    assert_in_range(ls_redis_mutex_belief_left_ms(&a.mutex, 1), 1, 1650); /* 1800 from the answer on */
    close_client(&a);
}

static enum ls_belief belief_in_on_lost;

static void ask_in_on_lost(struct ls_redis_mutex *mutex, uint64_t owner, int64_t token)
{
    (void)token;
    belief_in_on_lost = ls_redis_mutex_query(mutex, owner);
    __atomic_add_fetch(&line.granted, 1, __ATOMIC_SEQ_CST);
}

static void a_lost_hold_is_not_held_in_on_lost(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops ops = {.on_lost = ask_in_on_lost};
    struct client a;
    struct ls_redis_mutex mutex;
    line.granted = 0;
    belief_in_on_lost = LS_HELD;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", &ops), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
    WAIT_UNTIL(ls_redis_mutex_query(&mutex, 1) == LS_HELD);
    assert_int_equal(server_command(&the_server, "DEL other"), 1);
    WAIT_UNTIL(count(&line.granted) == 1);
    assert_int_equal(belief_in_on_lost, LS_NOT_HELD);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* ---- callbacks ---- */

static void callbacks_may_be_missing(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops empty = {0};
    static const struct ls_redis_mutex_ops *const all[] = {NULL, &empty};
    struct client a;
    open_client(&a, &the_server);
    for (int i = 0; i < 2; i++) {
        struct ls_redis_mutex mutex;
        assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", all[i]), LS_OK);
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
        WAIT_UNTIL(ls_redis_mutex_query(&mutex, 1) == LS_HELD);
        assert_int_equal(ls_redis_mutex_release_start(&mutex, 1), LS_OK);
        assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
        WAIT_UNTIL(ls_redis_mutex_query(&mutex, 1) == LS_HELD);
        assert_int_equal(server_command(&the_server, "DEL other"), 1);
        WAIT_UNTIL(ls_redis_mutex_query(&mutex, 1) == LS_NOT_HELD);
        assert_int_equal(ls_redis_mutex_release_start(&mutex, 1), LS_ELOST);
        assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    }
    close_client(&a);
}

static int inside, may_end;

static void wait_in_callback(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    (void)mutex, (void)owner, (void)rc, (void)token;
    __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    WAIT_UNTIL(count(&may_end) == 1);
}

/* A callback that runs holds no lock, and no other callback of its client runs beside it. */
static void callbacks_run_one_at_a_time(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops ops = {.on_done = wait_in_callback};
    struct client a;
    struct ls_redis_mutex mutex;
    inside = may_end = 0;
    open_client(&a, &the_server);
    assert_int_equal(server_command(&the_server, "SET job foreign"), 1);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", &ops), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&inside) == 1);
    assert_int_equal(ls_redis_mutex_cancel(&a.mutex, 1), LS_OK); /* it needs the lock */
    sleep_ms(50);
    assert_int_equal(count(&a.told.done), 0);
    __atomic_store_n(&may_end, 1, __ATOMIC_SEQ_CST);
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(a.told.done_rc, LS_ECANCELED);
    assert_int_equal(server_command(&the_server, "DEL job"), 1);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

static int worked, called;

/* Functions that do not block, called inside a callback. */
static void call_all(struct ls_redis_mutex *mutex, uint64_t owner, int rc, int64_t token)
{
    if (owner != 1) {
        return;
    }
    worked += rc == LS_OK && ls_redis_state(mutex->redis) == LS_REDIS_CONNECTED;
    worked += ls_redis_fd(mutex->redis) == -1;
    worked += ls_redis_mutex_query(mutex, owner) == LS_HELD;
    worked += ls_redis_mutex_belief_left_ms(mutex, owner) > 0;
    worked += ls_redis_mutex_token(mutex, owner) == token;
    worked += ls_redis_mutex_acquire_start(mutex, owner, -1) == 1;
    worked += ls_redis_mutex_depth(mutex, owner) == 2;
    worked += ls_redis_mutex_acquire_start(mutex, 2, -1) == LS_OK;
    worked += ls_redis_mutex_cancel(mutex, 2) == LS_OK;
    worked += ls_redis_mutex_release_start(mutex, owner) == LS_OK;
    worked += ls_redis_mutex_query_by_me(mutex) == LS_NOT_HELD;
    worked += ls_redis_mutex_token_by_me(mutex) == 0;
    __atomic_add_fetch(&called, 1, __ATOMIC_SEQ_CST);
}

static void a_callback_may_call_what_does_not_block(void **state)
{
    (void)state;
    static const struct ls_redis_mutex_ops ops = {.on_done = call_all};
    struct client a;
    struct ls_redis_mutex mutex;
    worked = called = 0;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", &ops), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire_start(&mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&called) == 1);
    assert_int_equal(worked, 12);
    assert_int_equal(ls_redis_mutex_close(&mutex), LS_OK);
    close_client(&a);
}

/* ---- closes ---- */

static void a_close_of_the_client_closes_its_mutexes(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a;
    open_with(&a, the_server.hosts, &usual);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(count(&a.told.done) == 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 2, -1), LS_OK);
    assert_int_equal(ls_redis_close(&a.redis), LS_OK);
    assert_int_equal(a.told.done, 2);
    assert_int_equal(a.told.done_rc, LS_ECLOSED);
    assert_int_equal(a.told.lost, 1);
    assert_int_equal(ls_redis_mutex_acquire_start(&a.mutex, 1, -1), LS_ECLOSED);
    long before = now_ms();
    WAIT_UNTIL(server_command(&the_server, "EXISTS job") == 0); /* it was given back */
    assert_in_range(now_ms() - before, 0, SOON_MS);
    close_client(&a);
}

/* The server does no writes for a while. Nobody waits for the answer any more, and the key is given back all the same. */
static void a_close_gives_back_when_the_server_can(void **state)
{
    (void)state;
    static const struct ls_redis_options usual = {0};
    struct client a;
    struct ls_redis_mutex mutex;
    open_with(&a, the_server.hosts, &usual);
    assert_int_equal(ls_redis_mutex_init(&mutex, &a.redis, "other", NULL), LS_OK);
    assert_int_equal(ls_redis_mutex_acquire(&mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(server_command(&the_server, "CONFIG SET min-replicas-to-write 1"), 1);
    int closed = ls_redis_mutex_close(&mutex);
    sleep_ms(50);
    long long stood = server_command(&the_server, "EXISTS other");
    assert_int_equal(server_command(&the_server, "CONFIG SET min-replicas-to-write 0"), 1);
    assert_int_equal(closed, LS_OK);
    assert_int_equal(stood, 1);
    long before = now_ms();
    WAIT_UNTIL(server_command(&the_server, "EXISTS other") == 0);
    assert_in_range(now_ms() - before, 0, SOON_MS);
    close_client(&a);
}

/* A mutex is initialised before its client starts, or without a connection. A server that is silent keeps no close. */
static void no_close_waits_for_a_server(void **state)
{
    (void)state;
    struct client a;
    struct ls_redis_mutex early;
    open_client(&a, &the_server);
    assert_int_equal(ls_redis_mutex_acquire(&a.mutex, -1), LS_OK);
    stop_process(&the_server);
    WAIT_UNTIL(ls_redis_state(&a.redis) == LS_REDIS_CONNECTING); /* its patience has ended */
    int rc = ls_redis_mutex_init(&early, &a.redis, "early", NULL);
    long before = now_ms();
    int closed = ls_redis_mutex_close(&a.mutex);
    long took = now_ms() - before;
    continue_process(&the_server);
    assert_int_equal(rc, LS_OK);
    assert_int_equal(closed, LS_OK);
    assert_in_range(took, 0, 400);
    assert_int_equal(a.told.lost, 1);
    assert_int_equal(ls_redis_mutex_acquire(&early, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_redis_mutex_close(&early), LS_OK);
    close_client(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(hosts_are_tried_in_turn, clean_server),
        cmocka_unit_test_setup(a_connection_is_made_again, clean_server),
        cmocka_unit_test_setup(messages_have_a_connection_of_their_own, clean_server),
        cmocka_unit_test_setup(options_name_a_database, clean_server),
        cmocka_unit_test_setup(options_name_a_user, clean_server),
        cmocka_unit_test_setup(leases_are_as_long_as_the_options_say, clean_server),
        cmocka_unit_test_setup(a_grant_without_replicas_is_given_back, clean_server),
        cmocka_unit_test_setup(a_wait_for_replicas_may_be_long, clean_server),
        cmocka_unit_test_setup(owners_stand_in_a_queue, clean_server),
        cmocka_unit_test_setup(a_key_that_is_given_up_is_not_taken_back_at_once, clean_server),
        cmocka_unit_test_setup(an_acquire_that_is_given_up_leaves_no_key, clean_server),
        cmocka_unit_test_setup(the_end_of_a_lease_is_noticed, clean_server),
        cmocka_unit_test_setup(a_message_tells_of_a_release, clean_server),
        cmocka_unit_test_setup(belief_counts_from_the_request, clean_server),
        cmocka_unit_test_setup(a_lost_hold_is_not_held_in_on_lost, clean_server),
        cmocka_unit_test_setup(callbacks_may_be_missing, clean_server),
        cmocka_unit_test_setup(callbacks_run_one_at_a_time, clean_server),
        cmocka_unit_test_setup(a_callback_may_call_what_does_not_block, clean_server),
        cmocka_unit_test_setup(a_close_of_the_client_closes_its_mutexes, clean_server),
        cmocka_unit_test_setup(a_close_gives_back_when_the_server_can, clean_server),
        cmocka_unit_test_setup(no_close_waits_for_a_server, clean_server),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
