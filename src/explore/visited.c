/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/visited.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PLACES_MIN (1u << 16)

struct visited {
    uint64_t *place; /* 0 = empty */
    uint64_t places;
    uint64_t count;
    uint64_t full; /* grow at this count */
    size_t bytes_max;
};

static uint64_t *map_places(uint64_t places)
{
    size_t bytes = places * sizeof(uint64_t);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    madvise(at, bytes,
            MADV_HUGEPAGE); /* each look-up is a miss of the caches; let it not be one of the TLB too */
    return at;
}

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

static void put(uint64_t *place, uint64_t places, uint64_t key)
{
    uint64_t at = home_of(key, places);
    while (place[at] != 0) {
        at = at + 1 < places ? at + 1 : 0;
    }
    place[at] = key;
}

static uint64_t full_at(uint64_t places)
{
    return places / 4 * 3;
}

struct visited *visited_open(size_t bytes_max)
{
    struct visited *visited = calloc(1, sizeof *visited);
    if (visited == NULL) {
        return NULL;
    }
    visited->bytes_max = bytes_max;
    visited->places = PLACES_MIN;
    visited->full = full_at(PLACES_MIN);
    visited->place = visited->places * sizeof(uint64_t) <= bytes_max ? map_places(visited->places) : NULL;
    if (visited->place == NULL) {
        free(visited);
        return NULL;
    }
    return visited;
}

void visited_close(struct visited *visited)
{
    if (visited != NULL) {
        munmap(visited->place, visited->places * sizeof(uint64_t));
        free(visited);
    }
}

/* Half as many places again: the table is then half full, and both together fit. */
static bool grow(struct visited *visited)
{
    uint64_t places = visited->places / 2 * 3;
    size_t bytes = places * sizeof(uint64_t);
    uint64_t *place = bytes + visited_bytes(visited) <= visited->bytes_max ? map_places(places) : NULL;
    if (place == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < visited->places; i++) {
        if (visited->place[i] != 0) {
            put(place, places, visited->place[i]);
        }
    }
    munmap(visited->place, visited_bytes(visited));
    visited->place = place;
    visited->places = places;
    visited->full = full_at(places);
    return true;
}

void visited_prefetch(const struct visited *visited, uint64_t fingerprint)
{
    __builtin_prefetch(&visited->place[home_of(key_of(fingerprint), visited->places)], 1);
}

enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint)
{
    uint64_t key = key_of(fingerprint);
    uint64_t at = home_of(key, visited->places);
    while (visited->place[at] != 0) {
        if (visited->place[at] == key) {
            return VISITED_KNOWN;
        }
        at = at + 1 < visited->places ? at + 1 : 0;
    }
    /* A table that may not grow is filled to fifteen sixteenths. */
    if (visited->count >= visited->full) {
        if (grow(visited)) {
            return visited_add(visited, fingerprint);
        }
        visited->full = visited->places / 16 * 15;
        if (visited->count >= visited->full) {
            return VISITED_FULL;
        }
    }
    visited->place[at] = key;
    visited->count++;
    return VISITED_NEW;
}

uint64_t visited_count(const struct visited *visited)
{
    return visited->count;
}

size_t visited_bytes(const struct visited *visited)
{
    return visited->places * sizeof(uint64_t);
}

double visited_expected_omissions(uint64_t states)
{
    double n = (double)states;
    return n * n / 36893488147419103232.0; /* 2^65 */
}
