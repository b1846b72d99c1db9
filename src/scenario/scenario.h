/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A scenario: a situation and the expected observations. docs/scenario-language.md is the reference of the
 * language.
 *
 * A directed scenario has commands, in groups. Behind the commands of a group stand `----` and its expected
 * trace. An exploring scenario has client programs and fault budgets, and stands for all runs within these
 * budgets. */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "check/check.h"
#include "scenario/exercised_items.h"
#include "trace/text_input.h"

#include <lockstep/sim.h>

#define SCENARIO_BYTES_MAX (1u << 20)

/* Groups of events that the expected trace shows besides the default ones. */
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
#define SHOW_NEVER 0x200u /* for judges alone */

enum scenario_step {
    STEP_ACTION,   /* `action`: a client verb or a fault; `text` is its path, if any */
    STEP_SETTLE,   /* default actions until rest */
    STEP_ADVANCE,  /* `ms` pass */
    STEP_BEFORE,   /* default actions until the action labelled `text` is possible */
    STEP_AFTER,    /* as STEP_BEFORE, then that action */
    STEP_DO,       /* the action labelled `text`, now */
    STEP_REST,     /* the world must be at rest */
    STEP_HEAL_ALL, /* all faults in force end */
};

struct scenario_command {
    uint8_t step;  /* enum scenario_step */
    bool rc_given; /* STEP_ACTION: the command is a cut with its own rc */
    bool both;     /* STEP_ACTION: the first of two actions of one verb */
    int line;
    int ms;               /* STEP_ADVANCE */
    struct action action; /* STEP_ACTION */
    const char *text;     /* owned by the scenario; NULL if there is none */
};

/* Commands and their expected trace. Offsets are bytes of the scenario's text. */
struct scenario_group {
    int first, count;      /* index of the first command, number of commands */
    size_t expected_start; /* offset behind the line `----` */
    size_t expected_end;   /* offset behind the last expected line */
    bool unmarked;         /* the file has no line `----`: the expected part is empty, at its end */
};

enum scenario_count { SCENARIO_STATES, SCENARIO_TRANSITIONS, SCENARIO_COUNTS };

struct scenario {
    bool foreign; /* reading failed because this program lacks the scenario's coordinator */
    struct input input;
    struct world_options options; /* the driver sets recipe, judge_bytes and seed; strings are owned here */
    char lock_name[WORLD_LOCKS_MAX][WORLD_NAME_MAX]; /* unique, as in labels */
    check_mask properties;                           /* the named properties; 0 = the default set */
    check_mask holds;
    check_mask violates;
    int constants; /* sets of run constants for a search, at least 1; 0 = not given */
    int mode_line; /* line of `timed` or `untimed`, 0 = none */
    int mode_column;
    unsigned show;
    bool exploring;
    bool rc_given;      /* `rc=` was given: random runs do not change it */
    bool built_in_only; /* loaded properties do not judge */
    bool not_tried_given;
    bool count_given[SCENARIO_COUNTS];
    uint64_t count[SCENARIO_COUNTS]; /* claimed counts of a search with all faults */
    struct tried not_tried;          /* items that no run of the default recipe tries, by the file's claim */
    struct scenario_command *command;
    struct scenario_group *group;
    char **string; /* copies of words of the text */
    int commands;
    int groups;
    int strings;
};

/* Reads a file (`-` is standard input). Returns 0, or -1 with at least one complaint and nothing to close.
 * Reads further lines after most mistakes, up to INPUT_MISTAKES_MAX complaints. */
int scenario_read(struct scenario *scenario, const char *path, struct input_mistakes *mistakes);

/* Reads a scenario from memory, up to the first complaint; `name` is used in complaints and reports. */
int scenario_read_bytes(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                        struct input_error *error);

/* Reads a text that lies inside another file: complaints name that file's lines and columns. */
int scenario_read_part(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                       int lines_before, int columns_before, struct input_error *error);

void scenario_close(struct scenario *scenario);

/* Returns whether the scenario's coordinator ends contenders by time. */
bool scenario_has_leases(const struct scenario *scenario);

/* Returns the properties that judge a run of this scenario. They are those of its line `properties`, or else
 * those that are judged by default in such a world (check_default_mask(), check_special_mask()). Claimed
 * properties, and loaded ones that are judged by default, come in addition. A random run of a directed
 * scenario has no clock: it judges only properties that are judged by default without one. With
 * `built_in_only` no loaded property is left. */
check_mask scenario_mask(const struct scenario *scenario, bool random);

const char *scenario_count_name(int count);

/* Writes at most the first sentence of the opening comment, for lists. Returns `text`. */
const char *scenario_summary(const struct scenario *scenario, char *text, size_t size);

#endif
