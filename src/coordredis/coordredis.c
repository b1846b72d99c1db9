/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Redis as a coordinator: src/fakeredis behind coord/coordinator.h.
 *
 * The path of a lock is the name of its key, in database 0. The key is a claim of the client that made it,
 * from then until the key is deleted, ends with its lease, or gets another value or another writer. Claims of
 * a lock are numbered from 1 on; that number is the position that judges see. A recipe with fencing tokens
 * counts them likewise: one for each value.
 *
 * There are no sessions. The session of an event is the life of a process: from its start to its stop or
 * crash.
 *
 * Leases have no clock here. A lease may end at any time, unless its owner renews it: then the end costs a
 * fault. */
#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "coord/coordinator.h"
#include "fakeredis/fakeredis.h"

#include <stdio.h>
#include <string.h>

/* A request of a connection that has ended is done late. */
enum { ACTION_ARRIVE = ACTION_OWN };

#define PLACES_MAX 64 /* keys of a server that can have a number as an action's session */

struct claim {
    int64_t position; /* 0 = the key does not exist */
    int32_t session;
    uint8_t client;
    uint8_t misses;      /* requests about the key without a reply since the last one that was done, capped */
    uint8_t reserved[2]; /* 0 */
    int64_t claims;      /* of this lock up to now */
    uint64_t value;      /* hash of the key's text; 0 = it is no text */
};

struct claims {
    struct arena_block head;
    struct claim lock[WORLD_LOCKS_MAX];
};

static const struct coord_host *host;
static int claims_block;

static const struct claims *claims_read(void)
{
    arena_read(host->arena, claims_block);
    return arena_at(host->arena, claims_block);
}

static struct claims *claims_mark(void)
{
    arena_mark(host->arena, claims_block);
    return arena_at(host->arena, claims_block);
}

static int32_t session_of(int client, int life)
{
    return 1 + client + host->options->processes * life;
}

static int32_t life_of(int client)
{
    return session_of(client, fakeredis_lives(client));
}

/* ---- events ---- */

/* The lock whose key this is, -1 if it is of none. */
static int lock_of(const struct key *key)
{
    struct bytes name = key_name(key);
    for (int lock = 0; key->database == 0 && lock < host->options->locks; lock++) {
        const char *path = host->config->lock_paths[lock];
        if (strlen(path) == name.size && memcmp(path, name.at, name.size) == 0) {
            return lock;
        }
    }
    return -1;
}

static void tell_node(int kind, int lock, const struct claim *claim, int by)
{
    struct event event = host->event_of(kind, claim->client);
    event.lock = (uint8_t)lock;
    event.owner = (uint8_t)by;
    event.code = 1;
    event.zxid = claim->position;
    event.session = claim->session;
    event.path = host->lock_path[lock];
    event.cause = kind == EVENT_NODE_DELETED ? claim->claims : host->says_idle(claim->client);
    host->event(&event);
}

static void end_claim(int lock, int by)
{
    struct claim *claim = &claims_mark()->lock[lock];
    if (claim->position != 0) {
        tell_node(EVENT_NODE_DELETED, lock, claim, by);
        *claim = (struct claim){.claims = claim->claims};
    }
}

/* A hash or a list may change while its owner holds; a text is one owner's. */
static uint64_t value_of(const struct key *key)
{
    char room[KEY_DIGITS_MAX];
    if (key->rec.tag != KEY_TEXT && key->rec.tag != KEY_NUMBER) {
        return 0;
    }
    struct bytes text = key_text(key, room);
    return hash_bytes(text.at, text.size, 1);
}

static void begin_claim(int lock, int client, int32_t session, uint64_t value)
{
    struct claim *claim = &claims_mark()->lock[lock];
    claim->position = ++claim->claims;
    claim->value = value;
    claim->client = (uint8_t)client;
    claim->session = session;
    tell_node(EVENT_NODE_CREATED, lock, claim, 1 + client);
}

/* The claim whose key this is; NULL = none. */
static const struct claim *claim_of(const struct key *key)
{
    int lock = lock_of(key);
    const struct claim *claim = lock >= 0 ? &claims_read()->lock[lock] : NULL;
    return claim != NULL && claim->position != 0 ? claim : NULL;
}

static bool is_due(const struct key *key);

/* How many renewals in a row may fail before the lease of an owner ends. */
static int survives(void)
{
    return host->options->recipe->lease_misses;
}

/* Who has ended this lease: nobody but time, or a fault. A process that is paused has an excuse. */
static int ended_by(const struct key *key)
{
    const struct claim *claim = claim_of(key);
    bool acts =
        claim != NULL && claim->session == life_of(claim->client) && !fakeredis_is_paused(claim->client);
    return !host->options->timed && acts && is_due(key) ? EVENT_BY_TIME : 0;
}

static void observe_key(const struct fakeredis_event *from)
{
    int lock = lock_of(from->key);
    if (lock < 0) {
        return;
    }
    const struct claim *claim = &claims_read()->lock[lock];
    uint64_t value = value_of(from->key);
    bool mine = claim->position != 0 && claim->client == from->client && claim->value == value;
    if (from->change == KEY_DELETED || from->change == KEY_EXPIRED) {
        end_claim(lock, from->change == KEY_DELETED ? 1 + from->client : ended_by(from->key));
    } else if (from->change == KEY_WRITTEN && !mine) {
        end_claim(lock, 1 + from->client);
        begin_claim(lock, from->client, session_of(from->client, from->life), value);
    } else if (mine && claim->misses > 0) {
        claims_mark()->lock[lock].misses = 0; /* the lease begins anew */
    }
}

/* A request of the owner about its key has no reply: its lease has one renewal less to come. */
static void observe_lost(const struct fakeredis_event *from)
{
    for (int lock = 0; lock < host->options->locks; lock++) {
        const struct claim *claim = &claims_read()->lock[lock];
        const char *path = host->config->lock_paths[lock];
        if (claim->position != 0 && claim->client == from->client && claim->misses <= survives() &&
            fakeredis_names(from->args, (struct bytes){path, strlen(path)})) {
            claims_mark()->lock[lock].misses++;
        }
    }
}

static void observe(const struct fakeredis_event *from)
{
    if (from->kind == FAKEREDIS_KEY) {
        observe_key(from);
        return;
    }
    if (from->kind == FAKEREDIS_LOST) {
        observe_lost(from);
        return;
    }
    int kind = from->kind == FAKEREDIS_UP     ? EVENT_LINK_UP
               : from->kind == FAKEREDIS_DOWN ? EVENT_LINK_DOWN
                                              : EVENT_REQUEST;
    struct event event = host->event_of(kind, from->client);
    if (kind == EVENT_REQUEST) {
        event.code = EVENT_REQUEST_OTHER;
    } else {
        event.session = life_of(from->client);
        event.owner = (uint8_t)from->connection;
    }
    host->event(&event);
}

/* ---- leases ---- */

static int client_of(const struct key *key)
{
    const struct claim *claim = claim_of(key);
    return claim != NULL ? claim->client : key->writer - 1;
}

/* Nobody renews the lease, nor will. Its owner is gone, or does not act; or it has no timer that ends its trust in the
 * lease first, and cannot renew in time: it is cut off, or has neither a renewal armed nor a request about the key
 * under way, or too many renewals in a row have failed. */
static bool is_due(const struct key *key)
{
    const struct claim *claim = claim_of(key);
    int client = client_of(key);
    bool gone = claim != NULL && claim->session != life_of(client);
    bool in_time = claim == NULL || claim->misses <= survives();
    bool renews = in_time && !fakeredis_is_cut_off(client) &&
                  (host->renews(client) || fakeredis_asks_about(client, key_name(key)));
    return gone || fakeredis_is_paused(client) || (!renews && !host->trusts_leases(client));
}

/* A fault may end the lease early. It does not end one that its owner stops trusting before: that would take a server
 * whose clock jumps. */
static bool may_end(const struct key *key)
{
    return is_due(key) || !host->trusts_leases(client_of(key));
}

static const struct key *leased_key(int32_t place)
{
    int server = (place - 1) / PLACES_MAX;
    const struct key *key =
        place > 0 && server < host->options->servers ? fakeredis_key(server, (place - 1) % PLACES_MAX) : NULL;
    return key != NULL && key->ends_ms != KEY_NEVER && key->writer > 0 ? key : NULL;
}

static void add_expiries(struct action_list *list, int client, bool due, bool not_due)
{
    const struct key *key;
    for (int server = 0; !host->options->timed && server < host->options->servers; server++) {
        for (int i = 0; i < PLACES_MAX && (key = fakeredis_key(server, i)) != NULL; i++) {
            int32_t place = 1 + server * PLACES_MAX + i;
            if (leased_key(place) != NULL && client_of(key) == client && may_end(key) &&
                (is_due(key) ? due : not_due)) {
                action_list_add(list, ACTION_EXPIRE, client)->session = place;
            }
        }
    }
}

/* ---- steps ---- */

static void add(struct action_list *list, enum action_kind kind, int client, int connection)
{
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

/* The connection with the nth of those that are up, or -1. */
static int linked_connection(int client, int nth)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (fakeredis_is_up(client, i) && nth-- == 0) {
            return i;
        }
    }
    return -1;
}

static void add_cuts(struct action_list *list, int client)
{
    int connection;
    for (int link = 0; (connection = linked_connection(client, link)) >= 0; link++) {
        action_list_add_cuts(list, client, link, fakeredis_replies(client, connection),
                             fakeredis_requests(client, connection), host->options->loss_rc);
    }
}

static void list(struct action_list *list, int client, enum coord_place place)
{
    if (place == COORD_STEPS) {
        bool all = client == (int)COORD_EVERYBODY;
        for (int p = all ? 0 : client; p < (all ? host->options->processes : client + 1); p++) {
            if (p < host->options->processes) {
                add_steps(list, p);
                add_expiries(list, p, true, false);
            }
        }
    } else if (place == COORD_FAULTS) {
        add_cuts(list, client);
        if (action_list_buys(list, WORLD_FAULT_EXPIRE)) {
            add_expiries(list, client, false, true);
        }
    } else if (place == COORD_SESSIONS) {
        add_expiries(list, client, true, true);
    }
}

static bool can_cut(const struct action *action)
{
    int connection = linked_connection(action->process, action_cut_link(action));
    return connection >= 0 && action->keep <= fakeredis_replies(action->process, connection) &&
           action->apply <= fakeredis_requests(action->process, connection) &&
           (!action_cut_is_late(action) || action->apply > 0);
}

static bool enabled(const struct action *action)
{
    int client = action->process, connection = action->handle;
    if (client >= host->options->processes ||
        (action_has(action, TRAIT_STEP) &&
         (connection >= FAKEREDIS_CONNECTIONS_MAX ||
          (action->kind != ACTION_ARRIVE && !fakeredis_is_open(client, connection))))) {
        return false;
    }
    switch (action->kind) {
    case ACTION_APPLY:
        return fakeredis_can_apply(client, connection);
    case ACTION_DELIVER:
        return fakeredis_can_deliver(client, connection);
    case ACTION_CONNECT:
        return fakeredis_can_connect(client, connection);
    case ACTION_ARRIVE:
        return fakeredis_can_arrive(client);
    case ACTION_EXPIRE: {
        const struct key *key = leased_key(action->session);
        return !host->options->timed && key != NULL && client_of(key) == client && may_end(key);
    }
    case ACTION_CUT:
        return can_cut(action);
    case ACTION_PARTITION:
    case ACTION_HEAL:
        return fakeredis_is_cut_off(client) == (action->kind == ACTION_HEAL);
    default:
        return false;
    }
}

static void step(const struct action *action, struct coord_news *news)
{
    int client = action->process, connection = action->handle;
    *news = (struct coord_news){0};
    switch (action->kind) {
    case ACTION_APPLY:
        news->everyone = fakeredis_apply(client, connection);
        break;
    case ACTION_DELIVER: {
        unsigned what = fakeredis_deliver(client, connection);
        news->answer = what != 0;
        news->client = (what & (FAKEREDIS_LINK | FAKEREDIS_MESSAGE)) != 0;
        break;
    }
    case ACTION_CONNECT:
        fakeredis_connect(client, connection);
        news->client = true;
        break;
    default: /* ACTION_ARRIVE */
        news->everyone = fakeredis_arrive(client);
        break;
    }
}

static void fault(const struct action *action)
{
    int client = action->process;
    if (action->kind == ACTION_CUT) {
        fakeredis_cut(client, linked_connection(client, action_cut_link(action)), action->keep, action->apply,
                      action_cut_is_late(action));
    } else if (action->kind == ACTION_EXPIRE) {
        fakeredis_expire((action->session - 1) / PLACES_MAX, (action->session - 1) % PLACES_MAX);
    } else {
        fakeredis_set_cut_off(client, action->kind == ACTION_PARTITION);
    }
}

static unsigned price(const struct action *action)
{
    const struct key *key = action->kind == ACTION_EXPIRE ? leased_key(action->session) : NULL;
    if (key == NULL || client_of(key) != action->process) {
        return 0;
    }
    return is_due(key) ? COORD_DUE : 0;
}

static bool next_by_default(int client, struct action *out)
{
    struct action_list first = {.out = out, .room = 1};
    if (client < host->options->processes) {
        add_steps(&first, client);
    }
    return first.count > 0 && out->kind != ACTION_ARRIVE;
}

static bool last_by_default(struct action *out)
{
    for (int client = 0; client < host->options->processes; client++) {
        if (fakeredis_can_arrive(client)) {
            *out = (struct action){.kind = ACTION_ARRIVE, .process = (uint8_t)client};
            return true;
        }
    }
    return false;
}

static int32_t next_ms(int32_t *limit)
{
    *limit = INT32_MAX;
    return INT32_MAX;
}

/* ---- life ---- */

static const char *hosts(const struct world_options *options)
{
    static char text[FAKEREDIS_SERVERS_MAX * 16];
    int used = 0;
    for (int server = 0; server < options->servers && server < FAKEREDIS_SERVERS_MAX; server++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s127.0.0.1:%d", server > 0 ? "," : "",
                         FAKEREDIS_PORT + server);
    }
    return text;
}

static void open_all(const struct coord_host *wanted)
{
    host = wanted;
    struct fakeredis_options options = {.clients = host->options->processes,
                                        .servers = host->options->servers,
                                        .timed = host->options->timed,
                                        .now_ms = host->now_ms,
                                        .alloc = host->alloc,
                                        .free = host->free,
                                        .before_callback = host->before_callback,
                                        .stopping = host->stopping,
                                        .observe = observe};
    fakeredis_open(host->arena, &options);
    claims_block = arena_add(host->arena, sizeof(struct claims), sizeof(struct claims));
}

/* ---- rest ---- */

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
    for (int client = 0; client < host->options->processes; client++) {
        struct action_list due = {.out = out, .room = 2};
        add_expiries(&due, client, true, false);
        if (due.count > 0 || !is_idle(client)) {
            return false;
        }
    }
    return true;
}

static bool busy(void)
{
    for (int client = 0; client < host->options->processes; client++) {
        for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
            if (fakeredis_is_open(client, i) &&
                (fakeredis_can_apply(client, i) || fakeredis_can_deliver(client, i) ||
                 fakeredis_can_connect(client, i))) {
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

static bool awaits(int client)
{
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (fakeredis_awaits(client, i)) {
            return true;
        }
    }
    return false;
}

/* ---- numbers and the value ---- */

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
    for (int server = 0; server < host->options->servers; server++) {
        blocks[count++] = fakeredis_server_block(server);
    }
    if (client < host->options->processes) {
        blocks[count++] = fakeredis_client_block(client);
    }
    blocks[count++] = claims_block;
    return count;
}

/* No number is shown: tokens stand in texts too, so states are compared as they are. */
static void canon(int block, struct canon *canon)
{
    (void)block, (void)canon;
}

/* ---- texts ---- */

static void label(const struct action *action, char text[WORLD_LABEL_MAX])
{
    char what[64] = "";
    int client = action->process, connection = action->handle;
    if (!enabled(action)) {
        snprintf(text, WORLD_LABEL_MAX, "%s (not enabled)", world_action_verb(action->kind));
        return;
    }
    if (action->kind == ACTION_APPLY) {
        fakeredis_describe_apply(client, connection, what, sizeof what);
    } else if (action->kind == ACTION_DELIVER) {
        fakeredis_describe_deliver(client, connection, what, sizeof what);
    } else if (action->kind == ACTION_ARRIVE) {
        fakeredis_describe_arrive(client, what, sizeof what);
    }
    int used = snprintf(text, WORLD_LABEL_MAX, "%s %s%s%s", world_action_verb(action->kind),
                        host->options->name[client], what[0] != 0 ? " " : "", what);
    if (connection > 0 && used > 0 && used < WORLD_LABEL_MAX) {
        snprintf(text + used, WORLD_LABEL_MAX - (size_t)used, "/%d", connection + 1);
    }
}

static void stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX])
{
    fakeredis_describe_deliver(delivery->process, delivery->handle, text, WORLD_LABEL_MAX);
}

/* ---- the table ---- */

static const char *lacking(const struct world_options *options, enum world_fault fault)
{
    const unsigned known = 1u << WORLD_FAULT_LOSS | 1u << WORLD_FAULT_LATE | 1u << WORLD_FAULT_EXPIRE |
                           1u << WORLD_FAULT_PAUSE | 1u << WORLD_FAULT_CRASH | 1u << WORLD_FAULT_CANCEL |
                           1u << WORLD_FAULT_ALLOC;
    (void)options;
    return (known >> fault & 1u) != 0 ? NULL : "a fault that Redis has";
}

static const char *const SYMBOLS[] = {"redisAsync*",         "redisvAsyncCommand", "redisFormat*",
                                      "redisvFormatCommand", "redisFree*Command",  NULL};
static const struct coord_word NO_WORDS[] = {{NULL, 0}};
static const struct coord_kind KINDS[] = {
    {.kind = ACTION_ARRIVE, .info = {.verb = "arrive", .traits = TRAIT_SYSTEM | TRAIT_STEP}}, {0}};

static const struct coordinator REDIS = {
    .name = "redis",
    .leases = true,
    .symbols = SYMBOLS,
    .defects = NO_WORDS,
    .settings = NO_WORDS,
    .kinds = KINDS,
    .lacking = lacking,
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
    .fault = fault,
    .price = price,
    .next_by_default = next_by_default,
    .last_by_default = last_by_default,
    .next_ms = next_ms,
    .quiet = quiet,
    .busy = busy,
    .cut_off = fakeredis_is_cut_off,
    .linked = linked,
    .has_open = fakeredis_has_open,
    .awaits = awaits,
    .position = position,
    .number_of_token = number,
    .number_of_position = number,
    .session_of_grant = session_of_grant,
    .scope = scope,
    .own_block = fakeredis_client_block,
    .canon = canon,
    .label = label,
    .stimulus = stimulus,
    .dump = fakeredis_dump,
};

__attribute__((constructor)) static void add_redis(void)
{
    coordinator_add(&REDIS);
}
