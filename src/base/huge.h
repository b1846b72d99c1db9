/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Large pages. Memory that is looked at here and there costs a miss of the TLB each time, and a fault for each page that is
 * written to first; in large pages both are rare. */
#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include <stddef.h>

#define HUGE_PAGE_BYTES ((size_t)1 << 21)

/* Asks for large pages wherever one fits between `at` and `at + size`. Nothing happens where there are none. */
void huge_pages(void *at, size_t size);

#endif
