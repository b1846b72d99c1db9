/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Marks in a recipe: places that some run must reach.
 *
 * LS_ASSERT is about all runs, LS_SOMETIMES about one at least. A mark that no run reaches says that the situation which its
 * author had in mind does not occur any more, or that nothing tests it. `lockstep run --coverage` and `lockstep check
 * --coverage` name the marks that were never reached.
 *
 *     if (rc == ZNODEEXISTS) {
 *         LS_SOMETIMES("create-finds-own-node");
 *         ...
 *
 * A mark is one byte in a section of its own, of which the linker makes a list. It is set once; reaching it again costs a
 * load and a branch that is predicted, in applications too, and no call. Threads may reach it at the same time. It is no
 * state of the recipe: it lies outside of what a world saves, restores and fingerprints, and nothing can read it but
 * reports, so that it changes neither runs nor searches.
 *
 * Names are of lower-case words and hyphens, and unique among the marks of a recipe. */
#ifndef LOCKSTEP_SOMETIMES_H
#define LOCKSTEP_SOMETIMES_H

#include <stdint.h>

/* The linker puts all of them one behind the other, from __start_ls_marks to __stop_ls_marks of the module. */
struct ls_mark {
    const char *name;
    const char *file; /* within the project */
    int32_t line;
    uint8_t reached; /* 1 once it was */
} __attribute__((aligned(32)));

#define LS_SOMETIMES(mark_name)                                                                              \
    do {                                                                                                     \
        static struct ls_mark ls_mark_here                                                                   \
            __attribute__((section("ls_marks"), used)) = {(mark_name), __FILE__, __LINE__, 0};               \
        if (!__atomic_load_n(&ls_mark_here.reached, __ATOMIC_RELAXED))                                       \
            __atomic_store_n(&ls_mark_here.reached, 1, __ATOMIC_RELAXED);                                    \
    } while (0)

#endif
