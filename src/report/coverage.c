/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The coverage of runs, for people and for programs. */

#include "base/assert.h"
#include "coord/coordinator.h"
#include "report/report.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_WIDTH 26
#define TOLD_MAX 64 /* bits of `told` in struct coverage */
#define STATE_WIDTH 5

void report_text_growth(FILE *out, const struct report_item *item)
{
    const struct coverage *coverage = item->coverage;
    if (coverage == NULL || coverage->rows == 0) {
        return;
    }
    fprintf(out, "  %12s %14s %12s %6s %6s\n", "runs", "steps", "states", "marks", "pairs");
    for (uint32_t i = 0; i < coverage->rows; i++) {
        const struct coverage_row *row = &coverage->row[i];
        LS_ASSERT(i == 0 || row->runs > coverage->row[i - 1].runs);
        fprintf(out, "  %12llu %14llu %12llu %6u %6u\n", (unsigned long long)row->runs,
                (unsigned long long)row->steps, (unsigned long long)row->states, (unsigned)row->marks,
                (unsigned)row->pairs);
    }
}

static void print_table(FILE *out, const struct ls_recipe *recipe, const struct coverage *coverage)
{
    int states = coverage_states(recipe);
    LS_ASSERT(states > 0 && states <= 32);
    fprintf(out, "%-*s", EVENT_WIDTH, "event");
    for (int s = 0; s < states; s++) {
        fprintf(out, " %-*.*s", STATE_WIDTH, STATE_WIDTH, coverage_state_name(recipe, s));
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < coverage->events; i++) {
        fprintf(out, "%-*s", EVENT_WIDTH, coverage->event[i].name);
        for (int s = 0; s < states; s++) {
            fprintf(out, " %-*s", STATE_WIDTH, coverage->event[i].seen >> s & 1 ? "x" : "-");
        }
        fputc('\n', out);
    }
    fprintf(out, "%u of %u pairs of an event and a state were seen\n", (unsigned)coverage_pairs(coverage),
            (unsigned)coverage->events * (unsigned)states);
}

static void print_marks(FILE *out, const struct ls_recipe *recipe, const struct coverage *coverage)
{
    const struct ls_mark *mark;
    int place = 0, count = 0, reached = 0;
    for (; (mark = coverage_mark(recipe, count, &place)) != NULL; count++) {
        LS_ASSERT(place >= 0 && place < COVERAGE_MARKS_MAX);
        if (coverage->mark[place]) {
            reached++;
        } else {
            fprintf(out, "never reached: %s (%s:%d)\n", mark->name, mark->file, (int)mark->line);
        }
    }
    LS_ASSERT(reached <= count);
    fprintf(out, "%d of %d marks were reached\n", reached, count);
}

/* Returns the name of a bit of `told`; NULL behind the last, and if the recipe's coordinator names none. */
static const char *told_name(const struct ls_recipe *recipe, int bit)
{
    const struct coordinator *coordinator = coordinator_find(recipe->coordinator);
    LS_ASSERT(bit <= TOLD_MAX);
    return coordinator == NULL || coordinator->told_name == NULL ? NULL : coordinator->told_name(bit);
}

/* Prints the names of the bits of `told` that the client library has given to processes, or of those that it
 * has not. */
static void print_told(FILE *out, const struct ls_recipe *recipe, const struct coverage *coverage, bool told)
{
    const char *name;
    fputs(told ? "told:" : "never told:", out);
    for (int i = 0; (name = told_name(recipe, i)) != NULL; i++) {
        if ((coverage->told >> i & 1) == told) {
            fprintf(out, " %s", name);
        }
    }
    fputc('\n', out);
}

/* Returns whether an item is finished, is of this recipe, and has coverage. */
static bool is_covered(const struct report_item *item, const struct ls_recipe *recipe)
{
    return item->finished && item->recipe == recipe && item->coverage != NULL;
}

static void tell_coverage(FILE *out, const struct ls_recipe *recipe, const struct report_item *items,
                          int count)
{
    struct coverage *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return;
    }
    for (int i = 0; i < count; i++) {
        if (is_covered(&items[i], recipe)) {
            coverage_merge(all, items[i].coverage);
        }
    }
    coverage_sort(all);
    fprintf(out, "coverage of %s\n", recipe->name);
    print_table(out, recipe, all);
    if (told_name(recipe, 0) != NULL) {
        print_told(out, recipe, all, true);
        print_told(out, recipe, all, false);
    }
    print_marks(out, recipe, all);
    if (all->full) {
        fputs("limit: not all that was covered could be noted\n", out);
    }
    free(all);
}

static bool is_first_of_recipe(const struct report_item *items, int index)
{
    for (int i = 0; i < index; i++) {
        if (is_covered(&items[i], items[index].recipe)) {
            return false;
        }
    }
    return is_covered(&items[index], items[index].recipe);
}

void report_text_coverage(FILE *out, const struct report_item *items, int count)
{
    for (int i = 0; i < count; i++) {
        if (is_first_of_recipe(items, i)) {
            tell_coverage(out, items[i].recipe, items, count);
        }
    }
}

static bool add_names(cJSON *list, const struct ls_recipe *recipe, uint32_t bits)
{
    bool added = list != NULL;
    for (int s = 0; added && s < coverage_states(recipe); s++) {
        if (bits >> s & 1) {
            added = cJSON_AddItemToArray(list, cJSON_CreateString(coverage_state_name(recipe, s)));
        }
    }
    return added;
}

static bool add_states(cJSON *object, const struct ls_recipe *recipe)
{
    return add_names(cJSON_AddArrayToObject(object, "states"), recipe, UINT32_MAX);
}

static bool add_events(cJSON *object, const struct ls_recipe *recipe, const struct coverage *coverage)
{
    cJSON *events = cJSON_AddObjectToObject(object, "events");
    bool added = events != NULL;
    for (uint32_t i = 0; added && i < coverage->events; i++) {
        const struct coverage_event *event = &coverage->event[i];
        added = add_names(cJSON_AddArrayToObject(events, event->name), recipe, event->seen);
    }
    return added;
}

static bool add_marks(cJSON *object, const struct ls_recipe *recipe, const struct coverage *coverage)
{
    cJSON *marks = cJSON_AddObjectToObject(object, "marks");
    const struct ls_mark *mark;
    int place = 0;
    bool added = marks != NULL;
    for (int i = 0; added && (mark = coverage_mark(recipe, i, &place)) != NULL; i++) {
        LS_ASSERT(place >= 0 && place < COVERAGE_MARKS_MAX);
        added = cJSON_AddBoolToObject(marks, mark->name, coverage->mark[place] != 0) != NULL;
    }
    return added;
}

static bool add_told(cJSON *object, const struct ls_recipe *recipe, const struct coverage *coverage)
{
    cJSON *told = cJSON_AddArrayToObject(object, "told");
    bool added = told != NULL;
    const char *name;
    for (int i = 0; added && (name = told_name(recipe, i)) != NULL; i++) {
        if (coverage->told >> i & 1) {
            added = cJSON_AddItemToArray(told, cJSON_CreateString(name));
        }
    }
    return added;
}

static bool add_rows(cJSON *object, const struct coverage *coverage)
{
    cJSON *rows = cJSON_AddArrayToObject(object, "growth");
    bool added = rows != NULL;
    for (uint32_t i = 0; added && i < coverage->rows; i++) {
        const struct coverage_row *row = &coverage->row[i];
        cJSON *item = cJSON_CreateObject();
        added = item && cJSON_AddNumberToObject(item, "runs", (double)row->runs) &&
                cJSON_AddNumberToObject(item, "steps", (double)row->steps) &&
                cJSON_AddNumberToObject(item, "states", (double)row->states) &&
                cJSON_AddNumberToObject(item, "marks", row->marks) &&
                cJSON_AddNumberToObject(item, "pairs", row->pairs);
        added = cJSON_AddItemToArray(rows, item) && added;
    }
    return added;
}

bool report_json_coverage(cJSON *object, const struct ls_recipe *recipe, struct coverage *coverage)
{
    cJSON *covered = cJSON_AddObjectToObject(object, "coverage");
    coverage_sort(coverage);
    return covered && add_states(covered, recipe) && add_events(covered, recipe, coverage) &&
           add_marks(covered, recipe, coverage) && add_told(covered, recipe, coverage) &&
           add_rows(covered, coverage) && cJSON_AddBoolToObject(covered, "limit", coverage->full);
}
