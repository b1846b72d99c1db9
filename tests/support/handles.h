/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Handles that cannot be opened, or to which something happens before zookeeper_init() has come back. */
#ifndef TESTS_SUPPORT_HANDLES_H
#define TESTS_SUPPORT_HANDLES_H

#include <zookeeper/zookeeper.h>

extern int handles_unopened; /* that many cannot be opened from now on */
extern int handles_error;    /* errno then */

/* Called for each that cannot be opened, before its opener hears of it; NULL = nothing happens. */
extern void (*handles_refused)(void);

/* Called for each that was opened, as by the client's own thread; NULL = nothing happens. */
extern void (*handles_opened)(zhandle_t *zh, watcher_fn watcher, void *context);

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
zhandle_t *__real_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
zhandle_t *__wrap_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
