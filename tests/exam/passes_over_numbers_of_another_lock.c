/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The recipe does not wait behind its own owner's node of an attempt that has ended, because that node will go soon.
 * It knows such a node by its number alone. Each lock has numbers of its own, and other clients may have the same one.
 * recipe.h, acquire: it asks for one lock, given by its index; here another lock's clean-up decides.
 * The recipe passes over the holder of lock x, because an attempt for y had that number: two clients hold x. */
/* breaks: at_most_one_holder */
#include "base/recipe.h"

#ifndef FIXED
/* The node is this owner's, of an attempt that has ended, and about to be deleted. */
static bool left_over(const struct claim *claim, int32_t number)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *other = &claim->recipe->claim[i];
        if (other->phase != FREE && other->named && (other->ended || other->freeing) &&
            other->owner == claim->owner && other->number == number) {
            return true;
        }
    }
    return false;
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    int32_t nearest = -1;
    bool found = false;
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= number == claim->number;
        if (number >= 0 && number < claim->number && number > nearest && !left_over(claim, number)) {
            nearest = number;
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    return found;
}
#endif
