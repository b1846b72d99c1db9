/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "real/journal.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t real_journal_now_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now))
        abort();
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int real_journal_open(const char *dir)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/journal", dir) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

int real_journal_write(int fd, const struct real_line *line)
{
    char text[REAL_LINE_SIZE_MAX];
    struct real_line now = *line;
    LS_ASSERT(line->slot >= 0 && line->slot < REAL_WORKERS_MAX);
    now.time_ns = real_journal_now_ns();
    int size = real_line_write(&now, text);
    ssize_t done;
    do {
        done = write(fd, text, (size_t)size);
    } while (done < 0 && errno == EINTR);
    return done == size ? 0 : -1;
}

/* ---- reading ---- */

/* Reads more bytes behind the unread ones. Returns their number, 0 at the end of the file, or -1. */
static ssize_t fill(struct real_reader *reader)
{
    LS_ASSERT(reader->at <= reader->size && reader->size <= sizeof reader->buffer);
    reader->size -= reader->at;
    memmove(reader->buffer, reader->buffer + reader->at, reader->size);
    reader->at = 0;
    ssize_t got = pread(reader->fd, reader->buffer + reader->size, sizeof reader->buffer - reader->size,
                        reader->offset);
    if (got > 0) {
        reader->size += (size_t)got;
        reader->offset += got;
    }
    return got;
}

int real_reader_next(struct real_reader *reader, struct real_line *line)
{
    LS_ASSERT(reader->at <= reader->size);
    for (;;) {
        char *start = reader->buffer + reader->at;
        char *end = memchr(start, '\n', reader->size - reader->at);
        if (end) {
            const char *expected;
            reader->at = (size_t)(end + 1 - reader->buffer);
            errno = EBADMSG;
            return real_line_read(line, start, (size_t)(end - start), &expected) == NULL ? 1 : -1;
        }
        ssize_t got = fill(reader);
        if (got <= 0)
            return (int)got;
    }
}
