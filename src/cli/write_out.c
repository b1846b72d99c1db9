/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>

int cli_cannot_write(const char *path)
{
    fprintf(stderr, "%s:1:1: expected a file that can be written, found '%s'\n", path, strerror(errno));
    return CLI_ENVIRONMENT;
}

int cli_write_out(const char *path, const char *text, size_t size)
{
    if (path != NULL) {
        return file_replace(path, text, size) == 0 ? CLI_OK : cli_cannot_write(path);
    }
    bool written = fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0;
    return written ? CLI_OK : cli_cannot_write("(standard output)");
}
