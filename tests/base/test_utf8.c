/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Text for a terminal: no control character and no stray byte gets through, and all other text does. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Expects the same text from both functions, and the size of the part that needs no change. */
static void expect_plain(const char *text, const char *expected, size_t plain)
{
    char *put, changed[64];
    size_t size;
    FILE *out = open_memstream(&put, &size);
    assert_int_equal(utf8_plain(text, strlen(text)), plain);
    utf8_put_plain(out, text, strlen(text));
    fclose(out);
    assert_string_equal(put, expected);
    free(put);
    snprintf(changed, sizeof changed, "%s", text);
    utf8_make_plain(changed);
    assert_string_equal(changed, expected);
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    expect_plain("", "", 0);
    expect_plain("deliver a\nb", "deliver a\nb", 11);
    expect_plain("a\x1b[31mb", "a?[31mb", 1);
    expect_plain("\r\t\x01\x7f", "????", 0);
    expect_plain("a\xc2\x9bz", "a?z", 1);                                            /* C1 */
    expect_plain("\xc2\xa0\xc3\xa9\xe2\x82\xac", "\xc2\xa0\xc3\xa9\xe2\x82\xac", 7); /* no controls */
}

static void stray_bytes_are_replaced(void **state)
{
    (void)state;
    expect_plain("\x9b"
                 "2J",
                 "?2J", 0);
    expect_plain("\xc3", "?", 0);           /* cut off */
    expect_plain("a\xc0\xaf", "a??", 1);    /* overlong */
    expect_plain("\xed\xa0\x80", "???", 0); /* a surrogate */
    expect_plain("\xf4\x90\x80\x80", "????", 0);
    expect_plain("\xf0\x9f\x94\x92", "\xf0\x9f\x94\x92", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(stray_bytes_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
