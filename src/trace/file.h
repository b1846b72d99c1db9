/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The trace file: one run, self-contained (D11), as docs/trace-format.md describes. It has the scenario's
 * text, the recipe, the schedule, the seed, the properties, and the choices as labels. The label is the
 * truth. The integer beside it is a cache: the label's position among the enabled actions when it was
 * recorded (D4). */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/text_input.h"

#include <stdint.h>
#include <stdio.h>

#define TRACE_FORMAT 1
#define TRACE_BYTES_MAX (16u << 20)
#define TRACE_WORD_MAX 64    /* bytes of a version, a schedule, the name of a property */
#define TRACE_RECIPE_MAX 256 /* bytes of a recipe's name or path, and of the path of a property */
#define TRACE_PROPERTIES_MAX 4

/* A choice that is no action: the driver asked whether the world is at rest. */
#define TRACE_REST "rest"

/* Two more, in runs in which a process waits for ever. The choices behind "cycle" lead back to the state at
 * that line. "hopeless" is followed by the name of a process that no step serves from there on. */
#define TRACE_CYCLE "cycle"
#define TRACE_HOPELESS "hopeless "

struct trace_choice {
    const char *label; /* points into the trace's text */
    int index;         /* position among the enabled actions at that time; -1 = not one of them */
};

/* The meaning of the seed of a run that is not random. */
enum trace_seed {
    TRACE_SEED_NONE,  /* none: the run constants are the scenario's */
    TRACE_SEED_GIVEN, /* it came from outside the scenario, in place of `seed=` */
    TRACE_SEED_SWEPT, /* number of a set of run constants, in a search that sweeps them */
};

/* A property from a shared object that was judged besides the built-in ones. */
struct trace_property {
    char name[TRACE_WORD_MAX];
    char path[TRACE_RECIPE_MAX];
};

struct trace {
    struct input input;            /* the file; all strings may point into it */
    char tool[TRACE_WORD_MAX];     /* version of the program that wrote it */
    char recipe[TRACE_RECIPE_MAX]; /* name or path */
    char schedule[TRACE_WORD_MAX]; /* "directed", "uniform", "pct", "swarm" or "search" */
    uint64_t seed;                 /* of the schedule; for directed runs the seed of the run constants */
    int seeded;                    /* enum trace_seed */
    char without
        [TRACE_WORD_MAX]; /* search: letters of the choice points that the world lacked; empty = none */
    const char *found;    /* property names or "difference", one line */
    struct trace_property property[TRACE_PROPERTIES_MAX];
    int properties;
    const char *name;
    const char *text; /* the scenario's text, terminated */
    size_t text_size;
    int text_line;               /* number of the scenario's first line in the file */
    struct trace_choice *choice; /* owned */
    int choices;
    int first_choice_line; /* number of the first choice's line in the file */
};

/* Writes a trace, without a look at `input`. Returns 0, or -1 if the stream has failed. */
int trace_write(FILE *file, const struct trace *trace);

/* Reads a trace from a file. Returns 0, or -1 with the complaint in *error and nothing to close. */
int trace_read(struct trace *trace, const char *path, struct input_error *error);

/* Does the same with a loaded file, which becomes the trace's, or is closed with a complaint. */
int trace_read_loaded(struct trace *trace, const struct input *input, struct input_error *error);

int trace_read_bytes(struct trace *trace, const char *name, const char *bytes, size_t size,
                     struct input_error *error);

void trace_close(struct trace *trace);

#endif
