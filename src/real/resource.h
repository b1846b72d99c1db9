/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The resource that the lock guards: a counter in a file.
 *
 * A plain resource looks at no token. A fenced one compares and stores the fencing token at each access, in
 * one step under a file lock. It refuses a token that is smaller than the largest one so far. Reads are
 * accesses too: otherwise an older holder could write between a newer holder's read and write, and the older
 * one's update would be lost. */
#ifndef REAL_RESOURCE_H
#define REAL_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct real_record {
    int64_t value;   /* the counter */
    uint64_t writer; /* id of the section that wrote it; 0 = none so far */
    int64_t token;   /* fenced: the largest token so far */
};

struct real_resource {
    const char *dir; /* borrowed */
    bool fenced;
    int lock_fd; /* file with the file lock; -1 = not fenced */
};

enum real_access {
    REAL_ACCESS_OK = 0,
    REAL_ACCESS_REFUSED = 1, /* a larger token came before */
    REAL_ACCESS_FAILED = -1, /* errno says why */
};

/* Opens the resource in a folder for one process. If its file is missing, the record is zeros. Returns 0,
 * or -1 with errno. */
int real_resource_open(struct real_resource *resource, const char *dir, bool fenced);
void real_resource_close(struct real_resource *resource);

/* Reads the record; `token` counts only if fenced. */
enum real_access real_resource_read(const struct real_resource *resource, int64_t token,
                                    struct real_record *record);

/* Replaces value and writer by those of `record` and, if fenced, the token. A process that is killed within
 * this call has replaced all of these or nothing. */
enum real_access real_resource_write(const struct real_resource *resource, int64_t token,
                                     const struct real_record *record);

/* Removes the resource's files, including drafts of killed writers. */
void real_resource_remove(const char *dir);

#endif
