/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fuzz/drive.h"

#include "base/assert.h"
#include "scenario/coverage.h"

#include <errno.h>
#include <string.h>

_Static_assert(SITUATION_MARKS == COVERAGE_MARKS_MAX, "a slot for each mark");

/* ---- which world ---- */

static void leave(struct fuzz_driver *driver)
{
    world_image_free(driver->first.world);
    driver->first.world = NULL;
    driver->first.known = false;
    if (driver->open) {
        run_close(&driver->run);
        scenario_close(&driver->scenario);
        driver->open = false;
    }
    LS_ASSERT(!driver->open && driver->first.world == NULL);
}

static void on_event(void *ctx, const struct event *event)
{
    struct fuzz_driver *driver = ctx;
    driver->stats.grants += event->kind == EVENT_GRANTED;
    driver->stats.faults += event->kind == EVENT_FAULT;
    situations_event(&driver->situations, event);
}

/* Begins a run from scratch, and saves its beginning for further runs. After a violation or a trouble at the
 * beginning, later runs begin from scratch too, because a step may have been interrupted. */
static void begin_anew(struct fuzz_driver *driver)
{
    LS_ASSERT(driver->open);
    memset(&driver->stats, 0, sizeof driver->stats);
    situations_begin(&driver->situations);
    run_forget(&driver->run);
    run_begin(&driver->run, SCHEDULE_SEARCH, 0);
    world_image_free(driver->first.world);
    driver->first.world = world_save(driver->run.world);
    driver->first.situations = driver->situations;
    driver->first.stats = driver->stats;
    driver->first.judged = driver->run.stats;
    driver->first.layout = world_layout(driver->run.world);
    driver->first.known = driver->first.world != NULL && fuzz_may_go_on(driver);
}

static void begin(struct fuzz_driver *driver)
{
    uint8_t *slot = driver->situations.slot;
    LS_ASSERT(driver->open && (!driver->first.known || driver->first.world != NULL));
    if (!driver->first.known || driver->first.layout != world_layout(driver->run.world)) {
        begin_anew(driver);
        return;
    }
    driver->stats = driver->first.stats;
    driver->situations = driver->first.situations;
    driver->situations.slot = slot;
    run_begin_from(&driver->run, driver->first.world, &driver->first.judged);
}

/* Returns whether the world of this header and of the driver's recipe is open. */
static bool is_entered(const struct fuzz_driver *driver, const uint8_t header[FUZZ_HEADER])
{
    return driver->open && driver->entered == driver->recipe &&
           memcmp(driver->header, header, FUZZ_HEADER) == 0;
}

static bool open_run(struct fuzz_driver *driver, const uint8_t header[FUZZ_HEADER])
{
    LS_ASSERT(!driver->open);
    char text[FUZZ_TEXT_MAX];
    struct input_error error;
    size_t length = fuzz_scenario_text(driver->recipe->coordinator, header, FUZZ_HEADER, text);
    int rc = scenario_read_bytes(&driver->scenario, "input", text, length, &error);
    LS_ASSERT(rc == 0 && "every header is a scenario");
    struct run_setup setup = {
        .scenario = &driver->scenario, .recipe = driver->recipe, .schedule = SCHEDULE_SEARCH, .part = true};
    if (run_init(&driver->run, &setup) != 0) {
        scenario_close(&driver->scenario);
        return false;
    }
    driver->run.watch_event = on_event;
    driver->run.watch_ctx = driver;
    driver->open = true;
    driver->entered = driver->recipe;
    memcpy(driver->header, header, FUZZ_HEADER);
    return true;
}

bool fuzz_enter(struct fuzz_driver *driver, const uint8_t *bytes, size_t size)
{
    uint8_t header[FUZZ_HEADER] = {0};
    memcpy(header, bytes, size < FUZZ_HEADER ? size : FUZZ_HEADER);
    if (!is_entered(driver, header)) {
        leave(driver);
        if (!open_run(driver, header)) {
            return false;
        }
        begin_anew(driver);
    } else if (!driver->begun) {
        begin(driver);
    }
    driver->begun = true;
    return true;
}

/* ---- one step ---- */

bool fuzz_may_go_on(const struct fuzz_driver *driver)
{
    const struct run *run = &driver->run;
    return run->steps < FUZZ_STEPS_MAX && !run_violated(run) && world_trouble(run->world) == NULL;
}

bool fuzz_apply(struct fuzz_driver *driver, const struct action *action)
{
    LS_ASSERT(driver->open);
    if (run_apply(&driver->run, action) != 0) {
        return false;
    }
    if (action->process < WORLD_PROCESSES_MAX) {
        situations_count(&driver->situations, driver->run.world, action->process);
    }
    return true;
}

static bool step_by_default(struct fuzz_driver *driver)
{
    struct action action;
    return world_default_action(driver->run.world, &action) && fuzz_apply(driver, &action);
}

/* ---- decisions ---- */

static bool of_program(const struct action *action)
{
    return world_is_verb(action) && !world_is_fault(action);
}

/* The kind of decision for each common fault. For own faults of a coordinator it is FUZZ_SERVER. */
static const uint8_t of_fault[WORLD_FAULT_OWN] = {
    [WORLD_FAULT_LOSS] = FUZZ_LOSS,     [WORLD_FAULT_EXPIRE] = FUZZ_EXPIRE,
    [WORLD_FAULT_PAUSE] = FUZZ_PAUSE,   [WORLD_FAULT_CRASH] = FUZZ_CRASH,
    [WORLD_FAULT_REFUSE] = FUZZ_REFUSE, [WORLD_FAULT_LAG] = FUZZ_SERVER,
    [WORLD_FAULT_LATE] = FUZZ_SERVER,   [WORLD_FAULT_CANCEL] = FUZZ_CANCEL,
    [WORLD_FAULT_ALLOC] = FUZZ_ALLOC,   [WORLD_FAULT_SWEEP] = FUZZ_SERVER,
    [WORLD_FAULT_SERVER] = FUZZ_SERVER, [WORLD_FAULT_RMDIR] = FUZZ_SERVER,
    [WORLD_FAULT_EVICT] = FUZZ_SERVER,  [WORLD_FAULT_TOUCH] = FUZZ_SERVER,
    [WORLD_FAULT_CALL] = FUZZ_ALLOC,    [WORLD_FAULT_RESTRICT] = FUZZ_SERVER};

bool fuzz_is_about(enum fuzz_what what, const struct action *action)
{
    uint8_t kind = action->kind;
    switch (what) {
    case FUZZ_DELIVER:
        return kind == ACTION_DELIVER;
    case FUZZ_APPLY:
        return kind == ACTION_APPLY;
    case FUZZ_CONNECT:
        return kind == ACTION_CONNECT || kind == ACTION_BURY || kind == ACTION_HANG_UP ||
               kind == ACTION_GIVE_UP;
    case FUZZ_FIRE:
        return kind == ACTION_FIRE;
    case FUZZ_PROGRAM:
        return of_program(action);
    case FUZZ_CATCH_UP:
        return kind == ACTION_CATCH_UP || kind == ACTION_COMMIT ||
               (kind >= ACTION_OWN && action_has(action, TRAIT_STEP));
    case FUZZ_HEAL:
        return world_is_healing(action);
    case FUZZ_REFUSE:
        if (kind == ACTION_PARTITION) { /* a refusal without end, in a script */
            return true;
        }
        break;
    default:
        break;
    }
    int fault = world_fault_of(action);
    return fault >= 0 && (fault < WORLD_FAULT_OWN ? of_fault[fault] : FUZZ_SERVER) == what;
}

/* Returns the set of WORLD_PART_... that has the actions of a decision. */
static unsigned parts_of(enum fuzz_what what)
{
    switch (what) {
    case FUZZ_DELIVER:
    case FUZZ_APPLY:
    case FUZZ_CONNECT:
    case FUZZ_CATCH_UP:
        return WORLD_PART_ENSEMBLE;
    case FUZZ_FIRE:
        return WORLD_PART_TIMERS;
    case FUZZ_PROGRAM:
        return WORLD_PART_PROGRAM;
    case FUZZ_CANCEL:
        return WORLD_PART_PROGRAM | WORLD_PART_FAULTS;
    case FUZZ_HEAL:
    case FUZZ_EXPIRE:
        return WORLD_PART_ENSEMBLE | WORLD_PART_FAULTS;
    default:
        return WORLD_PART_FAULTS;
    }
}

/* Returns whether a decision of this kind is about servers. */
static bool is_of_nobody(enum fuzz_what what)
{
    return what == FUZZ_CATCH_UP || what == FUZZ_SERVER;
}

int fuzz_choices(struct fuzz_driver *driver, uint8_t first)
{
    enum fuzz_what what = fuzz_what(first);
    unsigned parts = parts_of(what);
    int clients = driver->scenario.options.processes, kept = 0;
    int count = world_actions_among(driver->run.world, (first & 15) % clients, parts, driver->enabled);
    if (is_of_nobody(what) || what == FUZZ_HEAL || what == FUZZ_CONNECT) {
        struct action *more = driver->enabled + count;
        LS_ASSERT(count <= WORLD_ACTIONS_MAX / 2);
        count += world_actions_among(driver->run.world, clients, parts, more);
    }
    for (int i = 0; i < count; i++) {
        if (fuzz_is_about(what, &driver->enabled[i])) {
            driver->enabled[kept++] = driver->enabled[i];
        }
    }
    LS_ASSERT(kept <= count && count <= WORLD_ACTIONS_MAX);
    return kept;
}

int fuzz_which(const struct fuzz_driver *driver, const uint8_t *decision, int kept)
{
    LS_ASSERT(kept > 0);
    enum fuzz_what what = fuzz_what(decision[0]);
    int low = decision[0] & 15;
    int which = what >= FUZZ_LOSS ? decision[1]
                                  : low / driver->scenario.options.processes + (is_of_nobody(what) ? low : 0);
    return which % kept;
}

/* Returns false if the action of the decision is not possible now. */
static bool decide(struct fuzz_driver *driver, const uint8_t *decision)
{
    int kept = fuzz_choices(driver, decision[0]);
    return kept > 0 && fuzz_apply(driver, &driver->enabled[fuzz_which(driver, decision, kept)]);
}

static void follow(struct fuzz_driver *driver, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size && fuzz_may_go_on(driver);) {
        uint8_t decision[2] = {bytes[at], at + 1 < size ? bytes[at + 1] : 0};
        if (fuzz_what(decision[0]) == FUZZ_DEFAULT) {
            for (int i = decision[0] & 15; i >= 0 && fuzz_may_go_on(driver) && step_by_default(driver); i--) {
            }
        } else if (decide(driver, decision)) {
            driver->stats.decisions++;
        } else {
            driver->stats.passed++;
        }
        at += fuzz_decision_size(decision[0]);
    }
}

/* ---- the end ---- */

static bool step_of_a_program(struct fuzz_driver *driver)
{
    for (int p = 0; p < driver->scenario.options.processes; p++) {
        int count = world_actions_among(driver->run.world, p, WORLD_PART_PROGRAM, driver->enabled);
        for (int i = 0; i < count; i++) {
            if (of_program(&driver->enabled[i])) {
                return fuzz_apply(driver, &driver->enabled[i]);
            }
        }
    }
    return false;
}

static void go_to_the_end(struct fuzz_driver *driver)
{
    while (fuzz_may_go_on(driver) && (step_by_default(driver) || step_of_a_program(driver))) {
    }
}

/* Goes on to the end of the programs, ends all faults, goes on again, and judges the world at rest. */
static void come_to_rest(struct fuzz_driver *driver)
{
    go_to_the_end(driver);
    run_heal(&driver->run);
    go_to_the_end(driver);
    if (!run_violated(&driver->run) && world_trouble(driver->run.world) == NULL) {
        run_settle(&driver->run);
        run_rest(&driver->run);
    }
    LS_ASSERT(driver->run.steps >= driver->run.stats.step);
}

bool fuzz_begin(struct fuzz_driver *driver, const uint8_t *bytes, size_t size)
{
    bool well = fuzz_enter(driver, bytes, size);
    driver->begun = false;
    return well;
}

/* Clears the marks that were reached before a run, so that the marks of the run follow from its input
 * alone. */
static void forget_marks(const struct fuzz_driver *driver)
{
    for (int i = -1; (i = coverage_take_mark(driver->recipe, i)) >= 0;) {
    }
}

static void count_marks(struct fuzz_driver *driver)
{
    for (int i = -1; (i = coverage_take_mark(driver->recipe, i)) >= 0;) {
        situations_mark(&driver->situations, i);
    }
}

static enum fuzz_end run_once(struct fuzz_driver *driver, const uint8_t *bytes, size_t size)
{
    struct run *run = &driver->run;
    LS_ASSERT(driver->open && driver->begun);
    size_t header = size < FUZZ_HEADER ? size : FUZZ_HEADER;
    size = size < FUZZ_DECISIONS_MAX + FUZZ_HEADER ? size : FUZZ_DECISIONS_MAX + FUZZ_HEADER;
    driver->begun = false;
    forget_marks(driver);
    follow(driver, bytes + header, size - header);
    come_to_rest(driver);
    count_marks(driver);
    driver->stats.steps = run->steps;
    enum fuzz_end end = run_violated(run)          ? FUZZ_VIOLATED
                        : run_trouble(run) != NULL ? FUZZ_LIMIT
                                                   : FUZZ_HOLDS;
    driver->first.known = driver->first.known && end == FUZZ_HOLDS;
    return end;
}

enum fuzz_end fuzz_run(struct fuzz_driver *driver, const uint8_t *bytes, size_t size)
{
    return fuzz_enter(driver, bytes, size) ? run_once(driver, bytes, size) : FUZZ_FAILED;
}

void fuzz_close(struct fuzz_driver *driver)
{
    leave(driver);
}

enum fuzz_end fuzz_record(struct fuzz_driver *driver, const uint8_t *bytes, size_t size, const char *folder,
                          struct outcome *outcome)
{
    if (!fuzz_enter(driver, bytes, size)) {
        outcome->verdict = VERDICT_ERROR;
        outcome_say(outcome, "  no world can be made: %s\n", strerror(errno));
        return FUZZ_FAILED;
    }
    driver->run.recording = true;
    enum fuzz_end end = run_once(driver, bytes, size);
    outcome_judge(outcome, &driver->run, run_trouble(&driver->run), true);
    if (end == FUZZ_VIOLATED) {
        outcome_write_trace(outcome, &driver->run, folder, "difference");
    }
    driver->run.recording = false;
    return end;
}
