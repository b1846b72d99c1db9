/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What came of a scenario. A plain struct without pointers: a worker process fills it in memory that it
 * shares with the command line. What it tells travels between machines too: a new field goes into the tables of
 * src/cli/shard_file.c. */
#ifndef SCENARIO_OUTCOME_H
#define SCENARIO_OUTCOME_H

#include "scenario/run.h"

#define OUTCOME_TEXT_MAX (128u << 10)
#define OUTCOME_STORY_MAX (128u << 10)
#define OUTCOME_TRACE_MAX 1024

enum verdict {
    VERDICT_HOLDS,
    VERDICT_VIOLATED, /* a property is violated that the file does not declare to be */
    VERDICT_DIFFERS,  /* the run is not what the file says */
    VERDICT_LIMIT,    /* inconclusive */
    VERDICT_ERROR,    /* the worker died, or could not work */
};

/* What a search has done. Its worker keeps all of it up to date while it goes on, for whoever shows the progress. */
struct search_counts {
    uint64_t states;              /* distinct ones of the present layer, at the end of the last one */
    uint64_t transitions;         /* steps from states to states, likewise */
    uint64_t depth;               /* steps of the longest path, likewise */
    uint64_t frontier;            /* states that are not fully expanded */
    uint64_t waiting_bytes;       /* of paths and queues */
    uint64_t memory_bytes;        /* of the table of states, and of what waits */
    uint64_t earlier_states;      /* of the layers before this one, in sum */
    uint64_t earlier_transitions; /* likewise */
    uint64_t
        unrenamed; /* steps to states that were compared as they are, as they have too many numbers; over all layers */
    double
        expected_omissions; /* states that are to be expected to have been taken for others; set at the end */
    bool breadth_first;     /* the order in which they were found */
    bool bitstate;      /* they were a few bits each: what was found is no proof that there is nothing else */
    bool exact;         /* states were compared whole */
    uint64_t omissions; /* of an exact search: states that would have been taken for others */
    uint64_t live_states;      /* after the last fault, for those who ask what goes on for ever */
    uint64_t live_transitions; /* likewise */
    uint64_t live_bytes;       /* likewise */
    int faults;                /* the budget of the present layer */
    int faults_last;           /* and of the last one */
    uint64_t saved_ms;         /* when it was kept last, on the monotonic clock; 0 = not yet */
    uint64_t saving_ms;        /* how long keeping it took, in sum */
    bool saving;               /* it is being kept */
    int complete_faults;       /* no run with at most so many faults violates anything; -1 = not known */
};

struct outcome {
    bool done; /* filled in to the end */
    enum verdict verdict;
    check_mask mask;          /* properties that were judged */
    struct check_stats stats; /* over all runs */
    struct tried tried;       /* likewise, of an exploring scenario */
    enum schedule schedule;   /* of the run that failed */
    uint64_t seed;
    uint64_t runs;                  /* random schedules run, the failing one included */
    uint64_t steps;                 /* actions, over all runs */
    uint64_t depth;                 /* actions of the longest run */
    uint64_t last_steps;            /* actions of the last run, the failing one if one fails */
    uint64_t skipped;               /* commands that a random schedule could not apply */
    struct search_counts search;    /* of a search; kept up to date while it goes on */
    bool exhausted;                 /* a search has done all runs within its bounds */
    char trace[OUTCOME_TRACE_MAX];  /* path of the trace file; empty if there is none */
    char shrunk[OUTCOME_TRACE_MAX]; /* path of a shorter trace of one violation; empty if there is none */
    char shrunk_property[TRACE_WORD_MAX]; /* that it violates */
    int shrunk_from, shrunk_steps; /* actions up to that violation, in the trace and in the shorter one */
    bool shrunk_minimal;           /* the search for it was not cut short */
    bool shrinking; /* done, and no more than a shorter trace and the story are still looked for */
    char story[OUTCOME_STORY_MAX]; /* the replay of `shrunk` or `trace`; empty if it is longer */
    char text[OUTCOME_TEXT_MAX];   /* what is to be said about it, lines */
    int diff_at, diff_size;        /* bytes of `text` that say how the trace differs; 0 and 0 = none */
};

/* "holds", "violated", "differs", "limit", "error". */
const char *verdict_name(enum verdict verdict);

/* Adds formatted text; what does not fit is cut off with a mark. */
void outcome_say(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forgets what was to be said. */
void outcome_clear_text(struct outcome *outcome);

/* Keeps the place of the difference inside the text, which may have been cut off. Returns whether it was inside. */
bool outcome_keep_diff_inside(struct outcome *outcome);

/* The verdict of one property. */
enum check_verdict outcome_verdict(const struct outcome *outcome, int position);

/* Where a violation was seen that is not in the run that is told: "if the run goes on", "in another run". NULL if the
 * finding is none of these. */
const char *outcome_also(const struct check_finding *finding);

/* Returns the mask of all properties that are violated so far, in any run. */
check_mask outcome_known_violations(const struct outcome *outcome);

/* True if the recipe has crashed, did not come back, or has misused memory. Further runs would meet that too, and each endless
 * loop takes as long as its timer. */
bool outcome_is_broken_off(const struct outcome *outcome);

/* Adds what another run than the one that is told violates. */
void outcome_add_elsewhere(struct outcome *outcome, const struct check_stats *stats);

/* The recorded run as a trace up to its last violation, with `found` as the reason; it points into the run and
 * its scenario. */
void outcome_trace_of(const struct run *run, const char *found, struct trace *trace);

/* Compares what was not tried with what the file claims, if it claims that or counts; says where they differ. Returns
 * whether they are the same. For searches of the default recipe that have come to their end. */
bool outcome_tried_is_expected(struct outcome *outcome, const struct scenario *scenario);

/* Writes the recorded run into a trace file below `folder` (made if it is missing), named after its contents,
 * and notes its path. `why` says why if no property is violated ("difference"). If that fails the outcome is
 * an error. */
void outcome_write_trace(struct outcome *outcome, const struct run *run, const char *folder, const char *why);

/* Compares the findings with what the file says (holds, violates) and sets the verdict: violated before
 * differs before limit. `trouble` is what run_trouble() said; `same` says that the traces are equal. */
void outcome_judge(struct outcome *outcome, const struct run *run, const char *trouble, bool same);

/* The same for an outcome that was put together from others: its own mask, findings and steps are compared. */
void outcome_judge_again(struct outcome *outcome, const struct run_setup *setup, bool same);

#endif
