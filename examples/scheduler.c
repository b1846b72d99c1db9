/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Three schedulers for a list of 60 jobs, each of which must be run once. Each scheduler has a session of its
 * own, as if it were a process on another machine. The leader runs the jobs. After five of them the leader
 * lets another scheduler lead.
 *
 * usage: scheduler HOST:PORT [--no-lock]
 *   --no-lock   nobody is elected: all run the jobs, and some jobs are run more than once */
#include "clients.h"

#include <lockstep/election.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SCHEDULERS = 3, JOBS = 60, JOBS_OF_A_TERM = 5, JOB_MS = 2, DONE = 1 };

static bool electing = true;
static atomic_int next_job; /* read, and written after the job: not by one atomic operation */
static atomic_int runs[JOBS];
static atomic_int terms[SCHEDULERS];

struct scheduler {
    struct client client; /* first: run() finds the scheduler by it */
    struct ls_election election;
};

/* Returns whether there was a job left. */
static bool run_job(void)
{
    struct timespec pause = {.tv_nsec = JOB_MS * 1000000L};
    int job = atomic_load(&next_job);
    if (job >= JOBS)
        return false;
    atomic_fetch_add(&runs[job], 1);
    nanosleep(&pause, NULL);
    atomic_store(&next_job, job + 1);
    return true;
}

/* A term. The token is 0 as soon as this scheduler may lead no longer. */
static int lead(struct ls_election *election, int64_t token, void *context)
{
    const struct scheduler *scheduler = context;
    bool more = true;
    atomic_fetch_add(&terms[scheduler->client.number - 1], 1);
    for (int i = 0; more && i < JOBS_OF_A_TERM && ls_election_token(election) == token; i++)
        more = run_job();
    return more ? 0 : DONE;
}

static int run_jobs(struct scheduler *scheduler)
{
    if (electing)
        return ls_election_lead(&scheduler->election, lead, scheduler, LS_ELECTION_REQUEUE);
    while (run_job()) {
    }
    return DONE;
}

static int run(struct client *client)
{
    struct scheduler *scheduler = (struct scheduler *)client;
    int err = ls_election_init(&scheduler->election, &client->session, "/examples/scheduler", NULL);
    if (err)
        return err;
    err = run_jobs(scheduler);
    ls_election_close(&scheduler->election);
    return err == DONE ? 0 : err;
}

static int report(int failed)
{
    int once = 0, leaders = 0;
    for (int job = 0; job < JOBS; job++)
        once += runs[job] == 1;
    for (int i = 0; i < SCHEDULERS; i++)
        leaders += terms[i] > 0;
    printf("%d jobs of %d were run once, %d schedulers have led\n", once, JOBS, leaders);
    return failed || once != JOBS ? 1 : 0;
}

int main(int argc, char **argv)
{
    static struct scheduler schedulers[SCHEDULERS];
    int failed = 0;
    electing = argc != 3;
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (argc == 3 && strcmp(argv[2], "--no-lock") != 0)) {
        fprintf(stderr, "usage: scheduler HOST:PORT [--no-lock]\n");
        return 2;
    }
    for (int i = 0; i < SCHEDULERS; i++) {
        schedulers[i].client =
            (struct client){.kind = "scheduler", .number = i + 1, .hosts = argv[1], .run = run};
        if (!client_start(&schedulers[i].client))
            return 1;
    }
    for (int i = 0; i < SCHEDULERS; i++)
        failed += client_join(&schedulers[i].client) != 0;
    return report(failed);
}
