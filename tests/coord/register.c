/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The fake of the register service, and the coordinator that a world sees of it (coord/coordinator.h). The
 * server and each client are one block of the arena. A connection is a queue of requests, answers, and
 * notices about itself. The first entry is delivered once it is ready. */
#include "coord/register.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/code_ref.h"
#include "base/stop_points.h"
#include "coord/coordinator.h"
#include "state/canon.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX 8
#define LATE_MAX 8

/* Defect of the server: a swap succeeds with any version. */
#define DEFECT_LENIENT 0x01u

/* Kinds of actions of this coordinator alone. ARRIVE: a request of a broken connection arrives at the
 * server. STALL, SERVE: the server stops reading, and goes on. The other pairs stop it for one client
 * (MUTE), for the one server (HALT), or for one lock (SEAL). */
enum { ARRIVE = COORD_KIND_OUTSIDE, STALL, SERVE, MUTE, HEAR, HALT, GO, SEAL, UNSEAL };
enum { FAULT_STALL = COORD_FAULT_OUTSIDE, FAULT_BLOCK };
enum { OPTION_FIRST_VERSION };

enum entry_kind { ENTRY_NONE, ENTRY_UP, ENTRY_DOWN, ENTRY_SWAP, ENTRY_RENEW, ENTRY_READ };

struct request {
    uint8_t kind; /* enum entry_kind */
    uint8_t lock;
    uint8_t client;
    uint8_t ready; /* 1 = it can be delivered: the server has done it, or it was lost */
    int32_t rc;
    int64_t expected;
    struct reg_value value; /* once it is ready, the answer; before, the new holder of a swap */
    code_ref done;
    int32_t life; /* life of the client that sent it: life_of() */
    void *ctx;
};

struct reg {
    uint8_t open, up, count, client;
    code_ref watcher;
    void *ctx;
    struct request entry[ENTRIES_MAX]; /* oldest first; entries from `count` on are zero */
};

struct client {
    struct arena_block head;
    uint8_t cut_off, paused, muted;
    uint8_t lives; /* number of lives that are over */
    uint8_t reserved[4];
    struct reg connection[REG_CONNECTIONS];
};

struct reg_state {
    int64_t version, created; /* version of the last change; version with which the hold began */
    uint32_t holder;
    int32_t life; /* life of the holder: life_of() */
    uint8_t client;
    uint8_t reserved[7];
};

struct server {
    struct arena_block head;
    int64_t version; /* newest version of all registers */
    uint8_t stalled, halted;
    uint8_t reserved[4];
    uint16_t sealed; /* bit l is set: the server reads nothing about lock l */
    struct reg_state reg[WORLD_LOCKS_MAX];
    struct request late[LATE_MAX]; /* requests of broken connections, oldest first */
};

static const struct coord_host *host;
static int server_block, client_block[WORLD_PROCESSES_MAX];
static int entered = -1;
static char trouble[96];

static struct client *client_at(int client)
{
    arena_read(host->arena, client_block[client]);
    return arena_at(host->arena, client_block[client]);
}

static struct client *client_mark(int client)
{
    arena_mark(host->arena, client_block[client]);
    return arena_at(host->arena, client_block[client]);
}

static struct server *server_at(void)
{
    arena_read(host->arena, server_block);
    return arena_at(host->arena, server_block);
}

static struct server *server_mark(void)
{
    arena_mark(host->arena, server_block);
    return arena_at(host->arena, server_block);
}

/* Returns a number of the client's present life, which judges see as its session. A client that starts
 * again owns nothing of its former life. */
static int32_t life_of(int client)
{
    return 1 + client + host->options->processes * client_at(client)->lives;
}

static void note_trouble(const char *text)
{
    if (trouble[0] == 0) {
        snprintf(trouble, sizeof trouble, "%s", text);
    }
}

/* ---- events ---- */

/* Reports that a hold begins or ends. `by` is 1 + the client that caused it; 0 = the lease has ended. */
static void tell_node(int kind, int lock, const struct reg_state *reg, int by)
{
    struct event event = host->event_of(kind, reg->client);
    event.lock = (uint8_t)lock;
    event.owner = (uint8_t)by;
    event.code = 1;
    event.zxid = reg->created;
    event.session = reg->life;
    event.path = host->lock_path[lock];
    if (kind == EVENT_NODE_DELETED) {
        event.cause = server_at()->version;
    } else {
        event.cause = host->says_idle(reg->client);
    }
    host->event(&event);
}

/* ---- the server ---- */

static void change(int lock, uint32_t holder, int client, int32_t life, int by)
{
    struct server *server = server_mark();
    struct reg_state *reg = &server->reg[lock];
    reg->version = ++server->version;
    if (reg->holder != 0) {
        tell_node(EVENT_NODE_DELETED, lock, reg, by);
    }
    reg->holder = holder;
    reg->client = holder != 0 ? (uint8_t)client : 0;
    reg->life = holder != 0 ? life : 0;
    reg->created = holder != 0 ? reg->version : 0;
    if (holder != 0) {
        tell_node(EVENT_NODE_CREATED, lock, reg, by);
    }
}

/* Does a request and writes its answer. Returns whether the register has changed. */
static bool serve(struct request *request)
{
    const struct reg_state *reg = &server_at()->reg[request->lock];
    bool lenient = request->kind == ENTRY_SWAP && (host->options->defects & DEFECT_LENIENT) != 0;
    bool reads = request->kind == ENTRY_READ;
    request->rc = reads || lenient || reg->version == request->expected ? REG_OK : REG_CONFLICT;
    bool changes = request->kind == ENTRY_SWAP && request->rc == REG_OK;
    if (changes) {
        change(request->lock, request->value.holder, request->client, request->life, 1 + request->client);
    }
    request->value = (struct reg_value){reg->version, reg->holder, 0};
    request->ready = 1;
    return changes;
}

static void make_late(const struct request *request)
{
    struct server *server = server_mark();
    int i = 0;
    while (i < LATE_MAX && server->late[i].kind != ENTRY_NONE) {
        i++;
    }
    if (i == LATE_MAX) {
        note_trouble("limit: too many late requests");
        return;
    }
    server->late[i] = *request;
    server->late[i].done = 0;
    server->late[i].ctx = NULL;
}

static int oldest_late(int client)
{
    const struct server *server = server_at();
    for (int i = 0; i < LATE_MAX && server->late[i].kind != ENTRY_NONE; i++) {
        if (server->late[i].client == client) {
            return i;
        }
    }
    return -1;
}

static bool serve_late(int client)
{
    struct server *server = server_mark();
    int i = oldest_late(client);
    struct request request = server->late[i];
    memmove(&server->late[i], &server->late[i + 1], (size_t)(LATE_MAX - 1 - i) * sizeof request);
    memset(&server->late[LATE_MAX - 1], 0, sizeof request);
    return serve(&request);
}

/* ---- connections ---- */

static void append(struct reg *reg, const struct request *request)
{
    if (reg->count == ENTRIES_MAX) {
        note_trouble("limit: too many requests on a connection");
        return;
    }
    reg->entry[reg->count++] = *request;
}

static struct request take_first(struct reg *reg)
{
    struct request first = reg->entry[0];
    memmove(&reg->entry[0], &reg->entry[1], (size_t)(ENTRIES_MAX - 1) * sizeof first);
    memset(&reg->entry[--reg->count], 0, sizeof first);
    return first;
}

/* Returns the index of the first request that the server has not read, or -1. */
static int first_unread(const struct reg *reg)
{
    for (int i = 0; i < reg->count; i++) {
        if (!reg->entry[i].ready) {
            return i;
        }
    }
    return -1;
}

static int count_of(const struct reg *reg, bool ready)
{
    int count = 0;
    for (int i = 0; i < reg->count; i++) {
        count += reg->entry[i].kind >= ENTRY_SWAP && (reg->entry[i].ready != 0) == ready;
    }
    return count;
}

static void lose(struct request *request)
{
    request->ready = 1;
    request->rc = REG_LOST;
    request->value = (struct reg_value){0, 0, 0};
}

/* Breaks the connection. The client still receives the first `keep` answers, and the server still reads the
 * first `apply` requests. With `late` it does the last of these later. */
static void cut(struct reg *reg, int keep, int apply, bool late)
{
    int kept = 0, read = 0, count = reg->count;
    for (int i = 0; i < count; i++) {
        struct request *request = &reg->entry[i];
        if (request->kind < ENTRY_SWAP) {
            continue;
        }
        if (!request->ready && read < apply) {
            read++;
            if (late && read == apply) {
                make_late(request);
            } else {
                serve(request);
            }
            lose(request);
        } else if (!request->ready || kept++ >= keep) {
            lose(request);
        }
    }
    reg->up = 0;
    append(reg, &(struct request){.kind = ENTRY_DOWN, .ready = 1});
}

/* Returns the number of the nth connection that is up, from 0 on; -1 = there are fewer. */
static int linked(int client, int nth)
{
    const struct client *state = client_at(client);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        if (state->connection[i].up && nth-- == 0) {
            return i;
        }
    }
    return -1;
}

static bool has_open(int client)
{
    const struct client *state = client_at(client);
    return state->connection[0].open || state->connection[1].open;
}

/* ---- the client library ---- */

struct reg *reg_open(int which, reg_watcher watcher, void *ctx)
{
    LS_ASSERT(entered >= 0 && which >= 0 && which < REG_CONNECTIONS);
    struct reg *reg = &client_mark(entered)->connection[which];
    memset(reg, 0, sizeof *reg);
    reg->open = 1;
    reg->client = (uint8_t)entered;
    reg->watcher = code_pack_fn((code_fn)watcher);
    reg->ctx = ctx;
    return reg;
}

void reg_close(struct reg *reg)
{
    client_mark(reg->client);
    for (int i = 0; i < reg->count; i++) {
        if (!reg->entry[i].ready) {
            make_late(&reg->entry[i]);
        }
    }
    int client = reg->client;
    bool was_open = reg->open != 0;
    memset(reg, 0, sizeof *reg);
    if (was_open && !has_open(client)) {
        client_mark(client)->lives++;
    }
}

static int send(struct reg *reg, const char *path, struct request request)
{
    int lock = 0;
    while (lock < host->options->locks - 1 && strcmp(host->config->lock_paths[lock], path) != 0) {
        lock++;
    }
    client_mark(entered);
    if (!reg->up) {
        return REG_LOST;
    }
    struct event event = host->event_of(EVENT_REQUEST, entered);
    event.lock = (uint8_t)lock;
    event.code = EVENT_REQUEST_OTHER;
    event.path = host->lock_path[lock];
    host->event(&event);
    request.lock = (uint8_t)lock;
    request.client = (uint8_t)entered;
    request.life = life_of(entered);
    append(reg, &request);
    return REG_OK;
}

int reg_swap(struct reg *reg, const char *path, int64_t expected, uint32_t holder, reg_done done, void *ctx)
{
    return send(reg, path,
                (struct request){.kind = ENTRY_SWAP,
                                 .expected = expected,
                                 .value = {0, holder, 0},
                                 .done = code_pack_fn((code_fn)done),
                                 .ctx = ctx});
}

int reg_renew(struct reg *reg, const char *path, int64_t expected, reg_done done, void *ctx)
{
    return send(
        reg, path,
        (struct request){
            .kind = ENTRY_RENEW, .expected = expected, .done = code_pack_fn((code_fn)done), .ctx = ctx});
}

int reg_read(struct reg *reg, const char *path, reg_done done, void *ctx)
{
    return send(reg, path,
                (struct request){.kind = ENTRY_READ, .done = code_pack_fn((code_fn)done), .ctx = ctx});
}

/* ---- leases ---- */

/* Returns whether no entry waits on a connection of the client, and all its open connections are up. */
static bool is_settled(int client)
{
    const struct client *state = client_at(client);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        const struct reg *reg = &state->connection[i];
        if (reg->open && (!reg->up || reg->count > 0)) {
            return false;
        }
    }
    return true;
}

/* Returns whether a fault keeps the server from reading a request of this client about this lock. */
static bool is_blocked(const struct client *client, int lock)
{
    const struct server *server = server_at();
    return server->stalled || server->halted || (server->sealed >> lock & 1u) != 0 || client->muted;
}

/* Returns whether the register is held and its lease will not be renewed. Either the holder is of a former
 * life. Or no renewal is armed, and the client cannot reach the server or has nothing under way. */
static bool is_due(const struct reg_state *reg)
{
    if (reg->holder == 0) {
        return false;
    }
    const struct client *client = client_at(reg->client);
    bool stays = reg->life == life_of(reg->client);
    return !stays || (!host->renews(reg->client) &&
                      (client->cut_off || client->paused || client->muted || is_settled(reg->client)));
}

/* ---- the steps ---- */

static bool can_apply(const struct client *client, int handle)
{
    const struct reg *reg = &client->connection[handle];
    int unread = reg->up && !client->cut_off ? first_unread(reg) : -1;
    return unread >= 0 && !is_blocked(client, reg->entry[unread].lock);
}

static bool can_arrive(int client)
{
    int late = oldest_late(client);
    return late >= 0 && !is_blocked(client_at(client), server_at()->late[late].lock);
}

static bool can_deliver(const struct client *client, int handle)
{
    const struct reg *reg = &client->connection[handle];
    return !client->paused && reg->count > 0 && reg->entry[0].ready;
}

static bool can_connect(const struct client *client, int handle)
{
    const struct reg *reg = &client->connection[handle];
    return reg->open && !reg->up && reg->count == 0 && !client->cut_off && !client->paused;
}

static void add(struct action_list *list, enum action_kind kind, int client, int handle)
{
    action_list_add(list, kind, client)->handle = (uint8_t)handle;
}

static void add_steps(struct action_list *list, int client)
{
    const struct client *state = client_at(client);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        if (can_apply(state, i)) {
            add(list, ACTION_APPLY, client, i);
        }
        if (can_deliver(state, i)) {
            add(list, ACTION_DELIVER, client, i);
        }
        if (can_connect(state, i)) {
            add(list, ACTION_CONNECT, client, i);
        }
    }
    if (can_arrive(client)) {
        add(list, (enum action_kind)ARRIVE, client, 0);
    }
}

/* Adds the ends of leases of the client's registers: those that are due, those that are not, or both. */
static void add_expiries(struct action_list *list, int client, bool due, bool not_due)
{
    const struct server *server = server_at();
    for (int lock = 0; lock < host->options->locks; lock++) {
        const struct reg_state *reg = &server->reg[lock];
        if (reg->holder != 0 && reg->client == client && (is_due(reg) ? due : not_due)) {
            action_list_add(list, ACTION_EXPIRE, client)->session = 1 + lock;
        }
    }
}

static void add_cuts(struct action_list *list, int client)
{
    int handle;
    for (int link = 0; (handle = linked(client, link)) >= 0; link++) {
        const struct reg *reg = &client_at(client)->connection[handle];
        action_list_add_cuts(list, client, link, count_of(reg, true), count_of(reg, false),
                             host->options->loss_rc);
    }
}

/* ---- blocks of the server: which can begin, which can end ---- */

static bool is_block(const struct action *action)
{
    return action->kind >= STALL && action->kind <= UNSEAL;
}

/* Returns whether the action ends a block. The number of the end is that of the begin plus 1. */
static bool ends_block(const struct action *block)
{
    return (block->kind - STALL) % 2 == 1;
}

static int begin_of(const struct action *block)
{
    return block->kind - ends_block(block);
}

static bool is_in_force(const struct action *block)
{
    switch (begin_of(block)) {
    case STALL:
        return server_at()->stalled;
    case MUTE:
        return client_at(block->process)->muted;
    case HALT:
        return server_at()->halted;
    default: /* SEAL */
        return (server_at()->sealed >> block->lock & 1u) != 0;
    }
}

static bool can_block(const struct action *block)
{
    int begin = begin_of(block);
    bool known = (begin != MUTE || block->process < host->options->processes) &&
                 (begin != HALT || block->server == 0) &&
                 (begin != SEAL || block->lock < host->options->locks);
    return known && is_in_force(block) == ends_block(block);
}

static void do_block(const struct action *block)
{
    bool begins = !ends_block(block);
    switch (begin_of(block)) {
    case STALL:
        server_mark()->stalled = begins;
        break;
    case MUTE:
        client_mark(block->process)->muted = begins;
        break;
    case HALT:
        server_mark()->halted = begins;
        break;
    default: /* SEAL */
        server_mark()->sealed ^= (uint16_t)(1u << block->lock);
        break;
    }
}

/* Adds the block that begins by the kind `begin`, or its end if it is in force. `at` is the server or the
 * lock. */
static void add_block(struct action_list *list, int begin, int process, int at)
{
    struct action block = {.kind = (uint8_t)begin, .process = (uint8_t)process, .lock = (uint8_t)at};
    bool ends = is_in_force(&block);
    if (ends || action_list_buys(list, (enum world_fault)world_fault_of(&block))) {
        action_list_add(list, (enum action_kind)(begin + ends), process)->lock = (uint8_t)at;
    }
}

static void list_service(struct action_list *list)
{
    add_block(list, STALL, EVENT_PROCESS_NONE, 0);
    add_block(list, HALT, EVENT_PROCESS_NONE, 0);
    for (int lock = 0; lock < host->options->locks; lock++) {
        add_block(list, SEAL, EVENT_PROCESS_NONE, lock);
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
        if (!client_at(client)->muted) {
            add_block(list, MUTE, client, 0);
        }
    } else if (place == COORD_ENDS && client_at(client)->muted) {
        add_block(list, MUTE, client, 0);
    } else if (place == COORD_SESSIONS) {
        add_expiries(list, client, true, true);
    } else if (place == COORD_SERVICE) {
        list_service(list);
    }
}

static bool enabled(const struct action *action)
{
    int client = action->process;
    if (is_block(action)) {
        return can_block(action);
    }
    if (client >= host->options->processes ||
        (action_has(action, TRAIT_STEP) && action->handle >= REG_CONNECTIONS)) {
        return false;
    }
    const struct client *state = client_at(client);
    switch (action->kind) {
    case ACTION_APPLY:
        return can_apply(state, action->handle);
    case ACTION_DELIVER:
        return can_deliver(state, action->handle);
    case ACTION_CONNECT:
        return can_connect(state, action->handle);
    case ARRIVE:
        return can_arrive(client);
    case ACTION_EXPIRE: {
        int lock = action->session - 1;
        bool known = lock >= 0 && lock < host->options->locks;
        const struct reg_state *reg = &server_at()->reg[known ? lock : 0];
        return known && reg->holder != 0 && reg->client == client;
    }
    case ACTION_CUT: {
        int handle = linked(client, action_cut_link(action));
        const struct reg *reg = &state->connection[handle >= 0 ? handle : 0];
        return handle >= 0 && action->keep <= count_of(reg, true) && action->apply <= count_of(reg, false) &&
               (!action_cut_is_late(action) || action->apply > 0);
    }
    case ACTION_PARTITION:
    case ACTION_HEAL:
        return state->cut_off == (action->kind == ACTION_HEAL);
    default:
        return false; /* this server does not lag, fail or refuse */
    }
}

/* Delivers the first entry. Returns false if it is the loss of a request. Sets *link if it is a notice. */
static bool deliver(int client, struct reg *reg, bool *link)
{
    struct request request = take_first(reg);
    bool up = request.kind == ENTRY_UP;
    *link = request.kind < ENTRY_SWAP;
    if (up || request.kind == ENTRY_DOWN) {
        struct event event = host->event_of(up ? EVENT_LINK_UP : EVENT_LINK_DOWN, client);
        event.session = life_of(client);
        event.owner = (uint8_t)(reg - client_at(client)->connection);
        host->event(&event);
    }
    stop_points_call(code_unpack_fn(request.kind < ENTRY_SWAP ? reg->watcher : request.done));
    if (host->before_callback != NULL) {
        host->before_callback();
    }
    if (request.kind < ENTRY_SWAP) {
        ((reg_watcher)code_unpack_fn(reg->watcher))(reg, up, reg->ctx);
    } else {
        ((reg_done)code_unpack_fn(request.done))(request.rc, &request.value, request.ctx);
    }
    return request.rc != REG_LOST;
}

static void step(const struct action *action, struct coord_news *news)
{
    struct client *client = client_mark(action->process);
    struct reg *reg = &client->connection[action->handle];
    *news = (struct coord_news){0};
    switch (action->kind) {
    case ACTION_APPLY:
        news->everyone = serve(&reg->entry[first_unread(reg)]);
        break;
    case ACTION_DELIVER:
        news->answer = deliver(action->process, reg, &news->client);
        break;
    case ACTION_CONNECT:
        reg->up = 1;
        append(reg, &(struct request){.kind = ENTRY_UP, .ready = 1});
        news->client = true;
        break;
    default: /* ARRIVE */
        news->everyone = serve_late(action->process);
        break;
    }
}

static void fault(const struct action *action)
{
    if (is_block(action)) {
        do_block(action);
        return;
    }
    struct client *client = client_mark(action->process);
    if (action->kind == ACTION_CUT) {
        int handle = linked(action->process, action_cut_link(action));
        cut(&client->connection[handle], action->keep, action->apply, action_cut_is_late(action));
    } else if (action->kind == ACTION_EXPIRE) {
        change(action->session - 1, 0, 0, 0, 0);
    } else {
        client->cut_off = action->kind == ACTION_PARTITION;
    }
}

static unsigned price(const struct action *action)
{
    int lock = action->session - 1;
    if (action->kind != ACTION_EXPIRE || lock < 0 || lock >= WORLD_LOCKS_MAX) {
        return 0;
    }
    unsigned due = is_due(&server_at()->reg[lock]) ? COORD_DUE : 0;
    bool stays = server_at()->reg[lock].life == life_of(action->process) && has_open(action->process);
    return stays ? due : due | COORD_ABANDONED;
}

static bool next_by_default(int client, struct action *out)
{
    struct action_list first = {.out = out, .room = 1};
    if (client < host->options->processes) {
        add_steps(&first, client);
    }
    return first.count > 0 && out->kind != ARRIVE;
}

static bool last_by_default(struct action *out)
{
    for (int client = 0; client < host->options->processes; client++) {
        if (can_arrive(client)) {
            *out = (struct action){.kind = ARRIVE, .process = (uint8_t)client};
            return true;
        }
    }
    return false;
}

/* Messages take no time, and leases have no clock. */
static int32_t next_ms(int32_t *limit)
{
    *limit = INT32_MAX;
    return INT32_MAX;
}

/* ---- life ---- */

static void open_all(const struct coord_host *wanted)
{
    host = wanted;
    entered = -1;
    trouble[0] = 0;
    server_block = arena_add(host->arena, sizeof(struct server), sizeof(struct server));
    for (int client = 0; client < host->options->processes; client++) {
        client_block[client] = arena_add(host->arena, sizeof(struct client), sizeof(struct client));
    }
}

static void prepare(void)
{
    struct server *server = server_mark();
    server->version = host->options->own[OPTION_FIRST_VERSION];
    for (int lock = 0; lock < host->options->locks; lock++) {
        server->reg[lock].version = server->version;
    }
}

static const char *first_trouble(void)
{
    return trouble[0] != 0 ? trouble : NULL;
}

static void enter(int client)
{
    client_mark(client);
    entered = client;
}

static void leave(void)
{
    entered = -1;
}

static void pause_client(int client, bool on)
{
    client_mark(client)->paused = on;
}

static void crash(int client)
{
    struct client *state = client_mark(client);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        reg_close(&state->connection[i]);
    }
    state->paused = 0;
}

/* Does nothing, because no call needs memory. */
static void fail_call(int client, int n)
{
    (void)client, (void)n;
}

static int failing_call(int client)
{
    (void)client;
    return 0;
}

/* ---- rest ---- */

static bool is_quiet(void)
{
    for (int client = 0; client < host->options->processes; client++) {
        const struct client *state = client_at(client);
        for (int i = 0; i < REG_CONNECTIONS; i++) {
            if (state->connection[i].count > 0 || can_connect(state, i)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_busy(void)
{
    for (int client = 0; client < host->options->processes; client++) {
        const struct client *state = client_at(client);
        for (int i = 0; i < REG_CONNECTIONS; i++) {
            if (can_apply(state, i) || can_deliver(state, i) || can_connect(state, i)) {
                return true;
            }
        }
    }
    return false;
}

static bool quiet(void)
{
    struct action out[WORLD_LOCKS_MAX];
    if (server_at()->stalled || server_at()->halted || server_at()->sealed != 0) {
        return false;
    }
    for (int client = 0; client < host->options->processes; client++) {
        struct action_list due = {.out = out, .room = WORLD_LOCKS_MAX};
        add_expiries(&due, client, true, false);
        if (due.count > 0 || client_at(client)->muted) {
            return false;
        }
    }
    return is_quiet();
}

static bool cut_off(int client)
{
    return client_at(client)->cut_off;
}

static bool all_linked(int client)
{
    const struct client *state = client_at(client);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        if (state->connection[i].open && !state->connection[i].up) {
            return false;
        }
    }
    return true;
}

static bool awaits(int client)
{
    const struct client *state = client_at(client);
    int count = 0;
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        count += count_of(&state->connection[i], true) + count_of(&state->connection[i], false);
    }
    return count > 0;
}

/* ---- numbers and the value ---- */

static int64_t position(int64_t token)
{
    return token;
}

static int32_t number(int64_t version)
{
    return (int32_t)version;
}

static int32_t session_of_grant(int client, int lock, int64_t created)
{
    (void)lock, (void)created;
    return life_of(client);
}

static int scope(int client, int *blocks)
{
    int count = 0;
    blocks[count++] = server_block;
    if (client < host->options->processes) {
        blocks[count++] = client_block[client];
    }
    return count;
}

static int own_block(int client)
{
    return client_block[client];
}

static void show(struct canon *canon, const int64_t *version)
{
    canon_wide(canon, CANON_ZXID, version, number(*version));
}

static void show_request(struct canon *canon, const struct request *request)
{
    show(canon, &request->expected);
    show(canon, &request->value.version);
}

static void canon(int block, struct canon *canon)
{
    if (block == server_block) {
        const struct server *server = server_at();
        show(canon, &server->version);
        for (int lock = 0; lock < host->options->locks; lock++) {
            show(canon, &server->reg[lock].version);
            show(canon, &server->reg[lock].created);
        }
        for (int i = 0; i < LATE_MAX && server->late[i].kind != ENTRY_NONE; i++) {
            show_request(canon, &server->late[i]);
        }
    }
    for (int client = 0; client < host->options->processes; client++) {
        for (int i = 0; block == client_block[client] && i < REG_CONNECTIONS; i++) {
            const struct reg *reg = &client_at(client)->connection[i];
            for (int k = 0; k < reg->count; k++) {
                show_request(canon, &reg->entry[k]);
            }
        }
    }
}

/* ---- texts ---- */

static const char *const KINDS[] = {"none", "up", "down", "swap", "renew", "read"};

static void label(const struct action *action, char text[WORLD_LABEL_MAX])
{
    const char *what = "";
    const struct reg *reg = &client_at(action->process)->connection[action->handle];
    int unread = first_unread(reg), late = oldest_late(action->process);
    bool answers = action->kind == ACTION_DELIVER && reg->entry[0].kind >= ENTRY_SWAP;
    if (action->kind == ACTION_APPLY && unread >= 0) {
        what = KINDS[reg->entry[unread].kind];
    } else if (action->kind == ARRIVE && late >= 0) {
        what = KINDS[server_at()->late[late].kind];
    } else if (action->kind == ACTION_DELIVER && reg->count > 0) {
        what = KINDS[reg->entry[0].kind];
    }
    snprintf(text, WORLD_LABEL_MAX, "%s %s%s%s%s%s", world_action_verb(action->kind),
             host->options->name[action->process], what[0] != 0 ? " " : "", what, answers ? "-reply" : "",
             action->handle > 0 ? "/2" : "");
}

static void stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX])
{
    const struct request *first = &client_at(delivery->process)->connection[delivery->handle].entry[0];
    const char *rc = first->rc == REG_OK ? " ok" : first->rc == REG_CONFLICT ? " conflict" : " lost";
    snprintf(text, WORLD_LABEL_MAX, "%s%s", KINDS[first->kind], first->kind < ENTRY_SWAP ? "" : rc);
}

/* There is one server, and it sends no notices. */
static void detail(const struct action *action, struct coord_detail *detail)
{
    const struct request *first = &client_at(action->process)->connection[action->handle].entry[0];
    detail->server = 0;
    if (action->kind == ACTION_APPLY || action->kind == ARRIVE) {
        detail->carries = COORD_REQUEST;
    } else if (action->kind == ACTION_DELIVER) {
        detail->carries = first->kind < ENTRY_SWAP ? COORD_LINK : COORD_REPLY;
        detail->lost = detail->carries == COORD_REPLY && first->rc == REG_LOST;
        if (detail->carries == COORD_REPLY) {
            stimulus(action, detail->text);
        }
    }
}

static void dump(char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int lock = 0; lock < host->options->locks && used < size; lock++) {
        const struct reg_state *reg = &server_at()->reg[lock];
        used += (size_t)snprintf(text + used, size - used, "register %s: version %lld, holder %u\n",
                                 host->lock_path[lock], (long long)reg->version, reg->holder);
    }
}

/* ---- the table ---- */

static const char *lacking(const struct world_options *options, enum world_fault fault)
{
    const unsigned known = 1u << WORLD_FAULT_LOSS | 1u << WORLD_FAULT_LATE | 1u << WORLD_FAULT_EXPIRE |
                           1u << WORLD_FAULT_PAUSE | 1u << WORLD_FAULT_CRASH | 1u << WORLD_FAULT_CANCEL |
                           1u << WORLD_FAULT_ALLOC | 1u << FAULT_STALL | 1u << FAULT_BLOCK;
    (void)options;
    return (known >> fault & 1u) != 0 ? NULL : "a fault that registers have";
}

static const char *const SYMBOLS[] = {"reg_*", NULL};
static const struct coord_word DEFECTS[] = {{"lenient", DEFECT_LENIENT}, {NULL, 0}};
static const struct coord_word SETTINGS[] = {{NULL, 0}};
static const struct coord_kind KINDS_OF_ITS_OWN[] = {
    {.kind = ARRIVE, .info = {.verb = "arrive", .traits = TRAIT_SYSTEM | TRAIT_STEP}},
    {.kind = STALL,
     .info = {.verb = "stall", .traits = TRAIT_ON_SERVICE | TRAIT_BREAKS, .fault = FAULT_STALL + 1},
     .usage = "stall",
     .help = "the registers' server reads nothing more"},
    {.kind = SERVE,
     .info = {.verb = "serve", .traits = TRAIT_ON_SERVICE | TRAIT_HEALS | TRAIT_FAIR},
     .usage = "serve",
     .help = "it reads again"},
    {.kind = MUTE,
     .info = {.verb = "mute", .traits = TRAIT_ON_PROCESS | TRAIT_BREAKS, .fault = FAULT_BLOCK + 1},
     .usage = "mute a",
     .help = "the registers' server reads nothing more of a"},
    {.kind = HEAR,
     .info = {.verb = "hear", .traits = TRAIT_ON_PROCESS | TRAIT_HEALS | TRAIT_FAIR},
     .usage = "hear a",
     .help = "it reads again"},
    {.kind = HALT,
     .info = {.verb = "halt",
              .traits = TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_BREAKS,
              .fault = FAULT_BLOCK + 1},
     .usage = "halt s1",
     .help = "the server s1 of the registers reads nothing more"},
    {.kind = GO,
     .info = {.verb = "go", .traits = TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_HEALS | TRAIT_FAIR},
     .usage = "go s1",
     .help = "it reads again"},
    {.kind = SEAL,
     .info = {.verb = "seal",
              .traits = TRAIT_ON_SERVICE | TRAIT_DIRECTORY | TRAIT_BREAKS,
              .fault = FAULT_BLOCK + 1},
     .usage = "seal x",
     .help = "the registers' server reads nothing more about the lock x"},
    {.kind = UNSEAL,
     .info = {.verb = "unseal", .traits = TRAIT_ON_SERVICE | TRAIT_DIRECTORY | TRAIT_HEALS | TRAIT_FAIR},
     .usage = "unseal x",
     .help = "it reads again"},
    {0}};
static const struct coord_fault FAULTS_OF_ITS_OWN[] = {
    {FAULT_STALL, "stall", "the server was stalled"},
    {FAULT_BLOCK, "block", "the server read nothing of a client, or about a lock"},
    {0}};
static const struct coord_option OPTIONS[] = {[OPTION_FIRST_VERSION] = {"first-version", 0, 1000000, 0}, {0}};

static const struct coordinator REGISTER = {
    .name = "register",
    .symbols = SYMBOLS,
    .defects = DEFECTS,
    .settings = SETTINGS,
    .kinds = KINDS_OF_ITS_OWN,
    .faults = FAULTS_OF_ITS_OWN,
    .options = OPTIONS,
    .lacking = lacking,
    .open = open_all,
    .prepare = prepare,
    .trouble = first_trouble,
    .enter = enter,
    .leave = leave,
    .pause = pause_client,
    .crash = crash,
    .fail_call = fail_call,
    .failing_call = failing_call,
    .list = list,
    .enabled = enabled,
    .step = step,
    .fault = fault,
    .price = price,
    .next_by_default = next_by_default,
    .last_by_default = last_by_default,
    .next_ms = next_ms,
    .quiet = quiet,
    .busy = is_busy,
    .cut_off = cut_off,
    .linked = all_linked,
    .has_open = has_open,
    .awaits = awaits,
    .position = position,
    .number_of_token = number,
    .number_of_position = number,
    .session_of_grant = session_of_grant,
    .scope = scope,
    .own_block = own_block,
    .canon = canon,
    .label = label,
    .stimulus = stimulus,
    .dump = dump,
    .detail = detail,
};

__attribute__((constructor)) static void add_register(void)
{
    coordinator_add(&REGISTER);
}
