/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/case.h"

#include "base/assert.h"
#include "scenario/lasso.h"
#include "sim/waiters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the promise ---- */

static bool is_about_waiting(int position)
{
    return (lasso_properties() >> position & 1) != 0;
}

/* Returns the position of the promise: the user's; or else that in the trace's line `found`, if it is
 * violated. Or else the first of check_violated(), among those that the scenario does not declare, if there
 * are any. -1 = none. */
static int choose(const struct explain_case *c, const char *property)
{
    int found = replay_found(c->trace, c->story.violated), violated[CHECK_PROPERTIES_MAX];
    if (property != NULL) {
        return check_position(property);
    }
    if (found >= 0) {
        return found;
    }
    check_mask mask = c->story.violated & ~c->story.declared;
    mask = mask != 0 ? mask : c->story.violated;
    return check_violated(&c->story.stats, mask, violated) > 0 ? violated[0] : -1;
}

/* Returns the number of choices up to the violation. For a promise about waiting, returns the number of
 * choices before the first mark. */
static int last_choice(const struct explain_case *c)
{
    int last = 0;
    LS_ASSERT(c->position >= 0 && c->story.choices > 0);
    for (int i = 1; i < c->story.choices; i++) {
        const struct story_choice *choice = &c->story.choice[i];
        bool mark = choice->step == 0 && strcmp(choice->label, TRACE_REST) != 0;
        if (is_about_waiting(c->position) && mark) {
            return last;
        }
        last = i;
        if ((choice->violated >> c->position & 1) != 0) {
            return last;
        }
    }
    return last;
}

/* ---- the model ---- */

void case_budget(const struct explain_case *c, int first, int without, uint8_t budget[WORLD_FAULTS])
{
    LS_ASSERT(first >= 1);
    memset(budget, 0, WORLD_FAULTS);
    for (int i = first; i <= c->last; i++) {
        const struct story_choice *choice = &c->story.choice[i];
        int fault = choice->fault && i != without ? world_fault_of(&choice->action) : -1;
        if (fault >= 0 && budget[fault] < UINT8_MAX) {
            budget[fault]++;
        }
    }
}

void case_allow(struct explain_case *c, const uint8_t budget[WORLD_FAULTS])
{
    uint8_t bought[WORLD_FAULTS];
    for (int f = 0; f < WORLD_FAULTS; f++) {
        LS_ASSERT(budget[f] <= c->model.options.budget[f]);
        bought[f] = (uint8_t)(c->model.options.budget[f] - budget[f]);
    }
    world_buy(c->run.world, bought);
}

static void make_model(struct explain_case *c, const struct run_setup *of_trace)
{
    struct run_setup setup = *of_trace;
    setup.scenario = &c->scenario;
    LS_ASSERT(c->last < c->story.choices);
    c->model = c->scenario;
    run_options(&setup, &c->model.options);
    case_budget(c, 1, -1, c->model.options.budget);
    c->model.options.budget_total = 255;
    c->model.properties = CHECK_BIT(c->position);
    c->model.holds = c->model.violates = 0;
    c->model.constants = 1;
    c->model.rc_given = true;
    c->model.exploring = false; /* the searches here count no tried items */
    c->setup = setup;
    c->setup.scenario = &c->model;
    c->setup.schedule = SCHEDULE_SEARCH;
    c->setup.seeded = TRACE_SEED_NONE;
    c->setup.spared = ~CHECK_BIT(c->position);
    c->setup.careful = false;
}

/* Returns whether a choice is an act of the script. Steps of the system, faults that have a budget, and free
 * expiries are none: world_actions() lists them. */
static bool is_act(const struct story_choice *choice)
{
    bool listed = action_has(&choice->action, TRAIT_SYSTEM) || world_fault_of(&choice->action) >= 0;
    return choice->step > 0 && !listed;
}

static bool make_script(struct explain_case *c)
{
    c->act = calloc((size_t)c->last + 1, sizeof *c->act);
    c->act_choice = calloc((size_t)c->last + 1, sizeof *c->act_choice);
    if (c->act == NULL || c->act_choice == NULL) {
        return false;
    }
    LS_ASSERT(c->acts == 0 && c->last < c->story.choices);
    for (int i = 1; c->scripted && i <= c->last; i++) {
        if (is_act(&c->story.choice[i])) {
            c->act_choice[c->acts] = i;
            c->act[c->acts++] = c->story.choice[i].action;
        }
    }
    return true;
}

struct script case_script(const struct explain_case *c, int choices, int without, bool faults,
                          struct action *list)
{
    struct script script = {.action = list};
    for (int i = 0; i < c->acts; i++) {
        int choice = c->act_choice[i];
        if (choice > choices && choice != without && (faults || !c->story.choice[choice].fault)) {
            list[script.count++] = c->act[i];
        }
    }
    LS_ASSERT(script.count <= c->acts);
    return script;
}

/* ---- life ---- */

static enum explain_result out_of_memory(const struct explain_case *c, struct input_error *error)
{
    input_complain_words(error, c->trace->input.name, 1, 1, "'out of memory'", "memory");
    return EXPLAIN_UNFIT;
}

/* Returns the waiter that a mark calls hopeless, by its place in waiters_list(); of several marks, the first
 * counts. -1 = no mark does. */
static int marked_waiter(const struct explain_case *c)
{
    int waiter = -1;
    for (int i = 1; i < c->story.choices && waiter < 0; i++) {
        waiter = lasso_read_mark(&c->run, c->story.choice[i].label);
    }
    return waiter;
}

/* Sets the waiter that has to be served: the marked one, or else the first that waits at the violation. */
static void find_waiter(struct explain_case *c)
{
    struct waiter list[WAITERS_MAX];
    c->waiter = marked_waiter(c);
    if (c->waiter < 0 && case_follow(c, c->last) && lasso_waiting(&c->run) != 0) {
        c->waiter = __builtin_ctz(lasso_waiting(&c->run));
    }
    if (c->waiter >= 0) {
        LS_ALWAYS(c->waiter < waiters_list(&c->scenario.options, list));
        c->process = list[c->waiter].process;
    }
}

enum explain_result case_open(struct explain_case *c, const struct trace *trace, const char *property,
                              struct input_error *error)
{
    struct run_setup setup;
    memset(c, 0, sizeof *c);
    c->trace = trace;
    if (story_read(&c->story, trace, error) == REPLAY_UNFIT) {
        return EXPLAIN_UNFIT;
    }
    c->position = choose(c, property);
    if (c->position < 0 || (c->story.violated >> c->position & 1) == 0) {
        return EXPLAIN_HOLDS;
    }
    c->last = last_choice(c);
    c->process = c->waiter = -1;
    if (replay_setup(trace, &c->scenario, &setup, error) != 0) {
        return EXPLAIN_UNFIT;
    }
    c->scripted = !c->scenario.exploring;
    make_model(c, &setup);
    return make_script(c) ? EXPLAIN_DONE : out_of_memory(c, error);
}

uint64_t case_step_of(const struct explain_case *c, int choices)
{
    LS_ASSERT(choices <= c->last);
    while (choices > 0 && c->story.choice[choices].step == 0) { /* a mark, or a question for rest */
        choices--;
    }
    return choices > 0 ? c->story.choice[choices].step : 0;
}

static bool choose_again(struct explain_case *c, int index)
{
    const char *label = c->story.choice[index].label, *why;
    LS_ASSERT(index >= 1 && index < c->story.choices);
    if (strcmp(label, TRACE_REST) == 0) {
        return run_rest(&c->run);
    }
    return run_apply_label(&c->run, label, &why) == 0;
}

bool case_follow(struct explain_case *c, int choices)
{
    LS_ASSERT(choices >= 0 && choices <= c->last);
    bool fits = true;
    run_forget(&c->run);
    run_begin(&c->run, SCHEDULE_SEARCH, c->setup.seed);
    for (int i = 1; fits && i <= choices; i++) {
        fits = choose_again(c, i);
    }
    return fits;
}

int64_t case_end_ms(const struct explain_case *c)
{
    int64_t last = 0;
    const struct story_choice *choice = &c->story.choice[c->last];
    for (int i = 0; i < choice->first + choice->events; i++) {
        last = c->story.event[i].now_ms > last ? c->story.event[i].now_ms : last;
    }
    LS_ASSERT(choice->first + choice->events <= c->story.events);
    return c->model.options.timed ? last + 3 * (int64_t)c->model.options.session_timeout_ms : 0;
}

int case_follow_without(struct explain_case *c, int choices, int without)
{
    LS_ASSERT(without >= 1 && without <= choices && choices <= c->last);
    run_forget(&c->run);
    run_begin(&c->run, SCHEDULE_SEARCH, c->setup.seed);
    for (int i = 1; i <= choices; i++) {
        if (i != without && (!choose_again(c, i) || (c->run.stats.violated >> c->position & 1) != 0)) {
            return i - 1;
        }
    }
    return choices;
}

/* Returns whether the last choice judges the world at rest, and an action with TRAIT_MOVES is enabled. */
static bool pauses(struct explain_case *c)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    LS_ASSERT(c->last >= 0 && c->last < c->story.choices);
    bool rest = strcmp(c->story.choice[c->last].label, TRACE_REST) == 0;
    if (!rest || !case_follow(c, c->last - 1)) {
        return false;
    }
    int count = world_actions(c->run.world, enabled);
    for (int i = 0; i < count; i++) {
        if (action_has(&enabled[i], TRAIT_MOVES)) {
            return true;
        }
    }
    return false;
}

bool case_begin(struct explain_case *c)
{
    LS_ASSERT(c->futures == NULL && c->run.world == NULL);
    if (run_init(&c->run, &c->setup) != 0) {
        return false;
    }
    c->waits = is_about_waiting(c->position);
    if (c->waits) {
        find_waiter(c);
    }
    bool each_rest = pauses(c);
    run_begin(&c->run, SCHEDULE_SEARCH, c->setup.seed);
    c->futures = futures_open(&c->run, c->position, c->waiter);
    if (c->futures == NULL) { /* memory is short; another part of the explanation may try again */
        run_close(&c->run);
        c->run.world = NULL;
        return false;
    }
    if (each_rest) {
        futures_judge_each_rest(c->futures);
    }
    return true;
}

void case_close(struct explain_case *c)
{
    futures_close(c->futures);
    if (c->run.world != NULL) {
        run_close(&c->run);
    }
    if (c->scenario.input.text != NULL) {
        scenario_close(&c->scenario);
    }
    story_close(&c->story);
    free(c->act);
    free(c->act_choice);
}
