/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Reports of the outcomes of scenarios: text and HTML for people, JSON for programs, JUnit and SARIF for CI
 * servers. Guarantees for scripts are in docs/cli.md. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "replay/replay.h"
#include "scenario/coverage.h"
#include "scenario/exercised_items.h"
#include "scenario/outcome.h"
#include "scenario/scenario.h"

#include <stdio.h>

struct report_context {
    uint32_t without;    /* set of choice points that the worlds lack */
    bool one_constant;   /* the seed was given, so runs have one set of constants */
    bool quiet;          /* scenarios that pass are not reported */
    bool verbose;        /* each scenario is listed, and each failure is told */
    const char *program; /* the program as it was called, for lines to paste; outlives the context */
};

#define REPORT_PAGE_MAX 64

/* One scenario with its outcome. Pointers are borrowed. */
struct report_item {
    const struct scenario *scenario;
    const struct ls_recipe *recipe;
    const struct outcome *outcome;
    struct coverage *coverage; /* NULL = not asked for; reports sort its rows */
    double seconds;            /* duration of its runs */
    bool finished;             /* false = the outcome says nothing yet */
    bool named;                /* true = the user has named it; false = found in a folder */
    /* The search met the limit of a suite, and random schedules after it found no violation. */
    bool tried;
    char page[REPORT_PAGE_MAX]; /* file name of the page of its run, beside the index; empty = none */
};

/* Tell whether the scenario counts as passed, or as failed. It is neither if it is not finished, or is at a
 * limit and not `tried`. */
bool report_passes(const struct report_item *item);
bool report_fails(const struct report_item *item);

/* Most violating or differing scenarios with a line of their own, unless verbose. */
#define REPORT_FAILURES_MAX 20

/* Sets when lines have colours: auto, always or never. Returns false for another word. */
bool report_set_color(const char *when);

/* Reports one finished scenario. Leaves out a passing one if the context is quiet. Unless it is verbose:
 * - A passing one is reported only if it is named, or has coverage or notes.
 * - One that violates a promise has a line, if it is among the first REPORT_FAILURES_MAX of these.
 * - One that differs is left to report_text_closing().
 * *violating, at first 0, counts the scenarios that violate a promise. */
void report_text(FILE *out, const struct report_context *context, const struct report_item *item,
                 int *violating);

/* Reports all scenarios together:
 * - unless verbose, those that differ, in the lines that violating ones leave of REPORT_FAILURES_MAX;
 * - unless verbose or quiet, the number that passed in each folder;
 * - if promises are violated, these, and unless verbose the shortest run that shows one;
 * - if scenarios only differ, the first difference, unless verbose;
 * - if none fails, the proved promises, unless quiet. */
void report_text_closing(FILE *out, const struct report_context *context, const struct report_item *items,
                         int count);

/* Writes a part of these lines: the violated promises, or else the number of scenarios that differ. If no
 * scenario fails, writes the proved promises. */
void report_text_verdicts(FILE *out, const struct report_item *items, int count);

/* Most lines about scenarios of which not all was tried, unless verbose. */
#define REPORT_NOT_TRIED_MAX 5

/* Writes lines `not tried: ... in SCENARIO` of the items that passed, and how many more there are. */
void report_text_not_tried(FILE *out, const struct report_context *context, const struct report_item *items,
                           int count);

/* Writes the coverage of each recipe by all its runs: a table and lists; none if memory is short. */
void report_text_coverage(FILE *out, const struct report_item *items, int count);

void report_text_growth(FILE *out, const struct report_item *item);

/* Writes one object on one line. Returns 0, or -1 if memory is short. */
int report_json(FILE *out, const struct report_context *context, const struct report_item *item);

/* Adds `coverage` to a JSON object. Returns false if memory is short. */
struct cJSON;
bool report_json_coverage(struct cJSON *object, const struct ls_recipe *recipe, struct coverage *coverage);

/* Replays a trace and writes one object on each line: the run, then each of its steps with the state behind
 * it, then the end (report/steps.h). REPLAY_UNFIT with the complaint in *error also if memory is short. */
enum replay_result report_replay_json(FILE *out, const struct trace *trace, struct input_error *error);

/* ---- HTML ---- */

/* The cause of a violation, for the page of its run. Pointers are borrowed. */
struct report_cause {
    const char *text;     /* for people: the sentences of `lockstep explain` */
    struct cJSON *behind; /* what a search finds behind each choice, see explain/behind.h */
};

/* Replays a trace and writes the page of its run: one file that needs no other. `again` is the command that
 * replays the run. `cause` may be NULL. REPLAY_UNFIT with the complaint in *error also if memory is short. */
enum replay_result report_page(FILE *out, const struct trace *trace, const char *again,
                               const struct report_cause *cause, struct input_error *error);

/* Writes the page of a real run from its journal. Returns 0, or -1 with the complaint in *error. */
int report_journal_page(FILE *out, const struct input *input, const char *again, struct input_error *error);

/* Returns 0, or -1 if the file cannot be written. */
int report_junit(const char *path, const struct report_context *context, const struct report_item *items,
                 int count);

/* Writes a result for each promise that the reported run of a failing scenario violates and its file does not
 * declare. Without one, writes a result for the scenario's other reason to fail. Returns 0, or -1 if the file
 * cannot be written or memory is short. */
int report_sarif(const char *path, const struct report_context *context, const struct report_item *items,
                 int count);

/* Writes the key of the index-th thing that no run of an exploring scenario has tried, and why. Returns false
 * behind the last one, and for a scenario that does not explore. Returns false, too, if the runs ended early:
 * by a violation, an error, or a limit after which no random schedules were run. */
bool report_not_tried(const struct report_item *item, int index, char key[TRIED_KEY_MAX],
                      char why[TRIED_WHY_MAX]);

struct report_violation {
    const struct property *property;
    const struct check_finding *finding;
    const char *where; /* see outcome_also(); NULL = in the reported run */
};

/* Lists the violations of the reported run that its file does not declare, in the order of the report. Then
 * lists those for which outcome_also() is not NULL, declared or not. Returns their number. */
int report_violations(const struct report_item *item, struct report_violation list[CHECK_PROPERTIES_MAX]);

/* Returns the path of the outcome's shrunk trace, or else of its trace; "" if it has none. */
const char *report_trace(const struct outcome *outcome);

/* Writes the text of an outcome without the difference of the traces (diff_at, diff_size). */
void report_notes(FILE *out, const struct outcome *outcome);

/* Writes the line of a scenario without its end: `FAIL  NAME  (N states, ...)`. */
void report_head(FILE *out, const struct report_item *item);

/* Writes the story of a violation, if there is one, with `  | ` before each line, and `  |` before an empty
 * one. */
void report_story(FILE *out, const struct outcome *outcome);

/* Returns the states of a search, over all its layers, per second of item->seconds; 0 without a duration. */
double report_states_per_second(const struct report_item *item);

#endif
