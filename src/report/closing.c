/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The lines before the last one: the outcome of all scenarios together. */
#include "base/assert.h"
#include "report/report.h"
#include <lockstep/sim.h>

#include <string.h>

#define PROMISES_MAX 8 /* most promises that are named with their number of scenarios */
#define TEXT_LINES 12  /* most lines of a difference */

struct whole {
    const struct report_item *items;
    int count;
    int violating, differing;
};

static bool has(const struct report_item *item, enum verdict verdict)
{
    return item->finished && item->outcome->verdict == verdict;
}

static struct whole look_at(const struct report_item *items, int count)
{
    struct whole whole = {.items = items, .count = count};
    for (int i = 0; i < count; i++) {
        whole.violating += has(&items[i], VERDICT_VIOLATED);
        whole.differing += has(&items[i], VERDICT_DIFFERS);
    }
    LS_ASSERT(whole.violating + whole.differing <= count);
    return whole;
}

/* Lists scenarios that differ, in the lines that violating ones leave of REPORT_FAILURES_MAX. Writes how many
 * scenarios of both kinds are not listed. */
static void list_differing(FILE *out, const struct whole *whole)
{
    int shown = whole->violating < REPORT_FAILURES_MAX ? whole->violating : REPORT_FAILURES_MAX;
    for (int i = 0; i < whole->count && shown < REPORT_FAILURES_MAX; i++) {
        const struct report_item *item = &whole->items[i];
        if (has(item, VERDICT_DIFFERS)) {
            report_head(out, item);
            fputs("  differs from what the file expects\n", out);
            report_notes(out, item->outcome);
            shown++;
        }
    }
    int left = whole->violating + whole->differing - shown;
    LS_ASSERT(left >= 0 && shown <= REPORT_FAILURES_MAX);
    if (left > 0) {
        fprintf(out, "and %d more: --verbose\n", left);
    }
}

static size_t folder_size(const struct report_item *item)
{
    const char *name = item->scenario->input.name, *slash = strrchr(name, '/');
    return slash != NULL ? (size_t)(slash - name) : 0;
}

static bool is_counted(const struct report_item *item)
{
    return item->finished && !item->named;
}

static bool is_beside(const struct report_item *a, const struct report_item *b)
{
    size_t size = folder_size(a);
    return size == folder_size(b) && strncmp(a->scenario->input.name, b->scenario->input.name, size) == 0;
}

/* Writes a line for each folder that has finished scenarios which the user has not named. */
static void count_folders(FILE *out, const struct whole *whole)
{
    for (int i = 0; i < whole->count; i++) {
        const struct report_item *first = &whole->items[i];
        bool begun = !is_counted(first) || (i > 0 && is_counted(first - 1) && is_beside(first, first - 1));
        int passed = 0, all = 0;
        for (int j = 0; j < whole->count && !begun; j++) {
            const struct report_item *item = &whole->items[j];
            if (is_counted(item) && is_beside(first, item)) {
                begun = j < i;
                passed += report_passes(item);
                all++;
            }
        }
        if (!begun) {
            LS_ASSERT(passed <= all && all > 0);
            size_t size = folder_size(first);
            fprintf(out, "%.*s: %d of %d passed\n", size > 0 ? (int)size : 1,
                    size > 0 ? first->scenario->input.name : ".", passed, all);
        }
    }
}

/* Sums and ranges over the searches that have come to their end. */
struct searches {
    int count;
    uint64_t states;
    int clients_least, clients_most, faults_least, faults_most;
    unsigned kinds; /* set of kinds of fault with a budget */
    double omissions;
};

static void extend(int *least, int *most, int number)
{
    *least = number < *least ? number : *least;
    *most = number > *most ? number : *most;
    LS_ASSERT(*most >= number && *least <= number);
}

static struct searches sum_up(const struct whole *whole)
{
    struct searches sum = {.clients_least = WORLD_PROCESSES_MAX, .faults_least = 255};
    for (int i = 0; i < whole->count; i++) {
        const struct report_item *item = &whole->items[i];
        if (!item->finished || !item->outcome->exhausted || item->outcome->search.complete_faults < 0) {
            continue;
        }
        const struct world_options *options = &item->scenario->options;
        sum.count++;
        sum.states += item->outcome->search.states;
        sum.omissions += item->outcome->search.expected_omissions;
        extend(&sum.clients_least, &sum.clients_most, options->processes);
        extend(&sum.faults_least, &sum.faults_most, item->outcome->search.complete_faults);
        for (int fault = 0; fault < WORLD_FAULTS; fault++) {
            sum.kinds |= (unsigned)(options->budget[fault] > 0) << fault;
        }
    }
    return sum;
}

static void say_range(FILE *out, int least, int most)
{
    LS_ASSERT(least <= most);
    fprintf(out, "%d", least);
    if (most > least) {
        fprintf(out, " to %d", most);
    }
}

/* Returns the largest p for which the odds are at most 1 in 10^p. */
static int power_of_odds(double omissions)
{
    LS_ASSERT(omissions > 0); /* or the loop has no end */
    int power = 0;
    for (; omissions * 10 <= 1; omissions *= 10) {
        power++;
    }
    LS_ASSERT(power > 0);
    return power;
}

static void say_searches(FILE *out, const struct searches *sum)
{
    LS_ASSERT(sum->count > 0);
    const char *between = " (";
    fprintf(out, "searched to the end: %d, %llu states; clients: ", sum->count,
            (unsigned long long)sum->states);
    say_range(out, sum->clients_least, sum->clients_most);
    fputs("; faults in a run: at most ", out);
    say_range(out, sum->faults_least, sum->faults_most);
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        if ((sum->kinds >> fault & 1) != 0) {
            fprintf(out, "%s%s", between, world_fault_name((enum world_fault)fault));
            between = ", ";
        }
    }
    fputs(sum->kinds != 0 ? ")\n" : "\n", out);
    if (sum->omissions > 0 && sum->omissions <= 0.1) {
        fprintf(out,
                "  states are told apart by 64 bits: the odds that one was taken for another are below 1 in "
                "10^%d\n",
                power_of_odds(sum->omissions));
    }
}

/* Writes `before` and the names of the properties of a set; nothing for an empty set. */
static void say_names(FILE *out, const char *before, check_mask set)
{
    int known;
    const struct property *const *all = check_all(&known);
    for (int p = 0; p < known; p++) {
        if ((set >> p & 1) != 0) {
            fprintf(out, "%s%s", before, all[p]->name);
            before = ", ";
        }
    }
}

/* Writes how many promises were tested and kept, and which were broken as a file says, or never tested. */
static void say_promises(FILE *out, const struct whole *whole)
{
    int known, kept = 0;
    check_mask tested = 0, broken = 0;
    bool several = false, leases = false;
    check_all(&known);
    for (int i = 0; i < whole->count; i++) {
        several |= whole->items[i].scenario->options.several;
        leases |= scenario_has_leases(whole->items[i].scenario);
        for (int p = 0; p < known && whole->items[i].finished; p++) {
            enum check_verdict verdict = outcome_verdict(whole->items[i].outcome, p);
            tested |= verdict != CHECK_NOT_JUDGED ? CHECK_BIT(p) : 0;
            broken |= verdict == CHECK_VIOLATED ? CHECK_BIT(p) : 0;
        }
    }
    check_mask elsewhere =
        check_special_mask(false, !several, !leases) | check_special_mask(true, !several, !leases);
    for (int p = 0; p < known; p++) {
        kept += ((tested & ~broken) >> p & 1) != 0;
    }
    LS_ASSERT(kept >= 0 && kept <= known);
    fprintf(out, "promises kept: %d", kept);
    say_names(out, "; broken where a file says so: ", broken);
    say_names(out, "; never put to the test: ", ~(tested | elsewhere));
    fputc('\n', out);
}

static void say_proved(FILE *out, const struct whole *whole)
{
    struct searches sum = sum_up(whole);
    int directed = 0, tried = 0;
    for (int i = 0; i < whole->count; i++) {
        const struct report_item *item = &whole->items[i];
        directed += report_passes(item) && !item->scenario->exploring;
        tried += report_passes(item) && item->tried;
    }
    if (directed > 0) {
        fprintf(out, "went as their files expect: %d\n", directed);
    }
    if (sum.count > 0) {
        say_searches(out, &sum);
    }
    if (tried > 0) {
        fprintf(out, "searched in part, then tried with random schedules: %d\n", tried);
    }
    say_promises(out, whole);
}

/* Writes in how many scenarios promises are violated, the most frequent first. Names at most PROMISES_MAX
 * promises, and counts the others. */
static void count_violated(FILE *out, const struct whole *whole)
{
    int known, times[CHECK_PROPERTIES_MAX] = {0}, named = 0, kinds = 0;
    const struct property *const *all = check_all(&known);
    for (int i = 0; i < whole->count; i++) {
        const struct report_item *item = &whole->items[i];
        bool violates = has(item, VERDICT_VIOLATED);
        check_mask mask = violates ? outcome_known_violations(item->outcome) & ~item->scenario->violates : 0;
        for (int p = 0; p < known; p++) {
            times[p] += (mask >> p & 1) != 0;
        }
    }
    for (int p = 0; p < known; p++) {
        kinds += times[p] > 0;
    }
    for (; named < kinds && named < PROMISES_MAX; named++) {
        int most = 0;
        for (int p = 1; p < known; p++) {
            most = times[p] > times[most] ? p : most;
        }
        LS_ASSERT(times[most] > 0);
        fprintf(out, "violated in %d scenario%s: %s\n", times[most], times[most] == 1 ? "" : "s",
                all[most]->name);
        times[most] = 0;
    }
    LS_ASSERT(named <= kinds && named <= PROMISES_MAX);
    if (kinds > named) {
        fprintf(out, "violated besides: %d promises\n", kinds - named);
    }
}

static uint64_t steps_of(const struct outcome *outcome)
{
    bool shrunk = outcome->shrunk[0] && outcome->shrunk_steps > 0;
    return shrunk ? (uint64_t)outcome->shrunk_steps : outcome->last_steps;
}

/* Returns the violating item with the fewest steps among those with a story; if none has one, the first. */
static const struct report_item *shortest(const struct whole *whole)
{
    const struct report_item *best = NULL;
    for (int i = 0; i < whole->count; i++) {
        const struct report_item *item = &whole->items[i];
        if (!has(item, VERDICT_VIOLATED)) {
            continue;
        }
        bool told = item->outcome->story[0] != 0;
        bool better = best == NULL || (told && best->outcome->story[0] == 0) ||
                      (told && steps_of(item->outcome) < steps_of(best->outcome));
        best = better ? item : best;
    }
    return best;
}

static void say_sentences(FILE *out, const struct report_item *item)
{
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, list);
    for (int i = 0; i < count && list[i].where == NULL; i++) {
        fprintf(out, "  | %s is violated at step %llu: %s\n", list[i].property->name,
                (unsigned long long)list[i].finding->step, list[i].finding->why);
    }
}

static void say_again(FILE *out, const struct report_context *context, const struct outcome *outcome)
{
    const char *trace = report_trace(outcome);
    if (trace[0]) {
        fprintf(out, "again: %s replay %s\n", context->program, trace);
    }
}

static void tell_shortest(FILE *out, const struct report_context *context, const struct report_item *item)
{
    LS_ASSERT(item != NULL && has(item, VERDICT_VIOLATED));
    const struct outcome *outcome = item->outcome;
    fprintf(out, "the shortest run, %llu steps:\n", (unsigned long long)steps_of(outcome));
    report_story(out, outcome);
    if (outcome->story[0] == 0) {
        say_sentences(out, item);
    }
    if (outcome->shrunk[0] && !outcome->shrunk_minimal) {
        fprintf(out, "  it may get shorter: %s shrink %s\n", context->program, outcome->trace);
    }
    say_again(out, context, outcome);
}

/* Writes the first `most` lines of a text, and the number of lines behind them. */
static void say_lines(FILE *out, const char *text, const char *end, int most)
{
    LS_ASSERT(text <= end);
    int left = 0;
    while (text < end && *text) {
        int size = (int)strcspn(text, "\n");
        if (most-- > 0) {
            fprintf(out, "%.*s\n", size, text);
        } else {
            left++;
        }
        text += size + (text[size] == '\n');
    }
    if (left > 0) {
        fprintf(out, "  and %d more lines: --verbose\n", left);
    }
}

/* Writes the first TEXT_LINES lines of the first difference. Writes all of it if one scenario differs, and
 * the user has named that scenario. */
static void tell_difference(FILE *out, const struct report_context *context, const struct whole *whole)
{
    const struct report_item *first = NULL;
    for (int i = 0; i < whole->count && first == NULL; i++) {
        const struct report_item *item = &whole->items[i];
        first = has(item, VERDICT_DIFFERS) && item->outcome->diff_size > 0 ? item : NULL;
    }
    if (first != NULL) {
        const char *text = first->outcome->text + first->outcome->diff_at;
        LS_ASSERT(first->outcome->diff_at + first->outcome->diff_size <= (int)sizeof first->outcome->text);
        fprintf(out, "the first difference, in %s:\n", first->scenario->input.name);
        say_lines(out, text, text + first->outcome->diff_size,
                  whole->differing == 1 && first->named ? INT32_MAX : TEXT_LINES);
        say_again(out, context, first->outcome);
    }
}

static bool any_fails(const struct whole *whole)
{
    bool fails = false;
    for (int i = 0; i < whole->count; i++) {
        fails |= report_fails(&whole->items[i]);
    }
    return fails;
}

static void say_broken(FILE *out, const struct whole *whole)
{
    LS_ASSERT(whole->violating > 0);
    count_violated(out, whole);
    if (whole->differing > 0) {
        fprintf(out, "broke no promise, and went otherwise than the file says: %d\n", whole->differing);
    }
}

void report_text_verdicts(FILE *out, const struct report_item *items, int count)
{
    struct whole whole = look_at(items, count);
    if (whole.violating > 0) {
        say_broken(out, &whole);
    } else if (whole.differing > 0) {
        fprintf(out, "went otherwise than the file says: %d\n", whole.differing);
    }
    if (!any_fails(&whole)) {
        say_proved(out, &whole);
    }
}

void report_text_closing(FILE *out, const struct report_context *context, const struct report_item *items,
                         int count)
{
    struct whole whole = look_at(items, count);
    if (!context->verbose) {
        list_differing(out, &whole);
    }
    if (!context->verbose && !context->quiet) {
        count_folders(out, &whole);
    }
    if (whole.violating > 0) {
        say_broken(out, &whole);
        if (!context->verbose) { /* a verbose context has told it already */
            tell_shortest(out, context, shortest(&whole));
        }
    } else if (!context->verbose) {
        tell_difference(out, context, &whole);
    }
    if (!any_fails(&whole) && !context->quiet) {
        say_proved(out, &whole);
    }
}
