/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* SARIF 2.1.0. Each property is a rule, and so are scenario-differs and run-stopped. A failing scenario has a
 * result for each property that its reported run violates and its file does not declare. Without one, it has
 * one result for its other reason to fail. A result's place is line 1 of its scenario file. */
#include "report/report.h"

#include "base/assert.h"
#include "base/file.h"

#include <lockstep/version.h>

#include <cjson/cJSON.h>
#include <string.h>

#define DIFFERS "scenario-differs" /* rule of a scenario whose file expects another run */
#define STOPPED "run-stopped"      /* rule of a run that could not be judged */

static bool add_text(cJSON *object, const char *name, const char *text)
{
    cJSON *inner = cJSON_AddObjectToObject(object, name);
    return inner != NULL && cJSON_AddStringToObject(inner, "text", text) != NULL;
}

static bool add_rule(cJSON *rules, const char *id, const char *sentence)
{
    cJSON *rule = cJSON_CreateObject();
    return cJSON_AddItemToArray(rules, rule) && cJSON_AddStringToObject(rule, "id", id) &&
           add_text(rule, "shortDescription", sentence);
}

static bool add_tool(cJSON *run)
{
    cJSON *tool = cJSON_AddObjectToObject(run, "tool");
    cJSON *driver = tool != NULL ? cJSON_AddObjectToObject(tool, "driver") : NULL;
    cJSON *rules = driver != NULL ? cJSON_AddArrayToObject(driver, "rules") : NULL;
    int count;
    const struct property *const *all = check_all(&count);
    bool added = rules != NULL && cJSON_AddStringToObject(driver, "name", "lockstep") &&
                 cJSON_AddStringToObject(driver, "version", ls_version());
    for (int i = 0; added && i < count; i++) {
        added = add_rule(rules, all[i]->name, all[i]->sentence);
    }
    return added && add_rule(rules, DIFFERS, "the scenario goes as its file expects") &&
           add_rule(rules, STOPPED, "the run comes to its end");
}

/* Writes a path as a URI reference; a relative path stays relative. */
static void uri_of(const char *path, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", path[0] == '/' ? "file://" : "");
    for (; *path != 0 && used + 4 < size; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("/-._~", c) != NULL;
        used += (size_t)snprintf(out + used, size - used, plain ? "%c" : "%%%02X", c);
    }
    LS_ASSERT(*path == 0 && used < size);
}

static bool add_place(cJSON *result, const struct scenario *scenario)
{
    char uri[3 * INPUT_NAME_MAX + 16];
    cJSON *places = cJSON_AddArrayToObject(result, "locations"), *place = cJSON_CreateObject();
    if (!cJSON_AddItemToArray(places, place)) {
        cJSON_Delete(place);
        return false;
    }
    cJSON *physical = cJSON_AddObjectToObject(place, "physicalLocation");
    cJSON *file = physical != NULL ? cJSON_AddObjectToObject(physical, "artifactLocation") : NULL;
    cJSON *region = file != NULL ? cJSON_AddObjectToObject(physical, "region") : NULL;
    uri_of(scenario->input.name, uri, sizeof uri);
    return region != NULL && cJSON_AddStringToObject(file, "uri", uri) &&
           cJSON_AddNumberToObject(region, "startLine", 1);
}

static bool add_result(cJSON *results, const struct report_context *context, const struct report_item *item,
                       const char *rule, const char *what)
{
    static char text[OUTCOME_TEXT_MAX + 3 * CHECK_WHY_MAX];
    LS_ASSERT(check_position(rule) >= 0 || strcmp(rule, DIFFERS) == 0 || strcmp(rule, STOPPED) == 0);
    const char *trace = report_trace(item->outcome);
    int size = snprintf(text, sizeof text, "%s", what);
    if (trace[0] != 0 && size >= 0 && (size_t)size < sizeof text) {
        snprintf(text + size, sizeof text - (size_t)size, "\nagain: %s replay %s", context->program, trace);
    }
    cJSON *result = cJSON_CreateObject();
    return cJSON_AddItemToArray(results, result) && cJSON_AddStringToObject(result, "ruleId", rule) &&
           cJSON_AddStringToObject(result, "level", "error") && add_text(result, "message", text) &&
           add_place(result, item->scenario);
}

/* Adds a result for each promise that the reported run violates undeclared; without one, adds a result for
 * the other reason to fail. */
static bool add_results(cJSON *results, const struct report_context *context, const struct report_item *item)
{
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, list);
    LS_ASSERT(report_fails(item));
    bool added = true, told = false;
    for (int i = 0; i < count && list[i].where == NULL; i++) {
        added = added && add_result(results, context, item, list[i].property->name, list[i].finding->why);
        told = true;
    }
    if (!told) {
        bool differs = item->outcome->verdict == VERDICT_DIFFERS;
        const char *text =
            item->outcome->text[0] != 0 ? item->outcome->text : verdict_name(item->outcome->verdict);
        added = added && add_result(results, context, item, differs ? DIFFERS : STOPPED, text);
    }
    return added;
}

static bool fill(cJSON *log, const struct report_context *context, const struct report_item *items, int count)
{
    cJSON *runs = NULL, *run = NULL;
    bool added = cJSON_AddStringToObject(log, "$schema", "https://json.schemastore.org/sarif-2.1.0.json") &&
                 cJSON_AddStringToObject(log, "version", "2.1.0") &&
                 (runs = cJSON_AddArrayToObject(log, "runs")) != NULL;
    if (!added || !cJSON_AddItemToArray(runs, run = cJSON_CreateObject()) || !add_tool(run)) {
        return false;
    }
    cJSON *results = cJSON_AddArrayToObject(run, "results");
    added = results != NULL;
    for (int i = 0; added && i < count; i++) {
        added = !report_fails(&items[i]) || add_results(results, context, &items[i]);
    }
    return added;
}

int report_sarif(const char *path, const struct report_context *context, const struct report_item *items,
                 int count)
{
    cJSON *log = cJSON_CreateObject();
    char *text = log != NULL && fill(log, context, items, count) ? cJSON_Print(log) : NULL;
    int result = text != NULL ? file_replace(path, text, strlen(text)) : -1;
    cJSON_free(text);
    cJSON_Delete(log);
    return result;
}
