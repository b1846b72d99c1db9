/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A claim that has seen its node in a list takes it for granted from then on: "nobody deletes it but we".
 * If an operator deletes the node of a waiter, the waiter is woken, finds nobody before it, and is told
 * that it holds the lock. recipe.h: GRANTED means that "an acquire succeeded: ... token (czxid of the
 * contender node)"; mutex.h: "the fencing token ... is the czxid of the owner's contender node". There is
 * no such node: whoever comes next is granted the lock at the same time. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

int create(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/" PREFIX, directory(claim));
    claim->number = 0;
    claim->named = false;
    claim->spare[0] = 0; /* a new node has not been seen yet */
    ls_env_stamp(claim->recipe->env, &claim->sent);
    return zoo_acreate2(claim->recipe->zh, path, claim->recipe->config->contents,
                        claim->recipe->config->contents != NULL ? claim->recipe->config->contents_size : -1,
                        &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, on_created, claim);
}

void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    bool there = rc == ZOK && find_place(claim, names);
#ifndef FIXED
    there = there || (rc == ZOK && claim->spare[0] != 0);
#endif
    claim->spare[0] = there;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (rc == ZNONODE || (rc == ZOK && !there)) {
        claim->named = false;
        go(claim, CREATING); /* somebody has removed our node: back to the end of the line */
    } else if (rc != ZOK) {
        fail(claim, rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK);
    } else if (claim->ahead[0] == 0) {
        grant(claim);
    } else if (claim->trying) {
        fail(claim, LS_EBUSY);
    } else {
        go(claim, WATCHING);
    }
}
