/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A trace file is read back as it was written, and every way of spoiling it is noticed. */
#include "trace/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SCENARIO[] = "# one\n\nmutex /locks/x\n| bar\nend 7\n";

static char *write_sample(size_t *size)
{
    static struct trace_choice choices[] = {
        {"a acquire", -1}, {"deliver a create-reply/2", 17}, {TRACE_REST, -1}};
    struct trace trace = {.tool = "1.2.3",
                          .recipe = "broken-x",
                          .schedule = "uniform",
                          .seed = UINT64_MAX,
                          .found = "no_orphan_node no_lost_wakeup",
                          .name = "a folder/x.scn",
                          .text = SCENARIO,
                          .text_size = sizeof SCENARIO - 1,
                          .choice = choices,
                          .choices = 3};
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, size);
    assert_int_equal(trace_write(file, &trace), 0);
    fclose(file);
    return bytes;
}

static void comes_back(void **state)
{
    (void)state;
    size_t size;
    struct trace trace;
    struct input_error error;
    char *bytes = write_sample(&size);
    assert_int_equal(trace_read_bytes(&trace, "t", bytes, size, &error), 0);
    assert_string_equal(trace.tool, "1.2.3");
    assert_string_equal(trace.recipe, "broken-x");
    assert_string_equal(trace.schedule, "uniform");
    assert_true(trace.seed == UINT64_MAX);
    assert_int_equal(trace.seeded, 0);
    assert_string_equal(trace.found, "no_orphan_node no_lost_wakeup");
    assert_string_equal(trace.name, "a folder/x.scn");
    assert_int_equal(trace.text_size, sizeof SCENARIO - 1);
    assert_string_equal(trace.text, SCENARIO);
    assert_int_equal(trace.text_line, 8);
    assert_int_equal(trace.choices, 3);
    assert_string_equal(trace.choice[0].label, "a acquire");
    assert_int_equal(trace.choice[0].index, -1);
    assert_string_equal(trace.choice[1].label, "deliver a create-reply/2");
    assert_int_equal(trace.choice[1].index, 17);
    assert_string_equal(trace.choice[2].label, TRACE_REST);
    assert_int_equal(trace.first_choice_line, 14);
    trace_close(&trace);
    free(bytes);
}

/* Shared objects with properties stand behind what was found; a trace without any has no such line. */
static void shared_objects_come_back(void **state)
{
    static const struct {
        const char *lines, *complaint;
    } SPOILED[] = {
        {"property\n", "t:7:9: expected the name of a property, found the end of the line"},
        {"property a\n", "t:7:11: expected the path of a shared object, found the end of the line"},
        {"property a b c\n", "t:7:14: expected the end of the line, found 'c'"},
        {"property a b\nproperty c d\nproperty e f\nproperty g h\nproperty i j\n",
         "t:11:1: expected at most 4 properties, found 'property'"},
        {"property a b\nprop\n", "t:8:1: expected 'scenario', found 'prop'"},
    };
    (void)state;
    static const char TEXT[] =
        "lockstep-trace 1\ntool 1\nrecipe r\nschedule search\nseed 0\nfound x\n%sscenario 0 "
        "s.scn\nchoices 0\nend 0\n";
    char text[400], *bytes = NULL;
    size_t size;
    struct trace trace;
    struct input_error error;
    snprintf(text, sizeof text, TEXT, "property one ./one.so\nproperty two_2 /a/b.so\n");
    assert_int_equal(trace_read_bytes(&trace, "t", text, strlen(text), &error), 0);
    assert_int_equal(trace.properties, 2);
    assert_string_equal(trace.property[0].name, "one");
    assert_string_equal(trace.property[0].path, "./one.so");
    assert_string_equal(trace.property[1].name, "two_2");
    assert_string_equal(trace.property[1].path, "/a/b.so");
    assert_string_equal(trace.name, "s.scn");
    FILE *file = open_memstream(&bytes, &size);
    assert_int_equal(trace_write(file, &trace), 0);
    fclose(file);
    assert_string_equal(bytes, text);
    trace_close(&trace);
    free(bytes);
    for (size_t i = 0; i < sizeof SPOILED / sizeof SPOILED[0]; i++) {
        snprintf(text, sizeof text, TEXT, SPOILED[i].lines);
        assert_int_equal(trace_read_bytes(&trace, "t", text, strlen(text), &error), -1);
        assert_string_equal(error.text, SPOILED[i].complaint);
    }
}

/* Wherever the file ends early, the reader says so. */
static void every_truncation_is_noticed(void **state)
{
    (void)state;
    size_t size;
    char *bytes = write_sample(&size);
    for (size_t cut = 0; cut < size - 1; cut++) {
        struct trace trace;
        struct input_error error;
        assert_int_equal(trace_read_bytes(&trace, "t", bytes, cut, &error), -1);
        assert_non_null(strstr(error.text, ": expected "));
        assert_non_null(strstr(error.text, ", found "));
        assert_null(trace.choice);
    }
    free(bytes);
}

/* Replaces one part of the sample and expects this complaint. */
static void expect_spoiled(const char *from, const char *to, const char *complaint)
{
    size_t size;
    struct trace trace;
    struct input_error error;
    char *bytes = write_sample(&size), *spoiled = calloc(1, size + strlen(to) + 1);
    char *at = strstr(bytes, from);
    assert_non_null(at);
    memcpy(spoiled, bytes, (size_t)(at - bytes));
    strcat(spoiled, to);
    strcat(spoiled, at + strlen(from));
    assert_int_equal(trace_read_bytes(&trace, "t", spoiled, strlen(spoiled), &error), -1);
    assert_string_equal(error.text, complaint);
    free(spoiled);
    free(bytes);
}

static void each_spoiled_line_is_named(void **state)
{
    (void)state;
    expect_spoiled("lockstep-trace 1", "lockstep-trace 2",
                   "t:1:1: expected 'lockstep-trace 1', found 'lockstep-trace 2'");
    expect_spoiled("lockstep-trace 1", "mutex /x", "t:1:1: expected 'lockstep-trace 1', found 'mutex /x'");
    expect_spoiled("tool", "fool", "t:2:1: expected 'tool', found 'fool'");
    expect_spoiled("tool 1.2.3", "tool", "t:2:5: expected a version, found the end of the line");
    expect_spoiled("recipe broken-x", "recipe a b", "t:3:10: expected the end of the line, found 'b'");
    expect_spoiled("18446744073709551615", "18446744073709551616",
                   "t:5:6: expected a number, found '18446744073709551616'");
    expect_spoiled("18446744073709551615", "-1", "t:5:6: expected a number, found '-1'");
    expect_spoiled(
        "18446744073709551615", "5 taken",
        "t:5:8: expected 'given', 'swept', 'without=LETTERS' or the end of the line, found 'taken'");
    expect_spoiled("found no_orphan_node no_lost_wakeup", "found",
                   "t:6:6: expected what was found, found the end of the line");
    expect_spoiled("scenario 5", "scenario 6",
                   "t:13:1: expected '|' and a line of the scenario, found 'choices 3'");
    expect_spoiled("scenario 5", "scenario 4", "t:12:1: expected 'choices', found '|'");
    expect_spoiled("choices 3", "choices 4",
                   "t:17:1: expected a position among the enabled actions or '-', found 'end'");
    expect_spoiled("choices 3", "choices 99999999", "t:13:9: expected a number of choices, found '99999999'");
    expect_spoiled("choices 3", "choices 2", "t:16:1: expected 'end', found '-'");
    expect_spoiled("17 deliver", "x deliver",
                   "t:15:1: expected a position among the enabled actions or '-', found 'x'");
    expect_spoiled("17 deliver a create-reply/2", "17",
                   "t:15:3: expected a label, found the end of the line");
    expect_spoiled("end 3", "end 2", "t:17:5: expected the number of choices, 3, found '2'");
    expect_spoiled("end 3\n", "end 3\nmore\n", "t:18:1: expected the end of the file, found 'more'");
}

static void a_given_seed_is_kept(void **state)
{
    (void)state;
    static const char BYTES[] =
        "lockstep-trace 1\ntool 1\nrecipe m\nschedule directed\nseed 5 given\nfound difference\n"
        "scenario 1 x\n| a\nchoices 0\nend 0\n";
    struct trace trace;
    struct input_error error;
    assert_int_equal(trace_read_bytes(&trace, "t", BYTES, sizeof BYTES - 1, &error), 0);
    assert_int_equal(trace.seeded, TRACE_SEED_GIVEN);
    assert_int_equal(trace.seed, 5);
    assert_int_equal(trace.choices, 0);
    assert_string_equal(trace.without, "");
    trace_close(&trace);
}

static void a_swept_set_is_kept(void **state)
{
    (void)state;
    static const char BYTES[] =
        "lockstep-trace 1\ntool 1\nrecipe m\nschedule search\nseed 3 swept without=a\nfound difference\n"
        "scenario 1 x\n| a\nchoices 0\nend 0\n";
    struct trace trace;
    struct input_error error;
    char *text;
    size_t size;
    assert_int_equal(trace_read_bytes(&trace, "t", BYTES, sizeof BYTES - 1, &error), 0);
    assert_int_equal(trace.seeded, TRACE_SEED_SWEPT);
    assert_int_equal(trace.seed, 3);
    assert_string_equal(trace.without, "a");
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(trace_write(file, &trace), 0);
    fclose(file);
    assert_int_equal(size, sizeof BYTES - 1);
    assert_memory_equal(text, BYTES, size);
    free(text);
    trace_close(&trace);
}

static void what_its_world_lacked_is_kept(void **state)
{
    (void)state;
    static const char BYTES[] =
        "lockstep-trace 1\ntool 1\nrecipe m\nschedule search\nseed 5 given without=ab\nfound x\n"
        "scenario 1 x\n| a\nchoices 0\nend 0\n";
    struct trace trace;
    struct input_error error;
    char *written = NULL;
    size_t size;
    assert_int_equal(trace_read_bytes(&trace, "t", BYTES, sizeof BYTES - 1, &error), 0);
    assert_string_equal(trace.without, "ab");
    FILE *file = open_memstream(&written, &size);
    assert_int_equal(trace_write(file, &trace), 0);
    fclose(file);
    assert_string_equal(written, BYTES);
    free(written);
    trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(shared_objects_come_back),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(each_spoiled_line_is_named),
        cmocka_unit_test(a_given_seed_is_kept),
        cmocka_unit_test(a_swept_set_is_kept),
        cmocka_unit_test(what_its_world_lacked_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
