/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment inside a world (include/lockstep/env.h): the calls that it refuses, and the offences that
 * it notes. The recipe here runs one job at each acquire. */
#include <lockstep/error.h>
#include <lockstep/event.h>
#include <lockstep/sim.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct world *world;
static void (*job)(struct ls_env *env);
static struct {
    int code; /* enum event_offence of the last offence; -1 = none */
    char function[32];
} noted;

static void note_offence(void *ctx, const struct event *event)
{
    (void)ctx;
    if (event->kind == EVENT_MISBEHAVED) {
        noted.code = event->code;
        snprintf(noted.function, sizeof noted.function, "%s", event->path != NULL ? event->path : "");
    }
}

/* ---- the recipe ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    (void)config;
    *(struct ls_env **)state = env;
    return LS_OK;
}

static void stop(void *state)
{
    (void)state;
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    (void)lock;
    (void)owner;
    (void)timeout_ms;
    job(*(struct ls_env **)state);
    return LS_EBUSY;
}

static int answer_nothing(void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_ENOENT;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_NOT_HELD;
}

static const struct ls_recipe recipe = {.name = "probe",
                                        .summary = "calls its environment",
                                        .state_size = sizeof(struct ls_env *),
                                        .start = start,
                                        .stop = stop,
                                        .acquire = acquire,
                                        .cancel = answer_nothing,
                                        .release = answer_nothing,
                                        .query = query};

static void open_timed_world(bool timed)
{
    struct world_options options;
    world_options_default(&options);
    options.recipe = &recipe;
    options.processes = 1;
    options.name[0][0] = 'a';
    options.autostart[0] = true;
    options.timed = timed;
    world = world_open(&options, note_offence, NULL);
    assert_non_null(world);
    world_begin(world);
}

static void open_world(void)
{
    open_timed_world(false);
}

static void act(const char *label)
{
    struct action action;
    const char *why;
    assert_int_equal(world_find(world, label, &action, &why), 0);
    assert_int_equal(world_apply(world, &action), 0);
}

/* Runs the job in the process. Returns the offence that was noted; -1 = none. */
static int offence_of(void (*what)(struct ls_env *env))
{
    job = what;
    noted.code = -1;
    noted.function[0] = 0;
    act("a acquire");
    return noted.code;
}

/* ---- tests ---- */

static struct ls_waiter waiter;

static void assert_blank(void)
{
    static const struct ls_waiter blank;
    assert_memory_equal(&waiter, &blank, sizeof blank);
}

static void use_a_waiter(struct ls_env *env)
{
    memset(&waiter, 0xa5, sizeof waiter);
    ls_env_waiter_init(env, &waiter);
    assert_blank();
    ls_env_lock(env);
    ls_env_wake(env, &waiter);
    ls_env_unlock(env);
    memset(&waiter, 0xa5, sizeof waiter);
    ls_env_waiter_close(env, &waiter);
    assert_blank();
}

/* A waiter may lie in the recipe's state, where leftover bytes would make like states differ. */
static void a_waiter_is_blank_before_and_after_its_use(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(offence_of(use_a_waiter), -1);
    world_close(world);
}

static void wait_unlocked(struct ls_env *env)
{
    ls_env_wait(env, &waiter);
}

static void wait_locked(struct ls_env *env)
{
    ls_env_lock(env);
    ls_env_wait(env, &waiter);
    ls_env_unlock(env);
}

static void wake_unlocked(struct ls_env *env)
{
    ls_env_wake(env, &waiter);
}

static void alloc_unlocked(struct ls_env *env)
{
    void *memory = ls_env_alloc(env, 8);
    ls_env_lock(env);
    ls_env_free(env, memory);
    ls_env_unlock(env);
}

static void free_unlocked(struct ls_env *env)
{
    ls_env_free(env, NULL);
}

static void lock_twice(struct ls_env *env)
{
    ls_env_lock(env);
    ls_env_lock(env);
    ls_env_unlock(env);
}

static void unlock_twice(struct ls_env *env)
{
    ls_env_lock(env);
    ls_env_unlock(env);
    ls_env_unlock(env);
}

static void what_needs_the_mutex_says_so(void **state)
{
    (void)state;
    static const struct {
        void (*job)(struct ls_env *env);
        const char *function;
    } calls[] = {
        {wake_unlocked, "ls_env_wake"}, {alloc_unlocked, "ls_env_alloc"}, {free_unlocked, "ls_env_free"}};
    open_world();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_int_equal(offence_of(calls[i].job), EVENT_OFFENCE_UNLOCKED);
        assert_string_equal(noted.function, calls[i].function);
    }
    assert_int_equal(offence_of(lock_twice), EVENT_OFFENCE_LOCK);
    assert_int_equal(offence_of(unlock_twice), EVENT_OFFENCE_LOCK);
    world_close(world);
}

/* Runs the job in a child, which has to end by abort(). Returns what it writes to standard error. */
static const char *last_words(void (*what)(struct ls_env *env))
{
    static char words[400];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        _exit(offence_of(what) >= 0);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], words, sizeof words - 1);
    words[size > 0 ? size : 0] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return words;
}

static void nobody_can_sleep(void **state)
{
    (void)state;
    open_world();
    assert_non_null(strstr(last_words(wait_locked), "found one that waits in a world"));
    assert_non_null(strstr(last_words(wait_unlocked), "found one that waits in a world"));
    world_close(world);
}

static void *kept;

static void keep_a_block(struct ls_env *env)
{
    ls_env_lock(env);
    kept = ls_env_alloc(env, 20);
    ls_env_unlock(env);
}

static size_t much;

static void ask_for_much(struct ls_env *env)
{
    ls_env_lock(env);
    kept = ls_env_alloc(env, much);
    ls_env_unlock(env);
}

static void keep_a_block_for_a_while(struct ls_env *env)
{
    keep_a_block(env);
    ls_env_lock(env);
    ls_env_free(env, kept);
    ls_env_unlock(env);
}

/* No size wraps around to a smaller one for which there is room. */
static void memory_beyond_the_heap_is_refused(void **state)
{
    static const size_t SIZES[] = {32768, UINT32_MAX - 7, (size_t)UINT32_MAX + 2, SIZE_MAX - 16, SIZE_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        open_world();
        much = SIZES[i];
        offence_of(ask_for_much);
        assert_null(kept);
        assert_non_null(strstr(world_trouble(world), "limit: the heap of a process is full"));
        world_close(world);
    }
}

static void what_a_stop_leaves_allocated_is_told(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(offence_of(keep_a_block_for_a_while), -1);
    act("a stop");
    assert_int_equal(noted.code, -1);
    world_close(world);
    open_world();
    assert_int_equal(offence_of(keep_a_block), -1);
    act("a stop");
    assert_int_equal(noted.code, EVENT_OFFENCE_LEAK);
    assert_string_equal(noted.function, "stop() leaves 24 bytes in 1 blo");
    world_close(world);
}

enum { TIMERS = 4096 };

static struct ls_timer timers[TIMERS];

static void never(void *ctx)
{
    (void)ctx;
}

static void start_timers(struct ls_env *env)
{
    int rc = LS_OK;
    int count = 0;
    memset(timers, 0, sizeof timers);
    ls_env_lock(env);
    while (rc == LS_OK && count < TIMERS) {
        rc = ls_env_timer_start(env, &timers[count++], "some-timer", 1, never, NULL);
    }
    ls_env_unlock(env);
    assert_int_equal(rc, LS_ENOMEM);
    assert_int_equal(timers[count - 1].armed, 0);
    assert_int_equal(timers[count - 2].armed, 1);
}

static void timers_may_be_too_many(void **state)
{
    (void)state;
    open_world();
    offence_of(start_timers);
    assert_non_null(world_trouble(world));
    world_close(world);
}

static struct ls_timer far[3];

static void start_far_timers(struct ls_env *env)
{
    static const uint32_t delays_ms[] = {INT32_MAX - 1, INT32_MAX, UINT32_MAX - 500};
    memset(far, 0, sizeof far);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ls_env_timer_start(env, &far[i], "far-timer", delays_ms[i], never, NULL), 0);
    }
}

/* The clock has started, so the sum of now and the delay needs more than 32 bits. */
static void timers_of_weeks_wait(void **state)
{
    (void)state;
    struct action action = {.kind = ACTION_FIRE};
    open_timed_world(true);
    world_pass_time(world, 1000, 1000, NULL, NULL);
    assert_int_equal(offence_of(start_far_timers), -1);
    for (int i = 0; i < 3; i++) {
        action.a = (uint8_t)i;
        assert_false(world_enabled(world, &action));
        assert_int_equal(far[i].armed, 1);
    }
    world_close(world);
}

static uint8_t bytes[2][16];

static void take_bytes(struct ls_env *env)
{
    memset(bytes, 0, sizeof bytes);
    ls_env_random(env, bytes[0], sizeof bytes[0]);
    ls_env_random(env, bytes[1], sizeof bytes[1]);
}

/* The bytes are equal in each call. A stream of random bytes would be a hidden part of the world's state. */
static void random_bytes_are_a_function_of_the_run(void **state)
{
    (void)state;
    static const uint8_t zeros[16];
    open_world();
    assert_int_equal(offence_of(take_bytes), -1);
    assert_memory_not_equal(bytes[0], zeros, sizeof zeros);
    assert_memory_equal(bytes[0], bytes[1], sizeof zeros);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiter_is_blank_before_and_after_its_use),
        cmocka_unit_test(what_needs_the_mutex_says_so),
        cmocka_unit_test(nobody_can_sleep),
        cmocka_unit_test(memory_beyond_the_heap_is_refused),
        cmocka_unit_test(what_a_stop_leaves_allocated_is_told),
        cmocka_unit_test(timers_may_be_too_many),
        cmocka_unit_test(timers_of_weeks_wait),
        cmocka_unit_test(random_bytes_are_a_function_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
