/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/explain.h"

#include "base/assert.h"

#include <string.h>

static unsigned long long wide(uint64_t number)
{
    return (unsigned long long)number;
}

/* ---- a check ---- */

static void write_scope(FILE *out, const struct explain_check *check)
{
    switch (check->scope) {
    case EXPLAIN_SCENARIO:
        fprintf(out, "all runs of the scenario with %s", check->faults);
        break;
    case EXPLAIN_SCRIPT:
        fprintf(out, "all runs of the script's acts with %s", check->faults);
        break;
    case EXPLAIN_PREFIX:
        fprintf(out, "all continuations of step %llu", wide(check->behind));
        if (check->without > 0) {
            fprintf(out, " without step %llu,", wide(check->without));
        }
        fprintf(out, " with %s", check->faults);
        break;
    case EXPLAIN_NOTHING:
        fputs("nothing", out);
        break;
    }
}

/* `none` and `some`: the results of a complete search. */
static void write_check(FILE *out, const struct explain_check *check, const char *none, const char *some)
{
    fputs("    checked: ", out);
    write_scope(out, check);
    if (check->answer == FUTURES_UNDECIDED) {
        bool full = check->limit == NULL || strcmp(check->limit, "states") == 0;
        fprintf(out, "; not decided within %llu states%s%s\n", wide(check->states), full ? "" : ": ",
                full ? "" : check->limit);
        return;
    }
    fprintf(out, "; %llu state%s%s", wide(check->states), check->states == 1 ? "" : "s",
            check->answer == FUTURES_NONE ? ", exhausted" : "");
    if (check->until_ms > 0) {
        fprintf(out, " up to %lld ms of the clock", (long long)check->until_ms);
    }
    fprintf(out, ": %s\n", check->answer == FUTURES_NONE ? none : some);
}

/* ---- the fault ---- */

static void write_matter(FILE *out, const struct explain_fault *fault, bool single, bool minimal)
{
    static const char *const SENTENCES[] = {
        [EXPLAIN_MATTERS] = "it mattered: without it, no run breaks the promise",
        [EXPLAIN_MATTERS_HERE] = "it mattered in this run: without it here, nothing breaks the promise",
        [EXPLAIN_MATTERS_NOT] = "it was not needed: the promise breaks without it, too",
        [EXPLAIN_MATTERS_UNKNOWN] = "whether it mattered is not decided",
    };
    fprintf(out, "  step %llu, '%s': %s%s\n", wide(fault->step), fault->label, SENTENCES[fault->matter],
            minimal && fault->matter == EXPLAIN_MATTERS_UNKNOWN ? "; it cannot be left out of this run" : "");
    if (fault->whole.scope != EXPLAIN_NOTHING && !single) {
        write_check(out, &fault->whole, "none breaks the promise", "one breaks the promise");
    }
    if (fault->here.scope != EXPLAIN_NOTHING) {
        write_check(out, &fault->here, "none breaks the promise", "one breaks the promise");
    }
    if (fault->later.scope != EXPLAIN_NOTHING) {
        fprintf(out, "    postponed behind step %llu, '%s', it does no harm\n", wide(fault->later.behind),
                fault->later_label);
        write_check(out, &fault->later, "none breaks the promise", "one breaks the promise");
    }
}

static void write_faults(FILE *out, const struct explanation *e)
{
    static const char *const SENTENCES[] = {
        [EXPLAIN_NO_FAULT] =
            "no fault was needed: the run has none, its order of steps alone breaks the promise",
        [EXPLAIN_NONE_NEEDED] = "no fault was needed: another run breaks the promise without any",
        [EXPLAIN_SOME] = NULL,
        [EXPLAIN_ANY] = "some fault was needed, and no single one: the others do as well",
        [EXPLAIN_UNKNOWN] = "not decided",
    };
    fputs("\nthe fault that mattered\n", out);
    if (SENTENCES[e->cause] != NULL) {
        fprintf(out, "  %s\n", SENTENCES[e->cause]);
    }
    for (int i = 0; i < e->faults && e->cause != EXPLAIN_NONE_NEEDED; i++) {
        write_matter(out, &e->fault[i], e->faults == 1, e->minimal);
    }
    if (e->none.scope != EXPLAIN_NOTHING) {
        write_check(out, &e->none, "none breaks the promise", "one breaks the promise");
    }
}

/* ---- the last moment ---- */

static void write_step(FILE *out, const struct explain_last *last)
{
    if (last->step == 0) {
        fputs("  before the world was judged at rest\n", out);
        return;
    }
    fprintf(out, "  before step %llu, '%s'%s\n", wide(last->step), last->label,
            last->fault ? ": this fault decided" : "");
}

static void write_moment(FILE *out, const struct explain_last *last)
{
    switch (last->is) {
    case EXPLAIN_MOMENT_STEP:
        write_step(out, last);
        break;
    case EXPLAIN_MOMENT_NEVER:
        fputs("  none: from the beginning, all runs without faults break the promise\n", out);
        break;
    case EXPLAIN_MOMENT_OPEN:
        fputs("  none yet: even at the end, another continuation keeps the promise\n", out);
        break;
    case EXPLAIN_MOMENT_UNKNOWN:
        fputs("  not decided; it is not later than this:\n", out);
        write_step(out, last);
        break;
    }
    if (last->is != EXPLAIN_MOMENT_STEP && last->is != EXPLAIN_MOMENT_OPEN) {
        return;
    }
    if (last->instead[0] != 0) {
        fprintf(out, "  instead: '%s', and %llu step%s to the end of a run that keeps it\n", last->instead,
                wide(last->steps - 1), last->steps == 2 ? "" : "s");
    } else {
        fputs("  instead: no further step\n", out);
    }
}

static void write_last(FILE *out, const struct explanation *e)
{
    fputs("\nthe last moment at which another choice would have kept the promise\n", out);
    write_moment(out, &e->last);
    if (e->last.is == EXPLAIN_MOMENT_STEP && e->last.check.states == 0) {
        fprintf(out, "    checked: step %llu itself breaks the promise\n", wide(e->last.check.behind));
        return;
    }
    write_check(out, &e->last.check, "all break the promise", "one keeps the promise");
}

/* ---- the whole ---- */

static void write_stale(FILE *out, const struct explanation *e)
{
    fputs("\nknowledge that was stale\n", out);
    for (int i = 0; i < e->stale; i++) {
        fprintf(out, "  %s\n", e->stale_text[i]);
    }
    if (e->stale == 0) {
        fputs("  none that events show: what each process was told was true in the coordinator\n", out);
    }
}

void explain_write(FILE *out, const struct explanation *e)
{
    LS_ASSERT(e->property != NULL && e->faults <= EXPLAIN_FAULTS_MAX && e->stale <= EXPLAIN_STALE_MAX);
    fprintf(out, "%s is violated at step %llu of %llu: %s\n  promised: %s\n", e->property->name,
            wide(e->step), wide(e->steps), e->why, e->property->sentence);
    if (e->shrunk) {
        fprintf(out, "  the run was shrunk first, from %d steps%s\n", e->steps_before,
                e->shrink_ended ? ", until a limit was reached" : "");
    }
    write_faults(out, e);
    write_last(out, e);
    write_stale(out, e);
}
