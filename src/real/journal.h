/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The journal of a real run: one line for each event of a worker or its parent.
 *
 * Each line is one write() to a file that all processes have open for appending. So the order of the lines is
 * the order of the events, and a killed process leaves whole lines only. The journal is evidence independent
 * of the lock: which worker was inside when, and on which write each write was built. */
#ifndef REAL_JOURNAL_H
#define REAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* kind, word in the file */
#define REAL_KIND_LIST(X)                                                                                    \
    X(REAL_ENTER, "enter")       /* worker: granted, and its belief was checked */                           \
    X(REAL_WRITES, "writes")     /* worker: about to write `value`, built on the write of `basis` */         \
    X(REAL_WROTE, "wrote")       /* worker: the resource has taken the write */                              \
    X(REAL_REFUSED, "refused")   /* worker: the resource has refused its fencing token */                    \
    X(REAL_DOUBTED, "doubted")   /* worker: its belief was gone, so it did not write */                      \
    X(REAL_LEAVE, "leave")       /* worker: outside from here on; value: ms since its last check */          \
    X(REAL_STARTED, "started")   /* parent: value: process id */                                             \
    X(REAL_STOPPED, "stopped")   /* parent: the process stands still; value: ms until it goes on */          \
    X(REAL_CONTINUED, "goes-on") /* parent: the process goes on */                                           \
    X(REAL_KILLED, "killed")     /* parent: the process is dead, by a signal */                              \
    X(REAL_ENDED, "ended")       /* parent: the process ended by itself; value: exit status */

#define REAL_KIND_ENUM(name, word) name,
enum real_kind { REAL_KIND_LIST(REAL_KIND_ENUM) REAL_KINDS };
#undef REAL_KIND_ENUM

struct real_line {
    int64_t time_ns; /* of the monotonic clock, which all processes share */
    enum real_kind kind;
    int slot;        /* index of the worker, from 0 */
    int incarnation; /* number of earlier processes of this worker */
    uint64_t id;     /* of the section, unique in a run; 0 = none */
    uint64_t basis;  /* id of the section whose write was read; 0 = none */
    int64_t value;   /* see REAL_KIND_LIST */
    int64_t token;   /* fencing token; 0 = none */
};

enum { REAL_LINE_SIZE_MAX = 192 };

int64_t real_journal_now_ns(void);

/* Opens the journal in a run's folder, and makes it if it is missing. Returns a descriptor, or -1 with
 * errno. */
int real_journal_open(const char *dir);

/* Appends one line with the present time in place of line->time_ns. Returns 0, or -1 with errno. */
int real_journal_write(int fd, const struct real_line *line);

/* Reads a journal while others write to it. All zeros at first, except `fd`. */
struct real_reader {
    int fd;
    int64_t offset; /* in the file: of the first byte that is not in the buffer */
    size_t at;      /* in the buffer: of the next line */
    size_t size;    /* bytes in the buffer */
    char buffer[8192];
};

/* Takes the next line. Returns 1; 0 if there is none yet; -1 if the file cannot be read, or has other text
 * than such lines (errno EBADMSG). */
int real_reader_next(struct real_reader *reader, struct real_line *line);

#endif
