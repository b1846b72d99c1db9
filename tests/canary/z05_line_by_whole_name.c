/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z05: the line is in the order of whole names, which begin with the session's id.
 *
 * Source: ZOOKEEPER-2931, mended by pull request 413 of apache/zookeeper (commit f299303ad). The Java
 * WriteLock kept the contenders in a set sorted by prefix first. The report describes two holders at once.
 * Apache Accumulo had the same fault when it put random ids in front of the numbers (its pull request 1926).
 *
 * A node is called x-SESSION-NUMBER. A newcomer whose session has a smaller id than the holder's sorts
 * before the holder, sees itself first, and enters.
 *
 * Two clients and no fault are enough. FIXED compares the number alone.
 *
 * Caught by at_most_one_holder. */
#ifndef FIXED
#define CANON NULL
#endif
#include "skeleton/known_by_name.h"

static bool before(const char *name, const char *other)
{
#ifdef FIXED
    return number_of(name) < number_of(other);
#else
    return strcmp(name, other) < 0;
#endif
}

static const struct variation variation = {.names_session = true, .before = before};

CANARY(.name = "z05-line-by-whole-name",
       .summary = "contenders stand in the order of whole names, which begin with session ids",
       .breaks = "at_most_one_holder");
