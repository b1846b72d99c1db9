/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What no lock can be faster than: the requests of an uncontended lock on the client's asynchronous API, without a
 * lock around them.
 *
 *   create   create, wait, delete, wait: what it takes to have been there
 *   flight   create and list in one flight, wait for both answers, delete, wait: and to know that nobody was before us
 *   tuned    the same with a client that does not look up its servers' names on each turn of its loop, as ours
 *
 * A contender is a session. Nobody is kept out, so that only one at a time makes sense. */
#define THREADED /* zookeeper.h shows the blocking calls */
#include "rounds.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_TIMEOUT_MS = 30000, CONNECT_TIMEOUT_S = 20, PATH_SIZE = 128 };

static const char parent[] = "/bench-floor";
/* As long as a contender's name in the lock. */
static const char prefix[] = "/bench-floor/_c_00000000-0000-4000-8000-000000000000-lock-";
static bool with_list;
static bool with_names_kept;

struct floor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    zhandle_t *zh;
    bool connected;
    int unanswered;
    int rc; /* the first that was not 0 */
    char node[PATH_SIZE];
};

/* ---- answers ---- */

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct floor *floor = context;
    (void)zh;
    (void)path;
    pthread_mutex_lock(&floor->mutex);
    if (type == ZOO_SESSION_EVENT) {
        floor->connected = state == ZOO_CONNECTED_STATE;
    }
    pthread_cond_signal(&floor->changed);
    pthread_mutex_unlock(&floor->mutex);
}

static void answered(struct floor *floor, int rc, const char *node)
{
    pthread_mutex_lock(&floor->mutex);
    floor->rc = floor->rc ? floor->rc : rc;
    if (node && strlen(node) < sizeof floor->node) {
        strcpy(floor->node, node);
    }
    if (--floor->unanswered == 0) {
        pthread_cond_signal(&floor->changed);
    }
    pthread_mutex_unlock(&floor->mutex);
}

static void on_created(int rc, const char *node, const void *data)
{
    answered((struct floor *)(uintptr_t)data, rc, node);
}

static void on_list(int rc, const struct String_vector *list, const void *data)
{
    (void)list;
    answered((struct floor *)(uintptr_t)data, rc, NULL);
}

static void on_deleted(int rc, const void *data)
{
    answered((struct floor *)(uintptr_t)data, rc, NULL);
}

/* ---- requests ---- */

/* Says how many answers are to come, before the first can. */
static void expect(struct floor *floor, int count)
{
    pthread_mutex_lock(&floor->mutex);
    floor->unanswered = count;
    floor->rc = 0;
    pthread_mutex_unlock(&floor->mutex);
}

static int await(struct floor *floor)
{
    pthread_mutex_lock(&floor->mutex);
    while (floor->unanswered) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    int rc = floor->rc;
    pthread_mutex_unlock(&floor->mutex);
    return rc;
}

static int take(void *contender)
{
    struct floor *floor = contender;
    expect(floor, with_list ? 2 : 1);
    int rc = zoo_acreate(floor->zh, prefix, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                         on_created, floor);
    if (!rc && with_list) {
        rc = zoo_aget_children(floor->zh, parent, 0, on_list, floor);
    }
    return rc ? rc : await(floor);
}

static int give(void *contender)
{
    struct floor *floor = contender;
    expect(floor, 1);
    int rc = zoo_adelete(floor->zh, floor->node, -1, on_deleted, floor);
    return rc ? rc : await(floor);
}

/* ---- life ---- */

static bool await_connection(struct floor *floor)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CONNECT_TIMEOUT_S;
    pthread_mutex_lock(&floor->mutex);
    while (!floor->connected && !rc) {
        rc = pthread_cond_timedwait(&floor->changed, &floor->mutex, &until);
    }
    bool connected = floor->connected;
    pthread_mutex_unlock(&floor->mutex);
    return connected;
}

static bool make_parent(struct floor *floor)
{
    int rc = zoo_create(floor->zh, parent, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    return rc == ZOK || rc == ZNODEEXISTS;
}

static void close_floor(void *contender)
{
    struct floor *floor = contender;
    if (floor->zh) {
        zookeeper_close(floor->zh);
    }
    pthread_cond_destroy(&floor->changed);
    pthread_mutex_destroy(&floor->mutex);
    free(floor);
}

static void *open_floor(const char *hosts)
{
    struct floor *floor = calloc(1, sizeof *floor);
    if (!floor) {
        return NULL;
    }
    pthread_mutex_init(&floor->mutex, NULL);
    pthread_cond_init(&floor->changed, NULL);
    floor->zh = zookeeper_init(hosts, on_event, SESSION_TIMEOUT_MS, NULL, floor, ZOO_NO_LOG_CLIENTENV);
    if (floor->zh && with_names_kept) {
        zoo_set_servers_resolution_delay(floor->zh, -1);
    }
    if (floor->zh && await_connection(floor) && make_parent(floor)) {
        return floor;
    }
    fputs("floor: no connection\n", stderr);
    close_floor(floor);
    return NULL;
}

static const struct rounds_side side = {.open = open_floor, .take = take, .give = give, .close = close_floor};

int main(int argc, char **argv)
{
    const char *how = argc == 4 ? argv[1] : "";
    with_names_kept = !strcmp(how, "tuned");
    with_list = with_names_kept || !strcmp(how, "flight");
    if (!with_list && strcmp(how, "create") != 0) {
        fputs("usage: floor create|flight|tuned HOST:PORT CONTENDERS\n", stderr);
        return 2;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    return rounds_serve(argv[2], argv[3], &side);
}
