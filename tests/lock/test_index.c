/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Where a session finds its claims: against a plain search, and in bytes that do not tell in which order claims came. */
#include "lock/claim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CLAIMS = 300, MUTEXES = 3 };

static struct ls_session session;
static struct lock_place place;
static struct ls_mutex mutexes[MUTEXES];
static struct lock_claim claims[CLAIMS];
static bool is_in[CLAIMS];

static void begin(void)
{
    memset(&session, 0, sizeof session);
    memset(claims, 0, sizeof claims);
    memset(is_in, 0, sizeof is_in);
    place.session = &session;
    for (int i = 0; i < MUTEXES; i++)
        mutexes[i].session = &session;
}

static uint16_t lowest_free(void)
{
    for (uint16_t id = 1;; id++) {
        bool taken = false;
        for (const struct lock_claim *claim = session.claims; claim; claim = claim->next)
            taken = taken || claim->watch_id == id;
        if (!taken)
            return id;
    }
}

static void come(int i)
{
    struct lock_claim *claim = &claims[i];
    memset(claim, 0, sizeof *claim);
    claim->place = &place;
    claim->mutex = &mutexes[i % MUTEXES];
    claim->owner = (uint64_t)i / MUTEXES + 1;
    claim->state = LOCK_CLAIMING;
    claim->watch_id = lock_index_free_watch(&session);
    assert_int_equal(claim->watch_id, lowest_free());
    lock_index_add(claim);
    is_in[i] = true;
}

static void go(int i)
{
    lock_index_disown(&claims[i]);
    lock_index_remove(&claims[i]);
    is_in[i] = false;
}

static void check_all(void)
{
    for (int i = 0; i < CLAIMS; i++) {
        struct lock_claim *expected = is_in[i] ? &claims[i] : NULL;
        assert_ptr_equal(lock_index_find(&mutexes[i % MUTEXES], (uint64_t)i / MUTEXES + 1), expected);
        if (expected)
            assert_ptr_equal(lock_index_watcher(&session, expected->watch_id), expected);
    }
    assert_null(lock_index_watcher(&session, lowest_free()));
    const struct lock_claim *last = NULL;
    for (const struct lock_claim *claim = session.claims; claim; claim = claim->next) {
        assert_ptr_equal(claim->previous, last);
        last = claim;
    }
    assert_ptr_equal(session.last_claim, last);
}

static void claims_are_found_whatever_came_and_went(void **state)
{
    (void)state;
    unsigned seed = 1;
    begin();
    for (int step = 0; step < 3000; step++) {
        seed = seed * 1103515245u + 12345u;
        int i = (int)(seed >> 16) % CLAIMS;
        if (is_in[i])
            go(i);
        else
            come(i);
        if (step % 50 == 0)
            check_all();
    }
    for (int i = 0; i < CLAIMS; i++)
        if (is_in[i])
            go(i);
    check_all();
    assert_null(session.watchers);
    assert_null(session.owners);
}

/* Claims with the numbers that they have, in any order. */
static void bytes_are_a_function_of_the_claims(void **state)
{
    (void)state;
    static struct lock_claim once[CLAIMS];
    begin();
    for (int i = 0; i < CLAIMS; i++)
        come(i);
    memcpy(once, claims, sizeof once);
    struct ls_session first = session;
    for (int i = 0; i < CLAIMS; i++)
        go(i);
    for (int i = 0; i < CLAIMS; i++)
        lock_index_add(&claims[i * 7 % CLAIMS]);
    assert_ptr_equal(session.watchers, first.watchers);
    assert_ptr_equal(session.owners, first.owners);
    for (int i = 0; i < CLAIMS; i++) {
        assert_memory_equal(claims[i].tree, once[i].tree, sizeof once[i].tree);
        assert_int_equal(claims[i].below, once[i].below);
    }
}

static void a_claim_without_an_owner_is_only_heard(void **state)
{
    (void)state;
    begin();
    come(0);
    come(1);
    assert_true(lock_index_any_alive(&session));
    lock_index_disown(&claims[0]);
    assert_null(lock_index_find(&mutexes[0], 1));
    assert_ptr_equal(lock_index_watcher(&session, 1), &claims[0]);
    claims[1].state = LOCK_TOMB;
    assert_false(lock_index_any_alive(&session));
    assert_ptr_equal(lock_index_find(&mutexes[1], 1), &claims[1]);
}

static void numbers_run_out(void **state)
{
    (void)state;
    begin();
    struct lock_claim *all = calloc(UINT16_MAX, sizeof *all);
    assert_non_null(all);
    for (uint32_t i = 0; i < UINT16_MAX; i++) {
        all[i].place = &place;
        all[i].mutex = &mutexes[0];
        all[i].owner = i + 1;
        all[i].watch_id = lock_index_free_watch(&session);
        assert_int_equal(all[i].watch_id, i + 1);
        lock_index_add(&all[i]);
    }
    assert_int_equal(lock_index_free_watch(&session), 0);
    lock_index_disown(&all[776]);
    lock_index_remove(&all[776]);
    assert_int_equal(lock_index_free_watch(&session), 777);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_found_whatever_came_and_went),
        cmocka_unit_test(bytes_are_a_function_of_the_claims),
        cmocka_unit_test(a_claim_without_an_owner_is_only_heard),
        cmocka_unit_test(numbers_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
