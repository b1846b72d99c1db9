/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A trace as a regression test: one C file that holds the scenario and the choices, and is linked with
 * liblockstep_sim and the recipe. It fails as long as the recipe breaks its promise in that run. */
#ifndef REPLAY_EXPORT_TEST_H
#define REPLAY_EXPORT_TEST_H

#include "trace/file.h"

/* Returns the test of the properties that the trace was found for, as a text that ends with a 0 and that the
 * caller frees. First does the run: it has to fit to its end, and to violate each of them. `name` is the name
 * of the file, for the line that compiles it. Returns NULL with the complaint in *error. */
char *export_test(const struct trace *trace, const char *name, size_t *size, struct input_error *error);

#endif
