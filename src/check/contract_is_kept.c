/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe keeps to the rules of <lockstep/recipe.h> and <lockstep/env.h>, which bind any recipe. It
 * returns from each call in one piece, and changes nothing but its state and its memory. It handles the mutex
 * of its environment as required, and is idle in the end.
 *   - Contents: if the configuration names contents, each contender that the process creates has them as
 *     data.
 *   - Calls without a matching acquire: a world tries them on open locks after steps. cancel() returns
 *     LS_ENOENT for an owner without a pending acquire. release() returns LS_ENOTOWNER for an owner that
 *     waits and does not hold.
 *   - Invariants of its own: a text that wrong() (recipe.h) returns after a call is a violation.
 * Rules of memory, for recipes from shared objects:
 *   - Writes outside of the state or of a block, and to freed memory. Fixed bytes around all of these differ
 *     after a call, or a page without access was hit (sim/red_zones.c).
 *   - Reads of memory that is not set, freed, outside of a block, or lent to a callback that is over. A step
 *     ends in another way if such memory holds other bytes (sim/twice.c). Any such difference is a violation.
 *   - Leaks, also of built-in recipes: blocks of the recipe are still allocated after stop() has returned. At
 *     REST, a stop is rehearsed for each process that runs a recipe from a shared object. Memory that a
 *     recipe keeps until its stop is no leak.
 * Not seen: reads of memory outside of the state that other code changes. Acts outside of a world, and timers
 * without the mutex. A use of freed memory that is allocated again, and a write beyond the fixed bytes. A
 * read whose value makes no difference, or of a register. Reads in steps that are not done twice: in random
 * runs most steps, in a search most steps behind the first ones of their kind. Of built-in recipes: crashes,
 * endless loops, variables, and memory but for leaks. Checked by tests/check/test_contract_is_kept.c. */
#include "base/assert.h"
#include "check/properties.h"

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
    LS_ASSERT(event->kind == EVENT_MISBEHAVED && event->offence >= 0 && event->offence < EVENT_OFFENCES);
    check_violate(note, "the recipe of %s %s%s%s", WHO, OFFENCES[event->offence], event->path ? ": " : "",
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
