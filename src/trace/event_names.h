/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semantic events (D5), which users' own judges see too: <lockstep/event.h>. Here are their names. */
#ifndef TRACE_EVENT_NAMES_H
#define TRACE_EVENT_NAMES_H

#include <lockstep/event.h>

/* Returns "granted", "node-created" and so on, or "unknown" for a number that no kind has. Reports in JSON
 * contain these names, so they must not change. */
const char *event_name(enum event_kind kind);

#endif
