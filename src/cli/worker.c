/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/worker.h"

#include "base/assert.h"
#include "check/loaded.h"
#include "cli/work_plan.h"
#include "plugin/plugin.h"
#include "scenario/direct.h"
#include "scenario/random.h"
#include "scenario/recipes.h"
#include "sim/sandbox.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static uint64_t last_heartbeat;

static const char *volatile *judging_of_job; /* in memory shared with the parent */

static void on_watchdog(int signal)
{
    (void)signal;
    uint64_t now = run_heartbeat();
    if (now == last_heartbeat) {
        if (loaded_judging() != NULL && judging_of_job != NULL) {
            *judging_of_job = loaded_judging();
        }
        _exit(WORKER_WATCHDOG_STATUS);
    }
    last_heartbeat = now;
}

static void start_watchdog(void)
{
    struct sigaction action = {.sa_handler = on_watchdog};
    struct itimerval timer = {.it_interval = {.tv_sec = WORKER_WATCHDOG_S},
                              .it_value = {.tv_sec = WORKER_WATCHDOG_S}};
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

/* Begins one of several processes of a search. They do not note the property that is judging: the job has one
 * variable for it. */
static void begin_searching(void)
{
    loaded_say_where(NULL);
    start_watchdog();
}

/* Adds the findings of the directed run to those of the random schedules after it. The schedules are run even
 * if the directed run differs from the file. */
static void merge(struct outcome *outcome, const struct outcome *directed)
{
    LS_ASSERT(directed->verdict != VERDICT_VIOLATED && directed->verdict != VERDICT_ERROR);
    outcome->mask |= directed->mask;
    outcome->steps += directed->steps;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        outcome->stats.finding[i].premises += directed->stats.finding[i].premises;
        if (directed->stats.violated >> i & 1) {
            outcome->stats.finding[i] = directed->stats.finding[i];
            outcome->stats.violated |= CHECK_BIT(i);
        }
    }
    if (directed->verdict == VERDICT_DIFFERS && outcome->verdict == VERDICT_VIOLATED) {
        outcome_say(outcome, "  its directed run is not what the file expects, too\n");
    } else if (directed->verdict == VERDICT_DIFFERS) {
        outcome->verdict = VERDICT_DIFFERS;
        outcome->schedule = directed->schedule;
        outcome->last_steps = directed->last_steps;
        memcpy(outcome->trace, directed->trace, sizeof outcome->trace);
        outcome->diff_at = (int)strlen(outcome->text) + directed->diff_at;
        outcome->diff_size = directed->diff_size;
        outcome_say(outcome, "%s", directed->text);
        outcome_keep_diff_inside(outcome);
    }
}

void cli_add_random(const struct cli_options *options, const struct scenario *scenario,
                    const struct outcome *first, struct outcome *random)
{
    if (!scenario->exploring) {
        merge(random, first);
    } else if (!options->no_search &&
               (random->verdict == VERDICT_LIMIT || random->verdict == VERDICT_HOLDS)) {
        uint64_t schedules = random->runs;
        struct tried tried = random->tried;
        *random = *first; /* the verdict of the search counts */
        random->runs = schedules;
        tried_merge(&random->tried, &tried);
    }
}

static void run_random(const struct cli_options *options, const struct run_setup *setup, uint64_t runs,
                       struct outcome *outcome)
{
    static struct outcome directed;
    LS_ASSERT(runs > 0);
    directed = *outcome;
    memset(outcome, 0, sizeof *outcome);
    random_run(setup, options->seed, runs, options->out, outcome);
    cli_add_random(options, setup->scenario, &directed, outcome);
}

static volatile int stop_asked;

static void on_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* SIGTERM ends a search in order, because its findings so far count. */
static void listen_to_stop(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGTERM, &action, NULL);
}

double cli_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Limits a world to the rest of the enumeration's budget. */
static void limit_world(const struct cli_budget *budget, const struct cli_job *job,
                        struct explore_options *explore)
{
    explore->states_max = job->states_max;
    explore->layers = false; /* the last layer has all runs of the others */
    if (budget->states < UINT64_MAX && (explore->states_max == 0 || budget->states < explore->states_max)) {
        explore->states_max = budget->states + 1; /* one more, so that a world that needs more is noticed */
    }
    double left = budget->deadline_s - cli_now_s();
    if (budget->deadline_s > 0 && (explore->seconds_max <= 0 || left < explore->seconds_max)) {
        explore->seconds_max = left > 0.001 ? left : 0.001;
    }
    LS_ASSERT(budget->deadline_s <= 0 || explore->seconds_max > 0);
}

/* A file claims counts for its default recipe, with its own run constants, without loaded properties, and
 * without options that change which states are counted. */
bool cli_counts_compare(const struct cli_options *options, const struct scenario *scenario)
{
    return cli_recipe(options, scenario) == recipe_for(&scenario->options) && !options->seed_given &&
           options->search.renaming && !options->search.subsume && !options->search.symmetry &&
           !options->search.partial_order && options->search.without == 0 && check_loaded_mask() == 0;
}

static const char *path_or_none(const char *path)
{
    return path[0] != 0 ? path : NULL;
}

static void search(const struct cli_options *options, const struct run_setup *setup,
                   const struct cli_job *job, int at_once)
{
    struct outcome *outcome = job->outcome;
    const struct cli_part *part = &job->part;
    struct explore_options explore = options->search;
    LS_ASSERT(setup->scenario->exploring && at_once >= 1);
    explore.part =
        (struct explore_part){.only = part->kind == CLI_PART_LAYER, .set = part->set, .faults = part->faults};
    explore.out = options->out;
    explore.checkpoint = path_or_none(job->checkpoint);
    explore.resume = path_or_none(job->resume);
    explore.stop = &stop_asked;
    explore.searches = at_once;
    explore.begin_worker = begin_searching;
    explore.compare = cli_counts_compare(options, &job->scenario) && !setup->part;
    explore.rewrite = options->rewrite;
    if (options->budget != NULL) {
        limit_world(options->budget, job, &explore);
    }
    explore_run(setup, &explore, outcome);
    signal(SIGTERM, SIG_DFL);
}

/* Shows the output of a recipe in a directed run, which is done once. */
static void show_output(void *ctx, int process, const char *text, size_t size)
{
    (void)ctx;
    (void)process;
    fwrite(text, 1, size, stderr);
}

static void work(const struct cli_options *options, struct cli_job *job, int at_once)
{
    struct run_setup setup;
    const struct cli_part *part = &job->part;
    struct direct_options direct = {.out = options->out, .rewrite = options->rewrite};
    enum verdict *verdict = &job->outcome->verdict;
    LS_ASSERT(!job->outcome->done && part->kind <= CLI_PART_LAYER);
    coverage_into(job->coverage, cli_recipe(options, &job->scenario));
    parts_setup(options, &job->scenario, &setup);
    setup.part = part->kind == CLI_PART_LAYER || part->kind == CLI_PART_SEEDS;
    if (part->kind == CLI_PART_SEEDS) {
        random_run(&setup, part->first_seed, part->seeds, options->out, job->outcome);
        if (options->budget != NULL && !options->search.first_only) {
            random_find_others(&setup, part->first_seed, part->seeds, job->outcome);
        }
    } else if (job->scenario.exploring && options->no_search) {
        *verdict = VERDICT_LIMIT; /* until the random schedules give a verdict */
    } else if (job->scenario.exploring) {
        search(options, &setup, job, at_once);
    } else {
        world_set_output(show_output, NULL);
        direct_run(&setup, &direct, job->outcome);
        world_set_output(NULL, NULL);
    }
    if (cli_suite_full(options, job) && !stop_asked) {
        run_random(options, &setup, CLI_SUITE_SCHEDULES, job->outcome);
    } else if (part->kind == CLI_PART_WHOLE && options->seeds > 0 && !stop_asked &&
               (*verdict == VERDICT_HOLDS || *verdict == VERDICT_DIFFERS || *verdict == VERDICT_LIMIT)) {
        run_random(options, &setup, options->seeds, job->outcome);
    }
    coverage_into(NULL, NULL); /* the following runs repeat covered ones */
    job->outcome->done = true;
    job->outcome->shrinking = true;
    cli_prepare_failure(job->outcome, !options->no_shrink, &stop_asked);
    job->outcome->shrinking = false;
}

static bool goes_on(const struct cli_job *job)
{
    enum verdict verdict = job->outcome->verdict;
    return !job->guarded && !stop_asked && verdict != VERDICT_VIOLATED && verdict != VERDICT_ERROR;
}

sigset_t worker_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

int worker_take(struct worker_queue *queue)
{
    int job = __atomic_fetch_add(&queue->next, 1, __ATOMIC_SEQ_CST);
    return job < queue->count ? job : -1;
}

static void work_on(const struct cli_options *options, struct cli_job *jobs, struct worker_queue *queue,
                    int *doing)
{
    struct cli_job *job = &jobs[*doing];
    for (;;) {
        double began_s = cli_now_s();
        judging_of_job = &queue->note[job - jobs].judging;
        loaded_say_where(judging_of_job);
        work(options, job, queue->at_once);
        int next = goes_on(job) ? worker_take(queue) : -1;
        if (next < 0) {
            return;
        }
        struct worker_note *note = &queue->note[job - jobs];
        note->seconds = cli_now_s() - began_s;
        __atomic_store_n(&note->ended, true, __ATOMIC_SEQ_CST);
        __atomic_store_n(doing, next, __ATOMIC_SEQ_CST);
        kill(getppid(), SIGCHLD);
        job = &jobs[next];
        if (job->scenario.exploring) {
            listen_to_stop();
        }
    }
}

pid_t worker_start(const struct cli_options *options, struct cli_job *jobs, struct worker_queue *queue,
                   int slot, int job)
{
    sigset_t set = worker_signals();
    LS_ASSERT(slot >= 0 && job >= 0 && !jobs[job].finished);
    fflush(NULL); /* otherwise the worker would write it again */
    queue->doing[slot] = job;
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* otherwise a search without a parent would go on and save itself */
    if (getppid() != parent) {
        _exit(1);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO); /* output of a property or a constructor is no part of the report */
    signal(SIGINT, SIG_IGN);            /* the parent ends its workers */
    if (jobs[job].scenario.exploring) {
        listen_to_stop();
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    start_watchdog();
    if (jobs[job].guarded) {
        guard_watch_program();
    }
    work_on(options, jobs, queue, &queue->doing[slot]);
    exit(0);
}
