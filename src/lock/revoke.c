/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Revocation: a client asks a holder to give the lock back. The holder decides whether it does.
 *
 * The holder's side is the ear of its claim, the state of the watch on its own node:
 *
 *   DEAF ---> READING ---> LISTENING          every state ---> DEAF
 *     ^        |  |  ^         |
 *     |        |  |  '---------+-----> OFF
 *     |        |  '------------------> OFF
 *     '--LATER<'
 *
 *   DEAF      -> READING    lock_revoke_go: the lock is held and revocable, or a taker may lack some leases
 *   READING   -> LISTENING  on_read: the watch is set; if the contents are a request, the owner is told
 *   READING   -> DEAF       on_read: the answer was lost with the link; the next CONNECTED reads again
 *   READING   -> LATER      on_read: the server refused for now, or the answer was lost on a live link
 *   READING   -> OFF        on_read: the node is gone, or may not be read
 *   LATER     -> DEAF       lock_revoke_again: the retry timer, or a new connection
 *   LISTENING -> READING    lock_revoke_heard: CHANGED, by way of DEAF; the event does not tell the contents
 *   LISTENING -> OFF        lock_revoke_heard: DELETED; or lock_revoke_unlisten: the watch was removed
 *   DEAF      -> LATER, OFF lock_revoke_go: the client refused the read at once
 *   any       -> DEAF       lock_revoke_lost: the session is gone; READING stays until the read is answered
 *                           or its handle is closed; lock_semaphore_begin_again: the taker's node is gone
 *
 * - A release does not await a read in flight. It sends its delete behind the read, and the watch that this
 *   read sets fires with the delete.
 * - A pending claim has no such watch: the first read after the grant finds an earlier request in the node.
 *   The exception is a taker of several leases in LOCK_TAKING, which learns of the end of its node by the
 *   watch (semaphore.c).
 * - A node that was not written after its creation (version 0) contains no request.
 *
 * The asker's side is one set of the node, which is not repeated. If its answer is lost, the asker is unsure,
 * and asking twice does no harm. */
#include "lock/claim.h"
#include "lock/telemetry.h"

#include <string.h>

static const char REQUEST[] = "__REVOKE__";
enum { REQUEST_SIZE = sizeof REQUEST - 1 };

static struct ls_session *session_of(const struct lock_claim *claim)
{
    return claim->place->session;
}

/* ---- the holder ---- */

static bool is_request(const char *value, int size, const struct Stat *stat)
{
    return stat && stat->version && value && size == REQUEST_SIZE && !memcmp(value, REQUEST, REQUEST_SIZE);
}

/* Repeats the read by the retry timer, or else by a later timer or at the next connection. */
static void read_later(struct lock_claim *claim)
{
    int err;
    LS_SOMETIMES("holder-listens-later");
    claim->ear = LOCK_EAR_LATER;
    (void)lock_session_retry(session_of(claim), &err);
}

static bool wants_to_listen(const struct lock_claim *claim)
{
    bool revocable = claim->mutex && claim->mutex->revocable;
    return (claim->state == LOCK_HELD && revocable) || lock_semaphore_may_lack_some(claim);
}

static void node_gone(struct lock_claim *claim)
{
    if (claim->state == LOCK_HELD)
        lock_mutex_node_gone(claim);
    else if (lock_semaphore_may_lack_some(claim))
        lock_semaphore_begin_again(claim);
}

static void failed(struct lock_claim *claim, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    bool silent = verdict == LOCK_UNKNOWN && lock_session_ready(session_of(claim));
    if (claim->state == LOCK_HELD)
        lock_telemetry_missed(claim, zk_rc);
    if (verdict == LOCK_ABSENT || verdict == LOCK_REFUSED)
        claim->ear = LOCK_EAR_OFF;
    if (verdict == LOCK_ABSENT)
        node_gone(claim);
    else if ((verdict == LOCK_AGAIN || silent) && wants_to_listen(claim))
        read_later(claim);
}

static void on_read(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    claim->ear = LOCK_EAR_DEAF;
    if (session->id && rc == ZOK) {
        claim->ear = LOCK_EAR_LISTENING;
        lock_session_progress(session);
        if (claim->state == LOCK_HELD && is_request(value, size, stat)) {
            lock_telemetry_asked(claim);
            lock_queue_note(claim, LOCK_NOTE_REVOKE);
        } else if (is_request(value, size, stat))
            LS_SOMETIMES("revocation-meets-a-release");
    } else {
        failed(claim, rc);
    }
    if (claim->state > LOCK_HELD)
        lock_mutex_go(claim); /* an ended claim may have waited for this answer */
    lock_mutex_leave(session);
}

bool lock_revoke_listens(const struct lock_claim *claim, const char *path)
{
    return claim->ear == LOCK_EAR_LISTENING && lock_request_is_own(claim, path);
}

void lock_revoke_heard(struct lock_claim *claim, int type)
{
    claim->ear = type == ZOO_CHANGED_EVENT ? LOCK_EAR_DEAF : LOCK_EAR_OFF;
    if (type == ZOO_DELETED_EVENT)
        node_gone(claim);
    else
        lock_revoke_go(claim);
}

void lock_revoke_go(struct lock_claim *claim)
{
    if (!wants_to_listen(claim) || claim->ear != LOCK_EAR_DEAF || !lock_session_ready(session_of(claim)))
        return;
    int rc = lock_request_listen(claim, on_read);
    if (rc != ZOK)
        failed(claim, rc);
}

void lock_revoke_again(struct lock_claim *claim)
{
    if (claim->ear != LOCK_EAR_LATER)
        return;
    claim->ear = LOCK_EAR_DEAF;
    lock_revoke_go(claim);
}

void lock_revoke_lost(struct lock_claim *claim)
{
    if (claim->ear != LOCK_EAR_READING)
        claim->ear = LOCK_EAR_DEAF;
}

void lock_revoke_forget(struct lock_claim *claim)
{
    if (claim->ear == LOCK_EAR_READING)
        claim->ear = LOCK_EAR_DEAF;
}

/* ---- a node that stays ---- */

static void on_unlistened(int rc, const void *data)
{
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = session_of(claim);
    enum lock_verdict verdict = lock_session_verdict(rc);
    claim->in_flight &= (uint8_t)~LOCK_UNWATCH;
    bool unsure = lock_is_unsure(verdict);
    if (verdict == LOCK_AGAIN || (unsure && lock_session_ready(session)))
        lock_janitor_again(claim);
    else if (!unsure && claim->ear == LOCK_EAR_LISTENING)
        claim->ear = LOCK_EAR_OFF;
    lock_mutex_go(claim);
    lock_mutex_leave(session);
}

void lock_revoke_unlisten(struct lock_claim *claim)
{
    if (claim->ear != LOCK_EAR_LISTENING)
        return;
    int rc = lock_request_unlisten(claim, on_unlistened);
    LS_SOMETIMES("listener-is-taken-back");
    if (rc == ZNOWATCHER)
        /* on a pair of function and context (requests.c): it has fired, or another claim needs it */
        claim->ear = LOCK_EAR_OFF;
    else if (rc != ZOK && lock_session_verdict(rc) != LOCK_DYING)
        lock_janitor_again(claim);
}

/* ---- the asker ---- */

struct lock_ask {
    struct lock_ask *next;
    struct ls_session *session;
    struct lock_call *call; /* the blocking caller; NULL: `done` is to be called */
    struct ls_ref done;     /* an ls_revoke_fn */
    void *user;
    int32_t rc;
    bool over; /* answered, with `rc` */
};

static void unlink_ask(struct lock_ask *ask)
{
    struct lock_ask **link = &ask->session->asks;
    while (*link != ask)
        link = &(*link)->next;
    *link = ask->next;
}

static void end(struct lock_ask *ask, int rc, int zk_rc)
{
    struct ls_env *env = ask->session->env;
    lock_telemetry_ask_answered(ask->session, rc, zk_rc);
    ask->rc = rc;
    ask->over = true;
    if (!ask->call)
        return;
    ask->call->rc = rc;
    ask->call->done = true;
    ls_env_wake(env, &ask->call->waiter);
    unlink_ask(ask);
    ls_env_free(env, ask);
}

static int meaning(int zk_rc)
{
    switch (lock_session_verdict(zk_rc)) {
    case LOCK_OK:
        return LS_OK;
    case LOCK_UNKNOWN:
        return LS_EUNSURE;
    case LOCK_DYING:
        return LS_ECLOSED;
    case LOCK_ABSENT:
        return LS_ENOENT;
    case LOCK_AGAIN:
    case LOCK_REFUSED:
    default:
        return zk_rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
    }
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    struct lock_ask *ask = (struct lock_ask *)(uintptr_t)data;
    struct ls_session *session = ask->session;
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    end(ask, meaning(rc), rc);
    lock_mutex_leave(session);
}

static bool is_contender(enum lock_role role, const char *name)
{
    const char *key;
    return lock_names_key(role, name, &key) == LOCK_KEY_CONTENDER;
}

static bool is_any_contender(const char *name)
{
    return is_contender(LOCK_ROLE_MUTEX, name) || is_contender(LOCK_ROLE_READER, name) ||
           is_contender(LOCK_ROLE_LATCH, name);
}

static bool is_contender_path(const char *path)
{
    const char *last = path ? strrchr(path, '/') : NULL;
    return last && path[0] == '/' && is_any_contender(last + 1);
}

static int start(struct ls_session *session, const char *path, struct lock_ask ask)
{
    if (!is_contender_path(path))
        return LS_EINVAL;
    if (!lock_session_ready(session))
        return LS_ECLOSED;
    struct lock_ask *copy = ls_env_alloc(session->env, sizeof *copy);
    if (!copy)
        return LS_ENOMEM;
    *copy = ask;
    int rc = zoo_aset(session->zh, path, REQUEST, REQUEST_SIZE, -1, on_set, copy);
    if (rc != ZOK) {
        ls_env_free(session->env, copy);
        return rc == ZBADARGUMENTS ? LS_EINVAL : meaning(rc);
    }
    struct lock_ask **link = &session->asks;
    while (*link)
        link = &(*link)->next;
    *link = copy;
    lock_telemetry_asks(session, path);
    return LS_OK;
}

void lock_revoke_drained(struct ls_session *session)
{
    struct lock_ask *next;
    for (struct lock_ask *ask = session->asks; ask; ask = next) {
        next = ask->next;
        if (!ask->over)
            end(ask, LS_EUNSURE, ZCLOSING);
    }
}

bool lock_revoke_deliver(struct ls_session *session)
{
    struct lock_ask *ask = session->asks;
    while (ask && !ask->over)
        ask = ask->next;
    if (!ask)
        return false;
    const void *function = lock_queue_deref(ask->done);
    ls_revoke_fn done = (ls_revoke_fn)(uintptr_t)function;
    void *user = ask->user;
    int rc = ask->rc;
    unlink_ask(ask);
    ls_env_free(session->env, ask);
    if (done) {
        ls_env_unlock(session->env);
        done(session, user, rc);
        ls_env_lock(session->env);
    }
    return true;
}

static void reserve_if_held(struct lock_claim *claim)
{
    if (claim->state == LOCK_HELD)
        lock_packets_reserve(claim);
}

int ls_mutex_make_revocable(struct ls_mutex *mutex)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    const struct ls_mutex_options *options = lock_queue_deref(mutex->options);
    int rc = LS_OK;
    if (!options || !options->ops || !options->ops->on_revoke || mutex->place->role == LOCK_ROLE_LEASE)
        rc = LS_EINVAL;
    else if (mutex->closing)
        rc = LS_ECLOSED;
    else if (!mutex->revocable && !lock_packets_ears_fit(mutex))
        rc = LS_EOVERFLOW;
    if (rc == LS_OK) {
        mutex->revocable = true;
        lock_session_each(session, reserve_if_held);
        lock_session_each(session, lock_revoke_go);
    }
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

static bool put_path(const struct lock_place *place, const char *name, char *path, size_t size)
{
    size_t place_size = place->size > 1 ? place->size : 0;
    size_t name_size = strlen(name) + 1;
    if (size < place_size + 1 + name_size)
        return false;
    memcpy(path, place->path, place_size);
    path[place_size] = '/';
    memcpy(path + place_size + 1, name, name_size);
    return true;
}

int ls_mutex_contender_path(const struct ls_mutex *mutex, const char *name, char *path, size_t size)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ECLOSED;
    enum lock_role role = (enum lock_role)mutex->place->role;
    bool valid = name && !strchr(name, '/') && is_contender(role, name);
    bool fits = valid && put_path(mutex->place, name, path, size);
    ls_env_unlock(session->env);
    return !valid ? LS_EINVAL : !fits ? LS_EOVERFLOW : LS_OK;
}

int ls_mutex_request_revoke_start(struct ls_session *session, const char *path, ls_revoke_fn done, void *user)
{
    struct lock_ask ask = {
        .session = session, .done = lock_queue_ref((const void *)(uintptr_t)done), .user = user};
    ls_env_lock(session->env);
    int rc = start(session, path, ask);
    lock_queue_deliver(session);
    ls_env_unlock(session->env);
    return rc;
}

int ls_mutex_request_revoke(struct ls_session *session, const char *path)
{
    struct ls_env *env = session->env;
    struct lock_call call = {.rc = 0, .done = false};
    struct lock_ask ask = {.session = session, .call = &call};
    if (ls_env_in_callback(env))
        return LS_EDEADLK;
    ls_env_lock(env);
    ls_env_waiter_init(env, &call.waiter);
    int rc = lock_blocking_finish(session, &call, start(session, path, ask));
    ls_env_unlock(env);
    return rc;
}
