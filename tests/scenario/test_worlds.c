/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The enumeration of small worlds: worlds that are alike come once, all of them are scenarios, and the order is fixed. */
#include "scenario/random_worlds.h"
#include "scenario/scenario.h"
#include "scenario/small_worlds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORLDS_LOOKED_AT 700 /* classes with more are larger ones of the same kind */

static const struct world_class *find(const char *wanted)
{
    char name[WORLDS_NAME_MAX];
    for (int i = 0; i < worlds_classes(); i++) {
        if (strcmp(worlds_class_name(worlds_class(i), name), wanted) == 0) {
            return worlds_class(i);
        }
    }
    fail_msg("there is no class %s", wanted);
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The programs of a text, sorted, and its faults: what is left of a world without the names of its clients. With a clock all
 * but the first line, which is the name. */
static char *without_names(const char *text, bool swapped)
{
    if (strstr(text, "explore") == NULL) {
        return strdup(strchr(text, '\n'));
    }

    char *line[WORLDS_CLIENTS_MAX], copy[WORLDS_TEXT_MAX], *out = malloc(WORLDS_TEXT_MAX);
    const char *explore = strstr(text, "explore");
    int lines = 0;
    assert_non_null(out);
    snprintf(copy, sizeof copy, "%s", strstr(text, "process"));
    for (char *at = strtok(copy, "\n"); at != NULL; at = strtok(NULL, "\n")) {
        if (strncmp(at, "process", 7) == 0) {
            line[lines++] = strchr(at, ':');
        }
    }
    for (int i = 0; swapped && i < lines; i++) {
        for (char *at = line[i]; (at = strpbrk(at, "xy")) != NULL; at++) {
            bool lock = at[-1] == ' ' && (at[1] == ' ' || at[1] == 0);
            *at = lock ? (*at == 'x' ? 'y' : 'x') : *at;
        }
    }
    qsort(line, (size_t)lines, sizeof line[0], by_text);
    out[0] = 0;
    for (int i = 0; i < lines; i++) {
        strcat(strcat(out, line[i]), "\n");
    }
    return strcat(out, explore);
}

static void expect_no_twins(const struct world_class *class)
{
    char name[WORLDS_NAME_MAX], text[WORLDS_TEXT_MAX];
    static char *all[WORLDS_LOOKED_AT];
    int count = worlds_count(class);
    for (int i = 0; i < count; i++) {
        struct world_spec spec;
        worlds_spec(class, i, &spec);
        worlds_text(&spec, text);
        all[i] = without_names(text, false);
        char *other = without_names(text, true);
        bool less = class->place == WORLD_PLACE_LOCKS && strcmp(other, all[i]) < 0;
        free(less ? all[i] : other);
        all[i] = less ? other : all[i];
    }
    qsort(all, (size_t)count, sizeof all[0], by_text);
    for (int i = 0; i + 1 < count; i++) {
        if (strcmp(all[i], all[i + 1]) == 0) {
            fail_msg("%s has this world twice:\n%s", worlds_class_name(class, name), all[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        free(all[i]);
    }
}

static void symmetric_worlds_come_once(void **state)
{
    (void)state;
    int looked_at = 0;
    for (int i = 0; i < worlds_classes(); i++) {
        bool random = worlds_class(i)->place == WORLD_PLACE_RANDOM; /* these have a test of their own */
        if (!random && worlds_count(worlds_class(i)) <= WORLDS_LOOKED_AT) {
            expect_no_twins(worlds_class(i));
            looked_at++;
        }
    }
    assert_true(looked_at > 150);
}

/* Four turns: of n clients with equally many turns there are so many multisets, of one and of two turns so many pairs. */
static void no_world_is_missing(void **state)
{
    (void)state;
    assert_int_equal(worlds_count(find("one-client-one-turn/all-1")), 4);
    assert_int_equal(worlds_count(find("one-client-one-turn/pairs-5")), 4 * 66);
    assert_int_equal(worlds_count(find("one-client-one-turn/crash-3")), 4 * 12);
    assert_int_equal(worlds_count(find("one-client-two-turns/all-2")), 16);
    assert_int_equal(worlds_count(find("two-clients-two-turns/all-2")), 10);
    assert_int_equal(worlds_count(find("two-clients-three-turns/all-1")), 4 * 16);
    assert_int_equal(worlds_count(find("two-clients-four-turns/all-1")), 4 * 64 + 16 * 17 / 2);
    assert_int_equal(worlds_count(find("three-clients-three-turns/all-1")), 20);
    assert_int_equal(worlds_count(find("three-clients-four-turns/all-1")), 10 * 16);
    assert_int_equal(worlds_count(find("one-client-one-turn-verbs/all-1")), 11);
    assert_int_equal(worlds_count(find("two-clients-two-turns-verbs/all-1")), 15 * 16 / 2 - 10);
    assert_int_equal(worlds_count(find("one-client-two-turns-locks/all-1")), 2 * 16);
    assert_int_equal(worlds_count(find("one-client-two-turns-owners/all-1")), 16 + 4 * 2);
    assert_int_equal(worlds_count(find("one-client-one-turn-follower/pairs-3")), 4 * (2 * 12 + 1));
    /* With a clock: two kinds of outage have one of six lengths, the other three none. */
    assert_int_equal(worlds_count(find("clock-first")), (2 * 6 + 3) * 4 * 10 * 2);
    assert_int_equal(worlds_count(find("clock-holder")), (2 * 6 + 3) * 5 * 10 * 2);
    assert_int_equal(worlds_count(find("clock-behind")), (2 * 6 + 3) * 4 * 10 * 3);
    assert_int_equal(worlds_count(find("clock-during")), 6 * 5 * 2);
    assert_int_equal(worlds_count(find("clock-again")), (2 * 6 * 6 + 1) * 2);
    assert_int_equal(worlds_count(find("clock-life")), (2 * 6 + 3) * 10 * 2);
    assert_int_equal(worlds_count(find("clock-line")), (2 * 6 + 2) * 4 * 2 * 2);
    assert_int_equal(worlds_count(find("clock-less")), 2 * 6 * 5 * 2);
    assert_int_equal(worlds_count(find("clock-fresh")), 2 * 6 * 10 * 2);
    assert_int_equal(worlds_count(find("clock-timers")), 2 * 6 * 10 * 2);
    assert_int_equal(worlds_count(find("clock-woken")), (2 * 6 + 4) * 3 * 5);
    assert_int_equal(worlds_count(find("clock-owners")), (2 * 6 + 3) * 4 * 3);
    assert_int_equal(worlds_count(find("clock-awake")), 2 * 6 * 5 * 2);
    assert_int_equal(worlds_count(find("clock-restart")), 2 * 6 * 2);
    assert_int_equal(worlds_count(find("clock-frozen")), 6 * 10 * 3);
}

/* The parser refuses faults that cannot happen in a world. */
static void all_are_scenarios(void **state)
{
    (void)state;
    for (int i = 0; i < worlds_classes(); i++) {
        const struct world_class *class = worlds_class(i);
        int count = worlds_count(class), step = count > 50 ? count / 50 : 1;
        for (int w = 0; w < count; w += step) {
            char name[WORLDS_NAME_MAX], text[WORLDS_TEXT_MAX];
            struct scenario scenario;
            struct input_error error;
            struct world_spec spec;
            worlds_spec(class, w, &spec);
            worlds_text(&spec, text);
            if (scenario_read_bytes(&scenario, worlds_name(&spec, name), text, strlen(text), &error) != 0) {
                fail_msg("%s\n%s", error.text, text);
            }
            bool random = class->place == WORLD_PLACE_RANDOM;
            bool clock = class->place == WORLD_PLACE_CLOCK || (random && class->cast == RANDOM_TIMES);
            assert_int_equal(scenario.options.timed, clock);
            assert_int_equal(scenario.exploring, !clock);
            assert_int_equal(worlds_schedules(&spec) > 0, random && !clock);
            assert_true(random || clock || scenario.options.processes == class->clients);
            assert_true(random || clock || scenario.options.budget_total == class->depth);
            scenario_close(&scenario);
        }
    }
}

/* Of each kind: two worlds differ, each class begins where the one before ends, and compilers agree on the numbers drawn. */
static void random_worlds_are_drawn_once(void **state)
{
    static const uint64_t HASH[RANDOM_WORLDS] = {0x9c6f194f1571f436ull, 0x451c5f8a114b0963ull};
    (void)state;
    for (int kind = 0; kind < RANDOM_WORLDS; kind++) {
        char text[2][WORLDS_TEXT_MAX] = {""};
        uint64_t hash = 14695981039346656037ull;
        for (int number = 0; number < 200; number++) {
            random_worlds_text((enum random_worlds)kind, number, text[number % 2], WORLDS_TEXT_MAX);
            assert_string_not_equal(text[0], text[1]);
            for (const char *at = text[number % 2]; *at != 0; at++) {
                hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
            }
        }
        assert_int_equal(hash, HASH[kind]);
    }
    assert_int_equal(worlds_count(find("random-orders/0-to-199")), 200);
    assert_int_equal(worlds_count(find("random-times/200-to-999")), 800);
    struct world_spec spec;
    char name[WORLDS_NAME_MAX];
    worlds_spec(find("random-times/200-to-999"), 7, &spec);
    assert_string_equal(worlds_name(&spec, name), "worlds/random-times/207");
}

/* Kept enumerations, findings and figures go by this order: another one is another version. */
static void the_order_is_fixed(void **state)
{
    (void)state;
    static const char *const FIRST[] = {"one-client-one-turn/all-1",
                                        "clock-long",
                                        "clock-restart",
                                        "one-client-one-turn-fresh/all-1",
                                        "one-client-two-turns/all-1",
                                        "clock-during",
                                        "one-client-one-turn-verbs/all-1",
                                        "clock-awake",
                                        "clock-less"};
    char name[WORLDS_NAME_MAX];
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < sizeof FIRST / sizeof FIRST[0]; i++) {
        assert_string_equal(worlds_class_name(worlds_class((int)i), name), FIRST[i]);
    }
    for (int i = 0; i < worlds_classes(); i++) {
        assert_true(i == 0 || worlds_class(i)->rank >= worlds_class(i - 1)->rank);
        for (const char *at = worlds_class_name(worlds_class(i), name); *at != 0; at++) {
            hash = (hash ^ (unsigned char)*at) * 1099511628211ull;
        }
    }
    assert_int_equal(worlds_classes(), 420);
    assert_int_equal(hash, 0x60fc04ec4efd513ull);
}

static void names_and_texts_are_stable(void **state)
{
    (void)state;
    char name[WORLDS_NAME_MAX], text[WORLDS_TEXT_MAX];
    struct world_spec spec;
    worlds_spec(find("one-client-one-turn/pairs-5"), 0, &spec);
    assert_string_equal(worlds_name(&spec, name), "worlds/one-client-one-turn/loss+expire-5/acquire");
    worlds_spec(find("two-clients-three-turns-locks/all-2"), 64 + 7, &spec);
    assert_string_equal(worlds_name(&spec, name),
                        "worlds/two-clients-three-turns-locks/all-2/acquire,deadline-around-twice");
    assert_string_equal(worlds_text(&spec, text),
                        "# worlds/two-clients-three-turns-locks/all-2/acquire,deadline-around-twice\n\n"
                        "world servers=1 used\nmutex /locks/x\nmutex /locks/y\n"
                        "process a: acquire x release x\n"
                        "process b: acquire y timeout=1s acquire x acquire x release x release x release y\n"
                        "explore loss<=2 expire<=2 pause<=2 crash<=2 refuse<=2 cancel<=2 alloc<=2 "
                        "server<=2 rmdir<=2 evict<=2 touch<=2 call<=2 restrict<=2 total<=2\n----\n");
}

/* A run with a clock: half of an outage, what another client does meanwhile, and the other half, in pieces. */
static void a_run_with_a_clock(void **state)
{
    (void)state;
    char name[WORLDS_NAME_MAX], text[WORLDS_TEXT_MAX];
    struct world_spec spec, smaller;
    worlds_spec(find("clock-behind"), 1 + 6 * (2 + 4 * 3), &spec);
    assert_string_equal(worlds_name(&spec, name),
                        "worlds/clock-behind/pause-at-30ms-for-1500ms/acquire-timeout=6s");
    assert_string_equal(
        worlds_text(&spec, text),
        "# worlds/clock-behind/pause-at-30ms-for-1500ms/acquire-timeout=6s\n\n"
        "world servers=1 used timed\nmutex /locks/x\nprocess a b c\nshow nothing\n\nsettle\n"
        "b acquire\nsettle\na acquire timeout=6s\nadvance 30ms\nc acquire\n"
        "pause a\nadvance 500ms\nadvance 250ms\nb release\nadvance 500ms\nadvance 250ms\nresume a\n"
        "settle\na release\nsettle\nc release\nsettle\na release\nsettle\nrest\n----\n");
    assert_false(worlds_smaller(&spec, 0, &smaller));
}

/* From any world, steps to smaller ones end. */
static void smaller_ones_end(void **state)
{
    (void)state;
    struct world_spec spec, smaller;
    char name[WORLDS_NAME_MAX];
    worlds_spec(find("three-clients-four-turns-owners/all-2"), 17, &spec);
    for (int steps = 0; worlds_smaller(&spec, 0, &smaller); steps++) {
        assert_true(steps < 60);
        spec = smaller;
    }
    assert_string_equal(worlds_name(&spec, name), "worlds/one-client-one-turn/none-0/acquire");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_worlds_come_once),
        cmocka_unit_test(no_world_is_missing),
        cmocka_unit_test(all_are_scenarios),
        cmocka_unit_test(the_order_is_fixed),
        cmocka_unit_test(names_and_texts_are_stable),
        cmocka_unit_test(a_run_with_a_clock),
        cmocka_unit_test(random_worlds_are_drawn_once),
        cmocka_unit_test(smaller_ones_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
