/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Multis of the application. The checks here keep zoo_amulti() from ending the process, but for two windows.
 *
 * zoo_amulti() of libzookeeper_mt (3.8.0, and master in July 2026) goes on after an operation that it
 * refuses. Then it frees a path that it has not set, and below a chroot the refused path twice. It refuses an
 * operation for two reasons:
 *
 *   its path is malformed      checked here, by the rules of the client
 *   the handle's state is < 0  the client's thread sets it, at any time
 *
 * The state EXPIRED comes only with a server's answer to a connect request, never on an established link. So
 * no multi is sent unless the handle is connected. The first window lasts until zoo_amulti() has checked the
 * last operation: within it the link would have to break, be made again and be refused. No call of
 * <zookeeper/zookeeper.h> can close this window. The second one: the state AUTH_FAILED can come on an
 * established link too, by the answer to refused credentials. */
#include "lock/claim.h"

#include <string.h>
#include <zookeeper/proto.h>

/* Returns whether a segment of a path is none of "", "." and "..". The last segment of a sequential node
 * (`is_prefix`) may be any of these: the server appends a number. */
static bool segment_is_valid(const char *segment, size_t size, bool is_prefix)
{
    bool dots = (size == 1 || size == 2) && !memcmp(segment, "..", size);
    return is_prefix || (size && !dots);
}

static bool is_valid(const char *path, bool sequential)
{
    if (!path || path[0] != '/')
        return false;
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x1f)
            return false;
    if (!path[1])
        return true;
    for (const char *at = path; *at;) {
        const char *segment = at + 1;
        size_t size = strcspn(segment, "/");
        if (!segment_is_valid(segment, size, sequential && !segment[size]))
            return false;
        at = segment + size;
    }
    return true;
}

static bool op_is_valid(const zoo_op_t *op)
{
    switch (op->type) {
    case ZOO_CREATE_OP:
    case ZOO_CREATE_CONTAINER_OP:
        return is_valid(op->create_op.path, (op->create_op.flags & ZOO_SEQUENCE) != 0);
    case ZOO_DELETE_OP:
        return is_valid(op->delete_op.path, false);
    case ZOO_SETDATA_OP:
        return is_valid(op->set_op.path, false);
    case ZOO_CHECK_OP:
        return is_valid(op->check_op.path, false);
    default:
        return false;
    }
}

bool lock_multi_is_valid(int count, const zoo_op_t *ops, const zoo_op_result_t *results)
{
    if (count < 1 || !ops || !results)
        return false;
    for (int i = 0; i < count; i++)
        if (!op_is_valid(&ops[i]))
            return false;
    return true;
}

int lock_multi_send(const struct ls_session *session, int count, const zoo_op_t *ops,
                    zoo_op_result_t *results, void_completion_t completion, const void *data)
{
    if (!lock_session_ready(session) || zoo_state(session->zh) != ZOO_CONNECTED_STATE)
        return LS_ECLOSED;
    int rc = zoo_amulti(session->zh, count, ops, results, completion, data);
    if (rc == ZMARSHALLINGERROR || rc == ZINVALIDSTATE)
        return LS_ECLOSED;
    return rc ? LS_EZK : LS_OK;
}

int ls_session_multi(struct ls_session *session, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                     void_completion_t completion, const void *data)
{
    if (!session || !completion || !lock_multi_is_valid(count, ops, results))
        return LS_EINVAL;
    ls_env_lock(session->env);
    int rc = lock_multi_send(session, count, ops, results, completion, data);
    ls_env_unlock(session->env);
    return rc;
}
