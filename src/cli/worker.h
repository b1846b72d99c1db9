/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A worker is a forked process that does one job after the other, because most jobs take less time than a process takes to
 * begin. It ends after a job that is violated or an error: the recipe may have left the process in disorder. A recipe that
 * crashes or never returns costs the job that its worker was doing. Another worker goes on with the rest. */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include "cli/cli.h"

#include <signal.h>
#include <sys/types.h>

#define WORKER_WATCHDOG_S 10 /* of processor time without a step */
#define WORKER_WATCHDOG_STATUS 99

/* A list of jobs and the workers that do it. It lies in memory that they share with their parent, as the outcomes do. */
struct worker_queue {
    int count;                /* of jobs */
    int at_once;              /* how many are done beside each other, at most */
    int next;                 /* the first job that no worker has taken; count or more if there is none */
    int *doing;               /* by slot, of which there are at_once: the job that its worker does */
    struct worker_note *note; /* by job */
};

/* About a job. `ended` is set if its worker has gone on with another job; a worker's last job is judged by how the
 * worker ends. */
struct worker_note {
    const char *volatile judging; /* the loaded property that is judging; NULL = none */
    bool ended;
    double seconds;
};

/* The signals that the parent of workers blocks. It takes them when it waits and at no other time, so that none can slip in
 * between a look and a wait. A worker has them unblocked. */
sigset_t worker_signals(void);

/* Takes the next job. Returns its index, or -1 if all are taken. Any process may call it. */
int worker_take(struct worker_queue *queue);

/* Starts a worker in this slot, for a job that has been taken. If it goes on with another one it sets the job's note and
 * sends its parent SIGCHLD. Returns its process, or -1 with errno set. */
pid_t worker_start(const struct cli_options *options, struct cli_job *jobs, struct worker_queue *queue,
                   int slot, int job);

#endif
