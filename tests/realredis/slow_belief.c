/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Belief on a real server. Processes take the lock in turn and are stopped meanwhile, for up to two leases.
 * Each notes when it believed. No two that ask ls_redis_mutex_query() believe at once. Of each design that
 * asks nobody some do: those of DLock and of Redisson, and the same mutex without the question. STOPS says
 * how often processes are stopped for each design. */
#include "holds.h"
#include "redis/design.h"
#include "server.h"

#include <setjmp.h>

#include <cmocka.h>

#define LEASE_MS 300
#define WORKERS 3

struct shared {
    bool ends;
    struct holds holds;
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* Works in steps of a ms, as long as the design lets it. */
static void believe(const struct design *design, void *client, struct holds *holds, uint32_t steps)
{
    struct hold *hold = holds_begin(holds, 0);
    for (uint32_t i = 0; i < steps; i++) {
        int64_t now = now_ns();
        if (!design->believes(client)) {
            return; /* whether it believed at `now` is not known */
        }
        hold_note(hold, now);
        sleep_ms(1);
    }
}

static void work(const struct design *design, struct shared *shared, const char *hosts, uint32_t seed)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *client = design->open(hosts, LEASE_MS);
    if (client == NULL) {
        _exit(1);
    }
    while (!__atomic_load_n(&shared->ends, __ATOMIC_SEQ_CST)) {
        if (design->take(client, 1000) == 0) {
            believe(design, client, &shared->holds, 20 + draw(&seed, 200));
            (void)design->give(client);
        }
    }
    design->close(client);
    _exit(0);
}

static void start_workers(const struct design *design, struct shared *shared, const char *hosts,
                          pid_t *worker)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker[i] = fork();
        if (worker[i] == 0) {
            work(design, shared, hosts, i + 7);
        }
    }
    sleep_ms(200);
}

static void stop_at_random(const pid_t *worker, int stops)
{
    uint32_t seed = 1;
    for (int i = 0; i < stops; i++) {
        pid_t pid = worker[draw(&seed, WORKERS)];
        kill(pid, SIGSTOP);
        sleep_ms((long)draw(&seed, 2 * LEASE_MS));
        kill(pid, SIGCONT);
        sleep_ms((long)draw(&seed, 60));
    }
}

static void end_workers(struct shared *shared, const pid_t *worker)
{
    __atomic_store_n(&shared->ends, true, __ATOMIC_SEQ_CST);
    for (int i = 0; i < WORKERS; i++) {
        int status;
        waitpid(worker[i], &status, 0);
        assert_int_equal(status, 0);
    }
}

static int64_t measure(const struct server *server, const struct design *design, int stops)
{
    struct shared *shared = share(sizeof *shared);
    pid_t worker[WORKERS];
    start_workers(design, shared, server->hosts, worker);
    stop_at_random(worker, stops);
    end_workers(shared, worker);
    struct overlaps found = holds_judge(&shared->holds);
    printf("%s\t%d\t%d\t%d\t%.1f\n", design->name, stops, shared->holds.count, found.count,
           (double)found.longest_ns / 1e6);
    fflush(stdout);
    munmap(shared, sizeof *shared);
    return found.longest_ns;
}

static void only_those_that_ask(void **state)
{
    static const struct design *const blind[] = {&design_unasked, &design_redisson, &design_dlock};
    const char *text = getenv("STOPS");
    int stops = text != NULL ? atoi(text) : 60;
    struct server server;
    (void)state;
    server_start(&server);
    printf("design\tstops\tholds\toverlaps\tlongest overlap in ms\n");
    int64_t ours = measure(&server, &design_ours, stops);
    for (size_t i = 0; i < sizeof blind / sizeof blind[0]; i++) {
        assert_true(measure(&server, blind[i], stops) > 0);
    }
    assert_int_equal(ours, 0);
    server_kill(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_those_that_ask)};
    if (access(SERVER_BINARY, X_OK) != 0) {
        printf("no %s (Debian: redis-tools)\n", SERVER_BINARY);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
