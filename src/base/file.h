/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Replaces the contents of a file: writes PATH.new and renames it, so that no reader sees half of the file. A
 * path that exists and is no regular file (a pipe, a device) is written to directly. Returns 0, or -1 with
 * errno set; a regular file is unchanged then. */
int file_replace(const char *path, const char *bytes, size_t size);

/* Returns a hash of the bytes that can be read of the file; 0 if there are none, or it cannot be opened. */
uint64_t file_hash(const char *path);

/* Makes a folder and missing folders above it. Returns 0 (also if the path exists), or -1 with errno set. */
int file_make_folder(const char *path);

#endif
