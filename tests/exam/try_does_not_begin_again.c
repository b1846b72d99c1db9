/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A try goes through the line once: if the list does not show its node, it does not begin again at the end
 * of the line as others do, but takes the lock if nobody stands before it. It has read who is there and not
 * whether it is there itself. Breaks "Each owner has a contender node of its own, so that owners of one
 * process exclude each other too" (mutex.h; GRANTED tells the "czxid of the contender node", recipe.h): if
 * the operator has removed the node between create and list, the try is granted a lock in which it has no
 * node, and the next who comes is granted it too. */
/* breaks: hold_keeps_its_node */
#include "base/recipe.h"

void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (claim->ended) {
        go(claim, DELETING);
#ifdef FIXED
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names))) {
#else
    } else if (rc == ZNONODE || (rc == ZOK && !find_place(claim, names) && !claim->trying)) {
#endif
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
