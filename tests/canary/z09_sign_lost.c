/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z09: names are split at the last dash, and the minus sign of a number is lost.
 *
 * Source: pull request 65 of github.com/go-zookeeper/zk (commit 21b4929); ZOOKEEPER-4372, pull request 1751
 * of apache/zookeeper (commit 2dcc64d94).
 *
 * The number in a name is signed and has 32 bits. Servers before 3.6 give -2147483648 behind 2147483647,
 * then -2147483647, and so on. A recipe that reads what follows the last dash sees 2147483648, 2147483647,
 * ...: among negative numbers the line runs backwards. Each newcomer sees itself first and enters, and the
 * holder hears nothing.
 *
 * Two clients and no fault are enough in a directory whose counter has wrapped. FIXED splits names behind
 * the whole prefix, and takes the difference of two numbers in the arithmetic of the counter.
 *
 * Caught by at_most_one_holder. */
#include "skeleton/known_by_name.h"

static bool before(const char *name, const char *other)
{
#ifdef FIXED
    return (int32_t)((uint32_t)signed_number(name) - (uint32_t)signed_number(other)) < 0;
#else
    return strtoll(strrchr(name, '-') + 1, NULL, 10) < strtoll(strrchr(other, '-') + 1, NULL, 10);
#endif
}

static const struct variation variation = {.signed_numbers = true, .before = before};

CANARY(.name = "z09-sign-lost", .summary = "splits names at the last dash and loses the minus sign",
       .breaks = "at_most_one_holder");
