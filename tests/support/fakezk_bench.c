/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/fakezk_bench.h"

#include "base/arena.h"
#include "fakezk/internal.h"

#include <stdlib.h>

#define ARENA_BYTES (4u << 20)
#define LOG_BYTES_MAX 16384
#define STEPS_MAX 256
#define RUN_MAX 20000

struct bench bench;
static struct arena arena;
static char text[LOG_BYTES_MAX];
static struct arena_image *image; /* the arena before the present call or step */

/* ---- the log ---- */

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
    size_t used = strlen(text);
    if (used > 0) {
        used += (size_t)snprintf(text + used, sizeof text - used, " | ");
    }
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    assert_true(size >= 0 && used + (size_t)size < sizeof text);
}

void bench_forget(void)
{
    text[0] = 0;
}

void bench_saw_at(const char *expected, const char *file, int line)
{
    _assert_string_equal(text, expected, file, line);
    bench_forget();
}

static const char *event_name(int type)
{
    if (type == ZOO_CREATED_EVENT) {
        return "created";
    }
    if (type == ZOO_DELETED_EVENT) {
        return "deleted";
    }
    assert_true(type == ZOO_CHANGED_EVENT || type == ZOO_CHILD_EVENT);
    return type == ZOO_CHANGED_EVENT ? "changed" : "child";
}

static const char *state_name(int state)
{
    if (state == ZOO_CONNECTED_STATE) {
        return "connected";
    }
    if (state == ZOO_READONLY_STATE) {
        return "read-only";
    }
    if (state == ZOO_AUTH_FAILED_STATE) {
        return "auth-failed";
    }
    assert_true(state == ZOO_CONNECTING_STATE || state == ZOO_EXPIRED_SESSION_STATE);
    return state == ZOO_CONNECTING_STATE ? "connecting" : "expired";
}

static void enter_callback(zhandle_t *zh)
{
    bench.depth++;
    bench.depth_max = bench.depth > bench.depth_max ? bench.depth : bench.depth_max;
    bench.zoo_state = zh != NULL ? zoo_state(zh) : 0;
}

static void leave_callback(zhandle_t *zh, const char *tag)
{
    if (bench.hook != NULL) {
        bench.hook(zh, tag);
    }
    bench.depth--;
}

static void log_event(zhandle_t *zh, int type, int state, const char *path, const char *tag, const char *star)
{
    enter_callback(zh);
    bench.memory = path;
    if (type == ZOO_SESSION_EVENT) {
        assert_string_equal(path, "");
        add("%s%s %s", tag, star, state_name(state));
    } else {
        assert_int_equal(state, ZOO_CONNECTED_STATE); /* F77 */
        add("%s%s %s %s", tag, star, event_name(type), path);
    }
    leave_callback(zh, tag);
}

void bench_watcher(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    log_event(zh, type, state, path, ctx, "");
}

void bench_watcher_too(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    log_event(zh, type, state, path, ctx, "*");
}

/* ---- completions ---- */

static void keep_stat(const struct Stat *stat)
{
    memset(&bench.stat, 0, sizeof bench.stat);
    if (stat != NULL) {
        bench.stat = *stat;
    }
}

void bench_void_done(int rc, const void *data)
{
    enter_callback(NULL);
    add("%s %d", (const char *)data, rc);
    leave_callback(NULL, data);
}

void bench_stat_done(int rc, const struct Stat *stat, const void *data)
{
    enter_callback(NULL);
    assert_int_equal(rc == ZOK, stat != NULL);
    bench.memory = stat;
    keep_stat(stat);
    add("%s %d", (const char *)data, rc);
    leave_callback(NULL, data);
}

static void log_string(int rc, const char *value, const char *tag)
{
    enter_callback(NULL);
    assert_int_equal(rc == ZOK, value != NULL);
    bench.memory = value;
    add("%s %d%s%s", tag, rc, value != NULL ? " " : "", value != NULL ? value : "");
    leave_callback(NULL, tag);
}

void bench_string_done(int rc, const char *value, const void *data)
{
    log_string(rc, value, data);
}

static void string_stat_done(int rc, const char *value, const struct Stat *stat, const void *data)
{
    assert_int_equal(rc == ZOK, stat != NULL);
    keep_stat(stat);
    log_string(rc, value, data);
}

static void data_done(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    enter_callback(NULL);
    assert_int_equal(rc == ZOK, stat != NULL);
    bench.memory = value;
    keep_stat(stat);
    if (rc == ZOK && size < 0) {
        assert_null(value);
        add("%s 0 null", (const char *)data);
    } else if (rc == ZOK) {
        add("%s 0 {%.*s}", (const char *)data, size, value);
    } else {
        assert_null(value);
        add("%s %d", (const char *)data, rc);
    }
    leave_callback(NULL, data);
}

static void log_list(int rc, const struct String_vector *strings, const char *tag)
{
    enter_callback(NULL);
    assert_int_equal(rc == ZOK, strings != NULL);
    char list[2048] = "";
    for (int i = 0; strings != NULL && i < strings->count; i++) {
        bench.memory = strings->data[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? " " : "", strings->data[i]);
    }
    if (rc == ZOK) {
        add("%s 0 [%s]", tag, list);
    } else {
        add("%s %d", tag, rc);
    }
    leave_callback(NULL, tag);
}

static void list_done(int rc, const struct String_vector *strings, const void *data)
{
    log_list(rc, strings, data);
}

static void list2_done(int rc, const struct String_vector *strings, const struct Stat *stat, const void *data)
{
    assert_int_equal(rc == ZOK, stat != NULL);
    keep_stat(stat);
    log_list(rc, strings, data);
}

void bench_acl_done(int rc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    enter_callback(NULL);
    keep_stat(stat);
    if (rc == ZOK) {
        assert_int_equal(acl->count, 1);
        add("%s 0 %s:%s:%d", (const char *)data, acl->data[0].id.scheme, acl->data[0].id.id,
            acl->data[0].perms);
    } else {
        assert_null(acl);
        add("%s %d", (const char *)data, rc);
    }
    leave_callback(NULL, data);
}

/* ---- opening and closing ---- */

static void observe(void *ctx, const struct fakezk_event *event)
{
    assert_ptr_equal(ctx, &bench);
    assert_true(event->kind < BENCH_EVENTS);
    bench.events[event->kind]++;
    bench.event[event->kind] = *event;
    bench.event[event->kind].path = NULL;
}

static void default_options(struct fakezk_options *options)
{
    memset(options, 0, sizeof *options);
    options->clients = 3;
    options->servers = 1;
    options->tick_ms = 2000;
}

static void open_ensemble(const struct fakezk_options *options)
{
    if (arena.base == NULL) {
        assert_int_equal(arena_open(&arena, ARENA_BYTES), 0);
    }
    arena_clear(&arena);
    memset(&bench, 0, sizeof bench);
    bench_forget();
    bench.options = *options;
    fakezk_open(&arena, options, observe, &bench);
}

int bench_setup(void **state)
{
    (void)state;
    struct fakezk_options options;
    default_options(&options);
    open_ensemble(&options);
    return 0;
}

int bench_teardown(void **state)
{
    (void)state;
    const char *trouble = fakezk_trouble();
    if (trouble != NULL) {
        print_error("trouble: %s\n", trouble);
    }
    free(image);
    image = NULL;
    return trouble != NULL ? -1 : 0;
}

void bench_reopen_with(const struct fakezk_options *options)
{
    assert_null(fakezk_trouble());
    open_ensemble(options);
}

void bench_reopen(int servers, unsigned defects)
{
    struct fakezk_options options;
    default_options(&options);
    options.servers = servers;
    options.defects = defects;
    bench_reopen_with(&options);
}

void bench_reopen_timed(int servers, int latency_min_ms, int latency_max_ms, int tick_ms)
{
    struct fakezk_options options;
    default_options(&options);
    options.servers = servers;
    options.timed = true;
    options.latency_min_ms = latency_min_ms;
    options.latency_max_ms = latency_max_ms;
    options.tick_ms = tick_ms;
    bench_reopen_with(&options);
}

void bench_trouble(const char *expected)
{
    const char *trouble = fakezk_trouble();
    if (trouble == NULL || strstr(trouble, expected) == NULL) {
        fail_msg("trouble is \"%s\", not \"%s\"", trouble != NULL ? trouble : "none", expected);
    }
    struct fakezk_options options = bench.options;
    open_ensemble(&options);
}

/* ---- unmarked writes ---- */

static void watch_blocks(void)
{
    arena_fingerprint(&arena);
    free(image);
    image = arena_save(&arena);
}

static void check_blocks(void)
{
    if (image != NULL) {
        assert_int_equal(arena_unmarked_write(&arena, image), -1);
    }
    free(image);
    image = NULL;
}

void bench_enter(int client)
{
    if (fakezk_entered() < 0) {
        watch_blocks();
    }
    fakezk_enter(client);
}

void bench_leave(void)
{
    fakezk_leave();
    check_blocks();
}

/* Enters the handle's process, unless a callback runs in it. Returns whether it did. */
static bool enter(zhandle_t *zh)
{
    if (fakezk_entered() >= 0) {
        return false;
    }
    bench_enter(bench_client(zh));
    return true;
}

#define CALL(zh, call)                                                                                       \
    do {                                                                                                     \
        bool entered_here = enter(zh);                                                                       \
        int call_rc = (call);                                                                                \
        if (entered_here) {                                                                                  \
            bench_leave();                                                                                   \
        }                                                                                                    \
        return call_rc;                                                                                      \
    } while (0)

/* ---- handles ---- */

zhandle_t *bench_init(int client, const char *tag, const char *host, const clientid_t *id)
{
    bool entered = fakezk_entered() >= 0;
    if (!entered) {
        bench_enter(client);
    }
    zhandle_t *zh = zookeeper_init(host, bench_watcher, BENCH_TIMEOUT_MS, id, bench_tag(tag), 0);
    if (!entered) {
        bench_leave();
    }
    return zh;
}

zhandle_t *bench_connected(int client, const char *tag)
{
    zhandle_t *zh = bench_init(client, tag, "server:2181", NULL);
    assert_non_null(zh);
    if (bench.options.timed) {
        bench_pass(4 * bench.options.latency_min_ms);
    }
    bench_run();
    assert_int_equal(bench_state(zh), ZOO_CONNECTED_STATE);
    bench_forget();
    return zh;
}

int bench_client(zhandle_t *zh)
{
    return zh->client;
}

int bench_slot(zhandle_t *zh)
{
    return zh->slot;
}

clientid_t bench_id(zhandle_t *zh)
{
    return zh->id;
}

int bench_close(zhandle_t *zh)
{
    CALL(zh, zookeeper_close(zh));
}

int bench_state(zhandle_t *zh)
{
    CALL(zh, zoo_state(zh));
}

/* ---- calls ---- */

int bench_create_data(zhandle_t *zh, const char *tag, const char *path, const char *data, int size, int mode)
{
    CALL(zh, zoo_acreate(zh, path, data, size, &ZOO_OPEN_ACL_UNSAFE, mode, bench_string_done, tag));
}

int bench_create(zhandle_t *zh, const char *tag, const char *path, int mode)
{
    return bench_create_data(zh, tag, path, NULL, -1, mode);
}

int bench_create2(zhandle_t *zh, const char *tag, const char *path, int mode)
{
    CALL(zh, zoo_acreate2(zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, mode, string_stat_done, tag));
}

int bench_delete(zhandle_t *zh, const char *tag, const char *path, int version)
{
    CALL(zh, zoo_adelete(zh, path, version, bench_void_done, tag));
}

int bench_set(zhandle_t *zh, const char *tag, const char *path, const char *data, int version)
{
    int size = data != NULL ? (int)strlen(data) : -1;
    CALL(zh, zoo_aset(zh, path, data, size, version, bench_stat_done, tag));
}

int bench_sync(zhandle_t *zh, const char *tag, const char *path)
{
    CALL(zh, zoo_async(zh, path, bench_string_done, tag));
}

int bench_multi(zhandle_t *zh, const char *tag, int count, const zoo_op_t *ops, zoo_op_result_t *results)
{
    CALL(zh, zoo_amulti(zh, count, ops, results, bench_void_done, tag));
}

static watcher_fn watcher_for(const char *watch)
{
    return watch != NULL ? bench_watcher : NULL;
}

int bench_exists(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    CALL(zh, zoo_awexists(zh, path, watcher_for(watch), bench_tag(watch), bench_stat_done, tag));
}

int bench_get(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    CALL(zh, zoo_awget(zh, path, watcher_for(watch), bench_tag(watch), data_done, tag));
}

int bench_list(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    CALL(zh, zoo_awget_children(zh, path, watcher_for(watch), bench_tag(watch), list_done, tag));
}

int bench_list2(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    CALL(zh, zoo_awget_children2(zh, path, watcher_for(watch), bench_tag(watch), list2_done, tag));
}

/* The header declares a pointer to a function pointer, but the library calls the value itself. */
int bench_unwatch(zhandle_t *zh, const char *tag, const char *path, const char *watch, ZooWatcherType type)
{
    void_completion_t fn = bench_void_done;
    void_completion_t *done;
    memcpy(&done, &fn, sizeof done);
    if (watch == NULL) {
        CALL(zh, zoo_aremove_all_watches(zh, path, type, 0, done, tag));
    }
    CALL(zh, zoo_aremove_watches(zh, path, type, bench_watcher, bench_tag(watch), 0, done, tag));
}

void *bench_tag(const char *tag)
{
    return (void *)(uintptr_t)tag;
}

/* ---- steps ---- */

static int find_step(struct fakezk_step *found, int kind, int client, int server)
{
    struct fakezk_step steps[STEPS_MAX];
    int count = fakezk_steps(steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        assert_true(fakezk_can_step(&steps[i]));
        bool here = server == BENCH_ANY || steps[i].server == server;
        if (here && steps[i].kind == kind && (client == BENCH_ANY || steps[i].client == client)) {
            *found = steps[i];
            return 1;
        }
    }
    return 0;
}

static void take(const struct fakezk_step *step)
{
    char label[128];
    int32_t owner;
    fakezk_describe_step(step, label, sizeof label, &owner);
    bool callback = step->kind == FAKEZK_DELIVER;
    watch_blocks();
    if (callback) {
        fakezk_enter(step->client);
    }
    fakezk_step(step);
    if (callback) {
        fakezk_leave();
    }
    check_blocks();
}

bool bench_can(int kind, int client)
{
    struct fakezk_step step = {0};
    return find_step(&step, kind, client, BENCH_ANY) != 0;
}

void bench_step_at(int kind, int client, int server)
{
    struct fakezk_step step = {0};
    if (!find_step(&step, kind, client, server)) {
        fail_msg("no step of kind %d for client %d at server %d", kind, client, server);
    }
    take(&step);
}

void bench_step(int kind, int client)
{
    bench_step_at(kind, client, BENCH_ANY);
}

/* Takes the first step that does not wait for the clock. Without a clock, an expiry, a client that gives up
 * and the end of a lingering session are passed over. Returns false if there is no such step. */
static bool take_first(void)
{
    struct fakezk_step steps[STEPS_MAX];
    int count = fakezk_steps(steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        bool defeat = steps[i].kind == FAKEZK_EXPIRE || steps[i].kind == FAKEZK_GIVE_UP ||
                      steps[i].kind == FAKEZK_LINGER;
        if ((!defeat || bench.options.timed) && !steps[i].lagging) {
            take(&steps[i]);
            return true;
        }
    }
    return false;
}

void bench_run(void)
{
    for (int i = 0; i < RUN_MAX; i++) {
        if (take_first()) {
            continue;
        }
        int32_t limit;
        int32_t next = bench.options.timed ? fakezk_next_ms(&limit) : INT32_MAX;
        bool message = bench.options.timed && next <= fakezk_now_ms() + 4 * bench.options.latency_max_ms;
        if (!message) {
            return;
        }
        watch_blocks();
        fakezk_advance(next);
        check_blocks();
    }
    fail_msg("no end of steps");
}

void bench_pass(int ms)
{
    int32_t end = fakezk_now_ms() + ms;
    for (int i = 0; i < RUN_MAX; i++) {
        if (take_first()) {
            continue;
        }
        int32_t limit;
        int32_t next = fakezk_next_ms(&limit);
        assert_true(next > fakezk_now_ms());
        fakezk_advance(next < end ? next : end);
        if (next > end) {
            return;
        }
    }
    fail_msg("no end of steps");
}

void bench_cut(zhandle_t *zh, int keep, int apply, int rc)
{
    watch_blocks();
    assert_true(fakezk_cut(bench_client(zh), bench_slot(zh), keep, apply, rc, false));
    check_blocks();
}

void bench_node(const char *path)
{
    watch_blocks();
    assert_true(fakezk_operator_create(path, 0, false));
    check_blocks();
}
