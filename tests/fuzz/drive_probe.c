/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target for slow_drive_afl.sh: by its first byte an input is quick, takes longer than what a process reports itself, never ends,
 * or is a finding. At first the fork server is slow to say who runs an input; and now and then a process is that says so itself, and
 * has to leave it to the fork server to report that run. */
#include "target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REPORTS 199 /* of the fork server; a process that reports itself has a descriptor of its own */
#define HAS_STOPPED 0x137f
#define SLOW_WRITES 40
#define SLOW_EVERY 2000
#define SLOW_MS 3

static long runs, slow_run = -1;
static volatile bool ends; /* never: AFL++ counts a loop with a way out, and none without */

static long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Busy, not asleep. */
static void be_slow(void)
{
    long until = milliseconds() + SLOW_MS;
    while (milliseconds() < until) {
    }
}

/* A process reports by itself: how the present run has ended, or that it will run the next. */
static void report(int32_t what)
{
    static long own;
    if (what != HAS_STOPPED) {
        if (own++ % SLOW_EVERY == 0) {
            slow_run = runs + 1;
            be_slow();
        }
    } else if (slow_run == runs) {
        abort();
    }
}

/* In place of the C library's. */
ssize_t write(int file, const void *bytes, size_t size)
{
    static int writes;
    int32_t what;
    if (file == REPORTS && writes++ < SLOW_WRITES) {
        be_slow();
    } else if (file > REPORTS && size == sizeof what) {
        memcpy(&what, bytes, size);
        report(what);
    }
    return syscall(SYS_write, file, bytes, size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    runs++;
    switch (size > 0 ? data[0] : 0) {
    case 's':
        usleep(3000);
        break;
    case 'h':
        while (!ends) {
            usleep(1000);
        }
        break;
    case 'f':
        abort();
    default:
        break;
    }
    return 0;
}

void target_tell(void)
{
}
