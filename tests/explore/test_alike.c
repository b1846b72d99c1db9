/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* States that differ in dead data. Two states are alike (bisimilar) if they can do the same from then on,
 * label by label and event by event. If alike states have two fingerprints, they hold data that is never
 * read again, or does not matter. The ratio of states to classes of alike states multiplies with the number
 * of clients, so this test bounds it.
 *
 * With the name of a scenario file as argument, the program counts for the file's first set of run
 * constants. It then lists by which blocks alike states differ, the most frequent first. */
#include "base/hash.h"
#include "check/check.h"
#include "check/state.h"
#include "sim/world.h"
#include "state/canon.h"
#include "support/all_states.h"

#include <lockstep/fakezk.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATES_MAX (1u << 20)
#define DIFFERENCES_MAX 1000

struct edge {
    uint32_t from, to;
    uint64_t label; /* hash of the step's label and of its events */
};

struct difference {
    char blocks[200];
    uint32_t pairs;
};

static struct all_states all;
static struct canon *canon;
static uint32_t class_of[STATES_MAX];
static uint32_t first_of[STATES_MAX];
static uint64_t signature[STATES_MAX];
static uint64_t sorted[STATES_MAX];
static struct edge *edges;
static size_t edge_count, edge_capacity;
static uint64_t events; /* hash of the events of the present step */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
bool __real_check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                              const struct event *event);
bool __wrap_check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                              const struct event *event);
/* NOLINTEND(bugprone-reserved-identifier) */

bool __wrap_check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                              const struct event *event)
{
    uint64_t what = event->kind | (uint64_t)event->process << 8 | (uint64_t)event->lock << 16 |
                    (uint64_t)event->owner << 24 | (uint64_t)(uint32_t)event->code << 32;
    events = hash_mix(events ^ hash_mix(what));
    return __real_check_set_observe(set, block, stats, event);
}

/* ---- all states ---- */

static uint32_t meet(void)
{
    events = 0;
    return all_states_meet(&all, canon_fingerprint(canon));
}

static void add_edge(void *context, const struct action *action, uint64_t label)
{
    const uint32_t *from = context;
    uint64_t what = label ^ hash_mix(events);
    (void)action;
    if (edge_count == edge_capacity) {
        edge_capacity = 2 * edge_capacity + 1024;
        edges = realloc(edges, edge_capacity * sizeof *edges);
        assert_non_null(edges);
    }
    edges[edge_count++] = (struct edge){*from, meet(), what};
}

static void enumerate(const char *text)
{
    all_states_open(&all, text, STATES_MAX);
    canon = world_canon(all.run.world);
    assert_non_null(canon);
    edge_count = 0;
    meet();
    for (uint32_t state = 0; state < all.count; state++) {
        all_states_steps(&all, state, add_edge, &state);
    }
}

static void forget(void)
{
    canon_close(canon);
    all_states_close(&all);
}

/* ---- classes of alike states ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Numbers the classes by their signatures. Returns their number. */
static uint32_t number_classes(void)
{
    uint32_t count = 0;
    memcpy(sorted, signature, all.count * sizeof *sorted);
    qsort(sorted, all.count, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < all.count; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            sorted[count++] = sorted[i];
        }
    }
    for (uint32_t i = 0; i < all.count; i++) {
        const uint64_t *found = bsearch(&signature[i], sorted, count, sizeof *sorted, by_value);
        class_of[i] = (uint32_t)(found - sorted);
    }
    return count;
}

/* Divides the states into classes by partition refinement: first by the labels of their steps, then also by
 * the classes to which the steps lead, until nothing changes. Returns the number of classes. */
static uint32_t divide(void)
{
    uint32_t count = 1;
    uint32_t before = 0;
    memset(class_of, 0, sizeof class_of);
    while (count != before) {
        before = count;
        for (uint32_t i = 0; i < all.count; i++) {
            signature[i] = hash_mix(class_of[i] + 1u);
        }
        for (size_t i = 0; i < edge_count; i++) {
            uint64_t goal = hash_mix((uint64_t)class_of[edges[i].to] + 0x9e3779b97f4a7c15u);
            signature[edges[i].from] += hash_mix(edges[i].label ^ goal);
        }
        count = number_classes();
    }
    return count;
}

/* ---- differences of alike states ---- */

static const char *name_of(int block)
{
    static char name[32];
    const struct world *world = all.run.world;
    snprintf(name, sizeof name, "%d", block);
    if (block == world->judge_block) {
        return "judges";
    }
    for (int p = 0; p < world->options.processes; p++) {
        const char *kind = block == world->process_block[p]  ? "process"
                           : block == world->heap_block[p]   ? "recipe"
                           : block == fakezk_client_block(p) ? "client"
                                                             : NULL;
        if (kind != NULL) {
            snprintf(name, sizeof name, "%s %s", kind, world->options.name[p]);
        }
    }
    return name;
}

/* Hashes the judges' records of each kind, without their numbers. */
static void read_kinds(uint64_t *kind)
{
    const struct check_table *table = world_judges(all.run.world);
    memset(kind, 0, RECORD_KINDS * sizeof *kind);
    for (uint32_t i = 0; i < table->used; i++) {
        const struct check_record *record = &table->record[i];
        uint64_t bytes = (uint64_t)record->lock << 56 | (uint64_t)record->process << 48 |
                         (uint64_t)record->owner << 40 | (uint64_t)record->depth << 16 | record->flags;
        kind[record->kind] = hash_mix(kind[record->kind] ^ hash_mix(bytes));
    }
}

/* Adds the name of a block that differs. The judges' block gets the kinds of records that differ, too. */
static void add_name(struct difference *found, int block, uint64_t kind[2][RECORD_KINDS])
{
    size_t size = strlen(found->blocks);
    snprintf(found->blocks + size, sizeof found->blocks - size, "%s%s", size > 0 ? ", " : "", name_of(block));
    for (int i = 0; block == all.run.world->judge_block && i < RECORD_KINDS; i++) {
        size = strlen(found->blocks);
        if (kind[0][i] != kind[1][i]) {
            snprintf(found->blocks + size, sizeof found->blocks - size, " %d", i);
        }
    }
}

static void read_skeletons(uint32_t state, uint64_t *skeleton)
{
    size_t size;
    world_restore(all.run.world, all.image[state]);
    canon_fingerprint(canon);
    for (int block = 0; block < all.run.world->arena.blocks; block++) {
        skeleton[block] = canon_skeleton(canon_part(canon, block, &size));
    }
}

static void count_difference(struct difference *differences, uint32_t a, uint32_t b)
{
    uint64_t skeleton[2][ARENA_BLOCKS_MAX];
    uint64_t kind[2][RECORD_KINDS];
    struct difference found = {.pairs = 1};
    int i = 0;
    read_skeletons(a, skeleton[0]);
    read_kinds(kind[0]);
    read_skeletons(b, skeleton[1]);
    read_kinds(kind[1]);
    for (int block = 0; block < all.run.world->arena.blocks; block++) {
        if (skeleton[0][block] != skeleton[1][block]) {
            add_name(&found, block, kind);
        }
    }
    while (i < DIFFERENCES_MAX - 1 && differences[i].pairs > 0 &&
           strcmp(differences[i].blocks, found.blocks) != 0) {
        i++;
    }
    found.pairs += differences[i].pairs;
    differences[i] = found;
}

static int by_pairs(const void *a, const void *b)
{
    const struct difference *x = a;
    const struct difference *y = b;
    return x->pairs < y->pairs ? 1 : x->pairs > y->pairs ? -1 : 0;
}

static void show_differences(void)
{
    static struct difference differences[DIFFERENCES_MAX];
    memset(first_of, 255, sizeof first_of);
    for (uint32_t state = 0; state < all.count; state++) {
        uint32_t *first = &first_of[class_of[state]];
        if (*first == UINT32_MAX) {
            *first = state;
        } else {
            count_difference(differences, *first, state);
        }
    }
    qsort(differences, DIFFERENCES_MAX, sizeof *differences, by_pairs);
    for (int i = 0; i < 30 && differences[i].pairs > 0; i++) {
        printf("%8u  %s\n", differences[i].pairs,
               differences[i].blocks[0] ? differences[i].blocks : "only numbers");
    }
}

/* ---- tests ---- */

#define PAIR "world used untimed\nmutex /locks/x\nprocess a b: acquire release\n"
#define TAIL "----\nholds at_most_one_holder\n"

/* Checks that there are at most `percent` states for each 100 classes. */
static void check(const char *text, uint32_t percent)
{
    enumerate(text);
    uint32_t classes = divide();
    print_message("%u states, %u of them needed\n", all.count, classes);
    assert_true((uint64_t)all.count * 100 <= (uint64_t)classes * percent);
    assert_true(classes > 100); /* the test would be empty if all states were alike */
    forget();
}

static void after_a_loss(void **state)
{
    (void)state;
    check(PAIR "explore loss<=1\n" TAIL, 120);
}

static void after_both_faults(void **state)
{
    (void)state;
    check(PAIR "explore loss<=1 expire<=1\n" TAIL, 185);
}

static int analyse(const char *file)
{
    static char text[65536];
    FILE *stream = fopen(file, "re");
    if (stream == NULL) {
        perror(file);
        return 1;
    }
    text[fread(text, 1, sizeof text - 1, stream)] = 0;
    fclose(stream);
    enumerate(text);
    uint32_t classes = divide();
    printf("%u states, %u of them needed\n", all.count, classes);
    show_differences();
    forget();
    return 0;
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_loss),
        cmocka_unit_test(after_both_faults),
    };
    if (count == 2) {
        return analyse(argument[1]);
    }
    /* Half a million steps are too many for an interpreter; a smaller world has the same code. */
    const char *sanitize = getenv("LOCKSTEP_SANITIZE");
    const struct CMUnitTest small[] = {cmocka_unit_test(after_a_loss)};
    if (sanitize != NULL && strcmp(sanitize, "valgrind") == 0) {
        return cmocka_run_group_tests(small, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
