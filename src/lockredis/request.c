/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The scripts, their requests and their replies.
 *
 * The first use of a script over a connection sends its text (EVAL), later ones its digest (EVALSHA). A
 * server that has forgotten the script answers NOSCRIPT, and gets the text again. */
#include "lockredis/internal.h"

#include <hiredis/async.h>
#include <stdio.h>
#include <string.h>

/* Takes the key if it is free, or has the id of this attempt or of the hold that is handed over. Answers {1,
 * token}, or {0, ms until the lease of the holder ends}. If the attempt has the key already, its lease begins
 * anew, and the token is the counter as it is. INCR comes before SET: if INCR fails, the script leaves no
 * key. */
static const char TAKE_TEXT[] =
    "local v=redis.call('get',KEYS[1])\n"
    "if v==ARGV[1] then\n"
    "redis.call('pexpire',KEYS[1],ARGV[3])\n"
    "return {1,tonumber(redis.call('get',KEYS[2]) or redis.call('incr',KEYS[2]))}\n"
    "end\n"
    "if v and v~=ARGV[2] then return {0,redis.call('pttl',KEYS[1])} end\n"
    "local token=redis.call('incr',KEYS[2])\n"
    "redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[3])\n"
    "return {1,token}";
#define TAKE_DIGEST "67a7f26fff7076b68069bb647c0a649ffa9eb7a3"

/* Begins the lease anew, and answers 1. Answers 0 if the key is gone or has another value. Answers -1 if the
 * key has this value, but the counter is not the token of the hold. That is so if the lease had ended, and a
 * late copy of the take took the key again. */
static const char RENEW_TEXT[] = "if redis.call('get',KEYS[1])~=ARGV[1] then return 0 end\n"
                                 "if redis.call('get',KEYS[2])~=ARGV[3] then return -1 end\n"
                                 "return redis.call('pexpire',KEYS[1],ARGV[2])";
#define RENEW_DIGEST "0977018400de50076fddbd3bc4bee87ec8a45b9d"

/* Deletes the key if its value is one of the two ids, and sends a message to the clients that wait. Answers 0
 * if the key is gone or has another value. */
static const char GIVE_TEXT[] = "local v=redis.call('get',KEYS[1])\n"
                                "if v~=ARGV[1] and v~=ARGV[2] then return 0 end\n"
                                "redis.call('del',KEYS[1])\n"
                                "redis.call('publish',ARGV[3],'')\n"
                                "return 1";
#define GIVE_DIGEST "13d208f07d8bc827ac43abd05f56369eff64b265"

enum script { SCRIPT_TAKE, SCRIPT_RENEW, SCRIPT_GIVE, SCRIPT_COUNT };

static const struct {
    const char *text, *digest;
} SCRIPTS[SCRIPT_COUNT] = {{TAKE_TEXT, TAKE_DIGEST}, {RENEW_TEXT, RENEW_DIGEST}, {GIVE_TEXT, GIVE_DIGEST}};

static const uint8_t SCRIPT_OF[] = {[REQUEST_NONE] = SCRIPT_COUNT,
                                    [REQUEST_TAKE] = SCRIPT_TAKE,
                                    [REQUEST_CONFIRM] = SCRIPT_COUNT,
                                    [REQUEST_RENEW] = SCRIPT_RENEW,
                                    [REQUEST_GIVE] = SCRIPT_GIVE};

const char *lockredis_request_script(int which, const char **digest)
{
    if (which >= SCRIPT_COUNT) {
        return NULL;
    }
    *digest = SCRIPTS[which].digest;
    return SCRIPTS[which].text;
}

bool lockredis_request_begins(const redisReply *reply, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t size = strlen(*words);
        if (reply->len >= size && memcmp(reply->str, *words, size) == 0) {
            return true;
        }
    }
    return false;
}

/* Errors of a server that is no primary, or is not ready: the client goes to the next server. */
static const char *const ELSEWHERE[] = {"READONLY ", "LOADING ", "MASTERDOWN ", "CLUSTERDOWN ", NULL};
/* Errors of a server that may do the request later. */
static const char *const LATER[] = {"BUSY ", "OOM ", "MISCONF ", "NOREPLICAS ", "TRYAGAIN ", NULL};

static const char *const FORGOTTEN[] = {"NOSCRIPT ", NULL};

static enum answer_kind kind_of_error(struct ls_redis *redis, const redisReply *reply)
{
    if (lockredis_request_begins(reply, FORGOTTEN)) {
        redis->scripts = 0;
        return ANSWER_UNKNOWN;
    }
    if (lockredis_request_begins(reply, ELSEWHERE)) {
        lockredis_client_moves(redis);
        return ANSWER_LATER;
    }
    return lockredis_request_begins(reply, LATER) ? ANSWER_LATER : ANSWER_REFUSED;
}

static bool is_pair(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           reply->element[0]->type == REDIS_REPLY_INTEGER && reply->element[1]->type == REDIS_REPLY_INTEGER;
}

static struct lock_answer answer_of(struct ls_redis *redis, const redisReply *reply, bool counts)
{
    if (reply == NULL) {
        return (struct lock_answer){.kind = ANSWER_LOST};
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        return (struct lock_answer){.kind = kind_of_error(redis, reply)};
    }
    if (is_pair(reply)) {
        return (struct lock_answer){.kind = reply->element[0]->integer == 1 ? ANSWER_YES : ANSWER_NO,
                                    .number = reply->element[1]->integer};
    }
    if (reply->type == REDIS_REPLY_INTEGER) {
        return (struct lock_answer){.kind = counts || reply->integer == 1 ? ANSWER_YES : ANSWER_NO,
                                    .number = reply->integer};
    }
    return (struct lock_answer){.kind = ANSWER_REFUSED};
}

static void on_reply(redisAsyncContext *context, void *reply, void *ctx)
{
    struct redis_lock *lock = ctx;
    struct ls_redis *redis = lock->redis;
    (void)context;
    ls_env_lock(redis->env);
    lockredis_client_replied(redis, reply == NULL);
    struct lock_answer answer = answer_of(redis, reply, lock->asked == REQUEST_CONFIRM);
    lockredis_lock_answered(lock, &answer);
    lockredis_lock_forget_if_done(lock);
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
}

static const char *id_text(const uint8_t id[ID_SIZE], char text[ID_TEXT_SIZE])
{
    for (size_t i = 0; i < ID_SIZE; i++) {
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    }
    return text;
}

static int send_script(struct redis_lock *lock, enum lock_request request)
{
    struct ls_redis *redis = lock->redis;
    redisAsyncContext *context = redis->commands.context;
    int script = SCRIPT_OF[request];
    bool is_known = (redis->scripts >> script & 1u) != 0;
    const char *verb = is_known ? "EVALSHA" : "EVAL", *name = lock->name;
    const char *text = is_known ? SCRIPTS[script].digest : SCRIPTS[script].text;
    char id[ID_TEXT_SIZE], other[ID_TEXT_SIZE];
    uint32_t lease = lockredis_client_lease_ms(redis);
    id_text(lock->id, id);
    id_text(lockredis_lock_has_id(lock->old) ? lock->old : lock->id, other);
    redis->scripts |= (uint8_t)(1u << script);
    switch (request) {
    case REQUEST_TAKE:
        return redisAsyncCommand(context, on_reply, lock, "%s %s 2 %s %s:token %s %s %u", verb, text, name,
                                 name, id, other, lease);
    case REQUEST_RENEW:
        return redisAsyncCommand(context, on_reply, lock, "%s %s 2 %s %s:token %s %u %lld", verb, text, name,
                                 name, id, lease, (long long)lockredis_lock_token(lock));
    default:
        return redisAsyncCommand(context, on_reply, lock, "%s %s 1 %s %s %s %s:free", verb, text, name, id,
                                 other, name);
    }
}

bool lockredis_request_send(struct redis_lock *lock, enum lock_request request)
{
    uint32_t replicas = lockredis_client_options(lock->redis)->replicas;
    lockredis_lock_sent(lock, request); /* first: its stamp must be older than the request */
    if (request != REQUEST_CONFIRM) {
        return send_script(lock, request) == REDIS_OK;
    }
    return redisAsyncCommand(lock->redis->commands.context, on_reply, lock, "WAIT %u %u", replicas,
                             lockredis_client_replicas_ms(lock->redis)) == REDIS_OK;
}

static bool is_channel_of(const redisReply *channel, const struct redis_lock *lock)
{
    size_t size = strlen(lock->name);
    return channel->type == REDIS_REPLY_STRING && channel->len == size + strlen(":free") &&
           memcmp(channel->str, lock->name, size) == 0;
}

static void on_message(redisAsyncContext *context, void *answered, void *ctx)
{
    struct ls_redis *redis = ctx;
    const redisReply *reply = answered;
    (void)context;
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) {
        return; /* NULL: on_disconnect() handles the end of the connection */
    }
    ls_env_lock(redis->env);
    for (struct redis_lock *lock = redis->locks; lock != NULL; lock = lock->next) {
        if (lock->subscription != SUBSCRIPTION_NONE && is_channel_of(reply->element[1], lock)) {
            lock->subscription = SUBSCRIPTION_MADE;
            lockredis_lock_heard(lock);
        }
    }
    lockredis_client_settle(redis);
    ls_env_unlock(redis->env);
}

bool lockredis_request_subscribe(struct redis_lock *lock)
{
    struct ls_redis *redis = lock->redis;
    lock->subscription = SUBSCRIPTION_ASKED;
    return redisAsyncCommand(redis->messages.context, on_message, redis, "SUBSCRIBE %s:free", lock->name) ==
           REDIS_OK;
}
