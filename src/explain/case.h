/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A run that is to be explained, and the world in which its alternatives are searched.
 *
 * The world judges the one promise, and has as fault budgets the number of faults of each kind in the run, up
 * to the violation. A directed run has its script besides, see futures.h. */
#ifndef EXPLAIN_CASE_H
#define EXPLAIN_CASE_H

#include "explain/explain.h"
#include "explain/story.h"

struct explain_case {
    const struct trace *trace;
    struct story story;
    int position;             /* of the promise */
    int waiter;               /* the one that has to be served; -1 = the promise is judged by events */
    int process;              /* of `waiter`; -1 = none */
    bool waits;               /* the promise is about processes that wait for ever, and no event breaks it */
    int last;                 /* number of choices that the searches follow: up to the violation */
    struct scenario scenario; /* of the trace */
    struct scenario model;    /* shallow copy: with the run's options and faults, judged by one promise */
    struct run_setup setup;   /* of the model */
    struct run run;
    bool scripted;      /* directed: its verbs are a script */
    struct action *act; /* owned: the script of all of the run */
    int *act_choice;    /* owned: index of the choice of each act */
    int acts;
    struct futures *futures;
};

/* Opens a case. Returns EXPLAIN_DONE, or EXPLAIN_HOLDS or EXPLAIN_UNFIT; the caller closes it always. */
enum explain_result case_open(struct explain_case *c, const struct trace *trace, const char *property,
                              struct input_error *error);
void case_close(struct explain_case *c);

/* Returns the time of the clock, in ms, to which alternatives are followed in a timed world. It is three
 * session timeouts after the last event up to the violation. 0 = the world has no clock. */
int64_t case_end_ms(const struct explain_case *c);

/* Returns the number of the last action among the first `choices` choices; 0 = there is none. */
uint64_t case_step_of(const struct explain_case *c, int choices);

/* Prepares the searches of futures. Before this call explore_run() may use the world, and after it no more.
 * Returns false if memory is short. */
bool case_begin(struct explain_case *c);

/* Begins the run and follows its first `choices` choices. Returns false if one does not fit. */
bool case_follow(struct explain_case *c, int choices);

/* Begins the run and follows its first `choices` choices but for `without`, up to one that does not fit or
 * breaks the promise. Returns the number of choices before that one, or `choices` if there is none. If the
 * result is less than `choices`, the world is in an unspecified state. */
int case_follow_without(struct explain_case *c, int choices, int without);

/* Returns the acts of the script behind the first `choices` choices, without the act of choice `without` (-1
 * = with all). If `faults` is false, leaves out faults. `list` must have room for c->acts. */
struct script case_script(const struct explain_case *c, int choices, int without, bool faults,
                          struct action *list);

/* Sets `budget` to the numbers of faults among the choices from `first` to the violation, without choice
 * `without`. Faults that no budget pays for do not count. */
void case_budget(const struct explain_case *c, int first, int without, uint8_t budget[WORLD_FAULTS]);

/* Sets what may be bought from now on. */
void case_allow(struct explain_case *c, const uint8_t budget[WORLD_FAULTS]);

#endif
