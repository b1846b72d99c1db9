/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A critical section that one program at a time is in, on all machines. usage: critical_section HOST:PORT */
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <stdio.h>

static int work(struct ls_mutex *mutex)
{
    int err = ls_mutex_acquire(mutex, 10000); /* 10 s at most */
    if (err)
        return err;
    printf("inside, token %lld, still ours for at least %d ms\n", (long long)ls_mutex_token_by_me(mutex),
           ls_mutex_belief_left_by_me(mutex));
    return ls_mutex_release(mutex);
}

int main(int argc, char **argv)
{
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
    int err = argc == 2 ? ls_env_pthread_open(&env) : LS_EINVAL;
    if (!err) {
        err = ls_session_init(&session, env, argv[1], 10000, NULL);
        if (!err)
            err = ls_mutex_init(&mutex, &session, "/examples/critical_section", NULL);
        if (!err) {
            err = ls_session_start(&session);
            if (!err)
                err = work(&mutex);
            ls_mutex_close(&mutex);
            ls_session_close(&session);
        }
        ls_env_pthread_close(env);
    }
    fprintf(stderr, "%s\n",
            argc != 2 ? "usage: critical_section HOST:PORT"
            : err     ? ls_strerror(err)
                      : "done");
    return argc != 2 ? 2 : err ? 1 : 0;
}
