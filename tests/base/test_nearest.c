/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a mistyped word may have been. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *find(const char *word)
{
    static const char *const NAMES[] = {"acquire", "release", "cancel", "try", "no_orphan_node"};
    static struct nearest nearest;
    nearest_begin(&nearest, word, strlen(word));
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        nearest_look_at(&nearest, NAMES[i]);
    }
    return nearest_text(&nearest);
}

static void one_mistake_is_seen_through(void **state)
{
    (void)state;
    assert_string_equal(find("acquire"), "; did you mean 'acquire'?");
    assert_string_equal(find("aquire"), "; did you mean 'acquire'?");
    assert_string_equal(find("accquire"), "; did you mean 'acquire'?");
    assert_string_equal(find("releese"), "; did you mean 'release'?");
    assert_string_equal(find("cancle"), "; did you mean 'cancel'?");
    assert_string_equal(find("no_orpahn_nod"), "; did you mean 'no_orphan_node'?");
    assert_string_equal(find("tyr"), "; did you mean 'try'?");
}

static void what_is_far_from_all_is_near_nothing(void **state)
{
    (void)state;
    char word[300];
    assert_string_equal(find("to"), "");
    assert_string_equal(find("cut"), "");
    assert_string_equal(find("settle"), "");
    assert_string_equal(find(""), "");
    memset(word, 'a', sizeof word);
    word[sizeof word - 1] = 0;
    assert_string_equal(find(word), "");
}

static void a_word_needs_no_end(void **state)
{
    (void)state;
    struct nearest nearest;
    nearest_begin(&nearest, "cancelled", 6);
    nearest_look_at(&nearest, "cancel");
    assert_int_equal(nearest.distance, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mistake_is_seen_through),
        cmocka_unit_test(what_is_far_from_all_is_near_nothing),
        cmocka_unit_test(a_word_needs_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
