/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The enumeration behind the standard suite: small worlds, class by class, as far as a budget goes.
 *
 * What is done is always a prefix of the list of all worlds. With a budget in states this prefix is the same on every
 * machine and for every number of jobs: a world is done if it has no more states than the worlds before it have left. */
#ifndef CLI_ENUMERATE_H
#define CLI_ENUMERATE_H

#include "cli/cli.h"
#include "scenario/worlds.h"

struct enumerate_sum {
    int done;        /* worlds searched to their end, or failing */
    int limited;     /* worlds at a limit of their own */
    int left_out;    /* worlds that are none for this recipe, or that the filter leaves out */
    uint64_t states; /* of all of them */
};

struct enumeration {
    bool asked;                /* an enumeration is wanted */
    bool skipped;              /* and was not begun, because a situation of the suite fails */
    bool failed;               /* some world fails */
    int class, world;          /* the next one */
    struct enumerate_sum *sum; /* of each class; owned */
    char first_failing[WORLDS_NAME_MAX];
};

/* Prepares an enumeration, from the beginning or from what --resume keeps. Returns 0, or CLI_USAGE after one line on standard
 * error. */
int enumerate_open(const struct cli_options *options, const char *command, struct enumeration *worlds);
void enumerate_close(struct enumeration *worlds);

/* Searches worlds until the budget is spent, or one fails and nobody wants to go on. Adds what fails, reduced, to the list of
 * jobs. Returns 0, or -1 with errno set if the environment fails. */
int enumerate_run(const struct cli_options *options, struct enumeration *worlds, struct cli_job **jobs,
                  int *count);

/* Says which classes are exhausted, which are not, and which world comes next: text, or one JSON object. */
void enumerate_tell(FILE *out, const struct cli_options *options, const struct enumeration *worlds);

#endif
