/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A process that is stopped right behind a send, for longer than a holder may believe: the belief counts from before the
 * send, so it has run out when the answer is there, whichever write or sync it was that was sent. */
#include "stage.h"

enum { STOP_MS = 2500 }; /* of a session timeout of 4 s, half of which a holder may believe */

static const char *stop_behind; /* the send behind which the process is stopped, once */
static int64_t stopped_ms;
static int creates_refused; /* that many are not taken by the client */
static int syncs_refused;   /* that many are not taken by the client */
static int syncs_lost;      /* and of that many others nobody knows what became of them */
static string_completion_t lost_completion;

static void answer_is_lost(int rc, const char *value, const void *data)
{
    (void)rc;
    (void)value;
    lost_completion(ZOPERATIONTIMEOUT, NULL, data);
}

static void sent(const char *name)
{
    if (!stop_behind || strcmp(stop_behind, name) != 0)
        return;
    stop_behind = NULL;
    stopped_ms += STOP_MS;
}

/* ---- the clock of a process that was stopped ---- */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void __real_ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp);
int64_t __real_ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp);
void __wrap_ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp);
int64_t __wrap_ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp);
/* NOLINTEND(bugprone-reserved-identifier) */

void __wrap_ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp)
{
    __real_ls_env_stamp(env, stamp);
    stamp->opaque += (uint64_t)stopped_ms;
}

int64_t __wrap_ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp)
{
    return __real_ls_env_elapsed_ms(env, stamp) + (stamp->opaque ? stopped_ms : 0);
}

/* ---- the sends ---- */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data);
int __real_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
int __real_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done,
                       const void *data);
int __real_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data);
int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done,
                       const void *data);
int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data)
{
    int rc = __real_zoo_acreate(zh, path, value, size, acl, mode, done, data);
    sent("ancestor");
    return rc;
}

int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data)
{
    if (creates_refused > 0) {
        creates_refused--;
        return ZSYSTEMERROR;
    }
    int rc = __real_zoo_acreate2(zh, path, value, size, acl, mode, done, data);
    sent("create");
    return rc;
}

int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done, const void *data)
{
    int rc = __real_zoo_adelete(zh, path, version, done, data);
    sent("delete");
    return rc;
}

int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data)
{
    if (syncs_refused > 0) {
        syncs_refused--;
        return ZSYSTEMERROR;
    }
    bool lost = syncs_lost > 0;
    if (lost) {
        syncs_lost--;
        lost_completion = done;
    }
    int rc = __real_zoo_async(zh, path, lost ? answer_is_lost : done, data);
    sent("sync");
    return rc;
}

/* ---- tests ---- */

static void timed(int processes)
{
    stop_behind = NULL;
    stopped_ms = 0;
    stage_set(processes);
    stage.options.timed = true;
}

static void holding_x(bool keep_fresh)
{
    timed(1);
    stage.options.locks = 2;
    stage.options.lock_path[1] = "/other/y";
    stage.session.no_refresh = !keep_fresh;
    stage_open();
    play("pass 200", "a acquire x", "pass 200");
    stage_forget();
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
}

static void stopped_once(void)
{
    assert_null(stop_behind);
    assert_int_equal(stopped_ms, STOP_MS);
}

static void behind_a_create(void **state)
{
    (void)state;
    holding_x(false);
    play("a acquire y", "pass 200"); /* makes the directory */
    play("a release y", "pass 200");
    stage_forget();
    stop_behind = "create";
    play("a acquire y", "pass 200");
    stopped_once();
    told("a:1 granted");
    asked("create; list");
    assert_int_equal(world_belief(stage.world, 0, 1, 0), LS_UNKNOWN);
    play("a release y", "pass 200"); /* whose answer is a proof */
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_end();
}

static void behind_the_creation_of_an_ancestor(void **state)
{
    (void)state;
    holding_x(false);
    play("pass 1700");
    stop_behind = "ancestor";
    play("a acquire y", "pass 50"); /* the ancestors are answered, the next create is not */
    stopped_once();
    asked("create; list; create; create; create; list");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    stage_end();
}

static void behind_a_delete(void **state)
{
    (void)state;
    holding_x(false);
    play("a acquire y", "pass 1700");
    stop_behind = "delete";
    play("a release y", "pass 200");
    stopped_once();
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    stage_end();
}

static void behind_the_sync_of_a_waiter_that_was_woken(void **state)
{
    (void)state;
    timed(2);
    stage_open();
    play("pass 200", "a acquire", "pass 200", "b acquire", "pass 10000");
    stage_forget();
    stop_behind = "sync";
    play("a release", "pass 200");
    stopped_once();
    told("a freed; b granted");
    asked("delete; sync; list");
    assert_int_equal(world_belief(stage.world, 1, 0, 0), LS_UNKNOWN);
    stage_end();
}

static void behind_the_sync_that_keeps_a_holder_fresh(void **state)
{
    (void)state;
    holding_x(true);
    stop_behind = "sync";
    play("pass 550"); /* a sixth of 4 s after the grant, and a round trip; the next sync is far */
    stopped_once();
    asked("sync");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    play("pass 700");
    asked("sync");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_end();
}

/* It is one sync late, and believes on. */
static void a_sync_that_is_not_taken_is_followed_by_the_next(void **state)
{
    (void)state;
    holding_x(true);
    syncs_refused = 1;
    play("pass 800");
    assert_int_equal(syncs_refused, 0);
    asked("");
    play("pass 1600");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_end();
}

/* What another has sent is measured all the same. */
static void a_create_that_is_not_taken_leaves_the_sync_of_a_holder_alone(void **state)
{
    (void)state;
    holding_x(true);
    const struct ls_session *session = &stage_probe(0)->session;
    for (int i = 0; i < 1000 && !session->measured; i++)
        play("pass 1");
    assert_int_not_equal(session->measured, 0);
    creates_refused = 1;
    play("a acquire y");
    assert_int_equal(creates_refused, 0);
    assert_int_not_equal(session->measured, 0);
    play("pass 2000");
    stage_end();
}

/* The link stands, and an answer that says nothing is no sign of life. */
static void syncs_without_an_answer_keep_nobody_fresh(void **state)
{
    (void)state;
    holding_x(true);
    syncs_lost = 100;
    play("pass 1600");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("pass 800");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    syncs_lost = 0;
    play("pass 800");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_a_create),
        cmocka_unit_test(behind_the_creation_of_an_ancestor),
        cmocka_unit_test(behind_a_delete),
        cmocka_unit_test(behind_the_sync_of_a_waiter_that_was_woken),
        cmocka_unit_test(behind_the_sync_that_keeps_a_holder_fresh),
        cmocka_unit_test(a_sync_that_is_not_taken_is_followed_by_the_next),
        cmocka_unit_test(a_create_that_is_not_taken_leaves_the_sync_of_a_holder_alone),
        cmocka_unit_test(syncs_without_an_answer_keep_nobody_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
