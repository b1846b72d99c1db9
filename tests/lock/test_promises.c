/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Sentences of mutex.h that no story of the other tests comes by: what may be NULL, what is copied, what a refusal leaves as it
 * was, and the least room that suffices. tests/promises has a break for each. */
#include "lock/claim.h"
#include "stage.h"
#include "support/sleeping_thread.h"

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data);
int __wrap_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data);
/* NOLINTEND(bugprone-reserved-identifier) */

/* While a thread of process a sleeps, all that can happen does. */
static void settle(void)
{
    stage_play_meanwhile("settle");
}

/* ---- requests to give a lock back that are refused ---- */

static int refuse_at_once; /* what the client says to a set, or ZOK */
static bool wrong_version; /* the server refuses it */

int __wrap_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data)
{
    if (refuse_at_once)
        return refuse_at_once;
    return __real_zoo_aset(zh, path, value, size, wrong_version ? 7777 : version, done, data);
}

/* ---- situations ---- */

static struct ls_mutex twin;
static struct ls_mutex_options twin_options;

static void one(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    memset(&twin_options, 0, sizeof twin_options);
}

static void close_twin(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
}

/* ---- callbacks that are NULL ---- */

static void acquire_and_survey(struct probe *probe)
{
    static const struct ls_mutex_ops silent = {.on_done = NULL};
    twin_options.ops = &silent;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 1, -1), LS_OK);
    assert_int_equal(ls_mutex_participants_start(&twin, NULL), LS_OK);
}

static void release_twin(struct probe *probe)
{
    (void)probe;
    assert_true(ls_mutex_held_by(&twin, 1));
    assert_int_equal(ls_mutex_release_start(&twin, 1), LS_OK);
}

static void each_callback_may_be_null(void **state)
{
    (void)state;
    one();
    play("create /locks/x/0-foreign");
    stage_job(0, acquire_and_survey);
    play("settle");
    stage_job(0, release_twin);
    play("settle");
    assert_false(ls_mutex_held_by(&twin, 1));
    stage_job(0, close_twin);
    told("");
    assert_clean(0);
    stage_end();
}

/* ---- what is copied, and what is not asked ---- */

static void open_at_a_path_that_goes(struct probe *probe)
{
    char path[] = "/locks/x";
    twin_options.ops = &stage_mutex_ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, path, &twin_options), LS_OK);
    asked("");
    memset(path + 1, 'z', sizeof path - 2);
    assert_int_equal(ls_mutex_acquire_start(&twin, 1, -1), LS_OK);
}

static void a_mutex_copies_its_path_and_asks_nobody(void **state)
{
    (void)state;
    one();
    stage_job(0, open_at_a_path_that_goes);
    play("settle");
    assert_int_equal(stage.nodes, 1);
    assert_memory_equal(stage.node[0], "/locks/x/", 9);
    stage_job(0, close_twin);
    play("settle");
    stage_end();
}

static int answer;

static void on_answer(struct ls_session *session, void *user, int rc)
{
    (void)session;
    assert_ptr_equal(user, &answer);
    answer = rc;
}

static void request_at_a_path_that_goes(struct probe *probe)
{
    char path[FAKEZK_PATH_MAX];
    snprintf(path, sizeof path, "%s", stage.node[0]);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, path, on_answer, &answer), LS_OK);
    memset(path, 'z', sizeof path - 1);
}

static void an_asker_keeps_no_path(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    answer = 1;
    stage_job(0, request_at_a_path_that_goes);
    play("settle");
    assert_int_equal(answer, LS_OK);
    play("a release", "settle");
    stage_end();
}

static void request_of_a_stranger(struct probe *probe)
{
    assert_int_equal(ls_mutex_request_revoke(&probe->session, "/locks/x"), LS_EINVAL);
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, &answer),
                     LS_OK);
}

static void a_refused_request_says_why(void **state)
{
    (void)state;
    static struct ACL entry;
    static const struct ACL_vector acl = {.count = 1, .data = &entry};
    entry = (struct ACL){.perms = ZOO_PERM_READ | ZOO_PERM_DELETE, .id = ZOO_ANYONE_ID_UNSAFE};
    stage_set(2);
    stage.options.used_directory = true;
    stage.mutex.acl = &acl;
    stage_ready();
    play("a acquire", "settle");
    answer = 1;
    stage_job(1, request_of_a_stranger);
    play("settle");
    assert_int_equal(answer, LS_ENOAUTH);
    play("a release", "settle");
    stage_end();
}

static void request_that_is_not_sent(struct probe *probe)
{
    refuse_at_once = ZSYSTEMERROR;
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, &answer),
                     LS_EZK);
    refuse_at_once = ZOK;
}

static void request_of_another_version(struct probe *probe)
{
    wrong_version = true;
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], on_answer, &answer),
                     LS_OK);
    wrong_version = false;
}

static void a_request_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    answer = 1;
    stage_job(0, request_that_is_not_sent);
    play("settle");
    assert_int_equal(answer, 1);
    stage_job(0, request_of_another_version);
    play("settle");
    assert_int_equal(answer, LS_EZK);
    play("a release", "settle");
    stage_end();
}

static void make_revocable(struct probe *probe)
{
    assert_int_equal(ls_mutex_make_revocable(&probe->mutex[0]), LS_OK);
}

/* As when a request was read, and another thread called callbacks until the session had ended. */
static void find_a_request_too_late(struct probe *probe)
{
    ls_env_lock(probe->session.env);
    struct lock_claim *tomb = lock_index_tomb(&probe->mutex[0], 1);
    assert_non_null(tomb);
    lock_queue_note(tomb, LOCK_NOTE_REVOKE);
    ls_env_unlock(probe->session.env);
    assert_int_equal(ls_mutex_cancel(&probe->mutex[0], 1), LS_ENOENT); /* delivers */
    told("");
}

static int requests; /* to give back, told for a hold that is lost */

static void count_request(struct probe *probe)
{
    (void)probe;
    requests++;
}

static void a_lost_hold_is_not_asked_for(void **state)
{
    (void)state;
    one();
    stage.on_revoke = count_request;
    stage_job(0, make_revocable);
    play("a acquire", "settle", "expire a", "settle");
    stage_forget();
    requests = 0;
    stage_job(0, find_a_request_too_late);
    assert_int_equal(requests, 0);
    play("a release");
    told("a refused ELOST");
    stage_end();
}

static void release_when_a_request_is_found(struct probe *probe)
{
    ls_env_lock(probe->session.env);
    lock_queue_note(lock_index_find(&probe->mutex[0], 1), LOCK_NOTE_REVOKE);
    ls_env_unlock(probe->session.env);
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], 1), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 1, -1), LS_OK);
}

static void the_next_hold_is_not_asked_for(void **state)
{
    (void)state;
    one();
    stage_job(0, make_revocable);
    play("a acquire", "settle");
    stage_forget();
    stage_job(0, release_when_a_request_is_found);
    play("settle");
    told("a freed; a granted");
    play("a release", "settle");
    stage_end();
}

/* ---- contents and participants ---- */

static int size_of_contents;

static void on_contents(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)value;
    (void)stat;
    (void)data;
    assert_int_equal(rc, ZOK);
    size_of_contents = size;
}

static void set_contents(struct probe *probe)
{
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], "host", 4), LS_OK);
}

static void take_contents_back(struct probe *probe)
{
    assert_int_equal(ls_mutex_set_contents(&probe->mutex[0], NULL, 0), LS_OK);
}

static void read_second(struct probe *probe)
{
    assert_int_equal(zoo_aget(probe->session.zh, stage.node[1], 0, on_contents, NULL), ZOK);
}

static void contents_can_be_taken_back(void **state)
{
    (void)state;
    one();
    stage_job(0, set_contents);
    play("a acquire", "settle");
    stage_job(0, take_contents_back);
    play("a acquire owner=1", "settle");
    size_of_contents = 0;
    stage_job(0, read_second);
    play("settle");
    assert_int_equal(size_of_contents, -1); /* null data, and not empty data */
    play("a release", "settle", "a release owner=1", "settle");
    stage_end();
}

static int seen;

static void on_participants(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    (void)user;
    assert_ptr_equal(mutex, &twin);
    assert_int_equal(rc, LS_OK);
    assert_int_equal(count, 2);
    for (; seen < count; seen++) {
        assert_string_equal(list[seen].name, strrchr(stage.node[seen], '/') + 1);
        assert_int_equal(list[seen].size, seen == 0 ? 4 : 0);
        assert_string_equal(list[seen].contents, seen == 0 ? "host" : "");
    }
}

static void survey(struct probe *probe)
{
    static const struct ls_mutex_ops ops = {.on_participants = on_participants};
    twin_options.ops = &ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_participants_start(&twin, NULL), LS_OK);
}

static void participants_are_named_as_their_nodes(void **state)
{
    (void)state;
    one();
    stage_job(0, set_contents);
    play("a acquire", "settle");
    stage_job(0, take_contents_back);
    play("a acquire owner=1", "settle");
    seen = 0;
    stage_job(0, survey);
    play("settle");
    assert_int_equal(seen, 2);
    stage_job(0, close_twin);
    play("a release", "settle", "a release owner=1", "settle");
    stage_end();
}

/* ---- room ---- */

static void a_guard_fits_into_the_least_room(void **state)
{
    (void)state;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    struct lock_place *place = calloc(1, sizeof *place + LS_MUTEX_PATH_SIZE_MAX + 1);
    assert_non_null(place);
    place->size = LS_MUTEX_PATH_SIZE_MAX;
    memset(place->path, 'x', LS_MUTEX_PATH_SIZE_MAX);
    struct lock_claim claim = {.place = place, .sequence = INT32_MIN};
    assert_true(lock_request_path(&claim, path, sizeof path));
    free(place);
}

static void write_a_long_path(struct probe *probe)
{
    static const char name[] = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001";
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    struct ls_mutex mutex;
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[LS_MUTEX_PATH_SIZE_MAX] = 0;
    assert_int_equal(ls_mutex_init(&mutex, &probe->session, path, NULL), LS_OK);
    assert_int_equal(ls_mutex_contender_path(&mutex, name, path, sizeof path), LS_OK);
    assert_string_equal(path + LS_MUTEX_PATH_SIZE_MAX + 1, name);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

static void a_contenders_path_fits_into_the_least_room(void **state)
{
    (void)state;
    one();
    stage_job(0, write_a_long_path);
    stage_end();
}

/* ---- what a refusal leaves ---- */

static void guard_in_vain(struct probe *probe)
{
    zoo_op_t op, before;
    char path[8];
    memset(&op, 0x5a, sizeof op);
    memset(&before, 0x5a, sizeof before);
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 2, &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(ls_mutex_guard(&probe->mutex[0], 1, &op, path, sizeof path), LS_EOVERFLOW);
    assert_memory_equal(&op, &before, sizeof op);
}

static void a_guard_that_is_refused_changes_nothing(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, guard_in_vain);
    play("a release", "settle");
    stage_end();
}

static void go_deep(struct probe *probe)
{
    struct lock_claim *claim = lock_index_find(&probe->mutex[0], 1);
    claim->depth = UINT32_MAX;
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 1, -1), LS_EOVERFLOW);
    assert_int_equal(ls_mutex_depth(&probe->mutex[0], 1), UINT32_MAX);
    claim->depth = 1;
}

static void the_depth_has_an_end(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, go_deep);
    play("a release", "settle");
    stage_end();
}

static void open_without_memory(struct probe *probe)
{
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/y", NULL), LS_ENOMEM);
    process_mark(0)->fail_in = 0;
}

static void a_mutex_needs_memory(void **state)
{
    (void)state;
    one();
    stage_job(0, open_without_memory);
    stage_end();
}

/* ---- waiting without a bound ---- */

static void who_sets_no_bound_waits_for_days(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    told("a granted");
    for (int day = 0; day < 2; day++)
        play("pass 86400000");
    told("");
    play("a release", "settle");
    told("a freed; b granted");
    play("b release", "settle");
    stage_end();
}

/* ---- callbacks that ask ---- */

static void acquire_as_a_thread(struct probe *probe)
{
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], ls_env_self(probe->session.env), -1), LS_OK);
}

static void look_at_the_grant(struct probe *probe)
{
    assert_true(ls_env_in_callback(probe->session.env));
    assert_true(ls_mutex_held_by_me(&probe->mutex[0]));
}

static void release_as_a_thread(struct probe *probe)
{
    uint64_t self = ls_env_self(probe->session.env);
    assert_int_equal(ls_mutex_release_start(&probe->mutex[0], self), LS_OK);
}

static void a_callback_may_ask_who_holds(void **state)
{
    (void)state;
    one();
    stage.on_grant = look_at_the_grant;
    stage_job(0, acquire_as_a_thread);
    play("settle");
    told("a#0 granted");
    stage_job(0, release_as_a_thread);
    play("settle");
    told("a#0 freed");
    stage_end();
}

/* ---- a close whose callbacks ask again ---- */

static int refusals;

static void ask_again(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    assert_int_equal(outcome->rc, owner == 1 ? LS_OK : LS_ECLOSED);
    if (owner == 1)
        return;
    assert_int_equal(ls_mutex_acquire_start(mutex, 3, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_release_start(mutex, 1), LS_ECLOSED);
    assert_int_equal(ls_mutex_participants_start(mutex, NULL), LS_ECLOSED);
    refusals++;
}

static void hold_and_wait(struct probe *probe)
{
    static const struct ls_mutex_ops ops = {.on_done = ask_again};
    twin_options.ops = &ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 1, -1), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 2, -1), LS_OK);
}

static void a_closing_mutex_refuses_what_its_callbacks_ask(void **state)
{
    (void)state;
    one();
    stage_job(0, hold_and_wait);
    play("settle");
    refusals = 0;
    stage_job(0, close_twin);
    assert_int_equal(refusals, 1);
    play("settle");
    assert_clean(0);
    stage_end();
}

static int freed;

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)mutex;
    assert_int_equal(owner, 1);
    freed = rc;
}

static void hold_twin(struct probe *probe)
{
    static const struct ls_mutex_ops ops = {.on_freed = on_freed};
    twin_options.ops = &ops;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, 1, -1), LS_OK);
}

static void release_and_close(struct probe *probe)
{
    (void)probe;
    freed = 1;
    assert_int_equal(ls_mutex_release_start(&twin, 1), LS_OK);
    assert_int_equal(freed, 1);
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    assert_int_equal(freed, LS_EUNSURE);
}

static void a_release_that_meets_a_close_is_unsure(void **state)
{
    (void)state;
    one();
    stage_job(0, hold_twin);
    play("settle");
    stage_job(0, release_and_close);
    play("settle");
    assert_clean(0);
    stage_end();
}

static void close_and_settle(void)
{
    if (sleeps == 1)
        assert_int_equal(ls_mutex_close(&twin), LS_OK);
    settle();
}

static void acquire_twin_as_a_thread(struct probe *probe)
{
    twin_options.ops = NULL;
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", &twin_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&twin, ls_env_self(probe->session.env), -1), LS_OK);
}

static void release_and_be_closed(struct probe *probe)
{
    (void)probe;
    sleeps = 0;
    meanwhile = close_and_settle;
    assert_int_equal(ls_mutex_release(&twin), LS_OK); /* what the server said */
    assert_int_equal(sleeps, 1);
    meanwhile = NULL;
}

static void a_blocking_release_that_meets_a_close_is_answered_by_the_server(void **state)
{
    (void)state;
    one();
    stage_job(0, acquire_twin_as_a_thread);
    play("settle");
    stage_job(0, release_and_be_closed);
    assert_clean(0);
    stage_end();
}

static void finish_the_close(void)
{
    twin.closing = false;
}

/* As two threads that close it see it: the first one is at it, and the second one sleeps until it is done. */
static void close_as_the_second(struct probe *probe)
{
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", NULL), LS_OK);
    twin.closing = true;
    sleeps = 0;
    meanwhile = finish_the_close;
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    assert_int_equal(sleeps, 1);
    meanwhile = NULL;
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
}

/* A thread that opens or closes a handle looks up names, and keeps the session busy. */
static void close_while_a_name_is_looked_up(struct probe *probe)
{
    assert_int_equal(ls_mutex_init(&twin, &probe->session, "/locks/x", NULL), LS_OK);
    probe->session.busy++;
    assert_int_equal(ls_mutex_close(&twin), LS_OK);
    probe->session.busy--;
}

static void a_close_waits_for_closers_and_not_for_names(void **state)
{
    (void)state;
    one();
    stage_job(0, close_as_the_second);
    stage_job(0, close_while_a_name_is_looked_up);
    stage_end();
}

/* ---- outcomes of blocking calls ---- */

static void pass_a_second(void)
{
    stage_play_meanwhile("pass 1000");
}

static void acquire_in_vain(struct probe *probe)
{
    sleeps = 0;
    meanwhile = pass_a_second;
    assert_int_equal(ls_mutex_acquire(&probe->mutex[0], 500), LS_ETIMEDOUT);
    assert_true(sleeps > 0);
    meanwhile = NULL;
}

static void a_blocking_acquire_returns_its_outcome(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_job(0, acquire_in_vain);
    play("settle", "a release", "settle");
    assert_clean(0);
    stage_end();
}

/* ---- levels that were lost ---- */

static void levels_of_a_lost_hold_are_told_behind_the_new_ones(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle", "a acquire", "expire a", "settle", "a acquire", "settle");
    stage_forget();
    play("a release", "settle");
    told("a freed");
    play("a release", "a release", "a release");
    told("a refused ELOST; a refused ELOST; a refused ENOTOWNER");
    stage_end();
}

/* ---- nodes ---- */

static void nodes_are_named_as_curator_names_them(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    const char *name = strrchr(stage.node[0], '/') + 1;
    assert_int_equal(strlen(name), 3 + 36 + 6 + 10);
    assert_memory_equal(name, "_c_", 3);
    assert_memory_equal(name + 3 + 36, "-lock-", 6);
    assert_int_equal(strspn(name + 3 + 36 + 6, "0123456789"), 10);
    play("a release", "settle");
    stage_end();
}

static int32_t perms;

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    (void)stat;
    (void)data;
    assert_int_equal(rc, ZOK);
    assert_int_equal(acl->count, 1);
    perms = acl->data[0].perms;
}

static void look_at_acl(struct probe *probe)
{
    assert_int_equal(zoo_aget_acl(probe->session.zh, "/locks", on_acl, NULL), ZOK);
}

static void nodes_that_exist_keep_their_acl(void **state)
{
    (void)state;
    static struct ACL entry;
    static const struct ACL_vector acl = {.count = 1, .data = &entry};
    entry = (struct ACL){.perms = ZOO_PERM_ALL & ~ZOO_PERM_WRITE, .id = ZOO_ANYONE_ID_UNSAFE};
    stage_set(1);
    stage.mutex.acl = &acl;
    stage_ready();
    play("create /locks", "a acquire", "settle");
    told("a granted");
    perms = 0;
    stage_job(0, look_at_acl);
    play("settle");
    assert_int_equal(perms, ZOO_PERM_ALL);
    play("a release", "settle");
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_callback_may_be_null),
        cmocka_unit_test(a_mutex_copies_its_path_and_asks_nobody),
        cmocka_unit_test(an_asker_keeps_no_path),
        cmocka_unit_test(a_refused_request_says_why),
        cmocka_unit_test(contents_can_be_taken_back),
        cmocka_unit_test(participants_are_named_as_their_nodes),
        cmocka_unit_test(a_guard_fits_into_the_least_room),
        cmocka_unit_test(a_contenders_path_fits_into_the_least_room),
        cmocka_unit_test(a_guard_that_is_refused_changes_nothing),
        cmocka_unit_test(the_depth_has_an_end),
        cmocka_unit_test(a_mutex_needs_memory),
        cmocka_unit_test(who_sets_no_bound_waits_for_days),
        cmocka_unit_test(a_callback_may_ask_who_holds),
        cmocka_unit_test(a_closing_mutex_refuses_what_its_callbacks_ask),
        cmocka_unit_test(a_request_that_cannot_be_made_is_refused),
        cmocka_unit_test(a_lost_hold_is_not_asked_for),
        cmocka_unit_test(the_next_hold_is_not_asked_for),
        cmocka_unit_test(a_release_that_meets_a_close_is_unsure),
        cmocka_unit_test(a_blocking_release_that_meets_a_close_is_answered_by_the_server),
        cmocka_unit_test(a_close_waits_for_closers_and_not_for_names),
        cmocka_unit_test(a_blocking_acquire_returns_its_outcome),
        cmocka_unit_test(levels_of_a_lost_hold_are_told_behind_the_new_ones),
        cmocka_unit_test(nodes_are_named_as_curator_names_them),
        cmocka_unit_test(nodes_that_exist_keep_their_acl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
