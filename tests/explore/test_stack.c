/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The stack of a search, packed into bytes: entries are unpacked as they were, and other bytes are
 * refused. */
#include "explore/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ENTRIES 1000

static struct action action_of(int number)
{
    return (struct action){.kind = (uint8_t)number,
                           .process = (uint8_t)(number >> 3),
                           .a = 7,
                           .b = (uint8_t)~number,
                           .c = -number,
                           .d = number * 100000};
}

static enum stack_mark mark_of(int number)
{
    static const enum stack_mark MARKS[] = {STACK_PATH, STACK_WAITS, STACK_UNSEEN};
    return MARKS[number % 3];
}

static void test_entries_come_back(void **state)
{
    (void)state;
    struct stack stack = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ENTRIES; i++) {
            struct action action = action_of(i);
            assert_true(stack_add(&stack, &action, mark_of(i)));
        }
        assert_int_equal(stack_entries(&stack), ENTRIES);
        for (int i = 0; i < ENTRIES; i++) {
            struct action action, wanted = action_of(i);
            enum stack_mark mark;
            assert_true(stack_entry(&stack, (size_t)i, &action, &mark));
            assert_memory_equal(&action, &wanted, sizeof action);
            assert_int_equal(mark, mark_of(i));
        }
        stack_clear(&stack);
    }
    stack_free(&stack);
}

static void test_other_bytes_are_no_entries(void **state)
{
    (void)state;
    struct stack stack = {0};
    struct action action = action_of(1);
    enum stack_mark mark;
    assert_false(stack_entry(&stack, 0, &action, &mark));
    assert_true(stack_add(&stack, &action, STACK_WAITS));
    assert_false(stack_entry(&stack, 1, &action, &mark));
    assert_false(stack_entry(&stack, SIZE_MAX, &action, &mark));
    stack.bytes[stack.size - 1] = 'x';
    assert_false(stack_entry(&stack, 0, &action, &mark));
    stack.size--;
    assert_int_equal(stack_entries(&stack), 0);
    assert_false(stack_entry(&stack, 0, &action, &mark));
    stack_free(&stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_come_back),
        cmocka_unit_test(test_other_bytes_are_no_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
