/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe gives an acquire up at the third create whose answer is lost. It forgets to begin the count again after a
 * create that succeeded.
 * session.h says of LS_RETRY_TIMES: gives up after `times` attempts in a row.
 * A process that has lost two answers in its life, days apart, gives up at the next one. The caller is told that the
 * retries are exhausted, although the attempts in between succeeded. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#define TIMES 3
#define retries spare[0] /* lost creates in a row */

void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            if (++r->retries >= TIMES && !claim->ended) {
                r->retries = 0;
                fail(claim, LS_EGAVEUP);
            }
            lose_session(r);
        }
        return;
    }
    if (rc == ZNONODE) {
        claim->parent = 0;
        go(claim, claim->ended ? DELETING : MAKING_PARENT);
        return;
    }
    if (rc != ZOK) {
        if (claim->ended) {
            forget(claim);
        } else {
            fail(claim, rc == ZNODEEXISTS ? LS_ESEQUENCE : rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        }
        return;
    }
#ifdef FIXED
    r->retries = 0;
#endif
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + strlen(PREFIX), NULL, 10);
    claim->czxid = stat->czxid;
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE);
    } else {
        go(claim, LISTING);
    }
}
