/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t failed;

bool assert_has_failed(void)
{
    return failed != 0;
}

_Noreturn void assert_failed(const char *kind, const char *expression, const char *file, int line)
{
    failed = 1;
    fprintf(stderr, "lockstep: %s failed: %s (%s:%d)\n", kind, expression, file, line);
    abort();
}
