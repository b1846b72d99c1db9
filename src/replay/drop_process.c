/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/drop_process.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char WORD_ENDS[] = " \t\r\n:#";
static const char BLANKS[] = " \t";

/* A range of the text, as offsets. */
struct part {
    size_t start, end;
};

static bool is_name(const char *word, size_t size)
{
    return !(size == 6 && memcmp(word, "asleep", 6) == 0) && memchr(word, '=', size) == NULL;
}

/* Returns whether a `process` line has this name before its colon or comment. If so, sets *part to the name
 * with the blanks before it, or to the whole line if it has no other name. */
static bool find_in_line(const char *text, size_t line, const char *name, struct part *part)
{
    static const char WORD[] = "process";
    size_t at = line + strspn(text + line, BLANKS), length = strlen(name);
    int others = 0;
    bool found = false;
    if (strncmp(text + at, WORD, sizeof WORD - 1) != 0 || !strchr(BLANKS, text[at + sizeof WORD - 1])) {
        return false;
    }
    at += sizeof WORD - 1;
    for (;;) {
        size_t blanks = at;
        at += strspn(text + at, BLANKS);
        size_t word = strcspn(text + at, WORD_ENDS);
        if (word == 0) {
            break;
        }
        if (word == length && memcmp(text + at, name, length) == 0) {
            *part = (struct part){blanks, at + word};
            found = true;
        } else {
            others += is_name(text + at, word);
        }
        at += word;
    }
    if (found && others == 0) {
        size_t end = line + strcspn(text + line, "\n");
        *part = (struct part){line, end + (text[end] == '\n')};
    }
    return found;
}

char *without_process(const char *text, size_t size, const char *name, size_t *out_size)
{
    char *out = malloc(size + 1);
    size_t line = 0;
    if (!out) {
        return NULL;
    }
    memcpy(out, text, size);
    out[size] = 0;
    *out_size = size;
    while (line < *out_size) {
        struct part part;
        bool found = find_in_line(out, line, name, &part);
        if (found) {
            LS_ASSERT(line <= part.start && part.start < part.end && part.end <= *out_size);
            memmove(out + part.start, out + part.end, *out_size + 1 - part.end);
            *out_size -= part.end - part.start;
        }
        if (!found || part.start > line) {
            line += strcspn(out + line, "\n") + 1;
        }
    }
    if (*out_size == size) {
        free(out);
        return NULL;
    }
    return out;
}
