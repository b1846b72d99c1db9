/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A session on a handle of the application's, on a real server: the handle is used, never closed, and its
 * watcher and context stay what they were. */
#include "stage.h"

/* An application: a handle with a context of its own, whose watcher tells the session what it hears. */
struct app {
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
    struct ls_loan loan[2];
    struct ls_loan *told; /* the one that the watcher tells */
    zhandle_t *zh;
    int answers; /* to the application's own requests */
};

static void on_app_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct app *app = context;
    (void)path;
    ls_loan_on_event(app->told, zh, type, state);
}

static int revocations;

static void on_revoke(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    (void)token;
    if (ls_mutex_release_start(mutex, owner) == LS_OK)
        __atomic_fetch_add(&revocations, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops count_ops = {.on_participants = on_participants, .on_revoke = on_revoke};
static const struct ls_mutex_options count_options = {.ops = &count_ops};

static zhandle_t *open_handle(struct app *app)
{
    zhandle_t *zh = zookeeper_init(server(), on_app_event, TIMEOUT_MS, NULL, app, ZOO_NO_LOG_CLIENTENV);
    assert_non_null(zh);
    return zh;
}

static void app_init(struct app *app, const char *path)
{
    memset(app, 0, sizeof *app);
    assert_int_equal(ls_env_pthread_open(&app->env), LS_OK);
    assert_int_equal(ls_session_init(&app->session, app->env, server(), 1, NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&app->mutex, &app->session, path, &count_options), LS_OK);
    ls_loan_init(&app->loan[0], app->env);
    ls_loan_init(&app->loan[1], app->env);
    app->told = &app->loan[0];
    app->zh = open_handle(app);
}

/* With a handle that is connected already: no event will say so. */
static void app_open(struct app *app, const char *path)
{
    app_init(app, path);
    WAIT_UNTIL(zoo_state(app->zh) == ZOO_CONNECTED_STATE);
    assert_int_equal(ls_session_lend(&app->session, &app->loan[0], app->zh), LS_OK);
    assert_int_equal(ls_session_state(&app->session), LS_STATE_CONNECTED);
    assert_int_equal(ls_session_timeout_ms(&app->session), TIMEOUT_MS);
}

static void on_answer(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    if (rc == ZOK)
        __atomic_fetch_add((int *)(uintptr_t)data, 1, __ATOMIC_SEQ_CST);
}

/* The handle lives, and is the application's. */
static void assert_usable(struct app *app)
{
    assert_ptr_equal(zoo_get_context(app->zh), app);
    int before = __atomic_load_n(&app->answers, __ATOMIC_SEQ_CST);
    assert_int_equal(zoo_aexists(app->zh, "/", 0, on_answer, &app->answers), ZOK);
    WAIT_UNTIL(__atomic_load_n(&app->answers, __ATOMIC_SEQ_CST) == before + 1);
}

static void app_close(struct app *app, int rc)
{
    assert_int_equal(ls_session_close(&app->session), rc);
    assert_int_equal(ls_mutex_close(&app->mutex), LS_OK);
    if (app->zh)
        zookeeper_close(app->zh);
    ls_env_pthread_close(app->env); /* outlives the handle, like the loan */
}

static void test_turns(void **state)
{
    (void)state;
    struct app app;
    struct client client;
    struct caller waiter;
    app_open(&app, "/loan/turns");
    client_open(&client, "/loan/turns", &count_options);
    client_wait_state(&client, LS_STATE_CONNECTED);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_OK);
        assert_int_equal(ls_mutex_query(&app.mutex, ls_env_self(app.env)), LS_HELD);
        caller_start(&waiter, &client, -1, caller_acquire);
        WAIT_UNTIL(count_participants(&client) == 2);
        assert_int_equal(ls_mutex_release(&app.mutex), LS_OK);
        assert_int_equal(caller_join(&waiter), LS_OK);
    }
    assert_usable(&app);
    client_close(&client);
    app_close(&app, LS_OK);
}

struct turn {
    struct app *app;
    int rc;
    int done;
};

static void *acquire_and_release(void *context)
{
    struct turn *turn = context;
    turn->rc = ls_mutex_acquire(&turn->app->mutex, -1);
    if (!turn->rc)
        turn->rc = ls_mutex_release(&turn->app->mutex);
    __atomic_store_n(&turn->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* The watch on the predecessor stands on the handle on loan, and finds its way to the session. */
static void test_wake_up(void **state)
{
    (void)state;
    struct app app;
    struct client client;
    pthread_t thread;
    struct turn turn = {.app = &app};
    app_open(&app, "/loan/wake");
    client_open(&client, "/loan/wake", &count_options);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_acquire(&app.mutex, 50), LS_ETIMEDOUT); /* its watch is removed again */
    WAIT_UNTIL(ls_session_idle(&app.session));
    assert_int_equal(pthread_create(&thread, NULL, acquire_and_release, &turn), 0);
    WAIT_UNTIL(count_participants(&client) == 2);
    pause_ms(50); /* for its watch: an early release is found by the list, too */
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&turn.done, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
    assert_int_equal(turn.rc, LS_OK);
    client_close(&client);
    app_close(&app, LS_OK);
}

static void test_lent_before_it_is_connected(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, "/loan/early");
    assert_int_equal(ls_session_lend(&app.session, &app.loan[0], app.zh), LS_OK);
    assert_int_equal(ls_mutex_acquire(&app.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_release(&app.mutex), LS_OK);
    app_close(&app, LS_OK);
}

/* The watch of a holder on its own node stands on the handle on loan, too, and a waiter of the same session has one on
 * the same node. */
static void test_revocation(void **state)
{
    (void)state;
    struct app app;
    pthread_t thread;
    struct turn turn = {.app = &app};
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    revocations = 0;
    app_open(&app, "/loan/revoke");
    assert_int_equal(ls_mutex_make_revocable(&app.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_guard(&app.mutex, ls_env_self(app.env), &op, path, sizeof path), LS_OK);
    assert_int_equal(pthread_create(&thread, NULL, acquire_and_release, &turn), 0);
    pause_ms(50); /* for its watch */
    assert_int_equal(ls_mutex_request_revoke(&app.session, path), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&turn.done, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
    assert_int_equal(turn.rc, LS_OK);
    assert_int_equal(__atomic_load_n(&revocations, __ATOMIC_SEQ_CST), 1);
    assert_false(ls_mutex_held_by_me(&app.mutex));
    assert_usable(&app);
    app_close(&app, LS_OK);
}

/* Closing the session gives the lock back, though the handle and its session live on; so does who waits. */
static void test_close_of_a_holder(void **state)
{
    (void)state;
    struct app app;
    struct client client;
    pthread_t thread;
    struct turn turn = {.app = &app};
    app_open(&app, "/loan/close");
    client_open(&client, "/loan/close", &count_options);
    client_wait_state(&client, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_OK);
    assert_int_equal(pthread_create(&thread, NULL, acquire_and_release, &turn), 0);
    WAIT_UNTIL(count_participants(&client) == 2);
    assert_int_equal(ls_session_close(&app.session), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&turn.done, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
    assert_int_equal(turn.rc, LS_ECLOSED);
    assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_ECLOSED);
    assert_int_equal(count_participants(&client), 0);
    assert_usable(&app);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
    app_close(&app, LS_OK);
}

/* The session is lost until the next handle is lent; who waits queues again then. */
static void test_expiry(void **state)
{
    (void)state;
    struct app app;
    struct client client;
    pthread_t thread;
    struct turn turn = {.app = &app};
    app_open(&app, "/loan/expiry");
    client_open(&client, "/loan/expiry", &count_options);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    assert_int_equal(pthread_create(&thread, NULL, acquire_and_release, &turn), 0);
    WAIT_UNTIL(count_participants(&client) == 2);
    clientid_t stolen = *zoo_client_id(app.zh);
    WAIT_UNTIL((try_to_expire(&stolen), is_unrecoverable(app.zh)));
    WAIT_UNTIL(ls_session_state(&app.session) == LS_STATE_LOST);
    assert_int_equal(ls_session_lend(&app.session, &app.loan[1], app.zh), LS_ELOST);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    pause_ms(100);
    assert_int_equal(ls_session_state(&app.session), LS_STATE_LOST); /* no handle is opened for it */
    assert_int_equal(__atomic_load_n(&turn.done, __ATOMIC_SEQ_CST), 0);
    zookeeper_close(app.zh);
    app.told = &app.loan[1];
    app.zh = open_handle(&app);
    assert_int_equal(ls_session_lend(&app.session, &app.loan[1], app.zh), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&turn.done, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
    assert_int_equal(turn.rc, LS_OK);
    client_close(&client);
    app_close(&app, LS_OK);
}

static void test_closed_after_an_expiry(void **state)
{
    (void)state;
    struct app app;
    app_open(&app, "/loan/dead");
    assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_OK);
    clientid_t stolen = *zoo_client_id(app.zh);
    WAIT_UNTIL((try_to_expire(&stolen), is_unrecoverable(app.zh)));
    WAIT_UNTIL(ls_session_state(&app.session) == LS_STATE_LOST);
    zookeeper_close(app.zh);
    app.zh = NULL;
    assert_int_equal(ls_mutex_release(&app.mutex), LS_ELOST);
    app_close(&app, LS_OK);
}

/* What cannot be removed now is left to the end of the handle's session, and the close says so: if the link is
 * known to be broken, and if it breaks while the answer to the removal is awaited. */
static void close_without_a_link(const char *path, bool known)
{
    struct app app;
    struct client client;
    app_open(&app, path);
    assert_int_equal(ls_mutex_acquire(&app.mutex, -1), LS_OK);
    signal_server(SIGSTOP);
    if (known)
        WAIT_UNTIL(ls_session_state(&app.session) == LS_STATE_SUSPENDED);
    int64_t start_ms = now_ms();
    int rc = ls_session_close(&app.session);
    int64_t took_ms = now_ms() - start_ms;
    signal_server(SIGCONT);
    assert_int_equal(rc, LS_EUNSURE);
    if (known)
        assert_true(took_ms < TIMEOUT_MS / 2);
    WAIT_UNTIL(zoo_state(app.zh) == ZOO_CONNECTED_STATE || is_unrecoverable(app.zh));
    app_close(&app, LS_OK);
    client_open(&client, path, &count_options);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    client_close(&client);
}

static void test_close_without_a_link(void **state)
{
    (void)state;
    close_without_a_link("/loan/link/known", true);
    close_without_a_link("/loan/link/unknown", false);
}

static void test_misuse(void **state)
{
    (void)state;
    static const struct ls_auth auth[] = {{.scheme = "digest", .certificate = "a:b", .size = 3}};
    static const struct ls_session_options options = {.auth = auth, .auth_count = 1};
    struct app app;
    struct ls_session other;
    struct ls_loan loan;
    struct ls_env *env;
    app_open(&app, "/loan/misuse");
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    ls_loan_init(&loan, env);
    assert_int_equal(ls_session_init(&other, app.env, server(), 1, NULL), LS_OK);
    assert_int_equal(ls_session_lend(&other, &loan, app.zh), LS_EINVAL); /* another environment's */
    ls_env_pthread_close(env);
    ls_loan_init(&loan, app.env);
    assert_int_equal(ls_session_start(&app.session), LS_EINVAL);
    assert_int_equal(ls_session_lend(&app.session, &app.loan[1], app.zh), LS_EINVAL);
    assert_int_equal(ls_session_lend(&app.session, &app.loan[1], NULL), LS_EINVAL);
    assert_int_equal(ls_session_lend(&app.session, NULL, app.zh), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, app.env, server(), 1, &options), LS_OK);
    assert_int_equal(ls_session_lend(&other, &loan, app.zh), LS_EINVAL);
    /* Other handles' events, and events that are none of the session's. */
    ls_loan_on_event(&app.loan[0], (zhandle_t *)&loan, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE);
    ls_loan_on_event(&app.loan[0], app.zh, ZOO_CHANGED_EVENT, ZOO_EXPIRED_SESSION_STATE);
    assert_int_equal(ls_session_state(&app.session), LS_STATE_CONNECTED);
    app_close(&app, LS_OK);
}

int main(void)
{
    zoo_set_debug_level(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_wake_up),
        cmocka_unit_test(test_lent_before_it_is_connected),
        cmocka_unit_test(test_revocation),
        cmocka_unit_test(test_close_of_a_holder),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_closed_after_an_expiry),
        cmocka_unit_test(test_close_without_a_link),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
