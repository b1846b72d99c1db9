/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The difference of two texts, line by line, in the unified form. */
#ifndef SCENARIO_TEXT_DIFF_H
#define SCENARIO_TEXT_DIFF_H

#include "scenario/outcome.h"

/* Adds the difference of two terminated texts to the outcome's text; nothing if they are equal or memory is
 * short. If more than 3,000 lines of a text are left between the equal ends, says only that the texts
 * differ. */
void diff_say(struct outcome *outcome, const char *old, const char *found);

#endif
