/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Properties from shared objects (check/loaded.c): their state, numbers and answers, and refused
 * properties. */
#include "check/judge.h"
#include "check/loaded.h"

/* State of a property: the czxid and session of each process's newest contender, and the number of
 * contenders. */
struct newest {
    int64_t czxid[4];
    int64_t session[4];
    uint8_t count[5]; /* makes the state end within a record */
};

static const char *seen_path;
static int seen_kind;

static void observe_newest(void *memory, const struct event *event, struct ls_judge *judge)
{
    struct newest *state = memory;
    seen_path = event->path;
    seen_kind = event->kind;
    if (event->kind == EVENT_CRASHED) {
        state->czxid[event->process] = state->session[event->process] = 0;
        state->count[event->process] = 0;
    } else if (event->kind == EVENT_NODE_CREATED) {
        judge->premise(judge);
        if (event->zxid < state->czxid[event->process])
            judge->violate(judge, "%s of %d: %s\ngoes\tback to %lld",
                           judge->process_name(judge, event->process), judge->processes,
                           judge->lock_name(judge, event->lock), (long long)event->zxid);
        state->czxid[event->process] = event->zxid;
        state->session[event->process] = event->session;
        state->count[event->process]++;
    }
}

static void canon_newest(const void *memory, struct ls_property_rename *rename)
{
    const struct newest *state = memory;
    for (int i = 0; i < 4; i++) {
        rename->zxid(rename, &state->czxid[i]);
        rename->session(rename, &state->session[i]);
    }
    uintptr_t behind = (uintptr_t)memory + LS_PROPERTY_STATE_MAX;
    rename->zxid(rename, (const int64_t *)behind); /* NOLINT(performance-no-int-to-ptr): outside the state */
}

static void observe_rests(void *memory, const struct event *event, struct ls_judge *judge)
{
    uint64_t *rests = memory;
    (void)event;
    if (++*rests == 3)
        judge->violate(judge, "there were three");
}

static void observe_all(void *memory, const struct event *event, struct ls_judge *judge)
{
    (void)event;
    (void)judge;
    memset(memory, 1, LS_PROPERTY_STATE_MAX);
}

static _Alignas(8) int elsewhere[2];

/* Writes one byte too far (code 0), changes a variable (code 1), or changes nothing (code 2). */
static void observe_too_far(void *memory, const struct event *event, struct ls_judge *judge)
{
    judge->violate(judge, "it does not count");
    if (event->code == 0)
        ((unsigned char *)memory)[20] = 1;
    elsewhere[1] += event->code == 1;
}

#define TEXTS .sentence = "what is promised", .premise = "what is counted", .blind_to = "what is not seen"

static const struct ls_property newest = {
    .name = "newest",
    TEXTS,
    .modes = LS_PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_CRASHED),
    .state_size = sizeof(struct newest),
    .observe = observe_newest,
    .canon = canon_newest,
};

static const struct ls_property plain = {
    .name = "plain",
    TEXTS,
    .modes = LS_PROPERTY_TIMED,
    .needs_clock = true,
    .wants = EVENT_BIT(EVENT_REST),
    .state_size = sizeof(uint64_t),
    .observe = observe_rests,
};

static const struct ls_property too_far = {
    .name = "too_far",
    TEXTS,
    .wants = EVENT_BIT(EVENT_REST),
    .state_size = 20,
    .observe = observe_too_far,
    .canon = ls_property_keeps_no_numbers,
};

static int add(const struct ls_property *property)
{
    char why[LOADED_WHY_MAX];
    int position = loaded_add(property, why);
    if (position < 0)
        fail_msg("%s", why);
    return position;
}

static void stand_behind_those_built_in(void **state)
{
    int before, after;
    (void)state;
    check_all(&before);
    assert_int_equal(check_loaded_mask(), 0);
    assert_int_equal(add(&newest), before);
    assert_int_equal(add(&plain), before + 1);
    assert_int_equal(add(&newest), before); /* it is known already */
    const struct property *const *all = check_all(&after);
    assert_int_equal(after, before + 2);
    assert_string_equal(all[before]->name, "newest");
    assert_int_equal(check_position("plain"), before + 1);
    assert_int_equal(check_loaded_mask(), 3u << before);
    assert_int_equal(check_default_mask(false) >> before, 1);
    assert_int_equal(check_default_mask(true) >> before, 3);
    assert_true(all[before + 1]->needs_clock);
}

/* ---- the state ---- */

static void open_newest(struct judge *judge)
{
    add(&newest);
    judge_open(judge, "newest", false);
}

static void zero_takes_no_room(void **state)
{
    struct judge judge;
    (void)state;
    open_newest(&judge);
    rest(&judge);
    size_t empty = sizeof(struct check_table);
    on(&judge, EVENT_CRASHED, B);
    assert_int_equal(check_set_live_bytes(judge.block), empty);
    created(&judge, B, 10);
    assert_int_equal(check_set_live_bytes(judge.block), empty + 3 * sizeof(struct check_record));
    created(&judge, A, 11); /* its numbers share records with those of B */
    assert_int_equal(check_set_live_bytes(judge.block), empty + 3 * sizeof(struct check_record));
    created(&judge, D, 12);
    assert_int_equal(check_set_live_bytes(judge.block), empty + 5 * sizeof(struct check_record));
    on(&judge, EVENT_CRASHED, D);
    on(&judge, EVENT_CRASHED, B);
    on(&judge, EVENT_CRASHED, A);
    assert_int_equal(check_set_live_bytes(judge.block), empty);
    assert_int_equal(judge.finding->premises, 3);
    judge_close(&judge);
}

static void order_leaves_no_trace(void **state)
{
    struct judge one, two;
    (void)state;
    open_newest(&one);
    open_newest(&two);
    created(&one, A, 10), created(&one, C, 11), created(&one, D, 12);
    created(&two, D, 12), created(&two, C, 11), created(&two, A, 10);
    assert_int_equal(check_set_live_bytes(one.block), check_set_live_bytes(two.block));
    assert_memory_equal(one.block, two.block, check_set_state_size(&one.set));
    judge_close(&one);
    judge_close(&two);
}

static void several_do_not_mix(void **state)
{
    struct check_context context = {.processes = 4, .locks = 2};
    struct judge judge;
    (void)state;
    open_newest(&judge);
    free(judge.block);
    int other = add(&plain);
    check_set_init(&judge.set,
                   CHECK_BIT(judge.position) | CHECK_BIT(other) | CHECK_BIT(check_position("no_orphan_node")),
                   &context);
    judge.block = calloc(1, check_set_state_size(&judge.set));
    created(&judge, A, 10), rest(&judge);
    created(&judge, A, 11), rest(&judge);
    assert_int_equal(judge.stats.violated & CHECK_BIT(other), 0);
    created(&judge, A, 12), rest(&judge);
    assert_true((judge.stats.violated & CHECK_BIT(other)) != 0);
    assert_verdict(&judge, CHECK_HOLDS);
    created(&judge, A, 9);
    assert_violated(&judge, EVENT_NODE_CREATED, "goes back to 9");
    assert_false(judge.stats.limit);
    free(judge.block);
}

/* ---- numbers that grow ---- */

struct seen {
    int count[4];
    int64_t shift;
};

static void shift(void *ctx, enum check_value type, int64_t *value)
{
    struct seen *seen = ctx;
    seen->count[type]++;
    *value += *value ? seen->shift : 0;
}

static void renamed_numbers_are_found(void **state)
{
    struct judge judge;
    struct seen seen = {.shift = 1000};
    (void)state;
    open_newest(&judge);
    created(&judge, A, 10);
    created(&judge, D, 20);
    check_set_visit(judge.block, shift, &seen);
    assert_int_equal(seen.count[CHECK_VALUE_ZXID], 4); /* the zeros beside them too */
    assert_int_equal(seen.count[CHECK_VALUE_SESSION], 4);
    created(&judge, A, 1010); /* the property goes on with the new numbers */
    assert_verdict(&judge, CHECK_HOLDS);
    created(&judge, D, 1019);
    assert_violated(&judge, EVENT_NODE_CREATED, "goes back to 1019");
    assert_true(check_set_shows_numbers(&judge.set));
    judge_close(&judge);
}

static void one_without_canon_shows_nothing(void **state)
{
    struct check_context context = {.processes = 4, .locks = 2};
    struct check_set set;
    (void)state;
    int first = add(&newest), second = add(&plain);
    check_set_init(&set, CHECK_BIT(first) | CHECK_BIT(second), &context);
    assert_false(check_set_shows_numbers(&set));
    check_set_init(&set, CHECK_BIT(first) | CHECK_BIT(check_position("no_orphan_node")), &context);
    assert_true(check_set_shows_numbers(&set));
}

/* ---- answers ---- */

static const char *name_of(const void *names, int index)
{
    return ((const char *const *)names)[index];
}

static void sentences_are_one_line_with_names(void **state)
{
    static const char *const names[] = {"alice", "bob"};
    struct check_context context = {
        .processes = 2, .locks = 1, .process_name = name_of, .lock_name = name_of, .names = names};
    struct judge judge;
    (void)state;
    open_newest(&judge);
    free(judge.block);
    check_set_init(&judge.set, CHECK_BIT(judge.position), &context);
    judge.block = calloc(1, check_set_state_size(&judge.set));
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    created(&judge, B, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    created(&judge, B, 9);
    assert_verdict(&judge, CHECK_VIOLATED);
    assert_string_equal(judge.finding->why, "bob of 2: alice goes back to 9");
    judge_close(&judge);
}

static void who_stops_is_gone_and_paths_are_not_shown(void **state)
{
    struct judge judge;
    (void)state;
    open_newest(&judge);
    on(&judge, EVENT_STOPPED, A);
    assert_int_equal(seen_kind, EVENT_CRASHED);
    seen_path = "anything";
    show(&judge, (struct event){.kind = EVENT_NODE_CREATED, .zxid = 3, .path = "/locks/x/lock-1"});
    assert_null(seen_path);
    judge_close(&judge);
}

/* ---- refused properties ---- */

static void assert_refused(struct ls_property property, const char *text)
{
    char why[LOADED_WHY_MAX] = "";
    int before, after;
    check_all(&before);
    assert_int_equal(loaded_add(&property, why), -1);
    if (!strstr(why, text))
        fail_msg("'%s' does not say '%s'", why, text);
    check_all(&after);
    assert_int_equal(before, after);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct ls_property property = newest;
    (void)state;
    property.name = "no_orphan_node";
    assert_refused(property, "is called no_orphan_node, as one that is built in");
    add(&newest);
    property.name = "newest";
    assert_refused(property, "is called newest, as one that is loaded already");
    static const char *const names[] = {
        "",        "Newest", "new est",
        "new-est", "a/b",    "a234567890123456789012345678901234567890123456789012345678901234",
        NULL};
    for (int i = 0; i < 7; i++) {
        property.name = names[i];
        assert_refused(property, "its name is not one of 1 to 63 small letters");
    }
    property.name = "other";
    property.sentence = "";
    assert_refused(property, "its sentence is not a line");
    property.sentence = "two\nlines";
    assert_refused(property, "its sentence is not a line");
    property = newest, property.name = "other", property.premise = NULL;
    assert_refused(property, "its premise is not a line");
    property = newest, property.name = "other", property.blind_to = NULL;
    assert_refused(property, "its blind_to is not a line");
    property = newest, property.name = "other", property.observe = NULL;
    assert_refused(property, "has no observe");
    property = newest, property.name = "other", property.wants = 0;
    assert_refused(property, "it wants no events");
    property.wants = 1ull << EVENT_KINDS;
    assert_refused(property, "it wants no events, or some that there are not");
    property = newest, property.name = "other", property.modes = 4;
    assert_refused(property, "its modes");
    property.modes = LS_PROPERTY_ALWAYS, property.needs_clock = true;
    assert_refused(property, "its modes");
    property = newest, property.name = "other", property.state_size = LS_PROPERTY_STATE_MAX + 1;
    assert_refused(property, "its state has 4097 bytes, 4096 is the most");
}

/* A property that writes behind its state, also within the last record, is reported. It judges no more
 * then. */
static void who_writes_too_far_is_told_of(void **state)
{
    struct judge judge;
    (void)state;
    add(&too_far);
    judge_open(&judge, "too_far", false);
    assert_null(loaded_trouble());
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    assert_true(judge.stats.limit);
    assert_string_equal(loaded_trouble(), "limit: the property too_far writes behind its state of 20 bytes");
    assert_int_equal(check_set_live_bytes(judge.block), sizeof(struct check_table));
    free(judge.block);
}

/* A change of a property's variable is reported, and undone. */
static void who_keeps_something_elsewhere_is_told_of(void **state)
{
    struct judge judge;
    (void)state;
    elsewhere[1] = 7;
    loaded_watch(add(&too_far), elsewhere, sizeof elsewhere);
    judge_open(&judge, "too_far", false);
    show(&judge, (struct event){.kind = EVENT_REST, .code = 2});
    assert_verdict(&judge, CHECK_VIOLATED); /* its verdict counts: it has changed no variable */
    judge_close(&judge);
    judge_open(&judge, "too_far", false);
    show(&judge, (struct event){.kind = EVENT_REST, .code = 1});
    assert_verdict(&judge, CHECK_NOT_JUDGED);
    assert_true(judge.stats.limit);
    assert_string_equal(loaded_trouble(), "limit: the property too_far keeps something outside of its state");
    assert_int_equal(elsewhere[1], 7);
    free(judge.block);
}

static void four_are_the_most(void **state)
{
    static struct ls_property fourth;
    struct judge judge;
    (void)state;
    add(&newest), add(&plain), add(&too_far);
    fourth = newest;
    fourth.name = "fourth";
    fourth.wants = EVENT_BIT(EVENT_REST);
    fourth.state_size = LS_PROPERTY_STATE_MAX;
    fourth.observe = observe_all;
    add(&fourth);
    judge_open(&judge, "fourth", false);
    rest(&judge);
    assert_int_equal(check_set_live_bytes(judge.block),
                     sizeof(struct check_table) + LS_PROPERTY_STATE_MAX / 16 * sizeof(struct check_record));
    judge_close(&judge);
    struct ls_property fifth = fourth;
    fifth.name = "fifth";
    assert_refused(fifth, "4 properties are loaded already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stand_behind_those_built_in),
        cmocka_unit_test(zero_takes_no_room),
        cmocka_unit_test(order_leaves_no_trace),
        cmocka_unit_test(several_do_not_mix),
        cmocka_unit_test(renamed_numbers_are_found),
        cmocka_unit_test(one_without_canon_shows_nothing),
        cmocka_unit_test(sentences_are_one_line_with_names),
        cmocka_unit_test(who_stops_is_gone_and_paths_are_not_shown),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(who_writes_too_far_is_told_of),
        cmocka_unit_test(who_keeps_something_elsewhere_is_told_of),
        cmocka_unit_test(four_are_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
