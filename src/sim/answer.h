/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a reply says, for people who read a run. */
#ifndef SIM_ANSWER_H
#define SIM_ANSWER_H

#include <lockstep/sim.h>

/* Writes what the answer is that an enabled action brings to its process: "ok", "lost (-4)". Empty if it brings none. */
void world_answer(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

#endif
