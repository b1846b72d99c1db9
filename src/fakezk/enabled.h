/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Conditions of the steps of one handle or one client. They are inline because a list of steps asks them
 * for each open handle. */
#ifndef FAKEZK_ENABLED_H
#define FAKEZK_ENABLED_H

#include "fakezk/internal.h"

/* A handle with its next request and message. Valid until something is written. */
struct zk_seen {
    const struct zk_client *client;
    const struct _zhandle *zh;
    const struct zk_request *request; /* the oldest unanswered request, or NULL */
    const struct zk_message *message; /* the next message, or NULL */
    /* session of the link; NULL without a link, or if session_find() finds none */
    const struct zk_session *session;
};

static inline struct zk_seen see(int client, int slot)
{
    struct zk_seen seen = {.client = client_at(client), .zh = handle_at(client, slot)};
    seen.request = head_request(client, slot);
    seen.message = head_message(client, slot);
    seen.session = seen.zh->link ? session_find(seen.zh->session) : NULL;
    return seen;
}

/* Returns whether the server of the link knows the session: it has not applied the session's end. */
static inline bool is_known(const struct zk_seen *seen)
{
    return seen->session != NULL || server_awaits_end(seen->zh->server, seen->zh->session);
}

/* Returns whether a frozen server would serve the handle (F105). */
static inline bool takes_read_only(const struct _zhandle *zh)
{
    return zh->open == OPEN_READ_ONLY && zh->session != 0 && is_set(FAKEZK_SETTING_READ_ONLY);
}

static inline bool is_read_only(const struct _zhandle *zh)
{
    return zh->state == ZOO_READONLY_STATE;
}

/* Returns whether the next callback can run once its message has arrived. */
static inline bool will_deliver(const struct zk_seen *seen)
{
    const struct zk_message *message = seen->message;
    if (message == NULL) {
        return false;
    }
    /* No branches: which of these is false is hard to predict. */
    bool runs = !seen->client->paused;
    bool linked = (seen->zh->link != 0) & !seen->client->partitioned & !fakezk.options.fine;
    return runs & ((message->rec.word != 0) | linked);
}

static inline bool can_deliver(const struct zk_seen *seen)
{
    return will_deliver(seen) && ((seen->message->rec.word != 0) | (seen->message->lo_ms <= clock_ms()));
}

/* Returns whether the server can read the next request once it has arrived. If so, *refused is whether the
 * leader will refuse it with -112, because the session is closing (F30). */
static inline bool will_apply(const struct zk_seen *seen, bool *refused)
{
    const struct _zhandle *zh = seen->zh;
    const struct zk_request *request = seen->request;
    *refused = false;
    if (request == NULL) {
        return false;
    }
    bool on_its_way = (zh->link != 0) & (zh->severed == 0) & (zh->half == 0) & (request->rec.word != 0) &
                      (request->forwarded == 0);
    if (!(on_its_way & !seen->client->partitioned)) {
        return false;
    }
    bool leader = op_needs_leader(request->rec.tag);
    if (leader && server_at(zh->server)->frozen && !is_read_only(zh)) {
        return false;
    }
    if ((!leader && zh->server != 0) || is_read_only(zh)) {
        return is_known(seen);
    }
    *refused = seen->session != NULL && seen->session->rec.tag == SESSION_CLOSING;
    return seen->session != NULL;
}

static inline bool can_apply(const struct zk_seen *seen, bool *refused)
{
    *refused = false;
    return seen->request != NULL && seen->request->lo_ms <= clock_ms() && will_apply(seen, refused);
}

/* Returns whether the handle hears nothing, so that its client may give up (F7). False if the client is
 * paused or the handle's state is negative. Otherwise it depends on the link:
 * - With a link: the client is partitioned, or a request waits that a frozen server cannot answer. A
 *   pending request stops the client's pings, so nothing comes at all (F6, F94).
 * - Without a link, if a request waits: the client is partitioned, or no server can confirm the session
 *   (F34).
 * - Without a link and without a request: false. */
static inline bool is_mute(const struct zk_seen *seen)
{
    const struct _zhandle *zh = seen->zh;
    const struct zk_request *request = seen->request;
    if (seen->client->paused || zh->state < 0 || (!zh->link && request == NULL)) {
        return false;
    }
    if (seen->client->partitioned) {
        return true;
    }
    if (zh->link) {
        return request != NULL && server_at(zh->server)->frozen && !is_read_only(zh) &&
               (request->forwarded != 0 || op_needs_leader(request->rec.tag));
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if (!server_at(s)->frozen || takes_read_only(zh)) {
            return false;
        }
    }
    return true;
}

static inline bool can_give_up(const struct zk_seen *seen)
{
    const struct _zhandle *zh = seen->zh;
    bool served = !seen->client->partitioned && zh->link && !server_at(zh->server)->frozen;
    return !served && is_mute(seen) && (!fakezk.options.timed || link_give_up_ms(zh) <= clock_ms());
}

/* Returns whether the client can notice that its server has closed the link, or does not know the session. */
static inline bool is_hung_up(const struct zk_seen *seen)
{
    bool hears = (seen->zh->link != 0) & !seen->client->partitioned & !seen->client->paused &
                 (seen->zh->half != HALF_REFUSED);
    return hears && (seen->zh->severed || !is_known(seen));
}

/* Returns whether the handle may try this server once `connect_ms` has come, and would get an answer. */
static inline bool will_connect(const struct zk_seen *seen, int server)
{
    const struct _zhandle *zh = seen->zh;
    const struct zk_server *s = server_at(server);
    bool wants = (zh->open != 0) & (zh->closing == 0) & (zh->link == 0) & (zh->state >= 0);
    bool reaches = !seen->client->paused & !seen->client->partitioned & (!s->frozen || takes_read_only(zh)) &
                   (s->zxid >= zh->last_zxid);
    return (wants & reaches) && (!zh->halved || (server - zh->next_server) % 2 == 0);
}

static inline bool can_connect(const struct zk_seen *seen, int server)
{
    return seen->zh->connect_ms <= clock_ms() && will_connect(seen, server);
}

static inline bool carries(const struct zk_seen *seen)
{
    return seen->zh->link && !seen->client->partitioned;
}

/* Returns the first message that the client has not taken out of its socket, or NULL. */
static inline struct zk_message *unreceived(int client, int slot)
{
    struct pack pack = client_pack(client);
    struct rec *rec = pack_first(&pack, LIST_MESSAGE + slot);
    while (rec != NULL && rec->word != 0) {
        rec = pack_next(&pack, rec);
    }
    return (struct zk_message *)rec;
}

static inline bool can_receive(const struct zk_seen *seen)
{
    return carries(seen) && !seen->client->paused && unreceived(seen->zh->client, seen->zh->slot) != NULL;
}

static inline bool can_handshake(const struct zk_seen *seen)
{
    return carries(seen) && !seen->client->paused && seen->zh->half > HALF_REARM;
}

static inline bool can_rearm(const struct zk_seen *seen)
{
    return carries(seen) && !seen->zh->severed && seen->zh->half == HALF_REARM && is_known(seen);
}

static inline bool can_linger(int client)
{
    const struct zk_request *left = aside_lingering(client);
    return left != NULL && !server_at(left->hi_ms)->frozen;
}

#endif
