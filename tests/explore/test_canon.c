/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Renaming numbers that grow (D3c): states that count as one can do the same, step by step and label by label, and go to
 * states that count as one. What is checked is a bisimulation on all states of small worlds: each state that is met in
 * another disguise than the first time is asked for all its steps again. */
#include "base/canon.h"
#include "base/hash.h"
#include "scenario/recipes.h"
#include "scenario/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATES_MAX (1u << 17)

struct known {
    uint64_t canonical;
    uint64_t plain;  /* of the disguise in which it was met first */
    uint64_t future; /* of its labels and of the states behind them */
};

static struct scenario scenario;
static struct run run;
static struct canon *canon;
static struct known table[2 * STATES_MAX];
static struct world_image *queue[STATES_MAX];
static size_t states, disguises;

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
    canon = world_canon(run.world);
    assert_non_null(canon);
    memset(table, 0, sizeof table);
    states = disguises = 0;
}

static void close_run(void)
{
    for (size_t i = 0; i < states; i++) {
        world_image_free(queue[i]);
    }
    canon_close(canon);
    run_close(&run);
    scenario_close(&scenario);
}

static struct known *find(uint64_t canonical)
{
    size_t at = canonical & (2 * STATES_MAX - 1);
    while (table[at].canonical != 0 && table[at].canonical != canonical) {
        at = (at + 1) & (2 * STATES_MAX - 1);
    }
    return &table[at];
}

/* Puts the present state on the list if it is new. */
static bool meet(struct known **known)
{
    uint64_t canonical = canon_fingerprint(canon);
    *known = find(canonical);
    if ((*known)->canonical != 0) {
        return false;
    }
    **known = (struct known){.canonical = canonical, .plain = world_fingerprint(run.world)};
    assert_true(states < STATES_MAX);
    queue[states++] = world_save(run.world);
    return true;
}

static uint64_t hash_label(const char *label)
{
    _Alignas(8) char padded[(WORLD_LABEL_MAX + 7) / 8 * 8] = {0};
    snprintf(padded, sizeof padded, "%s", label);
    return hash_bytes(padded, sizeof padded, 7);
}

/* What the state of an image can do, whatever its numbers are; notes the states behind it if asked to. */
static uint64_t future_of(const struct world_image *image, bool note)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    char label[WORLD_LABEL_MAX];
    uint64_t sum = 0;
    world_restore(run.world, image);
    int count = world_actions(run.world, actions);
    for (int i = 0; i < count; i++) {
        struct known *known;
        world_label(run.world, &actions[i], label);
        world_do(run.world, &actions[i]);
        sum += hash_mix(hash_label(label) ^ hash_mix(canon_fingerprint(canon)));
        if (note) {
            meet(&known);
        }
        world_restore(run.world, image);
    }
    return sum;
}

/* The present state may be a known one in another disguise: then it can do what that one can. */
static void compare_disguise(const struct known *known)
{
    if (world_fingerprint(run.world) == known->plain || known->future == 0) {
        return;
    }
    struct world_image *image = world_save(run.world);
    uint64_t future = future_of(image, false);
    world_image_free(image);
    disguises++;
    assert_int_equal(future, known->future);
}

/* All steps of all states once more, now that the future of each is known. */
static void compare_all(void)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (size_t i = 0; i < states; i++) {
        world_restore(run.world, queue[i]);
        int count = world_actions(run.world, actions);
        for (int k = 0; k < count; k++) {
            world_restore(run.world, queue[i]);
            world_do(run.world, &actions[k]);
            compare_disguise(find(canon_fingerprint(canon)));
        }
    }
}

static void check(const char *text)
{
    struct known *known;
    open_run(text);
    meet(&known);
    for (size_t i = 0; i < states; i++) {
        world_restore(run.world, queue[i]);
        uint64_t canonical = canon_fingerprint(canon);
        uint64_t future = future_of(queue[i], true);
        find(canonical)->future = future;
    }
    compare_all();
    assert_true(disguises > states / 20); /* the test would be empty otherwise */
    close_run();
}

#define HEAD "world used untimed\nmutex /locks/x\n"
#define TAIL "----\nholds at_most_one_holder\n"

static void after_a_loss(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore loss<=1\n" TAIL);
}

static void after_an_expiry(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore expire<=1\n" TAIL);
}

static void in_the_second_round(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release acquire release\n" TAIL);
}

static void among_three(void **state)
{
    (void)state;
    check(HEAD "process a b c: acquire release\n" TAIL);
}

static void with_a_follower(void **state)
{
    (void)state;
    check("world used untimed servers=2\nmutex /locks/x\nprocess a b: acquire release\n" TAIL);
}

static void with_a_cancel(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore cancel<=1 loss<=1 total<=1\n" TAIL);
}

static void with_a_crash(void **state)
{
    (void)state;
    check(HEAD "process a b: acquire release\nexplore crash<=1\n" TAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_loss),        cmocka_unit_test(after_an_expiry),
        cmocka_unit_test(in_the_second_round), cmocka_unit_test(among_three),
        cmocka_unit_test(with_a_follower),     cmocka_unit_test(with_a_cancel),
        cmocka_unit_test(with_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
