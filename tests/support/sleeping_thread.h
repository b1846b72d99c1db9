/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A thread that sleeps, in a world that has no other thread. The test gives a function that does the work
 * of other threads meanwhile. A test that includes this file has it in place of ls_env_wait(). */
#ifndef TESTS_SUPPORT_SLEEPING_THREAD_H
#define TESTS_SUPPORT_SLEEPING_THREAD_H

#include <lockstep/env.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SLEEPS_MAX = 8 };

static void (*meanwhile)(void); /* work of another thread, done as soon as one sleeps; NULL = none */
static int sleeps;

/* The linker wants this name. NOLINTNEXTLINE(bugprone-reserved-identifier) */
void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter);

void __wrap_ls_env_wait(struct ls_env *env, struct ls_waiter *waiter)
{
    (void)waiter;
    if (!meanwhile || ++sleeps > SLEEPS_MAX)
        fail_msg("a thread would wait for ever");
    ls_env_unlock(env);
    meanwhile();
    ls_env_lock(env);
}

#endif
