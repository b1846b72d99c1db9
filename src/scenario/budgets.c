/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The line `explore`: fault budgets and run constants. Refuses a fault that cannot happen in this world: a
 * search with its budget would say `holds` although no run was tested with that fault. */

#include "base/assert.h"
#include "coord/coordinator.h"
#include "scenario/parser.h"

#include <stdio.h>

static int budget_of(const struct input_word *name)
{
    for (int i = 0; i < WORLD_FAULTS; i++) {
        const char *fault = world_fault_name((enum world_fault)i);
        if (fault != NULL && input_word_is(name, fault)) {
            return i;
        }
    }
    return input_word_is(name, "total") ? PARSER_TOTAL : -1;
}

static int read_budget(struct parser *parser, const struct input_word *word)
{
    struct world_options *options = &parser->scenario->options;
    struct input_word name, number;
    int64_t value;
    parser_split(word, '<', &name, &number);
    if (!number.text || number.size < 2 || number.text[0] != '=') {
        return parser_wrong(parser, word, "FAULT<=N");
    }
    number.text++;
    number.size--;
    number.column++;
    int budget = budget_of(&name);
    if (budget < 0) {
        return parser_wrong(parser, &name, "a fault with a budget (see lockstep list faults) or total");
    }
    if (parser->budget[budget].text) {
        return parser_wrong(parser, &name, "each fault once");
    }
    if (parser_integer(parser, &number, "a number from 0 to 9", 0, 9, &value) != 0) {
        return -1;
    }
    LS_ASSERT(budget <= PARSER_TOTAL && value >= 0 && value <= UINT8_MAX);
    parser->budget[budget] = *word;
    *(budget == PARSER_TOTAL ? &options->budget_total : &options->budget[budget]) = (uint8_t)value;
    return 0;
}

static int read_constants(struct parser *parser, const struct input_word *word,
                          const struct input_word *number)
{
    int64_t value;
    if (parser->scenario->constants > 0) {
        return parser_wrong(parser, word, "constants once");
    }
    if (parser_integer(parser, number, "a number from 1 to 64", 1, 64, &value) != 0) {
        return -1;
    }
    parser->scenario->constants = (int)value;
    return 0;
}

static int read_word(struct parser *parser, const struct input_word *word)
{
    struct input_word name, number;
    parser_split(word, '=', &name, &number);
    bool constants = number.text != NULL && input_word_is(&name, "constants");
    return constants ? read_constants(parser, word, &number) : read_budget(parser, word);
}

int parser_explore(struct parser *parser)
{
    struct input_word word = input_next_word(&parser->cursor);
    parser->explore_given = true;
    do {
        if (read_word(parser, &word) != 0) {
            return -1;
        }
        word = input_next_word(&parser->cursor);
    } while (word.text);
    return 0;
}

static bool somebody_acquires(const struct world_options *options)
{
    for (int p = 0; p < options->processes; p++) {
        for (int i = 0; i < options->program[p].count; i++) {
            if (options->program[p].ops[i].kind == ACTION_ACQUIRE) {
                return true;
            }
        }
    }
    return false;
}

/* Returns what a fault needs and this world lacks; NULL if the fault can happen. */
static const char *lacking(const struct world_options *options, int fault)
{
    LS_ASSERT(fault >= 0 && fault < WORLD_FAULTS);
    if (fault == WORLD_FAULT_CANCEL) {
        return somebody_acquires(options) ? NULL : "a program with an acquire with this fault";
    }
    return coordinator_lacking(options, (enum world_fault)fault);
}

int parser_check_budgets(struct parser *parser)
{
    const struct world_options *options = &parser->scenario->options;
    for (int i = 0; i < WORLD_FAULTS; i++) {
        LS_ASSERT(options->budget[i] == 0 || parser->budget[i].text != NULL);
        const char *needed = options->budget[i] > 0 ? lacking(options, i) : NULL;
        if (needed) {
            return parser_wrong(parser, &parser->budget[i], needed);
        }
        if (options->budget[i] > options->budget_total) {
            char expected[64];
            snprintf(expected, sizeof expected, "a total of at least %d, as %s says", options->budget[i],
                     world_fault_name((enum world_fault)i));
            return parser_wrong(parser, &parser->budget[PARSER_TOTAL], expected);
        }
    }
    return 0;
}
