/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Releases, and what the janitor removes: nodes and watches of attempts that have ended, through all faults. */
#include "stage.h"

static void holding(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle");
    stage_forget();
}

static void b_waits_for_a(void)
{
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    stage_forget();
}

/* ---- releases ---- */

static void a_release_is_one_request(void **state)
{
    (void)state;
    holding();
    play("a release");
    assert_int_equal(world_belief(stage.world, 0, 0, 0),
                     LS_NOT_HELD); /* from here on, not from the answer on */
    told("");
    play("settle");
    told("a freed");
    asked("delete");
    assert_clean(0);
    stage_end();
}

static void a_release_whose_answer_is_lost_is_unsure_and_the_janitors(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=1 rc=-4",
                                       "cut a keep=0 apply=0 rc=-7", "cut a keep=0 apply=1 rc=-7"};
    for (int i = 0; i < 4; i++) {
        holding();
        play("a release", cuts[i], "settle");
        told("a suspended; a freed EUNSURE; a reconnected; a idle");
        asked("delete; delete"); /* the second finds nothing if the first was applied: a success (F82) */
        assert_clean(0);
        stage_end();
    }
}

static void a_release_during_an_outage_is_unsure_at_once(void **state)
{
    (void)state;
    holding();
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting", "a release");
    told("a suspended; a freed EUNSURE");
    asked("");
    play("settle");
    told("a reconnected; a idle");
    asked("delete");
    assert_clean(0);
    stage_end();
}

static void a_release_by_a_dead_handle_ends_with_the_session(void **state)
{
    (void)state;
    holding();
    play("cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1", "a release");
    asked("");
    play("settle");
    told("a suspended; a lost; a freed; a connected"); /* with its session the node is gone for certain */
    assert_clean(0);
    stage_end();
}

static void a_release_of_a_dying_session_ends_with_it(void **state)
{
    (void)state;
    holding();
    play("expire a", "a release", "apply s1 a delete refused", "settle");
    assert_non_null(strstr(stage.told, "a freed EUNSURE"));
    assert_non_null(strstr(stage.told, "a lost"));
    assert_clean(0);
    stage_end();
}

static void a_release_that_the_expiry_overtakes_is_answered_once(void **state)
{
    (void)state;
    holding();
    play("a release", "cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "settle");
    const char *first = strstr(stage.told, "a freed");
    assert_non_null(first);
    assert_null(strstr(first + 1, "a freed"));
    assert_clean(0);
    stage_end();
}

static void a_release_of_a_removed_node_tells_of_the_loss(void **state)
{
    (void)state;
    holding();
    play("remove /locks/x", "a release", "settle");
    told("a freed ELOST");
    asked("delete");
    stage_end();
}

static void a_release_that_is_forbidden_says_so_and_leaves_the_node(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=5", "a acquire", "settle", "a release",
         "settle"); /* read and create, not delete */
    told("a granted; a warned left-behind; a freed ENOAUTH; a idle");
    assert_true(stage_idle(stage_probe(0)));
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void the_next_acquire_does_not_count_the_node_of_the_last(void **state)
{
    (void)state;
    holding();
    play("a release", "a acquire", "settle");
    told("a freed; a granted");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

/* ---- watches ---- */

static void a_cancelled_waiter_removes_its_watch_and_node_in_one_flight(void **state)
{
    (void)state;
    b_waits_for_a();
    play("b cancel");
    told("b failed ECANCELED");
    asked("unwatch; delete");
    assert_false(ls_session_idle(&stage_probe(1)->session) && stage.nodes == 2);
    play("apply s1 b unwatch", "deliver b unwatch-reply");
    assert_false(stage_probe(1)->session.janitor_timer.armed); /* it is done */
    play("settle");
    told("b idle");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

static void a_watch_whose_event_is_on_the_way_is_removed_all_the_same(void **state)
{
    (void)state;
    b_waits_for_a();
    play("a release", "apply s1 a delete", "b cancel");
    asked("delete; unwatch; delete");
    play("settle");
    assert_int_equal(stage.nodes, 0);
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

static void a_watch_that_has_fired_before_the_link_went_needs_no_care(void **state)
{
    (void)state;
    b_waits_for_a();
    /* The event has been received, though not delivered. */
    play("a release", "apply s1 a delete", "cut b keep=1 apply=0 rc=-4", "b cancel");
    told("b failed ECANCELED");
    play("settle");
    assert_int_equal(stage.nodes, 0);
    assert_int_equal(fakezk_watches(1), 0);
    assert_true(stage_idle(stage_probe(1)));
    stage_end();
}

static void a_cancel_before_the_watch_stands_removes_it_after(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "deliver b create-reply",
         "deliver b list-reply");
    stage_forget();
    play("b cancel");
    told("b failed ECANCELED");
    play("settle");
    asked("unwatch; delete");
    told("b idle");
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

/* There is nothing to try while the link is down. */
static void a_clean_up_that_waits_for_the_link_has_no_timer(void **state)
{
    (void)state;
    b_waits_for_a();
    play("b cancel", "cut b keep=0 apply=0 rc=-4", "deliver b session-connecting", "deliver b unwatch-reply",
         "deliver b delete-reply");
    assert_false(stage_probe(1)->session.janitor_timer.armed);
    play("settle");
    told("b failed ECANCELED; b suspended; b reconnected; b idle");
    stage_end();
}

static void a_lost_clean_up_is_repeated(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut b keep=0 apply=0 rc=-4", "cut b keep=0 apply=1 rc=-4",
                                       "cut b keep=0 apply=2 rc=-4", "cut b keep=0 apply=2 rc=-7"};
    for (int i = 0; i < 4; i++) {
        b_waits_for_a();
        play("b cancel", cuts[i], "settle");
        told("b failed ECANCELED; b suspended; b reconnected; b idle");
        assert_int_equal(stage.nodes, 1);
        assert_int_equal(fakezk_watches(1), 0);
        play("a release", "settle");
        assert_int_equal(stage.wakeups, 0);
        stage_end();
    }
}

static void a_shared_watch_that_has_fired_needs_no_care(void **state)
{
    (void)state;
    b_waits_for_a();
    play("b acquire owner=1", "settle",
         "remove /locks/x/_c_00000002-0000-4000-8000-000000000001-lock-0000000008", "settle");
    assert_int_equal(fakezk_watches(1), 2);
    play("a release", "apply s1 a delete", "cut b keep=1 apply=0 rc=-4", "b cancel", "settle");
    assert_non_null(strstr(stage.told, "b#1 granted"));
    assert_int_equal(fakezk_watches(1), 0);
    assert_true(stage_idle(stage_probe(1)));
    play("b release owner=1", "settle");
    stage_end();
}

/* Two claims of one session watch one node: the one that leaves must not take the other's watch along. */
static void a_shared_watch_is_left_to_the_other(void **state)
{
    (void)state;
    b_waits_for_a();
    play("b acquire owner=1", "settle",
         "remove /locks/x/_c_00000002-0000-4000-8000-000000000001-lock-0000000008", "settle");
    assert_int_equal(fakezk_watches(1), 2);
    stage_forget();
    play("b cancel", "settle");
    told("b failed ECANCELED; b idle");
    assert_int_equal(fakezk_watches(1), 1);
    play("a release", "settle");
    told("a freed; b#1 granted");
    stage_end();
}

static void a_late_event_of_another_predecessor_is_passed_over(void **state)
{
    (void)state;
    stage_set(3);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "c acquire", "settle");
    /* b's node goes while its own event is on the way; b's next attempt waits behind c. */
    play("a release", "apply s1 a delete", "b cancel", "b acquire", "settle");
    assert_non_null(strstr(stage.told, "c granted"));
    stage_forget();
    play("c release", "settle");
    told("b granted; c freed");
    stage_end();
}

/* ---- searches ---- */

static void cancel_with_create_lost(void)
{
    play("a acquire", "cut a keep=0 apply=1 rc=-4", "a cancel", "deliver a session-connecting",
         "deliver a create-reply", "deliver a list-reply", "connect a s1", "deliver a session-connected");
    told("a failed ECANCELED; a suspended; a reconnected");
    asked("create; list; sync; list");
}

static void the_janitor_searches_until_the_server_answers(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=2 rc=-4",
                                       "cut a keep=0 apply=1 rc=-7"};
    for (int i = 0; i < 3; i++) {
        stage_set(1);
        stage.options.used_directory = true;
        stage_ready();
        cancel_with_create_lost();
        play(cuts[i], "settle");
        told("a suspended; a reconnected; a idle");
        asked("sync; list; delete");
        assert_clean(0);
        stage_end();
    }
}

static void a_search_without_the_list_proves_nothing(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    cancel_with_create_lost();
    play("apply s1 a sync", "cut a keep=1 apply=1 rc=-4", "settle");
    asked("sync; list; delete");
    assert_clean(0);
    stage_end();
}

static void a_search_in_a_parent_that_is_gone_ends(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    cancel_with_create_lost();
    play("remove /locks", "settle");
    told("a idle");
    asked("");
    assert_clean(0);
    stage_end();
}

static void a_search_that_is_forbidden_is_given_up_with_a_warning(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=12");
    cancel_with_create_lost();
    play("settle");
    told("a warned left-behind; a idle");
    asked("");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void a_search_ends_with_the_session(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    cancel_with_create_lost();
    play("expire a", "settle");
    assert_non_null(strstr(stage.told, "a idle"));
    asked("");
    assert_clean(0);
    stage_end();
}

static void a_deleted_node_is_deleted_once_more_after_a_lost_answer(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "apply s1 a create", "deliver a create-reply", "a cancel", "apply s1 a list",
         "deliver a list-reply", "cut a keep=0 apply=0 rc=-4", "settle");
    asked("create; list; delete; delete");
    assert_clean(0);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_one_request),
        cmocka_unit_test(a_release_whose_answer_is_lost_is_unsure_and_the_janitors),
        cmocka_unit_test(a_release_during_an_outage_is_unsure_at_once),
        cmocka_unit_test(a_release_by_a_dead_handle_ends_with_the_session),
        cmocka_unit_test(a_release_of_a_dying_session_ends_with_it),
        cmocka_unit_test(a_release_that_the_expiry_overtakes_is_answered_once),
        cmocka_unit_test(a_release_of_a_removed_node_tells_of_the_loss),
        cmocka_unit_test(a_release_that_is_forbidden_says_so_and_leaves_the_node),
        cmocka_unit_test(the_next_acquire_does_not_count_the_node_of_the_last),
        cmocka_unit_test(a_cancelled_waiter_removes_its_watch_and_node_in_one_flight),
        cmocka_unit_test(a_watch_whose_event_is_on_the_way_is_removed_all_the_same),
        cmocka_unit_test(a_watch_that_has_fired_before_the_link_went_needs_no_care),
        cmocka_unit_test(a_shared_watch_that_has_fired_needs_no_care),
        cmocka_unit_test(a_cancel_before_the_watch_stands_removes_it_after),
        cmocka_unit_test(a_clean_up_that_waits_for_the_link_has_no_timer),
        cmocka_unit_test(a_lost_clean_up_is_repeated),
        cmocka_unit_test(a_shared_watch_is_left_to_the_other),
        cmocka_unit_test(a_late_event_of_another_predecessor_is_passed_over),
        cmocka_unit_test(the_janitor_searches_until_the_server_answers),
        cmocka_unit_test(a_search_without_the_list_proves_nothing),
        cmocka_unit_test(a_search_in_a_parent_that_is_gone_ends),
        cmocka_unit_test(a_search_that_is_forbidden_is_given_up_with_a_warning),
        cmocka_unit_test(a_search_ends_with_the_session),
        cmocka_unit_test(a_deleted_node_is_deleted_once_more_after_a_lost_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
