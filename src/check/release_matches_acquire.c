/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Acquires and releases are balanced, per owner.
 *
 * Formula.
 *   - Every answer belongs to an acquire that was asked and not answered yet. GRANTED counts one level
 *     deeper. A loss after which the owner waits again (lock_spec.h) counts as an acquire.
 *   - An owner that holds can release, and each release counts one level back. A release by any other owner
 *     is refused. A release by an owner that waits for another lock of the group (a downgrade) may be refused
 *     with LS_EALREADY.
 *   - A last release leaves depth 0. At REST, if the process is connected, it is reported as complete, and
 *     its node is gone from the committed log. Of several releases by one node, one report is enough. A
 *     report of "done" outside of stop() and close() comes after the end of all nodes of the hold. While an
 *     owner holds, no report comes to it but those of former releases.
 *   - A process that closes the lock has the answers to all its acquires and releases by then.
 *   - An owner that is asked to give a lock back holds it, with the token that the request names.
 * After a loss was told, nothing is promised of the lost hold: a release may be taken or refused. A hold
 * whose node is gone is lost as well. Then a release may be refused with LS_ELOST, and the owner may be
 * granted the lock anew, at depth 1. While the owner waits for that, LS_ENOTOWNER may refuse it too.
 *
 * Not seen: the time from a release to the deletion of the node. Releases that no caller tries. Checked by
 * tests/check/reference/release_matches_acquire.h. */
#include "base/assert.h"
#include "check/properties.h"

#define RELEASE_FREED 0x01u  /* reported as complete */
#define RELEASE_STANDS 0x02u /* its node existed at the release and still does */

/* Returns true if the claim is a hold whose node is gone. */
static bool is_lost(struct check_table *table, const struct check_record *claim)
{
    return claim && (claim->flags & CLAIM_HOLDING) && !ledger_node(table, claim->lock, claim->czxid);
}

static void judge_answer(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    const struct check_record *claim = ledger_claim(table, event);
    if (!claim || (claim->flags & CLAIM_WAITING) == 0)
        check_violate(note, "%s (owner %d) was told that %s is %s without having asked", WHO, event->owner,
                      WHAT, event->kind == EVENT_GRANTED ? "granted" : "not granted");
    if (event->kind == EVENT_FAILED)
        return;
    LS_ASSERT(event->kind == EVENT_GRANTED);
    int expected = claim && (claim->flags & CLAIM_HOLDING) ? claim->depth + 1 : 1;
    if (event->depth != expected && !(event->depth == 1 && is_lost(table, claim)))
        check_violate(note, "%s (owner %d) was granted %s at depth %d, expected %d", WHO, event->owner, WHAT,
                      event->depth, expected);
}

static void begin_release(struct check_table *table, const struct event *event, int64_t czxid)
{
    bool stands = ledger_node(table, event->lock, czxid) != NULL;
    struct check_record *release =
        table_put(table, RECORD_RELEASE, event->lock, event->process, event->owner, czxid, 0);
    release->flags = stands ? RELEASE_STANDS : 0;
}

static void judge_released(struct check_table *table, const struct check_context *context,
                           const struct event *event, struct check_note *note)
{
    const struct check_record *claim = ledger_claim(table, event);
    note->premises = 1;
    if (!claim || (claim->flags & (CLAIM_HOLDING | CLAIM_VOID)) == 0) {
        check_violate(note, "a release of %s by %s (owner %d) was taken, who does not hold it", WHAT, WHO,
                      event->owner);
        return;
    }
    if ((claim->flags & CLAIM_HOLDING) == 0)
        return;
    LS_ASSERT(claim->depth > 0);
    if (event->depth != claim->depth - 1)
        check_violate(note, "a release of %s by %s (owner %d) left depth %d, expected %d", WHAT, WHO,
                      event->owner, event->depth, claim->depth - 1);
    if (event->depth == 0)
        begin_release(table, event, claim->czxid);
}

static void judge_refused(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    const struct check_record *claim = ledger_claim(table, event);
    if (event->rc == CODE_NOTHING_PENDING)
        return; /* a cancel was refused, not a release */
    note->premises = 1;
    bool waits = claim && (claim->flags & CLAIM_WAITING);
    bool busy = event->rc == CODE_ALREADY && group_has_other_claim(table, context, event, CLAIM_WAITING);
    bool told = (event->rc == CODE_LOST || (event->rc == CODE_NOT_OWNER && waits)) && is_lost(table, claim);
    if (claim && (claim->flags & CLAIM_HOLDING) && !told && !busy)
        check_violate(note, "a release of %s by %s (owner %d) was refused (%d), who holds it", WHAT, WHO,
                      event->owner, event->rc);
}

static void judge_freed(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    struct check_record *release =
        table_get(table, RECORD_RELEASE, event->lock, event->process, event->owner);
    while (release && (release->flags & RELEASE_FREED)) {
        struct check_record *next = table_next_lock(table, release);
        release = next && next->process == event->process && next->owner == event->owner ? next : NULL;
    }
    if (release) {
        LS_ASSERT((release->flags & RELEASE_FREED) == 0);
        bool done = event->rc == 0 && event->within_stop == 0;
        if (done && ((release->flags & RELEASE_STANDS) || ledger_given_back(table, event)))
            check_violate(note,
                          "the release of %s by %s (owner %d) was reported as done, but its node stands",
                          WHAT, WHO, event->owner);
        release->flags |= RELEASE_FREED;
        if ((release->flags & RELEASE_STANDS) == 0)
            table_drop(table, release);
        return;
    }
    const struct check_record *claim = ledger_claim(table, event);
    if (claim && (claim->flags & CLAIM_HOLDING))
        check_violate(note, "%s was reported free for %s (owner %d) who still holds it %d deep", WHAT, WHO,
                      event->owner, claim->depth);
}

static void judge_asked_back(struct check_table *table, const struct check_context *context,
                             const struct event *event, struct check_note *note)
{
    const struct check_record *claim = ledger_claim(table, event);
    note->premises = 1;
    if (!claim || (claim->flags & CLAIM_HOLDING) == 0)
        check_violate(note, "%s (owner %d) was asked to give %s back, who does not hold it", WHO,
                      event->owner, WHAT);
    else if (claim->czxid != ledger_node_of_token(claim, event->token))
        check_violate(
            note, "%s (owner %d) was asked to give %s back for token 0x%llx, but holds it with 0x%llx", WHO,
            event->owner, WHAT, (unsigned long long)event->token, (unsigned long long)claim->czxid);
}

static void judge_closed(struct check_table *table, const struct check_context *context,
                         const struct event *event, struct check_note *note)
{
    if (event->rc != 0)
        return; /* refused: nothing has changed */
    note->premises = 1;
    struct check_record *record = table_first_lock(table, RECORD_CLAIM, event->lock);
    for (; record; record = table_next_lock(table, record))
        if (record->process == event->process && (record->flags & CLAIM_WAITING))
            check_violate(note, "%s closed %s, but its acquire (owner %d) has no answer", WHO, WHAT,
                          record->owner);
    record = table_first_lock(table, RECORD_RELEASE, event->lock);
    for (; record; record = table_next_lock(table, record))
        if (record->process == event->process && (record->flags & RELEASE_FREED) == 0)
            check_violate(note, "%s closed %s, but its release (owner %d) was never reported", WHO, WHAT,
                          record->owner);
}

static void observe_deleted(struct check_table *table, const struct event *event)
{
    struct check_record *release = table_first_lock(table, RECORD_RELEASE, event->lock);
    for (; release; release = table_next_lock(table, release)) {
        if (release->czxid != event->czxid)
            continue;
        release->flags &= (uint16_t)~RELEASE_STANDS;
        if (release->flags & RELEASE_FREED)
            table_drop(table, release);
        return;
    }
}

static void judge_rest(struct check_table *table, const struct check_context *context,
                       struct check_note *note)
{
    struct check_record *release;
    for (release = table_first(table, RECORD_RELEASE); release; release = table_next(table, release)) {
        LS_ASSERT((release->flags & RELEASE_FREED) == 0 || (release->flags & RELEASE_STANDS));
        if (!ledger_answerable(table, release->process))
            continue;
        check_violate(note, "at rest the release of %s by %s (owner %d) is not complete: %s",
                      check_lock_name(context, release->lock).text,
                      check_process_name(context, release->process).text, release->owner,
                      release->flags & RELEASE_STANDS ? "its node still stands" : "it was never reported");
    }
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    switch (event->kind) {
    case EVENT_GRANTED:
    case EVENT_FAILED:
        judge_answer(table, context, event, note);
        break;
    case EVENT_RELEASED:
        judge_released(table, context, event, note);
        break;
    case EVENT_REFUSED:
        judge_refused(table, context, event, note);
        break;
    case EVENT_FREED:
        judge_freed(table, context, event, note);
        break;
    case EVENT_REVOKE_ASKED:
        judge_asked_back(table, context, event, note);
        break;
    case EVENT_LOCK_CLOSED:
        judge_closed(table, context, event, note);
        break;
    case EVENT_NODE_DELETED:
        observe_deleted(table, event);
        break;
    case EVENT_REST:
        judge_rest(table, context, note);
        break;
    default: /* the session is lost or the process dead: the server ends these nodes */
        LS_ASSERT(event->kind == EVENT_LOST || event->kind == EVENT_EXPIRED || event->kind == EVENT_CRASHED);
        table_drop_process(table, RECORD_RELEASE, event->process);
        break;
    }
}

const struct property check_release_matches_acquire = {
    .name = "release_matches_acquire",
    .sentence =
        "releases count back what acquires counted, for the owner alone, and the last one frees the lock",
    .premise = "releases that were taken or refused, requests to give back, and closes",
    .blind_to = "how soon a release takes effect; what becomes of a hold after its loss was told",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) | EVENT_BIT(EVENT_RELEASED) |
             EVENT_BIT(EVENT_REFUSED) | EVENT_BIT(EVENT_FREED) | EVENT_BIT(EVENT_NODE_DELETED) |
             EVENT_BIT(EVENT_REVOKE_ASKED) | EVENT_BIT(EVENT_REST) | EVENT_BIT(EVENT_LOST) |
             EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_LOCK_CLOSED),
    .needs = CHECK_NEEDS_PROCESSES | CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 2,
    .observe = observe,
};
