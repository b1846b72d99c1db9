/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Sessions at the leader: their deadlines, the packets and pings that keep them fresh, ids, and the begin of
 * their end (F6, F27, F28, F30). */
#include "base/assert.h"
#include "base/hash.h"
#include "fakezk/internal.h"

static const struct _zhandle *handle_with(int c, const struct zk_session *session)
{
    const struct zk_client *client = client_at(c);
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        const struct _zhandle *zh = &client->handle[slot];
        if (zh->open && zh->link && !zh->severed && zh->session == (int32_t)session->rec.word) {
            return zh;
        }
    }
    return NULL;
}

/* Returns a handle with an unsevered link that has this session, or NULL. It may be another process's handle,
 * opened with the session's id (F18). */
static const struct _zhandle *connected_handle(const struct zk_session *session)
{
    const struct _zhandle *zh = handle_with(session->client, session);
    for (int c = 0; zh == NULL && c < fakezk.options.clients; c++) {
        zh = handle_with(c, session);
    }
    return zh;
}

/* Returns whether pings keep a session fresh. It is not `gone`, and a handle has a link with it. That
 * client is neither paused nor partitioned, and that server is not frozen. Pings come each third of the
 * timeout; session_settle_pings() computes them (F6). */
bool session_healthy(const struct zk_session *session)
{
    LS_ASSERT(session_client((int32_t)session->rec.word) == session->client);
    const struct _zhandle *zh = connected_handle(session);
    if (zh == NULL || session->gone || server_at(zh->server)->frozen) {
        return false;
    }
    return !client_at(zh->client)->paused && !client_at(zh->client)->partitioned;
}

/* Returns the deadline: the first tick behind the end of the timeout (F27). */
int32_t session_deadline_ms(const struct zk_session *session)
{
    int32_t tick = fakezk.options.tick_ms;
    LS_ASSERT(tick > 0 && session->timeout_ms >= 0);
    return ((session->touched_ms + session->timeout_ms) / tick + 1) * tick;
}

void session_touch(int32_t number, int32_t now_ms)
{
    struct zk_session *session = session_find(number);
    if (fakezk.options.timed && session != NULL && session->touched_ms < now_ms) {
        LS_ASSERT(now_ms <= clock_ms());
        log_mark();
        session->touched_ms = now_ms;
    }
}

void session_settle_pings(int client)
{
    if (!fakezk.options.timed) {
        return;
    }
    int32_t now = clock_ms();
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        const struct _zhandle *zh = handle_at(client, slot);
        const struct zk_session *session =
            zh->open && zh->link && !zh->severed ? session_find(zh->session) : NULL;
        if (session == NULL || !session_healthy(session) || zh->timeout_ms < 3) {
            continue;
        }
        int32_t third = zh->timeout_ms / 3;
        int32_t ping = zh->sent_ms + (now - zh->sent_ms) / third * third;
        int32_t arrived = ping + fakezk.options.latency_min_ms;
        int32_t answered = arrived + fakezk.options.latency_min_ms;
        session_touch(zh->session, arrived <= now ? arrived : ping - third + fakezk.options.latency_min_ms);
        struct _zhandle *mine = &client_mark(client)->handle[slot];
        int32_t heard = answered <= now ? answered : answered - third;
        mine->received_ms = heard > mine->received_ms ? heard : mine->received_ms;
    }
}

/* Returns the id of a session. Ids do not ascend with the numbers, and may be negative, because recipes must
 * rely neither on their order nor on their sign. */
int64_t fakezk_session_id(int32_t number)
{
    if (number == 0) {
        return 0;
    }
    uint64_t shuffled = hash_mix(fakezk.options.seed * 1000003u + (uint64_t)(uint32_t)number);
    uint64_t by_129 = shuffled & 0x8000; /* else by server 1: the number of the server is the highest byte */
    return (int64_t)(by_129 << 48 | 0x0100000000000000ull | (shuffled & 0x7fff) << 32 | (uint32_t)number);
}

int32_t fakezk_session(int client, int handle)
{
    const struct _zhandle *zh = handle_at(client, handle);
    return zh->open ? zh->session : 0;
}

bool fakezk_session_live(int32_t number)
{
    const struct zk_session *session = session_find(number);
    return session != NULL && session->rec.tag == SESSION_LIVE;
}

static bool is_time_up(const struct zk_session *session)
{
    return fakezk.options.timed && !session_healthy(session) && session_deadline_ms(session) <= clock_ms();
}

bool fakezk_expire(int32_t number)
{
    struct zk_session *session = session_find(number);
    if (session == NULL || session->rec.tag != SESSION_LIVE) {
        return false;
    }
    bool time_up = is_time_up(session);
    log_mark();
    LS_ASSERT(session->rec.word == (uint32_t)number);
    session->rec.tag = SESSION_CLOSING;
    struct fakezk_event event = {
        .kind = FAKEZK_SESSION_CLOSING, .client = session->client, .session = number, .code = time_up};
    fakezk_emit(&event);
    return true;
}
