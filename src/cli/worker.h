/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A worker is a forked process that does one job after another. It ends after a violation or an error,
 * because the recipe may have damaged the process. If a recipe crashes or never returns, only the present job
 * is affected: another worker does the other jobs. */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include "cli/cli.h"

#include <signal.h>
#include <sys/types.h>

#define WORKER_WATCHDOG_S 10      /* processor time without a step after which the watchdog ends a worker */
#define WORKER_WATCHDOG_STATUS 99 /* exit status of such a worker */

/* A list of jobs and its workers, in memory that the workers share with their parent. */
struct worker_queue {
    int count;
    int at_once; /* maximum of workers at a time */
    int next;    /* index of the next job that no worker has taken; >= `count`: there is none */
    int *doing;  /* for each of at_once slots: the job of its worker */
    struct worker_note *note;
};

struct worker_note {
    const char *volatile judging; /* the loaded property that is judging now; NULL = none */
    bool ended;     /* its worker has finished the job and gone on; false for the last job of a worker */
    double seconds; /* if `ended`: time that the job has taken */
};

/* Returns the signals that the parent of workers blocks, and receives only while it waits: so none is lost
 * between a look and a wait. A worker has them unblocked. */
sigset_t worker_signals(void);

/* Takes the next job. Returns its index, or -1 if all are taken. Any process may call it. */
int worker_take(struct worker_queue *queue);

/* Starts a worker in this slot, for a job that has been taken. If the worker goes on with another job, it
 * sets the note of the finished job, and sends its parent SIGCHLD. Returns the process, or -1 with errno
 * set. */
pid_t worker_start(const struct cli_options *options, struct cli_job *jobs, struct worker_queue *queue,
                   int slot, int job);

#endif
