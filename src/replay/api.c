/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "replay/liveness_circle.h"
#include "replay/replay_lenient.h"
#include "scenario/loaded_properties.h"
#include "scenario/recipes.h"

#include <errno.h>
#include <lockstep/error.h>
#include <lockstep/replay.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NAME "scenario"

const struct ls_recipe *ls_recipe_find(const char *name)
{
    char why[RECIPE_WHY_MAX];
    return recipe_load(name, why);
}

int ls_property_load(const char *path, char *why, size_t size)
{
    char reason[PROPERTY_WHY_MAX] = "";
    const char *name = property_load(path, reason);
    snprintf(why, size, "%s", reason);
    return name != NULL ? 0 : LS_EINVAL;
}

/* ---- telling ---- */

static void say(struct ls_replay_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct ls_replay_result *result, const char *format, ...)
{
    size_t used = strlen(result->text);
    LS_ASSERT(used < sizeof result->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->text + used, sizeof result->text - used, format, arguments);
    va_end(arguments);
}

static int refuse(struct ls_replay_result *result, int err, const char *what, const char *found)
{
    say(result, "expected %s, found %s%s%s\n", what, found ? "'" : "", found ? found : "nothing",
        found ? "'" : "");
    return err;
}

/* ---- what is to be run ---- */

/* Returns the lines as one text, which the caller frees; NULL if memory is short. */
static char *join(const char *const *line, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    for (int i = 0; file && line[i]; i++) {
        fprintf(file, "%s\n", line[i]);
    }
    if (!file || fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int read_scenario(const struct ls_replay *replay, struct scenario *scenario,
                         struct ls_replay_result *result)
{
    struct input_error error;
    size_t size = 0;
    char *text = join(replay->scenario, &size);
    if (!text) {
        return refuse(result, LS_ENOMEM, "memory", NULL);
    }
    int rc = scenario_read_bytes(scenario, NAME, text, size, &error);
    free(text);
    if (rc != 0) {
        say(result, "%s\n", error.text);
        return LS_EINVAL;
    }
    return 0;
}

static int seed_kind(const char *text)
{
    static const char *const KINDS[] = {
        [TRACE_SEED_NONE] = "", [TRACE_SEED_GIVEN] = "given", [TRACE_SEED_SWEPT] = "swept"};
    for (int i = 0; i < (int)(sizeof KINDS / sizeof KINDS[0]); i++) {
        if (strcmp(text ? text : "", KINDS[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int read_setup(const struct ls_replay *replay, struct run_setup *setup,
                      struct ls_replay_result *result)
{
    int schedule = replay->schedule ? schedule_find(replay->schedule) : -1,
        seeded = seed_kind(replay->seeded);
    *setup = (struct run_setup){.recipe = replay->recipe, .seed = replay->seed};
    if (!replay->recipe) {
        return refuse(result, LS_EINVAL, "a recipe (see lockstep list recipes)", NULL);
    }
    if (!replay->scenario || !replay->choices) {
        return refuse(result, LS_EINVAL, "the lines of a scenario and choices", NULL);
    }
    if (schedule < 0) {
        return refuse(result, LS_EINVAL, "the schedule directed, uniform, pct, swarm or search",
                      replay->schedule);
    }
    if (seeded < 0) {
        return refuse(result, LS_EINVAL, "a seed that is given, swept or neither", replay->seeded);
    }
    if (replay->without && replay->without[0] && !world_without(replay->without, &setup->without)) {
        return refuse(result, LS_EINVAL, "letters of choice points", replay->without);
    }
    setup->schedule = (enum schedule)schedule;
    setup->seeded = (enum trace_seed)seeded;
    return 0;
}

/* Sets *mask to the properties that decide the verdict. Refuses a property by which the run is not judged. */
static int read_mask(const struct ls_replay *replay, const struct run *run, check_mask *mask,
                     struct ls_replay_result *result)
{
    int position = replay->property ? check_position(replay->property) : -1;
    *mask = run->set.mask | run->set.wants[EVENT_MISBEHAVED]; /* as in check_set_judges() */
    if (!replay->property) {
        return 0;
    }
    if (!check_set_judges(&run->set, position)) {
        return refuse(result, LS_EINVAL, "a property that this scenario is judged by", replay->property);
    }
    *mask = CHECK_BIT(position);
    return 0;
}

/* ---- the answer ---- */

/* Returns the position of the first violated property in the order of reports; -1 = none is violated. */
static int first_violated(const struct check_stats *stats, check_mask mask)
{
    int violated[CHECK_PROPERTIES_MAX];
    return check_violated(stats, mask, violated) > 0 ? violated[0] : -1;
}

static bool all_judged(const struct run *run, check_mask mask)
{
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        if (mask >> i & 1 && check_verdict(&run->set, &run->stats, i) == CHECK_NOT_JUDGED) {
            return false;
        }
    }
    return true;
}

static void tell_violation(const struct run *run, int position, struct ls_replay_result *result)
{
    LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
    int count;
    const struct property *property = check_all(&count)[position];
    const struct check_finding *finding = &run->stats.finding[position];
    result->verdict = LS_REPLAY_VIOLATED;
    result->property = property->name;
    result->promise = property->sentence;
    result->step = finding->step;
    say(result, "%s is violated at step %llu of %llu: %s\n  promised: %s\n", property->name,
        (unsigned long long)finding->step, (unsigned long long)run->steps, finding->why, property->sentence);
}

static void tell_fit(const struct followed *followed, struct ls_replay_result *result)
{
    LS_ASSERT(followed->left_out >= 0 && followed->left_out <= result->choices);
    LS_ASSERT(followed->fits >= 0 && followed->fits <= result->choices);
    result->fits = followed->fits;
    result->left_out = followed->left_out;
    if (followed->drift[0]) {
        say(result, "the first %d of %d choices were done as they stand; %s\n", followed->fits,
            result->choices, followed->drift);
        say(result, "%d of the others were left out\n", followed->left_out);
    }
}

static void judge(const struct run *run, check_mask mask, const char *asked, struct ls_replay_result *result)
{
    const char *trouble = run_trouble(run), *name = asked ? asked : "a property";
    int violated = first_violated(&run->stats, mask);
    result->steps = run->steps;
    if (violated >= 0) {
        tell_violation(run, violated, result);
    } else if (trouble) {
        result->verdict = LS_REPLAY_LIMIT;
        say(result, "no verdict after %llu steps: %s\n", (unsigned long long)run->steps, trouble);
    } else if (!all_judged(run, mask)) {
        result->verdict = LS_REPLAY_NOT_JUDGED;
        say(result, "%s is not judged: nothing in the %llu steps of this run is about it\n", name,
            (unsigned long long)run->steps);
    } else {
        result->verdict = LS_REPLAY_HOLDS;
        say(result, "%s in %llu steps\n", asked ? "not violated" : "nothing is violated",
            (unsigned long long)run->steps);
    }
}

static int run_and_judge(const struct ls_replay *replay, struct run *run, struct ls_replay_result *result)
{
    struct followed followed;
    check_mask mask;
    int rc = read_mask(replay, run, &mask, result);
    if (rc != 0) {
        return rc;
    }
    while (replay->choices[result->choices]) {
        result->choices++;
    }
    follow(run, replay->choices, mask, &followed);
    LS_ASSERT(run->steps >= run->stats.step);
    judge(run, mask, replay->property, result);
    tell_fit(&followed, result);
    return 0;
}

/* Returns whether the list has marks, so that the run goes round. Loaded properties do not judge such a run:
 * their states need not recur. */
static bool goes_round(const char *const *choice)
{
    for (; *choice; choice++) {
        if (round_is_mark(*choice)) {
            return true;
        }
    }
    return false;
}

int ls_replay_run(const struct ls_replay *replay, struct ls_replay_result *result)
{
    static struct run run; /* too large for a stack that recipes share */
    struct scenario scenario;
    struct run_setup setup;
    memset(result, 0, sizeof *result);
    int rc = read_setup(replay, &setup, result);
    rc = rc != 0 ? rc : read_scenario(replay, &scenario, result);
    if (rc != 0) {
        return rc;
    }
    setup.scenario = &scenario;
    scenario.built_in_only = goes_round(replay->choices);
    if (run_init(&run, &setup) != 0) {
        rc = refuse(result, LS_ENOMEM, "room for a world", strerror(errno));
    } else {
        rc = run_and_judge(replay, &run, result);
        run_close(&run);
        run_leave_world();
    }
    scenario_close(&scenario);
    return rc;
}
