/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex as an object: owners, depth, tokens, guards, contents, participants, several locks, misuse, and as much of
 * the blocking shell as answers without sleeping. */
#include "lock/claim.h"
#include "stage.h"

static void one(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
}

/* ---- owners and depth ---- */

static void an_owner_may_enter_again_and_must_leave_as_often(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    for (int depth = 2; depth <= 3; depth++) {
        play("a acquire");
        told(depth == 2 ? "a granted; a granted" : "a granted");
        assert_int_equal(stage.depth, depth);
        assert_int_equal(ls_mutex_depth(&stage_probe(0)->mutex[0], 1), depth);
    }
    asked("create; list");
    play("a release", "a release", "settle");
    told("");
    asked("");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("a release", "settle");
    told("a freed");
    asked("delete");
    play("a release");
    told("a refused ENOTOWNER");
    stage_end();
}

static void owners_of_one_process_exclude_each_other(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "a acquire owner=1", "settle");
    told("a granted");
    assert_true(ls_mutex_held_by(&stage_probe(0)->mutex[0], 1));
    assert_false(ls_mutex_held_by(&stage_probe(0)->mutex[0], 2));
    assert_true(ls_mutex_held_here(&stage_probe(0)->mutex[0]));
    assert_int_equal(world_belief(stage.world, 0, 0, 1), LS_NOT_HELD);
    play("a release owner=1");
    told("a#1 refused ENOTOWNER"); /* pending is not held */
    play("a release owner=2");
    told("a#2 refused ENOTOWNER");
    play("a release", "settle");
    told("a freed; a#1 granted");
    play("a release owner=1", "settle");
    told("a#1 freed");
    assert_false(ls_mutex_held_here(&stage_probe(0)->mutex[0]));
    stage_end();
}

static void two_locks_have_nothing_to_do_with_each_other(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.locks = 2;
    stage.options.lock_path[1] = "/locks/y";
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire x", "b acquire y", "settle");
    told("a granted; b:1 granted");
    play("b acquire x", "a acquire y", "settle");
    told("");
    assert_int_equal(fakezk_watches(0), 1);
    play("a release x", "settle");
    told("a freed; b granted");
    play("b release y", "settle");
    told("a:1 granted; b:1 freed");
    stage_end();
}

/* ---- two objects on one path ---- */

static struct ls_mutex twin;
static struct ls_mutex_options twin_options;

static void open_twin(struct probe *probe)
{
    twin_options.ops = NULL;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 1, -1), LS_OK);
}

static void look_at_twin(struct probe *probe)
{
    (void)probe;
    assert_true(ls_mutex_held_here(&twin));
    assert_int_equal(ls_mutex_query(&twin, 1), LS_HELD);
    assert_true(ls_mutex_token(&twin, 1) > 0);
}

static void close_twin(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
}

static void two_objects_on_one_path_exclude_each_other(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, open_twin);
    play("settle");
    assert_false(ls_mutex_held_here(&twin)); /* the same owner, but another object */
    play("a release", "settle");
    told("a granted; a freed");
    stage_job(0, look_at_twin);
    assert_false(ls_mutex_held_here(&stage_probe(0)->mutex[0]));
    stage_job(0, close_twin); /* the janitor gives back what it held */
    play("settle");
    told("a idle");
    assert_clean(0);
    stage_end();
}

static void closing_a_mutex_ends_its_waiter_and_its_tomb(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, open_twin);
    play("settle");
    stage_job(0, close_twin);
    play("settle");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(fakezk_watches(0), 0);
    play("a release", "settle");
    stage_job(0, open_twin);
    play("settle", "expire a", "settle");
    stage_job(0, close_twin);
    play("settle");
    assert_clean(0);
    stage_end();
}

/* ---- tokens and guards ---- */

static void tokens_grow_from_grant_to_grant(void **state)
{
    (void)state;
    stage_set(2);
    stage_ready();
    int64_t last = 0;
    for (int i = 0; i < 4; i++) {
        play(i % 2 ? "b acquire" : "a acquire", "settle");
        assert_true(stage.token > last);
        assert_int_equal(stage.token, FAKEZK_EPOCH + fakezk_czxid(stage.node[0]));
        last = stage.token;
        play(i % 2 ? "b release" : "a release", "settle");
        if (i == 1)
            play("sweep x"); /* sequence numbers begin again, tokens do not */
    }
    assert_int_equal(ls_mutex_token(&stage_probe(0)->mutex[0], 1), 0);
    stage_end();
}

static int guarded_rc;

static void on_guarded(int rc, const void *data)
{
    (void)data;
    guarded_rc = rc;
}

static zoo_op_t guard_ops[2];
static zoo_op_result_t guard_results[2];
static char guard_path[LS_MUTEX_PATH_SIZE_MAX + 64];

static void take_guard(struct probe *probe)
{
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 1, &guard_ops[0], guard_path, sizeof guard_path),
                     LS_OK);
    assert_string_equal(guard_path, stage.node[0]);
}

static void write_guarded(struct probe *probe)
{
    guarded_rc = 1;
    zoo_set_op_init(&guard_ops[1], "/data", "v", 1, -1, NULL);
    assert_int_equal(ls_session_multi(&probe->session, 2, guard_ops, guard_results, on_guarded, NULL), LS_OK);
}

static void a_guarded_write_is_taken_while_the_lock_is_held_and_never_after(void **state)
{
    (void)state;
    one();
    play("create /data", "a acquire", "settle");
    stage_job(0, take_guard);
    stage_job(0, write_guarded);
    play("settle");
    assert_int_equal(guarded_rc, ZOK);
    play("a release", "settle");
    stage_job(0, write_guarded); /* with the guard of the last grant */
    play("settle");
    assert_int_equal(guarded_rc, ZNONODE);
    assert_int_equal(guard_results[0].err, ZNONODE);
    stage_end();
}

static void write_in_vain(struct probe *probe)
{
    zoo_set_op_init(&guard_ops[1], "/data", "v", 1, -1, NULL);
    assert_int_equal(ls_session_multi(&probe->session, 2, guard_ops, guard_results, on_guarded, NULL),
                     LS_ECLOSED);
}

/* The link is gone, the session has ended, and nobody has been told either; then it has been told. zoo_amulti() would end the
 * process, which the judges of the stage would see. */
static void a_guarded_write_without_a_link_is_not_sent(void **state)
{
    (void)state;
    one();
    play("create /data", "a acquire", "settle");
    stage_job(0, take_guard);
    play("expire a", "cut a keep=0 apply=0 rc=-4");
    stage_job(0, write_in_vain);
    play("bury a", "connect a s1");
    struct probe *probe = stage_probe(0);
    assert_int_equal(ls_session_state(&probe->session), LS_STATE_CONNECTED); /* for all that it knows */
    stage_job(0, write_in_vain);
    play("deliver a session-connecting");
    stage_job(0, write_in_vain);
    play("settle");
    guarded_rc = 1;
    stage_job(0, write_guarded); /* in the next session */
    play("settle");
    assert_int_equal(guarded_rc, ZNONODE);
    stage_end();
}

static void write_unguarded_by_the_library(struct probe *probe)
{
    zoo_set_op_init(&guard_ops[1], "/data", "v", 1, -1, NULL);
    (void)zoo_amulti(probe->session.zh, 2, guard_ops, guard_results, on_guarded, NULL);
}

/* The world tells what the real client library does: the process is gone, and its recipe is to blame. */
static void a_guarded_write_of_the_client_library_ends_a_process_whose_handle_is_dead(void **state)
{
    (void)state;
    one();
    stage.may_misbehave = true;
    play("create /data", "a acquire", "settle");
    stage_job(0, take_guard);
    play("expire a", "cut a keep=0 apply=0 rc=-4", "bury a");
    stage_job(0, write_unguarded_by_the_library); /* it is queued: the handle lives */
    assert_int_equal(stage.offences, 0);
    play("connect a s1");
    stage_job(0, write_unguarded_by_the_library);
    assert_int_equal(stage.offences, 1);
    assert_true(process_at(0)->crashed);
    assert_int_equal(fakezk_handles(0), 0);
    play("restart a", "settle");
    stage_end();
}

/* What the client would refuse, and nothing else. */
static void write_to_odd_paths(struct probe *probe)
{
    static const char *const wrong[] = {"",   "x",     "/x/",  "//",    "/x//y",
                                        "/.", "/x/..", "/./x", "/../x", "/x\1"};
    static const char *const sequential_wrong[] = {"/x//", "/./x", "x"};
    static const char *const right[] = {"/", "/...", "/.x", "/x..", "/x/.y/z", "/x\x1f", "/\xc3\xa4"};
    static const char *const sequential[] = {"/x/", "/x/.", "/..", "/x"};
    struct ls_session *session = &probe->session;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        zoo_check_op_init(&guard_ops[0], "/x", -1);
        zoo_delete_op_init(&guard_ops[1], wrong[i], -1);
        assert_int_equal(ls_session_multi(session, 2, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
        zoo_check_op_init(&guard_ops[0], wrong[i], -1);
        zoo_delete_op_init(&guard_ops[1], "/x", -1);
        assert_int_equal(ls_session_multi(session, 2, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
        zoo_set_op_init(&guard_ops[0], wrong[i], "v", 1, -1, NULL);
        assert_int_equal(ls_session_multi(session, 2, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
        zoo_create_op_init(&guard_ops[0], wrong[i], "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
        assert_int_equal(ls_session_multi(session, 1, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
    }
    for (size_t i = 0; i < sizeof sequential_wrong / sizeof *sequential_wrong; i++) {
        zoo_create_op_init(&guard_ops[0], sequential_wrong[i], "", 0, &ZOO_OPEN_ACL_UNSAFE,
                           ZOO_PERSISTENT_SEQUENTIAL, NULL, 0);
        assert_int_equal(ls_session_multi(session, 1, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        zoo_check_op_init(&guard_ops[0], right[i], -1);
        zoo_check_op_init(&guard_ops[1], right[i], -1);
        assert_int_equal(ls_session_multi(session, 2, guard_ops, guard_results, on_guarded, NULL), LS_OK);
    }
    for (size_t i = 0; i < sizeof sequential / sizeof *sequential; i++) {
        zoo_create_op_init(&guard_ops[0], sequential[i], "", 0, &ZOO_OPEN_ACL_UNSAFE,
                           ZOO_EPHEMERAL_SEQUENTIAL, NULL, 0);
        zoo_check_op_init(&guard_ops[1], "/nowhere", -1); /* so that nothing stays */
        assert_int_equal(ls_session_multi(session, 2, guard_ops, guard_results, on_guarded, NULL), LS_OK);
    }
    zoo_check_op_init(&guard_ops[0], NULL, -1);
    assert_int_equal(ls_session_multi(session, 1, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
    guard_ops[0].type = -7;
    assert_int_equal(ls_session_multi(session, 1, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
    zoo_check_op_init(&guard_ops[0], "/x", -1); /* so that nothing but the missing argument is wrong */
    assert_int_equal(ls_session_multi(session, 0, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
    assert_int_equal(ls_session_multi(session, 1, NULL, guard_results, on_guarded, NULL), LS_EINVAL);
    assert_int_equal(ls_session_multi(session, 1, guard_ops, NULL, on_guarded, NULL), LS_EINVAL);
    assert_int_equal(ls_session_multi(session, 1, guard_ops, guard_results, NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_session_multi(NULL, 1, guard_ops, guard_results, on_guarded, NULL), LS_EINVAL);
}

static void a_multi_with_a_malformed_path_is_refused(void **state)
{
    (void)state;
    one();
    play("settle");
    stage_job(0, write_to_odd_paths);
    play("settle");
    stage_end();
}

static void guard_is_refused(struct probe *probe)
{
    zoo_op_t op;
    char path[8];
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 2, &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 1, &op, path, sizeof path), LS_EOVERFLOW);
}

static void guard_is_lost(struct probe *probe)
{
    zoo_op_t op;
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 1, &op, guard_path, sizeof guard_path), LS_ELOST);
    assert_int_equal(ls_mutex_depth(&probe->mutex[0], 1), 0);
    assert_int_equal(ls_mutex_token(&probe->mutex[0], 1), 0);
}

static void a_guard_needs_the_lock_and_room(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, guard_is_refused);
    play("expire a", "settle");
    stage_job(0, guard_is_lost);
    stage_end();
}

/* ---- losses as the owner sees them ---- */

static void a_lost_lock_is_refused_once_per_level(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "a acquire", "expire a", "settle");
    stage_forget();
    play("a release");
    told("a refused ELOST");
    play("a release");
    told("a refused ELOST");
    play("a release");
    told("a refused ENOTOWNER");
    stage_end();
}

/* Once for each hold, whatever its depth, and for none that was given back. */
static void a_hold_that_ends_without_its_release_is_told_once(void **state)
{
    (void)state;
    stage_set(1);
    stage.hears_losses = true;
    stage_ready();
    play("a acquire", "settle", "a acquire", "expire a", "settle");
    told("a granted; a granted; a suspended; a lost; a lost; a connected");
    play("a release", "a release");
    told("a refused ELOST; a refused ELOST");
    play("a acquire", "settle", "a release", "settle", "expire a", "settle");
    told("a granted; a freed; a suspended; a lost; a connected");
    play("a acquire", "settle", "expire a", "settle", "a acquire", "settle", "expire a", "settle");
    told("a granted; a suspended; a lost; a lost; a connected; a granted; a suspended; a lost; a lost; a "
         "connected");
    stage_end();
}

static void a_hold_that_was_not_told_of_is_not_told_to_be_lost(void **state)
{
    (void)state;
    stage_set(1);
    stage.hears_losses = true;
    stage_ready();
    play("a acquire", "apply s1 a create", "apply s1 a list", "expire a", "settle");
    told("a suspended; a lost; a connected; a granted");
    play("a release", "settle");
    told("a freed");
    stage_end();
}

static void an_acquire_after_a_loss_begins_anew(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "expire a", "settle");
    stage_forget();
    play("a acquire", "settle");
    told("a granted");
    assert_int_equal(stage.depth, 1);
    play("a release", "settle");
    told("a freed");
    stage_end();
}

static void an_acquire_that_is_refused_leaves_the_loss_to_be_told(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "expire a", "settle");
    stage_forget();
    play("fail-alloc a n=1", "a acquire");
    told("a refused ENOMEM");
    play("a release");
    told("a refused ELOST");
    play("a acquire", "settle", "expire a", "bury a", "hang-up a", "deliver a session-connecting",
         "connect a s1", "deliver a session-expired");
    stage_forget();
    play("a try");
    told("a refused EBUSY"); /* no connection */
    play("a release");
    told("a refused ELOST");
    stage_end();
}

static void a_try_ends_with_the_connection(void **state)
{
    (void)state;
    stage_set(1);
    stage_open();
    play("a try");
    told("a refused EBUSY");
    play("settle", "a try", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    told("a connected; a suspended; a failed EBUSY");
    play("settle");
    assert_clean(0);
    play("a try", "expire a", "apply s1 a create refused", "apply s1 a list refused", "settle");
    assert_non_null(strstr(stage.told, "a failed EBUSY"));
    assert_clean(0);
    stage_end();
}

/* ---- contents and participants ---- */

static int surveyed;

static void survey(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[0], &surveyed), LS_OK);
}

static void participants_are_told_in_order_with_their_contents(void **state)
{
    (void)state;
    stage_set(3);
    stage.options.used_directory = true;
    stage.options.contents = "host-1";
    stage_ready();
    play("c acquire", "settle", "a acquire", "settle", "b acquire", "settle", "create /locks/x/other");
    surveyed = 0;
    stage_forget();
    stage_job(0, survey);
    play("settle");
    told("a sees 0000000007=host-1 0000000008=host-1 0000000009=host-1");
    assert_int_equal(surveyed, 1);
    stage_end();
}

static void null_contents_are_shown_as_empty(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    stage_job(0, survey);
    play("settle");
    told("a sees 0000000007=");
    stage_end();
}

static void set_contents(struct probe *probe)
{
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], "first", 5), LS_OK);
}

static void change_contents(struct probe *probe)
{
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], "later", 5), LS_OK);
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], "x", -1), LS_EINVAL);
}

static void contents_can_be_replaced(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(0, set_contents);
    play("a acquire", "settle");
    stage_job(0, change_contents);
    play("a acquire owner=1", "settle");
    stage_forget();
    stage_job(0, survey);
    play("settle");
    told("a sees 0000000007=first 0000000008=later");
    stage_end();
}

static void without_a_parent_nobody_takes_part(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage_job(0, survey);
    play("settle");
    told("a sees ");
    stage_end();
}

static void a_participant_that_leaves_is_left_out(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    stage_forget();
    stage_job(1, survey);
    play("apply s1 b list", "deliver b list-reply", "a release", "apply s1 a delete", "settle");
    assert_non_null(strstr(stage.told, "b sees 0000000008="));
    stage_end();
}

static void a_survey_may_be_forbidden(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=4");
    stage_job(0, survey);
    play("settle");
    told("a sees ENOAUTH");
    stage_end();
}

static void a_survey_ends_with_the_connection(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    stage_job(0, survey);
    play("cut a keep=0 apply=1 rc=-4", "settle");
    told("a suspended; a sees EZK; a reconnected");
    stage_job(0, survey);
    play("apply s1 a list", "deliver a list-reply", "cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; a sees EZK; a reconnected");
    stage_end();
}

static void all_surveys_end_with_the_connection(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    stage_job(0, survey);
    stage_job(0, survey);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting", "deliver a list-reply",
         "deliver a list-reply");
    told("a suspended; a sees EZK; a sees EZK");
    play("settle");
    stage_end();
}

static void survey_without_connection(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[0], NULL), LS_ECLOSED);
}

static void survey_with_dead_handle(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[0], NULL), LS_EZK);
}

static void a_survey_needs_a_connection(void **state)
{
    (void)state;
    stage_set(1);
    stage_open();
    stage_job(0, survey_without_connection);
    play("settle", "cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1");
    stage_forget();
    stage_job(0, survey_with_dead_handle);
    told("");
    stage_end();
}

static void a_survey_ends_with_its_session_or_mutex(void **state)
{
    (void)state;
    static const unsigned defects[] = {0, WORLD_DEFECT_DROP_AT_CLOSE};
    for (int i = 0; i < 2; i++) {
        stage_set(1);
        stage.options.used_directory = true;
        stage.options.defects = defects[i];
        stage_ready();
        for (int asked = 0; asked < 4; asked++)
            stage_job(0, survey);
        play("a stop");
        told("a sees ECLOSED; a sees ECLOSED; a sees ECLOSED; a sees ECLOSED");
        stage_end();
    }
}

/* By the close itself, not by a call after it. */
static void survey_and_close_the_session(struct probe *probe)
{
    survey(probe);
    assert_int_equal(ls_session_close(&probe->session), LS_OK);
    told("a sees ECLOSED");
}

static void a_close_tells_what_it_ends(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage.options.defects = WORLD_DEFECT_DROP_AT_CLOSE;
    stage_ready();
    stage_job(0, survey_and_close_the_session);
    stage_end();
}

static void survey_and_close(struct probe *probe)
{
    twin_options.ops = &stage_mutex_ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_participants_start(&twin, NULL), LS_OK);
    assert_int_equal(ls_mutex_participants_start(&twin, NULL), LS_OK);
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options),
                     LS_OK); /* in the same place */
}

static void survey_and_close_another(struct probe *probe)
{
    twin_options.ops = &stage_mutex_ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/y", &twin_options), LS_OK);
    survey(probe);
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
}

static void a_closed_mutex_leaves_the_surveys_of_others(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    surveyed = 0;
    stage_job(0, survey_and_close_another);
    play("settle");
    assert_int_equal(surveyed, 1);
    stage_end();
}

static void a_closing_mutex_answers_its_surveys(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    stage_job(0, survey_and_close);
    play("settle");
    told("a sees ECLOSED; a sees ECLOSED");
    asked("list; list"); /* nothing is read for a question that has been answered */
    stage_job(0, close_twin);
    stage_end();
}

static void close_and_open_in_the_same_place(struct probe *probe)
{
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    twin_options.ops = &stage_mutex_ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
}

static void what_a_closed_mutex_leaves_is_not_the_next_ones(void **state)
{
    (void)state;
    one();
    play("remove /locks/x", "create /locks/x perms=5"); /* its node cannot be removed */
    stage_job(0, open_twin);
    play("settle");
    stage_forget();
    stage_job(0, close_and_open_in_the_same_place);
    play("settle");
    asked("delete");
    told("a idle");
    stage_job(0, close_twin);
    stage_end();
}

static void survey_without_memory(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[0], NULL), LS_ENOMEM);
}

static void a_survey_may_run_out_of_memory(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "a acquire owner=1", "settle", "fail-alloc a n=1");
    stage_job(0, survey_without_memory);
    for (int n = 2; n <= 12; n++) {
        stage_forget();
        char line[32];
        snprintf(line, sizeof line, "fail-alloc a n=%d", n);
        play(line);
        stage_job(0, survey);
        play("settle");
        if (strcmp(stage.told, "a sees 0000000007= 0000000008=") != 0)
            assert_string_equal(stage.told, "a sees ENOMEM");
        process_mark(0)->fail_in = 0;
    }
    stage_end();
}

/* ---- misuse ---- */

static void paths_are_checked(struct probe *probe)
{
    static const char *const bad[] = {"",      "x",     "/x/",  "//",      "/x//y",  "/.",
                                      "/x/..", "/../x", "/./x", "/x\x01y", "/x\x7f", "/x/."};
    struct ls_mutex mutex;
    char path[LS_MUTEX_PATH_SIZE_MAX + 2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ls_mutex_init(&mutex, &probe->session, bad[i], NULL), LS_EINVAL);
    assert_int_equal(ls_mutex_init(NULL, &probe->session, "/x", NULL), LS_EINVAL);
    assert_int_equal(ls_mutex_init(&mutex, NULL, "/x", NULL), LS_EINVAL);
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, NULL, NULL), LS_EINVAL);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[LS_MUTEX_PATH_SIZE_MAX + 1] = 0;
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, path, NULL), LS_EINVAL);
    path[LS_MUTEX_PATH_SIZE_MAX] = 0;
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, path, NULL), LS_OK);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    for (int nodes = LS_MUTEX_PATH_NODES_MAX; nodes <= LS_MUTEX_PATH_NODES_MAX + 1; nodes++) {
        for (int i = 0; i < nodes; i++)
            memcpy(path + 2 * (size_t)i, "/x", 3);
        int rc = ls_mutex_init(&mutex, &probe->session, path, NULL);
        assert_int_equal(rc, nodes > LS_MUTEX_PATH_NODES_MAX ? LS_EINVAL : LS_OK);
        assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    }
    static const char *const good[] = {"/", "/x", "/...", "/.x/y..", "/a b/\xc3\xa4"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(ls_mutex_init(&mutex, &probe->session, good[i], NULL), LS_OK);
        assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    }
}

static void closed_mutex_refuses(struct probe *probe)
{
    struct ls_mutex mutex;
    zoo_op_t op;
    char path[8];
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, "/x", NULL), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&mutex, 0, -1), LS_EINVAL);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_release_start(&mutex, 1), LS_ECLOSED);
    assert_int_equal(ls_mutex_cancel(&mutex, 1), LS_ECLOSED);
    assert_int_equal(ls_mutex_acquire(&mutex, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_release(&mutex), LS_ECLOSED);
    assert_int_equal(ls_mutex_participants_start(&mutex, NULL), LS_ECLOSED);
    assert_int_equal(ls_mutex_set_contents(&mutex, "x", 1), LS_EINVAL);
    assert_int_equal(ls_mutex_query(&mutex, 1), LS_NOT_HELD);
    assert_int_equal(ls_mutex_depth(&mutex, 1), 0);
    assert_int_equal(ls_mutex_token(&mutex, 1), 0);
    assert_int_equal(ls_mutex_guard(&mutex, 1, &op, path, sizeof path), LS_ENOTOWNER);
    assert_false(ls_mutex_held_by(&mutex, 1));
    assert_false(ls_mutex_held_here(&mutex));
    assert_false(ls_mutex_held_by_me(&mutex));
}

static void acquire_on_a_session_that_is_not_open(struct probe *probe)
{
    struct ls_session session;
    struct ls_mutex mutex;
    assert_int_equal(ls_session_init(&session, probe->session.env, "h", 1000, NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&mutex, &session, "/x", NULL), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_session_close(&session), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

static void pending_twice(struct probe *probe)
{
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 5, -1), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 5, -1), LS_EALREADY);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 6), LS_ENOENT);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 5), LS_OK);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 5), LS_ENOENT);
}

static void misuse_is_refused(void **state)
{
    (void)state;
    one();
    stage_job(0, paths_are_checked);
    stage_job(0, closed_mutex_refuses);
    stage_job(0, acquire_on_a_session_that_is_not_open);
    stage_job(0, pending_twice);
    told("a#4 failed ECANCELED");
    stage_end();
}

/* ---- the root as a lock ---- */

static void open_root(struct probe *probe)
{
    twin_options.ops = &stage_mutex_ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 3, -1), LS_OK);
}

static void survey_root(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_participants_start(&twin, NULL), LS_OK);
}

/* Below a chroot "/" is a node that can be missing (F58). */
static void a_root_below_nothing_is_not_made(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.chroot = "/app/deep";
    stage_ready();
    play("remove /app");
    stage_job(0, open_root);
    play("settle");
    told("a#2 failed EZK");
    asked("create; list; create; create; list");
    stage_job(0, close_twin);
    stage_end();
}

static void the_root_can_be_a_lock(void **state)
{
    (void)state;
    static const char *const chroots[] = {NULL, "/app"};
    static const char *const requests[] = {"create; list", "create; list; create; create; list"};
    for (int i = 0; i < 2; i++) {
        stage_set(1);
        stage.options.chroot = chroots[i];
        stage_ready();
        if (i == 1)
            play("remove /app");
        stage_job(0, open_root);
        play("settle");
        asked(requests[i]);
        assert_true(ls_mutex_held_by(&twin, 3));
        stage_forget();
        stage_job(0, survey_root);
        play("settle");
        assert_non_null(strstr(stage.told, "="));
        stage_job(0, close_twin);
        play("settle");
        assert_true(stage_idle(stage_probe(0)));
        stage_end();
    }
}

/* ---- the blocking shell, where it need not sleep ---- */

static void shell_while_held(struct probe *probe)
{
    struct ls_mutex *mutex = &probe->mutex[0];
    uint64_t self = ls_env_self(probe->session.env);
    assert_true(ls_mutex_held_by_me(mutex));
    assert_int_equal(ls_mutex_acquire(mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_try(mutex), LS_OK);
    assert_int_equal(ls_mutex_depth(mutex, self), 3);
    assert_int_equal(ls_mutex_release(mutex), LS_OK);
    assert_int_equal(ls_mutex_release(mutex), LS_OK);
    assert_int_equal(ls_mutex_depth(mutex, self), 1);
}

static void shell_while_suspended(struct probe *probe)
{
    struct ls_mutex *mutex = &probe->mutex[0];
    assert_int_equal(ls_mutex_release(mutex), LS_EUNSURE); /* answered at once: there is no connection */
    assert_false(ls_mutex_held_by_me(mutex));
    assert_int_equal(ls_mutex_release(mutex), LS_ENOTOWNER);
    assert_int_equal(ls_mutex_try(mutex), LS_EBUSY);
}

static void ask_as_a_thread(struct probe *probe)
{
    uint64_t self = ls_env_self(probe->session.env);
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], self + 1, -1),
                     LS_EINVAL); /* another thread's */
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], self, -1), LS_OK);
}

static void the_shell_answers_at_once_where_it_can(void **state)
{
    (void)state;
    one();
    stage_job(0, ask_as_a_thread);
    play("settle");
    stage_job(0, shell_while_held);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    stage_job(0, shell_while_suspended);
    play("settle");
    told("a#0 granted; a suspended; a reconnected; a idle"); /* a blocking caller gets no callback */
    assert_clean(0);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_may_enter_again_and_must_leave_as_often),
        cmocka_unit_test(owners_of_one_process_exclude_each_other),
        cmocka_unit_test(two_locks_have_nothing_to_do_with_each_other),
        cmocka_unit_test(two_objects_on_one_path_exclude_each_other),
        cmocka_unit_test(closing_a_mutex_ends_its_waiter_and_its_tomb),
        cmocka_unit_test(tokens_grow_from_grant_to_grant),
        cmocka_unit_test(a_guarded_write_is_taken_while_the_lock_is_held_and_never_after),
        cmocka_unit_test(a_guarded_write_without_a_link_is_not_sent),
        cmocka_unit_test(a_guarded_write_of_the_client_library_ends_a_process_whose_handle_is_dead),
        cmocka_unit_test(a_multi_with_a_malformed_path_is_refused),
        cmocka_unit_test(a_guard_needs_the_lock_and_room),
        cmocka_unit_test(a_lost_lock_is_refused_once_per_level),
        cmocka_unit_test(a_hold_that_ends_without_its_release_is_told_once),
        cmocka_unit_test(a_hold_that_was_not_told_of_is_not_told_to_be_lost),
        cmocka_unit_test(an_acquire_after_a_loss_begins_anew),
        cmocka_unit_test(an_acquire_that_is_refused_leaves_the_loss_to_be_told),
        cmocka_unit_test(a_try_ends_with_the_connection),
        cmocka_unit_test(participants_are_told_in_order_with_their_contents),
        cmocka_unit_test(null_contents_are_shown_as_empty),
        cmocka_unit_test(contents_can_be_replaced),
        cmocka_unit_test(without_a_parent_nobody_takes_part),
        cmocka_unit_test(a_participant_that_leaves_is_left_out),
        cmocka_unit_test(a_survey_may_be_forbidden),
        cmocka_unit_test(a_survey_ends_with_the_connection),
        cmocka_unit_test(all_surveys_end_with_the_connection),
        cmocka_unit_test(a_survey_needs_a_connection),
        cmocka_unit_test(a_survey_ends_with_its_session_or_mutex),
        cmocka_unit_test(a_closed_mutex_leaves_the_surveys_of_others),
        cmocka_unit_test(a_closing_mutex_answers_its_surveys),
        cmocka_unit_test(what_a_closed_mutex_leaves_is_not_the_next_ones),
        cmocka_unit_test(a_close_tells_what_it_ends),
        cmocka_unit_test(a_survey_may_run_out_of_memory),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(a_root_below_nothing_is_not_made),
        cmocka_unit_test(the_root_can_be_a_lock),
        cmocka_unit_test(the_shell_answers_at_once_where_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
