/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex as a recipe: what a driver is told, and that numbers out of range are refused. */
#include "lock/claim.h"
#include "stage.h"
#include "state/canon.h"
#include "support/handles.h"

#include <errno.h>

extern const struct ls_recipe ls_recipe_mutex;

static char seen[STAGE_TEXT];
static int answers;   /* to requests to give a lock back */
static int warned_of; /* which lock */

/* ---- what stands in the nodes of contenders ---- */

static char contents[16]; /* of the last */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data);
int __real_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t done,
                        const void *data)
{
    snprintf(contents, sizeof contents, "%.*s", size, value ? value : "");
    return __real_zoo_acreate2(zh, path, value, size, acl, mode, done, data);
}

/* ---- timers that cannot be had ---- */

static const char *refused_timer = "";

int __wrap_ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    if (strcmp(name, refused_timer) == 0)
        return LS_ENOMEM;
    return __real_ls_env_timer_start(env, timer, name, delay_ms, fn, ctx);
}

/* ---- what a driver is told ---- */

static void see(void *ctx, const struct event *event)
{
    (void)ctx;
    assert_int_not_equal(event->kind, EVENT_MISBEHAVED);
    answers += event->kind == EVENT_REVOKE_SENT;
    if (event->kind == EVENT_WARNED)
        warned_of = event->lock;
    if (event->kind <= EVENT_READ_ONLY)
        stage_add(seen, "%s%s%s", event_name((enum event_kind)event->kind), event->code ? " " : "",
                  event->code == 0                                ? ""
                  : event->code > 0 || event->kind == EVENT_ASKED ? (event->code == 1 ? "1" : "2")
                                                                  : stage_err(event->code));
}

static void recipe_world(int processes)
{
    stage_set(processes);
    stage.options.recipe = &ls_recipe_mutex;
    stage.options.locks = 2;
    stage.options.lock_path[1] = "/locks/y";
    stage.options.contents = "host";
    if (the_world.arena.base)
        world_close(&the_world);
    stage.world = world_open(&stage.options, see, NULL);
    assert_non_null(stage.world);
    world_begin(stage.world);
    play("settle");
    seen[0] = 0;
}

#define saw(expected) stage_expect(__FILE__, __LINE__, seen, (expected))

static void grants_and_releases_are_reported(void **state)
{
    (void)state;
    recipe_world(1);
    play("a acquire x", "settle", "a acquire x");
    assert_string_equal(contents, "host");
    saw("asked 2; granted 1; asked 2; granted 2");
    play("a release x", "a release x", "settle");
    saw("released 1; released; freed");
    play("a release x");
    saw("refused ENOTOWNER");
    play("a stop", "a start", "settle");
    saw("connected");
    world_close(stage.world);
}

static uint32_t heap_of_a(void)
{
    const struct arena_block *block = arena_at(&the_world.arena, the_world.heap_block[0]);
    return block->used;
}

/* The world would take it back, a driver on a real server does not. */
static void a_stopped_recipe_keeps_no_memory(void **state)
{
    (void)state;
    recipe_world(1);
    play("a stop");
    uint32_t before = heap_of_a();
    play("a start", "settle", "a acquire x", "settle", "a release x", "settle");
    assert_true(heap_of_a() > before + ls_recipe_mutex.state_size);
    fakezk_enter(0);
    ls_recipe_mutex.stop(process_state(0));
    fakezk_leave();
    assert_int_equal(heap_of_a(), before + ls_recipe_mutex.state_size);
    world_close(stage.world);
}

static void failures_and_losses_are_reported(void **state)
{
    (void)state;
    recipe_world(2);
    play("a acquire y", "settle", "b acquire y owner=3", "settle", "b cancel y owner=3", "settle");
    saw("asked 2; granted 1; asked 2; canceled; failed ECANCELED; idle");
    play("expire a", "settle", "a release y");
    saw("suspended; lost; connected; refused ELOST");
    play("cut a keep=0 apply=0 rc=-4", "settle");
    saw("suspended; reconnected");
    world_close(stage.world);
}

static void warnings_are_reported(void **state)
{
    (void)state;
    recipe_world(1);
    play("create /locks/x/.hidden", "a acquire x", "settle");
    saw("asked 2; warned 1; granted 1");
    assert_int_equal(warned_of, 0);
    play("create /locks/y/.hidden", "a acquire y", "settle");
    saw("asked 2; warned 1; granted 1");
    assert_int_equal(warned_of, 1);
    world_close(stage.world);
}

static void a_driver_can_see_that_the_janitor_has_work(void **state)
{
    (void)state;
    recipe_world(1);
    assert_true(ls_recipe_mutex.idle(process_state(0)));
    play("a acquire x", "apply s1 a create", "a cancel x");
    assert_false(ls_recipe_mutex.idle(process_state(0)));
    assert_false(world_at_rest(stage.world));
    play("settle");
    assert_true(ls_recipe_mutex.idle(process_state(0)));
    world_close(stage.world);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    recipe_world(1);
    static const int wrong[] = {-1, 2, 99};
    zoo_op_t op;
    char path[FAKEZK_PATH_MAX];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ls_recipe_mutex.acquire(process_state(0), wrong[i], 0, -1), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.cancel(process_state(0), wrong[i], 0), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.release(process_state(0), wrong[i], 0), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.query(process_state(0), wrong[i], 0), LS_NOT_HELD);
        assert_int_equal(ls_recipe_mutex.revocable(process_state(0), wrong[i]), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.revoke(process_state(0), wrong[i], 1), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.revoke(process_state(0), 0, -i), LS_EINVAL);
        assert_int_equal(ls_recipe_mutex.guard(process_state(0), wrong[i], 0, &op, path, sizeof path),
                         LS_EINVAL);
    }
    world_close(stage.world);
}

static void a_guard_is_given_to_a_holder_alone(void **state)
{
    (void)state;
    zoo_op_t op;
    char path[FAKEZK_PATH_MAX];
    recipe_world(1);
    assert_int_equal(ls_recipe_mutex.guard(process_state(0), 0, 0, &op, path, sizeof path), LS_ENOTOWNER);
    play("a acquire x", "settle");
    assert_int_equal(ls_recipe_mutex.guard(process_state(0), 0, 0, &op, path, 5), LS_EOVERFLOW);
    assert_int_equal(ls_recipe_mutex.guard(process_state(0), 0, 0, &op, path, sizeof path), LS_OK);
    assert_int_equal(ls_recipe_mutex.guard(process_state(0), 0, 1, &op, path, sizeof path), LS_ENOTOWNER);
    world_close(stage.world);
}

static void a_recipe_without_memory_does_not_start(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) {
        recipe_world(1);
        play("a stop");
        process_mark(0)->fail_in = (uint8_t)n;
        struct action start = {.kind = ACTION_START};
        assert_int_equal(world_apply(stage.world, &start), 0);
        assert_string_equal(world_trouble(stage.world), "the recipe does not start: out of memory");
        world_close(stage.world);
    }
}

static void a_recipe_without_a_handle_does_not_start(void **state)
{
    (void)state;
    recipe_world(1);
    play("a stop");
    handles_unopened = 1;
    handles_error = EINVAL;
    struct action start = {.kind = ACTION_START};
    assert_int_equal(world_apply(stage.world, &start), 0);
    assert_int_equal(handles_unopened, 0);
    assert_string_equal(world_trouble(stage.world),
                        "the recipe does not start: ZooKeeper refused the request");
    world_close(stage.world);
}

static void a_recipe_without_a_timeout_does_not_start(void **state)
{
    (void)state;
    static const char *const paths[] = {"/locks/x"};
    const struct ls_recipe_config config = {.hosts = "localhost:2181", .lock_paths = paths, .lock_count = 1};
    recipe_world(1);
    play("a stop", "a start");
    struct ls_env *env = the_world.env[0];
    play("a stop");
    static struct {
        max_align_t aligned[64];
    } room;
    assert_true(sizeof room >= ls_recipe_mutex.state_size);
    fakezk_enter(0);
    assert_int_equal(ls_recipe_mutex.start(&room, env, &config), LS_EINVAL);
    fakezk_leave();
    world_close(stage.world);
}

/* The session gives up behind the loss, and has no ZooKeeper session any more that could be lost. */
static void a_loss_is_told_once_if_no_handle_follows(void **state)
{
    (void)state;
    recipe_world(1);
    refused_timer = "reopen-timer";
    play("expire a", "settle");
    refused_timer = "";
    saw("suspended; lost");
    world_close(stage.world);
}

/* Whichever allocation fails on the way, who asked is told once. */
static void a_request_to_give_back_is_answered_once(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++) {
        recipe_world(2);
        play("b revocable x", "b acquire x", "settle");
        answers = 0;
        process_mark(0)->fail_in = (uint8_t)n;
        struct action ask = {.kind = ACTION_REVOKE, .c = 1};
        bool taken = world_apply(stage.world, &ask) == 0;
        play("settle");
        assert_int_equal(answers, taken);
        world_close(stage.world);
    }
}

static void show_no_judges(void *judges, struct canon *canon)
{
    (void)judges;
    (void)canon;
}

/* Returns the fingerprint, up to renaming, of a world in which the claim has lost so many creates. */
static uint64_t fingerprint_after(int losses, uint8_t budget)
{
    recipe_world(1);
    stage.options.budget[WORLD_FAULT_LOSS] = budget;
    stage.options.judge_canon = show_no_judges;
    stage.options.timed = false;
    world_reset(stage.world, &stage.options);
    world_begin(stage.world);
    play("settle", "a acquire x");
    struct ls_session *session = process_state(0);
    session->claims->lost = (uint16_t)losses;
    struct canon *canon = world_canon(stage.world);
    assert_non_null(canon);
    uint64_t fingerprint = canon_fingerprint(canon);
    canon_close(canon);
    world_close(stage.world);
    return fingerprint;
}

/* The eighth lost create in a row has an effect, so a search with eight losses tells the counts apart. */
static void lost_creates_count_if_enough_can_be_lost(void **state)
{
    (void)state;
    assert_true(fingerprint_after(1, 7) == fingerprint_after(3, 7));
    assert_true(fingerprint_after(1, 8) != fingerprint_after(3, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_and_releases_are_reported),
        cmocka_unit_test(a_stopped_recipe_keeps_no_memory),
        cmocka_unit_test(failures_and_losses_are_reported),
        cmocka_unit_test(warnings_are_reported),
        cmocka_unit_test(a_driver_can_see_that_the_janitor_has_work),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(a_guard_is_given_to_a_holder_alone),
        cmocka_unit_test(a_recipe_without_memory_does_not_start),
        cmocka_unit_test(a_recipe_without_a_handle_does_not_start),
        cmocka_unit_test(a_recipe_without_a_timeout_does_not_start),
        cmocka_unit_test(a_loss_is_told_once_if_no_handle_follows),
        cmocka_unit_test(a_request_to_give_back_is_answered_once),
        cmocka_unit_test(lost_creates_count_if_enough_can_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
