/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/replay.h"

#include "base/assert.h"
#include "base/stop_points.h"
#include "replay/liveness_circle.h"
#include "scenario/loaded_properties.h"
#include "scenario/recipes.h"
#include "sim/remark.h"
#include "sim/sandbox.h"

#include <errno.h>
#include <lockstep/error.h>
#include <string.h>

#define CONTRACT "contract_is_kept" /* the property that may need steps that are done twice */
#define RECIPE_LINE 3
#define SCHEDULE_LINE 4
#define SEED_LINE 5
#define EVENTS_MAX 4096         /* events of one step that a listener gets; further ones are left out */
#define PATH_BYTES (256u << 10) /* bytes of their paths */

/* The events of one step. The narrator and this list are filled within steps of the world, so that they never
 * allocate. */
struct step_events {
    int count;
    size_t used; /* bytes of `path` */
    struct event event[EVENTS_MAX];
    char path[PATH_BYTES];
};

struct replay {
    const struct trace *trace;
    struct scenario scenario;
    struct run run;
    check_mask told; /* properties whose violation the listener knows */
    struct round round;
    const struct replay_listener *listener;
    struct input_error *error;
    struct step_events events;
};

/* ---- what the trace stands for ---- */

/* Returns whether the trace has marks. Loaded properties do not judge such a trace: their states need not
 * recur. */
static bool goes_on_for_ever(const struct trace *trace)
{
    for (int i = 0; i < trace->choices; i++) {
        if (trace->choice[i].index < 0 && round_is_mark(trace->choice[i].label)) {
            return true;
        }
    }
    return false;
}

int replay_setup(const struct trace *trace, struct scenario *scenario, struct run_setup *setup,
                 struct input_error *error)
{
    int schedule = schedule_find(trace->schedule);
    char why[RECIPE_WHY_MAX], expected[RECIPE_WHY_MAX + 64];
    *setup = (struct run_setup){.scenario = scenario, .recipe = recipe_load(trace->recipe, why)};
    if (!setup->recipe) {
        snprintf(expected, sizeof expected, "a recipe (see lockstep list recipes)%s%s",
                 why[0] != 0 ? ": " : "", why);
        return input_complain(error, trace->input.name, RECIPE_LINE, 8, trace->recipe, strlen(trace->recipe),
                              "%s", expected);
    }
    if (schedule < 0) {
        return input_complain(error, trace->input.name, SCHEDULE_LINE, 10, trace->schedule,
                              strlen(trace->schedule), "directed, uniform, pct, swarm or search");
    }
    setup->schedule = (enum schedule)schedule;
    setup->seed = trace->seed;
    setup->seeded = (enum trace_seed)trace->seeded;
    if (trace->without[0] != 0 && !world_without(trace->without, &setup->without)) {
        return input_complain(error, trace->input.name, SEED_LINE, 1, trace->without, strlen(trace->without),
                              "letters of choice points (see lockstep check --help)");
    }
    if (property_load_for(trace, error) != 0 ||
        scenario_read_part(scenario, trace->input.name, trace->text, trace->text_size, trace->text_line - 1,
                           2, error) != 0) {
        return -1;
    }
    scenario->built_in_only = goes_on_for_ever(trace);
    return 0;
}

/* ---- telling ---- */

static void keep_event(void *ctx, const struct event *event)
{
    struct step_events *events = &((struct replay *)ctx)->events;
    size_t size = event->path != NULL ? strlen(event->path) + 1 : 0;
    LS_ASSERT(events->count <= EVENTS_MAX && events->used <= PATH_BYTES);
    if (events->count == EVENTS_MAX || size > PATH_BYTES - events->used) {
        return;
    }
    struct event *kept = &events->event[events->count++];
    *kept = *event;
    if (size > 0) {
        kept->path = memcpy(events->path + events->used, event->path, size);
        events->used += size;
    }
}

static void tell_choice(struct replay *replay, const struct replay_step *step)
{
    if (replay->listener->choice != NULL) {
        replay->listener->choice(replay->listener->ctx, step);
    }
}

/* Tells a step that is done, with the events and violations since the last one. */
static void tell_step(struct replay *replay, struct replay_step *step)
{
    check_mask violated = replay->run.stats.violated;
    LS_ASSERT((violated & replay->told) == replay->told);
    step->text = narrator_text(replay->run.narrator);
    step->event = replay->events.event;
    step->events = replay->events.count;
    step->violated = violated & ~replay->told;
    if (replay->listener->step != NULL) {
        replay->listener->step(replay->listener->ctx, step);
    }
    narrator_clear(replay->run.narrator);
    replay->events.count = 0;
    replay->events.used = 0;
    replay->told = violated;
}

/* Tells a choice that changes nothing in the world. */
static void tell_mark(struct replay *replay, struct replay_step *step)
{
    tell_choice(replay, step);
    tell_step(replay, step);
}

static struct replay_step plain_step(const char *label)
{
    return (struct replay_step){.label = label, .remark = "", .note = "", .text = ""};
}

static enum replay_result tell_end(struct replay *replay)
{
    if (replay->listener->end != NULL) {
        replay->listener->end(replay->listener->ctx);
    }
    return replay->run.stats.violated != 0 ? REPLAY_VIOLATED : REPLAY_HOLDS;
}

/* ---- the choices ---- */

/* Complains that a choice does not fit, and lists the actions that are possible there. */
static enum replay_result drifted(struct replay *replay, int index, const char *why)
{
    const struct trace *trace = replay->trace;
    static struct action enabled[WORLD_ACTIONS_MAX];
    char expected[640], label[WORLD_LABEL_MAX];
    int count = world_actions(replay->run.world, enabled);
    int used = snprintf(expected, sizeof expected, "one of the %d actions that are possible at choice %d%s",
                        count, index + 1, count > 0 ? " (" : "");
    int shown = count < 6 ? count : 6;
    for (int i = 0; i < shown && used < (int)sizeof expected; i++) {
        world_label(replay->run.world, &enabled[i], label);
        used += snprintf(expected + used, sizeof expected - (size_t)used, "%s%s%s", label,
                         i + 1 < count ? ", " : "", i + 1 == shown ? (count > shown ? "...)" : ")") : "");
    }
    const char *found = trace->choice[index].label;
    input_complain(replay->error, trace->input.name, trace->first_choice_line + index, 1, found,
                   strlen(found), "%s", expected);
    size_t size = strlen(replay->error->text);
    snprintf(replay->error->text + size, sizeof replay->error->text - size, ": %s", why);
    return REPLAY_UNFIT;
}

/* ---- runs in which somebody waits for ever ---- */

static bool is_mark(const struct replay *replay, int index)
{
    const struct trace_choice *choice = &replay->trace->choice[index];
    return choice->index < 0 &&
           (round_is_circle(choice->label) || lasso_read_mark(&replay->run, choice->label) >= 0);
}

static enum replay_result pass_hopeless(struct replay *replay, int index)
{
    struct replay_step step = plain_step(replay->trace->choice[index].label);
    char note[WORLD_LABEL_MAX];
    int states;
    enum hopeless_answer answer = round_hopeless(&replay->round, &replay->run, step.label, true, &states);
    if (answer == HOPELESS_NO) {
        return drifted(replay, index, "it can still be served");
    }
    snprintf(note, sizeof note,
             answer == HOPELESS_YES ? "it waits in all of the %d states that can follow"
                                    : "it waits in the first %d states that can follow, and there are more",
             states);
    step.note = note;
    tell_mark(replay, &step);
    return REPLAY_HOLDS;
}

static enum replay_result pass_mark(struct replay *replay, int index)
{
    struct replay_step step = plain_step(replay->trace->choice[index].label);
    if (!round_is_circle(step.label)) {
        return pass_hopeless(replay, index);
    }
    if (!round_begin(&replay->round, &replay->run)) {
        return drifted(replay, index, "numbers that grow cannot be renamed, so that nothing comes back");
    }
    tell_mark(replay, &step);
    return REPLAY_HOLDS;
}

static enum replay_result end_circle(struct replay *replay)
{
    const struct trace *trace = replay->trace;
    struct replay_step step = plain_step("and so on: the state is that of the mark 'cycle' again");
    const char *flaw = round_end(&replay->round, &replay->run);
    if (flaw == NULL) {
        tell_mark(replay, &step);
        return REPLAY_HOLDS;
    }
    input_complain(replay->error, trace->input.name, trace->first_choice_line + trace->choices, 1, flaw,
                   strlen(flaw), "a circle in which somebody waits for ever");
    return REPLAY_UNFIT;
}

static enum replay_result choose_rest(struct replay *replay, int index)
{
    struct replay_step step = plain_step(replay->trace->choice[index].label);
    tell_choice(replay, &step);
    if (!run_rest(&replay->run)) {
        return drifted(replay, index, "the world is not at rest");
    }
    tell_step(replay, &step);
    return REPLAY_HOLDS;
}

/* Makes a choice that is an action. Within a circle, notes what is possible before it. */
static enum replay_result choose_action(struct replay *replay, int index)
{
    struct replay_step step = plain_step(replay->trace->choice[index].label);
    struct action action;
    const char *why;
    char remark[WORLD_LABEL_MAX] = "";
    step.number = replay->run.steps + 1;
    step.remark = remark;
    if (world_find(replay->run.world, step.label, &action, &why) == 0) {
        step.action = &action;
        world_remark(replay->run.world, &action, remark);
        if (replay->round.goes) {
            round_step(&replay->round, &replay->run, &action);
        }
    }
    tell_choice(replay, &step);
    stop_points_begin(step.number);
    if (run_apply_label(&replay->run, step.label, &why) != 0) {
        return drifted(replay, index, why);
    }
    stop_points_end(step.number);
    tell_step(replay, &step);
    return REPLAY_HOLDS;
}

static enum replay_result choose(struct replay *replay, int index)
{
    if (is_mark(replay, index)) {
        return pass_mark(replay, index);
    }
    bool rests = strcmp(replay->trace->choice[index].label, TRACE_REST) == 0;
    return rests ? choose_rest(replay, index) : choose_action(replay, index);
}

static enum replay_result run_choices(struct replay *replay)
{
    struct replay_step beginning = plain_step("");
    if (replay->listener->begin != NULL) {
        replay->listener->begin(replay->listener->ctx, replay->trace, &replay->run);
    }
    replay->run.setup.careful = true;
    replay->run.watch_event = keep_event;
    replay->run.watch_ctx = replay;
    stop_points_open(strstr(replay->trace->found, CONTRACT) != NULL);
    stop_points_begin(0);
    run_begin(&replay->run, replay->run.setup.schedule, replay->run.setup.seed);
    stop_points_end(0);
    tell_step(replay, &beginning);
    for (int i = 0; i < replay->trace->choices; i++) {
        if (choose(replay, i) == REPLAY_UNFIT) {
            return REPLAY_UNFIT;
        }
    }
    if (replay->round.goes && end_circle(replay) == REPLAY_UNFIT) {
        return REPLAY_UNFIT;
    }
    return tell_end(replay);
}

static void take_output(void *ctx, int process, const char *text, size_t size)
{
    narrator_output(ctx, process, text, size);
}

enum replay_result replay_run(const struct trace *trace, const struct replay_listener *listener,
                              struct input_error *error)
{
    static struct replay replay; /* too large for a stack that recipes share */
    replay = (struct replay){.trace = trace, .listener = listener, .error = error};
    round_start(&replay.round);
    struct run_setup setup;
    enum replay_result result = REPLAY_UNFIT;
    if (replay_setup(trace, &replay.scenario, &setup, error) != 0) {
        return REPLAY_UNFIT;
    }
    if (run_init(&replay.run, &setup) != 0) {
        input_complain_words(error, trace->input.name, 1, 1, strerror(errno), "room for a world");
    } else {
        replay.run.narrator =
            narrator_open(&replay.scenario, SHOW_ALL, replay.run.set.context.timed, REPLAY_INDENT);
        if (replay.run.narrator) {
            world_set_output(take_output, replay.run.narrator);
            result = run_choices(&replay);
            world_set_output(NULL, NULL);
        } else {
            input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
        }
        narrator_close(replay.run.narrator);
    }
    round_close(&replay.round);
    run_close(&replay.run);
    scenario_close(&replay.scenario);
    return result;
}
