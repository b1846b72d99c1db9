/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/judge.h"
#include "check/state.h"

static void all_properties_are_described(void **state)
{
    int count;
    const struct property *const *all = check_all(&count);
    (void)state;
    assert_int_equal(count, 21);
    for (int i = 0; i < count; i++) {
        assert_int_equal(check_position(all[i]->name), i);
        assert_ptr_equal(check_find(all[i]->name), all[i]);
        assert_true(strlen(all[i]->sentence) > 20);
        assert_true(strlen(all[i]->premise) > 5);
        assert_true(strlen(all[i]->blind_to) > 10);
        assert_true(all[i]->needs_search ? all[i]->modes == 0 && all[i]->wants == 0
                                         : (all[i]->modes & PROPERTY_ALWAYS) != 0);
    }
    assert_null(check_find("at_most_two_holders"));
    assert_int_equal(check_position(""), -1);
}

static void only_the_chosen_are_judged(void **state)
{
    struct check_context context = {.processes = 2, .locks = 1};
    struct check_set set;
    struct check_stats stats = {0};
    struct event event = {.kind = EVENT_BELIEVES};
    (void)state;
    check_set_init(&set, CHECK_BIT(check_position("bounded_work")), &context);
    void *block = calloc(1, check_set_state_size(&set));
    assert_false(check_set_observe(&set, block, &stats, &event));
    event.kind = EVENT_ASKED;
    assert_true(check_set_observe(&set, block, &stats, &event));
    for (int i = 0; i < 14; i++)
        assert_int_equal(check_verdict(&set, &stats, i), CHECK_NOT_JUDGED);
    free(block);
}

static void find_at(struct check_stats *stats, const char *property, uint64_t step)
{
    int position = check_position(property);
    stats->violated |= CHECK_BIT(position);
    stats->finding[position].violated = true;
    stats->finding[position].step = step;
}

/* Findings are ordered: two holders at once come first, then the earliest violation. */
static void the_earliest_violation_is_told_first(void **state)
{
    static const char *const order[] = {"at_most_one_holder", "hold_keeps_its_node", "no_orphan_node",
                                        "answers_have_reasons", "no_stale_effect"};
    struct check_stats stats = {0};
    int positions[CHECK_PROPERTIES_MAX];
    (void)state;
    assert_int_equal(check_violated(&stats, CHECK_ALL, positions), 0);
    find_at(&stats, "no_stale_effect", 9);
    find_at(&stats, "at_most_one_holder", 8);
    find_at(&stats, "answers_have_reasons", 7);
    find_at(&stats, "no_orphan_node", 7);
    find_at(&stats, "hold_keeps_its_node", 3);
    assert_int_equal(check_violated(&stats, CHECK_ALL, positions), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(positions[i], check_position(order[i]));
    assert_int_equal(check_violated(&stats, CHECK_BIT(check_position("no_stale_effect")), positions), 1);
    assert_int_equal(positions[0], check_position("no_stale_effect"));
}

/* A run that needs more records than the block holds is judged no further, and says so. */
static void a_full_block_is_a_limit(void **state)
{
    struct check_context context = {.processes = 1, .locks = 1, .owners = 1};
    struct check_set set;
    struct check_stats stats = {0};
    (void)state;
    check_set_init(&set, CHECK_BIT(check_position("at_most_one_holder")), &context);
    void *block = calloc(1, check_set_state_size(&set));
    for (int i = 0; i < 1000 && !stats.limit; i++) {
        struct event event = {.kind = EVENT_NODE_CREATED, .code = 1, .zxid = 10 + i};
        check_set_observe(&set, block, &stats, &event);
    }
    assert_true(stats.limit);
    assert_int_equal(check_set_live_bytes(block), check_set_state_size(&set));
    struct event granted = {.kind = EVENT_GRANTED, .code = 1, .zxid = 10};
    assert_false(check_set_observe(&set, block, &stats, &granted));
    free(block);
}

/* The order of independent events leaves no trace: states with equal futures have equal bytes. */
static void order_leaves_no_trace(void **state)
{
    struct judge one, two;
    (void)state;
    judge_open(&one, "no_lost_wakeup", false);
    judge_open(&two, "no_lost_wakeup", false);
    up(&one, A), up(&one, B), asked(&one, A), asked(&one, B), created(&one, A, 10), created(&one, B, 11);
    up(&two, B), asked(&two, B), up(&two, A), asked(&two, A), created(&two, A, 10), created(&two, B, 11);
    assert_int_equal(check_set_live_bytes(one.block), check_set_live_bytes(two.block));
    assert_memory_equal(one.block, two.block, check_set_state_size(&one.set));
    judge_close(&one);
    judge_close(&two);
}

static void what_is_over_is_forgotten(void **state)
{
    struct check_context context = {.processes = 4, .locks = 2};
    struct judge judge;
    (void)state;
    judge_open(&judge, "no_orphan_node", false);
    free(judge.block);
    check_mask all_but_fence = 0xfff & ~(CHECK_BIT(check_position("no_stale_effect")));
    check_set_init(&judge.set, all_but_fence, &context);
    judge.block = calloc(1, check_set_state_size(&judge.set));
    up_all(&judge);
    rest(&judge);
    size_t before = check_set_live_bytes(judge.block);
    unsigned char *copy = malloc(before);
    memcpy(copy, judge.block, before);
    asked(&judge, A);
    requested(&judge, A, EVENT_REQUEST_CREATE);
    created(&judge, A, 10);
    granted(&judge, A, 10);
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    released(&judge, A);
    lock_event(&judge, EVENT_DOUBTS, A, 0, 0);
    deleted(&judge, A, 10, 11);
    freed(&judge, A);
    rest(&judge);
    assert_int_equal(judge.stats.violated, 0);
    assert_int_equal(check_set_live_bytes(judge.block), before);
    assert_memory_equal(judge.block, copy, before);
    free(copy);
    judge_close(&judge);
}

static void shift(void *ctx, enum check_value type, int64_t *value)
{
    int *seen = ctx;
    seen[type]++;
    *value += 1000;
}

/* Judges show each value that grows to a renaming, and go on with the new values. */
static void renamed_values_are_found(void **state)
{
    struct judge judge;
    int seen[4] = {0};
    (void)state;
    judge_open(&judge, "at_most_one_holder", false);
    asked(&judge, A);
    created(&judge, A, 10);
    check_set_visit(judge.block, shift, seen);
    assert_int_equal(seen[CHECK_VALUE_SESSION], 1);
    show(&judge,
         (struct event){
             .kind = EVENT_GRANTED, .process = A, .code = 1, .zxid = 1010, .session = SESSION(A) + 1000});
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

static const char *name_of(const void *names, int index)
{
    return ((const char *const *)names)[index];
}

static void sentences_use_the_names_of_the_run(void **state)
{
    static const char *const names[] = {"alice", "bob"};
    struct check_context context = {
        .processes = 2, .locks = 1, .process_name = name_of, .lock_name = name_of, .names = names};
    struct judge judge;
    (void)state;
    judge_open(&judge, "at_most_one_believer", true);
    free(judge.block);
    check_set_init(&judge.set, CHECK_BIT(judge.position), &context);
    judge.block = calloc(1, check_set_state_size(&judge.set));
    lock_event(&judge, EVENT_BELIEVES, A, 0, 0);
    lock_event(&judge, EVENT_BELIEVES, B, 0, 0);
    assert_violated(&judge, EVENT_BELIEVES, "bob (owner 0) believes to hold alice while alice (owner 0)");
    judge_close(&judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_properties_are_described),
        cmocka_unit_test(only_the_chosen_are_judged),
        cmocka_unit_test(the_earliest_violation_is_told_first),
        cmocka_unit_test(a_full_block_is_a_limit),
        cmocka_unit_test(order_leaves_no_trace),
        cmocka_unit_test(what_is_over_is_forgotten),
        cmocka_unit_test(renamed_values_are_found),
        cmocka_unit_test(sentences_use_the_names_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
