/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When a lease may end. With a clock: when it is over by the clock of its server. Without a clock: at any
 * time if is_left_alone(). Otherwise a fault may end it, unless a timer of the owner (LS_TIMER_LEASE) ends
 * the owner's belief first. */
#include "base/assert.h"
#include "coordredis/internal.h"

#define PLACES_MAX 64 /* keys of a server that have a place: its first ones */

int leased_server(int32_t place)
{
    return (place - 1) / PLACES_MAX;
}

int server_beside(int server)
{
    int servers = redis_host->options->servers;
    LS_ASSERT(server >= 0 && server < 2 * servers);
    return server < servers ? server + servers : server - servers;
}

int leased_index(int32_t place)
{
    return (place - 1) % PLACES_MAX;
}

static bool has_lease(const struct key *key)
{
    return key->ends_ms != KEY_NEVER && key->writer > 0;
}

const struct key *leased_key(int32_t place)
{
    bool is_known = place > 0 && leased_server(place) < fakeredis_servers();
    const struct key *key = is_known ? fakeredis_key(leased_server(place), leased_index(place)) : NULL;
    return key != NULL && has_lease(key) ? key : NULL;
}

/* Returns whether a request about the key, to one of the servers of its place, has had no callback yet. */
static bool asks_about(int client, int server, struct bytes name)
{
    return fakeredis_asks_about(client, server, name) ||
           fakeredis_asks_about(client, server_beside(server), name);
}

/* Returns whether a lease may end without a fault, because its owner will not renew it in time. One of
 * these holds:
 * - The owner is paused, or the life in which it got the share is over.
 * - It is misled: it has renewed at the other server of the place.
 * - No timer (LS_TIMER_LEASE) ends its belief first, and one of three obstacles is there. It is apart from
 *   the server. More than `lease_misses` requests had no reply. No renewal is armed, and no request about
 *   the key is under way. */
static bool is_left_alone(int server, const struct key *key)
{
    LS_ASSERT(!redis_host->options->timed && key->ends_ms != KEY_NEVER);
    int client = claims_client(server, key);
    bool in_time = claims_misses(server, key) <= redis_host->options->recipe->lease_misses;
    bool renews = in_time && !is_apart(client, server) &&
                  (redis_host->renews(client) || asks_about(client, server, key_name(key)));
    return claims_is_of_former_life(server, key) || fakeredis_is_paused(client) ||
           claims_is_misled(server, key) || (!renews && !redis_host->trusts_leases(client));
}

bool lease_is_due(int server, const struct key *key)
{
    return redis_host->options->timed ? fakeredis_is_over(server, key) : is_left_alone(server, key);
}

/* Returns whether a fault may end the client's leases early. With a clock none may. Without a clock one
 * may, unless a timer of the client ends its belief first: an earlier end would take a jump of the server's
 * clock. */
static bool ends_early(int client)
{
    return !redis_host->options->timed && !redis_host->trusts_leases(client);
}

bool lease_may_end(int32_t place)
{
    const struct key *key = leased_key(place);
    int server = leased_server(place);
    return key != NULL && (lease_is_due(server, key) || ends_early(claims_client(server, key)));
}

void add_expiries(struct action_list *list, int client, bool due, bool not_due)
{
    LS_ASSERT(due || not_due);
    for (int server = 0; server < fakeredis_servers(); server++) {
        const struct key *key;
        for (int i = 0; i < PLACES_MAX && (key = fakeredis_key(server, i)) != NULL; i++) {
            if (!has_lease(key) || claims_client(server, key) != client) {
                continue;
            }
            bool is_due = lease_is_due(server, key);
            if (is_due ? due : not_due && ends_early(client)) {
                action_list_add(list, ACTION_EXPIRE, client)->session = 1 + server * PLACES_MAX + i;
            }
        }
    }
}
