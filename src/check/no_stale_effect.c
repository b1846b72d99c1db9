/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Fencing (D6): a resource that compares tokens is never changed under an outlived grant.
 *
 * Formula.
 *   - Each grant has a token of its own. A grant whose node exists has a newer token than every grant told
 *     before. A shared grant to an owner that holds alone may have the token of that hold, whose place it
 *     takes.
 *   - The resource never takes an older token after a newer one. It never refuses the newest token of a grant
 *     from a process that holds the lock by an existing node.
 *   - A write that is guarded by a multi (`write guarded` of a scenario) never commits after the deletion of
 *     its guard node.
 * Locks of a group have one resource. Tokens are ordered among holds that exclude each other. If other holds
 * may exist beside those of a lock (check/state.h), a token of it is unique, and its order says nothing.
 *
 * Why. A grant may be told late, when its node is already gone, and then carry an older token than one told
 * before. So the order of a token is judged only while the node exists.
 *
 * Not seen: effects on resources that do not compare tokens. A token that repeats one which is neither the
 * newest nor that of a present holder. Writes of a former holder with its own token before the first write of
 * the next holder: no token can prevent these, a guard can. Checked by
 * tests/check/reference/no_stale_effect.h. */
#include "base/assert.h"
#include "check/properties.h"

static struct check_record *fence_of(struct check_table *table, const struct check_context *context, int lock)
{
    int group = group_of(context, lock);
    struct check_record *fence = table_get(table, RECORD_FENCE, group, 0, 0);
    LS_ASSERT(!fence || table_is_alone(table, fence));
    return fence ? fence : table_put(table, RECORD_FENCE, group, 0, 0, 0, 0);
}

/* Returns the claim of another owner that holds by the node of this token; NULL = none. */
static const struct check_record *holder_of(struct check_table *table, const struct check_context *context,
                                            const struct event *event)
{
    struct check_record *claim = group_first_record(table, context, RECORD_CLAIM, event->lock);
    for (; claim; claim = group_next_record(table, context, claim))
        if ((claim->flags & CLAIM_HOLDING) && claim->czxid == event->token &&
            (claim->process != event->process || claim->owner != event->owner))
            return claim;
    return NULL;
}

static void judge_grant(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    if (event->token == 0 || (ledger_holds(table, event) && event->depth > 1))
        return;
    struct check_record *fence = fence_of(table, context, event->lock);
    const struct check_record *node = ledger_grant(table, event, RECORD_NONE);
    note->premises = 1;
    if (ledger_takes_own_place(table, context, event))
        return;
    if (event->token == fence->granted_token || holder_of(table, context, event))
        check_violate(note, "%s was granted %s with the fencing token 0x%llx of another grant", WHO, WHAT,
                      (unsigned long long)event->token);
    else if (node && event->token < fence->granted_token && lock_stands_alone(context, event->lock))
        check_violate(note,
                      "%s was granted %s with a fencing token 0x%llx older than 0x%llx of an earlier grant",
                      WHO, WHAT, (unsigned long long)event->token, (unsigned long long)fence->granted_token);
    if (event->token > fence->granted_token)
        fence->granted_token = event->token;
}

static void judge_taken(struct check_table *table, const struct check_context *context,
                        const struct event *event, struct check_note *note)
{
    struct check_record *fence = fence_of(table, context, event->lock);
    if (event->token < fence->taken_token && lock_stands_alone(context, event->lock))
        check_violate(note, "the resource of %s took token 0x%llx from %s after the newer 0x%llx", WHAT,
                      (unsigned long long)event->token, WHO, (unsigned long long)fence->taken_token);
    else
        fence->taken_token = event->token;
    if (event->guard_czxid != 0 && !ledger_node(table, event->lock, event->guard_czxid))
        check_violate(note, "a guarded write of %s committed after its node (czxid %lld) was deleted", WHO,
                      (long long)event->guard_czxid);
}

static void judge_refused(struct check_table *table, const struct check_context *context,
                          const struct event *event, struct check_note *note)
{
    struct check_record *claim;
    if (event->token != fence_of(table, context, event->lock)->granted_token)
        return; /* a newer grant exists: fencing is for this */
    for (claim = table_first_lock(table, RECORD_CLAIM, event->lock); claim;
         claim = table_next_lock(table, claim))
        if (claim->process == event->process && (claim->flags & CLAIM_HOLDING) &&
            ledger_node(table, event->lock, claim->czxid))
            check_violate(note, "the resource of %s refused %s, who holds it with the newest token 0x%llx",
                          WHAT, WHO, (unsigned long long)event->token);
}

static void observe(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note)
{
    if (event->kind == EVENT_GRANTED) {
        judge_grant(table, context, event, note);
        return;
    }
    LS_ASSERT(event->kind == EVENT_EFFECT);
    note->premises = 1;
    if (event->taken == 1)
        judge_taken(table, context, event, note);
    else
        judge_refused(table, context, event, note);
}

const struct property check_no_stale_effect = {
    .name = "no_stale_effect",
    .sentence = "a resource that compares fencing tokens is never changed under an outlived grant",
    .premise = "grants with a token, and writes that reached the resource",
    .blind_to = "resources that do not compare tokens; writes of an ex-holder before the next holder's first",
    .modes = PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_EFFECT),
    .needs = CHECK_NEEDS_CLAIMS | CHECK_NEEDS_NODES,
    .records_per_contender = 1,
    .observe = observe,
};
