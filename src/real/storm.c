/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The states of a worker (enum worker_state), as its parent sees them:
 *
 *   DOWN --start--> RUNNING <--> STOPPED
 *     ^                |            |
 *     '------hit-------'<-----------'        RUNNING --its rounds are done--> DONE
 *
 * If a worker that is DOWN has no rounds left, it is DONE too.
 *
 * The parent has one thread, so that it may fork at any time. Each TICK_MS it makes the hits that are due. It
 * follows the workers by waitpid(), and by the journal, which it reads while they write it. */
#include "real/storm.h"

#include "base/assert.h"
#include "base/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 3,
    PROGRESS_MS = 200,
    CONNECT_MS_MAX = 5000,
    STANDSTILL_MS_MAX = 90000, /* more than ACQUIRE_MS_MIN of worker.c, after which a worker complains */
    STOP_MS_MIN = 10,
    STOP_PAUSE_MS = 400, /* mean time between two stops, in a strict run */
    KILL_PAUSE_MS = 800, /* mean time between two kills, in a strict run */
    KILL_SECTIONS = 8,   /* number of sections between two kills, for each worker; see wind() */
};

enum worker_state { DOWN, RUNNING, STOPPED, DONE };

struct storm_worker {
    pid_t pid;
    enum worker_state state;
    int incarnation;
    bool hit;            /* SIGKILL was sent */
    bool doomed;         /* SIGKILL will be sent when the worker halts */
    int64_t continue_ms; /* STOPPED: earliest time to go on */
    int64_t patience_ms; /* STOPPED: time to go on in any case */
    int64_t token;       /* STOPPED: waits for a larger token than this, see may_continue(); 0 = does not */
    int64_t spared_until_ms; /* earliest time of the next stop */
};

/* The next hit of a kind: a stop or a kill. */
struct storm_clock {
    int64_t next_ms;        /* earliest time */
    uint32_t next_sections; /* number of sections that must be entered before */
    int pause_ms;           /* mean time between two hits */
    int pause_sections;     /* number of sections between two hits, of all workers together */
    uint32_t aim;           /* 0 .. 2, for the function that hits */
    bool aimed;             /* `aim` is drawn, and no worker has fitted yet */
};

struct storm {
    const struct real_plan *plan;
    struct real_result *result;
    struct real_board *boards;
    struct storm_worker workers[REAL_WORKERS_MAX];
    struct real_reader reader;
    struct rng rng;
    int journal;
    int64_t start_ms;
    struct storm_clock stop_clock;
    struct storm_clock kill_clock;
    int64_t moved_ms; /* time at which the last section was seen */
    uint32_t sections;
    enum real_outcome outcome;
    bool over;
};

static int64_t now_ms(void)
{
    return real_journal_now_ns() / 1000000;
}

static void sleep_ms(int ms)
{
    struct timespec pause = {.tv_nsec = (long)ms * 1000000};
    nanosleep(&pause, NULL);
}

static void end(struct storm *storm, enum real_outcome outcome, const char *why)
{
    LS_ASSERT(outcome == REAL_RUN_ENDED || why != NULL);
    if (storm->over)
        return;
    storm->over = true;
    storm->outcome = outcome;
    storm->result->why = why;
}

static int around(struct storm *storm, int mean)
{
    LS_ASSERT(mean >= 0);
    return mean / 2 + (int)rng_below(&storm->rng, (uint32_t)mean + 1);
}

static int count_state(const struct storm *storm, enum worker_state state)
{
    int count = 0;
    for (int i = 0; i < storm->plan->processes; i++)
        count += storm->workers[i].state == state;
    return count;
}

static void note(struct storm *storm, int slot, enum real_kind kind, int64_t value)
{
    LS_ASSERT(slot >= 0 && slot < storm->plan->processes && kind >= REAL_STARTED);
    struct real_line line = {.kind = kind, .slot = slot, .incarnation = storm->workers[slot].incarnation};
    line.value = value;
    if (real_journal_write(storm->journal, &line))
        end(storm, REAL_RUN_FAILED, "the journal cannot be written");
}

/* ---- the journal ---- */

static void read_journal(struct storm *storm)
{
    struct real_line line;
    int rc;
    while ((rc = real_reader_next(&storm->reader, &line)) > 0)
        if (real_audit_take(&storm->result->audit, &line)) {
            rc = -1;
            break;
        }
    if (rc < 0)
        end(storm, REAL_RUN_FAILED, "the journal cannot be read");
    LS_ASSERT(storm->sections <= storm->result->audit.sections);
    if (storm->sections != storm->result->audit.sections) {
        storm->sections = storm->result->audit.sections;
        storm->moved_ms = now_ms();
    }
}

/* ---- starting ---- */

static struct real_job job_of(const struct storm *storm, int slot)
{
    const struct real_plan *plan = storm->plan;
    return (struct real_job){.hosts = plan->hosts,
                             .path = plan->path,
                             .dir = plan->dir,
                             .session_timeout_ms = plan->session_timeout_ms,
                             .mode = plan->mode,
                             .slot = slot,
                             .incarnation = storm->workers[slot].incarnation,
                             .rounds = plan->rounds - (int)storm->result->audit.worker[slot].wrote,
                             .seed = plan->seed,
                             .board = &storm->boards[slot]};
}

/* Prepares a child: the child ignores SIGINT, SIGTERM and SIGHUP, and dies with its parent. */
static void settle_in(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(REAL_END_FAILED);
}

/* Forks a worker. The worker ends with _exit(), because exit() would write output that the parent has
 * buffered. */
static pid_t fork_job(const struct real_job *job, bool probe)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid)
        return pid;
    settle_in(parent);
    _exit((int)(probe ? real_worker_probe(job, CONNECT_MS_MAX) : real_worker_run(job)));
}

/* Starts a worker with the rounds that its killed predecessors left; if they left none, sets it DONE. All
 * lines of a predecessor were read before. */
static void start(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    LS_ASSERT(worker->state == DOWN);
    atomic_store(&storm->boards[slot].halt, 0);
    struct real_job job = job_of(storm, slot);
    if (job.rounds <= 0) {
        worker->state = DONE;
        return;
    }
    worker->hit = false;
    worker->doomed = false;
    worker->pid = fork_job(&job, false);
    if (worker->pid < 0) {
        end(storm, REAL_RUN_FAILED, "a worker cannot be started");
        return;
    }
    worker->state = RUNNING;
    worker->spared_until_ms = 0;
    note(storm, slot, REAL_STARTED, worker->pid);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Finds out whether there is a server, and which session timeout it grants. */
static void probe(struct storm *storm)
{
    struct real_job job = job_of(storm, 0);
    if (storm->plan->mode == REAL_NO_LOCK)
        return;
    pid_t pid = fork_job(&job, true);
    int status = pid < 0 ? -1 : wait_for(pid);
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != REAL_END_DONE)
        end(storm, REAL_RUN_NO_SERVER, "no ZooKeeper server answers there");
    storm->result->session_timeout_ms = atomic_load(&storm->boards[0].timeout_ms);
}

/* ---- stopping and going on ---- */

/* Returns the time in ms that a worker has from its check to the end of its write: the session timeout less
 * REAL_MARGIN_PERCENT of it. */
static int slack_ms(const struct storm *storm)
{
    return storm->result->session_timeout_ms * (100 - REAL_MARGIN_PERCENT) / 100;
}

/* Returns the length of a stop in ms. In a strict run it is at most STOP_MS_MIN plus half of the slack; the
 * other half is for delays of the machine. In a long-stop run the stop outlasts the session: a server whose
 * tick is at most half of the timeout ends the session within 1.5 timeouts (F27). */
static int stop_length_ms(struct storm *storm)
{
    int timeout_ms = storm->result->session_timeout_ms;
    if (storm->plan->mode == REAL_LONG_STOPS)
        return timeout_ms * 16 / 10 + (int)rng_below(&storm->rng, (uint32_t)timeout_ms);
    return STOP_MS_MIN + (int)rng_below(&storm->rng, (uint32_t)slack_ms(storm) / 2);
}

static void stand_still(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    int64_t now = now_ms();
    LS_ASSERT(worker->state == RUNNING && worker->pid > 0);
    worker->state = STOPPED;
    worker->token = 0;
    worker->continue_ms = now + stop_length_ms(storm);
    worker->patience_ms =
        worker->continue_ms + CONNECT_MS_MAX + INT64_C(5) * storm->result->session_timeout_ms;
    LS_ASSERT(worker->continue_ms > now && worker->patience_ms > worker->continue_ms);
    storm->result->stops++;
    note(storm, slot, REAL_STOPPED, worker->continue_ms - now);
}

static void kill_worker(struct storm *storm, int slot)
{
    LS_ASSERT(storm->workers[slot].pid > 0 && storm->workers[slot].state != DOWN);
    storm->workers[slot].hit = true;
    kill(storm->workers[slot].pid, SIGKILL);
}

/* Handles a worker that has halted: kills it if it is doomed, otherwise counts the halt as a stop. In a
 * long-stop run the worker then waits for a section with a larger token, see may_continue(). */
static void on_halt(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    if (worker->doomed) {
        kill_worker(storm, slot);
        return;
    }
    read_journal(storm);
    stand_still(storm, slot);
    storm->result->halts++;
    if (storm->plan->mode == REAL_LONG_STOPS)
        worker->token = storm->result->audit.worker[slot].token;
}

/* Returns whether a section with a larger token is still possible. */
static bool others_go_on(const struct storm *storm)
{
    return count_state(storm, RUNNING) + count_state(storm, DOWN) > 0;
}

static bool may_continue(const struct storm *storm, const struct storm_worker *worker, int64_t now)
{
    if (worker->state != STOPPED || now < worker->continue_ms)
        return false;
    return now >= worker->patience_ms || !worker->token || storm->result->audit.token_max > worker->token ||
           !others_go_on(storm);
}

/* Lets a worker go on. For slack_ms() may_stop() is false for it, so that the stops of a section do not add
 * up. */
static void go_on(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    LS_ASSERT(worker->state == STOPPED && worker->pid > 0);
    worker->state = RUNNING;
    worker->spared_until_ms = now_ms() + slack_ms(storm);
    note(storm, slot, REAL_CONTINUED, 0);
    kill(worker->pid, SIGCONT);
}

static void continue_all_due(struct storm *storm)
{
    int64_t now = now_ms();
    for (int i = 0; i < storm->plan->processes; i++)
        if (may_continue(storm, &storm->workers[i], now))
            go_on(storm, i);
}

/* ---- ends of workers ---- */

static void on_exit_status(struct storm *storm, int slot, int status)
{
    struct storm_worker *worker = &storm->workers[slot];
    LS_ASSERT(worker->state == RUNNING || worker->state == STOPPED);
    note(storm, slot, REAL_ENDED, status);
    worker->state = DONE;
    if (status == REAL_END_NO_SERVER)
        end(storm, REAL_RUN_NO_SERVER, "the server has gone away during the run");
    else if (status != REAL_END_DONE)
        end(storm, REAL_RUN_FAILED, "a worker failed");
}

/* Handles the death of a worker by a signal. Counts kills here and not in kill_worker(), because a worker
 * may end by itself before the SIGKILL comes. */
static void on_death(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    LS_ASSERT(worker->state == RUNNING || worker->state == STOPPED);
    note(storm, slot, REAL_KILLED, 0);
    worker->state = DOWN;
    worker->incarnation++;
    if (worker->hit)
        storm->result->kills++;
    else
        end(storm, REAL_RUN_FAILED, "a worker crashed");
}

static void reap(struct storm *storm, int slot)
{
    struct storm_worker *worker = &storm->workers[slot];
    int status;
    if (worker->state == DOWN || worker->state == DONE)
        return;
    if (waitpid(worker->pid, &status, WNOHANG | WUNTRACED) != worker->pid)
        return;
    if (WIFSTOPPED(status) && worker->state == RUNNING)
        on_halt(storm, slot);
    else if (WIFEXITED(status))
        on_exit_status(storm, slot, WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        on_death(storm, slot);
}

static void reap_all(struct storm *storm)
{
    for (int i = 0; i < storm->plan->processes; i++)
        reap(storm, i);
    read_journal(storm);
    for (int i = 0; i < storm->plan->processes && !storm->over; i++)
        if (storm->workers[i].state == DOWN)
            start(storm, i);
}

/* Ends all live workers; SIGKILL ends stopped ones too. */
static void end_all(struct storm *storm)
{
    for (int i = 0; i < storm->plan->processes; i++) {
        struct storm_worker *worker = &storm->workers[i];
        if (worker->state != RUNNING && worker->state != STOPPED)
            continue;
        LS_ASSERT(worker->pid > 0);
        kill(worker->pid, SIGKILL);
        wait_for(worker->pid);
        note(storm, i, REAL_KILLED, 0);
        worker->state = DOWN;
    }
    read_journal(storm);
}

/* ---- hitting ----
 *
 * A worker waits much longer than its section lasts, so most random hits meet a waiting worker. Therefore
 * some hits are aimed at a worker that is inside. Others are halts: the worker stops itself at a point of
 * its section (enum real_halt). */

enum { NOBODY = -1 };

static bool is_up(const struct storm_worker *worker)
{
    return (worker->state == RUNNING || worker->state == STOPPED) && !worker->hit;
}

static bool may_stop(const struct storm_worker *worker)
{
    return worker->state == RUNNING && !worker->hit && now_ms() >= worker->spared_until_ms;
}

/* Returns a random worker that fits and, with `inside`, is inside; -1 = there is none. */
static int pick(struct storm *storm, bool (*fits)(const struct storm_worker *worker), bool inside)
{
    int fitting[REAL_WORKERS_MAX], count = 0;
    for (int i = 0; i < storm->plan->processes; i++)
        if (fits(&storm->workers[i]) && (!inside || storm->result->audit.worker[i].inside))
            fitting[count++] = i;
    return count ? fitting[rng_below(&storm->rng, (uint32_t)count)] : NOBODY;
}

/* Tells a random worker of may_stop() to halt at a point of its next section. Returns the slot, or -1. */
static int halt_one(struct storm *storm, enum real_halt where)
{
    LS_ASSERT(where != REAL_HALT_NOWHERE);
    int slot = pick(storm, may_stop, false);
    if (slot != NOBODY)
        atomic_store(&storm->boards[slot].halt, where);
    return slot;
}

static int stop_one(struct storm *storm, bool inside)
{
    int slot = pick(storm, may_stop, inside);
    if (slot == NOBODY)
        return NOBODY;
    kill(storm->workers[slot].pid, SIGSTOP);
    stand_still(storm, slot);
    return slot;
}

static int short_stop(struct storm *storm, uint32_t aim)
{
    return aim == 0 ? halt_one(storm, REAL_HALT_BEFORE_WRITE) : stop_one(storm, aim == 1);
}

/* Makes a long stop. About one in three, and each one before the first halt, is between check and write,
 * where only the fence can prevent a wrong write. If half of the workers, rounded down, are stopped
 * already, or fewer than two run, hits none. */
static int long_stop(struct storm *storm, uint32_t aim)
{
    int limit = storm->plan->processes / 2 > 1 ? storm->plan->processes / 2 : 1;
    if (count_state(storm, STOPPED) >= limit || count_state(storm, RUNNING) < 2)
        return NOBODY;
    if (!storm->result->halts || aim % 2)
        return halt_one(storm, REAL_HALT_BEFORE_WRITE);
    return stop_one(storm, aim == 0);
}

static int kill_one(struct storm *storm, uint32_t aim)
{
    int slot = aim == 0 ? halt_one(storm, REAL_HALT_AFTER_WRITE) : pick(storm, is_up, aim == 1);
    if (slot == NOBODY)
        return NOBODY;
    if (aim == 0)
        storm->workers[slot].doomed = true;
    else
        kill_worker(storm, slot);
    return slot;
}

/* Sets the time of the next hit. While the session of a killed worker lasts, the others may wait, and more
 * kills show little. So three hits in four also wait for pause_sections more sections. */
static void wind(struct storm *storm, struct storm_clock *clock, int64_t now)
{
    clock->next_ms = now + around(storm, clock->pause_ms);
    clock->next_sections = 0;
    LS_ASSERT(clock->next_ms >= now && !clock->aimed);
    if (rng_below(&storm->rng, 4))
        clock->next_sections = storm->result->audit.sections + (uint32_t)clock->pause_sections;
}

/* Makes a hit if it is due. If no worker fits, tries again at the next tick, with the same aim. */
static void hit_if_due(struct storm *storm, struct storm_clock *clock,
                       int (*hit)(struct storm *storm, uint32_t aim))
{
    int64_t now = now_ms();
    if (now < clock->next_ms || storm->result->audit.sections < clock->next_sections)
        return;
    if (!clock->aimed)
        clock->aim = rng_below(&storm->rng, 3);
    LS_ASSERT(clock->aim < 3);
    clock->aimed = hit(storm, clock->aim) == NOBODY;
    if (!clock->aimed)
        wind(storm, clock, now);
}

/* A long-stop run has no kills before the fence has refused a token. */
static void hit(struct storm *storm)
{
    if (storm->plan->mode == REAL_STRICT) {
        hit_if_due(storm, &storm->stop_clock, short_stop);
        hit_if_due(storm, &storm->kill_clock, kill_one);
    } else if (storm->plan->mode == REAL_LONG_STOPS) {
        hit_if_due(storm, &storm->stop_clock, long_stop);
        if (storm->result->audit.refused)
            hit_if_due(storm, &storm->kill_clock, kill_one);
    }
}

/* ---- the run ---- */

static bool open_all(struct storm *storm)
{
    size_t size = REAL_WORKERS_MAX * sizeof *storm->boards;
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    storm->boards = shared == MAP_FAILED ? NULL : shared;
    storm->journal = real_journal_open(storm->plan->dir);
    storm->reader.fd = storm->journal;
    return storm->boards && storm->journal >= 0;
}

static void close_all(struct storm *storm)
{
    if (storm->boards)
        munmap(storm->boards, REAL_WORKERS_MAX * sizeof *storm->boards);
    if (storm->journal >= 0)
        close(storm->journal);
}

static void begin(struct storm *storm)
{
    struct real_result *result = storm->result;
    storm->start_ms = storm->moved_ms = now_ms();
    bool strict = storm->plan->mode == REAL_STRICT;
    storm->stop_clock.pause_ms = strict ? STOP_PAUSE_MS : 2 * result->session_timeout_ms;
    storm->kill_clock.pause_ms = strict ? KILL_PAUSE_MS : 3 * result->session_timeout_ms;
    storm->kill_clock.pause_sections = KILL_SECTIONS * storm->plan->processes;
    storm->stop_clock.next_ms = storm->kill_clock.next_ms = storm->start_ms + around(storm, STOP_PAUSE_MS);
    result->audit.late_ms = strict ? slack_ms(storm) : 0;
    for (int i = 0; i < storm->plan->processes; i++)
        start(storm, i);
}

static void step(struct storm *storm)
{
    sleep_ms(TICK_MS);
    reap_all(storm);
    continue_all_due(storm);
    hit(storm);
    storm->result->elapsed_ms = now_ms() - storm->start_ms;
    if (count_state(storm, DONE) == storm->plan->processes)
        end(storm, REAL_RUN_ENDED, NULL);
    if (now_ms() - storm->moved_ms > STANDSTILL_MS_MAX + 10 * storm->result->session_timeout_ms)
        end(storm, REAL_RUN_FAILED, "the run stands still");
}

static void loop(struct storm *storm, const volatile sig_atomic_t *stop, real_progress_fn progress, void *ctx)
{
    int64_t shown_ms = 0;
    while (!storm->over) {
        step(storm);
        if (*stop)
            end(storm, REAL_RUN_INTERRUPTED, "interrupted");
        if (progress && now_ms() - shown_ms >= PROGRESS_MS) {
            shown_ms = now_ms();
            progress(ctx, storm->result);
        }
    }
}

static void audit(struct storm *storm)
{
    struct real_resource resource = {.dir = storm->plan->dir, .lock_fd = -1};
    LS_ASSERT(count_state(storm, DOWN) + count_state(storm, DONE) == storm->plan->processes);
    if (real_resource_read(&resource, 0, &storm->result->counter) == REAL_ACCESS_OK) {
        real_audit_settle(&storm->result->audit, &storm->result->counter);
        return;
    }
    storm->outcome = REAL_RUN_FAILED;
    storm->result->why = "the counter cannot be read";
}

enum real_outcome real_storm_run(const struct real_plan *plan, struct real_result *result,
                                 const volatile sig_atomic_t *stop, real_progress_fn progress, void *ctx)
{
    struct storm *storm = calloc(1, sizeof *storm);
    memset(result, 0, sizeof *result);
    real_audit_init(&result->audit);
    result->why = "out of memory";
    if (!storm)
        return REAL_RUN_FAILED;
    result->why = NULL;
    storm->plan = plan;
    storm->result = result;
    rng_seed(&storm->rng, plan->seed);
    if (!open_all(storm))
        end(storm, REAL_RUN_FAILED, "the folder of the run cannot be used");
    else
        probe(storm);
    if (!storm->over) {
        begin(storm);
        loop(storm, stop, progress, ctx);
        end_all(storm);
        audit(storm);
    }
    enum real_outcome outcome = storm->outcome;
    close_all(storm);
    free(storm);
    return outcome;
}
