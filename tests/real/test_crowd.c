/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What many owners of one session cost it, in this process alone. */
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
    struct client client;
    client_init(&client, "127.0.0.1:1", "/crowd", &options);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_acquire_costs_the_same_for_any_number_of_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
