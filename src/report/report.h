/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Reports of what came of scenarios: text for people, JSON for programs, JUnit and SARIF for CI servers. docs/cli.md says what scripts may
 * rely on. No function here decides anything: exit statuses are the command line's. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "scenario/coverage.h"
#include "scenario/outcome.h"
#include "scenario/scenario.h"
#include "scenario/tried.h"

#include <stdio.h>

/* What all scenarios of a call have in common. */
struct report_context {
    uint32_t without;    /* choice points that the worlds lack */
    bool one_constant;   /* the seed was given: one set of run constants */
    bool quiet;          /* nothing is said of what passes */
    bool verbose;        /* each scenario is listed, and each failure is told */
    const char *program; /* as it was called, for lines to paste; valid as long as the context is */
};

/* One scenario. Pointers are borrowed. */
struct report_item {
    const struct scenario *scenario;
    const struct ls_recipe *recipe; /* of its runs */
    const struct outcome *outcome;
    struct coverage *coverage; /* NULL = nobody asks; its rows get sorted */
    double seconds;            /* that it took */
    bool finished;             /* otherwise the outcome says nothing */
    bool named;                /* the user has named it; otherwise it was found in a folder */
    /* Its search has met the limit of a suite, and random schedules found no violation behind that. */
    bool tried;
};

/* Whether it counts as passed, and whether as failed; neither is at a limit. */
bool report_passes(const struct report_item *item);
bool report_fails(const struct report_item *item);

/* ---- text ---- */

/* So many failing scenarios have a line of their own, unless the context is verbose. */
#define REPORT_FAILURES_MAX 20

/* When the lines have colours: auto, always or never. Returns false if it is none of these words. */
bool report_set_color(const char *when);

/* Tells one scenario, once it is finished. A passing scenario has a line if it is named, or has something to say. A
 * scenario that violates a promise has one line. One that merely differs is left to report_text_closing(). A
 * verbose context tells everything of every scenario. *violating counts the scenarios that violated something; it
 * is 0 at first. */
void report_text(FILE *out, const struct report_context *context, const struct report_item *item,
                 int *violating);

/* Tells all scenarios together: which differ, and how many passed in each folder. Of a failing call, which promises
 * were violated, and the shortest run that shows it. Of a good call, what was proved. */
void report_text_closing(FILE *out, const struct report_context *context, const struct report_item *items,
                         int count);

/* So many scenarios of which not all was tried have a line of their own, unless the context is verbose. */
#define REPORT_NOT_TRIED_MAX 5

/* Lines `not tried: ... in SCENARIO` of the items that passed, and how many more there are. */
void report_text_not_tried(FILE *out, const struct report_context *context, const struct report_item *items,
                           int count);

/* For each recipe of the items a table and lists of what its runs have covered together. Nothing if memory
 * is short. */
void report_text_coverage(FILE *out, const struct report_item *items, int count);

/* What random runs of an item have covered over time: lines. */
void report_text_growth(FILE *out, const struct report_item *item);

/* ---- JSON ---- */

/* One object on one line. Returns 0, or -1 if memory is short. */
int report_json(FILE *out, const struct report_context *context, const struct report_item *item);

/* Adds `coverage` to a JSON object. Returns false if memory is short. */
struct cJSON;
bool report_json_coverage(struct cJSON *object, const struct ls_recipe *recipe, struct coverage *coverage);

/* ---- JUnit ---- */

/* Returns 0, or -1 if the file cannot be written. */
int report_junit(const char *path, const struct report_context *context, const struct report_item *items,
                 int count);

/* ---- SARIF ---- */

/* A result for each promise that a failing scenario violates, or for what else makes it fail. Returns 0, or -1 if the file
 * cannot be written. */
int report_sarif(const char *path, const struct report_context *context, const struct report_item *items,
                 int count);

/* ---- what they have in common ---- */

/* Writes the key of the index-th thing that no run of an exploring scenario has tried, and why. Returns false behind the last,
 * and for what ended early: violated, an error, a search at a limit without random schedules. */
bool report_not_tried(const struct report_item *item, int index, char key[TRIED_KEY_MAX],
                      char why[TRIED_WHY_MAX]);

/* What is told of a property that is violated. */
struct report_violation {
    const struct property *property;
    const struct check_finding *finding;
    const char *where; /* see outcome_also(); NULL = in the run that is told */
};

/* Lists what the run that is told violates and its file does not declare, in the order in which it is told; then
 * what was seen later or in other runs. Returns how many. */
int report_violations(const struct report_item *item, struct report_violation list[CHECK_PROPERTIES_MAX]);

/* The trace that shows a violation: the shrunk one, if there is one. Empty if there is none. */
const char *report_trace(const struct outcome *outcome);

/* Writes what else was said of a scenario, lines: all but how its trace differs. */
void report_notes(FILE *out, const struct outcome *outcome);

/* Writes a scenario's line without its end: `FAIL  NAME  (N states, ...)`. */
void report_head(FILE *out, const struct report_item *item);

/* Writes the story of a violation, each of its lines behind `  | `. Nothing if there is none. */
void report_story(FILE *out, const struct outcome *outcome);

/* New states of a search per second of its worker's life, over all layers. */
double report_states_per_second(const struct report_item *item);

#endif
