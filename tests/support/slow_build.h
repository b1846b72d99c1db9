/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Whether this is a build that watches or counts what it does: up to twenty times slower, and finds the same. */
#ifndef TESTS_SUPPORT_SLOW_BUILD_H
#define TESTS_SUPPORT_SLOW_BUILD_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns true with a sanitizer, or in the build that measures coverage. is_slow_build() of tests/cli/lib.sh is the same. */
static inline bool is_slow_build(void)
{
    static const char COVERAGE[] = "/coverage";
    const char *sanitize = getenv("LOCKSTEP_SANITIZE"), *build = getenv("LOCKSTEP_BUILD_DIR");
    size_t size = build != NULL ? strlen(build) : 0, end = sizeof COVERAGE - 1;
    return (sanitize != NULL && sanitize[0] != 0) ||
           (size >= end && strcmp(build + size - end, COVERAGE) == 0);
}

#endif
