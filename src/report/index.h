/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The index page of a run of scenarios (`--html DIR`). */
#ifndef REPORT_INDEX_H
#define REPORT_INDEX_H

#include "report/report.h"

/* Borrowed pointers to all that the page says. */
struct report_index {
    const struct report_context *context;
    const struct report_item *items;
    int count;
    const char *command; /* the line that runs the scenarios */
    const char *worlds;  /* lines about the small worlds of a suite; empty = none */
};

/* Writes the page: one file that needs no other, but for the pages of runs that it links. No duration is in
 * it. */
void report_index(FILE *out, const struct report_index *index);

/* Writes the part of the page about coverage (index_coverage.c). */
void report_index_coverage(FILE *out, const struct report_index *index);

#endif
