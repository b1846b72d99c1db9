/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A replay as text for people. docs/cli.md shows it. */
#include "replay/replay.h"

#include <stdio.h>

struct printer {
    FILE *out;
    const struct run *run;
};

static void print_head(void *ctx, const struct trace *trace, struct run *run)
{
    struct printer *printer = ctx;
    FILE *out = printer->out;
    printer->run = run;
    fprintf(out, "scenario %s\n", trace->name);
    fprintf(out, "recipe   %s\n", trace->recipe);
    fprintf(out, "schedule %s, seed %llu\n", trace->schedule, (unsigned long long)trace->seed);
    if (trace->without[0] != 0) {
        fprintf(out, "without  %s\n", trace->without);
    }
    for (int i = 0; i < trace->properties; i++) {
        fprintf(out, "property %s of %s\n", trace->property[i].name, trace->property[i].path);
    }
    fprintf(out, "found    %s\n\n", trace->found);
}

static void print_choice(void *ctx, const struct replay_step *step)
{
    FILE *out = ((struct printer *)ctx)->out;
    const char *between = step->remark[0] != 0 ? ": " : "";
    if (step->number > 0) {
        fprintf(out, "%5llu  %s%s%s\n", (unsigned long long)step->number, step->label, between, step->remark);
    } else {
        fprintf(out, "%5s  %s\n", "-", step->label);
    }
    if (step->note[0] != 0) {
        fprintf(out, "%*s%s\n", REPLAY_INDENT, "", step->note);
    }
}

static void print_step(void *ctx, const struct replay_step *step)
{
    const struct printer *printer = ctx;
    const struct check_stats *stats = &printer->run->stats;
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(stats, step->violated, violated);
    fputs(step->text, printer->out);
    for (int i = 0; i < count; i++) {
        fprintf(printer->out, "%*s! %s: %s\n", REPLAY_INDENT, "", all[violated[i]]->name,
                stats->finding[violated[i]].why);
    }
}

static void print_end(void *ctx)
{
    const struct printer *printer = ctx;
    const struct run *run = printer->run;
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&run->stats, CHECK_ALL, violated);
    unsigned long long steps = (unsigned long long)run->steps;
    fputc('\n', printer->out);
    for (int i = 0; i < count; i++) {
        const struct check_finding *finding = &run->stats.finding[violated[i]];
        fprintf(printer->out, "%s is violated at step %llu of %llu: %s\n", all[violated[i]]->name,
                (unsigned long long)finding->step, steps, finding->why);
        fprintf(printer->out, "  promised: %s\n", all[violated[i]]->sentence);
    }
    const char *trouble = run_trouble(run);
    if (trouble) {
        fprintf(printer->out, "%s\n", trouble);
    }
    if (run->stats.violated == 0) {
        fprintf(printer->out, "no property is violated in %llu steps\n", steps);
    }
}

enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error)
{
    struct printer printer = {.out = out};
    struct replay_listener listener = {&printer, print_head, print_choice, print_step, print_end};
    return replay_run(trace, &listener, error);
}
