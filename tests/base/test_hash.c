/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Hashes of texts: each byte counts, and so does the size; the place in memory does not. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SIZE_MAX_TRIED 80

static void each_byte_of_a_text_counts(void **state)
{
    char text[SIZE_MAX_TRIED];
    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t size = 1; size <= sizeof text; size++) {
        uint64_t hash = hash_text(text, size, 1);
        for (size_t i = 0; i < size; i++) {
            text[i] = 'y';
            assert_true(hash_text(text, size, 1) != hash);
            text[i] = 'x';
        }
        assert_true(hash_text(text, size, 1) == hash);
        assert_true(hash_text(text, size, 2) != hash);
    }
}

static void sizes_make_a_difference(void **state)
{
    static const char zeros[SIZE_MAX_TRIED];
    (void)state;
    for (size_t size = 0; size < sizeof zeros; size++) {
        assert_true(hash_text(zeros, size, 1) != hash_text(zeros, size + 1, 1));
    }
}

static void the_place_makes_none(void **state)
{
    char room[SIZE_MAX_TRIED + 8];
    static const char text[] = "a text of 36 letters, like an id 0001";
    (void)state;
    for (size_t at = 0; at < 8; at++) {
        memcpy(room + at, text, sizeof text);
        assert_true(hash_text(room + at, sizeof text, 7) == hash_text(text, sizeof text, 7));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_of_a_text_counts),
        cmocka_unit_test(sizes_make_a_difference),
        cmocka_unit_test(the_place_makes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
