/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The trace file: one run, self-contained (D11). docs/trace-format.md describes it.
 *
 * It holds the scenario's text, what was chosen besides (recipe, mode, seed) and the choices as labels. The
 * label is the truth; the integer beside it, the position among the enabled actions when it was recorded, is
 * a cache (D4). */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/input.h"

#include <stdint.h>
#include <stdio.h>

#define TRACE_FORMAT 1
#define TRACE_BYTES_MAX (16u << 20)
#define TRACE_WORD_MAX 64    /* of a schedule, a verdict */
#define TRACE_RECIPE_MAX 256 /* of a recipe's name or path, and of the path of a property */
#define TRACE_PROPERTIES_MAX 4

/* A choice that is not an action: the driver asked whether the world is at rest. */
#define TRACE_REST "rest"

/* Two more, in runs in which somebody waits for ever: the choices behind this one lead back to where it stands; and, with the
 * name of a process behind it, from here on nothing that can happen serves that process. */
#define TRACE_CYCLE "cycle"
#define TRACE_HOPELESS "hopeless "

struct trace_choice {
    const char *label; /* points into the trace's text */
    int index;         /* among the enabled actions at that time; -1 = not one of them */
};

/* What the seed of a run that is not random stands for. */
enum trace_seed {
    TRACE_SEED_NONE,  /* nothing: the run constants are the scenario's */
    TRACE_SEED_GIVEN, /* it came from outside the scenario, in place of its `seed=` */
    TRACE_SEED_SWEPT, /* of a search that sweeps run constants: which of its sets */
};

/* One that was judged besides those that are built in, from a shared object. */
struct trace_property {
    char name[TRACE_WORD_MAX];
    char path[TRACE_RECIPE_MAX];
};

struct trace {
    struct input input;            /* the file itself; everything else may point into it */
    char tool[TRACE_WORD_MAX];     /* version of the program that wrote it */
    char recipe[TRACE_RECIPE_MAX]; /* recipe under test */
    char schedule[TRACE_WORD_MAX]; /* who chose: "directed", "uniform", "pct", "search" */
    uint64_t seed;                 /* of the schedule; for directed runs the seed of the run constants */
    int seeded;                    /* enum trace_seed */
    char without
        [TRACE_WORD_MAX]; /* search: letters of the choice points that the world lacked; empty = none */
    const char *found;    /* why it was written: property names or "difference", one line */
    struct trace_property property[TRACE_PROPERTIES_MAX];
    int properties;
    const char *name; /* the scenario's name */
    const char *text; /* the scenario's text, terminated */
    size_t text_size;
    int text_line;               /* number of the file's line that is the scenario's first */
    struct trace_choice *choice; /* owned */
    int choices;
    int first_choice_line; /* number of the file's line with the first choice */
};

/* Writes a trace. Returns 0, or -1 if the stream has failed. `input` is not looked at. */
int trace_write(FILE *file, const struct trace *trace);

/* Reads one. Returns 0, or -1 with the complaint in *error and nothing to close. */
int trace_read(struct trace *trace, const char *path, struct input_error *error);

/* The same from memory. */
int trace_read_bytes(struct trace *trace, const char *name, const char *bytes, size_t size,
                     struct input_error *error);

void trace_close(struct trace *trace);

#endif
