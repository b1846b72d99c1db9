/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A trace as a regression test: one C file that carries the scenario and the choices, links liblockstep_sim and the recipe,
 * and fails for as long as the recipe breaks its promise in that run. */
#ifndef REPLAY_EXPORT_H
#define REPLAY_EXPORT_H

#include "trace/file.h"

/* Makes the test of what the trace was found for. Its run is done first: it has to fit to its end and violate each of these
 * properties. `name` is what the file will be called, for the line that compiles it. Returns the text, owned by the caller,
 * ends with a 0; or NULL with the complaint in *error. */
char *export_test(const struct trace *trace, const char *name, size_t *size, struct input_error *error);

#endif
