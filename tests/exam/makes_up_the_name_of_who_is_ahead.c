/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Orders contenders by the number behind the last "lock-", whatever stands before it, as kazoo's regular expression and
 * Curator's fixForSorting do (mutex.h: "clients of both libraries exclude each other on one path"), but keeps only the number
 * of the one ahead and makes up its name. It does not find lock-0000000003 where _c_ID-lock-0000000003 stands, looks again,
 * and so on for as long as the other one holds the lock: without a watch, and with none of the delays of session.h ("The
 * policy governs how often, and after which delays"). All servers pay for each such waiter. */
/* breaks: bounded_work */
#include "base/recipe.h"

/* The number behind a contender's name, with any protection before it; -1 for whatever else lies there. */
int32_t number_of(const char *name)
{
    size_t size = strlen(name), tail = strlen(PREFIX) + 10;
    if (size < tail || size >= sizeof((struct claim *)NULL)->ahead) {
        return -1;
    }
    const char *end = name + size - tail;
    if (strncmp(end, PREFIX, strlen(PREFIX)) != 0 || strspn(end + strlen(PREFIX), "0123456789") != 10) {
        return -1;
    }
    int64_t number = strtoll(end + strlen(PREFIX), NULL, 10);
    return number <= INT32_MAX ? (int32_t)number : -1;
}

bool find_place(struct claim *claim, const struct String_vector *names)
{
    char own[PATH_MAX_BYTES];
    int32_t nearest = -1;
    bool found = false;
    node_path(claim, own);
    for (int i = 0; i < names->count; i++) {
        int32_t number = number_of(names->data[i]);
        found |= strcmp(names->data[i], strrchr(own, '/') + 1) == 0;
        if (number >= 0 && number < claim->number && number > nearest) {
            nearest = number;
#ifdef FIXED
            snprintf(claim->ahead, sizeof claim->ahead, "%s", names->data[i]);
#else
            snprintf(claim->ahead, sizeof claim->ahead, PREFIX "%010d", number);
#endif
        }
    }
    if (nearest < 0) {
        memset(claim->ahead, 0, sizeof claim->ahead);
    }
    return found;
}
