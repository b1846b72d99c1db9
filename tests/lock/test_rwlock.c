/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The read-write lock: what its halves do that a mutex does not. tests/promises has a break for each
 * sentence of rwlock.h; what several processes do is in scenarios/rwlock, and in the searches. */
#include "stage.h"

#include <lockstep/rwlock.h>

static struct ls_rwlock lock;
static struct ls_mutex_options options;
static struct ls_mutex_counters counters;

/* ---- what the callbacks say: "read 1 granted" ---- */

static const char *half_of(const struct ls_mutex *mutex)
{
    return mutex == &lock.read ? "read" : "write";
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    stage.token = outcome->token;
    stage_add(stage.told, "%s %d %s", half_of(mutex), (int)owner,
              outcome->rc ? stage_err(outcome->rc) : "granted");
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    stage_add(stage.told, "%s %d freed%s%s", half_of(mutex), (int)owner, rc ? " " : "",
              rc ? stage_err(rc) : "");
}

static void on_participants(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    (void)user;
    assert_int_equal(rc, LS_OK);
    stage_add(stage.told, "%s sees", half_of(mutex));
    for (int i = 0; i < count; i++) {
        size_t size = strlen(stage.told);
        assert_int_equal(ls_mutex_contender_path(mutex, list[i].name, path, sizeof path), LS_OK);
        snprintf(stage.told + size, STAGE_TEXT - size, " %s", strstr(list[i].name, "__"));
    }
}

static const struct ls_mutex_ops ops = {
    .on_done = on_done, .on_freed = on_freed, .on_participants = on_participants};

/* ---- one process with a lock ---- */

static void open_lock(struct probe *probe)
{
    counters = (struct ls_mutex_counters){0};
    options = (struct ls_mutex_options){.ops = &ops, .counters = &counters};
    assert_int_equal(ls_rwlock_init(&lock, &probe->session, "/locks/x", &options), LS_OK);
}

static void one(void)
{
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    stage_job(0, open_lock);
}

static void close_lock(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_rwlock_close(&lock), LS_OK);
}

static void end(void)
{
    stage_job(0, close_lock);
    play("settle");
    assert_clean(0);
    stage_end();
}

/* ---- what an owner does next ---- */

static struct {
    struct ls_mutex *half;
    uint64_t owner;
    int rc;
} call;

static void start_acquire(struct probe *probe)
{
    (void)probe;
    call.rc = ls_mutex_acquire_start(call.half, call.owner, -1);
}

static void start_release(struct probe *probe)
{
    (void)probe;
    call.rc = ls_mutex_release_start(call.half, call.owner);
}

static int begin(void (*job)(struct probe *probe), struct ls_mutex *half, uint64_t owner)
{
    call.half = half;
    call.owner = owner;
    stage_job(0, job);
    return call.rc;
}

/* The same, with the answers of the servers. */
static int acquire(struct ls_mutex *half, uint64_t owner)
{
    int rc = begin(start_acquire, half, owner);
    play("settle");
    return rc;
}

static int release(struct ls_mutex *half, uint64_t owner)
{
    int rc = begin(start_release, half, owner);
    play("settle");
    return rc;
}

/* ---- readers and writers ---- */

static void readers_hold_together_and_a_writer_alone(void **state)
{
    (void)state;
    one();
    acquire(&lock.read, 1);
    acquire(&lock.read, 2);
    acquire(&lock.write, 3);
    acquire(&lock.read, 4);
    told("read 1 granted; read 2 granted");
    release(&lock.read, 1);
    told("read 1 freed");
    release(&lock.read, 2);
    told("read 2 freed; write 3 granted");
    release(&lock.write, 3);
    told("write 3 freed; read 4 granted");
    release(&lock.read, 4);
    told("read 4 freed");
    end();
}

/* docs/operating.md says how to read them. */
static void expect_counters(uint64_t acquires, uint64_t grants, uint64_t waits, uint64_t wakeups,
                            uint64_t handovers)
{
    assert_int_equal(counters.acquires, acquires);
    assert_int_equal(counters.grants, grants);
    assert_int_equal(counters.waits, waits);
    assert_int_equal(counters.wakeups, wakeups);
    assert_int_equal(counters.handovers, handovers);
}

static void both_halves_count_together(void **state)
{
    (void)state;
    one();
    acquire(&lock.write, 1);
    acquire(&lock.read, 2);
    acquire(&lock.read, 3);
    expect_counters(3, 1, 2, 0, 0);
    release(&lock.write, 1); /* two readers are awake at once: one is timed */
    expect_counters(3, 3, 2, 2, 1);
    acquire(&lock.write, 4);
    expect_counters(4, 3, 3, 2, 1);
    release(&lock.read, 3); /* the writer waits behind the other reader now */
    expect_counters(4, 3, 4, 3, 1);
    release(&lock.read, 2);
    expect_counters(4, 4, 4, 4, 2);
    acquire(&lock.read, 4); /* a downgrade waits for nothing */
    release(&lock.write, 4);
    release(&lock.read, 4);
    expect_counters(5, 5, 4, 4, 2);
    assert_int_equal(counters.releases, 5);
    assert_int_equal(acquire(&lock.read, 5), LS_OK);
    assert_int_equal(acquire(&lock.write, 5), LS_EDEADLK); /* refused at once: not begun */
    expect_counters(6, 6, 4, 4, 2);
    assert_int_equal(counters.failures, 0);
    release(&lock.read, 5);
    stage_forget();
    end();
}

static void survey(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_participants_start(&lock.read, NULL), LS_OK);
    assert_int_equal(ls_mutex_participants_start(&lock.write, NULL), LS_OK);
}

static void both_halves_list_the_contenders_of_both(void **state)
{
    (void)state;
    one();
    acquire(&lock.read, 1);
    acquire(&lock.write, 2);
    stage_forget();
    stage_job(0, survey);
    play("settle");
    told("read sees __READ__0000000007 __WRIT__0000000008; write sees __READ__0000000007 __WRIT__0000000008");
    end();
}

/* ---- from writer to reader ---- */

static void a_writer_becomes_a_reader_with_its_token(void **state)
{
    (void)state;
    one();
    acquire(&lock.write, 1);
    int64_t token = stage.token;
    acquire(&lock.write, 2);
    assert_int_equal(acquire(&lock.read, 1), LS_OK);
    told("write 1 granted; read 1 granted");
    assert_int_equal(ls_mutex_token(&lock.read, 1), token);
    assert_int_equal(stage.token, token);
    assert_int_equal(release(&lock.write, 1), LS_OK);
    told("write 1 freed");
    release(&lock.read, 1);
    told("read 1 freed; write 2 granted");
    assert_true(ls_mutex_token(&lock.write, 2) > token);
    release(&lock.write, 2);
    stage_forget();
    end();
}

static void a_writer_keeps_its_lock_while_its_reader_is_on_its_way(void **state)
{
    (void)state;
    one();
    acquire(&lock.write, 1);
    acquire(&lock.write, 1);
    stage_forget();
    assert_int_equal(begin(start_acquire, &lock.read, 1), LS_OK);
    assert_int_equal(begin(start_release, &lock.write, 1), LS_OK); /* the inner level */
    assert_int_equal(begin(start_release, &lock.write, 1), LS_EALREADY);
    assert_int_equal(ls_mutex_depth(&lock.write, 1), 1);
    play("settle");
    told("read 1 granted");
    assert_int_equal(release(&lock.write, 1), LS_OK);
    told("write 1 freed");
    end();
}

static void a_reader_whose_writer_is_gone_is_refused(void **state)
{
    (void)state;
    one();
    acquire(&lock.write, 1);
    stage_forget();
    begin(start_acquire, &lock.read, 1);
    play("evict a");
    play("settle");
    told("read 1 ELOST; a idle");
    assert_int_equal(stage.nodes, 0);
    release(&lock.write, 1);
    told("write 1 freed ELOST");
    end();
}

/* ---- what would wait for itself ---- */

static void a_reader_does_not_become_a_writer(void **state)
{
    (void)state;
    one();
    assert_int_equal(begin(start_acquire, &lock.read, 1), LS_OK);
    assert_int_equal(begin(start_acquire, &lock.write, 1), LS_EDEADLK); /* it waits */
    play("settle");
    told("read 1 granted");
    assert_int_equal(acquire(&lock.write, 1), LS_EDEADLK); /* it holds */
    assert_int_equal(acquire(&lock.read, 1), 1);
    release(&lock.read, 1);
    release(&lock.read, 1);
    stage_forget();
    assert_int_equal(acquire(&lock.write, 1), LS_OK);
    told("write 1 granted");
    end();
}

static void who_waits_to_write_does_not_ask_to_read(void **state)
{
    (void)state;
    one();
    assert_int_equal(begin(start_acquire, &lock.write, 1), LS_OK);
    assert_int_equal(begin(start_acquire, &lock.read, 1), LS_EALREADY);
    play("settle");
    told("write 1 granted");
    end();
}

/* ---- life ---- */

static void close_in_callback(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    on_done(mutex, owner, outcome);
    assert_int_equal(ls_rwlock_close(&lock), LS_EDEADLK);
}

static void both_halves_are_closed(void **state)
{
    (void)state;
    static struct ls_mutex_ops closing;
    one();
    closing = ops;
    closing.on_done = close_in_callback;
    options.ops = &closing;
    acquire(&lock.write, 1);
    acquire(&lock.read, 2);
    told("write 1 granted");
    options.ops = &ops;
    stage_job(0, close_lock);
    told("read 2 ECLOSED");
    assert_null(lock.read.session);
    assert_null(lock.write.session);
    assert_int_equal(acquire(&lock.read, 1), LS_ECLOSED);
    assert_int_equal(acquire(&lock.write, 1), LS_ECLOSED);
    end();
}

static void close_write_half(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_mutex_close(&lock.write), LS_OK);
}

static void a_callback_of_the_only_open_half_closes_nothing(void **state)
{
    (void)state;
    static struct ls_mutex_ops closing;
    one();
    closing = ops;
    closing.on_done = close_in_callback;
    options.ops = &closing;
    stage_job(0, close_write_half);
    acquire(&lock.read, 1);
    told("read 1 granted");
    assert_non_null(lock.read.session);
    assert_int_equal(ls_mutex_query(&lock.read, 1), LS_HELD);
    options.ops = &ops;
    end();
}

static void init_without_memory(struct probe *probe)
{
    memset(&lock, 0, sizeof lock);
    assert_int_equal(ls_rwlock_init(NULL, &probe->session, "/x", NULL), LS_EINVAL);
    assert_int_equal(ls_rwlock_init(&lock, &probe->session, "x", NULL), LS_EINVAL);
    for (int n = 1; n <= 2; n++) {
        process_mark(0)->fail_in = (uint8_t)n;
        ls_env_callback_enter(probe->session.env); /* where nothing can be closed */
        assert_int_equal(ls_rwlock_init(&lock, &probe->session, "/x", NULL), LS_ENOMEM);
        ls_env_callback_leave(probe->session.env);
        process_mark(0)->fail_in = 0;
        assert_null(lock.read.session);
        assert_null(lock.write.session);
    }
}

static void no_half_is_initialised_without_the_other(void **state)
{
    (void)state;
    stage_set(1);
    stage_ready();
    stage_job(0, init_without_memory);
    stage_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_hold_together_and_a_writer_alone),
        cmocka_unit_test(both_halves_count_together),
        cmocka_unit_test(both_halves_list_the_contenders_of_both),
        cmocka_unit_test(a_writer_becomes_a_reader_with_its_token),
        cmocka_unit_test(a_writer_keeps_its_lock_while_its_reader_is_on_its_way),
        cmocka_unit_test(a_reader_whose_writer_is_gone_is_refused),
        cmocka_unit_test(a_reader_does_not_become_a_writer),
        cmocka_unit_test(who_waits_to_write_does_not_ask_to_read),
        cmocka_unit_test(both_halves_are_closed),
        cmocka_unit_test(a_callback_of_the_only_open_half_closes_nothing),
        cmocka_unit_test(no_half_is_initialised_without_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
