/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text from outside, loaded whole and checked. All complaints have the form FILE:LINE:COLUMN: expected X,
 * found Y. */
#ifndef TRACE_TEXT_INPUT_H
#define TRACE_TEXT_INPUT_H

#include <stddef.h>

#define INPUT_NAME_MAX 512
#define INPUT_STANDARD "(standard input)"
#define INPUT_ERROR_MAX 1024

#define INPUT_MISTAKES_MAX 10

struct input_error {
    char text[INPUT_ERROR_MAX]; /* one line, without its end */
};

/* The mistakes of one file: the first `count` are set, one line each. Zero-initialise. */
struct input_mistakes {
    struct input_error mistake[INPUT_MISTAKES_MAX];
    int count;
};

/* A loaded file. Lines and columns count from 1, columns in bytes. */
struct input {
    char name[INPUT_NAME_MAX];
    char *text; /* owned, ends with a 0 that is not part of the size */
    size_t size;
    int lines_before;   /* for complaints: lines of the file before the text */
    int columns_before; /* for complaints: columns before each of its lines */
};

/* Reads a file of at most `bytes_max` bytes, or standard input if `path` is "-". It must not be empty, and
 * must be UTF-8 without a NUL. Returns 0; or -1 with the mistake in *error and nothing to close. */
int input_load(struct input *input, const char *path, size_t bytes_max, struct input_error *error);

/* Does the same with a copy of these bytes. */
int input_copy(struct input *input, const char *name, const char *bytes, size_t size, size_t bytes_max,
               struct input_error *error);

void input_close(struct input *input);

/* Writes a complaint. `found` has `found_size` bytes, and needs no terminator. It is shown in quotes, with
 * '?' for each C0 character and DEL; a long text is cut. If `found` is NULL, the complaint says that the line
 * has ended. Returns -1 for the caller to return. */
int input_complain(struct input_error *error, const char *name, int line, int column, const char *found,
                   size_t found_size, const char *expected, ...) __attribute__((format(printf, 7, 8)));

/* Does the same with `found` in words. */
int input_complain_words(struct input_error *error, const char *name, int line, int column, const char *found,
                         const char *expected);

struct input_cursor {
    const struct input *input;
    size_t next;      /* offset of the next line */
    const char *line; /* the present line, without its end and trailing blanks */
    size_t size;
    int number; /* number of the line; 0 before the first */
    size_t at;  /* offset in the line of the next byte to read */
};

struct input_word {
    const char *text; /* not terminated; NULL if the line has ended */
    size_t size;
    int line, column;
};

void input_cursor_init(struct input_cursor *cursor, const struct input *input);

/* Moves on to the next line. Returns 1, or 0 at the end of the text. */
int input_next_line(struct input_cursor *cursor);

/* Returns the next word of the line, separated by blanks. A `#` at the start of a word ends the line. */
struct input_word input_next_word(struct input_cursor *cursor);

struct input_word input_rest_of_line(struct input_cursor *cursor);

int input_word_is(const struct input_word *word, const char *text);

#endif
