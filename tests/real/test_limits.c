/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Many owners of one session, and requests that the server does not take. */
#include "stage.h"

enum { OWNERS = 20000 };

static int answers;

static void count_answer(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)mutex;
    (void)owner;
    assert_int_equal(outcome->rc, LS_ECANCELED);
    answers++;
}

static const struct ls_mutex_ops ops = {.on_done = count_answer};
static const struct ls_mutex_options options = {.ops = &ops};

/* Nobody listens there. Each acquire that walked along all others took 12 ms. */
static void an_acquire_costs_the_same_for_any_number_of_owners(void **state)
{
    (void)state;
    static const struct ls_session_options roomy = {.maxbuffer = 4 << 20};
    struct client client;
    assert_int_equal(ls_env_pthread_open(&client.env), LS_OK);
    assert_int_equal(ls_session_init(&client.session, client.env, "127.0.0.1:1", TIMEOUT_MS, &roomy), LS_OK);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/limits", &options), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    int64_t began_ms = now_ms();
    for (uint64_t owner = 1; owner <= OWNERS; owner++)
        assert_int_equal(ls_mutex_acquire_start(&client.mutex, owner, -1), LS_OK);
    for (uint64_t owner = OWNERS; owner > 0; owner--)
        assert_int_equal(ls_mutex_cancel(&client.mutex, owner), LS_OK);
    assert_true(now_ms() - began_ms < 5000);
    assert_int_equal(answers, OWNERS);
    client_close(&client);
}

/* ---- as many watches as fit into one request ---- */

enum { PATH_SIZE = 880, WATCHES_MAX = 1200 };

static int granted;
static uint64_t first; /* the owner that is granted the lock first, and keeps it */

static void give_back(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    assert_int_equal(outcome->rc, LS_OK);
    if (first)
        assert_int_equal(ls_mutex_release_start(mutex, owner), LS_OK);
    else
        first = owner;
    __atomic_add_fetch(&granted, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops serving = {.on_done = give_back, .on_participants = on_participants};
static const struct ls_mutex_options serving_options = {.ops = &serving};

static void break_link(struct client *client)
{
    signal_server(SIGSTOP);
    bool suspended = false;
    for (int i = 0; i < PATIENCE_MS / 2 && !suspended; i++, pause_ms(2))
        suspended = ls_session_state(&client->session) != LS_STATE_CONNECTED;
    signal_server(SIGCONT);
    assert_true(suspended);
}

static void a_session_at_its_limit_outlives_a_broken_link(void **state)
{
    (void)state;
    struct client client;
    char path[PATH_SIZE + 1] = "/limits";
    memset(path + strlen(path), 'x', PATH_SIZE - strlen(path));
    path[PATH_SIZE] = 0;
    client_open(&client, path, &serving_options);
    client_wait_state(&client, LS_STATE_CONNECTED);
    int count = 0;
    int rc = LS_OK;
    while (count < WATCHES_MAX && !rc) {
        rc = ls_mutex_acquire_start(&client.mutex, (uint64_t)count + 1, -1);
        count += !rc;
    }
    WAIT_UNTIL(count_participants(&client) == count);
    int64_t id = ls_session_id(&client.session);
    break_link(&client);
    client_wait_state(&client, LS_STATE_CONNECTED);
    assert_int_equal(ls_session_id(&client.session), id);
    assert_int_equal(ls_mutex_release_start(&client.mutex, first), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&granted, __ATOMIC_SEQ_CST) == count);
    assert_int_equal(rc, LS_EOVERFLOW);
    assert_in_range(count, 1100, 1130); /* 1 MiB of paths of 941 bytes */
    client_close(&client);
}

/* ---- a create that the server will not read ---- */

static int breaks;

static void count_breaks(struct ls_session *session, struct ls_session_listener *listener,
                         enum ls_session_event event, int64_t id)
{
    (void)session;
    (void)listener;
    (void)id;
    if (event == LS_SESSION_SUSPENDED)
        __atomic_add_fetch(&breaks, 1, __ATOMIC_SEQ_CST);
}

static void a_create_that_breaks_the_link_spares_the_others(void **state)
{
    (void)state;
    enum { TOO_MUCH = 2 << 20, FOR_MS = 10000 };
    static char contents[TOO_MUCH];
    static const struct ls_session_ops session_ops = {.on_event = count_breaks};
    static const struct ls_session_options session_options = {.maxbuffer = 2 * TOO_MUCH};
    struct client client;
    struct ls_mutex good;
    struct ls_session_listener listener;
    assert_int_equal(ls_env_pthread_open(&client.env), LS_OK);
    assert_int_equal(ls_session_init(&client.session, client.env, server(), TIMEOUT_MS, &session_options),
                     LS_OK);
    ls_session_listener_init(&listener, &session_ops);
    ls_session_listener_add(&client.session, &listener);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/limits/bad", NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&good, &client.session, "/limits/good", NULL), LS_OK);
    assert_int_equal(ls_mutex_set_contents(&client.mutex, contents, TOO_MUCH), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&client.mutex, 1, -1), LS_OK);
    int held = 0;
    for (int64_t until_ms = now_ms() + FOR_MS; now_ms() < until_ms;) {
        held += ls_mutex_acquire(&good, PATIENCE_MS) == LS_OK;
        int rc = ls_mutex_release(&good);
        assert_true(rc == LS_OK || rc == LS_EUNSURE);
        pause_ms(20);
    }
    print_message("%d breaks, the other lock was held %d times\n", __atomic_load_n(&breaks, __ATOMIC_SEQ_CST),
                  held);
    assert_true(__atomic_load_n(&breaks, __ATOMIC_SEQ_CST) < 30);
    assert_true(held > 100);
    assert_int_equal(ls_mutex_close(&good), LS_OK);
    client_close(&client);
}

/* ---- a blocking call beside others' callbacks ---- */

enum { OTHERS = 10, CALLBACK_MS = 300 };

static struct client rival; /* holds the lock that the others wait for */
static pthread_t releaser;
static int others_done;
static int others_in_call; /* callbacks of others on the thread of the blocking call */

static void work_long(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    others_in_call += pthread_equal(pthread_self(), releaser);
    assert_int_equal(outcome->rc, LS_OK);
    assert_int_equal(ls_mutex_release_start(mutex, owner), LS_OK);
    pause_ms(CALLBACK_MS); /* the next one is granted the lock meanwhile */
    __atomic_add_fetch(&others_done, 1, __ATOMIC_SEQ_CST);
}

static int waits_for_our_release; /* callback threads ask, too */

/* The line of our release: the others are served from now on. */
static void let_others_in(struct ls_log *log, enum ls_log_level level, const char *text)
{
    (void)log;
    (void)level;
    if (!strstr(text, "/limits/ours") || !strstr(text, "gives the lock back") ||
        !__atomic_exchange_n(&waits_for_our_release, 0, __ATOMIC_SEQ_CST))
        return;
    assert_int_equal(ls_mutex_release_start(&rival.mutex, 1), LS_OK);
    pause_ms(100);
}

static void a_release_comes_back_when_its_answer_is_there(void **state)
{
    (void)state;
    static struct ls_log log = {.write = let_others_in, .level = LS_LOG_DEBUG};
    static const struct ls_session_options session_options = {.log = &log};
    static const struct ls_mutex_ops long_ops = {.on_done = work_long};
    static const struct ls_mutex_options long_options = {.ops = &long_ops};
    struct client client;
    struct ls_mutex theirs;
    releaser = pthread_self();
    client_open(&rival, "/limits/theirs", NULL);
    assert_int_equal(ls_mutex_acquire_start(&rival.mutex, 1, -1), LS_OK);
    WAIT_UNTIL(ls_mutex_held_by(&rival.mutex, 1));
    assert_int_equal(ls_env_pthread_open(&client.env), LS_OK);
    assert_int_equal(ls_session_init(&client.session, client.env, server(), TIMEOUT_MS, &session_options),
                     LS_OK);
    assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/limits/ours", NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&theirs, &client.session, "/limits/theirs", &long_options), LS_OK);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    for (uint64_t owner = 1; owner <= OTHERS; owner++)
        assert_int_equal(ls_mutex_acquire_start(&theirs, owner + 1000000000000, -1), LS_OK);
    pause_ms(500);
    __atomic_store_n(&waits_for_our_release, 1, __ATOMIC_SEQ_CST);
    int64_t began_ms = now_ms();
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    int64_t took_ms = now_ms() - began_ms;
    WAIT_UNTIL(__atomic_load_n(&others_done, __ATOMIC_SEQ_CST) == OTHERS);
    print_message("the release took %d ms\n", (int)took_ms);
    assert_int_equal(__atomic_load_n(&waits_for_our_release, __ATOMIC_SEQ_CST), 0);
    assert_true(took_ms < CALLBACK_MS);
    assert_int_equal(others_in_call, 0);
    assert_int_equal(ls_mutex_close(&theirs), LS_OK);
    client_close(&client);
    client_close(&rival);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_acquire_costs_the_same_for_any_number_of_owners),
        cmocka_unit_test(a_session_at_its_limit_outlives_a_broken_link),
        cmocka_unit_test(a_create_that_breaks_the_link_spares_the_others),
        cmocka_unit_test(a_release_comes_back_when_its_answer_is_there),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
