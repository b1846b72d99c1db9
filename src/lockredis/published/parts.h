/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What recipes on Redis have in common. */
#ifndef LOCKREDIS_PUBLISHED_PARTS_H
#define LOCKREDIS_PUBLISHED_PARTS_H

#include <hiredis/hiredis.h>
#include <lockstep/recipe.h>

#define REPORTS_MAX 32

/* Reports that are told once the environment's mutex is free. Zeros are an empty list. */
struct reports {
    struct ls_report report[REPORTS_MAX];
    int count;
    int reserved; /* 0 */
};

/* Adds a report. Without room for it nothing happens. */
void reports_add(struct reports *reports, const struct ls_report *report);

/* Adds a report of an owner about its lock, with as many levels as it has then. */
void reports_say(struct reports *reports, int kind, int lock, int owner, int rc, int depth);

/* Called with the mutex: drops it, and tells all reports. */
void reports_tell(struct reports *reports, struct ls_env *env);

/* Writes the bytes of an id in hexadecimal digits, with a zero byte behind them. */
void parts_hex(const uint8_t *bytes, size_t size, char *text);

/* The port of the first server of a connect string. */
int parts_port(const char *hosts);

/* Returns whether a server has answered with an error. `reply` may be NULL. */
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
