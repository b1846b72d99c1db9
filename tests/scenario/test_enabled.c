/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The lists of enabled actions, in random runs of every scenario file: which actions, in which order, under which labels. Seeds,
 * traces and inputs of the fuzzer name an action by its place or its label, so a change here makes old ones mean something else.
 *
 * enabled.tsv has a line for each file: its path, the number of lists, and a hash of all of them. Runs of the textbook recipe are
 * compared: the mutex changes more often. A test that fails names the files and leaves the new table in the build folder;
 * where the change was meant, that table replaces the old one. ENABLED_RECIPE=NAME makes the table of another recipe, for a
 * comparison of two versions by hand. */
#include "base/hash.h"
#include "scenario/random.h"
#include "scenario/recipes.h"
#include "sim/abilities.h"

#include <lockstep/sim.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 20
#define FILES_MAX 1000
#define PATH_MAX_HERE 160

static struct scenario scenario;
static struct outcome outcome;
static char path[FILES_MAX][PATH_MAX_HERE];

static struct {
    uint64_t lists, hash;
} seen;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_world_actions(struct world *world, struct action *out);
int __wrap_world_actions(struct world *world, struct action *out);

int __wrap_world_actions(struct world *world, struct action *out)
{
    int count = __real_world_actions(world, out);
    for (int i = 0; i < count; i++) {
        uint64_t words[1 + WORLD_LABEL_MAX / 8] = {(uint64_t)count << 8 | out[i].kind};
        world_label(world, &out[i], (char *)&words[1]);
        seen.hash = hash_bytes(words, sizeof words, seen.hash);
    }
    seen.lists++;
    return count;
}

/* NOLINTEND(bugprone-reserved-identifier) */

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All scenario files below scenarios/. */
static int list_files(void)
{
    int count = 0;
    FILE *list = popen("find scenarios -name '*.scn'", "r");
    assert_non_null(list);
    while (count < FILES_MAX && fgets(path[count], sizeof path[count], list) != NULL) {
        path[count][strcspn(path[count], "\n")] = '\0';
        count++;
    }
    assert_int_equal(pclose(list), 0);
    assert_in_range(count, 100, FILES_MAX - 1);
    qsort(path, (size_t)count, sizeof path[0], by_name);
    return count;
}

/* False: the file is for a coordinator that this program lacks. */
static bool run_file(const char *name)
{
    struct input_mistakes mistakes;
    const char *recipe = getenv("ENABLED_RECIPE");
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find(recipe ? recipe : "textbook")};
    if (scenario_read(&scenario, name, &mistakes) != 0) {
        if (scenario.foreign) {
            return false;
        }
        fail_msg("%s", mistakes.mistake[0].text);
    }
    if (!recipe_can_run(setup.recipe, &scenario.options)) {
        setup.recipe = recipe_for(&scenario.options);
    }
    memset(&seen, 0, sizeof seen);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        memset(&outcome, 0, sizeof outcome);
        random_run(&setup, seed, 1, getenv("LOCKSTEP_BUILD_DIR"), &outcome);
    }
    scenario_close(&scenario);
    return true;
}

/* The next line of the table, without its line end; empty behind the last. */
static void next_line(FILE *table, char *line, int size)
{
    if (table == NULL || fgets(line, size, table) == NULL) {
        line[0] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
}

static void lists_are_those_of_the_table(void **state)
{
    (void)state;
    char now[PATH_MAX_HERE + 60], before[sizeof now], out[300];
    int files = list_files(), differ = 0;
    FILE *table = fopen("tests/scenario/enabled.tsv", "r");
    snprintf(out, sizeof out, "%s/enabled.tsv", getenv("LOCKSTEP_BUILD_DIR"));
    FILE *fresh = fopen(out, "w");
    assert_non_null(fresh);
    for (int i = 0; i < files; i++) {
        if (!run_file(path[i])) {
            continue;
        }
        snprintf(now, sizeof now, "%.150s\t%llu\t%016llx", path[i], (unsigned long long)seen.lists,
                 (unsigned long long)seen.hash);
        fprintf(fresh, "%s\n", now);
        next_line(table, before, sizeof before);
        if (strcmp(now, before) != 0) {
            print_error("now:    %s\nbefore: %s\n", now, before);
            differ++;
        }
    }
    assert_int_equal(fclose(fresh), 0);
    if (table != NULL) {
        fclose(table);
    }
    if (differ > 0) {
        fail_msg("%d of %d files have other lists; the new table is %s", differ, files, out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_those_of_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
