/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The sequences of tests/support/sequences.h on the real client and a server. */
#define THREADED /* the synchronous calls */
#include "support/sequences.h"

#include "stage.h"

#include <netinet/in.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static zhandle_t *stage_open(const char *chroot)
{
    char hosts[64];
    snprintf(hosts, sizeof hosts, "%s%s", server(), chroot);
    zhandle_t *zh = zookeeper_init(hosts, on_event, TIMEOUT_MS, NULL, watcher_tag("d"), ZOO_NO_LOG_CLIENTENV);
    assert_non_null(zh);
    WAIT_UNTIL(zoo_state(zh) == ZOO_CONNECTED_STATE);
    stage_told(zh);
    forget();
    return zh;
}

static void stage_close(zhandle_t *zh)
{
    assert_int_equal(zookeeper_close(zh), ZOK);
    forget();
}

static void stage_enter(void)
{
}

static void stage_leave(void)
{
}

/* ---- the completion thread ---- */

static sem_t held, go_on;
static bool holding;

static void hold_here(int rc, const struct Stat *stat, const void *data)
{
    (void)rc;
    (void)stat;
    (void)data;
    sem_post(&held);
    while (sem_wait(&go_on) != 0) {
    }
}

static void stage_hold(zhandle_t *zh)
{
    assert_int_equal(zoo_aexists(zh, "/", 0, hold_here, NULL), ZOK);
    while (sem_wait(&held) != 0) {
    }
    holding = true;
}

/* The answer of a synchronous call is behind all others in the socket, and passes the completion thread by (F37). */
static void stage_received(zhandle_t *zh)
{
    assert_int_equal(zoo_exists(zh, "/", 0, NULL), ZOK);
}

static void mark_told(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    __atomic_store_n((int *)(uintptr_t)data, rc, __ATOMIC_SEQ_CST);
}

/* The completion of a request that is answered, be it with an error, stands behind all that came before it. */
static void stage_told(zhandle_t *zh)
{
    enum { NO_ANSWER = 1 };
    static int answer;
    if (holding) {
        holding = false;
        sem_post(&go_on);
    }
    do {
        __atomic_store_n(&answer, NO_ANSWER, __ATOMIC_SEQ_CST);
        assert_int_equal(zoo_aexists(zh, "/", 0, mark_told, &answer), ZOK);
        WAIT_UNTIL(__atomic_load_n(&answer, __ATOMIC_SEQ_CST) != NO_ANSWER);
    } while (__atomic_load_n(&answer, __ATOMIC_SEQ_CST) == ZCONNECTIONLOSS);
}

/* ---- the link ---- */

static int server_port(void)
{
    const char *colon = strrchr(server(), ':');
    return colon != NULL ? (int)strtol(colon + 1, NULL, 10) : 2181;
}

static bool leads_to_server(int fd)
{
    struct sockaddr_in6 peer;
    socklen_t size = sizeof peer;
    memset(&peer, 0, sizeof peer);
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0 ||
        (peer.sin6_family != AF_INET && peer.sin6_family != AF_INET6)) {
        return false;
    }
    return ntohs(peer.sin6_port) == server_port(); /* of both families at the same place */
}

/* The only connection of this process to the server breaks under its client. */
static void stage_cut(zhandle_t *zh)
{
    (void)zh;
    int count = 0;
    for (int fd = 3; fd < 256; fd++) {
        if (leads_to_server(fd)) {
            assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
            count++;
        }
    }
    assert_int_equal(count, 1);
}

/* ---- the end ---- */

static void stage_expire(zhandle_t *zh)
{
    for (int i = 0; i < 20 && !is_unrecoverable(zh); i++) {
        try_to_expire(zoo_client_id(zh));
    }
    WAIT_UNTIL(zoo_state(zh) == ZOO_EXPIRED_SESSION_STATE);
    pause_ms(50); /* for the callbacks, which nobody waits for */
}

/* In a child, which has this thread alone, and nobody who would send something. */
static int stage_multi(zhandle_t *zh, int count, const zoo_op_t *ops)
{
    static zoo_op_result_t results[3];
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        close(STDERR_FILENO);
        alarm(20);
        _exit(-zoo_amulti(zh, count, ops, results, on_void, "m"));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    bool is_stopped_by_a_sanitizer = WIFEXITED(status) && WEXITSTATUS(status) == 1; /* no answer is -1 here */
    return WIFEXITED(status) && !is_stopped_by_a_sanitizer ? -WEXITSTATUS(status) : DIES;
}

static bool stage_round(int round)
{
    return round < 2000;
}

#define SEQUENCE(test) cmocka_unit_test(test)

int main(void)
{
    const struct CMUnitTest tests[] = {SEQUENCES};
#ifdef __SANITIZE_THREAD__
    /* The client frees what memory held before. The allocator of this sanitizer hands out zeros, which end no process. */
    cmocka_set_skip_filter("test_a_multi_that_is_refused_may_end_the_process");
#endif
    zoo_set_debug_level((ZooLogLevel)0);
    sem_init(&held, 0, 0);
    sem_init(&go_on, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
