/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include "base/assert.h"

#include <cjson/cJSON.h>
#include <string.h>

static bool add_properties(cJSON *object, const struct outcome *outcome)
{
    int count;
    const struct property *const *all = check_all(&count);
    cJSON *verdicts = cJSON_AddObjectToObject(object, "properties");
    cJSON *judged = cJSON_AddObjectToObject(object, "judged");
    for (int i = 0; verdicts && judged && i < count; i++) {
        if ((outcome->mask | outcome->stats.violated) >> i & 1) {
            const char *verdict = check_verdict_name(outcome_verdict(outcome, i));
            if (!cJSON_AddStringToObject(verdicts, all[i]->name, verdict) ||
                !cJSON_AddNumberToObject(judged, all[i]->name, (double)outcome->stats.finding[i].premises)) {
                return false;
            }
        }
    }
    return verdicts && judged;
}

/* Adds the sentences of all violations, also of those seen later or elsewhere, and then all other text. */
static bool add_message(cJSON *object, const struct outcome *outcome)
{
    static char text[OUTCOME_TEXT_MAX + CHECK_PROPERTIES_MAX * (CHECK_WHY_MAX + 32)];
    int violated[CHECK_PROPERTIES_MAX], count = check_violated(&outcome->stats, CHECK_ALL, violated);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        strcat(text, outcome->stats.finding[violated[i]].why);
        strcat(text, "\n");
    }
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        const struct check_finding *finding = &outcome->stats.finding[i];
        if (outcome_also(finding)) {
            strcat(strcat(strcat(text, "also, "), outcome_also(finding)), ": ");
            strcat(text, outcome->stats.finding[i].why);
            strcat(text, "\n");
        }
    }
    strcat(text, outcome->text);
    LS_ASSERT(strlen(text) < sizeof text - 1);
    return cJSON_AddStringToObject(object, "message", text) != NULL;
}

static bool add_trace(cJSON *object, const struct report_context *context, const struct outcome *outcome)
{
    char line[OUTCOME_TRACE_MAX * 2];
    if (!outcome->trace[0]) {
        return cJSON_AddNullToObject(object, "trace") && cJSON_AddNullToObject(object, "replay");
    }
    snprintf(line, sizeof line, "%s replay %s", context->program, outcome->trace);
    return cJSON_AddStringToObject(object, "trace", outcome->trace) &&
           cJSON_AddStringToObject(object, "replay", line);
}

static bool add_shrunk(cJSON *object, const struct outcome *outcome)
{
    return outcome->shrunk[0] ? cJSON_AddStringToObject(object, "shrunk", outcome->shrunk) != NULL
                              : cJSON_AddNullToObject(object, "shrunk") != NULL;
}

static bool add_text(cJSON *object, const char *name, const char *text)
{
    return (text != NULL ? cJSON_AddStringToObject(object, name, text)
                         : cJSON_AddNullToObject(object, name)) != NULL;
}

static bool add_traces(cJSON *object, const struct report_context *context, const struct outcome *outcome,
                       bool told)
{
    char line[OUTCOME_TRACE_MAX * 2];
    const char *trace = report_trace(outcome);
    told = told && trace[0] != 0;
    snprintf(line, sizeof line, "%s replay %s", context->program, trace);
    return add_text(object, "trace", told ? outcome->trace : NULL) &&
           add_text(object, "shrunk", told && outcome->shrunk[0] ? outcome->shrunk : NULL) &&
           add_text(object, "replay", told ? line : NULL);
}

static bool add_violation(cJSON *list, const struct report_context *context, const struct outcome *outcome,
                          const struct report_violation *violation)
{
    const struct check_finding *finding = violation->finding;
    cJSON *object = cJSON_CreateObject();
    return cJSON_AddItemToArray(list, object) && add_text(object, "property", violation->property->name) &&
           add_text(object, "sentence", finding->why) &&
           cJSON_AddNumberToObject(object, "step", (double)finding->step) &&
           add_text(object, "schedule", finding->elsewhere ? NULL : schedule_name(outcome->schedule)) &&
           (finding->elsewhere ? cJSON_AddNullToObject(object, "seed")
                               : cJSON_AddNumberToObject(object, "seed", (double)outcome->seed)) &&
           add_text(object, "also", violation->where) &&
           add_traces(object, context, outcome, violation->where == NULL);
}

/* Adds the violations, without those that the file declares, wherever they were seen. */
static bool add_violations(cJSON *object, const struct report_context *context,
                           const struct report_item *item)
{
    struct report_violation violation[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, violation);
    cJSON *list = cJSON_AddArrayToObject(object, "violations");
    bool added = list != NULL;
    for (int i = 0; i < count; i++) {
        int position = (int)(violation[i].finding - item->outcome->stats.finding);
        LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
        bool declared = (item->scenario->violates >> position & 1) != 0;
        added = added && (declared || add_violation(list, context, item->outcome, &violation[i]));
    }
    return added;
}

/* Adds the keys of report_not_tried(). The list is empty if all was tried, and if the runs ended early. */
static bool add_not_tried(cJSON *object, const struct report_item *item)
{
    char key[TRIED_KEY_MAX], why[TRIED_WHY_MAX];
    cJSON *list = cJSON_AddArrayToObject(object, "not_tried");
    for (int i = 0; list && report_not_tried(item, i, key, why); i++) {
        if (!cJSON_AddItemToArray(list, cJSON_CreateString(key))) {
            return false;
        }
    }
    return list != NULL;
}

static bool add_nulls(cJSON *object)
{
    static const char *const FIELDS[] = {"states",          "bytes_per_state",     "states_per_second",
                                         "strategy",        "exhausted",           "without",
                                         "complete_faults", "expected_omissions",  "unrenamed",
                                         "live_states",     "live_bytes_per_state"};
    bool added = true;
    for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
        added = added && cJSON_AddNullToObject(object, FIELDS[i]);
    }
    return added;
}

static bool add_without(cJSON *object, uint32_t without)
{
    char letters[WORLD_WITHOUT_MAX];
    world_without_text(without, letters);
    return without == 0 ? cJSON_AddNullToObject(object, "without") != NULL
                        : cJSON_AddStringToObject(object, "without", letters) != NULL;
}

static bool add_complete_faults(cJSON *object, int faults)
{
    return faults < 0 ? cJSON_AddNullToObject(object, "complete_faults") != NULL
                      : cJSON_AddNumberToObject(object, "complete_faults", faults) != NULL;
}

/* Adds the numbers of states after the last fault; nulls if no such states were searched. */
static bool add_live(cJSON *object, const struct search_counts *search)
{
    if (search->live_states == 0) {
        return cJSON_AddNullToObject(object, "live_states") &&
               cJSON_AddNullToObject(object, "live_bytes_per_state");
    }
    return cJSON_AddNumberToObject(object, "live_states", (double)search->live_states) &&
           cJSON_AddNumberToObject(object, "live_bytes_per_state",
                                   (double)search->live_bytes / (double)search->live_states);
}

/* Adds the numbers of a search; nulls if no states were counted, as in random and directed runs. */
static bool add_search(cJSON *object, const struct report_context *context, const struct report_item *item)
{
    const struct search_counts *search = &item->outcome->search;
    if (search->states == 0) {
        return add_nulls(object);
    }
    return cJSON_AddNumberToObject(object, "states", (double)search->states) &&
           cJSON_AddNumberToObject(object, "bytes_per_state",
                                   (double)search->memory_bytes / (double)search->states) &&
           cJSON_AddNumberToObject(object, "states_per_second", report_states_per_second(item)) &&
           cJSON_AddStringToObject(object, "strategy", search->breadth_first ? "bfs" : "dfs") &&
           cJSON_AddBoolToObject(object, "exhausted", item->outcome->exhausted) &&
           add_without(object, context->without) && add_complete_faults(object, search->complete_faults) &&
           cJSON_AddNumberToObject(object, "expected_omissions", search->expected_omissions) &&
           cJSON_AddNumberToObject(object, "unrenamed", (double)search->unrenamed) &&
           add_live(object, search);
}

static bool fill(cJSON *object, const struct report_context *context, const struct report_item *item)
{
    const struct outcome *outcome = item->outcome;
    return cJSON_AddStringToObject(object, "scenario", item->scenario->input.name) &&
           cJSON_AddStringToObject(object, "recipe", item->recipe->name) &&
           cJSON_AddStringToObject(object, "verdict", verdict_name(outcome->verdict)) &&
           add_properties(object, outcome) && add_search(object, context, item) &&
           cJSON_AddNumberToObject(object, "transitions", (double)outcome->steps) &&
           cJSON_AddNumberToObject(object, "depth", (double)outcome->depth) &&
           cJSON_AddNumberToObject(object, "seconds", item->seconds) &&
           cJSON_AddNumberToObject(object, "schedules", (double)outcome->runs) &&
           add_not_tried(object, item) && add_trace(object, context, outcome) &&
           add_shrunk(object, outcome) && add_message(object, outcome) &&
           add_violations(object, context, item) &&
           (!item->coverage || report_json_coverage(object, item->recipe, item->coverage));
}

int report_json(FILE *out, const struct report_context *context, const struct report_item *item)
{
    cJSON *object = cJSON_CreateObject();
    char *text = object && fill(object, context, item) ? cJSON_PrintUnformatted(object) : NULL;
    if (text) {
        fprintf(out, "%s\n", text);
        fflush(out);
    }
    cJSON_free(text);
    cJSON_Delete(object);
    return text ? 0 : -1;
}
