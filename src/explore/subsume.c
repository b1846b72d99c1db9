/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/subsume.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/assert.h"
#include "state/canon.h"

#include <stdlib.h>
#include <string.h>

/* The difference that another content of the budgets' block makes to fingerprints, plain and renamed. */
struct more {
    uint64_t plain, canonical;
};

/* One content of the budgets' block that the search has met, and its differences to other contents. These are
 * all in which some faults were bought less often and none more often, met or not. */
struct known {
    uint64_t hash;
    struct more *more;
    int count;
};

struct subsume {
    struct search *search;
    int block;
    struct known *known;
    int count;
    size_t max;
};

struct subsume *subsume_open(struct search *search)
{
    struct subsume *subsume = calloc(1, sizeof *subsume);
    if (subsume != NULL) {
        subsume->search = search;
        subsume->block = world_budget_block(search->run->world);
    }
    return subsume;
}

void subsume_close(struct subsume *subsume)
{
    if (subsume == NULL) {
        return;
    }
    for (int i = 0; i < subsume->count; i++) {
        free(subsume->known[i].more);
    }
    free(subsume->known);
    free(subsume);
}

static struct more weigh(struct subsume *subsume)
{
    struct arena *arena = world_arena(subsume->search->run->world);
    struct more weight;
    size_t size;
    arena_fingerprint(arena);
    weight.plain = weight.canonical = arena->hash[subsume->block];
    if (subsume->search->canon != NULL) {
        weight.canonical = canon_skeleton(canon_part(subsume->search->canon, subsume->block, &size));
    }
    LS_ASSERT(!arena->stale[subsume->block]);
    return weight;
}

/* Counts a list of bought faults down, as a number with a digit for each fault. Returns false after zero. */
static bool count_down(uint8_t bought[WORLD_FAULTS], const uint8_t all[WORLD_FAULTS])
{
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        LS_ASSERT(bought[fault] <= all[fault]);
        if (bought[fault] > 0) {
            bought[fault]--;
            return true;
        }
        bought[fault] = all[fault];
    }
    return false;
}

static size_t ways_to_buy_fewer(const uint8_t all[WORLD_FAULTS])
{
    size_t ways = 1;
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        ways *= (size_t)all[fault] + 1;
    }
    return ways - 1;
}

/* Fills in the differences. The world is as before then. */
static bool weigh_all(struct subsume *subsume, struct known *known)
{
    struct world *world = subsume->search->run->world;
    uint8_t all[WORLD_FAULTS], bought[WORLD_FAULTS];
    struct more here = weigh(subsume);
    world_bought(world, all);
    memcpy(bought, all, sizeof bought);
    known->more = calloc(ways_to_buy_fewer(all) + 1, sizeof *known->more);
    if (known->more == NULL) {
        return false;
    }
    while (count_down(bought, all)) {
        world_buy(world, bought);
        LS_ASSERT((size_t)known->count < ways_to_buy_fewer(all));
        struct more other = weigh(subsume);
        known->more[known->count++] =
            (struct more){other.plain - here.plain, other.canonical - here.canonical};
    }
    LS_ASSERT((size_t)known->count == ways_to_buy_fewer(all));
    world_buy(world, all);
    weigh(subsume);
    return true;
}

static const struct known *find(struct subsume *subsume, uint64_t hash, void (*show)(void *ctx), void *ctx)
{
    for (int i = 0; i < subsume->count; i++) {
        if (subsume->known[i].hash == hash) {
            return &subsume->known[i];
        }
    }
    if (!array_room(&subsume->known, (size_t)subsume->count, &subsume->max, sizeof *subsume->known, 16)) {
        return NULL;
    }
    struct known *known = &subsume->known[subsume->count];
    LS_ASSERT((size_t)subsume->count < subsume->max);
    *known = (struct known){.hash = hash};
    show(ctx);
    if (!weigh_all(subsume, known)) {
        return NULL;
    }
    subsume->count++;
    return known;
}

bool subsume_is_seen(struct subsume *subsume, uint64_t budgets, uint64_t plain, uint64_t fingerprint,
                     void (*show)(void *ctx), void *ctx)
{
    const struct known *known = find(subsume, budgets, show, ctx);
    for (int i = 0; known != NULL && i < known->count; i++) {
        const struct more *more = &known->more[i];
        uint64_t other = fingerprint + (fingerprint == plain ? more->plain : more->canonical);
        if (visited_has(subsume->search->visited, other)) {
            return true;
        }
    }
    return false;
}
