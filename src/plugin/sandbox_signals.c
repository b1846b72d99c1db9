/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Guards calls of a recipe that may crash, never return, or keep state outside of its world.
 *
 * A signal handler catches a fault of the recipe inside a call and jumps back to the beginning of the call. A
 * timer of processor time ends a call that three ticks in a row meet. The timer's handler jumps back only
 * while the world calls the recipe, and if the program counter is in the watched code. A jump out of the
 * simulated client or the C library would damage their data. After a call that has returned, the recipe's
 * variables are compared with their saved values, and restored. */
#include "plugin/plugin.h"
#include "sim/sandbox.h"

#include "base/assert.h"
#include "base/guarded_variables.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#define TICK_US 50000
#define SOON_US 200
#define STACK_BYTES 65536
#define WHERE_MAX 128

static const struct object *watched;
static uintptr_t base;
static uintptr_t code_offset; /* offset from `base` */
static size_t code_size;
static struct variables variables;

static sigjmp_buf way_back;
static volatile sig_atomic_t within; /* 1 = inside of a guarded call */
static volatile sig_atomic_t signal_number;
static volatile uintptr_t fault_at;
static unsigned long call_at_tick;
static volatile sig_atomic_t ticks;
static bool armed;                    /* the timer runs in this process */
static struct sigaction abort_before; /* what the program did at SIGABRT before listen() */
static char where_text[WHERE_MAX];

/* ---- signals ---- */

static uintptr_t program_counter(const void *context)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#else
    (void)at;
    return base;
#endif
}

static void go_back(int number, uintptr_t at)
{
    signal_number = number;
    fault_at = at;
    within = 0;
    siglongjmp(way_back, 1);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)info;
    if (within && world_in_recipe() && !assert_has_failed()) {
        go_back(number, program_counter(context));
    }
    if (number == SIGABRT) { /* the program's own abort() */
        sigaction(number, &abort_before, NULL);
        raise(number);
        return;
    }
    signal(number, SIG_DFL); /* the program's own fault: it happens again on return, and ends the process */
}

static void tick_in(long us)
{
    const struct itimerval timer = {.it_interval = {.tv_usec = TICK_US}, .it_value = {.tv_usec = us}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    (void)info;
    unsigned long call = world_calls();
    bool same = within && world_in_recipe() && call == call_at_tick;
    call_at_tick = call;
    ticks = same ? ticks + 1 : 0;
    if (ticks < 2) {
        return;
    }
    uintptr_t at = program_counter(context);
    if (at < base + code_offset || at - base - code_offset >= code_size) {
        tick_in(SOON_US);
        return;
    }
    tick_in(TICK_US);
    go_back(number, at);
}

static void listen(void)
{
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    static unsigned char bytes[STACK_BYTES];
    const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof bytes};
    sigaltstack(&stack, NULL); /* a recipe may overflow the normal stack */
    struct sigaction now;
    sigaction(SIGABRT, NULL, &now);
    if (now.sa_sigaction != on_fault) {
        abort_before = now;
    }
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        sigaction(FAULTS[i], &action, NULL);
    }
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
    sigaction(SIGPROF, &action, NULL);
}

static void in_child(void)
{
    armed = false; /* timers are not inherited */
}

/* ---- where ---- */

static const char *name_of(int number)
{
    return number == SIGSEGV   ? "SIGSEGV"
           : number == SIGBUS  ? "SIGBUS"
           : number == SIGFPE  ? "SIGFPE"
           : number == SIGILL  ? "SIGILL"
           : number == SIGABRT ? "SIGABRT"
                               : NULL;
}

/* Returns a text such as "SIGSEGV in on_created()", without the function if it is not known. Returns NULL for
 * an endless loop. The text has no address, so that it is the same in each run. */
static const char *describe(void)
{
    LS_ASSERT(!within && signal_number != 0);
    bool inside = watched != NULL && fault_at >= base;
    const char *function = inside ? object_symbol(watched, fault_at - base) : NULL;
    const char *name = name_of(signal_number);
    bool known = function != NULL && (name != NULL || signal_number == 0);
    snprintf(where_text, sizeof where_text, "%s%s%s%s", name != NULL ? name : "", known ? " in " : "",
             known ? function : "", known ? "()" : "");
    return where_text[0] != 0 ? where_text : NULL;
}

/* ---- the guard ---- */

static bool call(void (*fn)(void *ctx), void *ctx, enum event_offence *offence, const char **where)
{
    LS_ASSERT(!within);
    if (!armed) {
        armed = true;
        tick_in(TICK_US);
    }
    if (sigsetjmp(way_back, 0) != 0) {
        *offence = signal_number == SIGPROF ? EVENT_OFFENCE_LOOP : EVENT_OFFENCE_CRASH;
        *where = describe();
        return false;
    }
    within = 1;
    fn(ctx);
    within = 0;
    return true;
}

static bool changed(const char **where)
{
    uintptr_t first;
    if (variables_are_kept(&variables, &first)) {
        return false;
    }
    LS_ASSERT(watched != NULL && variables.count > 0);
    const char *name = object_symbol(watched, first - base);
    snprintf(where_text, sizeof where_text, "%s", name != NULL ? name : "");
    *where = name != NULL ? where_text : NULL;
    return true;
}

static bool keep(uintptr_t from, uintptr_t end)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return from >= end || variables_keep(&variables, (void *)(base + from), end - from);
}

/* Watches all writable parts, without the marks: a recipe sets marks as it runs. Returns false if a part
 * cannot be watched. */
static bool keep_variables(void)
{
    uintptr_t offset, marks = 0;
    size_t size, marks_size = 0;
    bool marked = object_marks(watched, &marks, &marks_size);
    bool kept = true;
    for (int i = 0; object_writable(watched, i, &offset, &size); i++) {
        if (marked && marks >= offset && marks - offset < size) {
            kept = keep(offset, marks) && kept;
            kept = keep(marks + marks_size, offset + size) && kept;
        } else {
            kept = keep(offset, offset + size) && kept;
        }
    }
    return kept;
}

static void begin(void)
{
    static const struct world_guard GUARD = {.call = call, .changed = changed};
    listen();
    pthread_atfork(NULL, NULL, in_child);
    world_set_guard(&GUARD);
}

void guard_watch_program(void)
{
    if (watched != NULL) {
        return; /* the guard of a shared object stays in force */
    }
    /* Symbols of the linker. NOLINTNEXTLINE(bugprone-reserved-identifier) */
    extern const char __executable_start[], etext[];
    base = (uintptr_t)__executable_start;
    LS_ASSERT((uintptr_t)etext > base);
    code_size = (uintptr_t)etext - base;
    begin();
}

bool guard_watch(const struct object *object, uintptr_t loaded_at)
{
    watched = object;
    base = loaded_at;
    variables = (struct variables){0};
    code_size = object_code(object, &code_offset, &code_size) ? code_size : 0;
    if (!keep_variables()) {
        watched = NULL;
        return false;
    }
    begin();
    return true;
}
