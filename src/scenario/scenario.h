/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A scenario: a situation and what must be seen in it. docs/scenario-language.md is the reference of the
 * language.
 *
 * A directed scenario has commands, in groups that each end with `----` and the trace that is expected since
 * the group before. An exploring one has client programs and fault budgets and asks for all runs. */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "check/check.h"
#include "scenario/tried.h"
#include "trace/input.h"

#include <lockstep/sim.h>

#define SCENARIO_BYTES_MAX (1u << 20)

/* Groups of events that are shown in the expected trace besides the default ones. */
#define SHOW_DEFAULT 0x01u
#define SHOW_ASKS 0x02u
#define SHOW_BELIEF 0x04u
#define SHOW_FAULTS 0x08u
#define SHOW_NODES 0x10u
#define SHOW_REQUESTS 0x20u
#define SHOW_SESSIONS 0x40u
#define SHOW_WATCHES 0x80u
#define SHOW_REST 0x100u
#define SHOW_ALL 0x1ffu
#define SHOW_NEVER 0x200u /* it is for judges alone */

enum scenario_step {
    STEP_ACTION,   /* `action`: a client verb or a fault; `text` is its path if it has one */
    STEP_SETTLE,   /* default actions until rest */
    STEP_ADVANCE,  /* `ms` pass */
    STEP_BEFORE,   /* default actions until the one labelled `text` is possible */
    STEP_AFTER,    /* the same, and that one too */
    STEP_DO,       /* the one labelled `text`, now */
    STEP_REST,     /* the world must be at rest */
    STEP_HEAL_ALL, /* all faults in force end */
};

struct scenario_command {
    uint8_t step;         /* enum scenario_step */
    bool rc_given;        /* STEP_ACTION, a cut: its rc was given */
    bool both;            /* STEP_ACTION: the first of the two actions of one verb */
    int line;             /* in the file */
    int ms;               /* STEP_ADVANCE */
    struct action action; /* STEP_ACTION */
    const char *text;     /* owned by the scenario; NULL if there is none */
};

/* Commands and what is expected of them. Line ranges are offsets into the text. */
struct scenario_group {
    int first, count;      /* commands */
    size_t expected_start; /* offset behind the line `----` */
    size_t expected_end;   /* offset of the line behind the last expected one */
    bool unmarked;         /* there is no line `----`, and nothing behind it */
};

/* What a search counts, and an exploring scenario may claim. */
enum scenario_count { SCENARIO_STATES, SCENARIO_TRANSITIONS, SCENARIO_COUNTS };

struct scenario {
    bool foreign;       /* it could not be read, because its coordinator is not in this program */
    struct input input; /* the text */
    struct world_options
        options; /* recipe, judge_bytes and seed overrides are the driver's; strings are owned here */
    char lock_name[WORLD_LOCKS_MAX][WORLD_NAME_MAX]; /* unique, as in labels */
    check_mask properties;                           /* those named; 0 = the default set */
    check_mask holds;                                /* the file says that these hold */
    check_mask violates;                             /* the file says that these are violated */
    int constants; /* sets of run constants that a search goes through, at least 1 */
    int mode_line; /* where `timed` or `untimed` was said, 0 = nowhere */
    int mode_column;
    unsigned show; /* SHOW_… */
    bool exploring;
    bool rc_given;      /* `rc=` was said: random runs leave it alone */
    bool built_in_only; /* loaded properties have no part in it */
    bool not_tried_given;
    bool count_given[SCENARIO_COUNTS];
    uint64_t count[SCENARIO_COUNTS]; /* the file says that a search counts so many, with all faults */
    struct tried not_tried;          /* the file says that no run of the default recipe tries these */
    struct scenario_command *command;
    struct scenario_group *group;
    char **string; /* everything that was copied out of the text */
    int commands;
    int groups;
    int strings;
};

/* Reads a file (`-` is standard input). Returns 0, or -1 with at least one complaint and nothing to close. A line that would be
 * right if a line before it were has none of its own. */
int scenario_read(struct scenario *scenario, const char *path, struct input_mistakes *mistakes);

/* The same from memory, up to the first complaint; `name` stands in complaints and reports. */
int scenario_read_bytes(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                        struct input_error *error);

/* The same for a text that lies inside another file: complaints name that file's lines and columns. */
int scenario_read_part(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                       int lines_before, int columns_before, struct input_error *error);

void scenario_close(struct scenario *scenario);

/* Whether its coordinator ends contenders by time. */
bool scenario_has_leases(const struct scenario *scenario);

/* Returns the properties that judge a run of this scenario:
 * - those that it names in `properties`, `holds` and `violates`, or else all that mean something in its runs,
 *   with a clock or without one;
 * - those that were loaded and mean something there.
 * A random run of a directed scenario has no clock. Of the named properties it keeps those that mean
 * something without one. */
check_mask scenario_mask(const struct scenario *scenario, bool random);

/* "states", "transitions". */
const char *scenario_count_name(int count);

/* The opening comment, its first sentence at most, for lists. Returns `text`. */
const char *scenario_summary(const struct scenario *scenario, char *text, size_t size);

#endif
