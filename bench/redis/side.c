/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One side of `./dev bench redis`: a design by the protocol of bench/lock/rounds.h. Each contender has a
 * client of its own. usage: side DESIGN HOST:PORT CONTENDERS LEASE_MS */
#include "design.h"
#include "lock/rounds.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2 };

static const struct design *design;
static int lease_ms;

static void *open_client(const char *hosts)
{
    void *client = design->open(hosts, lease_ms);
    if (client == NULL) {
        fprintf(stderr, "no Redis server at %s\n", hosts);
    }
    return client;
}

static int take(void *client)
{
    return design->take(client, -1);
}

int main(int argc, char **argv)
{
    design = argc == 5 ? design_find(argv[1]) : NULL;
    lease_ms = design != NULL ? atoi(argv[4]) : 0;
    if (lease_ms < 50) {
        fprintf(stderr, "usage: side DESIGN HOST:PORT CONTENDERS LEASE_MS (50 at least)\n");
        return EXIT_USAGE;
    }
    struct rounds_side side = {open_client, take, design->give, design->close};
    return rounds_serve(argv[2], argv[3], &side);
}
