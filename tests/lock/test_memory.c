/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory that cannot be had: whichever allocation fails, calls fail cleanly or are repeated, and in the end nothing is
 * left over, on the servers, in the clients or in the heap. */
#include "stage.h"

#include <string.h>

enum { FAILURES = 40 };

static const char *refused_timer; /* the name of one that cannot be started; NULL = none */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (refused_timer && strcmp(name, refused_timer) == 0)
        return LS_ENOMEM;
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

static void fail_alloc(int p, int n)
{
    process_mark(p)->fail_in = (uint8_t)n;
}

/* The nth allocation of b fails somewhere in its life as a contender. */
static void whichever_allocation_of_a_contender_fails(void **state)
{
    (void)state;
    int refused = 0;
    int granted = 0;
    for (int n = 1; n <= FAILURES; n++) {
        stage_set(2);
        stage.options.contents = "who";
        stage_ready();
        play("a acquire", "settle");
        stage_forget();
        fail_alloc(1, n);
        play("b acquire", "settle", "b acquire owner=1", "settle", "a release", "settle");
        fail_alloc(1, 0);
        play("settle");
        refused += strstr(stage.told, "refused ENOMEM") != NULL;
        if (strstr(stage.told, "b granted"))
            play("b release", "settle");
        if (strstr(stage.told, "b#1 granted"))
            play("b release owner=1", "settle");
        granted += (strstr(stage.told, "b granted") != NULL) + (strstr(stage.told, "b#1 granted") != NULL);
        assert_clean(1);
        stage_end();
    }
    assert_int_equal(refused, 2); /* one claim each */
    assert_int_equal(granted, 2 * FAILURES - refused);
}

static void whichever_allocation_fails_while_the_session_is_replaced(void **state)
{
    (void)state;
    for (int n = 1; n <= FAILURES; n++) {
        stage_set(2);
        stage_ready();
        play("a acquire", "settle", "b acquire", "settle");
        stage_forget();
        fail_alloc(1, n);
        play("expire b", "settle", "cut b keep=0 apply=0 rc=-4", "settle", "expire b", "settle", "a release",
             "settle");
        fail_alloc(1, 0);
        play("settle");
        assert_non_null(strstr(stage.told, "b granted"));
        play("b release", "settle");
        assert_clean(1);
        stage_end();
    }
}

static void whichever_allocation_fails_while_one_gives_up(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut b keep=0 apply=0 rc=-4", "cut b keep=0 apply=1 rc=-4"};
    for (int i = 0; i < 2; i++)
        for (int n = 1; n <= 12; n++) {
            stage_set(2);
            stage_ready();
            play("a acquire", "settle", "b acquire", "settle");
            stage_forget();
            fail_alloc(1, n);
            play("b cancel", cuts[i], "settle");
            fail_alloc(1, 0);
            play("settle");
            assert_int_equal(strncmp(stage.told, "b failed ECANCELED", 18), 0);
            assert_int_equal(stage.nodes, 1);
            assert_int_equal(fakezk_watches(1), 0);
            stage_end();
        }
}

static void every_allocation_fails_for_a_while(void **state)
{
    (void)state;
    stage_set(2);
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "deliver b create-reply",
         "deliver b list-reply");
    stage_forget();
    play("cut b keep=0 apply=0 rc=-4");
    for (int i = 0; i < 30; i++) {
        struct action action;
        fail_alloc(1, 1);
        if (world_default_action(stage.world, &action))
            assert_int_equal(world_apply(stage.world, &action), 0);
    }
    fail_alloc(1, 0);
    play("settle", "a release", "settle");
    assert_non_null(strstr(stage.told, "b granted"));
    stage_end();
}

static void a_process_that_cannot_start_leaves_nothing(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        stage_set(1);
        stage.options.locks = 2;
        stage.options.lock_path[1] = "/locks/y";
        stage.options.autostart[0] = false;
        stage.ignore_failed_start = true;
        stage_open();
        fail_alloc(0, n);
        play("a start"); /* what it had allocated is compared with its heap when it gives up */
        assert_int_equal(stage_probe(0)->opened, 0);
        assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_NEW);
        play("crash a", "restart a", "settle", "a acquire x", "settle");
        told("a connected; a granted");
        stage_end();
    }
}

/* In a world a timer needs no memory, on a real host it may. */
static void an_acquire_without_its_deadline_is_refused(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    refused_timer = "deadline-timer";
    play("a acquire timeout=1s");
    refused_timer = NULL;
    told("a refused ENOMEM");
    play("a acquire timeout=1s", "settle");
    assert_non_null(strstr(stage.told, "a granted"));
    play("a release", "settle");
    assert_clean(0);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_allocation_of_a_contender_fails),
        cmocka_unit_test(an_acquire_without_its_deadline_is_refused),
        cmocka_unit_test(whichever_allocation_fails_while_the_session_is_replaced),
        cmocka_unit_test(whichever_allocation_fails_while_one_gives_up),
        cmocka_unit_test(every_allocation_fails_for_a_while),
        cmocka_unit_test(a_process_that_cannot_start_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
