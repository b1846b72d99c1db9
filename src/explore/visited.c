/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/visited.h"

#include "explore/bitstate.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define PLACES_MIN (1u << 16)
#define WORKERS_MAX 64
#define LOOK_EVERY 128u /* states that a worker adds between two looks at how full the table is */

/* One cache line each: workers count without waiting for each other. */
struct tally {
    _Alignas(64) _Atomic uint64_t count;
};

/* A shared table lies, with this head, in memory that all workers share. Whoever wants to let it grow waits until all
 * others rest; they rest when they next come here. */
struct visited {
    _Atomic uint64_t *place; /* 0 = empty */
    uint64_t places;
    uint64_t full; /* grow at this count */
    size_t bytes_max;
    int workers;
    bool final;        /* it may not grow any more */
    size_t head_bytes; /* of the mapping that this lies in */
    unsigned char
        *space; /* shared: where tables come from, one behind the other; NULL = each has a mapping */
    size_t space_bytes, space_used;
    struct bitstate *bits; /* in place of a table, or NULL */
    atomic_int active;     /* workers that do not rest */
    atomic_int growing;    /* one is about to let it grow */
    struct tally tally[WORKERS_MAX];
};

static _Thread_local int self; /* the worker that this is */

/* ---- memory ---- */

static void *map_pages(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    /* Each look-up is a miss of the caches; let it not be one of the TLB too. */
    madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

static _Atomic uint64_t *map_places(struct visited *visited, uint64_t places)
{
    size_t bytes = places * sizeof(uint64_t);
    if (visited->space == NULL) {
        return map_pages(bytes, MAP_PRIVATE);
    }
    size_t at = (visited->space_used + 4095) & ~(size_t)4095;
    if (at + bytes > visited->space_bytes) {
        return NULL;
    }
    visited->space_used = at + bytes;
    return (_Atomic uint64_t *)(void *)(visited->space + at);
}

static void unmap_places(struct visited *visited)
{
    if (visited->space == NULL) {
        munmap((void *)visited->place, visited_bytes(visited));
    } else {
        madvise((void *)visited->place, visited_bytes(visited), MADV_REMOVE);
    }
}

static uint64_t full_at(uint64_t places)
{
    return places / 4 * 3;
}

static struct visited *open_table(struct visited *visited, size_t bytes_max)
{
    visited->bytes_max = bytes_max;
    visited->places = PLACES_MIN;
    visited->full = full_at(PLACES_MIN);
    visited->place = PLACES_MIN * sizeof(uint64_t) <= bytes_max ? map_places(visited, PLACES_MIN) : NULL;
    if (visited->place == NULL) {
        visited_close(visited);
        return NULL;
    }
    return visited;
}

struct visited *visited_open(size_t bytes_max)
{
    struct visited *visited = map_pages(sizeof *visited, MAP_PRIVATE);
    if (visited == NULL) {
        return NULL;
    }
    visited->head_bytes = sizeof *visited;
    visited->active = 1;
    visited->workers = 1;
    self = 0;
    return open_table(visited, bytes_max);
}

/* What several share, without a table. */
static struct visited *open_head(int workers)
{
    struct visited *visited =
        workers >= 1 && workers <= WORKERS_MAX ? map_pages(sizeof *visited, MAP_SHARED) : NULL;
    if (visited != NULL) {
        visited->head_bytes = sizeof *visited;
        visited->workers = workers;
    }
    return visited;
}

struct visited *visited_open_shared(size_t bytes_max, int workers)
{
    struct visited *visited = open_head(workers);
    if (visited == NULL) {
        return NULL;
    }
    /* All tables together, each half as large again as the one before, take three times the last; only what is written to
     * is memory. */
    visited->space_bytes = bytes_max * 3 + (size_t)4096 * 64;
    visited->space = map_pages(visited->space_bytes, MAP_SHARED | MAP_NORESERVE);
    if (visited->space == NULL) {
        visited_close(visited);
        return NULL;
    }
    return open_table(visited, bytes_max);
}

struct visited *visited_open_bits(size_t bytes, int workers)
{
    struct visited *visited = open_head(workers);
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
    if (visited->space != NULL) {
        munmap(visited->space, visited->space_bytes);
    } else if (visited->place != NULL) {
        munmap((void *)visited->place, visited_bytes(visited));
    }
    munmap(visited, visited->head_bytes);
}

/* ---- who is here ---- */

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
    self = worker;
    visited_resume(visited);
}

/* ---- the table ---- */

/* Nobody's fingerprint is 0: the sum of hashes of a world has no reason to be that, and if it is, it counts as 1. */
static uint64_t key_of(uint64_t fingerprint)
{
    return fingerprint != 0 ? fingerprint : 1;
}

static uint64_t home_of(uint64_t key, uint64_t places)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)key * places) >> 64);
}

static void put(_Atomic uint64_t *place, uint64_t places, uint64_t key)
{
    uint64_t at = home_of(key, places);
    while (atomic_load_explicit(&place[at], memory_order_relaxed) != 0) {
        at = at + 1 < places ? at + 1 : 0;
    }
    atomic_store_explicit(&place[at], key, memory_order_relaxed);
}

static void set_places(struct visited *visited, _Atomic uint64_t *place, uint64_t places)
{
    unmap_places(visited);
    visited->place = place;
    visited->places = places;
    visited->full = full_at(places);
}

static bool may_grow(const struct visited *visited, uint64_t places)
{
    return (places + places / 2 * 3) * sizeof(uint64_t) <= visited->bytes_max;
}

static void end_growth(struct visited *visited)
{
    visited->full = visited->places / 16 * 15;
    visited->final = true;
}

/* Half as many places again: the table is then half full, and both together fit. */
static bool enlarge(struct visited *visited)
{
    uint64_t places = visited->places / 2 * 3;
    _Atomic uint64_t *place = may_grow(visited, visited->places) ? map_places(visited, places) : NULL;
    if (place == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < visited->places; i++) {
        uint64_t key = atomic_load_explicit(&visited->place[i], memory_order_relaxed);
        if (key != 0) {
            put(place, places, key);
        }
    }
    set_places(visited, place, places);
    return true;
}

bool visited_reserve(struct visited *visited, uint64_t count)
{
    uint64_t places = visited->places;
    while (full_at(places) <= count && may_grow(visited, places)) {
        places = places / 2 * 3;
    }
    if (places != visited->places) {
        _Atomic uint64_t *place = map_places(visited, places);
        if (place == NULL) {
            return false;
        }
        set_places(visited, place, places);
    }
    if (visited->full <= count) {
        end_growth(visited);
    }
    return visited->full >= count;
}

/* One worker does it while all others rest. A table that may not grow is filled to fifteen sixteenths. */
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
    uint64_t at = home_of(key, visited->places);
    for (;;) {
        uint64_t found = atomic_load_explicit(&visited->place[at], memory_order_relaxed);
        if (found == 0 && atomic_compare_exchange_strong_explicit(
                              &visited->place[at], &found, key, memory_order_relaxed, memory_order_relaxed)) {
            return VISITED_NEW;
        }
        if (found == key) {
            return VISITED_KNOWN;
        }
        at = at + 1 < visited->places ? at + 1 : 0;
    }
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
        at = at + 1 < visited->places ? at + 1 : 0;
    }
    return found == key;
}

/* Returns how many this worker has added. */
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
    size_t count = 0;
    for (; *at < visited->places && count < max; ++*at) {
        uint64_t key = atomic_load_explicit(&visited->place[*at], memory_order_relaxed);
        out[count] = key;
        count += key != 0;
    }
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
    return visited->bits != NULL ? bitstate_bytes(visited->bits) : visited->places * sizeof(uint64_t);
}

double visited_expected_omissions(uint64_t states)
{
    double n = (double)states;
    return n * n / 36893488147419103232.0; /* 2^65 */
}
