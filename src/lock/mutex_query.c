/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex as an object: its life, and the questions that it answers without a server. */
#include "lock/claim.h"

#include <string.h>

static bool is_dots(const char *segment, size_t size)
{
    return (size == 1 && segment[0] == '.') || (size == 2 && segment[0] == '.' && segment[1] == '.');
}

bool lock_mutex_path_is_valid(const char *path)
{
    size_t size = strnlen(path, LS_MUTEX_PATH_SIZE_MAX + 1);
    if (path[0] != '/' || size > LS_MUTEX_PATH_SIZE_MAX)
        return false;
    if (size == 1)
        return true;
    int nodes = 0;
    for (const char *at = path; *at;) {
        const char *segment = at + 1;
        size_t segment_size = strcspn(segment, "/");
        if (!segment_size || is_dots(segment, segment_size) || ++nodes > LS_MUTEX_PATH_NODES_MAX)
            return false;
        at = segment + segment_size;
    }
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return true;
}

int lock_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path, enum lock_role role,
                    const struct ls_mutex_options *options)
{
    if (!mutex || !session || !path || !lock_mutex_path_is_valid(path))
        return LS_EINVAL;
    memset(mutex, 0, sizeof *mutex);
    size_t size = strlen(path);
    ls_env_lock(session->env);
    struct lock_place *place = ls_env_alloc(session->env, sizeof *place + size + 1);
    ls_env_unlock(session->env);
    if (!place)
        return LS_ENOMEM;
    place->session = session;
    place->users = 1;
    place->size = (uint16_t)size;
    place->role = (uint16_t)role;
    memcpy(place->path, path, size + 1);
    mutex->session = session;
    mutex->place = place;
    mutex->options = lock_queue_ref(options);
    if (lock_packets_create_fits(mutex, 0))
        return LS_OK;
    lock_mutex_undo_init(mutex);
    return LS_EOVERFLOW;
}

void lock_mutex_undo_init(struct ls_mutex *mutex)
{
    struct ls_env *env = mutex->session->env;
    ls_env_lock(env);
    ls_env_free(env, mutex->place);
    ls_env_unlock(env);
    memset(mutex, 0, sizeof *mutex);
}

int ls_mutex_init(struct ls_mutex *mutex, struct ls_session *session, const char *path,
                  const struct ls_mutex_options *options)
{
    return lock_mutex_init(mutex, session, path, LOCK_ROLE_MUTEX, options);
}

struct ls_session *lock_mutex_lock(const struct ls_mutex *mutex)
{
    struct ls_session *session = __atomic_load_n(&mutex->session, __ATOMIC_ACQUIRE);
    if (!session)
        return NULL;
    struct ls_env *env = session->env;
    ls_env_lock(env);
    if (mutex->session)
        return session;
    ls_env_unlock(env); /* another thread has closed the mutex in between */
    return NULL;
}

int ls_mutex_set_contents(struct ls_mutex *mutex, const char *contents, int size)
{
    if (size < 0)
        return LS_EINVAL;
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_EINVAL;
    bool fits = !contents || lock_packets_create_fits(mutex, (size_t)size);
    if (fits) {
        mutex->contents = contents;
        mutex->contents_size = contents ? size : 0;
    }
    ls_env_unlock(session->env);
    return fits ? LS_OK : LS_EOVERFLOW;
}

static void end_claims(struct ls_mutex *mutex)
{
    struct lock_claim *next;
    for (struct lock_claim *claim = mutex->session->claims; claim; claim = next) {
        next = claim->next;
        if (claim->mutex != mutex)
            continue;
        if (claim->state == LOCK_RELEASING)
            lock_janitor_hurry(claim);
        else
            lock_mutex_end(claim);
    }
}

/* Detaches the claims that are left from the mutex. Expects that their notes are delivered. */
static void detach_claims(struct ls_mutex *mutex)
{
    for (struct lock_claim *claim = mutex->session->claims; claim; claim = claim->next)
        if (claim->mutex == mutex)
            claim->mutex = NULL;
}

static bool is_closing(const void *about)
{
    const struct ls_mutex *mutex = about;
    return mutex->closing;
}

/* Closes a mutex that no other thread is closing. Callbacks run meanwhile. Acquires, releases and surveys are
 * refused then (`closing`): a claim that is made now would lose its mutex. */
static void close_mutex(struct ls_mutex *mutex)
{
    struct ls_session *session = mutex->session;
    mutex->closing = true;
    end_claims(mutex);
    lock_participants_end(mutex);
    lock_queue_deliver(session);
    lock_queue_wait_told(session);
    detach_claims(mutex);
    if (!--mutex->place->users)
        ls_env_free(session->env, mutex->place);
    __atomic_store_n(&mutex->session, NULL, __ATOMIC_RELEASE);
    mutex->place = NULL;
    mutex->options = (struct ls_ref){0};
    mutex->contents = NULL;
    mutex->contents_size = 0;
    mutex->warned = 0;
    mutex->revocable = false;
    mutex->closing = false;
    lock_queue_wake(session);
}

int ls_mutex_close(struct ls_mutex *mutex)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_OK;
    struct ls_env *env = session->env;
    bool in_callback = ls_env_in_callback(env);
    if (!in_callback && mutex->closing)
        lock_queue_wait(session, is_closing, mutex);
    else if (!in_callback)
        close_mutex(mutex);
    ls_env_unlock(env);
    return in_callback ? LS_EDEADLK : LS_OK;
}

/* Returns whether a claim holds the mutex, and its grant was delivered to the owner. */
static bool is_held(const struct lock_claim *claim, const struct ls_mutex *mutex)
{
    return claim->mutex == mutex && claim->state == LOCK_HELD && claim->told;
}

const struct lock_claim *lock_mutex_holder(const struct ls_mutex *mutex, uint64_t owner)
{
    const struct lock_claim *claim = lock_index_find(mutex, owner);
    return claim && is_held(claim, mutex) ? claim : NULL;
}

enum ls_belief ls_mutex_query(const struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    enum ls_belief belief = LS_NOT_HELD;
    if (!session)
        return belief;
    if (lock_mutex_holder(mutex, owner))
        belief = lock_session_belief_left_ms(session) ? LS_HELD : LS_UNKNOWN;
    ls_env_unlock(session->env);
    return belief;
}

int ls_mutex_belief_left_ms(const struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return 0;
    int left_ms = lock_mutex_holder(mutex, owner) ? lock_session_belief_left_ms(session) : 0;
    ls_env_unlock(session->env);
    return left_ms;
}

uint32_t ls_mutex_depth(const struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return 0;
    const struct lock_claim *claim = lock_mutex_holder(mutex, owner);
    uint32_t depth = claim ? claim->depth : 0;
    ls_env_unlock(session->env);
    return depth;
}

bool ls_mutex_held_by(const struct ls_mutex *mutex, uint64_t owner)
{
    return ls_mutex_depth(mutex, owner) > 0;
}

bool ls_mutex_held_here(const struct ls_mutex *mutex)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return false;
    const struct lock_claim *claim = session->claims;
    while (claim && !is_held(claim, mutex))
        claim = claim->next;
    ls_env_unlock(session->env);
    return claim;
}

int64_t ls_mutex_token(const struct ls_mutex *mutex, uint64_t owner)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return 0;
    const struct lock_claim *claim = lock_mutex_holder(mutex, owner);
    int64_t token = claim ? claim->czxid : 0;
    ls_env_unlock(session->env);
    return token;
}

int lock_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size)
{
    const struct lock_claim *claim = lock_mutex_holder(mutex, owner);
    if (!claim)
        return lock_index_tomb(mutex, owner) ? LS_ELOST : LS_ENOTOWNER;
    if (!lock_request_path(claim, path, size))
        return LS_EOVERFLOW;
    zoo_check_op_init(op, path, -1);
    return LS_OK;
}

int ls_mutex_guard(const struct ls_mutex *mutex, uint64_t owner, zoo_op_t *op, char *path, size_t size)
{
    struct ls_session *session = lock_mutex_lock(mutex);
    if (!session)
        return LS_ENOTOWNER;
    int rc = lock_mutex_guard(mutex, owner, op, path, size);
    ls_env_unlock(session->env);
    return rc;
}

/* ---- questions of the calling thread about itself ---- */

uint64_t lock_mutex_me(const struct ls_mutex *mutex)
{
    struct ls_session *session = __atomic_load_n(&mutex->session, __ATOMIC_ACQUIRE);
    return session ? ls_env_self(session->env) : 0;
}

bool ls_mutex_held_by_me(const struct ls_mutex *mutex)
{
    return ls_mutex_held_by(mutex, lock_mutex_me(mutex));
}

enum ls_belief ls_mutex_query_by_me(const struct ls_mutex *mutex)
{
    return ls_mutex_query(mutex, lock_mutex_me(mutex));
}

int ls_mutex_belief_left_by_me(const struct ls_mutex *mutex)
{
    return ls_mutex_belief_left_ms(mutex, lock_mutex_me(mutex));
}

int64_t ls_mutex_token_by_me(const struct ls_mutex *mutex)
{
    return ls_mutex_token(mutex, lock_mutex_me(mutex));
}

int ls_mutex_guard_by_me(const struct ls_mutex *mutex, zoo_op_t *op, char *path, size_t size)
{
    return ls_mutex_guard(mutex, lock_mutex_me(mutex), op, path, size);
}
