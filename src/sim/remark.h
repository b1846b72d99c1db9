/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Remarks beside labels, for people. */
#ifndef SIM_REMARK_H
#define SIM_REMARK_H

#include <lockstep/sim.h>

/* Writes the remark of an enabled action: the answer that it brings ("ok", "lost (-4)"), or the effect of a
 * cut. Empty = there is none. */
void world_remark(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

#endif
