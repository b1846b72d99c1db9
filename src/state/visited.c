/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/visited.h"

#include "base/assert.h"
#include "base/huge_pages.h"
#include "state/bitstate.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PLACES_MIN (1u << 16)
#define PLACES_BEHIND                                                                                        \
    (1u << 15) /* for keys that find the last places taken; the very last of all places stays empty */
#define WORKERS_MAX 64
#define LOOK_EVERY 128u /* states that a worker adds between two looks at the fill */

/* A worker's count of states, on a cache line of its own, so that no two workers write to one line. */
struct tally {
    _Alignas(64) _Atomic uint64_t count;
};

/* The head of a table. Workers share a shared table with its head. A worker that makes the table grow waits
 * until all others rest, at the latest in their next visited_add(). The table grows in place: the address
 * range of its largest size is mapped from the start (MAP_NORESERVE). */
struct visited {
    _Atomic uint64_t *place; /* 0 = empty */
    uint64_t places;
    uint64_t full;    /* count at which the table grows; if it is final, count at which it is full */
    size_t bytes_max; /* size of the address range: the largest size of the table */
    int workers;
    bool final;            /* the table does not grow any more */
    struct bitstate *bits; /* in place of a table; NULL = a table */
    atomic_int active;     /* workers that do not rest */
    atomic_int growing;    /* a worker makes the table grow, or waits to do so */
    struct tally tally[WORKERS_MAX];
};

static _Thread_local int self; /* number of this worker */

static void *map_pages(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    /* each look-up misses the caches, but need not miss the TLB */
    huge_pages(at, bytes);
    return at;
}

static size_t bytes_of(uint64_t places)
{
    return (places + PLACES_BEHIND) * sizeof(uint64_t);
}

static uint64_t full_at(uint64_t places)
{
    return places / 4 * 3;
}

static struct visited *open_head(int workers, int flags)
{
    struct visited *visited =
        workers >= 1 && workers <= WORKERS_MAX ? map_pages(sizeof *visited, flags) : NULL;
    if (visited != NULL) {
        visited->workers = workers;
        LS_ASSERT(visited->places == 0 && !visited->final);
    }
    return visited;
}

/* Maps three quarters of `bytes_max`, if all of it can be mapped: the rest of the search needs addresses too.
 * Else tries with half of `bytes_max`, and so on. NULL if that becomes too small for the smallest table. */
static struct visited *open_table(struct visited *visited, size_t bytes_max, int flags)
{
    void *all = NULL;
    while (visited != NULL && all == NULL && bytes_max - bytes_max / 4 >= bytes_of(PLACES_MIN)) {
        visited->bytes_max = bytes_max - bytes_max / 4;
        all = map_pages(bytes_max, flags);
        bytes_max = all != NULL ? bytes_max : bytes_max / 2;
    }
    if (all != NULL) {
        munmap(all, bytes_max);
        visited->place = map_pages(visited->bytes_max, flags);
        visited->places = PLACES_MIN;
        visited->full = full_at(PLACES_MIN);
    }
    if (visited != NULL && visited->place == NULL) {
        visited_close(visited);
        return NULL;
    }
    return visited;
}

struct visited *visited_open(size_t bytes_max)
{
    struct visited *visited = open_table(open_head(1, MAP_PRIVATE), bytes_max, MAP_PRIVATE);
    if (visited != NULL) {
        visited->active = 1;
        self = 0;
    }
    return visited;
}

struct visited *visited_open_shared(size_t bytes_max, int workers)
{
    return open_table(open_head(workers, MAP_SHARED), bytes_max, MAP_SHARED);
}

struct visited *visited_open_bits(size_t bytes, int workers)
{
    struct visited *visited = open_head(workers, MAP_SHARED);
    if (visited == NULL) {
        return NULL;
    }
    visited->bits = bitstate_open(bytes, workers > 1);
    if (visited->bits == NULL) {
        visited_close(visited);
        return NULL;
    }
    self = 0;
    return visited;
}

void visited_close(struct visited *visited)
{
    if (visited == NULL) {
        return;
    }
    bitstate_close(visited->bits);
    if (visited->place != NULL) {
        munmap((void *)visited->place, visited->bytes_max);
    }
    munmap(visited, sizeof *visited);
}

static void wait_until_grown(struct visited *visited)
{
    while (atomic_load(&visited->growing)) {
        sched_yield();
    }
}

void visited_rest(struct visited *visited)
{
    atomic_fetch_sub(&visited->active, 1);
}

void visited_resume(struct visited *visited)
{
    for (;;) {
        wait_until_grown(visited);
        atomic_fetch_add(&visited->active, 1);
        if (!atomic_load(&visited->growing)) {
            return;
        }
        atomic_fetch_sub(&visited->active, 1);
    }
}

void visited_join(struct visited *visited, int worker)
{
    LS_ASSERT(worker >= 0 && worker < visited->workers);
    self = worker;
    visited_resume(visited);
}

/* Returns the key of a fingerprint. 0 is an empty place, so the fingerprint 0 counts as 1. */
static uint64_t key_of(uint64_t fingerprint)
{
    return fingerprint != 0 ? fingerprint : 1;
}

static uint64_t home_of(uint64_t key, uint64_t places)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)key * places) >> 64);
}

static void put(struct visited *visited, uint64_t key)
{
    uint64_t at = home_of(key, visited->places);
    while (atomic_load_explicit(&visited->place[at], memory_order_relaxed) != 0) {
        at++;
    }
    LS_ASSERT(at < visited->places + PLACES_BEHIND - 1);
    atomic_store_explicit(&visited->place[at], key, memory_order_relaxed);
}

static uint64_t take(struct visited *visited, uint64_t at)
{
    uint64_t key = atomic_load_explicit(&visited->place[at], memory_order_relaxed);
    atomic_store_explicit(&visited->place[at], 0, memory_order_relaxed);
    return key;
}

static void set_places(struct visited *visited, uint64_t places)
{
    LS_ASSERT(places >= PLACES_MIN && bytes_of(places) <= visited->bytes_max);
    visited->places = places;
    visited->full = full_at(places);
}

/* Makes a table that is three quarters full half full. */
static uint64_t more_places(uint64_t places)
{
    return places / 2 * 3;
}

static bool may_grow(const struct visited *visited, uint64_t places)
{
    return bytes_of(more_places(places)) <= visited->bytes_max;
}

static void end_growth(struct visited *visited)
{
    LS_ASSERT(visited->bits == NULL && !visited->final);
    visited->full = visited->places / 16 * 15;
    visited->final = true;
}

/* Returns how many keys lie at or behind their home in the larger table. Some of the first keys do, because
 * other keys have pushed them away from their present home. */
static size_t count_behind(const struct visited *visited, uint64_t places)
{
    size_t count = 0;
    for (uint64_t i = 0; i < visited->places + PLACES_BEHIND; i++) {
        uint64_t key = atomic_load_explicit(&visited->place[i], memory_order_relaxed);
        count += key != 0 && home_of(key, places) <= i;
    }
    return count;
}

/* Moves each key, from the last place to the first, to its place in a table of one and a half times as many
 * places. Returns false, with nothing changed, if the table may not grow or memory is short.
 *   Claim. No key is put among those that are still to be moved, and none runs beyond the last place.
 *   Why. A key whose new home lies behind its old place goes there; the others are set aside until all are
 *   moved. Homes spread out: no more keys than before have their home in as many of the last places.
 *   Checked by. test_visited.c: test_it_grows_and_forgets_nothing, test_it_goes_on_behind_its_end. */
static bool enlarge(struct visited *visited)
{
    uint64_t before = visited->places, places = more_places(before);
    size_t behind = may_grow(visited, before) ? count_behind(visited, places) : 0;
    uint64_t *aside = may_grow(visited, before) ? malloc((behind + 1) * sizeof *aside) : NULL;
    if (aside == NULL) {
        return false;
    }
    size_t count = 0;
    uint64_t moved = 0;
    set_places(visited, places);
    for (uint64_t i = before + PLACES_BEHIND; i-- > 0;) {
        uint64_t key = take(visited, i);
        moved += key != 0;
        if (key != 0 && home_of(key, places) <= i) {
            LS_ASSERT(count < behind);
            aside[count++] = key;
        } else if (key != 0) {
            put(visited, key);
        }
    }
    LS_ASSERT(count == behind);
    while (count > 0) {
        put(visited, aside[--count]);
    }
    free(aside);
    LS_ASSERT(moved == visited_count(visited));
    return true;
}

bool visited_reserve(struct visited *visited, uint64_t count)
{
    LS_ASSERT(visited->bits == NULL && visited_count(visited) == 0);
    uint64_t places = visited->places;
    while (full_at(places) <= count && may_grow(visited, places)) {
        places = more_places(places);
    }
    set_places(visited, places);
    if (visited->full <= count) {
        end_growth(visited);
    }
    return visited->full >= count;
}

/* Makes the table grow while all other workers rest. If it cannot grow, it is filled to fifteen
 * sixteenths. */
static void grow(struct visited *visited)
{
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&visited->growing, &nobody, 1)) {
        return;
    }
    while (atomic_load(&visited->active) > 1) {
        sched_yield();
    }
    if (visited_count(visited) >= visited->full && !enlarge(visited)) {
        end_growth(visited);
    }
    atomic_store(&visited->growing, 0);
}

void visited_prefetch(const struct visited *visited, uint64_t fingerprint)
{
    if (visited->bits != NULL) {
        bitstate_prefetch(visited->bits, fingerprint);
        return;
    }
    __builtin_prefetch((const void *)&visited->place[home_of(key_of(fingerprint), visited->places)], 1);
}

static enum visited_answer insert(struct visited *visited, uint64_t key)
{
    uint64_t last = visited->places + PLACES_BEHIND - 1;
    for (uint64_t at = home_of(key, visited->places); at < last; at++) {
        uint64_t found = atomic_load_explicit(&visited->place[at], memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong_explicit(
                              &visited->place[at], &found, key, memory_order_relaxed, memory_order_relaxed)) {
            return VISITED_NEW;
        }
        if (found == key) {
            return VISITED_KNOWN;
        }
    }
    return VISITED_FULL;
}

bool visited_has(const struct visited *visited, uint64_t fingerprint)
{
    if (visited->bits != NULL) {
        return bitstate_has(visited->bits, fingerprint);
    }
    uint64_t key = key_of(fingerprint);
    uint64_t at = home_of(key, visited->places);
    uint64_t found;
    while ((found = atomic_load_explicit(&visited->place[at], memory_order_relaxed)) != 0 && found != key) {
        at++;
    }
    LS_ASSERT(at < visited->places + PLACES_BEHIND);
    return found == key;
}

static uint64_t count_one(struct visited *visited)
{
    _Atomic uint64_t *tally = &visited->tally[self].count;
    uint64_t mine = atomic_load_explicit(tally, memory_order_relaxed) + 1;
    atomic_store_explicit(tally, mine, memory_order_relaxed);
    return mine;
}

static enum visited_answer add_bits(struct visited *visited, uint64_t fingerprint)
{
    if (!bitstate_add(visited->bits, fingerprint)) {
        return VISITED_KNOWN;
    }
    count_one(visited);
    return VISITED_NEW;
}

enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint)
{
    if (visited->bits != NULL) {
        return add_bits(visited, fingerprint);
    }
    uint64_t key = key_of(fingerprint);
    if (atomic_load(&visited->growing)) {
        visited_rest(visited);
        visited_resume(visited);
    }
    if (visited->final && visited_count(visited) >= visited->full) {
        return visited_has(visited, fingerprint) ? VISITED_KNOWN : VISITED_FULL;
    }
    enum visited_answer answer = insert(visited, key);
    if (answer == VISITED_NEW) {
        uint64_t mine = count_one(visited);
        if ((mine & (LOOK_EVERY - 1)) == 0 && !visited->final && visited_count(visited) >= visited->full) {
            grow(visited);
        }
    }
    return answer;
}

size_t visited_copy(const struct visited *visited, uint64_t *at, uint64_t *out, size_t max)
{
    LS_ASSERT(visited->bits == NULL);
    size_t count = 0;
    for (; *at < visited->places + PLACES_BEHIND && count < max; ++*at) {
        uint64_t key = atomic_load_explicit(&visited->place[*at], memory_order_relaxed);
        out[count] = key;
        count += key != 0;
    }
    LS_ASSERT(count <= max && *at <= visited->places + PLACES_BEHIND);
    return count;
}

uint64_t visited_count(const struct visited *visited)
{
    uint64_t sum = 0;
    for (int i = 0; i < visited->workers; i++) {
        sum += atomic_load_explicit(&visited->tally[i].count, memory_order_relaxed);
    }
    return sum;
}

size_t visited_bytes(const struct visited *visited)
{
    return visited->bits != NULL ? bitstate_bytes(visited->bits) : bytes_of(visited->places);
}

double visited_expected_omissions(uint64_t states)
{
    double n = (double)states;
    return n * n / 36893488147419103232.0; /* 2^65 */
}
