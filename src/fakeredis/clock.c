/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The clocks of a world and of its servers: the moments at which messages arrive and leases end.
 *
 * A message that is sent at t arrives between t + latency_min_ms and t + latency_max_ms. Its record holds the
 * earlier moment alone, because the two differ by a constant. Messages of a connection keep their order.
 *
 * A server's clock is ahead of the world's by its jumps, and runs faster by `drift` thousandths. */
#include "base/assert.h"
#include "base/next_event_time.h"
#include "fakeredis/internal.h"

int64_t server_now_ms(int server)
{
    if (!the_options.timed) {
        return 0;
    }
    int64_t now = the_options.now_ms();
    return now + now * the_options.drift / 1000 + server_facts(&the_servers[server].pack)->clock_ms;
}

/* Returns the first moment of the world's clock at which the server's clock is past `server_ms`. */
static int32_t when_past(int server, int64_t server_ms)
{
    int64_t past = server_ms + 1 - server_facts(&the_servers[server].pack)->clock_ms;
    int64_t pace = 1000 + the_options.drift;
    LS_ASSERT(the_options.timed && server_ms != KEY_NEVER);
    int64_t ms = past > 0 ? (past * 1000 + pace - 1) / pace : 0;
    return ms < INT32_MAX ? (int32_t)ms : INT32_MAX;
}

bool fakeredis_is_over(int server, const struct key *key)
{
    return key->ends_ms != KEY_NEVER && server_now_ms(server) > key->ends_ms;
}

int32_t clock_arrival_ms(int messages)
{
    return the_options.timed ? the_options.now_ms() + messages * the_options.latency_min_ms : 0;
}

bool clock_has_come(int32_t ms)
{
    return !the_options.timed || ms <= the_options.now_ms();
}

/* Adds the window of an arrival. An arrival with due_ms 0 has no window: it is possible at once. */
static void arrival(struct moments *moments, int32_t due_ms)
{
    int32_t spread = due_ms > 0 ? the_options.latency_max_ms - the_options.latency_min_ms : 0;
    moments_may(moments, due_ms);
    moments_must(moments, due_ms + spread);
}

static void arrivals(struct moments *moments, int client, int connection)
{
    if (link_will_connect(client, connection)) {
        arrival(moments, client_read(client)->connection[connection].opens_ms);
    }
    if (link_will_apply(client, connection)) {
        arrival(moments, link_first_sent(client, connection)->due_ms);
    }
    if (link_will_deliver(client, connection)) {
        arrival(moments, link_first(client, connection)->due_ms);
    }
}

static void ends_of_leases(struct moments *moments, int server)
{
    const struct key *key;
    for (int i = 0; (key = fakeredis_key(server, i)) != NULL; i++) {
        if (key->ends_ms != KEY_NEVER) {
            moments_must(moments, when_past(server, key->ends_ms));
        }
    }
}

int32_t fakeredis_next_ms(int32_t *limit)
{
    struct moments moments = moments_from(the_options.now_ms());
    for (int client = 0; client < the_options.clients; client++) {
        for (int connection = 0; connection < FAKEREDIS_CONNECTIONS_MAX; connection++) {
            arrivals(&moments, client, connection);
        }
    }
    for (int server = 0; server < fakeredis_servers(); server++) {
        ends_of_leases(&moments, server);
    }
    *limit = moments.limit;
    return moments.next;
}
