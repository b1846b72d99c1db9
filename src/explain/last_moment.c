/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The last moment: searches from the violation back to the beginning, until some continuation without new
 * faults keeps the promise. States behind later choices are known to have no such continuation, so they are
 * not searched again. */
#include "explain/parts.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void search_before(struct explain_case *c, int choice, struct action *list,
                          struct futures_bounds bounds, struct futures_found *found)
{
    LS_ASSERT(choice >= 1 && choice <= c->last + 1);
    *found = (struct futures_found){.answer = FUTURES_UNDECIDED, .limit = "the run cannot be followed"};
    if (case_follow(c, choice - 1)) {
        struct script script = case_script(c, choice - 1, -1, false, list);
        futures_keep_unharmed(c->futures, &script, bounds, found);
    }
}

static void tell(const struct explain_case *c, int choice, const struct futures_found *found,
                 struct explain_last *last)
{
    LS_ASSERT(choice >= 1 && choice <= c->last);
    const struct story_choice *made = &c->story.choice[choice];
    last->step = made->step;
    last->fault = made->fault;
    last->steps = found->steps;
    snprintf(last->label, sizeof last->label, "%s", made->label);
    snprintf(last->instead, sizeof last->instead, "%s", found->first);
}

static void find(struct explain_case *c, struct action *list, struct futures_bounds bounds,
                 struct explain_last *last)
{
    struct futures_found found;
    struct explain_check *check = &last->check;
    uint64_t states_max = bounds.states_max;
    /* A promise about waiting is not violated by a step: the state behind the last choice counts, too. */
    for (int choice = c->last + c->waits; choice >= 1; choice--) {
        bounds.states_max = states_max > check->states ? states_max - check->states : 1;
        search_before(c, choice, list, bounds, &found);
        check->limit = found.limit;
        check->until_ms = found.timed_out ? bounds.until_ms : check->until_ms;
        if (found.answer == FUTURES_NONE) {
            check->states += found.states; /* states of earlier searches do not count again */
            continue;
        }
        bool open = choice > c->last;
        last->is = found.answer == FUTURES_UNDECIDED ? EXPLAIN_MOMENT_UNKNOWN
                   : open                            ? EXPLAIN_MOMENT_OPEN
                                                     : EXPLAIN_MOMENT_STEP;
        check->answer = found.answer == FUTURES_UNDECIDED ? FUTURES_UNDECIDED
                        : open                            ? FUTURES_SOME
                                                          : FUTURES_NONE;
        check->states += check->answer != FUTURES_NONE ? found.states : 0;
        tell(c, open ? c->last : choice, &found, last);
        return;
    }
    last->is = EXPLAIN_MOMENT_NEVER;
}

void explain_last_moment(struct explain_case *c, struct explanation *e, struct futures_bounds bounds)
{
    struct action *list = calloc((size_t)c->acts + 1, sizeof *list);
    e->last = (struct explain_last){.is = EXPLAIN_MOMENT_UNKNOWN};
    e->last.check = (struct explain_check){.scope = EXPLAIN_PREFIX, .limit = "memory is short"};
    snprintf(e->last.check.faults, sizeof e->last.check.faults, "no new fault");
    if (list != NULL && (c->futures != NULL || case_begin(c))) {
        find(c, list, bounds, &e->last);
    }
    e->last.check.behind = e->last.step > 0 ? e->last.step : c->story.steps;
    free(list);
}
