/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The common part of all recipes on Redis: reports, ids, replies and scripts. */
#ifndef LOCKREDIS_PUBLISHED_PARTS_H
#define LOCKREDIS_PUBLISHED_PARTS_H

#include <hiredis/hiredis.h>
#include <lockstep/recipe.h>

#define REPORTS_MAX 32

/* Reports to be made once the environment's mutex is free. Zeros are an empty list. */
struct reports {
    struct ls_report report[REPORTS_MAX];
    int count;
    int reserved; /* 0 */
};

/* Adds a report. A full list stays as it is. */
void reports_add(struct reports *reports, const struct ls_report *report);

/* Adds a report of an owner about its lock; `depth` is the number of its levels after the event. */
void reports_say(struct reports *reports, int kind, int lock, int owner, int rc, int depth);

/* Called with the mutex, which it drops, and makes all reports. The list is empty then. */
void reports_tell(struct reports *reports, struct ls_env *env);

/* Writes the bytes of an id in hexadecimal digits, with a zero byte behind them. */
void parts_hex(const uint8_t *bytes, size_t size, char *text);

/* Returns the port of the first server of a connect string; 6379 if the string has none. */
int parts_port(const char *hosts);

/* Returns whether the reply is an error. `reply` may be NULL. */
bool parts_is_error(const redisReply *reply);

/* Scripts about a key whose value is the id of its owner: KEYS[1], the id, and for the first two the lease
 * in ms. They return 1 if the key is, or was, the owner's, and 0 otherwise. PARTS_TAKE also takes a free
 * key. */
#define PARTS_TAKE                                                                                           \
    "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('pexpire',KEYS[1],ARGV[2]) return 1 end "         \
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 end return 0"
#define PARTS_RENEW                                                                                          \
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0"
#define PARTS_GIVE "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0"

#endif
