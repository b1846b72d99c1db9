/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the tests of the lock library on a real server share: processes in the sense of the library, each an
 * environment with a session and a mutex, and a server that can be made to stand still. */
#ifndef TESTS_REAL_STAGE_H
#define TESTS_REAL_STAGE_H

#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 2000, PATIENCE_MS = 20000 };

/* One client of the server. */
struct client {
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
};

static inline int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void pause_ms(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static inline const char *server(void)
{
    const char *hosts = getenv("LOCKSTEP_ZK");
    return hosts ? hosts : "127.0.0.1:2181";
}

/* Waits until the condition holds; fails the test when it takes too long. */
#define WAIT_UNTIL(condition)                                                                                \
    do {                                                                                                     \
        for (int64_t until_ms = now_ms() + PATIENCE_MS; !(condition); pause_ms(2))                           \
            if (now_ms() > until_ms)                                                                         \
                fail_msg("waited in vain for: %s", #condition);                                              \
    } while (0)

static inline void client_init(struct client *client, const char *hosts, const char *path,
                               const struct ls_mutex_options *options)
{
    assert_int_equal(ls_env_pthread_open(&client->env), LS_OK);
    assert_int_equal(ls_session_init(&client->session, client->env, hosts, TIMEOUT_MS, NULL), LS_OK);
    assert_int_equal(ls_mutex_init(&client->mutex, &client->session, path, options), LS_OK);
}

/* A client with a started session. */
static inline void client_open(struct client *client, const char *path,
                               const struct ls_mutex_options *options)
{
    client_init(client, server(), path, options);
    assert_int_equal(ls_session_start(&client->session), LS_OK);
}

static inline void client_wait_state(struct client *client, enum ls_session_state state)
{
    WAIT_UNTIL(ls_session_state(&client->session) == state);
}

static inline void client_close(struct client *client)
{
    assert_int_equal(ls_mutex_close(&client->mutex), LS_OK);
    assert_int_equal(ls_session_close(&client->session), LS_OK);
    ls_env_pthread_close(client->env);
}

static inline uint64_t client_self(struct client *client)
{
    return ls_env_self(client->env);
}

/* The state that the kernel shows for a thread, behind its name in parentheses; 0 once it has ended. */
static inline char thread_state(const char *stat_name)
{
    char line[512] = "";
    FILE *file = fopen(stat_name, "re");
    if (file == NULL)
        return 0;
    const char *end =
        fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; /* a name may hold one, too */
    fclose(file);
    return end ? end[2] : '\0';
}

/* Every thread of the process is stopped: the signal is sent long before the last of them heeds it. */
static inline bool stands_still(long pid)
{
    char name[300];
    snprintf(name, sizeof name, "/proc/%ld/task", pid);
    DIR *tasks = opendir(name);
    bool still = tasks != NULL;
    for (struct dirent *task; still && (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "/proc/%ld/task/%.200s/stat", pid, task->d_name);
        char state = thread_state(name);
        still = state == 'T' || state == '\0';
    }
    if (tasks)
        closedir(tasks);
    return still;
}

/* The server process stands still, or goes on. */
static inline void signal_server(int number)
{
    const char *text = getenv("LOCKSTEP_ZK_PID");
    if (text == NULL) {
        fail_msg("LOCKSTEP_ZK_PID is not set");
        return;
    }
    long pid = strtol(text, NULL, 10);
    assert_int_equal(kill((pid_t)pid, number), 0);
    if (number == SIGSTOP)
        WAIT_UNTIL(stands_still(pid));
}

/* A second handle with the same id takes the session along when it closes. The two chase each other, so it may
 * take several tries (F32, F95). */
static inline void try_to_expire(const clientid_t *id)
{
    zhandle_t *thief = zookeeper_init(server(), NULL, TIMEOUT_MS, id, NULL, ZOO_NO_LOG_CLIENTENV);
    assert_non_null(thief);
    for (int64_t until_ms = now_ms() + TIMEOUT_MS / 2; now_ms() < until_ms; pause_ms(1))
        if (zoo_state(thief) == ZOO_CONNECTED_STATE || zoo_state(thief) == ZOO_EXPIRED_SESSION_STATE)
            break;
    zookeeper_close(thief);
    pause_ms(50); /* for its owner to notice */
}

/* ---- participants: how many nodes a mutex has at the server ---- */

/* In the mutex's options of those who count. */
static inline void on_participants(struct ls_mutex *mutex, void *user, int rc,
                                   const struct ls_participant *list, int count)
{
    (void)mutex;
    (void)list;
    __atomic_store_n((int *)user, rc ? rc : count, __ATOMIC_SEQ_CST);
}

static inline int count_participants(struct client *client)
{
    enum { NO_ANSWER = -1000 };
    int count = NO_ANSWER;
    assert_int_equal(ls_mutex_participants_start(&client->mutex, &count), LS_OK);
    WAIT_UNTIL(__atomic_load_n(&count, __ATOMIC_SEQ_CST) != NO_ANSWER);
    return count;
}

/* ---- a thread that makes one blocking call ---- */

struct caller {
    pthread_t thread;
    struct client *client;
    int timeout_ms;
    int rc;
    int release_rc; /* of a release after a successful acquire */
    int done;
};

static inline void *caller_acquire(void *context)
{
    struct caller *caller = context;
    caller->rc = ls_mutex_acquire(&caller->client->mutex, caller->timeout_ms);
    if (!caller->rc)
        caller->release_rc = ls_mutex_release(&caller->client->mutex);
    __atomic_store_n(&caller->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static inline void *caller_release(void *context)
{
    struct caller *caller = context;
    caller->rc = ls_mutex_release(&caller->client->mutex);
    __atomic_store_n(&caller->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static inline void caller_start(struct caller *caller, struct client *client, int timeout_ms,
                                void *(*call)(void *context))
{
    *caller = (struct caller){.client = client, .timeout_ms = timeout_ms, .rc = 1};
    assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
}

static inline int caller_join(struct caller *caller)
{
    WAIT_UNTIL(__atomic_load_n(&caller->done, __ATOMIC_SEQ_CST));
    pthread_join(caller->thread, NULL);
    return caller->rc;
}

#endif
