/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Symmetry reduction (state/canon.h): states that are permutations of each other's processes count as one.
 * Checked on all states of small worlds: the order by colours merges the same states as trying all orders
 * does. States that count as one can do the same steps, which go to states that count as one. */
#include "base/hash.h"
#include "state/canon.h"
#include "support/all_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define STATES_MAX (1u << 16)

struct known {
    uint64_t colors; /* fingerprint without names, by colours */
    uint64_t tried;  /* fingerprint without names, by trying all orders */
    uint64_t future; /* sum of hashes of the kinds of its steps and of the states to which they lead */
};

static struct all_states all;
static int processes;
static struct canon *named, *nameless;
static struct known known[STATES_MAX];

/* ---- all orders ---- */

/* Returns the least fingerprint of all orders that begin with the first `fixed` places of `place`. */
static uint64_t least_of(uint8_t *place, int count, int fixed)
{
    uint64_t least = UINT64_MAX;
    if (fixed == count) {
        return canon_processes_under(nameless, place);
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

static uint32_t meet(void)
{
    uint8_t place[CANON_PROCESSES_MAX] = {0, 1, 2, 3, 4, 5};
    uint32_t before = all.count;
    uint32_t state = all_states_meet(&all, canon_fingerprint(named));
    if (all.count > before) {
        known[state] =
            (struct known){.colors = canon_fingerprint(nameless), .tried = least_of(place, processes, 0)};
    }
    return state;
}

static void add_to_future(void *context, const struct action *action, uint64_t label)
{
    uint64_t *future = context;
    (void)label;
    *future += hash_mix(action->kind + hash_mix(known[meet()].tried));
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

/* Returns how many different states there are by one fingerprint, and adds the others to *merged. States
 * with one fingerprint must have one future. */
static size_t count_classes(struct known **sorted, int (*compare)(const void *, const void *), size_t *merged)
{
    size_t classes = all.count > 0;
    qsort(sorted, all.count, sizeof(void *), compare);
    for (size_t i = 1; i < all.count; i++) {
        bool same = compare(&sorted[i - 1], &sorted[i]) == 0;
        classes += !same;
        *merged += same;
        if (same) {
            assert_int_equal(sorted[i - 1]->future, sorted[i]->future);
        }
    }
    return classes;
}

/* Checks that the order by colours merges as many states as trying all orders does. */
static void check(const char *text, int clients)
{
    static struct known *sorted[STATES_MAX];
    size_t merged = 0;
    all_states_open(&all, text, STATES_MAX);
    processes = clients;
    named = world_canon(all.run.world);
    nameless = world_symmetric_canon(all.run.world);
    assert_true(named != NULL && nameless != NULL);
    meet();
    for (uint32_t i = 0; i < all.count; i++) {
        all_states_steps(&all, i, add_to_future, &known[i].future);
        sorted[i] = &known[i];
    }
    size_t found = count_classes(sorted, by_colors, &merged);
    size_t least = count_classes(sorted, by_tried, &merged);
    assert_int_equal(found, least);
    assert_true(merged > all.count / 3); /* the test would be empty otherwise */
    canon_close(named);
    canon_close(nameless);
    all_states_close(&all);
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

/* A process with two threads has watches on nodes of different processes when its link breaks. */
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
