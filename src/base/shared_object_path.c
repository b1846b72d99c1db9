/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/shared_object_path.h"

#include <stdio.h>
#include <string.h>

bool shared_is_path(const char *word)
{
    size_t size = strlen(word);
    return strchr(word, '/') != NULL || (size > 3 && strcmp(word + size - 3, ".so") == 0);
}

bool shared_file(const char *path, char file[SHARED_PATH_MAX + 3], char *why, size_t room)
{
    if (strlen(path) > SHARED_PATH_MAX || strpbrk(path, " \t\n") != NULL) {
        snprintf(why, room, "a path of at most %d characters without spaces is needed", SHARED_PATH_MAX);
        return false;
    }
    snprintf(file, SHARED_PATH_MAX + 3, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    return true;
}
