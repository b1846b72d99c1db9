/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Marks in a recipe: places that some run must reach.
 *
 * LS_ASSERT states a fact of all runs, LS_SOMETIMES a fact of at least one run. If no run reaches a mark,
 * the situation that its author had in mind no longer occurs, or no run tests it. `lockstep run
 * --coverage` and `lockstep check --coverage` name the marks that no run has reached.
 *
 *     if (rc == ZNODEEXISTS) {
 *         LS_SOMETIMES("create-finds-own-node");
 *         ...
 *
 * A mark is a struct ls_mark in the section ls_marks, in which the linker collects the marks of a module. Its
 * byte `reached` is set when a run first reaches the mark. To reach it again costs a load and a predicted
 * branch, in applications too, and no call. Threads may reach a mark at the same time.
 *
 * A mark is no state of the recipe. It lies outside of the memory that a world saves, restores and
 * fingerprints. Besides LS_SOMETIMES, only reports of coverage read it. So it changes neither runs nor
 * searches.
 *
 * A name consists of lower-case words and hyphens. It is unique among the marks of a recipe. */
#ifndef LOCKSTEP_SOMETIMES_H
#define LOCKSTEP_SOMETIMES_H

#include <stdint.h>

/* One mark. The linker lays all marks of a module out from __start_ls_marks to __stop_ls_marks, without
 * gaps. */
struct ls_mark {
    const char *name;
    const char *file; /* __FILE__ of the mark */
    int32_t line;
    uint8_t reached; /* 1 = a run has reached the mark; else 0 */
} __attribute__((aligned(32)));

#define LS_SOMETIMES(mark_name)                                                                              \
    do {                                                                                                     \
        static struct ls_mark ls_mark_here                                                                   \
            __attribute__((section("ls_marks"), used)) = {(mark_name), __FILE__, __LINE__, 0};               \
        if (!__atomic_load_n(&ls_mark_here.reached, __ATOMIC_RELAXED))                                       \
            __atomic_store_n(&ls_mark_here.reached, 1, __ATOMIC_RELAXED);                                    \
    } while (0)

#endif
