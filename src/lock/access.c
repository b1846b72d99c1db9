/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Access: how a handle is opened (in the clear or over TLS), and by which credentials its session goes.
 *
 * Credentials are added at the first CONNECTED event of each handle, before anything is asked of it. The
 * client keeps them and repeats them at each later connection by itself (F43). */
#include "claim.h"

/* Since 3.6, and only in a client library that was built with TLS; then <zookeeper/zookeeper.h> shows it under
 * a condition of its own. */
extern __attribute__((weak)) zhandle_t *zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn,
                                                           int recv_timeout, const clientid_t *clientid,
                                                           void *context, int flags);

static bool auths_are_valid(const struct ls_session_options *options)
{
    if (options->auth_count < 0 || options->auth_count > UINT8_MAX || (options->auth_count && !options->auth))
        return false;
    for (int i = 0; i < options->auth_count; i++) {
        const struct ls_auth *auth = &options->auth[i];
        if (!auth->scheme || auth->size < 0 || (auth->size && !auth->certificate))
            return false;
    }
    return true;
}

int lock_access_check(const struct ls_session_options *options)
{
    if (!auths_are_valid(options))
        return LS_EINVAL;
    if (options->tls && !zookeeper_init_ssl)
        return LS_EUNSUPPORTED;
    return LS_OK;
}

zhandle_t *lock_access_open(struct ls_session *session, watcher_fn watcher, int flags)
{
    const struct ls_session_options *options = lock_queue_deref(session->options);
    if (options && options->tls)
        return zookeeper_init_ssl(session->hosts, options->tls, watcher, session->requested_ms, NULL, session,
                                  flags);
    return zookeeper_init(session->hosts, watcher, session->requested_ms, NULL, session, flags);
}

int lock_access_add_auths(struct ls_session *session, zhandle_t *zh)
{
    const struct ls_session_options *options = lock_queue_deref(session->options);
    int count = options ? options->auth_count : 0;
    while (session->auths < count) {
        const struct ls_auth *auth = &options->auth[session->auths];
        /* Of a refusal by the server AUTH_FAILED tells (F25). */
        int rc = zoo_add_auth(zh, auth->scheme, auth->certificate, auth->size, NULL, NULL);
        if (rc != ZOK)
            return rc;
        session->auths++;
    }
    return ZOK;
}
