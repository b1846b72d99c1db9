/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What `./dev mutants --api` puts at the head of each source file in its copy of the tree (dev.d/api.py). Each public
 * function calls its former body through a wrapper, and the wrapper makes the one mistake that the environment names:
 *
 *   LOCKSTEP_API="KIND FUNCTION FROM TO"
 *     once     the function returns TO at once
 *     code     an answer FROM of the function becomes TO
 *     beside   while another thread is in a close of the same object, the function answers TO; FROM says which close
 *   LOCKSTEP_API_TRACE=FILE
 *     a file of sizeof(struct api_trace) zero bytes, in which the wrappers mark what ran
 *
 * The file is included by many sources; its state is one weak object of the program. */
#ifndef LOCKSTEP_API_SWITCH_H
#define LOCKSTEP_API_SWITCH_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define API_FUNCTIONS_MAX 512
#define API_CODES 64 /* 0 .. 31: 0 and negative codes; from 32 on: positive ones */
#define API_FRAMES_MAX 64

enum { API_NOTHING, API_ONCE, API_CODE, API_BESIDE };
enum { API_CLOSES_NOTHING, API_CLOSES_MUTEX, API_CLOSES_SESSION };

struct api_trace {
    uint8_t called[API_FUNCTIONS_MAX];
    uint8_t codes[API_FUNCTIONS_MAX][API_CODES];
    uint8_t beside[API_FUNCTIONS_MAX][2]; /* a close of the mutex, of the session */
};

/* A call of a function of mutex.h or session.h that has not returned. */
struct api_frame {
    bool used;
    uint16_t function;
    uint8_t closes;
    uintptr_t thread;
    int fibre;
    const void *mutex, *session;
};

struct api_state {
    bool ready;
    int kind, function, from, to;
    struct api_trace *trace;
    bool locked;
    struct api_frame frames[API_FRAMES_MAX];
};

__attribute__((weak)) struct api_state api_state;

/* tests/support/fibre.h, where it is linked. */
int fibre_self(void) __attribute__((weak));

__attribute__((constructor, unused)) static void api_read_environment(void)
{
    static const char *const names[] = {"", "once", "code", "beside"};
    char kind[16];
    const char *text = getenv("LOCKSTEP_API"), *file = getenv("LOCKSTEP_API_TRACE");
    if (api_state.ready)
        return;
    api_state.ready = true;
    if (text && sscanf(text, "%15s %d %d %d", kind, &api_state.function, &api_state.from, &api_state.to) == 4)
        for (int i = API_ONCE; i <= API_BESIDE; i++)
            if (!strcmp(kind, names[i]))
                api_state.kind = i;
    int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *at = mmap(NULL, sizeof(struct api_trace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        api_state.trace = at == MAP_FAILED ? NULL : (struct api_trace *)at;
        close(fd);
    }
}

__attribute__((unused)) static bool api_once(int function)
{
    if (api_state.trace)
        api_state.trace->called[function] = 1;
    return api_state.kind == API_ONCE && api_state.function == function;
}

__attribute__((unused)) static int api_code(int function, int rc)
{
    if (api_state.trace && rc > -32 && rc < 32)
        api_state.trace->codes[function][rc <= 0 ? -rc : 32 + rc] = 1;
    if (api_state.kind == API_CODE && api_state.function == function && api_state.from == rc)
        return api_state.to;
    return rc;
}

static inline void api_lock(void)
{
    while (__atomic_test_and_set(&api_state.locked, __ATOMIC_ACQUIRE)) {
    }
}

static inline void api_unlock(void)
{
    __atomic_clear(&api_state.locked, __ATOMIC_RELEASE);
}

static inline bool api_elsewhere(const struct api_frame *a, const struct api_frame *b)
{
    return a->used && b->used && (a->thread != b->thread || a->fibre != b->fibre);
}

static inline bool api_same_object(const struct api_frame *frame, const struct api_frame *close)
{
    if (close->closes == API_CLOSES_MUTEX && frame->mutex)
        return frame->mutex == close->mutex;
    return frame->session && frame->session == close->session;
}

/* Bits of the closes of this frame's object that run in other threads; marks the pairs of which this one is the close. */
static inline unsigned api_look(struct api_frame *frame)
{
    unsigned closes = 0;
    for (int i = 0; i < API_FRAMES_MAX; i++) {
        struct api_frame *other = &api_state.frames[i];
        if (!api_elsewhere(frame, other))
            continue;
        if (other->closes && api_same_object(frame, other))
            closes |= 1u << (other->closes - 1);
        if (frame->closes && api_same_object(other, frame) && api_state.trace)
            api_state.trace->beside[other->function][frame->closes - 1] = 1;
    }
    for (int i = 0; i < 2; i++)
        if (closes & 1u << i && api_state.trace)
            api_state.trace->beside[frame->function][i] = 1;
    return closes;
}

/* True if the mistake is to be made in this call now: another thread is in the close. */
__attribute__((unused)) static bool api_beside(int place)
{
    if (api_state.kind != API_BESIDE || place < 0 || api_state.frames[place].function != api_state.function)
        return false;
    api_lock();
    unsigned closes = api_look(&api_state.frames[place]);
    api_unlock();
    return closes & 1u << api_state.from;
}

__attribute__((unused)) static bool api_watching(void)
{
    return api_state.trace || api_state.kind == API_BESIDE;
}

/* Notes a call. Returns its place, -1 if nobody wants to know. */
__attribute__((unused)) static int api_enter(int function, int closes, const void *mutex, const void *session)
{
    int place = 0;
    if (!api_watching())
        return -1;
    api_lock();
    while (place < API_FRAMES_MAX && api_state.frames[place].used)
        place++;
    if (place < API_FRAMES_MAX) {
        struct api_frame *frame = &api_state.frames[place];
        frame->used = true;
        frame->function = (uint16_t)function;
        frame->closes = (uint8_t)closes;
        frame->thread = (uintptr_t)pthread_self();
        frame->fibre = fibre_self ? fibre_self() : 0;
        frame->mutex = mutex;
        frame->session = session;
        (void)api_look(frame);
    }
    api_unlock();
    return place < API_FRAMES_MAX ? place : -1;
}

__attribute__((unused)) static void api_leave(int place)
{
    if (place < 0)
        return;
    api_lock();
    api_state.frames[place].used = false;
    api_unlock();
}

#ifdef __cplusplus
}
#endif

#endif
