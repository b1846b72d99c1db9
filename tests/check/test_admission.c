/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Semaphores and read-write locks: which contenders are admitted (check/state.h), and how judges use that. */
#include "base/rng.h"
#include "check/judge.h"
#include "check/state.h"

#define READ 0
#define WRITE 1

static const struct ls_lock_spec READ_WRITE[2] = {
    {.kind = LS_LOCK_READ_WRITE, .mode = LS_MODE_SHARED},
    {.kind = LS_LOCK_READ_WRITE, .mode = LS_MODE_EXCLUSIVE},
};
/* Two units, and a second lock of the group whose holds take both. */
static const struct ls_lock_spec SEMAPHORE[2] = {
    {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 2},
    {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 2, .count = 2},
};

/* ---- events at either lock ---- */

static void at(struct judge *judge, int lock, enum event_kind kind, int process, struct event event)
{
    event.kind = (uint8_t)kind;
    event.lock = (uint8_t)lock;
    event.process = (uint8_t)process;
    event.session = SESSION(process);
    show(judge, event);
}

static void asks(struct judge *judge, int lock, int process, int timeout_ms)
{
    at(judge, lock, EVENT_ASKED, process, (struct event){.code = timeout_ms});
}

static void joins(struct judge *judge, int lock, int process, int64_t czxid)
{
    at(judge, lock, EVENT_NODE_CREATED, process, (struct event){.code = 1, .zxid = czxid});
}

static void goes(struct judge *judge, int lock, int process, int64_t czxid, int64_t zxid)
{
    at(judge, lock, EVENT_NODE_DELETED, process, (struct event){.code = 1, .zxid = czxid, .cause = zxid});
}

static void gets(struct judge *judge, int lock, int process, int64_t token)
{
    at(judge, lock, EVENT_GRANTED, process, (struct event){.code = 1, .zxid = token});
}

static void gives(struct judge *judge, int lock, int process)
{
    at(judge, lock, EVENT_RELEASED, process, (struct event){0});
}

static void gets_in_line(struct judge *judge, int lock, int process, int64_t czxid)
{
    asks(judge, lock, process, -1);
    joins(judge, lock, process, czxid);
    gets(judge, lock, process, czxid);
}

static void waits(struct judge *judge, int lock, int process, int64_t czxid)
{
    asks(judge, lock, process, -1);
    joins(judge, lock, process, czxid);
}

static void open_connected(struct judge *judge, const char *property, bool timed,
                           const struct ls_lock_spec *specs)
{
    judge_open_of(judge, property, timed, specs);
    for (int process = A; process <= D; process++)
        up(judge, process);
}

/* ---- the definition ---- */

/* A line as a list, to which the definition is applied literally. */
struct model {
    struct {
        int lock, process;
        bool held;
    } place[8];
    int places;
};

static bool stand_together(const struct ls_lock_spec *specs, const int *locks, int count)
{
    int units = 0;
    for (int i = 0; i < count; i++) {
        units += specs[locks[i]].count > 0 ? specs[locks[i]].count : 1;
        if (specs[locks[i]].mode == LS_MODE_EXCLUSIVE && count > 1)
            return false;
    }
    return count <= 1 || specs->capacity == 0 || units <= specs->capacity;
}

static bool holds_alone(const struct ls_lock_spec *specs, const struct model *model, int process)
{
    for (int i = 0; i < model->places; i++)
        if (model->place[i].process == process && model->place[i].held &&
            specs[model->place[i].lock].mode == LS_MODE_EXCLUSIVE)
            return true;
    return false;
}

static bool is_admitted(const struct ls_lock_spec *specs, const struct model *model, int which)
{
    int locks[8] = {model->place[which].lock}, count = 1;
    int process = model->place[which].process;
    bool alone = holds_alone(specs, model, process);
    for (int i = 0; i < model->places; i++) {
        bool own = model->place[i].process == process && model->place[i].held;
        bool counts = model->place[i].held || (i < which && !alone);
        if (i != which && counts && !own)
            locks[count++] = model->place[i].lock;
    }
    return stand_together(specs, locks, count);
}

static void admission_is_what_the_definition_says(void **state)
{
    const struct ls_lock_spec *const groups[] = {READ_WRITE, SEMAPHORE};
    struct rng rng;
    int admitted = 0, asked = 0;
    (void)state;
    rng_seed(&rng, 20261127);
    for (int round = 0; round < 20000; round++) {
        const struct ls_lock_spec *specs = groups[round % 2];
        struct model model = {.places = 1 + (int)rng_below(&rng, 6)};
        struct judge judge;
        judge_open_of(&judge, "at_most_one_holder", false, specs);
        for (int i = 0; i < model.places; i++) {
            model.place[i].lock = (int)rng_below(&rng, 2);
            model.place[i].process = (int)rng_below(&rng, 4);
            model.place[i].held = rng_below(&rng, 3) == 0;
            joins(&judge, model.place[i].lock, model.place[i].process, 10 + i);
            for (int k = 0; k < i; k++) /* an owner has one hold of a lock */
                if (model.place[k].lock == model.place[i].lock &&
                    model.place[k].process == model.place[i].process && model.place[k].held)
                    model.place[i].held = false;
            if (model.place[i].held)
                gets(&judge, model.place[i].lock, model.place[i].process, 10 + i);
        }
        for (int i = 0; i < model.places; i++) {
            const struct contender contender = {
                .lock = model.place[i].lock, .process = model.place[i].process, .czxid = 10 + i};
            bool expected = is_admitted(specs, &model, i);
            assert_int_equal(ledger_admits(judge.block, &judge.set.context, &contender, NULL), expected);
            admitted += expected;
            asked++;
        }
        judge_close(&judge);
    }
    assert_in_range(admitted, asked / 10, asked * 9 / 10);
}

/* ---- at_most_one_holder ---- */

static void as_many_as_the_capacity_hold(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_holder", false, SEMAPHORE);
    gets_in_line(&judge, 0, A, 10);
    gets_in_line(&judge, 0, B, 11);
    waits(&judge, 0, C, 12);
    goes(&judge, 0, A, 10, 13);
    gets(&judge, 0, C, 12);
    assert_verdict(&judge, CHECK_HOLDS);
    waits(&judge, 0, D, 14);
    gets(&judge, 0, D, 14);
    assert_violated(&judge, EVENT_GRANTED, "its node (czxid 14) stands behind that of process 1");
    judge_close(&judge);
}

/* ---- a capacity that changes ---- */

/* One unit is declared. */
static const struct ls_lock_spec ONE_UNIT[1] = {
    {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 1}};

static void open_resizing(struct judge *judge, const char *property)
{
    const struct check_context context = {.processes = 4, .locks = 1, .specs = ONE_UNIT, .resizes = true};
    judge_open_in(judge, property, &context);
    for (int process = A; process <= D; process++)
        up(judge, process);
}

static void learns(struct judge *judge, int process, int capacity)
{
    at(judge, 0, EVENT_CAPACITY, process, (struct event){.code = capacity});
}

static void each_goes_by_the_capacity_that_it_knows(void **state)
{
    struct judge judge;
    (void)state;
    open_resizing(&judge, "at_most_one_holder");
    gets_in_line(&judge, 0, A, 10);
    waits(&judge, 0, B, 11);
    learns(&judge, B, 2);
    gets(&judge, 0, B, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    goes(&judge, 0, A, 10, 12);
    waits(&judge, 0, C, 13); /* C knows one unit, and B has it */
    gets(&judge, 0, C, 13);
    assert_violated(&judge, EVENT_GRANTED, "process 2 was granted lock 0 but its node (czxid 13)");
    judge_close(&judge);
}

/* Any recipe may report any lock. */
static void a_capacity_of_no_lock_changes_nothing(void **state)
{
    struct judge judge;
    (void)state;
    open_resizing(&judge, "at_most_one_holder");
    gets_in_line(&judge, 0, A, 10);
    at(&judge, 200, EVENT_CAPACITY, B, (struct event){.code = 2});
    gets_in_line(&judge, 0, B, 11);
    assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 0");
    judge_close(&judge);
}

/* Any recipe may report the capacity 0, which is none. */
static void without_a_limit_each_node_of_a_hold_is_admitted(void **state)
{
    static const struct ls_lock_spec two_units[1] = {
        {.kind = LS_LOCK_SEMAPHORE, .mode = LS_MODE_SHARED, .capacity = 2, .count = 2}};
    const struct check_context context = {
        .processes = 4, .locks = 1, .specs = two_units, .resizes = true, .contender_per_unit = true};
    struct judge judge;
    (void)state;
    judge_open_in(&judge, "at_most_one_holder", &context);
    learns(&judge, A, 0);
    asked(&judge, A);
    created(&judge, A, 10);
    created(&judge, A, 11);
    granted(&judge, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* Events after which the process of a second contender counts with the declared capacity again. */
static void a_capacity_ends(void **state)
{
    static const struct event ends[] = {
        {.kind = EVENT_CAPACITY, .code = 1}, {.kind = EVENT_LOCK_CLOSED}, {.kind = EVENT_CRASHED}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct judge judge;
        open_resizing(&judge, "at_most_one_holder");
        gets_in_line(&judge, 0, A, 10);
        learns(&judge, B, 2);
        at(&judge, 0, (enum event_kind)ends[i].kind, B, ends[i]);
        gets_in_line(&judge, 0, B, 11);
        assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 0");
        judge_close(&judge);
    }
}

static void who_had_room_is_granted_by_a_smaller_capacity(void **state)
{
    struct judge judge;
    (void)state;
    open_resizing(&judge, "at_most_one_holder");
    gets_in_line(&judge, 0, A, 10);
    learns(&judge, B, 2);
    waits(&judge, 0, B, 11);
    learns(&judge, B, 1);
    gets(&judge, 0, B, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    judge_close(&judge);
}

/* B's node is deleted while A holds. B may apply a capacity that it learns later to a list that it read
 * before. */
static void a_list_is_looked_at_later(void **state)
{
    (void)state;
    for (int capacity = 1; capacity <= 3; capacity++) {
        struct judge judge;
        open_resizing(&judge, "at_most_one_holder");
        gets_in_line(&judge, 0, A, 10);
        waits(&judge, 0, B, 11);
        goes(&judge, 0, B, 11, 12);
        learns(&judge, B, capacity);
        gets(&judge, 0, B, 11);
        if (capacity == 1)
            assert_violated(&judge, EVENT_GRANTED, "had no node in the line since it asked");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_larger_capacity_wakes(void **state)
{
    (void)state;
    for (int capacity = 1; capacity <= 2; capacity++) {
        struct judge judge;
        open_resizing(&judge, "no_lost_wakeup");
        gets_in_line(&judge, 0, A, 10);
        waits(&judge, 0, B, 11);
        learns(&judge, B, capacity);
        show(&judge, (struct event){.kind = EVENT_REST});
        if (capacity == 1)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REST, "process 1 waits for lock 0 at rest, but there is room");
        judge_close(&judge);
    }
}

/* B waits and knows of one unit. C, behind it, holds beside A. If C knows of three, there is room for B. */
static void who_knows_less_is_not_overtaken(void **state)
{
    (void)state;
    for (int capacity = 2; capacity <= 3; capacity++) {
        struct judge judge;
        open_resizing(&judge, "granted_in_order");
        gets_in_line(&judge, 0, A, 10);
        waits(&judge, 0, B, 11);
        learns(&judge, C, capacity);
        waits(&judge, 0, C, 12);
        gets(&judge, 0, C, 12);
        if (capacity == 3)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_GRANTED, "before process 1, whose node is older");
        judge_close(&judge);
    }
}

static void a_smaller_capacity_excuses_a_try(void **state)
{
    (void)state;
    for (int capacity = 1; capacity <= 2; capacity++) {
        struct judge judge;
        open_resizing(&judge, "answers_have_reasons");
        for (int process = A; process <= B; process++)
            at(&judge, 0, EVENT_CONNECTED, process, (struct event){0});
        gets_in_line(&judge, 0, A, 10);
        learns(&judge, B, 2);
        asks(&judge, 0, B, 0);
        learns(&judge, B, capacity);
        at(&judge, 0, EVENT_FAILED, B, (struct event){.code = CODE_BUSY});
        if (capacity == 1)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "is busy, but it was free all the time");
        judge_close(&judge);
    }
}

/* ---- at_most_one_holder, by other rules ---- */

static void counts_are_units(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_holder", false, SEMAPHORE);
    gets_in_line(&judge, 1, A, 10);
    goes(&judge, 1, A, 10, 11);
    gets_in_line(&judge, 0, B, 12);
    assert_verdict(&judge, CHECK_HOLDS);
    gets_in_line(&judge, 1, C, 13);
    assert_violated(&judge, EVENT_GRANTED, "czxid 13");
    judge_close(&judge);
}

static void readers_hold_beside_readers_alone(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_holder", false, READ_WRITE);
    gets_in_line(&judge, READ, A, 10);
    gets_in_line(&judge, READ, B, 11);
    assert_verdict(&judge, CHECK_HOLDS);
    gets_in_line(&judge, WRITE, C, 12);
    assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 0");
    judge_close(&judge);
}

static void a_reader_does_not_pass_a_writer(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_holder", false, READ_WRITE);
    gets_in_line(&judge, READ, A, 10);
    waits(&judge, WRITE, B, 11);
    gets_in_line(&judge, READ, C, 12);
    assert_violated(&judge, EVENT_GRANTED, "stands behind that of process 1 (czxid 11)");
    judge_close(&judge);
}

/* The node by which a writer becomes a reader stands behind that of another writer, which must wait for
 * it. */
static void nobody_comes_between_a_downgrade(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_holder", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, WRITE, B, 11);
    gets_in_line(&judge, READ, A, 12);
    gives(&judge, WRITE, A);
    goes(&judge, WRITE, A, 10, 13);
    assert_verdict(&judge, CHECK_HOLDS);
    gets(&judge, WRITE, B, 11);
    assert_violated(&judge, EVENT_GRANTED, "its node (czxid 11) stands before that of process 0 (czxid 12)");
    judge_close(&judge);
}

/* The session of a writer that becomes a reader ends, and its nodes go in either order. The grant is
 * reported after that. */
static void a_downgrade_may_be_told_late(void **state)
{
    (void)state;
    for (int first = READ; first <= WRITE; first++) {
        struct judge judge;
        judge_open_of(&judge, "at_most_one_holder", false, READ_WRITE);
        gets_in_line(&judge, WRITE, A, 10);
        waits(&judge, WRITE, B, 11);
        waits(&judge, READ, A, 12);
        goes(&judge, first, A, first == READ ? 12 : 10, 13);
        goes(&judge, !first, A, first == READ ? 10 : 12, 13);
        gets(&judge, READ, A, 10);
        assert_verdict(&judge, CHECK_HOLDS);
        gets(&judge, WRITE, B, 11);
        assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

/* A contender behind the writer is also behind its reader, and stays so if the writer's process crashes. */
static void a_reader_stands_where_its_writer_stood(void **state)
{
    (void)state;
    struct judge judge;
    open_connected(&judge, "no_lost_wakeup", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, WRITE, B, 11);
    waits(&judge, READ, A, 12);
    goes(&judge, WRITE, A, 10, 13);
    at(&judge, EVENT_LOCK_NONE, EVENT_CRASHED, A, (struct event){0});
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    goes(&judge, READ, A, 12, 14);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "process 1 waits for lock 1 at rest, but nobody holds it");
    judge_close(&judge);
}

/* Only a node that was created under the hold has the writer's place. */
static void a_reader_that_asks_later_has_its_own_place(void **state)
{
    (void)state;
    struct judge judge;
    judge_open_of(&judge, "at_most_one_holder", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, WRITE, B, 11);
    gives(&judge, WRITE, A);
    goes(&judge, WRITE, A, 10, 13);
    gets_in_line(&judge, READ, A, 14);
    assert_violated(&judge, EVENT_GRANTED, "its node (czxid 14) stands behind that of process 1 (czxid 11)");
    judge_close(&judge);
}

/* ---- the other judges ---- */

static void a_downgrade_passes_nobody_over(void **state)
{
    (void)state;
    struct judge judge;
    judge_open_of(&judge, "granted_in_order", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, WRITE, B, 11);
    waits(&judge, READ, A, 12);
    goes(&judge, WRITE, A, 10, 13);
    gets(&judge, READ, A, 10);
    gives(&judge, READ, A);
    goes(&judge, READ, A, 12, 14);
    gets(&judge, WRITE, B, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_NOT_JUDGED); /* no process had a place at a grant */
    judge_close(&judge);
}

static void a_downgrade_may_keep_its_token(void **state)
{
    (void)state;
    struct judge judge;
    judge_open_of(&judge, "no_stale_effect", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, READ, A, 12);
    gets(&judge, READ, A, 10);
    assert_verdict(&judge, CHECK_HOLDS);
    waits(&judge, READ, B, 13);
    gets(&judge, READ, B, 10);
    assert_violated(&judge, EVENT_GRANTED, "with the fencing token 0xa of another grant");
    judge_close(&judge);
}

static void an_upgrade_is_a_deadlock(void **state)
{
    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        struct judge judge;
        open_connected(&judge, "answers_have_reasons", false, READ_WRITE);
        if (holds)
            gets_in_line(&judge, READ, A, 10);
        asks(&judge, WRITE, A, -1);
        at(&judge, WRITE, EVENT_FAILED, A, (struct event){.code = CODE_DEADLOCK});
        if (holds)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "was told of error -14");
        judge_close(&judge);
    }
}

static void who_waits_to_write_is_told_so(void **state)
{
    (void)state;
    for (int waiting = 0; waiting < 2; waiting++) {
        struct judge judge;
        open_connected(&judge, "answers_have_reasons", false, READ_WRITE);
        if (waiting)
            waits(&judge, WRITE, A, 10);
        asks(&judge, READ, A, -1);
        at(&judge, READ, EVENT_FAILED, A, (struct event){.code = CODE_ALREADY});
        if (waiting)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_FAILED, "an acquire of lock 0 is pending already");
        judge_close(&judge);
    }
}

static void a_writer_is_kept_for_its_reader(void **state)
{
    (void)state;
    struct judge judge;
    judge_open_of(&judge, "release_matches_acquire", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, READ, A, 12);
    at(&judge, WRITE, EVENT_REFUSED, A, (struct event){.code = CODE_ALREADY});
    at(&judge, READ, EVENT_GRANTED, A, (struct event){.code = 1, .zxid = 10});
    at(&judge, READ, EVENT_REVOKE_ASKED, A, (struct event){.zxid = 10});
    assert_verdict(&judge, CHECK_HOLDS);
    at(&judge, WRITE, EVENT_REFUSED, A, (struct event){.code = CODE_ALREADY});
    assert_violated(&judge, EVENT_REFUSED, "was refused (-15), who holds it");
    judge_close(&judge);
}

static void a_unit_that_is_free_is_a_lost_wakeup(void **state)
{
    for (int free = 0; free < 2; free++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "no_lost_wakeup", false, SEMAPHORE);
        gets_in_line(&judge, 0, A, 10);
        gets_in_line(&judge, 0, B, 11);
        waits(&judge, 0, C, 12);
        rest(&judge);
        assert_verdict(&judge, CHECK_HOLDS);
        if (free)
            goes(&judge, 0, A, 10, 13);
        rest(&judge);
        if (free)
            assert_violated(&judge, EVENT_REST, "process 2 waits for lock 0 at rest, but there is room");
        judge_close(&judge);
    }
}

static void whoever_cannot_act_bars_no_other_unit(void **state)
{
    struct judge judge;
    (void)state;
    open_connected(&judge, "no_lost_wakeup", false, SEMAPHORE);
    gets_in_line(&judge, 0, A, 10);
    waits(&judge, 0, B, 11);
    on(&judge, EVENT_CRASHED, B);
    waits(&judge, 0, C, 12);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    goes(&judge, 0, A, 10, 13);
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "first is a node of process 2");
    judge_close(&judge);
}

static void watches(struct judge *judge, int lock, int process, int64_t czxid)
{
    at(judge, lock, EVENT_WATCH_SET, process, (struct event){.code = EVENT_WATCH_PREDECESSOR, .zxid = czxid});
}

static void a_writer_may_wake_all_whom_it_lets_in(void **state)
{
    for (int third = 0; third < 2; third++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "at_most_one_wakeup_per_release", false, READ_WRITE);
        gets_in_line(&judge, WRITE, A, 10);
        for (int process = B; process <= D; process++) {
            waits(&judge, process == D ? WRITE : READ, process, 10 + process);
            if (process != D || third)
                watches(&judge, WRITE, process, 10);
        }
        goes(&judge, WRITE, A, 10, 20);
        if (third)
            assert_violated(&judge, EVENT_NODE_DELETED, "(zxid 20) wakes both process 1 and process 3");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        rest(&judge);
        judge_close(&judge);
    }
}

static void one_unit_wakes_one(void **state)
{
    struct judge judge;
    (void)state;
    open_connected(&judge, "at_most_one_wakeup_per_release", false, SEMAPHORE);
    gets_in_line(&judge, 0, A, 10);
    gets_in_line(&judge, 0, B, 11);
    waits(&judge, 0, C, 12);
    waits(&judge, 0, D, 13);
    watches(&judge, 0, C, 10);
    watches(&judge, 0, D, 10);
    goes(&judge, 0, A, 10, 20);
    assert_violated(&judge, EVENT_NODE_DELETED, "wakes both process 2 and process 3");
    judge_close(&judge);
}

/* If two contenders are admitted at once, the order of their answers means nothing. */
static void readers_pass_readers(void **state)
{
    for (int passed = READ; passed <= WRITE; passed++) {
        struct judge judge;
        (void)state;
        judge_open_of(&judge, "granted_in_order", false, READ_WRITE);
        waits(&judge, passed, A, 10);
        waits(&judge, READ, B, 11);
        gets(&judge, READ, B, 11);
        if (passed == WRITE)
            assert_violated(&judge, EVENT_GRANTED, "before process 0, whose node is older");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void the_last_unit_goes_by_order(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "granted_in_order", false, SEMAPHORE);
    gets_in_line(&judge, 0, A, 10);
    waits(&judge, 0, B, 11);
    waits(&judge, 0, C, 12);
    gets(&judge, 0, C, 12);
    assert_violated(&judge, EVENT_GRANTED, "before process 1");
    judge_close(&judge);
}

static void a_try_is_busy_only_without_a_unit(void **state)
{
    for (int holders = 1; holders <= 2; holders++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "answers_have_reasons", false, SEMAPHORE);
        for (int process = A; process < holders; process++)
            gets_in_line(&judge, 0, process, 10 + process);
        asks(&judge, 0, C, 0);
        at(&judge, 0, EVENT_FAILED, C, (struct event){.code = CODE_BUSY});
        if (holders == 1)
            assert_violated(&judge, EVENT_FAILED, "is busy, but it was free all the time");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_writer_that_comes_before_a_try_makes_it_busy(void **state)
{
    for (int other = READ; other <= WRITE; other++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "answers_have_reasons", false, READ_WRITE);
        asks(&judge, READ, C, 0);
        waits(&judge, other, A, 10);
        joins(&judge, READ, C, 11);
        at(&judge, READ, EVENT_FAILED, C, (struct event){.code = CODE_BUSY});
        if (other == READ)
            assert_violated(&judge, EVENT_FAILED, "is busy, but it was free all the time");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void believes(struct judge *judge, int lock, int process)
{
    at(judge, lock, EVENT_BELIEVES, process, (struct event){0});
}

static void readers_believe_beside_readers(void **state)
{
    struct judge judge;
    (void)state;
    judge_open_of(&judge, "at_most_one_believer", true, READ_WRITE);
    believes(&judge, READ, A);
    believes(&judge, READ, B);
    assert_verdict(&judge, CHECK_HOLDS);
    believes(&judge, WRITE, C);
    assert_violated(&judge, EVENT_BELIEVES, "process 2 (owner 0) believes to hold lock 1 while process 0");
    judge_close(&judge);
}

static void tokens_are_ordered_among_those_who_exclude_each_other(void **state)
{
    for (int second = READ; second <= WRITE; second++) {
        struct judge judge;
        (void)state;
        judge_open_of(&judge, "no_stale_effect", false, READ_WRITE);
        waits(&judge, second, A, 10);
        waits(&judge, READ, B, 11);
        gets(&judge, READ, B, 11);
        gets(&judge, second, A, 10);
        if (second == WRITE)
            assert_violated(&judge, EVENT_GRANTED, "older than 0xb of an earlier grant");
        else
            assert_verdict(&judge, CHECK_HOLDS);
        judge_close(&judge);
    }
}

static void a_watch_on_another_mode_serves_a_waiter(void **state)
{
    struct judge judge;
    (void)state;
    open_connected(&judge, "no_watch_left_behind", false, READ_WRITE);
    gets_in_line(&judge, WRITE, A, 10);
    waits(&judge, READ, B, 11);
    watches(&judge, WRITE, B, 10);
    waits(&judge, WRITE, D, 12);
    watches(&judge, READ, D, 11);
    rest(&judge);
    assert_verdict(&judge, CHECK_HOLDS);
    at(&judge, READ, EVENT_FAILED, B, (struct event){.code = CODE_CANCELED});
    rest(&judge);
    assert_violated(&judge, EVENT_REST, "has watches on lock 0: 1 on predecessors");
    judge_close(&judge);
}

/* ---- the end of one hold ---- */

static void loses(struct judge *judge, int process, int64_t token)
{
    at(judge, 0, EVENT_HOLD_LOST, process, (struct event){.zxid = token});
}

static void a_hold_is_lost_with_its_node(void **state)
{
    for (int deleted = 0; deleted < 2; deleted++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "answers_have_reasons", false, NULL);
        gets_in_line(&judge, 0, A, 10);
        if (deleted)
            goes(&judge, 0, A, 10, 11);
        loses(&judge, A, 10);
        if (deleted)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_HOLD_LOST, "is lost, but its node stands");
        judge_close(&judge);
    }
}

static void who_holds_nothing_loses_nothing(void **state)
{
    struct judge judge;
    (void)state;
    open_connected(&judge, "answers_have_reasons", false, NULL);
    loses(&judge, A, 10);
    assert_violated(&judge, EVENT_HOLD_LOST, "is lost, but it had none");
    judge_close(&judge);
}

static void a_lost_hold_is_released_or_refused(void **state)
{
    for (int told = 0; told < 2; told++) {
        struct judge judge;
        (void)state;
        open_connected(&judge, "release_matches_acquire", false, NULL);
        gets_in_line(&judge, 0, A, 10);
        if (told)
            loses(&judge, A, 10);
        at(&judge, 0, EVENT_REFUSED, A, (struct event){.code = CODE_NOT_OWNER});
        if (told)
            assert_verdict(&judge, CHECK_HOLDS);
        else
            assert_violated(&judge, EVENT_REFUSED, "was refused (-7), who holds it");
        judge_close(&judge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(admission_is_what_the_definition_says),
        cmocka_unit_test(as_many_as_the_capacity_hold),
        cmocka_unit_test(each_goes_by_the_capacity_that_it_knows),
        cmocka_unit_test(a_capacity_of_no_lock_changes_nothing),
        cmocka_unit_test(without_a_limit_each_node_of_a_hold_is_admitted),
        cmocka_unit_test(a_capacity_ends),
        cmocka_unit_test(who_had_room_is_granted_by_a_smaller_capacity),
        cmocka_unit_test(a_list_is_looked_at_later),
        cmocka_unit_test(a_larger_capacity_wakes),
        cmocka_unit_test(who_knows_less_is_not_overtaken),
        cmocka_unit_test(a_smaller_capacity_excuses_a_try),
        cmocka_unit_test(counts_are_units),
        cmocka_unit_test(readers_hold_beside_readers_alone),
        cmocka_unit_test(a_reader_does_not_pass_a_writer),
        cmocka_unit_test(nobody_comes_between_a_downgrade),
        cmocka_unit_test(a_downgrade_may_be_told_late),
        cmocka_unit_test(a_reader_stands_where_its_writer_stood),
        cmocka_unit_test(a_reader_that_asks_later_has_its_own_place),
        cmocka_unit_test(a_downgrade_passes_nobody_over),
        cmocka_unit_test(a_downgrade_may_keep_its_token),
        cmocka_unit_test(an_upgrade_is_a_deadlock),
        cmocka_unit_test(who_waits_to_write_is_told_so),
        cmocka_unit_test(a_writer_is_kept_for_its_reader),
        cmocka_unit_test(a_unit_that_is_free_is_a_lost_wakeup),
        cmocka_unit_test(whoever_cannot_act_bars_no_other_unit),
        cmocka_unit_test(a_writer_may_wake_all_whom_it_lets_in),
        cmocka_unit_test(one_unit_wakes_one),
        cmocka_unit_test(readers_pass_readers),
        cmocka_unit_test(the_last_unit_goes_by_order),
        cmocka_unit_test(a_try_is_busy_only_without_a_unit),
        cmocka_unit_test(a_writer_that_comes_before_a_try_makes_it_busy),
        cmocka_unit_test(readers_believe_beside_readers),
        cmocka_unit_test(tokens_are_ordered_among_those_who_exclude_each_other),
        cmocka_unit_test(a_watch_on_another_mode_serves_a_waiter),
        cmocka_unit_test(a_hold_is_lost_with_its_node),
        cmocka_unit_test(who_holds_nothing_loses_nothing),
        cmocka_unit_test(a_lost_hold_is_released_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
