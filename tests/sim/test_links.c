/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A process with two handles: faults hit either link or session, and the judges know both sessions. */
#include "searched.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <zookeeper/zookeeper.h>

/* ---- a recipe whose second handle has the contender; alone it is always first. Its node stays there ---- */

struct two {
    struct ls_env *env;
    zhandle_t *first, *second;
    bool held;
};

static void on_session(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh;
    (void)type;
    (void)state;
    (void)path;
    (void)ctx;
}

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct two *two = state;
    two->env = env;
    two->first = zookeeper_init(config->hosts, on_session, config->session_timeout_ms, NULL, two, 0);
    two->second = zookeeper_init(config->hosts, on_session, config->session_timeout_ms, NULL, two, 0);
    return two->first != NULL && two->second != NULL ? LS_OK : LS_EZK;
}

static void stop(void *state)
{
    struct two *two = state;
    zookeeper_close(two->first);
    zookeeper_close(two->second);
}

static void on_created(int rc, const char *name, const struct Stat *stat, const void *ctx)
{
    struct two *two = (struct two *)(uintptr_t)ctx;
    struct ls_report report = {.kind = LS_REPORT_FAILED, .rc = LS_EZK};
    (void)name;
    if (rc == ZOK) {
        two->held = true;
        report = (struct ls_report){.kind = LS_REPORT_GRANTED, .depth = 1, .token = stat->czxid};
    }
    ls_report(two->env, &report);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct two *two = state;
    (void)lock;
    (void)owner;
    (void)timeout_ms;
    int rc = zoo_acreate2(two->second, "/locks/x/n-", NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                          ZOO_EPHEMERAL | ZOO_SEQUENCE, on_created, two);
    return rc == ZOK ? LS_OK : LS_EZK;
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
    const struct ls_report freed = {.kind = LS_REPORT_FREED};
    (void)lock;
    (void)owner;
    if (!two->held)
        return LS_ENOTOWNER;
    two->held = false;
    ls_report(two->env, &freed);
    return LS_OK;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct two *two = state;
    (void)lock;
    (void)owner;
    return two->held ? LS_HELD : LS_NOT_HELD;
}

static const struct ls_recipe recipe = {.name = "two-links",
                                        .summary = "stands in line with its second session",
                                        .state_size = sizeof(struct two),
                                        .start = start,
                                        .stop = stop,
                                        .acquire = acquire,
                                        .cancel = cancel,
                                        .release = release,
                                        .query = query};

/* ---- runs ---- */

static struct event granted;

/* Keeps the last grant. Judges get an event before the test does. */
static void note_grant(void *ctx, const struct event *event)
{
    (void)ctx;
    granted = event->kind == EVENT_GRANTED ? *event : granted;
}

static void begin(const char *budgets)
{
    char header[200];
    snprintf(header, sizeof header,
             "process a: acquire release\nproperties at_most_one_holder no_lost_wakeup no_orphan_node\n%s",
             budgets);
    begin_with(&recipe, header);
}

/* Checks that the label is listed, and that it parses to the same action. Returns the action. */
static const struct action *expect(const char *label)
{
    struct action read;
    const char *why;
    const struct action *listed = find(label);
    if (listed == NULL) {
        fail_msg("'%s' is not possible", label);
    }
    assert_int_equal(world_find(run.world, label, &read, &why), 0);
    assert_true(world_same_action(&read, listed));
    return listed;
}

static void take(const char *label)
{
    run_apply(&run, expect(label));
}

static void connect_both(void)
{
    take("connect a s1");
    take("connect a s1/2");
    run_settle(&run);
}

static void a_loss_meets_either_link(void **state)
{
    (void)state;
    begin("explore loss<=2");
    connect_both();
    expect("cut a keep=0 apply=0 rc=-4");
    take("cut a keep=0 apply=0 rc=-4 link=2");
    assert_true(fakezk_connected(0, 0));
    assert_false(fakezk_connected(0, 1));
    take("cut a keep=0 apply=0 rc=-4");
    assert_false(fakezk_connected(0, 0));
    end();
}

/* The numbers count the links that are up, so the one link that is up is the first. */
static void with_one_link_up_there_is_no_second(void **state)
{
    (void)state;
    begin("explore loss<=2");
    connect_both();
    take("cut a keep=0 apply=0 rc=-4");
    assert_null(find("cut a keep=0 apply=0 rc=-4 link=2"));
    take("cut a keep=0 apply=0 rc=-4");
    assert_false(fakezk_connected(0, 1));
    end();
}

static void either_attempt_may_be_refused(void **state)
{
    (void)state;
    begin("explore refuse<=2");
    expect("refuse a");
    expect("refuse a link=2");
    take("connect a s1");
    assert_null(find("refuse a link=2"));
    take("refuse a"); /* the link of the second handle */
    assert_true(fakezk_connected(0, 0));
    end();
}

static void either_session_may_expire(void **state)
{
    (void)state;
    begin("explore expire<=2");
    connect_both();
    int32_t second = fakezk_session(0, 1);
    expect("expire a");
    take("expire a/2");
    assert_false(fakezk_session_live(second));
    assert_true(fakezk_session_live(fakezk_session(0, 0)));
    end();
}

static void a_grant_stands_on_the_session_that_owns_the_node(void **state)
{
    (void)state;
    begin("");
    connect_both();
    world_set_observer(run.world, note_grant, NULL);
    run_apply(&run, expect("a acquire"));
    run_settle(&run);
    assert_int_equal(granted.kind, EVENT_GRANTED);
    assert_int_equal(granted.session, fakezk_session(0, 1));
    end();
}

static check_mask violated_at_rest(void)
{
    run_settle(&run);
    run_rest(&run);
    return run.stats.violated;
}

/* The link of the other session breaks and comes back. The node is an orphan nevertheless. */
static void judges_know_both_sessions(void **state)
{
    (void)state;
    begin("explore loss<=1");
    connect_both();
    take("a acquire");
    assert_int_equal(violated_at_rest(), 0);
    take("cut a keep=0 apply=0 rc=-4");
    assert_int_equal(violated_at_rest(), 0);
    take("a release");
    assert_int_equal(violated_at_rest(), CHECK_BIT(check_position("no_orphan_node")));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_meets_either_link),
        cmocka_unit_test(with_one_link_up_there_is_no_second),
        cmocka_unit_test(either_attempt_may_be_refused),
        cmocka_unit_test(either_session_may_expire),
        cmocka_unit_test(a_grant_stands_on_the_session_that_owns_the_node),
        cmocka_unit_test(judges_know_both_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
