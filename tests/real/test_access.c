/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Credentials and ACLs on a real server: who has permission locks, who has none is told so at once, and a
 * permission that is taken away is an error, never a retry for ever. */
#include "stage.h"

#include <dlfcn.h>

static const struct ls_auth owner[] = {{.scheme = "digest", .certificate = "owner:secret", .size = 12}};
static const struct ls_auth stranger[] = {{.scheme = "digest", .certificate = "stranger:secret", .size = 15}};
static const struct ls_auth nonsense[] = {{.scheme = "nonsense", .certificate = "x", .size = 1}};

enum { ADMIN = 16 }; /* ZOO_PERM_ADMIN is no constant */

static char world[] = "world", anyone[] = "anyone";
static struct ACL nearly_nothing[] = {{ADMIN, {world, anyone}}};
static const struct ACL_vector nobody = {.count = 1, .data = nearly_nothing};

static const struct ls_session_options as_owner = {
    .auth = owner, .auth_count = 1, .acl = &ZOO_CREATOR_ALL_ACL};
static const struct ls_session_options as_stranger = {
    .auth = stranger, .auth_count = 1, .acl = &ZOO_CREATOR_ALL_ACL};
static const struct ls_session_options as_anybody = {.auth_count = 0};

/* What a mutex of a client has told, for those that are closed before the answer could be waited for. */
static int warnings;

static void on_warning(struct ls_mutex *mutex, uint64_t of, enum ls_warning warning)
{
    (void)mutex;
    (void)of;
    if (warning == LS_WARN_LEFT_BEHIND)
        __atomic_fetch_add(&warnings, 1, __ATOMIC_SEQ_CST);
}

static const struct ls_mutex_ops ops = {.on_participants = on_participants, .on_warning = on_warning};
static const struct ls_mutex_options options = {.ops = &ops};

static void open_as(struct client *client, const struct ls_session_options *as, const char *path)
{
    assert_int_equal(ls_env_pthread_open(&client->env), LS_OK);
    assert_int_equal(ls_session_init(&client->session, client->env, server(), TIMEOUT_MS, as), LS_OK);
    assert_int_equal(ls_mutex_init(&client->mutex, &client->session, path, &options), LS_OK);
    assert_int_equal(ls_session_start(&client->session), LS_OK);
}

static void on_set(int rc, const void *data)
{
    __atomic_store_n((int *)(uintptr_t)data, rc, __ATOMIC_SEQ_CST);
}

/* Changes the ACL of a node, by a session with the owner's credentials. */
static void set_acl(const char *path, const struct ACL_vector *acl)
{
    int rc = 1;
    zhandle_t *zh = zookeeper_init(server(), NULL, PATIENCE_MS, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    assert_non_null(zh);
    WAIT_UNTIL(zoo_state(zh) == ZOO_CONNECTED_STATE);
    assert_int_equal(zoo_add_auth(zh, owner->scheme, owner->certificate, owner->size, NULL, NULL), ZOK);
    assert_int_equal(zoo_aset_acl(zh, path, -1, (struct ACL_vector *)(uintptr_t)acl, on_set, &rc), ZOK);
    WAIT_UNTIL(__atomic_load_n(&rc, __ATOMIC_SEQ_CST) <= 0);
    zookeeper_close(zh);
    assert_int_equal(rc, ZOK);
}

static void test_owner_and_stranger(void **state)
{
    (void)state;
    struct client first, second, other, anybody;
    open_as(&first, &as_owner, "/access/lock");
    open_as(&second, &as_owner, "/access/lock");
    assert_int_equal(ls_mutex_acquire(&first.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_acquire(&second.mutex, 100), LS_ETIMEDOUT); /* behind, and may watch */
    open_as(&other, &as_stranger, "/access/lock");
    open_as(&anybody, &as_anybody, "/access/lock");
    assert_int_equal(ls_mutex_acquire(&other.mutex, -1), LS_ENOAUTH);
    assert_int_equal(ls_mutex_acquire(&anybody.mutex, -1), LS_ENOAUTH);
    client_wait_state(&other, LS_STATE_CONNECTED);
    assert_int_equal(count_participants(&other), LS_ENOAUTH);
    assert_int_equal(count_participants(&first), 1);
    assert_int_equal(ls_mutex_release(&first.mutex), LS_OK);
    /* Below an ancestor of others, too: the missing rest may not be created. */
    client_close(&anybody);
    open_as(&anybody, &as_anybody, "/access/deeper/lock");
    assert_int_equal(ls_mutex_acquire(&anybody.mutex, -1), LS_ENOAUTH);
    client_close(&first);
    client_close(&second);
    client_close(&other);
    client_close(&anybody);
}

/* The credentials are the session's: the client repeats them at each connection, we at each handle. */
static void test_after_an_expiry(void **state)
{
    (void)state;
    struct client client;
    open_as(&client, &as_owner, "/access/expiry");
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    int64_t id = ls_session_id(&client.session);
    clientid_t stolen = *zoo_client_id(client.session.zh);
    WAIT_UNTIL((try_to_expire(&stolen), ls_session_id(&client.session) != id));
    client_wait_state(&client, LS_STATE_CONNECTED);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_ELOST);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_release(&client.mutex), LS_OK);
    client_close(&client);
}

/* The permission goes while the lock is held: the release says so, and the node stays until the session ends. */
static void test_permission_lost_while_held(void **state)
{
    (void)state;
    struct client holder, waiter, late;
    struct caller waiting;
    open_as(&holder, &as_owner, "/access/held");
    open_as(&waiter, &as_owner, "/access/held");
    open_as(&late, &as_owner, "/access/held");
    warnings = 0;
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    caller_start(&waiting, &waiter, -1, caller_acquire);
    WAIT_UNTIL(count_participants(&holder) == 2);
    set_acl("/access/held", &nobody);
    assert_int_equal(ls_mutex_acquire(&late.mutex, -1), LS_ENOAUTH);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_ENOAUTH);
    WAIT_UNTIL(__atomic_load_n(&warnings, __ATOMIC_SEQ_CST) == 1);
    WAIT_UNTIL(ls_session_idle(&holder.session));
    assert_false(ls_mutex_held_by_me(&holder.mutex));
    /* The end of the holder's session wakes the waiter, which may not look who is first now. */
    client_close(&holder);
    assert_int_equal(caller_join(&waiting), LS_ENOAUTH);
    WAIT_UNTIL(__atomic_load_n(&warnings, __ATOMIC_SEQ_CST) == 2); /* nor remove its own node */
    WAIT_UNTIL(ls_session_idle(&waiter.session));
    client_close(&waiter);
    client_close(&late);
}

/* Whoever may not read the contender before its own cannot wait for it. */
static void test_unreadable_predecessor(void **state)
{
    (void)state;
    struct client holder, waiter;
    struct ls_mutex_options closed = options;
    closed.acl = &nobody;
    assert_int_equal(ls_env_pthread_open(&holder.env), LS_OK);
    assert_int_equal(ls_session_init(&holder.session, holder.env, server(), TIMEOUT_MS, &as_anybody), LS_OK);
    assert_int_equal(ls_mutex_init(&holder.mutex, &holder.session, "/closed", &closed), LS_OK);
    open_as(&waiter, &as_anybody, "/closed");
    assert_int_equal(ls_mutex_acquire(&waiter.mutex, -1), LS_OK); /* makes the parent, open to everybody */
    assert_int_equal(ls_mutex_release(&waiter.mutex), LS_OK);
    assert_int_equal(ls_session_start(&holder.session), LS_OK);
    assert_int_equal(ls_mutex_acquire(&holder.mutex, -1), LS_OK);
    assert_int_equal(ls_mutex_acquire(&waiter.mutex, -1), LS_ENOAUTH);
    WAIT_UNTIL(ls_session_idle(&waiter.session));
    client_close(&waiter);
    assert_int_equal(ls_mutex_release(&holder.mutex), LS_OK); /* the parent decides about deletion */
    client_close(&holder);
}

static void test_refused_credentials(void **state)
{
    (void)state;
    static const struct ls_session_options as_nonsense = {.auth = nonsense, .auth_count = 1};
    struct client client;
    open_as(&client, &as_nonsense, "/access/refused");
    assert_int_equal(ls_mutex_acquire(&client.mutex, PATIENCE_MS), LS_EAUTHFAILED);
    assert_int_equal(ls_session_state(&client.session), LS_STATE_FAILED);
    assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_EAUTHFAILED);
    client_close(&client);
}

/* Debian's client library has no TLS. Then the option is refused, before anything could go in the clear. */
static void test_tls_needs_a_client_library_that_has_it(void **state)
{
    (void)state;
    static const struct ls_session_options with_tls = {.tls = "ca.crt,client.crt,client.pem,password"};
    struct ls_session session;
    struct ls_env *env;
    bool has_it = dlsym(RTLD_DEFAULT, "zookeeper_init_ssl") != NULL;
    assert_int_equal(ls_env_pthread_open(&env), LS_OK);
    assert_int_equal(ls_session_init(&session, env, server(), TIMEOUT_MS, &with_tls),
                     has_it ? LS_OK : LS_EUNSUPPORTED);
    ls_env_pthread_close(env);
}

int main(void)
{
    zoo_set_debug_level(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_and_stranger),
        cmocka_unit_test(test_after_an_expiry),
        cmocka_unit_test(test_permission_lost_while_held),
        cmocka_unit_test(test_unreadable_predecessor),
        cmocka_unit_test(test_refused_credentials),
        cmocka_unit_test(test_tls_needs_a_client_library_that_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
