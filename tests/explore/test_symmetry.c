/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that differ only in which process is which (base/symmetry.h). On all states of small worlds: the order that is
 * found by colours merges what trying all orders merges; and states that count as one can do the same steps, which go to
 * states that count as one. */
#include "base/canon.h"
#include "base/hash.h"
#include "base/symmetry.h"
#include "scenario/recipes.h"
#include "scenario/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATES_MAX (1u << 16)

struct known {
    uint64_t plain;  /* the fingerprint with names: the key */
    uint64_t colors; /* without, by colours */
    uint64_t tried;  /* without, by trying all orders */
    uint64_t future; /* of the kinds of steps and of the states behind them */
};

static struct scenario scenario;
static struct run run;
static struct canon *named, *nameless;
static struct known table[2 * STATES_MAX];
static struct world_image *queue[STATES_MAX];
static size_t states;

static void open_run(const char *text)
{
    struct input_error error;
    static struct run_setup setup;
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
    setup = (struct run_setup){
        .scenario = &scenario, .recipe = recipe_find("mutex"), .schedule = SCHEDULE_SEARCH};
    assert_int_equal(run_init(&run, &setup), 0);
    run_begin(&run, SCHEDULE_SEARCH, 1);
    named = world_canon(run.world);
    nameless = world_symmetric_canon(run.world);
    assert_non_null(named);
    assert_non_null(nameless);
    memset(table, 0, sizeof table);
    states = 0;
}

static void close_run(void)
{
    for (size_t i = 0; i < states; i++) {
        world_image_free(queue[i]);
    }
    canon_close(named);
    canon_close(nameless);
    run_close(&run);
    scenario_close(&scenario);
}

static struct known *find(uint64_t plain)
{
    size_t at = plain & (2 * STATES_MAX - 1);
    while (table[at].plain != 0 && table[at].plain != plain) {
        at = (at + 1) & (2 * STATES_MAX - 1);
    }
    return &table[at];
}

/* ---- all orders ---- */

/* The least fingerprint of all orders that begin with the first `fixed` places of `place`. */
static uint64_t least_of(uint8_t *place, int count, int fixed)
{
    uint64_t least = UINT64_MAX;
    if (fixed == count) {
        return symmetry_under(nameless, place);
    }
    for (int i = fixed; i < count; i++) {
        uint8_t moved = place[fixed];
        place[fixed] = place[i];
        place[i] = moved;
        uint64_t found = least_of(place, count, fixed + 1);
        least = found < least ? found : least;
        moved = place[fixed];
        place[fixed] = place[i];
        place[i] = moved;
    }
    return least;
}

/* ---- all states ---- */

static struct known *meet(int processes)
{
    uint8_t place[SYMMETRY_PROCESSES_MAX] = {0, 1, 2, 3, 4, 5};
    uint64_t plain = canon_fingerprint(named);
    struct known *known = find(plain);
    if (known->plain == 0) {
        *known = (struct known){
            .plain = plain, .colors = canon_fingerprint(nameless), .tried = least_of(place, processes, 0)};
        assert_true(states < STATES_MAX);
        queue[states++] = world_save(run.world);
    }
    return known;
}

static uint64_t future_of(const struct world_image *image, int processes)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    uint64_t sum = 0;
    world_restore(run.world, image);
    int count = world_actions(run.world, actions);
    for (int i = 0; i < count; i++) {
        world_do(run.world, &actions[i]);
        sum += hash_mix(actions[i].kind + hash_mix(meet(processes)->tried));
        world_restore(run.world, image);
    }
    return sum;
}

static int by_colors(const void *a, const void *b)
{
    const struct known *one = *(struct known *const *)a, *other = *(struct known *const *)b;
    return one->colors < other->colors ? -1 : one->colors > other->colors;
}

static int by_tried(const void *a, const void *b)
{
    const struct known *one = *(struct known *const *)a, *other = *(struct known *const *)b;
    return one->tried < other->tried ? -1 : one->tried > other->tried;
}

/* How many different states there are by one measure; those that count as one must have the same future. */
static size_t count_classes(struct known **all, int (*compare)(const void *, const void *), size_t *merged)
{
    size_t classes = states > 0;
    qsort(all, states, sizeof(void *), compare);
    for (size_t i = 1; i < states; i++) {
        bool same = compare(&all[i - 1], &all[i]) == 0;
        classes += !same;
        *merged += same;
        if (same) {
            assert_int_equal(all[i - 1]->future, all[i]->future);
        }
    }
    return classes;
}

/* What colours merge is all that there is to merge. */
static void check(const char *text, int processes)
{
    static struct known *all[STATES_MAX];
    size_t merged = 0;
    open_run(text);
    meet(processes);
    for (size_t i = 0; i < states; i++) {
        uint64_t future = future_of(queue[i], processes);
        world_restore(run.world, queue[i]);
        find(canon_fingerprint(named))->future = future;
    }
    for (size_t i = 0, count = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].plain != 0) {
            all[count++] = &table[i];
        }
    }
    size_t found = count_classes(all, by_colors, &merged);
    size_t least = count_classes(all, by_tried, &merged);
    assert_int_equal(found, least);
    assert_true(merged > states / 3); /* the test would be empty otherwise */
    close_run();
}

#define HEAD "world used untimed\nmutex /locks/x\n"
#define TAIL "----\nholds at_most_one_holder\n"

static void without_a_fault(void **state)
{
    (void)state;
    check(HEAD "process a b c: acquire release\n" TAIL, 3);
}

static void after_a_loss(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore loss<=1\n" TAIL, 2);
}

static void after_an_expiry(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore expire<=1\n" TAIL, 2);
}

static void after_a_crash(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore crash<=1\n" TAIL, 2);
}

static void with_a_cancel(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire timeout=1s release\nexplore cancel<=1\n" TAIL, 2);
}

/* Two threads of a process: it has watches on nodes of different processes when its link breaks. */
static void with_two_watches(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire revocable acquire owner=1\nexplore loss<=1\n" TAIL, 2);
}

static void in_small_steps(void **state)
{
    (void)state;
    check("world used untimed fine\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n" TAIL, 2);
}

static void with_a_revocation(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire revocable revoke release\n" TAIL, 2);
}

static void without_the_directory(void **state)
{
    (void)state;
    check("world untimed\nmutex /locks/x\nprocess a b: acquire release\n" TAIL, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault),       cmocka_unit_test(after_a_loss),
        cmocka_unit_test(after_an_expiry),       cmocka_unit_test(after_a_crash),
        cmocka_unit_test(with_a_cancel),         cmocka_unit_test(in_small_steps),
        cmocka_unit_test(with_two_watches),      cmocka_unit_test(with_a_revocation),
        cmocka_unit_test(without_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
