/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of applications: POSIX threads, the kernel's clocks and random bytes.
 *
 * Timers run on threads of the environment, and a timer whose function blocks with the mutex dropped (it opens a
 * handle, closes one, or calls the user back) keeps no other timer waiting. Stamps count the time for which the machine
 * is suspended, timers do not: a deadline of 1 s that meets a suspension of 1 h is answered within a second of time
 * awake, and a lock that was held over it is no longer believed in.
 *
 * Threads: all functions of the library may be called from any thread, unless their header says otherwise; callbacks are
 * described in session.h. The threads of an environment, and those that the client library starts for a session, inherit the
 * signal mask of the thread that made them: a program that wants a signal elsewhere blocks it before.
 *
 * Signals: the library installs no handler and sends none. Only error.h and version.h have functions that may be called in
 * a handler.
 *
 * fork(): the child has none of these threads, and shares the parent's connections. It uses no environment, session or
 * mutex of its parent, not even to close it; it calls exec or ends, which leaves the session to the parent. A program whose
 * children take locks forks before it opens an environment. */
#ifndef LOCKSTEP_ENV_PTHREAD_H
#define LOCKSTEP_ENV_PTHREAD_H

#include <lockstep/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* Makes an environment with two threads of its own; more come when several timers' functions block at once. One
 * environment may serve several sessions, which then exclude each other. 0 or LS_ENOMEM. */
int ls_env_pthread_open(struct ls_env **env);

/* Ends the threads and frees everything. Legal once all sessions that use the environment are closed. Calls that such a
 * close has answered may still be returning: this function waits for them. Returns LS_EDEADLK in callbacks, and then closes
 * nothing. */
int ls_env_pthread_close(struct ls_env *env);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
