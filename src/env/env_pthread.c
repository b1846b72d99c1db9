/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of applications: one mutex, a list of armed timers by due time, and threads that run them.
 *
 *   FOLLOWING ---> LEADING ---> CALLING ---> FOLLOWING
 *
 *   FOLLOWING -> LEADING    run_timers: no thread leads
 *   LEADING   -> CALLING    run_timers: the earliest timer is due; the lead is free again
 *   CALLING   -> FOLLOWING  the timer's function has returned, and another thread leads
 *   CALLING   -> LEADING    the timer's function has returned, and no thread leads
 *
 * A timer's function may drop the mutex for seconds: it opens and closes handles, and calls users back. Then
 * another thread leads, so that other timers fire on time. Before each call of a function, offer_lead()
 * signals a follower, or makes a thread if no thread follows. If no thread can be made, timers that become
 * due wait until a running function returns.
 *
 * There are two clocks. Stamps measure how long a server may not have heard of this process. A server counts
 * on while this machine is suspended, and so does the clock of stamps (CLOCK_BOOTTIME). Timers use the
 * monotonic clock: besides the wall clock, a condition variable can sleep by no other. That clock stands
 * still during a suspension, so a timer that is armed then fires later by the length of the suspension. */
#include <lockstep/env_pthread.h>
#include <lockstep/error.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct armed {
    struct armed *next; /* due at the same time or later */
    int64_t due_ns;
    uint32_t id; /* id, as in `armed` of struct ls_timer */
    ls_timer_fn fn;
    void *ctx;
    struct ls_timer *timer;
};

/* A thread that runs timers until the environment is closed. */
struct runner {
    struct runner *next;
    pthread_t thread;
};

struct ls_env {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the leader sleeps here until a timer is due; monotonic clock */
    pthread_cond_t lead;    /* the followers sleep here until the lead is free */
    struct runner *runners;
    struct armed *armed;
    /* the leader's next wake-up; INT64_MAX = none, INT64_MIN = it is awake or signalled, 0 = no thread has
     * led yet */
    int64_t wakes_ns;
    uint32_t last_id;
    uint32_t followers;
    atomic_uint inside;  /* threads between ls_env_lock() and ls_env_unlock(), including sleeping ones */
    pthread_cond_t left; /* ls_env_pthread_close() sleeps here until it is the only one inside */
    bool led;
    bool stopping;
};

_Static_assert(sizeof(pthread_cond_t) <= sizeof(struct ls_waiter), "a waiter holds a condition variable");

void ls_env_lock(struct ls_env *env)
{
    atomic_fetch_add(&env->inside, 1);
    if (pthread_mutex_lock(&env->mutex))
        abort();
}

void ls_env_unlock(struct ls_env *env)
{
    atomic_fetch_sub(&env->inside, 1);
    if (env->stopping)
        pthread_cond_signal(&env->left);
    if (pthread_mutex_unlock(&env->mutex))
        abort();
}

static pthread_cond_t *condition(struct ls_waiter *waiter)
{
    return (pthread_cond_t *)(void *)waiter->space;
}

void ls_env_waiter_init(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    if (pthread_cond_init(condition(waiter), NULL))
        abort();
}

void ls_env_waiter_close(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    pthread_cond_destroy(condition(waiter));
}

void ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    pthread_cond_wait(condition(waiter), &env->mutex);
}

void ls_env_wake(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)env;
    pthread_cond_broadcast(condition(waiter));
}

/* The environments whose callbacks this thread is in: one callback may block on another environment. Beyond
 * NESTED_MAX every environment counts as entered, so that blocking calls are refused and do not hang. */
enum { NESTED_MAX = 8 };

static _Thread_local struct {
    struct ls_env *inside[NESTED_MAX];
    int depth;
} callbacks;

void ls_env_callback_enter(struct ls_env *env)
{
    if (callbacks.depth < NESTED_MAX)
        callbacks.inside[callbacks.depth] = env;
    callbacks.depth++;
}

void ls_env_callback_leave(struct ls_env *env)
{
    (void)env;
    if (--callbacks.depth < 0)
        abort();
}

bool ls_env_in_callback(struct ls_env *env)
{
    if (callbacks.depth > NESTED_MAX)
        return true;
    for (int i = 0; i < callbacks.depth; i++)
        if (callbacks.inside[i] == env)
            return true;
    return false;
}

uint64_t ls_env_self(struct ls_env *env)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t self;
    (void)env;
    if (!self)
        self = LS_ENV_THREAD | (atomic_fetch_add(&last, 1) + 1);
    return self;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now))
        abort();
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp)
{
    (void)env;
    int64_t now = now_ns(CLOCK_BOOTTIME);
    stamp->opaque = now > 0 ? (uint64_t)now : 1;
}

int64_t ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp)
{
    (void)env;
    if (!stamp->opaque)
        return INT64_MAX;
    int64_t elapsed_ns = now_ns(CLOCK_BOOTTIME) - (int64_t)stamp->opaque;
    return elapsed_ns > 0 ? (elapsed_ns + 999999) / 1000000 : 0;
}

static struct armed **find_armed(struct ls_env *env, uint32_t id)
{
    struct armed **link = &env->armed;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

void ls_env_timer_stop(struct ls_env *env, struct ls_timer *timer)
{
    if (!timer->armed)
        return;
    struct armed **link = find_armed(env, timer->armed);
    struct armed *armed = *link;
    timer->armed = 0;
    if (armed) {
        *link = armed->next;
        free(armed);
    }
}

/* Returns an id that no armed timer has, never 0. */
static uint32_t fresh_id(struct ls_env *env)
{
    do {
        env->last_id++;
    } while (!env->last_id || *find_armed(env, env->last_id));
    return env->last_id;
}

int ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                       ls_timer_fn fn, void *ctx)
{
    (void)name;
    ls_env_timer_stop(env, timer);
    struct armed *armed = calloc(1, sizeof *armed);
    if (!armed)
        return LS_ENOMEM;
    armed->due_ns = now_ns(CLOCK_MONOTONIC) + (int64_t)delay_ms * 1000000;
    armed->id = fresh_id(env);
    armed->fn = fn;
    armed->ctx = ctx;
    armed->timer = timer;
    timer->armed = armed->id;
    struct armed **link = &env->armed;
    while (*link && (*link)->due_ns <= armed->due_ns)
        link = &(*link)->next;
    armed->next = *link;
    *link = armed;
    if (armed->due_ns < env->wakes_ns) {
        env->wakes_ns = INT64_MIN; /* one signal is enough until the leader sleeps again */
        pthread_cond_signal(&env->changed);
    }
    return 0;
}

/* ---- the threads that run timers ---- */

/* Sleeps until the earliest timer is due; a stop of that timer does not end the sleep early. Takes the due
 * timer out of the list, into *due. Returns false, with *due unset, if the environment is being closed. */
static bool await_due(struct ls_env *env, struct armed *due)
{
    while (!env->stopping) {
        struct armed *first = env->armed;
        env->wakes_ns = first ? first->due_ns : INT64_MAX;
        if (!first) {
            pthread_cond_wait(&env->changed, &env->mutex);
        } else if (first->due_ns > now_ns(CLOCK_MONOTONIC)) {
            struct timespec until = {.tv_sec = first->due_ns / 1000000000,
                                     .tv_nsec = first->due_ns % 1000000000};
            pthread_cond_timedwait(&env->changed, &env->mutex, &until);
        } else {
            *due = *first;
            env->wakes_ns = INT64_MIN;
            env->armed = first->next;
            first->timer->armed = 0;
            free(first);
            return true;
        }
    }
    return false;
}

static void follow(struct ls_env *env)
{
    env->followers++;
    pthread_cond_wait(&env->lead, &env->mutex);
    env->followers--;
}

static int add_runner(struct ls_env *env);

/* Offers the lead to a follower, or to a new thread if none follows. That thread can lead as soon as the
 * timer's function drops the mutex. If the function does not drop it, this thread leads again. */
static void offer_lead(struct ls_env *env)
{
    env->led = false;
    if (!env->followers)
        (void)add_runner(env);
    pthread_cond_signal(&env->lead);
}

static void *run_timers(void *context)
{
    struct ls_env *env = context;
    struct armed due;
    ls_env_lock(env);
    while (!env->stopping) {
        if (env->led) {
            follow(env);
            continue;
        }
        env->led = true;
        if (await_due(env, &due)) {
            offer_lead(env);
            due.fn(due.ctx);
        }
    }
    ls_env_unlock(env);
    return NULL;
}

static int add_runner(struct ls_env *env)
{
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return LS_ENOMEM;
    if (pthread_create(&runner->thread, NULL, run_timers, env)) {
        free(runner);
        return LS_ENOMEM;
    }
    runner->next = env->runners;
    env->runners = runner;
    return LS_OK;
}

void ls_env_random(struct ls_env *env, void *bytes, size_t size)
{
    (void)env;
    unsigned char *at = bytes;
    while (size) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno != EINTR)
            abort();
        if (got < 0)
            continue;
        at += got;
        size -= (size_t)got;
    }
}

void ls_env_unique_id(struct ls_env *env, uint8_t id[16])
{
    ls_env_random(env, id, 16);
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
}

void *ls_env_alloc(struct ls_env *env, size_t size)
{
    (void)env;
    return calloc(1, size);
}

void ls_env_free(struct ls_env *env, void *memory)
{
    (void)env;
    free(memory);
}

static int init_condition(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes))
        return -1;
    int rc = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!rc)
        rc = pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return rc;
}

static void join_runners(struct ls_env *env)
{
    while (env->runners) {
        struct runner *runner = env->runners;
        env->runners = runner->next;
        pthread_join(runner->thread, NULL);
        free(runner);
    }
}

/* Starts two threads: a leader, and a follower that can lead during the first call of a timer's function. */
static int add_runners(struct ls_env *env)
{
    ls_env_lock(env);
    int err = add_runner(env);
    if (!err)
        err = add_runner(env);
    ls_env_unlock(env);
    return err;
}

int ls_env_pthread_open(struct ls_env **env)
{
    struct ls_env *opened = calloc(1, sizeof *opened);
    if (!opened)
        return LS_ENOMEM;
    if (pthread_mutex_init(&opened->mutex, NULL))
        goto free_memory;
    if (init_condition(&opened->changed))
        goto destroy_mutex;
    if (init_condition(&opened->lead))
        goto destroy_changed;
    if (init_condition(&opened->left))
        goto destroy_lead;
    if (add_runners(opened)) {
        (void)ls_env_pthread_close(opened);
        return LS_ENOMEM;
    }
    *env = opened;
    return LS_OK;
destroy_lead:
    pthread_cond_destroy(&opened->lead);
destroy_changed:
    pthread_cond_destroy(&opened->changed);
destroy_mutex:
    pthread_mutex_destroy(&opened->mutex);
free_memory:
    free(opened);
    return LS_ENOMEM;
}

/* Waits until no other thread is between ls_env_lock() and ls_env_unlock(). Calls that the close of their
 * session has answered may still be there. */
static void await_callers(struct ls_env *env)
{
    ls_env_lock(env);
    while (atomic_load(&env->inside) > 1)
        pthread_cond_wait(&env->left, &env->mutex);
    ls_env_unlock(env);
}

int ls_env_pthread_close(struct ls_env *env)
{
    if (ls_env_in_callback(env))
        return LS_EDEADLK;
    ls_env_lock(env);
    env->stopping = true;
    pthread_cond_broadcast(&env->changed);
    pthread_cond_broadcast(&env->lead);
    ls_env_unlock(env);
    join_runners(env); /* after the open only run_timers() adds runners, and not while `stopping` */
    await_callers(env);
    while (env->armed) {
        struct armed *armed = env->armed;
        env->armed = armed->next;
        free(armed);
    }
    pthread_cond_destroy(&env->left);
    pthread_cond_destroy(&env->lead);
    pthread_cond_destroy(&env->changed);
    pthread_mutex_destroy(&env->mutex);
    free(env);
    return LS_OK;
}
