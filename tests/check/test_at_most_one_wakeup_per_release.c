/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include <check/judge.h>
#include <check/state.h>

#define PROPERTY "at_most_one_wakeup_per_release"
#define CREATED 1
#define DELETED 2
#define CHANGED 3
#define CHILD 4

static void told(struct judge *judge, int process, int type, int64_t czxid, int64_t cause)
{
    show(judge,
         (struct event){
             .kind = EVENT_WOKEN, .process = (uint8_t)process, .zxid = czxid, .cause = cause, .code = type});
}

static void woken(struct judge *judge, int process, int64_t czxid, int64_t cause)
{
    told(judge, process, DELETED, czxid, cause);
}

static void watch(struct judge *judge, enum event_kind kind, int process, int64_t czxid, int64_t cause)
{
    show(judge, (struct event){.kind = (uint8_t)kind,
                               .process = (uint8_t)process,
                               .zxid = czxid,
                               .cause = cause,
                               .code = EVENT_WATCH_PREDECESSOR});
}

static void watch_list(struct judge *judge, int process)
{
    show(judge,
         (struct event){
             .kind = EVENT_WATCH_SET, .process = (uint8_t)process, .zxid = 2, .code = EVENT_WATCH_PARENT});
}

/* B, C and D wait. */
static void all_wait(struct judge *judge)
{
    asked(judge, B);
    asked(judge, C);
    asked(judge, D);
}

static void one_each_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    woken(&judge, B, 10, 20);
    granted(&judge, B, 11);
    woken(&judge, C, 11, 21);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 2);
    judge_close(&judge);
}

static void two_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch(&judge, EVENT_WATCH_SET, C, 10, 0);
    woken(&judge, B, 10, 20);
    granted(&judge, B, 11);
    woken(&judge, C, 10, 20);
    assert_violated(&judge, EVENT_WOKEN, "one deletion (zxid 20) woke both process 1 and process 2");
    judge_close(&judge);
}

static void two_who_watch_the_line_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch_list(&judge, C);
    woken(&judge, B, 10, 20);
    woken(&judge, C, 10, 20);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* One watches the node, another the child list it is deleted from; in either order. */
static void one_by_the_node_and_one_by_the_list_are_violated(void **state)
{
    static const int types[][2] = {{DELETED, CHILD}, {CHILD, DELETED}, {CHILD, CHILD}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        all_wait(&judge);
        if (types[i][1] == CHILD)
            watch_list(&judge, C);
        else
            watch(&judge, EVENT_WATCH_SET, C, 10, 0);
        told(&judge, B, types[i][0], 10, 20);
        told(&judge, C, types[i][1], 10, 20);
        assert_violated(&judge, EVENT_WOKEN, "one deletion (zxid 20) woke both process 1 and process 2");
        judge_close(&judge);
    }
}

/* A node that comes is no release. */
static void two_told_of_a_creation_hold(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch_list(&judge, C);
    told(&judge, B, CHILD, 0, 20);
    told(&judge, C, CHILD, 0, 20);
    told(&judge, B, CREATED, 20, 20);
    told(&judge, C, CREATED, 20, 20);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* B has given up, and its watch on the child list is left over. */
static void one_by_a_list_that_is_left_over_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch_list(&judge, B);
    failed(&judge, B);
    asked(&judge, B);
    watch(&judge, EVENT_WATCH_SET, C, 10, 0);
    told(&judge, B, CHILD, 10, 20);
    told(&judge, C, DELETED, 10, 20);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 1);
    judge_close(&judge);
}

/* Of a wake-up nothing is kept if nobody else watches the node, or none of those waits. */
static void what_nobody_else_watches_is_forgotten(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch(&judge, EVENT_WATCH_SET, A, 10, 0);
    watch(&judge, EVENT_WATCH_SET, C, 11, 0);
    size_t before = check_set_live_bytes(judge.block);
    woken(&judge, B, 10, 20);
    assert_int_equal(check_set_live_bytes(judge.block), before);
    watch(&judge, EVENT_WATCH_SET, C, 10, 0);
    watch(&judge, EVENT_WATCH_SET, D, 10, 0);
    before = check_set_live_bytes(judge.block);
    woken(&judge, B, 10, 21);
    assert_true(check_set_live_bytes(judge.block) > before);
    failed(&judge, C);
    failed(&judge, D);
    granted(&judge, B, 12);
    woken(&judge, C, 10, 21);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* The end of a node of its own wakes B, who watched it for an owner that has given up, besides C, who is next. */
static void one_by_its_own_node_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    watch(&judge, EVENT_WATCH_SET, B, 10, 0);
    woken(&judge, C, 10, 20);
    show(&judge,
         (struct event){
             .kind = EVENT_WOKEN, .process = B, .owner = 1, .zxid = 10, .cause = 20, .code = DELETED});
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* B has given up behind the node 10 and waits again, when its watch on it is all that is left of that. */
static void leave_a_watch(struct judge *judge)
{
    all_wait(judge);
    watch(judge, EVENT_WATCH_SET, B, 10, 0);
    failed(judge, B);
    asked(judge, B);
}

static void fire(struct judge *judge, int process)
{
    watch(judge, EVENT_WATCH_GONE, process, 10, 20);
    woken(judge, process, 10, 20);
}

static void one_by_a_watch_that_is_left_over_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    leave_a_watch(&judge);
    watch(&judge, EVENT_WATCH_SET, C, 10, 0);
    fire(&judge, B);
    fire(&judge, C);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 1);
    judge_close(&judge);
}

/* Once more on the same node, it is a waiter's watch. */
static void one_that_is_set_again_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    leave_a_watch(&judge);
    on(&judge, EVENT_SETTLED, B);
    watch(&judge, EVENT_WATCH_SET, B, 10, 0);
    fire(&judge, C);
    fire(&judge, B);
    assert_violated(&judge, EVENT_WOKEN, "one deletion (zxid 20) woke both process 2 and process 1");
    judge_close(&judge);
}

/* What is removed is left over no longer, and neither is what a process watched that has crashed. */
static void one_that_is_gone_is_forgotten(void **state)
{
    static const struct event ends[] = {
        {.kind = EVENT_WATCH_GONE, .process = B, .zxid = 10, .code = EVENT_WATCH_PREDECESSOR},
        {.kind = EVENT_CRASHED, .process = B}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        leave_a_watch(&judge);
        watch(&judge, EVENT_WATCH_SET, C, 10, 0);
        show(&judge, ends[i]);
        asked(&judge, B);
        fire(&judge, B);
        fire(&judge, C);
        assert_violated(&judge, EVENT_WOKEN, "one deletion (zxid 20) woke both process 1 and process 2");
        judge_close(&judge);
    }
}

/* What a process is told to watch behind the end of a wait may have been asked for in it, as long as something is under way: one
 * for each owner who gave up, of the nodes in line, and not of those that are watched afterwards. */
static void one_that_comes_late_holds(void **state)
{
    static const struct {
        int watch;
        enum check_verdict verdict;
        enum event_kind between[3]; /* of B, after it gave up and before it begins to watch */
    } cases[] = {
        {EVENT_WATCH_PREDECESSOR, CHECK_HOLDS, {EVENT_ASKED, EVENT_ASKED, EVENT_ASKED}},
        {EVENT_WATCH_PARENT, CHECK_VIOLATED, {EVENT_ASKED, EVENT_ASKED, EVENT_ASKED}},
        {EVENT_WATCH_PREDECESSOR, CHECK_VIOLATED, {EVENT_SETTLED, EVENT_ASKED, EVENT_ASKED}},
        {EVENT_WATCH_PREDECESSOR, CHECK_HOLDS, {EVENT_SETTLED, EVENT_FAILED, EVENT_ASKED}},
        {EVENT_WATCH_PREDECESSOR, CHECK_VIOLATED, {EVENT_CRASHED, EVENT_ASKED, EVENT_ASKED}},
        {EVENT_WATCH_PREDECESSOR, CHECK_VIOLATED, {EVENT_ASKED, EVENT_WATCH_SET, EVENT_ASKED}},
        {EVENT_WATCH_PREDECESSOR, CHECK_HOLDS, {EVENT_FAILED, EVENT_WATCH_SET, EVENT_ASKED}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        all_wait(&judge);
        watch(&judge, EVENT_WATCH_SET, C, 10, 0);
        failed(&judge, B);
        for (int e = 0; e < 3; e++)
            show(&judge, (struct event){.kind = (uint8_t)cases[i].between[e],
                                        .process = B,
                                        .zxid = 11,
                                        .code = EVENT_WATCH_PREDECESSOR});
        show(&judge,
             (struct event){.kind = EVENT_WATCH_SET, .process = B, .zxid = 10, .code = cases[i].watch});
        asked(&judge, B);
        fire(&judge, B);
        fire(&judge, C);
        assert_verdict(&judge, cases[i].verdict);
        judge_close(&judge);
    }
}

/* New contents of a watched node, as when its holder is asked to give the lock back, are no release. */
static void two_told_of_new_contents_hold(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    for (int process = B; process <= C; process++)
        told(&judge, process, CHANGED, 0, 20);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* The end of a session deletes several nodes with one zxid; each may wake the one behind it. */
static void one_per_node_of_a_session_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    woken(&judge, B, 10, 20);
    woken(&judge, C, 12, 20);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void only_those_who_wait_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, B);
    woken(&judge, A, 10, 20); /* it does not wait */
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    woken(&judge, B, 10, 20);
    woken(&judge, A, 10, 20);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void what_is_told_at_a_reconnect_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    all_wait(&judge);
    woken(&judge, B, 10, 0);
    woken(&judge, C, 10, 0);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void nothing_is_remembered_when_nobody_else_waits(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, B);
    asked(&judge, C);
    woken(&judge, B, 10, 20);
    granted(&judge, B, 11);
    failed(&judge, C);
    on(&judge, EVENT_SETTLED, C);
    released(&judge, B);
    assert_int_equal(check_set_live_bytes(judge.block), 16);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_each_holds),
        cmocka_unit_test(two_are_violated),
        cmocka_unit_test(two_who_watch_the_line_are_violated),
        cmocka_unit_test(one_by_the_node_and_one_by_the_list_are_violated),
        cmocka_unit_test(two_told_of_a_creation_hold),
        cmocka_unit_test(one_by_a_list_that_is_left_over_holds),
        cmocka_unit_test(what_nobody_else_watches_is_forgotten),
        cmocka_unit_test(one_by_its_own_node_holds),
        cmocka_unit_test(one_by_a_watch_that_is_left_over_holds),
        cmocka_unit_test(one_that_is_set_again_is_violated),
        cmocka_unit_test(one_that_is_gone_is_forgotten),
        cmocka_unit_test(one_that_comes_late_holds),
        cmocka_unit_test(two_told_of_new_contents_hold),
        cmocka_unit_test(one_per_node_of_a_session_holds),
        cmocka_unit_test(only_those_who_wait_count),
        cmocka_unit_test(what_is_told_at_a_reconnect_does_not_count),
        cmocka_unit_test(nothing_is_remembered_when_nobody_else_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
