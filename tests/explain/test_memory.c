/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An explanation for which memory is short: nothing is decided, and nothing is guessed. */
#include "explain/explain.h"
#include "explain/futures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char TRACE[] = "lockstep-trace 1\n"
                            "tool 0.1.0\n"
                            "recipe broken-no-protection\n"
                            "schedule pct\n"
                            "seed 28\n"
                            "found no_lost_wakeup no_orphan_node\n"
                            "scenario 5 lost.scn\n"
                            "| world used\n"
                            "| mutex /locks/x\n"
                            "| process a: acquire release\n"
                            "| explore loss<=1\n"
                            "| ----\n"
                            "choices 15\n"
                            "1 a acquire\n"
                            "0 connect a s1\n"
                            "0 deliver a session-connected\n"
                            "2 cut a keep=0 apply=1 rc=-4\n"
                            "0 deliver a session-connecting\n"
                            "0 deliver a create-reply\n"
                            "0 connect a s1\n"
                            "0 deliver a session-connected\n"
                            "0 apply s1 a create\n"
                            "0 deliver a create-reply\n"
                            "0 apply s1 a list\n"
                            "0 deliver a list-reply\n"
                            "0 apply s1 a get\n"
                            "0 deliver a get-reply\n"
                            "- rest\n"
                            "end 15\n";

/* The linker wants this name. NOLINTBEGIN(bugprone-reserved-identifier) */
struct futures *__wrap_futures_open(struct run *run, int position, int waiter);

struct futures *__wrap_futures_open(struct run *run, int position, int waiter)
{
    (void)run;
    (void)position;
    (void)waiter;
    return NULL;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void test_nothing_is_decided(void **state)
{
    (void)state;
    static struct explanation e;
    struct explain_options options = {.no_shrink = true, .property = "no_orphan_node"};
    struct input_error error;
    struct trace trace;
    assert_int_equal(trace_read_bytes(&trace, "t.trace", TRACE, strlen(TRACE), &error), 0);
    assert_int_equal(explain_trace(&trace, &options, &e, &error), EXPLAIN_LIMIT);
    assert_int_equal(e.cause, EXPLAIN_UNKNOWN);
    assert_int_equal(e.faults, 1);
    assert_int_equal(e.fault[0].matter, EXPLAIN_MATTERS_UNKNOWN);
    assert_int_equal(e.last.is, EXPLAIN_MOMENT_UNKNOWN);
    trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_decided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
