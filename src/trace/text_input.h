/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text from outside. It is loaded whole and checked. All complaints have the form FILE:LINE:COLUMN:
 * expected X, found Y. */
#ifndef TRACE_TEXT_INPUT_H
#define TRACE_TEXT_INPUT_H

#include <stddef.h>

#define INPUT_NAME_MAX 512
#define INPUT_STANDARD "(standard input)" /* its name in complaints and reports */
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
    char name[INPUT_NAME_MAX]; /* as given by the user */
    char *text;                /* owned, ends with a 0 that is not part of the size */
    size_t size;
    int lines_before;   /* for complaints: the number of lines of the file before the text */
    int columns_before; /* for complaints: the number of columns before each of its lines */
};

/* Reads a file of at most `bytes_max` bytes, or standard input if `path` is "-". It must exist, not be
 * empty, and hold UTF-8 without a NUL. Returns 0; or -1 with the mistake in *error and nothing to close. */
int input_load(struct input *input, const char *path, size_t bytes_max, struct input_error *error);

/* Does the same from memory; copies the bytes. */
int input_copy(struct input *input, const char *name, const char *bytes, size_t size, size_t bytes_max,
               struct input_error *error);

void input_close(struct input *input);

/* Writes one line. `found` is shown in quotes as bytes, which need no terminator. Control characters are
 * shown as '?', and long texts are cut. NULL stands for the end of the line. Returns -1 for the caller to
 * return. */
int input_complain(struct input_error *error, const char *name, int line, int column, const char *found,
                   size_t found_size, const char *expected, ...) __attribute__((format(printf, 7, 8)));

/* Does the same with `found` in words. */
int input_complain_words(struct input_error *error, const char *name, int line, int column, const char *found,
                         const char *expected);

/* ---- a line at a time, a word at a time ---- */

struct input_cursor {
    const struct input *input;
    size_t next;      /* offset of the next line */
    const char *line; /* the present line, without its end and trailing blanks */
    size_t size;      /* bytes of that line */
    int number;       /* number of that line; 0 before the first */
    size_t at;        /* offset in the line of the next byte to read */
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

/* Returns the rest of the line after blanks. */
struct input_word input_rest_of_line(struct input_cursor *cursor);

/* Returns whether the word is exactly this text. */
int input_word_is(const struct input_word *word, const char *text);

#endif
