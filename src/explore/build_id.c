/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/build_id.h"

#include "base/hash.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 65536

void build_id(char text[BUILD_ID_MAX])
{
    static _Alignas(8) unsigned char block[BLOCK];
    uint64_t sum = 0;
    size_t size;
    FILE *file = fopen("/proc/self/exe", "rb");
    while (file != NULL && (size = fread(block, 1, BLOCK, file)) > 0) {
        memset(block + size, 0, BLOCK - size);
        sum = hash_mix(hash_bytes(block, BLOCK, sum) ^ size);
    }
    if (file != NULL) {
        fclose(file);
    }
    snprintf(text, BUILD_ID_MAX, "%s %016llx", LOCKSTEP_VERSION, (unsigned long long)sum);
}
