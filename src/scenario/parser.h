/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Declarations that the files of the parser share. Functions return 0, or -1 after a complaint, unless they
 * say otherwise. */
#ifndef SCENARIO_PARSER_H
#define SCENARIO_PARSER_H

#include "scenario/scenario.h"
#include "scenario/verbs.h"

/* A macro's number as a literal for messages, so that a message states the checked bound. */
#define PARSER_DIGITS(number) PARSER_DIGITS_OF(number)
#define PARSER_DIGITS_OF(number) #number

#define PARSER_TOTAL WORLD_FAULTS /* index of `total` among the budgets */

struct parser {
    struct scenario *scenario;
    struct input_cursor cursor;
    struct input_error *error;       /* where the next complaint is written */
    struct input_mistakes *mistakes; /* contains *error; NULL = the first complaint ends parsing */
    bool lock_is_wrong;              /* a line for locks is wrong: lines `process` are skipped */
    bool begun;                      /* a header line was read */
    bool mode_given;                 /* the word timed or untimed was read */
    bool explore_given;
    struct input_word budget[WORLD_FAULTS + 1]; /* budgets as written; no text = not given */
    struct input_word fine_word;                /* the word `fine` of the line `world`, if given */
    struct input_word clock_word;               /* the first named property that needs a clock */
    struct input_word search_word;              /* the first named property that needs a search */
    int owner;            /* owner of the operations being read; -1 = any owner, or a command */
    struct action second; /* second action of the client verb read last, if it has VERB_BOTH */
};

/* ---- values (values.c) ---- */

/* Complains: "expected X, found the word". */
int parser_wrong(struct parser *parser, const struct input_word *word, const char *expected);

struct nearest;
void parser_suggest(struct parser *parser, const struct nearest *nearest);

/* Reads a decimal integer from `min` to `max`; `expected` says so in a complaint. */
int parser_integer(struct parser *parser, const struct input_word *word, const char *expected, int64_t min,
                   int64_t max, int64_t *out);

int parser_owner(struct parser *parser, const struct input_word *word, int *out);

int parser_perms(struct parser *parser, const struct input_word *word, uint8_t *out);

/* Reads a duration with its unit, in milliseconds, at most a day. */
int parser_duration(struct parser *parser, const struct input_word *word, int *out_ms);

/* Splits a word at the first character `sign`: *key is the part before it, *value the part behind it. Without
 * a sign, *key is the whole word and value->text is NULL. */
void parser_split(const struct input_word *word, char sign, struct input_word *key, struct input_word *value);

/* Returns a copy of a word, which the scenario owns; NULL after a complaint that memory is short. */
const char *parser_keep(struct parser *parser, const struct input_word *word);

int parser_end_of_line(struct parser *parser);

/* Refuses a word that is no absolute node path of 2 to 100 bytes, has an empty part, `.` or `..`, or ends
 * with a slash. */
int parser_path(struct parser *parser, const struct input_word *word);

int parser_lock_line(struct parser *parser, enum ls_lock_kind kind);

/* Refuses a word that cannot name a new process or lock (header.c). */
int parser_new_name(struct parser *parser, const struct input_word *word);

/* Return the index of the process or lock of that name, or -1. */
int parser_process(const struct parser *parser, const struct input_word *word);
int parser_lock(const struct parser *parser, const struct input_word *word);

/* Refuses a named property that needs a clock, in an exploring scenario without one. Refuses a named property
 * that needs a search, in a directed or a timed scenario. Refuses `fine` in a timed world (header.c). */
int parser_check_clock(struct parser *parser);

/* Reads names of properties up to the end of the line and adds them to the mask. */
int parser_properties(struct parser *parser, check_mask *mask);

/* Must be called after a complaint. Returns whether the parser reads further lines, to find further mistakes
 * (parse.c). */
bool parser_goes_on(struct parser *parser);

/* Reads a header line. Returns 1, 0 if the word begins none, -1 after a complaint (header.c). */
int parser_header(struct parser *parser, const struct input_word *word);

int parser_process_line(struct parser *parser);

/* - parser_explore(): reads the words behind `explore`.
 * - parser_check_budgets(): refuses budgets of faults that cannot happen, and budgets above the total
 *   (budgets.c). */
int parser_explore(struct parser *parser);
int parser_check_budgets(struct parser *parser);

/* Returns whether any process has a program. */
bool parser_has_program(const struct parser *parser);

/* Sets defaults and refuses contradictions, after the last header line (header.c). */
int parser_finish_headers(struct parser *parser, const struct input_word *where);

/* Reads one command line whose first word has been read (command.c). */
int parser_command(struct parser *parser, const struct input_word *first, struct scenario_command *command);

/* Reads the rest of a client verb of a command or a program. *next is the first word that is no part of it; a
 * command allows none. With VERB_BOTH, parser->second becomes the second action (command.c). */
int parser_client_verb(struct parser *parser, const struct verb *verb, struct action *action,
                       struct input_word *next);

#endif
