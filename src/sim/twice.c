/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Steps of recipes from shared objects that are done twice, to find reads of memory that must not be read.
 *
 * Definition: a recipe must not read memory that has not been set (the stack below it, a block from
 * malloc()). Nor may it read free memory, a zone, or memory that was lent to a callback that is over. The
 * step is first done with all such memory painted with a byte of PAINTS, and undone. Afterwards the step is
 * done with the usual bytes of such memory: FRESH, FREED, ZONE, or those of the coordinator. With
 * WORLD_DOUBT_ALL the first part is done with each byte of PAINTS.
 *
 * Claim: if two runs differ, the recipe has read such memory, or is not deterministic. Why: all else is the
 * same for both. Runs differ if the painted one does not come back, or if their events or a block of the
 * arena differ. The judges' block does not count, nor do unset bytes that were merely copied (zones_same()).
 * Checked by tests/cli/memory.sh.
 *
 * Not found: reads for which the two bytes make no difference, and reads of registers that were not set.
 *
 * Example: `int *n = malloc(4); if (*n > 0) release();` releases with one byte of PAINTS, but neither with
 * the other nor with FRESH, a negative number. `if (*n == 7) release();` never releases, and is not found. */
#include "base/assert.h"
#include "base/hash.h"
#include "sim/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_STEPS 16 /* of each kind, with WORLD_DOUBT_FIRST */
#define KINDS_MAX 4096
#define SEARCH_OF 64  /* then about one of so many */
#define RANDOM_OF 256 /* about one of so many, with WORLD_DOUBT_FEW */
#define PAINTS_COUNT 2

static const unsigned char PAINTS[PAINTS_COUNT] = {0, 0x31}; /* a zero, and a positive number */

/* The world outside of the arena's blocks, without the options. */
struct aside {
    struct arena arena;
    unsigned char rest[sizeof(struct world) - offsetof(struct world, observer)];
};

struct result {
    struct arena_image *image; /* NULL: memory was short */
    uint64_t events;
    bool came_back;
};

static uint8_t seen[KINDS_MAX];
static uint64_t steps;

static struct {
    int process;
    struct arena_image *before;
    struct aside world;
    int run; /* index in PAINTS of this run */
    struct result painted[PAINTS_COUNT];

    uint64_t events;
    enum event_offence offence; /* EVENT_OFFENCES = the runs do not differ */
    unsigned char paint;        /* byte of PAINTS of the run that differs */
    size_t reason;              /* index in REASONS of this run */
    struct arena_image *after;
    struct aside world_after;
} doubted;

/* Kinds of memory that are painted alone, to find the one that makes the difference. */
static const struct {
    unsigned painted;
    enum event_offence offence;
} REASONS[] = {{PAINT_LENT, EVENT_OFFENCE_LENT}, {PAINT_FREED, EVENT_OFFENCE_STALE}};

#define REASONS_COUNT (sizeof REASONS / sizeof REASONS[0])

void twice_begin(void)
{
    memset(seen, 0, sizeof seen);
    steps = 0;
}

bool twice_is_due(uint32_t kind)
{
    uint64_t number = steps++;
    if (the_world.doubt == WORLD_DOUBT_ALL) {
        return true;
    }
    uint8_t *times = &seen[kind % KINDS_MAX];
    LS_ASSERT(kind != 0 && *times <= FIRST_STEPS);
    if (the_world.doubt == WORLD_DOUBT_FIRST && *times < FIRST_STEPS) {
        ++*times;
        return true;
    }
    return hash_mix(the_world.options.seed * 31 + number) %
               (the_world.doubt == WORLD_DOUBT_FIRST ? SEARCH_OF : RANDOM_OF) ==
           0;
}

void twice_note(const struct event *event)
{
    const uint64_t words[] = {event->kind | (uint64_t)event->process << 8 | (uint64_t)event->lock << 16 |
                                  (uint64_t)event->owner << 24 | (uint64_t)(uint32_t)event->code << 32,
                              (uint64_t)event->zxid, (uint64_t)event->cause, (uint64_t)event->session};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        the_world.event_sum = hash_mix(the_world.event_sum * 3 + words[i]);
    }
}

static void keep(struct aside *aside)
{
    memcpy(&aside->arena, &the_world.arena, sizeof aside->arena);
    memcpy(aside->rest, &the_world.observer, sizeof aside->rest);
}

static void put_back(const struct aside *aside)
{
    memcpy(&the_world.arena, &aside->arena, sizeof aside->arena);
    memcpy(&the_world.observer, aside->rest, sizeof aside->rest);
    LS_ASSERT(the_world.arena.stale_count <= the_world.arena.blocks);
}

static void go_back(const struct arena_image *image)
{
    arena_restore(&the_world.arena, image);
    put_back(&doubted.world); /* with its marks: the bytes are as they were */
    lending_put_back(0);
    lending_lend(0);
    LS_ASSERT(the_world.painted == 0 && !the_world.muted);
}

/* Paints memory from now on, shows no events, and adds them up. */
static void paint(unsigned painted, unsigned char byte)
{
    LS_ASSERT(the_world.zoned);
    LS_ASSERT(painted != 0 && (painted & ~(unsigned)PAINT_ALL) == 0);
    the_world.painted = (uint8_t)painted;
    the_world.paint = byte;
    the_world.muted = the_world.sums = true;
    the_world.event_sum = 0;
    if (doubted.process < the_world.options.processes) {
        zones_paint(doubted.process);
    }
    if ((painted & PAINT_LENT) != 0) {
        lending_lend(1);
    }
}

static struct result result_of(bool came_back)
{
    return (struct result){
        .image = arena_save(&the_world.arena), .events = the_world.event_sum, .came_back = came_back};
}

static bool set_out(void)
{
    LS_ASSERT(doubted.before == NULL && doubted.after == NULL);
    doubted.before = arena_save(&the_world.arena);
    if (doubted.before == NULL) {
        return false;
    }
    keep(&doubted.world);
    lending_keep(0);
    return true;
}

bool twice_prepare(int process)
{
    doubted.process = process;
    doubted.run = 0;
    memset(doubted.painted, 0, sizeof doubted.painted);
    return set_out();
}

bool twice_next(void)
{
    for (; doubted.run < PAINTS_COUNT; doubted.run++) {
        if (the_world.doubt == WORLD_DOUBT_ALL || steps % PAINTS_COUNT == (unsigned)doubted.run) {
            paint(PAINT_ALL, PAINTS[doubted.run]);
            return true;
        }
    }
    the_world.sums = true;
    the_world.event_sum = 0;
    return false;
}

void twice_end(bool came_back)
{
    LS_ASSERT(doubted.run < PAINTS_COUNT && the_world.painted == PAINT_ALL);
    doubted.painted[doubted.run++] = result_of(came_back);
    go_back(doubted.before);
}

bool twice_rehearse(bool (*call)(void (*fn)(void *ctx), void *ctx), void (*fn)(void *ctx), void *ctx)
{
    if (!set_out()) {
        return false;
    }
    the_world.muted = true;
    bool came_back = call(fn, ctx);
    go_back(doubted.before);
    free(doubted.before);
    doubted.before = NULL;
    return came_back;
}

static bool same_block(int block, const unsigned char *now, size_t now_size, const unsigned char *then,
                       size_t then_size)
{
    LS_ASSERT(block < the_world.arena.blocks);
    if (block == the_world.judge_block) {
        return true; /* judges were not told of the other run */
    }
    bool memory =
        doubted.process < the_world.options.processes && block == the_world.heap_block[doubted.process];
    return memory && now_size == then_size && zones_same(now, then, now_size, doubted.paint);
}

static bool same(const struct result *result)
{
    return result->image == NULL || (result->came_back && result->events == doubted.events &&
                                     arena_first_other(&the_world.arena, result->image, same_block) < 0);
}

void twice_compare(void)
{
    LS_ASSERT(the_world.sums && !the_world.muted && the_world.painted == 0);
    doubted.events = the_world.event_sum;
    doubted.offence = EVENT_OFFENCES;
    doubted.after = NULL;
    doubted.reason = 0;
    the_world.sums = false;
    for (int i = 0; i < PAINTS_COUNT && doubted.offence == EVENT_OFFENCES; i++) {
        doubted.paint = PAINTS[i];
        if (!same(&doubted.painted[i])) {
            doubted.offence = EVENT_OFFENCE_UNSET;
            doubted.after = arena_save(&the_world.arena);
            keep(&doubted.world_after);
            lending_keep(1);
        }
    }
}

bool twice_next_reason(void)
{
    if (doubted.after == NULL || doubted.offence != EVENT_OFFENCE_UNSET || doubted.reason == REASONS_COUNT) {
        return false;
    }
    go_back(doubted.before);
    paint(REASONS[doubted.reason].painted, doubted.paint);
    return true;
}

void twice_end_reason(bool came_back)
{
    LS_ASSERT(doubted.reason < REASONS_COUNT && the_world.painted == REASONS[doubted.reason].painted);
    struct result result = result_of(came_back);
    lending_lend(0);
    arena_restore(&the_world.arena, doubted.after);
    put_back(&doubted.world_after);
    LS_ASSERT(the_world.painted == 0 && !the_world.muted);
    lending_put_back(1);
    if (!same(&result)) {
        doubted.offence = REASONS[doubted.reason].offence;
    }
    doubted.reason++;
    free(result.image);
}

static void forget(void)
{
    the_world.sums = false;
    for (int i = 0; i < PAINTS_COUNT; i++) {
        free(doubted.painted[i].image);
    }
    free(doubted.before);
    free(doubted.after);
    doubted.before = doubted.after = NULL;
}

void twice_drop(bool twice)
{
    if (twice) {
        forget();
    }
}

enum event_offence twice_verdict(void)
{
    LS_ASSERT(the_world.painted == 0);
    forget();
    return doubted.offence;
}
