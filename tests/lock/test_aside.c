/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Creates that are lost with the link again and again: whoever sends them is set aside, and the others are served. */
#include "lock/claim.h"
#include "stage.h"

/* ---- the delays of the create timer ---- */

static int refusals; /* that many starts fail from now on */
static uint32_t delay_of_last_ms;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (strcmp(name, "create-timer") == 0) {
        delay_of_last_ms = delay_ms;
        if (refusals > 0) {
            refusals--;
            return LS_ENOMEM;
        }
    }
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

/* ---- the story ---- */

static const struct lock_claim *claim_of(uint64_t owner)
{
    return lock_index_find(&stage_probe(0)->mutex[0], owner);
}

static bool sends_create(uint64_t owner)
{
    const struct lock_claim *claim = claim_of(owner);
    return claim && claim->state == LOCK_CLAIMING && claim->in_flight & LOCK_FIRST;
}

/* Goes on until the owner's create is on its way, or the owner has been set aside, or nothing happens any more. */
static bool go_to_create(uint64_t owner)
{
    struct action action;
    while (!sends_create(owner)) {
        const struct lock_claim *claim = claim_of(owner);
        if (!claim || claim->aside || !world_default_action(stage.world, &action))
            return false;
        assert_int_equal(world_apply(stage.world, &action), 0);
    }
    return true;
}

/* Breaks the link under the creates that were sent, and lets their owners hear of it. */
static void cut(uint64_t owner)
{
    struct action action;
    play("cut a keep=0 apply=0 rc=-4");
    while (sends_create(owner)) {
        assert_true(world_default_action(stage.world, &action));
        assert_int_equal(world_apply(stage.world, &action), 0);
    }
}

static bool lose_create(uint64_t owner)
{
    if (!go_to_create(owner))
        return false;
    cut(owner);
    return true;
}

/* Until it is set aside, or for ever. */
static int lose_creates(uint64_t owner)
{
    int lost = 0;
    while (lost < 3 * LOCK_LOST_MAX && lose_create(owner))
        lost++;
    return lost;
}

static void begin(const struct ls_retry_policy *policy)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage.options.timed = true;
    stage.session.retry = policy;
    stage_open();
    play("pass 200");
    stage_forget();
}

static void a_create_that_is_lost_many_times_waits(void **state)
{
    (void)state;
    begin(NULL);
    play("a acquire");
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    assert_true(claim_of(1)->aside);
    assert_int_equal(delay_of_last_ms, 100);
    /* Others are served at once. */
    stage_forget();
    play("a acquire owner=1", "pass 90");
    told("a#1 granted");
    play("a release owner=1", "pass 90");
    told("a#1 freed; a granted");
    assert_int_equal(claim_of(1)->lost, 0);
    play("a release", "pass 50");
    stage_end();
}

static void each_loss_makes_the_delay_longer(void **state)
{
    (void)state;
    begin(NULL);
    play("a acquire");
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    for (uint32_t delay_ms = 100; delay_ms <= 10000; delay_ms *= 2) {
        assert_int_equal(delay_of_last_ms, delay_ms);
        char line[32];
        snprintf(line, sizeof line, "pass %u", delay_ms);
        play(line);
        assert_true(go_to_create(1));
        cut(1);
        assert_false(go_to_create(1));
        assert_true(claim_of(1)->aside);
    }
    assert_int_equal(delay_of_last_ms, 10000);
    play("a cancel", "pass 20000");
    stage_end();
}

static void a_random_part_is_taken_off_the_delay(void **state)
{
    (void)state;
    static const struct ls_retry_policy jitters = {
        .base_ms = 10000, .delay_ms_max = 10000, .jitter_percent = 50};
    begin(&jitters);
    play("a acquire");
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    assert_in_range(delay_of_last_ms, 5000, 9999);
    play("a cancel", "pass 20000");
    stage_end();
}

static void the_retry_policy_bounds_the_creates(void **state)
{
    (void)state;
    static const struct ls_retry_policy never = {.kind = LS_RETRY_TIMES, .times = 0};
    begin(&never);
    play("a acquire");
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    assert_null(claim_of(1));
    assert_non_null(strstr(stage.told, "a failed EGAVEUP"));
    stage_end();
}

/* More repetitions than make the delay grow. */
static void the_retry_policy_counts_all_creates(void **state)
{
    (void)state;
    static const struct ls_retry_policy fourteen = {
        .kind = LS_RETRY_TIMES, .times = 14, .base_ms = 10, .delay_ms_max = 10};
    begin(&fourteen);
    play("a acquire");
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    for (int i = 0; i < 14; i++) {
        assert_true(claim_of(1)->aside);
        play("pass 10");
        assert_true(go_to_create(1));
        cut(1);
        assert_false(go_to_create(1));
    }
    assert_null(claim_of(1));
    assert_non_null(strstr(stage.told, "a failed EGAVEUP"));
    stage_end();
}

static void without_a_timer_the_acquire_fails(void **state)
{
    (void)state;
    begin(NULL);
    play("a acquire");
    refusals = 1;
    assert_int_equal(lose_creates(1), LOCK_LOST_SUSPECT);
    assert_non_null(strstr(stage.told, "a failed ENOMEM"));
    stage_end();
}

/* The innocent one has been lost beside the other, and is served first and at once. */
static void the_innocent_one_goes_first(void **state)
{
    (void)state;
    begin(NULL);
    play("a acquire", "a acquire owner=1");
    while (!claim_of(1)->aside || !claim_of(2)->aside) {
        struct action action;
        if (sends_create(1) && sends_create(2))
            cut(2);
        assert_true(world_default_action(stage.world, &action));
        assert_int_equal(world_apply(stage.world, &action), 0);
    }
    assert_int_equal(claim_of(2)->lost, LOCK_LOST_SUSPECT);
    while (!sends_create(1) && !sends_create(2))
        play("pass 10");
    assert_false(sends_create(1) && sends_create(2));
    assert_true(sends_create(1));
    cut(1); /* the oldest: it is the bad one */
    stage_forget();
    assert_false(go_to_create(1));
    play("pass 110");
    told("a reconnected; a#1 granted");
    assert_true(claim_of(1)->aside);
    play("pass 150", "a release owner=1", "pass 100");
    told("a#1 freed; a granted");
    play("a release", "pass 50");
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_create_that_is_lost_many_times_waits),
        cmocka_unit_test(each_loss_makes_the_delay_longer),
        cmocka_unit_test(a_random_part_is_taken_off_the_delay),
        cmocka_unit_test(the_retry_policy_bounds_the_creates),
        cmocka_unit_test(the_retry_policy_counts_all_creates),
        cmocka_unit_test(without_a_timer_the_acquire_fails),
        cmocka_unit_test(the_innocent_one_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
