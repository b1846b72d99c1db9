/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Which coordinators are linked. */
#include "base/assert.h"
#include "coord/coordinator.h"

#include <string.h>

static const struct coordinator *all[COORDINATORS_MAX];
static int count;

void coordinator_add(const struct coordinator *coordinator)
{
    LS_ALWAYS(count < COORDINATORS_MAX);
    all[count++] = coordinator;
}

const struct coordinator *coordinator_at(int index)
{
    return index < count ? all[index] : NULL;
}

const struct coordinator *coordinator_find(const char *name)
{
    const char *wanted = name != NULL ? name : "zookeeper";
    for (int i = 0; i < count; i++) {
        if (strcmp(all[i]->name, wanted) == 0) {
            return all[i];
        }
    }
    return NULL;
}
