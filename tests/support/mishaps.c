/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/mishaps.h"

#include <stdbool.h>
#include <stddef.h>

struct mishaps mishaps_of_syncs, mishaps_of_lists, mishaps_of_reads, mishaps_of_removals;

/* Takes one from a count, if any is left. Only one lost request of a kind may be under way. */
static bool take(int *count)
{
    bool any = *count > 0;
    *count -= any;
    return any;
}

/* ---- syncs ---- */

static string_completion_t lost_sync;

static void lose_sync(int rc, const char *value, const void *data)
{
    (void)rc;
    (void)value;
    lost_sync(ZOPERATIONTIMEOUT, NULL, data);
}

int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t done, const void *data)
{
    if (take(&mishaps_of_syncs.refused)) {
        return ZSYSTEMERROR;
    }
    if (take(&mishaps_of_syncs.lost)) {
        lost_sync = done;
        done = lose_sync;
    }
    return __real_zoo_async(zh, path, done, data);
}

/* ---- lists ---- */

static strings_completion_t lost_list;

static void lose_list(int rc, const struct String_vector *list, const void *data)
{
    (void)rc;
    (void)list;
    lost_list(ZOPERATIONTIMEOUT, NULL, data);
}

int __wrap_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t done,
                             const void *data)
{
    if (take(&mishaps_of_lists.refused)) {
        return ZSYSTEMERROR;
    }
    if (take(&mishaps_of_lists.lost)) {
        lost_list = done;
        done = lose_list;
    }
    return __real_zoo_aget_children(zh, path, watch, done, data);
}

/* ---- reads with a watch ---- */

static data_completion_t lost_read;

static void lose_read(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)rc;
    (void)value;
    (void)size;
    (void)stat;
    lost_read(ZOPERATIONTIMEOUT, NULL, 0, NULL, data);
}

int __wrap_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t done, const void *data)
{
    if (take(&mishaps_of_reads.refused)) {
        return ZSYSTEMERROR;
    }
    if (take(&mishaps_of_reads.lost)) {
        lost_read = done;
        done = lose_read;
    }
    return __real_zoo_awget(zh, path, watcher, context, done, data);
}

/* ---- removals of a watch ---- */

typedef union {
    void_completion_t function;
    void_completion_t *slot; /* the type that zookeeper.h declares */
} removal_fn;

static removal_fn lost_removal;

static void lose_removal(int rc, const void *data)
{
    (void)rc;
    lost_removal.function(ZOPERATIONTIMEOUT, data);
}

int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *done, const void *data)
{
    removal_fn replaced = {.slot = done};
    if (take(&mishaps_of_removals.refused)) {
        return ZSYSTEMERROR;
    }
    if (take(&mishaps_of_removals.lost)) {
        lost_removal.slot = done;
        replaced.function = lose_removal;
    }
    return __real_zoo_aremove_all_watches(zh, path, type, local, replaced.slot, data);
}
