/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe that locks nothing. Each owner's acquire makes calls of <zookeeper/zookeeper.h> that the built-in recipes do not
 * make, so that their answers come up in a world. reports/world-coverage.md names the scenario of each answer. */
#include <lockstep/recipe.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

struct calls {
    struct ls_env *env;
    zhandle_t *zh;
    int held[8];
};

/* What an owner's acquire asks for. */
enum { WRITES, WATCHES, MALFORMED, STATE, CREDENTIALS, OWNERS };

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh, (void)type, (void)state, (void)path, (void)ctx;
}

static void on_string(int rc, const char *value, const void *data)
{
    (void)rc, (void)value, (void)data;
}

static void on_void(int rc, const void *data)
{
    (void)rc, (void)data;
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    (void)rc, (void)stat, (void)data;
}

static void on_strings(int rc, const struct String_vector *strings, const void *data)
{
    (void)rc, (void)strings, (void)data;
}

static void create(zhandle_t *zh, const char *path, const struct ACL_vector *acl, int mode)
{
    zoo_acreate(zh, path, NULL, -1, acl, mode, on_string, NULL);
}

/* Writes that the servers refuse. */
static void ask_writes(zhandle_t *zh)
{
    create(zh, "/e", &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL);
    create(zh, "/e/child", &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT);
    create(zh, "/own", &ZOO_CREATOR_ALL_ACL, ZOO_PERSISTENT);
    create(zh, "/e\x7f", &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT);
    zoo_adelete(zh, "/locks", -1, on_void, NULL);
    zoo_adelete(zh, "/e", 7, on_void, NULL);
}

static void ask_watches(zhandle_t *zh)
{
    zoo_awexists(zh, "/w", on_event, NULL, on_stat, NULL);
    zoo_awget_children(zh, "/", on_event, NULL, on_strings, NULL);
    create(zh, "/w", &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT);
}

/* Calls that the client library refuses at once. */
static void ask_malformed(zhandle_t *zh)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_delete_op_init(&op, "no/path", -1);
    zoo_amulti(zh, 1, &op, &result, on_void, NULL);
    zoo_adelete(zh, "no/path", -1, on_void, NULL);
}

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct calls *calls = state;
    int flags = config->read_only ? ZOO_READONLY : 0;
    calls->env = env;
    calls->zh = zookeeper_init(config->hosts, on_event, config->session_timeout_ms, NULL, calls, flags);
    return calls->zh != NULL && zoo_state(calls->zh) != 0 ? 0 : -1;
}

static void stop(void *state)
{
    struct calls *calls = state;
    zookeeper_close(calls->zh);
    memset(calls, 0, sizeof *calls);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct calls *calls = state;
    (void)timeout_ms;
    switch (owner) {
    case WRITES:
        ask_writes(calls->zh);
        break;
    case WATCHES:
        ask_watches(calls->zh);
        break;
    case MALFORMED:
        ask_malformed(calls->zh);
        break;
    case STATE:
        (void)zoo_state(calls->zh);
        break;
    default:
        zoo_add_auth(calls->zh, "unheard-of", "me", 2, on_void, NULL);
        zoo_async(calls->zh, "/", on_string, NULL);
        break;
    }
    calls->held[owner] = 1;
    ls_report(
        calls->env,
        &(struct ls_report){.kind = LS_REPORT_GRANTED, .lock = lock, .owner = owner, .depth = 1, .token = 1});
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    (void)state, (void)lock, (void)owner;
    return -1;
}

static int release(void *state, int lock, int owner)
{
    struct calls *calls = state;
    calls->held[owner] = 0;
    ls_report(calls->env, &(struct ls_report){.kind = LS_REPORT_FREED, .lock = lock, .owner = owner});
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    (void)lock;
    return ((const struct calls *)state)->held[owner] ? LS_HELD : LS_NOT_HELD;
}

static const struct ls_recipe calls = {
    .name = "calls",
    .summary = "locks nothing, makes calls",
    .breaks = "at_most_one_holder",
    .state_size = sizeof(struct calls),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
};

LS_RECIPE_MODULE(calls);
