/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Connections of a client, and the sending over them. One thread at a time runs lockredis_client_run() or
 * lockredis_client_send(). Other threads change the state of locks, and wake that thread by
 * lockredis_client_settle(). */
#include "lockredis/internal.h"
#include "lockredis/loop.h"

#include <hiredis/async.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_PORT 6379
#define HOST_SIZE_MAX 256

#define RECONNECT_MS_MIN 50
#define RECONNECT_MS_MAX 5000
#define FAILURES_MAX 16

/* NOLINTNEXTLINE(misc-const-correctness): an address to measure distances from */
static const char anchor = 0;

intptr_t lockredis_client_distance(const void *constant)
{
    return constant != NULL ? (intptr_t)((uintptr_t)constant - (uintptr_t)&anchor) : 0;
}

const void *lockredis_client_constant(intptr_t distance)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return distance != 0 ? (const void *)((uintptr_t)&anchor + (uintptr_t)distance) : NULL;
}

const struct ls_redis_options *lockredis_client_options(const struct ls_redis *redis)
{
    static const struct ls_redis_options none;
    const struct ls_redis_options *options = lockredis_client_constant(redis->options);
    return options != NULL ? options : &none;
}

uint32_t lockredis_client_lease_ms(const struct ls_redis *redis)
{
    uint32_t lease = lockredis_client_options(redis)->lease_ms;
    return lease > 0 ? lease : LS_REDIS_LEASE_MS;
}

/* A thread that waits for a change, on its stack. */
struct redis_wait {
    struct redis_wait *next;
    struct ls_env *env;
    struct ls_waiter waiter;
    bool over; /* its time has passed */
};

void lockredis_client_changed(struct ls_redis *redis)
{
    for (struct redis_wait *wait = redis->waits; wait != NULL; wait = wait->next) {
        ls_env_wake(redis->env, &wait->waiter);
    }
}

static void wait_for_change(struct ls_redis *redis, struct redis_wait *wait)
{
    wait->next = redis->waits;
    redis->waits = wait;
    ls_env_wait(redis->env, &wait->waiter);
    struct redis_wait **link = &redis->waits;
    while (*link != wait) {
        link = &(*link)->next;
    }
    *link = wait->next;
}

static void wait_while(struct ls_redis *redis, const bool *busy)
{
    struct redis_wait wait = {.env = redis->env};
    ls_env_waiter_init(redis->env, &wait.waiter);
    while (*busy) {
        wait_for_change(redis, &wait);
    }
    ls_env_waiter_close(redis->env, &wait.waiter);
}

void lockredis_client_drain(struct ls_redis *redis)
{
    wait_while(redis, &redis->delivering);
}

/* Writes the host and the port of the server whose turn it is (ls_redis.host). */
static void choose_host(const struct ls_redis *redis, char host[HOST_SIZE_MAX], int *port)
{
    const char *at = redis->hosts;
    for (int skip = redis->host; skip > 0 && strchr(at, ',') != NULL; skip--) {
        at = strchr(at, ',') + 1;
    }
    size_t size = strcspn(at, ",");
    const char *colon = memrchr(at, ':', size);
    bool bracket = size > 0 && at[0] == '[';
    if (bracket && memchr(at, ']', size) != NULL &&
        (colon == NULL || memchr(colon, ']', size - (size_t)(colon - at)) != NULL)) {
        colon = NULL; /* the colon is in the address */
    }
    size_t name = colon != NULL ? (size_t)(colon - at) : size;
    *port = colon != NULL ? atoi(colon + 1) : USUAL_PORT;
    if (bracket && name >= 2) {
        at++;
        name -= 2;
    }
    name = name < HOST_SIZE_MAX ? name : HOST_SIZE_MAX - 1;
    memcpy(host, at, name);
    host[name] = 0;
}

/* Moves on to the next server of the connect string. Returns false if it has no other one. */
static bool next_host(struct ls_redis *redis)
{
    int hosts = 1;
    for (const char *at = redis->hosts; (at = strchr(at, ',')) != NULL; at++) {
        hosts++;
    }
    redis->host = (uint8_t)((redis->host + 1) % hosts);
    return hosts > 1;
}

static struct redis_connection *connection_of(struct ls_redis *redis, const redisAsyncContext *context)
{
    return redis->messages.context == context ? &redis->messages : &redis->commands;
}

static void reconnect(void *ctx)
{
    lockredis_client_settle(ctx);
}

static uint32_t delay_ms(uint16_t failures)
{
    uint32_t delay = RECONNECT_MS_MIN;
    while (failures-- > 1 && delay < RECONNECT_MS_MAX) {
        delay *= 2;
    }
    return delay < RECONNECT_MS_MAX ? delay : RECONNECT_MS_MAX;
}

static bool is_open(const struct ls_redis *redis)
{
    return redis->state == LS_REDIS_CONNECTING || redis->state == LS_REDIS_CONNECTED;
}

static void connect_later(struct ls_redis *redis)
{
    if (is_open(redis)) {
        if (redis->failures < FAILURES_MAX) {
            redis->failures++;
        }
        ls_env_timer_start(redis->env, &redis->reconnect_timer, "reconnect", delay_ms(redis->failures),
                           reconnect, redis);
    }
}

/* Handles the end of a connection, whose requests have been answered as lost. */
static void ended(struct ls_redis *redis, struct redis_connection *connection)
{
    *connection = (struct redis_connection){.context = NULL};
    if (connection == &redis->messages) {
        for (struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
            lock->subscription = SUBSCRIPTION_NONE;
        }
    } else {
        redis->unanswered = 0;
        redis->scripts = 0;
        ls_env_timer_stop(redis->env, &redis->patience_timer);
        if (redis->state == LS_REDIS_CONNECTED) {
            redis->state = LS_REDIS_CONNECTING;
        }
        for (struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
            lockredis_claim_answer_all(lock, true, LS_EBUSY);
            lockredis_lock_go_on(lock);
        }
    }
    connect_later(redis);
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    struct ls_redis *redis = context->data;
    (void)status;
    ls_env_lock(redis->env);
    if (redis->commands.context == context || redis->messages.context == context) {
        ended(redis, connection_of(redis, context));
    }
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
}

static void out_of_patience(void *ctx)
{
    struct ls_redis *redis = ctx;
    redis->commands.drops = true;
    lockredis_client_settle(redis);
}

uint32_t lockredis_client_replicas_ms(const struct ls_redis *redis)
{
    uint32_t longest = lockredis_client_options(redis)->replicas_ms;
    return longest > 0 ? longest : lockredis_client_lease_ms(redis) / 3;
}

static bool awaits_replicas(const struct ls_redis *redis)
{
    const struct redis_lock *lock = redis->locks;
    while (lock != NULL && lock->asked != REQUEST_CONFIRM) {
        lock = lock->next;
    }
    return lock != NULL;
}

/* A server that waits for replicas is silent until their answers come, or their time is over. */
static void be_patient(struct ls_redis *redis)
{
    uint32_t patience = lockredis_client_lease_ms(redis) / 4;
    uint32_t more = awaits_replicas(redis) ? lockredis_client_replicas_ms(redis) : 0;
    more = more > UINT32_MAX - patience ? UINT32_MAX - patience : more;
    ls_env_timer_start(redis->env, &redis->patience_timer, "patience", patience + more, out_of_patience,
                       redis);
}

void lockredis_client_counts(struct ls_redis *redis)
{
    if (redis->unanswered++ == 0) {
        be_patient(redis);
    }
}

void lockredis_client_replied(struct ls_redis *redis, bool lost)
{
    if (lost) {
        redis->commands.up = false; /* so nothing more is sent over it: it ends */
    }
    if (redis->unanswered > 0) {
        redis->unanswered--;
    }
    if (redis->unanswered == 0) {
        ls_env_timer_stop(redis->env, &redis->patience_timer);
    } else if (!lost) {
        be_patient(redis);
    }
}

void lockredis_client_moves(struct ls_redis *redis)
{
    if (redis->commands.drops) {
        return; /* one reply of a connection is enough: several would go round the list */
    }
    (void)next_host(redis);
    redis->commands.drops = true;
    redis->messages.drops = redis->messages.context != NULL;
}

/* Handles a connection that could not be made. Only the one for commands goes on to the next server, and it
 * takes the one for messages along. If both went on, two failures could lead to the same one of two servers
 * again. */
static void not_connected(struct ls_redis *redis, const struct redis_connection *connection)
{
    if (connection == &redis->commands && next_host(redis)) {
        redis->messages.drops = redis->messages.context != NULL;
    }
}

static void up(struct ls_redis *redis, struct redis_connection *connection)
{
    connection->up = true;
    if (connection == &redis->commands) {
        ls_env_timer_stop(redis->env, &redis->patience_timer);
        redis->failures = 0;
        redis->state = LS_REDIS_CONNECTED;
        lockredis_client_changed(redis);
    }
}

static void fail(struct ls_redis *redis, int err)
{
    redis->state = LS_REDIS_FAILED;
    redis->failure = (int8_t)err;
    redis->commands.drops = redis->commands.context != NULL;
    redis->messages.drops = redis->messages.context != NULL;
    for (struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
        lockredis_claim_answer_all(lock, false, err);
    }
    lockredis_client_changed(redis);
}

static const char *const CREDENTIALS[] = {"WRONGPASS", "NOAUTH", "ERR AUTH", "ERR Client sent AUTH", NULL};
static const char *const LOADING[] = {"LOADING", NULL};

static void on_greeted(redisAsyncContext *context, void *answered, void *ctx)
{
    struct ls_redis *redis = ctx;
    const redisReply *reply = answered;
    ls_env_lock(redis->env);
    struct redis_connection *connection = connection_of(redis, context);
    if (reply != NULL && redis->state != LS_REDIS_FAILED) {
        if (reply->type == REDIS_REPLY_ERROR && lockredis_request_begins(reply, LOADING)) {
            lockredis_client_moves(redis);
        } else if (reply->type == REDIS_REPLY_ERROR) {
            fail(redis, lockredis_request_begins(reply, CREDENTIALS) ? LS_EAUTHFAILED : LS_EREFUSED);
        } else if (--connection->greetings == 0 && !connection->drops) {
            up(redis, connection);
        }
    }
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
}

static void greet(struct ls_redis *redis, struct redis_connection *connection)
{
    const struct ls_redis_options *options = lockredis_client_options(redis);
    redisAsyncContext *context = connection->context;
    int rc = REDIS_OK;
    connection->greetings = (uint8_t)((options->password != NULL) + (options->database != 0));
    if (options->password != NULL && options->user != NULL) {
        rc |= redisAsyncCommand(context, on_greeted, redis, "AUTH %s %s", options->user, options->password);
    } else if (options->password != NULL) {
        rc |= redisAsyncCommand(context, on_greeted, redis, "AUTH %s", options->password);
    }
    if (options->database != 0) {
        rc |= redisAsyncCommand(context, on_greeted, redis, "SELECT %d", options->database);
    }
    if (rc != REDIS_OK) {
        connection->drops = true;
    } else if (connection->greetings == 0) {
        up(redis, connection);
    }
}

static void on_connect(const redisAsyncContext *context, int status)
{
    struct ls_redis *redis = context->data;
    ls_env_lock(redis->env);
    struct redis_connection *connection = connection_of(redis, context);
    if (status == REDIS_OK) {
        greet(redis, connection);
    } else {
        not_connected(redis, connection);
        ended(redis, connection);
    }
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
}

/* Drops the mutex meanwhile: the look-up of a name may take long. */
static void open_connection(struct ls_redis *redis, struct redis_connection *connection)
{
    char host[HOST_SIZE_MAX];
    int port;
    choose_host(redis, host, &port);
    ls_env_unlock(redis->env);
    redisAsyncContext *context = redisAsyncConnect(host, port);
    bool usable = context != NULL && context->err == 0;
    if (usable) {
        context->data = redis;
        usable = lockredis_loop_attach(redis, context) &&
                 redisAsyncSetConnectCallback(context, on_connect) == REDIS_OK &&
                 redisAsyncSetDisconnectCallback(context, on_disconnect) == REDIS_OK;
    }
    if (context != NULL && !usable) {
        redisAsyncFree(context);
    }
    ls_env_lock(redis->env);
    if (usable) {
        connection->context = context;
        if (connection == &redis->commands) {
            be_patient(redis);
        }
    } else {
        not_connected(redis, connection);
        connect_later(redis);
    }
}

/* Drops the mutex meanwhile: the callbacks of the end take it. */
static void close_connection(struct ls_redis *redis, struct redis_connection *connection)
{
    redisAsyncContext *context = connection->context;
    connection->drops = false;
    connection->up = false;
    if (context != NULL) {
        ls_env_unlock(redis->env);
        redisAsyncFree(context);
        ls_env_lock(redis->env);
        if (connection->context == context) { /* it was not connected, so on_disconnect() did not run */
            ended(redis, connection);
        }
    }
}

static void connect_all(struct ls_redis *redis)
{
    struct redis_connection *const all[] = {&redis->commands, &redis->messages};
    for (int i = 0; i < 2; i++) {
        if (all[i]->drops) {
            close_connection(redis, all[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        bool wanted = i == 0 || redis->hears;
        if (is_open(redis) && wanted && all[i]->context == NULL && redis->reconnect_timer.armed == 0) {
            open_connection(redis, all[i]);
        }
    }
}

static void send_all(struct ls_redis *redis)
{
    for (struct redis_lock *lock = redis->locks; lock != NULL && redis->commands.up; lock = lock->next) {
        enum lock_request request = lockredis_lock_wants(lock);
        if (request == REQUEST_NONE) {
            continue;
        }
        if (lockredis_request_send(lock, request)) {
            lockredis_client_counts(redis);
        } else {
            redis->commands.drops = true;
            redis->commands.up = false;
            lockredis_lock_answered(lock, &(struct lock_answer){.kind = ANSWER_LOST});
        }
    }
    for (struct redis_lock *lock = redis->locks; lock != NULL && redis->messages.up; lock = lock->next) {
        if (lock->subscription == SUBSCRIPTION_NONE && lock->stage == STAGE_WAITING &&
            !lockredis_request_subscribe(lock)) {
            lock->subscription = SUBSCRIPTION_NONE;
            redis->messages.drops = true;
        }
    }
}

static void close_all(struct ls_redis *redis)
{
    redis->hears = false;
    if (redis->commands.context != NULL) {
        redisAsyncContext *context = redis->commands.context;
        ls_env_unlock(redis->env);
        lockredis_loop_flush(context);
        ls_env_lock(redis->env);
    }
    close_connection(redis, &redis->commands);
    close_connection(redis, &redis->messages);
}

void lockredis_client_run(struct ls_redis *redis)
{
    ls_env_lock(redis->env);
    if (!redis->running) {
        redis->running = true;
        if (redis->state == LS_REDIS_CLOSED) {
            send_all(redis);
            close_all(redis);
        } else {
            connect_all(redis);
            send_all(redis);
        }
        redis->running = false;
        lockredis_claim_deliver(redis);
    }
    ls_env_unlock(redis->env);
}

bool lockredis_client_has_work(const struct ls_redis *redis)
{
    if (redis->commands.drops || redis->messages.drops) {
        return true;
    }
    if (!is_open(redis)) {
        return false;
    }
    bool connects = redis->commands.context == NULL || (redis->hears && redis->messages.context == NULL);
    if (connects && redis->reconnect_timer.armed == 0) {
        return true;
    }
    for (const struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
        bool asks = redis->commands.up && lockredis_lock_wants(lock) != REQUEST_NONE;
        bool subscribes =
            redis->messages.up && lock->subscription == SUBSCRIPTION_NONE && lock->stage == STAGE_WAITING;
        if (asks || subscribes) {
            return true;
        }
    }
    return false;
}

static bool is_up(const struct ls_redis *redis)
{
    return redis->state == LS_REDIS_CONNECTED && redis->commands.up && !redis->commands.drops &&
           !redis->messages.drops && (!redis->hears || redis->messages.up);
}

bool lockredis_client_send(struct ls_redis *redis)
{
    if (is_up(redis)) {
        send_all(redis);
    }
    return is_up(redis);
}

bool lockredis_client_needs_thread(const struct ls_redis *redis, bool call_waits)
{
    if (!is_up(redis) || redis->notes != NULL || lockredis_claim_awaits_callback(redis)) {
        return true;
    }
    return !call_waits && (redis->unanswered > 0 || lockredis_client_has_work(redis));
}

void lockredis_client_go_on(struct ls_redis *redis)
{
    if (!redis->running && lockredis_client_has_work(redis)) {
        lockredis_loop_wake(redis);
    }
}

void lockredis_client_settle(struct ls_redis *redis)
{
    lockredis_client_go_on(redis);
    lockredis_claim_deliver(redis);
}

void lockredis_client_await(struct ls_redis *redis, struct redis_call *call)
{
    struct ls_env *env = redis->env; /* the client may be gone once the call is answered */
    lockredis_client_settle(redis);
    while (!call->done) {
        ls_env_wait(env, &call->waiter);
    }
}

int ls_redis_init(struct ls_redis *redis, struct ls_env *env, const char *hosts,
                  const struct ls_redis_options *options)
{
    if (redis == NULL || env == NULL || hosts == NULL || hosts[0] == 0) {
        return LS_EINVAL;
    }
    uint32_t lease = options != NULL ? options->lease_ms : 0;
    if ((lease != 0 && (lease < LS_REDIS_LEASE_MS_MIN || lease > LS_REDIS_LEASE_MS_MAX)) ||
        (options != NULL && options->database < 0)) {
        return LS_EINVAL;
    }
    memset(redis, 0, sizeof *redis);
    redis->env = env;
    redis->hosts = hosts;
    redis->options = lockredis_client_distance(options);
    return LS_OK;
}

int ls_redis_start(struct ls_redis *redis)
{
    ls_env_lock(redis->env);
    int rc = redis->state == LS_REDIS_NEW ? lockredis_loop_open(redis) : LS_EINVAL;
    if (rc == LS_OK) {
        redis->state = LS_REDIS_CONNECTING;
        lockredis_client_settle(redis);
    }
    ls_env_unlock(redis->env);
    return rc;
}

static void close_mutexes(struct ls_redis *redis)
{
    struct redis_lock *lock;
    for (lock = redis->locks; lock != NULL; lock = lock->next) {
        if (lock->mutex != NULL) {
            lockredis_lock_close(lock);
        }
    }
    lockredis_claim_deliver(redis);
    lockredis_client_drain(redis);
    for (lock = redis->locks; lock != NULL; lock = lock->next) {
        if (lock->mutex != NULL) {
            __atomic_store_n(&lock->mutex->redis, NULL, __ATOMIC_RELEASE);
            lock->mutex = NULL;
        }
    }
}

static void close_client(struct ls_redis *redis)
{
    bool started = redis->state != LS_REDIS_NEW && redis->state != LS_REDIS_CLOSED;
    redis->closing = true;
    close_mutexes(redis);
    redis->state = LS_REDIS_CLOSED;
    ls_env_timer_stop(redis->env, &redis->reconnect_timer);
    if (started) {
        lockredis_loop_close(redis);
    }
    ls_env_timer_stop(redis->env, &redis->patience_timer);
    lockredis_lock_free_all(redis);
    redis->closing = false;
    lockredis_client_changed(redis);
}

int ls_redis_close(struct ls_redis *redis)
{
    struct ls_env *env = redis->env;
    if (ls_env_in_callback(env)) {
        return LS_EDEADLK;
    }
    ls_env_lock(env);
    if (redis->closing) {
        wait_while(redis, &redis->closing);
    } else {
        close_client(redis);
    }
    ls_env_unlock(env);
    return LS_OK;
}

enum ls_redis_state ls_redis_state(const struct ls_redis *redis)
{
    ls_env_lock(redis->env);
    enum ls_redis_state state = redis->state;
    ls_env_unlock(redis->env);
    return state;
}

static void time_over(void *ctx)
{
    struct redis_wait *wait = ctx;
    wait->over = true;
    ls_env_wake(wait->env, &wait->waiter);
}

/* Returns the result of a wait; 1 = it goes on. */
static int connected(const struct ls_redis *redis)
{
    switch ((enum ls_redis_state)redis->state) {
    case LS_REDIS_CONNECTED:
        return LS_OK;
    case LS_REDIS_CONNECTING:
        return 1;
    case LS_REDIS_FAILED:
        return redis->failure;
    default:
        return LS_ECLOSED;
    }
}

int ls_redis_wait_connected(struct ls_redis *redis, int timeout_ms)
{
    struct ls_env *env = redis->env;
    if (ls_env_in_callback(env)) {
        return LS_EDEADLK;
    }
    struct redis_wait wait = {.env = env};
    struct ls_timer timer = {0};
    int rc = LS_OK;
    ls_env_waiter_init(env, &wait.waiter);
    ls_env_lock(env);
    if (timeout_ms >= 0) {
        rc = ls_env_timer_start(env, &timer, "deadline", (uint32_t)timeout_ms, time_over, &wait);
    }
    while (rc == LS_OK && (rc = connected(redis)) == 1) {
        rc = LS_ETIMEDOUT;
        if (!wait.over) {
            wait_for_change(redis, &wait);
            rc = LS_OK;
        }
    }
    ls_env_timer_stop(env, &timer);
    ls_env_unlock(env);
    ls_env_waiter_close(env, &wait.waiter);
    return rc;
}

int ls_redis_fd(const struct ls_redis *redis)
{
    ls_env_lock(redis->env);
    int descriptor = lockredis_loop_descriptor(redis);
    ls_env_unlock(redis->env);
    return descriptor;
}

void ls_redis_process(struct ls_redis *redis)
{
    lockredis_loop_process(redis);
}
