/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Workers: a forked process for each scenario. A recipe that crashes or never returns costs one scenario, and
 * each world has an address space of its own. */

#include "cli/cli.h"
#include "scenario/direct.h"
#include "scenario/random.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCHDOG_S 10 /* of processor time without a step */
#define WATCHDOG_STATUS 99

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

static void run_random(const struct cli_options *options, const struct run_setup *setup, uint64_t runs,
                       struct outcome *outcome)
{
    static struct outcome directed;
    directed = *outcome;
    memset(outcome, 0, sizeof *outcome);
    random_run(setup, options->seed, runs, options->out, outcome);
    if (!setup->scenario->exploring) {
        merge(outcome, &directed);
    } else if (outcome->verdict == VERDICT_LIMIT || outcome->verdict == VERDICT_HOLDS) {
        uint64_t schedules = outcome->runs;
        *outcome = directed; /* what the search says is worth more */
        outcome->runs = schedules;
    }
}

static volatile int stop_asked;

static void on_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* A search ends in an orderly way when it is told to: what it has found until then is worth telling. */
static void search(const struct cli_options *options, const struct run_setup *setup, struct outcome *outcome)
{
    struct explore_options explore = options->search;
    struct sigaction action = {.sa_handler = on_stop};
    explore.out = options->out;
    explore.stop = &stop_asked;
    sigaction(SIGTERM, &action, NULL);
    explore_run(setup, &explore, outcome);
}

static void work(const struct cli_options *options, struct cli_job *job)
{
    struct run_setup setup = {.scenario = &job->scenario,
                              .recipe = options->found_recipe,
                              .seed = options->seed,
                              .seeded = options->seed_given};
    struct direct_options direct = {.out = options->out, .rewrite = options->rewrite};
    enum verdict *verdict = &job->outcome->verdict;
    if (job->scenario.exploring) {
        search(options, &setup, job->outcome);
    } else {
        direct_run(&setup, &direct, job->outcome);
    }
    if (options->seeds > 0 &&
        (*verdict == VERDICT_HOLDS || *verdict == VERDICT_DIFFERS || *verdict == VERDICT_LIMIT)) {
        run_random(options, &setup, options->seeds, job->outcome);
    }
    job->outcome->done = true;
    job->outcome->shrinking = true;
    cli_prepare_failure(job->outcome, !options->no_shrink);
    job->outcome->shrinking = false;
}

static pid_t start(const struct cli_options *options, struct cli_job *job)
{
    fflush(NULL); /* or the worker would write it again */
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    sigset_t set = waited_signals();
    signal(SIGINT, SIG_IGN); /* the parent ends its workers itself */
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    start_watchdog();
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

static void note_worker(struct slot *slots, int count, struct cli_job *jobs, pid_t pid, int status)
{
    for (int i = 0; i < count; i++) {
        if (slots[i].pid == pid) {
            jobs[slots[i].job].seconds = seconds_since(&slots[i].since);
            note_end(&jobs[slots[i].job], status);
            slots[i].pid = 0;
        }
    }
}

/* Waits until a worker has ended or somebody interrupts. */
static void wait_for_one(struct slot *slots, int count, struct cli_job *jobs)
{
    sigset_t set = waited_signals();
    for (;;) {
        struct timespec no_time = {0, 0};
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        int signal = pid != 0 ? sigtimedwait(&set, NULL, &no_time) : sigwaitinfo(&set, NULL);
        interrupted = interrupted || signal == SIGINT || signal == SIGTERM;
        if (pid > 0) {
            note_worker(slots, count, jobs, pid, status);
        }
        if (pid != 0 || interrupted) {
            return;
        }
    }
}

/* What they have found counts, even if they were still looking for a shorter way to show it. */
static int end_workers(struct slot *slots, int count, struct cli_job *jobs)
{
    int finished = 0;
    for (int i = 0; i < count; i++) {
        if (slots[i].pid > 0) {
            struct cli_job *job = &jobs[slots[i].job];
            kill(slots[i].pid, SIGKILL);
            waitpid(slots[i].pid, NULL, 0);
            slots[i].pid = 0;
            job->finished = job->outcome->done;
            job->seconds = seconds_since(&slots[i].since);
            finished += job->finished;
        }
    }
    return finished;
}

static void show_progress(int finished, int count)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%d of %d scenarios\033[K", finished, count);
        if (finished == count) {
            fputs("\r\033[K", stderr);
        }
    }
}

static int share_outcomes(struct cli_job *jobs, int count)
{
    size_t size = (size_t)count * sizeof(struct outcome);
    struct outcome *outcomes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (outcomes == MAP_FAILED) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        jobs[i].outcome = &outcomes[i];
    }
    return 0;
}

static int busy_slots(const struct slot *slots, int count)
{
    int busy = 0;
    for (int i = 0; i < count; i++) {
        busy += slots[i].pid > 0;
    }
    return busy;
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

int cli_run_jobs(const struct cli_options *options, struct cli_job *jobs, int count, cli_report_fn report,
                 void *ctx)
{
    sigset_t set = waited_signals();
    static struct slot *slots; /* a worker that is forked leaves it to its parent */
    int next = 0, reported = 0, finished = 0;
    slots = calloc((size_t)options->jobs, sizeof *slots);
    if (!slots || share_outcomes(jobs, count) != 0) {
        free(slots);
        return -1;
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (next >= 0 && (next < count || busy_slots(slots, options->jobs) > 0) && !interrupted) {
        next = fill_slots(options, slots, jobs, next, count);
        wait_for_one(slots, options->jobs, jobs);
        for (; reported < count && jobs[reported].finished; reported++) {
            report(ctx, &jobs[reported]);
        }
        finished = 0;
        for (int i = 0; i < count; i++) {
            finished += jobs[i].finished;
        }
        show_progress(finished, count);
    }
    finished += end_workers(slots, options->jobs, jobs);
    for (; reported < count; reported++) { /* interrupted: what came out of order is told too */
        if (jobs[reported].finished) {
            report(ctx, &jobs[reported]);
        }
    }
    free(slots); /* the signals stay blocked: what has been found is still to be told */
    return next < 0 ? -1 : finished;
}
