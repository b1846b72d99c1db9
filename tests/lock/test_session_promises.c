/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Promises of session.h that the stories of the other tests do not touch: which arguments reach the client library, which
 * error stands for what, and what each call costs. tests/promises/session plants a break of each. */
#include "stage.h"

#include <errno.h>

/* ---- the client library and the environment ---- */

static int flags_of_last;    /* of the last zookeeper_init() */
static int init_error;       /* errno of the next zookeeper_init(), which fails; 0 = it works */
static bool dies_at_birth;   /* the next handle expires before zookeeper_init() has returned */
static int multi_rc;         /* what zoo_amulti() returns; 0 = it works */
static int locks;            /* how often the mutex was taken */
static int timers_left;      /* so many starts of the reopen timer work; -1 = all */
static int waits;            /* how often a thread was put to sleep */
static void (*asleep)(void); /* what others do meanwhile; NULL = nobody would wake it */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
zhandle_t *__real_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
zhandle_t *__wrap_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
int __real_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t completion, const void *data);
int __wrap_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t completion, const void *data);
void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);
void __real_ls_env_lock(struct ls_env *env);
void __wrap_ls_env_lock(struct ls_env *env);
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

zhandle_t *__wrap_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags)
{
    flags_of_last = flags;
    if (init_error) {
        errno = init_error;
        init_error = 0;
        return NULL;
    }
    zhandle_t *zh = __real_zookeeper_init(hosts, watcher, timeout_ms, id, context, flags & ~ZOO_READONLY);
    if (zh && dies_at_birth)
        watcher(zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE, "", context);
    dies_at_birth = false;
    return zh;
}

int __wrap_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                      void_completion_t completion, const void *data)
{
    return multi_rc ? multi_rc : __real_zoo_amulti(zh, count, ops, results, completion, data);
}

void __wrap_ls_env_lock(struct ls_env *env)
{
    locks++;
    __real_ls_env_lock(env);
}

void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)waiter;
    void (*others)(void) = asleep;
    asleep = NULL;
    waits++;
    if (!others) {
        fail_msg("a thread would sleep for ever");
        return;
    }
    ls_env_unlock(env);
    others();
    ls_env_lock(env);
}

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (timers_left >= 0 && strcmp(name, "reopen-timer") == 0 && timers_left-- == 0)
        return LS_ENOMEM;
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

static void begin(void)
{
    timers_left = -1;
    waits = 0;
    stage_set(1);
    stage.options.used_directory = true;
}

static void ready(void)
{
    begin();
    stage_ready();
}

/* ---- threads ---- */

static struct ls_session_counters counters;

#define takes_the_mutex(call)                                                                                \
    do {                                                                                                     \
        int before = locks;                                                                                  \
        (void)(call);                                                                                        \
        if (locks == before)                                                                                 \
            fail_msg("does not take the mutex: %s", #call);                                                  \
    } while (0)

/* The session is not started, so nothing is sent. */
static void never_called(int rc, const void *data)
{
    (void)data;
    fail_msg("nothing was sent, and its answer is %d", rc);
}

static void call_each(struct probe *probe)
{
    struct ls_session *session = &probe->session, other;
    struct ls_session_listener listener;
    struct ls_session_counters copy;
    struct ls_loan loan;
    zoo_op_t op;
    zoo_op_result_t result;
    assert_int_equal(ls_session_init(&other, session->env, session->hosts, 4000, NULL), LS_OK);
    ls_session_listener_init(&listener, &stage_session_ops);
    ls_loan_init(&loan, session->env);
    zoo_check_op_init(&op, "/", -1);
    takes_the_mutex(ls_session_start(session));
    takes_the_mutex(ls_session_lend(session, &loan, session->zh));
    takes_the_mutex((ls_loan_on_event(&loan, session->zh, ZOO_SESSION_EVENT, ZOO_CONNECTING_STATE), 0));
    takes_the_mutex(ls_session_multi(&other, 1, &op, &result, never_called, NULL));
    takes_the_mutex((ls_session_listener_add(session, &listener), 0));
    takes_the_mutex((ls_session_listener_remove(session, &listener), 0));
    takes_the_mutex(ls_session_state(session));
    takes_the_mutex(ls_session_id(session));
    takes_the_mutex(ls_session_timeout_ms(session));
    takes_the_mutex(ls_session_idle(session));
    takes_the_mutex(ls_session_counters(session, &copy));
    takes_the_mutex(ls_session_close(&other));
}

static void each_function_takes_the_mutex(void **state)
{
    (void)state;
    begin();
    stage.session.counters = &counters;
    stage_ready();
    stage_job(0, call_each);
    stage_end();
}

/* ---- threads that sleep: the world has one, so that what others do is done by their hand ---- */

static bool in_call; /* a thread is in a blocking call, and does not sleep */

static void write_line(struct ls_log *log, enum ls_log_level level, const char *text)
{
    (void)log;
    (void)level;
    if (in_call)
        fail_msg("a blocking call runs a callback: %s", text);
}

static void go_on(void)
{
    in_call = false;
    stage_play_meanwhile("settle");
    in_call = true;
}

static void hold_by_blocking(struct probe *probe)
{
    in_call = true;
    asleep = go_on;
    assert_int_equal(ls_mutex_acquire(&probe->mutex[0], -1), LS_OK);
    asleep = go_on;
    assert_int_equal(ls_mutex_release(&probe->mutex[0]), LS_OK);
    in_call = false;
    assert_int_equal(waits, 2);
}

static void a_blocking_call_runs_no_callback(void **state)
{
    (void)state;
    static struct ls_log log;
    log = (struct ls_log){.write = write_line, .level = LS_LOG_DEBUG};
    begin();
    stage.session.log = &log;
    stage_ready();
    stage_job(0, hold_by_blocking);
    play("settle");
    stage_end();
}

static void end_callback(void)
{
    stage_probe(0)->session.busy = 0;
}

static struct ls_session_listener leaving;

/* While a callback runs on another thread. */
static void remove_meanwhile(struct probe *probe)
{
    ls_session_listener_init(&leaving, &stage_session_ops);
    ls_session_listener_add(&probe->session, &leaving);
    probe->session.busy = 1;
    asleep = end_callback;
    ls_session_listener_remove(&probe->session, &leaving);
    assert_int_equal(waits, 1);
}

static void a_removal_waits_for_a_running_callback(void **state)
{
    (void)state;
    ready();
    stage_job(0, remove_meanwhile);
    stage_end();
}

static struct ls_session closing;

static void end_callback_of_closing(void)
{
    closing.busy = 0;
}

static void end_first_close(void)
{
    closing.closing = 0;
    closing.state = LS_STATE_CLOSED;
}

static void close_meanwhile(struct probe *probe)
{
    assert_int_equal(ls_session_init(&closing, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    closing.busy = 1;
    asleep = end_callback_of_closing;
    assert_int_equal(ls_session_close(&closing), LS_OK);
    assert_int_equal(waits, 1);
    assert_int_equal(ls_session_init(&closing, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    closing.closing = 1;
    asleep = end_first_close;
    assert_int_equal(ls_session_close(&closing), LS_OK);
    assert_int_equal(waits, 2);
}

static void a_close_waits_for_callbacks_and_for_another_close(void **state)
{
    (void)state;
    ready();
    stage_job(0, close_meanwhile);
    stage_end();
}

/* ---- what listeners are told ---- */

static struct ls_session_listener listeners[2];
static char heard[64];
static int64_t ids[16];
static int events;

static void note_event(struct ls_session *session, struct ls_session_listener *listener,
                       enum ls_session_event event, int64_t session_id)
{
    (void)session;
    (void)event;
    size_t size = strlen(heard);
    assert_true(size + 1 < sizeof heard && events < 16);
    heard[size] = listener == &listeners[0] ? 'a' : 'b';
    ids[events++] = session_id;
}

static const struct ls_session_ops noting = {.on_event = note_event};

static void add_listeners(struct probe *probe)
{
    for (int i = 0; i < 2; i++) {
        ls_session_listener_init(&listeners[i], &noting);
        ls_session_listener_add(&probe->session, &listeners[i]);
    }
}

static void remove_listeners(struct probe *probe)
{
    for (int i = 0; i < 2; i++)
        ls_session_listener_remove(&probe->session, &listeners[i]);
}

static void lose_a_session(void)
{
    ready();
    memset(heard, 0, sizeof heard);
    events = 0;
    stage_job(0, add_listeners);
    play("expire a", "settle");
    told("a suspended; a lost; a connected");
    stage_job(0, remove_listeners);
}

static void events_name_their_session(void **state)
{
    (void)state;
    lose_a_session();
    int64_t next = ls_session_id(&stage_probe(0)->session);
    assert_int_equal(events, 6);
    assert_int_not_equal(ids[0], 0);
    assert_int_not_equal(ids[0], next);
    assert_int_equal(ids[2], ids[0]); /* the loss is that of the session that was suspended */
    assert_int_equal(ids[4], next);
    stage_end();
}

static void listeners_hear_in_the_order_of_their_adding(void **state)
{
    (void)state;
    lose_a_session();
    assert_string_equal(heard, "ababab");
    stage_end();
}

/* ---- options ---- */

static void the_margin_divides_the_granted_timeout(void **state)
{
    (void)state;
    begin();
    stage.options.timed = true;
    stage.options.session_timeout_ms = 60000; /* the servers grant 4000 */
    stage_open();
    play("pass 200", "a acquire", "pass 1900");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("pass 200");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    stage_end();
}

static void read_only_servers_are_accepted_when_asked_for(void **state)
{
    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        begin();
        stage.session.read_only = wanted;
        stage_ready();
        assert_int_equal((flags_of_last & ZOO_READONLY) != 0, wanted);
        stage_end();
    }
}

enum { SET_WATCHES = 64, WATCH = 61 + 8 }; /* of a contender below /locks/x */

static void a_chroot_counts(void **state)
{
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        begin();
        stage.options.chroot = "/app";
        stage.session.maxbuffer = (uint32_t)(SET_WATCHES + 2 * (WATCH + 4) - missing);
        stage_ready();
        play("a acquire", "a acquire owner=1");
        told(missing ? "a#1 refused EOVERFLOW" : "");
        stage_end();
    }
}

/* ---- the start ---- */

static int start_by(struct probe *probe, const char *hosts, int error)
{
    struct ls_session other;
    assert_int_equal(ls_session_init(&other, probe->session.env, hosts, 4000, NULL), LS_OK);
    init_error = error;
    int rc = ls_session_start(&other);
    assert_int_equal(init_error, 0);
    assert_int_equal(ls_session_state(&other), LS_STATE_NEW);
    assert_int_equal(ls_session_close(&other), LS_OK);
    return rc;
}

static void a_connection_begins_the_count_of_failed_handles_anew(void **state)
{
    (void)state;
    static const struct ls_retry_policy once = {.kind = LS_RETRY_TIMES, .times = 1};
    stage_set(1);
    stage.session.retry = &once;
    stage.options.timed = true;
    stage_open();
    play("pass 200");
    stage_forget();
    for (int i = 0; i < 3; i++) {
        init_error = EMFILE;
        play("expire a", "pass 5000");
        assert_int_equal(init_error, 0);
        told("a suspended; a lost; a connected");
    }
    stage_end();
}

static void start_in_vain(struct probe *probe)
{
    assert_int_equal(start_by(probe, "server:port", EINVAL), LS_EINVAL);
    assert_int_equal(start_by(probe, "server:2181", EINVAL), LS_EZK); /* the name server is out of reach */
    assert_int_equal(start_by(probe, "server:2181", EMFILE), LS_EZK);
    assert_int_equal(start_by(probe, "server:2181", ENOMEM), LS_ENOMEM);
}

static void a_start_tells_why_no_handle_can_be_opened(void **state)
{
    (void)state;
    ready();
    stage_job(0, start_in_vain);
    stage_end();
}

static void start_without_a_timer(struct probe *probe)
{
    struct ls_session other;
    assert_int_equal(ls_session_init(&other, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    dies_at_birth = true;
    timers_left = 1; /* the loss finds memory, the end of the start does not */
    assert_int_equal(ls_session_start(&other), LS_ENOMEM);
    timers_left = -1;
    assert_int_equal(ls_session_state(&other), LS_STATE_FAILED);
    assert_int_equal(ls_session_start(&other), LS_EINVAL);
    assert_int_equal(ls_session_close(&other), LS_OK);
}

static void a_start_without_a_timer_for_the_next_handle_fails_for_good(void **state)
{
    (void)state;
    ready();
    stage_job(0, start_without_a_timer);
    stage_end();
}

/* ---- guarded writes ---- */

enum { UNTOUCHED = 77 };

static zoo_op_t ops[2];
static zoo_op_result_t results[2];
static int completions;

static void on_multi(int rc, const void *data)
{
    assert_int_equal(rc, ZOK);
    assert_ptr_equal(data, ops);
    completions++;
}

static int send_multi(struct probe *probe)
{
    zoo_check_op_init(&ops[0], "/", -1);
    zoo_set_op_init(&ops[1], "/data", "v", 1, -1, NULL);
    results[0].err = results[1].err = UNTOUCHED;
    completions = 0;
    return ls_session_multi(&probe->session, 2, ops, results, on_multi, ops);
}

static void send_taken(struct probe *probe)
{
    assert_int_equal(send_multi(probe), LS_OK);
    assert_int_equal(completions, 0);
}

static void a_multi_sends_all_operations_and_is_answered_once(void **state)
{
    (void)state;
    ready();
    play("create /data");
    stage_job(0, send_taken);
    play("settle");
    assert_int_equal(completions, 1);
    assert_int_equal(results[0].err, ZOK);
    assert_int_equal(results[1].err, ZOK);
    stage_end();
}

static void a_multi_may_be_sent_in_a_callback(void **state)
{
    (void)state;
    ready();
    stage.on_grant = send_taken;
    play("create /data", "a acquire", "settle");
    told("a granted");
    assert_int_equal(completions, 1);
    stage_end();
}

static void send_refused(struct probe *probe)
{
    multi_rc = ZBADARGUMENTS;
    assert_int_equal(send_multi(probe), LS_EZK);
    multi_rc = 0;
}

static void a_multi_that_the_client_refuses_is_told(void **state)
{
    (void)state;
    ready();
    stage_job(0, send_refused);
    play("settle");
    assert_int_equal(completions, 0);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_takes_the_mutex),
        cmocka_unit_test(a_blocking_call_runs_no_callback),
        cmocka_unit_test(a_removal_waits_for_a_running_callback),
        cmocka_unit_test(a_close_waits_for_callbacks_and_for_another_close),
        cmocka_unit_test(events_name_their_session),
        cmocka_unit_test(listeners_hear_in_the_order_of_their_adding),
        cmocka_unit_test(the_margin_divides_the_granted_timeout),
        cmocka_unit_test(read_only_servers_are_accepted_when_asked_for),
        cmocka_unit_test(a_chroot_counts),
        cmocka_unit_test(a_connection_begins_the_count_of_failed_handles_anew),
        cmocka_unit_test(a_start_tells_why_no_handle_can_be_opened),
        cmocka_unit_test(a_start_without_a_timer_for_the_next_handle_fails_for_good),
        cmocka_unit_test(a_multi_sends_all_operations_and_is_answered_once),
        cmocka_unit_test(a_multi_may_be_sent_in_a_callback),
        cmocka_unit_test(a_multi_that_the_client_refuses_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
