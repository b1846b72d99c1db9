/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The first flight of an acquire, create and list in one: one test per cell of the table at the head of
 * src/lock/mutex.c. */
#include "stage.h"
#include "support/mishaps.h"

#define NODE_A "/locks/x/_c_00000001-0000-4000-8000-000000000001-lock-"

/* One process, connected, whose lock's parent exists and will give the suffix 7. */
static void one_process(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
}

static void granted_and_given_back(const char *requests)
{
    told("a granted");
    asked(requests);
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(stage.token, FAKEZK_EPOCH + fakezk_czxid(stage.node[0]));
    play("a release", "settle");
    told("a freed");
    asked("delete");
    assert_clean(0);
    stage_end();
}

/* ---- create: ok ---- */

static void ok_and_first_is_held_after_one_flight(void **state)
{
    (void)state;
    one_process();
    play("a acquire");
    asked("create; list"); /* both before any answer: one round trip */
    play("settle");
    granted_and_given_back("");
}

static void ok_and_not_first_waits_with_one_watch(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    told("a granted");
    asked("create; list; create; list; get");
    assert_int_equal(fakezk_watches(0), 0);
    assert_int_equal(fakezk_watches(1), 1);
    play("a release", "settle");
    told("a freed; b granted");
    asked("delete; list");
    assert_int_equal(stage.wakeups, 1);
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

static void ok_and_not_first_ends_a_try(void **state)
{
    (void)state;
    stage_set(2);
    stage_ready();
    play("a acquire", "settle", "b try", "settle");
    told("a granted; b failed EBUSY; b idle");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(fakezk_watches(1), 0);
    assert_int_equal(stage.watches_set, 0);
    stage_end();
}

static void ok_but_own_node_absent_searches_and_claims_anew(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "apply s1 a create", ("remove " NODE_A "0000000007"), "settle");
    granted_and_given_back("create; list; sync; list; create; list");
}

static void ok_and_list_lost_lists_after_the_reconnect(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=1 apply=0 rc=-4", "cut a keep=1 apply=1 rc=-4",
                                       "cut a keep=1 apply=0 rc=-7", "cut a keep=1 apply=1 rc=-7"};
    for (int i = 0; i < 4; i++) {
        one_process();
        play("a acquire", "apply s1 a create", cuts[i], "deliver a create-reply");
        told("");
        play("settle");
        told("a suspended; a reconnected; a granted");
        asked("create; list; sync; list"); /* the sync renews the belief, which the outage has used up */
        play("a release", "settle");
        told("a freed");
        assert_clean(0);
        stage_end();
    }
}

static void ok_and_parent_gone_searches_and_makes_the_parent_again(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "apply s1 a create", "remove /locks", "settle");
    granted_and_given_back("create; list; sync; list; create; list; create; create; create; list");
}

static void ok_and_list_forbidden_fails_and_removes_the_node(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=12", "a acquire", "settle"); /* create and delete, not read */
    told("a failed ENOAUTH; a idle");
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    asked("create; list; delete");
    assert_clean(0);
    stage_end();
}

static void a_node_that_may_not_be_deleted_is_left_behind_with_a_warning(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=4", "a acquire", "settle");
    told("a failed ENOAUTH; a warned left-behind; a idle");
    assert_int_equal(stage.nodes, 1);
    assert_true(stage_idle(stage_probe(0)));
    play("a stop", "settle");
    assert_int_equal(stage.nodes, 0);
    stage_end();
}

static void ok_with_the_last_suffix_fails_and_removes_the_node(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.sequence_preset = INT32_MAX;
    stage_ready();
    play("a acquire", "settle");
    told("a failed ESEQUENCE; a idle");
    asked("create; list; delete");
    assert_clean(0);
    stage_end();
}

static void ok_with_a_negative_suffix_fails_and_removes_the_node(void **state)
{
    (void)state;
    static const int32_t presets[] = {INT32_MIN, -1000000000, -1};
    for (int i = 0; i < 3; i++) {
        stage_set(1);
        stage.options.sequence_preset = presets[i];
        stage.options.defects = WORLD_DEFECT_WRAP;
        stage_ready();
        play("a acquire", "settle");
        told("a failed ESEQUENCE; a idle");
        asked("create; list; delete");
        assert_clean(0);
        stage_end();
    }
}

static void the_last_suffix_fails_without_the_list_too(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.sequence_preset = INT32_MAX;
    stage_ready();
    play("a acquire", "apply s1 a create", "cut a keep=1 apply=0 rc=-4", "deliver a create-reply");
    told("");
    play("deliver a session-connecting", "deliver a list-reply");
    told("a suspended; a failed ESEQUENCE");
    play("settle");
    asked("create; list; delete");
    assert_clean(0);
    stage_end();
}

/* ---- create: lost ---- */

static void lost_and_not_applied_is_searched_and_claimed_again(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=0 rc=-7"};
    for (int i = 0; i < 2; i++) {
        one_process();
        play("a acquire", cuts[i], "settle");
        told("a suspended; a reconnected; a granted");
        asked("create; list; sync; list; create; list");
        assert_int_equal(stage.nodes, 1);
        stage_end();
    }
}

static void lost_and_applied_is_found_again(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=1 rc=-4", "cut a keep=0 apply=2 rc=-4",
                                       "cut a keep=0 apply=1 rc=-7", "cut a keep=0 apply=2 rc=-7"};
    for (int i = 0; i < 4; i++) {
        one_process();
        play("a acquire", cuts[i], "settle");
        told("a suspended; a reconnected; a granted");
        asked("create; list; sync; list; exists; list");
        assert_int_equal(stage.nodes, 1);
        assert_int_equal(stage.token, FAKEZK_EPOCH + fakezk_czxid(stage.node[0]));
        stage_end();
    }
}

/* The write is in the pipeline when the client reconnects: the sync waits for it, a plain list would not. */
static void lost_and_applied_late_is_found_by_the_sync(void **state)
{
    (void)state;
    stage_set(2); /* b talks to the follower s2 */
    stage.options.used_directory = true;
    stage.options.servers = 2;
    stage_ready();
    play("b acquire", "cut b keep=0 apply=1 rc=-4 late");
    assert_int_equal(stage.nodes, 0);
    play("settle");
    told("b suspended; b reconnected; b granted");
    asked("create; list; sync; list; exists; list");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void absence_needs_a_sync_and_a_list_that_are_both_answered(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting", "deliver a create-reply",
         "deliver a list-reply", "connect a s1", "deliver a session-connected");
    asked("create; list; sync; list");
    play("apply s1 a sync", "cut a keep=1 apply=1 rc=-4",
         "settle"); /* the sync is answered, the list is not */
    asked("sync; list; create; list");
    told("a suspended; a reconnected; a suspended; a reconnected; a granted");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void a_search_that_is_lost_is_repeated(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "cut a keep=0 apply=2 rc=-4", "deliver a session-connecting", "deliver a create-reply",
         "deliver a list-reply", "connect a s1", "deliver a session-connected", "cut a keep=0 apply=2 rc=-7",
         "settle");
    asked("create; list; sync; list; sync; list; exists; list");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void a_found_node_that_goes_before_it_is_identified_is_searched_again(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting", "deliver a create-reply",
         "deliver a list-reply", "connect a s1", "deliver a session-connected", "apply s1 a sync",
         "deliver a sync-reply", "apply s1 a list", ("remove " NODE_A "0000000007"), "settle");
    asked("create; list; sync; list; exists; list; sync; list; create; list");
    told("a suspended; a reconnected; a granted");
    stage_end();
}

static void a_lost_identification_is_repeated(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting", "deliver a create-reply",
         "deliver a list-reply", "connect a s1", "deliver a session-connected", "apply s1 a sync",
         "deliver a sync-reply", "apply s1 a list", "deliver a list-reply");
    asked("create; list; sync; list; exists; list");
    play("cut a keep=0 apply=2 rc=-4", "settle");
    asked("exists; list");
    told("a suspended; a reconnected; a suspended; a reconnected; a granted");
    stage_end();
}

static void a_found_node_with_the_last_suffix_fails(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.sequence_preset = INT32_MAX;
    stage_ready();
    play("a acquire", "cut a keep=0 apply=1 rc=-4", "settle");
    told("a suspended; a reconnected; a failed ESEQUENCE; a idle");
    asked("create; list; sync; list; delete");
    assert_clean(0);
    stage_end();
}

/* ---- create: no node ---- */

static void a_missing_parent_is_made_with_its_ancestors(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("a acquire", "settle");
    granted_and_given_back("create; list; create; create; create; list");
}

static void a_missing_chroot_is_made_too(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.chroot = "/app";
    stage_ready();
    play("remove /app", "a acquire", "settle");
    granted_and_given_back("create; list; create; create; create; create; list");
}

static void what_is_missing_above_the_chroot_is_not_made(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.chroot = "/app/deep";
    stage_ready();
    play("remove /app", "a acquire", "settle");
    told("a failed EZK");
    assert_int_equal(stage.zk_rc, ZNONODE);
    asked("create; list; create; create; create; create; list");
    stage_end();
}

static void a_parent_may_not_be_made(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks perms=1", "a acquire", "settle");
    told("a failed ENOAUTH"); /* nothing was sent that could have left something: the janitor has no work */
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    asked("create; list; create; create; create; list");
    assert_clean(0);
    stage_end();
}

static void what_vanishes_below_a_chroot_is_made_again(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.chroot = "/app";
    stage_ready();
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply", "apply s1 a create", "apply s1 a create", "remove /app/locks", "settle");
    told("a granted");
    asked("create; list; create; create; create; create; list; create; create; create; create; list");
    stage_end();
}

static void a_search_for_what_is_left_over_is_repeated_after_a_pause(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        one_process();
        play("a acquire", "apply s1 a create", "cut a keep=0 apply=0 rc=-4", "a cancel",
             "deliver a session-connecting", "deliver a create-reply", "deliver a list-reply",
             "connect a s1");
        mishaps_of_lists.lost = i == 0;
        mishaps_of_syncs.lost = i == 1;
        play("deliver a session-connected", "apply s1 a sync", "apply s1 a list", "deliver a sync-reply",
             "deliver a list-reply");
        asked("create; list; sync; list");
        assert_true(stage_probe(0)->session.janitor_timer.armed);
        play("fire a janitor-timer", "settle");
        told("a failed ECANCELED; a suspended; a reconnected; a idle");
        asked("sync; list; delete");
        assert_clean(0);
        stage_end();
    }
}

/* The link stands, so that no event would make it go on: a timer does. */
static void a_search_without_an_answer_is_repeated_after_a_pause(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        one_process();
        play("a acquire", "apply s1 a create", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting",
             "deliver a create-reply", "deliver a list-reply", "connect a s1");
        mishaps_of_lists.lost = i == 0;
        mishaps_of_syncs.lost = i == 1;
        play("deliver a session-connected", "apply s1 a sync", "apply s1 a list", "deliver a sync-reply",
             "deliver a list-reply");
        asked("create; list; sync; list");
        assert_true(stage_probe(0)->session.retry_timer.armed);
        play("fire a retry-timer", "settle");
        told("a suspended; a reconnected; a granted");
        asked("sync; list; exists; list");
        stage_end();
    }
}

static void a_search_whose_sync_is_not_taken_does_not_list(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "apply s1 a create", "cut a keep=0 apply=0 rc=-4", "a cancel",
         "deliver a session-connecting", "deliver a create-reply", "deliver a list-reply", "connect a s1");
    mishaps_of_syncs.refused = 1;
    play("deliver a session-connected");
    assert_int_equal(mishaps_of_syncs.refused, 0);
    asked("create; list");
    play("fire a janitor-timer", "settle");
    asked("sync; list; delete");
    assert_clean(0);
    stage_end();
}

static void a_search_for_a_lost_create_may_be_forbidden(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=12", "a acquire", "apply s1 a create", "cut a keep=0 apply=0 rc=-4",
         "settle");
    told("a suspended; a reconnected; a failed ENOAUTH; a warned left-behind; a idle");
    asked("create; list; sync; list; sync; list");
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    stage_end();
}

/* What is missing below a node that may not be made says nothing besides. */
static void what_forbids_is_told_and_not_what_follows_from_it(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.lock_path[0] = "/locks/x/y/z";
    stage_ready();
    play("create /locks perms=1", "a acquire", "settle");
    told("a failed ENOAUTH");
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    asked("create; list; create; create; create; create; create; list");
    stage_end();
}

static void forbidden_high_up_is_no_harm_when_the_parent_is_there(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    /* The parent vanishes after the first try and is there again, by somebody else's hand, for the second. */
    play("create /locks perms=1", "a acquire", "apply s1 a create", "deliver a create-reply",
         "apply s1 a list", "deliver a list-reply", "create /locks/x");
    play("settle");
    told("a granted");
    asked("create; list; create; create; create; list");
    stage_end();
}

static void make_ephemeral(struct probe *probe, const char *path)
{
    assert_int_equal(
        zoo_acreate(probe->session.zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, NULL), ZOK);
}

static void make_ephemeral_locks(struct probe *probe)
{
    make_ephemeral(probe, "/locks");
}

static void make_ephemeral_parent(struct probe *probe)
{
    make_ephemeral(probe, "/locks/x");
}

static void an_ancestor_that_can_have_no_children_fails_the_acquire(void **state)
{
    (void)state;
    stage_set(2);
    stage_ready();
    stage_job(1, make_ephemeral_locks);
    play("settle", "a acquire", "settle");
    told("a failed EZK");
    assert_int_equal(stage.zk_rc, ZNOCHILDRENFOREPHEMERALS);
    stage_end();
}

static void a_parent_that_vanishes_for_ever_is_made_as_often(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("a acquire");
    for (int i = 0; i < 5; i++) {
        play("apply s1 a create", "apply s1 a list", "deliver a create-reply", "deliver a list-reply",
             "apply s1 a create", "apply s1 a create", "deliver a create-reply", "deliver a create-reply",
             "remove /locks");
    }
    told("");
    play("settle");
    told("a granted");
    stage_end();
}

static void an_ancestor_lost_with_the_link_is_made_after_it_is_back(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=1 rc=-4",
                                       "cut a keep=0 apply=2 rc=-7"};
    for (int i = 0; i < 3; i++) {
        stage_set(1);
        stage_ready();
        play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
             "deliver a list-reply");
        asked("create; list; create; create");
        play(cuts[i], "settle");
        told("a suspended; a reconnected; a granted");
        assert_int_equal(stage.nodes, 1);
        stage_end();
    }
}

static void a_server_without_containers_gets_persistent_parents(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.no_containers = true;
    stage.options.locks = 2;
    stage.options.lock_path[1] = "/other/y";
    stage_ready();
    play("a acquire x", "settle");
    told("a granted");
    asked("create; list; create; create; create; list; create; create; create; list");
    assert_true(stage_probe(0)->session.no_containers);
    play("a acquire y", "settle"); /* what the server lacks is remembered */
    told("a:1 granted");
    asked("create; list; create; create; create; list");
    play("a release x", "a release y", "settle");
    assert_false(fakezk_can_sweep("/locks/x"));
    stage_end();
}

static void parents_are_containers_that_can_be_swept(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("a acquire", "settle", "a release", "settle", "sweep x");
    assert_false(fakezk_exists("/locks/x"));
    stage_forget();
    play("a acquire", "settle");
    granted_and_given_back("create; list; create; create; create; list");
}

/* ---- create: refused ---- */

/* Somebody else's node carries our attempt id: it is found, is not ours, and a new attempt goes behind it. */
static void exists_searches_and_does_not_take_anothers_node(void **state)
{
    (void)state;
    one_process();
    play("create " NODE_A "0000000008", "a acquire", "settle"); /* it counts as a child: the next is 8 */
    told("");
    asked("create; list; sync; list; exists; list; create; list; get");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(fakezk_watches(0), 1);
    play("remove " NODE_A "0000000008", "settle");
    told("a granted");
    asked("list");
    stage_end();
}

static void no_permission_fails_the_acquire(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=1", "a acquire", "settle");
    told("a failed ENOAUTH");
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    asked("create; list");
    assert_clean(0);
    stage_end();
}

static void any_other_refusal_fails_the_acquire(void **state)
{
    (void)state;
    stage_set(2);
    stage_ready();
    play("create /locks");
    stage_job(1, make_ephemeral_parent);
    play("settle", "a acquire", "settle");
    told("a failed EZK");
    assert_int_equal(stage.zk_rc, ZNOCHILDRENFOREPHEMERALS);
    stage_end();
}

static void a_path_that_only_the_server_refuses_is_invalid(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.lock_path[0] = "/locks/\xef\xbf\xb5"; /* U+FFF5 */
    stage_ready();
    play("a acquire", "settle");
    told("a failed EINVAL");
    assert_int_equal(stage.zk_rc, ZBADARGUMENTS);
    stage_end();
}

/* ---- the session dies ---- */

static void a_dying_session_queues_again_under_the_next(void **state)
{
    (void)state;
    one_process();
    play("expire a", "a acquire", "apply s1 a create refused", "apply s1 a list refused",
         "deliver a create-reply", "deliver a list-reply");
    told("");
    asked("create; list");
    play("settle");
    told("a suspended; a lost; a connected; a granted");
    asked("create; list");
    stage_end();
}

static void refused_at_once_by_a_dead_handle_waits_for_the_next_session(void **state)
{
    (void)state;
    one_process();
    play("cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1", "a acquire");
    asked(""); /* the handle is dead already, though nobody has been told */
    play("settle");
    told("a suspended; a lost; a connected; a granted");
    asked("create; list");
    stage_end();
}

static void an_expiry_in_the_first_flight_starts_anew(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=2 rc=-4",
                                       "cut a keep=1 apply=1 rc=-4"};
    for (int i = 0; i < 3; i++) {
        one_process();
        play("a acquire");
        if (i == 2)
            play("apply s1 a create");
        play(cuts[i], "expire a", "bury a", "settle");
        told("a suspended; a lost; a connected; a granted");
        asked("create; list; create; list");
        assert_int_equal(stage.nodes, 1);
        assert_non_null(strstr(stage.node[0], "-000000000002-lock-")); /* a new attempt for a new session */
        stage_end();
    }
}

static void an_expiry_after_both_answers_is_told_after_the_grant(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "apply s1 a create", "apply s1 a list", "cut a keep=2 apply=0 rc=-4", "expire a",
         "bury a", "settle");
    told("a granted; a suspended; a lost; a connected");
    assert_int_equal(stage.nodes, 0);
    play("a release");
    told("a refused ELOST");
    stage_end();
}

/* ---- cancelled between ---- */

static void cancelled(const char *const *before, const char *const *between, const char *requests)
{
    one_process();
    stage_play_all(before);
    stage_forget();
    play("a cancel");
    assert_true(strstr(stage.told, "a failed ECANCELED") == stage.told);
    assert_int_equal(strncmp(stage.told, "a failed ECANCELED", 18), 0);
    stage.told[0] = 0;
    stage_play_all(between);
    play("settle");
    assert_non_null(strstr(stage.told, "a idle"));
    stage.told[0] = 0;
    asked(requests);
    assert_clean(0);
    stage_end();
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOTHING ((const char *const[]){NULL})

static void cancelled_before_the_create_is_read(void **state)
{
    (void)state;
    cancelled(LINES("a acquire"), NOTHING, "delete");
}

static void cancelled_between_the_two_answers(void **state)
{
    (void)state;
    cancelled(LINES("a acquire", "apply s1 a create", "deliver a create-reply"), NOTHING, "delete");
}

static void cancelled_and_the_create_lost_is_the_janitors_search(void **state)
{
    (void)state;
    cancelled(LINES("a acquire"), LINES("cut a keep=0 apply=0 rc=-4"), "sync; list");
    cancelled(LINES("a acquire"), LINES("cut a keep=0 apply=1 rc=-4"), "sync; list; delete");
    cancelled(LINES("a acquire"), LINES("cut a keep=0 apply=2 rc=-7"), "sync; list; delete");
    cancelled(LINES("a acquire", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting"), NOTHING,
              "sync; list; delete");
}

static void cancelled_while_the_parent_is_made(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply", "apply s1 a create", "a cancel", "settle");
    told("a failed ECANCELED; a idle");
    asked("create; list; create; create");
    assert_clean(0);
    stage_end();
}

static void cancelled_while_searching_or_identifying(void **state)
{
    (void)state;
    cancelled(LINES("a acquire", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting",
                    "deliver a create-reply", "deliver a list-reply", "connect a s1",
                    "deliver a session-connected"),
              NOTHING, "delete");
    cancelled(LINES("a acquire", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting",
                    "deliver a create-reply", "deliver a list-reply", "connect a s1",
                    "deliver a session-connected", "apply s1 a sync", "deliver a sync-reply",
                    "apply s1 a list", "deliver a list-reply"),
              NOTHING, "delete");
}

static void cancelled_and_the_session_gone_leaves_nothing(void **state)
{
    (void)state;
    one_process();
    play("a acquire", "apply s1 a create", "a cancel", "expire a", "settle");
    told("a failed ECANCELED; a suspended; a lost; a idle; a connected");
    assert_clean(0);
    stage_end();
}

/* The link stands, so that no event would make it go on: a timer does. */
static void a_list_that_is_refused_is_sent_again(void **state)
{
    (void)state;
    one_process();
    mishaps_of_lists.refused = 2;
    play("a acquire", "apply s1 a create", "deliver a create-reply");
    told("");
    asked("create");
    play("settle");
    told(""); /* the timer went off, in vain, and without a clock not again until something changes */
    assert_int_equal(mishaps_of_lists.refused, 0);
    play("create /locks/x/news", "settle");
    assert_non_null(strstr(stage.told, "a granted"));
    stage_forget();
    play("a release", "settle");
    told("a freed");
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_is_refused_is_sent_again),
        cmocka_unit_test(ok_and_first_is_held_after_one_flight),
        cmocka_unit_test(ok_and_not_first_waits_with_one_watch),
        cmocka_unit_test(ok_and_not_first_ends_a_try),
        cmocka_unit_test(ok_but_own_node_absent_searches_and_claims_anew),
        cmocka_unit_test(ok_and_list_lost_lists_after_the_reconnect),
        cmocka_unit_test(ok_and_parent_gone_searches_and_makes_the_parent_again),
        cmocka_unit_test(ok_and_list_forbidden_fails_and_removes_the_node),
        cmocka_unit_test(a_node_that_may_not_be_deleted_is_left_behind_with_a_warning),
        cmocka_unit_test(ok_with_the_last_suffix_fails_and_removes_the_node),
        cmocka_unit_test(ok_with_a_negative_suffix_fails_and_removes_the_node),
        cmocka_unit_test(lost_and_not_applied_is_searched_and_claimed_again),
        cmocka_unit_test(lost_and_applied_is_found_again),
        cmocka_unit_test(lost_and_applied_late_is_found_by_the_sync),
        cmocka_unit_test(absence_needs_a_sync_and_a_list_that_are_both_answered),
        cmocka_unit_test(a_search_that_is_lost_is_repeated),
        cmocka_unit_test(a_found_node_that_goes_before_it_is_identified_is_searched_again),
        cmocka_unit_test(a_lost_identification_is_repeated),
        cmocka_unit_test(a_found_node_with_the_last_suffix_fails),
        cmocka_unit_test(a_missing_parent_is_made_with_its_ancestors),
        cmocka_unit_test(a_missing_chroot_is_made_too),
        cmocka_unit_test(a_parent_may_not_be_made),
        cmocka_unit_test(what_vanishes_below_a_chroot_is_made_again),
        cmocka_unit_test(a_search_for_what_is_left_over_is_repeated_after_a_pause),
        cmocka_unit_test(a_search_without_an_answer_is_repeated_after_a_pause),
        cmocka_unit_test(a_search_whose_sync_is_not_taken_does_not_list),
        cmocka_unit_test(a_search_for_a_lost_create_may_be_forbidden),
        cmocka_unit_test(what_forbids_is_told_and_not_what_follows_from_it),
        cmocka_unit_test(forbidden_high_up_is_no_harm_when_the_parent_is_there),
        cmocka_unit_test(an_ancestor_that_can_have_no_children_fails_the_acquire),
        cmocka_unit_test(a_parent_that_vanishes_for_ever_is_made_as_often),
        cmocka_unit_test(an_ancestor_lost_with_the_link_is_made_after_it_is_back),
        cmocka_unit_test(a_server_without_containers_gets_persistent_parents),
        cmocka_unit_test(parents_are_containers_that_can_be_swept),
        cmocka_unit_test(exists_searches_and_does_not_take_anothers_node),
        cmocka_unit_test(no_permission_fails_the_acquire),
        cmocka_unit_test(any_other_refusal_fails_the_acquire),
        cmocka_unit_test(a_path_that_only_the_server_refuses_is_invalid),
        cmocka_unit_test(a_dying_session_queues_again_under_the_next),
        cmocka_unit_test(refused_at_once_by_a_dead_handle_waits_for_the_next_session),
        cmocka_unit_test(an_expiry_in_the_first_flight_starts_anew),
        cmocka_unit_test(an_expiry_after_both_answers_is_told_after_the_grant),
        cmocka_unit_test(cancelled_before_the_create_is_read),
        cmocka_unit_test(cancelled_between_the_two_answers),
        cmocka_unit_test(cancelled_and_the_create_lost_is_the_janitors_search),
        cmocka_unit_test(cancelled_while_the_parent_is_made),
        cmocka_unit_test(cancelled_while_searching_or_identifying),
        cmocka_unit_test(cancelled_and_the_session_gone_leaves_nothing),
        cmocka_unit_test(the_last_suffix_fails_without_the_list_too),
        cmocka_unit_test(what_is_missing_above_the_chroot_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
