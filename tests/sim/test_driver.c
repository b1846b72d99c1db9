/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The world's side of <lockstep/recipe.h>: the state and configuration that a recipe gets, the time of each
 * call, and the effect of each answer. The recipe here is a probe, which grants at once and notes its
 * calls. The mutex takes its place where only a whole recipe will do: for revocation, guards and closes. */
#include "scenario/recipes.h"
#include "scenario/run.h"
#include "sim/world.h"
#include "state/canon.h"

#include <lockstep/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <zookeeper/zookeeper.h>

#include <cmocka.h>

#define MAGIC UINT64_C(0x5ca1ab1e0ddba11)

/* ---- the probe ---- */

struct probe {
    uint64_t magic;
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer timer;
    bool held;
    bool apart; /* handle() returns NULL */
    int failures;
    int64_t zxid, session;
    int32_t sequence;
    uint8_t attempt[16];
    char text[80];
};

/* Settings and observations of the probe. */
static struct {
    int start_rc, close_rc, open_rc;
    bool arms_timer, denies;
    bool fails;          /* an acquire fails by a report: busy */
    bool refuses;        /* an acquire is refused, after its reports */
    bool doubts;         /* the timer ends the belief */
    const char *timer;   /* name of the timer; NULL = probe-timer */
    bool arms_later;     /* an acquire starts the timer */
    bool rearms;         /* the timer starts itself again */
    int timer_rc;        /* result of the timer's start */
    bool waits;          /* an acquire is not answered, and any owner gets a guard */
    bool takes_anything; /* a cancel and a release return 0 for any owner */
    bool frees_another;  /* a release reports FREED of the next owner too */
    bool was_zeroed, was_aligned;
    struct ls_recipe_config config;
    thrd_t thread;
    bool other_thread, other_state, other_config;
    int calls, fired, idle_asked, acquired, wrong_asked;
    const char *wrong;
    char guard_path[64];
    int writes, write_rc; /* number of calls of multi(); their result in place of sending, 0 = they send */
    char write_path[64];
} seen;

/* Each function of the probe begins with this. It takes the mutex, which must be free. */
static struct probe *visit(const void *state)
{
    struct probe *probe = (struct probe *)(uintptr_t)state;
    seen.calls++;
    ls_env_lock(probe->env);
    seen.other_state |= probe->magic != MAGIC;
    ls_env_unlock(probe->env);
    seen.other_thread |= !thrd_equal(seen.thread, thrd_current());
    /* Padding counts: no code writes to it. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    seen.other_config |= memcmp(probe->config, &seen.config, sizeof seen.config) != 0;
    return probe;
}

static void probe_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh, (void)path;
    struct probe *probe = visit(ctx);
    bool connected = type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE;
    if (connected) {
        ls_report(probe->env, &(struct ls_report){.kind = LS_REPORT_CONNECTED, .session = 1});
    }
}

static void probe_timer(void *ctx);

static void start_timer(struct probe *probe)
{
    const char *name = seen.timer != NULL ? seen.timer : "probe-timer";
    seen.timer_rc = ls_env_timer_start(probe->env, &probe->timer, name, 10, probe_timer, probe);
}

static void probe_timer(void *ctx)
{
    seen.fired++;
    if (seen.rearms) {
        start_timer(ctx);
    }
}

static void arm(struct probe *probe)
{
    ls_env_lock(probe->env);
    start_timer(probe);
    ls_env_unlock(probe->env);
}

static int probe_start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    static const struct probe zeros;
    struct probe *probe = state;
    /* With its padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    seen.was_zeroed = memcmp(state, &zeros, sizeof zeros) == 0;
    seen.was_aligned = (uintptr_t)state % 8 == 0;
    seen.config = *config;
    probe->magic = MAGIC;
    probe->env = env;
    probe->config = config;
    visit(state);
    if (seen.start_rc == 0) {
        probe->zh = zookeeper_init(config->hosts, probe_event, config->session_timeout_ms, NULL, probe, 0);
    }
    if (seen.arms_timer) {
        arm(probe);
    }
    return seen.start_rc;
}

/* Leaves the timer armed. */
static void probe_stop(void *state)
{
    zookeeper_close(visit(state)->zh);
}

static int probe_acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct probe *probe = visit(state);
    (void)timeout_ms;
    seen.acquired++;
    if (seen.arms_later) {
        arm(probe);
    }
    if (seen.waits) {
        return 0;
    }
    if (seen.fails) {
        ls_report(probe->env, &(struct ls_report){
                                  .kind = LS_REPORT_FAILED, .lock = lock, .owner = owner, .rc = LS_EBUSY});
        return seen.refuses ? LS_ENOMEM : 0;
    }
    probe->held = true;
    ls_report(
        probe->env,
        &(struct ls_report){
            .kind = LS_REPORT_GRANTED, .lock = lock, .owner = owner, .depth = 1, .token = 5, .session = 1});
    return 0;
}

static int probe_cancel(void *state, int lock, int owner)
{
    (void)lock, (void)owner;
    visit(state);
    return seen.takes_anything ? 0 : LS_ENOENT;
}

static int probe_release(void *state, int lock, int owner)
{
    struct probe *probe = visit(state);
    if (!probe->held) {
        return seen.takes_anything ? 0 : LS_ENOTOWNER;
    }
    probe->held = false;
    ls_report(probe->env, &(struct ls_report){.kind = LS_REPORT_FREED, .lock = lock, .owner = owner});
    if (seen.frees_another) {
        ls_report(probe->env, &(struct ls_report){.kind = LS_REPORT_FREED, .lock = lock, .owner = owner + 1});
    }
    return 0;
}

static enum ls_belief probe_query(const void *state, int lock, int owner)
{
    (void)lock, (void)owner;
    enum ls_belief belief = visit(state)->held && !seen.denies ? LS_HELD : LS_NOT_HELD;
    return seen.doubts && seen.fired > 0 ? LS_UNKNOWN : belief;
}

static bool probe_idle(const void *state)
{
    visit(state);
    seen.idle_asked++;
    return true;
}

static const char *probe_wrong(const void *state)
{
    (void)state;
    seen.wrong_asked++;
    return seen.wrong;
}

static int probe_guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct probe *probe = visit(state);
    (void)owner;
    if (!probe->held && !seen.waits) {
        return LS_ENOTOWNER;
    }
    snprintf(path, size, "%s/no-such-node", probe->config->lock_paths[lock]);
    snprintf(seen.guard_path, sizeof seen.guard_path, "%s", path);
    zoo_check_op_init(op, path, -1);
    return 0;
}

static zhandle_t *probe_handle(const void *state)
{
    const struct probe *probe = visit(state);
    return probe->apart ? NULL : probe->zh;
}

static int probe_multi(void *state, int ops_count, const zoo_op_t *ops, zoo_op_result_t *results,
                       void_completion_t completion, const void *data)
{
    const struct probe *probe = visit(state);
    seen.writes++;
    snprintf(seen.write_path, sizeof seen.write_path, "%s", ops[0].check_op.path);
    if (seen.write_rc != 0) {
        return seen.write_rc;
    }
    return zoo_amulti(probe->zh, ops_count, ops, results, completion, data);
}

static int probe_revocable(void *state, int lock)
{
    (void)lock;
    visit(state);
    return 0;
}

static int probe_revoke(void *state, int lock, int place)
{
    (void)lock, (void)place;
    visit(state);
    return LS_EINVAL;
}

static void probe_canon(const void *state, struct ls_rename *rename)
{
    const struct probe *probe = state;
    rename->zxid(rename, &probe->zxid);
    rename->session(rename, &probe->session);
    rename->sequence(rename, &probe->sequence);
    rename->attempt(rename, probe->attempt);
    rename->text(rename, probe->text);
    rename->delay(rename, &probe->failures, sizeof probe->failures);
}

static int probe_close(void *state, int lock)
{
    (void)lock;
    struct probe *probe = visit(state);
    probe->held = probe->held && seen.close_rc != 0;
    return seen.close_rc;
}

static int probe_open(void *state, int lock)
{
    (void)lock;
    visit(state);
    return seen.open_rc;
}

static const struct ls_recipe PROBE = {
    .name = "probe",
    .summary = "grants at once, and notes how it is called",
    .state_size = sizeof(struct probe),
    .start = probe_start,
    .stop = probe_stop,
    .acquire = probe_acquire,
    .cancel = probe_cancel,
    .release = probe_release,
    .query = probe_query,
    .idle = probe_idle,
    .guard = probe_guard,
    .handle = probe_handle,
    .revocable = probe_revocable,
    .revoke = probe_revoke,
    .canon = probe_canon,
    .close = probe_close,
    .open = probe_open,
    .in_reports = true,
    .wrong = probe_wrong,
};

/* ---- a world with the probe ---- */

static struct ls_recipe recipe;
static struct scenario scenario;
static struct run run;
static struct event last[EVENT_KINDS];
static int count[EVENT_KINDS];

static void on_event(void *ctx, const struct event *event)
{
    (void)ctx;
    count[event->kind]++;
    last[event->kind] = *event;
}

static int make_probe(void **state)
{
    (void)state;
    recipe = PROBE;
    memset(&seen, 0, sizeof seen);
    memset(count, 0, sizeof count);
    seen.thread = thrd_current();
    return 0;
}

static int make_mutex(void **state)
{
    make_probe(state);
    recipe = *recipe_find("mutex");
    return 0;
}

static void settle(void)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    bool moved = true;
    while (moved) {
        int listed = world_actions(run.world, actions);
        moved = listed > 0 && action_has(&actions[0], TRAIT_STEP);
        if (moved) {
            world_do(run.world, &actions[0]);
        }
    }
}

static void begin_in(const char *world, const char *programs)
{
    static struct run_setup setup;
    static char text[400];
    struct input_error error;
    snprintf(text, sizeof text, "%s\nmutex /locks/x\n%s\n----\n", world, programs);
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    setup = (struct run_setup){.scenario = &scenario, .recipe = &recipe, .schedule = SCHEDULE_SEARCH};
    assert_int_equal(run_init(&run, &setup), 0);
    run_begin(&run, SCHEDULE_SEARCH, 1);
    world_set_observer(run.world, on_event, NULL);
    settle();
}

static void begin(const char *programs)
{
    begin_in("world used untimed", programs);
}

static int end(void **state)
{
    (void)state;
    run_close(&run);
    scenario_close(&scenario);
    return 0;
}

static bool possible(const char *label)
{
    struct action action;
    const char *why;
    return world_find(run.world, label, &action, &why) == 0 && world_enabled(run.world, &action);
}

/* Returns the place of the label's action in its program, if the program is there now; -1 = it is not. */
static int program_step(const char *label)
{
    struct action action;
    const char *why = "";
    assert_int_equal(world_find(run.world, label, &action, &why), 0);
    return world_program_step(run.world, &action);
}

static void take(const char *label)
{
    struct action action;
    const char *why = "";
    if (world_find(run.world, label, &action, &why) != 0 || world_apply(run.world, &action) != 0) {
        fail_msg("'%s' is not possible: %s", label, why);
    }
}

static struct probe *probe_of(int process)
{
    arena_mark(&the_world.arena, the_world.heap_block[process]);
    return process_state(process);
}

/* ---- the state and configuration of a process ---- */

static void the_state_is_zeroed(void **state)
{
    (void)state;
    begin("process a: stop start");
    assert_true(seen.was_zeroed);
    take("a stop");
    seen.was_zeroed = false;
    take("a start");
    assert_true(seen.was_zeroed);
}

static void the_state_is_aligned(void **state)
{
    (void)state;
    begin("process a: acquire");
    assert_true(seen.was_aligned);
}

static void use_everything(void)
{
    begin("process a: acquire write guarded nowait release revocable revoke close open stop");
    take("a acquire");
    take("a write guarded");
    take("a release");
    take("a revocable");
    take("a revoke");
    take("a close");
    take("a open");
    settle();
    assert_true(world_rest(run.world));
    take("a stop");
    assert_true(seen.calls > 10);
}

static void nobody_else_writes_to_the_state(void **state)
{
    (void)state;
    use_everything();
    assert_false(seen.other_state);
}

static void the_mutex_is_free_in_each_function(void **state)
{
    (void)state;
    use_everything();
    assert_int_equal(count[EVENT_MISBEHAVED], 0);
}

static void all_calls_come_in_one_thread(void **state)
{
    (void)state;
    use_everything();
    assert_false(seen.other_thread);
}

static void the_configuration_stays_as_it_is(void **state)
{
    (void)state;
    use_everything();
    assert_false(seen.other_config);
}

static void the_configuration_is_that_of_the_scenario(void **state)
{
    (void)state;
    begin_in("world used untimed session-timeout=7s keep-fresh\nchroot /app\ncontents \"host-1\"",
             "mutex /locks/y\nprocess a: acquire x");
    const struct ls_recipe_config *config = &seen.config;
    const char *chroot = strchr(config->hosts, '/');
    assert_non_null(chroot);
    assert_string_equal(chroot, "/app");
    assert_int_equal(config->lock_count, 2);
    assert_string_equal(config->lock_paths[0], "/locks/x");
    assert_string_equal(config->lock_paths[1], "/locks/y");
    assert_int_equal(config->session_timeout_ms, 7000);
    assert_int_equal(config->contents_size, 6);
    assert_memory_equal(config->contents, "host-1", 6);
    assert_true(config->keep_fresh);
}

static void without_contents_there_are_none(void **state)
{
    (void)state;
    begin("process a: acquire");
    assert_null(seen.config.contents);
    assert_int_equal(seen.config.contents_size, 0);
    assert_false(seen.config.keep_fresh);
}

/* ---- life ---- */

static void a_start_that_fails_ends_the_run(void **state)
{
    (void)state;
    seen.start_rc = LS_ENOMEM;
    begin("process a: acquire");
    assert_non_null(world_trouble(run.world));
    assert_non_null(strstr(world_trouble(run.world), "does not start: out of memory"));
}

static void a_start_that_succeeds_does_not(void **state)
{
    (void)state;
    begin("process a: acquire");
    assert_null(world_trouble(run.world));
}

static void after_a_stop_nothing_is_called(void **state)
{
    (void)state;
    seen.arms_timer = true;
    begin("process a: acquire stop start acquire\nprocess b: acquire");
    take("a acquire");
    assert_true(possible("fire a probe-timer"));
    take("a stop");
    int calls = seen.calls;
    settle();
    assert_int_equal(seen.calls, calls);
    seen.arms_timer = false;
    take("a start");
    assert_false(possible("fire a probe-timer"));
}

static void a_report_may_come_before_the_acquire_returns(void **state)
{
    (void)state;
    begin("process a: acquire release acquire release");
    take("a acquire");
    take("a release");
    take("a acquire");
    take("a release");
    assert_int_equal(count[EVENT_GRANTED], 2);
    assert_int_equal(count[EVENT_FREED], 2);
}

/* The report and the refusal are an answer each, so the judges see two. */
static void a_refusal_behind_a_report_is_told(void **state)
{
    (void)state;
    begin("process a: acquire");
    seen.fails = seen.refuses = true;
    take("a acquire");
    assert_int_equal(count[EVENT_FAILED], 2);
    assert_int_equal(last[EVENT_FAILED].code, LS_ENOMEM);
}

static void a_release_may_free_what_another_owner_gave_back(void **state)
{
    (void)state;
    begin("process a: acquire release");
    seen.frees_another = true;
    take("a acquire");
    take("a release");
    assert_int_equal(count[EVENT_FREED], 2);
    assert_int_equal(last[EVENT_FREED].owner, 0); /* its FREED waits until its release is announced */
}

static void at_rest_a_recipe_is_asked_whether_it_is_idle(void **state)
{
    (void)state;
    begin("process a: acquire");
    int asked = seen.idle_asked; /* calls before, when nothing was under way */
    assert_true(world_rest(run.world));
    assert_int_equal(seen.idle_asked, asked + 1);
}

static bool always(const void *state)
{
    (void)state;
    return true;
}

/* The create of an acquire that is given up goes on. A recipe that waits for the lock may be idle. */
static void whose_node_is_created_is_asked_whether_it_is_idle(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        bool denies = round >= 2, gives_up = round % 2 == 1;
        recipe.idle = denies ? always : recipe.idle;
        if (round > 0) {
            end(NULL);
        }
        begin("process a: acquire");
        take("a acquire");
        assert_int_equal(count[EVENT_NODE_CREATED], round);
        if (gives_up) {
            take("a cancel");
        }
        settle();
        assert_int_equal(count[EVENT_NODE_CREATED], round + 1);
        assert_int_equal(last[EVENT_NODE_CREATED].cause, denies || !gives_up);
    }
}

static void a_recipe_without_the_question_is_idle(void **state)
{
    (void)state;
    recipe.idle = NULL;
    begin("process a: acquire");
    assert_true(world_rest(run.world));
    assert_int_equal(count[EVENT_REST], 1);
    assert_int_equal(count[EVENT_MISBEHAVED], 0);
}

/* ---- invariants ---- */

static void a_recipe_is_asked_what_is_wrong_after_each_call(void **state)
{
    (void)state;
    seen.arms_timer = true;
    begin("process a: acquire stop");
    int started = seen.wrong_asked;
    assert_true(started >= 2); /* after start(), and after the session event */
    take("fire a probe-timer");
    assert_int_equal(seen.wrong_asked, started + 1);
    take("a acquire");
    assert_int_equal(seen.wrong_asked, started + 2);
    take("a stop");
    assert_int_equal(seen.wrong_asked, started + 2);
    assert_int_equal(count[EVENT_MISBEHAVED], 0);
}

static void an_invariant_that_does_not_hold_is_told(void **state)
{
    (void)state;
    begin("process a: acquire");
    seen.wrong = "held != NULL";
    take("a acquire");
    assert_int_equal(count[EVENT_MISBEHAVED], 1);
    assert_int_equal(last[EVENT_MISBEHAVED].process, 0);
    assert_int_equal(last[EVENT_MISBEHAVED].code, EVENT_OFFENCE_WRONG);
    assert_string_equal(last[EVENT_MISBEHAVED].path, "held != NULL");
}

static void a_recipe_without_invariants_is_not_asked(void **state)
{
    (void)state;
    recipe.wrong = NULL;
    begin("process a: acquire");
    take("a acquire");
    assert_int_equal(seen.wrong_asked, 0);
}

/* ---- reports ---- */

static const struct event *told(const struct ls_report *report, int kind)
{
    memset(count, 0, sizeof count);
    the_world.running = 1 + 0;
    the_world.coordinator->enter(0);
    ls_report(the_world.env[0], report);
    the_world.coordinator->leave();
    the_world.running = 0;
    assert_int_equal(count[kind], 1);
    assert_int_equal(last[kind].process, 0);
    return &last[kind];
}

static void reports_of_acquires_are_told(void **state)
{
    (void)state;
    begin("process a: acquire");
    const struct event *event = told(
        &(struct ls_report){.kind = LS_REPORT_GRANTED, .owner = 3, .depth = 2, .token = 9}, EVENT_GRANTED);
    assert_int_equal(event->owner, 3);
    assert_int_equal(event->code, 2);
    assert_int_equal(event->zxid, 9);
    event = told(&(struct ls_report){.kind = LS_REPORT_FAILED, .owner = 3, .rc = LS_EBUSY}, EVENT_FAILED);
    assert_int_equal(event->owner, 3);
    assert_int_equal(event->code, LS_EBUSY);
    assert_int_equal(event->cause, 0);
    event = told(&(struct ls_report){.kind = LS_REPORT_FREED, .owner = 3, .rc = LS_ELOST}, EVENT_FREED);
    assert_int_equal(event->owner, 3);
    assert_int_equal(event->code, LS_ELOST);
}

static void reports_of_sessions_are_told(void **state)
{
    static const struct {
        enum ls_report_kind kind;
        int event;
    } KINDS[] = {{LS_REPORT_CONNECTED, EVENT_CONNECTED},
                 {LS_REPORT_SUSPENDED, EVENT_SUSPENDED},
                 {LS_REPORT_RECONNECTED, EVENT_RECONNECTED},
                 {LS_REPORT_LOST, EVENT_LOST},
                 {LS_REPORT_READ_ONLY, EVENT_READ_ONLY}};
    (void)state;
    begin("process a: acquire");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const struct event *event =
            told(&(struct ls_report){.kind = KINDS[i].kind, .session = 77}, KINDS[i].event);
        assert_int_equal(event->session, 77);
    }
}

static void other_reports_are_told(void **state)
{
    (void)state;
    begin_in("world used untimed", "mutex /locks/y\nprocess a: acquire x");
    const struct event *event = told(
        &(struct ls_report){.kind = LS_REPORT_WARNING, .lock = 1, .rc = LS_WARN_NODE_GONE}, EVENT_WARNED);
    assert_int_equal(event->lock, 1);
    assert_int_equal(event->code, LS_WARN_NODE_GONE);
    told(&(struct ls_report){.kind = LS_REPORT_IDLE}, EVENT_IDLE);
    event = told(&(struct ls_report){.kind = LS_REPORT_REVOKE, .lock = 1, .owner = 2, .token = 8},
                 EVENT_REVOKE_ASKED);
    assert_int_equal(event->lock, 1);
    assert_int_equal(event->owner, 2);
    assert_int_equal(event->zxid, 8);
    event = told(&(struct ls_report){.kind = LS_REPORT_ASKED, .lock = 1, .rc = LS_ENOENT}, EVENT_REVOKE_SENT);
    assert_int_equal(event->lock, 1);
    assert_int_equal(event->code, LS_ENOENT);
}

/* ---- functions that come in pairs ---- */

static void without_a_handle_nobody_can_guard(void **state)
{
    (void)state;
    recipe.handle = NULL;
    begin("process a: acquire write guarded");
    take("a acquire");
    assert_false(possible("a write guarded"));
}

/* A program passes over a guarded write that the recipe cannot guard, and does not stop in front of it. */
static void a_program_does_not_wait_for_a_guard(void **state)
{
    (void)state;
    recipe.guard = NULL;
    begin("process a: acquire write guarded release");
    take("a acquire");
    settle();
    assert_false(possible("a write guarded"));
    assert_int_equal(program_step("a release"), 2);
}

/* A program passes over its steps of revocation. */
static void without_one_of_both_revocation_is_unknown(void **state)
{
    (void)state;
    recipe.revoke = NULL;
    begin("process a: revocable revoke acquire");
    assert_true(possible("a acquire"));
    assert_false(possible("a revocable"));
}

static void without_one_of_both_nothing_is_closed(void **state)
{
    (void)state;
    recipe.open = NULL;
    begin("process a: close open acquire");
    assert_true(possible("a acquire"));
    assert_false(possible("a close"));
}

static int acquire_all(void *state, const int *locks, int lock_count, int owner, int timeout_ms)
{
    (void)state;
    (void)locks;
    (void)lock_count;
    (void)owner;
    (void)timeout_ms;
    return LS_EBUSY;
}

static int release_all(void *state, const int *locks, int lock_count, int owner)
{
    (void)state;
    (void)locks;
    (void)lock_count;
    (void)owner;
    return LS_ENOTOWNER;
}

static void without_one_of_both_nobody_asks_for_several(void **state)
{
    (void)state;
    recipe.acquire_all = acquire_all;
    recipe.release_all = release_all;
    begin_in("world used untimed", "mutex /locks/y\nprocess a: acquire x");
    assert_true(possible("a acquire x and y"));
    recipe.release_all = NULL;
    assert_false(possible("a acquire x and y"));
    recipe.release_all = release_all;
    recipe.acquire_all = NULL;
    assert_false(possible("a acquire x and y"));
}

/* A closed lock is not asked for beside an open one either: the step of a program is left out. */
static void of_several_locks_none_is_closed(void **state)
{
    (void)state;
    recipe.acquire_all = acquire_all;
    recipe.release_all = release_all;
    begin_in("world used untimed", "mutex /locks/y\nprocess a: close y acquire x and y acquire x");
    take("a close y");
    assert_false(possible("a acquire x and y"));
    assert_int_equal(program_step("a acquire x"), 2);
    take("a open y");
    assert_true(possible("a acquire x and y"));
}

/* ---- guarded writes ---- */

static const struct event *write_guarded(const struct ls_recipe *of)
{
    recipe = *of;
    begin("process a: acquire write guarded release");
    take("a acquire");
    settle();
    return &last[EVENT_WRITTEN];
}

/* A multi reports a result for each operation. The guard is the first operation. */
static void a_guard_goes_first(void **state)
{
    (void)state;
    const struct event *event = write_guarded(&PROBE);
    take("a write guarded");
    settle();
    assert_int_equal(count[EVENT_WRITTEN], 1);
    assert_int_equal(event->code, LS_ELOST); /* there is no such node */
}

static void nobody_who_waits_has_a_guard(void **state)
{
    (void)state;
    seen.waits = true;
    begin("process a: acquire");
    assert_int_equal(count[EVENT_MISBEHAVED], 0);
    take("a acquire");
    assert_int_equal(count[EVENT_MISBEHAVED], 1);
    assert_int_equal(last[EVENT_MISBEHAVED].code, EVENT_OFFENCE_GUARD);
}

static void a_cancel_without_an_acquire_is_refused(void **state)
{
    (void)state;
    begin("process a: acquire");
    seen.takes_anything = true;
    take("a acquire");
    assert_int_equal(count[EVENT_MISBEHAVED], 1);
    assert_int_equal(last[EVENT_MISBEHAVED].code, EVENT_OFFENCE_REFUSAL);
    assert_string_equal(last[EVENT_MISBEHAVED].path, "cancel() returns 0, not -6");
}

static void a_release_by_a_waiter_is_refused(void **state)
{
    (void)state;
    begin("process a: acquire");
    seen.waits = seen.takes_anything = true;
    take("a acquire");
    assert_int_equal(count[EVENT_MISBEHAVED], 2); /* the first is about the guard */
    assert_int_equal(last[EVENT_MISBEHAVED].code, EVENT_OFFENCE_REFUSAL);
    assert_string_equal(last[EVENT_MISBEHAVED].path, "release() returns 0, not -7");
}

static void whoever_holds_has_a_guard(void **state)
{
    (void)state;
    begin("process a: acquire release");
    take("a acquire");
    assert_int_equal(count[EVENT_GRANTED], 1);
    assert_int_equal(count[EVENT_MISBEHAVED], 0);
}

static void without_a_handle_a_write_waits_and_its_path_lasts(void **state)
{
    (void)state;
    const struct event *event = write_guarded(&PROBE);
    probe_of(0)->apart = true;
    take("a write guarded");
    settle();
    assert_int_equal(count[EVENT_WRITTEN], 0);
    assert_null(world_trouble(run.world));
    assert_string_equal(seen.guard_path, "/locks/x/no-such-node");
    probe_of(0)->apart = false;
    told(&(struct ls_report){.kind = LS_REPORT_CONNECTED, .session = 1}, EVENT_CONNECTED);
    settle();
    assert_int_equal(count[EVENT_WRITTEN], 1);
    assert_int_equal(event->code, LS_ELOST);
}

static void the_guard_of_a_hold_lets_its_write_pass(void **state)
{
    (void)state;
    const struct event *event = write_guarded(recipe_find("mutex"));
    assert_non_null(recipe.handle(process_state(0)));
    take("a write guarded");
    settle();
    assert_int_equal(count[EVENT_WRITTEN], 1);
    assert_int_equal(event->code, 0);
}

static void a_recipe_may_send_its_writes_itself(void **state)
{
    (void)state;
    struct ls_recipe sender = PROBE;
    sender.multi = probe_multi;
    const struct event *event = write_guarded(&sender);
    take("a write guarded");
    settle();
    assert_int_equal(seen.writes, 1);
    assert_string_equal(seen.write_path, "/locks/x/no-such-node");
    assert_int_equal(count[EVENT_WRITTEN], 1);
    assert_int_equal(event->code, LS_ELOST); /* there is no such node */
}

static void a_write_that_was_not_sent_is_over_or_sent_again(void **state)
{
    (void)state;
    struct ls_recipe sender = PROBE;
    sender.multi = probe_multi;
    seen.write_rc = LS_ECLOSED;
    const struct event *event = write_guarded(&sender);
    take("a write guarded");
    settle();
    assert_int_equal(count[EVENT_WRITTEN], 0);
    seen.write_rc = LS_EZK;
    told(&(struct ls_report){.kind = LS_REPORT_CONNECTED, .session = 1}, EVENT_CONNECTED);
    assert_int_equal(seen.writes, 2);
    assert_int_equal(count[EVENT_WRITTEN], 1);
    assert_int_equal(event->code, LS_EZK);
    told(&(struct ls_report){.kind = LS_REPORT_CONNECTED, .session = 1}, EVENT_CONNECTED);
    assert_int_equal(seen.writes, 2);
}

static void the_mutex_refuses_a_guard_by_its_codes(void **state)
{
    (void)state;
    zoo_op_t op;
    char path[256];
    write_guarded(recipe_find("mutex"));
    assert_int_equal(recipe.guard(process_state(0), 0, 0, &op, path, sizeof path), 0);
    assert_int_equal(recipe.guard(process_state(0), 0, 1, &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(recipe.guard(process_state(0), 0, 0, &op, path, 5), LS_EOVERFLOW);
    take("expire a");
    settle();
    assert_int_equal(recipe.guard(process_state(0), 0, 0, &op, path, sizeof path), LS_ELOST);
}

/* ---- revocation, by the mutex ---- */

static void two_in_line(const char *asks)
{
    char programs[200];
    snprintf(programs, sizeof programs, "process a: revocable acquire\nprocess b: acquire\nprocess c: %s",
             asks);
    begin(programs);
    take("a revocable");
    take("a acquire");
    settle();
    take("b acquire");
    settle();
    take("c revoke");
    settle();
}

static void a_revocable_holder_is_asked(void **state)
{
    (void)state;
    two_in_line("revoke");
    assert_int_equal(count[EVENT_REVOKE_ASKED], 1);
    assert_int_equal(last[EVENT_REVOKE_ASKED].process, 0);
}

static void who_asks_gets_one_answer(void **state)
{
    (void)state;
    two_in_line("revoke");
    assert_int_equal(count[EVENT_REVOKE_SENT], 1);
    assert_int_equal(last[EVENT_REVOKE_SENT].code, 0);
}

static void a_place_in_line_that_is_empty_is_told(void **state)
{
    (void)state;
    begin("process a: revoke");
    take("a revoke");
    settle();
    assert_int_equal(count[EVENT_REVOKE_SENT], 1);
    assert_int_equal(last[EVENT_REVOKE_SENT].code, LS_ENOENT);
}

static void what_is_refused_is_not_reported(void **state)
{
    (void)state;
    begin("process a: acquire");
    the_world.running = 1 + 0;
    the_world.coordinator->enter(0);
    assert_int_equal(recipe.revoke(process_state(0), 0, 0), LS_EINVAL);
    the_world.coordinator->leave();
    the_world.running = 0;
    settle();
    assert_int_equal(count[EVENT_REVOKE_SENT], 0);
}

/* ---- closing ---- */

static void a_mutex_that_was_given_back_is_not_held(void **state)
{
    (void)state;
    begin("process a: acquire release");
    take("a acquire");
    settle();
    take("a release");
    assert_int_equal(count[EVENT_FREED], 0);
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_NOT_HELD);
}

static void a_closed_mutex_is_held_by_nobody(void **state)
{
    (void)state;
    begin("process a: acquire close open acquire");
    take("a acquire");
    settle();
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_HELD);
    take("a close");
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_NOT_HELD);
    settle();
    assert_int_equal(count[EVENT_FREED], 0); /* a hold that a close gives back is not reported */
    assert_int_equal(count[EVENT_NODE_DELETED], 1);
}

static void a_close_answers_a_release_under_way(void **state)
{
    (void)state;
    begin("process a: acquire release close");
    take("a acquire");
    settle();
    take("a release");
    assert_int_equal(count[EVENT_FREED], 0);
    take("a close");
    assert_int_equal(count[EVENT_FREED], 1);
}

static void a_close_answers_a_pending_acquire(void **state)
{
    (void)state;
    begin("process a: acquire\nprocess b: acquire nowait close");
    take("a acquire");
    settle();
    take("b acquire");
    take("b close");
    assert_int_equal(count[EVENT_FAILED], 1);
    assert_int_equal(last[EVENT_FAILED].code, LS_ECLOSED);
    assert_int_equal(last[EVENT_FAILED].cause, 1);
}

static void a_stop_answers_a_pending_acquire(void **state)
{
    (void)state;
    begin("process a: acquire\nprocess b: acquire nowait stop");
    take("a acquire");
    settle();
    take("b acquire");
    take("b stop");
    assert_int_equal(count[EVENT_FAILED], 1);
    assert_int_equal(last[EVENT_FAILED].code, LS_ECLOSED);
    assert_int_equal(last[EVENT_FAILED].cause, 1);
}

static void assert_denied(void)
{
    assert_int_equal(count[EVENT_DOUBTS], 1);
    assert_int_equal(last[EVENT_DOUBTS].code, LS_NOT_HELD);
    assert_int_equal(last[EVENT_DOUBTS].cause, EVENT_DOUBT_DENIED);
}

static void a_hold_that_is_denied_at_once_is_told(void **state)
{
    (void)state;
    seen.denies = true;
    begin("process a: acquire acquire");
    take("a acquire");
    assert_int_equal(count[EVENT_BELIEVES], 0);
    assert_denied();
}

static void a_hold_that_is_denied_later_is_told(void **state)
{
    (void)state;
    begin("process a: acquire acquire");
    take("a acquire");
    assert_int_equal(count[EVENT_BELIEVES], 1);
    assert_int_equal(count[EVENT_DOUBTS], 0);
    seen.denies = true;
    take("a acquire");
    assert_denied();
}

static void a_hold_that_was_given_back_is_not_denied(void **state)
{
    (void)state;
    begin("process a: acquire release");
    take("a acquire");
    take("a release");
    assert_int_equal(count[EVENT_DOUBTS], 1);
    assert_int_equal(last[EVENT_DOUBTS].cause, EVENT_DOUBT_OTHER);
}

static const struct ls_timer_row timer_rows[] = {{"bell", LS_TIMER_DEADLINE}, {"deadline-1", LS_TIMER_WORK},
                                                 {"tick", LS_TIMER_UPKEEP},   {"look", LS_TIMER_POLL},
                                                 {"lease", LS_TIMER_RENEWAL}, {"turn", LS_TIMER_STEP},
                                                 {NULL, LS_TIMER_WORK}};

/* If a recipe has a table of timers, the table gives a timer's purpose; otherwise its name does. */
static void only_work_keeps_a_world_from_rest(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool table, rests;
    } timers[] = {{"bell", true, true},        {"bell", false, false},      {"tick", true, true},
                  {"deadline-1", true, false}, {"deadline-1", false, true}, {"fresh-1", true, false},
                  {"fresh-1", false, true},    {"other", true, false},      {"other", false, false},
                  {"look", true, false},       {"lease", true, false},      {"turn", true, false}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (i > 0) {
            end(NULL);
        }
        seen.arms_timer = true;
        seen.timer = timers[i].name;
        recipe.timers = timers[i].table ? timer_rows : NULL;
        begin("process a: acquire");
        assert_int_equal(world_at_rest(run.world), timers[i].rests);
    }
}

/* Without a change a poll or a renewal would bring nothing new. */
static void a_poll_or_renewal_fires_again_after_a_change_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *label;
        bool repeats;
    } timers[] = {
        {"look", "fire a look", true}, {"lease", "fire a lease", true}, {"tick", "fire a tick", false}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (i > 0) {
            end(NULL);
        }
        seen.arms_timer = seen.rearms = true;
        seen.timer = timers[i].name;
        recipe.timers = timer_rows;
        begin("process a: acquire acquire");
        take(timers[i].label);
        assert_int_equal(possible(timers[i].label), !timers[i].repeats);
        assert_true(world_at_rest(run.world));
        take("a acquire");
        assert_true(possible(timers[i].label));
    }
}

/* Without a change a retry would fail again. A thread does other work at each of its turns. */
static void a_thread_takes_turns_where_a_retry_waits_for_a_change(void **state)
{
    (void)state;
    static const struct {
        const char *name, *label;
        bool again;
    } timers[] = {{"deadline-1", "fire a deadline-1", false}, {"turn", "fire a turn", true}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (i > 0) {
            end(NULL);
        }
        seen.arms_timer = seen.rearms = true;
        seen.timer = timers[i].name;
        recipe.timers = timer_rows;
        begin("process a: acquire acquire");
        take(timers[i].label);
        assert_int_equal(possible(timers[i].label), timers[i].again);
        assert_int_equal(world_at_rest(run.world), false);
    }
}

static void a_recipe_for_another_coordinator_is_not_taken(void **state)
{
    (void)state;
    recipe.coordinator = "elsewhere";
    begin("process a: acquire");
    assert_non_null(world_trouble(run.world));
    assert_int_equal(seen.calls, 0);
    end(NULL);
    recipe.coordinator = "zookeeper";
    begin("process a: acquire");
    assert_null(world_trouble(run.world));
}

/* The function that starts a deadline can return to its caller that memory is short. */
static void only_the_start_of_a_deadline_can_fail(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int rc;
    } timers[] = {{"bell", LS_ENOMEM}, {"deadline-1", 0}, {"tick", 0}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (i > 0) {
            end(NULL);
        }
        seen.arms_later = true;
        seen.timer = timers[i].name;
        recipe.timers = timer_rows;
        begin("process a: acquire");
        take("fail-alloc a n=1");
        take("a acquire");
        assert_int_equal(seen.timer_rc, timers[i].rc);
    }
}

/* A belief may end with a timer, but not with the deadline of an acquire. */
static void a_belief_that_a_timer_ends_is_told_so(void **state)
{
    (void)state;
    static const struct {
        const char *name, *step;
        enum event_doubt doubt;
    } timers[] = {{"probe-timer", "fire a probe-timer", EVENT_DOUBT_TIMER},
                  {"bell", "fire a bell", EVENT_DOUBT_OTHER}};
    recipe.timers = timer_rows;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (i > 0) {
            end(NULL);
        }
        seen.arms_timer = seen.doubts = true;
        seen.fired = count[EVENT_DOUBTS] = 0;
        seen.timer = timers[i].name;
        begin("process a: acquire acquire");
        take("a acquire");
        take(timers[i].step);
        assert_int_equal(count[EVENT_DOUBTS], 1);
        assert_int_equal(last[EVENT_DOUBTS].code, LS_UNKNOWN);
        assert_int_equal(last[EVENT_DOUBTS].cause, timers[i].doubt);
    }
}

static void a_mutex_that_was_opened_again_is_acquired(void **state)
{
    (void)state;
    begin("process a: close open acquire");
    take("a close");
    take("a open");
    take("a acquire");
    settle();
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_HELD);
}

static void closed_locks_are_asked_for_nothing_but_belief(void **state)
{
    static const char *const STEPS[] = {"a acquire",   "a cancel", "a release",
                                        "a revocable", "a revoke", "a close"};
    (void)state;
    begin("process a: close open acquire");
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        assert_true(possible(STEPS[i]) || i == 1); /* nothing is pending to be cancelled */
    }
    take("a close");
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        assert_false(possible(STEPS[i]));
    }
    assert_true(possible("a open"));
}

static void a_close_that_is_refused_changes_nothing(void **state)
{
    (void)state;
    seen.close_rc = LS_EDEADLK;
    begin("process a: acquire close release acquire");
    take("a acquire");
    take("a close");
    assert_int_equal(last[EVENT_LOCK_CLOSED].code, LS_EDEADLK);
    assert_int_equal(world_belief(run.world, 0, 0, 0), LS_HELD);
    take("a release");
}

static void without_memory_a_lock_stays_closed(void **state)
{
    (void)state;
    seen.open_rc = LS_ENOMEM;
    begin("process a: close open acquire");
    take("a close");
    take("a open");
    assert_false(possible("a acquire"));
    assert_true(possible("a open"));
}

static void within_reports_steps_are_left_out(void **state)
{
    (void)state;
    recipe.in_reports = false;
    begin("process a: acquire on granted: acquire release");
    take("a acquire");
    assert_int_equal(seen.acquired, 1);
}

static void within_reports_steps_are_done(void **state)
{
    (void)state;
    begin("process a: acquire on granted: acquire release");
    take("a acquire");
    assert_int_equal(seen.acquired, 2);
}

static void a_failed_acquire_is_followed_by_its_own_step(void **state)
{
    (void)state;
    seen.fails = true;
    begin("process a: acquire on failed: acquire on granted: close release\nprocess b: acquire on granted: "
          "acquire");
    take("a acquire");
    assert_int_equal(seen.acquired, 2); /* the second acquire fails too, and no third one follows */
    assert_int_equal(count[EVENT_FAILED], 2);
    take("b acquire");
    assert_int_equal(seen.acquired, 3);
}

/* ---- numbers that grow ---- */

struct numbers {
    int64_t zxid, session;
    int32_t sequence;
    uint8_t attempt;
    int failures;
    const char *text;
};

static const struct numbers USUAL = {.zxid = 900,
                                     .session = 41,
                                     .sequence = 40,
                                     .attempt = 9,
                                     .failures = 1,
                                     .text = "/locks/x/lock-0000000050"};

/* Returns the fingerprint, up to renaming, of the world in which the first process has these numbers. */
static uint64_t fingerprint_with(const struct numbers *numbers)
{
    struct probe *probe = probe_of(0);
    probe->zxid = numbers->zxid;
    probe->session = numbers->session;
    probe->sequence = numbers->sequence;
    probe->failures = numbers->failures;
    probe->attempt[3] = numbers->attempt != 0;
    probe->attempt[15] = numbers->attempt;
    memset(probe->text, 0, sizeof probe->text);
    strcpy(probe->text, numbers->text);
    struct canon *canon = world_canon(run.world);
    assert_non_null(canon);
    uint64_t fingerprint = canon_fingerprint(canon);
    canon_close(canon);
    return fingerprint;
}

static bool counts_as_usual(struct numbers numbers)
{
    return fingerprint_with(&numbers) == fingerprint_with(&USUAL);
}

static void begin_numbers(const char *world)
{
    begin_in(world, "process a b: acquire release");
}

static void a_renamed_zxid_makes_no_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.zxid++;
    assert_true(counts_as_usual(other));
}

/* The other session is of the same process: session ids of two processes alternate. */
static void a_renamed_session_makes_no_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.session += 2;
    assert_true(counts_as_usual(other));
}

static void a_renamed_sequence_makes_no_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.sequence++;
    assert_true(counts_as_usual(other));
}

static void a_renamed_attempt_makes_no_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.attempt++;
    assert_true(counts_as_usual(other));
}

static void a_renamed_text_makes_no_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.text = "/locks/x/lock-0000000051";
    assert_true(counts_as_usual(other));
}

static void another_order_makes_a_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.sequence = 60; /* behind the number in the text */
    assert_false(counts_as_usual(other));
}

/* A sequence of -1 is no number. If it counted as one, it would be the least one, as 0 is. */
static void a_number_that_is_none_makes_a_difference(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers none = USUAL, zero = USUAL;
    none.sequence = -1;
    zero.sequence = 0;
    assert_true(fingerprint_with(&none) != fingerprint_with(&zero));
}

static void a_delay_makes_no_difference_without_a_clock(void **state)
{
    (void)state;
    begin_numbers("world used untimed");
    struct numbers other = USUAL;
    other.failures++;
    assert_true(counts_as_usual(other));
}

static void a_delay_makes_a_difference_by_the_clock(void **state)
{
    (void)state;
    begin_numbers("world used timed");
    struct numbers other = USUAL;
    other.failures++;
    assert_false(counts_as_usual(other));
}

static void without_canon_nothing_is_renamed(void **state)
{
    (void)state;
    recipe.canon = NULL;
    begin_numbers("world used untimed");
    assert_null(world_canon(run.world));
}

/* ---- promises of a recipe ---- */

static void nobody_watched(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh, (void)type, (void)state, (void)path, (void)ctx;
}

static void nobody_listed(int rc, const struct String_vector *names, const void *data)
{
    (void)rc, (void)names, (void)data;
}

static void nobody_set(int rc, const struct Stat *stat, const void *data)
{
    (void)rc, (void)stat, (void)data;
}

static const char *trouble_with_children(void)
{
    begin("process a: acquire");
    the_world.running = 1 + 0;
    the_world.coordinator->enter(0);
    zoo_awget_children(probe_of(0)->zh, "/locks/x", nobody_watched, NULL, nobody_listed, NULL);
    the_world.coordinator->leave();
    the_world.running = 0;
    return world_trouble(run.world);
}

static const char *trouble_with_data(void)
{
    begin("process a: acquire");
    the_world.running = 1 + 0;
    the_world.coordinator->enter(0);
    zoo_aset(probe_of(0)->zh, "/locks/x", "x", 1, -1, nobody_set, NULL);
    the_world.coordinator->leave();
    the_world.running = 0;
    return world_trouble(run.world);
}

static void a_watch_on_children_ends_the_run(void **state)
{
    (void)state;
    recipe.ignores_children = true;
    const char *trouble = trouble_with_children();
    assert_non_null(trouble);
    assert_non_null(strstr(trouble, "a watch on children"));
}

static void a_set_of_data_ends_the_run(void **state)
{
    (void)state;
    recipe.sets_no_data = true;
    const char *trouble = trouble_with_data();
    assert_non_null(trouble);
    assert_non_null(strstr(trouble, "data is set"));
}

static void who_says_nothing_of_itself_may_do_both(void **state)
{
    (void)state;
    assert_null(trouble_with_children());
    end(NULL);
    assert_null(trouble_with_data());
}

#define PROBE_TEST(name) cmocka_unit_test_setup_teardown(name, make_probe, end)
#define MUTEX_TEST(name) cmocka_unit_test_setup_teardown(name, make_mutex, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROBE_TEST(the_state_is_zeroed),
        PROBE_TEST(the_state_is_aligned),
        PROBE_TEST(nobody_else_writes_to_the_state),
        PROBE_TEST(the_mutex_is_free_in_each_function),
        PROBE_TEST(all_calls_come_in_one_thread),
        PROBE_TEST(the_configuration_stays_as_it_is),
        PROBE_TEST(the_configuration_is_that_of_the_scenario),
        PROBE_TEST(without_contents_there_are_none),
        PROBE_TEST(a_start_that_fails_ends_the_run),
        PROBE_TEST(a_recipe_for_another_coordinator_is_not_taken),
        PROBE_TEST(a_poll_or_renewal_fires_again_after_a_change_alone),
        PROBE_TEST(a_thread_takes_turns_where_a_retry_waits_for_a_change),
        PROBE_TEST(a_start_that_succeeds_does_not),
        PROBE_TEST(after_a_stop_nothing_is_called),
        PROBE_TEST(a_report_may_come_before_the_acquire_returns),
        PROBE_TEST(a_refusal_behind_a_report_is_told),
        PROBE_TEST(a_release_may_free_what_another_owner_gave_back),
        PROBE_TEST(at_rest_a_recipe_is_asked_whether_it_is_idle),
        PROBE_TEST(a_recipe_without_the_question_is_idle),
        PROBE_TEST(a_recipe_is_asked_what_is_wrong_after_each_call),
        PROBE_TEST(an_invariant_that_does_not_hold_is_told),
        PROBE_TEST(a_recipe_without_invariants_is_not_asked),
        PROBE_TEST(reports_of_acquires_are_told),
        PROBE_TEST(reports_of_sessions_are_told),
        PROBE_TEST(other_reports_are_told),
        PROBE_TEST(without_a_handle_nobody_can_guard),
        PROBE_TEST(a_program_does_not_wait_for_a_guard),
        PROBE_TEST(without_one_of_both_revocation_is_unknown),
        PROBE_TEST(without_one_of_both_nothing_is_closed),
        PROBE_TEST(without_one_of_both_nobody_asks_for_several),
        PROBE_TEST(of_several_locks_none_is_closed),
        PROBE_TEST(a_guard_goes_first),
        PROBE_TEST(nobody_who_waits_has_a_guard),
        PROBE_TEST(a_cancel_without_an_acquire_is_refused),
        PROBE_TEST(a_release_by_a_waiter_is_refused),
        PROBE_TEST(whoever_holds_has_a_guard),
        PROBE_TEST(without_a_handle_a_write_waits_and_its_path_lasts),
        PROBE_TEST(the_guard_of_a_hold_lets_its_write_pass),
        PROBE_TEST(a_recipe_may_send_its_writes_itself),
        PROBE_TEST(a_write_that_was_not_sent_is_over_or_sent_again),
        PROBE_TEST(the_mutex_refuses_a_guard_by_its_codes),
        MUTEX_TEST(whose_node_is_created_is_asked_whether_it_is_idle),
        MUTEX_TEST(a_revocable_holder_is_asked),
        MUTEX_TEST(who_asks_gets_one_answer),
        MUTEX_TEST(a_place_in_line_that_is_empty_is_told),
        MUTEX_TEST(what_is_refused_is_not_reported),
        MUTEX_TEST(a_mutex_that_was_given_back_is_not_held),
        MUTEX_TEST(a_closed_mutex_is_held_by_nobody),
        MUTEX_TEST(a_close_answers_a_release_under_way),
        MUTEX_TEST(a_close_answers_a_pending_acquire),
        MUTEX_TEST(a_stop_answers_a_pending_acquire),
        PROBE_TEST(a_hold_that_is_denied_at_once_is_told),
        PROBE_TEST(a_hold_that_is_denied_later_is_told),
        PROBE_TEST(a_hold_that_was_given_back_is_not_denied),
        PROBE_TEST(only_work_keeps_a_world_from_rest),
        PROBE_TEST(only_the_start_of_a_deadline_can_fail),
        PROBE_TEST(a_belief_that_a_timer_ends_is_told_so),
        MUTEX_TEST(a_mutex_that_was_opened_again_is_acquired),
        PROBE_TEST(closed_locks_are_asked_for_nothing_but_belief),
        PROBE_TEST(a_close_that_is_refused_changes_nothing),
        PROBE_TEST(without_memory_a_lock_stays_closed),
        PROBE_TEST(within_reports_steps_are_left_out),
        PROBE_TEST(within_reports_steps_are_done),
        PROBE_TEST(a_failed_acquire_is_followed_by_its_own_step),
        PROBE_TEST(a_renamed_zxid_makes_no_difference),
        PROBE_TEST(a_renamed_session_makes_no_difference),
        PROBE_TEST(a_renamed_sequence_makes_no_difference),
        PROBE_TEST(a_renamed_attempt_makes_no_difference),
        PROBE_TEST(a_renamed_text_makes_no_difference),
        PROBE_TEST(another_order_makes_a_difference),
        PROBE_TEST(a_number_that_is_none_makes_a_difference),
        PROBE_TEST(a_delay_makes_no_difference_without_a_clock),
        PROBE_TEST(a_delay_makes_a_difference_by_the_clock),
        PROBE_TEST(without_canon_nothing_is_renamed),
        PROBE_TEST(a_watch_on_children_ends_the_run),
        PROBE_TEST(a_set_of_data_ends_the_run),
        PROBE_TEST(who_says_nothing_of_itself_may_do_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
