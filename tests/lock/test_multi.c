/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several locks at once: process a has a multi, process b mutexes at the same paths. tests/promises has a break
 * for each sentence of multi.h. Two multis are in scenarios/multi, and in the searches. */
#include "lock/claim.h"
#include "stage.h"
#include "support/sleeping_thread.h"

#include <lockstep/multi.h>

enum { MEMBERS = 4 };

static struct ls_multi multi;
static struct ls_multi_member members[MEMBERS];
static struct ls_multi_options options;
static void (*in_done)(void); /* called inside on_done and on_lost */

/* While a thread of process a sleeps, all that can happen does. */
static void settle(void)
{
    stage_play_meanwhile("settle");
}

/* ---- what the callbacks say: "1 granted" ---- */

static void on_done(struct ls_multi *of, uint64_t owner, const struct ls_multi_outcome *outcome)
{
    assert_ptr_equal(of, &multi);
    assert_int_equal(outcome->depth, outcome->rc ? 0 : 1);
    if (!outcome->rc)
        stage_add(stage.told, "%d granted", (int)owner);
    else if (outcome->member < 0)
        stage_add(stage.told, "%d %s", (int)owner, stage_err(outcome->rc));
    else
        stage_add(stage.told, "%d %s of %d", (int)owner, stage_err(outcome->rc), outcome->member);
    if (outcome->rc)
        for (int i = 0; i < MEMBERS; i++)
            assert_int_equal(ls_multi_token(of, owner, i), 0);
    if (in_done)
        in_done();
}

static char freed[8]; /* the last letters of the paths whose nodes were deleted, in this order; then '!' */

static void on_freed(struct ls_multi *of, uint64_t owner, int rc)
{
    assert_ptr_equal(of, &multi);
    strncat(freed, "!", sizeof freed - 1 - strlen(freed));
    stage_add(stage.told, "%d freed%s%s", (int)owner, rc ? " " : "", rc ? stage_err(rc) : "");
}

static void on_lost(struct ls_multi *of, uint64_t owner, int member)
{
    assert_int_equal(ls_multi_query(of, owner), LS_NOT_HELD);
    stage_add(stage.told, "%d lost %d", (int)owner, member);
    if (in_done)
        in_done();
}

static void on_warning(struct ls_multi *of, uint64_t owner, int member, enum ls_warning warning)
{
    assert_ptr_equal(of, &multi);
    stage_add(stage.told, "%d warned of %d: %d", (int)owner, member, (int)warning);
}

static void on_revoke(struct ls_multi *of, uint64_t owner, int member)
{
    assert_ptr_equal(of, &multi);
    stage_add(stage.told, "%d asked for %d", (int)owner, member);
}

static const struct ls_multi_ops ops = {.on_done = on_done,
                                        .on_freed = on_freed,
                                        .on_lost = on_lost,
                                        .on_warning = on_warning,
                                        .on_revoke = on_revoke};

/* ---- the stage: b has mutexes at /locks/x and /locks/y ---- */

static void init(void)
{
    memset(&multi, 0xa5, sizeof multi);
    memset(members, 0xa5, sizeof members);
    options = (struct ls_multi_options){.ops = &ops};
    assert_int_equal(ls_multi_init(&multi, members, MEMBERS, &options), LS_OK);
}

/* Added in the order y, x; asked for in the order x, y. */
static void open_two(struct probe *probe)
{
    init();
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/y"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 1);
}

static void open_three(struct probe *probe)
{
    open_two(probe);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/z"), 2);
}

/* The halves of two read-write locks, at paths that the world knows. */
static void open_halves(struct probe *probe)
{
    init();
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/x"), 0);
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "/locks/y"), 1);
}

static void open_reader(struct probe *probe)
{
    init();
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "/locks/x"), 0);
}

/* The multi has callbacks that are NULL, no callbacks, or no options. */
static int silence;

static void open_silent(struct probe *probe)
{
    static const struct ls_multi_ops none;
    init();
    options.ops = silence == 0 ? &none : NULL;
    assert_int_equal(ls_multi_init(&multi, members, MEMBERS, silence == 2 ? NULL : &options), LS_OK);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/y"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 1);
}

/* All nodes have an ACL with all permissions but READ. */
static void open_unread(struct probe *probe)
{
    static char world[] = "world", anyone[] = "anyone";
    static struct ACL unread[] = {{30, {world, anyone}}};
    static const struct ACL_vector acl = {.count = 1, .data = unread};
    options = (struct ls_multi_options){.ops = &ops, .acl = &acl};
    assert_int_equal(ls_multi_init(&multi, members, MEMBERS, &options), LS_OK);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 0);
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/y"), 1);
}

/* Of each kind one. */
static void open_kinds(struct probe *probe)
{
    init();
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/w"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 1);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/s", 3, 2), 2);
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "/locks/r"), 3);
}

/* Leases have no watch on their nodes: their loss is told by the session. */
static void open_leases(struct probe *probe)
{
    init();
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/x", 1, 1), 0);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/y", 1, 1), 1);
}

/* All ephemeral nodes count. */
static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *number)
{
    (void)config;
    (void)below;
    (void)number;
    return LS_NODE_CONTENDER;
}

static bool timed;

static void with(void (*open)(struct probe *probe))
{
    static struct ls_recipe recipe;
    static const char *const directories[] = {"leases", "locks", NULL};
    recipe = stage_recipe;
    recipe.classify = classify;
    recipe.ignores_children = false;
    if (open == open_leases)
        recipe.directories = directories;
    in_done = NULL;
    stage_set(2);
    stage.options.recipe = &recipe;
    stage.options.locks = open == open_three ? 3 : 2;
    stage.options.lock_path[1] = "/locks/y";
    stage.options.lock_path[2] = "/locks/z";
    stage.options.used_directory = true;
    stage.options.timed = timed;
    stage_ready();
    stage_job(0, open);
}

static void with_clock(void (*open)(struct probe *probe))
{
    timed = true;
    with(open);
    timed = false;
}

static void close_multi(struct probe *probe)
{
    uint32_t count = multi.count;
    (void)probe;
    assert_int_equal(ls_multi_close(&multi), LS_OK);
    assert_int_equal(ls_multi_close(&multi), LS_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(ls_mutex_acquire_start(members[i].face, 9, 0), LS_ECLOSED);
}

static void end(void)
{
    stage_job(0, close_multi);
    play("settle");
    assert_int_equal(fakezk_watches(0), 0);
    assert_true(stage_idle(stage_probe(0)));
    stage_end(); /* b may still hold what it holds */
}

/* ---- what is asked next ---- */

static struct {
    uint64_t owner;
    int timeout_ms;
    int rc;
} call;

static void start_acquire(struct probe *probe)
{
    (void)probe;
    call.rc = ls_multi_acquire_start(&multi, call.owner, call.timeout_ms);
}

static void start_release(struct probe *probe)
{
    (void)probe;
    call.rc = ls_multi_release_start(&multi, call.owner);
}

static void start_cancel(struct probe *probe)
{
    (void)probe;
    call.rc = ls_multi_cancel(&multi, call.owner);
}

static int begin(void (*job)(struct probe *probe), uint64_t owner)
{
    call.owner = owner;
    stage_job(0, job);
    return call.rc;
}

static int begin_acquire(uint64_t owner, int timeout_ms)
{
    call.timeout_ms = timeout_ms;
    return begin(start_acquire, owner);
}

/* The same, with the answers of the servers. */
static int acquire(uint64_t owner)
{
    int rc = begin_acquire(owner, -1);
    play("settle");
    return rc;
}

static int release(uint64_t owner)
{
    int rc = begin(start_release, owner);
    play("settle");
    return rc;
}

/* The client b asks for the node that was created first, which is that of x. */
static void ask_for_x(struct probe *probe)
{
    assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[0], NULL, NULL), LS_OK);
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    (void)data;
    assert_int_equal(rc, ZOK);
}

/* As a client that knows nothing of kinds of locks. */
static void ask_for_node_of_x(struct probe *probe)
{
    for (int i = 0; i < stage.nodes; i++)
        if (strstr(stage.node[i], "/x/"))
            assert_int_equal(ls_mutex_request_revoke_start(&probe->session, stage.node[i], NULL, NULL),
                             LS_OK);
}

static void ask_as_curator(struct probe *probe)
{
    assert_int_equal(zoo_aset(probe->session.zh, stage.node[0], "__REVOKE__", 10, -1, on_set, NULL), ZOK);
}

/* ---- all or none ---- */

static void all_are_granted_together(void **state)
{
    (void)state;
    with(open_two);
    assert_int_equal(acquire(7), LS_OK);
    told("7 granted");
    assert_int_equal(ls_multi_query(&multi, 7), LS_HELD);
    assert_int_equal(ls_multi_query(&multi, 8), LS_NOT_HELD);
    assert_true(ls_multi_belief_left_ms(&multi, 7) > 0);
    assert_int_equal(ls_multi_belief_left_ms(&multi, 8), 0);
    assert_true(ls_multi_token(&multi, 7, 0) > ls_multi_token(&multi, 7, 1)); /* y after x */
    assert_true(ls_multi_token(&multi, 7, 1) > 0);
    assert_int_equal(ls_multi_token(&multi, 7, 2), 0);
    assert_int_equal(ls_multi_token(&multi, 7, -1), 0);
    assert_int_equal(stage.nodes, 2);
    assert_int_equal(release(7), LS_OK);
    told("7 freed");
    assert_int_equal(ls_multi_query(&multi, 7), LS_NOT_HELD);
    assert_int_equal(stage.nodes, 0);
    end();
}

static void members_are_asked_for_by_path(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire x", "settle");
    stage_forget();
    acquire(1);
    assert_int_equal(stage.nodes, 2); /* b's and that of a at x: y is not asked for yet */
    told("");
    play("b release x", "settle");
    told("1 granted; b freed");
    assert_non_null(strstr(stage.node[1], "/y/"));
    end();
}

static void a_holder_of_one_keeps_the_whole_waiting(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    told("b:1 granted");
    acquire(1);
    told("");
    assert_int_equal(stage.nodes, 3);
    assert_int_equal(ls_multi_query(&multi, 1), LS_NOT_HELD);
    assert_int_equal(ls_multi_depth(&multi, 1), 0);
    play("b acquire x", "settle"); /* behind a */
    told("");
    play("b release y", "settle");
    told("1 granted; b:1 freed");
    release(1);
    told("1 freed; b granted");
    end();
}

static void note_deleted(void *ctx, const struct event *event)
{
    if (event->kind == EVENT_NODE_DELETED && event->code == 1 && strlen(freed) + 1 < sizeof freed)
        strncat(freed, event->path + strlen("/locks/"), 1);
    stage_on_world(ctx, event);
}

static void members_are_released_in_reverse_order(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_forget();
    freed[0] = 0;
    the_world.observer = note_deleted;
    release(1);
    assert_string_equal(freed, "yx!"); /* on_freed is last */
    end();
}

static void a_refusal_gives_back_in_reverse_order(void **state)
{
    (void)state;
    with(open_three);
    play("b acquire z", "settle");
    stage_forget();
    freed[0] = 0;
    the_world.observer = note_deleted;
    begin_acquire(1, 0);
    play("settle");
    told("1 EBUSY of 2; a idle");
    assert_string_equal(freed, "zyx"); /* x and y were granted in this order */
    assert_int_equal(stage.nodes, 1);
    end();
}

/* The nodes are being deleted when on_done begins: none of the members is held in its own right. */
static void no_member_is_held(void)
{
    for (uint32_t i = 0; i < multi.count; i++)
        assert_int_equal(ls_mutex_depth(members[i].face, 1), 0);
}

static void who_is_refused_holds_nothing(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    in_done = no_member_is_held;
    begin_acquire(1, 0);
    play("settle");
    told("1 EBUSY of 0; a idle");
    end();
}

static void on_created(int rc, const char *value, const void *data)
{
    (void)value;
    (void)data;
    assert_int_equal(rc, ZOK);
}

static void hold_temporary(struct probe *probe)
{
    assert_int_equal(zoo_acreate(probe->session.zh, "/temporary", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL,
                                 on_created, NULL),
                     ZOK);
}

static int refusal_zk_rc;

static void note_zk_rc(struct ls_multi *of, uint64_t owner, const struct ls_multi_outcome *outcome)
{
    refusal_zk_rc = outcome->zk_rc;
    on_done(of, owner, outcome);
}

/* An ephemeral node has no children. */
static void open_below_a_node(struct probe *probe)
{
    static const struct ls_multi_ops noting = {.on_done = note_zk_rc};
    open_two(probe);
    options.ops = &noting;
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/temporary/z"), 2);
}

static void a_refusal_of_a_server_has_its_code(void **state)
{
    (void)state;
    with(open_below_a_node);
    stage_job(1, hold_temporary);
    play("settle");
    stage_forget();
    refusal_zk_rc = 1;
    acquire(1);
    told("1 EZK of 2");
    assert_int_equal(refusal_zk_rc, ZNOCHILDRENFOREPHEMERALS);
    end();
}

static void a_deadline_is_for_all(void **state)
{
    (void)state;
    with_clock(open_two);
    play("b acquire x", "b acquire y", "settle");
    stage_forget();
    begin_acquire(1, 1000);
    play("pass 600", "b release x", "pass 399");
    told("b freed");
    assert_int_equal(stage.nodes, 3); /* x is granted; a waits for y */
    assert_int_equal(ls_multi_query(&multi, 1), LS_NOT_HELD);
    play("pass 1");
    told("1 ETIMEDOUT of 0");
    play("pass 200");
    told("a idle");
    assert_int_equal(stage.nodes, 1); /* b's at y */
    end();
}

static void a_deadline_is_kept_during_an_outage(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    begin_acquire(1, 1000);
    play("settle", "partition a", "pass 1500");
    told("a suspended; 1 ETIMEDOUT of 0");
    play("heal", "settle");
    assert_int_equal(stage.nodes, 1);
    stage_forget();
    end();
}

static void a_try_takes_all_or_none(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    assert_int_equal(begin_acquire(1, 0), LS_OK);
    play("settle");
    told("1 EBUSY of 0; a idle");
    assert_int_equal(stage.nodes, 1);
    play("b release y", "settle");
    stage_forget();
    assert_int_equal(begin_acquire(1, 0), LS_OK);
    play("settle");
    told("1 granted");
    end();
}

static void a_cancel_ends_the_wait(void **state)
{
    (void)state;
    with(open_two);
    assert_int_equal(begin(start_cancel, 1), LS_ENOENT);
    play("b acquire y", "settle");
    stage_forget();
    acquire(1);
    assert_int_equal(begin(start_cancel, 1), LS_OK);
    told("1 ECANCELED");
    assert_int_equal(begin(start_cancel, 1), LS_ENOENT);
    play("settle");
    told("a idle");
    assert_int_equal(stage.nodes, 1);
    end();
}

/* Its owner may ask anew at once: what the former acquire has left is not its own. */
static void an_answer_to_a_former_acquire_is_none(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    acquire(1);
    begin(start_cancel, 1);
    assert_int_equal(begin_acquire(1, -1), LS_OK);
    play("b release y", "settle");
    told("1 ECANCELED; a idle; 1 granted; b:1 freed");
    assert_int_equal(begin(start_release, 1), LS_OK);
    assert_int_equal(begin_acquire(1, -1), LS_OK);
    play("settle");
    told("1 freed; 1 granted");
    assert_int_equal(stage.nodes, 2);
    end();
}

/* ---- owners ---- */

static void owners_exclude_each_other(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    acquire(2);
    told("1 granted");
    assert_int_equal(acquire(2), LS_EALREADY);
    assert_int_equal(release(2), LS_ENOTOWNER);
    assert_int_equal(release(3), LS_ENOTOWNER);
    assert_int_equal(begin_acquire(0, -1), LS_EINVAL);
    assert_int_equal(begin_acquire(LS_ENV_THREAD | 77777, -1), LS_EINVAL);
    release(1);
    told("1 freed; 2 granted");
    end();
}

static void an_owner_holds_as_often_as_it_likes(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_forget();
    assert_int_equal(acquire(1), 1);
    assert_int_equal(ls_multi_depth(&multi, 1), 2);
    assert_int_equal(release(1), LS_OK);
    told("");
    assert_int_equal(ls_multi_depth(&multi, 1), 1);
    assert_int_equal(release(1), LS_OK);
    told("1 freed");
    assert_int_equal(release(1), LS_ENOTOWNER);
    end();
}

/* ---- losses ---- */

static void an_expiry_is_one_loss(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    acquire(1);
    stage_forget();
    play("expire a", "settle");
    told("1 lost 1; a suspended; a lost; a idle; a connected"); /* its watch tells it first */
    assert_int_equal(ls_multi_query(&multi, 1), LS_NOT_HELD);
    assert_int_equal(release(1), LS_ELOST); /* once for each level */
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(release(1), LS_ENOTOWNER);
    assert_int_equal(stage.nodes, 0);
    acquire(1);
    told("1 granted");
    end();
}

/* The next acquire is asked for before the loss of the second member could be told. */
static void ask_anew(void)
{
    in_done = NULL;
    assert_int_equal(ls_multi_release_start(&multi, 1), LS_ELOST);
    assert_int_equal(ls_multi_acquire_start(&multi, 1, -1), LS_OK);
}

static void a_loss_is_not_told_of_the_next_acquire(void **state)
{
    (void)state;
    with(open_leases);
    acquire(1);
    stage_forget();
    in_done = ask_anew;
    play("expire a", "settle");
    told("a suspended; a lost; 1 lost 0; a connected; 1 granted");
    end();
}

static void levels_of_two_losses_add_up(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    play("expire a", "settle");
    acquire(1);
    play("expire a", "settle");
    acquire(1);
    stage_forget();
    assert_int_equal(release(1), LS_OK);
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(release(1), LS_ENOTOWNER);
    told("1 freed");
    end();
}

static void remove_node_of(const char *part)
{
    char line[FAKEZK_PATH_MAX + 16];
    for (int i = 0; i < stage.nodes; i++)
        if (strstr(stage.node[i], part)) {
            snprintf(line, sizeof line, "remove %.*s", FAKEZK_PATH_MAX - 1, stage.node[i]);
            play(line);
            return;
        }
    fail_msg("there is no node with %s", part);
}

static void a_deleted_node_is_the_loss_of_all(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_forget();
    remove_node_of("/x/");
    play("settle");
    told("1 lost 1"); /* x is the member 1 */
    assert_int_equal(stage.nodes, 0);
    assert_int_equal(release(1), LS_ELOST);
    end();
}

static void a_deleted_node_of_a_half_is_the_loss_of_all(void **state)
{
    (void)state;
    with(open_halves);
    acquire(1);
    stage_forget();
    remove_node_of("/x/");
    play("settle");
    told("1 lost 0"); /* the write half */
    assert_int_equal(release(1), LS_ELOST);
    acquire(1);
    stage_forget();
    remove_node_of("/y/");
    play("settle");
    told("1 lost 1"); /* the read half */
    assert_int_equal(stage.nodes, 0);
    end();
}

static void a_deleted_lease_is_told_by_the_release(void **state)
{
    (void)state;
    with(open_leases);
    acquire(1);
    stage_forget();
    remove_node_of("/x/leases/");
    play("settle");
    told("");
    assert_int_equal(ls_multi_query(&multi, 1), LS_HELD);
    assert_int_equal(release(1), LS_OK);
    told("1 freed ELOST");
    end();
}

static void a_foreign_child_is_told(void **state)
{
    (void)state;
    with(open_two);
    play("create /locks/x/0-foreign");
    acquire(7);
    told("7 warned of 1: 1; 7 granted"); /* x is the member 1 */
    end();
}

static void a_member_lost_during_the_acquire_is_asked_for_again(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    acquire(1);
    remove_node_of("/x/");
    play("settle");
    told("a idle");
    assert_int_equal(stage.nodes, 3);
    play("b release y", "settle");
    told("1 granted; b:1 freed");
    assert_int_equal(stage.nodes, 2);
    end();
}

static void an_expiry_during_the_acquire_does_not_end_it(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    acquire(1);
    play("expire a", "settle");
    told("a suspended; a lost; a idle; a connected");
    assert_int_equal(stage.nodes, 3);
    play("b release y", "settle");
    told("1 granted; b:1 freed");
    end();
}

/* What was given back on the way is not the answer to the release of what was granted afterwards. */
static void a_restart_leaves_its_answers_behind(void **state)
{
    (void)state;
    with(open_kinds);
    acquire(1);
    acquire(2);
    stage_forget();
    remove_node_of("/x/");
    play("settle");
    told("1 lost 1; 2 granted");
    assert_int_equal(ls_multi_query(&multi, 2), LS_HELD);
    assert_int_equal(release(2), LS_OK);
    told("2 freed");
    end();
}

/* As that of a mutex, an acquire that holds nothing yet goes on in the next session. */
static void an_expiry_before_the_first_grant_does_not_end_it(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire x", "settle");
    stage_forget();
    acquire(1);
    play("expire a", "settle");
    told("a suspended; a lost; a connected");
    play("b release x", "settle");
    told("1 granted; b freed");
    end();
}

/* ---- releases that fail ---- */

static void all_are_released_whatever_becomes_of_one(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_forget();
    begin(start_release, 1);
    play("cut a keep=0 apply=0 rc=-4", "settle");
    told("a suspended; 1 freed EUNSURE; a reconnected; a idle");
    assert_int_equal(stage.nodes, 0);
    end();
}

/* ---- kinds ---- */

static void kinds_may_be_mixed(void **state)
{
    (void)state;
    with(open_kinds);
    acquire(1);
    told("1 granted");
    assert_int_equal(stage.nodes, 1); /* of the locks that the world knows */
    for (int i = 0; i < MEMBERS; i++)
        assert_true(ls_multi_token(&multi, 1, i) > 0);
    acquire(2);
    told(""); /* r is shared: 2 waits for leases, or for w */
    assert_int_equal(ls_multi_query(&multi, 2), LS_NOT_HELD);
    release(1);
    told("1 freed; 2 granted");
    release(2);
    told("2 freed");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void a_lost_session_loses_all_kinds(void **state)
{
    (void)state;
    with(open_kinds);
    acquire(1);
    stage_forget();
    play("expire a", "settle");
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(release(1), LS_ENOTOWNER);
    acquire(1);
    assert_int_equal(ls_multi_query(&multi, 1), LS_HELD);
    end();
}

/* Two owners hold the read half at once. */
static void readers_share(void **state)
{
    (void)state;
    with(open_reader);
    acquire(1);
    acquire(2);
    told("1 granted; 2 granted");
    assert_int_equal(stage.nodes, 2);
    end();
}

/* Several leases of one owner: the first one counts. */
static void of_several_leases_the_first_counts(void **state)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64], first[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    (void)state;
    with(open_kinds);
    acquire(1);
    const struct ls_mutex *leases = &members[2].lock.semaphore.leases;
    assert_int_equal(ls_mutex_depth(leases, 2), 1); /* there are two */
    assert_int_equal(ls_multi_token(&multi, 1, 2), ls_mutex_token(leases, 1));
    assert_int_equal(ls_mutex_guard(leases, 1, &op, first, sizeof first), LS_OK);
    assert_int_equal(ls_multi_guard(&multi, 1, 2, &op, path, sizeof path), LS_OK);
    assert_string_equal(path, first);
    end();
}

/* ---- nobody listens, nodes have an ACL ---- */

static void use_in_silence(void)
{
    with(open_silent);
    play("create /locks/x/0-foreign");
    acquire(1);
    assert_int_equal(ls_multi_query(&multi, 1), LS_HELD);
    stage_job(1, ask_for_x);
    play("settle");
    assert_int_equal(release(1), LS_OK);
    acquire(1);
    remove_node_of("/y/");
    play("settle");
    assert_int_equal(ls_multi_query(&multi, 1), LS_NOT_HELD);
    assert_int_equal(release(1), LS_ELOST);
    told("");
    end();
}

static void callbacks_may_be_missing(void **state)
{
    (void)state;
    for (silence = 0; silence < 3; silence++)
        use_in_silence();
}

static void on_read(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)value;
    (void)size;
    (void)stat;
    (void)data;
    stage_add(stage.told, "read %d", rc);
}

static void read_nodes(struct probe *probe)
{
    for (int i = 0; i < stage.nodes; i++)
        assert_int_equal(zoo_aget(probe->session.zh, stage.node[i], 0, on_read, NULL), ZOK);
}

static void nodes_have_the_acl_of_the_multi(void **state)
{
    (void)state;
    with(open_unread);
    acquire(1);
    told("1 granted");
    assert_int_equal(stage.nodes, 2);
    stage_job(1, read_nodes);
    play("settle");
    told("read -102; read -102"); /* ZNOAUTH */
    end();
}

static struct ls_mutex_counters counters;

static void open_counted(struct probe *probe)
{
    struct ls_mutex_counters copy = {.grants = 9};
    counters = (struct ls_mutex_counters){0};
    options = (struct ls_multi_options){.ops = &ops, .counters = &counters};
    assert_int_equal(ls_multi_init(&multi, members, MEMBERS, &options), LS_OK);
    assert_int_equal(ls_multi_counters(&multi, &copy), LS_EINVAL); /* no members */
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/y"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 1);
}

static void members_are_counted_together(void **state)
{
    struct ls_mutex_counters copy = {.grants = 9};
    (void)state;
    with(open_counted);
    acquire(1);
    release(1);
    assert_int_equal(ls_multi_counters(&multi, &copy), LS_OK);
    assert_int_equal(copy.acquires, 2);
    assert_int_equal(copy.grants, 2);
    assert_int_equal(copy.releases, 2);
    told("1 granted; 1 freed");
    end();
    assert_int_equal(ls_multi_counters(&multi, &copy), LS_EINVAL);
}

static void counters_are_those_that_are_named(void **state)
{
    struct ls_mutex_counters copy;
    (void)state;
    with(open_two);
    assert_int_equal(ls_multi_counters(&multi, &copy), LS_EINVAL);
    end();
}

/* ---- two sessions ---- */

static struct ls_session second;

static void open_in_two_sessions(struct probe *probe)
{
    assert_int_equal(ls_session_init(&second, probe->session.env, "localhost:2181", 4000, &stage.session),
                     LS_OK);
    assert_int_equal(ls_session_start(&second), LS_OK);
    init();
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &second, "/locks/y"), 1);
}

static void close_second(struct probe *probe)
{
    (void)probe;
    assert_int_equal(ls_session_close(&second), LS_OK);
}

static void a_session_that_is_closed_takes_the_others_along(void **state)
{
    (void)state;
    with(open_in_two_sessions);
    play("settle");
    assert_int_equal(ls_session_state(&second), LS_STATE_CONNECTED);
    acquire(1);
    told("1 granted");
    assert_int_equal(stage.nodes, 2);
    stage_job(0, close_second);
    play("settle");
    told("1 lost 1");
    assert_int_equal(stage.nodes, 0); /* that of the other session is given back */
    assert_int_equal(release(1), LS_ELOST);
    assert_int_equal(begin_acquire(1, -1), LS_OK);
    play("settle");
    told("1 ECLOSED of 1");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void open_second(struct probe *probe)
{
    assert_int_equal(ls_session_init(&second, probe->session.env, "localhost:2181", 4000, &stage.session),
                     LS_OK);
    assert_int_equal(ls_session_start(&second), LS_OK);
    init();
}

/* The lock is a member twice, in two sessions. The second member waits for the first one. */
static void open_twice(struct probe *probe)
{
    open_second(probe);
    assert_int_equal(ls_multi_add_mutex(&multi, &second, "/locks/x"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 1);
}

static void equal_paths_are_asked_for_as_they_were_added(void **state)
{
    (void)state;
    with(open_twice);
    play("settle");
    stage_forget();
    begin_acquire(1, 0);
    play("settle");
    told("1 EBUSY of 1; a idle");
    begin_acquire(1, 1000);
    play("settle");
    told("");
    play("pass 1000");
    told("1 ETIMEDOUT of 1; a idle");
    assert_int_equal(stage.nodes, 0);
    stage_job(0, close_multi);
    stage_job(0, close_second);
    stage_end();
}

/* A member may be lost in its session while on_done runs in another one's name. */
static void lose_x_meanwhile(void)
{
    int callbacks = the_world.in_callback;
    in_done = NULL;
    the_world.in_callback = 0; /* another thread goes on, which is in no callback */
    fakezk_leave();
    remove_node_of("/x/");
    play("settle");
    fakezk_enter(0);
    the_world.in_callback = callbacks;
    stage_add(stage.told, "returns");
}

static void a_loss_waits_for_the_end_of_on_done(void **state)
{
    (void)state;
    with(open_in_two_sessions);
    play("settle");
    stage_forget();
    in_done = lose_x_meanwhile;
    acquire(1);
    told("1 granted; returns; 1 lost 0");
    assert_int_equal(release(1), LS_ELOST);
    stage_job(0, close_multi);
    stage_job(0, close_second);
    stage_end();
}

/* The session of x has heard of its server half a second before that of y. */
static void the_member_with_the_least_time_counts(void **state)
{
    (void)state;
    with_clock(open_in_two_sessions);
    play("b acquire y", "settle");
    begin_acquire(1, -1);
    play("pass 500", "b release y", "pass 200");
    const struct ls_mutex *x = members[0].face, *y = members[1].face;
    assert_true(ls_mutex_belief_left_ms(x, 1) > 0);
    assert_true(ls_mutex_belief_left_ms(x, 1) < ls_mutex_belief_left_ms(y, 1));
    assert_int_equal(ls_multi_belief_left_ms(&multi, 1), ls_mutex_belief_left_ms(x, 1));
    assert_int_equal(ls_multi_query(&multi, 1), LS_HELD);
    while (ls_mutex_query(x, 1) == LS_HELD)
        play("pass 50");
    assert_int_equal(ls_mutex_query(y, 1), LS_HELD);
    assert_int_equal(ls_multi_query(&multi, 1), LS_UNKNOWN);
    assert_int_equal(ls_multi_belief_left_ms(&multi, 1), 0);
    assert_int_equal(ls_multi_depth(&multi, 1), 1);
    stage_job(0, close_multi);
    stage_job(0, close_second);
    stage_end();
}

/* ---- guarded writes ---- */

static char guard_path[2][LS_MUTEX_PATH_SIZE_MAX + 64];
static zoo_op_t guard_ops[3];
static zoo_op_result_t guard_results[3];

static void take_guards(struct probe *probe)
{
    (void)probe;
    for (int i = 0; i < 2; i++)
        assert_int_equal(ls_multi_guard(&multi, 1, i, &guard_ops[i], guard_path[i], sizeof guard_path[i]),
                         LS_OK);
    zoo_set_op_init(&guard_ops[2], "/data", "v", 1, -1, NULL);
}

static void on_written(int rc, const void *data)
{
    (void)data;
    stage_add(stage.told, "written %d", rc);
}

static void write_guarded(struct probe *probe)
{
    assert_int_equal(ls_session_multi(&probe->session, 3, guard_ops, guard_results, on_written, NULL), LS_OK);
}

static void a_write_with_all_guards_needs_all_members(void **state)
{
    static const char *const parts[] = {"/x/", "/y/"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        with(open_two);
        play("create /data");
        acquire(1);
        stage_forget();
        stage_job(0, take_guards);
        stage_job(0, write_guarded);
        play("settle");
        told("written 0");
        remove_node_of(parts[i]);
        stage_job(0, write_guarded); /* before the client has heard of it */
        play("settle");
        assert_non_null(strstr(stage.told, "written -101")); /* ZNONODE */
        end();
    }
}

static void guards_name_each_member(struct probe *probe)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    (void)probe;
    assert_int_equal(ls_multi_guard(&multi, 1, 0, &op, path, sizeof path), LS_OK);
    assert_int_equal(strncmp(path, "/locks/y/", 9), 0);
    assert_int_equal(ls_multi_guard(&multi, 1, 1, &op, path, sizeof path), LS_OK);
    assert_int_equal(strncmp(path, "/locks/x/", 9), 0);
    assert_int_equal(op.type, ZOO_CHECK_OP);
    assert_int_equal(ls_multi_guard(&multi, 1, 2, &op, path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_multi_guard(&multi, 1, -1, &op, path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_multi_guard(&multi, 2, 0, &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(ls_multi_guard(&multi, 1, 0, &op, path, 5), LS_EOVERFLOW);
}

static void guards_name_no_member(struct probe *probe)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    (void)probe;
    assert_int_equal(ls_multi_guard(&multi, 1, 0, &op, path, sizeof path), LS_ELOST);
}

static void each_member_has_a_guard(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_job(0, guards_name_each_member);
    play("expire a", "settle");
    stage_job(0, guards_name_no_member);
    end();
}

/* ---- members ---- */

static void add_wrongly(struct probe *probe)
{
    struct ls_session elsewhere = {.env = (struct ls_env *)(void *)&multi};
    static char too_long[LS_MUTEX_PATH_SIZE_MAX + 2];
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    zoo_op_t op;
    assert_int_equal(ls_multi_init(&multi, NULL, 1, NULL), LS_EINVAL);
    assert_int_equal(ls_multi_init(&multi, members, 0, NULL), LS_EINVAL);
    assert_int_equal(ls_multi_init(&multi, members, 2, NULL), LS_OK);
    assert_int_equal(ls_multi_acquire_start(&multi, 1, -1), LS_EINVAL); /* no members */
    assert_int_equal(ls_multi_release_start(&multi, 1), LS_ENOTOWNER);
    assert_int_equal(ls_multi_release(&multi), LS_ENOTOWNER);
    assert_int_equal(ls_multi_cancel(&multi, 1), LS_ENOENT);
    assert_int_equal(ls_multi_guard(&multi, 1, 0, &op, path, sizeof path), LS_EINVAL);
    assert_int_equal(ls_multi_query(&multi, 1), LS_NOT_HELD);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 0);
    assert_int_equal(ls_multi_add_mutex(&multi, &elsewhere, "/locks/z"), LS_EINVAL);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), LS_EINVAL);
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/x"), LS_EINVAL);
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "locks/y"), LS_EINVAL);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/y", 2, 3), LS_EINVAL);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/y", 2, 0), LS_EINVAL);
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[0] = '/';
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, too_long), LS_EINVAL);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/y", 2, 2), 1);
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/z"), LS_EOVERFLOW);
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "/locks/z"), LS_EOVERFLOW);
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/z"), LS_EOVERFLOW);
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/z", 2, 1), LS_EOVERFLOW);
    assert_int_equal(ls_multi_close(&multi), LS_OK);
    assert_int_equal(ls_multi_acquire_start(&multi, 1, -1), LS_ECLOSED);
    assert_int_equal(ls_multi_release_start(&multi, 1), LS_ECLOSED);
    assert_int_equal(ls_multi_cancel(&multi, 1), LS_ECLOSED);
}

static void members_have_bounds(void **state)
{
    (void)state;
    with(add_wrongly);
    stage_end();
}

static void add_late(struct probe *probe)
{
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/z"), LS_EINVAL);
}

/* Each adds a member, with no memory for its first allocation. */
static void add_without_memory(struct probe *probe)
{
    assert_int_equal(ls_multi_init(&multi, members, 2, NULL), LS_OK);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), LS_ENOMEM);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_multi_add_reader(&multi, &probe->session, "/locks/x"), LS_ENOMEM);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_multi_add_writer(&multi, &probe->session, "/locks/x"), LS_ENOMEM);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_multi_add_leases(&multi, &probe->session, "/locks/x", 2, 1), LS_ENOMEM);
    process_mark(0)->fail_in = 0;
    assert_int_equal(ls_multi_add_mutex(&multi, &probe->session, "/locks/x"), 0);
    assert_int_equal(ls_multi_close(&multi), LS_OK);
}

static void members_need_memory(void **state)
{
    (void)state;
    with(add_without_memory);
    stage_end();
}

static void no_member_is_added_later(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_job(0, add_late);
    end();
}

static void acquire_without_memory(struct probe *probe)
{
    (void)probe;
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_multi_acquire_start(&multi, 1, -1), LS_ENOMEM);
    process_mark(0)->fail_in = 2;
    assert_int_equal(ls_multi_acquire_start(&multi, 1, -1), LS_ENOMEM); /* of the first member */
    process_mark(0)->fail_in = 0;
    assert_int_equal(ls_multi_release_start(&multi, 1), LS_ENOTOWNER);
}

static void fail_next_allocation(struct probe *probe)
{
    (void)probe;
    process_mark(0)->fail_in = 1;
}

static void a_later_member_needs_memory_too(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire x", "settle");
    acquire(1);
    stage_forget();
    stage_job(0, fail_next_allocation);
    play("b release x", "settle");
    told("1 ENOMEM of 0; b freed"); /* x was granted, y was not asked for */
    assert_int_equal(stage.nodes, 0);
    end();
}

static void an_acquire_needs_memory(void **state)
{
    (void)state;
    with(open_two);
    stage_job(0, acquire_without_memory);
    play("settle");
    told("");
    end();
}

/* ---- close ---- */

static void a_close_ends_all(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    acquire(2);
    stage_forget();
    stage_job(0, close_multi);
    told("1 lost 0; 2 ECLOSED of 1");
    play("settle");
    assert_clean(0);
    stage_end();
}

static void a_close_answers_a_release(void **state)
{
    (void)state;
    with(open_two);
    acquire(1);
    stage_forget();
    assert_int_equal(begin(start_release, 1), LS_OK);
    stage_job(0, close_multi);
    told("1 freed EUNSURE");
    play("settle");
    assert_clean(0);
    stage_end();
}

static void close_inside(void)
{
    assert_int_equal(ls_multi_close(&multi), LS_EDEADLK);
    assert_int_equal(ls_multi_acquire(&multi, -1), LS_EDEADLK);
    assert_int_equal(ls_multi_release(&multi), LS_EDEADLK);
    assert_int_equal(ls_multi_release_start(&multi, 1), LS_OK);
}

static void a_callback_may_release_and_may_not_wait(void **state)
{
    (void)state;
    with(open_two);
    in_done = close_inside;
    acquire(1);
    told("1 granted; 1 freed");
    in_done = NULL;
    assert_int_equal(stage.nodes, 0);
    end();
}

/* ---- the blocking shell ---- */

static void use_both(struct probe *probe)
{
    struct ls_multi_outcome outcome;
    (void)probe;
    sleeps = 0;
    meanwhile = settle;
    assert_int_equal(ls_multi_acquire_outcome(&multi, -1, &outcome), LS_OK);
    assert_int_equal(outcome.depth, 1);
    assert_int_equal(outcome.member, -1);
    assert_int_equal(sleeps, 1);
    uint64_t me = ls_env_self(multi.env);
    assert_int_equal(ls_multi_query(&multi, me), LS_HELD);
    assert_int_equal(ls_multi_try(&multi), LS_OK);
    assert_int_equal(ls_multi_acquire_outcome(&multi, 0, &outcome), LS_OK);
    assert_int_equal(outcome.depth, 3);
    assert_int_equal(ls_multi_release(&multi), LS_OK);
    assert_int_equal(ls_multi_release(&multi), LS_OK);
    assert_int_equal(sleeps, 1);
    assert_int_equal(stage.nodes, 2);
    assert_int_equal(ls_multi_release(&multi), LS_OK);
    assert_int_equal(sleeps, 2);
    assert_int_equal(ls_multi_release(&multi), LS_ENOTOWNER);
    assert_int_equal(ls_multi_query(&multi, me), LS_NOT_HELD);
}

static void a_thread_waits_for_all(void **state)
{
    (void)state;
    with(open_two);
    stage_job(0, use_both);
    play("settle");
    told("");
    assert_int_equal(stage.nodes, 0);
    end();
}

static void try_in_vain(struct probe *probe)
{
    struct ls_multi_outcome outcome;
    (void)probe;
    sleeps = 0;
    meanwhile = settle;
    assert_int_equal(ls_multi_acquire_outcome(&multi, 0, &outcome), LS_EBUSY);
    assert_int_equal(outcome.rc, LS_EBUSY);
    assert_int_equal(outcome.member, 0);
    assert_int_equal(outcome.depth, 0);
    assert_int_equal(ls_multi_try(&multi), LS_EBUSY);
}

static void a_thread_is_refused(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    stage_forget();
    stage_job(0, try_in_vain);
    play("settle");
    assert_int_equal(stage.nodes, 1);
    end();
}

/* ---- revocation ---- */

static void leases_are_not_asked_for(void **state)
{
    (void)state;
    with(open_leases);
    acquire(5);
    stage_forget();
    assert_non_null(strstr(stage.node[0], "/leases/"));
    stage_job(1, ask_as_curator);
    play("settle");
    told("");
    end();
}

/* It stands in the node of the member. */
static void a_request_waits_until_all_are_granted(void **state)
{
    (void)state;
    with(open_two);
    play("b acquire y", "settle");
    acquire(5); /* a has x, and waits for y */
    stage_forget();
    stage_job(1, ask_for_node_of_x);
    play("settle");
    told("");
    play("b release y", "settle");
    told("5 granted; 5 asked for 1; b:1 freed");
    end();
}

static void a_request_names_the_member(void **state)
{
    (void)state;
    with(open_two);
    acquire(5);
    stage_forget();
    stage_job(1, ask_for_x);
    play("settle");
    told("5 asked for 1");
    release(5);
    acquire(5);
    stage_forget();
    stage_job(1, ask_as_curator);
    play("settle");
    told("5 asked for 1");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_granted_together),
        cmocka_unit_test(members_are_asked_for_by_path),
        cmocka_unit_test(a_holder_of_one_keeps_the_whole_waiting),
        cmocka_unit_test(members_are_released_in_reverse_order),
        cmocka_unit_test(a_refusal_gives_back_in_reverse_order),
        cmocka_unit_test(who_is_refused_holds_nothing),
        cmocka_unit_test(a_refusal_of_a_server_has_its_code),
        cmocka_unit_test(a_deadline_is_for_all),
        cmocka_unit_test(a_deadline_is_kept_during_an_outage),
        cmocka_unit_test(a_try_takes_all_or_none),
        cmocka_unit_test(a_cancel_ends_the_wait),
        cmocka_unit_test(an_answer_to_a_former_acquire_is_none),
        cmocka_unit_test(owners_exclude_each_other),
        cmocka_unit_test(an_owner_holds_as_often_as_it_likes),
        cmocka_unit_test(an_expiry_is_one_loss),
        cmocka_unit_test(a_loss_is_not_told_of_the_next_acquire),
        cmocka_unit_test(levels_of_two_losses_add_up),
        cmocka_unit_test(a_deleted_node_is_the_loss_of_all),
        cmocka_unit_test(a_deleted_node_of_a_half_is_the_loss_of_all),
        cmocka_unit_test(a_deleted_lease_is_told_by_the_release),
        cmocka_unit_test(a_foreign_child_is_told),
        cmocka_unit_test(a_member_lost_during_the_acquire_is_asked_for_again),
        cmocka_unit_test(an_expiry_during_the_acquire_does_not_end_it),
        cmocka_unit_test(a_restart_leaves_its_answers_behind),
        cmocka_unit_test(an_expiry_before_the_first_grant_does_not_end_it),
        cmocka_unit_test(all_are_released_whatever_becomes_of_one),
        cmocka_unit_test(kinds_may_be_mixed),
        cmocka_unit_test(a_lost_session_loses_all_kinds),
        cmocka_unit_test(readers_share),
        cmocka_unit_test(of_several_leases_the_first_counts),
        cmocka_unit_test(callbacks_may_be_missing),
        cmocka_unit_test(nodes_have_the_acl_of_the_multi),
        cmocka_unit_test(members_are_counted_together),
        cmocka_unit_test(counters_are_those_that_are_named),
        cmocka_unit_test(a_session_that_is_closed_takes_the_others_along),
        cmocka_unit_test(equal_paths_are_asked_for_as_they_were_added),
        cmocka_unit_test(a_loss_waits_for_the_end_of_on_done),
        cmocka_unit_test(the_member_with_the_least_time_counts),
        cmocka_unit_test(a_write_with_all_guards_needs_all_members),
        cmocka_unit_test(each_member_has_a_guard),
        cmocka_unit_test(members_have_bounds),
        cmocka_unit_test(members_need_memory),
        cmocka_unit_test(no_member_is_added_later),
        cmocka_unit_test(a_later_member_needs_memory_too),
        cmocka_unit_test(an_acquire_needs_memory),
        cmocka_unit_test(a_close_ends_all),
        cmocka_unit_test(a_close_answers_a_release),
        cmocka_unit_test(a_callback_may_release_and_may_not_wait),
        cmocka_unit_test(a_thread_waits_for_all),
        cmocka_unit_test(a_thread_is_refused),
        cmocka_unit_test(leases_are_not_asked_for),
        cmocka_unit_test(a_request_waits_until_all_are_granted),
        cmocka_unit_test(a_request_names_the_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
