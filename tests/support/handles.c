/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/handles.h"

#include <errno.h>
#include <stddef.h>

int handles_unopened;
int handles_error = EMFILE;
void (*handles_refused)(void);
void (*handles_opened)(zhandle_t *zh, watcher_fn watcher, void *context);

zhandle_t *__wrap_zookeeper_init(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                 void *context, int flags)
{
    if (handles_unopened > 0) {
        handles_unopened--;
        if (handles_refused)
            handles_refused();
        errno = handles_error;
        return NULL;
    }
    zhandle_t *zh = __real_zookeeper_init(hosts, watcher, timeout_ms, id, context, flags);
    if (zh && handles_opened)
        handles_opened(zh, watcher, context);
    return zh;
}
