/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Questions about texts. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Returns whether `text` begins with `beginning`. */
static inline bool text_begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

#endif
