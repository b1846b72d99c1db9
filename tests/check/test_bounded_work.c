/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"

#define PROPERTY "bounded_work"
#define REQUESTS_MAX 64

static void request_times(struct judge *judge, int process, int times, enum event_request request)
{
    for (int i = 0; i < times; i++)
        requested(judge, process, request);
}

static void a_handful_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    request_times(&judge, A, REQUESTS_MAX, EVENT_REQUEST_CHILDREN);
    granted(&judge, A, 10);
    request_times(&judge, A, REQUESTS_MAX, EVENT_REQUEST_CHILDREN);
    assert_verdict(&judge, CHECK_HOLDS);
    assert_int_equal(judge.finding->premises, 1);
    judge_close(&judge);
}

static void a_loop_is_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    request_times(&judge, A, REQUESTS_MAX + 1, EVENT_REQUEST_CHILDREN);
    assert_violated(&judge, EVENT_REQUEST,
                    "process 0 issued more than 64 requests without being given a reason");
    judge_close(&judge);
}

static void reasons_excuse(void **state)
{
    static const struct {
        enum event_kind kind;
        bool timed;
    } reasons[] = {{EVENT_WOKEN, false},   {EVENT_LINK_UP, false}, {EVENT_LINK_DOWN, false},
                   {EVENT_EXPIRED, false}, {EVENT_RESUMED, false}, {EVENT_REST, false},
                   {EVENT_SETTLED, false}, {EVENT_FAULT, true},    {EVENT_LOCK_CLOSED, true}};
    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, reasons[i].timed);
        asked(&judge, A);
        request_times(&judge, A, REQUESTS_MAX, EVENT_REQUEST_GET);
        lock_event(&judge, reasons[i].kind, A, 0, 0);
        int counted = reasons[i].kind == EVENT_WOKEN; /* a WOKEN counts as a request itself */
        request_times(&judge, A, REQUESTS_MAX - counted, EVENT_REQUEST_GET);
        assert_verdict(&judge, CHECK_NOT_JUDGED);
        request_times(&judge, A, 1, EVENT_REQUEST_GET);
        assert_verdict(&judge, CHECK_VIOLATED);
        judge_close(&judge);
    }
}

/* With a clock an answered poll is no reason. Without one a fault is no reason until the process hears of
 * it. */
static void what_is_no_reason_does_not_excuse(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, timed);
        asked(&judge, A);
        request_times(&judge, A, REQUESTS_MAX, EVENT_REQUEST_GET);
        lock_event(&judge, timed ? EVENT_SETTLED : EVENT_FAULT, A, 0, 0);
        request_times(&judge, A, 1, EVENT_REQUEST_GET);
        assert_verdict(&judge, CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void reasons_of_others_do_not_excuse(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    request_times(&judge, A, REQUESTS_MAX, EVENT_REQUEST_GET);
    on(&judge, EVENT_LINK_UP, B);
    request_times(&judge, A, 1, EVENT_REQUEST_GET);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void syncs_do_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    granted(&judge, A, 10);
    request_times(&judge, A, 1000, EVENT_REQUEST_SYNC);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

static void slow_polling_holds_in_timed_runs(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, true);
    asked(&judge, A);
    for (int i = 0; i < 1000; i++) {
        requested(&judge, A, EVENT_REQUEST_CHILDREN);
        judge.now_ms += 100;
    }
    failed(&judge, A);
    assert_verdict(&judge, CHECK_HOLDS);
    asked(&judge, A);
    for (int i = 0; i < 1000; i++) {
        requested(&judge, A, EVENT_REQUEST_CHILDREN);
        judge.now_ms += 20;
    }
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

static void many_nodes_in_one_wait_are_violated(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    for (int i = 0; i < 3; i++) {
        created(&judge, A, 10 + i);
        lock_event(&judge, EVENT_WOKEN, A, 0, 2); /* no excuse for a contender */
    }
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    created(&judge, A, 20);
    assert_violated(&judge, EVENT_NODE_CREATED,
                    "process 0 created more than 3 contenders for each acquire of lock 0");
    judge_close(&judge);
}

static void a_node_per_wait_holds(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    for (int i = 0; i < 20; i++) {
        asked(&judge, A);
        requested(&judge, A, EVENT_REQUEST_CREATE);
        created(&judge, A, 10 + i);
        granted(&judge, A, 10 + i);
        released(&judge, A);
    }
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static void nodes_after_faults_are_excused(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    for (int i = 0; i < 20; i++) {
        created(&judge, A, 10 + i);
        on(&judge, EVENT_FAULT, EVENT_PROCESS_NONE);
    }
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* A fault does not excuse the creation of a contender that still stands, before or after the fault. */
static void a_node_that_stands_still_counts(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        created(&judge, A, 10);
        for (int i = 0; i < before; i++)
            created(&judge, A, 11);
        on(&judge, EVENT_FAULT, A);
        created(&judge, A, 12);
        created(&judge, A, 13);
        assert_verdict(&judge, CHECK_NOT_JUDGED);
        created(&judge, A, 14);
        assert_verdict(&judge, CHECK_VIOLATED);
        judge_close(&judge);
    }
}

static void a_node_that_is_gone_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    deleted(&judge, A, 10, 20);
    on(&judge, EVENT_FAULT, A);
    for (int i = 0; i < 3; i++)
        created(&judge, A, 12 + i);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    judge_close(&judge);
}

/* Without a clock only faults break links, and the fault is the excuse. With one, links also break by
 * time. */
static void links_excuse_nodes_with_a_clock_alone(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, timed);
        asked(&judge, A);
        for (int i = 0; i < 3; i++) {
            created(&judge, A, 10 + i);
            deleted(&judge, A, 10 + i, 20 + i);
        }
        on(&judge, EVENT_LINK_DOWN, A);
        created(&judge, A, 14);
        assert_verdict(&judge, timed ? CHECK_NOT_JUDGED : CHECK_VIOLATED);
        judge_close(&judge);
    }
}

/* Contenders of three failed acquires may come while a fourth one waits, but not after SETTLED. */
static void late_nodes_of_who_gave_up_are_allowed(void **state)
{
    (void)state;
    for (int settled = 0; settled < 2; settled++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        for (int i = 0; i < 3; i++) {
            asked(&judge, A);
            failed(&judge, A);
        }
        if (settled)
            on(&judge, EVENT_SETTLED, A);
        asked(&judge, A);
        for (int i = 0; i < (settled ? 3 : 4 * 3); i++)
            created(&judge, A, 10 + i);
        assert_verdict(&judge, CHECK_NOT_JUDGED);
        created(&judge, A, 30);
        assert_verdict(&judge, CHECK_VIOLATED);
        judge_close(&judge);
    }
}

/* While an owner waits, a SETTLED does not end the spell, the time for which contenders are counted. */
static void who_waits_is_not_given_more_by_being_settled(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    for (int i = 0; i < 3; i++) {
        created(&judge, A, 10 + i);
        on(&judge, EVENT_SETTLED, A);
    }
    created(&judge, A, 20);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* If one of two waiting owners is granted the lock, the other one waits on, in the same spell. */
static void a_grant_ends_the_spell_if_it_leaves_nobody(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct judge judge;
        judge_open(&judge, PROPERTY, false);
        asked(&judge, A);
        for (int i = 0; i < 3; i++)
            created(&judge, A, 10 + i);
        if (others)
            lock_event(&judge, EVENT_ASKED, A, 1, -1);
        granted(&judge, A, 10);
        for (int i = 0; i < 3; i++)
            created(&judge, A, 20 + i);
        assert_int_not_equal(verdict(&judge), CHECK_VIOLATED);
        created(&judge, A, 30);
        assert_int_equal(verdict(&judge) == CHECK_VIOLATED, others);
        judge_close(&judge);
    }
}

/* After a grant the other owners may create as many contenders as if they had just asked, and no more. */
static void a_grant_takes_what_it_did_not_need(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    for (int i = 0; i < 3; i++)
        created(&judge, A, 11 + i);
    assert_int_not_equal(verdict(&judge), CHECK_VIOLATED);
    created(&judge, A, 20);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* A fault raises the bound to the need of the owners that wait, and never lowers it. */
static void a_fault_takes_nothing_away(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    for (int i = 0; i < 2; i++) {
        asked(&judge, A);
        failed(&judge, A);
    }
    on(&judge, EVENT_FAULT, A);
    asked(&judge, A);
    for (int i = 0; i < 3 * 3; i++)
        created(&judge, A, 10 + i);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    created(&judge, A, 30);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* The node of an owner's hold does not count against another owner of the process that waits. */
static void a_node_that_is_held_does_not_count(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_ASKED, A, 1, -1);
    created(&judge, A, 11);
    deleted(&judge, A, 11, 20);
    on(&judge, EVENT_FAULT, A);
    for (int i = 0; i < 3; i++)
        created(&judge, A, 12 + i);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    created(&judge, A, 30);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

/* The judge keeps nothing of a crashed process but its node, until the node is gone, too. */
static void a_crash_ends_all_counts(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    size_t nothing = check_set_live_bytes(judge.block);
    asked(&judge, A);
    created(&judge, A, 10);
    on(&judge, EVENT_CRASHED, A);
    deleted(&judge, A, 10, 20);
    assert_int_equal(check_set_live_bytes(judge.block), nothing);
    judge_close(&judge);
}

static void create_in_vain(struct judge *judge, int times, int64_t czxid)
{
    for (int64_t i = 0; i < times; i++) {
        created(judge, A, czxid + i);
        deleted(judge, A, czxid + i, 900);
        on(judge, EVENT_SETTLED, A);
    }
}

static void outage(struct judge *judge, bool begins)
{
    lock_event(judge, EVENT_FAULT, EVENT_PROCESS_NONE, EVENT_FAULT_NODES, 0);
    lock_event(judge, EVENT_OUTAGE, EVENT_PROCESS_NONE, 0, begins);
}

/* In an outage the servers refuse requests, so waiters may try on. After it the bound is that after a
 * fault. */
static void an_outage_excuses_while_it_lasts(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    outage(&judge, true);
    create_in_vain(&judge, 50, 10);
    outage(&judge, false);
    create_in_vain(&judge, 3, 100);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    create_in_vain(&judge, 1, 200);
    assert_violated(&judge, EVENT_NODE_CREATED, "process 0 created more than 3 contenders");
    judge_close(&judge);
}

/* The judge still counts requests in an outage. */
static void an_outage_excuses_no_busy_loop(void **state)
{
    struct judge judge;
    (void)state;
    judge_open(&judge, PROPERTY, false);
    asked(&judge, A);
    outage(&judge, true);
    request_times(&judge, A, REQUESTS_MAX + 1, EVENT_REQUEST_OTHER);
    assert_verdict(&judge, CHECK_VIOLATED);
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handful_holds),
        cmocka_unit_test(a_loop_is_violated),
        cmocka_unit_test(reasons_excuse),
        cmocka_unit_test(what_is_no_reason_does_not_excuse),
        cmocka_unit_test(reasons_of_others_do_not_excuse),
        cmocka_unit_test(syncs_do_not_count),
        cmocka_unit_test(slow_polling_holds_in_timed_runs),
        cmocka_unit_test(many_nodes_in_one_wait_are_violated),
        cmocka_unit_test(a_node_per_wait_holds),
        cmocka_unit_test(nodes_after_faults_are_excused),
        cmocka_unit_test(a_node_that_stands_still_counts),
        cmocka_unit_test(a_node_that_is_gone_does_not_count),
        cmocka_unit_test(links_excuse_nodes_with_a_clock_alone),
        cmocka_unit_test(late_nodes_of_who_gave_up_are_allowed),
        cmocka_unit_test(who_waits_is_not_given_more_by_being_settled),
        cmocka_unit_test(a_grant_ends_the_spell_if_it_leaves_nobody),
        cmocka_unit_test(a_grant_takes_what_it_did_not_need),
        cmocka_unit_test(a_fault_takes_nothing_away),
        cmocka_unit_test(a_node_that_is_held_does_not_count),
        cmocka_unit_test(a_crash_ends_all_counts),
        cmocka_unit_test(an_outage_excuses_while_it_lasts),
        cmocka_unit_test(an_outage_excuses_no_busy_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
