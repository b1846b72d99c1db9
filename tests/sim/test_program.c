/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Programs of clients: order of steps, answers for which a step waits, and steps that are passed over. */
#include "scenario/recipes.h"
#include "searched.h"

#include <lockstep/error.h>

static void begin(const char *programs)
{
    begin_with(recipe_find("mutex"), programs);
}

static bool ready(const char *label)
{
    return find(label) != NULL;
}

static void take(const char *label)
{
    const struct action *action = find(label);
    if (action == NULL) {
        fail_msg("'%s' is not possible", label);
    } else {
        world_do(run.world, action);
    }
}

/* Takes all steps of messages, and none of a program. */
static void settle(void)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    bool moved = true;
    while (moved) {
        int count = world_actions(run.world, actions);
        moved = count > 0 && action_has(&actions[0], TRAIT_STEP);
        if (moved) {
            world_do(run.world, &actions[0]);
        }
    }
}

static void a_step_waits_for_the_answer_to_the_one_before(void **state)
{
    (void)state;
    begin("process a: acquire acquire owner=1 release");
    settle();
    take("a acquire");
    assert_false(ready("a acquire owner=1"));
    settle();
    take("a acquire owner=1");
    settle();
    assert_false(ready("a release")); /* the other owner waits for ever */
    end();
}

static void behind_nowait_the_next_step_comes_at_once(void **state)
{
    (void)state;
    begin("process a: acquire nowait acquire owner=1 nowait release owner=1 release");
    settle();
    take("a acquire");
    take("a acquire owner=1");
    assert_false(ready("a release owner=1")); /* its acquire has no answer yet */
    assert_false(ready("a release"));
    settle();
    assert_false(
        ready("a release owner=1")); /* it waits for the other owner, whose step in the program comes later */
    end();
}

static void steps_about_the_same_owner_wait(void **state)
{
    (void)state;
    begin("process a: acquire nowait release acquire nowait acquire");
    settle();
    take("a acquire");
    assert_false(ready("a release"));
    settle();
    take("a release");
    take("a acquire");
    assert_false(ready("a acquire"));
    settle();
    assert_true(ready("a acquire")); /* once more, because the lock is reentrant */
    end();
}

static void steps_that_have_lost_their_meaning_are_passed_over_when_the_answer_is_there(void **state)
{
    (void)state;
    begin("process a: acquire\nprocess b: try nowait release revocable");
    settle();
    take("a acquire");
    settle();
    take("b try");
    assert_false(ready("b revocable"));
    settle();
    assert_true(ready("b revocable"));
    end();
}

static void a_process_may_stop_while_it_waits(void **state)
{
    (void)state;
    begin("process a: acquire\nprocess b: acquire nowait stop start acquire");
    settle();
    take("a acquire");
    settle();
    take("b acquire");
    settle();
    take("b stop");
    take("b start");
    settle();
    assert_true(ready("b acquire"));
    end();
}

static void a_guarded_write_may_be_on_its_way(void **state)
{
    (void)state;
    begin(
        "process a: acquire write guarded nowait release acquire write guarded nowait write guarded release");
    settle();
    take("a acquire");
    settle();
    take("a write guarded");
    take("a release");
    settle();
    take("a acquire");
    settle();
    take("a write guarded");
    assert_false(ready("a write guarded")); /* the second write waits for the first */
    settle();
    take("a write guarded");
    assert_false(ready("a release"));
    settle();
    assert_true(ready("a release"));
    end();
}

static void an_endless_program_begins_again(void **state)
{
    (void)state;
    begin("process a: acquire nowait release acquire owner=1 nowait release owner=1 forever");
    settle();
    for (int round = 0; round < 3; round++) {
        take("a acquire");
        settle();
        take("a release");
        take("a acquire owner=1");
        assert_false(ready("a acquire"));
        settle();
        take("a release owner=1");
    }
    assert_true(ready("a acquire"));
    end();
}

static void what_was_asked_in_the_round_before_need_not_be_answered(void **state)
{
    (void)state;
    begin("process a: try acquire owner=1 nowait forever\nprocess b: acquire");
    settle();
    take("b acquire");
    settle();
    take("a try");
    settle();
    take("a acquire owner=1");
    settle();
    take("a try");
    settle();
    assert_false(ready("a acquire owner=1"));
    end();
}

static void a_closed_lock_can_only_be_opened(void **state)
{
    (void)state;
    struct action action;
    const char *why;
    static const char *const others[] = {"a acquire", "a cancel", "a release", "a revocable", "a close"};
    begin("process a: acquire nowait open close release acquire open close open acquire release");
    settle();
    take("a acquire");
    assert_true(ready("a close")); /* the step `open` is passed over, because the lock is open */
    assert_int_equal(world_find(run.world, "a open", &action, &why), LS_ENOENT);
    take("a close");
    assert_true(ready("a open")); /* other steps about a closed lock are passed over */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(world_find(run.world, others[i], &action, &why), LS_ENOENT);
    }
    take("a open");
    take("a close");
    take("a open");
    assert_int_equal(world_find(run.world, "a release", &action, &why), 0); /* the recipe will refuse it */
    take("a acquire");
    settle();
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_HELD);
    take("a release");
    end();
}

static void who_starts_again_has_all_locks_open(void **state)
{
    (void)state;
    begin("process a: close stop start open close open acquire\nprocess b: acquire");
    settle();
    take("a close");
    take("a stop");
    take("a start");
    settle();
    assert_true(ready("a close"));
    end();
}

static void without_memory_a_lock_stays_closed(void **state)
{
    (void)state;
    struct action action;
    const char *why;
    begin("process a: close open acquire\nprocess b: acquire");
    settle();
    take("a close");
    assert_int_equal(world_find(run.world, "fail-alloc a n=1", &action, &why), 0);
    assert_int_equal(world_apply(run.world, &action), 0);
    take("a open");
    assert_false(ready("a acquire"));
    assert_null(world_trouble(run.world));
    assert_int_equal(world_find(run.world, "a open", &action, &why), 0);
    assert_int_equal(world_apply(run.world, &action), 0);
    assert_int_equal(world_find(run.world, "a acquire", &action, &why), 0);
    end();
}

static void a_recipe_that_cannot_close_passes_it_over(void **state)
{
    (void)state;
    static struct ls_recipe recipe;
    struct action action;
    const char *why;
    recipe = *recipe_find("mutex");
    recipe.close = NULL;
    recipe.open = NULL;
    begin_with(&recipe, "process a: close open acquire release\nprocess b: acquire");
    settle();
    assert_true(ready("a acquire"));
    assert_int_equal(world_find(run.world, "a close", &action, &why), LS_ENOENT);
    end();
}

/* Number of events of process a, by kind. */
static int seen[EVENT_KINDS];
static int32_t last_code[EVENT_KINDS];

static void on_event(void *ctx, const struct event *event)
{
    (void)ctx;
    seen[event->kind] += event->process == 0;
    last_code[event->kind] = event->process == 0 ? event->code : last_code[event->kind];
}

static void begin_seen(const char *programs)
{
    memset(seen, 0, sizeof seen);
    begin(programs);
    world_set_observer(run.world, on_event, NULL);
    settle();
    take("a acquire");
    settle();
}

static void an_owner_acts_within_the_report_of_its_grant(void **state)
{
    (void)state;
    begin_seen("process a: acquire on granted: release acquire on granted: acquire release release");
    assert_int_equal(seen[EVENT_GRANTED], 1);
    assert_int_equal(seen[EVENT_RELEASED], 1);
    assert_int_equal(seen[EVENT_FREED], 1);
    take("a acquire");
    settle();
    assert_int_equal(seen[EVENT_GRANTED], 3); /* the grant of an acquire within a report starts no action */
    assert_int_equal(last_code[EVENT_GRANTED], 2);
    take("a release");
    take("a release");
    settle();
    assert_int_equal(seen[EVENT_FREED], 2);
    end();
}

/* A asks again within the failure by which the close of its lock answers it. The lock is closed then. */
static void an_owner_acts_within_the_report_of_its_failure(void **state)
{
    (void)state;
    memset(seen, 0, sizeof seen);
    begin("process a: acquire nowait on failed: acquire close\nprocess b: acquire");
    world_set_observer(run.world, on_event, NULL);
    settle();
    take("b acquire");
    settle();
    take("a acquire");
    settle();
    assert_int_equal(seen[EVENT_FAILED], 0);
    take("a close");
    assert_int_equal(seen[EVENT_ASKED], 2);
    assert_int_equal(seen[EVENT_FAILED], 2);
    assert_int_equal(last_code[EVENT_FAILED], LS_ECLOSED);
    end();
}

static void within_a_report_a_close_is_refused(void **state)
{
    (void)state;
    begin_seen("process a: acquire nowait on granted: close release");
    assert_int_equal(seen[EVENT_LOCK_CLOSED], 1);
    assert_int_equal(last_code[EVENT_LOCK_CLOSED], LS_EDEADLK);
    assert_true(ready("a release")); /* nothing has changed */
    end();
}

static void within_the_report_of_a_grant_there_is_nothing_to_cancel(void **state)
{
    (void)state;
    begin_seen("process a: acquire on granted: cancel release");
    assert_int_equal(seen[EVENT_REFUSED], 1);
    assert_int_equal(last_code[EVENT_REFUSED], LS_ENOENT);
    assert_true(ready("a release"));
    end();
}

static void a_verb_knows_its_step(void **state)
{
    (void)state;
    begin("process a: acquire release");
    assert_int_equal(world_program_step(run.world, find("a acquire")), 0);
    assert_int_equal(world_program_step(run.world, find("connect a s1")), -1);
    take("a acquire");
    settle();
    assert_int_equal(world_program_step(run.world, find("a release")), 1);
    end();
}

static void each_owner_goes_on_by_itself(void **state)
{
    (void)state;
    begin("process a owner=0: acquire release\nprocess a owner=1: acquire release");
    settle();
    take("a acquire");
    assert_true(ready("a acquire owner=1")); /* it does not wait for the other owner's answer */
    settle();
    take("a acquire owner=1");
    settle();
    assert_false(ready("a release owner=1"));
    assert_int_equal(world_program_step(run.world, find("a release")), 1);
    take("a release");
    settle();
    assert_false(world_program_ended(run.world, 0));
    assert_int_equal(world_program_step(run.world, find("a release owner=1")), 3);
    take("a release owner=1");
    settle();
    assert_true(world_program_ended(run.world, 0));
    end();
}

/* Verbs without an owner: the program whose step has this place goes on. */
static void a_step_is_found_by_its_number(void **state)
{
    (void)state;
    begin("process a owner=0: revoke place=2 acquire\nprocess a owner=1: revoke place=3 acquire");
    take("a revoke place=3");
    assert_true(ready("a revoke place=2"));
    assert_true(ready("a acquire owner=1"));
    assert_false(ready("a acquire"));
    end();
}

static void an_owner_without_an_end_starts_again(void **state)
{
    (void)state;
    begin("process a owner=0: acquire release\nprocess a owner=3: acquire release forever");
    settle();
    take("a acquire owner=3");
    settle();
    take("a release owner=3");
    settle();
    assert_true(ready("a acquire owner=3"));
    assert_true(ready("a acquire"));
    assert_false(world_program_ended(run.world, 0));
    end();
}

/* If both owners would do the same, it is one action, and the program of each goes on by one step. */
static void one_action_of_two_owners_is_listed_once(void **state)
{
    (void)state;
    static struct action actions[WORLD_ACTIONS_MAX];
    int stops = 0;
    begin("process a owner=0: stop start\nprocess a owner=1: stop start");
    settle();
    int count = world_actions(run.world, actions);
    for (int i = 0; i < count; i++) {
        stops += actions[i].kind == ACTION_STOP;
    }
    assert_int_equal(stops, 1);
    take("a stop");
    assert_false(ready("a stop")); /* the process is stopped already */
    assert_true(ready("a start"));
    take("a start");
    assert_true(ready("a stop"));
    end();
}

static struct action acquire_of(int first, int second, int third)
{
    struct action action = {.kind = ACTION_ACQUIRE, .lock = (uint8_t)first, .timeout_ms = -1};
    action_add_lock(&action, second);
    if (third >= 0) {
        action_add_lock(&action, third);
    }
    return action;
}

static void each_lock_of_a_call_makes_a_difference(void **state)
{
    struct action xy = acquire_of(0, 1, -1), xz = acquire_of(0, 2, -1), xyz = acquire_of(0, 1, 2);
    struct action reacts = xy;
    (void)state;
    reacts.modes |= ACTION_ON_GRANTED(ACTION_RELEASE);
    assert_true(world_same_action(&xy, &reacts));
    assert_false(world_same_action(&xy, &xz));
    assert_false(world_same_action(&xy, &xyz));
    assert_false(world_same_action(&xyz, &xy));
}

static void a_crash_begins_each_program_anew(void **state)
{
    (void)state;
    begin("process a owner=0: acquire release\nprocess a owner=1: acquire release\nexplore crash<=1");
    settle();
    take("a acquire");
    take("a acquire owner=1");
    take("crash a");
    take("restart a");
    assert_true(ready("a acquire"));
    assert_true(ready("a acquire owner=1"));
    end();
}

static void a_program_ends_with_its_last_answer(void **state)
{
    (void)state;
    begin("process a: acquire release\nprocess b: acquire release forever");
    assert_false(world_program_ended(run.world, 0));
    take("connect a s1");
    settle();
    take("a acquire");
    settle();
    assert_false(world_program_ended(run.world, 0));
    take("a release");
    settle();
    assert_true(world_program_ended(run.world, 0));
    assert_false(world_program_ended(run.world, 1));
    end();
}

static void a_fault_is_paid_once(void **state)
{
    (void)state;
    begin("process a: acquire release\nexplore loss<=1 expire<=1");
    take("connect a s1");
    assert_int_equal(world_faults_paid(run.world), 0);
    take("cut a keep=0 apply=0 rc=-4");
    assert_int_equal(world_faults_paid(run.world), 1u << WORLD_FAULT_LOSS);
    take("expire a");
    assert_int_equal(world_faults_paid(run.world), 1u << WORLD_FAULT_LOSS | 1u << WORLD_FAULT_EXPIRE);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_waits_for_the_answer_to_the_one_before),
        cmocka_unit_test(a_step_is_found_by_its_number),
        cmocka_unit_test(behind_nowait_the_next_step_comes_at_once),
        cmocka_unit_test(steps_about_the_same_owner_wait),
        cmocka_unit_test(steps_that_have_lost_their_meaning_are_passed_over_when_the_answer_is_there),
        cmocka_unit_test(a_process_may_stop_while_it_waits),
        cmocka_unit_test(a_guarded_write_may_be_on_its_way),
        cmocka_unit_test(an_endless_program_begins_again),
        cmocka_unit_test(a_closed_lock_can_only_be_opened),
        cmocka_unit_test(who_starts_again_has_all_locks_open),
        cmocka_unit_test(without_memory_a_lock_stays_closed),
        cmocka_unit_test(a_recipe_that_cannot_close_passes_it_over),
        cmocka_unit_test(an_owner_acts_within_the_report_of_its_grant),
        cmocka_unit_test(an_owner_acts_within_the_report_of_its_failure),
        cmocka_unit_test(within_a_report_a_close_is_refused),
        cmocka_unit_test(a_verb_knows_its_step),
        cmocka_unit_test(a_program_ends_with_its_last_answer),
        cmocka_unit_test(each_owner_goes_on_by_itself),
        cmocka_unit_test(an_owner_without_an_end_starts_again),
        cmocka_unit_test(one_action_of_two_owners_is_listed_once),
        cmocka_unit_test(each_lock_of_a_call_makes_a_difference),
        cmocka_unit_test(a_crash_begins_each_program_anew),
        cmocka_unit_test(a_fault_is_paid_once),
        cmocka_unit_test(within_the_report_of_a_grant_there_is_nothing_to_cancel),
        cmocka_unit_test(what_was_asked_in_the_round_before_need_not_be_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
