/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Leader and followers: one thread at a time leads, which means that it uses hiredis. It sends, polls the
 * sockets, and handles their input. The leader is the client's own thread, or a thread in a blocking call,
 * which so gets its answer without a switch of threads.
 *
 *   NONE ---> CALL ---> NONE      calls that come close together
 *     \         \
 *      `-------->`--> THREAD      work that no blocking call waits for, or no call for REST_MS
 *   THREAD ---> CALL, NONE        CLOSE_CALLS calls came within REST_MS of each other
 *
 * While the lead is free, no answer is to come, and no connection is to be made. So the only event that is
 * noticed late, by REST_MS at most, is the end of a connection. A wake-up gives a free lead to the client's
 * thread, which renews leases and makes connections.
 *
 * A call that cannot lead follows: it sleeps until it is answered or has the lead. Calls never follow a free
 * lead. A call that leads makes no callbacks: a callback may take longer than the deadline of the call.
 *
 * All functions expect the environment's mutex, unless they say otherwise. */
#ifndef LOOPREDIS_LEAD_H
#define LOOPREDIS_LEAD_H

#include "loopredis/sockets.h"

#include <pthread.h>
#include <stdint.h>

struct ls_redis;
struct redis_call;

#define REST_MS 20    /* gap between calls that are close together, at most */
#define CLOSE_CALLS 8 /* number of such gaps in a row until calls lead */

enum lead { LEAD_THREAD, LEAD_CALL, LEAD_NONE };

struct redis_lead {
    struct ls_redis *redis;
    struct redis_sockets sockets;
    struct redis_call *call; /* of LEAD_CALL: it leads, or was woken to lead */
    pthread_t caller;        /* thread of `call` once it leads */
    int64_t answered_ns;     /* monotonic time of the last answer to a blocking call */
    int wakes;               /* an eventfd that ends the poll of the leader */
    int stands;              /* an eventfd that wakes the client's thread while another thread leads */
    uint32_t answers;        /* number of answers to blocking calls, wraps */
    uint8_t lead;            /* an enum lead */
    uint8_t close_calls;     /* number of calls in a row that came close after an answer, saturated */
    bool leads;              /* of LEAD_CALL: the thread of `call` leads */
    bool polls;              /* the leader polls, and no wake-up has ended its poll */
    bool woken;              /* the leader is to look for work */
    bool sleeps;             /* the client's thread waits for `stands`, and no wake-up has come */
    bool rests;              /* likewise, without a limit of time */
    bool ends;               /* the client is being closed */
};

/* False: there are no descriptors. */
bool lockredis_lead_open(struct redis_lead *lead, struct ls_redis *redis);
void lockredis_lead_close(struct redis_lead *lead);

/* Has the leader look for work. */
void lockredis_lead_wake(struct redis_lead *lead);

/* Runs the client's thread until the client is closed. */
void lockredis_lead_work(struct redis_lead *lead);

/* Waits for the answer of a call. When it returns, the client may be gone. */
void lockredis_lead_await(struct redis_lead *lead, struct redis_call *call);

/* The call has its answer. */
void lockredis_lead_answered(struct redis_lead *lead, struct redis_call *call);

/* Whether the calling thread leads for a call of its own. Then the client's thread is woken to call back. */
bool lockredis_lead_defers(struct redis_lead *lead);

#endif
