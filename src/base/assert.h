/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Assertions. LS_ASSERT is a statement; LS_ALWAYS and LS_NEVER are conditions with a value. All are on in
 * every build: a world with a broken invariant must not go on and report "holds". */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <stdbool.h>

/* Prints one line to standard error and aborts. `cold` tells the compiler that calls are unlikely. */
__attribute__((cold)) _Noreturn void assert_failed(const char *kind, const char *expression, const char *file,
                                                   int line);

/* Returns whether an assertion has failed in this process. The guard in plugin/sandbox_signals.c then does
 * not take the abort for one of the recipe. */
bool assert_has_failed(void);

#define LS_ASSERT(e) ((e) ? (void)0 : assert_failed("assertion", #e, __FILE__, __LINE__))
#define LS_ALWAYS(e) ((e) ? true : (assert_failed("always", #e, __FILE__, __LINE__), false))
#define LS_NEVER(e) ((e) ? (assert_failed("never", #e, __FILE__, __LINE__), true) : false)

#endif
