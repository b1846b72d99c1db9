/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "trace/file.h"

#include "base/assert.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Scenario lines begin with a bar, so that none can look like another part of the trace. */
static void write_text(FILE *file, const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        fprintf(file, length > 0 ? "| %.*s\n" : "|%.*s\n", (int)length, text + at);
        at += length + 1;
    }
    LS_ASSERT(at == size || at == size + 1);
}

static int count_lines(const char *text, size_t size)
{
    int lines = 0;
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n' || i + 1 == size;
    }
    return lines;
}

/* Writes a name to the end of its line. Characters that a line of a trace cannot have become '?'. */
static void write_name(FILE *file, const char *name)
{
    size_t size = strcspn(name, "\n");
    utf8_put_plain(file, name, size);
    while (name[size] != 0) {
        fputc('?', file);
        name += size + 1;
        size = strcspn(name, "\n");
        utf8_put_plain(file, name, size);
    }
    fputc('\n', file);
}

static const char *const SEEDS[] = {"", " given", " swept"};

int trace_write(FILE *file, const struct trace *trace)
{
    LS_ASSERT(trace->seeded >= 0 && (size_t)trace->seeded < sizeof SEEDS / sizeof SEEDS[0]);
    fprintf(file, "lockstep-trace %d\n", TRACE_FORMAT);
    fprintf(file, "tool %s\n", trace->tool);
    fprintf(file, "recipe %s\n", trace->recipe);
    fprintf(file, "schedule %s\n", trace->schedule);
    fprintf(file, "seed %llu%s%s%s\n", (unsigned long long)trace->seed, SEEDS[trace->seeded],
            trace->without[0] != 0 ? " without=" : "", trace->without);
    fprintf(file, "found %s\n", trace->found);
    for (int i = 0; i < trace->properties; i++) {
        LS_ASSERT(trace->properties <= TRACE_PROPERTIES_MAX);
        fprintf(file, "property %s %s\n", trace->property[i].name, trace->property[i].path);
    }
    fprintf(file, "scenario %d ", count_lines(trace->text, trace->text_size));
    write_name(file, trace->name);
    write_text(file, trace->text, trace->text_size);
    fprintf(file, "choices %d\n", trace->choices);
    for (int i = 0; i < trace->choices; i++) {
        if (trace->choice[i].index >= 0) {
            fprintf(file, "%d %s\n", trace->choice[i].index, trace->choice[i].label);
        } else {
            fprintf(file, "- %s\n", trace->choice[i].label);
        }
    }
    fprintf(file, "end %d\n", trace->choices);
    return ferror(file) ? -1 : 0;
}

struct reader {
    struct trace *trace;
    struct input_cursor cursor;
    struct input_error *error;
};

static int ended(struct reader *r, const char *expected)
{
    return input_complain_words(r->error, r->trace->input.name, r->cursor.number + 1, 1,
                                "the end of the file", expected);
}

static int wrong(struct reader *r, const struct input_word *word, const char *expected)
{
    return input_complain(r->error, r->trace->input.name, word->line, word->column, word->text, word->size,
                          "%s", expected);
}

/* Reads a line that begins with `key`, up to the end of `key`. */
static int read_key(struct reader *r, const char *key)
{
    char expected[80];
    snprintf(expected, sizeof expected, "'%s'", key);
    if (!input_next_line(&r->cursor)) {
        return ended(r, expected);
    }
    struct input_word word = input_next_word(&r->cursor);
    return input_word_is(&word, key) ? 0 : wrong(r, &word, expected);
}

static int read_number(struct reader *r, const char *expected, uint64_t max, uint64_t *out)
{
    struct input_word word = input_next_word(&r->cursor);
    char digits[24], *end;
    if (!word.text || word.size >= sizeof digits || word.text[0] < '0' || word.text[0] > '9') {
        return wrong(r, &word, expected);
    }
    memcpy(digits, word.text, word.size);
    digits[word.size] = 0;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, 10);
    if (*end || errno || value > max) {
        return wrong(r, &word, expected);
    }
    *out = value;
    return 0;
}

static int line_has_ended(struct reader *r)
{
    struct input_word word = input_rest_of_line(&r->cursor);
    return word.text ? wrong(r, &word, "the end of the line") : 0;
}

static int copy_word(struct reader *r, const char *expected, char *out, size_t size)
{
    struct input_word word = input_next_word(&r->cursor);
    if (!word.text || word.size >= size) {
        return wrong(r, &word, expected);
    }
    memcpy(out, word.text, word.size);
    out[word.size] = 0;
    return 0;
}

static int read_word(struct reader *r, const char *key, const char *expected, char *out, size_t size)
{
    return read_key(r, key) == 0 && copy_word(r, expected, out, size) == 0 ? line_has_ended(r) : -1;
}

/* Returns the rest of the line, NULL if it is empty. Terminates it in place: the text belongs to the trace,
 * and the end of the line is not read again. */
static const char *keep_rest(struct reader *r)
{
    struct input_word rest = input_rest_of_line(&r->cursor);
    if (!rest.text) {
        return NULL;
    }
    char *text = r->trace->input.text + (rest.text - r->trace->input.text);
    LS_ASSERT((size_t)(text - r->trace->input.text) + rest.size <= r->trace->input.size);
    text[rest.size] = 0;
    return text;
}

static int read_format(struct reader *r)
{
    char expected[48];
    snprintf(expected, sizeof expected, "'lockstep-trace %d'", TRACE_FORMAT);
    if (!input_next_line(&r->cursor)) {
        return ended(r, expected);
    }
    struct input_word line = input_rest_of_line(&r->cursor);
    expected[strlen(expected) - 1] = 0;
    LS_ASSERT(expected[0] == '\'');
    if (!input_word_is(&line, expected + 1)) {
        expected[strlen(expected)] = '\'';
        return wrong(r, &line, expected);
    }
    return 0;
}

static bool take_without(struct trace *trace, const struct input_word *word)
{
    static const char KEY[] = "without=";
    size_t size = word->size - (sizeof KEY - 1);
    if (word->size < sizeof KEY || memcmp(word->text, KEY, sizeof KEY - 1) != 0 || size >= TRACE_WORD_MAX) {
        return false;
    }
    memcpy(trace->without, word->text + sizeof KEY - 1, size);
    LS_ASSERT(trace->without[size] == 0);
    return true;
}

static int read_head(struct reader *r)
{
    struct trace *trace = r->trace;
    if (read_format(r) != 0 || read_word(r, "tool", "a version", trace->tool, sizeof trace->tool) != 0 ||
        read_word(r, "recipe", "a recipe", trace->recipe, sizeof trace->recipe) != 0 ||
        read_word(r, "schedule", "a schedule", trace->schedule, sizeof trace->schedule) != 0) {
        return -1;
    }
    if (read_key(r, "seed") != 0 || read_number(r, "a number", UINT64_MAX, &trace->seed) != 0) {
        return -1;
    }
    struct input_word word = input_next_word(&r->cursor);
    if (input_word_is(&word, "given") || input_word_is(&word, "swept")) {
        trace->seeded = input_word_is(&word, "given") ? TRACE_SEED_GIVEN : TRACE_SEED_SWEPT;
        word = input_next_word(&r->cursor);
    }
    if (word.text && !take_without(trace, &word)) {
        return wrong(r, &word, "'given', 'swept', 'without=LETTERS' or the end of the line");
    }
    if (line_has_ended(r) != 0 || read_key(r, "found") != 0) {
        return -1;
    }
    trace->found = keep_rest(r);
    struct input_word none = {.line = r->cursor.number, .column = (int)r->cursor.size + 1};
    return trace->found ? 0 : wrong(r, &none, "what was found");
}

static int read_properties(struct reader *r)
{
    struct trace *trace = r->trace;
    for (;;) {
        struct input_cursor before = r->cursor;
        struct input_word word = {0};
        if (input_next_line(&r->cursor)) {
            word = input_next_word(&r->cursor);
        }
        if (!word.text || !input_word_is(&word, "property")) {
            r->cursor = before;
            return 0;
        }
        if (trace->properties == TRACE_PROPERTIES_MAX) {
            return wrong(r, &word, "at most 4 properties");
        }
        struct trace_property *property = &trace->property[trace->properties++];
        if (copy_word(r, "the name of a property", property->name, sizeof property->name) != 0 ||
            copy_word(r, "the path of a shared object", property->path, sizeof property->path) != 0 ||
            line_has_ended(r) != 0) {
            return -1;
        }
    }
}

/* Reads the scenario. Without the bars it gets shorter, so it is copied to the front of its own lines. */
static int read_scenario(struct reader *r)
{
    struct trace *trace = r->trace;
    uint64_t lines = 0;
    if (read_key(r, "scenario") != 0 || read_number(r, "a number of lines", INT32_MAX, &lines) != 0) {
        return -1;
    }
    trace->name = keep_rest(r);
    if (!trace->name) {
        struct input_word none = {.line = r->cursor.number, .column = (int)r->cursor.size + 1};
        return wrong(r, &none, "the scenario's name");
    }
    char *out = trace->input.text + r->cursor.next, *start = out;
    trace->text_line = r->cursor.number + 1;
    for (uint64_t i = 0; i < lines; i++) {
        if (!input_next_line(&r->cursor)) {
            return ended(r, "a line of the scenario");
        }
        if (r->cursor.size == 0 || r->cursor.line[0] != '|') {
            struct input_word line = input_rest_of_line(&r->cursor);
            return wrong(r, &line, "'|' and a line of the scenario");
        }
        size_t skip = r->cursor.size > 1 ? 2 : 1;
        LS_ASSERT(skip <= r->cursor.size);
        memmove(out, r->cursor.line + skip, r->cursor.size - skip);
        out += r->cursor.size - skip;
        LS_ASSERT(out < r->trace->input.text + r->cursor.next);
        *out++ = '\n';
    }
    if (lines > 0) {
        *out = 0; /* the bars have made room for the zero */
    }
    trace->text = start;
    trace->text_size = (size_t)(out - start);
    return 0;
}

static int read_choice(struct reader *r, struct trace_choice *choice)
{
    if (!input_next_line(&r->cursor)) {
        return ended(r, "a choice");
    }
    struct input_cursor before = r->cursor;
    struct input_word word = input_next_word(&r->cursor);
    choice->index = -1;
    if (!input_word_is(&word, "-")) {
        uint64_t index = 0;
        r->cursor = before;
        if (read_number(r, "a position among the enabled actions or '-'", INT32_MAX, &index) != 0) {
            return -1;
        }
        choice->index = (int)index;
    }
    choice->label = keep_rest(r);
    struct input_word none = {.line = r->cursor.number, .column = (int)r->cursor.size + 1};
    return choice->label ? 0 : wrong(r, &none, "a label");
}

static int read_choices(struct reader *r)
{
    struct trace *trace = r->trace;
    uint64_t count = 0, again = 0;
    if (read_key(r, "choices") != 0 ||
        read_number(r, "a number of choices", TRACE_BYTES_MAX / 4, &count) != 0 || line_has_ended(r) != 0) {
        return -1;
    }
    trace->first_choice_line = r->cursor.number + 1;
    /* The room is for as many choices as a file of this size can have, whatever `count` is. */
    trace->choice = calloc(trace->input.size / 4 + 1, sizeof *trace->choice);
    if (!trace->choice) {
        return input_complain_words(r->error, trace->input.name, r->cursor.number, 1, "'out of memory'",
                                    "memory");
    }
    for (uint64_t i = 0; i < count; i++) {
        if ((size_t)i > trace->input.size / 4) {
            return ended(r, "a choice");
        }
        if (read_choice(r, &trace->choice[i]) != 0) {
            return -1;
        }
        trace->choices++;
        LS_ASSERT((size_t)trace->choices <= trace->input.size / 4 + 1);
    }
    if (read_key(r, "end") != 0 || read_number(r, "the number of choices", UINT64_MAX, &again) != 0) {
        return -1;
    }
    if (again != count) {
        char expected[48], found[32];
        snprintf(expected, sizeof expected, "the number of choices, %d", trace->choices);
        snprintf(found, sizeof found, "'%llu'", (unsigned long long)again);
        return input_complain_words(r->error, trace->input.name, r->cursor.number, 5, found, expected);
    }
    if (line_has_ended(r) != 0) {
        return -1;
    }
    if (input_next_line(&r->cursor)) {
        struct input_word line = input_rest_of_line(&r->cursor);
        return wrong(r, &line, "the end of the file");
    }
    return 0;
}

/* Complains if the last line has no end: the file may have been cut off. */
static int check_last_line(const struct trace *trace, struct input_error *error)
{
    const struct input *input = &trace->input;
    if (input->text[input->size - 1] == '\n') {
        return 0;
    }
    int line = 1, column = 1;
    for (size_t i = 0; i < input->size; i++) {
        column = input->text[i] == '\n' ? 1 : column + 1;
        line += input->text[i] == '\n';
    }
    return input_complain_words(error, input->name, line, column, "the end of the file",
                                "the end of the line");
}

static int parse(struct trace *trace, struct input_error *error)
{
    struct reader reader = {.trace = trace, .error = error};
    input_cursor_init(&reader.cursor, &trace->input);
    int result = read_head(&reader);
    if (result == 0) {
        result = read_properties(&reader);
    }
    if (result == 0) {
        result = read_scenario(&reader);
    }
    if (result == 0) {
        result = read_choices(&reader);
    }
    if (result != 0) {
        trace_close(trace);
    }
    return result;
}

int trace_read(struct trace *trace, const char *path, struct input_error *error)
{
    struct input input;
    memset(trace, 0, sizeof *trace);
    return input_load(&input, path, TRACE_BYTES_MAX, error) == 0 ? trace_read_loaded(trace, &input, error)
                                                                 : -1;
}

int trace_read_loaded(struct trace *trace, const struct input *input, struct input_error *error)
{
    LS_ASSERT(input->text != NULL && input->size > 0);
    *trace = (struct trace){.input = *input};
    if (check_last_line(trace, error) != 0) {
        /* a mistake of format is reported rather than the missing end of the last line */
        struct input_error first = *error;
        if (parse(trace, error) == 0) {
            trace_close(trace);
            *error = first;
        }
        return -1;
    }
    return parse(trace, error);
}

int trace_read_bytes(struct trace *trace, const char *name, const char *bytes, size_t size,
                     struct input_error *error)
{
    memset(trace, 0, sizeof *trace);
    if (input_copy(&trace->input, name, bytes, size, TRACE_BYTES_MAX, error) != 0) {
        return -1;
    }
    return parse(trace, error);
}

void trace_close(struct trace *trace)
{
    free(trace->choice);
    input_close(&trace->input);
    memset(trace, 0, sizeof *trace);
}
