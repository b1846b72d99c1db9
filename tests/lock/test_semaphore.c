/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The semaphore: what its leases do that a mutex does not. tests/promises has a break for each sentence of
 * semaphore.h. Several processes are in scenarios/semaphore, and in the searches. */
#include "lock/claim.h"
#include "stage.h"
#include "support/sleeping_thread.h"

#include <lockstep/semaphore.h>

static struct ls_semaphore lock;
static struct ls_mutex_options options;

/* While a thread of process a sleeps, all that can happen does. */
static void settle(void)
{
    stage_play_meanwhile("settle");
}

static void pass_two_seconds(void)
{
    stage_play_meanwhile("pass 2000");
}

/* ---- what the callbacks say: "1 granted" ---- */

static void on_done(struct ls_mutex *leases, uint64_t lease, const struct ls_outcome *outcome)
{
    assert_ptr_equal(leases, &lock.leases);
    stage.token = outcome->token;
    assert_int_equal(outcome->depth, outcome->rc ? 0 : 1);
    stage_add(stage.told, "%d %s", (int)lease, outcome->rc ? stage_err(outcome->rc) : "granted");
}

static void on_freed(struct ls_mutex *leases, uint64_t lease, int rc)
{
    assert_ptr_equal(leases, &lock.leases);
    stage_add(stage.told, "%d freed%s%s", (int)lease, rc ? " " : "", rc ? stage_err(rc) : "");
}

static void on_warning(struct ls_mutex *leases, uint64_t lease, enum ls_warning warning)
{
    assert_ptr_equal(leases, &lock.leases);
    stage_add(stage.told, "%d warned %d", (int)lease, (int)warning);
}

static void on_lost(struct ls_mutex *leases, uint64_t lease, int64_t token)
{
    assert_ptr_equal(leases, &lock.leases);
    assert_true(token > 0);
    stage_add(stage.told, "%d lost", (int)lease);
}

static void on_participants(struct ls_mutex *leases, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    (void)user;
    assert_ptr_equal(leases, &lock.leases);
    assert_int_equal(rc, LS_OK);
    stage_add(stage.told, "sees");
    for (int i = 0; i < count; i++) {
        size_t size = strlen(stage.told);
        snprintf(stage.told + size, STAGE_TEXT - size, " %s=%s", strstr(list[i].name, "lease-"),
                 list[i].contents);
    }
}

static const struct ls_mutex_ops ops = {.on_done = on_done,
                                        .on_freed = on_freed,
                                        .on_warning = on_warning,
                                        .on_lost = on_lost,
                                        .on_participants = on_participants};

/* ---- one process with a semaphore ---- */

static uint32_t capacity;

static void open_lock(struct probe *probe)
{
    options = (struct ls_mutex_options){.ops = &ops};
    assert_int_equal(ls_semaphore_init(&lock, &probe->session, "/locks/x", capacity, &options), LS_OK);
}

/* All nodes of the semaphore count, those in its line too. */
static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *number)
{
    (void)config;
    (void)below;
    (void)number;
    return LS_NODE_CONTENDER;
}

static void one(uint32_t leases)
{
    capacity = leases;
    stage_set_semaphore()->classify = classify;
    stage_ready();
    stage_job(0, open_lock);
}

static void close_lock(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_close(&lock), LS_OK);
}

static void end(void)
{
    stage_job(0, close_lock);
    play("settle");
    assert_clean(0);
    stage_end();
}

/* ---- what is asked next ---- */

static struct {
    uint64_t lease;
    uint32_t count;
    int timeout_ms;
    int rc;
} call;

static void start_acquire(struct probe *probe)
{
    (void)probe;
    call.rc = ls_semaphore_acquire_start(&lock, call.lease, call.count, call.timeout_ms);
}

static void start_release(struct probe *probe)
{
    (void)probe;
    call.rc = ls_mutex_release_start(&lock.leases, call.lease);
}

static void start_cancel(struct probe *probe)
{
    (void)probe;
    call.rc = ls_semaphore_cancel(&lock, call.lease);
}

static void set_capacity(struct probe *probe)
{
    (void)probe;
    call.rc = ls_semaphore_set_capacity(&lock, call.count);
}

static int begin(void (*job)(struct probe *probe), uint64_t lease, uint32_t count)
{
    call.lease = lease;
    call.count = count;
    stage_job(0, job);
    return call.rc;
}

/* The same, with the answers of the servers. */
static int acquire(uint64_t first, uint32_t count)
{
    call.timeout_ms = -1;
    int rc = begin(start_acquire, first, count);
    play("settle");
    return rc;
}

static int release(uint64_t lease)
{
    int rc = begin(start_release, lease, 1);
    play("settle");
    return rc;
}

/* ---- leases ---- */

static void as_many_as_the_capacity_are_held(void **state)
{
    (void)state;
    one(2);
    assert_int_equal(acquire(1, 1), LS_OK);
    assert_int_equal(acquire(2, 1), LS_OK);
    assert_int_equal(acquire(3, 1), LS_OK);
    told("1 granted; 2 granted");
    assert_true(ls_mutex_held_by(&lock.leases, 1));
    assert_true(ls_mutex_held_by(&lock.leases, 2));
    assert_false(ls_mutex_held_by(&lock.leases, 3));
    release(2);
    told("2 freed; 3 granted");
    release(1);
    release(3);
    told("1 freed; 3 freed");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void several_leases_come_together(void **state)
{
    (void)state;
    one(3);
    assert_int_equal(acquire(10, 2), LS_OK);
    told("10 granted");
    assert_int_equal(ls_mutex_query(&lock.leases, 10), LS_HELD);
    assert_int_equal(ls_mutex_query(&lock.leases, 11), LS_HELD);
    assert_int_equal(ls_mutex_query(&lock.leases, 12), LS_NOT_HELD);
    assert_int_equal(ls_mutex_token(&lock.leases, 10), stage.token);
    assert_true(ls_mutex_token(&lock.leases, 11) > stage.token);
    assert_int_equal(acquire(20, 2), LS_OK);
    told("");
    assert_int_equal(release(11), LS_OK); /* one of the two is enough for the others */
    told("11 freed; 20 granted");
    assert_int_equal(ls_mutex_query(&lock.leases, 10), LS_HELD);
    assert_int_equal(ls_mutex_query(&lock.leases, 21), LS_HELD);
    release(10);
    release(20);
    release(21);
    told("10 freed; 20 freed; 21 freed");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void who_comes_first_is_served_first(void **state)
{
    (void)state;
    one(3);
    acquire(1, 2);
    acquire(10, 3); /* waits for all, and the next ones behind it */
    acquire(20, 3);
    acquire(30, 1);
    told("1 granted");
    release(1);
    told("1 freed");
    release(2);
    told("2 freed; 10 granted");
    release(10);
    told("10 freed"); /* there is room for 30 */
    release(11);
    release(12);
    told("11 freed; 12 freed; 20 granted");
    release(20);
    told("20 freed; 30 granted");
    end();
}

static void a_lease_is_not_reentrant(void **state)
{
    (void)state;
    one(3);
    acquire(1, 2);
    stage_forget();
    assert_int_equal(acquire(1, 1), LS_EALREADY);
    assert_int_equal(acquire(2, 1), LS_EALREADY);
    call.timeout_ms = -1;
    assert_int_equal(begin(start_acquire, 5, 1), LS_OK);
    assert_int_equal(begin(start_acquire, 5, 1), LS_EALREADY); /* pending */
    play("settle");
    told("5 granted");
    end();
}

/* Two acquires that are pending at once have a number in common. The first one that is served has it. */
static void a_number_is_granted_once(void **state)
{
    (void)state;
    one(4);
    call.timeout_ms = -1;
    assert_int_equal(begin(start_acquire, 1, 2), LS_OK);
    assert_int_equal(begin(start_acquire, 2, 2), LS_OK);
    play("settle");
    told("1 granted; 2 EALREADY; a idle");
    assert_int_equal(ls_mutex_query(&lock.leases, 2), LS_HELD);
    assert_int_equal(ls_mutex_query(&lock.leases, 3), LS_NOT_HELD);
    assert_int_equal(stage.nodes, 2);
    end();
}

static void numbers_and_counts_have_bounds(void **state)
{
    (void)state;
    one(3);
    assert_int_equal(acquire(0, 1), LS_EINVAL);
    assert_int_equal(acquire(1, 0), LS_EINVAL);
    assert_int_equal(acquire(1, 4), LS_EINVAL);
    assert_int_equal(acquire(LS_ENV_THREAD, 1), LS_EINVAL);
    assert_int_equal(acquire(LS_ENV_THREAD - 2, 3), LS_EINVAL);
    assert_int_equal(acquire(LS_ENV_THREAD - 3, 3), LS_OK);
    assert_true(ls_mutex_held_by(&lock.leases, LS_ENV_THREAD - 1));
    end();
}

static void on_revoke(struct ls_mutex *leases, uint64_t lease, int64_t token)
{
    (void)leases;
    (void)lease;
    (void)token;
}

static void use_as_a_mutex(struct probe *probe)
{
    static struct ls_mutex_ops with_revoke;
    (void)probe;
    with_revoke = ops;
    with_revoke.on_revoke = on_revoke;
    options.ops = &with_revoke;
    assert_int_equal(ls_mutex_acquire_start(&lock.leases, 1, -1), LS_EINVAL);
    assert_int_equal(ls_mutex_make_revocable(&lock.leases), LS_EINVAL);
    options.ops = &ops;
}

static void acquire_without_memory(struct probe *probe)
{
    (void)probe;
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_semaphore_acquire_start(&lock, 1, 1, -1), LS_ENOMEM);
    process_mark(0)->fail_in = 0;
}

static void an_acquire_needs_memory(void **state)
{
    (void)state;
    one(1);
    stage_job(0, acquire_without_memory);
    play("settle");
    told("");
    end();
}

static void leases_are_no_mutex_to_acquire(void **state)
{
    (void)state;
    one(1);
    stage_job(0, use_as_a_mutex);
    play("settle");
    told("");
    assert_int_equal(stage.nodes, 0);
    end();
}

/* ---- without all of them ---- */

static void a_try_ends_at_once(void **state)
{
    (void)state;
    one(2);
    acquire(1, 1);
    stage_forget();
    call.timeout_ms = 0;
    assert_int_equal(begin(start_acquire, 10, 2), LS_OK); /* one has room */
    play("settle");
    told("10 EBUSY; a idle");
    assert_int_equal(stage.nodes, 1);
    call.timeout_ms = 0;
    assert_int_equal(begin(start_acquire, 10, 1), LS_OK);
    play("settle");
    told("10 granted");
    acquire(20, 1);
    call.timeout_ms = 0;
    assert_int_equal(begin(start_acquire, 30, 1), LS_OK);
    play("settle");
    told("30 EBUSY; a idle"); /* 20 is in line */
    end();
}

static void who_gives_up_leaves_none(void **state)
{
    (void)state;
    one(3);
    acquire(1, 2);
    acquire(10, 2);
    assert_int_equal(stage.nodes, 5);              /* two held, two that wait, and a place in line */
    assert_int_equal(acquire(11, 1), LS_EALREADY); /* one of the two that wait */
    stage_forget();
    assert_int_equal(begin(start_cancel, 10, 0), LS_OK);
    told("10 ECANCELED");
    assert_int_equal(begin(start_cancel, 10, 0), LS_ENOENT);
    play("settle");
    told("a idle");
    assert_int_equal(stage.nodes, 2);
    end();
}

static void a_deadline_ends_the_wait_for_room(void **state)
{
    (void)state;
    one(1);
    acquire(1, 1);
    stage_forget();
    call.timeout_ms = 1000;
    assert_int_equal(begin(start_acquire, 2, 1), LS_OK);
    play("settle");
    told("");
    play("pass 2000");
    told("2 ETIMEDOUT; a idle");
    assert_int_equal(stage.nodes, 1);
    end();
}

/* ---- the blocking shell ---- */

static void use_two_leases(struct probe *probe)
{
    (void)probe;
    sleeps = 0;
    meanwhile = settle;
    assert_int_equal(ls_semaphore_acquire(&lock, 10, 2, -1), LS_OK);
    assert_int_equal(sleeps, 1);
    assert_int_equal(ls_mutex_query(&lock.leases, 10), LS_HELD);
    assert_int_equal(ls_mutex_query(&lock.leases, 11), LS_HELD);
    assert_int_equal(ls_semaphore_acquire(&lock, 11, 1, -1), LS_EALREADY);
    assert_int_equal(ls_semaphore_acquire(&lock, 20, 1, 0), LS_EBUSY);
    meanwhile = pass_two_seconds;
    assert_int_equal(ls_semaphore_acquire(&lock, 20, 1, 1000), LS_ETIMEDOUT);
    meanwhile = settle;
    sleeps = 0;
    assert_int_equal(ls_semaphore_release(&lock, 11), LS_OK);
    assert_int_equal(sleeps, 1);
    assert_int_equal(ls_mutex_query(&lock.leases, 10), LS_HELD);
    assert_int_equal(ls_semaphore_release(&lock, 11), LS_ENOTOWNER);
    assert_int_equal(ls_semaphore_release(&lock, 10), LS_OK);
    meanwhile = NULL;
}

static void who_waits_gets_the_outcome(void **state)
{
    (void)state;
    one(2);
    stage_job(0, use_two_leases);
    told("a idle; a idle"); /* what the shell answers, no callback tells */
    assert_int_equal(stage.nodes, 0);
    end();
}

/* ---- the capacity ---- */

static void a_larger_capacity_lets_waiters_in(void **state)
{
    (void)state;
    one(1);
    acquire(1, 1);
    acquire(2, 1);
    acquire(3, 1);
    told("1 granted");
    assert_int_equal(begin(set_capacity, 0, 0), LS_EINVAL);
    assert_int_equal(begin(set_capacity, 0, LS_SEMAPHORE_CAPACITY_MAX + 1), LS_EINVAL);
    assert_int_equal(begin(set_capacity, 0, 2), LS_OK);
    play("settle");
    told("2 granted");
    assert_int_equal(begin(set_capacity, 0, 1), LS_OK);
    release(1);
    told("1 freed");
    assert_true(ls_mutex_held_by(&lock.leases, 2));
    release(2);
    told("2 freed; 3 granted");
    end();
}

static void a_smaller_capacity_keeps_waiters_waiting(void **state)
{
    (void)state;
    one(2);
    acquire(1, 1);
    acquire(10, 2);
    acquire(20, 1);
    told("1 granted");
    assert_int_equal(begin(set_capacity, 0, 1), LS_OK);
    release(1);
    told("1 freed");
    assert_int_equal(begin(set_capacity, 0, 2), LS_OK);
    play("settle");
    told("10 granted");
    end();
}

/* ---- losses ---- */

static void each_lease_is_lost_by_itself(void **state)
{
    (void)state;
    one(3);
    acquire(1, 2);
    stage_forget();
    play("expire a");
    play("settle");
    told("a suspended; a lost; 1 lost; 2 lost; a connected");
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(release(1), LS_ENOTOWNER);
    assert_int_equal(release(2), LS_ELOST);
    acquire(1, 3);
    told("1 granted");
    end();
}

static void what_waits_goes_on_in_the_next_session(void **state)
{
    (void)state;
    one(2);
    acquire(1, 1);
    acquire(10, 2);
    told("1 granted");
    play("expire a"); /* the acquire first hears that its place is gone, and gives its first lease back */
    play("settle");
    told("a suspended; a lost; 1 lost; a idle; a connected; 10 granted");
    assert_int_equal(stage.nodes, 2);
    end();
}

static void survey(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_participants_start(&lock.leases, NULL), LS_OK);
}

static void name_leases(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_set_contents(&lock.leases, "me", 2), LS_OK);
}

static void leases_are_listed(void **state)
{
    (void)state;
    one(2);
    stage_job(0, name_leases);
    acquire(1, 2);
    acquire(10, 1);
    stage_forget();
    stage_job(0, survey);
    play("settle");
    told("sees lease-0000000007=me lease-0000000008=me lease-0000000009=me");
    end();
}

/* ---- life ---- */

static void close_in_callback(struct ls_mutex *leases, uint64_t lease, const struct ls_outcome *outcome)
{
    on_done(leases, lease, outcome);
    assert_int_equal(ls_semaphore_close(&lock), LS_EDEADLK);
    assert_int_equal(ls_semaphore_acquire(&lock, 30, 1, -1), LS_EDEADLK);
    if (!outcome->rc) {
        assert_int_equal(ls_semaphore_release(&lock, lease), LS_EDEADLK);
        return;
    }
    assert_int_equal(ls_semaphore_acquire_start(&lock, 30, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_mutex_release_start(&lock.leases, 1), LS_ECLOSED);
    assert_int_equal(ls_mutex_participants_start(&lock.leases, NULL), LS_ECLOSED);
}

static void call_what_is_closed(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_acquire(&lock, 1, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_semaphore_release(&lock, 1), LS_ECLOSED);
}

static void a_close_ends_all(void **state)
{
    (void)state;
    static struct ls_mutex_ops closing;
    one(2);
    closing = ops;
    closing.on_done = close_in_callback;
    options.ops = &closing;
    acquire(1, 1);
    acquire(10, 2);
    acquire(20, 1);
    told("1 granted");
    stage_job(0, close_lock);
    told("10 ECLOSED; 20 ECLOSED; 1 lost");
    assert_null(lock.leases.session);
    assert_null(lock.line.session);
    assert_int_equal(acquire(1, 1), LS_ECLOSED);
    assert_int_equal(begin(start_cancel, 1, 0), LS_ECLOSED);
    assert_int_equal(begin(set_capacity, 0, 1), LS_ECLOSED);
    stage_job(0, call_what_is_closed);
    play("settle");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void init_badly(struct probe *probe)
{
    struct ls_session *session = &probe->session;
    char path[LS_SEMAPHORE_PATH_SIZE_MAX + 2];
    memset(&lock, 0, sizeof lock);
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[LS_SEMAPHORE_PATH_SIZE_MAX + 1] = 0;
    assert_int_equal(ls_semaphore_init(NULL, session, "/x", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, NULL, "/x", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, NULL, 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, "x", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, "", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, "/x/", 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, path, 1, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, "/x", 0, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_init(&lock, session, "/x", LS_SEMAPHORE_CAPACITY_MAX + 1, NULL), LS_EINVAL);
    for (int n = 1; n <= 2; n++) {
        process_mark(0)->fail_in = (uint8_t)n;
        ls_env_callback_enter(probe->session.env); /* where nothing can be closed */
        assert_int_equal(ls_semaphore_init(&lock, session, "/x", 1, NULL), LS_ENOMEM);
        ls_env_callback_leave(probe->session.env);
        process_mark(0)->fail_in = 0;
        assert_null(lock.leases.session);
        assert_null(lock.line.session);
    }
    path[LS_SEMAPHORE_PATH_SIZE_MAX] = 0;
    assert_int_equal(ls_semaphore_init(&lock, session, path, LS_SEMAPHORE_CAPACITY_MAX, NULL), LS_OK);
    assert_string_equal(strrchr(lock.leases.place->path, '/'), "/leases");
    assert_int_equal(ls_semaphore_close(&lock), LS_OK);
    assert_int_equal(ls_semaphore_init(&lock, session, "/", 1, NULL), LS_OK);
    assert_string_equal(lock.leases.place->path, "/leases");
    assert_string_equal(lock.line.place->path, "/locks");
    assert_int_equal(ls_semaphore_close(&lock), LS_OK);
}

static void what_is_no_semaphore_is_not_initialised(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage_job(0, init_badly);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_the_capacity_are_held),
        cmocka_unit_test(several_leases_come_together),
        cmocka_unit_test(who_comes_first_is_served_first),
        cmocka_unit_test(a_lease_is_not_reentrant),
        cmocka_unit_test(a_number_is_granted_once),
        cmocka_unit_test(numbers_and_counts_have_bounds),
        cmocka_unit_test(an_acquire_needs_memory),
        cmocka_unit_test(leases_are_no_mutex_to_acquire),
        cmocka_unit_test(a_try_ends_at_once),
        cmocka_unit_test(who_gives_up_leaves_none),
        cmocka_unit_test(a_deadline_ends_the_wait_for_room),
        cmocka_unit_test(who_waits_gets_the_outcome),
        cmocka_unit_test(a_larger_capacity_lets_waiters_in),
        cmocka_unit_test(a_smaller_capacity_keeps_waiters_waiting),
        cmocka_unit_test(each_lease_is_lost_by_itself),
        cmocka_unit_test(what_waits_goes_on_in_the_next_session),
        cmocka_unit_test(leases_are_listed),
        cmocka_unit_test(a_close_ends_all),
        cmocka_unit_test(what_is_no_semaphore_is_not_initialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
