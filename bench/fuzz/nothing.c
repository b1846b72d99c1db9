/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A fuzz target that does nothing: what AFL++ itself costs for an input. */
#include "target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

void target_tell(void)
{
}
