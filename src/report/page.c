/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The page of a run: one HTML file with the run as JSON in it. The objects of the head, the steps and the end
 * have the fields of docs/cli.md, with these differences:
 * - The head has `again` too.
 * - A step has `changes` and `size` in place of `state`, and lacks fields that are empty texts or lists.
 * - `choices` and `path` are indices into the array `labels`. */
#include "report/page.h"
#include "report/report.h"
#include "report/steps.h"

#include "base/assert.h"
#include "base/hash.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* The parts of the page as bytes that end with a zero, made from src/report/page by cmake/embed.cmake. */
extern const char report_page_html[], report_page_css[], report_model_js[], report_page_js[];

/* Labels of choices, lines of states and paths of events, each once. The page has their indices instead. */
struct labels {
    cJSON *list;
    const char **label; /* borrowed from the list's items; open addressing by hash, NULL = free */
    int *index;
    uint32_t room; /* a power of two */
    int count;
};

struct page {
    const char *again; /* the line to paste */
    cJSON *run;        /* "head", "labels", "steps", "end" */
    cJSON *list;       /* the array "steps" */
    cJSON *state;      /* lines of the last step's state; NULL = none */
    struct labels labels;
    bool failed; /* memory was short */
};

/* ---- labels ---- */

static uint32_t place_of(const struct labels *labels, const char *label)
{
    uint32_t place = (uint32_t)hash_bytes(label, strlen(label), 0) & (labels->room - 1);
    while (labels->label[place] != NULL && strcmp(labels->label[place], label) != 0) {
        place = (place + 1) & (labels->room - 1);
    }
    return place;
}

static bool labels_grow(struct labels *labels)
{
    struct labels bigger = *labels;
    LS_ASSERT((labels->room & (labels->room - 1)) == 0);
    bigger.room = labels->room > 0 ? labels->room * 2 : 1024;
    bigger.label = calloc(bigger.room, sizeof *bigger.label);
    bigger.index = calloc(bigger.room, sizeof *bigger.index);
    if (!bigger.label || !bigger.index) {
        free(bigger.label);
        free(bigger.index);
        return false;
    }
    for (uint32_t i = 0; i < labels->room; i++) {
        if (labels->label[i] != NULL) {
            uint32_t place = place_of(&bigger, labels->label[i]);
            bigger.label[place] = labels->label[i];
            bigger.index[place] = labels->index[i];
        }
    }
    free(labels->label);
    free(labels->index);
    *labels = bigger;
    return true;
}

/* Returns the index of a label, -1 if memory is short. */
static int label_index(struct labels *labels, const char *text)
{
    if ((uint32_t)labels->count * 2 >= labels->room && !labels_grow(labels)) {
        return -1;
    }
    uint32_t place = place_of(labels, text);
    if (labels->label[place] == NULL) {
        cJSON *item = cJSON_CreateString(text);
        if (!item || !cJSON_AddItemToArray(labels->list, item)) {
            cJSON_Delete(item);
            return -1;
        }
        labels->label[place] = item->valuestring;
        labels->index[place] = labels->count++;
    }
    LS_ASSERT(labels->index[place] < labels->count);
    return labels->index[place];
}

/* Replaces the labels of a step's choices by their indices. */
static bool intern_choices(struct page *page, cJSON *step)
{
    cJSON *choices = cJSON_DetachItemFromObject(step, "choices"), *choice;
    cJSON *indices = cJSON_AddArrayToObject(step, "choices");
    bool added = indices != NULL;
    cJSON_ArrayForEach(choice, choices)
    {
        int index = added ? label_index(&page->labels, choice->valuestring) : -1;
        cJSON *number = index >= 0 ? cJSON_CreateNumber(index) : NULL;
        added = number != NULL && cJSON_AddItemToArray(indices, number);
    }
    cJSON_Delete(choices);
    return added;
}

/* Replaces the paths of a step's events by their indices among the labels. */
static bool intern_paths(struct page *page, cJSON *step)
{
    cJSON *event;
    bool added = true;
    cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(step, "events"))
    {
        cJSON *path = added ? cJSON_GetObjectItemCaseSensitive(event, "path") : NULL;
        if (path != NULL) {
            int index = label_index(&page->labels, path->valuestring);
            cJSON *number = index >= 0 ? cJSON_CreateNumber(index) : NULL;
            added = number != NULL && cJSON_ReplaceItemInObjectCaseSensitive(event, "path", number);
        }
    }
    return added;
}

/* Removes fields that are empty texts or lists. The page puts them back. */
static void drop_empty(cJSON *step)
{
    cJSON *next;
    for (cJSON *field = step->child; field != NULL; field = next) {
        bool is_empty = cJSON_IsString(field) ? field->valuestring[0] == 0
                                              : cJSON_IsArray(field) && cJSON_GetArraySize(field) == 0;
        next = field->next;
        if (is_empty) {
            cJSON_Delete(cJSON_DetachItemViaPointer(step, field));
        }
    }
}

/* ---- states ---- */

static bool add_change(struct page *page, cJSON *changes, int index, const char *line)
{
    int label = label_index(&page->labels, line);
    cJSON *pair = label >= 0 ? cJSON_CreateArray() : NULL;
    return pair && cJSON_AddItemToArray(changes, pair) &&
           cJSON_AddItemToArray(pair, cJSON_CreateNumber(index)) &&
           cJSON_AddItemToArray(pair, cJSON_CreateNumber(label));
}

/* Replaces the lines of a step's state by `changes` and `size`. A change is a line that differs from the line
 * with the same index in the state before: [index, index of the line among the labels]. The size is the
 * number of all lines. */
static bool keep_changes(struct page *page, cJSON *step)
{
    cJSON *state = cJSON_DetachItemFromObject(step, "state"), *line;
    cJSON *changes = cJSON_AddArrayToObject(step, "changes");
    const cJSON *before = page->state != NULL ? page->state->child : NULL;
    bool added = changes != NULL;
    int index = 0;
    cJSON_ArrayForEach(line, state)
    {
        if (added && (before == NULL || strcmp(before->valuestring, line->valuestring) != 0)) {
            added = add_change(page, changes, index, line->valuestring);
        }
        before = before != NULL ? before->next : NULL;
        index++;
    }
    cJSON_Delete(page->state);
    page->state = state;
    return added && cJSON_AddNumberToObject(step, "size", index) != NULL;
}

/* ---- the run ---- */

struct page *page_open(const char *again)
{
    struct page *page = calloc(1, sizeof *page);
    if (page != NULL) {
        page->again = again;
        page->run = cJSON_CreateObject();
        page->failed = page->run == NULL;
    }
    return page;
}

void page_close(struct page *page)
{
    cJSON_Delete(page->run);
    cJSON_Delete(page->state);
    free(page->labels.label);
    free(page->labels.index);
    free(page);
}

/* Takes an object into the run, or deletes it. */
static bool take(struct page *page, const char *name, cJSON *object)
{
    if (!page->failed && object != NULL && cJSON_AddItemToObject(page->run, name, object)) {
        return true;
    }
    cJSON_Delete(object);
    return false;
}

void page_head(struct page *page, cJSON *head)
{
    LS_ASSERT(page->list == NULL);
    bool added = take(page, "head", head) && cJSON_AddStringToObject(head, "again", page->again) != NULL;
    page->labels.list = added ? cJSON_AddArrayToObject(page->run, "labels") : NULL;
    page->list = added ? cJSON_AddArrayToObject(page->run, "steps") : NULL;
    page->failed |= !page->labels.list || !page->list;
}

/* Appends in constant time, because cJSON keeps a pointer to the last item of a list in the first. */
void page_step(struct page *page, cJSON *step)
{
    LS_ASSERT(page->failed || page->list != NULL);
    bool added = !page->failed && step != NULL && intern_choices(page, step) && intern_paths(page, step) &&
                 keep_changes(page, step);
    if (added) {
        drop_empty(step);
        added = cJSON_AddItemToArray(page->list, step);
    }
    if (!added) {
        cJSON_Delete(step);
    }
    page->failed |= !added;
}

void page_end(struct page *page, cJSON *end)
{
    LS_ASSERT(page->failed || page->list != NULL);
    page->failed |= !take(page, "end", end);
}

/* ---- the file ---- */

/* Writes JSON within an element `script`: no "<" may stand in it. */
static void write_json(FILE *out, const char *text)
{
    for (const char *at = text; *at != 0; at++) {
        if (*at == '<') {
            fputs("\\u003c", out);
        } else {
            fputc(*at, out);
        }
    }
}

/* Writes the part of this name: "run", or a file. */
static void write_part(FILE *out, const char *name, size_t size, const char *json)
{
    static const struct {
        const char *name, *text;
    } FILES[] = {{"page.css", report_page_css}, {"model.js", report_model_js}, {"page.js", report_page_js}};
    if (size == strlen("run") && memcmp(name, "run", size) == 0) {
        write_json(out, json);
        return;
    }
    size_t i = 0;
    while (strlen(FILES[i].name) != size || memcmp(name, FILES[i].name, size) != 0) {
        i++;
        LS_ASSERT(i < sizeof FILES / sizeof FILES[0]);
    }
    fputs(FILES[i].text, out);
}

/* Writes the page: page.html, with the other parts in place of "@name@". */
static void fill_page(FILE *out, const char *json)
{
    const char *text = report_page_html;
    for (const char *mark; (mark = strchr(text, '@')) != NULL;) {
        const char *end = strchr(mark + 1, '@');
        LS_ASSERT(end != NULL);
        fwrite(text, 1, (size_t)(mark - text), out);
        write_part(out, mark + 1, (size_t)(end - mark - 1), json);
        text = end + 1;
    }
    fputs(text, out);
}

void page_cause(struct page *page, const char *text, cJSON *behind)
{
    LS_ASSERT(page->failed || (page->list != NULL && behind != NULL));
    page->failed = page->failed || cJSON_AddStringToObject(page->run, "cause", text) == NULL ||
                   !cJSON_AddItemReferenceToObject(page->run, "behind", behind);
}

bool page_write(struct page *page, FILE *out)
{
    char *json = page->failed ? NULL : cJSON_PrintUnformatted(page->run);
    if (json != NULL) {
        fill_page(out, json);
    }
    free(json);
    return json != NULL;
}

/* ---- the page of a replay ---- */

struct drawing {
    struct steps steps;
    struct page *page;
};

static void draw_head(void *ctx, const struct trace *trace, struct run *run)
{
    struct drawing *drawing = ctx;
    page_head(drawing->page, steps_head(&drawing->steps, trace, run));
}

static void draw_choice(void *ctx, const struct replay_step *step)
{
    steps_choice(&((struct drawing *)ctx)->steps, step);
}

static void draw_step(void *ctx, const struct replay_step *step)
{
    struct drawing *drawing = ctx;
    page_step(drawing->page, drawing->page->failed ? NULL : steps_step(&drawing->steps, step));
}

static void draw_end(void *ctx)
{
    struct drawing *drawing = ctx;
    page_end(drawing->page, steps_end(&drawing->steps));
}

static enum replay_result no_memory(const struct trace *trace, struct input_error *error)
{
    input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
    return REPLAY_UNFIT;
}

enum replay_result report_page(FILE *out, const struct trace *trace, const char *again,
                               const struct report_cause *cause, struct input_error *error)
{
    struct drawing drawing = {.page = page_open(again)};
    struct replay_listener listener = {&drawing, draw_head, draw_choice, draw_step, draw_end};
    if (drawing.page == NULL) {
        return no_memory(trace, error);
    }
    enum replay_result result = replay_run(trace, &listener, error);
    if (result != REPLAY_UNFIT && cause != NULL) {
        page_cause(drawing.page, cause->text, cause->behind);
    }
    if (result != REPLAY_UNFIT && !page_write(drawing.page, out)) {
        result = no_memory(trace, error);
    }
    page_close(drawing.page);
    steps_close(&drawing.steps);
    return result;
}
