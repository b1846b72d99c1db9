/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "trace/real_line.h"

#include "base/array.h"
#include "base/assert.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL_KIND_WORD(name, word) word,
static const char *const WORDS[] = {REAL_KIND_LIST(REAL_KIND_WORD)};
#undef REAL_KIND_WORD

_Static_assert(sizeof WORDS / sizeof *WORDS == REAL_KINDS, "a word for each kind");

const char *real_kind_word(enum real_kind kind)
{
    LS_ASSERT(kind < REAL_KINDS);
    return WORDS[kind];
}

int real_line_write(const struct real_line *line, char text[REAL_LINE_SIZE_MAX])
{
    int size =
        snprintf(text, REAL_LINE_SIZE_MAX, "%lld %s worker=%d.%d id=%llx basis=%llx value=%lld token=%lld\n",
                 (long long)line->time_ns, real_kind_word(line->kind), line->slot, line->incarnation,
                 (unsigned long long)line->id, (unsigned long long)line->basis, (long long)line->value,
                 (long long)line->token);
    LS_ASSERT(size > 0 && size < REAL_LINE_SIZE_MAX);
    return size;
}

/* ---- reading a line ---- */

struct reader {
    const char *at, *end;
    const char *expected; /* NULL = all was read so far */
};

static void expect(struct reader *reader, const char *expected)
{
    reader->expected = reader->expected == NULL ? expected : reader->expected;
}

static void skip(struct reader *reader, const char *text)
{
    size_t size = strlen(text);
    if (reader->expected == NULL && (size_t)(reader->end - reader->at) >= size &&
        memcmp(reader->at, text, size) == 0) {
        reader->at += size;
    } else {
        expect(reader, text);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads digits up to `most`. */
static uint64_t read_digits(struct reader *reader, unsigned base, uint64_t most, const char *expected)
{
    uint64_t number = 0;
    const char *first = reader->at;
    LS_ASSERT(base == 10 || base == 16);
    for (; reader->expected == NULL && reader->at < reader->end; reader->at++) {
        unsigned next = (unsigned)digit(*reader->at);
        if (next >= base) {
            break;
        }
        if (number > (most - next) / base) {
            expect(reader, expected);
            return 0;
        }
        number = number * base + next;
    }
    if (reader->at == first) {
        expect(reader, expected);
    }
    return number;
}

static int64_t read_number(struct reader *reader)
{
    bool minus = reader->expected == NULL && reader->at < reader->end && *reader->at == '-';
    reader->at += minus;
    int64_t number = (int64_t)read_digits(reader, 10, INT64_MAX, "a number");
    return minus ? -number : number;
}

static enum real_kind read_kind(struct reader *reader)
{
    size_t size = 0, left = (size_t)(reader->end - reader->at);
    while (size < left && reader->at[size] != ' ') {
        size++;
    }
    for (int i = 0; i < REAL_KINDS; i++) {
        if (strlen(WORDS[i]) == size && memcmp(reader->at, WORDS[i], size) == 0) {
            reader->at += reader->expected == NULL ? size : 0;
            return (enum real_kind)i;
        }
    }
    expect(reader,
           "enter, writes, wrote, refused, doubted, leave, started, stopped, goes-on, killed or ended");
    return REAL_KINDS;
}

const char *real_line_read(struct real_line *line, const char *text, size_t size, const char **expected)
{
    struct reader reader = {.at = text, .end = text + size};
    line->time_ns = (int64_t)read_digits(&reader, 10, INT64_MAX, "a number");
    skip(&reader, " ");
    line->kind = read_kind(&reader);
    skip(&reader, " worker=");
    line->slot = (int)read_digits(&reader, 10, REAL_WORKERS_MAX - 1, "the number of a worker, 0 to 63");
    skip(&reader, ".");
    line->incarnation = (int)read_digits(&reader, 10, INT_MAX, "the number of a process");
    skip(&reader, " id=");
    line->id = read_digits(&reader, 16, UINT64_MAX, "a hexadecimal number");
    skip(&reader, " basis=");
    line->basis = read_digits(&reader, 16, UINT64_MAX, "a hexadecimal number");
    skip(&reader, " value=");
    line->value = read_number(&reader);
    skip(&reader, " token=");
    line->token = read_number(&reader);
    if (reader.at < reader.end) {
        expect(&reader, "the end of the line");
    }
    LS_ASSERT(reader.at >= text && reader.at <= text + size);
    *expected = reader.expected;
    return reader.expected != NULL ? reader.at : NULL;
}

/* ---- reading a file ---- */

int real_line_begins(const struct input *input)
{
    struct real_line line;
    const char *expected;
    return real_line_read(&line, input->text, strcspn(input->text, "\r\n"), &expected) == NULL;
}

int real_lines_read(struct real_line **lines, const struct input *input, struct input_error *error)
{
    struct input_cursor cursor;
    const char *expected, *wrong = NULL;
    size_t count = 0, max = 0;
    *lines = NULL;
    input_cursor_init(&cursor, input);
    while (input_next_line(&cursor)) {
        if (!array_room(lines, count, &max, sizeof **lines, 1024)) {
            free(*lines);
            return input_complain_words(error, input->name, cursor.number, 1, "'out of memory'", "memory");
        }
        wrong = real_line_read(&(*lines)[count], cursor.line, cursor.size, &expected);
        if (wrong != NULL) {
            free(*lines);
            size_t at = (size_t)(wrong - cursor.line);
            return input_complain(error, input->name, cursor.number, (int)at + 1,
                                  at < cursor.size ? wrong : NULL, cursor.size - at, "%s", expected);
        }
        count++;
    }
    LS_ASSERT(count <= INT_MAX);
    return (int)count;
}
