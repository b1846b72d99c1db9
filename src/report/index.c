/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The index page of a run of scenarios: the findings of the text report, as tables. No duration is in it, so
 * that equal findings give equal bytes. Cells of verdicts have a word besides their colour. */
#include "report/index.h"
#include "report/html.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Made from src/report/page by cmake/embed.cmake. */
extern const char report_index_html[], report_index_css[], report_index_js[];

/* ---- words ---- */

/* Returns the class of a row, which is also the word by which the page filters. */
static const char *class_of(const struct report_item *item)
{
    return report_passes(item) ? "pass" : report_fails(item) ? "fail" : "limit";
}

/* Returns a sign and the word for the verdict of an item. */
static const char *word_of(const struct report_item *item)
{
    static const char *const WORDS[] = {[VERDICT_HOLDS] = "\u2714 pass",
                                        [VERDICT_VIOLATED] = "\u2718 FAIL",
                                        [VERDICT_DIFFERS] = "\u2260 differs",
                                        [VERDICT_LIMIT] = "\u2026 limit",
                                        [VERDICT_ERROR] = "\u26a0 ERROR"};
    if (!item->finished) {
        return "\u2026 not finished";
    }
    LS_ASSERT((size_t)item->outcome->verdict < sizeof WORDS / sizeof WORDS[0]);
    return item->tried ? "\u2714 tried" : WORDS[item->outcome->verdict];
}

static void write_number(FILE *out, uint64_t number)
{
    if (number > 0) {
        fprintf(out, "<td class=\"number\">%llu</td>", (unsigned long long)number);
    } else {
        fputs("<td class=\"number none\">-</td>", out);
    }
}

static void begin_row(FILE *out, const struct report_item *item)
{
    fprintf(out, "<tr data-verdict=\"%s\"><th scope=\"row\" class=\"name\">", class_of(item));
    html_text(out, item->scenario->input.name);
    fputs("</th>", out);
}

/* ---- the head ---- */

static void write_title(FILE *out, const struct report_index *index)
{
    int passed = 0, failed = 0;
    for (int i = 0; i < index->count; i++) {
        passed += report_passes(&index->items[i]);
        failed += report_fails(&index->items[i]);
    }
    LS_ASSERT(passed + failed <= index->count);
    fprintf(out, "%d passed, %d failed", passed, failed);
    if (passed + failed < index->count) {
        fprintf(out, ", %d skipped", index->count - passed - failed);
    }
}

static void write_head(FILE *out, const struct report_index *index)
{
    fputs("<h1>lockstep: ", out);
    write_title(out, index);
    fputs("</h1>\n<p><code>", out);
    html_text(out, index->command);
    fputs("</code></p>\n<p class=\"faint\">written by lockstep " LOCKSTEP_VERSION "</p>", out);
}

/* Writes the verdicts, the things not tried, and the lines about small worlds. */
static void write_proved(FILE *out, const struct report_index *index)
{
    char *text = NULL;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    if (lines != NULL) {
        report_text_verdicts(lines, index->items, index->count);
        report_text_not_tried(lines, index->context, index->items, index->count);
        fputs(index->worlds, lines);
    }
    if (lines == NULL || fclose(lines) != 0) {
        fputs("<p>out of memory</p>", out);
    } else {
        fputs("<pre>", out);
        html_text(out, text);
        fputs("</pre>", out);
    }
    free(text);
}

/* ---- scenarios ---- */

/* Writes the sentences of the violations. Without a violation, writes the reason of a difference or an
 * error. */
static void write_reasons(FILE *out, const struct report_item *item)
{
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = item->finished ? report_violations(item, list) : 0;
    LS_ASSERT(count <= CHECK_PROPERTIES_MAX);
    fputs("<td class=\"text\">", out);
    fputs(count > 0 ? "<ul>" : "", out);
    for (int i = 0; i < count; i++) {
        fputs("<li><b>", out);
        html_text(out, list[i].property->name);
        fputs("</b>: ", out);
        html_text(out, list[i].finding->why);
        fprintf(out, "%s%s</li>", list[i].where != NULL ? ", " : "",
                list[i].where != NULL ? list[i].where : "");
    }
    fputs(count > 0 ? "</ul>" : "", out);
    if (count == 0 && item->finished && item->outcome->verdict == VERDICT_DIFFERS) {
        fputs("differs from what the file expects", out);
    } else if (count == 0 && item->finished && item->outcome->verdict == VERDICT_ERROR) {
        html_text(out, item->outcome->text);
    }
    fputs("</td>", out);
}

static void write_link(FILE *out, const struct report_index *index, const struct report_item *item)
{
    LS_ASSERT(strpbrk(item->page, "/<>&\"") == NULL);
    fputs("<td class=\"text\">", out);
    if (item->page[0] != 0) {
        fputs("<a href=\"", out);
        html_text(out, item->page);
        fputs("\" aria-label=\"the run of ", out);
        html_text(out, item->scenario->input.name);
        fputs("\">the run</a> ", out);
    }
    if (item->finished && report_fails(item) && report_trace(item->outcome)[0] != 0) {
        fputs("<code>", out);
        html_text(out, index->context->program);
        fputs(" replay ", out);
        html_text(out, report_trace(item->outcome));
        fputs("</code>", out);
    }
    fputs("</td>", out);
}

static void write_scenario(FILE *out, const struct report_index *index, const struct report_item *item)
{
    const struct outcome *outcome = item->outcome;
    begin_row(out, item);
    fprintf(out, "<td class=\"%s\">%s</td><td class=\"text\">", class_of(item), word_of(item));
    html_text(out, item->recipe->name);
    fputs("</td>", out);
    write_number(out, item->finished ? outcome->search.states : 0);
    write_number(out, item->finished ? outcome->steps : 0);
    write_number(out, item->finished ? outcome->runs : 0);
    write_reasons(out, item);
    write_link(out, index, item);
    fputs("</tr>\n", out);
}

static void write_scenarios(FILE *out, const struct report_index *index)
{
    fputs("<table>\n<caption>Each scenario with its verdict. States count for searches; schedules are random "
          "runs.</caption>\n<thead><tr><th scope=\"col\">scenario</th><th scope=\"col\">verdict</th>"
          "<th scope=\"col\">recipe</th><th scope=\"col\">states</th><th scope=\"col\">steps</th>"
          "<th scope=\"col\">schedules</th><th scope=\"col\">why</th><th scope=\"col\">shortest run</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (int i = 0; i < index->count; i++) {
        write_scenario(out, index, &index->items[i]);
    }
    fputs("</tbody>\n</table>", out);
}

/* ---- promises ---- */

enum cell { CELL_OFF, CELL_UNTESTED, CELL_HELD, CELL_DECLARED, CELL_BROKEN, CELLS };

static const struct {
    const char *class, *sign, *word;
} CELL[CELLS] = {
    [CELL_OFF] = {"none", "", "not judged"},
    [CELL_UNTESTED] = {"none", "\u25cb", "not put to the test"},
    [CELL_HELD] = {"pass", "\u2714", "held"},
    [CELL_DECLARED] = {"limit", "\u2260", "broken, as the file says"},
    [CELL_BROKEN] = {"fail", "\u2718", "broken"},
};

static enum cell cell_of(const struct report_item *item, int property)
{
    LS_ASSERT(property >= 0 && property < CHECK_PROPERTIES_MAX);
    if (!item->finished) {
        return CELL_OFF;
    }
    bool declared = (item->scenario->violates >> property & 1) != 0;
    bool broken = outcome_verdict(item->outcome, property) == CHECK_VIOLATED ||
                  outcome_also(&item->outcome->stats.finding[property]) != NULL;
    if (broken) {
        return declared ? CELL_DECLARED : CELL_BROKEN;
    }
    bool held = outcome_verdict(item->outcome, property) == CHECK_HOLDS;
    bool chosen = (item->outcome->mask >> property & 1) != 0;
    return held ? CELL_HELD : chosen ? CELL_UNTESTED : CELL_OFF;
}

/* Returns the set of the properties that some scenario chose or broke. */
static check_mask judged_of(const struct report_index *index)
{
    check_mask judged = 0;
    LS_ASSERT(check_count() <= CHECK_PROPERTIES_MAX);
    for (int p = 0; p < check_count(); p++) {
        for (int i = 0; i < index->count; i++) {
            judged |= cell_of(&index->items[i], p) != CELL_OFF ? CHECK_BIT(p) : 0;
        }
    }
    return judged;
}

static void write_cell(FILE *out, enum cell cell)
{
    LS_ASSERT((int)cell < CELLS);
    fprintf(out, "<td class=\"%s\">%s<i>%s</i></td>", CELL[cell].class, CELL[cell].sign, CELL[cell].word);
}

static void write_promise_names(FILE *out, check_mask judged)
{
    int known;
    const struct property *const *all = check_all(&known);
    fputs("<thead><tr><th scope=\"col\">scenario</th>", out);
    for (int p = 0; p < known; p++) {
        if ((judged >> p & 1) != 0) {
            fputs("<th scope=\"col\" title=\"", out);
            html_text(out, all[p]->sentence);
            fputs("\"><span>", out);
            html_text(out, all[p]->name);
            fputs("</span></th>", out);
        }
    }
    fputs("</tr></thead>\n", out);
}

/* Writes in how many scenarios each promise held, and in how many it was violated undeclared. */
static void write_promise_sums(FILE *out, const struct report_index *index, check_mask judged)
{
    static const enum cell ROWS[] = {CELL_HELD, CELL_BROKEN};
    fputs("<tfoot>", out);
    for (size_t row = 0; row < sizeof ROWS / sizeof ROWS[0]; row++) {
        fprintf(out, "<tr><th scope=\"row\">%s %s</th>", CELL[ROWS[row]].sign, CELL[ROWS[row]].word);
        for (int p = 0; p < check_count(); p++) {
            int count = 0;
            for (int i = 0; i < index->count; i++) {
                count += cell_of(&index->items[i], p) == ROWS[row];
            }
            if ((judged >> p & 1) != 0) {
                fprintf(out, "<td>%d</td>", count);
            }
        }
        fputs("</tr>\n", out);
    }
    fputs("</tfoot>", out);
}

static void write_promises(FILE *out, const struct report_index *index)
{
    check_mask judged = judged_of(index);
    fputs("<table class=\"matrix\">\n<caption>\u2714 held; \u2718 broken; \u2260 broken, as the file says; "
          "\u25cb judged, but its situation never came up; empty: not judged.</caption>\n",
          out);
    write_promise_names(out, judged);
    fputs("<tbody>\n", out);
    for (int i = 0; i < index->count; i++) {
        begin_row(out, &index->items[i]);
        for (int p = 0; p < check_count(); p++) {
            if ((judged >> p & 1) != 0) {
                write_cell(out, cell_of(&index->items[i], p));
            }
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n", out);
    write_promise_sums(out, index, judged);
    fputs("</table>", out);
}

/* ---- wake-ups ---- */

#define HERD "at_most_one_wakeup_per_release"

static void write_wakeup(FILE *out, const struct report_item *item, int herd)
{
    enum cell cell = cell_of(item, herd);
    const struct check_finding *finding = &item->outcome->stats.finding[herd];
    begin_row(out, item);
    if (cell == CELL_HELD) {
        fputs("<td class=\"pass\">\u2714 no more than it admits</td><td class=\"text\"></td></tr>\n", out);
        return;
    }
    LS_ASSERT(cell == CELL_BROKEN || cell == CELL_DECLARED);
    fprintf(out, "<td class=\"%s\">%s more than it admits</td><td class=\"text\">", CELL[cell].class,
            CELL[cell].sign);
    html_text(out, finding->why);
    fputs("</td></tr>\n", out);
}

/* Lists the scenarios in which the property HERD holds or is violated. */
static void write_wakeups(FILE *out, const struct report_index *index)
{
    int herd = check_position(HERD), shown = 0;
    LS_ASSERT(herd >= 0);
    for (int i = 0; i < index->count; i++) {
        enum cell cell = cell_of(&index->items[i], herd);
        if (cell == CELL_OFF || cell == CELL_UNTESTED) {
            continue;
        }
        if (shown++ == 0) {
            fputs("<table>\n<caption>Processes that the end of one contender wakes, in scenarios in which it "
                  "wakes "
                  "any.</caption>\n<thead><tr><th scope=\"col\">scenario</th>"
                  "<th scope=\"col\">one release wakes</th><th "
                  "scope=\"col\">example</th></tr></thead>\n<tbody>\n",
                  out);
        }
        write_wakeup(out, &index->items[i], herd);
    }
    fputs(shown > 0 ? "</tbody>\n</table>" : "<p>No scenario judged " HERD ".</p>", out);
}

/* ---- the page ---- */

static void write_part(FILE *out, const char *name, size_t size, const void *ctx)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out, const struct report_index *index);
    } PARTS[] = {{"title", write_title},
                 {"head", write_head},
                 {"proved", write_proved},
                 {"scenarios", write_scenarios},
                 {"promises", write_promises},
                 {"wakeups", write_wakeups},
                 {"coverage", report_index_coverage}};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (size == strlen(PARTS[i].name) && memcmp(name, PARTS[i].name, size) == 0) {
            PARTS[i].write(out, ctx);
            return;
        }
    }
    bool css = size == strlen("css") && memcmp(name, "css", size) == 0;
    LS_ASSERT(css || (size == strlen("js") && memcmp(name, "js", size) == 0));
    fputs(css ? report_index_css : report_index_js, out);
}

void report_index(FILE *out, const struct report_index *index)
{
    LS_ASSERT(index->count >= 0 && index->command != NULL && index->worlds != NULL);
    html_fill(out, report_index_html, write_part, index);
}
