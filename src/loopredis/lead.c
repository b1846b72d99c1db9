/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "loopredis/lead.h"
#include "lockredis/internal.h"

#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REST_NS (REST_MS * INT64_C(1000000))

static struct ls_env *env_of(const struct redis_lead *lead)
{
    return lead->redis->env;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Reads an eventfd, so that the next poll waits again. */
static void forget(int descriptor)
{
    eventfd_t count;
    (void)eventfd_read(descriptor, &count);
}

static void wake_leader(struct redis_lead *lead)
{
    lead->woken = true;
    if (lead->polls) {
        lead->polls = false;
        (void)eventfd_write(lead->wakes, 1);
    }
}

static void wake_thread(struct redis_lead *lead)
{
    if (lead->sleeps) {
        lead->sleeps = false;
        (void)eventfd_write(lead->stands, 1);
    }
}

/* Polls the sockets as the leader, and handles input and output. Drops the mutex meanwhile. */
static void poll_sockets(struct redis_lead *lead)
{
    struct redis_events found;
    lead->polls = true;
    ls_env_unlock(env_of(lead));
    lockredis_sockets_poll(&lead->sockets, lead->wakes, &found);
    ls_env_lock(env_of(lead));
    if (!lead->polls) {
        forget(lead->wakes);
    }
    lead->polls = false;
    ls_env_unlock(env_of(lead));
    lockredis_sockets_handle(&lead->sockets, &found);
    ls_env_lock(env_of(lead));
}

static void write_sockets(struct redis_lead *lead)
{
    ls_env_unlock(env_of(lead));
    lockredis_sockets_write(&lead->sockets);
    ls_env_lock(env_of(lead));
}

static void give_to_thread(struct redis_lead *lead)
{
    lead->lead = LEAD_THREAD;
    lead->call = NULL;
    wake_thread(lead);
}

static void give_to_call(struct redis_lead *lead, struct redis_call *call)
{
    lead->lead = LEAD_CALL;
    lead->call = call;
    ls_env_wake(env_of(lead), &call->waiter);
}

static void give_to_nobody(struct redis_lead *lead)
{
    lead->lead = LEAD_NONE;
    lead->call = NULL;
    if (lead->rests) {
        wake_thread(lead); /* to rest for REST_MS, and lead again if no call comes */
    }
}

/* Passes on the lead. */
static void hand_on(struct redis_lead *lead)
{
    struct redis_call *next = lockredis_claim_next_call(lead->redis);
    if (lead->ends || lockredis_client_needs_thread(lead->redis, next != NULL)) {
        give_to_thread(lead);
    } else if (next != NULL) {
        give_to_call(lead, next);
    } else {
        give_to_nobody(lead);
    }
}

void lockredis_lead_wake(struct redis_lead *lead)
{
    if (lead->lead == LEAD_NONE) {
        give_to_thread(lead);
    }
    wake_leader(lead);
}

static bool leads(const struct redis_lead *lead, const struct redis_call *call)
{
    return lead->lead == LEAD_CALL && lead->call == call;
}

/* Sends and polls until the call is answered, or lockredis_client_send() finds a connection that is not
 * up. */
static void serve(struct redis_lead *lead, const struct redis_call *call)
{
    while (!call->done) {
        lead->woken = false;
        if (!lockredis_client_send(lead->redis)) {
            return;
        }
        write_sockets(lead);
        if (!call->done && !lead->woken) {
            poll_sockets(lead);
        }
    }
}

static void lead_for(struct redis_lead *lead, const struct redis_call *call)
{
    struct ls_env *env = env_of(lead);
    struct redis_no_pipe pipe;
    unsigned ended = lead->sockets.ended;
    lead->leads = true;
    lead->caller = pthread_self();
    lockredis_sockets_block_pipe(&pipe);
    serve(lead, call);
    bool raised = lead->sockets.ended != ended;
    lead->leads = false;
    hand_on(lead); /* the client may be gone as soon as the mutex is dropped */
    ls_env_unlock(env);
    lockredis_sockets_restore_pipe(&pipe, raised);
    ls_env_lock(env);
}

static void count(struct redis_lead *lead)
{
    bool is_close = lead->answers > 0 && now_ns() - lead->answered_ns < REST_NS;
    lead->close_calls = !is_close                         ? 0
                        : lead->close_calls < CLOSE_CALLS ? (uint8_t)(lead->close_calls + 1)
                                                          : CLOSE_CALLS;
}

void lockredis_lead_await(struct redis_lead *lead, struct redis_call *call)
{
    struct ls_env *env = env_of(lead);
    count(lead);
    if (lead->lead == LEAD_NONE) {
        lead->lead = LEAD_CALL;
        lead->call = call;
    } else {
        lockredis_client_go_on(lead->redis);
    }
    while (!call->done) {
        if (leads(lead, call)) {
            lead_for(lead, call);
        } else {
            ls_env_wait(env, &call->waiter);
        }
    }
}

void lockredis_lead_answered(struct redis_lead *lead, struct redis_call *call)
{
    lead->answers++;
    lead->answered_ns = now_ns();
    if (!leads(lead, call)) {
        ls_env_wake(env_of(lead), &call->waiter);
    } else if (lead->leads) {
        wake_leader(lead);
    } else { /* the call was woken to lead, and need not any more */
        give_to_thread(lead);
    }
}

bool lockredis_lead_defers(struct redis_lead *lead)
{
    bool defers = lead->lead == LEAD_CALL && lead->leads && pthread_equal(lead->caller, pthread_self()) != 0;
    if (defers) {
        wake_thread(lead);
    }
    return defers;
}

static void take_turn(struct redis_lead *lead)
{
    lead->woken = false;
    ls_env_unlock(env_of(lead));
    lockredis_client_run(lead->redis);
    lockredis_sockets_write(&lead->sockets);
    ls_env_lock(env_of(lead));
    if (lead->ends) {
        return;
    }
    if (lead->close_calls == CLOSE_CALLS) {
        hand_on(lead);
    }
    if (lead->lead == LEAD_THREAD && !lead->woken && !lockredis_client_has_work(lead->redis)) {
        poll_sockets(lead);
    }
}

/* Returns the number of ms for which the client's thread rests; -1 = until it is woken. If the lead is
 * free, and the last answer is REST_MS old, gives the lead to this thread and returns 0. */
static int rest(struct redis_lead *lead, uint32_t *answers)
{
    bool goes_on = *answers != lead->answers;
    *answers = lead->answers;
    if (lead->lead == LEAD_CALL) {
        return goes_on ? REST_MS : -1;
    }
    int64_t left_ns = lead->answered_ns + REST_NS - now_ns();
    if (left_ns > 0) {
        return (int)(left_ns / 1000000) + 1;
    }
    lead->close_calls = 0;
    lead->lead = LEAD_THREAD;
    return 0;
}

/* Lets the client's thread wait while it does not lead. */
static void stand_by(struct redis_lead *lead, uint32_t *answers)
{
    lockredis_claim_deliver(lead->redis);
    if (lead->lead == LEAD_THREAD) {
        return;
    }
    int rest_ms = rest(lead, answers);
    if (rest_ms == 0) {
        return;
    }
    lead->sleeps = true;
    lead->rests = rest_ms < 0;
    ls_env_unlock(env_of(lead));
    struct pollfd fd = {.fd = lead->stands, .events = POLLIN};
    (void)poll(&fd, 1, rest_ms);
    ls_env_lock(env_of(lead));
    if (!lead->sleeps) {
        forget(lead->stands);
    }
    lead->sleeps = false;
    lead->rests = false;
}

void lockredis_lead_work(struct redis_lead *lead)
{
    uint32_t answers = 0;
    bool ended = false;
    while (!ended) {
        if (lead->lead != LEAD_THREAD) {
            stand_by(lead, &answers);
            continue;
        }
        ended = lead->ends; /* the turn after the end is the last one */
        take_turn(lead);
    }
}

bool lockredis_lead_open(struct redis_lead *lead, struct ls_redis *redis)
{
    lead->redis = redis;
    lead->wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    lead->stands = lead->wakes >= 0 ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    if (lead->wakes >= 0 && lead->stands < 0) {
        close(lead->wakes);
    }
    return lead->stands >= 0;
}

void lockredis_lead_close(struct redis_lead *lead)
{
    close(lead->wakes);
    close(lead->stands);
}
