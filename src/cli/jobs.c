/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Workers: a forked process for each scenario. A recipe that crashes or never returns costs one scenario, and
 * each world has an address space of its own. */

#include "cli/parts.h"
#include "cli/progress.h"
#include "plugin/plugin.h"
#include "scenario/direct.h"
#include "scenario/random.h"
#include "scenario/recipes.h"
#include "sim/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCHDOG_S 10 /* of processor time without a step */
#define WATCHDOG_STATUS 99
#define GRACE_S 10 /* for a search to end in an orderly way when it is interrupted */

static bool interrupted;

bool cli_interrupted(void)
{
    return interrupted;
}

/* The parent takes these signals when it waits, and at no other time: none can slip in between a look and a wait. */
static sigset_t waited_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

/* ---- in the worker ---- */

static uint64_t last_heartbeat;

static void on_watchdog(int signal)
{
    (void)signal;
    uint64_t now = run_heartbeat();
    if (now == last_heartbeat) {
        _exit(WATCHDOG_STATUS);
    }
    last_heartbeat = now;
}

static void start_watchdog(void)
{
    struct sigaction action = {.sa_handler = on_watchdog};
    struct itimerval timer = {.it_interval = {.tv_sec = WATCHDOG_S}, .it_value = {.tv_sec = WATCHDOG_S}};
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

/* What the directed run has shown is added to what the random ones showed after it. A file that another
 * recipe does not match is worth random schedules all the same: they may tell why. */
static void merge(struct outcome *outcome, const struct outcome *directed)
{
    outcome->mask |= directed->mask;
    outcome->steps += directed->steps;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        outcome->stats.finding[i].premises += directed->stats.finding[i].premises;
        if (directed->stats.violated >> i & 1) {
            outcome->stats.finding[i] = directed->stats.finding[i];
            outcome->stats.violated |= 1u << i;
        }
    }
    if (directed->verdict == VERDICT_DIFFERS && outcome->verdict == VERDICT_VIOLATED) {
        outcome_say(outcome, "  its directed run is not what the file expects, too\n");
    } else if (directed->verdict == VERDICT_DIFFERS) {
        outcome->verdict = VERDICT_DIFFERS;
        outcome->schedule = directed->schedule;
        outcome->last_steps = directed->last_steps;
        memcpy(outcome->trace, directed->trace, sizeof outcome->trace);
        outcome_say(outcome, "%s", directed->text);
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
        *random = *first; /* what the search says is worth more */
        random->runs = schedules;
        tried_merge(&random->tried, &tried);
    }
}

static void run_random(const struct cli_options *options, const struct run_setup *setup, uint64_t runs,
                       struct outcome *outcome)
{
    static struct outcome directed;
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

/* A search ends in an orderly way when it is told to: what it has found until then is worth telling. */
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

/* A world of an enumeration gets what is left of its budget. */
static void limit_world(const struct cli_budget *budget, const struct cli_job *job,
                        struct explore_options *explore)
{
    explore->states_max = job->states_max;
    explore->layers = false; /* all runs with fewer faults are among those with all */
    if (budget->states < UINT64_MAX && (explore->states_max == 0 || budget->states < explore->states_max)) {
        explore->states_max = budget->states + 1; /* so many are too many */
    }
    double left = budget->deadline_s - cli_now_s();
    if (budget->deadline_s > 0 && (explore->seconds_max <= 0 || left < explore->seconds_max)) {
        explore->seconds_max = left > 0.001 ? left : 0.001;
    }
}

static int at_once; /* scenarios that are worked on beside each other */

/* The file's counts are those of the default recipe with the file's run constants, renaming, and every choice point. */
bool cli_counts_compare(const struct cli_options *options)
{
    return strcmp(options->found_recipe->name, RECIPE_DEFAULT) == 0 && !options->seed_given &&
           options->search.renaming && !options->search.subsume && !options->search.symmetry &&
           !options->search.partial_order && options->search.without == 0 && check_loaded_mask() == 0;
}

static const char *path_or_none(const char *path)
{
    return path[0] != 0 ? path : NULL;
}

static void search(const struct cli_options *options, const struct run_setup *setup,
                   const struct cli_job *job)
{
    struct outcome *outcome = job->outcome;
    const struct cli_part *part = &job->part;
    struct explore_options explore = options->search;
    explore.part =
        (struct explore_part){.only = part->kind == CLI_PART_LAYER, .set = part->set, .faults = part->faults};
    explore.out = options->out;
    explore.checkpoint = path_or_none(job->checkpoint);
    explore.resume = path_or_none(job->resume);
    explore.stop = &stop_asked;
    explore.searches = at_once;
    explore.begin_worker = start_watchdog;
    explore.compare = cli_counts_compare(options) && !setup->part;
    explore.rewrite = options->rewrite;
    if (options->budget != NULL) {
        limit_world(options->budget, job, &explore);
    }
    explore_run(setup, &explore, outcome);
    signal(SIGTERM, SIG_DFL);
}

static void work(const struct cli_options *options, struct cli_job *job)
{
    struct run_setup setup;
    const struct cli_part *part = &job->part;
    struct direct_options direct = {.out = options->out, .rewrite = options->rewrite};
    enum verdict *verdict = &job->outcome->verdict;
    coverage_into(job->coverage, options->found_recipe);
    parts_setup(options, &job->scenario, &setup);
    setup.part = part->kind == CLI_PART_LAYER || part->kind == CLI_PART_SEEDS;
    if (part->kind == CLI_PART_SEEDS) {
        random_run(&setup, part->first_seed, part->seeds, options->out, job->outcome);
        if (options->budget != NULL && !options->search.first_only) {
            random_find_others(&setup, part->first_seed, part->seeds, job->outcome);
        }
    } else if (job->scenario.exploring && options->no_search) {
        *verdict = VERDICT_LIMIT; /* until the random schedules have said more */
    } else if (job->scenario.exploring) {
        search(options, &setup, job);
    } else {
        direct_run(&setup, &direct, job->outcome);
    }
    if (cli_suite_full(options, job) && !stop_asked) {
        run_random(options, &setup, CLI_SUITE_SCHEDULES, job->outcome);
    } else if (part->kind == CLI_PART_WHOLE && options->seeds > 0 && !stop_asked &&
               (*verdict == VERDICT_HOLDS || *verdict == VERDICT_DIFFERS || *verdict == VERDICT_LIMIT)) {
        run_random(options, &setup, options->seeds, job->outcome);
    }
    coverage_into(NULL, NULL); /* what follows has been done before */
    job->outcome->done = true;
    job->outcome->shrinking = true;
    cli_prepare_failure(job->outcome, !options->no_shrink, &stop_asked);
    job->outcome->shrinking = false;
}

static pid_t start(const struct cli_options *options, struct cli_job *job)
{
    fflush(NULL); /* or the worker would write it again */
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* or a search would go on, and keep itself, for nobody */
    if (getppid() != parent) {
        _exit(1);
    }
    sigset_t set = waited_signals();
    signal(SIGINT, SIG_IGN); /* the parent ends its workers itself */
    if (job->scenario.exploring) {
        listen_to_stop();
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    start_watchdog();
    if (job->guarded) {
        guard_watch_program();
    }
    work(options, job);
    exit(0);
}

/* ---- in the parent ---- */

struct slot {
    pid_t pid; /* 0 = free */
    int job;
    struct timespec since;
};

static double seconds_since(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

static void note_end(struct cli_job *job, int status)
{
    struct outcome *outcome = job->outcome;
    job->finished = true;
    if (outcome->done && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return;
    }
    if (outcome->done && outcome->shrinking) { /* what was found stays found */
        outcome_say(outcome, "  the worker died while it looked for a shorter trace\n");
        return;
    }
    outcome->verdict = VERDICT_ERROR;
    outcome->text[0] = 0;
    if (WIFSIGNALED(status)) {
        outcome_say(outcome, "  the worker died: %s\n", strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) == WATCHDOG_STATUS) {
        outcome_say(outcome, "  a step does not end: the recipe has used %d s of processor time in it\n",
                    WATCHDOG_S);
    } else {
        outcome_say(outcome, "  the worker ended with status %d\n", WEXITSTATUS(status));
    }
}

static void note_worker(struct slot *slot, struct cli_job *jobs, int status)
{
    jobs[slot->job].seconds = seconds_since(&slot->since);
    note_end(&jobs[slot->job], status);
    slot->pid = 0;
}

/* Searches of a recipe that is linked in have no guard, which makes them faster. If it crashes, no run is known that shows it. */
static bool is_worth_a_guard(const struct cli_job *job, int status)
{
    bool crashed = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM;
    return crashed && !job->outcome->done && !job->guarded && !world_guard_is_set();
}

/* Does the job of a worker that has died once more. False if there is no reason to, or no worker. */
static bool do_guarded(const struct cli_options *options, struct slot *slot, struct cli_job *jobs, int status)
{
    struct cli_job *job = &jobs[slot->job];
    if (!is_worth_a_guard(job, status)) {
        return false;
    }
    memset(job->outcome, 0, sizeof *job->outcome);
    job->guarded = true;
    slot->pid = start(options, job);
    return slot->pid > 0;
}

/* Waits until a signal may have changed something, for so long at most. Returns whether somebody interrupts. */
static bool wait_for_signal(int ms)
{
    sigset_t set = waited_signals();
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    int signal = ms < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &time);
    return signal == SIGINT || signal == SIGTERM;
}

/* Waits until a worker has ended, somebody interrupts, or it is time to show how far the others are. */
static void wait_for_one(const struct cli_options *options, struct slot *slots, struct cli_job *jobs)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    interrupted = wait_for_signal(pid != 0 ? 0 : progress_wanted() ? PROGRESS_MS : -1) || interrupted;
    for (int i = 0; i < options->jobs && pid > 0; i++) {
        if (slots[i].pid == pid) {
            if (!do_guarded(options, &slots[i], jobs, status)) {
                note_worker(&slots[i], jobs, status);
            }
            break;
        }
    }
}

static int busy_slots(const struct slot *slots, int count)
{
    int busy = 0;
    for (int i = 0; i < count; i++) {
        busy += slots[i].pid > 0;
    }
    return busy;
}

/* What a worker has found counts, even if it was still looking for a shorter way to show it. */
static void note_killed(struct slot *slot, struct cli_job *jobs)
{
    struct cli_job *job = &jobs[slot->job];
    job->finished = job->outcome->done;
    job->seconds = seconds_since(&slot->since);
    slot->pid = 0;
}

static void end_workers(struct slot *slots, int count, struct cli_job *jobs)
{
    for (int i = 0; i < count; i++) {
        if (slots[i].pid > 0) {
            kill(slots[i].pid, SIGKILL);
            waitpid(slots[i].pid, NULL, 0);
            note_killed(&slots[i], jobs);
        }
    }
}

/* A worker that has died of what it was sent has not finished; one that has ended by itself has. */
static void note_stopped(struct slot *slot, struct cli_job *jobs, int status)
{
    bool sent = WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    if (sent) {
        note_killed(slot, jobs);
    } else {
        note_worker(slot, jobs, status);
    }
}

/* How long a search takes to be written depends on its size, not on whether it is well. */
static bool any_is_saving(const struct slot *slots, int count, const struct cli_job *jobs)
{
    for (int i = 0; i < count; i++) {
        if (slots[i].pid > 0 &&
            __atomic_load_n(&jobs[slots[i].job].outcome->search.saving, __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}

/* Searches are told to end and are waited for, because what they have found until now stands; the rest is worth nothing
 * when it is not finished. Who interrupts again does not want to wait. */
static void stop_workers(struct slot *slots, int count, struct cli_job *jobs)
{
    struct timespec since;
    bool again = false;
    clock_gettime(CLOCK_MONOTONIC, &since);
    for (int i = 0; i < count; i++) {
        if (slots[i].pid > 0) {
            kill(slots[i].pid, jobs[slots[i].job].scenario.exploring ? SIGTERM : SIGKILL);
        }
    }
    while (busy_slots(slots, count) > 0 && !again && seconds_since(&since) < GRACE_S) {
        int status;
        if (any_is_saving(slots, count, jobs)) {
            clock_gettime(CLOCK_MONOTONIC, &since);
        }
        for (int i = 0; i < count; i++) {
            if (slots[i].pid > 0 && waitpid(slots[i].pid, &status, WNOHANG) > 0) {
                note_stopped(&slots[i], jobs, status);
            }
        }
        again = busy_slots(slots, count) > 0 && wait_for_signal(PROGRESS_MS);
    }
    end_workers(slots, count, jobs);
}

/* The search that has been under way for longest stands for all. */
static void show_progress(const struct slot *slots, int slot_count, const struct cli_job *jobs, int finished,
                          int count)
{
    const struct slot *oldest = NULL;
    for (int i = 0; i < slot_count; i++) {
        bool searches = slots[i].pid > 0 && jobs[slots[i].job].outcome->search.states > 0;
        if (searches && (oldest == NULL || slots[i].job < oldest->job)) {
            oldest = &slots[i];
        }
    }
    progress_show(finished, count, oldest ? &jobs[oldest->job] : NULL,
                  oldest ? seconds_since(&oldest->since) : 0);
}

static void *share(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int share_outcomes(struct cli_job *jobs, int count, bool covers)
{
    struct outcome *outcomes = share((size_t)count * sizeof *outcomes);
    struct coverage *coverage = covers ? share((size_t)count * sizeof *coverage) : NULL;
    if (outcomes == MAP_FAILED || coverage == MAP_FAILED) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        jobs[i].outcome = &outcomes[i];
        jobs[i].coverage = covers ? &coverage[i] : NULL;
    }
    return 0;
}

/* Starts workers while there is room. Returns the number of the next job, or -1. */
static int fill_slots(const struct cli_options *options, struct slot *slots, struct cli_job *jobs, int next,
                      int count)
{
    for (int i = 0; i < options->jobs && next < count && !interrupted; i++) {
        if (slots[i].pid == 0) {
            slots[i].job = next;
            clock_gettime(CLOCK_MONOTONIC, &slots[i].since);
            slots[i].pid = start(options, &jobs[next]);
            if (slots[i].pid < 0) {
                slots[i].pid = 0;
                return -1;
            }
            next++;
        }
    }
    return next;
}

static int count_finished(const struct cli_job *jobs, int count)
{
    int finished = 0;
    for (int i = 0; i < count; i++) {
        finished += jobs[i].finished;
    }
    return finished;
}

/* Reports what has finished: in the order of the list or, at the end, whatever there is. Returns up to where. */
static int report_finished(const struct cli_job *jobs, int from, int count, bool all, cli_report_fn report,
                           void *ctx)
{
    int i = from;
    for (; i < count && (jobs[i].finished || all); i++) {
        if (jobs[i].finished) {
            progress_clear();
            report(ctx, &jobs[i]);
        }
    }
    return i;
}

static bool is_spent(const struct cli_options *options)
{
    const struct cli_budget *budget = options->budget;
    return budget != NULL && (budget->over || (budget->deadline_s > 0 && cli_now_s() >= budget->deadline_s));
}

void cli_forget_jobs(struct cli_job *jobs, int count)
{
    if (count > 0 && jobs[0].outcome != NULL) {
        munmap(jobs[0].outcome, (size_t)count * sizeof *jobs[0].outcome);
    }
    for (int i = 0; i < count; i++) {
        jobs[i].outcome = NULL;
    }
}

int cli_run_jobs(const struct cli_options *options, struct cli_job *jobs, int count, cli_report_fn report,
                 void *ctx)
{
    sigset_t set = waited_signals();
    static struct slot *slots; /* a worker that is forked leaves it to its parent */
    int next = 0, reported = 0;
    if (count == 0) {
        return 0;
    }
    at_once = options->jobs < count ? options->jobs : count;
    slots = calloc((size_t)options->jobs, sizeof *slots);
    if (!slots || share_outcomes(jobs, count, options->coverage) != 0) {
        free(slots);
        return -1;
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (next >= 0 && (next < count || busy_slots(slots, options->jobs) > 0) && !interrupted &&
           !is_spent(options)) {
        next = fill_slots(options, slots, jobs, next, count);
        show_progress(slots, options->jobs, jobs, count_finished(jobs, count), count);
        wait_for_one(options, slots, jobs);
        reported = report_finished(jobs, reported, count, false, report, ctx);
    }
    stop_workers(slots, options->jobs, jobs);
    report_finished(jobs, reported, count, true, report, ctx);
    progress_clear();
    free(slots); /* the signals stay blocked: what has been found is still to be told */
    return next < 0 ? -1 : count_finished(jobs, count);
}
