/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/liveness_circle.h"

#include "base/assert.h"

#include <string.h>

void round_start(struct round *round)
{
    round_close(round);
    lasso_init(&round->lasso);
    round->goes = false;
    LS_ASSERT(round->lasso.hopeless < 0 && round->lasso.canon == NULL);
}

void round_close(struct round *round)
{
    lasso_close(&round->lasso);
}

bool round_is_circle(const char *label)
{
    return strcmp(label, TRACE_CYCLE) == 0;
}

bool round_is_mark(const char *label)
{
    return round_is_circle(label) || strncmp(label, TRACE_HOPELESS, strlen(TRACE_HOPELESS)) == 0;
}

enum hopeless_answer round_hopeless(struct round *round, struct run *run, const char *label, bool asks,
                                    int *states)
{
    int waiter = lasso_read_mark(run, label);
    *states = 0;
    if (waiter < 0) {
        return HOPELESS_NO;
    }
    enum hopeless_answer answer = asks ? hopeless_judge(run, waiter, states) : HOPELESS_UNKNOWN;
    if (answer != HOPELESS_NO) {
        round->lasso.hopeless = waiter;
        round->lasso.stuck_at = run->steps;
    }
    return answer;
}

bool round_is_hopeless(struct round *round, struct run *run, const char *label)
{
    int states;
    bool hopeless = round_hopeless(round, run, label, true, &states) == HOPELESS_YES;
    if (!hopeless) {
        round->lasso.hopeless = -1;
    }
    return hopeless;
}

bool round_begin(struct round *round, struct run *run)
{
    round->goes = lasso_begin(&round->lasso, run);
    return round->goes;
}

void round_step(struct round *round, struct run *run, const struct action *action)
{
    if (round->goes) {
        lasso_note(&round->lasso, run, action);
    }
}

const char *round_end(struct round *round, struct run *run)
{
    LS_ASSERT(round->goes);
    const char *flaw = lasso_flaw(&round->lasso, run, round->flaw, sizeof round->flaw);
    if (flaw == NULL) {
        lasso_conclude(&round->lasso, run);
    }
    return flaw;
}
