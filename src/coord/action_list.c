/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "coord/coordinator.h"

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

void action_list_add_cuts(struct action_list *list, int process, int link, int replies, int requests, int rc)
{
    for (int i = 0; i < (replies + 1) * (requests + 1) * 2; i++) {
        int keep = i / 2 / (requests + 1), apply = i / 2 % (requests + 1);
        bool late = i % 2 == 1;
        if (!action_list_buys(list, late ? WORLD_FAULT_LATE : WORLD_FAULT_LOSS) || (late && apply == 0)) {
            continue;
        }
        struct action *action = action_list_add(list, ACTION_CUT, process);
        action->keep = (uint8_t)keep;
        action->apply = (uint8_t)apply;
        action->rc = rc;
        action->modes = ACTION_CUT_LINK(link) | (late ? ACTION_CUT_LATE : 0);
    }
}
