/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A trace as a regression test: one C file with the scenario and the choices, which is linked with
 * liblockstep_sim and the recipe. It fails as long as the recipe breaks its promise in that run. */
#ifndef REPLAY_EXPORT_TEST_H
#define REPLAY_EXPORT_TEST_H

#include "trace/file.h"

/* Returns a test of the properties in the trace's line `found`: a text that ends with a 0, which the caller
 * frees. `name` is the name of the C file, for the line that compiles it. Does the run first. Returns NULL
 * with the complaint in *error if the run does not fit to its end, or does not violate each property, or if
 * memory is short. */
char *export_test(const struct trace *trace, const char *name, size_t *size, struct input_error *error);

#endif
