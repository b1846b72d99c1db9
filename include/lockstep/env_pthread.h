/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of applications: POSIX threads, the kernel's clocks and random bytes.
 *
 * Timers run on threads of the environment. The function of a timer may block with the mutex dropped: it
 * opens or closes a handle, or calls the user back. A function that blocks so delays no other timer, unless
 * no further thread can be made.
 *
 * Suspension: stamps count the time for which the machine is suspended, timers do not. Example: a deadline of
 * 1 s meets a suspension of 1 h. The deadline is answered within 1 s of time awake, and a lock that was held
 * meanwhile is no longer believed to be held.
 *
 * Threads: all functions of the library may be called from any thread, unless their header says otherwise.
 * session.h describes callbacks. The threads of an environment, and those that the client library starts
 * for a session, inherit the signal mask of the thread that made them. A program that wants a signal in
 * another thread blocks it before.
 *
 * Signals: the library installs no handler. Only functions of error.h and version.h may be called in a
 * handler.
 *
 * fork(): the child has none of these threads, and shares the connections of its parent. The child must not
 * use or close an environment, session or mutex of its parent. The child calls exec or ends, which leaves the
 * session to the parent. A program whose children take locks forks before it opens an environment. */
#ifndef LOCKSTEP_ENV_PTHREAD_H
#define LOCKSTEP_ENV_PTHREAD_H

#include <lockstep/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

/* Makes an environment with two threads of its own. The environment adds threads if functions of several
 * timers block at once. One environment may serve several sessions, which then share its mutex. Returns 0 or
 * LS_ENOMEM. */
int ls_env_pthread_open(struct ls_env **env);

/* Ends the threads and frees the environment. All sessions that use it must be closed. A call that such a
 * close has answered may still be returning; this function waits for it. Returns 0. In a callback of the
 * environment it returns LS_EDEADLK and closes nothing. */
int ls_env_pthread_close(struct ls_env *env);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
