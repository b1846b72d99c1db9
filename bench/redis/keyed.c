/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Designs that set a key with a lease and believe until they delete it, on blocking connections of hiredis.
 * A thread with a connection of its own renews the lease. The thread lives as long as its client; DLock
 * starts one for each hold. So a lock of this file costs less than one of DLock's. */
#include "design.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY "design"
#define ID_SIZE 48
#define NEVER INT64_MAX

static const char RENEW[] = "if redis.call('get', KEYS[1]) == ARGV[1] then "
                            "return redis.call('pexpire', KEYS[1], ARGV[2]) else return nil end";
static const char DELETE[] = "if redis.call('get', KEYS[1]) == ARGV[1] then "
                             "return redis.call('del', KEYS[1]) else return nil end";

/* When renewals are sent. */
struct pace {
    bool renews;
    int first_ms;   /* from the grant to the first renewal; 0 = as `next_of_12` says */
    int next_of_12; /* twelfths of the lease */
};

struct keyed {
    const struct pace *pace;
    redisContext *commands;
    redisContext *renewals;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char id[ID_SIZE];
    int lease_ms;
    uint64_t holds;   /* number of grants */
    int64_t due_ms;   /* time of the next renewal; NEVER = none */
    int64_t wakes_ms; /* time until which the thread waits; 0 = it does not wait */
    bool held;
    bool ends;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&time, &time) != 0) {
    }
}

static redisContext *connect_to(const char *hosts)
{
    char host[64];
    int port = 0;
    /* NOLINTNEXTLINE(cert-err34-c): the connection fails if the number is wrong */
    if (sscanf(hosts, "%63[^:]:%d", host, &port) != 2) {
        return NULL;
    }
    redisContext *context = redisConnect(host, port);
    if (context != NULL && context->err != 0) {
        redisFree(context);
        return NULL;
    }
    return context;
}

/* Tells whether a reply is the answer of a command that was done: no nil and no error. Frees the reply. */
static bool done(void *answer)
{
    redisReply *reply = answer;
    bool is = reply != NULL && reply->type != REDIS_REPLY_NIL && reply->type != REDIS_REPLY_ERROR;
    freeReplyObject(reply);
    return is;
}

/* ---- the thread that renews ---- */

static int period_ms(const struct keyed *keyed)
{
    return keyed->lease_ms * keyed->pace->next_of_12 / 12;
}

static bool renew(struct keyed *keyed)
{
    return done(redisCommand(keyed->renewals, "EVAL %s 1 " KEY " %s %d", RENEW, keyed->id, keyed->lease_ms));
}

/* Renews the hold, without the mutex meanwhile. A renewal that finds the hold gone is the last one, and
 * nobody is told. */
static void renew_now(struct keyed *keyed)
{
    uint64_t hold = keyed->holds;
    pthread_mutex_unlock(&keyed->mutex);
    bool goes_on = renew(keyed);
    pthread_mutex_lock(&keyed->mutex);
    if (keyed->holds == hold) {
        keyed->due_ms = goes_on ? now_ms() + period_ms(keyed) : NEVER;
    }
}

static void wait_until(struct keyed *keyed, int64_t at_ms)
{
    struct timespec at = {at_ms / 1000, at_ms % 1000 * 1000000};
    keyed->wakes_ms = at_ms;
    if (at_ms == NEVER) {
        pthread_cond_wait(&keyed->changed, &keyed->mutex);
    } else {
        pthread_cond_timedwait(&keyed->changed, &keyed->mutex, &at);
    }
    keyed->wakes_ms = 0;
}

static void *renew_holds(void *context)
{
    struct keyed *keyed = context;
    pthread_mutex_lock(&keyed->mutex);
    while (!keyed->ends) {
        if (keyed->held && keyed->due_ms <= now_ms()) {
            renew_now(keyed);
        } else {
            wait_until(keyed, keyed->held ? keyed->due_ms : NEVER);
        }
    }
    pthread_mutex_unlock(&keyed->mutex);
    return NULL;
}

/* ---- a client ---- */

static void free_keyed(struct keyed *keyed)
{
    redisFree(keyed->commands);
    redisFree(keyed->renewals);
    free(keyed);
}

static bool start_thread(struct keyed *keyed)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&keyed->changed, &attributes);
    pthread_mutex_init(&keyed->mutex, NULL);
    return !keyed->pace->renews || pthread_create(&keyed->thread, NULL, renew_holds, keyed) == 0;
}

static void *open_keyed(const char *hosts, int lease_ms, const struct pace *pace)
{
    struct keyed *keyed = calloc(1, sizeof *keyed);
    if (keyed == NULL) {
        return NULL;
    }
    keyed->pace = pace;
    keyed->lease_ms = lease_ms;
    snprintf(keyed->id, sizeof keyed->id, "%ld-%p", (long)getpid(), (void *)keyed);
    keyed->commands = connect_to(hosts);
    keyed->renewals = connect_to(hosts);
    if (keyed->commands == NULL || keyed->renewals == NULL || !start_thread(keyed)) {
        free_keyed(keyed);
        return NULL;
    }
    return keyed;
}

static void close_keyed(void *client)
{
    struct keyed *keyed = client;
    pthread_mutex_lock(&keyed->mutex);
    keyed->ends = true;
    pthread_cond_broadcast(&keyed->changed);
    pthread_mutex_unlock(&keyed->mutex);
    if (keyed->pace->renews) {
        pthread_join(keyed->thread, NULL);
    }
    free_keyed(keyed);
}

/* Wakes the thread if it would sleep beyond the next renewal. */
static void set_held(struct keyed *keyed, bool held)
{
    const struct pace *pace = keyed->pace;
    pthread_mutex_lock(&keyed->mutex);
    keyed->held = held;
    if (held) {
        keyed->holds++;
        keyed->due_ms = now_ms() + (pace->first_ms != 0 ? pace->first_ms : period_ms(keyed));
    }
    if (held && pace->renews && keyed->due_ms < keyed->wakes_ms) {
        pthread_cond_signal(&keyed->changed);
    }
    pthread_mutex_unlock(&keyed->mutex);
}

static bool try(struct keyed *keyed)
{
    bool is = done(redisCommand(keyed->commands, "SET " KEY " %s NX PX %d", keyed->id, keyed->lease_ms));
    if (is) {
        set_held(keyed, true);
    }
    return is;
}

static int take(void *client, int timeout_ms)
{
    struct keyed *keyed = client;
    int64_t end_ms = now_ms() + timeout_ms;
    if (try(keyed)) {
        return 0;
    }
    pause_ms(keyed->lease_ms / 10);
    while (timeout_ms < 0 || now_ms() < end_ms) {
        if (!done(redisCommand(keyed->commands, "GET " KEY)) && try(keyed)) {
            return 0;
        }
        pause_ms(keyed->lease_ms / 6);
    }
    return -1;
}

static bool believes(void *client)
{
    const struct keyed *keyed = client;
    return keyed->held;
}

static int give(void *client)
{
    struct keyed *keyed = client;
    bool is = done(redisCommand(keyed->commands, "EVAL %s 1 " KEY " %s", DELETE, keyed->id));
    set_held(keyed, false);
    return is ? 0 : -1;
}

static int give_plainly(void *client)
{
    struct keyed *keyed = client;
    keyed->held = false;
    return done(redisCommand(keyed->commands, "DEL " KEY)) ? 0 : -1;
}

/* ---- the designs ---- */

static void *open_dlock(const char *hosts, int lease_ms)
{
    static const struct pace pace = {.renews = true, .first_ms = 1, .next_of_12 = 9};
    return open_keyed(hosts, lease_ms, &pace);
}

static void *open_redisson(const char *hosts, int lease_ms)
{
    static const struct pace pace = {.renews = true, .next_of_12 = 4};
    return open_keyed(hosts, lease_ms, &pace);
}

static void *open_floor(const char *hosts, int lease_ms)
{
    static const struct pace pace = {.renews = false};
    return open_keyed(hosts, lease_ms, &pace);
}

const struct design design_dlock = {"dlock", open_dlock, take, believes, give, close_keyed};
const struct design design_redisson = {"redisson", open_redisson, take, believes, give, close_keyed};
const struct design design_floor = {"floor", open_floor, take, believes, give_plainly, close_keyed};
