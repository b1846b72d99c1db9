/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/fixed_text.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>

void lines_put(struct lines *lines, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(lines->at + lines->used, lines->size - lines->used, format, list);
    va_end(list);
    LS_ASSERT(size >= 0 && lines->used + (size_t)size < lines->size);
    lines->used += (size_t)size;
}
