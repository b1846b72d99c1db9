/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "no_orphan_node"

static void one_node_per_owner_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void two_nodes_for_one_waiter_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    created(&judge, A, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    rest(&judge);
    assert_violated(&judge, EVENT_REST,
                    "at rest process 0 has 2 contender nodes on lock 0 (czxid 10) for 1 owner");
    judge_close(&judge);
}

static void node_of_an_ended_acquire_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    failed(&judge, A);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "1 contender node on lock 0 (czxid 10) for 0 owners");
    judge_close(&judge);
}

/* A close gives back the holds of its lock. */
static void node_of_a_closed_hold_is_violated(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        up_all(&judge);
        asked(&judge, A);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, 0);
        if (gone)
            deleted(&judge, A, 10, 20);
        rest(&judge);
        if (gone)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REST, "1 contender node on lock 0 (czxid 10) for 0 owners");
        judge_close(&judge);
    }
}

/* A refused close ends no hold, nor does the close of another process or lock. */
static void node_of_a_hold_that_goes_on_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_LOCK_CLOSED, A, 0, -14);
    lock_event(&judge, EVENT_LOCK_CLOSED, B, 0, 0);
    show(&judge, (struct event){.kind = EVENT_LOCK_CLOSED, .process = A, .lock = 1});
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void removed_before_rest_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    failed(&judge, A);
    deleted(&judge, A, 10, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* Excuses for a node without an owner while the recipe says that it is idle. */
static void a_node_beside_an_idle_recipe_is_violated(void **state)
{
    (void)state;
    enum { NOTHING, BUSY, RELEASE, WAITER, LOSS, DEFECT, LINK, WHATS };
    for (int what = NOTHING; what < WHATS; what++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        up_all(&judge);
        asked(&judge, A);
        created(&judge, A, 10);
        granted(&judge, A, 10);
        lock_event(&judge, EVENT_RELEASED, A, 0, 0);
        if (what != RELEASE)
            lock_event(&judge, EVENT_FREED, A, 0, 0);
        if (what == WAITER)
            asked(&judge, A);
        if (what == LOSS)
            on(&judge, EVENT_LOST, A);
        if (what == DEFECT)
            show(&judge, (struct event){.kind = EVENT_FAULT, .process = A, .owner = EVENT_FAULT_NODES});
        if (what == LINK)
            on(&judge, EVENT_LINK_DOWN, A);
        show(&judge, (struct event){.kind = EVENT_SETTLED, .process = A, .code = what != BUSY});
        if (what == NOTHING)
            assert_violated(&judge, EVENT_SETTLED,
                            "process 0 says that it is idle, but has 1 contender node on lock 0 (czxid 10) "
                            "for 0 owners");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* A create that is under way after the end of its acquire means that clean-up is still to do. */
static void a_create_behind_the_end_of_an_acquire_is_violated(void **state)
{
    (void)state;
    enum { NOTHING, BUSY, WAITER, LOSS, DEFECT, LINK, FORMER_SESSION, OTHER_CHILD, WHATS };
    for (int what = NOTHING; what < WHATS; what++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        up_all(&judge);
        asked(&judge, A);
        if (what != WAITER)
            failed(&judge, A);
        if (what == LOSS)
            on(&judge, EVENT_LOST, A);
        if (what == DEFECT)
            show(&judge, (struct event){.kind = EVENT_FAULT, .process = A, .owner = EVENT_FAULT_NODES});
        if (what == LINK)
            on(&judge, EVENT_LINK_DOWN, A);
        show(&judge, (struct event){.kind = EVENT_NODE_CREATED,
                                    .process = A,
                                    .zxid = 10,
                                    .session = what == FORMER_SESSION ? 0x99 : SESSION(A),
                                    .code = what != OTHER_CHILD,
                                    .cause = what != BUSY});
        if (what == NOTHING)
            assert_violated(&judge, EVENT_NODE_CREATED,
                            "process 0 says that it is idle, but its create of a contender node on lock 0 "
                            "(czxid 10) was under way");
        else
            assert_true(verdict(&judge) != CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void nodes_of_the_dead_are_the_servers_business(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    on(&judge, EVENT_CRASHED, A);
    created_in(&judge, B, 11, 0x99); /* node of a former session of B */
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void without_nodes_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    asked(&judge, A);
    failed(&judge, A);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_per_owner_holds),
        cmocka_unit_test(two_nodes_for_one_waiter_are_violated),
        cmocka_unit_test(node_of_an_ended_acquire_is_violated),
        cmocka_unit_test(node_of_a_closed_hold_is_violated),
        cmocka_unit_test(node_of_a_hold_that_goes_on_holds),
        cmocka_unit_test(removed_before_rest_holds),
        cmocka_unit_test(a_node_beside_an_idle_recipe_is_violated),
        cmocka_unit_test(a_create_behind_the_end_of_an_acquire_is_violated),
        cmocka_unit_test(nodes_of_the_dead_are_the_servers_business),
        cmocka_unit_test(without_nodes_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
