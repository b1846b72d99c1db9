/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Faults of zookeeper_init(): handles that cannot be opened, and events before zookeeper_init() returns. */
#ifndef TESTS_SUPPORT_HANDLES_H
#define TESTS_SUPPORT_HANDLES_H

#include <zookeeper/zookeeper.h>

extern int handles_unopened; /* number of handles, from the next one on, that cannot be opened */
extern int handles_error;    /* errno of these failures */

/* Called for each handle that cannot be opened, before zookeeper_init() returns; NULL = no function. */
extern void (*handles_refused)(void);

/* Called for each handle that was opened, as by the client's own thread; NULL = no function. */
extern void (*handles_opened)(zhandle_t *zh, watcher_fn watcher, void *context);

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
zhandle_t *__real_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
zhandle_t *__wrap_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
