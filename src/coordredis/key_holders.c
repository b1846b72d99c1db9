/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Claims: which client has a lock, as judges are told by EVENT_NODE_CREATED and EVENT_NODE_DELETED.
 *
 * The share of a server belongs to the client that has written the value of the lock's key there. A client
 * with equal shares, of one life and one value, on more than half of the servers has the claim. With one
 * server, its share is the claim.
 *
 * Claims of a lock are numbered from 1 on. A recipe with fencing tokens counts them likewise, by a counter at
 * the server. So the number goes back, as the counter does, when the only server loses writes.
 *
 * While a place is split, its former server grants locks as well. So there may be a former claim beside the
 * claim: its client has more than half of the shares if former servers count instead of their successors.
 * Former claims are numbered from FORMER_CLAIMS + 1 on. The shares that exist when a split begins give no
 * former claim (`known`). */
#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "coordredis/internal.h"

#include <string.h>

#define FORMER_CLAIMS 1000000 /* more than a run has of other claims */

struct share {
    uint64_t value;  /* hash of the key's text; 0 = the key is a hash or a list */
    int32_t session; /* life of the client when it wrote the value, by session_of(); 0 = there is no share */
    uint8_t client;
    uint8_t misses;   /* lost requests about the key since the lease began, at most lease_misses + 1 */
    uint8_t misled;   /* 1 = see claims_is_misled() */
    uint8_t reserved; /* 0 */
};

struct claim {
    int64_t position;        /* number of the present claim; 0 = no client has the claim */
    int64_t claims;          /* number of the lock's claims up to now */
    int64_t former_position; /* number of the present former claim; 0 = there is none */
    int64_t former_claims;   /* number of the lock's former claims up to now */
    struct share former;     /* share of the client with the former claim; session 0 = there is none */
    struct share known; /* winner() with `former` before the last split, until it changes; session 0 = none */
    struct share share[]; /* of each server, by its number: former servers last */
};

static int block;

static size_t claim_bytes(void)
{
    return sizeof(struct claim) + (size_t)fakeredis_servers() * sizeof(struct share);
}

static struct claim *claim_at(int lock)
{
    LS_ASSERT(lock >= 0 && lock < redis_host->options->locks);
    unsigned char *at = arena_at(redis_host->arena, block);
    return (struct claim *)(void *)(at + sizeof(struct arena_block) + (size_t)lock * claim_bytes());
}

static const struct claim *read_claim(int lock)
{
    arena_read(redis_host->arena, block);
    return claim_at(lock);
}

static struct claim *mark_claim(int lock)
{
    arena_mark(redis_host->arena, block);
    return claim_at(lock);
}

void claims_open(void)
{
    size_t size = sizeof(struct arena_block) + (size_t)redis_host->options->locks * claim_bytes();
    LS_ASSERT(claim_bytes() % _Alignof(struct claim) == 0);
    block = arena_add(redis_host->arena, size, size);
}

int claims_block(void)
{
    return block;
}

int32_t session_of(int client, int life)
{
    LS_ASSERT(client >= 0 && client < redis_host->options->processes && life >= 0);
    return 1 + client + redis_host->options->processes * life;
}

int32_t life_of(int client)
{
    return session_of(client, fakeredis_lives(client));
}

/* Returns the lock whose key has this name; -1 = none. */
static int lock_of_name(int database, struct bytes name)
{
    for (int lock = 0; database == 0 && lock < redis_host->options->locks; lock++) {
        const char *path = redis_host->config->lock_paths[lock];
        if (strlen(path) == name.size && memcmp(path, name.at, name.size) == 0) {
            return lock;
        }
    }
    return -1;
}

static int lock_of(const struct key *key)
{
    return lock_of_name(key->database, key_name(key));
}

/* Returns the hash of a key's text, in which the texts of two owners differ. Returns 0 for a hash or a list,
 * whose value may change while its owner holds. */
static uint64_t value_of(const struct key *key)
{
    char room[KEY_DIGITS_MAX];
    if (key->rec.tag != KEY_TEXT && key->rec.tag != KEY_NUMBER) {
        return 0;
    }
    struct bytes text = key_text(key, room);
    return hash_text(text.at, text.size, 1);
}

/* Returns the share of the key's lock on this server; NULL = it is no lock's key, or the server has no
 * share. */
static const struct share *share_of(int server, const struct key *key)
{
    int lock = lock_of(key);
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    const struct share *share = lock >= 0 ? &read_claim(lock)->share[server] : NULL;
    return share != NULL && share->session != 0 ? share : NULL;
}

int claims_client(int server, const struct key *key)
{
    const struct share *share = share_of(server, key);
    LS_ASSERT(share != NULL || key->writer > 0);
    return share != NULL ? share->client : key->writer - 1;
}

bool claims_is_of_former_life(int server, const struct key *key)
{
    const struct share *share = share_of(server, key);
    int32_t session = share != NULL ? share->session : session_of(key->writer - 1, key->life);
    return session != life_of(claims_client(server, key));
}

int claims_misses(int server, const struct key *key)
{
    const struct share *share = share_of(server, key);
    return share != NULL ? share->misses : 0;
}

bool claims_is_misled(int server, const struct key *key)
{
    const struct share *share = share_of(server, key);
    return share != NULL && share->misled != 0;
}

static int index_of(int server, int lock)
{
    const struct key *key;
    for (int index = 0; (key = fakeredis_key(server, index)) != NULL; index++) {
        if (lock_of(key) == lock) {
            return index;
        }
    }
    LS_NEVER(key == NULL); /* a share without its key */
    return 0;
}

bool claims_find(int client, int lock, int *server, int *index)
{
    for (int s = 0; s < redis_host->options->servers; s++) {
        const struct share *share = &read_claim(lock)->share[s];
        if (share->session != 0 && share->client == client) {
            *server = s;
            *index = index_of(s, lock);
            return true;
        }
    }
    return false;
}

static void tell_node(int kind, int lock, const struct share *owner, int by, int64_t position)
{
    const struct claim *claim = read_claim(lock);
    bool is_former = position > FORMER_CLAIMS;
    LS_ASSERT(position > 0 && owner->session > 0);
    struct event event = redis_host->event_of(kind, owner->client);
    event.lock = (uint8_t)lock;
    event.owner = (uint8_t)by;
    event.node_role = 1;
    event.czxid = position;
    event.session = owner->session;
    event.path = redis_host->lock_path[lock];
    event.cause = kind == EVENT_NODE_CREATED ? redis_host->says_idle(owner->client)
                  : is_former                ? FORMER_CLAIMS + claim->former_claims
                                             : claim->claims;
    redis_host->event(&event);
}

static bool is_same(const struct share *a, const struct share *b)
{
    return a->session == b->session && a->client == b->client && a->value == b->value;
}

/* Returns the share of a place. With `former`, a split place has the share of its former server. */
static const struct share *share_at(const struct claim *claim, int place, bool former)
{
    int servers = redis_host->options->servers;
    LS_ASSERT(place >= 0 && place < servers);
    return &claim->share[former && fakeredis_is_split(place) ? place + servers : place];
}

/* Returns the share that more than half of the places have alike; session 0 = there is none. */
static struct share winner(const struct claim *claim, bool former)
{
    int servers = redis_host->options->servers;
    for (int s = 0; s < servers; s++) {
        int count = 0;
        for (int t = 0; t < servers; t++) {
            count += is_same(share_at(claim, s, former), share_at(claim, t, former));
        }
        if (2 * count > servers) {
            return *share_at(claim, s, former);
        }
    }
    return (struct share){0};
}

/* Ends or begins the former claim if the shares have changed so, and tells the events. */
static void look_at_former(int lock, int by)
{
    struct claim *claim = mark_claim(lock);
    const struct share now = winner(claim, true), present = winner(claim, false);
    LS_ASSERT((claim->former.session != 0) == (claim->former_position > FORMER_CLAIMS));
    if (claim->former.session != 0 && !is_same(&claim->former, &now)) {
        tell_node(EVENT_NODE_DELETED, lock, &claim->former, by, claim->former_position);
        claim->former_position = 0;
        claim->former = (struct share){0};
    }
    if (claim->known.session != 0 && !is_same(&claim->known, &now)) {
        claim->known = (struct share){0};
    }
    if (now.session != 0 && claim->former.session == 0 && claim->known.session == 0 &&
        !is_same(&now, &present)) {
        claim->former = now;
        claim->former_position = FORMER_CLAIMS + ++claim->former_claims;
        tell_node(EVENT_NODE_CREATED, lock, &now, 1 + now.client, claim->former_position);
    }
}

/* Ends or begins the claim if its winner differs from `before`, and tells the events. */
static void look_at_present(int lock, const struct share *before, int by)
{
    struct claim *claim = mark_claim(lock);
    const struct share now = winner(claim, false);
    if (is_same(before, &now)) {
        return;
    }
    if (before->session != 0) {
        tell_node(EVENT_NODE_DELETED, lock, before, by, claim->position);
        claim->position = 0;
    }
    if (now.session != 0) {
        claim->position = ++claim->claims;
        tell_node(EVENT_NODE_CREATED, lock, &now, 1 + now.client, claim->position);
    }
}

/* Sets a share, and ends or begins claims by that. `by` becomes `owner` of EVENT_NODE_DELETED. */
static void set_share(int lock, int server, const struct share *share, int by)
{
    struct claim *claim = mark_claim(lock);
    const struct share before = winner(claim, false);
    LS_ASSERT(server >= 0 && server < fakeredis_servers());
    claim->share[server] = *share;
    look_at_present(lock, &before, by);
    if (redis_host->options->own[OPTION_SPLITS] != 0) {
        look_at_former(lock, by);
    }
}

/* Returns the `owner` of EVENT_NODE_DELETED for a lease that has ended:
 * - EVENT_BY_LOSS, if the client is misled, or with a clock if a jump has shortened the lease.
 * - EVENT_BY_TIME, otherwise with a clock. Without a clock, if the lease was due, and its client is in the
 *   life of the share and not paused.
 * - 0, otherwise. */
static int ended_by(int server, const struct key *key)
{
    if (claims_is_misled(server, key)) {
        return (int)EVENT_BY_LOSS;
    }
    if (redis_host->options->timed) {
        return (int)(key->shortened ? EVENT_BY_LOSS : EVENT_BY_TIME);
    }
    const struct share *share = share_of(server, key);
    bool acts =
        share != NULL && share->session == life_of(share->client) && !fakeredis_is_paused(share->client);
    return acts && lease_is_due(server, key) ? (int)EVENT_BY_TIME : 0;
}

static int goes_by(const struct fakeredis_event *from)
{
    LS_ASSERT(from->change != KEY_WRITTEN && from->change != KEY_LEASED);
    if (from->change == KEY_DELETED) {
        return 1 + from->client;
    }
    return from->change == KEY_EXPIRED ? ended_by(from->server, from->key) : (int)EVENT_BY_LOSS;
}

/* If a client writes or renews a lock's key at one server of a split place, marks its share at the other
 * server as misled. */
static void mislead(int lock, const struct fakeredis_event *from)
{
    int other = server_beside(from->server);
    if (!fakeredis_is_split(from->server % redis_host->options->servers) ||
        (from->change != KEY_WRITTEN && from->change != KEY_LEASED)) {
        return;
    }
    struct share *share = &mark_claim(lock)->share[other];
    if (share->session != 0 && share->client == from->client) {
        share->misled = 1;
    }
}

static void observe_key(const struct fakeredis_event *from)
{
    int lock = lock_of(from->key);
    if (lock < 0) {
        return;
    }
    const struct share *share = &read_claim(lock)->share[from->server];
    const struct share next = {.value = value_of(from->key),
                               .session = session_of(from->client, from->life),
                               .client = (uint8_t)from->client};
    bool mine = share->session != 0 && share->client == from->client && share->value == next.value;
    if (from->change != KEY_WRITTEN && from->change != KEY_LEASED) {
        set_share(lock, from->server, &(struct share){0}, goes_by(from));
    } else if (from->change == KEY_WRITTEN && !mine) {
        set_share(lock, from->server, &next, 1 + from->client);
    } else if (mine && (share->misses > 0 || share->misled != 0)) {
        struct share *anew = &mark_claim(lock)->share[from->server]; /* the lease begins anew */
        anew->misses = 0;
        anew->misled = 0;
    }
    mislead(lock, from);
}

/* With one server, takes back the number of the claim that the lost write made, if it made one. Also takes
 * back that of the claim that the write ended, if it ended one, because set_share() counts this claim
 * again. */
static void take_back(struct claim *claim, const struct share *now, const struct share *before, bool created)
{
    bool overwrote = now->session != 0 && before->session != 0;
    if (redis_host->options->servers == 1 && (created || !is_same(now, before))) {
        claim->claims -= overwrote ? 2 : 1;
    }
}

static void observe_undone(const struct fakeredis_event *from)
{
    const struct lost_write *lost = from->lost;
    int lock = lock_of_name(lost->database, lost->name);
    struct share next = {0};
    if (lock < 0 || lost->over) {
        return;
    }
    if (lost->key != NULL) {
        next.client = (uint8_t)(lost->key->writer - 1);
        next.session = session_of(next.client, lost->key->life);
        next.value = value_of(lost->key);
    }
    take_back(mark_claim(lock), &mark_claim(lock)->share[from->server], &next, lost->created);
    set_share(lock, from->server, &next, EVENT_BY_LOSS);
}

void claims_begin_anew(void)
{
    for (int lock = 0; redis_host->options->servers == 1 && lock < redis_host->options->locks; lock++) {
        mark_claim(lock)->claims = 0;
    }
}

static bool is_some_split(void)
{
    bool some = false;
    for (int server = 0; server < redis_host->options->servers; server++) {
        some = some || fakeredis_is_split(server);
    }
    return some;
}

void claims_split(int server)
{
    for (int lock = 0; lock < redis_host->options->locks; lock++) {
        struct claim *claim = mark_claim(lock);
        claim->known = winner(claim, true);
        claim->share[redis_host->options->servers + server] = claim->share[server];
    }
    fakeredis_split(server);
}

void claims_rejoin(int server)
{
    for (int lock = 0; lock < redis_host->options->locks; lock++) {
        set_share(lock, redis_host->options->servers + server, &(struct share){0}, EVENT_BY_LOSS);
    }
    fakeredis_rejoin(server);
    for (int lock = 0; lock < redis_host->options->locks; lock++) {
        look_at_former(lock, EVENT_BY_LOSS);
        mark_claim(lock)->known = is_some_split() ? read_claim(lock)->known : (struct share){0};
    }
}

/* Counts a request without a reply about the key of the client's share as a renewal that was missed. */
static void observe_lost(const struct fakeredis_event *from)
{
    int survives = redis_host->options->recipe->lease_misses;
    for (int lock = 0; lock < redis_host->options->locks; lock++) {
        const struct share *share = &read_claim(lock)->share[from->server];
        const char *path = redis_host->config->lock_paths[lock];
        if (share->session != 0 && share->client == from->client && share->misses <= survives &&
            fakeredis_names(from->args, (struct bytes){path, strlen(path)})) {
            mark_claim(lock)->share[from->server].misses++;
        }
    }
}

static void observe_link(const struct fakeredis_event *from)
{
    int kind = from->kind == FAKEREDIS_UP     ? EVENT_LINK_UP
               : from->kind == FAKEREDIS_DOWN ? EVENT_LINK_DOWN
                                              : EVENT_REQUEST;
    LS_ASSERT(kind != EVENT_REQUEST || from->kind == FAKEREDIS_REQUEST);
    struct event event = redis_host->event_of(kind, from->client);
    char request[COORD_DETAIL_MAX];
    if (kind == EVENT_REQUEST) {
        event.request = EVENT_REQUEST_OTHER;
        fakeredis_tell_request(from->args, request, sizeof request);
        event.path = request;
    } else {
        event.session = life_of(from->client);
        event.owner = (uint8_t)from->connection;
    }
    redis_host->event(&event);
}

void claims_observe(const struct fakeredis_event *from)
{
    if (from->kind == FAKEREDIS_KEY) {
        observe_key(from);
    } else if (from->kind == FAKEREDIS_LOST) {
        observe_lost(from);
    } else if (from->kind == FAKEREDIS_UNDONE) {
        observe_undone(from);
    } else {
        observe_link(from);
    }
}
