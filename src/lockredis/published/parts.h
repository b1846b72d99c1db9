/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The common part of the published recipes on Redis: reports, ids, replies and scripts. */
#ifndef LOCKREDIS_PUBLISHED_PARTS_H
#define LOCKREDIS_PUBLISHED_PARTS_H

#include <hiredis/hiredis.h>
#include <lockstep/recipe.h>

#define REPORTS_MAX 32

/* Reports to be made without the environment's mutex. Zeros are an empty list. */
struct reports {
    struct ls_report report[REPORTS_MAX];
    int count;
    int reserved; /* 0 */
};

/* Add a report; a full list drops it. `depth` = levels of the owner's hold after the event. */
void reports_add(struct reports *reports, const struct ls_report *report);
void reports_say(struct reports *reports, int kind, int lock, int owner, int rc, int depth);

/* Makes and removes all reports. Called with the mutex, which it drops. */
void reports_tell(struct reports *reports, struct ls_env *env);

/* Writes bytes as hexadecimal digits and a zero byte: 2 * size + 1 characters. */
void parts_hex(const uint8_t *bytes, size_t size, char *text);

int parts_port(const char *hosts); /* of the first server of a connect string; without a port 6379 */
bool parts_is_error(const redisReply *reply); /* false for NULL */

/* Scripts for the key KEYS[1], whose value is the id of its owner: ARGV[1] = id, ARGV[2] = lease in ms. They
 * return 1 if the key is, or was, the owner's, and 0 otherwise. PARTS_TAKE also takes a free key. */
#define PARTS_TAKE                                                                                           \
    "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('pexpire',KEYS[1],ARGV[2]) return 1 end "         \
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 end return 0"
#define PARTS_RENEW                                                                                          \
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0"
#define PARTS_GIVE "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0"

#endif
