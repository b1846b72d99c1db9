/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One attempt at a shorter run: some of a trace's choices, replayed by label from the start (D4). A label that is
 * not enabled is skipped, or bridged by a few steps of the default schedule; what was applied until a chosen
 * property is violated is the list that comes out. A run that comes out is one that the scenario allows: in an
 * exploring one, programs and budgets stay what they are. */
#ifndef REPLAY_ATTEMPT_H
#define REPLAY_ATTEMPT_H

#include "base/hash_table.h"
#include "replay/round.h"

/* Choices that are no actions: TRACE_REST, and the marks of a run that goes round. */
#define ATTEMPT_REST ACTION_KINDS
#define ATTEMPT_MARK (ACTION_KINDS + 1)

struct attempt_choice {
    const char *label;    /* interned: equal labels have equal addresses */
    struct action action; /* as it was applied; `kind` is ATTEMPT_REST or _MARK if it is none */
    bool fault;           /* it breaks something, and does not end what is broken */
};

/* A list of choices and what it costs. */
struct attempt_list {
    struct attempt_choice *choice; /* owned, room for `attempt.room` */
    int count;
    int steps;     /* choices that are actions */
    int faults;    /* of them */
    int processes; /* that take part in one of them */
    int loss;      /* what all cuts lose: replies kept, requests applied, late ones, added up */
};

/* How freely the list is followed. */
struct attempt_how {
    int bridge;  /* default steps at most before a choice that is not possible; 0 = it is skipped at once */
    bool settle; /* the default schedule comes to an end before each choice */
    bool finish; /* behind the last choice: faults end, the default schedule runs on, rest is judged */
};

struct attempt {
    const struct trace *trace;
    struct scenario scenario; /* the trace's, or one with fewer processes */
    struct run run;
    int position; /* the property, as in check_position() */
    int room;     /* choices that a list can hold */
    char **label; /* the interned labels */
    size_t labels, labels_max;
    struct hash_table label_numbers; /* plus one */
    struct attempt_list *out;        /* of the present attempt */
    int limit;                       /* choices that `out` may have */
    struct round round;
    /* The first choice of the present attempt that the scenario does not allow; NULL = none. */
    const char *refused;
    bool asks;      /* whether somebody can be served no more, where that is marked */
    uint64_t steps; /* actions applied, over all attempts */
};

/* Prepares for attempts at a trace, which must outlive them. Returns 0, or -1 with the complaint in *error and
 * nothing to close. */
int attempt_open(struct attempt *attempt, const struct trace *trace, struct input_error *error);
void attempt_close(struct attempt *attempt);

/* Goes over to another text of the scenario, whose processes are some of the present ones. Returns 0, or -1 if
 * the text is none or memory is short; the scenario is the old one then. */
int attempt_change_text(struct attempt *attempt, const char *text, size_t size);

/* Lists of this attempt. Return 0, or -1 if memory is short. */
int attempt_list_init(const struct attempt *attempt, struct attempt_list *list);
void attempt_list_close(struct attempt_list *list);

/* The choices of the trace. Costs are not known yet. Returns 0, or -1 if memory is short. */
int attempt_list_trace(struct attempt *attempt, struct attempt_list *list);

/* Appends a copy of a choice. */
void attempt_list_add(struct attempt_list *list, const struct attempt_choice *choice);

/* The same label for the same text. NULL if memory is short. */
const char *attempt_intern(struct attempt *attempt, const char *label);

/* Follows `in` and returns whether the property is violated at the end of what was applied, which *out holds: at
 * most `limit` choices, so long as that may be. A run that met a limit of the world has failed. In a list that goes round the
 * circle has to close, and be fair; who is marked as never served any more has to be so in all that can follow. */
bool attempt_follow(struct attempt *attempt, const struct attempt_list *in, struct attempt_how how, int limit,
                    struct attempt_list *out);

/* ---- step by step ---- */

/* Starts a run that *out will hold, of at most `limit` choices. */
void attempt_begin(struct attempt *attempt, int limit, struct attempt_list *out);

/* Does a choice by its label, or an enabled action (ATTEMPT_REST: looks at the world at rest; a mark is passed). Returns false if that is
 * not possible or the list is full; nothing has happened then. */
bool attempt_take(struct attempt *attempt, const struct attempt_choice *choice);
bool attempt_take_action(struct attempt *attempt, const struct action *action);

/* Whether the property is violated by now. */
bool attempt_violated(const struct attempt *attempt);

/* Measures the list. Returns whether it is a run with the violation: attempt_follow()'s answer. */
bool attempt_ends(struct attempt *attempt);

/* Whether the action breaks something in the present state, and whether the scenario allows what is enabled. A script
 * allows everything. */
bool attempt_is_fault(const struct action *action);
bool attempt_is_allowed(const struct attempt *attempt, const struct action *action);

/* ---- exactly ---- */

/* Follows the list exactly, with its choices recorded in the run. Returns false if a choice does not fit. Stops
 * behind none of its violations: *first becomes the first undeclared property that is violated, -1 if none is. */
bool attempt_record(struct attempt *attempt, const struct attempt_list *in, int *first);

#endif
