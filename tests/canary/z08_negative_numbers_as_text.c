/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z08: numbers are compared as text, and behind the last one come negative ones.
 *
 * Source: kazoo issues 606 and 730, pull request 731. A production system made no progress until the lock's
 * directory was made again.
 *
 * The number in a name is signed and has 32 bits. Servers before 3.6 give -2147483648 behind 2147483647,
 * then -2147483647, and so on. As text a minus sign comes before each digit, and each of these numbers is
 * less than the one before it. So each newcomer sees itself first and enters, and the holder hears nothing.
 *
 * Two clients and no fault are enough in a directory whose counter is near its end or beyond. FIXED takes
 * the difference of two numbers in the arithmetic of the counter, so that -2147483648 comes right behind
 * 2147483647.
 *
 * Caught by at_most_one_holder. */
#include "skeleton/known_by_name.h"

static bool before(const char *name, const char *other)
{
#ifdef FIXED
    return (int32_t)((uint32_t)signed_number(name) - (uint32_t)signed_number(other)) < 0;
#else
    return strcmp(name, other) < 0;
#endif
}

static const struct variation variation = {.signed_numbers = true, .before = before};

CANARY(.name = "z08-negative-numbers-as-text", .summary = "compares numbers as text, also negative ones",
       .breaks = "at_most_one_holder");
