/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* UTF-8 text, and text that is safe for a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* Returns the length in bytes of the well-formed sequence at `text`; 0 = there is none. `text` has `left`
 * bytes, at least 1. Overlong forms, surrogates and code points beyond the last plane are not well formed. */
size_t utf8_length(const char *text, size_t left);

/* Returns the number of bytes before the first one that a terminal must not get; `size` if there is none.
 * Such a byte begins a control character (C0, DEL or C1) other than a line end, or is not UTF-8. */
size_t utf8_plain(const char *text, size_t size);

/* Puts a '?' in place of each control character that a terminal must not get, and of each byte that belongs
 * to no well-formed sequence. */
void utf8_make_plain(char *text);

/* Writes what utf8_make_plain() would make of the text. Leaves `text` itself as it is. */
void utf8_put_plain(FILE *out, const char *text, size_t size);

#endif
