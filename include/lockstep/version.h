/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The version of the library. docs/stability.md lists the promises of a version number. */
#ifndef LOCKSTEP_VERSION_H
#define LOCKSTEP_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* Returns the version of the library that the program runs with, "MAJOR.MINOR.PATCH". A shared library may
 * be newer than the one that the program was built with. The text is static. The function may be called
 * anywhere: in any thread, in callbacks, after a fork, in signal handlers. */
const char *ls_version(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
