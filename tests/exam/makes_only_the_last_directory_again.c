/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The path of a lock that was there once is remembered, and if it is missing later, only its last directory
 * is made again. That is right as long as servers remove empty containers, and wrong when an operator
 * removes what lies above: the create finds no parent, the parent finds none either, and so on without an
 * end. It goes wrong from the second acquire on. mutex.h: "The first acquire creates the nodes of the path
 * that are missing"; recipe.h: "If acquire() returns 0, exactly one GRANTED or FAILED report follows". None
 * follows, and the servers are flooded. */
/* breaks: bounded_work */
#include "base/recipe.h"

static bool known(const struct claim *claim)
{
    return (claim->recipe->spare[0] >> claim->lock & 1) != 0;
}

static uint8_t last_slash(const struct claim *claim)
{
    return (uint8_t)(strrchr(directory(claim), '/') - directory(claim));
}

void on_parent(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING); /* there is nothing of ours yet */
        return;
    }
    if (rc == ZNONODE && known(claim)) {
#ifdef FIXED
        claim->recipe->spare[0] &= ~(INT64_C(1) << claim->lock); /* from the root on, this time */
#endif
        go(claim, CREATING); /* the directories change under us: look again what is missing */
        return;
    }
    if (rc != ZOK && rc != ZNODEEXISTS) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
        return;
    }
    claim->parent = next_parent(claim);
    go(claim, directory(claim)[claim->parent] == 0 ? CREATING : MAKING_PARENT);
}

void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    struct recipe *r = claim->recipe;
    if (!answered(claim, rc)) {
        if (r->session != 0 && !r->stopping) {
            lose_session(r); /* there may be a node that we do not know */
        }
        return;
    }
    if (rc == ZNONODE) {
        claim->parent = known(claim) ? last_slash(claim) : 0;
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
    r->spare[0] |= INT64_C(1) << claim->lock;
    claim->number = (int32_t)strtol(strrchr(value, '/') + 1 + strlen(PREFIX), NULL, 10);
    claim->czxid = stat->czxid;
    claim->named = true;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (claim->number < 0) {
        fail(claim, LS_ESEQUENCE); /* servers before 3.6 count on with numbers that nobody can order */
    } else {
        go(claim, LISTING);
    }
}
