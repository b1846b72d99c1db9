/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "support/env_fibre.h"

#include "base/assert.h"
#include "support/fibre.h"

#include <lockstep/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ls_env {
    char wrong[256];
};

static struct ls_env env;

struct ls_env *env_fibre(void)
{
    return &env;
}

/* ---- blame ---- */

void env_fibre_blame(const char *format, ...)
{
    if (env.wrong[0] == 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(env.wrong, sizeof env.wrong, format, args);
        va_end(args);
    }
}

const char *env_fibre_wrong(void)
{
    return env.wrong[0] != 0 ? env.wrong : NULL;
}

bool env_fibre_is_wrong(void)
{
    return env.wrong[0] != 0;
}

/* ---- planned failures: the nth next call fails; 0 = no call fails ---- */

static int fail_alloc, fail_timer;

static bool fails(int *count)
{
    return *count > 0 && --*count == 0;
}

void env_fibre_fail_alloc(int n)
{
    fail_alloc = n;
}

void env_fibre_fail_timer(int n)
{
    fail_timer = n;
}

/* ---- the mutex ---- */

static int holder; /* number of the fibre that has the mutex, plus 1; 0 = the mutex is free */

static bool is_free(void *ctx)
{
    (void)ctx;
    return holder == 0;
}

static void take_mutex(void)
{
    if (holder == fibre_self() + 1) {
        env_fibre_blame("a thread takes the mutex twice");
        fibre_give_up();
    }
    while (holder != 0) {
        fibre_wait(is_free, NULL);
    }
    holder = fibre_self() + 1;
}

static void drop_mutex(void)
{
    if (holder != fibre_self() + 1) {
        env_fibre_blame("a thread drops a mutex that it does not hold");
    }
    holder = 0;
}

void __wrap_ls_env_lock(struct ls_env *e)
{
    (void)e;
    fibre_pause();
    take_mutex();
}

void __wrap_ls_env_unlock(struct ls_env *e)
{
    (void)e;
    drop_mutex();
    fibre_pause();
}

/* ---- sleeping ---- */

struct sleeper {
    uint32_t open; /* OPEN while the waiter may be used */
    uint32_t wakes;
};

#define OPEN 0x51ee9e5u

struct nap {
    struct sleeper *sleeper;
    uint32_t wakes;
};

static struct sleeper *space_of(struct ls_waiter *waiter)
{
    return (void *)waiter->space;
}

static struct sleeper *sleeper_of(struct ls_waiter *waiter)
{
    struct sleeper *sleeper = space_of(waiter);
    if (sleeper->open != OPEN) {
        env_fibre_blame("a waiter is used that is not initialised, or not any more");
    }
    return sleeper;
}

void __wrap_ls_env_waiter_init(struct ls_env *e, struct ls_waiter *waiter)
{
    (void)e;
    *space_of(waiter) = (struct sleeper){.open = OPEN};
}

void __wrap_ls_env_waiter_close(struct ls_env *e, struct ls_waiter *waiter)
{
    (void)e;
    sleeper_of(waiter)->open = 0;
}

static bool is_woken(void *ctx)
{
    struct nap *nap = ctx;
    return nap->sleeper->wakes != nap->wakes;
}

void __wrap_ls_env_wait(struct ls_env *e, struct ls_waiter *waiter)
{
    (void)e;
    struct nap nap = {sleeper_of(waiter), sleeper_of(waiter)->wakes};
    drop_mutex();
    fibre_wait(is_woken, &nap);
    take_mutex();
}

void __wrap_ls_env_wake(struct ls_env *e, struct ls_waiter *waiter)
{
    (void)e;
    if (holder != fibre_self() + 1) {
        env_fibre_blame("somebody is woken without the mutex");
    }
    sleeper_of(waiter)->wakes++;
}

/* ---- threads in callbacks ---- */

static int callbacks[FIBRES_MAX];

void __wrap_ls_env_callback_enter(struct ls_env *e)
{
    (void)e;
    callbacks[fibre_self()]++;
}

void __wrap_ls_env_callback_leave(struct ls_env *e)
{
    (void)e;
    callbacks[fibre_self()]--;
}

bool __wrap_ls_env_in_callback(struct ls_env *e)
{
    (void)e;
    return callbacks[fibre_self()] > 0;
}

uint64_t __wrap_ls_env_self(struct ls_env *e)
{
    (void)e;
    return LS_ENV_THREAD | ((uint64_t)fibre_self() + 1);
}

/* ---- time: only a timer that fires shows that some has passed ---- */

#define TIMERS_MAX 32

static struct armed {
    struct ls_timer *timer; /* NULL = free */
    const char *name;
    ls_timer_fn fn;
    void *ctx;
} timers[TIMERS_MAX];
/* Up to that of the last armed timer: a run has few, and its driver looks at all in each step. */
static int places;

void __wrap_ls_env_stamp(struct ls_env *e, struct ls_stamp *stamp)
{
    (void)e;
    stamp->opaque = 1;
}

int64_t __wrap_ls_env_elapsed_ms(struct ls_env *e, const struct ls_stamp *stamp)
{
    (void)e;
    return stamp->opaque != 0 ? 0 : INT64_MAX;
}

static struct armed *find_timer(const struct ls_timer *timer)
{
    for (int i = 0; i < places; i++) {
        if (timers[i].timer == timer) {
            return &timers[i];
        }
    }
    return NULL;
}

/* Returns the first free place; NULL = there is none. */
static struct armed *free_place(void)
{
    struct armed *armed = find_timer(NULL);
    if (armed == NULL && places < TIMERS_MAX) {
        armed = &timers[places++];
    }
    return armed;
}

static void disarm(struct armed *armed)
{
    armed->timer->armed = 0;
    armed->timer = NULL;
    while (places > 0 && timers[places - 1].timer == NULL) {
        places--;
    }
}

void __wrap_ls_env_timer_stop(struct ls_env *e, struct ls_timer *timer)
{
    (void)e;
    struct armed *armed = timer->armed != 0 ? find_timer(timer) : NULL;
    timer->armed = 0;
    if (armed != NULL) {
        disarm(armed);
    }
}

int __wrap_ls_env_timer_start(struct ls_env *e, struct ls_timer *timer, const char *name, uint32_t delay_ms,
                              ls_timer_fn fn, void *ctx)
{
    (void)delay_ms;
    __wrap_ls_env_timer_stop(e, timer);
    if (fails(&fail_timer)) {
        return LS_ENOMEM;
    }
    struct armed *armed = free_place();
    if (armed == NULL) {
        env_fibre_blame("too many timers");
        return LS_ENOMEM;
    }
    *armed = (struct armed){timer, name, fn, ctx};
    timer->armed = 1;
    return 0;
}

/* ---- bytes ---- */

static uint32_t ids;

void __wrap_ls_env_random(struct ls_env *e, void *bytes, size_t size)
{
    (void)e;
    memset(bytes, 0x5a, size);
}

void __wrap_ls_env_unique_id(struct ls_env *e, uint8_t id[16])
{
    (void)e;
    memset(id, 0, 16);
    id[6] = 0x40;
    id[8] = 0x80;
    id[15] = (uint8_t)++ids;
}

/* A block of memory. A freed one is kept until the next run, filled with one byte, to notice writes. */
struct block {
    struct block *next, *before;
    size_t size;
    size_t reserved;
};

struct blocks {
    struct block *first;
    long count;
};

static struct blocks used, freed;

#define FREED 0xdd

static void link_block(struct blocks *list, struct block *block)
{
    block->before = NULL;
    block->next = list->first;
    if (list->first != NULL) {
        list->first->before = block;
    }
    list->first = block;
    list->count++;
}

static void unlink_block(struct blocks *list, struct block *block)
{
    if (block->next != NULL) {
        block->next->before = block->before;
    }
    if (block->before != NULL) {
        block->before->next = block->next;
    } else {
        list->first = block->next;
    }
    list->count--;
}

void *__wrap_ls_env_alloc(struct ls_env *e, size_t size)
{
    (void)e;
    if (fails(&fail_alloc)) {
        return NULL;
    }
    struct block *block = calloc(1, sizeof *block + size);
    LS_ASSERT(block != NULL);
    block->size = size;
    link_block(&used, block);
    return block + 1;
}

void __wrap_ls_env_free(struct ls_env *e, void *memory)
{
    (void)e;
    if (memory != NULL) {
        struct block *block = (struct block *)memory - 1;
        unlink_block(&used, block);
        memset(memory, FREED, block->size);
        link_block(&freed, block);
    }
}

static void drop_blocks(struct blocks *list)
{
    struct block *next;
    for (struct block *block = list->first; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    *list = (struct blocks){.first = NULL};
}

/* ---- for tests ---- */

void env_fibre_reset(void)
{
    memset(&env, 0, sizeof env);
    memset(timers, 0, sizeof timers);
    places = 0;
    memset(callbacks, 0, sizeof callbacks);
    holder = 0;
    ids = 0;
    fail_alloc = fail_timer = 0;
    drop_blocks(&used);
    drop_blocks(&freed);
}

bool env_fibre_mutex_is_free(void)
{
    return holder == 0;
}

long env_fibre_blocks(void)
{
    return used.count;
}

bool env_fibre_scribbled(void)
{
    for (const struct block *block = freed.first; block != NULL; block = block->next) {
        const unsigned char *bytes = (const unsigned char *)(block + 1);
        for (size_t i = 0; i < block->size; i++) {
            if (bytes[i] != FREED) {
                return true;
            }
        }
    }
    return false;
}

int env_fibre_places(void)
{
    return places;
}

struct ls_timer *env_fibre_timer(int place, const char **name)
{
    *name = timers[place].name;
    return timers[place].timer;
}

void env_fibre_fire(struct ls_timer *timer)
{
    __wrap_ls_env_lock(&env);
    struct armed *armed = find_timer(timer);
    if (armed != NULL) {
        struct armed fired = *armed;
        disarm(armed);
        fired.fn(fired.ctx);
    }
    __wrap_ls_env_unlock(&env);
}
