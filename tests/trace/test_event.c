/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Event names are stable and distinct. */
#include "trace/event_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_are_distinct(void **state)
{
    (void)state;
    for (int i = 0; i < EVENT_KINDS; i++) {
        const char *name = event_name((enum event_kind)i);
        assert_non_null(name);
        assert_true(strlen(name) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(name, event_name((enum event_kind)j));
        }
    }
}

static void names_are_stable(void **state)
{
    (void)state;
    assert_string_equal(event_name(EVENT_ASKED), "asked");
    assert_string_equal(event_name(EVENT_GRANTED), "granted");
    assert_string_equal(event_name(EVENT_NODE_CREATED), "node-created");
    assert_string_equal(event_name(EVENT_REST), "rest");
    assert_string_equal(event_name(EVENT_KINDS), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_distinct),
        cmocka_unit_test(names_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
