/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A handle on loan: what the client library is asked for, and a handle that dies while its session is being
 * closed. */
#include "stage.h"

static struct ls_session borrower;
static struct ls_mutex mutex;
static struct ls_loan loan;
static zhandle_t *handle;
static bool killed; /* the handle dies while somebody waits */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data);
/* NOLINTEND(bugprone-reserved-identifier) */

void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)waiter;
    assert_true(killed); /* in a world nothing else ends a wait */
    killed = false;
    ls_env_unlock(env);
    ls_loan_on_event(&loan, handle, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE);
    ls_env_lock(env);
}

/* It would take the application's own watches along. */
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data)
{
    (void)path, (void)type, (void)local, (void)done, (void)data;
    assert_ptr_not_equal(zh, handle);
    return ZSYSTEMERROR;
}

static void on_app_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    (void)context;
    ls_loan_on_event(&loan, zh, type, state);
}

static void tell_done(struct ls_mutex *of, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)of;
    stage_add(stage.told, "%d %s", (int)owner, stage_err(outcome->rc));
}

static const struct ls_mutex_ops ops = {.on_done = tell_done};
static const struct ls_mutex_options options = {.ops = &ops};

static void lend(struct probe *probe)
{
    assert_int_equal(ls_session_init(&borrower, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&mutex, &borrower, "/locks/x", &options), LS_OK);
    ls_loan_init(&loan, probe->session.env);
    handle = zookeeper_init(probe->session.hosts, on_app_event, 4000, NULL, &loan, 0);
    assert_non_null(handle);
    assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_OK);
}

static void ask(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, -1), LS_OK);
}

static void cancel(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_cancel(&mutex, 1), LS_OK);
}

static void release(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_release_start(&mutex, 1), LS_OK);
}

static void give_back(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_close(&borrower), LS_OK);
    assert_null(loan.session);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    ls_loan_on_event(&loan, handle, ZOO_SESSION_EVENT,
                     ZOO_EXPIRED_SESSION_STATE); /* of no interest any more */
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CLOSED);
    assert_int_equal(zookeeper_close(handle), ZOK);
}

/* The removal of the node is in flight when the handle dies: its answer may never come, or come with the
 * close. */
static void give_back_what_dies(struct probe *probe)
{
    (void)probe;
    killed = true;
    assert_int_equal(ls_session_close(&borrower), LS_ELOST);
    assert_false(killed);
    assert_ptr_equal(loan.session, &borrower);
    assert_int_equal(zookeeper_close(handle), ZOK);
    assert_int_equal(ls_session_close(&borrower), LS_OK);
    assert_null(loan.session);
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CLOSED);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

static void begin(void)
{
    killed = false;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(0, lend);
    play("settle");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
}

/* A watch is removed as the pair that it is, and a wake-up finds its claim without the handle's context. */
static void watches_come_and_go(void **state)
{
    (void)state;
    begin();
    play("a acquire", "settle");
    stage_job(0, ask);
    play("settle");
    assert_int_equal(fakezk_watches(0), 1);
    stage_job(0, cancel);
    play("settle");
    told("a granted; 1 ECANCELED");
    assert_int_equal(stage.nodes, 1);
    stage_job(0, ask);
    play("settle", "a release", "settle");
    told("a freed; 1 ok");
    stage_job(0, release);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void a_handle_that_dies_while_it_is_given_back_is_closed_first(void **state)
{
    (void)state;
    begin();
    stage_job(0, ask);
    play("settle");
    told("1 ok");
    stage_job(0, give_back_what_dies);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_come_and_go),
        cmocka_unit_test(a_handle_that_dies_while_it_is_given_back_is_closed_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
