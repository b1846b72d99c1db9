/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The lines of the journal of a real run (docs/real-run.md). The runner (src/real) writes and reads them, and
 * src/report draws them. The format is in this layer, because src/report may not include headers of
 * src/real. */
#ifndef TRACE_REAL_LINE_H
#define TRACE_REAL_LINE_H

#include "trace/text_input.h"

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

enum { REAL_WORKERS_MAX = 64 };

struct real_line {
    int64_t time_ns; /* of the monotonic clock, which all processes share; at least 0 */
    enum real_kind kind;
    int slot;        /* index of the worker, from 0, below REAL_WORKERS_MAX */
    int incarnation; /* number of earlier processes of this worker */
    uint64_t id;     /* of the section, unique in a run; 0 = none */
    uint64_t basis;  /* id of the section whose write was read; 0 = none */
    int64_t value;   /* see REAL_KIND_LIST */
    int64_t token;   /* fencing token; 0 = none */
};

enum { REAL_LINE_SIZE_MAX = 192 };

/* Returns the word of a kind. */
const char *real_kind_word(enum real_kind kind);

/* Writes a line with its end. Returns its number of bytes. */
int real_line_write(const struct real_line *line, char text[REAL_LINE_SIZE_MAX]);

/* Reads a line without its end. Returns NULL, or the first byte that does not fit, and then sets
 * *expected. */
const char *real_line_read(struct real_line *line, const char *text, size_t size, const char **expected);

/* Returns whether the first line of a file is one of a journal. */
int real_line_begins(const struct input *input);

/* Reads a journal. The caller frees the lines. Returns their number; or -1 with the complaint in *error and
 * nothing to free. */
int real_lines_read(struct real_line **lines, const struct input *input, struct input_error *error);

#endif
