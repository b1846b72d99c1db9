/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a label leaves unsaid, for people who read a run. */
#ifndef SIM_REMARK_H
#define SIM_REMARK_H

#include <lockstep/sim.h>

/* Writes what stands behind the label of an enabled action in a story: the answer that it brings ("ok",
 * "lost (-4)"), or what a broken link leaves. Empty if there is nothing to say. */
void world_remark(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

#endif
