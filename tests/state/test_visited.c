/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The set of fingerprints: it forgets nothing while it grows, and says when it is full. */
#include "state/visited.h"

#include "base/hash.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MEGABYTE ((size_t)1 << 20)

static void add_all(struct visited *visited, uint64_t first, uint64_t count, enum visited_answer answer)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t fingerprint = hash_mix(i);
        visited_prefetch(visited, fingerprint);
        assert_int_equal(visited_add(visited, fingerprint), answer);
    }
}

static void test_it_grows_and_forgets_nothing(void **state)
{
    (void)state;
    struct visited *visited = visited_open(64 * MEGABYTE);
    assert_non_null(visited);
    size_t before = visited_bytes(visited);
    add_all(visited, 1, 1000000, VISITED_NEW);
    add_all(visited, 1, 1000000, VISITED_KNOWN);
    add_all(visited, 1000001, 1000000, VISITED_NEW);
    add_all(visited, 1, 2000000, VISITED_KNOWN);
    assert_true(visited_count(visited) == 2000000);
    assert_true(visited_bytes(visited) > before);
    assert_true(visited_bytes(visited) <= 32000000);
    visited_close(visited);
}

/* 0 marks an empty place: the fingerprint 0 counts as 1. */
static void test_zero_is_a_fingerprint(void **state)
{
    (void)state;
    struct visited *visited = visited_open(MEGABYTE);
    assert_non_null(visited);
    assert_int_equal(visited_add(visited, 0), VISITED_NEW);
    assert_int_equal(visited_add(visited, 0), VISITED_KNOWN);
    assert_int_equal(visited_add(visited, 1), VISITED_KNOWN);
    assert_int_equal(visited_add(visited, 2), VISITED_NEW);
    assert_true(visited_count(visited) == 2);
    visited_close(visited);
}

/* Those of the first list belong at the last place of the table and those of the second at its first one, also when it has
 * grown. */
static void test_it_goes_on_behind_its_end(void **state)
{
    (void)state;
    struct visited *visited = visited_open(64 * MEGABYTE);
    assert_non_null(visited);
    for (int turn = 0; turn < 3; turn++) {
        enum visited_answer wanted = turn == 0 ? VISITED_NEW : VISITED_KNOWN;
        for (uint64_t i = 0; i < 500; i++) {
            assert_int_equal(visited_add(visited, UINT64_MAX - i), wanted);
            assert_int_equal(visited_add(visited, i + 1), wanted);
        }
        size_t before = visited_bytes(visited);
        add_all(visited, 1000 + 200000u * (unsigned)turn, 200000, VISITED_NEW);
        assert_true(visited_bytes(visited) > before);
    }
    assert_true(visited_count(visited) == 601000);
    add_all(visited, 1000, 600000, VISITED_KNOWN);
    visited_close(visited);
}

/* So many belong at the last place that the room behind it is full: that is said, and no one is lost. */
static void test_its_end_is_full(void **state)
{
    (void)state;
    struct visited *visited = visited_open(MEGABYTE);
    uint64_t count = 0;
    assert_non_null(visited);
    while (visited_add(visited, UINT64_MAX - count) == VISITED_NEW) {
        count++;
    }
    assert_true(count > 10000 && visited_count(visited) == count);
    assert_int_equal(visited_add(visited, UINT64_MAX - count), VISITED_FULL);
    assert_false(visited_has(visited, UINT64_MAX - count));
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(visited_add(visited, UINT64_MAX - i), VISITED_KNOWN);
    }
    visited_close(visited);
}

static void test_it_is_full_within_its_bound(void **state)
{
    (void)state;
    size_t bound = 3 * MEGABYTE;
    struct visited *visited = visited_open(bound);
    uint64_t fingerprints = 0;
    assert_non_null(visited);
    while (visited_add(visited, hash_mix(fingerprints + 1)) == VISITED_NEW) {
        fingerprints++;
        assert_true(visited_bytes(visited) <= bound);
    }
    assert_true(visited_count(visited) == fingerprints);
    assert_true(fingerprints * 8 >
                bound / 2); /* a quarter is for others, and the next size is half as large again */
    assert_true(fingerprints * 8 < visited_bytes(visited));
    assert_int_equal(visited_add(visited, hash_mix(fingerprints + 2)), VISITED_FULL);
    add_all(visited, 1, fingerprints, VISITED_KNOWN);
    visited_close(visited);
    assert_null(visited_open(1000));
}

/* Copied out in parts and added to another table, with room made at once. */
static void copy_all(const struct visited *from, struct visited *to, size_t part)
{
    uint64_t fingerprint[1000];
    uint64_t at = 0;
    size_t count;
    assert_true(visited_reserve(to, visited_count(from)));
    size_t before = visited_bytes(to);
    while ((count = visited_copy(from, &at, fingerprint, part)) > 0) {
        assert_true(count <= part);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(visited_add(to, fingerprint[i]), VISITED_NEW);
        }
    }
    assert_true(visited_bytes(to) == before);
    assert_true(visited_count(to) == visited_count(from));
}

static void test_it_is_copied(void **state)
{
    (void)state;
    struct visited *from = visited_open(64 * MEGABYTE);
    add_all(from, 1, 300000, VISITED_NEW);
    for (size_t part = 1; part <= 1000; part += 333) {
        struct visited *to = part == 1 ? visited_open(64 * MEGABYTE) : visited_open_shared(64 * MEGABYTE, 2);
        assert_non_null(to);
        copy_all(from, to, part);
        assert_true(visited_bytes(to) == visited_bytes(from));
        add_all(to, 1, 300000, VISITED_KNOWN);
        add_all(to, 300001, 100000, VISITED_NEW);
        visited_close(to);
    }
    visited_close(from);
}

/* A table that may not grow takes as many as it would have had room for by itself, and no more. */
static void test_room_is_made_within_the_bound(void **state)
{
    (void)state;
    uint64_t room = 0;
    struct visited *full = visited_open(3 * MEGABYTE);
    while (visited_add(full, hash_mix(room + 1)) == VISITED_NEW) {
        room++;
    }
    struct visited *to = visited_open(3 * MEGABYTE);
    assert_true(visited_bytes(to) < visited_bytes(full));
    copy_all(full, to, 1000);
    assert_true(visited_bytes(to) == visited_bytes(full));
    assert_int_equal(visited_add(to, hash_mix(room + 1)), VISITED_FULL);
    visited_close(to);
    to = visited_open(3 * MEGABYTE);
    assert_false(visited_reserve(to, room + 1));
    visited_close(to);
    visited_close(full);
}

static void test_expected_omissions(void **state)
{
    (void)state;
    assert_true(visited_expected_omissions(0) == 0);
    assert_true(visited_expected_omissions(1ull << 32) == 0.5);
    assert_true(visited_expected_omissions(1ull << 33) == 2.0);
    assert_true(visited_expected_omissions(1000000) < 3e-8);
    assert_true(visited_expected_omissions(1000000) > 2e-8);
}

/* ---- shared by threads ---- */

#define THREADS 4
#define EACH 300000u

struct part {
    struct visited *visited;
    int worker;
    uint64_t added;
};

/* Half of what each adds is the next one's, too; now and then it rests. */
static void *add_part(void *argument)
{
    struct part *part = argument;
    visited_join(part->visited, part->worker);
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t number = (uint64_t)part->worker * (EACH / 2) + i;
        part->added += visited_add(part->visited, hash_mix(number + 1)) == VISITED_NEW;
        if (i % 1000 == 999) {
            visited_rest(part->visited);
            visited_resume(part->visited);
        }
    }
    visited_rest(part->visited);
    return NULL;
}

static void test_several_share_it(void **state)
{
    (void)state;
    struct visited *visited = visited_open_shared(64 * MEGABYTE, THREADS);
    struct part part[THREADS];
    pthread_t thread[THREADS];
    uint64_t added = 0;
    assert_non_null(visited);
    size_t before = visited_bytes(visited);
    for (int i = 0; i < THREADS; i++) {
        part[i] = (struct part){.visited = visited, .worker = i};
        assert_int_equal(pthread_create(&thread[i], NULL, add_part, &part[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        added += part[i].added;
    }
    uint64_t wanted = (uint64_t)(THREADS + 1) * (EACH / 2);
    assert_int_equal(added, wanted);
    assert_int_equal(visited_count(visited), wanted);
    assert_true(visited_bytes(visited) > before);
    visited_join(visited, 0);
    for (uint64_t i = 0; i < wanted; i++) {
        assert_int_equal(visited_add(visited, hash_mix(i + 1)), VISITED_KNOWN);
    }
    visited_close(visited);
    assert_null(visited_open_shared(64 * MEGABYTE, 65));
    assert_null(visited_open_shared(1000, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_grows_and_forgets_nothing),
        cmocka_unit_test(test_zero_is_a_fingerprint),
        cmocka_unit_test(test_it_goes_on_behind_its_end),
        cmocka_unit_test(test_its_end_is_full),
        cmocka_unit_test(test_it_is_full_within_its_bound),
        cmocka_unit_test(test_it_is_copied),
        cmocka_unit_test(test_room_is_made_within_the_bound),
        cmocka_unit_test(test_expected_omissions),
        cmocka_unit_test(test_several_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
