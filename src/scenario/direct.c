/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/direct.h"

#include "base/assert.h"
#include "base/file.h"
#include "scenario/text_diff.h"

#include <errno.h>
#include <lockstep/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void impossible(struct run *run, const char *verb, const char *words)
{
    if (run->narrator) {
        narrator_note(run->narrator, world_now_ms(run->world), verb, words);
    }
}

static void do_action(struct run *run, const struct scenario_command *command)
{
    struct action action;
    if (run_resolve(run, command, &action) != 0 || run_apply(run, &action) != 0) {
        char text[WORLD_LABEL_MAX];
        run_command_text(run, command, text, sizeof text);
        impossible(run, "cannot", text);
    }
}

/* Runs the default schedule until the labelled action is possible. Returns whether it became possible. */
static bool run_until(struct run *run, const char *label)
{
    LS_ASSERT(label != NULL);
    struct action wanted, next;
    const char *why;
    for (int i = 0; i < RUN_SETTLE_STEPS_MAX; i++) {
        if (world_find(run->world, label, &wanted, &why) == 0) {
            return true;
        }
        if (run_trouble(run) || !world_default_action(run->world, &next) || run_apply(run, &next) != 0) {
            return false;
        }
    }
    run->overflow = true;
    return false;
}

static void do_label(struct run *run, const char *label)
{
    const char *why;
    if (run_apply_label(run, label, &why) != 0) {
        impossible(run, "cannot", label);
    }
}

/* Passes time, and notes in the story if the clock could not go so far: it stops after 23 days. */
static void pass_time(struct run *run, int ms)
{
    int64_t before = world_now_ms(run->world);
    run_pass_time(run, ms);
    if (run->setup.scenario->options.timed && !run_trouble(run) && world_now_ms(run->world) - before < ms) {
        char text[32];
        snprintf(text, sizeof text, "advance %dms", ms);
        impossible(run, "cannot", text);
    }
}

static bool is_of(const struct run *run, const struct scenario_group *group,
                  const struct scenario_command *command)
{
    ptrdiff_t index = command - run->setup.scenario->command;
    return index >= group->first && index < group->first + group->count;
}

static void do_command(struct run *run, const struct scenario_group *group,
                       const struct scenario_command *command)
{
    LS_ASSERT(is_of(run, group, command));
    switch ((enum scenario_step)command->step) {
    case STEP_ACTION:
        do_action(run, command);
        break;
    case STEP_SETTLE:
        run_settle(run);
        break;
    case STEP_ADVANCE:
        pass_time(run, command->ms);
        break;
    case STEP_BEFORE:
        if (!run_until(run, command->text)) {
            impossible(run, "never", command->text);
        }
        break;
    case STEP_AFTER:
        if (run_until(run, command->text)) {
            do_label(run, command->text);
        } else {
            impossible(run, "never", command->text);
        }
        break;
    case STEP_DO:
        do_label(run, command->text);
        break;
    case STEP_REST:
        if (!run_rest(run)) {
            impossible(run, "not-at-rest", "");
        }
        break;
    case STEP_HEAL_ALL:
        run_heal(run);
        break;
    }
}

void direct_group(struct run *run, const struct scenario_group *group)
{
    LS_ASSERT(group->first >= 0 && group->first + group->count <= run->setup.scenario->commands);
    for (int i = 0; i < group->count && !run_trouble(run); i++) {
        do_command(run, group, &run->setup.scenario->command[group->first + i]);
    }
}

struct text {
    char *bytes;
    size_t size;
    FILE *file;
};

static int text_open(struct text *text)
{
    text->file = open_memstream(&text->bytes, &text->size);
    return text->file ? 0 : -1;
}

static void copy(struct text *text, const struct scenario *scenario, size_t from, size_t to)
{
    LS_ASSERT(from <= to && to <= scenario->input.size);
    fwrite(scenario->input.text + from, 1, to - from, text->file);
}

/* Copies lines up to a group's `----` inclusive, and adds the line end that the file's last line may lack. */
static void copy_commands(struct text *text, const struct scenario *scenario, size_t from, size_t to)
{
    LS_ASSERT(to > 0);
    copy(text, scenario, from, to);
    if (scenario->input.text[to - 1] != '\n') {
        fputc('\n', text->file);
    }
}

/* Returns true for a claim and for a comment. */
static bool is_claim(const char *line, size_t size)
{
    static const char *const WORDS[] = {"holds", "violates"};
    while (size > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        size--;
    }
    if (size > 0 && *line == '#') {
        return true;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        size_t length = strlen(WORDS[i]);
        if (size > length && memcmp(line, WORDS[i], length) == 0 && strchr(" \t", line[length]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Copies the claims and comments of a group's expected part (`claims`), or its other lines, without blanks at
 * their ends. */
static void copy_expected(struct text *text, const struct scenario *scenario,
                          const struct scenario_group *group, bool claims)
{
    LS_ASSERT(group->expected_start <= group->expected_end && group->expected_end <= scenario->input.size);
    for (size_t at = group->expected_start; at < group->expected_end;) {
        const char *line = scenario->input.text + at;
        size_t size = strcspn(line, "\n");
        at += size + 1;
        while (size > 0 && strchr(" \t\r", line[size - 1])) {
            size--;
        }
        if (is_claim(line, size) == claims) {
            fprintf(text->file, "%.*s\n", (int)size, line);
        }
    }
}

/* Runs all groups. *expected becomes the scenario's text, *found that text with the observed trace in place
 * of the expected one. In both, lines of expected parts are trimmed, and claims and comments come last. */
static int run_groups(struct run *run, struct text *expected, struct text *found)
{
    const struct scenario *scenario = run->setup.scenario;
    size_t copied = 0;
    if (text_open(expected) != 0 || text_open(found) != 0) {
        return -1;
    }
    for (int i = 0; i < scenario->groups; i++) {
        const struct scenario_group *group = &scenario->group[i];
        direct_group(run, group);
        if (i + 1 == scenario->groups && !run_trouble(run)) {
            run_rest(run);
        }
        copy_commands(expected, scenario, copied, group->expected_start);
        copy_commands(found, scenario, copied, group->expected_start);
        copy_expected(expected, scenario, group, false);
        fputs(narrator_text(run->narrator), found->file);
        narrator_clear(run->narrator);
        copy_expected(expected, scenario, group, true);
        copy_expected(found, scenario, group, true);
        copied = group->expected_end;
    }
    copy(expected, scenario, copied, scenario->input.size);
    copy(found, scenario, copied, scenario->input.size);
    bool written = fclose(expected->file) == 0;
    written = fclose(found->file) == 0 && written;
    return written ? 0 : -1;
}

/* Counts the lines that report a command that could not be followed. */
static int count_in_vain(const char *text)
{
    static const char *const NOTES[] = {" - never ", " - cannot ", " - not-at-rest"};
    int count = 0;
    for (size_t i = 0; i < sizeof NOTES / sizeof NOTES[0]; i++) {
        for (const char *at = strstr(text, NOTES[i]); at != NULL; at = strstr(at + 1, NOTES[i])) {
            count++;
        }
    }
    return count;
}

/* Writes the observed trace into the file, but not if the verdict is `violated` or `limit`, or run_trouble()
 * has a reason. If more lines of the observed trace than of the file report a command that could not be
 * followed, the file stays too. */
static void rewrite(const struct run *run, struct outcome *outcome, const struct text *expected,
                    const struct text *found, bool same)
{
    if (count_in_vain(found->bytes) > count_in_vain(expected->bytes)) {
        outcome_say(outcome, "  not rewritten: a command cannot be followed (never, cannot, not-at-rest)\n");
        return;
    }
    if (outcome->verdict == VERDICT_VIOLATED || outcome->verdict == VERDICT_LIMIT || run_trouble(run)) {
        outcome_say(outcome, "  not rewritten\n");
        return;
    }
    LS_ASSERT(outcome->verdict == VERDICT_HOLDS || outcome->verdict == VERDICT_DIFFERS);
    if (same) {
        return;
    }
    if (file_replace(run->setup.scenario->input.name, found->bytes, found->size) != 0) {
        outcome->verdict = VERDICT_ERROR;
        outcome_say(outcome, "  cannot be rewritten: %s\n", strerror(errno));
        return;
    }
    static struct outcome again; /* too large for the stack */
    again = *outcome;
    again.verdict = VERDICT_HOLDS;
    outcome_judge(&again, run, NULL, true); /* claims of the file are not rewritten, and are told already */
    outcome->verdict = again.verdict;
    outcome_say(outcome, "  rewritten\n");
}

static void judge(struct run *run, const struct direct_options *options, struct outcome *outcome,
                  const struct text *expected, const struct text *found)
{
    bool same = strcmp(expected->bytes, found->bytes) == 0;
    outcome->depth = outcome->steps = run->steps;
    outcome_judge(outcome, run, run_trouble(run), same);
    if (!same) {
        diff_say(outcome, expected->bytes, found->bytes);
    }
    if (options->rewrite) {
        rewrite(run, outcome, expected, found, same);
    }
    if (options->out && (outcome->verdict == VERDICT_VIOLATED || outcome->verdict == VERDICT_DIFFERS)) {
        outcome_write_trace(outcome, run, options->out, "difference");
    }
}

void direct_run(const struct run_setup *setup, const struct direct_options *options, struct outcome *outcome)
{
    struct run run;
    struct text expected = {0}, found = {0};
    outcome->verdict = VERDICT_ERROR;
    if (run_init(&run, setup) != 0) {
        outcome_say(outcome, "  no world can be made: %s\n", strerror(errno));
        return;
    }
    run.narrator = narrator_open(setup->scenario, setup->scenario->show, setup->scenario->options.timed, 0);
    run.recording = true;
    run.watch = options->watch;
    run.watch_event = options->watch_event;
    run.watch_ctx = options->watch_ctx;
    if (run.narrator) {
        run_begin(&run, SCHEDULE_DIRECTED, setup->seed);
        if (run_groups(&run, &expected, &found) == 0) {
            judge(&run, options, outcome, &expected, &found);
        }
    }
    outcome->schedule = SCHEDULE_DIRECTED;
    outcome->seed = world_get_options(run.world)->seed;
    free(expected.bytes);
    free(found.bytes);
    narrator_close(run.narrator);
    run_close(&run);
}
