/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Sequences of calls that the fake and the real client must answer alike.
 *
 * tests/fakezk/test_sequences.c runs them on the fake, tests/real/test_sequences.c on libzookeeper_mt and a
 * server. Each of the two defines the functions of the first section, the stage. Each also defines
 * SEQUENCE(), which makes a cmocka test of a function. A sequence compares a text, to which each callback
 * adds one entry:
 *
 *   TAG connected, TAG connecting, TAG changed /x, TAG deleted /x    a watcher; "d" is the default one
 *   TAG RC                                                           a completion */
#ifndef TESTS_SUPPORT_SEQUENCES_H
#define TESTS_SUPPORT_SEQUENCES_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zookeeper/zookeeper.h>

/* ---- the stage ---- */

/* Opens a handle below a chroot ("" = none) and waits until it is connected. The default watcher is
 * on_event with the tag "d". */
static zhandle_t *stage_open(const char *chroot);
static void stage_close(zhandle_t *zh);

/* Bracket calls of <zookeeper/zookeeper.h>. */
static void stage_enter(void);
static void stage_leave(void);

/* Keeps callbacks from running until stage_told(). */
static void stage_hold(zhandle_t *zh);

/* Waits until the client has received the answers to all requests, and the events before them. May be
 * called after stage_hold(). */
static void stage_received(zhandle_t *zh);

/* Breaks the link. The client makes a new one by itself, at the latest in stage_told(). */
static void stage_cut(zhandle_t *zh);

/* Lets callbacks run, and waits until there is a link and no callback has still to run. */
static void stage_told(zhandle_t *zh);

/* Ends the session, and waits until the handle is dead. Only stage_multi() and stage_close() are allowed
 * then. */
static void stage_expire(zhandle_t *zh);

/* Returns the result of zoo_amulti() of these operations, or DIES if the call ends the process. The client
 * must refuse the operations. */
enum { DIES = 1 };
static int stage_multi(zhandle_t *zh, int count, const zoo_op_t *ops);

/* Begins a round, from 0 on. If the stage has the choice, the round says whether the client is slow to show
 * that a link is gone (F1). Returns false after the last round. Must be called while no handle is open. */
static bool stage_round(int round);

/* ---- what is called back ---- */

#define SEQUENCE_TEXT_MAX 2048

static char sequence_text[SEQUENCE_TEXT_MAX];
static pthread_mutex_t sequence_mutex = PTHREAD_MUTEX_INITIALIZER;

/* States that zoo_state() showed in callbacks. Bit 0: CONNECTED was shown; bit 1: another state was. */
struct shown_states {
    int connecting; /* in a watcher that gets CONNECTING */
    int failed;     /* in the completion of a lost request */
};

static struct shown_states shown;
static zhandle_t *shown_by;

static void add_entry(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add_entry(const char *format, ...)
{
    char entry[256];
    va_list args;
    va_start(args, format);
    vsnprintf(entry, sizeof entry, format, args);
    va_end(args);
    pthread_mutex_lock(&sequence_mutex);
    size_t size = strlen(sequence_text);
    snprintf(sequence_text + size, sizeof sequence_text - size, "%s%s", size > 0 ? " | " : "", entry);
    pthread_mutex_unlock(&sequence_mutex);
}

static int shown_bit(zhandle_t *zh)
{
    return zoo_state(zh) == ZOO_CONNECTED_STATE ? 1 : 2;
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    const char *tag = context;
    if (type == ZOO_SESSION_EVENT) {
        add_entry("%s %s", tag,
                  state == ZOO_CONNECTED_STATE    ? "connected"
                  : state == ZOO_CONNECTING_STATE ? "connecting"
                                                  : "expired");
        if (state == ZOO_CONNECTING_STATE) {
            shown.connecting |= shown_bit(zh);
        }
        return;
    }
    add_entry("%s %s %s", tag,
              type == ZOO_DELETED_EVENT   ? "deleted"
              : type == ZOO_CHANGED_EVENT ? "changed"
                                          : "other",
              path);
}

static void on_void(int rc, const void *data)
{
    add_entry("%s %d", (const char *)data, rc);
}

static void on_string(int rc, const char *value, const void *data)
{
    (void)value;
    on_void(rc, data);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    if (rc == ZCONNECTIONLOSS && shown_by != NULL) {
        shown.failed |= shown_bit(shown_by);
    }
    on_void(rc, data);
}

static void on_data(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)value;
    (void)size;
    (void)stat;
    on_void(rc, data);
}

static void forget(void)
{
    pthread_mutex_lock(&sequence_mutex);
    sequence_text[0] = 0;
    pthread_mutex_unlock(&sequence_mutex);
}

/* Waits until all is told, wants the text, and forgets it. */
static void saw(zhandle_t *zh, const char *text)
{
    stage_told(zh);
    assert_string_equal(sequence_text, text);
    forget();
}

/* ---- calls; tags are those of completions and watchers ---- */

static void ask_create(zhandle_t *zh, const char *tag, const char *path)
{
    stage_enter();
    assert_int_equal(zoo_acreate(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_string, tag), ZOK);
    stage_leave();
}

static void ask_set(zhandle_t *zh, const char *tag, const char *path)
{
    stage_enter();
    assert_int_equal(zoo_aset(zh, path, "x", 1, -1, on_stat, tag), ZOK);
    stage_leave();
}

static void ask_delete(zhandle_t *zh, const char *tag, const char *path)
{
    stage_enter();
    assert_int_equal(zoo_adelete(zh, path, -1, on_void, tag), ZOK);
    stage_leave();
}

static void *watcher_tag(const char *tag)
{
    return (void *)(uintptr_t)tag;
}

static void ask_exists(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    stage_enter();
    assert_int_equal(
        zoo_awexists(zh, path, watch != NULL ? on_event : NULL, watcher_tag(watch), on_stat, tag), ZOK);
    stage_leave();
}

static void ask_get(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    stage_enter();
    assert_int_equal(zoo_awget(zh, path, watch != NULL ? on_event : NULL, watcher_tag(watch), on_data, tag),
                     ZOK);
    stage_leave();
}

/* zookeeper.h declares the completion as a pointer to a function pointer, but means the function. */
static void_completion_t *removal_slot(void)
{
    union {
        void_completion_t function;
        void_completion_t *slot;
    } cast = {.function = on_void};
    return cast.slot;
}

static int remove_pair(zhandle_t *zh, const char *tag, const char *path, const char *watch)
{
    stage_enter();
    int rc =
        zoo_aremove_watches(zh, path, ZWATCHTYPE_DATA, on_event, watcher_tag(watch), 0, removal_slot(), tag);
    stage_leave();
    return rc;
}

static int remove_all(zhandle_t *zh, const char *tag, const char *path)
{
    stage_enter();
    int rc = zoo_aremove_all_watches(zh, path, ZWATCHTYPE_DATA, 0, removal_slot(), tag);
    stage_leave();
    return rc;
}

/* A handle, and a node with a watch W on it. */
static zhandle_t *watched(const char *path)
{
    zhandle_t *zh = stage_open("");
    ask_create(zh, "c", path);
    ask_exists(zh, "e", path, "W");
    saw(zh, "c 0 | e 0");
    return zh;
}

/* ---- F76: removing watches ---- */

static void test_a_removal_of_all_watches_is_never_refused_at_once(void **state)
{
    (void)state;
    zhandle_t *zh = stage_open("");
    ask_create(zh, "c", "/none");
    saw(zh, "c 0");
    assert_int_equal(remove_pair(zh, "p", "/none", "W"), ZNOWATCHER);
    saw(zh, "");
    assert_int_equal(remove_all(zh, "r", "/none"), ZOK); /* the table is empty */
    saw(zh, "r -121");
    stage_close(zh);
}

/* The event is received and not told: its watch is out of the client's table, and so are the pairs. */
static void test_a_removal_under_way_with_an_empty_table(void **state)
{
    (void)state;
    zhandle_t *zh = watched("/fired");
    stage_hold(zh);
    ask_set(zh, "s", "/fired");
    stage_received(zh);
    assert_int_equal(remove_pair(zh, "p", "/fired", "W"), ZNOWATCHER);
    assert_int_equal(remove_all(zh, "r", "/fired"), ZOK);
    saw(zh, "W changed /fired | s 0 | r -121");
    stage_close(zh);
}

/* ---- F70: when watches are taken out ---- */

/* An event that is received has taken its watch: what sets one behind it sets another. */
static void set_and_watch_again(zhandle_t *zh, const char *path)
{
    stage_hold(zh);
    ask_set(zh, "s", path);
    ask_get(zh, "g", path, "W");
    stage_received(zh);
}

static void test_a_watch_set_behind_an_event_that_is_received_stands(void **state)
{
    (void)state;
    zhandle_t *zh = watched("/again");
    set_and_watch_again(zh, "/again");
    saw(zh, "W changed /again | s 0 | g 0");
    ask_delete(zh, "x", "/again");
    saw(zh, "W deleted /again | x 0");
    stage_close(zh);
}

static void test_a_watch_set_behind_an_event_outlives_the_link(void **state)
{
    (void)state;
    zhandle_t *zh = watched("/cut");
    set_and_watch_again(zh, "/cut");
    stage_cut(zh);
    saw(zh, "W changed /cut | s 0 | g 0 | W connecting | d connecting | W connected | d connected");
    ask_delete(zh, "x", "/cut");
    saw(zh, "W deleted /cut | x 0");
    stage_close(zh);
}

/* Two events wait, and each calls the watches that it took when it was received. */
static void test_each_event_tells_whom_it_has_taken(void **state)
{
    (void)state;
    zhandle_t *zh = watched("/two");
    stage_hold(zh);
    ask_set(zh, "s", "/two");
    ask_get(zh, "g", "/two", "V");
    ask_set(zh, "t", "/two");
    stage_received(zh);
    ask_get(zh, "h", "/two", "W");
    stage_received(zh);
    saw(zh, "W changed /two | s 0 | g 0 | V changed /two | t 0 | h 0");
    ask_delete(zh, "x", "/two");
    saw(zh, "W deleted /two | x 0");
    stage_close(zh);
}

/* A watch that a received event has taken is not called by the next event, nor sent to the server again. */
static void test_an_event_takes_only_what_stands(void **state)
{
    (void)state;
    zhandle_t *zh = watched("/once");
    stage_hold(zh);
    ask_set(zh, "s", "/once");
    stage_received(zh);
    stage_cut(zh);
    saw(zh, "W changed /once | s 0 | d connecting | d connected");
    ask_delete(zh, "x", "/once");
    saw(zh, "x 0");
    stage_close(zh);
}

/* ---- F1, F3: the state lags behind the loss ---- */

static void lose_a_request(zhandle_t *zh)
{
    shown_by = zh;
    ask_exists(zh, "e", "/", NULL);
    stage_cut(zh);
    stage_told(zh);
    forget();
    shown_by = NULL;
}

static void test_the_state_may_be_connected_when_the_loss_is_told(void **state)
{
    (void)state;
    shown = (struct shown_states){0, 0};
    for (int round = 0; stage_round(round) && (shown.connecting & shown.failed) != 3; round++) {
        zhandle_t *zh = stage_open("");
        lose_a_request(zh);
        stage_close(zh);
    }
    assert_int_equal(shown.connecting, 3); /* both were seen */
    assert_int_equal(shown.failed, 3);
}

/* ---- F16: a multi that the client refuses ---- */

/* The client refuses an operation for its path or for the handle's state. An operation after the refused
 * one ends the process; below a chroot the refused one does. */
static const struct {
    const char *chroot;
    bool expired;
    int count;
    const char *path[3];
    int rc;
} refused_multis[] = {
    {"", true, 1, {"/a"}, ZMARSHALLINGERROR},        {"", true, 2, {"/a", "/b"}, DIES},
    {"", true, 3, {"/a", "/b", "/c"}, DIES},         {"/below", true, 1, {"/a"}, DIES},
    {"/below", true, 2, {"/a", "/b"}, DIES},         {"", false, 1, {"a"}, ZMARSHALLINGERROR},
    {"", false, 2, {"/a", "b/"}, ZMARSHALLINGERROR}, {"", false, 2, {"/a//b", "/b"}, DIES},
    {"", false, 3, {"/a", "/b/", "/c"}, DIES},       {"/below", false, 1, {"/a/"}, DIES},
    {"/below", false, 2, {"/a", "/b/."}, DIES},
};

/* A guard and writes. */
static int send_multi(zhandle_t *zh, int count, const char *const *path)
{
    zoo_op_t ops[3];
    zoo_check_op_init(&ops[0], path[0], -1);
    for (int i = 1; i < count; i++) {
        zoo_set_op_init(&ops[i], path[i], "v", 1, -1, NULL);
    }
    return stage_multi(zh, count, ops);
}

static void test_a_multi_that_is_refused_may_end_the_process(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_multis / sizeof *refused_multis; i++) {
        zhandle_t *zh = stage_open(refused_multis[i].chroot);
        if (refused_multis[i].expired) {
            stage_expire(zh);
        }
        int rc = send_multi(zh, refused_multis[i].count, refused_multis[i].path);
        if (rc != refused_multis[i].rc) {
            fail_msg("multi %zu: expected %d, but it was %d", i, refused_multis[i].rc, rc);
        }
        stage_close(zh);
    }
}

#define SEQUENCES                                                                                            \
    SEQUENCE(test_a_removal_of_all_watches_is_never_refused_at_once),                                        \
        SEQUENCE(test_a_removal_under_way_with_an_empty_table),                                              \
        SEQUENCE(test_a_watch_set_behind_an_event_that_is_received_stands),                                  \
        SEQUENCE(test_a_watch_set_behind_an_event_outlives_the_link),                                        \
        SEQUENCE(test_each_event_tells_whom_it_has_taken), SEQUENCE(test_an_event_takes_only_what_stands),   \
        SEQUENCE(test_the_state_may_be_connected_when_the_loss_is_told),                                     \
        SEQUENCE(test_a_multi_that_is_refused_may_end_the_process)

#endif
