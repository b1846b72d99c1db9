/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target for slow_drive_afl.sh: by its first byte an input is quick, takes longer than what a process reports itself, never ends,
 * or is a finding. At first the fork server is slow to say who runs an input. */
#include "target.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define REPORTS 199 /* of the fork server; a process that reports itself has a descriptor of its own */
#define SLOW_WRITES 40
#define SLOW_MS 3

static long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In place of the C library's. It is busy, not asleep. */
ssize_t write(int file, const void *bytes, size_t size)
{
    static int writes;
    bool slow = file == REPORTS && writes++ < SLOW_WRITES;
    long until = slow ? milliseconds() + SLOW_MS : 0;
    while (slow && milliseconds() < until) {
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
    switch (size > 0 ? data[0] : 0) {
    case 's':
        usleep(3000);
        break;
    case 'h':
        for (;;) {
            usleep(1000);
        }
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
