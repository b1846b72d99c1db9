/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A worker is a forked process that does one job after another, because most jobs take less time than the
 * start of a process. It ends after a violation or an error: the recipe may have damaged the process. A
 * recipe that crashes or never returns costs only the job at hand; another worker does the other jobs. */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include "cli/cli.h"

#include <signal.h>
#include <sys/types.h>

#define WORKER_WATCHDOG_S 10 /* processor time without a step */
#define WORKER_WATCHDOG_STATUS 99

/* A list of jobs and its workers, in memory that the workers share with their parent, as the outcomes are. */
struct worker_queue {
    int count;                /* number of jobs */
    int at_once;              /* maximum of workers at a time */
    int next;                 /* first job that no worker has taken; `count` or more if there is none */
    int *doing;               /* for each of at_once slots: the job of its worker */
    struct worker_note *note; /* for each job */
};

/* Notes about a job. `ended` is set when its worker goes on with another job; a worker's last job is judged
 * by the worker's exit status. */
struct worker_note {
    const char *volatile judging; /* the loaded property that is judging now; NULL = none */
    bool ended;
    double seconds;
};

/* Returns the signals that the parent of workers blocks. The parent receives them only while it waits, so
 * that none is lost between a look and a wait. A worker has them unblocked. */
sigset_t worker_signals(void);

/* Takes the next job. Returns its index, or -1 if all are taken. May be called by any process. */
int worker_take(struct worker_queue *queue);

/* Starts a worker in this slot, for a job that has been taken. A worker that goes on with another job sets
 * the note of the finished one and sends its parent SIGCHLD. Returns the process, or -1 with errno set. */
pid_t worker_start(const struct cli_options *options, struct cli_job *jobs, struct worker_queue *queue,
                   int slot, int job);

#endif
