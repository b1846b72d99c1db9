/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Details of steps, for the page of a run. */
#include "base/assert.h"
#include "sim/remark.h"
#include "sim/world.h"

/* Returns true if the action's field `server` counts. */
static bool is_at_server(const struct world *world, const struct action *action)
{
    return action_has(action, TRAIT_SERVER) || coordinator_is_at_server(world->coordinator, action->kind);
}

void world_detail(struct world *world, const struct action *action, struct coord_detail *detail)
{
    *detail = (struct coord_detail){.server = -1};
    if (is_at_server(world, action)) {
        detail->server = action->server;
    } else if (world->coordinator->detail != NULL && world_enabled(world, action)) {
        bool of_coordinator = action_has(action, TRAIT_STEP) || action->kind == ACTION_EXPIRE;
        if (of_coordinator) {
            world->coordinator->detail(action, detail);
        }
    }
    LS_ASSERT(detail->server < world->options.servers && detail->carries <= COORD_LINK);
}

int world_notices(struct world *world, int process)
{
    LS_ASSERT(process >= 0 && process < world->options.processes);
    return world->coordinator->notices != NULL ? world->coordinator->notices(process) : 0;
}
