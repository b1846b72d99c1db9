/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Remarks beside labels, and details of steps, for people. */
#ifndef SIM_REMARK_H
#define SIM_REMARK_H

#include "coord/coordinator.h"

#include <lockstep/sim.h>

/* Writes the remark of an enabled action: the answer that it brings ("ok", "lost (-4)"), or the effect of a
 * cut. Empty = there is none. */
void world_remark(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

/* Fills in the details of an enabled action. The field `server` is -1 if the action happens at no server. */
void world_detail(struct world *world, const struct action *action, struct coord_detail *detail);

/* Returns the number of notices that are under way to a process; 0 also if the coordinator sends none. */
int world_notices(struct world *world, int process);

#endif
