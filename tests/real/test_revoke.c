/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Revocation on a real server: a holder is asked by another session, releases in the callback or not, and goes on
 * listening when a waiter of its own process gives up. */
#include "stage.h"

/* How often a holder was asked, and for which hold. */
static int times_asked;
static int64_t token_asked;
static bool gives_back;

static int asked(void)
{
    return __atomic_load_n(&times_asked, __ATOMIC_SEQ_CST);
}

static void on_revoke(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    __atomic_store_n(&token_asked, token, __ATOMIC_SEQ_CST);
    if (gives_back)
        assert_int_equal(ls_mutex_release_start(mutex, owner), LS_OK);
    __atomic_add_fetch(&times_asked, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops holder_ops = {.on_participants = on_participants, .on_revoke = on_revoke};
static const struct ls_mutex_options holder_options = {.ops = &holder_ops};

/* The path of the first contender. */
struct first {
    int done;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
};

static void on_first(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list, int count)
{
    struct first *first = user;
    if (!rc && count > 0)
        rc = ls_mutex_contender_path(mutex, list[0].name, first->path, sizeof first->path);
    __atomic_store_n(&first->done, rc ? rc : 1 + count, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops asker_ops = {.on_participants = on_first};
static const struct ls_mutex_options asker_options = {.ops = &asker_ops};

/* Asks as an application would: who takes part, and then the first of them. */
static int ask_first(struct client *asker)
{
    struct first first = {.done = 0};
    assert_int_equal(ls_mutex_participants_start(&asker->mutex, &first), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&first.done, __ATOMIC_SEQ_CST) != 0);
    if (first.done <= 1)
        fail_msg("who takes part: %d (1: nobody, below 0: an error)", first.done);
    return ls_mutex_request_revoke(&asker->session, first.path);
}

static void open_both(struct client *holder, struct client *asker, const char *path)
{
    times_asked = 0;
    gives_back = false;
    client_open(holder, path, &holder_options);
    client_open(asker, path, &asker_options);
    client_wait_state(holder, LS_STATE_CONNECTED);
    client_wait_state(asker, LS_STATE_CONNECTED);
}

static void close_both(struct client *holder, struct client *asker)
{
    client_close(asker);
    client_close(holder);
}

static void test_each_request_is_told(void **state)
{
    (void)state;
    struct client holder, asker;
    open_both(&holder, &asker, "/real/revoke/told");
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    for (int times = 1; times <= 3; times++) {
        assert_int_equal(ask_first(&asker), LS_OK);
        WAIT_UNTIL(asked() == times);
        assert_int_equal(token_asked, ls_mutex_token(&holder.mutex, client_self(&holder)));
    }
    assert_true(ls_mutex_held_by_me(&holder.mutex)); /* nobody has made it give the lock back */
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    assert_int_equal(asked(), 3);
    close_both(&holder, &asker);
}

static void test_a_holder_gives_the_lock_to_who_waits(void **state)
{
    (void)state;
    struct client holder, asker;
    struct caller waiter;
    open_both(&holder, &asker, "/real/revoke/given");
    gives_back = true;
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    caller_start(&waiter, &asker, -1, caller_acquire);
    WAIT_UNTIL(count_participants(&holder) == 2);
    assert_int_equal(ask_first(&asker), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_OK);
    assert_int_equal(waiter.release_rc, LS_OK);
    assert_int_equal(asked(), 1);
    assert_false(ls_mutex_held_by_me(&holder.mutex));
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_ENOTOWNER);
    close_both(&holder, &asker);
}

static void test_a_request_that_stands_is_found_later(void **state)
{
    (void)state;
    struct client holder, asker;
    open_both(&holder, &asker, "/real/revoke/later");
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    assert_int_equal(ask_first(&asker), LS_OK);
    assert_int_equal(count_participants(&holder), 1); /* answered behind whatever it would have heard */
    assert_int_equal(asked(), 0);
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    WAIT_UNTIL(asked() == 1);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    close_both(&holder, &asker);
}

static void test_who_is_gone_cannot_be_asked(void **state)
{
    (void)state;
    struct client holder, asker;
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    open_both(&holder, &asker, "/real/revoke/gone");
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_guard(&holder.mutex, client_self(&holder), &op, path, sizeof path), LS_OK);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_request_revoke(&asker.session, path), LS_ENOENT);
    assert_int_equal(ls_mutex_request_revoke(&asker.session, "/real/revoke"), LS_EINVAL);
    assert_int_equal(ask_first(&asker), LS_OK);
    WAIT_UNTIL(asked() == 1);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    close_both(&holder, &asker);
}

static void test_a_waiter_that_gives_up_leaves_the_holder_its_watch(void **state)
{
    (void)state;
    struct client holder, asker;
    struct caller waiter;
    open_both(&holder, &asker, "/real/revoke/shared");
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    caller_start(&waiter, &holder, 300, caller_acquire);
    assert_int_equal(caller_join(&waiter), LS_ETIMEDOUT);
    WAIT_UNTIL(ls_session_idle(&holder.session));
    assert_int_equal(ask_first(&asker), LS_OK);
    WAIT_UNTIL(asked() == 1);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    close_both(&holder, &asker);
}

/* A handle of the application's, which tells the session what it hears. */
static void on_app_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    ls_loan_on_event(context, zh, type, state);
}

static void test_a_holder_on_a_borrowed_handle_is_asked(void **state)
{
    (void)state;
    struct client holder, asker;
    struct ls_loan loan;
    times_asked = 0;
    gives_back = false;
    client_init(&holder, server(), "/real/revoke/loan", &holder_options);
    client_open(&asker, "/real/revoke/loan", &asker_options);
    client_wait_state(&asker, LS_STATE_CONNECTED);
    ls_loan_init(&loan, holder.env);
    zhandle_t *zh = zookeeper_init(server(), on_app_event, TIMEOUT_MS, NULL, &loan, ZOO_NO_LOG_CLIENTENV);
    assert_non_null(zh);
    assert_int_equal(ls_session_lend(&holder.session, &loan, zh), LS_OK);
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    struct caller waiter;
    caller_start(&waiter, &holder, 300, caller_acquire); /* it watches the same node, and gives up */
    assert_int_equal(caller_join(&waiter), LS_ETIMEDOUT);
    WAIT_UNTIL(ls_session_idle(&holder.session));
    for (int times = 1; times <= 2; times++) {
        assert_int_equal(ask_first(&asker), LS_OK);
        WAIT_UNTIL(asked() == times);
    }
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    client_close(&asker);
    assert_int_equal(ls_session_close(&holder.session), LS_OK);
    assert_int_equal(ls_mutex_close(&holder.mutex), LS_OK);
    zookeeper_close(zh);
    ls_env_pthread_close(holder.env);
}

/* The watch outlives the link: what is written after a reconnect is told too. */
static void test_an_outage_does_not_make_deaf(void **state)
{
    (void)state;
    struct client holder, asker;
    open_both(&holder, &asker, "/real/revoke/outage");
    assert_int_equal(ls_mutex_make_revocable(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    signal_server(SIGSTOP);
    WAIT_UNTIL(ls_session_state(&holder.session) != LS_STATE_CONNECTED);
    signal_server(SIGCONT);
    client_wait_state(&holder, LS_STATE_CONNECTED);
    client_wait_state(&asker, LS_STATE_CONNECTED);
    /* The session may have been lost meanwhile; then the lock is taken anew. */
    if (!ls_mutex_held_by_me(&holder.mutex)) {
        assert_int_equal(ls_mutex_release(&holder.mutex), LS_ELOST);
        assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    }
    assert_int_equal(ask_first(&asker), LS_OK);
    WAIT_UNTIL(asked() == 1);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    close_both(&holder, &asker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request_is_told),
        cmocka_unit_test(test_a_holder_gives_the_lock_to_who_waits),
        cmocka_unit_test(test_a_request_that_stands_is_found_later),
        cmocka_unit_test(test_who_is_gone_cannot_be_asked),
        cmocka_unit_test(test_a_waiter_that_gives_up_leaves_the_holder_its_watch),
        cmocka_unit_test(test_a_holder_on_a_borrowed_handle_is_asked),
        cmocka_unit_test(test_an_outage_does_not_make_deaf),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
