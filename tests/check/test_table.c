/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The judges' table of records, compared with a list that is searched from end to end. */
#include "base/rng.h"
#include "check/judge.h"
#include "check/state.h"

#define RECORDS_MAX 40

struct model {
    struct check_record record[RECORDS_MAX];
    int count;
};

static struct check_record *find(struct model *model, const struct check_record *wanted)
{
    for (int i = 0; i < model->count; i++)
        if (memcmp(&model->record[i], wanted, offsetof(struct check_record, a)) == 0 &&
            model->record[i].a == wanted->a)
            return &model->record[i];
    return NULL;
}

static struct check_record any_record(struct rng *rng)
{
    return (struct check_record){.kind = (uint8_t)(RECORD_PROCESS + rng_below(rng, 4)),
                                 .lock = (uint8_t)rng_below(rng, 2),
                                 .process = (uint8_t)rng_below(rng, 3),
                                 .owner = (uint8_t)rng_below(rng, 2),
                                 .a = (int64_t)rng_below(rng, 3)};
}

static struct check_record *exact(struct check_table *table, const struct check_record *wanted)
{
    return table_get_exact(table, wanted->kind, wanted->lock, wanted->process, wanted->owner, wanted->a);
}

static int of_kind(const struct model *model, int kind, int lock)
{
    int count = 0;
    for (int i = 0; i < model->count; i++)
        count += model->record[i].kind == kind && (lock < 0 || model->record[i].lock == lock);
    return count;
}

static void compare(struct check_table *table, struct model *model)
{
    assert_int_equal(table->used, model->count);
    for (int i = 0; i < model->count; i++)
        assert_non_null(exact(table, &model->record[i]));
    for (int kind = RECORD_PROCESS; kind < RECORD_PROCESS + 5; kind++) {
        int count = 0, of_lock = 0;
        for (struct check_record *r = table_first(table, kind); r; r = table_next(table, r))
            count++;
        for (struct check_record *r = table_first_lock(table, kind, 1); r; r = table_next_lock(table, r))
            of_lock++;
        assert_int_equal(count, of_kind(model, kind, -1));
        assert_int_equal(of_lock, of_kind(model, kind, 1));
    }
}

static void drop(struct check_table *table, struct model *model, const struct check_record *wanted)
{
    struct check_record *here = exact(table, wanted), *there = find(model, wanted);
    assert_int_equal(here != NULL, there != NULL);
    table_drop(table, here);
    if (there)
        *there = model->record[--model->count];
}

static void drop_process(struct check_table *table, struct model *model, int kind, int process)
{
    table_drop_process(table, kind, process);
    for (int i = 0; i < model->count; i++)
        if (model->record[i].kind == kind && model->record[i].process == process)
            model->record[i--] = model->record[--model->count];
}

static void a_table_is_a_sorted_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct model model = {.count = 0};
        struct rng rng;
        rng_seed(&rng, seed);
        struct check_table *table = calloc(1, sizeof *table + RECORDS_MAX * sizeof table->record[0]);
        table->capacity = RECORDS_MAX;
        for (int step = 0; step < 300; step++) {
            struct check_record wanted = any_record(&rng);
            uint64_t what = rng_below(&rng, 10);
            if (what < 6 && model.count < RECORDS_MAX) {
                table_put(table, wanted.kind, wanted.lock, wanted.process, wanted.owner, wanted.a, 0);
                if (!find(&model, &wanted))
                    model.record[model.count++] = wanted;
            } else if (what < 9)
                drop(table, &model, &wanted);
            else
                drop_process(table, &model, wanted.kind, wanted.process);
            compare(table, &model);
        }
        table_drop_all(table, RECORD_PROCESS);
        assert_null(table_first(table, RECORD_PROCESS));
        free(table);
    }
}

/* States that differ only in removed records are one state. */
static void nothing_is_left_of_what_was_dropped(void **state)
{
    struct check_table *table = calloc(1, sizeof *table + 4 * sizeof table->record[0]);
    (void)state;
    table->capacity = 4;
    table_put(table, RECORD_CLAIM, 0, 1, 0, 0, 0);
    table_put(table, RECORD_NODE, 0, 1, 0, 7, 0);
    table_drop(table, table_first(table, RECORD_CLAIM));
    table_drop(table, table_first(table, RECORD_NODE));
    struct check_table empty = {.capacity = 4};
    assert_memory_equal(table, &empty, sizeof empty);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_a_sorted_list),
        cmocka_unit_test(nothing_is_left_of_what_was_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
