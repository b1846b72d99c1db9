/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The blocking calls on a real server: threads of one process, two processes, try, deadlines, wrong callers.
 */
#include "stage.h"

static const struct ls_mutex_ops count_ops = {.on_participants = on_participants};
static const struct ls_mutex_options count_options = {.ops = &count_ops};

static void test_acquire_and_release(void **state)
{
    (void)state;
    struct client client;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    client_open(&client, "/real/plain", &count_options);
    uint64_t self = client_self(&client);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ENOTOWNER);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_query(&client.mutex, self), LS_HELD);
    assert_true(self & LS_ENV_THREAD);
    assert_int_equal(ls_mutex_query(&client.mutex, self & ~LS_ENV_THREAD), LS_NOT_HELD); /* a task's number */
    assert_true(ls_mutex_held_by_me(&client.mutex));
    assert_true(ls_mutex_held_here(&client.mutex));
    assert_int_equal(ls_mutex_guard(&client.mutex, self, &op, path, sizeof path), LS_OK);
    assert_memory_equal(path, "/real/plain/_c_", 15);
    assert_int_equal(count_participants(&client), 1);
    int64_t first = ls_mutex_token(&client.mutex, self);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    assert_int_equal(ls_mutex_query(&client.mutex, self), LS_NOT_HELD);
    assert_false(ls_mutex_held_by_me(&client.mutex));
    assert_int_equal(count_participants(&client), 0);
    assert_int_equal(ls_mutex_acquire(&client.mutex, 5000), LS_OK);
    assert_true(ls_mutex_token(&client.mutex, self) > first);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
}

static void test_reentrant(void **state)
{
    (void)state;
    struct client client;
    struct caller other;
    client_open(&client, "/real/reentrant", NULL);
    uint64_t self = client_self(&client);
    for (uint32_t depth = 1; depth <= 3; depth++) {
        assert_int_equal(depth == 2 ? ls_mutex_try(&client.mutex) : ls_mutex_acquire(&client.mutex, -1),
                         LS_OK);
        assert_int_equal(ls_mutex_depth(&client.mutex, self), depth);
    }
    int64_t token = ls_mutex_token(&client.mutex, self);
    for (uint32_t depth = 3; depth > 1; depth--) {
        assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
        assert_int_equal(ls_mutex_depth(&client.mutex, self), depth - 1);
        assert_int_equal(ls_mutex_token(&client.mutex, self), token);
    }
    caller_start(&other, &client, 0, caller_acquire);
    assert_int_equal(caller_join(&other), LS_EBUSY);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    caller_start(&other, &client, 0, caller_acquire);
    assert_int_equal(caller_join(&other), LS_OK);
    client_close(&client);
}

/* ---- threads of one process, and of two ---- */

enum { CROWD = 6, CROWD_ROUNDS = 20 };

static struct {
    int inside;
    int entries;
    int together; /* how often somebody was inside already */
} room;

static void *visit(void *context)
{
    struct caller *caller = context;
    for (int i = 0; i < CROWD_ROUNDS && !caller->release_rc; i++) {
        caller->rc = ls_mutex_acquire(&caller->client->mutex, PATIENCE_MS);
        if (caller->rc)
            break;
        if (__atomic_fetch_add(&room.inside, 1, __ATOMIC_SEQ_CST))
            __atomic_fetch_add(&room.together, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&room.entries, 1, __ATOMIC_SEQ_CST);
        sched_yield();
        __atomic_fetch_sub(&room.inside, 1, __ATOMIC_SEQ_CST);
        caller->release_rc = ls_mutex_release(&caller->client->mutex);
    }
    __atomic_store_n(&caller->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void test_threads_exclude_each_other(void **state)
{
    (void)state;
    struct client clients[2];
    struct caller callers[CROWD];
    for (int i = 0; i < 2; i++)
        client_open(&clients[i], "/real/crowd", &count_options);
    for (int i = 0; i < CROWD; i++)
        caller_start(&callers[i], &clients[i % 2], 0, visit);
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(caller_join(&callers[i]), LS_OK);
        assert_int_equal(callers[i].release_rc, LS_OK);
    }
    assert_int_equal(room.entries, CROWD * CROWD_ROUNDS);
    assert_int_equal(room.together, 0);
    assert_int_equal(count_participants(&clients[0]), 0);
    for (int i = 0; i < 2; i++)
        client_close(&clients[i]);
}

/* ---- the lock is somebody else's ---- */

static void test_try(void **state)
{
    (void)state;
    struct client holder, other;
    client_open(&holder, "/real/try", &count_options);
    client_open(&other, "/real/try", &count_options);
    client_wait_state(&other, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_try(&other.mutex), LS_EBUSY);
    assert_false(ls_mutex_held_by_me(&other.mutex));
    WAIT_UNTIL(ls_session_idle(&other.session));
    assert_int_equal(count_participants(&holder), 1);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    assert_int_equal(ls_mutex_try(&other.mutex), LS_OK);
    assert_int_equal(ls_mutex_release(&other.mutex), LS_OK);
    client_close(&holder);
    client_close(&other);
}

static void test_timeout(void **state)
{
    (void)state;
    struct client holder, other;
    struct caller waiter;
    client_open(&holder, "/real/timeout", &count_options);
    client_open(&other, "/real/timeout", NULL);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    int64_t start_ms = now_ms();
    assert_int_equal(ls_mutex_acquire(&other.mutex, 300), LS_ETIMEDOUT);
    int64_t took_ms = now_ms() - start_ms;
    assert_in_range(took_ms, 299, 5000);
    assert_int_equal(ls_mutex_release(&other.mutex), LS_ENOTOWNER);
    WAIT_UNTIL(ls_session_idle(&other.session));
    assert_int_equal(count_participants(&holder), 1);
    /* In time it is granted. */
    caller_start(&waiter, &other, PATIENCE_MS, caller_acquire);
    WAIT_UNTIL(count_participants(&holder) == 2);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    assert_int_equal(caller_join(&waiter), LS_OK);
    client_close(&holder);
    client_close(&other);
}

static void test_release_by_another_thread(void **state)
{
    (void)state;
    struct client client;
    struct caller other;
    client_open(&client, "/real/owner", NULL);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    caller_start(&other, &client, 0, caller_release);
    assert_int_equal(caller_join(&other), LS_ENOTOWNER);
    assert_true(ls_mutex_held_by_me(&client.mutex));
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ENOTOWNER);
    client_close(&client);
}

static void do_nothing(int number)
{
    (void)number;
}

/* A handler that interrupts system calls: the call goes on all the same. */
static void test_signals_end_no_call(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = do_nothing}, before;
    struct client holder, other;
    struct caller waiter;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    client_open(&holder, "/real/signals", &count_options);
    client_open(&other, "/real/signals", NULL);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    caller_start(&waiter, &other, -1, caller_acquire);
    WAIT_UNTIL(count_participants(&holder) == 2);
    for (int i = 0; i < 50; i++, pause_ms(2))
        assert_int_equal(pthread_kill(waiter.thread, SIGUSR1), 0);
    int done = __atomic_load_n(&waiter.done, __ATOMIC_SEQ_CST);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK);
    int rc = caller_join(&waiter);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(done, 0);
    assert_int_equal(rc, LS_OK);
    client_close(&holder);
    client_close(&other);
}

/* ---- blocking calls in callbacks ---- */

enum { CALLS = 6 };

static struct {
    int in_answer[CALLS];
    int in_event[CALLS];
    int answered;
    int heard;
} deadlock;

static void call_all(struct ls_session *session, struct ls_mutex *mutex, int rc[CALLS])
{
    rc[0] = ls_mutex_acquire(mutex, 100);
    rc[1] = ls_mutex_try(mutex);
    rc[2] = ls_mutex_release(mutex);
    rc[3] = ls_mutex_close(mutex);
    rc[4] = ls_session_close(session);
    rc[5] = ls_session_start(session);
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)owner;
    assert_int_equal(outcome->rc, LS_OK);
    call_all(mutex->session, mutex, deadlock.in_answer);
    __atomic_store_n(&deadlock.answered, 1, __ATOMIC_SEQ_CST);
}

struct deadlock_listener {
    struct ls_session_listener listener; /* first */
    struct ls_mutex *mutex;
};

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    struct deadlock_listener *self = (struct deadlock_listener *)listener;
    if (event != LS_SESSION_CONNECTED || !session_id)
        return;
    call_all(session, self->mutex, deadlock.in_event);
    __atomic_store_n(&deadlock.heard, 1, __ATOMIC_SEQ_CST);
}

static void test_blocking_calls_in_callbacks(void **state)
{
    (void)state;
    static const struct ls_mutex_ops ops = {.on_done = on_done};
    static const struct ls_mutex_options options = {.ops = &ops};
    static const struct ls_session_ops session_ops = {.on_event = on_event};
    struct client client;
    struct deadlock_listener listener = {.mutex = &client.mutex};
    client_init(&client, server(), "/real/callbacks", &options);
    ls_session_listener_init(&listener.listener, &session_ops);
    ls_session_listener_add(&client.session, &listener.listener);
    assert_int_equal(ls_session_start(&client.session), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&client.mutex, 77, -1), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&deadlock.answered, __ATOMIC_SEQ_CST));
    assert_true(__atomic_load_n(&deadlock.heard, __ATOMIC_SEQ_CST));
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(deadlock.in_answer[i], LS_EDEADLK);
        assert_int_equal(deadlock.in_event[i], LS_EDEADLK);
    }
    assert_true(ls_mutex_held_by(&client.mutex, 77));
    assert_int_equal(ls_mutex_release_start(&client.mutex, 77), LS_OK);
    client_close(&client);
}

/* ---- the session dies, the server is away ---- */

static bool attached_or_too_late(zhandle_t *thief)
{
    return zoo_state(thief) == ZOO_CONNECTED_STATE || is_unrecoverable(thief) == ZINVALIDSTATE;
}

/* Somebody else attaches to the session and closes it: the server forgets it as if it had expired (F18). The client,
 * whose link ends by that (F32), may come back between the two and take the session away from the thief: then again. */
static void kill_session(struct client *client)
{
    int64_t number = ls_session_id(&client->session);
    ls_env_lock(client->env);
    clientid_t id = *zoo_client_id(client->session.zh);
    ls_env_unlock(client->env);
    for (int tries = 0; tries < 20 && ls_session_id(&client->session) == number; tries++) {
        zhandle_t *thief = zookeeper_init(server(), NULL, TIMEOUT_MS, &id, NULL, 0);
        assert_non_null(thief);
        WAIT_UNTIL(attached_or_too_late(thief));
        zookeeper_close(thief);
        for (int i = 0; i < 250 && ls_session_id(&client->session) == number; i++)
            pause_ms(2);
    }
}

static void test_session_lost_while_holding(void **state)
{
    (void)state;
    struct client client, other;
    struct caller waiter;
    client_open(&client, "/real/lost", &count_options);
    client_open(&other, "/real/lost", &count_options);
    uint64_t self = client_self(&client);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    int64_t id = ls_session_id(&client.session);
    caller_start(&waiter, &other, PATIENCE_MS, caller_acquire);
    WAIT_UNTIL(count_participants(&client) == 2);
    kill_session(&client);
    WAIT_UNTIL(ls_session_id(&client.session) != id && ls_session_id(&client.session));
    assert_int_equal(ls_mutex_query(&client.mutex, self), LS_NOT_HELD);
    assert_int_equal(ls_mutex_token(&client.mutex, self), 0);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ELOST);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ENOTOWNER);
    assert_int_equal(caller_join(&waiter), LS_OK);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
    client_close(&other);
}

/* The caller has its answer at the deadline, the holder doubts, and afterwards everything goes on. */
static void test_outage(void **state)
{
    (void)state;
    struct client client;
    struct caller other;
    client_open(&client, "/real/outage", &count_options);
    uint64_t self = client_self(&client);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    signal_server(SIGSTOP);
    int64_t start_ms = now_ms();
    caller_start(&other, &client, 400, caller_acquire);
    int rc = caller_join(&other);
    int64_t took_ms = now_ms() - start_ms;
    bool suspended = false;
    for (int i = 0; i < 2000 && !suspended; i++, pause_ms(2))
        suspended = ls_session_state(&client.session) != LS_STATE_CONNECTED;
    enum ls_belief belief = ls_mutex_query(&client.mutex, self);
    int try_rc = ls_mutex_try(&client.mutex);
    int deeper = (int)ls_mutex_depth(&client.mutex, self);
    signal_server(SIGCONT);
    assert_int_equal(rc, LS_ETIMEDOUT);
    assert_in_range(took_ms, 399, 1500);
    assert_true(suspended);
    assert_int_equal(belief, LS_UNKNOWN);
    assert_int_equal(try_rc, LS_OK); /* its own: one level deeper */
    assert_int_equal(deeper, 2);
    client_wait_state(&client, LS_STATE_CONNECTED);
    while (ls_mutex_release(&client.mutex) == LS_OK) {
    }
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    assert_int_equal(ls_mutex_query(&client.mutex, self), LS_HELD);
    WAIT_UNTIL(ls_session_idle(&client.session));
    assert_int_equal(count_participants(&client), 1);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acquire_and_release),
        cmocka_unit_test(test_reentrant),
        cmocka_unit_test(test_threads_exclude_each_other),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_release_by_another_thread),
        cmocka_unit_test(test_signals_end_no_call),
        cmocka_unit_test(test_blocking_calls_in_callbacks),
        cmocka_unit_test(test_session_lost_while_holding),
        cmocka_unit_test(test_outage),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
