/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The blocking shell: starts an asynchronous call for the calling thread and sleeps until the answer. */
#include "lock/claim.h"

#include <string.h>

static int wait_for(struct ls_env *env, struct lock_call *call)
{
    while (!call->done)
        ls_env_wait(env, &call->waiter);
    return call->rc;
}

struct ls_session *lock_blocking_begin(const struct ls_mutex *mutex, int *err)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    *err = session ? LS_EDEADLK : LS_ECLOSED;
    if (!session || !ls_env_in_callback(session->env))
        return session;
    ls_env_unlock(session->env);
    return NULL;
}

int lock_blocking_finish(struct ls_session *session, struct lock_call *call, int rc)
{
    struct ls_env *env = session->env;
    lock_queue_hand_over(session);
    if (rc == LS_OK)
        rc = wait_for(env, call);
    ls_env_waiter_close(env, &call->waiter);
    return rc;
}

static void reentered(const struct ls_mutex *mutex, uint64_t owner, struct lock_call *call)
{
    const struct lock_claim *claim = lock_mutex_holder(mutex, owner);
    call->depth = claim->depth;
    call->token = claim->czxid;
    call->done = true;
}

int ls_mutex_acquire_outcome(struct ls_mutex *mutex, int timeout_ms, struct ls_outcome *outcome)
{
    struct lock_call call = {.rc = 0, .done = false};
    *outcome = (struct ls_outcome){.rc = 0};
    struct ls_session *session = lock_blocking_begin(mutex, &outcome->rc);
    if (!session)
        return outcome->rc;
    struct ls_env *env = session->env;
    uint64_t owner = ls_env_self(env);
    ls_env_waiter_init(env, &call.waiter);
    int rc = lock_mutex_acquire(mutex, owner, timeout_ms, &call);
    if (rc == 1)
        reentered(mutex, owner, &call);
    outcome->rc = lock_blocking_finish(session, &call, rc == 1 ? LS_OK : rc);
    outcome->zk_rc = call.zk_rc;
    outcome->depth = call.depth;
    outcome->token = call.token;
    ls_env_unlock(env);
    return outcome->rc;
}

int ls_mutex_acquire(struct ls_mutex *mutex, int timeout_ms)
{
    struct ls_outcome outcome;
    return ls_mutex_acquire_outcome(mutex, timeout_ms, &outcome);
}

int ls_mutex_try(struct ls_mutex *mutex)
{
    return ls_mutex_acquire(mutex, 0);
}

int lock_blocking_release(struct ls_mutex *mutex, uint64_t owner)
{
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    struct ls_session *session = lock_blocking_begin(mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &call.waiter);
    rc = lock_blocking_finish(session, &call, lock_mutex_release(mutex, owner, &call));
    ls_env_unlock(env);
    return rc;
}

int ls_mutex_release(struct ls_mutex *mutex)
{
    return lock_blocking_release(mutex, lock_mutex_me(mutex));
}

int ls_mutex_participants(struct ls_mutex *mutex, struct ls_participants *out)
{
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    *out = (struct ls_participants){.count = 0};
    struct ls_session *session = lock_blocking_begin(mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &call.waiter);
    rc = lock_blocking_finish(session, &call, lock_participants_start(mutex, NULL, &call, out));
    ls_env_unlock(env);
    return rc;
}

void ls_participants_free(struct ls_participants *participants)
{
    struct ls_env *env = participants->env;
    if (env) {
        ls_env_lock(env);
        for (int i = 0; i < participants->count; i++)
            ls_env_free(env, (void *)(uintptr_t)participants->list[i].name);
        ls_env_free(env, participants->list);
        ls_env_unlock(env);
    }
    *participants = (struct ls_participants){.count = 0};
}

/* A multi whose thread waits for the answer. Lies on the stack of that thread. */
struct lock_write {
    struct lock_write *next; /* in session->writes, until the answer */
    struct ls_session *session;
    struct lock_call call;
    struct ls_env *env;
    zoo_op_t *ops; /* the check of the hold's node, and then the caller's operations */
    zoo_op_result_t *results;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64]; /* of the hold's node */
};

static void end_write(struct lock_write *write, int zk_rc)
{
    struct lock_write **link = &write->session->writes;
    while (*link != write)
        link = &(*link)->next;
    *link = write->next;
    write->call.zk_rc = zk_rc;
    write->call.done = true;
    ls_env_wake(write->env, &write->call.waiter);
}

static void on_written(int rc, const void *data)
{
    struct lock_write *write = (struct lock_write *)(uintptr_t)data;
    struct ls_session *session = write->session;
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    end_write(write, rc);
    lock_mutex_leave(session);
}

void lock_blocking_drained(struct ls_session *session)
{
    while (session->writes)
        end_write(session->writes, ZCLOSING);
}

static int send_write(struct lock_write *write, const struct ls_mutex *mutex, int count, const zoo_op_t *ops)
{
    size_t all = (size_t)count + 1;
    zoo_op_t check;
    int rc = lock_mutex_guard(mutex, ls_env_self(write->env), &check, write->path, sizeof write->path);
    if (rc)
        return rc;
    write->ops = ls_env_alloc(write->env, all * sizeof *write->ops);
    write->results = ls_env_alloc(write->env, all * sizeof *write->results);
    if (!write->ops || !write->results)
        return LS_ENOMEM;
    write->ops[0] = check;
    memcpy(&write->ops[1], ops, (size_t)count * sizeof *ops);
    rc = lock_multi_send(mutex->session, (int)all, write->ops, write->results, on_written, write);
    if (rc)
        return rc;
    write->next = write->session->writes;
    write->session->writes = write;
    return LS_OK;
}

static int written_rc(const struct lock_write *write)
{
    int zk_rc = write->call.zk_rc;
    switch (lock_session_verdict(zk_rc)) {
    case LOCK_OK:
        return LS_OK;
    case LOCK_UNKNOWN:
        return LS_EUNSURE;
    case LOCK_DYING:
        return LS_ELOST; /* the session of the hold is dead */
    default:
        if (zk_rc == ZAUTHFAILED)
            /* the client gives this code to all requests in flight, done or not, when credentials are
             * refused */
            return LS_EUNSURE;
        if (write->results[0].err == ZNONODE)
            return LS_ELOST;
        return zk_rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
    }
}

int ls_mutex_multi(struct ls_mutex *mutex, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                   int *zk_rc)
{
    int rc;
    if (zk_rc)
        *zk_rc = 0;
    if (!lock_multi_is_valid(count, ops, results))
        return LS_EINVAL;
    struct ls_session *session = lock_blocking_begin(mutex, &rc);
    if (!session)
        return rc == LS_ECLOSED ? LS_ENOTOWNER : rc;
    struct lock_write write = {.session = session, .env = session->env};
    struct ls_env *env = session->env;
    ls_env_waiter_init(env, &write.call.waiter);
    rc = lock_blocking_finish(session, &write.call, send_write(&write, mutex, count, ops));
    if (write.call.done) {
        rc = written_rc(&write);
        memcpy(results, &write.results[1], (size_t)count * sizeof *results);
    }
    if (zk_rc)
        *zk_rc = write.call.zk_rc;
    ls_env_free(env, write.ops);
    ls_env_free(env, write.results);
    ls_env_unlock(env);
    return rc;
}
