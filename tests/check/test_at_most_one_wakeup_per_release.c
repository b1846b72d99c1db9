/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"

#define PROPERTY "at_most_one_wakeup_per_release"
#define OLD_SESSION 7

static void watches(struct judge *judge, int process, int64_t czxid)
{
    watch_as(judge, EVENT_WATCH_SET, process, czxid, EVENT_WATCH_PREDECESSOR);
}

static void unwatches(struct judge *judge, int process, int64_t czxid)
{
    watch_as(judge, EVENT_WATCH_GONE, process, czxid, EVENT_WATCH_PREDECESSOR);
}

static void watches_list(struct judge *judge, int process)
{
    watch_as(judge, EVENT_WATCH_SET, process, 2, EVENT_WATCH_PARENT);
}

static void deleted_at_20_by(struct judge *judge, int process, int64_t czxid, int by)
{
    show(judge, (struct event){.kind = EVENT_NODE_DELETED,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)by,
                               .code = 1,
                               .zxid = czxid,
                               .cause = 20,
                               .session = SESSION(process)});
}

/* A deletes its contender, to give the lock back. */
static void goes(struct judge *judge, int64_t czxid)
{
    deleted_at_20_by(judge, A, czxid, 1 + A);
}

/* All processes are connected. B, C and D wait, with the nodes 11, 12 and 13, behind A's node 10. */
static void open_with_line(struct judge *judge)
{
    judge_open(judge, PROPERTY, false);
    for (int process = A; process <= D; process++) {
        up(judge, process);
        asked(judge, process);
        created(judge, process, 10 + process);
    }
    granted(judge, A, 10);
}

static void assert_herd(struct judge *judge, const char *both)
{
    assert_violated(judge, EVENT_NODE_DELETED, both);
}

static void one_each_holds(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    for (int process = B; process <= D; process++)
        watches(&judge, process, 9 + process);
    goes(&judge, 10);
    unwatches(&judge, B, 10);
    granted(&judge, B, 11);
    deleted_at_20_by(&judge, B, 11, 1 + B);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void two_behind_one_node_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    watches(&judge, B, 10);
    watches(&judge, D, 10);
    goes(&judge, 10);
    assert_herd(
        &judge,
        "one deletion (zxid 20) wakes both process 1 and process 3, who wait for lock 0; it admits 1");
    judge_close(&judge);
}

/* One process watches the node, another one the child list from which it is deleted, in either order. */
static void the_child_list_counts_as_a_node(void **state)
{
    (void)state;
    for (int lists = 1; lists <= 3; lists++) {
        struct judge judge;
        open_with_line(&judge);
        for (int process = B; process <= C; process++) {
            if (lists & process)
                watches_list(&judge, process);
            else
                watches(&judge, process, 10);
        }
        goes(&judge, 10);
        assert_herd(&judge, "both process 1 and process 2");
        judge_close(&judge);
    }
}

/* A holder may watch its own node, to hear of requests to give the lock back. */
static void a_watch_on_the_own_node_does_not_count(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        struct judge judge;
        open_with_line(&judge);
        watches(&judge, D, 12);
        watch_as(&judge, EVENT_WATCH_SET, C, 12, EVENT_WATCH_OWN);
        show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                    .process = C,
                                    .owner = 1 + A,
                                    .code = 1,
                                    .zxid = 12,
                                    .cause = 20,
                                    .session = old ? OLD_SESSION : SESSION(C)});
        assert_verdict(&judge, old ? CHECK_VIOLATED : CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* B's session ends before its watch on the child list fires, so this watch does not wake B. */
static void the_end_of_a_session_counts_no_watch_of_it(void **state)
{
    (void)state;
    for (int by = 0; by <= 1 + A; by++) {
        struct judge judge;
        open_with_line(&judge);
        watches_list(&judge, B);
        watches_list(&judge, C);
        deleted_at_20_by(&judge, B, 11, by);
        assert_verdict(&judge, by == 0 ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void a_watch_on_no_contender_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    watches(&judge, B, 10);
    watch_as(&judge, EVENT_WATCH_SET, C, 10, EVENT_WATCH_OTHER);
    goes(&judge, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void only_contenders_that_are_deleted_are_judged(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    watches_list(&judge, B);
    watches_list(&judge, C);
    created(&judge, A, 30);
    show(&judge, (struct event){.kind = EVENT_NODE_DELETED, .process = A, .zxid = 31, .cause = 32});
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    goes(&judge, 10);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void only_those_who_wait_count(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct judge judge;
        open_with_line(&judge);
        watches(&judge, B, 10);
        watches(&judge, C, 10);
        granted(&judge, C, 12);
        if (waits)
            asked(&judge, C);
        goes(&judge, 10);
        assert_verdict(&judge, waits ? CHECK_VIOLATED : CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The end of a session deletes several nodes; each may wake the one behind it. */
static void one_per_node_of_a_session_holds(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    created(&judge, A, 14);
    watches(&judge, B, 10);
    watches(&judge, C, 14);
    deleted_at_20_by(&judge, A, 10, 0);
    deleted_at_20_by(&judge, A, 14, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void what_is_gone_does_not_count(void **state)
{
    const struct event ends[] = {{.kind = EVENT_WATCH_GONE, .process = C, .zxid = 10},
                                 {.kind = EVENT_SESSION_CLOSED, .process = C, .session = SESSION(C)},
                                 {.kind = EVENT_CRASHED, .process = C},
                                 {.kind = EVENT_SESSION_CLOSED, .process = C, .session = OLD_SESSION},
                                 {.kind = EVENT_LINK_DOWN, .process = C, .session = SESSION(C)}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct judge judge;
        open_with_line(&judge);
        watches(&judge, B, 10);
        watches(&judge, C, 10);
        show(&judge, ends[i]);
        asked(&judge, C);
        goes(&judge, 10);
        assert_verdict(&judge, i < 3 ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

/* A client can receive the reply that sets a watch after the end of its session. */
static void a_watch_set_in_a_session_that_is_over_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    open_with_line(&judge);
    watches(&judge, B, 10);
    show(&judge,
         (struct event){.kind = EVENT_WATCH_SET, .process = C, .zxid = 10, .code = EVENT_WATCH_PREDECESSOR});
    goes(&judge, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* Two owners of C wait, with the nodes 12 and 14. One gives up, so D comes to watch the node that it
 * watched. */
static void one_of_two_gives_up(struct judge *judge, int by)
{
    open_with_line(judge);
    lock_event(judge, EVENT_ASKED, C, 1, -1);
    created(judge, C, 14);
    watches(judge, C, 11);
    watches(judge, C, 13);
    deleted_at_20_by(judge, C, 12, by);
    watches(judge, D, 11);
}

static void watches_of_who_has_left_do_not_count(void **state)
{
    static const struct {
        int by;
        enum check_verdict verdict;
    } cases[] = {{1 + C, CHECK_HOLDS}, {EVENT_BY_OPERATOR, CHECK_HOLDS}, {0, CHECK_VIOLATED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge judge;
        one_of_two_gives_up(&judge, cases[i].by);
        on(&judge, EVENT_SETTLED, C); /* C still watches a node */
        deleted_at_20_by(&judge, B, 11, 1 + B);
        assert_verdict(&judge, cases[i].verdict);
        judge_close(&judge);
    }
}

/* If a process has no waiting owner, the contender that it deletes was a hold's. A hold has no watch left. */
static void who_has_failed_has_left_and_who_has_released_has_not(void **state)
{
    (void)state;
    for (int releases = 0; releases < 2; releases++) {
        struct judge judge;
        open_with_line(&judge);
        watches(&judge, C, 11);
        if (releases) {
            granted(&judge, C, 12);
            released(&judge, C);
        } else {
            failed(&judge, C);
        }
        deleted_at_20_by(&judge, C, 12, 1 + C);
        asked(&judge, C);
        watches(&judge, D, 11);
        deleted_at_20_by(&judge, B, 11, 1 + B);
        assert_verdict(&judge, releases ? CHECK_VIOLATED : CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* A process with no request under way and no watch has nothing left over from its wait. */
static void who_has_left_counts_again_once_nothing_is_left_over(void **state)
{
    (void)state;
    for (int settled = 0; settled < 2; settled++) {
        struct judge judge;
        one_of_two_gives_up(&judge, 1 + C);
        unwatches(&judge, C, 11);
        unwatches(&judge, C, 13);
        watch_as(&judge, EVENT_WATCH_SET, C, 14, EVENT_WATCH_OWN);
        if (settled)
            on(&judge, EVENT_SETTLED, C);
        watches(&judge, C, 11);
        deleted_at_20_by(&judge, B, 11, 1 + B);
        assert_verdict(&judge, settled ? CHECK_VIOLATED : CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* An eviction can happen at any moment, also right beside the last answer of earlier requests. */
static void who_was_evicted_counts_again_once_it_has_not_waited(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct judge judge;
        open_with_line(&judge);
        deleted_at_20_by(&judge, C, 12, EVENT_BY_OPERATOR);
        on(&judge, EVENT_SETTLED, C);
        if (!waits) {
            failed(&judge, C);
            on(&judge, EVENT_SETTLED, C);
            asked(&judge, C);
        }
        watches(&judge, C, 11);
        watches(&judge, D, 11);
        deleted_at_20_by(&judge, B, 11, 1 + B);
        assert_verdict(&judge, waits ? CHECK_HOLDS : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void nothing_is_kept_of_who_has_crashed(void **state)
{
    struct judge judge;
    (void)state;
    one_of_two_gives_up(&judge, 1 + C);
    on(&judge, EVENT_CRASHED, C);
    on(&judge, EVENT_RESTARTED, C);
    up(&judge, C);
    asked(&judge, C);
    watches(&judge, C, 11);
    deleted_at_20_by(&judge, B, 11, 1 + B);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_each_holds),
        cmocka_unit_test(two_behind_one_node_are_violated),
        cmocka_unit_test(the_child_list_counts_as_a_node),
        cmocka_unit_test(a_watch_on_the_own_node_does_not_count),
        cmocka_unit_test(the_end_of_a_session_counts_no_watch_of_it),
        cmocka_unit_test(a_watch_on_no_contender_does_not_count),
        cmocka_unit_test(only_contenders_that_are_deleted_are_judged),
        cmocka_unit_test(only_those_who_wait_count),
        cmocka_unit_test(one_per_node_of_a_session_holds),
        cmocka_unit_test(what_is_gone_does_not_count),
        cmocka_unit_test(a_watch_set_in_a_session_that_is_over_does_not_count),
        cmocka_unit_test(watches_of_who_has_left_do_not_count),
        cmocka_unit_test(who_has_failed_has_left_and_who_has_released_has_not),
        cmocka_unit_test(who_has_left_counts_again_once_nothing_is_left_over),
        cmocka_unit_test(who_was_evicted_counts_again_once_it_has_not_waited),
        cmocka_unit_test(nothing_is_kept_of_who_has_crashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
