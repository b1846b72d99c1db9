/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The clock: its present time, and the bounds of its next move, from the times at which steps may or must
 * happen. */
#include "base/assert.h"
#include "base/next_event_time.h"
#include "fakezk/enabled.h"

int32_t fakezk_now_ms(void)
{
    return clock_ms();
}

void fakezk_advance(int32_t to_ms)
{
    LS_ASSERT(fakezk.options.now_ms == NULL && to_ms >= clock_ms());
    log_mark()->now_ms = to_ms;
}

static void handle_horizon(struct moments *h, int client, int slot)
{
    struct zk_seen seen = see(client, slot);
    const struct zk_message *message = seen.message;
    if (will_deliver(&seen)) {
        LS_ASSERT(message->lo_ms <= message->hi_ms);
        moments_may(h, message->lo_ms);
        moments_must(h, message->rec.word != 0 ? h->now : message->hi_ms);
    }
    bool refused;
    if (will_apply(&seen, &refused) && seen.request != NULL) {
        moments_may(h, seen.request->lo_ms);
        if (!refused) {
            moments_must(h, seen.request->hi_ms);
        }
    }
    for (int s = 0; s < fakezk.options.servers; s++) {
        if (will_connect(&seen, s)) {
            moments_must(h, seen.zh->connect_ms);
        }
    }
    if (is_mute(&seen)) {
        moments_must(h, link_give_up_ms(seen.zh));
    }
    if (is_hung_up(&seen)) {
        moments_must(h, h->now);
    }
}

int32_t fakezk_next_ms(int32_t *limit)
{
    struct moments h = moments_from(clock_ms());
    for (int client = 0; client < fakezk.options.clients; client++) {
        for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
            if (handle_at(client, slot)->open) {
                handle_horizon(&h, client, slot);
            }
        }
    }
    for (int s = 1; s < fakezk.options.servers; s++) {
        struct pack pack = server_pack(s);
        if (!server_at(s)->frozen && !server_at(s)->lagging && pack_first(&pack, LIST_BACKLOG) != NULL) {
            moments_must(&h, h.now);
        }
    }
    struct pack pack = log_pack();
    for (struct rec *rec = pack_first(&pack, LIST_SESSION); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct zk_session *session = (struct zk_session *)rec;
        if (rec->tag == SESSION_CLOSING) {
            moments_must(&h, h.now);
        } else if (!session_healthy(session)) {
            moments_must(&h, session_deadline_ms(session));
        }
    }
    *limit = h.limit;
    LS_ASSERT(h.next > h.now && h.limit >= h.now);
    return h.next;
}
