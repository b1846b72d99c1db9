/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The outcome of a scenario: a plain struct without pointers, which a worker process fills in memory that it
 * shares with its parent. Files of shards contain outcomes too: src/cli/shard_file.c must know a new
 * field. */
#ifndef SCENARIO_OUTCOME_H
#define SCENARIO_OUTCOME_H

#include "scenario/run.h"

#define OUTCOME_TEXT_MAX (128u << 10)
#define OUTCOME_STORY_MAX (128u << 10)
#define OUTCOME_TRACE_MAX 1024

enum verdict {
    VERDICT_HOLDS,
    VERDICT_VIOLATED, /* a property is violated that the file does not declare as violated */
    VERDICT_DIFFERS,  /* the run differs from the file's claims */
    VERDICT_LIMIT,    /* inconclusive */
    VERDICT_ERROR,    /* the worker died, or could not work */
};

/* The counts of a search. The worker updates most of them while it searches, for the display of progress. */
struct search_counts {
    uint64_t states;              /* distinct states of the present layer; at the end, of the last layer */
    uint64_t transitions;         /* steps from states to states, in the layer of `states` */
    uint64_t depth;               /* steps of the longest path, in the layer of `states` */
    uint64_t frontier;            /* states not fully expanded */
    uint64_t waiting_bytes;       /* of paths and queues */
    uint64_t memory_bytes;        /* of the table of states, and of paths and queues */
    uint64_t earlier_states;      /* sum over the layers before this one */
    uint64_t earlier_transitions; /* likewise */
    uint64_t unrenamed;           /* steps to states with too many numbers to be renamed; over all layers */
    double expected_omissions;    /* expected number of states mistaken for other states; set at the end */
    bool breadth_first;           /* the order in which states were found */
    bool bitstate;                /* a state is a few bits: finding no violation proves nothing */
    bool exact;                   /* states are compared whole */
    uint64_t omissions;           /* of an exact search: states that a hash would have mistaken for others */
    uint64_t live_states;         /* states after the last fault, in the search for endless runs */
    uint64_t live_transitions;    /* steps between these states */
    uint64_t live_bytes;          /* bytes for these states */
    int faults;                   /* fault budget of the present layer */
    int faults_last;              /* fault budget of the last layer */
    uint64_t saved_ms;            /* when the search was last saved, on the monotonic clock; 0 = never */
    uint64_t saving_ms;
    bool saving;
    int complete_faults; /* no run with at most so many faults violates a property; -1 = unknown */
};

struct outcome {
    bool done; /* the worker has filled in everything */
    enum verdict verdict;
    check_mask mask;          /* the properties that were judged */
    struct check_stats stats; /* over all runs */
    struct tried tried;       /* over all runs of an exploring scenario */
    enum schedule schedule;   /* of the run that failed */
    uint64_t seed;
    uint64_t runs;       /* random schedules run, the failing one included */
    uint64_t steps;      /* actions, over all runs */
    uint64_t depth;      /* actions of the longest run */
    uint64_t last_steps; /* actions of the last run; of a failing one, up to its violation */
    uint64_t skipped;    /* commands that a random schedule could not apply */
    struct search_counts search;
    bool exhausted;                 /* a search has done all runs within its bounds */
    char trace[OUTCOME_TRACE_MAX];  /* path of the trace file; empty if there is none */
    char shrunk[OUTCOME_TRACE_MAX]; /* path of a shorter trace of one violation; empty if there is none */
    char shrunk_property[TRACE_WORD_MAX]; /* the property that `shrunk` violates */
    int shrunk_from, shrunk_steps;        /* actions up to that violation, in `trace` and in `shrunk` */
    bool shrunk_minimal;                  /* the search for `shrunk` was not cut short */
    bool shrinking;                /* done, except that a shorter trace and the story are still being made */
    char story[OUTCOME_STORY_MAX]; /* the replay of `shrunk` or `trace`; empty if it is longer */
    char text[OUTCOME_TEXT_MAX];   /* lines for the user */
    int diff_at, diff_size;        /* bytes of `text` with the difference of the traces; 0 and 0 = none */
};

const char *verdict_name(enum verdict verdict);

/* Adds formatted text. If it does not fit, cuts it off with a mark. */
void outcome_say(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));

void outcome_clear_text(struct outcome *outcome);

/* Clips `diff_at` and `diff_size` to the text, which may have been cut off. Returns whether they fitted. */
bool outcome_keep_diff_inside(struct outcome *outcome);

enum check_verdict outcome_verdict(const struct outcome *outcome, int position);

/* Returns "if the run goes on" or "in another run" for a violation outside the reported run, else NULL. */
const char *outcome_also(const struct check_finding *finding);

/* Returns the mask of all properties that are violated so far, in any run. */
check_mask outcome_known_violations(const struct outcome *outcome);

/* Returns whether a violation came from an EVENT_MISBEHAVED about a crash, an endless loop, or a read or
 * write of memory that the recipe may not use. */
bool outcome_is_broken_off(const struct outcome *outcome);

/* Adds the violations of a run other than the reported one. */
void outcome_add_elsewhere(struct outcome *outcome, const struct check_stats *stats);

#define OUTCOME_FOUND_MAX ((size_t)CHECK_PROPERTIES_MAX * TRACE_WORD_MAX)

/* Writes in one line the names of the violated properties that the scenario does not declare. The text is
 * empty if there are none. */
void outcome_found(const struct run *run, char text[OUTCOME_FOUND_MAX]);

/* Makes a trace of the run, for the reason `found`. The trace ends at the last new violation that the
 * scenario does not declare, or else at the end of the run. The trace points into the run. */
void outcome_trace_of(const struct run *run, const char *found, struct trace *trace);

/* If the file claims untried items or counts, compares the untried items with the claims and adds the first
 * difference to the text. Returns false if there is one. Only for complete searches of the default recipe. */
bool outcome_tried_is_expected(struct outcome *outcome, const struct scenario *scenario);

/* Writes the recorded run into a trace file below `folder`, which is made if missing, and sets `trace`. `why`
 * is the reason without a violation ("difference"). A failure makes any verdict but a violation an error. */
void outcome_write_trace(struct outcome *outcome, const struct run *run, const char *folder, const char *why);

/* Compares the findings with the file's claims (holds, violates) and sets the verdict: violated before
 * differs before limit. For a part, and for a random run of a directed scenario, an unmet claim makes no
 * difference. `trouble` is the result of run_trouble(); `same` means that the traces are equal. */
void outcome_judge(struct outcome *outcome, const struct run *run, const char *trouble, bool same);

/* Does what outcome_judge() does, for an outcome that was merged from several others. */
void outcome_judge_again(struct outcome *outcome, const struct run_setup *setup, bool same);

#endif
