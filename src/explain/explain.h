/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The cause of a violation, by the definitions of docs/design/explain.md:
 *
 * - the faults that mattered;
 * - the last moment at which another choice would have kept the promise;
 * - the knowledge that was stale. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/futures.h"
#include "replay/shrink.h"

#define EXPLAIN_FAULTS_MAX 32
#define EXPLAIN_STALE_MAX 8
#define EXPLAIN_TEXT_MAX 400
#define EXPLAIN_RUNS_STATES_MAX 500000 /* default bound of a search of src/explore, in states */

/* The runs that a check looked through. */
enum explain_scope {
    EXPLAIN_NOTHING,  /* none: the check was not needed */
    EXPLAIN_SCENARIO, /* all runs of the scenario */
    EXPLAIN_SCRIPT,   /* all runs in which each process does its acts of the script in their order */
    EXPLAIN_PREFIX,   /* all continuations of the run up to a step */
};

struct explain_check {
    enum explain_scope scope;
    uint64_t behind;  /* of EXPLAIN_PREFIX: steps of the run that the continuations share */
    uint64_t without; /* of EXPLAIN_PREFIX: the step among them that is left out; 0 = none */
    char faults[128]; /* the faults that these runs may have: "no fault", "loss<=1" */
    enum futures_answer answer;
    uint64_t states;
    int64_t
        until_ms; /* of a timed world: runs were followed to this time of their clock; 0 = to their ends */
    const char *limit; /* of FUTURES_UNDECIDED: the bound, as a clause */
};

/* Whether a fault of the run mattered. */
enum explain_matter {
    EXPLAIN_MATTERS,      /* with the other faults alone, no run of the scenario breaks the promise */
    EXPLAIN_MATTERS_HERE, /* if it does not happen, no continuation of the run before it does */
    EXPLAIN_MATTERS_NOT,  /* with the other faults alone, some run breaks the promise too */
    EXPLAIN_MATTERS_UNKNOWN,
};

struct explain_fault {
    uint64_t step; /* number of its action in the run */
    char label[WORLD_LABEL_MAX];
    int process;               /* EVENT_PROCESS_NONE = none */
    char name[WORLD_NAME_MAX]; /* of the process, or "" */
    const char *verb;          /* its kind: "cut", "expire" */
    enum explain_matter matter;
    struct explain_check whole, here; /* checks of all runs, and of continuations of this run */
    struct explain_check
        later; /* of continuations with the fault postponed; EXPLAIN_NOTHING = no such step */
    char later_label[WORLD_LABEL_MAX]; /* the choice behind which it does no harm, step `later.behind` */
};

enum explain_cause {
    EXPLAIN_NO_FAULT,    /* the run has none */
    EXPLAIN_NONE_NEEDED, /* without any fault, some run breaks the promise */
    EXPLAIN_SOME,        /* the faults of the list that matter */
    EXPLAIN_ANY,         /* some fault is needed, and no single one: the others do as well */
    EXPLAIN_UNKNOWN,     /* no check has decided */
};

enum explain_moment {
    EXPLAIN_MOMENT_STEP,    /* the choice of this step has decided */
    EXPLAIN_MOMENT_NEVER,   /* all continuations of the first state break the promise */
    EXPLAIN_MOMENT_OPEN,    /* at the end, another continuation would still keep the promise */
    EXPLAIN_MOMENT_UNKNOWN, /* not later than this step; a bound was met there */
};

struct explain_last {
    enum explain_moment is;
    uint64_t step;               /* number of the action; 0 = the judging at rest */
    char label[WORLD_LABEL_MAX]; /* the choice of the run */
    char instead
        [WORLD_LABEL_MAX];      /* first step of a continuation that keeps the promise; "" = none is needed */
    uint64_t steps;             /* steps of that continuation */
    bool fault;                 /* the choice is a fault */
    struct explain_check check; /* of all continuations behind the choice */
};

struct explanation {
    const struct property *property;
    char why[CHECK_WHY_MAX];
    uint64_t step, steps; /* step of the violation; steps of the run */
    bool shrunk;          /* the run is shorter than that of the trace */
    bool shrink_ended;    /* a limit ended the shrinking */
    bool minimal;         /* no single choice can be left out of the run (shrink.h) */
    int steps_before;     /* of the trace */

    enum explain_cause cause;
    struct explain_check none; /* of runs without any fault */
    int faults;
    struct explain_fault fault[EXPLAIN_FAULTS_MAX];

    struct explain_last last;

    int stale;
    char stale_text[EXPLAIN_STALE_MAX][EXPLAIN_TEXT_MAX]; /* sentences */
    uint64_t stale_since[EXPLAIN_STALE_MAX];
    int stale_process[EXPLAIN_STALE_MAX];
};

struct explain_options {
    const char *property; /* name; NULL = as of shrink_options */
    bool no_shrink;       /* the trace is explained as it is */
    uint64_t states_max; /* of each check; 0 = FUTURES_STATES_MAX, and EXPLAIN_RUNS_STATES_MAX for all runs */
    double seconds_max;  /* for all of it; 0 = no limit */
};

enum explain_result {
    EXPLAIN_DONE,  /* all that could be asked was decided */
    EXPLAIN_LIMIT, /* a check was not decided */
    EXPLAIN_HOLDS, /* the trace does not violate the property */
    EXPLAIN_UNFIT, /* the trace cannot be replayed here, or memory is short; *error says why */
};

/* Explains the violation of a trace. *explanation is complete unless the result is EXPLAIN_HOLDS or
 * EXPLAIN_UNFIT. */
enum explain_result explain_trace(const struct trace *trace, const struct explain_options *options,
                                  struct explanation *explanation, struct input_error *error);

/* Write the explanation as sentences, or as one JSON object. explain_write_json() returns 0, or -1 if memory
 * is short. */
void explain_write(FILE *out, const struct explanation *explanation);
int explain_write_json(FILE *out, const struct explanation *explanation);

#endif
