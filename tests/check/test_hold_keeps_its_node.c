/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"
#include <lockstep/error.h>
#include <lockstep/recipe.h>

#define PROPERTY "hold_keeps_its_node"
#define BY(process) ((process) + 1) /* actor of NODE_DELETED */
#define BY_NOBODY 0

static void hold(struct judge *judge)
{
    judge_open(judge, PROPERTY, false);
    asked(judge, A);
    created(judge, A, 10);
    granted(judge, A, 10);
    assert_verdict(judge, CHECK_HOLDS);
}

static void node_that_goes_after_the_release_holds(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    released(&judge, A);
    deleted_by(&judge, A, 10, BY(A));
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(check_set_live_bytes(judge.block),
                     sizeof(struct check_table)); /* the judge keeps no record */
    judge_close(&judge);
}

/* A process hears that the node of its hold is deleted. Then only some events end the hold. */
static void who_hears_that_his_node_is_deleted_holds_no_more(void **state)
{
    (void)state;
    enum { NOTHING, UNSURE, OTHERS, CHANGED, DENIES, RELEASES, REFUSED, LOSES, CLOSES, EXPIRES, WHATS };
    static const struct event ends[] = {
        [UNSURE] = {.kind = EVENT_DOUBTS, .code = LS_UNKNOWN},
        [OTHERS] = {.kind = EVENT_DOUBTS, .owner = 1},
        [DENIES] = {.kind = EVENT_DOUBTS},
        [RELEASES] = {.kind = EVENT_RELEASED},
        [REFUSED] = {.kind = EVENT_REFUSED, .code = LS_ELOST},
        [LOSES] = {.kind = EVENT_LOST},
        [CLOSES] = {.kind = EVENT_LOCK_CLOSED},
        [EXPIRES] = {.kind = EVENT_EXPIRED},
    };
    for (int what = NOTHING; what < WHATS; what++) {
        struct judge judge;
        hold(&judge);
        up_all(&judge);
        deleted_by(&judge, A, 10, EVENT_BY_OPERATOR);
        show(&judge,
             (struct event){.kind = EVENT_WOKEN, .process = A, .zxid = 10, .code = what == CHANGED ? 3 : 2});
        if (what != NOTHING && what != CHANGED)
            show(&judge, ends[what]);
        rest(&judge);
        if (what == NOTHING || what == UNSURE || what == OTHERS)
            assert_violated(&judge, EVENT_REST,
                            "at rest process 0 (owner 0) holds lock 0 on a node (czxid 10) that is deleted");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void other_asks(struct judge *judge)
{
    show(judge, (struct event){.kind = EVENT_ASKED, .process = A, .owner = 1, .code = -1});
}

static void other_fails(struct judge *judge)
{
    show(judge, (struct event){.kind = EVENT_FAILED, .process = A, .owner = 1, .code = LS_ETIMEDOUT});
}

/* The watch may be another owner's, which waits, gave up, or asked before the holder did. */
static void a_holder_does_not_hear_what_another_owner_hears(void **state)
{
    enum { WAITS, GAVE_UP, ASKED_FIRST, NEVER_TOGETHER, CASES };
    (void)state;
    for (int what = WAITS; what < CASES; what++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        up_all(&judge);
        if (what >= ASKED_FIRST)
            other_asks(&judge);
        if (what == NEVER_TOGETHER)
            other_fails(&judge);
        asked(&judge, A);
        created(&judge, A, 10);
        if (what == ASKED_FIRST)
            other_fails(&judge);
        granted(&judge, A, 10);
        if (what <= GAVE_UP)
            other_asks(&judge);
        if (what == GAVE_UP)
            other_fails(&judge);
        deleted_by(&judge, A, 10, EVENT_BY_OPERATOR);
        show(&judge, (struct event){.kind = EVENT_WOKEN, .process = A, .zxid = 10, .code = 2});
        rest(&judge);
        if (what == NEVER_TOGETHER)
            assert_violated(&judge, EVENT_REST, "holds lock 0 on a node (czxid 10) that is deleted");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void listens(struct judge *judge)
{
    show(judge, (struct event){.kind = EVENT_LISTENS, .process = A});
}

/* A holder that listens to requests has a watch on its node, or reads the node. */
static void a_listener_hears_that_its_node_is_deleted(void **state)
{
    enum { DENIED, HELD, DEAF, REFUSED, CLOSED, BY_A_SERVER, CASES };
    (void)state;
    for (int what = DENIED; what < CASES; what++) {
        struct judge judge;
        hold(&judge);
        judge.set.context.refusing = what == REFUSED;
        up_all(&judge);
        if (what != DEAF)
            listens(&judge);
        if (what == CLOSED)
            show(&judge, (struct event){.kind = EVENT_LOCK_CLOSED, .process = A});
        deleted_by(&judge, A, 10, what == BY_A_SERVER ? BY_NOBODY : EVENT_BY_OPERATOR);
        if (what == DENIED)
            show(&judge, (struct event){.kind = EVENT_DOUBTS, .process = A});
        rest(&judge);
        if (what == HELD)
            assert_violated(&judge, EVENT_REST, "holds lock 0 on a node (czxid 10) that is deleted");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The listener's first read of its node finds none. */
static void a_listener_is_granted_a_node_that_is_deleted(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    up_all(&judge);
    listens(&judge);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted_by(&judge, A, 10, EVENT_BY_OPERATOR);
    granted(&judge, A, 10);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "holds lock 0 on a node (czxid 10) that is deleted");
    judge_close(&judge);
}

static void node_that_a_process_deletes_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    deleted_by(&judge, A, 10, BY(A));
    assert_violated(&judge, EVENT_NODE_DELETED,
                    "process 0 deleted the node (czxid 10) with which process 0 (owner 0)");
    judge_close(&judge);
    hold(&judge);
    deleted_by(&judge, A, 10, BY(B));
    assert_violated(&judge, EVENT_NODE_DELETED,
                    "process 1 deleted the node (czxid 10) with which process 0 (owner 0)");
    judge_close(&judge);
}

static void a_release_of_one_level_does_not_free(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    asked(&judge, A);
    granted_to(&judge, A, 0, 10, 2);
    lock_event(&judge, EVENT_RELEASED, A, 0, 1);
    deleted_by(&judge, A, 10, BY(A));
    assert_violated(&judge, EVENT_NODE_DELETED, "holds lock 0");
    judge_close(&judge);
}

static void operator_and_servers_are_excepted(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    deleted_by(&judge, A, 10, BY_NOBODY);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* A waits, and the operator deletes its node. A list that A read before may grant A the lock; a list that A
 * reads after it may not. */
static void grant_on_a_node_that_a_list_has_shown_to_be_gone_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int listed = 0; listed < 4; listed++) {
        judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        created(&judge, A, 10);
        if (listed == 1)
            lock_event(&judge, EVENT_LISTED, A, 0, 0);
        deleted_by(&judge, A, 10, EVENT_BY_OPERATOR);
        if (listed >= 2)
            lock_event(&judge, EVENT_LISTED, listed == 2 ? A : B, 0, 0);
        granted(&judge, A, 10);
        if (listed == 2)
            assert_violated(&judge, EVENT_GRANTED, "which an operator, as a list has shown, had deleted");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
    hold(&judge);
    deleted_by(&judge, A, 10, EVENT_BY_OPERATOR);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void what_is_lost_or_dead_holds_no_more(void **state)
{
    static const enum event_kind ends[] = {EVENT_LOST, EVENT_CRASHED, EVENT_STOPPED};
    struct judge judge;
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        hold(&judge);
        on(&judge, ends[i], A);
        deleted_by(&judge, A, 10, BY(B));
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void other_nodes_are_not_meant(void **state)
{
    struct judge judge;
    (void)state;
    hold(&judge);
    created(&judge, A, 11);
    deleted_by(&judge, A, 11, BY(A));
    created(&judge, B, 12);
    deleted_by(&judge, B, 12, BY(A));
    show(&judge,
         (struct event){
             .kind = EVENT_NODE_DELETED, .process = A, .lock = 1, .owner = BY(B), .code = 1, .zxid = 10});
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* A waits. A request deletes A's node before A is told that it holds. */
static void grant_on_a_deleted_node_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    for (int actor = BY(A); actor <= BY(B); actor++) {
        judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        created(&judge, A, 10);
        deleted_by(&judge, A, 10, actor);
        granted(&judge, A, 10);
        assert_violated(&judge, EVENT_GRANTED, "on its node (czxid 10), which a process had deleted");
        judge_close(&judge);
    }
}

static void grant_on_a_node_that_the_operator_deleted_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted_by(&judge, A, 10, BY_NOBODY);
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void grant_on_the_next_node_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted_by(&judge, A, 10, BY(A));
    created(&judge, A, 11);
    granted(&judge, A, 11);
    released(&judge, A);
    assert_verdict(&judge, CHECK_HOLDS);
    deleted_by(&judge, A, 11, BY(A));
    assert_int_equal(check_set_live_bytes(judge.block), sizeof(struct check_table));
    judge_close(&judge);
}

static void without_grants_it_is_not_judged(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted_by(&judge, A, 10, BY(A));
    failed(&judge, A);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    assert_int_equal(check_set_live_bytes(judge.block), sizeof(struct check_table));
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_that_goes_after_the_release_holds),
        cmocka_unit_test(who_hears_that_his_node_is_deleted_holds_no_more),
        cmocka_unit_test(a_holder_does_not_hear_what_another_owner_hears),
        cmocka_unit_test(a_listener_hears_that_its_node_is_deleted),
        cmocka_unit_test(a_listener_is_granted_a_node_that_is_deleted),
        cmocka_unit_test(node_that_a_process_deletes_is_violated),
        cmocka_unit_test(a_release_of_one_level_does_not_free),
        cmocka_unit_test(operator_and_servers_are_excepted),
        cmocka_unit_test(grant_on_a_node_that_a_list_has_shown_to_be_gone_is_violated),
        cmocka_unit_test(what_is_lost_or_dead_holds_no_more),
        cmocka_unit_test(other_nodes_are_not_meant),
        cmocka_unit_test(grant_on_a_deleted_node_is_violated),
        cmocka_unit_test(grant_on_a_node_that_the_operator_deleted_holds),
        cmocka_unit_test(grant_on_the_next_node_holds),
        cmocka_unit_test(without_grants_it_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
