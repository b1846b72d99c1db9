/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Turns events of the fake into semantic events: paths become locks, clients become processes (D5). */
#include "base/assert.h"
#include "coordzk/internal.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

static size_t lock_path_size[WORLD_LOCKS_MAX]; /* bytes without the zero */
static char directory[WORLD_LOCKS_MAX][LS_RECIPE_DIRECTORIES_MAX][FAKEZK_PATH_MAX];
static int directories; /* number of directories that the recipe names */

static void open_directories(int lock)
{
    const char *const *name = the_host->options->recipe->directories;
    for (directories = 0; name != NULL && name[directories] != NULL; directories++) {
        LS_ALWAYS(directories < LS_RECIPE_DIRECTORIES_MAX);
        snprintf(directory[lock][directories], FAKEZK_PATH_MAX, "%s/%s", the_host->lock_path[lock],
                 name[directories]);
    }
}

void events_open(void)
{
    for (int lock = 0; lock < the_host->options->locks; lock++) {
        lock_path_size[lock] = strlen(the_host->lock_path[lock]);
        LS_ASSERT(lock_path_size[lock] > 0 && lock_path_size[lock] < FAKEZK_PATH_MAX);
        open_directories(lock);
    }
}

const char *lock_directory(int lock, int index)
{
    LS_ASSERT(lock >= 0 && lock < the_host->options->locks && index >= 0);
    if (index < directories) {
        return directory[lock][index];
    }
    return index == directories ? the_host->lock_path[lock] : NULL;
}

/* Returns the class of a node, and its lock in *lock. Without classify(), or in a world of mutexes, each node
 * is a contender, and *lock stays as it is. */
static enum ls_node_class classify(const char *below, int *lock)
{
    const struct ls_recipe *recipe = the_host->options->recipe;
    if (recipe->classify == NULL || the_host->config->locks == NULL) {
        return LS_NODE_CONTENDER;
    }
    int first = *lock;
    LS_ASSERT(the_host->options->lock[first].group == first);
    enum ls_node_class class = recipe->classify(the_host->config, below, lock);
    bool in_group =
        *lock >= first && *lock < the_host->options->locks && the_host->options->lock[*lock].group == first;
    if (!in_group) {
        the_host->trouble("classify() of %s says lock %d of a node at %s, which is none of the group's",
                          recipe->name, *lock, the_host->lock_path[first]);
        *lock = first;
    }
    return class;
}

static enum path_role role_of_node(const char *below, int *lock)
{
    switch (classify(below, lock)) {
    case LS_NODE_CONTENDER:
        return PATH_CONTENDER;
    case LS_NODE_QUEUED:
        return PATH_QUEUED;
    case LS_NODE_OTHER:
    default:
        return PATH_OTHER;
    }
}

static enum path_role role_below(const char *below, int *lock)
{
    const char *slash = strchr(below, '/');
    size_t size = slash != NULL ? (size_t)(slash - below) : strlen(below);
    const char *const *name = the_host->options->recipe->directories;
    const char *count = the_host->options->recipe->count;
    if (count != NULL && strcmp(count, below) == 0) {
        return PATH_COUNT;
    }
    if (name == NULL) {
        return slash == NULL ? role_of_node(below, lock) : PATH_OTHER;
    }
    while (*name != NULL && (strncmp(*name, below, size) != 0 || (*name)[size] != 0)) {
        name++;
    }
    if (*name == NULL || slash == NULL) {
        return *name != NULL ? PATH_DIRECTORY : PATH_OTHER;
    }
    return strchr(slash + 1, '/') == NULL ? role_of_node(below, lock) : PATH_OTHER;
}

int lock_of_path(const char *path, enum path_role *role)
{
    for (int lock = 0; lock < the_host->options->locks; lock++) {
        size_t size = lock_path_size[lock];
        if (strncmp(path, the_host->lock_path[lock], size) != 0) {
            continue;
        }
        if (path[size] == 0) {
            *role = PATH_DIRECTORY;
            return lock;
        }
        bool is_near = path[size] == '/' && (directories > 0 || strchr(path + size + 1, '/') == NULL);
        if (is_near) {
            *role = role_below(path + size + 1, &lock);
            return lock;
        }
    }
    *role = PATH_OTHER;
    return -1;
}

const char *contender_of(int client, int lock)
{
    LS_ASSERT(client >= 0 && client < the_host->options->processes);
    const char *queued = NULL, *found = NULL;
    for (int i = 0; found == NULL && lock_directory(lock, i) != NULL; i++) {
        enum path_role role;
        const char *path = fakezk_ephemeral_child(lock_directory(lock, i), client);
        bool is_own = path != NULL && lock_of_path(path, &role) == lock;
        found = is_own && role == PATH_CONTENDER ? path : NULL;
        queued = queued == NULL && is_own && role == PATH_QUEUED ? path : queued;
    }
    return found != NULL ? found : queued;
}

/* Returns the number of the directory that is this path or, of a node, its parent; UINT8_MAX = none. The path
 * of the lock has the last number. */
static uint8_t directory_of_path(const char *path, int lock, bool of_node)
{
    size_t size = of_node ? (size_t)(strrchr(path, '/') - path) : strlen(path);
    const char *known;
    for (int i = 0; (known = lock_directory(lock, i)) != NULL; i++) {
        if (strncmp(known, path, size) == 0 && known[size] == 0) {
            return (uint8_t)i;
        }
    }
    return UINT8_MAX;
}

static struct event about_path(int kind, const struct fakezk_event *from, enum path_role *role)
{
    struct event event = the_host->event_of(kind, from->client);
    int lock = lock_of_path(from->path, role);
    event.lock = lock >= 0 ? (uint8_t)lock : EVENT_LOCK_NONE;
    event.zxid = fakezk_zxid(from->zxid);
    event.cause = fakezk_zxid(from->cause);
    event.session = from->session;
    event.path = from->path;
    return event;
}

/* Judges the data of a contender. Without configured `contents` any data will do. */
static void judge_contents(const struct fakezk_event *from)
{
    LS_ASSERT(from->data_size >= 0);
    const char *contents = the_host->options->contents;
    size_t size = (size_t)from->data_size;
    if (contents != NULL &&
        (strlen(contents) != size || (size > 0 && memcmp(contents, from->data, size) != 0))) {
        the_host->offence(from->client, EVENT_OFFENCE_CONTENTS, NULL);
    }
}

static void node_event(int kind, const struct fakezk_event *from)
{
    LS_ASSERT(kind != EVENT_NODE_DELETED || from->zxid <= from->cause);
    LS_ASSERT(!from->ephemeral || from->session > 0);
    enum path_role role;
    struct event event = about_path(kind, from, &role);
    if (from->ephemeral && event.lock != EVENT_LOCK_NONE) {
        event.node_role = role == PATH_CONTENDER ? 1 : role == PATH_QUEUED ? 2 : 0;
    }
    _Static_assert(EVENT_BY_OPERATOR == FAKEZK_BY_OPERATOR, "they say the same");
    event.owner = from->actor;
    if (kind == EVENT_NODE_CREATED && event.node_role != 0) {
        event.owner = directory_of_path(from->path, event.lock, true);
    }
    bool joins =
        kind == EVENT_NODE_CREATED && event.node_role != 0 && from->client < the_host->options->processes;
    if (joins) {
        event.creator_idle = the_host->says_idle(from->client);
    }
    the_host->event(&event);
    if (joins && event.node_role == 1) {
        judge_contents(from);
    }
}

/* Returns the capacity in a node's data: 4 bytes, the highest first. 0 = the data are no capacity. */
static int32_t capacity_in(const struct fakezk_event *from)
{
    LS_ASSERT(from->data_size <= 0 || from->data != NULL);
    int64_t capacity = 0;
    for (int i = 0; i < from->data_size && from->data_size == 4; i++) {
        capacity = capacity << 8 | (unsigned char)from->data[i];
    }
    return capacity <= LS_RECIPE_COUNT_MAX ? (int32_t)capacity : 0;
}

/* Emits EVENT_COUNT_SET if the path is the node of a lock's capacity. */
static void count_event(const struct fakezk_event *from)
{
    enum path_role role;
    struct event event = about_path(EVENT_COUNT_SET, from, &role);
    event.process = EVENT_PROCESS_NONE;
    if (event.lock != EVENT_LOCK_NONE && role == PATH_COUNT) {
        event.capacity = from->kind == FAKEZK_NODE_DELETED ? 0 : capacity_in(from);
        the_host->event(&event);
    }
}

static void watch_event(int kind, const struct fakezk_event *from)
{
    LS_ASSERT(from->code >= 0 && from->code <= 2);
    enum path_role role;
    struct event event = about_path(kind, from, &role);
    bool child_table = from->code == 2;
    if (event.lock == EVENT_LOCK_NONE) {
        return;
    }
    if (!child_table && role == PATH_COUNT) {
        event.watch = EVENT_WATCH_COUNT;
    } else if (child_table && role == PATH_DIRECTORY) {
        event.watch = EVENT_WATCH_PARENT;
        event.owner = directory_of_path(from->path, event.lock, false);
    } else if (child_table || role == PATH_DIRECTORY || from->zxid == 0) {
        event.watch = EVENT_WATCH_OTHER;
    } else {
        event.watch = from->own ? EVENT_WATCH_OWN : EVENT_WATCH_PREDECESSOR;
    }
    the_host->event(&event);
}

static void woken_event(const struct fakezk_event *from)
{
    enum path_role role;
    struct event event = about_path(EVENT_WOKEN, from, &role);
    event.zk_type = from->code;
    event.owner = role != PATH_DIRECTORY && from->own;
    if (event.lock != EVENT_LOCK_NONE) {
        the_host->event(&event);
    }
}

static uint8_t kind_of_name(const char *op)
{
    static const struct {
        const char *op;
        uint8_t kind;
    } kinds[] = {{"create", EVENT_REQUEST_CREATE},  {"delete", EVENT_REQUEST_DELETE},
                 {"exists", EVENT_REQUEST_EXISTS},  {"get", EVENT_REQUEST_GET},
                 {"set", EVENT_REQUEST_SET},        {"list", EVENT_REQUEST_CHILDREN},
                 {"sync", EVENT_REQUEST_SYNC},      {"multi", EVENT_REQUEST_MULTI},
                 {"unwatch", EVENT_REQUEST_UNWATCH}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].op, op) == 0) {
            return kinds[i].kind;
        }
    }
    return EVENT_REQUEST_OTHER;
}

/* Caches kind_of_name(): names are compared once for each op, not for each request. */
static int request_kind(int op)
{
    static uint8_t known[32]; /* kind + 1 */
    if (op < 0 || (size_t)op >= sizeof known) {
        return EVENT_REQUEST_OTHER;
    }
    if (known[op] == 0) {
        known[op] = (uint8_t)(kind_of_name(fakezk_op_name(op)) + 1);
        LS_ASSERT(known[op] > 0);
    }
    return known[op] - 1;
}

/* Emits the event of a link or session, unless a recipe's stop() is running. */
static void session_event(const struct fakezk_event *from)
{
    if (the_host->stopping() || from->code == ZOO_READONLY_STATE) {
        return; /* a read-only server confirms no session */
    }
    int kind = EVENT_AUTH_FAILED;
    if (from->code == ZOO_CONNECTED_STATE) {
        kind = EVENT_LINK_UP;
    } else if (from->code == ZOO_CONNECTING_STATE) {
        kind = EVENT_LINK_DOWN;
    } else if (from->code == ZOO_EXPIRED_SESSION_STATE) {
        kind = EVENT_EXPIRED;
    }
    struct event event = the_host->event_of(kind, from->client);
    event.session = from->session;
    event.owner = from->handle;
    the_host->event(&event);
}

static void plain(int kind, const struct fakezk_event *from)
{
    LS_ASSERT(from->session > 0);
    struct event event = the_host->event_of(kind, from->client);
    event.session = from->session;
    event.code = from->code;
    the_host->event(&event);
}

void events_observe(void *ctx, const struct fakezk_event *from)
{
    (void)ctx;
    enum path_role role;
    struct event event;
    switch ((enum fakezk_event_kind)from->kind) {
    case FAKEZK_NODE_CREATED:
        node_event(EVENT_NODE_CREATED, from);
        count_event(from);
        break;
    case FAKEZK_NODE_DELETED:
        node_event(EVENT_NODE_DELETED, from);
        count_event(from);
        break;
    case FAKEZK_NODE_SET:
        if (from->ephemeral) {
            node_event(EVENT_NODE_SET, from);
        }
        count_event(from);
        break;
    case FAKEZK_SESSION_OPENED:
        plain(EVENT_SESSION_OPENED, from);
        break;
    case FAKEZK_SESSION_CLOSING:
        plain(EVENT_SESSION_CLOSING, from);
        break;
    case FAKEZK_SESSION_CLOSED:
        plain(EVENT_SESSION_CLOSED, from);
        break;
    case FAKEZK_REQUESTED:
        event = about_path(EVENT_REQUEST, from, &role);
        event.request = request_kind(from->code);
        the_host->event(&event);
        break;
    case FAKEZK_WATCH_SET:
        watch_event(EVENT_WATCH_SET, from);
        break;
    case FAKEZK_WATCH_GONE:
        watch_event(EVENT_WATCH_GONE, from);
        break;
    case FAKEZK_WOKEN:
        woken_event(from);
        break;
    case FAKEZK_SESSION_EVENT:
        session_event(from);
        break;
    case FAKEZK_EFFECT:
        guarded_observe(from);
        break;
    case FAKEZK_LISTED:
        event = about_path(EVENT_LISTED, from, &role);
        if (role == PATH_DIRECTORY) {
            the_host->event(&event);
        }
        break;
    case FAKEZK_MISUSED:
        the_host->offence(from->client, EVENT_OFFENCE_HANDLE, from->path);
        break;
    case FAKEZK_CALL_FAILED:
        the_host->wake(from->client); /* the next attempt differs: it has memory */
        break;
    case FAKEZK_ABORTED:
        the_host->offence(from->client, EVENT_OFFENCE_CRASH, from->path);
        the_host->aborted(from->client);
        break;
    }
}
