/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe with two handles, for tests of partial-order reduction. It asks on the second handle, and reads
 * zoo_state() of the first. It grants, wrongly, only while the first handle's link is down and its watcher
 * has not been called. A reduction that always calls that watcher first would miss the violation. */
#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <zookeeper/zookeeper.h>

struct two {
    struct ls_env *env;
    zhandle_t *first, *second;
    bool was_up, was_told, between;
    bool held;
    int32_t lock, owner;
};

static void on_first(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct two *two = ctx;
    (void)zh;
    (void)path;
    two->was_up |= type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE;
    two->was_told |= type == ZOO_SESSION_EVENT && state == ZOO_CONNECTING_STATE;
}

static void on_second(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh;
    (void)type;
    (void)state;
    (void)path;
    (void)ctx;
}

static void tell(struct two *two, int kind)
{
    bool granted = kind == LS_REPORT_GRANTED;
    const struct ls_report report = {.kind = kind,
                                     .lock = two->lock,
                                     .owner = two->owner,
                                     .depth = granted,
                                     .rc = kind == LS_REPORT_FAILED ? LS_ETIMEDOUT : 0,
                                     .token = granted};
    ls_report(two->env, &report);
}

static void on_second_answer(int rc, const struct Stat *stat, const void *ctx)
{
    struct two *two = (struct two *)(uintptr_t)ctx;
    (void)rc;
    (void)stat;
    two->held = two->between && !two->was_told;
    tell(two, two->held ? LS_REPORT_GRANTED : LS_REPORT_FAILED);
}

static void on_first_answer(int rc, const struct Stat *stat, const void *ctx)
{
    struct two *two = (struct two *)(uintptr_t)ctx;
    (void)rc;
    (void)stat;
    two->between = two->was_up && zoo_state(two->first) != ZOO_CONNECTED_STATE && !two->was_told;
    if (zoo_aexists(two->second, "/", 0, on_second_answer, two) != ZOK)
        tell(two, LS_REPORT_FAILED);
}

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct two *two = state;
    two->env = env;
    two->first = zookeeper_init(config->hosts, on_first, config->session_timeout_ms, NULL, two, 0);
    two->second = zookeeper_init(config->hosts, on_second, config->session_timeout_ms, NULL, two, 0);
    return two->first != NULL && two->second != NULL ? 0 : -1;
}

static void stop(void *state)
{
    struct two *two = state;
    zookeeper_close(two->first);
    zookeeper_close(two->second);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct two *two = state;
    (void)timeout_ms;
    two->lock = lock;
    two->owner = owner;
    return zoo_aexists(two->second, "/", 0, on_first_answer, two) == ZOK ? 0 : LS_EZK;
}

static int cancel(void *state, int lock, int owner)
{
    (void)state;
    (void)lock;
    (void)owner;
    return LS_ENOENT;
}

static int release(void *state, int lock, int owner)
{
    struct two *two = state;
    (void)lock;
    (void)owner;
    if (!two->held)
        return LS_ENOTOWNER;
    two->held = false;
    tell(two, LS_REPORT_FREED);
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct two *two = state;
    return two->held && two->lock == lock && two->owner == owner ? LS_HELD : LS_NOT_HELD;
}

static const struct ls_recipe two = {.name = "two-handles",
                                     .summary = "grants in a moment that only its other handle sees",
                                     .state_size = sizeof(struct two),
                                     .start = start,
                                     .stop = stop,
                                     .acquire = acquire,
                                     .cancel = cancel,
                                     .release = release,
                                     .query = query};

LS_RECIPE_MODULE(two);
