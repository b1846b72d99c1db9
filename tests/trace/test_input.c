/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text from outside is checked, cut into words, and complained about with its place. */
#include "trace/text_input.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT 1000

static bool no_memory; /* realloc() fails */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
    if (no_memory) {
        errno = ENOMEM;
        return NULL;
    }
    return __real_realloc(memory, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void expect_refused(const char *bytes, size_t size, const char *complaint)
{
    struct input input;
    struct input_error error;
    assert_int_equal(input_copy(&input, "x", bytes, size, LIMIT, &error), -1);
    assert_string_equal(error.text, complaint);
    assert_null(input.text);
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    static char large[LIMIT + 1];
    memset(large, 'a', sizeof large);
    expect_refused("", 0, "x:1:1: expected text, found an empty file");
    expect_refused("ab\nc\0d", 6, "x:2:2: expected UTF-8 text, found the byte 0x00");
    expect_refused("\xc0\xaf", 2, "x:1:1: expected UTF-8 text, found the byte 0xc0");
    expect_refused("a\xed\xa0\x80", 4, "x:1:2: expected UTF-8 text, found the byte 0xed");
    expect_refused("a\xe2\x82", 3, "x:1:2: expected UTF-8 text, found the byte 0xe2");
    expect_refused("\xf4\x90\x80\x80", 4, "x:1:1: expected UTF-8 text, found the byte 0xf4");
    expect_refused("\xff", 1, "x:1:1: expected UTF-8 text, found the byte 0xff");
    expect_refused(large, sizeof large, "x:1:1: expected at most 1000 bytes, found more than that");
}

static void takes_utf8(void **state)
{
    (void)state;
    struct input input;
    struct input_error error;
    static const char text[] = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x94\x92\n";
    assert_int_equal(input_copy(&input, "x", text, sizeof text - 1, LIMIT, &error), 0);
    assert_int_equal(input.size, sizeof text - 1);
    assert_string_equal(input.text, text);
    input_close(&input);
    assert_null(input.text);
}

static void reads_lines_and_words(void **state)
{
    (void)state;
    struct input input;
    struct input_error error;
    struct input_cursor cursor;
    static const char text[] = "  one\ttwo # three\r\n\nfour#five   ";
    assert_int_equal(input_copy(&input, "x", text, sizeof text - 1, LIMIT, &error), 0);
    input_cursor_init(&cursor, &input);

    assert_true(input_next_line(&cursor));
    struct input_word word = input_next_word(&cursor);
    assert_true(input_word_is(&word, "one"));
    assert_false(input_word_is(&word, "on"));
    assert_false(input_word_is(&word, "onee"));
    assert_int_equal(word.column, 3);
    word = input_next_word(&cursor);
    assert_true(input_word_is(&word, "two"));
    assert_int_equal(word.column, 7);
    word = input_next_word(&cursor);
    assert_null(word.text);
    assert_int_equal(word.column, 11);

    assert_true(input_next_line(&cursor));
    assert_int_equal(cursor.size, 0);
    assert_true(input_next_line(&cursor));
    assert_int_equal(cursor.number, 3);
    word = input_rest_of_line(&cursor);
    assert_true(input_word_is(&word, "four#five"));
    assert_false(input_next_line(&cursor));
    input_close(&input);
}

static void counts_from_where_it_lies(void **state)
{
    (void)state;
    struct input input;
    struct input_error error;
    struct input_cursor cursor;
    assert_int_equal(input_copy(&input, "x", "word", 4, LIMIT, &error), 0);
    input.lines_before = 10;
    input.columns_before = 2;
    input_cursor_init(&cursor, &input);
    assert_true(input_next_line(&cursor));
    struct input_word word = input_next_word(&cursor);
    assert_int_equal(word.line, 11);
    assert_int_equal(word.column, 3);
    input_close(&input);
}

static void quotes_what_was_found(void **state)
{
    (void)state;
    struct input_error error;
    char longer[200];
    memset(longer, 'z', sizeof longer);
    assert_int_equal(input_complain(&error, "f", 3, 7, "a\x01\n b", 5, "a %s", "thing"), -1);
    assert_string_equal(error.text, "f:3:7: expected a thing, found 'a?? b'");
    input_complain(&error, "f", 1, 1, NULL, 0, "more");
    assert_string_equal(error.text, "f:1:1: expected more, found the end of the line");
    input_complain(&error, "f", 1, 1, longer, sizeof longer, "less");
    assert_true(strlen(error.text) < 120);
    assert_non_null(strstr(error.text, "...'"));
    /* A character of two bytes at the cut is left out whole. */
    longer[59] = '\xc3';
    longer[60] = '\xbc';
    input_complain(&error, "f", 1, 1, longer, sizeof longer, "less");
    assert_non_null(strstr(error.text, "zz...'"));
}

static void reads_files(void **state)
{
    (void)state;
    struct input input;
    struct input_error error;
    char path[] = "/tmp/lockstep-input-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 900; i++) {
        assert_int_equal(write(fd, "0123456789", 10), 10);
    }
    close(fd);
    assert_int_equal(input_load(&input, path, 9000, &error), 0);
    assert_int_equal(input.size, 9000);
    input_close(&input);
    assert_int_equal(input_load(&input, path, 8999, &error), -1);
    assert_non_null(strstr(error.text, ":1:1: expected at most 8999 bytes, found more than that"));
    unlink(path);
    assert_int_equal(input_load(&input, path, 9000, &error), -1);
    assert_non_null(strstr(error.text, ":1:1: expected a readable file, found 'No such file or directory'"));
    assert_int_equal(input_load(&input, "/", 9000, &error), -1);
    assert_string_equal(error.text, "/:1:1: expected a readable file, found 'Is a directory'");
}

/* A file for which memory is too short is not read in part. */
static void takes_no_part_of_a_file(void **state)
{
    (void)state;
    struct input input;
    struct input_error error;
    char path[] = "/tmp/lockstep-input-XXXXXX", bytes[10000];
    int file = mkstemp(path);
    memset(bytes, '\n', sizeof bytes);
    assert_int_equal(write(file, bytes, sizeof bytes), sizeof bytes);
    close(file);
    no_memory = true;
    int rc = input_load(&input, path, sizeof bytes, &error);
    no_memory = false;
    unlink(path);
    assert_int_equal(rc, -1);
    assert_non_null(strstr(error.text, "expected a readable file, found 'Cannot allocate memory'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_no_part_of_a_file),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(takes_utf8),
        cmocka_unit_test(reads_lines_and_words),
        cmocka_unit_test(counts_from_where_it_lies),
        cmocka_unit_test(quotes_what_was_found),
        cmocka_unit_test(reads_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
