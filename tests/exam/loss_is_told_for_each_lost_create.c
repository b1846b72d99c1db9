/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Each create whose answer is lost ends the session. The recipe keeps the id that it has told apart, and forgets to
 * take it back once the loss is told.
 * recipe.h says of LS_REPORT_LOST: the session is dead. session.h says of LS_SESSION_LOST: once between two session ids.
 * Two owners that have asked at the same time cause two reports. A user who counts losses, or starts a recovery for
 * each, does so twice. */
/* breaks: every_loss_is_told */
#include "base/recipe.h"

#define told spare[0]

void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    rename->session(rename, &r->told);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            if (claim->named) {
                rename->sequence(rename, &claim->number);
            }
            rename->text(rename, claim->ahead);
        }
    }
}

void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    if (kind == LS_REPORT_CONNECTED) {
        r->told = r->session;
    }
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->told});
#ifdef FIXED
    if (kind == LS_REPORT_LOST) {
        r->told = 0;
    }
#endif
}

/* Whatever was asked for is void: the session that did is given up. */
bool answered(struct claim *claim, int rc)
{
    struct recipe *r = claim->recipe;
    claim->busy = false;
    if (r->stopping || r->closing) {
        return false;
    }
    if (claim->phase == CREATING && (rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT) && r->told != 0) {
        lose_session(r);
    }
    return r->session != 0 && rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT && rc != ZSESSIONEXPIRED &&
           rc != ZCLOSING;
}

void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->told != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false;
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}
