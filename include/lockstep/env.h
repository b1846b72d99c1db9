/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment: time, threads, memory and randomness for a recipe.
 *
 * A recipe gets these from this header alone (design decision D1). All else that it needs of the world it
 * gets from the client library of its coordinator, such as <zookeeper/zookeeper.h>. The functions are
 * resolved at link time: src/env/env_pthread.c defines them for applications, src/sim/env.c for a simulated
 * world. There is no function table, and no #ifdef tells the two apart.
 *
 * An environment serves one process of a world, or one or more sessions of an application. The caller holds
 * the environment's mutex, unless the comment of a function says otherwise. In a world ls_env_alloc(),
 * ls_env_free(), ls_env_wait() and ls_env_wake() report a call without the mutex to the property
 * contract_is_kept. The functions for timers do not. No function may be called in a signal handler. A child
 * process must call none with an environment that it has inherited by fork(). */
#ifndef LOCKSTEP_ENV_H
#define LOCKSTEP_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports what stands here, and nothing else. */
#pragma GCC visibility push(default)

struct ls_env;

/* ---- the mutex: one per environment, not recursive ---- */

/* Takes the environment's mutex, which the caller does not hold. In a world a second take breaks
 * contract_is_kept. */
void ls_env_lock(struct ls_env *env);

/* Drops the environment's mutex, which the caller holds. In a world any other drop breaks
 * contract_is_kept. */
void ls_env_unlock(struct ls_env *env);

/* A condition on which threads sleep. The caller allocates it and keeps it alive while a thread sleeps on
 * it. */
struct ls_waiter {
    uint64_t space[8]; /* private to the environment */
};

/* Initialise and close a waiter. May be called without the mutex, while no other thread uses the waiter. */
void ls_env_waiter_init(struct ls_env *env, struct ls_waiter *waiter);
void ls_env_waiter_close(struct ls_env *env, struct ls_waiter *waiter);

/* Drops the mutex, sleeps until ls_env_wake() is called on this waiter, and takes the mutex again. May return
 * without such a call: callers loop on their own condition. In a world the call breaks contract_is_kept. */
void ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);

/* Wakes all threads that sleep on this waiter. */
void ls_env_wake(struct ls_env *env, struct ls_waiter *waiter);

/* ---- threads: the identity of the caller ---- */

/* Bracket every callback that the client library's completion thread makes. May be called without the
 * mutex. */
void ls_env_callback_enter(struct ls_env *env);
void ls_env_callback_leave(struct ls_env *env);

/* Returns whether the calling thread is between ls_env_callback_enter() and ls_env_callback_leave() of this
 * environment. In an application's callbacks nested more than eight deep, returns true for every environment.
 * A blocking call would wait for itself there, and returns LS_EDEADLK. May be called without the mutex. */
bool ls_env_in_callback(struct ls_env *env);

/* The bit that every thread id has. Owners of locks that a program numbers itself do not have it
 * (mutex.h). */
#define LS_ENV_THREAD (UINT64_C(1) << 63)

/* Returns an id of the calling thread: LS_ENV_THREAD and a number that no other thread of the process has
 * ever had. May be called without the mutex. */
uint64_t ls_env_self(struct ls_env *env);

/* ---- time: stamps and one-shot timers; no function returns the time of day ---- */

/* One moment. The functions for stamps may be called without the mutex. */
struct ls_stamp {
    uint64_t opaque; /* private to the environment; 0 = no moment */
};

/* Sets *stamp to this moment. */
void ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp);

/* Returns the milliseconds since the stamp's moment, rounded up. Time for which the machine was suspended
 * counts. Returns INT64_MAX if the stamp has no moment. In a world without a clock the result is otherwise
 * 0: only a timer that has fired shows there that time has passed (D8). */
int64_t ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp);

/* A timer. The owner allocates it and zeroes it before its first use. The owner does not move an armed
 * timer, and stops it before it frees it. */
struct ls_timer {
    uint32_t armed; /* private to the environment; 0 = not armed */
};

typedef void (*ls_timer_fn)(void *ctx);

/* Calls fn(ctx) once, `delay_ms` or more milliseconds from now. Stops the timer first if it is armed.
 *
 * - fn is called with the environment's mutex HELD. It may drop the mutex meanwhile, and returns with it
 *   held.
 * - While fn blocks with the mutex dropped, other timers fire when they are due, as long as a thread can be
 *   made.
 * - `name` is a static string that labels show, such as "retry-timer". The name decides the role (recipe.h).
 * - fn and `name` lie in the code module of the recipe.
 *
 * Returns 0 or LS_ENOMEM. Of the timers, a fault of a world refuses only those of the role
 * LS_TIMER_DEADLINE. */
int ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                       ls_timer_fn fn, void *ctx);

/* Stops a timer: its function does not begin after the return. Does nothing if the timer is not armed. */
void ls_env_timer_stop(struct ls_env *env, struct ls_timer *timer);

/* ---- bytes ---- */

/* Writes random bytes, for jitter. In a world the bytes depend on the seed of the run and on the process
 * alone: each call writes the same ones. May be called without the mutex. */
void ls_env_random(struct ls_env *env, void *bytes, size_t size);

/* Writes a new id of 16 bytes that is unique over all processes: a version 4 UUID in applications, process
 * and counter in a world. May be called without the mutex. */
void ls_env_unique_id(struct ls_env *env, uint8_t id[16]);

/* Returns zeroed memory, aligned to 8 bytes, or NULL. In a world it lies in the heap of the process, and a
 * fault may refuse it. */
void *ls_env_alloc(struct ls_env *env, size_t size);

/* Frees memory from ls_env_alloc(). Ignores NULL. In a world the memory is overwritten. */
void ls_env_free(struct ls_env *env, void *memory);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
