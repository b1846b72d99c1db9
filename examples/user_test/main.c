/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The program itself. usage: leader HOST:PORT [PIECES OF WORK] */
#include "leader.h"

#include <lockstep/env_pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int lead(struct leader *leader, int pieces)
{
    while (leader->work < pieces && !leader->err) {
        const struct timespec pause = {.tv_nsec = 10000000};
        leader_tick(leader);
        nanosleep(&pause, NULL);
    }
    return leader->err;
}

int main(int argc, char **argv)
{
    static struct leader leader;
    struct ls_env *env;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: leader HOST:PORT [PIECES OF WORK]\n");
        return 2;
    }
    int err = ls_env_pthread_open(&env);
    if (!err) {
        err = leader_open(&leader, env, argv[1], "/examples/leader");
        if (!err)
            err = lead(&leader, argc == 3 ? atoi(argv[2]) : 5);
        leader_close(&leader);
        ls_env_pthread_close(env);
    }
    if (err) {
        fprintf(stderr, "leader: %s\n", ls_strerror(err));
        return 1;
    }
    printf("led %d times, %d pieces of work\n", leader.terms, leader.work);
    return 0;
}
