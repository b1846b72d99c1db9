/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What recipes on Redis have in common. */
#ifndef LOCKREDIS_PARTS_H
#define LOCKREDIS_PARTS_H

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

/* Called with the mutex: drops it, and tells all reports. */
void reports_tell(struct reports *reports, struct ls_env *env);

/* Writes the bytes of an id in hexadecimal digits, with a zero byte behind them. */
void parts_hex(const uint8_t *bytes, size_t size, char *text);

/* The port of the first server of a connect string. */
int parts_port(const char *hosts);

#endif
