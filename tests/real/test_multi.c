/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several locks at once on real servers: two sessions with one server, and with two if LOCKSTEP_ZK_OTHER names another one. */
#include "stage.h"

#include <lockstep/multi.h>

static struct {
    struct client one; /* its mutex is not used */
    struct ls_session other;
    struct ls_multi multi;
    struct ls_multi_member members[2];
    int losses;
} now;

static const char *other_server(void)
{
    const char *hosts = getenv("LOCKSTEP_ZK_OTHER");
    return hosts ? hosts : server();
}

static void on_lost(struct ls_multi *multi, uint64_t owner, int member)
{
    (void)multi;
    (void)owner;
    (void)member;
    __atomic_add_fetch(&now.losses, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_multi_ops ops = {.on_lost = on_lost};
static const struct ls_multi_options options = {.ops = &ops};

static void open_all(const char *x, const char *y)
{
    now.losses = 0;
    client_open(&now.one, "/real/multi_unused", NULL);
    assert_int_equal(ls_session_init(&now.other, now.one.env, other_server(), TIMEOUT_MS, NULL), LS_OK);
    assert_int_equal(ls_session_start(&now.other), LS_OK);
    assert_int_equal(ls_multi_init(&now.multi, now.members, 2, &options), LS_OK);
    assert_int_equal(ls_multi_add_mutex(&now.multi, &now.other, y), 0);
    assert_int_equal(ls_multi_add_mutex(&now.multi, &now.one.session, x), 1);
}

static void close_all(void)
{
    assert_int_equal(ls_multi_close(&now.multi), LS_OK);
    assert_int_equal(ls_session_close(&now.other), LS_OK);
    client_close(&now.one);
}

static void test_both_servers_have_a_node(void **state)
{
    (void)state;
    struct client rival;
    struct ls_mutex at_other;
    struct ls_session session;
    open_all("/real/multi/x", "/real/multi/y");
    client_open(&rival, "/real/multi/x", NULL);
    assert_int_equal(ls_session_init(&session, rival.env, other_server(), TIMEOUT_MS, NULL), LS_OK);
    assert_int_equal(ls_session_start(&session), LS_OK);
    assert_int_equal(ls_mutex_init(&at_other, &session, "/real/multi/y", NULL), LS_OK);

    assert_int_equal(ls_multi_acquire(&now.multi, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_acquire(&rival.mutex, 200), LS_ETIMEDOUT);
    assert_int_equal(ls_mutex_acquire(&at_other, 200), LS_ETIMEDOUT);
    assert_int_equal(ls_multi_release(&now.multi), LS_OK);

    assert_int_equal(ls_mutex_acquire(&at_other, PATIENCE_MS), LS_OK);
    int64_t start_ms = now_ms();
    assert_int_equal(ls_multi_acquire(&now.multi, 300), LS_ETIMEDOUT);
    assert_in_range(now_ms() - start_ms, 299, 5000);
    assert_int_equal(ls_mutex_acquire(&rival.mutex, PATIENCE_MS), LS_OK); /* x was given back */
    assert_int_equal(ls_mutex_release(&rival.mutex), LS_OK);
    assert_int_equal(ls_mutex_release(&at_other), LS_OK);

    assert_int_equal(ls_mutex_close(&at_other), LS_OK);
    assert_int_equal(ls_session_close(&session), LS_OK);
    client_close(&rival);
    close_all();
}

static void test_the_end_of_one_session_is_the_loss_of_all(void **state)
{
    (void)state;
    struct client rival;
    open_all("/real/multi_lost/x", "/real/multi_lost/y");
    assert_int_equal(ls_multi_acquire(&now.multi, PATIENCE_MS), LS_OK);
    client_open(&rival, "/real/multi_lost/x", NULL);
    assert_int_equal(ls_mutex_acquire(&rival.mutex, 200), LS_ETIMEDOUT);
    assert_int_equal(ls_session_close(&now.other), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&now.losses, __ATOMIC_SEQ_CST) == 1);
    assert_int_equal(ls_multi_query(&now.multi, client_self(&now.one)), LS_NOT_HELD);
    assert_int_equal(ls_mutex_acquire(&rival.mutex, PATIENCE_MS), LS_OK); /* at the other server */
    assert_int_equal(ls_mutex_release(&rival.mutex), LS_OK);
    assert_int_equal(ls_multi_release(&now.multi), LS_ELOST);
    assert_int_equal(ls_multi_acquire(&now.multi, PATIENCE_MS), LS_ECLOSED);
    assert_int_equal(now.losses, 1);
    client_close(&rival);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_servers_have_a_node),
        cmocka_unit_test(test_the_end_of_one_session_is_the_loss_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
