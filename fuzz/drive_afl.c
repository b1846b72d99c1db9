/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target for AFL++: persistent mode, inputs in shared memory. The target's counters are guards of AFL's own, so that they have
 * a place of their own in its map, beside those of edges. */
#include "target.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define INPUTS 100000 /* of one process: what leaks costs no more than that */

/* AFL++'s macros are not ISO C. */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wgnu-statement-expression"
#pragma GCC diagnostic ignored "-Wextra-semi"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"

__AFL_FUZZ_INIT();
__AFL_COVERAGE();

/* AFL++'s; the compiler's wrapper links them. NOLINTBEGIN(bugprone-reserved-identifier) */
extern unsigned char *__afl_area_ptr;
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
/* NOLINTEND(bugprone-reserved-identifier) */

static uint32_t guard[TARGET_COUNTERS];
uint8_t *target_counters;
bool target_verbose;

void target_count_edges(bool count)
{
    if (count) {
        __AFL_COVERAGE_ON();
    } else {
        __AFL_COVERAGE_OFF();
    }
}

/* ---- answering ----
 *
 * In AFL++'s persistent mode three processes take turns: afl-fuzz asks its fork server in the target for a run, which wakes this
 * process by SIGCONT, waits until it stops, and reports that. Four changes of process cost as much as half a world: so this
 * process takes the next request itself, and reports that it has stopped; the fork server waits on, and reports, as ever, if
 * this process dies. */

#define REQUESTS 198 /* AFL++'s: afl-fuzz asks here, */
#define REPORTS 199  /* and reads first who runs the input, then how that ended */
#define QUICK_NS 1000000
#define HAS_STOPPED 0x137f /* what waitpid() says of a process that has stopped itself */

static int requests = -1, reports = -1;
static int32_t self;
static bool fork_server_waits;
/* afl-fuzz has waited for the present run since then, or for less long; 0 = it is not known. */
static int64_t since_ns;

/* The fork server says who runs an input and then waits for that process: a report before would come too early. It sleeps
 * interruptibly nowhere else on that way. */
static bool is_waited_for(void)
{
    char text[512];
    snprintf(text, sizeof text, "/proc/%d/stat", (int)getppid());
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") S", 3) == 0;
}

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_quick(void)
{
    return clock_ns() - since_ns <= QUICK_NS;
}

static bool may_answer(void)
{
    if (requests < 0 || reports < 0) {
        return false;
    }
    do {
        fork_server_waits = fork_server_waits || is_waited_for();
        if (fork_server_waits) {
            return is_quick();
        }
        sched_yield(); /* it may be about to, and on this core */
    } while (is_quick());
    return false;
}

/* The next input is there to be run; false if the fork server has to be told that this one is over. A run for which afl-fuzz has
 * waited for long may just be given up: who has reported it and is killed then would be reported twice. */
static bool answer(void)
{
    const int32_t stopped = HAS_STOPPED;
    int32_t was_killed;
    if (!may_answer()) {
        return false;
    }
    if (write(reports, &stopped, sizeof stopped) != sizeof stopped ||
        read(requests, &was_killed, sizeof was_killed) != sizeof was_killed) {
        _exit(0); /* afl-fuzz is gone */
    }
    since_ns = clock_ns();
    if (write(reports, &self, sizeof self) != sizeof self) {
        _exit(0);
    }
    __afl_area_ptr[0] = 1; /* as AFL++'s loop does: some place of the map is not 0 */
    return true;
}

/* gcc's instrumentation keeps beside the map where it was last, which only AFL++'s loop can clear. */
static void open_answers(void)
{
#ifdef __clang__
    requests = fcntl(REQUESTS, F_DUPFD_CLOEXEC, REPORTS + 1);
    reports = fcntl(REPORTS, F_DUPFD_CLOEXEC, REPORTS + 1);
#endif
}

static void run_input(const unsigned char *input, uint8_t *counters)
{
    target_counters = counters;
    LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize(&argc, &argv) != 0) {
        return 2;
    }
    __sanitizer_cov_trace_pc_guard_init(guard, guard + TARGET_COUNTERS);
    bool in_a_row = guard[TARGET_COUNTERS - 1] - guard[0] == TARGET_COUNTERS - 1;
    open_answers();
    __AFL_INIT();
    self = getpid();
    const unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;
    for (int inputs = 0; inputs < INPUTS && __AFL_LOOP(INPUTS);) {
        fork_server_waits = false;
        do {
            run_input(input, in_a_row ? __afl_area_ptr + guard[0] : NULL);
        } while (++inputs < INPUTS && answer());
        since_ns = clock_ns();
    }
    return 0;
}
