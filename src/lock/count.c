/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A shared count: a node whose contents are the capacity of a semaphore, as Curator's SharedCount writes it:
 * four bytes, the highest first. The semaphore follows it from ls_semaphore_follow() until its close.
 *
 *   READING ---> KNOWN ---> UNREAD ---> READING ---> UNREAD
 *
 *   READING   an exists with a watch, and a get behind it, are in flight. The exists leaves a watch on a node
 *             that is missing, too.
 *   KNOWN     `watching` and `fresh`: the watch stands, and the get behind it is answered
 *   UNREAD    the watch has fired or was lost, or one of the two requests failed. After a failure the next
 *             connection, or the retry timer, reads again; else the next lock_count_go() does.
 *
 *   Claim. Assume that the node can be read, has a valid capacity and does not change any more, and that the
 *   session stays connected. Then the semaphore comes to have the count as its capacity.
 *   Why. Consider the last get that is answered. It reads each change before its exists. A change after that
 *   fires the watch, which makes the count UNREAD, and another get would follow.
 *   Checked by. tests/kinds/slow_shared_count_mistakes.sh.
 *
 * While the node is missing, cannot be read or contains no capacity, the capacity stays as it is. A count
 * whose semaphore is closed is freed once its watch is gone and no request, which carries its address, is in
 * flight. */
#include "lock/claim.h"
#include "lock/telemetry.h"

#include <string.h>

enum { EXISTS = 1, GET = 2, UNWATCH = 4 };

enum { COUNT_SIZE = 4 };

struct lock_count {
    struct lock_count *next;
    struct ls_session *session;
    struct ls_semaphore *semaphore; /* NULL once the semaphore is closed */
    struct ls_ref changed;          /* an ls_capacity_fn */
    void *user;
    uint32_t size;        /* reserved bytes of SetWatches */
    uint32_t capacity;    /* to be told, if `tell`, else 0 */
    uint8_t in_flight;    /* EXISTS, GET, UNWATCH, one bit each */
    uint8_t watching : 1; /* the watch stands */
    uint8_t fresh : 1;    /* the get behind the watch was answered: contents, no node, or no permission */
    uint8_t retry : 1;    /* waits for the retry timer or the next connection */
    uint8_t tell : 1;     /* `changed` is to be called */
    char path[];
};

static struct lock_count **link_of(const struct lock_count *count)
{
    struct lock_count **link = &count->session->counts;
    while (*link != count)
        link = &(*link)->next;
    return link;
}

static void free_count(struct lock_count *count)
{
    struct ls_session *session = count->session;
    *link_of(count) = count->next;
    session->reserved -= count->size;
    ls_env_free(session->env, count);
}

static bool is_followed(const struct lock_count *count)
{
    return count->semaphore;
}

/* Returns the capacity that the contents of a node say; 0 if they are no valid capacity. */
static uint32_t capacity_in(const char *value, int size)
{
    uint32_t capacity = 0;
    if (!value || size != COUNT_SIZE)
        return 0;
    for (int i = 0; i < COUNT_SIZE; i++)
        capacity = capacity << 8 | (unsigned char)value[i];
    return capacity <= LS_SEMAPHORE_CAPACITY_MAX ? capacity : 0;
}

static void take_count(struct lock_count *count, const char *value, int size)
{
    uint32_t capacity = capacity_in(value, size);
    if (!capacity) {
        LS_SOMETIMES("count-is-no-capacity");
        lock_telemetry_log(count->session, LS_LOG_WARNING, "%s: the contents are no capacity: ignored",
                           count->path);
    } else if (capacity != lock_semaphore_capacity(count->semaphore)) {
        lock_telemetry_log(count->session, LS_LOG_INFO, "%s: the capacity is %u", count->path, capacity);
        count->capacity = capacity;
        count->tell = 1;
        lock_semaphore_resize(count->semaphore, capacity);
    }
}

static struct lock_count *enter(const void *data, uint8_t request)
{
    struct lock_count *count = (struct lock_count *)(uintptr_t)data;
    ls_env_callback_enter(count->session->env);
    ls_env_lock(count->session->env);
    count->in_flight &= (uint8_t)~request;
    return count;
}

/* Handles a failed request. If the link is up, the retry timer repeats it, unless the session is dying or the
 * timer cannot be started. Otherwise the next connection does. */
static void failed(struct lock_count *count, int zk_rc)
{
    int err;
    if (!lock_session_ready(count->session))
        return;
    LS_SOMETIMES("count-is-read-later");
    count->retry = 1;
    if (lock_session_verdict(zk_rc) != LOCK_DYING)
        (void)lock_session_retry(count->session, &err);
}

static void on_exists(int rc, const struct Stat *stat, const void *data)
{
    struct lock_count *count = enter(data, EXISTS);
    struct ls_session *session = count->session;
    (void)stat;
    count->watching = session->id && (rc == ZOK || rc == ZNONODE);
    if (!count->watching)
        failed(count, rc);
    lock_count_go(session);
    lock_mutex_leave(session);
}

/* Without permission, the count is not read again before the next event: a new permission fires no watch. */
static void on_get(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    struct lock_count *count = enter(data, GET);
    struct ls_session *session = count->session;
    (void)stat;
    count->fresh = rc == ZOK || rc == ZNONODE || rc == ZNOAUTH;
    if (!count->fresh)
        failed(count, rc);
    else if (rc == ZNOAUTH)
        lock_telemetry_log(session, LS_LOG_WARNING, "%s: the count may not be read", count->path);
    else if (rc == ZOK && is_followed(count))
        take_count(count, value, size);
    if (rc == ZOK)
        lock_session_progress(session);
    lock_count_go(session);
    lock_mutex_leave(session);
}

static void on_unwatched(int rc, const void *data)
{
    struct lock_count *count = enter(data, UNWATCH);
    struct ls_session *session = count->session;
    enum lock_verdict verdict = lock_session_verdict(rc);
    if (verdict == LOCK_AGAIN || (lock_is_unsure(verdict) && lock_session_ready(session)))
        failed(count, rc);
    else if (!lock_is_unsure(verdict))
        count->watching = 0;
    lock_count_go(session);
    lock_mutex_leave(session);
}

static void read_count(struct lock_count *count)
{
    zhandle_t *zh = count->session->zh;
    struct ls_loan *loan = count->session->loan;
    watcher_fn watcher = loan ? lock_loan_on_event : lock_count_on_event;
    count->fresh = 0;
    int rc = zoo_awexists(zh, count->path, watcher, loan, on_exists, count);
    if (rc == ZOK) {
        count->in_flight |= EXISTS;
        rc = zoo_aget(zh, count->path, 0, on_get, count);
        count->in_flight |= rc == ZOK ? GET : 0;
    }
    if (rc != ZOK)
        failed(count, rc);
}

/* Returns whether another count of the session may have, or set, a watch on this path. */
static bool is_shared(const struct lock_count *count)
{
    for (const struct lock_count *other = count->session->counts; other; other = other->next)
        if (other != count && (other->watching || other->in_flight) && !strcmp(other->path, count->path))
            return true;
    return false;
}

static void unwatch(struct lock_count *count)
{
    if (is_shared(count)) {
        count->watching = 0;
        return;
    }
    int rc = lock_request_remove_watch(count->session, count->path, on_unwatched, count);
    if (rc == ZOK)
        count->in_flight |= UNWATCH;
    else if (rc == ZNOWATCHER)
        count->watching = 0; /* the watch has fired */
    else
        failed(count, rc);
}

/* Sends the requests that a count needs now. May free the count. */
static void go(struct lock_count *count)
{
    bool ready = lock_session_ready(count->session) && !count->retry;
    if (count->in_flight)
        return;
    if (!is_followed(count) && count->watching && ready)
        unwatch(count);
    else if (is_followed(count) && !(count->watching && count->fresh) && ready)
        read_count(count);
    if (!is_followed(count) && !count->watching && !count->in_flight)
        free_count(count);
}

static void each(struct ls_session *session, void (*step)(struct lock_count *count))
{
    struct lock_count *next;
    for (struct lock_count *count = session->counts; count; count = next) {
        next = count->next;
        step(count);
    }
}

void lock_count_go(struct ls_session *session)
{
    each(session, go);
}

static void go_again(struct lock_count *count)
{
    count->retry = 0;
    go(count);
}

void lock_count_again(struct ls_session *session)
{
    each(session, go_again);
}

static void forget_watch(struct lock_count *count)
{
    count->watching = 0;
    count->fresh = 0;
}

void lock_count_hear(struct ls_session *session, const char *path)
{
    for (struct lock_count *count = session->counts; count; count = count->next)
        if (!strcmp(count->path, path))
            forget_watch(count);
    lock_count_go(session);
}

void lock_count_on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct ls_session *session = lock_session_of(zh);
    (void)state;
    (void)context;
    if (type == ZOO_SESSION_EVENT)
        return;
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    lock_count_hear(session, path);
    lock_mutex_leave(session);
}

static void lose_watch(struct lock_count *count)
{
    forget_watch(count);
    count->retry = 0;
    go(count);
}

void lock_count_session_lost(struct ls_session *session)
{
    each(session, lose_watch);
}

static void forget_requests(struct lock_count *count)
{
    count->in_flight = 0;
    go(count);
}

void lock_count_drained(struct ls_session *session)
{
    each(session, forget_requests);
}

static void stop_following(struct lock_count *count)
{
    count->semaphore = NULL;
    count->tell = 0;
    go(count);
}

void lock_count_end_all(struct ls_session *session)
{
    each(session, stop_following);
}

static struct lock_count *count_of(const struct ls_semaphore *semaphore)
{
    struct lock_count *count = semaphore->leases.session->counts;
    while (count && count->semaphore != semaphore)
        count = count->next;
    return count;
}

void lock_count_end(struct ls_semaphore *semaphore)
{
    struct lock_count *count = count_of(semaphore);
    if (count)
        stop_following(count);
}

uint64_t lock_count_reserved(const struct ls_session *session)
{
    uint64_t reserved = 0;
    for (const struct lock_count *count = session->counts; count; count = count->next)
        reserved += count->size;
    return reserved;
}

bool lock_count_in_flight(const struct ls_session *session)
{
    const struct lock_count *count = session->counts;
    while (count && !count->in_flight)
        count = count->next;
    return count;
}

static struct lock_count *first_to_tell(const struct ls_session *session)
{
    struct lock_count *count = session->counts;
    while (count && !count->tell)
        count = count->next;
    return count;
}

bool lock_count_waiting(const struct ls_session *session)
{
    return first_to_tell(session);
}

bool lock_count_deliver(struct ls_session *session)
{
    struct lock_count *count = first_to_tell(session);
    if (!count)
        return false;
    const void *function = lock_queue_deref(count->changed);
    ls_capacity_fn changed = (ls_capacity_fn)(uintptr_t)function;
    struct ls_semaphore *semaphore = count->semaphore;
    void *user = count->user;
    uint32_t capacity = count->capacity;
    count->tell = 0;
    count->capacity = 0;
    if (changed) {
        ls_env_unlock(session->env);
        changed(semaphore, user, capacity);
        ls_env_lock(session->env);
    }
    return true;
}

static int follow(struct ls_semaphore *semaphore, const char *path, struct ls_ref changed, void *user)
{
    struct ls_session *session = semaphore->leases.session;
    size_t size = strlen(path);
    uint32_t watch_size = lock_packets_watch_size(session, size);
    if (lock_semaphore_is_closing(&semaphore->leases) || semaphore->leases.closing || session->ending)
        return LS_ECLOSED;
    if (count_of(semaphore))
        return LS_EALREADY;
    if (!lock_packets_fits(session, watch_size))
        return LS_EOVERFLOW;
    struct lock_count *count = ls_env_alloc(session->env, sizeof *count + size + 1);
    if (!count)
        return LS_ENOMEM;
    memset(count, 0, sizeof *count);
    count->session = session;
    count->semaphore = semaphore;
    count->changed = changed;
    count->user = user;
    count->size = watch_size;
    memcpy(count->path, path, size + 1);
    session->reserved += watch_size;
    struct lock_count **link = &session->counts;
    while (*link)
        link = &(*link)->next;
    *link = count;
    go(count);
    return LS_OK;
}

int ls_semaphore_follow(struct ls_semaphore *semaphore, const char *path, ls_capacity_fn changed, void *user)
{
    if (!path || !lock_mutex_path_is_valid(path))
        return LS_EINVAL;
    struct ls_session *session = lock_mutex_lock(&semaphore->leases);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = follow(semaphore, path, lock_queue_ref((const void *)(uintptr_t)changed), user);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}
