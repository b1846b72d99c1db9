/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of applications: POSIX threads, the monotonic clock, the kernel's random bytes. */
#ifndef LOCKSTEP_ENV_PTHREAD_H
#define LOCKSTEP_ENV_PTHREAD_H

#include <lockstep/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an environment with a timer thread of its own. One may serve several sessions, which then exclude
 * each other. 0 or LS_ENOMEM. */
int ls_env_pthread_open(struct ls_env **env);

/* Ends the timer thread and frees everything. Legal when the sessions that use it are closed; not in
 * callbacks. */
void ls_env_pthread_close(struct ls_env *env);

#ifdef __cplusplus
}
#endif

#endif
