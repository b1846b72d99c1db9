/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A stage for tests of the lock library: a world whose processes run a recipe that shows all of the public interface.
 *
 * A test writes `stage.options` and its neighbours, opens the stage, plays labels of actions, and compares what the
 * callbacks told and which requests were sent with what it expects. Both are texts, so that a test reads as a story. */
#ifndef TESTS_LOCK_STAGE_H
#define TESTS_LOCK_STAGE_H

#include "sim/world.h"
#include "trace/event_names.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <lockstep/mutex.h>
#include <lockstep/recipe.h>
#include <lockstep/session.h>
#include <lockstep/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STAGE_JOB = 250, STAGE_TEXT = 4096, STAGE_NODES = 256, STAGE_STEPS = 20000 };

/* The state of one process. */
struct probe {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    struct ls_mutex mutex[WORLD_LOCKS_MAX];
    int32_t opened;
    uint32_t heap_at_start; /* bytes of the heap's block before the first allocation */
};

struct stage {
    struct world *world;
    struct world_options options;
    struct ls_session_options session;
    struct ls_mutex_options mutex;
    void (*job)(struct probe *probe);       /* what the next `a job` does */
    void (*on_grant)(struct probe *probe);  /* called inside the callback of each grant */
    void (*on_revoke)(struct probe *probe); /* called inside the callback of each request to give back */
    bool hears_losses;                      /* the mutexes have on_lost */
    bool ignore_failed_start;
    bool may_misbehave;
    int offences; /* of the recipe, if it may misbehave */
    char told[STAGE_TEXT];
    char asked[STAGE_TEXT];
    char node[STAGE_NODES][FAKEZK_PATH_MAX]; /* contender nodes of the committed log */
    int nodes;
    int watches_set; /* watches set and wake-ups delivered since the stage was opened */
    int wakeups;
    int64_t token; /* of the last grant */
    int depth;     /* of the last grant */
    int zk_rc;     /* of the last answer */
};

static struct stage stage;

/* ---- texts ---- */

static inline void __attribute__((format(printf, 2, 3))) stage_add(char *text, const char *format, ...)
{
    size_t size = strlen(text);
    va_list args;
    if (size > 0)
        size += (size_t)snprintf(text + size, STAGE_TEXT - size, "; ");
    assert_true(size < STAGE_TEXT);
    va_start(args, format);
    vsnprintf(text + size, STAGE_TEXT - size, format, args);
    va_end(args);
}

#define STAGE_ERR_CASE(name, number, text)                                                                   \
    case name:                                                                                               \
        return &#name[3];

static inline const char *stage_err(int rc)
{
    switch (rc) {
    case LS_OK:
        return "ok";
        LS_ERR_LIST(STAGE_ERR_CASE)
    default:
        return "?";
    }
}

/* ---- the recipe ---- */

static inline struct probe *stage_probe_of(const struct ls_session *session)
{
    return (struct probe *)(void *)(uintptr_t)session;
}

/* "a", "a#2" for owner 2, "a:1" for the second lock. */
static inline const char *stage_who(const struct ls_mutex *mutex, uint64_t owner)
{
    static char text[64];
    const struct probe *probe = stage_probe_of(mutex->session);
    size_t size = (size_t)snprintf(text, sizeof text, "%s", stage.options.name[probe->session.env->process]);
    if (mutex - probe->mutex > 0)
        size += (size_t)snprintf(text + size, sizeof text - size, ":%d", (int)(mutex - probe->mutex));
    if (owner > 1)
        snprintf(text + size, sizeof text - size, "#%d", (int)owner - 1);
    return text;
}

static inline void stage_report(const struct ls_mutex *mutex, uint64_t owner, struct ls_report report)
{
    const struct probe *probe = stage_probe_of(mutex->session);
    report.lock = (int)(mutex - probe->mutex);
    report.owner = (int)owner - 1;
    ls_report(probe->session.env, &report);
}

static inline void stage_on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    stage.zk_rc = outcome->zk_rc;
    if (outcome->rc) {
        assert_int_equal(outcome->depth, 0);
        assert_int_equal(outcome->token, 0);
        stage_add(stage.told, "%s failed %s", stage_who(mutex, owner), stage_err(outcome->rc));
        stage_report(mutex, owner, (struct ls_report){.kind = LS_REPORT_FAILED, .rc = outcome->rc});
        return;
    }
    stage.token = outcome->token;
    stage.depth = (int)outcome->depth;
    stage_add(stage.told, "%s granted", stage_who(mutex, owner));
    stage_report(
        mutex, owner,
        (struct ls_report){.kind = LS_REPORT_GRANTED, .depth = stage.depth, .token = outcome->token});
    if (stage.on_grant)
        stage.on_grant(stage_probe_of(mutex->session));
}

static inline void stage_on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    stage_add(stage.told, "%s freed%s%s", stage_who(mutex, owner), rc ? " " : "", rc ? stage_err(rc) : "");
    stage_report(mutex, owner, (struct ls_report){.kind = LS_REPORT_FREED, .rc = rc});
}

static inline void stage_on_warning(struct ls_mutex *mutex, uint64_t owner, enum ls_warning warning)
{
    stage_add(stage.told, "%s warned %s", stage_who(mutex, owner),
              warning == LS_WARN_FOREIGN_CHILD ? "foreign-child"
              : warning == LS_WARN_LEFT_BEHIND ? "left-behind"
                                               : "node-gone");
    stage_report(mutex, owner, (struct ls_report){.kind = LS_REPORT_WARNING, .rc = (int)warning});
}

static inline void stage_on_participants(struct ls_mutex *mutex, void *user, int rc,
                                         const struct ls_participant *list, int count)
{
    stage_add(stage.told, "%s sees %s", stage_who(mutex, 1), rc ? stage_err(rc) : "");
    for (int i = 0; i < count; i++) {
        size_t size = strlen(stage.told);
        assert_int_equal(strlen(list[i].contents), list[i].size);
        snprintf(stage.told + size, STAGE_TEXT - size, "%s%s=%s", i ? " " : "",
                 strrchr(list[i].name, '-') + 1, list[i].contents);
    }
    if (user)
        ++*(int *)user;
}

static inline void stage_on_revoke(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    assert_int_equal(ls_mutex_token(mutex, owner), token);
    stage_add(stage.told, "%s asked", stage_who(mutex, owner));
    if (stage.on_revoke)
        stage.on_revoke(stage_probe_of(mutex->session));
}

static inline void stage_on_event(struct ls_session *session, struct ls_session_listener *listener,
                                  enum ls_session_event event, int64_t session_id)
{
    static const char *const names[] = {"?",         "connected",   "suspended", "reconnected", "lost",
                                        "read-only", "auth-failed", "gave-up",   "idle"};
    static const uint8_t kinds[] = {[LS_SESSION_CONNECTED] = LS_REPORT_CONNECTED,
                                    [LS_SESSION_SUSPENDED] = LS_REPORT_SUSPENDED,
                                    [LS_SESSION_RECONNECTED] = LS_REPORT_RECONNECTED,
                                    [LS_SESSION_LOST] = LS_REPORT_LOST,
                                    [LS_SESSION_READ_ONLY] = LS_REPORT_READ_ONLY,
                                    [LS_SESSION_AUTH_FAILED] = LS_REPORT_LOST,
                                    [LS_SESSION_GAVE_UP] = LS_REPORT_LOST,
                                    [LS_SESSION_IDLE] = LS_REPORT_IDLE};
    (void)listener;
    stage_add(stage.told, "%s %s", stage.options.name[session->env->process], names[event]);
    ls_report(session->env, &(struct ls_report){.kind = kinds[event], .session = session_id});
}

static const struct ls_mutex_ops stage_mutex_ops = {.on_done = stage_on_done,
                                                    .on_freed = stage_on_freed,
                                                    .on_warning = stage_on_warning,
                                                    .on_participants = stage_on_participants,
                                                    .on_revoke = stage_on_revoke};
static inline void stage_on_lost(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    assert_int_not_equal(ls_mutex_query(mutex, owner), LS_HELD);
    stage_add(stage.told, "%s lost%s", stage_who(mutex, owner), token == stage.token ? "" : " another hold");
}

static const struct ls_mutex_ops stage_mutex_ops_with_losses = {.on_done = stage_on_done,
                                                                .on_freed = stage_on_freed,
                                                                .on_warning = stage_on_warning,
                                                                .on_participants = stage_on_participants,
                                                                .on_revoke = stage_on_revoke,
                                                                .on_lost = stage_on_lost};
static const struct ls_session_ops stage_session_ops = {.on_event = stage_on_event};

static inline uint32_t stage_heap(const struct probe *probe)
{
    const struct arena_block *block =
        arena_at(&the_world.arena, the_world.heap_block[probe->session.env->process]);
    return block->used;
}

/* Everything that the library has allocated is freed again. */
static inline void stage_close_probe(struct probe *probe)
{
    while (probe->opened)
        assert_int_equal(ls_mutex_close(&probe->mutex[--probe->opened]), LS_OK);
    assert_int_equal(stage_heap(probe), probe->heap_at_start);
}

static inline int stage_start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct probe *probe = memory;
    int err =
        ls_session_init(&probe->session, env, config->hosts, config->session_timeout_ms, &stage.session);
    assert_int_equal(err, LS_OK);
    probe->heap_at_start = stage_heap(probe);
    ls_session_listener_init(&probe->listener, &stage_session_ops);
    ls_session_listener_add(&probe->session, &probe->listener);
    stage.mutex.ops = stage.hears_losses ? &stage_mutex_ops_with_losses : &stage_mutex_ops;
    for (; probe->opened < config->lock_count && !err; probe->opened += !err) {
        struct ls_mutex *mutex = &probe->mutex[probe->opened];
        err = ls_mutex_init(mutex, &probe->session, config->lock_paths[probe->opened], &stage.mutex);
        if (!err)
            err = ls_mutex_set_contents(mutex, config->contents, config->contents_size);
    }
    if (!err)
        err = ls_session_start(&probe->session);
    if (err)
        stage_close_probe(probe);
    return stage.ignore_failed_start ? LS_OK : err;
}

static inline void stage_stop(void *memory)
{
    struct probe *probe = memory;
    assert_int_equal(ls_session_close(&probe->session), LS_OK);
    stage_close_probe(probe);
}

static inline int stage_acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct probe *probe = memory;
    struct ls_mutex *mutex = &probe->mutex[lock];
    int rc = ls_mutex_acquire_start(mutex, (uint64_t)owner + 1, timeout_ms);
    if (rc < 0)
        stage_add(stage.told, "%s refused %s", stage_who(mutex, (uint64_t)owner + 1), stage_err(rc));
    if (rc != 1)
        return rc;
    struct ls_outcome again = {.depth = ls_mutex_depth(mutex, (uint64_t)owner + 1),
                               .token = ls_mutex_token(mutex, (uint64_t)owner + 1)};
    stage_on_done(mutex, (uint64_t)owner + 1, &again);
    return LS_OK;
}

static inline int stage_cancel(void *memory, int lock, int owner)
{
    struct probe *probe = memory;
    if (the_world.asked >= 0)
        return LS_ENOENT; /* a question of the world's */
    return ls_mutex_cancel(&probe->mutex[lock], (uint64_t)owner + 1);
}

static inline int stage_release(void *memory, int lock, int owner)
{
    struct probe *probe = memory;
    if (the_world.asked >= 0)
        return LS_ENOTOWNER;
    if (owner == STAGE_JOB) {
        stage.job(probe);
        return LS_ENOENT;
    }
    int rc = ls_mutex_release_start(&probe->mutex[lock], (uint64_t)owner + 1);
    if (rc)
        stage_add(stage.told, "%s refused %s", stage_who(&probe->mutex[lock], (uint64_t)owner + 1),
                  stage_err(rc));
    return rc;
}

static inline enum ls_belief stage_query(const void *memory, int lock, int owner)
{
    const struct probe *probe = memory;
    return lock < probe->opened ? ls_mutex_query(&probe->mutex[lock], (uint64_t)owner + 1) : LS_NOT_HELD;
}

static inline bool stage_idle(const void *memory)
{
    const struct probe *probe = memory;
    return ls_session_idle(&probe->session);
}

static const struct ls_recipe stage_recipe = {.name = "probe",
                                              .summary = "shows the whole interface of the mutex to tests",
                                              .state_size = sizeof(struct probe),
                                              .start = stage_start,
                                              .stop = stage_stop,
                                              .acquire = stage_acquire,
                                              .cancel = stage_cancel,
                                              .release = stage_release,
                                              .query = stage_query,
                                              .idle = stage_idle};

/* ---- what happens ---- */

static inline const char *stage_request(int code)
{
    static const char *const names[] = {"create", "delete", "exists", "get",     "set",
                                        "list",   "sync",   "multi",  "unwatch", "other"};
    return names[code];
}

static inline void stage_on_world(void *ctx, const struct event *event)
{
    (void)ctx;
    switch (event->kind) {
    case EVENT_REQUEST:
        stage_add(stage.asked, "%s", stage_request(event->code));
        break;
    case EVENT_NODE_CREATED:
        if (event->code == 1 && stage.nodes < STAGE_NODES)
            snprintf(stage.node[stage.nodes++], FAKEZK_PATH_MAX, "%s", event->path);
        break;
    case EVENT_NODE_DELETED:
        for (int i = 0; event->code == 1 && i < stage.nodes; i++)
            if (strcmp(stage.node[i], event->path) == 0) {
                memmove(stage.node[i], stage.node[i + 1], (size_t)(STAGE_NODES - 1 - i) * FAKEZK_PATH_MAX);
                stage.nodes--;
            }
        break;
    case EVENT_WATCH_SET:
        stage.watches_set++;
        break;
    case EVENT_WOKEN:
        stage.wakeups++;
        break;
    case EVENT_MISBEHAVED:
        if (stage.may_misbehave) {
            assert_int_equal(event->code, EVENT_OFFENCE_CRASH);
            stage.offences++;
            break;
        }
        fail_msg("the contract of recipes is broken, see enum event_offence: %d", event->code);
    default:
        break;
    }
}

/* ---- for tests ---- */

/* Begins a test: `processes` processes named a, b, c ... with one lock /locks/x. */
static inline void stage_set(int processes)
{
    memset(&stage, 0, sizeof stage);
    world_options_default(&stage.options);
    stage.session.no_refresh = true; /* a test that wants syncs says so */
    stage.options.recipe = &stage_recipe;
    stage.options.processes = processes;
    for (int p = 0; p < processes; p++) {
        stage.options.name[p][0] = (char)('a' + p);
        stage.options.autostart[p] = true;
    }
}

/* Begins a test of one process with a semaphore at /locks/x. Returns its recipe, for the caller to change before the
 * world is opened. */
static inline struct ls_recipe *stage_set_semaphore(void)
{
    static const char *const directories[] = {"leases", "locks", NULL};
    static struct ls_recipe recipe;
    stage_set(1);
    recipe = stage_recipe;
    recipe.directories = directories;
    recipe.ignores_children = false;
    stage.options.recipe = &recipe;
    stage.options.used_directory = true;
    return &recipe;
}

/* Opens the world as `stage.options` says, without connecting anybody. */
static inline void stage_open(void)
{
    if (the_world.arena.base)
        world_close(&the_world); /* a test that failed has left it */
    stage.world = world_open(&stage.options, stage_on_world, NULL);
    assert_non_null(stage.world);
    world_begin(stage.world);
}

/* Does one thing: a label; "settle"; "pass 500" (ms); "heal"; "a job". */
static inline void stage_play(const char *line)
{
    struct action action;
    const char *why = "";
    if (strcmp(line, "settle") == 0) {
        if (world_settle(stage.world, STAGE_STEPS, NULL, NULL) < 0)
            fail_msg("the world does not settle: %s", world_trouble(stage.world));
    } else if (strncmp(line, "pass ", 5) == 0) {
        assert_true(world_pass_time(stage.world, atoi(line + 5), STAGE_STEPS, NULL, NULL) >= 0);
    } else if (strcmp(line, "heal") == 0) {
        world_heal(stage.world, true, NULL, NULL);
    } else if (strcmp(line + 1, " job") == 0) {
        action = (struct action){.kind = ACTION_RELEASE, .process = (uint8_t)(line[0] - 'a'), .a = STAGE_JOB};
        assert_int_equal(world_apply(stage.world, &action), 0);
    } else {
        if (world_find(stage.world, line, &action, &why) != 0)
            fail_msg("\"%s\": %s", line, why);
        assert_int_equal(world_apply(stage.world, &action), 0);
    }
    if (world_trouble(stage.world))
        fail_msg("after \"%s\": %s", line, world_trouble(stage.world));
}

/* The same while a thread of process a sleeps inside of a call. */
static inline void stage_play_meanwhile(const char *line)
{
    fakezk_leave();
    stage_play(line);
    fakezk_enter(0);
}

static inline void stage_play_all(const char *const *lines)
{
    for (; *lines; lines++)
        stage_play(*lines);
}

#define play(...) stage_play_all((const char *const[]){__VA_ARGS__, NULL})

/* Lets process p do something with its probe. */
static inline void stage_job(int p, void (*job)(struct probe *probe))
{
    char line[] = "a job";
    line[0] = (char)('a' + p);
    stage.job = job;
    stage_play(line);
}

static inline void stage_expect(const char *file, int line, char *text, const char *expected)
{
    if (strcmp(text, expected) != 0) {
        print_error("%s:%d: expected \"%s\"\n%s:%d: but found \"%s\"\n", file, line, expected, file, line,
                    text);
        _fail(file, line);
    }
    text[0] = 0;
}

/* What the callbacks have said, and what has been asked of the servers, since it was last compared or forgotten. */
#define told(expected) stage_expect(__FILE__, __LINE__, stage.told, (expected))
#define asked(expected) stage_expect(__FILE__, __LINE__, stage.asked, (expected))

static inline void stage_forget(void)
{
    stage.told[0] = 0;
    stage.asked[0] = 0;
}

/* Opens the stage and lets everybody connect. */
static inline void stage_ready(void)
{
    stage_open();
    play("settle");
    stage_forget();
}

static inline struct probe *stage_probe(int p)
{
    return process_state(p);
}

/* Ends a test in an orderly way: nothing may be left over, on the servers, in the clients or in their heaps. */
static inline void stage_end(void)
{
    play("heal", "settle");
    for (int p = 0; p < stage.options.processes; p++) {
        struct action stop = {.kind = ACTION_STOP, .process = (uint8_t)p};
        if (world_enabled(stage.world, &stop))
            assert_int_equal(world_apply(stage.world, &stop), 0);
        assert_int_equal(fakezk_watches(p), 0);
    }
    play("heal", "settle");
    assert_null(world_trouble(stage.world));
    assert_int_equal(stage.nodes, 0);
    world_close(stage.world);
}

/* For what must be gone while the processes still run. */
static inline void assert_clean(int p)
{
    assert_int_equal(stage.nodes, 0);
    assert_int_equal(fakezk_watches(p), 0);
    assert_true(world_at_rest(stage.world));
    assert_true(stage_idle(stage_probe(p)));
}

#endif
