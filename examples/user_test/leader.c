/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "leader.h"

#include <stddef.h>

enum { OWNER = 1 };

static struct leader *leader_of(struct ls_session *session)
{
    return (struct leader *)(void *)((char *)session - offsetof(struct leader, session));
}

static void ask(struct leader *leader)
{
    int rc = ls_mutex_acquire_start(&leader->mutex, OWNER, -1);
    if (rc < 0 && rc != LS_EALREADY) /* one that waits survives the end of its session */
        leader->err = rc;
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    struct leader *leader = leader_of(mutex->session);
    (void)owner;
    if (!outcome->rc)
        leader->terms++;
    else if (outcome->rc == LS_ELOST)
        ask(leader);
    else if (outcome->rc != LS_ECLOSED)
        leader->err = outcome->rc;
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    (void)session_id;
    if (event == LS_SESSION_LOST)
        ask(leader_of(session));
}

static const struct ls_mutex_ops mutex_ops = {.on_done = on_done};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};
static const struct ls_session_ops session_ops = {.on_event = on_event};

int leader_open(struct leader *leader, struct ls_env *env, const char *hosts, const char *path)
{
    int err = ls_session_init(&leader->session, env, hosts, 4000, NULL);
    if (!err)
        err = ls_mutex_init(&leader->mutex, &leader->session, path, &mutex_options);
    if (err)
        return err;
    ls_session_listener_init(&leader->listener, &session_ops);
    ls_session_listener_add(&leader->session, &leader->listener);
    err = ls_session_start(&leader->session);
    if (!err)
        ask(leader);
    return err ? err : leader->err;
}

void leader_close(struct leader *leader)
{
    ls_session_close(&leader->session);
    ls_mutex_close(&leader->mutex);
}

bool leader_tick(struct leader *leader)
{
    if (ls_mutex_query(&leader->mutex, OWNER) != LS_HELD)
        return false;
    leader->work++;
    return true;
}
