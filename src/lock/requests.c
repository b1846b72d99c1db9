/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Requests. Paths are built on the stack, and the client copies them. */
#include "lock/claim.h"

#include <string.h>

enum { PATH_SIZE = LS_MUTEX_PATH_SIZE_MAX + LOCK_NAME_SIZE_MAX + 8 };

_Static_assert(PATH_SIZE >= LS_MUTEX_PATH_SIZE_MAX + 1 + LOCK_PREFIX_SIZE_MAX + 12,
               "a contender's path fits");

static zhandle_t *handle(const struct lock_claim *claim)
{
    return claim->place->session->zh;
}

const struct ACL_vector *lock_request_acl(const struct ls_session *session, const struct ls_mutex *mutex)
{
    const struct ls_mutex_options *options = mutex ? lock_queue_deref(mutex->options) : NULL;
    const struct ls_session_options *common = lock_queue_deref(session->options);
    if (options && options->acl)
        return options->acl;
    return common && common->acl ? common->acl : &ZOO_OPEN_ACL_UNSAFE;
}

static const struct ACL_vector *acl(const struct lock_claim *claim)
{
    return lock_request_acl(claim->place->session, claim->mutex);
}

static size_t put_place(const struct lock_place *place, char *out)
{
    size_t size = place->size;
    memcpy(out, place->path, size);
    if (size > 1)
        out[size++] = '/';
    return size;
}

/* Writes the path of the claim's node without its sequence. Returns the number of its bytes. */
static size_t put_prefix(const struct lock_claim *claim, char out[PATH_SIZE])
{
    size_t size = put_place(claim->place, out);
    return size + lock_names_prefix((enum lock_role)claim->place->role, out + size, claim->attempt);
}

static void put_own(const struct lock_claim *claim, char out[PATH_SIZE])
{
    lock_names_sequence(out + put_prefix(claim, out), claim->sequence);
}

bool lock_request_path(const struct lock_claim *claim, char *out, size_t size)
{
    char path[PATH_SIZE];
    put_own(claim, path);
    size_t need = strlen(path) + 1;
    if (size < need)
        return false;
    memcpy(out, path, need);
    return true;
}

bool lock_request_is_ahead(const struct lock_claim *claim, const char *path)
{
    if (claim->place->role == LOCK_ROLE_LEASE)
        return (claim->watching || claim->state == LOCK_ARMING) && !strcmp(path, claim->place->path);
    char place[LS_MUTEX_PATH_SIZE_MAX + 2];
    if (!claim->ahead)
        return false;
    size_t size = put_place(claim->place, place);
    return !strncmp(path, place, size) && !strcmp(path + size, claim->ahead);
}

bool lock_request_is_own(const struct lock_claim *claim, const char *path)
{
    char own[PATH_SIZE];
    put_own(claim, own);
    return !strcmp(path, own);
}

static int mark(struct lock_claim *claim, uint8_t bit, int rc)
{
    if (rc == ZOK)
        claim->in_flight |= bit;
    return rc;
}

static bool stamp(const struct lock_claim *claim)
{
    return lock_session_stamp(claim->place->session);
}

static int mark_write(struct lock_claim *claim, uint8_t bit, bool stamped, int rc)
{
    lock_session_sent(claim->place->session, stamped, rc);
    return mark(claim, bit, rc);
}

int lock_request_create(struct lock_claim *claim, string_stat_completion_t completion)
{
    char path[PATH_SIZE];
    const struct ls_mutex *mutex = claim->mutex;
    const struct lock_claim *writer = lock_rwlock_writer(claim);
    size_t size = put_prefix(claim, path);
    claim->under = writer != NULL;
    if (writer)
        lock_names_sequence(path + size, writer->sequence);
    bool stamped = stamp(claim);
    int rc = zoo_acreate2(handle(claim), path, mutex->contents, mutex->contents ? mutex->contents_size : -1,
                          acl(claim), writer ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL, completion, claim);
    return mark_write(claim, LOCK_FIRST, stamped, rc);
}

int lock_request_list(struct lock_claim *claim, strings_completion_t completion)
{
    return mark(claim, LOCK_LIST, zoo_aget_children(handle(claim), claim->place->path, 0, completion, claim));
}

int lock_request_sync(struct lock_claim *claim, string_completion_t completion)
{
    bool stamped = stamp(claim);
    int rc = zoo_async(handle(claim), claim->place->path, completion, claim);
    return mark_write(claim, LOCK_FIRST, stamped, rc);
}

int lock_request_exists(struct lock_claim *claim, stat_completion_t completion)
{
    char path[PATH_SIZE];
    put_own(claim, path);
    return mark(claim, LOCK_FIRST, zoo_aexists(handle(claim), path, 0, completion, claim));
}

/* Returns the loan, or NULL. On a loan all watches have one pair of function and context (lent_handle.c). */
static const struct ls_loan *loan_of(const struct lock_claim *claim)
{
    return claim->place->session->loan;
}

static watcher_fn watch_function(const struct lock_claim *claim)
{
    return loan_of(claim) ? lock_loan_on_event : lock_mutex_on_event;
}

static void *watch_context(const struct lock_claim *claim)
{
    return loan_of(claim) ? claim->place->session->loan : (void *)(uintptr_t)claim->watch_id;
}

/* Returns the predecessor's path in new memory, or NULL if memory is short. The path may be longer than
 * PATH_SIZE, because another client has chosen the name. */
static char *ahead_path(const struct lock_claim *claim)
{
    size_t name_size = strlen(claim->ahead) + 1;
    char *path = ls_env_alloc(claim->place->session->env, claim->place->size + 1 + name_size);
    if (path)
        memcpy(path + put_place(claim->place, path), claim->ahead, name_size);
    return path;
}

int lock_request_get(struct lock_claim *claim, data_completion_t completion)
{
    char *path = ahead_path(claim);
    if (!path)
        return ZMARSHALLINGERROR;
    int rc = zoo_awget(handle(claim), path, watch_function(claim), watch_context(claim), completion, claim);
    ls_env_free(claim->place->session->env, path);
    return mark(claim, LOCK_GET, rc);
}

int lock_request_watch_list(struct lock_claim *claim, strings_completion_t completion)
{
    int rc = zoo_awget_children(handle(claim), claim->place->path, watch_function(claim),
                                watch_context(claim), completion, claim);
    return mark(claim, LOCK_GET, rc);
}

int lock_request_delete(struct lock_claim *claim, void_completion_t completion)
{
    char path[PATH_SIZE];
    put_own(claim, path);
    bool stamped = stamp(claim);
    int rc = zoo_adelete(handle(claim), path, -1, completion, claim);
    return mark_write(claim, LOCK_DELETE, stamped, rc);
}

/* zookeeper.h declares the completion of a removal as a pointer to a function pointer. But the client takes
 * this pointer itself for the function. */
static void_completion_t *as_slot(void_completion_t completion)
{
    union {
        void_completion_t function;
        void_completion_t *slot;
    } cast = {.function = completion};
    return cast.slot;
}

static bool listens(const struct lock_claim *claim, const char *path)
{
    bool has_watch = claim->ear == LOCK_EAR_READING || claim->ear == LOCK_EAR_LISTENING;
    return has_watch && lock_request_is_own(claim, path);
}

/* Returns whether another claim of the session may have, or set, a watch on the same path. */
static bool is_shared(const struct lock_claim *claim, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    for (const struct lock_claim *other = claim->place->session->claims; other; other = other->next) {
        bool waits = (!other->ahead || !strcmp(other->ahead, name)) && lock_request_is_ahead(other, path);
        if (other != claim && (waits || listens(other, path)))
            return true;
    }
    return false;
}

/* Removes the claim's watch on a path:
 *
 *   handle of the session, path not shared   all watches on the path
 *   handle of the session, path shared       the claim's pair of function and context
 *   loan, path not shared                    the one pair of the loan
 *   loan, path shared                        nothing: the other claim needs the pair
 *
 * The removal of a pair leaves the server's watch in place. For a pair that it does not have, the client
 * returns ZNOWATCHER at once. A removal of all watches always goes to the server, and ZNOWATCHER comes with
 * the completion. */
static int remove_watch(struct lock_claim *claim, const char *path, void_completion_t completion)
{
    int rc;
    bool shared = is_shared(claim, path);
    ZooWatcherType type = claim->place->role == LOCK_ROLE_LEASE ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA;
    if (shared && loan_of(claim))
        rc = ZNOWATCHER;
    else if (shared || loan_of(claim))
        rc = zoo_aremove_watches(handle(claim), path, type, watch_function(claim), watch_context(claim), 0,
                                 as_slot(completion), claim);
    else
        rc = zoo_aremove_all_watches(handle(claim), path, type, 0, as_slot(completion), claim);
    return mark(claim, LOCK_UNWATCH, rc);
}

int lock_request_remove_watch(const struct ls_session *session, const char *path,
                              void_completion_t completion, const void *data)
{
    if (session->loan)
        return zoo_aremove_watches(session->zh, path, ZWATCHTYPE_DATA, lock_loan_on_event, session->loan, 0,
                                   as_slot(completion), data);
    return zoo_aremove_all_watches(session->zh, path, ZWATCHTYPE_DATA, 0, as_slot(completion), data);
}

int lock_request_unwatch(struct lock_claim *claim, void_completion_t completion)
{
    if (claim->place->role == LOCK_ROLE_LEASE)
        return remove_watch(claim, claim->place->path, completion);
    char *path = ahead_path(claim);
    if (!path)
        return ZMARSHALLINGERROR;
    int rc = remove_watch(claim, path, completion);
    ls_env_free(claim->place->session->env, path);
    return rc;
}

int lock_request_unlisten(struct lock_claim *claim, void_completion_t completion)
{
    char path[PATH_SIZE];
    put_own(claim, path);
    return remove_watch(claim, path, completion);
}

int lock_request_listen(struct lock_claim *claim, data_completion_t completion)
{
    char path[PATH_SIZE];
    put_own(claim, path);
    int rc = zoo_awget(handle(claim), path, watch_function(claim), watch_context(claim), completion, claim);
    if (rc == ZOK)
        claim->ear = LOCK_EAR_READING;
    return rc;
}

int lock_request_ancestor(struct lock_claim *claim, size_t size, string_completion_t completion)
{
    struct ls_session *session = claim->place->session;
    char path[PATH_SIZE];
    memcpy(path, claim->place->path, size);
    path[size] = 0;
    bool stamped = stamp(claim);
    int rc = zoo_acreate(session->zh, path, "", 0, acl(claim),
                         session->no_containers ? ZOO_PERSISTENT : ZOO_CONTAINER, completion, claim);
    lock_session_sent(session, stamped, rc);
    if (rc == ZOK)
        claim->ancestors++;
    return rc;
}
