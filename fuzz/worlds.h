/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the targets share that run whole worlds (src/fuzz/drive.h): all of target.h but the beginning, which says whose worlds they are. */
#ifndef FUZZ_WORLDS_H
#define FUZZ_WORLDS_H

#include <lockstep/recipe.h>

/* The recipe of all inputs. LOCKSTEP_STATES=0 leaves abstract situations out of what guides a fuzzer. */
void worlds_open(const struct ls_recipe *recipe);

#endif
