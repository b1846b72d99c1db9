/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Scenarios may name each step that the fake can describe, and nothing else. */
#include "coordzk/internal.h"
#include "fakezk/enabled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void requests_and_replies_are_words(void **state)
{
    (void)state;
    for (int op = 0; op < OP_KINDS; op++) {
        char word[64];
        snprintf(word, sizeof word, "%s", fakezk_op_name(op));
        assert_true(texts_label_word(word));
        snprintf(word, sizeof word, "%s-reply", fakezk_op_name(op));
        assert_true(texts_label_word(word));
        snprintf(word, sizeof word, "%s-reply/2", fakezk_op_name(op));
        assert_true(texts_label_word(word));
        snprintf(word, sizeof word, "%sx", fakezk_op_name(op));
        assert_false(texts_label_word(word));
    }
}

static void events_are_words(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"session-expired", "deleted(node", "changed", "child", "close"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        assert_true(texts_label_word(WORDS[i]));
    }
    assert_false(texts_label_word("creat-reply"));
    assert_false(texts_label_word("-reply"));
    assert_false(texts_label_word(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_replies_are_words),
        cmocka_unit_test(events_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
