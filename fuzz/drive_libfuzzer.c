/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target for libFuzzer, which has main() itself: only where it finds the target's counters. */
#include "target.h"

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[TARGET_COUNTERS];
uint8_t *target_counters = counters;
bool target_verbose = true;

void target_count_edges(bool count)
{
    (void)count; /* libFuzzer runs an input once */
}
