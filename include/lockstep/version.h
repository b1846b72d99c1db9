/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Which version of the library is linked. docs/stability.md says what a version number promises. */
#ifndef LOCKSTEP_VERSION_H
#define LOCKSTEP_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* The version of the library that the program runs with, "MAJOR.MINOR.PATCH". With a shared library it may be newer than
 * the one that the program was built with. A static text, never freed; may be called anywhere: in any thread, in callbacks,
 * after a fork, in signal handlers. */
const char *ls_version(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
