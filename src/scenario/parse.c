/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Splits lines into groups: headers, commands, `----`, the expected part up to an empty line, commands
 * again. */

#include "scenario/parser.h"

#include "base/array.h"
#include "base/assert.h"
#include "check/check.h"
#include "coord/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scenario_command *add_command(struct scenario *scenario)
{
    bool room = array_resize(&scenario->command, (size_t)scenario->commands + 1, sizeof *scenario->command);
    return room ? &scenario->command[scenario->commands++] : NULL;
}

static struct scenario_group *add_group(struct scenario *scenario)
{
    bool room = array_resize(&scenario->group, (size_t)scenario->groups + 1, sizeof *scenario->group);
    return room ? &scenario->group[scenario->groups++] : NULL;
}

bool parser_goes_on(struct parser *parser)
{
    struct input_mistakes *mistakes = parser->mistakes;
    LS_ASSERT(mistakes == NULL || mistakes->count <= INPUT_MISTAKES_MAX);
    /* If a complaint of the expected part is the last that fits, the loop over the lines asks once more. */
    bool full = mistakes == NULL || mistakes->count == INPUT_MISTAKES_MAX;
    LS_ASSERT(full || parser->error == &mistakes->mistake[mistakes->count]);
    if (full || ++mistakes->count == INPUT_MISTAKES_MAX) {
        return false;
    }
    parser->error = &mistakes->mistake[mistakes->count];
    return true;
}

static bool any_mistake(const struct parser *parser)
{
    return parser->mistakes != NULL && parser->mistakes->count > 0;
}

/* ---- the expected part ---- */

/* Refuses a command or `----` without an empty line before it: the next --rewrite would lose it. In a timed
 * world, also refuses a line that does not begin with `[`. */
static int check_event_line(struct parser *parser, const struct input_word *first)
{
    struct input_word second = input_next_word(&parser->cursor);
    bool command =
        verb_find(first, false) || (parser_process(parser, first) >= 0 && verb_find(&second, true));
    if (command || input_word_is(first, "----")) {
        return parser_wrong(parser, first, "an empty line before the next command");
    }
    if (parser->scenario->options.timed && first->text[0] != '[') {
        return parser_wrong(parser, first, "'[' and a time, 'holds', 'violates' or an empty line");
    }
    return 0;
}

const char *scenario_count_name(int count)
{
    static const char *const NAMES[] = {"states", "transitions"};
    LS_ASSERT(count >= 0 && count < SCENARIO_COUNTS);
    return NAMES[count];
}

/* Reads a line `states N` or `transitions N`. Returns 1, 0 for another line, -1 after a complaint. */
static int read_count(struct parser *parser, const struct input_word *first)
{
    struct scenario *scenario = parser->scenario;
    int count = 0;
    while (count < SCENARIO_COUNTS && !input_word_is(first, scenario_count_name(count))) {
        count++;
    }
    if (count == SCENARIO_COUNTS) {
        return 0;
    }
    if (scenario->count_given[count]) {
        return parser_wrong(parser, first, "each count once");
    }
    struct input_word word = input_next_word(&parser->cursor);
    int64_t number;
    if (parser_integer(parser, &word, "a number that is not negative", 0, INT64_MAX, &number) != 0 ||
        parser_end_of_line(parser) != 0) {
        return -1;
    }
    scenario->count[count] = (uint64_t)number;
    scenario->count_given[count] = true;
    return 1;
}

/* Reads a line `not-tried KEY...`. Returns 1, 0 for another line, -1 after a complaint. */
static int read_not_tried(struct parser *parser, const struct input_word *first)
{
    struct scenario *scenario = parser->scenario;
    if (!input_word_is(first, "not-tried")) {
        return 0;
    }
    struct input_word word = input_next_word(&parser->cursor);
    do {
        if (!word.text || !tried_add(&scenario->not_tried, scenario, word.text, word.size)) {
            return parser_wrong(parser, &word,
                                "a fault with a budget, a step (a.release.2) or an end (a.end) of a program");
        }
        word = input_next_word(&parser->cursor);
    } while (word.text);
    scenario->not_tried_given = true;
    return 1;
}

/* Reads a claim of the expected part. In a directed scenario any other line is a line of the trace. */
static int read_claim(struct parser *parser)
{
    struct scenario *scenario = parser->scenario;
    struct input_word word = input_next_word(&parser->cursor);
    if (!word.text) {
        return 0; /* a comment */
    }
    int count = scenario->exploring ? read_count(parser, &word) : 0;
    count = count == 0 && scenario->exploring ? read_not_tried(parser, &word) : count;
    if (count != 0) {
        return count < 0 ? -1 : 0;
    }
    bool holds = input_word_is(&word, "holds") != 0;
    if (!holds && !input_word_is(&word, "violates")) {
        return scenario->exploring
                   ? parser_wrong(parser, &word,
                                  "'holds', 'violates', 'states', 'transitions' or 'not-tried'")
                   : check_event_line(parser, &word);
    }
    if (parser_properties(parser, holds ? &scenario->holds : &scenario->violates) != 0 ||
        parser_check_clock(parser) != 0) {
        return -1;
    }
    return scenario->holds & scenario->violates
               ? parser_wrong(parser, &word, "no property that both holds and is violated")
               : 0;
}

/* Reads up to an empty line, which is consumed, or to the end. */
static int read_expected(struct parser *parser, struct scenario_group *group)
{
    group->expected_start = group->expected_end = parser->cursor.next;
    while (input_next_line(&parser->cursor) && parser->cursor.size > 0) {
        if (read_claim(parser) != 0 && !parser_goes_on(parser)) {
            return -1;
        }
        group->expected_end = parser->cursor.next;
    }
    size_t size = parser->scenario->input.size; /* the last line, also `----`, may have no line end */
    group->expected_start = group->expected_start < size ? group->expected_start : size;
    group->expected_end = group->expected_end < size ? group->expected_end : size;
    LS_ASSERT(group->expected_start <= group->expected_end);
    return 0;
}

struct state {
    int first;         /* index of the first command of the present group */
    bool past_headers; /* a command or `----` was seen */
    bool over;         /* the remaining lines are not read */
};

static int close_group(struct parser *parser, struct state *state, const struct input_word *word)
{
    struct scenario *scenario = parser->scenario;
    LS_ASSERT(state->first <= scenario->commands);
    if (!scenario->exploring && scenario->commands == state->first) {
        return parser_wrong(parser, word, "a command before the expected trace");
    }
    if (scenario->exploring && scenario->groups > 0) {
        return parser_wrong(parser, word, "one expected part");
    }
    struct scenario_group *group = add_group(scenario);
    if (!group) {
        return parser_wrong(parser, word, "memory for this");
    }
    *group = (struct scenario_group){.first = state->first, .count = scenario->commands - state->first};
    state->first = scenario->commands;
    return parser_end_of_line(parser) == 0 ? read_expected(parser, group) : -1;
}

/* Reads a command. A verb with VERB_BOTH adds three commands: the first action, a settle, and the second
 * action. */
static int read_command(struct parser *parser, const struct input_word *word)
{
    LS_ASSERT(parser->scenario->options.locks > 0 && parser->scenario->options.processes > 0);
    struct scenario_command *command = add_command(parser->scenario);
    int result = command ? parser_command(parser, word, command) : -1;
    bool both = result == 0 && command->both;
    struct scenario_command *settle = both ? add_command(parser->scenario) : NULL;
    if (settle) {
        *settle = (struct scenario_command){.line = word->line, .step = STEP_SETTLE};
    }
    struct scenario_command *second = settle ? add_command(parser->scenario) : NULL;
    if (second) {
        LS_ASSERT(parser->second.kind == ACTION_RELEASE && second[-2].both);
        *second =
            (struct scenario_command){.line = word->line, .step = STEP_ACTION, .action = parser->second};
    }
    bool short_of_memory = !command || (both && !second);
    return short_of_memory ? parser_wrong(parser, word, "memory for this") : result;
}

static int read_line(struct parser *parser, struct state *state)
{
    struct input_word word = input_next_word(&parser->cursor);
    if (!word.text) {
        return 0;
    }
    if (!state->past_headers && parser->lock_is_wrong && input_word_is(&word, "process")) {
        return 0;
    }
    if (!state->past_headers) {
        int header = parser_header(parser, &word);
        if (header != 0) {
            return header < 0 ? -1 : 0;
        }
        if (any_mistake(parser)) {
            state->over = true; /* commands may be wrong because the headers are */
            return 0;
        }
        if (!input_word_is(&word, "----") && parser_process(parser, &word) < 0 && !verb_find(&word, false)) {
            return parser_wrong(parser, &word,
                                "a header line (world, mutex, process, ...), a command or '----'");
        }
        state->past_headers = true;
        if (parser_finish_headers(parser, &word) != 0) {
            state->over = true;
            return -1;
        }
    }
    if (input_word_is(&word, "----")) {
        return close_group(parser, state, &word);
    }
    if (parser->scenario->exploring) {
        return parser_wrong(parser, &word, "'----': a file with client programs has no commands");
    }
    return read_command(parser, &word);
}

static int ended_early(struct parser *parser, const struct state *state)
{
    const char *expected = state->past_headers ? "'----' and the expected trace"
                           : parser->scenario->options.processes > 0
                               ? "'----' and what is expected"
                               : "a scenario (mutex PATH, process NAME, commands, ----)";
    return input_complain_words(parser->error, parser->scenario->input.name, parser->cursor.number + 1, 1,
                                "the end of the file", expected);
}

/* Ends a file. A scenario with programs and no line `----` claims nothing; a directed one needs the line. */
static int end_of_file(struct parser *parser, struct state *state)
{
    struct scenario *scenario = parser->scenario;
    if (scenario->groups > 0 && scenario->commands == state->first) {
        return 0;
    }
    const struct input_word end = {.line = parser->cursor.number + 1, .column = 1};
    if (!state->past_headers && scenario->options.locks > 0 && parser_has_program(parser)) {
        if (parser_finish_headers(parser, &end) != 0) {
            return -1;
        }
        struct scenario_group *group = add_group(scenario);
        if (!group) {
            return parser_wrong(parser, &end, "memory for this");
        }
        *group = (struct scenario_group){
            .expected_start = scenario->input.size, .expected_end = scenario->input.size, .unmarked = true};
        return 0;
    }
    return ended_early(parser, state);
}

static int parse_lines(struct parser *parser, struct state *state)
{
    while (!state->over && input_next_line(&parser->cursor)) {
        if (read_line(parser, state) != 0 && !parser_goes_on(parser)) {
            return -1;
        }
    }
    return any_mistake(parser) ? -1 : 0;
}

static int parse(struct scenario *scenario, struct input_error *error, struct input_mistakes *mistakes)
{
    struct parser parser = {.scenario = scenario, .error = error, .mistakes = mistakes, .owner = -1};
    struct state state = {0};
    world_options_default(&scenario->options);
    scenario->options.processes = scenario->options.locks = 0;
    scenario->options.budget_total = 255;
    scenario->show = SHOW_DEFAULT;
    input_cursor_init(&parser.cursor, &scenario->input);
    if (parse_lines(&parser, &state) != 0) {
        return -1;
    }
    if (end_of_file(&parser, &state) != 0) {
        parser_goes_on(&parser);
        return -1;
    }
    LS_ASSERT(scenario->groups > 0 && scenario->exploring == parser_has_program(&parser));
    return 0;
}

void scenario_close(struct scenario *scenario)
{
    for (int i = 0; i < scenario->strings; i++) {
        free(scenario->string[i]);
    }
    free(scenario->string);
    free(scenario->command);
    free(scenario->group);
    input_close(&scenario->input);
    memset(scenario, 0, sizeof *scenario);
}

static int parse_or_close(struct scenario *scenario, struct input_error *error,
                          struct input_mistakes *mistakes)
{
    if (parse(scenario, error, mistakes) != 0) {
        bool foreign = scenario->foreign;
        scenario_close(scenario);
        scenario->foreign = foreign;
        return -1;
    }
    return 0;
}

int scenario_read(struct scenario *scenario, const char *path, struct input_mistakes *mistakes)
{
    memset(scenario, 0, sizeof *scenario);
    *mistakes = (struct input_mistakes){.count = 0};
    if (input_load(&scenario->input, path, SCENARIO_BYTES_MAX, &mistakes->mistake[0]) != 0) {
        mistakes->count = 1;
        return -1;
    }
    return parse_or_close(scenario, &mistakes->mistake[0], mistakes);
}

int scenario_read_bytes(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                        struct input_error *error)
{
    return scenario_read_part(scenario, name, bytes, size, 0, 0, error);
}

int scenario_read_part(struct scenario *scenario, const char *name, const char *bytes, size_t size,
                       int lines_before, int columns_before, struct input_error *error)
{
    memset(scenario, 0, sizeof *scenario);
    if (input_copy(&scenario->input, name, bytes, size, SCENARIO_BYTES_MAX, error) != 0) {
        return -1;
    }
    scenario->input.lines_before = lines_before;
    scenario->input.columns_before = columns_before;
    return parse_or_close(scenario, error, NULL);
}

bool scenario_has_leases(const struct scenario *scenario)
{
    return coordinator_find(scenario->options.coordinator)->leases;
}

check_mask scenario_mask(const struct scenario *scenario, bool random)
{
    bool timed = scenario->options.timed && (scenario->exploring || !random);
    check_mask named = scenario->properties;
    check_mask all = check_default_mask(timed), loaded = check_loaded_mask();
    all |= check_special_mask(timed, scenario->options.several, scenario_has_leases(scenario));
    check_mask mask = named ? named | (loaded & all) : all;
    mask = random && !scenario->exploring ? mask & all : mask | scenario->holds | scenario->violates;
    return scenario->built_in_only ? mask & ~loaded : mask;
}

/* Takes the opening comment up to its first full stop at the end of a line or before a blank. */
const char *scenario_summary(const struct scenario *scenario, char *text, size_t size)
{
    struct input_cursor cursor;
    size_t used = 0;
    bool ended = false;
    text[0] = 0;
    input_cursor_init(&cursor, &scenario->input);
    while (!ended && input_next_line(&cursor) && cursor.size > 1 && cursor.line[0] == '#') {
        size_t at = 1;
        while (at < cursor.size && (cursor.line[at] == ' ' || cursor.line[at] == '#')) {
            at++;
        }
        if (used > 0 && used + 1 < size) {
            text[used++] = ' ';
        }
        for (; at < cursor.size && used + 1 < size && !ended; at++) {
            text[used++] = cursor.line[at];
            ended = cursor.line[at] == '.' && (at + 1 == cursor.size || cursor.line[at + 1] == ' ');
        }
    }
    LS_ASSERT(used < size);
    text[used] = 0;
    return text;
}
