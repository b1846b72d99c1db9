/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe may list the directory, but a node before its own answers ZNOAUTH to the get that is to set the watch. "A
 * node that our users may not even read belongs to another application that has nodes of that prefix here": the recipe
 * notes its number, lists again, and looks for its predecessor only among those before it. The node may well be that of
 * a holder whose client creates its contenders with a stricter ACL (mutex.h: "ACL of the nodes that the mutex creates,
 * contender nodes and missing ancestors alike").
 * mutex.h: "LS_ENOAUTH: the ACL of a node does not let the session create or read what the acquire needs"; "A mutex
 * needs READ, CREATE and DELETE on the parent of its contender nodes, and READ on other contenders."
 *
 * Events: Q, with credentials, creates lock-0000000000 with an ACL for its user alone, in a directory open to all, and
 * holds the lock. P, without credentials, creates lock-0000000001, lists, gets lock-0000000000: ZNOAUTH. Instead of
 * FAILED with LS_ENOAUTH it lists again, finds nobody else before its node, and is GRANTED. Q and P both hold. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

#ifndef FIXED
/* Up to where predecessors count: below a node that we may not read. Between it and ours there is none. */
static int32_t limit(const struct claim *claim)
{
    return claim->spare[0] == claim->czxid && claim->czxid != 0 ? (int32_t)claim->spare[1] : claim->number;
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < limit(claim) && number > nearest) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    return found;
}

void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    (void)size;
    (void)stat;
    if (!answered(claim, rc)) {
        return;
    }
    bool stands = rc == ZOK && claim->watching;
    claim->watching = stands;
    if (claim->ended) {
        go(claim, stands ? UNWATCHING : DELETING);
    } else if (rc == ZNOAUTH) { /* a stranger's: no contender of ours */
        claim->spare[1] = number_of(claim->ahead);
        claim->spare[0] = claim->czxid; /* as long as we have this node */
        go(claim, LISTING);
    } else if (rc != ZOK && rc != ZNONODE) {
        fail(claim, LS_EZK);
    } else {
        go(claim, stands ? WAITING : LISTING);
    }
}

void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            if (claim->named) {
                rename->sequence(rename, &claim->number);
            }
            if (claim->spare[0] != 0) {
                rename->zxid(rename, &claim->spare[0]);
                rename->sequence(rename, (const int32_t *)&claim->spare[1]); /* the low half */
            }
            rename->text(rename, claim->ahead);
        }
    }
}
#endif
