/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* 20,000 waiters of four sessions: what one more acquire costs beside them, a broken link for each session, and all of
 * them are served. */
#include "stage.h"

enum {
    CLIENTS = 4,
    PATHS = 400,
    WAITERS = 20000,
    BATCHES = 10,
    BATCH = WAITERS / BATCHES,
    LONG_TIMEOUT_MS = 6000,
    LONG_PATIENCE_MS = 300000,
};

static struct crowd_client {
    struct ls_env *env;
    struct ls_session session;
    struct ls_session_listener listener;
    struct ls_mutex mutex[PATHS];
    int breaks;
} clients[CLIENTS];

static struct ls_mutex_counters counters[CLIENTS];
static struct {
    struct ls_mutex *mutex;
    uint64_t owner;
} holders[PATHS]; /* who was granted each lock first: it keeps the lock until it is told to give it back */
static int granted;
static int released;
static int failed;

/* ---- callbacks ---- */

static int path_of(const struct ls_mutex *mutex)
{
    for (int c = 0; c < CLIENTS; c++)
        if (mutex >= clients[c].mutex && mutex < clients[c].mutex + PATHS)
            return (int)(mutex - clients[c].mutex);
    return 0;
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    int path = path_of(mutex);
    if (!outcome->rc && !holders[path].mutex) {
        holders[path].owner = owner;
        __atomic_store_n(&holders[path].mutex, mutex, __ATOMIC_SEQ_CST);
    } else if (outcome->rc || ls_mutex_release_start(mutex, owner)) {
        __atomic_add_fetch(&failed, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_add_fetch(&granted, 1, __ATOMIC_SEQ_CST);
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)mutex;
    (void)owner;
    __atomic_add_fetch(rc ? &failed : &released, 1, __ATOMIC_SEQ_CST);
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t id)
{
    (void)session;
    (void)id;
    for (int c = 0; c < CLIENTS; c++)
        if (listener == &clients[c].listener && event == LS_SESSION_SUSPENDED)
            __atomic_add_fetch(&clients[c].breaks, 1, __ATOMIC_SEQ_CST);
    if (event == LS_SESSION_LOST)
        __atomic_add_fetch(&failed, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops mutex_ops = {.on_done = on_done, .on_freed = on_freed};
static const struct ls_session_ops session_ops = {.on_event = on_event};
static struct ls_mutex_options mutex_options[CLIENTS];

#define WAIT_LONG_UNTIL(condition)                                                                           \
    do {                                                                                                     \
        for (int64_t until_ms = now_ms() + LONG_PATIENCE_MS; !(condition); pause_ms(5))                      \
            if (now_ms() > until_ms)                                                                         \
                fail_msg("waited in vain for: %s", #condition);                                              \
    } while (0)

/* ---- the story ---- */

static void open_client(int c)
{
    struct crowd_client *client = &clients[c];
    assert_int_equal(ls_env_pthread_open(&client->env), LS_OK);
    assert_int_equal(ls_session_init(&client->session, client->env, server(), LONG_TIMEOUT_MS, NULL), LS_OK);
    ls_session_listener_init(&client->listener, &session_ops);
    ls_session_listener_add(&client->session, &client->listener);
    mutex_options[c] = (struct ls_mutex_options){.ops = &mutex_ops, .counters = &counters[c]};
    for (int i = 0; i < PATHS; i++) {
        char path[32];
        snprintf(path, sizeof path, "/crowd/%03d", i);
        assert_int_equal(ls_mutex_init(&client->mutex[i], &client->session, path, &mutex_options[c]), LS_OK);
    }
    assert_int_equal(ls_session_start(&client->session), LS_OK);
    WAIT_UNTIL(ls_session_state(&client->session) == LS_STATE_CONNECTED);
}

/* Acquires that have come to hold or to wait. */
static uint64_t settled(void)
{
    uint64_t sum = 0;
    for (int c = 0; c < CLIENTS; c++) {
        struct ls_mutex_counters copy;
        assert_int_equal(ls_mutex_counters(&clients[c].mutex[0], &copy), LS_OK);
        sum += copy.grants + copy.waits;
    }
    return sum;
}

static int64_t ask_for_more(int from, int to)
{
    int64_t began_ms = now_ms();
    for (int i = from; i < to; i++) {
        struct ls_mutex *mutex = &clients[i % CLIENTS].mutex[i / CLIENTS % PATHS];
        assert_int_equal(ls_mutex_acquire_start(mutex, (uint64_t)i + 1, -1), LS_OK);
    }
    WAIT_LONG_UNTIL(settled() >= (uint64_t)to);
    return now_ms() - began_ms;
}

static int64_t middle(int64_t a, int64_t b, int64_t c)
{
    int64_t least = a < b ? a : b;
    int64_t most = a < b ? b : a;
    return c < least ? least : c > most ? most : c;
}

static void check_flat(const int64_t *took_ms)
{
    for (int i = 0; i < BATCHES; i++)
        print_message("acquires %5d .. %5d: %5.0f us each\n", i * BATCH, (i + 1) * BATCH - 1,
                      (double)took_ms[i] * 1000 / BATCH);
    /* The first batch also creates the paths. */
    int64_t early_ms = middle(took_ms[1], took_ms[2], took_ms[3]);
    int64_t late_ms = middle(took_ms[BATCHES - 3], took_ms[BATCHES - 2], took_ms[BATCHES - 1]);
    assert_true(late_ms <= 2 * early_ms);
}

static void break_all_links(void)
{
    signal_server(SIGSTOP);
    bool suspended = false;
    for (int64_t until_ms = now_ms() + PATIENCE_MS; !suspended && now_ms() < until_ms; pause_ms(2)) {
        suspended = true;
        for (int c = 0; c < CLIENTS; c++)
            suspended = suspended && __atomic_load_n(&clients[c].breaks, __ATOMIC_SEQ_CST) > 0;
    }
    signal_server(SIGCONT);
    assert_true(suspended);
    for (int c = 0; c < CLIENTS; c++)
        WAIT_UNTIL(ls_session_state(&clients[c].session) == LS_STATE_CONNECTED);
}

static void give_all_back(void)
{
    for (int i = 0; i < PATHS; i++) {
        struct ls_mutex *mutex = __atomic_load_n(&holders[i].mutex, __ATOMIC_SEQ_CST);
        assert_non_null(mutex);
        assert_int_equal(ls_mutex_release_start(mutex, holders[i].owner), LS_OK);
    }
}

static void twenty_thousand_wait_and_are_served(void **state)
{
    (void)state;
    int64_t took_ms[BATCHES];
    for (int c = 0; c < CLIENTS; c++)
        open_client(c);
    for (int i = 0; i < BATCHES; i++)
        took_ms[i] = ask_for_more(i * BATCH, (i + 1) * BATCH);
    check_flat(took_ms);
    break_all_links();
    int64_t began_ms = now_ms();
    give_all_back();
    WAIT_LONG_UNTIL(
        __atomic_load_n(&released, __ATOMIC_SEQ_CST) + __atomic_load_n(&failed, __ATOMIC_SEQ_CST) >= WAITERS);
    print_message("%d served in %d ms\n", granted, (int)(now_ms() - began_ms));
    assert_int_equal(failed, 0);
    assert_int_equal(granted, WAITERS);
    for (int c = 0; c < CLIENTS; c++) {
        print_message("session %d: %d broken links\n", c, clients[c].breaks);
        assert_int_equal(clients[c].breaks, 1);
        for (int i = 0; i < PATHS; i++)
            assert_int_equal(ls_mutex_close(&clients[c].mutex[i]), LS_OK);
        assert_int_equal(ls_session_close(&clients[c].session), LS_OK);
        ls_env_pthread_close(clients[c].env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_thousand_wait_and_are_served),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
