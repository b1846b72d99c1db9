/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "trace/text_input.h"

#include "base/assert.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOUND_MAX 60 /* most bytes of a wrong word that are shown */

static void quote(char *out, size_t size, const char *found, size_t found_size)
{
    size_t shown = found_size < FOUND_MAX ? found_size : FOUND_MAX;
    while (shown > 0 && shown < found_size && ((unsigned char)found[shown] & 0xc0) == 0x80) {
        shown--;
    }
    char text[FOUND_MAX + 1];
    for (size_t i = 0; i < shown; i++) {
        text[i] = (unsigned char)found[i] < 0x20 || found[i] == 0x7f ? '?' : found[i];
    }
    text[shown] = 0;
    LS_ASSERT(shown <= found_size && shown <= FOUND_MAX);
    snprintf(out, size, "'%s%s'", text, shown < found_size ? "..." : "");
}

static int complain(struct input_error *error, const char *name, int line, int column, const char *expected,
                    const char *found)
{
    snprintf(error->text, sizeof error->text, "%.200s:%d:%d: expected %.600s, found %s", name, line, column,
             expected, found);
    return -1;
}

int input_complain(struct input_error *error, const char *name, int line, int column, const char *found,
                   size_t found_size, const char *expected, ...)
{
    char wanted[700], quoted[FOUND_MAX + 8] = "the end of the line";
    va_list arguments;
    va_start(arguments, expected);
    vsnprintf(wanted, sizeof wanted, expected, arguments);
    va_end(arguments);
    if (found) {
        quote(quoted, sizeof quoted, found, found_size);
    }
    return complain(error, name, line, column, wanted, quoted);
}

int input_complain_words(struct input_error *error, const char *name, int line, int column, const char *found,
                         const char *expected)
{
    return complain(error, name, line, column, expected, found);
}

static int check_text(const struct input *input, struct input_error *error)
{
    const unsigned char *text = (const unsigned char *)input->text;
    int line = 1;
    size_t line_start = 0;
    if (input->size == 0) {
        return input_complain_words(error, input->name, 1, 1, "an empty file", "text");
    }
    for (size_t i = 0; i < input->size;) {
        size_t length = text[i] == 0 ? 0 : utf8_length(input->text + i, input->size - i);
        LS_ASSERT(line_start <= i);
        if (length == 0) {
            char found[32];
            snprintf(found, sizeof found, "the byte 0x%02x", text[i]);
            return input_complain_words(error, input->name, line, (int)(i - line_start) + 1, found,
                                        "UTF-8 text");
        }
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
        i += length;
    }
    return 0;
}

static int too_large(const struct input *input, size_t bytes_max, struct input_error *error)
{
    char expected[64], found[64];
    snprintf(expected, sizeof expected, "at most %zu bytes", bytes_max);
    snprintf(found, sizeof found, "more than that");
    return input_complain_words(error, input->name, 1, 1, found, expected);
}

static int read_all(struct input *input, FILE *file, size_t bytes_max, struct input_error *error)
{
    size_t capacity = 4096;
    input->text = malloc(capacity + 1);
    while (input->text) {
        input->size += fread(input->text + input->size, 1, capacity - input->size, file);
        LS_ASSERT(input->size <= capacity);
        if (input->size < capacity) {
            break;
        }
        if (input->size > bytes_max) {
            return too_large(input, bytes_max, error);
        }
        capacity *= 2;
        char *larger = realloc(input->text, capacity + 1);
        if (!larger) {
            free(input->text);
            input->text = NULL;
            break;
        }
        input->text = larger;
    }
    if (!input->text || ferror(file)) {
        char found[160];
        snprintf(found, sizeof found, "'%s'", strerror(errno));
        return input_complain_words(error, input->name, 1, 1, found, "a readable file");
    }
    input->text[input->size] = 0;
    return input->size > bytes_max ? too_large(input, bytes_max, error) : check_text(input, error);
}

static void set_name(struct input *input, const char *name)
{
    memset(input, 0, sizeof *input);
    snprintf(input->name, sizeof input->name, "%s", name);
}

int input_load(struct input *input, const char *path, size_t bytes_max, struct input_error *error)
{
    struct stat status;
    int from_stdin = strcmp(path, "-") == 0;
    set_name(input, from_stdin ? INPUT_STANDARD : path);
    FILE *file = from_stdin ? stdin : fopen(path, "rb");
    if (!file || (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode))) {
        char found[160];
        snprintf(found, sizeof found, "'%s'", file ? strerror(EISDIR) : strerror(errno));
        if (file && !from_stdin) {
            fclose(file);
        }
        return input_complain_words(error, input->name, 1, 1, found, "a readable file");
    }
    int result = read_all(input, file, bytes_max, error);
    if (!from_stdin) {
        fclose(file);
    }
    if (result != 0) {
        input_close(input);
    }
    return result;
}

int input_copy(struct input *input, const char *name, const char *bytes, size_t size, size_t bytes_max,
               struct input_error *error)
{
    set_name(input, name);
    if (size > bytes_max) {
        return too_large(input, bytes_max, error);
    }
    input->text = malloc(size + 1);
    if (!input->text) {
        return input_complain_words(error, input->name, 1, 1, "'out of memory'", "memory");
    }
    memcpy(input->text, bytes, size);
    input->text[size] = 0;
    input->size = size;
    if (check_text(input, error) != 0) {
        input_close(input);
        return -1;
    }
    return 0;
}

void input_close(struct input *input)
{
    free(input->text);
    input->text = NULL;
    input->size = 0;
}

/* ---- lines and words ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void input_cursor_init(struct input_cursor *cursor, const struct input *input)
{
    memset(cursor, 0, sizeof *cursor);
    cursor->input = input;
    cursor->line = input->text;
    cursor->number = input->lines_before;
}

int input_next_line(struct input_cursor *cursor)
{
    if (cursor->next >= cursor->input->size) {
        return 0;
    }
    const char *start = cursor->input->text + cursor->next;
    LS_ASSERT(cursor->line == NULL || cursor->line <= start);
    const char *end = memchr(start, '\n', cursor->input->size - cursor->next);
    size_t size = end ? (size_t)(end - start) : cursor->input->size - cursor->next;
    cursor->next += size + 1;
    while (size > 0 && is_blank(start[size - 1])) {
        size--;
    }
    cursor->line = start;
    cursor->size = size;
    cursor->at = 0;
    cursor->number++;
    LS_ASSERT(cursor->line + cursor->size <= cursor->input->text + cursor->input->size);
    return 1;
}

static void skip_blanks(struct input_cursor *cursor)
{
    LS_ASSERT(cursor->at <= cursor->size);
    while (cursor->at < cursor->size && is_blank(cursor->line[cursor->at])) {
        cursor->at++;
    }
}

static int column_of(const struct input_cursor *cursor)
{
    return (int)cursor->at + 1 + cursor->input->columns_before;
}

static struct input_word take(struct input_cursor *cursor, size_t size)
{
    LS_ASSERT(cursor->at + size <= cursor->size);
    struct input_word word = {.line = cursor->number, .column = column_of(cursor)};
    if (size > 0) {
        word.text = cursor->line + cursor->at;
        word.size = size;
        cursor->at += size;
    }
    return word;
}

struct input_word input_next_word(struct input_cursor *cursor)
{
    skip_blanks(cursor);
    if (cursor->at < cursor->size && cursor->line[cursor->at] == '#') {
        struct input_word none = {.line = cursor->number, .column = column_of(cursor)};
        cursor->at = cursor->size;
        return none;
    }
    size_t size = 0;
    while (cursor->at + size < cursor->size && !is_blank(cursor->line[cursor->at + size])) {
        size++;
    }
    return take(cursor, size);
}

struct input_word input_rest_of_line(struct input_cursor *cursor)
{
    skip_blanks(cursor);
    return take(cursor, cursor->size - cursor->at);
}

int input_word_is(const struct input_word *word, const char *text)
{
    return word->text && strlen(text) == word->size && memcmp(word->text, text, word->size) == 0;
}
