/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Codes that calls answer, each by its name: those of the blocking calls, and those behind answers of the client library that
 * the fake does not give. One thread calls; the client's completion thread, a timer's thread and the ensemble do what is next.
 * There is one schedule: tests/lock/test_threads.c has the others. */
#include "base/arena.h"
#include "support/env_fibre.h"
#include "support/fibre.h"
#include "support/handles.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <lockstep/mutex.h>
#include <lockstep/session.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES (8u << 20)
#define PATH "/locks/x"
#define FOREIGN PATH "/_c_ffffffff-ffff-4fff-8fff-ffffffffffff-lock-0000000000"

enum { CALLER, HELPER, COMPLETION, TIMER, STEPS_MAX = 64 }; /* fibres */

static struct arena arena;
static struct {
    struct ls_session session;
    struct ls_mutex mutex;
    struct ls_retry_policy retry;
    struct ls_session_options options;
    struct fakezk_step step; /* of the completion thread */
    bool delivering;
    struct ls_timer *timer; /* of the timer's thread; NULL: nothing fires */
    int (*call)(void);      /* of the caller; NULL: it has its answer */
    int rc;
    bool freed;   /* a release was told that it is complete ... */
    int freed_rc; /* ... with this */
    struct ls_outcome outcome;
    struct ls_participants participants;
    int zk_rc;
    int losses;          /* holds that were told to be lost */
    void (*stuck)(void); /* the helper does this once, when nothing else can happen */
    bool helping;
} now;

/* ---- answers of the server that the fake does not give ---- */

static struct {
    int rc;       /* the next write is answered with it; 0: with what the fake answers */
    bool refused; /* the next write is not taken by the client */
    int state;    /* of the handle, as zoo_state() says; 0: the fake's */
    string_stat_completion_t created;
    void_completion_t deleted;
    stat_completion_t set;
    void_completion_t written;
} mishap;

static int take_rc(int rc)
{
    int taken = mishap.rc != 0 ? mishap.rc : rc;
    mishap.rc = 0;
    return taken;
}

static bool is_refused(void)
{
    bool refused = mishap.refused;
    mishap.refused = false;
    return refused;
}

static void on_created(int rc, const char *path, const struct Stat *stat, const void *data)
{
    int taken = take_rc(rc);
    mishap.created(taken, taken == ZOK ? path : NULL, taken == ZOK ? stat : NULL, data);
}

static void on_deleted(int rc, const void *data)
{
    mishap.deleted(take_rc(rc), data);
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    int taken = take_rc(rc);
    mishap.set(taken, taken == ZOK ? stat : NULL, data);
}

/* A multi that is not answered with 0 was not done, and says nothing of its operations. */
static void on_written(int rc, const void *data)
{
    mishap.written(take_rc(rc), data);
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int flags, string_stat_completion_t done,
                        const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int flags, string_stat_completion_t done,
                        const void *data);
int __real_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done,
                       const void *data);
int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done,
                       const void *data);
int __real_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data);
int __wrap_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data);
int __real_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t done, const void *data);
int __wrap_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t done, const void *data);
int __real_zoo_state(zhandle_t *zh);
int __wrap_zoo_state(zhandle_t *zh);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int flags, string_stat_completion_t done,
                        const void *data)
{
    mishap.created = done;
    return __real_zoo_acreate2(zh, path, value, size, acl, flags, on_created, data);
}

int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t done, const void *data)
{
    mishap.deleted = done;
    return __real_zoo_adelete(zh, path, version, on_deleted, data);
}

int __wrap_zoo_aset(zhandle_t *zh, const char *path, const char *value, int size, int version,
                    stat_completion_t done, const void *data)
{
    mishap.set = done;
    return is_refused() ? ZSYSTEMERROR : __real_zoo_aset(zh, path, value, size, version, on_set, data);
}

int __wrap_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t done, const void *data)
{
    mishap.written = done;
    return is_refused() ? ZSYSTEMERROR : __real_zoo_amulti(zh, count, ops, results, on_written, data);
}

int __wrap_zoo_state(zhandle_t *zh)
{
    return mishap.state != 0 ? mishap.state : __real_zoo_state(zh);
}

/* ---- the threads ---- */

static bool has_step(void *ctx)
{
    (void)ctx;
    return now.delivering;
}

static void deliver_for_ever(void *ctx)
{
    (void)ctx;
    for (;;) {
        fibre_wait(has_step, NULL);
        fakezk_step(&now.step);
        now.delivering = false;
    }
}

static bool has_timer(void *ctx)
{
    (void)ctx;
    return now.timer != NULL;
}

static void fire_for_ever(void *ctx)
{
    (void)ctx;
    for (;;) {
        fibre_wait(has_timer, NULL);
        env_fibre_fire(now.timer);
        now.timer = NULL;
    }
}

static bool has_call(void *ctx)
{
    (void)ctx;
    return now.call != NULL;
}

static void call_for_ever(void *ctx)
{
    (void)ctx;
    for (;;) {
        fibre_wait(has_call, NULL);
        now.rc = now.call();
        now.call = NULL;
    }
}

static bool has_help(void *ctx)
{
    (void)ctx;
    return now.helping;
}

static void help_for_ever(void *ctx)
{
    (void)ctx;
    for (;;) {
        fibre_wait(has_help, NULL);
        now.stuck();
        now.stuck = NULL;
        now.helping = false;
    }
}

static bool resume_any(void)
{
    for (int i = 0; i < fibre_count(); i++) {
        if (fibre_can_run(i)) {
            fibre_resume(i);
            return true;
        }
    }
    return false;
}

static bool step_any(void)
{
    struct fakezk_step steps[STEPS_MAX];
    int count = fakezk_steps(steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == FAKEZK_DELIVER) {
            now.step = steps[i];
            now.delivering = true;
            return true;
        }
        if (steps[i].kind != FAKEZK_EXPIRE && steps[i].kind != FAKEZK_GIVE_UP) {
            fakezk_step(&steps[i]);
            return true;
        }
    }
    return false;
}

/* Deadlines come last, when whoever could help has helped. */
static bool fire_any(bool deadlines)
{
    for (int i = 0; i < env_fibre_places() && now.timer == NULL; i++) {
        const char *name;
        struct ls_timer *timer = env_fibre_timer(i, &name);
        if (timer != NULL && (strncmp(name, "deadline", 8) == 0) == deadlines) {
            now.timer = timer;
        }
    }
    return now.timer != NULL;
}

static bool help(void)
{
    now.helping = now.stuck != NULL;
    return now.helping;
}

/* What the call answers; `stuck` may be NULL. */
static int answer(int (*function)(void), void (*stuck)(void))
{
    now.call = function;
    now.stuck = stuck;
    while (resume_any() ||
           (now.call != NULL && (step_any() || fire_any(false) || help() || fire_any(true)))) {
    }
    if (env_fibre_is_wrong()) {
        fail_msg("%s", env_fibre_wrong());
    }
    assert_null(now.call);
    return now.rc;
}

/* ---- calls ---- */

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)mutex;
    (void)owner;
    now.freed = true;
    now.freed_rc = rc;
}

static void on_lost(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    if (token != now.outcome.token || ls_mutex_query(mutex, owner) == LS_HELD) {
        env_fibre_blame("another hold is told to be lost, or one that is believed in");
    }
    now.losses++;
}

static const struct ls_mutex_ops mutex_ops = {.on_freed = on_freed, .on_lost = on_lost};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};

static int open_all(void)
{
    int rc = ls_session_init(&now.session, env_fibre(), "server:2181", 4000, &now.options);
    rc = rc != 0 ? rc : ls_mutex_init(&now.mutex, &now.session, PATH, &mutex_options);
    return rc != 0 ? rc : ls_session_start(&now.session);
}

static int close_all(void)
{
    int rc = ls_mutex_close(&now.mutex);
    return rc != 0 ? rc : ls_session_close(&now.session);
}

/* In a thread of its own nobody can leave a test. */
static void wants_ok(int rc)
{
    if (rc != LS_OK) {
        env_fibre_blame("a helper is answered %s", ls_strerror(rc));
    }
}

static void close_session(void)
{
    wants_ok(ls_session_close(&now.session));
}

static void close_mutex(void)
{
    wants_ok(ls_mutex_close(&now.mutex));
}

static int acquire(void)
{
    return ls_mutex_acquire(&now.mutex, -1);
}

static int acquire_in_time(void)
{
    return ls_mutex_acquire(&now.mutex, 100);
}

static int try_once(void)
{
    return ls_mutex_try(&now.mutex);
}

static int release(void)
{
    return ls_mutex_release(&now.mutex);
}

static int hold(void)
{
    int rc = ls_mutex_acquire(&now.mutex, -1);
    return rc != 0 ? rc : ls_mutex_release(&now.mutex);
}

/* The delete of the release is answered with this. */
static int delete_rc;

static int hold_and_fail(void)
{
    int rc = ls_mutex_acquire(&now.mutex, -1);
    mishap.rc = delete_rc;
    return rc != 0 ? rc : ls_mutex_release(&now.mutex);
}

static bool is_freed(void *ctx)
{
    (void)ctx;
    return now.freed;
}

/* The same without waiting in the library: what on_freed is told. */
static int hold_and_be_told(void)
{
    int rc = ls_mutex_acquire(&now.mutex, -1);
    mishap.rc = delete_rc;
    rc = rc != 0 ? rc : ls_mutex_release_start(&now.mutex, ls_env_self(env_fibre()));
    if (rc == 0) {
        fibre_wait(is_freed, NULL);
    }
    return rc != 0 ? rc : now.freed_rc;
}

static int hold_without_a_node(void)
{
    int rc = ls_mutex_acquire(&now.mutex, -1);
    fakezk_operator_remove(PATH);
    return rc != 0 ? rc : ls_mutex_release(&now.mutex);
}

static int request_revoke(void)
{
    return ls_mutex_request_revoke(&now.session, FOREIGN);
}

static int request_revoke_of_nobody(void)
{
    return ls_mutex_request_revoke(&now.session, PATH "/nobody");
}

static int start_request(void)
{
    return ls_mutex_request_revoke_start(&now.session, FOREIGN, NULL, NULL);
}

static void cancel(void)
{
    wants_ok(ls_mutex_cancel(&now.mutex, LS_ENV_THREAD | (CALLER + 1)));
}

/* ---- a test from its start to its end ---- */

static unsigned defects; /* of the client library and the servers */

static void prepare(void)
{
    memset(&now, 0, sizeof now);
    memset(&mishap, 0, sizeof mishap);
    now.options.no_refresh = true;
    env_fibre_reset();
    arena_clear(&arena);
    struct fakezk_options options = {
        .clients = 1, .servers = 1, .tick_ms = 2000, .fixed_orders = true, .defects = defects};
    fakezk_open(&arena, &options, NULL, NULL);
    fibres_reset();
    fibre_start(call_for_ever, NULL);
    fibre_start(help_for_ever, NULL);
    fibre_start(deliver_for_ever, NULL);
    fibre_start(fire_for_ever, NULL);
    fakezk_enter(0);
}

static void ready(void)
{
    prepare();
    assert_int_equal(answer(open_all, NULL), LS_OK);
    assert_int_equal(answer(hold, NULL), LS_OK); /* the directory is there from now on */
}

/* `blocks` of memory are the test's. */
static void end_with(long blocks)
{
    mishap.rc = 0;
    assert_int_equal(answer(close_all, NULL), LS_OK);
    assert_int_equal(env_fibre_blocks(), blocks);
    fakezk_leave();
}

static void end(void)
{
    end_with(0);
}

static void an_acquire_says_why_it_ended_without_the_lock(void **state)
{
    (void)state;
    static const struct {
        int zk_rc;
        int rc;
    } creates[] = {{ZNOAUTH, LS_ENOAUTH},
                   {ZAPIERROR, LS_EZK},
                   {ZAUTHFAILED, LS_EAUTHFAILED},
                   {ZBADARGUMENTS, LS_EINVAL}};
    for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++) {
        ready();
        mishap.rc = creates[i].zk_rc;
        assert_int_equal(answer(acquire, NULL), creates[i].rc);
        end();
    }
    ready();
    assert_true(fakezk_operator_create(FOREIGN, 0, false));
    assert_int_equal(answer(try_once, NULL), LS_EBUSY);
    assert_int_equal(answer(acquire_in_time, NULL), LS_ETIMEDOUT);
    assert_int_equal(answer(acquire, cancel), LS_ECANCELED);
    assert_int_equal(answer(acquire, close_mutex), LS_ECLOSED);
    end();
    ready();
    assert_true(fakezk_operator_create(FOREIGN, 0, false));
    assert_int_equal(answer(acquire, close_session), LS_ECLOSED);
    end();
}

static void an_acquire_says_what_it_lacks(void **state)
{
    (void)state;
    ready();
    now.retry = (struct ls_retry_policy){.kind = LS_RETRY_TIMES, .times = 0};
    now.options.retry = &now.retry;
    mishap.rc = ZSYSTEMERROR;
    assert_int_equal(answer(acquire, NULL), LS_EGAVEUP);
    end();
    ready();
    env_fibre_fail_alloc(1);
    assert_int_equal(answer(acquire, NULL), LS_ENOMEM);
    now.options.maxbuffer = 64;
    assert_int_equal(answer(acquire, NULL), LS_EOVERFLOW);
    end();
    ready();
    fakezk_operator_preset(PATH, INT32_MAX);
    assert_int_equal(answer(acquire, NULL), LS_ESEQUENCE);
    end();
}

static void a_release_says_what_became_of_the_node(void **state)
{
    (void)state;
    static const struct {
        int zk_rc;
        int rc;
    } deletes[] = {{ZNOAUTH, LS_ENOAUTH}, {ZAPIERROR, LS_EZK}, {ZCONNECTIONLOSS, LS_EUNSURE}};
    for (size_t i = 0; i < sizeof deletes / sizeof deletes[0]; i++) {
        ready();
        delete_rc = deletes[i].zk_rc;
        assert_int_equal(answer(hold_and_fail, NULL), deletes[i].rc);
        end();
        ready();
        assert_int_equal(answer(hold_and_be_told, NULL), deletes[i].rc);
        end();
    }
    ready();
    assert_int_equal(answer(hold_without_a_node, NULL), LS_ELOST);
    assert_int_equal(answer(release, NULL), LS_ENOTOWNER);
    end();
    assert_int_equal(ls_mutex_release(&now.mutex), LS_ECLOSED);
}

static void a_request_to_give_back_says_what_became_of_it(void **state)
{
    (void)state;
    static const struct {
        int zk_rc;
        int rc;
    } sets[] = {{ZOK, LS_OK},        {ZNONODE, LS_ENOENT},          {ZNOAUTH, LS_ENOAUTH},
                {ZAPIERROR, LS_EZK}, {ZCONNECTIONLOSS, LS_EUNSURE}, {ZSESSIONEXPIRED, LS_ECLOSED}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        ready();
        assert_true(fakezk_operator_create(FOREIGN, 0, false));
        mishap.rc = sets[i].zk_rc;
        assert_int_equal(answer(request_revoke, NULL), sets[i].rc);
        end();
    }
}

static void a_request_to_give_back_that_is_not_sent_says_why(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(request_revoke_of_nobody, NULL), LS_EINVAL);
    env_fibre_fail_alloc(1);
    assert_int_equal(answer(request_revoke, NULL), LS_ENOMEM);
    mishap.refused = true;
    assert_int_equal(answer(request_revoke, NULL), LS_EZK);
    mishap.refused = true;
    assert_int_equal(answer(start_request, NULL), LS_EZK);
    end();
    fakezk_enter(0);
    assert_int_equal(answer(request_revoke, NULL), LS_ECLOSED);
    fakezk_leave();
}

/* ---- writes ---- */

static void on_multi(int rc, const void *data)
{
    (void)rc;
    (void)data;
}

static int multi(void)
{
    static char value[8];
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, PATH, value, sizeof value, -1, NULL);
    return ls_session_multi(&now.session, 1, &op, &result, on_multi, NULL);
}

static void a_multi_that_the_client_refuses_says_so(void **state)
{
    (void)state;
    ready();
    mishap.refused = true;
    assert_int_equal(answer(multi, NULL), LS_EZK);
    end();
}

/* ---- a guarded write ---- */

static char written[8];

/* What an earlier call has left must not be what a test sees. */
static int write_guarded(void)
{
    zoo_op_t ops[2];
    zoo_op_result_t results[2] = {{.err = 7}, {.err = 7}};
    zoo_set_op_init(&ops[0], PATH, written, sizeof written, -1, NULL);
    zoo_check_op_init(&ops[1], "/locks", -1);
    now.zk_rc = 7;
    int rc = ls_mutex_multi(&now.mutex, 2, ops, results, &now.zk_rc);
    bool answered = rc == LS_OK || rc == LS_ELOST;
    if (rc == LS_OK && (results[0].err != ZOK || results[1].err != ZOK)) {
        env_fibre_blame("a write that was done says %d and %d", results[0].err, results[1].err);
    }
    if (!answered && now.zk_rc == 0 && results[0].err != 7) {
        env_fibre_blame("a write that was not sent has a result");
    }
    return rc;
}

static int acquire_and_write(void)
{
    int rc = ls_mutex_acquire_outcome(&now.mutex, -1, &now.outcome);
    return rc != 0 ? rc : write_guarded();
}

static void remove_nodes(void)
{
    fakezk_operator_remove(PATH);
}

static void the_holder_writes_and_nobody_else(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(write_guarded, NULL), LS_ENOTOWNER);
    assert_int_equal(now.zk_rc, 0);
    assert_int_equal(answer(acquire_and_write, NULL), LS_OK);
    assert_int_equal(now.zk_rc, 0);
    remove_nodes();
    assert_int_equal(answer(write_guarded, NULL), LS_ELOST);
    assert_int_equal(now.zk_rc, ZNONODE);
    assert_int_equal(answer(release, NULL), LS_ELOST);
    assert_int_equal(now.losses, 0); /* the release has told it */
    end();
    assert_int_equal(answer(write_guarded, NULL), LS_ENOTOWNER);
}

static int write_where_nothing_is(void)
{
    zoo_op_t op;
    zoo_op_result_t result = {.err = 7};
    zoo_set_op_init(&op, "/nowhere", written, sizeof written, -1, NULL);
    int rc = ls_mutex_multi(&now.mutex, 1, &op, &result, &now.zk_rc);
    if (result.err != ZNONODE) {
        env_fibre_blame("the operation that was refused says %d", result.err);
    }
    return rc;
}

static int write_nothing(void)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, "nowhere", written, sizeof written, -1, NULL);
    int rc = ls_mutex_multi(&now.mutex, 1, &op, &result, NULL);
    return rc != LS_EINVAL ? rc : ls_mutex_multi(&now.mutex, 0, &op, &result, NULL);
}

static void a_guarded_write_says_what_became_of_it(void **state)
{
    (void)state;
    static const struct {
        int zk_rc;
        int rc;
    } answers[] = {{ZCONNECTIONLOSS, LS_EUNSURE}, {ZOPERATIONTIMEOUT, LS_EUNSURE}, {ZAUTHFAILED, LS_EUNSURE},
                   {ZSESSIONEXPIRED, LS_ELOST},   {ZNOAUTH, LS_ENOAUTH},           {ZBADVERSION, LS_EZK}};
    ready();
    assert_int_equal(answer(acquire_and_write, NULL), LS_OK);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        mishap.rc = answers[i].zk_rc;
        assert_int_equal(answer(write_guarded, NULL), answers[i].rc);
        assert_int_equal(now.zk_rc, answers[i].zk_rc);
    }
    assert_int_equal(answer(write_where_nothing_is, NULL), LS_EZK);
    assert_int_equal(now.zk_rc, ZNONODE);
    assert_int_equal(answer(write_nothing, NULL), LS_EINVAL);
    for (int nth = 1; nth <= 2; nth++) {
        env_fibre_fail_alloc(nth);
        assert_int_equal(answer(write_guarded, NULL), LS_ENOMEM);
    }
    mishap.refused = true;
    assert_int_equal(answer(write_guarded, NULL), LS_EZK);
    assert_int_equal(answer(release, NULL), LS_OK);
    end();
}

static void a_guarded_write_needs_a_link(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(acquire_and_write, NULL), LS_OK);
    mishap.state = ZOO_CONNECTING_STATE;
    assert_int_equal(answer(write_guarded, NULL), LS_ECLOSED);
    mishap.state = 0;
    assert_int_equal(answer(release, NULL), LS_OK);
    end();
}

/* The client library drops what it has not called when a handle is closed (F21). */
static void a_guarded_write_does_not_wait_for_an_answer_that_is_dropped(void **state)
{
    (void)state;
    defects = FAKEZK_DEFECT_DROP_AT_CLOSE;
    ready();
    defects = 0;
    assert_int_equal(answer(acquire_and_write, NULL), LS_OK);
    fakezk_partition(0, true);
    assert_int_equal(answer(write_guarded, close_session), LS_EUNSURE);
    assert_int_equal(now.zk_rc, ZCLOSING);
    end();
}

/* ---- what an acquire and its hold tell ---- */

static int acquire_outcome(void)
{
    now.outcome = (struct ls_outcome){.rc = 7, .zk_rc = 7, .depth = 7, .token = 7};
    return ls_mutex_acquire_outcome(&now.mutex, 100, &now.outcome);
}

static void assert_outcome(int rc, int zk_rc, uint32_t depth, bool token)
{
    assert_int_equal(now.outcome.rc, rc);
    assert_int_equal(now.outcome.zk_rc, zk_rc);
    assert_int_equal(now.outcome.depth, depth);
    assert_int_equal(now.outcome.token != 0, token);
}

static int token_is_of_the_outcome(void)
{
    return ls_mutex_token_by_me(&now.mutex) == now.outcome.token;
}

static void an_acquire_tells_its_token_and_the_code_behind_a_failure(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    assert_outcome(LS_OK, 0, 1, true);
    assert_true(answer(token_is_of_the_outcome, NULL));
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    assert_outcome(LS_OK, 0, 2, true);
    assert_true(answer(token_is_of_the_outcome, NULL));
    assert_int_equal(answer(release, NULL), LS_OK);
    assert_int_equal(answer(release, NULL), LS_OK);
    mishap.rc = ZNOAUTH;
    assert_int_equal(answer(acquire_outcome, NULL), LS_ENOAUTH);
    assert_outcome(LS_ENOAUTH, ZNOAUTH, 0, false);
    assert_true(fakezk_operator_create(FOREIGN, 0, false));
    assert_int_equal(answer(acquire_outcome, NULL), LS_ETIMEDOUT);
    assert_outcome(LS_ETIMEDOUT, 0, 0, false);
    assert_int_equal(answer(acquire_outcome, close_mutex), LS_ECLOSED);
    assert_int_equal(answer(acquire_outcome, NULL), LS_ECLOSED);
    assert_outcome(LS_ECLOSED, 0, 0, false);
    end();
}

static int questions_of_a_stranger(void)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    bool silent = ls_mutex_query_by_me(&now.mutex) == LS_NOT_HELD && !ls_mutex_held_by_me(&now.mutex) &&
                  ls_mutex_belief_left_by_me(&now.mutex) == 0 && ls_mutex_token_by_me(&now.mutex) == 0;
    return silent ? ls_mutex_guard_by_me(&now.mutex, &op, path, sizeof path) : 0;
}

/* Each question, and its counterpart that is given the owner. */
static int questions_of_a_holder(void)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64], other[sizeof path];
    uint64_t owner = ls_env_self(env_fibre());
    zoo_op_t op, other_op;
    int rc = ls_mutex_guard_by_me(&now.mutex, &op, path, sizeof path);
    int other_rc = ls_mutex_guard(&now.mutex, owner, &other_op, other, sizeof other);
    bool same = strcmp(path, other) == 0 && op.check_op.path == path && op.type == ZOO_CHECK_OP &&
                ls_mutex_token(&now.mutex, owner) == ls_mutex_token_by_me(&now.mutex) &&
                ls_mutex_belief_left_ms(&now.mutex, owner) == ls_mutex_belief_left_by_me(&now.mutex);
    bool held = ls_mutex_query_by_me(&now.mutex) == LS_HELD && ls_mutex_held_by_me(&now.mutex) &&
                ls_mutex_belief_left_by_me(&now.mutex) == 2000 &&
                ls_mutex_belief_left_ms(&now.mutex, owner - 1) == 0;
    bool fits = ls_mutex_guard_by_me(&now.mutex, &op, path, 1) == LS_EOVERFLOW;
    return rc == LS_OK && other_rc == LS_OK && same && held && fits;
}

static void a_thread_asks_in_its_own_name(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(questions_of_a_stranger, NULL), LS_ENOTOWNER);
    assert_int_equal(answer(acquire, NULL), LS_OK);
    assert_true(answer(questions_of_a_holder, NULL));
    assert_int_equal(answer(release, NULL), LS_OK);
    assert_int_equal(answer(questions_of_a_stranger, NULL), LS_ENOTOWNER);
    end();
    assert_int_equal(answer(questions_of_a_stranger, NULL), LS_ENOTOWNER);
}

static void a_close_tells_who_holds_that_the_hold_is_lost(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    end();
    assert_int_equal(now.losses, 1);
    ready();
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    assert_int_equal(answer(release, NULL), LS_OK);
    end();
    assert_int_equal(now.losses, 0);
}

static int close_session_of_a_holder(void)
{
    int rc = ls_session_close(&now.session);
    return rc != 0 ? rc : now.losses;
}

static void the_end_of_a_session_tells_who_holds_that_the_hold_is_lost(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    assert_int_equal(answer(close_session_of_a_holder, NULL), 1);
    assert_int_equal(answer(release, NULL), LS_ELOST);
    end();
    assert_int_equal(now.losses, 1);
}

static bool has_failed(void *ctx)
{
    (void)ctx;
    return now.session.state == LS_STATE_FAILED;
}

static int wait_for_a_failure(void)
{
    fibre_wait(has_failed, NULL);
    return LS_OK;
}

/* The session is lost and then fails, before any callback runs: the loss is told once, with its token. */
static void a_hold_that_is_lost_twice_is_told_once(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(acquire_outcome, NULL), LS_OK);
    env_fibre_fail_timer(1);
    assert_true(fakezk_expire(fakezk_session(0, 0)));
    assert_int_equal(answer(wait_for_a_failure, NULL), LS_OK);
    assert_int_equal(answer(questions_of_a_stranger, NULL), LS_ELOST);
    end();
    assert_int_equal(now.losses, 1);
}

/* ---- participants ---- */

static int participants(void)
{
    now.participants = (struct ls_participants){.count = 7};
    return ls_mutex_participants(&now.mutex, &now.participants);
}

static int free_participants(void)
{
    ls_participants_free(&now.participants);
    return now.participants.count;
}

static void a_thread_waits_for_the_participants(void **state)
{
    (void)state;
    ready();
    assert_int_equal(answer(participants, NULL), LS_OK);
    assert_int_equal(now.participants.count, 0);
    assert_int_equal(answer(free_participants, NULL), 0);
    assert_int_equal(answer(acquire, NULL), LS_OK);
    assert_true(fakezk_operator_create(FOREIGN, 0, false));
    assert_int_equal(answer(participants, NULL), LS_OK);
    assert_int_equal(now.participants.count, 2);
    assert_string_equal(now.participants.list[0].name, strrchr(FOREIGN, '/') + 1);
    assert_int_equal(now.participants.list[0].size, 0);
    assert_string_equal(now.participants.list[0].contents, "");
    assert_int_equal(answer(release, NULL), LS_OK);
    end_with(1 + 2); /* the list and its names outlive their mutex */
    fakezk_enter(0);
    assert_int_equal(answer(free_participants, NULL), 0);
    assert_int_equal(env_fibre_blocks(), 0);
    assert_null(now.participants.list);
    assert_int_equal(answer(participants, NULL), LS_ECLOSED);
    assert_int_equal(now.participants.count, 0);
    fakezk_leave();
}

static void a_list_of_participants_that_does_not_come_says_why(void **state)
{
    (void)state;
    ready();
    for (int nth = 1; nth <= 3; nth++) {
        env_fibre_fail_alloc(nth);
        assert_int_equal(answer(participants, NULL), LS_ENOMEM);
        assert_int_equal(now.participants.count, 0);
    }
    end();
}

static void cut_link(void)
{
    fakezk_partition(0, false);
    fakezk_cut(0, 0, 0, 0, ZCONNECTIONLOSS, false);
}

static void a_list_of_participants_that_is_refused_or_lost_says_so(void **state)
{
    (void)state;
    ready();
    assert_true(fakezk_operator_set_perms(PATH, 0));
    assert_int_equal(answer(participants, NULL), LS_ENOAUTH);
    assert_true(fakezk_operator_set_perms(PATH, ZOO_PERM_ALL));
    fakezk_partition(0, true);
    assert_int_equal(answer(participants, cut_link), LS_EZK);
    end();
}

/* ---- sessions ---- */

static int wait_connected(void)
{
    return ls_session_wait_connected(&now.session, 100);
}

static int look_if_connected(void)
{
    return ls_session_wait_connected(&now.session, 0);
}

static int wait_for_ever(void)
{
    return ls_session_wait_connected(&now.session, -1);
}

static int init_alone(void)
{
    return ls_session_init(&now.session, env_fibre(), "server:2181", 4000, &now.options);
}

static int start_alone(void)
{
    return ls_session_start(&now.session);
}

static int close_alone(void)
{
    return ls_session_close(&now.session);
}

static int state_of_session(void)
{
    return (int)ls_session_state(&now.session);
}

/* The new handle is told this before it is known. */
static void expire(zhandle_t *zh, watcher_fn watcher, void *context)
{
    watcher(zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE, "", context);
}

static void refuse_credentials(zhandle_t *zh, watcher_fn watcher, void *context)
{
    watcher(zh, ZOO_SESSION_EVENT, ZOO_AUTH_FAILED_STATE, "", context);
}

static void a_thread_waits_until_the_session_is_connected(void **state)
{
    (void)state;
    prepare();
    assert_int_equal(answer(init_alone, NULL), LS_OK);
    assert_int_equal(answer(wait_for_ever, NULL), LS_ECLOSED);
    assert_int_equal(answer(start_alone, NULL), LS_OK);
    assert_int_equal(answer(look_if_connected, NULL), LS_ETIMEDOUT);
    env_fibre_fail_timer(1);
    assert_int_equal(answer(wait_connected, NULL), LS_ENOMEM);
    assert_int_equal(answer(wait_connected, NULL), LS_OK);
    assert_int_equal(answer(wait_for_ever, NULL), LS_OK);
    assert_int_equal(answer(look_if_connected, NULL), LS_OK);
    assert_int_equal(answer(close_alone, NULL), LS_OK);
    assert_int_equal(answer(wait_for_ever, NULL), LS_ECLOSED);
    assert_int_equal(env_fibre_blocks(), 0);
    fakezk_leave();
}

static void a_wait_for_a_connection_ends_with_its_time_or_its_session(void **state)
{
    (void)state;
    prepare();
    assert_int_equal(answer(init_alone, NULL), LS_OK);
    assert_int_equal(answer(start_alone, NULL), LS_OK);
    fakezk_partition(0, true);
    assert_int_equal(answer(wait_connected, NULL), LS_ETIMEDOUT);
    assert_int_equal(answer(wait_for_ever, close_session), LS_ECLOSED);
    assert_int_equal(env_fibre_blocks(), 0);
    fakezk_leave();
}

static void who_waits_for_a_connection_hears_why_there_is_none(void **state)
{
    (void)state;
    prepare();
    handles_opened = refuse_credentials;
    assert_int_equal(answer(open_all, NULL), LS_OK);
    handles_opened = NULL;
    assert_int_equal(answer(wait_for_ever, NULL), LS_EAUTHFAILED);
    end();
    prepare();
    now.retry = (struct ls_retry_policy){.kind = LS_RETRY_TIMES, .times = 0};
    now.options.retry = &now.retry;
    handles_opened = expire;
    assert_int_equal(answer(init_alone, NULL), LS_OK);
    assert_int_equal(answer(start_alone, NULL), LS_OK);
    handles_opened = NULL;
    handles_unopened = 1;
    assert_int_equal(answer(wait_for_ever, NULL), LS_EGAVEUP);
    assert_int_equal(answer(close_alone, NULL), LS_OK);
    assert_int_equal(env_fibre_blocks(), 0);
    fakezk_leave();
}

static struct ls_loan loan;
static zhandle_t *handle;

static void on_handle(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    (void)context;
    ls_loan_on_event(&loan, zh, type, state);
}

static int lend(void)
{
    int rc = ls_session_init(&now.session, env_fibre(), "server:2181", 4000, &now.options);
    ls_loan_init(&loan, env_fibre());
    handle = zookeeper_init("server:2181", on_handle, 4000, NULL, NULL, 0);
    return rc != 0 ? rc : ls_session_lend(&now.session, &loan, handle);
}

static int close_loan(void)
{
    int rc = ls_session_close(&now.session);
    return rc != 0 ? rc : zookeeper_close(handle);
}

static void a_handle_whose_credentials_were_refused_is_not_lent(void **state)
{
    (void)state;
    prepare();
    mishap.state = ZOO_AUTH_FAILED_STATE;
    assert_int_equal(answer(lend, NULL), LS_EAUTHFAILED);
    mishap.state = 0;
    assert_int_equal(answer(close_loan, NULL), LS_OK);
    fakezk_leave();
}

static void a_start_without_memory_says_so(void **state)
{
    (void)state;
    prepare();
    handles_opened = expire;
    env_fibre_fail_timer(2); /* the first one waits for the end of the opening */
    assert_int_equal(answer(open_all, NULL), LS_ENOMEM);
    handles_opened = NULL;
    assert_int_equal(answer(state_of_session, NULL), LS_STATE_FAILED);
    assert_int_equal(answer(wait_for_ever, NULL), LS_ENOMEM);
    end();
    prepare();
    handles_unopened = 1;
    handles_error = ENOMEM;
    assert_int_equal(answer(open_all, NULL), LS_ENOMEM);
    assert_int_equal(answer(state_of_session, NULL), LS_STATE_NEW);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_acquire_says_why_it_ended_without_the_lock),
        cmocka_unit_test(an_acquire_says_what_it_lacks),
        cmocka_unit_test(a_release_says_what_became_of_the_node),
        cmocka_unit_test(a_request_to_give_back_says_what_became_of_it),
        cmocka_unit_test(a_request_to_give_back_that_is_not_sent_says_why),
        cmocka_unit_test(a_multi_that_the_client_refuses_says_so),
        cmocka_unit_test(the_holder_writes_and_nobody_else),
        cmocka_unit_test(a_guarded_write_says_what_became_of_it),
        cmocka_unit_test(a_guarded_write_needs_a_link),
        cmocka_unit_test(a_guarded_write_does_not_wait_for_an_answer_that_is_dropped),
        cmocka_unit_test(an_acquire_tells_its_token_and_the_code_behind_a_failure),
        cmocka_unit_test(a_thread_asks_in_its_own_name),
        cmocka_unit_test(a_close_tells_who_holds_that_the_hold_is_lost),
        cmocka_unit_test(the_end_of_a_session_tells_who_holds_that_the_hold_is_lost),
        cmocka_unit_test(a_hold_that_is_lost_twice_is_told_once),
        cmocka_unit_test(a_thread_waits_for_the_participants),
        cmocka_unit_test(a_list_of_participants_that_does_not_come_says_why),
        cmocka_unit_test(a_list_of_participants_that_is_refused_or_lost_says_so),
        cmocka_unit_test(a_thread_waits_until_the_session_is_connected),
        cmocka_unit_test(a_wait_for_a_connection_ends_with_its_time_or_its_session),
        cmocka_unit_test(who_waits_for_a_connection_hears_why_there_is_none),
        cmocka_unit_test(a_handle_whose_credentials_were_refused_is_not_lent),
        cmocka_unit_test(a_start_without_memory_says_so),
    };
    if (arena_open(&arena, ARENA_BYTES) != 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    env_fibre_reset();
    arena_close(&arena);
    return failed;
}
