/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/utf8.h"

#include "base/assert.h"

#include <stdbool.h>
#include <string.h>

size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    LS_ASSERT(left > 0);
    if (s[0] < 0x80) {
        return 1;
    }
    size_t length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                    : (s[0] & 0xf0) == 0xe0        ? 3
                    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f)) {
        return 0;
    }
    return length;
}

/* Returns whether the well-formed sequence is a control character: C0 without the line end, DEL or C1. */
static bool is_control(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    LS_ASSERT(length > 0);
    return length == 1 ? (s[0] < 0x20 && s[0] != '\n') || s[0] == 0x7f
                       : length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

size_t utf8_plain(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = utf8_length(text + at, size - at);
        if (length == 0 || is_control(text + at, length)) {
            break;
        }
        at += length;
    }
    LS_ASSERT(at <= size);
    return at;
}

void utf8_make_plain(char *text)
{
    char *out = text;
    size_t size = strlen(text);
    for (size_t at = 0; at < size;) {
        size_t plain = utf8_plain(text + at, size - at);
        memmove(out, text + at, plain);
        out += plain;
        at += plain;
        if (at < size) {
            size_t length = utf8_length(text + at, size - at);
            *out++ = '?';
            at += length > 0 ? length : 1;
        }
    }
    LS_ASSERT(out <= text + size);
    *out = 0;
}

void utf8_put_plain(FILE *out, const char *text, size_t size)
{
    while (size > 0) {
        size_t plain = utf8_plain(text, size);
        fwrite(text, 1, plain, out);
        text += plain;
        size -= plain;
        if (size > 0) {
            size_t length = utf8_length(text, size);
            fputc('?', out);
            text += length > 0 ? length : 1;
            size -= length > 0 ? length : 1;
        }
    }
}
