/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The asynchronous core in a program that has a poll loop: callbacks run on other threads and only write down what
 * happened, into a pipe; everything is decided in the loop. usage: poll_loop HOST:PORT
 *
 *   ASKED --GRANTED--> WORKING --work done--> RELEASING --FREED--> end
 *     ^                   |
 *     +-------LOST--------+ */
#include <errno.h>
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { OWNER = 1, TICK_MS = 20, TICKS = 5, ASK_TIMEOUT_MS = 10000 };

enum kind { GRANTED, FAILED, FREED, SUSPENDED, LOST };

/* Smaller than PIPE_BUF: it is written as a whole or not at all. */
struct message {
    enum kind kind;
    int rc;
    int64_t token;
};

static int channel[2];

struct program {
    struct ls_env *env;
    struct ls_session session;
    struct ls_session_listener listener;
    struct ls_mutex mutex;
    bool working;
    int ticks; /* pieces of work done */
    int rc;    /* why the loop ends */
};

/* ---- on the threads of the library ---- */

static void tell(struct message message)
{
    ssize_t written;
    do {
        written = write(channel[1], &message, sizeof message);
    } while (written < 0 && errno == EINTR);
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)mutex;
    (void)owner;
    tell(
        (struct message){.kind = outcome->rc ? FAILED : GRANTED, .rc = outcome->rc, .token = outcome->token});
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)mutex;
    (void)owner;
    tell((struct message){.kind = FREED, .rc = rc});
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)session;
    (void)listener;
    (void)session_id;
    if (event == LS_SESSION_SUSPENDED)
        tell((struct message){.kind = SUSPENDED});
    else if (event == LS_SESSION_LOST || event == LS_SESSION_AUTH_FAILED || event == LS_SESSION_GAVE_UP)
        tell((struct message){.kind = LOST});
}

static const struct ls_mutex_ops mutex_ops = {.on_done = on_done, .on_freed = on_freed};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};
static const struct ls_session_ops session_ops = {.on_event = on_event};

/* ---- in the loop ---- */

static int ask(struct program *program)
{
    return ls_mutex_acquire_start(&program->mutex, OWNER, ASK_TIMEOUT_MS);
}

/* Takes one message out of the pipe and acts on it. Returns whether the loop goes on. */
static bool handle(struct program *program)
{
    struct message message;
    if (read(channel[0], &message, sizeof message) != sizeof message)
        return errno == EINTR;
    switch (message.kind) {
    case GRANTED:
        printf("granted, token %lld\n", (long long)message.token);
        program->working = true;
        return true;
    case SUSPENDED:
        printf("the connection is gone; work waits until the lock is sure again\n");
        return true;
    case LOST:
        if (!program->working)
            return true; /* an acquire that waits goes on by itself */
        printf("the lock is lost; asking again\n");
        program->working = false;
        program->rc = ask(program);
        return program->rc == 0;
    case FREED:
    case FAILED:
        program->rc = message.rc;
        return false;
    }
    return false;
}

/* A piece of work, if the lock is sure to be ours: belief runs out by itself when nothing is heard. */
static bool tick(struct program *program)
{
    if (!program->working || ls_mutex_query(&program->mutex, OWNER) != LS_HELD)
        return true;
    if (++program->ticks < TICKS)
        return true;
    program->working = false;
    program->rc = ls_mutex_release_start(&program->mutex, OWNER);
    return program->rc == 0;
}

static void loop(struct program *program)
{
    struct pollfd waited = {.fd = channel[0], .events = POLLIN};
    bool on = true;
    while (on) {
        int ready = poll(&waited, 1, TICK_MS);
        on = ready > 0 ? handle(program) : tick(program);
    }
}

/* ---- life ---- */

static int run(struct program *program, const char *hosts)
{
    int err = ls_session_init(&program->session, program->env, hosts, 10000, NULL);
    if (!err)
        err = ls_mutex_init(&program->mutex, &program->session, "/examples/poll_loop", &mutex_options);
    if (err)
        return err;
    ls_session_listener_init(&program->listener, &session_ops);
    ls_session_listener_add(&program->session, &program->listener);
    err = ls_session_start(&program->session);
    if (!err)
        err = ask(program);
    if (!err) {
        loop(program);
        err = program->rc;
    }
    ls_mutex_close(&program->mutex);
    ls_session_close(&program->session);
    return err;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    if (argc != 2 || pipe(channel)) {
        fprintf(stderr, "usage: poll_loop HOST:PORT\n");
        return 2;
    }
    int err = ls_env_pthread_open(&program.env);
    if (!err) {
        err = run(&program, argv[1]);
        ls_env_pthread_close(program.env);
    }
    if (err) {
        fprintf(stderr, "poll_loop: %s\n", ls_strerror(err));
        return 1;
    }
    printf("%d pieces of work done under the lock\n", program.ticks);
    return 0;
}
