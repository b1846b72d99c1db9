/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe fills a report field by field, and sets the code only for a failed acquire. FREED has a code, too.
 * The code of FREED is then what lay on the stack.
 * It breaks "the release is complete, the node is gone or the janitor's: lock, owner, rc" of recipe.h.
 * The caller reads a good release as a failed one, releases again, or raises an alarm. */
/* breaks: contract_is_kept */
#include "base/recipe.h"

#ifndef FIXED
void tell(struct claim *claim, enum ls_report_kind kind, int rc)
{
    struct ls_report report;
    report.kind = kind;
    report.lock = claim->lock;
    report.owner = claim->owner;
    report.session = claim->recipe->session;
    if (kind == LS_REPORT_GRANTED) {
        report.depth = claim->depth;
        report.token = claim->czxid;
    } else if (kind == LS_REPORT_FAILED) {
        report.rc = rc;
    }
    ls_report(claim->recipe->env, &report);
}
#endif
