/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The resource that the workers guard: a counter in a file.
 *
 * A plain resource trusts its callers. A fenced one has a file lock of its own, under which it compares and
 * stores the fencing token in one step, at each access: whoever comes with a smaller token than the largest
 * it has seen is refused. Reads count as accesses, because a writer that has read what an older one is about
 * to replace would undo it. */
#ifndef REAL_RESOURCE_H
#define REAL_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct real_record {
    int64_t value;   /* the counter */
    uint64_t writer; /* id of the section that wrote it; 0 = nobody yet */
    int64_t token;   /* fenced: the largest seen */
};

struct real_resource {
    const char *dir; /* caller-owned */
    bool fenced;
    int lock_fd; /* fenced: the file that carries the file lock */
};

enum real_access {
    REAL_ACCESS_OK = 0,
    REAL_ACCESS_REFUSED = 1, /* a larger token has been here */
    REAL_ACCESS_FAILED = -1, /* errno says why */
};

/* Opens the resource in the folder `dir` for one process; it begins as zeros when its file is missing. 0, or
 * -1 with errno. */
int real_resource_open(struct real_resource *resource, const char *dir, bool fenced);
void real_resource_close(struct real_resource *resource);

/* Reads the record; `token` counts only if fenced. */
enum real_access real_resource_read(const struct real_resource *resource, int64_t token,
                                    struct real_record *record);

/* Replaces value and writer by those of `record`, atomically: a process that is killed in here has written
 * all of it or nothing. */
enum real_access real_resource_write(const struct real_resource *resource, int64_t token,
                                     const struct real_record *record);

/* Removes the resource's files, also those that killed writers have left. */
void real_resource_remove(const char *dir);

#endif
