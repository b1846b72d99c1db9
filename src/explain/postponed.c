/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A fault that is postponed: the run goes on without it up to a step, and from there on it may happen at any
 * moment. Behind a later step fewer runs are left, so halving finds the first step behind which none breaks
 * the promise. An undecided search counts as if some run did. */
#include "explain/parts.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Searches for a continuation that breaks the promise behind the first `choices` choices without choice
 * `fault`. That fault may happen in the continuation. */
static void search_behind(struct explain_case *c, int choices, int fault, struct futures_bounds bounds,
                          struct explain_check *check)
{
    struct futures_found found = {.answer = FUTURES_UNDECIDED, .limit = "memory is short"};
    struct action *list = calloc((size_t)c->acts + 1, sizeof *list);
    uint8_t budget[WORLD_FAULTS];
    LS_ASSERT(choices > fault && choices <= c->last);
    case_budget(c, choices + 1, -1, budget);
    budget[world_fault_of(&c->story.choice[fault].action)]++;
    explain_name_faults(c, budget, -1, check->faults);
    if (list != NULL && case_follow_without(c, choices, fault) == choices) {
        struct script script = case_script(c, choices, -1, true, list);
        case_allow(c, budget);
        futures_break(c->futures, &script, bounds, &found);
    }
    check->scope = EXPLAIN_PREFIX;
    check->behind = case_step_of(c, choices);
    check->without = c->story.choice[fault].step;
    check->answer = found.answer;
    check->states = found.states;
    check->until_ms = found.timed_out ? bounds.until_ms : 0;
    free(list);
}

static void keep(const struct explain_case *c, int choices, const struct explain_check *check,
                 struct explain_fault *fault)
{
    LS_ASSERT(check->answer == FUTURES_NONE && choices >= 1);
    fault->later = *check;
    snprintf(fault->later_label, sizeof fault->later_label, "%s", c->story.choice[choices].label);
}

/* Looks for the first choice behind `choice` behind which the postponed fault does no harm. Behind `harmless`
 * it is known to do none. */
static void halve(struct explain_case *c, struct explain_fault *fault, int choice, int harmless,
                  struct futures_bounds bounds)
{
    struct explain_check check = {0};
    int harmful = choice;
    LS_ASSERT(harmless > harmful && harmless <= c->last);
    while (harmless - harmful > 1) {
        int middle = harmful + (harmless - harmful) / 2;
        search_behind(c, middle, choice, bounds, &check);
        if (check.answer == FUTURES_NONE) {
            keep(c, middle, &check, fault);
            harmless = middle;
        } else {
            harmful = middle;
        }
    }
}

void explain_postponed(struct explain_case *c, struct explain_fault *fault, int choice,
                       struct futures_bounds bounds)
{
    struct explain_check check = {0};
    bool paid = world_fault_of(&c->story.choice[choice].action) >= 0;
    int fits = paid && !c->waits ? case_follow_without(c, c->last, choice) : choice;
    if (fits <= choice) {
        return;
    }
    search_behind(c, fits, choice, bounds, &check);
    if (check.answer == FUTURES_NONE) {
        keep(c, fits, &check, fault);
        halve(c, fault, choice, fits, bounds);
    }
}
