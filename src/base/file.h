/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Files that are written whole. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

/* Gives a file new contents, first under another name (with .new behind it): a reader never sees half of them. What is
 * there and no regular file (a pipe, a device) is written to. Returns 0, or -1 with errno set and the old file as it was. */
int file_replace(const char *path, const char *bytes, size_t size);

/* Makes a folder and those above it that are missing. Returns 0, also if it is there, or -1 with errno set. */
int file_make_folder(const char *path);

#endif
