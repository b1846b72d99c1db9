/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/shard_file.h"

#include "base/assert.h"
#include "base/file.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_NUMBERS_MAX 9007199254740992.0 /* 2^53: all integers up to it are exact in JSON */

static const char *const KINDS[] = {[CLI_PART_WHOLE] = "",
                                    [CLI_PART_FIRST] = "first",
                                    [CLI_PART_SEEDS] = "seeds",
                                    [CLI_PART_LAYER] = "layer"};
#define KIND_COUNT ((int)(sizeof KINDS / sizeof KINDS[0]))

/* ---- one description of an outcome, for writing and reading ---- */

enum field_type { FIELD_COUNT, FIELD_INT, FIELD_BOOL, FIELD_DOUBLE, FIELD_TEXT };

struct field {
    const char *name;
    enum field_type type;
    size_t offset, size; /* in bytes, in the object; the size of a text includes its final 0 */
};

#define COUNT(type, member)                                                                                  \
    {                                                                                                        \
#member, FIELD_COUNT, offsetof(struct type, member), sizeof(uint64_t)                                \
    }
#define INT(type, member)                                                                                    \
    {                                                                                                        \
#member, FIELD_INT, offsetof(struct type, member), sizeof(int)                                       \
    }
#define BOOL(type, member)                                                                                   \
    {                                                                                                        \
#member, FIELD_BOOL, offsetof(struct type, member), sizeof(bool)                                     \
    }
#define DOUBLE(type, member)                                                                                 \
    {                                                                                                        \
#member, FIELD_DOUBLE, offsetof(struct type, member), sizeof(double)                                 \
    }
#define TEXT(type, member)                                                                                   \
    {                                                                                                        \
#member, FIELD_TEXT, offsetof(struct type, member), sizeof(((struct type *)0)->member)               \
    }

static const struct field OUTCOME[] = {
    COUNT(outcome, seed),           COUNT(outcome, runs),       COUNT(outcome, steps),
    COUNT(outcome, depth),          COUNT(outcome, last_steps), COUNT(outcome, skipped),
    BOOL(outcome, exhausted),       INT(outcome, shrunk_from),  INT(outcome, shrunk_steps),
    BOOL(outcome, shrunk_minimal),  TEXT(outcome, trace),       TEXT(outcome, shrunk),
    TEXT(outcome, shrunk_property), TEXT(outcome, story),       TEXT(outcome, text),
    INT(outcome, diff_at),          INT(outcome, diff_size)};
static const struct field SEARCH[] = {COUNT(search_counts, states),
                                      COUNT(search_counts, transitions),
                                      COUNT(search_counts, depth),
                                      COUNT(search_counts, frontier),
                                      COUNT(search_counts, memory_bytes),
                                      COUNT(search_counts, earlier_states),
                                      COUNT(search_counts, earlier_transitions),
                                      COUNT(search_counts, unrenamed),
                                      BOOL(search_counts, breadth_first),
                                      BOOL(search_counts, bitstate),
                                      BOOL(search_counts, exact),
                                      COUNT(search_counts, omissions),
                                      COUNT(search_counts, live_states),
                                      COUNT(search_counts, live_transitions),
                                      COUNT(search_counts, live_bytes),
                                      INT(search_counts, faults),
                                      INT(search_counts, faults_last),
                                      INT(search_counts, complete_faults),
                                      DOUBLE(search_counts, expected_omissions)};
static const struct field FINDING[] = {COUNT(check_finding, premises), BOOL(check_finding, violated),
                                       BOOL(check_finding, later),     BOOL(check_finding, elsewhere),
                                       COUNT(check_finding, step),     TEXT(check_finding, why)};
#define FIELDS(list) (list), (int)(sizeof(list) / sizeof(list)[0])

/* ---- writing ---- */

/* Adds a count: as a text if a JSON number cannot be exact. */
static bool add_count(cJSON *object, const char *name, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return (double)value < WHOLE_NUMBERS_MAX ? cJSON_AddNumberToObject(object, name, (double)value) != NULL
                                             : cJSON_AddStringToObject(object, name, digits) != NULL;
}

static bool add_fields(cJSON *object, const void *from, const struct field *field, int count)
{
    bool added = object != NULL;
    for (int i = 0; added && i < count; i++) {
        const char *at = (const char *)from + field[i].offset;
        switch (field[i].type) {
        case FIELD_COUNT: {
            uint64_t value;
            memcpy(&value, at, sizeof value);
            added = add_count(object, field[i].name, value);
            break;
        }
        case FIELD_INT: {
            int value;
            memcpy(&value, at, sizeof value);
            added = cJSON_AddNumberToObject(object, field[i].name, value) != NULL;
            break;
        }
        case FIELD_BOOL:
            added = cJSON_AddBoolToObject(object, field[i].name, *(const bool *)at) != NULL;
            break;
        case FIELD_DOUBLE: {
            double value;
            memcpy(&value, at, sizeof value);
            added = cJSON_AddNumberToObject(object, field[i].name, value) != NULL;
            break;
        }
        case FIELD_TEXT:
            added = cJSON_AddStringToObject(object, field[i].name, at) != NULL;
            break;
        }
    }
    return added;
}

static bool add_tried(cJSON *object, const struct tried *tried)
{
    cJSON *list = cJSON_AddArrayToObject(object, "tried");
    double number[3 + WORLD_PROCESSES_MAX] = {tried->faults, tried->ended, tried->container};
    int count = (int)(sizeof number / sizeof number[0]);
    for (int p = 0; p < WORLD_PROCESSES_MAX; p++) {
        number[3 + p] = tried->step[p];
    }
    for (int i = 0; list && i < count; i++) {
        if (!cJSON_AddItemToArray(list, cJSON_CreateNumber(number[i]))) {
            return false;
        }
    }
    return list != NULL;
}

static bool add_findings(cJSON *object, const struct outcome *outcome)
{
    int count;
    const struct property *const *all = check_all(&count);
    cJSON *findings = cJSON_AddObjectToObject(object, "findings");
    bool added = findings != NULL;
    for (int i = 0; added && i < count; i++) {
        if (outcome->mask >> i & 1) {
            added = add_fields(cJSON_AddObjectToObject(findings, all[i]->name), &outcome->stats.finding[i],
                               FIELDS(FINDING));
        }
    }
    return added;
}

static bool fill_part(cJSON *object, const struct cli_job *job)
{
    const struct cli_part *part = &job->part;
    const struct outcome *outcome = job->outcome;
    LS_ASSERT(job->finished && (int)part->kind < KIND_COUNT);
    return cJSON_AddNumberToObject(object, "scenario", part->scenario) &&
           cJSON_AddStringToObject(object, "part", KINDS[part->kind]) &&
           cJSON_AddNumberToObject(object, "set", part->set) &&
           cJSON_AddNumberToObject(object, "faults", part->faults) &&
           cJSON_AddNumberToObject(object, "seconds", job->seconds) &&
           cJSON_AddStringToObject(object, "verdict", verdict_name(outcome->verdict)) &&
           cJSON_AddStringToObject(object, "schedule", schedule_name(outcome->schedule)) &&
           add_fields(object, outcome, FIELDS(OUTCOME)) &&
           add_fields(cJSON_AddObjectToObject(object, "search"), &outcome->search, FIELDS(SEARCH)) &&
           add_findings(object, outcome) && add_tried(object, &outcome->tried);
}

static bool add_options(cJSON *object, const struct cli_options *options)
{
    char text[1024];
    cJSON *list = cJSON_AddArrayToObject(object, "options");
    bool added = list != NULL;
    for (int i = 0; added && cli_given(options, i, text, sizeof text); i++) {
        added = cJSON_AddItemToArray(list, cJSON_CreateString(text));
    }
    return added;
}

static bool add_scenarios(cJSON *object, const struct cli_job *scenarios, int count)
{
    cJSON *list = cJSON_AddArrayToObject(object, "scenarios");
    bool added = list != NULL;
    for (int i = 0; added && i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        added = cJSON_AddItemToArray(list, item) &&
                cJSON_AddStringToObject(item, "name", scenarios[i].scenario.input.name) &&
                cJSON_AddStringToObject(item, "text", scenarios[i].scenario.input.text);
    }
    return added;
}

static bool fill(cJSON *object, const struct cli_options *options, const char *command,
                 const struct cli_job *scenarios, int count, const struct cli_job *jobs, int parts)
{
    bool added = cJSON_AddNumberToObject(object, "lockstep-shard", SHARD_FORMAT) &&
                 cJSON_AddStringToObject(object, "version", LOCKSTEP_VERSION) &&
                 cJSON_AddStringToObject(object, "command", command) &&
                 cJSON_AddNumberToObject(object, "shard", options->shard) &&
                 cJSON_AddNumberToObject(object, "shards", options->shards) && add_options(object, options) &&
                 add_scenarios(object, scenarios, count);
    cJSON *list = added ? cJSON_AddArrayToObject(object, "parts") : NULL;
    for (int i = 0; list && i < parts; i++) {
        cJSON *item = jobs[i].finished ? cJSON_CreateObject() : NULL;
        if (jobs[i].finished && !(cJSON_AddItemToArray(list, item) && fill_part(item, &jobs[i]))) {
            return false;
        }
    }
    return list != NULL;
}

int shard_write(const char *path, const struct cli_options *options, const char *command,
                const struct cli_job *scenarios, int count, const struct cli_job *jobs, int parts)
{
    cJSON *object = cJSON_CreateObject();
    bool filled = object && fill(object, options, command, scenarios, count, jobs, parts);
    char *text = filled ? cJSON_Print(object) : NULL;
    int result = -1;
    if (text) {
        result = file_replace(path, text, strlen(text));
    } else {
        errno = ENOMEM;
    }
    cJSON_free(text);
    cJSON_Delete(object);
    return result;
}

/* ---- reading ---- */

static int wrong(const struct shard_file *file, const char *expected, const char *found,
                 struct input_error *error)
{
    return input_complain_words(error, file->name, 1, 1, found, expected);
}

static int wrong_field(const struct shard_file *file, const char *name, struct input_error *error)
{
    char expected[96];
    snprintf(expected, sizeof expected, "a shard whose '%s' has a value that makes sense", name);
    return wrong(file, expected, "another", error);
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool number_of(const cJSON *object, const char *name, double min, double max, double *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    LS_ASSERT(min <= max);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= min && item->valuedouble <= max)) {
        return false;
    }
    *out = item->valuedouble;
    return (double)(int64_t)item->valuedouble == item->valuedouble;
}

static bool int_of(const cJSON *object, const char *name, int min, int max, int *out)
{
    double value;
    bool found = number_of(object, name, min, max, &value);
    *out = found ? (int)value : min;
    LS_ASSERT(*out >= min && *out <= max);
    return found;
}

static bool count_of(const cJSON *object, const char *name, uint64_t *out)
{
    const char *text = text_of(object, name);
    double number = 0;
    char *end = NULL;
    bool found =
        text ? text[0] >= '0' && text[0] <= '9' : number_of(object, name, 0, WHOLE_NUMBERS_MAX, &number);
    errno = 0;
    *out = found && text ? strtoull(text, &end, 10) : (uint64_t)number;
    return found && errno == 0 && (!end || !*end);
}

static bool read_field(const cJSON *object, const struct field *field, char *at)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field->name);
    switch (field->type) {
    case FIELD_COUNT: {
        uint64_t value;
        bool found = count_of(object, field->name, &value);
        memcpy(at, &value, sizeof value);
        return found;
    }
    case FIELD_INT: {
        int value;
        bool found = int_of(object, field->name, -1, INT32_MAX, &value);
        memcpy(at, &value, sizeof value);
        return found;
    }
    case FIELD_BOOL:
        *(bool *)at = cJSON_IsTrue(item);
        return cJSON_IsBool(item);
    case FIELD_DOUBLE:
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0)) {
            return false;
        }
        memcpy(at, &item->valuedouble, sizeof item->valuedouble);
        return true;
    case FIELD_TEXT:
        break;
    }
    LS_ASSERT(field->type == FIELD_TEXT && field->size > 0);
    const char *text = cJSON_GetStringValue(item);
    if (!text || strlen(text) >= field->size) {
        return false;
    }
    memcpy(at, text, strlen(text) + 1);
    return true;
}

/* Returns the name of the first invalid field, or NULL. */
static const char *read_fields(const cJSON *object, const struct field *field, int count, void *to)
{
    for (int i = 0; i < count; i++) {
        if (!read_field(object, &field[i], (char *)to + field[i].offset)) {
            return field[i].name;
        }
    }
    return NULL;
}

static const char *read_findings(const cJSON *object, struct outcome *outcome)
{
    const cJSON *findings = cJSON_GetObjectItemCaseSensitive(object, "findings"), *item;
    if (!cJSON_IsObject(findings)) {
        return "findings";
    }
    cJSON_ArrayForEach(item, findings)
    {
        int position = check_position(item->string);
        const char *name =
            position < 0 ? "findings" : read_fields(item, FIELDS(FINDING), &outcome->stats.finding[position]);
        if (name) {
            return name;
        }
        LS_ASSERT(position < CHECK_PROPERTIES_MAX);
        outcome->mask |= CHECK_BIT(position);
        const struct check_finding *finding = &outcome->stats.finding[position];
        outcome->stats.violated |= (check_mask)(finding->violated && !finding->later && !finding->elsewhere)
                                   << position;
    }
    return NULL;
}

static const char *read_tried(const cJSON *list, struct tried *tried)
{
    uint32_t number[3 + WORLD_PROCESSES_MAX];
    int count = (int)(sizeof number / sizeof number[0]);
    for (int i = 0; i < count; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= UINT32_MAX)) {
            return "tried";
        }
        number[i] = (uint32_t)item->valuedouble;
    }
    *tried = (struct tried){.faults = number[0], .ended = number[1], .container = number[2] != 0};
    memcpy(tried->step, number + 3, sizeof tried->step);
    return NULL;
}

static int find_verdict(const char *name)
{
    for (int i = 0; name && i <= VERDICT_ERROR; i++) {
        if (strcmp(name, verdict_name((enum verdict)i)) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *read_outcome(const cJSON *object, struct outcome *outcome)
{
    const char *schedule = text_of(object, "schedule");
    int found_verdict = find_verdict(text_of(object, "verdict"));
    int found_schedule = schedule ? schedule_find(schedule) : -1;
    if (found_verdict < 0 || found_schedule < 0) {
        return found_verdict < 0 ? "verdict" : "schedule";
    }
    const char *name = read_fields(object, FIELDS(OUTCOME), outcome);
    name = name || outcome_keep_diff_inside(outcome) ? name : "diff_at";
    name = name ? name
                : read_fields(cJSON_GetObjectItemCaseSensitive(object, "search"), FIELDS(SEARCH),
                              &outcome->search);
    name = name ? name : read_findings(object, outcome);
    name = name ? name : read_tried(cJSON_GetObjectItemCaseSensitive(object, "tried"), &outcome->tried);
    outcome->verdict = (enum verdict)found_verdict;
    outcome->schedule = (enum schedule)found_schedule;
    outcome->done = true;
    return name;
}

static int find_part(const struct cli_part *wanted, const struct parts_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct cli_part *part = &list->part[i];
        if (part->kind == wanted->kind && part->scenario == wanted->scenario && part->set == wanted->set &&
            part->faults == wanted->faults && part->shard == wanted->shard) {
            return i;
        }
    }
    return -1;
}

int shard_part(const struct shard_file *file, int index, const struct parts_list *list,
               struct outcome *outcome, double *seconds, struct input_error *error)
{
    const cJSON *object = cJSON_GetArrayItem(file->parts, index);
    const cJSON *elapsed = cJSON_GetObjectItemCaseSensitive(object, "seconds");
    const char *kind = text_of(object, "part");
    struct cli_part part = {.shard = file->shard};
    int at = -1;
    for (int i = 0; kind && i < KIND_COUNT; i++) {
        part.kind = strcmp(kind, KINDS[i]) == 0 ? (enum cli_part_kind)i : part.kind;
    }
    if (int_of(object, "scenario", 0, INT32_MAX, &part.scenario) &&
        int_of(object, "set", 0, INT32_MAX, &part.set) &&
        int_of(object, "faults", 0, INT32_MAX, &part.faults)) {
        at = find_part(&part, list);
    }
    LS_ASSERT(index >= 0 && at < list->count);
    if (at < 0) {
        return wrong(file, "only parts that this shard is to do", "another", error);
    }
    const char *name = read_outcome(object, outcome);
    name = name ? name : cJSON_IsNumber(elapsed) && elapsed->valuedouble >= 0 ? NULL : "seconds";
    *seconds = name ? 0 : elapsed->valuedouble;
    return name ? wrong_field(file, name, error) : at;
}

/* Complains of the position from which on the text is no JSON. */
static int complain_of_text(const struct input *input, const char *end, struct input_error *error)
{
    const char *start = input->text;
    int line = 1, column = 1;
    end = end < start || end > start + input->size ? start : end;
    for (const char *at = start; at < end; at++) {
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    return end == start + input->size
               ? input_complain_words(error, input->name, line, column, "the end of the file",
                                      "the rest of a shard in JSON")
               : input_complain(error, input->name, line, column, end, strcspn(end, "\n"),
                                "a shard in JSON, as --shard writes it");
}

static int read_texts(const cJSON *list, const char *const *names, int count)
{
    const cJSON *item;
    if (!cJSON_IsArray(list)) {
        return -1;
    }
    cJSON_ArrayForEach(item, list)
    {
        for (int i = 0; i < count; i++) {
            if (!text_of(item, names[i])) {
                return -1;
            }
        }
        if (count == 0 && !cJSON_IsString(item)) {
            return -1;
        }
    }
    return 0;
}

static int read_version(const struct shard_file *file, struct input_error *error)
{
    const char *version = text_of(file->json, "version");
    char found[96];
    int format;
    if (!int_of(file->json, "lockstep-shard", SHARD_FORMAT, SHARD_FORMAT, &format)) {
        return wrong(file, "a shard in the format 1, as --shard writes it", "none", error);
    }
    if (!version || strcmp(version, LOCKSTEP_VERSION) != 0) {
        snprintf(found, sizeof found, "one of %.40s", version ? version : "no version");
        return wrong(file, "a shard of lockstep " LOCKSTEP_VERSION, found, error);
    }
    return 0;
}

static int read_head(struct shard_file *file, struct input_error *error)
{
    static const char *const SCENARIO[] = {"name", "text"};
    const cJSON *json = file->json;
    if (read_version(file, error) != 0) {
        return -1;
    }
    file->command = text_of(json, "command");
    file->options = cJSON_GetObjectItemCaseSensitive(json, "options");
    file->scenarios = cJSON_GetObjectItemCaseSensitive(json, "scenarios");
    file->parts = cJSON_GetObjectItemCaseSensitive(json, "parts");
    if (!file->command || (strcmp(file->command, "run") != 0 && strcmp(file->command, "check") != 0)) {
        return wrong_field(file, "command", error);
    }
    if (!int_of(json, "shards", 1, CLI_SHARDS_MAX, &file->shards) ||
        !int_of(json, "shard", 1, file->shards, &file->shard)) {
        return wrong_field(file, "shard", error);
    }
    if (read_texts(file->options, NULL, 0) != 0 || cJSON_GetArraySize(file->options) >= CLI_OPTIONS_MAX) {
        return wrong_field(file, "options", error);
    }
    if (read_texts(file->scenarios, SCENARIO, 2) != 0 || cJSON_GetArraySize(file->scenarios) == 0) {
        return wrong_field(file, "scenarios", error);
    }
    return cJSON_IsArray(file->parts) ? 0 : wrong_field(file, "parts", error);
}

int shard_read(struct shard_file *file, const char *path, struct input_error *error)
{
    struct input input;
    const char *end = NULL;
    *file = (struct shard_file){0};
    if (input_load(&input, path, SHARD_BYTES_MAX, error) != 0) {
        return -1;
    }
    memcpy(file->name, input.name, sizeof file->name);
    file->json = cJSON_ParseWithLengthOpts(input.text, input.size + 1, &end, true);
    int result = file->json ? read_head(file, error) : complain_of_text(&input, end, error);
    input_close(&input);
    if (result != 0) {
        shard_close(file);
    }
    return result;
}

void shard_close(struct shard_file *file)
{
    cJSON_Delete(file->json);
    file->json = NULL;
}
