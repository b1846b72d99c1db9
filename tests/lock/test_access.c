/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Access: which credentials, certificates and ACLs reach the client library, and when. */
#include "lock/claim.h"
#include "stage.h"

/* ---- what the client library is given: a text beside the requests ---- */

static int refusal;      /* how that many calls of zoo_add_auth() end ... */
static int refusals;     /* ... before it works */
static bool pass_on;     /* they reach the ensemble, and are not told */
static bool show_perms;  /* creates tell the permissions of their ACL */
static int no_ancestors; /* what the client says to creates of ancestors; 0 = it takes them */
static int
    throttled; /* the server has no time for the ancestor of that number, from 1 on; 0 = it has for all */
static int no_creates; /* what the client says to creates of contenders; 0 = it takes them */
static string_completion_t throttled_completion;
static bool nameless; /* the next contender's node is created, and its name is not told */
static string_stat_completion_t nameless_completion;

static void answer_without_a_name(int rc, const char *name, const struct Stat *stat, const void *data)
{
    (void)name;
    nameless_completion(rc, NULL, stat, data);
}

static void answer_throttled(int rc, const char *value, const void *data)
{
    (void)rc;
    (void)value;
    throttled_completion(-127, NULL, data);
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert, int size, void_completion_t done,
                        const void *data);
int __wrap_zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert, int size, void_completion_t done,
                        const void *data);
zhandle_t *__wrap_zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn, int recv_timeout,
                                     const clientid_t *clientid, void *context, int flags);
int __real_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int valuelen,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data);
int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int valuelen,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data);
int __real_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int valuelen,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int valuelen,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cert, int size, void_completion_t done,
                        const void *data)
{
    if (pass_on)
        return __real_zoo_add_auth(zh, scheme, cert, size, done, data);
    if (refusals) {
        refusals--;
        stage_add(stage.asked, "no auth");
        return refusal;
    }
    stage_add(stage.asked, "auth %s %.*s", scheme, size, size ? cert : "");
    return ZOK;
}

zhandle_t *__wrap_zookeeper_init_ssl(const char *host, const char *cert, watcher_fn fn, int recv_timeout,
                                     const clientid_t *clientid, void *context, int flags)
{
    stage_add(stage.asked, "tls %s", cert);
    return zookeeper_init(host, fn, recv_timeout, clientid, context, flags);
}

int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int valuelen,
                       const struct ACL_vector *acl, int mode, string_completion_t done, const void *data)
{
    if (show_perms)
        stage_add(stage.asked, "perms=%d", acl->data[0].perms);
    if (no_ancestors)
        return no_ancestors;
    if (throttled && !--throttled) {
        throttled_completion = done;
        done = answer_throttled;
    }
    return __real_zoo_acreate(zh, path, value, valuelen, acl, mode, done, data);
}

int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int valuelen,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data)
{
    if (show_perms)
        stage_add(stage.asked, "perms=%d", acl->data[0].perms);
    if (no_creates)
        return no_creates;
    if (nameless) {
        nameless = false;
        nameless_completion = done;
        done = answer_without_a_name;
    }
    return __real_zoo_acreate2(zh, path, value, valuelen, acl, mode, done, data);
}

static const struct ls_auth two[] = {{.scheme = "digest", .certificate = "user:secret", .size = 11},
                                     {.scheme = "ip"}};

static void one(int failures, int rc)
{
    refusal = rc;
    refusals = failures;
    show_perms = false;
    pass_on = false;
    stage_set(1);
    stage.options.used_directory = true;
    stage.session.auth = two;
    stage.session.auth_count = 2;
}

/* ---- credentials ---- */

static void credentials_come_before_all_requests(void **state)
{
    (void)state;
    one(0, ZOK);
    stage_open();
    play("a acquire", "settle");
    told("a connected; a granted");
    asked("auth digest user:secret; auth ip ; create; list");
    stage_end();
}

static void each_handle_is_given_them_once(void **state)
{
    (void)state;
    one(0, ZOK);
    stage_open();
    play("settle", "cut a keep=0 apply=0 rc=-4", "settle");
    told("a connected; a suspended; a reconnected");
    asked("auth digest user:secret; auth ip "); /* the client repeats them itself (F43) */
    play("expire a", "settle");
    told("a suspended; a lost; a connected");
    asked("auth digest user:secret; auth ip ");
    stage_end();
}

/* The client takes none while the link is gone (F16). */
static void without_them_nothing_is_asked(void **state)
{
    (void)state;
    one(1, ZINVALIDSTATE);
    stage_open();
    play("a acquire", "settle");
    told("");
    asked("no auth");
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a connected; a granted");
    asked("auth digest user:secret; auth ip ; create; list");
    stage_end();
}

static void without_memory_for_them_the_session_gives_up(void **state)
{
    (void)state;
    one(1, ZSYSTEMERROR);
    stage_open();
    play("a acquire", "settle");
    told("a gave-up; a failed ENOMEM");
    asked("no auth");
    stage_end();
}

/* ---- what they are good for ---- */

static const struct ls_auth owner = {.scheme = "digest", .certificate = "user:secret", .size = 11};
static const struct ls_auth other = {.scheme = "digest", .certificate = "user:guess", .size = 10};

/* Processes begin one after the other, so that their sessions may have different options. */
static void a_holds_and_b_comes(const struct ls_auth *of_b)
{
    one(0, ZOK);
    pass_on = true;
    stage_set(2);
    stage.options.autostart[1] = false;
    stage.session.acl = &ZOO_CREATOR_ALL_ACL;
    stage.session.auth = &owner;
    stage.session.auth_count = 1;
    stage_open();
    play("a acquire", "settle");
    told("a connected; a granted");
    stage.session.auth = of_b;
    stage.session.auth_count = of_b != NULL;
    play("b start", "settle");
    stage_forget();
    play("b acquire", "settle");
}

static void who_has_the_credentials_shares_the_lock(void **state)
{
    (void)state;
    a_holds_and_b_comes(&owner);
    told("");
    play("cut a keep=0 apply=0 rc=-4", "settle", "a release", "settle");
    told("a suspended; a reconnected; a freed; b granted");
    stage_end();
}

static void who_has_others_is_told_at_once(void **state)
{
    (void)state;
    a_holds_and_b_comes(&other);
    told("b failed ENOAUTH");
    assert_int_equal(stage.zk_rc, ZNOAUTH);
    assert_int_equal(stage.nodes, 1);
    play("a release", "settle");
    told("a freed");
    stage_end();
}

static void who_has_none_cannot_make_a_lock_of_his_own(void **state)
{
    (void)state;
    a_holds_and_b_comes(NULL);
    told("b failed EZK");
    assert_int_equal(stage.zk_rc, ZINVALIDACL);
    stage_end();
}

/* ---- certificates ---- */

static void tls_is_asked_for_by_its_certificates(void **state)
{
    (void)state;
    stage_set(1);
    stage.session.tls = "ca.crt,client.crt,client.pem,secret";
    stage_open();
    play("settle");
    told("a connected");
    asked("tls ca.crt,client.crt,client.pem,secret");
    play("expire a", "settle");
    asked("tls ca.crt,client.crt,client.pem,secret");
    stage_end();
}

/* ---- ACLs ---- */

static char world[] = "world", anyone[] = "anyone";
static struct ACL some_acl[] = {{15, {world, anyone}}, {29, {world, anyone}}};
static const struct ACL_vector of_session = {.count = 1, .data = &some_acl[0]};
static const struct ACL_vector of_mutex = {.count = 1, .data = &some_acl[1]};

static void created_by(const struct ACL_vector *session, const struct ACL_vector *mutex, const char *expected)
{
    one(0, ZOK);
    stage.options.used_directory = false;
    stage.session.auth_count = 0;
    stage.session.acl = session;
    stage.mutex.acl = mutex;
    stage_ready();
    show_perms = true;
    play("a acquire", "settle");
    asked(expected);
    show_perms = false;
    play("a release");
    stage_end();
}

/* The first create of the contender finds no parent; then come /locks, /locks/x and the contender again. */
static void contenders_and_ancestors_have_the_same_acl(void **state)
{
    (void)state;
    created_by(NULL, NULL,
               "perms=31; create; list; perms=31; create; perms=31; create; perms=31; create; list");
    created_by(&of_session, NULL,
               "perms=15; create; list; perms=15; create; perms=15; create; perms=15; create; list");
    created_by(&of_session, &of_mutex,
               "perms=29; create; list; perms=29; create; perms=29; create; perms=29; create; list");
}

/* ---- misuse ---- */

static void senseless_credentials_are_refused(void **state)
{
    (void)state;
    static const struct ls_auth wrong[] = {
        {.scheme = NULL}, {.scheme = "digest", .size = 1}, {.scheme = "x", .size = -1}};
    struct ls_session session;
    struct ls_session_options options = {.auth_count = 1};
    struct ls_env *env = (struct ls_env *)&session; /* not looked at */
    assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_EINVAL);
    for (int i = 0; i < 3; i++) {
        options.auth = &wrong[i];
        assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_EINVAL);
    }
    options = (struct ls_session_options){.auth = two, .auth_count = -1};
    assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_EINVAL);
    options.auth_count = 2;
    assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_OK);
    static struct ls_auth many[UINT8_MAX + 1];
    for (int i = 0; i <= UINT8_MAX; i++)
        many[i] = two[0];
    options = (struct ls_session_options){.auth = many, .auth_count = UINT8_MAX + 1};
    assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_EINVAL);
    options.auth_count = UINT8_MAX;
    assert_int_equal(ls_session_init(&session, env, "h", 1000, &options), LS_OK);
}

/* It is believed when it can be listed. */
static void a_node_without_a_name_is_looked_for(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.used_directory = true;
    stage_ready();
    nameless = true;
    play("a acquire", "settle");
    told("a granted");
    asked("create; list; sync; list; exists; list");
    play("a release", "settle");
    assert_clean(0);
    stage_end();
}

/* What the client will never take is not tried for ever: *refusal_of is what it says. */
static void fails_at_once(int *refusal_of, const char *requests)
{
    stage_set(1);
    stage_ready();
    *refusal_of = ZBADARGUMENTS;
    play("a acquire", "settle");
    *refusal_of = 0;
    told("a failed EINVAL");
    asked(requests);
    assert_clean(0);
    stage_end();
}

static void a_contender_that_the_client_refuses_fails_the_acquire(void **state)
{
    (void)state;
    fails_at_once(&no_creates, "");
}

static void an_ancestor_that_the_client_refuses_fails_the_acquire(void **state)
{
    (void)state;
    fails_at_once(&no_ancestors, "create; list");
}

/* What forbids one ancestor is found again if it still does when all have been asked for. */
static void what_was_forbidden_in_a_flight_that_is_repeated_counts_anew(void **state)
{
    (void)state;
    stage_set(1);
    stage.options.lock_path[0] = "/locks/x/y";
    stage_ready();
    throttled = 3;
    play("create /locks perms=1", "a acquire", "apply s1 a create", "deliver a create-reply",
         "apply s1 a list", "deliver a list-reply", "apply s1 a create", "apply s1 a create",
         "apply s1 a create", "deliver a create-reply", "deliver a create-reply", "deliver a create-reply");
    assert_int_equal(throttled, 0);
    told("");
    play("remove /locks", "settle");
    told("a granted");
    stage_end();
}

/* ---- connect strings ---- */

static void connect_strings_are_told_apart_as_the_client_does(void **state)
{
    (void)state;
    static const char *const good[] = {"h:1",     "h:2181/",   "h:2181/a/b",  "h:0x10", "::1:2181",
                                       "a:1,b:2", "a:1,,b:2,", "a:1/a.b/..c", "/a"};
    static const char *const bad[] = {"",         "h",       "h:",       "h:0",     "h:x",
                                      "h:1x",     "a:1,b",   "a,b:1",    "h:1/a/",  "h:1//a",
                                      "h:1/a//b", "h:1/./a", "h:1/a/..", "h:1/\001"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(lock_access_hosts_are_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(lock_access_hosts_are_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connect_strings_are_told_apart_as_the_client_does),
        cmocka_unit_test(a_node_without_a_name_is_looked_for),
        cmocka_unit_test(a_contender_that_the_client_refuses_fails_the_acquire),
        cmocka_unit_test(what_was_forbidden_in_a_flight_that_is_repeated_counts_anew),
        cmocka_unit_test(an_ancestor_that_the_client_refuses_fails_the_acquire),
        cmocka_unit_test(credentials_come_before_all_requests),
        cmocka_unit_test(each_handle_is_given_them_once),
        cmocka_unit_test(without_them_nothing_is_asked),
        cmocka_unit_test(without_memory_for_them_the_session_gives_up),
        cmocka_unit_test(who_has_the_credentials_shares_the_lock),
        cmocka_unit_test(who_has_others_is_told_at_once),
        cmocka_unit_test(who_has_none_cannot_make_a_lock_of_his_own),
        cmocka_unit_test(tls_is_asked_for_by_its_certificates),
        cmocka_unit_test(contenders_and_ancestors_have_the_same_acl),
        cmocka_unit_test(senseless_credentials_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
