/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Large pages. Memory that is read here and there costs a TLB miss each time, and a fault for each new page. In large
 * pages both are rare. */
#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include <stddef.h>

#define HUGE_PAGE_BYTES ((size_t)1 << 21)

/* Asks for large pages wherever one fits between `at` and `at + size`. A system without them changes nothing. */
void huge_pages(void *at, size_t size);

#endif
