/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How shared objects of users are named: --recipe FILE.so, --property FILE.so, and in traces. */
#ifndef BASE_SHARED_OBJECT_H
#define BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#define SHARED_PATH_MAX 240

/* Returns whether a word names a shared object: built-in names have no slash and do not end with `.so`. */
bool shared_is_path(const char *word);

/* Writes the path for the dynamic loader, which would look in other folders for a name without a slash.
 * Returns false if the path cannot be a word of a trace; then `why`, of `room` bytes, is a clause with the
 * reason. */
bool shared_file(const char *path, char file[SHARED_PATH_MAX + 3], char *why, size_t room);

#endif
