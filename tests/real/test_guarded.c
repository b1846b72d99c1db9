/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Guarded writes on a real server while sessions end: ls_session_multi() never ends the process, and is_unrecoverable() before
 * zoo_amulti() does. */
#include "stage.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 3, ENDS = 8, TRIES = 200, DIED = 1, LIVED = 0 };

static int stop;

static bool stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_SEQ_CST) != 0;
}

/* One that writes without a pause, each write when the one before it was answered. By the client library it waits only while
 * there is a link: what it sends meanwhile waits for the next one. */
struct writer {
    pthread_t thread;
    struct ls_session *session; /* NULL: by the client library */
    zhandle_t *zh;
    int waits;
    int answered, unsent;
};

static void on_written(int rc, const void *data)
{
    struct writer *writer = (struct writer *)(uintptr_t)data;
    (void)rc;
    __atomic_store_n(&writer->waits, 0, __ATOMIC_SEQ_CST);
}

static bool send_one(struct writer *writer, const zoo_op_t *ops, zoo_op_result_t *results)
{
    if (writer->session)
        return ls_session_multi(writer->session, 2, ops, results, on_written, writer) == LS_OK;
    return !is_unrecoverable(writer->zh) &&
           zoo_amulti(writer->zh, 2, ops, results, on_written, writer) == ZOK;
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_check_op_init(&ops[0], "/", -1);
    zoo_check_op_init(&ops[1], "/zookeeper", -1);
    while (!stopped()) {
        __atomic_store_n(&writer->waits, 1, __ATOMIC_SEQ_CST);
        if (!send_one(writer, ops, results)) {
            writer->unsent++;
            continue;
        }
        writer->answered++;
        while (__atomic_load_n(&writer->waits, __ATOMIC_SEQ_CST) &&
               (writer->session || zoo_state(writer->zh) == ZOO_CONNECTED_STATE))
            sched_yield();
    }
    return NULL;
}

static void start(struct writer *writers, struct ls_session *session, zhandle_t *zh)
{
    stop = 0;
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.session = session, .zh = zh};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
}

static void finish(struct writer *writers)
{
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
}

static void end_session(struct client *client)
{
    int64_t id = ls_session_id(&client->session);
    ls_env_lock(client->env);
    clientid_t whole = *zoo_client_id(client->session.zh);
    ls_env_unlock(client->env);
    while (ls_session_id(&client->session) == id)
        try_to_expire(&whole);
    client_wait_state(client, LS_STATE_CONNECTED);
}

static void test_writes_of_the_library_outlive_the_ends_of_sessions(void **state)
{
    (void)state;
    struct client client;
    struct writer writers[WRITERS];
    client_open(&client, "/guarded", NULL);
    client_wait_state(&client, LS_STATE_CONNECTED);
    start(writers, &client.session, NULL);
    for (int i = 0; i < ENDS; i++)
        end_session(&client);
    finish(writers);
    for (int i = 0; i < WRITERS; i++) {
        assert_true(writers[i].answered > 0);
        assert_true(writers[i].unsent > 0);
    }
    client_close(&client);
}

/* In a process of its own: it asks is_unrecoverable() before each write, until its session has ended. */
static int die_or_live(void)
{
    struct writer writers[WRITERS];
    struct rlimit none = {0, 0};
    zoo_set_debug_level((ZooLogLevel)0);
    setrlimit(RLIMIT_CORE, &none);
    close(STDERR_FILENO);
    alarm(60);
    zhandle_t *zh = zookeeper_init(server(), NULL, TIMEOUT_MS, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        pause_ms(1);
    start(writers, NULL, zh);
    while (!is_unrecoverable(zh))
        try_to_expire(zoo_client_id(zh));
    pause_ms(20);
    return LIVED;
}

static void test_a_question_before_the_call_does_not_close_the_window(void **state)
{
    (void)state;
    const char *sanitize = getenv("LOCKSTEP_SANITIZE");
    if (sanitize != NULL && strstr(sanitize, "thread") != NULL)
        skip(); /* the sanitizer of threads moves the window out of reach */
    int died = 0;
    for (int i = 0; i < TRIES && !died; i++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(die_or_live());
        assert_int_equal(waitpid(child, &status, 0), child);
        died += WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
        print_message("try %d: %s\n", i + 1, died ? "the process has ended" : "it lives");
    }
    if (!died) {
        print_message("the window was not met in %d tries\n", TRIES);
        skip(); /* it is microseconds wide, and a sanitizer moves it */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_question_before_the_call_does_not_close_the_window),
        cmocka_unit_test(test_writes_of_the_library_outlive_the_ends_of_sessions),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
