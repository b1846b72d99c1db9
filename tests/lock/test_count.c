/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The shared count of a semaphore, and the warning of a second capacity on one path. tests/kinds/shared_count has
 * the searches, tests/promises a break for each sentence of semaphore.h. */
#include "lock/claim.h"
#include "stage.h"

#include <lockstep/semaphore.h>

#define COUNT "/locks/count"

static struct ls_semaphore lock, other;
static struct ls_mutex_options options;
static uint32_t capacity;
static int rc;

/* ---- what the callbacks say ---- */

static void on_done(struct ls_mutex *leases, uint64_t lease, const struct ls_outcome *outcome)
{
    (void)leases;
    stage_add(stage.told, "%d %s", (int)lease, outcome->rc ? stage_err(outcome->rc) : "granted");
}

static void on_warning(struct ls_mutex *leases, uint64_t lease, enum ls_warning warning)
{
    (void)leases;
    stage_add(stage.told, "%d warned %d", (int)lease, (int)warning);
}

static void on_capacity(struct ls_semaphore *semaphore, void *user, uint32_t number)
{
    assert_ptr_equal(user, &capacity);
    assert_int_equal(semaphore->leases.place->capacity, number);
    assert_int_equal(ls_mutex_query(&semaphore->leases, 99), LS_NOT_HELD);
    stage_add(stage.told, "%scapacity %d", semaphore == &other ? "other " : "", (int)number);
}

static const struct ls_mutex_ops ops = {.on_done = on_done, .on_warning = on_warning};

/* ---- one process with a semaphore that follows a count ---- */

static void open_lock(struct probe *probe)
{
    options = (struct ls_mutex_options){.ops = &ops};
    assert_int_equal(ls_semaphore_init(&lock, &probe->session, "/locks/x", capacity, &options), LS_OK);
}

static void follow(struct probe *probe)
{
    (void)probe;
    rc = ls_semaphore_follow(&lock, COUNT, on_capacity, &capacity);
}

static void begin_with(uint32_t leases)
{
    capacity = leases;
    stage_set_semaphore()->sets_no_data = false;
    stage_ready();
    stage_job(0, open_lock);
}

static void begin_following(void)
{
    begin_with(1);
    play("create " COUNT);
    stage_job(0, follow);
    assert_int_equal(rc, LS_OK);
    play("settle");
    told("");
}

static void close_lock(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_close(&lock), LS_OK);
}

static void nothing_is_reserved(struct probe *probe)
{
    assert_int_equal(probe->session.reserved, 0);
}

static void end(void)
{
    stage_job(0, close_lock);
    play("settle");
    stage_job(0, nothing_is_reserved);
    assert_clean(0);
    stage_end();
}

/* ---- steps ---- */

static const char *bytes;
static int size;

static void on_set(int zk_rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    (void)data;
    assert_int_equal(zk_rc, ZOK);
}

static void write_bytes(struct probe *probe)
{
    assert_int_equal(zoo_aset(probe->session.zh, COUNT, bytes, size, -1, on_set, NULL), ZOK);
}

static void write_count(const char *value, int value_size)
{
    bytes = value;
    size = value_size;
    stage_job(0, write_bytes);
    play("settle");
}

static uint64_t first;

static void start_acquire(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_acquire_start(&lock, first, 1, -1), LS_OK);
}

static void acquire(uint64_t lease)
{
    first = lease;
    stage_job(0, start_acquire);
    play("settle");
}

/* ---- following ---- */

static void a_count_is_the_capacity(void **state)
{
    (void)state;
    begin_following();
    acquire(1);
    acquire(2);
    told("1 granted");
    write_count("\0\0\0\2", 4);
    told("capacity 2; 2 granted");
    acquire(3);
    write_count("\0\0\0\1", 4);
    told("capacity 1");
    write_count("\0\0\x27\x10", 4);
    told("capacity 10000; 3 granted");
    end();
}

static void what_is_no_capacity_changes_nothing(void **state)
{
    (void)state;
    begin_following();
    write_count("\0\0\0\2", 4);
    told("capacity 2");
    write_count("\0\0\0\0", 4);
    write_count("\0\0\x27\x11", 4);
    write_count("\x80\0\0\1", 4);
    write_count("3", 1);
    write_count("\0\0\0\3\0", 5);
    write_count("", 0);
    write_count(NULL, -1);
    write_count("\0\0\0\2", 4);
    told("");
    assert_int_equal(lock.leases.place->capacity, 2);
    write_count("\0\0\0\3", 4);
    told("capacity 3");
    end();
}

static void a_count_may_be_missing(void **state)
{
    (void)state;
    begin_with(1);
    stage_job(0, follow);
    assert_int_equal(rc, LS_OK);
    play("settle");
    play("create " COUNT);
    play("settle");
    write_count("\0\0\0\2", 4);
    told("capacity 2");
    play("remove " COUNT);
    play("settle");
    told("");
    assert_int_equal(lock.leases.place->capacity, 2);
    play("create " COUNT);
    play("settle");
    write_count("\0\0\0\4", 4);
    told("capacity 4");
    end();
}

static void a_count_may_be_unreadable(void **state)
{
    (void)state;
    begin_with(1);
    play("create " COUNT " perms=2");
    stage_job(0, follow);
    play("settle");
    write_count("\0\0\0\2", 4);
    told("");
    assert_int_equal(lock.leases.place->capacity, 1);
    end();
}

static void the_next_session_reads_it_too(void **state)
{
    (void)state;
    begin_following();
    play("expire a");
    play("settle");
    write_count("\0\0\0\2", 4);
    told("a suspended; a lost; a connected; capacity 2");
    play("cut a");
    play("settle");
    write_count("\0\0\0\3", 4);
    told("a suspended; a reconnected; capacity 3");
    end();
}

static void follow_on_other(struct probe *probe)
{
    assert_int_equal(ls_semaphore_init(&other, &probe->session, "/locks/y", 1, &options), LS_OK);
    assert_int_equal(ls_semaphore_follow(&other, COUNT, on_capacity, &capacity), LS_OK);
    assert_int_equal(ls_semaphore_follow(&other, COUNT, NULL, NULL), LS_EALREADY);
}

static void close_other(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_close(&other), LS_OK);
    assert_int_equal(ls_semaphore_follow(&other, COUNT, NULL, NULL), LS_ECLOSED);
}

static void two_semaphores_follow_one_count(void **state)
{
    (void)state;
    begin_following();
    stage_job(0, follow_on_other);
    play("settle");
    write_count("\0\0\0\2", 4);
    told("capacity 2; other capacity 2");
    stage_job(0, close_other);
    play("settle");
    write_count("\0\0\0\3", 4);
    told("capacity 3");
    end();
}

static void follow_badly(struct probe *probe)
{
    static char path[LS_MUTEX_PATH_SIZE_MAX + 2];
    memset(path, 'x', LS_MUTEX_PATH_SIZE_MAX + 1);
    path[0] = '/';
    assert_int_equal(ls_semaphore_follow(&lock, NULL, NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_follow(&lock, "count", NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_follow(&lock, "/count/", NULL, NULL), LS_EINVAL);
    assert_int_equal(ls_semaphore_follow(&lock, path, NULL, NULL), LS_EINVAL);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_semaphore_follow(&lock, COUNT, NULL, NULL), LS_ENOMEM);
    process_mark(0)->fail_in = 0;
    uint64_t reserved = probe->session.reserved;
    probe->session.reserved = UINT32_MAX;
    assert_int_equal(ls_semaphore_follow(&lock, COUNT, NULL, NULL), LS_EOVERFLOW);
    probe->session.reserved = reserved;
    assert_int_equal(ls_semaphore_follow(&lock, COUNT, NULL, NULL), LS_OK);
    assert_int_equal(ls_semaphore_follow(&lock, COUNT, NULL, NULL), LS_EALREADY);
}

static void what_cannot_be_followed_is_refused(void **state)
{
    (void)state;
    begin_with(1);
    play("create " COUNT);
    stage_job(0, follow_badly);
    play("settle");
    write_count("\0\0\0\2", 4);
    assert_int_equal(lock.leases.place->capacity, 2);
    told("");
    end();
}

static void resize(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_semaphore_set_capacity(&lock, capacity), LS_OK);
}

static void another_capacity_lasts_until_the_next_read(void **state)
{
    (void)state;
    begin_following();
    capacity = 5;
    stage_job(0, resize);
    assert_int_equal(lock.leases.place->capacity, 5);
    write_count("\0\0\0\2", 4);
    told("capacity 2");
    end();
}

/* Of the two calls that read the count. */
static void a_call_that_is_refused_is_repeated(void **state)
{
    (void)state;
    begin_following();
    bytes = "\0\0\0\2";
    size = 4;
    stage_job(0, write_bytes);
    play("fail-call a");
    play("settle");
    told("capacity 2");
    bytes = "\0\0\0\3";
    stage_job(0, write_bytes);
    play("fail-call a n=2");
    play("settle");
    told("capacity 3");
    end();
}

/* The answer to the next read of the contents. */
static struct {
    int rc;     /* in place of the server's, unless it is 0 */
    bool waits; /* after that answer a timer runs until the next try */
    data_completion_t got;
} mishap;

static void on_got(int zk_rc, const char *value, int value_size, const struct Stat *stat, const void *data)
{
    int taken = mishap.rc;
    mishap.rc = 0;
    if (taken == ZOK) {
        mishap.got(zk_rc, value, value_size, stat, data);
    } else {
        mishap.got(taken, NULL, -1, NULL, data);
        mishap.waits = lock.leases.session->retry_timer.armed != 0;
    }
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t done, const void *data);
int __wrap_zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t done, const void *data);

int __wrap_zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t done, const void *data)
{
    mishap.got = done;
    return __real_zoo_aget(zh, path, watch, on_got, data);
    /* NOLINTEND(bugprone-reserved-identifier) */
}

/* The server could not read the count: it is read again after a while, without another change. */
static void a_read_that_fails_is_repeated(void **state)
{
    (void)state;
    begin_following();
    bytes = "\0\0\0\2";
    size = 4;
    mishap.rc = ZSYSTEMERROR;
    stage_job(0, write_bytes);
    play("settle");
    assert_true(mishap.waits);
    told("capacity 2");
    end();
}

/* ---- two capacities on one path ---- */

static void open_other(struct probe *probe)
{
    assert_int_equal(ls_semaphore_init(&other, &probe->session, "/locks/x", 3, NULL), LS_OK);
    assert_int_equal(ls_semaphore_acquire_start(&other, 1, 3, -1), LS_OK);
}

static void a_larger_capacity_of_others_is_told(void **state)
{
    (void)state;
    begin_with(1);
    stage_job(0, open_other);
    play("settle");
    told("");
    acquire(1);
    told("1 warned 4");
    acquire(2);
    told("");
    stage_job(0, close_other);
    play("settle");
    told("a idle; 1 granted");
    end();
}

static void ones_own_former_capacity_is_no_reason(void **state)
{
    (void)state;
    begin_with(2);
    acquire(1);
    acquire(2);
    capacity = 1;
    stage_job(0, resize);
    acquire(3);
    told("1 granted; 2 granted");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_the_capacity),
        cmocka_unit_test(what_is_no_capacity_changes_nothing),
        cmocka_unit_test(a_count_may_be_missing),
        cmocka_unit_test(a_count_may_be_unreadable),
        cmocka_unit_test(the_next_session_reads_it_too),
        cmocka_unit_test(two_semaphores_follow_one_count),
        cmocka_unit_test(what_cannot_be_followed_is_refused),
        cmocka_unit_test(another_capacity_lasts_until_the_next_read),
        cmocka_unit_test(a_call_that_is_refused_is_repeated),
        cmocka_unit_test(a_read_that_fails_is_repeated),
        cmocka_unit_test(a_larger_capacity_of_others_is_told),
        cmocka_unit_test(ones_own_former_capacity_is_no_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
