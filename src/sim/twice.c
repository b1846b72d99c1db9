/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Steps of recipes from shared objects that are done twice, to find reads of memory that a recipe may not read.
 *
 * Definition: memory is not to be read if it has not been set (the stack below the recipe, what malloc() gives), is free or a
 * zone, or was lent to a callback that is over. A step is first done with one of the bytes PAINTS in all such memory, and
 * nothing of it stays; what was lent cannot be accessed at all then. Afterwards the step is done with the bytes that such
 * memory always holds (FRESH, FREED, ZONE, FAKEZK_POISON). Where all steps are done twice, each byte of PAINTS has its turn.
 *
 * Claim: if the two differ, the recipe has read such memory, or is not deterministic. Why: all else is the same for both. They
 * differ if one does not come back, if their events differ, or if a block of the arena does; bytes that were merely moved do not
 * count (zones_same()). Checked by tests/cli/memory.sh.
 *
 * It does not see a read that makes no difference between the two bytes, nor one of a register or of what the client
 * library has left on the stack.
 *
 * Example: `int *n = malloc(4); if (*n > 0) release();` releases with one of PAINTS, but neither with the other nor with FRESH,
 * which makes a negative number. `if (*n == 7) release();` releases in none, and is not found. */
#include "base/hash.h"
#include "sim/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_STEPS 16 /* of each kind */
#define KINDS_MAX 4096
#define SEARCH_OF 64  /* then one in so many */
#define RANDOM_OF 256 /* the same, in worlds that doubt few steps */
#define PAINTS_COUNT 2

static const unsigned char PAINTS[PAINTS_COUNT] = {0, 0x31}; /* a zero, and a positive number */

/* What is no part of the arena, without the options. */
struct aside {
    struct arena arena;
    unsigned char rest[sizeof(struct world) - offsetof(struct world, observer)];
};

/* What the step has come to. */
struct result {
    struct arena_image *image; /* NULL: memory was short */
    uint64_t events;
    bool came_back;
};

static uint8_t seen[KINDS_MAX];
static uint64_t steps;

static struct {
    int process;
    bool (*call)(void (*fn)(void *ctx), void *ctx);
    void (*fn)(void *ctx);
    void *ctx;
    struct arena_image *before;
    unsigned char compared; /* what such memory held in the run that is compared */
    struct aside world;
    struct result painted[PAINTS_COUNT];
} doubted;

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
}

static void go_back(const struct arena_image *image)
{
    arena_restore(&the_world.arena, image);
    put_back(&doubted.world); /* with what is marked: the bytes are as they were */
    fakezk_put_back(0);
    fakezk_lend(0);
}

static struct result do_painted(unsigned painted, unsigned char paint)
{
    struct result result = {0};
    the_world.painted = (uint8_t)painted;
    the_world.paint = paint;
    the_world.muted = the_world.sums = true;
    the_world.event_sum = 0;
    if (doubted.process < the_world.options.processes) {
        zones_paint(doubted.process);
    }
    if ((painted & PAINT_LENT) != 0) {
        fakezk_lend(1);
    }
    result.came_back = doubted.call(doubted.fn, doubted.ctx);
    result.events = the_world.event_sum;
    result.image = arena_save(&the_world.arena);
    go_back(doubted.before);
    return result;
}

/* Keeps what the step begins with. False if memory is short. */
static bool set_out(void)
{
    doubted.before = arena_save(&the_world.arena);
    if (doubted.before == NULL) {
        return false;
    }
    keep(&doubted.world);
    fakezk_keep(0);
    return true;
}

bool twice_before(int process, bool (*call)(void (*fn)(void *ctx), void *ctx), void (*fn)(void *ctx),
                  void *ctx)
{
    doubted.process = process;
    doubted.call = call;
    doubted.fn = fn;
    doubted.ctx = ctx;
    if (!set_out()) {
        return false;
    }
    for (int i = 0; i < PAINTS_COUNT; i++) {
        bool turn = the_world.doubt == WORLD_DOUBT_ALL || steps % PAINTS_COUNT == (unsigned)i;
        doubted.painted[i] = turn ? do_painted(PAINT_ALL, PAINTS[i]) : (struct result){0};
    }
    the_world.sums = true;
    the_world.event_sum = 0;
    return true;
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
    return came_back;
}

static bool same_block(int block, const unsigned char *now, size_t now_size, const unsigned char *then,
                       size_t then_size)
{
    if (block == the_world.judge_block) {
        return true; /* judges were not told */
    }
    bool memory =
        doubted.process < the_world.options.processes && block == the_world.heap_block[doubted.process];
    return memory && now_size == then_size && zones_same(now, then, now_size, doubted.compared);
}

static bool same(const struct result *result, uint64_t events, unsigned char paint)
{
    doubted.compared = paint;
    return result->image == NULL || (result->came_back && result->events == events &&
                                     arena_first_other(&the_world.arena, result->image, same_block) < 0);
}

/* Which of such memory makes the difference. */
static enum event_offence find_reason(uint64_t events, unsigned char paint)
{
    static const struct {
        unsigned paint;
        enum event_offence offence;
    } REASONS[] = {{PAINT_LENT, EVENT_OFFENCE_LENT}, {PAINT_FREED, EVENT_OFFENCE_STALE}};
    enum event_offence offence = EVENT_OFFENCE_UNSET;
    static struct aside world;
    struct arena_image *after = arena_save(&the_world.arena);
    keep(&world);
    fakezk_keep(1);
    for (size_t i = 0; after != NULL && i < sizeof REASONS / sizeof REASONS[0]; i++) {
        go_back(doubted.before);
        struct result result = do_painted(REASONS[i].paint, paint);
        arena_restore(&the_world.arena, after);
        if (offence == EVENT_OFFENCE_UNSET && !same(&result, events, paint)) {
            offence = REASONS[i].offence;
        }
        free(result.image);
    }
    put_back(&world);
    fakezk_put_back(1);
    free(after);
    return offence;
}

static void forget(void)
{
    the_world.sums = false;
    for (int i = 0; i < PAINTS_COUNT; i++) {
        free(doubted.painted[i].image);
    }
    free(doubted.before);
}

void twice_drop(bool twice)
{
    if (twice) {
        forget();
    }
}

enum event_offence twice_behind(void)
{
    uint64_t events = the_world.event_sum;
    the_world.sums = false;
    enum event_offence offence = EVENT_OFFENCES;
    for (int i = 0; i < PAINTS_COUNT && offence == EVENT_OFFENCES; i++) {
        if (!same(&doubted.painted[i], events, PAINTS[i])) {
            offence = find_reason(events, PAINTS[i]);
        }
    }
    forget();
    return offence;
}
