/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/stop_points.h"

#include "base/assert.h"

#include <stddef.h>

/* `used` keeps a variable that no code of the program writes. */
#define FOR_A_DEBUGGER __attribute__((used, visibility("default")))

/* An empty function. Each has a different comment in the assembly, so that a compiler does not merge two of
 * them. */
#define STOP_POINT(NAME)                                                                                     \
    FOR_A_DEBUGGER __attribute__((noinline)) void NAME(void)                                                 \
    {                                                                                                        \
        __asm__ volatile("# " #NAME ::: "memory");                                                           \
    }

FOR_A_DEBUGGER volatile uint64_t stop_point_wanted = STOP_POINT_NONE;
FOR_A_DEBUGGER volatile uint64_t stop_point_at;
FOR_A_DEBUGGER volatile code_fn stop_point_callee;

bool stop_points_once;
bool stop_points_here;
bool stop_points_armed;

STOP_POINT(stop_point_replay)
STOP_POINT(stop_point_step)
STOP_POINT(stop_point_call)
STOP_POINT(stop_point_done)

void stop_points_open(bool twice)
{
    LS_ASSERT(!stop_points_armed);
    stop_points_here = false;
    stop_point_at = 0;
    stop_point_replay();
    stop_points_once = !twice && stop_point_wanted != STOP_POINT_NONE;
}

void stop_points_begin(uint64_t number)
{
    LS_ASSERT(number != STOP_POINT_NONE && !stop_points_armed);
    stop_point_at = number;
    if (number == stop_point_wanted) {
        stop_points_here = true;
        stop_point_callee = NULL;
        stop_point_step();
    }
}

void stop_points_end(uint64_t number)
{
    LS_ASSERT(!stop_points_armed);
    if (stop_points_here) {
        LS_ASSERT(number == stop_point_at);
        stop_points_here = false;
        stop_point_done();
    }
}

void stop_points_stop(code_fn fn)
{
    LS_ASSERT(stop_points_here && fn != NULL);
    stop_points_armed = false;
    stop_point_callee = fn;
    stop_point_call();
}
