/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Writes whose link is gone, and that may still commit. A cut left the write in the pipeline (F79) or, with
 * `fine`, unread in a server's socket. */
#include "base/assert.h"
#include "fakezk/internal.h"

#include <string.h>

/* Adds a write to a list of the log. In its record, `forwarded` is the session and `lo_ms` the client. NULL =
 * no room. */
static struct zk_request *set_aside(int list, int client, int32_t session, const struct zk_request *request)
{
    LS_ASSERT(op_is_write(request->rec.tag) && session > 0);
    struct pack pack = log_pack();
    struct zk_request *late = (struct zk_request *)pack_append(&pack, list, request->rec.size);
    if (late == NULL) {
        fakezk_note_trouble("limit: too many late writes");
        return NULL;
    }
    pack_fill(&late->rec, &request->rec);
    late->forwarded = session;
    late->lo_ms = client;
    late->hi_ms = 0;
    late->completion = 0;
    late->data = NULL;
    late->out = NULL;
    return late;
}

void aside_park(int client, int32_t session, const struct zk_request *request)
{
    set_aside(LIST_LATE, client, session, request);
}

static void commit_now(struct zk_request *late)
{
    static _Alignas(8) unsigned char copy[REQUEST_BYTES_MAX];
    struct pack pack = log_pack();
    LS_ASSERT(late != NULL && late->rec.size <= sizeof copy);
    memcpy(copy, late, late->rec.size);
    pack_remove(&pack, &late->rec);
    struct zk_request *request = (struct zk_request *)copy;
    const struct zk_session *session = session_find(request->forwarded);
    LS_ASSERT(request->lo_ms >= 0 && request->lo_ms < fakezk.options.clients);
    if (session != NULL && session->rec.tag == SESSION_LIVE) {
        commit_request(request->lo_ms, (int)FAKEZK_NONE, request->forwarded, 0, request);
    }
}

void aside_late_first(void)
{
    struct pack pack = log_pack();
    commit_now((struct zk_request *)pack_first(&pack, LIST_LATE));
}

void aside_late_all(void)
{
    struct pack pack = log_pack();
    while (pack_first(&pack, LIST_LATE) != NULL) {
        aside_late_first();
    }
    LS_ASSERT(pack_first(&pack, LIST_LATE) == NULL);
}

/* In the record, `hi_ms` holds the server. */
void aside_linger(int client, int32_t session, int server, const struct zk_request *request)
{
    LS_ASSERT(server >= 0 && server < fakezk.options.servers);
    struct zk_request *left = set_aside(LIST_LINGER, client, session, request);
    if (left != NULL) {
        left->hi_ms = server;
    }
}

const struct zk_request *aside_lingering(int client)
{
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_LINGER); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct zk_request *)rec)->lo_ms == client) {
            return (struct zk_request *)rec;
        }
    }
    return NULL;
}

void aside_lingering_first(int client)
{
    commit_now((struct zk_request *)(uintptr_t)aside_lingering(client));
}

void aside_forget(int32_t session)
{
    struct pack pack = log_pack();
    struct rec *rec = pack_first(&pack, LIST_LINGER);
    while (rec != NULL) {
        if (((struct zk_request *)rec)->forwarded == session) {
            pack_remove(&pack, rec);
            rec = pack_first(&pack, LIST_LINGER);
        } else {
            rec = pack_next(&pack, rec);
        }
    }
}
