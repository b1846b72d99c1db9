/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/run.h"
#include "base/array.h"
#include "base/assert.h"
#include "state/canon.h"

#include "base/hash.h"
#include "check/loaded.h"
#include "scenario/coverage.h"
#include "scenario/verbs.h"
#include "sim/abilities.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOING_ON_TURNS_MAX 64 /* most steps of programs in run_go_on() */

static const char *const SCHEDULES[] = {"directed", "uniform", "pct", "search", "swarm"};

const char *schedule_name(enum schedule schedule)
{
    LS_ASSERT((size_t)schedule < sizeof SCHEDULES / sizeof SCHEDULES[0]);
    return SCHEDULES[schedule];
}

int schedule_find(const char *name)
{
    for (int i = 0; i < (int)(sizeof SCHEDULES / sizeof SCHEDULES[0]); i++) {
        if (strcmp(SCHEDULES[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Shows the growing numbers of the judges to the canon. */
static void show_value(void *ctx, enum check_value type, int64_t *value)
{
    if (type == CHECK_VALUE_ZXID || type == CHECK_VALUE_SESSION) {
        bool zxid = type == CHECK_VALUE_ZXID;
        canon_wide(ctx, zxid ? CANON_ZXID : CANON_SESSION, value,
                   zxid ? world_coordinator()->number_of_position(*value) : (int32_t)*value);
    }
}

static void show_record(void *ctx, void *record, size_t size, const uint8_t *process)
{
    canon_record(ctx, record, size, 0);
    if (process != NULL) {
        canon_role(ctx, process, sizeof *process, *process);
    }
    check_record_visit(record, show_value, ctx);
    canon_record_end(ctx);
}

static void show_judges(void *judges, struct canon *canon)
{
    check_set_records(judges, show_record, canon);
    check_set_visit_loaded(judges, show_value, canon);
}

bool schedule_is_random(enum schedule schedule)
{
    return schedule == SCHEDULE_UNIFORM || schedule == SCHEDULE_PCT || schedule == SCHEDULE_SWARM;
}

/* Applies the run constants number `set` of a search that sweeps them (D8b); set 0 is the file's own. */
static void sweep_constants(const struct scenario *scenario, uint64_t set, struct world_options *options)
{
    if (set & 1 && !scenario->rc_given) {
        options->loss_rc = options->loss_rc == -4 ? -7 : -4;
    }
    options->callbacks_in_init ^= (set & 2) != 0;
    options->seed += set >> 2;
}

/* A random run derives its run constants from its seed. */
void run_options(const struct run_setup *setup, struct world_options *options)
{
    *options = setup->scenario->options;
    options->recipe = setup->recipe;
    options->without = setup->without;
    if (!schedule_is_random(setup->schedule)) {
        options->seed = setup->seeded == TRACE_SEED_GIVEN ? setup->seed : options->seed;
        sweep_constants(setup->scenario, setup->seeded == TRACE_SEED_SWEPT ? setup->seed : 0, options);
        return;
    }
    uint64_t bits = hash_mix(setup->seed ^ 0x6f7074696f6e73ull);
    options->seed = setup->seed;
    options->timed = options->timed && setup->scenario->exploring;
    options->callbacks_in_init |= (bits & 7) == 0;
    if (!setup->scenario->rc_given) {
        options->loss_rc = bits & 8 ? -4 : -7;
    }
    if (setup->schedule == SCHEDULE_SWARM) {
        swarm_budgets(setup->scenario, options->budget);
    }
}

static const char *process_name(const void *names, int process)
{
    const struct scenario *scenario = names;
    return process >= 0 && process < scenario->options.processes ? scenario->options.name[process] : "nobody";
}

static const char *lock_name(const void *names, int lock)
{
    const struct scenario *scenario = names;
    return lock >= 0 && lock < scenario->options.locks ? scenario->lock_name[lock] : "no lock";
}

static int owners_of(const struct scenario *scenario)
{
    int owners = 2;
    for (int i = 0; i < scenario->commands; i++) {
        const struct action *action = &scenario->command[i].action;
        bool client = scenario->command[i].step == STEP_ACTION && action_has(action, TRAIT_LOCK);
        owners = client && action->owner >= owners ? action->owner + 1 : owners;
    }
    for (int p = 0; p < scenario->options.processes; p++) {
        const struct world_program *program = &scenario->options.program[p];
        for (int i = 0; i < program->count; i++) {
            owners = program->ops[i].owner >= owners ? program->ops[i].owner + 1 : owners;
        }
    }
    LS_ASSERT(owners >= 2 && owners <= UINT8_MAX + 1);
    return owners;
}

static bool servers_refuse(const struct world_options *options)
{
    bool refuse = options->defects != 0 || options->settings != 0 || options->sequence_preset != 0;
    for (int i = 0; i < WORLD_NODES_MAX; i++) {
        refuse = refuse || options->node_perms[i] != 0;
    }
    return refuse;
}

static void init_judges(struct run *run, bool timed)
{
    const struct scenario *scenario = run->setup.scenario;
    struct check_context context = {
        .processes = scenario->options.processes,
        .locks = scenario->options.locks,
        .owners = owners_of(scenario),
        .timed = timed,
        .reentrant = run->setup.recipe->reentrant,
        .contender_per_unit = run->setup.recipe->contender_per_unit,
        .queues = run->setup.recipe->queues,
        .resizes = scenario->options.resizes,
        .counted = run->setup.recipe->count != NULL,
        .refusing = servers_refuse(&scenario->options),
        .leases = scenario_has_leases(scenario),
        .tolerance_ms = 1,
        .specs = world_lock_specs(&scenario->options),
        .process_name = process_name,
        .lock_name = lock_name,
        .names = scenario,
    };
    check_mask mask = scenario_mask(scenario, schedule_is_random(run->setup.schedule));
    check_set_init(&run->set, mask & ~run->setup.spared, &context);
    check_set_spare(&run->set, run->setup.spared);
}

static void hold_event(struct run_events *held, const struct event *event)
{
    if (!array_room(&held->event, (size_t)held->count, &held->max, sizeof *held->event, 64)) {
        held->refused = true;
        return;
    }
    LS_ASSERT((size_t)held->count < held->max);
    held->event[held->count++] = *event;
}

static void on_event(void *ctx, const struct event *event)
{
    struct run *run = ctx;
    if (run->held) {
        if (check_set_wants(&run->set, event)) {
            hold_event(run->held, event);
        }
        return;
    }
    void *judges = world_judges(run->world);
    if (check_set_observe(&run->set, judges, &run->stats, event)) {
        world_judges_changed(run->world, check_set_live_bytes(judges));
    }
    check_mask violated = run->stats.violated & ~run->setup.scenario->violates;
    if (violated != run->told) {
        run->told = violated;
        run->failing_choices = run->choices;
        run->failing_steps = run->steps;
    }
    if (run->narrator) {
        narrator_event(run->narrator, event);
    }
    if (run->watch_event) {
        run->watch_event(run->watch_ctx, event);
    }
}

/* The arena has a fixed address, so a process has one world, laid out anew for each run. */
static struct world *only_world;

static struct world *the_only_world(const struct world_options *options)
{
    if (!only_world) {
        only_world = world_open(options, NULL, NULL);
    }
    return only_world;
}

void run_leave_world(void)
{
    if (only_world) {
        world_close(only_world);
        only_world = NULL;
    }
}

int run_init(struct run *run, const struct run_setup *setup)
{
    LS_ASSERT(setup->scenario != NULL && setup->recipe != NULL);
    static struct world_options options;
    memset(run, 0, sizeof *run);
    run->setup = *setup;
    run->faults_max = -1;
    run_options(setup, &options);
    init_judges(run, options.timed);
    options.judge_bytes = check_set_state_size(&run->set);
    options.judge_canon = check_set_shows_numbers(&run->set) ? show_judges : NULL;
    run->world = the_only_world(&options);
    if (!run->world) {
        run_close(run);
        return -1;
    }
    return 0;
}

static void drop_choices(struct run *run)
{
    LS_ASSERT(run->choices >= 0 && (size_t)run->choices <= run->choices_max);
    for (int i = 0; i < run->choices; i++) {
        free((char *)run->choice[i].label);
    }
    run->choices = 0;
}

static void forget_run(struct run *run)
{
    drop_choices(run);
    run->steps = 0;
    run->failing_choices = 0;
    run->overflow = false;
}

void run_begin(struct run *run, enum schedule schedule, uint64_t seed)
{
    LS_ASSERT(run->held == NULL);
    static struct world_options options; /* too large for a stack that recipes share */
    run->setup.schedule = schedule;
    run->setup.seed = seed;
    run_options(&run->setup, &options);
    if (run->faults_max >= 0 && run->faults_max < options.budget_total) {
        options.budget_total = (uint8_t)run->faults_max;
    }
    options.judge_bytes = check_set_state_size(&run->set);
    options.judge_canon = check_set_shows_numbers(&run->set) ? show_judges : NULL;
    forget_run(run);
    run->stats.step = 0;
    world_set_observer(run->world, on_event, run);
    world_reset(run->world, &options);
    bool all = run->setup.careful || schedule == SCHEDULE_DIRECTED;
    world_doubt(run->world, all                           ? WORLD_DOUBT_ALL
                            : schedule == SCHEDULE_SEARCH ? WORLD_DOUBT_FIRST
                                                          : WORLD_DOUBT_FEW);
    world_begin(run->world);
}

void run_begin_from(struct run *run, const struct world_image *image, const struct check_stats *stats)
{
    LS_ASSERT(run->held == NULL && !run->recording);
    forget_run(run);
    run->stats = *stats;
    run->told = 0;
    world_doubt(run->world, WORLD_DOUBT_FEW);
    world_restore(run->world, image);
}

void run_close(struct run *run)
{
    if (run->world) {
        world_set_observer(run->world, NULL, NULL);
    }
    drop_choices(run);
    free(run->choice);
    run->choice = NULL;
}

void run_forget(struct run *run)
{
    memset(&run->stats, 0, sizeof run->stats);
    run->told = 0;
}

static volatile uint64_t heartbeat;

void run_beat(void)
{
    heartbeat++;
}

uint64_t run_heartbeat(void)
{
    return heartbeat;
}

static int index_of(const struct run *run, const struct action *action)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    int count = world_actions(run->world, enabled);
    for (int i = 0; i < count; i++) {
        if (world_same_action(&enabled[i], action)) {
            return i;
        }
    }
    return -1;
}

static void keep_choice(struct run *run, const char *label, int index)
{
    bool room = array_room(&run->choice, (size_t)run->choices, &run->choices_max, sizeof *run->choice, 64);
    char *copy = room ? strdup(label) : NULL;
    if (copy) {
        LS_ASSERT((size_t)run->choices < run->choices_max);
        run->choice[run->choices++] = (struct trace_choice){copy, index};
    } else {
        run->overflow = true;
    }
}

static void try_before(struct run *run, const struct action *action)
{
    if (run->setup.scenario->exploring) {
        tried_before(&run->tried, run->world, action);
    }
}

static void try_after(struct run *run, const struct action *action)
{
    if (run->setup.scenario->exploring) {
        tried_after(&run->tried, run->world, action);
    }
}

static void before_action(void *ctx, const struct action *action)
{
    struct run *run = ctx;
    heartbeat++;
    run->stats.step = ++run->steps;
    LS_ASSERT(run->stats.step > 0 && run->stats.step == run->steps);
    if (run->recording) {
        char label[WORLD_LABEL_MAX];
        world_label(run->world, action, label);
        keep_choice(run, label, index_of(run, action));
    }
    if (run->watch) {
        run->watch(run->watch_ctx, run, action);
    }
    coverage_before(run, action);
    try_before(run, action);
}

/* ---- steps ---- */

static void after_action(struct run *run, const struct action *action)
{
    try_after(run, action);
    coverage_after();
}

int run_apply(struct run *run, const struct action *action)
{
    LS_ASSERT(run->held == NULL);
    if (run->recording || run->watch || coverage_is_on()) {
        if (!world_enabled(run->world, action)) {
            return LS_EINVAL;
        }
        before_action(run, action);
        int result = world_apply(run->world, action);
        after_action(run, action);
        return result;
    }
    heartbeat++;
    if (!world_enabled(run->world, action)) {
        return LS_EINVAL;
    }
    run->stats.step = ++run->steps;
    try_before(run, action);
    world_do(run->world, action);
    try_after(run, action);
    return 0;
}

void run_do(struct run *run, const struct action *action, uint64_t depth)
{
    heartbeat++;
    run->stats.step = run->steps = depth;
    coverage_before(run, action);
    try_before(run, action);
    world_do(run->world, action);
    after_action(run, action);
}

void run_do_held(struct run *run, const struct action *action, uint64_t depth, struct run_events *held)
{
    LS_ASSERT(run->held == NULL);
    run->held = held;
    run_do(run, action, depth);
    run->held = NULL;
}

void run_judge(struct run *run, const struct event *events, int count, uint64_t depth)
{
    LS_ASSERT(run->held == NULL);
    run->stats.step = run->steps = depth;
    for (int i = 0; i < count; i++) {
        on_event(run, &events[i]);
    }
}

/* In an exploring scenario world_actions() does not list all enabled actions. It lacks steps that no program
 * does next, and faults without a budget. */
bool run_allows(const struct run *run, const struct action *action)
{
    return !run->setup.scenario->exploring || action_has(action, TRAIT_SYSTEM) || world_is_healing(action) ||
           index_of(run, action) >= 0;
}

int run_apply_label(struct run *run, const char *label, const char **why)
{
    struct action action;
    int rc = world_find(run->world, label, &action, why);
    if (rc == 0 && run_apply(run, &action) != 0) {
        *why = "the action is not enabled";
        rc = LS_ENOENT;
    }
    return rc;
}

void run_settle(struct run *run)
{
    LS_ASSERT(run->held == NULL);
    run->overflow |= world_settle(run->world, RUN_SETTLE_STEPS_MAX, before_action, run) < 0;
    try_after(run, NULL);
    coverage_after();
}

void run_pass_time(struct run *run, int ms)
{
    LS_ASSERT(run->held == NULL && ms >= 0);
    run->overflow |= world_pass_time(run->world, ms, RUN_SETTLE_STEPS_MAX, before_action, run) < 0;
    coverage_after();
}

void run_heal(struct run *run)
{
    world_heal(run->world, true, before_action, run);
    try_after(run, NULL);
    coverage_after();
}

bool run_rest(struct run *run)
{
    if (!world_at_rest(run->world)) {
        return false;
    }
    if (run->recording) {
        keep_choice(run, TRACE_REST, -1);
    }
    return world_rest(run->world);
}

/* Takes one turn of a program; returns false if none is possible. */
static bool take_turn(struct run *run)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    int count = world_actions(run->world, enabled);
    for (int i = 0; i < count; i++) {
        if (action_has(&enabled[i], TRAIT_VERB) && !world_is_fault(&enabled[i])) {
            return run_apply(run, &enabled[i]) == 0;
        }
    }
    return false;
}

void run_go_on(struct run *run)
{
    check_mask told = run->told;
    int failing_choices = run->failing_choices;
    uint64_t failing_steps = run->failing_steps;
    run_heal(run);
    run_settle(run);
    for (int turns = 0; turns < GOING_ON_TURNS_MAX && !run->overflow && take_turn(run); turns++) {
        run_settle(run);
    }
    run_rest(run);
    LS_ASSERT(failing_choices <= run->choices);
    run->told = told;
    run->failing_choices = failing_choices;
    run->failing_steps = failing_steps;
}

void run_mark(struct run *run, const char *mark)
{
    if (run->recording) {
        keep_choice(run, mark, -1);
    }
}

/* ---- commands ---- */

static int client_text(const struct run *run, const struct action *action, char *text, size_t size)
{
    const struct scenario *scenario = run->setup.scenario;
    int used = snprintf(text, size, "%s %s", process_name(scenario, action->process), verb_of_step(action));
    if (action_has(action, TRAIT_LOCK) && scenario->options.locks > 1) {
        used += snprintf(text + used, size - (size_t)used, " %s", lock_name(scenario, action->lock));
    }
    for (int i = 1; i <= action_more_locks(action); i++) {
        used += snprintf(text + used, size - (size_t)used, " and %s",
                         lock_name(scenario, action_lock_at(action, i)));
    }
    if (action_has(action, TRAIT_LOCK) && action->owner > 0) {
        used += snprintf(text + used, size - (size_t)used, " owner=%d", action->owner);
    }
    if (action->kind == ACTION_ACQUIRE && action->timeout_ms > 0) {
        used += snprintf(text + used, size - (size_t)used, " timeout=%dms", action->timeout_ms);
    }
    LS_ASSERT(used > 0 && (size_t)used < size);
    return used;
}

void run_command_text(const struct run *run, const struct scenario_command *command, char *text, size_t size)
{
    const struct scenario *scenario = run->setup.scenario;
    const struct action *action = &command->action;
    if (world_is_verb(action)) {
        client_text(run, action, text, size);
    } else if (command->text) {
        snprintf(text, size, "%s %s", verb_of_step(action), command->text);
    } else if (action_has(action, TRAIT_DIRECTORY)) {
        snprintf(text, size, "%s %s", verb_of_step(action), lock_name(scenario, action->lock));
    } else if (action->process < scenario->options.processes) {
        bool lock = action_has(action, TRAIT_CONTENDER) && scenario->options.locks > 1;
        snprintf(text, size, "%s %s%s%s", verb_of_step(action), process_name(scenario, action->process),
                 lock ? " " : "", lock ? lock_name(scenario, action->lock) : "");
        if (coordinator_is_at_server(coordinator_find(scenario->options.coordinator), action->kind)) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, " s%d", action->server + 1);
        }
    } else if (action_has(action, TRAIT_SERVER)) {
        snprintf(text, size, "%s s%d", verb_of_step(action), action->server + 1);
    } else {
        snprintf(text, size, "%s", verb_of_step(action));
    }
}

int run_resolve(struct run *run, const struct scenario_command *command, struct action *action)
{
    LS_ASSERT(command->step == STEP_ACTION);
    *action = command->action;
    if (action_has(action, TRAIT_PATH)) {
        LS_ASSERT(command->text != NULL);
        int slot = world_text(run->world, command->text);
        action->text = (uint8_t)slot;
        return slot < 0 ? slot : 0;
    }
    if (action->kind == ACTION_EXPIRE) {
        char label[WORLD_LABEL_MAX];
        const char *why;
        run_command_text(run, command, label, sizeof label);
        return world_find(run->world, label, action, &why);
    }
    if (action->kind == ACTION_CUT && !command->rc_given) {
        action->rc = world_get_options(run->world)->loss_rc;
    }
    return 0;
}

const char *run_trouble(const struct run *run)
{
    const char *trouble = world_trouble(run->world);
    if (!trouble && run->overflow) {
        trouble = "limit: the world does not come to rest";
    }
    if (!trouble && run->stats.limit) {
        trouble = loaded_trouble() ? loaded_trouble() : "limit: the judges' block is full";
    }
    return trouble;
}

bool run_violated(const struct run *run)
{
    return (run->stats.violated & ~run->setup.scenario->violates) != 0;
}
