/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *kind, const char *expression, const char *file, int line)
{
    fprintf(stderr, "lockstep: %s failed: %s (%s:%d)\n", kind, expression, file, line);
    abort();
}
