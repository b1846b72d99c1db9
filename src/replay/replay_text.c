/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A replay as text for people. docs/cli.md shows it. */
#include "replay/replay.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Labels and names are the trace's: a terminal gets no control character of them. */
static void put(FILE *out, const char *text)
{
    utf8_put_plain(out, text, strlen(text));
}

static void put_line(FILE *out, const char *title, const char *text)
{
    fputs(title, out);
    put(out, text);
    fputc('\n', out);
}

void replay_print_head(FILE *out, const struct trace *trace)
{
    put_line(out, "scenario ", trace->name);
    put_line(out, "recipe   ", trace->recipe);
    fprintf(out, "schedule %s, seed %llu\n", trace->schedule, (unsigned long long)trace->seed);
    if (trace->without[0] != 0) {
        put_line(out, "without  ", trace->without);
    }
    for (int i = 0; i < trace->properties; i++) {
        fputs("property ", out);
        put(out, trace->property[i].name);
        put_line(out, " of ", trace->property[i].path);
    }
    put_line(out, "found    ", trace->found);
    fputc('\n', out);
}

void replay_print_choice(FILE *out, const struct replay_step *step)
{
    if (step->number > 0) {
        fprintf(out, "%5llu  ", (unsigned long long)step->number);
    } else {
        fprintf(out, "%5s  ", "-");
    }
    put(out, step->label);
    put_line(out, step->remark[0] != 0 ? ": " : "", step->remark);
    if (step->note[0] != 0) {
        fprintf(out, "%*s%s\n", REPLAY_INDENT, "", step->note);
    }
}

void replay_print_step(FILE *out, const struct replay_step *step, const struct run *run)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&run->stats, step->violated, violated);
    put(out, step->text);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%*s! %s: ", REPLAY_INDENT, "", all[violated[i]]->name);
        put_line(out, "", run->stats.finding[violated[i]].why);
    }
}

void replay_print_end(FILE *out, const struct run *run)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&run->stats, CHECK_ALL, violated);
    unsigned long long steps = (unsigned long long)run->steps;
    for (int i = 0; i < count; i++) {
        const struct check_finding *finding = &run->stats.finding[violated[i]];
        fprintf(out, "%s is violated at step %llu of %llu: ", all[violated[i]]->name,
                (unsigned long long)finding->step, steps);
        put_line(out, "", finding->why);
        put_line(out, "  promised: ", all[violated[i]]->sentence);
    }
    const char *trouble = run_trouble(run);
    if (trouble) {
        put_line(out, "", trouble);
    }
    if (run->stats.violated == 0) {
        fprintf(out, "no property is violated in %llu steps\n", steps);
    }
}

/* ---- all of it ---- */

struct printer {
    FILE *out;
    const struct run *run;
};

static void begin(void *ctx, const struct trace *trace, struct run *run)
{
    struct printer *printer = ctx;
    printer->run = run;
    replay_print_head(printer->out, trace);
}

static void tell_choice(void *ctx, const struct replay_step *step)
{
    replay_print_choice(((const struct printer *)ctx)->out, step);
}

static void tell_step(void *ctx, const struct replay_step *step)
{
    const struct printer *printer = ctx;
    replay_print_step(printer->out, step, printer->run);
}

static void end(void *ctx)
{
    const struct printer *printer = ctx;
    fputc('\n', printer->out);
    replay_print_end(printer->out, printer->run);
}

enum replay_result replay_trace(const struct trace *trace, FILE *out, struct input_error *error)
{
    struct printer printer = {.out = out};
    struct replay_listener listener = {&printer, begin, tell_choice, tell_step, end};
    return replay_run(trace, &listener, error);
}
