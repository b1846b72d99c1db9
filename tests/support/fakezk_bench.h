/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A bench for the fake: an ensemble, processes that call zookeeper.h, and a log of all callbacks.
 *
 * The log is text. Each callback adds one entry, and " | " separates entries:
 *   TAG connected, TAG connecting, TAG expired     a session event reached the watcher with this tag
 *   TAG created /x, deleted, changed, child        a node event reached it
 *   TAG RC VALUE                                   a completion; VALUE is a path, {data}, [children] or none
 *
 * Tags are the contexts given to the calls. The bench checks each step and each call for writes to unmarked
 * blocks. */
#ifndef TESTS_SUPPORT_FAKEZK_BENCH_H
#define TESTS_SUPPORT_FAKEZK_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lockstep/fakezk.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#define BENCH_EVENTS 16
#define BENCH_TIMEOUT_MS 4000
#define BENCH_ANY (-1)

struct bench {
    struct fakezk_options options; /* options of the open ensemble */
    struct Stat stat;              /* Stat of the last completion that had one */
    int zoo_state;                 /* zoo_state() in the last callback */
    const void *memory;            /* path, value or list of the last callback that got one */
    int depth;                     /* number of nested callbacks that run */
    int depth_max;
    int events[BENCH_EVENTS];                     /* number of events of each kind that the observer saw */
    struct fakezk_event event[BENCH_EVENTS];      /* last event of each kind, without its path */
    void (*hook)(zhandle_t *zh, const char *tag); /* runs inside every callback */
};

extern struct bench bench;

/* cmocka's set-up and tear-down: one server, three clients, no clock. The tear-down fails if there was
 * trouble. */
int bench_setup(void **state);
int bench_teardown(void **state);

/* Open another ensemble in place of the present one. */
void bench_reopen(int servers, unsigned defects);
void bench_reopen_timed(int servers, int latency_min_ms, int latency_max_ms, int tick_ms);
void bench_reopen_with(const struct fakezk_options *options);

/* Fails unless there was trouble whose text contains `text`. Then opens a fresh ensemble, without trouble. */
void bench_trouble(const char *text);

/* Compares the whole log with the text, and empties it. */
#define bench_saw(text) bench_saw_at(text, __FILE__, __LINE__)
void bench_saw_at(const char *text, const char *file, int line);
void bench_forget(void); /* empties the log */

/* ---- handles; the tag is that of the default watcher ---- */

zhandle_t *bench_init(int client, const char *tag, const char *host, const clientid_t *id);
zhandle_t *bench_connected(int client, const char *tag); /* opens a handle, runs, and empties the log */
int bench_close(zhandle_t *zh);
int bench_state(zhandle_t *zh);
int bench_slot(zhandle_t *zh);
int bench_client(zhandle_t *zh);
clientid_t bench_id(zhandle_t *zh);

/* ---- calls; within a callback they do not enter the process again ---- */

int bench_create(zhandle_t *zh, const char *tag, const char *path, int mode);
int bench_create_data(zhandle_t *zh, const char *tag, const char *path, const char *data, int size, int mode);
int bench_create2(zhandle_t *zh, const char *tag, const char *path, int mode);
int bench_delete(zhandle_t *zh, const char *tag, const char *path, int version);
int bench_set(zhandle_t *zh, const char *tag, const char *path, const char *data, int version);
int bench_sync(zhandle_t *zh, const char *tag, const char *path);
int bench_multi(zhandle_t *zh, const char *tag, int count, const zoo_op_t *ops, zoo_op_result_t *results);

/* Reads; `watch` is the tag of a watcher, or NULL for none. */
int bench_exists(zhandle_t *zh, const char *tag, const char *path, const char *watch);
int bench_get(zhandle_t *zh, const char *tag, const char *path, const char *watch);
int bench_list(zhandle_t *zh, const char *tag, const char *path, const char *watch);
int bench_list2(zhandle_t *zh, const char *tag, const char *path, const char *watch);

/* Removes a watch of this kind, or all of them if `watch` is NULL. */
int bench_unwatch(zhandle_t *zh, const char *tag, const char *path, const char *watch, ZooWatcherType type);

/* Returns the tag as a watcher's context or a call's data. */
void *bench_tag(const char *tag);

/* Watchers: the one that the calls above register, and another one that logs with a star. */
void bench_watcher(zhandle_t *zh, int type, int state, const char *path, void *ctx);
void bench_watcher_too(zhandle_t *zh, int type, int state, const char *path, void *ctx);
void bench_stat_done(int rc, const struct Stat *stat, const void *data);
void bench_void_done(int rc, const void *data);
void bench_string_done(int rc, const char *value, const void *data);
void bench_acl_done(int rc, struct ACL_vector *acl, struct Stat *stat, const void *data);

/* Brackets a call that the bench has no function for. */
void bench_enter(int client);
void bench_leave(void);

/* ---- steps ---- */

/* Takes steps until none is possible. Without a clock it takes no expiry, no giving up and no end of a
 * lingering session. With a clock, time goes on while messages are under way. */
void bench_run(void);

/* Returns whether there is a step of this kind. The client may be BENCH_ANY. */
bool bench_can(int kind, int client);

/* Take the first such step, which must exist. For CONNECT and CATCH_UP the caller may choose the server. */
void bench_step(int kind, int client);
void bench_step_at(int kind, int client, int server);

/* Moves the clock by `ms`, and takes all steps that are possible on the way, in order of time. */
void bench_pass(int ms);

/* Cuts the link. The client still receives `keep` messages, and the server still reads `apply` requests. */
void bench_cut(zhandle_t *zh, int keep, int apply, int rc);

/* Creates a node as the operator. */
void bench_node(const char *path);

#endif
