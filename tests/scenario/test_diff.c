/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Differences in the unified form. */
#include "scenario/text_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct outcome outcome;

static const char *difference(const char *old, const char *found)
{
    outcome.text[0] = 0;
    diff_say(&outcome, old, found);
    return outcome.text;
}

static void equal_texts_have_none(void **state)
{
    (void)state;
    assert_string_equal(difference("a\nb\n", "a\nb\n"), "");
    assert_string_equal(difference("", ""), "");
}

static void shows_changes_with_context(void **state)
{
    (void)state;
    assert_string_equal(difference("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
                        "--- expected\n+++ found\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    assert_string_equal(difference("", "a\n"), "--- expected\n+++ found\n@@ -1,0 +1,1 @@\n+a\n");
    assert_string_equal(difference("a\nb\n", "b\n"), "--- expected\n+++ found\n@@ -1,2 +1,1 @@\n-a\n b\n");
}

static void far_changes_get_hunks_of_their_own(void **state)
{
    (void)state;
    assert_string_equal(
        difference("a\n1\n2\n3\n4\n5\n6\n7\n8\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\n8\nB\n"),
        "--- expected\n+++ found\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n"
        "-b\n+B\n");
}

static void finds_the_longest_common_part(void **state)
{
    (void)state;
    assert_string_equal(difference("a\nb\nc\nd\n", "x\nb\nd\ny\n"),
                        "--- expected\n+++ found\n@@ -1,4 +1,4 @@\n-a\n+x\n b\n-c\n d\n+y\n");
}

static void large_differences_are_only_told(void **state)
{
    (void)state;
    char *old = calloc(1, 20000), *found = calloc(1, 20000);
    for (size_t i = 0; i < 3100; i++) {
        strcat(old + i * 2, "a\n");
        strcat(found + i * 2, "b\n");
    }
    assert_string_equal(difference(old, found), "  expected and found differ in more than 3000 lines\n");
    free(old);
    free(found);
}

static void long_texts_are_cut_with_a_mark(void **state)
{
    (void)state;
    outcome.text[0] = 0;
    for (int i = 0; i < 10000; i++) {
        outcome_say(&outcome, "%d this is a line of some length\n", i);
    }
    size_t size = strlen(outcome.text);
    assert_true(size < OUTCOME_TEXT_MAX);
    assert_string_equal(outcome.text + size - 4, "...\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_none),
        cmocka_unit_test(shows_changes_with_context),
        cmocka_unit_test(far_changes_get_hunks_of_their_own),
        cmocka_unit_test(finds_the_longest_common_part),
        cmocka_unit_test(large_differences_are_only_told),
        cmocka_unit_test(long_texts_are_cut_with_a_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
