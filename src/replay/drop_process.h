/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef REPLAY_DROP_PROCESS_H
#define REPLAY_DROP_PROCESS_H

#include <stddef.h>

/* Returns the text of an exploring scenario without a process. A `process` line loses the name; a line that
 * has only this name goes, with its program. The text ends with a 0, and the caller frees it; *out_size is
 * its size. Returns NULL if the name is not declared or memory is short. */
char *without_process(const char *text, size_t size, const char *name, size_t *out_size);

#endif
