/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Revocation: who is asked to give a lock back, when, and what a request meets on its way. */
#include "lock/claim.h"
#include "stage.h"
#include "support/mishaps.h"

/* ---- a thread of b that sleeps: it is the world's only one, and others go on from here ---- */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);
/* NOLINTEND(bugprone-reserved-identifier) */

static const char *const *meanwhile; /* one line for each time that it sleeps */

void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)waiter;
    if (!meanwhile || !*meanwhile)
        fail_msg("a request would wait for ever");
    ls_env_unlock(env);
    fakezk_leave();
    play(*meanwhile++);
    fakezk_enter(1);
    ls_env_lock(env);
}

/* ---- what processes do ---- */

static void make_revocable(struct probe *probe)
{
    assert_int_equal(ls_mutex_make_revocable(&probe->mutex[0]), LS_OK);
}

static void release(struct probe *probe)
{
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 1), LS_OK);
}

static void on_answer(struct ls_session *session, void *user, int rc)
{
    int place = (int)(uintptr_t)user;
    stage_add(stage.told, "%s got %d %s", stage.options.name[session->env->process], place, stage_err(rc));
}

static void request(struct probe *probe, int place)
{
    int rc = ls_mutex_request_revoke_start(&probe->session, stage.node[place], on_answer,
                                           (void *)(uintptr_t)place);
    if (rc)
        stage_add(stage.told, "%s refused %s", stage.options.name[probe->session.env->process],
                  stage_err(rc));
}

/* Asks the first contender node that stands, or the second. */
static void request_first(struct probe *probe)
{
    request(probe, 0);
}

static void request_second(struct probe *probe)
{
    request(probe, 1);
}

static void set_done(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    (void)data;
    assert_int_equal(rc, ZOK);
}

static void write_first(struct probe *probe, const char *bytes)
{
    assert_int_equal(
        zoo_aset(probe->session.zh, stage.node[0], bytes, (int)strlen(bytes), -1, set_done, NULL), ZOK);
}

static void write_something_else(struct probe *probe)
{
    write_first(probe, "__REVOKE_");
}

static void write_something_longer(struct probe *probe)
{
    write_first(probe, "__REVOKE__!");
}

/* ---- situations ---- */

static void ready(int processes)
{
    stage_set(processes);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(0, make_revocable);
}

/* a holds and listens. */
static void held(int processes)
{
    ready(processes);
    play("a acquire", "settle");
    told("a granted");
    asked("create; list; get");
    assert_int_equal(fakezk_watches(0), 1);
}

/* ---- the plain cases ---- */

static void a_holder_is_told_and_decides(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("settle");
    told("a asked; b got 0 ok");
    asked("set; get");
    assert_int_equal(fakezk_watches(0), 1);
    play("a release", "settle");
    told("a freed");
    asked("delete");
    assert_clean(0);
    stage_end();
}

static void the_callback_may_release(void **state)
{
    (void)state;
    held(2);
    stage.on_revoke = release;
    play("b acquire", "settle");
    stage_forget();
    stage_job(1, request_first);
    play("settle");
    told("a asked; a freed; b got 0 ok; b granted");
    assert_int_equal(fakezk_watches(0), 0);
    stage_end();
}

static void who_waits_is_told_after_the_grant(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(1, make_revocable);
    play("a acquire", "settle", "b acquire", "settle");
    told("a granted");
    assert_int_equal(fakezk_watches(1), 1); /* on its predecessor, and none on its own node */
    stage_job(0, request_second);
    play("settle");
    told("a got 1 ok");
    assert_int_equal(fakezk_watches(1), 1);
    play("a release", "settle");
    told("a freed; b granted; b asked");
    stage_end();
}

static void a_lock_that_is_not_revocable_reads_and_hears_nothing(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle");
    asked("create; list");
    assert_int_equal(fakezk_watches(0), 0);
    stage_job(1, request_first);
    play("settle");
    told("a granted; b got 0 ok");
    asked("set");
    play("a release", "settle");
    told("a freed");
    stage_end();
}

static void a_lock_becomes_revocable_while_it_is_held(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle");
    stage_job(1, request_first);
    play("settle");
    stage_forget();
    stage_job(0, make_revocable);
    stage_job(0, make_revocable);
    play("settle");
    told("a asked"); /* the request stood there before */
    asked("get");
    stage_end();
}

static void who_waits_when_it_becomes_revocable_reads_nothing_yet(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    stage_forget();
    stage_job(1, make_revocable);
    play("settle");
    asked("");
    play("a release", "settle");
    told("a freed; b granted");
    asked("delete; list; get");
    stage_end();
}

static void each_request_is_told_once(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("settle");
    stage_job(1, request_first);
    play("settle");
    told("a asked; b got 0 ok; a asked; b got 0 ok");
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; a reconnected");
    stage_end();
}

static void requests_that_follow_fast_are_told_as_one(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    stage_job(1, request_first);
    play("apply s1 b set", "apply s1 b set", "settle");
    told("a asked; b got 0 ok; b got 0 ok");
    stage_end();
}

static void each_owner_and_each_hold_is_asked_for_itself(void **state)
{
    (void)state;
    held(2);
    play("a acquire owner=1", "settle");
    stage_job(1, request_second);
    play("settle");
    told("b got 1 ok");
    play("a release", "settle");
    told("a freed; a#1 granted; a#1 asked");
    play("a acquire", "settle", "a release owner=1", "settle");
    told("a#1 freed; a granted"); /* a later hold has another node, which nobody has written to */
    stage_end();
}

/* ---- contents ---- */

static void survey(struct probe *probe)
{
    assert_int_equal(ls_mutex_participants_start(&probe->mutex[0], NULL), LS_OK);
}

static void the_contents_of_others_stay_as_they_are(void **state)
{
    (void)state;
    stage_set(3);
    stage.options.used_directory = true;
    stage.options.contents = "host";
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "c acquire", "settle");
    stage_job(0, request_second);
    play("settle");
    stage_forget();
    stage_job(2, survey);
    play("settle");
    told("c sees 0000000007=host 0000000008=__REVOKE__ 0000000009=host");
    stage_end();
}

static void other_contents_are_no_request(void **state)
{
    (void)state;
    held(2);
    stage_job(1, write_something_else);
    play("settle");
    stage_job(1, write_something_longer);
    play("settle");
    told("");
    stage_job(1, request_first); /* the watch stands again */
    play("settle");
    told("a asked; b got 0 ok");
    stage_end();
}

static void own_contents_that_read_like_a_request_are_none(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage.options.contents = "__REVOKE__";
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    told("a granted");
    stage_job(1, request_first);
    play("settle");
    told("a asked; b got 0 ok");
    stage_end();
}

/* ---- crossings ---- */

static void a_request_that_comes_too_late_finds_nobody(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("a release", "apply s1 a delete", "settle");
    told("a freed; b got 0 ENOENT");
    assert_clean(0);
    stage_end();
}

static void a_request_that_arrives_during_the_release_is_not_told(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("a release", "apply s1 b set", "settle");
    told("a freed; b got 0 ok");
    asked("set; delete");
    assert_clean(0);
    stage_end();
}

static void a_request_that_is_being_read_during_the_release_is_not_told(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("apply s1 b set", "deliver a changed", "a release");
    asked("set; get; delete"); /* the delete does not wait for the read */
    play("settle");
    told("a freed; b got 0 ok");
    assert_clean(0);
    stage_end();
}

static void a_request_does_not_reach_the_next_hold(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("a release", "a acquire", "apply s1 b set", "settle");
    told("a freed; a granted; b got 0 ok");
    stage_end();
}

static void a_request_that_crosses_an_expiry_harms_nobody(void **state)
{
    (void)state;
    held(2);
    play("expire a");
    stage_job(1, request_first);
    play("settle");
    assert_null(strstr(stage.told, "asked"));
    assert_non_null(strstr(stage.told, "a lost"));
    assert_int_equal(fakezk_watches(0), 0);
    stage_forget();
    play("a acquire", "settle");
    told("a granted");
    stage_end();
}

static void a_session_that_ends_under_a_release_takes_the_watch_along(void **state)
{
    (void)state;
    held(1);
    play("a release", "cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "settle");
    told("a suspended; a freed EUNSURE; a lost; a idle; a connected");
    assert_true(world_at_rest(stage.world));
    assert_null(strstr(stage.asked, "unwatch"));
    assert_int_equal(fakezk_watches(0), 0);
    assert_true(ls_session_idle(&stage_probe(0)->session));
    stage_end();
}

/* A read that is asked for while the link is down, of which nobody knows yet, is answered behind the end of the session. */
static void a_read_that_a_dead_session_answers_keeps_nothing(void **state)
{
    (void)state;
    ready(1);
    play("a acquire", "apply s1 a create", "apply s1 a list", "cut a keep=2 apply=0 rc=-4",
         "deliver a create-reply", "deliver a list-reply");
    told("a granted");
    play("expire a", "bury a", "deliver a session-connecting", "connect a s1", "deliver a session-expired");
    told("a suspended; a lost");
    play("a release");
    told("a refused ELOST");
    assert_non_null(stage_probe(0)->session.claims);
    play("deliver a get-reply");
    assert_null(stage_probe(0)->session.claims);
    stage_end();
}

static void a_request_is_not_told_for_a_lost_hold(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("apply s1 b set", "deliver a changed", "expire a", "settle");
    assert_null(strstr(stage.told, "asked"));
    stage_forget();
    play("a release", "settle");
    told("a refused ELOST");
    assert_clean(0);
    stage_end();
}

static void release_and_take_again(struct probe *probe)
{
    stage.on_grant = NULL;
    release(probe);
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 1, -1), LS_OK);
}

/* As when another thread is calling callbacks while answers arrive. */
static void note(struct probe *probe, uint8_t notes)
{
    ls_env_lock(probe->session.env);
    lock_queue_note(probe->session.claims, notes);
    ls_env_unlock(probe->session.env);
}

static void release_before_it_is_told(struct probe *probe)
{
    note(probe, LOCK_NOTE_REVOKE);
    release(probe);
}

static void deliver_grant_and_request(struct probe *probe)
{
    note(probe, LOCK_NOTE_DONE | LOCK_NOTE_REVOKE);
    ls_env_lock(probe->session.env);
    lock_queue_deliver(&probe->session);
    ls_env_unlock(probe->session.env);
}

static void a_release_takes_back_what_is_not_told_yet(void **state)
{
    (void)state;
    held(1);
    stage_job(0, release_before_it_is_told);
    play("settle");
    told("a freed");
    stage_end();
}

static void a_request_is_told_behind_the_grant(void **state)
{
    (void)state;
    held(1);
    stage_job(0, deliver_grant_and_request);
    told("a granted; a asked");
    stage.on_grant = release;
    stage_job(0, deliver_grant_and_request);
    play("settle");
    told("a granted; a freed");
    stage_end();
}

static void who_releases_when_it_is_granted_is_not_asked(void **state)
{
    (void)state;
    ready(2);
    stage.on_grant = release_and_take_again;
    play("a acquire", "apply s1 a create");
    stage_job(1, request_first);
    play("apply s1 b set", "settle");
    told("a granted; a freed; a granted; b got 0 ok");
    stage_end();
}

/* ---- links ---- */

static void a_lost_read_is_repeated(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut a keep=0 apply=0 rc=-4", "cut a keep=0 apply=1 rc=-4",
                                       "cut a keep=0 apply=1 rc=-7"};
    for (int i = 0; i < 3; i++) {
        held(2);
        stage_job(1, request_first);
        play("apply s1 b set", "deliver a changed");
        stage_forget();
        play(cuts[i], "settle");
        told("a suspended; a reconnected; a asked; b got 0 ok");
        asked("sync; get"); /* the sync is the belief's */
        assert_int_equal(fakezk_watches(0), 1);
        stage_end();
    }
}

static void a_read_that_fails_is_repeated_by_the_timer(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ready(2);
        mishaps_of_reads.refused = i == 0;
        mishaps_of_reads.lost = i == 1;
        play("a acquire", "settle");
        told("a granted");
        asked(i == 0 ? "create; list; get" : "create; list; get; get");
        assert_int_equal(fakezk_watches(0), 1);
        stage_job(1, request_first);
        play("settle");
        told("a asked; b got 0 ok");
        stage_end();
    }
}

/* The session counts failures as far as the delay goes by them. */
static void failures_are_counted_to_the_longest_delay(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage.options.timed = true;
    stage_ready();
    stage_job(0, make_revocable);
    mishaps_of_reads.refused = 1000;
    play("a acquire", "pass 300000");
    assert_true(mishaps_of_reads.refused < 970);
    assert_int_equal(((struct probe *)process_state(0))->session.retries, 16);
    mishaps_of_reads.refused = 0;
    stage_end();
}

static void hear_of_another(struct probe *probe)
{
    ls_env_lock(probe->session.env);
    lock_mutex_hear(probe->session.claims, ZOO_CHANGED_EVENT, "/locks/x/another");
    ls_env_unlock(probe->session.env);
}

/* An event that finds the holder, and is not about its node, says nothing to it. */
static void a_holder_hears_of_its_own_node_alone(void **state)
{
    (void)state;
    held(1);
    stage_forget();
    stage_job(0, hear_of_another);
    play("settle");
    asked("");
    assert_int_equal(fakezk_watches(0), 1);
    stage_end();
}

static void a_read_that_fails_delays_no_release(void **state)
{
    (void)state;
    ready(2);
    mishaps_of_reads.refused = 100;
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply", "fire a retry-timer", "a release", "settle");
    mishaps_of_reads.refused = 0;
    told("a granted; a freed");
    asked("create; list; delete");
    assert_clean(0);
    stage_end();
}

static void a_read_that_waits_for_the_timer_is_sent_at_the_reconnect(void **state)
{
    (void)state;
    ready(2);
    mishaps_of_reads.refused = 1;
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting",
         "connect a s1");
    stage_forget();
    play("deliver a session-connected");
    asked("sync; get");
    stage_end();
}

static void a_request_of_an_outage_is_told_once_at_its_end(void **state)
{
    (void)state;
    held(2);
    play("cut a keep=0 apply=0 rc=-4");
    stage_job(1, request_first);
    play("apply s1 b set", "settle");
    told("a suspended; a reconnected; a asked; b got 0 ok");
    asked("set; sync; get");
    stage_end();
}

static void a_release_while_the_link_is_down_takes_the_watch_along(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("apply s1 b set", "deliver a changed", "cut a keep=0 apply=1 rc=-4", "deliver a session-connecting",
         "a release", "settle");
    told("a suspended; a freed EUNSURE; a reconnected; a idle; b got 0 ok");
    assert_clean(0);
    stage_end();
}

static void release_what_is_lost(struct probe *probe)
{
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 1), LS_ELOST);
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 1), LS_ENOTOWNER);
}

static void a_hold_whose_node_is_removed_is_lost(void **state)
{
    (void)state;
    held(1);
    char line[FAKEZK_PATH_MAX + 8];
    snprintf(line, sizeof line, "remove %s", stage.node[0]);
    play(line, "settle");
    told("a warned node-gone");
    asked("");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_NOT_HELD);
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; a reconnected");
    asked(""); /* nothing is held */
    stage_job(0, release_what_is_lost);
    told("");
    assert_clean(0);
    stage_end();
}

static void a_hold_whose_node_is_removed_is_told_to_be_lost(void **state)
{
    (void)state;
    stage_set(1);
    stage.hears_losses = true;
    stage_ready();
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    stage_forget();
    char line[FAKEZK_PATH_MAX + 8];
    snprintf(line, sizeof line, "remove %s", stage.node[0]);
    play("a acquire owner=1", "settle"); /* who waits keeps the session's belief up */
    play(line, "settle");
    told("a warned node-gone; a lost; a#1 granted");
    stage_job(0, release_what_is_lost);
    play("a release owner=1", "settle");
    told("a#1 freed");
    assert_clean(0);
    stage_end();
}

static void a_node_that_is_gone_when_it_is_read_is_a_loss(void **state)
{
    (void)state;
    ready(1);
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply");
    char line[FAKEZK_PATH_MAX + 8];
    snprintf(line, sizeof line, "remove %s", stage.node[0]);
    stage_forget();
    play(line, "settle");
    told("a warned node-gone");
    asked("");
    assert_int_equal(fakezk_watches(0), 0);
    stage_end();
}

/* ---- watches ---- */

/* a holds, listens, and cannot remove its node. */
static void held_by_a_node_that_stays(void)
{
    stage_set(1);
    stage_ready();
    play("create /locks/x perms=5");
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    assert_int_equal(fakezk_watches(0), 1);
    stage_forget();
}

static void a_node_that_cannot_be_removed_keeps_no_watch(void **state)
{
    (void)state;
    held_by_a_node_that_stays();
    play("a release", "apply s1 a delete", "deliver a delete-reply", "apply s1 a unwatch",
         "deliver a unwatch-reply");
    assert_false(stage_probe(0)->session.janitor_timer.armed); /* it is done */
    play("settle");
    told("a warned left-behind; a freed ENOAUTH; a idle");
    asked("delete; unwatch");
    assert_int_equal(fakezk_watches(0), 0);
    stage_end();
}

static void a_watch_on_a_node_that_stays_is_removed_when_the_client_takes_the_request(void **state)
{
    (void)state;
    held_by_a_node_that_stays();
    mishaps_of_removals.refused = 1;
    play("a release", "apply s1 a delete", "deliver a delete-reply");
    assert_int_equal(mishaps_of_removals.refused, 0);
    play("fire a janitor-timer", "settle");
    asked("delete; unwatch");
    assert_int_equal(fakezk_watches(0), 0);
    stage_end();
}

static void a_watch_on_a_node_that_stays_is_removed_again_after_a_pause(void **state)
{
    (void)state;
    held_by_a_node_that_stays();
    mishaps_of_removals.lost = 1;
    play("a release", "apply s1 a delete", "deliver a delete-reply", "apply s1 a unwatch",
         "deliver a unwatch-reply");
    assert_int_equal(mishaps_of_removals.lost, 0);
    assert_true(stage_probe(0)->session.janitor_timer.armed);
    play("fire a janitor-timer", "settle"); /* the server says by now that there is no watch */
    asked("delete; unwatch; unwatch");
    told("a warned left-behind; a freed ENOAUTH; a idle");
    assert_true(stage_idle(stage_probe(0)));
    stage_end();
}

static void a_watch_on_a_node_that_stays_is_removed_after_a_cut(void **state)
{
    (void)state;
    held_by_a_node_that_stays();
    play("a release", "apply s1 a delete", "deliver a delete-reply");
    stage_forget();
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; a reconnected; a idle");
    asked("unwatch");
    assert_int_equal(fakezk_watches(0), 0);
    stage_end();
}

static void a_waiter_that_leaves_takes_no_watch_of_a_holder_along(void **state)
{
    (void)state;
    held(2);
    play("a acquire owner=1", "settle");
    assert_int_equal(fakezk_watches(0), 2); /* two owners of one process watch one node */
    play("a cancel owner=1", "settle");
    told("a#1 failed ECANCELED; a idle");
    assert_int_equal(fakezk_watches(0), 1);
    stage_job(1, request_first);
    play("settle");
    told("a asked; b got 0 ok");
    stage_end();
}

static void close_mutex(struct probe *probe)
{
    assert_int_equal(ls_mutex_close(&probe->mutex[0]), LS_OK);
    assert_int_equal(
        ls_mutex_init(&probe->mutex[0], &probe->session, the_world.config->lock_paths[0], &stage.mutex),
        LS_OK);
}

static void a_closed_mutex_hears_nothing(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_first);
    play("apply s1 b set", "deliver a changed");
    stage_forget();
    stage_job(0, close_mutex);
    play("settle");
    told("a idle; b got 0 ok");
    assert_clean(0);
    stage_end();
}

static void a_session_that_closes_takes_a_read_along(void **state)
{
    (void)state;
    static const unsigned defects[] = {0, WORLD_DEFECT_DROP_AT_CLOSE};
    for (int i = 0; i < 2; i++) {
        stage_set(1);
        stage.options.used_directory = true;
        stage.options.defects = defects[i];
        stage_ready();
        stage_job(0, make_revocable);
        play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
             "deliver a list-reply", "a stop");
        told("a granted");
        stage_end();
    }
}

/* ---- the asker ---- */

static void a_lost_answer_leaves_the_asker_unsure(void **state)
{
    (void)state;
    static const char *const cuts[] = {"cut b keep=0 apply=0 rc=-4", "cut b keep=0 apply=1 rc=-7"};
    for (int i = 0; i < 2; i++) {
        held(2);
        stage_job(1, request_first);
        play(cuts[i], "settle");
        told(i == 0 ? "b suspended; b got 0 EUNSURE; b reconnected"
                    : "a asked; b suspended; b got 0 EUNSURE; b reconnected");
        stage_job(1, request_first);
        play("settle");
        told("a asked; b got 0 ok");
        stage_end();
    }
}

static void an_asker_without_a_connection_is_refused(void **state)
{
    (void)state;
    held(2);
    play("cut b keep=0 apply=0 rc=-4", "deliver b session-connecting");
    stage_forget();
    stage_job(1, request_first);
    told("b refused ECLOSED");
    stage_end();
}

static void a_request_ends_with_its_session(void **state)
{
    (void)state;
    static const unsigned defects[] = {0, WORLD_DEFECT_DROP_AT_CLOSE};
    for (int i = 0; i < 2; i++) {
        stage_set(2);
        stage.options.used_directory = true;
        stage.options.defects = defects[i];
        stage_ready();
        play("a acquire", "settle");
        stage_forget();
        stage_job(1, request_first);
        play("b stop");
        told("b got 0 EUNSURE");
        stage_end();
    }
}

static void all_requests_end_with_their_session(void **state)
{
    (void)state;
    held(2);
    stage_forget();
    for (int i = 0; i < 4; i++)
        stage_job(1, request_first);
    play("b stop");
    told("b got 0 EUNSURE; b got 0 EUNSURE; b got 0 EUNSURE; b got 0 EUNSURE");
    stage_end();
}

static void a_dying_session_asks_nobody(void **state)
{
    (void)state;
    held(2);
    play("expire b");
    stage_job(1, request_first);
    play("apply s1 b set refused", "settle");
    assert_non_null(strstr(stage.told, "b got 0 ECLOSED"));
    assert_null(strstr(stage.told, "asked"));
    stage_end();
}

static void request_nonsense(struct probe *probe)
{
    static const char *const bad[] = {
        "", "x", "/", "/locks/x", "/locks/x/lock-12", "x/lock-0000000001", "/locks/x/_c_1-lock--000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ls_mutex_request_revoke_start(&probe->session, bad[i], on_answer, NULL), LS_EINVAL);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, NULL, on_answer, NULL), LS_EINVAL);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, "//lock-0000000001", on_answer, NULL),
                     LS_EINVAL);
}

static void request_without_memory_or_callback(struct probe *probe)
{
    process_mark(1)->fail_in = 1;
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, NULL),
                     LS_ENOMEM);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], NULL, NULL), LS_OK);
}

static void only_contenders_can_be_asked(void **state)
{
    (void)state;
    held(2);
    stage_job(1, request_nonsense);
    asked("");
    stage_job(1, request_without_memory_or_callback);
    play("settle");
    told("a asked");
    stage_end();
}

static void names_become_paths(struct probe *probe)
{
    char path[64];
    struct ls_mutex root;
    const struct ls_mutex *mutex = &probe->mutex[0];
    assert_int_equal(ls_mutex_contender_path(mutex, "lock-0000000001", path, 25), LS_OK);
    assert_string_equal(path, "/locks/x/lock-0000000001");
    assert_int_equal(ls_mutex_contender_path(mutex, "lock-0000000001", path, 24), LS_EOVERFLOW);
    assert_int_equal(ls_mutex_contender_path(mutex, "lock-1", path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_mutex_contender_path(mutex, "y/lock-0000000001", path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_mutex_contender_path(mutex, NULL, path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_mutex_init(&root, &probe->session, "/", NULL), LS_OK);
    assert_int_equal(ls_mutex_contender_path(&root, "lock-0000000001", path, sizeof path), LS_OK);
    assert_string_equal(path, "/lock-0000000001");
    assert_int_equal(ls_mutex_make_revocable(&root), LS_EINVAL); /* it has nobody to tell */
    assert_int_equal(ls_mutex_close(&root), LS_OK);
    assert_int_equal(ls_mutex_make_revocable(&root), LS_ECLOSED);
    assert_int_equal(ls_mutex_contender_path(&root, "lock-0000000001", path, sizeof path), LS_ECLOSED);
}

static void a_name_becomes_a_path(void **state)
{
    (void)state;
    ready(1);
    stage_job(0, names_become_paths);
    stage_end();
}

static void block(struct probe *probe)
{
    assert_int_equal(ls_mutex_request_revoke(&probe->session, stage.node[0]), LS_EDEADLK);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, NULL), LS_OK);
    stage.on_revoke = NULL;
}

static void a_callback_may_ask_but_not_block(void **state)
{
    (void)state;
    held(2);
    stage.on_revoke = block;
    stage_job(1, request_first);
    play("settle");
    told("a asked; a got 0 ok; a asked; b got 0 ok");
    stage_end();
}

static void request_and_wait(struct probe *probe)
{
    stage_add(stage.told, "b told %s", stage_err(ls_mutex_request_revoke(&probe->session, stage.node[0])));
    assert_null(probe->session.asks);
}

static void who_blocks_is_answered_when_the_answer_is_there(void **state)
{
    (void)state;
    static const char *const lines[][4] = {{"apply s1 b set", "settle", NULL},
                                           {"cut b keep=0 apply=0 rc=-4", "settle", NULL},
                                           {"cut b keep=0 apply=1 rc=-4", "settle", NULL},
                                           {"expire b", "settle", NULL}};
    static const char *const expected[] = {"a asked; b told ok", "b suspended; b reconnected; b told EUNSURE",
                                           "a asked; b suspended; b reconnected; b told EUNSURE",
                                           "b suspended; b lost; b connected; b told EUNSURE"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        held(2);
        meanwhile = lines[i];
        stage_job(1, request_and_wait);
        meanwhile = NULL;
        told(expected[i]);
        stage_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_blocks_is_answered_when_the_answer_is_there),
        cmocka_unit_test(a_holder_is_told_and_decides),
        cmocka_unit_test(the_callback_may_release),
        cmocka_unit_test(who_waits_is_told_after_the_grant),
        cmocka_unit_test(a_lock_that_is_not_revocable_reads_and_hears_nothing),
        cmocka_unit_test(a_lock_becomes_revocable_while_it_is_held),
        cmocka_unit_test(who_waits_when_it_becomes_revocable_reads_nothing_yet),
        cmocka_unit_test(each_request_is_told_once),
        cmocka_unit_test(requests_that_follow_fast_are_told_as_one),
        cmocka_unit_test(each_owner_and_each_hold_is_asked_for_itself),
        cmocka_unit_test(the_contents_of_others_stay_as_they_are),
        cmocka_unit_test(other_contents_are_no_request),
        cmocka_unit_test(own_contents_that_read_like_a_request_are_none),
        cmocka_unit_test(a_request_that_comes_too_late_finds_nobody),
        cmocka_unit_test(a_request_that_arrives_during_the_release_is_not_told),
        cmocka_unit_test(a_request_that_is_being_read_during_the_release_is_not_told),
        cmocka_unit_test(a_request_does_not_reach_the_next_hold),
        cmocka_unit_test(a_request_that_crosses_an_expiry_harms_nobody),
        cmocka_unit_test(a_session_that_ends_under_a_release_takes_the_watch_along),
        cmocka_unit_test(a_read_that_a_dead_session_answers_keeps_nothing),
        cmocka_unit_test(a_request_is_not_told_for_a_lost_hold),
        cmocka_unit_test(a_release_takes_back_what_is_not_told_yet),
        cmocka_unit_test(a_request_is_told_behind_the_grant),
        cmocka_unit_test(who_releases_when_it_is_granted_is_not_asked),
        cmocka_unit_test(a_lost_read_is_repeated),
        cmocka_unit_test(a_read_that_fails_is_repeated_by_the_timer),
        cmocka_unit_test(failures_are_counted_to_the_longest_delay),
        cmocka_unit_test(a_holder_hears_of_its_own_node_alone),
        cmocka_unit_test(a_read_that_fails_delays_no_release),
        cmocka_unit_test(a_read_that_waits_for_the_timer_is_sent_at_the_reconnect),
        cmocka_unit_test(a_request_of_an_outage_is_told_once_at_its_end),
        cmocka_unit_test(a_release_while_the_link_is_down_takes_the_watch_along),
        cmocka_unit_test(a_hold_whose_node_is_removed_is_lost),
        cmocka_unit_test(a_hold_whose_node_is_removed_is_told_to_be_lost),
        cmocka_unit_test(a_node_that_is_gone_when_it_is_read_is_a_loss),
        cmocka_unit_test(a_node_that_cannot_be_removed_keeps_no_watch),
        cmocka_unit_test(a_watch_on_a_node_that_stays_is_removed_when_the_client_takes_the_request),
        cmocka_unit_test(a_watch_on_a_node_that_stays_is_removed_again_after_a_pause),
        cmocka_unit_test(a_watch_on_a_node_that_stays_is_removed_after_a_cut),
        cmocka_unit_test(a_waiter_that_leaves_takes_no_watch_of_a_holder_along),
        cmocka_unit_test(a_closed_mutex_hears_nothing),
        cmocka_unit_test(a_session_that_closes_takes_a_read_along),
        cmocka_unit_test(a_lost_answer_leaves_the_asker_unsure),
        cmocka_unit_test(an_asker_without_a_connection_is_refused),
        cmocka_unit_test(a_request_ends_with_its_session),
        cmocka_unit_test(all_requests_end_with_their_session),
        cmocka_unit_test(a_dying_session_asks_nobody),
        cmocka_unit_test(only_contenders_can_be_asked),
        cmocka_unit_test(a_name_becomes_a_path),
        cmocka_unit_test(a_callback_may_ask_but_not_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
