/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The trace file: one run, as docs/trace-format.md describes it (D11). It has the scenario's text, the
 * recipe's name, the schedule, the seed and the choices as labels, among other things. A replay finds an
 * action by its label, not by the integer before it. The integer is the action's position among the enabled
 * actions when the choice was recorded (D4). */
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

/* A choice that is no action: the driver found the world at rest, and properties at rest were judged. */
#define TRACE_REST "rest"

/* Two more choices that are no actions, in runs in which a process waits for ever. The choices behind "cycle"
 * lead back to the state at that line, up to renaming. Behind "hopeless " stands the name of a waiter
 * (sim/waiters.h) that waits in all states that can follow without a fault. */
#define TRACE_CYCLE "cycle"
#define TRACE_HOPELESS "hopeless "

struct trace_choice {
    const char *label; /* points into the trace's text */
    int index;         /* position among the enabled actions at that time; -1 = not one of them */
};

/* The meaning of the seed of a run that is not random. */
enum trace_seed {
    TRACE_SEED_NONE,  /* the seed in the scenario, which sets the run constants */
    TRACE_SEED_GIVEN, /* a seed from outside the scenario, in place of `seed=` */
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
    uint64_t seed;                 /* of a random schedule; in other runs see enum trace_seed */
    int seeded;                    /* enum trace_seed */
    char without
        [TRACE_WORD_MAX]; /* search: letters of the choice points that the world lacked; empty = none */
    const char *found;    /* names of violated properties, or another reason such as "difference"; one line */
    struct trace_property property[TRACE_PROPERTIES_MAX];
    int properties;
    const char *name;
    const char *text; /* the scenario's text, terminated if it is not empty */
    size_t text_size;
    int text_line;               /* number of the scenario's first line in the file */
    struct trace_choice *choice; /* owned */
    int choices;
    int first_choice_line; /* number of the first choice's line in the file */
};

/* Writes a trace, without a look at `input`. Returns 0, or -1 if the stream's error indicator is set. */
int trace_write(FILE *file, const struct trace *trace);

/* Reads a trace from a file. Returns 0, or -1 with the complaint in *error and nothing to close. */
int trace_read(struct trace *trace, const char *path, struct input_error *error);

/* Does the same with a loaded file, which becomes the trace's. On failure closes the file. */
int trace_read_loaded(struct trace *trace, const struct input *input, struct input_error *error);

int trace_read_bytes(struct trace *trace, const char *name, const char *bytes, size_t size,
                     struct input_error *error);

void trace_close(struct trace *trace);

#endif
