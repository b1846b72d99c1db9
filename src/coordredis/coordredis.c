/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Redis as a coordinator: src/fakeredis behind coord/coordinator.h.
 *
 * The path of a lock is the name of its key, in database 0. With one server the key is a claim of the
 * client that has written it (key_holders.c). The claim ends when the key is removed, or gets another value
 * or another writer.
 *
 * There are no sessions. The session of an event stands for a life of a process, see fakeredis_lives().
 *
 * A lease ends by the clock of its server. In a world without a clock, lease_ends.c says when it may end,
 * and whether that costs a fault. */
#include "base/assert.h"
#include "coordredis/internal.h"

#include <stdio.h>
#include <string.h>

const struct coord_host *redis_host;

static void add(struct action_list *list, enum action_kind kind, int client, int connection)
{
    LS_ASSERT(client < redis_host->options->processes && connection < FAKEREDIS_CONNECTIONS_MAX);
    action_list_add(list, kind, client)->handle = (uint8_t)connection;
}

static void add_steps(struct action_list *list, int client)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (!fakeredis_is_open(client, i)) {
            continue;
        }
        if (fakeredis_can_apply(client, i)) {
            add(list, ACTION_APPLY, client, i);
        }
        if (fakeredis_can_deliver(client, i)) {
            add(list, ACTION_DELIVER, client, i);
        }
        if (fakeredis_can_connect(client, i)) {
            add(list, ACTION_CONNECT, client, i);
        }
    }
    if (fakeredis_can_arrive(client)) {
        add(list, (enum action_kind)ACTION_ARRIVE, client, 0);
    }
}

static void list(struct action_list *list, int client, enum coord_place place)
{
    LS_ASSERT(place <= COORD_SESSIONS);
    if (place == COORD_STEPS) {
        bool all = client == (int)COORD_EVERYBODY;
        for (int p = all ? 0 : client; p < (all ? redis_host->options->processes : client + 1); p++) {
            if (p < redis_host->options->processes) {
                add_steps(list, p);
                add_expiries(list, p, true, false);
            }
        }
    } else if (place == COORD_FAULTS) {
        add_client_faults(list, client);
    } else if (place == COORD_REFUSALS) {
        add_refusals(list, client);
    } else if (place == COORD_SERVICE) {
        add_service_faults(list);
    } else if (place == COORD_ENDS) {
        add_ends(list, client);
    } else if (place == COORD_SESSIONS) {
        add_expiries(list, client, true, true);
    }
}

static bool enabled(const struct action *action)
{
    int client = action->process, connection = action->handle;
    if (!action_has(action, TRAIT_STEP)) {
        bool of_process = !action_has(action, TRAIT_ON_SERVICE);
        return (!of_process || client < redis_host->options->processes) && fault_is_enabled(action);
    }
    if (client >= redis_host->options->processes || connection >= FAKEREDIS_CONNECTIONS_MAX) {
        return false;
    }
    switch (action->kind) {
    case ACTION_APPLY:
        return fakeredis_can_apply(client, connection);
    case ACTION_DELIVER:
        return fakeredis_is_open(client, connection) && fakeredis_can_deliver(client, connection);
    case ACTION_CONNECT:
        return fakeredis_can_connect(client, connection);
    case ACTION_ARRIVE:
        return fakeredis_can_arrive(client);
    default:
        return false;
    }
}

static void step(const struct action *action, struct coord_news *news)
{
    int client = action->process, connection = action->handle;
    LS_ASSERT(client < redis_host->options->processes && connection < FAKEREDIS_CONNECTIONS_MAX);
    *news = (struct coord_news){0};
    switch (action->kind) {
    case ACTION_APPLY:
        news->everyone = fakeredis_apply(client, connection);
        break;
    case ACTION_DELIVER: {
        unsigned what = fakeredis_deliver(client, connection);
        LS_ASSERT(what != 0);
        news->answer = what != 0;
        news->client = (what & (FAKEREDIS_LINK | FAKEREDIS_MESSAGE)) != 0;
        break;
    }
    case ACTION_CONNECT:
        fakeredis_connect(client, connection);
        news->client = true;
        break;
    default:
        LS_NEVER(action->kind != ACTION_ARRIVE);
        news->everyone = fakeredis_arrive(client);
        break;
    }
}

static unsigned price(const struct action *action)
{
    const struct key *key = action->kind == ACTION_EXPIRE ? leased_key(action->session) : NULL;
    int server = key != NULL ? leased_server(action->session) : 0;
    bool is_due = key != NULL && claims_client(server, key) == action->process && lease_is_due(server, key);
    return is_due ? COORD_DUE : 0;
}

static void add_overdue(struct action_list *list)
{
    for (int client = 0; redis_host->options->timed && client < redis_host->options->processes; client++) {
        add_expiries(list, client, true, false);
    }
}

static bool next_by_default(int client, struct action *out)
{
    struct action_list first = {.out = out, .room = 1};
    if (client < redis_host->options->processes) {
        add_steps(&first, client);
    } else {
        add_overdue(&first);
    }
    return first.count > 0 && out->kind != ACTION_ARRIVE;
}

static bool last_by_default(struct action *out)
{
    for (int client = 0; client < redis_host->options->processes; client++) {
        if (fakeredis_can_arrive(client)) {
            *out = (struct action){.kind = ACTION_ARRIVE, .process = (uint8_t)client};
            return true;
        }
    }
    return false;
}

static const char *hosts(const struct world_options *options)
{
    static char text[FAKEREDIS_SERVERS_MAX * 16];
    int used = 0;
    for (int server = 0; server < options->servers && server < FAKEREDIS_SERVERS_MAX; server++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s127.0.0.1:%d", server > 0 ? "," : "",
                         FAKEREDIS_PORT + server);
    }
    LS_ASSERT(used < (int)sizeof text);
    return text;
}

static bool may_lose(void)
{
    const int32_t *own = redis_host->options->own;
    return own[OPTION_REPLICAS] > 0 || own[OPTION_LOG] == LOG_EACH_SECOND;
}

static void open_all(const struct coord_host *wanted)
{
    redis_host = wanted;
    struct fakeredis_options options = {.clients = redis_host->options->processes,
                                        .servers = redis_host->options->servers,
                                        .replicas = redis_host->options->own[OPTION_REPLICAS],
                                        .lag = may_lose() ? redis_host->options->own[OPTION_LAG] : 0,
                                        .log_lags = redis_host->options->own[OPTION_LOG] == LOG_EACH_SECOND,
                                        .splits = redis_host->options->own[OPTION_SPLITS] != 0,
                                        .timed = redis_host->options->timed,
                                        .latency_min_ms = redis_host->options->latency_min_ms,
                                        .latency_max_ms = redis_host->options->latency_max_ms,
                                        .drift = redis_host->options->own[OPTION_DRIFT],
                                        .now_ms = redis_host->now_ms,
                                        .alloc = redis_host->alloc,
                                        .free = redis_host->free,
                                        .before_callback = redis_host->before_callback,
                                        .stopping = redis_host->stopping,
                                        .observe = claims_observe};
    fakeredis_open(redis_host->arena, &options);
    claims_open();
}

static bool is_idle(int client)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (!fakeredis_is_idle(client, i)) {
            return false;
        }
    }
    return true;
}

static bool quiet(void)
{
    struct action out[2];
    for (int client = 0; client < redis_host->options->processes; client++) {
        struct action_list due = {.out = out, .room = 2};
        add_expiries(&due, client, true, false);
        if (due.count > 0 || !is_idle(client)) {
            return false;
        }
    }
    return !faults_last() && !some_are_apart();
}

static bool busy(void)
{
    for (int client = 0; client < redis_host->options->processes; client++) {
        for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
            if (fakeredis_goes_on(client, i)) {
                return true;
            }
        }
    }
    return false;
}

static bool linked(int client)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (fakeredis_is_open(client, i) && !fakeredis_is_up(client, i)) {
            return false;
        }
    }
    return true;
}

/* A client is stalled if it is cut off from all servers. It is also stalled if a connection waits for a
 * server that is apart, and no connection goes on. While one goes on, the client hears a server before it
 * gives up. */
static bool stalled(int client)
{
    bool waits = false, goes_on = false;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        waits = waits || fakeredis_is_stalled(client, i);
        goes_on = goes_on || fakeredis_goes_on(client, i);
    }
    return fakeredis_is_cut_off(client) || (waits && !goes_on);
}

static bool awaits(int client)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (fakeredis_awaits(client, i)) {
            return true;
        }
    }
    return false;
}

static int64_t position(int64_t token)
{
    return token;
}

static int32_t number(int64_t token)
{
    return (int32_t)token;
}

static int32_t session_of_grant(int client, int lock, int64_t created)
{
    (void)lock, (void)created;
    return life_of(client);
}

static int scope(int client, int *blocks)
{
    int count = 0;
    for (int server = 0; server < fakeredis_servers(); server++) {
        blocks[count++] = fakeredis_server_block(server);
    }
    if (client < redis_host->options->processes) {
        blocks[count++] = fakeredis_client_block(client);
    }
    blocks[count++] = claims_block();
    LS_ASSERT(count > 1 && blocks[count - 1] > blocks[count - 2]);
    return count;
}

static void label(const struct action *action, char text[WORLD_LABEL_MAX])
{
    char what[64] = "";
    int client = action->process, connection = action->handle;
    if (!enabled(action)) {
        snprintf(text, WORLD_LABEL_MAX, "%s (not enabled)", world_action_verb(action->kind));
        return;
    }
    LS_ASSERT(client < redis_host->options->processes);
    if (action->kind == ACTION_APPLY) {
        fakeredis_describe_apply(client, connection, what, sizeof what);
    } else if (action->kind == ACTION_DELIVER) {
        fakeredis_describe_deliver(client, connection, what, sizeof what);
    } else if (action->kind == ACTION_ARRIVE) {
        fakeredis_describe_arrive(client, what, sizeof what);
    }
    int used = snprintf(text, WORLD_LABEL_MAX, "%s %s%s%s", world_action_verb(action->kind),
                        redis_host->options->name[client], what[0] != 0 ? " " : "", what);
    if (connection > 0 && used > 0 && used < WORLD_LABEL_MAX) {
        snprintf(text + used, WORLD_LABEL_MAX - (size_t)used, "/%d", connection + 1);
    }
}

/* Returns the place of a server. A former server has that of its successor. */
static int16_t place_of(int server)
{
    LS_ASSERT(server >= 0 && server < 2 * redis_host->options->servers);
    return (int16_t)(server % redis_host->options->servers);
}

static void detail_of_delivery(const struct action *action, struct coord_detail *detail)
{
    static const uint8_t carries[] = {[FAKEREDIS_CARRIES_LINK] = COORD_LINK,
                                      [FAKEREDIS_CARRIES_REPLY] = COORD_REPLY,
                                      [FAKEREDIS_CARRIES_LOSS] = COORD_REPLY,
                                      [FAKEREDIS_CARRIES_MESSAGE] = COORD_NOTICE};
    enum fakeredis_carried carried =
        fakeredis_tell_deliver(action->process, action->handle, detail->text, sizeof detail->text);
    detail->carries = carries[carried];
    detail->lost = carried == FAKEREDIS_CARRIES_LOSS;
}

static void detail_of_expiry(const struct action *action, struct coord_detail *detail)
{
    const struct key *key = leased_key(action->session);
    detail->server = place_of(leased_server(action->session));
    if (key != NULL) {
        struct bytes name = key_name(key);
        snprintf(detail->text, sizeof detail->text, "the lease of %.*s ends", (int)name.size, name.at);
    }
}

static void detail(const struct action *action, struct coord_detail *detail)
{
    int client = action->process, connection = action->handle;
    if (action->kind == ACTION_EXPIRE) {
        detail_of_expiry(action, detail);
    } else if (action->kind == ACTION_ARRIVE) {
        detail->carries = COORD_REQUEST;
        detail->server = redis_host->options->servers == 1 ? 0 : -1;
        fakeredis_tell_arrive(client, detail->text, sizeof detail->text);
    } else if (action_has(action, TRAIT_STEP)) {
        LS_ASSERT(connection < FAKEREDIS_CONNECTIONS_MAX);
        detail->server = place_of(fakeredis_server_of(client, connection));
        if (action->kind == ACTION_APPLY) {
            detail->carries = COORD_REQUEST;
            fakeredis_tell_apply(client, connection, detail->text, sizeof detail->text);
        } else if (action->kind == ACTION_DELIVER) {
            detail_of_delivery(action, detail);
        }
    }
}

static void stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX])
{
    fakeredis_describe_deliver(delivery->process, delivery->handle, text, WORLD_LABEL_MAX);
}

static const char *const SYMBOLS[] = {"redisAsync*",         "redisvAsyncCommand", "redisFormat*",
                                      "redisvFormatCommand", "redisFree*Command",  NULL};
static const struct coord_word NO_WORDS[] = {{NULL, 0}};
static const char *const REFUSED_WORDS[] = {
    "chroot", "node", "tick", "used", "preset", "crowd", "containers", "fine", "callbacks-in-init", NULL};
static const struct coordinator REDIS = {
    .name = "redis",
    .leases = true,
    .symbols = SYMBOLS,
    .defects = NO_WORDS,
    .settings = NO_WORDS,
    .kinds = REDIS_KINDS,
    .faults = REDIS_FAULTS,
    .options = REDIS_OPTIONS,
    .refused_words = REFUSED_WORDS,
    .lacking = fault_lacks,
    .hosts = hosts,
    .open = open_all,
    .trouble = fakeredis_trouble,
    .enter = fakeredis_enter,
    .leave = fakeredis_leave,
    .pause = fakeredis_pause,
    .crash = fakeredis_crash,
    .fail_call = fakeredis_fail_call,
    .failing_call = fakeredis_failing_call,
    .list = list,
    .enabled = enabled,
    .step = step,
    .fault = do_fault,
    .price = price,
    .next_by_default = next_by_default,
    .last_by_default = last_by_default,
    .next_ms = fakeredis_next_ms,
    .quiet = quiet,
    .outage = faults_last,
    .busy = busy,
    .cut_off = is_cut_off,
    .stalled = stalled,
    .linked = linked,
    .has_open = fakeredis_has_open,
    .awaits = awaits,
    .position = position,
    .number_of_token = number,
    .number_of_position = number,
    .session_of_grant = session_of_grant,
    .scope = scope,
    .own_block = fakeredis_client_block,
    .label = label,
    .stimulus = stimulus,
    .dump = fakeredis_dump,
    .detail = detail,
    .notices = fakeredis_messages,
};

__attribute__((constructor)) static void add_redis(void)
{
    coordinator_add(&REDIS);
}
