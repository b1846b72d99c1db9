/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Remarks beside the labels of a run, for people. */
#ifndef SIM_REMARK_H
#define SIM_REMARK_H

#include <lockstep/sim.h>

/* Writes the remark behind the label of an enabled action: the answer that it brings ("ok", "lost (-4)"), or
 * what a broken link leaves. Empty if there is nothing to say. */
void world_remark(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

#endif
