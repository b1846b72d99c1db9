/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Large pages, for memory with random access: TLB misses and page faults become rare. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

#define HUGE_PAGE_BYTES ((size_t)1 << 21)

/* Asks for large pages where they fit between `at` and `at + size`. No effect on systems without them. */
void huge_pages(void *at, size_t size);

#endif
