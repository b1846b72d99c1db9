/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Leader and followers: one thread at a time leads, which means that it uses hiredis. It sends, polls the
 * sockets, and handles their input. The leader is the client's own thread, or a thread in a blocking call. In
 * the second case no switch of threads delays the answer of the call.
 *
 *   NONE ---> CALL ---> NONE      calls that come close together
 *     \         \
 *      `-------->`--> THREAD      work that no blocking call waits for, or no call for REST_MS
 *   THREAD ---> CALL, NONE        CLOSE_CALLS calls in a row came close together
 *
 * NONE is a free lead. Meanwhile no answer is to come, and no connection is to be made. So only the end of a
 * connection is noticed late, by about REST_MS. A wake-up gives a free lead to the client's thread, which
 * renews leases and makes connections.
 *
 * A call that finds another leader sleeps until it is answered or gets the lead. A call takes a free lead. A
 * call that leads makes no callbacks of the application: one may last beyond the call's deadline.
 *
 * All functions expect the environment's mutex to be held, unless they say otherwise. */
#ifndef LOOPREDIS_LEAD_H
#define LOOPREDIS_LEAD_H

#include "loopredis/sockets.h"

#include <pthread.h>
#include <stdint.h>

struct ls_redis;
struct redis_call;

#define REST_MS 20    /* longest gap from an answer to the next call, if the two are close together */
#define CLOSE_CALLS 8 /* number of such gaps in a row until calls lead */

enum lead { LEAD_THREAD, LEAD_CALL, LEAD_NONE };

struct redis_lead {
    struct ls_redis *redis;
    struct redis_sockets sockets;
    struct redis_call *call; /* of LEAD_CALL: the call that leads, or was woken to lead; otherwise NULL */
    pthread_t caller;        /* of `leads`: thread of `call` */
    int64_t answered_ns;     /* monotonic time of the last answer to a blocking call */
    int wakes;               /* eventfd that ends the poll of the leader */
    int stands;              /* eventfd that wakes the client's thread while it does not lead */
    uint32_t answers;        /* number of answers to blocking calls, wraps */
    uint8_t lead;            /* an enum lead */
    uint8_t close_calls;     /* number of close calls in a row (REST_MS), at most CLOSE_CALLS */
    bool leads;              /* of LEAD_CALL: `call` leads; false = it was woken, and does not lead yet */
    bool polls;              /* the leader polls, and no wake-up has ended its poll */
    bool woken;              /* the leader is to look for work */
    bool sleeps;             /* the client's thread waits for `stands`, and no wake-up has come */
    bool rests;              /* `sleeps`, without a limit of time */
    bool ends;               /* the client is being closed */
};

/* False = there are no descriptors. */
bool lockredis_lead_open(struct redis_lead *lead, struct ls_redis *redis);
void lockredis_lead_close(struct redis_lead *lead);

void lockredis_lead_wake(struct redis_lead *lead); /* has the leader look for work */
void lockredis_lead_work(struct redis_lead *lead); /* runs the client's thread until the client is closed */

/* Leads or follows until the call is answered. When it returns, the client may be gone. */
void lockredis_lead_await(struct redis_lead *lead, struct redis_call *call);

/* Wakes the thread of a call that is answered. */
void lockredis_lead_answered(struct redis_lead *lead, struct redis_call *call);

/* Returns whether the calling thread leads for its own call. If so, wakes the client's thread, which makes
 * the callbacks. */
bool lockredis_lead_defers(struct redis_lead *lead);

#endif
