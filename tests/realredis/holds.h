/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* When processes believed that they hold a lock, in memory that they share. A process that is killed leaves
 * its notes. */
#ifndef TESTS_REALREDIS_HOLDS_H
#define TESTS_REALREDIS_HOLDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define HOLDS_MAX (1 << 20)

/* One hold. It believed from `first_ns` to `last_ns`; 0 = it never believed. `token` is 0 if the lock has
 * none. */
struct hold {
    int64_t token;
    int64_t first_ns, last_ns;
};

struct holds {
    int count;
    int reserved;
    struct hold hold[HOLDS_MAX];
};

struct overlaps {
    int count;          /* number of holds that believed while an earlier one did */
    int twice;          /* number of holds with the token of another one */
    int64_t longest_ns; /* for how long two believed at once at most */
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns zeros that this process and its children share. */
static void *share(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

/* Begins a hold. Notes beyond HOLDS_MAX all go to one hold, which is not judged. */
static struct hold *holds_begin(struct holds *holds, int64_t token)
{
    int index = __atomic_fetch_add(&holds->count, 1, __ATOMIC_SEQ_CST);
    struct hold *hold = &holds->hold[index < HOLDS_MAX ? index : HOLDS_MAX - 1];
    hold->token = token;
    return hold;
}

/* Notes that the hold believed at `now`: a moment before the question to which the answer was yes. */
static void hold_note(struct hold *hold, int64_t now)
{
    hold->first_ns = hold->first_ns == 0 ? now : hold->first_ns;
    hold->last_ns = now;
}

static int by_time(const void *a, const void *b)
{
    int64_t left = ((const struct hold *)a)->first_ns, right = ((const struct hold *)b)->first_ns;
    return (left > right) - (left < right);
}

static int by_token(const void *a, const void *b)
{
    int64_t left = ((const struct hold *)a)->token, right = ((const struct hold *)b)->token;
    return (left > right) - (left < right);
}

/* Sorts the holds, and counts those that exclude each other. The holds of one process never overlap. */
static struct overlaps holds_judge(struct holds *holds)
{
    struct overlaps found = {0};
    int count = holds->count < HOLDS_MAX ? holds->count : HOLDS_MAX - 1;
    struct hold *hold = holds->hold;
    int64_t latest = 0;
    qsort(hold, (size_t)count, sizeof *hold, by_token);
    for (int i = 1; i < count; i++) {
        found.twice += hold[i].token != 0 && hold[i].token == hold[i - 1].token;
    }
    qsort(hold, (size_t)count, sizeof *hold, by_time);
    for (int i = 0; i < count; i++) {
        int64_t end = hold[i].last_ns < latest ? hold[i].last_ns : latest;
        int64_t overlap = hold[i].first_ns != 0 ? end - hold[i].first_ns : 0;
        found.count += overlap > 0;
        found.longest_ns = overlap > found.longest_ns ? overlap : found.longest_ns;
        latest = hold[i].last_ns > latest ? hold[i].last_ns : latest;
    }
    return found;
}

#endif
