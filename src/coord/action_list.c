/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "coord/coordinator.h"

/* Fields are written where they stay: putting an action together elsewhere and copying it is slower. */
struct action *action_list_add(struct action_list *list, enum action_kind kind, int process)
{
    static struct action beyond;
    if (list->count == list->room) {
        list->full = true;
        return &beyond;
    }
    struct action *action = &list->out[list->count++];
    *action = (struct action){.kind = (uint8_t)kind, .process = (uint8_t)process};
    return action;
}
