/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The futures of a state: a bounded search of its continuations, for one promise (docs/design/explain.md).
 *
 * Two questions can be asked. *Does a continuation break the promise?* The search ends at the first one that
 * does. *Does a continuation keep it?* The search ends at the first one that comes to its end without
 * breaking it. A continuation ends
 *
 * - where the world is at rest and is judged, and no caller has a step left;
 * - where no action is enabled;
 * - behind the bound `until_ms`;
 * - if a program is endless, where a circle closes in which a caller acts.
 *
 * For a promise about waiting, only a continuation to a state in which the waiter waits no more keeps it. In
 * a circle without such a state the waiter waits for ever. */
#ifndef EXPLAIN_FUTURES_H
#define EXPLAIN_FUTURES_H

#include "scenario/run.h"

#define FUTURES_STATES_MAX 100000 /* default bound of a search, in states */

/* The acts of a directed run that are still to come: verbs of callers, faults that no budget pays for, and
 * ends of faults. In each continuation the acts of one process happen in this order, each at any moment at
 * which it is enabled. The end of a fault that has ended already is left out. */
struct script {
    const struct action *action; /* the caller's; NULL if `count` is 0 */
    int count;
};

struct futures_bounds {
    uint64_t states_max;      /* most states; 0 = no limit */
    uint64_t runs_states_max; /* of a search of all runs of a scenario, which is no search of this file */
    double until_s;           /* end on the monotonic clock, in s; 0 = none */
    int64_t until_ms; /* in timed worlds: a run counts as ended behind this time of its clock; 0 = none */
};

enum futures_answer {
    FUTURES_NONE,      /* no continuation does so: all were searched */
    FUTURES_SOME,      /* some continuation does so */
    FUTURES_UNDECIDED, /* a bound or memory ended the search */
};

struct futures_found {
    enum futures_answer answer;
    uint64_t states;             /* distinct states that were searched, up to renaming */
    uint64_t steps;              /* of FUTURES_SOME: steps of that continuation */
    char first[WORLD_LABEL_MAX]; /* of FUTURES_SOME: its first step; "" = the present state is its end */
    bool timed_out;              /* some run ended only because of `until_ms` */
    const char *limit;           /* of FUTURES_UNDECIDED: the bound, as a clause */
};

struct futures;

/* Opens searches of the futures of this run's states. `position` is that of the promise, which the run must
 * judge and must not have violated. `waiter` is the one that has to be served, for a promise about waiting
 * for ever, by its place in waiters_list(); -1 = the promise is judged by events. Returns NULL if memory is
 * short. */
struct futures *futures_open(struct run *run, int position, int waiter);
void futures_close(struct futures *futures);

/* From now on, also judges a state at rest in which a caller can act. */
void futures_judge_each_rest(struct futures *futures);

/* Find out whether a continuation of the present state breaks the promise, or keeps it. No act of `script` is
 * done yet. Faults are those that are left in the budgets of the state. The run is in its present state again
 * afterwards, with its findings. */
void futures_break(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                   struct futures_found *found);
void futures_keep(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                  struct futures_found *found);

/* Does what futures_keep() does without new faults: ends the budgets first. If the answer is FUTURES_NONE,
 * later calls of this function take each state of this search for one without a continuation that keeps the
 * promise. Scripts of such calls must be tails of one script. */
void futures_keep_unharmed(struct futures *futures, const struct script *script, struct futures_bounds bounds,
                           struct futures_found *found);

struct futures_behind {
    bool at_once; /* the action itself breaks the promise; nothing was searched */
    /* Does a continuation break the promise, with the faults left? Undecided for a promise about waiting. */
    struct futures_found breaks;
    struct futures_found keeps; /* does a continuation without new faults keep it? */
};

/* Searches behind an enabled action of the present state, in which the promise is not violated. `script`: the
 * acts of a directed run behind the action. The run is in its present state again afterwards, with its
 * findings. */
void futures_behind(struct futures *futures, const struct action *choice, const struct script *script,
                    struct futures_bounds bounds, struct futures_behind *found);

#endif
