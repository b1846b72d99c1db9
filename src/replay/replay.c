/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/replay.h"

#include "replay/liveness_circle.h"
#include "scenario/loaded_properties.h"
#include "scenario/recipes.h"
#include "sim/remark.h"
#include "sim/sandbox.h"

#include <errno.h>
#include <lockstep/error.h>
#include <string.h>

#define INDENT 7
#define RECIPE_LINE 3
#define SCHEDULE_LINE 4
#define SEED_LINE 5

struct replay {
    const struct trace *trace;
    struct scenario scenario;
    struct run run;
    check_mask told; /* properties whose violation has been printed */
    struct round round;
    FILE *out;
    struct input_error *error;
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

static void tell_head(const struct replay *replay)
{
    const struct trace *trace = replay->trace;
    fprintf(replay->out, "scenario %s\n", trace->name);
    fprintf(replay->out, "recipe   %s\n", trace->recipe);
    fprintf(replay->out, "schedule %s, seed %llu\n", trace->schedule, (unsigned long long)trace->seed);
    if (trace->without[0] != 0) {
        fprintf(replay->out, "without  %s\n", trace->without);
    }
    for (int i = 0; i < trace->properties; i++) {
        fprintf(replay->out, "property %s of %s\n", trace->property[i].name, trace->property[i].path);
    }
    fprintf(replay->out, "found    %s\n\n", trace->found);
}

static void tell_events(struct replay *replay)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    const struct check_stats *stats = &replay->run.stats;
    int count = check_violated(stats, ~replay->told, violated);
    fputs(narrator_text(replay->run.narrator), replay->out);
    narrator_clear(replay->run.narrator);
    for (int i = 0; i < count; i++) {
        fprintf(replay->out, "%*s! %s: %s\n", INDENT, "", all[violated[i]]->name,
                stats->finding[violated[i]].why);
    }
    replay->told = replay->run.stats.violated;
}

static enum replay_result tell_end(struct replay *replay)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    const struct check_stats *stats = &replay->run.stats;
    int count = check_violated(stats, CHECK_ALL, violated);
    fputc('\n', replay->out);
    for (int i = 0; i < count; i++) {
        const struct check_finding *finding = &stats->finding[violated[i]];
        fprintf(replay->out, "%s is violated at step %llu of %llu: %s\n", all[violated[i]]->name,
                (unsigned long long)finding->step, (unsigned long long)replay->run.steps, finding->why);
        fprintf(replay->out, "  promised: %s\n", all[violated[i]]->sentence);
    }
    const char *trouble = run_trouble(&replay->run);
    if (trouble) {
        fprintf(replay->out, "%s\n", trouble);
    }
    if (stats->violated == 0) {
        fprintf(replay->out, "no property is violated in %llu steps\n",
                (unsigned long long)replay->run.steps);
    }
    return stats->violated != 0 ? REPLAY_VIOLATED : REPLAY_HOLDS;
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
    const char *label = replay->trace->choice[index].label;
    int states;
    enum hopeless_answer answer = round_hopeless(&replay->round, &replay->run, label, true, &states);
    if (answer == HOPELESS_NO) {
        return drifted(replay, index, "it can still be served");
    }
    fprintf(replay->out, "%5s  %s\n%*sit waits in ", "-", label, INDENT, "");
    if (answer == HOPELESS_YES) {
        fprintf(replay->out, "all of the %d states that can follow\n", states);
    } else {
        fprintf(replay->out, "the first %d states that can follow, and there are more\n", states);
    }
    return REPLAY_HOLDS;
}

static enum replay_result pass_mark(struct replay *replay, int index)
{
    const char *label = replay->trace->choice[index].label;
    if (!round_is_circle(label)) {
        return pass_hopeless(replay, index);
    }
    fprintf(replay->out, "%5s  %s\n", "-", label);
    return round_begin(&replay->round, &replay->run)
               ? REPLAY_HOLDS
               : drifted(replay, index, "numbers that grow cannot be renamed, so that nothing comes back");
}

static enum replay_result end_circle(struct replay *replay)
{
    const struct trace *trace = replay->trace;
    const char *flaw = round_end(&replay->round, &replay->run);
    if (flaw == NULL) {
        fprintf(replay->out, "%5s  and so on: the state is that of the mark 'cycle' again\n", "-");
        tell_events(replay);
        return REPLAY_HOLDS;
    }
    input_complain(replay->error, trace->input.name, trace->first_choice_line + trace->choices, 1, flaw,
                   strlen(flaw), "a circle in which somebody waits for ever");
    return REPLAY_UNFIT;
}

/* Prints the line of a step before it is done: its label and a remark. */
static void tell_step(struct replay *replay, const char *label)
{
    struct action action;
    const char *why;
    char remark[WORLD_LABEL_MAX] = "";
    if (world_find(replay->run.world, label, &action, &why) == 0) {
        world_remark(replay->run.world, &action, remark);
        if (replay->round.goes) {
            round_step(&replay->round, &replay->run, &action);
        }
    }
    fprintf(replay->out, "%5llu  %s%s%s\n", (unsigned long long)replay->run.steps + 1, label,
            remark[0] != 0 ? ": " : "", remark);
}

static enum replay_result choose(struct replay *replay, int index)
{
    const char *label = replay->trace->choice[index].label, *why = "";
    if (is_mark(replay, index)) {
        return pass_mark(replay, index);
    }
    if (strcmp(label, TRACE_REST) == 0) {
        fprintf(replay->out, "%5s  %s\n", "-", label); /* no action, so it is not counted as a step */
        if (!run_rest(&replay->run)) {
            return drifted(replay, index, "the world is not at rest");
        }
    } else {
        tell_step(replay, label);
        if (run_apply_label(&replay->run, label, &why) != 0) {
            return drifted(replay, index, why);
        }
    }
    tell_events(replay);
    return REPLAY_HOLDS;
}

static enum replay_result run_choices(struct replay *replay)
{
    tell_head(replay);
    replay->run.setup.careful = true;
    run_begin(&replay->run, replay->run.setup.schedule, replay->run.setup.seed);
    tell_events(replay);
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

enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error)
{
    static struct replay replay; /* too large for a stack that recipes share */
    replay = (struct replay){.trace = trace, .out = out, .error = error};
    round_start(&replay.round);
    struct run_setup setup;
    enum replay_result result = REPLAY_UNFIT;
    if (replay_setup(trace, &replay.scenario, &setup, error) != 0) {
        return REPLAY_UNFIT;
    }
    if (run_init(&replay.run, &setup) != 0) {
        input_complain_words(error, trace->input.name, 1, 1, strerror(errno), "room for a world");
    } else {
        replay.run.narrator = narrator_open(&replay.scenario, SHOW_ALL, replay.run.set.context.timed, INDENT);
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
