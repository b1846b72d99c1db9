/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The names of users' shared objects: in --recipe FILE.so, in --property FILE.so, and in traces. */
#ifndef BASE_SHARED_OBJECT_PATH_H
#define BASE_SHARED_OBJECT_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define SHARED_PATH_MAX 240

/* Returns whether a word names a shared object: it has a slash, or it ends with `.so` and is longer. */
bool shared_is_path(const char *word);

/* Writes the path for dlopen() to `file`: with a slash, so that only that path is tried. Returns false if the
 * path has more than SHARED_PATH_MAX bytes, or could not be a word of a trace: it has a space or a control
 * character, is not UTF-8, or begins with '#'. Then `why`, of `room` bytes, is a clause with the reason. */
bool shared_file(const char *path, char file[SHARED_PATH_MAX + 3], char *why, size_t room);

#endif
