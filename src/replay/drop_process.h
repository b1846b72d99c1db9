/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The text of an exploring scenario with one process less. */
#ifndef REPLAY_DROP_PROCESS_H
#define REPLAY_DROP_PROCESS_H

#include <stddef.h>

/* Takes the name out of each `process` line, or the line with its program if no other name stands there.
 * Returns a text that ends with a 0 and that the caller frees, with its size in *out_size. Returns NULL if
 * the name is not declared or memory is short. */
char *without_process(const char *text, size_t size, const char *name, size_t *out_size);

#endif
