/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment: everything a recipe may ask of the world besides ZooKeeper itself.
 *
 * A recipe includes <zookeeper/zookeeper.h> and this header, nothing else that touches time, threads, memory or
 * randomness (design decision D1). The functions are resolved at link time: src/env/env_pthread.c provides them in
 * applications, src/sim/env.c inside a simulated world. There is no function table and no #ifdef.
 *
 * An environment serves one process of a world, or one session or several of an application. Functions expect the
 * environment's mutex to be held, but for ls_env_lock() and those that say that they may be called without it. In a world
 * ls_env_alloc(), ls_env_free(), ls_env_wait() and ls_env_wake() note a call without the mutex (contract_is_kept);
 * timers do not. None may be called in a signal handler, nor in the child of a fork with an environment that it has
 * inherited. */
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

/* Takes the environment's mutex. In a world this is a scheduling point. */
void ls_env_lock(struct ls_env *env);

/* Drops the environment's mutex. Legal only while held. */
void ls_env_unlock(struct ls_env *env);

/* A place to sleep; the caller allocates it and keeps it alive while somebody waits on it. */
struct ls_waiter {
    uint64_t space[8]; /* owned by the environment */
};

/* May be called without the mutex, while nobody else uses the waiter. */
void ls_env_waiter_init(struct ls_env *env, struct ls_waiter *waiter);
void ls_env_waiter_close(struct ls_env *env, struct ls_waiter *waiter);

/* Drops the mutex, sleeps until ls_env_wake() on the same waiter, takes the mutex again. May wake spuriously: callers
 * loop on their own condition. */
void ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);

/* Wakes everybody who sleeps on this waiter. */
void ls_env_wake(struct ls_env *env, struct ls_waiter *waiter);

/* ---- threads: who is calling ---- */

/* Bracket every callback that ZooKeeper's completion thread makes; may be called without the mutex. */
void ls_env_callback_enter(struct ls_env *env);
void ls_env_callback_leave(struct ls_env *env);

/* True between the two on the same thread: a blocking call would then wait for itself (LS_EDEADLK). May be called
 * without the mutex. */
bool ls_env_in_callback(struct ls_env *env);

/* Every thread id has this bit. Owners of locks that a program numbers itself do not have it (mutex.h). */
#define LS_ENV_THREAD (UINT64_C(1) << 63)

/* Returns an id of the calling thread: LS_ENV_THREAD and a number that no other thread of the program has ever had. May be
 * called without the mutex. */
uint64_t ls_env_self(struct ls_env *env);

/* ---- time: stamps and one-shot timers, never numbers of a clock ---- */

/* The functions for stamps may be called without the mutex. */
struct ls_stamp {
    uint64_t opaque; /* 0 = never marked */
};

/* Marks this moment. The stamp must stay where it is: a world keeps track of it by address. */
void ls_env_stamp(struct ls_env *env, struct ls_stamp *stamp);

/* Milliseconds since the stamp was marked, rounded up, those included for which the machine was suspended; INT64_MAX if
 * it never was. In an untimed world always 0: there only a timer that fired is evidence that time has passed (D8). */
int64_t ls_env_elapsed_ms(struct ls_env *env, const struct ls_stamp *stamp);

/* Zero-initialise before first use; the owner allocates it and stops it before freeing it. */
struct ls_timer {
    uint32_t armed; /* 0 = not armed; owned by the environment */
};

typedef void (*ls_timer_fn)(void *ctx);

/* Calls fn(ctx) once, delay_ms or more from now, with the environment's mutex HELD (fn may drop it meanwhile, but
 * returns with it held). While fn blocks with the mutex dropped, other timers fire when they are due. `name` is a
 * static string that names the role in labels ("retry-timer"); fn and name must lie in the recipe's code module. An
 * armed timer is first stopped. Returns 0 or LS_ENOMEM. In a world only a timer whose role is LS_TIMER_DEADLINE (recipe.h)
 * may be made to fail: whoever starts it has a caller to tell. */
int ls_env_timer_start(struct ls_env *env, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                       ls_timer_fn fn, void *ctx);

/* After this returns the function will not be called. A timer that is not armed is left alone. */
void ls_env_timer_stop(struct ls_env *env, struct ls_timer *timer);

/* ---- bytes ---- */

/* Random bytes for jitter. In a world they are a function of the run's seed and the process alone, never a stream. May be
 * called without the mutex. */
void ls_env_random(struct ls_env *env, void *bytes, size_t size);

/* A fresh 16-byte id, unique over all processes (a version 4 UUID in applications; process and counter in a world). May be
 * called without the mutex. */
void ls_env_unique_id(struct ls_env *env, uint8_t id[16]);

/* Zeroed memory, aligned to 8, or NULL. In a world it lies in the process's heap and may be made to fail. */
void *ls_env_alloc(struct ls_env *env, size_t size);

/* Frees what ls_env_alloc() gave; NULL is ignored. In a world the memory is overwritten. */
void ls_env_free(struct ls_env *env, void *memory);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
