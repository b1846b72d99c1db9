/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Checkpoints with changed bytes and a matching checksum. For any content, a search that goes on from the
 * file ends with an error or with a result. */
#include "base/hash.h"
#include "explore/explore.h"
#include "explore/savefile.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PAIR "world used\nmutex /l/x\nprocess a b: acquire release\nexplore loss<=1\n----\n"
#define STATES 5394 /* number of states of the last layer, see modes.sh */
#define TRANSITIONS 13926
#define KEPT 4000 /* number of states of the last layer that are in the checkpoint */
#define CHANGES 150
#define FILE_MAX (1u << 20)

static char folder[] = "/tmp/lockstep-XXXXXX";
static char path[64], changed[64];
static struct outcome outcome;
static unsigned char bytes[FILE_MAX];
static size_t size;

static void search(const char *from, const char *to, uint64_t states_max, int workers)
{
    struct scenario scenario;
    struct input_error error;
    assert_int_equal(scenario_read_bytes(&scenario, "s", PAIR, strlen(PAIR), &error), 0);
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find(RECIPE_DEFAULT)};
    struct explore_options options = {.layers = true,
                                      .renaming = true,
                                      .workers = workers,
                                      .resume = from,
                                      .checkpoint = to,
                                      .checkpoint_every_s = 1000,
                                      .states_max = states_max,
                                      .bytes_max = (size_t)64 << 20,
                                      .identity = "",
                                      .out = folder};
    memset(&outcome, 0, sizeof outcome);
    explore_run(&setup, &options, &outcome);
    scenario_close(&scenario);
}

/* Keeps a search that has met its limit, and reads the file without its checksum. */
static int keep_one(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/kept", folder);
    snprintf(changed, sizeof changed, "%s/changed", folder);
    search(NULL, path, KEPT, 1);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    size = fread(bytes, 1, sizeof bytes, file) - sizeof(uint64_t);
    fclose(file);
    return size > KEPT * sizeof(uint64_t) && size < FILE_MAX / 2 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    unlink(changed);
    return rmdir(folder);
}

static void write_changed(void)
{
    struct savefile_writer file;
    savefile_create(&file, changed);
    savefile_put(&file, bytes, size);
    assert_int_equal(savefile_finish(&file), 0);
}

static void test_it_goes_on_to_the_same_end(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        search(path, NULL, 0, workers);
        assert_int_equal(outcome.verdict, VERDICT_HOLDS);
        assert_int_equal(outcome.search.states, STATES);
        assert_int_equal(outcome.search.transitions, TRANSITIONS);
        assert_int_equal(outcome.search.complete_faults, 1);
    }
}

/* Returns where to change a byte. Most of the file is fingerprints, which are alike, so most changes are
 * before them. */
static size_t place_of_change(uint64_t turn)
{
    size_t before = size - KEPT * sizeof(uint64_t);
    return hash_mix(turn * 3) % (turn % 4 != 0 ? before : size);
}

/* Returns whether the error says that the file is refused, or that a violation in it cannot be repeated. */
static bool is_told(const char *text)
{
    return strstr(text, "cannot be gone on with") != NULL ||
           strstr(text, "a violation was found that its own run does not show again") != NULL;
}

static void test_whatever_stands_in_it_the_search_ends(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t turn = 0; turn < CHANGES; turn++) {
        size_t at = place_of_change(turn);
        unsigned char before = bytes[at];
        bytes[at] ^= (unsigned char)(turn % 3 == 0 ? 1u << hash_mix(turn) % 8 : 1 + hash_mix(turn) % 255);
        write_changed();
        bytes[at] = before;
        search(changed, NULL, 20000, 1);
        wrong += outcome.verdict == VERDICT_ERROR;
        assert_true(outcome.verdict == VERDICT_ERROR || outcome.verdict == VERDICT_HOLDS ||
                    outcome.verdict == VERDICT_LIMIT);
        assert_true(outcome.verdict != VERDICT_ERROR || is_told(outcome.text));
    }
    assert_true(wrong > CHANGES / 2);
}

static void test_no_shorter_one_is_gone_on_with(void **state)
{
    (void)state;
    size_t whole = size;
    for (size = 0; size < whole; size += 1 + size / 40) {
        write_changed();
        search(changed, NULL, 0, 1);
        assert_int_equal(outcome.verdict, VERDICT_ERROR);
    }
    size = whole;
    bytes[size++] = 0;
    write_changed();
    size = whole;
    search(changed, NULL, 0, 1);
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
}

/* A search that cannot be kept says so, and ends with an error. */
static void test_a_file_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    search(NULL, "/nowhere/at/all", 5000, 1);
    assert_int_equal(outcome.verdict, VERDICT_ERROR);
    assert_non_null(strstr(outcome.text, "not kept in /nowhere/at/all: No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_goes_on_to_the_same_end),
        cmocka_unit_test(test_whatever_stands_in_it_the_search_ends),
        cmocka_unit_test(test_no_shorter_one_is_gone_on_with),
        cmocka_unit_test(test_a_file_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, keep_one, clean_up);
}
