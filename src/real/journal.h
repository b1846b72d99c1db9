/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The journal of a real run: one line for each event of a worker or its parent.
 *
 * Each line is one write() to a file that all processes have open for appending. So the lines are in the
 * order of these calls, and a killed process leaves whole lines only. The journal is evidence independent
 * of the lock: which worker was inside when, and on which write each write was built. */
#ifndef REAL_JOURNAL_H
#define REAL_JOURNAL_H

#include "trace/real_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t real_journal_now_ns(void);

/* Opens the journal in a run's folder, and makes it if it is missing. Returns a descriptor, or -1 with
 * errno. */
int real_journal_open(const char *dir);

/* Appends one line with the present time in place of line->time_ns. Returns 0, or -1 with errno; a write
 * that was cut short gives -1 without errno. */
int real_journal_write(int fd, const struct real_line *line);

/* Reads a journal while others write to it. All zeros at first, except `fd`. */
struct real_reader {
    int fd;
    int64_t offset; /* in the file: of the first byte that is not in the buffer */
    size_t at;      /* in the buffer: of the next line */
    size_t size;    /* bytes in the buffer */
    char buffer[8192];
};

/* Takes the next line. Returns 1; 0 if there is no whole line yet; -1 with errno if the file cannot be
 * read, or the line is not one of a journal (EBADMSG). */
int real_reader_next(struct real_reader *reader, struct real_line *line);

#endif
