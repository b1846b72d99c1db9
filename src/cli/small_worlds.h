/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The enumeration of small and random worlds after the standard suite, class by class, within a budget.
 *
 * The worlds that are counted are a prefix of the list of all worlds. A world is counted if its states fit
 * into the budget that the worlds before it have left. So a budget in states gives the same prefix for every
 * number of jobs, if a search meets no limit of time or memory. */
#ifndef CLI_SMALL_WORLDS_H
#define CLI_SMALL_WORLDS_H

#include "cli/cli.h"
#include "scenario/small_worlds.h"

struct enumerate_sum {
    int done;        /* worlds searched to the end, or failing */
    int limited;     /* worlds that reached a limit of their own */
    int left_out;    /* worlds that the recipe or the filter excludes */
    uint64_t states; /* of all these worlds */
};

struct enumeration {
    bool asked;
    bool skipped;              /* not begun, because a situation of the suite fails */
    bool failed;               /* a world fails: first_failing */
    int class, world;          /* position of the next world */
    struct enumerate_sum *sum; /* of each class; owned */
    char first_failing[WORLDS_NAME_MAX];
};

/* Prepares an enumeration, from the beginning or from the state saved for --resume. Returns 0, or an exit
 * status after one line on standard error. */
int enumerate_open(const struct cli_options *options, const char *command, struct enumeration *worlds);
void enumerate_close(struct enumeration *worlds);

/* Returns true if the options ask for worlds, and the filter matches the name of one, whatever the recipe. */
bool enumerate_has_match(const struct cli_options *options);

/* Returns true if the options ask for worlds, and the folder of --resume has a saved enumeration, of any build
 * and options. */
bool enumerate_is_kept(const struct cli_options *options);

/* Searches worlds to the end of the list or of the budget; without --keep-going at most to the first that
 * fails. Reduces a world that violates a property. Adds a failing world to the list of jobs if it is not
 * there. Returns 0, or -1 with errno set if the environment fails. */
int enumerate_run(const struct cli_options *options, struct enumeration *worlds, struct cli_job **jobs,
                  int *count);

/* Reports, as text or as one JSON object, which of the begun classes are exhausted, and the next world. The
 * text also has the number of classes that were not begun. Writes no text if the options say `quiet`. */
void enumerate_tell(FILE *out, const struct cli_options *options, const struct enumeration *worlds);

#endif
