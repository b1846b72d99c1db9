/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GREEN "\033[32m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

double report_states_per_second(const struct report_item *item)
{
    const struct search_counts *search = &item->outcome->search;
    double states = (double)search->states + (double)search->earlier_states;
    return item->seconds > 0 ? states / item->seconds : 0;
}

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER, COLORS } color;

bool report_set_color(const char *when)
{
    static const char *const WORDS[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < COLORS; i++) {
        if (strcmp(when, WORDS[i]) == 0) {
            color = i;
            return true;
        }
    }
    return false;
}

static bool in_colour(FILE *out)
{
    const char *terminal = getenv("TERM");
    if (color != COLOR_AUTO) {
        return color == COLOR_ALWAYS;
    }
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    return isatty(fileno(out)) && !dumb && !getenv("NO_COLOR");
}

bool report_passes(const struct report_item *item)
{
    return item->finished && (item->outcome->verdict == VERDICT_HOLDS || item->tried);
}

bool report_fails(const struct report_item *item)
{
    return item->finished && !item->tried && item->outcome->verdict != VERDICT_HOLDS &&
           item->outcome->verdict != VERDICT_LIMIT;
}

int report_violations(const struct report_item *item, struct report_violation list[CHECK_PROPERTIES_MAX])
{
    const struct check_stats *stats = &item->outcome->stats;
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(stats, ~item->scenario->violates, violated);
    for (int i = 0; i < count; i++) {
        list[i] = (struct report_violation){all[violated[i]], &stats->finding[violated[i]], NULL};
    }
    for (int i = 0; i < known; i++) {
        const char *where = outcome_also(&stats->finding[i]);
        if (where != NULL) {
            list[count++] = (struct report_violation){all[i], &stats->finding[i], where};
        }
    }
    return count;
}

const char *report_trace(const struct outcome *outcome)
{
    return outcome->shrunk[0] ? outcome->shrunk : outcome->trace;
}

void report_notes(FILE *out, const struct outcome *outcome)
{
    LS_ASSERT(outcome->diff_at >= 0 && outcome->diff_size >= 0 &&
              (size_t)outcome->diff_at + (size_t)outcome->diff_size <= strlen(outcome->text));
    const char *behind = outcome->text + outcome->diff_at + outcome->diff_size;
    fprintf(out, "%.*s%s", outcome->diff_at, outcome->text, behind);
}

void report_head(FILE *out, const struct report_item *item)
{
    static const struct {
        const char *word;
        const char *colour;
    } HEADS[] = {[VERDICT_HOLDS] = {"pass ", GREEN},
                 [VERDICT_VIOLATED] = {"FAIL ", RED},
                 [VERDICT_DIFFERS] = {"FAIL ", RED},
                 [VERDICT_LIMIT] = {"limit", YELLOW},
                 [VERDICT_ERROR] = {"ERROR", RED}};
    enum verdict verdict = item->outcome->verdict;
    bool colour = in_colour(out);
    LS_ASSERT((size_t)verdict < sizeof HEADS / sizeof HEADS[0]);
    fprintf(out, "%s%s%s %s", colour ? HEADS[verdict].colour : "",
            item->tried ? "tried" : HEADS[verdict].word, colour ? PLAIN : "", item->scenario->input.name);
    if (item->outcome->search.states > 0) {
        fprintf(out, "  (%llu states, %llu transitions, depth %llu)",
                (unsigned long long)item->outcome->search.states,
                (unsigned long long)item->outcome->search.transitions,
                (unsigned long long)item->outcome->search.depth);
    }
    if (item->outcome->runs > 0) {
        fprintf(out, "  (%llu random schedules)", (unsigned long long)item->outcome->runs);
    }
}

static void say_faults(FILE *out, int faults)
{
    if (faults == 0) {
        fputs("without faults", out);
    } else {
        fprintf(out, "with at most %d fault%s", faults, faults == 1 ? "" : "s");
    }
}

/* Writes how far a search with --bitstate went. In it an omitted state hides all states that only it leads
 * to. */
static void say_bits(FILE *out, const struct report_item *item)
{
    const struct search_counts *search = &item->outcome->search;
    fputs("  reached ", out);
    say_faults(out, search->faults);
    fprintf(out, "; expected omissions: %.1e, and what only they lead to\n", search->expected_omissions);
}

static void say_end(FILE *out, const struct outcome *outcome)
{
    if (outcome->verdict == VERDICT_LIMIT) {
        fputs(outcome->search.complete_faults < 0 ? "  no layer is complete; ended among runs "
                                                  : "  ended among runs ",
              out);
        say_faults(out, outcome->search.faults);
        fputc('\n', out);
    }
}

/* Writes the bounds within which a search has covered all runs, or found no violation, and the expected
 * omissions. At a limit, writes where the search ended. */
static void say_what_stands(FILE *out, const struct report_item *item, const struct report_context *context)
{
    uint32_t without = context->without;
    const struct outcome *outcome = item->outcome;
    const struct search_counts *search = &outcome->search;
    if (search->bitstate) {
        say_bits(out, item);
        return;
    }
    if (search->complete_faults < 0) {
        say_end(out, outcome);
        return;
    }
    fputs(outcome->exhausted ? "  all runs " : "  no run ", out);
    say_faults(out, search->complete_faults);
    fputs(outcome->exhausted ? "" : " violates anything", out);
    if (item->scenario->constants > 1 && !context->one_constant) {
        fprintf(out, ", in each of %d sets of run constants", item->scenario->constants);
    }
    if (without != 0) {
        char letters[WORLD_WITHOUT_MAX];
        world_without_text(without, letters);
        fprintf(out, ", in a world without choice point%s %s", letters[1] != 0 ? "s" : "", letters);
    }
    if (search->exact) {
        fprintf(out, "; exact: fingerprints would have left out %llu\n",
                (unsigned long long)search->omissions);
    } else {
        fprintf(out, "; expected omissions: %.1e\n", search->expected_omissions);
    }
    say_end(out, outcome);
}

bool report_not_tried(const struct report_item *item, int index, char key[TRIED_KEY_MAX],
                      char why[TRIED_WHY_MAX])
{
    const struct outcome *outcome = item->outcome;
    bool early = outcome->verdict == VERDICT_VIOLATED || outcome->verdict == VERDICT_ERROR ||
                 (outcome->verdict == VERDICT_LIMIT && outcome->runs == 0);
    return item->scenario->exploring && !early &&
           tried_lacks(&outcome->tried, item->scenario, index, key, why);
}

/* Writes `before` and a list such as `sweep (the directory is no container), a.end (...)`. Writes nothing and
 * returns false if report_not_tried() has nothing. */
static bool say_not_tried(FILE *out, const char *before, const struct report_item *item)
{
    char key[TRIED_KEY_MAX], why[TRIED_WHY_MAX];
    int index = 0;
    for (; report_not_tried(item, index, key, why); index++) {
        fprintf(out, "%s%s (%s)", index == 0 ? before : ", ", key, why);
    }
    return index > 0;
}

/* Names at most REPORT_NOT_TRIED_MAX scenarios, unless verbose. */
void report_text_not_tried(FILE *out, const struct report_context *context, const struct report_item *items,
                           int count)
{
    char key[TRIED_KEY_MAX], why[TRIED_WHY_MAX];
    int told = 0, more = 0;
    for (int i = 0; i < count; i++) {
        bool some = report_passes(&items[i]) && report_not_tried(&items[i], 0, key, why);
        if (some && (told < REPORT_NOT_TRIED_MAX || context->verbose)) {
            say_not_tried(out, "not tried: ", &items[i]);
            fprintf(out, " in %s\n", items[i].scenario->input.name);
            told++;
        } else if (some) {
            more++;
        }
    }
    LS_ASSERT(told + more <= count && (more == 0 || told == REPORT_NOT_TRIED_MAX));
    if (more > 0) {
        fprintf(out, "not tried: something in %d more scenario%s: --verbose\n", more, more == 1 ? "" : "s");
    }
}

/* Writes how many steps led to states with too many numbers, which are compared as they are (D3c). */
static void say_unrenamed(FILE *out, const struct search_counts *search)
{
    if (search->unrenamed > 0) {
        fprintf(out,
                "  not renamed: %llu steps led to states with too many numbers; some states are counted more "
                "than once\n",
                (unsigned long long)search->unrenamed);
    }
}

static void say_after(FILE *out, const struct search_counts *search)
{
    if (search->live_states > 0) {
        fprintf(out, "  after the last fault: %llu states, %llu transitions\n",
                (unsigned long long)search->live_states, (unsigned long long)search->live_transitions);
    }
}

/* Writes figures that differ from call to call, if `out` is a terminal. */
static void say_rates(FILE *out, const struct report_item *item)
{
    const struct search_counts *search = &item->outcome->search;
    LS_ASSERT(search->states > 0);
    if (!isatty(fileno(out))) {
        return;
    }
    fprintf(out, "  %.1f s, %.0f states/s, %.1f bytes per state", item->seconds,
            report_states_per_second(item), (double)search->memory_bytes / (double)search->states);
    if (search->saving_ms > 0) {
        fprintf(out, ", %.1f s to keep it", (double)search->saving_ms / 1000);
    }
    fputc('\n', out);
}

static void say_schedule(FILE *out, const struct outcome *outcome)
{
    if (outcome->schedule != SCHEDULE_DIRECTED) {
        fprintf(out, "  (%s schedule, seed %llu)", schedule_name(outcome->schedule),
                (unsigned long long)outcome->seed);
    }
    fputc('\n', out);
}

void report_story(FILE *out, const struct outcome *outcome)
{
    const char *line = outcome->story;
    while (*line) {
        int size = (int)strcspn(line, "\n");
        fprintf(out, "%s%.*s\n", size > 0 ? "  | " : "  |", size, line);
        line += size + (line[size] == '\n');
    }
}

static void say_failure(FILE *out, const struct report_item *item, const char *program)
{
    const struct outcome *outcome = item->outcome;
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, list);
    for (int i = 0; i < count; i++) {
        const char *name = list[i].property->name, *why = list[i].finding->why;
        if (list[i].where != NULL) {
            fprintf(out, "  also, %s: %s: %s\n", list[i].where, name, why);
        } else {
            fprintf(out, "  %s\nviolated %s  step %llu of %llu", why, name,
                    (unsigned long long)list[i].finding->step, (unsigned long long)outcome->last_steps);
            say_schedule(out, outcome);
        }
    }
    if (outcome->verdict == VERDICT_DIFFERS) {
        fprintf(out, "%s is not what the file expects\n", item->scenario->input.name);
    }
    if (outcome->shrunk[0]) {
        fprintf(out, "shrunk: %s replay %s  (%s in %d steps, was %d%s)\n", program, outcome->shrunk,
                outcome->shrunk_property, outcome->shrunk_steps, outcome->shrunk_from,
                outcome->shrunk_minimal ? "" : "; may get shorter: lockstep shrink");
    }
    if (outcome->trace[0]) {
        fprintf(out, "replay: %s replay %s\n", program, outcome->trace);
    }
}

/* Writes `FAIL  NAME  violates at_most_one_holder, no_orphan_node`, and notes. */
static void say_violating(FILE *out, const struct report_item *item)
{
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, list);
    report_head(out, item);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%s", i == 0 ? "  violates " : ", ", list[i].property->name);
    }
    fputc('\n', out);
    report_notes(out, item->outcome);
}

static bool is_listed(const struct report_context *context, const struct report_item *item)
{
    LS_ASSERT(report_passes(item));
    return !context->quiet && (context->verbose || item->named || item->coverage != NULL ||
                               item->outcome->text[0] != 0 || item->outcome->search.unrenamed > 0);
}

void report_text(FILE *out, const struct report_context *context, const struct report_item *item,
                 int *violating)
{
    const struct outcome *outcome = item->outcome;
    bool violates = outcome->verdict == VERDICT_VIOLATED, differs = outcome->verdict == VERDICT_DIFFERS;
    *violating += violates;
    if (report_passes(item) && !is_listed(context, item)) {
        return;
    }
    if (!context->verbose && (violates || differs)) {
        if (violates && *violating <= REPORT_FAILURES_MAX) {
            say_violating(out, item);
            fflush(out);
        }
        return;
    }
    report_head(out, item);
    fputc('\n', out);
    if (outcome->search.states > 0 && outcome->verdict != VERDICT_ERROR) {
        say_what_stands(out, item, context);
        say_unrenamed(out, &outcome->search);
        say_after(out, &outcome->search);
        say_rates(out, item);
    }
    if (say_not_tried(out, "  not tried: ", item)) {
        fputc('\n', out);
    }
    fputs(outcome->text, out);
    report_text_growth(out, item);
    if (outcome->verdict != VERDICT_HOLDS) {
        if (outcome->schedule != SCHEDULE_DIRECTED) { /* the file of a directed run tells it */
            report_story(out, outcome);
        }
        say_failure(out, item, context->program);
    }
    fflush(out);
}
