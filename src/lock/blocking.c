/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The blocking shell: starts the asynchronous call for the calling thread and sleeps until its answer is
 * there. */
#include "claim.h"

static int wait_for(struct ls_env *env, struct lock_call *call)
{
    while (!call->done)
        ls_env_wait(env, &call->waiter);
    return call->rc;
}

int ls_mutex_acquire(struct ls_mutex *mutex, int timeout_ms)
{
    struct ls_session *session = mutex->session;
    struct lock_call call = {.rc = 0, .done = false};
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    if (ls_env_in_callback(env))
        return LS_EDEADLK;
    ls_env_lock(env);
    ls_env_waiter_init(env, &call.waiter);
    int rc = lock_mutex_acquire(mutex, ls_env_self(env), timeout_ms, &call);
    lock_queue_deliver(session);
    if (rc == LS_OK)
        rc = wait_for(env, &call);
    ls_env_waiter_close(env, &call.waiter);
    ls_env_unlock(env);
    return rc == 1 ? LS_OK : rc; /* one level deeper */
}

int ls_mutex_try(struct ls_mutex *mutex)
{
    return ls_mutex_acquire(mutex, 0);
}

int ls_mutex_release(struct ls_mutex *mutex)
{
    struct ls_session *session = mutex->session;
    struct lock_call call = {.rc = 0, .done = false};
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    if (ls_env_in_callback(env))
        return LS_EDEADLK;
    ls_env_lock(env);
    ls_env_waiter_init(env, &call.waiter);
    int rc = lock_mutex_release(mutex, ls_env_self(env), &call);
    lock_queue_deliver(session);
    if (rc == LS_OK)
        rc = wait_for(env, &call);
    ls_env_waiter_close(env, &call.waiter);
    ls_env_unlock(env);
    return rc;
}

bool ls_mutex_held_by_me(const struct ls_mutex *mutex)
{
    return mutex->session && ls_mutex_held_by(mutex, ls_env_self(mutex->session->env));
}
