/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/outcome.h"

#include "base/assert.h"
#include "base/file.h"
#include "scenario/loaded_properties.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const NAMES[] = {"holds", "violated", "differs", "limit", "error"};
    return NAMES[verdict];
}

void outcome_say(struct outcome *outcome, const char *format, ...)
{
    static const char CUT[] = "...\n";
    size_t used = strlen(outcome->text), left = sizeof outcome->text - used;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(outcome->text + used, left, format, arguments);
    va_end(arguments);
    if (size > 0 && (size_t)size >= left) {
        memcpy(outcome->text + sizeof outcome->text - sizeof CUT, CUT, sizeof CUT);
    }
}

void outcome_clear_text(struct outcome *outcome)
{
    outcome->text[0] = 0;
    outcome->diff_at = outcome->diff_size = 0;
}

static int within(int number, int most)
{
    LS_ASSERT(most >= 0);
    return number < 0 ? 0 : number < most ? number : most;
}

bool outcome_keep_diff_inside(struct outcome *outcome)
{
    int size = (int)strlen(outcome->text);
    int at = within(outcome->diff_at, size), diff = within(outcome->diff_size, size - at);
    bool inside = at == outcome->diff_at && diff == outcome->diff_size;
    outcome->diff_at = at;
    outcome->diff_size = diff;
    return inside;
}

enum check_verdict outcome_verdict(const struct outcome *outcome, int position)
{
    LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
    struct check_set set = {.mask = outcome->mask};
    return check_verdict(&set, &outcome->stats, position);
}

const char *outcome_also(const struct check_finding *finding)
{
    return finding->later ? "if the run goes on" : finding->elsewhere ? "in another run" : NULL;
}

check_mask outcome_known_violations(const struct outcome *outcome)
{
    check_mask mask = outcome->stats.violated;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        const struct check_finding *finding = &outcome->stats.finding[i];
        mask |= (check_mask)(outcome_also(finding) != NULL) << i;
    }
    return mask;
}

/* Returns whether an offence is one of those of outcome_is_broken_off(). */
static bool breaks_off(int offence)
{
    switch (offence) {
    case EVENT_OFFENCE_CRASH:
    case EVENT_OFFENCE_LOOP:
    case EVENT_OFFENCE_STATE:
    case EVENT_OFFENCE_BLOCK_BOUNDS:
    case EVENT_OFFENCE_FREED:
    case EVENT_OFFENCE_STALE:
    case EVENT_OFFENCE_LENT:
    case EVENT_OFFENCE_UNSET:
        return true;
    default:
        return false;
    }
}

bool outcome_is_broken_off(const struct outcome *outcome)
{
    bool broken_off = false;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        const struct check_finding *finding = &outcome->stats.finding[i];
        bool misbehaved = finding->violated && finding->event_kind == EVENT_MISBEHAVED;
        broken_off |= misbehaved && breaks_off(finding->code);
    }
    return broken_off;
}

void outcome_add_elsewhere(struct outcome *outcome, const struct check_stats *stats)
{
    LS_ASSERT(stats != &outcome->stats);
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        if ((stats->violated >> i & 1) != 0) {
            outcome->stats.finding[i] = stats->finding[i];
            outcome->stats.finding[i].elsewhere = true;
        }
    }
}

/* ---- the trace file ---- */

/* Returns a hash of the trace: equal traces get equal names. */
static uint32_t name_of(const char *bytes, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    }
    return hash;
}

static void note_properties(struct trace *trace)
{
    const struct loaded_property *loaded;
    for (; (loaded = property_loaded(trace->properties)) != NULL; trace->properties++) {
        LS_ASSERT(trace->properties < TRACE_PROPERTIES_MAX);
        struct trace_property *property = &trace->property[trace->properties];
        snprintf(property->name, sizeof property->name, "%s", loaded->property->name);
        snprintf(property->path, sizeof property->path, "%s", loaded->path);
    }
}

void outcome_trace_of(const struct run *run, const char *found, struct trace *trace)
{
    const struct scenario *scenario = run->setup.scenario;
    *trace = (struct trace){
        .seed = run->setup.seeded == TRACE_SEED_SWEPT ? run->setup.seed : world_get_options(run->world)->seed,
        .seeded = run->setup.seeded,
        .found = found,
        .name = scenario->input.name,
        .text = scenario->input.text,
        .text_size = scenario->input.size,
        .choice = run->choice,
        .choices = run->told ? run->failing_choices : run->choices,
    };
    world_without_text(run->setup.without, trace->without);
    note_properties(trace);
    snprintf(trace->tool, sizeof trace->tool, "%s", LOCKSTEP_VERSION);
    snprintf(trace->recipe, sizeof trace->recipe, "%s", run->setup.recipe->name);
    snprintf(trace->schedule, sizeof trace->schedule, "%s", schedule_name(run->setup.schedule));
}

static int write_trace(struct outcome *outcome, const struct run *run, const char *folder, const char *found)
{
    struct trace trace;
    char *bytes = NULL;
    size_t size = 0;
    outcome_trace_of(run, found, &trace);
    FILE *file = file_make_folder(folder) == 0 ? open_memstream(&bytes, &size) : NULL;
    if (!file) {
        return -1;
    }
    int result = trace_write(file, &trace);
    result = fclose(file) == 0 ? result : -1;
    if (result == 0) {
        snprintf(outcome->trace, sizeof outcome->trace, "%.900s/%08x.trace", folder, name_of(bytes, size));
        result = file_replace(outcome->trace, bytes, size);
    }
    free(bytes);
    return result;
}

/* Writes the names of the properties that the run violates and the scenario does not declare as violated. */
void outcome_found(const struct run *run, char text[OUTCOME_FOUND_MAX])
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&run->stats, ~run->setup.scenario->violates, violated);
    LS_ASSERT(count <= known);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, OUTCOME_FOUND_MAX - used, "%s%s", used > 0 ? " " : "", all[violated[i]]->name);
    }
}

void outcome_write_trace(struct outcome *outcome, const struct run *run, const char *folder, const char *why)
{
    char found[OUTCOME_FOUND_MAX];
    outcome_found(run, found);
    if (write_trace(outcome, run, folder, found[0] ? found : why) != 0) {
        outcome_say(outcome, "  no trace could be written below %s: %s\n", folder, strerror(errno));
        outcome->trace[0] = 0;
        if (outcome->verdict != VERDICT_VIOLATED) { /* a violation is worse than an error, and stays */
            outcome->verdict = VERDICT_ERROR;
        }
    }
}

bool outcome_tried_is_expected(struct outcome *outcome, const struct scenario *scenario)
{
    char key[TRIED_KEY_MAX];
    bool claimed, claims = scenario->not_tried_given;
    for (int i = 0; i < SCENARIO_COUNTS; i++) {
        claims = claims || scenario->count_given[i];
    }
    if (!claims || !tried_differs(&outcome->tried, scenario, key, &claimed)) {
        return true;
    }
    if (claimed) {
        outcome_say(outcome, "  not-tried: expected %s, found that it was tried\n", key);
    } else {
        outcome_say(outcome, "  not-tried: expected a line 'not-tried %s', found none\n", key);
    }
    return false;
}

/* Adds to the text the claims of the file that the runs do not bear out, and returns whether there are none.
 * A violated property that is claimed to hold is not among them: run_violated() reports it. Nor are claims
 * that runs of this kind cannot settle. */
static bool claims_are_met(struct outcome *outcome, const struct run *run)
{
    const struct scenario *scenario = run->setup.scenario;
    int count;
    const struct property *const *all = check_all(&count);
    bool met = true;
    for (int i = 0; i < count; i++) {
        enum check_verdict found = outcome_verdict(outcome, i);
        enum check_verdict wanted = scenario->violates >> i & 1 ? CHECK_VIOLATED : CHECK_HOLDS;
        if (!((scenario->violates | scenario->holds) >> i & 1) || found == wanted) {
            continue;
        }
        bool search = outcome->schedule == SCHEDULE_SEARCH;
        if (all[i]->needs_search && !search) {
            continue;
        }
        bool partial = scenario->exploring && !(search && outcome->exhausted);
        if (partial && (wanted == CHECK_VIOLATED || found == CHECK_NOT_JUDGED)) {
            continue; /* other runs may violate it or meet its premise */
        }
        if (found == CHECK_NOT_JUDGED) {
            outcome_say(outcome, "  %s: expected %s, found not-judged (no %s)\n", all[i]->name,
                        check_verdict_name(wanted), all[i]->premise);
            met = false;
        } else if (wanted == CHECK_VIOLATED) {
            outcome_say(outcome, "  %s: expected violated, found holds\n", all[i]->name);
            met = false;
        }
    }
    return met;
}

void outcome_judge_again(struct outcome *outcome, const struct run_setup *setup, bool same)
{
    static struct run run; /* no world: only findings */
    run = (struct run){.setup = *setup,
                       .set = {.mask = outcome->mask},
                       .stats = outcome->stats,
                       .tried = outcome->tried,
                       .steps = outcome->last_steps};
    run.setup.schedule = outcome->schedule;
    outcome_judge(outcome, &run, NULL, same);
}

void outcome_judge(struct outcome *outcome, const struct run *run, const char *trouble, bool same)
{
    outcome->mask = run->set.mask;
    outcome->stats = run->stats;
    outcome->tried = run->tried;
    outcome->last_steps = run->told ? run->failing_steps : run->steps;
    bool random = schedule_is_random(run->setup.schedule);
    bool unclaimed = run->setup.part || (random && !run->setup.scenario->exploring);
    bool met = unclaimed || claims_are_met(outcome, run);
    if (trouble) {
        outcome_say(outcome, "  %s\n", trouble);
    }
    if (run_violated(run)) {
        outcome->verdict = VERDICT_VIOLATED;
    } else if (!same || !met) {
        outcome->verdict = VERDICT_DIFFERS;
    } else {
        outcome->verdict = trouble ? VERDICT_LIMIT : VERDICT_HOLDS;
    }
}
