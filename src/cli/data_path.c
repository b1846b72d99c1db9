/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include "base/assert.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_program_path(char path[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    LS_ASSERT(size < PATH_MAX);
    path[size > 0 ? size : 0] = 0;
    return size > 0;
}

bool cli_find_data(char path[PATH_MAX], const char *in_source, const char *installed)
{
    char folder[PATH_MAX], wanted[2 * PATH_MAX];
    if (!cli_program_path(folder) || strrchr(folder, '/') == NULL) {
        return false;
    }
    *strrchr(folder, '/') = 0;
    snprintf(wanted, sizeof wanted, "%s/../../%s", folder, in_source);
    if (realpath(wanted, path) != NULL) {
        return true;
    }
    snprintf(wanted, sizeof wanted, "%s/../%s", folder, installed);
    return realpath(wanted, path) != NULL;
}
