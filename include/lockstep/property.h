/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The interface for a property of one's own: a judge that looks at a run and says whether a promise is
 * kept. The page docs/your-own-property.md leads from an empty file to a property that finds a mistake.
 *
 * A judge is a small automaton over the semantic events of <lockstep/event.h>. Its state has a fixed size.
 *
 * - A search goes from any state of the world to any other. So a judge keeps all that it knows in its
 *   state, and has no globals, allocations, files or clock. The state holds no pointers.
 * - The same state and the same event give the same answer and the same next state.
 * - At first the state is all zero. States of the world differ if states of judges do. So a judge clears a
 *   part of its state as soon as that makes no difference any more: states with the same future are then
 *   one.
 *
 * A property is written in C or C++. It needs only this header, links with nothing, and is compiled as a
 * shared object:
 *
 *     cc -std=c11 -fPIC -shared -o mine.so mine.c
 *     lockstep check --property ./mine.so scenarios/explore/mutex_2.scn */
#ifndef LOCKSTEP_PROPERTY_H
#define LOCKSTEP_PROPERTY_H

#include <lockstep/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LS_PROPERTY_PROCESSES_MAX 32 /* event.process is below this, or EVENT_PROCESS_NONE */
#define LS_PROPERTY_LOCKS_MAX 4      /* event.lock is below this, or EVENT_LOCK_NONE */
#define LS_PROPERTY_NAME_MAX 63      /* characters of a name */
#define LS_PROPERTY_STATE_MAX 4096   /* bytes of a state */
#define LS_PROPERTY_SENTENCE_MAX 200 /* characters of `sentence`, `premise` and `blind_to` each */
#define LS_PROPERTY_MODULES_MAX 4    /* shared objects with properties in one run */

/* Modes: the runs that judge a property without naming it. */
#define LS_PROPERTY_UNTIMED 0x01u /* searches and random schedules; event.now_ms is 0 */
#define LS_PROPERTY_TIMED 0x02u   /* directed scenarios, and scenarios with `timed` */
#define LS_PROPERTY_ALWAYS (LS_PROPERTY_UNTIMED | LS_PROPERTY_TIMED)

/* The argument of a judge: facts about the run, and the functions for its answer. Valid during the call. */
struct ls_judge {
    int processes;    /* number of processes in this run */
    int locks;        /* number of locks in this run */
    int owners;       /* most owners of a process that ask for one lock at once; they have smaller numbers */
    bool timed;       /* event.now_ms has a meaning */
    int tolerance_ms; /* ms by which an answer may be late in a timed run */

    /* Says that the premise of the promise was met. If no run has met it, the property's verdict is
     * not-judged. That is not the same as a property that holds. */
    void (*premise)(struct ls_judge *judge);

    /* Says that the promise is broken. `format` and the arguments behind it, as for printf, make one
     * sentence that names the reason. The first call of a run counts. The judge is shown further events
     * all the same. */
    void (*violate)(struct ls_judge *judge, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

    /* Return names as the scenario has them, for sentences. The texts of the last eight calls are valid
     * until this event has been judged. */
    const char *(*process_name)(struct ls_judge *judge, int process);
    const char *(*lock_name)(struct ls_judge *judge, int lock);
};

/* The functions by which a judge shows the places of numbers in its state, see `canon` below. */
struct ls_property_rename {
    void (*zxid)(struct ls_property_rename *rename, const int64_t *where); /* event.zxid, event.cause */
    void (*session)(struct ls_property_rename *rename, const int64_t *where);
};

struct ls_property {
    /* Name of small letters, digits and underscores, such as "nobody_overtakes_twice". No other property
     * has it. */
    const char *name;
    const char *sentence; /* the promise: "no contender is granted the lock twice past ..." */
    const char *premise;  /* the events that judge->premise() counts: "grants while somebody waits" */
    const char *blind_to; /* the violations that the property cannot see */
    unsigned modes;       /* LS_PROPERTY_UNTIMED and such; 0 = judged only if a scenario names it */
    bool needs_clock;     /* it has no meaning without a clock: `modes` lack LS_PROPERTY_UNTIMED, and a
                             scenario that names it must say `timed` */
    uint64_t wants;       /* EVENT_BIT() of each kind of event that the judge is to be shown */
    size_t state_size;    /* bytes of the state, at most LS_PROPERTY_STATE_MAX; 0 = no state */

    /* Looks at one event, changes the state, and answers by the functions of `judge`. The state is aligned
     * to 8 bytes; its address may differ from call to call. Events come in the order in which they
     * happened. The end of a process that closes its session in an orderly way (EVENT_STOPPED) is shown as
     * EVENT_CRASHED. event->path is NULL. */
    void (*observe)(void *state, const struct event *event, struct ls_judge *judge);

    /* Shows each zxid and each session id in the state by rename->zxid() and rename->session(), always in the
     * same order. Each number is an int64_t in the state itself, aligned to 8 bytes; 0 stands for none. A
     * search then counts states as one that differ only in an order-preserving renaming of these numbers.
     *
     * - A judge with canon() compares zxids only with each other, and session ids only for equality.
     * - A judge that keeps no such number, and compares none in another way, has
     *   ls_property_keeps_no_numbers.
     * - NULL: a search compares all numbers as they are. That is as sound, and slower. */
    void (*canon)(const void *state, struct ls_property_rename *rename);
};

/* The function canon() of a state without such numbers. */
static inline void ls_property_keeps_no_numbers(const void *state, struct ls_property_rename *rename)
{
    (void)state;
    (void)rename;
}

/* ---- properties in shared objects: --property FILE.so ---- */

/* Version of this interface: raised when something above, or in <lockstep/event.h>, changes its meaning. A
 * member that is added at the end of struct ls_property leaves it as it is, and so does a new kind of
 * event. */
#define LS_PROPERTY_INTERFACE 1

/* The object that a shared object exports under the name ls_property_module. */
struct ls_property_module {
    uint32_t interface;     /* LS_PROPERTY_INTERFACE of the header that it was compiled with */
    uint32_t property_size; /* sizeof(struct ls_property) in that header; members behind it count as zero */
    const struct ls_property *property;
};

#ifdef __cplusplus
#define LS_PROPERTY_EXPORT_ extern "C" __attribute__((visibility("default")))
#else
#define LS_PROPERTY_EXPORT_ __attribute__((visibility("default")))
#endif

/* Exports a property; stands at the end of a source file, once in a shared object. */
#define LS_PROPERTY_MODULE(the_property)                                                                     \
    LS_PROPERTY_EXPORT_ extern const struct ls_property_module ls_property_module;                           \
    LS_PROPERTY_EXPORT_ const struct ls_property_module ls_property_module = {                               \
        LS_PROPERTY_INTERFACE, sizeof(struct ls_property), &(the_property)}

#ifdef __cplusplus
}
#endif

#endif
