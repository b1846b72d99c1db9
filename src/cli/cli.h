/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Declarations that the commands of the program share. Scripts of users depend on docs/cli.md. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "explore/explore.h"
#include "scenario/coverage.h"

#include <limits.h>
#include <stdio.h>

/* Exit statuses, on which scripts depend. If several apply to a call of run or check, the first of USAGE,
 * VIOLATED, ENVIRONMENT, LIMIT counts. */
enum cli_exit {
    CLI_OK = 0,          /* all holds */
    CLI_VIOLATED = 1,    /* a property is violated, or a trace differs from the file */
    CLI_USAGE = 2,       /* wrong usage, or unreadable input */
    CLI_LIMIT = 3,       /* inconclusive: a limit was reached first */
    CLI_ENVIRONMENT = 4, /* the environment failed, or a worker died */
};

#define CLI_OPTIONS_MAX 64
#define CLI_SHARDS_MAX 1000
#define CLI_IDENTITY_MAX 2048
#define CLI_CHECKPOINT_MAX 1000

/* The budget of an enumeration of worlds. */
struct cli_budget {
    double deadline_s; /* on the monotonic clock; 0 = none */
    uint64_t states;   /* left; UINT64_MAX = no limit */
    bool over;         /* no further world is begun, and running ones are stopped */
};

#define CLI_BUDGET_DEFAULT_S 45

struct cli_options {
    const char *recipe;
    const struct ls_recipe *found_recipe; /* that of the name `recipe`, given or by default */
    const char *out;                      /* folder for traces; the output file of shrink and export */
    const char *filter;                   /* NULL = all */
    const char *junit;                    /* path; NULL = none */
    const char *sarif;                    /* path; NULL = none */
    const char *html;                     /* folder; NULL = none */
    uint64_t seed;
    uint64_t seeds; /* random schedules of each scenario; 0 = none */
    int jobs;
    bool recipe_given;
    bool seed_given;
    bool json;
    bool step;    /* of replay: step by step */
    bool explain; /* of report: with the cause */
    bool quiet;
    bool verbose;
    bool rewrite;
    bool table;
    bool no_shrink;
    bool out_given;
    bool checkpoint_every_given;
    bool help;
    bool check;                      /* the command is check */
    const char *function;            /* of debug: name of a function; NULL = not given */
    const char *batch;               /* of debug: path of a file with commands; NULL = not given */
    const char *property;            /* of shrink: name of a property; NULL = not given */
    const char *checkpoint;          /* folder; NULL = searches are not saved */
    const char *resume;              /* folder; NULL = searches begin anew */
    char identity[CLI_IDENTITY_MAX]; /* the options that define a search */
    uint64_t max_steps;              /* of shrink; 0 = not given */
    struct explore_options search;   /* of exploring scenarios */
    struct strategy_plan plan;       /* of random schedules */
    bool no_search;                  /* exploring scenarios get only random schedules */
    bool coverage;
    bool suite;             /* the standard suite in place of paths */
    double budget_s;        /* of the worlds after the suite; 0 = counted in states, or not given */
    uint64_t budget_states; /* of the worlds after the suite, if budget_s is 0 */
    bool budget_given;
    bool keep_going;                    /* of the worlds: go on after a failing world */
    struct cli_budget *budget;          /* of the worlds that are being searched; NULL = none */
    int shard, shards;                  /* this shard, from 1, and their number; 0 = no shards */
    const char *given[CLI_OPTIONS_MAX]; /* value of each option; "" = it has no value, NULL = not given */
    char **path;                        /* the other words of the command line */
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
#define OPTION_STEP 0x100000000000ull
#define OPTION_FUNCTION 0x200000000000ull
#define OPTION_BATCH 0x400000000000ull
#define OPTION_HTML 0x800000000000ull
#define OPTION_EXPLAIN 0x1000000000000ull

/* Reads the options behind a command, whose name is `command`. Returns 0, or CLI_USAGE after one line on
 * standard error. */
int cli_options(struct cli_options *options, const char *command, uint64_t allowed, int argc, char **argv);

/* Returns the recipe of --recipe, or else that of recipe_for(). */
const struct ls_recipe *cli_recipe(const struct cli_options *options, const struct scenario *scenario);

/* Writes the index-th given option, as users write it (`--seeds=100`). Leaves out those of OPTIONS_ASIDE
 * (options.c). Returns false behind the last. */
bool cli_given(const struct cli_options *options, int index, char *text, size_t size);

/* Writes "lockstep COMMAND: expected X, found 'Y'" to standard error. Returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *expected, const char *found);

/* Returns the name by which the program was called, for lines to paste; "lockstep" until it is set. */
const char *cli_program(void);
void cli_set_program(const char *program);

/* Run a command; argv[0] is its name. Return an exit status. */
int cli_run(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_debug(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_shrink(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_triage(int argc, char **argv);

/* Read and check the options of run and check. Return 0 or CLI_USAGE. */
int cli_run_options(struct cli_options *options, int argc, char **argv);
int cli_check_options(struct cli_options *options, int argc, char **argv);

enum cli_part_kind {
    CLI_PART_WHOLE, /* all that the command does with a scenario */
    CLI_PART_FIRST, /* of run: the directed run, or the search */
    CLI_PART_SEEDS, /* of run: random schedules */
    CLI_PART_LAYER, /* of check: one layer with one set of run constants */
};

/* A part of a command's work that can be done on its own. */
struct cli_part {
    enum cli_part_kind kind;
    int scenario;        /* index in the list of scenarios */
    int set, faults;     /* CLI_PART_LAYER: index of the set of run constants, and number of faults */
    uint64_t first_seed; /* CLI_PART_SEEDS */
    uint64_t seeds;
    int shard; /* the shard that does this part, from 1 */
};

/* A scenario, and the work with it. */
struct cli_job {
    struct scenario scenario;
    struct cli_part part;
    uint64_t states_max;       /* of a world of an enumeration; 0 = no limit for this job */
    struct outcome *outcome;   /* shared with the worker */
    struct coverage *coverage; /* shared with the worker; NULL = not wanted */
    double seconds;
    bool finished;
    bool guarded; /* a worker died, and another worker repeats the job under a guard */
    int death;    /* if guarded: the signal that ended the first worker */
    char checkpoint[CLI_CHECKPOINT_MAX], resume[CLI_CHECKPOINT_MAX]; /* paths; empty = none */
};

/* ---- scenarios (find_scenarios.c) ---- */

/* Finds and reads the scenarios of options->paths: files, and *.scn in folders, sorted within a folder.
 * Without a path, takes the folder of the suite (--suite), or else the folder `scenarios`. Complaints go to
 * standard error, one line each. Returns 0 or CLI_USAGE. The caller frees the jobs in both cases. */
int cli_collect(const struct cli_options *options, const char *command, struct cli_job **jobs, int *count);
void cli_free_jobs(struct cli_job *jobs, int count);

/* Does the common work of run and check: collects scenarios, runs them, and reports. Returns an exit status
 * (run.c). */
int cli_judge(const struct cli_options *options, const char *command);

/* Reports all finished jobs, and writes the closing line. Returns an exit status (run.c). */
int cli_tell(const struct cli_options *options, const char *command, const struct cli_job *jobs, int count);

/* ---- the standard suite (standard_suite.c) ---- */

/* Sets the limit of states of a suite's searches, unless the user gave one. */
void cli_suite_limits(struct cli_options *options);

/* Returns the folder of the suite's scenarios: scenarios/suite in the working directory, or else as
 * cli_find_data() finds it. NULL = there is none. */
const char *cli_suite_folder(void);

/* Writes the path of the running program. Returns false if the system does not know it. */
bool cli_program_path(char path[PATH_MAX]);

/* Finds a data file: `in_source` below the source tree of a program in build/PRESET, or else `installed`
 * below the prefix of a program in bin. Returns false if neither exists, or the program's path is unknown. */
bool cli_find_data(char path[PATH_MAX], const char *in_source, const char *installed);

/* Returns the reason why a scenario is not for this recipe; NULL = it is. */
const char *cli_suite_leaves_out(const struct scenario *scenario, const struct ls_recipe *recipe);

/* Returns whether the call asks for small and random worlds: it has --suite, no shards and no budget of 0. A
 * filter has to begin with `worlds/`, or --budget is given. */
bool cli_suite_asks_for_worlds(const struct cli_options *options);

/* Returns whether the call includes these worlds: it asks for them, and its recipe is for ZooKeeper and knows
 * mutexes. */
bool cli_suite_has_worlds(const struct cli_options *options);

/* In a suite, so many random schedules follow a search that meets its limit of states. The first function
 * returns whether an outcome is that of such a search, the second whether it has schedules too. */
#define CLI_SUITE_SCHEDULES 300
bool cli_suite_full(const struct cli_options *options, const struct cli_job *job);
bool cli_suite_tried(const struct cli_options *options, const struct cli_job *job);

/* ---- shards (run_shard.c) ---- */

/* Does this shard's parts of the scenarios and writes their outcomes. Returns an exit status. */
int cli_shard(const struct cli_options *options, const char *command, struct cli_job *jobs, int count);

/* ---- checkpoints (checkpoint.c) ---- */

/* Sets `checkpoint` and `resume` of the jobs by --checkpoint and --resume. Returns 0, or CLI_USAGE after one
 * line on standard error. */
int cli_place_checkpoints(const struct cli_options *options, const char *command, struct cli_job *jobs,
                          int count);

/* ---- workers (jobs.c, worker.c) ---- */

/* Returns whether the counts of a search are comparable with those that a file may claim. */
bool cli_counts_compare(const struct cli_options *options, const struct scenario *scenario);

/* Merges `first`, the outcome of a directed run or a search, into `random`, that of the schedules after
 * it. */
void cli_add_random(const struct cli_options *options, const struct scenario *scenario,
                    const struct outcome *first, struct outcome *random);

/* Runs all jobs in workers (worker.h), at most options->jobs at once. Calls `report` for finished jobs in the
 * order of the list, as soon as possible. Ends early if it is interrupted or the budget is spent. Returns the
 * number of finished jobs, or -1 with errno set. */
typedef void (*cli_report_fn)(void *ctx, const struct cli_job *job);
int cli_run_jobs(const struct cli_options *options, struct cli_job *jobs, int count, cli_report_fn report,
                 void *ctx);

double cli_now_s(void);

/* Frees the outcomes that cli_run_jobs() has made for this same list of jobs. */
void cli_forget_jobs(struct cli_job *jobs, int count);

bool cli_interrupted(void);

/* ---- violations (violation_story.c) ---- */

/* Completes an outcome with a violation and a trace; leaves others unchanged. With `shrinks`, looks for a
 * shorter run, and writes its trace beside the outcome's; the search has a limit of steps, and ends once
 * *stop is not 0. Then replays the trace that will be reported, and stores the text of the replay if it fits.
 * If the replay shows no violation, the verdict becomes VERDICT_ERROR. */
void cli_prepare_failure(struct outcome *outcome, bool shrinks, volatile int *stop);

/* Reads the trace options->path[0]; --recipe replaces the trace's own recipe. Returns 0, or CLI_USAGE after
 * one line on standard error. */
int cli_read_trace(const struct cli_options *options, struct trace *trace);

/* Loads the trace's properties, then checks that the property of --property exists: it may be one of them.
 * Returns 0, or CLI_USAGE after one line on standard error. */
int cli_check_property(const struct cli_options *options, const char *command, const struct trace *trace);

/* Replaces the recipe of a trace by that of --recipe, if it was given. */
void cli_replace_recipe(const struct cli_options *options, struct trace *trace);

/* Writes a text to a file, replacing the old one in one step; NULL = standard output. Returns 0, or
 * CLI_ENVIRONMENT after the line of cli_cannot_write(). */
int cli_write_out(const char *path, const char *text, size_t size);

/* Writes "PATH:1:1: expected a file that can be written, found 'REASON'" to standard error, with the reason
 * of errno. Returns CLI_ENVIRONMENT. */
int cli_cannot_write(const char *path);

/* Reads commands from standard input, and steps through the run of a trace (replay_step.c). Returns an exit
 * status. */
int cli_replay_step(const struct trace *trace);

/* Guards the replay of a trace that was found for contract_is_kept, because the recipe may crash in it. */
void cli_guard_replay(const struct trace *trace);

/* Writes NAME.min.trace for NAME.trace. Returns 0, or -1 if it does not fit. */
int cli_min_path(const char *path, char *out, size_t size);

/* Prints the table of lockstep list scenarios --table (fault_phase_table.c). Returns an exit status. */
int cli_print_table(const struct cli_options *options, struct cli_job *jobs, int count);

#endif
