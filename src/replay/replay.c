/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/replay.h"

#include "base/assert.h"
#include "base/stop_points.h"
#include "base/utf8.h"
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

/* The events of one step. The list is filled within steps of the world, where nothing may be allocated. So
 * its size is fixed. */
struct step_events {
    int count;
    size_t used; /* bytes of `path` */
    struct event event[EVENTS_MAX];
    char path[PATH_BYTES];
};

/* The answer for the mark of a hopeless waiter that was passed last, because the search for it is long. */
struct hopeless_note {
    int index; /* of the mark among the choices; -1 = none was passed */
    enum hopeless_answer answer;
    int states;
};

struct replay {
    const struct trace *trace;
    bool open;
    int done; /* choices so far; one more once the circle is closed */
    struct hopeless_note hopeless;
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

int replay_found(const struct trace *trace, check_mask violated)
{
    int found = -1;
    for (const char *at = trace->found; *at != 0 && found < 0; at += strspn(at, " ")) {
        char word[TRACE_WORD_MAX];
        size_t size = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)size, at);
        int position = size < sizeof word ? check_position(word) : -1;
        found = position >= 0 && (violated >> position & 1) != 0 ? position : -1;
        at += size;
    }
    return found;
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

/* Complains that a choice does not fit, and lists up to six of the actions that are possible there. */
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
    utf8_make_plain(replay->error->text); /* `why` may have the label too */
    return REPLAY_UNFIT;
}

/* ---- runs in which a waiter waits for ever ---- */

static bool is_mark(const struct replay *replay, int index)
{
    const struct trace_choice *choice = &replay->trace->choice[index];
    return choice->index < 0 &&
           (round_is_circle(choice->label) || lasso_read_mark(&replay->run, choice->label) >= 0);
}

/* Passes the mark. Returns false if its waiter can still be served. The answer for the mark passed last is
 * kept for a replay that begins anew: the state is the same there. */
static bool is_hopeless(struct replay *replay, int index, const char *label)
{
    struct hopeless_note *note = &replay->hopeless;
    bool asks = note->index != index;
    int states;
    enum hopeless_answer answer = round_hopeless(&replay->round, &replay->run, label, asks, &states);
    if (asks) {
        *note = (struct hopeless_note){answer == HOPELESS_NO ? -1 : index, answer, states};
    }
    return answer != HOPELESS_NO;
}

static enum replay_result pass_hopeless(struct replay *replay, int index)
{
    struct replay_step step = plain_step(replay->trace->choice[index].label);
    char note[WORLD_LABEL_MAX];
    if (!is_hopeless(replay, index, step.label)) {
        return drifted(replay, index, "it can still be served");
    }
    snprintf(note, sizeof note,
             replay->hopeless.answer == HOPELESS_YES
                 ? "it waits in all of the %d states that can follow"
                 : "it waits in the first %d states that can follow, and there are more",
             replay->hopeless.states);
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

/* Makes a choice that is an action. Within a circle, calls round_step() before it. */
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

static void take_output(void *ctx, int process, const char *text, size_t size)
{
    narrator_output(ctx, process, text, size);
}

/* ---- the whole ---- */

static int open_narrator(struct replay *replay)
{
    replay->run.narrator =
        narrator_open(&replay->scenario, SHOW_ALL, replay->run.set.context.timed, REPLAY_INDENT);
    if (replay->run.narrator == NULL) {
        return input_complain_words(replay->error, replay->trace->input.name, 1, 1, "'out of memory'",
                                    "memory");
    }
    world_set_output(take_output, replay->run.narrator);
    return 0;
}

static int open_run(struct replay *replay, const struct run_setup *setup)
{
    LS_ASSERT(setup->scenario == &replay->scenario);
    if (run_init(&replay->run, setup) != 0) {
        return input_complain_words(replay->error, replay->trace->input.name, 1, 1, strerror(errno),
                                    "room for a world");
    }
    return open_narrator(replay);
}

struct replay *replay_open(const struct trace *trace, struct input_error *error)
{
    static struct replay replay; /* too large for a stack that recipes share */
    struct run_setup setup;
    LS_ASSERT(!replay.open);
    replay = (struct replay){.trace = trace, .error = error, .hopeless.index = -1};
    round_start(&replay.round);
    if (replay_setup(trace, &replay.scenario, &setup, error) != 0) {
        return NULL;
    }
    replay.open = true;
    if (open_run(&replay, &setup) != 0) {
        replay_close(&replay);
        return NULL;
    }
    return &replay;
}

void replay_close(struct replay *replay)
{
    LS_ASSERT(replay->open);
    world_set_output(NULL, NULL);
    narrator_close(replay->run.narrator);
    round_close(&replay->round);
    run_close(&replay->run);
    scenario_close(&replay->scenario);
    replay->open = false;
}

void replay_begin(struct replay *replay, const struct replay_listener *listener)
{
    struct replay_step beginning = plain_step("");
    struct run *run = &replay->run;
    LS_ASSERT(replay->open);
    replay->listener = listener;
    replay->told = 0;
    replay->done = 0;
    round_start(&replay->round);
    run_forget(run);
    narrator_reset(run->narrator);
    narrator_clear(run->narrator);
    if (listener->begin != NULL) {
        listener->begin(listener->ctx, replay->trace, run);
    }
    run->setup.careful = true;
    run->watch_event = keep_event;
    run->watch_ctx = replay;
    replay->events.count = 0;
    replay->events.used = 0;
    stop_points_open(strstr(replay->trace->found, CONTRACT) != NULL);
    stop_points_begin(0);
    run_begin(run, run->setup.schedule, run->setup.seed);
    stop_points_end(0);
    tell_step(replay, &beginning);
}

bool replay_ended(const struct replay *replay)
{
    int choices = replay->trace->choices;
    LS_ASSERT(replay->done <= choices + 1);
    return replay->done > choices || (replay->done == choices && !replay->round.goes);
}

enum replay_result replay_next(struct replay *replay)
{
    LS_ASSERT(replay->listener != NULL && !replay_ended(replay));
    bool in_list = replay->done < replay->trace->choices;
    enum replay_result result = in_list ? choose(replay, replay->done) : end_circle(replay);
    replay->done += result != REPLAY_UNFIT;
    return result;
}

bool replay_is_action(const struct replay *replay, int index)
{
    LS_ASSERT(index >= 0 && index < replay->trace->choices);
    return !is_mark(replay, index) && strcmp(replay->trace->choice[index].label, TRACE_REST) != 0;
}

enum replay_result replay_run(const struct trace *trace, const struct replay_listener *listener,
                              struct input_error *error)
{
    struct replay *replay = replay_open(trace, error);
    enum replay_result result = REPLAY_HOLDS;
    if (replay == NULL) {
        return REPLAY_UNFIT;
    }
    replay_begin(replay, listener);
    while (result != REPLAY_UNFIT && !replay_ended(replay)) {
        result = replay_next(replay);
    }
    result = result == REPLAY_UNFIT ? REPLAY_UNFIT : tell_end(replay);
    replay_close(replay);
    return result;
}
