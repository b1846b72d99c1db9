/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The janitor comes back to what it could not do at once, for as long as the session lives: whatever the retry policy
 * says, and also if there is no memory for its timer. */
#include "lock/claim.h"
#include "stage.h"
#include "support/mishaps.h"

/* ---- timers that cannot be had ---- */

enum { FOR_EVER = 1000 };

static int refusals;      /* that many starts of the janitor's timer fail from now on */
static uint32_t pause_ms; /* what it was last started with */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (refusals && strcmp(name, "janitor-timer") == 0) {
        refusals--;
        return LS_ENOMEM;
    }
    if (strcmp(name, "janitor-timer") == 0)
        pause_ms = delay_ms;
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

/* ---- the stage: b gives up behind a, and has no memory to remove its watch ---- */

static void b_waits(const struct ls_retry_policy *retry, bool keep_fresh)
{
    refusals = 0;
    stage_set(2);
    stage.options.used_directory = true;
    stage.options.locks = 2;
    stage.options.lock_path[1] = "/locks/y";
    stage.session.retry = retry;
    stage.session.no_refresh = !keep_fresh;
    stage_ready();
    play("a acquire x", "settle", "b acquire y", "settle", "b acquire x", "settle");
    stage_forget();
}

static void give_up(void)
{
    play("fail-alloc b n=1", "b cancel x");
    told("b failed ECANCELED");
    asked("delete");
}

static void delete_is_answered(void)
{
    play("apply s1 b delete", "deliver b delete-reply");
}

static void assert_left_over(void)
{
    told("");
    asked("");
    assert_int_equal(fakezk_watches(1), 1);
    assert_false(stage_idle(stage_probe(1)));
}

static void assert_cleaned(void)
{
    assert_int_equal(fakezk_watches(1), 0);
    assert_true(stage_idle(stage_probe(1)));
    assert_int_equal(refusals, 0);
    stage_end();
}

/* ---- policies ---- */

static void its_pauses_double_up_to_ten_seconds(void **state)
{
    (void)state;
    uint32_t expected_ms = 100;
    b_waits(NULL, false);
    give_up();
    delete_is_answered();
    for (int n = 0; n < 20; n++) {
        play("fail-alloc b n=1", "fire b janitor-timer");
        assert_int_equal(pause_ms, expected_ms);
        expected_ms = 2 * expected_ms < 10000 ? 2 * expected_ms : 10000;
    }
    assert_int_equal(stage_probe(1)->session.sweeps,
                     16); /* which is enough: states that differ in it alone are few */
    play("settle");
    assert_cleaned();
}

static void it_never_gives_up_whatever_the_policy_says(void **state)
{
    (void)state;
    static const struct ls_retry_policy policies[] = {{.kind = LS_RETRY_TIMES, .times = 0},
                                                      {.kind = LS_RETRY_TIMES, .times = 2},
                                                      {.kind = LS_RETRY_ELAPSED, .elapsed_ms_max = 0}};
    for (int i = 0; i < 3; i++) {
        b_waits(&policies[i], false);
        give_up();
        delete_is_answered();
        for (int n = 0; n < 30; n++)
            play("fail-alloc b n=1", "fire b janitor-timer");
        assert_left_over();
        play("settle");
        asked("unwatch");
        told("b idle");
        assert_cleaned();
    }
}

/* Another thread of b waits behind the one that gives up. It is woken, the janitor fails, and then the waiter does. */
static void its_failures_use_up_no_attempt_of_an_acquire(void **state)
{
    (void)state;
    static const struct ls_retry_policy once = {.kind = LS_RETRY_TIMES, .times = 1};
    b_waits(&once, false);
    play("b acquire x owner=1", "settle");
    stage_forget();
    give_up();
    play("apply s1 b delete", "deliver b deleted(node of b)", "deliver b delete-reply", "apply s1 b list");
    for (int n = 0; n < 3; n++)
        play("fail-alloc b n=1", "fire b janitor-timer");
    asked("list");
    play("fail-alloc b n=1", "deliver b list-reply", "fire b retry-timer", "settle");
    told("b idle");
    asked("list; get; unwatch");
    assert_int_equal(fakezk_watches(1), 1);
    play("a release x", "settle");
    told("a freed; b#1 granted");
    stage_end();
}

static void the_longest_pause_is_the_policys(void **state)
{
    (void)state;
    static const struct ls_retry_policy twice = {.kind = LS_RETRY_TIMES, .times = 2, .delay_ms_max = 1000};
    b_waits(&twice, false);
    struct ls_session *session = &stage_probe(1)->session;
    assert_int_equal(lock_session_sweep_delay_ms(session), 100);
    session->sweeps = 3;
    assert_int_equal(lock_session_sweep_delay_ms(session), 800);
    session->sweeps = 200;
    assert_int_equal(lock_session_sweep_delay_ms(session), 1000);
    session->sweeps = 0;
    stage_end();
}

static void a_removal_without_an_answer_is_repeated_after_a_pause(void **state)
{
    (void)state;
    b_waits(NULL, false);
    mishaps_of_removals.lost = 1;
    play("b cancel x", "apply s1 b unwatch", "apply s1 b delete", "deliver b unwatch-reply",
         "deliver b delete-reply");
    told("b failed ECANCELED");
    asked("unwatch; delete");
    assert_false(stage_idle(stage_probe(1)));
    play("fire b janitor-timer", "settle"); /* the server says by now that there is no watch */
    told("b idle");
    assert_cleaned();
}

/* ---- no timer ---- */

static void without_a_timer_the_next_answer_is_a_chance(void **state)
{
    (void)state;
    b_waits(NULL, false);
    refusals = 2; /* when it is needed, and at the end of the same call */
    give_up();
    assert_left_over();
    assert_int_equal(refusals, 0);
    delete_is_answered();
    play("fire b janitor-timer");
    asked("unwatch");
    play("settle");
    assert_cleaned();
}

static void call_acquire(struct probe *probe)
{
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 0, -1), LS_EINVAL);
}

static void call_cancel(struct probe *probe)
{
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 1), LS_ENOENT);
}

static void call_release(struct probe *probe)
{
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 9), LS_ENOTOWNER);
}

static void call_participants(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[1], NULL), LS_OK);
}

static void call_make_revocable(struct probe *probe)
{
    assert_int_equal(ls_mutex_make_revocable(&probe->mutex[0]), LS_OK);
}

static void call_request_revoke(struct probe *probe)
{
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, "/locks/x/lock-0000000001", NULL, NULL),
                     LS_OK);
}

static void call_close(struct probe *probe)
{
    struct ls_mutex mutex;
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, "/locks/z", NULL), LS_OK);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

/* Lets b have no timer while it works, then has it do one more thing: a call, or what the lines say. */
static void left_alone_until(void (*call)(struct probe *probe), const char *const *lines)
{
    b_waits(NULL, true);
    refusals = FOR_EVER;
    give_up();
    play("settle");
    assert_left_over();
    refusals = 0;
    play("settle");
    assert_left_over();
    if (lines)
        stage_play_all(lines);
    else {
        stage_job(1, call);
        assert_int_equal(stage_probe(1)->session.unarmed, 0); /* at once: an answer is another entry */
    }
    play("settle");
    assert_non_null(strstr(stage.told, "b idle"));
    assert_cleaned();
}

static void without_a_timer_any_entry_is_a_chance(void **state)
{
    (void)state;
    static const char *const release[] = {"b release y", NULL};
    static const char *const heartbeat[] = {"fire b fresh-timer", NULL};
    static const char *const reconnect[] = {"cut b keep=0 apply=0 rc=-4", NULL};
    void (*const calls[])(struct probe *) = {call_acquire,      call_cancel,         call_release,
                                             call_participants, call_make_revocable, call_request_revoke,
                                             call_close};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        left_alone_until(calls[i], NULL);
    left_alone_until(NULL, release);
    left_alone_until(NULL, heartbeat);
    left_alone_until(NULL, reconnect);
}

static void the_end_of_the_session_ends_it_too(void **state)
{
    (void)state;
    b_waits(NULL, false);
    refusals = FOR_EVER;
    give_up();
    play("settle", "expire b", "settle");
    assert_true(stage_idle(stage_probe(1)));
    assert_int_equal(stage_probe(1)->session.unarmed, 0);
    refusals = 0;
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_pauses_double_up_to_ten_seconds),
        cmocka_unit_test(it_never_gives_up_whatever_the_policy_says),
        cmocka_unit_test(its_failures_use_up_no_attempt_of_an_acquire),
        cmocka_unit_test(the_longest_pause_is_the_policys),
        cmocka_unit_test(a_removal_without_an_answer_is_repeated_after_a_pause),
        cmocka_unit_test(without_a_timer_the_next_answer_is_a_chance),
        cmocka_unit_test(without_a_timer_any_entry_is_a_chance),
        cmocka_unit_test(the_end_of_the_session_ends_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
