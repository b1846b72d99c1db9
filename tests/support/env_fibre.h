/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The environment of include/lockstep/env.h whose threads are fibres. Another thread can go on wherever the
 * mutex is taken or dropped, and where a thread sleeps. A test that includes this file gets it in place of
 * the world's environment.
 *
 * There is no clock. Timers are armed or not, and the test says when one fires. The first offence of a
 * thread is noted: see env_fibre_wrong(). */
#ifndef TESTS_SUPPORT_ENV_FIBRE_H
#define TESTS_SUPPORT_ENV_FIBRE_H

#include <lockstep/env.h>

/* Begins a new run, and frees the memory of the former one. */
void env_fibre_reset(void);

/* Returns the environment for sessions. */
struct ls_env *env_fibre(void);

/* ---- blame: the text of the first offence, or NULL ---- */

void env_fibre_blame(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *env_fibre_wrong(void);
bool env_fibre_is_wrong(void);

/* ---- checks at the end of a run ---- */

bool env_fibre_mutex_is_free(void);
long env_fibre_blocks(void);    /* number of allocated blocks of memory */
bool env_fibre_scribbled(void); /* a thread has written to freed memory */

/* Let the nth next allocation, or start of a timer, fail; 0 = none fails. */
void env_fibre_fail_alloc(int n);
void env_fibre_fail_timer(int n);

/* ---- timers; armed ones have places from 0 ---- */

/* Returns the number of places up to that of the last armed timer. */
int env_fibre_places(void);

/* Returns the armed timer of this place, and its name; NULL = the place is free. */
struct ls_timer *env_fibre_timer(int place, const char **name);

/* Takes the mutex, calls the timer's function if the timer is still armed, and drops the mutex. */
void env_fibre_fire(struct ls_timer *timer);

/* ---- in place of the environment's functions ---- */

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
void __wrap_ls_env_lock(struct ls_env *e);
void __wrap_ls_env_unlock(struct ls_env *e);
void __wrap_ls_env_waiter_init(struct ls_env *e, struct ls_waiter *waiter);
void __wrap_ls_env_waiter_close(struct ls_env *e, struct ls_waiter *waiter);
void __wrap_ls_env_wait(struct ls_env *e, struct ls_waiter *waiter);
void __wrap_ls_env_wake(struct ls_env *e, struct ls_waiter *waiter);
void __wrap_ls_env_callback_enter(struct ls_env *e);
void __wrap_ls_env_callback_leave(struct ls_env *e);
bool __wrap_ls_env_in_callback(struct ls_env *e);
uint64_t __wrap_ls_env_self(struct ls_env *e);
void __wrap_ls_env_stamp(struct ls_env *e, struct ls_stamp *stamp);
int64_t __wrap_ls_env_elapsed_ms(struct ls_env *e, const struct ls_stamp *stamp);
void __wrap_ls_env_timer_stop(struct ls_env *e, struct ls_timer *timer);
int __wrap_ls_env_timer_start(struct ls_env *e, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx);
void __wrap_ls_env_random(struct ls_env *e, void *bytes, size_t size);
void __wrap_ls_env_unique_id(struct ls_env *e, uint8_t id[16]);
void *__wrap_ls_env_alloc(struct ls_env *e, size_t size);
void __wrap_ls_env_free(struct ls_env *e, void *memory);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
