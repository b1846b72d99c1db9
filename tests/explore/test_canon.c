/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Renaming numbers that grow (D3c): states that count as one can do the same, label by label, and go to
 * states that count as one. The test checks this bisimulation on all states of small worlds. If a state is
 * met in another disguise (with other numbers) than the first time, all its steps are done again. */
#include "base/hash.h"
#include "state/canon.h"
#include "support/all_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STATES_MAX (1u << 17)

struct met {
    uint64_t plain;  /* fingerprint, without renaming, of the disguise that was met first */
    uint64_t future; /* sum of hashes of its steps' labels and of the states to which they lead */
};

static struct all_states all;
static struct canon *canon;
static struct met met[STATES_MAX];
static size_t disguises;

static void meet(void)
{
    uint32_t before = all.count;
    uint32_t state = all_states_meet(&all, canon_fingerprint(canon));
    if (all.count > before) {
        met[state] = (struct met){.plain = world_fingerprint(all.run.world)};
    }
}

static void add_to_future(void *context, const struct action *action, uint64_t label)
{
    uint64_t *future = context;
    (void)action;
    *future += hash_mix(label ^ hash_mix(canon_fingerprint(canon)));
    meet();
}

/* If the present state is a known one in another disguise, checks that it has the same future. */
static void compare_disguise(void *context, const struct action *action, uint64_t label)
{
    (void)context;
    (void)action;
    (void)label;
    uint32_t state = all_states_find(&all, canon_fingerprint(canon));
    uint64_t future = 0;
    assert_true(state < all.count);
    if (world_fingerprint(all.run.world) == met[state].plain) {
        return;
    }
    struct world_image *kept = all.image[state];
    all.image[state] = world_save(all.run.world);
    all_states_steps(&all, state, add_to_future, &future);
    world_image_free(all.image[state]);
    all.image[state] = kept;
    disguises++;
    assert_int_equal(future, met[state].future);
}

static void check(const char *text)
{
    all_states_open(&all, text, STATES_MAX);
    canon = world_canon(all.run.world);
    assert_non_null(canon);
    disguises = 0;
    meet();
    for (uint32_t i = 0; i < all.count; i++) {
        all_states_steps(&all, i, add_to_future, &met[i].future);
    }
    uint32_t states = all.count;
    for (uint32_t i = 0; i < states; i++) {
        all_states_steps(&all, i, compare_disguise, NULL);
    }
    assert_int_equal(all.count, states);
    assert_true(disguises > states / 20); /* the test would be empty otherwise */
    canon_close(canon);
    all_states_close(&all);
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

/* A program sets data, so the last zxid that a client has seen matters. */
static void with_a_request_to_give_back(void **state)
{
    (void)state;
    check(HEAD "process a: revocable acquire release\nprocess b: revoke\nexplore loss<=1\n" TAIL);
}

/* The leader's restart begins a new epoch of zxids. */
static void with_a_new_epoch(void **state)
{
    (void)state;
    check("world used untimed servers=2\nmutex /locks/x\nprocess a: try\nexplore server<=1\n" TAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_loss),        cmocka_unit_test(after_an_expiry),
        cmocka_unit_test(in_the_second_round), cmocka_unit_test(among_three),
        cmocka_unit_test(with_a_follower),     cmocka_unit_test(with_a_cancel),
        cmocka_unit_test(with_a_crash),        cmocka_unit_test(with_a_request_to_give_back),
        cmocka_unit_test(with_a_new_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
