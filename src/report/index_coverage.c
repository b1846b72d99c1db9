/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The part of the index about coverage: for each recipe a heat map of events and states, and its marks. A
 * number counts scenarios, because within one scenario a pair was met or not (scenario/coverage.h). */
#include "report/html.h"
#include "report/index.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define SHADES 4

/* The scenarios of one recipe. */
struct heat {
    const struct report_index *index;
    const struct ls_recipe *recipe;
    struct coverage *all; /* of all scenarios together, sorted */
    int scenarios;
};

static bool counts(const struct heat *heat, int item)
{
    const struct report_item *one = &heat->index->items[item];
    LS_ASSERT(item >= 0 && item < heat->index->count);
    return one->finished && one->recipe == heat->recipe && one->coverage != NULL;
}

/* Returns the states in which an event came in one scenario. */
static uint32_t seen_in(const struct coverage *coverage, const char *event)
{
    for (uint32_t i = 0; i < coverage->events; i++) {
        if (strcmp(coverage->event[i].name, event) == 0) {
            return coverage->event[i].seen;
        }
    }
    return 0;
}

/* Counts the scenarios in which an event came in each state. */
static void count_event(const struct heat *heat, const char *event, int times[32])
{
    memset(times, 0, 32 * sizeof *times);
    for (int i = 0; i < heat->index->count; i++) {
        uint32_t seen = counts(heat, i) ? seen_in(heat->index->items[i].coverage, event) : 0;
        for (int s = 0; s < 32; s++) {
            times[s] += (int)(seen >> s & 1);
        }
    }
}

static void write_times(FILE *out, const struct heat *heat, int times)
{
    LS_ASSERT(times >= 0 && times <= heat->scenarios);
    if (times == 0) {
        fputs("<td class=\"none\">-</td>", out);
    } else {
        fprintf(out, "<td class=\"h%d\">%d</td>", 1 + (times * SHADES - 1) / heat->scenarios, times);
    }
}

static void write_states(FILE *out, const struct heat *heat)
{
    fputs("<thead><tr><th scope=\"col\">event</th>", out);
    for (int s = 0; s < coverage_states(heat->recipe); s++) {
        fputs("<th scope=\"col\"><span>", out);
        html_text(out, coverage_state_name(heat->recipe, s));
        fputs("</span></th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void write_map(FILE *out, const struct heat *heat)
{
    int times[32], states = coverage_states(heat->recipe);
    LS_ASSERT(states > 0 && states <= 32);
    fprintf(
        out,
        "<table class=\"heat\">\n<caption>Scenarios, of %d, in which an event came in a state of the recipe; "
        "%u of %u pairs were seen. Darker or brighter: in more of them; -: in none.</caption>\n",
        heat->scenarios, (unsigned)coverage_pairs(heat->all), (unsigned)heat->all->events * (unsigned)states);
    write_states(out, heat);
    for (uint32_t i = 0; i < heat->all->events; i++) {
        fputs("<tr><th scope=\"row\">", out);
        html_text(out, heat->all->event[i].name);
        fputs("</th>", out);
        count_event(heat, heat->all->event[i].name, times);
        for (int s = 0; s < states; s++) {
            write_times(out, heat, times[s]);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n", out);
}

static void write_mark(FILE *out, const struct heat *heat, const struct ls_mark *mark, int place)
{
    int times = 0;
    LS_ASSERT(place >= 0 && place < COVERAGE_MARKS_MAX);
    for (int i = 0; i < heat->index->count; i++) {
        times += counts(heat, i) && heat->index->items[i].coverage->mark[place] != 0;
    }
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, mark->name);
    fputs("</th>", out);
    write_times(out, heat, times);
    fputs("</tr>\n", out);
}

static void write_marks(FILE *out, const struct heat *heat)
{
    const struct ls_mark *mark;
    int place = 0;
    if (coverage_mark(heat->recipe, 0, &place) == NULL) {
        return;
    }
    fputs("<table class=\"heat\">\n<caption>Places of the recipe that some run must reach, and the scenarios "
          "that "
          "reach them.</caption>\n<thead><tr><th scope=\"col\">mark</th><th "
          "scope=\"col\">scenarios</th></tr></thead>"
          "\n<tbody>\n",
          out);
    for (int i = 0; (mark = coverage_mark(heat->recipe, i, &place)) != NULL; i++) {
        write_mark(out, heat, mark, place);
    }
    fputs("</tbody>\n</table>\n", out);
}

static void write_recipe(FILE *out, struct heat *heat)
{
    for (int i = 0; i < heat->index->count; i++) {
        if (counts(heat, i)) {
            coverage_merge(heat->all, heat->index->items[i].coverage);
            heat->scenarios++;
        }
    }
    LS_ASSERT(heat->scenarios > 0);
    coverage_sort(heat->all);
    fputs("<h3>", out);
    html_text(out, heat->recipe->name);
    fputs("</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"coverage of ", out);
    html_text(out, heat->recipe->name);
    fputs("\">\n", out);
    write_map(out, heat);
    write_marks(out, heat);
    fputs(heat->all->full ? "<p>limit: not all that was covered could be noted</p>\n</div>\n" : "</div>\n",
          out);
}

/* Returns whether no earlier item has the recipe of this one. */
static bool is_first(const struct report_index *index, int item)
{
    struct heat heat = {.index = index, .recipe = index->items[item].recipe};
    for (int i = 0; i < item; i++) {
        if (counts(&heat, i)) {
            return false;
        }
    }
    return counts(&heat, item);
}

void report_index_coverage(FILE *out, const struct report_index *index)
{
    int recipes = 0;
    for (int i = 0; i < index->count; i++) {
        if (is_first(index, i)) {
            struct heat heat = {index, index->items[i].recipe, calloc(1, sizeof *heat.all), 0};
            if (heat.all != NULL) {
                write_recipe(out, &heat);
                recipes++;
            }
            free(heat.all);
        }
    }
    if (recipes == 0) {
        fputs("<p>Not noted: it needs the option <code>--coverage</code>.</p>", out);
    }
}
