/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/file.h"

#include "base/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_MAX 1024
#define BLOCK 65536

static int write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        return -1;
    }
    bool written = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && written ? 0 : -1;
}

int file_replace(const char *path, const char *bytes, size_t size)
{
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        return write_bytes(path, bytes, size);
    }
    size_t room = strlen(path) + sizeof ".new";
    char *temporary = malloc(room);
    if (!temporary) {
        return -1;
    }
    snprintf(temporary, room, "%s.new", path);
    int result = write_bytes(temporary, bytes, size);
    if (result != 0 || rename(temporary, path) != 0) {
        int error = errno;
        unlink(temporary);
        errno = error;
        result = -1;
    }
    free(temporary);
    return result;
}

int file_make_folder(const char *path)
{
    char part[FOLDER_MAX];
    int size = snprintf(part, sizeof part, "%s", path);
    if (size >= (int)sizeof part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *at = part + 1; *at; at++) {
        if (*at == '/') {
            *at = 0;
            if (mkdir(part, 0777) != 0 && errno != EEXIST) {
                return -1;
            }
            *at = '/';
        }
    }
    return mkdir(part, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

uint64_t file_hash(const char *path)
{
    static _Alignas(8) unsigned char block[BLOCK];
    uint64_t sum = 0;
    size_t size;
    FILE *file = fopen(path, "rb");
    while (file != NULL && (size = fread(block, 1, BLOCK, file)) > 0) {
        memset(block + size, 0, BLOCK - size);
        sum = hash_mix(hash_bytes(block, BLOCK, sum) ^ size);
    }
    if (file != NULL) {
        fclose(file);
    }
    return sum;
}
