/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "real/worker.h"

#include "base/assert.h"
#include "base/rng.h"
#include "real/journal.h"
#include "real/resource.h"

#include <errno.h>
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    DAWDLE_MS_MAX = 8,      /* limit of the pause between read and write */
    ACQUIRE_MS_MIN = 30000, /* with 5 session timeouts more, the limit of one acquire */
    TICK_MS = 5,
};

struct worker {
    const struct real_job *job;
    struct ls_env *env;
    struct ls_session session;
    struct ls_mutex mutex;
    struct real_resource resource;
    struct rng rng;
    char contents[32];
    int journal;
    uint32_t sections;
    int64_t checked_ns; /* time of the last check() that found the lock held */
};

enum round { ROUND_DONE, ROUND_AGAIN, ROUND_NO_SERVER, ROUND_FAILED };

static void sleep_ms(uint32_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
}

static enum round complain(const struct worker *worker, const char *what, const char *why)
{
    fprintf(stderr, "worker %d.%d: %s: %s\n", worker->job->slot, worker->job->incarnation, what, why);
    return ROUND_FAILED;
}

/* ---- the lock, or none ---- */

static bool locking(const struct worker *worker)
{
    return worker->job->mode != REAL_NO_LOCK;
}

static enum round overdue(const struct worker *worker)
{
    if (ls_session_state(&worker->session) != LS_STATE_CONNECTED)
        return ROUND_NO_SERVER;
    return complain(worker, "acquire", "waited too long, although connected");
}

static enum round take(struct worker *worker)
{
    if (!locking(worker))
        return ROUND_DONE;
    int rc = ls_mutex_acquire(&worker->mutex, ACQUIRE_MS_MIN + 5 * worker->job->session_timeout_ms);
    if (rc == LS_OK)
        return ROUND_DONE;
    if (rc == LS_ELOST)
        return ROUND_AGAIN;
    return rc == LS_ETIMEDOUT ? overdue(worker) : complain(worker, "acquire", ls_strerror(rc));
}

/* Releases the lock. LS_ELOST and LS_EUNSURE, after a lost session or answer, are no failures of the lock. */
static enum round give_back(struct worker *worker, enum round round)
{
    int rc = locking(worker) ? ls_mutex_release(&worker->mutex) : LS_OK;
    if (rc == LS_OK || rc == LS_ELOST || rc == LS_EUNSURE)
        return round;
    return complain(worker, "release", ls_strerror(rc));
}

/* Returns whether the worker believes that it holds; true without a lock. The belief ends at
 * REAL_MARGIN_PERCENT of the session timeout, so the hold lasts at least for the other percents of it from
 * now on. */
static bool check(struct worker *worker)
{
    int64_t now_ns = real_journal_now_ns();
    if (locking(worker) && ls_mutex_query(&worker->mutex, ls_env_self(worker->env)) != LS_HELD)
        return false;
    worker->checked_ns = now_ns;
    return true;
}

static int64_t token_of(struct worker *worker)
{
    return locking(worker) ? ls_mutex_token(&worker->mutex, ls_env_self(worker->env)) : 0;
}

/* ---- one section ---- */

static int note(const struct worker *worker, const struct real_line *section, enum real_kind kind)
{
    struct real_line line = *section;
    LS_ASSERT(kind <= REAL_LEAVE && section->id != 0);
    line.kind = kind;
    if (kind == REAL_LEAVE)
        line.value = (real_journal_now_ns() - worker->checked_ns) / 1000000;
    return real_journal_write(worker->journal, &line);
}

static void halt_if_told(struct worker *worker, enum real_halt here)
{
    int told = here;
    LS_ASSERT(here != REAL_HALT_NOWHERE);
    if (atomic_compare_exchange_strong(&worker->job->board->halt, &told, REAL_HALT_NOWHERE))
        raise(SIGSTOP);
}

static enum round write_back(struct worker *worker, struct real_line *section)
{
    struct real_record next = {.value = section->value, .writer = section->id};
    if (!check(worker))
        return note(worker, section, REAL_DOUBTED) ? ROUND_FAILED : ROUND_AGAIN;
    halt_if_told(worker, REAL_HALT_BEFORE_WRITE);
    if (note(worker, section, REAL_WRITES))
        return ROUND_FAILED;
    switch (real_resource_write(&worker->resource, section->token, &next)) {
    case REAL_ACCESS_OK:
        halt_if_told(worker, REAL_HALT_AFTER_WRITE);
        return note(worker, section, REAL_WROTE) ? ROUND_FAILED : ROUND_DONE;
    case REAL_ACCESS_REFUSED:
        return note(worker, section, REAL_REFUSED) ? ROUND_FAILED : ROUND_AGAIN;
    default:
        return ROUND_FAILED;
    }
}

static enum round read_and_write(struct worker *worker, struct real_line *section)
{
    struct real_record record;
    switch (real_resource_read(&worker->resource, section->token, &record)) {
    case REAL_ACCESS_OK:
        break;
    case REAL_ACCESS_REFUSED:
        return note(worker, section, REAL_REFUSED) ? ROUND_FAILED : ROUND_AGAIN;
    default:
        return ROUND_FAILED;
    }
    section->basis = record.writer;
    section->value = record.value + 1;
    sleep_ms(rng_below(&worker->rng, DAWDLE_MS_MAX + 1));
    return write_back(worker, section);
}

/* Does one section, between enter and leave. */
static enum round guarded(struct worker *worker)
{
    const struct real_job *job = worker->job;
    struct real_line section = {
        .slot = job->slot, .incarnation = job->incarnation, .token = token_of(worker)};
    section.id = (uint64_t)(job->slot + 1) << 48 | (uint64_t)job->incarnation << 32 | ++worker->sections;
    if (!check(worker))
        return ROUND_AGAIN;
    if (note(worker, &section, REAL_ENTER))
        return complain(worker, "journal", strerror(errno));
    enum round round = read_and_write(worker, &section);
    if (round == ROUND_FAILED)
        complain(worker, "counter or journal", strerror(errno));
    if (note(worker, &section, REAL_LEAVE))
        return complain(worker, "journal", strerror(errno));
    return round;
}

static enum round do_round(struct worker *worker)
{
    enum round round = take(worker);
    return round == ROUND_DONE ? give_back(worker, guarded(worker)) : round;
}

static enum real_end do_rounds(struct worker *worker)
{
    LS_ASSERT(worker->job->rounds > 0 && worker->sections == 0);
    for (int done = 0; done < worker->job->rounds;) {
        enum round round = do_round(worker);
        if (round == ROUND_DONE)
            done++;
        else if (round != ROUND_AGAIN)
            return round == ROUND_FAILED ? REAL_END_FAILED : REAL_END_NO_SERVER;
    }
    return REAL_END_DONE;
}

/* ---- life ---- */

/* Opens the lock. Workers with odd slots refresh their belief with syncs, so that both ways are tested. */
static int open_lock(struct worker *worker)
{
    static const struct ls_session_options plain = {.margin_percent = REAL_MARGIN_PERCENT,
                                                    .no_refresh = true};
    static const struct ls_session_options fresh = {.margin_percent = REAL_MARGIN_PERCENT};
    const struct real_job *job = worker->job;
    zoo_set_debug_level((ZooLogLevel)0);
    int rc = ls_env_pthread_open(&worker->env);
    if (rc)
        return rc;
    rc = ls_session_init(&worker->session, worker->env, job->hosts, job->session_timeout_ms,
                         job->slot % 2 ? &fresh : &plain);
    if (!rc)
        rc = ls_mutex_init(&worker->mutex, &worker->session, job->path, NULL);
    if (!rc)
        rc = ls_mutex_set_contents(&worker->mutex, worker->contents, (int)strlen(worker->contents));
    return rc ? rc : ls_session_start(&worker->session);
}

static void close_lock(struct worker *worker)
{
    if (!worker->env)
        return;
    ls_mutex_close(&worker->mutex);
    if (worker->session.env)
        ls_session_close(&worker->session);
    ls_env_pthread_close(worker->env);
}

static enum real_end run(struct worker *worker)
{
    int rc = locking(worker) ? open_lock(worker) : LS_OK;
    enum real_end end = REAL_END_FAILED;
    if (rc)
        complain(worker, "session", ls_strerror(rc));
    else
        end = do_rounds(worker);
    close_lock(worker);
    return end;
}

enum real_end real_worker_run(const struct real_job *job)
{
    struct worker worker = {.job = job};
    enum real_end end = REAL_END_FAILED;
    snprintf(worker.contents, sizeof worker.contents, "worker %d.%d", job->slot, job->incarnation);
    rng_seed(&worker.rng, job->seed + (uint64_t)job->slot * 65536 + (uint64_t)job->incarnation);
    worker.journal = real_journal_open(job->dir);
    if (worker.journal < 0 || real_resource_open(&worker.resource, job->dir, job->mode == REAL_LONG_STOPS)) {
        complain(&worker, job->dir, strerror(errno));
    } else {
        end = run(&worker);
        real_resource_close(&worker.resource);
    }
    if (worker.journal >= 0)
        close(worker.journal);
    return end;
}

enum real_end real_worker_probe(const struct real_job *job, int wait_ms)
{
    struct worker worker = {.job = job};
    int rc = open_lock(&worker);
    if (rc)
        complain(&worker, job->hosts, ls_strerror(rc));
    for (int waited_ms = 0; !rc && waited_ms < wait_ms; waited_ms += TICK_MS) {
        if (ls_session_state(&worker.session) == LS_STATE_CONNECTED) {
            atomic_store(&job->board->timeout_ms, ls_session_timeout_ms(&worker.session));
            break;
        }
        sleep_ms(TICK_MS);
    }
    close_lock(&worker);
    return atomic_load(&job->board->timeout_ms) ? REAL_END_DONE : REAL_END_NO_SERVER;
}
