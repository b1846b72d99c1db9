/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/array.h"
#include "base/assert.h"

#include "base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

bool array_resize(void *pointer, size_t max, size_t size)
{
    LS_ASSERT(max > 0 && size > 0);
    void *list;
    memcpy(&list, pointer, sizeof list);
    list = reallocarray(list, max, size);
    if (list == NULL) {
        return false;
    }
    huge_pages(list, max * size);
    memcpy(pointer, &list, sizeof list);
    return true;
}
