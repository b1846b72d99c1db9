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

#define REAL_KIND_WORD(name, word) word,
static const char *const words[] = {REAL_KIND_LIST(REAL_KIND_WORD)};
#undef REAL_KIND_WORD

_Static_assert(sizeof words / sizeof *words == REAL_KINDS, "a word for each kind");

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
    LS_ASSERT(line->kind < REAL_KINDS);
    int size = snprintf(text, sizeof text, "%lld %s worker=%d.%d id=%llx basis=%llx value=%lld token=%lld\n",
                        (long long)real_journal_now_ns(), words[line->kind], line->slot, line->incarnation,
                        (unsigned long long)line->id, (unsigned long long)line->basis, (long long)line->value,
                        (long long)line->token);
    LS_ASSERT(size > 0 && size < REAL_LINE_SIZE_MAX);
    ssize_t done;
    do {
        done = write(fd, text, (size_t)size);
    } while (done < 0 && errno == EINTR);
    return done == size ? 0 : -1;
}

/* ---- reading ---- */

static bool parse_kind(const char *word, enum real_kind *kind)
{
    for (int i = 0; i < REAL_KINDS; i++)
        if (!strcmp(word, words[i])) {
            *kind = (enum real_kind)i;
            return true;
        }
    return false;
}

static bool parse(const char *text, struct real_line *line)
{
    char word[16];
    long long time_ns, value, token;
    unsigned long long id, basis;
    int end = 0;
    int found = sscanf(text, "%lld %15s worker=%d.%d id=%llx basis=%llx value=%lld token=%lld%n", &time_ns,
                       word, &line->slot, &line->incarnation, &id, &basis, &value, &token, &end);
    if (found != 8 || text[end] || !parse_kind(word, &line->kind))
        return false;
    line->time_ns = time_ns;
    line->id = id;
    line->basis = basis;
    line->value = value;
    line->token = token;
    return true;
}

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
    for (;;) {
        char *start = reader->buffer + reader->at;
        char *end = memchr(start, '\n', reader->size - reader->at);
        if (end) {
            *end = 0;
            reader->at = (size_t)(end + 1 - reader->buffer);
            errno = EBADMSG;
            return parse(start, line) ? 1 : -1;
        }
        ssize_t got = fill(reader);
        if (got <= 0)
            return (int)got;
    }
}
