/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Requests that the client refuses, and answers that say nothing although the link is up (F9). */
#ifndef TESTS_SUPPORT_MISHAPS_H
#define TESTS_SUPPORT_MISHAPS_H

#include <zookeeper/zookeeper.h>

struct mishaps {
    int refused; /* number of requests, from the next one on, that the client refuses: ZSYSTEMERROR */
    int lost;    /* number of requests after these that are done, but answered with ZOPERATIONTIMEOUT */
};

extern struct mishaps mishaps_of_syncs, mishaps_of_lists, mishaps_of_reads, mishaps_of_removals;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data);
int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data);
int __real_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t done,
                             const void *data);
int __wrap_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t done,
                             const void *data);
int __real_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t done, const void *data);
int __wrap_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t done, const void *data);
int __real_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data);
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
