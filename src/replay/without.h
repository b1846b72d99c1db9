/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The text of an exploring scenario with one process less. */
#ifndef REPLAY_WITHOUT_H
#define REPLAY_WITHOUT_H

#include <stddef.h>

/* Leaves the name out of each `process` line, and the line with its program if it was the only name there. Returns a terminated text that the caller frees, its size in *out_size; NULL if the name is not
 * declared or memory is short. */
char *without_process(const char *text, size_t size, const char *name, size_t *out_size);

#endif
