/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* ZooKeeper as a coordinator: the life of the fake, and small questions to it. */
#include "coordzk/internal.h"

#include "base/assert.h"

#include <stdio.h>

#define CLIENT_BYTES 32768

const struct coord_host *the_host;

static const char *hosts(const struct world_options *options)
{
    (void)options;
    return "127.0.0.1:2181";
}

/* Returns whether a budget or a script may bring the fault. */
static bool may_come(const struct world_options *options, enum world_fault fault)
{
    return (options->budget[fault] > 0 && options->budget_total > 0) || !the_host->programmed;
}

/* Returns true if there are followers, and the leader may be restarted. */
static bool has_epochs(const struct world_options *options)
{
    return options->servers > 1 && may_come(options, WORLD_FAULT_SERVER);
}

static void ask_unread(int client, void (*completion)(void), const struct String_vector *names, bool *unread)
{
    uint8_t id[16];
    the_host->attempt_id(client, id);
    the_host->options->recipe->unread(completion, names, id, unread);
}

/* Returns whether the directory of a lock may be removed. */
static bool loses_directories(const struct world_options *options)
{
    return may_come(options, WORLD_FAULT_SWEEP) || may_come(options, WORLD_FAULT_RMDIR);
}

static void open_fake(const struct coord_host *host)
{
    const struct world_options *options = host->options;
    the_host = host;
    events_open();
    struct fakezk_options fake = {.clients = options->processes,
                                  .servers = options->servers,
                                  .timed = options->timed,
                                  .latency_min_ms = options->timed ? options->latency_min_ms : 0,
                                  .latency_max_ms = options->timed ? options->latency_max_ms : 0,
                                  .tick_ms = options->tick_ms,
                                  .seed = options->seed,
                                  .defects = options->defects,
                                  .settings = options->settings,
                                  .epochs = has_epochs(options),
                                  .no_containers = options->no_containers,
                                  .callbacks_in_init = options->callbacks_in_init,
                                  .fine = options->fine,
                                  .ignores_children = options->recipe->ignores_children,
                                  .sets_no_data = host->sets_no_data,
                                  .directories_go = loses_directories(options),
                                  .unread = options->recipe->unread != NULL ? ask_unread : NULL,
                                  .before_callback = host->before_callback,
                                  .fixed_orders = (options->without & WORLD_CHOICE_POINT('g')) != 0,
                                  .client_bytes_max = CLIENT_BYTES,
                                  .now_ms = host->now_ms};
    fakezk_open(host->arena, &fake, events_observe, NULL);
}

/* Lets followers catch up with the operator's changes. */
static void settle_log(void)
{
    struct action action;
    struct action_list first = {.out = &action, .room = 1};
    struct coord_news news;
    while (the_host->options->servers > 1) {
        first.count = 0;
        steps_list(&first, COORD_EVERYBODY);
        LS_ASSERT(first.count <= 1);
        if (first.count == 0) {
            return;
        }
        steps_do(&action, &news);
    }
}

static void prepare_crowd(int lock, int count)
{
    LS_ASSERT(count >= 0);
    char path[FAKEZK_PATH_MAX + 16];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/node-%d", lock_directory(lock, 0), i + 1);
        fakezk_operator_create(path, 0, false);
        settle_log();
    }
}

static void prepare_directory(const struct world_options *options, int lock)
{
    int count = 0;
    while (lock_directory(lock, count) != NULL) {
        count++;
    }
    while (count-- > 0) { /* the path of the lock first */
        LS_ASSERT(count <= LS_RECIPE_DIRECTORIES_MAX);
        fakezk_operator_create(lock_directory(lock, count), 0, !options->no_containers);
        settle_log();
        fakezk_operator_preset(lock_directory(lock, count),
                               options->sequence_preset != 0 ? options->sequence_preset : 7);
    }
    prepare_crowd(lock, options->crowd);
}

static void prepare_node(const char *path, int perms)
{
    if (!fakezk_exists(path)) {
        fakezk_operator_create(path, perms, false);
    } else if (perms != 0) {
        fakezk_operator_set_perms(path, perms);
    }
    settle_log();
}

static void prepare(void)
{
    const struct world_options *options = the_host->options;
    bool used = options->used_directory || options->sequence_preset != 0 || options->crowd != 0;
    for (int lock = 0; used && lock < options->locks; lock++) {
        if (options->lock[lock].group == lock) {
            prepare_directory(options, lock);
        }
    }
    if (options->chroot != NULL && !fakezk_exists(options->chroot)) {
        prepare_node(options->chroot, 0);
    }
    for (int i = 0; i < WORLD_NODES_MAX && options->node[i] != NULL; i++) {
        prepare_node(options->node[i], options->node_perms[i]);
    }
}

static void list(struct action_list *list, int client, enum coord_place place)
{
    if (place == COORD_STEPS) {
        steps_list(list, client);
    } else {
        faults_list(list, client, place);
    }
}

static bool enabled(const struct action *action)
{
    return action_has(action, TRAIT_STEP) ? steps_enabled(action) : faults_enabled(action);
}

static bool servers_stand(void)
{
    for (int s = 0; s < the_host->options->servers; s++) {
        if (fakezk_is_frozen(s)) {
            return false;
        }
    }
    return true;
}

static bool quiet(void)
{
    return fakezk_quiet() && !fakezk_orphans() && servers_stand();
}

static bool linked(int client)
{
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        if ((fakezk_handles(client) >> h & 1) != 0 && !fakezk_connected(client, h)) {
            return false;
        }
    }
    return true;
}

static bool has_open(int client)
{
    return fakezk_handles(client) != 0;
}

/* Returns a zxid of the API less FAKEZK_EPOCH. A token below FAKEZK_EPOCH is no such zxid, and stays as it
 * is. */
static int64_t position(int64_t token)
{
    return token >= FAKEZK_EPOCH ? token - FAKEZK_EPOCH : token;
}

static int32_t number_of_token(int64_t token)
{
    LS_ASSERT(the_host != NULL);
    return fakezk_number(token - FAKEZK_EPOCH);
}

/* Returns the session that owns the node with the czxid `created` in the lock's first directory, if a
 * handle of the client has this session. Otherwise returns the session of the first handle that has one; 0
 * = none has. */
static int32_t session_of_grant(int client, int lock, int64_t created)
{
    int32_t first = 0, owner = -1;
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        int32_t session = fakezk_session(client, h);
        if (first != 0 && session != 0 && owner < 0) {
            owner = fakezk_owner(lock_directory(lock, 0), (int32_t)created);
        }
        if (session != 0 && session == owner) {
            return session;
        }
        first = first != 0 ? first : session;
    }
    return first;
}

static bool has_container(void)
{
    for (int lock = 0; lock < the_host->options->locks; lock++) {
        for (int i = 0; lock_directory(lock, i) != NULL; i++) {
            if (fakezk_is_container(lock_directory(lock, i))) {
                return true;
            }
        }
    }
    return false;
}

static bool drop_unread(const struct action *action)
{
    LS_ASSERT(action->kind != ACTION_DELIVER || action->handle < FAKEZK_HANDLES_MAX);
    return action->kind == ACTION_DELIVER && fakezk_drop_unread(action->process, action->handle);
}

/* Returns true if no server is frozen, and without a fault only the client ends its link and session. A
 * frozen server would be thawed, which judges see. */
static bool stands(int client)
{
    return servers_stand() && fakezk_stands(client);
}

static bool is_sure(const struct action *delivery)
{
    LS_ASSERT(delivery->kind == ACTION_DELIVER);
    return fakezk_is_sure(delivery->process, delivery->handle);
}

static uint32_t kind_of_delivery(const struct action *delivery)
{
    LS_ASSERT(delivery->kind == ACTION_DELIVER);
    return fakezk_next_kind(delivery->process, delivery->handle);
}

/* Must equal CLIENT_NAMES of CMakeLists.txt. */
static const char *const SYMBOLS[] = {
    "zoo_*", "ZOO_*", "zookeeper_*", "ZOOKEEPER_*", "zerror", "is_unrecoverable", "*_String_vector", NULL};

static const struct coord_word DEFECTS[] = {
    {"wrap", FAKEZK_DEFECT_WRAP},
    {"immortal", FAKEZK_DEFECT_IMMORTAL},
    {"silent-session", FAKEZK_DEFECT_SILENT_SESSION},
    {"drop-at-close", FAKEZK_DEFECT_DROP_AT_CLOSE},
    {"missed-watch", FAKEZK_DEFECT_MISSED_WATCH},
    {"half-list", FAKEZK_DEFECT_CURSOR},
    {NULL, 0},
};

static const struct coord_word SETTINGS[] = {
    {"throttled", FAKEZK_SETTING_THROTTLED},
    {"local-sessions", FAKEZK_SETTING_LOCAL_SESSIONS},
    {"requires-sasl", FAKEZK_SETTING_REQUIRES_SASL},
    {"read-only", FAKEZK_SETTING_READ_ONLY},
    {"tls", FAKEZK_SETTING_TLS},
    {NULL, 0},
};

_Static_assert(WORLD_DEFECT_WRAP == FAKEZK_DEFECT_WRAP, "");
_Static_assert(WORLD_DEFECT_DROP_AT_CLOSE == FAKEZK_DEFECT_DROP_AT_CLOSE, "");
_Static_assert(WORLD_SETTING_READ_ONLY == FAKEZK_SETTING_READ_ONLY, "");
_Static_assert(WORLD_PATH_MAX == FAKEZK_PATH_MAX, "");

static const struct coord_lending LENDING = {
    .keep = fakezk_keep,
    .put_back = fakezk_put_back,
    .lend = fakezk_lend,
    .is_whole = fakezk_lent_is_whole,
    .is_same = fakezk_same_lent,
    .kind = kind_of_delivery,
};

static const struct coordinator ZOOKEEPER = {
    .name = "zookeeper",
    .symbols = SYMBOLS,
    .defects = DEFECTS,
    .settings = SETTINGS,
    .lacking = faults_lacking,
    .hosts = hosts,

    .open = open_fake,
    .prepare = prepare,
    .trouble = fakezk_trouble,
    .enter = fakezk_enter,
    .leave = fakezk_leave,
    .pause = fakezk_pause,
    .crash = fakezk_crash,
    .fail_call = fakezk_fail_call,
    .failing_call = fakezk_failing_call,

    .list = list,
    .enabled = enabled,
    .step = steps_do,
    .fault = faults_do,
    .price = faults_price,
    .next_by_default = steps_next_by_default,
    .last_by_default = steps_last_by_default,
    .without = without_filter,
    .next_ms = fakezk_next_ms,

    .quiet = quiet,
    .busy = fakezk_busy,
    .cut_off = fakezk_is_partitioned,
    .linked = linked,
    .has_open = has_open,
    .awaits = fakezk_awaits,

    .position = position,
    .number_of_token = number_of_token,
    .number_of_position = fakezk_number,
    .session_of_grant = session_of_grant,
    .has_container = has_container,

    .scope = fakezk_scope,
    .own_block = fakezk_client_block,
    .canon = fakezk_canon,
    .drop_unread = drop_unread,

    .label = texts_label,
    .label_word = texts_label_word,
    .answer = texts_answer,
    .stimulus = texts_stimulus,
    .dump = texts_dump,
    .take_told = fakezk_take_told,
    .told_name = fakezk_told_name,

    .creates = fakezk_creates,
    .stands = stands,
    .is_sure = is_sure,
    .uses = fakezk_uses,

    .write_start = guarded_start,
    .write_waits = guarded_waits,
    .write_resume = guarded_resume,
    .guard = guarded_ask,

    .detail = texts_detail,
    .notices = fakezk_notices,
    .lending = &LENDING,
};

__attribute__((constructor)) static void add(void)
{
    coordinator_add(&ZOOKEEPER);
}
