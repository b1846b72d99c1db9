/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Events become lines with stable columns. */
#include "scenario/narrate.h"

#include <lockstep/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct scenario scenario;

static void open_scenario(const char *text)
{
    struct input_error error;
    assert_int_equal(scenario_read_bytes(&scenario, "s", text, strlen(text), &error), 0);
}

static int set_up(void **state)
{
    (void)state;
    open_scenario("mutex /locks/x\nmutex /locks/y\nprocess a bob\nsettle\n----\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scenario_close(&scenario);
    return 0;
}

static struct event about(enum event_kind kind, int process, int lock, int64_t now_ms)
{
    return (struct event){
        .kind = (uint8_t)kind, .process = (uint8_t)process, .lock = (uint8_t)lock, .now_ms = now_ms};
}

static void tell(struct narrator *narrator, struct event event)
{
    narrator_event(narrator, &event);
}

static void default_events(void **state)
{
    (void)state;
    struct narrator *narrator = narrator_open(&scenario, SHOW_DEFAULT, true, 0);
    struct event event = about(EVENT_NODE_CREATED, 0, 0, 10);
    event.zxid = 5;
    event.code = 1;
    event.path = "/locks/x/_c_1-lock-0000000003";
    tell(narrator, event);
    event = about(EVENT_GRANTED, 0, 0, 30);
    event.zxid = 5;
    event.code = 2;
    event.owner = 1;
    tell(narrator, event);
    event = about(EVENT_WATCH_SET, 1, 0, 40);
    event.zxid = 5;
    event.code = EVENT_WATCH_PREDECESSOR;
    tell(narrator, event);
    event.zxid = 6;
    tell(narrator, event);
    event.code = EVENT_WATCH_OWN;
    tell(narrator, event);
    event = about(EVENT_FAILED, 1, 1, 123456);
    event.code = LS_ETIMEDOUT;
    tell(narrator, event);
    event = about(EVENT_RELEASED, 0, 0, 50);
    tell(narrator, event);
    event.code = 1;
    tell(narrator, event);
    tell(narrator, about(EVENT_FREED, 0, 0, 60));
    tell(narrator, about(EVENT_LOST, 1, EVENT_LOCK_NONE, 70));
    tell(narrator, about(EVENT_BELIEVES, 0, 0, 80));
    assert_string_equal(narrator_text(narrator), "[   30ms] a   held     lock=x owner=1 fence=5 depth=2\n"
                                                 "[   40ms] bob waiting  lock=x behind=a\n"
                                                 "[   40ms] bob waiting  lock=x behind=-\n"
                                                 "[123456ms] bob failed   lock=y rc=timeout\n"
                                                 "[   50ms] a   released lock=x depth=1\n"
                                                 "[   60ms] a   freed    lock=x\n"
                                                 "[   70ms] bob lost\n");
    narrator_clear(narrator);
    assert_string_equal(narrator_text(narrator), "");
    narrator_close(narrator);
}

static void other_groups(void **state)
{
    (void)state;
    struct narrator *narrator = narrator_open(&scenario, SHOW_NODES | SHOW_SESSIONS | SHOW_FAULTS, false, 2);
    struct event event = about(EVENT_NODE_CREATED, 0, 0, 0);
    event.zxid = 5;
    event.session = 3;
    event.code = 1;
    event.path = "/locks/x/_c_lock-lock-0000000003";
    tell(narrator, event);
    event.kind = EVENT_NODE_DELETED;
    event.cause = 9;
    tell(narrator, event);
    event = about(EVENT_NODE_CREATED, EVENT_PROCESS_NONE, EVENT_LOCK_NONE, 0);
    event.zxid = 1;
    event.path = "/locks";
    tell(narrator, event);
    event = about(EVENT_EXPIRED, 1, EVENT_LOCK_NONE, 0);
    event.session = 3;
    tell(narrator, event);
    event = about(EVENT_FAULT, 1, EVENT_LOCK_NONE, 0);
    event.code = ACTION_RESTART_SERVER;
    tell(narrator, event);
    tell(narrator, about(EVENT_GRANTED, 0, 0, 0));
    assert_string_equal(narrator_text(narrator),
                        "  a   created  lock=x number=0000000003 zxid=5 session=3\n"
                        "  a   deleted  lock=x number=0000000003 zxid=5 by=9 session=3\n"
                        "  -   created  path=/locks zxid=1\n"
                        "  bob expired  session=3\n"
                        "  bob fault    restart-server\n");
    narrator_close(narrator);
}

static void every_kind_has_a_line(void **state)
{
    (void)state;
    struct narrator *narrator = narrator_open(&scenario, SHOW_ALL | SHOW_NEVER, true, 0);
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        narrator_reset(narrator);
        tell(narrator, about((enum event_kind)kind, 0, 0, 1));
        const char *text = narrator_text(narrator);
        assert_memory_equal(text, "[    1ms] a   ", 14);
        size_t size = strlen(text);
        assert_int_equal(text[size - 1], '\n');
        assert_true(text[size - 2] != ' ');
        assert_true(strchr(text, '\n') == text + size - 1);
    }
    narrator_close(narrator);
}

static void overflow_is_cut(void **state)
{
    (void)state;
    struct narrator *narrator = narrator_open(&scenario, SHOW_ALL, true, 0);
    for (int i = 0; i < 100000; i++) {
        tell(narrator, about(EVENT_LOST, 0, 0, i));
    }
    assert_true(strlen(narrator_text(narrator)) < 1u << 20);
    narrator_reset(narrator);
    tell(narrator, about(EVENT_LOST, 0, EVENT_LOCK_NONE, 7));
    assert_string_equal(narrator_text(narrator), "[    7ms] a   lost\n");
    narrator_close(narrator);
}

static void every_error_has_a_name(void **state)
{
    (void)state;
    for (int rc = 0; rc >= -18; rc--) {
        assert_string_not_equal(narrator_rc_name(rc), "unknown");
    }
    assert_string_equal(narrator_rc_name(-19), "unknown");
    assert_string_equal(narrator_rc_name(LS_ENOTOWNER), "not-owner");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(default_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_groups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_kind_has_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overflow_is_cut, set_up, tear_down),
        cmocka_unit_test(every_error_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
