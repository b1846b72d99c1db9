/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target for AFL++: persistent mode, inputs in shared memory. The target's counters are guards of AFL's own, so that they have
 * a place of their own in its map, beside those of edges. */
#include "target.h"

#include <limits.h>
#include <sys/types.h>
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

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize(&argc, &argv) != 0) {
        return 2;
    }
    __sanitizer_cov_trace_pc_guard_init(guard, guard + TARGET_COUNTERS);
    bool in_a_row = guard[TARGET_COUNTERS - 1] - guard[0] == TARGET_COUNTERS - 1;
    __AFL_INIT();
    const unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(INPUTS)) {
        target_counters = in_a_row ? __afl_area_ptr + guard[0] : NULL;
        LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    }
    return 0;
}
