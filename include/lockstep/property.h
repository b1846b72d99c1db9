/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A property of one's own: a judge that looks at a run and says whether a promise is kept. docs/your-own-property.md leads
 * from an empty file to one that finds something.
 *
 * A judge is a small automaton over the semantic events of <lockstep/event.h>, with a state of a size that is declared up
 * front. A search goes from any state of the world to any other, so what a judge knows lies in its state and nowhere
 * else: no globals, no allocation, no files, no clock, no pointers in the state. The same state and the same event give
 * the same answer and the same state. The state is part of what makes two states of the world different: it is all zero
 * in the beginning, and a judge resets what it keeps as soon as its question is answered, because states that have the
 * same future are then one.
 *
 * It is written in C or C++, needs nothing but this header, links with nothing, and is compiled as a shared object:
 *
 *     cc -std=c11 -fPIC -shared -o mine.so mine.c && lockstep check --property ./mine.so scenarios/explore/mutex_2.scn */
#ifndef LOCKSTEP_PROPERTY_H
#define LOCKSTEP_PROPERTY_H

#include <lockstep/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LS_PROPERTY_PROCESSES_MAX 32 /* event.process is below that, or EVENT_PROCESS_NONE */
#define LS_PROPERTY_LOCKS_MAX 4      /* event.lock is below that, or EVENT_LOCK_NONE */
#define LS_PROPERTY_NAME_MAX 63      /* characters of a name */
#define LS_PROPERTY_STATE_MAX 4096   /* bytes of a state */
#define LS_PROPERTY_SENTENCE_MAX 200 /* characters of each of the texts below */
#define LS_PROPERTY_MODULES_MAX 4    /* shared objects with properties in one run */

/* In which runs a property means something: there it is judged without being named. */
#define LS_PROPERTY_UNTIMED 0x01u /* searches and random schedules; event.now_ms is 0 */
#define LS_PROPERTY_TIMED 0x02u   /* directed scenarios, and what says `timed` */
#define LS_PROPERTY_ALWAYS (LS_PROPERTY_UNTIMED | LS_PROPERTY_TIMED)

/* What a judge is handed with each event, and how it answers. It is valid during the call. */
struct ls_judge {
    int processes;    /* of this run */
    int locks;        /* likewise */
    int owners;       /* per process and lock that ask at once, at most: event.owner is below that */
    bool timed;       /* event.now_ms means something */
    int tolerance_ms; /* how late an answer may be in a timed run */

    /* The premise of the promise was met, so that there was something to judge. A property whose premise was never met in
     * any run gets the verdict not-judged, which is not the same as that it holds. */
    void (*premise)(struct ls_judge *judge);

    /* The promise is broken; the format and what follows, as for printf, are one sentence that says by what. The first one
     * of a run counts; the judge is shown further events all the same. */
    void (*violate)(struct ls_judge *judge, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

    /* Names for sentences, as the scenario has them. The text is good until this event has been judged, of the last eight
     * calls. */
    const char *(*process_name)(struct ls_judge *judge, int process);
    const char *(*lock_name)(struct ls_judge *judge, int lock);
};

/* Takes the places of numbers, see `canon` below. */
struct ls_property_rename {
    void (*zxid)(struct ls_property_rename *rename, const int64_t *where); /* event.zxid, event.cause */
    void (*session)(struct ls_property_rename *rename, const int64_t *where);
};

struct ls_property {
    const char
        *name; /* small letters, digits and underscores: "nobody_overtakes_twice". None that is built in */
    const char *sentence; /* what is promised: "no contender is granted the lock twice past ..." */
    const char *premise;  /* what the calls of judge->premise() count: "grants while somebody waits" */
    const char *blind_to; /* what it cannot see */
    unsigned modes;       /* LS_PROPERTY_...; 0: only where a file names it */
    bool needs_clock;     /* it means nothing without one: a file that names it must say `timed` */
    uint64_t wants;       /* EVENT_BIT() of each kind of event that it is to be shown */
    size_t state_size;    /* bytes, LS_PROPERTY_STATE_MAX at most; 0 = it needs none */

    /* Looks at one event, changes the state, answers by the functions of `judge`. The state is aligned to 8 bytes and lies
     * elsewhere in each call. Events come in the order in which they happened. A process that closes its session in an
     * orderly way is shown as EVENT_CRASHED: to a judge it is gone in either case. event->path is NULL. */
    void (*observe)(void *state, const struct event *event, struct ls_judge *judge);

    /* Shows each zxid and each session id in the state, always in the same order, by rename->zxid() and rename->session():
     * they are int64_t, aligned to 8, in the state itself, and 0 stands for none. A search then takes states for one that
     * differ only by a renaming of such numbers that keeps their order, which makes some of them ten times smaller. A
     * judge that has this compares zxids only with each other, and session ids only for equality. One that keeps no such
     * number, and looks at none but in that way, takes ls_property_keeps_no_numbers. NULL: a search with this property
     * compares all numbers as they are, which is as sound, and slower. */
    void (*canon)(const void *state, struct ls_property_rename *rename);
};

/* A `canon` for a state without such numbers. */
static inline void ls_property_keeps_no_numbers(const void *state, struct ls_property_rename *rename)
{
    (void)state;
    (void)rename;
}

/* ---- properties in shared objects: --property FILE.so ---- */

/* Raised when something above, or in <lockstep/event.h>, changes its meaning; what is added at the end of struct ls_property,
 * or to the kinds of events, leaves it as it is. */
#define LS_PROPERTY_INTERFACE 1

/* What a shared object exports under the name ls_property_module. */
struct ls_property_module {
    uint32_t interface;     /* LS_PROPERTY_INTERFACE of the header that it was compiled with */
    uint32_t property_size; /* sizeof(struct ls_property) there; what a newer one has besides is zero */
    const struct ls_property *property;
};

#ifdef __cplusplus
#define LS_PROPERTY_EXPORT_ extern "C" __attribute__((visibility("default")))
#else
#define LS_PROPERTY_EXPORT_ __attribute__((visibility("default")))
#endif

/* At the end of a source file, once in a shared object: this property is what the file is about. */
#define LS_PROPERTY_MODULE(the_property)                                                                     \
    LS_PROPERTY_EXPORT_ extern const struct ls_property_module ls_property_module;                           \
    LS_PROPERTY_EXPORT_ const struct ls_property_module ls_property_module = {                               \
        LS_PROPERTY_INTERFACE, sizeof(struct ls_property), &(the_property)}

#ifdef __cplusplus
}
#endif

#endif
