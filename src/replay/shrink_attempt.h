/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An attempt at a shorter run: some of a trace's choices, replayed by label from the start (D4). A label that
 * is not enabled is skipped, or bridged by a few steps of the default schedule. The attempt ends as soon as a
 * chosen property is violated; its list holds the choices that were done. In an exploring scenario such a
 * list keeps to the programs and budgets, so that the scenario allows the run. */
#ifndef REPLAY_SHRINK_ATTEMPT_H
#define REPLAY_SHRINK_ATTEMPT_H

#include "base/hash_table.h"
#include "replay/liveness_circle.h"

/* Kinds of choices that are no actions: TRACE_REST, and marks of a run that goes round. */
#define ATTEMPT_REST ACTION_KINDS
#define ATTEMPT_MARK (ACTION_KINDS + 1)

struct attempt_choice {
    const char *label;    /* interned: equal labels have equal addresses */
    struct action action; /* as it was done; kind ATTEMPT_REST or ATTEMPT_MARK = no action */
    bool fault;           /* it breaks something, and does not end a fault */
};

/* A list of choices, and its cost. */
struct attempt_list {
    struct attempt_choice *choice; /* owned; has room for `attempt.room` choices */
    int count;
    int steps;     /* number of choices that are actions */
    int faults;    /* number of actions that are faults */
    int processes; /* number of processes with an action */
    int loss;      /* sum over all cuts: replies kept, requests applied, and 1 for each late one */
};

/* Ways to follow a list. */
struct attempt_how {
    int bridge;  /* most default steps before a choice that is not possible; 0 = the choice is skipped */
    bool settle; /* before each choice the default schedule runs to its end */
    bool finish; /* at the end faults end, the default schedule runs out, and rest is judged */
};

struct attempt {
    const struct trace *trace;
    struct scenario scenario; /* the scenario of the trace, or the same with fewer processes */
    struct run run;
    int position; /* position of the property, as in check_position() */
    int room;     /* number of choices for which a list has room */
    char **label; /* interned labels */
    size_t labels, labels_max;
    struct hash_table label_numbers; /* number of each label, plus one, by its hash */
    struct attempt_list *out;        /* list of the present attempt */
    int limit;                       /* most choices of `out`; -1 = it was cut off */
    struct round round;
    /* First choice of the present attempt that the scenario does not allow; NULL = none. */
    const char *refused;
    bool asks;      /* at a mark, asks whether its process is served in any run that can follow */
    uint64_t steps; /* actions done, over all attempts */
};

/* Prepares attempts at a trace, which must outlive them. Returns 0; or -1 with the complaint in *error and
 * nothing to close. */
int attempt_open(struct attempt *attempt, const struct trace *trace, struct input_error *error);
void attempt_close(struct attempt *attempt);

/* Changes to another text of the scenario, whose processes are some of the present ones. Returns 0; or -1 if
 * the text is no scenario or memory is short. If the text is no scenario, the old one stays. */
int attempt_change_text(struct attempt *attempt, const char *text, size_t size);

/* Prepares a list of this attempt. Returns 0, or -1 if memory is short. */
int attempt_list_init(const struct attempt *attempt, struct attempt_list *list);
void attempt_list_close(struct attempt_list *list);

/* Sets the list to the choices of the trace, without its cost. Returns 0, or -1 if memory is short. */
int attempt_list_trace(struct attempt *attempt, struct attempt_list *list);

/* Appends a copy of a choice. The list must have room. */
void attempt_list_add(struct attempt_list *list, const struct attempt_choice *choice);

/* Returns one label for equal texts, valid until attempt_close(); NULL if memory is short. */
const char *attempt_intern(struct attempt *attempt, const char *label);

/* Follows `in`, until the property is violated or *out has `limit` choices. Returns whether *out, which holds
 * the choices that were done, ends with the violation. A run that met a limit of the world has failed. If the
 * list goes round, the circle has to close and to be fair. If it says that a process is never served, this
 * has to hold in all that can follow. */
bool attempt_follow(struct attempt *attempt, const struct attempt_list *in, struct attempt_how how, int limit,
                    struct attempt_list *out);

/* ---- step by step ---- */

/* Begins a run of at most `limit` choices, which *out will hold. */
void attempt_begin(struct attempt *attempt, int limit, struct attempt_list *out);

/* Does a choice by its label, or an enabled action. ATTEMPT_REST judges the world at rest; a mark is passed.
 * Returns false, with nothing done, if the choice is not possible or the list is full. */
bool attempt_take(struct attempt *attempt, const struct attempt_choice *choice);
bool attempt_take_action(struct attempt *attempt, const struct action *action);

/* Returns whether the property is violated by now. */
bool attempt_violated(const struct attempt *attempt);

/* Ends a run and counts its cost. Returns whether it shows the violation, as attempt_follow() does. */
bool attempt_ends(struct attempt *attempt);

/* Return whether the action breaks something in the present state; and whether the scenario allows an enabled
 * action. A script allows everything. */
bool attempt_is_fault(const struct action *action);
bool attempt_is_allowed(const struct attempt *attempt, const struct action *action);

/* ---- exactly ---- */

/* Does the list exactly, and records its choices in the run. No violation ends the run. Sets *first to the
 * first undeclared property that is violated, or -1. Returns false if a choice does not fit. */
bool attempt_record(struct attempt *attempt, const struct attempt_list *in, int *first);

#endif
