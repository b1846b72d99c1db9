/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Judges of locks with nodes that queue (D15): a contender is created only by a process whose node is first
 * in the queue. A hold has a contender for each unit. Here a lock has three units, and a hold takes two. */
#include "check/judge.h"
#include "check/state.h"

static const struct ls_lock_spec SEVERAL[2] = {
    {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 3, .count = 2},
    {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 3, .count = 2, .group = 1},
};

/* Numbers of the two directories. */
enum { CONTENDERS, QUEUE };

static void begin(struct judge *judge, const char *property)
{
    const struct check_context context = {
        .processes = 4, .locks = 2, .specs = SEVERAL, .contender_per_unit = true, .queues = true};
    judge_open_in(judge, property, &context);
    for (int process = A; process <= D; process++)
        up(judge, process);
}

static void queued(struct judge *judge, enum event_kind kind, int process, int64_t czxid, int64_t cause)
{
    show(judge, (struct event){.kind = (uint8_t)kind,
                               .process = (uint8_t)process,
                               .code = CODE_QUEUED,
                               .zxid = czxid,
                               .cause = cause,
                               .owner = kind == EVENT_NODE_DELETED ? (uint8_t)(1 + process) : QUEUE,
                               .session = SESSION(process)});
}

static void queues(struct judge *judge, int process, int64_t czxid)
{
    queued(judge, EVENT_NODE_CREATED, process, czxid, 0);
}

static void leaves(struct judge *judge, int process, int64_t czxid)
{
    queued(judge, EVENT_NODE_DELETED, process, czxid, czxid + 100);
}

/* Lets the process hold by two nodes: `czxid` and the next one. */
static void holds_two(struct judge *judge, int process, int64_t czxid)
{
    asked(judge, process);
    created(judge, process, czxid);
    created(judge, process, czxid + 1);
    granted(judge, process, czxid);
}

/* ---- units ---- */

static void nodes_count_one_unit_each(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct judge judge;
        begin(&judge, "at_most_one_holder");
        holds_two(&judge, A, 10);
        if (gone)
            deleted(&judge, A, 10, 15); /* one unit of three is still taken */
        holds_two(&judge, B, 20);
        if (gone)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 0");
        judge_close(&judge);
    }
}

static void a_hold_has_a_node_for_each_unit(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "at_most_one_holder");
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    assert_violated(&judge, EVENT_GRANTED, "was granted 2 units of lock 0 but has 1 node for them");
    judge_close(&judge);
}

/* A node does not count if another owner holds by it, if it was given back, or if its session is over. */
static void a_node_of_another_hold_does_not_count(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct judge judge;
        begin(&judge, "at_most_one_holder");
        holds_two(&judge, A, 10);
        if (how == 1)
            released(&judge, A);
        if (how == 2)
            on(&judge, EVENT_LOST, A);
        deleted(&judge, A, 10, 12);
        lock_event(&judge, EVENT_ASKED, A, 1, -1);
        created(&judge, A, 20);
        if (how == 3)
            created(&judge, A, 21);
        granted_to(&judge, A, 1, 20, 1);
        if (how < 3)
            assert_violated(&judge, EVENT_GRANTED, "has 1 node for them");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* The operator has deleted a queue node, so two processes created contenders. B's second node is behind
 * three. */
static void each_node_of_a_grant_is_admitted(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "at_most_one_holder");
    asked(&judge, A);
    asked(&judge, B);
    created(&judge, B, 10);
    created(&judge, A, 11);
    created(&judge, A, 12);
    created(&judge, B, 13);
    granted(&judge, B, 10);
    assert_violated(&judge, EVENT_GRANTED, "its node (czxid 13) stands behind that of process 1");
    judge_close(&judge);
}

/* The operator deletes the node after the process read the list that grants the lock. */
static void a_node_that_the_operator_deletes_counts(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "at_most_one_holder");
    asked(&judge, A);
    created(&judge, A, 10);
    created(&judge, A, 11);
    show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                .process = A,
                                .code = 1,
                                .owner = EVENT_BY_OPERATOR,
                                .zxid = 11,
                                .cause = 12,
                                .session = SESSION(A)});
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void each_node_of_a_hold_is_kept(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct judge judge;
        begin(&judge, "hold_keeps_its_node");
        holds_two(&judge, A, 10);
        if (back)
            released(&judge, A);
        show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                    .process = A,
                                    .code = 1,
                                    .owner = 1 + B,
                                    .zxid = 11,
                                    .cause = 12,
                                    .session = SESSION(A)});
        if (back)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_NODE_DELETED, "process 1 deleted the node (czxid 11)");
        judge_close(&judge);
    }
}

static void a_release_is_done_behind_all_its_nodes(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++) {
        struct judge judge;
        begin(&judge, "release_matches_acquire");
        holds_two(&judge, A, 10);
        released(&judge, A);
        deleted(&judge, A, 10, 12);
        if (!left)
            deleted(&judge, A, 11, 13);
        freed(&judge, A);
        if (left)
            assert_violated(&judge, EVENT_FREED, "was reported as done, but its node stands");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void who_does_not_queue_passes_those_who_do(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct judge judge;
        begin(&judge, "granted_in_order");
        asked(&judge, A);
        asked(&judge, B);
        if (!late)
            queues(&judge, A, 10);
        created(&judge, B, 11);
        created(&judge, B, 12);
        if (late)
            queues(&judge, A, 13);
        granted(&judge, B, 11);
        if (late)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_GRANTED, "was granted lock 0 before process 0");
        judge_close(&judge);
    }
}

static void the_second_node_of_a_hold_waits_for_nobody(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_lost_wakeup");
    holds_two(&judge, A, 10);
    asked(&judge, B);
    queues(&judge, B, 12);
    created(&judge, B, 20);
    created(&judge, B, 21);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    deleted(&judge, A, 10, 30);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "but there is room; first is a node of process 1");
    judge_close(&judge);
}

/* The operator has deleted a queue node, so two processes create contenders at once. */
static void a_hold_between_others_is_not_admitted_by_its_first(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_lost_wakeup");
    asked(&judge, A);
    asked(&judge, B);
    created(&judge, A, 10);
    created(&judge, B, 11);
    created(&judge, B, 12);
    created(&judge, A, 13);
    granted(&judge, B, 11);
    rest(&judge); /* A lacks one unit */
    assert_verdict(&judge, CHECK_HOLDS);
    deleted(&judge, B, 11, 20);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "but there is room; first is a node of process 0");
    judge_close(&judge);
}

static void a_hold_needs_no_third_node(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_orphan_node");
    holds_two(&judge, A, 10);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    created(&judge, A, 12);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "3 contender nodes");
    judge_close(&judge);
}

static void each_contender_may_have_a_watch(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_watch_left_behind");
    asked(&judge, A);
    for (int watches = 1; watches <= 3; watches++) {
        watch_as(&judge, EVENT_WATCH_SET, A, watches, EVENT_WATCH_PARENT);
        rest(&judge);
        if (watches < 3)
            assert_verdict(&judge, CHECK_HOLDS);
    }
    assert_violated(&judge, EVENT_REST, "3 on predecessors or the child list");
    judge_close(&judge);
}

static void a_wait_may_create_its_contenders_three_times(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "bounded_work");
    asked(&judge, A);
    for (int i = 0; i < 6; i++)
        created(&judge, A, 10 + i);
    requested(&judge, A, EVENT_REQUEST_CHILDREN);
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    asked(&judge, A);
    for (int i = 0; i < 7; i++)
        created(&judge, A, 20 + i);
    assert_violated(&judge, EVENT_NODE_CREATED, "more than 6 contenders");
    judge_close(&judge);
}

/* ---- nodes that queue ---- */

static void who_holds_needs_no_node_that_queues(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_orphan_node");
    asked(&judge, A);
    queues(&judge, A, 10);
    created(&judge, A, 11);
    created(&judge, A, 12);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    granted(&judge, A, 11);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has 1 node in the queue of lock 0 for 0 waiting owners");
    judge_close(&judge);
}

static void who_is_idle_queues_no_more(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_orphan_node");
    asked(&judge, A);
    queues(&judge, A, 10);
    lock_event(&judge, EVENT_FAILED, A, 0, -3);
    lock_event(&judge, EVENT_SETTLED, A, 0, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    lock_event(&judge, EVENT_SETTLED, A, 0, 1);
    assert_violated(&judge, EVENT_SETTLED, "says that it is idle, but has 1 node in the queue");
    judge_close(&judge);
}

static void the_first_in_the_queue_takes_what_is_free(void **state)
{
    (void)state;
    for (int paused = 0; paused < 2; paused++) {
        struct judge judge;
        begin(&judge, "no_lost_wakeup");
        asked(&judge, A);
        queues(&judge, A, 10);
        asked(&judge, B);
        queues(&judge, B, 11);
        if (paused)
            on(&judge, EVENT_PAUSED, A);
        rest(&judge);
        if (paused) /* B waits behind a process that cannot act */
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REST, "but there is room and the line is empty");
        judge_close(&judge);
    }
}

static void watches_list(struct judge *judge, int process, int directory)
{
    show(judge, (struct event){.kind = EVENT_WATCH_SET,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)directory,
                               .code = EVENT_WATCH_PARENT,
                               .zxid = 4 + directory,
                               .session = SESSION(process)});
}

static void a_list_wakes_of_its_own_nodes(void **state)
{
    (void)state;
    for (int directory = CONTENDERS; directory <= QUEUE; directory++)
        for (int queue = 0; queue < 2; queue++) {
            struct judge judge;
            begin(&judge, "at_most_one_wakeup_per_release");
            asked(&judge, A);
            queues(&judge, A, 10);
            created(&judge, A, 11);
            for (int process = B; process <= C; process++) {
                asked(&judge, process);
                watches_list(&judge, process, directory);
            }
            if (queue)
                leaves(&judge, A, 10);
            else
                deleted(&judge, A, 11, 20);
            if (directory == (queue ? QUEUE : CONTENDERS))
                assert_violated(&judge, EVENT_NODE_DELETED, "wakes both process 1 and process 2");
            else
                assert_int_equal(judge.finding->violated, false);
            judge_close(&judge);
        }
}

static void one_place_in_the_queue_wakes_one(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "at_most_one_wakeup_per_release");
    asked(&judge, A);
    queues(&judge, A, 10);
    for (int process = B; process <= C; process++) {
        asked(&judge, process);
        queues(&judge, process, 10 + process);
        watches_list(&judge, process, CONTENDERS);
    }
    watch_as(&judge, EVENT_WATCH_SET, B, 10, EVENT_WATCH_PREDECESSOR);
    leaves(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    queues(&judge, A, 20);
    watch_as(&judge, EVENT_WATCH_SET, B, 20, EVENT_WATCH_PREDECESSOR);
    watch_as(&judge, EVENT_WATCH_SET, C, 20, EVENT_WATCH_PREDECESSOR);
    leaves(&judge, A, 20);
    assert_violated(&judge, EVENT_NODE_DELETED, "wakes both process 1 and process 2");
    judge_close(&judge);
}

static void a_wait_queues_three_times_at_most(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "bounded_work");
    asked(&judge, A);
    for (int i = 0; i < 3; i++)
        queues(&judge, A, 10 + i);
    requested(&judge, A, EVENT_REQUEST_CHILDREN);
    granted(&judge, A, 13);
    assert_verdict(&judge, CHECK_HOLDS);
    asked(&judge, A);
    for (int i = 0; i < 4; i++)
        queues(&judge, A, 20 + i);
    assert_violated(&judge, EVENT_NODE_CREATED, "more than 3 nodes that queue");
    judge_close(&judge);
}

/* A node that stands counts, whether or not the process has reported its session after that. */
static void a_fault_renews_what_may_queue_less_what_stands(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        struct judge judge;
        begin(&judge, "bounded_work");
        asked(&judge, A);
        for (int i = 0; i < 3; i++)
            queues(&judge, A, 10 + i);
        if (pass)
            show(&judge, (struct event){.kind = EVENT_LINK_DOWN, .process = A});
        show(&judge, (struct event){.kind = EVENT_FAULT, .process = EVENT_PROCESS_NONE});
        for (int i = 0; i < 2; i++)
            queues(&judge, A, 20 + i);
        assert_verdict(&judge, CHECK_NOT_JUDGED); /* not violated, and without a premise */
        queues(&judge, A, 22);
        assert_violated(&judge, EVENT_NODE_CREATED, "more than 3 nodes that queue");
        judge_close(&judge);
    }
}

static void the_queue_is_the_order(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        struct judge judge;
        begin(&judge, "granted_in_order");
        holds_two(&judge, D, 5);
        asked(&judge, A);
        queues(&judge, A, 10);
        asked(&judge, B);
        queues(&judge, B, 11);
        int first = pass ? B : A;
        created(&judge, first, 20); /* contenders have no place in the queue */
        created(&judge, first, 21);
        deleted(&judge, D, 5, 22);
        deleted(&judge, D, 6, 23);
        lock_event(&judge, EVENT_RELEASED, D, 0, 0);
        granted(&judge, first, 20);
        if (pass)
            assert_violated(&judge, EVENT_GRANTED, "was granted lock 0 before process 0");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_try_is_busy_behind_the_queue(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct judge judge;
        begin(&judge, "answers_have_reasons");
        if (first) {
            asked(&judge, B);
            queues(&judge, B, 10);
        }
        lock_event(&judge, EVENT_ASKED, A, 0, 0);
        queues(&judge, A, 11);
        if (!first) {
            asked(&judge, B);
            queues(&judge, B, 12); /* behind A's node */
        }
        lock_event(&judge, EVENT_FAILED, A, 0, CODE_BUSY);
        if (first)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "but it was free all the time");
        judge_close(&judge);
    }
}

/* The recipe is asked whether it is idle when the node is created. */
static void who_is_idle_joins_no_queue(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "no_orphan_node");
    queued(&judge, EVENT_NODE_CREATED, A, 10, 0);
    assert_verdict(&judge, CHECK_HOLDS);
    queued(&judge, EVENT_NODE_CREATED, A, 11, 1);
    assert_violated(&judge, EVENT_NODE_CREATED, "its create of a node in the queue");
    judge_close(&judge);
}

/* A server deletes the nodes of a session that ends. The judges do not take that for the operator's deletion
 * of a directory. */
static void the_end_of_a_queue_is_no_fault(void **state)
{
    (void)state;
    struct judge judge;
    begin(&judge, "answers_have_reasons");
    asked(&judge, B);
    queues(&judge, B, 10);
    show(&judge, (struct event){.kind = EVENT_NODE_DELETED,
                                .process = B,
                                .code = CODE_QUEUED,
                                .zxid = 10,
                                .cause = 20,
                                .session = SESSION(B)});
    asked(&judge, A);
    lock_event(&judge, EVENT_FAILED, A, 0, -9);
    assert_violated(&judge, EVENT_FAILED, "nothing had gone wrong");
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_count_one_unit_each),
        cmocka_unit_test(the_second_node_of_a_hold_waits_for_nobody),
        cmocka_unit_test(a_hold_between_others_is_not_admitted_by_its_first),
        cmocka_unit_test(a_hold_needs_no_third_node),
        cmocka_unit_test(each_contender_may_have_a_watch),
        cmocka_unit_test(a_wait_may_create_its_contenders_three_times),
        cmocka_unit_test(who_holds_needs_no_node_that_queues),
        cmocka_unit_test(who_is_idle_queues_no_more),
        cmocka_unit_test(who_is_idle_joins_no_queue),
        cmocka_unit_test(the_first_in_the_queue_takes_what_is_free),
        cmocka_unit_test(a_list_wakes_of_its_own_nodes),
        cmocka_unit_test(one_place_in_the_queue_wakes_one),
        cmocka_unit_test(a_hold_has_a_node_for_each_unit),
        cmocka_unit_test(a_node_of_another_hold_does_not_count),
        cmocka_unit_test(each_node_of_a_grant_is_admitted),
        cmocka_unit_test(a_node_that_the_operator_deletes_counts),
        cmocka_unit_test(each_node_of_a_hold_is_kept),
        cmocka_unit_test(a_release_is_done_behind_all_its_nodes),
        cmocka_unit_test(who_does_not_queue_passes_those_who_do),
        cmocka_unit_test(a_wait_queues_three_times_at_most),
        cmocka_unit_test(a_fault_renews_what_may_queue_less_what_stands),
        cmocka_unit_test(the_queue_is_the_order),
        cmocka_unit_test(a_try_is_busy_behind_the_queue),
        cmocka_unit_test(the_end_of_a_queue_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
