/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A claim is looked up by one number made of its lock and its owner, with room for four owners. The fifth owner of one
 * lock has the number of the first owner of the next lock. Breaks recipe.h: "owner: number of the asking thread in its
 * process, from 0 to 255" and "exactly one GRANTED or FAILED report follows": the acquire of one is answered as a deeper
 * level of the other, and the release of one frees the lock of the other. */
/* breaks: answers_have_reasons */
#include "base/recipe.h"

#ifdef FIXED
#define OWNERS_MAX 256
#else
#define OWNERS_MAX 4
#endif

static int key(int lock, int owner)
{
    return lock * OWNERS_MAX + owner;
}

struct claim *find(struct recipe *r, int lock, int owner)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        if (claim->phase != FREE && !claim->ended && !claim->freeing &&
            key(claim->lock, claim->owner) == key(lock, owner)) {
            return claim;
        }
    }
    return NULL;
}
