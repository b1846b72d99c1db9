/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The blocking shell among threads: programs of two threads on one session, in all schedules that differ from the plain one
 * in a few places, and in drawn ones. The library is the shipped one; its environment is made of fibres that change at the
 * mutex, and its ensemble is the fake. A schedule says who goes on: a thread, the client's completion thread, a timer's, the
 * ensemble, or a fault.
 *
 * What is wanted of every run: nobody waits for ever, one thread at a time is between acquire and release, answers are
 * among those that the headers name, nothing is called after a close, and all memory is given back. */
#include "base/arena.h"
#include "lock/claim.h"
#include "support/build_kind.h"
#include "support/env_fibre.h"
#include "support/fibre.h"
#include "support/schedules.h"

#include <lockstep/election.h>
#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <lockstep/multi.h>
#include <lockstep/mutex.h>
#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>
#include <lockstep/session.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES (8u << 20)
#define STEPS_MAX 64
#define PATH "/locks/x"
#define FOREIGN PATH "/_c_ffffffff-ffff-4fff-8fff-ffffffffffff-lock-0000000000"

/* ---- one run ---- */

enum { CLOSER, ONE, TWO, THREADS, COMPLETION = THREADS, TIMER_1, TIMER_2 }; /* fibres */

struct program {
    const char *name;
    void (*thread[THREADS])(void); /* of ONE and TWO; the closer waits for them, then closes everything */
    bool foreign;       /* somebody else stands first in line, and goes away when nothing else happens */
    bool expires, cuts; /* faults that may happen once */
    bool logs;          /* each acquire and release writes lines, which are callbacks */
    bool shared;   /* threads may be in the critical section together: the session is closed under them */
    bool lent;     /* the handle is the program's, and is closed after the session */
    bool unopened; /* the session is initialised; a thread starts it, or lends it the handle */
    bool rwlock;   /* there is a read-write lock beside the mutex */
    int capacity;  /* of a semaphore beside the mutex; 0 = there is none */
    bool election; /* there are two candidates beside the mutex, at one path */
    bool several;  /* there is a multi beside the mutex, of a mutex at its path and another one */
};

static struct arena arena;
static struct {
    const struct program *program;
    struct ls_session session;
    struct ls_session_listener listener;
    struct ls_mutex mutex;
    struct ls_rwlock rwlock;
    struct ls_semaphore semaphore;
    struct ls_election election[2]; /* of ONE and of TWO */
    struct ls_multi multi;
    struct ls_multi_member members[2];
    struct ls_log log;
    bool calling[THREADS]; /* in a blocking acquire or release */
    int inside;            /* threads in the critical section */
    int readers, writers;  /* threads that hold a half of the read-write lock */
    int leases;            /* of the semaphore that threads hold */
    bool handed_over;      /* a lease is for the other thread to release */
    int leaders;           /* threads that lead */
    int terms;             /* that each candidate has led, in a program that stands again */
    int resignations;      /* that were taken and not told */
    int losses;            /* that were told */
    bool closed;           /* no callback may come any more */
    bool hearing;          /* the listener is being called */
    bool deaf;             /* the listener is removed: its memory may be gone */
    bool closing;          /* the mutex is being closed */
    bool shut;             /* and is closed: none of its callbacks may come any more */
    int rounds;            /* of an owner that asks again and again */
    int surveys;           /* that have not been answered */
    int acquires;          /* of the asynchronous kind, likewise */
    int requests;          /* to give a lock back, likewise */
    int multis;            /* likewise */
    bool ending;           /* the session is being closed */
    bool second_deaf;      /* the second listener has been removed */
    struct ls_session_listener second;
    struct ls_mutex other;
    struct ls_loan loan;
    zhandle_t *handle; /* of the program */
    zoo_op_result_t result;
    bool writing;      /* a thread holds the lock, and has begun a guarded write */
    bool draining;     /* a thread calls what a closed handle still owes, in place of the completion thread */
    bool foreign;      /* the foreign node stands */
    bool expired, cut; /* spent */
    int rc[THREADS][4]; /* what calls answered */
    int calls[THREADS];
} now;

/* ---- the client's threads ---- */

static struct {
    bool busy;
    struct fakezk_step step; /* of the completion thread */
    struct ls_timer *timer;  /* of the timers' threads */
} work[FIBRES_MAX];

static bool is_busy(void *ctx)
{
    return *(bool *)ctx;
}

static void wait_for_work(bool *busy)
{
    if (!*busy) {
        fibre_wait(is_busy, busy);
    }
}

static void deliver_for_ever(void *ctx)
{
    (void)ctx;
    for (;;) {
        wait_for_work(&work[COMPLETION].busy);
        fakezk_step(&work[COMPLETION].step);
        work[COMPLETION].busy = false;
        if (now.closed && !now.program->lent) { /* a handle on loan has callbacks of its own */
            env_fibre_blame("a callback after the end of the close");
        }
    }
}

/* As a timer's thread does: what was armed when it was chosen may be stopped by the time it has the mutex. */
static void fire_for_ever(void *ctx)
{
    int self = fibre_self();
    (void)ctx;
    for (;;) {
        wait_for_work(&work[self].busy);
        env_fibre_fire(work[self].timer);
        work[self].busy = false;
    }
}

static bool is_idle(void *ctx)
{
    return !*(bool *)ctx;
}

/* The client library waits for its completion thread, which ends when its callback has returned. */
/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zookeeper_close(zhandle_t *zh);
int __wrap_zookeeper_close(zhandle_t *zh);
/* NOLINTEND(bugprone-reserved-identifier) */
int __wrap_zookeeper_close(zhandle_t *zh)
{
    if (fibre_self() == COMPLETION) {
        env_fibre_blame("a handle is closed by its own completion thread");
    }
    while (work[COMPLETION].busy) {
        fibre_wait(is_idle, &work[COMPLETION].busy);
    }
    if (now.closed) {
        env_fibre_blame("a handle is closed after the end of the close");
    }
    now.draining = true;
    int rc = __real_zookeeper_close(zh);
    now.draining = false;
    return rc;
}

/* ---- what threads do ---- */

static int note(int rc)
{
    int self = fibre_self();
    assert_true(now.calls[self] < 4);
    now.rc[self][now.calls[self]++] = rc;
    return rc;
}

static void work_inside(void)
{
    int losses = now.losses;
    now.inside++;
    fibre_pause();
    if (now.inside > 1 && !now.program->shared && losses == now.losses && now.losses == 0 && !now.expired) {
        env_fibre_blame("two threads hold the lock");
    }
    now.inside--;
}

/* Who has come back is not to be written to: his call stood on his stack. */
static void look_for_ended_calls(void)
{
    for (const struct lock_claim *claim = now.session.claims; claim; claim = claim->next) {
        if (claim->state == LOCK_LEFTOVER && claim->call) {
            env_fibre_blame("a claim remembers a call that has ended");
        }
    }
}

static int call_acquire(int timeout_ms)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_mutex_acquire(&now.mutex, timeout_ms);
    now.calling[self] = false;
    return note(rc);
}

static void call_release(void)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_mutex_release(&now.mutex);
    now.calling[self] = false;
    note(rc);
}

/* A blocking call comes back with its answer, whatever others are to be told. */
static void look_who_is_called(void)
{
    int self = fibre_self();
    if (now.closed) {
        env_fibre_blame("a callback after the end of the close");
    }
    if (self < THREADS && now.calling[self]) {
        env_fibre_blame("a blocking call runs a callback");
    }
}

static void hold(int timeout_ms)
{
    if (call_acquire(timeout_ms) == LS_OK) {
        work_inside();
        call_release();
        look_for_ended_calls();
    }
}

static void hold_once(void)
{
    hold(-1);
}

static void hold_in_time(void)
{
    hold(100);
}

static void hold_if_free(void)
{
    if (note(ls_mutex_try(&now.mutex)) == LS_OK) {
        work_inside();
        call_release();
    }
}

static void try_once(void)
{
    hold(0);
}

static void hold_twice(void)
{
    hold_once();
    hold_once();
}

static void hold_within(void)
{
    if (note(ls_mutex_acquire(&now.mutex, -1)) == LS_OK) {
        hold_once();
        note(ls_mutex_release(&now.mutex));
    }
}

/* ---- the read-write lock ---- */

static int call_half(int (*call)(struct ls_mutex *half), struct ls_mutex *half)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = call(half);
    now.calling[self] = false;
    return note(rc);
}

static int acquire_half(struct ls_mutex *half)
{
    return ls_mutex_acquire(half, -1);
}

/* Longer than an acquire takes. */
static void stay(void)
{
    for (int i = 0; i < 12; i++) {
        fibre_pause();
    }
    bool alone = now.writers == 0 || now.writers + now.readers == 1;
    if (!alone && !now.program->shared && now.losses == 0 && !now.expired) {
        env_fibre_blame("%d writers and %d readers hold the lock", now.writers, now.readers);
    }
}

static void read_once(void)
{
    if (call_half(acquire_half, &now.rwlock.read) == LS_OK) {
        now.readers++;
        stay();
        now.readers--;
        call_half(ls_mutex_release, &now.rwlock.read);
    }
}

static void write_once(void)
{
    if (call_half(acquire_half, &now.rwlock.write) == LS_OK) {
        now.writers++;
        stay();
        now.writers--;
        call_half(ls_mutex_release, &now.rwlock.write);
    }
}

static void write_and_go_on_reading(void)
{
    if (call_half(acquire_half, &now.rwlock.write) != LS_OK) {
        return;
    }
    now.writers++;
    stay();
    bool reads = call_half(acquire_half, &now.rwlock.read) == LS_OK;
    now.writers--;
    now.readers += reads;
    call_half(ls_mutex_release, &now.rwlock.write);
    stay();
    now.readers -= reads;
    if (reads) {
        call_half(ls_mutex_release, &now.rwlock.read);
    }
}

static void read_and_want_to_write(void)
{
    if (call_half(acquire_half, &now.rwlock.read) == LS_OK) {
        now.readers++;
        int rc = ls_mutex_acquire(&now.rwlock.write, -1);
        if (rc != LS_EDEADLK && !(rc == LS_ECLOSED && now.program->shared) && !now.expired) {
            env_fibre_blame("a reader that wants to write is answered %s", ls_strerror(rc));
        }
        stay();
        now.readers--;
        call_half(ls_mutex_release, &now.rwlock.read);
    }
}

/* ---- the semaphore ---- */

#define HANDED_OVER 99 /* a lease that another thread releases */

/* The leases of a thread. */
static uint64_t first_lease(void)
{
    return 10 * (uint64_t)fibre_self() + 1;
}

static int acquire_leases(uint64_t first, int count)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_semaphore_acquire(&now.semaphore, first, (uint32_t)count, -1);
    now.calling[self] = false;
    return note(rc);
}

static int release_lease(uint64_t lease)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_semaphore_release(&now.semaphore, lease);
    now.calling[self] = false;
    return note(rc);
}

static void stay_with_leases(void)
{
    for (int i = 0; i < 12; i++) {
        fibre_pause();
    }
    bool fits = now.leases <= now.program->capacity;
    if (!fits && !now.program->shared && now.losses == 0 && !now.expired) {
        env_fibre_blame("%d leases of %d are held", now.leases, now.program->capacity);
    }
}

static void use(int count)
{
    if (acquire_leases(first_lease(), count) != LS_OK) {
        return;
    }
    now.leases += count;
    stay_with_leases();
    for (int i = 0; i < count; i++) {
        now.leases--;
        release_lease(first_lease() + (uint64_t)i);
    }
}

static void use_one(void)
{
    use(1);
}

static void use_two(void)
{
    use(2);
}

static bool is_handed_over(void *unused)
{
    (void)unused;
    return now.handed_over;
}

static void hand_over(void)
{
    if (acquire_leases(HANDED_OVER, 1) == LS_OK) {
        now.handed_over = true;
        use_two(); /* there is room for it once the other thread has released the first */
    }
}

static void release_what_is_handed_over(void)
{
    fibre_wait(is_handed_over, NULL);
    int rc = release_lease(HANDED_OVER);
    if (rc != LS_OK) {
        env_fibre_blame("another thread's lease is not released: %s", ls_strerror(rc));
    }
}

static void close_semaphore(void)
{
    if (ls_semaphore_close(&now.semaphore) != LS_OK) {
        env_fibre_blame("the semaphore is not closed");
    }
}

/* ---- several locks at once ---- */

static int call_multi(int timeout_ms)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = timeout_ms == 0 ? ls_multi_release(&now.multi) : ls_multi_acquire(&now.multi, timeout_ms);
    now.calling[self] = false;
    return note(rc);
}

static void hold_both(void)
{
    if (call_multi(-1) == LS_OK) {
        work_inside();
        call_multi(0);
    }
}

static void hold_both_in_time(void)
{
    if (call_multi(100) == LS_OK) {
        work_inside();
        call_multi(0);
    }
}

static void close_multi(void)
{
    if (ls_multi_close(&now.multi) != LS_OK) {
        env_fibre_blame("the multi is not closed");
    }
}

static int open_multi(void)
{
    int rc = ls_multi_init(&now.multi, now.members, 2, NULL);
    rc = rc < 0 ? rc : ls_multi_add_mutex(&now.multi, &now.session, "/locks/z");
    rc = rc < 0 ? rc : ls_multi_add_mutex(&now.multi, &now.session, PATH);
    return rc < 0 ? rc : LS_OK;
}

static void close_rwlock(void)
{
    if (ls_rwlock_close(&now.rwlock) != LS_OK) {
        env_fibre_blame("the read-write lock is not closed");
    }
}

static void wait_until_connected(void);

/* ---- the election ---- */

static struct ls_election *own_election(void)
{
    return &now.election[fibre_self() == ONE ? 0 : 1];
}

/* No other candidate leads meanwhile, unless a session has ended under this one. */
static void stay_as_leader(void)
{
    now.leaders++;
    for (int i = 0; i < 12; i++) {
        fibre_pause();
    }
    if (now.leaders > 1 && !now.program->shared && now.losses == 0 && !now.expired) {
        env_fibre_blame("%d candidates lead", now.leaders);
    }
    now.leaders--;
}

static int work_as_leader(struct ls_election *election, int64_t token, void *user)
{
    if (token == 0 || user != &now || (ls_election_token(election) != token && !now.expired && !now.ending)) {
        env_fibre_blame("the work of a leader begins without a term");
    }
    int rc = ls_election_start(election); /* no other term begins meanwhile */
    if (rc != LS_EALREADY) {
        env_fibre_blame("a leader stands for election: %s", ls_strerror(rc));
    }
    stay_as_leader();
    return now.terms-- > 0 ? 0 : 7;
}

static void call_lead(unsigned flags)
{
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_election_lead(own_election(), work_as_leader, &now, flags);
    now.calling[self] = false;
    bool ended = now.program->shared && rc == (now.ending ? LS_ECLOSED : LS_ECANCELED);
    if (rc != 7 && !(rc == 0 && flags == 0) && !ended) {
        env_fibre_blame("ls_election_lead() answers %s", ls_strerror(rc));
    }
    if (ls_election_query(own_election()) != LS_NOT_HELD || ls_election_is_candidate(own_election())) {
        env_fibre_blame("a candidate is left over");
    }
}

static void lead_once(void)
{
    call_lead(0);
}

static void lead_twice(void)
{
    now.terms = 1;
    call_lead(LS_ELECTION_REQUEUE);
}

/* A term by the functions that do not wait. */
static void stand_await_and_resign(void)
{
    struct ls_election *election = own_election();
    int rc = ls_election_start(election);
    rc = rc != LS_OK ? rc : ls_election_await(election, -1);
    if (rc == LS_OK) {
        stay_as_leader();
        rc = ls_election_resign(election);
        now.resignations += rc == LS_OK;
    }
    bool ended = rc == LS_ECANCELED || rc == LS_ENOENT || rc == LS_ECLOSED;
    if (rc != LS_OK && rc != LS_ELOST && !(ended && now.program->shared)) {
        env_fibre_blame("a candidate is answered %s", ls_strerror(rc));
    }
}

static void await_the_other(void)
{
    int rc = ls_election_await(&now.election[0], -1);
    if (rc != LS_OK && rc != LS_ENOENT && rc != LS_ECANCELED && !(rc == LS_ECLOSED && now.program->shared)) {
        env_fibre_blame("a thread that awaits a term is answered %s", ls_strerror(rc));
    }
}

/* Its deadline may come while the other thread waits, too. */
static void await_the_other_in_time(void)
{
    int rc = ls_election_await(&now.election[0], 100);
    if (rc != LS_OK && rc != LS_ENOENT && rc != LS_ECANCELED && rc != LS_ETIMEDOUT) {
        env_fibre_blame("a thread that awaits a term in time is answered %s", ls_strerror(rc));
    }
}

static void await_in_time(void)
{
    int rc = ls_election_start(own_election());
    rc = rc != LS_OK ? rc : ls_election_await(own_election(), 100);
    if (rc != LS_OK && rc != LS_ETIMEDOUT) {
        env_fibre_blame("a candidate is answered %s", ls_strerror(rc));
    }
    rc = ls_election_resign(own_election());
    now.resignations += rc == LS_OK;
    if (rc != LS_OK) {
        env_fibre_blame("a resignation is answered %s", ls_strerror(rc));
    }
}

static void resign_the_other(void)
{
    int rc = ls_election_resign(&now.election[0]);
    now.resignations += rc == LS_OK;
    if (rc != LS_OK && rc != 1 && rc != LS_ENOENT && rc != LS_ELOST) {
        env_fibre_blame("a resignation is answered %s", ls_strerror(rc));
    }
}

static bool somebody_leads(void *ctx)
{
    (void)ctx;
    return now.leaders > 0 || fibre_is_done(ONE);
}

static void resign_under_the_work(void)
{
    if (!somebody_leads(NULL)) {
        fibre_wait(somebody_leads, NULL);
    }
    int rc = ls_election_resign(&now.election[0]);
    bool between = rc == LS_OK || rc == LS_ENOENT || rc == LS_ELOST; /* between two terms, or behind them */
    now.resignations += rc == LS_OK;
    if (rc != 1 && !(between && now.leaders == 0)) {
        env_fibre_blame("a resignation under the work of a leader is answered %d", rc);
    }
}

static void stand_for_good(void)
{
    int rc = ls_election_start(own_election());
    rc = rc != LS_OK ? rc : ls_election_await(own_election(), -1);
    if (rc != LS_OK) {
        env_fibre_blame("a candidate is answered %s", ls_strerror(rc));
    }
}

static bool one_leads(void *ctx)
{
    (void)ctx;
    return now.election[0].candidate && fibre_is_done(ONE);
}

/* While the other candidate leads, and before. */
static void look_at_leader(const char *id, int rc, bool may_be_nobody)
{
    bool lost = now.cut && (rc == LS_EZK || rc == LS_ECLOSED);
    if (rc >= 0 ? rc != 3 || strcmp(id, "one") != 0 : !lost && !(may_be_nobody && rc == LS_ENOENT)) {
        env_fibre_blame("the leader is %s (%d)", id, rc);
    }
}

static void ask_for_the_leader(void)
{
    char id[8] = "";
    wait_until_connected();
    look_at_leader(id, ls_election_leader(&now.election[1], id, sizeof id), true);
    if (!one_leads(NULL)) {
        fibre_wait(one_leads, NULL);
    }
    look_at_leader(id, ls_election_leader(&now.election[1], id, sizeof id), false);
    int rc = ls_election_leader(&now.election[1], id, 3);
    if (rc != LS_EOVERFLOW && !(now.cut && (rc == LS_EZK || rc == LS_ECLOSED))) {
        env_fibre_blame("an id without room is answered %d", rc);
    }
}

static void close_elections(void)
{
    for (int i = 0; i < 2; i++) {
        if (ls_election_close(&now.election[i]) != LS_OK) {
            env_fibre_blame("an election is not closed");
        }
    }
}

static void on_elected(struct ls_election *election, int64_t token)
{
    (void)token;
    look_who_is_called();
    int rc = ls_election_await(election, -1);
    if ((rc != LS_EDEADLK && rc != LS_ECLOSED) || ls_election_close(election) != LS_EDEADLK) {
        env_fibre_blame("a call that waits is not refused in a callback");
    }
}

static void on_deposed(struct ls_election *election, int64_t token, int rc)
{
    (void)token;
    (void)rc;
    look_who_is_called();
    if (ls_election_query(election) == LS_HELD) {
        env_fibre_blame("a leader that is deposed believes that it leads");
    }
}

static void on_resigned(struct ls_election *election, int rc)
{
    (void)election;
    (void)rc;
    look_who_is_called();
    now.resignations--;
}

static const struct ls_election_ops election_ops = {
    .on_elected = on_elected, .on_deposed = on_deposed, .on_resigned = on_resigned};
static const struct ls_election_options election_options = {.ops = &election_ops};

static int open_elections(void)
{
    int rc = ls_election_init(&now.election[0], &now.session, "/locks/e", &election_options);
    rc = rc != 0 ? rc : ls_election_init(&now.election[1], &now.session, "/locks/e", &election_options);
    rc = rc != 0 ? rc : ls_election_set_id(&now.election[0], "one", 3);
    return rc != 0 ? rc : ls_election_set_id(&now.election[1], "two", 3);
}

static void cancel_one(void)
{
    int rc = ls_mutex_cancel(&now.mutex, LS_ENV_THREAD | (ONE + 1));
    if (rc != LS_OK && rc != LS_ENOENT) {
        env_fibre_blame("a cancel answers %d", rc);
    }
}

static void close_session(void)
{
    now.ending = true;
    int rc = ls_session_close(&now.session);
    if (rc == LS_ELOST && now.handle != NULL) { /* the handle has died: it is closed first */
        zookeeper_close(now.handle);
        now.handle = NULL;
        rc = ls_session_close(&now.session);
    }
    if (rc != LS_OK && !(rc == LS_EUNSURE && now.cut)) {
        env_fibre_blame("the close of the session answers %s", ls_strerror(rc));
    }
    now.closed = true;
}

/* The listener's memory may be freed when this is done. */
static void remove_listener(void)
{
    ls_session_listener_remove(&now.session, &now.listener);
    now.deaf = true;
    if (now.hearing) {
        env_fibre_blame("a listener is removed while it is called");
    }
}

static void close_mutex(void)
{
    now.closing = true;
    if (ls_mutex_close(&now.mutex) != LS_OK) {
        env_fibre_blame("the mutex is not closed");
    }
    now.shut = true;
    for (const struct lock_claim *claim = now.session.claims; claim != NULL; claim = claim->next) {
        if (claim->mutex == &now.mutex || claim->state <= LOCK_TOMB) {
            env_fibre_blame("a claim outlives the close of its mutex");
        }
    }
}

/* The other thread has the lock, and gives it back meanwhile. */
static bool one_is_inside(void *ctx)
{
    (void)ctx;
    return now.inside > 0 || now.writing || fibre_is_done(ONE);
}

static void wait_until_one_holds(void)
{
    if (!one_is_inside(NULL)) {
        fibre_wait(one_is_inside, NULL);
    }
}

static void close_mutex_that_is_held(void)
{
    wait_until_one_holds();
    close_mutex();
}

static void close_session_of_a_holder(void)
{
    wait_until_one_holds();
    close_session();
}

/* Every question that a mutex answers without a server. After the close they have one answer. */
static void ask_everything(void)
{
    struct ls_mutex_counters counters;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    uint64_t owner = ls_env_self(env_fibre());
    zoo_op_t op;
    enum ls_belief belief = ls_mutex_query(&now.mutex, owner);
    uint32_t depth = ls_mutex_depth(&now.mutex, owner);
    int64_t token = ls_mutex_token(&now.mutex, owner);
    int guarded = ls_mutex_guard(&now.mutex, owner, &op, path, sizeof path);
    if (belief != LS_NOT_HELD || depth != 0 || token != 0 || guarded != LS_ENOTOWNER) {
        env_fibre_blame("a thread that holds nothing is told that it does");
    }
    if (ls_mutex_query_by_me(&now.mutex) != LS_NOT_HELD || ls_mutex_token_by_me(&now.mutex) != 0 ||
        ls_mutex_belief_left_by_me(&now.mutex) != 0 || ls_mutex_belief_left_ms(&now.mutex, owner) != 0 ||
        ls_mutex_guard_by_me(&now.mutex, &op, path, sizeof path) != LS_ENOTOWNER) {
        env_fibre_blame("a thread that holds nothing is told that it does");
    }
    if (ls_mutex_held_here(&now.mutex) || ls_mutex_held_by_me(&now.mutex) ||
        ls_mutex_held_by(&now.mutex, owner)) {
        env_fibre_blame("a thread that holds nothing is told so");
    }
    int rc[] = {ls_mutex_cancel(&now.mutex, owner),
                ls_mutex_release_start(&now.mutex, owner),
                ls_mutex_set_contents(&now.mutex, NULL, 0),
                ls_mutex_counters(&now.mutex, &counters),
                ls_mutex_make_revocable(&now.mutex),
                ls_mutex_contender_path(&now.mutex, strrchr(FOREIGN, '/') + 1, path, sizeof path)};
    static const int open[] = {LS_ENOENT, LS_ENOTOWNER, LS_OK, LS_EINVAL, LS_EINVAL, LS_OK};
    for (size_t i = 0; i < sizeof rc / sizeof rc[0]; i++) {
        bool closed = now.closing && (rc[i] == LS_ECLOSED || rc[i] == LS_EINVAL);
        if (rc[i] != open[i] && !closed) {
            env_fibre_blame("question %d answers %s", (int)i, ls_strerror(rc[i]));
        }
    }
}

static void ask_who_takes_part(void)
{
    int rc = ls_mutex_participants_start(&now.mutex, NULL);
    now.surveys += rc == LS_OK;
    if (rc != LS_OK && rc != LS_ECLOSED) {
        env_fibre_blame("a question for the participants answers %s", ls_strerror(rc));
    }
}

/* A mutex may be made and ended while the session is closed. */
static void make_a_mutex(void)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64] = "";
    int rc = ls_mutex_init(&now.other, &now.session, "/locks/y", NULL);
    int named = ls_mutex_contender_path(&now.other, strrchr(FOREIGN, '/') + 1, path, sizeof path);
    if (rc != LS_OK || named != LS_OK || strncmp(path, "/locks/y/_c_", 12) != 0) {
        env_fibre_blame("a new mutex answers %s, its path %s", ls_strerror(rc), ls_strerror(named));
    }
    if (ls_mutex_close(&now.other) != LS_OK) {
        env_fibre_blame("the new mutex is not closed");
    }
}

/* ---- what threads ask of a session ---- */

static bool is_known_session(int64_t id)
{
    bool known = id == 0;
    for (int32_t number = 1; number <= 4; number++) {
        known |= id == fakezk_session_id(number);
    }
    return known;
}

static void ask_the_session(void)
{
    struct ls_session_counters counters;
    enum ls_session_state state = ls_session_state(&now.session);
    if (state == LS_STATE_NEW || state == LS_STATE_FAILED || state > LS_STATE_CLOSED) {
        env_fibre_blame("a session that was started is in state %d", (int)state);
    }
    if (!is_known_session(ls_session_id(&now.session))) {
        env_fibre_blame("no session has this id");
    }
    if (ls_session_timeout_ms(&now.session) != 4000 || !ls_session_idle(&now.session)) {
        env_fibre_blame("a session has another timeout, or something is left over");
    }
    if (ls_session_counters(&now.session, &counters) != LS_EINVAL) {
        env_fibre_blame("a session counts for nobody");
    }
}

static void on_second_event(struct ls_session *session, struct ls_session_listener *listener,
                            enum ls_session_event event, int64_t id)
{
    (void)session;
    (void)listener;
    (void)event;
    (void)id;
    if (now.closed || now.second_deaf) {
        env_fibre_blame("a listener hears of an event after its removal");
    }
}

static const struct ls_session_ops second_ops = {.on_event = on_second_event};

static void listen_for_a_while(void)
{
    ls_session_listener_init(&now.second, &second_ops);
    now.second.next = &now.listener; /* the last one has none behind it */
    ls_session_listener_add(&now.session, &now.second);
    if (now.second.next != NULL) {
        env_fibre_blame("a listener was not added at the end");
    }
    ls_session_listener_remove(&now.session, &now.second);
    now.second_deaf = true;
    for (const struct ls_session_listener *listener = now.session.listeners; listener != NULL;
         listener = listener->next) {
        if (listener == &now.second) {
            env_fibre_blame("a listener was not removed");
        }
    }
}

static void on_multi(int rc, const void *data)
{
    (void)rc;
    (void)data;
    if (now.closed) {
        env_fibre_blame("a multi is answered after the close");
    }
    now.multis--;
}

static void send_a_multi(void)
{
    zoo_op_t op;
    zoo_delete_op_init(&op, "/nobody", -1);
    now.multis++;
    int rc = ls_session_multi(&now.session, 1, &op, &now.result, on_multi, NULL);
    now.multis -= rc != LS_OK;
    if (rc != LS_OK && rc != LS_ECLOSED) {
        env_fibre_blame("a multi answers %s", ls_strerror(rc));
    }
}

/* ---- the blocking calls that are neither acquire nor release ---- */

static void look_at(const char *call, int rc, const int *known, size_t count)
{
    size_t i = 0;
    while (i < count && known[i] != rc) {
        i++;
    }
    if (i == count) {
        env_fibre_blame("%s answers %s", call, ls_strerror(rc));
    }
}

/* The list may be freed when everything else is closed. */
static void wait_for_participants(void)
{
    static const int known[] = {LS_OK, LS_ECLOSED, LS_EZK};
    struct ls_participants participants;
    int self = fibre_self();
    now.calling[self] = true;
    int rc = ls_mutex_participants(&now.mutex, &participants);
    now.calling[self] = false;
    look_at("a question for the participants", rc, known, sizeof known / sizeof known[0]);
    if (rc != LS_OK && participants.count != 0) {
        env_fibre_blame("a question that has failed has a list");
    }
    fibre_pause();
    ls_participants_free(&participants);
}

static void write_while_holding(void)
{
    static const int known[] = {LS_OK, LS_ELOST, LS_ENOTOWNER, LS_EUNSURE, LS_ECLOSED};
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, PATH, -1);
    if (call_acquire(-1) == LS_OK) {
        int self = fibre_self();
        now.writing = true;
        now.calling[self] = true;
        int rc = ls_mutex_multi(&now.mutex, 1, &op, &result, NULL);
        now.calling[self] = false;
        look_at("a guarded write", rc, known, sizeof known / sizeof known[0]);
        call_release();
    }
}

static void hold_with_its_outcome(void)
{
    struct ls_outcome outcome;
    int rc = note(ls_mutex_acquire_outcome(&now.mutex, -1, &outcome));
    bool granted = outcome.rc == LS_OK && outcome.depth == 1 && outcome.token != 0;
    if (rc != outcome.rc || (rc == LS_OK) != granted) {
        env_fibre_blame("an acquire answers %s with another outcome", ls_strerror(rc));
    }
    if (rc == LS_OK) {
        work_inside();
        call_release();
    }
}

static void wait_for_the_connection(void)
{
    int rc = ls_session_wait_connected(&now.session, -1);
    if (rc != LS_OK && !(rc == LS_ECLOSED && now.ending)) {
        env_fibre_blame("a wait for the connection answers %s", ls_strerror(rc));
    }
}

static bool is_lost_or_closed(void *ctx)
{
    (void)ctx;
    return now.session.state == LS_STATE_LOST || now.session.state == LS_STATE_CLOSED;
}

/* The next handle does not come once the close has begun. */
static void wait_for_the_next_handle(void)
{
    ask_who_takes_part();
    if (!is_lost_or_closed(NULL)) {
        fibre_wait(is_lost_or_closed, NULL);
    }
    wait_for_the_connection();
}

/* Nobody stands in line: while the session lives this has one answer. */
static void look_at_request(int rc)
{
    if (rc != LS_ENOENT && !((rc == LS_ECLOSED || rc == LS_EUNSURE) && now.ending)) {
        env_fibre_blame("a request to nobody answers %s", ls_strerror(rc));
    }
}

static void on_request(struct ls_session *session, void *user, int rc)
{
    (void)session;
    (void)user;
    if (now.closed) {
        env_fibre_blame("a request is answered after the close");
    }
    now.requests--;
    look_at_request(rc);
}

static bool is_connected(void *ctx)
{
    (void)ctx;
    return now.session.state == LS_STATE_CONNECTED || now.session.state == LS_STATE_CLOSED;
}

static void wait_until_connected(void)
{
    if (!is_connected(NULL)) {
        fibre_wait(is_connected, NULL);
    }
}

static void ask_to_give_back(void)
{
    wait_until_connected();
    look_at_request(ls_mutex_request_revoke(&now.session, FOREIGN));
}

static void ask_to_give_back_and_go(void)
{
    wait_until_connected();
    now.requests++;
    int rc = ls_mutex_request_revoke_start(&now.session, FOREIGN, on_request, NULL);
    now.requests -= rc != LS_OK;
    if (rc != LS_OK) {
        look_at_request(rc);
    }
}

/* The session is closed, or this has opened it. */
static void look_at_opening(int rc)
{
    enum ls_session_state state = ls_session_state(&now.session);
    bool closed = state == LS_STATE_CLOSED && now.ending;
    if (rc == LS_OK ? !closed && state != LS_STATE_CONNECTING && state != LS_STATE_CONNECTED
                    : rc != LS_EINVAL || !closed) {
        env_fibre_blame("an opening answers %s and leaves the state %d", ls_strerror(rc), (int)state);
    }
}

static void start_session(void)
{
    look_at_opening(ls_session_start(&now.session));
}

static void lend_handle(void)
{
    look_at_opening(ls_session_lend(&now.session, &now.loan, now.handle));
}

static void on_handle_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    (void)context;
    ls_loan_on_event(&now.loan, zh, type, state);
}

/* ---- callbacks ---- */

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t id)
{
    (void)listener;
    (void)id;
    if (now.closed || now.deaf) {
        env_fibre_blame("an event after the end of the close, or for a listener that is gone");
    }
    now.hearing = true;
    now.losses += event == LS_SESSION_LOST;
    /* Callbacks may call in, and are refused what would wait. */
    int rc = ls_mutex_acquire(&now.mutex, -1);
    if ((rc != LS_EDEADLK && rc != LS_ECLOSED) || ls_session_close(session) != LS_EDEADLK) {
        env_fibre_blame("a call that waits is not refused in a callback");
    }
    ls_mutex_held_here(&now.mutex);
    now.hearing = false;
}

static const struct ls_session_ops session_ops = {.on_event = on_event};

/* One owner asks once. The other one asks again as soon as its release is complete; it has the number that a first thread
 * would have if threads and owners were counted alike. */
#define ASYNC 77
#define AGAIN 2
#define ROUNDS_MAX 3

static void ask_again(struct ls_mutex *mutex, uint64_t owner)
{
    if (owner != AGAIN || ++now.rounds > ROUNDS_MAX) {
        return;
    }
    now.acquires++;
    int rc = ls_mutex_acquire_start(mutex, owner, -1);
    now.acquires -= rc != LS_OK;
    if (rc != LS_OK && rc != LS_ECLOSED) {
        env_fibre_blame("an acquire in a callback answers %d", rc);
    }
}

/* A release that was taken is answered once, also if the mutex is closed meanwhile. */
static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    if (now.closed || now.shut) {
        env_fibre_blame("a release is answered after the close");
    }
    if (rc != LS_OK && rc != LS_EUNSURE && rc != LS_ELOST) {
        env_fibre_blame("a release is answered with %s", ls_strerror(rc));
    }
    ask_again(mutex, owner);
}

static void on_participants(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    (void)mutex;
    (void)user;
    (void)list;
    (void)count;
    if (now.closed || now.shut) {
        env_fibre_blame("participants are told after the close");
    }
    bool ended = (rc == LS_ECLOSED && (now.closing || now.ending)) || (rc == LS_EZK && now.ending);
    if (rc != LS_OK && !ended) {
        env_fibre_blame("participants: %s", ls_strerror(rc));
    }
    now.surveys--;
}

/* An acquire of the asynchronous kind gives the lock back in its callback. */
static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    look_who_is_called();
    if ((owner != ASYNC && owner != AGAIN) || now.closed || now.shut) {
        env_fibre_blame("an answer that nobody waits for");
    }
    now.acquires--;
    if (outcome->rc == LS_ECLOSED) {
        ask_again(mutex, owner);
    }
    if (outcome->rc == LS_OK) {
        if (outcome->depth != 1) {
            env_fibre_blame("a first grant has depth %u", outcome->depth);
        }
        now.inside++;
        if (now.inside > 1 && !now.expired) {
            env_fibre_blame("a thread and a callback hold the lock");
        }
        now.inside--;
        int rc = ls_mutex_release_start(mutex, owner);
        bool closing = now.closing && (rc == LS_ENOTOWNER || rc == LS_ECLOSED);
        if (rc != LS_OK && rc != LS_ELOST && !closing) {
            env_fibre_blame("a release in a callback answers %d", rc);
        }
    }
}

static void on_lost(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    look_who_is_called();
    if (now.shut || token == 0 || ls_mutex_query(mutex, owner) == LS_HELD) {
        env_fibre_blame("a loss is told after the close, without a token, or of a hold that is believed in");
    }
}

static const struct ls_mutex_ops mutex_ops = {
    .on_done = on_done, .on_freed = on_freed, .on_participants = on_participants, .on_lost = on_lost};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};

static void on_log(struct ls_log *log, enum ls_log_level level, const char *text)
{
    (void)log;
    (void)level;
    (void)text;
    look_who_is_called();
    fibre_pause();
}

static const struct ls_session_options quiet = {.no_refresh = true};
static const struct ls_session_options logged = {.no_refresh = true, .log = &now.log};

static void start_async(void)
{
    now.acquires++;
    int rc = ls_mutex_acquire_start(&now.mutex, ASYNC, -1);
    now.acquires -= rc != LS_OK;
    if (rc != LS_OK && !(rc == LS_ECLOSED && now.ending)) {
        env_fibre_blame("an acquire in the background answers %d", rc);
    }
}

static void start_again_and_again(void)
{
    ask_again(&now.mutex, AGAIN);
}

/* ---- the closer ---- */

static bool both_are_done(void *ctx)
{
    (void)ctx;
    return fibre_is_done(ONE) && fibre_is_done(TWO);
}

static void close_all(void *ctx)
{
    (void)ctx;
    fibre_wait(both_are_done, NULL);
    if (now.program->rwlock) {
        close_rwlock();
    }
    if (now.program->election) {
        close_elections();
        if (now.resignations != 0) {
            env_fibre_blame("%d resignations are not told", now.resignations);
        }
    }
    if (now.program->several) {
        close_multi();
    }
    if (now.program->capacity != 0) {
        close_semaphore();
    }
    now.closing = true;
    if (ls_mutex_close(&now.mutex) != LS_OK) {
        env_fibre_blame("the mutex is not closed");
    }
    now.shut = true;
    close_session();
    if (now.handle != NULL) {
        now.closed = false; /* what its watcher hears goes to the loan, and no further */
        zookeeper_close(now.handle);
        now.closed = true;
    }
}

static void call_program(void *ctx)
{
    (void)ctx;
    now.program->thread[fibre_self()]();
}

/* ---- choosing ---- */

struct option {
    enum { GO, DELIVER, STEP, FIRE, LEAVE, CUT, EXPIRE } kind;
    int fibre;
    struct fakezk_step step;
    struct ls_timer *timer;
};

static struct {
    struct option option[STEPS_MAX];
    int count;
} list;

static struct option *offer(int kind)
{
    static struct option beyond;
    struct option *option = list.count < STEPS_MAX ? &list.option[list.count++] : &beyond;
    memset(option, 0, sizeof *option);
    option->kind = (unsigned)kind;
    return option;
}

static void offer_fibres(int first)
{
    if (first >= 0 && fibre_can_run(first)) {
        offer(GO)->fibre = first;
    }
    for (int i = 0; i < fibre_count(); i++) {
        if (i != first && fibre_can_run(i)) {
            offer(GO)->fibre = i;
        }
    }
}

static void offer_timers(bool deadlines)
{
    int thread = !work[TIMER_1].busy ? TIMER_1 : !work[TIMER_2].busy ? TIMER_2 : -1;
    for (int i = 0; thread >= 0 && i < env_fibre_places(); i++) {
        const char *name;
        struct ls_timer *timer = env_fibre_timer(i, &name);
        if (timer != NULL && (strncmp(name, "deadline", 8) == 0) == deadlines) {
            struct option *option = offer(FIRE);
            option->fibre = thread;
            option->timer = timer;
        }
    }
}

static void offer_steps(void)
{
    struct fakezk_step steps[STEPS_MAX];
    int count = fakezk_steps(steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == FAKEZK_DELIVER) {
            if (!work[COMPLETION].busy && !now.draining) {
                offer(DELIVER)->step = steps[i];
            }
        } else if (steps[i].kind != FAKEZK_EXPIRE && steps[i].kind != FAKEZK_GIVE_UP) {
            offer(STEP)->step = steps[i];
        }
    }
}

static void offer_faults(void)
{
    int handle = fakezk_linked(0, 0);
    if (now.program->cuts && !now.cut && handle >= 0) {
        offer(CUT)->step.handle = (uint8_t)handle;
    }
    if (now.program->expires && !now.expired && handle >= 0 &&
        fakezk_session_live(fakezk_session(0, handle))) {
        offer(EXPIRE)->step.handle = (uint8_t)handle;
    }
}

/* The plain one first. How many are no faults; those are not for a run that has nothing else left. */
static int list_options(int last)
{
    list.count = 0;
    offer_fibres(last);
    offer_steps();
    offer_timers(false);
    if (now.foreign) {
        offer(LEAVE);
    }
    offer_timers(true);
    int count = list.count;
    if (count > 0) {
        offer_faults();
    }
    return count;
}

static void spend(struct option *option)
{
    if (option->kind == CUT) {
        now.cut = true;
        int apply = fakezk_unread_requests(0, option->step.handle);
        fakezk_cut(0, option->step.handle, 0, apply > 1 ? 1 : apply, ZCONNECTIONLOSS, false);
    } else if (option->kind == EXPIRE) {
        now.expired = true;
        fakezk_expire(fakezk_session(0, option->step.handle));
    } else {
        now.foreign = false;
        fakezk_operator_remove(FOREIGN);
    }
}

/* Returns who ran, -1 = nobody. */
static int take(struct option *option)
{
    switch (option->kind) {
    case GO:
        fibre_resume(option->fibre);
        return option->fibre;
    case DELIVER:
        work[COMPLETION].step = option->step;
        work[COMPLETION].busy = true;
        fibre_resume(COMPLETION);
        return COMPLETION;
    case FIRE:
        work[option->fibre].timer = option->timer;
        work[option->fibre].busy = true;
        fibre_resume(option->fibre);
        return option->fibre;
    case STEP:
        fakezk_step(&option->step);
        return -1;
    default:
        spend(option);
        return -1;
    }
}

/* ---- a run from its start to its end ---- */

static void reset(const struct program *program)
{
    memset(&now, 0, sizeof now);
    memset(work, 0, sizeof work);
    now.program = program;
    env_fibre_reset();
    arena_clear(&arena);
    struct fakezk_options options = {.clients = 1, .servers = 1, .tick_ms = 2000, .fixed_orders = true};
    fakezk_open(&arena, &options, NULL, NULL);
    fibres_reset();
    fibre_start(close_all, NULL);
    fibre_start(call_program, NULL);
    fibre_start(call_program, NULL);
    fibre_start(deliver_for_ever, NULL);
    fibre_start(fire_for_ever, NULL);
    fibre_start(fire_for_ever, NULL);
}

/* Opening is done before the threads are: it makes no difference to them who does it. */
static void open_all(void *ctx)
{
    (void)ctx;
    const struct ls_session_options *options = now.program->logs ? &logged : &quiet;
    now.log = (struct ls_log){.write = on_log, .level = LS_LOG_DEBUG};
    int rc = ls_session_init(&now.session, env_fibre(), "server:2181", 4000, options);
    ls_session_listener_init(&now.listener, &session_ops);
    ls_session_listener_add(&now.session, &now.listener);
    rc = rc != 0 ? rc : ls_mutex_init(&now.mutex, &now.session, PATH, &mutex_options);
    if (now.program->rwlock) {
        rc = rc != 0 ? rc : ls_rwlock_init(&now.rwlock, &now.session, "/locks/z", NULL);
    }
    if (now.program->election) {
        rc = rc != 0 ? rc : open_elections();
    }
    if (now.program->several) {
        rc = rc != 0 ? rc : open_multi();
    }
    if (now.program->capacity != 0) {
        rc = rc != 0 ? rc
                     : ls_semaphore_init(&now.semaphore, &now.session, "/locks/z",
                                         (uint32_t)now.program->capacity, NULL);
    }
    if (now.program->lent) {
        ls_loan_init(&now.loan, env_fibre());
        now.handle = zookeeper_init("server:2181", on_handle_event, 4000, NULL, NULL, 0);
    }
    if (rc == 0 && !now.program->unopened) {
        rc = now.program->lent ? ls_session_lend(&now.session, &now.loan, now.handle)
                               : ls_session_start(&now.session);
    }
    if (rc != 0) {
        env_fibre_blame("the session does not start: %d", rc);
    }
}

static void check_end(void)
{
    const char *trouble = fakezk_trouble();
    if (trouble != NULL) {
        env_fibre_blame("the fake has trouble: %s", trouble);
    } else if (!fibre_is_done(CLOSER)) {
        env_fibre_blame("nothing can happen, and a thread waits");
    } else if (env_fibre_blocks() != 0) {
        env_fibre_blame("%ld blocks of memory are left", env_fibre_blocks());
    } else if (env_fibre_scribbled()) {
        env_fibre_blame("memory is written to after it was freed");
    } else if (!env_fibre_mutex_is_free()) {
        env_fibre_blame("the mutex is held at the end");
    } else if (now.surveys != 0) {
        env_fibre_blame("%d questions for the participants are not answered", now.surveys);
    } else if (now.acquires != 0 || now.requests != 0 || now.multis != 0) {
        env_fibre_blame("%d acquires, %d requests and %d multis are not answered", now.acquires, now.requests,
                        now.multis);
    }
    for (int i = 0; i < env_fibre_places(); i++) {
        const char *name;
        if (env_fibre_timer(i, &name) != NULL) {
            env_fibre_blame("the timer %s is left", name);
        }
    }
}

/* What a call of a thread may answer. */
static void check_answers(void)
{
    for (int thread = ONE; thread <= TWO; thread++) {
        for (int i = 0; i < now.calls[thread]; i++) {
            int rc = now.rc[thread][i];
            bool lost = rc == LS_ELOST || rc == LS_EUNSURE;
            bool late = rc == LS_ETIMEDOUT || rc == LS_EBUSY || rc == LS_ECANCELED;
            bool closed = rc == LS_ECLOSED || rc == LS_ENOTOWNER;
            bool faults = now.expired || now.cut;
            if (rc != LS_OK && !(lost && (faults || now.program->shared)) && !late &&
                !(closed && now.program->shared)) {
                env_fibre_blame("call %d of thread %d answers %s", i + 1, thread, ls_strerror(rc));
            }
        }
    }
}

static bool run(void *ctx)
{
    int last = -1;
    reset(ctx);
    fakezk_enter(0);
    int opener = fibre_start(open_all, NULL);
    while (!fibre_is_done(opener)) {
        fibre_resume(opener);
    }
    now.foreign = now.program->foreign && fakezk_operator_create(FOREIGN, 0, false);
    while (!env_fibre_is_wrong() && !fibre_is_done(CLOSER)) {
        int plain = list_options(last);
        if (plain == 0) {
            break;
        }
        if (schedules_points() == POINTS_MAX) {
            env_fibre_blame("no end");
            break;
        }
        last = take(&list.option[schedules_choose(list.count)]);
    }
    if (!env_fibre_is_wrong()) {
        check_end();
        check_answers();
    }
    fakezk_leave();
    return !env_fibre_is_wrong();
}

/* ---- programs ---- */

static const struct program programs[] = {
    {.name = "two hold", .thread = {NULL, hold_once, hold_once}},
    {.name = "two hold, one twice", .thread = {NULL, hold_twice, hold_once}},
    {.name = "behind somebody else", .thread = {NULL, hold_once, hold_once}, .foreign = true},
    {.name = "a deadline", .thread = {NULL, hold_once, hold_in_time}},
    {.name = "a deadline behind somebody else",
     .thread = {NULL, hold_in_time, hold_in_time},
     .foreign = true},
    {.name = "a try", .thread = {NULL, hold_once, try_once}},
    {.name = "reentrant", .thread = {NULL, hold_within, hold_once}},
    {.name = "a cancel", .thread = {NULL, hold_once, cancel_one}},
    {.name = "a cancel behind somebody else", .thread = {NULL, hold_twice, cancel_one}, .foreign = true},
    {.name = "the session is closed", .thread = {NULL, hold_once, close_session}, .shared = true},
    {.name = "the session is closed behind somebody else",
     .thread = {NULL, hold_once, close_session},
     .foreign = true,
     .shared = true},
    {.name = "a callback that calls in", .thread = {NULL, hold_once, start_async}},
    {.name = "a log", .thread = {NULL, hold_once, hold_once}, .logs = true},
    {.name = "a log and a callback that calls in", .thread = {NULL, hold_once, start_async}, .logs = true},
    {.name = "a log and a close", .thread = {NULL, hold_once, close_session}, .logs = true, .shared = true},
    {.name = "an expiry", .thread = {NULL, hold_once, hold_once}, .expires = true},
    {.name = "an expiry and a deadline", .thread = {NULL, hold_once, hold_in_time}, .expires = true},
    {.name = "an expiry and a close",
     .thread = {NULL, hold_once, close_session},
     .expires = true,
     .shared = true},
    {.name = "a loss", .thread = {NULL, hold_once, hold_once}, .cuts = true},
    {.name = "a loss and a cancel", .thread = {NULL, hold_once, cancel_one}, .cuts = true},
    {.name = "a loss and a callback that calls in", .thread = {NULL, hold_once, start_async}, .cuts = true},
    {.name = "blocking beside asynchronous", .thread = {NULL, hold_once, start_again_and_again}},
    {.name = "the mutex is closed", .thread = {NULL, hold_once, close_mutex}, .shared = true},
    {.name = "the mutex is closed behind somebody else",
     .thread = {NULL, hold_once, close_mutex},
     .foreign = true,
     .shared = true},
    {.name = "the mutex is closed while its callbacks ask again",
     .thread = {NULL, start_again_and_again, close_mutex},
     .shared = true},
    {.name = "the mutex is closed by two", .thread = {NULL, close_mutex, close_mutex}, .shared = true},
    {.name = "the session is closed by two", .thread = {NULL, close_session, close_session}, .shared = true},
    {.name = "questions while the mutex is closed",
     .thread = {NULL, ask_everything, close_mutex},
     .shared = true},
    {.name = "a listener is removed", .thread = {NULL, hold_once, remove_listener}, .cuts = true},
    {.name = "participants while the mutex is closed",
     .thread = {NULL, ask_who_takes_part, close_mutex},
     .shared = true},
    {.name = "a loss while the mutex is closed",
     .thread = {NULL, start_again_and_again, close_mutex},
     .cuts = true,
     .shared = true},
    /* Each function of mutex.h and session.h beside a close: reports/api-coverage.md says which program has which. */
    {.name = "a try while the mutex is closed", .thread = {NULL, hold_if_free, close_mutex}, .shared = true},
    {.name = "a request while the mutex is closed",
     .thread = {NULL, ask_to_give_back, close_mutex},
     .shared = true},
    {.name = "a request in the background while the mutex is closed",
     .thread = {NULL, ask_to_give_back_and_go, close_mutex},
     .shared = true},
    {.name = "a request while the session is closed",
     .thread = {NULL, ask_to_give_back, close_session},
     .shared = true},
    {.name = "a request in the background while the session is closed",
     .thread = {NULL, ask_to_give_back_and_go, close_session},
     .shared = true},
    {.name = "a release while the mutex is closed",
     .thread = {NULL, hold_once, close_mutex_that_is_held},
     .shared = true},
    {.name = "a release while the session is closed",
     .thread = {NULL, hold_once, close_session_of_a_holder},
     .shared = true},
    {.name = "mutex and session are closed", .thread = {NULL, close_mutex, close_session}, .shared = true},
    {.name = "a try while the session is closed",
     .thread = {NULL, hold_if_free, close_session},
     .shared = true},
    {.name = "an acquire begins while the session is closed",
     .thread = {NULL, start_async, close_session},
     .shared = true},
    {.name = "questions while the session is closed",
     .thread = {NULL, ask_everything, close_session},
     .shared = true},
    {.name = "participants while the session is closed",
     .thread = {NULL, ask_who_takes_part, close_session},
     .shared = true},
    {.name = "a mutex is made while the session is closed",
     .thread = {NULL, make_a_mutex, close_session},
     .shared = true},
    {.name = "questions about the session while it is closed",
     .thread = {NULL, ask_the_session, close_session},
     .shared = true},
    {.name = "a listener while the session is closed",
     .thread = {NULL, listen_for_a_while, close_session},
     .cuts = true,
     .shared = true},
    {.name = "a multi while the session is closed",
     .thread = {NULL, send_a_multi, close_session},
     .shared = true},
    {.name = "participants are waited for while the mutex is closed",
     .thread = {NULL, wait_for_participants, close_mutex},
     .shared = true},
    {.name = "participants are waited for while the session is closed",
     .thread = {NULL, wait_for_participants, close_session},
     .shared = true},
    {.name = "a guarded write while the mutex is closed",
     .thread = {NULL, write_while_holding, close_mutex_that_is_held},
     .shared = true},
    {.name = "a guarded write while the session is closed",
     .thread = {NULL, write_while_holding, close_session_of_a_holder},
     .shared = true},
    {.name = "a guarded write and an expiry",
     .thread = {NULL, write_while_holding, hold_once},
     .expires = true},
    {.name = "an outcome while the mutex is closed",
     .thread = {NULL, hold_with_its_outcome, close_mutex},
     .shared = true},
    {.name = "an outcome while the session is closed",
     .thread = {NULL, hold_with_its_outcome, close_session},
     .shared = true},
    {.name = "a wait for the connection while the session is closed",
     .thread = {NULL, wait_for_the_connection, close_session},
     .cuts = true,
     .shared = true},
    {.name = "a wait for the next handle while a lent session is closed",
     .thread = {NULL, wait_for_the_next_handle, close_session},
     .expires = true,
     .cuts = true,
     .shared = true,
     .lent = true},
    {.name = "a guarded write while a lent session is closed",
     .thread = {NULL, write_while_holding, close_session_of_a_holder},
     .cuts = true,
     .shared = true,
     .lent = true},
    {.name = "a start while the session is closed",
     .thread = {NULL, start_session, close_session},
     .shared = true,
     .unopened = true},
    {.name = "a loan while the session is closed",
     .thread = {NULL, lend_handle, close_session},
     .shared = true,
     .lent = true,
     .unopened = true},
    {.name = "a reader and a writer", .thread = {NULL, read_once, write_once}, .rwlock = true},
    {.name = "two readers", .thread = {NULL, read_once, read_once}, .rwlock = true},
    {.name = "a writer goes on as a reader",
     .thread = {NULL, write_and_go_on_reading, write_once},
     .rwlock = true},
    {.name = "a writer goes on as a reader, and a loss",
     .thread = {NULL, write_and_go_on_reading, write_once},
     .cuts = true,
     .rwlock = true},
    {.name = "a writer goes on as a reader, and an expiry",
     .thread = {NULL, write_and_go_on_reading, read_once},
     .expires = true,
     .rwlock = true},
    {.name = "a reader wants to write", .thread = {NULL, read_and_want_to_write, read_once}, .rwlock = true},
    {.name = "a read-write lock is closed",
     .thread = {NULL, write_and_go_on_reading, close_rwlock},
     .shared = true,
     .rwlock = true},
    {.name = "a session with a read-write lock is closed",
     .thread = {NULL, write_and_go_on_reading, close_session},
     .shared = true,
     .rwlock = true},
    {.name = "both locks for two threads", .thread = {NULL, hold_both, hold_both}, .several = true},
    {.name = "both locks beside one of them", .thread = {NULL, hold_both, hold_once}, .several = true},
    {.name = "both locks within a time",
     .thread = {NULL, hold_both_in_time, hold_once},
     .several = true,
     .expires = true},
    {.name = "both locks are closed",
     .thread = {NULL, hold_both, close_multi},
     .shared = true,
     .several = true},
    {.name = "a session with both locks is closed",
     .thread = {NULL, hold_both, close_session},
     .shared = true,
     .several = true},
    {.name = "one lease for two threads", .thread = {NULL, use_one, use_one}, .capacity = 1},
    {.name = "two of three leases for each", .thread = {NULL, use_two, use_two}, .capacity = 3},
    {.name = "two of three leases for each, and a loss",
     .thread = {NULL, use_two, use_two},
     .cuts = true,
     .capacity = 3},
    {.name = "one lease and two, and an expiry",
     .thread = {NULL, use_two, use_one},
     .expires = true,
     .capacity = 2},
    {.name = "a lease is another thread's to release",
     .thread = {NULL, hand_over, release_what_is_handed_over},
     .capacity = 2},
    {.name = "a semaphore is closed",
     .thread = {NULL, use_two, close_semaphore},
     .shared = true,
     .capacity = 2},
    {.name = "a session with a semaphore is closed",
     .thread = {NULL, use_two, close_session},
     .shared = true,
     .capacity = 2},
    {.name = "two leaders", .thread = {NULL, lead_once, lead_once}, .election = true},
    {.name = "a leader that stands again", .thread = {NULL, lead_twice, lead_once}, .election = true},
    {.name = "a leader that stands again, and a loss",
     .thread = {NULL, lead_twice, lead_once},
     .cuts = true,
     .election = true},
    {.name = "a leader that stands again, and an expiry",
     .thread = {NULL, lead_twice, stand_await_and_resign},
     .expires = true,
     .election = true},
    {.name = "a term without ls_election_lead()",
     .thread = {NULL, stand_await_and_resign, stand_await_and_resign},
     .election = true},
    {.name = "a term that is awaited in time", .thread = {NULL, lead_once, await_in_time}, .election = true},
    {.name = "a term that another thread awaits",
     .thread = {NULL, stand_await_and_resign, await_the_other},
     .cuts = true,
     .election = true},
    {.name = "a term that another thread awaits in time",
     .thread = {NULL, stand_await_and_resign, await_the_other_in_time},
     .election = true},
    {.name = "a candidate whom another thread makes resign",
     .thread = {NULL, stand_await_and_resign, resign_the_other},
     .shared = true,
     .election = true},
    {.name = "a leader whom another thread makes resign",
     .thread = {NULL, lead_twice, resign_the_other},
     .shared = true,
     .election = true},
    {.name = "a leader whom another thread makes resign at work",
     .thread = {NULL, lead_twice, resign_under_the_work},
     .shared = true,
     .election = true},
    {.name = "a question for the leader",
     .thread = {NULL, stand_for_good, ask_for_the_leader},
     .cuts = true,
     .election = true},
    {.name = "elections are closed",
     .thread = {NULL, stand_await_and_resign, close_elections},
     .shared = true,
     .election = true},
    {.name = "a session with elections is closed",
     .thread = {NULL, lead_twice, close_session},
     .shared = true,
     .election = true},
    {.name = "a loss while a lent session is closed",
     .thread = {NULL, hold_once, close_session},
     .cuts = true,
     .shared = true,
     .lent = true},
};

static void tell_schedule(const struct program *program, const struct schedule *schedule)
{
    fprintf(stderr, "%s:", program->name);
    for (int i = 0; i < schedule->deviations; i++) {
        fprintf(stderr, " %d=%d", schedule->deviation[i].point, schedule->deviation[i].choice);
    }
    fprintf(stderr, " seed %llu: %s\n", (unsigned long long)schedule->seed, env_fibre_wrong());
}

/* LOCKSTEP_THREADS=NAME: this program alone. */
static bool is_wanted(const struct program *program)
{
    const char *name = getenv("LOCKSTEP_THREADS");
    return name == NULL || strcmp(name, program->name) == 0;
}

static void every_schedule_with_few_deviations(void **state)
{
    (void)state;
    struct schedule schedule;
    long runs, all = 0;
    int failed = 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (!is_wanted(&programs[i])) {
            continue;
        }
        if (!schedules_all(is_slow_build() ? 1 : 2, run, (void *)(uintptr_t)&programs[i], &schedule, &runs)) {
            tell_schedule(&programs[i], &schedule);
            failed++;
        }
        printf("%s: %ld schedules\n", programs[i].name, runs);
        all += runs;
    }
    assert_int_equal(failed, 0);
    assert_true(all > (getenv("LOCKSTEP_THREADS") != NULL ? 100 : 1000));
}

static void drawn_schedules(void **state)
{
    (void)state;
    struct schedule schedule;
    int failed = 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (is_wanted(&programs[i]) &&
            !schedules_drawn(is_slow_build() ? 100 : 2000, run, (void *)(uintptr_t)&programs[i], &schedule)) {
            tell_schedule(&programs[i], &schedule);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_with_few_deviations),
        cmocka_unit_test(drawn_schedules),
    };
    if (arena_open(&arena, ARENA_BYTES) != 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    env_fibre_reset();
    arena_close(&arena);
    return failed;
}
