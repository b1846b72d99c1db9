/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The command line: what its commands share. docs/cli.md is the reference; scripts depend on it. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "explore/explore.h"
#include "scenario/coverage.h"

#include <limits.h>
#include <stdio.h>

/* Exit status, the contract. Of several that apply to one call the order is USAGE, VIOLATED, ENVIRONMENT,
 * LIMIT. */
enum cli_exit {
    CLI_OK = 0,          /* all holds */
    CLI_VIOLATED = 1,    /* a property is violated or a trace differs from what the file expects */
    CLI_USAGE = 2,       /* usage, or unreadable input */
    CLI_LIMIT = 3,       /* inconclusive: a limit was reached first */
    CLI_ENVIRONMENT = 4, /* the environment failed, or a worker died */
};

#define CLI_OPTIONS_MAX 64
#define CLI_SHARDS_MAX 1000
#define CLI_IDENTITY_MAX 2048
#define CLI_CHECKPOINT_MAX 1000

/* What an enumeration of worlds may spend. */
struct cli_budget {
    double deadline_s; /* on the monotonic clock; 0 = none */
    uint64_t states;   /* left */
    bool over;         /* nothing is begun any more, and what is under way is stopped */
};

#define CLI_BUDGET_DEFAULT_S 45

struct cli_options {
    const char *recipe;
    const struct ls_recipe *found_recipe; /* of that name; see cli_recipe() */
    const char *out;                      /* folder for traces; of shrink: the file to write */
    const char *filter;                   /* NULL = all */
    const char *junit;                    /* file; NULL = none */
    const char *sarif;                    /* likewise */
    uint64_t seed;
    uint64_t seeds; /* random schedules of each scenario; 0 = none */
    bool recipe_given;
    bool seed_given;
    int jobs;
    bool json;
    bool quiet;
    bool verbose;
    bool rewrite;
    bool table;
    bool no_shrink;
    bool out_given;
    const char *property;   /* of shrink: its name; NULL = not said */
    const char *checkpoint; /* folder; NULL = searches are not kept */
    const char *resume;     /* folder; NULL = they begin anew */
    bool checkpoint_every_given;
    char identity[CLI_IDENTITY_MAX]; /* the options that make a search what it is */
    uint64_t max_steps;              /* of a shrinking; 0 = not said */
    bool help;
    bool check; /* the command is check: only exploring scenarios, and no random schedules */
    struct explore_options search; /* of exploring scenarios */
    struct strategy_plan plan;     /* of random schedules */
    bool no_search;                /* exploring scenarios get random schedules alone */
    bool coverage;                 /* what was covered is told */
    bool suite;                    /* the standard suite in place of paths */
    double budget_s;        /* of the enumeration behind the suite; 0 = counted in states, or not said */
    uint64_t budget_states; /* likewise, if budget_s is 0 */
    bool budget_given;
    bool keep_going;           /* of an enumeration: also behind a failing world */
    struct cli_budget *budget; /* of the worlds that are searched; NULL = none */
    int shard, shards;         /* this one, from 1 on, of so many; 0 = the whole */
    const char
        *given[CLI_OPTIONS_MAX]; /* what was said of each option, "" if it has no value, NULL = nothing */
    char **path;                 /* what is left of the command line */
    int paths;
};

/* Options that a command takes, as bits. */
#define OPTION_RECIPE 0x001u
#define OPTION_OUT 0x002u
#define OPTION_FILTER 0x004u
#define OPTION_JUNIT 0x008u
#define OPTION_SEED 0x010u
#define OPTION_SEEDS 0x020u
#define OPTION_JOBS 0x040u
#define OPTION_JSON 0x080u
#define OPTION_QUIET 0x100u
#define OPTION_REWRITE 0x200u
#define OPTION_TABLE 0x400u
#define OPTION_STRATEGY 0x800u
#define OPTION_MAX_STATES 0x1000u
#define OPTION_MAX_MEMORY 0x2000u
#define OPTION_MAX_TIME 0x4000u
#define OPTION_NO_LAYERS 0x8000u
#define OPTION_NO_RENAMING 0x10000u
#define OPTION_WORKERS 0x20000u
#define OPTION_EXACT 0x40000u
#define OPTION_NO_SHRINK 0x80000u
#define OPTION_PROPERTY 0x100000u
#define OPTION_MAX_STEPS 0x200000u
#define OPTION_TRUST 0x400000u
#define OPTION_WITHOUT 0x800000u
#define OPTION_NO_MEMO 0x1000000u
#define OPTION_SUBSUME 0x2000000u
#define OPTION_SYMMETRY 0x4000000u
#define OPTION_DEPTH 0x20000000u
#define OPTION_NO_SEARCH 0x40000000u
#define OPTION_COVERAGE 0x80000000u
#define OPTION_SHARD 0x100000000ull
#define OPTION_CHECKPOINT 0x200000000ull
#define OPTION_CHECKPOINT_EVERY 0x400000000ull
#define OPTION_RESUME 0x800000000ull
#define OPTION_BITSTATE 0x1000000000ull
#define OPTION_SUITE 0x2000000000ull
#define OPTION_PARTIAL_ORDER 0x4000000000ull
#define OPTION_BUDGET 0x8000000000ull
#define OPTION_KEEP_GOING 0x10000000000ull
#define OPTION_VERBOSE 0x20000000000ull
#define OPTION_COLOR 0x40000000000ull
#define OPTION_SARIF 0x80000000000ull

/* Reads the options behind a command; `command` stands in complaints. Returns 0, or CLI_USAGE after one line
 * on standard error. */
int cli_options(struct cli_options *options, const char *command, uint64_t allowed, int argc, char **argv);

/* The recipe of a scenario: the one that the user has given, or else the first that suits it. */
const struct ls_recipe *cli_recipe(const struct cli_options *options, const struct scenario *scenario);

/* The index-th of the given options that has to do with what is found, as it would be said (`--seeds=100`). False behind the
 * last. */
bool cli_given(const struct cli_options *options, int index, char *text, size_t size);

/* One line on standard error, "lockstep COMMAND: expected X, found 'Y'". Returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *expected, const char *found);

/* The program as it was called, for lines to paste (options.c). It stays "lockstep" until it is set. */
const char *cli_program(void);
void cli_set_program(const char *program);

/* The commands; argv[0] is the command's name. */
int cli_run(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_shrink(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_triage(int argc, char **argv);

/* The options of run and check, read and looked through: as the commands do it. Return 0 or CLI_USAGE. */
int cli_run_options(struct cli_options *options, int argc, char **argv);
int cli_check_options(struct cli_options *options, int argc, char **argv);

enum cli_part_kind {
    CLI_PART_WHOLE, /* all that the command does with a scenario */
    CLI_PART_FIRST, /* of run: the directed run, or the search */
    CLI_PART_SEEDS, /* of run: random schedules */
    CLI_PART_LAYER, /* of check: one layer with one set of run constants */
};

/* A part of what a command does, which can be done for itself. */
struct cli_part {
    enum cli_part_kind kind;
    int scenario;        /* its number in the list */
    int set, faults;     /* LAYER */
    uint64_t first_seed; /* SEEDS */
    uint64_t seeds;
    int shard; /* that does it, from 1 on */
};

/* A scenario and what came of it. */
struct cli_job {
    struct scenario scenario;
    struct cli_part part;
    uint64_t states_max;       /* of a world of an enumeration; 0 = no limit of its own */
    struct outcome *outcome;   /* in memory shared with the worker */
    struct coverage *coverage; /* likewise; NULL = nobody asks */
    double seconds;            /* that its worker has taken */
    bool finished;
    bool guarded; /* its worker has died, and another does the same under a guard */
    char checkpoint[CLI_CHECKPOINT_MAX], resume[CLI_CHECKPOINT_MAX]; /* files; empty = none */
};

/* ---- scenarios (collect.c) ---- */

/* Finds and reads all scenarios below the paths, sorted within folders; folders are searched for *.scn.
 * Complaints go to standard error, one line each. Returns 0 or CLI_USAGE. */
int cli_collect(const struct cli_options *options, const char *command, struct cli_job **jobs, int *count);
void cli_free_jobs(struct cli_job *jobs, int count);

/* Collects, runs all, reports, and says the closing line: what run and check have in common. Returns an exit status
 * (run.c). */
int cli_judge(const struct cli_options *options, const char *command);

/* Reports all that is finished, says the closing line, and returns the exit status (run.c). */
int cli_tell(const struct cli_options *options, const char *command, const struct cli_job *jobs, int count);

/* ---- the standard suite (suite.c) ---- */

/* Limits of its searches, unless others are given. */
void cli_suite_limits(struct cli_options *options);

/* Where its scenarios lie: beside the program, where it was built or installed, or below the present folder. NULL: nowhere. */
const char *cli_suite_folder(void);

/* The path of the program that runs. False if the system does not tell. */
bool cli_program_path(char path[PATH_MAX]);

/* Where something lies that comes with the program: `in_source` below the source tree of a program that lies in build/PRESET,
 * or `installed` below the prefix of one that lies in bin. False if it is in neither place. */
bool cli_find_data(char path[PATH_MAX], const char *in_source, const char *installed);

/* Whether a situation of it is none for this recipe; says so in words, otherwise NULL. */
const char *cli_suite_leaves_out(const struct scenario *scenario, const struct ls_recipe *recipe);

/* Whether small worlds and random ones stand behind the situations: not with shards, without a budget, or with a filter on files
 * alone. They have mutexes, so a recipe that knows no mutex has none of them. */
bool cli_suite_has_worlds(const struct cli_options *options);

/* In a suite: the search has met its limit of states; and random schedules have gone on behind that without a violation. */
#define CLI_SUITE_SCHEDULES 300
bool cli_suite_full(const struct cli_options *options, const struct cli_job *job);
bool cli_suite_tried(const struct cli_options *options, const struct cli_job *job);

/* ---- shards (shard.c) ---- */

/* Does this shard's parts of these scenarios and writes what came of them. Returns an exit status. */
int cli_shard(const struct cli_options *options, const char *command, struct cli_job *jobs, int count);

/* ---- checkpoints (checkpoint.c) ---- */

/* Says where each search is kept and what it goes on from (checkpoint.c). What cannot be gone on with is complained about in
 * one line on standard error. Returns 0 or CLI_USAGE. */
int cli_place_checkpoints(const struct cli_options *options, const char *command, struct cli_job *jobs,
                          int count);

/* ---- workers (jobs.c, worker.c) ---- */

/* Whether the counts of a search are those that a file may claim. */
bool cli_counts_compare(const struct cli_options *options, const struct scenario *scenario);

/* Makes one outcome of that of the directed run or the search, and that of the random schedules after it, which becomes the
 * whole. */
void cli_add_random(const struct cli_options *options, const struct scenario *scenario,
                    const struct outcome *first, struct outcome *random);

/* Runs all in workers (worker.h), at most options->jobs at once; calls `report` in the order of the
 * list as soon as that is possible. Stops early when interrupted. Returns the number of finished ones, or -1
 * with errno set. */
typedef void (*cli_report_fn)(void *ctx, const struct cli_job *job);
int cli_run_jobs(const struct cli_options *options, struct cli_job *jobs, int count, cli_report_fn report,
                 void *ctx);

/* Seconds on the monotonic clock. */
double cli_now_s(void);

/* Gives back what cli_run_jobs() has shared with the workers of these jobs, in the same list. */
void cli_forget_jobs(struct cli_job *jobs, int count);

/* True after the user pressed Ctrl-C. */
bool cli_interrupted(void);

/* ---- violations (failure.c) ---- */

/* Looks for a shorter run with the violation of this outcome, if `shrinks`, and writes its trace beside the outcome's;
 * then replays what is to be reported, and notes its story. It looks no further once *stop is not 0. The effort is bounded in steps, some seconds. A violation
 * that its replay does not show is an error. An outcome that violates nothing stays as it is. */
void cli_prepare_failure(struct outcome *outcome, bool shrinks, volatile int *stop);

/* Reads the trace that the command line names, with the recipe of --recipe, if it is given, in place of the
 * trace's own. Returns 0, or CLI_USAGE after one line on standard error. */
int cli_read_trace(const struct cli_options *options, struct trace *trace);

/* NAME.trace -> NAME.min.trace. Returns -1 if it does not fit. */
int cli_min_path(const char *path, char *out, size_t size);

/* The table of lockstep list scenarios --table (table.c). Returns an exit status. */
int cli_print_table(const struct cli_options *options, struct cli_job *jobs, int count);

#endif
