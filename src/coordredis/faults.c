/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Faults of connections, leases and servers: which can happen, and doing them. */
#include "base/assert.h"
#include "coordredis/internal.h"

#include <stddef.h>

static int32_t option(int place)
{
    LS_ASSERT(place >= OPTION_REPLICAS && place <= OPTION_SPLITS);
    return redis_host->options->own[place];
}

/* Returns the n-th connection that is up, from 0 on; -1 = there are fewer. */
static int linked_connection(int client, int nth)
{
    LS_ASSERT(nth >= 0);
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
                             fakeredis_requests(client, connection), redis_host->options->loss_rc);
    }
}

static bool can_cut(const struct action *action)
{
    int connection = linked_connection(action->process, action_cut_link(action));
    return connection >= 0 && action->keep <= fakeredis_replies(action->process, connection) &&
           action->apply <= fakeredis_requests(action->process, connection) &&
           (!action_cut_is_late(action) || action->apply > 0);
}

bool is_apart(int client, int server)
{
    return fakeredis_is_cut_off(client) || fakeredis_is_apart(client, server % redis_host->options->servers);
}

static int count_apart(int client)
{
    int count = 0;
    for (int server = 0; server < redis_host->options->servers; server++) {
        count += fakeredis_is_apart(client, server);
    }
    return count;
}

bool is_cut_off(int client)
{
    return fakeredis_is_cut_off(client) || 2 * count_apart(client) >= redis_host->options->servers;
}

bool some_are_apart(void)
{
    bool some = false;
    for (int client = 0; client < redis_host->options->processes; client++) {
        some = some || count_apart(client) > 0;
    }
    return some;
}

/* Lists no fault for a client without an open connection: nothing passes anyway, and the fault can come
 * later. */
static void add_aparts(struct action_list *list, int client)
{
    for (int server = 0; server < redis_host->options->servers; server++) {
        if (fakeredis_has_open(client) && !fakeredis_is_apart(client, server)) {
            action_list_add(list, (enum action_kind)ACTION_APART, client)->server = (uint8_t)server;
        }
    }
}

void add_ends(struct action_list *list, int client)
{
    if (count_apart(client) > 0) {
        action_list_add(list, ACTION_HEAL, client);
    }
}

static bool can_evict(int client, int lock)
{
    int server, index;
    return option(OPTION_EVICTS) != 0 && lock < redis_host->options->locks &&
           claims_find(client, lock, &server, &index);
}

void add_client_faults(struct action_list *list, int client)
{
    add_cuts(list, client);
    if (action_list_buys(list, WORLD_FAULT_EXPIRE)) {
        add_expiries(list, client, false, true);
    }
    for (int lock = 0; action_list_buys(list, WORLD_FAULT_EVICT) && lock < redis_host->options->locks;
         lock++) {
        if (can_evict(client, lock)) {
            action_list_add(list, ACTION_EVICT, client)->lock = (uint8_t)lock;
        }
    }
    if (action_list_buys(list, (enum world_fault)FAULT_APART)) {
        add_aparts(list, client);
    }
}

/* Returns the first connection with a request that its server can do now; -1 = there is none. */
static int rejectable(int client)
{
    int connection = 0;
    while (connection < FAKEREDIS_CONNECTIONS_MAX && !fakeredis_can_apply(client, connection)) {
        connection++;
    }
    return connection < FAKEREDIS_CONNECTIONS_MAX ? connection : -1;
}

void add_refusals(struct action_list *list, int client)
{
    if (action_list_buys(list, (enum world_fault)FAULT_REJECT) && rejectable(client) >= 0) {
        action_list_add(list, (enum action_kind)ACTION_REJECT, client);
    }
}

static bool has_lease(int server)
{
    const struct key *key;
    for (int i = 0; (key = fakeredis_key(server, i)) != NULL; i++) {
        if (key->ends_ms != KEY_NEVER) {
            return true;
        }
    }
    return false;
}

static bool can_befall(int kind, int server)
{
    switch (kind) {
    case ACTION_FAILOVER:
        return option(OPTION_REPLICAS) > 0;
    case ACTION_RESTART_SERVER:
        return true;
    case ACTION_DETACH:
    case ACTION_ATTACH:
        return option(OPTION_REPLICAS) > 0 && fakeredis_is_detached(server) == (kind == ACTION_ATTACH);
    case ACTION_FLUSH:
        return fakeredis_has_scripts(server);
    case ACTION_JUMP:
        return option(OPTION_JUMP_MS) > 0 && has_lease(server);
    case ACTION_SPLIT:
        return option(OPTION_SPLITS) != 0 && option(OPTION_REPLICAS) > 0 && !fakeredis_is_split(server);
    case ACTION_REJOIN:
        return fakeredis_is_split(server);
    default:
        return false;
    }
}

/* In canonical order. */
static const uint8_t OF_SERVERS[] = {ACTION_DETACH, ACTION_ATTACH, ACTION_RESTART_SERVER, ACTION_FAILOVER,
                                     ACTION_FLUSH,  ACTION_JUMP,   ACTION_SPLIT,          ACTION_REJOIN};

static bool is_paid(const struct action_list *list, int kind)
{
    uint8_t fault = world_action_infos[kind].fault;
    LS_ASSERT(world_action_infos[kind].verb != NULL && fault <= WORLD_FAULTS);
    return fault == 0 || action_list_buys(list, (enum world_fault)(fault - 1));
}

void add_service_faults(struct action_list *list)
{
    for (int server = 0; server < redis_host->options->servers; server++) {
        for (size_t i = 0; i < sizeof OF_SERVERS; i++) {
            if (is_paid(list, OF_SERVERS[i]) && can_befall(OF_SERVERS[i], server)) {
                action_list_add(list, OF_SERVERS[i], COORD_NOBODY)->server = (uint8_t)server;
            }
        }
    }
}

bool faults_last(void)
{
    bool last = false;
    for (int server = 0; server < redis_host->options->servers; server++) {
        last = last || fakeredis_is_detached(server) || fakeredis_is_split(server);
    }
    return last;
}

bool fault_is_enabled(const struct action *action)
{
    int client = action->process;
    if (action_has(action, TRAIT_SERVER)) {
        return action->server < redis_host->options->servers && can_befall(action->kind, action->server);
    }
    switch (action->kind) {
    case ACTION_EXPIRE:
        return lease_may_end(action->session) &&
               claims_client(leased_server(action->session), leased_key(action->session)) == client;
    case ACTION_CUT:
        return can_cut(action);
    case ACTION_EVICT:
        return can_evict(client, action->lock);
    case ACTION_REJECT:
        return rejectable(client) >= 0;
    case ACTION_APART:
        return action->server < redis_host->options->servers && !fakeredis_is_apart(client, action->server);
    case ACTION_PARTITION:
        return !fakeredis_is_cut_off(client);
    case ACTION_HEAL:
        return fakeredis_is_cut_off(client) || count_apart(client) > 0;
    default:
        return false;
    }
}

static const char *rejection(void)
{
    static const char *const TEXTS[] = {
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."};
    LS_ASSERT((size_t)option(OPTION_REJECTION) < sizeof TEXTS / sizeof TEXTS[0]);
    return TEXTS[option(OPTION_REJECTION)];
}

static void restart(int server)
{
    static const enum fakeredis_kept KEPT[] = {[LOG_NONE] = FAKEREDIS_KEEPS_NONE,
                                               [LOG_EACH_SECOND] = FAKEREDIS_KEEPS_LOGGED,
                                               [LOG_ALWAYS] = FAKEREDIS_KEEPS_ALL};
    LS_ASSERT((size_t)option(OPTION_LOG) < sizeof KEPT / sizeof KEPT[0]);
    fakeredis_restart(server, KEPT[option(OPTION_LOG)]);
    if (option(OPTION_LOG) == LOG_NONE) {
        claims_begin_anew();
    }
}

static void evict(const struct action *action)
{
    int server, index;
    bool found = claims_find(action->process, action->lock, &server, &index);
    LS_ASSERT(found);
    fakeredis_evict(server, index);
}

static void heal(int client)
{
    fakeredis_set_cut_off(client, false);
    for (int server = 0; server < redis_host->options->servers; server++) {
        fakeredis_set_apart(client, server, false);
    }
}

static void befall(int kind, int server)
{
    LS_ASSERT(can_befall(kind, server));
    if (kind == ACTION_FAILOVER) {
        fakeredis_restart(server, FAKEREDIS_KEEPS_REPLICATED);
    } else if (kind == ACTION_SPLIT) {
        claims_split(server);
    } else if (kind == ACTION_REJOIN) {
        claims_rejoin(server);
    } else if (kind == ACTION_RESTART_SERVER) {
        restart(server);
    } else if (kind == ACTION_FLUSH) {
        fakeredis_flush(server);
    } else if (kind == ACTION_JUMP) {
        fakeredis_jump(server, option(OPTION_JUMP_MS));
    } else {
        LS_NEVER(kind != ACTION_DETACH && kind != ACTION_ATTACH);
        fakeredis_detach(server, kind == ACTION_DETACH);
    }
}

void do_fault(const struct action *action)
{
    int client = action->process;
    if (action_has(action, TRAIT_SERVER)) {
        befall(action->kind, action->server);
    } else if (action->kind == ACTION_CUT) {
        fakeredis_cut(client, linked_connection(client, action_cut_link(action)), action->keep, action->apply,
                      action_cut_is_late(action));
    } else if (action->kind == ACTION_EXPIRE) {
        fakeredis_expire(leased_server(action->session), leased_index(action->session));
    } else if (action->kind == ACTION_EVICT) {
        evict(action);
    } else if (action->kind == ACTION_REJECT) {
        fakeredis_reject(client, rejectable(client), rejection());
    } else if (action->kind == ACTION_APART) {
        fakeredis_set_apart(client, action->server, true);
    } else if (action->kind == ACTION_PARTITION) {
        fakeredis_set_cut_off(client, true);
    } else {
        LS_NEVER(action->kind != ACTION_HEAL);
        heal(client);
    }
}

const char *fault_lacks(const struct world_options *options, enum world_fault fault)
{
    const unsigned always = 1u << WORLD_FAULT_LOSS | 1u << WORLD_FAULT_LATE | 1u << WORLD_FAULT_EXPIRE |
                            1u << WORLD_FAULT_PAUSE | 1u << WORLD_FAULT_CRASH | 1u << WORLD_FAULT_CANCEL |
                            1u << WORLD_FAULT_ALLOC | 1u << WORLD_FAULT_SERVER | 1u << FAULT_FLUSH |
                            1u << FAULT_REJECT | 1u << FAULT_APART;
    if (fault == WORLD_FAULT_LAG || (int)fault == FAULT_FAILOVER) {
        return options->own[OPTION_REPLICAS] > 0 ? NULL : "a world with replicas=1";
    }
    if (fault == WORLD_FAULT_EXPIRE && options->timed) {
        return "an untimed world: with a clock a lease ends by its time, or by the fault jump";
    }
    if (fault == WORLD_FAULT_EVICT) {
        return options->own[OPTION_EVICTS] != 0 ? NULL : "a world with evicts=1";
    }
    if ((int)fault == FAULT_JUMP) {
        return options->own[OPTION_JUMP_MS] > 0 ? NULL : "a world with jump-ms=60000";
    }
    if ((int)fault == FAULT_SPLIT) {
        bool can = options->own[OPTION_REPLICAS] > 0 && options->own[OPTION_SPLITS] != 0;
        return can ? NULL : "a world with replicas=1 splits=1";
    }
    return (always >> fault & 1u) != 0 ? NULL : "a fault that Redis has";
}

#define ON_SERVER (TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_BREAKS)

const struct coord_kind REDIS_KINDS[] = {
    {.kind = ACTION_ARRIVE, .info = {.verb = "arrive", .traits = TRAIT_SYSTEM | TRAIT_STEP}},
    {.kind = ACTION_FAILOVER,
     .info = {.verb = "failover",
              .traits = ON_SERVER,
              .fault = FAULT_FAILOVER + 1,
              .fault_class = EVENT_FAULT_NODES},
     .usage = "failover s1",
     .help = "a replica takes the place of the server, without its last writes (world lag=N)"},
    {.kind = ACTION_FLUSH,
     .info = {.verb = "flush", .traits = ON_SERVER, .fault = FAULT_FLUSH + 1},
     .usage = "flush s1",
     .help = "the server forgets the scripts that EVALSHA calls"},
    {.kind = ACTION_JUMP,
     .info = {.verb = "jump", .traits = ON_SERVER, .fault = FAULT_JUMP + 1, .fault_class = EVENT_FAULT_NODES},
     .usage = "jump s1",
     .help = "the clock of the server jumps forward (world jump-ms=N); without a clock all its leases end"},
    {.kind = ACTION_REJECT,
     .info = {.verb = "reject",
              .traits = TRAIT_ON_PROCESS | TRAIT_BREAKS,
              .fault = FAULT_REJECT + 1,
              .fault_class = EVENT_FAULT_NODES},
     .usage = "reject a",
     .help = "a server answers the next request of a with an error (world rejection=N), and does not do it"},
    {.kind = ACTION_DETACH,
     .info = {.verb = "detach",
              .traits = ON_SERVER,
              .fault = WORLD_FAULT_LAG + 1,
              .fault_class = EVENT_FAULT_NODES},
     .usage = "detach s1",
     .help = "the replicas of the server hear nothing from it: WAIT counts none"},
    {.kind = ACTION_ATTACH,
     .info = {.verb = "attach", .traits = TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_HEALS | TRAIT_FAIR},
     .usage = "attach s1",
     .help = "the replicas of the server hear it again"},
    {.kind = ACTION_APART,
     .info = {.verb = "apart", .traits = TRAIT_ON_PROCESS | TRAIT_BREAKS, .fault = FAULT_APART + 1},
     .at_server = true,
     .usage = "apart a s1",
     .help = "nothing passes between a and one server; heal a ends it"},
    {.kind = ACTION_SPLIT,
     .info =
         {.verb = "split", .traits = ON_SERVER, .fault = FAULT_SPLIT + 1, .fault_class = EVENT_FAULT_NODES},
     .usage = "split s1",
     .help = "a failover whose former server serves on for the connections that it has (world splits=1)"},
    {.kind = ACTION_REJOIN,
     .info = {.verb = "rejoin",
              .traits = TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_HEALS | TRAIT_FAIR,
              .fault_class = EVENT_FAULT_NODES},
     .usage = "rejoin s1",
     .help = "the former server becomes a replica: its connections break, and all that it has is lost"},
    {0}};

const struct coord_fault REDIS_FAULTS[] = {{FAULT_FAILOVER, "failover", "no server was running"},
                                           {FAULT_FLUSH, "flush", "no server knew a script"},
                                           {FAULT_JUMP, "jump", "no server had a lease"},
                                           {FAULT_REJECT, "reject", "no request was on its way"},
                                           {FAULT_APART, "apart", "no connection was open"},
                                           {FAULT_SPLIT, "split", "no server was running"},
                                           {0, NULL, NULL}};

const struct coord_option REDIS_OPTIONS[] = {
    [OPTION_REPLICAS] = {"replicas", 0, 4, 0},
    [OPTION_LAG] = {"lag", 0, 8, 1},
    [OPTION_LOG] = {"log", LOG_NONE, LOG_ALWAYS, LOG_ALWAYS},
    [OPTION_EVICTS] = {"evicts", 0, 1, 0},
    [OPTION_JUMP_MS] = {"jump-ms", 0, 86400000, 0},
    [OPTION_REJECTION] = {"rejection", 0, 3, 0},
    [OPTION_DRIFT] = {"drift", 0, 1000, 0},
    [OPTION_SPLITS] = {"splits", 0, 1, 0},
    {NULL, 0, 0, 0},
};
