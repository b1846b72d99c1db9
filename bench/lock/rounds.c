/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "rounds.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_ROUND = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 4 };
enum { CONTENDERS_MAX = 16, HOLDS_MAX = 1 << 18, FILE_NAME_SIZE = 512 };

struct hold {
    int64_t granted_ns;
    int64_t released_ns;
};

struct contender {
    const struct rounds_side *side;
    void *self;
    pthread_t thread;
    pthread_barrier_t *start;
    int64_t length_ns;
    struct hold *holds; /* HOLDS_MAX of them, used by the first `count` */
    int64_t begun_ns;
    int64_t ended_ns;
    uint32_t count;
    int err;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- one round ---- */

static void *contend(void *context)
{
    struct contender *contender = context;
    const struct rounds_side *side = contender->side;
    contender->count = 0;
    pthread_barrier_wait(contender->start);
    contender->begun_ns = now_ns();
    int64_t end_ns = contender->begun_ns + contender->length_ns;
    do {
        struct hold *hold = &contender->holds[contender->count];
        contender->err = side->take(contender->self);
        hold->granted_ns = now_ns();
        hold->released_ns = now_ns();
        if (!contender->err) {
            contender->err = side->give(contender->self);
        }
        contender->count += !contender->err;
        contender->ended_ns = now_ns();
    } while (!contender->err && contender->ended_ns < end_ns && contender->count < HOLDS_MAX);
    return NULL;
}

static void run(struct contender *contenders, int count, int64_t length_ns)
{
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        contenders[i].start = &start;
        contenders[i].length_ns = length_ns;
        if (pthread_create(&contenders[i].thread, NULL, contend, &contenders[i])) {
            abort();
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(contenders[i].thread, NULL);
    }
    pthread_barrier_destroy(&start);
}

static int write_holds(const struct contender *contenders, int count, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        for (uint32_t j = 0; j < contenders[i].count; j++) {
            const struct hold *hold = &contenders[i].holds[j];
            fprintf(file, "%" PRId64 " %" PRId64 " %d\n", hold->granted_ns, hold->released_ns, i);
        }
    }
    return fclose(file);
}

/* Prints what a round was. */
static int tell(const struct contender *contenders, int count)
{
    int64_t begun_ns = INT64_MAX;
    int64_t ended_ns = 0;
    uint64_t locks = 0;
    for (int i = 0; i < count; i++) {
        if (contenders[i].err) {
            fprintf(stderr, "contender %d: error %d after %u locks\n", i, contenders[i].err,
                    contenders[i].count);
            return -1;
        }
        begun_ns = contenders[i].begun_ns < begun_ns ? contenders[i].begun_ns : begun_ns;
        ended_ns = contenders[i].ended_ns > ended_ns ? contenders[i].ended_ns : ended_ns;
        locks += contenders[i].count;
    }
    printf("%" PRIu64 " %" PRId64 "\n", locks, ended_ns - begun_ns);
    return fflush(stdout);
}

static int round_of(struct contender *contenders, int all, const char *line)
{
    int count;
    int length_ms;
    char path[FILE_NAME_SIZE];
    /* NOLINTNEXTLINE(cert-err34-c): numbers out of range are refused below */
    if (sscanf(line, "%d %d %511s", &count, &length_ms, path) != 3 || count < 1 || count > all ||
        length_ms < 1) {
        fprintf(stderr, "expected CONTENDERS MILLISECONDS FILE, found: %s", line);
        return -1;
    }
    run(contenders, count, (int64_t)length_ms * 1000000);
    return write_holds(contenders, count, path) || tell(contenders, count) ? -1 : 0;
}

/* ---- the program ---- */

static int open_all(struct contender *contenders, int count, const char *hosts,
                    const struct rounds_side *side)
{
    for (int i = 0; i < count; i++) {
        contenders[i].side = side;
        contenders[i].holds = calloc(HOLDS_MAX, sizeof(struct hold));
        contenders[i].self = contenders[i].holds ? side->open(hosts) : NULL;
        if (!contenders[i].self) {
            return -1;
        }
    }
    return 0;
}

static void close_all(struct contender *contenders, int count, const struct rounds_side *side)
{
    for (int i = 0; i < count; i++) {
        if (contenders[i].self) {
            side->close(contenders[i].self);
        }
        free(contenders[i].holds);
    }
}

static int serve(struct contender *contenders, int count)
{
    char line[FILE_NAME_SIZE + 64];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "quit\n") != 0) {
        if (round_of(contenders, count, line)) {
            return EXIT_ROUND;
        }
    }
    return 0;
}

int rounds_serve(const char *hosts, const char *count, const struct rounds_side *side)
{
    struct contender contenders[CONTENDERS_MAX] = {{0}};
    char *end;
    long wanted = strtol(count, &end, 10);
    if (*end || wanted < 1 || wanted > CONTENDERS_MAX) {
        fprintf(stderr, "expected 1 to %d contenders, found '%s'\n", CONTENDERS_MAX, count);
        return EXIT_USAGE;
    }
    int status = EXIT_ENVIRONMENT;
    if (!open_all(contenders, (int)wanted, hosts, side)) {
        status = serve(contenders, (int)wanted);
    }
    close_all(contenders, (int)wanted, side);
    return status;
}
