/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What kind of build a test runs in. */
#ifndef TESTS_SUPPORT_BUILD_KIND_H
#define TESTS_SUPPORT_BUILD_KIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns true with a sanitizer, or under valgrind. */
static inline bool is_sanitized(void)
{
    const char *sanitize = getenv("LOCKSTEP_SANITIZE");
    return sanitize != NULL && sanitize[0] != 0;
}

/* Returns true in a build that watches or counts what it does: with a sanitizer, or for coverage. It is up to twenty times
 * slower, and finds the same. is_slow_build() of tests/cli/lib.sh is the same. */
static inline bool is_slow_build(void)
{
    static const char COVERAGE[] = "/coverage";
    const char *build = getenv("LOCKSTEP_BUILD_DIR");
    size_t size = build != NULL ? strlen(build) : 0, end = sizeof COVERAGE - 1;
    return is_sanitized() || (size >= end && strcmp(build + size - end, COVERAGE) == 0);
}

#endif
