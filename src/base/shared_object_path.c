/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/shared_object_path.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

bool shared_is_path(const char *word)
{
    size_t size = strlen(word);
    return strchr(word, '/') != NULL || (size > 3 && strcmp(word + size - 3, ".so") == 0);
}

bool shared_file(const char *path, char file[SHARED_PATH_MAX + 3], char *why, size_t room)
{
    size_t size = strlen(path);
    bool is_word = path[0] != '#' && strpbrk(path, " \n") == NULL && utf8_plain(path, size) == size;
    if (size > SHARED_PATH_MAX || !is_word) {
        snprintf(why, room,
                 "a path of at most %d bytes is needed, without spaces and control characters, in UTF-8, and "
                 "without a # at its beginning",
                 SHARED_PATH_MAX);
        return false;
    }
    snprintf(file, SHARED_PATH_MAX + 3, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    return true;
}
