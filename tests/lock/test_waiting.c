/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Waiting: the watch on the nearest predecessor, wake-ups, what may vanish meanwhile, and deadlines. */
#include "lock/claim.h"
#include "stage.h"
#include "support/mishaps.h"

#define NODE(who, number, suffix)                                                                            \
    "/locks/x/_c_0000000" who "-0000-4000-8000-00000000000" number "-lock-000000000" suffix

/* a holds, b waits behind it, c (if there is one) behind b. */
static void queue_of(int processes)
{
    stage_set(processes);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    if (processes > 2)
        play("c acquire", "settle");
    told("a granted");
    stage_forget();
}

/* ---- watches and wake-ups ---- */

/* The link stands, so that no event would make it go on: a timer does. */
static void a_watch_without_an_answer_is_set_again_after_a_pause(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire");
    mishaps_of_reads.lost = 1;
    play("settle");
    assert_int_equal(mishaps_of_reads.lost, 0);
    asked("create; list; create; list; get; get");
    play("a release", "settle");
    told("a granted; a freed; b granted");
    stage_end();
}

static void twenty_waiters_are_granted_in_order_with_one_wakeup_each(void **state)
{
    (void)state;
    stage_set(20);
    stage_ready();
    for (int p = 0; p < 20; p++) {
        char line[] = "a acquire";
        line[0] = (char)('a' + p);
        play(line, "settle");
    }
    told("a granted");
    assert_int_equal(stage.nodes, 20);
    for (int p = 0; p < 20; p++) {
        char line[] = "a release";
        char expected[] = "a freed; b granted";
        line[0] = expected[0] = (char)('a' + p);
        expected[9] = (char)('a' + p + 1);
        assert_int_equal(stage.wakeups, p);
        assert_int_equal(fakezk_watches(p), 0);
        play(line, "settle");
        told(p < 19 ? expected : "t freed");
    }
    assert_int_equal(stage.wakeups, 19);
    assert_int_equal(stage.watches_set, 19);
    assert_clean(19);
    stage_end();
}

static void a_waiter_that_leaves_hands_its_place_to_the_next(void **state)
{
    (void)state;
    queue_of(3);
    play("b cancel", "settle");
    told("b failed ECANCELED; b idle"); /* and c is not granted: a still holds */
    assert_int_equal(fakezk_watches(1), 0);
    assert_int_equal(fakezk_watches(2), 1);
    play("a release", "settle");
    told("a freed; c granted");
    stage_end();
}

static void the_predecessor_goes_before_the_watch_is_set(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "deliver b create-reply",
         "deliver b list-reply", "a release", "apply s1 a delete", "settle");
    told("a granted; a freed; b granted");
    asked("create; list; create; list; get; delete; list");
    assert_int_equal(stage.watches_set, 0); /* a get leaves none on a node that is gone (F66) */
    stage_end();
}

static void the_predecessor_goes_between_the_watch_and_its_answer(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "deliver b create-reply",
         "deliver b list-reply", "apply s1 b get", "a release", "apply s1 a delete", "settle");
    told("a granted; a freed; b granted");
    assert_int_equal(stage.wakeups, 1);
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

static void a_session_event_is_no_wakeup_and_leaves_the_watch(void **state)
{
    (void)state;
    queue_of(2);
    play("cut b keep=0 apply=0 rc=-4", "settle");
    told("b suspended; b reconnected");
    asked("");
    assert_int_equal(fakezk_watches(1), 1);
    play("a release", "settle");
    told("a freed; b granted");
    stage_end();
}

static void a_predecessor_deleted_during_an_outage_is_told_at_the_reconnect(void **state)
{
    (void)state;
    queue_of(2);
    play("cut b keep=0 apply=0 rc=-7", "a release", "settle");
    told("a freed; b suspended; b reconnected; b granted");
    stage_end();
}

static void a_lost_get_is_repeated(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut b keep=0 apply=0 rc=-4", "cut b keep=0 apply=1 rc=-4",
                                       "cut b keep=0 apply=1 rc=-7"};
    for (int i = 0; i < 3; i++) {
        stage_set(2);
        stage.options.used_directory = true;
        stage_ready();
        play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list",
             "deliver b create-reply", "deliver b list-reply");
        stage_forget();
        play(cuts[i], "settle");
        asked("get");
        assert_int_equal(fakezk_watches(1), 1);
        play("a release", "settle");
        told("b suspended; b reconnected; a freed; b granted");
        stage_end();
    }
}

static void a_lost_list_after_a_wakeup_is_repeated(void **state)
{
    (void)state;
    queue_of(2);
    play("a release", "apply s1 a delete", "deliver b deleted(node of a)", "cut b keep=0 apply=1 rc=-4",
         "settle");
    told("a freed; b suspended; b reconnected; b granted");
    asked("delete; list; sync; list");
    stage_end();
}

static void change_own_node(struct probe *probe)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 1, &op, path, sizeof path), LS_OK);
    assert_int_equal(zoo_aset(probe->session.zh, path, "new", 3, -1, NULL, NULL), ZOK);
}

static void a_changed_predecessor_is_looked_at_and_watched_again(void **state)
{
    (void)state;
    queue_of(2);
    stage_job(0, change_own_node);
    play("settle");
    asked("set; list; get");
    told("");
    assert_int_equal(fakezk_watches(1), 1);
    play("a release", "settle");
    told("a freed; b granted");
    stage_end();
}

/* Late and foreign events, as a client may deliver them. */
static void raise_events(struct probe *probe)
{
    zhandle_t *zh = probe->session.zh;
    const struct lock_claim *claim = probe->session.claims;
    void *context = (void *)(uintptr_t)claim->watch_id;
    void *nobody = (void *)(uintptr_t)99;
    char path[256];
    snprintf(path, sizeof path, "/locks/x/%s", claim->ahead);
    lock_mutex_on_event(zh, ZOO_SESSION_EVENT, ZOO_CONNECTED_STATE, path, context);
    lock_mutex_on_event(zh, ZOO_DELETED_EVENT, ZOO_CONNECTED_STATE, path, nobody);
    lock_mutex_on_event(zh, ZOO_DELETED_EVENT, ZOO_CONNECTED_STATE, "", context);
    lock_mutex_on_event(zh, ZOO_DELETED_EVENT, ZOO_CONNECTED_STATE, "/locks/x/other", context);
    snprintf(path, sizeof path, "/lockz/x/%s", claim->ahead);
    lock_mutex_on_event(zh, ZOO_DELETED_EVENT, ZOO_CONNECTED_STATE, path, context);
}

static void events_that_are_not_about_the_predecessor_are_passed_over(void **state)
{
    (void)state;
    queue_of(2);
    stage_job(1, raise_events);
    asked("");
    play("a release", "settle");
    told("a freed; b granted");
    stage_end();
}

/* ---- which watch is whose ---- */

static void ask_for_many(struct probe *probe)
{
    for (uint64_t owner = 1; owner <= 70; owner++)
        assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], owner, -1), LS_OK);
}

static void cancel_two(struct probe *probe)
{
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 3), LS_OK);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 66), LS_OK);
}

static void ask_for_three(struct probe *probe)
{
    for (uint64_t owner = 71; owner <= 73; owner++)
        assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], owner, -1), LS_OK);
}

/* The last claims of a session, oldest first, have these numbers. */
static void expect_watch_ids(const struct probe *probe, const uint16_t *ids, int count)
{
    int all = 0;
    for (const struct lock_claim *claim = probe->session.claims; claim; claim = claim->next)
        all++;
    assert_int_equal(all, 71);
    for (const struct lock_claim *claim = probe->session.claims; claim; claim = claim->next)
        if (all-- <= count)
            assert_int_equal(claim->watch_id, *ids++);
}

static void check_ids(struct probe *probe)
{
    expect_watch_ids(probe, (const uint16_t[]){69, 70, 3, 66, 71}, 5);
}

static void each_claim_has_the_lowest_number_that_is_free(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(0, ask_for_many);
    play("settle");
    assert_int_equal(fakezk_watches(0), 69);
    stage_job(0, cancel_two);
    play("settle");
    stage_job(0, ask_for_three);
    stage_job(0, check_ids);
    stage_end();
}

/* ---- what may vanish ---- */

static void the_own_node_of_a_waiter_is_removed_by_an_operator(void **state)
{
    (void)state;
    queue_of(2);
    play("remove " NODE("2", "1", "8"), "settle");
    told(""); /* nobody watches it: b finds out when it is woken */
    play("a release", "settle");
    told("a freed; b granted");
    asked("delete; list; sync; list; create; list");
    stage_end();
}

static void the_parent_vanishes_while_one_waits(void **state)
{
    (void)state;
    queue_of(2);
    play("remove /locks/x", "settle");
    /* b makes the parent again and is first in it; a does not know yet that its node is gone. */
    told("b granted");
    assert_int_equal(stage.nodes, 1);
    play("a release", "settle");
    told("a freed ELOST"); /* somebody else has deleted the node of the hold */
    play("b release", "settle");
    told("b freed");
    assert_clean(0);
    stage_end();
}

static void the_parent_vanishes_before_the_watch_is_set(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "deliver b create-reply",
         "deliver b list-reply", "remove /locks/x", "settle");
    told("a granted; b granted");
    stage_end();
}

static void the_parent_vanishes_between_wakeup_and_list(void **state)
{
    (void)state;
    queue_of(2);
    play("a release", "apply s1 a delete", "deliver b deleted(node of a)", "remove /locks/x", "settle");
    told("a freed; b granted");
    asked("delete; list; sync; list; create; list; create; create; create; list");
    stage_end();
}

static void the_waiters_session_expires(void **state)
{
    (void)state;
    queue_of(3);
    play("expire b", "settle");
    told("b suspended; b lost; b connected");
    assert_int_equal(stage.nodes, 3); /* b queues again, at the end */
    play("a release", "settle");
    told("a freed; c granted");
    play("c release", "settle");
    told("b granted; c freed"); /* the event of the deletion comes before its answer (F39) */
    stage_end();
}

static void the_holders_session_expires(void **state)
{
    (void)state;
    queue_of(2);
    play("expire a", "settle");
    told("a suspended; a lost; b granted; a connected");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_NOT_HELD);
    play("a release");
    told("a refused ELOST");
    play("a release");
    told("a refused ENOTOWNER");
    stage_end();
}

static void a_crashed_holder_and_its_restart(void **state)
{
    (void)state;
    queue_of(2);
    play("crash a", "settle");
    assert_int_equal(stage.nodes, 2);
    play("restart a", "settle", "a acquire", "settle");
    told("a connected");
    assert_int_equal(stage.nodes, 3);
    play("expire a", "settle"); /* the session of its former life */
    told("b granted");
    play("b release", "settle");
    told("a granted; b freed");
    stage_end();
}

/* ---- foreign children ---- */

static void a_foreign_child_that_curator_would_wait_for_is_warned_of_once(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x/.hidden", "a acquire", "settle");
    told("a warned foreign-child; a granted");
    play("a release", "settle", "a acquire", "settle", "a release", "settle");
    told("a freed; a granted; a freed");
    assert_int_equal(stage_probe(0)->mutex[0].warned, 1u << LS_WARN_FOREIGN_CHILD);
    stage_end();
}

static void a_foreign_child_behind_all_contenders_is_ignored(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x/content", "create /locks/x/targets", "a acquire", "settle");
    told("a granted");
    stage_end();
}

static void any_child_with_ten_digits_is_a_contender(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x/lock-0000000000", "a acquire", "settle");
    told("");
    play("remove /locks/x/lock-0000000000", "settle");
    told("a granted");
    stage_end();
}

/* ---- sequences at their end, as a waiter sees them ---- */

static void a_waiter_that_lists_the_last_suffix_ahead_fails(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    /* A wrapped counter of an older server: the node after 2147483647 sorts before it. */
    play("create /locks/x/lock-2147483647", "create /locks/x/lock-0000000000", "a acquire", "settle");
    told("a failed ESEQUENCE; a idle");
    assert_clean(0);
    stage_end();
}

static void the_last_suffix_behind_a_first_contender_is_no_harm(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x/lock-2147483647", "a acquire", "settle");
    told("a granted");
    stage_end();
}

static void a_contender_that_lists_a_negative_suffix_fails(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x/lock--000000005", "a acquire", "settle");
    told("a failed ESEQUENCE; a idle");
    assert_clean(0);
    stage_end();
}

static void the_counter_reaches_its_end_while_a_waiter_waits(void **state)
{
    (void)state;
    stage_set(3);
    stage.options.sequence_preset = INT32_MAX - 2;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "c acquire", "settle");
    told("a granted; c failed ESEQUENCE; c idle");
    play("a release", "settle");
    told("a freed; b granted");
    stage_end();
}

/* ---- deadlines ---- */

static void timed_queue(void)
{
    stage_set(2);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage_open();
    play("pass 200");
    stage_forget();
    play("a acquire", "pass 200");
    told("a granted");
}

static void a_deadline_ends_a_wait_on_time(void **state)
{
    (void)state;
    timed_queue();
    play("b acquire timeout=1000ms", "pass 999");
    told("");
    play("pass 1");
    told("b failed ETIMEDOUT");
    play("pass 200");
    told("b idle");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(fakezk_watches(1), 0);
    stage_end();
}

static void a_deadline_is_kept_during_an_outage(void **state)
{
    (void)state;
    timed_queue();
    play("b acquire timeout=1000ms", "pass 100", "partition b", "pass 899");
    told("");
    play("pass 1");
    told("b failed ETIMEDOUT");
    play("heal b", "pass 3000");
    assert_non_null(strstr(stage.told, "b idle"));
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void a_deadline_is_kept_by_one_that_never_connected(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.timed = true;
    stage_open();
    play("partition a", "a acquire timeout=500ms", "pass 499");
    told("");
    play("pass 1");
    told("a failed ETIMEDOUT"); /* nothing was sent, so nothing is left over */
    asked("");
    stage_end();
}

static void a_grant_stops_the_deadline(void **state)
{
    (void)state;
    timed_queue();
    play("b acquire timeout=1000ms", "pass 500", "a release", "pass 200");
    told("a freed; b granted");
    assert_int_equal(timer_count(1), 0);
    play("pass 2000");
    told("");
    assert_int_equal(ls_mutex_depth(&stage_probe(1)->mutex[0], 1), 1);
    stage_end();
}

static void a_later_acquire_does_not_wait_for_the_janitor(void **state)
{
    (void)state;
    queue_of(2);
    play("cut b keep=0 apply=0 rc=-4", "b cancel", "b acquire");
    told("b failed ECANCELED");
    play("settle");
    told("b suspended; b reconnected; b idle");
    assert_int_equal(stage.nodes, 2);
    play("a release", "settle");
    told("a freed; b granted");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

/* ---- all watches fit into one request ---- */

enum { SET_WATCHES = 64, WATCH = 4 + 8 + 1 + 56 }; /* of a contender below /locks/x */

static void room_for(int watches)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage.session.maxbuffer = (uint32_t)(SET_WATCHES + watches * WATCH);
    stage_ready();
}

static void an_acquire_whose_watch_does_not_fit_is_refused(void **state)
{
    (void)state;
    room_for(3);
    play("a acquire", "a acquire owner=1", "a acquire owner=2", "a acquire owner=3");
    told("a#3 refused EOVERFLOW");
    play("settle");
    told("a granted");
    play("a acquire owner=3", "settle", "a acquire owner=4"); /* a holder watches nothing */
    told("a#4 refused EOVERFLOW");
    assert_int_equal(fakezk_watches(0), 3);
    play("cut a keep=0 apply=0 rc=-4", "settle", "a release", "settle", "a release owner=1", "settle");
    told("a suspended; a reconnected; a freed; a#1 granted; a#1 freed; a#2 granted");
    play("a acquire owner=4", "settle", "a cancel owner=3", "settle", "a acquire owner=5", "settle");
    told("a#3 failed ECANCELED; a idle");
    play("a release owner=2", "settle", "a release owner=4", "settle", "a release owner=5", "settle");
    told("a#2 freed; a#4 granted; a#4 freed; a#5 granted; a#5 freed");
    assert_int_equal(stage_probe(0)->session.reserved, 0);
    stage_end();
}

static void tombs_reserve_nothing(void **state)
{
    (void)state;
    room_for(2);
    play("a acquire", "settle", "a acquire owner=1", "a acquire owner=2", "settle", "expire a", "settle");
    told("a granted; a suspended; a lost; a connected; a#1 granted");
    play("a acquire owner=3", "settle", "a acquire owner=4");
    told("a#4 refused EOVERFLOW");
    play("a release owner=1", "settle", "a release owner=2", "settle", "a release owner=3", "settle",
         "a release");
    told("a#1 freed; a#2 granted; a#2 freed; a#3 granted; a#3 freed; a refused ELOST");
    stage_end();
}

static void a_predecessor_with_too_long_a_name_ends_the_acquire(void **state)
{
    (void)state;
    static const char longer[] =
        "create /locks/x/0123456789012345678901234567890123456789012345678901lock-0000000000";
    _Static_assert(sizeof longer - sizeof "create /locks/x/" == 67, "11 bytes longer than a name of ours");
    for (int room = 0; room <= 1; room++) {
        stage_set(1);
        stage.options.used_directory = true;
        stage.session.maxbuffer = (uint32_t)(SET_WATCHES + 2 * WATCH + 10 + room);
        stage_ready();
        play(longer, "a acquire", "a acquire owner=1", "settle");
        told(room ? "" : "a failed EOVERFLOW; a idle");
        assert_int_equal(stage_probe(0)->session.reserved, WATCH + 11 + room * WATCH);
        play("remove /locks/x/0123456789012345678901234567890123456789012345678901lock-0000000000", "settle");
        told(room ? "a granted" : "a#1 granted");
        play(room ? "a release" : "a release owner=1", "settle");
        if (room)
            play("a release owner=1", "settle");
        stage_end();
    }
}

static void make_revocable(struct probe *probe)
{
    stage_add(stage.told, "revocable %s", stage_err(ls_mutex_make_revocable(&probe->mutex[0])));
}

static void nothing_on_revoke(struct probe *probe)
{
    (void)probe;
}

static void a_revocable_hold_reserves_its_watch(void **state)
{
    (void)state;
    room_for(2);
    stage.on_revoke = nothing_on_revoke;
    play("a acquire", "settle", "a acquire owner=1", "a acquire owner=2", "settle");
    stage_job(0, make_revocable);
    told("a granted; revocable EOVERFLOW");
    play("a cancel owner=2", "settle");
    stage_job(0, make_revocable);
    told("a#2 failed ECANCELED; a idle; revocable ok");
    play("settle", "a acquire owner=2");
    told("a#2 refused EOVERFLOW");
    play("a release", "settle", "a release owner=1", "settle");
    told("a freed; a#1 granted; a#1 freed");
    assert_int_equal(stage_probe(0)->session.reserved, 0);
    stage_end();
}

/* ---- a create fits into one request ---- */

static void ask_for_too_much(struct probe *probe)
{
    enum { MOST = 0xfffff - 64 - WATCH - (4 + 4 + 5 + 4 + 6) }; /* "world", "anyone" */
    static char contents[1 << 20];
    static struct ACL entries[50000];
    static struct ACL_vector acl = {.count = 50000, .data = entries};
    static const struct ls_mutex_options options = {.acl = &acl};
    struct ls_mutex other;
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], contents, sizeof contents), LS_EOVERFLOW);
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], contents, MOST + 1), LS_EOVERFLOW);
    assert_null(probe->mutex[0].contents);
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], contents, MOST), LS_OK);
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], NULL, 0), LS_OK);
    for (int i = 0; i < acl.count; i++)
        entries[i] = (struct ACL){.perms = ZOO_PERM_ALL, .id = ZOO_ANYONE_ID_UNSAFE};
    assert_int_equal(ls_mutex_init(&other, &probe->session, "/locks/x", &options), LS_EOVERFLOW);
    assert_null(other.session);
}

static void what_no_server_takes_is_refused(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage_job(0, ask_for_too_much);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_without_an_answer_is_set_again_after_a_pause),
        cmocka_unit_test(twenty_waiters_are_granted_in_order_with_one_wakeup_each),
        cmocka_unit_test(a_waiter_that_leaves_hands_its_place_to_the_next),
        cmocka_unit_test(the_predecessor_goes_before_the_watch_is_set),
        cmocka_unit_test(the_predecessor_goes_between_the_watch_and_its_answer),
        cmocka_unit_test(a_session_event_is_no_wakeup_and_leaves_the_watch),
        cmocka_unit_test(a_predecessor_deleted_during_an_outage_is_told_at_the_reconnect),
        cmocka_unit_test(a_lost_get_is_repeated),
        cmocka_unit_test(a_lost_list_after_a_wakeup_is_repeated),
        cmocka_unit_test(a_changed_predecessor_is_looked_at_and_watched_again),
        cmocka_unit_test(the_own_node_of_a_waiter_is_removed_by_an_operator),
        cmocka_unit_test(the_parent_vanishes_while_one_waits),
        cmocka_unit_test(the_parent_vanishes_before_the_watch_is_set),
        cmocka_unit_test(the_parent_vanishes_between_wakeup_and_list),
        cmocka_unit_test(the_waiters_session_expires),
        cmocka_unit_test(the_holders_session_expires),
        cmocka_unit_test(a_crashed_holder_and_its_restart),
        cmocka_unit_test(a_foreign_child_that_curator_would_wait_for_is_warned_of_once),
        cmocka_unit_test(a_foreign_child_behind_all_contenders_is_ignored),
        cmocka_unit_test(any_child_with_ten_digits_is_a_contender),
        cmocka_unit_test(a_waiter_that_lists_the_last_suffix_ahead_fails),
        cmocka_unit_test(the_last_suffix_behind_a_first_contender_is_no_harm),
        cmocka_unit_test(a_contender_that_lists_a_negative_suffix_fails),
        cmocka_unit_test(the_counter_reaches_its_end_while_a_waiter_waits),
        cmocka_unit_test(a_deadline_ends_a_wait_on_time),
        cmocka_unit_test(a_deadline_is_kept_during_an_outage),
        cmocka_unit_test(a_deadline_is_kept_by_one_that_never_connected),
        cmocka_unit_test(a_grant_stops_the_deadline),
        cmocka_unit_test(a_later_acquire_does_not_wait_for_the_janitor),
        cmocka_unit_test(events_that_are_not_about_the_predecessor_are_passed_over),
        cmocka_unit_test(each_claim_has_the_lowest_number_that_is_free),
        cmocka_unit_test(an_acquire_whose_watch_does_not_fit_is_refused),
        cmocka_unit_test(tombs_reserve_nothing),
        cmocka_unit_test(a_predecessor_with_too_long_a_name_ends_the_acquire),
        cmocka_unit_test(a_revocable_hold_reserves_its_watch),
        cmocka_unit_test(what_no_server_takes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
