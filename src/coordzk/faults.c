/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Faults of links, sessions, servers and the operator: which are enabled, and what they do. */
#include "base/assert.h"
#include "coordzk/internal.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

_Static_assert(WORLD_LINKS_MAX == FAKEZK_HANDLES_MAX, "each handle has a link");

static struct action *add_cut(struct action_list *list, int client, int link, int keep, int apply)
{
    LS_ASSERT(keep >= 0 && keep <= UINT8_MAX && apply >= 0 && apply <= UINT8_MAX);
    struct action *cut = action_list_add(list, ACTION_CUT, client);
    cut->keep = (uint8_t)keep;
    cut->apply = (uint8_t)apply;
    cut->rc = the_host->options->loss_rc;
    cut->modes = ACTION_CUT_LINK(link);
    return cut;
}

static void add_cuts_of(struct action_list *list, int client, int link, int handle)
{
    LS_ASSERT(handle >= 0 && handle < FAKEZK_HANDLES_MAX);
    bool loss = action_list_buys(list, WORLD_FAULT_LOSS);
    bool late = action_list_buys(list, WORLD_FAULT_LATE);
    int keep_max = fakezk_unreceived_messages(client, handle);
    int apply_max = fakezk_unread_requests(client, handle);
    for (int keep = 0; keep <= keep_max; keep++) {
        for (int apply = 0; apply <= apply_max; apply++) {
            if (loss && fakezk_can_cut(client, handle, keep, apply, false)) {
                add_cut(list, client, link, keep, apply);
            }
            if (late && fakezk_can_cut(client, handle, keep, apply, true)) {
                add_cut(list, client, link, keep, apply)->modes |= ACTION_CUT_LATE;
            }
        }
    }
}

static void add_cuts(struct action_list *list, int client)
{
    int handle;
    for (int link = 0; (handle = fakezk_linked(client, link)) >= 0; link++) {
        add_cuts_of(list, client, link, handle);
    }
}

static void add_expiries(struct action_list *list, int client)
{
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        int32_t session = fakezk_session(client, h);
        if (session != 0 && fakezk_session_live(session)) {
            action_list_add(list, ACTION_EXPIRE, client)->session = session;
        }
    }
}

/* If the budget pays, adds a fault of this kind at each lock for which contender_of() finds a node. */
static void add_at_contenders(struct action_list *list, int kind, int client)
{
    LS_ASSERT(kind >= 0 && kind < ACTION_KINDS && world_action_infos[kind].fault > 0);
    bool pays = action_list_buys(list, (enum world_fault)(world_action_infos[kind].fault - 1));
    for (int lock = 0; pays && lock < the_host->options->locks; lock++) {
        if (contender_of(client, lock) != NULL) {
            action_list_add(list, kind, client)->lock = (uint8_t)lock;
        }
    }
}

static void add_client_faults(struct action_list *list, int client)
{
    if (action_list_buys(list, WORLD_FAULT_LOSS) || action_list_buys(list, WORLD_FAULT_LATE)) {
        add_cuts(list, client);
    }
    if (action_list_buys(list, WORLD_FAULT_EXPIRE)) {
        add_expiries(list, client);
    }
    add_at_contenders(list, ACTION_EVICT, client);
    add_at_contenders(list, ACTION_TOUCH, client);
    add_at_contenders(list, ACTION_RESTRICT, client);
}

static void add_refusals(struct action_list *list, int client)
{
    bool pays = action_list_buys(list, WORLD_FAULT_REFUSE);
    for (int nth = 0; pays && fakezk_refusable(client, nth) >= 0; nth++) {
        action_list_add(list, ACTION_REFUSE, client)->nth = (uint8_t)nth;
    }
}

static void add_sessions(struct action_list *list, int client)
{
    int32_t sessions[COORD_SESSIONS_MAX];
    int count = fakezk_sessions(client, false, sessions, COORD_SESSIONS_MAX);
    LS_ASSERT(count <= COORD_SESSIONS_MAX);
    for (int i = 0; i < count && i < COORD_SESSIONS_MAX; i++) {
        action_list_add(list, ACTION_EXPIRE, client)->session = sessions[i];
    }
}

/* Returns the first directory of a lock that the server may sweep, the lock's path last; NULL = none. */
static const char *sweepable_directory(int lock)
{
    int i = 0;
    while (lock_directory(lock, i) != NULL && !fakezk_can_sweep(lock_directory(lock, i))) {
        i++;
    }
    return lock_directory(lock, i);
}

/* Writes the path of the directory that an operator would remove next. This is the lock's first directory
 * that exists and has no children. If there is none, it is the path of the lock or, if that does not exist,
 * its deepest existing ancestor below the chroot. False: there is none, or it has children. */
static bool empty_directory(int lock, char path[FAKEZK_PATH_MAX])
{
    const char *root = the_host->options->chroot;
    size_t chroot = root != NULL ? strlen(root) : 0;
    const char *deepest = lock_directory(lock, 0);
    for (int i = 0; lock_directory(lock, i + 1) != NULL && !fakezk_can_rmdir(deepest); i++) {
        deepest = lock_directory(lock, i + 1);
    }
    LS_ASSERT(strlen(deepest) < FAKEZK_PATH_MAX);
    strcpy(path, deepest);
    while (strlen(path) > chroot && !fakezk_exists(path)) {
        *strrchr(path, '/') = 0;
    }
    return strlen(path) > chroot && fakezk_can_rmdir(path);
}

static void add_service_faults(struct action_list *list)
{
    const struct world_options *options = the_host->options;
    for (int s = 0; s < options->servers; s++) {
        if (fakezk_is_frozen(s)) {
            action_list_add(list, ACTION_THAW, COORD_NOBODY)->server = (uint8_t)s;
        } else if (s > 0 && action_list_buys(list, WORLD_FAULT_LAG)) {
            action_list_add(list, ACTION_FREEZE, COORD_NOBODY)->server = (uint8_t)s;
        }
        if (action_list_buys(list, WORLD_FAULT_SERVER)) {
            action_list_add(list, ACTION_RESTART_SERVER, COORD_NOBODY)->server = (uint8_t)s;
        }
    }
    for (int lock = 0; action_list_buys(list, WORLD_FAULT_SWEEP) && lock < options->locks; lock++) {
        if (options->lock[lock].group == lock && sweepable_directory(lock) != NULL) {
            action_list_add(list, ACTION_SWEEP, COORD_NOBODY)->lock = (uint8_t)lock;
        }
    }
    for (int lock = 0; action_list_buys(list, WORLD_FAULT_RMDIR) && lock < options->locks; lock++) {
        char path[FAKEZK_PATH_MAX];
        if (options->lock[lock].group == lock && empty_directory(lock, path)) {
            action_list_add(list, ACTION_RMDIR, COORD_NOBODY)->lock = (uint8_t)lock;
        }
    }
}

void faults_list(struct action_list *list, int client, enum coord_place place)
{
    switch (place) {
    case COORD_FAULTS:
        add_client_faults(list, client);
        break;
    case COORD_REFUSALS:
        add_refusals(list, client);
        break;
    case COORD_SESSIONS:
        add_sessions(list, client);
        break;
    case COORD_SERVICE:
        add_service_faults(list);
        break;
    case COORD_STEPS:
    case COORD_ENDS: /* ZooKeeper has no kinds of its own */
        break;
    }
}

const char *faults_lacking(const struct world_options *options, enum world_fault fault)
{
    switch (fault) {
    case WORLD_FAULT_LAG:
    case WORLD_FAULT_LATE: /* a late commit went by way of a follower */
        return options->servers > 1 ? NULL : "two servers at least (world servers=2) with this fault";
    case WORLD_FAULT_SWEEP:
        return options->no_containers ? "servers that know containers with this fault" : NULL;
    default:
        return NULL;
    }
}

static bool is_enabled_on_client(const struct action *action)
{
    int client = action->process, handle;
    if (action_has(action, TRAIT_CONTENDER)) {
        return action->lock < the_host->options->locks && contender_of(client, action->lock) != NULL;
    }
    switch (action->kind) {
    case ACTION_CUT:
        handle = fakezk_linked(client, action_cut_link(action));
        return handle >= 0 &&
               fakezk_can_cut(client, handle, action->keep, action->apply, action_cut_is_late(action));
    case ACTION_REFUSE:
        return fakezk_refusable(client, action->nth) >= 0;
    case ACTION_PARTITION:
        return !fakezk_is_partitioned(client);
    case ACTION_HEAL:
        return fakezk_is_partitioned(client);
    default: /* EXPIRE */
        LS_ASSERT(action->kind == ACTION_EXPIRE);
        return fakezk_session_live(action->session);
    }
}

static bool is_enabled_on_service(const struct action *action)
{
    int s = action->server;
    if (action->kind == ACTION_SWEEP) {
        return s < the_host->options->locks && sweepable_directory(s) != NULL;
    }
    if (action->kind == ACTION_RMDIR) {
        char path[FAKEZK_PATH_MAX];
        return s < the_host->options->locks && empty_directory(s, path);
    }
    if (action_has(action, TRAIT_PATH)) {
        const char *path = the_host->text(s);
        return path != NULL && fakezk_exists(path) == (action->kind == ACTION_REMOVE);
    }
    if (s >= the_host->options->servers) {
        return false;
    }
    switch (action->kind) {
    case ACTION_FREEZE:
        return s > 0 && !fakezk_is_frozen(s);
    case ACTION_THAW:
        return fakezk_is_frozen(s) || fakezk_is_lagging(s);
    case ACTION_LAG:
        return s > 0 && !fakezk_is_lagging(s);
    default: /* RESTART_SERVER */
        LS_ASSERT(action->kind == ACTION_RESTART_SERVER);
        return true;
    }
}

bool faults_enabled(const struct action *action)
{
    return action_has(action, TRAIT_ON_PROCESS) ? is_enabled_on_client(action)
                                                : is_enabled_on_service(action);
}

static void do_to_contender(const struct action *action)
{
    char path[FAKEZK_PATH_MAX];
    const char *node = contender_of(action->process, action->lock);
    LS_ASSERT(action->process < the_host->options->processes && action->lock < the_host->options->locks);
    LS_ASSERT(node != NULL);
    strcpy(path, node);
    if (action->kind == ACTION_EVICT) {
        fakezk_operator_remove(path);
    } else if (action->kind == ACTION_TOUCH) {
        fakezk_operator_set(path, "touched");
    } else {
        fakezk_operator_set_perms(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    }
}

static void do_on_client(const struct action *action)
{
    int client = action->process;
    int rc = action->rc != 0 ? action->rc : the_host->options->loss_rc;
    switch (action->kind) {
    case ACTION_CUT:
        fakezk_cut(client, fakezk_linked(client, action_cut_link(action)), action->keep, action->apply, rc,
                   action_cut_is_late(action));
        break;
    case ACTION_REFUSE:
        fakezk_refuse(client, fakezk_refusable(client, action->nth));
        break;
    case ACTION_PARTITION:
    case ACTION_HEAL:
        LS_ASSERT(fakezk_is_partitioned(client) == (action->kind == ACTION_HEAL));
        fakezk_partition(client, action->kind == ACTION_PARTITION);
        break;
    default: /* EXPIRE */
        LS_ASSERT(action->kind == ACTION_EXPIRE);
        fakezk_expire(action->session);
        break;
    }
}

static void remove_empty_directory(int lock)
{
    char path[FAKEZK_PATH_MAX];
    bool empty = empty_directory(lock, path);
    LS_ASSERT(empty);
    fakezk_operator_rmdir(path);
}

static void do_on_service(const struct action *action)
{
    switch (action->kind) {
    case ACTION_FREEZE:
        LS_ASSERT(action->server > 0 && !fakezk_is_frozen(action->server));
        fakezk_freeze(action->server, true);
        break;
    case ACTION_THAW:
        fakezk_freeze(action->server, false);
        fakezk_lag(action->server, false);
        break;
    case ACTION_LAG:
        fakezk_lag(action->server, true);
        break;
    case ACTION_RESTART_SERVER:
        fakezk_restart_server(action->server);
        break;
    case ACTION_SWEEP:
        fakezk_sweep(sweepable_directory(action->lock));
        break;
    case ACTION_RMDIR:
        remove_empty_directory(action->lock);
        break;
    case ACTION_FOREIGN:
        fakezk_operator_create(the_host->text(action->text), action->perms, false);
        break;
    default: /* REMOVE */
        LS_ASSERT(action->kind == ACTION_REMOVE);
        fakezk_operator_remove(the_host->text(action->text));
        break;
    }
}

void faults_do(const struct action *action)
{
    if (action_has(action, TRAIT_CONTENDER)) {
        do_to_contender(action);
    } else if (action_has(action, TRAIT_ON_PROCESS)) {
        do_on_client(action);
    } else {
        do_on_service(action);
    }
}

/* Returns true if an open handle of the client has the session, so that the client may resume it. */
static bool is_owned(int client, int32_t session)
{
    LS_ASSERT(session > 0);
    int open_handles = fakezk_handles(client);
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        if ((open_handles >> h & 1) != 0 && fakezk_session(client, h) == session) {
            return true;
        }
    }
    return false;
}

unsigned faults_price(const struct action *action)
{
    if (action->kind != ACTION_EXPIRE) {
        return 0;
    }
    unsigned due = steps_enabled(action) ? COORD_DUE : 0;
    return is_owned(action->process, action->session) ? due : due | COORD_ABANDONED;
}
