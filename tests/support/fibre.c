/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/fibre.h"

#include "base/assert.h"

#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* Sanitizers have to know which stack is in use. */
#if defined(__SANITIZE_ADDRESS__)
#define FIBRE_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FIBRE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBRE_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FIBRE_TSAN 1
#endif
#endif

#ifdef FIBRE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBRE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#define STACK_BYTES ((size_t)512 * 1024)

/* Sanitizers take a jump from one stack to another for an error, but accept swapcontext(). Without them
 * fibres jump, because swapcontext() asks the system for the signal mask each time: most of the time of a
 * test. */
#if defined(FIBRE_ASAN) || defined(FIBRE_TSAN)
#define FIBRE_SWAPS 1
#endif

struct fibre {
    void (*fn)(void *ctx);
    void *ctx;
    bool (*ready)(void *ctx); /* condition for which it waits; NULL = none */
    void *ready_ctx;
    void *shadow;       /* state that the sanitizer keeps for it */
    ucontext_t context; /* point where it begins; with FIBRE_SWAPS also where it goes on */
#ifndef FIBRE_SWAPS
    jmp_buf place; /* point where it goes on once it has begun */
#endif
    bool begun, done;
};

static struct fibre fibres[FIBRES_MAX];
static unsigned char *stacks;
#ifdef FIBRE_SWAPS
static ucontext_t home;
static void *home_shadow;
#else
static jmp_buf home;
#endif
#ifdef FIBRE_ASAN
static const void *home_stack;
static size_t home_size;
#endif
static int count, current = -1;

static unsigned char *stack_of(int fibre)
{
    return stacks + (size_t)fibre * STACK_BYTES;
}

/* ---- changing stacks ---- */

static void go_to(struct fibre *to)
{
#ifdef FIBRE_SWAPS
    swapcontext(&home, &to->context);
#else
    if (_setjmp(home) == 0) {
        if (to->begun) {
            _longjmp(to->place, 1);
        }
        to->begun = true;
        setcontext(&to->context);
    }
#endif
}

static void go_home(struct fibre *from)
{
#ifdef FIBRE_SWAPS
    swapcontext(&from->context, &home);
#else
    if (_setjmp(from->place) == 0) {
        _longjmp(home, 1);
    }
#endif
}

static void enter_fibre(struct fibre *to, unsigned char *stack)
{
    (void)stack;
#ifdef FIBRE_ASAN
    __sanitizer_start_switch_fiber(&home_shadow, stack, STACK_BYTES);
#endif
#ifdef FIBRE_TSAN
    home_shadow = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->shadow, 0);
#endif
    go_to(to);
#ifdef FIBRE_ASAN
    __sanitizer_finish_switch_fiber(home_shadow, NULL, NULL);
#endif
}

static void arrive(struct fibre *fibre)
{
    (void)fibre;
#ifdef FIBRE_ASAN
    __sanitizer_finish_switch_fiber(fibre->shadow, &home_stack, &home_size);
#endif
}

static void leave_fibre(struct fibre *fibre)
{
#ifdef FIBRE_ASAN
    __sanitizer_start_switch_fiber(fibre->done ? NULL : &fibre->shadow, home_stack, home_size);
#endif
#ifdef FIBRE_TSAN
    __tsan_switch_to_fiber(home_shadow, 0);
#endif
    go_home(fibre);
    arrive(fibre);
}

static void run(void)
{
    struct fibre *fibre = &fibres[current];
    arrive(fibre);
    fibre->fn(fibre->ctx);
    fibre->done = true;
    leave_fibre(fibre);
}

/* ---- all of them ---- */

void fibres_reset(void)
{
    LS_ASSERT(current < 0);
    if (stacks == NULL) {
        stacks =
            mmap(NULL, FIBRES_MAX * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        LS_ASSERT(stacks != MAP_FAILED);
    }
#ifdef FIBRE_ASAN
    __asan_unpoison_memory_region(stacks, FIBRES_MAX * STACK_BYTES);
#endif
#ifdef FIBRE_TSAN
    for (int i = 0; i < count; i++) {
        __tsan_destroy_fiber(fibres[i].shadow);
    }
#endif
    memset(fibres, 0, sizeof fibres);
    count = 0;
}

int fibre_start(void (*fn)(void *ctx), void *ctx)
{
    LS_ASSERT(count < FIBRES_MAX && stacks != NULL);
    struct fibre *fibre = &fibres[count];
    *fibre = (struct fibre){.fn = fn, .ctx = ctx};
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = stack_of(count);
    fibre->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fibre->context, run, 0);
#ifdef FIBRE_TSAN
    fibre->shadow = __tsan_create_fiber(0);
#endif
    return count++;
}

int fibre_count(void)
{
    return count;
}

int fibre_self(void)
{
    return current;
}

bool fibre_can_run(int fibre)
{
    const struct fibre *f = &fibres[fibre];
    return !f->done && (f->ready == NULL || f->ready(f->ready_ctx));
}

bool fibre_is_done(int fibre)
{
    return fibres[fibre].done;
}

void fibre_resume(int fibre)
{
    LS_ASSERT(current < 0 && fibre_can_run(fibre));
    current = fibre;
    fibres[fibre].ready = NULL;
    enter_fibre(&fibres[fibre], stack_of(fibre));
    current = -1;
}

/* ---- within a fibre ---- */

void fibre_pause(void)
{
    LS_ASSERT(current >= 0);
    int self = current;
    leave_fibre(&fibres[self]);
}

void fibre_wait(bool (*ready)(void *ctx), void *ctx)
{
    LS_ASSERT(current >= 0);
    fibres[current].ready = ready;
    fibres[current].ready_ctx = ctx;
    fibre_pause();
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

void fibre_give_up(void)
{
    fibre_wait(never, NULL);
}
