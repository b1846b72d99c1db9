/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/explain.h"

#include "base/assert.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCOPES[] = {[EXPLAIN_NOTHING] = "nothing",
                                     [EXPLAIN_SCENARIO] = "scenario",
                                     [EXPLAIN_SCRIPT] = "script",
                                     [EXPLAIN_PREFIX] = "continuations"};
static const char *const ANSWERS[] = {
    [FUTURES_NONE] = "none", [FUTURES_SOME] = "some", [FUTURES_UNDECIDED] = "undecided"};
static const char *const MATTERS[] = {[EXPLAIN_MATTERS] = "yes",
                                      [EXPLAIN_MATTERS_HERE] = "in-this-run",
                                      [EXPLAIN_MATTERS_NOT] = "no",
                                      [EXPLAIN_MATTERS_UNKNOWN] = "undecided"};
static const char *const CAUSES[] = {[EXPLAIN_NO_FAULT] = "no-fault",
                                     [EXPLAIN_NONE_NEEDED] = "no-fault-needed",
                                     [EXPLAIN_SOME] = "faults",
                                     [EXPLAIN_ANY] = "any-fault",
                                     [EXPLAIN_UNKNOWN] = "undecided"};
static const char *const MOMENTS[] = {[EXPLAIN_MOMENT_STEP] = "step",
                                      [EXPLAIN_MOMENT_NEVER] = "never",
                                      [EXPLAIN_MOMENT_OPEN] = "open",
                                      [EXPLAIN_MOMENT_UNKNOWN] = "undecided"};

static void add_check(cJSON *object, const char *name, const struct explain_check *check)
{
    if (check->scope == EXPLAIN_NOTHING) {
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(object, name);
    cJSON_AddStringToObject(to, "searched", SCOPES[check->scope]);
    if (check->scope == EXPLAIN_PREFIX) {
        cJSON_AddNumberToObject(to, "behind", (double)check->behind);
    }
    if (check->without > 0) {
        cJSON_AddNumberToObject(to, "without", (double)check->without);
    }
    cJSON_AddStringToObject(to, "faults", check->faults);
    cJSON_AddNumberToObject(to, "states", (double)check->states);
    cJSON_AddBoolToObject(to, "exhausted", check->answer == FUTURES_NONE);
    cJSON_AddStringToObject(to, "result", ANSWERS[check->answer]);
    if (check->until_ms > 0) {
        cJSON_AddNumberToObject(to, "until_ms", (double)check->until_ms);
    }
    if (check->answer == FUTURES_UNDECIDED && check->limit != NULL) {
        cJSON_AddStringToObject(to, "limit", check->limit);
    }
}

static void add_fault(cJSON *list, const struct explain_fault *fault)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "step", (double)fault->step);
    cJSON_AddStringToObject(object, "choice", fault->label);
    cJSON_AddStringToObject(object, "kind", fault->verb);
    if (fault->name[0] != 0) {
        cJSON_AddStringToObject(object, "process", fault->name);
    }
    cJSON_AddStringToObject(object, "mattered", MATTERS[fault->matter]);
    add_check(object, "all", &fault->whole);
    add_check(object, "here", &fault->here);
    add_check(object, "postponed", &fault->later);
    cJSON_AddItemToArray(list, object);
}

static void add_last(cJSON *object, const struct explain_last *last)
{
    cJSON *to = cJSON_AddObjectToObject(object, "last_moment");
    cJSON_AddStringToObject(to, "is", MOMENTS[last->is]);
    if (last->is != EXPLAIN_MOMENT_NEVER) {
        cJSON_AddNumberToObject(to, "step", (double)last->step);
        cJSON_AddStringToObject(to, "choice", last->label);
    }
    if (last->is == EXPLAIN_MOMENT_STEP || last->is == EXPLAIN_MOMENT_OPEN) {
        cJSON_AddStringToObject(to, "instead", last->instead);
        cJSON_AddNumberToObject(to, "steps", (double)last->steps);
    }
    add_check(to, "check", &last->check);
}

static void add_stale(cJSON *object, const struct explanation *e)
{
    LS_ASSERT(e->stale >= 0 && e->stale <= EXPLAIN_STALE_MAX);
    cJSON *list = cJSON_AddArrayToObject(object, "stale");
    for (int i = 0; i < e->stale; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "since", (double)e->stale_since[i]);
        cJSON_AddStringToObject(one, "text", e->stale_text[i]);
        cJSON_AddItemToArray(list, one);
    }
}

static void fill(cJSON *object, const struct explanation *e)
{
    LS_ASSERT(e->faults >= 0 && e->faults <= EXPLAIN_FAULTS_MAX);
    cJSON_AddNumberToObject(object, "format", 1);
    cJSON_AddStringToObject(object, "property", e->property->name);
    cJSON_AddStringToObject(object, "why", e->why);
    cJSON_AddNumberToObject(object, "step", (double)e->step);
    cJSON_AddNumberToObject(object, "steps", (double)e->steps);
    cJSON_AddBoolToObject(object, "shrunk", e->shrunk);
    cJSON_AddStringToObject(object, "cause", CAUSES[e->cause]);
    add_check(object, "without_faults", &e->none);
    cJSON *list = cJSON_AddArrayToObject(object, "faults");
    for (int i = 0; i < e->faults; i++) {
        add_fault(list, &e->fault[i]);
    }
    add_last(object, &e->last);
    add_stale(object, e);
}

int explain_write_json(FILE *out, const struct explanation *e)
{
    cJSON *object = cJSON_CreateObject();
    char *line = NULL;
    if (object != NULL) {
        fill(object, e);
        line = cJSON_PrintUnformatted(object);
    }
    if (line != NULL) {
        fprintf(out, "%s\n", line);
    }
    cJSON_Delete(object);
    free(line);
    return line != NULL ? 0 : -1;
}
