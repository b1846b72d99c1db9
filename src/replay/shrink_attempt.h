/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* An attempt at a shorter run: some of a trace's choices, replayed by label from the start (D4). A label that
 * is not enabled is skipped, or enabled by a few steps of the default schedule. The attempt ends as soon as
 * the property is violated. The resulting list has the choices that were done. In an exploring scenario, the
 * attempt keeps to the programs and budgets. */
#ifndef REPLAY_SHRINK_ATTEMPT_H
#define REPLAY_SHRINK_ATTEMPT_H

#include "base/hash_table.h"
#include "replay/liveness_circle.h"

/* Values of action.kind for choices that are no actions: TRACE_REST, and marks of a run that goes round. */
#define ATTEMPT_REST ACTION_KINDS
#define ATTEMPT_MARK (ACTION_KINDS + 1)

struct attempt_choice {
    const char *label;    /* interned: equal labels have equal addresses */
    struct action action; /* as it was done; kind ATTEMPT_REST or ATTEMPT_MARK = no action */
    bool fault;           /* it breaks something, and does not end a fault */
};

struct attempt_list {
    struct attempt_choice *choice; /* owned; has room for `attempt.room` choices */
    int count;
    int steps;
    int faults;
    int processes;
    int loss; /* sum over all cuts: replies kept, requests applied, and 1 for each late one */
};

/* The way in which a list is followed. */
struct attempt_how {
    int bridge;  /* limit of default steps that may enable a choice; 0 = the choice is skipped */
    bool settle; /* before each choice the default schedule runs to its end */
    bool finish; /* after the list default steps, and ends of faults if needed, lead to rest; it is judged */
};

struct attempt {
    const struct trace *trace;
    struct scenario scenario; /* the scenario of the trace, perhaps with fewer processes */
    struct run run;
    int position; /* position of the property, as in check_position() */
    int room;     /* number of choices for which a list has room */
    char **label;
    size_t labels, labels_max;
    struct hash_table label_numbers; /* number of each label, plus one, by its hash */
    struct attempt_list *out;        /* list of the present attempt */
    int limit;                       /* limit of choices of `out`; -1 = `out` lacks choices that were done */
    struct round round;
    const char *refused; /* first choice of this attempt that the scenario does not allow; NULL = none */
    bool asks;           /* at a mark, searches whether its waiter can still be served */
    uint64_t steps;      /* actions done, over all attempts */
};

/* Prepares attempts at a trace, which must outlive them. Returns 0; or -1 with the complaint in *error and
 * nothing to close. */
int attempt_open(struct attempt *attempt, const struct trace *trace, struct input_error *error);
void attempt_close(struct attempt *attempt);

/* Changes to another text of the scenario, with some of the present processes. Returns 0; or -1 if the text
 * is no scenario (the old one stays then), or if memory is short. */
int attempt_change_text(struct attempt *attempt, const char *text, size_t size);

/* Prepares an empty list. Returns 0, or -1 if memory is short. */
int attempt_list_init(const struct attempt *attempt, struct attempt_list *list);
void attempt_list_close(struct attempt_list *list);

/* Sets choices and count of the list to those of the trace; its other fields stay as they are. Returns 0, or
 * -1 if memory is short. */
int attempt_list_trace(struct attempt *attempt, struct attempt_list *list);

/* Appends a copy of a choice. The list must have room. */
void attempt_list_add(struct attempt_list *list, const struct attempt_choice *choice);

/* Returns one label for equal texts, valid until attempt_close(); NULL if memory is short. */
const char *attempt_intern(struct attempt *attempt, const char *label);

/* Follows `in`, until the property is violated or *out has `limit` choices; *out has the choices that were
 * done. Returns whether the run violates the property. A run with run_trouble() does not count. A circle has
 * to close and to be fair. A waiter that a mark calls hopeless must not be served in any state that can
 * follow without a fault. */
bool attempt_follow(struct attempt *attempt, const struct attempt_list *in, struct attempt_how how, int limit,
                    struct attempt_list *out);

/* ---- step by step ---- */

/* Begins a run of at most `limit` choices. Until attempt_ends(), *out gets the choices that are done. */
void attempt_begin(struct attempt *attempt, int limit, struct attempt_list *out);

/* Does a choice by its label, or an enabled action. ATTEMPT_REST judges the world at rest; a mark is passed.
 * Returns false, with nothing done, if the choice is not possible or the list is full. The function
 * attempt_take() also returns false for an action that the scenario does not allow. */
bool attempt_take(struct attempt *attempt, const struct attempt_choice *choice);
bool attempt_take_action(struct attempt *attempt, const struct action *action);

bool attempt_violated(const struct attempt *attempt);

/* Ends a run and counts its cost. Returns whether it shows the violation, as attempt_follow() does. */
bool attempt_ends(struct attempt *attempt);

/* Returns whether the action breaks something, and does not end a fault. */
bool attempt_is_fault(const struct action *action);

/* Returns whether the scenario allows an enabled action, see run_allows(). */
bool attempt_is_allowed(const struct attempt *attempt, const struct action *action);

/* ---- exactly ---- */

/* Does the list exactly, and records its choices in the run; a violation does not end the run. Sets *first to
 * the position of the first violated property that the scenario does not declare, of several at one choice
 * the lowest; -1 = none. Returns false if a choice does not fit, or a circle does not show a violation. */
bool attempt_record(struct attempt *attempt, const struct attempt_list *in, int *first);

#endif
