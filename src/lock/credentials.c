/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Access: how a handle is opened (in the clear or over TLS), and the credentials of its session.
 *
 * Credentials are added at the first CONNECTED event of each handle, before any request is sent on it. The
 * client keeps them and repeats them by itself at each later connection. */
#include "lock/claim.h"

#include <stdlib.h>
#include <string.h>

/* NULL if the client library is older than 3.6 or was built without TLS. <zookeeper/zookeeper.h> declares it
 * only with HAVE_OPENSSL_H. */
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

/* Returns whether the text behind the last colon is a port: a number other than 0 that strtol() reads to its
 * end. */
static bool server_is_valid(const char *server, size_t size)
{
    char *end;
    const char *at = server + size;
    while (at > server && at[-1] != ':')
        at--;
    if (at == server || at == server + size)
        return false;
    long port = strtol(at, &end, 0);
    return port && end == server + size;
}

static bool chroot_is_valid(const char *chroot)
{
    for (const char *at = chroot; at[0] && chroot[1];) {
        size_t size = strcspn(at + 1, "/");
        bool is_dots = (size == 1 && at[1] == '.') || (size == 2 && at[1] == '.' && at[2] == '.');
        if (!size || is_dots)
            return false;
        at += size + 1;
    }
    for (const char *at = chroot; *at; at++)
        if (*at > 0 && *at < 0x1f)
            return false;
    return true;
}

bool lock_access_hosts_are_valid(const char *hosts)
{
    size_t servers = strcspn(hosts, "/");
    if (!*hosts || !chroot_is_valid(hosts + servers))
        return false;
    for (size_t at = 0; at < servers;) {
        size_t size = strcspn(hosts + at, ",/");
        if (size && !server_is_valid(hosts + at, size))
            return false;
        at += size + (hosts[at + size] == ',');
    }
    return true;
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
        /* A refusal by the server comes as the event AUTH_FAILED (F25). */
        int rc = zoo_add_auth(zh, auth->scheme, auth->certificate, auth->size, NULL, NULL);
        if (rc != ZOK)
            return rc;
        session->auths++;
    }
    return ZOK;
}
