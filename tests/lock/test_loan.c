/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A handle on loan: what the client library is asked for, and how its session is closed: while the janitor is
 * at work, and while the link breaks or the handle dies. */
#include "lock/claim.h"
#include "stage.h"

#include <lockstep/semaphore.h>

static struct ls_session borrower;
static struct ls_session_options borrower_options;
static struct ls_mutex mutex;
static struct ls_loan loan;
static zhandle_t *handle;
static bool killed; /* the handle dies while somebody waits */

static const char *const *meanwhile; /* what happens while a close waits, line by line until it is woken */
static bool woken;                   /* the thread that sleeps */
static int refusals;                 /* that many deletes are not taken from now on */
static int losses;                   /* and of that many others the answer is lost, though the link stands */
static bool no_timer;                /* there is no memory for the janitor's */
static int state_shown;              /* what handles show in place of their state; 0 = their state */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_state(zhandle_t *zh);
int __wrap_zoo_state(zhandle_t *zh);
int __real_is_unrecoverable(zhandle_t *zh);
int __wrap_is_unrecoverable(zhandle_t *zh);
void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);
void __wrap_ls_env_wake(struct ls_env *env, struct ls_waiter *waiter);
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data);
int __real_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data);
int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data);
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zoo_state(zhandle_t *zh)
{
    return state_shown ? state_shown : __real_zoo_state(zh);
}

int __wrap_is_unrecoverable(zhandle_t *zh)
{
    if (state_shown)
        return state_shown < 0 ? ZINVALIDSTATE : ZOK;
    return __real_is_unrecoverable(zh);
}

static void kill_handle(void)
{
    killed = false;
    ls_loan_on_event(&loan, handle, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE);
    if (loan.session != NULL && loan.session->ending) {
        /* Another thread that waits for the connection is not what the close waits for. */
        assert_int_equal(ls_session_wait_connected(loan.session, -1), LS_ECLOSED);
    }
}

/* The thread that sleeps is the world's only one: others go on from here. */
static void go_on(void)
{
    if (!meanwhile || !*meanwhile)
        fail_msg("a close would wait for ever");
    else
        stage_play_meanwhile(*meanwhile++);
}

void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)waiter;
    ls_env_unlock(env);
    for (woken = false; !woken;)
        if (killed)
            kill_handle();
        else
            go_on();
    ls_env_lock(env);
}

void __wrap_ls_env_wake(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    (void)waiter;
    woken = true;
}

static void_completion_t lost_completion;

static void answer_is_lost(int rc, const void *data)
{
    (void)rc;
    lost_completion(ZOPERATIONTIMEOUT, data);
}

int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data)
{
    if (refusals > 0) {
        refusals--;
        return ZSYSTEMERROR;
    }
    if (losses == 0)
        return __real_zoo_adelete(zh, path, version, completion, data);
    losses--;
    lost_completion = completion;
    return __real_zoo_adelete(zh, path, version, answer_is_lost, data);
}

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (no_timer && strcmp(name, "janitor-timer") == 0)
        return LS_ENOMEM;
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

/* It would take the application's own watches along. */
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data)
{
    (void)path, (void)type, (void)local, (void)done, (void)data;
    assert_ptr_not_equal(zh, handle);
    return ZSYSTEMERROR;
}

static void on_app_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    (void)context;
    ls_loan_on_event(&loan, zh, type, state);
}

static void tell_done(struct ls_mutex *of, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)of;
    stage_add(stage.told, "%d %s", (int)owner, stage_err(outcome->rc));
}

static const struct ls_mutex_ops ops = {.on_done = tell_done};
static const struct ls_mutex_options options = {.ops = &ops};

static void open_handle(struct probe *probe)
{
    handle = zookeeper_init(probe->session.hosts, on_app_event, 4000, NULL, &loan, 0);
    assert_non_null(handle);
}

static void lend(struct probe *probe)
{
    assert_int_equal(
        ls_session_init(&borrower, probe->session.env, probe->session.hosts, 4000, &borrower_options), LS_OK);
    assert_int_equal(ls_mutex_init(&mutex, &borrower, "/locks/x", &options), LS_OK);
    memset(&loan, 0xff, sizeof loan);
    ls_loan_init(&loan, probe->session.env);
    assert_null(loan.session);
    open_handle(probe);
    assert_int_equal(ls_session_lend(NULL, &loan, handle), LS_EINVAL);
    assert_int_equal(ls_session_lend(&borrower, NULL, handle), LS_EINVAL);
    assert_int_equal(ls_session_lend(&borrower, &loan, NULL), LS_EINVAL);
    assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_OK);
}

static void ask(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, -1), LS_OK);
}

static void cancel(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_cancel(&mutex, 1), LS_OK);
}

static void release(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_release_start(&mutex, 1), LS_OK);
}

static void give_back(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_close(&borrower), LS_OK);
    assert_null(loan.session);
    assert_null(borrower.zh);
    assert_ptr_equal(zoo_get_context(handle), &loan); /* as its owner has set it */
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    ls_loan_on_event(&loan, handle, ZOO_SESSION_EVENT,
                     ZOO_EXPIRED_SESSION_STATE); /* of no interest any more */
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CLOSED);
    assert_int_equal(zookeeper_close(handle), ZOK);
}

/* The removal of the node is in flight when the handle dies: its answer may never come, or come with the
 * close. */
static void give_back_what_dies(struct probe *probe)
{
    (void)probe;
    killed = true;
    assert_int_equal(ls_session_close(&borrower), LS_ELOST);
    assert_false(killed);
    assert_ptr_equal(loan.session, &borrower);
    assert_int_equal(zookeeper_close(handle), ZOK);
    assert_int_equal(ls_session_close(&borrower), LS_OK);
    assert_null(loan.session);
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CLOSED);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

static void ready(void)
{
    killed = false;
    meanwhile = NULL;
    refusals = 0;
    losses = 0;
    no_timer = false;
    borrower_options = (struct ls_session_options){.no_refresh = true};
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
}

static void begin(void)
{
    ready();
    stage_job(0, lend);
    play("settle");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
}

/* A watch is removed as the pair that it is, and a wake-up finds its claim without the handle's context. */
static void watches_come_and_go(void **state)
{
    (void)state;
    begin();
    play("a acquire", "settle");
    stage_job(0, ask);
    play("settle");
    assert_int_equal(fakezk_watches(0), 1);
    stage_job(0, cancel);
    play("settle");
    told("a granted; 1 ECANCELED");
    assert_int_equal(stage.nodes, 1);
    stage_job(0, ask);
    play("settle", "a release", "settle");
    told("a freed; 1 ok");
    stage_job(0, release);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void ask_for_two(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_acquire_start(&mutex, 2, -1), LS_OK);
}

static void release_second(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_release_start(&mutex, 2), LS_OK);
}

/* Each of several claims hears of its own predecessor, wherever it stands in the session's list. */
static void each_claim_on_loan_is_woken(void **state)
{
    (void)state;
    begin();
    play("a acquire", "settle");
    stage_job(0, ask);
    play("settle");
    stage_job(0, ask_for_two);
    play("settle", "a release", "settle");
    told("a granted; a freed; 1 ok");
    stage_job(0, release);
    play("settle");
    told("2 ok");
    stage_job(0, release_second);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void open_only(struct probe *probe)
{
    ls_loan_init(&loan, probe->session.env);
    open_handle(probe);
}

static void lend_what_is_connected(struct probe *probe)
{
    assert_int_equal(zoo_state(handle), ZOO_CONNECTED_STATE);
    assert_int_equal(ls_session_init(&borrower, probe->session.env, probe->session.hosts, 1, NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&mutex, &borrower, "/locks/x", &options), LS_OK);
    assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_OK);
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    assert_int_equal(ls_session_timeout_ms(&borrower), 4000); /* the handle's */
}

/* No event will tell. */
static void a_handle_that_is_connected_already_is_of_use_at_once(void **state)
{
    (void)state;
    ready();
    stage_job(0, open_only);
    play("settle");
    stage_job(0, lend_what_is_connected);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void pass_over(int rc, const struct Stat *stat, const void *data)
{
    (void)rc;
    (void)stat;
    (void)data;
}

static void ask_of_the_handle(struct probe *probe)
{
    (void)probe;
    assert_int_equal(zoo_aexists(handle, "/", 0, pass_over, NULL), ZOK);
}

static void close_own(struct probe *probe);

/* The application has been told of the loss, and the handle still shows CONNECTED (F1): no event will tell the session. */
static void lend_behind_a_loss(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage.options.seed = 16;
    stage_ready();
    stage_job(0, close_own);
    stage_job(0, open_only);
    play("settle");
    stage_job(0, ask_of_the_handle);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    stage_job(0, lend_what_is_connected);
}

static void a_handle_that_only_seems_connected_is_found_out(void **state)
{
    (void)state;
    lend_behind_a_loss();
    play("deliver a exists-reply", "refuse a");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    play("deliver a sync-reply");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_SUSPENDED);
    play("settle");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    stage_job(0, give_back);
    stage_end();
}

static void a_handle_that_seems_connected_and_soon_is_needs_no_word(void **state)
{
    (void)state;
    lend_behind_a_loss();
    play("settle");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    stage_job(0, ask);
    play("settle");
    told("1 ok");
    stage_job(0, release);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

/* Once an event has been told, the loss of an answer says nothing that events do not. */
static void after_the_first_event_only_events_count(void **state)
{
    (void)state;
    lend_behind_a_loss();
    play("deliver a exists-reply", "connect a s1", "deliver a session-connected",
         "cut a keep=0 apply=1 rc=-4", "connect a s1", "deliver a session-connecting", "deliver a sync-reply",
         "deliver a session-connected");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    stage_job(0, give_back);
    stage_end();
}

/* Credentials and certificates belong to who opens the handle. */
static void lend_with_access(struct probe *probe)
{
    static const struct ls_auth auth = {.scheme = "digest", .certificate = "user:secret", .size = 11};
    static const struct ls_session_options with[] = {{.auth = &auth, .auth_count = 1}, {.tls = "server.pem"}};
    ls_loan_init(&loan, probe->session.env);
    open_handle(probe);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ls_session_init(&borrower, probe->session.env, probe->session.hosts, 4000, &with[i]),
                         LS_OK);
        assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_EINVAL);
        assert_null(loan.session);
    }
    assert_int_equal(zookeeper_close(handle), ZOK);
}

static void a_session_with_credentials_of_its_own_is_not_lent_to(void **state)
{
    (void)state;
    ready();
    stage_job(0, lend_with_access);
    stage_end();
}

static void lend_too_early(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_EINVAL);
}

static void lend_the_next(struct probe *probe)
{
    kill_handle();
    assert_int_equal(ls_session_state(&borrower), LS_STATE_LOST);
    assert_int_equal(zookeeper_close(handle), ZOK);
    open_handle(probe);
    assert_int_equal(ls_session_lend(&borrower, &loan, handle), LS_OK);
}

/* Only after a loss; who has waited queues again. */
static void the_next_handle_is_lent_after_a_loss(void **state)
{
    (void)state;
    begin();
    play("a acquire", "settle");
    stage_job(0, ask);
    play("settle");
    stage_job(0, lend_too_early);
    stage_job(0, lend_the_next);
    play("settle", "a release", "settle");
    told("a granted; a freed; 1 ok");
    stage_job(0, release);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void give_back_what_is_lost(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_state(&borrower), LS_STATE_LOST);
    assert_ptr_equal(borrower.zh, handle);
    assert_int_equal(zookeeper_close(handle), ZOK);
    assert_int_equal(ls_session_close(&borrower), LS_OK);
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
}

static void try_and_lose(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_acquire_start(&mutex, 1, 0), LS_OK);
    kill_handle();
}

/* An application may tell of the end without a broken link before it. */
static void a_try_ends_with_the_session(void **state)
{
    (void)state;
    begin();
    stage_job(0, try_and_lose);
    told("1 EBUSY");
    stage_job(0, give_back_what_is_lost);
    stage_end();
}

static void lose_handle(struct probe *probe)
{
    (void)probe;
    kill_handle();
}

static void a_lost_session_on_loan_opens_no_handle(void **state)
{
    (void)state;
    begin();
    stage_job(0, lose_handle);
    play("settle");
    stage_job(0, give_back_what_is_lost);
    stage_end();
}

/* Another environment's loan, and handles that are dead. */
static void lend_in_vain(struct probe *probe)
{
    struct ls_loan other;
    ls_loan_init(&loan, probe->session.env);
    ls_loan_init(&other, (struct ls_env *)&other); /* not looked at */
    open_handle(probe);
    assert_int_equal(ls_session_init(&borrower, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    assert_int_equal(ls_session_lend(&borrower, &other, handle), LS_EINVAL);
    state_shown = ZOO_EXPIRED_SESSION_STATE;
    int expired = ls_session_lend(&borrower, &loan, handle);
    state_shown = ZOO_AUTH_FAILED_STATE;
    int refused = ls_session_lend(&borrower, &loan, handle);
    state_shown = 0;
    assert_int_equal(expired, LS_ELOST);
    assert_int_equal(refused, LS_EAUTHFAILED);
    assert_null(loan.session);
    assert_int_equal(zookeeper_close(handle), ZOK);
}

static void what_cannot_be_lent_is_refused(void **state)
{
    (void)state;
    ready();
    stage_job(0, lend_in_vain);
    stage_end();
}

/* A watch of the application's, and a second handle of its own. */
static void tell_of_others(struct probe *probe)
{
    ls_loan_on_event(&loan, handle, ZOO_CHANGED_EVENT, ZOO_EXPIRED_SESSION_STATE);
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    ls_loan_on_event(&loan, probe->session.zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE);
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
}

static void events_that_are_not_the_sessions_are_passed_over(void **state)
{
    (void)state;
    begin();
    stage_job(0, tell_of_others);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

static void a_handle_that_dies_while_it_is_given_back_is_closed_first(void **state)
{
    (void)state;
    begin();
    stage_job(0, ask);
    play("settle");
    told("1 ok");
    stage_job(0, give_back_what_dies);
    stage_end();
}

/* ---- a close while the janitor is at work ---- */

static int answer; /* of the close */
static uint32_t heap_before;

static void close_own(struct probe *probe)
{
    assert_int_equal(ls_session_close(&probe->session), LS_OK);
    heap_before = stage_heap(probe);
}

static void close_borrower(struct probe *probe)
{
    (void)probe;
    answer = ls_session_close(&borrower);
}

static void close_handle(struct probe *probe)
{
    (void)probe;
    assert_int_equal(zookeeper_close(handle), ZOK);
}

/* With no other session in the process, so that all labels mean the handle on loan. */
static void begin_alone(void)
{
    ready();
    stage_job(0, close_own);
    stage_job(0, lend);
    play("settle");
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CONNECTED);
    stage_forget();
}

static void begin_held(void)
{
    begin_alone();
    stage_job(0, ask);
    play("settle");
    told("1 ok");
    stage_forget();
}

static int close_while(const char *const *lines)
{
    meanwhile = lines;
    stage_job(0, close_borrower);
    assert_null(*meanwhile); /* it has waited for all of them */
    assert_int_equal(ls_session_state(&borrower), LS_STATE_CLOSED);
    assert_null(loan.session);
    return answer;
}
#define closes_while(...) close_while((const char *const[]){__VA_ARGS__, NULL})

static void close_mutex(struct probe *probe)
{
    assert_int_equal(ls_mutex_close(&mutex), LS_OK);
    assert_int_equal(stage_heap(probe), heap_before);
}

/* The handle lives on and is its owner's: nothing of ours comes back to it. */
static void end_alone(int nodes)
{
    stage_job(0, close_mutex);
    stage_forget();
    play("settle");
    asked("");
    assert_int_equal(fakezk_watches(0), 0);
    assert_int_equal(stage.nodes, nodes);
    stage_job(0, close_handle);
    stage_end();
}

/* ---- a shared count ---- */

static struct ls_semaphore semaphore;
static uint32_t count;

static void take_count(struct ls_semaphore *of, void *user, uint32_t capacity)
{
    assert_ptr_equal(of, &semaphore);
    *(uint32_t *)user = capacity;
}

static void follow(struct probe *probe)
{
    (void)probe;
    count = 0;
    assert_int_equal(ls_semaphore_init(&semaphore, &borrower, "/locks/s", 1, NULL), LS_OK);
    assert_int_equal(ls_semaphore_follow(&semaphore, "/locks/count", take_count, &count), LS_OK);
}

static void write_two(struct probe *probe)
{
    (void)probe;
    assert_int_equal(zoo_aset(handle, "/locks/count", "\0\0\0\2", 4, -1, pass_over, NULL), ZOK);
}

static void close_semaphore(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_close(&semaphore), LS_OK);
}

static void a_count_is_followed_on_loan(void **state)
{
    (void)state;
    begin_alone();
    stage_job(0, follow);
    play("settle", "create /locks/count", "settle");
    stage_job(0, write_two);
    play("settle");
    assert_int_equal(count, 2);
    assert_int_equal(fakezk_watches(0), 1);
    stage_job(0, close_semaphore);
    play("settle");
    assert_int_equal(fakezk_watches(0), 0);
    stage_job(0, follow);
    play("settle");
    stage_forget();
    assert_int_equal(closes_while("apply s1 a unwatch", "deliver a unwatch-reply"), LS_OK);
    stage_job(0, close_semaphore);
    end_alone(0);
}

static void a_close_waits_for_the_pause_of_the_janitor(void **state)
{
    (void)state;
    begin_held();
    refusals = 1; /* the close's own try */
    losses = 1;   /* the janitor's first one */
    assert_int_equal(closes_while("fire a janitor-timer", "apply s1 a delete", "deliver a delete-reply",
                                  "fire a janitor-timer", "apply s1 a delete", "deliver a delete-reply"),
                     LS_OK);
    asked("delete; delete");
    end_alone(0);
}

/* The claim was given up long before the close begins. */
static void a_close_waits_for_what_the_janitor_has_already(void **state)
{
    (void)state;
    begin_held();
    losses = 1;
    stage_job(0, release);
    play("apply s1 a delete", "deliver a delete-reply");
    told("");
    assert_false(ls_session_idle(&borrower));
    assert_int_equal(closes_while("fire a janitor-timer", "apply s1 a delete", "deliver a delete-reply"),
                     LS_OK);
    asked("delete; delete");
    end_alone(0);
}

/* Nothing is in flight and nobody has given it up, but it stands on the server still. */
static void a_close_waits_for_a_release_that_could_not_be_sent(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    stage_job(0, release);
    asked("");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(closes_while("fire a janitor-timer", "apply s1 a delete", "deliver a delete-reply"),
                     LS_OK);
    asked("delete");
    end_alone(0);
}

static void a_close_waits_for_a_request_of_the_janitor(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    stage_job(0, release);
    play("fire a janitor-timer", "apply s1 a delete");
    assert_int_equal(closes_while("deliver a delete-reply"), LS_OK);
    end_alone(0);
}

static void a_close_waits_for_the_search_of_the_janitor(void **state)
{
    (void)state;
    begin_alone();
    stage_job(0, ask);
    play("apply s1 a create", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting", "connect a s1",
         "deliver a create-reply", "deliver a list-reply");
    stage_job(0, cancel);
    told("1 ECANCELED");
    play("deliver a session-connected");
    stage_forget();
    assert_int_equal(closes_while("apply s1 a sync", "apply s1 a list", "deliver a sync-reply",
                                  "deliver a list-reply", "apply s1 a delete", "deliver a delete-reply"),
                     LS_OK);
    end_alone(0);
}

/* ---- and the link breaks ---- */

static void a_close_does_not_wait_for_a_new_link(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    assert_int_equal(closes_while("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting"), LS_EUNSURE);
    play("settle"); /* the handle connects again, for its owner */
    end_alone(1);
}

/* The delete is lost with the link, or only its answer is: which one, nobody knows. */
static void a_close_waits_until_the_lost_request_is_answered(void **state)
{
    (void)state;
    for (int applied = 0; applied < 2; applied++) {
        begin_held();
        refusals = 1;
        stage_job(0, release);
        play("fire a janitor-timer");
        assert_int_equal(closes_while(applied ? "cut a keep=0 apply=1 rc=-4" : "cut a keep=0 apply=0 rc=-4",
                                      "deliver a session-connecting", "deliver a delete-reply"),
                         LS_EUNSURE);
        play("settle");
        end_alone(!applied);
    }
}

/* The link is back before the lost answer is told. */
static void a_close_goes_on_over_the_next_link(void **state)
{
    (void)state;
    begin_held();
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    stage_job(0, release);
    play("connect a s1", "deliver a session-connected");
    assert_int_equal(closes_while("apply s1 a delete", "deliver a delete-reply"), LS_OK);
    end_alone(0);
}

/* ---- and the session expires ---- */

/* The handle is dead when the close is told of it: the server has taken the node along. */
static void a_handle_that_dies_in_the_pause_needs_no_second_close(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    killed = true;
    assert_int_equal(closes_while(NULL), LS_OK);
    assert_false(killed);
    stage_job(0, close_mutex);
    stage_job(0, close_handle);
    stage_end();
}

/* The link is told broken before the session is told dead, and that ends the close. */
static void a_session_that_expires_meanwhile_leaves_the_close_unsure(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    assert_int_equal(closes_while("expire a", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting"),
                     LS_EUNSURE);
    play("settle");
    end_alone(0);
    begin_held();
    stage_job(0, release);
    assert_int_equal(closes_while("expire a", "apply s1 a delete refused", "deliver a delete-reply",
                                  "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting"),
                     LS_EUNSURE);
    play("settle");
    end_alone(0);
}

/* ---- and the janitor cannot go on ---- */

static void a_close_without_a_timer_does_not_wait_for_it(void **state)
{
    (void)state;
    begin_held();
    refusals = 1;
    no_timer = true;
    assert_int_equal(closes_while(NULL), LS_EUNSURE);
    end_alone(1);
}

/* The last answer that it waits for gives nobody anything to hear. */
static void a_close_is_woken_by_an_answer_that_says_nothing(void **state)
{
    (void)state;
    ready();
    borrower_options.no_refresh = false;
    stage_job(0, close_own);
    stage_job(0, lend);
    play("settle");
    stage_job(0, ask);
    play("settle");
    play("fire a fresh-timer");
    refusals = 1;
    no_timer = true;
    assert_int_equal(closes_while("apply s1 a sync", "deliver a sync-reply"), LS_EUNSURE);
    end_alone(1);
}

/* The parent may be changed by nobody: a node stays, whether it was left before the close or is left by it. */
static void a_close_tells_of_nodes_that_may_not_be_removed(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        begin_alone();
        play("remove /locks/x", "create /locks/x perms=5");
        stage_job(0, ask);
        play("settle");
        told("1 ok");
        if (before) {
            stage_job(0, release);
            play("settle");
            assert_true(ls_session_idle(&borrower));
            assert_int_equal(closes_while(NULL), LS_EUNSURE);
        } else {
            assert_int_equal(closes_while("apply s1 a delete", "deliver a delete-reply"), LS_EUNSURE);
        }
        end_alone(1);
    }
}

/* What the server would not remove went with the session. */
static void a_close_of_the_next_session_does_not_tell_of_the_last(void **state)
{
    (void)state;
    begin_alone();
    play("remove /locks/x", "create /locks/x perms=5");
    stage_job(0, ask);
    play("settle");
    stage_job(0, release);
    play("settle");
    stage_job(0, lend_the_next);
    play("settle");
    assert_int_equal(closes_while(NULL), LS_OK);
    end_alone(0);
}

static void tell_of_a_session_event(struct probe *probe)
{
    (void)probe;
    lock_loan_on_event(handle, ZOO_SESSION_EVENT, ZOO_CONNECTING_STATE, NULL, &loan);
}

/* It has no path, and says nothing about a node. */
static void a_session_event_at_the_watch_of_a_waiter_is_passed_over(void **state)
{
    (void)state;
    begin();
    play("a acquire", "settle");
    stage_job(0, ask);
    play("settle");
    stage_job(0, tell_of_a_session_event);
    told("a granted");
    play("a release", "settle");
    told("a freed; 1 ok");
    stage_job(0, release);
    play("settle");
    stage_job(0, give_back);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_that_is_connected_already_is_of_use_at_once),
        cmocka_unit_test(a_handle_that_only_seems_connected_is_found_out),
        cmocka_unit_test(a_handle_that_seems_connected_and_soon_is_needs_no_word),
        cmocka_unit_test(after_the_first_event_only_events_count),
        cmocka_unit_test(a_session_with_credentials_of_its_own_is_not_lent_to),
        cmocka_unit_test(the_next_handle_is_lent_after_a_loss),
        cmocka_unit_test(a_lost_session_on_loan_opens_no_handle),
        cmocka_unit_test(what_cannot_be_lent_is_refused),
        cmocka_unit_test(events_that_are_not_the_sessions_are_passed_over),
        cmocka_unit_test(a_try_ends_with_the_session),
        cmocka_unit_test(watches_come_and_go),
        cmocka_unit_test(each_claim_on_loan_is_woken),
        cmocka_unit_test(a_handle_that_dies_while_it_is_given_back_is_closed_first),
        cmocka_unit_test(a_count_is_followed_on_loan),
        cmocka_unit_test(a_close_waits_for_the_pause_of_the_janitor),
        cmocka_unit_test(a_close_waits_for_what_the_janitor_has_already),
        cmocka_unit_test(a_close_waits_for_a_release_that_could_not_be_sent),
        cmocka_unit_test(a_close_waits_for_a_request_of_the_janitor),
        cmocka_unit_test(a_close_waits_for_the_search_of_the_janitor),
        cmocka_unit_test(a_close_does_not_wait_for_a_new_link),
        cmocka_unit_test(a_close_waits_until_the_lost_request_is_answered),
        cmocka_unit_test(a_close_goes_on_over_the_next_link),
        cmocka_unit_test(a_handle_that_dies_in_the_pause_needs_no_second_close),
        cmocka_unit_test(a_session_that_expires_meanwhile_leaves_the_close_unsure),
        cmocka_unit_test(a_close_without_a_timer_does_not_wait_for_it),
        cmocka_unit_test(a_close_is_woken_by_an_answer_that_says_nothing),
        cmocka_unit_test(a_close_tells_of_nodes_that_may_not_be_removed),
        cmocka_unit_test(a_close_of_the_next_session_does_not_tell_of_the_last),
        cmocka_unit_test(a_session_event_at_the_watch_of_a_waiter_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
