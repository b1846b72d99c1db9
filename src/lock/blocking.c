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

/* Takes the environment's mutex for a call that may wait. NULL, and nothing is taken: *err says why. */
static struct ls_session *begin(const struct ls_mutex *mutex, int *err)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    *err = session ? LS_EDEADLK : LS_ECLOSED;
    if (!session || !ls_env_in_callback(session->env))
        return session;
    ls_env_unlock(session->env);
    return NULL;
}

int ls_mutex_acquire(struct ls_mutex *mutex, int timeout_ms)
{
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    struct ls_session *session = begin(mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &call.waiter);
    rc = lock_mutex_acquire(mutex, ls_env_self(env), timeout_ms, &call);
    lock_queue_hand_over(session);
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
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    struct ls_session *session = begin(mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &call.waiter);
    rc = lock_mutex_release(mutex, ls_env_self(env), &call);
    lock_queue_hand_over(session);
    if (rc == LS_OK)
        rc = wait_for(env, &call);
    ls_env_waiter_close(env, &call.waiter);
    ls_env_unlock(env);
    return rc;
}

bool ls_mutex_held_by_me(const struct ls_mutex *mutex)
{
    struct ls_session *session = __atomic_load_n(&mutex->session, __ATOMIC_ACQUIRE);
    return session && ls_mutex_held_by(mutex, ls_env_self(session->env));
}
