/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Deadlines are kept while something else takes long: a name is looked up, an old handle is closed, a user's callback
 * does not return. The calls of the client library that may take seconds are held up here, between this library and
 * the client. */
#include "stage.h"

enum {
    DEADLINE_MS = 100,
    LATE_MS = 1000, /* later than that after the deadline is too late, also on a busy machine */
    SOON_MS = 5000,
};

/* ---- calls that do not return until they are let go ---- */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut;
    int inside;
};

#define GATE_OPEN                                                                                            \
    {                                                                                                        \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                              \
    }

static struct gate opening = GATE_OPEN;
static struct gate closing = GATE_OPEN;
static struct gate callback = GATE_OPEN;

static void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->inside++;
    while (gate->shut)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    gate->inside--;
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_set(struct gate *gate, bool shut)
{
    pthread_mutex_lock(&gate->mutex);
    gate->shut = shut;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static int gate_inside(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    int inside = gate->inside;
    pthread_mutex_unlock(&gate->mutex);
    return inside;
}

/* True if that many calls are held up, soon. What a test finds while a gate is shut it asserts when it is open again:
 * nobody must be left behind it. */
static bool gate_holds(struct gate *gate, int count)
{
    for (int64_t until_ms = now_ms() + SOON_MS; gate_inside(gate) != count; pause_ms(2))
        if (now_ms() > until_ms)
            return false;
    return true;
}

/* ---- the client library ---- */

static bool init_fails;
static int inits;                  /* that have ended */
static int open_handles;           /* of the client library */
static watcher_fn session_watcher; /* the same for every session */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
zhandle_t *__real_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags);
int __real_zookeeper_close(zhandle_t *zh);
zhandle_t *__wrap_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags);
int __wrap_zookeeper_close(zhandle_t *zh);
/* NOLINTEND(bugprone-reserved-identifier) */

zhandle_t *__wrap_zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                                 const clientid_t *clientid, void *context, int flags)
{
    __atomic_store_n(&session_watcher, fn, __ATOMIC_SEQ_CST);
    gate_pass(&opening);
    zhandle_t *zh = NULL;
    int error = EHOSTUNREACH;
    if (!__atomic_load_n(&init_fails, __ATOMIC_SEQ_CST)) {
        zh = __real_zookeeper_init(host, fn, recv_timeout, clientid, context, flags);
        error = errno;
        if (zh)
            __atomic_fetch_add(&open_handles, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_fetch_add(&inits, 1, __ATOMIC_SEQ_CST);
    errno = error;
    return zh;
}

int __wrap_zookeeper_close(zhandle_t *zh)
{
    gate_pass(&closing);
    __atomic_fetch_sub(&open_handles, 1, __ATOMIC_SEQ_CST);
    return __real_zookeeper_close(zh);
}

/* Every handle that was opened is closed, once. */
static int no_handle_is_left(void **state)
{
    (void)state;
    assert_int_equal(__atomic_load_n(&open_handles, __ATOMIC_SEQ_CST), 0);
    return 0;
}

/* ---- clients ---- */

/* Tells the session that it has expired, as the client's completion thread would. */
static void expire(struct client *client)
{
    watcher_fn watcher = __atomic_load_n(&session_watcher, __ATOMIC_SEQ_CST);
    ls_env_lock(client->env);
    zhandle_t *zh = client->session.zh;
    ls_env_unlock(client->env);
    watcher(zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE, "", NULL);
}

static void open_connected(struct client *client, const char *path)
{
    client_open(client, path, NULL);
    client_wait_state(client, LS_STATE_CONNECTED);
}

/* Blocking calls from several threads at once, each with a deadline of its own. */
struct askers {
    struct caller callers[3];
    bool in_time;
};

enum { ASKERS = sizeof(((struct askers *)0)->callers) / sizeof(struct caller) };

static bool is_done(struct caller *caller)
{
    return __atomic_load_n(&caller->done, __ATOMIC_SEQ_CST);
}

/* Lets them ask, and waits until they have their answers or are too late. */
static void ask(struct askers *askers, struct client *client)
{
    int64_t start_ms = now_ms();
    for (int i = 0; i < ASKERS; i++)
        caller_start(&askers->callers[i], client, DEADLINE_MS * (i + 1), caller_acquire);
    askers->in_time = true;
    for (int i = 0; i < ASKERS; i++) {
        int64_t due_ms = start_ms + (int64_t)DEADLINE_MS * (i + 1);
        while (!is_done(&askers->callers[i]) && now_ms() <= due_ms + LATE_MS)
            pause_ms(2);
        askers->in_time = askers->in_time && is_done(&askers->callers[i]) && now_ms() >= due_ms;
    }
}

static void assert_in_time(struct askers *askers)
{
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(caller_join(&askers->callers[i]), LS_ETIMEDOUT);
    assert_true(askers->in_time);
}

/* With a gate shut and somebody behind it. */
static void deadlines_are_kept(struct client *client, struct gate *gate)
{
    struct askers askers;
    bool held_up = gate_holds(gate, 1);
    ask(&askers, client);
    held_up = held_up && gate_inside(gate) == 1;
    gate_set(gate, false);
    assert_in_time(&askers);
    assert_true(held_up);
}

/* ---- tests ---- */

static void while_the_old_handle_is_closed(void **state)
{
    (void)state;
    struct client client;
    open_connected(&client, "/real/deadline/close");
    gate_set(&closing, true);
    expire(&client);
    deadlines_are_kept(&client, &closing);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    client_close(&client);
}

static void while_the_next_handle_is_opened(void **state)
{
    (void)state;
    struct client client;
    open_connected(&client, "/real/deadline/open");
    gate_set(&opening, true);
    expire(&client);
    deadlines_are_kept(&client, &opening);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    client_close(&client);
}

/* Attempts fail, so that it is the retry timer that opens the handle. */
static void while_opening_is_tried_again(void **state)
{
    (void)state;
    struct client client;
    open_connected(&client, "/real/deadline/retry");
    int before = __atomic_load_n(&inits, __ATOMIC_SEQ_CST);
    __atomic_store_n(&init_fails, true, __ATOMIC_SEQ_CST);
    expire(&client);
    WAIT_UNTIL(__atomic_load_n(&inits, __ATOMIC_SEQ_CST) > before);
    gate_set(&opening, true);
    __atomic_store_n(&init_fails, false, __ATOMIC_SEQ_CST);
    deadlines_are_kept(&client, &opening);
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_OK);
    client_close(&client);
}

/* Several sessions of one environment are stuck at once, and one more is well. */
static void while_every_other_session_is_stuck(void **state)
{
    (void)state;
    enum { SESSIONS = 5 };
    struct client clients[SESSIONS];
    struct askers askers[SESSIONS];
    open_connected(&clients[0], "/real/deadline/many");
    for (int i = 1; i < SESSIONS; i++) {
        clients[i].env = clients[0].env;
        assert_int_equal(ls_session_init(&clients[i].session, clients[i].env, server(), TIMEOUT_MS, NULL),
                         LS_OK);
        assert_int_equal(ls_mutex_init(&clients[i].mutex, &clients[i].session, "/real/deadline/many", NULL),
                         LS_OK);
        assert_int_equal(ls_session_start(&clients[i].session), LS_OK);
        client_wait_state(&clients[i], LS_STATE_CONNECTED);
    }
    assert_int_equal(ls_mutex_acquire(&clients[0].mutex, PATIENCE_MS), LS_OK);
    gate_set(&opening, true);
    for (int i = 1; i < SESSIONS; i++)
        expire(&clients[i]);
    bool all_stuck = gate_holds(&opening, SESSIONS - 1); /* none waits for another one's handle */
    for (int i = 0; i < SESSIONS; i++)
        ask(&askers[i], &clients[i]);
    gate_set(&opening, false);
    for (int i = 0; i < SESSIONS; i++)
        assert_in_time(&askers[i]);
    assert_true(all_stuck);
    for (int i = SESSIONS - 1; i >= 0; i--) {
        assert_int_equal(ls_mutex_close(&clients[i].mutex), LS_OK);
        assert_int_equal(ls_session_close(&clients[i].session), LS_OK);
    }
    ls_env_pthread_close(clients[0].env);
}

static void on_done_that_takes_long(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)mutex;
    (void)owner;
    (void)outcome;
    gate_pass(&callback);
}

static const struct ls_mutex_ops slow_ops = {.on_done = on_done_that_takes_long};
static const struct ls_mutex_options slow_options = {.ops = &slow_ops};

/* The callback of one deadline is called by a thread that runs timers. */
static void while_a_callback_does_not_return(void **state)
{
    (void)state;
    enum { OWNER = 1000000 };
    struct client client, holder;
    open_connected(&holder, "/real/deadline/callback");
    assert_int_equal(ls_mutex_acquire(&holder.mutex, PATIENCE_MS), LS_OK);
    client_open(&client, "/real/deadline/callback", &slow_options);
    client_wait_state(&client, LS_STATE_CONNECTED);
    gate_set(&callback, true);
    assert_int_equal(ls_mutex_acquire_start(&client.mutex, OWNER, 1), LS_OK);
    deadlines_are_kept(&client, &callback);
    client_close(&client);
    client_close(&holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(while_the_old_handle_is_closed, no_handle_is_left),
        cmocka_unit_test_teardown(while_the_next_handle_is_opened, no_handle_is_left),
        cmocka_unit_test_teardown(while_opening_is_tried_again, no_handle_is_left),
        cmocka_unit_test_teardown(while_every_other_session_is_stuck, no_handle_is_left),
        cmocka_unit_test_teardown(while_a_callback_does_not_return, no_handle_is_left),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
