/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The session: what listeners are told, in which order and how often; new handles, retry policies, belief, close. */
#include "lock/claim.h"
#include "stage.h"
#include "support/handles.h"

/* ---- closing tells, where a test wants to know ---- */

static bool show_closing;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zookeeper_close(zhandle_t *zh);
int __wrap_zookeeper_close(zhandle_t *zh);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zookeeper_close(zhandle_t *zh)
{
    if (show_closing)
        stage_add(stage.told, "the handle is closed");
    return __real_zookeeper_close(zh);
}

static void one(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
}

/* ---- what listeners are told ---- */

static void a_first_connection_is_told_once(void **state)
{
    (void)state;
    stage_set(1);
    stage_open();
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_CONNECTING);
    assert_int_equal(ls_session_id(&stage_probe(0)->session), 0);
    play("settle");
    told("a connected");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_CONNECTED);
    assert_int_not_equal(ls_session_id(&stage_probe(0)->session), 0);
    assert_int_equal(ls_session_timeout_ms(&stage_probe(0)->session), 4000);
    stage_end();
}

static void a_broken_link_is_suspended_and_reconnected(void **state)
{
    (void)state;
    one();
    int64_t id = stage_probe(0)->session.id;
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    told("a suspended");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_SUSPENDED);
    play("refuse a", "refuse a", "settle");
    told("a reconnected");
    assert_int_equal(ls_session_id(&stage_probe(0)->session), id);
    stage_end();
}

/* As if a listener were busy: nothing is delivered between the events. */
static void lose_what_was_never_told(struct probe *probe)
{
    struct ls_session *session = &probe->session;
    int64_t told_id = session->told_id;
    ls_env_lock(session->env);
    session->told_id = 0;
    lock_queue_event(session, LS_SESSION_CONNECTED);
    lock_queue_event(session, LS_SESSION_SUSPENDED);
    lock_queue_event(session, LS_SESSION_READ_ONLY);
    lock_queue_event(session, LS_SESSION_LOST);
    assert_int_equal(session->events, 0);
    session->told_id = told_id;
    ls_env_unlock(session->env);
}

static void a_session_that_was_never_told_of_is_not_told_to_be_lost(void **state)
{
    (void)state;
    one();
    stage_job(0, lose_what_was_never_told);
    told("");
    stage_end();
}

static void exactly_one_lost_lies_between_two_sessions(void **state)
{
    (void)state;
    one();
    int64_t id = stage_probe(0)->session.id;
    for (int i = 0; i < 3; i++) {
        play("expire a", "settle");
        told("a suspended; a lost; a connected");
        assert_int_not_equal(ls_session_id(&stage_probe(0)->session), id);
        id = ls_session_id(&stage_probe(0)->session);
    }
    play("cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "refuse a", "settle");
    told("a suspended; a lost; a connected");
    stage_end();
}

/* The client may take its time to say good-bye. */
static void who_waits_is_answered_before_the_handle_is_closed(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    stage_forget();
    show_closing = true;
    play("b stop");
    show_closing = false;
    told("b failed ECLOSED; the handle is closed");
    stage_end();
}

static int births;

static void end_at_birth(zhandle_t *zh, watcher_fn watcher, void *context)
{
    if (++births <= 2)
        watcher(zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE, "", context);
}

/* As its thread does when it is quicker than the one that opens the handle. */
static void fire_reopen_timer(void)
{
    struct ls_env *env = stage_probe(0)->session.env;
    int i = 0;
    while (i < timer_count(0) && strcmp(timer_name(timer_at(0, i)), "reopen-timer") != 0)
        i++;
    assert_true(i < timer_count(0));
    struct timer fired = *timer_at(0, i);
    ls_env_lock(env);
    ls_env_timer_stop(env, fired.timer);
    ((ls_timer_fn)code_unpack_fn(fired.fn))(fired.ctx);
    ls_env_unlock(env);
}

static void end_at_birth_and_fire(zhandle_t *zh, watcher_fn watcher, void *context)
{
    end_at_birth(zh, watcher, context);
    int before = births;
    if (births <= 2)
        fire_reopen_timer();
    assert_int_equal(births, before); /* who opens the handle looks after it */
}

static void a_handle_that_ends_while_it_is_opened_is_followed_by_another(void **state)
{
    (void)state;
    void (*const ways[])(zhandle_t *, watcher_fn, void *) = {end_at_birth, end_at_birth_and_fire};
    for (int i = 0; i < 2; i++) {
        one();
        births = 0;
        handles_opened = ways[i];
        play("expire a", "settle");
        handles_opened = NULL;
        told("a suspended; a lost; a connected");
        assert_int_equal(births, 3);
        assert_int_equal(__builtin_popcount(fakezk_handles(0)), 1);
        stage_end();
    }
}

static void tell_of_a_node(zhandle_t *zh, watcher_fn watcher, void *context)
{
    watcher(zh, ZOO_CHANGED_EVENT, ZOO_CONNECTED_STATE, "/x", context);
}

/* The handle's user may have asked for it. */
static void an_event_of_a_node_says_nothing_of_the_session(void **state)
{
    (void)state;
    stage_set(1);
    handles_opened = tell_of_a_node;
    stage_open();
    handles_opened = NULL;
    told("");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_CONNECTING);
    play("settle");
    told("a connected");
    stage_end();
}

static void a_session_that_expires_before_it_was_told_of_is_not_told(void **state)
{
    (void)state;
    stage_set(1);
    stage_open();
    play("connect a s1", "cut a keep=0 apply=0 rc=-4", "expire a", "bury a", "connect a s1", "settle");
    told("a connected; a suspended; a lost; a connected");
    stage_end();
}

/* A server that hands out another session without a word (Z44). */
static void a_silently_replaced_session_is_lost(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.defects = WORLD_DEFECT_SILENT_SESSION;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    told("a granted");
    play("expire a", "settle");
    assert_non_null(strstr(stage.told, "a lost"));
    assert_null(strstr(strstr(stage.told, "a lost") + 1, "a lost"));
    assert_non_null(strstr(stage.told, "b granted"));
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_NOT_HELD);
    stage_end();
}

static void callbacks_inside_init_are_served(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.callbacks_in_init = true;
    stage_open();
    told("a connected"); /* before zookeeper_init() has returned (F19) */
    play("a acquire", "settle");
    told("a granted");
    play("expire a", "settle");
    told("a suspended; a lost; a connected");
    stage_end();
}

static int heard;

static void hear(struct ls_session *session, struct ls_session_listener *listener,
                 enum ls_session_event event, int64_t session_id)
{
    (void)event;
    (void)session_id;
    heard++;
    ls_session_listener_remove(session, listener); /* a listener may remove itself */
}

static const struct ls_session_ops hearing = {.on_event = hear};
static const struct ls_session_ops deaf = {.on_event = NULL};
static struct ls_session_listener listeners[3];

/* As many as `ops` has behind one another. */
static void add_each(struct probe *probe, const struct ls_session_ops *const *ops, int count)
{
    for (int i = 0; i < count; i++) {
        ls_session_listener_init(&listeners[i], ops[i]);
        ls_session_listener_add(&probe->session, &listeners[i]);
    }
}
#define add_with(probe, ...)                                                                                 \
    add_each(probe, (const struct ls_session_ops *const[]){__VA_ARGS__},                                     \
             (int)(sizeof((const struct ls_session_ops *const[]){__VA_ARGS__}) / sizeof(void *)))

static void add_listeners(struct probe *probe)
{
    add_with(probe, &hearing, &deaf, &hearing);
}

static void remove_listeners(struct probe *probe)
{
    for (int i = 0; i < 3; i++)
        ls_session_listener_remove(&probe->session, &listeners[i]);
}

static void send_the_last_away(struct ls_session *session, struct ls_session_listener *listener,
                               enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    (void)event;
    (void)session_id;
    ls_session_listener_remove(session, &listeners[2]);
}

static const struct ls_session_ops sending_away = {.on_event = send_the_last_away};

static void add_one_that_sends_another_away(struct probe *probe)
{
    add_with(probe, &sending_away, &hearing, &hearing);
}

static void one_that_is_sent_away_takes_nobody_along(void **state)
{
    (void)state;
    one();
    heard = 0;
    stage_job(0, add_one_that_sends_another_away);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    assert_int_equal(heard, 1); /* the second, and not the third */
    play("settle");
    stage_job(0, remove_listeners);
    stage_end();
}

static void cancel_when_idle(struct ls_session *session, struct ls_session_listener *listener,
                             enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    (void)session_id;
    if (event == LS_SESSION_IDLE)
        ls_mutex_cancel(&stage_probe_of(session)->mutex[0], 2);
}

static const struct ls_session_ops cancelling = {.on_event = cancel_when_idle};

static void add_one_that_cancels(struct probe *probe)
{
    add_with(probe, &cancelling);
}

/* What a callback gives rise to is told behind it, and not when something else happens. */
static void what_the_last_callback_does_is_told_at_once(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(1, add_one_that_cancels);
    play("a acquire", "settle", "b acquire", "settle", "b acquire owner=1", "settle", "b cancel");
    stage_forget();
    play("apply s1 b unwatch", "apply s1 b delete", "deliver b unwatch-reply", "deliver b deleted(node of b)",
         "deliver b delete-reply");
    told("b idle; b#1 failed ECANCELED");
    stage_end();
}

static void listeners_come_and_go(void **state)
{
    (void)state;
    one();
    heard = 0;
    stage_job(0, add_listeners);
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; a reconnected");
    assert_int_equal(heard, 2); /* each heard one event and left, none was passed over */
    stage_job(0, remove_listeners);
    assert_ptr_equal(stage_probe(0)->session.listeners, &stage_probe(0)->listener);
    assert_null(stage_probe(0)->listener.next);
    stage_end();
}

static char heard_events[128];

static void listen_closely(struct ls_session *session, struct ls_session_listener *listener,
                           enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    (void)session_id;
    (void)session;
    heard_events[strlen(heard_events)] = (char)('0' + event);
}

static const struct ls_session_ops close_listening = {.on_event = listen_closely};

static void add_close_listener(struct probe *probe)
{
    add_with(probe, &close_listening);
}

static void listeners_hear_the_same_in_the_same_order(void **state)
{
    (void)state;
    one();
    memset(heard_events, 0, sizeof heard_events);
    stage_job(0, add_close_listener);
    play("cut a keep=0 apply=0 rc=-4", "settle", "expire a", "settle");
    assert_string_equal(heard_events, "23241");
    told("a suspended; a reconnected; a suspended; a lost; a connected");
    stage_end();
}

static void remove_the_next(struct ls_session *session, struct ls_session_listener *listener,
                            enum ls_session_event event, int64_t session_id)
{
    (void)event;
    (void)session_id;
    if (listener == &listeners[0])
        ls_session_listener_remove(session, &listeners[1]);
    else
        heard++;
}

static const struct ls_session_ops removing = {.on_event = remove_the_next};

static void add_removing_listeners(struct probe *probe)
{
    for (int i = 0; i < 2; i++) {
        ls_session_listener_init(&listeners[i], &removing);
        ls_session_listener_add(&probe->session, &listeners[i]);
    }
}

static void a_listener_that_is_removed_while_events_are_told_hears_nothing(void **state)
{
    (void)state;
    one();
    heard = 0;
    stage_job(0, add_removing_listeners);
    play("cut a keep=0 apply=0 rc=-4", "settle");
    assert_int_equal(heard, 0);
    stage_end();
}

/* ---- handles and retry policies ---- */

static void a_session_that_may_not_retry_gives_up_when_no_timer_or_handle_can_be_had(void **state)
{
    (void)state;
    static const struct ls_retry_policy never = {.kind = LS_RETRY_TIMES, .times = 0};
    stage_set(2);
    stage.options.used_directory = true;
    stage.session.retry = &never;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "fail-alloc b n=1", "settle");
    /* b has no memory for the name of its predecessor and may not try again. */
    told("a granted; b failed EGAVEUP; b idle");
    assert_int_equal(stage.nodes, 1);
    play("b acquire", "settle", "a release", "settle");
    told("a freed; b granted");
    stage_end();
}

static void a_retry_is_repeated_as_often_as_the_policy_says(void **state)
{
    (void)state;
    static const struct ls_retry_policy twice = {
        .kind = LS_RETRY_TIMES, .times = 2, .base_ms = 5, .jitter_percent = 20};
    stage_set(2);
    stage.options.used_directory = true;
    stage.session.retry = &twice;
    stage_ready();
    play("a acquire", "settle", "b acquire", "apply s1 b create", "apply s1 b list", "fail-alloc b n=1",
         "deliver b create-reply", "deliver b list-reply", "fail-alloc b n=1", "fire b retry-timer");
    play("apply s1 b list", "deliver b list-reply");
    told("a granted");
    play("settle");
    assert_int_equal(fakezk_watches(1), 1);
    stage_end();
}

static void progress_begins_the_count_of_failures_anew(void **state)
{
    (void)state;
    static const struct ls_retry_policy once = {.kind = LS_RETRY_TIMES, .times = 1};
    stage_set(2);
    stage.options.used_directory = true;
    stage.session.retry = &once;
    stage_ready();
    play("a acquire", "settle");
    stage_forget();
    for (int i = 0; i < 4; i++) {
        play("b acquire", "apply s1 b create", "apply s1 b list", "fail-alloc b n=1", "settle");
        told("");
        assert_int_equal(fakezk_watches(1), 1);
        play("b cancel", "settle");
        told("b failed ECANCELED; b idle");
    }
    stage_end();
}

static void a_retry_by_elapsed_time_gives_up_at_its_bound(void **state)
{
    (void)state;
    static const struct ls_retry_policy second = {
        .kind = LS_RETRY_ELAPSED, .base_ms = 400, .elapsed_ms_max = 1000};
    stage_set(2);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage.session.retry = &second;
    stage_open();
    play("pass 200", "a acquire", "pass 200");
    stage_forget();
    play("b acquire");
    for (int i = 0; i < 200 && !strstr(stage.told, "b failed"); i++)
        play("fail-alloc b n=1", "pass 10");
    play("pass 100");
    told("b failed EGAVEUP; b idle");
    stage_end();
}

/* ---- events that the ensemble of a world does not raise ----
 *
 * A test borrows the session's watcher from the handle and calls it as the client would. */

static int raised_state;

static void raise_event(struct probe *probe)
{
    zhandle_t *zh = probe->session.zh;
    watcher_fn watcher = zoo_set_watcher(zh, NULL);
    zoo_set_watcher(zh, watcher);
    watcher(zh, ZOO_SESSION_EVENT, raised_state, "", NULL);
}

static void raise_state(int p, int state)
{
    raised_state = state;
    stage_job(p, raise_event);
}

static void refuse_acquire(struct probe *probe)
{
    assert_int_equal(ls_mutex_acquire_start(&probe->mutex[0], 7, -1), LS_EAUTHFAILED);
}

static void refused_credentials_end_everything(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle");
    stage_forget();
    raise_state(1, ZOO_AUTH_FAILED_STATE);
    told("b auth-failed; b failed EAUTHFAILED; b idle");
    assert_int_equal(ls_session_state(&stage_probe(1)->session), LS_STATE_FAILED);
    assert_int_equal(ls_session_id(&stage_probe(1)->session), 0);
    assert_int_equal(stage_probe(1)->session.negotiated_ms, 0);
    stage_job(1, refuse_acquire);
    raise_state(0, ZOO_AUTH_FAILED_STATE);
    told("a auth-failed");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_NOT_HELD);
    play("a release");
    told("a refused ELOST");
    raise_state(0, ZOO_CONNECTED_STATE); /* too late */
    told("");
    stage_end();
}

static void a_read_only_server_is_told_and_gets_no_requests(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    raise_state(0, ZOO_READONLY_STATE);
    told("a read-only");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_READ_ONLY);
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    play("a acquire owner=1");
    asked("");
    raise_state(0, ZOO_CONNECTING_STATE);
    told("a suspended");
    raise_state(0, ZOO_ASSOCIATING_STATE); /* never raised by a client: passed over */
    told("");
    raise_state(0, ZOO_CONNECTED_STATE);
    told("a reconnected");
    raise_state(0, ZOO_CONNECTED_STATE);
    told("");
    play("settle");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_end();
}

/* ---- events that pile up while a callback runs ---- */

static const int *piled_up; /* the states to raise, 0 at the end */

static void pile_up(struct probe *probe)
{
    const int *states = piled_up;
    piled_up = NULL;
    for (; states && *states; states++) {
        raised_state = *states;
        raise_event(probe);
    }
    assert_true(probe->session.delivering);
}

static void piled(const int *states, const char *expected)
{
    one();
    stage.on_grant = pile_up;
    piled_up = states;
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply",
         "deliver a list-reply");
    stage.on_grant = NULL;
    told(expected);
    stage_end();
}

static void a_change_and_its_undoing_are_no_news(void **state)
{
    (void)state;
    const int back_again[] = {ZOO_CONNECTING_STATE, ZOO_CONNECTED_STATE, ZOO_CONNECTING_STATE,
                              ZOO_CONNECTED_STATE, 0};
    const int gone[] = {ZOO_CONNECTING_STATE, ZOO_CONNECTED_STATE, ZOO_CONNECTING_STATE, 0};
    const int read_only[] = {ZOO_CONNECTING_STATE, ZOO_READONLY_STATE, ZOO_READONLY_STATE, 0};
    const int lost[] = {ZOO_CONNECTING_STATE, ZOO_CONNECTED_STATE, ZOO_CONNECTING_STATE,
                        ZOO_EXPIRED_SESSION_STATE, 0};
    piled(back_again, "a granted");
    piled(gone, "a granted; a suspended");
    piled(read_only, "a granted; a suspended; a read-only");
    piled(lost, "a granted; a suspended; a lost");
}

/* However often the link changes while a callback runs, the loss behind the changes is told. */
static void changes_of_the_link_crowd_out_no_loss(void **state)
{
    (void)state;
    int flapping[22], count = 0;
    while (count < 20) {
        flapping[count++] = ZOO_CONNECTING_STATE;
        flapping[count++] = ZOO_READONLY_STATE;
    }
    flapping[count++] = ZOO_EXPIRED_SESSION_STATE;
    flapping[count] = 0;
    piled(flapping, "a granted; a suspended; a read-only; a lost");
}

/* Listeners were told of a read-only server last. So a broken link and its return are news. */
static void a_link_that_is_better_than_told_is_news(void **state)
{
    (void)state;
    one();
    struct probe *probe = stage_probe(0);
    raise_state(0, ZOO_CONNECTING_STATE);
    raise_state(0, ZOO_READONLY_STATE);
    told("a suspended; a read-only");
    probe->session.delivering = 1; /* a callback is running on another thread */
    raise_state(0, ZOO_CONNECTING_STATE);
    raise_state(0, ZOO_CONNECTED_STATE);
    probe->session.delivering = 0;
    raise_state(0, ZOO_CONNECTED_STATE); /* no news, but the callbacks run */
    told("a suspended; a reconnected");
    stage_end();
}

static void a_session_that_comes_and_goes_untold_is_not_told(void **state)
{
    (void)state;
    stage_set(1);
    stage_open();
    play("connect a s1");
    const int states[] = {ZOO_CONNECTED_STATE, ZOO_CONNECTING_STATE, ZOO_EXPIRED_SESSION_STATE, 0};
    struct probe *probe = stage_probe(0);
    probe->session.delivering = 1; /* a callback is running on another thread */
    for (int i = 0; states[i]; i++)
        raise_state(0, states[i]);
    probe->session.delivering = 0;
    play("settle");
    told("a connected"); /* the second session; of the first nobody has heard */
    stage_end();
}

static void a_death_before_the_grant_is_told_is_the_answer(void **state)
{
    (void)state;
    one();
    struct probe *probe = stage_probe(0);
    play("a acquire", "apply s1 a create", "apply s1 a list", "deliver a create-reply");
    probe->session.delivering = 1; /* as above: the grant waits for delivery */
    play("deliver a list-reply");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_NOT_HELD);
    raise_state(0, ZOO_EXPIRED_SESSION_STATE);
    probe->session.delivering = 0;
    play("settle");
    told("a lost; a failed ELOST; a connected");
    play("a release");
    told("a refused ENOTOWNER");
    assert_clean(0);
    stage_end();
}

/* ---- belief ---- */

static void belief_ends_with_half_the_timeout(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage_open();
    play("pass 200", "a acquire", "pass 100");
    stage_forget();
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("pass 1899"); /* 1999 ms after the send of the create */
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("pass 1");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    assert_int_equal(ls_mutex_depth(&stage_probe(0)->mutex[0], 1), 1);
    stage_end();
}

/* One claim has 254 ancestors to create at most, so that some hundred claims have more requests in flight than 16 bits
 * count. */
static void more_requests_are_counted_than_sixteen_bits_hold(void **state)
{
    (void)state;
    enum { REQUESTS = 0x10000 };
    struct ls_session session = {.state = LS_STATE_CONNECTED};
    for (int i = 0; i < REQUESTS; i++)
        lock_session_sent(&session, false, ZOK);
    lock_session_sent(&session, true, ZOK);
    assert_int_equal(session.unanswered, REQUESTS + 1);
    for (int i = 0; i < REQUESTS; i++)
        lock_session_answered(&session, ZOK);
    assert_int_equal(session.unanswered, 1);
    assert_int_equal(session.measured, 1);
    assert_false(session.confirmed);
}

static void the_margin_is_an_option(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage.session.margin_percent = 25;
    stage_open();
    play("pass 200", "a acquire", "pass 999");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("pass 1");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    stage_end();
}

static void a_holder_that_is_kept_fresh_believes_on(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage.session.no_refresh = false;
    stage_open();
    play("pass 200", "a acquire", "pass 200");
    stage_forget();
    for (int i = 0; i < 60; i++) {
        play("pass 100");
        assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    }
    asked("sync; sync; sync; sync; sync; sync; sync; sync; sync"); /* each sixth of 4 s, for 6.2 s */
    play("partition a", "pass 2000");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    play("heal a", "pass 1000");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    stage_forget();
    play("a release", "pass 3000");
    asked("delete"); /* nobody holds: nothing is kept fresh */
    stage_end();
}

static void doubt_begins_with_the_break_and_ends_with_a_proof(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    stage_forget();
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    play("cut a keep=0 apply=0 rc=-4", "deliver a session-connecting");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN);
    play("connect a s1", "deliver a session-connected");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_UNKNOWN); /* CONNECTED is no proof (F35) */
    asked("sync");
    play("cut a keep=0 apply=1 rc=-4", "settle"); /* the proof is lost, and asked for again */
    asked("sync");
    assert_int_equal(world_belief(stage.world, 0, 0, 0), LS_HELD);
    told("a suspended; a reconnected; a suspended; a reconnected");
    stage_end();
}

static void a_grant_after_a_long_wait_is_believed(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.timed = true;
    stage.options.used_directory = true;
    stage_open();
    play("pass 200", "a acquire", "pass 200", "b acquire", "pass 10000");
    stage_forget();
    play("a release", "pass 200");
    told("a freed; b granted");
    asked("delete; sync; list");
    assert_int_equal(world_belief(stage.world, 1, 0, 0), LS_HELD);
    stage_end();
}

/* ---- close ---- */

static void close_answers_everybody_first(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.used_directory = true;
    stage_ready();
    play("a acquire", "settle", "b acquire", "settle", "b acquire owner=2");
    told("a granted");
    play("b stop");
    told("b failed ECLOSED; b#2 failed ECLOSED");
    play("settle");
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static int answers;

static void count_answer(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)mutex;
    (void)owner;
    answers += outcome->rc == LS_ECLOSED;
}

static const struct ls_mutex_ops counting = {.on_done = count_answer};
static const struct ls_mutex_options counting_options = {.ops = &counting};
static struct ls_session second;
static struct ls_mutex second_mutex;

static void open_other(struct probe *probe)
{
    assert_int_equal(ls_session_init(&second, probe->session.env, probe->session.hosts, 4000, NULL), LS_OK);
    assert_int_equal(ls_session_start(&second), LS_OK);
    assert_int_equal(ls_mutex_init(&second_mutex, &second, "/locks/x", &counting_options), LS_OK);
    assert_int_equal(ls_mutex_acquire_start(&second_mutex, 1, -1), LS_OK);
}

static void close_other(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_close(&second), LS_OK);
    assert_int_equal(answers, 1); /* by the session's end, not by the mutex's */
    assert_int_equal(ls_mutex_acquire_start(&second_mutex, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_close(&second_mutex), LS_OK);
    assert_int_equal(answers, 1);
}

static void two_sessions_of_one_process_exclude_each_other(void **state)
{
    (void)state;
    one();
    answers = 0;
    play("a acquire", "settle");
    stage_job(0, open_other);
    play("settle");
    assert_int_equal(stage.nodes, 2);
    assert_false(ls_mutex_held_here(&second_mutex));
    stage_job(0, close_other);
    assert_int_equal(stage.nodes, 1);
    stage_end();
}

static void close_in_every_state_leaves_nothing(void **state)
{
    (void)state;
    static const char *const before[][6] = {
        {NULL},
        {"connect a s1", NULL},
        {"settle", "a acquire", NULL},
        {"settle", "a acquire", "apply s1 a create", NULL},
        {"settle", "a acquire", "settle", "a release", NULL},
        {"settle", "a acquire", "settle", "cut a keep=0 apply=0 rc=-4", "deliver a session-connecting", NULL},
    };
    static const unsigned defects[] = {0, WORLD_DEFECT_DROP_AT_CLOSE};
    for (int i = 0; i < 12; i++) {
        stage_set(1);
        stage.options.used_directory = true;
        stage.options.defects = defects[i / 6];
        stage_open();
        stage_play_all(before[i % 6]);
        stage_forget();
        play("a stop", "pass 1", "settle"); /* the heap of the process is compared there */
        assert_int_equal(stage.nodes, 0);
        stage_end();
    }
}

static void close_while_the_session_is_lost(void **state)
{
    (void)state;
    one();
    play("expire a", "bury a", "hang-up a", "deliver a session-connecting", "connect a s1",
         "deliver a session-expired");
    told("a suspended; a lost");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_LOST);
    play("a stop", "settle", "a start", "settle");
    told("a connected");
    stage_end();
}

/* Its handle is opened by the session itself: a start is refused, and ends no acquire. */
static void a_lost_session_is_not_started(void **state)
{
    (void)state;
    one();
    play("expire a", "bury a", "hang-up a", "deliver a session-connecting", "connect a s1", "a acquire",
         "deliver a session-expired");
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_LOST);
    stage_forget();
    assert_int_equal(ls_session_start(&stage_probe(0)->session), LS_EINVAL);
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_LOST);
    play("settle");
    told("a connected; a granted");
    stage_end();
}

static void completions_dropped_at_close_leak_nothing_and_hang_nothing(void **state)
{
    (void)state;
    stage_set(2);
    stage.options.defects = WORLD_DEFECT_DROP_AT_CLOSE;
    stage.options.used_directory = true;
    stage_ready();
    /* b's session dies with a create in flight: the handle that is closed then never answers (F21). */
    play("a acquire", "settle", "b acquire", "settle", "expire b", "settle");
    told("a granted; b suspended; b lost; b connected");
    play("a release", "settle");
    assert_non_null(strstr(stage.told, "b granted"));
    stage_end();
}

/* ---- misuse ---- */

static void misuse(struct probe *probe)
{
    static const struct ls_session_options too_much = {.margin_percent = 101}, all = {.margin_percent = 100};
    struct ls_session other;
    struct ls_env *env = probe->session.env;
    assert_int_equal(ls_session_init(NULL, env, "h", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, NULL, "h", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, env, NULL, 1, NULL), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, env, "h", 0, NULL), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, env, "h", 1 << 30, NULL), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, env, "h", (1 << 30) - 1, NULL), LS_OK);
    assert_int_equal(ls_session_init(&other, env, "h", 1, &too_much), LS_EINVAL);
    assert_int_equal(ls_session_init(&other, env, "h", 1, &all), LS_OK);
    assert_int_equal(ls_session_start(&probe->session), LS_EINVAL); /* a second time */
    assert_int_equal(ls_session_init(&other, env, "h", 1, NULL), LS_OK);
    assert_int_equal(ls_session_state(&other), LS_STATE_NEW);
    assert_int_equal(ls_session_close(&other), LS_OK); /* never started */
    assert_int_equal(ls_session_close(&other), LS_OK); /* closed already */
    assert_int_equal(ls_session_start(&other), LS_EINVAL);
}

static void misuse_is_refused(void **state)
{
    (void)state;
    one();
    stage_job(0, misuse);
    stage_end();
}

static void block_in_callback(struct probe *probe)
{
    assert_int_equal(ls_session_close(&probe->session), LS_EDEADLK);
    assert_int_equal(ls_session_start(&probe->session), LS_EDEADLK);
    assert_int_equal(ls_mutex_close(&probe->mutex[0]), LS_EDEADLK);
    assert_int_equal(ls_mutex_acquire(&probe->mutex[0], -1), LS_EDEADLK);
    assert_int_equal(ls_mutex_try(&probe->mutex[0]), LS_EDEADLK);
    assert_int_equal(ls_mutex_release(&probe->mutex[0]), LS_EDEADLK);
    struct ls_outcome outcome = {.depth = 7};
    struct ls_participants participants = {.count = 7};
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, "/", -1);
    assert_int_equal(ls_mutex_acquire_outcome(&probe->mutex[0], -1, &outcome), LS_EDEADLK);
    assert_int_equal(outcome.rc, LS_EDEADLK);
    assert_int_equal(outcome.depth, 0);
    assert_int_equal(ls_mutex_participants(&probe->mutex[0], &participants), LS_EDEADLK);
    assert_int_equal(participants.count, 0);
    assert_int_equal(ls_mutex_multi(&probe->mutex[0], 1, &op, &result, NULL), LS_EDEADLK);
    assert_int_equal(ls_session_wait_connected(&probe->session, -1), LS_EDEADLK);
    assert_int_equal(ls_mutex_query_by_me(&probe->mutex[0]), LS_NOT_HELD);
    assert_false(ls_mutex_held_by_me(&probe->mutex[0])); /* an owner with a number of its own holds it */
}

static void blocking_calls_in_callbacks_are_refused(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage.on_grant = block_in_callback;
    play("a acquire", "settle");
    told("a granted");
    stage_end();
}

/* What goes with the link is asked for again when it is back, however often: no policy counts that. */
static void a_link_that_breaks_uses_up_no_attempt(void **state)
{
    (void)state;
    static const struct ls_retry_policy never = {.kind = LS_RETRY_TIMES, .times = 0};
    static const char *const phases[][5] = {
        {NULL},
        {"apply s1 b create", "apply s1 b list", NULL},
        {"apply s1 b create", "apply s1 b list", "deliver b create-reply", "deliver b list-reply", NULL}};
    for (int i = 0; i < 3; i++) {
        stage_set(2);
        stage.options.used_directory = true;
        stage.session.retry = &never;
        stage_ready();
        play("a acquire", "settle", "b acquire");
        stage_play_all(phases[i]);
        stage_forget();
        play("cut b keep=0 apply=0 rc=-4", "settle", "cut b keep=0 apply=0 rc=-4", "settle", "a release",
             "settle");
        told("b suspended; b reconnected; b suspended; b reconnected; a freed; b granted");
        stage_end();
    }
}

static void a_handle_that_cannot_be_opened_is_tried_again(void **state)
{
    (void)state;
    one();
    play("a acquire", "settle");
    handles_unopened = 2;
    play("expire a", "settle");
    told("a granted; a suspended; a lost");
    assert_int_equal(handles_unopened, 1);
    play("create /locks/x/1", "settle"); /* without a clock a timer goes off when something has changed */
    told("");
    assert_int_equal(handles_unopened, 0);
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_LOST);
    play("create /locks/x/2", "settle");
    told("a connected");
    stage_end();
}

/* As another thread does while the handle is being opened: the mutex is free then. */
static void acquire_meanwhile(void)
{
    struct ls_mutex *mutex = &stage_probe(0)->mutex[0];
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_CONNECTING);
    assert_int_equal(ls_mutex_acquire_start(mutex, 1, -1), LS_OK);
}

static void an_acquire_during_a_start_that_fails_is_answered(void **state)
{
    (void)state;
    stage_set(1);
    stage.ignore_failed_start = true;
    handles_unopened = 1;
    handles_refused = acquire_meanwhile;
    stage_open();
    handles_refused = NULL;
    told("a failed EZK");
    assert_null(stage_probe(0)->session.claims);
    assert_int_equal(stage_probe(0)->session.state, LS_STATE_NEW);
    world_close(stage.world);
}

static void policies_end_the_opening_of_handles(void **state)
{
    (void)state;
    static const struct ls_retry_policy twice = {.kind = LS_RETRY_TIMES, .times = 2};
    stage_set(1);
    stage.options.used_directory = true;
    stage.session.retry = &twice;
    stage_ready();
    handles_unopened = 100;
    play("expire a", "settle");
    for (int i = 0; i < 2; i++)
        play(i == 0 ? "create /locks/x/1" : "create /locks/x/2", "settle");
    told("a suspended; a lost; a gave-up");
    assert_int_equal(handles_unopened, 97); /* at once, and twice again */
    handles_unopened = 0;
    assert_int_equal(ls_session_state(&stage_probe(0)->session), LS_STATE_FAILED);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_that_breaks_uses_up_no_attempt),
        cmocka_unit_test(a_handle_that_cannot_be_opened_is_tried_again),
        cmocka_unit_test(policies_end_the_opening_of_handles),
        cmocka_unit_test(an_acquire_during_a_start_that_fails_is_answered),
        cmocka_unit_test(a_first_connection_is_told_once),
        cmocka_unit_test(a_session_that_was_never_told_of_is_not_told_to_be_lost),
        cmocka_unit_test(a_broken_link_is_suspended_and_reconnected),
        cmocka_unit_test(exactly_one_lost_lies_between_two_sessions),
        cmocka_unit_test(who_waits_is_answered_before_the_handle_is_closed),
        cmocka_unit_test(a_handle_that_ends_while_it_is_opened_is_followed_by_another),
        cmocka_unit_test(an_event_of_a_node_says_nothing_of_the_session),
        cmocka_unit_test(a_session_that_expires_before_it_was_told_of_is_not_told),
        cmocka_unit_test(a_silently_replaced_session_is_lost),
        cmocka_unit_test(callbacks_inside_init_are_served),
        cmocka_unit_test(one_that_is_sent_away_takes_nobody_along),
        cmocka_unit_test(what_the_last_callback_does_is_told_at_once),
        cmocka_unit_test(listeners_come_and_go),
        cmocka_unit_test(listeners_hear_the_same_in_the_same_order),
        cmocka_unit_test(a_session_that_may_not_retry_gives_up_when_no_timer_or_handle_can_be_had),
        cmocka_unit_test(a_retry_is_repeated_as_often_as_the_policy_says),
        cmocka_unit_test(a_retry_by_elapsed_time_gives_up_at_its_bound),
        cmocka_unit_test(refused_credentials_end_everything),
        cmocka_unit_test(a_read_only_server_is_told_and_gets_no_requests),
        cmocka_unit_test(belief_ends_with_half_the_timeout),
        cmocka_unit_test(more_requests_are_counted_than_sixteen_bits_hold),
        cmocka_unit_test(the_margin_is_an_option),
        cmocka_unit_test(a_holder_that_is_kept_fresh_believes_on),
        cmocka_unit_test(doubt_begins_with_the_break_and_ends_with_a_proof),
        cmocka_unit_test(a_grant_after_a_long_wait_is_believed),
        cmocka_unit_test(close_answers_everybody_first),
        cmocka_unit_test(close_in_every_state_leaves_nothing),
        cmocka_unit_test(close_while_the_session_is_lost),
        cmocka_unit_test(a_lost_session_is_not_started),
        cmocka_unit_test(completions_dropped_at_close_leak_nothing_and_hang_nothing),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(blocking_calls_in_callbacks_are_refused),
        cmocka_unit_test(a_listener_that_is_removed_while_events_are_told_hears_nothing),
        cmocka_unit_test(a_change_and_its_undoing_are_no_news),
        cmocka_unit_test(changes_of_the_link_crowd_out_no_loss),
        cmocka_unit_test(a_link_that_is_better_than_told_is_news),
        cmocka_unit_test(a_session_that_comes_and_goes_untold_is_not_told),
        cmocka_unit_test(a_death_before_the_grant_is_told_is_the_answer),
        cmocka_unit_test(progress_begins_the_count_of_failures_anew),
        cmocka_unit_test(two_sessions_of_one_process_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
