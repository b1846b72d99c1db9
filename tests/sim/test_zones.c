/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The memory of untrusted recipes (sim/red_zones.c). It works like any other memory, leaves no trace of freed
 * blocks, and reveals each write outside a block. */
#include "base/rng.h"
#include "sim/sandbox.h"
#include "sim/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATE_BYTES 100
#define BLOCKS 12
#define ROUNDS 400

static int offence; /* last offence that was reported; -1 = none */

static void on_event(void *ctx, const struct event *event)
{
    (void)ctx;
    if (event->kind == EVENT_MISBEHAVED) {
        offence = event->code;
    }
}

/* ---- a recipe that does nothing ---- */

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    (void)state, (void)env, (void)config;
    return 0;
}

static void stop(void *state)
{
    (void)state;
}

static int ask(void *state, int lock, int owner, int timeout_ms)
{
    (void)state, (void)lock, (void)owner, (void)timeout_ms;
    return 0;
}

static int end(void *state, int lock, int owner)
{
    (void)state, (void)lock, (void)owner;
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    (void)state, (void)lock, (void)owner;
    return LS_NOT_HELD;
}

static const struct ls_recipe idle_recipe = {.name = "idle",
                                             .summary = "does nothing",
                                             .state_size = STATE_BYTES,
                                             .start = start,
                                             .stop = stop,
                                             .acquire = ask,
                                             .cancel = end,
                                             .release = end,
                                             .query = query};

/* ---- a guard that only calls the function ---- */

static bool call(void (*fn)(void *ctx), void *ctx, enum event_offence *offence_of, const char **where)
{
    (void)offence_of, (void)where;
    fn(ctx);
    return true;
}

static bool changed(const char **where)
{
    (void)where;
    return false;
}

static struct world *open_world(void)
{
    static const struct world_guard GUARD = {.call = call, .changed = changed};
    static struct world_options options;
    world_set_guard(&GUARD);
    world_options_default(&options);
    options.recipe = &idle_recipe;
    options.name[0][0] = 'a';
    options.autostart[0] = true;
    struct world *world = world_open(&options, on_event, NULL);
    assert_non_null(world);
    world_begin(world);
    offence = -1;
    return world;
}

static void close_world(struct world *world)
{
    world_close(world);
    world_set_guard(NULL);
}

/* ---- tests ---- */

/* Blocks do not overlap, hold what was written, and are zeroed unless they come from malloc(). */
static void test_memory(void **unused)
{
    (void)unused;
    struct world *world = open_world();
    struct rng rng;
    rng_seed(&rng, 7);
    unsigned char *block[BLOCKS] = {NULL};
    size_t size[BLOCKS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int i = (int)rng_below(&rng, BLOCKS);
        if (block[i] != NULL) {
            for (size_t at = 0; at < size[i]; at++) {
                assert_int_equal(block[i][at], i + 1);
            }
            heap_free(0, block[i], i % 2 == 0 ? HEAP_ENV : HEAP_MALLOC);
            block[i] = NULL;
        } else {
            size[i] = rng_below(&rng, 200);
            block[i] = heap_alloc(0, size[i], i % 2 == 0 ? HEAP_ENV : HEAP_MALLOC);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % 16, 0);
            for (size_t at = 0; i % 2 == 0 && at < size[i]; at++) {
                assert_int_equal(block[i][at], 0);
            }
            memset(block[i], i + 1, size[i]);
        }
        assert_true(zones_are_whole(0));
    }
    assert_int_equal(offence, -1);
    close_world(world);
}

/* A block that was allocated and freed again leaves no trace: equal memory has equal bytes. */
static void test_no_trace(void **unused)
{
    (void)unused;
    struct world *world = open_world();
    struct rng rng;
    rng_seed(&rng, 11);
    void *kept[2] = {heap_alloc(0, 40, HEAP_ENV), heap_alloc(0, 8, HEAP_ENV)};
    for (int round = 0; round < ROUNDS; round++) {
        struct world_image *before = world_save(world);
        void *block[BLOCKS];
        bool freed[BLOCKS] = {false};
        for (int i = 0; i < BLOCKS; i++) {
            size_t size = rng_below(&rng, 300);
            block[i] = heap_alloc(0, size, HEAP_MALLOC);
            memset(block[i], (int)rng_below(&rng, 256), size);
        }
        for (int left = BLOCKS; left > 0;) {
            int i = (int)rng_below(&rng, BLOCKS);
            if (!freed[i]) {
                heap_free(0, block[i], HEAP_MALLOC);
                freed[i] = true;
                left--;
            }
        }
        assert_true(zones_are_whole(0)); /* the end of a call */
        struct world_image *after = world_save(world);
        assert_true(world_image_equal(before, after));
        world_image_free(before);
        world_image_free(after);
    }
    heap_free(0, kept[0], HEAP_ENV);
    heap_free(0, kept[1], HEAP_ENV);
    close_world(world);
}

/* Within a call a freed block's place is used again only if there is no other. After the call it may be. */
static void test_late(void **unused)
{
    (void)unused;
    struct world *world = open_world();
    void *first = heap_alloc(0, 40, HEAP_ENV), *kept = heap_alloc(0, 40, HEAP_ENV);
    heap_free(0, first, HEAP_ENV);
    void *second = heap_alloc(0, 40, HEAP_ENV);
    assert_ptr_not_equal(first, second);
    heap_free(0, second, HEAP_ENV);
    assert_true(zones_are_whole(0));
    assert_ptr_equal(heap_alloc(0, 40, HEAP_ENV), first);
    for (int i = 0; i < 1000; i++) {
        void *block = heap_alloc(0, 1000, HEAP_MALLOC);
        assert_non_null(block);
        heap_free(0, block, HEAP_MALLOC);
    }
    heap_free(0, kept, HEAP_ENV);
    assert_int_equal(offence, -1);
    close_world(world);
}

static void expect_offence(enum event_offence expected)
{
    assert_false(zones_are_whole(0));
    assert_int_equal(offence, expected);
}

/* A write to any byte around the state or a block, or in a freed block, is an offence. */
static void test_each_byte(void **unused)
{
    (void)unused;
    struct world *world = open_world();
    unsigned char *freed = heap_alloc(0, 33, HEAP_ENV);
    unsigned char *block = heap_alloc(0, 33, HEAP_ENV);
    heap_free(0, freed, HEAP_ENV);
    unsigned char *state = process_state(0);
    const struct {
        unsigned char *from;
        int size;
        enum event_offence offence;
    } areas[] = {
        {state - 32, 32, EVENT_OFFENCE_STATE},
        {state + STATE_BYTES, 16, EVENT_OFFENCE_STATE},
        {block - 16, 16, EVENT_OFFENCE_BLOCK_BOUNDS},
        {block + 33, 16, EVENT_OFFENCE_BLOCK_BOUNDS},
        {freed, 33, EVENT_OFFENCE_FREED},
        {block + 33 + 31, 100, EVENT_OFFENCE_FREED},
        {block + 33 + 31 + 128, 1000, EVENT_OFFENCE_BLOCK_BOUNDS},
    };
    for (size_t a = 0; a < sizeof areas / sizeof areas[0]; a++) {
        for (int i = 0; i < areas[a].size; i++) {
            areas[a].from[i] ^= 1;
            expect_offence(areas[a].offence);
            areas[a].from[i] ^= 1;
            assert_true(zones_are_whole(0));
        }
    }
    close_world(world);
}

/* A block is freed once, and by the function of its owner. */
static void test_owners(void **unused)
{
    (void)unused;
    struct world *world = open_world();
    unsigned char *block = heap_alloc(0, 33, HEAP_ENV);
    void *wrong[] = {block + 16, block - 16, process_state(0), &offence};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        offence = -1;
        heap_free(0, wrong[i], HEAP_ENV);
        assert_int_equal(offence, EVENT_OFFENCE_FREE);
    }
    offence = -1;
    heap_free(0, block, HEAP_MALLOC);
    assert_int_equal(offence, EVENT_OFFENCE_FREE);
    offence = -1;
    heap_free(0, block, HEAP_ENV);
    assert_int_equal(offence, -1);
    heap_free(0, block, HEAP_ENV);
    assert_int_equal(offence, EVENT_OFFENCE_FREE);
    close_world(world);
}

/* Painting changes unset bytes alone. Two memories that differ only in painted bytes count as equal. */
static void test_paint(void **unused)
{
    (void)unused;
    static unsigned char before[HEAP_BYTES];
    struct world *world = open_world();
    unsigned char *block = heap_alloc(0, 40, HEAP_MALLOC);
    heap_free(0, heap_alloc(0, 70, HEAP_ENV), HEAP_ENV);
    block[0] = 1;
    const unsigned char *memory = arena_at(&world->arena, world->heap_block[0]);
    size_t size = ((const struct arena_block *)(const void *)memory)->used;
    memcpy(before, memory, size);
    world->painted = PAINT_ALL;
    world->paint = 0x31;
    zones_paint(0);
    assert_memory_not_equal(before, memory, size);
    assert_int_equal(block[0], 1);
    assert_int_equal(block[8], 0x31);
    assert_true(zones_same(before, memory, size, 0x31));
    block[0] = 2;
    assert_false(zones_same(before, memory, size, 0x31));
    close_world(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory), cmocka_unit_test(test_no_trace), cmocka_unit_test(test_each_byte),
        cmocka_unit_test(test_late),   cmocka_unit_test(test_owners),   cmocka_unit_test(test_paint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
