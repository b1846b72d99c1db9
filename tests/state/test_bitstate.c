/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States as bits: what was added is known, and as many others are taken for it as is said. */
#include "state/bitstate.h"

#include "base/hash.h"
#include "state/visited.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STATES 1000000u

/* Returns how many of them were taken for known. */
static uint64_t omitted(struct bitstate *bits, uint64_t states)
{
    uint64_t known = 0;
    for (uint64_t i = 1; i <= states; i++) {
        bitstate_prefetch(bits, hash_mix(i));
        known += !bitstate_add(bits, hash_mix(i));
    }
    return known;
}

static void test_what_was_added_is_known(void **state)
{
    (void)state;
    struct bitstate *bits = bitstate_open((size_t)64 << 20, false);
    assert_non_null(bits);
    assert_false(bitstate_has(bits, hash_mix(1)));
    uint64_t known = omitted(bits, STATES);
    assert_true(known < 10);
    for (uint64_t i = 1; i <= STATES; i++) {
        assert_true(bitstate_has(bits, hash_mix(i)));
        assert_false(bitstate_add(bits, hash_mix(i)));
    }
    assert_int_equal(bitstate_bytes(bits), (size_t)64 << 20);
    bitstate_close(bits);
}

/* From nearly none to most of them. Nothing lies behind others here, so that the figure has to be right. */
static void test_as_many_are_left_out_as_is_said(void **state)
{
    (void)state;
    for (size_t bytes = (size_t)1 << 16; bytes <= (size_t)1 << 22; bytes *= 2) {
        struct bitstate *bits = bitstate_open(bytes, true);
        uint64_t known = omitted(bits, STATES);
        double expected = bitstate_expected_omissions(bytes, STATES - known);
        assert_true((double)known > expected * 0.9 && (double)known < expected * 1.1);
        bitstate_close(bits);
    }
    assert_true(bitstate_expected_omissions(1000, 0) == 0);
}

/* A size that is no multiple of a word, and the smallest. */
static void test_small_tables(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < 100; bytes++) {
        struct bitstate *bits = bitstate_open(bytes, false);
        assert_true(bitstate_bytes(bits) >= bytes && bitstate_bytes(bits) < bytes + 8);
        assert_true(omitted(bits, 1000) > 0);
        bitstate_close(bits);
    }
}

/* ---- as a set of states of several ---- */

#define THREADS 4

struct part {
    struct visited *visited;
    int worker;
};

static void *add_part(void *argument)
{
    struct part *part = argument;
    visited_join(part->visited, part->worker);
    for (uint64_t i = 1; i <= STATES / 2; i++) {
        visited_prefetch(part->visited, hash_mix(i));
        visited_add(part->visited, hash_mix(i + (uint64_t)part->worker % 2 * (STATES / 2)));
    }
    visited_rest(part->visited);
    return NULL;
}

static void test_several_share_it(void **state)
{
    (void)state;
    struct visited *visited = visited_open_bits((size_t)64 << 20, THREADS);
    struct part part[THREADS];
    pthread_t thread[THREADS];
    assert_non_null(visited);
    for (int i = 0; i < THREADS; i++) {
        part[i] = (struct part){.visited = visited, .worker = i};
        assert_int_equal(pthread_create(&thread[i], NULL, add_part, &part[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    /* Two may have added one state at the same moment: how often depends on the machine, and each state has two who add it. */
    assert_true(visited_count(visited) > STATES - 10 && visited_count(visited) / 2 <= STATES);
    visited_join(visited, 0);
    for (uint64_t i = 1; i <= STATES; i++) {
        assert_true(visited_has(visited, hash_mix(i)));
        assert_int_equal(visited_add(visited, hash_mix(i)), VISITED_KNOWN);
    }
    assert_int_equal(visited_bytes(visited), (size_t)64 << 20);
    visited_close(visited);
    assert_null(visited_open_bits(1000, 65));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_added_is_known),
        cmocka_unit_test(test_as_many_are_left_out_as_is_said),
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_several_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
