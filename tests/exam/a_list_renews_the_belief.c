/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A waiter has created its node long ago when its turn comes, and would be in doubt from the first moment. So the time
 * of the list that shows it first is taken for the belief, as of the create. A list is read by one server alone, which
 * may know nothing of the end of the session. mutex.h: LS_HELD says that "a write or sync" has confirmed the session
 * (a read does not). Behind a follower that is cut off, the waiter believes in a lock that another has got. */
/* breaks: at_most_one_believer */
#include "base/recipe.h"

void go(struct claim *claim, enum phase phase)
{
    static int (*const send[])(struct claim *) = {[MAKING_PARENT] = make_parent,
                                                  [CREATING] = create,
                                                  [WATCHING] = watch,
                                                  [UNWATCHING] = unwatch,
                                                  [DELETING] = delete_node};
    claim->phase = (uint8_t)phase;
    if (phase == WAITING || !claim->recipe->connected) {
        return;
    }
    if (phase == DELETING && !claim->named) {
        forget(claim); /* there is none */
        return;
    }
    claim->busy = true;
#ifndef FIXED
    if (phase == LISTING) {
        ls_env_stamp(claim->recipe->env, &claim->sent);
    }
#endif
    int rc = phase == LISTING ? zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_list, claim)
                              : send[phase](claim);
    if (rc == ZNOWATCHER) {
        on_unwatched(rc, claim); /* it has fired meanwhile: nothing was sent */
    } else if (rc != ZOK) {
        claim->busy = false;
        if (rc != ZINVALIDSTATE) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
}
