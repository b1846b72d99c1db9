/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the targets share that run whole worlds (src/fuzz/drive.h). */
#ifndef FUZZ_WORLDS_H
#define FUZZ_WORLDS_H

#include <lockstep/recipe.h>
#include <stddef.h>
#include <stdint.h>

/* The recipe of all inputs. LOCKSTEP_STATES=0 leaves abstract situations out of what guides a fuzzer. */
void worlds_open(const struct ls_recipe *recipe);

/* Runs one; a violated property is told, if anybody listens, and ends the process. */
void worlds_run(const uint8_t *data, size_t size);

/* What all of them did. */
void worlds_tell(void);

#endif
