/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What one random access to memory costs, in a table as large as the set of states of a search: the limit of any search
 * that remembers its states. Addresses depend on what was read before, so that no access overlaps another. */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PLACES_DEFAULT 5668704u /* what a search of 4.2 million states has */
#define ACCESSES 8000000
#define ROUNDS 5

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t *map_table(size_t places, int advice)
{
    uint64_t *place =
        mmap(NULL, places * sizeof *place, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
        return NULL;
    }
    madvise(place, places * sizeof *place, advice);
    for (size_t i = 0; i < places; i++) {
        place[i] = hash_mix(i);
    }
    return place;
}

/* Nanoseconds of processor time for one access, without those of choosing the address: the best of some rounds. */
static double access_ns(const uint64_t *place, size_t places, uint64_t *sum)
{
    __extension__ typedef unsigned __int128 wide;
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t at = (uint64_t)round;
        double started = now_s();
        for (int i = 0; i < ACCESSES; i++) {
            at = hash_mix(at + place[(size_t)(((wide)at * places) >> 64)]);
        }
        double middle = now_s();
        for (int i = 0; i < ACCESSES; i++) {
            at = hash_mix(at + place[at & 511]);
        }
        double ns = ((middle - started) - (now_s() - middle)) * 1e9 / ACCESSES;
        best = ns < best ? ns : best;
        *sum += at;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int advice;
    } kinds[] = {{"huge", MADV_HUGEPAGE}, {"small", MADV_NOHUGEPAGE}};
    size_t places = argc > 1 ? strtoull(argv[1], NULL, 10) : PLACES_DEFAULT;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t *place = places >= 512 ? map_table(places, kinds[i].advice) : NULL;
        if (place == NULL) {
            fprintf(stderr, "bench access: expected at least 512 places that memory is granted for\n");
            return 4;
        }
        printf("random access %6.1f ns  in %.1f MB of %s pages, beyond that in a cache\n",
               access_ns(place, places, &sum), (double)places * sizeof *place / 1e6, kinds[i].name);
        munmap(place, places * sizeof *place);
    }
    return sum == 0;
}
