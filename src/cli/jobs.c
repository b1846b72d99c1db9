/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "cli/progress.h"
#include "cli/worker.h"
#include "sim/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define LOOK_AGAIN_MS 200 /* interval between looks at workers that are stopping */
#define GRACE_S 10        /* time in which an interrupted search may end by itself */

static bool interrupted;

bool cli_interrupted(void)
{
    return interrupted;
}

struct slot {
    pid_t pid; /* 0 = free */
    int job;   /* the job of the worker when the parent last looked */
    struct timespec since;
};

struct workers {
    const struct cli_options *options;
    struct cli_job *jobs;
    struct worker_queue *queue;
    struct slot *slots; /* queue->at_once of them */
    size_t queue_size;
};

static double seconds_since(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

static struct cli_job *job_of(const struct workers *workers, const struct slot *slot)
{
    return &workers->jobs[slot->job];
}

/* Notes that a job is done. If it was repeated under a guard after a crash, and the repetition shows neither
 * a violation nor an error, the verdict becomes VERDICT_ERROR. */
static void note_done(struct cli_job *job)
{
    struct outcome *outcome = job->outcome;
    LS_ASSERT(!job->finished && (!job->guarded || job->death > 0));
    job->finished = true;
    if (job->guarded && outcome->verdict != VERDICT_VIOLATED && outcome->verdict != VERDICT_ERROR) {
        outcome->verdict = VERDICT_ERROR;
        outcome_clear_text(outcome);
        outcome_say(outcome, "  the worker died: %s; a repetition under a guard does not show it\n",
                    strsignal(job->death));
    }
}

static void note_end(struct cli_job *job, const struct worker_note *note, int status)
{
    const char *judging = note->judging;
    struct outcome *outcome = job->outcome;
    LS_ASSERT(!job->finished);
    if (outcome->done && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        note_done(job);
        return;
    }
    job->finished = true;
    if (outcome->done && outcome->shrinking) { /* the findings stay valid */
        outcome_say(outcome, "  the worker died while it looked for a shorter trace\n");
        return;
    }
    outcome->verdict = VERDICT_ERROR;
    outcome_clear_text(outcome);
    if (WIFSIGNALED(status)) {
        outcome_say(outcome, "  the worker died%s%s: %s\n", judging != NULL ? " in the property " : "",
                    judging != NULL ? judging : "", strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) == WORKER_WATCHDOG_STATUS && judging != NULL) {
        outcome_say(outcome, "  the property %s does not come back: it has used %d s of processor time\n",
                    judging, WORKER_WATCHDOG_S);
    } else if (WEXITSTATUS(status) == WORKER_WATCHDOG_STATUS) {
        outcome_say(outcome, "  a step does not end: the recipe has used %d s of processor time in it\n",
                    WORKER_WATCHDOG_S);
    } else {
        outcome_say(outcome, "  the worker ended with status %d\n", WEXITSTATUS(status));
    }
}

/* Notes the job that each worker does now, and the jobs that workers have finished and left. */
static void note_progress(struct workers *workers)
{
    struct worker_queue *queue = workers->queue;
    for (int i = 0; i < queue->at_once; i++) {
        struct slot *slot = &workers->slots[i];
        int doing = __atomic_load_n(&queue->doing[i], __ATOMIC_SEQ_CST);
        if (slot->pid > 0 && slot->job != doing) {
            slot->job = doing;
            clock_gettime(CLOCK_MONOTONIC, &slot->since);
        }
    }
    for (int i = 0; i < queue->count; i++) {
        struct cli_job *job = &workers->jobs[i];
        if (!job->finished && __atomic_load_n(&queue->note[i].ended, __ATOMIC_SEQ_CST)) {
            note_done(job);
            job->seconds = queue->note[i].seconds;
        }
    }
}

static void note_worker(struct workers *workers, struct slot *slot, int status)
{
    struct cli_job *job = job_of(workers, slot);
    LS_ASSERT(slot->pid > 0);
    if (!job->finished) {
        job->seconds = seconds_since(&slot->since);
        note_end(job, &workers->queue->note[slot->job], status);
    }
    slot->pid = 0;
}

/* Returns whether a worker crashed in a job that ran without a guard. A recipe that is linked in is searched
 * without a guard, because that is faster; a repetition under a guard may show the run with the crash. */
static bool is_worth_a_guard(const struct cli_job *job, int status)
{
    bool crashed = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM;
    return crashed && !job->outcome->done && !job->guarded && !world_guard_is_set();
}

static pid_t start(struct workers *workers, struct slot *slot)
{
    LS_ASSERT(slot >= workers->slots && !job_of(workers, slot)->finished);
    return worker_start(workers->options, workers->jobs, workers->queue, (int)(slot - workers->slots),
                        slot->job);
}

/* Repeats the job of a dead worker under a guard, if that is of use. Returns whether a worker was started. */
static bool do_guarded(struct workers *workers, struct slot *slot, int status)
{
    struct cli_job *job = job_of(workers, slot);
    if (!is_worth_a_guard(job, status)) {
        return false;
    }
    LS_ASSERT(job->death == 0);
    memset(job->outcome, 0, sizeof *job->outcome);
    workers->queue->note[slot->job].judging = NULL;
    job->guarded = true;
    job->death = WTERMSIG(status);
    slot->pid = start(workers, slot);
    return slot->pid > 0;
}

/* Waits for a signal, `ms` at most; < 0 = without limit. Returns whether it was SIGINT or SIGTERM. */
static bool wait_for_signal(int ms)
{
    sigset_t set = worker_signals();
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    int signal = ms < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &time);
    return signal == SIGINT || signal == SIGTERM;
}

static void wait_for_one(struct workers *workers)
{
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    interrupted = wait_for_signal(pid != 0 ? 0 : progress_due_ms()) || interrupted;
    note_progress(workers);
    for (int i = 0; i < workers->queue->at_once && pid > 0; i++) {
        struct slot *slot = &workers->slots[i];
        if (slot->pid == pid) {
            if (!do_guarded(workers, slot, status)) {
                note_worker(workers, slot, status);
            }
            break;
        }
    }
}

static int busy_slots(const struct workers *workers)
{
    int busy = 0;
    for (int i = 0; i < workers->queue->at_once; i++) {
        busy += workers->slots[i].pid > 0;
    }
    return busy;
}

/* Notes a killed worker. Its findings count if its job was done, even if no shorter trace was found yet. */
static void note_killed(struct workers *workers, struct slot *slot)
{
    struct cli_job *job = job_of(workers, slot);
    LS_ASSERT(slot->pid > 0);
    if (!job->finished) {
        job->finished = job->outcome->done;
        job->seconds = seconds_since(&slot->since);
    }
    slot->pid = 0;
}

static void end_workers(struct workers *workers)
{
    for (int i = 0; i < workers->queue->at_once; i++) {
        struct slot *slot = &workers->slots[i];
        if (slot->pid > 0) {
            kill(slot->pid, SIGKILL);
            waitpid(slot->pid, NULL, 0);
            note_progress(workers);
            note_killed(workers, slot);
        }
    }
}

/* Notes a worker that was told to stop: it ended by itself, or a signal of the parent killed it. */
static void note_stopped(struct workers *workers, struct slot *slot, int status)
{
    bool sent = WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    note_progress(workers);
    if (sent) {
        note_killed(workers, slot);
    } else {
        note_worker(workers, slot, status);
    }
}

/* Returns whether a worker saves its search now. GRACE_S begins anew then, because saving may take longer. */
static bool any_is_saving(const struct workers *workers)
{
    for (int i = 0; i < workers->queue->at_once; i++) {
        const struct slot *slot = &workers->slots[i];
        if (slot->pid > 0 &&
            __atomic_load_n(&job_of(workers, slot)->outcome->search.saving, __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;
}

/* Sends SIGTERM to workers with exploring scenarios, because the findings of a search so far count. Kills the
 * others. Waits for the workers until GRACE_S are over, or a second interrupt comes; then kills the rest. */
static void stop_workers(struct workers *workers)
{
    struct timespec since;
    bool again = false;
    int at_once = workers->queue->at_once;
    clock_gettime(CLOCK_MONOTONIC, &since);
    for (int i = 0; i < at_once; i++) {
        const struct slot *slot = &workers->slots[i];
        if (slot->pid > 0) {
            kill(slot->pid, job_of(workers, slot)->scenario.exploring ? SIGTERM : SIGKILL);
        }
    }
    while (busy_slots(workers) > 0 && !again && seconds_since(&since) < GRACE_S) {
        int status;
        if (any_is_saving(workers)) {
            clock_gettime(CLOCK_MONOTONIC, &since);
        }
        for (int i = 0; i < at_once; i++) {
            struct slot *slot = &workers->slots[i];
            if (slot->pid > 0 && waitpid(slot->pid, &status, WNOHANG) > 0) {
                note_stopped(workers, slot, status);
            }
        }
        again = busy_slots(workers) > 0 && wait_for_signal(LOOK_AGAIN_MS);
    }
    end_workers(workers);
    LS_ASSERT(busy_slots(workers) == 0);
}

static int count_finished(const struct workers *workers)
{
    int finished = 0;
    for (int i = 0; i < workers->queue->count; i++) {
        finished += workers->jobs[i].finished;
    }
    return finished;
}

static void show_progress(const struct workers *workers)
{
    const struct slot *oldest = NULL;
    for (int i = 0; i < workers->queue->at_once; i++) {
        const struct slot *slot = &workers->slots[i];
        bool searches = slot->pid > 0 && job_of(workers, slot)->outcome->search.states > 0;
        if (searches && (oldest == NULL || slot->job < oldest->job)) {
            oldest = slot;
        }
    }
    progress_show(count_finished(workers), workers->queue->count, oldest ? job_of(workers, oldest) : NULL,
                  oldest ? seconds_since(&oldest->since) : 0);
}

static void *share(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int share_outcomes(struct cli_job *jobs, int count, bool covers)
{
    LS_ASSERT(count > 0 && !jobs[0].finished);
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

static int share_queue(struct workers *workers, int count, int at_once)
{
    LS_ASSERT(at_once >= 1 && at_once <= count);
    size_t notes = (size_t)count * sizeof *workers->queue->note;
    workers->queue_size = sizeof *workers->queue + notes + (size_t)at_once * sizeof *workers->queue->doing;
    struct worker_queue *queue = share(workers->queue_size);
    if (queue == MAP_FAILED) {
        return -1;
    }
    struct worker_note *note = (struct worker_note *)(queue + 1);
    *queue = (struct worker_queue){
        .count = count, .at_once = at_once, .doing = (int *)(note + count), .note = note};
    workers->queue = queue;
    return 0;
}

static bool is_all_taken(const struct workers *workers)
{
    return __atomic_load_n(&workers->queue->next, __ATOMIC_SEQ_CST) >= workers->queue->count;
}

/* Returns 0, or -1 with errno set. */
static int fill_slots(struct workers *workers)
{
    for (int i = 0; i < workers->queue->at_once && !is_all_taken(workers) && !interrupted; i++) {
        struct slot *slot = &workers->slots[i];
        if (slot->pid == 0) {
            slot->job = worker_take(workers->queue);
            if (slot->job < 0) { /* a worker has taken the last job meanwhile */
                break;
            }
            clock_gettime(CLOCK_MONOTONIC, &slot->since);
            slot->pid = start(workers, slot);
            if (slot->pid < 0) {
                slot->pid = 0;
                return -1;
            }
        }
    }
    return 0;
}

/* Reports finished jobs from index `from` on, up to the first unfinished job, or with `all` up to the end.
 * Returns the index of the next job to report. */
static int report_finished(const struct workers *workers, int from, bool all, cli_report_fn report, void *ctx)
{
    const struct cli_job *jobs = workers->jobs;
    int i = from;
    for (; i < workers->queue->count && (jobs[i].finished || all); i++) {
        if (jobs[i].finished) {
            progress_clear();
            report(ctx, &jobs[i]);
        }
    }
    LS_ASSERT(i >= from && (!all || i == workers->queue->count));
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
    sigset_t set = worker_signals();
    static struct workers workers; /* static: a forked worker never frees `slots`, which is no leak then */
    int reported = 0, result = 0;
    if (count == 0) {
        return 0;
    }
    int at_once = options->jobs < count ? options->jobs : count;
    workers = (struct workers){.options = options, .jobs = jobs};
    workers.slots = calloc((size_t)at_once, sizeof *workers.slots);
    if (!workers.slots || share_outcomes(jobs, count, options->coverage) != 0 ||
        share_queue(&workers, count, at_once) != 0) {
        free(workers.slots);
        return -1;
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    progress_begin();
    while (result == 0 && (!is_all_taken(&workers) || busy_slots(&workers) > 0) && !interrupted &&
           !is_spent(options)) {
        result = fill_slots(&workers);
        show_progress(&workers);
        wait_for_one(&workers);
        reported = report_finished(&workers, reported, false, report, ctx);
    }
    stop_workers(&workers);
    report_finished(&workers, reported, true, report, ctx);
    progress_clear();
    int finished = count_finished(&workers);
    LS_ASSERT(finished <= count);
    munmap(workers.queue, workers.queue_size);
    free(workers.slots); /* signals stay blocked, so that no signal ends the report */
    return result < 0 ? -1 : finished;
}
