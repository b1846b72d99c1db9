/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The places at which `lockstep debug` stops a replay: its beginning, and in one step the beginning, the
 * first call of the recipe, and the end. The script of the debugger (cli/debug_gdb.py) sets breakpoints at
 * the functions stop_point_*(). It chooses the step by a write to `stop_point_wanted`, at stop_point_replay()
 * or later.
 *
 * The functions and variables stop_point_* are exported by the program, so that a debugger finds them in a
 * stripped program too. */
#ifndef BASE_STOP_POINTS_H
#define BASE_STOP_POINTS_H

#include "base/code_ref.h"

#include <stdbool.h>
#include <stdint.h>

#define STOP_POINT_NONE UINT64_MAX

extern volatile uint64_t stop_point_wanted; /* number of the step to stop in; STOP_POINT_NONE = none */
extern volatile uint64_t stop_point_at; /* number of the present or last step; 0 = the beginning of the run */
extern volatile code_fn stop_point_callee; /* function of the recipe that is called next */

/* Breakpoints of the debugger; they do nothing. */
void stop_point_replay(void); /* at the beginning of each replay */
void stop_point_step(void);   /* before the wanted step */
void stop_point_call(void);   /* before the first call of the recipe in it */
void stop_point_done(void);   /* behind the wanted step */

extern bool stop_points_once; /* steps are not done twice, so that a user's breakpoints are met once */

/* The driver of a replay calls stop_points_open() at its beginning, and the other two around each step.
 * `twice`: steps have to be done twice, also under a debugger. */
void stop_points_open(bool twice);
void stop_points_begin(uint64_t number);
void stop_points_end(uint64_t number);

extern bool stop_points_here;  /* the wanted step is under way */
extern bool stop_points_armed; /* the next call of the recipe is the first one in the wanted step */

/* A step may be done several times, but only one run of it stops. The world calls stop_points_arm() before
 * that run, and stop_points_disarm() behind it. */
static inline void stop_points_arm(void)
{
    stop_points_armed = stop_points_here;
}

static inline void stop_points_disarm(void)
{
    stop_points_armed = false;
}

/* Stops at a call, which must be the first one since stop_points_arm(). */
void stop_points_stop(code_fn fn);

/* Tells that the recipe's function `fn` is called next. */
static inline void stop_points_call(code_fn fn)
{
    if (stop_points_armed) {
        stop_points_stop(fn);
    }
}

#endif
