/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a claim reports, and its end, in the skeletons that keep a node's number. */
#ifndef CANARY_SKELETON_CLAIM_REPORTS_H
#define CANARY_SKELETON_CLAIM_REPORTS_H

/* ---- reports ---- */

static void tell_session(struct recipe *r, enum ls_report_kind kind)
{
    ls_report(r->env, &(struct ls_report){.kind = kind, .session = r->session});
}

static void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    ls_report(claim->recipe->env, &(struct ls_report){.kind = kind,
                                                      .lock = claim->lock,
                                                      .owner = claim->owner,
                                                      .rc = rc,
                                                      .depth = claim->depth,
                                                      .token = claim->czxid,
                                                      .session = claim->recipe->session});
}

/* ---- the end of a claim ---- */

/* Keeps the recipe: answers to earlier requests of the claim may still come. */
static void clear(struct claim *claim, struct recipe *r)
{
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
}

static void forget(struct claim *claim)
{
    bool cleaned = claim->ended;
    struct recipe *r = claim->recipe;
    ls_env_timer_stop(r->env, &claim->deadline);
    if (claim->freeing) {
        tell(claim, LS_REPORT_FREED, 0);
    }
    clear(claim, r);
    if (cleaned) {
        ls_report(r->env, &(struct ls_report){.kind = LS_REPORT_IDLE});
    }
}

#endif
