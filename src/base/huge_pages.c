/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

void huge_pages(void *at, size_t size)
{
    size_t before = (size_t)(-(uintptr_t)at) % HUGE_PAGE_BYTES;
    if (size >= before + HUGE_PAGE_BYTES) {
        madvise((unsigned char *)at + before, (size - before) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES,
                MADV_HUGEPAGE);
    }
}
