/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Belief on a real server. Processes take the lock in turn and are stopped meanwhile, for up to two leases. Each notes when
 * it believed: a holder that asks ls_redis_mutex_query(), and a blind one that believes until its release, as DLock's
 * does. No two that ask believe at once; of the blind ones some do. STOPS says how often a process is stopped. */
#include "server.h"

#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <cmocka.h>

#define LEASE_MS 300
#define WORKERS 3
#define HOLDS_MAX 20000

/* The moments of the first and the last time at which a holder believed, in ms. */
struct hold {
    int64_t token;
    long first, last;
};

struct shared {
    int holds;
    bool ends;
    struct hold hold[HOLDS_MAX];
};

static const struct ls_redis_options OPTIONS = {.lease_ms = LEASE_MS};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* Works in steps of a ms, as long as the library says that the lock is held, or blindly. */
static void believe(struct ls_redis_mutex *mutex, struct shared *shared, bool asks, uint32_t steps)
{
    int index = __atomic_fetch_add(&shared->holds, 1, __ATOMIC_SEQ_CST);
    if (index >= HOLDS_MAX) {
        return;
    }
    struct hold *hold = &shared->hold[index];
    hold->token = ls_redis_mutex_token_by_me(mutex);
    for (uint32_t i = 0; i < steps; i++) {
        long now = now_ms();
        if (asks && ls_redis_mutex_query_by_me(mutex) != LS_HELD) {
            return; /* whether it believed at `now` is not known */
        }
        hold->first = hold->first == 0 ? now : hold->first;
        hold->last = now;
        sleep_ms(1);
    }
}

static void work(struct shared *shared, const char *hosts, bool asks, uint32_t seed)
{
    struct ls_env *env;
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ls_env_pthread_open(&env) != LS_OK || ls_redis_init(&redis, env, hosts, &OPTIONS) != LS_OK ||
        ls_redis_mutex_init(&mutex, &redis, "belief", NULL) != LS_OK || ls_redis_start(&redis) != LS_OK) {
        _exit(1);
    }
    while (!__atomic_load_n(&shared->ends, __ATOMIC_SEQ_CST)) {
        if (ls_redis_mutex_acquire(&mutex, 1000) == LS_OK) {
            believe(&mutex, shared, asks, 20 + draw(&seed, 200));
            (void)ls_redis_mutex_release(&mutex);
        }
    }
    ls_redis_mutex_close(&mutex);
    ls_redis_close(&redis);
    ls_env_pthread_close(env);
    _exit(0);
}

/* For how long two holders believed at once at most, in ms. */
static long longest_overlap(const struct shared *shared)
{
    int count = shared->holds < HOLDS_MAX ? shared->holds : HOLDS_MAX;
    long longest = 0;
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            const struct hold *a = &shared->hold[i], *b = &shared->hold[j];
            long from = a->first > b->first ? a->first : b->first;
            long to = a->last < b->last ? a->last : b->last;
            if (a->first != 0 && b->first != 0 && a->token != b->token && to - from > longest) {
                longest = to - from;
            }
        }
    }
    return longest;
}

static long measure(const struct server *server, bool asks, int stops)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t worker[WORKERS];
    uint32_t seed = 1;
    assert_true(shared != MAP_FAILED);
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker[i] = fork();
        if (worker[i] == 0) {
            work(shared, server->hosts, asks, i + 7);
        }
    }
    sleep_ms(200);
    for (int i = 0; i < stops; i++) {
        pid_t pid = worker[draw(&seed, WORKERS)];
        kill(pid, SIGSTOP);
        sleep_ms((long)draw(&seed, 2 * LEASE_MS));
        kill(pid, SIGCONT);
        sleep_ms((long)draw(&seed, 60));
    }
    __atomic_store_n(&shared->ends, true, __ATOMIC_SEQ_CST);
    for (int i = 0; i < WORKERS; i++) {
        int status;
        waitpid(worker[i], &status, 0);
        assert_int_equal(status, 0);
    }
    long overlap = longest_overlap(shared);
    print_message("%s: %d stops, %d holds, two believed at once for at most %ld ms\n",
                  asks ? "asks" : "blind", stops, shared->holds, overlap);
    munmap(shared, sizeof *shared);
    return overlap;
}

static void no_two_believe_at_once(void **state)
{
    const char *text = getenv("STOPS");
    int stops = text != NULL ? atoi(text) : 60;
    struct server server;
    (void)state;
    server_start(&server);
    assert_int_equal(measure(&server, true, stops), 0);
    assert_true(measure(&server, false, stops) > 0);
    server_kill(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_two_believe_at_once)};
    if (access(SERVER_BINARY, X_OK) != 0) {
        printf("no %s (Debian: redis-tools)\n", SERVER_BINARY);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
