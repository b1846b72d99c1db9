/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "lockredis/published/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_PORT 6379

void reports_add(struct reports *reports, const struct ls_report *report)
{
    if (reports->count < REPORTS_MAX) {
        reports->report[reports->count++] = *report;
    }
}

void reports_say(struct reports *reports, int kind, int lock, int owner, int rc, int depth)
{
    reports_add(reports,
                &(struct ls_report){.kind = kind, .lock = lock, .owner = owner, .rc = rc, .depth = depth});
}

void reports_tell(struct reports *reports, struct ls_env *env)
{
    struct reports told = *reports;
    memset(reports, 0, sizeof *reports);
    ls_env_unlock(env);
    for (int i = 0; i < told.count; i++) {
        ls_report(env, &told.report[i]);
    }
}

void parts_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
}

int parts_port(const char *hosts)
{
    const char *port = strchr(hosts, ':');
    return port != NULL ? atoi(port + 1) : USUAL_PORT;
}

bool parts_is_error(const redisReply *reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_ERROR;
}
