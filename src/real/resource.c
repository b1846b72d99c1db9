/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "real/resource.h"

#include "base/assert.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, TEXT_SIZE = 128 };

static const char counter_name[] = "counter";
static const char fence_name[] = "counter.fence";
static const char draft_prefix[] = "counter.draft.";

static int join(char path[PATH_SIZE], const char *dir, const char *name)
{
    if (snprintf(path, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* ---- the file ---- */

static int load_text(const struct real_resource *resource, char text[TEXT_SIZE])
{
    char path[PATH_SIZE];
    if (join(path, resource->dir, counter_name))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, TEXT_SIZE - 1);
    close(fd);
    if (got < 0)
        return -1;
    LS_ASSERT(got < TEXT_SIZE);
    text[got] = 0;
    return 0;
}

static int load(const struct real_resource *resource, struct real_record *record)
{
    char text[TEXT_SIZE];
    long long value, token;
    unsigned long long writer;
    memset(record, 0, sizeof *record);
    if (load_text(resource, text))
        return errno == ENOENT ? 0 : -1;
    if (sscanf(text, "%lld writer=%llx token=%lld", &value, &writer, &token) != 3) {
        errno = EBADMSG;
        return -1;
    }
    record->value = value;
    record->writer = writer;
    record->token = token;
    return 0;
}

static int write_draft(const char *path, const struct real_record *record)
{
    char text[TEXT_SIZE];
    int size = snprintf(text, sizeof text, "%lld writer=%llx token=%lld\n", (long long)record->value,
                        (unsigned long long)record->writer, (long long)record->token);
    LS_ASSERT(size > 0 && size < TEXT_SIZE);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    ssize_t done = write(fd, text, (size_t)size);
    close(fd);
    return done == size ? 0 : -1;
}

/* Stores the record in one step: writes a draft, and renames it. */
static int store(const struct real_resource *resource, const struct real_record *record)
{
    char name[64], draft[PATH_SIZE], path[PATH_SIZE];
    snprintf(name, sizeof name, "%s%ld", draft_prefix, (long)getpid());
    if (join(draft, resource->dir, name) || join(path, resource->dir, counter_name) ||
        write_draft(draft, record))
        return -1;
    return rename(draft, path);
}

/* ---- the fence ---- */

static int lock_fence(const struct real_resource *resource)
{
    LS_ASSERT(!resource->fenced || resource->lock_fd >= 0);
    int rc;
    do {
        rc = resource->fenced ? flock(resource->lock_fd, LOCK_EX) : 0;
    } while (rc && errno == EINTR);
    return rc;
}

static void unlock_fence(const struct real_resource *resource)
{
    int error = errno;
    if (resource->fenced)
        flock(resource->lock_fd, LOCK_UN);
    errno = error;
}

static bool pass(const struct real_resource *resource, int64_t token, const struct real_record *now)
{
    return !resource->fenced || token >= now->token;
}

static enum real_access read_locked(const struct real_resource *resource, int64_t token,
                                    struct real_record *record)
{
    if (load(resource, record))
        return REAL_ACCESS_FAILED;
    if (!pass(resource, token, record))
        return REAL_ACCESS_REFUSED;
    if (!resource->fenced || token == record->token)
        return REAL_ACCESS_OK;
    LS_ASSERT(token > record->token);
    record->token = token;
    return store(resource, record) ? REAL_ACCESS_FAILED : REAL_ACCESS_OK;
}

static enum real_access write_locked(const struct real_resource *resource, int64_t token,
                                     const struct real_record *record)
{
    struct real_record now = {.token = 0};
    if (resource->fenced && load(resource, &now))
        return REAL_ACCESS_FAILED;
    if (!pass(resource, token, &now))
        return REAL_ACCESS_REFUSED;
    now = *record;
    now.token = resource->fenced ? token : 0;
    return store(resource, &now) ? REAL_ACCESS_FAILED : REAL_ACCESS_OK;
}

enum real_access real_resource_read(const struct real_resource *resource, int64_t token,
                                    struct real_record *record)
{
    if (lock_fence(resource))
        return REAL_ACCESS_FAILED;
    enum real_access access = read_locked(resource, token, record);
    unlock_fence(resource);
    return access;
}

enum real_access real_resource_write(const struct real_resource *resource, int64_t token,
                                     const struct real_record *record)
{
    if (lock_fence(resource))
        return REAL_ACCESS_FAILED;
    enum real_access access = write_locked(resource, token, record);
    unlock_fence(resource);
    return access;
}

/* ---- life ---- */

int real_resource_open(struct real_resource *resource, const char *dir, bool fenced)
{
    char path[PATH_SIZE];
    resource->dir = dir;
    resource->fenced = fenced;
    resource->lock_fd = -1;
    if (!fenced)
        return 0;
    if (join(path, dir, fence_name))
        return -1;
    resource->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    return resource->lock_fd < 0 ? -1 : 0;
}

void real_resource_close(struct real_resource *resource)
{
    if (resource->lock_fd >= 0)
        close(resource->lock_fd);
    resource->lock_fd = -1;
}

void real_resource_remove(const char *dir)
{
    DIR *folder = opendir(dir);
    struct dirent *entry;
    if (!folder)
        return;
    while ((entry = readdir(folder)))
        if (!strcmp(entry->d_name, counter_name) || !strcmp(entry->d_name, fence_name) ||
            !strncmp(entry->d_name, draft_prefix, sizeof draft_prefix - 1))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}
