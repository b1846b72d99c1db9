/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Ranks of numbers (state/canon.h). Small numbers are ranked by bits, and large ones by counting; both give
 * the same ranks. Blocks of drawn numbers are renamed to small and large ones, and compared with a naive
 * ranking. */
#include "base/rng.h"
#include "state/canon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCKS 4
#define PER_BLOCK 4 /* numbers of each space in a block; the last zxid is a bound */
#define SPACES 3    /* CANON_ZXID, CANON_SESSION, and the counters in attempt ids */
#define ATTEMPTS 2
#define DISTINCT 7
#define OWNERS 3 /* number of owners of sessions and attempts */
#define ROUNDS 3000

struct numbers {
    struct arena_block head;
    int32_t number[ATTEMPTS][PER_BLOCK];
    uint8_t attempt[PER_BLOCK][16];
};

/* A state up to renaming: the index of the distinct value at each place. */
struct pattern {
    uint8_t at[BLOCKS][SPACES][PER_BLOCK];
};

static struct arena arena;
static struct canon *canon;

static bool is_bound(int space, int i)
{
    return space == CANON_ZXID && i == PER_BLOCK - 1;
}

static void show(void *ctx, int block, struct canon *to)
{
    (void)ctx;
    const struct numbers *numbers = arena_at(&arena, block);
    for (int i = 0; i < PER_BLOCK; i++) {
        for (int space = 0; space < ATTEMPTS; space++) {
            (is_bound(space, i) ? canon_bound : canon_number)(to, (enum canon_space)space,
                                                              &numbers->number[space][i]);
        }
        canon_attempt(to, numbers->attempt[i]);
    }
}

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, 1 << 20), 0);
    for (int block = 0; block < BLOCKS; block++) {
        arena_add(&arena, sizeof(struct numbers), sizeof(struct numbers));
    }
    canon = canon_open(&arena, OWNERS, show, NULL);
    return canon == NULL;
}

static int close_all(void **state)
{
    (void)state;
    canon_close(canon);
    arena_close(&arena);
    return 0;
}

static struct pattern draw_pattern(struct rng *rng)
{
    struct pattern pattern;
    uint8_t *at = &pattern.at[0][0][0];
    for (size_t i = 0; i < sizeof pattern; i++) {
        at[i] = (uint8_t)rng_below(rng, DISTINCT);
    }
    return pattern;
}

/* Draws a growing map from indices to values. 0 stays 0. A session or an attempt keeps its owner, and grows
 * among those of its owner. */
static void draw_map(struct rng *rng, int32_t map[SPACES][DISTINCT], int step)
{
    int32_t round[OWNERS] = {0}, attempts[OWNERS] = {0};
    map[CANON_ZXID][0] = map[CANON_SESSION][0] = map[ATTEMPTS][0] = 0;
    for (int i = 1; i < DISTINCT; i++) {
        map[CANON_ZXID][i] = map[CANON_ZXID][i - 1] + 1 + (int32_t)rng_below(rng, (uint32_t)step);
        int owner = (i - 1) % OWNERS;
        round[owner] += (int32_t)rng_below(rng, (uint32_t)step);
        map[CANON_SESSION][i] = 1 + owner + OWNERS * round[owner]++;
        attempts[owner] += 1 + (int32_t)rng_below(rng, (uint32_t)step);
        map[ATTEMPTS][i] = attempts[owner];
    }
}

static void write_attempt(uint8_t id[16], uint8_t value, int32_t counter)
{
    id[3] = (uint8_t)(value > 0 ? (value - 1) % OWNERS + 1 : 1);
    id[14] = (uint8_t)(counter >> 8);
    id[15] = (uint8_t)counter;
}

static void write_block(const struct pattern *pattern, int32_t map[SPACES][DISTINCT], int block)
{
    struct numbers *numbers = arena_at(&arena, block);
    arena_mark(&arena, block);
    for (int i = 0; i < PER_BLOCK; i++) {
        for (int space = 0; space < ATTEMPTS; space++) {
            numbers->number[space][i] = map[space][pattern->at[block][space][i]];
        }
        uint8_t value = pattern->at[block][ATTEMPTS][i];
        write_attempt(numbers->attempt[i], value, map[ATTEMPTS][value]);
    }
}

static uint64_t fingerprint_of(const struct pattern *pattern, int32_t map[SPACES][DISTINCT])
{
    for (int block = 0; block < BLOCKS; block++) {
        write_block(pattern, map, block);
    }
    return canon_fingerprint(canon);
}

/* Returns the rank of a number among those that are present. Sessions and attempts have ranks by owner. */
static uint8_t rank_of(const bool present[DISTINCT], int space, uint8_t number)
{
    int step = space == CANON_ZXID ? 1 : OWNERS;
    uint8_t below = number > 0;
    for (int i = number; i > 0; i -= step) {
        below = (uint8_t)(below + present[i]);
    }
    bool owned = space != CANON_ZXID && number > 0;
    return (uint8_t)(below + (owned ? 16 * ((number - 1) % OWNERS + 1) : 0));
}

/* Replaces each number by how many numbers of its space, bounds excluded, are at most as large. */
static struct pattern rank(const struct pattern *pattern)
{
    struct pattern ranks = {0};
    for (int space = 0; space < SPACES; space++) {
        bool present[DISTINCT] = {false};
        for (int n = 0; n < BLOCKS * PER_BLOCK; n++) {
            present[pattern->at[n / PER_BLOCK][space][n % PER_BLOCK]] |= !is_bound(space, n % PER_BLOCK);
        }
        for (int n = 0; n < BLOCKS * PER_BLOCK; n++) {
            uint8_t number = pattern->at[n / PER_BLOCK][space][n % PER_BLOCK];
            ranks.at[n / PER_BLOCK][space][n % PER_BLOCK] = rank_of(present, space, number);
        }
    }
    return ranks;
}

/* Steps of a map: all numbers are below the limit of ranking by bits; most are; nearly all are beyond it. */
static const int steps[] = {8, 30, 160};

static void renamed_states_count_as_one(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1);
    int32_t map[SPACES][DISTINCT];
    for (int round = 0; round < ROUNDS; round++) {
        struct pattern pattern = draw_pattern(&rng);
        draw_map(&rng, map, 1);
        uint64_t first = fingerprint_of(&pattern, map);
        for (int i = 0; i < 3; i++) {
            draw_map(&rng, map, steps[i]);
            assert_int_equal(fingerprint_of(&pattern, map), first);
        }
    }
}

static void others_do_not(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2);
    int32_t map[SPACES][DISTINCT];
    int equal = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct pattern one = draw_pattern(&rng), other = one;
        other.at[rng_below(&rng, BLOCKS)][rng_below(&rng, SPACES)][rng_below(&rng, PER_BLOCK)] =
            (uint8_t)rng_below(&rng, DISTINCT);
        struct pattern one_ranks = rank(&one), other_ranks = rank(&other);
        bool same = memcmp(&one_ranks, &other_ranks, sizeof one_ranks) == 0;
        draw_map(&rng, map, steps[round % 3]);
        uint64_t hash = fingerprint_of(&one, map);
        draw_map(&rng, map, steps[round / 3 % 3]);
        assert_int_equal(fingerprint_of(&other, map) == hash, same);
        equal += same;
    }
    assert_in_range(equal, ROUNDS / 10, ROUNDS / 2);
}

static const struct canon_part *copy_part(int block, uint64_t space[64])
{
    size_t size;
    const struct canon_part *part = canon_part(canon, block, &size);
    assert_true(size <= 64 * sizeof *space);
    return memcpy(space, part, size);
}

/* Compares the fingerprints of a state and of neighbours that differ in one to three blocks, with small and
 * large numbers. In half of the rounds the map stays. Then numbers appear, disappear, or leave several
 * blocks at once. */
static void neighbours_are_summed_alike(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    int32_t map[SPACES][DISTINCT];
    static uint64_t space[BLOCKS][64], other_space[BLOCKS][64];
    const struct canon_part *parts[BLOCKS], *changed[BLOCKS];
    for (int round = 0; round < 2 * ROUNDS; round++) {
        struct pattern pattern = draw_pattern(&rng);
        draw_map(&rng, map, steps[round % 3]);
        uint64_t base = fingerprint_of(&pattern, map);
        for (int block = 0; block < BLOCKS; block++) {
            parts[block] = copy_part(block, space[block]);
        }
        assert_int_equal(canon_sum(canon, parts, 0), base);
        struct pattern other = draw_pattern(&rng);
        if (round % 2 == 0) {
            draw_map(&rng, map, steps[round / 3 % 3]);
        }
        int count = 1 + round / 9 % 3;
        int first = (int)rng_below(&rng, BLOCKS);
        for (int i = 0; i < count; i++) {
            write_block(&other, map, (first + i) % BLOCKS);
        }
        arena_fingerprint(&arena);
        for (int i = 0; i < count; i++) {
            changed[i] = copy_part((first + i) % BLOCKS, other_space[i]);
        }
        uint64_t neighbour = canon_neighbour(canon, changed, count, 0);
        assert_int_equal(neighbour, canon_fingerprint(canon));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renamed_states_count_as_one),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(neighbours_are_summed_alike),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
