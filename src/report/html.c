/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/html.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes the first character of a text. Returns its number of bytes; 0 if they are no UTF-8. */
static size_t decode(const char *text, uint32_t *code)
{
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t size = first < 0x80   ? 1
                  : first < 0xc2 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf5 ? 4
                                 : 0;
    LS_ASSERT(first != 0);
    *code = size > 1 ? first & (0x7fu >> size) : first;
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) { /* also the end of the text */
            return 0;
        }
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return size > 1 && (*code < LEAST[size] || *code > 0x10ffff || surrogate) ? 0 : size;
}

static bool is_in(uint32_t code, uint32_t first, uint32_t last)
{
    LS_ASSERT(first <= last);
    return code >= first && code <= last;
}

/* Returns whether a character is not shown as itself: control characters but the line end, marks of text
 * direction, and some characters without a width. */
static bool is_hidden(uint32_t code)
{
    return (code < 0x20 && code != '\n') || is_in(code, 0x7f, 0x9f) || code == 0x61c ||
           is_in(code, 0x200b, 0x200f) || is_in(code, 0x2028, 0x202e) || is_in(code, 0x2060, 0x206f) ||
           code == 0xfeff;
}

static void write_character(FILE *out, const char *text, size_t size, uint32_t code)
{
    const char *reference = code == '<'    ? "&lt;"
                            : code == '>'  ? "&gt;"
                            : code == '&'  ? "&amp;"
                            : code == '"'  ? "&quot;"
                            : code == '\'' ? "&#39;"
                                           : NULL;
    if (reference != NULL) {
        fputs(reference, out);
    } else if (is_hidden(code)) {
        fprintf(out, "\\u{%x}", (unsigned)code);
    } else {
        fwrite(text, 1, size, out);
    }
}

void html_text(FILE *out, const char *text)
{
    while (*text != 0) {
        uint32_t code;
        size_t size = decode(text, &code);
        if (size == 0) {
            fprintf(out, "\\x%02x", (unsigned char)*text);
        } else {
            write_character(out, text, size, code);
        }
        text += size > 0 ? size : 1;
    }
}

void html_fill(FILE *out, const char *page, html_part_fn part, const void *ctx)
{
    for (const char *mark; (mark = strchr(page, '@')) != NULL;) {
        const char *end = strchr(mark + 1, '@');
        LS_ASSERT(end != NULL && end > mark + 1);
        fwrite(page, 1, (size_t)(mark - page), out);
        part(out, mark + 1, (size_t)(end - mark - 1), ctx);
        page = end + 1;
    }
    fputs(page, out);
}
