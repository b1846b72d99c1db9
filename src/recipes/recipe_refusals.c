/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "recipes/recipe_refusals.h"
#include "lock/claim.h"

#include <stddef.h>
#include <string.h>

#define REFUSED(call, code)                                                                                  \
    do {                                                                                                     \
        if ((call) != (code))                                                                                \
            return #code " of " #call;                                                                       \
    } while (0)

#define CONTENDER "_c_00000000-0000-0000-0000-000000000000-lock-0000000001"

enum { NOBODY = 1 }; /* an owner without a claim */

static void on_answer(int rc, const void *data)
{
    (void)rc;
    (void)data;
}

static const char *with_paths(struct ls_session *session, struct ls_mutex *unused)
{
    (void)unused;
    static const char *const malformed[] = {"",        "x",      "x/y",    "/x/",   "//",     "//x",  "/x//y",
                                            "/.",      "/x/.",   "/..",    "/./x",  "/../x",  "/x\n", "/\x1f",
                                            "/x/../y", "/x\x7f", "/x/./y", "/x/..", "/x\x01y"};
    struct ls_mutex mutex;
    char path[LS_MUTEX_PATH_SIZE_MAX + 2];
    REFUSED(ls_mutex_init(NULL, session, "/x", NULL), LS_EINVAL);
    REFUSED(ls_mutex_init(&mutex, NULL, "/x", NULL), LS_EINVAL);
    REFUSED(ls_mutex_init(&mutex, session, NULL, NULL), LS_EINVAL);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        REFUSED(ls_mutex_init(&mutex, session, malformed[i], NULL), LS_EINVAL);
    memset(path, '/', sizeof path);
    for (size_t i = 1; i < sizeof path; i += 2)
        path[i] = 'x';
    path[(size_t)2 * (LS_MUTEX_PATH_NODES_MAX + 1)] = 0;
    REFUSED(ls_mutex_init(&mutex, session, path, NULL), LS_EINVAL);
    memset(path + 1, 'x', LS_MUTEX_PATH_SIZE_MAX);
    path[LS_MUTEX_PATH_SIZE_MAX + 1] = 0;
    REFUSED(ls_mutex_init(&mutex, session, path, NULL), LS_EINVAL);
    return NULL;
}

static const char *with_credentials(struct ls_session *session, struct ls_mutex *unused)
{
    (void)unused;
    struct ls_env *env = session->env;
    struct ls_session other;
    struct ls_auth auth = {.scheme = "digest", .certificate = "user:password", .size = 13};
    struct ls_session_options options = {.auth = &auth, .auth_count = 1};
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_OK);
    auth.size = -1;
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    auth = (struct ls_auth){.scheme = "digest", .size = 1};
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    auth = (struct ls_auth){.scheme = NULL};
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    options.auth_count = -1;
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    options = (struct ls_session_options){.auth_count = 1};
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    return NULL;
}

static const char *with_session_options(struct ls_session *session, struct ls_mutex *unused)
{
    (void)unused;
    struct ls_env *env = session->env;
    struct ls_session other;
    struct ls_session_options options = {.margin_percent = 100};
    REFUSED(ls_session_init(&other, env, "a:1", LS_SESSION_TIMEOUT_MS_MAX, &options), LS_OK);
    REFUSED(ls_session_counters(&other, &(struct ls_session_counters){0}), LS_EINVAL);
    REFUSED(ls_session_init(&other, env, "a:1", LS_SESSION_TIMEOUT_MS_MAX + 1, &options), LS_EINVAL);
    options.margin_percent = 101;
    REFUSED(ls_session_init(&other, env, "a:1", 1, &options), LS_EINVAL);
    REFUSED(ls_session_init(&other, env, "a:1", 0, NULL), LS_EINVAL);
    REFUSED(ls_session_init(&other, env, NULL, 1, NULL), LS_EINVAL);
    REFUSED(ls_session_init(&other, NULL, "a:1", 1, NULL), LS_EINVAL);
    REFUSED(ls_session_init(NULL, env, "a:1", 1, NULL), LS_EINVAL);
    return NULL;
}

static const char *with_operations(struct ls_session *session, struct ls_mutex *unused)
{
    (void)unused;
    zoo_op_t op = {.type = 99};
    zoo_op_result_t result;
    REFUSED(ls_session_multi(session, 1, &op, &result, on_answer, NULL), LS_EINVAL);
    zoo_check_op_init(&op, "x", 0);
    REFUSED(ls_session_multi(session, 1, &op, &result, on_answer, NULL), LS_EINVAL);
    zoo_check_op_init(&op, "/x/", 0);
    REFUSED(ls_session_multi(session, 1, &op, &result, on_answer, NULL), LS_EINVAL);
    zoo_check_op_init(&op, "/x", 0);
    REFUSED(ls_session_multi(session, 0, &op, &result, on_answer, NULL), LS_EINVAL);
    REFUSED(ls_session_multi(session, 1, NULL, &result, on_answer, NULL), LS_EINVAL);
    REFUSED(ls_session_multi(session, 1, &op, NULL, on_answer, NULL), LS_EINVAL);
    REFUSED(ls_session_multi(session, 1, &op, &result, NULL, NULL), LS_EINVAL);
    REFUSED(ls_session_multi(NULL, 1, &op, &result, on_answer, NULL), LS_EINVAL);
    return NULL;
}

static const char *with_names_of_rwlock(struct ls_mutex *mutex)
{
    static const char *const foreign[] = {"",
                                          "x",
                                          "__READ__",
                                          "__WRIT__000000001",
                                          "__READ__0000000001x",
                                          "__READ__-000000001",
                                          "lock-0000000001",
                                          "x/__READ__0000000001"};
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        REFUSED(ls_mutex_contender_path(mutex, foreign[i], path, sizeof path), LS_EINVAL);
    REFUSED(ls_mutex_contender_path(mutex, "__READ__0000000001", path, sizeof path), LS_OK);
    REFUSED(ls_mutex_contender_path(mutex, "x__READ__-__WRIT__0000000001", path, sizeof path), LS_OK);
    return NULL;
}

static const char *with_names_of_leases(struct ls_mutex *mutex)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    REFUSED(ls_mutex_contender_path(mutex, "x-lock-0000000001", path, sizeof path), LS_EINVAL);
    REFUSED(ls_mutex_contender_path(mutex, "lease-000000001", path, sizeof path), LS_EINVAL);
    REFUSED(ls_mutex_contender_path(mutex, "x-lease-0000000001", path, sizeof path), LS_OK);
    return NULL;
}

static const char *with_names_of_latch(struct ls_mutex *mutex)
{
    static const char *const foreign[] = {
        "", "x", "latch-", "latch-000000001", "latch-0000000001x", "lock-0000000001", "x/latch-0000000001"};
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        REFUSED(ls_mutex_contender_path(mutex, foreign[i], path, sizeof path), LS_EINVAL);
    REFUSED(ls_mutex_contender_path(mutex, "latch-0000000001", path, sizeof path), LS_OK);
    REFUSED(ls_mutex_contender_path(mutex, "x-latch-latch-0000000001", path, sizeof path), LS_OK);
    return NULL;
}

static const char *with_names(struct ls_session *unused, struct ls_mutex *mutex)
{
    (void)unused;
    if (mutex->place->role == LOCK_ROLE_LEASE)
        return with_names_of_leases(mutex);
    if (mutex->place->role == LOCK_ROLE_LATCH)
        return with_names_of_latch(mutex);
    if (mutex->place->role != LOCK_ROLE_MUTEX)
        return with_names_of_rwlock(mutex);
    static const char *const foreign[] = {"",
                                          "x",
                                          "lock-",
                                          "lock-000000001",
                                          "lock-00000000001",
                                          "lock-0000000001x",
                                          "lock--000000001",
                                          "lock-00000000a1",
                                          "__READ__0000000001",
                                          "x/x-lock-0000000001"};
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    REFUSED(ls_mutex_contender_path(mutex, NULL, path, sizeof path), LS_EINVAL);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        REFUSED(ls_mutex_contender_path(mutex, foreign[i], path, sizeof path), LS_EINVAL);
    REFUSED(ls_mutex_contender_path(mutex, "lock-0000000001", path, sizeof path), LS_OK);
    REFUSED(ls_mutex_contender_path(mutex, "-lock-x-lock-0000000001", path, sizeof path), LS_OK);
    REFUSED(ls_mutex_contender_path(mutex, CONTENDER, path, sizeof path), LS_OK);
    REFUSED(ls_mutex_contender_path(mutex, CONTENDER, path, strlen(path)), LS_EOVERFLOW);
    REFUSED(ls_mutex_contender_path(mutex, CONTENDER, path, strlen(path) + 1), LS_OK);
    return NULL;
}

/* Makes calls that need a connection without one. */
static const char *without_a_connection(struct ls_session *session, struct ls_mutex *mutex)
{
    if (session->state == LS_STATE_CONNECTED || session->state == LS_STATE_READ_ONLY)
        return NULL;
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, "/x", 0);
    REFUSED(ls_session_multi(session, 1, &op, &result, on_answer, NULL), LS_ECLOSED);
    REFUSED(ls_mutex_request_revoke_start(session, "/" CONTENDER, NULL, NULL), LS_ECLOSED);
    REFUSED(ls_mutex_participants_start(mutex, NULL), LS_ECLOSED);
    if (session->state != LS_STATE_FAILED && mutex->place->role != LOCK_ROLE_LEASE)
        REFUSED(ls_mutex_acquire_start(mutex, NOBODY, 0), LS_EBUSY);
    return NULL;
}

static const char *blocking(struct ls_session *session, struct ls_mutex *mutex)
{
    REFUSED(ls_mutex_acquire(mutex, -1), LS_EDEADLK);
    REFUSED(ls_mutex_try(mutex), LS_EDEADLK);
    REFUSED(ls_mutex_release(mutex), LS_EDEADLK);
    REFUSED(ls_mutex_close(mutex), LS_EDEADLK);
    REFUSED(ls_mutex_request_revoke(session, "/" CONTENDER), LS_EDEADLK);
    REFUSED(ls_session_start(session), LS_EDEADLK);
    REFUSED(ls_session_close(session), LS_EDEADLK);
    return NULL;
}

static const char *by_nobody(struct ls_session *unused, struct ls_mutex *mutex)
{
    (void)unused;
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    REFUSED(ls_mutex_cancel(mutex, NOBODY), LS_ENOENT);
    REFUSED(ls_mutex_release_start(mutex, NOBODY), LS_ENOTOWNER);
    REFUSED(ls_mutex_release(mutex), LS_ENOTOWNER);
    REFUSED(ls_mutex_guard(mutex, NOBODY, &op, path, sizeof path), LS_ENOTOWNER);
    REFUSED(ls_mutex_query(mutex, NOBODY), LS_NOT_HELD);
    REFUSED(ls_mutex_depth(mutex, NOBODY), 0);
    REFUSED(ls_mutex_token(mutex, NOBODY), 0);
    REFUSED(ls_mutex_held_here(mutex), false);
    REFUSED(ls_mutex_held_by_me(mutex), false);
    return NULL;
}

static const char *of_a_closed_mutex(struct ls_mutex *mutex)
{
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    REFUSED(ls_mutex_acquire_start(mutex, NOBODY, -1), LS_ECLOSED);
    REFUSED(ls_mutex_acquire(mutex, -1), LS_ECLOSED);
    REFUSED(ls_mutex_cancel(mutex, NOBODY), LS_ECLOSED);
    REFUSED(ls_mutex_release_start(mutex, NOBODY), LS_ECLOSED);
    REFUSED(ls_mutex_release(mutex), LS_ECLOSED);
    REFUSED(ls_mutex_participants_start(mutex, NULL), LS_ECLOSED);
    REFUSED(ls_mutex_make_revocable(mutex), LS_ECLOSED);
    REFUSED(ls_mutex_contender_path(mutex, CONTENDER, path, sizeof path), LS_ECLOSED);
    REFUSED(ls_mutex_guard(mutex, NOBODY, &op, path, sizeof path), LS_ENOTOWNER);
    REFUSED(ls_mutex_set_contents(mutex, "x", 1), LS_EINVAL);
    REFUSED(ls_mutex_counters(mutex, &(struct ls_mutex_counters){0}), LS_EINVAL);
    REFUSED(ls_mutex_query(mutex, NOBODY), LS_NOT_HELD);
    REFUSED(ls_mutex_depth(mutex, NOBODY), 0);
    REFUSED(ls_mutex_token(mutex, NOBODY), 0);
    REFUSED(ls_mutex_held_here(mutex), false);
    REFUSED(ls_mutex_held_by_me(mutex), false);
    REFUSED(ls_mutex_close(mutex), LS_OK);
    return NULL;
}

/* Lends a handle to a session that has one, or opens its own. */
static const char *with_a_loan(struct ls_session *session, struct ls_mutex *unused)
{
    (void)unused;
    struct ls_loan loan;
    ls_loan_init(&loan, session->env);
    if (!session->zh || (session->loan && session->state == LS_STATE_LOST))
        return NULL;
    REFUSED(ls_session_lend(session, &loan, session->zh), LS_EINVAL);
    REFUSED(ls_session_lend(session, NULL, session->zh), LS_EINVAL);
    REFUSED(ls_session_lend(session, &loan, NULL), LS_EINVAL);
    REFUSED(ls_session_lend(NULL, &loan, session->zh), LS_EINVAL);
    ls_loan_on_event(&loan, session->zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE); /* no effect */
    return NULL;
}

static const char *in_callback(struct ls_session *session, struct ls_mutex *mutex)
{
    ls_env_callback_enter(session->env);
    const char *broken = blocking(session, mutex);
    ls_env_callback_leave(session->env);
    return broken;
}

static const char *out_of_place(struct ls_session *session, struct ls_mutex *mutex)
{
    REFUSED(ls_session_start(session), LS_EINVAL);
    REFUSED(ls_mutex_set_contents(mutex, "x", -1), LS_EINVAL);
    REFUSED(ls_mutex_counters(mutex, &(struct ls_mutex_counters){0}), LS_EINVAL);
    REFUSED(ls_mutex_request_revoke_start(session, NULL, NULL, NULL), LS_EINVAL);
    REFUSED(ls_mutex_request_revoke_start(session, CONTENDER, NULL, NULL), LS_EINVAL);
    REFUSED(ls_mutex_request_revoke_start(session, "/x", NULL, NULL), LS_EINVAL);
    if (mutex->place->role == LOCK_ROLE_LEASE) {
        REFUSED(ls_mutex_acquire_start(mutex, NOBODY, -1), LS_EINVAL);
        REFUSED(ls_mutex_make_revocable(mutex), LS_EINVAL);
        return NULL;
    }
    if (session->state == LS_STATE_FAILED)
        return NULL; /* the code would be the session's failure */
    REFUSED(ls_mutex_acquire_start(mutex, 0, -1), LS_EINVAL);
    REFUSED(ls_mutex_acquire_start(mutex, ls_env_self(session->env) + 1, -1), LS_EINVAL);
    return NULL;
}

typedef const char *refusal_fn(struct ls_session *session, struct ls_mutex *mutex);

static refusal_fn *const arguments[] = {with_paths, with_session_options, with_credentials, with_operations,
                                        with_names};
static refusal_fn *const calls[] = {out_of_place, without_a_connection, with_a_loan, in_callback, by_nobody};

static const char *first_broken(refusal_fn *const checks[], size_t count, struct ls_session *session,
                                struct ls_mutex *mutex)
{
    const char *broken = NULL;
    for (size_t i = 0; i < count && !broken; i++)
        broken = checks[i](session, mutex);
    return broken;
}

static const char *of_a_mutex(struct ls_session *session, struct ls_mutex *mutex)
{
    if (!mutex->session)
        return of_a_closed_mutex(mutex);
    if (session->claims || session->surveys || session->asks)
        return NULL;
    return first_broken(calls, sizeof calls / sizeof *calls, session, mutex);
}

const char *lock_arguments_taken(struct ls_session *session, struct ls_mutex *mutex)
{
    return first_broken(arguments, sizeof arguments / sizeof *arguments, session, mutex);
}

const char *lock_refusals_broken(struct ls_session *session, struct ls_mutex *mutexes, int count)
{
    const char *broken = NULL;
    for (int i = 0; i < count && !broken; i++)
        broken = of_a_mutex(session, &mutexes[i]);
    return broken;
}
