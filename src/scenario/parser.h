/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the parts of the parser share. All functions return 0, or -1 after a complaint. */
#ifndef SCENARIO_PARSER_H
#define SCENARIO_PARSER_H

#include "scenario/scenario.h"
#include "scenario/verbs.h"

/* A number that is a macro, as a literal for messages: what they say is what is checked. */
#define PARSER_DIGITS(number) PARSER_DIGITS_OF(number)
#define PARSER_DIGITS_OF(number) #number

#define PARSER_TOTAL WORLD_FAULTS /* the place of `total` among the budgets */

struct parser {
    struct scenario *scenario;
    struct input_cursor cursor;
    struct input_error *error;                  /* the next complaint */
    struct input_mistakes *mistakes;            /* of which it is one; NULL = the first ends it */
    bool lock_is_wrong;                         /* a line that declares locks: programs may name them */
    bool begun;                                 /* some header line was read */
    bool mode_given;                            /* timed or untimed was said */
    bool explore_given;                         /* there is an explore line */
    struct input_word budget[WORLD_FAULTS + 1]; /* as they were said; no text = not */
    struct input_word fine_word;                /* of the world line, if it is there */
    struct input_word clock_word;               /* the first property that was named and needs a clock */
    struct input_word search_word;              /* likewise, a search */
    int owner;            /* whose operations are read; -1 = those of all owners, or a command */
    struct action second; /* the other action of the client verb that was read last, if that has VERB_BOTH */
};

/* ---- values (values.c) ---- */

/* "expected X, found the word". */
int parser_wrong(struct parser *parser, const struct input_word *word, const char *expected);

/* Adds to a complaint what may have been meant. */
struct nearest;
void parser_suggest(struct parser *parser, const struct nearest *nearest);

/* A decimal integer within bounds. */
int parser_integer(struct parser *parser, const struct input_word *word, const char *expected, int64_t min,
                   int64_t max, int64_t *out);

/* The number of an owner, as in owner=N. */
int parser_owner(struct parser *parser, const struct input_word *word, int *out);

/* Permission bits of a node, as in perms=N. */
int parser_perms(struct parser *parser, const struct input_word *word, uint8_t *out);

/* A duration with its unit, in milliseconds, at most a day. */
int parser_duration(struct parser *parser, const struct input_word *word, int *out_ms);

/* Splits `key=value`: *key gets what stands before the sign, *value what stands behind it (text NULL if there
 * is no sign). */
void parser_split(const struct input_word *word, char sign, struct input_word *key, struct input_word *value);

/* Copies a word; owned by the scenario. NULL after a complaint that memory is short. */
const char *parser_keep(struct parser *parser, const struct input_word *word);

int parser_end_of_line(struct parser *parser);

/* An absolute node path without empty or dot parts and without a slash at its end. */
int parser_path(struct parser *parser, const struct input_word *word);

/* The rest of a line that declares locks of this kind. Returns 0 or -1. */
int parser_lock_line(struct parser *parser, enum ls_lock_kind kind);

/* Complains of a word that cannot be the name of a new process or lock (header.c). */
int parser_new_name(struct parser *parser, const struct input_word *word);

/* Index of the process or lock of that name, or -1. */
int parser_process(const struct parser *parser, const struct input_word *word);
int parser_lock(const struct parser *parser, const struct input_word *word);

/* Complains of a property that is never judged: it needs a clock that an exploring scenario has not, or a search that a
 * directed one has not (header.c). */
int parser_check_clock(struct parser *parser);

/* Names of properties up to the end of the line, added to the mask. */
int parser_properties(struct parser *parser, check_mask *mask);

/* ---- lines ---- */

/* After a complaint: true if the lines behind it are read as well, for what else is wrong (parse.c). */
bool parser_goes_on(struct parser *parser);

/* If the word begins a header line, reads the line and returns 1; 0 if it does not; -1 after a complaint
 * (header.c). */
int parser_header(struct parser *parser, const struct input_word *word);

/* The words behind `process` (processes.c). */
int parser_process_line(struct parser *parser);

/* The words behind `explore`, and what they ask for that cannot be (budgets.c). */
int parser_explore(struct parser *parser);
int parser_check_budgets(struct parser *parser);

/* True if some process has a program. */
bool parser_has_program(const struct parser *parser);

/* Defaults and contradictions, after the last header line (header.c). */
int parser_finish_headers(struct parser *parser, const struct input_word *where);

/* One command line whose first word has been read (command.c). */
int parser_command(struct parser *parser, const struct input_word *first, struct scenario_command *command);

/* A client verb and what follows, for commands and programs: reads words while they belong to it. *next is
 * the first word that does not, which in a command must be none. The second action of a verb with VERB_BOTH
 * is parser->second (command.c). */
int parser_client_verb(struct parser *parser, const struct verb *verb, struct action *action,
                       struct input_word *next);

#endif
