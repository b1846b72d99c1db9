/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The default schedule, the virtual clock, faults and their consequences, as judges see them by events. */
#include "trace/event_names.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <lockstep/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

#define LOG_MAX 4096
#define STEP_LIMIT 20000

static struct event events[LOG_MAX];
static int event_count;
static struct world *world;

static void observe(void *ctx, const struct event *event)
{
    (void)ctx;
    assert_true(event_count < LOG_MAX);
    events[event_count] = *event;
    events[event_count++].path = NULL;
}

static int seen(int kind, int process)
{
    int count = 0;
    for (int i = 0; i < event_count; i++) {
        count += events[i].kind == kind && (process < 0 || events[i].process == process);
    }
    return count;
}

static const struct event *last(int kind, int process)
{
    for (int i = event_count - 1; i >= 0; i--) {
        if (events[i].kind == kind && events[i].process == process) {
            return &events[i];
        }
    }
    fail_msg("event %d of process %d was not seen", kind, process);
    return NULL;
}

static void open_world(int processes, int servers, bool timed)
{
    struct world_options options;
    world_options_default(&options);
    options.recipe = &ls_recipe_mutex;
    options.processes = processes;
    options.servers = servers;
    options.timed = timed;
    for (int p = 0; p < processes; p++) {
        options.name[p][0] = (char)('a' + p);
        options.autostart[p] = true;
    }
    event_count = 0;
    world = world_open(&options, observe, NULL);
    assert_non_null(world);
    world_begin(world);
}

static int close_world(void **state)
{
    (void)state;
    if (world != NULL) {
        world_close(world);
        world = NULL;
    }
    return 0;
}

static void act(const char *label)
{
    struct action action;
    const char *why;
    if (world_find(world, label, &action, &why) != 0) {
        fail_msg("%s: %s", label, why);
    }
    assert_int_equal(world_apply(world, &action), 0);
}

static void settle(void)
{
    assert_true(world_settle(world, STEP_LIMIT, NULL, NULL) >= 0);
    assert_null(world_trouble(world));
}

static void pass(int ms)
{
    assert_true(world_pass_time(world, ms, STEP_LIMIT, NULL, NULL) >= 0);
    assert_null(world_trouble(world));
}

static int find(const char *label)
{
    struct action action;
    const char *why;
    int rc = world_find(world, label, &action, &why);
    assert_non_null(why);
    return rc;
}

/* ---- time ---- */

static void test_a_round_trip_takes_two_latencies(void **state)
{
    (void)state;
    open_world(1, 1, true);
    settle();
    int64_t before = world_now_ms(world);
    act("a acquire");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 0), 1);
    /* One failed flight, the ancestors, the second flight: three round trips on a fresh server. */
    assert_int_equal(last(EVENT_GRANTED, 0)->now_ms - before, 60);
    act("a release");
    settle();
    before = world_now_ms(world);
    act("a acquire");
    settle();
    assert_int_equal(last(EVENT_GRANTED, 0)->now_ms - before, 20);
}

static void test_time_passes_exactly(void **state)
{
    (void)state;
    open_world(1, 1, true);
    settle();
    int64_t before = world_now_ms(world);
    pass(1234);
    assert_int_equal(world_now_ms(world), before + 1234);
    act("advance 10ms");
    assert_int_equal(world_now_ms(world), before + 1244);
}

static void test_a_deadline_fires_on_time_and_only_then(void **state)
{
    (void)state;
    open_world(2, 1, true);
    act("a acquire");
    settle();
    act("b acquire timeout=500ms");
    int64_t asked = world_now_ms(world);
    settle();
    assert_int_equal(seen(EVENT_FAILED, 1), 0);
    pass(1000);
    assert_int_equal(last(EVENT_FAILED, 1)->code, LS_ETIMEDOUT);
    assert_int_equal(last(EVENT_FAILED, 1)->now_ms, asked + 500);
}

/* F7, F14, F27, for a session timeout T: after its last packet the client notices the partition at 2/3 T.
 * The server ends the session between T and T + tick. The client learns of that only when it reaches a
 * server again. */
static void test_a_partition_costs_link_then_session(void **state)
{
    (void)state;
    open_world(1, 1, true);
    act("a acquire");
    settle();
    pass(5000);
    int64_t cut = world_now_ms(world);
    act("partition a");
    pass(3000);
    int64_t noticed = last(EVENT_LINK_DOWN, 0)->now_ms;
    assert_in_range(noticed, cut + 4000 * 2 / 3 - 4000 / 3, cut + 4000 * 2 / 3);
    assert_int_equal(seen(EVENT_SESSION_CLOSING, 0), 0);
    pass(3000);
    assert_in_range(last(EVENT_SESSION_CLOSING, 0)->now_ms, cut + 4000 - 4000 / 3, cut + 4200);
    assert_int_equal(seen(EVENT_EXPIRED, 0), 0);
    act("heal a");
    settle();
    assert_int_equal(seen(EVENT_EXPIRED, 0), 1);
    assert_int_equal(seen(EVENT_LOST, 0), 1);
    assert_int_equal(seen(EVENT_CONNECTED, 0), 2);
}

/* ---- faults ---- */

static void test_cut_parameters_are_what_they_say(void **state)
{
    (void)state;
    open_world(1, 1, false);
    settle();
    act("a acquire");
    assert_int_equal(find("cut a keep=0 apply=3"), LS_ENOENT);
    assert_int_equal(find("cut a keep=1 apply=0"), LS_ENOENT);
    act("cut a keep=0 apply=0 rc=-7");
    assert_int_equal(seen(EVENT_FAULT, 0), 1);
    settle();
    assert_int_equal(seen(EVENT_SUSPENDED, 0), 1);
    assert_int_equal(seen(EVENT_RECONNECTED, 0), 1);
    assert_int_equal(seen(EVENT_GRANTED, 0), 1);
}

static void test_an_expired_holder_is_told_and_the_waiter_granted(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("b acquire");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 0);
    act("expire a");
    settle();
    assert_int_equal(seen(EVENT_LOST, 0), 1);
    assert_int_equal(seen(EVENT_GRANTED, 1), 1);
    assert_int_equal(seen(EVENT_SESSION_CLOSED, 0), 1);
    assert_true(last(EVENT_GRANTED, 1)->zxid > last(EVENT_GRANTED, 0)->zxid);
}

static void test_a_paused_process_runs_nothing_until_it_is_resumed(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("b acquire");
    settle();
    act("pause b");
    assert_int_equal(find("b release"), LS_ENOENT);
    assert_int_equal(find("pause b"), LS_ENOENT);
    act("a release");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 0);
    assert_false(world_at_rest(world));
    act("resume b");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 1);
}

static void test_a_crashed_holder_keeps_the_lock_until_its_session_ends(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("b acquire");
    settle();
    act("crash a");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 0);
    assert_false(world_rest(world));
    act("restart a");
    settle();
    act("expire a");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 1);
    assert_true(world_rest(world));
    assert_int_equal(seen(EVENT_REST, -1), 1);
    assert_int_equal(seen(EVENT_CONNECTED, 0), 2);
}

static void test_heal_ends_every_fault(void **state)
{
    (void)state;
    open_world(3, 3, true);
    act("a acquire");
    settle();
    act("b acquire");
    settle();
    act("partition a");
    act("pause b");
    act("crash c");
    act("freeze s2");
    act("lag s3");
    assert_false(world_at_rest(world));
    world_heal(world, true, NULL, NULL);
    pass(8000);
    settle();
    assert_true(world_at_rest(world));
    assert_int_equal(seen(EVENT_RESTARTED, 2), 1);
    assert_int_equal(seen(EVENT_RESUMED, 1), 1);
}

static void test_the_resource_refuses_an_older_token(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("a write");
    assert_int_equal(last(EVENT_EFFECT, 0)->code, 1);
    act("pause a");
    act("b acquire");
    settle();
    act("expire a");
    settle();
    act("b write");
    assert_int_equal(last(EVENT_EFFECT, 1)->code, 1);
    act("resume a");
    act("a write");
    assert_int_equal(last(EVENT_EFFECT, 0)->code, 0);
    settle();
    assert_int_equal(find("a write"), LS_ENOENT);
}

static void test_a_guarded_write_waits_for_its_answer(void **state)
{
    (void)state;
    open_world(1, 1, false);
    assert_int_equal(find("a write guarded"), LS_ENOENT); /* no owner holds */
    act("a acquire");
    settle();
    act("a write guarded");
    assert_int_equal(seen(EVENT_EFFECT, 0), 0);
    act("apply s1 a multi");
    assert_int_equal(last(EVENT_EFFECT, 0)->code, 1);
    assert_int_equal(last(EVENT_EFFECT, 0)->zxid, last(EVENT_GRANTED, 0)->zxid);
    assert_int_equal(last(EVENT_EFFECT, 0)->cause, last(EVENT_GRANTED, 0)->zxid);
    assert_int_equal(seen(EVENT_WRITTEN, 0), 0);
    act("deliver a multi-reply");
    assert_int_equal(last(EVENT_WRITTEN, 0)->code, 0);
    settle();
    assert_true(world_at_rest(world));
}

/* A write without an answer is sent again, in the next session too, where the old hold's guard refuses it. */
static void test_a_guarded_write_outlives_links_and_sessions_and_its_guard_does_not(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("a write guarded");
    act("apply s1 a multi");
    act("cut a keep=0 apply=0 rc=-4");
    settle();
    assert_int_equal(seen(EVENT_EFFECT, 0), 2);
    assert_int_equal(seen(EVENT_WRITTEN, 0), 1);
    act("a write guarded");
    act("expire a");
    act("b acquire");
    settle();
    assert_int_equal(seen(EVENT_EFFECT, 0), 3);
    assert_int_equal(last(EVENT_EFFECT, 0)->code, 0);
    assert_int_equal(last(EVENT_WRITTEN, 0)->code, LS_ELOST);
    act("b write guarded");
    settle();
    assert_int_equal(last(EVENT_EFFECT, 1)->code, 1);
    act("b release");
    settle();
    assert_true(world_at_rest(world));
}

/* Each lock has one resource for guarded and other writes, which remembers the newest token. */
static void test_a_guarded_write_counts_for_the_tokens(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("pause a");
    act("b acquire");
    settle();
    act("expire a");
    settle();
    act("b write guarded");
    settle();
    act("resume a");
    act("a write");
    assert_int_equal(last(EVENT_EFFECT, 0)->code, 0);
}

static void test_a_crash_forgets_a_guarded_write(void **state)
{
    (void)state;
    open_world(1, 1, false);
    act("a acquire");
    settle();
    act("a write guarded");
    act("crash a");
    pass(8000);
    act("restart a");
    settle();
    assert_int_equal(seen(EVENT_WRITTEN, 0), 0);
    assert_true(world_at_rest(world));
}

static void test_server_restart_keeps_sessions_and_locks(void **state)
{
    (void)state;
    open_world(2, 1, true);
    act("a acquire");
    settle();
    act("b acquire");
    settle();
    act("restart-server s1");
    settle();
    assert_int_equal(seen(EVENT_RECONNECTED, 0), 1);
    assert_int_equal(seen(EVENT_RECONNECTED, 1), 1);
    assert_int_equal(seen(EVENT_LOST, -1), 0);
    act("a release");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 1);
}

static void test_empty_directories_are_removed_from_below(void **state)
{
    (void)state;
    open_world(1, 1, false);
    assert_int_equal(find("rmdir x"), LS_ENOENT);
    act("a acquire");
    settle();
    assert_int_equal(find("rmdir x"), LS_ENOENT); /* the directory has a's node */
    act("a release");
    settle();
    act("rmdir x");
    assert_false(fakezk_exists("/locks/x"));
    act("rmdir x");
    assert_false(fakezk_exists("/locks"));
    assert_int_equal(find("rmdir x"), LS_ENOENT);
    act("a acquire");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 0), 2);
}

static void test_a_swept_container_and_a_removed_parent_come_back(void **state)
{
    (void)state;
    open_world(1, 1, false);
    assert_int_equal(find("sweep x"), LS_ENOENT);
    act("a acquire");
    settle();
    act("a release");
    settle();
    act("sweep x");
    act("a acquire");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 0), 2);
    act("remove /locks");
    act("create /locks/x/content");
    act("a release");
    settle();
    act("a acquire");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 0), 3);
    assert_int_equal(find("create /locks/x/content"), LS_ENOENT);
}

static void test_a_frozen_follower_answers_reads_only(void **state)
{
    (void)state;
    open_world(2, 2, true);
    settle();
    act("freeze s2");
    act("b acquire timeout=2s");
    settle();
    assert_int_equal(seen(EVENT_GRANTED, 1), 0);
    pass(2100);
    assert_int_equal(last(EVENT_FAILED, 1)->code, LS_ETIMEDOUT);
    assert_int_equal(seen(EVENT_LINK_DOWN, 1), 0);
    /* F94: a request that cannot be answered stops the pings. The client then changes to a server that
     * reaches the leader. */
    pass(1000);
    assert_int_equal(seen(EVENT_LINK_DOWN, 1), 1);
    assert_int_equal(seen(EVENT_RECONNECTED, 1), 1);
    act("thaw s2");
    pass(6000);
    settle();
    assert_true(world_at_rest(world));
}

static void test_untimed_time_lets_deadlines_and_mute_sessions_end(void **state)
{
    (void)state;
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("b acquire timeout=1s");
    settle();
    assert_int_equal(seen(EVENT_FAILED, 1), 0);
    act("partition a");
    pass(5000);
    assert_int_equal(seen(EVENT_FAILED, 1) + seen(EVENT_GRANTED, 1), 1);
    assert_int_equal(seen(EVENT_SESSION_CLOSED, 0), 1);
    assert_int_equal(seen(EVENT_LINK_DOWN, 0), 1);
}

/* ---- labels ---- */

static void test_labels_that_are_none_are_told_apart_from_those_that_cannot_happen(void **state)
{
    (void)state;
    open_world(2, 1, false);
    settle();
    const char *const wrong[] = {"",
                                 "zebra",
                                 "a",
                                 "a jump",
                                 "a acquire y",
                                 "cut z",
                                 "cut a keep=x",
                                 "cut a rc=3",
                                 "fail-alloc a n=0",
                                 "fail-call a n=256",
                                 "freeze x",
                                 "freeze s9",
                                 "sweep nothing",
                                 "create x",
                                 "remove",
                                 "expire z",
                                 "advance -3",
                                 "advance soon",
                                 "pause a b",
                                 "create /a perms=77"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (find(wrong[i]) != LS_EINVAL) {
            fail_msg("\"%s\" is taken for a label", wrong[i]);
        }
    }
    const char *const impossible[] = {"a cancel",    "a write", "heal a",    "resume a", "restart a",
                                      "deliver a x", "thaw s1", "freeze s1", "a start",  "remove /nothing"};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        if (find(impossible[i]) != LS_ENOENT) {
            fail_msg("\"%s\" is not told to be impossible", impossible[i]);
        }
    }
}

static void test_an_action_that_is_not_enabled_changes_nothing(void **state)
{
    (void)state;
    open_world(2, 1, false);
    settle();
    struct world_image *before = world_save(world);
    for (int kind = 0; kind < ACTION_KINDS; kind++) {
        struct action action = {.kind = (uint8_t)kind, .process = 31, .a = 9, .b = 9, .c = 99};
        assert_int_equal(world_apply(world, &action), LS_EINVAL);
    }
    struct world_image *after = world_save(world);
    assert_true(world_image_equal(before, after));
    world_image_free(before);
    world_image_free(after);
}

static void test_the_description_names_what_there_is(void **state)
{
    (void)state;
    static char text[16384];
    open_world(2, 1, false);
    act("a acquire");
    settle();
    act("b acquire timeout=5s");
    settle();
    world_describe(world, text, sizeof text);
    assert_non_null(strstr(text, "/locks/x/_c_"));
    assert_non_null(strstr(text, "process b: started"));
    assert_non_null(strstr(text, "timer deadline-timer"));
    assert_non_null(strstr(text, "watch on /locks/x/"));
    char tiny[16];
    world_describe(world, tiny, sizeof tiny);
    assert_true(strlen(tiny) < sizeof tiny);
}

#define TEST(name) cmocka_unit_test_teardown(name, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_round_trip_takes_two_latencies),
        TEST(test_time_passes_exactly),
        TEST(test_a_deadline_fires_on_time_and_only_then),
        TEST(test_a_partition_costs_link_then_session),
        TEST(test_cut_parameters_are_what_they_say),
        TEST(test_an_expired_holder_is_told_and_the_waiter_granted),
        TEST(test_a_paused_process_runs_nothing_until_it_is_resumed),
        TEST(test_a_crashed_holder_keeps_the_lock_until_its_session_ends),
        TEST(test_heal_ends_every_fault),
        TEST(test_the_resource_refuses_an_older_token),
        TEST(test_a_guarded_write_waits_for_its_answer),
        TEST(test_a_guarded_write_outlives_links_and_sessions_and_its_guard_does_not),
        TEST(test_a_guarded_write_counts_for_the_tokens),
        TEST(test_a_crash_forgets_a_guarded_write),
        TEST(test_server_restart_keeps_sessions_and_locks),
        TEST(test_empty_directories_are_removed_from_below),
        TEST(test_a_swept_container_and_a_removed_parent_come_back),
        TEST(test_a_frozen_follower_answers_reads_only),
        TEST(test_untimed_time_lets_deadlines_and_mute_sessions_end),
        TEST(test_labels_that_are_none_are_told_apart_from_those_that_cannot_happen),
        TEST(test_an_action_that_is_not_enabled_changes_nothing),
        TEST(test_the_description_names_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
