/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe keeps to what <lockstep/recipe.h> and <lockstep/env.h> ask of any recipe: it comes back from each call, in
 * one piece, changes nothing but its state and its memory, handles the mutex of its environment as it should, and is idle in
 * the end.
 *
 * Contents: if the configuration names contents, each contender that the process creates has them as its data.
 *
 * Calls without a matching acquire: after each step of a process, cancel() for each owner of its whose acquire is not pending
 * returns LS_ENOENT, and release() for each owner that waits and does not hold returns LS_ENOTOWNER.
 *
 * The invariants of a recipe are its own (wrong() of recipe.h): a text that it returns after a call is a violation.
 *
 * Of memory it says, for recipes from shared objects:
 *
 *   - writes outside of the state or of a block, and to freed memory: fixed bytes around all of these differ after a call, or a
 *     page without access was hit (sim/zones.c);
 *   - reads of memory that is not set, freed, outside of a block, or lent to a callback that is over: a step ends in another way
 *     when such memory holds other bytes (sim/twice.c); so are differences that no read explains;
 *   - leaks: number of blocks from ls_env_alloc() and malloc() that are allocated after stop() has returned > 0. At rest the
 *     same is asked of a stop that is only rehearsed, for each process that runs. What a recipe keeps until its stop is no leak.
 *
 * It does not see: reads of what is no state, such as variables of the program that somebody else changes; what a recipe does
 * outside of a world; a use of freed memory that has been handed out again; a write that goes beyond the fixed bytes into
 * another block; a read whose value makes no difference; a read of a register; timers without the mutex. Few steps of random
 * runs are done twice, and the first of each kind of a search. Crashes, endless loops, variables and memory are looked for in
 * recipes from shared objects only; one that is built in ends its worker. */
#include <check/properties.h>

static const char *const OFFENCES[] = {
    [EVENT_OFFENCE_CRASH] = "crashes",
    [EVENT_OFFENCE_LOOP] = "does not come back",
    [EVENT_OFFENCE_GLOBAL] = "keeps state outside of its state",
    [EVENT_OFFENCE_FREE] = "frees memory that it does not own",
    [EVENT_OFFENCE_LOCK] = "takes the mutex of its environment twice, or drops it without holding it",
    [EVENT_OFFENCE_KEEP] = "comes back or reports with the mutex of its environment held",
    [EVENT_OFFENCE_RETURN] = "leaves a timer's function without the mutex, or a callback half",
    [EVENT_OFFENCE_BLOCK] = "waits inside a world, where nobody can wake it",
    [EVENT_OFFENCE_STATE] = "writes outside of its state",
    [EVENT_OFFENCE_BLOCK_BOUNDS] = "writes outside of a block of memory",
    [EVENT_OFFENCE_FREED] = "writes to memory that it has freed",
    [EVENT_OFFENCE_STALE] = "reads memory that it has freed, or that lies outside of a block or of its state",
    [EVENT_OFFENCE_LENT] = "uses what the client library lent to a callback that is over",
    [EVENT_OFFENCE_UNSET] =
        "is not deterministic: two runs of this step differ; a read of uninitialised memory? try valgrind",
    [EVENT_OFFENCE_LEAK] = "leaks memory",
    [EVENT_OFFENCE_UNLOCKED] = "calls its environment without the mutex",
    [EVENT_OFFENCE_WRONG] = "breaks an invariant of its own",
    [EVENT_OFFENCE_OPEN] = "stops without closing its handle",
    [EVENT_OFFENCE_CONTENTS] = "creates a contender with other data than its configuration names",
    [EVENT_OFFENCE_GUARD] = "makes the check of a guarded write for an owner that does not hold the lock",
    [EVENT_OFFENCE_HANDLE] = "uses a handle that it has closed, or that is none of its own",
    [EVENT_OFFENCE_REFUSAL] = "takes a call that it has to refuse",
    [EVENT_OFFENCE_CLEAN] = "says that clean-up is left over, and nothing is under way that would do it",
};
_Static_assert(sizeof OFFENCES / sizeof *OFFENCES == EVENT_OFFENCES, "one sentence for each");

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    (void)table;
    if (event->kind == EVENT_GRANTED) {
        note->premises = 1;
        return;
    }
    check_violate(note, "the recipe of %s %s%s%s", WHO, OFFENCES[event->code], event->path ? ": " : "",
                  event->path ? event->path : "");
}

const struct property check_contract_is_kept = {
    .name = "contract_is_kept",
    .sentence =
        "a recipe comes back from each call in one piece, and uses nothing but its own state and memory",
    .premise = "grants",
    .blind_to = "reads of what is no state; freed memory that is in use again; timers without the mutex; "
                "crashes, loops, variables "
                "and memory of built-in recipes, but for what stop() leaves allocated",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_MISBEHAVED),
    .needs = 0,
    .observe = observe,
};
