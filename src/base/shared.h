/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How shared objects of users are named: --recipe FILE.so, --property FILE.so, and in traces. */
#ifndef BASE_SHARED_H
#define BASE_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#define SHARED_PATH_MAX 240

/* Whether a word stands for a shared object: what is built in has neither a slash in its name nor `.so` at its end. */
bool shared_is_path(const char *word);

/* What the system's loader is to be given for it: it would look for a name without a slash elsewhere. False if the path is
 * no word of a trace; then `why`, of `room` bytes, is a clause that says so. */
bool shared_file(const char *path, char file[SHARED_PATH_MAX + 3], char *why, size_t room);

#endif
