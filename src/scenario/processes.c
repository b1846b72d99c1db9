/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Parses the lines that name processes, and their programs:
 *
 *     process a b c
 *     process d asleep
 *     process a b: acquire release forever
 *     process a owner=1: acquire release
 *
 * The last line gives one owner of a process a program of its own (struct world_task).
 */
#include "base/assert.h"
#include "scenario/parser.h"

#include <string.h>

#define ALL_OWNERS (-1)

/* The words before the colon. */
struct head {
    int process[WORLD_PROCESSES_MAX];
    int processes;
    int owner;
    bool asleep;
    struct input_word old; /* the first name that an earlier line declared; no text = none */
};

static int add_process(struct parser *parser, const struct input_word *word)
{
    struct world_options *options = &parser->scenario->options;
    if (options->processes == WORLD_PROCESSES_MAX) {
        return parser_wrong(parser, word, "at most " PARSER_DIGITS(WORLD_PROCESSES_MAX) " processes");
    }
    if (parser_new_name(parser, word) != 0) {
        return -1;
    }
    LS_ASSERT(word->size < WORLD_NAME_MAX && options->program[options->processes].count == 0);
    memcpy(options->name[options->processes], word->text, word->size);
    options->autostart[options->processes++] = true;
    return 0;
}

static bool is_of(const struct head *head, int process)
{
    for (int i = 0; i < head->processes; i++) {
        if (head->process[i] == process) {
            return true;
        }
    }
    return false;
}

static int read_name(struct parser *parser, const struct input_word *word, struct head *head)
{
    int process = parser_process(parser, word);
    if (process < 0 || is_of(head, process)) {
        process = parser->scenario->options.processes;
        if (add_process(parser, word) != 0) {
            return -1;
        }
    } else if (!head->old.text) {
        head->old = *word;
    }
    LS_ASSERT(head->processes < WORLD_PROCESSES_MAX && process < parser->scenario->options.processes);
    head->process[head->processes++] = process;
    return 0;
}

/* Reads a name, `asleep`, or owner=N. After the last two no word may follow. */
static int read_word(struct parser *parser, const struct input_word *word, struct head *head)
{
    struct input_word key, value;
    parser_split(word, '=', &key, &value);
    if (head->owner != ALL_OWNERS) {
        return parser_wrong(parser, word, "':' and the operations of this owner");
    }
    if (head->asleep) {
        return parser_wrong(parser, word, "':' or the end of the line");
    }
    if (head->processes > 0 && value.text && input_word_is(&key, "owner")) {
        return parser_owner(parser, &value, &head->owner);
    }
    head->asleep = head->processes > 0 && input_word_is(word, "asleep");
    return head->asleep ? 0 : read_name(parser, word, head);
}

/* Refuses names of earlier lines, except in a line with an owner. */
static int check_head(struct parser *parser, const struct head *head, const struct input_word *end,
                      bool colon)
{
    if (head->processes == 0) {
        return parser_wrong(parser, end, "the name of a process");
    }
    if (head->owner != ALL_OWNERS && !colon) {
        return parser_wrong(parser, end, "':' and the operations of this owner");
    }
    return head->old.text && head->owner == ALL_OWNERS ? parser_new_name(parser, &head->old) : 0;
}

static int read_head(struct parser *parser, struct head *head, bool *colon)
{
    struct input_word word = input_next_word(&parser->cursor);
    *head = (struct head){.owner = ALL_OWNERS};
    *colon = false;
    while (word.text && !*colon) {
        LS_ASSERT(word.size > 0);
        *colon = word.text[word.size - 1] == ':';
        word.size -= *colon;
        bool lone = word.size == 0; /* "process a b : acquire" */
        if (!lone && read_word(parser, &word, head) != 0) {
            return -1;
        }
        word = *colon ? word : input_next_word(&parser->cursor);
    }
    return check_head(parser, head, &word, *colon);
}

static int read_operation(struct parser *parser, const struct verb *verb, struct world_program *program,
                          struct input_word *next)
{
    if (verb->action == ACTION_CANCEL) {
        return parser_wrong(parser, next,
                            "an operation of a program (a cancel is a fault: explore cancel<=N)");
    }
    bool both = (verb->flags & VERB_BOTH) != 0;
    if (program->count + both >= WORLD_PROGRAM_MAX) {
        return parser_wrong(parser, next, "at most " PARSER_DIGITS(WORLD_PROGRAM_MAX) " operations");
    }
    if (parser_client_verb(parser, verb, &program->ops[program->count++], next) != 0) {
        return -1;
    }
    if (both) {
        program->ops[program->count++] = parser->second;
    }
    LS_ASSERT(program->count <= WORLD_PROGRAM_MAX);
    return 0;
}

static int read_operations(struct parser *parser, struct world_program *program)
{
    struct input_word word = input_next_word(&parser->cursor);
    while (word.text) {
        const struct verb *verb = verb_find(&word, true);
        if (input_word_is(&word, "forever") && program->count > 0) {
            program->endless = true;
            return parser_end_of_line(parser);
        }
        if (!verb) {
            return parser_wrong(parser, &word,
                                program->count > 0 ? "an option, an operation or 'forever'" : "an operation");
        }
        if (read_operation(parser, verb, program, &word) != 0) {
            return -1;
        }
    }
    return program->count > 0 ? 0 : parser_wrong(parser, &word, "an operation");
}

static bool has_task(const struct world_program *program, int owner)
{
    for (int i = 0; i < program->tasks; i++) {
        if (program->task[i].owner == owner) {
            return true;
        }
    }
    return false;
}

static int add_task(struct parser *parser, const struct input_word *where, int process, int owner,
                    const struct world_program *part)
{
    struct world_program *program = &parser->scenario->options.program[process];
    if (program->count > 0 && program->tasks == 0) {
        return parser_wrong(parser, where, "a process without a program for all its owners");
    }
    if (has_task(program, owner)) {
        return parser_wrong(parser, where, "an owner of this process who has no program yet");
    }
    if (program->tasks == WORLD_TASKS_MAX) {
        return parser_wrong(parser, where, "at most " PARSER_DIGITS(WORLD_TASKS_MAX) " owners with programs");
    }
    if (program->count + part->count > WORLD_PROGRAM_MAX) {
        return parser_wrong(parser, where,
                            "at most " PARSER_DIGITS(WORLD_PROGRAM_MAX) " operations in all of a process");
    }
    program->task[program->tasks++] = (struct world_task){.begin = (uint8_t)program->count,
                                                          .end = (uint8_t)(program->count + part->count),
                                                          .owner = (uint8_t)owner,
                                                          .endless = part->endless};
    memcpy(program->ops + program->count, part->ops, (size_t)part->count * sizeof *part->ops);
    program->count += part->count;
    LS_ASSERT(part->count > 0 && program->tasks <= WORLD_TASKS_MAX);
    program->endless |= part->endless;
    return 0;
}

static int read_program(struct parser *parser, const struct head *head)
{
    struct world_program part = {.count = 0};
    struct input_cursor ahead = parser->cursor;
    struct input_word first = input_next_word(&ahead);
    LS_ASSERT(parser->owner == ALL_OWNERS);
    parser->owner = head->owner;
    int rc = read_operations(parser, &part);
    parser->owner = ALL_OWNERS;
    for (int i = 0; i < head->processes && rc == 0; i++) {
        if (head->owner == ALL_OWNERS) {
            parser->scenario->options.program[head->process[i]] = part;
        } else {
            rc = add_task(parser, &first, head->process[i], head->owner, &part);
        }
    }
    return rc;
}

int parser_process_line(struct parser *parser)
{
    struct head head;
    bool colon;
    if (read_head(parser, &head, &colon) != 0) {
        return -1;
    }
    for (int i = 0; i < head.processes; i++) {
        parser->scenario->options.autostart[head.process[i]] &= !head.asleep;
    }
    if (!colon) {
        return 0;
    }
    struct input_cursor ahead = parser->cursor;
    struct input_word word = input_next_word(&ahead);
    if (head.asleep && !input_word_is(&word, "start")) {
        return parser_wrong(parser, &word, "'start': the process is asleep");
    }
    return read_program(parser, &head);
}
