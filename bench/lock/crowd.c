/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Many locks and many waiters in one process and one session, for `./dev bench lock`: what a waiter costs here, whom a
 * release wakes, and in which order they come. Each lock has a holder, and as many owners that wait as WAITERS says.
 *
 *   ready            all locks are held
 *   < ask            asks for them again, once for each waiter
 *   asked NS         how long the calls took; whether all wait by now the server knows best: each has a watch there
 *   < weigh
 *   memory R A       bytes that the process has come to have since `ready` (resident), and that it uses of them
 *   < drain          gives all locks back, and each one again as soon as it is granted
 *   drained N NS BAD grants to waiters, nanoseconds, and how many of them came out of turn: neither the next owner that
 *                    had asked for that lock, or with a fencing token that is not larger than the one before
 *   < quit */
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <lockstep/session.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { EXIT_LOCK = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 4 };
enum { SESSION_TIMEOUT_MS = 30000, CONNECT_TIMEOUT_MS = 20000, COUNT_MAX = 10000, LINE_SIZE = 64 };

/* What is known of the last grant of one lock. */
struct lock {
    struct ls_mutex mutex; /* first: callbacks find the rest by it */
    uint64_t owner;
    int64_t token;
};

/* Guarded by its mutex, which callbacks take. */
struct crowd {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t grants;
    uint32_t freed;
    uint32_t out_of_turn;
    int err; /* the first that a callback has told */
    bool draining;
};

struct memory {
    int64_t resident;
    int64_t used;
};

static struct crowd crowd = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- answers ---- */

static void note_error(int err)
{
    crowd.err = crowd.err ? crowd.err : err;
}

static void give_back(struct ls_mutex *mutex, uint64_t owner)
{
    int rc = ls_mutex_release_start(mutex, owner);
    if (rc) {
        pthread_mutex_lock(&crowd.mutex);
        note_error(rc);
        pthread_cond_signal(&crowd.changed);
        pthread_mutex_unlock(&crowd.mutex);
    }
}

static void note_grant(struct lock *lock, uint64_t owner, const struct ls_outcome *outcome)
{
    note_error(outcome->rc);
    crowd.grants++;
    crowd.out_of_turn += owner != lock->owner + 1 || outcome->token <= lock->token;
    lock->owner = owner;
    lock->token = outcome->token;
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    pthread_mutex_lock(&crowd.mutex);
    note_grant((struct lock *)mutex, owner, outcome);
    bool draining = crowd.draining;
    pthread_cond_signal(&crowd.changed);
    pthread_mutex_unlock(&crowd.mutex);
    if (draining && !outcome->rc) {
        give_back(mutex, owner);
    }
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)mutex;
    (void)owner;
    pthread_mutex_lock(&crowd.mutex);
    note_error(rc);
    crowd.freed++;
    pthread_cond_signal(&crowd.changed);
    pthread_mutex_unlock(&crowd.mutex);
}

static const struct ls_mutex_ops ops = {.on_done = on_done, .on_freed = on_freed};
static const struct ls_mutex_options options = {.ops = &ops};

/* Waits until a counter has come to a number, or something went wrong: then its error. */
static int await(const uint32_t *counter, uint32_t number)
{
    pthread_mutex_lock(&crowd.mutex);
    while (*counter < number && !crowd.err) {
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    }
    int err = crowd.err;
    pthread_mutex_unlock(&crowd.mutex);
    return err;
}

/* ---- the steps ---- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct memory weigh(void)
{
    struct memory memory = {0};
    char text[LINE_SIZE] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fgets(text, sizeof text, file) && strchr(text, ' ')) {
            memory.resident = strtoll(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
        }
        fclose(file);
    }
    memory.used = (int64_t)mallinfo2().uordblks;
    return memory;
}

/* Owner 1 gets each lock. The first one waits for the connection. */
static int hold_all(struct lock *locks, uint32_t count, struct ls_session *session)
{
    char path[LINE_SIZE];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/bench/crowd/%u", i);
        int rc = ls_mutex_init(&locks[i].mutex, session, path, &options);
        if (!rc) {
            rc = ls_mutex_acquire_start(&locks[i].mutex, 1, CONNECT_TIMEOUT_MS);
        }
        if (rc) {
            return rc;
        }
    }
    return await(&crowd.grants, count);
}

static int ask(struct lock *locks, uint32_t count, uint32_t waiters)
{
    int64_t begun_ns = now_ns();
    for (uint32_t i = 0; i < waiters; i++) {
        int rc = ls_mutex_acquire_start(&locks[i % count].mutex, 2 + i / count, -1);
        if (rc) {
            return rc;
        }
    }
    printf("asked %lld\n", (long long)(now_ns() - begun_ns));
    return LS_OK;
}

static int drain(struct lock *locks, uint32_t count, uint32_t waiters)
{
    int64_t begun_ns = now_ns();
    pthread_mutex_lock(&crowd.mutex);
    crowd.draining = true;
    pthread_mutex_unlock(&crowd.mutex);
    for (uint32_t i = 0; i < count; i++) {
        give_back(&locks[i].mutex, 1);
    }
    int err = await(&crowd.freed, count + waiters);
    printf("drained %u %lld %u\n", crowd.grants - count, (long long)(now_ns() - begun_ns), crowd.out_of_turn);
    return err;
}

static int serve(struct lock *locks, uint32_t count, uint32_t waiters)
{
    char line[LINE_SIZE];
    int err = LS_OK;
    struct memory before = weigh();
    puts("ready");
    fflush(stdout);
    while (!err && fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (!strcmp(line, "ask\n")) {
            err = ask(locks, count, waiters);
        } else if (!strcmp(line, "weigh\n")) {
            struct memory now = weigh();
            printf("memory %lld %lld\n", (long long)(now.resident - before.resident),
                   (long long)(now.used - before.used));
        } else if (!strcmp(line, "drain\n")) {
            err = drain(locks, count, waiters);
        } else {
            err = LS_EINVAL;
        }
        fflush(stdout);
    }
    return err;
}

/* ---- the program ---- */

static int run(const char *hosts, struct lock *locks, uint32_t count, uint32_t waiters)
{
    struct ls_env *env;
    struct ls_session session;
    int err = ls_env_pthread_open(&env);
    if (err) {
        return err;
    }
    err = ls_session_init(&session, env, hosts, SESSION_TIMEOUT_MS, NULL);
    if (!err) {
        err = ls_session_start(&session);
    }
    if (!err) {
        err = hold_all(locks, count, &session);
    }
    if (!err) {
        err = serve(locks, count, waiters);
    }
    ls_session_close(&session);
    for (uint32_t i = 0; i < count; i++) {
        if (locks[i].mutex.session) {
            ls_mutex_close(&locks[i].mutex);
        }
    }
    ls_env_pthread_close(env);
    return err;
}

/* A number from 1 to COUNT_MAX, or 0. */
static uint32_t parse_count(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    return *end || number > COUNT_MAX ? 0 : (uint32_t)number;
}

int main(int argc, char **argv)
{
    uint32_t count = argc == 4 ? parse_count(argv[2]) : 0;
    uint32_t waiters = argc == 4 ? parse_count(argv[3]) : 0;
    if (!count || !waiters) {
        fputs("usage: crowd HOST:PORT LOCKS WAITERS\n", stderr);
        return EXIT_USAGE;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    struct lock *locks = calloc(count, sizeof *locks);
    int err = locks ? run(argv[1], locks, count, waiters) : LS_ENOMEM;
    if (err) {
        fprintf(stderr, "crowd: %s\n", ls_strerror(err));
    }
    free(locks);
    return !err ? 0 : err == LS_ETIMEDOUT ? EXIT_ENVIRONMENT : EXIT_LOCK;
}
